/* secondmoments.c - the integrals of polynomials up to degree two from the moments of a row's nodes. With z = (x, 1)
 *
 *     M = sum over the nodes e of the row of w_e z_e z_e',     W phi_j = c_j M_ab   for   phi_j(x) = c_j z_a z_b,
 *
 * and of z = (x - o, 1) they are M_ab - o_a M_1b - o_b M_1a + o_a o_b M_11,
 *
 * so that a row costs one product of (2 d + 1) x (d + 1) numbers, whatever the number of features: in many dimensions a
 * tenth of the features at every node. */
#include "occupation/secondmoments.h"

#include <string.h>

/* In fewer dimensions the features at the nodes are as fast. Speed only. */
enum { MANY_DIMENSIONS = 11 };

void sk_quadratic_clear(sk_quadratic *q)
{
    sk_free(q->a);
    sk_free(q->b);
    sk_free(q->c);
    *q = (sk_quadratic){0};
}

/* The factors of a monomial by its powers: z_a z_b with a <= b, d standing for 1. False: there are more than two. */
static bool factors(size_t d, const unsigned *power, size_t *a, size_t *b)
{
    size_t found = 0, factor[2] = {d, d};
    for (size_t k = 0; k < d; k++)
        for (unsigned i = 0; i < power[k]; i++) {
            if (found == 2) return false;
            factor[found++] = k;
        }
    *a = factor[0];
    *b = factor[1];
    return true;
}

sock_status sk_quadratic_new(sock_context *ctx, const sk_features *map, size_t d, sk_quadratic *out)
{
    const size_t p = sk_features_count(map);
    *out = (sk_quadratic){0};
    if (d < MANY_DIMENSIONS || !sk_features_polynomial(map)) return SOCK_OK;
    unsigned *power = sk_alloc(ctx, d, sizeof *power);
    sk_quadratic q = {p,
                      d,
                      sk_alloc(ctx, p, sizeof *q.a),
                      sk_alloc(ctx, p, sizeof *q.b),
                      sk_doubles(ctx, p, 1),
                      sk_features_origin(map)};
    sock_status status = power && q.a && q.b && q.c ? SOCK_OK : SOCK_ENOMEM;
    bool low = status >= 0;
    for (size_t j = 0; low && j < p; j++) {
        sk_features_monomial(map, j, power, &q.c[j]);
        low = factors(d, power, &q.a[j], &q.b[j]);
    }
    sk_free(power);
    if (low)
        *out = q;
    else
        sk_quadratic_clear(&q);
    return status;
}

size_t sk_moments_space(const sk_rule *rule)
{
    const size_t width = rule->in + 1;
    size_t most = 0;
    for (size_t i = 0; i < rule->n; i++) most = SK_MAX(most, rule->row[i + 1] - rule->row[i]);
    return (2 * most + width) * width;
}

const double *sk_row_moments(sock_context *ctx, const sk_rule *rule, size_t row, double *space)
{
    const size_t d = rule->in, width = d + 1, count = rule->row[row + 1] - rule->row[row];
    double *m = space, *z = space + width * width, *weighted = z + count * width;
    for (size_t e = 0; e < count; e++) {
        const size_t entry = rule->row[row] + e;
        memcpy(z + e * width, rule->x + rule->node[entry] * d, d * sizeof *z);
        z[e * width + d] = 1;
        for (size_t k = 0; k < width; k++) weighted[e * width + k] = rule->weight[entry] * z[e * width + k];
    }
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, width, width, count, 1, z, width, weighted, width, 0, m, width);
    return m;
}

double sk_moment(const sk_quadratic *q, const double *moments, size_t a, size_t b)
{
    const size_t d = q->d, width = d + 1;
    const double *last = moments + d * width;
    if (!q->origin) return moments[a * width + b];
    const double oa = a < d ? q->origin[a] : 0, ob = b < d ? q->origin[b] : 0;
    return moments[a * width + b] - oa * last[b] - ob * last[a] + oa * ob * last[d];
}

void sk_quadratic_row(const sk_quadratic *q, const double *moments, double *out)
{
    for (size_t j = 0; j < q->p; j++) out[j] = q->c[j] * sk_moment(q, moments, q->a[j], q->b[j]);
}

/* ---- Rows of a rule ---- */

typedef struct job {
    sock_context *ctx;
    const sk_rule *rule;
    const sk_quadratic *q;
    size_t begin, ld, each;
    double *psi, *space;
} job;

static sock_status some_rows(void *argument, size_t begin, size_t end, int worker)
{
    const job *w = argument;
    double *space = w->space + (size_t)worker * w->each;
    for (size_t i = begin; i < end; i++)
        sk_quadratic_row(w->q, sk_row_moments(w->ctx, w->rule, w->begin + i, space), w->psi + i * w->ld);
    return SOCK_OK;
}

sock_status sk_quadratic_features(sock_context *ctx, const sk_rule *rule, const sk_quadratic *q, size_t begin,
                                  size_t end, double *psi, size_t ld)
{
    enum { GRAIN = 16 };
    job w = {ctx, rule, q, begin, ld, (sk_moments_space(rule) + 7) / 8 * 8, psi, NULL};
    w.space = sk_doubles_unset(ctx, (size_t)sk_workers(ctx), w.each);
    if (!w.space) return SOCK_ENOMEM;
    sock_status status = sk_parallel_for(ctx, end - begin, GRAIN, some_rows, &w);
    sk_free(w.space);
    return status;
}
