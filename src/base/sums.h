/* sums.h - long sums whose order does not show. A sum is two numbers, sum + low, some 106 bits together, and sum alone
 * is the whole rounded to a double: so blocks may be added in any order, by any number of threads and processes, and
 * give the same bytes. (Not proved: with terms K times the result and m of them, the order shows in a share of about K
 * m 2^-51 of all sums.) No flag of the compiler may reorder what stands here: -ffast-math would undo it. */
#ifndef SK_SUMS_H
#define SK_SUMS_H

#include <math.h>
#include <stddef.h>

/* a + b = *whole + *rest exactly. */
static inline void sk_two_sum(double a, double b, double *whole, double *rest)
{
    const double sum = a + b, back = sum - a;
    *rest = (a - (sum - back)) + (b - back);
    *whole = sum;
}

/* sum + low += x. What is not finite stays so, as in a plain sum. */
static inline void sk_sum_take(double x, double *sum, double *low)
{
    double whole, rest;
    sk_two_sum(*sum, x, &whole, &rest);
    if (isfinite(whole))
        sk_two_sum(whole, rest + *low, sum, low);
    else
        *sum = whole;
}

/* For n of them: += the sums over a block; and += sums over other blocks. */
void sk_sums_take(size_t n, const double *part, double *sum, double *low);
void sk_sums_join(size_t n, const double *sum, const double *low, double *to, double *to_low);

#endif
