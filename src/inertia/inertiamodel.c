/* inertiamodel.c - models of second order out of forces and kicks: terms of d components become terms of 2d states, of
 * which the positions have none. See inertiafit.h. */
#include "inertia/inertiafit.h"

#include <math.h>
#include <string.h>

/* ---- Free motion ---- */

/* f_k = v_k: of the linear features of (x, v) the one that is v_k. */
static sock_status velocity_term(sock_context *ctx, size_t d, sk_drift_term *term)
{
    sk_kernel *linear = NULL;
    unsigned *power = sk_alloc(ctx, 2 * d, sizeof *power);
    sock_status status = power ? sk_kernel_parse(ctx, "drift", "linear", &linear) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "drift", linear, 2 * d, 0, NULL, &term->map);
    const size_t p = status >= 0 ? sk_features_count(term->map) : 0;
    if (status >= 0) term->weight = sk_doubles(ctx, p, 2 * d);
    if (status >= 0 && !term->weight) status = SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < p; j++) {
        double weight = 1;
        sk_features_monomial(term->map, j, power, &weight);
        for (size_t k = 0; k < d; k++)
            if (power[d + k]) term->weight[j * 2 * d + k] = 1 / weight;
    }
    sk_kernel_free(linear);
    sk_free(power);
    return status;
}

static sock_status add_velocities(sock_context *ctx, size_t d, sock_model *to)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = 2 * d;
    const sock_status status = velocity_term(ctx, d, term);
    if (status >= 0) return sk_model_add_drift(ctx, to, term);
    sk_drift_term_free(term);
    return status;
}

/* The positions' names, then v_ and each of them. */
static sock_status name_states(sock_context *ctx, size_t d, const char *const *names, char **all)
{
    for (size_t k = 0; k < 2 * d; k++) {
        const char *front = k < d ? "" : "v_";
        all[k] = names ? sk_format(ctx, "%s%s", front, names[k % d]) : sk_format(ctx, "%sx%zu", front, k % d);
        if (!all[k]) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

sock_status sk_free_motion(sock_context *ctx, size_t d, const char *const *names, sock_model **out)
{
    sock_model *model = NULL;
    char **all = sk_alloc(ctx, 2 * d, sizeof *all);
    sock_status status = all ? name_states(ctx, d, names, all) : SOCK_ENOMEM;
    if (status >= 0) status = sk_model_new(ctx, 2 * d, (const char *const *)all, &model);
    if (status >= 0) status = add_velocities(ctx, d, model);
    for (size_t k = 0; all && k < 2 * d; k++) sk_free(all[k]);
    sk_free(all);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    model->structure->order = 2;
    *out = model;
    return SOCK_OK;
}

/* ---- Terms ---- */

/* The weights of d components become those of the velocities. */
static sock_status lift_drift(sock_context *ctx, sk_drift_term *term)
{
    const size_t d = term->d, p = sk_features_count(term->map);
    double *wide = sk_doubles(ctx, p, 2 * d);
    if (!wide) return SOCK_ENOMEM;
    for (size_t j = 0; j < p; j++) memcpy(wide + j * 2 * d + d, term->weight + j * d, d * sizeof *wide);
    sk_free(term->weight);
    term->weight = wide;
    term->d = 2 * d;
    return SOCK_OK;
}

static sock_status lift_diffusion(sock_context *ctx, sk_diffusion_term *term)
{
    const size_t d = term->d, half = d * sk_features_count(term->map) * term->rank;
    double *wide = sk_doubles(ctx, 2, half);
    if (!wide) return SOCK_ENOMEM;
    memcpy(wide + half, term->v, half * sizeof *wide);
    for (size_t j = 0; term->owner && j < term->rank; j++) term->owner[j] += d;
    sk_free(term->v);
    term->v = wide;
    term->d = 2 * d;
    return SOCK_OK;
}

sock_status sk_add_force(sock_context *ctx, const sk_trial *trial, size_t f, sock_model *to)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_trial_drift_term(ctx, trial, f, 1, &term));
    const sock_status status = lift_drift(ctx, term);
    if (status >= 0) return sk_model_add_drift(ctx, to, term);
    sk_drift_term_free(term);
    return status;
}

sock_status sk_add_kicks(sock_context *ctx, const sk_trial *trial, size_t f, sock_model *to)
{
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_trial_diffusion_term(ctx, trial, f, 1, &term));
    const sock_status status = lift_diffusion(ctx, term);
    if (status >= 0) return sk_model_add_diffusion(ctx, to, term);
    sk_diffusion_term_free(term);
    return status;
}

sock_status sk_add_constant_kicks(sock_context *ctx, size_t d, const double *a, sock_model *to)
{
    const size_t w = 2 * d;
    double *whole = sk_doubles(ctx, w, w);
    if (!whole) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) memcpy(whole + (d + k) * w + d, a + k * d, d * sizeof *a);
    const sock_status status = sk_add_constant(ctx, whole, to);
    sk_free(whole);
    return status;
}

/* ---- Units ---- */

/* z = ((x - c) / s, v / (s clock)), so F = s clock^2 F'(z) and a_kl = s_k s_l clock^3 a'_kl(z). */
typedef struct units {
    size_t d;
    double *origin, *scale; /* 2d */
    double clock;
} units;

static sock_status restore_map(sock_context *ctx, const units *u, sk_features *map)
{
    return sk_features_set_units(ctx, map, u->origin, u->scale);
}

static sock_status restore_drift(sock_context *ctx, const units *u, const sk_drift_term *from, sock_model *to)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_drift_term_copy(ctx, from, &term));
    const size_t w = 2 * u->d, p = sk_features_count(term->map);
    for (size_t j = 0; j < p * w; j++) term->weight[j] *= j % w < u->d ? 0 : u->scale[j % w] * u->clock;
    const sock_status status = restore_map(ctx, u, term->map);
    if (status >= 0) return sk_model_add_drift(ctx, to, term);
    sk_drift_term_free(term);
    return status;
}

static sock_status restore_diffusion(sock_context *ctx, const units *u, const sk_diffusion_term *from, sock_model *to)
{
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_diffusion_term_copy(ctx, from, &term));
    const size_t block = sk_features_count(term->map) * term->rank;
    for (size_t j = 0; j < 2 * u->d * block; j++) term->v[j] *= u->scale[j / block] * sqrt(u->clock);
    const sock_status status = restore_map(ctx, u, term->map);
    if (status >= 0) return sk_model_add_diffusion(ctx, to, term);
    sk_diffusion_term_free(term);
    return status;
}

static sock_status restore_noise(const sk_inertial *w, const units *u, const double *noise, sock_model *to)
{
    const size_t d = u->d;
    if (!noise) return SOCK_OK;
    to->structure->noise = sk_doubles(w->ctx, 2 * d, 2 * d);
    if (!to->structure->noise) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            to->structure->noise[k * 2 * d + l] = noise[k * d + l] * u->scale[k] * u->scale[l];
    return SOCK_OK;
}

sock_status sk_inertial_restore(const sk_inertial *w, const sock_model *from, const double *noise, sock_model **out)
{
    const size_t d = w->rows.d;
    const sk_units *rows = w->sets.units;
    units u = {d, sk_doubles(w->ctx, 4, d), NULL, w->clock};
    sock_model *model = NULL;
    sock_status status = SOCK_ENOMEM;
    if (!u.origin) return status;
    u.scale = u.origin + 2 * d;
    for (size_t k = 0; k < d; k++) {
        u.origin[k] = rows ? rows->centre[k] : 0;
        u.scale[k] = rows ? rows->scale[k] : 1;
        u.scale[d + k] = u.scale[k] * w->clock;
    }
    SK_GO(sk_free_motion(w->ctx, d, (const char *const *)w->spec->data->state, &model));
    for (size_t i = 1; i < from->drift_terms; i++) /* the first is free motion */
        SK_GO(restore_drift(w->ctx, &u, from->drift[i], model));
    for (size_t i = 0; i < from->diffusion_terms; i++) SK_GO(restore_diffusion(w->ctx, &u, from->diffusion[i], model));
    SK_GO(restore_noise(w, &u, noise, model));
    *out = model;
    model = NULL;
out:
    sock_model_free(model);
    sk_free(u.origin);
    return status;
}
