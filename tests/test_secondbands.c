/* test_secondbands.c - bands of f and a beside measurement noise, of models of order 2: as wide as estimates scatter.
 */
#include "tune/policy.h"
#include "tunefits.h"

#include "secondmodels.h"

enum { SETS = 48 };

/* a at two states with what its band says of it. */
typedef struct estimate {
    double a[2], sd[2], f_sd;
} estimate;

static estimate estimate_of(const sock_model *truth_model, double r, uint64_t seed, const char *const *options)
{
    const double at[] = {0, 0, 1, 0};
    double f_low[4], f_high[4], a_low[8], a_high[8], a[8];
    sock_data *data = second_positions(truth_model, 0.1, r, seed);
    sock_model *model = fit(data, options);
    const sock_bands bands = {.f_low = f_low, .f_high = f_high, .a_low = a_low, .a_high = a_high};
    assert_int_equal(sock_model_bands(ctx, model, 2, at, 0.9, &bands), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, at, a), SOCK_OK);
    const double unit = 2 * 1.6448536 * SK_BAND_FACTOR;
    const estimate e = {.a = {a[3], a[7]},
                        .sd = {(a_high[3] - a_low[3]) / unit, (a_high[7] - a_low[7]) / unit},
                        .f_sd = (f_high[3] - f_low[3]) / unit};
    assert_true(a_low[0] == 0 && a_high[0] == 0 && a_high[1] == 0); /* of the velocities alone */
    assert_true(a_low[3] < a[3] && a[3] < a_high[3]);
    sock_model_free(model);
    sock_data_free(data);
    return e;
}

/* Of n squares alone a would have the relative variance 2 / n, were R known; that it is not counts for more. */
static void test_secondbands__of_a_constant_a_beside_noise(void **state)
{
    (void)state;
    static const char *const plain[] = {"order",  "2",         "noise",    "diag", "drift",
                                        "affine", "diffusion", "constant", NULL};
    double w[] = {-1, 0, -0.5, 1, 0}, square = 0, mean = 0, told = 0;
    sock_model *model = second_model(w, 0);
    for (uint64_t s = 0; s < SETS; s++) {
        const estimate e = estimate_of(model, 4e-4, 1700 + s, plain);
        mean += (e.a[0] - 1) / SETS;
        square += (e.a[0] - 1) * (e.a[0] - 1) / SETS;
        told += e.sd[0] * e.sd[0] / SETS;
        assert_close(e.sd[0], e.sd[1], 1e-9, 1);
        assert_true(e.sd[0] > 1.3 * e.a[0] * sqrt(2 / (SECOND_PATHS * (SECOND_POINTS - 2.0))));
        assert_true(e.f_sd > 0.02 && e.f_sd < 0.2);
    }

    assert_true(fabs(mean) < 0.03);
    assert_true(square / told > 0.55 && square / told < 1.65); /* chi square of 48: 0.5 % on each side */
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secondbands__of_a_constant_a_beside_noise),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
