/* companion.h - what the model would have given in the data's place: paths from the data's own starts at the data's own
 * times; and where its paths are in the long run. */
#ifndef REPORT_COMPANION_H
#define REPORT_COMPANION_H

#include "axes.h"
#include "figures.h"

/* Points of simulated paths; lost: share of paths that left the finite numbers (their points are left out). */
typedef struct companion {
    size_t count;
    double *x; /* count x d */
    double lost;
} companion;

/* Of long paths, outside of the data: more is no law of these data. */
#define COMPANION_ASTRAY 0.05

/* At most some 200 starts, evenly chosen, and some 20000 points. Negative: nothing was made. */
sock_status companion_make(sock_context *ctx, const fig_input *in, const sock_model *model, companion *out);
void companion_free(companion *c);

/* The second half of long paths that begin at the data: five times as long as the longest trajectory, as far as some
 * thousand steps go. */
sock_status companion_long_run(sock_context *ctx, const fig_input *in, companion *out);

/* Share of values x[i * stride] outside of the range. */
double companion_outside(size_t count, const double *x, size_t stride, range r);

/* The density of the values in `bins` equal bins of the range, so that it integrates to the share inside. */
void companion_histogram(size_t count, const double *x, size_t stride, range r, size_t bins, double *out);

#endif
