/* fitted.c - the directions in which the residuals were fitted, to be taken out of every test: a mean of v along
 * h phi / sqrt(h a_kk), phi the features of the leading drift; a variance along 1 and d a_kk / d V / a_kk, V the factor
 * of the leading diffusion. Of many features their leading directions, as many as the drift has degrees of freedom.
 *
 * With measurement noise the filter carries a change of f or a on: what it does to the prediction of one observation
 * is, by the share `kept`, in the next one too (exact in one dimension, state by state in several). */
#include "check/check.h"

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

sock_status sk_check_rows_new(sock_context *ctx, const sock_model *model, const sock_data *data,
                              const sk_check_steps *steps, sk_check_rows *out)
{
    const size_t n = steps->count, d = data->d;
    const sk_check_starts *law = steps->starts;
    *out = (sk_check_rows){
        .n = n, .d = d, .in = sk_model_in(model), .kept = law ? law->kept : NULL, .piece = steps->piece};
    out->x = sk_doubles(ctx, n, d);
    out->h = sk_doubles(ctx, n, 1);
    out->t = sk_doubles(ctx, n, 1);
    out->a = sk_doubles(ctx, n, d * d);
    out->variance = sk_doubles(ctx, n, d);
    sock_status status = out->x && out->h && out->t && out->a && out->variance ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        const size_t at = steps->from[i];
        memcpy(out->x + i * d, law ? law->m + i * d : data->x + at * d, d * sizeof *out->x);
        out->t[i] = data->t[at];
        out->h[i] = data->t[at + steps->reach] - data->t[at];
    }
    if (status >= 0) status = join_inputs(ctx, model, data, steps, out);
    if (status >= 0) status = sk_model_evaluate(ctx, model, n, out->z, NULL, out->a);
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
    const size_t d = rows->d, p = SK_MIN(term->centres, (size_t)SK_CHECK_CENTRES);
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

static sock_status drift_features(sock_context *ctx, const sk_drift_term *term, const sk_check_rows *rows,
                                  sk_fitted *out)
{
    if (term->map) return evaluate(ctx, term->map, rows, &out->drift, &out->p);
    if (sk_kernel_is_closed(term->kernel)) return at_centres(ctx, term, rows, out);
    out->drift = affine(ctx, rows, &out->p); /* a matrix-valued kernel: what any drift has */
    return out->drift ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_fitted_new(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, double freedom,
                          sk_fitted *out)
{
    *out = (sk_fitted){.model = model, .freedom = SK_CHECK_FEATURES};
    if (freedom >= 0) out->freedom = (size_t)fmin(fmax(ceil(freedom), 1), SK_CHECK_DIRECTIONS);
    sock_status status = SOCK_OK;
    if (model->drift_terms) status = drift_features(ctx, model->drift[0], rows, out);
    if (status >= 0 && model->diffusion_terms)
        status = evaluate(ctx, model->diffusion[0]->map, rows, &out->diffusion, &out->q);
    if (status < 0) sk_fitted_free(out);
    return status;
}

/* ---- Directions ---- */

/* Of the leading drift: a feature whose weight is 0 was not fitted. */
static bool is_active(const sk_fitted *fitted, size_t feature, size_t k)
{
    const sk_drift_term *term = fitted->model->drift[0];
    return !term->map || term->weight[feature * term->d + k] != 0;
}

static size_t most_directions(size_t columns, size_t leading)
{
    return columns > SK_CHECK_FEATURES ? leading : columns;
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
    for (size_t j = 0; j < p; j++) active += is_active(fitted, j, k);
    *z = sk_doubles(ctx, n, active);
    if (!*z) return SOCK_ENOMEM;
    for (size_t j = 0; j < p; j++) {
        if (!is_active(fitted, j, k)) continue;
        for (size_t i = 0; i < n; i++) (*z)[i * active + at] = rows->h[i] * fitted->drift[i * p + j];
        at++;
    }
    carry_on(rows, k, false, active, *z);
    in_units(rows, k, false, used, active, *z);
    return sk_orthonormal(ctx, n, active, most_directions(active, fitted->freedom), *z, columns);
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

/* h phi_j (phi' V_c) for one column c of V, from column `at` of z on. */
static void factor_columns(const sk_fitted *fitted, const sk_check_rows *rows, size_t k, size_t c, size_t at,
                           size_t width, double *z)
{
    const sk_diffusion_term *term = fitted->model->diffusion[0];
    const size_t q = fitted->q;
    for (size_t i = 0; i < rows->n; i++) {
        const double *phi = fitted->diffusion + i * q;
        double b = 0;
        for (size_t j = 0; j < q; j++) b += phi[j] * term->v[(k * q + j) * term->rank + c];
        for (size_t j = 0; j < q; j++) {
            const bool active = term->v[(k * q + j) * term->rank + c] != 0;
            z[i * width + at + j] = active ? rows->h[i] * phi[j] * b : 0;
        }
    }
}

sock_status sk_fitted_variance(sock_context *ctx, const sk_fitted *fitted, const sk_check_rows *rows, size_t k,
                               const bool *used, double **z, size_t *columns)
{
    const size_t n = rows->n, q = fitted->q, most = q ? SK_MAX(SK_CHECK_CENTRES / q, 1) : 0;
    size_t *which = sk_alloc(ctx, most, sizeof *which);
    if (!which) return SOCK_ENOMEM;
    const size_t count = q ? leading_columns(fitted->model->diffusion[0], q, k, most, which) : 0;
    const size_t width = 1 + count * q;
    *z = sk_doubles(ctx, n, width);
    if (*z) {
        for (size_t c = 0; c < count; c++) factor_columns(fitted, rows, k, which[c], 1 + c * q, width, *z);
        carry_on(rows, k, true, width, *z);
        in_units(rows, k, true, used, width, *z);
        for (size_t i = 0; i < n; i++) (*z)[i * width] = used[i];
    }
    sk_free(which);
    if (!*z) return SOCK_ENOMEM;
    return sk_orthonormal(ctx, n, width, most_directions(width, SK_CHECK_FEATURES), *z, columns);
}
