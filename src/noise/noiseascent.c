/* noiseascent.c - all numbers of a short model together on the likelihood of its filter: weights of the drift, scales
 * of a, R.
 *
 * The iterations move the drift with R held, and R with the drift held. Over long steps the two say nearly the same
 * (what noise takes from the correlation of neighbours a faster drift takes too), and going to and fro is slow or ends
 * beside the maximum. Steps of Berndt, Hall, Hall and Hausman take them together: derivatives of every log density by
 * differences, the sum of their products for the information. One filter pass for each number: few numbers only. */
#include "noise/noisefit.h"
#include "noise/noiserules.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { MOST = SK_ASCENT_NUMBERS };

typedef struct ascent {
    const sk_measured *m;
    const sk_noisy *from;
    size_t weights, count; /* of the drift; of all numbers: then log s_k, log R_kk as far as there is noise */
    size_t place[MOST];    /* of the weights */
    double size[MOST];     /* of a difference */
    double *term, *moved;  /* steps */
    double *slope;         /* count x steps */
} ascent;

/* ---- The model at x: changes of the weights, logarithms ---- */

static sock_status model_at(const ascent *t, const double *x, sk_noisy *out)
{
    const sk_measured *m = t->m;
    const size_t d = m->series.d;
    const double *log_s = x + t->weights, *log_r = log_s + d;
    double scale[SK_NOISE_MOST_DIM];
    SK_TRY(sk_noisy_like(m, t->from->noise, t->from->substeps, out));
    SK_TRY(sk_add_drift_of(m->ctx, t->from->model, 1, out->model));
    for (size_t i = 0; i < t->weights; i++) out->model->drift[0]->weight[t->place[i]] += x[i];
    for (size_t k = 0; k < d; k++) scale[k] = exp(log_s[k]);
    for (size_t k = 0; out->noise && k < d * d; k++) out->noise[k] *= exp(0.5 * (log_r[k / d] + log_r[k % d]));
    return sk_add_diffusion_of(m->ctx, t->from->model, scale, out->model);
}

static sock_status score_at(const ascent *t, const double *x, sk_noisy *out, double *term)
{
    sock_status status = model_at(t, x, out);
    const sk_filter_spec spec = sk_noisy_spec(t->m, out);
    if (status >= 0) status = sk_filter(t->m->ctx, &t->m->series, &spec, &(sk_pass){.term = term});
    out->sum = 0;
    for (size_t i = 0; status >= 0 && i < t->m->series.steps; i++) out->sum += term[i];
    if (status < 0) sk_noisy_clear(out);
    return status;
}

/* ---- One step ---- */

static sock_status differentiate(const ascent *t, const double *x)
{
    const size_t n = t->m->series.steps;
    double at[MOST];
    for (size_t j = 0; j < t->count; j++) {
        sk_noisy one = {0};
        memcpy(at, x, t->count * sizeof *at);
        at[j] += t->size[j];
        SK_TRY(score_at(t, at, &one, t->moved));
        sk_noisy_clear(&one);
        for (size_t i = 0; i < n; i++) t->slope[j * n + i] = (t->moved[i] - t->term[i]) / t->size[j];
    }
    return SOCK_OK;
}

/* Logarithms move at most by a factor. */
static void cut(const ascent *t, double *step)
{
    double most = 0;
    for (size_t j = t->weights; j < t->count; j++) most = fmax(most, fabs(step[j]));
    const double cut = sk_newton_cut(most);
    for (size_t j = 0; j < t->count; j++) step[j] *= cut;
}

/* step (count) = H^-1 g; *promise: the nats that it should gain. */
static sock_status direction(const ascent *t, double *step, double *promise)
{
    const size_t n = t->m->series.steps, count = t->count;
    double h[MOST * MOST] = {0}, g[MOST] = {0};
    for (size_t j = 0; j < count; j++) {
        g[j] = 0;
        for (size_t i = 0; i < n; i++) g[j] += t->slope[j * n + i];
        for (size_t k = 0; k <= j; k++)
            h[j * count + k] = h[k * count + j] = sk_dot(n, t->slope + j * n, t->slope + k * n);
        h[j * (count + 1)] *= 1 + SK_PILOT_RIDGE;
    }
    memcpy(step, g, count * sizeof *step);
    SK_TRY(sk_cholesky(t->m->ctx, count, h, count));
    sk_cholesky_solve(t->m->ctx, count, 1, h, count, step, 1);
    *promise = 0.5 * sk_dot(count, g, step);
    cut(t, step);
    return SOCK_OK;
}

/* x goes on by the first of 1, 1/2, 1/4 .. of the step that gains; *gain: 0 where none does. */
static sock_status climb(const ascent *t, const double *step, double *x, double *sum, double *gain)
{
    double at[MOST], share = 1;
    *gain = 0;
    for (int i = 0; i < SK_ASCENT_HALVES && *gain <= 0; i++, share /= 2) {
        sk_noisy one = {0};
        for (size_t j = 0; j < t->count; j++) at[j] = x[j] + share * step[j];
        SK_TRY(score_at(t, at, &one, t->moved));
        if (one.sum > *sum) {
            *gain = one.sum - *sum;
            *sum = one.sum;
            memcpy(x, at, t->count * sizeof *x);
            memcpy(t->term, t->moved, t->m->series.steps * sizeof *t->term);
        }
        sk_noisy_clear(&one);
    }
    return SOCK_OK;
}

/* ---- All of them ---- */

/* Whether the model is short enough; then the numbers are listed. */
static bool list_numbers(const sk_noisy *now, ascent *t)
{
    const sock_model *model = now->model;
    const size_t d = model->d, logs = (now->noise ? 2 : 1) * d;
    double largest = 0;
    if (model->drift_terms != 1) return false;
    const sk_drift_term *term = model->drift[0];
    const size_t size = sk_features_count(term->map) * d;
    for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(term->weight[i]));
    for (size_t i = 0; i < size; i++) {
        if (term->weight[i] == 0) continue;
        if (!sk_ascent_is_short(t->weights + 1 + logs)) return false;
        t->size[t->weights] = sk_ascent_difference(term->weight[i], largest);
        t->place[t->weights++] = i;
    }
    t->count = t->weights + logs;
    for (size_t j = t->weights; j < t->count; j++) t->size[j] = sk_ascent_difference(1, 1); /* of a logarithm */
    return true;
}

static sock_status ascend(ascent *t, double *x, double *sum)
{
    double step[MOST], promise = INFINITY, gain = INFINITY;
    for (int i = 0; i < SK_ASCENT_PASSES && sk_ascent_goes_on(promise, gain); i++) {
        SK_TRY(differentiate(t, x));
        SK_TRY(direction(t, step, &promise));
        SK_TRY(climb(t, step, x, sum, &gain));
    }
    return SOCK_OK;
}

/* now := the model at the top, with R no less than its floor. */
static sock_status take(const ascent *t, const double *x, const double *least, sk_noisy *now)
{
    const size_t d = t->m->series.d;
    sk_noisy next = {0};
    sock_status status = model_at(t, x, &next);
    for (size_t k = 0; status >= 0 && next.noise && k < d; k++)
        next.noise[k * (d + 1)] = fmax(next.noise[k * (d + 1)], least[k]);
    if (status >= 0) status = sk_noisy_score(t->m, &next);
    if (status >= 0 && next.sum > now->sum) {
        const sk_noisy last = *now;
        *now = next;
        next = last;
    }
    sk_noisy_clear(&next);
    return status;
}

sock_status sk_noise_ascend(const sk_measured *m, const double *least, sk_noisy *now)
{
    const size_t n = m->series.steps;
    double x[MOST] = {0}, sum = 0;
    ascent t = {.m = m, .from = now};
    sk_noisy begin = {0};
    if (!list_numbers(now, &t)) return SOCK_OK;
    t.term = sk_doubles(m->ctx, n, 1);
    t.moved = sk_doubles(m->ctx, n, 1);
    t.slope = sk_doubles(m->ctx, n, t.count);
    sock_status status = t.term && t.moved && t.slope ? score_at(&t, x, &begin, t.term) : SOCK_ENOMEM;
    if (status >= 0) {
        sum = begin.sum;
        status = ascend(&t, x, &sum);
    }
    if (status >= 0) status = take(&t, x, least, now);
    sk_noisy_clear(&begin);
    sk_free(t.term);
    sk_free(t.moved);
    sk_free(t.slope);
    return sk_tolerate(status);
}
