/* secondmodels.h - models of order 2 with one position, and positions of their paths. Behind a header with ctx. */
#ifndef SECONDMODELS_H
#define SECONDMODELS_H

#include "base/base.h"
#include "model/model.h"
#include "truths.h"

enum { SECOND_PATHS = 60, SECOND_POINTS = 51, SECOND_ALL = SECOND_PATHS * SECOND_POINTS };

/* F = w0 x + w1 x^3 + w2 v, a = w3 + w4 x^2. */
static void force(void *user, size_t count, size_t d, const double *s, double *f)
{
    const double *w = user;
    (void)d;
    for (size_t i = 0; i < count; i++, s += 2) {
        f[2 * i] = s[1];
        f[2 * i + 1] = w[0] * s[0] + w[1] * s[0] * s[0] * s[0] + w[2] * s[1];
    }
}

static void kicks(void *user, size_t count, size_t d, const double *s, double *a)
{
    const double *w = user;
    (void)d;
    for (size_t i = 0; i < count; i++, s += 2) {
        a[4 * i] = a[4 * i + 1] = a[4 * i + 2] = 0;
        a[4 * i + 3] = w[3] + w[4] * s[0] * s[0];
    }
}

static inline sock_model *second_model(double *w, double noise)
{
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_OK);
    if (noise > 0) {
        model->structure->noise = sk_doubles(ctx, 2, 2);
        assert_non_null(model->structure->noise);
        model->structure->noise[0] = noise;
    }
    return model;
}

/* Positions of paths of the model, h apart, with noise of variance r; *states: with velocities, until the next call. */
static inline sock_data *second_positions_of(const sock_model *model, double h, double r, uint64_t seed,
                                             const double **states)
{
    static double x0[2 * SECOND_PATHS], out[2 * SECOND_ALL], y[SECOND_ALL], t[SECOND_ALL], z[SECOND_ALL];
    size_t length[SECOND_PATHS];
    sock_data *data = NULL;
    for (size_t j = 0; j < SECOND_PATHS; j++) length[j] = SECOND_POINTS;
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, 2 * SECOND_PATHS, x0);
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 1, 0, 0, SECOND_ALL, z);
    for (size_t i = 0; i < SECOND_ALL; i++) t[i] = h * (double)(i % SECOND_POINTS);
    const sock_simulation s = {
        .starts = SECOND_PATHS, .x0 = x0, .paths = 1, .times = SECOND_POINTS, .t = t, .step = h / 20, .seed = seed};
    assert_int_equal(sock_simulate(ctx, model, &s, out, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < SECOND_ALL; i++) y[i] = out[2 * i] + sqrt(r) * z[i];
    assert_int_equal(sock_data_from_arrays(ctx, 1, SECOND_PATHS, length, t, y, NULL, NULL, NULL, &data), SOCK_OK);
    *states = out;
    return data;
}

static inline sock_data *second_positions(const sock_model *model, double h, double r, uint64_t seed)
{
    const double *states;
    return second_positions_of(model, h, r, seed, &states);
}

#endif
