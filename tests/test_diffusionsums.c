/* test_diffusionsums.c - the sums that a diffusion is solved from, against slow loops over the rows: by fold, merged,
 * without a fold, and what is solved from them; and the Gram form of the convex problem against the row form. */
#include "psd/psd.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

typedef struct sums_case {
    size_t d, used;
    bool diagonal, always, weighted;
} sums_case;

static const sums_case cases[] = {{1, 3, false, false, true}, {2, 2, false, true, true},  {2, 3, true, false, true},
                                  {3, 1, true, true, true},   {3, 2, false, false, true}, {2, 1, true, true, false},
                                  {2, 3, false, false, false}};
enum { CASES = sizeof cases / sizeof *cases };

/* The rows, their features, and residuals e without each fold and from all rows, (folds + 1) x n x d. */
typedef struct bench {
    case_bench rows;
    sk_features *map;
    double *e, *phi; /* phi: 2n x p, both ends of every row */
    size_t p, q;
} bench;

static bench bench_of(const sums_case *c, size_t most)
{
    sk_transitions *rows = case_rows(ctx, c->d, c->always);
    case_cut(ctx, rows, most);
    bench b = {.rows = case_bench_of(ctx, rows, c->diagonal, 0)};
    sk_kernel *kernel = case_kernel(ctx, "affine");
    const size_t n = rows->n, d = c->d;
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, d, n, rows->y, &b.map), SOCK_OK);
    sk_kernel_free(kernel);
    b.p = sk_features_count(b.map);
    b.q = b.p * (b.p + 1) / 2;
    b.e = sk_doubles(ctx, rows->folds + 1, n * d);
    b.phi = sk_doubles(ctx, 2 * n, b.p);
    sk_normals((sk_key){23, SK_PURPOSE_TEST}, d, 0, 0, (rows->folds + 1) * n * d, b.e);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sk_features_eval(ctx, b.map, 1, rows->y + i * d, b.phi + 2 * i * b.p, b.p), SOCK_OK);
        assert_int_equal(sk_features_eval(ctx, b.map, 1, rows->next + i * d, b.phi + (2 * i + 1) * b.p, b.p), SOCK_OK);
    }
    return b;
}

static void bench_clear(bench *b)
{
    sk_features_free(b->map);
    sk_free(b->e), sk_free(b->phi);
    case_bench_clear(&b->rows);
}

/* Adds the rows of one block; weighted or not as the case says. */
static sock_status add_block(sock_context *own, const bench *b, const sums_case *c, size_t block, sk_diffusion_sums *s)
{
    const sk_view *v = NULL;
    const size_t d = c->d, n = b->rows.rows->n, folds = b->rows.rows->folds;
    sock_status status = sk_views_take(own, b->rows.views, block, &v);
    if (status < 0) return status;
    sk_view copy = *v;
    double *z = calloc((folds + 1) * v->n * d, sizeof *z);
    for (size_t f = 0; f <= folds; f++) memcpy(z + f * v->n * d, b->e + (f * n + v->begin) * d, v->n * d * sizeof *z);
    copy.spec.weighted = c->weighted;
    status = sk_diffusion_sums_add(own, s, &(sk_block){.view = &copy, .z = z});
    free(z);
    sk_views_give(b->rows.views, v);
    return status;
}

static sk_diffusion_sums *add_blocks(const bench *b, const sums_case *c, size_t from, size_t to)
{
    sk_diffusion_sums *s = NULL;
    const sk_view like = {.d = c->d, .folds = b->rows.rows->folds};
    assert_int_equal(sk_diffusion_sums_new(ctx, b->map, &like, c->diagonal, c->used, &s), SOCK_OK);
    for (size_t block = from; block < to; block++) assert_int_equal(add_block(ctx, b, c, block, s), SOCK_OK);
    return s;
}

/* svec of a symmetric p x p matrix: a < b in column b, times root two. */
static void svec(size_t p, const double *m, double *out)
{
    for (size_t b = 0, j = 0; b < p; b++)
        for (size_t a = 0; a <= b; a++, j++) out[j] = m[a * p + b] * (a < b ? sqrt(2) : 1);
}

/* b of row i: svec of the trapezoid of phi phi'. */
static void slow_row(const bench *b, size_t i, double *out)
{
    double m[16];
    for (size_t u = 0; u < b->p * b->p; u++) {
        m[u] = 0;
        for (size_t end = 2 * i; end < 2 * i + 2; end++)
            m[u] += 0.5 * b->rows.rows->h[i] * b->phi[end * b->p + u / b->p] * b->phi[end * b->p + u % b->p];
    }
    svec(b->p, m, out);
}

/* 1 / (size / typical + 0.3)^2. */
static double slow_weight(const bench *b, const sums_case *c, size_t i, size_t s)
{
    const sk_view *v = b->rows.v;
    const double relative = c->diagonal ? v->part[i * c->d + s] / v->typical->part[s] : v->size[i] / v->typical->size;
    return c->weighted ? pow(relative + 0.3, -2) : 1;
}

/* G of the rows that `in` says. */
static void slow_gram(const bench *b, const sums_case *c, const bool *in, size_t s, double *g)
{
    double row[10];
    memset(g, 0, b->q * b->q * sizeof *g);
    for (size_t i = 0; i < b->rows.rows->n; i++) {
        slow_row(b, i, row);
        for (size_t u = 0; in[i] && u < b->q * b->q; u++)
            g[u] += slow_weight(b, c, i, s) * row[u / b->q] * row[u % b->q];
    }
}

/* c (pairs x q) and zz of the rows that fold f (folds: none) does not hold out, by the residuals without it. */
static double slow_moments(const bench *b, const sums_case *c, size_t f, size_t s, double *moments)
{
    const sk_transitions *rows = b->rows.rows;
    const size_t d = c->d, dim = c->diagonal ? 1 : d, pairs = dim * (dim + 1) / 2;
    double row[10], product[9], z[6], zz = 0;
    memset(moments, 0, pairs * b->q * sizeof *moments);
    for (size_t i = 0; i < rows->n; i++) {
        const double *e = b->e + (f * rows->n + i) * d, w = slow_weight(b, c, i, s);
        if (f < rows->folds && sk_transitions_fold(rows, i) == f) continue;
        for (size_t k = 0; k < dim * dim; k++) product[k] = c->diagonal ? e[s] * e[s] : e[k / d] * e[k % d];
        svec(dim, product, z);
        slow_row(b, i, row);
        for (size_t u = 0; u < pairs; u++) {
            zz += w * z[u] * z[u];
            for (size_t j = 0; j < b->q; j++) moments[u * b->q + j] += w * z[u] * row[j];
        }
    }
    return zz;
}

static void prop_sums_are_those_of_the_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        bench b = bench_of(&cases[c], 7);
        const sk_transitions *rows = b.rows.rows;
        sk_diffusion_sums *s = add_blocks(&b, &cases[c], 0, rows->blocks);
        double g[100], moments[60];
        bool in[60];
        sk_diffusion_sums_close(s);
        sk_diffusion_sums_close(s); /* twice is as good as once */
        assert_true(s->p == b.p && s->q == b.q && s->systems == (cases[c].diagonal ? cases[c].d : 1));
        assert_true(sk_diffusion_sums_bytes(s->p, s->d, s->folds, cases[c].diagonal) >=
                    8.0 * (double)((s->folds + 2) * s->systems * s->q * s->q));
        for (size_t f = 0; f < s->folds + 2; f++) {
            size_t count = 0;
            for (size_t i = 0; i < rows->n; i++) count += in[i] = f > s->folds || sk_transitions_fold(rows, i) == f;
            assert_int_equal(s->rows[f], count);
            for (size_t u = 0; count && u < s->systems; u++) {
                slow_gram(&b, &cases[c], in, u, g);
                assert_all_close(s->q * s->q, s->g + (f * s->systems + u) * s->q * s->q, g, 1e-12);
            }
        }
        for (size_t f = 0; f <= s->used; f++)
            for (size_t u = 0; u < s->systems; u++) {
                const double zz = slow_moments(&b, &cases[c], f < s->used ? f : s->folds, u, moments);
                const size_t size = s->pairs * s->q;
                assert_all_close(size, s->c + (f * s->systems + u) * size, moments, 1e-12);
                assert_close(s->zz[f * s->systems + u], zz, 1e-12, 0);
            }
        sk_diffusion_sums_free(s);
        bench_clear(&b);
    }
}

static void prop_subtract_leaves_the_other_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        bench b = bench_of(&cases[c], SK_BLOCK);
        const sk_transitions *rows = b.rows.rows;
        sk_diffusion_sums *s = add_blocks(&b, &cases[c], 0, rows->blocks);
        double g[100], left[100];
        bool in[60];
        sk_diffusion_sums_close(s);
        for (size_t f = 0; f <= s->folds; f++) {
            size_t count = 0;
            for (size_t i = 0; i < rows->n; i++) count += in[i] = f == s->folds || sk_transitions_fold(rows, i) != f;
            for (size_t u = 0; u < s->systems; u++) {
                assert_int_equal(sk_diffusion_sums_subtract(s, f, u, left), count);
                slow_gram(&b, &cases[c], in, u, g);
                assert_all_close(s->q * s->q, left, g, 1e-12);
            }
        }
        sk_diffusion_sums_free(s);
        bench_clear(&b);
    }
}

static void check_same(const sk_diffusion_sums *s, const sk_diffusion_sums *other)
{
    const size_t parts = s->folds + 2;
    assert_all_close(parts * s->systems * s->q * s->q, s->g, other->g, 1e-12);
    assert_all_close((s->used + 1) * s->systems * s->pairs * s->q, s->c, other->c, 1e-12);
    assert_all_close((s->used + 1) * s->systems, s->zz, other->zz, 1e-12);
    for (size_t f = 0; f < parts; f++) assert_int_equal(s->rows[f], other->rows[f]);
    assert_all_close(s->p, s->square, other->square, 1e-12);
    assert_all_close(s->systems, s->weight, other->weight, 1e-12);
    assert_close(s->h2, other->h2, 1e-12, 0);
    for (size_t u = 0; u < s->systems; u++)
        assert_close(sk_diffusion_sums_unit(s, u, NULL), sk_diffusion_sums_unit(other, u, NULL), 1e-12, 0);
}

/* Two halves, and one block against many: the same sums. */
static void prop_merged_sums_are_those_of_all_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        bench b = bench_of(&cases[c], 7), large = bench_of(&cases[c], SK_BLOCK);
        sk_diffusion_sums *all = add_blocks(&b, &cases[c], 0, b.rows.rows->blocks);
        sk_diffusion_sums *one = add_blocks(&b, &cases[c], 0, 4);
        sk_diffusion_sums *two = add_blocks(&b, &cases[c], 4, b.rows.rows->blocks);
        sk_diffusion_sums *few = add_blocks(&large, &cases[c], 0, large.rows.rows->blocks);
        sk_diffusion_sums_merge(one, two);
        sk_diffusion_sums_close(one), sk_diffusion_sums_close(all), sk_diffusion_sums_close(few);
        check_same(one, all);
        check_same(few, all);
        sk_diffusion_sums_free(all), sk_diffusion_sums_free(one), sk_diffusion_sums_free(two);
        sk_diffusion_sums_free(few);
        bench_clear(&b), bench_clear(&large);
    }
}

/* More rows than have their svec in memory at once, in one block. */
static void prop_long_blocks_add_up_as_short_ones_do(void **state)
{
    (void)state;
    enum { N = 700 };
    const sums_case c = {2, 1, false, false, true};
    sock_data *data = case_data(ctx, N, 2, 10, 4);
    bench b[2];
    sk_diffusion_sums *s[2];
    for (size_t i = 0; i < 2; i++) {
        sk_transitions *rows = case_transitions(ctx, data, 1, 1);
        if (i) case_cut(ctx, rows, 10);
        sk_kernel *kernel = case_kernel(ctx, "affine");
        b[i] = (bench){.rows = case_bench_of(ctx, rows, false, 0), .e = sk_doubles(ctx, 2, N * 2)};
        assert_int_equal(sk_features_new(ctx, "diffusion", kernel, 2, N, rows->y, &b[i].map), SOCK_OK);
        sk_kernel_free(kernel);
        sk_normals((sk_key){29, SK_PURPOSE_TEST}, 0, 0, 0, 2 * N * 2, b[i].e);
        s[i] = add_blocks(&b[i], &c, 0, rows->blocks);
        assert_int_equal(rows->blocks, i ? N / 10 : 1);
        sk_diffusion_sums_close(s[i]);
    }
    assert_true(s[0]->zz[1] > 0 && s[0]->zz[0] == 0); /* without the one fold there is nothing */
    check_same(s[0], s[1]);
    for (size_t i = 0; i < 2; i++) {
        sk_diffusion_sums_free(s[i]);
        bench_clear(&b[i]);
    }
    sock_data_free(data);
}

/* lambda of l = 1: mean h^2, mean weight, and the square of the mean of |phi|^2 over the ends. */
static double slow_unit(const bench *b, const sums_case *c, size_t s, const double *scale)
{
    const sk_transitions *rows = b->rows.rows;
    double h2 = 0, w = 0, k = 0, n = (double)rows->n;
    for (size_t i = 0; i < rows->n; i++) h2 += rows->h[i] * rows->h[i] / n, w += slow_weight(b, c, i, s) / n;
    for (size_t i = 0; i < 2 * rows->n * b->p; i++) k += pow(b->phi[i] * (scale ? scale[i % b->p] : 1), 2) / (2 * n);
    return h2 * w * k * k;
}

static void prop_unit_is_that_of_all_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        bench b = bench_of(&cases[c], SK_BLOCK);
        sk_diffusion_sums *s = add_blocks(&b, &cases[c], 0, b.rows.rows->blocks);
        const double scale[] = {0.5, 2, 0, 1.5};
        sk_diffusion_sums_close(s);
        for (size_t u = 0; u < s->systems; u++) {
            assert_close(sk_diffusion_sums_unit(s, u, NULL), slow_unit(&b, &cases[c], u, NULL), 1e-12, 0);
            assert_close(sk_diffusion_sums_unit(s, u, scale), slow_unit(&b, &cases[c], u, scale), 1e-12, 0);
        }
        sk_diffusion_sums_free(s);
        bench_clear(&b);
    }
}

/* Q of the training rows of fold f for features times `scale`, by the rows themselves. */
static void direct_fit(const bench *b, const sums_case *c, size_t f, size_t s, const double *scale, double l, double *q)
{
    enum { MOST = 60 };
    const sk_transitions *rows = b->rows.rows;
    const size_t d = c->d, dim = c->diagonal ? 1 : d;
    double phi[2 * MOST * 4], target[MOST * 9], weight[MOST], half[2 * MOST];
    size_t row[MOST + 1] = {0}, node[2 * MOST], count = 0;
    for (size_t i = 0; i < 2 * rows->n * b->p; i++) phi[i] = b->phi[i] * (scale ? scale[i % b->p] : 1);
    for (size_t i = 0; i < rows->n; i++) {
        const double *e = b->e + (f * rows->n + i) * d;
        if (f < rows->folds && sk_transitions_fold(rows, i) == f) continue;
        for (size_t k = 0; k < dim * dim; k++)
            target[count * dim * dim + k] = c->diagonal ? e[s] * e[s] : e[k / d] * e[k % d];
        weight[count] = slow_weight(b, c, i, s);
        node[2 * count] = 2 * i, node[2 * count + 1] = 2 * i + 1;
        half[2 * count] = half[2 * count + 1] = 0.5 * rows->h[i];
        count++;
        row[count] = 2 * count;
    }
    sk_psd_problem problem = {count, 2 * rows->n, b->p, phi, b->p, row, node, half, weight};
    sk_psd_options options = {.tolerance = 1e-12};
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result = NULL;
    assert_int_equal(sk_psd_prepare(ctx, &problem, &options, &prepared), SOCK_OK);
    sk_psd_target wanted = {dim, target, l * slow_unit(b, c, s, scale)};
    assert_true(sk_psd_solve(ctx, prepared, &wanted, &options, NULL, &result) >= 0);
    sk_psd_dense(ctx, result, q);
    sk_psd_result_free(result);
    sk_psd_prepared_free(prepared);
}

/* Down the path, without a used fold and of all rows; gaps of 1e-12 of the objective: Q agrees to about their root. */
static void prop_path_solves_the_convex_problem_of_the_training_rows(void **state)
{
    (void)state;
    static const double l[] = {1e-1, 1e-3};
    for (size_t c = 0; c < CASES; c++) {
        bench b = bench_of(&cases[c], SK_BLOCK);
        sk_diffusion_sums *s = add_blocks(&b, &cases[c], 0, b.rows.rows->blocks);
        const size_t order = s->dim * s->p;
        double q[144], expected[144];
        sk_diffusion_sums_close(s);
        for (size_t f = 0; f <= s->folds; f = f + 1 < s->used ? f + 1 : f < s->folds ? s->folds : f + 1)
            for (size_t u = 0; u < s->systems; u++) {
                sk_diffusion_path *path = NULL;
                assert_int_equal(sk_diffusion_path_new(ctx, s, f, u, false, &path), SOCK_OK);
                for (size_t j = 0; j < 2; j++) {
                    assert_int_equal(sk_diffusion_path_solve(ctx, path, l[j], 1e-12, q), SOCK_OK);
                    direct_fit(&b, &cases[c], f, u, NULL, l[j], expected);
                    assert_all_close(order * order, q, expected, 2e-5);
                    const sk_psd_bounds bounds = sk_diffusion_path_bounds(path);
                    assert_true(sk_diffusion_path_converged(path));
                    assert_close(bounds.gap, bounds.primal - bounds.dual, 1e-6, bounds.primal);
                }
                sk_diffusion_path_free(path);
            }
        sk_diffusion_sums_free(s);
        bench_clear(&b);
    }
}

/* Learned: four times over, features are scaled by sqrt(Q_mm) and the problem is solved again. */
static void prop_learned_path_is_solved_with_scaled_features(void **state)
{
    (void)state;
    const sums_case c = {1, 3, false, false, true};
    const double l = 1e-2;
    bench b = bench_of(&c, SK_BLOCK);
    sk_diffusion_sums *s = add_blocks(&b, &c, 0, b.rows.rows->blocks);
    sk_diffusion_path *path = NULL;
    double q[16], expected[16], scale[4];
    sk_diffusion_sums_close(s);
    assert_int_equal(sk_diffusion_path_new(ctx, s, 1, 0, true, &path), SOCK_OK);
    assert_int_equal(sk_diffusion_path_solve(ctx, path, l, 1e-12, q), SOCK_OK);
    direct_fit(&b, &c, 1, 0, NULL, l, expected);
    for (int repeat = 0; repeat < 4; repeat++) {
        for (size_t m = 0; m < s->p; m++) scale[m] = sqrt(expected[m * s->p + m]);
        direct_fit(&b, &c, 1, 0, scale, l, expected);
        for (size_t i = 0; i < s->p * s->p; i++) expected[i] *= scale[i / s->p] * scale[i % s->p];
    }
    assert_all_close(s->p * s->p, q, expected, 1e-4);
    sk_diffusion_path_free(path);
    sk_diffusion_sums_free(s);
    bench_clear(&b);
}

/* svec rows of a part of a rule, the squares of the features at its nodes, and <Q, I phi phi'> of them. */
static void prop_svec_rows_integrate_the_quadratic_form(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        enum { BEGIN = 3, END = 11 };
        const size_t d = cases[c].d, dim = cases[c].diagonal ? 1 : d, systems = cases[c].diagonal ? d : 1;
        bench b = bench_of(&cases[c], SK_BLOCK);
        const sk_rule *rule = b.rows.v->rule;
        const size_t p = b.p, order = dim * p;
        double rows[(END - BEGIN) * 10], square[4] = {1, 1, 1, 1}, wanted[4] = {1, 1, 1, 1}, u[12], q[3 * 144];
        double out[(END - BEGIN) * 9], phi[4];
        assert_int_equal(sk_svec_rows(ctx, b.map, rule, BEGIN, END, rows, square), SOCK_OK);
        for (size_t s = 0; s < systems; s++) { /* Q of rank one and a bit, symmetric */
            sk_normals((sk_key){31, SK_PURPOSE_TEST}, c, s, 0, order, u);
            for (size_t k = 0; k < order * order; k++)
                q[s * order * order + k] = u[k / order] * u[k % order] + (k % (order + 1) ? 0 : 0.2);
        }
        assert_int_equal(sk_svec_integrate(ctx, d, p, cases[c].diagonal, q, END - BEGIN, rows, out), SOCK_OK);
        for (size_t i = BEGIN; i < END; i++) {
            double m[16] = {0}, expected[9] = {0}, row[10];
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
                assert_int_equal(sk_features_eval(ctx, b.map, 1, rule->x + rule->node[e] * d, phi, p), SOCK_OK);
                for (size_t k = 0; k < p * p; k++) m[k] += rule->weight[e] * phi[k / p] * phi[k % p];
                for (size_t k = 0; k < p; k++) wanted[k] += phi[k] * phi[k];
            }
            svec(p, m, row);
            assert_all_close(b.q, rows + (i - BEGIN) * b.q, row, 1e-13);
            for (size_t k = 0; k < d * d; k++) {
                const size_t s = cases[c].diagonal ? k / d : 0, r = cases[c].diagonal ? 0 : k / d;
                const size_t t = cases[c].diagonal ? 0 : k % d;
                if (cases[c].diagonal && k / d != k % d) continue;
                for (size_t w = 0; w < p * p; w++)
                    expected[k] += m[w] * q[s * order * order + (r * p + w / p) * order + t * p + w % p];
            }
            assert_all_close(d * d, out + (i - BEGIN) * d * d, expected, 1e-12);
        }
        assert_all_close(p, square, wanted, 1e-12);
        bench_clear(&b);
    }
}

/* ---- Few features for each component ---- */

/* Component k has the features k and d of d + 1, its own coordinate and 1. */
static sk_picks own_of(size_t d, size_t *feature)
{
    for (size_t k = 0; k < d; k++) feature[2 * k] = k, feature[2 * k + 1] = d;
    return (sk_picks){.d = d, .p = d + 1, .each = 2, .feature = feature};
}

/* Product u of component k's features, among those of all: (k, k), (k, d), (d, d). */
static size_t among_all(size_t d, size_t k, size_t u)
{
    const size_t last = d * (d + 1) / 2;
    return u == 0 ? k * (k + 1) / 2 + k : u == 1 ? last + k : last + d;
}

/* Sums over few features are parts of those over all, with units of their own; what a solution says is what it says
 * with zeros for the others. */
static void prop_picked_sums_are_parts_of_all(void **state)
{
    (void)state;
    for (size_t c = 2; c < 4; c++) { /* diagonal ones */
        const size_t d = cases[c].d;
        size_t feature[6];
        bench b = bench_of(&cases[c], 7);
        const sk_picks picks = own_of(d, feature);
        const sk_view like = {.d = d, .folds = b.rows.rows->folds};
        sk_diffusion_sums *all = add_blocks(&b, &cases[c], 0, b.rows.rows->blocks), *s = NULL;
        assert_int_equal(sk_diffusion_sums_picked(ctx, b.map, &like, &picks, cases[c].used, &s), SOCK_OK);
        for (size_t i = 0; i < b.rows.rows->blocks; i++) assert_int_equal(add_block(ctx, &b, &cases[c], i, s), SOCK_OK);
        sk_diffusion_sums_close(all);
        sk_diffusion_sums_close(s);
        assert_true(s->p == 2 && s->q == 3);
        for (size_t f = 0; f <= b.rows.rows->folds; f++)
            for (size_t k = 0; k < d; k++) {
                double g[9], whole[100];
                assert_int_equal(sk_diffusion_sums_subtract(s, f, k, g), sk_diffusion_sums_subtract(all, f, k, whole));
                for (size_t u = 0; u < 9; u++)
                    assert_close(g[u], whole[among_all(d, k, u / 3) * b.q + among_all(d, k, u % 3)], 1e-12, 1);
            }
        for (size_t f = 0; f <= cases[c].used; f++)
            for (size_t k = 0; k < d; k++) {
                assert_close(s->zz[f * d + k], all->zz[f * d + k], 1e-12, 1);
                for (size_t u = 0; u < 3; u++)
                    assert_close(s->c[(f * d + k) * 3 + u], all->c[(f * d + k) * b.q + among_all(d, k, u)], 1e-12, 1);
            }
        for (size_t k = 0; k < d; k++) {
            double scale[4] = {0};
            scale[k] = scale[d] = 1;
            assert_close(sk_diffusion_sums_unit(s, k, NULL), sk_diffusion_sums_unit(all, k, scale), 1e-12, 1);
        }
        sk_diffusion_sums_free(all);
        sk_diffusion_sums_free(s);
        bench_clear(&b);
    }
}

static void prop_picked_integrals_are_those_with_zeros(void **state)
{
    (void)state;
    enum { N = 6, D = 3, P = D + 1 };
    size_t feature[2 * D];
    const sk_picks picks = own_of(D, feature);
    double q[D * 4], whole[D * P * P] = {0}, b[N * 10], out[N * D * D], expected[N * D * D];
    sk_normals((sk_key){51, SK_PURPOSE_TEST}, 0, 0, 0, N * 10, b);
    for (size_t k = 0; k < D; k++)
        for (size_t u = 0; u < 4; u++) {
            q[k * 4 + u] = u == 0 ? 0.7 + (double)k : u == 3 ? 2 : -0.4;
            whole[k * P * P + feature[2 * k + u / 2] * P + feature[2 * k + u % 2]] = q[k * 4 + u];
        }
    sk_svec_integrate_picked(&picks, q, N, b, out);
    assert_int_equal(sk_svec_integrate(ctx, D, P, true, whole, N, b, expected), SOCK_OK);
    assert_all_close(N * D * D, out, expected, 1e-13);
}

/* In many dimensions svec rows come from the moments of the nodes. */
static void prop_svec_rows_in_many_dimensions(void **state)
{
    (void)state;
    enum { D = 12, P = D + 1, Q = P * (P + 1) / 2, BEGIN = 2, END = 7 };
    static const char *const kernels[] = {"affine", "linear"};
    for (size_t c = 0; c < 4; c++) {
        sk_transitions *rows = case_rows(ctx, D, false);
        case_bench b = case_bench_of(ctx, rows, true, 0);
        sk_kernel *kernel = case_kernel(ctx, kernels[c / 2]);
        sk_features *map = NULL;
        double origin[D];
        for (size_t k = 0; k < D; k++) origin[k] = 0.1 * (double)k - 0.3;
        assert_int_equal(sk_features_new(ctx, "diffusion", kernel, D, 0, NULL, &map), SOCK_OK);
        if (c % 2) assert_int_equal(sk_features_set_units(ctx, map, origin, NULL), SOCK_OK); /* else about 0 */
        const size_t p = sk_features_count(map), q = p * (p + 1) / 2;
        const sk_rule *rule = b.v->rule;
        double made[(END - BEGIN) * Q], square[P] = {0}, wanted[P] = {0};
        assert_int_equal(sk_svec_rows(ctx, map, rule, BEGIN, END, made, square), SOCK_OK);
        for (size_t i = BEGIN; i < END; i++) {
            double m[P * P] = {0}, row[Q], phi[P];
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
                assert_int_equal(sk_features_eval(ctx, map, 1, rule->x + rule->node[e] * D, phi, p), SOCK_OK);
                for (size_t k = 0; k < p * p; k++) m[k] += rule->weight[e] * phi[k / p] * phi[k % p];
                for (size_t k = 0; k < p; k++) wanted[k] += phi[k] * phi[k];
            }
            svec(p, m, row);
            assert_all_close(q, made + (i - BEGIN) * q, row, 1e-13);
        }
        assert_all_close(p, square, wanted, 1e-12);
        sk_features_free(map);
        sk_kernel_free(kernel);
        case_bench_clear(&b);
    }
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

typedef struct trying {
    const bench *b;
    const sums_case *c;
    bool learned;
} trying;

static sock_status sum_once(sock_context *own, void *arg)
{
    const trying *t = arg;
    const sk_view like = {.d = t->c->d, .folds = t->b->rows.rows->folds};
    sk_diffusion_sums *s = NULL;
    sk_diffusion_path *path = NULL;
    double q[16], b[10], out[1];
    sock_status status = sk_diffusion_sums_new(own, t->b->map, &like, t->c->diagonal, t->c->used, &s);
    for (size_t block = 0; status >= 0 && block < t->b->rows.rows->blocks; block++)
        status = add_block(own, t->b, t->c, block, s);
    if (status >= 0) sk_diffusion_sums_close(s);
    if (status >= 0) status = sk_diffusion_path_new(own, s, 0, 0, t->learned, &path);
    if (status >= 0) status = sk_diffusion_path_solve(own, path, 0.1, 1e-6, q);
    if (status >= 0) status = sk_svec_rows(own, t->b->map, t->b->rows.v->rule, 0, 1, b, NULL);
    if (status >= 0) status = sk_svec_integrate(own, 1, s->p, false, q, 1, b, out);
    sk_diffusion_path_free(path);
    sk_diffusion_sums_free(s);
    return status;
}

static void test_diffusionsums__survive_every_failed_allocation(void **state)
{
    (void)state;
    sock_set_threads(ctx, 1);
    bench b = bench_of(&cases[0], SK_BLOCK);
    for (int learned = 0; learned < 2; learned++)
        assert_true(for_single_allocations(ctx, sum_once, &(trying){&b, &cases[0], learned}) > 50);
    bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_sums_are_those_of_the_rows),
        cmocka_unit_test(prop_subtract_leaves_the_other_rows),
        cmocka_unit_test(prop_merged_sums_are_those_of_all_rows),
        cmocka_unit_test(prop_long_blocks_add_up_as_short_ones_do),
        cmocka_unit_test(prop_unit_is_that_of_all_rows),
        cmocka_unit_test(prop_path_solves_the_convex_problem_of_the_training_rows),
        cmocka_unit_test(prop_learned_path_is_solved_with_scaled_features),
        cmocka_unit_test(prop_svec_rows_integrate_the_quadratic_form),
        cmocka_unit_test(prop_gram_form_solves_the_row_form),
        cmocka_unit_test(prop_picked_sums_are_parts_of_all),
        cmocka_unit_test(prop_picked_integrals_are_those_with_zeros),
        cmocka_unit_test(prop_svec_rows_in_many_dimensions),
        cmocka_unit_test(test_diffusionsums__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
