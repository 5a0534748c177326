/* noisestart.c - where the iterations begin: drifts by regression of increments, affine and the richest polynomial,
 * plain (attracted to the noise) and with the observation before as instrument (unbiased, but of larger variance);
 * constant a, less what R explains. Where steps are long, the pilots of noisepilot.c too. The best likelihood goes on.
 */
#include "noise/noiseregression.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Beginnings ---- */

/* One pass about `now` (model NULL: the first, from the left point); now becomes what it found. */
static sock_status pass(const sk_measured *m, const sk_features *map, bool instruments, sk_noisy *now, double *least)
{
    const bool noisy = m->mode != SK_NOISE_NONE, first = !now->model;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    sock_model *model = NULL;
    sk_regression g;
    sock_status status = sk_regression_new(m, map, &g);
    if (status >= 0) status = first ? sk_regression_left(&g) : sk_regression_along(&g, now);
    if (status >= 0 && instruments && !first) status = sk_regression_instrument(&g);
    if (status >= 0) status = sk_regress(&g, instruments && !first ? g.used : g.psi);
    if (status >= 0) {
        sk_regression_residuals(&g);
        status = sk_least_noise(&g, least);
    }
    if (status >= 0 && noisy) status = sk_first_noise(&g, least, now->noise);
    if (status >= 0) {
        sk_mean_diffusion(&g, noisy ? now->noise : NULL, a);
        status = sk_first_model(m, map, g.w, a, &model);
    }
    if (status >= 0) {
        sock_model_free(now->model);
        now->model = model;
    }
    sk_regression_clear(&g);
    return status;
}

/* The better of two goes on; the other is freed. */
void sk_keep_better(sk_noisy *best, double *best_least, sk_noisy *now, const double *least, size_t d)
{
    if (now->model && isfinite(now->sum) && (!best->model || now->sum > best->sum)) {
        const sk_noisy last = *best;
        *best = *now;
        *now = last;
        memcpy(best_least, least, d * sizeof *least);
    }
    sk_noisy_clear(now);
}

static sock_status begin(const sk_measured *m, const sk_features *map, bool instruments, sk_substeps substeps,
                         sk_noisy *best, double *best_least)
{
    const size_t d = m->series.d;
    const int passes = m->mode == SK_NOISE_NONE && substeps.count > 1 ? 1 : 2;
    double least[SK_NOISE_MOST_DIM];
    sk_noisy now = {.substeps = substeps};
    sock_status status = SOCK_OK;
    if (m->mode != SK_NOISE_NONE && !(now.noise = sk_doubles(m->ctx, d, d))) return SOCK_ENOMEM;
    for (int i = 0; status >= 0 && i < passes; i++) status = pass(m, map, instruments, &now, least);
    if (status >= 0) status = sk_noisy_score(m, &now);
    if (status >= 0) sk_keep_better(best, best_least, &now, least, d);
    sk_noisy_clear(&now);
    return sk_tolerate(status);
}

/* ---- All of them ---- */

static sock_status affine_map(const sk_measured *m, sk_features **out)
{
    sk_kernel *kernel = NULL;
    SK_TRY(sk_kernel_parse(m->ctx, "drift", "affine", &kernel));
    sock_status status = sk_kernel_resolve(m->ctx, "drift", kernel, m->series.d, m->rows->n, m->rows->y);
    if (status >= 0) status = sk_features_new(m->ctx, "drift", kernel, m->series.d, m->rows->n, m->rows->y, out);
    sk_kernel_free(kernel);
    return status;
}

/* The map with the most features of those that are polynomials and can be afforded; NULL: there is none richer than
 * affine. */
static sock_status rich_map(const sk_measured *m, sk_features **out)
{
    const size_t d = m->series.d;
    for (size_t c = 0; c < m->list->drifts; c++) {
        const sk_candidate *drift = &m->list->drift[c];
        sk_features *map = NULL;
        if (sk_kernel_is_implicit(drift->kernel)) continue;
        if (drift->in_data_units)
            SK_TRY(sk_candidate_map(m->ctx, m->rows, drift, &map));
        else
            SK_TRY(sk_features_new(m->ctx, "drift", drift->kernel, d, m->rows->n, m->rows->y, &map));
        const size_t p = sk_features_count(map), most = *out ? sk_features_count(*out) : d + 1;
        if (p > most && sk_noise_affords_drift(p, d)) {
            sk_features_free(*out);
            *out = map;
            map = NULL;
        }
        sk_features_free(map);
    }
    return SOCK_OK;
}

sock_status sk_noise_maps(const sk_measured *m, sk_features **map)
{
    SK_TRY(affine_map(m, &map[SK_NOISE_AFFINE]));
    return rich_map(m, &map[SK_NOISE_RICH]);
}

static void free_maps(sk_features **map)
{
    for (size_t i = 0; i < SK_NOISE_MAPS; i++) sk_features_free(map[i]);
}

static sock_status all_beginnings(const sk_measured *m, sk_features *const *map, sk_substeps substeps, sk_noisy *best,
                                  double *least)
{
    const sk_features *affine = map[SK_NOISE_AFFINE], *rich = map[SK_NOISE_RICH];
    const int noisy = m->mode != SK_NOISE_NONE ? 1 : 0;
    double other[SK_NOISE_MOST_DIM];
    sk_noisy left = {0};
    sock_status status = SOCK_OK;
    for (int with = 0; status >= 0 && with < 1 + noisy; with++) status = begin(m, affine, with, substeps, &left, other);
    if (status >= 0 && left.model) {
        sk_noisy copy;
        status = sk_noisy_copy(m, &left, &copy);
        if (status >= 0) sk_keep_better(best, least, &copy, other, m->series.d);
    }
    for (int with = 0; status >= 0 && rich && with < 1 + noisy; with++)
        status = begin(m, rich, with, substeps, best, least);
    if (status >= 0 && substeps.count > 1) status = sk_noise_pilots(m, affine, &left, best, least);
    sk_noisy_clear(&left);
    return status;
}

/* What a pilot looks at. */
static sk_measured part_of(const sk_measured *m)
{
    sk_measured part = *m;
    part.series.runs = sk_pilot_runs(m->series.runs, m->series.first);
    part.series.steps = m->series.first[part.series.runs];
    return part;
}

sock_status sk_noise_pilot(const sk_measured *m, sk_substeps *out)
{
    const sk_measured part = part_of(m);
    double floor[SK_NOISE_MOST_DIM];
    sk_features *map[SK_NOISE_MAPS] = {0};
    sk_noisy best = {0};
    sock_status status;
    SK_GO(sk_noise_maps(m, map));
    SK_GO(all_beginnings(&part, map, *out, &best, floor));
    sk_begin(m->ctx);
    if (best.model) {
        const sk_filter_spec spec = sk_noisy_spec(m, &best);
        SK_GO(sk_series_substeps(m->ctx, &m->series, &spec, *out, out));
    }
out:
    sk_noisy_clear(&best);
    free_maps(map);
    return status;
}

sock_status sk_noise_start(const sk_measured *m, sk_noisy *out, double *floor)
{
    const sk_substeps one = {SK_MAX(m->substeps, 1), m->substeps > 1};
    sk_features *map[SK_NOISE_MAPS] = {0};
    sk_substeps substeps;
    sock_status status;
    *out = (sk_noisy){0};
    SK_GO(sk_noise_maps(m, map));
    SK_GO(all_beginnings(m, map, one, out, floor));
    if (out->model && !m->substeps) {
        const sk_filter_spec spec = sk_noisy_spec(m, out);
        SK_GO(sk_series_substeps(m->ctx, &m->series, &spec, one, &substeps));
        if (substeps.count > 1) {
            sk_noisy_clear(out);
            SK_GO(all_beginnings(m, map, substeps, out, floor));
        }
    }
    sk_begin(m->ctx);
    if (!out->model) SK_GO(sk_fail(m->ctx, SOCK_ENUMERIC, "no model of noisy data could be begun"));
    for (size_t k = 0; k < m->series.d; k++) floor[k] = sk_noise_least_later(floor[k]);
out:
    free_maps(map);
    if (status < 0) sk_noisy_clear(out);
    return status;
}
