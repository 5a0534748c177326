/* gedmd.c - gEDMD (Klus et al., Physica D 2020): the generator L = f.grad + 1/2 a:hess by regression on a dictionary.
 *
 *   1. Psi (steps x M): the dictionary where each step begins
 *   2. samples of a step: b = dx / h and S = r r' / h, with r = dx (raw) or dx - h f (drift-corrected)
 *   3. L psi at the step: grad psi.b + 1/2 S:hess psi. Least squares on Psi gives column psi of the matrix K, and only
 *      the columns that identify the SDE are needed: psi = x_k and psi = x_k x_l
 *   4. f_k = psi.K[:, x_k]; in commutator mode a_kl = psi.K[:, x_k x_l] - f_k x_l - f_l x_k
 *   5. in direct mode a_kl is the regression of S_kl itself
 *
 * Least squares by SVD or QR of Psi, whose columns are brought to one norm first: the normal equations of the original
 * square the condition number, and x^4 beside 1 in units of a thousand would look like a dependent column. With a
 * ridge, whose penalty is that of the coefficients as they are, columns are left alone. */
#include "compare/gedmd.h"

#include "la/la.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THRESHOLD_ROUNDS = 10 };

/* ---- Least squares ---- */

/* Factors of Psi for any number of targets. */
typedef struct least_squares {
    sock_context *ctx;
    size_t rows, size, rank;
    const cmp_gedmd_options *options;
    const double *psi;
    double *norm;   /* M: of the columns, by which they are divided */
    double *factor; /* SVD: U (rows x k); QR: Q (rows x M) */
    double *second; /* SVD: Vt (k x M); QR: R (M x M) */
    double *s;      /* SVD: k singular values */
} least_squares;

static void release(least_squares *q)
{
    sk_free(q->norm);
    sk_free(q->factor);
    sk_free(q->second);
    sk_free(q->s);
    *q = (least_squares){0};
}

static sock_status take_norms(least_squares *q)
{
    q->norm = sk_doubles(q->ctx, q->size, 1);
    if (!q->norm) return SOCK_ENOMEM;
    for (size_t i = 0; i < q->rows; i++)
        for (size_t m = 0; m < q->size; m++) q->norm[m] += q->psi[i * q->size + m] * q->psi[i * q->size + m];
    for (size_t m = 0; m < q->size; m++) {
        const bool usual = q->norm[m] > 0 && isfinite(q->norm[m]) && !(q->options->ridge > 0);
        q->norm[m] = usual ? sqrt(q->norm[m]) : 1;
    }
    return SOCK_OK;
}

static void copy_scaled(const least_squares *q, double *out)
{
    for (size_t i = 0; i < q->rows; i++)
        for (size_t m = 0; m < q->size; m++) out[i * q->size + m] = q->psi[i * q->size + m] / q->norm[m];
}

static sock_status factor_qr(least_squares *q)
{
    if (q->rows < q->size)
        return sk_fail(q->ctx, SOCK_ENUMERIC, "%zu steps for %zu functions: least squares by QR needs at least as many",
                       q->rows, q->size);
    q->factor = sk_doubles_unset(q->ctx, q->rows, q->size);
    q->second = sk_doubles(q->ctx, q->size, q->size);
    if (!q->factor || !q->second) return SOCK_ENOMEM;
    copy_scaled(q, q->factor);
    SK_TRY(sk_qr(q->ctx, q->rows, q->size, q->factor, q->size, q->second, q->size));
    double largest = 0;
    for (size_t m = 0; m < q->size; m++) largest = fmax(largest, fabs(q->second[m * q->size + m]));
    for (size_t m = 0; m < q->size; m++)
        if (!(fabs(q->second[m * q->size + m]) > DBL_EPSILON * (double)q->rows * largest))
            return sk_fail(
                q->ctx, SOCK_ENUMERIC,
                "the %zu functions are linearly dependent on the data; solver=svd takes the smallest solution",
                q->size);
    q->rank = q->size;
    return SOCK_OK;
}

/* Psi = Q R first, so that the SVD is that of a small matrix: U = Q U_R. */
static sock_status factor_tall(least_squares *q)
{
    const size_t m = q->size;
    double *tall = sk_doubles_unset(q->ctx, q->rows, m), *r = sk_doubles(q->ctx, m, m), *u = sk_doubles(q->ctx, m, m);
    sock_status status = tall && r && u ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        copy_scaled(q, tall);
        status = sk_qr(q->ctx, q->rows, m, tall, m, r, m);
    }
    if (status >= 0) status = sk_svd(q->ctx, m, m, r, m, q->s, u, m, q->second, m);
    if (status >= 0) sk_gemm(q->ctx, SK_PLAIN, SK_PLAIN, q->rows, m, m, 1, tall, m, u, m, 0, q->factor, m);
    sk_free(tall);
    sk_free(r);
    sk_free(u);
    return status;
}

static sock_status factor_flat(least_squares *q)
{
    double *copy = sk_doubles_unset(q->ctx, q->rows, q->size);
    if (!copy) return SOCK_ENOMEM;
    copy_scaled(q, copy);
    sock_status status = sk_svd(q->ctx, q->rows, q->size, copy, q->size, q->s, q->factor, q->rows, q->second, q->size);
    sk_free(copy);
    return status;
}

/* As a pseudo-inverse does: singular values that are rounding do not count. */
static sock_status factor_svd(least_squares *q)
{
    size_t k = SK_MIN(q->rows, q->size);
    q->factor = sk_doubles(q->ctx, q->rows, k);
    q->second = sk_doubles(q->ctx, k, q->size);
    q->s = sk_doubles(q->ctx, k, 1);
    if (!q->factor || !q->second || !q->s) return SOCK_ENOMEM;
    SK_TRY(q->rows >= q->size ? factor_tall(q) : factor_flat(q));
    double least = q->s[0] * DBL_EPSILON * (double)SK_MAX(q->rows, q->size);
    while (q->rank < k && q->s[q->rank] > least) q->rank++;
    return SOCK_OK;
}

/* c (M) = argmin |Psi c - y|^2 + penalty |c|^2; scratch: M numbers. */
static void solve_svd(const least_squares *q, const double *y, double *c, double *scratch)
{
    size_t k = SK_MIN(q->rows, q->size);
    double penalty = 0;
    for (size_t i = 0; i < q->rank; i++) penalty += q->options->ridge * q->s[i] * q->s[i] / (double)q->size;
    sk_gemv(q->ctx, SK_TRANSPOSED, q->rows, k, 1, q->factor, k, y, 0, scratch);
    memset(c, 0, q->size * sizeof *c);
    for (size_t i = 0; i < q->rank; i++)
        sk_axpy(q->size, scratch[i] * q->s[i] / (q->s[i] * q->s[i] + penalty), q->second + i * q->size, c);
}

static void solve_qr(const least_squares *q, const double *y, double *c)
{
    sk_gemv(q->ctx, SK_TRANSPOSED, q->rows, q->size, 1, q->factor, q->size, y, 0, c);
    for (size_t m = q->size; m-- > 0;) {
        for (size_t j = m + 1; j < q->size; j++) c[m] -= q->second[m * q->size + j] * c[j];
        c[m] /= q->second[m * q->size + m];
    }
}

static sock_status prepare(least_squares *q)
{
    SK_TRY(take_norms(q));
    return q->options->by_qr ? factor_qr(q) : factor_svd(q);
}

static void solve(const least_squares *q, const double *y, double *c, double *scratch)
{
    if (q->options->by_qr)
        solve_qr(q, y, c);
    else
        solve_svd(q, y, c, scratch);
    for (size_t m = 0; m < q->size; m++) c[m] /= q->norm[m];
}

/* Sequential thresholding: fit, take out what is small, fit the rest again. */
static sock_status solve_sparse(const least_squares *q, const double *y, double *c, double *scratch)
{
    size_t size = q->size, *kept = sk_alloc(q->ctx, size, sizeof *kept);
    double *part = sk_doubles(q->ctx, q->rows, size), *some = sk_doubles(q->ctx, size, 1);
    sock_status status = kept && part && some ? SOCK_OK : SOCK_ENOMEM;
    for (int round = 0; status >= 0 && round < THRESHOLD_ROUNDS; round++) {
        size_t count = 0;
        for (size_t m = 0; m < size; m++)
            if (fabs(c[m]) >= q->options->threshold) kept[count++] = m;
        memset(some, 0, size * sizeof *some);
        for (size_t i = 0; i < q->rows; i++)
            for (size_t j = 0; j < count; j++) part[i * count + j] = q->psi[i * size + kept[j]];
        least_squares rest = {.ctx = q->ctx, .rows = q->rows, .size = count, .options = q->options, .psi = part};
        if (count) status = prepare(&rest);
        if (status >= 0 && count) solve(&rest, y, some, scratch);
        release(&rest);
        memset(c, 0, size * sizeof *c);
        for (size_t j = 0; status >= 0 && j < count; j++) c[kept[j]] = some[j];
    }
    for (size_t m = 0; m < size; m++)
        if (fabs(c[m]) < q->options->threshold) c[m] = 0;
    sk_free(kept);
    sk_free(part);
    sk_free(some);
    return status;
}

/* ---- Targets ---- */

typedef struct gedmd {
    least_squares squares;
    const cmp_steps *steps;
    cmp_expansion *e;
    double *residual; /* steps x d: r */
    double *target, *c, *scratch, *gradient, *hessian;
} gedmd;

/* One regression into column `column` of coefficients (M x columns). */
static sock_status regress(gedmd *g, size_t columns, size_t column, double *coefficients)
{
    const least_squares *q = &g->squares;
    solve(q, g->target, g->c, g->scratch);
    if (q->options->threshold > 0) SK_TRY(solve_sparse(q, g->target, g->c, g->scratch));
    for (size_t m = 0; m < q->size; m++) coefficients[m * columns + column] = g->c[m];
    return SOCK_OK;
}

/* Step 3: target = L psi_m at every step, from its samples. */
static void apply_generator(gedmd *g, size_t m)
{
    const cmp_steps *s = g->steps;
    const size_t d = s->d;
    for (size_t i = 0; i < s->count; i++) {
        const double *dx = s->dx + i * d, *r = g->residual + i * d;
        double sum = 0;
        cmp_library_derivatives(g->e->library, m, s->x + i * d, g->gradient, g->hessian);
        for (size_t k = 0; k < d; k++) {
            sum += g->gradient[k] * dx[k];
            for (size_t l = 0; l < d; l++) sum += 0.5 * g->hessian[k * d + l] * r[k] * r[l];
        }
        g->target[i] = sum / s->h[i];
    }
}

static sock_status fit_drift(gedmd *g)
{
    const cmp_steps *s = g->steps;
    for (size_t k = 0; k < s->d; k++) {
        for (size_t i = 0; i < s->count; i++) g->target[i] = s->dx[i * s->d + k] / s->h[i];
        SK_TRY(regress(g, s->d, k, g->e->drift));
    }
    return SOCK_OK;
}

static void make_residuals(gedmd *g, bool corrected)
{
    const cmp_steps *s = g->steps;
    const size_t d = s->d, size = g->squares.size;
    double *r = g->residual;
    memset(r, 0, s->count * d * sizeof *r);
    if (corrected)
        sk_gemm(g->squares.ctx, SK_PLAIN, SK_PLAIN, s->count, d, size, 1, g->squares.psi, size, g->e->drift, d, 0, r,
                d);
    for (size_t i = 0; i < s->count * d; i++) r[i] = s->dx[i] - s->h[i / d] * r[i];
}

static sock_status fit_diffusion(gedmd *g, bool commutator)
{
    const cmp_steps *s = g->steps;
    const size_t d = s->d;
    for (size_t k = 0; k < d; k++)
        for (size_t l = k; l < d; l++) {
            if (commutator)
                apply_generator(g, cmp_library_find(g->e->library, k, l));
            else
                for (size_t i = 0; i < s->count; i++)
                    g->target[i] = g->residual[i * d + k] * g->residual[i * d + l] / s->h[i];
            SK_TRY(sk_progress(g->squares.ctx, "gedmd", -1));
            SK_TRY(regress(g, cmp_pairs(d), cmp_pair(d, k, l), g->e->diffusion));
        }
    return SOCK_OK;
}

sock_status cmp_gedmd(sock_context *ctx, const cmp_steps *steps, const cmp_gedmd_options *options, cmp_expansion *e,
                      size_t *rank)
{
    const size_t size = cmp_library_size(e->library), d = steps->d;
    double *psi = sk_doubles_unset(ctx, steps->count, size);
    gedmd g = {.squares = {.ctx = ctx, .rows = steps->count, .size = size, .options = options, .psi = psi},
               .steps = steps,
               .e = e,
               .residual = sk_doubles(ctx, steps->count, d),
               .target = sk_doubles(ctx, steps->count, 1),
               .c = sk_doubles(ctx, size, 1),
               .scratch = sk_doubles(ctx, size, 1),
               .gradient = sk_doubles(ctx, d, 1),
               .hessian = sk_doubles(ctx, d, d)};
    sock_status status = SOCK_ENOMEM;
    if (!psi || !g.residual || !g.target || !g.c || !g.scratch || !g.gradient || !g.hessian) goto out;
    cmp_library_eval(e->library, steps->count, steps->x, psi);
    e->commutator = options->commutator;
    SK_GO(prepare(&g.squares));
    SK_GO(fit_drift(&g));
    make_residuals(&g, options->corrected);
    SK_GO(fit_diffusion(&g, options->commutator));
    *rank = g.squares.rank;
out:
    release(&g.squares);
    sk_free(psi);
    sk_free(g.residual);
    sk_free(g.target);
    sk_free(g.c);
    sk_free(g.scratch);
    sk_free(g.gradient);
    sk_free(g.hessian);
    return status;
}

/* ---- As a method ---- */

static sock_status check(sock_context *ctx, const cmp_steps *steps, const cmp_gedmd_options *options,
                         const cmp_library *library)
{
    SK_TRY(sk_memory_check(ctx, 24.0 * (double)steps->count * (double)cmp_library_size(library),
                           "the dictionary at all steps", "take a smaller one (degree, count)"));
    if (options->commutator && cmp_library_find(library, 0, 0) == cmp_library_size(library))
        return sk_fail(ctx, SOCK_EUSAGE, "mode=commutator needs x_i x_j in the dictionary; allowed: degree >= 2");
    if (options->by_qr && options->ridge > 0) return sk_fail(ctx, SOCK_EUSAGE, "ridge is for solver=svd");
    return SOCK_OK;
}

static sock_status regression(sock_context *ctx, const cmp_spec *spec, const cmp_steps *steps, cmp_expansion *e,
                              char *rest, char *note)
{
    const cmp_gedmd_options options = {.commutator = cmp_spec_is(spec, "mode", "commutator"),
                                       .corrected = cmp_spec_is(spec, "corrected", "yes"),
                                       .by_qr = cmp_spec_is(spec, "solver", "qr"),
                                       .ridge = cmp_spec_number(spec, "ridge"),
                                       .threshold = cmp_spec_number(spec, "threshold")};
    const size_t size = cmp_library_size(e->library);
    size_t rank = 0;
    SK_TRY(check(ctx, steps, &options, e->library));
    SK_TRY(cmp_gedmd(ctx, steps, &options, e, &rank));
    snprintf(rest, CMP_REST_SIZE, "%s, %s, least squares by %s", options.commutator ? "commutator" : "direct",
             options.corrected ? "drift-corrected" : "raw", options.by_qr ? "QR" : "SVD");
    if (rank < size)
        snprintf(note, CMP_TEXT_SIZE, "the %zu functions have rank %zu on the data: the smallest solution", size, rank);
    return SOCK_OK;
}

static sock_status fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    return cmp_expansion_fit(ctx, spec, c, cmp_spec_is(spec, "mode", "commutator") ? CMP_APPEND : 0, regression, out);
}

#define MODES(mode, corrected)                                                                                         \
    {"mode", mode, CMP_CHOICE, 0, 0, "direct|commutator", "a from r r' / h itself, or by the generator's identity"},   \
        {"corrected", corrected, CMP_CHOICE, 0, 0, "yes|no", "r = dx - h f, or dx"},                                   \
        {"solver", "svd", CMP_CHOICE, 0, 0, "svd|qr", "of the least squares"},                                         \
        {"ridge", "0", CMP_NUMBER, 0, 1e300, "a number >= 0", "penalty, in units of the mean squared singular value"}, \
    {                                                                                                                  \
        "threshold", "0", CMP_NUMBER, 0, 1e300, "a number >= 0", "smaller coefficients are taken out, in 10 rounds"    \
    }

static const cmp_parameter strong[] = {CMP_LIBRARY("poly", "2"), MODES("direct", "yes"), CMP_FIT_ON("all"), {0}};
static const cmp_parameter literal[] = {CMP_LIBRARY("poly", "2"), MODES("commutator", "no"), CMP_FIT_ON("train"), {0}};
static const cmp_parameter gauss[] = {CMP_LIBRARY("gauss", "auto"), MODES("direct", "yes"), CMP_FIT_ON("train"), {0}};

const cmp_method cmp_gedmd_methods[] = {
    {"gedmd", "gedmd", "generator regression on monomials, a regressed directly: its strong setting", strong, fit,
     NULL},
    {"gedmd-commutator", "gedmd",
     "a by the generator's identity, as written: what the paper's figures suggest in d >= 2", literal, fit, NULL},
    {"gedmd-gauss", "gedmd", "the direct regression on 20 Gaussians: what the paper's figures suggest in d = 1", gauss,
     fit, NULL},
    {0}};
