/* test_neartie.c - what the search does with candidates that the data do not tell apart: the simplest drift, and the
 * shares of the averaged diffusions, both from the scores that the model reports. */
#include "systems/systems.h"
#include "test.h"
#include "tune/driftcv.h"

#include <jansson.h>

static sock_context *ctx;

static int setup(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

/* What a tuned model of one of the known systems says about itself. */
static json_t *fitted(const char *system, uint64_t seed, const char *average)
{
    sys_instance *instance = NULL;
    sock_data *data = NULL;
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(ctx);
    char *text = NULL;
    assert_int_equal(sys_new(ctx, sys_find(system), seed, &instance), SOCK_OK);
    assert_int_equal(sys_generate(ctx, instance, SYS_TRAIN, &data), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "average", average), SOCK_OK);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    json_t *info = json_loads(text, 0, NULL);
    sock_string_free(text);
    sock_model_free(model);
    sock_data_free(data);
    sock_options_free(opts);
    sys_free(instance);
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

/* share_i / share_j = exp((score_i - score_j - (order_i - order_j)) / 2), and all shares together are 1. */
static void prop_shares_follow_scores_and_simplicity(void **state)
{
    (void)state;
    static const char *const order[] = {"constant",      "linear", "affine", "poly:degree=2",
                                        "poly:degree=3", "gauss",  NULL};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        json_t *info = fitted("expdyn", seed, "yes"), *list = json_object_get(info, "diffusions");
        const json_t *first = json_array_get(list, 0);
        double sum = 0;
        assert_true(json_array_size(list) > 1);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *other = json_array_get(list, i);
            int further = place(word(other, "kernel"), order) - place(word(first, "kernel"), order);
            double expected = exp((number(other, "score") - number(first, "score") - further) / 2);
            assert_close(number(other, "share") / number(first, "share"), expected, 1e-9, 1);
            sum += number(other, "share");
        }
        assert_close(sum, 1, 1e-12, 1);
        json_decref(info);
    }
}

static void test_neartie__without_averaging_the_best_diffusion_is_alone(void **state)
{
    (void)state;
    json_t *info = fitted("expdyn", 1, "no"), *list = json_object_get(info, "diffusions");
    assert_int_equal(json_array_size(list), 1);
    assert_true(number(json_array_get(list, 0), "score") == number(info, "score"));
    json_decref(info);
}

/* A Gaussian drift that gains 3.5 nats with 32 degrees of freedom more is luck; one that gains 9 is not, nor is one
 * that gains 3 with two. */
static void test_neartie__simpler_drifts_are_allowed_what_they_save(void **state)
{
    (void)state;
    assert_true(sk_drift_allowance(3, 32, 480) == 8 && sk_drift_allowance(20, 32, 480) == 8);
    assert_true(sk_drift_allowance(1.5, 2, 480) == 1.5 && sk_drift_allowance(5, 2, 480) == 2 &&
                sk_drift_allowance(0, 0, 480) == 0);
    assert_true(sk_drift_allowance(3, 400, 480) == 10 && sk_drift_allowance(15, 400, 480) == 15);
    assert_true(sk_drift_allowance(1, -3, 480) == 1); /* a simpler kernel with more freedom */
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
        double lost = best - number(info, "drift_score");
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
        cmocka_unit_test(test_neartie__without_averaging_the_best_diffusion_is_alone),
        cmocka_unit_test(test_neartie__simpler_drifts_are_allowed_what_they_save),
        cmocka_unit_test(prop_chosen_drift_is_near_the_best),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
