/* readers.h - from bytes of a file to a data set; each reader takes text in memory, so that tests and fuzzers
 * need no files. */
#ifndef SK_READERS_H
#define SK_READERS_H

#include "base/options.h"
#include "data.h"
#include "labels.h"

/* CSV in long form. text holds size bytes and a 0 behind them; source names it in messages. Options: id, time, state,
 * group, grouping. SOCK_EINPUT for contents, SOCK_EUSAGE for options that do not fit them. */
sock_status sk_csv_parse(sock_context *ctx, const char *source, const char *text, size_t size, const sock_options *opts,
                         sock_data **out);

/* The beginning of a text that may go on behind it, up to a row: the data of the trajectories that are whole in it. */
typedef struct sk_csv_slice {
    /* asked */
    bool goes_on;     /* the text does */
    bool others;      /* points have come from what stood before: rows without one are no error */
    size_t line;      /* of the first row in the file; 0: where it stands in this text */
    sk_watch **watch; /* see sk_rows_watch; may be NULL */
    /* told */
    sock_data *data;  /* NULL: more of the text is needed, or nothing more is there, */
    bool needs_all;   /* and, with this, all of it */
    const char *why;  /* what waits for more, and what to do about it; static; NULL: no row is whole */
    size_t header;    /* bytes before the first row, which what follows needs before it, */
    size_t used;      /* bytes of header and of the rows in data, */
    size_t next_line; /* and where the next row stands */
} sk_csv_slice;
sock_status sk_csv_take_slice(sock_context *ctx, const char *source, const char *text, size_t size,
                              const sock_options *opts, sk_csv_slice *slice);

/* Why a column is left out in which every cell is missing. */
extern const char sk_csv_no_value[];

/* NumPy's .npy format, versions 1 to 3, shape (paths, times, d) or (paths, times). Numbers: f8, f4, i1 to i8, u1 to u8,
 * little- or big-endian, C or Fortran order. NaN is a missing value. Options: dt (required), state (d names), time (a
 * name), grouping. */
sock_status sk_npy_parse(sock_context *ctx, const char *source, const char *bytes, size_t size,
                         const sock_options *opts, sock_data **out);

/* The same two, up to the rows: for several files. */
sock_status sk_csv_rows(sock_context *ctx, const char *source, const char *text, size_t size, const sock_options *opts,
                        sk_rows *rows);
sock_status sk_npy_rows(sock_context *ctx, const char *source, const char *bytes, size_t size, const sock_options *opts,
                        sk_rows *rows);

/* As sock_points_read, from the bytes of the file. */
sock_status sk_points_parse(sock_context *ctx, const char *source, const char *text, size_t size, size_t d,
                            const char *const *names, size_t *count, double **x);

/* The folder form: x.npy (points x columns), t.npy (points), first.npy (trajectories + 1 places), and where they are
 * there group.npy (a number for each trajectory) and names.txt (the columns, a line each). Options: state and input
 * (columns by name), time (a name), grouping. */
sock_status sk_folder_rows(sock_context *ctx, const char *path, const sock_options *opts, sk_rows *rows);

/* ---- What was read ---- */

/* What several data sets of the same states say of how they were read, as sock_data does of one. */
typedef struct sk_reading {
    size_t rows, missing, thinned, unsorted, unsorted_at, columns;
    size_t *missing_in; /* columns + 1 */
    sk_ignored *ignored;
    size_t ignored_count;
    char *time;
    const char *unit;
} sk_reading;
sock_status sk_reading_add(sock_context *ctx, const sock_data *data, sk_reading *to);
void sk_reading_clear(sk_reading *reading);

/* ---- Several files as one ---- */

/* As sock_data_convert; durable: its bytes are on the disk at the end. reading: += what was read; may be NULL. */
struct sk_slicing;
sock_status sk_files_to_folder(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                               bool single, bool durable, const char *folder, const struct sk_slicing *how,
                               sk_reading *reading);

/* Names of all files so far. joined: trajectories and groups of the same name are one; else names are a file's own. */
typedef struct sk_joining {
    bool joined;
    sk_labels id, group_name;
    size_t *group, capacity;
} sk_joining;

/* The rows of another file behind those of one or more; columns are found by name, those of the first file. When all
 * are there, sk_rows_joined gives the rows their names; until then they have none that can be relied on. */
sock_status sk_rows_append(sock_context *ctx, sk_joining *joining, sk_rows *rows, sk_rows *other);
void sk_rows_joined(sk_joining *joining, sk_rows *rows);
void sk_joining_clear(sk_joining *joining);

/* d state names: copies of `names`, or x0, x1, ... when names is NULL. Names must be there, not empty, UTF-8 and
 * different (else SOCK_EUSAGE). */
sock_status sk_state_names(sock_context *ctx, const char *source, size_t d, const char *const *names, char ***out);

/* The d names that the option state lists, or x0, x1, ... where it is auto; else SOCK_EUSAGE. */
sock_status sk_named_columns(sock_context *ctx, const char *source, size_t d, const sock_options *opts, char ***out);

/* Whether a state is called log(NAME), and where NAME stands in it. */
bool sk_log_name(const char *name, size_t *from, size_t *length);

/* Column k of the rows becomes its logarithm, and is called so; SOCK_EINPUT for a value that has none. */
sock_status sk_rows_take_log(sock_context *ctx, sk_rows *rows, size_t k);

/* The same for the states that the option log names. Asked when inputs stand behind the states. */
sock_status sk_rows_logs(sock_context *ctx, const sock_options *opts, sk_rows *rows);

/* Names as the option `state` takes them: commas between, each in quotes. Freed with sk_free; NULL: out of memory. */
char *sk_quoted_names(sock_context *ctx, size_t d, char *const *name);

/* Ids "0", "1", ... */
sock_status sk_number_names(sock_context *ctx, size_t count, char ***out);

/* Whether the text is valid UTF-8 (no overlong forms, surrogates or numbers beyond U+10FFFF). */
bool sk_is_utf8(const char *text);

/* A copy that is: bytes that are not ASCII become '?' when the whole is not valid (names of files need not be). */
char *sk_utf8_copy(sock_context *ctx, const char *text);

#endif
