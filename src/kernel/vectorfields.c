/* vectorfields.c - the curl-free and the divergence-free Gaussian kernel, d x d.
 *
 * With phi(u) = exp(-|u|^2 / (2 eta^2)), u = x - y:
 *
 *     curl-free         K = -grad grad' phi            = phi/eta^2 [ I - u u'/eta^2 ]
 *     divergence-free   K = (grad grad' - I lap) phi   = phi/eta^2 [ u u'/eta^2 + (d - 1 - |u|^2/eta^2) I ]
 *
 * so that every column of K(., y) is a gradient, or has no divergence (Narcowich and Ward 1994; Fuselier 2008). */
#include "kernel/family.h"

#include <math.h>

static void add_field(const sk_pair *b, const sk_term *term, bool curlfree)
{
    const double eta = term->eta;
    double square = 0;
    for (size_t k = 0; k < b->d; k++) square += (b->x[k] - b->y[k]) / eta * ((b->x[k] - b->y[k]) / eta);
    const double phi = term->scale * exp(-0.5 * square) / eta / eta;
    if (phi == 0) return; /* far apart: the square may be infinite, and 0 times it is no number */
    const double trace = curlfree ? phi : phi * ((double)b->d - 1 - square), factor = curlfree ? -phi : phi;
    for (size_t k = 0; k < b->d; k++) b->out[k * b->ld + k] += trace;
    for (size_t k = 0; k < b->d; k++) {
        const double uk = factor * ((b->x[k] - b->y[k]) / eta);
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += uk * ((b->x[l] - b->y[l]) / eta);
    }
}

static void curlfree_add_pair(const sk_pair *b, const sk_term *term) { add_field(b, term, true); }
static void divfree_add_pair(const sk_pair *b, const sk_term *term) { add_field(b, term, false); }

static sock_status divfree_check(sock_context *ctx, const char *option, size_t d)
{
    if (d >= 2) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "%s: divfree needs a state of at least 2 dimensions and this one has 1: a "
                   "field without divergence on a line is constant",
                   option);
}

const sk_family sk_curlfree_family = {
    .name = "curlfree", .keys = SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_SCALE), .add_pair = curlfree_add_pair};

const sk_family sk_divfree_family = {.name = "divfree",
                                     .keys = SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_SCALE),
                                     .check = divfree_check,
                                     .add_pair = divfree_add_pair};
