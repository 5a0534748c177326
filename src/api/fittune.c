/* fittune.c - the tuned estimator behind sock_fit: options in, model and information out. */
#include "api/equation.h"
#include "api/fitjob.h"
#include "api/record.h"
#include "paper/paper.h"

#include <math.h>
#include <string.h>

static bool is_paper(const sk_fit_job *job) { return strcmp(sk_option_text(job->opts, "preset"), "paper") == 0; }

/* Options of the plain estimator, which the search decides for itself. */
static sock_status refuse_plain_options(const sk_fit_job *job)
{
    static const char *const plain[] = {"drift-lambda",   "diffusion-lambda", "drift-form", "drift-path",
                                        "diffusion-form", "diffusion-rank",   "solver",     "landmarks",
                                        "compression",    "max-iterations",   "max-seconds"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (sk_option_is_set(job->opts, plain[i]))
            return sk_fail(job->ctx, SOCK_EUSAGE,
                           "%s is for the plain estimator; allowed with tune = no (--no-tune) only", plain[i]);
    const char *value = sk_option_text(job->opts, "quadrature");
    if (is_paper(job) && strcmp(value, "auto") != 0 && strcmp(value, "trapezoid") != 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "quadrature is '%s'; allowed with the paper's preset: trapezoid", value);
    if (!is_paper(job) && strcmp(value, "trapezoid") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "quadrature is 'trapezoid'; allowed while tuning: conditional, left (or give --no-tune)");
    if (strcmp(sk_option_text(job->opts, "diffusion"), "none") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "diffusion is 'none'; the drift alone is fitted with --no-tune");
    if (sk_option_drift_kernel(job->opts, NULL))
        return sk_fail(job->ctx, SOCK_EUSAGE, "a drift kernel given as a function is fitted with tune = no");
    return SOCK_OK;
}

static sk_tune_spec spec_of(const sk_fit_job *job)
{
    const sock_options *o = job->opts;
    double budget = sk_option_number(o, "budget");
    bool diagonal = sk_option_is_set(o, "diagonal");
    return (sk_tune_spec){
        .data = job->data,
        .validation = sk_option_validation(o),
        .folds = sk_option_count(o, "folds"),
        .seed = sk_option_count(o, "seed"),
        .budget = isnan(budget) ? 0 : budget,
        .drift = sk_option_text(o, "drift"),
        .diffusion = sk_option_text(o, "diffusion"),
        .full_only = diagonal && !sk_option_flag(o, "diagonal"),
        .diagonal_only = diagonal && sk_option_flag(o, "diagonal"),
        .conditional = strcmp(sk_option_text(o, "quadrature"), "left") != 0,
        .weighted = sk_option_flag(o, "weights"),
        .learned = sk_option_flag(o, "learned"),
        .correct = sk_option_flag(o, "correction"),
        .polish = sk_option_flag(o, "polish"),
        .average = sk_option_flag(o, "average"),
        .scaling = sk_option_flag(o, "scaling"),
        .delta = sk_option_number(o, "delta"),
        .tolerance = sk_option_is_set(o, "tolerance") ? sk_option_number(o, "tolerance") : 0,
    };
}

/* f (points x d) becomes the mean drift over the step that starts at each point: of f there and where Euler's step
 * leads, second order in h, so that what a long step leaves over is not taken for memory. */
static sock_status drift_of_steps(sk_fit_job *job, const sock_model *model, double *f)
{
    const sock_data *data = job->data;
    size_t d = data->d;
    double *ahead = sk_doubles(job->ctx, data->points, d), *there = sk_doubles(job->ctx, data->points, d);
    sock_status status = ahead && there ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) memcpy(ahead, data->x, data->points * d * sizeof *ahead);
    for (size_t j = 0; status >= 0 && j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
            for (size_t k = 0; k < d; k++) {
                double to = data->x[i * d + k] + (data->t[i + 1] - data->t[i]) * f[i * d + k];
                if (isfinite(to)) ahead[i * d + k] = to;
            }
    if (status >= 0) status = sk_model_evaluate(job->ctx, model, data->points, ahead, there, NULL);
    for (size_t i = 0; status >= 0 && i < data->points * d; i++) f[i] = 0.5 * (f[i] + there[i]);
    sk_free(ahead);
    sk_free(there);
    return status;
}

/* Lag-1 correlation of what the model leaves over, each step in units of its own standard deviation. */
static sock_status residual_correlation(sk_fit_job *job, const sock_model *model, double *out)
{
    const sock_data *data = job->data;
    size_t d = data->d, count = 0;
    double *f = sk_doubles(job->ctx, data->points, d), *a = sk_doubles(job->ctx, data->points, d * d);
    sock_status status = f && a ? sk_model_evaluate(job->ctx, model, data->points, data->x, f, a) : SOCK_ENOMEM;
    if (status >= 0) status = drift_of_steps(job, model, f);
    double product = 0, square = 0;
    for (size_t j = 0; status >= 0 && j < data->trajectories; j++)
        for (size_t k = 0; k < d; k++) {
            double last = 0;
            bool has_last = false;
            for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
                double h = data->t[i + 1] - data->t[i], variance = h * a[(i * d + k) * d + k];
                double e = data->x[(i + 1) * d + k] - data->x[i * d + k] - h * f[i * d + k];
                double now = variance > 0 ? e / sqrt(variance) : 0;
                if (fabs(now) > 5) now = now > 0 ? 5 : -5; /* one wild step is not memory */
                if (has_last) {
                    product += now * last;
                    count++;
                }
                square += now * now;
                last = now;
                has_last = variance > 0;
            }
        }
    *out = count > 20 && square > 0 ? product / square : (double)NAN;
    sk_free(f);
    sk_free(a);
    return status;
}

static void warn(json_t *list, const char *text) { json_array_append_new(list, json_string(text)); }

/* What the user should know before believing the model. */
static sock_status add_warnings(sk_fit_job *job, const sock_model *model, json_t *report)
{
    json_t *list = json_array();
    double correlation, n = json_number_value(json_object_get(report, "steps"));
    double moments = json_number_value(json_object_get(report, "calibration")); /* 0: not known */
    double gain = json_number_value(json_object_get(report, "score")) -
                  json_number_value(json_object_get(report, "score_constant"));
    json_object_set_new(report, "warnings", list);
    SK_TRY(residual_correlation(job, model, &correlation));
    json_object_set_new(report, "residual_lag1", isfinite(correlation) ? json_real(correlation) : json_null());
    if (correlation < -0.1 && fabs(correlation) > 4 / sqrt(n))
        warn(list,
             "residuals of neighbouring steps are negatively correlated: measurement noise on the states inflates a");
    if (correlation > 0.1 && fabs(correlation) > 4 / sqrt(n))
        warn(list,
             "residuals of neighbouring steps are positively correlated: the process has memory, or a hidden state");
    if (gain < 2) warn(list, "the score is no better than that of constant coefficients: the data support no more");
    if (moments > 2 || (moments > 0 && moments < 0.5))
        warn(list, moments > 1
                       ? "a is less than half of what the squared residuals say: wild steps, or the wrong kernels"
                       : "a is more than twice what the squared residuals say: wild steps, or the wrong kernels");
    if (json_is_true(json_object_get(report, "drift_edge")))
        warn(list, "the penalty of the drift is at the edge of its grid");
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(report, "diffusions"), i, entry)
    {
        if (i == 0 && json_is_true(json_object_get(entry, "edge")))
            warn(list, "the penalty of the diffusion is at the edge of its grid");
        if (!json_is_true(json_object_get(entry, "converged")))
            warn(list, "a convex problem stopped before its tolerance; its gap is stated");
    }
    return SOCK_OK;
}

/* null, and under key_reason why. */
static void put_reason(json_t *report, const char *key, const char *reason)
{
    char name[64];
    snprintf(name, sizeof name, "%s_reason", key);
    json_object_set_new(report, key, json_null());
    json_object_set_new(report, name, json_string(reason));
}

/* The certificate under the keys of a plain fit, where a is the solution of one convex problem. */
static void put_certificate(json_t *report)
{
    static const char *const keys[] = {"primal", "dual", "gap"};
    json_t *list = json_object_get(report, "diffusions"), *best = json_array_get(list, 0);
    const char *kernel = json_string_value(json_object_get(best, "kernel"));
    const char *reason = json_array_size(list) > 1 ? "a is an average; each part has its own under diffusions"
                         : json_is_true(json_object_get(best, "polished"))
                             ? "a was polished after the convex problem, whose numbers are under diffusions"
                         : kernel && strstr(kernel, "learned")
                             ? "features were reweighted after the convex problem, whose numbers are under diffusions"
                             : NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (reason)
            put_reason(report, keys[i], reason);
        else
            json_object_set(report, keys[i], json_object_get(best, keys[i]));
    if (!reason && json_object_get(best, "iterations"))
        json_object_set(report, "iterations", json_object_get(best, "iterations"));
    else
        put_reason(report, "iterations", reason ? reason : "those of cross-validation are not counted");
    if (!json_is_number(json_object_get(report, "drift_lambda")))
        put_reason(report, "drift_lambda", "learned feature weights have no lambda");
}

/* Of an average the largest gap of its parts, and whether all are within the tolerance: the weakest of the proofs. */
static void put_worst(json_t *report)
{
    size_t i;
    json_t *part;
    double gap = 0;
    bool converged = true;
    json_array_foreach(json_object_get(report, "diffusions"), i, part)
    {
        gap = fmax(gap, json_number_value(json_object_get(part, "relative_gap")));
        converged = converged && json_is_true(json_object_get(part, "converged"));
    }
    json_object_set_new(report, "relative_gap", json_real(gap));
    json_object_set_new(report, "converged", json_boolean(converged));
}

/* Seconds of the fits of each stage, added up; fits side by side in several threads count each. */
static json_t *stage_seconds(const json_t *report, const json_t *times)
{
    json_t *stages = json_object(), *row;
    size_t i;
    json_array_foreach(json_object_get(report, "search"), i, row)
    {
        const char *stage = json_string_value(json_object_get(row, "stage"));
        double before = json_number_value(json_object_get(stages, stage));
        json_object_set_new(stages, stage, json_real(before + json_number_value(json_array_get(times, i))));
    }
    return stages;
}

static sock_status set_info(sk_fit_job *job, sock_model *model, json_t *report, sock_status ended)
{
    size_t rank = 0;
    for (size_t i = 0; i < model->diffusion_terms; i++) rank += model->diffusion[i]->rank;
    json_t *times = json_incref(json_object_get(report, "search_seconds"));
    json_t *best = json_array_get(json_object_get(report, "diffusions"), 0);
    json_object_del(report, "search_seconds");
    json_object_set(report, "diffusion_lambda", json_object_get(best, "lambda"));
    json_object_set(report, "diffusion", json_object_get(best, "kernel"));
    put_worst(report);
    json_object_set_new(report, "rank", json_integer((json_int_t)rank));
    put_certificate(report);
    bool left = strcmp(sk_option_text(job->opts, "quadrature"), "left") == 0;
    json_object_set_new(report, "quadrature", json_string(is_paper(job) ? "trapezoid" : left ? "left" : "conditional"));
    json_object_set_new(report, "n", json_integer((json_int_t)sk_data_intervals(job->data)));
    json_object_set_new(report, "points", json_integer((json_int_t)job->data->points));
    json_object_set_new(report, "d", json_integer((json_int_t)job->data->d));
    json_object_set_new(report, "status", json_string(ended == SOCK_OK ? "done" : sock_status_text(ended)));
    json_object_set_new(report, "options", sk_fit_options_given(job->opts));
    json_object_set_new(report, "data", sk_fit_provenance(job->data));
    json_object_set_new(report, "version", json_string(SOCK_VERSION));
    sock_status status = sk_equation_add(job->ctx, model, report);
    if (status >= 0) status = add_warnings(job, model, report);
    json_t *seconds = json_object();
    json_object_set(seconds, "search", times);
    json_object_set_new(seconds, "stages", stage_seconds(report, times));
    json_object_set_new(seconds, "total", json_real(sk_seconds() - job->start));
    if (status >= 0) status = sk_model_set_info(job->ctx, model, report, seconds);
    json_decref(seconds);
    json_decref(times);
    return status;
}

sock_status sk_fit_tuned(sk_fit_job *job, sock_model **out)
{
    SK_TRY(refuse_plain_options(job));
    SK_TRY(sk_reserve(job->ctx, 4 * SK_JSON_SMALL)); /* the report with the table of the search */
    sk_tune_spec spec = spec_of(job);
    if (spec.validation && spec.validation->d != job->data->d)
        return sk_fail(job->ctx, SOCK_EUSAGE, "the validation data have dimension %zu, the data %zu",
                       spec.validation->d, job->data->d);
    sock_model *model = NULL;
    sk_tune_outcome told = {0};
    sock_status ended =
        is_paper(job) ? sk_tune_paper(job->ctx, &spec, &model, &told) : sk_tune(job->ctx, &spec, &model, &told);
    if (ended < 0) return ended;
    json_t *report = sk_outcome_json(&told);
    sk_tune_outcome_clear(&told);
    sock_status status = set_info(job, model, report, ended);
    json_decref(report);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return ended;
}
