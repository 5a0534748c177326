/* test_secondmmd.c - MMD of models of order 2 from positions alone: companions and data have the same law under the
 * true model, with noise and without; a wrong force, a wrong a and a start that knows the future have not. */
#include "onecontext.h"
#include "score/inertia.h"
#include "score/score.h"
#include "secondmodels.h"

enum { SETS = 16, COMPANIONS = 40 };

/* The scale of all: that of paths of the true model in a stationary state. */
static const double SCALE = 3, H = 0.1;

static double mmd_of(const sock_model *model, const sock_data *data, double r, uint64_t seed)
{
    const double noise[] = {r, 0, 0, 0};
    sk_mmd_result result;
    const sk_mmd_spec spec = {.eta = SCALE,
                              .step = H / 5,
                              .most_steps = 1e6,
                              .paths = COMPANIONS,
                              .seed = seed,
                              .noise = r > 0 ? noise : NULL};
    assert_int_equal(sk_mmd(ctx, model, data, &spec, &result), SOCK_OK);
    assert_int_equal(result.starts, SECOND_PATHS);
    assert_int_equal(result.lost, 0);
    return result.value;
}

/* The data with a companion of each trajectory in place of what is behind its first points: the null hypothesis. */
static sock_data *exchanged(const sock_model *model, const sock_data *data, double r, uint64_t seed)
{
    const double noise[] = {r, 0, 0, 0};
    static double y[SECOND_ALL], t[SECOND_ALL], states[2 * SECOND_POINTS];
    size_t length[SECOND_PATHS], *of = NULL;
    sock_data *tails = NULL, *out = NULL;
    sk_second_starts starts;
    assert_int_equal(sk_second_tails(ctx, data, &tails, &of), SOCK_OK);
    assert_int_equal(tails->trajectories, SECOND_PATHS);
    assert_int_equal(sk_second_starts_new(ctx, model, data, of, tails, r > 0 ? noise : NULL, &starts), SOCK_OK);
    memcpy(y, data->x, sizeof y);
    memcpy(t, data->t, sizeof t);
    for (size_t j = 0; j < SECOND_PATHS; j++) {
        const size_t times = sk_data_length(tails, j), from = j * SECOND_POINTS + SECOND_POINTS - times;
        double x0[2];
        sk_second_draw(&starts, j, seed, j, 0, x0);
        const sock_simulation s = {.starts = 1,
                                   .x0 = x0,
                                   .paths = 1,
                                   .times = times,
                                   .t = t + from,
                                   .step = H / 5,
                                   .seed = seed,
                                   .first_start = j};
        assert_int_equal(sock_simulate(ctx, model, &s, states, NULL, NULL), SOCK_OK);
        sk_second_observe(&starts, seed, j, 0, times, states, data->x + from, y + from);
        length[j] = SECOND_POINTS;
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, SECOND_PATHS, length, t, y, NULL, NULL, NULL, &out), SOCK_OK);
    sk_second_starts_clear(&starts);
    sock_data_free(tails);
    free(of);
    return out;
}

/* A mean over data sets in its standard errors. */
static double in_errors(const double *value)
{
    double sum = 0, square = 0;
    for (size_t s = 0; s < SETS; s++) {
        sum += value[s] / SETS;
        square += value[s] * value[s] / SETS;
    }
    return sum / sqrt((square - sum * sum) / (SETS - 1));
}

/* MMD^2 of the model over its own data, less that over companions in place of the data. */
static double above_null(double *w, double r, size_t *above)
{
    sock_model *model = second_model(w, r);
    double more[SETS];
    *above = 0;
    for (uint64_t s = 0; s < SETS; s++) {
        sock_data *data = second_positions(model, H, r, 100 + s), *null = exchanged(model, data, r, 900 + s);
        more[s] = mmd_of(model, data, r, 5) - mmd_of(model, null, r, 5);
        *above += more[s] > 0;
        sock_data_free(null);
        sock_data_free(data);
    }
    sock_model_free(model);
    return in_errors(more);
}

static void test_secondmmd__the_truth_is_at_its_null_level(void **state)
{
    (void)state;
    double harmonic[] = {-1, 0, -0.5, 1, 0}, duffing[] = {1, -1, -0.7, 0.2, 0.4};
    size_t above;
    assert_true(fabs(above_null(duffing, 0, &above)) < 2.5);
    assert_in_range(above, SETS / 4, SETS - SETS / 4); /* and so is the median */
    assert_true(fabs(above_null(harmonic, 4e-4, &above)) < 2.5);
    assert_in_range(above, SETS / 4, SETS - SETS / 4);
}

/* MMD^2 of a wrong model over data of the right one, less that of the right one. */
static double above_truth(double *right, double *wrong, double r)
{
    sock_model *one = second_model(right, r), *other = second_model(wrong, r);
    double more[SETS];
    for (uint64_t s = 0; s < SETS; s++) {
        sock_data *data = second_positions(one, H, r, 100 + s);
        more[s] = mmd_of(other, data, r, 5) - mmd_of(one, data, r, 5);
        sock_data_free(data);
    }
    sock_model_free(other);
    sock_model_free(one);
    return in_errors(more);
}

static void test_secondmmd__wrong_models_are_above_it(void **state)
{
    (void)state;
    double right[] = {1, -1, -0.7, 0.2, 0.4}, force[] = {-1, 0, -0.7, 0.2, 0.4}, slow[] = {1, -1, -2, 0.2, 0.4},
           loud[] = {1, -1, -0.7, 0.6, 1.2};
    assert_true(above_truth(right, force, 0) > 8);
    assert_true(above_truth(right, force, 4e-4) > 8);
    assert_true(above_truth(right, slow, 0) > 8);
    assert_true(above_truth(right, loud, 0) > 8);
}

/* The velocity that a path had is one of the law that starts its companions: a linear force's is exact, but for what
 * was known before the first point. The position with noise, too. */
static void starts_of(double r)
{
    double w[] = {-1, 0, -0.5, 1, 0}, square[2] = {0}, mean[2] = {0}, drawn = 0, noise[] = {r, 0, 0, 0};
    sock_model *model = second_model(w, r);
    for (uint64_t s = 0; s < SETS; s++) {
        size_t *of = NULL;
        sock_data *tails = NULL;
        sk_second_starts starts;
        const double *states;
        sock_data *data = second_positions_of(model, H, r, 300 + s, &states);
        assert_int_equal(sk_second_tails(ctx, data, &tails, &of), SOCK_OK);
        assert_int_equal(sk_second_starts_new(ctx, model, data, of, tails, r > 0 ? noise : NULL, &starts), SOCK_OK);
        for (size_t j = 0; j < SECOND_PATHS; j++) {
            const size_t head = SECOND_POINTS - sk_data_length(tails, j);
            const double *c = starts.root + 4 * j, *m = starts.m + 2 * j, *x = states + 2 * (j * SECOND_POINTS + head);
            double u[2] = {r > 0 ? (x[0] - m[0]) / c[0] : 0, 0}, draw[2];
            assert_int_equal(of[j], j);
            assert_int_equal(head + 1, SECOND_POINTS / 10);
            if (!(r > 0)) assert_true(fabs(m[0] - x[0]) < 1e-9 && c[0] < 1e-6);
            u[1] = (x[1] - m[1] - c[2] * u[0]) / c[3];
            sk_second_draw(&starts, j, s, j, 7, draw);
            drawn += pow((draw[1] - m[1]), 2) / (c[2] * c[2] + c[3] * c[3]);
            for (size_t k = 0; k < 2; k++) mean[k] += u[k], square[k] += u[k] * u[k];
        }
        sk_second_starts_clear(&starts);
        sock_data_free(tails);
        free(of);
        sock_data_free(data);
    }
    const double n = (double)SETS * SECOND_PATHS;
    for (size_t k = r > 0 ? 0 : 1; k < 2; k++) {
        assert_close(mean[k] / n, 0, 3.5 / sqrt(n), 1);
        assert_close(square[k] / n, 1, 3.5 * sqrt(2 / n), 1);
    }
    assert_close(drawn / n, 1, 3.5 * sqrt(2 / n), 1);
    sock_model_free(model);
}

static void test_secondmmd__starts_have_the_law_of_what_was_not_seen(void **state)
{
    (void)state;
    starts_of(0);
    starts_of(4e-4);
}

/* What is behind the first points does not move a start. */
static void test_secondmmd__starts_do_not_know_what_comes(void **state)
{
    (void)state;
    double w[] = {-1, 0, -0.5, 1, 0};
    sock_model *model = second_model(w, 0);
    sock_data *data = second_positions(model, H, 0, 4), *tails = NULL;
    sk_second_starts starts[2];
    size_t *of = NULL;
    for (size_t turn = 0; turn < 2; turn++) {
        assert_int_equal(sk_second_tails(ctx, data, &tails, &of), SOCK_OK);
        assert_int_equal(sk_second_starts_new(ctx, model, data, of, tails, NULL, &starts[turn]), SOCK_OK);
        for (size_t i = 0; i < SECOND_ALL; i++)
            if (i % SECOND_POINTS >= SECOND_POINTS / 10) data->x[i] *= 0.9;
        sock_data_free(tails);
        free(of);
    }
    for (size_t i = 0; i < 2 * SECOND_PATHS; i++) assert_close(starts[0].m[i], starts[1].m[i], 1e-9, 1e-9);
    for (size_t turn = 0; turn < 2; turn++) sk_second_starts_clear(&starts[turn]);
    sock_data_free(data);
    sock_model_free(model);
}

/* Three points say how fast a path was; with a fourth there is something to compare. */
static void test_secondmmd__short_trajectories_are_left_out(void **state)
{
    (void)state;
    const size_t length[] = {3, 4, 1, 45};
    static double t[53], x[53];
    size_t *of = NULL;
    sock_data *data = NULL, *tails = NULL;
    for (size_t i = 0; i < 53; i++) t[i] = (double)i, x[i] = sin(0.1 * (double)i);
    assert_true(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_second_tails(ctx, data, &tails, &of), SOCK_OK);
    assert_true(tails->trajectories == 2 && of[0] == 1 && of[1] == 3);
    assert_int_equal(sk_data_length(tails, 0), 2);
    assert_int_equal(sk_data_length(tails, 1), 42); /* from the fourth of 45 on */
    assert_true(tails->x[0] == x[5] && tails->x[2] == x[8 + 3]);
    sock_data_free(tails);
    free(of);
    sock_data_free(data);
}

/* sock_score says both, and why not where it cannot. */
static void test_secondmmd__score_has_it(void **state)
{
    (void)state;
    double right[] = {1, -1, -0.7, 0.2, 0.4}, wrong[] = {-1, 0, -0.7, 0.2, 0.4};
    sock_model *one = second_model(right, 0), *other = second_model(wrong, 0);
    sock_data *data = second_positions(one, H, 0, 3);
    sock_options *opts = sock_options_new(ctx);
    sock_scores scores;
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "40"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.02"), SOCK_OK);
    assert_int_equal(sock_score(ctx, other, data, data, one, opts, &scores), SOCK_OK);
    assert_true(scores.mmd2.valid && scores.mmd2_truth.valid && scores.mmd_starts == SECOND_PATHS);
    assert_true(scores.mmd2.value > 1.1 * scores.mmd2_truth.value);
    assert_int_equal(sock_score(ctx, one, data, NULL, one, opts, &scores), SOCK_OK);
    assert_true(!scores.mmd2.valid && strstr(scores.mmd2.reason, "training data"));
    sock_options_free(opts);
    sock_data_free(data);
    sock_model_free(other);
    sock_model_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secondmmd__the_truth_is_at_its_null_level),
        cmocka_unit_test(test_secondmmd__wrong_models_are_above_it),
        cmocka_unit_test(test_secondmmd__starts_have_the_law_of_what_was_not_seen),
        cmocka_unit_test(test_secondmmd__starts_do_not_know_what_comes),
        cmocka_unit_test(test_secondmmd__short_trajectories_are_left_out),
        cmocka_unit_test(test_secondmmd__score_has_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
