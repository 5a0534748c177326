/* test_steps.c - single steps and the rules made of them: what a sigma point must carry, and nothing but it. */
#include "occupation/steps.h"
#include "onecontext.h"

/* Three trajectories in d dimensions, of 4, 1 and 3 points, at irregular times. */
static sock_data *some_data(size_t d)
{
    static const double t[] = {0, 0.1, 0.4, 0.45, 0, 0.3, 0.5, 1.5};
    size_t length[] = {4, 1, 3};
    double x[80];
    sock_data *data = NULL;
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, 8 * d, x);
    assert_int_equal(sock_data_from_arrays(ctx, d, 3, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static sk_steps *steps_of(const sock_data *data)
{
    sk_steps *steps = NULL;
    assert_int_equal(sk_steps_new(ctx, data, &steps), SOCK_OK);
    return steps;
}

static void test_steps__are_the_intervals_of_every_realisation(void **state)
{
    (void)state;
    static const double h[] = {0.1, 0.3, 0.05, 0.2, 1};
    static const size_t from[] = {0, 1, 2, 5, 6}, of[] = {0, 0, 0, 2, 2};
    sock_data *data = some_data(2);
    sk_steps *s = steps_of(data);
    assert_int_equal(s->n, 5);
    assert_int_equal(s->trajectories, 3);
    for (size_t i = 0; i < 5; i++) {
        assert_close(s->h[i], h[i], 1e-15, 1);
        assert_int_equal(s->trajectory[i], of[i]);
        for (size_t k = 0; k < 2; k++) {
            double y = data->x[from[i] * 2 + k], next = data->x[(from[i] + 1) * 2 + k];
            assert_true(s->y[i * 2 + k] == y && s->next[i * 2 + k] == next && s->dy[i * 2 + k] == next - y);
        }
    }
    sk_steps_free(s);
    sock_data_free(data);
}

static void test_steps__subset_takes_the_listed_ones(void **state)
{
    (void)state;
    static const size_t keep[] = {4, 0, 4};
    sock_data *data = some_data(2);
    sk_steps *s = steps_of(data), *few = NULL;
    assert_int_equal(sk_steps_subset(ctx, s, 3, keep, &few), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(few->h[i] == s->h[keep[i]]);
        assert_int_equal(few->trajectory[i], s->trajectory[keep[i]]);
        assert_memory_equal(few->y + 2 * i, s->y + 2 * keep[i], 2 * sizeof(double));
        assert_memory_equal(few->next + 2 * i, s->next + 2 * keep[i], 2 * sizeof(double));
        assert_memory_equal(few->dy + 2 * i, s->dy + 2 * keep[i], 2 * sizeof(double));
    }
    sk_steps_free(few);
    sk_steps_free(s);
    sock_data_free(data);
}

static void test_steps__refuse_data_without_an_interval(void **state)
{
    (void)state;
    size_t length[] = {1, 1};
    double t[] = {0, 0}, x[] = {1, 2};
    sock_data *data = NULL;
    sk_steps *steps = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_steps_new(ctx, data, &steps), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "no trajectory has two points"));
    sock_data_free(data);
}

/* a0 = B B' of rank `rank` at each step, f0 any. */
static void random_fields(size_t n, size_t d, size_t rank, double *f0, double *a0)
{
    double *b = calloc(d * rank, sizeof *b);
    sk_normals((sk_key){6, SK_PURPOSE_TEST}, d, 0, 0, n * d, f0);
    for (size_t i = 0; i < n; i++) {
        sk_normals((sk_key){6, SK_PURPOSE_TEST}, d, 1 + i, 0, d * rank, b);
        for (size_t k = 0; k < d * d; k++) {
            a0[i * d * d + k] = 0;
            for (size_t r = 0; r < rank; r++) a0[i * d * d + k] += b[k / d * rank + r] * b[k % d * rank + r];
        }
    }
    free(b);
}

/* g(x) = 0.7 + c'x + x'Sx at the nodes of step i of the rule, summed with their weights. */
static double integral(const sk_rule *rule, size_t i, const double *c, const double *s)
{
    size_t d = rule->d;
    double sum = 0;
    for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
        const double *x = rule->x + rule->node[e] * d;
        double g = 0.7;
        for (size_t k = 0; k < d; k++) {
            g += c[k] * x[k];
            for (size_t l = 0; l < d; l++) g += s[k * d + l] * x[k] * x[l];
        }
        sum += rule->weight[e] * g;
    }
    return sum;
}

/* E g over N(m, C) = 0.7 + c'm + m'Sm + tr SC: the rule must give h/2 (g(y) + E g) exactly, also for a singular C. */
static void prop_conditional_rule_is_exact_for_quadratics(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (size_t rank = 0; rank <= d; rank++) {
            double f0[15], a0[45], c[3], s[9];
            sock_data *data = some_data(d);
            sk_steps *steps = steps_of(data);
            sk_rule *rule = NULL;
            random_fields(steps->n, d, rank, f0, a0);
            sk_normals((sk_key){7, SK_PURPOSE_TEST}, d, 0, 0, d, c);
            sk_normals((sk_key){7, SK_PURPOSE_TEST}, d, 1, 0, d * d, s);
            assert_int_equal(sk_rule_conditional(ctx, steps, f0, a0, &rule), SOCK_OK);
            for (size_t i = 0; i < steps->n; i++) {
                double h = steps->h[i], here = 0.7, there = 0.7, total = 0;
                const double *y = steps->y + i * d, *a = a0 + i * d * d;
                for (size_t k = 0; k < d; k++) {
                    double mk = y[k] + h * f0[i * d + k];
                    here += c[k] * y[k], there += c[k] * mk;
                    for (size_t l = 0; l < d; l++) {
                        double ml = y[l] + h * f0[i * d + l];
                        here += s[k * d + l] * y[k] * y[l];
                        there += s[k * d + l] * (mk * ml + h * a[k * d + l]);
                    }
                }
                assert_int_equal(rule->row[i + 1] - rule->row[i], 1 + 2 * d);
                assert_close(integral(rule, i, c, s), 0.5 * h * (here + there), 1e-12, 1);
                for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) total += rule->weight[e];
                assert_close(total, h, 1e-14, 0);
                assert_memory_equal(rule->x + rule->row[i] * d, y, d * sizeof *y); /* the left end comes first */
                assert_true(rule->h[i] == h);
                assert_memory_equal(rule->dy + i * d, steps->dy + i * d, d * sizeof(double));
            }
            sk_rule_free(rule);
            sk_steps_free(steps);
            sock_data_free(data);
        }
}

static void test_steps__without_a_model_the_rule_is_the_left_point(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_steps *s = steps_of(data);
    sk_rule *rule = NULL;
    assert_int_equal(sk_rule_conditional(ctx, s, NULL, NULL, &rule), SOCK_OK);
    assert_int_equal(rule->nodes, s->n);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(rule->row[i], i);
        assert_true(rule->weight[i] == s->h[i]);
        assert_memory_equal(rule->x + 2 * i, s->y + 2 * i, 2 * sizeof(double));
    }
    sk_rule_free(rule);
    sk_steps_free(s);
    sock_data_free(data);
}

static void test_steps__ends_are_the_trapezoid(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_steps *s = steps_of(data);
    sk_rule *rule = NULL;
    assert_int_equal(sk_rule_ends(ctx, s, &rule), SOCK_OK);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(rule->row[i], 2 * i);
        assert_true(rule->weight[2 * i] == 0.5 * s->h[i] && rule->weight[2 * i + 1] == 0.5 * s->h[i]);
        assert_memory_equal(rule->x + 4 * i, s->y + 2 * i, 2 * sizeof(double));
        assert_memory_equal(rule->x + 4 * i + 2, s->next + 2 * i, 2 * sizeof(double));
    }
    sk_rule_free(rule);
    sk_steps_free(s);
    sock_data_free(data);
}

static sock_status make_all(sock_context *c, void *arg)
{
    const sock_data *data = arg;
    static const double f0[10], a0[20];
    sk_steps *s = NULL, *few = NULL;
    sk_rule *one = NULL, *two = NULL;
    size_t keep[] = {1};
    sock_status status = sk_steps_new(c, data, &s);
    if (status >= 0) status = sk_steps_subset(c, s, 1, keep, &few);
    if (status >= 0) status = sk_rule_conditional(c, s, f0, a0, &one);
    if (status >= 0) status = sk_rule_ends(c, s, &two);
    sk_rule_free(one);
    sk_rule_free(two);
    sk_steps_free(s);
    sk_steps_free(few);
    return status;
}

static void test_steps__survive_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    assert_true(for_each_allocation(ctx, make_all, data) > 15);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps__are_the_intervals_of_every_realisation),
        cmocka_unit_test(test_steps__subset_takes_the_listed_ones),
        cmocka_unit_test(test_steps__refuse_data_without_an_interval),
        cmocka_unit_test(prop_conditional_rule_is_exact_for_quadratics),
        cmocka_unit_test(test_steps__without_a_model_the_rule_is_the_left_point),
        cmocka_unit_test(test_steps__ends_are_the_trapezoid),
        cmocka_unit_test(test_steps__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
