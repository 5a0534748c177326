/* csvslices.h - a CSV text that may be larger than memory, as data sets one after the other. */
#ifndef SK_CSVSLICES_H
#define SK_CSVSLICES_H

#include "arrowcells.h"
#include "data.h"

/* Where the text comes from. more: at least one byte behind *text, or *ended. */
typedef struct sk_csv_origin {
    const char *source; /* its name in messages */
    void *state;
    sock_status (*more)(sock_context *ctx, void *state, sk_text *text, bool *ended);
} sk_csv_origin;

/* work(arg, data, goes_on) for each data set; goes_on: its first trajectory is the last one of the data set before.
 *
 * A text of up to `slice` bytes (0: usual ones) is one data set, as is one of any size with named groups, in wide form
 * or with dates of an order that all of them tell. Of a longer one each is a run of whole trajectories, or a piece of
 * one that is longer than a slice; the states, and the unit of dates, are what the first data set has, and a trajectory
 * whose rows stand in two places, or whose times fall from one piece to the next, is SOCK_EINPUT. */
typedef sock_status (*sk_csv_work)(sock_context *ctx, void *arg, const sock_data *data, bool goes_on);
typedef struct sk_slicing {
    size_t slice;     /* bytes; 0: usual ones */
    size_t most;      /* bytes of a text that is read as one data set; 0: what memory holds */
    sk_watch **watch; /* NULL at first; what was watched in texts before this one; see sk_rows_watch */
} sk_slicing;
sock_status sk_csv_slices(sock_context *ctx, const sk_csv_origin *from, const sk_slicing *how, const sock_options *opts,
                          sk_csv_work work, void *arg);

/* The same for a file. */
sock_status sk_csv_file_slices(sock_context *ctx, const char *path, const sk_slicing *how, const sock_options *opts,
                               sk_csv_work work, void *arg);

/* The same into a folder of arrays, whole or not at all; single: states with 32 bits. */
sock_status sk_text_to_folder(sock_context *ctx, const sk_csv_origin *from, const sock_options *opts, bool single,
                              const char *folder);

/* Options with the states of the data, where none are named, and behind them what is watched; and with the unit of
 * their dates: for what is read after them. */
sock_status sk_options_after(sock_context *ctx, const sock_data *data, const sk_watch *watch, const sock_options *opts,
                             sock_options **out);

/* A list of those names, for the option `state`. */
char *sk_watched_names(sock_context *ctx, size_t d, char *const *name, const sk_watch *watch);

#endif
