/* fit.c - sock_fit and its pieces. The border: it checks, runs the stages of fitjob.h in order, and hands the model
 * over or cleans up. */
#include "api/fitjob.h"

#include <math.h>
#include <string.h>

static sock_status fit_diffusion(sk_fit_job *job, sock_model *model)
{
    SK_TRY(sk_fit_residuals(job, model));
    sock_status ended = sk_fit_diffusion_term(job, NULL);
    if (ended < 0) return ended;
    sk_diffusion_term *term = job->diffusion_term;
    job->diffusion_term = NULL;
    SK_TRY(sk_model_add_diffusion(job->ctx, model, term));
    return ended;
}

/* The plain estimator and its pieces know no inputs. */
static sock_status refuse_inputs(sock_context *ctx, const sock_data *data)
{
    if (!data->inputs) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "%s: the plain estimator has no inputs; leave out %s, or let the search choose (tune = yes)",
                   data->source, data->input[0]);
}

/* What only the search does; values that say what a plain fit does anyway are taken. */
static sock_status refuse_of_search(const sk_fit_job *job)
{
    static const struct {
        const char *key, *allowed, *also;
    } only[] = {
        {"noise", "none", "auto"}, {"substeps", "1", "auto"}, {"folds", "auto", NULL}, {"budget", "auto", NULL}};
    for (size_t i = 0; i < sizeof only / sizeof *only; i++) {
        const char *given = sk_option_text(job->opts, only[i].key), *also = only[i].also;
        if (strcmp(given, only[i].allowed) != 0 && (!also || strcmp(given, also) != 0))
            return sk_fail(job->ctx, SOCK_EUSAGE,
                           "%s is '%s'; allowed with tune = no (--no-tune), which does not search: %s%s%s", only[i].key,
                           given, only[i].allowed, also ? ", " : "", also ? also : "");
    }
    return SOCK_OK;
}

/* An option that changes nothing is a mistake of whoever gave it. */
static sock_status refuse_unused(const sk_fit_job *job)
{
    bool nystrom = strcmp(sk_option_text(job->opts, "drift-form"), "nystrom") == 0 ||
                   (sk_fit_wants_diffusion(job) && strcmp(sk_option_text(job->opts, "diffusion-form"), "nystrom") == 0);
    if (sk_option_count(job->opts, "landmarks") > 0 && !nystrom)
        return sk_fail(job->ctx, SOCK_EUSAGE,
                       "landmarks is '%s', but no Nystrom form uses it; give drift-form or diffusion-form nystrom",
                       sk_option_text(job->opts, "landmarks"));
    return SOCK_OK;
}

/* Samples and sums follow the order of the rows, so a fit works on the data in an order of their own. */
static sock_status plain_fit(sk_fit_job *job, bool drift, sock_model *model, sock_status *ended)
{
    const sock_data *given = job->data;
    sock_data *sorted = NULL;
    sock_status status;
    SK_GO(sk_data_sorted(job->ctx, given, &sorted));
    if (sorted) job->data = sorted;
    SK_GO(sk_fit_find_bounds(job));
    SK_GO(sk_fit_rule(job));
    if (drift) SK_GO(sk_fit_drift(job, model));
    if (sk_fit_wants_diffusion(job)) SK_GO(*ended = fit_diffusion(job, model));
    SK_GO(sk_fit_keep_bounds(job, false, model));
    SK_GO(sk_fit_spread(job, model));
    job->data = given;
    SK_GO(sk_fit_set_info(job, model, *ended));
out:
    sock_data_free(sorted);
    return status;
}

sock_status sock_fit(sock_context *ctx, const sock_data *data, const sock_options *opts, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !out) return sk_fail(ctx, SOCK_EUSAGE, "data and output must not be NULL");
    if (sk_option_flag(opts, "stream"))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "stream is 'yes'; allowed where files are fitted, and these data are in memory");
    if (strcmp(sk_option_text(opts, "plan"), "none") != 0 || strcmp(sk_option_text(opts, "save-plan"), "none") != 0)
        return sk_fail(ctx, SOCK_EUSAGE, "plan and save-plan are for streams; these data are in memory");
    SK_TRY(sk_fit_device(ctx, opts));
    sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts, .start = sk_seconds()};
    sock_model *model = NULL;
    sock_status status, ended = SOCK_OK;
    if (sk_option_flag(opts, "tune")) {
        status = sk_fit_tuned(&job, out);
        sk_fit_release(&job);
        return status;
    }
    if (sk_option_count(opts, "order") == 2) SK_GO(sk_fit_refuse_second(&job));
    SK_GO(refuse_inputs(ctx, data));
    SK_GO(refuse_of_search(&job));
    SK_GO(refuse_unused(&job));
    SK_GO(sk_model_new(ctx, data->d, (const char *const *)data->state, &model));
    SK_GO(plain_fit(&job, true, model, &ended));
    *out = model;
    model = NULL;
    status = ended;
out:
    sock_model_free(model);
    sk_fit_release(&job);
    return status;
}

/* The drift of another model: its terms are copied; functions can only be called again. */
static sock_status take_drift(sock_context *ctx, const sock_model *drift, sock_model *model)
{
    model->wrapped_drift = drift->wrapped_drift;
    model->wrapped_user = drift->wrapped_user;
    for (size_t i = 0; i < drift->drift_terms; i++) {
        sk_drift_term *term = NULL;
        SK_TRY(sk_drift_term_copy(ctx, drift->drift[i], &term));
        SK_TRY(sk_model_add_drift(ctx, model, term));
    }
    return SOCK_OK;
}

static sock_status check_drift(sock_context *ctx, const sock_data *data, const sock_model *drift)
{
    if (!data || !drift) return sk_fail(ctx, SOCK_EUSAGE, "data and drift must not be NULL");
    if (drift->d != data->d)
        return sk_fail(ctx, SOCK_EUSAGE, "the drift has dimension %zu, the data %zu", drift->d, data->d);
    if (drift->structure->inputs)
        return sk_fail(ctx, SOCK_EUSAGE, "the drift has the input %s; a diffusion is fitted to a drift without inputs",
                       drift->structure->input[0].name);
    return refuse_inputs(ctx, data);
}

sock_status sock_fit_diffusion(sock_context *ctx, const sock_data *data, const sock_model *drift,
                               const sock_options *opts, sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(check_drift(ctx, data, drift));
    if (!out) return sk_fail(ctx, SOCK_EUSAGE, "output must not be NULL");
    sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts, .start = sk_seconds()};
    if (!sk_fit_wants_diffusion(&job)) return sk_fail(ctx, SOCK_EUSAGE, "diffusion is 'none'; give a kernel");
    if (sk_option_count(opts, "order") == 2)
        return sk_fail(ctx, SOCK_EUSAGE, "order is 2; allowed where the drift is given: 1");
    SK_TRY(sk_fit_device(ctx, opts));
    sock_model *model = NULL;
    sock_status status, ended = SOCK_OK;
    SK_GO(sk_model_new(ctx, data->d, (const char *const *)data->state, &model));
    SK_GO(take_drift(ctx, drift, model));
    SK_GO(plain_fit(&job, false, model, &ended));
    *out = model;
    model = NULL;
    status = ended;
out:
    sock_model_free(model);
    sk_fit_release(&job);
    return status;
}

sock_status sock_drift_system(sock_context *ctx, const sock_data *data, const sock_options *opts, double *L, double *dy,
                              double *alpha)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data) return sk_fail(ctx, SOCK_EUSAGE, "data must not be NULL");
    SK_TRY(refuse_inputs(ctx, data));
    SK_TRY(sk_fit_device(ctx, opts));
    sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts};
    sock_status status;
    SK_GO(sk_fit_rule(&job));
    SK_GO(sk_fit_drift_system(&job, SK_PATH_EXACT));
    if (sk_kernel_is_matrix(job.drift_kernel)) {
        status = sk_fail(ctx, SOCK_EUSAGE, "drift: L and alpha are given for scalar kernels only");
        goto out;
    }
    if (L) SK_GO(sk_occupation_gram(ctx, job.rule, job.drift_kernel, L, job.rule->n));
    if (dy) memcpy(dy, job.rule->dy, job.rule->n * job.rule->out * sizeof(double));
    if (alpha) SK_GO(sk_drift_alpha(ctx, job.drift_system, job.drift_lambda, alpha));
out:
    sk_fit_release(&job);
    return status;
}

/* Q = V V' with orthogonal columns in each problem, so |Q|^2 is the sum of the squared eigenvalues |v_j|^2. */
static double norm_of_q(const sk_diffusion_term *term)
{
    size_t rows = term->d * sk_features_count(term->map);
    double sum = 0;
    for (size_t j = 0; j < term->rank; j++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) square += term->v[i * term->rank + j] * term->v[i * term->rank + j];
        sum += square * square;
    }
    return sqrt(sum);
}

sock_status sock_diffusion_system(sock_context *ctx, const sock_data *data, const sock_model *drift,
                                  const sock_options *opts, double *z, double *beta, sock_certificate *certificate)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(check_drift(ctx, data, drift));
    SK_TRY(sk_fit_device(ctx, opts));
    sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts};
    sock_status status;
    SK_GO(sk_fit_rule(&job));
    SK_GO(sk_fit_residuals(&job, drift));
    SK_GO(sk_fit_diffusion_term(&job, beta));
    if (z) memcpy(z, job.z, job.rule->n * data->d * data->d * sizeof *z);
    const sk_diffusion_report *r = &job.diffusion_report;
    if (certificate)
        *certificate = (sock_certificate){.primal = r->primal,
                                          .dual = r->dual,
                                          .gap = r->gap,
                                          .norm_q = norm_of_q(job.diffusion_term),
                                          .features = r->features,
                                          .rank = r->rank,
                                          .iterations = r->iterations,
                                          .converged = r->converged};
out:
    sk_fit_release(&job);
    return status;
}
