/* fitsecond.c - what does not go with order = 2: positions observed, velocities not. Each is refused with the option
 * that is in the way. */
#include "api/fitjob.h"

#include "simulate/simulate.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Options that would change nothing, or that the fit of second order does not know. */
static sock_status refuse_given(const sk_fit_job *job)
{
    static const char *const unknown[] = {"quadrature", "weights",  "correction", "polish",
                                          "average",    "substeps", "budget",     "hold"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (sk_option_is_set(job->opts, unknown[i]))
            return sk_fail(job->ctx, SOCK_EUSAGE, "%s is given; it does not go with order = 2", unknown[i]);
    return SOCK_OK;
}

/* A bound that is none is no bound. */
static sock_status refuse_bounds(const sk_fit_job *job)
{
    static const char *const keys[] = {"lower", "upper"};
    double bound[SK_SECOND_MOST_DIM];
    for (size_t i = 0; i < 2; i++) {
        SK_TRY(sk_read_bound(job->ctx, job->opts, keys[i], job->data->d, (double)INFINITY, bound));
        for (size_t k = 0; k < job->data->d; k++)
            if (isfinite(bound[k]))
                return sk_fail(job->ctx, SOCK_EUSAGE,
                               "%s is '%s'; allowed with order = 2: none (bounds and order = 2 do not go together)",
                               keys[i], sk_option_text(job->opts, keys[i]));
    }
    return SOCK_OK;
}

static sock_status refuse_values(const sk_fit_job *job)
{
    const sock_options *o = job->opts;
    if (!sk_option_flag(o, "tune"))
        return sk_fail(job->ctx, SOCK_EUSAGE, "order is 2; allowed with tune = no (--no-tune): 1");
    if (strcmp(sk_option_text(o, "preset"), "paper") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "order is 2; allowed with the paper's preset: 1");
    if (strcmp(sk_option_text(o, "noise"), "full") == 0)
        return sk_fail(job->ctx, SOCK_EUSAGE, "noise is 'full'; allowed with order = 2: auto, none, diag");
    if (sk_kernel_text_is_bounded(sk_option_text(o, "diffusion")))
        return sk_fail(job->ctx, SOCK_EUSAGE, "diffusion is '%s'; kernels that know bounds do not go with order = 2",
                       sk_option_text(o, "diffusion"));
    return SOCK_OK;
}

/* A state whose velocity would have the name of another. */
static sock_status refuse_names(const sk_fit_job *job)
{
    const sock_data *data = job->data;
    for (size_t k = 0; k < data->d; k++)
        for (size_t l = 0; l < data->d; l++)
            if (strncmp(data->state[l], "v_", 2) == 0 && strcmp(data->state[l] + 2, data->state[k]) == 0)
                return sk_fail(job->ctx, SOCK_EUSAGE,
                               "order is 2, but the data have the states %s and %s: velocities that are observed are "
                               "states of order 1; leave %s out with --state, or order",
                               data->state[k], data->state[l], data->state[l]);
    return SOCK_OK;
}

sock_status sk_fit_refuse_second(const sk_fit_job *job)
{
    const sock_data *data = job->data;
    SK_TRY(refuse_values(job));
    SK_TRY(refuse_given(job));
    if (data->inputs)
        return sk_fail(job->ctx, SOCK_EUSAGE, "input is '%s'; inputs and order = 2 do not go together yet",
                       data->input[0]);
    if (sk_option_validation(job->opts))
        return sk_fail(job->ctx, SOCK_EUSAGE, "validation data are given; allowed with order = 2: cross-validation");
    if (data->d > SK_SECOND_MOST_DIM)
        return sk_fail(job->ctx, SOCK_EUSAGE, "order is 2 and the data have %zu states; allowed: at most %d positions",
                       data->d, SK_SECOND_MOST_DIM);
    SK_TRY(refuse_bounds(job));
    return refuse_names(job);
}
