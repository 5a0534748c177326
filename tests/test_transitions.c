/* test_transitions.c - single transitions, who is held out when, their blocks; and the rules made of them: what a sigma
 * point must carry, and nothing but it. */
#include "occupation/transitions.h"
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

/* Steps of these data: 0, 1, 2 of the first trajectory, 3, 4 of the last. */
enum { STEPS = 5, LEFT_OUT = 7 };
static size_t points[STEPS] = {0, 1, 2, 5, 6}, clusters[STEPS] = {0, 0, 0, 2, 2};
static const double lengths[STEPS] = {0.1, 0.3, 0.05, 0.2, 1};

static sk_transitions *split_rows(const sock_data *data, const size_t *fold, size_t folds, const sk_units *units)
{
    sk_transitions *t = NULL;
    size_t copy[STEPS];
    sk_split split = {STEPS, folds, 3, points, copy, clusters, NULL};
    memcpy(copy, fold, sizeof copy);
    assert_int_equal(sk_transitions_new(ctx, data, &split, units, &t), SOCK_OK);
    return t;
}

static sk_transitions *all_rows(const sock_data *data)
{
    static const size_t fold[STEPS] = {SK_ALWAYS, SK_ALWAYS, SK_ALWAYS, SK_ALWAYS, SK_ALWAYS};
    return split_rows(data, fold, 0, NULL);
}

/* Row i of t is step `step` of the data. */
static void check_row(const sk_transitions *t, size_t i, const sock_data *data, size_t step, const sk_units *units)
{
    assert_close(t->h[i], lengths[step], 1e-15, 1);
    assert_int_equal(t->cluster[i], clusters[step]);
    for (size_t k = 0; k < t->d; k++) {
        const double y = data->x[points[step] * t->d + k], next = data->x[(points[step] + 1) * t->d + k];
        assert_true(t->y[i * t->d + k] == (units ? (y - units->centre[k]) / units->scale[k] : y));
        assert_true(t->next[i * t->d + k] == (units ? (next - units->centre[k]) / units->scale[k] : next));
        assert_true(t->zero[k] == (units ? units->zero[k] : 0));
    }
}

static void test_transitions__are_the_intervals_of_every_realisation(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_transitions *t = all_rows(data);
    assert_int_equal(t->n, STEPS);
    assert_int_equal(t->d, 2);
    assert_int_equal(t->clusters, 3);
    assert_int_equal(t->folds, 0);
    for (size_t i = 0; i < STEPS; i++) check_row(t, i, data, i, NULL);
    sk_transitions_free(t);
    sock_data_free(data);
}

/* Fold by fold, in the order of the split inside one, those always in at the end; a step of no fold is not there. */
static void test_transitions__stand_fold_by_fold(void **state)
{
    (void)state;
    static const size_t fold[STEPS] = {2, 0, SK_ALWAYS, LEFT_OUT, 0}, order[] = {1, 4, 0, 2}, first[] = {0, 2, 2, 3, 4};
    static const size_t fold_of[] = {0, 0, 2, 3}, block[] = {0, 2, 3, 4};
    static double scale[] = {3, 0.2}, centre[] = {-5, 0.7}, zero[] = {2, 9};
    const sk_units units = {centre, scale, zero};
    sock_data *data = some_data(2);
    sk_transitions *t = split_rows(data, fold, 3, &units);
    assert_int_equal(t->n, 4);
    assert_int_equal(t->folds, 3);
    for (size_t f = 0; f < 5; f++) assert_int_equal(t->first[f], first[f]);
    assert_int_equal(t->blocks, 3); /* fold 1 has no rows, and no block */
    for (size_t b = 0; b < 4; b++) assert_int_equal(t->block[b], block[b]);
    for (size_t i = 0; i < 4; i++) {
        check_row(t, i, data, order[i], &units);
        assert_int_equal(sk_transitions_fold(t, i), fold_of[i]);
    }
    sk_transitions_free(t);
    sock_data_free(data);
}

static void test_transitions__subset_keeps_rows_and_folds(void **state)
{
    (void)state;
    static const size_t fold[STEPS] = {1, 0, SK_ALWAYS, 1, 0}, keep[] = {1, 3, 4}, order[] = {4, 3, 2};
    static const size_t first[] = {0, 1, 2, 3}, none[] = {2, 3}, first_of_none[] = {0, 0, 2, 2};
    sock_data *data = some_data(2);
    sk_transitions *t = split_rows(data, fold, 2, NULL), *few = NULL, *fewer = NULL;
    assert_int_equal(sk_transitions_subset(ctx, t, 3, keep, &few), SOCK_OK);
    assert_int_equal(few->n, 3);
    assert_int_equal(few->folds, 2);
    assert_int_equal(few->clusters, 3);
    assert_int_equal(few->blocks, 3);
    for (size_t i = 0; i < 3; i++) {
        check_row(few, i, data, order[i], NULL);
        assert_int_equal(sk_transitions_fold(few, i), sk_transitions_fold(t, keep[i]));
    }
    for (size_t f = 0; f < 4; f++) assert_int_equal(few->first[f], first[f]);
    assert_int_equal(sk_transitions_subset(ctx, t, 2, none, &fewer), SOCK_OK); /* fold 1 alone */
    for (size_t f = 0; f < 4; f++) assert_int_equal(fewer->first[f], first_of_none[f]);
    assert_int_equal(fewer->blocks, 1);
    sk_transitions_free(fewer);
    sk_transitions_free(few);
    sk_transitions_free(t);
    sock_data_free(data);
}

/* Blocks cover all rows, are full but for the last of a fold, and none crosses the border of a fold. */
static void test_transitions__blocks_end_where_a_fold_ends(void **state)
{
    (void)state;
    enum { N = 3 * SK_BLOCK + 100 };
    static const size_t wanted[] = {0, SK_BLOCK, SK_BLOCK + 50, 2 * SK_BLOCK + 50, 3 * SK_BLOCK + 50, N};
    double *x = calloc(N + 1, sizeof *x), *times = calloc(N + 1, sizeof *times);
    sk_split split = {.n = N, .folds = 2, .clusters = 1};
    split.point = calloc(N, sizeof *split.point);
    split.fold = calloc(N, sizeof *split.fold);
    split.cluster = calloc(N, sizeof *split.cluster);
    for (size_t i = 0; i <= N; i++) x[i] = sin((double)i), times[i] = (double)i;
    for (size_t i = 0; i < N; i++) {
        split.point[i] = i;
        split.fold[i] = i < SK_BLOCK + 50 ? 0 : i < 3 * SK_BLOCK + 50 ? 1 : SK_ALWAYS;
    }
    size_t length = N + 1;
    sock_data *data = NULL;
    sk_transitions *t = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, times, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_transitions_new(ctx, data, &split, NULL, &t), SOCK_OK);
    assert_int_equal(t->blocks, 5);
    for (size_t b = 0; b <= 5; b++) assert_int_equal(t->block[b], wanted[b]);
    sk_transitions_free(t);
    sock_data_free(data);
    free(x), free(times), free(split.point), free(split.fold), free(split.cluster);
}

static void test_transitions__reach_is_a_thousandth_of_the_spread(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_transitions *t = all_rows(data);
    for (size_t k = 0; k < 2; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < STEPS; i++) {
            const double y = data->x[points[i] * 2 + k];
            sum += y, square += y * y;
        }
        assert_close(t->reach[k], 1e-3 * sqrt(square / STEPS - sum * sum / (STEPS * STEPS)), 1e-12, 0);
    }
    sk_transitions_free(t);
    double x[] = {2, 2, 2, 2, 5, 2, 2, 2}; /* left ends that never change */
    memcpy(data->x, x, sizeof x);
    data->d = 1;
    t = all_rows(data);
    assert_true(t->reach[0] == 1e-3);
    data->d = 2;
    sk_transitions_free(t);
    sock_data_free(data);
}

static void test_transitions__at_rest_nothing_changes(void **state)
{
    (void)state;
    double y[] = {1, 2, 1, 2, 1, 2}, next[] = {1, 2, 1, 2.5, 0.5, 2};
    const sk_transitions t = {.n = 3, .d = 2, .y = y, .next = next};
    assert_false(sk_transitions_moves(&t, 0));
    assert_true(sk_transitions_moves(&t, 1));
    assert_true(sk_transitions_moves(&t, 2));
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
    size_t d = rule->in;
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
            sk_transitions *steps = all_rows(data);
            sk_rule *rule = NULL;
            random_fields(steps->n, d, rank, f0, a0);
            sk_normals((sk_key){7, SK_PURPOSE_TEST}, d, 0, 0, d, c);
            sk_normals((sk_key){7, SK_PURPOSE_TEST}, d, 1, 0, d * d, s);
            assert_int_equal(sk_rule_conditional(ctx, steps, 0, steps->n, f0, a0, &rule), SOCK_OK);
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
                for (size_t k = 0; k < d; k++) assert_true(rule->dy[i * d + k] == steps->next[i * d + k] - y[k]);
            }
            sk_rule_free(rule);
            sk_transitions_free(steps);
            sock_data_free(data);
        }
}

static void test_transitions__without_a_model_the_rule_is_the_left_point(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_transitions *s = all_rows(data);
    sk_rule *rule = NULL;
    assert_int_equal(sk_rule_conditional(ctx, s, 0, s->n, NULL, NULL, &rule), SOCK_OK);
    assert_int_equal(rule->nodes, s->n);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(rule->row[i], i);
        assert_true(rule->weight[i] == s->h[i]);
        assert_memory_equal(rule->x + 2 * i, s->y + 2 * i, 2 * sizeof(double));
    }
    sk_rule_free(rule);
    sk_transitions_free(s);
    sock_data_free(data);
}

static void test_transitions__ends_are_the_trapezoid(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    sk_transitions *s = all_rows(data);
    sk_rule *rule = NULL;
    assert_int_equal(sk_rule_ends(ctx, s, 0, s->n, &rule), SOCK_OK);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(rule->row[i], 2 * i);
        assert_true(rule->weight[2 * i] == 0.5 * s->h[i] && rule->weight[2 * i + 1] == 0.5 * s->h[i]);
        assert_memory_equal(rule->x + 4 * i, s->y + 2 * i, 2 * sizeof(double));
        assert_memory_equal(rule->x + 4 * i + 2, s->next + 2 * i, 2 * sizeof(double));
    }
    sk_rule_free(rule);
    sk_transitions_free(s);
    sock_data_free(data);
}

/* A rule of some rows is that part of the rule of all. */
static void prop_rule_of_a_block_is_a_part_of_the_whole(void **state)
{
    (void)state;
    enum { D = 2, BEGIN = 1, END = 4 };
    double f0[STEPS * D], a0[STEPS * D * D];
    sock_data *data = some_data(D);
    sk_transitions *s = all_rows(data);
    random_fields(STEPS, D, D, f0, a0);
    for (int maker = 0; maker < 2; maker++) {
        sk_rule *all = NULL, *some = NULL;
        if (maker) {
            assert_int_equal(sk_rule_ends(ctx, s, 0, STEPS, &all), SOCK_OK);
            assert_int_equal(sk_rule_ends(ctx, s, BEGIN, END, &some), SOCK_OK);
        } else {
            assert_int_equal(sk_rule_conditional(ctx, s, 0, STEPS, f0, a0, &all), SOCK_OK);
            assert_int_equal(sk_rule_conditional(ctx, s, BEGIN, END, f0 + BEGIN * D, a0 + BEGIN * D * D, &some),
                             SOCK_OK);
        }
        const size_t first = all->row[BEGIN], count = all->row[END] - first;
        assert_int_equal(some->n, END - BEGIN);
        assert_int_equal(some->nodes, count);
        assert_true(some->in == D && some->out == D);
        assert_memory_equal(some->x, all->x + first * D, count * D * sizeof(double));
        assert_memory_equal(some->weight, all->weight + first, count * sizeof(double));
        assert_memory_equal(some->h, all->h + BEGIN, (END - BEGIN) * sizeof(double));
        assert_memory_equal(some->dy, all->dy + BEGIN * D, (END - BEGIN) * D * sizeof(double));
        for (size_t i = 0; i <= END - BEGIN; i++) assert_int_equal(some->row[i], all->row[BEGIN + i] - first);
        for (size_t e = 0; e < count; e++) assert_int_equal(some->node[e], e);
        sk_rule_free(all);
        sk_rule_free(some);
    }
    sk_transitions_free(s);
    sock_data_free(data);
}

static sock_status make_all(sock_context *c, void *arg)
{
    const sock_data *data = arg;
    static const double f0[10], a0[20];
    size_t fold[STEPS] = {0, 1, SK_ALWAYS, 0, 1};
    sk_split split = {STEPS, 2, 3, points, fold, clusters, NULL};
    sk_transitions *s = NULL, *few = NULL;
    sk_rule *one = NULL, *two = NULL;
    size_t keep[] = {1};
    sock_status status = sk_transitions_new(c, data, &split, NULL, &s);
    if (status >= 0) status = sk_transitions_subset(c, s, 1, keep, &few);
    if (status >= 0) status = sk_rule_conditional(c, s, 0, s->n, f0, a0, &one);
    if (status >= 0) status = sk_rule_ends(c, s, 0, s->n, &two);
    sk_rule_free(one);
    sk_rule_free(two);
    sk_transitions_free(s);
    sk_transitions_free(few);
    return status;
}

static void test_transitions__survive_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = some_data(2);
    assert_true(for_each_allocation(ctx, make_all, data) > 25);
    sock_data_free(data);
}

/* 8192 rows up to twenty dimensions, then as many as 8192 there have numbers in d x d; 256 at least. */
static void test_transitions__blocks_are_shorter_in_many_dimensions(void **state)
{
    (void)state;
    assert_true(sk_block_rows(1) == 8192 && sk_block_rows(20) == 8192);
    assert_true(sk_block_rows(21) == 7430 && sk_block_rows(40) == 2048 && sk_block_rows(100) == 327);
    assert_true(sk_block_rows(113) == 256 && sk_block_rows(1000) == 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transitions__are_the_intervals_of_every_realisation),
        cmocka_unit_test(test_transitions__stand_fold_by_fold),
        cmocka_unit_test(test_transitions__subset_keeps_rows_and_folds),
        cmocka_unit_test(test_transitions__blocks_end_where_a_fold_ends),
        cmocka_unit_test(test_transitions__blocks_are_shorter_in_many_dimensions),
        cmocka_unit_test(test_transitions__reach_is_a_thousandth_of_the_spread),
        cmocka_unit_test(test_transitions__at_rest_nothing_changes),
        cmocka_unit_test(prop_conditional_rule_is_exact_for_quadratics),
        cmocka_unit_test(test_transitions__without_a_model_the_rule_is_the_left_point),
        cmocka_unit_test(test_transitions__ends_are_the_trapezoid),
        cmocka_unit_test(prop_rule_of_a_block_is_a_part_of_the_whole),
        cmocka_unit_test(test_transitions__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
