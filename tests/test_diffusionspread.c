/* test_diffusionspread.c - the law of V of a diffusion: its information against differences of the log likelihood, and
 * what is known of it: a relative error of sqrt(2 / n), and that columns may be turned. */
#include "diffusion/diffusionspread.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static sk_diffusion_term *term_of(size_t d, const char *kernel, size_t rank, bool diagonal)
{
    sk_kernel *k = case_kernel(ctx, kernel);
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    assert_int_equal(sk_features_new(ctx, "diffusion", k, d, 0, NULL, &term->map), SOCK_OK);
    sk_kernel_free(k);
    term->d = d;
    term->rank = rank;
    const size_t p = sk_features_count(term->map), count = d * p * rank;
    term->v = sk_doubles(ctx, d * p, rank);
    sk_normals((sk_key){31, SK_PURPOSE_TEST}, d, rank, 0, count, term->v);
    if (!diagonal) return term;
    term->owner = sk_alloc(ctx, rank, sizeof *term->owner);
    for (size_t c = 0; c < rank; c++) term->owner[c] = c * d / rank;
    for (size_t i = 0; i < count; i++)
        if (term->owner[i % rank] != i / rank / p) term->v[i] = 0;
    return term;
}

static sk_factor *factor_of(const sk_diffusion_term *term, const sk_view *v, double eps, const double *mu)
{
    sk_diffusion_spread *s = NULL;
    sk_factor *f = NULL;
    assert_int_equal(sk_diffusion_spread_new(ctx, term, 400, &s), SOCK_OK);
    assert_non_null(s);
    assert_int_equal(sk_diffusion_spread_add(ctx, s, v, eps), SOCK_OK);
    assert_int_equal(sk_diffusion_spread_factor(ctx, s, 1, mu, &f), SOCK_OK);
    sk_diffusion_spread_free(s);
    return f;
}

/* a (d x d) of the term at x. */
static void at_point(const sk_diffusion_term *term, const double *x, double *a)
{
    double *space = sk_doubles(ctx, sk_diffusion_term_space(term, 1), 1);
    memset(a, 0, term->d * term->d * sizeof *a);
    sk_diffusion_term_add(ctx, term, 1, x, a, space);
    sk_free(space);
}

/* Variance of a_kl at x: differences of a along every column of the factor, groups apart. */
static double variance(const sk_diffusion_term *term, const sk_factor *f, const double *x, size_t k, size_t l)
{
    const size_t d = term->d, count = d * sk_features_count(term->map) * term->rank;
    double up[9], down[9], sum = 0, *z = sk_doubles(ctx, f->groups, f->rank), *v = term->v;
    double *moved = sk_doubles(ctx, count, 1);
    for (size_t c = 0; c < f->groups * f->rank; c++) {
        for (int side = 0; side < 2; side++) {
            memset(z, 0, f->groups * f->rank * sizeof *z);
            z[c] = side ? -1e-6 : 1e-6;
            memcpy(moved, v, count * sizeof *moved);
            sk_factor_move(f, z, moved);
            const sk_diffusion_term shifted = {d, term->rank, term->map, moved, term->owner};
            at_point(&shifted, x, side ? down : up);
        }
        sum += pow((up[k * d + l] - down[k * d + l]) / 2e-6, 2);
    }
    sk_free(z), sk_free(moved);
    return sum;
}

/* Rows whose C is I a of the term itself, as a view of its own model has it. */
typedef struct own_view {
    sk_view v;
    double *integral;
} own_view;

static own_view view_of(const case_bench *b, const sk_diffusion_term *term)
{
    const size_t d = term->d;
    own_view o = {*b->v, sk_doubles(ctx, b->v->n, d * d)};
    const sk_rule *rule = b->v->rule;
    for (size_t i = 0; i < b->v->n; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            double a[9];
            at_point(term, rule->x + e * d, a);
            for (size_t k = 0; k < d * d; k++) o.integral[i * d * d + k] += rule->weight[e] * a[k];
        }
    o.v.integral = o.integral;
    return o;
}

static case_bench bench(size_t d) { return case_bench_new(ctx, d, false, true); }

/* One unknown: log a is known to sqrt(2 / n), wherever it is asked. */
static void test_diffusionspread__of_one_number_is_two_over_n(void **state)
{
    (void)state;
    for (int linear = 0; linear < 2; linear++) {
        case_bench b = bench(1);
        sk_diffusion_term *term = term_of(1, linear ? "linear" : "constant", 1, false);
        own_view o = view_of(&b, term);
        const double zero = 0;
        sk_factor *f = factor_of(term, &o.v, 1e-12, &zero);
        assert_int_equal(f->count, 1);
        for (double x = -2; x < 3; x += 1.3) {
            double a[1];
            at_point(term, &x, a);
            assert_close(sqrt(variance(term, f, &x, 0, 0)) / a[0], sqrt(2 / (double)b.rows->n), 0.02, 0);
        }
        sk_factor_free(f);
        sk_diffusion_term_free(term);
        sk_free(o.integral);
        case_bench_clear(&b);
    }
}

/* The integrals of da / dV in every row. */
static double *slopes_of(const sk_diffusion_term *term, const sk_rule *rule)
{
    sk_diffusion_spread *s = NULL;
    double *out = sk_doubles(ctx, rule->n, 1);
    assert_int_equal(sk_diffusion_spread_new(ctx, term, 400, &s), SOCK_OK);
    assert_int_equal(sk_diffusion_spread_unknowns(s, 0), 1);
    assert_int_equal(sk_diffusion_spread_slopes(ctx, s, 0, rule, out), SOCK_OK);
    sk_diffusion_spread_free(s);
    return out;
}

/* Nodes with an input beside the state, which a does not depend on: they stand two numbers apart. A step of the wrong
 * length reads inputs as states, and a seems known far too well. */
static void test_diffusionspread__steps_over_the_inputs_of_a_node(void **state)
{
    (void)state;
    case_bench b = bench(1);
    sk_diffusion_term *plain = term_of(1, "linear", 1, false);
    sk_kernel *k = case_kernel(ctx, "linear");
    sk_rule rule = *b.v->rule;
    double v[2] = {plain->v[0], 0}, *x = sk_doubles(ctx, rule.nodes, 2), *without = slopes_of(plain, &rule);
    sk_diffusion_term wide = *plain;
    assert_int_equal(sk_features_new(ctx, "diffusion", k, 2, 0, NULL, &wide.map), SOCK_OK);
    wide.v = v;
    for (size_t e = 0; e < rule.nodes; e++) x[2 * e] = rule.x[e], x[2 * e + 1] = 40 + (double)(e % 7);
    rule.in = 2, rule.x = x;
    double *with = slopes_of(&wide, &rule);
    for (size_t i = 0; i < rule.n; i++) assert_close(with[i], without[i], 1e-12, 1e-14);
    sk_free(with), sk_free(without), sk_free(x);
    sk_features_free(wide.map);
    sk_kernel_free(k);
    sk_diffusion_term_free(plain);
    case_bench_clear(&b);
}

/* C of row i with V moved by `step` in direction u and by `other` in direction w. */
static void covariance(const own_view *o, const sk_diffusion_term *term, size_t i, double *moved, double eps, double *c)
{
    const size_t d = term->d;
    const sk_rule *rule = o->v.rule;
    const sk_diffusion_term shifted = {d, term->rank, term->map, moved, term->owner};
    memset(c, 0, d * d * sizeof *c);
    for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
        double a[9];
        at_point(&shifted, rule->x + e * d, a);
        for (size_t k = 0; k < d * d; k++) c[k] += rule->weight[e] * a[k];
    }
    for (size_t k = 0; k < d; k++) c[k * (d + 1)] += eps;
}

/* Kullback-Leibler divergence of N(0, C1) from N(0, C0), summed over the rows: half the information to second order. */
static double divergence(const own_view *o, const sk_diffusion_term *term, double *moved, double eps)
{
    const size_t d = term->d;
    double sum = 0, c0[9], c1[9];
    for (size_t i = 0; i < o->v.n; i++) {
        covariance(o, term, i, term->v, eps, c0);
        covariance(o, term, i, moved, eps, c1);
        for (size_t k = 0; k < (term->owner ? d : 1); k++) { /* components apart */
            const size_t n = term->owner ? 1 : d;
            double a[9], b[9], x[9] = {0};
            for (size_t u = 0; u < n * n; u++) {
                a[u] = c0[(k + u / n) * d + k + u % n];
                b[u] = c1[(k + u / n) * d + k + u % n];
            }
            for (size_t u = 0; u < n; u++) x[u * (n + 1)] = 1;
            const double log0 = dense_solve(n, a, n, x); /* x = C0^-1 */
            double trace = -(double)n;
            for (size_t u = 0; u < n; u++)
                for (size_t w = 0; w < n; w++) trace += x[u * n + w] * b[w * n + u];
            double y[9] = {0};
            sum += (trace + log0 - dense_solve(n, b, 1, y)) / 2;
        }
    }
    return sum;
}

typedef struct kind {
    size_t d, rank;
    const char *kernel;
    bool diagonal;
    double mu;
} kind;

/* Every column of R moves the sum of the divergence and half the penalty's curvature by a half: R' F R = 1. */
static void prop_factor_inverts_the_information(void **state)
{
    (void)state;
    const kind kinds[] = {{1, 1, "affine", false, 0},  {1, 2, "poly:degree=2", false, 0.7},
                          {2, 2, "affine", false, 0},  {2, 2, "affine", false, 1.5},
                          {2, 2, "affine", true, 0.4}, {3, 3, "constant", false, 0}};
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        const kind *c = &kinds[at];
        case_bench b = bench(c->d);
        sk_diffusion_term *term = term_of(c->d, c->kernel, c->rank, c->diagonal);
        own_view o = view_of(&b, term);
        const size_t p = sk_features_count(term->map), order = c->d * p, r = c->rank;
        const double mu[3] = {c->mu, c->mu, c->mu}, step = 1e-4, eps = 0.05;
        sk_factor *f = factor_of(term, &o.v, eps, mu);
        double *z = sk_doubles(ctx, f->groups, f->rank), *moved = sk_doubles(ctx, order, r);
        assert_true(f->rank > 0);
        for (size_t column = 0; column < f->groups * f->rank; column++) {
            double size = 0, kl = 0, penalty = 0;
            for (size_t i = 0; i < f->count; i++)
                if (f->group[i] == column / f->rank) size += fabs(f->value[i * f->rank + column % f->rank]);
            if (!(size > 0)) continue; /* a shorter system */
            for (int side = -1; side < 2; side += 2) {
                memset(z, 0, f->groups * f->rank * sizeof *z);
                z[column] = side * step;
                memcpy(moved, term->v, order * r * sizeof *moved);
                sk_factor_move(f, z, moved);
                kl += divergence(&o, term, moved, eps) / 2;
            }
            for (size_t i = 0; i < order; i++) /* |dQ|^2, dQ = dV V' + V dV' */
                for (size_t j = 0; j < order; j++) {
                    double dq = 0;
                    for (size_t e = 0; e < r; e++) {
                        dq += (moved[i * r + e] - term->v[i * r + e]) * term->v[j * r + e];
                        dq += (moved[j * r + e] - term->v[j * r + e]) * term->v[i * r + e];
                    }
                    penalty += dq * dq;
                }
            assert_close((2 * kl + 2 * c->mu * penalty) / (step * step), 1, 2e-3, 0);
        }
        sk_free(z), sk_free(moved);
        sk_factor_free(f);
        sk_diffusion_term_free(term);
        sk_free(o.integral);
        case_bench_clear(&b);
    }
}

static void prop_turned_columns_say_the_same(void **state)
{
    (void)state;
    case_bench b = bench(2);
    sk_diffusion_term *term = term_of(2, "affine", 2, false);
    const double zero = 0, x[2] = {0.4, -0.9};
    double before[3];
    sk_factor *f = factor_of(term, b.v, 0.01, &zero);
    for (size_t k = 0; k < 3; k++) before[k] = variance(term, f, x, k > 1, k > 0);
    sk_factor_free(f);
    for (size_t i = 0; i < 6; i++) {
        const double u = term->v[2 * i], w = term->v[2 * i + 1];
        term->v[2 * i] = 0.8 * u - 0.6 * w;
        term->v[2 * i + 1] = 0.6 * u + 0.8 * w;
    }
    f = factor_of(term, b.v, 0.01, &zero);
    for (size_t k = 0; k < 3; k++) assert_close(variance(term, f, x, k > 1, k > 0), before[k], 1e-8, 0);
    sk_factor_free(f);
    sk_diffusion_term_free(term);
    case_bench_clear(&b);
}

/* Features that were learned away and columns that are next to nothing are not moved; a term with too many unknowns has
 * no law. */
static void test_diffusionspread__leaves_out_what_is_not_there(void **state)
{
    (void)state;
    sk_diffusion_term *term = term_of(1, "poly:degree=3", 3, false);
    sk_diffusion_spread *s = NULL;
    case_bench b = bench(1);
    const double zero = 0;
    for (size_t c = 0; c < 3; c++) term->v[3 + c] = 0;         /* feature 1 */
    for (size_t j = 0; j < 4; j++) term->v[3 * j + 2] *= 0.01; /* column 2 */
    sk_factor *f = factor_of(term, b.v, 0.01, &zero);
    assert_int_equal(f->count, 6);
    for (size_t i = 0; i < f->count; i++) assert_true(f->entry[i] / 3 != 1 && f->entry[i] % 3 != 2);
    sk_factor_free(f);
    assert_int_equal(sk_diffusion_spread_new(ctx, term, 5, &s), SOCK_OK);
    assert_null(s);
    assert_int_equal(sk_diffusion_spread_new(ctx, term, 6, &s), SOCK_OK);
    assert_int_equal(sk_diffusion_spread_systems(s), 1);
    sk_diffusion_spread_free(s);
    sk_diffusion_term_free(term);
    case_bench_clear(&b);
}

/* Blocks add up, and rows may stand for more. */
static void prop_rows_add_up(void **state)
{
    (void)state;
    case_bench b = bench(2);
    sk_diffusion_term *term = term_of(2, "affine", 1, false);
    sk_diffusion_spread *s = NULL;
    sk_factor *half = NULL;
    const double zero = 0, x[2] = {0.3, 0.8};
    sk_factor *f = factor_of(term, b.v, 0.02, &zero);
    assert_int_equal(sk_diffusion_spread_new(ctx, term, 400, &s), SOCK_OK);
    for (size_t block = 0; block < b.rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b.views, block);
        assert_int_equal(sk_diffusion_spread_add(ctx, s, v, 0.02), SOCK_OK);
        sk_views_give(b.views, v);
    }
    assert_int_equal(sk_diffusion_spread_factor(ctx, s, 4, &zero, &half), SOCK_OK);
    assert_close(4 * variance(term, half, x, 0, 0), variance(term, f, x, 0, 0), 1e-6, 0);
    sk_diffusion_spread_free(s);
    sk_factor_free(f), sk_factor_free(half);
    sk_diffusion_term_free(term);
    case_bench_clear(&b);
}

/* Rows that have a share more than I a make a larger by that share at every point, in both ways to fit; few rows may
 * stand for many. */
static void prop_a_surplus_counts_as_an_error(void **state)
{
    (void)state;
    const kind kinds[] = {{1, 2, "affine", false, 0}, {2, 2, "affine", false, 0}, {2, 4, "affine", true, 0}};
    const double share = 0.3, x[2] = {0.4, -0.7}, zero[2] = {0, 0};
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        const size_t d = kinds[at].d;
        case_bench b = bench(d);
        sk_diffusion_term *term = term_of(d, kinds[at].kernel, kinds[at].rank, kinds[at].diagonal);
        own_view o = view_of(&b, term);
        double a[9], *surplus = sk_doubles(ctx, b.v->n, d * d);
        for (size_t i = 0; i < b.v->n * d * d; i++) surplus[i] = share / 2 * o.integral[i];
        at_point(term, x, a);
        for (int squares = 0; squares < 2; squares++) {
            sk_factor *f[2] = {NULL, NULL};
            for (int with = 0; with < 2; with++) {
                sk_diffusion_spread *s = NULL;
                assert_int_equal(sk_diffusion_spread_new(ctx, term, 400, &s), SOCK_OK);
                if (squares) {
                    assert_int_equal(
                        sk_diffusion_spread_add_squares(ctx, s, b.v->rule, o.integral, with ? surplus : NULL, 2),
                        SOCK_OK);
                    assert_int_equal(sk_diffusion_spread_square_factor(ctx, s, 1, 0, &f[with]), SOCK_OK);
                } else {
                    assert_int_equal(sk_diffusion_spread_add(ctx, s, &o.v, 1e-10), SOCK_OK);
                    if (with) assert_int_equal(sk_diffusion_spread_surplus(ctx, s, &o.v, 1e-10, surplus, 2), SOCK_OK);
                    assert_int_equal(sk_diffusion_spread_factor(ctx, s, 1, zero, &f[with]), SOCK_OK);
                }
                sk_diffusion_spread_free(s);
            }
            for (size_t k = 0; k < d; k++)
                assert_close(variance(term, f[1], x, k, k) - variance(term, f[0], x, k, k),
                             pow(share * a[k * (d + 1)], 2), 1e-4, 0);
            sk_factor_free(f[0]), sk_factor_free(f[1]);
        }
        sk_free(surplus);
        sk_free(o.integral);
        sk_diffusion_term_free(term);
        case_bench_clear(&b);
    }
}

/* The integral of a (d x d) over row i with the numbers v. */
static void integral(const sk_diffusion_term *term, const sk_rule *rule, size_t i, double *v, double *out)
{
    const size_t d = term->d;
    const sk_diffusion_term moved = {d, term->rank, term->map, v, term->owner};
    memset(out, 0, d * d * sizeof *out);
    for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
        double a[9];
        at_point(&moved, rule->x + e * d, a);
        for (size_t k = 0; k < d * d; k++) out[k] += rule->weight[e] * a[k];
    }
}

/* Slopes of the integrals are differences over numbers of V: a is a square of them, so central ones are exact. The
 * unknowns stand in the order of V, those of a diagonal term without the columns of other components. */
static void prop_slopes_are_differences(void **state)
{
    (void)state;
    const kind kinds[] = {{1, 2, "affine", false, 0}, {2, 2, "affine", false, 0}, {2, 4, "affine", true, 0}};
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        const size_t d = kinds[at].d, rank = kinds[at].rank;
        case_bench b = bench(d);
        sk_diffusion_term *term = term_of(d, kinds[at].kernel, rank, kinds[at].diagonal);
        const sk_rule *rule = b.v->rule;
        const size_t p = sk_features_count(term->map);
        sk_diffusion_spread *s = NULL;
        assert_int_equal(sk_diffusion_spread_new(ctx, term, 400, &s), SOCK_OK);
        assert_int_equal(sk_diffusion_spread_systems(s), term->owner ? d : 1);
        for (size_t system = 0; system < sk_diffusion_spread_systems(s); system++) {
            const size_t q = sk_diffusion_spread_unknowns(s, system);
            assert_int_equal(q, term->owner ? p * rank / d : d * p * rank);
            double *slope = sk_doubles(ctx, rule->n * q, d * d);
            assert_int_equal(sk_diffusion_spread_slopes(ctx, s, system, rule, slope), SOCK_OK);
            for (size_t i = 0; i < rule->n; i += 7)
                for (size_t number = 0, u = 0; number < d * p * rank; number++) {
                    double up[9], down[9];
                    if (term->owner && (term->owner[number % rank] != system || number / rank / p != system)) continue;
                    const double kept = term->v[number];
                    term->v[number] = kept + 0.5, integral(term, rule, i, term->v, up);
                    term->v[number] = kept - 0.5, integral(term, rule, i, term->v, down);
                    term->v[number] = kept;
                    for (size_t k = 0; k < d * d; k++)
                        assert_close(slope[(i * q + u) * d * d + k], up[k] - down[k], 1e-11, 1);
                    u++;
                }
            sk_free(slope);
        }
        sk_diffusion_spread_free(s);
        sk_diffusion_term_free(term);
        case_bench_clear(&b);
    }
}

typedef struct trying {
    const case_bench *b;
    const sk_diffusion_term *term;
} trying;

static sock_status spread_once(sock_context *c, void *arg)
{
    const trying *t = arg;
    const double mu[2] = {1, 1};
    sk_diffusion_spread *s = NULL;
    sk_factor *f = NULL;
    sock_status status = sk_diffusion_spread_new(c, t->term, 400, &s);
    if (status >= 0) status = sk_diffusion_spread_add(c, s, t->b->v, 0.01);
    if (status >= 0) status = sk_diffusion_spread_surplus(c, s, t->b->v, 0.01, t->b->v->integral, 1);
    if (status >= 0) status = sk_diffusion_spread_factor(c, s, 1, mu, &f);
    sk_factor_free(f);
    sk_diffusion_spread_free(s);
    return status;
}

static void test_diffusionspread__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    case_bench b = bench(2);
    sk_diffusion_term *term = term_of(2, "affine", 2, true);
    assert_true(for_single_allocations(ctx, spread_once, &(trying){&b, term}) > 12);
    sk_diffusion_term_free(term);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diffusionspread__of_one_number_is_two_over_n),
        cmocka_unit_test(test_diffusionspread__steps_over_the_inputs_of_a_node),
        cmocka_unit_test(prop_factor_inverts_the_information),
        cmocka_unit_test(prop_turned_columns_say_the_same),
        cmocka_unit_test(test_diffusionspread__leaves_out_what_is_not_there),
        cmocka_unit_test(prop_rows_add_up),
        cmocka_unit_test(prop_slopes_are_differences),
        cmocka_unit_test(prop_a_surplus_counts_as_an_error),
        cmocka_unit_test(test_diffusionspread__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
