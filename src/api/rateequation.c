/* rateequation.c - see rateequation.h. An eigenvector of Q_m is a stoichiometry, its eigenvalue a rate. */
#include "api/rateequation.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Which part ---- */

static bool is_rates(const sk_part *part) { return strncmp(part->kernel, "rates", 5) == 0; }

/* The learned ones, or those of the largest share, which come first. */
static const sk_part *find_part(const sk_parts *parts)
{
    const sk_part *found = NULL;
    for (size_t i = 0; i < parts->count; i++) {
        const sk_part *part = &parts->part[i];
        if (!is_rates(part) || !(part->share >= SK_EQUATION_SHARE)) continue;
        if (part->learned) return part;
        if (!found) found = part;
    }
    return found;
}

/* Its term: of two with the same features the one that leaves more of them out was learned. */
static size_t used_features(const sk_diffusion_term *term)
{
    const size_t p = sk_features_count(term->map);
    size_t used = 0;
    for (size_t m = 0; m < p; m++) {
        bool any = false;
        for (size_t i = 0; i < term->d * term->rank; i++)
            any = any || term->v[(i / term->rank * p + m) * term->rank + i % term->rank] != 0;
        used += any;
    }
    return used;
}

static const sk_diffusion_term *find_term(const sock_model *model, const sk_part *part, size_t features)
{
    const sk_diffusion_term *found = NULL;
    for (size_t i = 0; i < model->diffusion_terms; i++) {
        const sk_diffusion_term *term = model->diffusion[i];
        if (!sk_features_separate(term->map) || sk_features_count(term->map) != features) continue;
        if (!found || (used_features(term) < used_features(found)) == part->learned) found = term;
    }
    return found;
}

static sock_status features_of(sock_context *ctx, const sock_model *model, const sk_part *part, size_t *out)
{
    char text[128];
    sk_kernel *kernel = NULL;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(part->kernel, " "), part->kernel);
    SK_TRY(sk_kernel_parse(ctx, "diffusion", text, &kernel));
    *out = (size_t)sk_kernel_features(kernel, model->d, 0);
    sk_kernel_free(kernel);
    return SOCK_OK;
}

/* ---- Reactions ---- */

typedef struct reaction {
    size_t feature;
    double value; /* rate, with the vector scaled to largest entry 1 */
    double trace; /* its part of the trace of a over the data */
    double *vector;
} reaction;

typedef struct reactions {
    sock_context *ctx;
    const sk_diffusion_term *term;
    size_t p, d, count;
    double share;
    double *square; /* p: mean of phi^2 over the data */
    double *vector; /* p d x d */
    reaction *at;   /* p d */
} reactions;

static sock_status mean_squares(reactions *r, const sock_data *data)
{
    const size_t in = sk_features_dim(r->term->map);
    double *phi = sk_doubles(r->ctx, data->points, r->p), *z = sk_doubles(r->ctx, data->points, in);
    sock_status status = phi && z ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < data->points; i++) /* rates know nothing of inputs */
        memcpy(z + i * in, data->x + i * r->d, r->d * sizeof *z);
    if (status >= 0) status = sk_features_eval(r->ctx, r->term->map, data->points, z, phi, r->p);
    for (size_t i = 0; status >= 0 && i < data->points * r->p; i++)
        r->square[i % r->p] += phi[i] * phi[i] / (double)data->points;
    sk_free(z);
    sk_free(phi);
    return status;
}

/* Largest entry 1, the last one of size positive. */
static double scale_vector(size_t d, double *v)
{
    double most = 0;
    size_t last = d;
    for (size_t k = 0; k < d; k++) most = fmax(most, fabs(v[k]));
    while (last > 1 && !(fabs(v[last - 1]) > SK_REACTION_SIGN * most)) last--;
    const double unit = v[last - 1] < 0 ? -most : most;
    for (size_t k = 0; k < d; k++) v[k] /= unit;
    return most * most;
}

/* Q_m = sum of v v' over the columns of V: its eigenvectors. */
static sock_status split(reactions *r, size_t m)
{
    const size_t d = r->d, rank = r->term->rank;
    double *q = sk_doubles(r->ctx, d, d), *u = NULL;
    size_t own = 0;
    sock_status status = q ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; q && i < d * d; i++)
        q[i] = sk_dot(rank, r->term->v + (i / d * r->p + m) * rank, r->term->v + (i % d * r->p + m) * rank) / r->share;
    if (status >= 0) status = sk_leading_factor(r->ctx, d, q, d, 1e-9, &u, &own);
    for (size_t c = 0; status >= 0 && c < own; c++) {
        reaction *one = &r->at[r->count];
        *one = (reaction){.feature = m, .vector = r->vector + r->count++ * d};
        for (size_t k = 0; k < d; k++) {
            one->vector[k] = u[k * own + c];
            one->trace += u[k * own + c] * u[k * own + c] * r->square[m];
        }
        one->value = scale_vector(d, one->vector);
    }
    sk_free(q);
    sk_free(u);
    return status;
}

/* The largest first. */
static void sort(reactions *r)
{
    for (size_t i = 1; i < r->count; i++)
        for (size_t j = i; j > 0 && r->at[j].trace > r->at[j - 1].trace; j--) {
            const reaction swap = r->at[j];
            r->at[j] = r->at[j - 1];
            r->at[j - 1] = swap;
        }
}

/* ---- Text ---- */

static char *vector_text(sock_context *ctx, size_t d, const double *v)
{
    char *text = sk_strdup(ctx, "*[");
    for (size_t k = 0; text && k < d; k++) {
        const double entry = fabs(v[k]) < SK_REACTION_ENTRY ? 0 : round(100 * v[k]) / 100;
        char *longer = sk_format(ctx, "%s%s%g", text, k ? " " : "", entry);
        sk_free(text);
        text = longer;
    }
    char *whole = text ? sk_format(ctx, "%s]'", text) : NULL;
    sk_free(text);
    return whole;
}

static sock_status append(reactions *r, const sock_model *model, const reaction *one, char **text)
{
    double weight = 1;
    const char *const *names = (const char *const *)model->structure->state;
    char *monomial = sk_features_rate(r->ctx, r->term->map, names, one->feature, &weight);
    char *vector = r->d > 1 ? vector_text(r->ctx, r->d, one->vector) : sk_strdup(r->ctx, "");
    const bool constant = monomial && strcmp(monomial, "1") == 0;
    char *longer = monomial && vector
                       ? sk_format(r->ctx, "%s%s%.4g%s%s%s", *text ? *text : "a = ", *text ? " + " : "",
                                   one->value * weight, constant ? "" : "*", constant ? "" : monomial, vector)
                       : NULL;
    sk_free(monomial);
    sk_free(vector);
    if (!longer) return SOCK_ENOMEM;
    sk_free(*text);
    *text = longer;
    return SOCK_OK;
}

static sock_status write_all(reactions *r, const sock_model *model, const sock_data *data, char **text)
{
    double total = 0;
    SK_TRY(mean_squares(r, data));
    for (size_t m = 0; m < r->p; m++) SK_TRY(split(r, m));
    sort(r);
    for (size_t i = 0; i < r->count; i++) total += r->at[i].trace;
    for (size_t i = 0; i < r->count; i++)
        if (r->at[i].trace >= SK_REACTION_TRACE * total) SK_TRY(append(r, model, &r->at[i], text));
    return SOCK_OK;
}

sock_status sk_rate_equation_add(sock_context *ctx, const sock_model *model, const sock_data *data, sk_record *record)
{
    const sk_part *part = find_part(&record->found.diffusions);
    size_t features = 0;
    if (!part) return SOCK_OK;
    SK_TRY(features_of(ctx, model, part, &features));
    reactions r = {.ctx = ctx, .term = find_term(model, part, features), .d = model->d, .share = part->share};
    if (!r.term) return SOCK_OK;
    r.p = sk_features_count(r.term->map);
    r.square = sk_doubles(ctx, r.p, 1);
    r.vector = sk_doubles(ctx, r.p * r.d, r.d);
    r.at = sk_alloc(ctx, r.p * r.d, sizeof *r.at);
    sock_status status =
        r.square && r.vector && r.at ? write_all(&r, model, data, &record->diffusion_equation) : SOCK_ENOMEM;
    record->diffusion_equation_share = part->share;
    sk_free(r.square);
    sk_free(r.vector);
    sk_free(r.at);
    return status;
}
