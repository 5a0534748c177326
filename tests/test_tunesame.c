/* test_tunesame.c - what the tuned fit does not depend on: threads, the order of the trajectories, units. */
#include "model/sampler.h"
#include "tunefits.h"

#include <unistd.h>

static char *bytes_of(const sock_model *model, size_t *size)
{
    char path[64];
    snprintf(path, sizeof path, "test_tune_%ld.sock", (long)getpid());
    assert_int_equal(sock_model_save(ctx, model, path), SOCK_OK);
    FILE *file = fopen(path, "rb");
    char *bytes = calloc(1, 1 << 22);
    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    remove(path);
    assert_true(*size > 0 && *size < 1 << 22);
    return bytes;
}

static void test_tunesame__one_thread_twice_gives_the_same_bytes_and_two_the_same_model(void **state)
{
    (void)state;
    sock_data *data = small_set();
    sock_set_threads(ctx, 1);
    sock_model *one = fit(data, quick), *again = fit(data, quick);
    sock_set_threads(ctx, 2);
    sock_model *two = fit(data, quick);
    size_t size, size_again, n = data->points;
    char *bytes = bytes_of(one, &size), *bytes_again = bytes_of(again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, bytes_again, size);
    free(bytes), free(bytes_again);
    json_t *info = info_of(one), *other = info_of(two);
    assert_string_equal(json_string_value(json_object_get(info, "drift")),
                        json_string_value(json_object_get(other, "drift")));
    assert_string_equal(json_string_value(json_object_get(info, "diffusion")),
                        json_string_value(json_object_get(other, "diffusion")));
    json_decref(info), json_decref(other);
    double *f = calloc(4 * n, sizeof *f), *a = calloc(8 * n, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, one, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, two, n, data->x, f + 2 * n), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, one, n, data->x, a), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, two, n, data->x, a + 4 * n), SOCK_OK);
    assert_all_close(2 * n, f, f + 2 * n, 1e-9);
    assert_all_close(4 * n, a, a + 4 * n, 1e-9);
    free(f), free(a);
    sock_model_free(one), sock_model_free(again), sock_model_free(two);
    sock_data_free(data);
}

/* The order of the trajectories decides nothing, with a validation set or without. */
static void test_tunesame__order_of_trajectories_does_not_matter_beside_a_validation_set(void **state)
{
    (void)state;
    sock_data *data = small_set(), *turned = NULL, *held = NULL;
    size_t order[SMALL_PATHS], n = data->points;
    for (size_t j = 0; j < SMALL_PATHS; j++) order[j] = SMALL_PATHS - 1 - j;
    assert_int_equal(sk_data_subset(ctx, data, order, SMALL_PATHS, &turned), SOCK_OK);
    held = data_of(2, 8, 9, 0.1, ou_paths(2, 8, 9, 0.1, 1, 6));
    sock_options *opts = options(quick);
    assert_int_equal(sock_options_set_validation(ctx, opts, held), SOCK_OK);
    sock_model *one = NULL, *two = NULL;
    assert_true(sock_fit(ctx, data, opts, &one) >= 0);
    assert_true(sock_fit(ctx, turned, opts, &two) >= 0);
    double *f = calloc(4 * n, sizeof *f), *a = calloc(8 * n, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, one, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, two, n, data->x, f + 2 * n), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, one, n, data->x, a), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, two, n, data->x, a + 4 * n), SOCK_OK);
    assert_all_close(2 * n, f, f + 2 * n, 1e-6);
    assert_all_close(4 * n, a, a + 4 * n, 1e-6);
    json_t *info = info_of(one);
    assert_int_equal(json_integer_value(json_object_get(info, "folds")), 1);
    json_decref(info);
    free(f), free(a);
    sock_model_free(one), sock_model_free(two);
    sock_options_free(opts);
    sock_data_free(data), sock_data_free(turned), sock_data_free(held);
}

/* ---- Units ---- */

static sock_data *in_units(const sock_data *data, const double *unit)
{
    size_t n = data->points, d = data->d;
    double *x = calloc(n * d, sizeof *x);
    for (size_t i = 0; i < n * d; i++) x[i] = data->x[i] * unit[i % d];
    return data_of(d, data->trajectories, n / data->trajectories, data->t[1], x);
}

/* f_k = u_k f(x/u)_k, a_kl = u_k u_l a(x/u)_kl, in units of the first model. */
static void check_rescaled(const sock_data *data, const sock_model *model, const double *unit, const double *f0,
                           const double *a0)
{
    size_t n = data->points, d = data->d;
    double *f = calloc(n * d, sizeof *f), *a = calloc(n * d * d, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, n, data->x, a), SOCK_OK);
    for (size_t i = 0; i < n * d; i++) f[i] /= unit[i % d];
    for (size_t i = 0; i < n * d * d; i++) a[i] /= unit[i / d % d] * unit[i % d];
    assert_all_close(n * d, f, f0, 1e-6);
    assert_all_close(n * d * d, a, a0, 1e-6);
    free(f), free(a);
}

/* A fit in other units is the same fit in those units: fields, equation, score, and what is made of them. */
static void test_tunesame__units_of_the_states_do_not_matter(void **state)
{
    (void)state;
    static const double units[3][2] = {{1e-6, 1e-6}, {1e6, 1e6}, {1e-6, 1e6}};
    sock_data *plain = small_set(), *data[3];
    sock_model *model[3];
    json_t *info[3];
    size_t n = plain->points;
    double *f = calloc(2 * n, sizeof *f), *a = calloc(4 * n, sizeof *a);
    for (int c = 0; c < 3; c++) {
        data[c] = in_units(plain, units[c]);
        model[c] = fit(data[c], quick);
        info[c] = info_of(model[c]);
        assert_int_equal(json_array_size(json_object_get(info[c], "scale")), 2);
    }
    assert_int_equal(sock_model_drift(ctx, model[0], n, data[0]->x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model[0], n, data[0]->x, a), SOCK_OK);
    for (size_t i = 0; i < 2 * n; i++) f[i] /= 1e-6;
    for (size_t i = 0; i < 4 * n; i++) a[i] /= 1e-12;
    for (int c = 0; c < 3; c++) {
        check_rescaled(data[c], model[c], units[c], f, a);
        double density = json_number_value(json_object_get(info[c], "score")) / (double)(n - SMALL_PATHS);
        double first = json_number_value(json_object_get(info[0], "score")) / (double)(n - SMALL_PATHS);
        assert_close(density + log(units[c][0]) + log(units[c][1]), first + 2 * log(1e-6), 1e-6, 1);
    }
    sock_model *loaded = NULL; /* the file, and the sampler of simulations */
    char path[64];
    snprintf(path, sizeof path, "test_tune_units_%ld.sock", (long)getpid());
    assert_int_equal(sock_model_save(ctx, model[2], path), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, path, &loaded), SOCK_OK);
    remove(path);
    check_rescaled(data[2], loaded, units[2], f, a);
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, loaded, &sampler), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, n), 1), *g = calloc(6 * n, sizeof *g);
    sk_sampler_fields(ctx, sampler, n, data[2]->x, g, g + 2 * n, space);
    for (size_t i = 0; i < 2 * n; i++) g[i] /= units[2][i % 2];
    for (size_t i = 0; i < 4 * n; i++) g[2 * n + i] /= units[2][i / 2 % 2] * units[2][i % 2];
    assert_all_close(2 * n, g, f, 1e-6);
    assert_all_close(4 * n, g + 2 * n, a, 1e-6);
    sk_free(space), free(g);
    sk_sampler_free(sampler);
    sock_model_free(loaded);
    for (int c = 0; c < 3; c++) {
        json_decref(info[c]);
        sock_model_free(model[c]);
        sock_data_free(data[c]);
    }
    free(f), free(a);
    sock_data_free(plain);
}

/* The coefficients of the equation belong to the user's units: dx/dt = -x whatever x is measured in. */
static void test_tunesame__equation_is_in_the_users_units(void **state)
{
    (void)state;
    double *x = ou_paths(1, 60, 21, 0.1, 1, 8), coefficient;
    for (size_t i = 0; i < 60 * 21; i++) x[i] *= 1e5;
    sock_data *data = data_of(1, 60, 21, 0.1, x);
    sock_model *model = fit(data, (const char *const[]){"drift", "linear", "diffusion", "constant", NULL});
    json_t *info = info_of(model);
    const char *text = json_string_value(json_array_get(json_object_get(info, "equation"), 0));
    assert_int_equal(sscanf(text, "dx0/dt = %lf*x0", &coefficient), 1);
    double at = 1e5, f;
    assert_int_equal(sock_model_drift(ctx, model, 1, &at, &f), SOCK_OK);
    assert_close(coefficient * at, f, 1e-3, 0);
    assert_close(coefficient, -1, 0.4, 1);
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* A length scale that the user names is meant in the units of the data: what is a hundred times as large with a length
 * a hundred times as long is the same fit. Powers of two, so that nothing is rounded otherwise. */
static void test_tunesame__named_length_scale_is_in_the_datas_units(void **state)
{
    (void)state;
    static const char *const named[2][7] = {
        {"drift", "gauss:eta=1.5", "diffusion", "gauss:eta=4", "learned", "no", NULL},
        {"drift", "gauss:eta=192", "diffusion", "gauss:eta=512", "learned", "no", NULL}};
    static const double unit[] = {128, 128};
    sock_data *plain = small_set(), *large = in_units(plain, unit);
    sock_model *one = fit(plain, named[0]), *two = fit(large, named[1]);
    const size_t n = plain->points;
    double *f = calloc(2 * n, sizeof *f), *a = calloc(4 * n, sizeof *a);
    assert_int_equal(sock_model_drift(ctx, one, n, plain->x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, one, n, plain->x, a), SOCK_OK);
    check_rescaled(large, two, unit, f, a);
    json_t *info = info_of(one), *other = info_of(two);
    assert_string_equal(json_string_value(json_object_get(other, "drift")), "gauss:eta=192");
    assert_close(json_number_value(json_object_get(other, "score")),
                 json_number_value(json_object_get(info, "score")) - 2 * log(128) * (double)(n - SMALL_PATHS), 1e-9, 1);
    json_decref(info), json_decref(other);
    free(f), free(a);
    sock_model_free(one), sock_model_free(two);
    sock_data_free(plain), sock_data_free(large);
}

/* Constants are constants, whatever else is held fixed: states of sizes 1 and 32. */
static void test_tunesame__score_of_constants_does_not_depend_on_what_is_named(void **state)
{
    (void)state;
    static const char *const named[][11] = {{"drift", "gauss:eta=2", QUICK},
                                            {"diffusion", "gauss:eta=4", QUICK},
                                            {"drift", "gauss:eta=2", "diffusion", "gauss:eta=40", QUICK},
                                            {"drift", "nystrom:m=10,eta=20", QUICK},
                                            {"drift", "affine", QUICK},
                                            {"diffusion", "constant", QUICK}};
    static const double unit[] = {1, 32};
    sock_data *plain = small_set(), *data = in_units(plain, unit);
    double first = NAN;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        sock_model *model = fit(data, named[i]);
        json_t *info = info_of(model);
        const double constant = json_number_value(json_object_get(info, "score_constant"));
        if (!i) first = constant;
        assert_true(isfinite(constant));
        assert_close(constant, first, 1e-9, 1);
        assert_int_equal(json_array_size(json_object_get(info, "scale")), 2);
        json_decref(info);
        sock_model_free(model);
    }
    sock_data_free(plain), sock_data_free(data);
}

/* The drift of a scaled model can be given to sock_fit_diffusion. */
static void test_tunesame__scaled_drift_serves_another_diffusion(void **state)
{
    (void)state;
    static const double unit[] = {1e4, 1e-4};
    sock_data *plain = small_set(), *data = in_units(plain, unit);
    sock_model *model = fit(data, quick), *other = NULL;
    sock_options *opts = options((const char *const[]){"diffusion", "constant", NULL});
    size_t n = data->points;
    assert_true(sock_fit_diffusion(ctx, data, model, opts, &other) >= 0);
    double *f = calloc(4 * n, sizeof *f);
    assert_int_equal(sock_model_drift(ctx, model, n, data->x, f), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, other, n, data->x, f + 2 * n), SOCK_OK);
    assert_memory_equal(f, f + 2 * n, 2 * n * sizeof *f);
    free(f);
    sock_options_free(opts);
    sock_model_free(model), sock_model_free(other);
    sock_data_free(plain), sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunesame__one_thread_twice_gives_the_same_bytes_and_two_the_same_model),
        cmocka_unit_test(test_tunesame__order_of_trajectories_does_not_matter_beside_a_validation_set),
        cmocka_unit_test(test_tunesame__units_of_the_states_do_not_matter),
        cmocka_unit_test(test_tunesame__equation_is_in_the_users_units),
        cmocka_unit_test(test_tunesame__named_length_scale_is_in_the_datas_units),
        cmocka_unit_test(test_tunesame__score_of_constants_does_not_depend_on_what_is_named),
        cmocka_unit_test(test_tunesame__scaled_drift_serves_another_diffusion),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
