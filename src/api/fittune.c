/* fittune.c - the tuned estimator behind sock_fit: options in, model and information out. */
#include "api/checkcall.h"
#include "api/equation.h"
#include "api/fitjob.h"
#include "api/rateequation.h"
#include "data/absorbed.h"
#include "inertia/inertiafit.h"
#include "noise/noisestage.h"
#include "paper/paper.h"
#include "score/score.h"
#include "tune/inputchoice.h"
#include "tune/policy.h"
#include "tune/streamrows.h"

#include <math.h>
#include <string.h>

static bool is_second(const sk_fit_job *job) { return sk_option_count(job->opts, "order") == 2; }
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
    if (is_paper(job) && sk_kernel_text_is_bounded(sk_option_text(job->opts, "diffusion")))
        return sk_fail(job->ctx, SOCK_EUSAGE, "diffusion is '%s'; the paper's preset knows no bounds",
                       sk_option_text(job->opts, "diffusion"));
    const char *noise = sk_option_text(job->opts, "noise");
    if (is_paper(job) && strcmp(noise, "auto") != 0 && strcmp(noise, "none") != 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "noise is '%s'; allowed with the paper's preset: none, auto", noise);
    if (is_paper(job) && sk_option_count(job->opts, "substeps") > 1)
        return sk_fail(job->ctx, SOCK_EUSAGE, "substeps is '%s'; allowed with the paper's preset: 1, auto",
                       sk_option_text(job->opts, "substeps"));
    if (!is_paper(job) && strcmp(value, "trapezoid") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "quadrature is 'trapezoid'; allowed while tuning: conditional, left (or give --no-tune)");
    if (strcmp(sk_option_text(job->opts, "diffusion"), "none") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "diffusion is 'none'; the drift alone is fitted with --no-tune");
    if (sk_option_drift_kernel(job->opts, NULL))
        return sk_fail(job->ctx, SOCK_EUSAGE, "a drift kernel given as a function is fitted with tune = no");
    return SOCK_OK;
}

/* What does not work with inputs, and inputs that nothing can be learned from. */
static sock_status check_inputs(const sk_fit_job *job)
{
    const sock_data *data = job->data, *held = sk_option_validation(job->opts);
    const char *noise = sk_option_text(job->opts, "noise");
    if (!data->inputs) return SOCK_OK;
    if (is_paper(job)) return sk_fail(job->ctx, SOCK_EUSAGE, "the paper's preset has no inputs; leave one of them out");
    if (strcmp(noise, "auto") != 0 && strcmp(noise, "none") != 0)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "noise is '%s'; allowed with inputs: none (measurement noise and inputs do "
                       "not go together yet)",
                       noise);
    if (sk_option_count(job->opts, "substeps") > 1)
        return sk_fail(job->ctx, SOCK_EUSAGE, "substeps is '%s'; allowed with inputs: 1",
                       sk_option_text(job->opts, "substeps"));
    for (size_t k = 0; held && k < data->inputs; k++)
        if (held->inputs != data->inputs || strcmp(held->input[k], data->input[k]) != 0)
            return sk_fail(job->ctx, SOCK_EUSAGE, "the validation data do not have the inputs of the data, %s first",
                           data->input[0]);
    return sk_inputs_check(job->ctx, data);
}

static sk_tune_spec spec_of(const sk_fit_job *job)
{
    const sock_options *o = job->opts;
    double budget = sk_option_number(o, "budget");
    bool diagonal = sk_option_is_set(o, "diagonal");
    return (sk_tune_spec){
        .data = job->data,
        .stream = job->stream,
        .plan = job->plan,
        .keep_plan = job->save_plan ? sk_fit_save_plan : NULL,
        .keeper = (void *)(uintptr_t)job,
        .leave_wild = strcmp(sk_option_text(o, "wild"), "leave") == 0,
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
        .hold = sk_option_text(o, "hold"),
        .after = sk_noise_stage,
        .noise = sk_noise_choice_named(sk_option_text(o, "noise")),
        .substeps = sk_option_count(o, "substeps"),
        .bands = sk_option_flag(o, "bands"),
        .delta = sk_option_number(o, "delta"),
        .tolerance = sk_option_is_set(o, "tolerance") ? sk_option_number(o, "tolerance") : 0,
    };
}

/* Steps that take no part: wild ones of the data and of the validation set, and those at rest on a bound; and states
 * that are no processes of their own. */
typedef struct strays {
    sk_wild data, held;
    bool left;              /* the wild ones are not in the fit */
    sk_courses courses;     /* states that follow from others, or are smooth */
    size_t absorbed;        /* of the data */
    bool *step, *step_held; /* points of each: all of them together; NULL: none */
} strays;

static void strays_clear(strays *s)
{
    sk_wild_clear(&s->data);
    sk_wild_clear(&s->held);
    sk_courses_clear(&s->courses);
    sk_free(s->step);
    sk_free(s->step_held);
}

/* Wild steps (NULL: none) and those at rest on a bound in one list. */
static sock_status join(const sk_fit_job *job, const sock_data *data, const bool *wild, bool **out, size_t *absorbed)
{
    *absorbed = sk_absorbed_mark(data, job->lower, job->upper, NULL);
    if (!wild && !*absorbed) return SOCK_OK;
    *out = sk_alloc(job->ctx, data->points, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    if (wild) memcpy(*out, wild, data->points * sizeof **out);
    sk_absorbed_mark(data, job->lower, job->upper, *out);
    return SOCK_OK;
}

/* Where there is no noise, kernels of a would only follow what f misses, and noise, bands and the check would be of
 * that. What was named is done. */
static void without_noise(const sk_fit_job *job, sk_tune_spec *spec)
{
    if (!sk_option_is_set(job->opts, "diffusion")) spec->diffusion = "constant";
    if (!sk_option_is_set(job->opts, "noise")) spec->noise = SK_ASK_NONE;
    if (!sk_option_is_set(job->opts, "bands")) spec->bands = false;
}

static sock_status find_strays(const sk_fit_job *job, sk_tune_spec *spec, strays *out)
{
    out->left = !is_paper(job) && strcmp(sk_option_text(job->opts, "wild"), "leave") == 0;
    SK_TRY(sk_wild_find(job->ctx, job->data, &out->data));
    SK_TRY(sk_courses_find(job->ctx, job->data, out->data.step, &out->courses));
    out->courses.smooth &= !is_second(job); /* positions are, of course */
    if (out->courses.smooth && !is_paper(job)) without_noise(job, spec);
    if (out->left && spec->validation) SK_TRY(sk_wild_find(job->ctx, spec->validation, &out->held));
    if (is_paper(job)) return SOCK_OK;
    size_t ignored;
    SK_TRY(join(job, job->data, out->left ? out->data.step : NULL, &out->step, &out->absorbed));
    if (spec->validation) SK_TRY(join(job, spec->validation, out->held.step, &out->step_held, &ignored));
    spec->wild = out->step;
    spec->wild_held = out->step_held;
    return SOCK_OK;
}

/* A budget that was spent leaves no time for it; the protocol of the paper has none; and without noise nothing is
 * drawn. */
static bool wants_check(const sk_fit_job *job, const strays *wild, const sk_record *record)
{
    if (wild->courses.smooth && !sk_option_is_set(job->opts, "check")) return false;
    return sk_option_flag(job->opts, "check") && !is_paper(job) && !record->found.limited && !record->found.too_few;
}

/* Into the record. Ends are those that `sock check` draws unless it is told otherwise: it must not take back what is
 * said here. Numbers that do not allow a check are no reason to lose a fit. */
static sock_status check_quickly(const sk_fit_job *job, const strays *wild, const sock_model *model, sk_record *record)
{
    sk_check_spec spec = {.alpha = sk_option_number(job->opts, "alpha"), .seed = SK_CHECK_SEED};
    sock_checks checks;
    sk_check_by_record(record, job->data->d, &spec);
    if (wild->left) sk_check_without(&wild->data, &spec);
    const sock_status status = sk_check_briefly(job->ctx, model, job->data, &spec, &checks);
    if (status == SOCK_ENUMERIC) return SOCK_OK;
    return status < 0 ? status : sk_check_to_record(job->ctx, &checks, record);
}

/* What is told of positions and velocities. */
static sock_status tell_second(sk_fit_job *job, const strays *wild, sk_record *record, sock_status ended,
                               sock_model *model)
{
    record->tuned = true;
    record->order = 2;
    record->quadrature = sk_strdup(job->ctx, "filter");
    if (!record->quadrature) return SOCK_ENOMEM;
    SK_TRY(sk_record_tell_bands(job->ctx, model, sk_option_flag(job->opts, "bands"), record));
    record->n = sk_data_intervals(job->data);
    for (size_t i = 0; i < model->diffusion_terms; i++) record->rank += model->diffusion[i]->rank;
    SK_TRY(sk_record_certify(job->ctx, record));
    SK_TRY(sk_equation_add(job->ctx, model, record));
    SK_TRY(sk_record_odd(job->ctx, record, job->data, &wild->data, wild->left, &wild->courses));
    if (wants_check(job, wild, record)) SK_TRY(check_quickly(job, wild, model, record));
    SK_TRY(sk_record_warn(job->ctx, record));
    return sk_fit_save_record(job, record, ended, model);
}

/* Quiet states and clocks, by name and equation. */
static sock_status tell_courses(const sk_fit_job *job, sk_record *record)
{
    const sk_tune_outcome *found = &record->found;
    for (size_t k = 0; k < job->data->d; k++) {
        const char *name = job->data->state[k];
        if (found->quiet && found->quiet[k]) SK_TRY(sk_texts_add(job->ctx, &record->quiet, name));
        if (!found->clock || isnan(found->clock[k])) continue;
        char *text = sk_format(job->ctx, "d%s/dt = %.10g", name, found->clock[k]);
        const sock_status status = text ? sk_texts_add(job->ctx, &record->clock, text) : SOCK_ENOMEM;
        sk_free(text);
        SK_TRY(status);
    }
    return SOCK_OK;
}

/* What all steps were, beside the sample that the rest tells of. */
static void tell_stream(const sk_fit_job *job, sk_record *record)
{
    const sk_stream_told told = sk_stream_tell(job->stream);
    record->sample = told.sampled;
    record->left_out = told.left_out;
}

static sock_status tell(sk_fit_job *job, const strays *wild, sk_record *record, sock_status ended, sock_model *model)
{
    if (is_second(job)) return tell_second(job, wild, record, ended, model);
    bool left = strcmp(sk_option_text(job->opts, "quadrature"), "left") == 0;
    SK_TRY(sk_fit_keep_bounds(job, !is_paper(job), model));
    record->tuned = true;
    const bool flow = record->found.noise.used || record->found.noise.substeps > 1;
    record->quadrature = sk_strdup(job->ctx, is_paper(job) ? "trapezoid"
                                             : flow        ? "flow"
                                             : left        ? "left"
                                                           : "conditional");
    if (!record->quadrature) return SOCK_ENOMEM;
    record->n = sk_fit_intervals(job);
    for (size_t i = 0; i < model->diffusion_terms; i++) record->rank += model->diffusion[i]->rank;
    SK_TRY(sk_record_certify(job->ctx, record));
    SK_TRY(sk_record_odd(job->ctx, record, job->data, &wild->data, wild->left, &wild->courses));
    SK_TRY(sk_record_tell_bands(job->ctx, model, sk_option_flag(job->opts, "bands"), record));
    SK_TRY(sk_equation_add(job->ctx, model, record));
    SK_TRY(sk_rate_equation_add(job->ctx, model, job->data, record));
    SK_TRY(sk_residual_lag1(job->ctx, model, job->data, wild->absorbed ? wild->step : wild->data.step,
                            &record->residual_lag1));
    record->absorbed = wild->absorbed;
    if (job->stream) tell_stream(job, record);
    SK_TRY(tell_courses(job, record));
    if (wants_check(job, wild, record)) SK_TRY(check_quickly(job, wild, model, record));
    SK_TRY(sk_record_warn(job->ctx, record));
    return sk_fit_save_record(job, record, ended, model);
}

sock_status sk_fit_tuned(sk_fit_job *job, sock_model **out)
{
    SK_TRY(refuse_plain_options(job));
    SK_TRY(check_inputs(job));
    sk_tune_spec spec = spec_of(job);
    if (spec.validation && spec.validation->d != job->data->d)
        return sk_fail(job->ctx, SOCK_EUSAGE, "the validation data have dimension %zu, the data %zu",
                       spec.validation->d, job->data->d);
    SK_TRY(is_second(job) ? sk_fit_refuse_second(job) : sk_fit_find_bounds(job));
    spec.lower = job->lower;
    spec.bounds_said = job->bounds_said;
    spec.upper = job->upper;
    sock_model *model = NULL;
    strays wild = {0};
    sk_record record;
    sk_record_init(&record);
    record.found = (sk_tune_outcome){0};
    sock_status ended = find_strays(job, &spec, &wild);
    sock_status (*const search)(sock_context *, const sk_tune_spec *, sock_model **, sk_tune_outcome *) =
        is_paper(job)    ? sk_tune_paper
        : is_second(job) ? sk_tune_inertia
                         : sk_tune;
    if (ended >= 0) ended = search(job->ctx, &spec, &model, &record.found);
    sock_status status = ended < 0 ? ended : tell(job, &wild, &record, ended, model);
    sk_record_clear(&record);
    strays_clear(&wild);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return ended;
}
