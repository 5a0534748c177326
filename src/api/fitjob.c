/* fitjob.c - the stages of a plain fit: options become specifications, the rooms compute. */
#include "api/fitjob.h"

#include "occupation/bounds.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

void sk_fit_release(sk_fit_job *job)
{
    sk_drift_system_free(job->drift_system);
    sk_rule_free(job->rule);
    sk_kernel_free(job->drift_kernel);
    sk_kernel_free(job->diffusion_kernel);
    sk_diffusion_term_free(job->diffusion_term);
    sk_free(job->z);
    sk_free(job->lower);
    sk_free(job->upper);
}

static const char *text(const sk_fit_job *job, const char *key) { return sk_option_text(job->opts, key); }

static sk_form form_of(const char *word)
{
    return strcmp(word, "implicit") == 0   ? SK_FORM_IMPLICIT
           : strcmp(word, "explicit") == 0 ? SK_FORM_EXPLICIT
           : strcmp(word, "nystrom") == 0  ? SK_FORM_NYSTROM
                                           : SK_FORM_AUTO;
}

static sk_path path_of(const char *word)
{
    return strcmp(word, "pivoted") == 0 ? SK_PATH_PIVOTED : strcmp(word, "exact") == 0 ? SK_PATH_EXACT : SK_PATH_AUTO;
}

static const char *kernel_text(const sk_fit_job *job, const char *key)
{
    const char *value = text(job, key);
    return strcmp(value, "auto") == 0 ? "gauss" : value;
}

const char *sk_fit_quadrature(const sk_fit_job *job)
{
    const char *value = text(job, "quadrature");
    return strcmp(value, "auto") == 0 ? "left" : value;
}

sock_status sk_fit_rule(sk_fit_job *job)
{
    SK_TRY(sk_progress(job->ctx, "quadrature", -1));
    if (strcmp(sk_fit_quadrature(job), "conditional") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "quadrature is 'conditional', which needs tuning; allowed without it: trapezoid, left");
    return sk_rule_new(job->ctx, job->data, sk_fit_quadrature(job), &job->rule);
}

/* ---- Drift ---- */

static sock_status parse_drift_kernel(sk_fit_job *job)
{
    void *user = NULL;
    sock_matrix_kernel_fn own = sk_option_drift_kernel(job->opts, &user);
    if (own) return sk_kernel_from_callback(job->ctx, own, user, &job->drift_kernel);
    SK_TRY(sk_kernel_parse(job->ctx, "drift", kernel_text(job, "drift"), &job->drift_kernel));
    return sk_kernel_is_bounded(job->drift_kernel) ? sk_form_check(job->ctx, "drift", job->drift_kernel, SK_FORM_AUTO)
                                                   : SOCK_OK;
}

/* A natural unit of 0 (all data at the origin of a linear kernel) leaves only the number itself. */
static double natural_lambda(double unit)
{
    return unit > 0 && isfinite(unit) ? SK_PLAIN_LAMBDA * unit : SK_PLAIN_LAMBDA;
}

sock_status sk_fit_drift_system(sk_fit_job *job, sk_path path)
{
    sock_context *ctx = job->ctx;
    const sk_rule *rule = job->rule;
    SK_TRY(parse_drift_kernel(job));
    SK_TRY(sk_kernel_resolve(ctx, "drift", job->drift_kernel, rule->in, rule->nodes, rule->x));
    job->drift_lambda = sk_option_number(job->opts, "drift-lambda");
    if (isnan(job->drift_lambda)) {
        double unit;
        SK_TRY(sk_drift_unit(ctx, rule, job->drift_kernel, &unit));
        job->drift_lambda = natural_lambda(unit);
    }
    sk_drift_spec spec = {.kernel = job->drift_kernel,
                          .form = form_of(text(job, "drift-form")),
                          .path = path != SK_PATH_AUTO ? path : path_of(text(job, "drift-path")),
                          .landmarks = sk_option_count(job->opts, "landmarks"),
                          .seed = sk_option_count(job->opts, "seed"),
                          .lambda = job->drift_lambda};
    return sk_drift_system_new(ctx, rule, &spec, &job->drift_system);
}

sock_status sk_fit_drift(sk_fit_job *job, sock_model *model)
{
    sk_drift_term *term = NULL;
    SK_TRY(sk_fit_drift_system(job, SK_PATH_AUTO));
    SK_TRY(sk_drift_solve(job->ctx, job->drift_system, 1, &job->drift_lambda, &term, &job->drift_dof));
    job->drift_report = sk_drift_system_report(job->drift_system);
    if (!sk_drift_system_features(job->drift_system)) { /* its n x n numbers are not needed any more */
        sk_drift_system_free(job->drift_system);
        job->drift_system = NULL;
    }
    return sk_model_add_drift(job->ctx, model, term);
}

/* ---- Diffusion ---- */

bool sk_fit_wants_diffusion(const sk_fit_job *job) { return strcmp(text(job, "diffusion"), "none") != 0; }

sock_status sk_fit_residuals(sk_fit_job *job, const sock_model *drift)
{
    sock_context *ctx = job->ctx;
    const sock_data *data = job->data;
    double *f = sk_doubles(ctx, data->points, data->d);
    job->z = sk_doubles(ctx, job->rule->n, data->d * data->d);
    sock_status status = f && job->z ? sk_progress(ctx, "residuals", -1) : SOCK_ENOMEM;
    if (status >= 0) status = sk_model_evaluate(ctx, drift, data->points, data->x, f, NULL);
    if (status >= 0) status = sk_residual_products(ctx, data, sk_fit_quadrature(job), f, job->z);
    for (size_t i = 0; status >= 0 && i < job->rule->n * data->d * data->d; i++)
        if (!isfinite(job->z[i]))
            status = sk_fail(ctx, SOCK_ENUMERIC,
                             "the residuals of the drift are beyond the range of numbers: rescale the data");
    sk_free(f);
    return status;
}

static sk_psd_options solver_options(const sk_fit_job *job)
{
    double seconds = sk_option_number(job->opts, "max-seconds");
    return (sk_psd_options){.solver = text(job, "solver"),
                            .tolerance = sk_option_number(job->opts, "tolerance"),
                            .max_iterations = sk_option_count(job->opts, "max-iterations"),
                            .seconds = isnan(seconds) ? 0 : seconds,
                            .no_compression = strcmp(text(job, "compression"), "no") == 0};
}

/* Of a kernel that knows bounds; *out stays NULL for others. */
static sock_status bounds_of_kernel(sk_fit_job *job, sk_bounds **out)
{
    const sk_rule *rule = job->rule;
    if (!sk_kernel_is_bounded(job->diffusion_kernel)) return SOCK_OK;
    if (!job->lower) SK_TRY(sk_fit_find_bounds(job));
    SK_TRY(sk_bounds_new(job->ctx, rule->in, job->lower, job->upper, rule->nodes, rule->x, out));
    if (!*out)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "diffusion is '%s', which needs a state with a bound, and none has one; give lower or upper",
                       text(job, "diffusion"));
    sk_kernel_set_sides(job->diffusion_kernel, (*out)->sides);
    return SOCK_OK;
}

static sock_status solve_diffusion(sk_fit_job *job, const sk_bounds *bounds, double *beta)
{
    sock_context *ctx = job->ctx;
    const sk_rule *rule = job->rule;
    SK_TRY(sk_kernel_resolve(ctx, "diffusion", job->diffusion_kernel, rule->in, rule->nodes, rule->x));
    job->diffusion_lambda = sk_option_number(job->opts, "diffusion-lambda");
    sk_diffusion_spec spec = {.kernel = job->diffusion_kernel,
                              .origin = bounds ? bounds->origin : NULL,
                              .scale = bounds ? bounds->scale : NULL,
                              .form = form_of(text(job, "diffusion-form")),
                              .diagonal = sk_option_flag(job->opts, "diagonal"),
                              .landmarks = sk_option_count(job->opts, "landmarks"),
                              .max_rank = sk_option_count(job->opts, "diffusion-rank"),
                              .seed = sk_option_count(job->opts, "seed"),
                              .lambda = isnan(job->diffusion_lambda) ? 0 : job->diffusion_lambda,
                              .solver = solver_options(job)};
    sk_diffusion_system *system = NULL;
    SK_TRY(sk_diffusion_system_new(ctx, rule, job->z, &spec, &system));
    if (isnan(job->diffusion_lambda)) job->diffusion_lambda = natural_lambda(sk_diffusion_unit(system));
    sock_status status =
        sk_diffusion_solve(ctx, system, 1, &job->diffusion_lambda, &job->diffusion_term, &job->diffusion_report, beta);
    sk_diffusion_system_free(system);
    return status;
}

sock_status sk_fit_diffusion_term(sk_fit_job *job, double *beta)
{
    sk_bounds *bounds = NULL;
    SK_TRY(sk_kernel_parse(job->ctx, "diffusion", kernel_text(job, "diffusion"), &job->diffusion_kernel));
    sock_status status = bounds_of_kernel(job, &bounds);
    if (status >= 0) status = solve_diffusion(job, bounds, beta);
    sk_bounds_free(bounds);
    return status;
}
