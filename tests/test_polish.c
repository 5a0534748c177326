/* test_polish.c - the quasi-likelihood polish: gradient, closed forms, descent, threads. */
#include "diffusion/polish.h"
#include "test.h"

typedef struct bench {
    sock_context *ctx;
    sk_polish_problem problem;
    double *phi0, *phi1, *h, *e, *weight;
} bench;

/* Smooth positive features of p scales and residuals of size sqrt(h); all numbers from one stream. */
static bench new_bench(size_t n, size_t d, size_t p, uint64_t seed)
{
    bench b = {.ctx = sock_context_new()};
    sk_key key = {seed, SK_PURPOSE_TEST};
    double *x = calloc(n, sizeof *x);
    b.phi0 = calloc(n * p, sizeof(double)), b.phi1 = calloc(n * p, sizeof(double));
    b.h = calloc(n, sizeof(double)), b.weight = calloc(n, sizeof(double)), b.e = calloc(n * d, sizeof(double));
    sk_uniforms(key, 0, 0, 0, n, x);
    sk_uniforms(key, 1, 0, 0, n, b.h);
    sk_normals(key, 2, 0, 0, n * d, b.e);
    for (size_t i = 0; i < n; i++) {
        b.h[i] = 0.01 + 0.1 * b.h[i];
        b.weight[i] = 0.5 + (double)(i % 3);
        for (size_t k = 0; k < d; k++) b.e[i * d + k] *= sqrt(b.h[i]) * (1 + x[i]);
        for (size_t a = 0; a < p; a++) {
            b.phi0[i * p + a] = pow(x[i], (double)a);
            b.phi1[i * p + a] = pow(x[i] + 0.3 * b.h[i], (double)a);
        }
    }
    free(x);
    b.problem = (sk_polish_problem){.n = n, .d = d, .p = p, .phi0 = b.phi0, .phi1 = b.phi1, .h = b.h, .e = b.e};
    return b;
}

static void free_bench(bench *b)
{
    sock_context_free(b->ctx);
    free(b->phi0), free(b->phi1), free(b->h), free(b->e), free(b->weight);
}

static double *random_u(const bench *b, size_t rank, uint64_t seed)
{
    size_t count = b->problem.d * b->problem.p * rank;
    double *u = calloc(count + 1, sizeof *u);
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 9, 0, 0, count, u);
    return u;
}

static double objective(const bench *b, size_t rank, const double *u)
{
    double value = NAN;
    assert_int_equal(sk_polish_objective(b->ctx, &b->problem, rank, u, &value, NULL), SOCK_OK);
    return value;
}

static double polish(const bench *b, size_t rank, double *u, size_t steps)
{
    double before, after;
    assert_int_equal(sk_polish(b->ctx, &b->problem, rank, u, steps, &before, &after), SOCK_OK);
    assert_true(after <= before);
    assert_close(objective(b, rank, u), after, 1e-12, 1);
    return after;
}

/* ---- The objective ---- */

/* a(x) of one feature row, straight from Q = U U'. */
static void slow_a(const sk_polish_problem *q, size_t rank, const double *u, const double *phi, double *a)
{
    for (size_t k = 0; k < q->d; k++)
        for (size_t l = 0; l < q->d; l++) {
            a[k * q->d + l] = 0;
            for (size_t i = 0; i < q->p; i++)
                for (size_t j = 0; j < q->p; j++)
                    for (size_t c = 0; c < rank; c++)
                        a[k * q->d + l] +=
                            phi[i] * u[(k * q->p + i) * rank + c] * u[(l * q->p + j) * rank + c] * phi[j];
        }
}

/* The definition for d = 2, with the 2 x 2 inverse and determinant written out. */
static double slow_objective(const sk_polish_problem *q, size_t rank, const double *u)
{
    double sum = 0, a0[4], a1[4], c[4];
    for (size_t i = 0; i < q->n; i++) {
        const double *e = q->e + 2 * i;
        slow_a(q, rank, u, q->phi0 + i * q->p, a0);
        slow_a(q, rank, u, q->phi1 + i * q->p, a1);
        for (size_t k = 0; k < 4; k++) c[k] = q->h[i] / 2 * (a0[k] + a1[k]) + (k % 3 ? 0 : q->eps);
        double det = c[0] * c[3] - c[1] * c[2];
        double fit =
            (c[3] * (e[0] * e[0] + q->eps) - (c[1] + c[2]) * e[0] * e[1] + c[0] * (e[1] * e[1] + q->eps)) / det;
        sum += (q->row_weight ? q->row_weight[i] : 1) * (log(det) + fit) / 2;
    }
    for (size_t i = 0; i < 2 * q->p; i++)
        for (size_t j = 0; j < 2 * q->p; j++) {
            double entry = 0;
            for (size_t c2 = 0; c2 < rank; c2++) entry += u[i * rank + c2] * u[j * rank + c2];
            sum += q->mu * entry * entry;
        }
    return sum;
}

static void test_polish__objective_is_its_definition(void **state)
{
    (void)state;
    bench b = new_bench(40, 2, 3, 1);
    b.problem.eps = 0.02, b.problem.mu = 0.3;
    for (size_t rank = 1; rank <= 4; rank++) {
        double *u = random_u(&b, rank, rank);
        b.problem.row_weight = rank % 2 ? b.weight : NULL;
        assert_close(objective(&b, rank, u), slow_objective(&b.problem, rank, u), 1e-12, 1);
        free(u);
    }
    free_bench(&b);
}

/* d = 1 has a path of its own: with a block-diagonal U the objective of two components is the sum of theirs. Here the
 * second has the same U and residuals of 0. */
static void prop_polish__components_add(void **state)
{
    (void)state;
    bench one = new_bench(60, 1, 3, 2), two = new_bench(60, 2, 3, 2);
    one.problem.eps = two.problem.eps = 0.01;
    double u[6], both[24] = {0}, g[6], gradient[24], value, sum;
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, 6, u);
    for (size_t i = 0; i < 60; i++) two.e[2 * i] = one.e[i], two.e[2 * i + 1] = 0;
    for (size_t a = 0; a < 3; a++)
        for (size_t c = 0; c < 2; c++) both[a * 4 + c] = both[(3 + a) * 4 + 2 + c] = u[a * 2 + c];
    assert_int_equal(sk_polish_objective(one.ctx, &one.problem, 2, u, &value, g), SOCK_OK);
    assert_int_equal(sk_polish_objective(two.ctx, &two.problem, 4, both, &sum, gradient), SOCK_OK);
    for (size_t a = 0; a < 3; a++)
        for (size_t c = 0; c < 2; c++) assert_close(gradient[a * 4 + c], g[a * 2 + c], 1e-11, 1);
    for (size_t i = 0; i < 60; i++) one.e[i] = 0;
    assert_close(sum, value + objective(&one, 2, u), 1e-12, 1);
    free_bench(&one);
    free_bench(&two);
}

static void prop_polish__gradient_is_the_derivative(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        bench b = new_bench(700, d, 4, 10 + d);
        size_t rank = d + 1, count = d * 4 * rank;
        b.problem.eps = 0.01, b.problem.mu = 2;
        b.problem.row_weight = b.weight;
        double *u = random_u(&b, rank, d), *g = calloc(count, sizeof *g), *slope = calloc(count, sizeof *slope), value;
        assert_int_equal(sk_polish_objective(b.ctx, &b.problem, rank, u, &value, g), SOCK_OK);
        for (size_t i = 0; i < count; i++) {
            double at = u[i], step = 1e-5;
            u[i] = at + step;
            double above = objective(&b, rank, u);
            u[i] = at - step;
            slope[i] = (above - objective(&b, rank, u)) / (2 * step);
            u[i] = at;
        }
        assert_all_close(count, g, slope, 1e-7);
        free(u), free(g), free(slope);
        free_bench(&b);
    }
}

/* ---- The minimiser ---- */

/* p = 1, constant feature, no eps, no mu: u^2 = mean(e^2 / h). With weights, the weighted mean. */
static void test_polish__closed_form_of_a_constant(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        bench b = new_bench(300, 1, 1, 20);
        double sum = 0, weights = 0, u = 3.7;
        b.problem.row_weight = weighted ? b.weight : NULL;
        for (size_t i = 0; i < 300; i++) {
            double w = weighted ? b.weight[i] : 1;
            sum += w * b.e[i] * b.e[i] / b.h[i];
            weights += w;
        }
        polish(&b, 1, &u, 60);
        assert_close(u * u, sum / weights, 1e-5, 0);
        free_bench(&b);
    }
}

/* d = 3, constant feature, full rank, equal h: C = h Q is the sample covariance. */
static void test_polish__closed_form_of_a_constant_matrix(void **state)
{
    (void)state;
    bench b = new_bench(400, 3, 1, 21);
    double expected[9] = {0}, q[9] = {0};
    for (size_t i = 0; i < 400; i++) {
        b.h[i] = 0.05;
        b.e[3 * i + 1] += 0.5 * b.e[3 * i];
        for (size_t k = 0; k < 9; k++) expected[k] += b.e[3 * i + k / 3] * b.e[3 * i + k % 3] / 0.05 / 400;
    }
    double u[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    polish(&b, 3, u, 60);
    for (size_t k = 0; k < 9; k++)
        for (size_t c = 0; c < 3; c++) q[k] += u[k / 3 * 3 + c] * u[k % 3 * 3 + c];
    assert_all_close(9, q, expected, 1e-5);
    free_bench(&b);
}

/* n log(c) / 2 + n m / (2 c) + mu c'^2, c' = u^2, c = h c': the minimum over c' by bisection of the derivative. */
static void test_polish__penalty_shrinks_a_constant(void **state)
{
    (void)state;
    bench b = new_bench(100, 1, 1, 22);
    double m = 0, u = 1, low = 0, high = 100;
    b.problem.mu = 40;
    for (size_t i = 0; i < 100; i++) m += b.e[i] * b.e[i] / b.h[i];
    for (int i = 0; i < 200; i++) {
        double c = (low + high) / 2;
        if (50 / c - m / (2 * c * c) + 2 * b.problem.mu * c > 0)
            high = c;
        else
            low = c;
    }
    polish(&b, 1, &u, 60);
    assert_close(u * u, low, 1e-5, 0);
    assert_true(u * u < 0.9 * m / 100);
    free_bench(&b);
}

static void test_polish__objective_falls_to_a_stationary_point(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        bench b = new_bench(600, d, 4, 30 + d);
        size_t rank = 2 * d, count = d * 4 * rank;
        b.problem.eps = 1e-3, b.problem.mu = 1e-3;
        double *u = random_u(&b, rank, d), *g = calloc(count, sizeof *g), value, last = INFINITY, first;
        assert_int_equal(sk_polish_objective(b.ctx, &b.problem, rank, u, &first, g), SOCK_OK);
        double steep = sqrt(sk_dot(count, g, g));
        const size_t steps[] = {1, 2, 5, 30, 500};
        for (size_t i = 0; i < 5; i++) {
            double *copy = random_u(&b, rank, d), after = polish(&b, rank, copy, steps[i]);
            assert_true(after < first && after <= last);
            last = after;
            if (i == 4) memcpy(u, copy, count * sizeof *u);
            free(copy);
        }
        assert_int_equal(sk_polish_objective(b.ctx, &b.problem, rank, u, &value, g), SOCK_OK);
        assert_true(sqrt(sk_dot(count, g, g)) < 1e-3 * steep);
        free(u), free(g);
        free_bench(&b);
    }
}

/* A constant feature: the metric is one number, the sum of 2 w h tr(C^-1 - eps C^-2) / d over the rows and 4 mu |U|^2 /
 * rank. Near the minimum the first step is one of Fisher scoring, U - gradient / metric. */
static void prop_polish__first_step_is_fisher_scoring(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int penalised = 0; penalised < 2; penalised++) {
            enum { N = 200 };
            bench b = new_bench(N, d, 1, 90 + d);
            double u[9] = {0}, g[9], expected[9], value, before, after, metric = 0;
            b.problem.row_weight = b.weight;
            b.problem.eps = 0.02;
            b.problem.mu = penalised ? 3 : 0;
            for (size_t k = 0; k < d; k++) u[k * d + k] = 1;
            assert_int_equal(sk_polish(b.ctx, &b.problem, d, u, 60, NULL, NULL), SOCK_OK);
            const double near = 1.05 * fabs(u[0]);
            for (size_t k = 0; k < d * d; k++) u[k] = k % (d + 1) ? 0 : near;
            for (size_t i = 0; i < N; i++) {
                const double c = b.h[i] * u[0] * u[0] + b.problem.eps;
                metric += 2 * b.weight[i] * b.h[i] * (1 / c - b.problem.eps / (c * c));
            }
            metric += 4 * b.problem.mu * u[0] * u[0];
            assert_int_equal(sk_polish_objective(b.ctx, &b.problem, d, u, &value, g), SOCK_OK);
            for (size_t k = 0; k < d * d; k++) expected[k] = u[k] - g[k] / metric;
            assert_int_equal(sk_polish(b.ctx, &b.problem, d, u, 1, &before, &after), SOCK_OK);
            assert_true(after < before);
            assert_all_close(d * d, u, expected, 1e-9);
            free_bench(&b);
        }
}

/* A feature that is 0 everywhere has no curvature: it stays, and the others move as without it. */
/* Several features: L L' = sum over both ends of omega / 2 phi phi' and the penalty's 4 mu tr(U'U) / rank on the
 * diagonal, omega = 2 w h tr(C^-1 - eps C^-2) / d. */
static void test_polish__metric_is_its_definition(void **state)
{
    (void)state;
    enum { P = 3, RANK = 2 };
    bench b = new_bench(40, 2, P, 5);
    sk_polish_problem *q = &b.problem;
    q->eps = 0.02, q->mu = 0.3, q->row_weight = b.weight;
    double *u = random_u(&b, RANK, 3), w[P * 2 * RANK], g[P * 2 * RANK], value, l[P * P], want[P * P] = {0}, size = 0;
    sk_polish_space *space = NULL;
    assert_int_equal(sk_polish_space_new(b.ctx, q, RANK, &space), SOCK_OK);
    sk_polish_from_u(q, RANK, u, w);
    assert_int_equal(sk_polish_evaluate(space, w, &value, g), SOCK_OK);
    assert_int_equal(sk_polish_metric(space, l), SOCK_OK);
    for (size_t i = 0; i < q->n; i++) {
        double a0[4], a1[4], c[4];
        slow_a(q, RANK, u, q->phi0 + i * P, a0);
        slow_a(q, RANK, u, q->phi1 + i * P, a1);
        for (size_t k = 0; k < 4; k++) c[k] = q->h[i] / 2 * (a0[k] + a1[k]) + (k % 3 ? 0 : q->eps);
        const double det = c[0] * c[3] - c[1] * c[2], trace = (c[0] + c[3]) / det,
                     square = (c[0] * c[0] + c[3] * c[3] + 2 * c[1] * c[2]) / (det * det),
                     omega = 2 * b.weight[i] * q->h[i] * (trace - q->eps * square) / 2;
        for (size_t k = 0; k < P * P; k++)
            want[k] +=
                omega / 2 *
                (q->phi0[i * P + k / P] * q->phi0[i * P + k % P] + q->phi1[i * P + k / P] * q->phi1[i * P + k % P]);
    }
    for (size_t k = 0; k < 2 * P * RANK; k++) size += u[k] * u[k];
    for (size_t k = 0; k < P; k++) want[k * (P + 1)] += 4 * q->mu * size / RANK;
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t m = 0; m <= j; m++) sum += l[i * P + m] * l[j * P + m];
            assert_close(sum, want[i * P + j], 1e-9, 1);
        }
    sk_polish_space_free(space);
    free(u);
    free_bench(&b);
}

static void test_polish__empty_feature_stays(void **state)
{
    (void)state;
    bench b = new_bench(200, 1, 2, 95);
    double one = 3, u[2] = {3, 2};
    for (size_t i = 0; i < 200; i++) b.phi0[2 * i + 1] = b.phi1[2 * i + 1] = 0;
    polish(&b, 1, u, 60);
    bench alone = new_bench(200, 1, 1, 95);
    polish(&alone, 1, &one, 60);
    assert_true(u[1] == 2);
    assert_close(u[0], one, 1e-6, 0);
    free_bench(&b), free_bench(&alone);
}

/* Features so large that no metric can be had: the plain gradient still leads down. */
static void test_polish__descends_without_a_metric(void **state)
{
    (void)state;
    bench b = new_bench(100, 1, 1, 96);
    double u = 4e-160, m = 0;
    for (size_t i = 0; i < 100; i++) {
        b.phi0[i] = b.phi1[i] = 1e160;
        m += b.e[i] * b.e[i] / b.h[i] / 100;
    }
    const double start = objective(&b, 1, &u), after = polish(&b, 1, &u, 60);
    assert_true(after < start - 10);
    assert_close(u * 1e160 * u * 1e160, m, 0.3, 0);
    free_bench(&b);
}

/* Without penalty the result does not depend on the scales of the features. */
static void prop_polish__free_of_scale(void **state)
{
    (void)state;
    bench b = new_bench(300, 1, 4, 40);
    b.problem.eps = 1e-3;
    double *u = random_u(&b, 2, 5), *v = random_u(&b, 2, 5), c[] = {1, 1e3, 1e-4, 30};
    double plain = polish(&b, 2, u, 200);
    for (size_t i = 0; i < 300 * 4; i++) b.phi0[i] *= c[i % 4], b.phi1[i] *= c[i % 4];
    for (size_t i = 0; i < 8; i++) v[i] /= c[i / 2];
    assert_close(polish(&b, 2, v, 200), plain, 1e-6, 1);
    free(u), free(v);
    free_bench(&b);
}

/* Residuals along one direction: from a full-rank start the second eigenvalue goes and the first becomes the truth. */
static void test_polish__rank_one_truth_in_two_dimensions(void **state)
{
    (void)state;
    size_t n = 2000;
    bench b = new_bench(n, 2, 1, 50);
    double along[2] = {1.2, -0.9}, truth = 0;
    for (size_t i = 0; i < n; i++) {
        double noise = b.e[2 * i] / sqrt(b.h[i]);
        b.h[i] = 0.05;
        for (size_t k = 0; k < 2; k++) b.e[2 * i + k] = sqrt(0.05) * noise * along[k];
        truth += noise * noise * (along[0] * along[0] + along[1] * along[1]) / (double)n;
    }
    b.problem.eps = 0.1 * 0.05 * truth / 2;
    double u[4] = {1, 0, 0, 0.8}; /* Q = diag(1, .64) */
    polish(&b, 2, u, 60);
    double q00 = u[0] * u[0] + u[1] * u[1], q01 = u[0] * u[2] + u[1] * u[3], q11 = u[2] * u[2] + u[3] * u[3];
    double mean = (q00 + q11) / 2, root = sqrt((q00 - q11) * (q00 - q11) / 4 + q01 * q01);
    assert_close(mean + root, truth, 1e-4, 0);
    assert_true(mean - root < 1e-3 * 0.64);
    assert_close(q01 / q00, along[1] / along[0], 1e-3, 0);
    free_bench(&b);
}

/* ---- Conduct ---- */

static void test_polish__threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        bench b = new_bench(20000, d, 30, 60);
        b.problem.eps = 0.01, b.problem.mu = 1;
        size_t count = d * 30 * 4;
        double *u[2], *g[2], value[2], before, after[2];
        for (int i = 0; i < 2; i++) {
            u[i] = random_u(&b, 4, 3);
            g[i] = calloc(count, sizeof(double));
            sock_set_threads(b.ctx, i ? 4 : 1);
            assert_int_equal(sk_polish_objective(b.ctx, &b.problem, 4, u[i], &value[i], g[i]), SOCK_OK);
            assert_int_equal(sk_polish(b.ctx, &b.problem, 4, u[i], 5, &before, &after[i]), SOCK_OK);
        }
        assert_true(value[0] == value[1] && after[0] == after[1] && after[0] < before);
        assert_memory_equal(g[0], g[1], count * sizeof(double));
        assert_memory_equal(u[0], u[1], count * sizeof(double));
        for (int i = 0; i < 2; i++) free(u[i]), free(g[i]);
        free_bench(&b);
    }
}

/* No start, no data, no features to speak of, and numbers that cannot be used: u stays, nothing breaks. */
static void test_polish__hopeless_starts_stay(void **state)
{
    (void)state;
    bench b = new_bench(50, 2, 3, 70);
    double u[12] = {0}, zero[12] = {0}, before, after;
    assert_int_equal(sk_polish(b.ctx, &b.problem, 2, u, 0, &before, &after), SOCK_OK); /* C = 0 */
    assert_true(isinf(before) && isinf(after));
    assert_memory_equal(u, zero, sizeof u);
    b.problem.eps = 0.1; /* C = eps I: a saddle, its gradient 0 */
    assert_int_equal(sk_polish(b.ctx, &b.problem, 2, u, 0, &before, &after), SOCK_OK);
    assert_true(before == after);
    assert_memory_equal(u, zero, sizeof u);
    b.e[3] = NAN;
    u[0] = 1;
    assert_int_equal(sk_polish(b.ctx, &b.problem, 2, u, 0, &before, &after), SOCK_OK);
    assert_true(isinf(before) && u[0] == 1);
    assert_int_equal(sk_polish(b.ctx, &b.problem, 0, u, 0, NULL, NULL), SOCK_OK);
    b.problem.n = 0;
    assert_int_equal(sk_polish(b.ctx, &b.problem, 2, u, 0, &before, &after), SOCK_OK);
    assert_true(before == 0 && after == 0);
    b.problem.eps = -1;
    assert_int_equal(sk_polish(b.ctx, &b.problem, 2, u, 0, NULL, NULL), SOCK_EUSAGE);
    free_bench(&b);
}

/* eps = 0 and residuals of 0: the likelihood has no minimum, the answer is still finite and not worse. */
static void test_polish__unbounded_likelihood_ends(void **state)
{
    (void)state;
    bench b = new_bench(200, 1, 3, 71);
    memset(b.e, 0, 200 * sizeof *b.e);
    double *u = random_u(&b, 2, 1);
    double after = polish(&b, 2, u, 60);
    assert_true(isfinite(after));
    for (size_t i = 0; i < 6; i++) assert_true(isfinite(u[i]));
    free(u);
    free_bench(&b);
}

static sock_status polish_once(sock_context *ctx, void *arg)
{
    bench *b = arg;
    double *u = random_u(b, 2, 1), *same = random_u(b, 2, 1);
    sock_status status = sk_polish(ctx, &b->problem, 2, u, 3, NULL, NULL);
    if (status < 0) assert_memory_equal(u, same, b->problem.d * b->problem.p * 2 * sizeof *u);
    if (status >= 0) status = sk_polish_objective(ctx, &b->problem, 2, u, &u[0], NULL);
    free(u), free(same);
    return status;
}

static void test_polish__allocation_failures(void **state)
{
    (void)state;
    bench b = new_bench(20000, 2, 16, 80); /* large enough for threads */
    b.problem.eps = 0.01;
    sock_set_threads(b.ctx, 2);
    assert_true(for_single_allocations(b.ctx, polish_once, &b) > 30);
    free_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polish__objective_is_its_definition),
        cmocka_unit_test(prop_polish__components_add),
        cmocka_unit_test(prop_polish__gradient_is_the_derivative),
        cmocka_unit_test(test_polish__closed_form_of_a_constant),
        cmocka_unit_test(test_polish__closed_form_of_a_constant_matrix),
        cmocka_unit_test(test_polish__penalty_shrinks_a_constant),
        cmocka_unit_test(test_polish__objective_falls_to_a_stationary_point),
        cmocka_unit_test(prop_polish__first_step_is_fisher_scoring),
        cmocka_unit_test(test_polish__metric_is_its_definition),
        cmocka_unit_test(test_polish__empty_feature_stays),
        cmocka_unit_test(test_polish__descends_without_a_metric),
        cmocka_unit_test(prop_polish__free_of_scale),
        cmocka_unit_test(test_polish__rank_one_truth_in_two_dimensions),
        cmocka_unit_test(test_polish__threads_do_not_matter),
        cmocka_unit_test(test_polish__hopeless_starts_stay),
        cmocka_unit_test(test_polish__unbounded_likelihood_ends),
        cmocka_unit_test(test_polish__allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
