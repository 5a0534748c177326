/* fittune.c - the tuned estimator behind sock_fit: options in, model and information out. */
#include "api/fitjob.h"
#include "tune/tune.h"

#include <math.h>
#include <string.h>

static sk_tune_spec spec_of(const sk_fit_job *job)
{
    const sock_options *o = job->opts;
    double budget = sk_option_number(o, "budget");
    bool diagonal = sk_option_is_set(o, "diagonal");
    return (sk_tune_spec){
        .data = job->data,
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
        .tolerance = sk_option_is_set(o, "tolerance") ? sk_option_number(o, "tolerance") : 0,
    };
}

sock_status sk_fit_tuned(sk_fit_job *job, sock_model **out)
{
    sk_tune_spec spec = spec_of(job);
    sock_model *model = NULL;
    json_t *report = NULL;
    sock_status ended = sk_tune(job->ctx, &spec, &model, &report);
    if (ended < 0) return ended;
    json_object_set_new(report, "n", json_integer((json_int_t)sk_data_intervals(job->data)));
    json_object_set_new(report, "points", json_integer((json_int_t)job->data->points));
    json_object_set_new(report, "d", json_integer((json_int_t)job->data->d));
    json_object_set_new(report, "options", sk_fit_options_given(job->opts));
    json_object_set_new(report, "data", sk_fit_provenance(job->data));
    json_object_set_new(report, "version", json_string(SOCK_VERSION));
    json_t *seconds = json_pack("{s:f}", "total", sk_seconds() - job->start);
    sock_status status = sk_model_set_info(job->ctx, model, report, seconds);
    json_decref(report);
    json_decref(seconds);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return ended;
}
