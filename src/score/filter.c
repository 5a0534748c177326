/* filter.c - see filter.h. Cost of a step: a flow, and about 10 d^3. */
#include "score/filter.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

static const double LOG_2PI = 1.83787706640934548356;

/* ---- Passes ---- */

void sk_pass_clear(sk_pass *pass)
{
    sk_free(pass->term);
    sk_free(pass->lost);
    sk_free(pass->m);
    sk_free(pass->p);
    sk_free(pass->mean);
    sk_free(pass->cov);
    sk_free(pass->slope);
    *pass = (sk_pass){0};
}

sock_status sk_pass_new(sock_context *ctx, const sk_series *s, bool laws, sk_pass *out)
{
    const size_t d = s->d, points = s->steps + s->runs;
    *out = (sk_pass){.term = sk_doubles(ctx, s->steps, 1), .lost = sk_alloc(ctx, s->steps, sizeof *out->lost)};
    bool good = out->term && out->lost;
    if (laws) {
        out->m = sk_doubles(ctx, points, d);
        out->p = sk_doubles(ctx, points, d * d);
        out->mean = sk_doubles(ctx, s->steps, d);
        out->cov = sk_doubles(ctx, s->steps, d * d);
        out->slope = sk_doubles(ctx, s->steps, d * d);
        good = good && out->m && out->p && out->mean && out->cov && out->slope;
    }
    if (good) return SOCK_OK;
    sk_pass_clear(out);
    return SOCK_ENOMEM;
}

double sk_pass_sum(const sk_series *s, const sk_pass *pass)
{
    double sum = 0;
    for (size_t i = 0; i < s->steps; i++) sum += pass->term[i];
    return sum;
}

/* ---- Filter ---- */

/* Runs that go together, on one thread. */
typedef struct group {
    sk_lanes l;
    double *mean, *cov, *slope;
    double *s, *c, *k, *t, *e; /* d x d each; e: d */
    sk_flow *flow;
    double *memory;
} group;

typedef struct job {
    sock_context *ctx;
    const sk_series *series;
    const sk_filter_spec *spec;
    const sk_pass *out;
    group *group; /* of each worker */
} job;

static sock_status group_new(sock_context *ctx, const sk_filter_spec *spec, const sk_sampler *sampler, group *g)
{
    const size_t d = spec->model->d, d2 = d * d;
    double *at = g->memory = sk_doubles(ctx, SK_LANES * (2 * d + 3 * d2 + 1) + 4 * d2 + d, 1);
    if (!at) return SOCK_ENOMEM;
    double **part[] = {&g->l.m, &g->l.p, &g->l.h, &g->mean, &g->cov, &g->slope, &g->s, &g->c, &g->k, &g->t, &g->e};
    const size_t size[] = {
        SK_LANES * d, SK_LANES * d2, SK_LANES, SK_LANES * d, SK_LANES * d2, SK_LANES * d2, d2, d2, d2, d2, d};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        *part[i] = at;
        at += size[i];
    }
    return sk_flow_new(ctx, spec->model, sampler, &spec->flow, SK_LANES, &g->flow);
}

/* The law of lane i after an observation y. The state is N(y, R) where what was known of it is lost. */
static void restart(const job *j, const group *g, size_t i, const double *y)
{
    const size_t d = j->series->d;
    memcpy(g->l.m + i * d, y, d * sizeof *y);
    if (j->spec->noise)
        memcpy(g->l.p + i * d * d, j->spec->noise, d * d * sizeof *g->l.p);
    else
        memset(g->l.p + i * d * d, 0, d * d * sizeof *g->l.p);
}

/* e and the factor of S of lane i; false: lost. */
static bool innovate(const job *j, const group *g, size_t i, const double *y)
{
    const size_t d = j->series->d, d2 = d * d;
    const double *cov = g->cov + i * d2, *mean = g->mean + i * d;
    if (!sk_all_finite(d, mean) || !sk_all_finite(d2, cov)) return false;
    for (size_t k = 0; k < d2; k++) g->s[k] = cov[k] + (j->spec->noise ? j->spec->noise[k] : 0);
    for (size_t k = 0; k < d; k++) g->e[k] = y[k] - mean[k];
    return sk_factor_copy(d, 0, g->s, g->c) == 0 && sk_all_finite(d2, g->c);
}

static double log_density(const group *g, size_t d)
{
    double sum = -0.5 * (double)d * LOG_2PI, *u = g->t;
    for (size_t k = 0; k < d; k++) {
        u[k] = g->e[k];
        for (size_t l = 0; l < k; l++) u[k] -= g->c[k * d + l] * u[l];
        u[k] /= g->c[k * d + k];
        sum -= 0.5 * u[k] * u[k] + log(g->c[k * d + k]);
    }
    return fmax(sum, SK_STEP_LEAST);
}

/* m = mp + K e, P = (1 - K) Pp (1 - K)' + K R K'. */
static void update(const job *j, const group *g, size_t i)
{
    const size_t d = j->series->d, d2 = d * d;
    const double *cov = g->cov + i * d2;
    double *m = g->l.m + i * d, *p = g->l.p + i * d2, *rest = g->s;
    for (size_t k = 0; k < d; k++) { /* row k of K solves S K_k' = row k of Pp */
        memcpy(g->k + k * d, cov + k * d, d * sizeof *cov);
        sk_small_solve(d, g->c, g->k + k * d);
        m[k] = g->mean[i * d + k] + sk_dot(d, g->k + k * d, g->e);
    }
    for (size_t k = 0; k < d2; k++) rest[k] = -g->k[k];
    for (size_t k = 0; k < d; k++) rest[k * d + k] += 1;
    sk_small_product(d, rest, cov, false, g->t);
    sk_small_product(d, g->t, rest, true, p);
    if (j->spec->noise) {
        sk_small_product(d, g->k, j->spec->noise, false, g->t);
        sk_small_product(d, g->t, g->k, true, rest);
        sk_axpy(d2, 1, rest, p);
    }
    sk_small_mean(d, p);
}

/* What is wanted of a step, before (its beginning) and after the observation. */
static void keep_law(const job *j, const group *g, size_t i, size_t point)
{
    const size_t d = j->series->d, d2 = d * d;
    if (j->out->m) memcpy(j->out->m + point * d, g->l.m + i * d, d * sizeof(double));
    if (j->out->p) memcpy(j->out->p + point * d2, g->l.p + i * d2, d2 * sizeof(double));
}

static void keep_step(const job *j, const group *g, size_t i, size_t step)
{
    const size_t d = j->series->d, d2 = d * d;
    if (j->out->mean) memcpy(j->out->mean + step * d, g->mean + i * d, d * sizeof(double));
    if (j->out->cov) memcpy(j->out->cov + step * d2, g->cov + i * d2, d2 * sizeof(double));
    if (j->out->slope) memcpy(j->out->slope + step * d2, g->slope + i * d2, d2 * sizeof(double));
}

static void observe(const job *j, const group *g, size_t i, size_t step)
{
    const double *y = j->series->next + step * j->series->d;
    const bool good = innovate(j, g, i, y);
    keep_step(j, g, i, step);
    if (j->out->lost) j->out->lost[step] = !good;
    if (j->out->term) j->out->term[step] = good ? log_density(g, j->series->d) : SK_STEP_LEAST;
    if (good)
        update(j, g, i);
    else
        restart(j, g, i, y);
    keep_law(j, g, i, step + g->l.run[i] + 1);
}

static void follow(const void *argument, size_t begin, size_t end, int worker)
{
    const job *j = argument;
    group *g = &j->group[worker];
    const sk_series *s = j->series;
    const sk_flow_ends ends = {.mean = g->mean, .cov = g->cov, .slope = g->slope};
    g->l.count = end - begin;
    for (size_t i = 0; i < g->l.count; i++) {
        g->l.run[i] = begin + i;
        if (s->first[begin + i] == s->first[begin + i + 1]) continue; /* no step, so no point is known */
        restart(j, g, i, s->y + s->first[begin + i] * s->d);
        keep_law(j, g, i, s->first[begin + i] + begin + i);
    }
    for (size_t k = 0;; k++) {
        sk_lanes_close_up(s, s->d, k, &g->l);
        if (!g->l.count) break;
        sk_flow_run(j->ctx, g->flow, &(sk_flow_starts){g->l.count, g->l.m, g->l.p, g->l.h}, &ends);
        for (size_t i = 0; i < g->l.count; i++) observe(j, g, i, s->first[g->l.run[i]] + k);
    }
}

sock_status sk_filter(sock_context *ctx, const sk_series *series, const sk_filter_spec *spec, const sk_pass *out)
{
    const size_t workers = (size_t)sk_workers(ctx);
    sk_sampler *own = NULL;
    job j = {ctx, series, spec, out, sk_alloc(ctx, workers, sizeof *j.group)};
    sock_status status = SOCK_ENOMEM;
    if (!j.group) return SOCK_ENOMEM;
    if (!spec->sampler) SK_GO(sk_flow_sampler(ctx, spec->model, &spec->flow, series->steps, &own));
    for (size_t i = 0; i < workers; i++) SK_GO(group_new(ctx, spec, own ? own : spec->sampler, &j.group[i]));
    SK_GO(sk_series_follow(ctx, series, follow, &j));
out:
    for (size_t i = 0; i < workers; i++) {
        sk_free(j.group[i].memory);
        sk_flow_free(j.group[i].flow);
    }
    sk_free(j.group);
    sk_sampler_free(own);
    return status;
}

/* ---- Smoother ---- */

typedef struct smoothing {
    const sk_series *series;
    const sk_pass *pass;
    const sk_smoothed *out;
    double *space; /* 3 d x d and d for each worker */
} smoothing;

/* G = P J' Pp^-1, row by row: Pp G_k' = J P_k; 0 where the next state was found anew. */
static void find_gain(const smoothing *w, size_t step, size_t point, double *c, double *g)
{
    const size_t d = w->series->d, d2 = d * d;
    const double *p = w->pass->p + point * d2;
    memset(g, 0, d2 * sizeof *g);
    if (w->pass->lost[step] || sk_factor_copy(d, 0, w->pass->cov + step * d2, c)) return;
    sk_small_product(d, p, w->pass->slope + step * d2, true, g);
    for (size_t k = 0; k < d; k++) sk_small_solve(d, c, g + k * d);
}

/* ms = m + G (ms+ - mp), Ps = P + G (Ps+ - Pp) G'. */
static void step_back(const smoothing *w, size_t step, size_t point, double *space)
{
    const size_t d = w->series->d, d2 = d * d;
    double *g = space, *c = g + d2, *t = c + d2, *e = t + d2;
    double *m = w->out->m + point * d, *p = w->out->p + point * d2;
    find_gain(w, step, point, c, g);
    for (size_t k = 0; k < d; k++) e[k] = m[d + k] - w->pass->mean[step * d + k];
    for (size_t k = 0; k < d2; k++) c[k] = p[d2 + k] - w->pass->cov[step * d2 + k];
    for (size_t k = 0; k < d && w->pass->lost[step]; k++) e[k] = 0; /* what is lost may be infinite */
    for (size_t k = 0; k < d2 && w->pass->lost[step]; k++) c[k] = 0;
    for (size_t k = 0; k < d; k++) m[k] = w->pass->m[point * d + k] + sk_dot(d, g + k * d, e);
    sk_small_product(d, g, c, false, t);
    sk_small_product(d, t, g, true, p);
    sk_axpy(d2, 1, w->pass->p + point * d2, p);
    sk_small_mean(d, p);
    if (w->out->gain) memcpy(w->out->gain + step * d2, g, d2 * sizeof *g);
}

static sock_status smooth_range(void *argument, size_t begin, size_t end, int worker)
{
    const smoothing *w = argument;
    const sk_series *s = w->series;
    const size_t d = s->d, d2 = d * d;
    for (size_t r = begin; r < end; r++) {
        const size_t last = s->first[r + 1] + r;
        memcpy(w->out->m + last * d, w->pass->m + last * d, d * sizeof(double));
        memcpy(w->out->p + last * d2, w->pass->p + last * d2, d2 * sizeof(double));
        for (size_t i = s->first[r + 1]; i-- > s->first[r];)
            step_back(w, i, i + r, w->space + (size_t)worker * (3 * d2 + d));
    }
    return SOCK_OK;
}

sock_status sk_smooth(sock_context *ctx, const sk_series *series, const sk_pass *pass, const sk_smoothed *out)
{
    const size_t d = series->d;
    smoothing w = {series, pass, out, sk_doubles(ctx, (size_t)sk_workers(ctx), 3 * d * d + d)};
    if (!w.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, series->runs, SK_LANES, smooth_range, &w);
    sk_free(w.space);
    return status;
}
