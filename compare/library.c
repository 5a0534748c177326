/* library.c - see library.h. A monomial is its parent (one degree less) times one coordinate, so that a point costs one
 * product a monomial. */
#include "compare/library.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct cmp_library {
    size_t d, degree, first_degree;
    size_t chain;         /* monomials of degree 0 to `degree`: all are computed */
    size_t hidden;        /* the first of them, of a degree below first_degree, are not part of the library */
    size_t *parent;       /* chain */
    size_t *factor;       /* chain: the coordinate that makes it from its parent */
    unsigned char *power; /* chain x d */
    size_t gaussians;
    size_t *grid;   /* d: how many centres along each coordinate */
    double *centre; /* gaussians x d */
    double *width;  /* d */
    size_t cosines;
    double *omega; /* cosines x d */
    double *phase; /* cosines */
    double scale;
};

double cmp_monomial_count(size_t d, size_t degree)
{
    double count = 1;
    for (size_t k = 1; k <= degree; k++) count = count * (double)(d + k) / (double)k;
    return round(count);
}

static size_t monomials(const cmp_library *l) { return l->chain - l->hidden; }
size_t cmp_library_size(const cmp_library *l) { return monomials(l) + l->gaussians + l->cosines; }
size_t cmp_library_dim(const cmp_library *l) { return l->d; }

void cmp_library_free(cmp_library *l)
{
    if (!l) return;
    sk_free(l->parent);
    sk_free(l->factor);
    sk_free(l->power);
    sk_free(l->grid);
    sk_free(l->centre);
    sk_free(l->width);
    sk_free(l->omega);
    sk_free(l->phase);
    sk_free(l);
}

/* ---- Making ---- */

/* Graded order: the monomials of degree g + 1 that end in coordinate k or later come from those of degree g whose last
 * coordinate is at most k. Listing parents in order with k from the parent's last coordinate on gives x1^2, x1 x2, ....
 */
static sock_status make_monomials(sock_context *ctx, const cmp_library_spec *spec, cmp_library *l)
{
    if (spec->degree == 0 && spec->first_degree > 0) return SOCK_OK;
    const size_t d = spec->d;
    l->chain = (size_t)cmp_monomial_count(d, spec->degree);
    l->hidden = spec->first_degree ? (size_t)cmp_monomial_count(d, spec->first_degree - 1) : 0;
    l->parent = sk_alloc(ctx, l->chain, sizeof *l->parent);
    l->factor = sk_alloc(ctx, l->chain, sizeof *l->factor);
    l->power = sk_alloc(ctx, l->chain * d, 1);
    if (!l->parent || !l->factor || !l->power) return SOCK_ENOMEM;
    size_t count = 1, begin = 0, end = 1;
    for (size_t g = 1; g <= spec->degree; g++) {
        for (size_t m = begin; m < end; m++)
            for (size_t k = m ? l->factor[m] : 0; k < d; k++, count++) {
                l->parent[count] = m;
                l->factor[count] = k;
                memcpy(l->power + count * d, l->power + m * d, d);
                l->power[count * d + k]++;
            }
        begin = end;
        end = count;
    }
    assert(count == l->chain);
    return SOCK_OK;
}

/* The largest grid of at most `most` centres that is as even as can be: 20 centres in the plane are 5 x 4. */
static size_t shape_grid(size_t d, size_t most, size_t *grid)
{
    size_t total = 1, k = 0, refused = 0;
    for (size_t i = 0; i < d; i++) grid[i] = 1;
    for (; refused < d; k = (k + 1) % d) {
        size_t larger = total / grid[k] * (grid[k] + 1);
        refused = larger <= most ? 0 : refused + 1;
        if (larger <= most) total = larger, grid[k]++;
    }
    return total;
}

/* Along one coordinate: from end to end, or in the middle when there is one; a spread of 0 counts as 1. */
static double place(const cmp_library_spec *spec, size_t k, size_t count, size_t index)
{
    double low = spec->lower[k], spread = spec->upper[k] - low;
    return count == 1 ? low + spread / 2 : low + spread * (double)index / (double)(count - 1);
}

static sock_status make_gaussians(sock_context *ctx, const cmp_library_spec *spec, cmp_library *l)
{
    const size_t d = spec->d;
    if (!spec->gaussians) return SOCK_OK;
    l->grid = sk_alloc(ctx, d, sizeof *l->grid);
    l->width = sk_doubles(ctx, d, 1);
    if (!l->grid || !l->width) return SOCK_ENOMEM;
    l->gaussians = shape_grid(d, spec->gaussians, l->grid);
    l->centre = sk_doubles(ctx, l->gaussians, d);
    if (!l->centre) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        double spread = spec->upper[k] - spec->lower[k];
        double gap = l->grid[k] > 1 ? spread / (double)(l->grid[k] - 1) : spread;
        if (spec->least) gap = fmax(gap, spec->least[k]);
        l->width[k] = !isnan(spec->width) ? spec->width : gap > 0 ? gap : 1;
    }
    for (size_t c = 0; c < l->gaussians; c++)
        for (size_t k = d, rest = c; k-- > 0; rest /= l->grid[k])
            l->centre[c * d + k] = place(spec, k, l->grid[k], rest % l->grid[k]);
    return SOCK_OK;
}

static sock_status make_cosines(sock_context *ctx, const cmp_library_spec *spec, cmp_library *l)
{
    const sk_key key = {spec->seed, SK_PURPOSE_FOURIER};
    if (!spec->cosines) return SOCK_OK;
    l->cosines = spec->cosines;
    l->scale = spec->scale;
    l->omega = sk_doubles(ctx, l->cosines, l->d);
    l->phase = sk_doubles(ctx, l->cosines, 1);
    if (!l->omega || !l->phase) return SOCK_ENOMEM;
    sk_normals(key, 0, 0, 0, l->cosines * l->d, l->omega);
    for (size_t i = 0; i < l->cosines * l->d; i++) l->omega[i] /= spec->scale;
    sk_uniforms(key, 1, 0, 0, l->cosines, l->phase);
    for (size_t i = 0; i < l->cosines; i++) l->phase[i] *= 2 * 3.14159265358979323846;
    return SOCK_OK;
}

sock_status cmp_library_new(sock_context *ctx, const cmp_library_spec *spec, cmp_library **out)
{
    double count = spec->degree == 0 && spec->first_degree > 0 ? 0 : cmp_monomial_count(spec->d, spec->degree);
    count += (double)spec->gaussians + (double)spec->cosines;
    if (!(count >= 1 && count <= CMP_MOST_FUNCTIONS))
        return sk_fail(ctx, SOCK_EUSAGE, "the library would hold %.4g functions in %zu dimensions; allowed: 1 to %d",
                       count, spec->d, CMP_MOST_FUNCTIONS);
    cmp_library *l = sk_alloc(ctx, 1, sizeof *l);
    if (!l) return SOCK_ENOMEM;
    l->d = spec->d;
    l->degree = spec->degree;
    l->first_degree = spec->first_degree;
    sock_status status;
    SK_GO(make_monomials(ctx, spec, l));
    SK_GO(make_gaussians(ctx, spec, l));
    SK_GO(make_cosines(ctx, spec, l));
    *out = l;
    return SOCK_OK;
out:
    cmp_library_free(l);
    return status;
}

/* ---- Values ---- */

/* A monomial whose parent is hidden is multiplied out; there is one such degree at most. */
static void eval_monomials(const cmp_library *l, const double *x, double *phi)
{
    for (size_t m = l->hidden; m < l->chain; m++) {
        double value = 1;
        if (m && l->parent[m] >= l->hidden)
            value = phi[l->parent[m] - l->hidden] * x[l->factor[m]];
        else
            for (size_t at = m; at; at = l->parent[at]) value *= x[l->factor[at]];
        phi[m - l->hidden] = value;
    }
}

static double exponent(const cmp_library *l, size_t c, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < l->d; k++) {
        double u = (x[k] - l->centre[c * l->d + k]) / l->width[k];
        sum += u * u;
    }
    return -0.5 * sum;
}

static double angle(const cmp_library *l, size_t c, const double *x)
{
    double sum = l->phase[c];
    for (size_t k = 0; k < l->d; k++) sum += l->omega[c * l->d + k] * x[k];
    return sum;
}

void cmp_library_eval(const cmp_library *l, size_t count, const double *x, double *phi)
{
    const size_t size = cmp_library_size(l);
    for (size_t i = 0; i < count; i++) {
        double *row = phi + i * size, *bumps = row + monomials(l), *waves = bumps + l->gaussians;
        const double *point = x + i * l->d;
        eval_monomials(l, point, row);
        for (size_t c = 0; c < l->gaussians; c++) bumps[c] = exponent(l, c, point);
        if (l->gaussians) sk_vexp(l->gaussians, bumps, bumps);
        for (size_t c = 0; c < l->cosines; c++) waves[c] = angle(l, c, point);
        if (l->cosines) sk_vcos(l->cosines, waves, waves);
    }
}

/* ---- Derivatives ---- */

/* The monomial with its powers lowered once in i and once in j (d: not at all); 0 where a power runs out. */
static double lowered(const cmp_library *l, size_t m, const double *x, size_t i, size_t j)
{
    double value = 1;
    for (size_t k = 0; k < l->d; k++) {
        int power = l->power[m * l->d + k];
        if (k == i) value *= power--;
        if (k == j) value *= power--;
        if (value == 0) return 0;
        value *= power > 0 ? pow(x[k], power) : 1;
    }
    return value;
}

static void monomial_derivatives(const cmp_library *l, size_t m, const double *x, double *gradient, double *hessian)
{
    for (size_t i = 0; i < l->d; i++) {
        gradient[i] = lowered(l, m, x, i, l->d);
        for (size_t j = 0; j < l->d; j++) hessian[i * l->d + j] = lowered(l, m, x, i, j);
    }
}

static void gaussian_derivatives(const cmp_library *l, size_t c, const double *x, double *gradient, double *hessian)
{
    const size_t d = l->d;
    double value = exp(exponent(l, c, x));
    for (size_t i = 0; i < d; i++) {
        double u = (x[i] - l->centre[c * d + i]) / (l->width[i] * l->width[i]);
        gradient[i] = -u * value;
        for (size_t j = 0; j < d; j++) {
            double v = (x[j] - l->centre[c * d + j]) / (l->width[j] * l->width[j]);
            hessian[i * d + j] = (u * v - (i == j ? 1 / (l->width[i] * l->width[i]) : 0)) * value;
        }
    }
}

static void cosine_derivatives(const cmp_library *l, size_t c, const double *x, double *gradient, double *hessian)
{
    const double *omega = l->omega + c * l->d, at = angle(l, c, x);
    for (size_t i = 0; i < l->d; i++) {
        gradient[i] = -omega[i] * sin(at);
        for (size_t j = 0; j < l->d; j++) hessian[i * l->d + j] = -omega[i] * omega[j] * cos(at);
    }
}

void cmp_library_derivatives(const cmp_library *l, size_t m, const double *x, double *gradient, double *hessian)
{
    assert(m < cmp_library_size(l));
    if (m < monomials(l))
        monomial_derivatives(l, m + l->hidden, x, gradient, hessian);
    else if (m < monomials(l) + l->gaussians)
        gaussian_derivatives(l, m - monomials(l), x, gradient, hessian);
    else
        cosine_derivatives(l, m - monomials(l) - l->gaussians, x, gradient, hessian);
}

/* ---- Names ---- */

size_t cmp_library_find(const cmp_library *l, size_t i, size_t j)
{
    for (size_t m = l->hidden; m < l->chain; m++) {
        bool same = true;
        for (size_t k = 0; same && k < l->d; k++) same = l->power[m * l->d + k] == (k == i) + (k == j);
        if (same) return m - l->hidden;
    }
    return cmp_library_size(l);
}

void cmp_library_describe(const cmp_library *l, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    if (monomials(l))
        used += (size_t)snprintf(buffer, size, "%zu monomials of degree %zu to %zu", monomials(l), l->first_degree,
                                 l->degree);
    if (l->gaussians && used < size) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%zu Gaussians on a grid ", used ? " and " : "",
                                 l->gaussians);
        for (size_t k = 0; k < l->d && used < size; k++)
            used += (size_t)snprintf(buffer + used, size - used, "%s%zu", k ? "x" : "", l->grid[k]);
        for (size_t k = 0; k < l->d && used < size; k++)
            used += (size_t)snprintf(buffer + used, size - used, "%s%.3g", k ? " " : ", widths ", l->width[k]);
    }
    if (l->cosines && used < size)
        snprintf(buffer + used, size - used, "%s%zu random cosines of length scale %.3g", used ? " and " : "",
                 l->cosines, l->scale);
}
