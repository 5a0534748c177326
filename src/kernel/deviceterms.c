/* deviceterms.c - a kernel as a device knows it (base/device.h): sums of Gaussians and of powers of x.y + 1. */
#include "base/device.h"
#include "kernel/featuremap.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* As gauss.c has it: no product with a square is 0 * infinity. */
static double factor_of(double eta) { return fmax(fmin(-0.5 / eta / eta, -DBL_MIN), -DBL_MAX); }

static bool fill(const sk_term *from, sk_device_term *to)
{
    const sk_family *f = sk_term_base(from);
    *to = (sk_device_term){.scale = from->scale, .degree = 1};
    if (from->root || from->b) return false;
    if (f == &sk_gauss_family) {
        to->gauss = 1;
        to->factor = factor_of(from->eta);
        return isfinite(from->eta);
    }
    if (f == &sk_poly_family) to->degree = (unsigned)from->degree;
    if (f == &sk_constant_family) to->degree = 0;
    to->shift = f == &sk_linear_family ? 0 : 1;
    return f == &sk_poly_family || f == &sk_linear_family || f == &sk_affine_family || f == &sk_constant_family;
}

sk_device_term *sk_kernel_device_terms(sock_context *ctx, const sk_kernel *kernel)
{
    sk_device_term *out = sk_alloc(ctx, kernel->terms, sizeof *out);
    for (size_t i = 0; out && i < kernel->terms; i++)
        if (!fill(&kernel->term[i], &out[i])) {
            sk_free(out);
            return NULL;
        }
    return out;
}

/* ---- Feature maps ---- */

void sk_device_piece_clear(sk_device_piece *piece)
{
    const void *const own[] = {piece->term, piece->power, piece->kind == SK_DEVICE_MONOMIALS ? piece->beta : NULL};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sk_free((void *)(uintptr_t)own[i]);
}

static sock_status take_monomials(sock_context *ctx, const sk_features *map, sk_device_piece *out)
{
    const sk_part *part = &map->part[0];
    unsigned *power = sk_alloc(ctx, map->p * map->d, sizeof *power);
    double *weight = sk_doubles(ctx, map->p, 1);
    out->kind = SK_DEVICE_MONOMIALS;
    out->power = power;
    out->beta = weight;
    if (!power || !weight) return SOCK_ENOMEM;
    /* In the part's own coordinates: the units are applied before. */
    sk_part bare = *part;
    bare.origin = bare.scale = NULL;
    for (size_t j = 0; j < map->p; j++) bare.kind->monomial(&bare, j, power + j * map->d, &weight[j]);
    return SOCK_OK;
}

sock_status sk_features_for_device(sock_context *ctx, const sk_features *map, sk_device_piece *out, bool *whole)
{
    const sk_part *part = &map->part[0];
    *out = (sk_device_piece){.p = map->p, .origin = map->origin, .unit = map->scale};
    if (map->parts != 1 || map->inner != map->d || sk_features_bounded(map)) {
        *whole = false;
        return SOCK_OK;
    }
    if (part->kind->monomial) return take_monomials(ctx, map, out);
    *whole = part->arrays == 2 && strcmp(part->array[0].name, "omega") == 0;
    if (!*whole) return SOCK_OK;
    out->kind = SK_DEVICE_FOURIER;
    out->omega = part->array[0].values;
    out->beta = part->array[1].values;
    out->size = sqrt(2 * part->term.scale / (double)part->p);
    out->frequency = 1 / part->term.eta;
    return SOCK_OK;
}
