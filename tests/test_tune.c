/* test_tune.c - the tuned fit at its borders: budget, cancelling and failed memory are obeyed, options are checked, and
 * poor data end in a model or in a message. */
#include "tunefits.h"

/* ---- Budget, cancelling, memory ---- */

static void test_tune__small_budget_gives_a_usable_model(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 400, 11, 0.1, ou_paths(1, 400, 11, 0.1, 1, 14));
    sock_options *opts = options((const char *const[]){"budget", "1e-6", NULL});
    sock_model *model = NULL;
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_LIMITED);
    assert_non_null(strstr(sock_message(ctx), "were left out"));
    double at[] = {-0.5, 0.5}, f[2], a[2];
    assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 2, at, a), SOCK_OK);
    assert_close(a[0], 1, 0.3, 1);
    assert_true(isfinite(f[0]) && isfinite(f[1]) && a[1] > 0);
    json_t *info = info_of(model);
    assert_true(json_is_true(json_object_get(info, "limited")));
    assert_true(json_array_size(json_object_get(info, "left_out")) > 0);
    json_decref(info);
    sock_model_free(model);
    sock_options_free(opts);
    sock_data_free(data);
}

static int stop_after(void *user, const char *stage, double fraction)
{
    (void)fraction;
    assert_non_null(stage);
    long *left = user;
    return --*left == 0;
}

static void test_tune__monitor_cancels_at_any_time(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 12, 9, 0.1, ou_paths(1, 12, 9, 0.1, 1, 15));
    sock_set_threads(ctx, 1);
    for (long k = 1;; k = k < 8 ? k + 1 : k * 2) {
        long left = k;
        sock_model *model = NULL;
        sock_set_monitor(ctx, stop_after, &left);
        sock_status status = sock_fit(ctx, data, NULL, &model);
        sock_set_monitor(ctx, NULL, NULL);
        sock_cancel_reset(ctx);
        if (status >= 0) { /* it was over before */
            assert_true(k > 100);
            sock_model_free(model);
            break;
        }
        assert_int_equal(status, SOCK_ECANCELLED);
        assert_null(model);
    }
    sock_set_threads(ctx, 2);
    sock_data_free(data);
}

/* Every allocation of a whole search in turn would take minutes: some, spread over it. */
static void fail_some(const sock_data *data, const char *const *pairs, long some)
{
    sock_options *opts = options(pairs);
    sock_model *model = NULL;
    long before = sk_allocations(ctx);
    assert_true(sock_fit(ctx, data, opts, &model) >= 0);
    long total = sk_allocations(ctx) - before;
    sock_model_free(model);
    for (long k = 1; k <= total; k += 1 + total / some) {
        model = NULL;
        sk_fail_allocation(ctx, k);
        sock_status status = sock_fit(ctx, data, opts, &model);
        sk_fail_allocation(ctx, 0);
        assert_int_equal(status, SOCK_ENOMEM);
        assert_non_null(strstr(sock_message(ctx), "out of memory"));
        assert_null(model);
    }
    sock_options_free(opts);
}

/* Few of the full search, many of one with two kernels, which goes through the same stages. */
static void test_tune__survives_failed_allocations(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 6, 5, 0.1, ou_paths(1, 6, 5, 0.1, 1, 16));
    sock_set_threads(ctx, 1);
    fail_some(data, NULL, 4);
    fail_some(data, (const char *const[]){"drift", "affine", "diffusion", "affine", NULL}, 60);
    sock_set_threads(ctx, 2);
    sock_data_free(data);
}

/* ---- Options ---- */

static void test_tune__options_of_the_plain_estimator_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"drift-lambda", "1"}, {"solver", "fista"}, {"quadrature", "trapezoid"},
                                           {"diffusion", "none"}, {"landmarks", "10"}, {"drift", "curlfree"}};
    sock_data *data = small_set();
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++) {
        sock_options *opts = options((const char *const[]){wrong[c][0], wrong[c][1], NULL});
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
        assert_true(strlen(sock_message(ctx)) > 10);
        assert_null(model);
        sock_options_free(opts);
    }
    sock_data_free(data);
}

/* Each piece can be switched off, and the search still ends in a model. */
static void test_tune__pieces_can_be_switched_off(void **state)
{
    (void)state;
    static const char *const off[][2] = {
        {"weights", "no"}, {"learned", "no"},      {"correction", "no"}, {"polish", "no"},   {"average", "no"},
        {"scaling", "no"}, {"quadrature", "left"}, {"diagonal", "yes"},  {"diagonal", "no"}, {"folds", "3"}};
    sock_data *data = small_set();
    for (size_t c = 0; c < sizeof off / sizeof *off; c++) {
        sock_model *model =
            fit(data, (const char *const[]){off[c][0], off[c][1], "drift", "affine", "diffusion", "affine", NULL});
        json_t *info = info_of(model), *list = json_object_get(info, "diffusions"), *entry;
        size_t i;
        json_array_foreach(list, i, entry)
        {
            const char *name = json_string_value(json_object_get(entry, "kernel"));
            if (strcmp(off[c][0], "diagonal") == 0)
                assert_true((strstr(name, "diagonal") != NULL) == (strcmp(off[c][1], "yes") == 0));
            if (strcmp(off[c][0], "polish") == 0) assert_true(json_is_false(json_object_get(entry, "polished")));
        }
        if (strcmp(off[c][0], "average") == 0) assert_int_equal(json_array_size(list), 1);
        if (strcmp(off[c][0], "folds") == 0) assert_int_equal(json_integer_value(json_object_get(info, "folds")), 3);
        json_decref(info);
        sock_model_free(model);
    }
    sock_data_free(data);
}

/* ---- Poor data ---- */

typedef struct poor {
    const char *name;
    size_t d, trajectories, points;
    const char *message; /* NULL: a model is expected */
} poor;

static void spoil(const char *name, size_t d, size_t n, size_t points, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double *at = x + i * d, step = (double)(i % points);
        if (strcmp(name, "constant") == 0) at[0] = 2;
        if (strcmp(name, "equal increments") == 0) at[0] = 0.5 * step;
        if (strcmp(name, "equal increments in two") == 0) at[0] = 0.5 * step, at[1] = 0.25 * step;
        if (strcmp(name, "a coordinate stands still") == 0) at[1] = 3e4;
        if (strcmp(name, "copies") == 0 && i >= points) memcpy(at, x + (i % points) * d, d * sizeof *x);
        if (strcmp(name, "collinear") == 0) at[1] = 2 * at[0];
        if (strcmp(name, "no noise") == 0) at[0] = (1 + (double)(i / points)) * exp(-0.1 * step);
        if (strcmp(name, "far from zero") == 0) at[0] += 1e6;
        if (strcmp(name, "up and down") == 0) at[0] = (double)(i % 2);
        if (strcmp(name, "one jump") == 0) at[0] = i + 1 == n;
        if (strcmp(name, "scales") == 0) at[0] *= 1e-6, at[2] *= 1e6;
        if (strcmp(name, "huge") == 0) at[0] *= 1e160;
    }
}

static void test_tune__poor_data_end_in_a_model_or_a_message(void **state)
{
    (void)state;
    /* in two dimensions with fewer folds, in more with fewer candidates: a budget would make the path depend on the
     * machine */
    static const char *const few[] = {"learned", "no", "diagonal", "yes", "polish", "no", "folds", "2", NULL};
    static const poor cases[] = {{"two trajectories", 1, 2, 15, NULL},
                                 {"two steps", 1, 2, 2, NULL},
                                 {"one trajectory", 1, 1, 60, NULL},
                                 {"three points", 1, 1, 3, NULL},
                                 {"one interval", 1, 1, 2, "one interval is not enough"},
                                 {"constant", 1, 4, 8, "never change"},
                                 {"two points each", 1, 30, 2, NULL},
                                 {"ten dimensions, 20 intervals", 10, 2, 11, NULL},
                                 {"ten dimensions, 20 starts", 10, 20, 2, NULL},
                                 {"scales", 3, 4, 8, NULL},
                                 {"equal increments", 1, 4, 10, NULL},
                                 {"equal increments in two", 2, 3, 7, NULL},
                                 {"a coordinate stands still", 2, 4, 8, NULL},
                                 {"copies", 1, 5, 11, NULL},
                                 {"collinear", 2, 4, 8, NULL},
                                 {"no noise", 1, 5, 15, NULL},
                                 {"far from zero", 1, 5, 11, NULL},
                                 {"up and down", 1, 5, 10, NULL},
                                 {"one jump", 1, 5, 10, NULL},
                                 {"huge", 1, 5, 10, "rescale the data"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t d = cases[c].d, n = cases[c].trajectories * cases[c].points;
        double *x = ou_paths(d, cases[c].trajectories, cases[c].points, 0.1, 1, 20 + c);
        spoil(cases[c].name, d, n, cases[c].points, x);
        sock_data *data = data_of(d, cases[c].trajectories, cases[c].points, 0.1, x);
        sock_options *opts = options(d > 2 ? few : d > 1 ? few + 6 : NULL);
        sock_model *model = NULL;
        sock_status status = sock_fit(ctx, data, opts, &model);
        if (cases[c].message) {
            assert_int_equal(status, SOCK_EINPUT);
            if (!strstr(sock_message(ctx), cases[c].message)) fail_msg("%s: %s", cases[c].name, sock_message(ctx));
        } else {
            if (status < 0) fail_msg("%s: %s", cases[c].name, sock_message(ctx));
            double *f = calloc(n * d, sizeof *f), *a = calloc(n * d * d, sizeof *a);
            assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
            assert_int_equal(sock_model_sigma(ctx, model, n, data->x, a), SOCK_OK);
            for (size_t i = 0; i < n * d; i++)
                if (!isfinite(f[i])) fail_msg("%s: f is %g", cases[c].name, f[i]);
            for (size_t i = 0; i < n * d * d; i++)
                if (!isfinite(a[i])) fail_msg("%s: sigma is %g", cases[c].name, a[i]);
            free(f), free(a);
        }
        sock_model_free(model);
        sock_options_free(opts);
        sock_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tune__small_budget_gives_a_usable_model),
        cmocka_unit_test(test_tune__monitor_cancels_at_any_time),
        cmocka_unit_test(test_tune__survives_failed_allocations),
        cmocka_unit_test(test_tune__options_of_the_plain_estimator_are_refused),
        cmocka_unit_test(test_tune__pieces_can_be_switched_off),
        cmocka_unit_test(test_tune__poor_data_end_in_a_model_or_a_message),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
