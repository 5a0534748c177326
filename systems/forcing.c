/* forcing.c - systems with known inputs: a double well that is forced, and a population under a dose. A point is (x,
 * u).
 */
#include "fields.h"

#include "base/base.h"

#include <math.h>

#define TWO_PI 6.28318530717958647692

/* From name_f(p, x, u) and name_sigma(p, x, u): drift, diffusion and noise of one state and one input. */
#define DRIVEN_SYSTEM(name)                                                                                            \
    void name##_drift(void *user, size_t count, size_t d, const double *x, double *f)                                  \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        (void)d;                                                                                                       \
        for (size_t i = 0; i < count; i++) f[i] = name##_f(p, x[2 * i], x[2 * i + 1]);                                 \
    }                                                                                                                  \
    void name##_diffusion(void *user, size_t count, size_t d, const double *x, double *a)                              \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        (void)d;                                                                                                       \
        for (size_t i = 0; i < count; i++) a[i] = pow(name##_sigma(p, x[2 * i], x[2 * i + 1]), 2);                     \
    }                                                                                                                  \
    void name##_noise(const sys_instance *instance, const double *x, const double *dw, double *out)                    \
    {                                                                                                                  \
        out[0] = name##_sigma(instance->parameter, x[0], x[1]) * dw[0];                                                \
    }

static double sys_forced_f(const double *p, double x, double u)
{
    (void)p;
    return x - x * x * x + u;
}
static double sys_forced_sigma(const double *p, double x, double u)
{
    (void)x, (void)u;
    return p[0];
}
DRIVEN_SYSTEM(sys_forced)

static double sys_dose_f(const double *p, double x, double u) { return x * (1 - x) - p[0] * u / (u + p[1]) * x; }
static double sys_dose_sigma(const double *p, double x, double u)
{
    (void)p;
    return (0.1 + 0.2 * u) * x;
}
DRIVEN_SYSTEM(sys_dose)

/* ---- Inputs ---- */

/* Six uniform numbers of a trajectory. */
static void draw(const sys_instance *instance, uint64_t stream, double r[6])
{
    sk_uniforms((sk_key){instance->seed, SK_PURPOSE_SYSTEM}, stream, SYS_STREAM_INPUTS, 0, 6, r);
}

/* Those that do nothing. */
static void idle(const double r[6], double t, double *u)
{
    u[0] = (2 * r[3] - 1) * cos(1.3 * t) + (2 * r[4] - 1) * sin(0.7 * t);
    u[1] = r[5] < 0.5;
}

void sys_forced_input(const sys_instance *instance, uint64_t stream, double t, double *u)
{
    double r[6];
    draw(instance, stream, r);
    u[0] = sin(TWO_PI * (t / instance->parameter[1] + r[0]));
    idle(r, t, u + 1);
}

void sys_dose_input(const sys_instance *instance, uint64_t stream, double t, double *u)
{
    static const double dose[] = {0, 0.25, 0.5, 1, 2};
    double r[6];
    draw(instance, stream, r);
    const bool late = t >= 0.5 * instance->parameter[2] - 1e-9;
    u[0] = dose[(size_t)(5 * r[late])];
    idle(r, t, u + 1);
}
