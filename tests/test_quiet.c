/* test_quiet.c - states without noise of their own: who they are, and that a is exactly zero there. */
#include "onecontext.h"
#include "tune/quiet.h"

#include <jansson.h>

enum { PATHS = 12, POINTS = 101, INNER = 10 };

typedef struct world {
    double own;  /* noise of x itself */
    double unit; /* x is rounded to multiples of it; 0: not */
    double h;
} world;

/* dx = v dt + own dW, dv = (-x - v/2) dt + 0.7 dW, dc = dt; three states, the last a clock. */
static sock_data *oscillator(const world *w)
{
    size_t length[PATHS], n = (size_t)PATHS * POINTS;
    double *t = calloc(n, sizeof *t), *state = calloc(3 * n, sizeof *state), x = 0, v = 0, z[2];
    for (size_t i = 0; i < n; i++) {
        length[i / POINTS] = POINTS;
        t[i] = w->h * (double)(i % POINTS);
        if (i % POINTS == 0) x = cos((double)i), v = sin((double)i);
        state[3 * i] = w->unit > 0 ? w->unit * rint(x / w->unit) : x;
        state[3 * i + 1] = v;
        state[3 * i + 2] = t[i] + (double)(i / POINTS);
        for (size_t j = 0; j < INNER; j++) {
            const double s = w->h / INNER, before = v;
            sk_normals((sk_key){31, SK_PURPOSE_TEST}, i * INNER + j, 0, 0, 2, z);
            v += s * (-x - 0.5 * v) + sqrt(s) * 0.7 * z[0];
            x += s * 0.5 * (before + v) + sqrt(s) * w->own * z[1];
        }
    }
    static const char *const names[] = {"x", "v", "clock"};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 3, PATHS, length, t, state, names, NULL, NULL, &data), SOCK_OK);
    free(t), free(state);
    return data;
}

static sock_model *fit(const sock_data *data, json_t **info)
{
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    char *text = NULL;
    sock_options_set(ctx, opts, "drift", "affine");
    sock_options_set(ctx, opts, "diffusion", "constant");
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    *info = json_loads(text, 0, NULL);
    sock_string_free(text);
    sock_options_free(opts);
    return model;
}

/* Which states the record calls quiet, as a string of their names. */
static const char *quiet_of(json_t *info)
{
    static char names[64];
    json_t *list = json_object_get(info, "quiet");
    names[0] = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        strcat(names, i ? "," : "");
        strcat(names, json_string_value(json_array_get(list, i)));
    }
    return names;
}

static void test_quiet__zero_to_the_last_digit(void **state)
{
    (void)state;
    json_t *info = NULL;
    sock_data *data = oscillator(&(world){.h = 0.02});
    sock_model *model = fit(data, &info);
    const double at[] = {0.3, -0.4, 5};
    double a[9], sigma[9];
    assert_string_equal(quiet_of(info), "x,clock");
    assert_int_equal(sock_model_diffusion(ctx, model, 1, at, a), SOCK_OK);
    assert_int_equal(sock_model_sigma(ctx, model, 1, at, sigma), SOCK_OK);
    for (size_t k = 0; k < 9; k++) {
        if (k == 4) continue;
        assert_true(a[k] == 0);
        assert_true(sigma[k] == 0);
    }
    assert_close(a[4], 0.49, 0.1, 0);
    json_t *floor = json_object_get(info, "floor");
    assert_true(json_number_value(json_array_get(floor, 0)) == 0 && json_number_value(json_array_get(floor, 2)) == 0);
    sock_scores scores;
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &scores), SOCK_PARTIAL);
    assert_true(!scores.loglik.valid);
    assert_non_null(strstr(scores.loglik.reason, "x has no noise of its own"));
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* Bands of a and sigma are zero where a is, to the last digit, in every draw too; those of f are not, and hold dx = v
 * dt.
 */
static void test_quiet__bands_are_zero_too(void **state)
{
    (void)state;
    json_t *info = NULL;
    sock_data *data = oscillator(&(world){.h = 0.02});
    sock_model *model = fit(data, &info), *draw = NULL;
    const double at[] = {0.3, -0.4, 5};
    double f[6], a[18], sigma[18], drawn[9];
    assert_int_equal(
        sock_model_bands(
            ctx, model, 1, at, 0.9,
            &(sock_bands){
                .f_low = f, .f_high = f + 3, .a_low = a, .a_high = a + 9, .sigma_low = sigma, .sigma_high = sigma + 9}),
        SOCK_OK);
    for (size_t i = 0; i < 18; i++)
        if (i % 9 != 4) assert_true(a[i] == 0 && sigma[i] == 0);
    assert_true(a[4] < 0.49 && a[13] > 0.49 && sigma[4] < 0.7 && sigma[13] > 0.7);
    for (size_t k = 0; k < 3; k++) assert_true(isfinite(f[k]) && isfinite(f[3 + k]) && f[k] < f[3 + k]);
    assert_true(f[0] < -0.4 && f[3] > -0.4 && f[3] - f[0] < 0.1);
    assert_true(f[2] < 1 && f[5] > 1 && f[5] - f[2] < 0.1);
    assert_int_equal(sock_model_draw(ctx, model, 1, 0, &draw), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, draw, 1, at, drawn), SOCK_OK);
    for (size_t i = 0; i < 9; i++) assert_true((drawn[i] == 0) == (i != 4));
    json_decref(info);
    sock_model_free(model), sock_model_free(draw);
    sock_data_free(data);
}

/* Rounding and long steps do not make noise; a hundredth of the noise of v does. */
static void test_quiet__who_is(void **state)
{
    (void)state;
    static const struct {
        world w;
        const char *quiet;
    } cases[] = {{{.h = 0.1}, "x,clock"},
                 {{.h = 0.02, .unit = 1e-3}, "x,clock"},
                 {{.h = 0.02, .own = 0.05}, "clock"},
                 {{.h = 0.02, .own = 0.7}, "clock"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *info = NULL;
        sock_data *data = oscillator(&cases[i].w);
        sock_model *model = fit(data, &info);
        if (strcmp(quiet_of(info), cases[i].quiet) != 0)
            fail_msg("case %zu: '%s', not '%s'", i, quiet_of(info), cases[i].quiet);
        json_decref(info);
        sock_model_free(model);
        sock_data_free(data);
    }
}

static void test_quiet__rule(void **state)
{
    (void)state;
    sk_quiet_squares s = {.residual = 2.5, .passed_on = 2, .increment = 0};
    assert_true(sk_is_quiet(&s));
    s.residual *= 1 + 1e-9;
    assert_false(sk_is_quiet(&s));
    s.increment = 1;
    assert_true(sk_is_quiet(&s));
    s = (sk_quiet_squares){.residual = 1.0000001e-6, .increment = 1};
    assert_false(sk_is_quiet(&s));
    s.grain = 1e-4; /* a third of its square is twice what two roundings make */
    assert_true(sk_is_quiet(&s));
    assert_true(sk_is_quiet(&(sk_quiet_squares){0})); /* it never moves */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet__zero_to_the_last_digit),
        cmocka_unit_test(test_quiet__bands_are_zero_too),
        cmocka_unit_test(test_quiet__who_is),
        cmocka_unit_test(test_quiet__rule),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
