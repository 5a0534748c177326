/* latentpath.c - a batch of paths through all steps of Euler-Maruyama, and the way back (reverse mode by hand).
 *
 * Forward    z_0 = Lin(X(0));   z_{k+1} = z_k + h f_k + sqrt(h) g_k * n_k;   yhat_k = Lin(z_k)
 * Backward   with l_k the derivative of the loss by z_k, and r_k its part by way of yhat_k:
 *            l_K = r_K;   l_k = r_k + l_{k+1} + f_k'(h l_{k+1}) + g_k'(sqrt(h) l_{k+1} * n_k)
 *            where f_k' is the transposed Jacobian; the gradient by the parameters follows from the deltas at the end.
 *
 * Cost of a step, sde with L = 1: 6 products of rows x H by H x H forward, 6 back and 6 for the gradient. */
#include "latent.h"

#include <math.h>
#include <string.h>

static void set_time(nn_pass *p, size_t k)
{
    const size_t ld = p->net->width + 1;
    for (size_t r = 0; r < p->rows; r++) p->state[(k * p->rows + r) * ld] = (double)k * p->step;
}

static nn_rows latent(const nn_pass *p, size_t k)
{
    const size_t ld = p->net->width + 1;
    return (nn_rows){p->state + k * p->rows * ld + 1, ld};
}

static const double *noise_of(const nn_pass *p, size_t k, size_t r)
{
    return p->noise + (r * p->steps + k) * p->net->width;
}

static void euler_step(nn_pass *p, size_t k)
{
    const size_t H = p->net->width;
    const double h = p->step, root = sqrt(h);
    nn_rows z = latent(p, k), next = latent(p, k + 1);
    nn_fields_at(p, k);
    for (size_t r = 0; r < p->rows; r++) {
        const double *from = z.x + r * z.ld, *f = p->f + r * H, *g = p->g + r * H, *n = noise_of(p, k, r);
        double *to = next.x + r * next.ld;
        for (size_t i = 0; i < H; i++) to[i] = from[i] + h * f[i] + root * g[i] * n[i];
    }
    set_time(p, k + 1);
}

static nn_rows x0_rows(const nn_pass *p) { return (nn_rows){p->x0, p->net->d + 1}; }

void nn_path_forward(nn_pass *p)
{
    const nn_net *net = p->net;
    nn_linear_forward(p->ctx, &net->encoder, p->theta, p->rows, x0_rows(p), latent(p, 0));
    set_time(p, 0);
    nn_fields_begin(p);
    for (size_t k = 0; k < p->steps; k++) euler_step(p, k);
    nn_linear_forward(p->ctx, &net->readout, p->theta, p->rows * (p->steps + 1), latent(p, 0),
                      (nn_rows){p->yhat, net->d});
}

/* From l_{k+1} in dz to l_k, the readout's part already added. */
static void euler_step_back(nn_pass *p, size_t k)
{
    const size_t H = p->net->width;
    const double h = p->step, root = sqrt(h);
    nn_fields_slots(p, k);
    for (size_t r = 0; r < p->rows; r++) {
        const double *l = p->dz + r * H, *n = noise_of(p, k, r);
        double *df = p->df + r * H, *dg = p->dg + r * H;
        for (size_t i = 0; i < H; i++) {
            df[i] = h * l[i];
            dg[i] = root * l[i] * n[i];
        }
    }
    nn_fields_back(p, k);
}

void nn_path_backward(nn_pass *p, double *gradient)
{
    const nn_net *net = p->net;
    const size_t rows = p->rows * (p->steps + 1), step = p->rows * net->width;
    const nn_rows dyhat = {p->dyhat, net->d};
    nn_linear_backward(p->ctx, &net->readout, p->theta, rows, dyhat, 0, (nn_rows){p->dread, net->width});
    nn_linear_gradient(p->ctx, &net->readout, rows, latent(p, 0), dyhat, gradient);
    memcpy(p->dz, p->dread + p->steps * step, step * sizeof *p->dz);
    for (size_t k = p->steps; k-- > 0;) {
        euler_step_back(p, k);
        for (size_t i = 0; i < step; i++) p->dz[i] += p->dread[k * step + i];
    }
    nn_fields_gradient(p, gradient);
    nn_linear_gradient(p->ctx, &net->encoder, p->rows, x0_rows(p), (nn_rows){p->dz, net->width}, gradient);
}
