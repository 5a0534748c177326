/* stepsurplus.c - see stepsurplus.h. A filter without noise, of runs of one step each, has the moments of each step. */
#include "tune/stepsurplus.h"

#include "la/la.h"
#include "model/bandrules.h"
#include "score/filter.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* m (d x d, symmetric) := F^-1 m F^-T, by the factorisation of F; space: d x d. */
static void correct(size_t d, const double *f, const size_t *pivot, double *m, double *space)
{
    for (int side = 0; side < 2; side++) {
        for (size_t c = 0; c < d; c++) /* column c of m is row c of space */
            for (size_t k = 0; k < d; k++) space[c * d + k] = m[k * d + c];
        for (size_t c = 0; c < d; c++) sk_unwind(d, f, pivot, space + c * d);
        memcpy(m, space, d * d * sizeof *m);
    }
}

/* Beyond the data f is a guess, and may run away with the moments of a step that goes there: one such step in a hundred
 * would be all that a band counts. Such a step is scaled down to what is the most of one. */
static void calm(size_t d, const double *diffusion, double *surplus)
{
    double most = 0;
    for (size_t k = 0; k < d * d; k += d + 1)
        if (diffusion[k] > 0) most = fmax(most, fabs(surplus[k]) / diffusion[k]);
    const double calmed = sk_band_calm(most);
    for (size_t k = 0; k < d * d; k++) surplus[k] *= calmed;
}

static void surplus_of(const sk_surplus_rows *rows, const sk_pass *pass, size_t i, double *space, size_t *pivot,
                       double *out)
{
    const size_t d = rows->d, d2 = d * d;
    double *f = space, *m = f + d2, *turned = m + d;
    for (size_t k = 0; k < d; k++) m[k] = pass->mean[i * d + k] - rows->y[i * d + k] - rows->drift[i * d + k];
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a model has d >= 1
    for (size_t k = 0; k < d2; k++) out[k] = pass->cov[i * d2 + k] + m[k / d] * m[k % d];
    if (rows->left) {
        memcpy(f, rows->left + i * d2, d2 * sizeof *f);
        if (sk_eliminate(d, SK_LEAST_TURN, f, pivot)) correct(d, f, pivot, out, turned);
    }
    for (size_t k = 0; k < d2; k++) out[k] -= rows->diffusion[i * d2 + k];
    calm(d, rows->diffusion + i * d2, out);
}

/* Fields that a step is asked for: those of a law at both ends of each substep, when their number is looked for. */
enum { FIELDS = 3 * 2 * (SK_BAND_SUBSTEPS + 2 * SK_BAND_SUBSTEPS) };

sock_status sk_surplus_sampler(sock_context *ctx, const sock_model *model, size_t n, const double *y, sk_sampler **out)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    SK_TRY(sk_sampler_new(ctx, model, out));
    for (size_t i = 0; model->d == 1 && i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    const double wider = SK_FLOW_MARGIN * (high - low); /* the box of a flow */
    const sock_status status = sk_sampler_tabulate(ctx, *out, low - wider, high + wider, (double)n * FIELDS);
    if (status >= 0) return SOCK_OK;
    sk_sampler_free(*out);
    *out = NULL;
    return status;
}

static sock_status follow(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                          const sk_series *series, sk_pass *pass)
{
    const sk_substeps least = {SK_BAND_SUBSTEPS, false};
    sk_frame frame = {0};
    SK_TRY(sk_frame_new(ctx, series, &frame));
    sk_filter_spec spec = {model, NULL, {least, frame.reach, frame.low, frame.high}, sampler};
    sock_status status = sk_series_substeps(ctx, series, &spec, least, &spec.flow.substeps);
    if (status >= 0) status = sk_filter(ctx, series, &spec, pass);
    sk_frame_clear(&frame);
    return status;
}

sock_status sk_step_surplus(sock_context *ctx, const sock_model *model, const sk_surplus_rows *rows, double *out)
{
    const size_t n = rows->n, d = rows->d, d2 = d * d;
    memset(out, 0, n * d2 * sizeof *out);
    if (sk_model_in(model) != d || !n) return SOCK_OK;
    size_t *first = sk_alloc(ctx, n + 1, sizeof *first), *pivot = sk_alloc(ctx, d, sizeof *pivot);
    double *space = sk_doubles(ctx, 2 * d2 + d, 1);
    sk_pass pass = {0};
    const sk_series series = {
        .d = d, .steps = n, .runs = n, .first = first, .y = rows->y, .next = rows->y, .h = rows->h};
    sock_status status = first && pivot && space ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i <= n; i++) first[i] = i;
    if (status >= 0) status = sk_pass_new(ctx, &series, true, &pass);
    if (status >= 0) status = follow(ctx, model, rows->sampler, &series, &pass);
    for (size_t i = 0; status >= 0 && i < n; i++)
        if (!pass.lost[i]) surplus_of(rows, &pass, i, space, pivot, out + i * d2);
    sk_pass_clear(&pass);
    sk_free(first);
    sk_free(pivot);
    sk_free(space);
    return status;
}
