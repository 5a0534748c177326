/* baselines.c - what every method should beat, and what none can: constant coefficients, means of neighbours, and the
 * truth. */
#include "compare/compare.h"

#include "compare/kernelmean.h"
#include "occupation/residuals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Constant coefficients ----
 *
 * Maximum likelihood of D ~ N(h f, h a) over all steps: f = sum D / sum h, a = mean of (D - h f)(D - h f)' / h. */

/* The state of a model of constants is f (d), then a (d x d). */

static void constant_drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(out + i * d, user, d * sizeof *out);
}

static void constant_diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    const double *a = (const double *)user + d;
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(out + i * d * d, a, d * d * sizeof *out);
}

/* Sums over all steps with residuals e (d) of the drift f: of them, of h, and of e e' / h. Answers the number of steps.
 */
static size_t add_steps(const sock_data *data, const double *f, double *e, double *sum, double *square, double *time)
{
    size_t d = sock_data_dim(data), steps = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++, steps++, x += d) {
            const double h = t[i + 1] - t[i];
            sk_residual_euler(d, h, x, x + d, f, e);
            *time += h;
            for (size_t k = 0; k < d; k++) sum[k] += e[k];
            for (size_t k = 0; k < d * d; k++) square[k] += e[k / d] * e[k % d] / h;
        }
    }
    return steps;
}

/* Of f and of the upper triangle of a. */
static size_t constants_not_zero(size_t d, const double *f, const double *a)
{
    size_t found = 0;
    for (size_t k = 0; k < d; k++) {
        found += f[k] != 0;
        for (size_t l = k; l < d; l++) found += a[k * d + l] != 0;
    }
    return found;
}

static sock_status fit_constant(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    const sock_data *data;
    sock_data *own = NULL;
    double time = 0, again = 0;
    SK_TRY(cmp_training_data(ctx, spec, c, &data, &own));
    size_t d = sock_data_dim(data);
    double *state = sk_doubles(ctx, d + d * d, 1), *space = sk_doubles(ctx, 3 * d + d * d, 1);
    sock_status status = state && space ? SOCK_OK : SOCK_ENOMEM;
    out->drift = constant_drift;
    out->diffusion = constant_diffusion;
    out->state = state;
    out->free_state = sk_free;
    out->terms = d + d * (d + 1) / 2;
    if (status >= 0) {
        double *f = state, *a = f + d, *none = space, *e = none + d, *sum = e + d, *square = sum + d;
        size_t steps = add_steps(data, none, e, sum, square, &time);
        for (size_t k = 0; k < d; k++) f[k] = sum[k] / time;
        add_steps(data, f, e, sum, a, &again);
        for (size_t k = 0; k < d * d; k++) a[k] /= (double)steps;
        out->nonzero = constants_not_zero(d, f, a);
        snprintf(out->settings, sizeof out->settings, "maximum likelihood of %zu steps, fit-on %s", steps,
                 cmp_spec_text(spec, "fit-on"));
        status = steps ? cmp_wrap(ctx, data, out) : sk_fail(ctx, SOCK_EINPUT, "the data have no interval");
    }
    sk_free(space);
    sock_data_free(own);
    return status;
}

/* ---- Means of neighbours ---- */

static void say_bandwidths(const cmp_spec *spec, size_t d, const double *f, const double *a, char *buffer)
{
    int used = snprintf(buffer, CMP_TEXT_SIZE, "bandwidths of f");
    for (size_t k = 0; k < d; k++) used += snprintf(buffer + used, 40, " %.3g", f[k]);
    used += snprintf(buffer + used, 40, ", of a");
    for (size_t k = 0; k < d; k++) used += snprintf(buffer + used, 40, " %.3g", a[k]);
    snprintf(buffer + used, 80, " (%s); fit-on %s",
             strcmp(cmp_spec_text(spec, "bandwidth"), "auto") != 0 ? "given"
             : cmp_spec_is(spec, "choose", "cv")                   ? "by cross-validation"
                                                                   : "by Scott's rule",
             cmp_spec_text(spec, "fit-on"));
}

static sock_status fit_means(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    const sock_data *data;
    sock_data *own = NULL;
    cmp_steps *steps = NULL;
    cmp_mean *mean = NULL;
    double f[CMP_MEAN_MOST_DIM], a[CMP_MEAN_MOST_DIM];
    const cmp_mean_options options = {cmp_spec_number(spec, "bandwidth"), cmp_spec_is(spec, "choose", "cv")};
    size_t d = sock_data_dim(c->train);
    sock_status status;
    if (d > CMP_MEAN_MOST_DIM)
        return sk_fail(ctx, SOCK_EUSAGE, "means of neighbours are made in up to %d dimensions; the data have %zu",
                       CMP_MEAN_MOST_DIM, d);
    SK_GO(cmp_training_data(ctx, spec, c, &data, &own));
    SK_GO(cmp_steps_new(ctx, data, &steps));
    SK_GO(cmp_mean_fit(ctx, steps, &options, &mean, f, a));
    out->drift = cmp_mean_drift;
    out->diffusion = cmp_mean_diffusion;
    out->state = mean;
    out->free_state = cmp_mean_free;
    say_bandwidths(spec, d, f, a, out->settings);
    status = cmp_wrap(ctx, data, out);
out:
    cmp_steps_free(steps);
    sock_data_free(own);
    return status;
}

/* ---- The truth ---- */

static sock_status take_truth(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    (void)spec;
    if (!c->truth) return sk_fail(ctx, SOCK_EINPUT, "no truth is given");
    snprintf(out->settings, sizeof out->settings, "the f and a that made the data");
    out->model = c->truth;
    return SOCK_OK;
}

static const cmp_parameter constant_parameters[] = {CMP_FIT_ON("all"), {0}};
static const cmp_parameter mean_parameters[] = {
    {"bandwidth", "auto", CMP_NUMBER, 1e-12, 1e12, "a number from 1e-12 to 1e12, or auto",
     "of both fields, in the data's units"},
    {"choose", "cv", CMP_CHOICE, 0, 0, "cv|rule", "auto bandwidths by cross-validation, or by Scott's rule"},
    CMP_FIT_ON("all"),
    {0}};

const cmp_method cmp_baseline_methods[] = {
    {"constant", "baselines", "constant f and a, by maximum likelihood", constant_parameters, fit_constant, NULL},
    {"nw", "baselines", "Nadaraya-Watson means of the steps nearby (Kramers-Moyal), up to 3 dimensions",
     mean_parameters, fit_means, NULL},
    {"truth", "baselines", "the truth itself: the floor of the scores", NULL, take_truth, NULL},
    {0}};
