/* longsteps.c - what the drift does within a step, however long the step is. Linearised at the left end, M = h/2 J,
 *
 *     E next = y + h phi f,   cov next = F (h a) F',   phi, F = 1 + M + O(h^2).
 *
 * 1 + M itself is 0 where a pull is as strong as Euler's method can bear (h J = -2), negative beyond, and what divides
 * by it is judged by nothing. So
 *
 *   1. M is cut at norm 1: c M, c <= 1.
 *   2. F = 1 + c M + (c M)^2 / 2, which takes no direction below 0.149 = 1/e - (e - 2.5) of its length, since it is
 *      that near to exp(c M).
 *   3. Nodes of the rule are those of N(y + h c G f, h c F a F'), G = (1 + 2 F) / 3: a step of the length at which
 *      nothing is cut. With G = 1 + 2/3 M + 1/3 M^2 the rule h/2 (f(y) + f(node)) has the displacement
 *      (exp(h J) - 1) / J f of a linear drift but for h^5; and a pull carries no node past its place of rest by more
 *      than a third of the way, as y + h f would by any length. */
#include "occupation/view.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

static const double MOST = 1; /* norm of M: F of a pull is 0.5 there, the square root of its exact variance 0.495 */

/* out = c x y. Row by row: sums over j in order, side by side. In many dimensions most numbers of a slope are 0, and so
 * is most of F: what they would add is left out. */
static void multiply(size_t d, double c, const double *x, const double *y, double *restrict out)
{
    for (size_t r = 0; r < d; r++) {
        double *row = out + r * d;
        memset(row, 0, d * sizeof *row);
        for (size_t j = 0; j < d; j++) {
            const double factor = x[r * d + j];
            if (factor == 0) continue;
            for (size_t k = 0; k < d; k++) row[k] += factor * y[j * d + k];
        }
        for (size_t k = 0; k < d; k++) row[k] *= c;
    }
}

/* The same for a symmetric y, which may be diagonal. */
static void multiply_symmetric(size_t d, double c, const double *x, const double *y, double *restrict out)
{
    if (!sk_is_diagonal(d, y)) {
        multiply(d, c, x, y, out);
        return;
    }
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < d; k++) out[r * d + k] = (0 + x[r * d + k] * y[k * (d + 1)]) * c;
}

static void transpose(size_t d, const double *x, double *restrict out)
{
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < d; k++) out[k * d + r] = x[r * d + k];
}

/* Steps 1 and 2; answers c. */
static double flow(size_t d, double *m, double *space)
{
    double square = 0;
    for (size_t k = 0; k < d * d; k++) square += m[k] * m[k];
    const double cut = square > MOST * MOST ? MOST / sqrt(square) : 1;
    for (size_t k = 0; k < d * d; k++) m[k] *= cut;
    multiply(d, 0.5, m, m, space);
    for (size_t k = 0; k < d * d; k++) m[k] += space[k] + (k % (d + 1) == 0);
    return cut;
}

void sk_long_step(size_t d, double *m, double *f, double *a, double *space)
{
    const double cut = flow(d, m, space);
    for (size_t r = 0; r < d; r++) {
        space[r] = 0;
        for (size_t j = 0; j < d; j++) space[r] += m[r * d + j] * f[j];
    }
    for (size_t r = 0; r < d; r++) f[r] = cut * (f[r] + 2 * space[r]) / 3;
    multiply_symmetric(d, cut, m, a, space);
    transpose(d, m, space + d * d);
    multiply(d, 1, space, space + d * d, a);
}
