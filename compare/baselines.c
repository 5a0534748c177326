/* baselines.c - what every method should beat, and what none can: constant coefficients, and the truth. */
#include "compare/compare.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Constant coefficients ----
 *
 * Maximum likelihood of D ~ N(h f, h a) over all steps: f = sum D / sum h, a = mean of (D - h f)(D - h f)' / h. */

typedef struct constants {
    size_t d;
    double value[]; /* f, then a */
} constants;

static void constant_drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    const constants *c = user;
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(out + i * d, c->value, d * sizeof *out);
}

static void constant_diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    const constants *c = user;
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(out + i * d * d, c->value + d, d * d * sizeof *out);
}

/* Sums over all steps: pass 0 those of D and h, pass 1 those of r r' / h. Answers the number of steps. */
static size_t add_steps(const sock_data *data, int pass, double *f, double *a, double *time)
{
    size_t d = sock_data_dim(data), steps = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++, steps++, x += d) {
            double h = t[i + 1] - t[i];
            *time += pass == 0 ? h : 0;
            for (size_t k = 0; pass == 0 && k < d; k++) f[k] += x[d + k] - x[k];
            for (size_t k = 0; pass == 1 && k < d; k++)
                for (size_t l = 0; l < d; l++)
                    a[k * d + l] += (x[d + k] - x[k] - h * f[k]) * (x[d + l] - x[l] - h * f[l]) / h;
        }
    }
    return steps;
}

static sock_status fit_constant(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_fitted *out)
{
    const sock_data *data;
    sock_data *own = NULL;
    double time = 0;
    SK_TRY(cmp_training_data(ctx, spec, c, &data, &own));
    size_t d = sock_data_dim(data);
    constants *state = sk_alloc(ctx, 1, sizeof *state + (d + d * d) * sizeof(double));
    sock_status status = state ? SOCK_OK : SOCK_ENOMEM;
    out->drift = constant_drift;
    out->diffusion = constant_diffusion;
    out->state = state;
    out->free_state = sk_free;
    out->terms = out->nonzero = d + d * (d + 1) / 2;
    if (status >= 0) {
        double *f = state->value, *a = f + d;
        state->d = d;
        size_t steps = add_steps(data, 0, f, a, &time);
        for (size_t k = 0; k < d; k++) f[k] /= time;
        add_steps(data, 1, f, a, &time);
        for (size_t k = 0; k < d * d; k++) a[k] /= (double)steps;
        snprintf(out->settings, sizeof out->settings, "maximum likelihood of %zu steps, fit-on %s", steps,
                 cmp_spec_text(spec, "fit-on"));
        status = steps ? cmp_wrap(ctx, data, out) : sk_fail(ctx, SOCK_EINPUT, "the data have no interval");
    }
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

const cmp_method cmp_baseline_methods[] = {
    {"constant", "baselines", "constant f and a, by maximum likelihood", constant_parameters, fit_constant, NULL},
    {"truth", "baselines", "the truth itself: the floor of the scores", NULL, take_truth, NULL},
    {0}};
