/* separate.c - see separate.h. Cost: n p^2 once, then that of p rows for each lambda. */
#include "diffusion/separate.h"

#include "diffusion/diffusion.h"

#include <math.h>
#include <string.h>

typedef struct problem {
    sock_context *ctx;
    const sk_separate_rows *rows;
    size_t n, p, d, pairs;
    const double *z; /* n x d x d */
    double *b;       /* n x p */
    double *c, zz;   /* pairs x p */
    double *dual;    /* pairs x p */
    sk_psd_gram *gram;
} problem;

static double weight_of(const sk_separate_rows *rows, size_t i) { return rows->row_weight ? rows->row_weight[i] : 1; }

static void fill_rows(const sk_separate_rows *rows, double *b)
{
    const sk_rule *rule = rows->rule;
    for (size_t i = 0; i < rule->n; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            const double *phi = rows->phi + rule->node[e] * rows->p;
            for (size_t m = 0; m < rows->p; m++) b[i * rows->p + m] += rule->weight[e] * phi[m] * phi[m];
        }
}

static sock_status factor_gram(sock_context *ctx, const sk_separate_rows *rows, const double *b, sk_psd_gram **out)
{
    const size_t n = rows->rule->n, p = rows->p;
    double *g = sk_doubles(ctx, p, p);
    size_t *own = sk_alloc(ctx, p, sizeof *own);
    sock_status status = g && own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t m = 0; own && m < p; m++) own[m] = m;
    for (size_t i = 0; status >= 0 && i < n; i++)
        for (size_t m = 0; m < p; m++) sk_axpy(p, weight_of(rows, i) * b[i * p + m], b + i * p, g + m * p);
    if (status >= 0) status = sk_psd_gram_entries(ctx, n, p, p, own, own, g, out);
    sk_free(g);
    sk_free(own);
    return status;
}

static void fill_moments(problem *t)
{
    const double root2 = 1.41421356237309504880;
    memset(t->c, 0, t->pairs * t->p * sizeof *t->c);
    t->zz = 0;
    for (size_t i = 0; i < t->n; i++)
        for (size_t l = 0, pair = 0; l < t->d; l++)
            for (size_t k = 0; k <= l; k++, pair++) {
                const double w = weight_of(t->rows, i), z = t->z[(i * t->d + k) * t->d + l] * (k < l ? root2 : 1);
                sk_axpy(t->p, w * z, t->b + i * t->p, t->c + pair * t->p);
                t->zz += w * z * z;
            }
}

/* beta_i = (2/n) w_i (R(Q)_i - z_i), the dual point of the solution. */
static void fill_beta(const problem *t, const double *q, double *beta)
{
    const size_t d = t->d, order = d * t->p;
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < d * d; k++) {
            double sum = -t->z[i * d * d + k];
            for (size_t m = 0; m < t->p; m++)
                sum += t->b[i * t->p + m] * q[(k / d * t->p + m) * order + k % d * t->p + m];
            beta[i * d * d + k] = 2 / (double)t->n * weight_of(t->rows, i) * sum;
        }
}

static sock_status fill_result(const problem *t, const double *q, const sk_psd_bounds *bounds, sk_psd_result *r)
{
    const size_t order = t->d * t->p;
    r->n = t->n, r->p = t->p, r->d = t->d, r->rows = sk_psd_gram_rows(t->gram);
    r->primal = bounds->primal, r->dual = bounds->dual, r->gap = bounds->gap;
    r->solver = "newton";
    SK_TRY(sk_leading_factor(t->ctx, order, q, order, 1e-14, &r->factor, &r->rank));
    r->values = sk_doubles(t->ctx, SK_MAX(r->rank, 1), 1);
    r->beta = sk_doubles(t->ctx, t->n, t->d * t->d);
    if (!r->values || !r->beta) return SOCK_ENOMEM;
    for (size_t i = 0; i < order * r->rank; i++) r->values[i % r->rank] += r->factor[i] * r->factor[i];
    fill_beta(t, q, r->beta);
    return SOCK_OK;
}

/* From where the last lambda ended. */
static sock_status solve_one(problem *t, const sk_psd_options *options, double lambda, bool warm, sk_psd_result **out)
{
    const size_t order = t->d * t->p;
    const sk_psd_moments z = {t->d, t->c, t->zz, lambda};
    sk_psd_bounds bounds = {0, 0, 0};
    sk_psd_result *r = sk_alloc(t->ctx, 1, sizeof *r);
    double *q = sk_doubles(t->ctx, order, order);
    sock_status status = r && q ? SOCK_OK : SOCK_ENOMEM, ended = SOCK_OK;
    if (status >= 0) status = ended = sk_psd_gram_solve(t->ctx, t->gram, t->n, &z, options, t->dual, warm, q, &bounds);
    if (status >= 0) status = fill_result(t, q, &bounds, r);
    sk_free(q);
    if (status < 0) {
        sk_psd_result_free(r);
        return status;
    }
    r->lambda = lambda;
    r->converged = ended == SOCK_OK;
    *out = r;
    return ended;
}

/* The next of the lambdas below `last`; count: there is none. */
static size_t next_lambda(size_t count, const double *lambda, sk_psd_result *const *out, size_t stride)
{
    size_t next = count;
    for (size_t i = 0; i < count; i++)
        if (!out[i * stride] && (next == count || lambda[i] > lambda[next])) next = i;
    return next;
}

static sock_status solve_part(problem *t, const sk_psd_targets *targets, size_t part, const sk_psd_options *options,
                              size_t count, const double *lambda, sk_psd_result **out)
{
    sock_status worst = SOCK_OK;
    t->z = targets->z + part * t->n * t->d * t->d;
    fill_moments(t);
    for (size_t i, done = 0; (i = next_lambda(count, lambda, out + part, targets->parts)) < count; done++) {
        const sock_status ended = solve_one(t, options, lambda[i], done > 0, &out[i * targets->parts + part]);
        if (ended < 0) return ended;
        worst = SK_MAX(worst, ended);
    }
    return worst;
}

sock_status sk_separate_paths(sock_context *ctx, const sk_separate_rows *rows, const sk_psd_targets *targets,
                              const sk_psd_options *options, size_t count, const double *lambda, sk_psd_result **out)
{
    problem t = {.ctx = ctx, .rows = rows, .n = rows->rule->n, .p = rows->p, .d = targets->d};
    sock_status status, worst = SOCK_OK;
    t.pairs = t.d * (t.d + 1) / 2;
    for (size_t i = 0; i < count * targets->parts; i++) out[i] = NULL;
    t.b = sk_doubles(ctx, t.n, t.p);
    t.c = sk_doubles(ctx, t.pairs, t.p);
    t.dual = sk_doubles(ctx, t.pairs, t.p);
    SK_GO(t.b && t.c && t.dual ? SOCK_OK : SOCK_ENOMEM);
    fill_rows(rows, t.b);
    SK_GO(factor_gram(ctx, rows, t.b, &t.gram));
    for (size_t part = 0; part < targets->parts; part++) {
        SK_GO(solve_part(&t, targets, part, options, count, lambda, out));
        worst = SK_MAX(worst, status);
    }
out:
    sk_psd_gram_free(t.gram);
    sk_free(t.b);
    sk_free(t.c);
    sk_free(t.dual);
    for (size_t i = 0; status < 0 && i < count * targets->parts; i++) {
        sk_psd_result_free(out[i]);
        out[i] = NULL;
    }
    return status < 0 ? status : worst;
}
