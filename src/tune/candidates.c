/* candidates.c - the lists of kernels: simple ones first, what costs too much is not tried. */
#include "tune/candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRIFT_FEATURES = 300, PILOT_FEATURES = 60, DIFFUSION_FEATURES = 44, FULL_ORDER = 120 };

/* One diffusion candidate keeps two rows of q = p (p + 1) / 2 numbers for each step, and decomposes a q x q matrix for
 * each fold and, when diagonal, component: both bounded, so that a candidate takes seconds and half a gigabyte at most.
 */
static bool affordable(const sk_steps *s, double p, bool diagonal)
{
    double q = p * (p + 1) / 2;
    return 16 * (double)s->n * q <= 5e8 && q * q * q * (diagonal ? (double)s->d : 1) <= 2.5e9;
}

/* Most pivoted features of a gauss candidate. */
static size_t gauss_rank(const sk_steps *s)
{
    size_t rank = s->d == 1 ? 40 : 20;
    while (rank > 4 && !affordable(s, (double)rank, s->d > 1)) rank--;
    return rank;
}

void sk_candidates_clear(sk_candidates *c)
{
    for (size_t i = 0; i < c->drifts; i++) sk_drift_candidate_clear(&c->drift[i]);
    for (size_t i = 0; i < c->diffusions; i++) sk_diffusion_candidate_clear(&c->diffusion[i]);
    sk_free(c->drift);
    sk_free(c->diffusion);
    *c = (sk_candidates){0};
}

/* C(d + degree, degree), cut at a million. */
static double monomials(size_t d, size_t degree)
{
    double count = 1;
    for (size_t i = 1; i <= degree && count < 1e6; i++) count = count * (double)(d + i) / (double)i;
    return count;
}

/* Root mean square distance of a coordinate from its mean. */
static double spread(const sk_steps *s)
{
    double total = 0;
    for (size_t k = 0; k < s->d; k++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < s->n; i++) mean += s->y[i * s->d + k] / (double)s->n;
        for (size_t i = 0; i < s->n; i++) square += pow(s->y[i * s->d + k] - mean, 2) / (double)s->n;
        total += square / (double)s->d;
    }
    return total > 0 ? sqrt(total) : 1;
}

static sock_status parse(sock_context *ctx, const char *option, const char *text, const sk_steps *s, sk_kernel **out)
{
    SK_TRY(sk_kernel_parse(ctx, option, text, out));
    sock_status status = sk_kernel_resolve(ctx, option, *out, s->d, s->n, s->y);
    if (status < 0) {
        sk_kernel_free(*out);
        *out = NULL;
    }
    return status;
}

static sock_status add_drift(sock_context *ctx, sk_candidates *c, const sk_steps *s, const char *text, bool learned,
                             int order)
{
    SK_TRY(sk_grow(ctx, &c->drift, &c->drift_capacity, c->drifts + 1, sizeof *c->drift));
    size_t rank = s->d == 1 ? 60 : s->d <= 3 ? DRIFT_FEATURES : DRIFT_FEATURES / 2;
    sk_drift_candidate made = {.learned = learned, .order = order, .max_rank = rank};
    SK_TRY(parse(ctx, "drift", text, s, &made.kernel));
    char *canonical = learned ? sk_strdup(ctx, text) : sk_kernel_format(ctx, made.kernel);
    made.name = canonical ? sk_format(ctx, "%s%s", canonical, learned ? " learned" : "") : NULL;
    sk_free(canonical);
    if (!made.name) {
        sk_drift_candidate_clear(&made);
        return SOCK_ENOMEM;
    }
    c->drift[c->drifts++] = made;
    return SOCK_OK;
}

static sock_status add_diffusion(sock_context *ctx, sk_candidates *c, const sk_steps *s, const char *text,
                                 bool diagonal, bool learned, int order)
{
    SK_TRY(sk_grow(ctx, &c->diffusion, &c->diffusion_capacity, c->diffusions + 1, sizeof *c->diffusion));
    sk_diffusion_candidate made = {.diagonal = diagonal, .learned = learned, .order = order + (diagonal ? 0 : 1)};
    made.max_rank = gauss_rank(s);
    SK_TRY(parse(ctx, "diffusion", text, s, &made.kernel));
    char *canonical = sk_kernel_format(ctx, made.kernel);
    made.name =
        canonical ? sk_format(ctx, "%s%s%s", canonical, learned ? " learned" : "", diagonal ? " diagonal" : "") : NULL;
    sk_free(canonical);
    if (!made.name) {
        sk_diffusion_candidate_clear(&made);
        return SOCK_ENOMEM;
    }
    c->diffusion[c->diffusions++] = made;
    return SOCK_OK;
}

/* eta in units of the spread: wider where there are more dimensions, since distances are. */
static size_t length_scales(size_t d, double *out)
{
    static const double few[] = {0.5, 1, 2, 4}, many[] = {2, 4, 8};
    size_t count = d <= 2 ? 4 : 3;
    memcpy(out, d <= 2 ? few : many, count * sizeof *out);
    return count;
}

static sock_status drift_list(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *s, bool pilot,
                              sk_candidates *c)
{
    size_t d = s->d;
    char text[64];
    double eta[4], unit = spread(s);
    if (strcmp(spec->drift, "auto") != 0) return add_drift(ctx, c, s, spec->drift, false, 0);
    if (!pilot && spec->learned) SK_TRY(add_drift(ctx, c, s, "affine", true, 1));
    if (!pilot) SK_TRY(add_drift(ctx, c, s, "linear", false, 2));
    bool quadratic = monomials(d, 2) <= DRIFT_FEATURES, cubic = monomials(d, 3) <= DRIFT_FEATURES;
    if (!pilot && quadratic && spec->learned) SK_TRY(add_drift(ctx, c, s, "poly:degree=2", true, 3));
    SK_TRY(add_drift(ctx, c, s, "affine", false, 4));
    if (!pilot && cubic && spec->learned) SK_TRY(add_drift(ctx, c, s, "poly:degree=3", true, 5));
    if (quadratic) SK_TRY(add_drift(ctx, c, s, "poly:degree=2", false, 6));
    if (!pilot && cubic) SK_TRY(add_drift(ctx, c, s, "poly:degree=3", false, 7));
    size_t scales = length_scales(d, eta);
    for (size_t i = 0; i < scales; i++) {
        if (pilot && eta[i] != 2) continue;
        snprintf(text, sizeof text, "gauss:eta=%.6g", eta[i] * unit);
        SK_TRY(add_drift(ctx, c, s, text, false, 8));
        if (pilot) c->drift[c->drifts - 1].max_rank = PILOT_FEATURES;
    }
    return SOCK_OK;
}

/* One kernel as full and as diagonal, with and without learned weights, as far as it can be afforded. */
static sock_status both(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *s, const char *text, double p,
                        bool learned, int order, sk_candidates *c)
{
    double d = (double)s->d;
    if (p > DIFFUSION_FEATURES) return SOCK_OK;
    bool diagonal = s->d > 1 && !spec->full_only && affordable(s, p, true);
    bool full = s->d == 1 || (!spec->diagonal_only && p * d <= FULL_ORDER);
    if (!affordable(s, p, false)) return SOCK_OK;
    if (full) SK_TRY(add_diffusion(ctx, c, s, text, false, false, order));
    if (diagonal) SK_TRY(add_diffusion(ctx, c, s, text, true, false, order));
    if (learned && spec->learned && s->d == 1) SK_TRY(add_diffusion(ctx, c, s, text, false, true, order));
    if (learned && spec->learned && diagonal) SK_TRY(add_diffusion(ctx, c, s, text, true, true, order));
    return SOCK_OK;
}

/* The kernel that the user named: its penalty is searched for, as far as its features can be afforded. */
static sock_status named_diffusion(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *s, sk_candidates *c)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    SK_TRY(parse(ctx, "diffusion", spec->diffusion, s, &kernel));
    sock_status status = SOCK_OK;
    if (!sk_kernel_is_implicit(kernel)) status = sk_features_new(ctx, "diffusion", kernel, s->d, s->n, s->y, &map);
    size_t p = map ? sk_features_count(map) : 1; /* gauss is cut at the rank that can be afforded */
    sk_features_free(map);
    sk_kernel_free(kernel);
    if (status < 0) return status;
    if (p > DIFFUSION_FEATURES)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "diffusion is '%s' with %zu features; allowed while tuning: at most %d (or give --no-tune)",
                       spec->diffusion, p, DIFFUSION_FEATURES);
    return both(ctx, spec, s, spec->diffusion, 1, false, 0, c);
}

static sock_status diffusion_list(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *s, bool pilot,
                                  sk_candidates *c)
{
    size_t d = s->d;
    char text[64];
    double eta[4], unit = spread(s);
    if (strcmp(spec->diffusion, "auto") != 0 && !pilot) return named_diffusion(ctx, spec, s, c);
    SK_TRY(both(ctx, spec, s, "constant", 1, false, 0, c));
    SK_TRY(both(ctx, spec, s, "affine", (double)d + 1, !pilot, 2, c));
    if (pilot) return SOCK_OK;
    SK_TRY(both(ctx, spec, s, "linear", (double)d, true, 1, c));
    SK_TRY(both(ctx, spec, s, "poly:degree=2", monomials(d, 2), true, 3, c));
    if (d == 1) SK_TRY(both(ctx, spec, s, "poly:degree=3", 4, true, 4, c));
    size_t scales = length_scales(d, eta);
    for (size_t i = 0; i < scales; i++) {
        snprintf(text, sizeof text, "gauss:eta=%.6g", eta[i] * unit);
        SK_TRY(both(ctx, spec, s, text, (double)gauss_rank(s), false, 5, c));
    }
    return SOCK_OK;
}

sock_status sk_candidates_new(sock_context *ctx, const sk_tune_spec *spec, const sk_steps *steps, bool pilot,
                              sk_candidates *out)
{
    *out = (sk_candidates){0};
    sock_status status = drift_list(ctx, spec, steps, pilot, out);
    if (status >= 0) status = diffusion_list(ctx, spec, steps, pilot, out);
    if (status < 0) sk_candidates_clear(out);
    return status;
}
