# A reader of JSON, enough for what the library writes, so that no other package is needed. Objects become named lists,
# arrays lists (vectors when all entries are single numbers, texts or truth values), null becomes NULL.
json_read <- function(text) {
  token <- "\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9][-+.eE0-9]*|true|false|null|[][{}:,]"
  tokens <- regmatches(text, gregexpr(token, text, perl = TRUE))[[1]]
  at <- 0L
  nxt <- function() tokens[[at <<- at + 1L]]
  peek <- function() tokens[[at + 1L]]
  string <- function(token) {
    inner <- substr(token, 2, nchar(token) - 1)
    inner <- gsub("\\\\([\"/])", "\\1", inner, perl = TRUE)
    inner <- gsub("\\n", "\n", gsub("\\t", "\t", inner, fixed = TRUE), fixed = TRUE)
    gsub("\\\\", "\\", inner, fixed = TRUE)
  }
  value <- function() {
    token <- nxt()
    switch(substr(token, 1, 1),
      "{" = object(), "[" = array_of(), "\"" = string(token), t = TRUE, f = FALSE, n = NULL, as.numeric(token))
  }
  object <- function() {
    out <- list()
    while (peek() != "}") {
      if (peek() == ",") nxt()
      key <- string(nxt())
      nxt() # the colon
      out[key] <- list(value())
    }
    nxt()
    out
  }
  array_of <- function() {
    out <- list()
    while (peek() != "]") {
      if (peek() == ",") nxt()
      out[length(out) + 1L] <- list(value())
    }
    nxt()
    simple <- vapply(out, function(v) is.atomic(v) && length(v) == 1L, NA)
    if (length(out) && all(simple)) unlist(out) else out
  }
  value()
}
