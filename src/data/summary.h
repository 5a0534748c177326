/* summary.h - the parts of what is said of data (summary.c), for data that are in memory and for those that are not
 * (api/infostream.c). `failed` becomes true where memory runs out. */
#ifndef SK_SUMMARY_H
#define SK_SUMMARY_H

#include "lags.h"
#include "readers.h"
#include "wild.h"

#include <jansson.h>

typedef struct sk_range {
    double low, high, mean, squares; /* the last: about the mean, summed */
} sk_range;
sk_range sk_range_of(size_t points, const double *x, size_t stride);

typedef struct sk_times {
    size_t steps;
    double low, high, least, median, most; /* of times; of steps */
} sk_times;

/* The correlations that are told of a state, in their order: i < sk_summary_lags(). */
enum { SK_SUMMARY_PLAIN = 3 };
sk_lag sk_summary_lag(size_t i);
size_t sk_summary_lags(void);

json_t *sk_summary_names(sock_context *ctx, size_t d, char *const *name, bool *failed);
void sk_summary_times(sock_context *ctx, json_t *object, const char *name, const char *unit, const sk_times *times,
                      bool *failed);
/* range: d; sums: d x lags */
void sk_summary_states(json_t *object, size_t points, size_t d, const sk_range *range, const sk_lag_sums *sums,
                       bool *failed);
json_t *sk_summary_wild_step(sock_context *ctx, const sock_data *data, const sk_wild_step *step, bool *failed);
sock_status sk_summary_codes(sock_context *ctx, json_t *object, const sock_data *data, bool *failed);
sock_status sk_summary_courses(sock_context *ctx, json_t *object, const sock_data *data, const bool *skip,
                               bool *failed);
/* name: of the columns of the reading */
void sk_summary_dropped(sock_context *ctx, json_t *object, const sk_reading *r, char *const *name, size_t empty,
                        size_t single, bool *failed);

sock_status sk_summary_reserve(sock_context *ctx, size_t d);
sock_status sk_summary_write(sock_context *ctx, const json_t *object, bool failed, char **json);

#endif
