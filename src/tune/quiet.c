/* quiet.c - see quiet.h. Means of the residuals by a Runge-Kutta step of the drift, J by central differences, the
 * integral by Gauss-Legendre with exp(J s) to third order. */
#include "tune/quiet.h"

#include "data/samples.h"
#include "model/modelinputs.h"
#include "tune/clocks.h"
#include "tune/policy.h"
#include "tune/scaling.h"

#include <math.h>
#include <string.h>

typedef struct hush {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    size_t d, in, n;
    size_t *input;        /* where the model's inputs stand in the data */
    size_t *point;        /* n: where the steps begin that are looked at */
    double *e;            /* n x d: residuals */
    double *jacobian;     /* n x d x d */
    double *a;            /* n x d x d */
    double *spread;       /* d */
    sk_quiet_squares *of; /* d */
    bool *quiet;          /* d */
} hush;

/* What is left of residuals by rounding alone turns back at the next step: its correlation there is -1/2. */
static bool turns_back(const sk_quiet_squares *s)
{
    return s->pairs >= SK_QUIET_PAIRS && -s->next >= SK_QUIET_TURNED * (s->residual - s->passed_on);
}

/* The share (h / 2)^2 J a h J' over the J a J' h^3 / 3 that is passed on. */
static const double BEFOREHAND = 0.75; /* by theory */

/* What others' noise explains beforehand is 3/4 of what it does over the step. */
static bool goes_with_others(const sk_quiet_squares *s)
{
    return s->residual - s->apart >= SK_QUIET_FOLLOWED * BEFOREHAND * s->passed_on;
}

bool sk_is_quiet(const sk_quiet_squares *s)
{
    const double passed = SK_QUIET_SHARE * s->passed_on, least = SK_QUIET_LEAST * s->increment;
    const double rounding = s->grain * s->grain / 3;
    if (s->residual <= least) return true;
    if (s->residual > passed + rounding + least) return false;
    if (s->residual > passed + least && !turns_back(s)) return false;
    return s->residual <= rounding + least || goes_with_others(s);
}

static sock_status prepare(hush *w, const bool *skip)
{
    const sock_data *data = w->data;
    const size_t d = data->d;
    size_t usable = 0, stride, seen = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) usable += !skip || !skip[i];
    stride = SK_MAX(1, usable / sk_quiet_rows(d));
    w->d = d;
    w->in = sk_model_in(w->model);
    SK_TRY(sk_inputs_find(w->ctx, w->model, data, &w->input));
    w->point = sk_alloc(w->ctx, usable / stride + 2, sizeof *w->point);
    w->spread = sk_doubles(w->ctx, d, 1);
    w->of = sk_alloc(w->ctx, d, sizeof *w->of);
    w->quiet = sk_alloc(w->ctx, d, sizeof *w->quiet);
    if (!w->point || !w->spread || !w->of || !w->quiet) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++) /* neighbours, two by two */
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
            if ((!skip || !skip[i]) && seen++ / 2 % stride == 0) w->point[w->n++] = i;
    w->e = sk_doubles(w->ctx, w->n, d);
    w->jacobian = sk_doubles(w->ctx, w->n, d * d);
    w->a = sk_doubles(w->ctx, w->n, d * d);
    return w->e && w->jacobian && w->a ? SOCK_OK : SOCK_ENOMEM;
}

static void release(hush *w)
{
    sk_free(w->input);
    sk_free(w->point);
    sk_free(w->spread);
    sk_free(w->of);
    sk_free(w->quiet);
    sk_free(w->e);
    sk_free(w->jacobian);
    sk_free(w->a);
}

static double length_of(const hush *w, size_t i) { return w->data->t[w->point[i] + 1] - w->data->t[w->point[i]]; }

/* Where the steps begin, and the inputs there. */
static void starts(const hush *w, double *z)
{
    for (size_t i = 0; i < w->n; i++)
        sk_inputs_join(w->model, w->input, w->data, w->point[i], w->point[i] + 1, z + i * w->in);
}

/* e = next - y - one step of Runge and Kutta, of fourth order. */
static sock_status find_residuals(hush *w)
{
    static const double ahead[] = {0, 0.5, 0.5, 1}, weight[] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    const size_t size = w->n * w->d;
    const size_t d = w->d, in = w->in;
    double *x = sk_doubles(w->ctx, w->n, in), *y = sk_doubles(w->ctx, w->n, in), *f = sk_doubles(w->ctx, size, 1);
    sock_status status = x && y && f ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) starts(w, y);
    for (size_t i = 0; status >= 0 && i < size; i++)
        w->e[i] = w->data->x[(w->point[i / d] + 1) * d + i % d] - y[i / d * in + i % d];
    for (size_t stage = 0; status >= 0 && stage < 4; stage++) {
        for (size_t i = 0; i < size; i++) {
            const size_t at = i / d * in + i % d;
            const double to = y[at] + ahead[stage] * length_of(w, i / d) * f[i];
            x[at] = isfinite(to) ? to : y[at];
        }
        for (size_t i = 0; in > d && i < w->n; i++)
            sk_inputs_at(w->model, w->input, w->data, w->point[i], ahead[stage], x + i * in + d);
        status = sk_model_evaluate(w->ctx, w->model, w->n, x, f, stage ? NULL : w->a);
        for (size_t i = 0; status >= 0 && i < size; i++) w->e[i] -= weight[stage] * length_of(w, i / w->d) * f[i];
    }
    sk_free(x);
    sk_free(y);
    sk_free(f);
    return status;
}

static sock_status find_jacobians(hush *w)
{
    const size_t d = w->d, size = w->n * d;
    double *x = sk_doubles(w->ctx, w->n, w->in), *up = sk_doubles(w->ctx, size, 1), *down = sk_doubles(w->ctx, size, 1);
    sock_status status = x && up && down ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        const double reach = SK_REACH * (w->spread[k] > 0 ? w->spread[k] : 1);
        for (int side = 0; side < 2 && status >= 0; side++) {
            starts(w, x);
            for (size_t i = 0; i < w->n; i++) x[i * w->in + k] += side ? -reach : reach;
            status = sk_model_evaluate(w->ctx, w->model, w->n, x, side ? down : up, NULL);
        }
        for (size_t i = 0; status >= 0 && i < size; i++) w->jacobian[i * d + k] = (up[i] - down[i]) / (2 * reach);
    }
    sk_free(x);
    sk_free(up);
    sk_free(down);
    return status;
}

static void find_squares(hush *w)
{
    const size_t d = w->d;
    memset(w->of, 0, d * sizeof *w->of);
    for (size_t k = 0; k < d; k++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < w->n; i++) {
            const double *x = w->data->x + w->point[i] * d + k, e = w->e[i * d + k];
            mean += x[0] / (double)w->n;
            w->of[k].residual += e * e / (double)w->n;
            w->of[k].increment += (x[d] - x[0]) * (x[d] - x[0]) / (double)w->n;
        }
        for (size_t i = 0; i < w->n; i++) square += pow(w->data->x[w->point[i] * d + k] - mean, 2) / (double)w->n;
        w->spread[k] = sqrt(square);
    }
}

/* Rows k of J, J^2 and J^3: power (3 x d). */
static void powers_of(size_t d, size_t k, const double *jacobian, double *power)
{
    memset(power, 0, 3 * d * sizeof *power);
    memcpy(power, jacobian + k * d, d * sizeof *power);
    for (size_t order = 1; order < 3; order++) {
        const double *last = power + (order - 1) * d;
        double *next = power + order * d;
        for (size_t l = 0; l < d; l++)
            for (size_t m = 0; last[l] != 0 && m < d; m++) next[m] += last[l] * jacobian[l * d + m];
    }
}

/* Row k of exp(J s) to third order. */
static void row_of_flow(size_t d, size_t k, const double *power, double s, double *row)
{
    const double term[3] = {s, s * s / 2, s * s * s / 6};
    memset(row, 0, d * sizeof *row);
    row[k] = 1;
    for (size_t order = 0; order < 3; order++)
        for (size_t m = 0; m < d; m++) row[m] += term[order] * power[order * d + m];
}

/* r a r' without the quiet states and k. */
static double passed(const hush *w, size_t k, const double *a, bool diagonal, const double *row)
{
    const size_t d = w->d;
    double sum = 0;
    for (size_t l = 0; l < d; l++)
        for (size_t m = diagonal ? l : 0; m < (diagonal ? l + 1 : d); m++)
            if (l != k && m != k && !w->quiet[l] && !w->quiet[m]) sum += row[l] * a[l * d + m] * row[m];
    return sum;
}

/* Mean over the steps of what the noise of others does to state k. space: 4 d. */
static double passed_on(const hush *w, size_t k, double *space)
{
    static const double node[] = {0.11270166537925831, 0.5, 0.88729833462074169},
                        weight[] = {5 / 18.0, 4 / 9.0, 5 / 18.0}; /* Gauss and Legendre, by theory */
    const size_t d2 = w->d * w->d;
    double total = 0;
    for (size_t i = 0; i < w->n; i++) {
        const bool diagonal = sk_is_diagonal(w->d, w->a + i * d2);
        powers_of(w->d, k, w->jacobian + i * d2, space + w->d);
        for (size_t q = 0; q < 3; q++) {
            row_of_flow(w->d, k, space + w->d, node[q] * length_of(w, i), space);
            total += weight[q] * length_of(w, i) * passed(w, k, w->a + i * d2, diagonal, space) / (double)w->n;
        }
    }
    return total;
}

/* Mean squares of what is left of the residuals of state k when those of the others have said what they can, h / 2
 * J_kl e_l of each: of noise that is passed on 1/4 is left, of noise of its own more than there was. */
static double apart(const hush *w, size_t k)
{
    const size_t d = w->d;
    double sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        double left = w->e[i * d + k];
        for (size_t l = 0; l < d; l++)
            if (l != k && !w->quiet[l])
                left -= length_of(w, i) / 2 * w->jacobian[(i * d + k) * d + l] * w->e[i * d + l];
        sum += left * left / (double)w->n;
    }
    return sum;
}

/* The mean product of residuals of state k at neighbouring steps. */
static void find_neighbours(const hush *w, size_t k, sk_quiet_squares *s)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < w->n; i++) {
        if (w->point[i + 1] != w->point[i] + 1) continue;
        sum += w->e[i * w->d + k] * w->e[(i + 1) * w->d + k];
        s->pairs++;
    }
    s->next = s->pairs ? sum / (double)s->pairs : 0;
}

/* Whether a step is short for the system: h |J|, in units of the spreads of the states, no more than 1. Beyond, h^3
 * cannot be told from h, nor is one Runge-Kutta step its mean. */
static bool is_short(const hush *w, size_t i)
{
    const size_t d = w->d;
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t l = 0; w->spread[k] > 0 && l < d; l++)
            sum += fabs(w->jacobian[(i * d + k) * d + l]) * w->spread[l] / w->spread[k];
        if (!(length_of(w, i) * sum <= SK_QUIET_LONGEST)) return false;
    }
    return true;
}

static void drop_long_steps(hush *w)
{
    const size_t d = w->d;
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!is_short(w, i)) continue;
        w->point[kept] = w->point[i];
        memmove(w->e + kept * d, w->e + i * d, d * sizeof *w->e);
        memmove(w->jacobian + kept * d * d, w->jacobian + i * d * d, d * d * sizeof *w->e);
        memmove(w->a + kept * d * d, w->a + i * d * d, d * d * sizeof *w->e);
        kept++;
    }
    w->n = kept;
}

/* States that the drift leaves nothing of, over steps of any length. */
static void find_exact(hush *w)
{
    for (size_t k = 0; k < w->d; k++)
        w->quiet[k] = w->quiet[k] || w->of[k].residual <= SK_QUIET_LEAST * w->of[k].increment;
}

/* A state that is quiet passes nothing on by itself, so that others are looked at again until none is new. */
static sock_status find_quiet(hush *w)
{
    double *space = sk_doubles(w->ctx, 4, w->d);
    if (!space) return SOCK_ENOMEM;
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 0; k < w->d; k++) {
            if (w->quiet[k]) continue;
            w->of[k].passed_on = passed_on(w, k, space);
            w->of[k].apart = apart(w, k);
            if (!sk_is_quiet(&w->of[k])) continue;
            w->quiet[k] = again = true;
        }
    }
    sk_free(space);
    return SOCK_OK;
}

/* Of steps that are short. */
static sock_status find_passive(hush *w, const sk_tune_outcome *told)
{
    find_squares(w);
    for (size_t k = 0; k < w->d; k++) {
        if (told->grain.count) w->of[k].grain = told->grain.value[k];
        find_neighbours(w, k, &w->of[k]);
    }
    return find_quiet(w);
}

/* ---- Silence ---- */

static sock_status silence(sock_context *ctx, const bool *quiet, sock_model *model)
{
    const size_t d = model->d;
    if (model->floor > 0) SK_TRY(sk_floor_as_term(ctx, NULL, model));
    for (size_t i = 0; i < model->diffusion_terms; i++) {
        sk_diffusion_term *term = model->diffusion[i];
        const size_t block = sk_features_count(term->map) * term->rank;
        for (size_t j = 0; j < d * block; j++)
            if (quiet[j / block]) term->v[j] = 0;
    }
    if (!model->spread) return SOCK_OK;
    sk_spread_silence(model, quiet);
    for (size_t i = 0; i < model->spread->peers; i++) SK_TRY(silence(ctx, quiet, model->spread->peer[i]));
    return SOCK_OK;
}

/* Clocks are quiet whatever the residuals say, unless all states are. */
static sock_status find_clocks(hush *w, const bool *skip, sock_model *model, sk_tune_outcome *told)
{
    double *rate = NULL;
    size_t clocks = 0;
    bool set = false;
    sock_status status = sk_clocks_find(w->ctx, w->data, skip, &rate, &clocks);
    if (status >= 0 && clocks && clocks < w->d) status = sk_clocks_set(w->ctx, rate, model, &set);
    for (size_t k = 0; status >= 0 && set && k < w->d; k++) w->quiet[k] = !isnan(rate[k]);
    if (status >= 0 && set) {
        told->clock = rate;
        return SOCK_OK;
    }
    sk_free(rate);
    return status;
}

sock_status sk_silence(sock_context *ctx, sock_model *model, const sock_data *data, const bool *skip,
                       sk_tune_outcome *told)
{
    hush w = {.ctx = ctx, .model = model, .data = data};
    size_t count = 0;
    sock_status status = SOCK_OK;
    if (model->d == 1) return SOCK_OK;
    SK_GO(prepare(&w, skip));
    SK_GO(find_clocks(&w, skip, model, told));
    if (w.n >= SK_LEAST_ROWS) {
        SK_GO(find_residuals(&w));
        find_squares(&w);
        find_exact(&w);
        SK_GO(find_jacobians(&w));
        drop_long_steps(&w);
    }
    if (w.n >= SK_LEAST_ROWS) SK_GO(find_passive(&w, told));
    for (size_t k = 0; k < w.d; k++) count += w.quiet[k];
    if (!count || count == w.d) goto out;
    SK_GO(silence(ctx, w.quiet, model));
    for (size_t k = 0; k < w.d; k++)
        if (w.quiet[k] && told->floor.value) told->floor.value[k] = 0;
    told->quiet = w.quiet;
    w.quiet = NULL;
out:
    release(&w);
    return status;
}
