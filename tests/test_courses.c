/* test_courses.c - states that follow from others, or are smooth: what is said of each, and of which nothing. */
#include "data/courses.h"

#include "onecontext.h"
#include "tune/policy.h"

enum { N = 400, MOST = 5 };

static double normal(size_t i)
{
    double z;
    sk_normals((sk_key){7, SK_PURPOSE_TEST}, i, 0, 0, 1, &z);
    return z;
}

static double t[N], walk[N], other[N];

/* Two walks over steps of 0.01 and 0.02. */
static void make_walks(void)
{
    for (size_t i = 1; i < N; i++) {
        t[i] = t[i - 1] + 0.01 * (double)(1 + i % 2);
        walk[i] = walk[i - 1] + normal(i);
        other[i] = other[i - 1] + normal(N + i);
    }
}

/* Two trajectories of N / 2 points. column: d of N numbers. */
static sk_courses courses_of(size_t d, const double *const *column, const bool *skip)
{
    static double x[N * MOST];
    static const size_t length[] = {N / 2, N / 2};
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    sk_courses out;
    sock_data *data = NULL;
    for (size_t i = 0; i < N * d; i++) x[i] = column[i % d][i / d];
    assert_int_equal(sock_data_from_arrays(ctx, d, 2, length, t, x, names, NULL, NULL, &data), SOCK_OK);
    if (sk_courses_find(ctx, data, skip, &out) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    return out;
}

static void assert_said(size_t d, const double *const *column, const char *text)
{
    sk_courses c = courses_of(d, column, NULL);
    assert_int_equal(c.count, 1);
    assert_string_equal(c.text[0], text);
    assert_false(c.smooth);
    sk_courses_clear(&c);
}

static void test_courses__what_follows_from_others_is_told(void **state)
{
    (void)state;
    double made[N], still[N];
    make_walks();
    for (size_t i = 0; i < N; i++) made[i] = walk[i], still[i] = 3;
    assert_said(2, (const double *[]){walk, made}, "b is a copy of a");
    for (size_t i = 0; i < N; i++) made[i] = 3 - 2.5 * walk[i];
    assert_said(3, (const double *[]){walk, other, made}, "c changes exactly as -2.5*a does");
    for (size_t i = 0; i < N; i++) made[i] = 20 - walk[i] - other[i];
    assert_said(3, (const double *[]){walk, other, made}, "c changes exactly as -a - b does");
    for (size_t i = 0; i < N; i++) made[i] = 1e-3 * other[i] + 7 * t[i];
    assert_said(3, (const double *[]){walk, other, made}, "c changes exactly as 0.001*b and the time do");
    assert_said(2, (const double *[]){walk, t}, "b grows with the time alone");
    assert_said(2, (const double *[]){still, walk}, "a never changes");
}

/* The partner of a follower is the one that stands for itself, whatever follows between them. */
static void test_courses__several_followers(void **state)
{
    (void)state;
    double copy[N], sum[N];
    make_walks();
    for (size_t i = 0; i < N; i++) copy[i] = walk[i], sum[i] = 2 * walk[i] - other[i];
    sk_courses c = courses_of(5, (const double *[]){walk, copy, t, other, sum}, NULL);
    assert_int_equal(c.count, 3);
    assert_string_equal(c.text[0], "b is a copy of a");
    assert_string_equal(c.text[1], "c grows with the time alone");
    assert_string_equal(c.text[2], "e changes exactly as 2*a - d does");
    sk_courses_clear(&c);
}

/* Noise of a ten thousandth of a step is enough to be a process; so is one other step. */
static void test_courses__what_nearly_follows_is_not_told(void **state)
{
    (void)state;
    double near[N];
    make_walks();
    for (size_t i = 0; i < N; i++) near[i] = walk[i] + 1e-4 * other[i];
    sk_courses c = courses_of(2, (const double *[]){walk, near}, NULL);
    assert_int_equal(c.count, 0);
    sk_courses_clear(&c);
    for (size_t i = 0; i < N; i++) near[i] = walk[i] + (i > 100 ? 0.1 : 0);
    c = courses_of(2, (const double *[]){walk, near}, NULL);
    assert_int_equal(c.count, 0);
    sk_courses_clear(&c);
    bool skip[N] = {false};
    skip[100] = true;
    c = courses_of(2, (const double *[]){walk, near}, skip);
    assert_int_equal(c.count, 1);
    assert_string_equal(c.text[0], "b changes exactly as a does");
    sk_courses_clear(&c);
}

static void test_courses__few_steps_are_sums_of_each_other(void **state)
{
    (void)state;
    const size_t length = 4;
    const double few[] = {0, 1, 2, 3}, x[] = {0, 1, 3, 2, 5, 7, 1, 0, 2, 9, 4, 4};
    sock_data *data = NULL;
    sk_courses c;
    assert_int_equal(sock_data_from_arrays(ctx, 3, 1, &length, few, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sk_courses_find(ctx, data, NULL, &c), SOCK_OK);
    assert_true(c.count == 0 && !c.smooth && !c.text);
    sk_courses_clear(&c);
    sock_data_free(data);
}

static bool smooth_of(size_t d, const double *const *column)
{
    sk_courses c = courses_of(d, column, NULL);
    const bool smooth = c.smooth;
    sk_courses_clear(&c);
    return smooth;
}

static void test_courses__without_noise_states_are_smooth(void **state)
{
    (void)state;
    double one[N], two[N], noisy[N];
    make_walks();
    for (size_t i = 0; i < N; i++) one[i] = sin(5 * t[i]), two[i] = cos(5 * t[i]);
    assert_true(smooth_of(1, (const double *[]){one}));
    assert_true(smooth_of(2, (const double *[]){one, two}));
    assert_true(smooth_of(3, (const double *[]){one, one, t})); /* a copy and the time do not count */
    assert_false(smooth_of(2, (const double *[]){one, walk}));  /* a state that follows from one with noise */
    assert_false(smooth_of(1, (const double *[]){t}));          /* nor are they anything alone */
    for (size_t i = 0; i < N; i++) noisy[i] = one[i] + 1e-3 * walk[i];
    assert_false(smooth_of(1, (const double *[]){noisy})); /* 1.3 % of a step */
    for (size_t i = 0; i < N; i++) noisy[i] = one[i] + 1e-5 * walk[i];
    assert_true(smooth_of(1, (const double *[]){noisy})); /* 0.013 % */
}

/* Of increments that are noise the bound is the noise: 1, at every order. */
static void prop_noise_is_all_there_is(void **state)
{
    (void)state;
    double square[SK_COURSE_ORDERS] = {0}, difference[N];
    make_walks();
    memcpy(difference, walk, sizeof difference);
    for (size_t m = 0, count = N - 1; m < SK_COURSE_ORDERS; m++, count--)
        for (size_t i = 0; i < count; i++) {
            difference[i] = difference[i + 1] - difference[i];
            square[m] += difference[i] * difference[i] / (double)count;
        }
    assert_true(fabs(sk_course_noise(square) - 1) < 0.2);
    double held = 1;
    for (size_t m = 0; m < SK_COURSE_ORDERS; m++) {
        assert_true(fabs(square[m] / (held * square[0]) - 1) < 0.2);
        held *= (double)(4 * m + 2) / (double)(m + 1);
    }
}

static sock_status find(sock_context *context, void *data)
{
    sk_courses c;
    const sock_status status = sk_courses_find(context, data, NULL, &c);
    sk_courses_clear(&c);
    return status;
}

static void test_courses__memory_may_fail(void **state)
{
    (void)state;
    double x[2 * N];
    const size_t length = N;
    sock_data *data = NULL;
    make_walks();
    for (size_t i = 0; i < N; i++) x[2 * i] = walk[i], x[2 * i + 1] = 2 * walk[i];
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, &length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_true(for_single_allocations(ctx, find, data) > 5);
    sock_data_free(data);
}

/* Many states and few steps: nothing is said of them, and no table of all pairs is made (it would take 1.1 GB). */
static void test_courses__many_states_take_no_table(void **state)
{
    (void)state;
    enum { D = 12000, POINTS = 4 };
    static const size_t length = POINTS;
    static double x[D * POINTS];
    static const double when[POINTS] = {0, 1, 2, 3};
    sk_courses out;
    sock_data *data = NULL;
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)D * POINTS, x);
    assert_true(sock_data_from_arrays(ctx, D, 1, &length, when, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sock_set_memory_limit(ctx, (size_t)sk_resident_memory("") + 200000000), SOCK_OK);
    assert_int_equal(sk_courses_find(ctx, data, NULL, &out), SOCK_OK);
    assert_int_equal(sock_set_memory_limit(ctx, 0), SOCK_OK);
    assert_true(out.count == 0 && !out.smooth);
    sock_data_free(data);
}

/* The second of two states; how often it is said to jump by its range. */
static void assert_angle(const double *state, const char *jumps)
{
    sk_courses c = courses_of(2, (const double *[]){walk, state}, NULL);
    assert_int_equal(c.angles, jumps ? 1 : 0);
    if (jumps) {
        assert_int_equal(c.angle[0].state, 1);
        if (!strstr(c.angle[0].text, jumps)) fail_msg("'%s' lacks '%s'", c.angle[0].text, jumps);
    }
    sk_courses_clear(&c);
}

/* A turn is joined, cut, cut and rounded; what else goes far in single steps is none. */
static void test_courses__angles(void **state)
{
    (void)state;
    double turn[N], cut[N], made[N];
    size_t jumps = 0;
    char said[120];
    make_walks();
    for (size_t i = 0; i < N; i++) turn[i] = 0.1 * (double)i + 0.02 * normal(2 * N + i);
    for (size_t i = 0; i < N; i++) cut[i] = turn[i] - 6.2831853 * floor(turn[i] / 6.2831853);
    for (size_t i = 1; i < N; i++) jumps += i != N / 2 && fabs(cut[i] - cut[i - 1]) > 3;
    assert_true(jumps >= 5);
    snprintf(said, sizeof said, "b goes from one end of its range to the other in a single step, %zu times", jumps);
    assert_angle(turn, NULL);
    assert_angle(cut, "single step, ");
    for (size_t i = 0; i < N; i++) made[i] = round(360 / 6.2831853 * cut[i]);
    assert_angle(made, "times by about 36");
    sk_courses c = courses_of(1, (const double *[]){cut}, NULL);
    said[0] = 'a';
    assert_int_equal(strncmp(c.angle[0].text, said, strlen(said)), 0);
    sk_courses_clear(&c);
    for (size_t i = 0; i < N; i++) made[i] = (i / 40) % 2 ? 5 + 0.1 * normal(i) : 0.1 * normal(i); /* a switch */
    assert_angle(made, NULL);
    for (size_t i = 0; i < N; i++) made[i] = cut[i / 4]; /* coarse: it stands still, and then goes on */
    assert_angle(made, NULL);
    for (size_t i = 0; i < N; i++) made[i] = normal(i); /* long steps of all sizes */
    assert_angle(made, NULL);
    for (size_t i = 0; i < N; i++) made[i] = cut[i] < 3 ? cut[i] : 2 * cut[i]; /* the range falls into two */
    assert_angle(made, NULL);
    for (size_t i = 0; i < N; i++) made[i] = i < 190 ? cut[i] : 3; /* two turns */
    assert_angle(made, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_courses__what_follows_from_others_is_told),
        cmocka_unit_test(test_courses__several_followers),
        cmocka_unit_test(test_courses__angles),
        cmocka_unit_test(test_courses__what_nearly_follows_is_not_told),
        cmocka_unit_test(test_courses__few_steps_are_sums_of_each_other),
        cmocka_unit_test(test_courses__without_noise_states_are_smooth),
        cmocka_unit_test(prop_noise_is_all_there_is),
        cmocka_unit_test(test_courses__many_states_take_no_table),
        cmocka_unit_test(test_courses__memory_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
