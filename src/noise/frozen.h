/* frozen.h - a filter pass of the current model, kept whole: candidates are compared on it without another pass. With
 * the law of every step made affine about what the pass found, a candidate with integrals I a and noise R is scored by
 *
 *     x_{i+1} = mbar + J (x_i - xbar) + N(0, V0 + F (I a - I a0) F'),    y = x + N(0, R),    V0 = Pp - J Pbar J',
 *
 * d^3 a step. For the model itself it is the filter. Drifts are compared by the residuals of innovation rows
 * (drift/innovation.h), which is the same to first order. */
#ifndef SK_FROZEN_H
#define SK_FROZEN_H

#include "drift/innovation.h"
#include "score/filter.h"

typedef struct sk_frozen {
    const sk_series *series;
    sk_filter_spec spec; /* borrows the model and R */
    sk_pass pass;
    double sum;                  /* log likelihood */
    size_t times, each;          /* S + 1, and nodes of a time */
    double *x, *weight;          /* nodes of all steps: steps x times x each x d, steps x times x each */
    double *onward, *drift;      /* steps x times x d x d, steps x times x d */
    double *average, *diffusion; /* steps x d x d: F, I a0 */
    double *own;                 /* steps x d x d: V0 */
    unsigned char *begins;       /* steps: a run begins */
    double *keep, *white, *e;    /* see sk_innovations */
} sk_frozen;

sock_status sk_frozen_new(sock_context *ctx, const sk_series *series, const sk_filter_spec *spec, sk_frozen **out);
void sk_frozen_free(sk_frozen *frozen);

/* The steps begin .. end-1, whole runs of one fold. */
sk_innovations sk_frozen_innovations(const sk_frozen *frozen, size_t begin, size_t end, size_t fold);

/* A rule whose rows are the times of these steps, or the steps. */
sock_status sk_frozen_rule(sock_context *ctx, const sk_frozen *frozen, size_t begin, size_t end, bool by_time,
                           sk_rule **out);

/* What is another in a candidate; NULL: as in the model. */
typedef struct sk_frozen_change {
    const double *diffusion; /* I a of all steps, steps x d x d */
    const double *scale;     /* d: I a times sqrt(scale_k scale_l) */
    const double *noise;     /* R */
} sk_frozen_change;

/* term (steps): log densities of the steps of runs begin .. end-1; the others are left alone. */
sock_status sk_frozen_scores(sock_context *ctx, const sk_frozen *frozen, size_t begin, size_t end,
                             const sk_frozen_change *change, double *term);

/* ---- Rows that start at a point (section "pulled back") ---- */

/* Steps from x0 to x1 over h under a model: u = F^-1 (x1 - m_h), I f, I a, and z = u u' + F^-1 (Z - V_h) F^-T + I a,
 * whose mean is I a where the model is right: what a linear fit of a wants. */
typedef struct sk_pulled {
    size_t n, d;
    sk_rule *rule;              /* nodes */
    double *mean, *cov, *slope; /* m_h, V_h, J */
    double *average;            /* F */
    double *drift, *diffusion;  /* I f, I a */
    double *u, *z;
    unsigned char *good; /* F can be inverted and all is finite; else u = 0, z = I a = 0 */
} sk_pulled;

typedef struct sk_ends {
    size_t n;
    const double *x0, *x1, *h;
    const double *extra; /* Z, n x d x d; NULL: 0 */
} sk_ends;

sock_status sk_pulled_new(sock_context *ctx, const sk_filter_spec *spec, const sk_ends *ends, sk_pulled **out);
void sk_pulled_free(sk_pulled *pulled);

#endif
