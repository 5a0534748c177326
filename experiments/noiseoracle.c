/* noiseoracle.c - see noiseoracle.h.
 *
 *   1. A filter: mean and covariance of a step by sigma points and Heun's rule, then the observation.
 *   2. Derivatives of the log density of each step in each weight (and log R_kk), by differences.
 *   3. Steps of Berndt, Hall, Hall and Hausman: the sum of the products of these derivatives is the information. */
#include "experiments/noiseoracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = NOISE_MOST_DIM, DD = D * D, MOST = NOISE_MOST_WEIGHTS + D, PASSES = 30, FINEST = 100 };

typedef struct oracle {
    const noise_paths *p;
    const double *y;
    double shake; /* least spread of the sigma points */
    size_t substeps, weights, noises;
    double *term, *slope; /* steps; weights x steps */
} oracle;

/* What is looked for: weights, then log R_kk. */
typedef struct guess {
    double value[MOST];
} guess;

/* ---- Small matrices ---- */

/* Lower factor of a (d x d); 0: not positive definite. */
static int factor(size_t d, const double *a, double *c)
{
    memset(c, 0, d * d * sizeof *c);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * d + j];
            for (size_t k = 0; k < j; k++) sum -= c[i * d + k] * c[j * d + k];
            if (i == j && !(sum > 0)) return 0;
            c[i * d + j] = i == j ? sqrt(sum) : sum / c[j * d + j];
        }
    return 1;
}

/* b := (C C')^-1 b. */
static void back(size_t d, const double *c, double *b)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= c[i * d + k] * b[k];
        b[i] /= c[i * (d + 1)];
    }
    for (size_t i = d; i-- > 0;) {
        for (size_t k = i + 1; k < d; k++) b[i] -= c[k * d + i] * b[k];
        b[i] /= c[i * (d + 1)];
    }
}

/* ---- A step ---- */

typedef struct law {
    double mean[D], cov[DD];
} law;

/* Rates of mean and covariance under the law; 0: it has no law. */
static int rates(const oracle *o, const noise_instance *model, const law *at, law *out)
{
    const size_t d = o->p->system->d;
    const double r = sqrt(fmax((double)d, 3)), weight = 0.5 / (r * r), centre = 1 - (double)d / (r * r);
    double c[DD], wide[DD], x[D], f[2][D], a[DD];
    memcpy(wide, at->cov, d * d * sizeof *wide);
    for (size_t k = 0; k < d; k++) wide[k * (d + 1)] += o->shake * o->shake;
    if (!factor(d, wide, c)) return 0;
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < d; k++) {
        for (int side = 0; side < 2; side++) {
            for (size_t l = 0; l < d; l++) x[l] = at->mean[l] + (side ? -r : r) * c[l * d + k];
            noise_instance_fields(model, x, f[side], a);
            for (size_t l = 0; l < d; l++) out->mean[l] += weight * f[side][l];
            for (size_t l = 0; l < d * d; l++) out->cov[l] += weight * a[l];
        }
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                out->cov[i * d + j] +=
                    ((f[0][i] - f[1][i]) * c[j * d + k] + (f[0][j] - f[1][j]) * c[i * d + k]) / (2 * r);
    }
    if (centre > 0) {
        noise_instance_fields(model, at->mean, f[0], a);
        for (size_t l = 0; l < d; l++) out->mean[l] += centre * f[0][l];
        for (size_t l = 0; l < d * d; l++) out->cov[l] += centre * a[l];
    }
    return 1;
}

static void go(size_t d, double dt, const law *rate, law *at)
{
    for (size_t k = 0; k < d; k++) at->mean[k] += dt * rate->mean[k];
    for (size_t k = 0; k < d * d; k++) at->cov[k] += dt * rate->cov[k];
}

static int flow(const oracle *o, const noise_instance *model, law *at)
{
    const size_t d = o->p->system->d;
    const double dt = o->p->h / (double)o->substeps;
    for (size_t i = 0; i < o->substeps; i++) {
        law one, two, ahead = *at;
        if (!rates(o, model, at, &one)) return 0;
        go(d, dt, &one, &ahead);
        if (!rates(o, model, &ahead, &two)) return 0;
        go(d, dt / 2, &one, at);
        go(d, dt / 2, &two, at);
    }
    return 1;
}

/* at becomes the law given y; the log density of y, or -infinity. */
static double observe(size_t d, const double *y, const double *noise, law *at)
{
    double s[DD], c[DD], e[D], gain[DD], u[D], sum = 0;
    memcpy(s, at->cov, d * d * sizeof *s);
    for (size_t k = 0; k < d; k++) s[k * (d + 1)] += noise[k];
    if (!factor(d, s, c)) return -(double)INFINITY;
    for (size_t k = 0; k < d; k++) e[k] = u[k] = y[k] - at->mean[k];
    back(d, c, u);
    for (size_t k = 0; k < d; k++) sum += e[k] * u[k] + 2 * log(c[k * (d + 1)]) + 1.8378770664093454836 /* log 2 pi */;
    for (size_t k = 0; k < d; k++) { /* rows of the gain: S^-1 times columns of cov */
        memcpy(gain + k * d, at->cov + k * d, d * sizeof *gain);
        back(d, c, gain + k * d);
    }
    memcpy(s, at->cov, d * d * sizeof *s);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            at->mean[k] += gain[k * d + l] * e[l];
            for (size_t j = 0; j < d; j++) at->cov[k * d + l] -= gain[k * d + j] * s[j * d + l];
        }
    return -0.5 * sum;
}

/* ---- The likelihood ---- */

static void begin(size_t d, const double *y, const double *noise, law *at)
{
    memset(at, 0, sizeof *at);
    memcpy(at->mean, y, d * sizeof *y);
    for (size_t k = 0; k < d; k++) at->cov[k * (d + 1)] = noise[k];
}

static double filter(const oracle *o, const guess *g, double *term)
{
    const size_t d = o->p->system->d, steps = o->p->points - 1;
    noise_instance model = {.system = o->p->system};
    double noise[D] = {0}, sum = 0;
    memcpy(model.weight, g->value, o->weights * sizeof *model.weight);
    for (size_t k = 0; k < o->noises; k++) noise[k] = exp(g->value[o->weights + k]);
    for (size_t j = 0; j < o->p->paths; j++) {
        const double *y = o->y + j * o->p->points * d;
        law at;
        begin(d, y, noise, &at);
        for (size_t i = 0; i < steps; i++) {
            double *one = term + j * steps + i;
            *one = flow(o, &model, &at) ? observe(d, y + (i + 1) * d, noise, &at) : -(double)INFINITY;
            sum += *one;
            if (!isfinite(sum)) return -(double)INFINITY;
            if (o->noises == 0) begin(d, y + (i + 1) * d, noise, &at); /* no rounding stays in the covariance */
        }
    }
    return sum;
}

/* ---- The maximum ---- */

/* Derivatives of all steps; 0: there are none. */
static int differentiate(const oracle *o, const guess *g, double *work)
{
    const size_t n = o->p->paths * (o->p->points - 1);
    for (size_t k = 0; k < o->weights + o->noises; k++) {
        const double by = k < o->weights ? 1e-4 * fmax(fabs(g->value[k]), 0.05) : 1e-3;
        guess moved = *g;
        moved.value[k] += by;
        if (!isfinite(filter(o, &moved, work))) return 0;
        for (size_t i = 0; i < n; i++) o->slope[k * n + i] = (work[i] - o->term[i]) / by;
    }
    return 1;
}

/* step := H^-1 g; the gain that it promises. */
static double newton(const oracle *o, double *step)
{
    const size_t n = o->p->paths * (o->p->points - 1), count = o->weights + o->noises;
    double h[MOST * MOST] = {0}, c[MOST * MOST], g[MOST], gain = 0;
    for (size_t k = 0; k < count; k++) {
        g[k] = 0;
        for (size_t i = 0; i < n; i++) g[k] += o->slope[k * n + i];
        for (size_t l = 0; l <= k; l++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += o->slope[k * n + i] * o->slope[l * n + i];
            h[k * count + l] = h[l * count + k] = sum * (k == l ? 1 + 1e-9 : 1);
        }
    }
    if (!factor(count, h, c)) return 0;
    memcpy(step, g, count * sizeof *step);
    back(count, c, step);
    for (size_t k = 0; k < count; k++) gain += 0.5 * g[k] * step[k];
    return gain;
}

/* Goes by the first of 1, 1/2, .. 1/64 of the step that gains; 0: none does. */
static int climb(const oracle *o, const double *step, double *work, double *sum, guess *g)
{
    for (int halvings = 0; halvings <= 6; halvings++) {
        const double share = ldexp(1, -halvings);
        guess next = *g;
        for (size_t k = 0; k < o->weights + o->noises; k++) next.value[k] += share * step[k];
        const double value = filter(o, &next, work);
        if (!(value > *sum)) continue;
        *g = next;
        *sum = value;
        memcpy(o->term, work, o->p->paths * (o->p->points - 1) * sizeof *work);
        return 1;
    }
    return 0;
}

static void maximise(const oracle *o, double *work, guess *g)
{
    static const double enough = 0.005; /* nats: a tenth of a standard error */
    double step[MOST] = {0}, sum = filter(o, g, o->term);
    for (int i = 0; i < PASSES && isfinite(sum); i++) {
        if (!differentiate(o, g, work) || newton(o, step) < enough) return;
        if (!climb(o, step, work, &sum, g)) return;
    }
}

sock_status noise_oracle(const noise_paths *p, const double *y, const double *variance, noise_instance *out)
{
    const noise_system *s = p->system;
    const size_t n = p->paths * (p->points - 1);
    oracle o = {.p = p,
                .y = y,
                .shake = 1e-4,
                .substeps = (size_t)ceil(p->h / s->tau - 1e-9),
                .weights = s->drifts + s->diffusions,
                .noises = variance ? s->d : 0};
    guess g = {0};
    double *work = calloc(n, sizeof *work);
    o.term = calloc(n, sizeof *o.term);
    o.slope = malloc((o.weights + o.noises) * n * sizeof *o.slope);
    const int lacking = !work || !o.term || !o.slope;
    memcpy(g.value, s->weight, o.weights * sizeof *g.value);
    for (size_t k = 0; k < o.noises; k++) g.value[o.weights + k] = log(variance[k]);
    while (!lacking && o.substeps < FINEST && !isfinite(filter(&o, &g, o.term))) o.substeps *= 2;
    if (!lacking) maximise(&o, work, &g);
    out->system = s;
    memcpy(out->weight, g.value, o.weights * sizeof *out->weight);
    free(work);
    free(o.term);
    free(o.slope);
    return lacking ? SOCK_ENOMEM : SOCK_OK;
}
