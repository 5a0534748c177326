/* draw.c - see draw.h. Streams of a draw: 0 who is taken, 1 the drift's normal numbers, 2 those of the diffusion.
 * Numbers of stream 0: 0 and 1 candidate and law of f, 2 the part of a, 3 the model or a peer. */
#include "model/draw.h"

#include "model/bands.h"

#include <math.h>
#include <string.h>

sock_status sk_need_spread(sock_context *ctx, const sock_model *model, const char *what)
{
    if (model->spread) return SOCK_OK;
    json_t *info = json_loads(model->info, 0, NULL);
    const char *reason = json_string_value(json_object_get(info, "bands_reason"));
    const sock_status status = sk_fail(ctx, SOCK_EUSAGE, "%s: this model does not tell how far it can be trusted%s%s",
                                       what, reason ? ": " : "", reason ? reason : "");
    json_decref(info);
    return status;
}

/* Normal numbers for a factor. */
static sock_status normals_for(sock_context *ctx, const sk_factor *f, sk_key key, uint64_t number, uint64_t stream,
                               double **out)
{
    *out = sk_doubles_unset(ctx, f->groups, SK_MAX(f->rank, 1));
    if (!*out) return SOCK_ENOMEM;
    sk_normals(key, number, stream, 0, f->groups * f->rank, *out);
    return SOCK_OK;
}

/* ---- The drift ---- */

/* The terms that are a part of every candidate. */
static sock_status add_certain(sock_context *ctx, const sock_model *model, sock_model *out)
{
    for (size_t i = 0; i < model->spread->drifts; i++) {
        sk_drift_term *term = NULL;
        if (model->spread->share[i] > 0) continue;
        SK_TRY(sk_drift_term_copy(ctx, model->drift[i], &term));
        SK_TRY(sk_model_add_drift(ctx, out, term));
    }
    return SOCK_OK;
}

static sock_status add_candidate(sock_context *ctx, const sock_model *model, size_t j, sock_model *out)
{
    const sk_spread *s = model->spread;
    sk_drift_term *term = NULL;
    SK_TRY(add_certain(ctx, model, out));
    SK_TRY(sk_drift_term_copy(ctx, j < s->drifts ? model->drift[j] : s->other[j - s->drifts], &term));
    if (j < s->drifts) sk_scale(sk_drift_term_size(term) * s->d, 1 / s->share[j], term->weight);
    return sk_model_add_drift(ctx, out, term);
}

/* c: as in sk_spread_law. */
static sock_status add_deviation(sock_context *ctx, const sock_model *model, size_t c, sk_key key, uint64_t number,
                                 sock_model *out)
{
    const sk_spread *s = model->spread;
    sk_drift_term *term = NULL;
    double *z = NULL;
    const sk_factor *f = sk_spread_law(s, c);
    sock_status status = normals_for(ctx, f, key, number, 1, &z);
    if (status >= 0) status = sk_drift_term_copy(ctx, c < s->drifts ? model->drift[c] : s->other[c - s->drifts], &term);
    if (status >= 0) {
        memset(term->weight, 0, sk_drift_term_size(term) * s->d * sizeof *term->weight);
        sk_factor_move(f, z, term->weight);
        status = sk_model_add_drift(ctx, out, term);
    }
    sk_free(z);
    return status;
}

static sock_status draw_drift(sock_context *ctx, const sock_model *model, sk_key key, uint64_t number, sock_model *out)
{
    const sk_spread *s = model->spread;
    double u[2];
    sk_uniforms(key, number, 0, 0, 2, u);
    size_t j, c;
    sk_spread_pick(s, u, &j, &c);
    SK_TRY(add_candidate(ctx, model, j, out));
    return add_deviation(ctx, model, c, key, number, out);
}

/* ---- The diffusion ---- */

sock_status sk_draw_diffusion(sock_context *ctx, const sock_model *model, sk_key key, uint64_t number,
                              sk_diffusion_term **out)
{
    const sk_spread *s = model->spread;
    double u, *z = NULL;
    sk_diffusion_term *term = NULL;
    sk_uniforms(key, number, 0, 2, 1, &u);
    const size_t i = sk_pick_share(s->diffusions, s->diffusion_share, u);
    SK_TRY(sk_diffusion_term_copy(ctx, model->diffusion[i], &term));
    sk_scale(s->d * sk_features_count(term->map) * term->rank, 1 / sqrt(s->diffusion_share[i]), term->v);
    const sock_status status = s->diffusion[i] ? normals_for(ctx, s->diffusion[i], key, number, 2, &z) : SOCK_OK;
    if (status >= 0 && z) sk_factor_move(s->diffusion[i], z, term->v);
    sk_free(z);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    *out = term;
    return SOCK_OK;
}

static sock_status draw_diffusion(sock_context *ctx, const sock_model *model, sk_key key, uint64_t number,
                                  sock_model *out)
{
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_draw_diffusion(ctx, model, key, number, &term));
    SK_TRY(sk_model_add_diffusion(ctx, out, term));
    for (size_t i = model->spread->diffusions; i < model->diffusion_terms; i++) {
        SK_TRY(sk_diffusion_term_copy(ctx, model->diffusion[i], &term));
        SK_TRY(sk_model_add_diffusion(ctx, out, term));
    }
    out->floor = model->floor;
    return SOCK_OK;
}

/* ---- Both ---- */

sock_status sk_model_draw(sock_context *ctx, const sock_model *model, uint64_t seed, uint64_t number, sock_model **out)
{
    const sk_key key = {seed, SK_PURPOSE_DRAW};
    sock_model *draw = NULL;
    double u;
    SK_TRY(sk_need_spread(ctx, model, "draw"));
    sk_uniforms(key, number, 0, 3, 1, &u);
    const sock_model *who = sk_spread_who(model, u);
    SK_TRY(sk_model_new(ctx, model->d, (const char *const *)model->structure->state, &draw));
    draw->structure->order = model->structure->order;
    sock_status status = sk_model_copy_bounds(ctx, model, draw);
    if (status >= 0) status = sk_model_copy_inputs(ctx, model, draw);
    if (status >= 0) status = draw_drift(ctx, who, key, number, draw);
    if (status >= 0 && who->has_diffusion) status = draw_diffusion(ctx, who, key, number, draw);
    if (status < 0) {
        sock_model_free(draw);
        return status;
    }
    *out = draw;
    return SOCK_OK;
}

sock_status sock_model_draw(sock_context *ctx, const sock_model *model, uint64_t seed, uint64_t number,
                            sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !out) return sk_fail(ctx, SOCK_EUSAGE, "model and output must not be NULL");
    return sk_model_draw(ctx, model, seed, number, out);
}
