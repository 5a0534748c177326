/* test_parallel_fits.c - ten fits at once in one process, each with a context of its own, on shared data: every one
 * gives the model that it gives alone, bit for bit. */
#include "test.h"

#include <pthread.h>

enum { FITS = 10, PATHS = 6, POINTS = 8, N = PATHS * POINTS };

typedef struct one_fit {
    const sock_data *data;
    const double *x;
    size_t number;
    double f[N], a[N];
    bool good;
} one_fit;

static void *fit(void *arg)
{
    static const char *const kernel[] = {"gauss", "poly:degree=2", "fourier:p=12", "nystrom:m=6", "linear+constant"};
    one_fit *o = arg;
    sock_context *ctx = sock_context_new();
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    sock_set_threads(ctx, 1 + (int)(o->number % 2));
    sock_options_set(ctx, opts, "tune", "no");
    sock_options_set(ctx, opts, "drift", kernel[o->number % 5]);
    sock_options_set(ctx, opts, "diffusion", o->number % 2 ? "affine" : "gauss");
    o->good = sock_fit(ctx, o->data, opts, &model) >= 0 && sock_model_drift(ctx, model, N, o->x, o->f) == SOCK_OK &&
              sock_model_diffusion(ctx, model, N, o->x, o->a) == SOCK_OK;
    sock_model_free(model);
    sock_options_free(opts);
    sock_context_free(ctx);
    return NULL;
}

static void test_parallel_fits__ten_at_once(void **state)
{
    (void)state;
    static one_fit together[FITS], alone[FITS];
    double t[N], x[N];
    size_t length[PATHS];
    sock_context *ctx = sock_context_new();
    sock_data *data = NULL;
    pthread_t thread[FITS];
    sk_normals((sk_key){82, SK_PURPOSE_TEST}, 0, 0, 0, N, x);
    for (size_t i = 0; i < N; i++) {
        length[i / POINTS] = POINTS;
        t[i] = 0.1 * (double)(i % POINTS);
        if (i % POINTS) x[i] = 0.9 * x[i - 1] + 0.3 * x[i];
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    for (size_t i = 0; i < FITS; i++) {
        together[i] = alone[i] = (one_fit){.data = data, .x = x, .number = i};
        fit(&alone[i]);
    }
    for (size_t i = 0; i < FITS; i++) assert_int_equal(pthread_create(&thread[i], NULL, fit, &together[i]), 0);
    for (size_t i = 0; i < FITS; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < FITS; i++) {
        assert_true(together[i].good && alone[i].good);
        assert_memory_equal(together[i].f, alone[i].f, sizeof alone[i].f);
        assert_memory_equal(together[i].a, alone[i].a, sizeof alone[i].a);
    }
    sock_data_free(data);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parallel_fits__ten_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
