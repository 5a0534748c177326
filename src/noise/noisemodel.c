/* noisemodel.c - models out of the terms of others; data as runs. See noisefit.h. */
#include "noise/noisefit.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Runs ---- */

void sk_measured_clear(sk_measured *m)
{
    sk_series_clear(&m->series);
    sk_frame_clear(&m->frame);
    sk_free(m->run_first);
    *m = (sk_measured){0};
}

/* Whether step i follows the one before it. */
static bool goes_on(const sk_transitions *t, size_t i)
{
    return t->cluster[i] == t->cluster[i - 1] &&
           memcmp(t->y + i * t->d, t->next + (i - 1) * t->d, t->d * sizeof(double)) == 0;
}

/* Runs of at most SK_RUN_STEPS steps, none over the border of a fold. */
static sock_status cut_runs(sock_context *ctx, const sk_transitions *t, sk_measured *m)
{
    size_t *first = sk_alloc(ctx, t->n + 1, sizeof *first), runs = 0;
    m->run_first = sk_alloc(ctx, t->folds + 2, sizeof *m->run_first);
    m->series = (sk_series){t->d, t->n, 0, first, t->y, t->next, t->h, {first}};
    if (!first || !m->run_first) return SOCK_ENOMEM;
    for (size_t f = 0; f <= t->folds; f++) {
        m->run_first[f] = runs;
        for (size_t i = t->first[f]; i < t->first[f + 1]; i++)
            if (i == t->first[f] || !goes_on(t, i) || i - first[runs - 1] == SK_RUN_STEPS) first[runs++] = i;
    }
    m->run_first[t->folds + 1] = runs;
    first[runs] = t->n;
    m->series.runs = runs;
    return SOCK_OK;
}

sock_status sk_measured_new(sock_context *ctx, const sk_transitions *rows, const sk_candidates *list,
                            const char *const *names, sk_measured *out)
{
    *out = (sk_measured){.ctx = ctx, .rows = rows, .list = list, .names = names, .tolerance = SK_NOISE_TOLERANCE};
    sock_status status = cut_runs(ctx, rows, out);
    if (status >= 0) status = sk_frame_new(ctx, &out->series, &out->frame);
    if (status < 0) sk_measured_clear(out);
    return status;
}

double sk_noise_bytes(const sk_measured *m, size_t substeps)
{
    const double d = (double)m->series.d, times = (double)substeps + 1;
    const double kept = (double)sk_flow_nodes(m->series.d, substeps, false) * (d + 1) + times * d * (d + 1) + 8 * d * d;
    const double pulled = 2 * ((double)sk_flow_nodes(m->series.d, substeps, true) * (d + 1) + 6 * d * d);
    return (double)m->series.steps * (kept + pulled) * sizeof(double);
}

void sk_noisy_clear(sk_noisy *n)
{
    sock_model_free(n->model);
    sk_free(n->noise);
    *n = (sk_noisy){0};
}

sock_status sk_noisy_like(const sk_measured *m, const double *noise, sk_substeps substeps, sk_noisy *out)
{
    const size_t d = m->series.d;
    *out = (sk_noisy){.substeps = substeps};
    if (noise) {
        out->noise = sk_doubles(m->ctx, d, d);
        if (!out->noise) return SOCK_ENOMEM;
        memcpy(out->noise, noise, d * d * sizeof *noise);
    }
    return sk_model_new(m->ctx, d, m->names, &out->model);
}

sock_status sk_noisy_copy(const sk_measured *m, const sk_noisy *from, sk_noisy *out)
{
    sock_status status = sk_noisy_like(m, from->noise, from->substeps, out);
    if (status >= 0) status = sk_add_drift_of(m->ctx, from->model, 1, out->model);
    if (status >= 0) status = sk_add_diffusion_of(m->ctx, from->model, NULL, out->model);
    out->sum = from->sum;
    if (status < 0) sk_noisy_clear(out);
    return status;
}

sk_filter_spec sk_noisy_spec(const sk_measured *m, const sk_noisy *n)
{
    return (sk_filter_spec){n->model, n->noise, {n->substeps, m->frame.reach, m->frame.low, m->frame.high}, NULL};
}

sock_status sk_noisy_terms(const sk_measured *m, sk_noisy *n, double *term)
{
    const sk_filter_spec spec = sk_noisy_spec(m, n);
    const sk_pass pass = {.term = term};
    SK_TRY(sk_filter(m->ctx, &m->series, &spec, &pass));
    n->sum = sk_pass_sum(&m->series, &pass);
    return SOCK_OK;
}

sock_status sk_noisy_score(const sk_measured *m, sk_noisy *n)
{
    const sk_filter_spec spec = sk_noisy_spec(m, n);
    sk_pass pass;
    SK_TRY(sk_pass_new(m->ctx, &m->series, false, &pass));
    sock_status status = sk_filter(m->ctx, &m->series, &spec, &pass);
    if (status >= 0) n->sum = sk_pass_sum(&m->series, &pass);
    sk_pass_clear(&pass);
    return status;
}

/* ---- Terms ---- */

sock_status sk_add_drift_of(sock_context *ctx, const sock_model *from, double share, sock_model *to)
{
    for (size_t i = 0; i < from->drift_terms; i++) {
        sk_drift_term *term = NULL;
        SK_TRY(sk_drift_term_copy(ctx, from->drift[i], &term));
        for (size_t j = 0; j < sk_features_count(term->map) * term->d; j++) term->weight[j] *= share;
        SK_TRY(sk_model_add_drift(ctx, to, term));
    }
    return SOCK_OK;
}

static sock_status constant_map(sock_context *ctx, size_t d, sk_features **out)
{
    sk_kernel *one = NULL;
    SK_TRY(sk_kernel_parse(ctx, "diffusion", "constant", &one));
    sock_status status = sk_features_new(ctx, "diffusion", one, d, 0, NULL, out);
    sk_kernel_free(one);
    return status;
}

sock_status sk_add_constant(sock_context *ctx, const double *a, sock_model *to)
{
    const size_t d = to->d;
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    double *whole = sk_doubles(ctx, d, d), *vector = sk_doubles(ctx, d, d);
    sock_status status = term && whole && vector ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        term->d = term->rank = d;
        term->v = sk_doubles(ctx, d, d);
        status = term->v ? constant_map(ctx, d, &term->map) : SOCK_ENOMEM;
    }
    if (status >= 0) {
        memcpy(whole, a, d * d * sizeof *whole);
        sk_jacobi(d, whole, vector);
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++) term->v[k * d + j] = sqrt(fmax(whole[j * d + j], 0)) * vector[j * d + k];
        status = sk_model_add_diffusion(ctx, to, term);
        term = NULL;
    }
    sk_diffusion_term_free(term);
    sk_free(whole);
    sk_free(vector);
    return status;
}

/* The floor of a model as a part of a. */
static sock_status add_floor(sock_context *ctx, double floor, const double *scale, sock_model *to)
{
    const size_t d = to->d;
    double a[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM] = {0};
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = floor * (scale ? scale[k] : 1);
    return sk_add_constant(ctx, a, to);
}

sock_status sk_add_diffusion_of(sock_context *ctx, const sock_model *from, const double *scale, sock_model *to)
{
    for (size_t i = 0; i < from->diffusion_terms; i++) {
        sk_diffusion_term *term = NULL;
        SK_TRY(sk_diffusion_term_copy(ctx, from->diffusion[i], &term));
        const size_t block = sk_features_count(term->map) * term->rank;
        for (size_t j = 0; scale && j < term->d * block; j++) term->v[j] *= sqrt(scale[j / block]);
        SK_TRY(sk_model_add_diffusion(ctx, to, term));
    }
    return from->floor > 0 ? add_floor(ctx, from->floor, scale, to) : SOCK_OK;
}

sock_status sk_add_weights(sock_context *ctx, const sk_features *map, const double *w, sock_model *to)
{
    const size_t p = sk_features_count(map), d = to->d;
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = d;
    term->weight = sk_doubles(ctx, p, d);
    sock_status status = term->weight ? sk_features_copy(ctx, map, &term->map) : SOCK_ENOMEM;
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    memcpy(term->weight, w, p * d * sizeof *w);
    return sk_model_add_drift(ctx, to, term);
}

sock_status sk_same_map(sock_context *ctx, const sk_features *one, const sk_features *other, bool *same)
{
    const sk_features *map[2] = {one, other};
    char *text[2] = {NULL, NULL};
    sk_array *list[2] = {NULL, NULL};
    size_t count[2] = {0, 0};
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < 2; i++)
        status = sk_features_export(ctx, map[i], &text[i], &list[i], &count[i]);
    *same = status >= 0 && strcmp(text[0], text[1]) == 0 && count[0] == count[1];
    for (size_t i = 0; *same && i < count[0]; i++)
        *same = list[0][i].rows == list[1][i].rows && list[0][i].cols == list[1][i].cols &&
                memcmp(list[0][i].values, list[1][i].values, list[0][i].rows * list[0][i].cols * sizeof(double)) == 0;
    for (size_t i = 0; i < 2; i++) {
        sk_free(text[i]);
        sk_free(list[i]);
    }
    return status;
}

sock_status sk_join_drifts(sock_context *ctx, sock_model *model)
{
    for (size_t i = 1; i < model->drift_terms;) {
        sk_drift_term *first = model->drift[0], *term = model->drift[i];
        bool same;
        SK_TRY(sk_same_map(ctx, first->map, term->map, &same));
        if (!same) {
            i++;
            continue;
        }
        sk_axpy(sk_features_count(first->map) * first->d, 1, term->weight, first->weight);
        sk_drift_term_free(term);
        model->drift_terms--;
        memmove(model->drift + i, model->drift + i + 1, (model->drift_terms - i) * sizeof *model->drift);
    }
    return SOCK_OK;
}

void sk_nearest_psd(size_t d, double least, double *a)
{
    double w[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], v[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    memcpy(w, a, d * d * sizeof *a);
    sk_small_mean(d, w);
    sk_jacobi(d, w, v);
    memset(a, 0, d * d * sizeof *a);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) a[k * d + l] += fmax(w[j * d + j], least) * v[j * d + k] * v[j * d + l];
}
