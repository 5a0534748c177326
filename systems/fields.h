/* fields.h - drift, diffusion and noise of each system, for the table in systems.c. */
#ifndef SYS_FIELDS_H
#define SYS_FIELDS_H

#include "systems/systems.h"

#define SYS_FIELDS(name)                                                                                               \
    void name##_drift(void *user, size_t count, size_t d, const double *x, double *f);                                 \
    void name##_diffusion(void *user, size_t count, size_t d, const double *x, double *a);                             \
    void name##_noise(const sys_instance *instance, const double *x, const double *dw, double *out)

SYS_FIELDS(sys_gbm);    /* parameters mu, sigma:    dx = mu x dt + sigma x dW */
SYS_FIELDS(sys_expdyn); /* sigma:                   dx = exp(-x^2) dt + sigma exp(-x^2) dW */
SYS_FIELDS(sys_dense);  /* sigma, A (2 x 2), b (2): dx = x dt + sigma A x b' dW */
SYS_FIELDS(
    sys_lorenz96);  /* F, sigma:                dx_i = ((x_{i+1} - x_{i-2}) x_{i-1} - x_i + F) dt + sigma x_i dW_i */
SYS_FIELDS(sys_ou); /* theta, sigma:            dx = -theta x dt + sigma dW */
SYS_FIELDS(sys_doublewell); /* sigma:                   dx = (x - x^3) dt + sigma dW */
SYS_FIELDS(sys_amyloid);    /* rate, base, capacity, sigma: with u = x - base,
                               dx = rate u (1 - u/capacity) dt + sigma x dW */

SYS_FIELDS(
    sys_forced);      /* sigma, period:           dx = (x - x^3 + u) dt + sigma dW, u = sin(2 pi t / period + phase) */
SYS_FIELDS(sys_dose); /* effect, half, horizon:   dx = (x (1 - x) - effect D / (D + half) x) dt + (0.1 + 0.2 D) x dW, D
                         changes once, in the middle of the horizon */

/* Positions and velocities (q, v). */
SYS_FIELDS(sys_harmonic); /* stiffness, friction, noise:  dv = (-stiffness q - friction v) dt + sqrt(noise) dW */
SYS_FIELDS(sys_pendulum); /* gravity, friction, noise:    dv = (-gravity sin q - friction v) dt + sqrt(noise) dW */
SYS_FIELDS(sys_duffing); /* friction, noise, growth:     dv = (q - q^3 - friction v) dt + sqrt(noise + growth q^2) dW */
SYS_FIELDS(sys_vanderpol); /* damping, noise:              dv = (damping (1 - q^2) v - q) dt + sqrt(noise) dW */

/* Inputs of forced and dose: u or D, and two that do nothing, w (a slow wave) and g (0 or 1 in a trajectory). */
void sys_forced_input(const sys_instance *instance, uint64_t stream, double t, double *u);
void sys_dose_input(const sys_instance *instance, uint64_t stream, double t, double *u);

/* beta, alpha, population; the diffusion approximation of the jump process. There is no noise function. */
void sys_sir_drift(void *user, size_t count, size_t d, const double *x, double *f);
void sys_sir_diffusion(void *user, size_t count, size_t d, const double *x, double *a);

SYS_FIELDS(sys_cir);          /* theta, mu, sigma:   dx = theta (mu - x) dt + sigma sqrt(x) dW */
SYS_FIELDS(sys_feller);       /* rate, noise:        dx = rate x dt + sqrt(noise x) dW */
SYS_FIELDS(sys_wrightfisher); /* to, from, noise:    dx = (to (1 - x) - from x) dt + sqrt(noise x (1 - x)) dW */
SYS_FIELDS(sys_lotka); /* size: prey is born at rate x, eaten at rate x y, predators die at rate y, by 1 / size */

/* birth, death, size: births at rate birth x, deaths at rate death x (1 + x), by 1 / size; the diffusion approximation
 * of the jump process. */
void sys_logistic_drift(void *user, size_t count, size_t d, const double *x, double *f);
void sys_logistic_diffusion(void *user, size_t count, size_t d, const double *x, double *a);

#endif
