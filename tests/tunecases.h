/* tunecases.h - rows of a search for the tests of src/tune: steps of a small known process, dealt into folds, and the
 * slow dense algebra to check fits with. */
#ifndef SK_TUNECASES_H
#define SK_TUNECASES_H

#include "test.h"
#include "tune/problem.h"

/* f_k = -x_k + 0.3 x_{k+1}, a = diag(0.4 + 0.1 x_k^2) + 0.2 (off the diagonal, unless *user is true: diagonal). */
static inline void case_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i] + 0.3 * x[i - i % d + (i + 1) % d];
}

static inline void case_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    bool diagonal = user && *(const bool *)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++)
            a[i * d * d + k] = k % (d + 1) ? (diagonal ? 0 : 0.2) : 0.4 + 0.1 * x[i * d + k / d] * x[i * d + k / d];
}

/* `count` Euler steps of that process with lengths around 0.1, `each` to a trajectory. */
static inline sk_steps *case_steps(sock_context *ctx, size_t count, size_t d, size_t each, uint64_t seed)
{
    sk_steps *s = sk_alloc(ctx, 1, sizeof *s);
    sk_key key = {seed, SK_PURPOSE_TEST};
    bool diagonal = true;
    s->n = count;
    s->d = d;
    s->trajectories = (count + each - 1) / each;
    s->y = sk_doubles(ctx, count, d);
    s->next = sk_doubles(ctx, count, d);
    s->dy = sk_doubles(ctx, count, d);
    s->h = sk_doubles(ctx, count, 1);
    s->trajectory = sk_alloc(ctx, count, sizeof *s->trajectory);
    sk_normals(key, 1, 0, 0, count * d, s->dy);
    sk_uniforms(key, 2, 0, 0, count, s->h);
    for (size_t i = 0; i < count; i++) {
        double f[8], a[64];
        s->h[i] = 0.05 + 0.1 * s->h[i];
        s->trajectory[i] = i / each;
        if (i % each)
            memcpy(s->y + i * d, s->next + (i - 1) * d, d * sizeof(double));
        else
            sk_normals(key, 3, i, 0, d, s->y + i * d);
        case_drift(NULL, 1, d, s->y + i * d, f);
        case_diffusion(&diagonal, 1, d, s->y + i * d, a);
        for (size_t k = 0; k < d; k++) {
            s->dy[i * d + k] = s->h[i] * f[k] + sqrt(s->h[i] * a[k * d + k]) * s->dy[i * d + k];
            s->next[i * d + k] = s->y[i * d + k] + s->dy[i * d + k];
        }
    }
    return s;
}

/* 60 steps in 12 trajectories, 3 folds of 4 trajectories; with `always`, the last fold's steps are always in instead.
 */
static inline sk_problem *case_problem(sock_context *ctx, size_t d, bool always)
{
    enum { N = 60, EACH = 5 };
    size_t fold[N], cluster[N], folds = always ? 2 : 3;
    sk_problem *p = NULL;
    for (size_t i = 0; i < N; i++) {
        fold[i] = i / 20 < folds ? i / 20 : SK_ALWAYS;
        cluster[i] = i / EACH;
    }
    if (sk_problem_new(ctx, case_steps(ctx, N, d, EACH, 11 + d), fold, folds, cluster, N / EACH, &p) < 0)
        fail_msg("%s", sock_message(ctx));
    p->eps = 1e-3;
    return p;
}

static inline sock_model *case_model(sock_context *ctx, size_t d, bool *diagonal)
{
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, d, NULL, case_drift, case_diffusion, diagonal, &model), SOCK_OK);
    return model;
}

static inline sk_kernel *case_kernel(sock_context *ctx, const char *text)
{
    sk_kernel *kernel = NULL;
    if (sk_kernel_parse(ctx, "kernel", text, &kernel) < 0) fail_msg("%s", sock_message(ctx));
    return kernel;
}

/* x := A^-1 x by Gauss-Jordan with pivoting, A (n x n) destroyed; answers log |det A|. */
static inline double dense_solve(size_t n, double *a, size_t rhs, double *x)
{
    double logdet = 0;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < n; r++)
            if (fabs(a[r * n + k]) > fabs(a[best * n + k])) best = r;
        for (size_t j = 0; best != k && j < n; j++) {
            double kept = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = kept;
        }
        for (size_t j = 0; best != k && j < rhs; j++) {
            double kept = x[k * rhs + j];
            x[k * rhs + j] = x[best * rhs + j], x[best * rhs + j] = kept;
        }
        double pivot = a[k * n + k];
        logdet += log(fabs(pivot));
        for (size_t j = 0; j < n; j++) a[k * n + j] /= pivot;
        for (size_t j = 0; j < rhs; j++) x[k * rhs + j] /= pivot;
        for (size_t r = 0; r < n; r++) {
            double factor = a[r * n + k];
            if (r == k || factor == 0) continue;
            for (size_t j = 0; j < n; j++) a[r * n + j] -= factor * a[k * n + j];
            for (size_t j = 0; j < rhs; j++) x[r * rhs + j] -= factor * x[k * rhs + j];
        }
    }
    return logdet;
}

/* log N(e; 0, C) with C = F A F' + eps I and eps I added to e e'; everything written out. */
static inline double dense_score(const sk_problem *p, size_t i, const double *e, const double *integral)
{
    size_t d = p->d;
    const double *f = p->left + i * d * d;
    double c[64] = {0}, inverse[64] = {0}, trace = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            for (size_t u = 0; u < d; u++)
                for (size_t v = 0; v < d; v++) c[k * d + l] += f[k * d + u] * integral[u * d + v] * f[l * d + v];
            if (k == l) c[k * d + l] += p->eps;
            inverse[k * d + l] = k == l;
        }
    double logdet = dense_solve(d, c, d, inverse);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) trace += inverse[k * d + l] * (e[k] * e[l] + (k == l ? p->eps : 0));
    return -0.5 * ((double)d * log(2 * acos(-1.0)) + logdet + trace);
}

#endif
