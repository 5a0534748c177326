/* subjects.c - see score.h. Under a Markov model the past of a trajectory says nothing of the next step, given the
 * state. Where trajectories have set points of their own it does:
 *
 *     dx = c (mu_j - x) dt + ..    is pulled towards the mean of the states so far; in units of the step's deviation,
 *     dx = f(x) dt + b_j sd + ..   goes on as the mean of the scores so far, of few scores less: S / (n + prior)
 *
 * Both are known when the step begins, so no step of a right model is foretold by them, whatever the number of steps.
 */
#include "score/score.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>

void sk_subject_columns(const sk_subjects *s, double *out)
{
    double states = 0, scores = 0, count = 0, scored = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i == 0 || s->piece[i] != s->piece[i - 1]) states = scores = count = scored = 0;
        const double x = s->x[i * s->x_stride], v = s->v[i * s->v_stride];
        states += x;
        count++;
        out[SK_SUBJECT_COLUMNS * i] = (states / count - x) * s->weight[i * s->v_stride];
        out[SK_SUBJECT_COLUMNS * i + 1] = scores / (scored + SK_CHECK_SUBJECT_PRIOR);
        if (isnan(v)) continue;
        scores += v;
        scored++;
    }
}

/* ---- What they are worth ---- */

enum { POWERS = 3 };                 /* of the states, beside which a dependence on them is none on the past */
static const double ROUNDING = 1e-8; /* of a length: what is left of a column that is a sum of others is rounding */

/* Row j of q (rows of n) becomes orthogonal to those before it, and of length 1, or 0. */
static bool straighten(size_t n, size_t j, double *q)
{
    double *row = q + j * n;
    const double before = sqrt(sk_dot(n, row, row));
    for (size_t i = 0; i < j; i++) sk_axpy(n, -sk_dot(n, q + i * n, row), q + i * n, row);
    const double length = sqrt(sk_dot(n, row, row));
    const bool left = length > ROUNDING * before && isfinite(length);
    sk_scale(n, left ? 1 / length : 0, row);
    return left;
}

/* Rows of q: a constant, and powers of the states in units of their spread. */
static void take_powers(size_t n, size_t d, const double *x, double *q)
{
    for (size_t i = 0; i < n; i++) q[i] = 1;
    for (size_t k = 0; k < d; k++) {
        double mean = 0, square = 0, *row = q + (1 + POWERS * k) * n;
        for (size_t i = 0; i < n; i++) mean += x[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) square += pow(x[i * d + k] - mean, 2) / (double)n;
        for (size_t i = 0; i < n * POWERS; i++)
            row[i] = square > 0 ? pow((x[i % n * d + k] - mean) / sqrt(square), (double)(i / n + 1)) : 0;
    }
}

sock_status sk_subject_gain(sock_context *ctx, size_t n, size_t d, const double *v, const double *x,
                            const double *weight, const size_t *piece, double *nats)
{
    const size_t powers = 1 + POWERS * d;
    double *q = sk_doubles(ctx, powers + SK_SUBJECT_COLUMNS, n), *past = sk_doubles(ctx, n, SK_SUBJECT_COLUMNS);
    sock_status status = q && past ? SOCK_OK : SOCK_ENOMEM;
    *nats = 0;
    for (size_t j = 0; status >= 0 && j < powers; j++) {
        if (j == 0) take_powers(n, d, x, q);
        straighten(n, j, q);
    }
    for (size_t k = 0; status >= 0 && k < d; k++) {
        sk_subject_columns(&(sk_subjects){n, d, d, v + k, x + k, weight + k, piece}, past);
        for (size_t c = 0; c < SK_SUBJECT_COLUMNS; c++) {
            double *row = q + (powers + c) * n, product = 0;
            for (size_t i = 0; i < n; i++) row[i] = past[i * SK_SUBJECT_COLUMNS + c];
            if (!straighten(n, powers + c, q)) continue;
            for (size_t i = 0; i < n; i++) product += isnan(v[i * d + k]) ? 0 : row[i] * v[i * d + k];
            *nats += product * product / 2 - 1;
        }
    }
    sk_free(q);
    sk_free(past);
    return status;
}
