/* comparerows.c - a fitted method becomes one or two rows: where a is not positive semi-definite there is no density
 * and there are no paths, so these scores are NA with the share of points and the worst eigenvalue, and a second row
 * shows the same method with a projected. */
#define _POSIX_C_SOURCE 200809L
#include "compare/compare.h"

#include "base/base.h"
#include "la/la.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Time ---- */

double cmp_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The data of a fit ---- */

sock_status cmp_training_data(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, const sock_data **data,
                              sock_data **own)
{
    *own = NULL;
    *data = c->train;
    if (!c->validation || cmp_spec_is(spec, "fit-on", "train")) return SOCK_OK;
    SK_TRY(sock_data_join(ctx, c->train, c->validation, c->options, own));
    *data = *own;
    return SOCK_OK;
}

sock_status cmp_wrap(sock_context *ctx, const sock_data *data, cmp_fitted *fitted)
{
    size_t d = sock_data_dim(data);
    const char **names = sk_alloc(ctx, d, sizeof *names);
    if (!names) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) names[k] = sock_data_name(data, k);
    sock_status status = sock_model_wrap(ctx, d, names, fitted->drift, fitted->diffusion, fitted->state, &fitted->own);
    if (status >= 0) fitted->model = fitted->own;
    sk_free((void *)names);
    return status;
}

/* ---- Fit ---- */

/* The rivals' regressions are many small products, which threads only slow down: one thread for them. The message of
 * the fit outlives the change back. */
static sock_status fit_alone(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    const int threads = sock_threads(ctx);
    char message[1024];
    SK_TRY(sock_set_threads(ctx, 1));
    sock_status status = spec->method->fit(ctx, spec, c, out);
    snprintf(message, sizeof message, "%s", sock_message(ctx));
    sock_set_threads(ctx, threads);
    return message[0] ? sk_fail(ctx, status, "%s", message) : status;
}

sock_status cmp_fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    sk_begin(ctx);
    if (!spec->method->fit)
        return sk_fail(ctx, SOCK_EUSAGE, "%s makes paths, not a model of f and a", spec->method->name);
    cmp_fitted fitted = {0};
    double wall = sk_seconds(), cpu = cmp_cpu_seconds();
    cmp_spec_settings(spec, fitted.settings, sizeof fitted.settings);
    bool alone = strcmp(spec->method->group, "sock") != 0;
    sock_status status = alone ? fit_alone(ctx, spec, c, &fitted) : spec->method->fit(ctx, spec, c, &fitted);
    fitted.wall_seconds = sk_seconds() - wall;
    fitted.cpu_seconds = cmp_cpu_seconds() - cpu;
    if (status < 0) {
        cmp_fitted_clear(&fitted);
        return status;
    }
    fitted.status = status;
    *out = fitted;
    return status;
}

void cmp_fitted_clear(cmp_fitted *fitted)
{
    sock_model_free(fitted->own);
    if (fitted->free_state) fitted->free_state(fitted->state);
    *fitted = (cmp_fitted){0};
}

/* ---- Projection (no context: field functions call it) ---- */

static void project_one(size_t d, double *a, double *diagonal, double *v)
{
    bool negative = false;
    memcpy(diagonal, a, d * d * sizeof *a);
    if (!sk_factor_small(d, 0, diagonal)) return; /* untouched to the last digit */
    memcpy(diagonal, a, d * d * sizeof *a);
    sk_jacobi(d, diagonal, v);
    for (size_t k = 0; k < d; k++) negative = negative || diagonal[k * d + k] < 0;
    if (!negative) return;
    memset(a, 0, d * d * sizeof *a);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; diagonal[k * d + k] > 0 && i < d; i++)
            for (size_t j = 0; j < d; j++) a[i * d + j] += diagonal[k * d + k] * v[k * d + i] * v[k * d + j];
}

void cmp_project(size_t count, size_t d, double *a)
{
    if (d == 1) {
        for (size_t i = 0; i < count; i++) a[i] = a[i] < 0 ? 0 : a[i];
        return;
    }
    enum { SMALL = 48 };
    double little[2 * SMALL * SMALL], *space = d <= SMALL ? little : malloc(2 * d * d * sizeof *space);
    for (size_t i = 0; i < count; i++)
        if (space)
            project_one(d, a + i * d * d, space, space + d * d);
        else
            for (size_t k = 0; k < d * d; k++) a[i * d * d + k] = (double)NAN;
    if (space != little) free(space);
}

/* ---- Is a positive semi-definite? ---- */

/* An eigenvalue below 0 by no more than this share of the largest over all points, or of the mean of |dx|^2 / h, is
 * rounding. */
static const double ROUNDING = 1e-10;

typedef struct psd_report {
    size_t points, bad;
    double worst; /* smallest eigenvalue; NaN: there is no a, or it is not finite */
} psd_report;

static void smallest_and_largest(size_t d, double *a, double *v, double *least, double *most)
{
    sk_jacobi(d, a, v);
    *least = *most = a[0];
    for (size_t k = 1; k < d; k++) {
        *least = fmin(*least, a[k * d + k]);
        *most = fmax(*most, a[k * d + k]);
    }
}

/* The mean of |dx|^2 / h over the test steps: what a is about. */
static double size_of_steps(const sock_data *test)
{
    size_t d = sock_data_dim(test), count = 0;
    double sum = 0;
    for (size_t j = 0; j < sock_data_trajectories(test); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(test, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++, count++)
            for (size_t k = i * d; k < i * d + d; k++) sum += (x[k + d] - x[k]) * (x[k + d] - x[k]) / (t[i + 1] - t[i]);
    }
    return count ? sum / (double)count : 0;
}

static sock_status look_at_a(sock_context *ctx, const sock_model *model, const sock_data *test, psd_report *out)
{
    size_t d = sock_model_dim(model), points = sock_data_points(test), at = 0;
    double *a = sk_doubles(ctx, points, d * d), *least = sk_doubles(ctx, points, 1), *v = sk_doubles(ctx, d, d);
    double largest = size_of_steps(test);
    sock_status status = a && least && v ? SOCK_OK : SOCK_ENOMEM;
    *out = (psd_report){.points = points, .worst = (double)INFINITY};
    for (size_t j = 0; status >= 0 && j < sock_data_trajectories(test); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(test, j, &t, &x);
        status = sock_model_diffusion(ctx, model, length, x, a + at * d * d);
        at += length;
    }
    for (size_t i = 0; status >= 0 && i < points; i++) {
        double most;
        smallest_and_largest(d, a + i * d * d, v, &least[i], &most);
        if (isfinite(most)) largest = fmax(largest, fabs(most));
        if (isfinite(least[i])) out->worst = fmin(out->worst, least[i]);
        if (isfinite(least[i])) largest = fmax(largest, fabs(least[i]));
    }
    for (size_t i = 0; status >= 0 && i < points; i++) out->bad += least[i] < -ROUNDING * largest;
    if (!isfinite(out->worst)) out->worst = (double)NAN;
    sk_free(a);
    sk_free(least);
    sk_free(v);
    return status;
}

/* ---- Rows ---- */

static void miss(sock_value *value, const char *reason)
{
    *value = (sock_value){.failed = 1};
    snprintf(value->reason, sizeof value->reason, "%.159s", reason);
}

void cmp_scores_missing(sock_scores *scores, const char *reason)
{
    sock_value *const all[] = {&scores->loglik,
                               &scores->loglik_constant,
                               &scores->loglik_truth,
                               &scores->perplexity,
                               &scores->perplexity_raw,
                               &scores->loglik_moments,
                               &scores->loglik_moments_truth,
                               &scores->perplexity_moments,
                               &scores->perplexity_moments_raw,
                               &scores->re_f,
                               &scores->re_a,
                               &scores->mmd2,
                               &scores->mmd2_truth};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) miss(all[i], reason);
}

static void start_row(const cmp_spec *spec, cmp_row *row)
{
    *row = (cmp_row){.method = spec->method, .worst_eigenvalue = (double)NAN};
    cmp_spec_format(spec, row->label, sizeof row->label);
    cmp_spec_settings(spec, row->settings, sizeof row->settings);
}

/* No row: the reason is the context's message, or the status in words. */
static void give_reason(sock_context *ctx, sock_status status, cmp_row *row)
{
    const char *message = sock_message(ctx);
    row->made = 0;
    row->status = status;
    snprintf(row->reason, sizeof row->reason, "%s", message[0] ? message : sock_status_text(status));
    cmp_scores_missing(&row->scores, row->reason);
}

static void copy_fitted(const cmp_fitted *fitted, cmp_row *row)
{
    memcpy(row->settings, fitted->settings, sizeof row->settings);
    memcpy(row->kernels, fitted->kernels, sizeof row->kernels);
    memcpy(row->note, fitted->note, sizeof row->note);
    row->status = fitted->status;
    row->terms = fitted->terms;
    row->nonzero = fitted->nonzero;
    row->wall_seconds = fitted->wall_seconds;
    row->cpu_seconds = fitted->cpu_seconds;
}

/* Options of scores without paths; delta: NULL: that of the comparison. */
static sock_status without_paths(sock_context *ctx, const cmp_case *c, const char *delta, sock_options **out)
{
    sock_options *opts = sock_options_new(ctx);
    if (!delta && c->options) delta = sock_options_get(c->options, "delta");
    if (!opts) return SOCK_ENOMEM;
    sock_status status = sock_options_set(ctx, opts, "mmd-paths", "0");
    if (status >= 0 && delta) status = sock_options_set(ctx, opts, "delta", delta);
    if (status < 0)
        sock_options_free(opts);
    else
        *out = opts;
    return status;
}

/* The likelihood by moments once more, with the case's fine delta. */
static sock_status score_finely(sock_context *ctx, const cmp_case *c, const sock_model *model, sock_scores *scores)
{
    sock_options *opts = NULL;
    sock_scores fine;
    char delta[40];
    delta[sk_print_double(delta, c->fine_delta)] = 0;
    SK_TRY(without_paths(ctx, c, delta, &opts));
    sock_status status = sock_score(ctx, model, c->test, c->train, c->truth, opts, &fine);
    sock_options_free(opts);
    if (status < 0) return status;
    scores->loglik_moments = fine.loglik_moments;
    scores->loglik_moments_truth = fine.loglik_moments_truth;
    scores->perplexity_moments = fine.perplexity_moments;
    scores->perplexity_moments_raw = fine.perplexity_moments_raw;
    return SOCK_OK;
}

static sock_status score_model(sock_context *ctx, const cmp_case *c, const sock_model *model, cmp_row *row)
{
    sock_status status = sock_score(ctx, model, c->test, c->train, c->truth, c->options, &row->scores);
    return status >= 0 && c->fine_delta > 0 ? score_finely(ctx, c, model, &row->scores) : status;
}

/* The errors of f and a stand; what needs a density or paths does not. */
static sock_status score_indefinite(sock_context *ctx, const cmp_case *c, const sock_model *model, cmp_row *row)
{
    sock_options *opts = NULL;
    sock_scores *s = &row->scores;
    char why[160];
    SK_TRY(without_paths(ctx, c, NULL, &opts));
    sock_status status = sock_score(ctx, model, c->test, c->train, c->truth, opts, s);
    sock_options_free(opts);
    if (status < 0) return status;
    snprintf(why, sizeof why, "a is not positive semi-definite on %.3g %% of the test points (worst eigenvalue %.3g)",
             100 * row->psd_fraction, row->worst_eigenvalue);
    sock_value *const gone[] = {&s->loglik,
                                &s->perplexity,
                                &s->perplexity_raw,
                                &s->loglik_moments,
                                &s->perplexity_moments,
                                &s->perplexity_moments_raw,
                                &s->mmd2};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) miss(gone[i], why);
    return SOCK_OK;
}

/* The model with a projected. */
typedef struct projection {
    const cmp_fitted *fitted;
} projection;

static void projected_drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    const projection *p = user;
    p->fitted->drift(p->fitted->state, count, d, x, out);
}

static void projected_diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    const projection *p = user;
    p->fitted->diffusion(p->fitted->state, count, d, x, out);
    cmp_project(count, d, out);
}

static sock_status score_projected(sock_context *ctx, const cmp_case *c, const cmp_fitted *fitted, cmp_row *row)
{
    projection p = {fitted};
    sock_model *model = NULL;
    SK_TRY(sock_model_wrap(ctx, sock_data_dim(c->test), NULL, projected_drift, projected_diffusion, &p, &model));
    sock_status status = score_model(ctx, c, model, row);
    sock_model_free(model);
    return status;
}

/* Every failure but an interruption is the row's. */
static sock_status close_row(sock_context *ctx, sock_status status, cmp_row *row)
{
    row->made = status >= 0;
    if (status < 0 && status != SOCK_ECANCELLED) give_reason(ctx, status, row);
    return status == SOCK_ECANCELLED ? status : SOCK_OK;
}

sock_status cmp_score(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, const cmp_fitted *fitted,
                      cmp_row *rows, size_t *count)
{
    psd_report psd = {.worst = (double)NAN};
    sk_begin(ctx);
    start_row(spec, &rows[0]);
    copy_fitted(fitted, &rows[0]);
    *count = 1;
    sock_status status = SOCK_OK;
    if (sock_model_has_diffusion(fitted->model)) status = look_at_a(ctx, fitted->model, c->test, &psd);
    rows[0].psd_fraction = psd.points ? (double)psd.bad / (double)psd.points : 0;
    rows[0].worst_eigenvalue = psd.worst;
    bool indefinite = status >= 0 && psd.bad > 0 && fitted->diffusion;
    rows[1] = rows[0];
    if (status >= 0 && indefinite)
        status = score_indefinite(ctx, c, fitted->model, &rows[0]);
    else if (status >= 0 && fitted->diffusion) /* paths may come to where a is not positive semi-definite */
        status = score_projected(ctx, c, fitted, &rows[0]);
    else if (status >= 0)
        status = score_model(ctx, c, fitted->model, &rows[0]);
    SK_TRY(close_row(ctx, status, &rows[0]));
    if (!indefinite) return SOCK_OK;
    sk_begin(ctx);
    rows[1].projected = 1;
    *count = 2;
    SK_TRY(close_row(ctx, score_projected(ctx, c, fitted, &rows[1]), &rows[1]));
    if (rows[1].made && !rows[1].scores.mmd2.valid) rows[0].scores.mmd2 = rows[1].scores.mmd2; /* nobody has one */
    return SOCK_OK;
}

/* A method that scores itself. */
static sock_status run_itself(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_row *row)
{
    double wall = sk_seconds(), cpu = cmp_cpu_seconds();
    cmp_scores_missing(&row->scores, "the method does not give it");
    sock_status status = spec->method->run(ctx, spec, c, row);
    if (!(row->wall_seconds > 0)) {
        row->wall_seconds = sk_seconds() - wall;
        row->cpu_seconds = cmp_cpu_seconds() - cpu;
    }
    if (status >= 0) row->status = status;
    return close_row(ctx, status, row);
}

sock_status cmp_run(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_row *rows, size_t *count)
{
    cmp_fitted fitted = {0};
    sk_begin(ctx);
    start_row(spec, &rows[0]);
    *count = 1;
    if (spec->method->run) return run_itself(ctx, spec, c, &rows[0]);
    sock_status status = cmp_fit(ctx, spec, c, &fitted);
    if (status < 0) return close_row(ctx, status, &rows[0]);
    status = cmp_score(ctx, spec, c, &fitted, rows, count);
    cmp_fitted_clear(&fitted);
    return status;
}
