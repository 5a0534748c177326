/* spread.c - see spread.h. */
#include "model/bands.h"
#include "model/model.h"
#include "tune/policy.h"

#include <string.h>

sock_status sk_spread_new(sock_context *ctx, size_t d, size_t in, size_t drifts, size_t others, size_t diffusions,
                          sk_spread **out)
{
    sk_spread *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = (sk_spread){.d = d, .in = in, .drifts = drifts, .others = others, .diffusions = diffusions};
    s->share = sk_doubles(ctx, drifts, 1);
    s->pi = sk_doubles(ctx, drifts + others, 1);
    s->drift = sk_alloc(ctx, drifts, sizeof *s->drift);
    s->other = sk_alloc(ctx, others, sizeof *s->other);
    s->other_law = sk_alloc(ctx, others, sizeof *s->other_law);
    s->diffusion_share = sk_doubles(ctx, diffusions, 1);
    s->diffusion = sk_alloc(ctx, diffusions, sizeof *s->diffusion);
    s->lower = sk_doubles(ctx, in, 1);
    s->upper = sk_doubles(ctx, in, 1);
    s->sup = sk_doubles(ctx, SK_SUP_DRAWS, 1);
    if (!s->share || !s->pi || !s->drift || !s->other || !s->other_law || !s->diffusion_share || !s->diffusion ||
        !s->lower || !s->upper || !s->sup) {
        sk_spread_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

void sk_spread_free(sk_spread *s)
{
    if (!s) return;
    for (size_t i = 0; s->drift && i < s->drifts; i++) sk_factor_free(s->drift[i]);
    for (size_t i = 0; s->other && i < s->others; i++) sk_drift_term_free(s->other[i]);
    for (size_t i = 0; s->other_law && i < s->others; i++) sk_factor_free(s->other_law[i]);
    for (size_t i = 0; s->diffusion && i < s->diffusions; i++) sk_factor_free(s->diffusion[i]);
    sk_free(s->share);
    sk_free(s->pi);
    sk_free(s->drift);
    sk_free(s->other);
    sk_free(s->other_law);
    sk_free(s->diffusion_share);
    sk_free(s->diffusion);
    sk_free(s->lower);
    sk_free(s->upper);
    sk_free(s->sup);
    for (size_t i = 0; i < s->peers; i++) sock_model_free(s->peer[i]);
    sk_free(s->peer);
    sk_free(s->weight);
    sk_free(s);
}

sock_status sk_spread_add_certain(sock_context *ctx, sk_spread *s)
{
    const size_t all = s->drifts + s->others;
    double *share = sk_doubles(ctx, s->drifts + 1, 1), *pi = sk_doubles(ctx, all + 1, 1);
    sk_factor **drift = sk_alloc(ctx, s->drifts + 1, sizeof *drift), *law = NULL;
    const sock_status status = share && pi && drift ? sk_factor_new(ctx, 1, 1, 1, &law) : SOCK_ENOMEM;
    if (status < 0) {
        sk_free(share);
        sk_free(pi);
        sk_free(drift);
        return status;
    }
    for (size_t i = 0; i < s->drifts; i++) share[i] = s->share[i], drift[i] = s->drift[i];
    for (size_t j = 0; j < all; j++) pi[j + (j >= s->drifts)] = s->pi[j];
    drift[s->drifts++] = law;
    sk_free(s->share);
    sk_free(s->pi);
    sk_free(s->drift);
    s->share = share;
    s->pi = pi;
    s->drift = drift;
    return SOCK_OK;
}

double sk_spread_alone(const sk_spread *s)
{
    double alone = 1;
    for (size_t i = 0; i < s->peers; i++) alone -= s->weight[i];
    return alone > 0 ? alone : 0;
}

const sock_model *sk_spread_who(const sock_model *model, double u)
{
    const sk_spread *s = model->spread;
    for (size_t i = 0; i < s->peers; i++) {
        u -= s->weight[i];
        if (u < 0) return s->peer[i];
    }
    return model;
}

sock_status sk_spread_add_peer(sock_context *ctx, sk_spread *s, double weight, sock_model *peer)
{
    const size_t count = s->peers;
    sock_model **list = sk_alloc(ctx, count + 1, sizeof *list);
    double *weights = sk_doubles(ctx, count + 1, 1);
    if (!list || !weights) {
        sk_free(list);
        sk_free(weights);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = s->peer[i];
        weights[i] = s->weight[i];
    }
    list[count] = peer;
    weights[count] = weight;
    sk_free(s->peer);
    sk_free(s->weight);
    s->peer = list;
    s->weight = weights;
    s->peers = count + 1;
    return SOCK_OK;
}

double sk_spread_own(const sk_spread *s)
{
    double own = 1;
    for (size_t j = 0; j < s->others; j++)
        if (s->other_law[j]) own -= s->pi[s->drifts + j];
    return own > 0 ? own : 0;
}

double sk_spread_share(const sk_spread *s, size_t i) { return s && s->share[i] > 0 ? s->share[i] : 1; }

const sk_factor *sk_spread_law(const sk_spread *s, size_t c)
{
    return c < s->drifts ? s->drift[c] : s->other_law[c - s->drifts];
}

void sk_spread_pick(const sk_spread *s, const double *u, size_t *j, size_t *c)
{
    *j = sk_pick_share(s->drifts + s->others, s->pi, u[0]);
    *c = *j >= s->drifts && s->other_law[*j - s->drifts] ? *j : sk_pick_share(s->drifts, s->share, u[1]);
}

/* Weights of component k times scale_k. */
static void rescale_weights(const sk_factor *f, size_t d, const double *scale)
{
    for (size_t e = 0; f && e < f->count; e++) sk_scale(f->rank, scale[f->entry[e] % d], f->value + e * f->rank);
}

sock_status sk_spread_rescale(sock_context *ctx, const double *centre, const double *scale, const sock_model *model)
{
    sk_spread *s = model->spread;
    const size_t d = s->d;
    for (size_t i = 0; i < s->drifts; i++) rescale_weights(s->drift[i], d, scale);
    for (size_t i = 0; i < s->others; i++) rescale_weights(s->other_law[i], d, scale);
    for (size_t i = 0; i < s->others; i++) {
        SK_TRY(sk_features_set_units(ctx, s->other[i]->map, centre, scale));
        for (size_t e = 0; e < sk_features_count(s->other[i]->map) * d; e++) s->other[i]->weight[e] *= scale[e % d];
    }
    for (size_t i = 0; i < s->diffusions; i++) {
        const size_t block = sk_features_count(model->diffusion[i]->map) * model->diffusion[i]->rank;
        const sk_factor *f = s->diffusion[i];
        for (size_t e = 0; f && e < f->count; e++)
            sk_scale(f->rank, scale[f->entry[e] / block], f->value + e * f->rank);
    }
    for (size_t k = 0; k < s->in; k++) {
        s->lower[k] = centre[k] + scale[k] * s->lower[k];
        s->upper[k] = centre[k] + scale[k] * s->upper[k];
    }
    return SOCK_OK;
}

void sk_spread_silence(const sock_model *model, const bool *quiet)
{
    const sk_spread *s = model->spread;
    for (size_t i = 0; i < s->diffusions; i++) {
        const size_t block = sk_features_count(model->diffusion[i]->map) * model->diffusion[i]->rank;
        sk_factor *f = s->diffusion[i];
        size_t kept = 0;
        for (size_t e = 0; f && e < f->count; e++) {
            if (quiet[f->entry[e] / block]) continue;
            f->entry[kept] = f->entry[e];
            f->group[kept] = f->group[e];
            memmove(f->value + kept++ * f->rank, f->value + e * f->rank, f->rank * sizeof *f->value);
        }
        if (f) f->count = kept;
    }
}
