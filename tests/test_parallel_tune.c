/* test_parallel_tune.c - the search in several threads: candidates side by side, the same answer as one by one. */
#include "data/data.h"
#include "test.h"

static sock_model *fit(sock_context *ctx, const sock_data *data, int threads, const char *preset)
{
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "preset", preset), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "polish", "no"), SOCK_OK);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static void test_parallel_tune__threads_give_the_same_model(void **state)
{
    (void)state;
    enum { PATHS = 12, POINTS = 7 };
    static const char *const presets[] = {"default", "paper"};
    sock_context *ctx = sock_context_new();
    double t[PATHS * POINTS], x[PATHS * POINTS];
    size_t length[PATHS];
    sock_data *data = NULL;
    sk_normals((sk_key){81, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * POINTS, x);
    for (size_t i = 0; i < PATHS * POINTS; i++) {
        length[i / POINTS] = POINTS;
        t[i] = 0.1 * (double)(i % POINTS);
        if (i % POINTS) x[i] = 0.9 * x[i - 1] + 0.3 * x[i];
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    for (int p = 0; p < 2; p++) {
        sock_model *one = fit(ctx, data, 1, presets[p]), *three = fit(ctx, data, 3, presets[p]);
        double f[2 * PATHS * POINTS], a[2 * PATHS * POINTS];
        assert_int_equal(sock_model_drift(ctx, one, PATHS * POINTS, x, f), SOCK_OK);
        assert_int_equal(sock_model_drift(ctx, three, PATHS * POINTS, x, f + PATHS * POINTS), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, one, PATHS * POINTS, x, a), SOCK_OK);
        assert_int_equal(sock_model_diffusion(ctx, three, PATHS * POINTS, x, a + PATHS * POINTS), SOCK_OK);
        assert_all_close(PATHS * POINTS, f, f + PATHS * POINTS, 1e-9);
        assert_all_close(PATHS * POINTS, a, a + PATHS * POINTS, 1e-9);
        sock_model_free(one), sock_model_free(three);
    }
    sock_data_free(data);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parallel_tune__threads_give_the_same_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
