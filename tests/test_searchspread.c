/* test_searchspread.c - what a search hands over about how far its model can be trusted: who is kept, with which
 * weights, and what the laws are. */
#include "tune/searchspread.h"

#include "drift/driftspread.h"
#include "model/bands.h"
#include "searchcases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

/* Two drifts and two diffusions after a last pass; the first of each is the model. */
static case_search *ended(size_t d, size_t steps)
{
    case_search *c = case_search_new(ctx, d, steps, 20, 0);
    sk_search *s = &c->s;
    static const double alone[SK_MOST] = {1};
    const double grid[] = {1e-2, 1e-4};
    case_candidate(c, SK_DRIFT, "affine", 1);
    case_candidate(c, SK_DRIFT, "poly:degree=2", 2);
    case_candidate(c, SK_DIFFUSION, "constant", 1);
    case_candidate(c, SK_DIFFUSION, "affine", 2);
    c->spec.bands = true;
    sk_views *views = NULL;
    assert_int_equal(sk_search_views(s, s->rows, NULL, false, &views), SOCK_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(sk_try_drift(ctx, views, &s->list.drift[i], s->rows->folds, &s->drift[i]), SOCK_OK);
    s->views = views;
    assert_int_equal(sk_renew_remains(s, alone), SOCK_OK);
    const sk_diffusion_options options = {
        .folds = s->rows->folds, .l = grid, .lambdas = 2, .tolerance = 1e-6, .solve_all = true};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(sk_try_diffusion(ctx, s->remains, &s->list.diffusion[i], &options, &s->diffusion[i]), SOCK_OK);
    s->best_drift = s->best_diffusion = 0;
    sk_choose_one(0, 0, &s->choice);
    return c;
}

static sock_model *model_of(case_search *c)
{
    sock_model *model = NULL;
    assert_int_equal(sk_search_mixture(&c->s, &c->s.choice, &model), SOCK_OK);
    assert_int_equal(sk_search_spread(&c->s, model), SOCK_OK);
    return model;
}

static double priced(const sk_trial *t) { return t->score - t->dof; }

/* The chosen one is among the candidates, and what it was chosen among is kept by its weight. */
static void test_searchspread__keeps_what_the_drift_was_chosen_among(void **state)
{
    (void)state;
    case_search *c = ended(1, 200);
    c->s.drift[1]->score = c->s.drift[0]->score + c->s.drift[1]->dof - c->s.drift[0]->dof - 2; /* e^-1 */
    sock_model *model = model_of(c);
    const sk_spread *s = model->spread;
    assert_non_null(s);
    assert_int_equal(s->drifts, 1);
    assert_int_equal(s->others, 1);
    assert_close(s->share[0], 1, 0, 0);
    assert_close(s->pi[1] / s->pi[0], exp((priced(c->s.drift[1]) - priced(c->s.drift[0])) / 2), 1e-9, 0);
    assert_close(s->pi[0] + s->pi[1], 1, 1e-12, 0);
    for (size_t i = 0; i < c->s.drift[1]->size; i++)
        assert_close(s->other[0]->weight[i], c->s.drift[1]->solution[c->s.drift[1]->folds * c->s.drift[1]->size + i], 0,
                     0);
    sock_model_free(model);
    c->s.drift[1]->score -= 100;
    model = model_of(c);
    assert_int_equal(model->spread->others, 0);
    assert_close(model->spread->pi[0], 1, 0, 0);
    sock_model_free(model);
    case_search_free(c);
}

/* A guard's model is not among the candidates: its distance from them counts in full. */
static void test_searchspread__of_a_guard_counts_the_distance_in_full(void **state)
{
    (void)state;
    case_search *c = ended(1, 200);
    c->s.rival[1] = c->s.drift[1];
    c->s.drift[1] = NULL;
    sock_model *model = model_of(c);
    assert_int_equal(model->spread->others, 1);
    assert_close(model->spread->pi[0], 0, 0, 0);
    assert_close(model->spread->pi[1], 1, 0, 0);
    sock_model_free(model);
    case_search_free(c);
}

/* The law of the drift is that of the rows under the model; a constant a is known to sqrt(2 / n). */
static void test_searchspread__has_the_laws_of_the_rows(void **state)
{
    (void)state;
    case_search *c = ended(1, 400);
    sock_model *model = model_of(c);
    const sk_transitions *rows = c->s.rows;
    const sk_trial *t = c->s.drift[0];
    sk_views *views = NULL;
    sk_drift_spread *sums = NULL;
    sk_factor *factor = NULL;
    const double x = 0.3;
    double a, var, lambda[2];
    assert_int_equal(sk_search_views(&c->s, rows, model, true, &views), SOCK_OK);
    assert_int_equal(sk_drift_spread_new(ctx, t->p, 1, SK_JOINT, &sums), SOCK_OK);
    for (size_t b = 0; b < rows->blocks; b++) {
        const sk_view *v = case_view(ctx, views, b);
        double *psi = sk_doubles(ctx, v->n, t->p);
        assert_int_equal(sk_occupation_features(ctx, v->rule, t->map, 0, v->n, psi, t->p), SOCK_OK);
        assert_int_equal(sk_drift_spread_add(ctx, sums, v, psi), SOCK_OK);
        sk_free(psi);
        sk_views_give(views, v);
    }
    lambda[0] = lambda[1] = sk_drift_spread_ridge(sums, t->l);
    assert_int_equal(sk_drift_spread_factor(ctx, sums, lambda, &factor), SOCK_OK);
    for (size_t i = 0; i < factor->count * factor->rank; i++)
        assert_close(model->spread->drift[0]->value[i], factor->value[i], 1e-9, 1e-6);
    assert_int_equal(sk_model_evaluate(ctx, model, 1, &x, NULL, &a), SOCK_OK);
    assert_int_equal(sk_diffusion_variance(ctx, model, 1, &x, &a, &var), SOCK_OK);
    assert_close(sqrt(var), sqrt(2 / (double)rows->n), 0.02, 0);
    sk_factor_free(factor);
    sk_drift_spread_free(sums);
    sk_views_free(views);
    sock_model_free(model);
    case_search_free(c);
}

/* Range of both ends of the steps; deviations of draws of about two standard deviations at worst. */
static void test_searchspread__tells_range_and_draws(void **state)
{
    (void)state;
    case_search *c = ended(2, 200);
    sock_model *model = model_of(c);
    const sk_transitions *rows = c->s.rows;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < rows->n; i++) {
        low = fmin(low, fmin(rows->y[2 * i + 1], rows->next[2 * i + 1]));
        high = fmax(high, fmax(rows->y[2 * i + 1], rows->next[2 * i + 1]));
    }
    assert_close(model->spread->lower[1], low, 0, 0);
    assert_close(model->spread->upper[1], high, 0, 0);
    const double sup = model->spread->sup[SK_SUP_DRAWS * 9 / 10 - 1];
    assert_true(sup > 1.7 && sup < 4);
    sock_model_free(model);
    c->spec.bands = false;
    model = model_of(c);
    assert_null(model->spread);
    sock_model_free(model);
    case_search_free(c);
}

typedef struct trying {
    case_search *c;
    sock_model *model;
} trying;

static sock_status spread_once(sock_context *own, void *arg)
{
    const trying *t = arg;
    (void)own;
    sock_status status = sk_search_spread(&t->c->s, t->model);
    sk_spread_free(t->model->spread);
    t->model->spread = NULL;
    return status;
}

static void test_searchspread__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    case_search *c = ended(1, 60);
    trying t = {c, NULL};
    assert_int_equal(sk_search_mixture(&c->s, &c->s.choice, &t.model), SOCK_OK);
    assert_true(for_single_allocations(ctx, spread_once, &t) > 40);
    sock_model_free(t.model);
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searchspread__keeps_what_the_drift_was_chosen_among),
        cmocka_unit_test(test_searchspread__of_a_guard_counts_the_distance_in_full),
        cmocka_unit_test(test_searchspread__has_the_laws_of_the_rows),
        cmocka_unit_test(test_searchspread__tells_range_and_draws),
        cmocka_unit_test(test_searchspread__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
