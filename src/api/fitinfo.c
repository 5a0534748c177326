/* fitinfo.c - the record of a fit, into the model: what every fit tells, and what a plain one does. */
#include "api/fitjob.h"
#include "base/plugins.h"
#include "data/grouping.h"
#include "data/readers.h"
#include "tune/streamrows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sock_status copy(sock_context *ctx, const char *text, char **out)
{
    *out = sk_strdup(ctx, text);
    return *out ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Every fit ---- */

sock_status sk_fit_tell_options(const sk_fit_job *job, sk_options_given *list)
{
    for (size_t i = 0; i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        const bool of_plan = strcmp(key, "plan") == 0 || strcmp(key, "save-plan") == 0 || strcmp(key, "device") == 0;
        if (!of_plan && sk_option_is_set(job->opts, key))
            SK_TRY(sk_options_given_add(job->ctx, list, key, sk_option_text(job->opts, key)));
    }
    return SOCK_OK;
}

static sock_status tell_data(const sk_fit_job *job, sk_provenance *out)
{
    const sock_data *data = job->data;
    const sk_stream_told told = job->stream ? sk_stream_tell(job->stream) : (sk_stream_told){0};
    const uint64_t hash = job->stream ? told.hash : data->hash;
    out->trajectories = job->stream ? told.trajectories : data->trajectories;
    out->groups = job->stream ? told.trajectories : data->groups;
    out->source = sk_utf8_copy(job->ctx, data->source);
    if (!out->source) return SOCK_ENOMEM;
    if (data->unit) SK_TRY(copy(job->ctx, data->unit, &out->time_unit));
    out->hash = sk_format(job->ctx, "%016llx", (unsigned long long)hash);
    if (data->inputs) out->states_hash = sk_format(job->ctx, "%016llx", (unsigned long long)sk_data_states_hash(data));
    return out->hash && (out->states_hash || !data->inputs) ? SOCK_OK : SOCK_ENOMEM;
}

/* "x >= 0", "0 <= y <= 1". */
static sock_status tell_bounds(const sk_fit_job *job, const sock_model *model, sk_texts *list)
{
    const sk_structure *s = model->structure;
    for (size_t k = 0; sk_structure_is_bounded(s) && k < s->d; k++) {
        char low[32], high[32];
        const bool below = isfinite(s->lower[k]), above = isfinite(s->upper[k]);
        sk_print_double(low, s->lower[k]);
        sk_print_double(high, s->upper[k]);
        if (!below && !above) continue;
        char *text = below && above
                         ? sk_format(job->ctx, "%s <= %s <= %s", low, s->state[k], high)
                         : sk_format(job->ctx, "%s %s %s", s->state[k], below ? ">=" : "<=", below ? low : high);
        sock_status status = text ? sk_texts_add(job->ctx, list, text) : SOCK_ENOMEM;
        sk_free(text);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

sock_status sk_fit_device(sock_context *ctx, const sock_options *opts)
{
    sk_device_forget(ctx);
    return sk_option_is_set(opts, "device") ? sk_device_choose(ctx, sk_option_text(opts, "device")) : SOCK_OK;
}

/* Where it was done, when somebody asked for a device. */
static sock_status tell_device(const sk_fit_job *job, sk_record *record)
{
    const char *told = sk_device_told(job->ctx);
    return told ? copy(job->ctx, told, &record->device) : SOCK_OK;
}

size_t sk_fit_intervals(const sk_fit_job *job)
{
    return job->stream ? sk_stream_tell(job->stream).steps : sk_data_intervals(job->data);
}

sock_status sk_fit_save_record(const sk_fit_job *job, sk_record *record, sock_status ended, sock_model *model)
{
    char *info = NULL, *seconds = NULL;
    record->points = job->stream ? sk_stream_tell(job->stream).points : job->data->points;
    record->d = job->data->d;
    SK_TRY(tell_bounds(job, model, &record->bounds));
    SK_TRY(copy(job->ctx, ended == SOCK_OK ? "done" : sock_status_text(ended), &record->status));
    SK_TRY(sk_fit_tell_options(job, &record->options));
    SK_TRY(tell_data(job, &record->data));
    SK_TRY(tell_device(job, record));
    SK_TRY(copy(job->ctx, SOCK_VERSION, &record->version));
    record->seconds = sk_seconds() - job->start;
    SK_TRY(sk_record_write(job->ctx, record, &info, &seconds));
    sk_model_take_info(model, info, seconds);
    return SOCK_OK;
}

/* ---- A plain fit ---- */

static sock_status one_part(sock_context *ctx, const sk_kernel *kernel, double lambda, sk_parts *out)
{
    sk_part *part = sk_alloc(ctx, 1, sizeof *part);
    if (!part) return SOCK_ENOMEM;
    *out = (sk_parts){1, part};
    part->kernel = kernel ? sk_kernel_format(ctx, kernel) : sk_strdup(ctx, "given");
    part->lambda = lambda;
    return part->kernel ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status tell_drift(const sk_fit_job *job, sk_record *record)
{
    const sk_drift_report *r = &job->drift_report;
    SK_TRY(one_part(job->ctx, job->drift_kernel, job->drift_lambda, &record->found.drifts));
    if (!job->drift_kernel) return SOCK_OK;
    SK_TRY(copy(job->ctx, r->form, &record->found.drift_form));
    SK_TRY(copy(job->ctx, r->path, &record->drift_path));
    record->found.drift_rank = record->rank = r->rank;
    record->found.drift_dof = job->drift_dof;
    return SOCK_OK;
}

static sock_status tell_diffusion(const sk_fit_job *job, sk_record *record)
{
    const sk_diffusion_report *r = &job->diffusion_report;
    SK_TRY(one_part(job->ctx, job->diffusion_kernel, job->diffusion_lambda, &record->found.diffusions));
    SK_TRY(copy(job->ctx, r->form, &record->diffusion_form));
    SK_TRY(copy(job->ctx, r->solver, &record->solver));
    record->diagonal = sk_option_flag(job->opts, "diagonal");
    record->features = r->features;
    record->features_complete = r->complete;
    record->rank = r->rank;
    record->tolerance = sk_option_number(job->opts, "tolerance");
    record->certificate = (sk_certificate){.primal = r->primal,
                                           .dual = r->dual,
                                           .gap = r->gap,
                                           .relative_gap = r->gap > 0 ? r->gap / fabs(r->primal) : 0,
                                           .iterations = (long)r->iterations,
                                           .converged = r->converged};
    return SOCK_OK;
}

static void spent(sk_record *record, const char *name, double seconds)
{
    record->phase[record->phases++] = (sk_phase){name, seconds};
}

static void tell_seconds(const sk_fit_job *job, sk_record *record)
{
    const sk_diffusion_report *r = &job->diffusion_report;
    spent(record, "drift_build", job->drift_report.seconds_build);
    spent(record, "drift_solve", job->drift_report.seconds_solve);
    if (!job->diffusion_kernel) return;
    spent(record, "diffusion_features", r->seconds_features);
    spent(record, "diffusion_solve", r->effort.total);
    spent(record, "diffusion_eigen", r->effort.eigen);
    spent(record, "diffusion_products", r->effort.products);
    spent(record, "diffusion_linear", r->effort.linear);
    spent(record, "diffusion_certificate", r->effort.certificate);
}

sock_status sk_fit_set_info(sk_fit_job *job, sock_model *model, sock_status ended)
{
    sk_record record;
    sk_wild wild = {0};
    sk_courses courses = {0};
    sock_status status;
    sk_record_init(&record);
    SK_GO(tell_drift(job, &record));
    if (job->diffusion_kernel) SK_GO(tell_diffusion(job, &record));
    SK_GO(copy(job->ctx, sk_fit_quadrature(job), &record.quadrature));
    record.n = job->rule->n;
    tell_seconds(job, &record);
    SK_GO(sk_wild_find(job->ctx, job->data, &wild));
    SK_GO(sk_courses_find(job->ctx, job->data, wild.step, &courses));
    SK_GO(sk_record_odd(job->ctx, &record, job->data, &wild, false, &courses));
    SK_GO(sk_record_plain_bands(job->ctx, model, job->bands_reason, &record));
    status = sk_fit_save_record(job, &record, ended, model);
out:
    sk_wild_clear(&wild);
    sk_courses_clear(&courses);
    sk_record_clear(&record);
    return status;
}
