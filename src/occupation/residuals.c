/* residuals.c - what the drift leaves: the only place where residuals are formed. Of the intervals of data (paper
 * section 3.2, z_i), for each realisation u of interval i
 *
 *     e_i^(u) = y_{i+1} - y_i - Q[f],     z_i = mean over u of e e'
 *
 * with the same rule Q for the integral of f as the rows have; and of the rows of a view, e = t - I f. */
#include "occupation/view.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

void sk_residual_euler(size_t d, double h, const double *y, const double *next, const double *f, double *e)
{
    for (size_t k = 0; k < d; k++) e[k] = next[k] - y[k] - h * f[k];
}

double sk_residual_standard(double h, double a, double e) { return h * a > 0 ? e / sqrt(h * a) : (double)NAN; }

double sk_residual(const sock_data *data, size_t i, const double *f, double *e)
{
    const double *y = data->x + i * data->d, h = data->t[i + 1] - data->t[i];
    sk_residual_euler(data->d, h, y, y + data->d, f, e);
    return h;
}

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

/* ---- Rows of a view ---- */

void sk_residuals(const sk_view *v, size_t begin, size_t end, size_t sets, double *e)
{
    for (const double *t = v->t + begin * v->d; begin < end; begin++, t += v->d)
        for (size_t f = 0; f < sets; f++, e += v->d)
            for (size_t k = 0; k < v->d; k++) e[k] = t[k] - e[k];
}

/* One factorisation of F = 1 + O(h) serves the residuals of all drifts; with a small pivot the step is too long for a
 * first order, and its residual stays as it is. */
sock_status sk_residuals_correct(sock_context *ctx, const sk_view *v, size_t sets, double *e)
{
    const size_t d = v->d;
    size_t *pivot = sk_alloc(ctx, d, sizeof *pivot);
    double *m = sk_doubles(ctx, d, d);
    sock_status status = pivot && m ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < v->n; i++) {
        memcpy(m, v->left + i * d * d, d * d * sizeof *m);
        if (!sk_eliminate(d, SK_LEAST_TURN, m, pivot)) continue;
        for (size_t f = 0; f < sets; f++) sk_unwind(d, m, pivot, e + (f * v->n + i) * d);
    }
    sk_free(pivot);
    sk_free(m);
    return status;
}
