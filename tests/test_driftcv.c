/* test_driftcv.c - cross-validation of a drift through sums over rows, against fits to the training rows alone. */
#include "drift/sparsebayes.h"
#include "tune/driftcv.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

typedef struct cv_case {
    size_t d;
    bool diagonal, always;
    const char *kernel;
} cv_case;

static const cv_case cases[] = {
    {1, false, false, "poly:degree=2"},    {1, false, true, "gauss:eta=1.5"}, {2, false, false, "affine"},
    {2, true, false, "poly:degree=2"},     {3, false, true, "linear"},        {3, true, true, "gauss:eta=2"},
    {2, false, false, "fourier:p=6,eta=1"}};
enum { CASES = sizeof cases / sizeof *cases };

static sk_problem *conditioned(const cv_case *c)
{
    bool diagonal = c->diagonal;
    sk_problem *p = case_problem(ctx, c->d, c->always);
    sock_model *model = case_model(ctx, c->d, &diagonal);
    assert_int_equal(sk_problem_condition(ctx, p, model, true, diagonal), SOCK_OK);
    sock_model_free(model);
    return p;
}

static sk_drift_result *cross_validate(const sk_problem *p, const cv_case *c, bool learned)
{
    sk_drift_candidate candidate = {
        .name = sk_strdup(ctx, c->kernel), .kernel = case_kernel(ctx, c->kernel), .learned = learned, .max_rank = 9};
    sk_drift_result *r = NULL;
    if (sk_drift_cross_validate(ctx, p, &candidate, p->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_drift_candidate_clear(&candidate);
    return r;
}

/* Integrated features of every step, node by node. */
static double *features_of_steps(const sk_problem *p, const sk_features *map)
{
    size_t pc = sk_features_count(map);
    double *phi = sk_doubles(ctx, p->rule->nodes, pc), *psi = sk_doubles(ctx, p->n, pc);
    assert_int_equal(sk_features_eval(ctx, map, p->rule->nodes, p->rule->x, phi, pc), SOCK_OK);
    for (size_t i = 0; i < p->n; i++)
        for (size_t e = p->rule->row[i]; e < p->rule->row[i + 1]; e++)
            for (size_t j = 0; j < pc; j++) psi[i * pc + j] += p->rule->weight[e] * phi[p->rule->node[e] * pc + j];
    sk_free(phi);
    return psi;
}

/* H (order x order) and g of the rows outside fold f, order = p d, entry (feature j, component k) at k p + j. */
static size_t normal_equations(const sk_problem *p, size_t pc, const double *psi, size_t f, double *h, double *g)
{
    size_t d = p->d, order = pc * d, rows = 0;
    memset(h, 0, order * order * sizeof *h);
    memset(g, 0, order * sizeof *g);
    for (size_t i = 0; i < p->n; i++) {
        if (f < p->folds && i >= p->first[f] && i < p->first[f + 1]) continue;
        rows++;
        for (size_t u = 0; u < order; u++)
            for (size_t l = 0; l < d; l++) {
                double w = p->precision[(i * d + u / pc) * d + l] * psi[i * pc + u % pc];
                g[u] += w * p->steps->dy[i * d + l];
                for (size_t j = 0; j < pc; j++) h[u * order + l * pc + j] += w * psi[i * pc + j];
            }
    }
    return rows;
}

/* The penalty of l = 1: mean |psi|^2 times the mean precision of a component. */
static double natural_unit(const sk_problem *p, size_t pc, const double *psi)
{
    double size = 0, weight = 0, n = (double)p->n;
    for (size_t i = 0; i < p->n * pc; i++) size += psi[i] * psi[i] / n;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->d; k++) weight += p->precision[(i * p->d + k) * p->d + k] / (n * (double)p->d);
    return size * weight;
}

/* Without fold f, (H - H_f + rows l unit) w = g - g_f: the same numbers as from the training rows alone. */
static void prop_weights_without_a_fold_are_those_of_the_training_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        sk_problem *p = conditioned(&cases[c]);
        sk_drift_result *r = cross_validate(p, &cases[c], false);
        size_t pc = r->p, d = p->d, order = pc * d;
        double *psi = features_of_steps(p, r->map), unit = natural_unit(p, pc, psi);
        double *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, 1), *w = sk_doubles(ctx, pc, d);
        assert_all_close(p->n * pc, r->psi, psi, 1e-12);
        for (size_t f = 0; f <= p->folds; f++) {
            size_t rows = normal_equations(p, pc, psi, f, h, g);
            for (size_t u = 0; u < order; u++) h[u * order + u] += (double)rows * r->l * unit;
            dense_solve(order, h, 1, g);
            for (size_t u = 0; u < order; u++) w[u % pc * d + u / pc] = g[u];
            assert_all_close(order, r->weight + f * order, w, 1e-6);
        }
        sk_free(psi), sk_free(h), sk_free(g), sk_free(w);
        sk_drift_result_free(r);
        sk_problem_free(p);
    }
}

/* The score is the sum over held-out steps, each with the weights of the fold that did not see it. */
static void prop_score_is_that_of_held_out_steps(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++)
        for (int learned = 0; learned < 2; learned++) {
            if (learned && strchr(cases[c].kernel, '=') && cases[c].kernel[0] != 'p') continue;
            sk_problem *p = conditioned(&cases[c]);
            sk_drift_result *r = cross_validate(p, &cases[c], learned);
            size_t d = p->d, pc = r->p;
            double total = 0, *e = sk_doubles(ctx, p->n, d), *cluster = sk_doubles(ctx, p->clusters, 1);
            for (size_t f = 0; f < p->folds; f++) {
                sk_drift_residuals(ctx, p, r, f, e);
                for (size_t i = p->first[f]; i < p->first[f + 1]; i++) {
                    double own[3];
                    for (size_t k = 0; k < d; k++) {
                        own[k] = p->steps->dy[i * d + k];
                        for (size_t j = 0; j < pc; j++) own[k] -= r->psi[i * pc + j] * r->weight[(f * pc + j) * d + k];
                        assert_close(e[i * d + k], own[k], 1e-11, 1);
                    }
                    double score = dense_score(p, i, own, p->integral + i * d * d);
                    total += score;
                    cluster[p->cluster[i]] += score;
                }
            }
            assert_close(r->score, total, 1e-9, 1);
            assert_all_close(p->clusters, r->cluster, cluster, 1e-9);
            for (size_t j = 0; !learned && j < SK_LAMBDAS; j++) assert_true(r->by_l[j] <= r->score);
            sk_free(e), sk_free(cluster);
            sk_drift_result_free(r);
            sk_problem_free(p);
        }
}

/* Learned weights: sparse Bayes on the sums of the training rows; a diagonal a gives each component its own system. */
static void prop_learned_weights_are_sparse_bayes_of_the_training_rows(void **state)
{
    (void)state;
    static const cv_case some[] = {
        {1, false, false, "poly:degree=2"}, {2, false, false, "affine"}, {2, true, true, "affine"}};
    for (size_t c = 0; c < 3; c++) {
        sk_problem *p = conditioned(&some[c]);
        sk_drift_result *r = cross_validate(p, &some[c], true);
        size_t pc = r->p, d = p->d, order = pc * d, systems = some[c].diagonal ? d : 1, own = order / systems;
        double *psi = features_of_steps(p, r->map), *block = sk_doubles(ctx, own, own);
        double *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, 1), *w = sk_doubles(ctx, pc, d);
        for (size_t f = 0; f <= p->folds; f++) {
            normal_equations(p, pc, psi, f, h, g);
            memset(w, 0, order * sizeof *w);
            for (size_t s = 0; s < systems; s++) {
                sk_sparse_bayes *fit = NULL;
                for (size_t u = 0; u < own * own; u++) block[u] = h[(s * own + u / own) * order + s * own + u % own];
                assert_int_equal(
                    sk_sparse_bayes_fit(ctx, own, block, own, g + s * own, fmax(log((double)own), 3), 0, &fit),
                    SOCK_OK);
                for (size_t a = 0; a < fit->active; a++) {
                    size_t u = s * own + fit->index[a];
                    w[u % pc * d + u / pc] = fit->mean[a];
                }
                sk_sparse_bayes_free(fit);
            }
            for (size_t u = 0; u < order; u++) assert_close(r->weight[f * order + u], w[u], 1e-7, 1);
        }
        sk_free(psi), sk_free(block), sk_free(h), sk_free(g), sk_free(w);
        sk_drift_result_free(r);
        sk_problem_free(p);
    }
}

static void test_driftcv__term_is_the_fit_to_all_rows(void **state)
{
    (void)state;
    sk_problem *p = conditioned(&cases[2]);
    sk_drift_result *r = cross_validate(p, &cases[2], false);
    sk_drift_term *term = NULL;
    double x[] = {0.3, -0.7}, phi[8], f[2] = {0, 0}, expected[2] = {0, 0};
    assert_int_equal(sk_drift_result_term(ctx, r, p->folds, 2, &term), SOCK_OK);
    double *space = sk_doubles(ctx, sk_drift_term_space(term, 1), 1);
    sk_drift_term_add(ctx, term, 1, x, f, space);
    assert_int_equal(sk_features_eval(ctx, r->map, 1, x, phi, r->p), SOCK_OK);
    for (size_t j = 0; j < r->p; j++)
        for (size_t k = 0; k < 2; k++) expected[k] += phi[j] * r->weight[(p->folds * r->p + j) * 2 + k];
    assert_all_close(2, f, expected, 1e-13);
    sk_free(space);
    sk_drift_term_free(term);
    sk_drift_result_free(r);
    sk_problem_free(p);
}

typedef struct trial {
    const sk_problem *p;
    const sk_drift_candidate *candidate;
} trial;

static sock_status try_once(sock_context *c, void *arg)
{
    const trial *t = arg;
    sk_drift_result *r = NULL;
    sock_status status = sk_drift_cross_validate(c, t->p, t->candidate, t->p->folds, &r);
    sk_drift_result_free(r);
    return status;
}

static void test_driftcv__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    for (int learned = 0; learned < 2; learned++) {
        sk_problem *p = conditioned(&cases[2]);
        sk_drift_candidate candidate = {
            .name = sk_strdup(ctx, "affine"), .kernel = case_kernel(ctx, "affine"), .learned = learned};
        assert_true(for_each_allocation(ctx, try_once, &(trial){p, &candidate}) > 20);
        sk_drift_candidate_clear(&candidate);
        sk_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_weights_without_a_fold_are_those_of_the_training_rows),
        cmocka_unit_test(prop_score_is_that_of_held_out_steps),
        cmocka_unit_test(prop_learned_weights_are_sparse_bayes_of_the_training_rows),
        cmocka_unit_test(test_driftcv__term_is_the_fit_to_all_rows),
        cmocka_unit_test(test_driftcv__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
