/* starts.c - where steps start when observations have noise, or are positions alone: the filter of score/filter.h over
 * the pieces that were chosen, each begun at its first observation. What it says of the state before an observation is
 * made of those before alone, so that scores of the observations stay independent when the model is right. */
#include "check/check.h"

#include "la/la.h"
#include "score/inertia.h"

#include <string.h>

static const double ROUNDING = 1e-12; /* share of the diagonal: pivots below are 0 */

/* What a filter of second order left of its steps, and which of them the steps of the check are. */
struct sk_check_lifted {
    sk_series series;
    sk_inertia_pass pass;
    sk_pass laws;
    size_t *step;
};

static void lifted_free(sk_check_lifted *lifted)
{
    if (!lifted) return;
    sk_series_clear(&lifted->series);
    sk_inertia_pass_clear(&lifted->pass);
    sk_pass_clear(&lifted->laws);
    sk_free(lifted->step);
    sk_free(lifted);
}

void sk_check_starts_free(sk_check_starts *starts)
{
    lifted_free(starts->lifted);
    sk_free(starts->m);
    sk_free(starts->root);
    sk_free(starts->end);
    sk_free(starts->kept);
    sk_free(starts->r);
    *starts = (sk_check_starts){0};
}

static sock_status starts_alloc(sock_context *ctx, size_t n, size_t d, sk_check_starts *out)
{
    *out = (sk_check_starts){.w = d,
                             .m = sk_doubles(ctx, n, d),
                             .root = sk_doubles(ctx, n, d * d),
                             .end = sk_doubles(ctx, n, d),
                             .kept = sk_doubles(ctx, n, d),
                             .r = sk_doubles(ctx, d, d)};
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
    sk_filter_spec spec = {model, model->structure->noise, {one, frame.reach, frame.low, frame.high}, NULL};
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

/* ---- Positions alone ---- */

static sock_status lifted_new(sock_context *ctx, const sock_data *data, const sk_check_steps *steps,
                              sk_check_lifted **out)
{
    sk_check_lifted *l = *out = sk_alloc(ctx, 1, sizeof *l);
    if (!l) return SOCK_ENOMEM;
    SK_TRY(series_of(ctx, data, steps, &l->series));
    const sk_series wide = {2 * data->d, l->series.steps, l->series.runs, l->series.first, NULL, NULL, l->series.h,
                            {0}};
    SK_TRY(sk_pass_new(ctx, &wide, true, &l->laws));
    l->step = sk_alloc(ctx, steps->count, sizeof *l->step);
    return l->step ? sk_inertia_pass_new(ctx, &l->series, true, &l->pass) : SOCK_ENOMEM;
}

/* R of the positions and its factor, where the model has noise. */
static sock_status second_noise(sock_context *ctx, const sock_model *model, size_t d, double **r, double **root)
{
    const double *noise = model->structure->noise;
    *r = *root = NULL;
    if (!noise) return SOCK_OK;
    *r = sk_doubles(ctx, d, d);
    *root = sk_doubles(ctx, d, d);
    if (!*r || !*root) return SOCK_ENOMEM;
    for (size_t k = 0; k < d * d; k++) (*r)[k] = noise[k / d * 2 * d + k % d];
    sk_factor_copy(d, ROUNDING, *r, *root);
    return SOCK_OK;
}

static sock_status run_lifted(sock_context *ctx, const sock_model *model, const double *r, sk_check_lifted *l)
{
    sk_frame frame = {0};
    SK_TRY(sk_inertia_frame_new(ctx, &l->series, &frame));
    const sk_inertia_spec spec = {
        .model = model, .noise = r, .reach = frame.reach, .low = frame.low, .high = frame.high, .laws = &l->laws};
    const sock_status status = sk_inertia(ctx, &l->series, &spec, &l->pass);
    for (size_t j = 0; j < l->series.runs; j++) l->pass.begins[l->series.first[j]] = 1;
    sk_frame_clear(&frame);
    return status;
}

/* Laws of the steps that stay, out of those of the points. */
static void take_second(sk_check_steps *steps, size_t d, sk_check_starts *out)
{
    const sk_check_lifted *l = out->lifted;
    const size_t w = 2 * d;
    size_t left = 0;
    for (size_t run = 0; run < l->series.runs; run++)
        for (size_t i = l->series.first[run] + 1; i < l->series.first[run + 1]; i++) {
            const size_t point = i + run;
            memcpy(out->m + left * w, l->laws.m + point * w, w * sizeof *out->m);
            sk_factor_copy(w, ROUNDING, l->laws.p + point * w * w, out->root + left * w * w);
            for (size_t k = 0; k < d; k++) out->end[left * d + k] = l->pass.s[i * d * d + k * (d + 1)];
            l->step[left] = i;
            steps->from[left] = steps->from[i];
            steps->piece[left] = steps->piece[i];
            steps->single[left] = left;
            left++;
        }
    steps->count = left;
}

sock_status sk_check_second_starts(sock_context *ctx, const sock_model *model, const sock_data *data,
                                   sk_check_steps *steps, sk_check_starts *out)
{
    const size_t n = steps->count, d = data->d, w = 2 * d;
    double *r = NULL;
    *out = (sk_check_starts){.w = w, .m = sk_doubles(ctx, n, w)};
    out->root = sk_doubles(ctx, n, w * w);
    out->end = sk_doubles(ctx, n, d);
    sock_status status = out->m && out->root && out->end ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = second_noise(ctx, model, d, &r, &out->r);
    if (status >= 0) status = lifted_new(ctx, data, steps, &out->lifted);
    if (status >= 0) status = run_lifted(ctx, model, r, out->lifted);
    if (status >= 0) take_second(steps, d, out);
    if (status < 0) sk_check_starts_free(out);
    sk_free(r);
    return status;
}

/* Means over the points of each node. */
static sock_status fill_nodes(sock_context *ctx, const sk_check_lifted *l, size_t width, sk_check_fill fill, void *arg,
                              double *at)
{
    const size_t points = 2 * l->series.d, w = 2 * l->series.d, nodes = SK_LIFT_NODES;
    double *one = sk_doubles(ctx, nodes * points, width);
    sock_status status = one ? SOCK_OK : SOCK_ENOMEM;
    memset(at, 0, l->series.steps * nodes * width * sizeof *at);
    for (size_t i = 0; status >= 0 && i < l->series.steps; i++) {
        status = fill(arg, nodes * points, l->pass.node + i * nodes * points * w, one);
        for (size_t q = 0; status >= 0 && q < nodes * points; q++)
            sk_axpy(width, 1 / (double)points, one + q * width, at + (i * nodes + q / points) * width);
    }
    sk_free(one);
    return status;
}

sock_status sk_check_lift(sock_context *ctx, const sk_check_starts *starts, size_t n, size_t width, bool squared,
                          sk_check_fill fill, void *arg, double *rows)
{
    const sk_check_lifted *l = starts->lifted;
    const size_t steps = l->series.steps;
    const sk_lift lift = sk_inertia_lift(&l->series, &l->pass);
    double *at = sk_doubles_unset(ctx, steps * SK_LIFT_NODES, width), *all = sk_doubles_unset(ctx, steps, width);
    sock_status status = at && all ? fill_nodes(ctx, l, width, fill, arg, at) : SOCK_ENOMEM;
    if (status >= 0)
        status = squared ? sk_lift_spreads(ctx, &lift, width, at, 1, all) : sk_lift_means(ctx, &lift, width, at, all);
    for (size_t i = 0; status >= 0 && i < n; i++)
        memcpy(rows + i * width, all + l->step[i] * width, width * sizeof *rows);
    sk_free(at);
    sk_free(all);
    return status;
}
