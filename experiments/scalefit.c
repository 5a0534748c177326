/* scalefit.c - the oracle's factors. Each system has coordinates in which its steps are Gaussian, exactly or nearly:
 *
 *   gbm     u = log|x|:            du = (mu - s^2/2) dt + s dW
 *   expdyn  u = int exp(x^2) dx:   du = (1 + s^2 x exp(-x^2)) dt + s dW, by Ito; the drift varies so little over a step
 *                                  that its value at the start serves (the variance is off by h s^2 at most, 1 %)
 *   dense   e = y_next - exp(h) y: E|e|^2 = h exp(2h) tr a(y) (1 + O(h |a|)), one scalar noise a step
 *
 * Their maximum likelihood estimates: the mean of the increments, and the mean square of what is left. */
#include "experiments/scalefit.h"

#include <math.h>
#include <string.h>

/* One step of a trajectory in such coordinates: u = h (constant + factor) + s sqrt(h) normal, s^2 true. */
typedef struct step {
    double h, u, constant, variance; /* variance: of the true process, h s^2 */
} step;

typedef step (*step_fn)(const double *p, double h, const double *y, const double *next);

static step gbm_step(const double *p, double h, const double *y, const double *next)
{
    double s2 = p[1] * p[1];
    return (step){h, log(next[0] / y[0]) / p[0], -0.5 * s2 / p[0], h * s2 / (p[0] * p[0])};
}

/* int exp(x^2) dx over a step by Gauss-Legendre with 5 nodes. */
static step expdyn_step(const double *p, double h, const double *y, const double *next)
{
    static const double node[] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640, -0.9061798459386640};
    static const double weight[] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891,
                                    0.2369268850561891};
    double middle = 0.5 * (y[0] + next[0]), half = 0.5 * (next[0] - y[0]), u = 0, s2 = p[0] * p[0];
    for (int k = 0; k < 5; k++) {
        double x = middle + half * node[k];
        u += half * weight[k] * exp(x * x);
    }
    return (step){h, u, s2 * y[0] * exp(-y[0] * y[0]), h * s2};
}

typedef struct totals {
    double time, count, u, square; /* of h; of steps; of u - h constant; of its square over the variance */
    double cross;                  /* of (u - h constant) h over the variance: for the mean to be taken off */
    double h2;                     /* of h^2 over the variance */
} totals;

static void add_step(const step *s, totals *sum)
{
    double r = s->u - s->h * s->constant;
    sum->time += s->h;
    sum->count += 1;
    sum->u += r;
    sum->square += r * r / s->variance;
    sum->cross += r * s->h / s->variance;
    sum->h2 += s->h * s->h / s->variance;
}

static void add_trajectory(const sys_instance *instance, step_fn fn, const sock_data *data, size_t j, totals *sum)
{
    const double *t, *x;
    size_t d = sock_data_dim(data), length = sock_data_trajectory(data, j, &t, &x);
    for (size_t i = 0; i + 1 < length; i++) {
        step s = fn(instance->parameter, t[i + 1] - t[i], x + i * d, x + (i + 1) * d);
        add_step(&s, sum);
    }
}

/* Mean and mean square: the factor of f, and that of a with the factor of f put in. */
static void fit_gaussian(step_fn fn, const sock_data *data, exp_oracle *oracle)
{
    totals sum = {0};
    for (size_t j = 0; j < sock_data_trajectories(data); j++) add_trajectory(oracle->instance, fn, data, j, &sum);
    double c = sum.u / sum.time;
    oracle->drift = c;
    oracle->diffusion = (sum.square - 2 * c * sum.cross + c * c * sum.h2) / sum.count;
}

static void fit_dense(const sock_data *data, exp_oracle *oracle)
{
    double sum = 0, a[4];
    size_t count = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++, count++) {
            const double *y = x + 2 * i, *next = y + 2, h = t[i + 1] - t[i];
            double e0 = next[0] - exp(h) * y[0], e1 = next[1] - exp(h) * y[1];
            oracle->instance->system->diffusion((void *)(uintptr_t)oracle->instance, 1, 2, y, a);
            sum += (e0 * e0 + e1 * e1) / (h * exp(2 * h) * (a[0] + a[3]));
        }
    }
    oracle->drift = 1;
    oracle->diffusion = sum / (double)count;
}

static void scaled_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const exp_oracle *oracle = user;
    oracle->instance->system->drift((void *)(uintptr_t)oracle->instance, count, d, x, f);
    for (size_t i = 0; i < count * d; i++) f[i] *= oracle->drift;
}

static void scaled_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const exp_oracle *oracle = user;
    oracle->instance->system->diffusion((void *)(uintptr_t)oracle->instance, count, d, x, a);
    for (size_t i = 0; i < count * d * d; i++) a[i] *= oracle->diffusion;
}

int exp_oracle_exists(const char *system)
{
    return strcmp(system, "gbm") == 0 || strcmp(system, "expdyn") == 0 || strcmp(system, "dense") == 0;
}

sock_status exp_oracle_fit(sock_context *ctx, const sys_instance *instance, const sock_data *data, exp_oracle *oracle,
                           sock_model **out)
{
    const sys_system *system = instance->system;
    oracle->instance = instance;
    if (strcmp(system->name, "dense") == 0)
        fit_dense(data, oracle);
    else
        fit_gaussian(strcmp(system->name, "gbm") == 0 ? gbm_step : expdyn_step, data, oracle);
    return sock_model_wrap(ctx, system->d, system->names, scaled_drift, scaled_diffusion, oracle, out);
}
