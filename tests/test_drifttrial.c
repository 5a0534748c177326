/* test_drifttrial.c - cross-validation of a drift through sums over rows, against fits to the training rows alone; kept
 * views against views made on each visit, one candidate against several, one block against many. */
#include "drift/sparsebayes.h"
#include "tune/policy.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

typedef struct trial_case {
    size_t d;
    bool diagonal, always;
    const char *kernel;
} trial_case;

static const trial_case cases[] = {
    {1, false, false, "poly:degree=2"},    {1, false, true, "gauss:eta=1.5"}, {2, false, false, "affine"},
    {2, true, false, "poly:degree=2"},     {3, false, true, "linear"},        {3, true, true, "gauss:eta=2"},
    {2, false, false, "fourier:p=6,eta=1"}};
enum { CASES = sizeof cases / sizeof *cases };

static case_bench bench_of(const trial_case *c) { return case_bench_new(ctx, c->d, c->diagonal, c->always); }

static sk_candidate candidate_of(const char *kernel, bool learned)
{
    return (sk_candidate){.field = SK_DRIFT,
                          .name = sk_strdup(ctx, kernel),
                          .kernel = case_kernel(ctx, kernel),
                          .learned = learned,
                          .max_rank = 9};
}

static sk_trial *try_folds(const sk_views *views, const char *kernel, bool learned, size_t folds)
{
    sk_candidate candidate = candidate_of(kernel, learned);
    sk_trial *r = NULL;
    if (sk_try_drift(ctx, views, &candidate, folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_candidate_clear(&candidate);
    return r;
}

static sk_trial *try_one(const case_bench *b, const trial_case *c, bool learned)
{
    return try_folds(b->views, c->kernel, learned, b->rows->folds);
}

/* Integrated features of every row, node by node. */
static double *features_of_rows(const sk_view *v, const sk_features *map)
{
    size_t pc = sk_features_count(map);
    double *phi = sk_doubles(ctx, v->rule->nodes, pc), *psi = sk_doubles(ctx, v->n, pc);
    assert_int_equal(sk_features_eval(ctx, map, v->rule->nodes, v->rule->x, phi, pc), SOCK_OK);
    for (size_t i = 0; i < v->n; i++)
        for (size_t e = v->rule->row[i]; e < v->rule->row[i + 1]; e++)
            for (size_t j = 0; j < pc; j++) psi[i * pc + j] += v->rule->weight[e] * phi[v->rule->node[e] * pc + j];
    sk_free(phi);
    return psi;
}

/* H (order x order) and g of the rows outside fold f, order = p d, entry (feature j, component k) at k p + j. */
static size_t normal_equations(const case_bench *b, size_t pc, const double *psi, size_t f, double *h, double *g)
{
    const sk_view *v = b->v;
    size_t d = v->d, order = pc * d, rows = 0;
    memset(h, 0, order * order * sizeof *h);
    memset(g, 0, order * sizeof *g);
    for (size_t i = 0; i < v->n; i++) {
        if (f < b->rows->folds && sk_transitions_fold(b->rows, i) == f) continue;
        rows++;
        for (size_t u = 0; u < order; u++)
            for (size_t l = 0; l < d; l++) {
                double w = v->precision[(i * d + u / pc) * d + l] * psi[i * pc + u % pc];
                g[u] += w * v->t[i * d + l];
                for (size_t j = 0; j < pc; j++) h[u * order + l * pc + j] += w * psi[i * pc + j];
            }
    }
    return rows;
}

/* The penalty of l = 1: mean |psi|^2 times the mean precision of a component. */
static double natural_unit(const sk_view *v, size_t pc, const double *psi)
{
    double size = 0, weight = 0, n = (double)v->n;
    for (size_t i = 0; i < v->n * pc; i++) size += psi[i] * psi[i] / n;
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < v->d; k++) weight += v->precision[(i * v->d + k) * v->d + k] / (n * (double)v->d);
    return size * weight;
}

/* tr H (H + shift)^-1 = order - shift tr (H + shift)^-1; h is H + shift. */
static void check_dof(size_t order, const double *h, double shift, double dof)
{
    double *copy = sk_doubles(ctx, order, order), *inverse = sk_doubles(ctx, order, order), expected = (double)order;
    memcpy(copy, h, order * order * sizeof *copy);
    for (size_t u = 0; u < order; u++) inverse[u * order + u] = 1;
    dense_solve(order, copy, order, inverse);
    for (size_t u = 0; u < order; u++) expected -= shift * inverse[u * order + u];
    assert_close(dof, expected, 1e-6, 1);
    sk_free(copy), sk_free(inverse);
}

/* Without fold f, (H - H_f + rows l unit) w = g - g_f: the same numbers as from the training rows alone. */
static void prop_weights_without_a_fold_are_those_of_the_training_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_bench b = bench_of(&cases[c]);
        sk_trial *r = try_one(&b, &cases[c], false);
        size_t pc = r->p, d = r->d, order = pc * d;
        double *psi = features_of_rows(b.v, r->map), unit = natural_unit(b.v, pc, psi);
        double *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, 1), *w = sk_doubles(ctx, pc, d);
        assert_close(r->lambda_scale, unit, 1e-11, 0);
        assert_int_equal(r->size, order);
        for (size_t f = 0; f <= r->folds; f++) {
            size_t rows = normal_equations(&b, pc, psi, f, h, g);
            const double shift = (double)rows * r->l * unit;
            for (size_t u = 0; u < order; u++) h[u * order + u] += shift;
            if (f == r->folds) check_dof(order, h, shift, r->dof);
            dense_solve(order, h, 1, g);
            for (size_t u = 0; u < order; u++) w[u % pc * d + u / pc] = g[u];
            assert_all_close(order, r->solution + f * order, w, 1e-6);
        }
        sk_free(psi), sk_free(h), sk_free(g), sk_free(w);
        sk_trial_free(r);
        case_bench_clear(&b);
    }
}

/* The score is the sum over held-out rows, each with the weights of the fold that did not see it. */
static void prop_score_is_that_of_held_out_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++)
        for (int learned = 0; learned < 2; learned++) {
            if (learned && strchr(cases[c].kernel, '=') && cases[c].kernel[0] != 'p') continue;
            case_bench b = bench_of(&cases[c]);
            sk_trial *r = try_one(&b, &cases[c], learned);
            size_t d = r->d, pc = r->p;
            double total = 0, *psi = features_of_rows(b.v, r->map), *cluster = sk_doubles(ctx, b.rows->clusters, 1);
            for (size_t block = 0; block < b.rows->blocks; block++) {
                const sk_view *v = case_view(ctx, b.views, block);
                double *held = sk_doubles(ctx, v->n, d);
                assert_int_equal(sk_trial_held(ctx, r, v, held), SOCK_OK);
                for (size_t i = 0; i < v->n; i++) {
                    double own[3];
                    for (size_t k = 0; k < d; k++) {
                        own[k] = v->t[i * d + k];
                        for (size_t j = 0; j < pc; j++)
                            own[k] -= psi[(v->begin + i) * pc + j] * r->solution[(v->fold * pc + j) * d + k];
                        assert_close(v->t[i * d + k] - held[i * d + k], own[k], 1e-11, 1);
                    }
                    if (v->fold == r->folds) continue;
                    double a[9];
                    judged_integral(v, i, a);
                    double score = dense_score(v, i, own, a);
                    total += score;
                    cluster[v->cluster[i]] += score;
                }
                sk_free(held);
                sk_views_give(b.views, v);
            }
            assert_close(r->score, total, 1e-9, 1);
            assert_all_close(b.rows->clusters, r->cluster, cluster, 1e-9);
            for (size_t j = 0; !learned && j < SK_DRIFT_LAMBDAS; j++) assert_true(r->by_l[j] <= r->score);
            sk_free(psi), sk_free(cluster);
            sk_trial_free(r);
            case_bench_clear(&b);
        }
}

/* Learned weights: sparse Bayes on the sums of the training rows; a diagonal a gives each component its own system. */
static void prop_learned_weights_are_sparse_bayes_of_the_training_rows(void **state)
{
    (void)state;
    static const trial_case some[] = {
        {1, false, false, "poly:degree=2"}, {2, false, false, "affine"}, {2, true, true, "affine"}};
    for (size_t c = 0; c < 3; c++) {
        case_bench b = bench_of(&some[c]);
        sk_trial *r = try_one(&b, &some[c], true);
        size_t pc = r->p, d = r->d, order = pc * d, systems = some[c].diagonal ? d : 1, own = order / systems;
        double *psi = features_of_rows(b.v, r->map), *block = sk_doubles(ctx, own, own);
        double *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, 1), *w = sk_doubles(ctx, pc, d);
        for (size_t f = 0; f <= r->folds; f++) {
            normal_equations(&b, pc, psi, f, h, g);
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
            for (size_t u = 0; u < order; u++) assert_close(r->solution[f * order + u], w[u], 1e-7, 1);
        }
        sk_free(psi), sk_free(block), sk_free(h), sk_free(g), sk_free(w);
        sk_trial_free(r);
        case_bench_clear(&b);
    }
}

/* Only the folds that are asked for are judged and solved without; l is chosen by them alone. */
static void test_drifttrial__of_one_fold_judges_that_one(void **state)
{
    (void)state;
    case_bench b = bench_of(&cases[2]);
    sk_trial *r = try_folds(b.views, "affine", false, 1);
    double total = 0, nothing = 0;
    const sk_view *v = case_view(ctx, b.views, 0);
    double *held = sk_doubles(ctx, v->n, 2), e[2];
    assert_int_equal(sk_trial_held(ctx, r, v, held), SOCK_OK);
    for (size_t i = 0; i < v->n; i++) {
        for (size_t k = 0; k < 2; k++) e[k] = v->t[2 * i + k] - held[2 * i + k];
        double a[4];
        judged_integral(v, i, a);
        total += dense_score(v, i, e, a);
    }
    assert_close(r->score, total, 1e-10, 1);
    for (size_t u = 4; u < b.rows->clusters; u++) assert_true(r->cluster[u] == 0);
    for (size_t i = r->size; i < 3 * r->size; i++) nothing += fabs(r->solution[i]);
    assert_true(nothing == 0);
    sk_free(held);
    sk_views_give(b.views, v);
    sk_trial_free(r);
    case_bench_clear(&b);
}

static void check_same(const case_bench *b, const sk_trial *r, const sk_trial *other)
{
    assert_true(r->l == other->l && r->edge == other->edge && r->p == other->p);
    assert_close(r->score, other->score, 1e-10, 1);
    assert_close(r->dof, other->dof, 1e-10, 1);
    assert_close(r->lambda_scale, other->lambda_scale, 1e-10, 0);
    assert_all_close(b->rows->clusters, r->cluster, other->cluster, 1e-10);
    for (size_t j = 0; j < r->lambdas; j++) /* a penalty l leaves a condition of about 1 / l */
        assert_close(r->by_l[j], other->by_l[j], 1e-10 + (r->grid ? 1e-15 / r->grid[j] : 0), 1);
    assert_all_close((r->folds + 1) * r->size, r->solution, other->solution, 1e-8);
}

/* What both say of their own rows, in one piece. */
static double *held_of(const case_bench *b, const sk_trial *r)
{
    double *held = sk_doubles(ctx, b->rows->n, r->d);
    for (size_t block = 0; block < b->rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b->views, block);
        assert_int_equal(sk_trial_held(ctx, r, v, held + v->begin * r->d), SOCK_OK);
        sk_views_give(b->views, v);
    }
    return held;
}

/* Views that are made on each visit, in blocks of seven, against kept ones with a block for a fold. */
static void prop_trial_is_the_same_for_any_views(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++)
        for (int learned = 0; learned < 2; learned++) {
            if (learned && cases[c].kernel[0] == 'g') continue;
            sk_transitions *cut = case_rows(ctx, cases[c].d, cases[c].always);
            case_cut(ctx, cut, 7);
            case_bench b = bench_of(&cases[c]), made = case_bench_of(ctx, cut, cases[c].diagonal, 1);
            assert_true(sk_views_kept(b.views) && !sk_views_kept(made.views));
            sk_trial *r = try_one(&b, &cases[c], learned), *other = try_one(&made, &cases[c], learned);
            assert_true(r->held && !other->held);
            check_same(&b, r, other);
            double *held = held_of(&b, r), *anew = held_of(&made, other);
            assert_all_close(b.rows->n * r->d, held, anew, 1e-9);
            sk_free(held), sk_free(anew);
            sk_trial_free(r), sk_trial_free(other);
            case_bench_clear(&b), case_bench_clear(&made);
        }
}

/* Several at once are each as if tried alone; the one that cannot be fitted is not there. */
static void prop_several_at_once_are_each_alone(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        sk_transitions *cut = case_rows(ctx, 2, true);
        case_cut(ctx, cut, 7);
        case_bench b = case_bench_of(ctx, cut, false, kept ? 0 : 1);
        sk_candidate list[] = {candidate_of("affine", true), candidate_of("poly:degree=2", false),
                               candidate_of("gauss:eta=1", false)};
        const sk_candidate *who[] = {&list[0], &list[1], &list[2]};
        sk_trial *out[3] = {NULL, NULL, NULL};
        assert_int_equal(sk_try_drifts(ctx, b.views, 3, who, b.rows->folds, out), SOCK_OK);
        for (size_t i = 0; i < 3; i++) {
            sk_trial *alone = try_folds(b.views, list[i].name, list[i].learned, b.rows->folds);
            assert_non_null(out[i]);
            check_same(&b, out[i], alone);
            sk_trial_free(alone);
            sk_trial_free(out[i]);
            sk_candidate_clear(&list[i]);
        }
        case_bench_clear(&b);
    }
}

/* A candidate whose features overflow drops out of the crowd, and the others stay what they are. */
static void test_drifttrial__one_without_a_score_drops_out(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 1, false);
    for (size_t i = 0; i < rows->n; i++) rows->y[i] *= 1e80, rows->next[i] *= 1e80; /* x^4 is infinite, x is not */
    const sk_view_spec look = case_look(NULL, true);
    sk_views *views = case_views(ctx, rows, &look);
    sk_candidate list[] = {candidate_of("linear", false), candidate_of("poly:degree=4", false)};
    const sk_candidate *who[] = {&list[0], &list[1]};
    sk_trial *out[2] = {NULL, NULL}, *alone = NULL;
    assert_int_equal(sk_try_drift(ctx, views, who[1], 3, &alone), SOCK_ENUMERIC);
    assert_null(alone);
    sk_begin(ctx);
    assert_int_equal(sk_try_drifts(ctx, views, 2, who, 3, out), SOCK_OK);
    assert_true(out[0] && !out[1] && isfinite(out[0]->score));
    sk_trial_free(out[0]);
    for (size_t i = 0; i < 2; i++) sk_candidate_clear(&list[i]);
    sk_views_free(views);
    sk_transitions_free(rows);
}

static void test_drifttrial__term_is_a_share_of_the_fit(void **state)
{
    (void)state;
    case_bench b = bench_of(&cases[2]);
    sk_trial *r = try_one(&b, &cases[2], false);
    for (size_t f = 1; f <= r->folds; f += 2) { /* without fold 1, and of all rows */
        sk_drift_term *term = NULL;
        double x[] = {0.3, -0.7}, phi[8], value[2] = {0, 0}, expected[2] = {0, 0};
        assert_int_equal(sk_trial_drift_term(ctx, r, f, 0.7, &term), SOCK_OK);
        double *space = sk_doubles(ctx, sk_drift_term_space(term, 1), 1);
        sk_drift_term_add(ctx, term, 1, x, value, space);
        assert_int_equal(sk_features_eval(ctx, r->map, 1, x, phi, r->p), SOCK_OK);
        for (size_t j = 0; j < r->p; j++)
            for (size_t k = 0; k < 2; k++) expected[k] += 0.7 * phi[j] * r->solution[(f * r->p + j) * 2 + k];
        assert_all_close(2, value, expected, 1e-13);
        sk_free(space);
        sk_drift_term_free(term);
    }
    sk_trial_free(r);
    case_bench_clear(&b);
}

typedef struct trying {
    const sk_views *views;
    const sk_candidate *candidate;
    bool several;
} trying;

static sock_status try_once(sock_context *c, void *arg)
{
    const trying *t = arg;
    sk_trial *r = NULL;
    sk_drift_term *term = NULL;
    sock_status status = t->several ? sk_try_drifts(c, t->views, 1, &t->candidate, 3, &r)
                                    : sk_try_drift(c, t->views, t->candidate, 3, &r);
    if (status >= 0) status = sk_trial_drift_term(c, r, 0, 1, &term);
    sk_drift_term_free(term);
    sk_trial_free(r);
    return status;
}

static void test_drifttrial__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    for (int learned = 0; learned < 2; learned++)
        for (int kept = 0; kept < 2; kept++) {
            case_bench b = case_bench_of(ctx, case_rows(ctx, 2, false), false, kept ? 0 : 1);
            sk_candidate candidate = candidate_of("affine", learned);
            assert_true(for_single_allocations(ctx, try_once, &(trying){b.views, &candidate, !kept}) > 20);
            sk_candidate_clear(&candidate);
            case_bench_clear(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_weights_without_a_fold_are_those_of_the_training_rows),
        cmocka_unit_test(prop_score_is_that_of_held_out_rows),
        cmocka_unit_test(prop_learned_weights_are_sparse_bayes_of_the_training_rows),
        cmocka_unit_test(test_drifttrial__of_one_fold_judges_that_one),
        cmocka_unit_test(prop_trial_is_the_same_for_any_views),
        cmocka_unit_test(prop_several_at_once_are_each_alone),
        cmocka_unit_test(test_drifttrial__one_without_a_score_drops_out),
        cmocka_unit_test(test_drifttrial__term_is_a_share_of_the_fit),
        cmocka_unit_test(test_drifttrial__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
