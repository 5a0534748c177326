/* test_search.c - services of the search: views, residuals and models of its trials; and that a search is its stages,
 * one after the other. */
#include "searchcases.h"

#include "onecontext.h"

static void test_search__views_are_as_the_options_want_them(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 2, 60, 5, 0);
    sk_search *s = &c->s;
    sock_model *model = case_model(ctx, 2, NULL);
    for (int i = 0; i < 8; i++) {
        sk_views *views = NULL;
        c->spec.conditional = i & 1;
        assert_int_equal(sk_search_views(s, s->rows, i & 2 ? model : NULL, i & 4, &views), SOCK_OK);
        const sk_view_spec *look = sk_views_spec(views);
        const bool conditional = (i & 3) == 3; /* on what a model says */
        assert_int_equal(look->conditional, conditional);
        assert_ptr_equal(look->model, i & 2 ? model : NULL);
        assert_int_equal(look->diagonal, (i & 4) != 0);
        assert_true(look->eps == s->sets.look.eps && look->weighted);
        const sk_view *v = case_view(ctx, views, 0);
        assert_int_equal(v->rule->nodes / v->n, conditional ? 5 : 1);
        double f[2], a[4];
        if (i & 2) assert_int_equal(look->fields(ctx, look->model, 1, s->rows->y, f, a), SOCK_OK);
        if (i & 2) assert_close(f[0], -s->rows->y[0] + 0.3 * s->rows->y[1], 1e-15, 1);
        sk_views_give(views, v);
        sk_views_free(views);
    }
    sock_model_free(model);
    case_search_free(c);
}

/* z is F^-1 e where the options want it and the views have a model, else e. */
static void test_search__remains_are_corrected_where_both_want_it(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    case_candidates(c);
    sk_search_take_model(s, case_model(ctx, 1, NULL), false);
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(sk_try_drift(ctx, s->views, &s->list.drift[i], 3, &s->drift[i]), SOCK_OK);
    sk_views *blind = NULL;
    assert_int_equal(sk_search_views(s, s->rows, NULL, false, &blind), SOCK_OK);
    for (int i = 0; i < 4; i++) {
        c->spec.correct = i & 1;
        sk_remains *remains = NULL;
        sk_block block, mixed;
        const double share[SK_MOST] = {0.25, 0.75};
        assert_int_equal(sk_search_remains(s, i & 2 ? s->views : blind, &s->drift[1], &remains), SOCK_OK);
        assert_int_equal(sk_renew_remains(s, share), SOCK_OK);
        assert_int_equal(sk_remains_take(ctx, remains, 0, &block), SOCK_OK);
        assert_int_equal(sk_remains_take(ctx, s->remains, 0, &mixed), SOCK_OK);
        const sk_view *v = mixed.view;
        for (size_t k = 0; k < v->n; k++) {
            const double *t = v->t + k, *first = s->drift[0]->held + v->begin, *other = s->drift[1]->held + v->begin;
            const double alone = block.view->t[k] - other[k], e = *t - 0.25 * first[k] - 0.75 * other[k];
            assert_close(block.e[k], alone, 1e-13, 1);
            assert_close(block.z[k], i == 3 ? alone / v->left[k] : alone, 1e-13, 1);
            assert_close(mixed.e[k], e, 1e-13, 1);
            assert_close(mixed.z[k], i & 1 ? e / v->left[k] : e, 1e-13, 1);
        }
        sk_remains_give(remains, &block);
        sk_remains_give(s->remains, &mixed);
        sk_remains_free(remains);
    }
    sk_views_free(blind);
    case_search_free(c);
}

/* The fit to all rows of a trial, with the names of the data. */
static void test_search__model_of_two_and_of_shares(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    case_candidates(c);
    assert_true(sk_stage_round(s, &stage) >= 0);
    sock_model *two = NULL, *mixture = NULL;
    const sk_choice choice = {.drift_share = {0, 1}, .share = {0, 0, 1}, .floor = 0.5};
    static const double x = 0.4;
    double f[3], a[3], phi[3];
    assert_int_equal(sk_model_of_two(s, s->drift[1], s->diffusion[2], &two), SOCK_OK);
    assert_int_equal(sk_search_mixture(s, &choice, &mixture), SOCK_OK);
    assert_string_equal(sock_model_name(two, 0), sock_data_name(c->data, 0));
    assert_string_equal(sock_model_name(mixture, 0), sock_data_name(c->data, 0));
    assert_int_equal(sk_model_evaluate(ctx, two, 1, &x, &f[0], &a[0]), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, mixture, 1, &x, &f[1], &a[1]), SOCK_OK);
    assert_int_equal(sk_features_eval(ctx, s->drift[1]->map, 1, &x, phi, 2), SOCK_OK);
    f[2] = sk_dot(2, phi, s->drift[1]->solution + 3 * s->drift[1]->size);
    assert_int_equal(sk_features_eval(ctx, s->diffusion[2]->map, 1, &x, phi, 3), SOCK_OK);
    a[2] = 0;
    for (size_t k = 0; k < 9; k++) a[2] += phi[k / 3] * phi[k % 3] * s->diffusion[2]->solution[3 * 9 + k];
    assert_close(f[0], f[2], 1e-12, 1);
    assert_close(f[1], f[2], 1e-12, 1);
    assert_close(a[0], a[2], 1e-10, 1);
    assert_close(a[1], a[2] + 0.5, 1e-10, 1);
    assert_true(two->floor == 0 && mixture->floor == 0.5);
    sock_model_free(two), sock_model_free(mixture);
    case_search_free(c);
}

/* ---- The walk ---- */

/* The stages by hand, without a budget. */
static void walk(case_search *c)
{
    sk_search *s = &c->s;
    assert_int_equal(sk_constant_score(s), SOCK_OK);
    for (size_t i = 0; i < sk_stage_count; i++)
        if (!sk_stages[i].wanted || sk_stages[i].wanted(s)) assert_true(sk_stages[i].run(s, &sk_stages[i]) >= 0);
    assert_int_equal(sk_search_describe(s, &s->choice), SOCK_OK);
}

static void test_search__is_its_stages(void **state)
{
    (void)state;
    for (int polish = 0; polish < 2; polish++) {
        case_search *c = case_search_new(ctx, 1, 120, 5, 0);
        c->spec.drift = "affine";
        c->spec.diffusion = "poly:degree=2";
        c->spec.polish = polish;
        walk(c);
        sk_tune_outcome told = {0};
        sock_model *model = NULL, *expected = NULL;
        assert_int_equal(sk_tune(ctx, &c->spec, &model, &told), SOCK_OK);
        assert_int_equal(told.search.count, c->told.search.count);
        for (size_t i = 0; i < told.search.count; i++) {
            const sk_search_row *one = &told.search.row[i], *other = &c->told.search.row[i];
            assert_string_equal(one->stage, other->stage);
            assert_string_equal(one->kernel, other->kernel);
            assert_true(one->score == other->score);
        }
        assert_true(told.score == c->told.score && told.calibration == c->told.calibration);
        assert_true(told.score_constant == c->told.score_constant);
        assert_true(!told.limited && told.left_out.count == 0 && told.floor.count == 1);
        assert_int_equal(sk_search_mixture(&c->s, &c->s.choice, &expected), SOCK_OK);
        assert_true(told.floor.value[0] == expected->floor);
        static const double x = 0.4;
        double f[2], a[2];
        assert_int_equal(sk_model_evaluate(ctx, model, 1, &x, &f[0], &a[0]), SOCK_OK);
        assert_int_equal(sk_model_evaluate(ctx, expected, 1, &x, &f[1], &a[1]), SOCK_OK);
        assert_true(f[0] == f[1] && a[0] == a[1]);
        sock_model_free(model), sock_model_free(expected);
        sk_tune_outcome_clear(&told);
        case_search_free(c);
    }
}

/* Without time: pilot, screen and the end, each with what is needed; the rounds and the refit are left out as groups.
 */
static void test_search__budget_leaves_groups_of_stages_out(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 120, 5, 0);
    c->spec.drift = "affine";
    c->spec.diffusion = "affine";
    c->spec.budget = 1e-9;
    sk_tune_outcome told = {0};
    sock_model *model = NULL;
    assert_int_equal(sk_tune(ctx, &c->spec, &model, &told), SOCK_LIMITED);
    assert_non_null(strstr(sock_message(ctx), "the budget of 1e-09 s ended the search early"));
    static const char *const left_out[] = {"round 1", "polish", "refit"};
    assert_true(told.limited);
    assert_int_equal(told.left_out.count, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(told.left_out.text[i], left_out[i]);
    assert_non_null(model);
    sk_begin(ctx);
    sock_model_free(model);
    sk_tune_outcome_clear(&told);
    case_search_free(c);
}

/* Numbers so large that the named kernel cannot be fitted: constants would not be what the user asked for. */
static void test_search__a_named_kernel_that_cannot_be_fitted_is_an_error(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    for (size_t i = 0; i < c->data->points; i++) c->data->x[i] = 1e98 * (1 + c->data->x[i]);
    c->spec.drift = "poly:degree=3";
    sk_tune_outcome told = {0};
    sock_model *model = NULL;
    assert_int_equal(sk_tune(ctx, &c->spec, &model, &told), SOCK_ENUMERIC);
    assert_true(!model && !told.search.row);
    sk_begin(ctx);
    case_search_free(c);
}

/* A search that fails leaves nothing behind. */
static sock_status tune_once(sock_context *context, void *arg)
{
    const case_search *c = arg;
    sk_tune_outcome told = {0};
    sock_model *model = NULL;
    const sock_status status = sk_tune(context, &c->spec, &model, &told);
    if (status < 0) assert_true(!model && !told.search.row && !told.left_out.text && !told.drifts.part);
    sock_model_free(model);
    sk_tune_outcome_clear(&told);
    return status;
}

static void test_search__survives_some_failed_allocations(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 40, 5, 0);
    c->spec.drift = c->spec.diffusion = "constant";
    sock_set_threads(ctx, 1);
    const long before = sk_allocations(ctx);
    assert_int_equal(tune_once(ctx, c), SOCK_OK);
    const long total = sk_allocations(ctx) - before;
    for (long k = 1; k <= total; k += 1 + total / 150) {
        assert_int_equal(with_failing_allocation(ctx, sk_fail_allocation, k, tune_once, c), SOCK_ENOMEM);
        assert_int_equal(with_failing_allocation(ctx, sk_fail_one_allocation, k, tune_once, c), SOCK_ENOMEM);
    }
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search__views_are_as_the_options_want_them),
        cmocka_unit_test(test_search__remains_are_corrected_where_both_want_it),
        cmocka_unit_test(test_search__model_of_two_and_of_shares),
        cmocka_unit_test(test_search__is_its_stages),
        cmocka_unit_test(test_search__budget_leaves_groups_of_stages_out),
        cmocka_unit_test(test_search__a_named_kernel_that_cannot_be_fitted_is_an_error),
        cmocka_unit_test(test_search__survives_some_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
