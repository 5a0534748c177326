/* whiteness.c - see whiteness.h. */
#include "whiteness.h"
#include "driven.h"

#include "datalook.h"
#include "occupation/residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 40000, CHUNK = 2000 };

/* ---- Making them ---- */

static size_t count_steps(const sock_data *data)
{
    size_t steps = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const size_t length = sock_data_trajectory(data, j, NULL, NULL);
        steps += length ? length - 1 : 0;
    }
    return steps;
}

/* r = right ends for now; x, t and the trajectory of each step; h: steps. Every so many-th trajectory, and never more
 * than there is room for. */
static void collect(const sock_data *data, res_set *s, double *h)
{
    const size_t d = s->d, room = s->steps;
    const size_t every = (s->all + room - 1) / (room ? room : 1);
    s->steps = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j += every ? every : 1) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length && s->steps < room; i++, s->steps++) {
            memcpy(s->r + s->steps * d, x + (i + 1) * d, d * sizeof *x);
            memcpy(s->x + s->steps * d, x + i * d, d * sizeof *x);
            s->t[s->steps] = t[i], s->trajectory[s->steps] = j;
            h[s->steps] = t[i + 1] - t[i];
        }
    }
}

/* Work space for CHUNK steps: fields at the start and at the place where the drift leads. */
typedef struct room {
    double *f, *a, *end, *end_f, *end_a;
} room;

/* By the mean of the fields at both places. */
static void standardise(res_set *s, size_t first, size_t count, const double *h, const room *w)
{
    const size_t d = s->d;
    for (size_t i = 0; i < count * d; i++) w->f[i] = (w->f[i] + w->end_f[i]) / 2;
    for (size_t i = 0; i < count; i++) {
        double *r = s->r + (first + i) * d;
        const double step = h[first + i];
        sk_residual_euler(d, step, s->x + (first + i) * d, r, w->f + i * d, r);
        for (size_t k = 0; k < d; k++) {
            const size_t diagonal = (i * d + k) * d + k;
            r[k] = sk_residual_standard(step, (w->a[diagonal] + w->end_a[diagonal]) / 2, r[k]);
        }
    }
}

/* Where the drift leads; a place that is not finite counts as none. */
static void lead(const res_set *s, size_t first, size_t count, const double *h, const room *w)
{
    for (size_t i = 0; i < count * s->d; i++) {
        const double from = s->x[first * s->d + i], to = from + h[first + i / s->d] * w->f[i];
        w->end[i] = isfinite(to) ? to : from;
    }
}

static sock_status evaluate_chunk(sock_context *ctx, const sock_model *model, const sock_data *data, res_set *s,
                                  size_t first, const double *h, const room *w)
{
    const size_t count = s->steps - first < CHUNK ? s->steps - first : CHUNK;
    driven_steps at = {count, s->trajectory + first, s->t + first, h + first, s->x + first * s->d, 0};
    sock_status status = driven_fields(ctx, model, data, &at, w->f, w->a);
    if (status >= 0) lead(s, first, count, h, w);
    at.x = w->end, at.end = 1;
    if (status >= 0) status = driven_fields(ctx, model, data, &at, w->end_f, w->end_a);
    if (status >= 0) standardise(s, first, count, h, w);
    return status;
}

static sock_status evaluate(sock_context *ctx, const sock_model *model, const sock_data *data, res_set *s,
                            const double *h)
{
    const size_t one = CHUNK * s->d, square = one * s->d;
    double *space = calloc(3 * one + 2 * square, sizeof *space);
    if (!space) return SOCK_ENOMEM;
    const room w = {space, space + 3 * one, space + one, space + 2 * one, space + 3 * one + square};
    sock_status status = SOCK_OK;
    for (size_t first = 0; status >= 0 && first < s->steps; first += CHUNK)
        status = evaluate_chunk(ctx, model, data, s, first, h, &w);
    free(space);
    return status;
}

sock_status res_make(sock_context *ctx, const sock_model *model, const sock_data *data, res_set *out)
{
    res_set s = {.d = sock_data_dim(data), .all = count_steps(data)};
    s.steps = s.all < STEPS_MOST ? s.all : STEPS_MOST;
    double *h = calloc(s.steps + 1, sizeof *h);
    s.r = calloc(s.steps * s.d + 1, sizeof *s.r);
    s.x = calloc(s.steps * s.d + 1, sizeof *s.x);
    s.t = calloc(s.steps + 1, sizeof *s.t);
    s.trajectory = calloc(s.steps + 1, sizeof *s.trajectory);
    sock_status status = h && s.r && s.x && s.t && s.trajectory ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        collect(data, &s, h);
        status = evaluate(ctx, model, data, &s, h);
    }
    free(h);
    if (status < 0)
        res_free(&s);
    else
        *out = s;
    return status < 0 ? status : SOCK_OK;
}

static void *copy(size_t count, size_t size, const void *from)
{
    void *to = calloc(count + 1, size);
    if (to && count) memcpy(to, from, count * size);
    return to;
}

sock_options *res_options(sock_context *ctx, sock_bounds bounds, const double *lower, const double *upper,
                          sock_status *status)
{
    *status = SOCK_OK;
    if (bounds != SOCK_BOUNDS_NONE || (!lower && !upper)) return NULL;
    sock_options *opts = sock_options_new(ctx);
    *status = opts ? sock_options_set(ctx, opts, "bounds", "none") : SOCK_ENOMEM;
    return opts;
}

sock_status res_scores(sock_context *ctx, const sock_model *model, const sock_data *data, const sock_options *opts,
                       res_set *out)
{
    sock_step_scores s;
    const sock_status status = sock_check_scores(ctx, model, data, opts, &s);
    if (status < 0) return status;
    const size_t all = s.count * s.dim;
    res_set made = {.d = s.dim, .steps = s.count, .all = s.all_steps, .seasons = s.seasons};
    memcpy(made.season, s.season, sizeof made.season);
    memcpy(made.season_name, s.season_name, sizeof made.season_name);
    made.r = copy(all, sizeof *s.v, s.v);
    made.pit = copy(all, sizeof *s.pit, s.pit);
    made.x = copy(all, sizeof *s.x, s.x);
    made.t = copy(s.count, sizeof *s.t, s.t);
    made.trajectory = copy(s.count, sizeof *s.piece, s.piece);
    sock_step_scores_free(&s);
    if (made.r && made.pit && made.x && made.t && made.trajectory) {
        *out = made;
        return SOCK_OK;
    }
    res_free(&made);
    return SOCK_ENOMEM;
}

void res_free(res_set *set)
{
    free(set->pit);
    free(set->r);
    free(set->x);
    free(set->t);
    free(set->trajectory);
    *set = (res_set){0};
}

/* ---- Looking at them ---- */

double *res_sorted(const res_set *set, const double *value, size_t *count)
{
    double *values = calloc(set->steps * set->d + 1, sizeof *values);
    *count = 0;
    for (size_t i = 0; values && i < set->steps * set->d; i++)
        if (isfinite(value[i])) values[(*count)++] = value[i];
    if (values) look_sort(*count, values);
    return values;
}

/* Correlation of g(r) with itself `lag` steps later, over states and within trajectories; squares: g = r^2. */
static double correlation(const res_set *s, size_t lag, int squares, double centre, size_t *paired)
{
    enum { LEAST = 10 };                       /* fewer pairs say nothing */
    double product = 0, first = 0, second = 0; /* sums over the pairs, so that the correlation stays within -1 and 1 */
    size_t pairs = 0;
    for (size_t i = 0; i < s->steps; i++)
        for (size_t k = 0; k < s->d; k++) {
            const double r = s->r[i * s->d + k], now = (squares ? r * r : r) - centre;
            if (!isfinite(now)) continue;
            if (i + lag >= s->steps || s->trajectory[i + lag] != s->trajectory[i]) continue;
            const double q = s->r[(i + lag) * s->d + k], later = (squares ? q * q : q) - centre;
            if (!isfinite(later)) continue;
            product += now * later, first += now * now, second += later * later, pairs++;
        }
    *paired = pairs;
    return pairs >= (lag ? LEAST : 1) && first > 0 && second > 0 ? product / sqrt(first * second) : (double)NAN;
}

res_moments res_look(const res_set *set)
{
    res_moments m = {0};
    double power[5] = {0};
    size_t beyond = 0;
    for (size_t i = 0; i < set->steps * set->d; i++) {
        const double r = set->r[i];
        if (!isfinite(r)) continue;
        m.count++, m.mean += r;
        beyond += fabs(r) > LOOK_NINETY;
    }
    m.mean /= (double)(m.count ? m.count : 1);
    for (size_t i = 0; i < set->steps * set->d; i++) {
        const double away = set->r[i] - m.mean;
        for (int p = 2; isfinite(away) && p < 5; p++) power[p] += pow(away, p) / (double)m.count;
    }
    m.sd = sqrt(power[2]);
    m.kurtosis = power[2] > 0 ? power[4] / (power[2] * power[2]) : 0;
    m.beyond = m.count ? (double)beyond / (double)m.count : 0;
    for (size_t lag = 0; lag <= RES_LAGS; lag++) {
        m.lag[lag] = correlation(set, lag, 0, m.mean, &m.pairs[lag]);
        m.squares[lag] = correlation(set, lag, 1, power[2] + m.mean * m.mean, &m.pairs[lag]);
    }
    return m;
}

/* Bisection of erfc, which is exact to rounding; 60 halvings of [-40, 40]. */
double res_normal_quantile(double share)
{
    double low = -40, high = 40;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < share)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
