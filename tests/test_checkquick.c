/* test_checkquick.c - the check that ends a fit: few ends for each step raise no more false alarms than many, and what
 * it says is never taken back by the whole check. */
#include "api/checkcall.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

static sock_data *some_paths(sys_instance *instance, size_t paths)
{
    sock_data *data = NULL;
    instance->trajectories[SYS_TRAIN] = paths;
    assert_int_equal(sys_generate(ctx, instance, SYS_TRAIN, &data), SOCK_OK);
    return data;
}

static truth numbered(const char *name, uint64_t seed)
{
    truth t = {0};
    assert_int_equal(sys_new(ctx, sys_find(name), seed, &t.instance), SOCK_OK);
    assert_int_equal(sys_truth(ctx, t.instance, &t.model), SOCK_OK);
    return t;
}

static sk_check_spec quick(size_t d)
{
    return (sk_check_spec){.most = sk_check_quick_steps(d, false), .alpha = 0.05, .freedom = (double)NAN};
}

enum { STATES = 10, PATHS = 6, POINTS = 101 };

static void pull(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -5 * x[i];
}

static void unit(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count * d; i++) a[i * d + i % d] = 1;
}

static sock_data *ten_states(const sock_model *model, uint64_t seed)
{
    static double t[POINTS], times[PATHS * POINTS], x[PATHS * POINTS * STATES];
    const double x0[PATHS * STATES] = {0};
    const size_t length[PATHS] = {POINTS, POINTS, POINTS, POINTS, POINTS, POINTS};
    sock_data *data = NULL;
    for (size_t i = 0; i < PATHS * POINTS; i++) times[i] = t[i % POINTS] = 0.1 * (double)(i % POINTS);
    const sock_simulation s = {
        .starts = PATHS, .x0 = x0, .paths = 1, .times = POINTS, .t = t, .step = 0.0025, .seed = seed};
    assert_int_equal(sock_simulate(ctx, model, &s, x, NULL, NULL), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, STATES, PATHS, length, times, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

/* Ten states that forget within two steps, 19 ends: where the scores of a run were taken for sums of those of its
 * steps, `horizon` was below 5 % in 18 % of the sets. */
static void test_quick__few_ends_in_many_states_keep_the_level(void **state)
{
    (void)state;
    enum { SETS = 60 };
    size_t below[SOCK_CHECK_TESTS] = {0}, objections = 0;
    sock_model *model = wrap_fields(ctx, STATES, pull, unit, NULL);
    for (uint64_t seed = 0; seed < SETS; seed++) {
        sock_data *data = ten_states(model, seed);
        sk_check_spec spec = quick(STATES);
        sock_checks c;
        spec.draws = SK_CHECK_QUICK_DRAWS;
        assert_int_equal(sk_check(ctx, model, data, &spec, &c), SOCK_OK);
        for (int i = 0; i < SOCK_CHECK_TESTS; i++) below[i] += c.test[i].p < 0.05;
        objections += !c.ok;
        sock_data_free(data);
    }
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) assert_in_range(below[i], 0, 9); /* 3 expected: 1 in 1000 is beyond 9 */
    assert_in_range(objections, 0, 9);
    sock_model_free(model);
}

/* 2000 steps of a model that is right: the quick form looks at 1500 of them, and objects now and then. */
static void test_briefly__says_nothing_that_the_whole_check_takes_back(void **state)
{
    (void)state;
    size_t objected = 0, taken_back = 0;
    for (uint64_t seed = 520; seed < 545; seed++) {
        truth t = numbered("gbm", seed);
        sock_data *data = some_paths(t.instance, 20);
        sk_check_spec spec = quick(1);
        sock_checks first, whole, said;
        assert_int_equal(sk_check(ctx, t.model, data, &spec, &first), SOCK_OK);
        assert_int_equal(sock_check(ctx, t.model, data, NULL, &whole), SOCK_OK);
        assert_int_equal(sk_check_briefly(ctx, t.model, data, &spec, &said), SOCK_OK);
        assert_string_equal(said.verdict, first.ok ? first.verdict : whole.verdict);
        assert_true(said.ok || !whole.ok);
        objected += !first.ok;
        taken_back += !first.ok && whole.ok;
        sock_data_free(data);
        truth_free(t);
    }
    assert_true(objected > 0 && taken_back > 0);
}

/* Few steps have all the ends of the whole check at once. */
static void test_briefly__few_steps_are_checked_whole(void **state)
{
    (void)state;
    truth t = numbered("ou", 1);
    sock_data *data = some_paths(t.instance, 2);
    sk_check_spec spec = quick(1);
    sock_checks whole, said;
    assert_int_equal(sock_check(ctx, t.model, data, NULL, &whole), SOCK_OK);
    assert_int_equal(sk_check_briefly(ctx, t.model, data, &spec, &said), SOCK_OK);
    assert_int_equal(said.draws, SK_CHECK_DRAWS);
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) assert_true(said.test[i].p == whole.test[i].p);
    sock_data_free(data);
    truth_free(t);
}

/* The sentence that a fit keeps and that of the whole check on its data, whatever the seed of the fit. */
static void fit_and_check(const char *system, size_t paths, const char *drift, sk_record *record, sock_checks *whole)
{
    truth t = numbered(system, 1);
    sock_data *data = some_paths(t.instance, paths);
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    assert_int_equal(sock_options_set(ctx, opts, "drift", drift), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "diffusion", "constant"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "noise", "none"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "seed", "7"), SOCK_OK);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sk_record_of_model(ctx, model, record), SOCK_OK);
    assert_int_equal(sock_check(ctx, model, data, NULL, whole), SOCK_OK);
    sock_model_free(model);
    sock_options_free(opts);
    sock_data_free(data);
    truth_free(t);
}

static void test_briefly__a_fit_says_what_the_check_says(void **state)
{
    (void)state;
    static const struct {
        const char *system, *drift, *pattern;
        size_t paths;
    } sets[] = {
        {"doublewell", "linear", "drift", 20},       /* objected to, so made whole */
        {"doublewell", "poly:degree=3", "none", 10}, /* fields from a table: whole at once */
        {"doublewell", "poly:degree=3", "none", 40}, /* a part of the steps */
        {"lotka-volterra", "linear", "drift", 20},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        sock_checks whole;
        sk_record record;
        fit_and_check(sets[i].system, sets[i].paths, sets[i].drift, &record, &whole);
        const bool quick = strstr(record.verdict, "No objection at a quick look: ") == record.verdict;
        if (quick != (i == 2)) fail_msg("%s\n%s", record.verdict, whole.verdict);
        assert_string_equal(record.pattern, sets[i].pattern);
        assert_string_equal(whole.pattern, sets[i].pattern);
        assert_null(strstr(whole.verdict, "quick look"));
        if (!quick) assert_string_equal(record.verdict, whole.verdict);
        sk_record_clear(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick__few_ends_in_many_states_keep_the_level),
        cmocka_unit_test(test_briefly__says_nothing_that_the_whole_check_takes_back),
        cmocka_unit_test(test_briefly__few_steps_are_checked_whole),
        cmocka_unit_test(test_briefly__a_fit_says_what_the_check_says),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
