/* substeps.c - how many substeps a data set needs under a model; see flow.h. */
#include "model/flow.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 64 }; /* starts; speed only */

/* Means (count x d) and covariances (count x d x d) at the ends of the steps. */
typedef struct law {
    double *mean, *cov;
} law;

static sock_status law_new(sock_context *ctx, size_t count, size_t d, law *out)
{
    *out = (law){sk_doubles(ctx, count, d), sk_doubles(ctx, count, d * d)};
    return out->mean && out->cov ? SOCK_OK : SOCK_ENOMEM;
}

static void law_free(law *l)
{
    sk_free(l->mean);
    sk_free(l->cov);
}

static sock_status follow(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                          const sk_substeps_ask *ask, sk_substeps substeps, const law *out)
{
    const size_t d = model->d;
    sk_flow_spec spec = *ask->spec;
    sk_flow *flow = NULL;
    spec.substeps = substeps;
    SK_TRY(sk_flow_new(ctx, model, sampler, &spec, AT_ONCE, &flow));
    for (size_t at = 0; at < ask->count; at += AT_ONCE) {
        const sk_flow_starts starts = {SK_MIN(ask->count - at, (size_t)AT_ONCE), ask->x + at * d, NULL, ask->h + at};
        const sk_flow_ends ends = {.mean = out->mean + at * d, .cov = out->cov + at * d * d};
        sk_flow_run(ctx, flow, &starts, &ends);
    }
    sk_flow_free(flow);
    return SOCK_OK;
}

/* How far the means of step i are apart, root mean square over the coordinates in units of their standard deviations.
 */
static double mean_distance(const sk_substeps_ask *ask, size_t d, const law *a, const law *b, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        const double variance = b->cov[(i * d + k) * d + k] + (ask->noise ? ask->noise[k * d + k] : 0);
        sum += pow(a->mean[i * d + k] - b->mean[i * d + k], 2) / variance;
    }
    return sqrt(sum / (double)d);
}

static double cov_distance(const sk_substeps_ask *ask, size_t d, const law *a, const law *b, size_t i)
{
    double difference = 0, size = 0;
    for (size_t k = 0; k < d * d; k++) {
        const double v = b->cov[i * d * d + k];
        difference += pow(a->cov[i * d * d + k] - v, 2);
        size += pow(v + (ask->noise ? ask->noise[k] : 0), 2);
    }
    return sqrt(difference / size);
}

bool sk_substeps_too_few(size_t far, size_t asked) { return (double)far > SK_SUBSTEPS_FEW * (double)asked; }

/* Whether too many steps are further apart than the tolerances; what is not finite is. */
static bool differ(const sk_substeps_ask *ask, size_t d, const law *a, const law *b, double mean, double cov)
{
    size_t means = 0, covs = 0;
    for (size_t i = 0; i < ask->count; i++) {
        means += !(mean_distance(ask, d, a, b, i) < mean);
        covs += !(cov_distance(ask, d, a, b, i) < cov);
    }
    return sk_substeps_too_few(SK_MAX(means, covs), ask->count);
}

static double within(double value) { return fmin(fmax(value, SK_SUBSTEPS_FINE), SK_SUBSTEPS_COARSE); }

/* Standard errors of the moments by which the laws of s and of 2 s substeps may differ. */
static double errors_allowed(size_t s) { return s < SK_SURELY_LONG ? SK_SUBSTEPS_ERRORS : SK_SUBSTEPS_ERRORS_LONG; }

double sk_substeps_mean_allowed(size_t steps, size_t s) { return within(errors_allowed(s) / sqrt((double)steps)); }

double sk_substeps_cov_allowed(size_t steps, size_t s) { return within(errors_allowed(s) * sqrt(2 / (double)steps)); }

bool sk_substeps_may_double(size_t s) { return s < SK_SUBSTEPS_MOST; }

sock_status sk_substeps_choose(sock_context *ctx, const sock_model *model, const sk_substeps_ask *ask, sk_substeps *out)
{
    const size_t d = model->d;
    law a = {0}, b = {0};
    const sk_sampler *sampler = ask->sampler;
    sk_sampler *own = NULL;
    sk_substeps s = {SK_MAX(ask->least.count, 1), false};
    sock_status status;
    if (!sampler) {
        SK_GO(sk_sampler_new(ctx, model, &own));
        sampler = own;
    }
    SK_GO(law_new(ctx, ask->count, d, &a));
    SK_GO(law_new(ctx, ask->count, d, &b));
    SK_GO(follow(ctx, model, sampler, ask, s, &a));
    for (; sk_substeps_may_double(s.count); s.count *= 2) {
        SK_GO(follow(ctx, model, sampler, ask, (sk_substeps){2 * s.count, false}, &b));
        if (!differ(ask, d, &a, &b, sk_substeps_mean_allowed(ask->steps, s.count),
                    sk_substeps_cov_allowed(ask->steps, s.count)))
            break;
        const law last = a;
        a = b;
        b = last;
    }
    if (s.count > 1) {
        SK_GO(follow(ctx, model, sampler, ask, (sk_substeps){s.count, true}, &b));
        s.split = differ(ask, d, &a, &b, (double)INFINITY, 2 * sk_substeps_cov_allowed(ask->steps, 1));
    }
    *out = s;
out:
    law_free(&a);
    law_free(&b);
    sk_sampler_free(own);
    return status;
}
