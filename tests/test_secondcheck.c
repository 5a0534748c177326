/* test_secondcheck.c - the check of models of order 2: scores of positions given the past are those of the exact law
 * where it is known, right models meet no objection, a wrong force and a wrong a do. */
#include "check/check.h"
#include "onecontext.h"
#include "score/inertia.h"
#include "score/score.h"
#include "secondmodels.h"

/* ---- Scores ---- */

enum { PATHS = 40 }; /* as many as a whole check looks at wholly */

static sock_data *first_paths(double r, const sock_model *model)
{
    static double times[PATHS * SECOND_POINTS], x[PATHS * SECOND_POINTS];
    size_t length[PATHS];
    sock_data *all = second_positions(model, 0.1, r, 5), *data = NULL;
    for (size_t j = 0; j < PATHS; j++) {
        const double *t, *at;
        length[j] = sock_data_trajectory(all, j, &t, &at);
        memcpy(times + j * SECOND_POINTS, t, SECOND_POINTS * sizeof *t);
        memcpy(x + j * SECOND_POINTS, at, SECOND_POINTS * sizeof *at);
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, PATHS, length, times, x, NULL, NULL, NULL, &data), SOCK_OK);
    sock_data_free(all);
    return data;
}

/* Of a linear force the innovations of the filter are exact: v is e / sqrt S, but for the chance of 99 ends. */
static void against_innovations(double r)
{
    double w[] = {-1, 0, -0.5, 1, 0}, cross = 0, square = 0, exact = 0, mean = 0;
    sock_model *model = second_model(w, r);
    sock_data *data = first_paths(r, model);
    sock_step_scores scores;
    sk_series series;
    sk_frame frame;
    sk_inertia_pass pass;
    assert_int_equal(sock_check_scores(ctx, model, data, NULL, &scores), SOCK_OK);
    assert_int_equal(scores.dim, 1);
    assert_int_equal(scores.count,
                     PATHS * (SECOND_POINTS - 2)); /* the first step of a path says what its velocity is */
    assert_int_equal(sk_series_of_data(ctx, data, &series), SOCK_OK);
    assert_int_equal(sk_inertia_frame_new(ctx, &series, &frame), SOCK_OK);
    assert_int_equal(sk_inertia_pass_new(ctx, &series, false, &pass), SOCK_OK);
    const sk_inertia_spec spec = {.model = model, .noise = r > 0 ? &r : NULL, .reach = frame.reach};
    assert_int_equal(sk_inertia(ctx, &series, &spec, &pass), SOCK_OK);
    for (size_t i = 0, at = 0; i < series.steps; i++) {
        if (pass.begins[i]) continue;
        const double u = pass.e[i] / sqrt(pass.s[i]), v = scores.v[at++];
        cross += u * v, square += v * v, exact += u * u, mean += v;
    }
    assert_true(cross / sqrt(square * exact) > 0.98);
    assert_close(square / exact, 1, 0.05, 1);
    assert_close(square / (double)scores.count, 1, 0.1, 1);
    assert_close(mean / (double)scores.count, 0, 0.06, 1);
    sk_inertia_pass_clear(&pass);
    sk_frame_clear(&frame);
    sk_series_clear(&series);
    sock_step_scores_free(&scores);
    sock_data_free(data);
    sock_model_free(model);
}

static void test_secondcheck__scores_are_the_innovations(void **state)
{
    (void)state;
    against_innovations(0);
    against_innovations(4e-4);
}

/* ---- Verdicts ---- */

static const sock_check_test *test_of(const sock_checks *c, const char *name)
{
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        if (strcmp(c->test[i].name, name) == 0) return &c->test[i];
    fail();
    return NULL;
}

/* The check of a model, with noise r or without, on data of w and noise r. */
static sock_checks checked(double *w, double *told, double h, double r, double told_noise)
{
    sock_model *right = second_model(w, 0), *model = second_model(told, told_noise);
    sock_data *data = second_positions(right, h, r, 8);
    sock_checks checks;
    assert_int_equal(sock_check(ctx, model, data, NULL, &checks), SOCK_OK);
    sock_data_free(data);
    sock_model_free(right);
    sock_model_free(model);
    return checks;
}

static void test_secondcheck__right_models_meet_no_objection(void **state)
{
    (void)state;
    double linear[] = {-1, 0, -0.5, 1, 0}, bent[] = {1, -1, -0.7, 0.2, 0.4};
    for (int i = 0; i < 4; i++) {
        double *w = i % 2 ? bent : linear;
        const double r = i < 2 ? 0 : 4e-4;
        const sock_checks c = checked(w, w, 0.1, r, r);
        if (!c.ok) print_error("%d: %s\n", i, c.verdict);
        assert_true(c.ok);
        assert_string_equal(c.pattern, "none");
        assert_true(test_of(&c, "horizon")->valid && test_of(&c, "memory")->valid);
        assert_true(isfinite(c.exit_share) && c.exit_share < 0.2);
    }
}

static void test_secondcheck__what_is_wrong_is_named(void **state)
{
    (void)state;
    double bent[] = {1, -1, -0.7, 0.2, 0.4}, straight[] = {-0.2, 0, -0.7, 0.2, 0.4}, even[] = {1, -1, -0.7, 0.4, 0};
    double rough[] = {1, -1, -0.7, 0.3, 0.6};
    sock_checks c = checked(bent, straight, 0.1, 0, 0);
    assert_true(test_of(&c, "drift")->objects && !test_of(&c, "volatility")->objects);
    assert_non_null(strstr(c.verdict, "f of x1 misses a dependence on x0"));
    c = checked(bent, even, 0.1, 0, 0);
    assert_true(test_of(&c, "diffusion")->objects && !test_of(&c, "drift")->objects);
    assert_non_null(strstr(c.verdict, "a of x1 misses a dependence on x0"));
    c = checked(bent, rough, 0.1, 0, 0);
    assert_true(test_of(&c, "scale")->objects && test_of(&c, "scale")->effect < -0.2);
    c = checked(bent, bent, 0.1, 4e-4, 0); /* noise that the model does not know of */
    assert_true(test_of(&c, "memory")->objects && test_of(&c, "memory")->effect < 0);
    assert_string_equal(c.pattern, "noise");
    assert_non_null(strstr(c.advice, "--order 2 --noise diag"));
}

static void test_secondcheck__few_steps_are_told(void **state)
{
    (void)state;
    double w[] = {-1, 0, -0.5, 1, 0};
    const double t[] = {0, 1, 0, 1, 2}, x[] = {0, 1, 0, 0.5, 1};
    const size_t length[] = {2, 3};
    sock_checks c;
    sock_data *data = NULL;
    sock_model *model = second_model(w, 0);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_check(ctx, model, data, NULL, &c), SOCK_OK);
    assert_string_equal(c.pattern, "few");
    char *json = NULL;
    assert_int_equal(sock_evidence(ctx, model, data, &json), SOCK_EUSAGE); /* raw moments would be wrong */
    assert_non_null(strstr(sock_message(ctx), "order 2"));
    sock_data_free(data);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_check(ctx, model, data, NULL, &c), SOCK_OK); /* no step at all has a score */
    assert_string_equal(c.pattern, "few");
    sock_data_free(data);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secondcheck__scores_are_the_innovations),
        cmocka_unit_test(test_secondcheck__right_models_meet_no_objection),
        cmocka_unit_test(test_secondcheck__what_is_wrong_is_named),
        cmocka_unit_test(test_secondcheck__few_steps_are_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
