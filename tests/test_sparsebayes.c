/* test_sparsebayes.c - the sparse Bayesian fit against dense formulas on the observations, which it never sees. */
#include "drift/sparsebayes.h"
#include "la/la.h"
#include "oracle.h"

/* y = X w + noise, precision of observation i in weight[i]; the Gram statistics are made from them. */
typedef struct problem {
    sock_context *ctx;
    size_t n, p;
    double *x, *y, *weight, *h, *g;
} problem;

static void make_gram(problem *q)
{
    for (size_t a = 0; a < q->p; a++) {
        q->g[a] = 0;
        for (size_t i = 0; i < q->n; i++) q->g[a] += q->x[i * q->p + a] * q->weight[i] * q->y[i];
        for (size_t b = 0; b < q->p; b++) {
            double sum = 0;
            for (size_t i = 0; i < q->n; i++) sum += q->x[i * q->p + a] * q->weight[i] * q->x[i * q->p + b];
            q->h[a * q->p + b] = sum;
        }
    }
}

static problem new_problem(size_t n, size_t p)
{
    problem q = {.ctx = sock_context_new(), .n = n, .p = p};
    q.x = calloc(n * p, sizeof(double));
    q.y = calloc(n, sizeof(double));
    q.weight = calloc(n, sizeof(double));
    q.h = calloc(p * p, sizeof(double));
    q.g = calloc(p, sizeof(double));
    return q;
}

static void free_problem(problem *q)
{
    sock_context_free(q->ctx);
    free(q->x), free(q->y), free(q->weight), free(q->h), free(q->g);
}

/* Random correlated features; every `every`-th has a weight; noise of varying size. */
static problem random_problem(size_t n, size_t p, size_t every, uint64_t seed)
{
    problem q = new_problem(n, p);
    double *noise = calloc(n, sizeof *noise);
    sk_key key = {seed, SK_PURPOSE_TEST};
    sk_normals(key, 0, 0, 0, n * p, q.x);
    sk_normals(key, 1, 0, 0, n, noise);
    for (size_t i = 0; i < n; i++) {
        double common = q.x[i * p];
        q.weight[i] = 1 + (double)(i % 5);
        q.y[i] = noise[i] / sqrt(q.weight[i]);
        for (size_t j = 0; j < p; j++) {
            q.x[i * p + j] += common;
            if (j % every == 1) q.y[i] += q.x[i * p + j] * (j % 2 ? 0.7 : -0.4);
        }
    }
    free(noise);
    make_gram(&q);
    return q;
}

static sk_sparse_bayes *fit(const problem *q, double threshold)
{
    sk_sparse_bayes *out = NULL;
    if (sk_sparse_bayes_fit(q->ctx, q->p, q->h, q->p, q->g, threshold, 0, &out) != SOCK_OK)
        fail_msg("%s", sock_message(q->ctx));
    return out;
}

static double alpha_of(const sk_sparse_bayes *f, size_t j)
{
    for (size_t i = 0; i < f->active; i++)
        if (f->index[i] == j) return f->alpha[i];
    return INFINITY;
}

/* Factor of the covariance of y with feature `without` left out (p: none): P^-1 + sum_j x_j x_j' / alpha_j. */
static double *observation_factor(const problem *q, const sk_sparse_bayes *f, size_t without)
{
    size_t n = q->n;
    double *c = calloc(n * n, sizeof *c);
    for (size_t i = 0; i < n; i++) c[i * n + i] = 1 / q->weight[i];
    for (size_t a = 0; f && a < f->active; a++) {
        size_t j = f->index[a];
        for (size_t i = 0; j != without && i < n; i++)
            for (size_t k = 0; k < n; k++) c[i * n + k] += q->x[i * q->p + j] * q->x[k * q->p + j] / f->alpha[a];
    }
    assert_int_equal(sk_cholesky(q->ctx, n, c, n), SOCK_OK);
    return c;
}

/* log N(y; 0, C) up to the constant. */
static double log_evidence(const problem *q, const sk_sparse_bayes *f)
{
    double *c = observation_factor(q, f, q->p), *v = calloc(q->n, sizeof *v), sum = 0;
    memcpy(v, q->y, q->n * sizeof *v);
    sk_solve_lower(q->ctx, SK_PLAIN, q->n, 1, c, q->n, v, 1);
    for (size_t i = 0; i < q->n; i++) sum -= v[i] * v[i] / 2 + log(c[i * q->n + i]);
    free(c), free(v);
    return sum;
}

/* s_j = x_j' C^-1 x_j and q_j = x_j' C^-1 y with C without feature j. */
static void dense_s_q(const problem *pr, const sk_sparse_bayes *f, size_t j, double *s, double *q)
{
    size_t n = pr->n;
    double *c = observation_factor(pr, f, j), *v = calloc(2 * n, sizeof *v);
    for (size_t i = 0; i < n; i++) v[2 * i] = pr->x[i * pr->p + j], v[2 * i + 1] = pr->y[i];
    sk_solve_lower(pr->ctx, SK_PLAIN, n, 2, c, n, v, 2);
    *s = *q = 0;
    for (size_t i = 0; i < n; i++) *s += v[2 * i] * v[2 * i], *q += v[2 * i] * v[2 * i + 1];
    free(c), free(v);
}

static double gain_of(double s, double q, double alpha)
{
    return isinf(alpha) ? 0 : (q * q / (alpha + s) - log(1 + s / alpha)) / 2;
}

/* ---- Oracle ---- */

static void test_sparsebayes__oracle(void **state)
{
    (void)state;
    json_t *root = oracle_load("ard.json"), *cases = json_object_get(root, "cases");
    problem q = new_problem(60, 8);
    double *x = oracle_numbers(root, "x", NULL), *y = oracle_numbers(root, "y", NULL);
    double precision = json_number_value(json_object_get(root, "precision"));
    for (size_t i = 0; i < 60; i++) {
        q.y[i] = y[i];
        q.weight[i] = precision;
        for (size_t j = 0; j < 8; j++) q.x[i * 8 + j] = pow(x[i], (double)j);
    }
    make_gram(&q);
    assert_int_equal(json_array_size(cases), 2);
    for (size_t c = 0; c < 2; c++) {
        json_t *one = json_array_get(cases, c);
        sk_sparse_bayes *f = fit(&q, json_number_value(json_object_get(one, "threshold")));
        size_t count;
        double *active = oracle_numbers(one, "active", &count), *w = oracle_numbers(one, "w", NULL);
        assert_int_equal(f->active, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(f->index[i], (size_t)active[i]);
            assert_close(f->mean[i], w[f->index[i]], 1e-2, 0);
        }
        free(active), free(w);
        sk_sparse_bayes_free(f);
    }
    free(x), free(y);
    json_decref(root);
    free_problem(&q);
}

/* ---- The mathematics ---- */

/* The path is the same for every threshold, which only says where it ends: the evidence rises along it, and is what the
 * dense formula on the observations says. */
static void prop_sparsebayes__evidence_rises_along_the_path(void **state)
{
    (void)state;
    problem q = random_problem(70, 24, 5, 1);
    double empty = log_evidence(&q, NULL), before = empty;
    size_t steps = 0;
    for (double threshold = 300; threshold > 1e-6; threshold /= 1.7) {
        sk_sparse_bayes *f = fit(&q, threshold);
        double now = log_evidence(&q, f);
        assert_close(f->gain, now - empty, 1e-9, 1);
        assert_true(f->settled && f->steps >= steps);
        if (f->steps > steps)
            assert_true(now > before);
        else
            assert_close(now, before, 1e-12, 1);
        before = now;
        steps = f->steps;
        sk_sparse_bayes_free(f);
    }
    assert_true(steps > 8);
    free_problem(&q);
}

static void prop_sparsebayes__no_step_is_left(void **state)
{
    (void)state;
    const double threshold[] = {1e-9, 0.5, 3.5};
    for (size_t t = 0; t < 3; t++) {
        problem q = random_problem(60, 20, 4, 10 + t);
        sk_sparse_bayes *f = fit(&q, threshold[t]);
        assert_true(f->active >= 3 && f->active < 20);
        for (size_t j = 0; j < q.p; j++) {
            double s, v, alpha = alpha_of(f, j);
            dense_s_q(&q, f, j, &s, &v);
            double best = v * v > s ? s * s / (v * v - s) : (double)INFINITY;
            assert_true(gain_of(s, v, best) - gain_of(s, v, alpha) < threshold[t] + (isinf(alpha) ? 0 : 1e-6));
            if (t == 0 && !isinf(alpha)) assert_close(alpha, best, 1.1e-3, 0);
            if (t == 0 && isinf(alpha)) assert_true(isinf(best));
        }
        sk_sparse_bayes_free(f);
        free_problem(&q);
    }
}

/* (H_AA + diag alpha) covariance = I, mean = covariance g_A. */
static void prop_sparsebayes__posterior(void **state)
{
    (void)state;
    problem q = random_problem(80, 30, 3, 3);
    sk_sparse_bayes *f = fit(&q, 1e-3);
    size_t n = f->active;
    for (size_t i = 0; i < n; i++) {
        double mean = 0;
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (size_t m = 0; m < n; m++)
                sum += (q.h[f->index[i] * q.p + f->index[m]] + (i == m ? f->alpha[i] : 0)) * f->covariance[m * n + k];
            assert_close(sum, i == k, 1e-11, 1);
            mean += f->covariance[i * n + k] * q.g[f->index[k]];
        }
        assert_close(f->mean[i], mean, 1e-10, 1e-3);
        assert_true(!i || f->index[i] > f->index[i - 1]);
    }
    sk_sparse_bayes_free(f);
    free_problem(&q);
}

/* Feature j times c_j: weight over c_j, alpha times c_j^2, the rest stays. */
static void prop_sparsebayes__free_of_scale(void **state)
{
    (void)state;
    problem q = random_problem(60, 25, 4, 5);
    sk_sparse_bayes *plain = fit(&q, 1);
    double c[25];
    for (size_t j = 0; j < 25; j++) c[j] = pow(10, (double)(j * 7 % 25) * 8 - 100) * (j % 3 ? 1.3 : -1);
    for (size_t i = 0; i < q.n; i++)
        for (size_t j = 0; j < q.p; j++) q.x[i * q.p + j] *= c[j];
    make_gram(&q);
    sk_sparse_bayes *scaled = fit(&q, 1);
    assert_true(plain->active >= 5);
    assert_int_equal(scaled->active, plain->active);
    assert_int_equal(scaled->steps, plain->steps);
    assert_close(scaled->gain, plain->gain, 1e-10, 0);
    for (size_t i = 0; i < plain->active; i++) {
        size_t j = plain->index[i];
        assert_int_equal(scaled->index[i], j);
        assert_close(scaled->mean[i] * c[j], plain->mean[i], 1e-8, 0);
        assert_close(scaled->alpha[i] / c[j] / c[j], plain->alpha[i], 1e-8, 0);
    }
    sk_sparse_bayes_free(plain);
    sk_sparse_bayes_free(scaled);
    free_problem(&q);
}

/* Long paths: one-rank updates between refreshes do not move the answer from what the factor says. */
static void test_sparsebayes__finds_the_true_terms_among_many(void **state)
{
    (void)state;
    size_t n = 400, p = 660, every = 17;
    problem q = random_problem(n, p, every, 6);
    double start = sk_seconds();
    sk_sparse_bayes *f = fit(&q, log(660));
    print_message("p = 660: %zu active, %zu steps, %.1f ms\n", f->active, f->steps, 1e3 * (sk_seconds() - start));
    /* feature 0, the part common to all, enters first; leaving again gains less than the threshold */
    for (size_t j = 1; j < p; j++) assert_int_equal(j % every == 1, !isinf(alpha_of(f, j)));
    for (size_t i = 0; i < f->active; i++)
        assert_close(f->mean[i], f->index[i] == 0 ? 0 : f->index[i] % 2 ? 0.7 : -0.4, 0.25, 0.7);
    assert_close(f->gain, log_evidence(&q, f) - log_evidence(&q, NULL), 1e-9, 1);
    sk_sparse_bayes_free(f);
    free_problem(&q);
}

/* ---- Degenerate inputs ---- */

static void assert_finite_fit(const sk_sparse_bayes *f)
{
    assert_true(isfinite(f->gain) && f->gain >= 0);
    for (size_t i = 0; i < f->active; i++) {
        assert_true(isfinite(f->mean[i]) && isfinite(f->alpha[i]) && f->alpha[i] > 0);
        assert_true(f->covariance[i * f->active + i] > 0);
        for (size_t k = 0; k < f->active; k++) assert_true(isfinite(f->covariance[i * f->active + k]));
    }
}

/* Copies of a feature, its multiples, sums of two and empty columns: as if they were not there. */
static void test_sparsebayes__copies_and_empty_columns_stay_out(void **state)
{
    (void)state;
    problem q = random_problem(60, 6, 3, 8), wide = new_problem(60, 14);
    for (size_t i = 0; i < 60; i++) {
        double *row = wide.x + i * 14;
        memcpy(row, q.x + i * 6, 6 * sizeof(double));
        for (size_t j = 0; j < 6; j++) row[6 + j] = row[j] * (j % 2 ? 1 : -2);
        wide.y[i] = q.y[i];
        wide.weight[i] = q.weight[i];
    }
    make_gram(&wide);
    sk_sparse_bayes *narrow = fit(&q, 3), *f = fit(&wide, 3);
    assert_finite_fit(f);
    assert_true(f->settled);
    assert_int_equal(f->active, narrow->active);
    for (size_t i = 0; i < f->active; i++) {
        assert_true(f->index[i] < 12); /* rounding may prefer the copy */
        assert_int_equal(f->index[i] % 6, narrow->index[i]);
    }
    assert_close(f->gain, narrow->gain, 1e-9, 0);
    sk_sparse_bayes_free(narrow);
    sk_sparse_bayes_free(f);
    f = fit(&wide, 0); /* the smallest gains: still an end, still finite */
    assert_finite_fit(f);
    sk_sparse_bayes_free(f);
    free_problem(&q);
    free_problem(&wide);
}

/* A noiseless y that its features explain exactly, powers of a variable far from 0, and a signal of 1e8 deviations. */
static void test_sparsebayes__hardly_any_noise(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        problem q = new_problem(50, 9);
        for (size_t i = 0; i < 50; i++) {
            double x = (k == 1 ? 30 : 0) + (double)i / 25 - 1;
            for (size_t j = 0; j < 9; j++) q.x[i * 9 + j] = pow(x, (double)j);
            q.y[i] = 2 * x - x * x * x;
            q.weight[i] = k == 2 ? 1e16 : 1e6;
        }
        make_gram(&q);
        for (double threshold = 0; threshold < 5; threshold += 2) {
            sk_sparse_bayes *f = fit(&q, threshold);
            assert_finite_fit(f);
            double worst = 0;
            for (size_t i = 0; i < 50; i++) {
                double value = 0;
                for (size_t a = 0; a < f->active; a++) value += q.x[i * 9 + f->index[a]] * f->mean[a];
                worst = fmax(worst, fabs(value - q.y[i]) / (1 + fabs(q.y[i])));
            }
            assert_true(worst < (k == 1 ? 1e-3 : 0.05));
            sk_sparse_bayes_free(f);
        }
        free_problem(&q);
    }
}

static void test_sparsebayes__noise_alone_gives_the_empty_model(void **state)
{
    (void)state;
    problem q = random_problem(80, 40, 1000, 9);
    for (size_t i = 0; i < q.n; i++) q.y[i] -= 0.7 * q.x[i * q.p + 1];
    make_gram(&q);
    sk_sparse_bayes *f = fit(&q, log(40) + 1);
    assert_int_equal(f->active, 0);
    assert_true(f->gain == 0 && f->steps == 0 && f->settled);
    sk_sparse_bayes_free(f);
    free_problem(&q);
}

static void test_sparsebayes__matrix_that_is_not_semidefinite(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    double h[144], g[12];
    for (uint64_t seed = 0; seed < 50; seed++) {
        sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, 144, h);
        sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 1, 0, 0, 12, g);
        for (size_t i = 0; i < 12; i++) g[i] *= 10;
        sk_symmetrise(12, h, 12);
        sk_sparse_bayes *f = NULL;
        assert_int_equal(sk_sparse_bayes_fit(ctx, 12, h, 12, g, 0.1, 0, &f), SOCK_OK);
        for (size_t i = 0; i < f->active; i++) assert_true(isfinite(f->mean[i]) && h[f->index[i] * 13] > 0);
        sk_sparse_bayes_free(f);
    }
    sock_context_free(ctx);
}

static void test_sparsebayes__most_active(void **state)
{
    (void)state;
    problem q = random_problem(60, 20, 3, 11);
    for (size_t most = 1; most <= 4; most++) {
        sk_sparse_bayes *f = NULL;
        assert_int_equal(sk_sparse_bayes_fit(q.ctx, q.p, q.h, q.p, q.g, 1e-3, most, &f), SOCK_OK);
        assert_int_equal(f->active, most);
        assert_true(f->settled);
        sk_sparse_bayes_free(f);
    }
    free_problem(&q);
}

static void test_sparsebayes__rows_may_lie_apart(void **state)
{
    (void)state;
    problem q = random_problem(40, 7, 3, 12);
    double apart[7 * 9];
    for (size_t i = 0; i < 63; i++) apart[i] = i % 9 < 7 ? q.h[i / 9 * 7 + i % 9] : (double)NAN;
    sk_sparse_bayes *f = fit(&q, 1), *same = NULL;
    assert_int_equal(sk_sparse_bayes_fit(q.ctx, 7, apart, 9, q.g, 1, 0, &same), SOCK_OK);
    assert_int_equal(same->active, f->active);
    assert_memory_equal(same->mean, f->mean, f->active * sizeof(double));
    sk_sparse_bayes_free(same);
    sk_sparse_bayes_free(f);
    free_problem(&q);
}

static void test_sparsebayes__refuses(void **state)
{
    (void)state;
    problem q = random_problem(30, 5, 3, 13);
    sk_sparse_bayes *f = NULL;
    assert_int_equal(sk_sparse_bayes_fit(q.ctx, 5, q.h, 5, q.g, -1, 0, &f), SOCK_EUSAGE);
    assert_int_equal(sk_sparse_bayes_fit(q.ctx, 5, q.h, 5, q.g, NAN, 0, &f), SOCK_EUSAGE);
    q.h[7] = INFINITY;
    sk_begin(q.ctx);
    assert_int_equal(sk_sparse_bayes_fit(q.ctx, 5, q.h, 5, q.g, 1, 0, &f), SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(q.ctx), "not finite"));
    assert_null(f);
    assert_int_equal(sk_sparse_bayes_fit(q.ctx, 0, q.h, 1, q.g, 1, 0, &f), SOCK_OK);
    assert_int_equal(f->active, 0);
    sk_sparse_bayes_free(f);
    sk_sparse_bayes_free(NULL);
    free_problem(&q);
}

static sock_status fit_once(sock_context *ctx, void *arg)
{
    const problem *q = arg;
    sk_sparse_bayes *f = NULL;
    sock_status status = sk_sparse_bayes_fit(ctx, q->p, q->h, q->p, q->g, 0.1, 0, &f);
    assert_true((status < 0) == (f == NULL));
    sk_sparse_bayes_free(f);
    return status;
}

static void test_sparsebayes__allocation_failures(void **state)
{
    (void)state;
    problem q = random_problem(120, 60, 2, 14);
    assert_true(for_single_allocations(q.ctx, fit_once, &q) > 15);
    free_problem(&q);
}

/* A third feature that is nearly the sum of the first two comes in first, and goes again when these are there. */
static void test_prune__idle_terms_go(void **state)
{
    (void)state;
    enum { N = 400, P = 3 };
    static double x[N][P], y[N], e[3 * N];
    double h[P * P] = {0}, g[P] = {0};
    sk_sparse_bayes *forward = NULL, *fit = NULL;
    sock_context *ctx = sock_context_new();
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 3, 0, 0, 3 * N, e);
    for (size_t i = 0; i < N; i++) {
        x[i][0] = e[3 * i];
        x[i][1] = e[3 * i + 1];
        x[i][2] = x[i][0] + x[i][1] + 0.8 * e[(3 * i + 7) % (3 * N)];
        y[i] = x[i][0] + x[i][1] + 0.5 * e[3 * i + 2];
        for (size_t a = 0; a < P; a++) {
            g[a] += 4 * x[i][a] * y[i];
            for (size_t b = 0; b < P; b++) h[a * P + b] += 4 * x[i][a] * x[i][b];
        }
    }
    assert_int_equal(sk_sparse_bayes_fit(ctx, P, h, P, g, 3, 0, &forward), SOCK_OK);
    assert_int_equal(sk_sparse_bayes_prune(ctx, P, h, P, g, 3, 0, &fit), SOCK_OK);
    assert_int_equal(fit->active, 2);
    assert_true(fit->index[0] == 0 && fit->index[1] == 1);
    for (size_t a = 0; a < 2; a++) assert_close(fit->mean[a], 1, 0.1, 1);
    assert_true(fit->gain <= forward->gain + 1e-6 || forward->active > 2);
    sk_sparse_bayes_free(forward);
    sk_sparse_bayes_free(fit);
    sock_context_free(ctx);
}

/* ---- Back from what has become idle ---- */

/* Features of which each is much like the next; three have a weight, smaller ones in later problems. */
static problem chained_problem(uint64_t seed)
{
    enum { N = 200, P = 6 };
    problem q = new_problem(N, P);
    static double e[N * (P + 1)];
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, sizeof e / sizeof *e, e);
    for (size_t i = 0; i < N; i++) {
        q.weight[i] = 1;
        q.y[i] = e[i * (P + 1) + P];
        for (size_t j = 0; j < P; j++) {
            q.x[i * P + j] = e[i * (P + 1) + j] + (j ? 0.9 * q.x[i * P + j - 1] : 0);
            if (j % 2 == 0) q.y[i] += (0.1 + 0.5 / (double)(1 + seed % 7)) * q.x[i * P + j];
        }
    }
    make_gram(&q);
    return q;
}

/* Log evidence of a set of terms at the alpha that alpha = gamma / mu^2 leads to, from dense matrices: a slow loop. */
static double settled_evidence(const problem *q, const sk_sparse_bayes *f, size_t without)
{
    enum { MOST = 6 };
    double alpha[MOST], mean[MOST], cov[MOST * MOST], value = 0;
    size_t list[MOST], n = 0;
    for (size_t a = 0; a < f->active; a++) {
        if (f->index[a] == without) continue;
        alpha[n] = f->alpha[a];
        list[n++] = f->index[a];
    }
    for (int round = 0; round < 400; round++) {
        double factor[MOST * MOST];
        value = 0;
        for (size_t a = 0; a < n; a++) {
            mean[a] = q->g[list[a]];
            for (size_t b = 0; b < n; b++) {
                factor[a * n + b] = q->h[list[a] * q->p + list[b]] + (a == b) * alpha[a];
                cov[a * n + b] = a == b;
            }
        }
        assert_int_equal(sk_cholesky(q->ctx, n, factor, n), SOCK_OK);
        sk_cholesky_solve(q->ctx, n, 1, factor, n, mean, 1);
        sk_cholesky_solve(q->ctx, n, n, factor, n, cov, n);
        for (size_t a = 0; a < n; a++) {
            value += 0.5 * q->g[list[a]] * mean[a] + 0.5 * log(alpha[a]) - log(factor[a * n + a]);
            const double gamma = 1 - alpha[a] * cov[a * n + a];
            alpha[a] = fmin(gamma / (mean[a] * mean[a]), 1e6 * q->h[list[a] * (q->p + 1)]);
        }
    }
    return value;
}

static double cheapest_cost(const problem *q, const sk_sparse_bayes *f)
{
    const double whole = settled_evidence(q, f, q->p);
    double least = INFINITY;
    for (size_t a = 0; a < f->active; a++) least = fmin(least, whole - settled_evidence(q, f, f->index[a]));
    return least;
}

/* What is left costs two nats each; a set whose terms all do is the forward one, bit for bit, also where a term is
 * worth less than it had to be to come in. */
static void prop_trim__idle_terms_go_and_no_others(void **state)
{
    (void)state;
    enum { PROBLEMS = 150, ENTRY = 4 };
    size_t shorter = 0, weak = 0;
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        problem q = chained_problem(seed);
        sk_sparse_bayes *forward = fit(&q, ENTRY), *t = NULL;
        assert_int_equal(sk_sparse_bayes_trim(q.ctx, q.p, q.h, q.p, q.g, ENTRY, 2, &t), SOCK_OK);
        const double before = forward->active > 1 ? cheapest_cost(&q, forward) : (double)INFINITY;
        const double after = t->active > 1 ? cheapest_cost(&q, t) : (double)INFINITY;
        assert_true(after > 2 - 0.02);
        if (before < 2 - 0.02) assert_true(t->active < forward->active);
        if (before > 2 + 0.02) {
            assert_int_equal(t->active, forward->active);
            assert_memory_equal(t->mean, forward->mean, t->active * sizeof *t->mean);
            assert_memory_equal(t->alpha, forward->alpha, t->active * sizeof *t->alpha);
        }
        shorter += t->active < forward->active;
        weak += before > 2 && before < ENTRY;
        sk_sparse_bayes_free(forward);
        sk_sparse_bayes_free(t);
        free_problem(&q);
    }
    assert_true(shorter > 3 && shorter < PROBLEMS / 2 && weak > 0);
}

static sock_status trim_once(sock_context *ctx, void *arg)
{
    const problem *q = arg;
    sk_sparse_bayes *f = NULL;
    sock_status status = sk_sparse_bayes_trim(ctx, q->p, q->h, q->p, q->g, 3, 2, &f);
    assert_true((status < 0) == (f == NULL));
    sk_sparse_bayes_free(f);
    return status;
}

static void test_trim__allocation_failures(void **state)
{
    (void)state;
    problem q = chained_problem(0);
    assert_true(for_single_allocations(q.ctx, trim_once, &q) > 15);
    free_problem(&q);
}

/* With features that do not know each other there is nothing to take back. */
static void prop_prune__orthogonal_features_give_the_forward_answer(void **state)
{
    (void)state;
    const double h[] = {4, 0, 0, 0, 9, 0, 0, 0, 1}, g[] = {12, 0.1, 6};
    sk_sparse_bayes *forward = NULL, *fit = NULL;
    sock_context *ctx = sock_context_new();
    assert_int_equal(sk_sparse_bayes_fit(ctx, 3, h, 3, g, 3, 0, &forward), SOCK_OK);
    assert_int_equal(sk_sparse_bayes_prune(ctx, 3, h, 3, g, 3, 0, &fit), SOCK_OK);
    assert_int_equal(fit->active, forward->active);
    for (size_t a = 0; a < fit->active; a++) {
        assert_int_equal(fit->index[a], forward->index[a]);
        assert_close(fit->mean[a], forward->mean[a], 1e-2, 1);
    }
    sk_sparse_bayes_free(forward);
    sk_sparse_bayes_free(fit);
    sock_context_free(ctx);
}

/* y is a difference of two features that are nearly the same: neither explains anything alone, both explain it all. */
static void test_prune__terms_that_need_each_other_are_found(void **state)
{
    (void)state;
    enum { N = 400, P = 2 };
    static double e[3 * N];
    double h[P * P] = {0}, g[P] = {0};
    sk_sparse_bayes *forward = NULL, *fit = NULL;
    sock_context *ctx = sock_context_new();
    sk_normals((sk_key){6, SK_PURPOSE_TEST}, 3, 0, 0, 3 * N, e);
    for (size_t i = 0; i < N; i++) {
        const double x[P] = {e[3 * i], e[3 * i] + 0.05 * e[3 * i + 1]};
        const double y = 10 * (x[1] - x[0]) + e[3 * i + 2];
        for (size_t a = 0; a < P; a++) {
            g[a] += x[a] * y;
            for (size_t b = 0; b < P; b++) h[a * P + b] += x[a] * x[b];
        }
    }
    assert_int_equal(sk_sparse_bayes_fit(ctx, P, h, P, g, 3, 0, &forward), SOCK_OK);
    assert_int_equal(forward->active, 0);
    for (int joined = 0; joined < 2; joined++) {
        if (!joined) assert_int_equal(sk_sparse_bayes_prune(ctx, P, h, P, g, 3, 0, &fit), SOCK_OK);
        if (joined) assert_int_equal(sk_sparse_bayes_join(ctx, P, h, P, g, 3, fit = forward), SOCK_OK);
        assert_int_equal(fit->active, 2);
        assert_close(fit->mean[0], -10, 2, 1);
        assert_close(fit->mean[1], 10, 2, 1);
        assert_true(fit->gain > 6);
        sk_sparse_bayes_free(fit);
    }
    sock_context_free(ctx);
}

/* Where the way there has found what there is, nothing joins: the fit is the same, bit for bit. */
static void prop_join__leaves_what_explains_all(void **state)
{
    (void)state;
    size_t same = 0;
    enum { PROBLEMS = 60 };
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        problem q = chained_problem(seed);
        sk_sparse_bayes *f = fit(&q, 4), *again = fit(&q, 4);
        assert_int_equal(sk_sparse_bayes_join(q.ctx, q.p, q.h, q.p, q.g, 4, again), SOCK_OK);
        const bool alike = f->active == again->active && memcmp(f->mean, again->mean, f->active * sizeof(double)) == 0;
        if (!alike)
            assert_true(settled_evidence(&q, again, q.p) - 4 * (double)again->active >
                        settled_evidence(&q, f, q.p) - 4 * (double)f->active);
        same += alike;
        sk_sparse_bayes_free(f), sk_sparse_bayes_free(again);
        free_problem(&q);
    }
    assert_true(same >= PROBLEMS * 9 / 10);
}

static sock_status join_once(sock_context *ctx, void *arg)
{
    const problem *q = arg;
    sk_sparse_bayes *f = NULL;
    sock_status status = sk_sparse_bayes_fit(ctx, q->p, q->h, q->p, q->g, 300, 0, &f);
    if (status >= 0) status = sk_sparse_bayes_join(ctx, q->p, q->h, q->p, q->g, 3, f);
    sk_sparse_bayes_free(f);
    return status;
}

static void test_join__allocation_failures(void **state)
{
    (void)state;
    problem q = chained_problem(3);
    assert_true(for_each_allocation(q.ctx, join_once, &q) > 2);
    free_problem(&q);
}

/* Nor does the way back from all terms find what is not there. */
static void test_prune__of_nothing_nothing_is_left(void **state)
{
    (void)state;
    const double h[] = {4, 1, 1, 9}, g[] = {1, -2};
    sk_sparse_bayes *fit = NULL;
    sock_context *ctx = sock_context_new();
    assert_int_equal(sk_sparse_bayes_prune(ctx, 2, h, 2, g, 3, 0, &fit), SOCK_OK);
    assert_int_equal(fit->active, 0);
    sk_sparse_bayes_free(fit);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prune__terms_that_need_each_other_are_found),
        cmocka_unit_test(test_prune__of_nothing_nothing_is_left),
        cmocka_unit_test(prop_join__leaves_what_explains_all),
        cmocka_unit_test(test_join__allocation_failures),
        cmocka_unit_test(test_prune__idle_terms_go),
        cmocka_unit_test(prop_trim__idle_terms_go_and_no_others),
        cmocka_unit_test(test_trim__allocation_failures),
        cmocka_unit_test(prop_prune__orthogonal_features_give_the_forward_answer),
        cmocka_unit_test(test_sparsebayes__oracle),
        cmocka_unit_test(prop_sparsebayes__evidence_rises_along_the_path),
        cmocka_unit_test(prop_sparsebayes__no_step_is_left),
        cmocka_unit_test(prop_sparsebayes__posterior),
        cmocka_unit_test(prop_sparsebayes__free_of_scale),
        cmocka_unit_test(test_sparsebayes__finds_the_true_terms_among_many),
        cmocka_unit_test(test_sparsebayes__copies_and_empty_columns_stay_out),
        cmocka_unit_test(test_sparsebayes__hardly_any_noise),
        cmocka_unit_test(test_sparsebayes__noise_alone_gives_the_empty_model),
        cmocka_unit_test(test_sparsebayes__matrix_that_is_not_semidefinite),
        cmocka_unit_test(test_sparsebayes__most_active),
        cmocka_unit_test(test_sparsebayes__rows_may_lie_apart),
        cmocka_unit_test(test_sparsebayes__refuses),
        cmocka_unit_test(test_sparsebayes__allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
