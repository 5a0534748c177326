/* median.c - see base.h. */
#include "base/base.h"

/* Hoare's selection: afterwards a[k] is the k-th smallest, nothing larger stands before it, nothing smaller behind. */
double sk_select(size_t n, double *a, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = a[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i >= j) break;
            double kept = a[i];
            a[i++] = a[j];
            a[j--] = kept;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return a[k];
}

double sk_median(size_t n, double *a)
{
    double upper = sk_select(n, a, n / 2);
    if (n % 2) return upper;
    double lower = a[0];
    for (size_t i = 1; i < n / 2; i++) lower = a[i] > lower ? a[i] : lower;
    return 0.5 * lower + 0.5 * upper;
}
