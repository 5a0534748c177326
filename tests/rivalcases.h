/* rivalcases.h - the forty samples of the rivals' test vectors: x = -1 + 2r/39, h = 0.1,
 * dx = h (x - x^3) + 0.2 sqrt(h) sin(1.7 r^2); the figures that belong to them are those of the original programs. */
#ifndef SK_RIVALCASES_H
#define SK_RIVALCASES_H

#include "test.h"

#include "compare/steprows.h"

enum { SAMPLES = 40 };

/* One trajectory of two points for each sample. */
static inline sock_data *forty_samples(sock_context *ctx)
{
    size_t length[SAMPLES];
    double t[2 * SAMPLES], x[2 * SAMPLES];
    sock_data *data = NULL;
    for (int r = 0; r < SAMPLES; r++) {
        double at = -1 + 2.0 * r / 39, h = 0.1;
        length[r] = 2;
        t[2 * r] = 0;
        t[2 * r + 1] = h;
        x[2 * r] = at;
        x[2 * r + 1] = at + h * (at - at * at * at) + 0.2 * sqrt(h) * sin(1.7 * r * r);
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, SAMPLES, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static inline cmp_steps *forty_steps(sock_context *ctx)
{
    cmp_steps *steps = NULL;
    sock_data *data = forty_samples(ctx);
    assert_int_equal(cmp_steps_new(ctx, data, &steps), SOCK_OK);
    assert_int_equal(steps->count, SAMPLES);
    sock_data_free(data);
    return steps;
}

/* The expansion in the monomials of degree 0 to `degree`. */
#define monomial_expansion(ctx, dimension, top, out)                                                                   \
    do {                                                                                                               \
        cmp_library *library_ = NULL;                                                                                  \
        const cmp_library_spec spec_ = {.d = (dimension), .degree = (top)};                                            \
        assert_int_equal(cmp_library_new((ctx), &spec_, &library_), SOCK_OK);                                          \
        assert_int_equal(cmp_expansion_new((ctx), library_, (out)), SOCK_OK);                                          \
    } while (0)

#endif
