/* bandedfields.c - sock_model_bands: bands of f, a and sigma at points, pointwise or, for f, simultaneous. */
#include "model/bandrules.h"
#include "model/bands.h"
#include "model/draw.h"
#include "model/modelfields.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Points below are states and inputs, sk_model_in numbers each. */

enum {
    POINTS_AT_ONCE = 128,  /* that draws of sigma are made for */
    MIXTURE_HALVINGS = 60, /* of the interval that holds a quantile: to rounding */
};

static sock_status check(sock_context *ctx, const sock_model *model, double level, const sock_bands *out)
{
    if (!(level > 0 && level < 1))
        return sk_fail(ctx, SOCK_EUSAGE, "level is %g; allowed: a number between 0 and 1", level);
    SK_TRY(sk_need_spread(ctx, model, "bands"));
    const bool diffusion = out->a_low || out->a_high || out->sigma_low || out->sigma_high;
    if (diffusion && !sk_spread_has_diffusion(model->spread))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "bands: this model has those of f alone; bands_reason of its information says why");
    return SOCK_OK;
}

/* ---- f ---- */

/* Standard deviations in a band of f. */
static double drift_width(const sk_spread *s, double level, bool simultaneous)
{
    if (!simultaneous) return sk_normal_reach(level);
    return s->sup[sk_band_sup_place(level)];
}

static void put(size_t count, const double *low, const double *high, double *out_low, double *out_high)
{
    if (out_low) memcpy(out_low, low, count * sizeof *low);
    if (out_high) memcpy(out_high, high, count * sizeof *high);
}

static sock_status drift_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                               const sock_bands *out)
{
    const size_t size = count * model->d;
    const double width = SK_BAND_FACTOR * drift_width(model->spread, level, out->simultaneous);
    double *low = sk_doubles(ctx, size, 1), *high = sk_doubles(ctx, size, 1);
    sock_status status = low && high ? sk_model_evaluate(ctx, model, count, x, low, NULL) : SOCK_ENOMEM;
    if (status >= 0) status = sk_drift_variance(ctx, model, count, x, low, high);
    for (size_t i = 0; status >= 0 && i < size; i++) {
        const double f = low[i], half = width * sqrt(high[i]);
        low[i] = f - half;
        high[i] = f + half;
    }
    if (status >= 0) put(size, low, high, out->f_low, out->f_high);
    sk_free(low);
    sk_free(high);
    return status;
}

/* ---- a ---- */

/* Standard deviation of log a from its variance to first order, the square of the relative error of a. Where that is
 * beyond 1 (a near 0, candidates that differ there) first order says nothing: the width then grows as that of the
 * lognormal law with such an error, by its logarithm. */
static double log_deviation(double variance) { return sqrt(variance <= 1 ? variance : 1 + log(variance)); }

/* Of a model and its peers: each has a normal law of a number, of log a on the diagonal. */
typedef struct mixture {
    size_t laws;
    double *weight, *mean, *deviation; /* laws */
} mixture;

/* Where the probability below is `share`: between the least and the largest of the laws' own such places. */
static double mixture_quantile(const mixture *m, double share)
{
    const double reach = share < 0.5 ? -sk_normal_reach(1 - 2 * share) : sk_normal_reach(2 * share - 1);
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t c = 0; c < m->laws; c++) {
        least = fmin(least, m->mean[c] + reach * m->deviation[c]);
        most = fmax(most, m->mean[c] + reach * m->deviation[c]);
    }
    for (int i = 0; i < MIXTURE_HALVINGS; i++) {
        const double middle = 0.5 * (least + most);
        double below = 0;
        for (size_t c = 0; c < m->laws; c++) {
            const double apart = middle - m->mean[c], sd = m->deviation[c];
            below += m->weight[c] * (sd > 0 ? 0.5 * erfc(-apart / (sd * sqrt(2.0))) : apart >= 0);
        }
        *(below < share ? &least : &most) = middle;
    }
    return 0.5 * (least + most);
}

/* A peer may say a hundredth of a: a symmetric band as wide as their distance would then reach to a hundred times a,
 * where nobody is. The ends are quantiles of the mixture, and reach to the model's own a. a, var: of each law. */
static void mix_bands(const sock_model *model, size_t size, double level, const double *a, const double *var,
                      double *low, double *high)
{
    const sk_spread *s = model->spread;
    const size_t laws = 1 + s->peers, d = model->d;
    double weight[1 + SK_MOST_PEERS], mean[1 + SK_MOST_PEERS], deviation[1 + SK_MOST_PEERS];
    const mixture m = {laws, weight, mean, deviation};
    for (size_t c = 0; c < laws; c++) weight[c] = c ? s->weight[c - 1] : sk_spread_alone(s);
    for (size_t i = 0; i < size; i++) {
        const bool diagonal = i % (d * d) % (d + 1) == 0;
        low[i] = high[i] = a[i];
        if (diagonal && !(a[i] > 0)) continue;
        for (size_t c = 0; c < laws; c++) {
            const double own = a[c * size + i], square = var[c * size + i];
            mean[c] = diagonal ? log(sk_band_own_a(own, a[i])) : own;
            deviation[c] = SK_BAND_FACTOR * (diagonal ? log_deviation(square) : sqrt(square));
        }
        const double below = mixture_quantile(&m, (1 - level) / 2), above = mixture_quantile(&m, (1 + level) / 2);
        low[i] = fmin(a[i], diagonal ? exp(below) : below);
        high[i] = fmax(a[i], diagonal ? exp(above) : above);
    }
}

static sock_status peer_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                              double *low, double *high)
{
    const size_t size = count * model->d * model->d, laws = 1 + model->spread->peers;
    double *a = sk_doubles(ctx, laws, size), *var = sk_doubles(ctx, laws, size);
    sk_spread alone = *model->spread;
    sock_model own = *model;
    alone.peers = 0;
    own.spread = &alone;
    sock_status status = a && var ? SOCK_OK : SOCK_ENOMEM;
    for (size_t c = 0; status >= 0 && c < laws; c++) {
        const sock_model *who = c ? model->spread->peer[c - 1] : &own;
        status = sk_model_evaluate(ctx, who, count, x, NULL, a + c * size);
        if (status >= 0) status = sk_diffusion_variance(ctx, who, count, x, a + c * size, var + c * size);
    }
    if (status >= 0) mix_bands(model, size, level, a, var, low, high);
    sk_free(a);
    sk_free(var);
    return status;
}

static sock_status diffusion_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                   double level, double *low, double *high)
{
    const size_t d = model->d;
    const double width = SK_BAND_FACTOR * sk_normal_reach(level);
    if (model->spread->peers) return peer_bands(ctx, model, count, x, level, low, high);
    SK_TRY(sk_model_evaluate(ctx, model, count, x, NULL, low));
    SK_TRY(sk_diffusion_variance(ctx, model, count, x, low, high));
    for (size_t i = 0; i < count * d * d; i++) {
        const bool diagonal = i % (d * d) % (d + 1) == 0;
        const double a = low[i], half = width * (diagonal ? log_deviation(high[i]) : sqrt(high[i]));
        low[i] = diagonal ? a * exp(-half) : a - half;
        high[i] = diagonal ? a * exp(half) : a + half;
    }
    return SOCK_OK;
}

/* ---- sigma ---- */

/* Draws of a at some points: SK_SIGMA_DRAWS x count x d x d. */
static sock_status draw_roots(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *root)
{
    const size_t d = model->d, size = count * d * d;
    for (size_t b = 0; b < SK_SIGMA_DRAWS; b++) {
        sk_diffusion_term *term = NULL;
        double u, *a = root + b * size;
        sk_uniforms((sk_key){0, SK_PURPOSE_DRAW}, b, 0, 3, 1, &u);
        const sock_model *who = sk_spread_who(model, u);
        sock_model rest = *who; /* the floor alone */
        rest.diffusion = who->diffusion + who->spread->diffusions;
        rest.diffusion_terms = who->diffusion_terms - who->spread->diffusions;
        SK_TRY(sk_model_evaluate(ctx, &rest, count, x, NULL, a));
        SK_TRY(sk_draw_diffusion(ctx, who, (sk_key){0, SK_PURPOSE_DRAW}, b, &term));
        double *space = sk_doubles_unset(ctx, sk_diffusion_term_space(term, count), 1);
        if (space) sk_diffusion_term_add(ctx, term, count, x, a, space);
        sk_free(space);
        sk_diffusion_term_free(term);
        if (!space) return SOCK_ENOMEM;
    }
    return sk_square_roots(ctx, d, SK_SIGMA_DRAWS * count, root, root);
}

/* Quantiles of the draws, moved away from sigma by the factor of all bands. */
static sock_status root_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                              double *low, double *high)
{
    const size_t size = count * model->d * model->d, tail = sk_band_sigma_tail(level);
    double *root = sk_doubles_unset(ctx, SK_SIGMA_DRAWS, size), *sigma = sk_doubles(ctx, size, 1), some[SK_SIGMA_DRAWS];
    sock_status status = root && sigma ? draw_roots(ctx, model, count, x, root) : SOCK_ENOMEM;
    if (status >= 0) status = sk_model_evaluate(ctx, model, count, x, NULL, sigma);
    if (status >= 0) status = sk_square_roots(ctx, model->d, count, sigma, sigma);
    for (size_t i = 0; status >= 0 && i < size; i++) {
        for (size_t b = 0; b < SK_SIGMA_DRAWS; b++) some[b] = root[b * size + i];
        const double q0 = sk_select(SK_SIGMA_DRAWS, some, tail),
                     q1 = sk_select(SK_SIGMA_DRAWS, some, SK_SIGMA_DRAWS - 1 - tail);
        low[i] = sigma[i] + SK_BAND_FACTOR * fmin(q0 - sigma[i], 0);
        high[i] = sigma[i] + SK_BAND_FACTOR * fmax(q1 - sigma[i], 0);
    }
    sk_free(root);
    sk_free(sigma);
    return status;
}

static sock_status sigma_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                               double *low, double *high)
{
    const size_t d = model->d;
    if (d == 1) {
        SK_TRY(diffusion_bands(ctx, model, count, x, level, low, high));
        for (size_t i = 0; i < count; i++) {
            low[i] = sqrt(low[i]);
            high[i] = sqrt(high[i]);
        }
        return SOCK_OK;
    }
    for (size_t at = 0; at < count; at += POINTS_AT_ONCE) {
        const size_t some = SK_MIN(POINTS_AT_ONCE, count - at);
        SK_TRY(sk_progress(ctx, "bands", (double)at / (double)count));
        SK_TRY(root_bands(ctx, model, some, x + at * model->spread->in, level, low + at * d * d, high + at * d * d));
    }
    return SOCK_OK;
}

/* ---- All of it ---- */

typedef sock_status (*bands_fn)(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                                double *low, double *high);

static sock_status matrix_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                                bands_fn fill, double *out_low, double *out_high)
{
    const size_t size = count * model->d * model->d;
    if (!out_low && !out_high) return SOCK_OK;
    double *low = sk_doubles(ctx, size, 1), *high = sk_doubles(ctx, size, 1);
    const sock_status status = low && high ? fill(ctx, model, count, x, level, low, high) : SOCK_ENOMEM;
    if (status >= 0) put(size, low, high, out_low, out_high);
    sk_free(low);
    sk_free(high);
    return status;
}

static void look_outside(const sk_spread *s, size_t count, const double *x, int *outside)
{
    for (size_t i = 0; outside && i < count; i++) {
        outside[i] = 0;
        for (size_t k = 0; k < s->in; k++) {
            if (sk_band_is_outside(s->lower[k], s->upper[k], x[i * s->in + k])) outside[i] = 1;
        }
    }
}

static sock_status fill_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                              const sock_bands *out)
{
    SK_TRY(check(ctx, model, level, out));
    if (out->f_low || out->f_high) SK_TRY(drift_bands(ctx, model, count, x, level, out));
    SK_TRY(matrix_bands(ctx, model, count, x, level, diffusion_bands, out->a_low, out->a_high));
    SK_TRY(matrix_bands(ctx, model, count, x, level, sigma_bands, out->sigma_low, out->sigma_high));
    look_outside(model->spread, count, x, out->outside);
    return SOCK_OK;
}

sock_status sock_model_bands_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                const double *u, double level, const sock_bands *out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !out || (count && !x)) return sk_fail(ctx, SOCK_EUSAGE, "model, points and bands must not be NULL");
    if (!model->structure->inputs) return fill_bands(ctx, model, count, x, level, out);
    double *z = NULL;
    SK_TRY(sk_points_with_inputs(ctx, model, count, x, u, &z));
    const sock_status status = fill_bands(ctx, model, count, z, level, out);
    sk_free(z);
    return status;
}

sock_status sock_model_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                             const sock_bands *out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (model) SK_TRY(sk_refuse_inputs(ctx, model, "sock_model_bands_at"));
    return sock_model_bands_at(ctx, model, count, x, NULL, level, out);
}

int sock_model_has_bands(const sock_model *model) { return model && model->spread; }
