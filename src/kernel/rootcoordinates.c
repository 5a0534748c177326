/* rootcoordinates.c - coordinates in which noise that vanishes linearly at a bound is a square:
 *
 *     l   x >= 0        u = sqrt(x)              u   x <= 0   u = sqrt(-x)
 *     b   0 <= x <= 1   sqrt(x), sqrt(1 - x)     -   x itself; rates leave the state out
 *     .   left out: an input that does not count
 *
 * Points outside are taken to the bound. A monomial of degree m in them is the root of one of degree m in x, so that
 * a(x) = sum over m of x^m Q_m is a sum of squares of such features: rates are those sums without products of two
 * features, in=root are those with all of them. */
#include "kernel/featuremap.h"

#include <math.h>
#include <string.h>

bool sk_term_is_bounded(const sk_term *term) { return term->root || term->family->separate; }

static bool is_out(char side, bool separate) { return side == '.' || (side == '-' && separate); }

static char side_of(const sk_term *term, size_t k) { return (char)(term->sides[0] ? term->sides[k] : 'l'); }

/* Coordinates of a state. */
static size_t count_of(const sk_term *term, size_t k)
{
    const char side = side_of(term, k);
    return side == 'b' ? 2 : is_out(side, term->family->separate) ? 0 : 1;
}

size_t sk_root_dim(const sk_term *term, size_t d)
{
    size_t count = 0;
    if (!sk_term_is_bounded(term)) return d;
    for (size_t k = 0; k < d; k++) count += count_of(term, k);
    return count;
}

static double root(double x) { return x > 0 ? sqrt(x) : 0; }

static double *put_state(char side, bool separate, double x, double *u)
{
    if (is_out(side, separate)) return u;
    *u++ = side == '-' ? x : side == 'u' ? root(-x) : root(side == 'b' ? fmin(x, 1) : x);
    if (side == 'b') *u++ = root(1 - fmax(x, 0));
    return u;
}

void sk_root_coordinates(const sk_term *term, size_t d, size_t count, const double *x, double *u)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) u = put_state(side_of(term, k), term->family->separate, x[i * d + k], u);
}

size_t sk_root_state(const sk_term *term, size_t d, size_t j, bool *upper)
{
    size_t k = 0;
    for (; k + 1 < d && j >= count_of(term, k); k++) j -= count_of(term, k);
    *upper = j > 0 || side_of(term, k) == 'u';
    return k;
}

double sk_root_slope(const sk_term *term, size_t d, size_t j, const double *x, size_t *state)
{
    bool upper;
    *state = sk_root_state(term, d, j, &upper);
    const char side = side_of(term, *state);
    const double at = x[*state], z = side == 'b' && upper ? 1 - at : upper ? -at : at;
    if (side == '-') return 1;
    if (!(z > 0) || (side == 'b' && !(z < 1))) return 0;
    return (upper ? -0.5 : 0.5) / sqrt(z);
}

bool sk_kernel_text_is_bounded(const char *text)
{
    return strncmp(text, sk_rates_family.name, strlen(sk_rates_family.name)) == 0 || strstr(text, "in=root");
}

void sk_kernel_set_sides(sk_kernel *kernel, const char *sides)
{
    for (size_t i = 0; i < kernel->terms; i++) {
        sk_term *term = &kernel->term[i];
        if (sk_term_is_bounded(term) && !term->sides[0] && strlen(sides) <= SK_MOST_SIDES)
            memcpy(term->sides, sides, strlen(sides) + 1);
    }
}

void sk_kernel_sides(const sk_kernel *kernel, size_t d, char *sides)
{
    for (size_t k = 0; k < d; k++) sides[k] = side_of(&kernel->term[0], k);
    sides[d] = 0;
}
