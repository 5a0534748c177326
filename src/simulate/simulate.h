/* simulate.h - paths of a model by Euler-Maruyama. A path is a function of (model, start, times, step, seed, its
 * number) alone: not of the threads, nor of how many other paths are made with it. */
#ifndef SK_SIMULATE_H
#define SK_SIMULATE_H

#include "model/sampler.h"

/* sock_simulate for callers inside: the specification is known to be good (sk_simulation_check). lost_at may be NULL.
 * Answers SOCK_PARTIAL, without a message, when paths were lost. */
sock_status sk_simulate(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *out,
                        double *lost_at, sock_simulation_report *report);

/* The same of a certain model, by a sampler that serves many such calls of few paths. Paths depend on how many there
 * are, but by rounding only. */
sock_status sk_simulate_by(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                           const sock_simulation *spec, double *out, sock_simulation_report *report);

/* SOCK_EUSAGE, with what is wrong and what is allowed. */
sock_status sk_simulation_check(sock_context *ctx, const sock_model *model, const sock_simulation *spec);

/* One of the options lower and upper: "none", "auto", one number for all states, or d of these with commas between.
 * out (d): `none` where there is none, NaN for auto. */
sock_status sk_read_bound(sock_context *ctx, const sock_options *opts, const char *key, size_t d, double none,
                          double *out);

/* The specification with its bounds as numbers. bound: 2 x d numbers of room. Who says nothing of bounds has those of
 * the model. */
sock_simulation sk_settle_bounds(const sock_model *model, const sock_simulation *spec, double *bound);

/* SOCK_EINPUT where a point of the data is outside these bounds. */
sock_status sk_data_inside(sock_context *ctx, const sock_model *model, const sock_data *data,
                           const sock_simulation *spec);

/* Options bounds, lower and upper: lower and upper get d numbers, infinite where there is no bound. */
sock_status sk_bounds_from_options(sock_context *ctx, const sock_options *opts, size_t d, sock_bounds *mode,
                                   double *lower, double *upper);

/* Inner steps of the gap between two output times, for a largest step. */
size_t sk_inner_steps(double gap, double step);

/* y (count x d) += scale * C z with a = C C' at each point: the increment of a noise with covariance a. C is the
 * Cholesky factor, with zero columns where a is singular. a: count x d x d, destroyed; z: row i at z + i * stride. */
void sk_add_noise(size_t d, size_t count, double scale, double *a, const double *z, size_t stride, double *y);

/* Of second order: x (count x 2m) += a pair of Gaussians for positions and velocities of covariance
 * A [[h^3/3, h^2/2], [h^2/2, h]], A the block of the velocities in a (count x 2m x 2m, destroyed): with u and w of
 * covariance A these are h^1.5 (u + w / sqrt 3) / 2 and h^0.5 u. z: as above, 2m numbers a row. */
void sk_add_second_noise(size_t m, size_t count, double h, double *a, const double *z, size_t stride, double *x);

/* Brings x (d) back between lower and upper. */
void sk_keep_within(size_t d, sock_bounds mode, const double *lower, const double *upper, double *x);

#endif
