/* test_turns.c - where a fit of long steps turns to simpler kernels its model is made of them, as the record says. */
#include "tunefits.h"

enum { POINTS = 600, INNER = 50, SETS = 6 };

/* dx = (x - x^3) dt + 0.6 dW by Euler's rule, seen once in a unit of time. */
static double *well(uint64_t seed)
{
    double *x = calloc(POINTS, sizeof *x), *z = calloc((size_t)POINTS * INNER, sizeof *z), now = 0.5;
    const double h = 1.0 / INNER;
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 41, 0, 0, (size_t)POINTS * INNER, z);
    for (size_t i = 0; i < POINTS * INNER; i++) {
        if (i % INNER == 0) x[i / INNER] = now;
        now += (now - now * now * now) * h + 0.6 * sqrt(h) * z[i];
    }
    free(z);
    return x;
}

static void test_turns__a_constant_is_told_of_a_constant(void **state)
{
    (void)state;
    size_t constant = 0;
    for (uint64_t seed = 0; seed < SETS; seed++) {
        sock_data *data = data_of(1, 1, POINTS, 1, well(8000 + seed));
        sock_model *model = fit(data, (const char *const[]){"check", "no", NULL});
        const double x[] = {-1, 0, 1};
        double a[3];
        char *text = NULL;
        assert_int_equal(sock_model_summary(ctx, model, &text), SOCK_OK);
        assert_int_equal(sk_model_evaluate(ctx, model, 3, x, NULL, a), SOCK_OK);
        if (strstr(text, "diffusion    constant")) {
            constant++;
            assert_close(a[1], a[0], 1e-9, 0);
            assert_close(a[2], a[0], 1e-9, 0);
        }
        sock_string_free(text);
        sock_model_free(model);
        sock_data_free(data);
    }
    print_message("a constant a in %zu of %d\n", constant, SETS);
    assert_true(constant >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns__a_constant_is_told_of_a_constant),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
