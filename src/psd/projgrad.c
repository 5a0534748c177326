/* projgrad.c - projected gradient descent on the matrix itself, plain and accelerated.
 *
 *     minimise P(Q) = (1/n) |R(Q) - t|^2 + lambda |Q|^2 over Q >= 0
 *
 *   1. L = 2 |R|^2 / n + 2 lambda; V = Q = S_+(start) / (2 lambda).
 *   2. y = (2/n)(R(V) - t),  grad P(V) = R*(y) + 2 lambda V.
 *   3. Q_new = [V - grad / L]_+.
 *   4. Accelerated: V = Q_new + (1 - sqrt(k)) / (1 + sqrt(k)) (Q_new - Q), k = 2 lambda / L (Nesterov's constant
 *      momentum for a strongly convex function), started again whenever <V - Q_new, Q_new - Q> > 0; else V = Q_new.
 *   5. Every LOOK iterations the certificate at (y(Q), Q(y)): one more eigendecomposition.
 *
 * Per iteration: one eigendecomposition of size pd, R and R* once. Of order |R|^2 / (n lambda) log(1/gap) iterations
 * plain, its root accelerated. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

enum { LOOK = 10 };

/* point at the dual point that belongs to Q: y = (2/n)(R(Q) - t), and everything that follows from it. */
static sock_status look(sock_context *ctx, sk_psd_inner *inner, const double *q, sk_psd_point *point)
{
    size_t length = inner->map.pairs * inner->map.m;
    SK_TRY(sk_psd_map_apply(ctx, &inner->map, q, point->y));
    for (size_t i = 0; i < length; i++) point->y[i] = 2 / (double)inner->n * (point->y[i] - inner->t[i]);
    return sk_psd_evaluate(ctx, inner, point);
}

/* q := [v - (R*(y) + 2 lambda v) / L]_+, with y from v in point->rq's place; s: work. */
static sock_status step(sock_context *ctx, sk_psd_inner *inner, const double *v, double lipschitz, double *y, double *s,
                        double *q)
{
    size_t D = inner->map.p * inner->map.d, length = inner->map.pairs * inner->map.m;
    double start = sk_seconds();
    SK_TRY(sk_psd_map_apply(ctx, &inner->map, v, y));
    for (size_t i = 0; i < length; i++) y[i] = 2 / (double)inner->n * (y[i] - inner->t[i]);
    SK_TRY(sk_psd_map_adjoint(ctx, &inner->map, y, s));
    inner->effort->products += sk_seconds() - start;
    inner->effort->products_count += 2;
    start = sk_seconds();
    for (size_t i = 0; i < D * D; i++) q[i] = v[i] - (s[i] + 2 * inner->lambda * v[i]) / lipschitz;
    SK_TRY(sk_psd_project(ctx, inner->eigen, D, q, NULL));
    inner->effort->eigen += sk_seconds() - start;
    inner->effort->eigendecompositions++;
    return SOCK_OK;
}

/* Step 4: v and q from the new iterate in next; true when the momentum was dropped. */
static void extrapolate(size_t count, double momentum, const double *next, double *q, double *v)
{
    double turn = 0;
    for (size_t i = 0; i < count; i++) turn += (v[i] - next[i]) * (next[i] - q[i]);
    if (turn > 0) momentum = 0;
    for (size_t i = 0; i < count; i++) {
        v[i] = next[i] + momentum * (next[i] - q[i]);
        q[i] = next[i];
    }
}

sock_status sk_psd_projgrad(sock_context *ctx, sk_psd_inner *inner, bool accelerated, sk_psd_point *point)
{
    size_t D = inner->map.p * inner->map.d, length = inner->map.pairs * inner->map.m;
    double lipschitz = 2 * inner->norm2 / (double)inner->n + 2 * inner->lambda, root;
    double *q = sk_doubles(ctx, D, D), *v = sk_doubles(ctx, D, D), *next = sk_doubles(ctx, D, D),
           *s = sk_doubles(ctx, D, D), *y = sk_doubles(ctx, length, 1);
    sock_status status = q && v && next && s && y ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    root = sqrt(2 * inner->lambda / lipschitz);
    SK_GO(sk_psd_evaluate(ctx, inner, point));
    memcpy(q, point->q, D * D * sizeof *q);
    memcpy(v, q, D * D * sizeof *v);
    while (!sk_psd_done(inner, point) && !sk_psd_exhausted(inner)) {
        SK_GO(step(ctx, inner, v, lipschitz, y, s, next));
        extrapolate(D * D, accelerated ? (1 - root) / (1 + root) : 0, next, q, v); /* momentum: speed only */
        if (inner->iterations % LOOK == 0) SK_GO(look(ctx, inner, q, point));
        SK_GO(sk_progress(ctx, "diffusion problem", -1));
    }
    if (!sk_psd_done(inner, point)) SK_GO(look(ctx, inner, q, point));
    status = sk_psd_done(inner, point) ? SOCK_OK : SOCK_NOT_CONVERGED;
out:
    sk_free(q);
    sk_free(v);
    sk_free(next);
    sk_free(s);
    sk_free(y);
    return status;
}
