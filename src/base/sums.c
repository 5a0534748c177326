/* sums.c - see sums.h. */
#include "base/sums.h"

void sk_sums_take(size_t n, const double *part, double *sum, double *low)
{
    for (size_t i = 0; i < n; i++) sk_sum_take(part[i], sum + i, low + i);
}

void sk_sums_join(size_t n, const double *sum, const double *low, double *to, double *to_low)
{
    for (size_t i = 0; i < n; i++) {
        double whole, rest, small, smaller;
        sk_two_sum(to[i], sum[i], &whole, &rest);
        if (!isfinite(whole)) {
            to[i] = whole;
            continue;
        }
        sk_two_sum(to_low[i], low[i], &small, &smaller);
        sk_two_sum(whole, rest + small, &whole, &rest);
        sk_two_sum(whole, rest + smaller, to + i, to_low + i);
    }
}
