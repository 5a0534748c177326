/* noisesystems.c - see noisesystems.h. Paths come from the library's own simulation of the true fields. */
#include "experiments/noisesystems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Fields ---- */

static void linear_f(size_t d, const double *w, const double *x, double *f)
{
    for (size_t k = 0; k < d; k++) {
        f[k] = 0;
        for (size_t l = 0; l < d; l++) f[k] += w[k * d + l] * x[l];
    }
}

static void constant1_a(size_t d, const double *w, const double *x, double *a)
{
    (void)x;
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = w[k];
}

static void constant2_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    (void)x;
    a[0] = w[0];
    a[1] = a[2] = w[1];
    a[3] = w[2];
}

/* a_kk = w + w x_k^2. */
static void own_square_a(size_t d, const double *w, const double *x, double *a)
{
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = w[2 * k] + w[2 * k + 1] * x[k] * x[k];
}

static void well_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * x[0] + w[1] * x[0] * x[0] * x[0];
}

static void bump_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    a[0] = w[0] + w[1] / (1 + x[0] * x[0]);
}

static void square_a(size_t d, const double *w, const double *x, double *a)
{
    for (size_t k = 0; k < d; k++) a[k * (d + 1)] = w[k] * x[k] * x[k];
}

static void exponential_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * exp(-x[0] * x[0]);
}

static void exponential_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    a[0] = w[0] * exp(-2 * x[0] * x[0]);
}

static void vanderpol_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * x[1];
    f[1] = w[1] * x[1] + w[2] * x[0] * x[0] * x[1] + w[3] * x[0];
}

static void vanderpol_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    a[0] = w[0];
    a[3] = w[1] + w[2] * x[0] * x[0];
}

static void maierstein_f(size_t d, const double *w, const double *x, double *f)
{
    const double u = x[0], v = x[1];
    (void)d;
    f[0] = w[0] * u + w[1] * u * u * u + w[2] * u * v * v;
    f[1] = w[3] * v + w[4] * u * u * v;
}

static void maierstein_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    a[0] = w[0] + w[1] * x[1] * x[1];
    a[3] = w[2] + w[3] * x[0] * x[0];
}

static void lorenz63_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * x[0] + w[1] * x[1];
    f[1] = w[2] * x[0] + w[3] * x[0] * x[2] + w[4] * x[1];
    f[2] = w[5] * x[0] * x[1] + w[6] * x[2];
}

static void lorenz96_f(size_t d, const double *w, const double *x, double *f)
{
    for (size_t k = 0; k < d; k++) {
        const double *u = w + 4 * k, before = x[(k + d - 1) % d];
        f[k] = u[0] * x[(k + 1) % d] * before + u[1] * x[(k + d - 2) % d] * before + u[2] * x[k] + u[3];
    }
}

/* Each drawn to rest and to its neighbours. */
static void chain_f(size_t d, const double *w, const double *x, double *f)
{
    for (size_t k = 0; k < d; k++) {
        f[k] = w[3 * k] * x[k];
        if (k > 0) f[k] += w[3 * k - 1] * x[k - 1];
        if (k + 1 < d) f[k] += w[3 * k + 1] * x[k + 1];
    }
}

static void affine_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] + w[1] * x[0];
}

static void proportional_a(size_t d, const double *w, const double *x, double *a)
{
    (void)d;
    a[0] = w[0] * x[0];
}

static void neuron_f(size_t d, const double *w, const double *x, double *f)
{
    const double v = x[0], u = x[1];
    (void)d;
    f[0] = w[0] * v + w[1] * v * v * v + w[2] * u + w[3];
    f[1] = w[4] * v + w[5] * u + w[6];
}

static void pendulum_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * x[1];
    f[1] = w[1] * sin(x[0]) + w[2] * x[1];
}

static void prey_f(size_t d, const double *w, const double *x, double *f)
{
    (void)d;
    f[0] = w[0] * x[0] + w[1] * x[0] * x[1];
    f[1] = w[2] * x[0] * x[1] + w[3] * x[1];
}

/* ---- The table ---- */

#define REST -2.6, 0.8 /* and what it is drawn to the next by */
static const noise_system systems[] = {
    {"ou", 1, linear_f, constant1_a, 1, 1, {-1, 1}, {0}, 1, 0, 0.1},
    {"ourot", 2, linear_f, constant2_a, 4, 3, {-1, 2, -2, -1, 1, 0.3, 0.6}, {0}, 1, 0, 0.06},
    {"ou2", 2, linear_f, constant2_a, 4, 3, {-1, 2, -2, -1, 1, 0.4, 0.8}, {0}, 1, 0, 0.06},
    {"well", 1, well_f, constant1_a, 2, 1, {1, -1, 0.25}, {0}, 1.5, 0, 0.06},
    {"wellvar", 1, well_f, bump_a, 2, 2, {2, -2, 0.5, 0.5}, {0}, 1.5, 0, 0.03},
    {"gbm", 1, linear_f, square_a, 1, 1, {1, 0.09}, {0}, 1, 0, 0.1},
    {"exp", 1, exponential_f, exponential_a, 1, 1, {1, 0.09}, {0}, 1, 0, 0.1},
    {"vdp", 2, vanderpol_f, vanderpol_a, 4, 3, {1, 1.5, -1.5, -1, 0.05, 0.1, 0.1}, {0}, 2, 5, 0.03},
    {"maier", 2, maierstein_f, maierstein_a, 5, 4, {1, -1, -2, -1, -1, 0.15, 0.15, 0.2, 0.1}, {0}, 1, 0, 0.03},
    {"lorenz63",
     3,
     lorenz63_f,
     own_square_a,
     7,
     6,
     {-10, 10, 28, -1, -1, 1, -8.0 / 3, 1, 0.04, 1, 0.04, 1, 0.04},
     {0, 0, 24},
     3,
     1,
     0.005},
    {"lorenz96",
     4,
     lorenz96_f,
     own_square_a,
     16,
     8,
     {1, -1, -1, 8, 1, -1, -1, 8, 1, -1, -1, 8, 1, -1, -1, 8, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09},
     {0},
     3,
     1,
     0.02},
    {"cir", 1, affine_f, proportional_a, 2, 1, {1.2, -1.2, 0.2}, {1.2}, 0.8, 0, 0.06},
    {"neuron", 2, neuron_f, constant1_a, 7, 2, {1, -1.0 / 3, -1, 0.5, 0.4, -0.32, 0.28, 0.04, 0.02}, {0}, 1, 2, 0.06},
    {"pendulum", 2, pendulum_f, constant1_a, 3, 2, {1, -2, -0.5, 0.02, 0.4}, {0}, 2, 1, 0.06},
    {"prey", 2, prey_f, square_a, 4, 2, {1, -1, 1, -1, 0.02, 0.02}, {1, 1}, 0.6, 0, 0.06},
    {"chain6",
     6,
     chain_f,
     constant1_a,
     16,
     6,
     {-1.8, 0.8, 0.8, REST, 0.8, REST, 0.8, REST, 0.8, REST, 0.8, -1.8, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
     {0},
     1,
     0,
     0.05},
    {"chain10",
     10,
     chain_f,
     constant1_a,
     28,
     10,
     {-1.8, 0.8, 0.8,  REST, 0.8,  REST, 0.8, REST, 0.8, REST, 0.8, REST, 0.8, REST, 0.8,
      REST, 0.8, REST, 0.8,  -1.8, 0.5,  0.5, 0.5,  0.5, 0.5,  0.5, 0.5,  0.5, 0.5,  0.5},
     {0},
     1,
     0,
     0.05}};

const noise_system *noise_find(const char *name)
{
    for (size_t i = 0; i < COUNT(systems); i++)
        if (strcmp(systems[i].name, name) == 0) return &systems[i];
    return NULL;
}

/* ---- Models ---- */

void noise_instance_fields(const noise_instance *i, const double *x, double *f, double *a)
{
    const noise_system *s = i->system;
    memset(a, 0, s->d * s->d * sizeof *a);
    s->drift(s->d, i->weight, x, f);
    s->diffusion(s->d, i->weight + s->drifts, x, a);
}

static void wrapped_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    const noise_instance *i = user;
    for (size_t k = 0; k < count; k++) i->system->drift(d, i->weight, x + k * d, f + k * d);
}

static void wrapped_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    const noise_instance *i = user;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t k = 0; k < count; k++) i->system->diffusion(d, i->weight + i->system->drifts, x + k * d, a + k * d * d);
}

sock_status noise_wrap(sock_context *ctx, noise_instance *instance, sock_model **out)
{
    return sock_model_wrap(ctx, instance->system->d, NULL, wrapped_f, wrapped_a, instance, out);
}

/* ---- Paths ---- */

/* Numbers that fill (0, 1)^d evenly: multiples of powers of the root of z^(d + 1) = z + 1. */
static void set_starts(const noise_paths *p, uint64_t seed, double *x0)
{
    const size_t d = p->system->d;
    double root = 2;
    for (int i = 0; i < 60; i++) root = pow(1 + root, 1.0 / (double)(d + 1));
    for (size_t i = 0; i < p->paths * d; i++) {
        const double u = fmod((double)(i / d + 1 + 1000 * (seed % 1000)) * pow(root, -(double)(i % d + 1)), 1);
        x0[i] = p->system->centre[i % d] + p->system->spread * (2 * u - 1);
    }
}

/* Times: the start, then the points, the first after `burn`. */
static sock_status run_paths(sock_context *ctx, noise_paths *p, const sock_model *truth, uint64_t seed, double *work)
{
    static const double shortest = 0.02; /* of the time in which the system moves */
    const size_t d = p->system->d, times = p->points + 1, width = p->points * d;
    double *x0 = work, *t = x0 + p->paths * d, *all = t + times;
    const double burn = p->system->burn > 0 ? p->system->burn : p->h;
    set_starts(p, seed, x0);
    t[0] = 0;
    for (size_t i = 1; i < times; i++) t[i] = burn + (double)(i - 1) * p->h;
    const sock_simulation spec = {.starts = p->paths,
                                  .x0 = x0,
                                  .paths = 1,
                                  .times = times,
                                  .t = t,
                                  .step = fmin(p->h / 10, shortest * p->system->tau / 0.06),
                                  .seed = seed};
    const sock_status status = sock_simulate(ctx, truth, &spec, all, NULL, NULL);
    if (status != SOCK_OK) return status < 0 ? status : SOCK_ENUMERIC; /* a path was lost */
    for (size_t i = 0; i < p->paths; i++) memcpy(p->x + i * width, all + i * times * d + d, width * sizeof *p->x);
    return SOCK_OK;
}

sock_status noise_simulate(sock_context *ctx, noise_paths *p, uint64_t seed)
{
    const size_t d = p->system->d, times = p->points + 1;
    noise_instance instance = {.system = p->system};
    sock_model *truth = NULL;
    memcpy(instance.weight, p->system->weight, sizeof instance.weight);
    p->x = malloc(p->paths * p->points * d * sizeof *p->x);
    double *work = malloc((p->paths * d + times + p->paths * times * d) * sizeof *work);
    sock_status status = p->x && work ? noise_wrap(ctx, &instance, &truth) : SOCK_ENOMEM;
    if (status >= 0) status = run_paths(ctx, p, truth, seed, work);
    sock_model_free(truth);
    free(work);
    if (status < 0) noise_free(p);
    return status;
}

void noise_free(noise_paths *p)
{
    free(p->x);
    p->x = NULL;
}

void noise_step_variances(const noise_paths *p, double *out)
{
    const size_t d = p->system->d, count = p->paths * p->points;
    noise_instance truth = {.system = p->system};
    double f[NOISE_MOST_DIM], a[NOISE_MOST_DIM * NOISE_MOST_DIM];
    memcpy(truth.weight, p->system->weight, sizeof truth.weight);
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        noise_instance_fields(&truth, p->x + i * d, f, a);
        for (size_t k = 0; k < d; k++) out[k] += p->h * a[k * (d + 1)] / (double)count;
    }
}

/* ---- Measurements ---- */

static void still_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    (void)x;
    memset(f, 0, count * d * sizeof *f);
}

static void unit_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) == 0;
}

/* Independent normal numbers, as steps of Brownian motions: count x d. */
static sock_status normals(sock_context *ctx, size_t count, size_t d, uint64_t seed, double *out)
{
    const double t[2] = {0, 1};
    sock_model *brownian = NULL;
    double *zero = calloc(count * d, sizeof *zero), *both = malloc(2 * count * d * sizeof *both);
    sock_status status = zero && both ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_model_wrap(ctx, d, NULL, still_f, unit_a, NULL, &brownian);
    const sock_simulation spec = {.starts = count, .x0 = zero, .paths = 1, .times = 2, .t = t, .step = 1, .seed = seed};
    if (status >= 0) status = sock_simulate(ctx, brownian, &spec, both, NULL, NULL);
    for (size_t i = 0; status >= 0 && i < count * d; i++) out[i] = both[2 * (i / d) * d + d + i % d];
    sock_model_free(brownian);
    free(zero);
    free(both);
    return status;
}

sock_status noise_measure(sock_context *ctx, const noise_paths *p, const double *variance, uint64_t seed, double *y)
{
    const size_t d = p->system->d, count = p->paths * p->points;
    const sock_status status = normals(ctx, count, d, seed, y);
    for (size_t i = 0; status >= 0 && i < count * d; i++) y[i] = p->x[i] + sqrt(variance[i % d]) * y[i];
    return status;
}

sock_status noise_data(sock_context *ctx, const noise_paths *p, const double *y, sock_data **out)
{
    size_t *length = malloc(p->paths * sizeof *length);
    double *t = malloc(p->paths * p->points * sizeof *t);
    sock_status status = length && t ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < p->paths; i++) length[i] = p->points;
    for (size_t i = 0; status >= 0 && i < p->paths * p->points; i++) t[i] = (double)(i % p->points) * p->h;
    if (status >= 0) status = sock_data_from_arrays(ctx, p->system->d, p->paths, length, t, y, NULL, NULL, NULL, out);
    free(length);
    free(t);
    return status;
}
