/* test_absorbed.c - trajectories that came to rest on a bound. */
#include "data/absorbed.h"
#include "onecontext.h"

#include <string.h>

/* Two states: the first dies out in trajectory 0, rests elsewhere in 1, comes back from 0 in 2. */
static sock_data *some_data(void)
{
    static const double t[] = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2};
    static const double x[] = {1, 5, 0, 4, 0, 4, 0, 4, /**/ 1, 5, 2, 5, 2, 5, /**/ 1, 5, 0, 5, 1, 5};
    size_t length[] = {4, 3, 3};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 3, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static const double lower[] = {0, -(double)INFINITY}, upper[] = {(double)INFINITY, 4};

static void test_absorbed__are_the_last_steps_at_rest_on_a_bound(void **state)
{
    (void)state;
    sock_data *data = some_data();
    bool step[10] = {false};
    const bool expected[10] = {[1] = true, [2] = true};
    assert_int_equal(sk_absorbed_mark(data, lower, NULL, step), 2);
    assert_memory_equal(step, expected, sizeof step);
    assert_int_equal(sk_absorbed_mark(data, NULL, upper, NULL), 2); /* the second state is on its upper bound there */
    assert_int_equal(sk_absorbed_mark(data, NULL, NULL, NULL), 0);
    sock_data_free(data);
}

static void test_absorbed__a_bound_that_is_left_again_is_none(void **state)
{
    (void)state;
    sock_data *data = some_data();
    assert_false(sk_absorbed_at(data, 0, 0)); /* trajectory 2 comes back */
    assert_true(sk_absorbed_at(data, 1, 4));
    assert_false(sk_absorbed_at(data, 0, 7)); /* nobody was there */
    sock_data_free(data);
}

static void test_absorbed__cut_keeps_the_rest(void **state)
{
    (void)state;
    sock_data *data = some_data(), *cut = NULL;
    assert_int_equal(sk_absorbed_cut(ctx, data, lower, NULL, &cut), SOCK_OK);
    const size_t first[] = {0, 2, 5, 8};
    assert_memory_equal(cut->first, first, sizeof first);
    assert_int_equal(cut->points, 8);
    assert_memory_equal(cut->x, data->x, 4 * sizeof(double));
    assert_memory_equal(cut->x + 4, data->x + 8, 12 * sizeof(double));
    assert_memory_equal(cut->t + 2, data->t + 4, 6 * sizeof(double));
    sk_absorbed_free(cut);
    const double far[] = {-5, -5};
    assert_int_equal(sk_absorbed_cut(ctx, data, far, NULL, &cut), SOCK_OK);
    assert_null(cut);
    sock_data_free(data);
}

static sock_status cut_again(sock_context *context, void *arg)
{
    sock_data *cut = NULL;
    SK_TRY(sk_absorbed_cut(context, arg, lower, upper, &cut));
    sk_absorbed_free(cut);
    return SOCK_OK;
}

static void test_absorbed__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = some_data();
    assert_true(for_each_allocation(ctx, cut_again, data) > 3);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absorbed__are_the_last_steps_at_rest_on_a_bound),
        cmocka_unit_test(test_absorbed__a_bound_that_is_left_again_is_none),
        cmocka_unit_test(test_absorbed__cut_keeps_the_rest),
        cmocka_unit_test(test_absorbed__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
