/* msbl.c - y = Phi w + noise of variance lambda, w_m ~ N(0, gamma_m), gamma and lambda learned.
 *
 *   0. once: Phi = Q R (rows x columns; Phi itself where it has fewer rows than columns); u = Q'y, rest = |y|^2 - |u|^2
 *   repeat
 *   1. drop the columns with gamma_m <= prune; none left: w = 0
 *   2. R_kept diag(sqrt gamma) = U diag(s) V'
 *   3. mu = diag(sqrt gamma) V diag(s / (s^2 + lambda)) U'u
 *   4. Sigma_m = gamma_m (1 - sum_k V_mk^2 s_k^2 / (s_k^2 + lambda))                       posterior variance
 *   5. lambda = (|u - R mu|^2 + rest) / (rows - kept + sum_m Sigma_m / gamma_m)            with gamma of before
 *   6. gamma_m = mu_m^2 + Sigma_m
 *   until nothing moves in a pass that dropped nothing, or the passes are used up
 *
 * Where the noise is well above the rounding of R'R, steps 2 to 4 are one Cholesky factorisation of
 * B = diag(sqrt gamma) R'R diag(sqrt gamma) + lambda I:  mu = diag(sqrt gamma) B^-1 diag(sqrt gamma) R'u and
 * Sigma_m = gamma_m lambda (B^-1)_mm, the same numbers several times faster.
 *
 * A pass costs O(kept^3), whatever the number of rows. */
#include "compare/msbl.h"

#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct cmp_msbl {
    size_t rows, columns, height; /* height: rows of r = min(rows, columns) */
    double *q;                    /* rows x columns; NULL: r is Phi itself */
    double *r;                    /* height x columns */
    double *gram, *product;       /* R'R (columns x columns), R'u */
    /* Work space of a pass. */
    double *u, *scaled, *left, *right, *s, *gamma, *mu, *old, *variance, *coordinates;
    size_t *kept;
};

void cmp_msbl_free(cmp_msbl *p)
{
    if (!p) return;
    double *const arrays[] = {p->q,     p->r, p->gram,  p->product, p->u,   p->scaled,   p->left,
                              p->right, p->s, p->gamma, p->mu,      p->old, p->variance, p->coordinates};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) sk_free(arrays[i]);
    sk_free(p->kept);
    sk_free(p);
}

static sock_status make_space(sock_context *ctx, cmp_msbl *p)
{
    size_t m = p->columns, h = p->height;
    struct {
        double **array;
        size_t size;
    } all[] = {{&p->gram, m * m},
               {&p->product, m},
               {&p->u, h},
               {&p->scaled, SK_MAX(h, m) * m},
               {&p->left, SK_MAX(h * h, m * m)},
               {&p->right, h * m},
               {&p->s, h},
               {&p->gamma, m},
               {&p->mu, m},
               {&p->old, m},
               {&p->variance, m},
               {&p->coordinates, SK_MAX(h, m)}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i].array = sk_doubles(ctx, all[i].size, 1);
        if (!*all[i].array) return SOCK_ENOMEM;
    }
    p->kept = sk_alloc(ctx, m, sizeof *p->kept);
    return p->kept ? SOCK_OK : SOCK_ENOMEM;
}

/* Step 0. */
static sock_status factor(sock_context *ctx, cmp_msbl *p, const double *phi)
{
    const size_t size = p->rows * p->columns;
    p->r = sk_doubles(ctx, p->height, p->columns);
    if (!p->r) return SOCK_ENOMEM;
    if (p->rows < p->columns) {
        memcpy(p->r, phi, size * sizeof *phi);
        return SOCK_OK;
    }
    p->q = sk_doubles_unset(ctx, p->rows, p->columns);
    if (!p->q) return SOCK_ENOMEM;
    memcpy(p->q, phi, size * sizeof *phi);
    return sk_qr(ctx, p->rows, p->columns, p->q, p->columns, p->r, p->columns);
}

sock_status cmp_msbl_new(sock_context *ctx, size_t rows, size_t columns, const double *phi, cmp_msbl **out)
{
    cmp_msbl *p = sk_alloc(ctx, 1, sizeof *p);
    if (!p) return SOCK_ENOMEM;
    p->rows = rows;
    p->columns = columns;
    p->height = SK_MIN(rows, columns);
    sock_status status = factor(ctx, p, phi);
    if (status >= 0) status = make_space(ctx, p);
    if (status >= 0)
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, columns, columns, p->height, 1, p->r, columns, p->r, columns, 0, p->gram,
                columns);
    if (status < 0)
        cmp_msbl_free(p);
    else
        *out = p;
    return status;
}

/* Step 1: how many of the `count` kept columns stay; the arrays that follow them are packed. */
static size_t drop(cmp_msbl *p, size_t count, double prune)
{
    size_t stay = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(p->gamma[i] > prune)) continue;
        p->kept[stay] = p->kept[i];
        p->gamma[stay] = p->gamma[i];
        p->mu[stay] = p->mu[i];
        stay++;
    }
    return stay;
}

/* Step 2, by SVD. */
static sock_status decompose(sock_context *ctx, cmp_msbl *p, size_t count, size_t *rank)
{
    for (size_t i = 0; i < p->height; i++)
        for (size_t j = 0; j < count; j++)
            p->scaled[i * count + j] = p->r[i * p->columns + p->kept[j]] * sqrt(p->gamma[j]);
    *rank = SK_MIN(p->height, count);
    return sk_svd(ctx, p->height, count, p->scaled, count, p->s, p->left, *rank, p->right, count);
}

/* Steps 3 and 4, by SVD. */
static void posterior_svd(cmp_msbl *p, size_t count, size_t rank, double lambda)
{
    memset(p->coordinates, 0, rank * sizeof *p->coordinates);
    for (size_t i = 0; i < p->height; i++)
        for (size_t k = 0; k < rank; k++) p->coordinates[k] += p->left[i * rank + k] * p->u[i];
    for (size_t j = 0; j < count; j++) {
        double sum = 0, shrunk = 0;
        for (size_t k = 0; k < rank; k++) {
            double v = p->right[k * count + j], s = p->s[k];
            if (s == 0) continue;
            sum += v * s / (s * s + lambda) * p->coordinates[k];
            shrunk += v * v * s * s / (s * s + lambda);
        }
        p->mu[j] = sqrt(p->gamma[j]) * sum;
        p->variance[j] = p->gamma[j] * fmax(1 - shrunk, 0);
    }
}

/* B's rounding, in units of lambda, beyond which the Cholesky factorisation is not used. */
static const double CHOLESKY_ROUNDING = 1e-10;

/* Steps 2 to 4, by Cholesky; false: the noise is too small for it. */
static bool posterior_cholesky(sock_context *ctx, cmp_msbl *p, size_t count, double lambda)
{
    double trace = 0, *b = p->scaled, *inverse = p->left, *x = p->coordinates;
    for (size_t i = 0; i < count; i++) trace += p->gamma[i] * p->gram[p->kept[i] * p->columns + p->kept[i]];
    if (!(trace * DBL_EPSILON < CHOLESKY_ROUNDING * lambda)) return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++)
            b[i * count + j] = sqrt(p->gamma[i] * p->gamma[j]) * p->gram[p->kept[i] * p->columns + p->kept[j]];
        b[i * count + i] += lambda;
        x[i] = sqrt(p->gamma[i]) * p->product[p->kept[i]];
    }
    if (sk_cholesky(ctx, count, b, count) < 0) return false;
    sk_cholesky_solve(ctx, count, 1, b, count, x, 1);
    memset(inverse, 0, count * count * sizeof *inverse);
    for (size_t i = 0; i < count; i++) inverse[i * count + i] = 1;
    sk_solve_lower(ctx, SK_PLAIN, count, count, b, count, inverse, count);
    memset(p->variance, 0, count * sizeof *p->variance);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) p->variance[j] += inverse[i * count + j] * inverse[i * count + j];
    for (size_t j = 0; j < count; j++) {
        p->mu[j] = sqrt(p->gamma[j]) * x[j];
        p->variance[j] *= p->gamma[j] * lambda;
    }
    return true;
}

static sock_status posterior(sock_context *ctx, cmp_msbl *p, size_t count, double lambda)
{
    size_t rank = 0;
    if (posterior_cholesky(ctx, p, count, lambda)) return SOCK_OK;
    SK_TRY(decompose(ctx, p, count, &rank));
    posterior_svd(p, count, rank, lambda);
    return SOCK_OK;
}

/* Step 5. */
static double noise(cmp_msbl *p, size_t count, double rest)
{
    double degrees = (double)p->rows - (double)count, square = rest;
    for (size_t j = 0; j < count; j++) degrees += p->variance[j] / p->gamma[j];
    for (size_t i = 0; i < p->height; i++) {
        double residual = p->u[i];
        for (size_t j = 0; j < count; j++) residual -= p->r[i * p->columns + p->kept[j]] * p->mu[j];
        square += residual * residual;
    }
    /* Data without noise would take it to 0, and 0/0 with it. */
    return fmax(square / fmax(degrees, DBL_EPSILON), 1e-200);
}

static double moved(const cmp_msbl *p, size_t count)
{
    double most = 0;
    for (size_t j = 0; j < count; j++) most = fmax(most, fabs(p->mu[j] - p->old[j]));
    return most;
}

/* u, R'u and the part of |y|^2 outside the columns' span. */
static double take_target(sock_context *ctx, cmp_msbl *p, const double *y)
{
    if (p->q)
        sk_gemv(ctx, SK_TRANSPOSED, p->rows, p->columns, 1, p->q, p->columns, y, 0, p->u);
    else
        memcpy(p->u, y, p->rows * sizeof *y);
    sk_gemv(ctx, SK_TRANSPOSED, p->height, p->columns, 1, p->r, p->columns, p->u, 0, p->product);
    if (!p->q) return 0;
    double whole = sk_norm(p->rows, y), inside = sk_norm(p->height, p->u);
    return fmax((whole - inside) * (whole + inside), 0);
}

sock_status cmp_msbl_solve(sock_context *ctx, cmp_msbl *p, const double *y, const cmp_msbl_options *options, double *w,
                           cmp_msbl_report *report)
{
    size_t count = p->columns, pass = 0;
    double lambda = 1, rest = take_target(ctx, p, y);
    bool still = false;
    for (size_t j = 0; j < count; j++) p->kept[j] = j, p->gamma[j] = options->gamma, p->mu[j] = 0;
    for (; pass < options->passes && count && !still; pass++) {
        size_t before = count;
        SK_TRY(sk_progress(ctx, "sparse Bayesian regression", -1));
        count = drop(p, count, options->prune);
        if (!count) break;
        memcpy(p->old, p->mu, count * sizeof *p->old);
        SK_TRY(posterior(ctx, p, count, lambda));
        lambda = noise(p, count, rest);
        for (size_t j = 0; j < count; j++) p->gamma[j] = p->mu[j] * p->mu[j] + p->variance[j];
        still = count == before && moved(p, count) < options->eps;
    }
    memset(w, 0, p->columns * sizeof *w);
    for (size_t j = 0; j < count; j++) w[p->kept[j]] = p->mu[j];
    if (report) *report = (cmp_msbl_report){pass, still || !count};
    return SOCK_OK;
}
