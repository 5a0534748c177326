/* logarithm.c - the logarithm of a small matrix: roots until it is near 1, then the series of log(1 + x). */
#include "la/la.h"

#include <math.h>
#include <string.h>

enum { WIDE = SK_LOGARITHM_MOST };

static bool invert_general(size_t n, const double *a, double *out)
{
    double m[WIDE * WIDE], column[WIDE];
    size_t pivot[WIDE];
    memcpy(m, a, n * n * sizeof *m);
    if (!sk_eliminate(n, 1e-12, m, pivot)) return false;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) column[i] = i == k;
        sk_unwind(n, m, pivot, column);
        for (size_t i = 0; i < n; i++) out[i * n + k] = column[i];
    }
    return true;
}

/* a := its square root (Denman and Beavers); false where it does not settle: an eigenvalue is negative. */
static bool take_root(size_t n, double *a)
{
    double z[WIDE * WIDE] = {0}, y1[WIDE * WIDE], z1[WIDE * WIDE];
    for (size_t k = 0; k < n; k++) z[k * (n + 1)] = 1;
    for (int i = 0; i < 60; i++) {
        double change = 0;
        if (!invert_general(n, z, z1) || !invert_general(n, a, y1)) return false;
        for (size_t k = 0; k < n * n; k++) {
            const double next = 0.5 * (a[k] + z1[k]);
            change += fabs(next - a[k]);
            z[k] = 0.5 * (z[k] + y1[k]);
            a[k] = next;
        }
        if (!isfinite(change)) return false;
        if (change < 1e-13 * (double)(n * n)) return true;
    }
    return false;
}

/* a := its logarithm: roots until it is near 1, then the series of log(1 + x). */
bool sk_matrix_logarithm(size_t n, double *a)
{
    double power[WIDE * WIDE], t[WIDE * WIDE], sum[WIDE * WIDE], factor = 1, size = INFINITY;
    for (int roots = 0; roots < 40 && size > 0.1; roots++) {
        if (!take_root(n, a)) return false;
        factor *= 2;
        size = 0;
        for (size_t k = 0; k < n * n; k++) size = fmax(size, fabs(a[k] - (k % (n + 1) == 0)));
    }
    for (size_t k = 0; k < n; k++) a[k * (n + 1)] -= 1;
    memcpy(power, a, n * n * sizeof *a);
    memcpy(sum, a, n * n * sizeof *a);
    for (int i = 2; i < 60; i++) {
        sk_small_product(n, power, a, false, t);
        memcpy(power, t, n * n * sizeof *t);
        sk_axpy(n * n, (i % 2 ? 1.0 : -1.0) / i, power, sum);
    }
    for (size_t k = 0; k < n * n; k++) a[k] = factor * sum[k];
    return size <= 0.1;
}
