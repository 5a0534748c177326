/* test_checkcall.c - the check as it is called: what a record says of its model, what is written as JSON and kept. */
#include "api/checkcall.h"
#include "onecontext.h"

#include <jansson.h>
#include <string.h>

/* Numbers that are not known, periods that are none and degrees of freedom that there are not are null. */
static void test_checkcall__json(void **state)
{
    (void)state;
    sock_checks c = {.ok = 1, .steps = 10, .all_steps = 20, .draws = 19, .lost = 3, .alpha = 0.05, .seconds = 2};
    strcpy(c.pattern, "none");
    strcpy(c.verdict, "No objection.");
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        c.test[i] =
            (sock_check_test){.name = "t", .effect_of = "size", .valid = i != 1, .df = i == 2 ? 0 : 0.5, .p = 0.25};
    c.test[3].objects = 1;
    c.test[4].remark = 1;
    c.lag1 = -0.5;
    c.variance_ratio = (double)NAN;
    c.scale = 1.5;
    c.long_step = 0.25;
    for (int period = 0; period < 2; period++) {
        char *text = NULL;
        c.period = period ? 0.125 : 0;
        assert_int_equal(sock_checks_json(ctx, &c, &text), SOCK_OK);
        json_t *all = json_loads(text, 0, NULL), *tests = json_object_get(all, "tests"), *test;
        assert_true(json_is_null(json_object_get(all, "period")) == !period);
        if (period) assert_true(json_number_value(json_object_get(all, "period")) == 0.125);
        assert_true(json_is_null(json_object_get(all, "variance_ratio")));
        assert_true(json_number_value(json_object_get(all, "lag1")) == -0.5);
        assert_true(json_number_value(json_object_get(all, "seconds")) == 2);
        assert_int_equal(json_integer_value(json_object_get(all, "lost")), 3);
        assert_int_equal(json_array_size(tests), SOCK_CHECK_TESTS);
        size_t i;
        json_array_foreach(tests, i, test)
        {
            assert_true(json_is_null(json_object_get(test, "p")) == (i == 1));
            assert_true(json_is_null(json_object_get(test, "df")) == (i == 1 || i == 2));
            assert_true(json_is_true(json_object_get(test, "objects")) == (i == 3));
            assert_true(json_is_true(json_object_get(test, "remark")) == (i == 4));
        }
        json_decref(all);
        sock_string_free(text);
    }
}

static void test_checkcall__what_a_record_says(void **state)
{
    (void)state;
    static const struct {
        bool used, sought;
        size_t substeps, floors;
        const char *mode;
        bool flow, noise_sought, floor;
    } cases[] = {{false, false, 1, 2, "auto", false, false, true}, {true, true, 1, 2, "auto", true, false, true},
                 {false, true, 2, 2, "auto", true, true, true},    {false, true, 1, 1, "auto", false, true, false},
                 {false, true, 1, 2, "none", false, false, true},  {false, true, 1, 2, NULL, false, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_record r;
        sk_check_spec spec = {0};
        sk_record_init(&r);
        r.found.drift_dof = 3.5;
        r.found.floor = (sk_numbers){cases[i].floors, sk_doubles(ctx, 2, 1)};
        r.found.noise.used = cases[i].used;
        r.found.noise.substeps = cases[i].substeps;
        r.found.noise.mode = cases[i].mode ? sk_strdup(ctx, cases[i].mode) : NULL;
        if (cases[i].sought) r.found.noise.z = (sk_numbers){1, sk_doubles(ctx, 1, 1)};
        sk_check_by_record(&r, 2, &spec);
        assert_true(spec.freedom == 3.5 && spec.flow == cases[i].flow);
        assert_int_equal(spec.noise_sought, cases[i].noise_sought);
        assert_int_equal(spec.floor != NULL, cases[i].floor);
        sk_record_clear(&r);
    }
}

static void test_checkcall__wild_steps_are_left_out(void **state)
{
    (void)state;
    bool step[3] = {false, true, true};
    sk_check_spec spec = {0};
    sk_check_without(&(sk_wild){.count = 1, .left = 2, .step = step}, &spec);
    assert_true(spec.skip == step && spec.skipped == 2);
    sk_check_without(&(sk_wild){.count = 1, .left = 2}, &spec);
    assert_true(!spec.skip && spec.skipped == 0);
}

static sock_status keep(sock_context *context, void *arg)
{
    sk_record r;
    sk_record_init(&r);
    const sock_status status = sk_check_to_record(context, arg, &r);
    if (status >= 0) {
        assert_string_equal(r.verdict, "They cancel.");
        assert_string_equal(r.pattern, "noise");
        assert_string_equal(r.advice, "Look.");
        assert_int_equal(r.objections.count, 2);
        assert_string_equal(r.objections.text[1], "memory");
    }
    sk_record_clear(&r);
    return status;
}

static void test_checkcall__the_record_keeps_the_verdict(void **state)
{
    (void)state;
    sock_checks c = {.pattern = "noise", .verdict = "They cancel.", .advice = "Look."};
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) c.test[i].name = i == 4 ? "memory" : "other";
    c.test[2].objects = c.test[4].objects = 1;
    assert_true(for_single_allocations(ctx, keep, &c) > 4);
    c.advice[0] = 0;
    sk_record r;
    sk_record_init(&r);
    assert_int_equal(sk_check_to_record(ctx, &c, &r), SOCK_OK);
    assert_null(r.advice);
    sk_record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkcall__json),
        cmocka_unit_test(test_checkcall__what_a_record_says),
        cmocka_unit_test(test_checkcall__wild_steps_are_left_out),
        cmocka_unit_test(test_checkcall__the_record_keeps_the_verdict),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
