/* clocks.c - see clocks.h. */
#include "tune/clocks.h"

#include <math.h>

static const double CLOCK_ERROR = 1e-6; /* of a rate: what rounding leaves */
static const double WHOLE = 1e-9;       /* a rate this near a whole number is that number: sums are rounded */

typedef struct watch {
    double least, most, way, time;
} watch;

static void look(const sock_data *data, size_t i, size_t k, watch *w)
{
    const double way = data->x[(i + 1) * data->d + k] - data->x[i * data->d + k], time = data->t[i + 1] - data->t[i];
    w->least = fmin(w->least, way / time);
    w->most = fmax(w->most, way / time);
    w->way += way;
    w->time += time;
}

static double rate_of(const watch *w)
{
    if (!(w->most - w->least <= CLOCK_ERROR * fmax(fabs(w->least), fabs(w->most)))) return (double)NAN;
    const double rate = w->way / w->time, whole = round(rate);
    return fabs(rate - whole) <= WHOLE * fabs(whole) ? whole : rate;
}

sock_status sk_clocks_find(sock_context *ctx, const sock_data *data, const bool *skip, double **rate, size_t *count)
{
    *count = 0;
    *rate = sk_doubles(ctx, data->d, 1);
    if (!*rate) return SOCK_ENOMEM;
    for (size_t k = 0; k < data->d; k++) {
        watch w = {(double)INFINITY, -(double)INFINITY, 0, 0};
        for (size_t j = 0; j < data->trajectories; j++)
            for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
                if (!skip || !skip[i]) look(data, i, k, &w);
        (*rate)[k] = rate_of(&w);
        *count += isnan((*rate)[k]) ? 0 : 1;
    }
    return SOCK_OK;
}

/* ---- What the search made of them ---- */

static bool is_scalar(const sock_model *model)
{
    bool scalar = true;
    for (size_t i = 0; i < model->drift_terms; i++)
        scalar = scalar && (model->drift[i]->map || !sk_kernel_is_matrix(model->drift[i]->kernel));
    return scalar;
}

static void silence_term(const double *rate, size_t d, sk_drift_term *term)
{
    for (size_t j = 0; j < sk_drift_term_size(term) * d; j++)
        if (!isnan(rate[j % d])) term->weight[j] = 0;
}

static void silence_law(const double *rate, size_t d, const sk_factor *law)
{
    for (size_t e = 0; law && e < law->count; e++)
        if (!isnan(rate[law->entry[e] % d])) sk_scale(law->rank, 0, law->value + e * law->rank);
}

static void silence(const double *rate, const sock_model *model)
{
    const sk_spread *s = model->spread;
    for (size_t i = 0; i < model->drift_terms; i++) silence_term(rate, model->d, model->drift[i]);
    for (size_t i = 0; s && i < s->drifts; i++) silence_law(rate, s->d, s->drift[i]);
    for (size_t j = 0; s && j < s->others; j++) silence_law(rate, s->d, s->other_law[j]);
    for (size_t j = 0; s && j < s->others; j++) silence_term(rate, s->d, s->other[j]);
}

/* ---- What they are ---- */

static sock_status constants(sock_context *ctx, const double *rate, const sock_model *model, sk_drift_term **out)
{
    sk_kernel *one = NULL;
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = model->d;
    term->weight = sk_doubles(ctx, model->d, 1);
    sock_status status = term->weight ? sk_kernel_parse(ctx, "clock", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "clock", one, sk_model_in(model), 0, NULL, &term->map);
    sk_kernel_free(one);
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    for (size_t k = 0; k < model->d; k++) term->weight[k] = isnan(rate[k]) ? 0 : rate[k];
    *out = term;
    return SOCK_OK;
}

sock_status sk_clocks_set(sock_context *ctx, const double *rate, sock_model *model, bool *set)
{
    sk_drift_term *term = NULL;
    *set = is_scalar(model);
    if (!*set) return SOCK_OK;
    SK_TRY(constants(ctx, rate, model, &term));
    silence(rate, model);
    SK_TRY(sk_model_add_drift(ctx, model, term));
    if (!model->spread) return SOCK_OK;
    SK_TRY(sk_spread_add_certain(ctx, model->spread));
    for (size_t i = 0; i < model->spread->peers; i++) {
        bool same;
        SK_TRY(sk_clocks_set(ctx, rate, model->spread->peer[i], &same));
    }
    return SOCK_OK;
}
