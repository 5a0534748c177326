/* test_ownzero.c - the zero of a learned drift that is a round number near the middle of the data is a guess: what f is
 * there is as little known as elsewhere. */
#include "tunefits.h"

enum { POINTS = 1501, SETS = 40 };

/* dx = -(x - 9.6) dt + dW: f is 0 there, and the data know that place to a seventh; many fits say -1.1*(x - 10). */
static void test_ownzero__the_middle_of_a_relaxation_has_its_error(void **state)
{
    (void)state;
    size_t inside = 0, round = 0, told = 0;
    for (uint64_t seed = 0; seed < SETS; seed++) {
        double *x = ou_paths(1, 1, POINTS, 0.04, 1, 6100 + seed), low, high;
        const double middle = 9.6;
        for (size_t i = 0; i < POINTS; i++) x[i] += middle;
        sock_data *data = data_of(1, 1, POINTS, 0.04, x);
        sock_model *model = fit(data, (const char *const[]){"noise", "none", "check", "no", NULL});
        char *text = NULL;
        assert_int_equal(sock_model_bands(ctx, model, 1, &middle, 0.9, &(sock_bands){.f_low = &low, .f_high = &high}),
                         SOCK_OK);
        inside += low <= 0 && high >= 0;
        assert_int_equal(sock_model_summary(ctx, model, &text), SOCK_OK);
        const bool is_round = strstr(text, "*(x0 - 10)") != NULL;
        round += is_round;
        told += is_round && !strstr(text, "fixed") && !strstr(text, "not estimated");
        sock_string_free(text);
        sock_model_free(model);
        sock_data_free(data);
    }
    print_message("held in %zu of %d, about a round number %zu, its error told %zu\n", inside, SETS, round, told);
    assert_true(inside >= 31); /* 0.9 of them; 31 or fewer in one of 200 studies */
    assert_true(round >= 5 && 2 * told > round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ownzero__the_middle_of_a_relaxation_has_its_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
