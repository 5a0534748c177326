/* fista.c - accelerated gradient descent on the dual (Beck and Teboulle 2009), plain and with restart.
 *
 *   1. L = n/2 + |R|^2 / (2 lambda), the Lipschitz constant of the gradient of J; y = v = start, theta = 1.
 *   2. y_new = v - grad J(v) / L.
 *   3. theta_new = (1 + sqrt(1 + 4 theta^2)) / 2,  v = y_new + (theta - 1)/theta_new (y_new - y).
 *   4. With restart: theta = 1, v = y_new whenever <grad J(v), y_new - y> > 0 (O'Donoghue and Candes 2015).
 *
 * The gap |grad J(v)|^2 / n costs nothing. Per iteration: one eigendecomposition of size pd, R and R* once. Of order
 * sqrt(|R|^2 / (n lambda)) log(1/gap) iterations with restart. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

sock_status sk_psd_fista(sock_context *ctx, sk_psd_inner *inner, bool restart, sk_psd_point *point)
{
    size_t length = inner->map.pairs * inner->map.m;
    double lipschitz = (double)inner->n / 2 + inner->norm2 / (2 * inner->lambda), theta = 1;
    double *y = sk_doubles(ctx, length, 1);
    sock_status status = y ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    memcpy(y, point->y, length * sizeof *y); /* point->y is v */
    for (;;) {
        SK_GO(sk_psd_evaluate(ctx, inner, point));
        if (sk_psd_done(inner, point) || sk_psd_exhausted(inner)) break;
        double uphill = 0;
        for (size_t i = 0; i < length; i++) uphill += point->g[i] * (point->y[i] - point->g[i] / lipschitz - y[i]);
        if (restart && uphill > 0) theta = 1;
        double next = (1 + sqrt(1 + 4 * theta * theta)) / 2, momentum = (theta - 1) / next;
        for (size_t i = 0; i < length; i++) {
            double moved = point->y[i] - point->g[i] / lipschitz;
            point->y[i] = moved + momentum * (moved - y[i]);
            y[i] = moved;
        }
        theta = next;
        SK_GO(sk_progress(ctx, "diffusion problem", -1));
    }
    status = sk_psd_done(inner, point) ? SOCK_OK : SOCK_NOT_CONVERGED;
out:
    sk_free(y);
    return status;
}
