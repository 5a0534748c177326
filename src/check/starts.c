/* starts.c - where steps start when observations have noise: the filter of score/filter.h over the pieces that were
 * chosen, each begun at its first observation. What it says of the state before an observation is made of those before
 * alone, so that scores of the observations stay independent when the model is right. */
#include "check/check.h"

#include "la/la.h"
#include "score/filter.h"

#include <string.h>

static const double ROUNDING = 1e-12; /* share of the diagonal: pivots below are 0 */

void sk_check_starts_free(sk_check_starts *starts)
{
    sk_free(starts->m);
    sk_free(starts->root);
    sk_free(starts->end);
    sk_free(starts->kept);
    sk_free(starts->r);
    *starts = (sk_check_starts){0};
}

static sock_status starts_alloc(sock_context *ctx, size_t n, size_t d, sk_check_starts *out)
{
    *out = (sk_check_starts){sk_doubles(ctx, n, d), sk_doubles(ctx, n, d * d), sk_doubles(ctx, n, d),
                             sk_doubles(ctx, n, d), sk_doubles(ctx, d, d)};
    return out->m && out->root && out->end && out->kept && out->r ? SOCK_OK : SOCK_ENOMEM;
}

static bool begins(const sk_check_steps *steps, size_t i) { return i == 0 || steps->piece[i] != steps->piece[i - 1]; }

/* The pieces as runs. */
static sock_status series_of(sock_context *ctx, const sock_data *data, const sk_check_steps *steps, sk_series *out)
{
    const size_t n = steps->count, d = data->d;
    size_t *first = sk_alloc(ctx, n + 1, sizeof *first), runs = 0;
    double *y = sk_doubles(ctx, n, d), *next = sk_doubles(ctx, n, d), *h = sk_doubles(ctx, n, 1);
    *out = (sk_series){d, n, 0, first, y, next, h, {first, y, next, h}};
    if (!first || !y || !next || !h) {
        sk_series_clear(out);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = steps->from[i];
        if (begins(steps, i)) first[runs++] = i;
        memcpy(y + i * d, data->x + at * d, d * sizeof *y);
        memcpy(next + i * d, data->x + (at + 1) * d, d * sizeof *next);
        h[i] = data->t[at + 1] - data->t[at];
    }
    first[runs] = n;
    out->runs = runs;
    return SOCK_OK;
}

/* Diagonal of 1 - K = R S^-1 after step i; c: d x d, e: d. */
static void kept_of(size_t d, const double *r, const double *s, double *c, double *e, double *out)
{
    memset(out, 0, d * sizeof *out);
    if (sk_factor_copy(d, 0, s, c)) return;
    for (size_t k = 0; k < d; k++) {
        memcpy(e, r + k * d, d * sizeof *e);
        sk_small_solve(d, c, e);
        out[k] = e[k];
    }
}

/* Laws of the single steps out of those of the points; space: 2 d x d and 2 d. */
static void take_laws(const sk_check_steps *steps, size_t d, const double *r, const sk_pass *pass, double *space,
                      sk_check_starts *out)
{
    double *s = space, *c = s + d * d, *e = c + d * d, *before = e + d;
    size_t run = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const bool first = begins(steps, i);
        run += first && i;
        const size_t point = i + run;
        memcpy(out->m + i * d, pass->m + point * d, d * sizeof *out->m);
        sk_factor_copy(d, ROUNDING, pass->p + point * d * d, out->root + i * d * d);
        for (size_t k = 0; k < d * d; k++) s[k] = pass->cov[i * d * d + k] + r[k];
        for (size_t k = 0; k < d; k++) {
            out->end[i * d + k] = s[k * (d + 1)];
            out->kept[i * d + k] = first ? 0 : pass->slope[i * d * d + k * (d + 1)] * before[k];
        }
        kept_of(d, r, s, c, e, before);
    }
}

static sock_status run_filter(sock_context *ctx, const sock_model *model, const sk_series *series, sk_pass *pass)
{
    const sk_substeps one = {1, false};
    sk_frame frame = {0};
    SK_TRY(sk_frame_new(ctx, series, &frame));
    sk_filter_spec spec = {model, model->structure->noise, {one, frame.reach, frame.low, frame.high}};
    sock_status status = sk_series_substeps(ctx, series, &spec, one, &spec.flow.substeps);
    if (status >= 0) status = sk_filter(ctx, series, &spec, pass);
    sk_frame_clear(&frame);
    return status;
}

sock_status sk_check_starts_new(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const sk_check_steps *steps, sk_check_starts *out)
{
    const size_t d = data->d;
    sk_series series = {0};
    sk_pass pass = {0};
    double *space = sk_doubles(ctx, 2 * d, d + 1);
    sock_status status = space ? SOCK_OK : SOCK_ENOMEM;
    *out = (sk_check_starts){0};
    if (status >= 0) status = series_of(ctx, data, steps, &series);
    if (status >= 0) status = sk_pass_new(ctx, &series, true, &pass);
    if (status >= 0) status = run_filter(ctx, model, &series, &pass);
    if (status >= 0) status = starts_alloc(ctx, steps->count, d, out);
    if (status >= 0) {
        sk_factor_copy(d, ROUNDING, model->structure->noise, out->r);
        take_laws(steps, d, model->structure->noise, &pass, space, out);
    }
    if (status < 0) sk_check_starts_free(out);
    sk_pass_clear(&pass);
    sk_series_clear(&series);
    sk_free(space);
    return status;
}
