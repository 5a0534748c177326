/* test_lagone.c - the correlation of neighbouring standardised residuals, by a slow loop; with few pairs there is none.
 */
#include "score/score.h"
#include "tunecases.h"

#include "onecontext.h"

/* What add_step and drift_of_steps say, step by step, for steps in trajectories of `each`. */
static double slow_lag1(const sock_data *data, size_t *pairs)
{
    double product = 0, square = 0;
    *pairs = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        double last = NAN;
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double x = data->x[i], next = data->x[i + 1], h = data->t[i + 1] - data->t[i];
            double f, ahead, there, a;
            case_drift(NULL, 1, 1, &x, &f);
            case_diffusion(NULL, 1, 1, &x, &a);
            there = x + h * f;
            case_drift(NULL, 1, 1, &there, &ahead);
            double e = (next - x - h * 0.5 * (f + ahead)) / sqrt(h * a);
            e = fmax(-5, fmin(5, e));
            if (!isnan(last)) product += e * last, ++*pairs;
            square += e * e;
            last = e;
        }
    }
    return product / square;
}

static void prop_lag1_is_that_of_a_slow_loop_from_enough_pairs_on(void **state)
{
    (void)state;
    bool diagonal = false;
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, case_drift, case_diffusion, &diagonal, &model), SOCK_OK);
    for (size_t each = 2; each <= 25; each++) {
        sock_data *data = case_data(ctx, 25, 1, each, 7);
        size_t pairs;
        double made, wanted = slow_lag1(data, &pairs);
        assert_int_equal(sk_residual_lag1(ctx, model, data, NULL, &made), SOCK_OK);
        if (pairs > 20)
            assert_close(made, wanted, 1e-12, 1e-3);
        else
            assert_true(isnan(made));
        sock_data_free(data);
    }
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prop_lag1_is_that_of_a_slow_loop_from_enough_pairs_on)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
