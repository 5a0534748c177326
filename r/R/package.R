# SOCK for R: learn dx = f(x) dt + sigma(x) dW from trajectories. A thin layer over the C library.

.onLoad <- function(libname, pkgname) {
  path <- system.file("libs", "libsock.so.0", package = pkgname, lib.loc = libname)
  .Call(C_open, path)
}

# OpenBLAS may not know this processor; it is loaded by now, so all that is left is to tell.
.onAttach <- function(libname, pkgname) {
  remark <- .Call(C_blas_remark)
  if (nzchar(remark)) packageStartupMessage("sock: ", remark)
}

sock_version <- function() .Call(C_version)

# ---- Options: every row of the library's table, with _ for - ----

option_text <- function(value) {
  if (is.logical(value)) return(ifelse(value, "yes", "no"))
  if (is.numeric(value)) return(paste(format(value, digits = 17, trim = TRUE, scientific = NA), collapse = ","))
  paste(as.character(value), collapse = ",")
}

options_of <- function(given) {
  known <- gsub("-", "_", .Call(C_option_keys), fixed = TRUE)
  strange <- setdiff(names(given), known)
  if (length(given) && (is.null(names(given)) || any(names(given) == "")))
    stop("options must have names; allowed: ", paste(sort(known), collapse = ", "), call. = FALSE)
  if (length(strange))
    stop("'", strange[1], "' is not an option", meant(strange[1], known), "; allowed: ", paste(sort(known), collapse = ", "), call. = FALSE)
  list(keys = gsub("_", "-", as.character(names(given)), fixed = TRUE),
       values = vapply(given, option_text, "", USE.NAMES = FALSE))
}

# What the library says, with options as R's arguments: `--id Chick` is id = "Chick", `--no-tune` tune = FALSE, `--missing leaves`
# missing = leaves. As python/sock/_words.py.
r_words <- function(said) {
  table <- .Call(C_option_table)
  option <- "--([a-z][a-z-]*)(=| )?('[^']*'|(?:[^\\s;,.:()]|[,:](?=\\S))+(?:\\.[0-9]+)?)?"
  at <- gregexpr(option, said, perl = TRUE)
  regmatches(said, at) <- lapply(regmatches(said, at), function(all) vapply(all, r_option, "", option, table, USE.NAMES = FALSE))
  gsub("([a-z-]+) = (yes|no) \\(([a-z_]+ = (TRUE|FALSE))\\)", "\\3", gsub("\\(option [a-z-]+\\)", "", said))
}

# After an option that takes a word of its own these go on with the sentence.
going_on <- c("names", "makes", "takes", "leaves", "leave", "to", "and", "or", "says", "reads", "it", "where", "is", "needs", "alone",
              "for", "with", "the", "uses", "chooses", "if", "in", "that", "given", "was", "of", "as", "would")

# One option as it was typed, with the word behind it.
r_option <- function(found, option, table) {
  part <- regmatches(found, regexec(option, found, perl = TRUE))[[1L]]
  key <- part[2L]
  word <- part[4L]
  name <- gsub("-", "_", sub("^no-", "", key), fixed = TRUE)
  row <- match(c(key, sub("^no-", "", key)), table[1L, ])
  if (is.na(row[1L]) && !is.na(row[2L]) && table[2L, row[2L]] == "flag") return(paste0(name, " = FALSE", part[3L], word))
  if (is.na(row[1L])) return(found)
  type <- table[2L, row[1L]]
  number <- grepl("^[<>]?[-+]?[0-9.][0-9.eE+-]*$", word)
  known <- word %in% strsplit(table[3L, row[1L]], "[|, ]+")[[1L]]
  named <- grepl("^'", word) || type %in% c("text", "list", "kernel", "names") && !word %in% going_on
  value <- nzchar(word) && (part[3L] == "=" || if (type == "flag") word %in% c("yes", "no") else number || known || named)
  if (type == "flag") return(paste0(key, " = ", if (value && word == "no") "FALSE" else "TRUE", if (!value) paste0(part[3L], word)))
  name <- gsub("-", "_", key, fixed = TRUE)
  if (!value) return(paste0(name, " =", if (nzchar(word)) paste0(" ", word)))
  paste0(name, " = ", if (number || startsWith(word, "'")) word else paste0('"', word, '"'))
}

# The same in all texts of a list.
r_words_in <- function(told) if (is.character(told)) r_words(told) else if (is.list(told)) { told[] <- lapply(told, r_words_in); told } else told

# ---- Data ----

# Trajectories from a data frame in long form, a list of list(t, x), or the name of a file or folder, or of several files. input: columns that are known
# inputs u(t), not states.
sock_data <- function(data, id = NULL, time = NULL, state = NULL, input = NULL, ...) {
  if (inherits(data, "sock_data")) {
    given <- c(list(id = id, time = time, state = state, input = input), list(...))
    given <- names(Filter(Negate(is.null), given))
    if (length(given)) stop(given[1], " = says how data are read, and these are read already; give it to sock_data", call. = FALSE)
    return(data)
  }
  if (stats::is.ts(data)) data <- series_frame(data)
  if (inherits(data, "zoo")) data <- ordered_frame(data)
  if (is.character(data) && length(data)) {
    o <- options_of(c(list(...), if (!is.null(id)) list(id = id), if (!is.null(time)) list(time = time),
                      if (!is.null(state)) list(state = state), if (length(input)) list(input = input)))
    return(new_data(.Call(C_data_read, path.expand(data), o$keys, o$values)))
  }
  if (is_arrow(data)) {
    o <- options_of(c(list(...), if (!is.null(id)) list(id = id), if (!is.null(time)) list(time = time),
                      if (!is.null(state)) list(state = state), if (length(input)) list(input = input)))
    return(new_data(.Call(C_data_arrow, arrow_stream(data), o$keys, o$values)))
  }
  if (is.data.frame(data) && isTRUE(list(...)$wide)) return(wide_data(data, id = id, time = time, state = state, input = input, ...))
  pieces <- if (is.data.frame(data)) frame_pieces(data, id, time, state, input, list(...)$dt) else list_pieces(data, c(state, input))
  given <- list(...)
  unit <- if (is.null(pieces$seconds)) NULL else unit_of(pieces, given$time_unit)
  if (!is.null(unit)) pieces$t <- lapply(pieces$t, function(t) t / date_units[[unit]])
  inner <- sub("^log\\((.*)\\)$", "\\1", pieces$names) # columns hold x where the state of a model is log(x)
  if (any(pieces$logged)) given$log <- union(given$log, inner[pieces$logged])
  if (any(pieces$logged)) pieces$names[pieces$logged] <- inner[pieces$logged]
  o <- options_of(c(given[setdiff(names(given), c("time_unit", "wide", "files"))], if (length(input)) list(input = input)))
  made <- new_data(.Call(C_data_arrays, as.double(lengths(pieces$t)), as.double(unlist(pieces$t)),
                 as.double(unlist(lapply(pieces$x, t))), pieces$names, o$keys, o$values, pieces$ids))
  if (!is.null(unit)) .Call(C_data_unit, made$pointer, unit)
  made
}

# Wide form, which the reader of files knows.
wide_data <- function(frame, ...) {
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(frame, path, row.names = FALSE)
  tryCatch(sock_data(path, ...), error = function(e) stop(gsub(path, "the data frame", conditionMessage(e), fixed = TRUE), call. = FALSE))
}

# A time series (ts) as a data frame: its times, and a state for each column.
series_frame <- function(series) {
  x <- as.matrix(series)
  if (is.null(colnames(x))) colnames(x) <- if (ncol(x) == 1L) "x" else paste0("x", seq_len(ncol(x)) - 1L)
  data.frame(t = as.numeric(stats::time(series)), unclass(x), check.names = FALSE)
}

# zoo and xts: the index is the time.
ordered_frame <- function(series) {
  if (!requireNamespace("zoo", quietly = TRUE)) stop("data of class ", class(series)[1], " need the package zoo", call. = FALSE)
  x <- as.matrix(zoo::coredata(series))
  if (is.null(colnames(x))) colnames(x) <- if (ncol(x) == 1L) "x" else paste0("x", seq_len(ncol(x)) - 1L)
  data.frame(t = zoo::index(series), unclass(x), check.names = FALSE)
}

date_units <- c(second = 1, minute = 60, hour = 3600, day = 86400, week = 604800, year = 31557600)

# The largest unit but a week that the median step is not shorter than, as for files; or the one asked for.
unit_of <- function(pieces, asked) {
  if (!is.null(asked) && asked != "auto") {
    if (!asked %in% names(date_units)) stop("time_unit is '", asked, "'; allowed: auto, ", paste(names(date_units), collapse = ", "), call. = FALSE)
    return(asked)
  }
  steps <- sort(unlist(lapply(pieces$t, function(t) diff(sort(t)))))
  steps <- steps[steps > 0]
  step <- if (length(steps)) steps[length(steps) %/% 2 + 1] else 0
  fits <- names(date_units)[date_units <= step & names(date_units) != "week"]
  if (length(fits)) fits[length(fits)] else "second"
}

# Tables of arrow and nanoarrow hand over a C stream, which the library reads and releases (docs/data.md; not tested).
is_arrow <- function(data) inherits(data, c("nanoarrow_array_stream", "ArrowTabular", "RecordBatchReader"))

arrow_stream <- function(data) {
  if (inherits(data, "nanoarrow_array_stream")) return(data)
  stream_of <- tryCatch(getExportedValue("nanoarrow", "as_nanoarrow_array_stream"), error = function(e) NULL) # where it is installed
  if (is.null(stream_of))
    stop("the package nanoarrow is needed to read a ", class(data)[1], "; or give as.data.frame(data)", call. = FALSE)
  stream_of(data)
}

# Data files, or a table of arrow or nanoarrow, as a folder of arrays, which sock_data reads (docs/scale.md).
sock_convert <- function(files, folder, single = FALSE, ...) {
  o <- options_of(list(...))
  if (is_arrow(files)) {
    .Call(C_arrow_convert, arrow_stream(files), path.expand(folder), single, o$keys, o$values)
    return(invisible(folder))
  }
  .Call(C_data_convert, path.expand(files), path.expand(folder), single, o$keys, o$values)
  invisible(folder)
}

# What data files hold, as sock info --json prints: a list. stream = TRUE: they stay on the disk (docs/scale.md).
sock_info <- function(files, ...) {
  if (inherits(files, "sock")) stop("sock_info reads files; summary(model) tells of a model", call. = FALSE)
  if (!is.character(files)) stop("sock_info reads files; give their names, not an object of class ", class(files)[1], call. = FALSE)
  o <- options_of(list(...))
  json_read(.Call(C_info_files, path.expand(files), o$keys, o$values))
}

new_data <- function(pointer) {
  counts <- .Call(C_data_counts, pointer)
  structure(list(pointer = pointer, d = counts[1], trajectories = counts[2], points = counts[3], intervals = counts[4],
                 names = .Call(C_data_names, pointer)), class = "sock_data")
}

# " (did you mean NAME?)", where a name is near.
meant <- function(typed, names) {
  if (!length(names)) return("")
  far <- utils::adist(typed, names, ignore.case = TRUE)[1L, ]
  if (min(far) <= (nchar(typed) + 2) %/% 3) paste0(" (did you mean ", names[which.min(far)], "?)") else ""
}

column <- function(frame, wanted, usual, what) {
  if (!is.null(wanted)) {
    if (!is.character(wanted) || length(wanted) != 1L)
      stop(what, " must be the name of one column", call. = FALSE)
    if (!wanted %in% names(frame))
      stop(what, " is '", wanted, "'", meant(wanted, names(frame)), "; the columns are: ", paste(names(frame), collapse = ", "), call. = FALSE)
    return(wanted)
  }
  found <- intersect(names(frame), usual)
  if (!length(found)) found <- names(frame)[tolower(names(frame)) %in% usual]
  if (length(found) > 1L)
    stop("columns ", paste(found, collapse = ", "), " could all be the ", what, "; choose one", call. = FALSE)
  if (length(found)) found else NULL
}

# The column for the time by its name: t or time, time with its unit (time_s), a date or a unit, else age.
time_column <- function(frame, asked, needed = TRUE) {
  units <- c("second", "minute", "hour", "day", "week", "month", "year")
  dates <- c("date", "datetime", "timestamp", units, paste0(units, "s"))
  short <- c("ns", "us", "ms", "s", "sec", "secs", "min", "mins", "h", "hr", "hrs", "d", "wk", "wks", "mo", "yr", "yrs", dates)
  timed <- grep(paste0("^time[][ _.(/,-]+(", paste(short, collapse = "|"), ")[] )]*$"), tolower(names(frame)), value = TRUE)
  for (usual in list(c("t", "time"), timed, dates, c("times", "age", "ages", "elapsed"))) {
    found <- column(frame, asked, usual, "time")
    if (!is.null(found)) return(found)
  }
  if (!needed) return(NULL)
  dated <- Filter(function(n) inherits(frame[[n]], c("Date", "POSIXt")), names(frame))
  if (length(dated)) stop("there is no column for the time (t, time, date, or the like); ", dated[1], " holds dates: time = \"", dated[1], "\" takes it", call. = FALSE)
  stop("there is no column for the time (t, time, date, or the like); name it with time =, or give the time step with dt =; the columns are: ",
       paste(names(frame), collapse = ", "), "; ",
       if (max(0L, table(sub("[0-9]+([.][0-9]+)?$", "", grep("[0-9]$", names(frame), value = TRUE)))) > 2L)
         "if each row is a trajectory and the names of the columns hold its times (wide form), wide = TRUE reads them so"
       else "a table without a course in time is none for this package", call. = FALSE)
}

# Two columns that together tell the points of one time apart, with the fewest values; NULL: none, or too many to try.
two_that_tell <- function(frame, t) {
  if (length(frame) < 2L || length(frame) > 12L) return(NULL)
  pairs <- utils::combn(names(frame), 2L, simplify = FALSE)
  values <- vapply(pairs, function(p) if (anyDuplicated(cbind(frame[p], t))) NA_integer_ else nrow(unique(frame[p])), 1L)
  values[2 * values > length(t) | values < 2L] <- NA
  if (all(is.na(values))) NULL else pairs[[which.min(values)]]
}

# Several columns that together name a trajectory, as one: one/other.
joined_id <- function(frame, id) {
  for (name in id) column(frame, name, character(), "id")
  name <- do.call(paste, c(lapply(frame[id], as.character), sep = "/"))
  name[rowSums(is.na(frame[id])) > 0] <- NA
  name
}

# Rows that follow one another at the step dt, in each trajectory.
steps_of <- function(dt, who) {
  if (!is.numeric(dt) || length(dt) != 1L || !is.finite(dt) || dt <= 0) stop("dt must be a number > 0", call. = FALSE)
  dt * (stats::ave(seq_along(who), who, FUN = seq_along) - 1)
}

# Stops where no column is named as the trajectory's id and another column tells several trajectories: points at the same
# time, or times that begin anew wherever it changes, and nowhere else. The rules of CSV files (docs/data.md).
ask_for_id <- function(frame, time) {
  t <- as.double(frame[[time]])
  n <- length(t)
  others <- setdiff(names(frame), time)
  values <- vapply(others, function(c) length(unique(frame[[c]])), 1L)
  if (anyDuplicated(t)) {
    tells <- values > 1L & 2 * values <= n & vapply(others, function(c) !anyDuplicated(data.frame(frame[[c]], t)), NA)
    parts <- c("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    fine <- if (any(tells)) which(startsWith(tolower(others[tells][which.min(values[tells])]), parts))
    coarse <- which(startsWith(tolower(time), parts))
    if (length(fine) && length(coarse) && coarse[1] < fine[1])
      stop("points have the same ", time, ": it seems to be a part of the time, and ", others[tells][which.min(values[tells])],
           " another; make one column of them, a Date or a number", call. = FALSE)
    if (any(tells)) stop("points have the same time, and no column is named as the trajectory's id; try id = \"",
                         others[tells][which.min(values[tells])], "\"", call. = FALSE)
    both <- two_that_tell(frame[others], t)
    if (!is.null(both)) stop("points have the same time, and no column is named as the trajectory's id; ", both[1], " and ", both[2],
                             " together tell them apart: try id = c(\"", both[1], "\", \"", both[2], "\")", call. = FALSE)
  }
  back <- c(FALSE, diff(t) < 0)
  for (c in if (isTRUE(any(back))) others) {
    code <- match(frame[[c]], unique(frame[[c]]))
    if (2 * max(code) <= n && all(diff(code) >= 0) && identical(c(FALSE, diff(code) > 0), back))
      stop("row ", which(back)[1], ": the time begins anew where '", c, "' changes; id = \"", c, "\" makes a trajectory of each ",
           "part, id = \"none\" one of all, sorted; a day and a time of day have to become one column", call. = FALSE)
  }
}

# Whether a column counts the rows; one that is called as programs call the names of rows may miss some.
numbers_rows <- function(column, called_so) {
  step <- diff(column)
  length(step) > 1L && !anyNA(step) && (all(step == 1) && column[1] %in% 0:1 || called_so && all(step >= 1 & step %% 1 == 0))
}

# Numeric columns that never change within a trajectory are no states, as in files.
state_columns <- function(frame, used, who) {
  found <- Filter(function(n) is.numeric(frame[[n]]), setdiff(names(frame), used))
  rows <- Filter(function(n) length(found) > 1L && numbers_rows(frame[[n]], n == names(frame)[1] && n %in% c("X", "...1", "rownames")), found)
  switches <- Filter(function(n) {
    v <- frame[[n]][!is.na(frame[[n]])]
    all(v %in% 0:1) && sum(v == 0) > 2L && sum(v == 1) > 2L && any(tapply(frame[[n]], who, function(u) length(unique(u[!is.na(u)])) > 1L))
  }, found)
  if (length(switches) == length(found)) switches <- character()
  if (length(switches)) warning("left out: ", paste(switches, collapse = ", "), ", 0 and 1 alone (input = takes it as an input, state = as a state)", call. = FALSE)
  found <- setdiff(found, switches)
  counters <- Filter(function(n) length(unique(who)) > 2L && length(who) >= 2L * length(unique(who)) &&
    all(tapply(frame[[n]], who, function(u) !anyNA(u) && u[1] %in% 0:1 && all(diff(u) == 1))), found)
  if (length(counters) == length(found)) counters <- character()
  if (length(counters)) warning("left out: ", paste(counters, collapse = ", "), ", which numbers the points of each trajectory (state = takes it)", call. = FALSE)
  found <- setdiff(found, counters)
  copies <- found[duplicated(lapply(found, function(n) as.double(frame[[n]])))]
  if (length(rows)) warning("left out: ", paste(rows, collapse = ", "), ", which numbers the rows (state = takes it)", call. = FALSE)
  if (length(setdiff(copies, rows))) warning("left out: ", paste(setdiff(copies, rows), collapse = ", "), ", a copy of another column", call. = FALSE)
  found <- setdiff(found, c(rows, copies))
  idle <- Filter(function(n) all(tapply(frame[[n]], who, function(v) length(unique(v[!is.na(v)])) <= 1L)), found)
  if (max(c(0L, who)) == length(who) || length(idle) == length(found)) return(found)
  if (length(idle)) warning("left out: ", paste(idle, collapse = ", "), ", constant within each trajectory (input = takes it as an input)",
                            call. = FALSE)
  setdiff(found, idle)
}

# A frame of R's own or of nlme that says what it is: state ~ time | trajectory.
said_by <- function(frame) {
  said <- if (inherits(frame, "groupedData")) attr(frame, "formula")
  right <- if (length(said) == 3L) said[[3L]]
  roles <- if (length(right) == 3L && identical(right[[1L]], as.name("|"))) list(state = said[[2L]], time = right[[2L]], id = right[[3L]])
  if (is.null(roles) || !all(vapply(roles, is.name, NA))) return(list())
  roles <- lapply(roles, as.character)
  timely <- all(unlist(roles) %in% names(frame)) && !inherits(try(time_column(frame[roles$time], NULL), silent = TRUE), "try-error")
  if (timely) roles else list()
}

# Whole numbers that are all days, 20240131, are these, as in files.
joined_days <- function(t) {
  known <- t[!is.na(t)]
  if (!length(known) || any(known < 17000101 | known > 21991231 | known != round(known))) return(t)
  days <- as.POSIXct(format(known, scientific = FALSE), format = "%Y%m%d", tz = "UTC")
  if (anyNA(days)) return(t)
  out <- as.POSIXct(rep(NA, length(t)), tz = "UTC")
  out[!is.na(t)] <- days
  out
}

# A month or a quarter as the first of its days: 2024-01, Jan 2024, 2024-Q1, 2024 Q1.
first_days <- function(t) {
  month <- grepl("^[0-9]{4}-[0-9]{2}$", t)
  t[month] <- paste0(t[month], "-01")
  named <- grepl("^[A-Za-z]{3}[ -][0-9]{4}$", t) & tolower(substr(t, 1, 3)) %in% tolower(month.abb)
  t[named] <- sprintf("%s-%02d-01", substr(t[named], 5, 8), match(tolower(substr(t[named], 1, 3)), tolower(month.abb)))
  quarter <- grepl("^[0-9]{4}[ -]?[Qq][1-4]$", t)
  t[quarter] <- sprintf("%s-%02d-01", substr(t[quarter], 1, 4), 3L * as.integer(sub(".*[Qq]", "", t[quarter])) - 2L)
  t
}

# Times as numbers or as dates; texts and factors by what they say, as in files.
clock_of <- function(t, name) {
  if (inherits(t, "POSIXlt")) return(as.POSIXct(t))
  if (inherits(t, "difftime")) stop("time: ", name, " is a difftime; give numbers, as.numeric(", name, ", units = \"days\")", call. = FALSE)
  if (is.factor(t)) t <- as.character(t)
  if (is.numeric(t)) return(joined_days(t))
  if (!is.character(t)) return(t)
  blank <- is.na(t) | t %in% c("", "NA")
  number <- suppressWarnings(as.numeric(t))
  if (!anyNA(number[!blank])) return(joined_days(number))
  t <- first_days(t)
  german <- grepl("^[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}( [0-9:.]+)?$", t)
  t[german] <- sub("^([0-9]+)[.]([0-9]+)[.]([0-9]{4})", "\\3-\\2-\\1", t[german])
  day <- german | grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+Z?)?$", t)
  if (any(!day & !blank))
    stop("time: row ", which(!day & !blank)[1], " of ", name, " is '", t[!day & !blank][1], "'; allowed: numbers, dates (Date, POSIXct), ",
         "or texts such as 2024-01-31, 2024-01-31T12:00 and 31.01.2024", call. = FALSE)
  t[blank] <- NA
  as.POSIXct(sub("Z$", "", sub("T", " ", t)), tz = "UTC", tryFormats = c("%Y-%m-%d %H:%M:%OS", "%Y-%m-%d %H:%M", "%Y-%m-%d"))
}

# What of a frame does not count is told: rows without a time, and points with a missing value.
tell_lost <- function(frame, time, state) {
  missing <- vapply(frame[state], function(v) sum(is.na(v)), 1L)
  lost <- sum(rowSums(is.na(frame[state])) > 0)
  untimed <- sum(is.na(frame[[time]]))
  if (untimed) warning("left out ", untimed, if (untimed == 1) " row" else " rows", " without a time", call. = FALSE)
  if (lost) warning("left out ", lost, " of ", nrow(frame), " points, which lack a value: ",
                    paste0(missing[missing > 0], " in ", state[missing > 0], collapse = ", "), call. = FALSE)
}

# What no data can have, with its row: infinite values, two points of one trajectory at one time.
refuse_rows <- function(frame, id, time, state, who) {
  for (name in c(time, state)) {
    at <- which(is.infinite(frame[[name]]))
    if (length(at)) stop("row ", at[1], ", column '", name, "': the value is ", frame[[name]][at[1]], "; finite numbers are allowed", call. = FALSE)
  }
  t <- as.double(frame[[time]])
  twin <- which(duplicated(data.frame(who, t)) & !is.na(t))[1]
  if (is.na(twin)) return()
  first <- which(who == who[twin] & t == t[twin])[1]
  stop("rows ", first, " and ", twin, " have the same time", if (is.null(id)) paste0(" (", time, "), and no column is named as the trajectory's id; id = names it, time = another time; a table with one row a subject is none for this package")
       else paste0(", and the same ", id, ", ", frame[[id]][twin], "; where several columns together name a trajectory, id = c(\"A\", \"B\") takes them"), call. = FALSE)
}

frame_pieces <- function(frame, id, time, state, input = NULL, dt = NULL) {
  if (is.null(state) && all(tolower(month.abb) %in% substr(tolower(names(frame)), 1, 3)))
    stop("the columns are the twelve months: one series, a row a year; wide = TRUE reads it so, and state = takes columns as states", call. = FALSE)
  said <- said_by(frame)
  parts <- NULL
  if (length(id) > 1L) {
    parts <- id
    id <- paste(parts, collapse = "/")
    frame[[id]] <- joined_id(frame, parts)
  }
  time <- time_column(frame, if (is.null(time)) said$time else time, is.null(dt))
  if (!is.null(dt) && !is.null(time)) stop("dt was given, and column ", time, " holds the times; give one of the two", call. = FALSE)
  if (!is.null(time) && time %in% parts) stop("the column '", time, "' cannot be both id and time", call. = FALSE)
  timeless <- is.null(time)
  if (timeless) time <- "t"
  if (timeless) frame$t <- rep(0, nrow(frame)) # until it is known which row is whose
  frame[[time]] <- clock_of(frame[[time]], time)
  dated <- inherits(frame[[time]], c("Date", "POSIXct"))
  if (dated) frame[[time]] <- as.numeric(as.POSIXct(frame[[time]]))
  alone <- identical(id, "none")
  id <- if (!alone) column(frame, if (is.null(id)) said$id else id, c("id", "traj", "trajectory"), "id")
  if (is.null(id) && !alone && !timeless) ask_for_id(frame, time)
  who <- if (is.null(id)) rep(1L, nrow(frame)) else match(frame[[id]], unique(frame[[id]]))
  if (timeless) frame$t <- steps_of(dt, who)
  if (is.null(state)) state <- if (is.null(said$state)) state_columns(frame, c(id, parts, time, input), who) else said$state
  inner <- sub("^log\\((.*)\\)$", "\\1", state)
  logged <- !state %in% names(frame) & inner != state & inner %in% names(frame)
  shown <- c(state, setdiff(input, state))
  state[logged] <- inner[logged]
  state <- union(state, input)
  logged <- c(logged, rep(FALSE, length(shown) - length(logged)))
  missing <- setdiff(state, names(frame))
  if (length(missing)) stop(if (missing[1] %in% input) "input '" else "state '", missing[1], "' is not a column", meant(missing[1], names(frame)), call. = FALSE)
  if (!length(state)) stop("there is no numeric column for the state", call. = FALSE)
  for (name in state) {
    if (is.logical(frame[[name]])) frame[[name]] <- as.numeric(frame[[name]]) # as in files
    if (is.numeric(frame[[name]]) || all(is.na(frame[[name]]))) next
    stop("column '", name, "' is of class ", class(frame[[name]])[1], "; states and inputs are numbers",
         if (length(unique(frame[[name]])) > 1L) paste0("; as.numeric(", name, " == \"", unique(frame[[name]])[2], "\") makes 0 and 1 of it"), call. = FALSE)
  }
  if (!is.null(id) && anyNA(frame[[id]]))
    stop(sum(is.na(frame[[id]])), " rows have no ", id, ", the first is row ", which(is.na(frame[[id]]))[1], call. = FALSE)
  refuse_rows(frame, id, time, state, who)
  tell_lost(frame, time, state)
  kept <- !is.na(frame[[time]])
  frame <- frame[kept, , drop = FALSE]
  who <- who[kept]
  rows <- split(seq_len(nrow(frame)), who)
  rows <- lapply(rows, function(r) r[order(frame[[time]][r])])
  list(t = lapply(rows, function(r) as.double(frame[[time]][r])),
       x = lapply(rows, function(r) as.matrix(frame[r, state, drop = FALSE])), names = as.character(shown), logged = logged,
       seconds = if (dated) TRUE, ids = if (!is.null(id)) as.character(unique(frame[[id]])[match(as.integer(names(rows)), unique(who))]))
}

# A trajectory as list(t, x): by name where there are names, else in that order. Times that fall would be sorted by C.
two_parts <- function(piece, j) {
  if (is.data.frame(piece)) stop("trajectory ", j, " is a data frame; bind them with a column for the id: do.call(rbind, ...)", call. = FALSE)
  if (!is.list(piece) || length(piece) != 2L) stop("trajectory ", j, " is not list(t, x)", call. = FALSE)
  named <- names(piece)
  if (!is.null(named)) {
    time <- which(tolower(named) %in% c("t", "time", "times"))
    if (length(time) != 1L) stop("trajectory ", j, " has the parts ", paste(named, collapse = ", "), "; allowed: t and x", call. = FALSE)
    piece <- c(piece[time], piece[-time])
  }
  if (is.unsorted(piece[[1L]], na.rm = TRUE))
    stop("trajectory ", j, ": the times fall at point ", which(diff(piece[[1L]]) < 0)[1] + 1L, "; a list is list(t, x)", call. = FALSE)
  piece
}

list_pieces <- function(data, state) {
  if (is.list(data) && length(data) == 2L && is.numeric(data[[1]])) data <- list(data)
  if (!is.list(data) || !length(data))
    stop("data must be a data frame, a time series (ts, zoo, xts), a list of list(t, x), or the name of a file",
         if (is.numeric(data)) "; numbers alone have no times: ts(x, deltat = 0.1), or data.frame(t = , x = )", call. = FALSE)
  given <- if (!is.null(names(data)) && all(nzchar(names(data)))) names(data)
  data <- lapply(seq_along(data), function(j) two_parts(data[[j]], j))
  x <- lapply(data, function(piece) as.matrix(piece[[2]]))
  d <- unique(vapply(x, ncol, 1L))
  if (length(d) != 1L) stop("the trajectories have different numbers of states", call. = FALSE)
  for (j in seq_along(data))
    if (length(data[[j]][[1]]) != nrow(x[[j]]))
      stop("trajectory ", j, " has ", nrow(x[[j]]), " points and ", length(data[[j]][[1]]), " times", call. = FALSE)
  names <- if (!is.null(state)) state else if (!is.null(colnames(x[[1]]))) colnames(x[[1]]) else paste0("x", seq_len(d) - 1L)
  list(t = lapply(data, function(piece) as.double(piece[[1]])), x = x, names = as.character(names), logged = grepl("^log\\(.*\\)$", names),
       ids = given)
}

values_of <- function(data) {
  v <- t(.Call(C_data_values, data$pointer))
  colnames(v) <- c("traj", "t", data$names, .Call(C_data_inputs, data$pointer))
  v
}

print.sock_data <- function(x, ...) {
  many <- function(n, one, several = paste0(one, "s")) paste(n, if (n == 1) one else several)
  cat(many(x$trajectories, "trajectory", "trajectories"), ", ", many(x$points, "point"), ", ", many(x$points - x$trajectories, "step"),
      if (length(x$names) == 1) ", state: " else ", states: ", paste(x$names, collapse = ", "), "\n", sep = "")
  invisible(x)
}

# ---- Models ----

# Learns drift and diffusion. `...`: options of the library (docs/options.md), with _ for -, for example tune = FALSE,
# drift = "gauss:eta=0.8", drift_lambda = 1e-4.
sock_fit <- function(data, ..., id = NULL, time = NULL, state = NULL, threads = 0) {
  given <- list(...)
  count_of(threads, "threads", 0)
  if (isTRUE(given$stream) || !is.null(given$plan) || !is.null(given$save_plan)) return(fit_files(data, given, id, time, state, threads))
  reading <- given[names(given) %in% c("group", "grouping", "dt", "missing", "every", "log", "wide",
                                             "files", "time_unit", "input", "time_dependent")]
  data <- do.call(sock_data, c(list(data, id = id, time = time, state = state), if (inherits(data, "sock_data")) reading[!names(reading) %in% c("grouping", "time_dependent")] else reading))
  o <- options_of(given)
  model <- new_model(.Call(C_fit, data$pointer, o$keys, o$values, as.integer(threads)), data)
  model$reading <- c(list(id = id, time = time), reading[c("group", "grouping", "missing", "dt")])
  model$call <- match.call()
  model
}

# Files that stay on the disk (docs/scale.md).
fit_files <- function(files, given, id, time, state, threads) {
  if (!is.character(files)) stop("stream = TRUE needs the names of files: other data are in memory", call. = FALSE)
  o <- options_of(c(given, if (!is.null(id)) list(id = id), if (!is.null(time)) list(time = time),
                    if (!is.null(state)) list(state = state)))
  new_model(.Call(C_fit_files, path.expand(files), o$keys, o$values, as.integer(threads)))
}

new_model <- function(pointer, data = NULL) {
  inputs <- matrix(.Call(C_model_inputs, pointer), ncol = 2)
  structure(list(pointer = pointer, names = .Call(C_model_names, pointer), inputs = inputs[, 1], holds = inputs[, 2],
                 order = .Call(C_model_order, pointer), has_diffusion = .Call(C_model_has_diffusion, pointer), data = data),
            class = "sock")
}

sock_save <- function(model, path) {
  .Call(C_model_save, model$pointer, path.expand(path))
  invisible(path)
}
sock_load <- function(path) new_model(.Call(C_model_load, path.expand(path)))

# States log(x) of columns x, as sock_score and the rest of the package find them.
with_logs <- function(model, values) {
  for (name in setdiff(model$names, names(values))) {
    inner <- sub("^log\\((.*)\\)$", "\\1", name)
    if (inner == name || !inner %in% names(values)) next
    if (any(values[[inner]] <= 0, na.rm = TRUE)) stop(inner, " must be above 0: the model is of ", name, call. = FALSE)
    values[[name]] <- log(values[[inner]])
  }
  values
}

# A model of log(x) takes x and log(x) by name; of a number without a name nobody knows which it is.
refuse_bare <- function(model, what, example) {
  logged <- model$names[is_log(model$names)]
  if (!length(logged)) return(invisible())
  x <- sub("^log\\((.*)\\)$", "\\1", logged[1])
  stop("the model is of ", logged[1], ", and ", what, " has no names: ", sprintf(example, x), " gives ", x, " itself, the name \"", logged[1],
       "\" its logarithm", call. = FALSE)
}

points_of <- function(model, newdata) {
  d <- length(model$names)
  by_name <- if (is.null(dim(newdata))) names(newdata) else if (is.matrix(newdata)) colnames(newdata)
  if (any(is_log(model$names)) && !is.data.frame(newdata)) {
    if (is.null(dim(newdata)) && d == 1L && length(unique(by_name)) == 1L) { # c(x = 1000), c("log(x)" = 7)
      newdata <- matrix(newdata, ncol = 1L, dimnames = list(NULL, by_name[1]))
    } else if (is.null(by_name) || (is.null(dim(newdata)) && d == 1L)) refuse_bare(model, "newdata", "data.frame(%s = )")
    newdata <- if (is.matrix(newdata)) as.data.frame(newdata, optional = TRUE) else data.frame(as.list(newdata), check.names = FALSE)
  }
  if (is.data.frame(newdata)) {
    newdata <- with_logs(model, newdata)
    missing <- setdiff(model$names, names(newdata))
    if (length(missing)) stop("newdata has no column ", paste(missing, collapse = ", "), call. = FALSE)
    newdata <- as.matrix(newdata[model$names])
  }
  if (is.null(dim(newdata))) newdata <- matrix(newdata, ncol = if (d == 1L) 1L else length(newdata),
                                               dimnames = if (d > 1L && !is.null(names(newdata))) list(NULL, names(newdata)))
  if (!is.null(colnames(newdata))) {
    missing <- setdiff(model$names, colnames(newdata))
    if (length(missing)) stop("newdata has no column ", paste(missing, collapse = ", "), "; it has ", paste(colnames(newdata), collapse = ", "), call. = FALSE)
    newdata <- newdata[, model$names, drop = FALSE]
  }
  if (ncol(newdata) != d) stop("newdata has ", ncol(newdata), " columns, the model ", d, " states", call. = FALSE)
  newdata
}

# Values of the inputs of a model at n points, an m x n matrix: from a list or data frame by name, numbers for all points.
inputs_of <- function(model, inputs, n) {
  missing <- setdiff(model$inputs, names(inputs))
  if (length(missing))
    stop("the model needs the input ", paste(missing, collapse = ", "), ": give inputs = list(", missing[1], " = ...)", call. = FALSE)
  strange <- if (is.data.frame(inputs)) NULL else setdiff(names(inputs), model$inputs)
  if (length(strange)) stop("the model has no input '", strange[1], "'", call. = FALSE)
  one <- function(name) {
    value <- as.double(inputs[[name]])
    if (!length(value) %in% c(1L, n)) stop("input ", name, " has ", length(value), " values for ", n, " points", call. = FALSE)
    rep_len(value, n)
  }
  matrix(as.double(unlist(lapply(model$inputs, one))), nrow = length(model$inputs), ncol = n, byrow = TRUE)
}

# The columns of data that a model needs; of order 2 those of the positions. How they are read (id, time, ...) is said by `...`,
# else it is what the fit was told, where the data have such columns.
model_data <- function(model, x, ...) {
  if (!inherits(model, "sock")) stop("model is of class ", class(model)[1], "; give what sock_fit or sock_load made", call. = FALSE)
  if (inherits(x, "sock_data")) return(x)
  unit <- summary(model)$data$time_unit
  known <- model$reading
  if (is.data.frame(x)) known <- Filter(function(v) !is.character(v) || all(v %in% c(names(x), "none")), known)
  if (is.data.frame(x) && !is.null(time_column(x, known$time, FALSE))) known$dt <- NULL
  if (!is.data.frame(x) && !is.character(x)) known <- NULL
  given <- c(list(...), Filter(Negate(is.null), known))
  given <- given[!duplicated(names(given))]
  do.call(sock_data, c(list(x, state = model$names[seq_len(length(model$names) / model$order)], time_unit = if (is.null(unit)) "auto" else unit,
                            input = model$inputs[model$holds != "time"], time_dependent = "time" %in% model$holds), given))
}

# f as an n x d matrix; a or sigma as an n x d x d array. With an interval a list of these: fit, lwr, upr; "confidence"
# holds the field at each point with the probability `level`, "simultaneous" f where the data are at once. inputs: of a
# model that has some, a list or data frame by name; by default columns of newdata.
predict.sock <- function(object, newdata, what = c("drift", "diffusion", "sigma"),
                         interval = c("none", "confidence", "simultaneous"), level = 0.9, inputs = newdata, ...) {
  what <- match.arg(what)
  interval <- match.arg(interval)
  nothing_else(...)
  x <- points_of(object, newdata)
  field <- match(what, c("drift", "diffusion", "sigma")) - 1L
  d <- length(object$names)
  shape <- function(out) {
    if (field == 0L) return(matrix(out, nrow(x), d, byrow = TRUE, dimnames = list(NULL, object$names)))
    aperm(array(out, c(d, d, nrow(x)), list(object$names, object$names, NULL)), c(3, 1, 2))
  }
  u <- if (length(object$inputs)) inputs_of(object, inputs, nrow(x)) else double(0)
  fit <- shape(.Call(C_field, object$pointer, field, as.double(t(x)), u, 0L))
  if (interval == "none") return(fit)
  ends <- .Call(C_band, object$pointer, field, as.double(t(x)), u, as.double(level), interval == "simultaneous")
  half <- seq_len(length(ends) / 2)
  list(fit = fit, lwr = shape(ends[half]), upr = shape(ends[-half]))
}

# A model drawn from what the fit leaves open.
sock_draw <- function(model, seed = 0, number = 0) {
  count_of(seed, "seed", 0)
  count_of(number, "number", 0)
  new_model(.Call(C_draw, model$pointer, as.double(seed), as.double(number)))
}

nothing_else <- function(...) {
  if (...length()) stop("unknown argument", if (!is.null(names(list(...)))) paste0(" '", names(list(...))[1], "'"), call. = FALSE)
}

# C would turn any other number into some count.
count_of <- function(value, what, least) {
  if (!is.numeric(value) || length(value) != 1L || !is.finite(value) || value < least || value > 2^53 || value != round(value))
    stop(what, " is ", format(value)[1], "; allowed: a whole number from ", least, " on", call. = FALSE)
}

# Times of a model: dates in the unit of the dates that it was fitted to.
times_of <- function(model, t) {
  t <- clock_of(t, "t")
  if (!inherits(t, c("Date", "POSIXct"))) return(as.double(t))
  unit <- summary(model)$data$time_unit
  if (is.null(unit)) stop("t holds dates, and the model was fitted to times without a unit; give numbers", call. = FALSE)
  as.numeric(as.POSIXct(t)) / date_units[[unit]]
}

# A start: by name where it has names, else in the order of the states.
start_of <- function(model, x0) {
  d <- length(model$names)
  if (is.null(names(x0))) refuse_bare(model, "x0", "c(%s = )") else x0 <- unlist(with_logs(model, as.list(x0))[model$names])
  if (length(x0) != d) stop("x0 must have one number for each of ", paste(model$names, collapse = ", "), call. = FALSE)
  as.double(x0)
}

# nsim paths from x0 at the times t: an array nsim x times x d, with its seed. uncertain: path k is one of the k-th draw of
# the model; observed: with the measurement noise of the model. inputs: of a model that has some, a list of numbers, or of
# their values at the times t, by name. seed = NULL: by R's random numbers, so that set.seed() holds.
simulate.sock <- function(object, nsim = 1, seed = NULL, x0, t, step = 0, uncertain = FALSE, observed = FALSE,
                          inputs = NULL, ...) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1L)
  count_of(nsim, "nsim", 1)
  count_of(seed, "seed", 0)
  d <- length(object$names)
  if (missing(x0) || missing(t)) {
    inner <- sub("^log\\((.*)\\)$", "\\1", object$names)
    stop("simulate() needs a start x0 and times t: simulate(model, ", nsim, ", x0 = c(", paste(inner, "= ", collapse = ", "), "), t = 0:10)", call. = FALSE)
  }
  x0 <- start_of(object, x0)
  t <- times_of(object, t)
  about <- summary(object)
  if (isTRUE(observed) && length(about$tuned) && !isTRUE(about$noise$used)) stop("observed = TRUE: the model knows of no measurement noise", call. = FALSE)
  o <- options_of(list(...))
  clock <- object$inputs[object$holds == "time"]
  if (length(clock)) inputs <- c(as.list(inputs), structure(list(t), names = clock))
  u <- if (length(object$inputs)) inputs_of(object, inputs, length(t)) else double(0)
  out <- .Call(C_simulate, object$pointer, x0, as.double(nsim), t, u, as.double(step), as.double(seed), isTRUE(uncertain),
               isTRUE(observed), o$keys, o$values)
  structure(aperm(array(out, c(d, length(t), nsim), list(object$names, NULL, NULL)), c(3, 2, 1)), seed = seed)
}

# What says how data are read, and the options of the work itself.
apart <- function(...) {
  given <- list(...)
  reading <- names(given) %in% c("id", "time", "group", "grouping", "missing", "every", "dt", "wide", "files", "time_unit")
  list(reading = given[reading], options = given[!reading])
}

# Test data none of which is near those of the fit: other units, or logarithms taken twice.
warn_elsewhere <- function(model, data) {
  if (is.null(model$data)) return(invisible())
  fitted <- values_of(model$data)
  given <- values_of(data)
  for (name in intersect(model$data$names, intersect(colnames(fitted), colnames(given)))) {
    known <- range(fitted[, name])
    now <- range(given[, name])
    if (now[1] <= known[2] + diff(known) / 4 && now[2] >= known[1] - diff(known) / 4) next
    shown <- function(ends) paste(signif(ends[1], 4), "to", signif(ends[2], 4))
    warning("all of the test data are far from those of the fit: ", name, " is ", shown(now), ", and was ", shown(known),
            if (is_log(name)) "; the logarithm is taken here, the data hold the values themselves", call. = FALSE)
  }
}

# Likelihood (by Euler steps, and by moments that follow the model over the step: PM') and, with the training data, MMD on
# test data. `...`: delta, mmd_paths, mmd_step, seed. stream: test is the names of files that stay on the disk (docs/scale.md).
sock_score <- function(model, test, train = NULL, stream = FALSE, ...) {
  given <- apart(...)
  if (isTRUE(stream)) {
    if (!is.character(test) || !length(test)) stop("stream = TRUE reads files: test must be names of files or folders", call. = FALSE)
    if (!is.null(train)) stop("train sets the scale of the MMD, which needs all data in memory: leave stream out, or train", call. = FALSE)
    unit <- summary(model)$data$time_unit
    read <- c(list(state = model$names), if (!is.null(unit)) list(time_unit = unit), Filter(Negate(is.null), model$reading))
    read <- c(list(...), read)
    o <- options_of(read[!duplicated(names(read))])
    v <- .Call(C_score_files, model$pointer, path.expand(test), o$keys, o$values)
  } else {
    o <- options_of(given$options)
    as_data <- function(x) if (!is.null(x)) do.call(model_data, c(list(model, x), given$reading))
    test <- as_data(test)
    warn_elsewhere(model, test)
    v <- .Call(C_score, model$pointer, test$pointer, as_data(train)$pointer, o$keys, o$values)
  }
  c(loglik = v[1], nats = v[10], perplexity_raw = v[2], loglik_moments = v[6],
    perplexity_moments_raw = v[7], loglik_filter = v[8], perplexity_filter_raw = v[9], mmd2 = v[3], intervals = v[4])
}

# The states behind measured trajectories, by a model with measurement noise, or positions and velocities by one of order 2: a data frame traj, t, the states, and sd_ of
# each, the standard deviation of what is not known of it.
sock_smooth <- function(model, data, ...) {
  from <- model_data(model, data, ...)
  v <- t(.Call(C_smooth, model$pointer, from$pointer))
  colnames(v) <- c(model$names, paste0("sd_", model$names))
  at <- values_of(from)[, 1:2, drop = FALSE]
  id <- utils::type.convert(.Call(C_data_ids, from$pointer), as.is = TRUE)[at[, 1]]
  data.frame(traj = id, t = at[, 2], v, check.names = FALSE)
}

# Is the model right for the data (those of the fit, unless others are given)? Tests, and a verdict; a warning where one
# objects. `...`: draws, alpha, seed.
sock_check <- function(model, data = model$data, ...) {
  if (!inherits(model, "sock")) stop("model is of class ", class(model)[1], "; give what sock_fit or sock_load made", call. = FALSE)
  if (is.null(data)) stop("give the data: sock_check(model, data)", call. = FALSE)
  given <- apart(...)
  o <- options_of(given$options)
  on <- do.call(model_data, c(list(model, data), given$reading))
  out <- structure(r_words_in(json_read(.Call(C_check, model$pointer, on$pointer, o$keys, o$values))), class = "sock_check")
  if (!out$ok) warning(out$verdict, " ", out$advice, call. = FALSE)
  out
}

# What the equation means within the range of the data (docs/explain.md): a list, as sock explain --json prints. data: NULL,
# or what the stationary law is compared with. inputs: a named list of numbers; an input without one has its median. `...`:
# lower and upper (ends of the range), seed.
sock_explain <- function(model, data = if (model$order == 1L) model$data, inputs = list(), ...) {
  if (!inherits(model, "sock")) stop("model is of class ", class(model)[1], "; give what sock_fit or sock_load made", call. = FALSE)
  given <- apart(...)
  o <- options_of(given$options)
  strange <- setdiff(names(inputs), model$inputs)
  if (length(strange)) stop("the model has no input ", strange[1], call. = FALSE)
  u <- vapply(model$inputs, function(name) if (is.null(inputs[[name]])) NA_real_ else as.double(inputs[[name]]), 0)
  on <- if (is.null(data)) NULL else do.call(model_data, c(list(model, data), given$reading))$pointer
  json_read(.Call(C_explain, model$pointer, on, as.double(u), o$keys, o$values))
}

# Everything about a model in one HTML file, made by the program `sock`: data (those of the fit, unless others are given), test
# data to score it on.
sock_report <- function(model, path, data = model$data, test = NULL, program = Sys.which("sock"), ...) {
  if (is.null(data)) stop("give the data: sock_report(model, path, data)", call. = FALSE)
  if (!nzchar(program)) stop("the program sock was not found; install it, or name it with program =", call. = FALSE)
  name <- gsub(if (.Platform$OS.type == "windows") "[^[:alnum:]_.-]+" else "[^[:alnum:]_.:-]+", "", if (missing(data)) deparse1(model$call$data) else deparse1(substitute(data)))
  if (!nzchar(name) || nchar(name) > 40 || grepl("^[.-]|^(data|test|model)$|NULL", name)) name <- "fromR"
  folder <- tempfile("sock")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  path <- file.path(normalizePath(dirname(path.expand(path)), mustWork = FALSE), basename(path))
  sock_save(model, file.path(folder, "model.sock"))
  as_file <- function(x, name) {
    values <- as.data.frame(values_of(model_data(model, x, ...)))
    head <- paste0('"', gsub('"', '""', names(values), fixed = TRUE), '"', collapse = ",")
    utils::write.table(format(values, digits = 17, trim = TRUE), file <- file.path(folder, name), sep = ",", row.names = FALSE,
                       col.names = FALSE, quote = FALSE)
    writeLines(c(head, readLines(file)), file)
    name
  }
  given <- c("report", "model.sock", as_file(data, paste0(name, ".csv")), if (!is.null(test)) c("--test", as_file(test, "test.csv")),
             "-o", path, "--quiet")
  here <- setwd(folder)
  on.exit(setwd(here), add = TRUE, after = FALSE)
  said <- suppressWarnings(system2(normalizePath(program), shQuote(given), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status")))
    stop(if (length(said)) paste(said, collapse = "\n") else paste(program, "failed with status", attr(said, "status")), call. = FALSE)
  commands_of_r(model, path, if (name == "fromR") "data" else name)
  invisible(path)
}

# The commands in a page made from R are those of R: the files that the program read are gone.
commands_of_r <- function(model, path, name) {
  page <- readLines(path, warn = FALSE, encoding = "UTF-8")
  first <- grep('<pre class="commands"', page, fixed = TRUE)[1]
  last <- grep("</pre>", page, fixed = TRUE)
  last <- last[last >= first][1]
  if (is.na(first) || is.na(last)) return(invisible())
  made <- if (is.null(model$call)) "" else deparse1(model$call)
  said <- c("# in R, where the data are", if (nzchar(made) && nchar(made) < 500) paste("model <-", made),
            paste0("sock_report(model, \"report.html\", data = ", name, ")"))
  said <- gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", said, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  before <- sub('(<pre class="commands"[^>]*>).*', "\\1", page[first])
  after <- sub(".*?</pre>", "</pre>", page[last], perl = TRUE)
  said[1] <- paste0(before, said[1])
  said[length(said)] <- paste0(said[length(said)], after)
  writeLines(enc2utf8(c(page[seq_len(first - 1L)], said, page[-seq_len(last)])), path, useBytes = TRUE)
}

# The evidence under the fields (docs/evidence.md): a list with one entry for each state and each number of intervals; of planes, for each pair
# of the first four states.
sock_evidence <- function(model, data = model$data, planes = FALSE, ...) {
  if (is.null(data)) stop("give the data: sock_evidence(model, data)", call. = FALSE)
  json_read(.Call(C_evidence, model$pointer, model_data(model, data, ...)$pointer))[[if (planes) "planes" else "moments"]]
}

print.sock_check <- function(x, ...) {
  number <- function(test, key) if (is.null(test[[key]])) NA else test[[key]]
  cat(x$verdict, "\n", if (nzchar(x$advice)) paste0(x$advice, "\n"), sep = "")
  print(data.frame(
    test = vapply(x$tests, function(t) t$name, ""), statistic = vapply(x$tests, number, 0, "statistic"),
    df = vapply(x$tests, number, 0, "df"), p = vapply(x$tests, number, 0, "p"),
    adjusted = vapply(x$tests, number, 0, "p_adjusted"), effect = vapply(x$tests, number, 0, "effect"),
    objects = vapply(x$tests, function(t) isTRUE(t$objects), TRUE)), digits = 3, row.names = FALSE)
  invisible(x)
}

# The information of the model, with the lines of `sock fit`, which the library writes.
summary.sock <- function(object, ...)
  structure(r_words_in(json_read(.Call(C_model_info, object$pointer))), words = r_words(.Call(C_model_summary, object$pointer)), class = "summary.sock")

# The coefficients of f where it is a polynomial: names are the state and the term.
drift_terms <- function(model) {
  terms <- json_read(.Call(C_model_terms, model$pointer))$drift
  if (!length(terms)) stop("f of this model is no polynomial, so it has no coefficients; predict() has its values", call. = FALSE)
  one <- function(key) unlist(lapply(terms, function(t) vapply(if (is.null(t[[key]])) t$coefficients else t[[key]],
                                                              function(v) if (is.null(v)) NA_real_ else as.double(v), 0)))
  names <- as.vector(outer(model$names, vapply(terms, function(t) t$term, ""), paste, sep = ": "))
  list(value = structure(one("coefficients"), names = names), se = if (is.null(terms[[1]]$se)) NULL else structure(one("se"), names = names))
}

coef.sock <- function(object, ...) drift_terms(object)$value

# Normal intervals by the standard errors of the fit: given that these are the terms.
confint.sock <- function(object, parm, level = 0.95, ...) {
  terms <- drift_terms(object)
  if (is.null(terms$se)) stop("the model has no standard errors: ", summary(object)$bands_reason, call. = FALSE)
  ends <- c((1 - level) / 2, (1 + level) / 2)
  out <- terms$value + outer(terms$se, stats::qnorm(ends))
  dimnames(out) <- list(names(terms$value), paste(format(100 * ends, trim = TRUE), "%"))
  if (missing(parm)) out else out[parm, , drop = FALSE]
}

nobs.sock <- function(object, ...) {
  about <- summary(object)
  about$points - about$data$trajectories
}

residuals.sock <- function(object, ...)
  stop("an SDE has no residuals in the units of the data; sock_check(model, data) tests its steps, sock_evidence(model, data) shows them", call. = FALSE)
fitted.sock <- function(object, ...)
  stop("predict(model, newdata) has drift and diffusion; for expected paths take means of simulate(model, ...)", call. = FALSE)
logLik.sock <- function(object, ...) stop("sock_score(model, test) has the likelihood of test data", call. = FALSE)

# The words of `sock fit`.
print.summary.sock <- function(x, ...) {
  cat(attr(x, "words"))
  if (!is.null(x$verdict) && is.null(x$advice)) cat(formatC("", width = -12), "sock_check(model, data) shows the tests one by one.\n")
  invisible(x)
}

print.sock <- function(x, ...) {
  cat("SDE of", paste(x$names, collapse = ", "), "\n")
  print(summary(x))
  invisible(x)
}

# Drift and diffusion where the data are: curves in one dimension, arrows and the trace of a in the plane of two states. Of order 2: the
# plane of the first position and its velocity, which the smoother finds.
plot.sock <- function(x, data = x$data, states = if (x$order == 2L) c(1L, length(x$names) %/% 2L + 1L) else 1:2, u = NULL, ...) {
  if (is.null(data)) stop("give the data to draw beside: plot(model, data)", call. = FALSE)
  d <- length(x$names)
  if (is.character(states)) states <- match(states, x$names)
  if (d > 1L && (length(states) != 2L || anyNA(states) || any(states < 1 | states > d)))
    stop("states must name two of ", paste(x$names, collapse = ", "), call. = FALSE)
  data <- model_data(x, data, ...)
  values <- if (x$order == 2L) as.matrix(sock_smooth(x, data)[, x$names]) else values_of(data)[, -(1:2), drop = FALSE]
  held <- if (length(x$inputs)) held_inputs(x, values, u)
  values <- values[, seq_len(d), drop = FALSE]
  boxes <- if (d > 1L && is.null(held) && x$order != 2L) plane_boxes(x, data, states)
  old <- par(mfrow = c(if (is.null(boxes)) 1 else 2, if (x$has_diffusion) 2 else 1))
  on.exit(par(old))
  if (d == 1L) plot_line(x, values, data, held) else plot_plane(x, values, states, held, boxes)
  invisible(x)
}

# Where the inputs are held while the states vary: at u, by name, else at the middle of the data.
held_inputs <- function(model, values, u) {
  held <- vapply(model$inputs, function(n) if (n %in% colnames(values)) stats::median(values[, n]) else NA_real_, 0)
  strange <- setdiff(names(u), model$inputs)
  if (length(u) && (is.null(names(u)) || length(strange)))
    stop("u must name inputs; they are: ", paste(model$inputs, collapse = ", "), call. = FALSE)
  held[names(u)] <- as.double(unlist(u))
  if (anyNA(held)) stop("give a value for ", paste(model$inputs[is.na(held)], collapse = ", "), ": u = list(", model$inputs[is.na(held)][1],
                        " = ...)", call. = FALSE)
  held
}

field_at <- function(model, points, held, ...) { # points: the states of the model, in their order
  points <- matrix(points, ncol = length(model$names), dimnames = list(NULL, model$names))
  if (is.null(held)) predict(model, points, ...) else predict(model, points, ..., inputs = as.list(held))
}

at_inputs <- function(held) if (is.null(held)) "" else paste0(" at ", paste(names(held), signif(held, 3), sep = " = ", collapse = ", "))

# Axes of states: one that is called log(x) has ticks at the logarithms of round numbers of x.
is_log <- function(name) grepl("^log\\(.+\\)$", name)
state_label <- function(name) if (is_log(name)) paste(sub("^log\\((.*)\\)$", "\\1", name), "(log scale)") else name
state_axis <- function(side, name) {
  if (!is_log(name)) return(graphics::axis(side))
  ends <- graphics::par("usr")[if (side == 1) 1:2 else 3:4]
  marks <- if (diff(ends) > log(20)) axisTicks(ends / log(10), log = TRUE) else pretty(exp(ends))
  marks <- marks[marks > 0]
  graphics::axis(side, at = log(marks), labels = vapply(marks, format, "", digits = 6, scientific = FALSE))
}

# Heights that hold curve and dots; of bands and bars that reach beyond no more than half as much again on each side.
field_heights <- function(inside, beyond) {
  ends <- range(inside, finite = TRUE)
  size <- if (diff(ends) > 0) diff(ends) else max(abs(ends[1]), 1e-300)
  range(ends, pmin(pmax(beyond[is.finite(beyond)], ends[1] - size / 2), ends[2] + size / 2))
}

# A band, faint where few data are.
plot_band <- function(grid, low, high, guess) {
  runs <- rle(guess)
  last <- cumsum(runs$lengths)
  for (i in seq_along(last)) {
    at <- max(1L, last[i] - runs$lengths[i]):last[i]
    polygon(c(grid[at], rev(grid[at])), c(low[at], rev(high[at])), col = if (runs$values[i]) "#0072b214" else "#0072b238", border = NA)
  }
}

# A curve with its band of 90 % where the model tells one.
plot_field <- function(model, values, data, type, label, title, held = NULL) {
  grid <- seq(min(values), max(values), length.out = 200)
  curve <- as.vector(field_at(model, grid, held, type))
  band <- tryCatch(field_at(model, grid, held, type, interval = "confidence"), error = function(e) NULL)
  guess <- vapply(grid, function(g) sum(abs(values - g) <= max(0.05, 4 / length(values)) * diff(range(values))), 0) < max(3, length(values) %/% 1000)
  runs <- rle(guess) # a small gap between data breaks no curve
  runs$values[runs$lengths < length(grid) / 10 & seq_along(runs$values) > 1L & seq_along(runs$values) < length(runs$values)] <- FALSE
  guess <- inverse.rle(runs)
  dots <- if (is.null(held)) curve_moments(sock_evidence(model, data), label, grid, curve) # they are of all inputs together
  heights <- field_heights(c(if (all(guess)) curve else curve[!guess], dots$y), c(band$lwr, band$upr, dots$y - dots$bar, dots$y + dots$bar))
  plot(grid, curve, type = "n", ylim = heights, xaxt = "n", xlab = state_label(model$names),
       ylab = if (is_log(model$names)) paste(label, "of", model$names) else label, main = paste0(title, at_inputs(held)))
  state_axis(1, model$names)
  if (!is.null(band)) plot_band(grid, as.vector(band$lwr), as.vector(band$upr), guess)
  lines(grid, ifelse(guess, NA, curve), col = "#0072b2", lwd = 2)
  lines(grid, ifelse(guess | c(guess[-1L], FALSE) | c(FALSE, guess[-length(guess)]), curve, NA), col = "#0072b2", lty = 3)
  if (!is.null(dots)) {
    graphics::segments(dots$x, dots$y - dots$bar, dots$x, dots$y + dots$bar)
    points(dots$x, dots$y, pch = 16, cex = 0.6)
  }
  mtext(paste0("band and bars: 90 %", if (!is.null(dots)) "; dots: the data's steps", if (any(guess)) "; dotted: few data"), cex = 0.7)
  rug(quantile(values, seq(0, 1, 0.01)))
}

# Binned moments of the data with bars of 90 %: the curve, and what the data miss of it.
curve_moments <- function(moments, label, grid, curve) {
  one <- Filter(function(m) m$index == 0 && m$every == 1, moments)
  if (!length(one)) return(NULL)
  numbers <- function(key) vapply(one[[1]][[key]], function(v) if (is.null(v)) NA_real_ else as.double(v), 0)
  x <- numbers("x")
  y <- stats::approx(grid, curve, x, rule = 2)$y + numbers(paste0(label, "_shift"))
  bar <- stats::qnorm(0.95) * numbers(paste0(label, "_se"))
  good <- is.finite(y) & is.finite(bar)
  list(x = x[good], y = y[good], bar = bar[good])
}

plot_line <- function(model, values, data, held) {
  plot_field(model, values, data, "drift", "f", "drift", held)
  abline(h = 0, col = "gray")
  if (model$has_diffusion) plot_field(model, values, data, "diffusion", "a", "diffusion", held)
}

# Binned moments in boxes of the plane of two states, the first of them first; NULL where there are none.
plane_boxes <- function(model, data, states) {
  states <- as.integer(states)
  one <- Filter(function(m) setequal(unlist(m$index), states - 1L), sock_evidence(model, data, planes = TRUE))
  if (!length(one) || !length(one[[1]]$n)) return(NULL)
  number <- function(v) if (is.null(v)) NA_real_ else as.double(v)
  both <- function(key) {
    found <- vapply(one[[1]][[key]], function(list) vapply(list, number, 0), numeric(length(one[[1]]$n)))
    found <- matrix(found, ncol = 2)
    if (unlist(one[[1]]$index)[1] == states[1] - 1L) found else found[, 2:1, drop = FALSE]
  }
  list(centre = do.call(rbind, lapply(one[[1]]$centre, function(at) vapply(at, number, 0))), f = both("f_shift"), f_se = both("f_se"),
       together = vapply(one[[1]]$f_correlation, number, 0), reach = vapply(one[[1]]$reach, number, 0),
       chance = vapply(one[[1]]$chance, number, 0), a = if (model$has_diffusion) both("a_shift"),
       a_se = if (model$has_diffusion) both("a_se"))
}

# The image of the unit circle under a root of a symmetric matrix.
draw_ellipse <- function(centre, law, colour) {
  if (anyNA(law)) return(invisible())
  parts <- eigen(law, symmetric = TRUE)
  angle <- seq(0, 2 * pi, length.out = 41)
  curve <- parts$vectors %*% (sqrt(pmax(parts$values, 0)) * rbind(cos(angle), sin(angle)))
  lines(centre[1] + curve[1, ], centre[2] + curve[2, ], col = colour)
}

# In boxes with alike many steps of the data: the model's arrow and the outline that holds the tip of the data's own nine times of ten; the
# model's outline and bars where the data put its right and its upper edge.
plot_boxes <- function(model, states, boxes, frame, gap) {
  nine <- boxes$reach
  f <- matrix(field_at(model, boxes$centre, NULL), ncol = length(model$names))[, states, drop = FALSE]
  at <- boxes$centre[, states, drop = FALSE]
  law <- function(i) diag(boxes$f_se[i, ], 2) %*% matrix(c(1, boxes$together[i], boxes$together[i], 1), 2) %*% diag(boxes$f_se[i, ], 2)
  reach <- pmax(abs(f), sqrt(nine) * boxes$f_se) / rep(gap, each = nrow(f))
  tau <- 1 / max(stats::quantile(apply(reach, 1, max), 0.9, na.rm = TRUE), .Machine$double.xmin)
  off <- vapply(seq_len(nrow(f)), function(i)
    tryCatch(sum(boxes$f[i, ] * solve(law(i), boxes$f[i, ])) > nine[i], error = function(e) FALSE), NA)
  frame("f: do the data's steps agree?")
  for (i in seq_len(nrow(f))) draw_ellipse(at[i, ] + tau * (f[i, ] + boxes$f[i, ]), nine[i] * tau^2 * law(i), if (off[i]) "#d55e00" else "black")
  suppressWarnings(arrows(at[, 1], at[, 2], at[, 1] + tau * f[, 1], at[, 2] + tau * f[, 2], length = 0.04, col = "#0072b2"))
  mtext(paste(sum(off), "of", length(off), "outlines miss their arrow;", signif(0.1 * length(off), 2), "by chance"), cex = 0.7)
  if (!model$has_diffusion) return(invisible())
  a <- field_at(model, boxes$centre, NULL, "diffusion")
  own <- vapply(states, function(k) a[, k, k], numeric(nrow(at)))
  scale <- (0.45 / max(stats::quantile(apply(sqrt(own) / rep(gap, each = nrow(at)), 1, max), 0.9), .Machine$double.xmin))^2
  frame("a: do the data's steps agree?")
  for (i in seq_len(nrow(at))) draw_ellipse(at[i, ], scale * a[i, states, states], "#0072b2")
  half <- stats::qnorm(0.95) * boxes$a_se
  low <- sqrt(scale * pmax(own + boxes$a - half, 0))
  high <- sqrt(scale * pmax(own + boxes$a + half, 0))
  wrong <- ifelse(abs(boxes$a) > half, "#d55e00", "black")
  graphics::segments(at[, 1] + low[, 1], at[, 2], at[, 1] + high[, 1], at[, 2], col = wrong[, 1], lwd = 2.5, lend = 1)
  graphics::segments(at[, 1], at[, 2] + low[, 2], at[, 1], at[, 2] + high[, 2], col = wrong[, 2], lwd = 2.5, lend = 1)
  mtext(paste(sum(wrong == "#d55e00", na.rm = TRUE), "of", length(wrong), "bars miss the outline;", signif(2 * sum(boxes$chance), 2), "by chance"), cex = 0.7)
}

# Whether points of the plane have data around them, in cells of that size: elsewhere a field is a guess.
near_data <- function(at, values, gap) {
  cell <- function(x) paste(round(x[, 1] / gap[1]), round(x[, 2] / gap[2]))
  around <- expand.grid(-1:1, -1:1)
  known <- unique(cell(values))
  Reduce(`|`, lapply(seq_len(9), function(i) cell(cbind(at[, 1] + around[i, 1] * gap[1], at[, 2] + around[i, 2] * gap[2])) %in% known))
}

plot_plane <- function(model, values, states, held, boxes = NULL) {
  box <- apply(values[, states], 2, quantile, c(0.01, 0.99))
  grid <- as.matrix(expand.grid(seq(box[1, 1], box[2, 1], length.out = 15), seq(box[1, 2], box[2, 2], length.out = 15)))
  at <- matrix(apply(values, 2, median), nrow(grid), ncol(values), byrow = TRUE)
  at[, states] <- grid
  gap <- (box[2, ] - box[1, ]) / 14
  at <- at[near_data(grid, values[, states], gap), , drop = FALSE]
  f <- field_at(model, at, held)[, states, drop = FALSE]
  scale <- 0.9 / max(abs(t(f) / gap), .Machine$double.xmin)
  frame <- function(title) {
    plot(values[, states], pch = ".", col = "gray", xaxt = "n", yaxt = "n", xlab = state_label(model$names[states[1]]),
         ylab = state_label(model$names[states[2]]), main = paste0(title, at_inputs(held)))
    state_axis(1, model$names[states[1]])
    state_axis(2, model$names[states[2]])
  }
  rest <- if (ncol(values) > 2) paste0(", ", ncol(values) - 2, " others at medians") else ""
  frame(paste0("drift", rest))
  suppressWarnings(arrows(at[, states[1]], at[, states[2]], at[, states[1]] + scale * f[, 1], at[, states[2]] + scale * f[, 2],
                          length = 0.04, col = "#0072b2"))
  if (model$has_diffusion) {
    a <- field_at(model, at, held, "diffusion")
    own <- vapply(states, function(k) a[, k, k], numeric(nrow(at)))
    size <- (0.5 / max(sqrt(own) / rep(gap, each = nrow(at)), .Machine$double.xmin))^2
    frame("diffusion: one standard deviation")
    for (i in seq_len(nrow(at))) draw_ellipse(at[i, states], size * a[i, states, states], "#0072b2")
  }
  if (!is.null(boxes)) plot_boxes(model, states, boxes, frame, 14 * gap / 6)
}
