/* readers.h - from bytes of a file to a data set; each reader takes the whole file in memory, so that tests and fuzzers
 * need no files. */
#ifndef SK_READERS_H
#define SK_READERS_H

#include "base/options.h"
#include "data.h"

/* CSV in long form. text holds size bytes and a 0 behind them; source names it in messages. Options: id, time, state,
 * group, grouping. SOCK_EINPUT for contents, SOCK_EUSAGE for options that do not fit them. */
sock_status sk_csv_parse(sock_context *ctx, const char *source, const char *text, size_t size, const sock_options *opts,
                         sock_data **out);

/* NumPy's .npy format, versions 1 to 3, shape (paths, times, d) or (paths, times). Numbers: f8, f4, i1 to i8, u1 to u8,
 * little- or big-endian, C or Fortran order. NaN is a missing value. Options: dt (required), state (d names), time (a
 * name), grouping. */
sock_status sk_npy_parse(sock_context *ctx, const char *source, const char *bytes, size_t size,
                         const sock_options *opts, sock_data **out);

/* d state names: copies of `names`, or x0, x1, ... when names is NULL. Names must be there, not empty, UTF-8 and
 * different (else SOCK_EUSAGE). */
sock_status sk_state_names(sock_context *ctx, const char *source, size_t d, const char *const *names, char ***out);

/* Ids "0", "1", ... */
sock_status sk_number_names(sock_context *ctx, size_t count, char ***out);

/* Whether the text is valid UTF-8 (no overlong forms, surrogates or numbers beyond U+10FFFF). */
bool sk_is_utf8(const char *text);

/* A copy that is: bytes that are not ASCII become '?' when the whole is not valid (names of files need not be). */
char *sk_utf8_copy(sock_context *ctx, const char *text);

#endif
