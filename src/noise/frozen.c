/* frozen.c - see frozen.h. */
#include "noise/frozen.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 64 }; /* starts of a flow; speed only */

static const double LOG_2PI = 1.83787706640934548356;

/* ---- Flows of many starts, in parallel ---- */

typedef struct fleet {
    sock_context *ctx;
    const sk_filter_spec *spec;
    size_t n;
    sk_flow_starts starts;
    sk_flow_ends ends;
    sk_flow **flow; /* of each worker */
} fleet;

/* The piece of an array that begins with row `at`. */
static double *from(double *array, size_t at, size_t width) { return array ? array + at * width : NULL; }

static sock_status sail(void *argument, size_t begin, size_t end, int worker)
{
    const fleet *w = argument;
    const size_t d = w->spec->model->d, d2 = d * d, s = w->spec->flow.substeps.count;
    const size_t nodes = sk_flow_nodes(d, s, !w->starts.p);
    for (size_t at = begin; at < end; at += AT_ONCE) {
        const sk_flow_starts starts = {SK_MIN(end - at, (size_t)AT_ONCE), w->starts.m + at * d,
                                       w->starts.p ? w->starts.p + at * d2 : NULL, w->starts.h + at};
        const sk_flow_ends ends = {from(w->ends.mean, at, d),       from(w->ends.cov, at, d2),
                                   from(w->ends.slope, at, d2),     from(w->ends.x, at, nodes * d),
                                   from(w->ends.weight, at, nodes), from(w->ends.onward, at, (s + 1) * d2),
                                   from(w->ends.average, at, d2),   from(w->ends.drift, at, (s + 1) * d),
                                   from(w->ends.diffusion, at, d2)};
        sk_flow_run(w->ctx, w->flow[worker], &starts, &ends);
    }
    return SOCK_OK;
}

static sock_status run_fleet(fleet *w)
{
    const size_t workers = (size_t)sk_workers(w->ctx);
    sk_sampler *sampler = NULL;
    sock_status status;
    w->flow = sk_alloc(w->ctx, workers, sizeof(sk_flow *));
    if (!w->flow) return SOCK_ENOMEM;
    SK_GO(sk_flow_sampler(w->ctx, w->spec->model, &w->spec->flow, w->n, &sampler));
    for (size_t i = 0; i < workers; i++)
        SK_GO(sk_flow_new(w->ctx, w->spec->model, sampler, &w->spec->flow, AT_ONCE, &w->flow[i]));
    SK_GO(sk_parallel_for(w->ctx, w->n, AT_ONCE, sail, w));
out:
    for (size_t i = 0; i < workers; i++) sk_flow_free(w->flow[i]);
    sk_free(w->flow);
    sk_sampler_free(sampler);
    return status;
}

/* ---- Making ---- */

void sk_frozen_free(sk_frozen *z)
{
    if (!z) return;
    double *const own[] = {z->x,         z->weight, z->onward, z->drift, z->average,
                           z->diffusion, z->own,    z->keep,   z->white, z->e};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sk_free(own[i]);
    sk_free(z->begins);
    sk_pass_clear(&z->pass);
    sk_free(z);
}

static sock_status allocate(sock_context *ctx, sk_frozen *z)
{
    const size_t d = z->series->d, n = z->series->steps, times = z->times;
    double **part[] = {&z->x,         &z->weight, &z->onward, &z->drift, &z->average,
                       &z->diffusion, &z->own,    &z->keep,   &z->white, &z->e};
    const size_t width[] = {
        times * z->each * d, times * z->each, times * d * d, times * d, d * d, d * d, d * d, d * d, d * d, d};
    double all = 0;
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) all += 8.0 * (double)n * (double)width[i];
    SK_TRY(sk_memory_check(ctx, all, "the filter of noisy data", "use --noise none"));
    for (size_t i = 0; i < sizeof width / sizeof *width; i++)
        if (!(*part[i] = sk_doubles_unset(ctx, n, width[i]))) return SOCK_ENOMEM;
    z->begins = sk_alloc(ctx, n, sizeof *z->begins);
    return z->begins ? sk_pass_new(ctx, z->series, true, &z->pass) : SOCK_ENOMEM;
}

/* m and P at the beginning of every step, in their order. */
static sock_status find_nodes(sock_context *ctx, sk_frozen *z)
{
    const sk_series *s = z->series;
    const size_t d = s->d, d2 = d * d, n = s->steps;
    double *m = sk_doubles_unset(ctx, n, d), *p = sk_doubles_unset(ctx, n, d2), *mean = sk_doubles_unset(ctx, n, d);
    double *cov = sk_doubles_unset(ctx, n, d2), *slope = sk_doubles_unset(ctx, n, d2);
    sock_status status = m && p && mean && cov && slope ? SOCK_OK : SOCK_ENOMEM;
    for (size_t r = 0; status >= 0 && r < s->runs; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            memcpy(m + i * d, z->pass.m + (i + r) * d, d * sizeof *m);
            memcpy(p + i * d2, z->pass.p + (i + r) * d2, d2 * sizeof *p);
            z->begins[i] = i == s->first[r];
        }
    fleet w = {ctx,
               &z->spec,
               n,
               {n, m, p, s->h},
               {mean, cov, slope, z->x, z->weight, z->onward, z->average, z->drift, z->diffusion},
               NULL};
    if (status >= 0) status = run_fleet(&w);
    for (size_t i = 0; status >= 0 && i < n; i++) { /* V0 = Pp - J P J' */
        const double *j = z->pass.slope + i * d2;
        double *own = z->own + i * d2, *t = cov;
        sk_small_product(d, j, p + i * d2, false, t);
        sk_small_product(d, t, j, true, own);
        for (size_t k = 0; k < d2; k++) own[k] = z->pass.cov[i * d2 + k] - own[k];
        sk_small_mean(d, own);
    }
    sk_free(m);
    sk_free(p);
    sk_free(mean);
    sk_free(cov);
    sk_free(slope);
    return status;
}

static double noise_of(const sk_frozen *z, size_t k) { return z->spec.noise ? z->spec.noise[k] : 0; }

/* A share of the median variance is added to that of each step before it is inverted. */
static sock_status find_shift(sock_context *ctx, const sk_frozen *z, double *shift)
{
    const size_t d = z->series->d, n = z->series->steps;
    double *value = sk_doubles_unset(ctx, n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (!z->pass.lost[i]) value[count++] = z->pass.cov[(i * d + k) * d + k];
        shift[k] = SK_VARIANCE_SHARE * ((count ? sk_median(count, value) : 1) + noise_of(z, k * d + k));
    }
    sk_free(value);
    return SOCK_OK;
}

/* 1 - K, the inverse factor of S + shift, and e of one step; all 0 where it does not count. space: 2 d x d. */
static void find_weights(const sk_frozen *z, size_t i, const double *shift, double *space)
{
    const size_t d = z->series->d, d2 = d * d;
    double *keep = z->keep + i * d2, *white = z->white + i * d2, *e = z->e + i * d, *c = space, *s = space + d2;
    const double *cov = z->pass.cov + i * d2;
    memset(keep, 0, d2 * sizeof *keep);
    memset(white, 0, d2 * sizeof *white);
    memset(e, 0, d * sizeof *e);
    if (z->pass.lost[i]) return;
    for (size_t k = 0; k < d2; k++) s[k] = cov[k] + noise_of(z, k);
    sk_factor_copy(d, 0, s, c);
    for (size_t k = 0; k < d; k++) {
        memcpy(keep + k * d, cov + k * d, d * sizeof *cov);
        sk_small_solve(d, c, keep + k * d);
        e[k] = z->series->next[i * d + k] - z->pass.mean[i * d + k];
    }
    for (size_t k = 0; k < d2; k++) keep[k] = (k % (d + 1) == 0) - keep[k];
    for (size_t k = 0; k < d; k++) s[k * d + k] += shift[k];
    sk_factor_copy(d, 0, s, c);
    for (size_t j = 0; j < d; j++) /* column j of C^-1 */
        for (size_t k = j; k < d; k++) {
            double sum = k == j;
            for (size_t l = j; l < k; l++) sum -= c[k * d + l] * white[l * d + j];
            white[k * d + j] = sum / c[k * d + k];
        }
    double square = 0;
    for (size_t k = 0; k < d; k++) square += pow(sk_dot(d, white + k * d, e), 2);
    if (sk_innovation_is_outlier(square, d)) memset(white, 0, d2 * sizeof *white);
}

sock_status sk_frozen_new(sock_context *ctx, const sk_series *series, const sk_filter_spec *spec, sk_frozen **out)
{
    const size_t d = series->d;
    sk_frozen *z = sk_alloc(ctx, 1, sizeof *z);
    double *space = sk_doubles(ctx, 2 * d + 1, d);
    sock_status status = SOCK_ENOMEM;
    if (!z || !space) goto out;
    z->series = series;
    z->spec = *spec;
    z->times = spec->flow.substeps.count + 1;
    z->each = sk_flow_points(d);
    SK_GO(allocate(ctx, z));
    SK_GO(sk_filter(ctx, series, spec, &z->pass));
    z->sum = sk_pass_sum(series, &z->pass);
    SK_GO(find_nodes(ctx, z));
    SK_GO(find_shift(ctx, z, space + 2 * d * d));
    for (size_t i = 0; i < series->steps; i++) find_weights(z, i, space + 2 * d * d, space);
    *out = z;
    z = NULL;
out:
    sk_free(space);
    sk_frozen_free(z);
    return status;
}

/* ---- Drifts ---- */

sk_innovations sk_frozen_innovations(const sk_frozen *z, size_t begin, size_t end, size_t fold)
{
    const size_t d = z->series->d, d2 = d * d;
    return (sk_innovations){.n = end - begin,
                            .d = d,
                            .times = z->times,
                            .fold = fold,
                            .begins = z->begins + begin,
                            .slope = z->pass.slope + begin * d2,
                            .onward = z->onward + begin * z->times * d2,
                            .keep = z->keep + begin * d2,
                            .white = z->white + begin * d2,
                            .e = z->e + begin * d,
                            .drift = z->drift + begin * z->times * d};
}

sock_status sk_frozen_rule(sock_context *ctx, const sk_frozen *z, size_t begin, size_t end, bool by_time, sk_rule **out)
{
    const size_t d = z->series->d, nodes = z->times * z->each, n = end - begin;
    if (!by_time)
        return sk_rule_nodes(ctx, n, nodes, d, z->x + begin * nodes * d, z->weight + begin * nodes,
                             z->series->h + begin, out);
    double *h = sk_doubles(ctx, n, z->times); /* nobody asks for the length of a time */
    if (!h) return SOCK_ENOMEM;
    sock_status status =
        sk_rule_nodes(ctx, n * z->times, z->each, d, z->x + begin * nodes * d, z->weight + begin * nodes, h, out);
    sk_free(h);
    return status;
}

/* ---- Scores ---- */

/* One candidate on one thread: its law (x, P) and space. */
typedef struct desk {
    const sk_frozen *z;
    const sk_frozen_change *change;
    double *x, *p, *m, *cov, *s, *c, *k, *t, *root;
} desk;

static const double *noise_in(const desk *w) { return w->change->noise ? w->change->noise : w->z->spec.noise; }

static void restart(const desk *w, const double *y)
{
    const size_t d = w->z->series->d;
    const double *noise = noise_in(w);
    memcpy(w->x, y, d * sizeof *y);
    if (noise)
        memcpy(w->p, noise, d * d * sizeof *noise);
    else
        memset(w->p, 0, d * d * sizeof *w->p);
}

/* F (I a - base) F' of step i into w->s; base: 1 with I a0 taken off. */
static void add_diffusion(const desk *w, size_t i, bool less)
{
    const size_t d = w->z->series->d, d2 = d * d;
    const double *own = w->z->diffusion + i * d2, *a = w->change->diffusion ? w->change->diffusion + i * d2 : own;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double scale = w->change->scale ? w->root[k] * w->root[l] : 1;
            w->t[k * d + l] = scale * a[k * d + l] - (less ? own[k * d + l] : 0);
        }
    sk_small_product(d, w->z->average + i * d2, w->t, false, w->k);
    sk_small_product(d, w->k, w->z->average + i * d2, true, w->s);
}

/* Predicted law of step i into m, cov; S factored into c. defect: with what F I a F' misses of V0. */
static bool predict(const desk *w, size_t i, size_t point, bool defect)
{
    const size_t d = w->z->series->d, d2 = d * d;
    const double *j = w->z->pass.slope + i * d2, *noise = noise_in(w);
    for (size_t k = 0; k < d; k++) w->t[k] = w->x[k] - w->z->pass.m[point * d + k];
    for (size_t k = 0; k < d; k++) w->m[k] = w->z->pass.mean[i * d + k] + sk_dot(d, j + k * d, w->t);
    memset(w->s, 0, d2 * sizeof *w->s);
    if (!defect || w->change->diffusion || w->change->scale) add_diffusion(w, i, defect);
    sk_small_product(d, j, w->p, false, w->k);
    sk_small_product(d, w->k, j, true, w->cov);
    for (size_t k = 0; k < d2; k++) w->cov[k] += w->s[k] + (defect ? w->z->own[i * d2 + k] : 0);
    sk_small_mean(d, w->cov);
    for (size_t k = 0; k < d2; k++) w->s[k] = w->cov[k] + (noise ? noise[k] : 0);
    return sk_factor_copy(d, 1e-12, w->s, w->c) == 0 && isfinite(w->c[d2 - 1]);
}

/* The observation y; answers its log density. */
static double observe(const desk *w, const double *y)
{
    const size_t d = w->z->series->d;
    double sum = -0.5 * (double)d * LOG_2PI, *e = w->t, *u = w->t + d;
    for (size_t k = 0; k < d; k++) {
        u[k] = e[k] = y[k] - w->m[k];
        for (size_t l = 0; l < k; l++) u[k] -= w->c[k * d + l] * u[l];
        u[k] /= w->c[k * d + k];
        sum -= 0.5 * u[k] * u[k] + log(w->c[k * d + k]);
    }
    for (size_t k = 0; k < d; k++) {
        memcpy(w->k + k * d, w->cov + k * d, d * sizeof *w->k);
        sk_small_solve(d, w->c, w->k + k * d);
        w->x[k] = w->m[k] + sk_dot(d, w->k + k * d, e);
    }
    sk_small_product(d, w->k, w->cov, false, w->s);
    for (size_t k = 0; k < d * d; k++) w->p[k] = w->cov[k] - w->s[k];
    sk_small_mean(d, w->p);
    return fmax(sum, SK_STEP_LEAST);
}

static void score_run(const desk *w, size_t r, double *term)
{
    const sk_series *s = w->z->series;
    const size_t d = s->d;
    restart(w, s->y + s->first[r] * d);
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const double *y = s->next + i * d;
        const bool good = !w->z->pass.lost[i] && (predict(w, i, i + r, true) || predict(w, i, i + r, false));
        term[i] = good ? observe(w, y) : SK_STEP_LEAST;
        if (!good || !isfinite(term[i])) {
            term[i] = SK_STEP_LEAST;
            restart(w, y);
        }
    }
}

typedef struct scoring {
    const sk_frozen *z;
    const sk_frozen_change *change;
    size_t first; /* run */
    double *term, *space;
} scoring;

static size_t desk_space(size_t d) { return 2 * d + 7 * d * d + 3 * d + 8; }

static sock_status score_range(void *argument, size_t begin, size_t end, int worker)
{
    const scoring *w = argument;
    const size_t d = w->z->series->d, d2 = d * d;
    double *at = w->space + (size_t)worker * desk_space(d);
    const desk t = {w->z,
                    w->change,
                    at,
                    at + 2 * d,
                    at + d,
                    at + 2 * d + d2,
                    at + 2 * d + 2 * d2,
                    at + 2 * d + 3 * d2,
                    at + 2 * d + 4 * d2,
                    at + 2 * d + 5 * d2,
                    at + 4 * d + 6 * d2};
    for (size_t k = 0; w->change->scale && k < d; k++) t.root[k] = sqrt(w->change->scale[k]);
    for (size_t r = begin; r < end; r++) score_run(&t, w->first + r, w->term);
    return SOCK_OK;
}

sock_status sk_frozen_scores(sock_context *ctx, const sk_frozen *z, size_t begin, size_t end,
                             const sk_frozen_change *change, double *term)
{
    scoring w = {z, change, begin, term, sk_doubles(ctx, (size_t)sk_workers(ctx), desk_space(z->series->d))};
    if (!w.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, end - begin, 8, score_range, &w);
    sk_free(w.space);
    return status;
}

/* ---- Rows that start at a point ---- */

void sk_pulled_free(sk_pulled *q)
{
    if (!q) return;
    double *const own[] = {q->mean, q->cov, q->slope, q->average, q->drift, q->diffusion, q->u, q->z};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sk_free(own[i]);
    sk_rule_free(q->rule);
    sk_free(q->good);
    sk_free(q);
}

/* u and z of row i; F is eliminated in space (2 d x d). */
static bool pull(const sk_pulled *q, const sk_ends *ends, size_t i, double *space)
{
    const size_t d = q->d, d2 = d * d;
    size_t pivot[SK_NOISE_MOST_DIM];
    double *m = space, *t = space + d2, *u = q->u + i * d, *z = q->z + i * d2;
    memcpy(m, q->average + i * d2, d2 * sizeof *m);
    if (!sk_eliminate(d, SK_LEAST_TURN, m, pivot)) return false;
    for (size_t k = 0; k < d; k++) u[k] = ends->x1[i * d + k] - q->mean[i * d + k];
    sk_unwind(d, m, pivot, u);
    for (size_t k = 0; k < d2; k++) z[k] = (ends->extra ? ends->extra[i * d2 + k] : 0) - q->cov[i * d2 + k];
    for (int side = 0; side < 2; side++) { /* z := F^-1 z', twice; rows of z are columns of z' */
        for (size_t k = 0; k < d; k++) sk_unwind(d, m, pivot, z + k * d);
        sk_transpose(d, d, z, d, t, d);
        memcpy(z, t, d2 * sizeof *z);
    }
    sk_small_mean(d, z);
    double sum = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            z[k * d + l] += u[k] * u[l] + q->diffusion[i * d2 + k * d + l];
            sum += z[k * d + l];
        }
    return isfinite(sum);
}

static sock_status pull_all(sock_context *ctx, const sk_filter_spec *spec, const sk_ends *ends, sk_pulled *q)
{
    const size_t d = q->d, d2 = d * d, n = q->n, times = spec->flow.substeps.count + 1;
    const size_t each = sk_flow_nodes(d, times - 1, true);
    double *x = sk_doubles_unset(ctx, n * each, d), *weight = sk_doubles_unset(ctx, n, each);
    double *onward = sk_doubles_unset(ctx, n * times, d2), *drift = sk_doubles_unset(ctx, n * times, d);
    double *space = sk_doubles(ctx, 2, d2);
    sock_status status = x && weight && onward && drift && space ? SOCK_OK : SOCK_ENOMEM;
    fleet w = {ctx,
               spec,
               n,
               {n, ends->x0, NULL, ends->h},
               {q->mean, q->cov, q->slope, x, weight, onward, q->average, drift, q->diffusion},
               NULL};
    if (status >= 0) status = run_fleet(&w);
    if (status >= 0) status = sk_rule_nodes(ctx, n, each, d, x, weight, ends->h, &q->rule);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        for (size_t t = 0; t < times; t++) sk_axpy(d, 1, drift + (i * times + t) * d, q->drift + i * d);
        q->good[i] = pull(q, ends, i, space);
        if (q->good[i]) continue;
        memset(q->u + i * d, 0, d * sizeof(double));
        memset(q->z + i * d2, 0, d2 * sizeof(double));
        memset(q->diffusion + i * d2, 0, d2 * sizeof(double));
    }
    sk_free(x);
    sk_free(weight);
    sk_free(onward);
    sk_free(drift);
    sk_free(space);
    return status;
}

sock_status sk_pulled_new(sock_context *ctx, const sk_filter_spec *spec, const sk_ends *ends, sk_pulled **out)
{
    const size_t n = ends->n, d = spec->model->d, d2 = d * d;
    sk_pulled *q = sk_alloc(ctx, 1, sizeof *q);
    if (!q) return SOCK_ENOMEM;
    *q = (sk_pulled){.n = n, .d = d};
    double **part[] = {&q->mean, &q->u, &q->drift, &q->cov, &q->slope, &q->average, &q->diffusion, &q->z};
    bool good = (q->good = sk_alloc(ctx, n, sizeof *q->good)) != NULL;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        good = (*part[i] = sk_doubles(ctx, n, i < 3 ? d : d2)) && good;
    sock_status status = good ? pull_all(ctx, spec, ends, q) : SOCK_ENOMEM;
    if (status < 0) {
        sk_pulled_free(q);
        return status;
    }
    *out = q;
    return SOCK_OK;
}
