/* lagone.c - the lag-1 correlation of what a model leaves, each step in units of its own standard deviation. The drift
 * of a step is the mean of f at its left end and where Euler's step leads, second order in h, so that what a long step
 * leaves is not taken for memory. By blocks of steps: nothing here grows with their number. */
#include "model/modelinputs.h"
#include "score/score.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 1024 };

typedef struct walk {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    const bool *skip;
    size_t *input;                         /* where the model's inputs stand in the data */
    double *z, *f, *there, *ahead, *a, *e; /* of a block, and of one step */
    double *last;                          /* d: of the step before; NaN: none */
    double product, square;
    size_t pairs;
} walk;

static double clamp(double x) { return fmin(fmax(x, -SK_LAG1_DEVIATIONS), SK_LAG1_DEVIATIONS); }

/* f of the points i .. end-1 becomes the mean drift of the steps that begin there. */
static sock_status drift_of_steps(const walk *w, size_t begin, size_t end)
{
    const sock_data *data = w->data;
    const size_t d = data->d, in = sk_model_in(w->model), count = end - begin;
    const double *x = data->x + begin * d;
    sk_inputs_join(w->model, w->input, data, begin, end, w->z);
    SK_TRY(sk_model_evaluate(w->ctx, w->model, count, w->z, w->f, w->a));
    for (size_t i = 0; i < count * d; i++) {
        const size_t at = begin + i / d;
        const double to = x[i] + (data->t[at + 1] - data->t[at]) * w->f[i];
        w->ahead[i / d * in + i % d] = isfinite(to) ? to : x[i];
    }
    for (size_t i = 0; in > d && i < count; i++)
        sk_inputs_at(w->model, w->input, data, begin + i, 1, w->ahead + i * in + d);
    SK_TRY(sk_model_evaluate(w->ctx, w->model, count, w->ahead, w->there, NULL));
    for (size_t i = 0; i < count * d; i++) w->f[i] = 0.5 * (w->f[i] + w->there[i]);
    return SOCK_OK;
}

static void add_step(walk *w, size_t at, const double *f, const double *a)
{
    const size_t d = w->data->d;
    if (w->skip && w->skip[at]) {
        for (size_t k = 0; k < d; k++) w->last[k] = (double)NAN;
        return;
    }
    const double h = sk_residual(w->data, at, f, w->e);
    for (size_t k = 0; k < d; k++) {
        const double variance = h * a[k * d + k], now = variance > 0 ? clamp(w->e[k] / sqrt(variance)) : 0;
        if (!isnan(w->last[k])) {
            w->product += now * w->last[k];
            w->pairs++;
        }
        w->square += now * now;
        w->last[k] = variance > 0 ? now : (double)NAN;
    }
}

static sock_status add_trajectory(walk *w, size_t j)
{
    const sock_data *data = w->data;
    const size_t d = data->d, steps = data->first[j + 1] > data->first[j] ? data->first[j + 1] - data->first[j] - 1 : 0;
    for (size_t k = 0; k < d; k++) w->last[k] = (double)NAN;
    for (size_t at = 0; at < steps; at += AT_ONCE) {
        const size_t begin = data->first[j] + at, count = SK_MIN(AT_ONCE, steps - at);
        SK_TRY(drift_of_steps(w, begin, begin + count));
        for (size_t i = 0; i < count; i++) add_step(w, begin + i, w->f + i * d, w->a + i * d * d);
    }
    return SOCK_OK;
}

sock_status sk_residual_lag1(sock_context *ctx, const sock_model *model, const sock_data *data, const bool *skip,
                             double *out)
{
    const size_t d = data->d;
    walk w = {.ctx = ctx, .model = model, .data = data, .skip = skip};
    w.f = sk_doubles(ctx, AT_ONCE, d);
    w.there = sk_doubles(ctx, AT_ONCE, d);
    w.ahead = sk_doubles(ctx, AT_ONCE, sk_model_in(model));
    w.z = sk_doubles(ctx, AT_ONCE, sk_model_in(model));
    w.a = sk_doubles(ctx, AT_ONCE, d * d);
    w.e = sk_doubles(ctx, d, 1);
    w.last = sk_doubles(ctx, d, 1);
    sock_status status = w.z && w.f && w.there && w.ahead && w.a && w.e && w.last ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_inputs_find(ctx, model, data, &w.input);
    for (size_t j = 0; status >= 0 && j < data->trajectories; j++) status = add_trajectory(&w, j);
    *out = w.pairs > SK_LAG1_PAIRS && w.square > 0 ? w.product / w.square : (double)NAN;
    sk_free(w.input);
    sk_free(w.z);
    sk_free(w.f);
    sk_free(w.there);
    sk_free(w.ahead);
    sk_free(w.a);
    sk_free(w.e);
    sk_free(w.last);
    return status;
}
