# Run by tests/r-tests: Rscript package-checks.R FOLDER, where FOLDER holds what the program wrote for the same data.
library(sock)
folder <- commandArgs(TRUE)[1]
if (is.na(folder)) { # under R CMD check, where there is nothing of the program to compare with
  model <- sock_fit(datasets::lynx, log = "x", tune = FALSE, drift = "affine", diffusion = "constant")
  stopifnot(identical(model$names, "log(x)"), is.finite(predict(model, c(x = 400))))
  quit()
}
at <- function(name) file.path(folder, name)
frame <- read.csv(at("train.csv"))

# The same numbers as the program, bit for bit (one thread), from a file and from a data frame: compared as texts of 17
# digits, because R's own reader may miss the last bit.
same <- function(numbers, texts) stopifnot(identical(sprintf("%.17g", as.vector(numbers)), texts))
for (data in list(at("train.csv"), frame)) {
  model <- sock_fit(data, tune = FALSE, drift = "linear", diffusion = "linear", threads = 1)
  fields <- read.csv(at("fields.csv"), colClasses = "character")
  x <- seq(-16, 16) / 8
  same(x, fields$x)
  same(predict(model, data.frame(x = x)), fields$f_x)
  same(predict(model, x, "diffusion"), fields$a_x_x)
  same(predict(model, x, "sigma"), fields$sigma_x_x)
}
bytes <- readBin(at("paths.npy"), "raw", 1e5)
paths <- readBin(bytes[-seq_len(10 + sum(as.integer(bytes[9:10]) * c(1, 256)))], "double", 100)
mine <- simulate(model, 20, seed = 7, x0 = 1, t = seq(0, 1, 0.25))
stopifnot(identical(dim(mine), c(20L, 5L, 1L)))
stopifnot(identical(as.vector(t(mine[, , 1])), paths))

# Bands hold the field, and are those of a simultaneous one at most; a draw is a model, and paths follow draws.
searched <- sock_fit(frame, drift = "linear", diffusion = "linear", threads = 1)
for (what in c("drift", "diffusion", "sigma")) {
  band <- predict(searched, c(0.5, 1), what, interval = "confidence")
  stopifnot(all(band$lwr < band$fit), all(band$fit < band$upr), identical(band$fit, predict(searched, c(0.5, 1), what)))
}
wide <- predict(searched, 1, interval = "simultaneous", level = 0.9)
# one coefficient: the quantile of its draws, which is that of the normal law but for chance
stopifnot(wide$upr >= predict(searched, 1, interval = "confidence", level = 0.8)$upr)
drawn <- sock_draw(searched, seed = 3)
stopifnot(predict(drawn, 1) != predict(searched, 1), identical(predict(drawn, 1), predict(sock_draw(searched, 3), 1)))
free <- simulate(searched, 3, seed = 3, x0 = 1, t = 0:1, step = 0.1, uncertain = TRUE)
stopifnot(identical(free[1, , ], simulate(drawn, 1, seed = 3, x0 = 1, t = 0:1, step = 0.1)[1, , ]))

# Thinned: the first point of each trajectory and every third after it.
thin <- do.call(rbind, lapply(split(frame, frame$traj), function(p) p[seq(1, nrow(p), 3), ]))
one <- sock_fit(frame, every = 3, tune = FALSE, drift = "linear", diffusion = "linear", threads = 1)
other <- sock_fit(thin, tune = FALSE, drift = "linear", diffusion = "linear", threads = 1)
stopifnot(one$data$points == nrow(thin), identical(predict(one, 1), predict(other, 1)))

# Inputs: dx = (2 u - x) dt + 0.3 dW, u a wave of its own phase in each trajectory; w does nothing.
set.seed(2)
driven <- do.call(rbind, lapply(1:30, function(j) {
  t <- seq(0, 4, 0.1)
  u <- sin(3 * t + j)
  x <- Reduce(function(x, i) x + 0.1 * (2 * (u[i] + u[i + 1]) / 2 - x) + 0.3 * sqrt(0.1) * rnorm(1), 1:40, rnorm(1), accumulate = TRUE)
  data.frame(id = j, t = t, x = unlist(x), u = u, w = cos(t + j^2))
}))
forced <- sock_fit(driven, input = c("u", "w"), threads = 1)
stopifnot(identical(forced$names, "x"), identical(forced$inputs, "u"), identical(forced$holds, "linear"))
f <- predict(forced, 0, inputs = list(u = c(-1, 1)[2]))
stopifnot(abs(f - 2) < 0.4, identical(f, predict(forced, data.frame(x = 0, u = 1))))
band <- predict(forced, 0, interval = "confidence", inputs = list(u = 1))
stopifnot(band$lwr < band$fit, band$fit < band$upr, band$upr - band$lwr < 1, identical(band$fit, f))
stopifnot(sock_check(forced, driven)$ok, abs(predict(sock_draw(forced, 1, 1), 0, inputs = list(u = 1)) - 2) < 0.6)
stopifnot(grepl("needs the input u", tryCatch(predict(forced, 0), error = conditionMessage)))
stopifnot(grepl("needs the input u", tryCatch(simulate(forced, 1, x0 = 0, t = 0:1), error = conditionMessage)))
held <- simulate(forced, 200, seed = 1, x0 = 0, t = 0:6, step = 0.05, inputs = list(u = 1))
stopifnot(abs(mean(held[, 7, 1]) - 2) < 0.3)
stopifnot(is.finite(sock_score(forced, driven)[["loglik"]]))
stopifnot(any(grepl("^inputs +u .linear., f . ", capture.output(print(forced)))))

# Figures hold the inputs: at the median of the data, or where they are told; the curve is that of predict there.
pdf(NULL)
middle <- sock:::held_inputs(forced, sock:::values_of(forced$data), NULL)
stopifnot(identical(names(middle), "u"), abs(middle - median(driven$u)) < 1e-12, identical(sock:::held_inputs(forced, sock:::values_of(forced$data), list(u = 1)), c(u = 1)))
stopifnot(identical(as.vector(sock:::field_at(forced, 0, c(u = 1))), as.vector(f)))
plot(forced)
plot(forced, u = list(u = 1))
stopifnot(grepl("they are: u", tryCatch(plot(forced, u = list(v = 1)), error = conditionMessage)))
dev.off()

# Second order: positions alone; what does not know it says so.
set.seed(3)
swing <- do.call(rbind, lapply(1:40, function(j) {
  s <- rnorm(2)
  q <- vapply(1:40, function(i) {
    q <- s[1]
    for (k in 1:10) s <<- s + 0.01 * c(s[2], -s[1] - 0.5 * s[2]) + c(0, 0.1 * rnorm(1))
    q
  }, 0)
  data.frame(id = j, t = 0.1 * 0:39, q = q)
}))
second <- sock_fit(swing, order = 2, noise = "none", drift = "affine", diffusion = "constant", threads = 1)
stopifnot(identical(second$names, c("q", "v_q")), second$order == 2L, forced$order == 1L)
force <- predict(second, data.frame(q = c(1, 0), v_q = c(0, 1)))[, "v_q"]
stopifnot(abs(force - c(-1, -0.5)) < 0.3, abs(predict(second, data.frame(q = 0, v_q = 0), "diffusion")[1, 2, 2] - 1) < 0.2)
stopifnot(identical(dim(simulate(second, 3, x0 = c(1, 0), t = 0:5)), c(3L, 6L, 2L)))
moves <- sock_smooth(second, swing) # velocities lie beside the differences of positions before and after
stopifnot(identical(names(moves)[3:6], c("q", "v_q", "sd_q", "sd_v_q")), all(moves$sd_v_q > 0), all(moves$sd_q < 1e-6),
          abs(moves$v_q[20] - (moves$q[21] - moves$q[19]) / 0.2) < 0.2)
stopifnot(is.finite(sock_score(second, swing)[["loglik_filter"]]))
told <- sock_explain(second, lower = c(-2, -2), upper = c(2, 2))
stopifnot(length(told$fixed_points) == 1L)
refuses <- function(call, words) grepl(words, tryCatch({ call; "" }, error = conditionMessage))
stopifnot(sock_check(second)$ok,
          refuses(sock_explain(second, swing), "order 2"), length(sock_explain(second)$fixed_points) == 1L)
# What a plot says, word for word, and how many points of the data it has.
said <- function(model, ...) {
  file <- at("said.pdf")
  pdf(file, compress = FALSE, useKerning = FALSE)
  plot(model, ...)
  invisible(dev.off())
  lines <- readLines(file, warn = FALSE)
  gsub("\\", "", regmatches(lines, regexpr("\\(.*\\) Tj", lines)), fixed = TRUE)
}
words <- said(second)
stopifnot(sum(grepl("(q)", words, fixed = TRUE)) == 2L, sum(grepl("(v_q)", words, fixed = TRUE)) == 2L, any(grepl("(drift)", words, fixed = TRUE)))
logs <- sock_fit(data.frame(t = 0:59 / 4, p = exp(3 * sin((0:59)^2))), log = "p", tune = FALSE, drift = "affine", diffusion = "constant", threads = 1)
words <- said(logs)
stopifnot(any(grepl("(p (log scale))", words, fixed = TRUE)), any(grepl("(f of log(p))", words, fixed = TRUE)),
          all(vapply(c("(0.05)", "(1)", "(20)"), function(w) any(grepl(w, words, fixed = TRUE)), NA)))
drawn <- sock_draw(second)
stopifnot(drawn$order == 2L, predict(drawn, data.frame(q = 0.2, v_q = 0.7))[1, 1] == 0.7)

# Lists of (t, x), two states, missing values.
t <- seq(0, 1, 0.1)
two <- lapply(1:4, function(j) list(t, cbind(u = sin(t + j), v = cos(t * j))))
two[[1]][[2]][3, 2] <- NA
d <- sock_data(two)
stopifnot(d$points == 43, identical(d$names, c("u", "v")))
m2 <- sock_fit(two, tune = FALSE, drift = "poly:degree=2", diffusion = "constant")
stopifnot(identical(dim(predict(m2, rbind(c(0, 0), c(1, 1), c(2, 0)), "diffusion")), c(3L, 2L, 2L)))
s <- predict(m2, c(0.3, 0.4), "sigma")[1, , ]
stopifnot(all.equal(s %*% s, predict(m2, c(0.3, 0.4), "diffusion")[1, , ], check.attributes = FALSE))

# Save and load, summary, score, figures.
sock_save(model, at("again.sock"))
again <- sock_load(at("again.sock"))
stopifnot(identical(predict(again, 1:5), predict(model, 1:5)))
about <- summary(model)
stopifnot(about$n == 7000, identical(about$drift, "linear"), isTRUE(about$converged))
score <- sock_score(model, at("test.csv"))
stopifnot(is.finite(score[["loglik"]]), is.na(score[["mmd2"]]), all.equal(score[["nats"]], score[["loglik_moments"]] / 2000))
stopifnot(is.na(score[["loglik_filter"]])) # there is no noise in the model
streamed <- sock_score(model, at("test.csv"), stream = TRUE)
stopifnot(all.equal(streamed[names(streamed) != "mmd2"], score[names(score) != "mmd2"], tolerance = 1e-11))
stopifnot(grepl("reads files", tryCatch(sock_score(model, score, stream = TRUE), error = conditionMessage)))
stopifnot(grepl("leave stream out", tryCatch(sock_score(model, at("test.csv"), at("test.csv"), stream = TRUE), error = conditionMessage)))
stopifnot(grepl("none.csv", tryCatch(sock_score(model, at("none.csv"), stream = TRUE), error = conditionMessage)))
stopifnot(identical(simulate(model, 2, seed = 1, x0 = 1, t = 0:3, device = "cpu"), simulate(model, 2, seed = 1, x0 = 1, t = 0:3)))
stopifnot(grepl("device is 'abacus'", tryCatch(simulate(model, 2, seed = 1, x0 = 1, t = 0:3, device = "abacus"), error = conditionMessage)))

# Noise: a random walk seen with a standard deviation of 0.5, its states between what was seen.
set.seed(1)
walk <- lapply(1:20, function(j) list(0:50 / 10, cumsum(rnorm(51, sd = 0.3)) + rnorm(51, sd = 0.5)))
noisy <- sock_fit(walk, drift = "affine", diffusion = "constant", noise = "diag", threads = 1)
about <- summary(noisy)
stopifnot(isTRUE(about$noise$used), abs(about$noise$sd[[1]] - 0.5) < 0.1)
states <- sock_smooth(noisy, walk)
stopifnot(nrow(states) == 1020, all(states[[4]] > 0), all(states[[4]] < 0.6), var(diff(states[[3]][1:51])) < 0.3)

told <- readLines(at("score.json")) # one key a line, 17 digits
for (key in c("loglik", "perplexity_raw", "loglik_moments", "perplexity_moments_raw")) {
  line <- grep(sprintf('^ *"%s":', key), told, value = TRUE)
  stopifnot(all.equal(score[[key]], as.double(sub(",$", "", sub(".*: *", "", line))), tolerance = 1e-14))
}
explained <- sock_explain(model, NULL, lower = 0.5, upper = 2)
told <- readLines(at("explain.json"))
stopifnot(explained$dimension == 1, identical(explained$range$from, "options"), is.null(explained$data))
slope <- sub(",$", "", sub(".*: ", "", grep("\"value\"", told, value = TRUE)))
stopifnot(any(abs(as.numeric(slope[slope != "null"]) - explained$stationary$mean[[1]]$value) < 1e-9))

moments <- sock_evidence(model, at("test.csv"))
stopifnot(identical(moments[[1]]$state, "x"), moments[[1]]$every == 1, length(moments[[1]]$f_shift) == length(moments[[1]]$x))

checked <- sock_check(model, at("test.csv"), draws = 99)
told <- readLines(at("check.json"))
stopifnot(isTRUE(checked$ok), length(checked$tests) == 9, identical(checked$tests[[1]]$name, "scale"))
line <- grep('^ *"verdict":', told, value = TRUE)
stopifnot(grepl(checked$verdict, line, fixed = TRUE), any(grepl("memory", capture.output(print(checked)))))
warned <- tryCatch(sock_check(sock_fit(at("train.csv"), tune = FALSE, drift = "constant", diffusion = "constant"), at("test.csv")),
                   warning = function(w) conditionMessage(w))
stopifnot(is.character(warned), grepl("misses a dependence", warned, fixed = TRUE))
pdf(at("figures.pdf"))
plot(model)
plot(m2)
invisible(dev.off())
stopifnot(file.size(at("figures.pdf")) > 4000)

# A tuned fit: the parts of an average with their shares, one style.
tuned <- sock_fit(at("train.csv"), budget = 20)
said <- capture.output(print(summary(tuned)))
shares <- as.double(sub(".*share <?([0-9]+) %.*", "\\1", grep("share", said, value = TRUE)))
stopifnot(length(shares) == length(summary(tuned)$diffusions), abs(sum(shares) - 100) <= length(shares))

# A summary is what the fit says: the lines of the program, which the library writes. Of a series whose steps are long, where the data do not
# tell whether there is noise (so the model has peers); of logarithms; of rates.
set.seed(13)
slow <- numeric(500)
for (i in 2:500) slow[i] <- exp(-1) * slow[i - 1] + rnorm(1, sd = 0.66)
slow <- slow + rnorm(500, sd = 0.15)
for (case in list(list(slow), list(as.numeric(lynx), log = "x"), list(as.numeric(lynx)))) {
  write.csv(data.frame(t = seq_along(case[[1]]), x = case[[1]]), at("x.csv"), row.names = FALSE)
  words <- system2("sock", c("fit", at("x.csv"), "-o", at("x.sock"), "--threads", "1", if (!is.null(case$log)) "--log x"), stdout = TRUE)
  words <- grep("^(time|model) ", words, value = TRUE, invert = TRUE)
  words <- sub("; sock fit --search-log FILE writes them", "", sub("sock check MODEL DATA shows", "sock_check(model, data) shows", words), fixed = TRUE)
  stopifnot(identical(capture.output(print(summary(sock_load(at("x.sock"))))), words))
}

# A model with peers: bands hold nine in ten of its draws, and a file, saveRDS and uncertain paths have them.
peered <- sock_fit(list(list(0:499, slow)), threads = 1)
sock_save(peered, at("peers.sock"))
bytes <- readBin(at("peers.sock"), "raw", file.size(at("peers.sock")))
stopifnot(grepl("peers", rawToChar(bytes[bytes != 0]), fixed = TRUE, useBytes = TRUE))
at_some <- c(-0.8, 0.4, 1)
drawn <- lapply(1:300, function(k) sock_draw(peered, 3, k))
for (what in c("drift", "diffusion")) {
  band <- predict(peered, at_some, what = what, interval = "confidence")
  values <- vapply(drawn, function(draw) as.double(predict(draw, at_some, what = what)), at_some)
  inside <- rowMeans(values >= as.double(band$lwr) & values <= as.double(band$upr))
  stopifnot(all(inside > 0.83), all(inside < 1))
}
stopifnot(any(grepl("^fit +none: a draw", capture.output(print(drawn[[1]])))))
saveRDS(peered, at("peers.rds"))
for (again in list(sock_load(at("peers.sock")), readRDS(at("peers.rds"))))
  stopifnot(identical(predict(again, at_some, what = "diffusion", interval = "confidence")$upr, predict(peered, at_some, what = "diffusion", interval = "confidence")$upr),
            identical(predict(sock_draw(again, 3, 7), at_some), predict(drawn[[7]], at_some)))
stopifnot(all(is.finite(simulate(peered, 50, seed = 1, x0 = 0.5, t = 0:9, uncertain = TRUE))), sock_check(peered)$ok, all(is.finite(confint(peered)[[1]])))

# Several files are one data set, and so is the folder that they are written to.
parts <- c(tempfile(fileext = ".csv"), tempfile(fileext = ".csv"))
early <- frame$traj %in% head(unique(frame$traj), 2)
write.csv(frame[early, ], parts[1], row.names = FALSE)
write.csv(frame[!early, ], parts[2], row.names = FALSE)
several <- sock_data(parts)
stopifnot(several$points == nrow(frame), several$trajectories == length(unique(frame$traj)))
sock_convert(parts, made <- tempfile(fileext = ".traj"))
stopifnot(identical(unclass(sock_data(made))[-1], unclass(several)[-1]))

held <- sock_info(parts, stream = TRUE)
stopifnot(held$points == nrow(frame), held$trajectories == several$trajectories)

streamed <- sock_fit(parts, stream = TRUE, drift = "linear", diffusion = "linear", threads = 1)
stopifnot(abs(predict(streamed, 1) - predict(searched, 1)) < 0.05, is.null(streamed$data))
plan <- tempfile(fileext = ".plan")
kept <- sock_fit(parts, save_plan = plan, drift = "linear", diffusion = "linear", threads = 1)
planned <- sock_fit(parts, plan = plan, threads = 1)
stopifnot(predict(kept, 1) == predict(streamed, 1), predict(planned, 1) == predict(streamed, 1))
said <- tryCatch(sock_fit(frame, stream = TRUE), error = conditionMessage)
stopifnot(grepl("needs the names of files", said))

# Errors and warnings carry the library's words.
fails <- function(expression, text) {
  said <- tryCatch({ expression; "nothing" }, error = conditionMessage)
  if (!grepl(text, said)) stop("expected '", text, "', got '", said, "'")
}
fails(sock_fit(frame, tune = FALSE, kernel = "x"), "allowed: .*drift_lambda")
fails(sock_fit(frame, tune = FALSE, solver = "magic"), "newton")
fails(sock_data("nowhere.csv"), "nowhere.csv")
fails(predict(model, matrix(1, 2, 3)), "3 columns")
fails(sock_smooth(model, at("test.csv")), "knows of no measurement noise")
fails(simulate(model, -1, x0 = 1, t = 0:1), "nsim is -1; allowed: a whole number from 1 on")
fails(simulate(model, 1, seed = NA, x0 = 1, t = 0:1), "seed is NA")
warned <- tryCatch(sock_fit(frame[1:600, ], tune = FALSE, diffusion = "gauss", solver = "fista", max_iterations = 1,
                            tolerance = 1e-12), warning = conditionMessage)
stopifnot(is.character(warned))

# Time series and data frames with dates, names in any case, logarithms.
lynx <- sock_fit(datasets::lynx, log = "x", tune = FALSE, drift = "affine", diffusion = "constant")
own <- sock_fit(list(as.numeric(time(datasets::lynx)), log(as.numeric(datasets::lynx))), tune = FALSE, drift = "affine", diffusion = "constant")
stopifnot(identical(lynx$names, "log(x)"), all.equal(as.vector(predict(lynx, c("log(x)" = 6))), as.vector(predict(own, 6)), tolerance = 1e-10))
stopifnot(all.equal(sock_score(lynx, datasets::lynx)[["loglik"]], sock_score(own, own$data)[["loglik"]], tolerance = 1e-9))
stopifnot(identical(sock_data(datasets::EuStockMarkets)$names, colnames(datasets::EuStockMarkets)))
days <- data.frame(Day = as.Date("2024-01-01") + 0:59, x = cumsum(sin(1:60)))
dated <- sock_fit(days, tune = FALSE, drift = "affine", diffusion = "constant")
stopifnot(identical(summary(dated)$data$time_unit, "day"))
plain <- sock_fit(data.frame(t = 0:59, x = days$x), tune = FALSE, drift = "affine", diffusion = "constant")
stopifnot(all.equal(predict(dated, 1), predict(plain, 1)), all.equal(sock_score(dated, days), sock_score(plain, plain$data)))
hourly <- sock_fit(transform(days, Day = as.POSIXct(Day)), time_unit = "hour", tune = FALSE, drift = "affine", diffusion = "constant")
stopifnot(all.equal(24 * predict(hourly, 1), predict(plain, 1)))

# The report comes from the program.
page <- tempfile(fileext = ".html")
sock_report(model, page, frame)
stopifnot(any(grepl("<html", readLines(page, n = 20, warn = FALSE))))
trees <- sock_fit(datasets::Orange, tune = FALSE, drift = "affine", diffusion = "constant")
sock_report(trees, page)
lines <- readLines(page, warn = FALSE, encoding = "UTF-8")
stopifnot(any(grepl("<title>[^<]*datasets::Orange", lines)), !any(grepl("sock report model.sock|datasets::Orange\\.csv -o", lines)),
          any(grepl("model &lt;- sock_fit(data = datasets::Orange, tune = FALSE", lines, fixed = TRUE)), any(grepl("</html>", lines, fixed = TRUE)))
stopifnot(grepl("not found", tryCatch(sock_report(model, page, frame, program = ""), error = conditionMessage)))

# R's own data frames: what they say of themselves, names of times, columns that are no states, trajectories that nobody named.
tree <- sock_data(datasets::Orange) # circumference ~ age | Tree
stopifnot(tree$trajectories == 5, identical(tree$names, "circumference"), tree$points == 35)
drug <- sock_data(datasets::Theoph)
stopifnot(drug$trajectories == 12, identical(drug$names, "conc"))
orange <- data.frame(datasets::Orange)
stopifnot(!inherits(orange, "groupedData") || identical(sock_data(orange)$names, "circumference"))
class(orange) <- "data.frame"
fails(sock_data(orange), "same time.*try id = \"Tree\"")
stopifnot(identical(sock_data(orange, id = "Tree")$names, "circumference"))
pills <- datasets::Theoph
class(pills) <- "data.frame"
said <- tryCatch(sock_data(pills, id = "Subject"), warning = conditionMessage)
stopifnot(grepl("left out: Wt, Dose, constant within", said))
stopifnot(identical(suppressWarnings(sock_data(pills, id = "Subject"))$names, "conc"))
fails(sock_data(datasets::beaver1), "row 92: the time begins anew where 'day' changes; id = \"day\"")
stopifnot(sock_data(datasets::beaver1, id = "day")$trajectories == 2, sock_data(datasets::beaver1, id = "none")$trajectories == 1)
fails(sock_data(datasets::CO2), "no column for the time.*without a course in time is none for this package")
fails(sock_data(data.frame(when = Sys.Date() + 0:5, x = c(1, 3, 2, 4, 3, 5))), "when holds dates: time = \"when\" takes it")
fails(sock_data(data.frame(t = c(0, 0, 0), x = 1:3)), "rows 1 and 2 have the same time \\(t\\).*time = another time")
fails(sock_data(data.frame(t = 0:2, x = c(1, 3, 2), arm = c("a", "b", "a")), input = "arm"), "as.numeric\\(arm == \"b\"\\) makes 0 and 1 of it")
fails(sock_data(data.frame(who = c("a", "b"), X1960 = 1:2, X1961 = 2:3, X1962 = 4:3)), "wide = TRUE reads them so")
truths <- data.frame(t = 0:9, x = sin(0:9), on = 0:9 %% 4 > 1)
stopifnot(identical(sock_data(truths)$names, "x"), "on" %in% colnames(sock:::values_of(sock_data(truths, input = "on"))))
stopifnot(identical(sock_data(truths, state = "on")$names, "on"))
stopifnot(identical(sock_data(data.frame(`Time (h)` = 0:2, x = c(1, 3, 2), check.names = FALSE))$names, "x"))

# A session that ends: R's own files keep models and data.
kept <- tempfile()
saveRDS(list(model, sock_data(frame)), kept)
revived <- readRDS(kept)
stopifnot(identical(predict(revived[[1]], 1:5), predict(model, 1:5)))
stopifnot(identical(predict(sock_fit(revived[[2]], tune = FALSE, drift = "linear", diffusion = "linear", threads = 1), 1:5), predict(model, 1:5)))

# Names count: of points, starts and the parts of a list. Random numbers are R's. Dates are in the unit of the fit.
pair <- sock_fit(ts(datasets::EuStockMarkets[1:300, 1:2]), tune = FALSE, drift = "affine", diffusion = "constant", threads = 1)
there <- predict(pair, c(1600, 1700))
stopifnot(identical(predict(pair, c(SMI = 1700, DAX = 1600)), there), identical(predict(pair, cbind(SMI = 1700, DAX = 1600)), there))
stopifnot(identical(simulate(pair, 1, x0 = c(SMI = 5, DAX = 7), t = 0:1)[1, 1, ], c(DAX = 7, SMI = 5)))
fails(predict(pair, c(DAX = 1, FTSE = 2)), "no column SMI")
stopifnot(identical(sock_data(list(x = c(2, 1, 3), t = 1:3))$names, "x0"))
fails(sock_data(list(c(2, 1, 3), 1:3)), "trajectory 1: the times fall at point 2")
roll <- function() { set.seed(5); simulate(pair, 1, x0 = c(0, 0), t = 0:1) }
stopifnot(identical(roll(), roll()), !identical(roll(), simulate(pair, 1, x0 = c(0, 0), t = 0:1)))
days <- data.frame(day = as.Date("2020-01-01") + 0:99, x = sin(0:99))
daily <- function(day) {
  frame <- days["x"]
  frame$day <- day
  sock_fit(frame, tune = FALSE, drift = "affine", diffusion = "constant", threads = 1)
}
slow <- daily(days$day)
walk <- function(t) as.vector(simulate(slow, 1, seed = 1, x0 = 0, t = t))
stopifnot(identical(walk(as.POSIXct("2020-01-01", tz = "UTC") + 86400 * 0:3), walk(as.Date("2020-01-01") + 0:3)))
stopifnot(identical(walk(c(20200131, 20200201, 20200202, 20200203)), walk(as.Date("2020-01-31") + 0:3)))
stopifnot(identical(walk(c("2020-01", "2020-02", "2020-03", "2020-04")), walk(as.Date(c("2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01")))))
stopifnot(identical(walk(c("Jan 2020", "Feb 2020", "2020-Q2", "2020 Q3")), walk(as.Date(c("2020-01-01", "2020-02-01", "2020-04-01", "2020-07-01")))))
for (day in list(as.character(days$day), factor(days$day), as.POSIXlt(days$day))) stopifnot(identical(predict(daily(day), 1), predict(slow, 1)))
fails(daily(paste0(1:100, "/1")), "row 1 of day is '1/1'")

# What does not count is told; nothing is ignored.
told <- function(expr, text) stopifnot(grepl(text, tryCatch(expr, warning = conditionMessage), fixed = TRUE))
told(sock_data(transform(days, x = ifelse(x > 0.9, NA, x))), paste("left out", sum(days$x > 0.9), "of 100 points, which lack a value"))
told(sock_data(data.frame(n = 1:9, t = 0:8 / 10, x = cos(0:8))), "left out: n, which numbers the rows")
fails(sock_data(transform(days, id = c(NA, rep(1, 99)))), "1 rows have no id, the first is row 1")
fails(sock_fit(sock_data(days), log = "x"), "log = says how data are read")
fails(predict(model, 1, se.fit = TRUE), "unknown argument 'se.fit'")
fails(sock_fit(days, threads = "a"), "threads is a")
fails(sock_data(rnorm(5)), "numbers alone have no times")
fails(sock_check(1), "model is of class numeric")

# Test data are read as the data of the fit were.
named <- sock_fit(setNames(frame, c("animal", "when", "x")), id = "animal", time = "when", tune = FALSE, drift = "linear",
                  diffusion = "linear", threads = 1)
stopifnot(identical(sock_score(named, setNames(frame, c("animal", "when", "x"))), sock_score(model, frame)))

# A slope with its error; x itself where the model is of log(x).
flat <- sock_fit(datasets::lynx, log = "x", drift = "affine", diffusion = "constant", threads = 1)
at_log <- function(y) predict(flat, c("log(x)" = y))
slope <- (at_log(8) - at_log(6)) / 2
stopifnot(abs(coef(flat)[[1]] - slope) < 1e-12, confint(flat)[1] < slope, slope < confint(flat)[2], nobs(flat) == 113)
stopifnot(identical(predict(flat, data.frame(x = exp(6))), at_log(6)), identical(predict(flat, c(x = exp(6))), at_log(6)),
          identical(predict(flat, cbind(x = exp(c(6, 6)))), predict(flat, cbind("log(x)" = c(6, 6)))))
fails(predict(flat, 4000, what = "sigma"), "model is of log\\(x\\), and newdata has no names: data.frame\\(x = \\) gives x itself")
fails(predict(flat, matrix(4000)), "newdata has no names")
fails(simulate(flat, 1, x0 = 5000, t = 0:1), "x0 has no names: c\\(x = \\) gives x itself, the name \"log\\(x\\)\" its logarithm")
stopifnot(identical(simulate(flat, 1, seed = 1, x0 = c("log(x)" = log(300)), t = 0:1), simulate(flat, 1, seed = 1, x0 = c(x = 300), t = 0:1)))
fails(simulate(flat, 3), "needs a start x0 and times t: simulate\\(model, 3, x0 = c\\(x = ")
fails(sock_info(flat), "summary\\(model\\) tells of a model")
fails(sock_fit(datasets::airmiles, log = "airmiles"), "no such state; there is: x")
far <- tryCatch(sock_score(flat, log(datasets::lynx)), warning = conditionMessage)
stopifnot(grepl("all of the test data are far from those of the fit: log\\(x\\) is 1.2\\d+ to 2.1\\d+, and was 3.6\\d+ to 8.8\\d+; the logarithm is taken here", far, perl = TRUE),
          !grepl("far", tryCatch(sock_score(flat, datasets::lynx), warning = conditionMessage)[1]))
pdf(NULL)
plot(flat) # whose own points have names
invisible(dev.off())
stopifnot(all.equal(simulate(flat, 1, seed = 1, x0 = c(x = 300), t = 0:1)[1, 1, 1], c("log(x)" = log(300))))
cat("R package", sock_version(), ": all checks passed\n")

# Names of trajectories go into messages and results; what no data can have is told with its row; dates as in files.
named <- data.frame(who = rep(c("ann", "bob"), each = 20), t = rep(1:20, 2), x = sin(1:40), on = rep(0:1, 20))
d <- suppressWarnings(sock_data(named, id = "who"))
stopifnot(identical(d$names, "x"), tryCatch(sock_data(named, id = "who"), warning = conditionMessage) == "left out: on, 0 and 1 alone (input = takes it as an input, state = as a state)")
named$on <- NULL
wrong <- named
wrong$x[35] <- Inf
fails(sock_data(wrong, id = "who"), "row 35, column 'x': the value is Inf")
wrong <- named
wrong$t[22] <- 1
fails(sock_data(wrong, id = "who"), "rows 21 and 22 have the same time, and the same who, bob")
fails(sock_data(named, id = "Whoo"), "did you mean who\\?")
fails(sock_data(named, id = c("who", "t")), "'t' cannot be both id and time")
as_file <- function(frame) {
  path <- tempfile(fileext = ".csv")
  write.csv(frame, path, row.names = FALSE)
  path
}
words <- sock:::r_words
stopifnot(words("give --no-tune") == "give tune = FALSE", words("try --id Dog,Side") == "try id = \"Dog,Side\"",
          words("Fit with --order 2 --noise diag, which tells") == "Fit with order = 2 noise = \"diag\", which tells",
          words("--missing leaves it out; --wide reads it") == "missing = leaves it out; wide = TRUE reads it",
          words("--dt 1 takes the step; --time '(column 1)'") == "dt = 1 takes the step; time = '(column 1)'",
          words("none; --drift poly:degree=3 would give one") == "none; drift = \"poly:degree=3\" would give one",
          words("--colour red") == "--colour red")
dogs <- data.frame(dog = rep(1:2, each = 8), side = rep(c("L", "R"), each = 4, times = 2), t = rep(c(0, 1, 3, 4), 4), x = sin(1:16))
fails(sock_data(dogs), "dog and side together tell them apart: try id = c\\(\"dog\", \"side\"\\)")
d <- sock_data(dogs, id = c("dog", "side"))
stopifnot(d$trajectories == 4, identical(d$names, "x"))
m <- sock_fit(dogs, id = c("dog", "side"), tune = FALSE)
stopifnot(sock_score(m, dogs)[["intervals"]] == 12, sock_score(m, setNames(dogs, c("a", "b", "t", "x"))[1:4, ])[["intervals"]] == 3)
fails(sock_data(as_file(dogs)), "try id = \"dog,side\"")
fails(sock_data(dogs, id = c("dog", "sid")), "did you mean side\\?")
fails(sock_data(data.frame(x = 1:3, y = 2:4)), "give the time step with dt =")
steps <- sock_data(data.frame(who = rep(c("a", "b"), 3), x = c(1, 2, 4, 3, 9, 5), y = 6:1 * 6:1), id = "who", dt = 0.5)
stopifnot(steps$trajectories == 2, identical(unname(sock:::values_of(steps)[1:3, "t"]), c(0, 0.5, 1)))
fails(sock_data(named, id = "who", dt = 1), "dt was given, and column t holds the times")
fails(sock_data(data.frame(x = sin(1:5)), dt = -1), "dt must be a number > 0")
m <- sock_fit(data.frame(x = sin(1:20)), dt = 0.5, tune = FALSE)
stopifnot(sock_score(m, data.frame(x = cos(1:9)))[["intervals"]] == 8, sock_score(m, data.frame(t = 1:9, x = cos(1:9)))[["intervals"]] == 8)
filtered <- data.frame(X = c(1:4, 9:12), id = rep(c("a", "b"), each = 4), t = rep(c(0, 1, 3, 4), 2), x = sin(1:8))
told(sock_data(filtered), "left out: X, which numbers the rows")
fails(sock_data(named, id = "who", state = "X"), "did you mean x\\?")
fails(sock_fit(named, id = "who", folsd = 3), "did you mean folds\\?")
german <- data.frame(day = c("01.02.2020", "02.02.2020", "13.02.2020"), x = c(1, 3, 2))
stopifnot(sock_data(german, time = "day")$points == 3)
visits <- data.frame(id = rep(1:3, each = 5), t = cumsum(seq(0.1, 1.5, 0.1)), x = sin(1:15), visit = rep(1:5, 3))
stopifnot(identical(suppressWarnings(sock_data(visits))$names, "x"))
fails(sock_data(data.frame(year = rep(2000:2004, each = 4), quarter = rep(1:4, 5), x = sin(1:20))), "same year: it seems to be a part of the time, and quarter another")
months <- data.frame(year = 2000:2004, matrix(sin(1:60), 5, byrow = TRUE, dimnames = list(NULL, month.abb)))
fails(sock_data(months), "twelve months.*wide = TRUE")
stopifnot(sock_data(months, wide = TRUE)$points == 60, identical(sock_data(months, wide = TRUE)$d, 1))
