/* innovation.c - see innovation.h. Cost of a step: d^2 p d for U, d (p d)^2 / 2 for the sums. */
#include "drift/innovation.h"

#include <string.h>

enum { AT_ONCE = 256 }; /* steps whose rows are in memory at once; speed only */

/* to (d x width) = m from, m d x d. */
static void carry(size_t d, size_t width, const double *m, const double *from, double *to)
{
    memset(to, 0, d * width * sizeof *to);
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < d; b++) sk_axpy(width, m[a * d + b], from + b * width, to + a * width);
}

/* u (d x width) of step i, before its observation; column p d is u0. psi: times x p. */
static void push(const sk_innovations *in, size_t i, size_t p, const double *psi, double *u, double *space)
{
    const size_t d = in->d, width = p * d + 1;
    if (in->begins[i])
        memset(u, 0, d * width * sizeof *u);
    else
        memcpy(space, u, d * width * sizeof *u);
    if (!in->begins[i]) carry(d, width, in->slope + i * d * d, space, u);
    for (size_t t = 0; t < in->times; t++) {
        const double *j = in->onward + (i * in->times + t) * d * d, *f = in->drift + (i * in->times + t) * d;
        for (size_t a = 0; a < d; a++) {
            for (size_t k = 0; k < d; k++) sk_axpy(p, j[a * d + k], psi + t * p, u + a * width + k * p);
            u[a * width + p * d] += sk_dot(d, j + a * d, f);
        }
    }
}

/* Whitened rows (d x p d) and targets (d) of step i. */
static void whiten(const sk_innovations *in, size_t i, size_t order, const double *u, double *row, double *target)
{
    const size_t d = in->d, width = order + 1;
    const double *w = in->white + i * d * d;
    memset(row, 0, d * order * sizeof *row);
    for (size_t a = 0; a < d; a++) {
        target[a] = 0;
        for (size_t b = 0; b < d; b++) {
            sk_axpy(order, w[a * d + b], u + b * width, row + a * order);
            target[a] += w[a * d + b] * (in->e[i * d + b] + u[b * width + order]);
        }
    }
}

sock_status sk_drift_sums_add_innovations(sock_context *ctx, sk_drift_sums *sums, const sk_innovations *in,
                                          const double *psi)
{
    const size_t d = in->d, p = sums->p, order = p * d, width = order + 1;
    double *u = sk_doubles(ctx, d, width), *space = sk_doubles(ctx, d, width);
    double *row = sk_doubles_unset(ctx, AT_ONCE * d, order), *target = sk_doubles_unset(ctx, AT_ONCE, d);
    sock_status status = u && space && row && target ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < in->n; at += AT_ONCE) {
        const size_t count = SK_MIN(in->n - at, (size_t)AT_ONCE);
        for (size_t i = at; i < at + count; i++) {
            push(in, i, p, psi + i * in->times * p, u, space);
            whiten(in, i, order, u, row + (i - at) * d * order, target + (i - at) * d);
            memcpy(space, u, d * width * sizeof *u);
            carry(d, width, in->keep + i * d * d, space, u);
        }
        status = sk_drift_sums_add_joint(ctx, sums, in->fold, count * d, row, target);
    }
    sk_free(u);
    sk_free(space);
    sk_free(row);
    sk_free(target);
    return status;
}

/* With one column, the difference of the two drifts, U w - u0 is what the candidate shifts the predicted mean by. */
sock_status sk_innovation_scores(sock_context *ctx, const sk_innovations *in, const double *other, double *score)
{
    const size_t d = in->d;
    double *u = sk_doubles(ctx, 3, d);
    if (!u) return SOCK_ENOMEM;
    double *next = u + d, *r = next + d;
    for (size_t i = 0; i < in->n; i++) {
        if (in->begins[i]) memset(u, 0, d * sizeof *u);
        carry(d, 1, in->slope + i * d * d, u, next);
        for (size_t t = 0; t < in->times; t++) {
            const size_t at = i * in->times + t;
            for (size_t k = 0; k < d; k++) r[k] = other[at * d + k] - in->drift[at * d + k];
            for (size_t a = 0; a < d; a++) next[a] += sk_dot(d, in->onward + (at * d + a) * d, r);
        }
        for (size_t a = 0; a < d; a++) r[a] = in->e[i * d + a] - next[a];
        score[i] = 0;
        for (size_t a = 0; a < d; a++) {
            const double whitened = sk_dot(d, in->white + (i * d + a) * d, r);
            score[i] -= 0.5 * whitened * whitened;
        }
        carry(d, 1, in->keep + i * d * d, next, u);
    }
    sk_free(u);
    return SOCK_OK;
}
