/* bounds.c - see bounds.h. */
#include "occupation/bounds.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

void sk_bounds_free(sk_bounds *b)
{
    if (!b) return;
    sk_free(b->lower);
    sk_free(b->upper);
    sk_free(b->origin);
    sk_free(b->scale);
    sk_free(b);
}

static char side_of(double lower, double upper)
{
    return isfinite(lower) ? (isfinite(upper) ? 'b' : 'l') : isfinite(upper) ? 'u' : '-';
}

static double mean_distance(size_t d, size_t k, double from, size_t count, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(x[i * d + k] - from) / (double)count;
    return sum > 0 && isfinite(sum) ? sum : 1;
}

static void choose_unit(sk_bounds *b, size_t k, size_t count, const double *x)
{
    const char side = side_of(b->lower[k], b->upper[k]);
    b->origin[k] = side == '-' ? 0 : side == 'u' ? b->upper[k] : b->lower[k];
    b->scale[k] = side == '-'   ? 1
                  : side == 'b' ? b->upper[k] - b->lower[k]
                                : mean_distance(b->d, k, b->origin[k], count, x);
    if (b->d <= SK_MOST_SIDES) b->sides[k] = side;
}

static bool any(size_t d, const double *lower, const double *upper)
{
    for (size_t k = 0; k < d; k++)
        if (isfinite(lower[k]) || isfinite(upper[k])) return true;
    return false;
}

sock_status sk_bounds_new(sock_context *ctx, size_t d, const double *lower, const double *upper, size_t count,
                          const double *x, sk_bounds **out)
{
    *out = NULL;
    if (!lower || !upper || !any(d, lower, upper)) return SOCK_OK;
    sk_bounds *b = sk_alloc(ctx, 1, sizeof *b);
    if (!b) return SOCK_ENOMEM;
    *b = (sk_bounds){.d = d,
                     .in = d,
                     .lower = sk_doubles(ctx, d, 1),
                     .upper = sk_doubles(ctx, d, 1),
                     .origin = sk_doubles(ctx, d, 1),
                     .scale = sk_doubles(ctx, d, 1)};
    if (!b->lower || !b->upper || !b->origin || !b->scale) {
        sk_bounds_free(b);
        return SOCK_ENOMEM;
    }
    memcpy(b->lower, lower, d * sizeof *lower);
    memcpy(b->upper, upper, d * sizeof *upper);
    for (size_t k = 0; k < d; k++) choose_unit(b, k, count, x);
    *out = b;
    return SOCK_OK;
}

sock_status sk_bounds_widen(sock_context *ctx, size_t in, sk_bounds *b)
{
    double *origin = sk_doubles(ctx, in, 1), *scale = sk_doubles(ctx, in, 1);
    if (!origin || !scale) {
        sk_free(origin);
        sk_free(scale);
        return SOCK_ENOMEM;
    }
    for (size_t k = 0; k < in; k++) {
        origin[k] = k < b->d ? b->origin[k] : 0;
        scale[k] = k < b->d ? b->scale[k] : 1;
    }
    sk_free(b->origin);
    sk_free(b->scale);
    b->origin = origin;
    b->scale = scale;
    b->in = in;
    return SOCK_OK;
}

bool sk_bounds_letters(const sk_bounds *b, const bool *use, char letters[SK_MOST_SIDES + 1])
{
    if (!b->sides[0] || b->in > SK_MOST_SIDES) return false;
    memcpy(letters, b->sides, b->d);
    for (size_t k = b->d; k < b->in; k++) letters[k] = !use || use[k - b->d] ? '-' : '.';
    letters[b->in] = 0;
    return true;
}

void sk_bounds_units(const sk_bounds *b, size_t count, const double *x, double *out)
{
    for (size_t i = 0; i < count * b->in; i++) out[i] = (x[i] - b->origin[i % b->in]) / b->scale[i % b->in];
}

void sk_bounds_clip(size_t d, const double *lower, const double *upper, double *x)
{
    for (size_t k = 0; k < d; k++) {
        if (lower && x[k] < lower[k]) x[k] = lower[k];
        if (upper && x[k] > upper[k]) x[k] = upper[k];
    }
}

/* `below` and `above`: by how much m - S and m + S leave the bounds, in units of the room there is. */
double sk_skew(const sk_bounds *b, const double *m, const double *s, size_t stride)
{
    double below = 0, above = 0;
    for (size_t k = 0; k < b->d; k++) {
        const double step = s[k * stride], down = m[k] - b->lower[k], up = b->upper[k] - m[k];
        if (down > 0 && step > 0) below = fmax(below, step / down);
        if (down > 0 && step < 0) above = fmax(above, -step / down);
        if (up > 0 && step > 0) above = fmax(above, step / up);
        if (up > 0 && step < 0) below = fmax(below, -step / up);
    }
    return below >= above ? fmin(fmax(below, 1), SK_MOST_SKEWED) : 1 / fmin(fmax(above, 1), SK_MOST_SKEWED);
}
