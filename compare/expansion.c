/* expansion.c - see expansion.h. */
#include "compare/expansion.h"

#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, ROOM = 4096, GAUSSIANS = 20, COSINES = 100 };
_Static_assert((int)ROOM >= (int)CMP_MOST_FUNCTIONS, "one point's functions fit on the stack");

sock_status cmp_expansion_new(sock_context *ctx, cmp_library *library, cmp_expansion **out)
{
    cmp_expansion *e = sk_alloc(ctx, 1, sizeof *e);
    if (!e) {
        cmp_library_free(library);
        return SOCK_ENOMEM;
    }
    e->library = library;
    e->d = cmp_library_dim(library);
    e->drift = sk_doubles(ctx, cmp_library_size(library), e->d);
    e->diffusion = sk_doubles(ctx, cmp_library_size(library), cmp_pairs(e->d));
    if (!e->drift || !e->diffusion) {
        cmp_expansion_free(e);
        return SOCK_ENOMEM;
    }
    *out = e;
    return SOCK_OK;
}

void cmp_expansion_free(void *expansion)
{
    cmp_expansion *e = expansion;
    if (!e) return;
    cmp_library_free(e->library);
    sk_free(e->drift);
    sk_free(e->diffusion);
    sk_free(e);
}

/* ---- Fields: on the stack, since a field function has no way to say that there was no memory ---- */

/* How many points at a time, with `each` numbers of the ROOM for a point. */
static size_t points_in_room(size_t each) { return SK_MAX(1, SK_MIN((size_t)BLOCK, ROOM / SK_MAX(each, 1))); }

/* out (count x q) = phi (count x M) w (M x q). No BLAS: a field function has no context, and w is often full of zeros.
 */
static void multiply(size_t count, size_t size, size_t q, const double *phi, const double *w, double *out)
{
    memset(out, 0, count * q * sizeof *out);
    for (size_t m = 0; m < size; m++) {
        const double *row = w + m * q;
        bool zero = true;
        for (size_t j = 0; zero && j < q; j++) zero = row[j] == 0;
        for (size_t i = 0; !zero && i < count; i++)
            for (size_t j = 0; j < q; j++) out[i * q + j] += phi[i * size + m] * row[j];
    }
}

void cmp_expansion_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const cmp_expansion *e = user;
    const size_t size = cmp_library_size(e->library), most = points_in_room(size);
    double phi[ROOM];
    for (size_t i = 0; i < count; i += most) {
        const size_t block = SK_MIN(most, count - i);
        cmp_library_eval(e->library, block, x + i * d, phi);
        multiply(block, size, d, phi, e->drift, f + i * d);
    }
}

/* Both triangles of a from the pairs, which stand at or before their places in a: from the last to the first. */
static void unfold(size_t d, const double *pair, double *a)
{
    for (size_t k = d; k-- > 0;)
        for (size_t l = d; l-- > k;) a[k * d + l] = pair[cmp_pair(d, k, l)];
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < k; l++) a[k * d + l] = a[l * d + k];
}

/* Commutator mode: less f_k x_l + f_l x_k. */
static void subtract_drift(size_t d, const double *f, const double *x, double *a)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            a[k * d + l] -= f[SK_MIN(k, l)] * x[SK_MAX(k, l)] + f[SK_MAX(k, l)] * x[SK_MIN(k, l)];
}

void cmp_expansion_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const cmp_expansion *e = user;
    const size_t size = cmp_library_size(e->library), pairs = cmp_pairs(d), most = points_in_room(size);
    double phi[ROOM], f[ROOM]; /* in commutator mode the library holds every x_k: d < size */
    for (size_t i = 0; i < count; i += most) {
        const size_t block = SK_MIN(most, count - i);
        double *out = a + i * d * d;
        cmp_library_eval(e->library, block, x + i * d, phi);
        multiply(block, size, pairs, phi, e->diffusion, out);
        if (e->commutator) multiply(block, size, d, phi, e->drift, f);
        for (size_t b = block; b-- > 0;) {
            unfold(d, out + b * pairs, out + b * d * d);
            if (e->commutator) subtract_drift(d, f + b * d, x + (i + b) * d, out + b * d * d);
        }
    }
}

/* ---- Towards a row ---- */

static size_t nonzeros(size_t count, const double *w)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += w[i] != 0;
    return found;
}

/* Makes the model of the expansion (which fitted owns from now on, also when this fails), counts its coefficients and
 * writes the settings: library, `rest`, fit-on. */
static sock_status finish(sock_context *ctx, const cmp_spec *spec, const sock_data *data, cmp_expansion *e,
                          const char *rest, cmp_fitted *fitted)
{
    char library[160];
    size_t size = cmp_library_size(e->library), pairs = cmp_pairs(e->d);
    fitted->drift = cmp_expansion_drift;
    fitted->diffusion = cmp_expansion_diffusion;
    fitted->state = e;
    fitted->free_state = cmp_expansion_free;
    fitted->terms = size * (e->d + pairs);
    fitted->nonzero = nonzeros(size * e->d, e->drift) + nonzeros(size * pairs, e->diffusion);
    cmp_library_describe(e->library, library, sizeof library);
    snprintf(fitted->settings, sizeof fitted->settings, "%s; %s; fit-on %s", library, rest,
             cmp_spec_text(spec, "fit-on"));
    return cmp_wrap(ctx, data, fitted);
}

/* ---- The library that the parameters name ---- */

/* At least two steps a function, or the fit says nothing. */
static size_t automatic_degree(const cmp_steps *steps)
{
    size_t degree = steps->d <= 3 ? 3 : 2;
    while (degree > 1 && 2 * cmp_monomial_count(steps->d, degree) > (double)steps->count) degree--;
    return degree;
}

static sock_status gaussians_of(sock_context *ctx, cmp_library_spec *s, const cmp_steps *steps, bool wide,
                                cmp_library **out)
{
    double *least = NULL;
    if (wide && !(least = sk_doubles(ctx, steps->d, 1))) return SOCK_ENOMEM;
    for (size_t k = 0; wide && k < steps->d; k++) least[k] = cmp_steps_deviation(steps, k);
    s->least = least;
    sock_status status = cmp_library_new(ctx, s, out);
    sk_free(least);
    return status;
}

sock_status cmp_library_of(sock_context *ctx, const cmp_spec *spec, const cmp_steps *steps, unsigned wants,
                           cmp_library **out)
{
    double degree = cmp_spec_number(spec, "degree"), count = cmp_spec_number(spec, "count");
    const bool poly = cmp_spec_is(spec, "library", "poly"), gauss = cmp_spec_is(spec, "library", "gauss");
    cmp_library_spec s = {.d = steps->d,
                          .first_degree = 1,
                          .width = cmp_spec_number(spec, "width"),
                          .lower = steps->lower,
                          .upper = steps->upper,
                          .seed = (uint64_t)cmp_spec_number(spec, "seed")};
    if (poly) {
        s.first_degree = 0;
        s.degree = isnan(degree) ? automatic_degree(steps) : (size_t)degree;
        return cmp_library_new(ctx, &s, out);
    }
    s.degree = wants & CMP_APPEND ? 2 : 0;
    if (gauss) {
        s.gaussians = isnan(count) ? GAUSSIANS : (size_t)count;
        return gaussians_of(ctx, &s, steps, wants & CMP_WIDE, out);
    }
    s.cosines = isnan(count) ? COSINES : (size_t)count;
    s.scale = s.width;
    if (isnan(s.scale)) SK_TRY(sk_median_distance(ctx, s.d, steps->count, steps->x, &s.scale));
    return cmp_library_new(ctx, &s, out);
}

/* ---- A whole fit ---- */

sock_status cmp_expansion_fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, unsigned wants,
                              cmp_regression_fn regression, cmp_fitted *out)
{
    const sock_data *data;
    sock_data *own = NULL;
    cmp_steps *steps = NULL;
    cmp_library *library = NULL;
    cmp_expansion *e = NULL;
    char rest[CMP_REST_SIZE];
    sock_status status;
    SK_GO(cmp_training_data(ctx, spec, c, &data, &own));
    SK_GO(cmp_steps_new(ctx, data, &steps));
    SK_GO(cmp_library_of(ctx, spec, steps, wants, &library));
    SK_GO(cmp_expansion_new(ctx, library, &e));
    SK_GO(regression(ctx, spec, steps, e, rest, out->note));
    status = finish(ctx, spec, data, e, rest, out);
    e = NULL;
out:
    cmp_expansion_free(e);
    cmp_steps_free(steps);
    sock_data_free(own);
    return status;
}
