/* kernelmean.c - Nadaraya-Watson estimates of the Kramers-Moyal coefficients, the simple baseline of one to three
 * dimensions:
 *
 *   f(x) = sum_i w_i(x) dx_i / sum_i w_i(x) h_i
 *   a(x) = sum_i v_i(x) r_i r_i' / h_i / sum_i v_i(x),   r_i = dx_i - h_i f(x_i)
 *
 * w and v are Gaussian weights of the distance to where step i begins, each with a bandwidth of its own. a is positive
 * semi-definite as a mean of such matrices. Steps never cross a trajectory's end, and the drift is taken out of a.
 *
 *   1. bandwidths: multiples of Scott's rule, each judged on held-out steps (five folds of trajectories): f by squared
 *      error, a by the Gaussian likelihood
 *   2. both fields on a grid over the box of the data; between its nodes linear in every coordinate, outside the value
 *      at the nearest point of the box
 *
 * Cost: O(steps (nodes + judged steps)), and O(2^d) for a value afterwards. */
#include "compare/kernelmean.h"

#include "compare/compare.h"
#include "compare/steprows.h"
#include "la/la.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DIM = CMP_MEAN_MOST_DIM, FOLDS = 5, CANDIDATES = 7, MOST_JUDGED = 1000 };
static const double factors[CANDIDATES] = {0.25, 0.5, 1, 2, 4, 8, 16};
static const size_t nodes_along[MOST_DIM + 1] = {0, 2049, 129, 33};

/* ---- Weighted means ---- */

/* Rows of values whose mean is wanted: value (count x columns) over mass (count). */
typedef struct mean_job {
    const cmp_steps *steps;
    size_t columns;
    const double *value, *mass;
    const size_t *fold; /* of each step */
    double *space;      /* count */
} mean_job;

/* The mean at x over the steps that are not in fold `without` (FOLDS: over all). The nearest step has weight 1, so that
 * the sum is never empty. */
static void mean_at(const mean_job *job, const double *x, const double *bandwidth, size_t without, double *out)
{
    const cmp_steps *s = job->steps;
    double nearest = (double)INFINITY, mass = 0;
    for (size_t i = 0; i < s->count; i++) {
        double square = 0;
        for (size_t k = 0; k < s->d; k++) {
            double u = (s->x[i * s->d + k] - x[k]) / bandwidth[k];
            square += u * u;
        }
        job->space[i] = job->fold[i] == without ? (double)INFINITY : 0.5 * square;
        nearest = fmin(nearest, job->space[i]);
    }
    for (size_t i = 0; i < s->count; i++) job->space[i] = fmax(nearest - job->space[i], -700);
    sk_vexp(s->count, job->space, job->space);
    memset(out, 0, job->columns * sizeof *out);
    for (size_t i = 0; i < s->count; i++) {
        double w = job->fold[i] == without ? 0 : job->space[i];
        if (w < 1e-300) continue;
        mass += w * job->mass[i];
        for (size_t j = 0; j < job->columns; j++) out[j] += w * job->value[i * job->columns + j];
    }
    for (size_t j = 0; j < job->columns; j++) out[j] /= mass;
}

/* ---- Step 1: bandwidths ---- */

/* Scott's rule in each coordinate; a coordinate that does not vary has bandwidth 1. */
static void rule_of_thumb(const cmp_steps *s, double *bandwidth)
{
    for (size_t k = 0; k < s->d; k++) {
        bandwidth[k] = cmp_steps_deviation(s, k) * pow((double)s->count, -1.0 / (double)(s->d + 4));
        if (!(bandwidth[k] > 0)) bandwidth[k] = 1;
    }
}

/* Whole trajectories go to one fold; with fewer than five of them, stretches of steps do. */
static void deal_folds(const cmp_steps *s, size_t *fold)
{
    bool whole = s->trajectories >= FOLDS;
    for (size_t i = 0; i < s->count; i++) fold[i] = whole ? s->trajectory[i] % FOLDS : i * FOLDS / s->count;
}

/* Minus twice the log density of r under N(0, h a), without constants; infinite where a is singular. */
static double gaussian_loss(size_t d, double h, const double *r, const double *a)
{
    double c[MOST_DIM * MOST_DIM], u[MOST_DIM], loss = 0;
    for (size_t k = 0; k < d * d; k++) c[k] = h * a[k];
    if (sk_factor_small(d, 0, c)) return (double)INFINITY;
    for (size_t k = 0; k < d; k++) {
        if (!(c[k * d + k] > 0)) return (double)INFINITY; /* not a number */
        u[k] = r[k];
        for (size_t j = 0; j < k; j++) u[k] -= c[k * d + j] * u[j];
        u[k] /= c[k * d + k];
        loss += u[k] * u[k] + 2 * log(c[k * d + k]);
    }
    return loss;
}

/* Squared error of the drift in units of the step; or the likelihood of the residuals. */
static double loss_of(const mean_job *job, size_t i, const double *mean, const double *residual)
{
    const cmp_steps *s = job->steps;
    double loss = 0;
    if (residual) return gaussian_loss(s->d, s->h[i], residual + i * s->d, mean);
    for (size_t k = 0; k < s->d; k++) {
        double left = s->dx[i * s->d + k] - s->h[i] * mean[k];
        loss += left * left / s->h[i];
    }
    return loss;
}

/* The multiple of `rule` whose held-out loss is least; at most MOST_JUDGED steps are judged. residual: NULL for the
 * drift. Answers 0 when no multiple has a finite loss. */
static sock_status choose(sock_context *ctx, const mean_job *job, const double *residual, const double *rule,
                          double *out)
{
    const size_t stride = 1 + (job->steps->count - 1) / MOST_JUDGED;
    double best = (double)INFINITY, mean[MOST_DIM * MOST_DIM], bandwidth[MOST_DIM];
    *out = 0;
    for (int c = 0; c < CANDIDATES; c++) {
        double loss = 0;
        SK_TRY(sk_progress(ctx, "kernel means", -1));
        for (size_t k = 0; k < job->steps->d; k++) bandwidth[k] = factors[c] * rule[k];
        for (size_t i = 0; i < job->steps->count && loss < best; i += stride) {
            mean_at(job, job->steps->x + i * job->steps->d, bandwidth, job->fold[i], mean);
            loss += loss_of(job, i, mean, residual);
        }
        if (loss < best) best = loss, *out = factors[c];
    }
    return SOCK_OK;
}

/* ---- Step 2: fields on a grid ---- */

struct cmp_mean {
    size_t d, along, nodes;
    double lower[MOST_DIM], gap[MOST_DIM]; /* gap 0: the coordinate does not vary */
    double *f, *a;                         /* nodes x d, nodes x d x d */
};

void cmp_mean_free(void *mean)
{
    cmp_mean *m = mean;
    if (!m) return;
    sk_free(m->f);
    sk_free(m->a);
    sk_free(m);
}

/* The value at x from the 2^d nodes around it. */
static void interpolate(const cmp_mean *m, const double *x, size_t columns, const double *table, double *out)
{
    size_t cell[MOST_DIM];
    double share[MOST_DIM];
    for (size_t k = 0; k < m->d; k++) {
        double place = m->gap[k] > 0 ? (x[k] - m->lower[k]) / m->gap[k] : 0;
        place = place > 0 ? fmin(place, (double)(m->along - 1)) : 0; /* NaN: the lower end */
        cell[k] = SK_MIN((size_t)place, m->along - 2);
        share[k] = place - (double)cell[k];
    }
    memset(out, 0, columns * sizeof *out);
    for (size_t corner = 0; corner < (size_t)1 << m->d; corner++) {
        double weight = 1;
        size_t node = 0;
        for (size_t k = 0; k < m->d; k++) {
            size_t up = corner >> k & 1;
            weight *= up ? share[k] : 1 - share[k];
            node = node * m->along + cell[k] + up;
        }
        if (weight == 0) continue;
        for (size_t j = 0; j < columns; j++) out[j] += weight * table[node * columns + j];
    }
}

void cmp_mean_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const cmp_mean *m = user;
    for (size_t i = 0; i < count; i++) interpolate(m, x + i * d, d, m->f, f + i * d);
}

void cmp_mean_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const cmp_mean *m = user;
    for (size_t i = 0; i < count; i++) interpolate(m, x + i * d, d * d, m->a, a + i * d * d);
}

static sock_status fill_table(sock_context *ctx, const cmp_mean *m, const mean_job *job, const double *bandwidth,
                              double *table)
{
    double x[MOST_DIM];
    for (size_t node = 0; node < m->nodes; node++) {
        if (node % 64 == 0) SK_TRY(sk_progress(ctx, "kernel means", -1));
        for (size_t k = m->d, rest = node; k-- > 0; rest /= m->along)
            x[k] = m->lower[k] + m->gap[k] * (double)(rest % m->along);
        mean_at(job, x, bandwidth, FOLDS, table + node * job->columns);
    }
    return SOCK_OK;
}

static sock_status make_tables(sock_context *ctx, const cmp_steps *s, cmp_mean *m)
{
    m->d = s->d;
    m->along = nodes_along[s->d];
    m->nodes = 1;
    for (size_t k = 0; k < s->d; k++) {
        m->nodes *= m->along;
        m->lower[k] = s->lower[k];
        m->gap[k] = (s->upper[k] - s->lower[k]) / (double)(m->along - 1);
    }
    m->f = sk_doubles(ctx, m->nodes, s->d);
    m->a = sk_doubles(ctx, m->nodes, s->d * s->d);
    return m->f && m->a ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- All together ---- */

typedef struct mean_space {
    double *residual, *products, *ones, *space;
    size_t *fold;
} mean_space;

static sock_status make_space(sock_context *ctx, const cmp_steps *s, mean_space *w)
{
    w->residual = sk_doubles(ctx, s->count, s->d);
    w->products = sk_doubles(ctx, s->count, s->d * s->d);
    w->ones = sk_doubles(ctx, s->count, 1);
    w->space = sk_doubles(ctx, s->count, 1);
    w->fold = sk_alloc(ctx, s->count, sizeof *w->fold);
    if (!w->residual || !w->products || !w->ones || !w->space || !w->fold) return SOCK_ENOMEM;
    for (size_t i = 0; i < s->count; i++) w->ones[i] = 1;
    deal_folds(s, w->fold);
    return SOCK_OK;
}

static void free_space(mean_space *w)
{
    sk_free(w->residual);
    sk_free(w->products);
    sk_free(w->ones);
    sk_free(w->space);
    sk_free(w->fold);
}

/* r = dx - h f and r r' / h, with f from the table. */
static void make_residuals(const cmp_steps *s, const cmp_mean *m, mean_space *w)
{
    const size_t d = s->d;
    double f[MOST_DIM];
    for (size_t i = 0; i < s->count; i++) {
        double *r = w->residual + i * d;
        interpolate(m, s->x + i * d, d, m->f, f);
        for (size_t k = 0; k < d; k++) r[k] = s->dx[i * d + k] - s->h[i] * f[k];
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): data have d >= 1
        for (size_t k = 0; k < d * d; k++) w->products[i * d * d + k] = r[k / d] * r[k % d] / s->h[i];
    }
}

/* The bandwidth of one field: as given, by the rule, or judged. */
static sock_status take_bandwidth(sock_context *ctx, const mean_job *job, const double *residual,
                                  const cmp_mean_options *options, double *bandwidth)
{
    double factor = 1;
    rule_of_thumb(job->steps, bandwidth);
    if (isnan(options->bandwidth) && options->judged) SK_TRY(choose(ctx, job, residual, bandwidth, &factor));
    if (!(factor > 0)) factor = 1;
    for (size_t k = 0; k < job->steps->d; k++)
        bandwidth[k] = isnan(options->bandwidth) ? factor * bandwidth[k] : options->bandwidth;
    return SOCK_OK;
}

sock_status cmp_mean_fit(sock_context *ctx, const cmp_steps *s, const cmp_mean_options *options, cmp_mean **out,
                         double *drift_bandwidth, double *diffusion_bandwidth)
{
    mean_space w = {0};
    cmp_mean *m = sk_alloc(ctx, 1, sizeof *m);
    sock_status status = m ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) return status;
    SK_GO(make_space(ctx, s, &w));
    SK_GO(make_tables(ctx, s, m));
    const mean_job f = {s, s->d, s->dx, s->h, w.fold, w.space};
    const mean_job a = {s, s->d * s->d, w.products, w.ones, w.fold, w.space};
    SK_GO(take_bandwidth(ctx, &f, NULL, options, drift_bandwidth));
    SK_GO(fill_table(ctx, m, &f, drift_bandwidth, m->f));
    make_residuals(s, m, &w);
    SK_GO(take_bandwidth(ctx, &a, w.residual, options, diffusion_bandwidth));
    SK_GO(fill_table(ctx, m, &a, diffusion_bandwidth, m->a));
    *out = m;
    m = NULL;
out:
    cmp_mean_free(m);
    free_space(&w);
    return status;
}
