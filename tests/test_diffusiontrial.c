/* test_diffusiontrial.c - cross-validation of a diffusion through sums over rows, against the convex problem on the
 * training rows alone; kept views against views made on each visit, one candidate against several, one block against
 * many; and the polish of what was cross-validated. */
#include "diffusion/polish.h"
#include "psd/psd.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

typedef struct trial_case {
    size_t d;
    bool diagonal, always, correct;
    const char *kernel;
    bool own; /* a_kk of the features of x_k alone */
} trial_case;

static const trial_case cases[] = {{1, false, false, false, "affine", false},
                                   {1, false, true, true, "gauss:eta=1", false},
                                   {2, false, false, true, "linear", false},
                                   {2, true, false, true, "affine", false},
                                   {3, false, true, false, "constant", false}};
enum { CASES = sizeof cases / sizeof *cases };

static case_bench bench_of(const trial_case *c, case_left *left)
{
    case_bench b = case_bench_new(ctx, c->d, c->diagonal, c->always);
    case_left_new(ctx, &b, c->correct, left);
    return b;
}

static void clear(case_bench *b, case_left *left)
{
    case_left_clear(left);
    case_bench_clear(b);
}

static sk_candidate candidate_of(const char *kernel, bool diagonal, bool learned)
{
    return (sk_candidate){.field = SK_DIFFUSION,
                          .name = sk_strdup(ctx, kernel),
                          .kernel = case_kernel(ctx, kernel),
                          .diagonal = diagonal,
                          .learned = learned,
                          .max_rank = 4};
}

static sk_trial *try_path(const case_left *left, const trial_case *c, size_t folds, size_t lambdas, const double *l)
{
    sk_candidate candidate = candidate_of(c->kernel, c->diagonal, false);
    candidate.own = c->own;
    sk_diffusion_options options = {folds, l, lambdas, 1e-12, true, {false, false}, 0};
    sk_trial *r = NULL;
    if (sk_try_diffusion(ctx, left->remains, &candidate, &options, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_candidate_clear(&candidate);
    return r;
}

static sk_trial *try_one(const case_left *left, const trial_case *c, double l) { return try_path(left, c, 3, 1, &l); }

/* Residuals of fold f with F^-1 applied where asked for. */
static double *corrected(const sk_view *v, const trial_case *c, size_t f)
{
    size_t d = v->d;
    double *z = sk_doubles(ctx, v->n, d), left[9];
    for (size_t i = 0; i < v->n * d; i++) z[i] = case_residual(v, f, i / d, i % d);
    for (size_t i = 0; c->correct && i < v->n; i++) {
        memcpy(left, v->left + i * d * d, d * d * sizeof *left);
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
static double *row_weights(const sk_view *v, bool diagonal, size_t s)
{
    double *w = sk_doubles(ctx, v->n, 1), *sorted = sk_doubles(ctx, v->n, 1);
    for (size_t i = 0; i < v->n; i++) w[i] = sorted[i] = diagonal ? v->part[i * v->d + s] : v->size[i];
    qsort(sorted, v->n, sizeof *sorted, ascending);
    for (size_t i = 0; i < v->n; i++) w[i] = pow(w[i] / sorted[v->n / 2] + 0.3, -2);
    sk_free(sorted);
    return w;
}

/* The convex problem of the training rows of fold f (folds: all rows), with trapezoid rows, by sk_psd_solve. */
static double *direct_fit(const case_bench *b, const trial_case *c, const sk_trial *r, size_t f, size_t s)
{
    const sk_view *v = b->v;
    size_t d = v->d, dim = c->diagonal ? 1 : d, order = dim * r->p, rows = 0, nodes = 2 * v->n;
    double *phi = sk_doubles(ctx, nodes, r->p), *z = corrected(v, c, f), *w = row_weights(v, c->diagonal, s);
    double *target = sk_doubles(ctx, v->n, dim * dim), *weight = sk_doubles(ctx, v->n, 1),
           *q = sk_doubles(ctx, order, order);
    double *half = sk_doubles(ctx, nodes, 1);
    size_t *row = sk_alloc(ctx, v->n + 1, sizeof *row), *node = sk_alloc(ctx, nodes, sizeof *node);
    double mean_h2 = 0, mean_w = 0, k = 0; /* lambda in natural units, those of all rows */
    for (size_t i = 0; i < v->n; i++) {
        assert_int_equal(sk_features_eval(ctx, r->map, 1, v->y + i * d, phi + 2 * i * r->p, r->p), SOCK_OK);
        assert_int_equal(sk_features_eval(ctx, r->map, 1, v->next + i * d, phi + (2 * i + 1) * r->p, r->p), SOCK_OK);
        mean_h2 += v->h[i] * v->h[i] / (double)v->n, mean_w += w[i] / (double)v->n;
        if (f < r->folds && sk_transitions_fold(b->rows, i) == f) continue;
        for (size_t u = 0; u < dim * dim; u++)
            target[rows * dim * dim + u] =
                c->diagonal ? z[i * d + s] * z[i * d + s] : z[i * d + u / d] * z[i * d + u % d];
        weight[rows] = w[i];
        node[2 * rows] = 2 * i, node[2 * rows + 1] = 2 * i + 1;
        half[2 * rows] = half[2 * rows + 1] = 0.5 * v->h[i];
        rows++;
        row[rows] = 2 * rows;
    }
    for (size_t i = 0; i < nodes * r->p; i++) k += phi[i] * phi[i] / (double)nodes;
    if (s == 0) assert_close(r->lambda_scale, mean_h2 * mean_w * k * k, 1e-11, 0);
    sk_psd_problem problem = {rows, nodes, r->p, phi, r->p, row, node, half, weight};
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
        case_left left;
        case_bench b = bench_of(&cases[c], &left);
        sk_trial *r = try_one(&left, &cases[c], 1e-3);
        size_t order2 = sk_trial_order(r) * sk_trial_order(r), systems = sk_trial_systems(r);
        assert_int_equal(systems, cases[c].diagonal ? cases[c].d : 1);
        assert_int_equal(r->size, systems * order2);
        assert_true(r->converged && !r->polished);
        for (size_t f = 0; f <= r->folds; f++)
            for (size_t s = 0; s < systems; s++) {
                double *q = direct_fit(&b, &cases[c], r, f, s);
                assert_all_close(order2, r->solution + f * r->size + s * order2, q, 2e-5);
                sk_free(q);
            }
        sk_trial_free(r);
        clear(&b, &left);
    }
}

/* I a of row i of all by the Q without fold f, node by node. */
static void slow_integral(const sk_view *v, const sk_trial *r, size_t f, size_t i, double *held)
{
    const size_t d = r->d, pc = r->p, order = sk_trial_order(r);
    double phi[8];
    memset(held, 0, d * d * sizeof *held);
    for (size_t m = v->rule->row[i]; m < v->rule->row[i + 1]; m++) {
        assert_int_equal(sk_features_eval(ctx, r->map, 1, v->rule->x + m * d, phi, pc), SOCK_OK);
        for (size_t k = 0; k < d * d; k++) {
            size_t row = k / d, col = k % d;
            const double *q = r->solution + f * r->size + (r->diagonal ? row : 0) * order * order;
            if (r->diagonal && row != col) continue;
            if (r->diagonal) row = col = 0;
            for (size_t u = 0; u < pc * pc; u++)
                held[k] +=
                    v->rule->weight[m] * phi[u / pc] * phi[u % pc] * q[(row * pc + u / pc) * order + col * pc + u % pc];
        }
    }
}

/* Sum over the held-out rows of the score of what a trial says of them; by cluster too. */
static double slow_score(const case_bench *b, const sk_trial *r, double *cluster)
{
    const size_t d = r->d;
    double total = 0, held[9], e[3];
    for (size_t i = 0; i < b->rows->first[r->folds]; i++) {
        const size_t f = sk_transitions_fold(b->rows, i);
        slow_integral(b->v, r, f, i, held);
        for (size_t k = 0; k < d; k++) e[k] = case_residual(b->v, f, i, k);
        const double score = dense_score(b->v, i, e, held);
        total += score;
        cluster[b->rows->cluster[i]] += score;
    }
    return total;
}

/* What a trial holds of its rows is what its Q says. */
static void check_held(const case_bench *b, const sk_trial *r)
{
    const size_t d2 = r->d * r->d;
    double expected[9];
    for (size_t block = 0; block < b->rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b->views, block);
        double *held = sk_doubles(ctx, v->n, d2);
        assert_int_equal(sk_trial_held(ctx, r, v, held), SOCK_OK);
        for (size_t i = 0; v->fold < r->folds && i < v->n; i++) {
            slow_integral(b->v, r, v->fold, v->begin + i, expected);
            assert_all_close(d2, held + i * d2, expected, 1e-11);
        }
        sk_free(held);
        sk_views_give(b->views, v);
    }
}

/* I a of a held-out row by the conditional rule and the Q that did not see it; the score is that of those. */
static void prop_score_is_that_of_held_out_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_left left;
        case_bench b = bench_of(&cases[c], &left);
        sk_trial *r = try_one(&left, &cases[c], 1e-2);
        const size_t clusters = b.rows->clusters;
        double *cluster = sk_doubles(ctx, clusters, 1), *again = sk_doubles(ctx, clusters, 1), score;
        check_held(&b, r);
        const double total = slow_score(&b, r, cluster);
        assert_close(r->score, total, 1e-10, 1);
        assert_all_close(clusters, r->cluster, cluster, 1e-10);
        assert_int_equal(sk_held_score(ctx, left.remains, r, again, &score), SOCK_OK);
        assert_close(score, total, 1e-10, 1);
        assert_all_close(clusters, again, cluster, 1e-10);
        sk_free(cluster), sk_free(again);
        sk_trial_free(r);
        clear(&b, &left);
    }
}

/* Of several penalties the best one; each is scored as if it were the only one. */
static void prop_path_ends_at_its_best_penalty(void **state)
{
    (void)state;
    static const double l[] = {10, 1, 1e-1, 1e-2, 1e-4, 1e-6};
    size_t inside = 0;
    for (size_t c = 0; c < CASES; c++) {
        case_left left;
        case_bench b = bench_of(&cases[c], &left);
        sk_trial *r = try_path(&left, &cases[c], 3, 6, l);
        size_t best = 0;
        for (size_t j = 0; j < 6; j++)
            if (r->by_l[j] > r->by_l[best]) best = j;
        inside += best > 0 && best < 5;
        for (size_t j = 0; j < 6; j++) {
            sk_trial *one = try_one(&left, &cases[c], l[j]);
            if (isfinite(r->by_l[j])) assert_close(r->by_l[j], one->score, 1e-5, 1);
            if (j == best) assert_all_close((r->folds + 1) * r->size, r->solution, one->solution, 1e-4);
            sk_trial_free(one);
        }
        double *cluster = sk_doubles(ctx, b.rows->clusters, 1);
        assert_true(r->l == l[best] && r->score == r->by_l[best]);
        assert_close(r->score, slow_score(&b, r, cluster), 1e-10, 1); /* its Q and what it holds are of that one */
        assert_all_close(b.rows->clusters, r->cluster, cluster, 1e-10);
        check_held(&b, r);
        sk_free(cluster);
        sk_trial_free(r);
        clear(&b, &left);
    }
    assert_true(inside > 0); /* else this says nothing about the best one */
}

/* Only the folds that are asked for are judged and solved without. */
static void test_diffusiontrial__of_one_fold_judges_that_one(void **state)
{
    (void)state;
    case_left left;
    case_bench b = bench_of(&cases[2], &left);
    const double l = 1e-2;
    sk_trial *all = try_path(&left, &cases[2], 3, 1, &l), *r = try_path(&left, &cases[2], 1, 1, &l);
    double nothing = 0, some = 0;
    for (size_t u = 0; u < b.rows->clusters; u++) {
        if (u < 4) assert_close(r->cluster[u], all->cluster[u], 1e-9, 1);
        if (u >= 4) assert_true(r->cluster[u] == 0);
        some += r->cluster[u];
    }
    assert_close(r->score, some, 1e-12, 1);
    for (size_t i = r->size; i < 3 * r->size; i++) nothing += fabs(r->solution[i]);
    assert_true(nothing == 0);
    assert_all_close(r->size, r->solution + 3 * r->size, all->solution + 3 * r->size, 1e-6); /* all rows are all */
    sk_trial_free(all), sk_trial_free(r);
    clear(&b, &left);
}

static void check_same(const case_bench *b, const sk_trial *r, const sk_trial *other)
{
    assert_true(r->l == other->l && r->p == other->p && r->diagonal == other->diagonal && r->edge == other->edge);
    assert_close(r->lambda_scale, other->lambda_scale, 1e-12, 0);
    assert_close(r->score, other->score, 1e-10, 1);
    assert_all_close(b->rows->clusters, r->cluster, other->cluster, 1e-9);
    for (size_t j = 0; j < r->lambdas; j++) assert_close(r->by_l[j], other->by_l[j], 1e-10, 1);
    assert_all_close((r->folds + 1) * r->size, r->solution, other->solution, 1e-8);
}

/* Views that are made on each visit, in blocks of seven, against kept ones with a block for a fold; polished too. */
static void prop_trial_is_the_same_for_any_views(void **state)
{
    (void)state;
    static const double l[] = {1, 1e-1, 1e-2};
    for (size_t c = 0; c < CASES; c++) {
        case_left left, anew;
        sk_transitions *cut = case_rows(ctx, cases[c].d, cases[c].always);
        case_cut(ctx, cut, 7);
        case_bench b = bench_of(&cases[c], &left), made = case_bench_of(ctx, cut, cases[c].diagonal, 1);
        case_left_new(ctx, &made, cases[c].correct, &anew);
        assert_true(sk_views_kept(b.views) && !sk_views_kept(made.views));
        sk_trial *r = try_path(&left, &cases[c], 3, 3, l), *other = try_path(&anew, &cases[c], 3, 3, l);
        sk_trial *polished = NULL, *as_well = NULL;
        assert_true(r->held && !other->held);
        check_same(&b, r, other);
        assert_int_equal(sk_try_polish(ctx, left.remains, left.remains, r, &polished), SOCK_OK);
        assert_int_equal(sk_try_polish(ctx, anew.remains, anew.remains, other, &as_well), SOCK_OK);
        assert_true(polished->held && !as_well->held);
        assert_close(polished->score, as_well->score, 1e-6, 1); /* the polish stops where it gains no more */
        sk_trial_free(r), sk_trial_free(other), sk_trial_free(polished), sk_trial_free(as_well);
        clear(&b, &left), clear(&made, &anew);
    }
}

/* Several at once are each as if tried alone, with options of their own. */
static void prop_several_at_once_are_each_alone(void **state)
{
    (void)state;
    static const double l[] = {1, 1e-1, 1e-2};
    for (int kept = 0; kept < 2; kept++) {
        case_left left;
        sk_transitions *cut = case_rows(ctx, 2, true);
        case_cut(ctx, cut, 7);
        case_bench b = case_bench_of(ctx, cut, false, kept ? 0 : 1);
        case_left_new(ctx, &b, true, &left);
        sk_candidate list[] = {candidate_of("affine", true, false), candidate_of("constant", false, false),
                               candidate_of("affine", true, true), candidate_of("gauss:eta=1", false, false)};
        const sk_diffusion_options options[] = {{2, l, 3, 1e-9, true, {false, false}, 0},
                                                {1, l + 1, 1, 1e-9, false, {false, false}, 0},
                                                {2, l, 2, 1e-9, true, {false, false}, 0},
                                                {2, l, 3, 1e-9, true, {false, false}, 0}};
        const sk_candidate *who[] = {&list[0], &list[1], &list[2], &list[3]};
        sk_trial *out[4] = {NULL, NULL, NULL, NULL};
        assert_int_equal(sk_try_diffusions(ctx, left.remains, 4, who, options, out), SOCK_OK);
        for (size_t i = 0; i < 4; i++) {
            sk_trial *alone = NULL;
            assert_non_null(out[i]);
            assert_int_equal(sk_try_diffusion(ctx, left.remains, who[i], &options[i], &alone), SOCK_OK);
            check_same(&b, out[i], alone);
            sk_trial_free(alone), sk_trial_free(out[i]);
            sk_candidate_clear(&list[i]);
        }
        clear(&b, &left);
    }
}

/* A candidate whose features overflow drops out, and the others stay what they are. */
static void test_diffusiontrial__one_without_a_score_drops_out(void **state)
{
    (void)state;
    const double l = 1e-2;
    sk_transitions *rows = case_rows(ctx, 1, false);
    for (size_t i = 0; i < rows->n; i++) rows->y[i] += 1e100, rows->next[i] = rows->y[i] * (1 + 1e-3 * (double)i);
    case_bench b = {.rows = rows, .joined = case_joined(ctx, rows)};
    const sk_view_spec look = case_look(NULL, true);
    b.views = case_views(ctx, rows, &look);
    b.whole = case_views(ctx, b.joined, &look);
    b.v = case_view(ctx, b.whole, 0);
    case_left left;
    case_left_new(ctx, &b, false, &left);
    sk_candidate list[] = {candidate_of("constant", false, false), candidate_of("poly:degree=3", false, false)};
    const sk_candidate *who[] = {&list[0], &list[1]};
    const sk_diffusion_options options[] = {{3, &l, 1, 1e-6, false, {false, false}, 0},
                                            {3, &l, 1, 1e-6, false, {false, false}, 0}};
    sk_trial *out[2] = {NULL, NULL};
    assert_int_equal(sk_try_diffusion(ctx, left.remains, who[1], options, out), SOCK_ENUMERIC);
    assert_null(out[0]);
    sk_begin(ctx);
    assert_int_equal(sk_try_diffusions(ctx, left.remains, 2, who, options, out), SOCK_OK);
    assert_true(out[0] && !out[1]);
    assert_true(isfinite(out[0]->score));
    sk_trial_free(out[0]);
    for (size_t i = 0; i < 2; i++) sk_candidate_clear(&list[i]);
    clear(&b, &left);
}

/* A term of the fit evaluates phi' Q phi, shares multiply it. */
static void test_diffusiontrial__term_is_the_quadratic_form_of_q(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_left left;
        double x[] = {0.4, -0.3, 1.1}, a[9] = {0}, expected[9] = {0}, phi[8];
        case_bench b = bench_of(&cases[c], &left);
        sk_trial *r = try_one(&left, &cases[c], 1e-3);
        sk_diffusion_term *term = NULL;
        size_t d = r->d, order = sk_trial_order(r);
        assert_int_equal(sk_trial_diffusion_term(ctx, r, 1, 0.3, &term), SOCK_OK);
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
                    r->solution[r->size + s * order * order + (row * r->p + u / r->p) * order + col * r->p + u % r->p];
        }
        assert_all_close(d * d, a, expected, 1e-9);
        sk_free(space);
        sk_diffusion_term_free(term);
        sk_trial_free(r);
        clear(&b, &left);
    }
}

/* The score of a polished trial is that of its own Q, and the trial it came from stays what it was. */
static void test_diffusiontrial__polish_scores_what_it_holds(void **state)
{
    (void)state;
    for (size_t c = 2; c < 4; c++) {
        case_left left;
        case_bench b = bench_of(&cases[c], &left);
        sk_trial *r = try_one(&left, &cases[c], 1e-3), *polished = NULL;
        double *cluster = sk_doubles(ctx, b.rows->clusters, 1), *before = sk_doubles(ctx, 4, r->size), moved = 0;
        memcpy(before, r->solution, 4 * r->size * sizeof *before);
        assert_int_equal(sk_try_polish(ctx, left.remains, left.remains, r, &polished), SOCK_OK);
        assert_true(polished->polished && !r->polished);
        assert_memory_equal(before, r->solution, 4 * r->size * sizeof *before);
        for (size_t i = 0; i < 4 * r->size; i++) moved += fabs(polished->solution[i] - before[i]);
        assert_true(moved > 0);
        assert_close(polished->score, slow_score(&b, polished, cluster), 1e-10, 1);
        assert_all_close(b.rows->clusters, polished->cluster, cluster, 1e-10);
        sk_free(cluster), sk_free(before);
        sk_trial_free(polished), sk_trial_free(r);
        clear(&b, &left);
    }
}

/* All of the map; own: of an affine one 1 and x_s, as far as the map weights them. */
static void features_at(const sk_trial *r, bool own, size_t s, const double *x, double *out)
{
    double all[4], weight;
    unsigned power[4];
    size_t count = 0;
    assert_true(r->p <= 4 && r->d <= 4);
    assert_int_equal(sk_features_eval(ctx, r->map, 1, x, own ? all : out, r->p), SOCK_OK);
    for (size_t j = 0; own && j < r->p; j++) {
        unsigned others = 0;
        sk_features_monomial(r->map, j, power, &weight);
        for (size_t k = 0; k < r->d; k++) others += k == s ? 0 : power[k];
        if (!others) out[count++] = all[j];
    }
    assert_int_equal(count, own ? 2 : 0);
}

/* The polish of system s without fold f, from the trial's own Q: the corrected residuals of the training rows; a jitter
 * of 1e-4 (one dimension) or a tenth (several) of the median square; the penalty n lambda / (4 median of w |h a|^2). */
static double *direct_polish(const case_bench *b, const trial_case *c, const sk_trial *r, size_t f, size_t s)
{
    enum { MOST = 60, WIDEST = 2, FEATURES = 3 };
    const sk_view *v = b->v;
    const size_t d = v->d, p = c->own ? 2 : r->p, width = r->diagonal ? 1 : d, order = sk_trial_order(r);
    double phi0[MOST * FEATURES], phi1[MOST * FEATURES], h[MOST], e[MOST * WIDEST], square[MOST] = {0};
    double *z = corrected(v, c, f), *u = NULL, *q = sk_doubles(ctx, order, order);
    size_t n = 0, rank = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (f < r->folds && sk_transitions_fold(b->rows, i) == f) continue;
        features_at(r, c->own, s, v->y + i * d, phi0 + n * p);
        features_at(r, c->own, s, v->next + i * d, phi1 + n * p);
        h[n] = v->h[i];
        for (size_t k = 0; k < width; k++) {
            e[n * width + k] = z[i * d + (r->diagonal ? s : k)];
            square[n] += e[n * width + k] * e[n * width + k] / (double)width;
        }
        n++;
    }
    qsort(square, n, sizeof *square, ascending);
    const double typical = r->diagonal ? v->typical->part[s] : v->typical->size;
    sk_polish_problem problem = {.n = n, .d = width, .p = p, .phi0 = phi0, .phi1 = phi1, .h = h, .e = e};
    problem.eps = (width > 1 ? 0.1 : 1e-4) * square[n / 2];
    problem.mu = (double)n * r->l * r->lambda_scale / (4 * pow(typical / 1.3, 2));
    const double *from = r->solution + f * r->size + s * order * order;
    assert_int_equal(sk_leading_factor(ctx, order, from, 8, 1e-6, &u, &rank), SOCK_OK);
    assert_int_equal(sk_polish(ctx, &problem, rank, u, 60, NULL, NULL), SOCK_OK);
    for (size_t k = 0; k < order * order; k++)
        for (size_t j = 0; j < rank; j++) q[k] += u[k / order * rank + j] * u[k % order * rank + j];
    sk_free(z), sk_free(u);
    return q;
}

static void prop_polish_is_that_of_the_training_rows(void **state)
{
    (void)state;
    static const trial_case some[] = {{1, false, true, true, "affine", false},
                                      {2, false, false, true, "linear", false},
                                      {2, true, false, false, "affine", false},
                                      {2, true, false, true, "affine", true}};
    for (size_t c = 0; c < 4; c++) {
        case_left left;
        case_bench b = bench_of(&some[c], &left);
        sk_trial *r = try_one(&left, &some[c], 1e-2), *polished = NULL;
        const size_t order2 = sk_trial_order(r) * sk_trial_order(r);
        assert_int_equal(sk_try_polish(ctx, left.remains, left.remains, r, &polished), SOCK_OK);
        for (size_t f = 0; f <= r->folds; f++)
            for (size_t s = 0; s < sk_trial_systems(r); s++) {
                double *q = direct_polish(&b, &some[c], r, f, s);
                assert_all_close(order2, polished->solution + f * r->size + s * order2, q, 1e-6);
                sk_free(q);
            }
        sk_trial_free(polished), sk_trial_free(r);
        clear(&b, &left);
    }
}

/* Polished on some of the rows, judged on all: Q is that of the few, the score that of all. */
static void test_diffusiontrial__polish_on_some_rows_is_judged_on_all(void **state)
{
    (void)state;
    const trial_case *c = &cases[0];
    case_left left, some;
    case_bench b = bench_of(c, &left);
    size_t keep[30];
    sk_transitions *few = NULL;
    for (size_t i = 0; i < 30; i++) keep[i] = 2 * i;
    assert_int_equal(sk_transitions_subset(ctx, b.rows, 30, keep, &few), SOCK_OK);
    case_bench half = case_bench_of(ctx, few, c->diagonal, 0);
    case_left_new(ctx, &half, c->correct, &some);
    sk_trial *r = try_one(&left, c, 1e-3), *polished = NULL, *there = NULL;
    double *cluster = sk_doubles(ctx, b.rows->clusters, 1);
    assert_int_equal(sk_try_polish(ctx, some.remains, left.remains, r, &polished), SOCK_OK);
    assert_int_equal(sk_try_polish(ctx, some.remains, some.remains, r, &there), SOCK_OK);
    assert_memory_equal(polished->solution, there->solution, 4 * r->size * sizeof(double));
    assert_close(polished->score, slow_score(&b, polished, cluster), 1e-10, 1);
    memset(cluster, 0, b.rows->clusters * sizeof *cluster);
    assert_close(there->score, slow_score(&half, there, cluster), 1e-10, 1);
    sk_free(cluster);
    sk_trial_free(r), sk_trial_free(polished), sk_trial_free(there);
    clear(&half, &some), clear(&b, &left);
}

/* Certificates of the fits to all rows, added up over the components. */
static void prop_bounds_are_those_of_the_fits_to_all_rows(void **state)
{
    (void)state;
    static const double l = 1e-2;
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        case_bench b = case_bench_new(ctx, 2, diagonal, true);
        case_left left;
        case_left_new(ctx, &b, true, &left);
        sk_candidate candidate = candidate_of("affine", diagonal, false);
        const sk_diffusion_options options = {2, &l, 1, 1e-9, true, {false, false}, 0};
        sk_trial *r = NULL;
        assert_true(sk_try_diffusion(ctx, left.remains, &candidate, &options, &r) >= 0);
        sk_diffusion_sums *sums = NULL;
        sk_view like = *b.v;
        like.folds = b.rows->folds;
        assert_int_equal(sk_diffusion_sums_new(ctx, r->map, &like, diagonal, 2, &sums), SOCK_OK);
        for (size_t block = 0; block < b.rows->blocks; block++) {
            sk_block taken;
            assert_int_equal(sk_remains_take(ctx, left.remains, block, &taken), SOCK_OK);
            assert_int_equal(sk_diffusion_sums_add(ctx, sums, &taken), SOCK_OK);
            sk_remains_give(left.remains, &taken);
        }
        sk_diffusion_sums_close(sums);
        double primal = 0, dual = 0, gap = 0, worst = 0, q[36];
        for (size_t s = 0; s < sk_trial_systems(r); s++) {
            sk_diffusion_path *path = NULL;
            assert_int_equal(sk_diffusion_path_new(ctx, sums, 2, s, false, &path), SOCK_OK);
            assert_true(sk_diffusion_path_solve(ctx, path, l, 1e-9, q) >= 0);
            const sk_psd_bounds bounds = sk_diffusion_path_bounds(path);
            primal += bounds.primal, dual += bounds.dual, gap += bounds.gap;
            worst = fmax(worst, bounds.gap / bounds.primal);
            sk_diffusion_path_free(path);
        }
        assert_close(r->whole.primal, primal, 1e-9, 0);
        assert_close(r->whole.dual, dual, 1e-9, 0);
        assert_close(r->whole.gap, gap, 1e-3, 1e-9 * primal);
        assert_close(r->gap, worst, 1e-3, 1e-9);
        assert_true(r->converged);
        sk_diffusion_sums_free(sums);
        sk_trial_free(r);
        sk_candidate_clear(&candidate);
        clear(&b, &left);
    }
}

typedef struct trying {
    const case_left *left;
    const sk_candidate *candidate;
    bool several;
} trying;

static sock_status try_once(sock_context *c, void *arg)
{
    const trying *t = arg;
    const double l[] = {1e-1, 1e-3};
    const sk_remains *remains = t->left->remains;
    sk_diffusion_options options = {3, l, 2, 1e-6, true, {false, false}, 0};
    sk_diffusion_term *term = NULL;
    sk_trial *r = NULL, *polished = NULL;
    sock_status status = t->several ? sk_try_diffusions(c, remains, 1, &t->candidate, &options, &r)
                                    : sk_try_diffusion(c, remains, t->candidate, &options, &r);
    if (status >= 0) status = sk_try_polish(c, remains, remains, r, &polished);
    if (status >= 0) status = sk_trial_diffusion_term(c, polished, 1, 0.5, &term);
    sk_diffusion_term_free(term);
    sk_trial_free(r);
    sk_trial_free(polished);
    return status;
}

static void test_diffusiontrial__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    for (int learned = 0; learned < 2; learned++)
        for (int kept = 0; kept < 2; kept++) {
            case_left left;
            case_bench b = case_bench_of(ctx, case_rows(ctx, 1, false), false, kept ? 0 : 1);
            case_left_new(ctx, &b, true, &left);
            sk_candidate candidate = candidate_of("affine", false, learned);
            assert_true(for_single_allocations(ctx, try_once, &(trying){&left, &candidate, !kept}) > 100);
            sk_candidate_clear(&candidate);
            clear(&b, &left);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_q_without_a_fold_is_that_of_the_training_rows),
        cmocka_unit_test(prop_score_is_that_of_held_out_rows),
        cmocka_unit_test(prop_path_ends_at_its_best_penalty),
        cmocka_unit_test(prop_bounds_are_those_of_the_fits_to_all_rows),
        cmocka_unit_test(test_diffusiontrial__of_one_fold_judges_that_one),
        cmocka_unit_test(prop_trial_is_the_same_for_any_views),
        cmocka_unit_test(prop_several_at_once_are_each_alone),
        cmocka_unit_test(test_diffusiontrial__one_without_a_score_drops_out),
        cmocka_unit_test(test_diffusiontrial__term_is_the_quadratic_form_of_q),
        cmocka_unit_test(test_diffusiontrial__polish_scores_what_it_holds),
        cmocka_unit_test(prop_polish_is_that_of_the_training_rows),
        cmocka_unit_test(test_diffusiontrial__polish_on_some_rows_is_judged_on_all),
        cmocka_unit_test(test_diffusiontrial__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
