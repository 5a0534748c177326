/* fitspread.c - how far a plain fit can be trusted: the law of its weights by the noise that its own a says the rows
 * have. With the left rule the increment of a row is I f + noise of the variance V = I a / M, M realisations, and
 *
 *     f   T = S (Psi' V Psi + s n lambda 1) S,   S = (Psi'Psi + n lambda 1)^-1,   s the mean of V
 *     a   sums of squares of the convex problem in its tangent space (diffusionspread.h)
 *
 * s makes the penalty a prior in the units of the data. There were no other candidates, so nothing is between. */
#include "api/fitjob.h"

#include "data/samples.h"
#include "diffusion/diffusionspread.h"
#include "drift/driftspread.h"
#include "model/bands.h"
#include "tune/rules.h"
#include "tune/searchspread.h"
#include "tune/stepsurplus.h"

#include <math.h>
#include <string.h>

/* Rows of a rule that are visited at once, and of the sums of a, which keep all their slopes. */
enum { AT_ONCE = 4096, FEW_AT_ONCE = 64 }; /* speed only */

/* ---- Where there are none ---- */

static const char *no_spread(const sk_fit_job *job, const sock_model *model)
{
    if (!sk_option_flag(job->opts, "bands")) return "bands were not wanted (--bands=no)";
    if (!job->drift_kernel) return "the drift was given, not fitted";
    if (!job->diffusion_kernel) return "without a diffusion (--diffusion none) the noise of the steps is not known";
    if (strcmp(sk_fit_quadrature(job), "left") != 0)
        return "with the trapezoid rule the end of a step, and its noise, is among the regressors; --quadrature left "
               "has bands";
    if (sk_kernel_is_matrix(job->drift_kernel)) return "a matrix-valued kernel has none";
    if (!job->drift_system || !sk_drift_system_features(job->drift_system))
        return "the full system of a kernel has as many unknowns as steps; --drift-path pivoted or --drift-form "
               "nystrom have bands";
    if (!sk_bands_affordable(sk_drift_term_size(model->drift[0]), model->d, false))
        return "its drift has too many weights";
    return NULL;
}

/* ---- Noise of the rows ---- */

/* I a / M of every row, n x d x d. */
static sock_status row_noise(sk_fit_job *job, const sock_model *model, double **out)
{
    const sk_rule *rule = job->rule;
    const size_t d2 = model->d * model->d;
    double *a = sk_doubles_unset(job->ctx, rule->nodes, d2);
    *out = sk_doubles(job->ctx, rule->n, d2);
    sock_status status = a && *out ? sk_model_evaluate(job->ctx, model, rule->nodes, rule->x, NULL, a) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < rule->n; i++) {
        const double members = (double)(rule->row[i + 1] - rule->row[i]);
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
            sk_axpy(d2, rule->weight[e] / members, a + rule->node[e] * d2, *out + i * d2);
    }
    sk_free(a);
    return status;
}

/* Means of V_kk over the rows; where it is 0, that of all states, and 1 where nothing moves. */
static void mean_noise(size_t n, size_t d, const double *noise, double *mean)
{
    double all = 0;
    for (size_t k = 0; k < d; k++) {
        mean[k] = 0;
        for (size_t i = 0; i < n; i++) mean[k] += noise[(i * d + k) * d + k] / (double)n;
        all += mean[k] / (double)d;
    }
    for (size_t k = 0; k < d; k++)
        if (!(mean[k] > 0)) mean[k] = all > 0 ? all : 1;
}

/* ---- The drift ---- */

/* Rows begin .. end-1 as a view of constant weights: 1 over the mean noise. precision: of so many rows. */
static sock_status add_rows(sk_fit_job *job, const double *noise, const double *precision, size_t begin, size_t end,
                            sk_drift_spread *sums)
{
    const sk_features *map = sk_drift_system_features(job->drift_system);
    const size_t p = sums->shape.p, d = sums->shape.d;
    double *psi = sk_doubles_unset(job->ctx, end - begin, p),
           *integral = sk_doubles_unset(job->ctx, end - begin, d * d);
    double *weight = sk_doubles_unset(job->ctx, end - begin, d * d);
    sock_status status = psi && integral && weight ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_occupation_features(job->ctx, job->rule, map, begin, end, psi, p);
    if (status >= 0) {
        memcpy(integral, noise + begin * d * d, (end - begin) * d * d * sizeof *integral);
        for (size_t i = 0; i < end - begin; i++) memcpy(weight + i * d * d, precision, d * d * sizeof *weight);
        const sk_view rows = {.n = end - begin, .d = d, .integral = integral, .precision = weight};
        status = sk_drift_spread_add(job->ctx, sums, &rows, psi);
    }
    sk_free(psi);
    sk_free(integral);
    sk_free(weight);
    return status;
}

/* The law of the unknowns becomes that of the numbers of the term, component by component. */
static sock_status as_term(sk_fit_job *job, const sk_factor *f, size_t p, size_t d, sk_factor **out)
{
    SK_TRY(sk_factor_new(job->ctx, p * d, f->rank, f->groups, out));
    double *block = sk_doubles(job->ctx, p, f->rank);
    if (!block) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        size_t group = 0;
        memset(block, 0, p * f->rank * sizeof *block);
        for (size_t e = 0; e < f->count; e++) {
            if (f->entry[e] % d != k) continue;
            memcpy(block + f->entry[e] / d * f->rank, f->value + e * f->rank, f->rank * sizeof *block);
            group = f->group[e];
        }
        sk_drift_system_as_term(job->ctx, job->drift_system, f->rank, block);
        memcpy((*out)->value + k * p * f->rank, block, p * f->rank * sizeof *block);
        for (size_t j = 0; j < p; j++) {
            (*out)->entry[k * p + j] = j * d + k;
            (*out)->group[k * p + j] = group;
        }
    }
    sk_free(block);
    return SOCK_OK;
}

static sock_status drift_sums(sk_fit_job *job, const double *noise, const double *mean, sk_drift_spread *sums)
{
    const size_t n = job->rule->n, d = sums->shape.d;
    double *precision = sk_doubles(job->ctx, d, d);
    sock_status status = precision ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) precision[k * (d + 1)] = 1 / mean[k];
    for (size_t at = 0; status >= 0 && at < n; at += AT_ONCE) {
        status = sk_progress(job->ctx, "bands", -1);
        if (status >= 0) status = add_rows(job, noise, precision, at, SK_MIN(at + AT_ONCE, n), sums);
    }
    sk_free(precision);
    return status;
}

static sock_status drift_law(sk_fit_job *job, const double *noise, size_t d, sk_factor **out)
{
    const size_t p = sk_features_count(sk_drift_system_features(job->drift_system));
    sk_drift_spread *sums = NULL;
    sk_factor *law = NULL;
    double *lambda = sk_doubles(job->ctx, p, d), *mean = sk_doubles(job->ctx, d, 1);
    sock_status status = lambda && mean ? sk_drift_spread_new(job->ctx, p, d, SK_APART, &sums) : SOCK_ENOMEM;
    if (status >= 0) {
        mean_noise(job->rule->n, d, noise, mean);
        for (size_t i = 0; i < p * d; i++) lambda[i] = (double)job->rule->n * job->drift_lambda / mean[i / p];
        status = drift_sums(job, noise, mean, sums);
    }
    if (status >= 0) status = sk_drift_spread_factor(job->ctx, sums, lambda, &law);
    if (law) status = as_term(job, law, p, d, out);
    sk_drift_spread_free(sums);
    sk_factor_free(law);
    sk_free(lambda);
    sk_free(mean);
    return status;
}

/* ---- The diffusion ---- */

/* What the left rule makes of the steps of some rows (n x d x d): of M realisations the mean of theirs, each followed
 * from its own start. */
static sock_status surplus_of(sk_fit_job *job, const sock_model *model, const sk_rule *some, double *out)
{
    const size_t d = model->d, d2 = d * d, from = some->row[0], nodes = some->row[some->n] - from;
    double *y = sk_doubles(job->ctx, nodes, d), *h = sk_doubles(job->ctx, nodes, 1),
           *f = sk_doubles(job->ctx, nodes, d), *a = sk_doubles(job->ctx, nodes, d2),
           *own = sk_doubles(job->ctx, nodes, d2);
    sock_status status = y && h && f && a && own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < some->n; i++)
        for (size_t e = some->row[i]; e < some->row[i + 1]; e++) {
            memcpy(y + (e - from) * d, some->x + some->node[e] * d, d * sizeof *y);
            h[e - from] = some->h[i];
        }
    if (status >= 0) status = sk_model_evaluate(job->ctx, model, nodes, y, f, a);
    for (size_t e = 0; status >= 0 && e < nodes; e++) {
        sk_scale(d, h[e], f + e * d);
        sk_scale(d2, h[e], a + e * d2);
    }
    const sk_surplus_rows rows = {nodes, d, y, h, f, a, NULL, NULL};
    if (status >= 0) status = sk_step_surplus(job->ctx, model, &rows, own);
    memset(out, 0, some->n * d2 * sizeof *out);
    for (size_t i = 0; status >= 0 && i < some->n; i++)
        for (size_t e = some->row[i]; e < some->row[i + 1]; e++)
            sk_axpy(d2, 1 / (double)(some->row[i + 1] - some->row[i]), own + (e - from) * d2, out + i * d2);
    sk_free(y);
    sk_free(h);
    sk_free(f);
    sk_free(a);
    sk_free(own);
    return status;
}

/* One piece of the rows into the sums; surplus: n x d x d, of what one such row in `each` has; 0: none is followed. */
static sock_status add_piece(sk_fit_job *job, const sock_model *model, const sk_rule *some, const double *noise,
                             double each, double *space, sk_diffusion_spread *sums)
{
    const size_t d2 = model->d * model->d;
    double *scaled = space, *surplus = space + FEW_AT_ONCE * d2;
    /* I a / M over M realisations: z is a mean of M products, whose variance is that over M */
    for (size_t i = 0; i < some->n; i++)
        for (size_t k = 0; k < d2; k++)
            scaled[i * d2 + k] = noise[i * d2 + k] * sqrt((double)(some->row[i + 1] - some->row[i]));
    SK_TRY(sk_progress(job->ctx, "bands", -1));
    if (each > 0) SK_TRY(surplus_of(job, model, some, surplus));
    return sk_diffusion_spread_add_squares(job->ctx, sums, some, scaled, each > 0 ? surplus : NULL, each);
}

/* Pieces of the rows, evenly taken where they are many; *used: rows that were. Of every so manieth of these steps are
 * followed. */
static sock_status square_sums(sk_fit_job *job, const sock_model *model, const double *noise, sk_diffusion_spread *sums,
                               size_t *used)
{
    const sk_rule *all = job->rule;
    const size_t d2 = model->d * model->d, pieces = (all->n + FEW_AT_ONCE - 1) / FEW_AT_ONCE;
    const size_t stride = sk_band_row_stride(all->n);
    const size_t taken = (pieces + stride - 1) / stride, most = SK_BAND_STEPS / FEW_AT_ONCE;
    const size_t every = model->d > SK_MANY_DIMENSIONS ? 0 : (taken + most - 1) / most;
    double *space = sk_doubles_unset(job->ctx, 2 * FEW_AT_ONCE, d2);
    sock_status status = space ? SOCK_OK : SOCK_ENOMEM;
    *used = 0;
    for (size_t k = 0; status >= 0 && k < taken; k++) {
        const size_t begin = k * stride * FEW_AT_ONCE;
        sk_rule some = *all; /* its rows from `begin` on */
        some.n = SK_MIN((size_t)FEW_AT_ONCE, all->n - begin);
        some.row = all->row + begin;
        some.h = all->h + begin;
        *used += some.n;
        const double each = every && k % every == 0 ? (double)taken / (double)((taken + every - 1) / every) : 0;
        status = add_piece(job, model, &some, noise + begin * d2, each, space, sums);
    }
    sk_free(space);
    return status;
}

static sock_status diffusion_law(sk_fit_job *job, const sock_model *model, const double *noise, sk_factor **out)
{
    sk_diffusion_spread *sums = NULL;
    size_t used = 1;
    SK_TRY(sk_diffusion_spread_new(job->ctx, model->diffusion[0], SK_BAND_UNKNOWNS, &sums));
    if (!sums) return SOCK_OK; /* too many unknowns: f alone has bands */
    sock_status status = square_sums(job, model, noise, sums, &used);
    if (status >= 0)
        status = sk_diffusion_spread_square_factor(job->ctx, sums, (double)job->rule->n / (double)used,
                                                   (double)job->rule->n * job->diffusion_lambda, out);
    sk_diffusion_spread_free(sums);
    return status;
}

/* ---- Both ---- */

static sock_status make_spread(sk_fit_job *job, sock_model *model)
{
    const sk_rule *rule = job->rule;
    sk_spread *spread = model->spread;
    double *noise = NULL;
    spread->share[0] = spread->pi[0] = spread->diffusion_share[0] = 1;
    sock_status status = row_noise(job, model, &noise);
    if (status >= 0) status = drift_law(job, noise, model->d, &spread->drift[0]);
    if (status >= 0) status = diffusion_law(job, model, noise, &spread->diffusion[0]);
    const sk_transitions
        nodes = {.n = rule->nodes, .d = model->d, .in = model->d, .y = rule->x, .left = rule->x, .right = rule->x},
        points = {.n = job->data->points, .d = model->d, .in = model->d, .left = job->data->x, .right = job->data->x};
    if (status >= 0) status = sk_spread_at_data(job->ctx, &points, &nodes, model);
    sk_free(noise);
    return status;
}

sock_status sk_fit_spread(sk_fit_job *job, sock_model *model)
{
    job->bands_reason = no_spread(job, model);
    if (job->bands_reason) return SOCK_OK;
    SK_TRY(sk_spread_new(job->ctx, model->d, model->d, 1, 0, 1, &model->spread));
    const sock_status status = make_spread(job, model);
    if (status >= 0) return SOCK_OK;
    sk_spread_free(model->spread);
    model->spread = NULL;
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(job->ctx); /* a model without bands is a model */
    job->bands_reason = "its weights cannot be told apart";
    return SOCK_OK;
}
