/* test_features.c - feature maps: products of features are kernels, derivatives are derivatives, a map survives its
 * way through a file, and nothing false comes back from one. */
#include "kernel/kernel.h"
#include "la/la.h"
#include "onecontext.h"

#include <string.h>

/* ---- Helpers ---- */

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
    sk_normals((sk_key){.seed = 3, .purpose = SK_PURPOSE_TEST}, stream, 0, 0, count, x);
    return x;
}

static sk_features *features(const char *text, size_t d, size_t count, const double *x)
{
    sk_kernel *kernel = parse(text);
    sk_features *map = NULL;
    if (sk_features_new(ctx, "drift", kernel, d, count, x, &map) < 0) fail_msg("%s", sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

static sk_features *pivoted(const char *text, size_t d, size_t count, const double *x, double tolerance)
{
    sk_kernel *kernel = parse(text);
    sk_features *map = NULL;
    if (sk_features_pivoted(ctx, kernel, d, count, x, tolerance, count, false, &map, NULL, NULL) < 0)
        fail_msg("%s", sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

static double *eval(const sk_features *map, size_t n, const double *x)
{
    double *phi = sk_doubles(ctx, n, sk_features_count(map));
    assert_int_equal(sk_features_eval(ctx, map, n, x, phi, sk_features_count(map)), SOCK_OK);
    return phi;
}

/* The kernel at all pairs, n x n. */
static double *gram(const char *text, size_t d, size_t n, const double *x)
{
    sk_kernel *kernel = parse(text);
    double *out = sk_doubles(ctx, n, n), *space = sk_doubles(ctx, sk_kernel_space(d, n), 1);
    sk_kernel_block(ctx, kernel, d, n, x, n, x, out, n, space);
    sk_kernel_free(kernel);
    sk_free(space);
    return out;
}

/* Products of the features of all pairs, n x n. */
static double *products(const sk_features *map, size_t n, const double *x)
{
    const size_t p = sk_features_count(map);
    double *phi = eval(map, n, x), *out = sk_doubles(ctx, n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < p; k++) out[i * n + j] += phi[i * p + k] * phi[j * p + k];
    sk_free(phi);
    return out;
}

/* ---- Exact features ---- */

static void prop_exact_features_multiply_to_the_kernel(void **state)
{
    (void)state;
    enum { N = 15 };
    const char *const text[] = {"linear",
                                "affine",
                                "constant:scale=3",
                                "poly:degree=1",
                                "poly:degree=2",
                                "poly:degree=3",
                                "poly:degree=5,scale=.2",
                                "poly:degree=20",
                                "linear:scale=2+poly:degree=3+constant+affine:scale=0.5+poly:degree=2"};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++)
        for (size_t d = 1; d <= 4; d++) {
            double *x = normals(d, N * d), *expected = gram(text[t], d, N, x);
            sk_features *map = features(text[t], d, 0, NULL);
            double *found = products(map, N, x);
            assert_all_close(N * N, found, expected, 1e-13);
            sk_features_free(map);
            sk_free(x), sk_free(expected), sk_free(found);
        }
}

static void test_polyfeatures__order_is_degree_then_lexicographic(void **state)
{
    (void)state;
    const double x[] = {2, 3, 5}, r = sqrt(2), phi2[] = {4, r * 6, 9, r * 2, r * 3, 1},
                 phi3[] = {4, r * 6, r * 10, 9, r * 15, 25, r * 2, r * 3, r * 5, 1};
    sk_features *two = features("poly:degree=2", 2, 0, NULL), *three = features("poly:degree=2", 3, 0, NULL);
    double *found2 = eval(two, 1, x), *found3 = eval(three, 1, x);
    assert_int_equal(sk_features_count(two), 6);
    assert_int_equal(sk_features_count(three), 10);
    assert_all_close(6, found2, phi2, 1e-15);
    assert_all_close(10, found3, phi3, 1e-15);
    sk_features_free(two), sk_features_free(three);
    sk_free(found2), sk_free(found3);
}

static void refuse(const char *text, size_t d, const char *reason)
{
    sk_kernel *kernel = parse(text);
    sk_features *map = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, d, 0, NULL, &map), SOCK_EUSAGE);
    assert_null(map);
    if (!strstr(sock_message(ctx), reason)) fail_msg("'%s' does not say '%s'", sock_message(ctx), reason);
    sk_kernel_free(kernel);
}

static void test_features__refuse_what_has_none(void **state)
{
    (void)state;
    refuse("gauss:eta=1", 2, "drift: gauss has no finite features");
    refuse("linear:B=[1 0;0 1]", 2, "drift: linear with B is matrix-valued");
    refuse("curlfree:eta=1", 2, "drift: curlfree is matrix-valued");
    refuse("fourier", 2, "drift: eta of fourier is not known");
    refuse("nystrom:eta=1", 2, "drift: the number of landmarks m of nystrom is not known");
    refuse("poly:degree=20", 50, "drift: poly of degree 20 in 50 dimensions has too many features");
    refuse("poly:degree=2", SIZE_MAX, "too many features");
    refuse("fourier:eta=1,p=1000000+linear", 2, "drift: the kernel has 1000002 features");
    sk_kernel *kernel = parse("nystrom:m=3,eta=1");
    sk_features *map = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 1, 0, NULL, &map), SOCK_EINPUT);
    sk_kernel_free(kernel);
}

/* ---- Fourier ---- */

static const sk_array *array_named(const sk_array *arrays, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(arrays[i].name, name)) return &arrays[i];
    fail_msg("no array %s", name);
    return NULL;
}

static void test_fourier__is_the_papers_formula(void **state)
{
    (void)state;
    enum { D = 3, N = 9, P = 37 };
    double *x = normals(20, N * D);
    sk_features *map = features("fourier:p=37,eta=0.7,seed=5,scale=3", D, 0, NULL);
    double *phi = eval(map, N, x), expected[N * P];
    char *text;
    sk_array *arrays;
    size_t count;
    assert_int_equal(sk_features_export(ctx, map, &text, &arrays, &count), SOCK_OK);
    assert_int_equal(count, 2);
    const double *omega = array_named(arrays, count, "0.omega")->values;
    const double *beta = array_named(arrays, count, "0.beta")->values;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++) {
            double angle = beta[j];
            for (size_t k = 0; k < D; k++) angle += omega[j * D + k] * x[i * D + k] / 0.7;
            expected[i * P + j] = sqrt(3.0) * sqrt(2.0 / P) * cos(angle);
            assert_true(beta[j] > 0 && beta[j] < 2 * 3.14159265358979324);
        }
    assert_all_close(N * P, phi, expected, 1e-14);
    sk_features_free(map);
    sk_free(x), sk_free(phi), sk_free(text), sk_free(arrays);
}

/* The error of the average of p terms of variance <= 1/2 + 1/2 is below 5 / sqrt(p) with certainty to the eye. */
static void prop_fourier_features_approach_gauss(void **state)
{
    (void)state;
    enum { D = 2, N = 12 };
    double *x = normals(21, N * D), *expected = gram("gauss:eta=1.2", D, N, x);
    sk_features *map = features("fourier:p=40000,eta=1.2,seed=1", D, 0, NULL);
    double *found = products(map, N, x);
    for (size_t i = 0; i < N * N; i++) assert_close(found[i], expected[i], 5 / sqrt(40000.), 1);
    sk_features_free(map);
    sk_free(x), sk_free(expected), sk_free(found);
}

static void test_fourier__seed_and_place_make_the_numbers(void **state)
{
    (void)state;
    double x[] = {0.3, -0.2};
    sk_features *a = features("fourier:p=8,eta=1,seed=1", 2, 0, NULL),
                *b = features("fourier:p=8,eta=1,seed=2", 2, 0, NULL),
                *sum = features("fourier:p=8,eta=1,seed=1+fourier:p=8,eta=1,seed=1", 2, 0, NULL);
    double *phi_a = eval(a, 1, x), *phi_b = eval(b, 1, x), *phi_sum = eval(sum, 1, x);
    assert_memory_equal(phi_a, phi_sum, 8 * sizeof *phi_a);
    for (size_t j = 0; j < 8; j++) assert_true(phi_a[j] != phi_b[j] && phi_sum[j + 8] != phi_a[j]);
    sk_features_free(a), sk_features_free(b), sk_features_free(sum);
    sk_free(phi_a), sk_free(phi_b), sk_free(phi_sum);
}

/* ---- Pivots and landmarks ---- */

/* States of a CSV group,real,t,x0,x1. */
static size_t read_states(const char *path, size_t most, double *x)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t n = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (n < most && fgets(line, sizeof line, file))
        n += sscanf(line, "%*[^,],%*[^,],%*[^,],%lf,%lf", &x[2 * n], &x[2 * n + 1]) == 2;
    fclose(file);
    return n;
}

/* An independent program found 11 different points of 16, and that rank. */
static void test_pivoted__rank_is_the_number_of_different_points(void **state)
{
    (void)state;
    double x[2 * 32], *phi = NULL;
    bool complete = false;
    sk_features *map = NULL;
    sk_kernel *kernel = parse("gauss:eta=0.9");
    assert_int_equal(read_states(TEST_DATA "/diff_gauss.csv", 32, x), 16);
    assert_int_equal(sk_features_pivoted(ctx, kernel, 2, 16, x, 1e-14, 16, false, &map, &phi, &complete), SOCK_OK);
    assert_int_equal(sk_features_count(map), 11);
    assert_true(complete);
    double *expected = gram("gauss:eta=0.9", 2, 16, x), *found = products(map, 16, x);
    assert_all_close(16 * 16, found, expected, 1e-13);
    sk_kernel_free(kernel);
    sk_features_free(map);
    sk_free(phi), sk_free(expected), sk_free(found);
}

/* On the data: products of features are the kernel, the features given out are those evaluated. Elsewhere:
 * gamma(x).gamma(x_a) = k(x, x_a), because k(., x_a) lies in the span, up to the root of what was left of k(x_a, x_a).
 */
static void prop_pivoted_features_are_isometric_on_the_span(void **state)
{
    (void)state;
    enum { D = 2, N = 60, MORE = 25 };
    const char *const text[] = {"gauss:eta=0.5", "gauss:eta=2,scale=3+linear", "poly:degree=3", "affine"};
    const size_t rank[] = {0, 0, 10, 3};
    for (size_t t = 0; t < 4; t++) {
        double *x = normals(30, (N + MORE) * D), *expected = gram(text[t], D, N + MORE, x), *phi = NULL;
        sk_kernel *kernel = parse(text[t]);
        sk_features *map = NULL;
        bool complete = false;
        assert_int_equal(sk_features_pivoted(ctx, kernel, D, N, x, 1e-13, N, false, &map, &phi, &complete), SOCK_OK);
        assert_true(complete);
        const size_t p = sk_features_count(map);
        if (rank[t]) assert_int_equal(p, rank[t]);
        double *again = eval(map, N, x), *found = products(map, N + MORE, x);
        assert_all_close(N * p, phi, again, 1e-6); /* small features are known to the root of the tolerance */
        double largest = 0;
        for (size_t i = 0; i < N + MORE; i++) largest = fmax(largest, expected[i * (N + MORE) + i]);
        for (size_t a = 0; a < N; a++)
            for (size_t i = 0; i < N + MORE; i++)
                assert_close(found[a * (N + MORE) + i], expected[a * (N + MORE) + i], i < N ? 1e-12 : 1e-6, largest);
        sk_kernel_free(kernel);
        sk_features_free(map);
        sk_free(x), sk_free(expected), sk_free(phi), sk_free(again), sk_free(found);
    }
}

/* L L' is the kernel at the pivots, and gamma(x).w = k(x, pivots) L^-T w. */
static void test_pivoted__gives_out_pivots_and_factor(void **state)
{
    (void)state;
    enum { D = 2, N = 40, M = 7 };
    double *x = normals(31, N * D), *z = normals(32, M * D), *w = normals(33, N);
    sk_features *map = pivoted("gauss:eta=0.6", D, N, x, 1e-6);
    const size_t p = sk_features_count(map);
    const double *pivots = sk_features_pivots(map), *l = sk_features_factor(map);
    double *expected = gram("gauss:eta=0.6", D, p, pivots), *found = sk_doubles(ctx, p, p), *phi = eval(map, M, z);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            if (j > i) assert_true(l[i * p + j] == 0);
            for (size_t k = 0; k < p; k++) found[i * p + j] += l[i * p + k] * l[j * p + k];
        }
    assert_all_close(p * p, found, expected, 1e-14);
    double f[M] = {0}, k[M * N], *space = sk_doubles(ctx, sk_kernel_space(D, p), 1), g[M] = {0};
    for (size_t i = 0; i < M; i++) f[i] = sk_dot(p, phi + i * p, w);
    sk_solve_lower(ctx, SK_TRANSPOSED, p, 1, l, p, w, 1);
    sk_kernel_block(ctx, sk_features_kernel(map), D, M, z, p, pivots, k, p, space);
    for (size_t i = 0; i < M; i++) g[i] = sk_dot(p, k + i * p, w);
    assert_all_close(M, g, f, 1e-11);
    sk_features_free(map);
    sk_free(x), sk_free(z), sk_free(w), sk_free(expected), sk_free(found), sk_free(phi), sk_free(space);
}

static void test_pivoted__stops_at_the_rank_allowed(void **state)
{
    (void)state;
    double *x = normals(34, 200 * 10), zero[4] = {0};
    sk_kernel *kernel = parse("gauss:eta=1"), *linear = parse("linear"), *fourier = parse("fourier:eta=1"),
              *open = parse("gauss");
    sk_features *map = NULL, *none = NULL;
    bool complete = true;
    assert_int_equal(sk_features_pivoted(ctx, kernel, 10, 200, x, 1e-12, 20, false, &map, NULL, &complete), SOCK_OK);
    assert_int_equal(sk_features_count(map), 20);
    assert_false(complete);
    sk_begin(ctx);
    assert_int_equal(sk_features_pivoted(ctx, linear, 2, 2, zero, 1e-12, 2, false, &none, NULL, NULL), SOCK_ENUMERIC);
    assert_int_equal(sk_features_pivoted(ctx, fourier, 2, 2, zero, 1e-12, 2, false, &none, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sk_features_pivoted(ctx, open, 2, 2, zero, 1e-12, 2, false, &none, NULL, NULL), SOCK_EUSAGE);
    assert_null(none);
    sk_kernel_free(kernel), sk_kernel_free(linear), sk_kernel_free(fourier), sk_kernel_free(open);
    sk_features_free(map);
    sk_free(x);
}

/* All points as landmarks: the kernel itself on the data, whatever the seed. */
static void prop_nystrom_of_all_points_is_the_kernel(void **state)
{
    (void)state;
    enum { D = 3, N = 30 };
    double *x = normals(40, N * D);
    for (size_t k = 0; k < 5 * D; k++) x[k + 5 * D] = x[k]; /* five points twice */
    double *expected = gram("gauss:eta=0.9,scale=2", D, N, x);
    sk_features *map = features("nystrom:m=100,of=gauss,eta=0.9,scale=2,seed=3", D, N, x);
    assert_true(sk_features_count(map) == N - 5);
    double *found = products(map, N, x);
    assert_all_close(N * N, found, expected, 1e-11);
    sk_features_free(map);
    sk_free(x), sk_free(expected), sk_free(found);
}

/* A kernel of six features needs six landmarks, and is then exact everywhere. */
static void test_nystrom__handles_more_landmarks_than_rank(void **state)
{
    (void)state;
    enum { D = 2, N = 80, M = 20 };
    double *x = normals(41, N * D), *z = normals(42, M * D), *expected = gram("poly:degree=2", D, M, z);
    sk_features *map = features("nystrom:m=50,of=poly,degree=2", D, N, x);
    assert_int_equal(sk_features_count(map), 6);
    double *found = products(map, M, z);
    assert_all_close(M * M, found, expected, 1e-11);
    sk_features_free(map);
    sk_free(x), sk_free(z), sk_free(expected), sk_free(found);
}

static void test_nystrom__landmarks_are_different_points_of_the_data(void **state)
{
    (void)state;
    enum { D = 2, N = 200, M = 25 };
    double *x = normals(43, N * D), seen_first[2] = {0};
    for (uint64_t seed = 0; seed < 2; seed++) {
        char text[64];
        bool taken[N] = {false};
        snprintf(text, sizeof text, "nystrom:m=25,eta=0.1,seed=%d", (int)seed);
        sk_features *map = features(text, D, N, x);
        assert_int_equal(sk_features_count(map), M);
        const double *pivots = sk_features_pivots(map);
        for (size_t i = 0; i < M; i++) {
            size_t a = 0;
            while (a < N && memcmp(x + a * D, pivots + i * D, D * sizeof *x) != 0) a++;
            assert_true(a < N && !taken[a]);
            taken[a] = true;
        }
        for (size_t a = 0; a < N; a++) seen_first[seed] += taken[a] ? (double)a * (double)a : 0;
        sk_features_free(map);
    }
    assert_true(seen_first[0] != seen_first[1]);
    sk_free(x);
}

/* ---- What all maps have in common ---- */

enum { ALL_D = 2, ALL_N = 50, ALL_MAPS = 6 };

static sk_features *some_map(size_t which, const double *x)
{
    switch (which) {
    case 0: return features("poly:degree=4,scale=0.3", ALL_D, ALL_N, x);
    case 1: return features("linear:scale=2", ALL_D, ALL_N, x);
    case 2: return features("fourier:p=11,eta=0.8,scale=2", ALL_D, ALL_N, x);
    case 3: return features("nystrom:m=9,of=gauss,eta=0.8", ALL_D, ALL_N, x);
    case 4: return pivoted("gauss:eta=1.5+poly:degree=3+linear:scale=2+affine+constant", ALL_D, ALL_N, x, 1e-3);
    default: return features("affine+nystrom:m=9,of=poly,degree=3+fourier:p=4,eta=2+constant+linear", ALL_D, ALL_N, x);
    }
}

static void prop_jacobian_is_the_derivative(void **state)
{
    (void)state;
    const double h = 1e-3, place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    double *x = normals(50, ALL_N * ALL_D), at[ALL_D] = {0.4, -0.7};
    for (size_t which = 0; which < ALL_MAPS; which++) {
        sk_features *map = some_map(which, x);
        const size_t p = sk_features_count(map);
        double *found = sk_doubles(ctx, p, ALL_D), *expected = sk_doubles(ctx, p, ALL_D);
        for (size_t k = 0; k < ALL_D; k++)
            for (int s = 0; s < 4; s++) {
                double moved[ALL_D] = {at[0], at[1]};
                moved[k] += place[s] * h;
                double *phi = eval(map, 1, moved);
                for (size_t j = 0; j < p; j++) expected[j * ALL_D + k] += weight[s] * phi[j] / (12 * h);
                sk_free(phi);
            }
        assert_int_equal(sk_features_jacobian(ctx, map, at, found), SOCK_OK);
        assert_all_close(p * ALL_D, found, expected, 1e-8);
        sk_features_free(map);
        sk_free(found), sk_free(expected);
    }
    sk_free(x);
}

/* Many points: the same numbers for any number of threads, the same as one block after the other, and the gap between
 * rows untouched. */
static void test_features__eval_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 1500 };
    double *x = normals(51, N * ALL_D);
    for (size_t which = 0; which < ALL_MAPS; which++) {
        sk_features *map = some_map(which, x);
        const size_t p = sk_features_count(map), ld = p + 2;
        double *phi[3], *space = sk_doubles(ctx, sk_features_space(map, 256), 1);
        for (int t = 0; t < 3; t++) {
            phi[t] = sk_doubles(ctx, N, ld);
            for (size_t i = 0; i < N * ld; i++) phi[t][i] = -3;
        }
        assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
        assert_int_equal(sk_features_eval(ctx, map, N, x, phi[0], ld), SOCK_OK);
        assert_int_equal(sock_set_threads(ctx, 4), SOCK_OK);
        assert_int_equal(sk_features_eval(ctx, map, N, x, phi[1], ld), SOCK_OK);
        for (size_t i = 0; i < N; i += 256)
            sk_features_block(ctx, map, SK_MIN(256, N - i), x + i * ALL_D, phi[2] + i * ld, ld, space);
        for (size_t i = 0; i < N; i++) assert_true(phi[1][i * ld + p] == -3 && phi[1][i * ld + p + 1] == -3);
        assert_memory_equal(phi[0], phi[1], N * ld * sizeof **phi);
        assert_all_close(N * ld, phi[2], phi[0], 1e-12);
        sk_features_free(map);
        for (int t = 0; t < 3; t++) sk_free(phi[t]);
        sk_free(space);
    }
    sk_free(x);
}

static void test_features__labels_say_what_they_are(void **state)
{
    (void)state;
    const char *const names[] = {"x", "y"}, *const expected[] = {"x^3", "x^2*y", "x*y^2", "y^3", "x^2", "x*y",
                                                                 "y^2", "x",     "y",     "1",   "x",   "y"};
    const double x = 1.3, y = -0.7,
                 value[] = {x * x * x, x * x * y, x * y * y, y * y * y, x * x, x * y, y * y, x, y, 1, x, y};
    double at[] = {1.3, -0.7}, weight = 0;
    sk_features *map = features("poly:degree=3,scale=2+linear:scale=9", 2, 0, NULL);
    double *phi = eval(map, 1, at);
    for (size_t j = 0; j < 12; j++) {
        char *label = sk_features_label(ctx, map, names, j, &weight);
        assert_string_equal(label, expected[j]);
        assert_close(weight * value[j], phi[j], 1e-15, 1);
        sk_free(label);
    }
    sk_features_free(map);
    sk_free(phi);

    map = features("fourier:p=3,eta=2", 2, 0, NULL);
    phi = eval(map, 1, at);
    for (size_t j = 0; j < 3; j++) {
        char *label = sk_features_label(ctx, map, names, j, &weight), sign = 0;
        double a = 0, b = 0, c = 0;
        assert_int_equal(sscanf(label, "cos(%lf*x %c %lf*y + %lf)", &a, &sign, &b, &c), 4);
        assert_close(weight * cos(a * at[0] + (sign == '-' ? -b : b) * at[1] + c), phi[j], 1e-13, 1);
        sk_free(label);
    }
    sk_features_free(map);
    sk_free(phi);

    map = pivoted("gauss:eta=1", 2, 1, at, 1e-12);
    char *label = sk_features_label(ctx, map, names, 0, NULL);
    assert_string_equal(label, "k(., pivot 1)");
    sk_free(label);
    sk_features_free(map);
}

/* ---- Files ---- */

static void prop_import_undoes_export(void **state)
{
    (void)state;
    double *x = normals(60, ALL_N * ALL_D);
    for (size_t which = 0; which < ALL_MAPS; which++) {
        sk_features *map = some_map(which, x), *back = NULL;
        char *text, *text_back;
        sk_array *arrays, *arrays_back;
        size_t count, count_back;
        assert_int_equal(sk_features_export(ctx, map, &text, &arrays, &count), SOCK_OK);
        if (sk_features_import(ctx, text, ALL_D, arrays, count, &back) < 0) fail_msg("%s", sock_message(ctx));
        assert_int_equal(sk_features_export(ctx, back, &text_back, &arrays_back, &count_back), SOCK_OK);
        assert_string_equal(text, text_back);
        assert_int_equal(count, count_back);
        double *phi = eval(map, ALL_N, x);
        sk_free(arrays), sk_free(text);
        const size_t p = sk_features_count(map);
        assert_int_equal(sk_features_count(back), p);
        assert_int_equal(sk_features_pivots(back) != NULL, sk_features_pivots(map) != NULL);
        sk_features_free(map); /* the copy stands on its own */
        double *phi_back = eval(back, ALL_N, x);
        assert_memory_equal(phi, phi_back, ALL_N * p * sizeof *phi);
        sk_features_free(back);
        sk_free(phi), sk_free(phi_back), sk_free(text_back), sk_free(arrays_back);
    }
    sk_free(x);
}

/* phi of a scaled map at x is phi of the plain one at x / scale; derivatives, labels and copies follow. */
static void prop_a_scaled_map_is_the_map_at_scaled_points(void **state)
{
    (void)state;
    static const double scale[ALL_D] = {1e-3, 20};
    static const char *const names[] = {"x", "y"};
    double *x = normals(61, ALL_N * ALL_D), *far = sk_doubles(ctx, ALL_N, ALL_D), jacobian[2][4000], weight[2];
    for (size_t i = 0; i < ALL_N * ALL_D; i++) far[i] = x[i] * scale[i % ALL_D];
    for (size_t which = 0; which < ALL_MAPS; which++) {
        sk_features *map = some_map(which, x), *scaled = NULL, *copy = NULL;
        const size_t p = sk_features_count(map);
        assert_int_equal(sk_features_copy(ctx, map, &scaled), SOCK_OK);
        assert_null(sk_features_scale(scaled));
        assert_int_equal(sk_features_set_units(ctx, scaled, NULL, scale), SOCK_OK);
        assert_int_equal(sk_features_copy(ctx, scaled, &copy), SOCK_OK);
        assert_memory_equal(sk_features_scale(copy), scale, sizeof scale);
        double *phi = eval(map, ALL_N, x), *there = eval(copy, ALL_N, far);
        assert_all_close(ALL_N * p, there, phi, 1e-9);
        assert_true(p * ALL_D <= 4000);
        assert_int_equal(sk_features_jacobian(ctx, map, x, jacobian[0]), SOCK_OK);
        assert_int_equal(sk_features_jacobian(ctx, scaled, far, jacobian[1]), SOCK_OK);
        for (size_t j = 0; j < p * ALL_D; j++) jacobian[1][j] *= scale[j % ALL_D];
        assert_all_close(p * ALL_D, jacobian[1], jacobian[0], 1e-9);
        for (size_t j = 0; j < p; j++) { /* a monomial keeps its name, and its weight takes the units */
            char *label = sk_features_label(ctx, map, names, j, &weight[0]);
            char *other = sk_features_label(ctx, scaled, names, j, &weight[1]);
            double units = 1;
            for (const char *c = label; strncmp(label, "cos", 3) != 0 && label[0] != 'k' && *c; c++)
                for (size_t k = 0; k < ALL_D; k++)
                    if (*c == names[k][0]) units *= pow(scale[k], c[1] == '^' ? atof(c + 2) : 1);
            if (strncmp(label, "cos", 3) != 0) assert_string_equal(label, other);
            assert_close(weight[1] * units, weight[0], 1e-12, 0);
            sk_free(label), sk_free(other);
        }
        sk_features_free(map), sk_features_free(scaled), sk_features_free(copy);
        sk_free(phi), sk_free(there);
    }
    sk_free(x), sk_free(far);
}

/* phi of a map with zero and units is phi of the plain one at (x - origin) / scale, also when they come in two steps;
 * derivatives, copies and labels follow. */
static void prop_a_map_with_an_origin_is_the_map_at_moved_points(void **state)
{
    (void)state;
    static const double origin[ALL_D] = {300, -0.5}, scale[ALL_D] = {4, 0.25}, inner[ALL_D] = {-2, 8};
    static const char *const names[] = {"x", "y"};
    double *x = normals(62, ALL_N * ALL_D), *far = sk_doubles(ctx, ALL_N, ALL_D), jacobian[2][4000];
    for (size_t i = 0; i < ALL_N * ALL_D; i++)
        far[i] = origin[i % ALL_D] + scale[i % ALL_D] * (x[i] + inner[i % ALL_D]);
    for (size_t which = 0; which < ALL_MAPS; which++) {
        sk_features *map = some_map(which, x), *moved = NULL, *copy = NULL;
        const size_t p = sk_features_count(map);
        assert_int_equal(sk_features_copy(ctx, map, &moved), SOCK_OK);
        assert_null(sk_features_origin(moved));
        assert_int_equal(sk_features_set_units(ctx, moved, inner, NULL), SOCK_OK);
        assert_int_equal(sk_features_set_units(ctx, moved, origin, scale), SOCK_OK);
        for (size_t k = 0; k < ALL_D; k++) {
            assert_true(sk_features_origin(moved)[k] == origin[k] + scale[k] * inner[k]);
            assert_true(sk_features_scale(moved)[k] == scale[k]);
        }
        assert_int_equal(sk_features_copy(ctx, moved, &copy), SOCK_OK);
        assert_memory_equal(sk_features_origin(copy), sk_features_origin(moved), sizeof origin);
        double *phi = eval(map, ALL_N, x), *there = eval(copy, ALL_N, far);
        assert_all_close(ALL_N * p, there, phi, 1e-8);
        assert_int_equal(sk_features_jacobian(ctx, map, x, jacobian[0]), SOCK_OK);
        assert_int_equal(sk_features_jacobian(ctx, moved, far, jacobian[1]), SOCK_OK);
        for (size_t j = 0; j < p * ALL_D; j++) jacobian[1][j] *= scale[j % ALL_D];
        assert_all_close(p * ALL_D, jacobian[1], jacobian[0], 1e-8);
        char *label = sk_features_label(ctx, moved, names, 0, NULL);
        if (label[0] != 'k' && label[0] != '1') assert_non_null(strstr(label, "(x - 292)"));
        sk_free(label);
        sk_features_free(map), sk_features_free(moved), sk_features_free(copy);
        sk_free(phi), sk_free(there);
    }
    sk_free(x), sk_free(far);
}

typedef struct broken {
    const char *text;
    size_t d;
    sk_array array[3];
    size_t count;
    const char *reason;
} broken;

static void test_features__import_refuses_what_does_not_fit(void **state)
{
    (void)state;
    static const double one[] = {1, 0, 0.5, 1}, nan2[] = {1, NAN}, two[] = {2}, minus[] = {-1},
                        upper[] = {1, 0.5, 0, 1}, zero[] = {1, 0, 0.5, 0};
    const broken cases[] = {
        {"gaus", 1, {{"", 0, 0, NULL}}, 0, "unknown kernel"},
        {"", 1, {{"", 0, 0, NULL}}, 0, "name is missing"},
        {"gauss:eta=1", 1, {{"", 0, 0, NULL}}, 0, "gauss has no finite features"},
        {"linear", 0, {{"", 0, 0, NULL}}, 0, "at least 1 dimension"},
        {"linear", 1, {{"0.omega", 1, 1, one}}, 1, "comes with 1 arrays and uses 0"},
        {"linear", 2, {{"scale", 1, 1, one}}, 1, "'scale' of a feature map is 1 x 1; 1 x 2 is needed"},
        {"linear", 2, {{"scale", 2, 2, one}}, 1, "'scale' of a feature map is 2 x 2; 1 x 2 is needed"},
        {"linear", 2, {{"scale", 1, 2, one}}, 1, "holds 0 at place 1; it must be > 0"},
        {"linear", 2, {{"scale", 1, 2, nan2}}, 1, "holds nan at place 1"},
        {"poly:degree=20", 100, {{"", 0, 0, NULL}}, 0, "too many features"},
        {"fourier:p=2", 1, {{"0.omega", 2, 1, one}, {"0.beta", 2, 1, one}}, 2, "eta of fourier is not known"},
        {"poly:degree=1",
         1,
         {{"0.kept", 2, 1, one}},
         1,
         "holds 0 at place 1; it must hold rising whole numbers below 2"},
        {"poly:degree=1", 1, {{"0.kept", 1, 1, two}}, 1, "holds 2 at place 0"},
        {"poly:degree=1", 1, {{"0.kept", 1, 1, one + 2}}, 1, "holds 0.5 at place 0"},
        {"poly:degree=1", 1, {{"0.kept", 1, 1, minus}}, 1, "holds -1 at place 0"},
        {"poly:degree=1", 1, {{"0.kept", 0, 1, one}}, 1, "at least 1 x 1"},
        {"affine", 1, {{"0.kept", 1, 1, two}}, 1, "holds 2 at place 0"},
        {"constant", 1, {{"0.kept", 1, 1, one}}, 1, "holds 1 at place 0"},
        {"linear", 1, {{"0.kept", 1, 1, one}}, 1, "comes with 1 arrays and uses 0"},
        {"fourier:p=2,eta=1", 1, {{"0.omega", 2, 1, one}}, 1, "has no array '0.beta'"},
        {"fourier:p=2,eta=1", 1, {{"1.omega", 2, 1, one}, {"0.beta", 2, 1, one}}, 2, "has no array '0.omega'"},
        {"fourier:p=2,eta=1", 2, {{"0.omega", 2, 1, one}, {"0.beta", 2, 1, one}}, 2, "is 2 x 1; 2 x 2 is needed"},
        {"fourier:p=3,eta=1", 1, {{"0.omega", 2, 1, one}, {"0.beta", 3, 1, one}}, 2, "is 2 x 1; 3 x 1 is needed"},
        {"fourier:p=2,eta=1", 1, {{"0.omega", 2, 1, nan2}, {"0.beta", 2, 1, one}}, 2, "holds nan at place 1"},
        {"pivoted(gauss:eta=1", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, one}}, 2, "does not end in ')'"},
        {"pivoted()", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, one}}, 2, "name is missing"},
        {"pivoted(", 1, {{"", 0, 0, NULL}}, 0, "does not end in ')'"},
        {"pivoted(gauss)", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, one}}, 2, "eta of gauss is not known"},
        {"pivoted(fourier:eta=1)", 1, {{"", 0, 0, NULL}}, 0, "has no pivoted features"},
        {"pivoted(gauss:eta=1)", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 1, 1, one}}, 2, "is 1 x 1; 2 x 2"},
        {"pivoted(gauss:eta=1)", 1, {{"0.landmarks", 0, 1, one}, {"0.factor", 0, 0, one}}, 2, "at least 1 x 1"},
        {"pivoted(gauss:eta=1)",
         1,
         {{"0.landmarks", 1000001, 1, one}},
         1,
         "is 1000001 x 1; at most 1000000 x 1 is needed"},
        {"pivoted(gauss:eta=1)", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, upper}}, 2, "not lower triangular"},
        {"pivoted(gauss:eta=1)", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, zero}}, 2, "0 on its diagonal"},
        {"nystrom:eta=1",
         1,
         {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, one}},
         2,
         "landmarks m of nystrom is not known"},
        {"nystrom:m=1,eta=1", 1, {{"0.landmarks", 2, 1, one}, {"0.factor", 2, 2, one}}, 2, "more than m = 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const broken *c = &cases[i];
        sk_features *map = NULL;
        sk_begin(ctx);
        assert_int_equal(sk_features_import(ctx, c->text, c->d, c->array, c->count, &map), SOCK_EINPUT);
        assert_null(map);
        if (!strstr(sock_message(ctx), c->reason))
            fail_msg("'%s' says '%s', not '%s'", c->text, sock_message(ctx), c->reason);
    }
}

/* ---- Some monomials ---- */

/* Some of the features of a polynomial are those columns, in values, derivatives, labels and powers; of them some
 * again; in units of their own; and after a file. */
static void prop_selected_features_are_columns_of_all(void **state)
{
    (void)state;
    enum { N = 7, D = 3, KEPT = 5 };
    static const size_t keep[KEPT] = {0, 4, 11, 18, 19}, fewer[] = {1, 3, 4};
    static const char *const names[] = {"x", "y", "z"};
    static const double scale[] = {2, 0.5, 3}, origin[] = {0.2, 0, -1};
    double *x = normals(80, N * D);
    sk_features *all = features("poly:degree=3,scale=1.7", D, 0, NULL), *some = NULL, *few = NULL, *back = NULL;
    assert_int_equal(sk_features_set_units(ctx, all, origin, scale), SOCK_OK);
    assert_int_equal(sk_features_select(ctx, all, KEPT, keep, &some), SOCK_OK);
    assert_int_equal(sk_features_select(ctx, some, 3, fewer, &few), SOCK_OK);
    assert_int_equal(sk_features_copy(ctx, few, &back), SOCK_OK);
    const size_t p = sk_features_count(all);
    assert_true(p == 20 && sk_features_count(some) == KEPT && sk_features_count(back) == 3);
    double *phi = eval(all, N, x), *part = eval(some, N, x), *three = eval(back, N, x), slope[20 * D], own[KEPT * D];
    assert_int_equal(sk_features_jacobian(ctx, all, x, slope), SOCK_OK);
    assert_int_equal(sk_features_jacobian(ctx, some, x, own), SOCK_OK);
    assert_true(sk_features_polynomial(some));
    for (size_t j = 0; j < KEPT; j++) {
        double weight, expected;
        unsigned power[D], wanted[D];
        for (size_t i = 0; i < N; i++) assert_close(part[i * KEPT + j], phi[i * p + keep[j]], 1e-15, 1);
        for (size_t k = 0; k < D; k++) assert_close(own[j * D + k], slope[keep[j] * D + k], 1e-15, 1);
        char *label = sk_features_label(ctx, some, names, j, &weight);
        char *whole = sk_features_label(ctx, all, names, keep[j], &expected);
        assert_string_equal(label, whole);
        assert_close(weight, expected, 1e-15, 1);
        sk_features_monomial(some, j, power, &weight);
        sk_features_monomial(all, keep[j], wanted, &expected);
        assert_memory_equal(power, wanted, sizeof power);
        assert_close(weight, expected, 1e-15, 1);
        sk_free(label), sk_free(whole);
    }
    for (size_t i = 0; i < N * 3; i++) assert_close(three[i], part[i / 3 * KEPT + fewer[i % 3]], 1e-15, 1);
    sk_features_free(all), sk_features_free(some), sk_features_free(few), sk_features_free(back);
    sk_free(x), sk_free(phi), sk_free(part), sk_free(three);
}

/* Whatever polynomial they are of, they are read back from a file. */
static void test_features__a_selection_of_any_polynomial_comes_back(void **state)
{
    (void)state;
    static const char *const kernels[] = {"affine", "constant", "poly:degree=1", "poly:degree=2"};
    static const size_t keep[] = {0};
    const double x[] = {0.3, -2};
    for (size_t i = 0; i < 4; i++) {
        sk_features *all = features(kernels[i], 2, 0, NULL), *some = NULL, *back = NULL;
        assert_int_equal(sk_features_select(ctx, all, 1, keep, &some), SOCK_OK);
        assert_int_equal(sk_features_copy(ctx, some, &back), SOCK_OK);
        double *phi = eval(all, 1, x), *one = eval(back, 1, x);
        assert_int_equal(sk_features_count(back), 1);
        assert_close(one[0], phi[0], 0, 0);
        sk_features_free(all), sk_features_free(some), sk_features_free(back);
        sk_free(phi), sk_free(one);
    }
}

static sock_status select_and_copy(sock_context *own, void *map)
{
    static const size_t keep[] = {0, 4};
    sk_features *some = NULL, *copy = NULL;
    sock_status status = sk_features_select(own, map, 2, keep, &some);
    if (status >= 0) status = sk_features_copy(own, some, &copy);
    sk_features_free(some);
    sk_features_free(copy);
    return status;
}

static void test_features__selection_survives_every_failed_allocation(void **state)
{
    (void)state;
    static const double scale[] = {2, 0.5};
    sk_features *all = features("poly:degree=2", 2, 0, NULL);
    assert_int_equal(sk_features_set_units(ctx, all, NULL, scale), SOCK_OK);
    assert_true(for_each_allocation(ctx, select_and_copy, all) > 10);
    sk_features_free(all);
}

/* ---- Memory ---- */

static sock_status make_and_store(const sk_kernel *sum, const sk_kernel *gauss, const double *x)
{
    sk_features *map = NULL, *piv = NULL, *back = NULL;
    double *phi = NULL, *own = NULL, *slope = NULL;
    char *text = NULL;
    sk_array *arrays = NULL;
    size_t count = 0;
    sock_status status = SOCK_ENOMEM;
    SK_GO(sk_features_new(ctx, "drift", sum, ALL_D, ALL_N, x, &map));
    SK_GO(sk_features_pivoted(ctx, gauss, ALL_D, ALL_N, x, 1e-6, ALL_N, false, &piv, &own, NULL));
    phi = sk_doubles(ctx, ALL_N, sk_features_count(map));
    slope = sk_doubles(ctx, sk_features_count(map), ALL_D);
    if (!phi || !slope) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(sk_features_eval(ctx, map, ALL_N, x, phi, sk_features_count(map)));
    SK_GO(sk_features_jacobian(ctx, map, x, slope));
    SK_GO(sk_features_export(ctx, map, &text, &arrays, &count));
    SK_GO(sk_features_import(ctx, text, ALL_D, arrays, count, &back));
    sk_free(text);
    text = sk_features_label(ctx, map, (const char *const[]){"x", "y"}, sk_features_count(map) - 1, NULL);
    if (!text) status = SOCK_ENOMEM;
out:
    sk_features_free(map), sk_features_free(piv), sk_features_free(back);
    sk_free(phi), sk_free(own), sk_free(slope), sk_free(text), sk_free(arrays);
    return status;
}

static void test_features__survive_every_failed_allocation(void **state)
{
    (void)state;
    double *x = normals(70, ALL_N * ALL_D);
    sk_kernel *sum = parse("poly:degree=2+nystrom:m=5,eta=1+fourier:p=3,eta=1"), *gauss = parse("gauss:eta=1");
    for (long k = 1;; k++) {
        sk_begin(ctx);
        sk_fail_allocation(ctx, k);
        sock_status status = make_and_store(sum, gauss, x);
        sk_fail_allocation(ctx, 0);
        if (status == SOCK_OK) {
            assert_true(k > 40);
            break;
        }
        assert_int_equal(status, SOCK_ENOMEM);
    }
    sk_kernel_free(sum), sk_kernel_free(gauss);
    sk_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_exact_features_multiply_to_the_kernel),
        cmocka_unit_test(test_polyfeatures__order_is_degree_then_lexicographic),
        cmocka_unit_test(test_features__refuse_what_has_none),
        cmocka_unit_test(test_fourier__is_the_papers_formula),
        cmocka_unit_test(prop_fourier_features_approach_gauss),
        cmocka_unit_test(test_fourier__seed_and_place_make_the_numbers),
        cmocka_unit_test(test_pivoted__rank_is_the_number_of_different_points),
        cmocka_unit_test(prop_pivoted_features_are_isometric_on_the_span),
        cmocka_unit_test(test_pivoted__gives_out_pivots_and_factor),
        cmocka_unit_test(test_pivoted__stops_at_the_rank_allowed),
        cmocka_unit_test(prop_nystrom_of_all_points_is_the_kernel),
        cmocka_unit_test(test_nystrom__handles_more_landmarks_than_rank),
        cmocka_unit_test(test_nystrom__landmarks_are_different_points_of_the_data),
        cmocka_unit_test(prop_jacobian_is_the_derivative),
        cmocka_unit_test(test_features__eval_does_not_depend_on_threads),
        cmocka_unit_test(test_features__labels_say_what_they_are),
        cmocka_unit_test(prop_import_undoes_export),
        cmocka_unit_test(prop_a_scaled_map_is_the_map_at_scaled_points),
        cmocka_unit_test(prop_a_map_with_an_origin_is_the_map_at_moved_points),
        cmocka_unit_test(test_features__import_refuses_what_does_not_fit),
        cmocka_unit_test(prop_selected_features_are_columns_of_all),
        cmocka_unit_test(test_features__a_selection_of_any_polynomial_comes_back),
        cmocka_unit_test(test_features__selection_survives_every_failed_allocation),
        cmocka_unit_test(test_features__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
