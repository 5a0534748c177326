/* test_occupation.c - W, mean increments, residuals and L*: laws that a wrong weight breaks. */
#include "occupation/occupation.h"
#include "test.h"

#include <string.h>

typedef struct fixture {
    sock_context *ctx;
    sock_data *data; /* 2-D: a group of 3 realisations on an irregular grid, a single trajectory, a single point */
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = sock_context_new();
    size_t length[] = {4, 4, 4, 6, 1}, group[] = {0, 0, 0, 1, 2};
    double t[19], x[38];
    static const double grid[] = {0, 0.1, 0.4, 0.45};
    for (size_t i = 0; i < 12; i++) t[i] = grid[i % 4];
    for (size_t i = 12; i < 19; i++) t[i] = 0.2 * (double)(i - 12);
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, 0, 0, 0, 38, x);
    for (size_t j = 1; j < 3; j++) memcpy(x + 8 * j, x, 2 * sizeof *x); /* one start */
    assert_int_equal(sock_data_from_arrays(f->ctx, 2, 5, length, t, x, NULL, group, NULL, &f->data), SOCK_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    sock_data_free(f->data);
    sock_context_free(f->ctx);
    free(f);
    return 0;
}

static sk_rule *rule_of(const fixture *f, const char *quadrature)
{
    sk_rule *rule = NULL;
    assert_int_equal(sk_rule_new(f->ctx, f->data, quadrature, &rule), SOCK_OK);
    return rule;
}

/* The integral of 1 is the length of the interval, whatever the rule and the number of realisations. */
static void prop_rule__integrates_constants(void **state)
{
    const fixture *f = *state;
    const char *names[] = {"trapezoid", "left"};
    for (int q = 0; q < 2; q++) {
        sk_rule *rule = rule_of(f, names[q]);
        assert_int_equal(rule->n, 3 + 5);
        assert_int_equal(rule->nodes, q == 0 ? 12 + 6 : 9 + 5);
        double *one = calloc(rule->nodes, sizeof *one), out[8];
        for (size_t a = 0; a < rule->nodes; a++) one[a] = 1;
        sk_rule_apply(rule, 1, one, out);
        static const double h[] = {0.1, 0.3, 0.05, 0.2, 0.2, 0.2, 0.2, 0.2};
        assert_all_close(8, out, h, 1e-14);
        assert_all_close(8, rule->h, h, 1e-14);
        free(one);
        sk_rule_free(rule);
    }
}

/* W g against the definition: (h / 2M) sum over realisations of both ends; h / M of the left ends. */
static void prop_rule__is_the_mean_over_realisations(void **state)
{
    const fixture *f = *state;
    const char *names[] = {"trapezoid", "left"};
    for (int q = 0; q < 2; q++) {
        sk_rule *rule = rule_of(f, names[q]);
        double out[16], expected[16] = {0}, dy[16] = {0};
        sk_rule_apply(rule, 2, rule->x, out);
        for (size_t g = 0, row = 0; g < 2; g++) {
            size_t first = g == 0 ? 0 : 3, last = g == 0 ? 3 : 4;
            for (size_t i = 0; i < (g == 0 ? 3u : 5u); i++, row++)
                for (size_t j = first; j < last; j++) {
                    const double *t, *x;
                    sock_data_trajectory(f->data, j, &t, &x);
                    double h = t[i + 1] - t[i], m = (double)(last - first);
                    for (size_t k = 0; k < 2; k++) {
                        double ends = q == 0 ? (x[2 * i + k] + x[2 * i + 2 + k]) / 2 : x[2 * i + k];
                        expected[2 * row + k] += h * ends / m;
                        dy[2 * row + k] += (x[2 * i + 2 + k] - x[2 * i + k]) / m;
                    }
                }
        }
        assert_all_close(16, out, expected, 1e-14);
        assert_all_close(16, rule->dy, dy, 1e-14);
        sk_rule_free(rule);
    }
}

static void prop_rule__adjoint(void **state)
{
    const fixture *f = *state;
    sk_rule *rule = rule_of(f, "trapezoid");
    double g[18 * 3], b[8 * 3], wg[8 * 3], wb[18 * 3], left = 0, right = 0;
    sk_normals((sk_key){2, SK_PURPOSE_TEST}, 0, 0, 0, 54, g);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, 24, b);
    sk_rule_apply(rule, 3, g, wg);
    sk_rule_adjoint(rule, 3, b, wb);
    for (size_t i = 0; i < 24; i++) left += wg[i] * b[i];
    for (size_t i = 0; i < 54; i++) right += wb[i] * g[i];
    assert_close(left, right, 1e-13, 1);
    sk_rule_free(rule);
}

/* L* by blocks against W G W' with G stored, on more nodes than a block holds. */
static void prop_gram__is_w_g_w(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    size_t length[3] = {300, 2, 420}, total = 722;
    double *t = calloc(total, sizeof *t), *x = calloc(2 * total, sizeof *x);
    for (size_t i = 0; i < total; i++) t[i] = 0.01 * (double)(i + i % 3);
    sk_normals((sk_key){4, SK_PURPOSE_TEST}, 0, 0, 0, 2 * total, x);
    sock_data *data = NULL;
    sk_kernel *kernel = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 3, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_kernel_parse(ctx, "drift", "gauss:eta=0.7+poly:degree=2", &kernel), SOCK_OK);
    const char *names[] = {"trapezoid", "left"};
    for (int q = 0; q < 2; q++) {
        sk_rule *rule = NULL;
        assert_int_equal(sk_rule_new(ctx, data, names[q], &rule), SOCK_OK);
        size_t n = rule->n, nodes = rule->nodes;
        double *l = calloc(n * n, sizeof *l), *l1 = calloc(n * n, sizeof *l1), *g = calloc(nodes * nodes, sizeof *g);
        double *wg = calloc(n * nodes, sizeof *wg), *expected = calloc(n * n, sizeof *expected);
        for (size_t a = 0; a < nodes; a++)
            for (size_t b = 0; b < nodes; b++) {
                double r2 = 0, dot = 0;
                for (size_t k = 0; k < 2; k++) {
                    double u = rule->x[2 * a + k], v = rule->x[2 * b + k];
                    r2 += (u - v) * (u - v);
                    dot += u * v;
                }
                g[a * nodes + b] = exp(-r2 / (2 * 0.49)) + (dot + 1) * (dot + 1);
            }
        sk_rule_apply(rule, nodes, g, wg);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                for (size_t e = rule->row[j]; e < rule->row[j + 1]; e++)
                    expected[i * n + j] += wg[i * nodes + rule->node[e]] * rule->weight[e];
        assert_int_equal(sk_occupation_gram(ctx, rule, kernel, l, n), SOCK_OK);
        assert_all_close(n * n, l, expected, 1e-13);
        sock_set_threads(ctx, 1);
        assert_int_equal(sk_occupation_gram(ctx, rule, kernel, l1, n), SOCK_OK);
        assert_memory_equal(l, l1, n * n * sizeof *l); /* threads change nothing */
        sock_set_threads(ctx, 2);
        free(l), free(l1), free(g), free(wg), free(expected);
        sk_rule_free(rule);
    }
    sk_kernel_free(kernel);
    sock_data_free(data);
    free(t), free(x);
}

/* Realisations by the hundred: one interval touches more nodes than a tile holds. L* = W (W G)' by whole products. */
static void prop_gram__of_large_groups(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    enum { MEMBERS = 300, POINTS = 4, TOTAL = MEMBERS * POINTS };
    size_t *length = calloc(MEMBERS, sizeof *length), *group = calloc(MEMBERS, sizeof *group);
    double *t = calloc(TOTAL, sizeof *t), *x = calloc(2 * TOTAL, sizeof *x);
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, 2 * TOTAL, x);
    for (size_t i = 0; i < TOTAL; i++) {
        length[i / POINTS] = POINTS;
        t[i] = 0.1 * (double)(i % POINTS);
        if (i % POINTS == 0) x[2 * i] = x[2 * i + 1] = 0.5; /* one start */
    }
    sock_data *data = NULL;
    sk_kernel *kernel = NULL;
    sk_rule *rule = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, MEMBERS, length, t, x, NULL, group, NULL, &data), SOCK_OK);
    assert_int_equal(sk_kernel_parse(ctx, "drift", "gauss:eta=0.7", &kernel), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, "trapezoid", &rule), SOCK_OK);
    assert_int_equal(rule->n, POINTS - 1);
    double *g = calloc(TOTAL * TOTAL, sizeof *g), *wg = calloc(3 * TOTAL, sizeof *wg), l[9], big[36], expected[9];
    double *gw = calloc(3 * TOTAL, sizeof *gw);
    for (size_t a = 0; a < TOTAL; a++)
        for (size_t b = 0; b < TOTAL; b++) {
            double u = rule->x[2 * a] - rule->x[2 * b], v = rule->x[2 * a + 1] - rule->x[2 * b + 1];
            g[a * TOTAL + b] = exp(-(u * u + v * v) / (2 * 0.49));
        }
    sk_rule_apply(rule, TOTAL, g, wg);
    for (size_t i = 0; i < 3; i++)
        for (size_t a = 0; a < TOTAL; a++) gw[a * 3 + i] = wg[i * TOTAL + a];
    sk_rule_apply(rule, 3, gw, expected);
    assert_int_equal(sk_occupation_gram(ctx, rule, kernel, l, 3), SOCK_OK);
    assert_all_close(9, l, expected, 1e-13);
    assert_int_equal(sk_occupation_matrix_gram(ctx, rule, kernel, big, 6), SOCK_OK);
    for (size_t i = 0; i < 36; i++)
        assert_close(big[i], i / 6 % 2 == i % 2 ? expected[i / 12 * 3 + i % 6 / 2] : 0, 1e-13, 0.01);
    free(length), free(group), free(t), free(x), free(g), free(wg), free(gw);
    sk_rule_free(rule);
    sk_kernel_free(kernel);
    sock_data_free(data);
}

/* A scalar kernel through the matrix-valued code: L* (x) I. */
static void prop_matrix_gram__of_a_scalar_kernel(void **state)
{
    const fixture *f = *state;
    sk_rule *rule = rule_of(f, "trapezoid");
    sk_kernel *kernel = NULL;
    assert_int_equal(sk_kernel_parse(f->ctx, "drift", "gauss:eta=0.9", &kernel), SOCK_OK);
    double l[64], big[256];
    assert_int_equal(sk_occupation_gram(f->ctx, rule, kernel, l, 8), SOCK_OK);
    assert_int_equal(sk_occupation_matrix_gram(f->ctx, rule, kernel, big, 16), SOCK_OK);
    for (size_t i = 0; i < 16; i++)
        for (size_t j = 0; j < 16; j++)
            assert_close(big[i * 16 + j], i % 2 == j % 2 ? l[i / 2 * 8 + j / 2] : 0, 1e-14, 0.01);
    sk_kernel_free(kernel);
    sk_rule_free(rule);
}

static void test_rule__refuses_data_without_an_interval(void **state)
{
    sock_context *ctx = ((fixture *)*state)->ctx;
    size_t length[] = {1, 1};
    double t[] = {0, 0}, x[] = {1, 2};
    sock_data *data = NULL;
    sk_rule *rule = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_rule_new(ctx, data, "left", &rule), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "no trajectory has two points"));
    sock_data_free(data);
}

/* z against the definition, with the integral of an arbitrary f written out for each rule. */
static void test_residuals__are_means_of_outer_products(void **state)
{
    const fixture *f = *state;
    const char *names[] = {"trapezoid", "left"};
    double drift[19 * 2], z[8 * 4];
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, 38, drift);
    for (int q = 0; q < 2; q++) {
        double expected[8 * 4] = {0};
        assert_int_equal(sk_residual_products(f->ctx, f->data, names[q], drift, z), SOCK_OK);
        for (size_t j = 0; j < 4; j++) {
            size_t first = j < 3 ? 0 : 3, start = 4 * j, steps = j < 3 ? 3 : 5;
            const double *t, *x;
            sock_data_trajectory(f->data, j, &t, &x);
            for (size_t i = 0; i < steps; i++) {
                const double *g = drift + 2 * (start + i), h = t[i + 1] - t[i];
                double e[2];
                for (size_t k = 0; k < 2; k++)
                    e[k] = x[2 * i + 2 + k] - x[2 * i + k] - h * (q == 0 ? (g[k] + g[2 + k]) / 2 : g[k]);
                for (size_t k = 0; k < 4; k++) expected[4 * (first + i) + k] += e[k / 2] * e[k % 2] / (j < 3 ? 3 : 1);
            }
        }
        assert_all_close(8 * 4, z, expected, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_rule__integrates_constants),
        cmocka_unit_test(prop_rule__is_the_mean_over_realisations),
        cmocka_unit_test(prop_rule__adjoint),
        cmocka_unit_test(prop_gram__is_w_g_w),
        cmocka_unit_test(prop_gram__of_large_groups),
        cmocka_unit_test(prop_matrix_gram__of_a_scalar_kernel),
        cmocka_unit_test(test_rule__refuses_data_without_an_interval),
        cmocka_unit_test(test_residuals__are_means_of_outer_products),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
