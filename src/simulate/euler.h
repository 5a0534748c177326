/* euler.h - between simulate.c, which checks and deals out the work, and euler.c, which does it. */
#ifndef SK_EULER_H
#define SK_EULER_H

#include "model/sampler.h"
#include "simulate.h"

enum { SK_EULER_BLOCK = 128 };

/* Steps whose normals are made at once: a multiple of 4, so that whole Philox blocks are used. */
#define SK_NOISE_STEPS(d) ((d) < 16 ? 64 / (d) / 4 * 4 : (size_t)4)

typedef struct sk_euler {
    const sock_model *model;
    const sk_sampler *sampler; /* the model's fields */
    const sock_simulation *spec;
    double step;       /* largest inner step */
    double *out;       /* starts * paths x times x d */
    double *lost_at;   /* starts * paths, or NULL */
    size_t first_path; /* number of the first path of a start in the random stream */
    bool sparing;      /* blocks are not filled up: paths depend on each other by rounding */
} sk_euler;

/* Work space of sk_euler_block, in doubles. */
size_t sk_euler_space(const sk_sampler *sampler, size_t d, size_t in);

/* Paths first .. first + count - 1, count <= SK_EULER_BLOCK; *lost of them were lost. On the calling thread. */
sock_status sk_euler_block(sock_context *ctx, const sk_euler *job, size_t first, size_t count, double *space,
                           size_t *lost);

/* devicepaths.c: all paths of the job by the context's device; *done is false where the host is to make them. */
sock_status sk_simulate_elsewhere(sock_context *ctx, const sock_model *model, const sk_euler *job, size_t *lost,
                                  bool *done);

/* uncertain.c: all paths of the job, path k of every start by draw k of the model; the job's sampler is not used. */
sock_status sk_simulate_draws(sock_context *ctx, const sock_model *model, const sk_euler *job, size_t *lost);

#endif
