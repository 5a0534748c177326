/* fitinfo.c - what a fit tells of itself: the JSON object that is saved with the model, and the seconds that are not.
 */
#include "api/fitjob.h"

#include <math.h>

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }
static json_t *count(size_t value) { return json_integer((json_int_t)value); }

static sock_status put_kernel(sock_context *ctx, json_t *info, const char *key, const sk_kernel *kernel)
{
    char *text = sk_kernel_format(ctx, kernel);
    if (!text) return SOCK_ENOMEM;
    json_object_set_new(info, key, json_string(text));
    sk_free(text);
    return SOCK_OK;
}

json_t *sk_fit_options_given(const sock_options *opts)
{
    json_t *set = json_object();
    for (size_t i = 0; i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        if (sk_option_is_set(opts, key)) json_object_set_new(set, key, json_string(sk_option_text(opts, key)));
    }
    return set;
}

json_t *sk_fit_provenance(const sock_data *data)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)data->hash);
    return json_pack("{s:s, s:s, s:o, s:o}", "source", data->source, "hash", hash, "trajectories",
                     count(data->trajectories), "groups", count(data->groups));
}

static sock_status put_drift(const sk_fit_job *job, json_t *info)
{
    const sk_drift_report *r = &job->drift_report;
    if (!job->drift_kernel) {
        json_object_set_new(info, "drift", json_string("given"));
        return SOCK_OK;
    }
    SK_TRY(put_kernel(job->ctx, info, "drift", job->drift_kernel));
    json_object_set_new(info, "drift_lambda", number(job->drift_lambda));
    json_object_set_new(info, "drift_form", json_string(r->form));
    json_object_set_new(info, "drift_path", json_string(r->path));
    json_object_set_new(info, "drift_rank", count(r->rank));
    json_object_set_new(info, "drift_dof", number(job->drift_dof));
    return SOCK_OK;
}

static sock_status put_diffusion(const sk_fit_job *job, json_t *info)
{
    const sk_diffusion_report *r = &job->diffusion_report;
    if (!job->diffusion_kernel) {
        json_object_set_new(info, "diffusion", json_null());
        return SOCK_OK;
    }
    SK_TRY(put_kernel(job->ctx, info, "diffusion", job->diffusion_kernel));
    json_object_set_new(info, "diffusion_lambda", number(job->diffusion_lambda));
    json_object_set_new(info, "diffusion_form", json_string(r->form));
    json_object_set_new(info, "diagonal", json_boolean(sk_option_flag(job->opts, "diagonal")));
    json_object_set_new(info, "features", count(r->features));
    json_object_set_new(info, "features_complete", json_boolean(r->complete));
    json_object_set_new(info, "rank", count(r->rank));
    json_object_set_new(info, "solver", json_string(r->solver));
    json_object_set_new(info, "tolerance", number(sk_option_number(job->opts, "tolerance")));
    json_object_set_new(info, "primal", number(r->primal));
    json_object_set_new(info, "dual", number(r->dual));
    json_object_set_new(info, "gap", number(r->gap));
    json_object_set_new(info, "relative_gap", number(r->gap > 0 ? r->gap / fabs(r->primal) : 0));
    json_object_set_new(info, "iterations", count(r->iterations));
    json_object_set_new(info, "converged", json_boolean(r->converged));
    return SOCK_OK;
}

static json_t *seconds(const sk_fit_job *job)
{
    json_t *s = json_object();
    json_object_set_new(s, "drift_build", json_real(job->drift_report.seconds_build));
    json_object_set_new(s, "drift_solve", json_real(job->drift_report.seconds_solve));
    if (job->diffusion_kernel) {
        const sk_psd_effort *e = &job->diffusion_report.effort;
        json_object_set_new(s, "diffusion_features", json_real(job->diffusion_report.seconds_features));
        json_object_set_new(s, "diffusion_solve", json_real(e->total));
        json_object_set_new(s, "diffusion_eigen", json_real(e->eigen));
        json_object_set_new(s, "diffusion_products", json_real(e->products));
        json_object_set_new(s, "diffusion_linear", json_real(e->linear));
        json_object_set_new(s, "diffusion_certificate", json_real(e->certificate));
    }
    json_object_set_new(s, "total", json_real(sk_seconds() - job->start));
    return s;
}

sock_status sk_fit_set_info(sk_fit_job *job, sock_model *model, sock_status ended)
{
    SK_TRY(sk_reserve(job->ctx, SK_JSON_SMALL));
    json_t *info = json_object(), *times = seconds(job);
    sock_status status = put_drift(job, info);
    if (status >= 0) status = put_diffusion(job, info);
    if (status >= 0) {
        json_object_set_new(info, "quadrature", json_string(sk_fit_quadrature(job)));
        json_object_set_new(info, "n", count(job->rule->n));
        json_object_set_new(info, "points", count(job->data->points));
        json_object_set_new(info, "d", count(model->d));
        if (!job->diffusion_kernel) json_object_set_new(info, "rank", count(job->drift_report.rank));
        json_object_set_new(info, "status", json_string(ended == SOCK_OK ? "done" : sock_status_text(ended)));
        json_object_set_new(info, "options", sk_fit_options_given(job->opts));
        json_object_set_new(info, "data", sk_fit_provenance(job->data));
        json_object_set_new(info, "version", json_string(SOCK_VERSION));
        status = sk_model_set_info(job->ctx, model, info, times);
    }
    json_decref(info);
    json_decref(times);
    return status;
}
