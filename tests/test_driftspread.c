/* test_driftspread.c - the covariance of a drift's weights against slow loops over the rows, and in the cases where it
 * is known: one weight, learned weights. */
#include "drift/driftspread.h"
#include "drift/sparsebayes.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

enum { P = 3 };

/* tolerance: absolute. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g is not %.17g", value, expected);
}

typedef struct spread_case {
    size_t d;
    sk_coupling coupling;
    bool diagonal;
} spread_case;

static const spread_case cases[] = {
    {1, SK_JOINT, true}, {2, SK_JOINT, false}, {2, SK_APART, true}, {3, SK_SHARED, false}, {3, SK_JOINT, true}};
enum { CASES = sizeof cases / sizeof *cases };

static double *some_psi(size_t n)
{
    double *psi = sk_doubles(ctx, n, P);
    sk_normals((sk_key){23, SK_PURPOSE_TEST}, 0, 0, 0, n * P, psi);
    for (size_t i = 0; i < n; i++) psi[i * P] += 1;
    return psi;
}

static sk_drift_spread *spread_of(const case_bench *b, const spread_case *c, const double *psi)
{
    sk_drift_spread *s = NULL;
    assert_int_equal(sk_drift_spread_new(ctx, P, c->d, c->coupling, &s), SOCK_OK);
    for (size_t block = 0; block < b->rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b->views, block);
        assert_int_equal(sk_drift_spread_add(ctx, s, v, psi + v->begin * P), SOCK_OK);
        sk_views_give(b->views, v);
    }
    return s;
}

/* P_kl of row i: whole, of the component's own variance, or of the mean one. */
static double weight(const case_bench *b, const spread_case *c, size_t i, size_t k, size_t l)
{
    const sk_view *v = b->v;
    double mean = 0;
    if (c->coupling == SK_JOINT) return v->precision[(i * c->d + k) * c->d + l];
    for (size_t m = 0; m < c->d; m++) mean += v->part[i * c->d + m] / (double)c->d;
    if (c->coupling == SK_APART) mean = v->part[i * c->d + k];
    return k == l ? 1 / (mean + 0.1 * v->typical->mean) : 0;
}

/* The order of all weights, component after component; those of two components that are fitted apart have no
 * covariance. */
static void slow_sums(const case_bench *b, const spread_case *c, const double *psi, double *h, double *g)
{
    const size_t d = c->d, order = P * d;
    for (size_t i = 0; i < b->v->n; i++)
        for (size_t u = 0; u < order; u++)
            for (size_t w = 0; w < order; w++) {
                const size_t k = u / P, l = w / P;
                const double both = psi[i * P + u % P] * psi[i * P + w % P];
                if (c->coupling != SK_JOINT && k != l) continue;
                h[u * order + w] += both * weight(b, c, i, k, l);
                for (size_t m = 0; m < d * d; m++)
                    g[u * order + w] +=
                        both * weight(b, c, i, k, m / d) * b->v->integral[i * d * d + m] * weight(b, c, i, m % d, l);
            }
}

/* T = S (G + Lambda) S with S by elimination, column by column. */
static void slow_covariance(size_t n, double *h, double *g, const double *lambda, double *t)
{
    size_t *pivot = sk_alloc(ctx, n, sizeof *pivot);
    double *column = sk_doubles(ctx, n, 1);
    for (size_t i = 0; i < n; i++) {
        h[i * n + i] += lambda[i];
        g[i * n + i] += lambda[i];
    }
    assert_true(sk_eliminate(n, 0, h, pivot));
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) column[i] = i == j;
        sk_unwind(n, h, pivot, column); /* column j of S */
        for (size_t i = 0; i < n; i++) t[i * n + j] = sk_dot(n, g + i * n, column);
        for (size_t i = 0; i < n; i++) column[i] = t[i * n + j];
        sk_unwind(n, h, pivot, column);
        for (size_t i = 0; i < n; i++) t[i * n + j] = column[i];
    }
    sk_free(column);
    sk_free(pivot);
}

/* Covariance of two weights, each by its place component after component. */
static double covariance(const sk_factor *f, size_t d, size_t u, size_t w)
{
    size_t i = 0, j = 0;
    while (f->entry[i] != u % P * d + u / P) i++;
    while (f->entry[j] != w % P * d + w / P) j++;
    return f->group[i] == f->group[j] ? sk_dot(f->rank, f->value + i * f->rank, f->value + j * f->rank) : 0;
}

static void prop_factor_is_the_covariance_of_the_weights(void **state)
{
    (void)state;
    for (size_t at = 0; at < CASES; at++) {
        const spread_case *c = &cases[at];
        const size_t order = P * c->d;
        sk_transitions *rows = case_rows(ctx, c->d, true);
        case_cut(ctx, rows, 7);
        case_bench b = case_bench_of(ctx, rows, c->diagonal, 0);
        double *psi = some_psi(b.rows->n), *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, order);
        double *t = sk_doubles(ctx, order, order), *lambda = sk_doubles(ctx, order, 1);
        sk_drift_spread *s = spread_of(&b, c, psi);
        sk_factor *f = NULL;
        for (size_t i = 0; i < order; i++) lambda[i] = 3 + (double)i;
        slow_sums(&b, c, psi, h, g);
        slow_covariance(order, h, g, lambda, t);
        assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
        assert_int_equal(f->count, order);
        for (size_t u = 0; u < order; u++)
            for (size_t w = 0; w < order; w++)
                assert_near(covariance(f, c->d, u, w), t[u * order + w],
                            1e-10 * sqrt(t[u * (order + 1)] * t[w * (order + 1)]));
        sk_factor_free(f);
        sk_drift_spread_free(s);
        sk_free(psi), sk_free(h), sk_free(g), sk_free(t), sk_free(lambda);
        case_bench_clear(&b);
    }
}

/* A weight that is held at 0 does not move, and the others are those of the system without it. */
static void prop_infinite_precision_is_no_feature(void **state)
{
    (void)state;
    const spread_case *c = &cases[0];
    case_bench b = case_bench_new(ctx, 1, true, true);
    double *psi = some_psi(b.rows->n), h[4] = {0}, g[4] = {0}, t[4], lambda[P] = {2, INFINITY, 5}, two[2] = {2, 5};
    double all_h[9] = {0}, all_g[9] = {0};
    sk_drift_spread *s = spread_of(&b, c, psi);
    sk_factor *f = NULL;
    slow_sums(&b, c, psi, all_h, all_g);
    for (size_t i = 0; i < 4; i++) {
        h[i] = all_h[i / 2 * 6 + i % 2 * 2];
        g[i] = all_g[i / 2 * 6 + i % 2 * 2];
    }
    slow_covariance(2, h, g, two, t);
    assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
    assert_int_equal(f->count, 2);
    assert_near(covariance(f, 1, 0, 0), t[0], 1e-12 * t[0]);
    assert_near(covariance(f, 1, 0, 2), t[1], 1e-12 * sqrt(t[0] * t[3]));
    assert_near(covariance(f, 1, 2, 2), t[3], 1e-12 * t[3]);
    sk_factor_free(f);
    sk_drift_spread_free(s);
    sk_free(psi);
    case_bench_clear(&b);
}

/* What the rows say of every weight beside w (P x d), component after component: sum psi (P (t - Psi w)). */
static void slow_pull(const case_bench *b, const spread_case *c, const double *psi, const double *w, double *pull)
{
    const size_t d = c->d;
    for (size_t i = 0; i < b->v->n; i++)
        for (size_t l = 0; l < d; l++) {
            double left = b->v->t[i * d + l];
            for (size_t j = 0; j < P; j++) left -= psi[i * P + j] * w[j * d + l];
            for (size_t u = 0; u < P * d; u++)
                if (c->coupling == SK_JOINT || u / P == l)
                    pull[u] += psi[i * P + u % P] * weight(b, c, i, u / P, l) * left;
        }
}

/* A weight that is 0 and asked: no prior, and the move delta = S pull to where the rows have it counts once. */
static void prop_a_weight_that_is_asked_counts_with_its_move(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const spread_case *c = &cases[i];
        const size_t d = c->d, order = P * d, asked = 1;
        case_bench b = case_bench_new(ctx, d, c->diagonal, true);
        double *psi = some_psi(b.rows->n), *w = sk_doubles(ctx, P, d), *lambda = sk_doubles(ctx, P, d);
        double *h = sk_doubles(ctx, order, order), *g = sk_doubles(ctx, order, order),
               *s = sk_doubles(ctx, order, order);
        double *t = sk_doubles(ctx, order, order), *delta = sk_doubles(ctx, order, 1);
        size_t *pivot = sk_alloc(ctx, order, sizeof *pivot);
        bool counts[3] = {true, false, true};
        for (size_t k = 0; k < d; k++) w[k] = 0.3 + (double)k;
        for (size_t u = 0; u < order; u++) lambda[u] = u % P == asked ? (counts[u / P] ? 0 : INFINITY) : 2;
        slow_sums(&b, c, psi, h, g);
        slow_pull(&b, c, psi, w, delta);
        for (size_t u = 0; u < order; u++) {
            if (u % P != asked || !counts[u / P]) delta[u] = 0;
            for (size_t v = 0; v < order; v++) {
                const bool out = isinf(lambda[u]) || isinf(lambda[v]);
                h[u * order + v] = out ? u == v : h[u * order + v];
                g[u * order + v] = out ? 0 : g[u * order + v];
                s[u * order + v] = h[u * order + v] + (u == v && !isinf(lambda[u]) ? lambda[u] : 0);
            }
        }
        assert_true(sk_eliminate(order, 0, s, pivot));
        sk_unwind(order, s, pivot, delta);
        for (size_t u = 0; u < order; u++) s[u] = isinf(lambda[u]) ? 0 : lambda[u];
        slow_covariance(order, h, g, s, t);

        sk_drift_spread *spread = NULL;
        sk_factor *f = NULL;
        assert_int_equal(sk_drift_spread_new(ctx, P, d, c->coupling, &spread), SOCK_OK);
        assert_int_equal(sk_drift_spread_ask(ctx, spread, asked, counts, w), SOCK_OK);
        for (size_t block = 0; block < b.rows->blocks; block++) {
            const sk_view *v = case_view(ctx, b.views, block);
            assert_int_equal(sk_drift_spread_add(ctx, spread, v, psi + v->begin * P), SOCK_OK);
            sk_views_give(b.views, v);
        }
        assert_int_equal(sk_drift_spread_factor(ctx, spread, lambda, &f), SOCK_OK);
        for (size_t u = 0; u < order; u++)
            for (size_t v = 0; v < order; v++) {
                if (isinf(lambda[u]) || isinf(lambda[v]) || (c->coupling != SK_JOINT && u / P != v / P)) continue;
                const double size =
                    sqrt((t[u * order + u] + delta[u] * delta[u]) * (t[v * order + v] + delta[v] * delta[v]));
                assert_near(covariance(f, d, u, v), t[u * order + v] + delta[u] * delta[v], 1e-9 * size);
            }
        sk_factor_free(f);
        sk_drift_spread_free(spread);
        sk_free(psi), sk_free(w), sk_free(lambda), sk_free(h), sk_free(g), sk_free(s), sk_free(t), sk_free(delta);
        sk_free(pivot);
        case_bench_clear(&b);
    }
}

/* dx = -x dt + dW seen with its own precisions: S = 1 / sum h^2 x^2 P, and that is T where the noise is what P says. */
static void test_driftspread__of_one_weight_is_the_inverse_of_its_information(void **state)
{
    (void)state;
    sock_data *data = case_data(ctx, 200, 1, 20, 5);
    case_bench b = case_bench_of(ctx, case_transitions(ctx, data, 4, 4), true, 0);
    double *psi = sk_doubles(ctx, b.rows->n, P), sum = 0;
    const double lambda[P] = {1e-300, INFINITY, INFINITY};
    for (size_t i = 0; i < b.rows->n; i++) {
        psi[i * P] = b.rows->h[i] * b.rows->y[i];
        sum += psi[i * P] * psi[i * P] * b.v->precision[i];
    }
    sk_drift_spread *s = spread_of(&b, &cases[0], psi);
    sk_factor *f = NULL;
    memcpy(s->g, s->h, P * P * sizeof *s->g);
    assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
    assert_int_equal(f->count, 1);
    assert_near(f->value[0] * f->value[0], 1 / sum, 1e-10 / sum);
    sk_factor_free(f);
    sk_drift_spread_free(s);
    sk_free(psi);
    case_bench_clear(&b);
    sock_data_free(data);
}

static void test_driftspread__of_learned_weights_is_the_posterior_covariance(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 1, true, true);
    double *psi = some_psi(b.rows->n), g[P] = {4000, 0, 2500}, lambda[P];
    sk_drift_spread *s = spread_of(&b, &cases[0], psi);
    sk_sparse_bayes *fit = NULL;
    sk_factor *f = NULL;
    sk_symmetrise(P, s->h, P);
    memcpy(s->g, s->h, P * P * sizeof *s->g);
    assert_int_equal(sk_sparse_bayes_fit(ctx, P, s->h, P, g, 1, 0, &fit), SOCK_OK);
    assert_true(fit->active >= 2);
    for (size_t i = 0; i < P; i++) lambda[i] = INFINITY;
    for (size_t i = 0; i < fit->active; i++) lambda[fit->index[i]] = fit->alpha[i];
    assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
    assert_int_equal(f->count, fit->active);
    for (size_t i = 0; i < fit->active; i++)
        for (size_t j = 0; j < fit->active; j++)
            assert_near(covariance(f, 1, fit->index[i], fit->index[j]), fit->covariance[i * fit->active + j],
                        1e-12 * fit->covariance[i * (fit->active + 1)]);
    sk_factor_free(f);
    sk_sparse_bayes_free(fit);
    sk_drift_spread_free(s);
    sk_free(psi);
    case_bench_clear(&b);
}

/* alpha = 1 / (w^2 + S_jj): held by what is answered, for every coupling. */
static void prop_learned_precisions_solve_their_equation(void **state)
{
    (void)state;
    for (size_t at = 0; at < CASES; at++) {
        const spread_case *c = &cases[at];
        const size_t order = P * c->d;
        case_bench b = case_bench_new(ctx, c->d, c->diagonal, true);
        double *psi = some_psi(b.rows->n), w[3 * P], lambda[3 * P];
        sk_drift_spread *s = spread_of(&b, c, psi);
        sk_factor *f = NULL;
        for (size_t i = 0; i < order; i++) w[i] = i % 4 == 1 ? 0 : 0.7 - 0.2 * (double)i;
        assert_int_equal(sk_drift_spread_learned(ctx, s, w, lambda), SOCK_OK);
        memcpy(s->g, s->h, s->systems * s->order * s->order * sizeof *s->g);
        assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
        for (size_t u = 0; u < order; u++) {
            const double weight = w[u % P * c->d + u / P];
            assert_int_equal(isinf(lambda[u]) != 0, weight == 0);
            if (weight != 0) assert_near(lambda[u] * (weight * weight + covariance(f, c->d, u, u)), 1, 1e-6);
        }
        sk_factor_free(f);
        sk_drift_spread_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

/* With the features alone that have a weight the law is that of the whole system: of a component with two, with one and
 * with none. */
static void prop_features_without_a_weight_may_be_left_out(void **state)
{
    (void)state;
    const spread_case *c = &(spread_case){3, SK_APART, true};
    const double w[3 * P] = {0.5, 0, 0, 0, -2, 0, 0.3, 0, 0}; /* P x d */
    case_bench b = case_bench_new(ctx, 3, true, true);
    double *psi = some_psi(b.rows->n), lambda[3 * P], listed[3 * P];
    sk_drift_spread *s = spread_of(&b, c, psi), *few = NULL;
    sk_factor *f = NULL, *g = NULL;
    assert_int_equal(sk_drift_spread_listed(ctx, P, 3, w, &few), SOCK_OK);
    assert_int_equal(few->order, 2);
    for (size_t block = 0; block < b.rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b.views, block);
        assert_int_equal(sk_drift_spread_add(ctx, few, v, psi + v->begin * P), SOCK_OK);
        sk_views_give(b.views, v);
    }
    assert_int_equal(sk_drift_spread_learned(ctx, s, w, lambda), SOCK_OK);
    assert_int_equal(sk_drift_spread_learned(ctx, few, w, listed), SOCK_OK);
    assert_int_equal(sk_drift_spread_factor(ctx, s, lambda, &f), SOCK_OK);
    assert_int_equal(sk_drift_spread_factor(ctx, few, listed, &g), SOCK_OK);
    assert_int_equal(f->count, 3);
    assert_int_equal(g->count, 3);
    static const size_t place[] = {0, 2, 4}; /* component after component */
    for (size_t i = 0; i < 9; i++) {
        const double one = covariance(f, 3, place[i / 3], place[i % 3]);
        assert_near(covariance(g, 3, place[i / 3], place[i % 3]), one, 1e-9 * fmax(fabs(one), 1e-12));
    }
    assert_true(covariance(g, 3, 0, 2) != 0 && covariance(g, 3, 0, 4) == 0);
    sk_factor_free(f), sk_factor_free(g);
    sk_drift_spread_free(s), sk_drift_spread_free(few);
    sk_free(psi);
    case_bench_clear(&b);
}

/* Half of the rows that stand for all have their sums; a ridge is that of the fit. */
static void prop_rows_may_stand_for_more(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 2, false, true);
    double *psi = some_psi(b.rows->n), size = 0, weight = 0;
    sk_drift_spread *s = spread_of(&b, &cases[1], psi);
    const double n = (double)b.rows->n, h = s->h[0], g = s->g[0];
    for (size_t i = 0; i < b.rows->n; i++) {
        size += sk_dot(P, psi + i * P, psi + i * P);
        weight += (b.v->precision[i * 4] + b.v->precision[i * 4 + 3]) / 2;
    }
    assert_near(sk_drift_spread_ridge(s, 0.1), n * 0.1 * (size / n) * (weight / n), 1e-12 * size * weight / n);
    sk_drift_spread_multiply(s, 3);
    assert_near(sk_drift_spread_ridge(s, 0.1), 3 * n * 0.1 * (size / n) * (weight / n), 1e-12 * size * weight / n);
    assert_near(s->h[0], 3 * h, 1e-12 * h);
    assert_near(s->g[0], 3 * g, 1e-12 * g);
    sk_drift_spread_free(s);
    sk_free(psi);
    case_bench_clear(&b);
}

typedef struct trying {
    const case_bench *b;
    const double *psi;
    bool listed;
} trying;

static sock_status spread_once(sock_context *c, void *arg)
{
    const trying *t = arg;
    static const double w[2 * P] = {1, 2, 0, 1, 3, 1};
    double lambda[2 * P];
    sk_drift_spread *s = NULL;
    sk_factor *f = NULL;
    sock_status status =
        t->listed ? sk_drift_spread_listed(c, P, 2, w, &s) : sk_drift_spread_new(c, P, 2, SK_APART, &s);
    if (status >= 0) status = sk_drift_spread_add(c, s, t->b->v, t->psi);
    if (status >= 0) status = sk_drift_spread_learned(c, s, w, lambda);
    if (status >= 0) status = sk_drift_spread_factor(c, s, lambda, &f);
    sk_factor_free(f);
    sk_drift_spread_free(s);
    return status;
}

static void test_driftspread__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    case_bench b = case_bench_new(ctx, 2, true, true);
    double *psi = some_psi(b.rows->n);
    for (int listed = 0; listed < 2; listed++)
        assert_true(for_single_allocations(ctx, spread_once, &(trying){&b, psi, listed}) > 12);
    sk_free(psi);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_factor_is_the_covariance_of_the_weights),
        cmocka_unit_test(prop_infinite_precision_is_no_feature),
        cmocka_unit_test(prop_a_weight_that_is_asked_counts_with_its_move),
        cmocka_unit_test(test_driftspread__of_one_weight_is_the_inverse_of_its_information),
        cmocka_unit_test(test_driftspread__of_learned_weights_is_the_posterior_covariance),
        cmocka_unit_test(prop_learned_precisions_solve_their_equation),
        cmocka_unit_test(prop_features_without_a_weight_may_be_left_out),
        cmocka_unit_test(prop_rows_may_stand_for_more),
        cmocka_unit_test(test_driftspread__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
