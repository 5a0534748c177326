/* test_kernel.c - blocks of scalar kernels against slow double loops, far and near data, length scales. */
#include "kernel/kernel.h"
#include "onecontext.h"

#include <float.h>
#include <string.h>

static sk_kernel *parse(const char *text)
{
    sk_kernel *kernel = NULL;
    if (sk_kernel_parse(ctx, "drift", text, &kernel) < 0) fail_msg("%s", sock_message(ctx));
    return kernel;
}

static double *normals(uint64_t stream, size_t count)
{
    double *x = sk_doubles(ctx, count, 1);
    assert_non_null(x);
    sk_normals((sk_key){.seed = 1, .purpose = SK_PURPOSE_TEST}, stream, 0, 0, count, x);
    return x;
}

/* ---- The formulas, written as in the paper ---- */

static double gauss(size_t d, const double *x, const double *y, double eta)
{
    double square = 0;
    for (size_t k = 0; k < d; k++) square += pow(x[k] - y[k], 2);
    return exp(-square / (2 * eta * eta));
}

static double dot(size_t d, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) sum += x[k] * y[k];
    return sum;
}

static const char *const spec[] = {
    "gauss:eta=0.8",           "poly:degree=3",
    "poly:degree=2,scale=0.5", "linear",
    "affine:scale=2.5",        "constant:scale=0.25",
    "poly:degree=7",           "gauss:eta=2,scale=3+linear+gauss:eta=0.3+constant+poly:degree=2"};

static double slow_value(size_t which, size_t d, const double *x, const double *y)
{
    double xy = dot(d, x, y);
    switch (which) {
    case 0: return gauss(d, x, y, 0.8);
    case 1: return pow(xy + 1, 3);
    case 2: return 0.5 * pow(xy + 1, 2);
    case 3: return xy;
    case 4: return 2.5 * (xy + 1);
    case 5: return 0.25;
    case 6: return pow(xy + 1, 7);
    default: return 3 * gauss(d, x, y, 2) + xy + gauss(d, x, y, 0.3) + 1 + pow(xy + 1, 2);
    }
}

/* Every family, every dimension, sizes around the tile's and the vector's; the gap between rows is left alone. */
static void test_kernel__block_is_the_formula(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{1, 1}, {3, 8}, {5, 9}, {17, 33}, {2, 255}, {33, 257}, {300, 5}};
    for (size_t which = 0; which < sizeof spec / sizeof *spec; which++)
        for (size_t d = 1; d <= 11; d += 3)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                size_t nx = sizes[s][0], ny = sizes[s][1], ld = ny + 3;
                double *x = normals(1, nx * d), *y = normals(2, ny * d), *out = sk_doubles(ctx, nx, ld);
                double *space = sk_doubles(ctx, sk_kernel_space(d, ny), 1), *slow = sk_doubles(ctx, nx, ld);
                sk_kernel *kernel = parse(spec[which]);
                for (size_t i = 0; i < nx * ld; i++) out[i] = slow[i] = -7;
                for (size_t i = 0; i < nx; i++)
                    for (size_t j = 0; j < ny; j++) slow[i * ld + j] = slow_value(which, d, x + i * d, y + j * d);
                sk_kernel_block(ctx, kernel, d, nx, x, ny, y, out, ld, space);
                assert_all_close(nx * ld, out, slow, 1e-14);
                sk_kernel_free(kernel);
                sk_free(x), sk_free(y), sk_free(out), sk_free(space), sk_free(slow);
            }
}

static void test_kernel__diagonal_is_the_kernel_at_a_point_and_itself(void **state)
{
    (void)state;
    enum { D = 4, N = 20 };
    double *x = normals(3, N * D), out[N];
    for (size_t which = 0; which < sizeof spec / sizeof *spec; which++) {
        sk_kernel *kernel = parse(spec[which]);
        sk_kernel_diagonal(kernel, D, N, x, out);
        for (size_t i = 0; i < N; i++) assert_close(out[i], slow_value(which, D, x + i * D, x + i * D), 1e-14, 0);
        sk_kernel_free(kernel);
    }
    sk_free(x);
}

/* Shifted data have the same Gaussian values: the coordinates are exact at both places, so only the kernel could lose.
 */
static void prop_gauss_is_shift_invariant_far_from_the_origin(void **state)
{
    (void)state;
    enum { D = 3, N = 40 };
    double *x = normals(4, N * D), near[N * N], far[N * N], *space = sk_doubles(ctx, sk_kernel_space(D, N), 1);
    sk_kernel *kernel = parse("gauss:eta=0.7");
    for (size_t i = 0; i < N * D; i++) x[i] = (x[i] + 1e6) - 1e6; /* representable at 1e6 */
    sk_kernel_block(ctx, kernel, D, N, x, N, x, near, N, space);
    for (size_t i = 0; i < N * D; i++) x[i] += 1e6;
    sk_kernel_block(ctx, kernel, D, N, x, N, x, far, N, space);
    assert_memory_equal(near, far, sizeof near);
    for (size_t i = 0; i < N; i++) assert_true(far[i * N + i] == 1);
    sk_kernel_free(kernel);
    sk_free(x), sk_free(space);
}

static void test_kernel__gauss_is_a_number_for_any_eta_and_distance(void **state)
{
    (void)state;
    const char *const text[] = {"gauss:eta=1e-100", "gauss:eta=1e100", "gauss:eta=1"};
    const double points[] = {0, 1e-200, 1, 1.5, 1e10, 1e150, -1e200, DBL_MAX, -DBL_MAX};
    enum { N = sizeof points / sizeof *points };
    double out[N * N], space[(1 + 16) * 256];
    assert_true(sk_kernel_space(1, N) <= sizeof space / sizeof *space);
    for (size_t t = 0; t < 3; t++) {
        sk_kernel *kernel = parse(text[t]);
        sk_kernel_block(ctx, kernel, 1, N, points, N, points, out, N, space);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                assert_true(out[i * N + j] <= 1);
                if (i == j) assert_true(out[i * N + j] == 1);
                assert_true(out[i * N + j] > 1e-261); /* no denormal numbers */
            }
        sk_kernel_free(kernel);
    }
}

/* Whichever registers the loop takes, for few and for many columns. */
static void test_kernel__gauss_of_no_number_is_none(void **state)
{
    (void)state;
    enum { D = 2, N = 77 };
    double *x = normals(5, N * D), y[D] = {(double)NAN, 0}, out[N], *space = sk_doubles(ctx, sk_kernel_space(D, N), 1);
    sk_kernel *kernel = parse("gauss:eta=0.7");
    for (size_t n = 1; n <= N; n += 19) {
        sk_kernel_block(ctx, kernel, D, 1, y, n, x, out, n, space);
        for (size_t j = 0; j < n; j++) assert_true(isnan(out[j]));
        sk_kernel_block(ctx, kernel, D, n, x, 1, y, out, 1, space);
        for (size_t j = 0; j < n; j++) assert_true(isnan(out[j]));
    }
    sk_kernel_free(kernel);
    sk_free(x), sk_free(space);
}

/* ---- Length scales ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_lengthscale__is_the_median_of_all_distances(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 41; n += 13) {
        enum { D = 3 };
        double *x = normals(n, n * D), all[41 * 20], found = 0;
        size_t pairs = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                double square = 0;
                for (size_t k = 0; k < D; k++) square += pow(x[i * D + k] - x[j * D + k], 2);
                all[pairs++] = sqrt(square);
            }
        qsort(all, pairs, sizeof *all, ascending);
        double expected = pairs % 2 ? all[pairs / 2] : (all[pairs / 2 - 1] + all[pairs / 2]) / 2;
        assert_int_equal(sk_median_distance(ctx, D, n, x, &found), SOCK_OK);
        assert_close(found, expected, 1e-15, 0);
        sk_free(x);
    }
}

/* Normal points in D dimensions: distances are sqrt(2) chi_D; the median of chi_1 is 0.6745. */
static void test_lengthscale__takes_some_of_many_points(void **state)
{
    (void)state;
    double *x = normals(7, 100000), found = 0;
    assert_int_equal(sk_median_distance(ctx, 1, 100000, x, &found), SOCK_OK);
    assert_close(found, 0.67449 * sqrt(2), 0.05, 0);
    sk_free(x);
}

static void test_lengthscale__repeated_points_do_not_make_it_zero(void **state)
{
    (void)state;
    const double same[] = {3, 3, 3, 3}, nearly[] = {3, 3, 3, 3, 3, 5};
    double found = 0;
    assert_int_equal(sk_median_distance(ctx, 1, 4, same, &found), SOCK_OK);
    assert_true(found == 1);
    assert_int_equal(sk_median_distance(ctx, 1, 6, nearly, &found), SOCK_OK);
    assert_true(found == 2);
    assert_int_equal(sk_median_distance(ctx, 1, 1, same, &found), SOCK_OK);
    assert_true(found == 1);
}

static void test_resolve__fills_what_is_open_and_only_that(void **state)
{
    (void)state;
    double *x = normals(8, 600 * 2), eta = 0;
    sk_kernel *k = parse("nystrom:of=gauss+nystrom:m=7,of=poly+fourier:p=5,eta=0.25+fourier");
    assert_int_equal(sk_median_distance(ctx, 2, 600, x, &eta), SOCK_OK);
    assert_int_equal(sk_kernel_resolve(ctx, "drift", k, 2, 600, x), SOCK_OK);
    assert_true(k->term[0].eta == eta && k->term[0].p == 500);
    assert_true(isnan(k->term[1].eta) && k->term[1].p == 7);
    assert_true(k->term[2].eta == 0.25 && k->term[2].p == 5);
    assert_true(k->term[3].eta == eta && k->term[3].p == 100);
    sk_kernel_free(k);
    sk_free(x);
}

static void refuse(const char *text, size_t d, const char *reason)
{
    sk_kernel *k = parse(text);
    double x[3] = {0, 1, 2};
    sk_begin(ctx);
    assert_int_equal(sk_kernel_resolve(ctx, "drift", k, d, 1, x), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), reason)) fail_msg("'%s' does not say '%s'", sock_message(ctx), reason);
    sk_kernel_free(k);
}

static void test_resolve__refuses_what_does_not_fit_the_dimension(void **state)
{
    (void)state;
    refuse("gauss:eta=1,B=[1 0;0 2]", 3, "drift: B of gauss is 2 x 2; allowed: 3 x 3");
    refuse("divfree:eta=1", 1, "divfree needs a state of at least 2 dimensions");
}

static void test_kernel__linear_alone_means_zero(void **state)
{
    (void)state;
    static const char *const text[] = {"linear",
                                       "linear:scale=3",
                                       "nystrom:m=4,of=linear",
                                       "affine",
                                       "constant",
                                       "linear+constant",
                                       "poly:degree=2",
                                       "gauss:eta=1",
                                       "fourier:p=3,eta=1",
                                       "linear:B=[1 0;0 2]"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        sk_kernel *kernel = parse(text[i]);
        bool means = false;
        assert_int_equal(sk_kernel_means_zero(ctx, kernel, 2, &means), SOCK_OK);
        assert_int_equal(means, i < 3);
        sk_kernel_free(kernel);
    }
}

static sock_status ask(sock_context *context, void *kernel)
{
    bool means;
    return sk_kernel_means_zero(context, kernel, 2, &means);
}

static void test_kernel__asking_may_run_out_of_memory(void **state)
{
    (void)state;
    sk_kernel *kernel = parse("nystrom:m=4,of=linear");
    assert_true(for_single_allocations(ctx, ask, kernel) > 1);
    sk_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel__block_is_the_formula),
        cmocka_unit_test(test_kernel__diagonal_is_the_kernel_at_a_point_and_itself),
        cmocka_unit_test(prop_gauss_is_shift_invariant_far_from_the_origin),
        cmocka_unit_test(test_kernel__gauss_is_a_number_for_any_eta_and_distance),
        cmocka_unit_test(test_kernel__gauss_of_no_number_is_none),
        cmocka_unit_test(test_lengthscale__is_the_median_of_all_distances),
        cmocka_unit_test(test_lengthscale__takes_some_of_many_points),
        cmocka_unit_test(test_lengthscale__repeated_points_do_not_make_it_zero),
        cmocka_unit_test(test_resolve__fills_what_is_open_and_only_that),
        cmocka_unit_test(test_resolve__refuses_what_does_not_fit_the_dimension),
        cmocka_unit_test(test_kernel__linear_alone_means_zero),
        cmocka_unit_test(test_kernel__asking_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
