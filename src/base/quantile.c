/* quantile.c - the quantile of the normal law. */
#include "base/base.h"

#include <math.h>

static double polynomial(size_t terms, const double *c, double x)
{
    double sum = 0;
    for (size_t i = terms; i-- > 0;) sum = sum * x + c[i];
    return sum;
}

/* Wichura 1988 (AS 241), to about 1e-16: quotients of polynomials around the middle of the law, and in its tails. */
static const double near_top[] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                                  13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                                  33430.575583588128105, 2509.0809287301226727};
static const double near_bottom[] = {1,
                                     42.313330701600911252,
                                     687.18700749205790830,
                                     5394.1960214247511077,
                                     21213.794301586595867,
                                     39307.895800092710610,
                                     28729.085735721942674,
                                     5226.4952788528545610};
static const double middle_top[] = {1.42343711074968357734,   4.63033784615654529590,   5.76949722146069140550,
                                    3.64784832476320460504,   1.27045825245236838258,   0.241780725177450611770,
                                    0.0227238449892691845833, 7.74545014278341407640e-4};
static const double middle_bottom[] = {1,
                                       2.05319162663775882187,
                                       1.67638483018380384940,
                                       0.689767334985100004550,
                                       0.148103976427480074590,
                                       0.0151986665636164571966,
                                       5.47593808499534494600e-4,
                                       1.05075007164441684324e-9};
static const double far_top[] = {6.65790464350110377720,    5.46378491116411436990,   1.78482653991729133580,
                                 0.296560571828504891230,   0.0265321895265761230930, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double far_bottom[] = {1,
                                    0.599832206555887937690,
                                    0.136929880922735805310,
                                    0.0148753612908506148525,
                                    7.86869131145613259100e-4,
                                    1.84631831751005468180e-5,
                                    1.42151175831644588870e-7,
                                    2.04426310338993978564e-15};

double sk_normal_quantile(double p)
{
    const double q = p - 0.5, r = 0.180625 - q * q;
    if (fabs(q) <= 0.425) return q * polynomial(8, near_top, r) / polynomial(8, near_bottom, r);
    const double s = sqrt(-log(q < 0 ? p : 1 - p));
    const double z = s <= 5 ? polynomial(8, middle_top, s - 1.6) / polynomial(8, middle_bottom, s - 1.6)
                            : polynomial(8, far_top, s - 5) / polynomial(8, far_bottom, s - 5);
    return q < 0 ? -z : z;
}
