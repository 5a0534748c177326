/* stepsurplus.h - what the rule of a fit makes of steps that are not infinitely short. The rows that a diffusion is
 * fitted to are products of residuals e = next - y - I f, corrected by F (view.h). Under the fitted model itself their
 * mean is not quite I a: with the moments of the step as its flow has them,
 *
 *     surplus = F^-1 (cov next + m m') F^-T - I a,     m = E next - y - I f,
 *
 * which is of order h^2 for the left rule, so that a is off by a share of order h. What a fit makes of it in its own
 * unknowns (diffusionspread.h) is an error that is known but not corrected: bands count it in full. */
#ifndef SK_STEPSURPLUS_H
#define SK_STEPSURPLUS_H

#include "model/sampler.h"

typedef struct sk_surplus_rows {
    size_t n, d;
    const double *y, *h;       /* starts, n x d, and lengths */
    const double *drift;       /* I f, n x d */
    const double *diffusion;   /* I a, n x d x d */
    const double *left;        /* F, n x d x d; NULL: 1 */
    const sk_sampler *sampler; /* of the model, where many blocks of rows are asked for; NULL: one is made */
} sk_surplus_rows;

/* A sampler for all steps that begin at one of these points (n x d). */
sock_status sk_surplus_sampler(sock_context *ctx, const sock_model *model, size_t n, const double *y, sk_sampler **out);

/* out: n x d x d; 0 for a step whose law is lost, and for models with inputs. */
sock_status sk_step_surplus(sock_context *ctx, const sock_model *model, const sk_surplus_rows *rows, double *out);

#endif
