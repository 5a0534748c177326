/* wells.h - coordinates that do not know each other: each in a double well, with a noise that grows with it. */
#ifndef WELLS_H
#define WELLS_H

#include <string.h>

static void wells(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] - x[i] * x[i] * x[i];
}

static void growing(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] = 0.2 + 0.1 * x[i * d + k] * x[i * d + k];
}

#endif
