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

/* Wichura 1988 (AS 241), to about 1e-16. */
double sk_normal_quantile(double p)
{
    static const double a[] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                               13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                               33430.575583588128105, 2509.0809287301226727},
                        b[] = {1,
                               42.313330701600911252,
                               687.18700749205790830,
                               5394.1960214247511077,
                               21213.794301586595867,
                               39307.895800092710610,
                               28729.085735721942674,
                               5226.4952788528545610},
                        c[] = {1.42343711074968357734,   4.63033784615654529590,   5.76949722146069140550,
                               3.64784832476320460504,   1.27045825245236838258,   0.241780725177450611770,
                               0.0227238449892691845833, 7.74545014278341407640e-4},
                        e[] = {1,
                               2.05319162663775882187,
                               1.67638483018380384940,
                               0.689767334985100004550,
                               0.148103976427480074590,
                               0.0151986665636164571966,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9},
                        g[] = {6.65790464350110377720,    5.46378491116411436990,   1.78482653991729133580,
                               0.296560571828504891230,   0.0265321895265761230930, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7},
                        m[] = {1,
                               0.599832206555887937690,
                               0.136929880922735805310,
                               0.0148753612908506148525,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    const double q = p - 0.5, r = 0.180625 - q * q;
    if (fabs(q) <= 0.425) return q * polynomial(8, a, r) / polynomial(8, b, r);
    const double s = sqrt(-log(q < 0 ? p : 1 - p));
    const double z = s <= 5 ? polynomial(8, c, s - 1.6) / polynomial(8, e, s - 1.6)
                            : polynomial(8, g, s - 5) / polynomial(8, m, s - 5);
    return q < 0 ? -z : z;
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
    for (int i = 1; i < 10000 && term > 1e-16 * sum; i++) sum += term *= x / (a + i);
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
