/* tunecases.h - rows of a search for the tests of occupation, drift, diffusion and tune: steps of a small known
 * process, split into folds, seen by blocks and as a whole; and the slow dense algebra to check fits with. */
#ifndef SK_TUNECASES_H
#define SK_TUNECASES_H

#include "test.h"
#include "tune/trial.h"

/* f_k = -x_k + 0.3 x_{k+1}, a = diag(0.4 + 0.1 x_k^2) + 0.2 (off the diagonal, unless *user is true: diagonal). */
static inline void case_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i] + 0.3 * x[i - i % d + (i + 1) % d];
}

static inline void case_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    bool diagonal = user && *(const bool *)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++)
            a[i * d * d + k] = k % (d + 1) ? (diagonal ? 0 : 0.2) : 0.4 + 0.1 * x[i * d + k / d] * x[i * d + k / d];
}

/* `count` Euler steps of that process with lengths around 0.1, `each` to a trajectory. */
static inline sock_data *case_data(sock_context *ctx, size_t count, size_t d, size_t each, uint64_t seed)
{
    const size_t trajectories = (count + each - 1) / each, points = count + trajectories;
    double *t = sk_doubles(ctx, points, 1), *x = sk_doubles(ctx, points, d);
    double *noise = sk_doubles(ctx, count, d), *h = sk_doubles(ctx, count, 1);
    size_t *length = sk_alloc(ctx, trajectories, sizeof *length);
    sk_key key = {seed, SK_PURPOSE_TEST};
    bool diagonal = true;
    sk_normals(key, 1, 0, 0, count * d, noise);
    sk_uniforms(key, 2, 0, 0, count, h);
    for (size_t i = 0; i < count; i++) {
        const size_t at = i + i / each;
        double f[16], a[256], *y = x + at * d, step = 0.05 + 0.1 * h[i];
        if (i % each == 0) sk_normals(key, 3, i, 0, d, y);
        length[i / each] += 1 + (i % each == 0);
        case_drift(NULL, 1, d, y, f);
        case_diffusion(&diagonal, 1, d, y, a);
        t[at + 1] = t[at] + step;
        for (size_t k = 0; k < d; k++) y[d + k] = y[k] + step * f[k] + sqrt(step * a[k * d + k]) * noise[i * d + k];
    }
    sock_data *data = NULL;
    if (sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    sk_free(t), sk_free(x), sk_free(noise), sk_free(h), sk_free(length);
    return data;
}

/* Such steps in `parts` equal parts, of which the first `folds` are folds and the others always in; a cluster is a
 * trajectory. */
static inline sk_transitions *case_transitions(sock_context *ctx, const sock_data *data, size_t parts, size_t folds)
{
    const size_t n = sock_data_points(data) - data->trajectories;
    sk_split split = {.n = n, .folds = folds, .clusters = data->trajectories};
    split.point = sk_alloc(ctx, n, sizeof(size_t));
    split.fold = sk_alloc(ctx, n, sizeof(size_t));
    split.cluster = sk_alloc(ctx, n, sizeof(size_t));
    for (size_t j = 0, i = 0; j < data->trajectories; j++)
        for (size_t at = data->first[j]; at + 1 < data->first[j + 1]; at++, i++) {
            const size_t part = i * parts / n;
            split.point[i] = at;
            split.fold[i] = part < folds ? part : SK_ALWAYS;
            split.cluster[i] = j;
        }
    sk_transitions *rows = NULL;
    if (sk_transitions_new(ctx, data, &split, NULL, &rows) < 0) fail_msg("%s", sock_message(ctx));
    sk_free(split.point), sk_free(split.fold), sk_free(split.cluster);
    return rows;
}

/* 60 steps in 12 trajectories, 3 folds of 4 trajectories; with `always`, the last fold's steps are always in instead.
 */
static inline sk_transitions *case_rows(sock_context *ctx, size_t d, bool always)
{
    sock_data *data = case_data(ctx, 60, d, 5, 11 + d);
    sk_transitions *rows = case_transitions(ctx, data, 3, always ? 2 : 3);
    sock_data_free(data);
    return rows;
}

/* The same rows in blocks of at most `most`. */
static inline void case_cut(sock_context *ctx, sk_transitions *rows, size_t most)
{
    sk_free(rows->block);
    rows->block = sk_alloc(ctx, rows->n + 1, sizeof *rows->block);
    rows->blocks = 0;
    for (size_t f = 0; f <= rows->folds; f++)
        for (size_t at = rows->first[f]; at < rows->first[f + 1]; at += most) rows->block[rows->blocks++] = at;
    rows->block[rows->blocks] = rows->n;
}

/* The same rows without folds, in one block: what is looked at as a whole. */
static inline sk_transitions *case_joined(sock_context *ctx, const sk_transitions *rows)
{
    sk_transitions *all = NULL;
    size_t *keep = sk_alloc(ctx, rows->n, sizeof *keep);
    for (size_t i = 0; i < rows->n; i++) keep[i] = i;
    if (sk_transitions_subset(ctx, rows, rows->n, keep, &all) < 0) fail_msg("%s", sock_message(ctx));
    sk_free(keep);
    all->folds = 0;
    all->first[1] = rows->n;
    all->blocks = 1;
    all->block[1] = rows->n;
    return all;
}

static inline sock_model *case_model(sock_context *ctx, size_t d, bool *diagonal)
{
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, d, NULL, case_drift, case_diffusion, diagonal, &model), SOCK_OK);
    return model;
}

static inline sock_status case_fields(sock_context *ctx, const void *model, size_t count, const double *x, double *f,
                                      double *a)
{
    return sk_model_evaluate(ctx, model, count, x, f, a);
}

/* With a model (NULL: none), conditional and weighted. */
static inline sk_view_spec case_look(const sock_model *model, bool diagonal)
{
    return (sk_view_spec){.fields = case_fields,
                          .model = model,
                          .conditional = true,
                          .diagonal = diagonal,
                          .weighted = true,
                          .eps = 1e-3};
}

static inline sk_views *case_views(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look)
{
    sk_views *views = NULL;
    if (sk_views_new(ctx, rows, look, &views) < 0) fail_msg("%s", sock_message(ctx));
    return views;
}

static inline const sk_view *case_view(sock_context *ctx, const sk_views *views, size_t b)
{
    const sk_view *v = NULL;
    if (sk_views_take(ctx, views, b, &v) < 0) fail_msg("%s", sock_message(ctx));
    return v;
}

/* Rows seen under the true model: by blocks, and (`v`) all in one view. */
typedef struct case_bench {
    sk_transitions *rows, *joined;
    sock_model *model;
    sk_views *views, *whole;
    const sk_view *v;
} case_bench;

/* Takes the rows. */
static inline case_bench case_bench_of(sock_context *ctx, sk_transitions *rows, bool diagonal, double keep)
{
    static bool flat = true, full = false;
    case_bench b = {.rows = rows, .joined = case_joined(ctx, rows)};
    b.model = case_model(ctx, rows->d, diagonal ? &flat : &full);
    sk_view_spec look = case_look(b.model, diagonal);
    b.whole = case_views(ctx, b.joined, &look);
    look.keep = keep;
    b.views = case_views(ctx, rows, &look);
    b.v = case_view(ctx, b.whole, 0);
    return b;
}

static inline case_bench case_bench_new(sock_context *ctx, size_t d, bool diagonal, bool always)
{
    return case_bench_of(ctx, case_rows(ctx, d, always), diagonal, 0);
}

static inline void case_bench_clear(case_bench *b)
{
    sk_views_give(b->whole, b->v);
    sk_views_free(b->whole);
    sk_views_free(b->views);
    sock_model_free(b->model);
    sk_transitions_free(b->joined);
    sk_transitions_free(b->rows);
}

static inline sk_kernel *case_kernel(sock_context *ctx, const char *text)
{
    sk_kernel *kernel = NULL;
    if (sk_kernel_parse(ctx, "kernel", text, &kernel) < 0) fail_msg("%s", sock_message(ctx));
    return kernel;
}

/* What a drift leaves that is not fitted: residuals (1 + 0.02 f) t + 0.003 without fold f, f = folds from all rows. */
typedef struct case_left {
    sk_trial *drift;
    double share;
    sk_remains *remains;
} case_left;

static inline double case_residual(const sk_view *v, size_t f, size_t i, size_t k)
{
    return v->t[i * v->d + k] * (1 + 0.02 * (double)f) + 0.003;
}

static inline void case_left_new(sock_context *ctx, const case_bench *b, bool correct, case_left *out)
{
    const size_t size = b->v->n * b->v->d, folds = b->rows->folds;
    sk_trial *drift = sk_alloc(ctx, 1, sizeof *drift);
    *drift = (sk_trial){.field = SK_DRIFT, .d = b->v->d, .folds = folds, .rows = b->rows};
    drift->held = sk_doubles(ctx, folds + 1, size);
    for (size_t f = 0; f <= folds; f++)
        for (size_t i = 0; i < size; i++)
            drift->held[f * size + i] = b->v->t[i] - case_residual(b->v, f, i / b->v->d, i % b->v->d);
    *out = (case_left){.drift = drift, .share = 1};
    const sk_mixture mixture = {1, &out->drift, &out->share};
    if (sk_remains_new(ctx, b->views, &mixture, correct, &out->remains) < 0) fail_msg("%s", sock_message(ctx));
}

static inline void case_left_clear(case_left *left)
{
    sk_remains_free(left->remains);
    sk_trial_free(left->drift);
}

/* x := A^-1 x by Gauss-Jordan with pivoting, A (n x n) destroyed; answers log |det A|. */
static inline double dense_solve(size_t n, double *a, size_t rhs, double *x)
{
    double logdet = 0;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < n; r++)
            if (fabs(a[r * n + k]) > fabs(a[best * n + k])) best = r;
        for (size_t j = 0; best != k && j < n; j++) {
            double kept = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = kept;
        }
        for (size_t j = 0; best != k && j < rhs; j++) {
            double kept = x[k * rhs + j];
            x[k * rhs + j] = x[best * rhs + j], x[best * rhs + j] = kept;
        }
        double pivot = a[k * n + k];
        logdet += log(fabs(pivot));
        for (size_t j = 0; j < n; j++) a[k * n + j] /= pivot;
        for (size_t j = 0; j < rhs; j++) x[k * rhs + j] /= pivot;
        for (size_t r = 0; r < n; r++) {
            double factor = a[r * n + k];
            if (r == k || factor == 0) continue;
            for (size_t j = 0; j < n; j++) a[r * n + j] -= factor * a[k * n + j];
            for (size_t j = 0; j < rhs; j++) x[r * rhs + j] -= factor * x[k * rhs + j];
        }
    }
    return logdet;
}

/* Of row i of a view: log N(e; 0, C) with C = F A F' + eps I and eps I added to e e'; everything written out. */
static inline double dense_score(const sk_view *view, size_t i, const double *e, const double *integral)
{
    const size_t d = view->d;
    const double *f = view->left + i * d * d;
    double c[64] = {0}, inverse[64] = {0}, trace = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            for (size_t u = 0; u < d; u++)
                for (size_t v = 0; v < d; v++) c[k * d + l] += f[k * d + u] * integral[u * d + v] * f[l * d + v];
            if (k == l) c[k * d + l] += view->spec.eps;
            inverse[k * d + l] = k == l;
        }
    double logdet = dense_solve(d, c, d, inverse);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) trace += inverse[k * d + l] * (e[k] * e[l] + (k == l ? view->spec.eps : 0));
    return -0.5 * ((double)d * log(2 * acos(-1.0)) + logdet + trace);
}

/* I a of row i with the share of the typical variance that drifts are judged with. */
static inline void judged_integral(const sk_view *v, size_t i, double *out)
{
    const size_t d = v->d;
    for (size_t k = 0; k < d * d; k++)
        out[k] = v->integral[i * d * d + k] + (k % (d + 1) ? 0 : 0.01 * v->typical->mean);
}

#endif
