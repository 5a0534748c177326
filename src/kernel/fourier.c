/* fourier.c - random Fourier features of the Gaussian kernel (Rahimi and Recht 2007; the paper's "Gaussian Fourier
 * features"): phi_j(x) = sqrt(2/p) cos(omega_j.x / eta + beta_j), omega_j normal, beta_j uniform on (0, 2 pi). The
 * numbers are functions of the seed and of the term's place in the sum; a map with more features begins with the same
 * directions. */
#include "kernel/featuremap.h"
#include "la/la.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double two_pi = 6.283185307179586476925;

enum { OMEGA, BETA }; /* p x d and p */

static const double *omega_of(const sk_part *part) { return part->array[OMEGA].values; }
static const double *beta_of(const sk_part *part) { return part->array[BETA].values; }

static double amplitude(const sk_part *part) { return sqrt(2 * part->term.scale / (double)part->p); }

static size_t fourier_space(const sk_part *part, size_t block)
{
    (void)part, (void)block;
    return 0;
}

static void fourier_eval(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                         double *space)
{
    (void)space;
    const double size = amplitude(part);
    for (size_t i = 0; i < count; i++) memcpy(phi + i * ld, beta_of(part), part->p * sizeof *phi);
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, count, part->p, part->d, 1 / part->term.eta, x, part->d, omega_of(part),
            part->d, 1, phi, ld);
    for (size_t i = 0; i < count; i++) {
        double *row = phi + i * ld;
        sk_vcos(part->p, row, row);
        for (size_t j = 0; j < part->p; j++) row[j] *= size;
    }
}

static void fourier_jacobian(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space)
{
    (void)ctx, (void)space;
    const size_t d = part->d;
    const double size = amplitude(part), frequency = 1 / part->term.eta;
    for (size_t j = 0; j < part->p; j++) {
        const double *omega = omega_of(part) + j * d;
        double angle = 0;
        for (size_t k = 0; k < d; k++) angle += omega[k] * x[k];
        const double slope = -size * sin(frequency * angle + beta_of(part)[j]) * frequency;
        for (size_t k = 0; k < d; k++) out[j * d + k] = slope * omega[k];
    }
}

static char *fourier_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    char number[32];
    char *text = sk_strdup(ctx, "cos(");
    *weight = amplitude(part);
    for (size_t k = 0; text && k < part->d; k++) {
        const double value = omega_of(part)[j * part->d + k] / part->term.eta / (part->scale ? part->scale[k] : 1);
        sk_print_double(number, fabs(value));
        char *state = sk_part_state(ctx, part, names, k);
        char *longer = state ? sk_format(ctx, "%s%s%s*%s", text,
                                         value < 0 ? (k ? " - " : "-")
                                         : k       ? " + "
                                                   : "",
                                         number, state)
                             : NULL;
        sk_free(state);
        sk_free(text);
        text = longer;
    }
    if (!text) return NULL;
    sk_print_double(number, beta_of(part)[j]);
    char *whole = sk_format(ctx, "%s + %s)", text, number);
    sk_free(text);
    return whole;
}

static const sk_part_kind fourier_kind = {
    .space = fourier_space, .eval = fourier_eval, .jacobian = fourier_jacobian, .label = fourier_label};

static sock_status fourier_make(const sk_making *m, sk_part *part)
{
    const sk_key key = {.seed = part->term.seed, .purpose = SK_PURPOSE_FOURIER};
    part->kind = &fourier_kind;
    part->p = part->term.p;
    double *omega = sk_part_array(m->ctx, part, "omega", part->p, part->d);
    double *beta = omega ? sk_part_array(m->ctx, part, "beta", part->p, 1) : NULL;
    if (!beta) return SOCK_ENOMEM;
    sk_normals(key, m->place, 0, 0, part->p * part->d, omega);
    sk_uniforms(key, m->place, 0, 0, part->p, beta);
    for (size_t j = 0; j < part->p; j++) beta[j] *= two_pi;
    return SOCK_OK;
}

static sock_status fourier_load(sk_stored *s, sk_part *part)
{
    part->kind = &fourier_kind;
    part->p = part->term.p;
    SK_TRY(sk_stored_array(s, part, "omega", part->p, part->d));
    return sk_stored_array(s, part, "beta", part->p, 1);
}

static double fourier_count(const sk_term *term, size_t d, size_t max_rank)
{
    (void)d, (void)max_rank;
    return (double)term->p;
}

const sk_family sk_fourier_family = {.name = "fourier",
                                     .keys = SK_BIT(SK_KEY_P) | SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_SEED) |
                                             SK_BIT(SK_KEY_SCALE),
                                     .p = 100,
                                     .stands_for = &sk_gauss_family,
                                     .make = fourier_make,
                                     .load = fourier_load,
                                     .count = fourier_count};
