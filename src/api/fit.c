/* fit.c - sock_fit: from options and data to a model. The border: it checks and translates, the rooms compute.
 *
 *   1. Read the options; parse the kernels.
 *   2. Quadrature rule: data -> nodes, weights, mean increments.
 *   3. Drift system and its solution.
 *   4. Model with its information: what was asked, what was chosen, where it came from. */
#include "base/options.h"
#include "model/model.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct fit_job {
    sock_context *ctx;
    const sock_data *data;
    const sock_options *opts;
    sk_kernel *kernel;
    sk_rule *rule;
    sk_drift_system *system;
    sk_drift_report report;
    double lambda, dof, start;
} fit_job;

static void release(fit_job *job)
{
    sk_drift_system_free(job->system);
    sk_rule_free(job->rule);
    sk_kernel_free(job->kernel);
}

static sk_form form_of(const char *text)
{
    return strcmp(text, "implicit") == 0   ? SK_FORM_IMPLICIT
           : strcmp(text, "explicit") == 0 ? SK_FORM_EXPLICIT
           : strcmp(text, "nystrom") == 0  ? SK_FORM_NYSTROM
                                           : SK_FORM_AUTO;
}

static sk_path path_of(const char *text)
{
    return strcmp(text, "pivoted") == 0 ? SK_PATH_PIVOTED : strcmp(text, "exact") == 0 ? SK_PATH_EXACT : SK_PATH_AUTO;
}

static sock_status parse_kernel(fit_job *job)
{
    void *user = NULL;
    sock_matrix_kernel_fn own = sk_option_drift_kernel(job->opts, &user);
    if (own) return sk_kernel_from_callback(job->ctx, own, user, &job->kernel);
    return sk_kernel_parse(job->ctx, "drift", sk_option_text(job->opts, "drift"), &job->kernel);
}

/* Steps 1 to 3 up to the system; path overrides the option when it is not SK_PATH_AUTO. */
static sock_status build_system(fit_job *job, sk_path path)
{
    sock_context *ctx = job->ctx;
    SK_TRY(parse_kernel(job));
    SK_TRY(sk_progress(ctx, "quadrature", -1));
    SK_TRY(sk_rule_new(ctx, job->data, sk_option_text(job->opts, "quadrature"), &job->rule));
    SK_TRY(sk_kernel_resolve(ctx, "drift", job->kernel, job->rule->d, job->rule->nodes, job->rule->x));
    job->lambda = sk_option_number(job->opts, "drift-lambda");
    if (isnan(job->lambda)) {
        double unit;
        SK_TRY(sk_drift_unit(ctx, job->rule, job->kernel, &unit));
        job->lambda = unit > 0 ? 1e-3 * unit : 1e-3;
    }
    sk_drift_spec spec = {.kernel = job->kernel,
                          .form = form_of(sk_option_text(job->opts, "drift-form")),
                          .path = path != SK_PATH_AUTO ? path : path_of(sk_option_text(job->opts, "drift-path")),
                          .landmarks = sk_option_count(job->opts, "landmarks"),
                          .seed = sk_option_count(job->opts, "seed"),
                          .lambda = job->lambda};
    return sk_drift_system_new(ctx, job->rule, &spec, &job->system);
}

static json_t *option_values(const sock_options *opts)
{
    json_t *set = json_object();
    for (size_t i = 0; i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        if (sk_option_is_set(opts, key)) json_object_set_new(set, key, json_string(sk_option_text(opts, key)));
    }
    return set;
}

static json_t *data_provenance(const sock_data *data)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)data->hash);
    return json_pack("{s:s, s:s, s:I, s:I}", "source", data->source, "hash", hash, "trajectories",
                     (json_int_t)data->trajectories, "groups", (json_int_t)data->groups);
}

static json_t *real_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* What is saved with the model: nothing that changes from run to run. */
static sock_status set_info(fit_job *job, sock_model *model)
{
    char *kernel = sk_kernel_format(job->ctx, job->kernel);
    if (!kernel) return SOCK_ENOMEM;
    sk_drift_report r = job->report;
    json_t *info = json_pack("{s:s, s:f, s:s, s:s, s:I, s:o, s:n, s:s, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:s}",
                             "drift", kernel, "drift_lambda", job->lambda, "drift_form", r.form, "drift_path", r.path,
                             "drift_rank", (json_int_t)r.rank, "drift_dof", real_or_null(job->dof), "diffusion",
                             "quadrature", sk_option_text(job->opts, "quadrature"), "n", (json_int_t)job->rule->n,
                             "points", (json_int_t)job->data->points, "d", (json_int_t)model->d, "rank",
                             (json_int_t)r.rank, "status", "done", "options", option_values(job->opts), "data",
                             data_provenance(job->data), "version", SOCK_VERSION);
    json_t *seconds = json_pack("{s:f, s:f, s:f}", "drift_build", r.seconds_build, "drift_solve", r.seconds_solve,
                                "total", sk_seconds() - job->start);
    sk_free(kernel);
    sock_status status = sk_model_set_info(job->ctx, model, info, seconds);
    json_decref(info);
    json_decref(seconds);
    return status;
}

sock_status sock_fit(sock_context *ctx, const sock_data *data, const sock_options *opts, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !out) return sk_fail(ctx, SOCK_EUSAGE, "data and output must not be NULL");
    fit_job job = {.ctx = ctx, .data = data, .opts = opts, .start = sk_seconds()};
    sock_model *model = NULL;
    sk_drift_term *term = NULL;
    sock_status status;
    SK_GO(build_system(&job, SK_PATH_AUTO));
    SK_GO(sk_drift_solve(ctx, job.system, 1, &job.lambda, &term, &job.dof));
    job.report = sk_drift_system_report(job.system);
    SK_GO(sk_model_new(ctx, data->d, (const char *const *)data->state, &model));
    status = sk_model_add_drift(ctx, model, term);
    term = NULL;
    if (status < 0) goto out;
    SK_GO(set_info(&job, model));
    *out = model;
    model = NULL;
out:
    sk_drift_term_free(term);
    sock_model_free(model);
    release(&job);
    return status;
}

sock_status sock_drift_system(sock_context *ctx, const sock_data *data, const sock_options *opts, double *L, double *dy,
                              double *alpha)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data) return sk_fail(ctx, SOCK_EUSAGE, "data must not be NULL");
    fit_job job = {.ctx = ctx, .data = data, .opts = opts};
    sock_status status;
    SK_GO(build_system(&job, SK_PATH_EXACT));
    if (sk_kernel_is_matrix(job.kernel)) {
        status = sk_fail(ctx, SOCK_EUSAGE, "drift: L and alpha are given for scalar kernels only");
        goto out;
    }
    if (L) SK_GO(sk_occupation_gram(ctx, job.rule, job.kernel, L, job.rule->n));
    if (dy) memcpy(dy, job.rule->dy, job.rule->n * job.rule->d * sizeof(double));
    if (alpha) SK_GO(sk_drift_alpha(ctx, job.system, job.lambda, alpha));
out:
    release(&job);
    return status;
}
