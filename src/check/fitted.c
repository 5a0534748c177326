/* fitted.c - the directions in which the residuals were fitted, to be taken out of every test: a mean of v along
 * h phi / sqrt(h a_kk), phi the features of the leading drift; a variance along 1 and d a_kk / d V / a_kk, V the factor
 * of the leading diffusion. Of many features their leading directions, as many as the drift has degrees of freedom.
 *
 * With measurement noise the filter carries a change of f or a on: what it does to the prediction of one observation
 * is, by the share `kept`, in the next one too (exact in one dimension, state by state in several). */
#include "check/check.h"

#include "check/checkrules.h"
#include "data/samples.h"
#include "la/la.h"
#include "model/modelinputs.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* ---- Rows ---- */

void sk_check_rows_free(sk_check_rows *rows)
{
    if (rows->z != rows->x) sk_free(rows->z);
    sk_free(rows->x);
    sk_free(rows->h);
    sk_free(rows->t);
    sk_free(rows->a);
    sk_free(rows->variance);
    *rows = (sk_check_rows){0};
}

/* Inputs beside the states; a model that has none is asked at the states themselves. */
static sock_status join_inputs(sock_context *ctx, const sock_model *model, const sock_data *data,
                               const sk_check_steps *steps, sk_check_rows *out)
{
    const size_t d = out->d, in = out->in;
    size_t *place = NULL;
    out->z = out->x;
    if (in == d) return SOCK_OK;
    SK_TRY(sk_inputs_find(ctx, model, data, &place));
    out->z = sk_doubles(ctx, out->n, in);
    for (size_t i = 0; out->z && i < out->n; i++) {
        memcpy(out->z + i * in, out->x + i * d, d * sizeof *out->z);
        sk_inputs_at(model, place, data, steps->from[i], 0, out->z + i * in + d);
    }
    sk_free(place);
    return out->z ? SOCK_OK : SOCK_ENOMEM;
}

/* a of the velocities out of that of all states. */
static sock_status second_fields(sock_context *ctx, const sock_model *model, sk_check_rows *out)
{
    const size_t d = out->d, w = out->in;
    double *whole = sk_doubles(ctx, out->n, w * w);
    const sock_status status = whole ? sk_model_evaluate(ctx, model, out->n, out->z, NULL, whole) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < out->n * d * d; i++)
        out->a[i] = whole[(i / (d * d) * w + d + i / d % d) * w + d + i % d];
    sk_free(whole);
    return status;
}

/* Of order 2 the points are positions and velocities, as the filter knows them. */
static sock_status find_fields(sock_context *ctx, const sock_model *model, const sock_data *data,
                               const sk_check_steps *steps, sk_check_rows *out)
{
    if (!out->first) {
        SK_TRY(join_inputs(ctx, model, data, steps, out));
        return sk_model_evaluate(ctx, model, out->n, out->z, NULL, out->a);
    }
    out->z = sk_doubles(ctx, out->n, out->in);
    if (!out->z) return SOCK_ENOMEM;
    memcpy(out->z, out->starts->m, out->n * out->in * sizeof *out->z);
    return second_fields(ctx, model, out);
}

sock_status sk_check_rows_new(sock_context *ctx, const sock_model *model, const sock_data *data,
                              const sk_check_steps *steps, sk_check_rows *out)
{
    const size_t n = steps->count, d = data->d;
    const sk_check_starts *law = steps->starts;
    *out = (sk_check_rows){
        .n = n, .d = d, .in = sk_model_in(model), .kept = law ? law->kept : NULL, .piece = steps->piece, .starts = law};
    out->first = law ? law->w - d : 0;
    out->x = sk_doubles(ctx, n, d);
    out->h = sk_doubles(ctx, n, 1);
    out->t = sk_doubles(ctx, n, 1);
    out->a = sk_doubles(ctx, n, d * d);
    out->variance = sk_doubles(ctx, n, d);
    sock_status status = out->x && out->h && out->t && out->a && out->variance ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        const size_t at = steps->from[i];
        memcpy(out->x + i * d, law ? law->m + i * law->w : data->x + at * d, d * sizeof *out->x);
        out->t[i] = data->t[at];
        out->h[i] = data->t[at + steps->reach] - data->t[at];
    }
    if (status >= 0) status = find_fields(ctx, model, data, steps, out);
    for (size_t i = 0; status >= 0 && i < n * d; i++)
        out->variance[i] = law ? law->end[i] : out->h[i / d] * out->a[i * d + i % d];
    if (status < 0) sk_check_rows_free(out);
    return status;
}

/* ---- Features ---- */

void sk_fitted_free(sk_fitted *fitted)
{
    sk_free(fitted->drift);
    sk_free(fitted->diffusion);
    *fitted = (sk_fitted){0};
}

/* Columns 1 and x. */
static double *affine(sock_context *ctx, const sk_check_rows *rows, size_t *p)
{
    const size_t d = rows->d;
    double *out = sk_doubles(ctx, rows->n, d + 1);
    for (size_t i = 0; out && i < rows->n; i++) {
        out[i * (d + 1)] = 1;
        memcpy(out + i * (d + 1) + 1, rows->x + i * d, d * sizeof *out);
    }
    *p = d + 1;
    return out;
}

/* k(x, some of the centres). */
static sock_status at_centres(sock_context *ctx, const sk_drift_term *term, const sk_check_rows *rows, sk_fitted *out)
{
    const size_t d = rows->d, p = sk_centres_of_kernel(term->centres);
    double *centre = sk_doubles(ctx, p, d), *space = sk_doubles(ctx, sk_kernel_space(d, p), 1);
    out->drift = sk_doubles(ctx, rows->n, p);
    out->p = p;
    const sock_status status = centre && space && out->drift ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        for (size_t j = 0; j < p; j++)
            memcpy(centre + j * d, term->centre + j * term->centres / p * d, d * sizeof *centre);
        sk_kernel_block(ctx, term->kernel, d, rows->n, rows->x, p, centre, out->drift, p, space);
    }
    sk_free(centre);
    sk_free(space);
    return status;
}

static sock_status evaluate(sock_context *ctx, const sk_features *map, const sk_check_rows *rows, double **out,
                            size_t *count)
{
    *count = sk_features_count(map);
    *out = sk_doubles(ctx, rows->n, *count);
    return *out ? sk_features_eval(ctx, map, rows->n, rows->z, *out, *count) : SOCK_ENOMEM;
}

/* Of order 2 the first term is v. */
static const sk_drift_term *leading_drift(const sock_model *model)
{
    const size_t before = model->structure->order == 2;
    return model->drift_terms > before ? model->drift[before] : NULL;
}

typedef struct map_at {
    sock_context *ctx;
    const sk_features *map;
    size_t count;
} map_at;

static sock_status fill_features(void *arg, size_t count, const double *points, double *out)
{
    const map_at *m = arg;
    return sk_features_eval(m->ctx, m->map, count, points, out, m->count);
}

/* What the features of the force do to the predictions. */
static sock_status lifted_features(sock_context *ctx, const sk_features *map, const sk_check_rows *rows, sk_fitted *out)
{
    map_at at = {ctx, map, sk_features_count(map)};
    out->p = at.count;
    out->drift = sk_doubles(ctx, rows->n, at.count);
    if (!out->drift) return SOCK_ENOMEM;
    return sk_check_lift(ctx, rows->starts, rows->n, at.count, false, fill_features, &at, out->drift);
}

static sock_status drift_features(sock_context *ctx, const sk_drift_term *term, const sk_check_rows *rows,
                                  sk_fitted *out)
{
    if (rows->first) return term->map ? lifted_features(ctx, term->map, rows, out) : SOCK_OK;
    if (term->map) return evaluate(ctx, term->map, rows, &out->drift, &out->p);
    if (sk_kernel_is_closed(term->kernel)) return at_centres(ctx, term, rows, out);
    out->drift = affine(ctx, rows, &out->p); /* a matrix-valued kernel: what any drift has */
    return out->drift ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_fitted_new(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, double freedom,
                          sk_fitted *out)
{
    *out = (sk_fitted){.model = model, .freedom = sk_check_directions(freedom)};
    sock_status status = SOCK_OK;
    if (leading_drift(model)) status = drift_features(ctx, leading_drift(model), rows, out);
    if (status >= 0 && model->diffusion_terms)
        status = evaluate(ctx, model->diffusion[0]->map, rows, &out->diffusion, &out->q);
    if (status < 0) sk_fitted_free(out);
    return status;
}

/* ---- Directions ---- */

/* Of the leading drift: a feature whose weight is 0 was not fitted. */
static bool is_active(const sk_fitted *fitted, size_t feature, size_t k)
{
    const sk_drift_term *term = leading_drift(fitted->model);
    return !term || !term->map || term->weight[feature * term->d + k] != 0;
}

/* Columns (n x q) of what one step does become those of what it does by way of the steps before it, too; squared: to
 * the variance. */
static void carry_on(const sk_check_rows *rows, size_t k, bool squared, size_t q, double *z)
{
    for (size_t i = 1; rows->kept && i < rows->n; i++) {
        const double kept = rows->kept[i * rows->d + k];
        for (size_t j = 0; kept != 0 && j < q; j++) z[i * q + j] += (squared ? kept * kept : kept) * z[(i - 1) * q + j];
    }
}

/* Each row over the standard deviation of its end, or its square; 0 where there is no score. */
static void in_units(const sk_check_rows *rows, size_t k, bool squared, const bool *used, size_t q, double *z)
{
    for (size_t i = 0; i < rows->n; i++) {
        const double variance = rows->variance[i * rows->d + k];
        const double unit = squared ? variance : sqrt(fmax(variance, 0));
        for (size_t j = 0; j < q; j++) z[i * q + j] = used[i] && unit > 0 ? z[i * q + j] / unit : 0;
    }
}

sock_status sk_fitted_mean(sock_context *ctx, const sk_fitted *fitted, const sk_check_rows *rows, size_t k,
                           const bool *used, double **z, size_t *columns)
{
    const size_t n = rows->n, p = fitted->p;
    size_t active = 0, at = 0;
    for (size_t j = 0; j < p; j++) active += is_active(fitted, j, rows->first + k);
    *z = sk_doubles(ctx, n, active);
    if (!*z) return SOCK_ENOMEM;
    for (size_t j = 0; j < p; j++) {
        if (!is_active(fitted, j, rows->first + k)) continue;
        for (size_t i = 0; i < n; i++)
            (*z)[i * active + at] = (rows->first ? 1 : rows->h[i]) * fitted->drift[i * p + j];
        at++;
    }
    carry_on(rows, k, false, active, *z);
    in_units(rows, k, false, used, active, *z);
    return sk_orthonormal(ctx, n, active, sk_check_directions_of(active, fitted->freedom), *z, columns);
}

/* Sum of squares of column c of the factor of state k; 0: it has no part in a_kk. */
static double column_size(const sk_diffusion_term *term, size_t q, size_t k, size_t c)
{
    double sum = 0;
    if (term->owner && term->owner[c] != k) return 0;
    for (size_t j = 0; j < q; j++) sum += pow(term->v[(k * q + j) * term->rank + c], 2);
    return sum;
}

/* The columns of V that weigh most in a_kk, at most `most`; their number. */
static size_t leading_columns(const sk_diffusion_term *term, size_t q, size_t k, size_t most, size_t *out)
{
    size_t count = 0;
    double last = (double)INFINITY;
    while (count < SK_MIN(most, term->rank)) {
        double best = 0;
        size_t which = 0;
        for (size_t c = 0; c < term->rank; c++) {
            const double size = column_size(term, q, k, c);
            if (size > best && size < last) best = size, which = c;
        }
        if (!(best > 0)) break;
        out[count++] = which;
        last = best;
    }
    return count;
}

/* Columns of V that were fitted, of one state. */
typedef struct factor {
    sock_context *ctx;
    const sk_diffusion_term *term;
    size_t q, k, count;
    const size_t *which;
    double *phi; /* room for the features of the points of a step */
} factor;

/* phi_j (phi' V_c) for column c of V, from `at` on. */
static void factor_products(const factor *f, const double *phi, size_t c, double *at)
{
    const sk_diffusion_term *term = f->term;
    double b = 0;
    for (size_t j = 0; j < f->q; j++) b += phi[j] * term->v[(f->k * f->q + j) * term->rank + c];
    for (size_t j = 0; j < f->q; j++) at[j] = term->v[(f->k * f->q + j) * term->rank + c] != 0 ? phi[j] * b : 0;
}

static sock_status fill_factors(void *arg, size_t count, const double *points, double *out)
{
    const factor *f = arg;
    const size_t width = f->count * f->q;
    SK_TRY(sk_features_eval(f->ctx, f->term->map, count, points, f->phi, f->q));
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < f->count; c++)
            factor_products(f, f->phi + i * f->q, f->which[c], out + i * width + c * f->q);
    return SOCK_OK;
}

/* What they do to the variance of an end: h phi_j (phi' V_c), or, of positions, rows of the filter. z: n x (1 + all),
 * the first column is left alone. */
static sock_status factor_columns(const factor *f, const sk_fitted *fitted, const sk_check_rows *rows, double *z)
{
    const size_t all = f->count * f->q, width = 1 + all, d = rows->d;
    double *lifted = NULL;
    factor own = *f;
    if (!all) return SOCK_OK;
    sock_status status = SOCK_OK;
    if (rows->first) {
        own.phi = sk_doubles(f->ctx, SK_CHECK_NODE_POINTS(d), f->q);
        lifted = sk_doubles(f->ctx, rows->n, all);
        status = own.phi && lifted ? sk_check_lift(f->ctx, rows->starts, rows->n, all, true, fill_factors, &own, lifted)
                                   : SOCK_ENOMEM;
    }
    for (size_t i = 0; status >= 0 && i < rows->n; i++) {
        double *row = z + i * width + 1;
        if (lifted) memcpy(row, lifted + i * all, all * sizeof *row);
        for (size_t c = 0; !lifted && c < f->count; c++)
            factor_products(f, fitted->diffusion + i * f->q, f->which[c], row + c * f->q);
        if (!lifted) sk_scale(all, rows->h[i], row);
    }
    sk_free(own.phi);
    sk_free(lifted);
    return status;
}

sock_status sk_fitted_variance(sock_context *ctx, const sk_fitted *fitted, const sk_check_rows *rows, size_t k,
                               const bool *used, double **z, size_t *columns)
{
    const size_t n = rows->n, q = fitted->q, most = q ? SK_MAX(SK_CHECK_CENTRES / q, 1) : 0;
    size_t *which = sk_alloc(ctx, most, sizeof *which);
    if (!which) return SOCK_ENOMEM;
    const sk_diffusion_term *term = q ? fitted->model->diffusion[0] : NULL;
    const size_t state = rows->first + k, count = term ? leading_columns(term, q, state, most, which) : 0;
    const size_t width = 1 + count * q;
    const factor columns_of = {ctx, term, q, state, count, which, NULL};
    *z = sk_doubles(ctx, n, width);
    sock_status status = *z ? factor_columns(&columns_of, fitted, rows, *z) : SOCK_ENOMEM;
    if (status >= 0) {
        carry_on(rows, k, true, width, *z);
        in_units(rows, k, true, used, width, *z);
        for (size_t i = 0; i < n; i++) (*z)[i * width] = used[i];
    }
    sk_free(which);
    if (status < 0) return status;
    return sk_orthonormal(ctx, n, width, sk_check_directions_of(width, SK_CHECK_FEATURES), *z, columns);
}
