/* test_dataorder.c - the order of trajectories is a matter of their numbers alone. */
#include "data/data.h"
#include "onecontext.h"

#include <stdlib.h>

enum { PATHS = 40, POINTS = 6 };

/* Walks in two dimensions, walk order[u] at place u; the last is the mirror image of the first. Every third starts an
 * hour later, every fifth has two points. */
static sock_data *walks(const size_t *order, bool swap, double shift, double unit)
{
    size_t length[PATHS], at = 0;
    double t[PATHS * POINTS], x[2 * PATHS * POINTS], noise[2 * POINTS];
    for (size_t u = 0; u < PATHS; u++) {
        const size_t j = order[u] == PATHS - 1 ? 0 : order[u];
        const double sign = order[u] == PATHS - 1 ? -1 : 1;
        double y[2] = {0, 0};
        sk_normals((sk_key){9, SK_PURPOSE_TEST}, j, 0, 0, 2 * POINTS, noise);
        length[u] = j % 5 == 4 ? 2 : POINTS;
        for (size_t i = 0; i < length[u]; i++, at++) {
            t[at] = (j % 3 == 2 ? 1 : 0) + 0.1 * (double)i;
            for (size_t k = 0; k < 2; k++) y[k] += sign * noise[2 * i + k];
            for (size_t k = 0; k < 2; k++) x[2 * at + (swap ? 1 - k : k)] = unit * (y[k] + shift);
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

/* names[i]: which walk comes at place i. */
static void order_of(const size_t *order, bool swap, double shift, double unit, size_t *names, double *content)
{
    sock_data *data = walks(order, swap, shift, unit);
    size_t found[PATHS];
    double own[PATHS];
    assert_int_equal(sk_data_order(ctx, data, found, own), SOCK_OK);
    for (size_t i = 0; i < PATHS; i++) {
        names[i] = order[found[i]];
        content[order[i]] = own[i];
    }
    for (size_t i = 1; i < PATHS; i++)
        assert_true(data->t[data->first[found[i - 1]]] <= data->t[data->first[found[i]]]);
    sock_data_free(data);
}

static void prop_order_is_that_of_the_content(void **state)
{
    (void)state;
    size_t plain[PATHS], mixed[PATHS], base[PATHS], other[PATHS];
    double content[PATHS], there[PATHS];
    for (size_t j = 0; j < PATHS; j++) plain[j] = j;
    sk_shuffle((sk_key){4, SK_PURPOSE_TEST}, 0, 0, PATHS, mixed);
    order_of(plain, false, 0, 1, base, content);
    assert_true(content[0] == content[PATHS - 1]); /* mirrored, so only the numbers tell them apart */
    for (int c = 0; c < 4; c++) {
        order_of(c % 2 ? mixed : plain, false, c > 1 ? 300 : 0, c > 1 ? 1e3 : 1, other, there);
        assert_memory_equal(base, other, sizeof base);
        assert_all_close(PATHS, there, content, 1e-9);
    }
    order_of(mixed, true, 0, 1, other, there); /* in another order of the states mirrors may change places */
    for (size_t i = 0; i < PATHS; i++) assert_true(base[i] == other[i] || base[i] + other[i] == PATHS - 1);
    assert_all_close(PATHS, there, content, 1e-9);
}

/* A trajectory of several steps has a content of its own: the others may change. */
static void test_dataorder__content_does_not_depend_on_the_others(void **state)
{
    (void)state;
    static const size_t length[] = {4, 4};
    double t[] = {0, 1, 2, 3, 0, 1, 2, 3}, x[] = {0, 1, 3, 2, 5, 5, 6, 9}, content[2][2];
    size_t order[2];
    for (int c = 0; c < 2; c++) {
        sock_data *data = NULL;
        x[7] += c;
        assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sk_data_order(ctx, data, order, content[c]), SOCK_OK);
        sock_data_free(data);
    }
    assert_true(content[0][0] == content[1][0] && content[0][1] != content[1][1]);
    assert_close(content[0][0], log((1.0 + 4 + 1) / 1.25), 1e-14, 0); /* mean 1.5, variance 1.25 */
}

static void test_dataorder__sorted_data_are_the_same_trajectories(void **state)
{
    (void)state;
    size_t mixed[PATHS];
    sock_data *sorted[2], *again = NULL;
    for (int c = 0; c < 2; c++) {
        sk_shuffle((sk_key){4, SK_PURPOSE_TEST}, (uint64_t)c, 0, PATHS, mixed);
        sock_data *data = walks(mixed, false, 0, 1);
        assert_int_equal(sk_data_sorted(ctx, data, &sorted[c]), SOCK_OK);
        assert_non_null(sorted[c]);
        sock_data_free(data);
    }
    assert_int_equal(sorted[0]->points, sorted[1]->points);
    assert_memory_equal(sorted[0]->x, sorted[1]->x, 2 * sorted[0]->points * sizeof(double));
    assert_memory_equal(sorted[0]->t, sorted[1]->t, sorted[0]->points * sizeof(double));
    assert_int_equal(sk_data_sorted(ctx, sorted[0], &again), SOCK_OK);
    assert_null(again); /* they are in order */
    sock_data_free(sorted[0]), sock_data_free(sorted[1]);
}

static sock_status sort_once(sock_context *c, void *data)
{
    sock_data *sorted = NULL;
    const sock_status status = sk_data_sorted(c, data, &sorted);
    sock_data_free(sorted);
    return status;
}

static void test_dataorder__survives_every_failed_allocation(void **state)
{
    (void)state;
    size_t mixed[PATHS];
    sk_shuffle((sk_key){4, SK_PURPOSE_TEST}, 0, 0, PATHS, mixed);
    sock_data *data = walks(mixed, false, 0, 1);
    assert_true(for_each_allocation(ctx, sort_once, data) > 5);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_order_is_that_of_the_content),
        cmocka_unit_test(test_dataorder__content_does_not_depend_on_the_others),
        cmocka_unit_test(test_dataorder__sorted_data_are_the_same_trajectories),
        cmocka_unit_test(test_dataorder__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
