/* residuals.c - what the drift leaves over (paper section 3.2, z_i): for each realisation u of interval i
 *
 *     e_i^(u) = y_{i+1} - y_i - Q[f],     z_i = mean over u of e e'
 *
 * with the same rule Q for the integral of f as the rows have. */
#include "occupation/occupation.h"

#include <string.h>

/* e of one realisation: y and f point at the left end, the right end is d numbers on. */
static void residual(size_t d, double h, bool trapezoid, const double *y, const double *f, double *e)
{
    for (size_t k = 0; k < d; k++) {
        double integral = trapezoid ? 0.5 * h * (f[k] + f[d + k]) : h * f[k];
        e[k] = y[d + k] - y[k] - integral;
    }
}

sock_status sk_residual_products(sock_context *ctx, const sock_data *data, const char *quadrature, const double *f,
                                 double *z)
{
    size_t d = data->d, row = 0;
    bool trapezoid = strcmp(quadrature, "trapezoid") == 0;
    double *e = sk_doubles(ctx, d, 1);
    if (!e) return SOCK_ENOMEM;
    for (size_t g = 0; g < data->groups; g++) {
        size_t members = data->group_first[g + 1] - data->group_first[g];
        const size_t *member = data->member + data->group_first[g];
        for (size_t i = 0; i < sk_group_intervals(data, g); i++, row++) {
            double *target = z + row * d * d;
            memset(target, 0, d * d * sizeof *target);
            for (size_t u = 0; u < members; u++) {
                size_t at = data->first[member[u]] + i;
                residual(d, data->t[at + 1] - data->t[at], trapezoid, data->x + at * d, f + at * d, e);
                for (size_t k = 0; k < d; k++)
                    for (size_t l = 0; l < d; l++) target[k * d + l] += e[k] * e[l] / (double)members;
            }
        }
    }
    sk_free(e);
    return SOCK_OK;
}
