/* structuresecond.c - positions whose velocities are not observed: is the force as good as with the velocities given,
 * and a right on average? A claim is a known oscillator by its name, without and with measurement noise. Beside it:
 * cubic regression on the true velocities (left rule), and what differences make of a. */
#include "experiments/structureclaims.h"
#include "systems/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 10 };

static const double NOISE = 0.02; /* standard deviation, of the noisy claims */

typedef struct data_sets {
    sys_system both; /* the system with its velocities among the states */
    sys_instance *instance;
    sock_data *train, *test; /* (q, v) */
    sock_data *seen;         /* q, with noise or without */
    sock_model *truth, *model;
} data_sets;

static void clear(data_sets *d)
{
    sock_model_free(d->model);
    sock_model_free(d->truth);
    sock_data_free(d->train);
    sock_data_free(d->test);
    sock_data_free(d->seen);
    sys_free(d->instance);
}

static void still(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

static void unit(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 1;
}

/* Independent normal numbers, as steps of Brownian motions. */
static sock_status normals(sock_context *ctx, size_t count, uint64_t seed, double *out)
{
    const double t[2] = {0, 1};
    sock_model *brownian = NULL;
    double *zero = calloc(count, sizeof *zero), *both = calloc(2 * count, sizeof *both);
    sock_status status = zero && both ? sock_model_wrap(ctx, 1, NULL, still, unit, NULL, &brownian) : SOCK_ENOMEM;
    const sock_simulation spec = {.starts = count, .x0 = zero, .paths = 1, .times = 2, .t = t, .step = 1, .seed = seed};
    if (status >= 0) status = sock_simulate(ctx, brownian, &spec, both, NULL, NULL);
    for (size_t i = 0; status >= 0 && i < count; i++) out[i] = both[2 * i + 1];
    sock_model_free(brownian);
    free(zero), free(both);
    return status;
}

/* The positions of (q, v), with noise of so much standard deviation. */
static sock_status observe(sock_context *ctx, const sock_data *both, double sd, uint64_t seed, sock_data **out)
{
    const size_t count = sock_data_trajectories(both), points = sock_data_points(both);
    size_t *length = calloc(count, sizeof *length), at = 0;
    double *t = calloc(points, sizeof *t), *q = calloc(points, sizeof *q), *e = calloc(points, sizeof *e);
    const char *name = "q";
    sock_status status = length && t && q && e ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && sd > 0) status = normals(ctx, points, seed, e);
    for (size_t j = 0; status >= 0 && j < count; j++) {
        const double *own_t, *own_x;
        length[j] = sock_data_trajectory(both, j, &own_t, &own_x);
        for (size_t i = 0; i < length[j]; i++, at++) {
            t[at] = own_t[i];
            q[at] = own_x[2 * i] + sd * e[at];
        }
    }
    if (status >= 0) status = sock_data_from_arrays(ctx, 1, count, length, t, q, &name, NULL, NULL, out);
    free(length), free(t), free(q), free(e);
    return status;
}

static sock_status make(sock_context *ctx, const char *name, uint64_t seed, double sd, data_sets *d)
{
    const sys_system *system = sys_find(name);
    sock_status status = sys_new(ctx, system, seed, &d->instance);
    if (status >= 0) status = sys_truth(ctx, d->instance, &d->truth);
    if (status < 0) return status;
    d->both = *system;
    d->both.order = 0;
    d->instance->system = &d->both;
    status = sys_generate(ctx, d->instance, SYS_TRAIN, &d->train);
    if (status >= 0) status = sys_generate(ctx, d->instance, SYS_TEST, &d->test);
    if (status >= 0) status = observe(ctx, d->train, sd, seed, &d->seen);
    return status;
}

/* ---- The velocities given ---- */

static void cubic(const double *x, double *phi)
{
    size_t at = 0;
    for (int i = 0; i <= 3; i++)
        for (int j = 0; i + j <= 3; j++) phi[at++] = pow(x[0], i) * pow(x[1], j);
}

/* x := A^-1 x by elimination, A symmetric and positive definite. */
static void solve(double *a, double *x)
{
    for (size_t k = 0; k < TERMS; k++)
        for (size_t i = k + 1; i < TERMS; i++) {
            const double factor = a[i * TERMS + k] / a[k * TERMS + k];
            for (size_t j = k; j < TERMS; j++) a[i * TERMS + j] -= factor * a[k * TERMS + j];
            x[i] -= factor * x[k];
        }
    for (size_t k = TERMS; k-- > 0;) {
        for (size_t j = k + 1; j < TERMS; j++) x[k] -= a[k * TERMS + j] * x[j];
        x[k] /= a[k * TERMS + k];
    }
}

/* Weights of the force; *naive: the mean of a by second differences of the positions. */
static void regress(const sock_data *both, double *weight, double *naive)
{
    double gram[TERMS * TERMS] = {0}, phi[TERMS], count = 0;
    memset(weight, 0, TERMS * sizeof *weight);
    *naive = 0;
    for (size_t j = 0; j < sock_data_trajectories(both); j++) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(both, j, &t, &x);
        for (size_t i = 0; i + 2 < length; i++) {
            const double h = t[i + 1] - t[i], *at = x + 2 * i;
            cubic(at, phi);
            for (size_t a = 0; a < TERMS; a++) {
                weight[a] += phi[a] * (at[3] - at[1]) / h;
                for (size_t b = 0; b < TERMS; b++) gram[a * TERMS + b] += phi[a] * phi[b];
            }
            *naive += pow(at[4] - 2 * at[2] + at[0], 2) / (h * h * h);
            count++;
        }
    }
    *naive /= count;
    solve(gram, weight);
}

/* ---- Errors ---- */

typedef struct errors {
    double re_f, re_a, mean; /* per cent; mean: of a over that of the truth */
    double re_given;         /* with the velocities given */
} errors;

static sock_status find_errors(sock_context *ctx, const data_sets *d, const double *weight, errors *out)
{
    const size_t n = sock_data_points(d->test);
    double *x = calloc(2 * n, sizeof *x), *f = calloc(4 * n, sizeof *f), *a = calloc(8 * n, sizeof *a);
    double *force = calloc(3 * n, sizeof *force), phi[TERMS], mean[2] = {0};
    size_t at = 0;
    sock_status status = x && f && a && force ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < sock_data_trajectories(d->test); j++) {
        const double *t, *own;
        const size_t length = sock_data_trajectory(d->test, j, &t, &own);
        memcpy(x + 2 * at, own, 2 * length * sizeof *x);
        at += length;
    }
    if (status >= 0) status = sock_model_drift(ctx, d->truth, n, x, f);
    if (status >= 0) status = sock_model_drift(ctx, d->model, n, x, f + 2 * n);
    if (status >= 0) status = sock_model_diffusion(ctx, d->truth, n, x, a);
    if (status >= 0) status = sock_model_diffusion(ctx, d->model, n, x, a + 4 * n);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        cubic(x + 2 * i, phi);
        force[i] = f[2 * i + 1];
        force[n + i] = f[2 * n + 2 * i + 1];
        for (size_t k = 0; k < TERMS; k++) force[2 * n + i] += phi[k] * weight[k];
        mean[0] += a[4 * i + 3];
        mean[1] += a[4 * n + 4 * i + 3];
    }
    if (status >= 0)
        *out = (errors){claim_percent(n, force, force + n), claim_percent(4 * n, a, a + 4 * n),
                        100 * (mean[1] / mean[0] - 1), claim_percent(n, force, force + 2 * n)};
    free(x), free(f), free(a), free(force);
    return status;
}

static sock_status fit(sock_context *ctx, const sock_data *data, sock_model **out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? sock_options_set(ctx, opts, "order", "2") : SOCK_ENOMEM;
    if (status >= 0) status = sock_fit(ctx, data, opts, out);
    sock_options_free(opts);
    return status;
}

/* One oscillator with noise of so much standard deviation. */
static sock_status measure_one(sock_context *ctx, const char *system, double sd, const claim_teller *to)
{
    const char *name = sd > 0 ? "with noise" : "default";
    double weight[TERMS], naive, noise[4] = {0};
    data_sets d = {0};
    errors e = {0};
    sock_status status = make(ctx, system, to->seed, sd, &d);
    if (status >= 0) status = fit(ctx, d.seen, &d.model);
    if (status >= 0) {
        regress(d.train, weight, &naive);
        status = find_errors(ctx, &d, weight, &e);
    }
    if (status >= 0) status = claim_tell(to, name, "RE_F, %", e.re_f, NAN, CLAIM_NONE);
    if (status >= 0) status = claim_tell(to, name, "RE_F over that with v", e.re_f / e.re_given, 1.3, CLAIM_MEDIAN);
    if (status >= 0) status = claim_tell(to, name, "RE_a, %", e.re_a, NAN, CLAIM_NONE);
    if (status >= 0) status = claim_tell(to, name, "mean of a, % off", fabs(e.mean), sd > 0 ? 6 : 5, CLAIM_MEDIAN);
    if (status >= 0) sock_model_noise(d.model, noise);
    if (status >= 0) status = claim_tell(to, name, "sd of noise", sqrt(noise[0]), NAN, CLAIM_NONE);
    if (status >= 0 && !(sd > 0)) {
        status = claim_tell(to, "velocities given", "RE_F, %", e.re_given, NAN, CLAIM_NONE);
        if (status >= 0) status = claim_tell(to, "second differences", "mean of a", naive, NAN, CLAIM_NONE);
    }
    clear(&d);
    return status;
}

static sock_status measure(sock_context *ctx, const structure_claim *claim, const claim_teller *to)
{
    const sock_status status = measure_one(ctx, claim->name, 0, to);
    return status < 0 ? status : measure_one(ctx, claim->name, NOISE, to);
}

const structure_claim structure_second[] = {
    {"pendulum", 10, 1, measure}, {"duffing", 10, 0, measure}, {"vanderpol", 10, 0, measure}, {NULL, 0, 0, NULL}};
