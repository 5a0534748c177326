/* noisesystems.h - known systems by their terms: f and a are functions of the state and of weights, so that the truth
 * is one choice of the weights and an oracle that is given the terms another. */
#ifndef EXP_NOISESYSTEMS_H
#define EXP_NOISESYSTEMS_H

#include "sock.h"

enum { NOISE_MOST_DIM = 10, NOISE_MOST_WEIGHTS = 60 };

/* One point: f (d), or a (d x d, zeroed before). */
typedef void (*noise_field)(size_t d, const double *w, const double *x, double *out);

typedef struct noise_system {
    const char *name;
    size_t d;
    noise_field drift, diffusion;
    size_t drifts, diffusions; /* weights: those of the drift come first */
    double weight[NOISE_MOST_WEIGHTS];
    double centre[NOISE_MOST_DIM]; /* starts lie within `spread` of it */
    double spread, burn;           /* time before the first point */
    double tau;                    /* steps beyond this are not short */
} noise_system;

/* NULL: there is no such system. */
const noise_system *noise_find(const char *name);

/* A system with weights, for fields that are asked for by the library. */
typedef struct noise_instance {
    const noise_system *system;
    double weight[NOISE_MOST_WEIGHTS];
} noise_instance;

void noise_instance_fields(const noise_instance *i, const double *x, double *f, double *a);

/* The instance must live as long as the model. */
sock_status noise_wrap(sock_context *ctx, noise_instance *instance, sock_model **out);

/* Paths of one length at times 0, h, 2 h .. */
typedef struct noise_paths {
    const noise_system *system;
    size_t paths, points;
    double h;
    double *x; /* paths x points x d */
} noise_paths;

/* Freed with noise_free. */
sock_status noise_simulate(sock_context *ctx, noise_paths *p, uint64_t seed);
void noise_free(noise_paths *p);

/* The mean of a_kk over the points times h: d numbers. */
void noise_step_variances(const noise_paths *p, double *out);

/* y (like x) = x + N(0, diag(variance)). */
sock_status noise_measure(sock_context *ctx, const noise_paths *p, const double *variance, uint64_t seed, double *y);

/* Data with these states. */
sock_status noise_data(sock_context *ctx, const noise_paths *p, const double *y, sock_data **out);

#endif
