/* laws.c - the normal and the chi-square law, and that of Anderson and Darling's statistic. */
#define _DEFAULT_SOURCE
#include "check/check.h"

#include <math.h>

static double polynomial(size_t terms, const double *c, double x)
{
    double sum = 0;
    for (size_t i = terms; i-- > 0;) sum = sum * x + c[i];
    return sum;
}

double sk_normal_tail(double z) { return 0.5 * erfc(z / sqrt(2.0)); }

double sk_student_normal(double t, double freedom)
{
    const double z = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
    return t < 0 ? -z : z;
}

/* Lower incomplete gamma function by its series, upper one by its continued fraction, as shares of the whole. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (double next = a + 1; term > 1e-16 * sum; next++) sum += term *= x / next; /* x < a + 1: terms fall */
    return sum;
}

static double gamma_fraction(double a, double x)
{
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + an / c;
        if (fabs(c) < tiny) c = tiny;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return h;
}

double sk_chi_square_tail(double statistic, double freedom)
{
    const double a = freedom / 2, x = statistic / 2;
    int sign;
    if (!(x > 0) || !(a > 0)) return 1;
    const double weight = exp(a * log(x) - x - lgamma_r(a, &sign));
    return x < a + 1 ? fmax(1 - weight * gamma_series(a, x), 0) : fmin(weight * gamma_fraction(a, x), 1);
}

/* Marsaglia and Marsaglia 2004, for many numbers. */
double sk_anderson_darling_tail(double z)
{
    static const double low[] = {2.00012, 0.247105, -0.0649821, 0.0347962, -0.011672, 0.00168691},
                        high[] = {1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146};
    if (z <= 0) return 1;
    if (z < 2) return 1 - exp(-1.2337141 / z) / sqrt(z) * polynomial(6, low, z);
    return -expm1(-exp(polynomial(6, high, z)));
}

double sk_anderson_darling(size_t n, const double *sorted)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (2 * (double)i + 1) * (log(sorted[i]) + log1p(-sorted[n - 1 - i]));
    return -(double)n - sum / (double)n;
}
