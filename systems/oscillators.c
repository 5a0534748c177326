/* oscillators.c - systems of second order, of which data have positions alone. A point is (q, v). */
#include "fields.h"

#include <math.h>
#include <string.h>

/* From name_force(p, q, v) and name_kicks(p, q), the variance of the kicks: drift, diffusion and noise. */
#define OSCILLATOR(name)                                                                                               \
    void name##_drift(void *user, size_t count, size_t d, const double *x, double *f)                                  \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        for (size_t i = 0; i < count; i++, x += d, f += d) {                                                           \
            f[0] = x[1];                                                                                               \
            f[1] = name##_force(p, x[0], x[1]);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    void name##_diffusion(void *user, size_t count, size_t d, const double *x, double *a)                              \
    {                                                                                                                  \
        const double *p = ((const sys_instance *)user)->parameter;                                                     \
        memset(a, 0, count *d *d * sizeof *a);                                                                         \
        for (size_t i = 0; i < count; i++, x += d, a += d * d) a[3] = name##_kicks(p, x[0]);                           \
    }                                                                                                                  \
    void name##_noise(const sys_instance *instance, const double *x, const double *dw, double *out)                    \
    {                                                                                                                  \
        out[0] = 0;                                                                                                    \
        out[1] = sqrt(name##_kicks(instance->parameter, x[0])) * dw[1];                                                \
    }

static double sys_harmonic_force(const double *p, double q, double v) { return -p[0] * q - p[1] * v; }
static double sys_harmonic_kicks(const double *p, double q)
{
    (void)q;
    return p[2];
}
OSCILLATOR(sys_harmonic)

static double sys_pendulum_force(const double *p, double q, double v) { return -p[0] * sin(q) - p[1] * v; }
static double sys_pendulum_kicks(const double *p, double q)
{
    (void)q;
    return p[2];
}
OSCILLATOR(sys_pendulum)

static double sys_duffing_force(const double *p, double q, double v) { return q - q * q * q - p[0] * v; }
static double sys_duffing_kicks(const double *p, double q) { return p[1] + p[2] * q * q; }
OSCILLATOR(sys_duffing)

static double sys_vanderpol_force(const double *p, double q, double v) { return p[0] * (1 - q * q) * v - q; }
static double sys_vanderpol_kicks(const double *p, double q)
{
    (void)q;
    return p[1];
}
OSCILLATOR(sys_vanderpol)
