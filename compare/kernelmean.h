/* kernelmean.h - Nadaraya-Watson estimates of f and a, for the table of methods and for tests. */
#ifndef CMP_KERNELMEAN_H
#define CMP_KERNELMEAN_H

#include "compare/steprows.h"

enum { CMP_MEAN_MOST_DIM = 3 }; /* beyond, no bandwidth holds enough neighbours, and no grid the fields */

typedef struct cmp_mean_options {
    double bandwidth; /* of both fields in all coordinates; NaN: by the rule */
    bool judged;      /* multiples of the rule are judged on held-out steps; else the rule itself */
} cmp_mean_options;

typedef struct cmp_mean cmp_mean;

/* At most CMP_MEAN_MOST_DIM dimensions. The bandwidths in use are written, d numbers each. */
sock_status cmp_mean_fit(sock_context *ctx, const cmp_steps *steps, const cmp_mean_options *options, cmp_mean **out,
                         double *drift_bandwidth, double *diffusion_bandwidth);
void cmp_mean_free(void *mean); /* a cmp_mean, or NULL */

/* For sock_model_wrap: user is the cmp_mean. */
void cmp_mean_drift(void *user, size_t count, size_t d, const double *x, double *f);
void cmp_mean_diffusion(void *user, size_t count, size_t d, const double *x, double *a);

#endif
