/* bisde.c - BISDE (Wang et al., Engineering 2022): f and a as sparse combinations of a library's functions.
 *
 *   1. Phi (steps x M): the library where each step begins; Phi = Q R once, for all regressions
 *   2. drift, each k:       target dx_k / h,          w_k = MSBL(Phi, target), |w| < threshold becomes 0
 *   3. diffusion, k <= l:   target r_k r_l / h with r = dx - h Phi w, the thresholded drift; the same regression
 *
 * The published program does k = l alone and takes one series with one time step; pairs, irregular steps and many
 * trajectories are ours. Pruning and threshold are absolute, as published: columns are not rescaled. */
#include "compare/bisde.h"

#include "la/la.h"

#include <math.h>
#include <stdio.h>

typedef struct bisde {
    sock_context *ctx;
    const cmp_steps *steps;
    const cmp_bisde_options *options;
    cmp_msbl *problem;
    double *target, *w, *residual; /* steps, M, steps x d */
    size_t done, all, passes, capped;
} bisde;

/* One regression into column `column` of coefficients (M x columns). */
static sock_status regress(bisde *b, size_t size, size_t columns, size_t column, double *coefficients)
{
    cmp_msbl_report report;
    SK_TRY(sk_progress(b->ctx, "bisde", (double)b->done++ / (double)b->all));
    SK_TRY(cmp_msbl_solve(b->ctx, b->problem, b->target, &b->options->msbl, b->w, &report));
    b->passes += report.passes;
    b->capped += !report.converged;
    for (size_t m = 0; m < size; m++)
        coefficients[m * columns + column] = fabs(b->w[m]) < b->options->threshold ? 0 : b->w[m];
    return SOCK_OK;
}

static sock_status fit_drift(bisde *b, size_t size, cmp_expansion *e)
{
    const cmp_steps *s = b->steps;
    for (size_t k = 0; k < s->d; k++) {
        for (size_t i = 0; i < s->count; i++) b->target[i] = s->dx[i * s->d + k] / s->h[i];
        SK_TRY(regress(b, size, s->d, k, e->drift));
    }
    return SOCK_OK;
}

static sock_status fit_diffusion(bisde *b, size_t size, const double *phi, cmp_expansion *e)
{
    const cmp_steps *s = b->steps;
    const size_t d = s->d;
    double *r = b->residual;
    sk_gemm(b->ctx, SK_PLAIN, SK_PLAIN, s->count, d, size, 1, phi, size, e->drift, d, 0, r, d);
    for (size_t i = 0; i < s->count * d; i++) r[i] = s->dx[i] - s->h[i / d] * r[i];
    for (size_t k = 0; k < d; k++)
        for (size_t l = k; l < d; l++) {
            for (size_t i = 0; i < s->count; i++) b->target[i] = r[i * d + k] * r[i * d + l] / s->h[i];
            SK_TRY(regress(b, size, cmp_pairs(d), cmp_pair(d, k, l), e->diffusion));
        }
    return SOCK_OK;
}

sock_status cmp_bisde(sock_context *ctx, const cmp_steps *steps, const cmp_bisde_options *options, cmp_expansion *e,
                      size_t *passes, size_t *capped)
{
    const size_t size = cmp_library_size(e->library);
    bisde b = {.ctx = ctx, .steps = steps, .options = options, .all = steps->d + cmp_pairs(steps->d)};
    sock_status status = SOCK_ENOMEM;
    double *phi = sk_doubles_unset(ctx, steps->count, size);
    b.target = sk_doubles(ctx, steps->count, 1);
    b.w = sk_doubles(ctx, size, 1);
    b.residual = sk_doubles(ctx, steps->count, steps->d);
    if (!phi || !b.target || !b.w || !b.residual) goto out;
    cmp_library_eval(e->library, steps->count, steps->x, phi);
    SK_GO(cmp_msbl_new(ctx, steps->count, size, phi, &b.problem));
    SK_GO(fit_drift(&b, size, e));
    SK_GO(fit_diffusion(&b, size, phi, e));
    *passes = b.passes;
    *capped = b.capped;
out:
    cmp_msbl_free(b.problem);
    sk_free(b.residual);
    sk_free(b.w);
    sk_free(b.target);
    sk_free(phi);
    return status;
}

/* ---- As a method ---- */

static sock_status check_memory(sock_context *ctx, const cmp_steps *steps, size_t size)
{
    return sk_memory_check(ctx, 16.0 * (double)steps->count * (double)size, "the library at all steps",
                           "take a smaller one (degree, count)");
}

static sock_status regression(sock_context *ctx, const cmp_spec *spec, const cmp_steps *steps, cmp_expansion *e,
                              char *rest, char *note)
{
    const cmp_bisde_options options = {{cmp_spec_number(spec, "gamma"), cmp_spec_number(spec, "prune"),
                                        cmp_spec_number(spec, "eps"), (size_t)cmp_spec_number(spec, "passes")},
                                       cmp_spec_number(spec, "threshold")};
    size_t passes = 0, capped = 0;
    SK_TRY(check_memory(ctx, steps, cmp_library_size(e->library)));
    SK_TRY(cmp_bisde(ctx, steps, &options, e, &passes, &capped));
    snprintf(rest, CMP_REST_SIZE, "threshold %g, prune %g; %zu passes", options.threshold, options.msbl.prune, passes);
    if (capped)
        snprintf(note, CMP_TEXT_SIZE, "%zu of %zu regressions ended at %zu passes", capped,
                 steps->d + cmp_pairs(steps->d), options.msbl.passes);
    return SOCK_OK;
}

static sock_status fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    return cmp_expansion_fit(ctx, spec, c, CMP_WIDE, regression, out);
}

#define SOLVER(threshold, prune)                                                                                       \
    {"threshold", threshold, CMP_NUMBER, 0, 1e300, "a number >= 0", "smaller coefficients become 0"},                  \
        {"prune", prune, CMP_NUMBER, 0, 1e300, "a number >= 0", "columns of smaller variance are dropped"},            \
        {"eps", "1e-8", CMP_NUMBER, 0, 1e300, "a number >= 0", "the passes end when no coefficient moves more"},       \
        {"passes", "700", CMP_COUNT, 1, 1e6, "a whole number from 1 to 10^6", "most passes of a regression"},          \
    {                                                                                                                  \
        "gamma", "0.5", CMP_NUMBER, 1e-300, 1e300, "a number > 0", "variance of every coefficient at the start"        \
    }

static const cmp_parameter strong[] = {CMP_LIBRARY("poly", "auto"), SOLVER("0.05", "1e-4"), CMP_FIT_ON("all"), {0}};
static const cmp_parameter free_of_cuts[] = {CMP_LIBRARY("poly", "auto"), SOLVER("0", "1e-6"), CMP_FIT_ON("all"), {0}};
static const cmp_parameter gauss[] = {CMP_LIBRARY("gauss", "auto"), SOLVER("0.05", "1e-4"), CMP_FIT_ON("train"), {0}};
static const cmp_parameter fourier[] = {
    CMP_LIBRARY("fourier", "auto"), SOLVER("0.05", "1e-4"), CMP_FIT_ON("train"), {0}};

const cmp_method cmp_bisde_methods[] = {
    {"bisde", "bisde", "sparse Bayesian regression on monomials: a strong setting", strong, fit, NULL},
    {"bisde-free", "bisde", "the same without the absolute cuts, which take small true coefficients: a strong setting",
     free_of_cuts, fit, NULL},
    {"bisde-gauss", "bisde", "the same on 20 Gaussians: the setting that the paper's figures suggest", gauss, fit,
     NULL},
    {"bisde-fourier", "bisde", "the same on 100 Fourier features", fourier, fit, NULL},
    {0}};
