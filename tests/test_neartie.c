/* test_neartie.c - what the search does with candidates that the data do not tell apart: the simplest drift, or the
 * shares of the averaged ones, and those of the diffusions, all from the scores that the model reports. */
#include "systems/systems.h"
#include "tune/identical.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

#include "modelinfo.h"

static sock_model *fitted_model(const char *system, uint64_t seed, const char *average)
{
    sys_instance *instance = NULL;
    sock_data *data = NULL;
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sys_new(ctx, sys_find(system), seed, &instance), SOCK_OK);
    assert_int_equal(sys_generate(ctx, instance, SYS_TRAIN, &data), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "average", average), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "noise", "none"), SOCK_OK); /* the clean search averages */
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    sock_options_free(opts);
    sys_free(instance);
    return model;
}

/* What a tuned model of one of the known systems says about itself. */
static json_t *fitted(const char *system, uint64_t seed, const char *average)
{
    sock_model *model = fitted_model(system, seed, average);
    json_t *info = info_of(model);
    sock_model_free(model);
    return info;
}

/* Place of a kernel in a list of beginnings of names, the simple ones first. */
static int place(const char *name, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0) return i;
    fail_msg("%s is not in the list", name);
    return -1;
}

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* share_i / share_j = exp((score_i - score_j - (order_i - order_j)) / 2), and all shares together are 1. The largest
 * share names the whole, the largest gap certifies it. */
static void prop_shares_follow_scores_and_simplicity(void **state)
{
    (void)state;
    static const char *const order[] = {"constant",      "linear", "affine", "poly:degree=2",
                                        "poly:degree=3", "gauss",  NULL};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        json_t *info = fitted("expdyn", seed, "yes"), *list = json_object_get(info, "diffusions");
        const json_t *first = json_array_get(list, 0);
        double sum = 0, gap = 0;
        assert_true(json_array_size(list) > 1);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *other = json_array_get(list, i);
            int further = place(word(other, "kernel"), order) - place(word(first, "kernel"), order);
            double expected = exp((number(other, "score") - number(first, "score") - further) / 2);
            assert_close(number(other, "share") / number(first, "share"), expected, 1e-9, 1);
            assert_true(number(other, "share") <= number(first, "share"));
            gap = fmax(gap, number(other, "relative_gap"));
            sum += number(other, "share");
        }
        assert_close(sum, 1, 1e-12, 1);
        assert_true(gap > number(first, "relative_gap") || seed > 1); /* else the first would do as well */
        assert_true(number(info, "relative_gap") == gap);
        assert_string_equal(word(info, "diffusion"), word(first, "kernel"));
        json_decref(info);
    }
}

static bool is_short(const char *kernel)
{
    static const char *const plain[] = {"linear", "affine", "poly:degree=2", NULL};
    bool found = strstr(kernel, " learned") != NULL;
    for (int i = 0; plain[i]; i++) found = found || strcmp(kernel, plain[i]) == 0;
    return found;
}

/* How many drifts of the last pass have this score: identical ones, whose shares are one. */
static double identical(const json_t *info, double score)
{
    double count = 0;
    const json_t *rows = json_object_get(info, "search");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        count += strcmp(word(row, "stage"), "refit") == 0 && strcmp(word(row, "field"), "drift") == 0 &&
                 fabs(number(row, "score") - score) <= 1e-9 * fabs(score);
    }
    return count;
}

/* Drifts are averaged where no short equation is near enough to the best, with
 * share_i / share_j = m_i / m_j exp((score_i - dof_i - score_j + dof_j) / 2), m the number of identical ones; shares
 * add up to 1, and the degrees of freedom are those of the parts in proportion. Else the one equation stands alone.
 * Both happen among these seeds. */
static void prop_drift_shares_follow_scores_and_freedom(void **state)
{
    (void)state;
    int averages = 0, alone = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        json_t *info = fitted("expdyn", seed, "yes"), *list = json_object_get(info, "drifts");
        const json_t *first = json_array_get(list, 0);
        double sum = 0, dof = 0;
        assert_string_equal(word(first, "kernel"), word(info, "drift"));
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *other = json_array_get(list, i);
            double nats = number(other, "score") - number(other, "dof") - number(first, "score") + number(first, "dof");
            double expected =
                exp(nats / 2) * identical(info, number(other, "score")) / identical(info, number(first, "score"));
            assert_close(number(other, "share") / number(first, "share"), expected, 1e-9, 1);
            assert_true(number(other, "share") <= number(first, "share"));
            sum += number(other, "share");
            dof += number(other, "share") * number(other, "dof");
        }
        assert_close(sum, 1, 1e-12, 1);
        assert_close(dof, number(info, "drift_dof"), 1e-12, dof);
        averages += json_array_size(list) > 1;
        if (json_array_size(list) == 1) assert_true(is_short(word(info, "drift")));
        alone += json_array_size(list) == 1;
        json_decref(info);
    }
    assert_true(averages > 0 && alone > 0);
}

/* Score of a kernel in a stage of the search; NAN: it was not there. */
static double score_in(const json_t *info, const char *stage, const char *field, const char *kernel)
{
    double score = (double)NAN;
    const json_t *rows = json_object_get(info, "search");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(word(row, "stage"), stage) == 0 && strcmp(word(row, "field"), field) == 0 &&
            strcmp(word(row, "kernel"), kernel) == 0)
            score = number(row, "score");
    }
    return score;
}

static size_t count_of(const json_t *list, const char *kernel)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += strcmp(word(json_array_get(list, i), "kernel"), kernel) == 0;
    return count;
}

/* Degree two and three learn the same terms here, and have the same score: they are one part of the average, under the
 * simpler name, with the shares of both (see the property above). */
static void test_neartie__drifts_that_are_the_same_are_one_part(void **state)
{
    (void)state;
    json_t *info = fitted("expdyn", 2, "yes"), *list = json_object_get(info, "drifts");
    double two = score_in(info, "refit", "drift", "poly:degree=2 learned"),
           three = score_in(info, "refit", "drift", "poly:degree=3 learned");
    assert_close(two, three, 1e-9, fabs(two)); /* else this is no longer a case of it */
    assert_true(json_array_size(list) > 1);
    assert_int_equal(count_of(list, "poly:degree=2 learned"), 1);
    assert_int_equal(count_of(list, "poly:degree=3 learned"), 0);
    json_decref(info);
}

/* A linear a with learned weights has one feature, which it keeps: it is the linear one. */
static void test_neartie__diffusions_that_are_the_same_are_one_part(void **state)
{
    (void)state;
    json_t *info = fitted("gbm", 3, "yes"), *list = json_object_get(info, "diffusions");
    double plain = score_in(info, "final", "diffusion", "linear"),
           learned = score_in(info, "final", "diffusion", "linear learned");
    assert_close(plain, learned, 1e-9, fabs(plain));
    assert_int_equal(count_of(list, "linear"), 1);
    assert_int_equal(count_of(list, "linear learned"), 0);
    assert_string_equal(word(info, "diffusion"), "linear");
    json_decref(info);
}

static bool same(const sk_views *views, const sk_trial *a, const sk_trial *b)
{
    bool answer = false;
    assert_int_equal(sk_same_field(ctx, views, a, b, &answer), SOCK_OK);
    return answer;
}

static sk_trial *affine_drift(const sk_views *views)
{
    sk_candidate candidate = {.name = sk_strdup(ctx, "affine"), .kernel = case_kernel(ctx, "affine"), .max_rank = 9};
    sk_trial *trial = NULL;
    assert_int_equal(sk_try_drift(ctx, views, &candidate, sk_views_rows(views)->folds, &trial), SOCK_OK);
    sk_candidate_clear(&candidate);
    sk_free(trial->held); /* what it says comes from its solution */
    trial->held = NULL;
    return trial;
}

/* To rounding, and no further: a part in 10^9 is the same field, one in 10^5 is not; nor is a field of another score.
 */
static void test_neartie__same_is_to_rounding(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    const sk_view_spec look = case_look(NULL, false);
    sk_views *views = case_views(ctx, rows, &look);
    sk_trial *one = affine_drift(views), *other = affine_drift(views);
    const size_t weights = rows->folds * one->size; /* those without a fold */
    assert_true(same(views, one, other));
    for (size_t i = 0; i < weights; i++) other->solution[i] *= 1 + 1e-9;
    assert_true(same(views, one, other));
    other->solution[weights - 1] *= 1 + 1e-2; /* one weight of one fold is enough */
    assert_false(same(views, one, other));
    other->solution[weights - 1] /= 1 + 1e-2;
    assert_true(same(views, one, other));
    for (size_t i = weights; i < weights + one->size; i++) other->solution[i] *= 2; /* of all rows: holds nothing out */
    assert_true(same(views, one, other));
    for (size_t i = 0; i < weights; i++) other->solution[i] *= 1 + 1e-5;
    assert_false(same(views, one, other));
    sk_trial_free(one), sk_trial_free(other);
    sk_views_free(views);
    sk_transitions_free(rows);
}

/* The same of diffusions, by what they say of the rows that are held out, and not of those that are always in. */
static void test_neartie__same_diffusion_is_to_rounding(void **state)
{
    (void)state;
    enum { D = 2, N = 60, OUT = 40 };
    sk_transitions *rows = case_rows(ctx, D, true);
    const sk_view_spec look = case_look(NULL, false);
    sk_views *views = case_views(ctx, rows, &look);
    double held[2][N * D * D];
    assert_true(rows->n == N && rows->first[rows->folds] == OUT);
    for (size_t i = 0; i < N * D * D; i++) held[0][i] = held[1][i] = i % 3 ? 0.2 : 3;
    sk_trial a = {.field = SK_DIFFUSION, .d = D, .score = 2, .held = held[0], .rows = rows}, b = a;
    b.held = held[1];
    assert_true(same(views, &a, &b));
    for (size_t i = 0; i < N * D * D; i++) held[1][i] *= 1 + 1e-9;
    assert_true(same(views, &a, &b));
    for (size_t i = OUT * D * D; i < N * D * D; i++) held[1][i] *= 2;
    assert_true(same(views, &a, &b));
    held[1][OUT * D * D - 1] += 1e-4;
    assert_false(same(views, &a, &b));
    b.held = a.held;
    b.score = 3;
    assert_false(same(views, &a, &b));
    sk_views_free(views);
    sk_transitions_free(rows);
}

/* An average through a file is the same average: fields to the last bit, and what it says of its parts. */
static void prop_averaged_drift_survives_the_file(void **state)
{
    (void)state;
    enum { POINTS = 9 };
    sock_model *model = fitted_model("expdyn", 2, "yes"), *loaded = NULL;
    json_t *info = info_of(model), *again;
    double x[POINTS], f[2][POINTS], a[2][POINTS];
    assert_true(json_array_size(json_object_get(info, "drifts")) > 1);
    for (size_t i = 0; i < POINTS; i++) x[i] = -1 + 0.25 * (double)i;
    assert_int_equal(sock_model_save(ctx, model, "neartie.sock"), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, "neartie.sock", &loaded), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, model, POINTS, x, f[0], a[0]), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, loaded, POINTS, x, f[1], a[1]), SOCK_OK);
    assert_memory_equal(f[0], f[1], sizeof f[0]);
    assert_memory_equal(a[0], a[1], sizeof a[0]);
    again = info_of(loaded);
    assert_true(json_equal(json_object_get(info, "drifts"), json_object_get(again, "drifts")));
    remove("neartie.sock");
    json_decref(info), json_decref(again);
    sock_model_free(model), sock_model_free(loaded);
}

static void test_neartie__without_averaging_one_drift_and_the_best_diffusion(void **state)
{
    (void)state;
    json_t *info = fitted("expdyn", 1, "no"), *list = json_object_get(info, "diffusions");
    assert_int_equal(json_array_size(list), 1);
    assert_int_equal(json_array_size(json_object_get(info, "drifts")), 1);
    assert_close(number(info, "score"), number(json_array_get(list, 0), "score"), 2,
                 1); /* the floor may cost as much */
    json_decref(info);
}

/* The chosen drift loses no more than it may, and nothing where it is the best. */
static void prop_chosen_drift_is_near_the_best(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        json_t *info = fitted("expdyn", seed, "yes"), *rows = json_object_get(info, "search");
        double best = -(double)INFINITY;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *row = json_array_get(rows, i);
            if (strcmp(word(row, "stage"), "refit") == 0 && strcmp(word(row, "field"), "drift") == 0)
                best = fmax(best, number(row, "score"));
        }
        double lost = best - number(info, "drift_score"); /* of the leading one in an average */
        assert_true(number(info, "calibration") > 0.8 && number(info, "calibration") < 1.25);
        assert_true(lost >= 0 && lost <= 10);
        if (lost == 0) assert_string_equal(word(info, "drift"), word(info, "drift_best"));
        json_decref(info);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_shares_follow_scores_and_simplicity),
        cmocka_unit_test(prop_drift_shares_follow_scores_and_freedom),
        cmocka_unit_test(test_neartie__drifts_that_are_the_same_are_one_part),
        cmocka_unit_test(test_neartie__diffusions_that_are_the_same_are_one_part),
        cmocka_unit_test(test_neartie__same_is_to_rounding),
        cmocka_unit_test(test_neartie__same_diffusion_is_to_rounding),
        cmocka_unit_test(prop_averaged_drift_survives_the_file),
        cmocka_unit_test(test_neartie__without_averaging_one_drift_and_the_best_diffusion),
        cmocka_unit_test(prop_chosen_drift_is_near_the_best),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
