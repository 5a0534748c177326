/* horizon.c - four steps at once against one: D = v4^2 - mean of the v^2 of its steps has the mean 0 when the model is
 * right. Its variance is 2 + 2 / 4 - 2 cov. Where v4 is the sum of the v, cov is 2 / 4; the fewer ends are simulated,
 * and the more states they are whitened for, the less the scores of a run know of those of its steps: down to 0. So cov
 * is taken from the scores themselves, between these bounds. */
#include "check/check.h"

#include <math.h>

static double mean_of(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] / (double)n;
    return sum;
}

double sk_check_horizon(size_t runs, size_t reach, const double *many, const double *each)
{
    const double n = (double)runs, most = 2 / (double)reach, one = mean_of(runs, each), whole = mean_of(runs, many);
    double covariance = 0;
    for (size_t i = 0; i < runs; i++) covariance += (many[i] - whole) * (each[i] - one) / n;
    const double variance = 2 + most - 2 * fmin(fmax(covariance, 0), most);
    return n * pow(whole - one, 2) / variance;
}
