/* test_warnings.c - which of its warnings a fit has when more than one of its parts has something to say. */
#include "api/record.h"
#include "model/model.h"
#include "onecontext.h"
#include "tune/policy.h"

#include <string.h>

/* A search that went well: one drift, one diffusion, 10000 steps. */
static sk_record searched(void)
{
    static const char text[] =
        "{\"tuned\":true,\"steps\":10000,\"score\":50,\"score_constant\":10,\"calibration\":1,\"residual_lag1\":0,"
        "\"drifts\":[{\"kernel\":\"affine\",\"share\":1,\"l\":0.1,\"lambda\":0.2}],\"drift\":\"affine\","
        "\"diffusions\":[{\"kernel\":\"constant\",\"share\":1,\"converged\":true}]}";
    sk_record record;
    assert_int_equal(sk_record_read(ctx, text, &record), SOCK_OK);
    return record;
}

/* Correlated residuals are told where nothing better speaks of them: no verdict of the check, no noise in the model, no
 * inner steps; nor noise where the fit looked for it and found none. */
static void test_warnings__correlated_residuals_are_told_once(void **state)
{
    (void)state;
    static const struct {
        double lag1;
        bool verdict, used, sought;
        size_t substeps;
        sk_warning_code code;
    } cases[] = {{-0.3, false, false, false, 0, SK_WARN_NOISE}, {0.3, false, false, false, 0, SK_WARN_MEMORY},
                 {-0.3, false, false, false, 1, SK_WARN_NOISE}, {-0.3, true, false, false, 1, SK_WARN_NONE},
                 {-0.3, false, true, false, 1, SK_WARN_NONE},   {-0.3, false, false, false, 2, SK_WARN_NONE},
                 {-0.3, false, false, true, 1, SK_WARN_NONE},   {0.3, false, false, true, 1, SK_WARN_MEMORY},
                 {0.3, true, true, true, 4, SK_WARN_NONE},      {0.05, false, false, false, 1, SK_WARN_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_record r = searched();
        r.residual_lag1 = cases[i].lag1;
        r.verdict = cases[i].verdict ? sk_strdup(ctx, "the steps look as they should") : NULL;
        r.found.noise.used = cases[i].used;
        r.found.noise.substeps = cases[i].substeps;
        if (cases[i].sought) r.found.noise.z = (sk_numbers){1, sk_doubles(ctx, 1, 1)};
        assert_int_equal(sk_record_warn(ctx, &r), SOCK_OK);
        assert_int_equal(r.warnings.count, cases[i].code != SK_WARN_NONE);
        if (cases[i].code) assert_string_equal(r.warnings.text[0], sk_warning_text(cases[i].code));
        sk_record_clear(&r);
    }
}

/* Too few steps: nothing else can be said. A state without noise of its own is told. */
static void test_warnings__few_steps_silence_the_others(void **state)
{
    (void)state;
    sk_record few = searched(), quiet = searched();
    few.residual_lag1 = -0.9;
    few.found.calibration = 5;
    few.found.too_few = true;
    assert_int_equal(sk_record_warn(ctx, &few), SOCK_OK);
    assert_int_equal(few.warnings.count, 1);
    assert_true(sk_record_warns(&few, SK_WARN_FEW) && !sk_record_warns(&few, SK_WARN_NOISE));
    assert_int_equal(sk_texts_add(ctx, &quiet.quiet, "y"), SOCK_OK);
    assert_int_equal(sk_record_warn(ctx, &quiet), SOCK_OK);
    assert_int_equal(quiet.warnings.count, 1);
    assert_true(sk_record_warns(&quiet, SK_WARN_QUIET));
    sk_record_clear(&few), sk_record_clear(&quiet);
}

/* ---- Bands ---- */

/* Why a model has no bands, or what is wrong with those it has: the first reason that there is. */
static void test_record__why_there_are_no_bands(void **state)
{
    (void)state;
    static const struct {
        bool tuned, paper, wanted, spread, used;
        size_t substeps, drifts;
        const char *words;
    } cases[] = {{true, true, true, false, false, 1, 1, "paper's protocol"},
                 {true, false, false, false, false, 1, 1, "not wanted"},
                 {true, false, true, false, true, 1, 2, "ended between two kernels"},
                 {true, false, true, false, false, 2, 2, "ended between two kernels"},
                 {true, false, true, false, true, 2, 1, "too many weights"},
                 {true, false, true, false, false, 1, 2, "too many weights"},
                 {true, false, true, true, true, SK_SURELY_LONG, 1, "those of f alone"},
                 {true, false, true, true, false, SK_SURELY_LONG, 2, "those of f alone"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_record r;
        sock_model *model = NULL;
        sk_record_init(&r);
        assert_int_equal(sk_model_new(ctx, 1, NULL, &model), SOCK_OK);
        if (cases[i].spread) assert_int_equal(sk_spread_new(ctx, 1, 1, 0, 0, 0, &model->spread), SOCK_OK);
        for (size_t k = 0; cases[i].spread && k < SK_SUP_DRAWS; k++) model->spread->sup[k] = (double)(k + 1);
        model->drift_terms = cases[i].drifts; /* that many, for the moment */
        r.tuned = cases[i].tuned;
        r.found.paper = cases[i].paper;
        r.found.noise.used = cases[i].used;
        r.found.noise.substeps = cases[i].substeps;
        assert_int_equal(sk_record_tell_bands(ctx, model, cases[i].wanted, &r), SOCK_OK);
        if (!strstr(r.bands_reason, cases[i].words)) fail_msg("%zu: %s", i, r.bands_reason);
        assert_int_equal(r.bands, cases[i].spread);
        if (cases[i].spread) assert_close(r.f_sup, 0.9 * SK_SUP_DRAWS, 0, 1); /* nine of ten draws are below */
        model->drift_terms = 0;
        sk_record_clear(&r);
        sock_model_free(model);
    }
}

/* From the first to the last, and then an end: tests that go through them all meet some. */
static void test_record__keys_are_listed(void **state)
{
    (void)state;
    size_t count = 0;
    while (sk_record_key(count)) count++;
    assert_true(count > 60);
    assert_string_equal(sk_record_key(0), "tuned");
    assert_string_equal(sk_record_key(count - 1), "objections");
    assert_null(sk_record_key(count + 1));
    assert_null(sk_record_key(SIZE_MAX));
}

/* Names, times and sizes of wild steps and of codes, as the data have them. */
static sock_status record_odd(sock_context *context, void *arg)
{
    const sock_data *data = arg;
    sk_wild_step name[] = {{.point = 4, .state = 1, .size = 7.5}, {.point = 0, .state = 0, .size = 6}};
    const sk_wild wild = {.count = 5, .named = 2, .name = name};
    char *text[] = {(char[]){"y is a copy of x"}};
    sk_angle angle = {0, (char[]){"x goes round"}};
    const sk_courses courses = {1, text, true, 1, 1, &angle};
    sk_record r;
    sk_record_init(&r);
    const sock_status status = sk_record_odd(context, &r, data, &wild, true, &courses);
    if (status >= 0) {
        assert_int_equal(r.odd.wild_steps, 5);
        assert_int_equal(r.odd.wilds, 2);
        assert_string_equal(r.odd.wild[0].trajectory, "b");
        assert_string_equal(r.odd.wild[0].state, "y");
        assert_true(r.odd.wild[0].time == 11 && r.odd.wild[0].from == 50 && r.odd.wild[0].to == 60);
        assert_true(r.odd.wild[0].deviations == 7.5 && r.odd.wild[1].deviations == 6);
        assert_string_equal(r.odd.wild[1].trajectory, "a");
        assert_string_equal(r.odd.wild[1].state, "x");
        assert_true(r.odd.wild[1].time == 0 && r.odd.wild[1].from == 1 && r.odd.wild[1].to == 2);
        assert_int_equal(r.odd.followers.count, 1);
        assert_string_equal(r.odd.followers.text[0], text[0]);
        assert_string_equal(r.odd.angles.text[0], angle.text);
        assert_true(r.odd.angles.count == 1 && sk_record_warns(&r, SK_WARN_ANGLE));
        assert_true(sk_record_warns(&r, SK_WARN_FOLLOWER) && sk_record_warns(&r, SK_WARN_SMOOTH));
        assert_true(sk_record_warns(&r, SK_WARN_WILD) && !sk_record_warns(&r, SK_WARN_WILD_KEPT));
    }
    sk_record_clear(&r);
    return status;
}

/* 1, 2, 3 in five trajectories: groups, or doses; 0 and 1, numbers that change and fractions are none. */
static void test_record__codes_of_groups_are_told(void **state)
{
    (void)state;
    const double code[][5] = {{1, 2, 3, 2, 1}, {0, 1, 1, 0, 1}, {0.5, 1, 1.5, 1, 0.5}, {1, 2, 3, 4, 5}};
    const bool told[] = {true, false, false, false};
    for (size_t k = 0; k < 5; k++) {
        size_t length[5];
        double t[15], x[30];
        for (size_t i = 0; i < 15; i++) {
            length[i / 3] = 3;
            t[i] = (double)(i % 3);
            x[2 * i] = (double)(i * i % 7);
            x[2 * i + 1] = k < 4 ? code[k][i / 3] : 1 + (double)(i % 3);
        }
        const char *names[] = {"x", "arm"};
        sock_options *opts = sock_options_new(ctx);
        sock_data *data = NULL;
        assert_int_equal(sock_options_set(ctx, opts, "input", "arm"), SOCK_OK);
        assert_int_equal(sock_data_from_arrays(ctx, 2, 5, length, t, x, names, NULL, opts, &data), SOCK_OK);
        sk_record r;
        sk_record_init(&r);
        assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){0}, false, &(sk_courses){0}), SOCK_OK);
        assert_int_equal(sk_record_warns(&r, SK_WARN_LEVELS), k < 4 && told[k]);
        sk_record_clear(&r);
        sock_data_free(data);
        sock_options_free(opts);
    }
}

/* Hours and minutes in one number, every ten minutes; hundreds, tens and dates are none. And a state called day. */
static void test_record__times_of_a_clock_are_told(void **state)
{
    (void)state;
    enum { N = 40 };
    const size_t length = N;
    for (int kind = 0; kind < 5; kind++) {
        double t[N], x[2 * N];
        for (int i = 0; i < N; i++) {
            const int minute = 500 + 10 * i;
            t[i] = kind == 1 ? 50 * i : kind == 2 ? minute : 100.0 * (minute / 60) + minute % 60;
            if (kind == 3) t[i] = 0.5 + t[i]; /* no whole numbers */
            x[2 * i] = i * i % 7;
            x[2 * i + 1] = i * i % 11;
        }
        const char *names[] = {"x", kind == 4 ? "Day" : "y"};
        sock_data *data = NULL;
        sk_record r;
        sk_record_init(&r);
        assert_int_equal(sock_data_from_arrays(ctx, 2, 1, &length, t, x, names, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){0}, false, &(sk_courses){0}), SOCK_OK);
        assert_int_equal(sk_record_warns(&r, SK_WARN_CLOCK), kind == 0 || kind == 4);
        assert_int_equal(sk_record_warns(&r, SK_WARN_TIME_STATE), kind == 4);
        sk_record_clear(&r);
        if (kind == 0) { /* with a unit the numbers are what they say */
            assert_int_equal(sock_data_set_time_unit(ctx, data, "minute"), SOCK_OK);
            sk_record_init(&r);
            assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){0}, false, &(sk_courses){0}), SOCK_OK);
            assert_false(sk_record_warns(&r, SK_WARN_CLOCK));
            sk_record_clear(&r);
        }
        sock_data_free(data);
    }
}

/* Up to twelve different numbers of fourteen trajectories may be groups, thirteen are a count. */
static void test_record__many_numbers_are_no_groups(void **state)
{
    (void)state;
    for (size_t levels = 12; levels < 14; levels++) {
        size_t length[14];
        double t[28], x[56];
        for (size_t i = 0; i < 28; i++) {
            length[i / 2] = 2;
            t[i] = (double)(i % 2);
            x[2 * i] = (double)(i * i % 7);
            x[2 * i + 1] = (double)(i / 2 % levels);
        }
        const char *names[] = {"x", "arm"};
        sock_options *opts = sock_options_new(ctx);
        sock_data *data = NULL;
        sk_record r;
        assert_int_equal(sock_options_set(ctx, opts, "input", "arm"), SOCK_OK);
        assert_int_equal(sock_data_from_arrays(ctx, 2, 14, length, t, x, names, NULL, opts, &data), SOCK_OK);
        sk_record_init(&r);
        assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){0}, false, &(sk_courses){0}), SOCK_OK);
        assert_int_equal(sk_record_warns(&r, SK_WARN_LEVELS), levels == 12);
        sk_record_clear(&r);
        sock_data_free(data);
        sock_options_free(opts);
    }
}

static void test_record__wild_steps_are_named(void **state)
{
    (void)state;
    const size_t length[] = {3, 3};
    const double t[] = {0, 1, 2, 10, 11, 12}, x[] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    sk_free(data->id[0]), sk_free(data->id[1]), sk_free(data->state[0]), sk_free(data->state[1]);
    data->id[0] = sk_strdup(ctx, "a"), data->id[1] = sk_strdup(ctx, "b");
    data->state[0] = sk_strdup(ctx, "x"), data->state[1] = sk_strdup(ctx, "y");
    assert_true(for_single_allocations(ctx, record_odd, data) > 4);
    sk_record r;
    sk_record_init(&r);
    assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){.count = 1}, false, &(sk_courses){0}), SOCK_OK);
    assert_true(sk_record_warns(&r, SK_WARN_WILD_KEPT) && r.odd.wild_steps == 1 && r.odd.wilds == 0);
    assert_true(sk_record_kept_wild(&r) && !sk_record_warns(&r, SK_WARN_GAPS_KEPT));
    assert_true(!r.odd.angles.count && !sk_record_warns(&r, SK_WARN_ANGLE));
    assert_true(!r.odd.followers.count && !sk_record_warns(&r, SK_WARN_FOLLOWER) &&
                !sk_record_warns(&r, SK_WARN_SMOOTH));
    assert_true(r.odd.codes == 0 && !sk_record_warns(&r, SK_WARN_CODE));
    sk_record_clear(&r);
    for (int left = 0; left < 2; left++) { /* gaps alone */
        sk_record_init(&r);
        assert_int_equal(sk_record_odd(ctx, &r, data, &(sk_wild){.gaps = 2, .left = 2}, left, &(sk_courses){0}),
                         SOCK_OK);
        assert_true(sk_record_warns(&r, left ? SK_WARN_GAPS : SK_WARN_GAPS_KEPT) && r.warnings.count == 1);
        assert_true(sk_record_kept_wild(&r) == !left);
        sk_record_clear(&r);
    }
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings__correlated_residuals_are_told_once),
        cmocka_unit_test(test_warnings__few_steps_silence_the_others),
        cmocka_unit_test(test_record__why_there_are_no_bands),
        cmocka_unit_test(test_record__keys_are_listed),
        cmocka_unit_test(test_record__codes_of_groups_are_told),
        cmocka_unit_test(test_record__many_numbers_are_no_groups),
        cmocka_unit_test(test_record__times_of_a_clock_are_told),
        cmocka_unit_test(test_record__wild_steps_are_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
