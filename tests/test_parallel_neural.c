/* test_parallel_neural.c - neural models in several threads: the pieces of a batch side by side, candidates side by
 * side, starts side by side; the same numbers as one by one. */
#include "compare/neural/neural.h"
#include "test.h"

enum { PATHS = 20, POINTS = 6 };

static sock_data *some_data(sock_context *ctx)
{
    double t[PATHS * POINTS], x[PATHS * POINTS];
    size_t length[PATHS];
    sock_data *data = NULL;
    sk_normals((sk_key){82, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * POINTS, x);
    for (size_t i = 0; i < PATHS * POINTS; i++) {
        length[i / POINTS] = POINTS;
        t[i] = 0.1 * (double)(i % POINTS);
        if (i % POINTS) x[i] = 0.9 * x[i - 1] + 0.3 * x[i];
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static nn_model *tuned(sock_context *ctx, const sock_data *data, nn_kind kind, int threads, double mmd2[2])
{
    const size_t width[2] = {6, 9}, layers[2] = {1, 2};
    nn_settings s = nn_default_settings(kind);
    nn_grid grid = {.count = 2, .width = width, .layers = layers, .mmd2 = mmd2};
    nn_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    s.epochs = 8;
    s.step = 0.2;
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "20"), SOCK_OK);
    if (nn_tune(ctx, &s, data, data, opts, &grid, &model) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static void test_parallel_neural__threads_give_the_same_numbers(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *data = some_data(ctx);
    for (int kind = 0; kind < NN_KINDS; kind++) {
        nn_settings s = nn_default_settings((nn_kind)kind);
        nn_model *model[2] = {NULL, NULL};
        s.epochs = 10;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(sock_set_threads(ctx, 1 + 2 * i), SOCK_OK);
            assert_int_equal(nn_train(ctx, &s, data, &model[i]), SOCK_OK);
        }
        assert_all_close(model[0]->parameters, model[1]->theta, model[0]->theta, 1e-12);
        assert_all_close(s.epochs, model[1]->loss, model[0]->loss, 1e-12);
        nn_model_free(model[0]), nn_model_free(model[1]);
    }
    sock_data_free(data);
    sock_context_free(ctx);
}

static void test_parallel_neural__tuning_in_threads_is_the_same(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sock_data *data = some_data(ctx);
    double one[2], three[2];
    nn_model *a = tuned(ctx, data, NN_GSDE, 1, one), *b = tuned(ctx, data, NN_GSDE, 3, three);
    assert_int_equal(a->settings.width, b->settings.width);
    assert_all_close(2, three, one, 1e-11);
    assert_all_close(a->parameters, b->theta, a->theta, 1e-12);
    nn_model_free(a), nn_model_free(b);
    sock_data_free(data);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parallel_neural__threads_give_the_same_numbers),
                                       cmocka_unit_test(test_parallel_neural__tuning_in_threads_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
