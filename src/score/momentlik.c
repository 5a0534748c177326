/* momentlik.c - the likelihood by moments: over an interval the law of the state is a Gaussian whose mean and
 * covariance follow the model, where Euler's likelihood keeps f and a as they are at the beginning. For steps that are
 * not short.
 *
 *     m' = E f(X),   S' = E f(X)(X - m)' + E (X - m) f(X)' + E a(X),   X ~ N(m, S),   m(0) = y_i, S(0) = 0
 *     l = sum_i log N(y_{i+1}; m(h_i), S(h_i) + delta I)
 *
 * These are the equations of the true moments but for the law of X in the expectations. They are taken by the points
 * x_k = m +- sqrt(d) c_k, k = 1..d, with S = sum_k s_k c_k c_k' (s_k = 1; see below),
 *
 *     E g(X) ~ g(m) + (1/d) sum_k s_k ((g(x_k+) + g(x_k-))/2 - g(m)),
 *     E f(X)(X - m)' ~ (1 / (2 sqrt d)) sum_k s_k (f(x_k+) - f(x_k-)) c_k',
 *
 * exact for polynomials of degree 3: where f is linear and a of degree 2 at most, mean and covariance are the true
 * ones, and with a constant a (Ornstein-Uhlenbeck) so is the density. c_k are the columns of a Cholesky factor. Where a
 * is singular, S in the middle of a Runge-Kutta step may be indefinite by little; then c_k are eigenvectors, and s_k
 * the signs of their eigenvalues: both sums stay linear in S, and the order of the method is kept.
 *
 *   1. Classical Runge-Kutta in 1, 2, 4, ... substeps, many intervals at once.
 *   2. An interval is settled when twice the substeps move its log density by less than AIM; the two values are
 *      extrapolated (the error falls by 16). Where f or a have kinks that takes long: at MOST substeps (MOST_IN_MANY
 *      beyond FEW_DIMENSIONS, where they are expensive) less will do.
 *   3. Settled intervals leave; those without a density at GIVEN_UP_AT substeps are given up.
 *
 * Cost: an interval 2 d + 1 evaluations of the model in each of four stages of each substep; mostly 1 + 2 substeps. */
#include "score/steplik.h"

#include "la/la.h"
#include "occupation/bounds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { EVALUATED = 256 }; /* points at once; speed only */
enum { FEW_DIMENSIONS = 3, MOST = 64, MOST_IN_MANY = 16, GIVEN_UP_AT = 16 };
static const double ROUNDING = 1e-14;          /* of a pivot in its diagonal entry */
static const double AIM = 1e-7, ENOUGH = 1e-2; /* shares of d + |log density| */
enum { OF_A_LAW = 4 }; /* substeps where no density settles it; errors fall by 16 with twice as many */

/* Intervals that are integrated together. A state is m (d) and then S (d x d): q numbers. */
typedef struct ensemble {
    const sk_step_job *job;
    size_t d, in, q, count;
    size_t *interval;     /* their numbers */
    double *z;            /* count x q: the states, */
    double *stage, *rate; /* of a stage, and their rates; */
    double *sum;          /* and what a substep adds */
    double *root;         /* count x d x d: the rows are c_k */
    double *sign;         /* count x d: s_k */
    double *skew;         /* count x d: r_k */
    double *x, *f, *a;    /* at the 2 d + 1 points of each: x_k+, x_k- for all k, and m; inputs behind the states */
    double *matrix;       /* d x d */
    double *space;        /* of the model */
} ensemble;

static size_t points_of(size_t d) { return 2 * d + 1; }

/* Intervals at once, so that about EVALUATED points are. */
static size_t intervals_at_once(size_t d) { return SK_MAX(EVALUATED / points_of(d), 1); }

/* ---- The rates ---- */

/* c (rows c_k) and sign with S = sum_k s_k c_k c_k'. */
static void decompose(size_t d, const double *s, double *matrix, double *c, double *sign)
{
    for (size_t k = 0; k < d; k++) sign[k] = 1;
    if (!sk_factor_copy(d, ROUNDING, s, matrix)) {
        sk_transpose(d, d, matrix, d, c, d);
        return;
    }
    memcpy(matrix, s, d * d * sizeof *s);
    sk_jacobi(d, matrix, c);
    for (size_t k = 0; k < d; k++) {
        const double value = matrix[k * d + k], root = sqrt(fabs(value));
        sign[k] = value < 0 ? -1 : 1;
        for (size_t j = 0; j < d; j++) c[k * d + j] *= root;
    }
}

/* Two points, of which none leaves the bounds of the model as long as the mean is within. */
static void place_pair(const ensemble *e, const double *mean, double reach, const double *c, double *skew, double *x)
{
    const sk_structure *s = e->job->model->structure;
    const size_t d = e->d, in = e->in;
    for (size_t j = 0; j < d; j++) x[j] = reach * c[j];
    *skew = sk_structure_is_bounded(s) ? sk_skew(&(sk_bounds){.d = d, .lower = s->lower, .upper = s->upper}, mean, x, 1)
                                       : 1;
    for (size_t j = 0; j < d; j++) {
        const double step = x[j];
        x[j] = mean[j] + *skew * step;
        x[in + j] = mean[j] - step / *skew;
    }
}

/* The points of one state at a share of its step. Where they are not finite the start stands in for them; the state
 * stays what it is. */
static void place_points(const ensemble *e, size_t i, const double *state, double share, double *x)
{
    const size_t d = e->d, in = e->in;
    const double *start = e->job->data->x + e->job->start[e->interval[i]] * d, reach = sqrt((double)d);
    const sk_structure *s = e->job->model->structure;
    double *c = e->root + i * d * d;
    bool finite = true;
    decompose(d, state + d, e->matrix, c, e->sign + i * d);
    for (size_t k = 0; k < d; k++) place_pair(e, state, reach, c + k * d, e->skew + i * d + k, x + 2 * k * in);
    memcpy(x + 2 * d * in, state, d * sizeof *x);
    for (size_t k = 0; k < points_of(d); k++) sk_bounds_clip(d, s->lower, s->upper, x + k * in);
    assert(d > 0);
    for (size_t k = 0; k < points_of(d) * d; k++) finite = finite && isfinite(x[k / d * in + k % d]);
    for (size_t k = 0; !finite && k < points_of(d); k++) memcpy(x + k * in, start, d * sizeof *x);
    if (in == d) return;
    sk_inputs_at(e->job->model, e->job->input, e->job->data, e->job->start[e->interval[i]], share, x + d);
    for (size_t k = 1; k < points_of(d); k++) memcpy(x + k * in + d, x + d, (in - d) * sizeof *x);
}

/* mean (n numbers) of the values g at the points of one state. */
static void expect(size_t d, size_t n, const double *sign, const double *skew, const double *g, double *mean)
{
    const double *middle = g + 2 * d * n;
    memcpy(mean, middle, n * sizeof *mean);
    for (size_t k = 0; k < d; k++) {
        const double share = sign[k] / (double)d, square = skew[k] * skew[k], *up = g + 2 * k * n, *down = up + n;
        for (size_t j = 0; j < n; j++) mean[j] += share * ((up[j] + square * down[j]) / (1 + square) - middle[j]);
    }
}

static void combine(const ensemble *e, size_t i, double *rate)
{
    const size_t d = e->d;
    const double *f = e->f + i * points_of(d) * d, *c = e->root + i * d * d, *sign = e->sign + i * d,
                 *skew = e->skew + i * d;
    double *s = rate + d;
    expect(d, d, sign, skew, f, rate);
    expect(d, d * d, sign, skew, e->a + i * points_of(d) * d * d, s);
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++) {
            const double slope =
                sign[k] * (f[2 * k * d + j] - f[(2 * k + 1) * d + j]) / ((skew[k] + 1 / skew[k]) * sqrt((double)d));
            for (size_t l = 0; l < d; l++) {
                s[j * d + l] += slope * c[k * d + l];
                s[l * d + j] += slope * c[k * d + l];
            }
        }
}

/* At a share of the steps. */
static void rates(const ensemble *e, const double *states, double share)
{
    const size_t d = e->d, each = points_of(d);
    const sock_model *model = e->job->model;
    for (size_t i = 0; i < e->count; i++) place_points(e, i, states + i * e->q, share, e->x + i * each * e->in);
    if (!model->has_diffusion) memset(e->a, 0, e->count * each * d * d * sizeof *e->a);
    sk_model_fields(e->job->ctx, model, e->count * each, e->x, e->f, model->has_diffusion ? e->a : NULL, e->space);
    for (size_t i = 0; i < e->count; i++) combine(e, i, e->rate + i * e->q);
}

/* ---- Step 1: integrating ---- */

static double length_of(const ensemble *e, size_t i)
{
    const size_t point = e->job->start[e->interval[i]];
    return e->job->data->t[point + 1] - e->job->data->t[point];
}

/* Runge-Kutta: stage s is at z + node h rate, and adds weight h rate. k: substeps done. */
static void substep(const ensemble *e, size_t substeps, size_t k)
{
    static const double node[] = {0.5, 0.5, 1, 0}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
                        place[] = {0, 0.5, 0.5, 1};
    const size_t q = e->q, numbers = e->count * q;
    memcpy(e->stage, e->z, numbers * sizeof *e->z);
    memset(e->sum, 0, numbers * sizeof *e->sum);
    for (size_t s = 0; s < 4; s++) {
        rates(e, e->stage, ((double)k + place[s]) / (double)substeps);
        for (size_t i = 0; i < numbers; i++) {
            const double h = length_of(e, i / q) / (double)substeps;
            e->sum[i] += weight[s] * h * e->rate[i];
            e->stage[i] = e->z[i] + node[s] * h * e->rate[i];
        }
    }
    for (size_t i = 0; i < numbers; i++) e->z[i] += e->sum[i];
}

static void integrate(const ensemble *e, size_t substeps)
{
    const sock_data *data = e->job->data;
    memset(e->z, 0, e->count * e->q * sizeof *e->z);
    for (size_t i = 0; i < e->count; i++)
        memcpy(e->z + i * e->q, data->x + e->job->start[e->interval[i]] * e->d, e->d * sizeof *e->z);
    for (size_t k = 0; k < substeps; k++) substep(e, substeps, k);
}

/* ---- Steps 2 and 3: who is settled ---- */

/* A variance below 0 comes from too few substeps. */
static sk_fate density(const ensemble *e, size_t i, double *out)
{
    double *m = e->z + i * e->q;
    const double *y = e->job->data->x + (e->job->start[e->interval[i]] + 1) * e->d;
    for (size_t k = 0; k < e->d; k++) m[k] = y[k] - m[k];
    for (size_t k = 0; k < e->d; k++)
        if (m[e->d + k * e->d + k] < 0) return SK_FATE_UNSETTLED;
    return sk_gauss_density(e->d, e->job->delta, m + e->d, m, out);
}

/* Whether the interval needs no more substeps. term and fate come in with what half of them gave. */
static bool settle(const ensemble *e, size_t i, size_t substeps)
{
    double *term = &e->job->term[e->interval[i]], value = 0;
    unsigned char *fate = &e->job->fate[e->interval[i]];
    const sk_fate before = (sk_fate)*fate, now = density(e, i, &value);
    const double move = value - *term, size = (double)e->d + fabs(value);
    const bool both = substeps > 1 && before == SK_FATE_GOOD && now == SK_FATE_GOOD;
    const bool last = substeps >= (e->d > FEW_DIMENSIONS ? MOST_IN_MANY : MOST);
    const bool near = both && fabs(move) <= AIM * size, enough = both && fabs(move) <= ENOUGH * size;
    *term = near || (last && enough) ? value + move / 15 : value;
    *fate = (unsigned char)(last && now == SK_FATE_GOOD && !enough ? SK_FATE_UNSETTLED : now);
    return near || last || ((now == SK_FATE_SINGULAR || now == SK_FATE_BROKEN) && substeps >= GIVEN_UP_AT);
}

static ensemble make_ensemble(const sk_step_job *job, double *space, size_t *interval)
{
    const size_t d = job->data->d, q = d + d * d, most = intervals_at_once(d), points = points_of(d) * most;
    ensemble e = {.job = job, .d = d, .in = sk_model_in(job->model), .q = q, .interval = interval};
    e.z = space;
    e.stage = e.z + most * q;
    e.rate = e.stage + most * q;
    e.sum = e.rate + most * q;
    e.root = e.sum + most * q;
    e.sign = e.root + most * d * d;
    e.skew = e.sign + most * d;
    e.matrix = e.skew + most * d;
    e.x = e.matrix + d * d;
    e.f = e.x + points * e.in;
    e.a = e.f + points * d;
    e.space = e.a + points * d * d;
    return e;
}

static size_t moment_space(const sock_model *model, size_t d)
{
    const size_t most = intervals_at_once(d), points = points_of(d) * most;
    return most * (6 * d + 5 * d * d) + d * d + points * (d + sk_model_in(model) + d * d) +
           sk_model_space(model, points);
}

static sock_status moment_range(void *arg, size_t begin, size_t end, int worker)
{
    const sk_step_job *job = arg;
    size_t interval[EVALUATED];
    ensemble e = make_ensemble(job, job->space + (size_t)worker * job->space_each, interval);
    for (size_t i = begin; i < end; i++) interval[e.count++] = i;
    for (size_t substeps = 1; e.count; substeps *= 2) {
        size_t left = 0;
        if (sk_cancelled(job->ctx)) return sk_fail(job->ctx, SOCK_ECANCELLED, "interrupted during score");
        integrate(&e, substeps);
        for (size_t i = 0; i < e.count; i++)
            if (!settle(&e, i, substeps)) interval[left++] = interval[i];
        e.count = left;
    }
    return SOCK_OK;
}

static sock_status follow(sk_step_job job, sk_loglik *out)
{
    job.space_each = moment_space(job.model, job.data->d);
    return sk_step_likelihood(&job, intervals_at_once(job.data->d), moment_range, out);
}

sock_status sk_moment_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                                 sk_loglik *out)
{
    return follow((sk_step_job){.ctx = ctx, .model = model, .data = data, .delta = delta}, out);
}

sock_status sk_moment_terms(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                            double *term)
{
    sk_loglik sum;
    return follow((sk_step_job){.ctx = ctx, .model = model, .data = data, .delta = delta, .keep = term}, &sum);
}

/* ---- The laws by themselves ---- */

typedef struct law_job {
    sk_step_job step;
    double *mean, *var;
} law_job;

static sock_status law_range(void *arg, size_t begin, size_t end, int worker)
{
    const law_job *job = arg;
    size_t interval[EVALUATED];
    ensemble e = make_ensemble(&job->step, job->step.space + (size_t)worker * job->step.space_each, interval);
    if (sk_cancelled(job->step.ctx)) return sk_fail(job->step.ctx, SOCK_ECANCELLED, "interrupted during the evidence");
    for (size_t i = begin; i < end; i++) interval[e.count++] = i;
    integrate(&e, OF_A_LAW);
    for (size_t i = 0; i < e.count; i++) {
        const double *m = e.z + i * e.q;
        memcpy(job->mean + (begin + i) * e.d, m, e.d * sizeof *m);
        for (size_t k = 0; k < e.d; k++) job->var[(begin + i) * e.d + k] = m[e.d + k * (e.d + 1)];
    }
    return SOCK_OK;
}

sock_status sk_moment_laws(sock_context *ctx, const sock_model *model, const sock_data *data, size_t count,
                           size_t *start, double *mean, double *var)
{
    law_job job = {{.ctx = ctx, .model = model, .data = data, .start = start}, mean, var};
    SK_TRY(sk_inputs_find(ctx, model, data, &job.step.input));
    job.step.space_each = moment_space(model, data->d);
    job.step.space = sk_doubles_unset(ctx, (size_t)sk_workers(ctx), job.step.space_each);
    sock_status status = job.step.space ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_parallel_for(ctx, count, intervals_at_once(data->d), law_range, &job);
    sk_free(job.step.space);
    sk_free(job.step.input);
    return status;
}
