/* test_papernoise.c - the stand-in for a while the paper's drift is searched: three steps in two dimensions, by hand.
 */
#include "paper/papernoise.h"
#include "score/score.h"

#include "onecontext.h"

static sock_data *three_steps(void)
{
    const size_t length[] = {3, 2};
    const double t[] = {0, 0.5, 0.75, 0, 1}, x[] = {1, 2, 0, 4, 0.5, 3, -1, 1, 1, 0};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static void test_papernoise__the_mean_rate_is_travel_over_time(void **state)
{
    (void)state;
    sock_data *data = three_steps();
    double rate[2];
    sk_mean_rate(data, rate);
    assert_close(rate[0], (-0.5 + 2) / 1.75, 1e-15, 1);
    assert_close(rate[1], (1.0 - 1) / 1.75, 1e-15, 1);
    sock_data_free(data);
}

/* a = mean of e e'/h with f = (1, -2) at every point but the last of each trajectory, where it must not matter. */
static void test_papernoise__is_the_mean_product_of_what_is_left(void **state)
{
    (void)state;
    const double f[] = {1, -2, 1, -2, 99, 99, 1, -2, 99, 99};
    const double h[] = {0.5, 0.25, 1}, e[] = {-1 - 0.5, 2 + 1, 0.5 - 0.25, -1 + 0.5, 2 - 1, -1 + 2};
    sock_data *data = three_steps();
    sk_diffusion_term *term = NULL;
    assert_int_equal(sk_constant_noise(ctx, data, f, &term), SOCK_OK);
    for (size_t k = 0; k < 2; k++)
        for (size_t l = 0; l < 2; l++) {
            double expected = 0, found = 0;
            for (size_t i = 0; i < 3; i++) expected += e[2 * i + k] * e[2 * i + l] / h[i] / 3;
            for (size_t c = 0; c < term->rank; c++) found += term->v[k * term->rank + c] * term->v[l * term->rank + c];
            assert_close(found, expected, 1e-14, 1);
        }
    sk_diffusion_term_free(term);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papernoise__the_mean_rate_is_travel_over_time),
        cmocka_unit_test(test_papernoise__is_the_mean_product_of_what_is_left),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
