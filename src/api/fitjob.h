/* fitjob.h - the stages of a plain fit, in order: rule, drift, residuals, diffusion. Each stage reads the options it
 * needs and leaves its result here; the public calls pick the stages they want. */
#ifndef SK_FITJOB_H
#define SK_FITJOB_H

#include "api/record.h"
#include "base/options.h"
#include "model/model.h"

typedef struct sk_fit_job {
    sock_context *ctx;
    const sock_data *data;
    const sock_options *opts;
    struct sk_stream *stream; /* the data are its sample; NULL: they are all */
    struct sk_plan *plan;     /* of a stream: in place of the search; NULL: none */
    const char *save_plan;    /* where that of this stream goes; NULL: nowhere */
    bool plan_only;           /* and no passes are made */
    double start;
    double *lower, *upper; /* d each: bounds of the states, infinite where there is none */
    bool bounds_said;      /* by the user; else they were found in the data */
    sk_rule *rule;
    /* drift */
    sk_kernel *drift_kernel;
    sk_drift_system *drift_system;
    sk_drift_report drift_report;
    double drift_lambda, drift_dof;
    /* diffusion */
    sk_kernel *diffusion_kernel;
    sk_diffusion_report diffusion_report;
    double diffusion_lambda;
    double *z;                         /* n x d x d */
    sk_diffusion_term *diffusion_term; /* given away to the model */
    const char *bands_reason;          /* why there are no bands; NULL: there are */
} sk_fit_job;

void sk_fit_release(sk_fit_job *job);

/* The rule in force: "left" or "trapezoid". */
const char *sk_fit_quadrature(const sk_fit_job *job);
sock_status sk_fit_rule(sk_fit_job *job);

/* Bounds of the states, by the options or the data (fitbounds.c); and into the model, where they are its own. */
sock_status sk_fit_find_bounds(sk_fit_job *job);
sock_status sk_fit_keep_bounds(sk_fit_job *job, bool searched, sock_model *model);

/* What does not go with order = 2, with a sentence that names the option (fitsecond.c). */
sock_status sk_fit_refuse_second(const sk_fit_job *job);

/* The options of the fit that are told of it: where plans lie is no part of what was fitted (fitinfo.c). */
sock_status sk_fit_tell_options(const sk_fit_job *job, sk_options_given *list);

/* sk_tune_spec.keep_plan, of a job (fitplan.c). */
sock_status sk_fit_save_plan(void *job, struct sk_plan *plan);

/* The option device, where it is given, for the work to come (fitinfo.c). */
sock_status sk_fit_device(sock_context *ctx, const sock_options *opts);

/* Where what a stream needs on the disk is made (fitstream.c). */
const char *sk_scratch_folder(const sock_options *opts);

/* The tuned estimator, in place of all the stages below. */
sock_status sk_fit_tuned(sk_fit_job *job, sock_model **out);

/* The drift's kernel, lambda and system; path: SK_PATH_AUTO follows the option. */
sock_status sk_fit_drift_system(sk_fit_job *job, sk_path path);

/* The drift as a term of the model. */
sock_status sk_fit_drift(sk_fit_job *job, sock_model *model);

/* z from the model's drift; then the convex problem. beta: n x d x d or NULL. Positive: stopped before the tolerance.
 */
sock_status sk_fit_residuals(sk_fit_job *job, const sock_model *drift);
sock_status sk_fit_diffusion_term(sk_fit_job *job, double *beta);
bool sk_fit_wants_diffusion(const sk_fit_job *job);

/* How far f and a of a plain fit can be trusted, into the model, where that can be told (fitspread.c). */
sock_status sk_fit_spread(sk_fit_job *job, sock_model *model);

/* Intervals of all groups; of a stream all its steps. */
size_t sk_fit_intervals(const sk_fit_job *job);

/* Everything that is known about a plain fit, into the model. ended: how. */
sock_status sk_fit_set_info(sk_fit_job *job, sock_model *model, sock_status ended);

/* Adds to the record what any fit tells (data, options, version, seconds), and writes it into the model. */
sock_status sk_fit_save_record(const sk_fit_job *job, sk_record *record, sock_status ended, sock_model *model);

#endif
