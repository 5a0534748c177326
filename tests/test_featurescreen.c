/* test_featurescreen.c - which features a screen leaves to each equation: those that the drift is made of are among
 * them, also where another hides one at first; and the shape of the lists. */
#include "tune/featurescreen.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

enum { D = 12, P = (D + 1) * (D + 2) / 2 };

/* f_k = 3 - x_k + 2 x_{k-1} x_{k+1}. */
static void quadratic_drift(const double *x, double *f)
{
    for (size_t k = 0; k < D; k++) f[k] = 3 - x[k] + 2 * x[(k + D - 1) % D] * x[(k + 1) % D];
}

/* Rows with normal left ends around 1, where x_k, 1 and the products say much the same. */
static sk_transitions *some_rows(void)
{
    sk_transitions *rows = NULL;
    sock_data *data = case_data(ctx, 1200, D, 5, 3);
    rows = case_transitions(ctx, data, 3, 3);
    double *noise = sk_doubles(ctx, rows->n, D), f[D];
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, rows->n * D, rows->y);
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 1, 0, 0, rows->n * D, noise);
    for (size_t i = 0; i < rows->n * D; i++) rows->y[i] += 1;
    for (size_t i = 0; i < rows->n; i++) {
        quadratic_drift(rows->y + i * D, f);
        for (size_t k = 0; k < D; k++)
            rows->next[i * D + k] = rows->y[i * D + k] + rows->h[i] * f[k] + 0.3 * sqrt(rows->h[i]) * noise[i * D + k];
    }
    sk_free(noise);
    sock_data_free(data);
    return rows;
}

static sk_features *monomials(void)
{
    sk_kernel *kernel = case_kernel(ctx, "poly:degree=2");
    sk_features *map = NULL;
    assert_int_equal(sk_features_new(ctx, "drift", kernel, D, 0, NULL, &map), SOCK_OK);
    sk_kernel_free(kernel);
    assert_int_equal(sk_features_count(map), P);
    return map;
}

/* The place of x_a x_b; D stands for 1. */
static size_t place_of(const sk_features *map, size_t a, size_t b)
{
    unsigned power[D], wanted[D + 1] = {0};
    double weight;
    wanted[a]++, wanted[b]++;
    for (size_t j = 0; j < P; j++) {
        sk_features_monomial(map, j, power, &weight);
        if (memcmp(power, wanted, sizeof power) == 0) return j;
    }
    return P;
}

static bool has(const size_t *list, size_t each, size_t j)
{
    for (size_t i = 0; i < each; i++)
        if (list[i] == j) return true;
    return false;
}

/* With a model that knows a and with none; sixteen are left to each equation, four at a time. */
static void test_featurescreen__true_terms_are_left(void **state)
{
    (void)state;
    enum { EACH = 16 };
    bool diagonal = true;
    sk_transitions *rows = some_rows();
    sock_model *model = case_model(ctx, D, &diagonal);
    sk_features *map = monomials();
    for (int blind = 0; blind < 2; blind++) {
        const sk_view_spec look = case_look(blind ? NULL : model, true);
        sk_views *views = case_views(ctx, rows, &look);
        size_t list[D * EACH];
        assert_int_equal(sk_screen_features(ctx, views, map, EACH, list), SOCK_OK);
        for (size_t k = 0; k < D; k++) {
            const size_t *own = list + k * EACH;
            for (size_t i = 0; i < EACH; i++) assert_true(own[i] < P && (!i || own[i] > own[i - 1]));
            assert_true(has(own, EACH, place_of(map, D, D)));
            assert_true(has(own, EACH, place_of(map, k, D)));
            assert_true(has(own, EACH, place_of(map, (k + D - 1) % D, (k + 1) % D)));
        }
        sk_views_free(views);
    }
    sk_features_free(map);
    sock_model_free(model);
    sk_transitions_free(rows);
}

/* A feature that is nought at all rows is never left; where too few remain the list ends with none. */
static void test_featurescreen__lists_end_where_features_do(void **state)
{
    (void)state;
    sk_transitions *rows = some_rows();
    sk_features *map = monomials(), *two = NULL;
    for (size_t i = 0; i < rows->n; i++) rows->y[i * D + 4] = 0;
    const size_t keep[] = {place_of(map, 4, D), place_of(map, D, D)};
    assert_int_equal(sk_features_select(ctx, map, 2, keep, &two), SOCK_OK);
    const sk_view_spec look = case_look(NULL, true);
    sk_views *views = case_views(ctx, rows, &look);
    size_t list[D * 3];
    assert_int_equal(sk_screen_features(ctx, views, two, 3, list), SOCK_OK);
    for (size_t k = 0; k < D; k++)
        assert_true(list[3 * k] == 1 && list[3 * k + 1] == SIZE_MAX && list[3 * k + 2] == SIZE_MAX);
    sk_views_free(views);
    sk_features_free(map);
    sk_features_free(two);
    sk_transitions_free(rows);
}

/* A screened trial: the terms of the truth, in a map that has little else, and what it says of the rows is what its
 * features do. */
static void test_featurescreen__screened_trial_finds_the_equations(void **state)
{
    (void)state;
    bool diagonal = true;
    sk_transitions *rows = some_rows();
    sock_model *model = case_model(ctx, D, &diagonal);
    const sk_view_spec look = case_look(model, true);
    sk_views *views = case_views(ctx, rows, &look);
    sk_candidate candidate = {.field = SK_DRIFT,
                              .name = sk_strdup(ctx, "poly:degree=2"),
                              .kernel = case_kernel(ctx, "poly:degree=2"),
                              .learned = true,
                              .screened = true};
    sk_trial *r = NULL;
    if (sk_try_drift(ctx, views, &candidate, rows->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    assert_true(r->p >= 2 * D + 1 && r->p < P / 2 + 10 && r->size == r->p * D);
    assert_true(r->dof > 2.9 * D && r->dof < 4 * D);
    assert_int_equal(sk_features_count(r->map), r->p);
    double phi[P], x[D], f[D], error = 0, size = 0;
    for (size_t i = 0; i < 50; i++) {
        for (size_t k = 0; k < D; k++) x[k] = rows->y[i * D + k];
        quadratic_drift(x, f);
        assert_int_equal(sk_features_eval(ctx, r->map, 1, x, phi, r->p), SOCK_OK);
        for (size_t k = 0; k < D; k++) {
            double own = 0;
            for (size_t j = 0; j < r->p; j++) own += phi[j] * r->solution[r->folds * r->size + j * D + k];
            error += pow(own - f[k], 2);
            size += f[k] * f[k];
        }
    }
    assert_true(error < 0.01 * size);
    sk_trial_free(r);
    sk_candidate_clear(&candidate);
    sk_views_free(views);
    sock_model_free(model);
    sk_transitions_free(rows);
}

typedef struct trying {
    const sk_views *views;
    const sk_features *map;
} trying;

static sock_status screen(sock_context *own, void *arg)
{
    const trying *t = arg;
    size_t list[D * 3];
    return sk_screen_features(own, t->views, t->map, 3, list);
}

static void test_featurescreen__survives_every_failed_allocation(void **state)
{
    (void)state;
    static const size_t keep[] = {1, 5, 80, 90};
    sk_transitions *rows = some_rows();
    sk_features *map = monomials(), *few = NULL;
    assert_int_equal(sk_features_select(ctx, map, 4, keep, &few), SOCK_OK);
    const sk_view_spec look = case_look(NULL, true);
    sk_views *views = case_views(ctx, rows, &look);
    sock_set_threads(ctx, 1);
    assert_true(for_single_allocations(ctx, screen, &(trying){views, few}) > 20);
    sk_views_free(views);
    sk_features_free(map);
    sk_features_free(few);
    sk_transitions_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_featurescreen__true_terms_are_left),
        cmocka_unit_test(test_featurescreen__lists_end_where_features_do),
        cmocka_unit_test(test_featurescreen__screened_trial_finds_the_equations),
        cmocka_unit_test(test_featurescreen__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
