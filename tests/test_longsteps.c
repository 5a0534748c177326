/* test_longsteps.c - what the drift does within a step: right to second order where it is short, sane where it is long.
 */
#include "test.h"

#include "occupation/view.h"

/* f = -k y in one dimension, from y = 1: displacement h c F f and variance h F^2 for a = 1; u = k h. */
typedef struct pulled {
    double f, factor, node, variance;
} pulled;

static pulled pull(double k, double h)
{
    double m = -0.5 * h * k, f = -k, a = 1, space[2];
    sk_long_step(1, &m, &f, &a, space);
    return (pulled){m, m * m, h * f, h * a};
}

/* Against the process itself, mean exp(-u) and variance (1 - exp(-2u)) / 2k: the error is of third order, and of fifth
 * where f is integrated over y = 1 and the node. */
static void test_longsteps__short_ones_have_the_moments_of_the_process(void **state)
{
    (void)state;
    const double k = 2;
    double last[3] = {0};
    for (double h = 0.02; h > 1e-3; h /= 2) {
        const pulled p = pull(k, h);
        const double u = k * h, integral = -0.5 * u * (1 + 1 + p.node),
                     error[3] = {integral - (exp(-u) - 1), p.variance - (1 - exp(-2 * u)) / (2 * k),
                                 h * p.factor - (1 - exp(-2 * u)) / (2 * k)};
        for (size_t i = 0; i < 3 && last[i] != 0; i++) assert_close(last[i] / error[i], i ? 8 : 32, 0.05, 0);
        memcpy(last, error, sizeof last);
    }
}

/* However strong a pull, it does not carry a node past the place of rest by more than a third of the way. */
static void test_longsteps__a_pull_hardly_overshoots(void **state)
{
    (void)state;
    double last = 0;
    for (double u = 0.05; u < 1e6; u *= 1.3) {
        const pulled p = pull(1, u);
        assert_true(p.f >= 0.5 - 1e-15 && p.f < 1);
        assert_true(p.node >= -4.0 / 3 - 1e-12 && p.node <= last + 1e-12);
        assert_close(p.variance, 0.5 * (1 - exp(-2 * u)), 0.07, 1);
        last = p.node;
    }
    const pulled push = pull(-1, 1e6);
    assert_close(push.f, 2.5, 1e-15, 0);
}

/* |F v| >= (1/e - (e - 2.5)) |v| for any Jacobian; and a is carried by F on both sides. */
static void prop_long_step_is_never_singular(void **state)
{
    (void)state;
    const double e = exp(1), least = 1 / e - (e - 2.5);
    for (uint64_t trial = 0; trial < 400; trial++) {
        const size_t d = 1 + trial % 4;
        double j[16], m[16], a[16] = {0}, f[4] = {0}, v[4], space[32], size = exp((double)trial / 20 - 8);
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, trial, 0, 0, d * d, j);
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, trial, 1, 0, d, v);
        for (size_t k = 0; trial % 3 == 0 && k < d * d; k += 3) j[k] = 0; /* most numbers of a slope are 0 */
        for (size_t k = 0; k < d * d; k++) m[k] = size * j[k], a[k] = v[k / d] * v[k % d];
        memcpy(f, v, d * sizeof *f);
        sk_long_step(d, m, f, a, space);
        double before = 0, after = 0, cut = 0, norm = 0;
        for (size_t k = 0; k < d * d; k++) norm += size * j[k] * size * j[k];
        cut = norm > 1 ? 1 / sqrt(norm) : 1;
        for (size_t r = 0; r < d; r++) {
            double image = 0;
            for (size_t k = 0; k < d; k++) image += m[r * d + k] * v[k];
            before += v[r] * v[r];
            after += image * image;
            assert_close(f[r], cut * (v[r] + 2 * image) / 3, 1e-12, 1);
            f[r] = image;
        }
        assert_true(sqrt(after) >= least * sqrt(before));
        for (size_t k = 0; k < d * d; k++) assert_close(a[k], cut * f[k / d] * f[k % d], 1e-12, 1);
    }
}

/* A step that is cut has the nodes of one of the length at which nothing is: h F f, h F a F' at c h. */
static void prop_cut_step_is_a_shorter_one(void **state)
{
    (void)state;
    const double j[4] = {-3, 1, 0.5, -2}, c = 1 / sqrt(9 + 1 + 0.25 + 4);
    double m[2][4], f[2][2] = {{1, 2}, {1, 2}}, a[2][4] = {{1, 0.2, 0.2, 2}, {1, 0.2, 0.2, 2}}, space[8];
    const double h[2] = {2, 2 * c};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 4; k++) m[i][k] = 0.5 * h[i] * j[k];
        sk_long_step(2, m[i], f[i], a[i], space);
    }
    assert_all_close(4, m[0], m[1], 1e-14);
    for (size_t k = 0; k < 2; k++) assert_close(h[0] * f[0][k], h[1] * f[1][k], 1e-14, 0);
    for (size_t k = 0; k < 4; k++) assert_close(h[0] * a[0][k], h[1] * a[1][k], 1e-13, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longsteps__short_ones_have_the_moments_of_the_process),
        cmocka_unit_test(test_longsteps__a_pull_hardly_overshoots),
        cmocka_unit_test(prop_long_step_is_never_singular),
        cmocka_unit_test(prop_cut_step_is_a_shorter_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
