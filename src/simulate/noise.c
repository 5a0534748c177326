/* noise.c - noise of a given covariance, and boxes that paths stay in. */
#include "simulate.h"

#include <math.h>

/* Pivots below this share of their diagonal entry are rounding: the covariance is singular there. */
#define SINGULAR 1e-14

static bool is_diagonal(size_t d, const double *a)
{
    for (size_t k = 1; k < d; k++)
        for (size_t l = 0; l < k; l++)
            if (a[k * d + l] != 0) return false;
    return true;
}

static double root(double a) { return a <= 0 ? 0 : sqrt(a); }

void sk_add_noise(size_t d, size_t count, double scale, double *a, const double *z, size_t stride, double *y)
{
    if (d == 1) {
        for (size_t i = 0; i < count; i++) y[i] += scale * root(a[i]) * z[i * stride];
        return;
    }
    for (size_t i = 0; i < count; i++, a += d * d, z += stride, y += d) {
        if (is_diagonal(d, a)) { /* cheap to see, and frequent */
            for (size_t k = 0; k < d; k++) y[k] += scale * root(a[k * d + k]) * z[k];
            continue;
        }
        sk_factor_small(d, SINGULAR, a);
        for (size_t k = 0; k < d; k++) {
            double sum = 0;
            for (size_t l = 0; l <= k; l++) sum += a[k * d + l] * z[l];
            y[k] += scale * sum;
        }
    }
}

/* Mirrors at both ends fold the line onto [low, high] with period 2 (high - low); a single mirror folds it once. */
static double reflect(double x, double low, double high)
{
    if (x >= low && x <= high) return x;
    if (isinf(high)) return 2 * low - x;
    if (isinf(low)) return 2 * high - x;
    double width = high - low;
    if (width <= 0) return low;
    double y = fmod(fabs(x - low), 2 * width);
    return y > width ? high - (y - width) : low + y;
}

void sk_keep_within(size_t d, sock_bounds mode, const double *lower, const double *upper, double *x)
{
    for (size_t k = 0; k < d; k++) {
        double low = lower && !isnan(lower[k]) ? lower[k] : -(double)INFINITY;
        double high = upper && !isnan(upper[k]) ? upper[k] : (double)INFINITY;
        x[k] = mode == SOCK_BOUNDS_REFLECT ? reflect(x[k], low, high) : fmin(fmax(x[k], low), high);
    }
}
