/* fields.c - the true f, a and sigma of the systems. Each function reads its parameters from the instance, in the order
 * of the table. The one-dimensional systems are f(x) and sigma(x) as plain functions; one macro makes the rest. */
#include "fields.h"

#include <math.h>
#include <string.h>

/* From name_f(p, x) and name_sigma(p, x): drift, diffusion a = sigma^2 and noise sigma dw. */
#define SCALAR_SYSTEM(name)                                                                                            \
    void name##_drift(void *user, size_t count, size_t d, const double *x, double *f)                                  \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        (void)d;                                                                                                       \
        for (size_t i = 0; i < count; i++) f[i] = name##_f(p, x[i]);                                                   \
    }                                                                                                                  \
    void name##_diffusion(void *user, size_t count, size_t d, const double *x, double *a)                              \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        (void)d;                                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                           \
            double s = name##_sigma(p, x[i]);                                                                          \
            a[i] = s * s;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    void name##_noise(const sys_instance *instance, const double *x, const double *dw, double *out)                    \
    {                                                                                                                  \
        out[0] = name##_sigma(instance->parameter, x[0]) * dw[0];                                                      \
    }

static double sys_gbm_f(const double *p, double x) { return p[0] * x; }
static double sys_gbm_sigma(const double *p, double x) { return p[1] * x; }
SCALAR_SYSTEM(sys_gbm)

static double sys_expdyn_f(const double *p, double x)
{
    (void)p;
    return exp(-x * x);
}
static double sys_expdyn_sigma(const double *p, double x) { return p[0] * exp(-x * x); }
SCALAR_SYSTEM(sys_expdyn)

static double sys_ou_f(const double *p, double x) { return -p[0] * x; }
static double sys_ou_sigma(const double *p, double x)
{
    (void)x;
    return p[1];
}
SCALAR_SYSTEM(sys_ou)

static double sys_doublewell_f(const double *p, double x)
{
    (void)p;
    return x - x * x * x;
}
static double sys_doublewell_sigma(const double *p, double x)
{
    (void)x;
    return p[0];
}
SCALAR_SYSTEM(sys_doublewell)

static double sys_amyloid_f(const double *p, double x)
{
    double u = x - p[1];
    return p[0] * u * (1 - u / p[2]);
}
static double sys_amyloid_sigma(const double *p, double x) { return p[3] * x; }
SCALAR_SYSTEM(sys_amyloid)

/* ---- dense: sigma(x) = s A x b', so a(x) = s^2 |b|^2 (A x)(A x)', of rank one ---- */

void sys_dense_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    memcpy(f, x, count * d * sizeof *f);
}

static void dense_direction(const double *p, const double *x, double *v)
{
    v[0] = p[0] * (p[1] * x[0] + p[2] * x[1]);
    v[1] = p[0] * (p[3] * x[0] + p[4] * x[1]);
}

void sys_dense_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *p = ((const sys_instance *)user)->parameter;
    double bb = p[5] * p[5] + p[6] * p[6], v[2];
    for (size_t i = 0; i < count; i++, x += d, a += d * d) {
        dense_direction(p, x, v);
        a[0] = bb * v[0] * v[0];
        a[1] = a[2] = bb * v[0] * v[1];
        a[3] = bb * v[1] * v[1];
    }
}

void sys_dense_noise(const sys_instance *instance, const double *x, const double *dw, double *out)
{
    const double *p = instance->parameter;
    double w = p[5] * dw[0] + p[6] * dw[1];
    dense_direction(p, x, out);
    out[0] *= w;
    out[1] *= w;
}

/* ---- lorenz96: the index runs round ---- */

void sys_lorenz96_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    double force = ((const sys_instance *)user)->parameter[0];
    for (size_t i = 0; i < count; i++, x += d, f += d)
        for (size_t k = 0; k < d; k++)
            f[k] = (x[k + 1 == d ? 0 : k + 1] - x[k < 2 ? k + d - 2 : k - 2]) * x[k ? k - 1 : d - 1] - x[k] + force;
}

void sys_lorenz96_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    double s = ((const sys_instance *)user)->parameter[1];
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++, x += d, a += d * d)
        for (size_t k = 0; k < d; k++) a[k * d + k] = s * s * x[k] * x[k];
}

void sys_lorenz96_noise(const sys_instance *instance, const double *x, const double *dw, double *out)
{
    for (size_t k = 0; k < instance->system->d; k++) out[k] = instance->parameter[1] * x[k] * dw[k];
}

/* ---- sir: infection (-1, 1, 0) at rate beta S I, recovery (0, -1, 1) at rate alpha I, in proportions ---- */

void sys_sir_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double *p = ((const sys_instance *)user)->parameter;
    for (size_t i = 0; i < count; i++, x += d, f += d) {
        double infection = p[0] * x[0] * x[1], recovery = p[1] * x[1];
        f[0] = -infection;
        f[1] = infection - recovery;
        f[2] = recovery;
    }
}

void sys_sir_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *p = ((const sys_instance *)user)->parameter;
    for (size_t i = 0; i < count; i++, x += d, a += d * d) {
        double infection = fmax(p[0] * x[0] * x[1], 0) / p[2], recovery = fmax(p[1] * x[1], 0) / p[2];
        a[0] = infection;
        a[1] = a[3] = -infection;
        a[2] = a[6] = 0;
        a[4] = infection + recovery;
        a[5] = a[7] = -recovery;
        a[8] = recovery;
    }
}

/* ---- Noise that vanishes at a bound ---- */

static double root(double x) { return x > 0 ? sqrt(x) : 0; }

static double sys_cir_f(const double *p, double x) { return p[0] * (p[1] - x); }
static double sys_cir_sigma(const double *p, double x) { return p[2] * root(x); }
SCALAR_SYSTEM(sys_cir)

static double sys_feller_f(const double *p, double x) { return p[0] * x; }
static double sys_feller_sigma(const double *p, double x) { return root(p[1] * x); }
SCALAR_SYSTEM(sys_feller)

static double sys_wrightfisher_f(const double *p, double x) { return p[0] * (1 - x) - p[1] * x; }
static double sys_wrightfisher_sigma(const double *p, double x) { return root(p[2] * x * (1 - x)); }
SCALAR_SYSTEM(sys_wrightfisher)

void sys_logistic_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double *p = ((const sys_instance *)user)->parameter;
    (void)d;
    for (size_t i = 0; i < count; i++) f[i] = p[0] * x[i] - p[1] * x[i] * (1 + x[i]);
}

void sys_logistic_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *p = ((const sys_instance *)user)->parameter;
    (void)d;
    for (size_t i = 0; i < count; i++) a[i] = fmax(p[0] * x[i] + p[1] * x[i] * (1 + x[i]), 0) / p[2];
}

void sys_lotka_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++, x += d, f += d) {
        f[0] = x[0] - x[0] * x[1];
        f[1] = x[0] * x[1] - x[1];
    }
}

/* Reactions (1, 0), (-1, 1), (0, -1). */
void sys_lotka_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double size = ((const sys_instance *)user)->parameter[0];
    for (size_t i = 0; i < count; i++, x += d, a += d * d) {
        const double prey = fmax(x[0], 0), predators = fmax(x[1], 0), eaten = prey * predators;
        a[0] = (prey + eaten) / size;
        a[1] = a[2] = -eaten / size;
        a[3] = (eaten + predators) / size;
    }
}

/* By the Cholesky factor of a: three reactions, two numbers of noise. */
void sys_lotka_noise(const sys_instance *instance, const double *x, const double *dw, double *out)
{
    const double size = instance->parameter[0], prey = fmax(x[0], 0), predators = fmax(x[1], 0);
    const double first = sqrt((prey + prey * predators) / size), eaten = -prey * predators / size;
    const double cross = first > 0 ? eaten / first : 0;
    out[0] = first * dw[0];
    out[1] = cross * dw[0] + root((prey * predators + predators) / size - cross * cross) * dw[1];
}
