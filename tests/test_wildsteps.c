/* test_wildsteps.c - steps that do not belong to the rest: what is called wild, and what never is. */
#include "data/wild.h"

#include "onecontext.h"
#include "tune/policy.h"

enum { STEPS = 3000 };

static double normal(size_t i)
{
    double z;
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, i, 0, 0, 1, &z);
    return z;
}

/* Ratio of normals and the root of a mean square: Student's t of 3 degrees. */
static double student(size_t i)
{
    double z[4];
    sk_normals((sk_key){6, SK_PURPOSE_TEST}, i, 0, 0, 4, z);
    return z[0] / sqrt((z[1] * z[1] + z[2] * z[2] + z[3] * z[3]) / 3);
}

/* x' = -x + noise, h = 0.01: steps of deviation 0.1. */
static void pull(double *x)
{
    x[0] = 0.3;
    for (size_t i = 0; i < STEPS; i++) x[i + 1] = 0.99 * x[i] + 0.1 * normal(i);
}

static sock_data *data_of(size_t d, const double *x)
{
    static double t[STEPS + 1];
    static const size_t length = STEPS + 1;
    for (size_t i = 0; i <= STEPS; i++) t[i] = 0.01 * (double)i;
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static sk_wild wild_of(const double *x)
{
    sk_wild wild = {0};
    sock_data *data = data_of(1, x);
    if (sk_wild_find(ctx, data, &wild) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    return wild;
}

static void assert_tame(const double *x)
{
    sk_wild wild = wild_of(x);
    assert_int_equal(wild.count, 0);
    assert_null(wild.step);
    sk_wild_clear(&wild);
}

/* ---- What is wild ---- */

static void test_wildsteps__an_outlier_spoils_two_steps(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    for (int far = 0; far < 2; far++) {
        pull(x);
        x[700] += far ? 1e8 : 2; /* twenty deviations of a step */
        sk_wild wild = wild_of(x);
        assert_int_equal(wild.count, 2);
        assert_int_equal(wild.left, 2);
        assert_true(wild.step[699] && wild.step[700] && !wild.step[698] && !wild.step[701]);
        assert_int_equal(wild.named, 2);
        assert_true(wild.name[0].point == 699 || wild.name[0].point == 700);
        assert_true(wild.name[0].size >= wild.name[1].size && wild.name[1].size > 10);
        sk_wild_clear(&wild);
    }
}

/* Steps and points are counted across trajectories, of which one has a single point; an outlier at the end of one has
 * one step, and no step leads over to the next. */
static void test_wildsteps__in_several_trajectories(void **state)
{
    (void)state;
    static double x[STEPS + 1], t[STEPS + 1];
    const size_t length[] = {400, 1, 300, STEPS + 1 - 701};
    sock_data *data = NULL;
    sk_wild wild;
    pull(x);
    x[100] += 2, x[400] += 50, x[700] += 2, x[900] -= 2;
    for (size_t i = 0; i <= STEPS; i++) t[i] = 0.01 * (double)i;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_wild_find(ctx, data, &wild), SOCK_OK);
    const size_t wrong[] = {99, 100, 699, 899, 900};
    assert_int_equal(wild.count, 5);
    for (size_t i = 0, w = 0; i <= STEPS; i++) {
        assert_int_equal(wild.step[i], w < 5 && wrong[w] == i);
        w += w < 5 && wrong[w] == i;
    }
    for (size_t n = 0; n < wild.named; n++) assert_true(wild.step[wild.name[n].point]);
    sk_wild_clear(&wild);
    sock_data_free(data);
}

static void test_wildsteps__a_jump_spoils_one(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    x[0] = 0;
    for (size_t i = 0; i < STEPS; i++)
        x[i + 1] = 0.99 * x[i] + 0.1 * normal(i) + (i % 600 == 300 ? (i % 1200 == 300 ? 2 : -2) : 0);
    sk_wild wild = wild_of(x);
    assert_int_equal(wild.count, 5);
    for (size_t i = 0; i < STEPS; i++) assert_int_equal(wild.step[i], i % 600 == 300);
    sk_wild_clear(&wild);
}

static void test_wildsteps__one_per_cent_is_found_to_the_last(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    pull(x);
    for (size_t i = 50; i <= STEPS; i += 100) x[i] += i / 100 % 2 ? 2 : -2;
    sk_wild wild = wild_of(x);
    assert_int_equal(wild.count, 60);
    assert_int_equal(wild.named, 20);
    for (size_t i = 50; i < STEPS; i += 100) assert_true(wild.step[i - 1] && wild.step[i]);
    sk_wild_clear(&wild);
}

/* A stuck value: in, at rest, out. A foreign stretch: in, moving, out. All of it stays out; the wild steps are two. */
static void test_wildsteps__excursions_are_closed(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    static const size_t some[] = {40, 4, SK_WILD_RETURN};
    for (int moving = 0; moving < 3; moving++) {
        pull(x);
        const size_t points = some[moving];
        for (size_t i = 900; i < 900 + points; i++) x[i] = moving ? x[i] + 999 : 999;
        sk_wild wild = wild_of(x);
        assert_int_equal(wild.count, 2);
        assert_int_equal(wild.left, points + 1);
        for (size_t i = 890; i < 950; i++) assert_int_equal(wild.step[i], i >= 899 && i < 900 + points);
        sk_wild_clear(&wild);
    }
    pull(x); /* too long to be one: the two far steps alone */
    for (size_t i = 900; i < 900 + SK_WILD_RETURN + 1; i++) x[i] += 999;
    sk_wild wild = wild_of(x);
    assert_int_equal(wild.left, 2);
    sk_wild_clear(&wild);
}

/* Stretches of points that are all far, each somewhere else: all steps in them stay out, and they are no bursts. */
static void test_wildsteps__stretches_of_far_points(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    pull(x);
    for (size_t i = 0; i < 16; i++) x[500 * (1 + i / 4) + i % 4] += (i % 3 ? 1 : -1) * (3 + 0.9 * (double)i);
    sk_wild wild = wild_of(x);
    assert_true(wild.count > 8);
    for (size_t i = 1; i < STEPS; i++) assert_int_equal(wild.step[i], i > 400 && i < 2100 && (i + 1) % 500 < 5);
    sk_wild_clear(&wild);
}

/* An outlier of twenty deviations among few steps: there and back are more than a long tail would do. */
static void test_wildsteps__few_data(void **state)
{
    (void)state;
    static double x[STEPS + 1], t[STEPS + 1];
    size_t found = 0;
    for (size_t n = 150; n <= 300; n += 50) {
        const size_t length = n;
        sock_data *data = NULL;
        sk_wild wild = {0};
        pull(x);
        x[n / 2] += 2;
        for (size_t i = 0; i < n; i++) t[i] = 0.01 * (double)i;
        assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sk_wild_find(ctx, data, &wild), SOCK_OK);
        found += wild.count == 2 && wild.step[n / 2 - 1] && wild.step[n / 2];
        sk_wild_clear(&wild);
        sock_data_free(data);
    }
    assert_int_equal(found, 4);
}

/* In two dimensions the coordinate that is farthest out is named; the other is left as it is. */
static void test_wildsteps__names_the_coordinate(void **state)
{
    (void)state;
    static double x[STEPS + 1], pair[2 * STEPS + 2];
    pull(x);
    for (size_t i = 0; i <= STEPS; i++) pair[2 * i] = x[i], pair[2 * i + 1] = x[STEPS - i];
    pair[2 * 1234 + 1] -= 3;
    sock_data *data = data_of(2, pair);
    sk_wild wild = {0};
    assert_int_equal(sk_wild_find(ctx, data, &wild), SOCK_OK);
    assert_int_equal(wild.count, 2);
    assert_true(wild.step[1233] && wild.step[1234]);
    assert_true(wild.name[0].state == 1 && wild.name[1].state == 1);
    sk_wild_clear(&wild);
    sock_data_free(data);
}

/* ---- What is not ---- */

static void test_wildsteps__tails_are_not_wild(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    pull(x);
    assert_tame(x);
    for (size_t i = 0; i < STEPS; i++) x[i + 1] = 0.99 * x[i] + 0.1 * student(i);
    assert_tame(x);
    x[0] = 1;
    for (size_t i = 0; i < STEPS; i++) x[i + 1] = x[i] * exp(0.1 * normal(i)); /* many decades of noise */
    assert_tame(x);
}

static void test_wildsteps__bursts_are_not_wild(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    x[0] = 0;
    for (size_t i = 0; i < STEPS; i++) /* long ones, then short ones */
        x[i + 1] = 0.99 * x[i] + 0.1 * normal(i) * (i % 1000 < 60 ? 30 : 1);
    assert_tame(x);
    for (size_t i = 0; i < STEPS; i++) x[i + 1] = 0.99 * x[i] + 0.1 * normal(i) * (i % 200 < 5 ? 30 : 1);
    assert_tame(x);
}

/* A threshold with a reset; two wells that long steps jump between; counts that rest and move by whole units. */
static void test_wildsteps__what_a_state_does_is_not_wild(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    x[0] = 0;
    for (size_t i = 0; i < STEPS; i++) {
        x[i + 1] = x[i] + 0.02 * (1.5 - x[i]) + 0.02 * normal(i);
        if (x[i + 1] > 1) x[i + 1] = 0;
    }
    assert_tame(x);
    for (size_t i = 0; i <= STEPS; i++) x[i] = (i / 170 % 2 ? 1 : -1) + 0.1 * normal(i);
    assert_tame(x);
    x[0] = 0;
    for (size_t i = 0; i < STEPS; i++) x[i + 1] = x[i] + rint(0.5 * normal(i)) - (x[i] > 5) + (x[i] < -5);
    assert_tame(x);
}

/* Nothing is said of few steps, or where wild steps are no exception. */
static void test_wildsteps__silent_without_a_rest(void **state)
{
    (void)state;
    static double x[STEPS + 1], t[SK_WILD_LEAST_STEPS];
    const size_t length = SK_WILD_LEAST_STEPS;
    pull(x);
    x[30] += 1e6;
    for (size_t i = 0; i < length; i++) t[i] = (double)i;
    sock_data *data = NULL;
    sk_wild wild = {0};
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_wild_find(ctx, data, &wild), SOCK_OK);
    assert_int_equal(wild.count, 0);
    sock_data_free(data);
    pull(x);
    for (size_t i = 25; i <= STEPS; i += 50) x[i] += 2; /* 4 % of the steps */
    assert_tame(x);
}

/* Steps of thirty usual ones: three in a hundred are gaps, more are how the data were sampled; a wild step beside them
 * is one still. A gap between trajectories is none. */
static void test_wildsteps__gaps_in_time(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double x[STEPS + 1], t[N + 1];
    const size_t length[2] = {N / 2, N / 2 + 1};
    static const size_t numbers[] = {0, 1, 29, 30};
    for (size_t each = 0; each < 4; each++) {
        const size_t gaps = numbers[each];
        pull(x);
        x[N - 5] += 5;
        for (size_t i = 0; i < N; i++) t[i + 1] = t[i] + (i % 20 == 3 && i / 20 < gaps ? 0.31 : 0.01);
        t[N / 2] += 100; /* another trajectory begins */
        for (size_t i = N / 2 + 1; i <= N; i++) t[i] += 100;
        sock_data *data = NULL;
        sk_wild wild = {0};
        assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sk_wild_find(ctx, data, &wild), SOCK_OK);
        const size_t found = gaps > 29 ? 0 : gaps;
        assert_int_equal(wild.gaps, found);
        assert_int_equal(wild.count, 2);
        assert_int_equal(wild.left, 2 + found);
        for (size_t i = 0; i < N; i++)
            assert_true(wild.step[i] == (i == N - 6 || i == N - 5 || (found && i % 20 == 3 && i / 20 < gaps)));
        sk_wild_clear(&wild);
        sock_data_free(data);
    }
}

/* A threshold and a reset, at few places: where the state ends, and nowhere else. One alone could be a jump. */
static void test_wildsteps__few_resets(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    for (size_t resets = 1; resets < 7; resets++) {
        const double most = 0.1 * STEPS / ((double)resets + 0.5);
        x[0] = 0;
        for (size_t i = 0; i < STEPS; i++) x[i + 1] = x[i] > most ? 0.05 * normal(i) : x[i] + 0.1 + 0.05 * normal(i);
        sk_wild wild = wild_of(x);
        assert_int_equal(wild.count, resets == 1);
        sk_wild_clear(&wild);
    }
}

/* ---- The rules ---- */

/* Exact quantiles of a power law have no gap, whatever the index; one that is torn off has. */
static void test_wildsteps__gap(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double size[N];
    for (double index = 1; index < 9; index += 1.5) {
        for (size_t i = 0; i < N; i++) size[i] = 2 * pow((double)N / ((double)i + 0.5), 1 / index);
        assert_int_equal(sk_wild_gap(N, size, 40, NULL), 0);
        for (size_t i = 0; i < 20; i++) size[i] *= 20;
        assert_int_equal(sk_wild_gap(N, size, 40, NULL), 20);
        for (size_t i = 1; i < 20; i++) size[i] /= 20;
        assert_int_equal(sk_wild_gap(N, size, 40, NULL),
                         index > 4 ? 1 : 0); /* one alone must be farther where tails are long */
    }
    bool back[40] = {false};
    for (size_t i = 0; i < N; i++) size[i] = 2 * pow((double)N / ((double)i + 0.5), 0.25);
    for (size_t i = 0; i < 2; i++) size[i] = 40;
    assert_int_equal(sk_wild_gap(N, size, 40, back), 0);
    back[1] = true; /* the two go there and back */
    assert_int_equal(sk_wild_gap(N, size, 40, back), 2);
    assert_int_equal(sk_wild_gap(15, size, 4, NULL), 0); /* too few below to know their tail */
    for (size_t i = 0; i < 3; i++) size[i] = 1e9;
    assert_int_equal(sk_wild_gap(3 + SK_WILD_TAIL_LEAST, size, 3, NULL), 0);
    assert_int_equal(sk_wild_gap(4 + SK_WILD_TAIL_LEAST, size, 3, NULL), 3); /* just enough */
}

static void test_wildsteps__rules(void **state)
{
    (void)state;
    assert_true(sk_wild_is_local(3, 100, 0) && !sk_wild_is_local(2, 100, 0));
    assert_true(sk_wild_is_local(13, 100, 0.02) && !sk_wild_is_local(12, 100, 0.02));
    assert_true(!sk_wild_in_bursts(3, 10, 0) && sk_wild_in_bursts(4, 10, 0));
    assert_true(!sk_wild_in_bursts(11, 50, 0.01) && sk_wild_in_bursts(12, 50, 0.01)); /* 2.5 of 50 by chance */
}

static sock_status find(sock_context *c, void *data)
{
    sk_wild wild = {0};
    SK_TRY(sk_wild_find(c, data, &wild));
    sk_wild_clear(&wild);
    return SOCK_OK;
}

static void test_wildsteps__survives_failed_allocations(void **state)
{
    (void)state;
    static double x[STEPS + 1];
    pull(x);
    x[100] += 5;
    sock_data *data = data_of(1, x);
    assert_true(for_single_allocations(ctx, find, data) > 15);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wildsteps__an_outlier_spoils_two_steps),
        cmocka_unit_test(test_wildsteps__in_several_trajectories),
        cmocka_unit_test(test_wildsteps__a_jump_spoils_one),
        cmocka_unit_test(test_wildsteps__one_per_cent_is_found_to_the_last),
        cmocka_unit_test(test_wildsteps__excursions_are_closed),
        cmocka_unit_test(test_wildsteps__names_the_coordinate),
        cmocka_unit_test(test_wildsteps__tails_are_not_wild),
        cmocka_unit_test(test_wildsteps__bursts_are_not_wild),
        cmocka_unit_test(test_wildsteps__what_a_state_does_is_not_wild),
        cmocka_unit_test(test_wildsteps__silent_without_a_rest),
        cmocka_unit_test(test_wildsteps__stretches_of_far_points),
        cmocka_unit_test(test_wildsteps__few_data),
        cmocka_unit_test(test_wildsteps__gaps_in_time),
        cmocka_unit_test(test_wildsteps__few_resets),
        cmocka_unit_test(test_wildsteps__gap),
        cmocka_unit_test(test_wildsteps__rules),
        cmocka_unit_test(test_wildsteps__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
