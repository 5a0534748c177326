/* test_structure.c - what is known of the state: copies are equal and belong to themselves, every part of it counts in
 * a comparison, bounds that are never left again. */
#include "model/structure.h"
#include "onecontext.h"

#include <string.h>

enum { D = 2 };

static sk_structure *full(sock_context *context)
{
    const sk_hold hold[] = {SK_HOLD_PREVIOUS, SK_HOLD_LINEAR};
    sk_structure *s = NULL;
    assert_int_equal(sk_structure_new(context, D, (const char *const[]){"x", "y"}, &s), SOCK_OK);
    s->lower = sk_doubles(context, D, 1);
    s->upper = sk_doubles(context, D, 1);
    s->noise = sk_doubles(context, D, D);
    s->absorbing = sk_alloc(context, D, sizeof *s->absorbing);
    s->order = 2;
    for (size_t k = 0; k < D; k++) s->lower[k] = -1 - (double)k, s->upper[k] = 1 + (double)k;
    for (size_t k = 0; k < D * D; k++) s->noise[k] = 0.5 + (double)k;
    s->absorbing[1] = SK_ABSORBS_UPPER;
    assert_int_equal(
        sk_structure_set_inputs(context, s, 2, (const char *const[]){"u", "w"}, hold, (const double[]){3, 4}), SOCK_OK);
    return s;
}

/* One change of each part. */
static void change(sk_structure *s, int what)
{
    if (what == 0) s->state[1][0] = 'z';
    if (what == 1) s->lower[1] = -7;
    if (what == 2) s->upper[1] = 7;
    if (what == 3) s->noise[3] = 7;
    if (what == 4) s->absorbing[1] = 0;
    if (what == 5) s->order = 1;
    if (what == 6) s->input[1].name[0] = 'v';
    if (what == 7) s->input[1].usual = 7;
    if (what == 8) s->input[1].hold = SK_HOLD_PREVIOUS;
    if (what == 9) sk_free(s->input[--s->inputs].name);
    if (what == 10) sk_free(s->noise), s->noise = NULL;
    if (what == 11) sk_free(s->lower), s->lower = NULL;
    if (what == 12) sk_free(s->upper), s->upper = NULL;
    if (what == 13) sk_free(s->absorbing), s->absorbing = NULL;
}

static void test_structure__every_part_counts(void **state)
{
    (void)state;
    for (int what = 0; what < 14; what++) {
        sk_structure *s = full(ctx), *copy = NULL;
        assert_int_equal(sk_structure_copy(ctx, s, &copy), SOCK_OK);
        assert_true(sk_structure_equal(s, copy) && sk_structure_equal(copy, s));
        change(s, what);
        if (sk_structure_equal(s, copy) || sk_structure_equal(copy, s)) fail_msg("change %d is not seen", what);
        sk_structure_free(s), sk_structure_free(copy);
    }
}

static void test_structure__of_another_dimension_is_another(void **state)
{
    (void)state;
    sk_structure *one = NULL, *two = NULL;
    assert_int_equal(sk_structure_new(ctx, 1, NULL, &one), SOCK_OK);
    assert_int_equal(sk_structure_new(ctx, 2, NULL, &two), SOCK_OK);
    assert_false(sk_structure_equal(one, two) || sk_structure_equal(two, one));
    assert_string_equal(two->state[1], "x1");
    sk_structure_free(one), sk_structure_free(two);
}

/* Inputs have names of their own, u0, u1, and 0 where nothing is said of them. */
static void test_structure__inputs_by_default(void **state)
{
    (void)state;
    const sk_hold hold[] = {SK_HOLD_PREVIOUS, SK_HOLD_LINEAR};
    sk_structure *s = NULL;
    assert_int_equal(sk_structure_new(ctx, D, NULL, &s), SOCK_OK);
    assert_int_equal(sk_structure_set_inputs(ctx, s, 0, NULL, NULL, NULL), SOCK_OK);
    assert_true(s->inputs == 0 && !s->input && sk_structure_is_plain(s));
    assert_int_equal(sk_structure_set_inputs(ctx, s, 2, NULL, hold, NULL), SOCK_OK);
    assert_string_equal(s->input[0].name, "u0");
    assert_string_equal(s->input[1].name, "u1");
    assert_true(s->input[1].hold == SK_HOLD_LINEAR && s->input[1].usual == 0 && !sk_structure_is_plain(s));
    sk_structure_free(s);
}

static void test_structure__what_absorbs(void **state)
{
    (void)state;
    sk_structure *s = full(ctx); /* x in [-1, 1], y in [-2, 2], y = 2 is never left */
    assert_true(sk_structure_absorbs(s, (const double[]){0, 2}));
    assert_false(sk_structure_absorbs(s, (const double[]){0, -2}));
    assert_false(sk_structure_absorbs(s, (const double[]){1, 1.99}));
    s->absorbing[0] = SK_ABSORBS_LOWER;
    assert_true(sk_structure_absorbs(s, (const double[]){-1, 0}));
    assert_false(sk_structure_absorbs(s, (const double[]){1, 0}));
    s->absorbing[0] = SK_ABSORBS_LOWER | SK_ABSORBS_UPPER;
    assert_true(sk_structure_absorbs(s, (const double[]){1, 0}));
    sk_free(s->lower), s->lower = NULL;
    assert_false(sk_structure_absorbs(s, (const double[]){-1, 0}));
    sk_free(s->upper), s->upper = NULL;
    assert_false(sk_structure_absorbs(s, (const double[]){1, 2}) || sk_structure_is_bounded(s));
    sk_structure_free(s);
}

static sock_status make_and_copy(sock_context *context, void *arg)
{
    sk_structure *copy = NULL, *named = NULL;
    const sk_hold hold[] = {SK_HOLD_PREVIOUS, SK_HOLD_PREVIOUS};
    sock_status status;
    SK_GO(sk_structure_copy(context, arg, &copy));
    SK_GO(sk_structure_new(context, D, NULL, &named));
    SK_GO(sk_structure_set_inputs(context, named, 2, NULL, hold, NULL));
out:
    sk_structure_free(copy), sk_structure_free(named);
    return status;
}

static void test_structure__survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_structure *s = full(ctx);
    assert_true(for_single_allocations(ctx, make_and_copy, s) > 12);
    sk_structure_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure__every_part_counts),
        cmocka_unit_test(test_structure__of_another_dimension_is_another),
        cmocka_unit_test(test_structure__inputs_by_default),
        cmocka_unit_test(test_structure__what_absorbs),
        cmocka_unit_test(test_structure__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
