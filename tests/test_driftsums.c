/* test_driftsums.c - the sums that a drift is solved from, against slow loops over the rows: by fold, merged, without a
 * fold, and what is solved from them. */
#include "drift/driftsums.h"
#include "drift/sparsebayes.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

enum { P = 4 };

typedef enum look { WEIGHTED, ALIKE, PLAIN } look; /* by precision; all by the same one; views without precisions */

typedef struct sums_case {
    size_t d;
    sk_coupling coupling;
    bool diagonal, always;
    look look;
} sums_case;

static const sums_case cases[] = {
    {1, SK_JOINT, true, false, WEIGHTED}, {1, SK_SHARED, true, true, PLAIN},     {2, SK_JOINT, false, false, WEIGHTED},
    {2, SK_APART, true, true, WEIGHTED},  {2, SK_SHARED, false, true, WEIGHTED}, {3, SK_JOINT, true, true, WEIGHTED},
    {3, SK_APART, false, false, ALIKE},   {2, SK_SHARED, false, false, ALIKE},   {2, SK_SHARED, false, true, PLAIN}};
enum { CASES = sizeof cases / sizeof *cases };

static double *some_psi(size_t n)
{
    double *psi = sk_doubles(ctx, n, P);
    sk_normals((sk_key){17, SK_PURPOSE_TEST}, 0, 0, 0, n * P, psi);
    for (size_t i = 0; i < n; i++) psi[i * P] += 1;
    return psi;
}

static case_bench bench_of(const sums_case *c, size_t most)
{
    sk_transitions *rows = case_rows(ctx, c->d, c->always);
    case_cut(ctx, rows, most);
    return case_bench_of(ctx, rows, c->diagonal, 0);
}

/* As the case wants it seen. */
static sk_view changed(const sk_view *v, const sums_case *c)
{
    sk_view own = *v;
    if (c->look == PLAIN) own.precision = NULL;
    if (c->look == ALIKE) own.spec.weighted = false;
    return own;
}

/* Of the rows of the blocks from .. to-1. */
static sk_drift_sums *add_blocks(const case_bench *b, const sums_case *c, const double *psi, size_t from, size_t to)
{
    sk_drift_sums *sums = NULL;
    assert_int_equal(sk_drift_sums_new(ctx, P, c->d, b->rows->folds, c->coupling, &sums), SOCK_OK);
    for (size_t block = from; block < to; block++) {
        const sk_view *v = case_view(ctx, b->views, block);
        const sk_view own = changed(v, c);
        assert_int_equal(sk_drift_sums_add(ctx, sums, &own, psi + v->begin * P), SOCK_OK);
        sk_views_give(b->views, v);
    }
    return sums;
}

/* P_kl of row i as the header has it: whole, of the component's own variance, or of the mean one. */
static double weight(const case_bench *b, const sums_case *c, size_t i, size_t k, size_t l)
{
    const sk_view *v = b->v;
    const size_t d = c->d;
    double mean = 0;
    if (c->look == PLAIN) return k == l;
    if (c->look == ALIKE || c->coupling == SK_JOINT || d == 1) return v->precision[(i * d + k) * d + l];
    for (size_t m = 0; m < d; m++) mean += v->part[i * d + m] / (double)d;
    if (c->coupling == SK_APART) mean = v->part[i * d + k];
    return k == l ? 1 / (mean + 0.1 * v->typical->mean) : 0;
}

/* Of one system from the rows that `in` says: H (order x order), g (rhs x order). */
static void slow_sums(const case_bench *b, const sums_case *c, const double *psi, const bool *in, size_t system,
                      double *h, double *g)
{
    const size_t d = c->d, order = c->coupling == SK_JOINT || d == 1 ? P * d : P;
    const size_t rhs = c->coupling == SK_SHARED && d > 1 ? d : 1;
    memset(h, 0, order * order * sizeof *h);
    memset(g, 0, rhs * order * sizeof *g);
    for (size_t i = 0; i < b->rows->n; i++)
        for (size_t u = 0; in[i] && u < order; u++) {
            const size_t k = order > P ? u / P : system;
            for (size_t v = 0; v < order; v++)
                h[u * order + v] += weight(b, c, i, k, order > P ? v / P : k) * psi[i * P + u % P] * psi[i * P + v % P];
            for (size_t r = 0; r < rhs; r++)
                for (size_t l = 0; l < d; l++)
                    g[r * order + u] += weight(b, c, i, rhs > 1 ? r : k, l) * psi[i * P + u % P] * b->v->t[i * d + l];
        }
}

/* Of views without precisions the lower triangle is made. */
static void check_square(const sums_case *c, size_t order, const double *h, const double *expected)
{
    double own[144];
    for (size_t k = 0; k < order * order; k++)
        own[k] = c->look == PLAIN && k % order > k / order ? h[k % order * order + k / order] : h[k];
    assert_all_close(order * order, own, expected, 1e-12);
}

/* Which rows are in the sums of part f: a fold, always (folds), all (folds + 1). */
static size_t rows_of(const sk_transitions *rows, size_t f, bool *in)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->n; i++) count += in[i] = f > rows->folds || sk_transitions_fold(rows, i) == f;
    return count;
}

static void prop_sums_are_those_of_the_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_bench b = bench_of(&cases[c], 7);
        double *psi = some_psi(b.rows->n), h[144], g[12];
        bool in[60];
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        const size_t square = s->order * s->order, side = s->order * s->rhs;
        sk_drift_sums_close(s);
        sk_drift_sums_close(s); /* twice is as good as once */
        assert_true(sk_drift_sums_bytes(P, cases[c].d, s->folds, cases[c].coupling) >=
                    8.0 * (double)((s->folds + 2) * s->systems * square));
        for (size_t f = 0; f < s->folds + 2; f++) {
            assert_int_equal(s->rows[f], rows_of(b.rows, f, in));
            for (size_t u = 0; s->rows[f] && u < s->systems; u++) {
                slow_sums(&b, &cases[c], psi, in, u, h, g);
                check_square(&cases[c], s->order, s->h + (f * s->systems + u) * square, h);
                assert_all_close(side, s->g + (f * s->systems + u) * side, g, 1e-12);
            }
        }
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

/* The total less a fold is the sum over the other rows. */
static void prop_subtract_leaves_the_other_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_bench b = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n), h[144], g[12], left_h[144], left_g[12];
        bool in[60];
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums_close(s);
        for (size_t f = 0; f <= s->folds; f++) {
            size_t count = 0;
            for (size_t i = 0; i < b.rows->n; i++)
                count += in[i] = f == s->folds || sk_transitions_fold(b.rows, i) != f;
            for (size_t u = 0; u < s->systems; u++) {
                assert_int_equal(sk_drift_sums_subtract(s, f, u, left_h, left_g), count);
                slow_sums(&b, &cases[c], psi, in, u, h, g);
                check_square(&cases[c], s->order, left_h, h);
                assert_all_close(s->order * s->rhs, left_g, g, 1e-12);
            }
        }
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

static void check_same(const sk_drift_sums *s, const sk_drift_sums *other, double tolerance)
{
    const size_t parts = s->folds ? s->folds + 2 : 1; /* without folds one part is all */
    assert_all_close(parts * s->systems * s->order * s->order, s->h, other->h, tolerance);
    assert_all_close(parts * s->systems * s->order * s->rhs, s->g, other->g, tolerance);
    for (size_t f = 0; f < parts; f++) assert_int_equal(s->rows[f], other->rows[f]);
    assert_close(s->size, other->size, tolerance, 0);
    assert_close(s->weight, other->weight, tolerance, 0);
    assert_close(sk_drift_sums_unit(s), sk_drift_sums_unit(other), tolerance, 0);
}

/* Two halves, and one block against many: the same sums. */
static void prop_merged_sums_are_those_of_all_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        case_bench b = bench_of(&cases[c], 7), large = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n);
        sk_drift_sums *all = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums *one = add_blocks(&b, &cases[c], psi, 0, 4);
        sk_drift_sums *two = add_blocks(&b, &cases[c], psi, 4, b.rows->blocks);
        sk_drift_sums *few = add_blocks(&large, &cases[c], psi, 0, large.rows->blocks);
        sk_drift_sums_merge(one, two);
        sk_drift_sums_close(one), sk_drift_sums_close(all), sk_drift_sums_close(few);
        check_same(one, all, 1e-12);
        check_same(few, all, 1e-12);
        sk_drift_sums_free(all), sk_drift_sums_free(one), sk_drift_sums_free(two), sk_drift_sums_free(few);
        sk_free(psi);
        case_bench_clear(&b), case_bench_clear(&large);
    }
}

/* More rows than are weighted at once, in one block; and rows without folds, of which nothing is subtracted. */
static void prop_long_blocks_add_up_as_short_ones_do(void **state)
{
    (void)state;
    const sums_case c = {2, SK_JOINT, false, false, WEIGHTED};
    sock_data *data = case_data(ctx, 1100, 2, 10, 4);
    sk_transitions *rows = case_transitions(ctx, data, 1, 0), *cut = case_transitions(ctx, data, 1, 0);
    case_cut(ctx, cut, 10);
    case_bench b = case_bench_of(ctx, rows, false, 0), small = case_bench_of(ctx, cut, false, 0);
    double *psi = some_psi(1100);
    sk_drift_sums *one = add_blocks(&b, &c, psi, 0, 1), *many = add_blocks(&small, &c, psi, 0, 110);
    sk_drift_sums_close(one), sk_drift_sums_close(many);
    check_same(one, many, 1e-12);
    double h[64], g[8];
    assert_int_equal(sk_drift_sums_subtract(one, 0, 0, h, g), 1100);
    assert_memory_equal(h, one->h, sizeof h);
    assert_memory_equal(g, one->g, sizeof g);
    sk_drift_sums_free(one), sk_drift_sums_free(many);
    sk_free(psi);
    case_bench_clear(&b), case_bench_clear(&small);
    sock_data_free(data);
}

/* l = 1 is the mean |psi|^2 times the mean weight of a component. */
static double slow_unit(const case_bench *b, const sums_case *c, const double *psi)
{
    double size = 0, mean = 0, n = (double)b->rows->n;
    for (size_t i = 0; i < b->rows->n * P; i++) size += psi[i] * psi[i] / n;
    for (size_t i = 0; i < b->rows->n; i++)
        for (size_t k = 0; k < c->d; k++) mean += weight(b, c, i, k, k) / (n * (double)c->d);
    return size * mean;
}

/* (H + rows l unit) w = g for every system and penalty; dof = tr H (H + rows l unit)^-1, once for each component. */
static void prop_ridge_solves_its_systems(void **state)
{
    (void)state;
    static const double l[] = {1, 1e-3};
    for (size_t c = 0; c < CASES; c++) {
        const size_t d = cases[c].d;
        if (cases[c].look == PLAIN) continue; /* these have no natural unit */
        case_bench b = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n), h[144], copy[144], trace[144], g[12], path[2 * 12], dof[2], w[12];
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums_close(s);
        const double unit = slow_unit(&b, &cases[c], psi);
        assert_close(sk_drift_sums_unit(s), unit, 1e-12, 0);
        for (size_t f = 0; f <= s->folds; f++) {
            double freedom[2] = {0};
            assert_int_equal(sk_drift_sums_ridge(ctx, s, f, 2, l, path, dof), SOCK_OK);
            for (size_t j = 0; j < 2; j++) {
                for (size_t u = 0; u < s->systems; u++) {
                    const double rows = (double)sk_drift_sums_subtract(s, f, u, h, g);
                    memcpy(trace, h, s->order * s->order * sizeof *h);
                    for (size_t i = 0; i < s->order; i++) h[i * s->order + i] += rows * l[j] * unit;
                    memcpy(copy, h, s->order * s->order * sizeof *h);
                    dense_solve(s->order, copy, s->order, trace);
                    for (size_t i = 0; i < s->order; i++) freedom[j] += trace[i * s->order + i] * (double)s->rhs;
                    for (size_t r = 0; r < s->rhs; r++) {
                        memcpy(copy, h, s->order * s->order * sizeof *h);
                        dense_solve(s->order, copy, 1, g + r * s->order);
                        for (size_t i = 0; i < s->order; i++) {
                            const size_t k = s->order > P ? i / P : s->rhs > 1 ? r : u;
                            w[i % P * d + k] = g[r * s->order + i];
                        }
                    }
                }
                assert_all_close(P * d, path + j * P * d, w, 1e-10);
                assert_close(dof[j], freedom[j], 1e-10, 0);
            }
        }
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

/* Learned weights: sparse Bayes on the sums of the training rows, system by system; a feature pays log of their number,
 * at least 3. dof = sum 1 - alpha Sigma_aa. */
static void prop_learned_weights_are_sparse_bayes_of_the_sums(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const size_t d = cases[c].d;
        if (cases[c].coupling == SK_SHARED) continue; /* each component has features of its own */
        case_bench b = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n), h[144], g[12], w[12], found[12];
        for (size_t i = 0; i < b.rows->n * P; i += P) psi[i + 1] += 5 * b.v->t[i / P * d]; /* one that is worth it */
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums_close(s);
        for (size_t f = 0; f <= s->folds; f++) {
            double freedom = 0, dof;
            memset(w, 0, sizeof w);
            for (size_t u = 0; u < s->systems; u++) {
                sk_sparse_bayes *fit = NULL;
                sk_drift_sums_subtract(s, f, u, h, g);
                assert_int_equal(
                    sk_sparse_bayes_fit(ctx, s->order, h, s->order, g, fmax(log((double)s->order), 3), 0, &fit),
                    SOCK_OK);
                for (size_t a = 0; a < fit->active; a++) {
                    const size_t i = fit->index[a];
                    w[i % P * d + (s->systems > 1 ? u : i / P)] = fit->mean[a];
                    freedom += 1 - fit->alpha[a] * fit->covariance[a * fit->active + a];
                }
                sk_sparse_bayes_free(fit);
            }
            assert_int_equal(sk_drift_sums_learned(ctx, s, f, found, &dof), SOCK_OK);
            for (size_t i = 0; i < P * d; i++) assert_close(found[i], w[i], 1e-12, 1);
            assert_close(dof, freedom, 1e-12, 1);
            if (cases[c].look == WEIGHTED) assert_true(freedom > 0.5);
        }
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

/* The number of terms that a way to learn finds in the system of a component, from all rows. */
static size_t terms_by(bool trimmed, const sk_drift_sums *s, size_t u, double *w)
{
    double h[144], g[12];
    sk_sparse_bayes *fit = NULL;
    sk_drift_sums_subtract(s, s->folds, u, h, g);
    const double price = fmax(log((double)s->order), 3);
    if (trimmed)
        assert_int_equal(sk_sparse_bayes_trim(ctx, s->order, h, s->order, g, price, 2, &fit), SOCK_OK);
    else
        assert_int_equal(sk_sparse_bayes_fit(ctx, s->order, h, s->order, g, price, 0, &fit), SOCK_OK);
    const size_t count = fit->active;
    for (size_t a = 0; a < count; a++)
        w[fit->index[a] % P * s->d + (s->systems > 1 ? u : fit->index[a] / P)] = fit->mean[a];
    sk_sparse_bayes_free(fit);
    return count;
}

/* A feature that is nearly the sum of two others comes in first and has nothing to say once these are there: trimmed
 * weights are without it. */
static void test_trimmed_weights_leave_idle_terms_out(void **state)
{
    (void)state;
    size_t shorter = 0;
    for (size_t c = 0; c < CASES; c++) {
        const size_t d = cases[c].d;
        if (cases[c].coupling == SK_SHARED) continue;
        case_bench b = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n), w[12] = {0}, other[12] = {0}, found[12];
        for (size_t i = 0; i < b.rows->n * P; i += P) {
            const double t = b.v->t[i / P * d];
            psi[i] = 10 * t + psi[i];
            psi[i + 1] = 10 * t - psi[i + 1];
            psi[i + 2] = psi[i] + psi[i + 1] + 3 * psi[i + 2];
        }
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums_close(s);
        for (size_t u = 0; u < s->systems; u++) shorter += terms_by(true, s, u, w) < terms_by(false, s, u, other);
        assert_int_equal(sk_drift_sums_trimmed(ctx, s, s->folds, found, NULL), SOCK_OK);
        for (size_t i = 0; i < P * d; i++) assert_close(found[i], w[i], 1e-12, 1);
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
    assert_true(shorter > 0);
}

/* Weights among some terms: the others are 0, and those of the terms leave no slope. */
static void prop_weights_among_terms_solve_their_equations(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const size_t d = cases[c].d;
        case_bench b = bench_of(&cases[c], SK_BLOCK);
        double *psi = some_psi(b.rows->n), h[144], g[36], w[12], like[12];
        sk_drift_sums *s = add_blocks(&b, &cases[c], psi, 0, b.rows->blocks);
        sk_drift_sums_close(s);
        for (size_t i = 0; i < P * d; i++) like[i] = i % 3 == 1 ? 0 : -2;
        for (size_t f = 0; f <= s->folds; f++) {
            assert_int_equal(sk_drift_sums_among(ctx, s, f, like, w), SOCK_OK);
            for (size_t i = 0; i < P * d; i++) assert_true(like[i] != 0 || w[i] == 0);
            for (size_t u = 0; u < s->systems * s->rhs; u++) {
                const size_t system = s->systems > 1 ? u : 0, side = s->systems > 1 ? 0 : u;
                sk_drift_sums_subtract(s, f, system, h, g);
                for (size_t i = 0; i < s->order; i++) {
                    const size_t one = s->order > P ? i / P : u;
                    double slope = -g[side * s->order + i], size = fabs(slope);
                    for (size_t j = 0; j < s->order; j++)
                        slope += h[SK_MAX(i, j) * s->order + SK_MIN(i, j)] * w[j % P * d + (s->order > P ? j / P : u)];
                    if (like[i % P * d + one] != 0) assert_close(slope, 0, 1e-6, size + 1);
                }
            }
        }
        sk_drift_sums_free(s);
        sk_free(psi);
        case_bench_clear(&b);
    }
}

/* Sums over lists are blocks of the sums over all features; weights stand where the features do, and the price of a
 * term is that of all of them. */
static void prop_listed_sums_are_parts_of_all(void **state)
{
    (void)state;
    enum { EACH = 3 };
    static const size_t list[2 * EACH] = {0, 2, 3, 1, 3, SIZE_MAX};
    const sums_case c = {2, SK_APART, true, true, WEIGHTED};
    case_bench b = bench_of(&c, 7);
    double *psi = some_psi(b.rows->n), h[EACH * EACH], g[EACH], all_h[P * P], all_g[P], w[P * 2], dof;
    sk_drift_sums *all = add_blocks(&b, &c, psi, 0, b.rows->blocks), *s = NULL;
    assert_int_equal(sk_drift_sums_listed(ctx, P, 2, b.rows->folds, EACH, list, &s), SOCK_OK);
    for (size_t block = 0; block < b.rows->blocks; block++) {
        const sk_view *v = case_view(ctx, b.views, block);
        assert_int_equal(sk_drift_sums_add(ctx, s, v, psi + v->begin * P), SOCK_OK);
        sk_views_give(b.views, v);
    }
    sk_drift_sums_close(all);
    sk_drift_sums_close(s);
    for (size_t f = 0; f <= b.rows->folds; f++) {
        memset(w, 0, sizeof w);
        assert_int_equal(sk_drift_sums_learned(ctx, s, f, w, &dof), SOCK_OK);
        for (size_t k = 0; k < 2; k++) {
            sk_sparse_bayes *fit = NULL;
            double expected[P] = {0};
            assert_int_equal(sk_drift_sums_subtract(s, f, k, h, g), sk_drift_sums_subtract(all, f, k, all_h, all_g));
            for (size_t i = 0; i < EACH; i++) {
                const size_t u = list[k * EACH + i];
                assert_close(g[i], u < P ? all_g[u] : 0, 1e-12, 1);
                for (size_t j = 0; j < EACH; j++) {
                    const size_t v = list[k * EACH + j];
                    assert_close(h[i * EACH + j], u < P && v < P ? all_h[u * P + v] : 0, 1e-12, 1);
                }
            }
            assert_int_equal(sk_sparse_bayes_fit(ctx, EACH, h, EACH, g, fmax(log(P), 3), 0, &fit), SOCK_OK);
            for (size_t a = 0; a < fit->active; a++) expected[list[k * EACH + fit->index[a]]] = fit->mean[a];
            for (size_t j = 0; j < P; j++) assert_close(w[j * 2 + k], expected[j], 1e-12, 1);
            sk_sparse_bayes_free(fit);
        }
    }
    sk_drift_sums_free(s);
    sk_drift_sums_free(all);
    sk_free(psi);
    case_bench_clear(&b);
}

/* A term that is worth a few nats is bought among four features and not among a thousand. */
static void test_driftsums__listed_terms_pay_as_ones_of_all_do(void **state)
{
    (void)state;
    enum { MANY = 1000, N = 8 };
    static const size_t list[] = {0, SIZE_MAX};
    double t[N], part[N], typical_part = 1, w[MANY] = {0};
    double *psi = sk_doubles(ctx, N, MANY);
    const sk_typical typical = {.mean = 0, .part = &typical_part};
    for (size_t i = 0; i < N; i++) psi[i * MANY] = part[i] = 1, t[i] = 1.3; /* half of 8 1.3^2 is 6.8; less a prior */
    sk_view v = {.n = N, .d = 1, .t = t, .part = part, .precision = t, .typical = &typical};
    v.spec.weighted = true;
    for (int few = 0; few < 2; few++) {
        sk_drift_sums *s = NULL;
        for (size_t i = 0; few && i < N; i++) psi[i * 4] = 1;
        assert_int_equal(sk_drift_sums_listed(ctx, few ? 4 : MANY, 1, 0, 2, list, &s), SOCK_OK);
        assert_int_equal(sk_drift_sums_add(ctx, s, &v, psi), SOCK_OK);
        sk_drift_sums_close(s);
        assert_int_equal(sk_drift_sums_learned(ctx, s, 0, w, NULL), SOCK_OK);
        assert_int_equal(w[0] > 1, few);
        sk_drift_sums_free(s);
    }
    sk_free(psi);
}

typedef struct trying {
    const case_bench *b;
    const double *psi;
    bool learned;
} trying;

static sock_status sum_once(sock_context *c, void *arg)
{
    const trying *t = arg;
    const double l[] = {1, 0.1};
    double path[2 * 8], dof[2];
    sk_drift_sums *s = NULL;
    sock_status status = sk_drift_sums_new(c, P, 2, t->b->rows->folds, SK_JOINT, &s);
    for (size_t block = 0; status >= 0 && block < t->b->rows->blocks; block++) {
        const sk_view *v = NULL;
        status = sk_views_take(c, t->b->views, block, &v);
        if (status >= 0) status = sk_drift_sums_add(c, s, v, t->psi + v->begin * P);
    }
    if (status >= 0) sk_drift_sums_close(s);
    if (status >= 0)
        status = t->learned ? sk_drift_sums_learned(c, s, 0, path, dof) : sk_drift_sums_ridge(c, s, 0, 2, l, path, dof);
    sk_drift_sums_free(s);
    return status;
}

static void test_driftsums__survive_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    case_bench b = bench_of(&cases[2], SK_BLOCK);
    double *psi = some_psi(b.rows->n);
    for (int learned = 0; learned < 2; learned++)
        assert_true(for_single_allocations(ctx, sum_once, &(trying){&b, psi, learned}) > 12);
    sk_free(psi);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_sums_are_those_of_the_rows),
        cmocka_unit_test(prop_subtract_leaves_the_other_rows),
        cmocka_unit_test(prop_merged_sums_are_those_of_all_rows),
        cmocka_unit_test(prop_long_blocks_add_up_as_short_ones_do),
        cmocka_unit_test(prop_ridge_solves_its_systems),
        cmocka_unit_test(prop_learned_weights_are_sparse_bayes_of_the_sums),
        cmocka_unit_test(test_trimmed_weights_leave_idle_terms_out),
        cmocka_unit_test(prop_weights_among_terms_solve_their_equations),
        cmocka_unit_test(prop_listed_sums_are_parts_of_all),
        cmocka_unit_test(test_driftsums__listed_terms_pay_as_ones_of_all_do),
        cmocka_unit_test(test_driftsums__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
