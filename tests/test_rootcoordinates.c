/* test_rootcoordinates.c - kernels that know bounds: rates and in=root. */
#include "kernel/family.h"
#include "onecontext.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"S", "I", "y"};

static sk_features *features(const char *text, size_t d)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    if (sk_kernel_parse(ctx, "diffusion", text, &kernel) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    if (sk_features_new(ctx, "diffusion", kernel, d, 0, NULL, &map) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

static void eval(const sk_features *map, const double *x, double *phi)
{
    assert_int_equal(sk_features_eval(ctx, map, 1, x, phi, sk_features_count(map)), SOCK_OK);
}

/* The squares of the features are the monomials with the weights of (S + I + 1)^2. */
static void test_rootcoordinates__squares_of_rates_are_monomials(void **state)
{
    (void)state;
    sk_features *map = features("rates:degree=2", 2);
    const double x[2] = {0.7, 2.5};
    const char *const label[] = {"S^2", "S*I", "I^2", "S", "I", "1"};
    const double value[] = {0.49, 2 * 0.7 * 2.5, 6.25, 2 * 0.7, 2 * 2.5, 1};
    double phi[6], weight;
    assert_int_equal(sk_features_count(map), 6);
    assert_true(sk_features_separate(map) && sk_features_bounded(map) && !sk_features_polynomial(map));
    eval(map, x, phi);
    for (size_t j = 0; j < 6; j++) {
        char *text = sk_features_rate(ctx, map, names, j, &weight);
        assert_string_equal(text, label[j]);
        assert_close(phi[j] * phi[j], value[j], 1e-14, 1);
        assert_close(weight, j == 1 || j == 3 || j == 4 ? 2 : 1, 1e-14, 1);
        sk_free(text);
    }
    sk_features_free(map);
}

/* Whatever the points and the degree: sum of phi^2 = (x + y + 1)^D. */
static void prop_squares_of_rates_add_up(void **state)
{
    (void)state;
    double x[3], phi[64];
    for (uint64_t seed = 0; seed < 50; seed++) {
        const size_t degree = 1 + seed % 4;
        char text[64];
        snprintf(text, sizeof text, "rates:degree=%zu", degree);
        sk_features *map = features(text, 3);
        double sum = 0;
        sk_normals((sk_key){.seed = seed, .purpose = SK_PURPOSE_TEST}, 0, 0, 0, 3, x);
        eval(map, x, phi);
        for (size_t j = 0; j < sk_features_count(map); j++) sum += phi[j] * phi[j];
        assert_close(sum, pow(fmax(x[0], 0) + fmax(x[1], 0) + fmax(x[2], 0) + 1, (double)degree), 1e-12, 1);
        sk_features_free(map);
    }
}

/* linear, affine and poly of the roots are the same kernels of a file that has the roots. */
static void prop_in_root_is_the_kernel_of_the_root(void **state)
{
    (void)state;
    static const char *const kernel[] = {"linear", "affine", "poly:degree=3", "linear:scale=2+affine"};
    static const char *const rooted[] = {"linear:in=root,bounds=l-", "affine:in=root,bounds=l-",
                                         "poly:degree=3,in=root,bounds=l-",
                                         "linear:scale=2,in=root,bounds=l-+affine:in=root,bounds=l-"};
    const double x[2] = {1.7, -0.4}, u[2] = {sqrt(1.7), -0.4};
    double one[10], other[10];
    for (size_t i = 0; i < 4; i++) {
        sk_features *plain = features(kernel[i], 2), *map = features(rooted[i], 2);
        assert_int_equal(sk_features_count(map), sk_features_count(plain));
        eval(plain, u, one);
        eval(map, x, other);
        assert_memory_equal(one, other, sk_features_count(map) * sizeof *one);
        sk_features_free(plain);
        sk_features_free(map);
    }
}

static sk_features *pivoted(const char *text, size_t d, size_t count, const double *x)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    bool complete;
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", text, &kernel), SOCK_OK);
    assert_true(sk_kernel_is_implicit(kernel));
    if (sk_features_pivoted(ctx, kernel, d, count, x, 1e-12, count, false, &map, NULL, &complete) < 0)
        fail_msg("%s: %s", text, sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

/* A Gaussian kernel of the roots is that of a file that has the roots: the same pivots, features to the bit, also once
 * saved and read, and slopes that are those of differences. */
static void prop_gauss_in_root_is_the_kernel_of_the_root(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    double x[2 * POINTS], u[2 * POINTS], one[POINTS], other[POINTS], slope[2 * POINTS], up[POINTS], down[POINTS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        sk_normals((sk_key){.seed = seed, .purpose = SK_PURPOSE_TEST}, 0, 0, 0, sizeof x / sizeof *x, x);
        for (size_t i = 0; i < 2 * POINTS; i++) x[i] = i % 2 ? x[i] : fabs(x[i]), u[i] = i % 2 ? x[i] : sqrt(x[i]);
        sk_features *plain = pivoted("gauss:eta=0.8", 2, POINTS, u), *again = NULL;
        sk_features *map = pivoted("gauss:eta=0.8,in=root,bounds=l-", 2, POINTS, x);
        const size_t p = sk_features_count(map);
        assert_int_equal(p, sk_features_count(plain));
        assert_true(sk_features_bounded(map) && !sk_features_separate(map));
        assert_int_equal(sk_features_copy(ctx, map, &again), SOCK_OK);
        for (size_t i = 0; i < POINTS; i++) {
            eval(plain, u + 2 * i, one);
            eval(map, x + 2 * i, other);
            assert_memory_equal(one, other, p * sizeof *one);
            eval(again, x + 2 * i, other);
            assert_memory_equal(one, other, p * sizeof *one);
        }
        const double h = 1e-6, at[2] = {0.9, 0.3};
        assert_int_equal(sk_features_jacobian(ctx, map, at, slope), SOCK_OK);
        for (size_t k = 0; k < 2; k++) {
            const double right[2] = {at[0] + (k == 0) * h, at[1] + (k == 1) * h};
            const double left[2] = {at[0] - (k == 0) * h, at[1] - (k == 1) * h};
            eval(map, right, up);
            eval(map, left, down);
            for (size_t j = 0; j < p; j++) assert_close(slope[j * 2 + k], (up[j] - down[j]) / (2 * h), 1e-4, 1e2);
        }
        sk_features_free(plain), sk_features_free(map), sk_features_free(again);
    }
}

/* Bounded states have units of their own, so that 1 is a length. */
static void test_rootcoordinates__eta_of_roots_is_one(void **state)
{
    (void)state;
    static const double x[] = {0, 300, 500};
    sk_kernel *kernel = NULL;
    char *text = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", "gauss:in=root", &kernel), SOCK_OK);
    assert_int_equal(sk_kernel_resolve(ctx, "diffusion", kernel, 1, 3, x), SOCK_OK);
    assert_non_null(text = sk_kernel_format(ctx, kernel));
    assert_string_equal(text, "gauss:eta=1,in=root");
    sk_free(text);
    sk_kernel_free(kernel);
}

/* sqrt(y), sqrt(1 - y): y (1 - y), the noise of Wright and Fisher, is one of the rates; beyond a bound is at it. */
static void test_rootcoordinates__two_bounds(void **state)
{
    (void)state;
    sk_features *map = features("rates:degree=2,bounds=b", 1), *linear = features("linear:in=root,bounds=u", 1);
    double phi[6], weight, x = 0.3, beyond = 1.5, below = -4, root;
    bool found = false;
    eval(map, &x, phi);
    for (size_t j = 0; j < 6; j++) {
        char *text = sk_features_rate(ctx, map, names + 2, j, &weight);
        if (strcmp(text, "y*(1 - y)") == 0) {
            found = true;
            assert_close(phi[j] * phi[j], weight * 0.21, 1e-14, 1);
        }
        sk_free(text);
    }
    assert_true(found);
    eval(map, &beyond, phi);
    for (size_t j = 0; j < 6; j++) assert_close(phi[j], j == 0 || j == 5 ? 1 : j == 3 ? sqrt(2) : 0, 1e-15, 1);
    eval(linear, &below, &root);
    assert_true(root == 2);
    sk_features_free(map);
    sk_features_free(linear);
}

/* A state without a bound is no factor of a rate. */
static void test_rootcoordinates__rates_are_of_bounded_states(void **state)
{
    (void)state;
    sk_features *map = features("rates:degree=1,bounds=l-", 2);
    const double x[2] = {4, -7};
    double phi[2];
    assert_int_equal(sk_features_count(map), 2);
    eval(map, x, phi);
    assert_true(phi[0] == 2 && phi[1] == 1);
    sk_features_free(map);
}

/* (x - 2) / 5: the monomials are named in the units of the states. */
static void test_rootcoordinates__names_are_in_the_units_of_the_states(void **state)
{
    (void)state;
    sk_features *map = features("rates:degree=1", 1), *copy = NULL, *box = features("rates:degree=1,bounds=b", 1);
    const double origin = 2, scale = 5, x = 7;
    double weight, phi[3];
    assert_int_equal(sk_features_set_units(ctx, map, &origin, &scale), SOCK_OK);
    assert_int_equal(sk_features_set_units(ctx, box, &origin, &scale), SOCK_OK);
    assert_int_equal(sk_features_copy(ctx, map, &copy), SOCK_OK);
    eval(copy, &x, phi);
    char *text = sk_features_rate(ctx, copy, names, 0, &weight);
    assert_string_equal(text, "(S - 2)");
    assert_close(phi[0] * phi[0], weight * (x - 2), 1e-14, 1);
    sk_free(text);
    text = sk_features_label(ctx, copy, names, 0, NULL);
    assert_string_equal(text, "sqrt((S - 2)/5)");
    sk_free(text);
    text = sk_features_rate(ctx, box, names, 1, &weight);
    assert_string_equal(text, "(7 - S)");
    assert_close(weight, 0.2, 1e-14, 1);
    sk_free(text);
    sk_features_free(map);
    sk_features_free(copy);
    sk_features_free(box);
}

/* By differences, inside the bounds; 0 outside. */
static void prop_slopes_of_roots(void **state)
{
    (void)state;
    sk_features *map = features("poly:degree=2,in=root,bounds=lb-", 3);
    const double x[3] = {1.3, 0.4, -0.8}, outside[3] = {-1, 2, 0.5}, h = 1e-5;
    double slope[45], up[15], down[15];
    assert_int_equal(sk_features_count(map), 15);
    assert_int_equal(sk_features_jacobian(ctx, map, x, slope), SOCK_OK);
    for (size_t k = 0; k < 3; k++) {
        double at[3];
        memcpy(at, x, sizeof at);
        at[k] += h;
        eval(map, at, up);
        at[k] -= 2 * h;
        eval(map, at, down);
        for (size_t j = 0; j < 15; j++) assert_close(slope[j * 3 + k], (up[j] - down[j]) / (2 * h), 1e-8, 1);
    }
    assert_int_equal(sk_features_jacobian(ctx, map, outside, slope), SOCK_OK);
    for (size_t j = 0; j < 15; j++) assert_true(slope[j * 3] == 0 && slope[j * 3 + 1] == 0);
    sk_features_free(map);
}

static void refused(const char *text, const char *why)
{
    sk_kernel *kernel = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", text, &kernel), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), why)) fail_msg("%s: %s", text, sock_message(ctx));
}

static void test_rootcoordinates__refuses_what_means_nothing(void **state)
{
    (void)state;
    refused("linear:in=square", "in is 'square'; allowed: root");
    refused("rates:bounds=lx", "bounds is 'lx'; allowed: a letter for each");
    refused("rates:in=root", "rates has no parameter 'in'");
    refused("fourier:in=root", "fourier has no parameter 'in'");
    refused("gauss:in=root,B=[1]", "in=root or B, not both");
    refused("linear:bounds=l", "linear takes bounds with in=root only");
    refused("linear:in=root,B=[1]", "in=root or B, not both");
    refused("rates+constant", "rates cannot be added");
    refused("linear:in=root+affine", "all terms have in=root");
}

static void unfit(const char *text, size_t d, const char *why)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", text, &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, d, 0, NULL, &map), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), why)) fail_msg("%s: %s", text, sock_message(ctx));
    sk_kernel_free(kernel);
}

static void test_rootcoordinates__refuses_states_without_bounds(void **state)
{
    (void)state;
    unfit("rates:bounds=--", 2, "needs a state with a bound");
    unfit("rates:bounds=l", 2, "2 letters");
    unfit("rates:degree=1", SK_MOST_SIDES + 1, "at most 64 states");
}

/* Open bounds are filled in, given ones stay. */
static void test_rootcoordinates__bounds_of_the_fit_fill_in(void **state)
{
    (void)state;
    sk_kernel *open = NULL, *given = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", "rates:degree=1", &open), SOCK_OK);
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", "rates:degree=1,bounds=bl", &given), SOCK_OK);
    sk_kernel_set_sides(open, "l-");
    sk_kernel_set_sides(given, "l-");
    char *one = sk_kernel_format(ctx, open), *other = sk_kernel_format(ctx, given);
    assert_string_equal(one, "rates:degree=1,bounds=l-");
    assert_string_equal(other, "rates:degree=1,bounds=bl");
    assert_true(sk_kernel_is_bounded(open) && !sk_kernel_is_closed(open));
    assert_true(sk_kernel_features(open, 2, 0) == 2 && sk_kernel_features(given, 2, 0) == 4);
    sk_free(one), sk_free(other);
    sk_kernel_free(open);
    sk_kernel_free(given);
}

/* Names are made of many pieces. */
static sock_status name_again(sock_context *context, void *arg)
{
    double weight;
    char *label = sk_features_label(context, arg, names, 0, NULL);
    char *rate = label ? sk_features_rate(context, arg, names, 1, &weight) : NULL;
    const sock_status status = rate ? SOCK_OK : SOCK_ENOMEM;
    sk_free(label);
    sk_free(rate);
    return status;
}

static void test_rootcoordinates__names_survive_every_failed_allocation(void **state)
{
    (void)state;
    sk_features *map = features("rates:degree=2", 2);
    assert_true(for_each_allocation(ctx, name_again, map) > 5);
    sk_features_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rootcoordinates__squares_of_rates_are_monomials),
        cmocka_unit_test(prop_squares_of_rates_add_up),
        cmocka_unit_test(prop_in_root_is_the_kernel_of_the_root),
        cmocka_unit_test(prop_gauss_in_root_is_the_kernel_of_the_root),
        cmocka_unit_test(test_rootcoordinates__eta_of_roots_is_one),
        cmocka_unit_test(test_rootcoordinates__two_bounds),
        cmocka_unit_test(test_rootcoordinates__rates_are_of_bounded_states),
        cmocka_unit_test(test_rootcoordinates__names_are_in_the_units_of_the_states),
        cmocka_unit_test(prop_slopes_of_roots),
        cmocka_unit_test(test_rootcoordinates__refuses_what_means_nothing),
        cmocka_unit_test(test_rootcoordinates__refuses_states_without_bounds),
        cmocka_unit_test(test_rootcoordinates__bounds_of_the_fit_fill_in),
        cmocka_unit_test(test_rootcoordinates__names_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
