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
    for (size_t i = 0; i < count; i++) memcpy(phi + i * ld, part->beta, part->p * sizeof *phi);
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, count, part->p, part->d, 1 / part->term.eta, x, part->d, part->omega, part->d,
            1, phi, ld);
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
        const double *omega = part->omega + j * d;
        double angle = 0;
        for (size_t k = 0; k < d; k++) angle += omega[k] * x[k];
        const double slope = -size * sin(frequency * angle + part->beta[j]) * frequency;
        for (size_t k = 0; k < d; k++) out[j * d + k] = slope * omega[k];
    }
}

static char *fourier_label(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight)
{
    char number[32];
    char *text = sk_strdup(ctx, "cos(");
    *weight = amplitude(part);
    for (size_t k = 0; text && k < part->d; k++) {
        const double value = part->omega[j * part->d + k] / part->term.eta / (part->scale ? part->scale[k] : 1);
        sk_print_double(number, fabs(value));
        char *longer = sk_format(ctx, "%s%s%s*%s", text,
                                 value < 0 ? (k ? " - " : "-")
                                 : k       ? " + "
                                           : "",
                                 number, names[k]);
        sk_free(text);
        text = longer;
    }
    if (!text) return NULL;
    sk_print_double(number, part->beta[j]);
    char *whole = sk_format(ctx, "%s + %s)", text, number);
    sk_free(text);
    return whole;
}

static const sk_part_kind fourier_kind = {
    .space = fourier_space, .eval = fourier_eval, .jacobian = fourier_jacobian, .label = fourier_label};

static sock_status make_arrays(sock_context *ctx, sk_part *part)
{
    part->kind = &fourier_kind;
    part->p = part->term.p;
    part->omega = sk_doubles(ctx, part->p, part->d);
    part->beta = sk_doubles(ctx, part->p, 1);
    return part->omega && part->beta ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_fourier_part(sock_context *ctx, size_t stream, sk_part *part)
{
    const sk_key key = {.seed = part->term.seed, .purpose = SK_PURPOSE_FOURIER};
    SK_TRY(make_arrays(ctx, part));
    sk_normals(key, stream, 0, 0, part->p * part->d, part->omega);
    sk_uniforms(key, stream, 0, 0, part->p, part->beta);
    for (size_t j = 0; j < part->p; j++) part->beta[j] *= two_pi;
    return SOCK_OK;
}

sock_status sk_fourier_restore(sock_context *ctx, const double *omega, const double *beta, sk_part *part)
{
    SK_TRY(make_arrays(ctx, part));
    memcpy(part->omega, omega, part->p * part->d * sizeof *omega);
    memcpy(part->beta, beta, part->p * sizeof *beta);
    return SOCK_OK;
}
