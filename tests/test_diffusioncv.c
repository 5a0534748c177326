/* test_diffusioncv.c - cross-validation of a diffusion through sums over rows, against the convex problem on the
 * training rows alone; and the Gram form of that problem against the row form. */
#include "psd/psd.h"
#include "tune/diffusioncv.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

typedef struct cv_case {
    size_t d;
    bool diagonal, always, correct;
    const char *kernel;
} cv_case;

static const cv_case cases[] = {{1, false, false, false, "affine"},
                                {1, false, true, true, "gauss:eta=1"},
                                {2, false, false, true, "linear"},
                                {2, true, false, true, "affine"},
                                {3, false, true, false, "constant"}};
enum { CASES = sizeof cases / sizeof *cases };

/* The problem, and residuals of another drift without each fold: dy minus shares of itself, different in each. */
static sk_problem *conditioned(const cv_case *c, double **e)
{
    bool diagonal = c->diagonal;
    sk_problem *p = case_problem(ctx, c->d, c->always);
    sock_model *model = case_model(ctx, c->d, &diagonal);
    size_t size = p->n * p->d;
    assert_int_equal(sk_problem_condition(ctx, p, model, true, diagonal), SOCK_OK);
    sock_model_free(model);
    *e = sk_doubles(ctx, p->folds + 1, size);
    for (size_t f = 0; f <= p->folds; f++)
        for (size_t i = 0; i < size; i++) (*e)[f * size + i] = p->steps->dy[i] * (1 + 0.02 * (double)f) + 0.003;
    return p;
}

static sk_diffusion_result *cross_validate(const sk_problem *p, const cv_case *c, const double *e, double l)
{
    sk_diffusion_candidate candidate = {.name = sk_strdup(ctx, c->kernel),
                                        .kernel = case_kernel(ctx, c->kernel),
                                        .diagonal = c->diagonal,
                                        .max_rank = 4};
    sk_leftover leftover = {.e = e, .correct = c->correct};
    sk_diffusion_options options = {p->folds, &l, 1, 1e-12, true};
    sk_diffusion_result *r = NULL;
    if (sk_diffusion_cross_validate(ctx, p, &candidate, &leftover, &options, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_diffusion_candidate_clear(&candidate);
    return r;
}

/* Residuals of fold f with F^-1 applied where asked for. */
static double *corrected(const sk_problem *p, const cv_case *c, const double *e, size_t f)
{
    size_t d = p->d;
    double *z = sk_doubles(ctx, p->n, d), left[9];
    memcpy(z, e + f * p->n * d, p->n * d * sizeof *z);
    for (size_t i = 0; c->correct && i < p->n; i++) {
        memcpy(left, p->left + i * d * d, d * d * sizeof *left);
        dense_solve(d, left, 1, z + i * d);
    }
    return z;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Row weights 1 / (size / median + 0.3)^2 of system s. */
static double *row_weights(const sk_problem *p, bool diagonal, size_t s)
{
    double *w = sk_doubles(ctx, p->n, 1), *sorted = sk_doubles(ctx, p->n, 1);
    for (size_t i = 0; i < p->n; i++) w[i] = sorted[i] = diagonal ? p->part[i * p->d + s] : p->size[i];
    qsort(sorted, p->n, sizeof *sorted, ascending);
    for (size_t i = 0; i < p->n; i++) w[i] = pow(w[i] / sorted[p->n / 2] + 0.3, -2);
    sk_free(sorted);
    return w;
}

/* The convex problem of the training rows of fold f (folds: all rows), with trapezoid rows, by sk_psd_solve. */
static double *direct_fit(const sk_problem *p, const cv_case *c, const sk_diffusion_result *r, const double *e,
                          size_t f, size_t s)
{
    size_t d = p->d, dim = c->diagonal ? 1 : d, order = dim * r->p, rows = 0;
    double *phi = sk_doubles(ctx, p->ends->nodes, r->p), *z = corrected(p, c, e, f),
           *w = row_weights(p, c->diagonal, s);
    double *target = sk_doubles(ctx, p->n, dim * dim), *weight = sk_doubles(ctx, p->n, 1),
           *q = sk_doubles(ctx, order, order);
    double *half = sk_doubles(ctx, 2 * p->n, 1);
    size_t *row = sk_alloc(ctx, p->n + 1, sizeof *row), *node = sk_alloc(ctx, 2 * p->n, sizeof *node);
    assert_int_equal(sk_features_eval(ctx, r->map, p->ends->nodes, p->ends->x, phi, r->p), SOCK_OK);
    for (size_t i = 0; i < p->n; i++) {
        if (f < p->folds && p->fold[i] == f) continue;
        for (size_t k = 0; k < dim * dim; k++)
            target[rows * dim * dim + k] =
                c->diagonal ? z[i * d + s] * z[i * d + s] : z[i * d + k / d] * z[i * d + k % d];
        weight[rows] = w[i];
        node[2 * rows] = 2 * i, node[2 * rows + 1] = 2 * i + 1;
        half[2 * rows] = half[2 * rows + 1] = 0.5 * p->steps->h[i];
        rows++;
        row[rows] = 2 * rows;
    }
    double mean_h2 = 0, mean_w = 0, k = 0; /* lambda in natural units, those of all rows */
    for (size_t i = 0; i < p->n; i++)
        mean_h2 += p->steps->h[i] * p->steps->h[i] / (double)p->n, mean_w += w[i] / (double)p->n;
    for (size_t i = 0; i < p->ends->nodes * r->p; i++) k += phi[i] * phi[i] / (double)p->ends->nodes;
    sk_psd_problem problem = {rows, p->ends->nodes, r->p, phi, r->p, row, node, half, weight};
    sk_psd_options options = {.tolerance = 1e-12};
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result = NULL;
    assert_int_equal(sk_psd_prepare(ctx, &problem, &options, &prepared), SOCK_OK);
    sk_psd_target wanted = {dim, target, r->l * mean_h2 * mean_w * k * k};
    assert_true(sk_psd_solve(ctx, prepared, &wanted, &options, NULL, &result) >= 0);
    sk_psd_dense(ctx, result, q);
    sk_psd_result_free(result);
    sk_psd_prepared_free(prepared);
    sk_free(phi), sk_free(z), sk_free(w), sk_free(target), sk_free(weight), sk_free(half), sk_free(row), sk_free(node);
    return q;
}

/* With gaps of 1e-12 of the objective both, Q agrees to about their root. */
static void prop_q_without_a_fold_is_that_of_the_training_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        double *e;
        sk_problem *p = conditioned(&cases[c], &e);
        sk_diffusion_result *r = cross_validate(p, &cases[c], e, 1e-3);
        size_t order2 = r->order * r->order;
        assert_int_equal(r->systems, cases[c].diagonal ? p->d : 1);
        for (size_t f = 0; f <= p->folds; f++)
            for (size_t s = 0; s < r->systems; s++) {
                double *q = direct_fit(p, &cases[c], r, e, f, s);
                assert_all_close(order2, r->q + (f * r->systems + s) * order2, q, 2e-5);
                sk_free(q);
            }
        sk_free(e);
        sk_diffusion_result_free(r);
        sk_problem_free(p);
    }
}

/* I a of a held-out step by the conditional rule and the Q that did not see it; the score is that of those. */
static void prop_score_is_that_of_held_out_steps(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        double *e, total = 0;
        sk_problem *p = conditioned(&cases[c], &e);
        sk_diffusion_result *r = cross_validate(p, &cases[c], e, 1e-2);
        size_t d = p->d, pc = r->p, order = r->order;
        double *phi = sk_doubles(ctx, p->rule->nodes, pc), *cluster = sk_doubles(ctx, p->clusters, 1), held[9];
        assert_int_equal(sk_features_eval(ctx, r->map, p->rule->nodes, p->rule->x, phi, pc), SOCK_OK);
        for (size_t f = 0; f < p->folds; f++)
            for (size_t i = p->first[f]; i < p->first[f + 1]; i++) {
                for (size_t k = 0; k < d * d; k++) {
                    size_t row = k / d, col = k % d, s = r->diagonal ? row : 0;
                    const double *q = r->q + (f * r->systems + s) * order * order;
                    held[k] = 0;
                    if (r->diagonal && row != col) continue;
                    if (r->diagonal) row = col = 0;
                    for (size_t m = p->rule->row[i]; m < p->rule->row[i + 1]; m++)
                        for (size_t u = 0; u < pc * pc; u++)
                            held[k] += p->rule->weight[m] * phi[m * pc + u / pc] * phi[m * pc + u % pc] *
                                       q[(row * pc + u / pc) * order + col * pc + u % pc];
                }
                assert_all_close(d * d, r->held + i * d * d, held, 1e-11);
                double score = dense_score(p, i, e + (f * p->n + i) * d, held);
                total += score;
                cluster[p->cluster[i]] += score;
            }
        assert_close(r->score, total, 1e-10, 1);
        assert_all_close(p->clusters, r->cluster, cluster, 1e-10);
        double *space = sk_doubles(ctx, sk_scores_space(d), 1);
        sk_leftover leftover = {.e = e};
        assert_close(sk_diffusion_score(p, r->held, 0, &leftover, NULL, space), total, 1e-10, 1);
        sk_free(space), sk_free(phi), sk_free(cluster), sk_free(e);
        sk_diffusion_result_free(r);
        sk_problem_free(p);
    }
}

/* A term of the fit evaluates phi' Q phi, shares multiply it. */
static void test_diffusioncv__term_is_the_quadratic_form_of_q(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        double *e, x[] = {0.4, -0.3, 1.1}, a[9] = {0}, expected[9] = {0}, phi[8];
        sk_problem *p = conditioned(&cases[c], &e);
        sk_diffusion_result *r = cross_validate(p, &cases[c], e, 1e-3);
        sk_diffusion_term *term = NULL;
        size_t d = p->d, order = r->order;
        assert_int_equal(sk_diffusion_result_term(ctx, r, 1, d, 0.3, &term), SOCK_OK);
        double *space = sk_doubles(ctx, sk_diffusion_term_space(term, 1), 1);
        sk_diffusion_term_add(ctx, term, 1, x, a, space);
        assert_int_equal(sk_features_eval(ctx, r->map, 1, x, phi, r->p), SOCK_OK);
        for (size_t k = 0; k < d * d; k++) {
            size_t row = k / d, col = k % d, s = r->diagonal ? row : 0;
            if (r->diagonal && row != col) continue;
            if (r->diagonal) row = col = 0;
            for (size_t u = 0; u < r->p * r->p; u++)
                expected[k] +=
                    0.3 * phi[u / r->p] * phi[u % r->p] *
                    r->q[(r->systems + s) * order * order + (row * r->p + u / r->p) * order + col * r->p + u % r->p];
        }
        assert_all_close(d * d, a, expected, 1e-9);
        sk_free(space), sk_free(e);
        sk_diffusion_term_free(term);
        sk_diffusion_result_free(r);
        sk_problem_free(p);
    }
}

/* The score of a polished result is that of its own held-out integrals. */
static void test_diffusioncv__polish_scores_what_it_holds(void **state)
{
    (void)state;
    double *e;
    sk_problem *p = conditioned(&cases[2], &e);
    sk_diffusion_result *r = cross_validate(p, &cases[2], e, 1e-3), *polished = NULL;
    sk_leftover leftover = {.e = e, .correct = true};
    assert_int_equal(sk_diffusion_polish(ctx, p, &leftover, r, &polished), SOCK_OK);
    assert_true(polished->polished && !r->polished);
    double total = 0;
    for (size_t f = 0; f < p->folds; f++)
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++)
            total += dense_score(p, i, e + (f * p->n + i) * 2, polished->held + 4 * i);
    assert_close(polished->score, total, 1e-10, 1);
    sk_diffusion_result_free(polished);
    sk_diffusion_result_free(r);
    sk_free(e);
    sk_problem_free(p);
}

/* The Gram form knows sums over rows alone and must give the Q of the rows. */
static void prop_gram_form_solves_the_row_form(void **state)
{
    (void)state;
    enum { N = 40, P = 3, D = 2, Q = P * (P + 1) / 2, PAIRS = 3, ORDER = P * D };
    double phi[N * P], z[N * 4], weight[N], ones[N], g[Q * Q] = {0}, c[PAIRS * Q] = {0}, zz = 0, svec[Q];
    size_t row[N + 1], node[N];
    sk_normals((sk_key){21, SK_PURPOSE_TEST}, 0, 0, 0, N * P, phi);
    sk_normals((sk_key){21, SK_PURPOSE_TEST}, 1, 0, 0, N * 4, z);
    for (size_t i = 0; i < N; i++) {
        double e0 = z[4 * i], e1 = z[4 * i + 1], v[PAIRS];
        z[4 * i] = e0 * e0, z[4 * i + 1] = z[4 * i + 2] = e0 * e1, z[4 * i + 3] = e1 * e1;
        weight[i] = 0.5 + (double)(i % 4), ones[i] = 1, row[i] = node[i] = i;
        for (size_t b = 0, j = 0; b < P; b++)
            for (size_t a = 0; a <= b; a++, j++) svec[j] = phi[i * P + a] * phi[i * P + b] * (a < b ? sqrt(2) : 1);
        v[0] = z[4 * i], v[1] = sqrt(2) * z[4 * i + 1], v[2] = z[4 * i + 3];
        for (size_t j = 0; j < Q; j++) {
            for (size_t k = 0; k < Q; k++) g[j * Q + k] += weight[i] * svec[j] * svec[k];
            for (size_t u = 0; u < PAIRS; u++) c[u * Q + j] += weight[i] * v[u] * svec[j];
        }
        for (size_t u = 0; u < PAIRS; u++) zz += weight[i] * v[u] * v[u];
    }
    row[N] = N;
    for (double lambda = 1; lambda > 1e-5; lambda /= 100) {
        sk_psd_problem problem = {N, N, P, phi, P, row, node, ones, weight};
        sk_psd_options options = {.tolerance = 1e-13};
        sk_psd_prepared *prepared = NULL;
        sk_psd_result *direct = NULL;
        sk_psd_gram *gram = NULL;
        sk_psd_bounds bounds = {0};
        double q[ORDER * ORDER], expected[ORDER * ORDER];
        assert_int_equal(sk_psd_prepare(ctx, &problem, &options, &prepared), SOCK_OK);
        assert_true(sk_psd_solve(ctx, prepared, &(sk_psd_target){D, z, lambda}, &options, NULL, &direct) >= 0);
        sk_psd_dense(ctx, direct, expected);
        assert_int_equal(sk_psd_gram_new(ctx, N, P, g, &gram), SOCK_OK);
        sk_psd_moments moments = {.d = D, .c = c, .zz = zz, .lambda = lambda};
        assert_true(sk_psd_gram_solve(ctx, gram, N, &moments, &options, NULL, false, q, &bounds) >= 0);
        assert_all_close(ORDER * ORDER, q, expected, 1e-5);
        assert_close(bounds.primal, direct->primal, 1e-9, 0);
        sk_psd_gram_free(gram);
        sk_psd_result_free(direct);
        sk_psd_prepared_free(prepared);
    }
}

typedef struct trial {
    const sk_problem *p;
    const sk_diffusion_candidate *candidate;
    const double *e;
} trial;

static sock_status try_once(sock_context *c, void *arg)
{
    const trial *t = arg;
    const double l[] = {1e-1, 1e-3};
    sk_leftover leftover = {.e = t->e, .correct = true};
    sk_diffusion_options options = {t->p->folds, l, 2, 1e-6, true};
    sk_diffusion_result *r = NULL, *polished = NULL;
    sock_status status = sk_diffusion_cross_validate(c, t->p, t->candidate, &leftover, &options, &r);
    if (status >= 0) status = sk_diffusion_polish(c, t->p, &leftover, r, &polished);
    sk_diffusion_result_free(r);
    sk_diffusion_result_free(polished);
    return status;
}

static void test_diffusioncv__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    for (int learned = 0; learned < 2; learned++) {
        double *e;
        sk_problem *p = conditioned(&cases[0], &e);
        sk_diffusion_candidate candidate = {
            .name = sk_strdup(ctx, "affine"), .kernel = case_kernel(ctx, "affine"), .learned = learned};
        assert_true(for_each_allocation(ctx, try_once, &(trial){p, &candidate, e}) > 100);
        sk_diffusion_candidate_clear(&candidate);
        sk_free(e);
        sk_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_q_without_a_fold_is_that_of_the_training_rows),
        cmocka_unit_test(prop_score_is_that_of_held_out_steps),
        cmocka_unit_test(test_diffusioncv__term_is_the_quadratic_form_of_q),
        cmocka_unit_test(test_diffusioncv__polish_scores_what_it_holds),
        cmocka_unit_test(prop_gram_form_solves_the_row_form),
        cmocka_unit_test(test_diffusioncv__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
