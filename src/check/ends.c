/* ends.c - where the model itself goes over a step, and where among its ends the observed one stands.
 *
 *  1. From the start of a step `draws` paths over its length. Where observations have noise, they start at draws from
 *     the law of the state there (starts.c), and noise is added to their ends. A path that is lost becomes the observed
 *     end.
 *  2. Mean and covariance of all ends, the observed one among them: under the model they are alike, so that no number
 *     below depends on which of them was observed.
 *  3. u = L^-1 (end - mean), L the Cholesky factor: state by state given the ones before. A state that the ones before
 *     determine has no score.
 *  4. PIT = (simulated u below the observed + uniform) / (draws + 1), ties by chance; v = Phi^-1(PIT).
 *
 * The work is cut into runs of AT_ONCE steps, whose sums are added in order: the same for any number of threads. */
#include "check/check.h"

#include "check/checkrules.h"
#include "la/la.h"
#include "model/modelinputs.h"
#include "simulate/simulate.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 128 };

/* ---- Which steps ---- */

void sk_check_steps_free(sk_check_steps *steps)
{
    sk_free(steps->from);
    sk_free(steps->piece);
    sk_free(steps->single);
    *steps = (sk_check_steps){0};
}

static size_t all_steps(const sock_data *data)
{
    size_t sum = 0;
    for (size_t j = 0; j < data->trajectories; j++) sum += SK_MAX(sk_data_length(data, j), 1) - 1;
    return sum;
}

static sock_status new_steps(sock_context *ctx, size_t room, size_t reach, sk_check_steps *out)
{
    *out = (sk_check_steps){.reach = reach};
    out->from = sk_alloc(ctx, room, sizeof *out->from);
    out->piece = sk_alloc(ctx, room, sizeof *out->piece);
    out->single = sk_alloc(ctx, room, sizeof *out->single);
    if (out->from && out->piece && out->single) return SOCK_OK;
    sk_check_steps_free(out);
    return SOCK_ENOMEM;
}

/* The steps from the points begin to end - 1; *piece: the number of the first piece of them, then of the next. */
static void take_steps(sk_check_steps *s, const bool *skip, size_t begin, size_t end, size_t *piece)
{
    for (size_t i = begin; i < end; i++) {
        if (skip && skip[i]) {
            ++*piece;
            continue;
        }
        s->single[s->count] = s->count;
        s->piece[s->count] = *piece;
        s->from[s->count++] = i;
    }
    ++*piece;
}

sock_status sk_check_choose(sock_context *ctx, const sock_data *data, const bool *skip, size_t most,
                            sk_check_steps *out)
{
    const size_t all = all_steps(data), longest = sk_check_longest_piece(all, most);
    const double share = all <= most ? 1 : (double)most / (double)all;
    SK_TRY(new_steps(ctx, SK_MIN(all, most) + longest, 1, out));
    size_t piece = 0, passed = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t steps = SK_MAX(sk_data_length(data, j), 1) - 1, first = data->first[j];
        for (size_t at = 0; at < steps; at += longest) {
            const size_t length = SK_MIN(longest, steps - at);
            const bool taken = (double)out->count <= share * (double)passed && out->count < most;
            if (taken) take_steps(out, skip, first + at, first + at + length, &piece);
            passed += length;
        }
    }
    return SOCK_OK;
}

size_t sk_check_quick_steps(size_t d, bool tabled)
{
    const double share = fmin((double)SK_CHECK_QUICK_STATES / (double)d, 1);
    if (tabled) return (size_t)SK_CHECK_QUICK_STEPS * SK_CHECK_QUICK_DRAWS * SK_CHECK_TABLED / SK_CHECK_DRAWS;
    return (size_t)fmax(SK_CHECK_QUICK_STEPS * share * share, SK_CHECK_QUICK_LEAST);
}

size_t sk_check_quick_draws(size_t d, bool tabled, size_t steps, double cost)
{
    const size_t each = tabled ? SK_CHECK_DRAWS : SK_CHECK_QUICK_DRAWS;
    const double all = (double)(sk_check_quick_steps(d, tabled) * each) / fmax(cost, 1);
    return (size_t)fmax(fmin(all / fmax((double)steps, 1), SK_CHECK_DRAWS), SK_CHECK_QUICK_DRAWS);
}

sock_status sk_check_runs(sock_context *ctx, const sk_check_steps *single, size_t reach, sk_check_steps *out)
{
    SK_TRY(new_steps(ctx, single->count / reach, reach, out));
    out->starts = single->starts;
    for (size_t i = 0; i + reach <= single->count;) {
        if (single->piece[i + reach - 1] != single->piece[i]) { /* go on with the next piece */
            const size_t now = single->piece[i];
            while (i < single->count && single->piece[i] == now) i++;
            continue;
        }
        out->piece[out->count] = single->piece[i];
        out->single[out->count] = i;
        out->from[out->count++] = single->from[i];
        i += reach;
    }
    return SOCK_OK;
}

/* ---- One step ---- */

static void centre(size_t d, size_t ends, double *x, double *mean)
{
    memset(mean, 0, d * sizeof *mean);
    for (size_t i = 0; i < ends; i++)
        for (size_t k = 0; k < d; k++) mean[k] += x[i * d + k] / (double)ends;
    for (size_t i = 0; i < ends; i++)
        for (size_t k = 0; k < d; k++) x[i * d + k] -= mean[k];
}

static void covariance(size_t d, size_t ends, const double *x, double *c)
{
    memset(c, 0, d * d * sizeof *c);
    for (size_t i = 0; i < ends; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l <= k; l++) c[k * d + l] += x[i * d + k] * x[i * d + l] / (double)(ends - 1);
}

/* u := L^-1 u; a state without a pivot stays 0. */
static void whiten(size_t d, const double *l, double *u)
{
    for (size_t k = 0; k < d; k++) {
        double sum = u[k];
        for (size_t m = 0; m < k; m++) sum -= l[k * d + m] * u[m];
        u[k] = l[k * d + k] > 0 ? sum / l[k * d + k] : 0;
    }
}

static double rank_of(size_t d, size_t draws, const double *u, size_t k, double uniform)
{
    const double seen = u[draws * d + k];
    size_t below = 0, ties = 0;
    for (size_t i = 0; i < draws; i++) {
        below += u[i * d + k] < seen;
        ties += u[i * d + k] == seen;
    }
    return ((double)below + uniform * (double)(ties + 1)) / (double)(draws + 1);
}

/* What the floor adds to a_kk given the states before: that of x_k - beta x with beta L = (row k of L). */
static double floor_of(const sk_check_ranking *r, const double *l, size_t k, double *beta)
{
    const size_t d = r->d;
    double sum = r->floor[k];
    for (size_t m = k; m-- > 0;) {
        double rest = l[k * d + m];
        for (size_t n = m + 1; n < k; n++) rest -= beta[n] * l[n * d + m];
        beta[m] = l[m * d + m] > 0 ? rest / l[m * d + m] : 0;
        sum += beta[m] * beta[m] * r->floor[m];
    }
    return sum;
}

static void choose_states(const sk_check_ranking *r, double *l, double *beta, bool *used)
{
    if (r->a) sk_factor_copy(r->d, SK_CHECK_DETERMINED, r->a, l);
    for (size_t k = 0; k < r->d; k++) {
        const double pivot = r->a ? l[k * r->d + k] : 1;
        used[k] = pivot > 0 && isfinite(pivot);
        if (r->a && r->floor && used[k]) used[k] = sk_check_is_found(pivot * pivot, floor_of(r, l, k, beta));
    }
}

/* A state without a score says nothing about the others. */
static void leave_out(size_t d, const bool *used, double *c)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l <= k; l++)
            if (!used[k] || !used[l]) c[k * d + l] = 0;
}

void sk_check_rank(const sk_check_ranking *r, double *ends, double *pit, bool *used)
{
    const size_t d = r->d, draws = r->draws;
    double *mean = r->space, *c = mean + d, *l = c + d * d;
    choose_states(r, l, mean, used);
    centre(d, draws + 1, ends, mean);
    covariance(d, draws + 1, ends, c);
    leave_out(d, used, c);
    sk_factor_copy(d, SK_CHECK_SINGULAR, c, l);
    for (size_t i = 0; i <= draws; i++) whiten(d, l, ends + i * d);
    for (size_t k = 0; k < d; k++) {
        used[k] = used[k] && l[k * d + k] > 0 && isfinite(l[k * d + k]);
        pit[k] = used[k] ? rank_of(d, draws, ends, k, r->uniform[k]) : (double)NAN;
    }
}

/* ---- All steps ---- */

typedef struct job {
    sock_context *ctx;
    const sock_model *model;
    const sock_data *data;
    const sk_check_steps *steps;
    const sk_check_spec *spec;
    const sk_sampler *sampler;
    size_t w;      /* states of the model: d, or positions and velocities */
    size_t in;     /* coordinates of a point of the model */
    size_t *place; /* of its inputs in the data; NULL: it has none */
    sk_check_path path;
    size_t space_each;
    double *space; /* space_each for each worker */
    bool *used;    /* d for each worker */
    double *power; /* of each run of AT_ONCE steps */
    size_t *lost;  /* alike */
    sk_check_scores *out;
} job;

sk_check_path sk_check_path_of(double length, size_t least)
{
    const double wanted = isfinite(length) ? ceil(SK_CHECK_PER_RELAXATION * length) : 0;
    return (sk_check_path){SK_MAX(least, (size_t)fmin(wanted, SK_CHECK_INNER_MOST)), length > SK_CHECK_HEUN};
}

/* Numbers of z: those of the inner steps, then those of the start and of the noise at the end. */
static size_t normals_of(const job *j) { return (j->path.inner + (j->steps->starts ? 2 : 0)) * j->spec->draws * j->w; }

static size_t ends_space(const job *j)
{
    const size_t d = j->data->d, w = j->w, draws = j->spec->draws, scores = (draws + 1) * w + 3 * d * d + 2 * d;
    return scores + draws * w * (2 + w) + normals_of(j) + draws + draws * j->in + sk_sampler_space(j->sampler, draws);
}

typedef struct paths {
    double *x, *f, *ahead, *a, *z, *lost, *space; /* draws x w, twice more, x w x w, normals_of, draws */
    double *start;                                /* d x d: a at the start, and the noise of the end over the step */
    double *at;                                   /* draws x in: states and inputs */
} paths;

/* A lost path rests at the start. */
static void settle(const job *j, const double *start, paths *p)
{
    const size_t d = j->w;
    for (size_t i = 0; i < j->spec->draws; i++) {
        double *x = p->x + i * d;
        if (!sk_all_finite(d, x)) {
            p->lost[i] = 1;
            memcpy(x, start, d * sizeof *x);
        } else if (j->spec->bounds != SOCK_BOUNDS_NONE) {
            sk_keep_within(d, j->spec->bounds, j->spec->lower, j->spec->upper, x);
        }
    }
}

/* x (count rows of d numbers, w apart) += C z. */
static void add_normals(size_t d, size_t w, size_t count, const double *c, const double *z, double *x)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) x[i * w + k] += sk_dot(k + 1, c + k * d, z + i * d);
}

/* Step i from `begun` on for h: its inputs in the middle, which is exact where they jump at observations and of second
 * order where they move. */
static void take_inputs(const job *j, size_t i, double begun, double h, paths *p)
{
    const size_t d = j->w, from = j->steps->from[i], to = from + j->steps->reach;
    const double when = begun + h / 2, *t = j->data->t;
    size_t at = from;
    if (!j->place) return;
    while (at + 1 < to && t[at + 1] <= when) at++;
    for (size_t q = 0; q < j->spec->draws; q++)
        sk_inputs_at(j->model, j->place, j->data, at, (when - t[at]) / (t[at + 1] - t[at]), p->at + q * j->in + d);
}

/* f, and a unless it is NULL, where the paths are, under the inputs that were taken. */
static void fields_of(const job *j, paths *p, double *f, double *a)
{
    const size_t d = j->w, draws = j->spec->draws;
    for (size_t q = 0; j->place && q < draws; q++) memcpy(p->at + q * j->in, p->x + q * d, d * sizeof *p->at);
    sk_sampler_fields(j->ctx, j->sampler, draws, j->place ? p->at : p->x, f, a, p->space);
}

/* The same of second order: positions go on by h v + h^2 (2 F(x) + F(there)) / 6. */
static void advance_second(const job *j, double h, const double *z, paths *p)
{
    const size_t d = j->data->d, w = j->w, draws = j->spec->draws;
    for (size_t q = 0; q < draws; q++)
        for (size_t k = 0; k < d; k++) {
            double *x = p->x + q * w, rate = p->f[q * w + d + k];
            x[k] += h * x[d + k] + h * h / 2 * rate;
            x[d + k] += h * rate;
        }
    sk_add_second_noise(d, draws, h, p->a, z, w, p->x);
    if (!j->path.heun) return;
    fields_of(j, p, p->ahead, NULL);
    for (size_t q = 0; q < draws; q++)
        for (size_t k = 0; k < d; k++) {
            const double change = p->ahead[q * w + d + k] - p->f[q * w + d + k];
            p->x[q * w + k] += h * h / 6 * change;
            p->x[q * w + d + k] += h / 2 * change;
        }
}

/* p->x after an inner step of length h with normal numbers z. Heun: x + h (f(x) + f(there)) / 2 + noise, there where
 * Euler's step leads. */
static void advance(const job *j, double h, const double *z, paths *p)
{
    const size_t d = j->data->d, draws = j->spec->draws;
    if (j->w > d) {
        advance_second(j, h, z, p);
        return;
    }
    for (size_t q = 0; q < draws * d; q++) p->x[q] += h * p->f[q];
    if (j->model->has_diffusion) sk_add_noise(d, draws, sqrt(h), p->a, z, d, p->x);
    if (!j->path.heun) return;
    fields_of(j, p, p->ahead, NULL);
    for (size_t q = 0; q < draws * d; q++) p->x[q] += h * (p->ahead[q] - p->f[q]) / 2;
}

/* a at the start decides which states have scores; measurement noise counts by what it adds over the step. */
static void keep_start(const job *j, double length, paths *p)
{
    const size_t d = j->data->d, w = j->w;
    const double *r = j->steps->starts ? j->model->structure->noise : NULL;
    const double over = w > d ? pow(length, 3) / 3 : length;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            p->start[k * d + l] = p->a[(w - d + k) * w + w - d + l] + (r ? r[k * w + l] / over : 0);
}

/* Of states of w numbers the first d. */
static void keep_observed(size_t d, size_t w, size_t count, double *x)
{
    for (size_t q = 1; d < w && q < count; q++) memmove(x + q * d, x + q * w, d * sizeof *x);
}

/* The ends of step i into p->x (draws x d); how many were lost. */
static size_t simulate(const job *j, size_t i, paths *p)
{
    const size_t d = j->data->d, w = j->w, draws = j->spec->draws, from = j->steps->from[i];
    const size_t to = from + j->steps->reach, all = draws * w, inner = j->path.inner, single = j->steps->single[i];
    const sk_check_starts *law = j->steps->starts;
    const double *start = law ? law->m + single * w : j->data->x + from * d, *end = j->data->x + to * d;
    const double length = j->data->t[to] - j->data->t[from], h = length / (double)inner;
    const bool noisy = j->model->has_diffusion;
    size_t lost = 0;
    sk_normals_bulk((sk_key){j->spec->seed, SK_PURPOSE_CHECK}, from, j->steps->reach, 0, normals_of(j), p->z);
    for (size_t q = 0; q < draws; q++) memcpy(p->x + q * w, start, w * sizeof *p->x);
    if (law) add_normals(w, w, draws, law->root + single * w * w, p->z + inner * all, p->x);
    memset(p->lost, 0, draws * sizeof *p->lost);
    for (size_t s = 0; s < inner; s++) {
        take_inputs(j, i, j->data->t[from] + (double)s * h, h, p);
        fields_of(j, p, p->f, noisy ? p->a : NULL);
        if (s == 0 && noisy) keep_start(j, length, p);
        advance(j, h, p->z + s * all, p);
        settle(j, start, p);
    }
    if (law && law->r) add_normals(d, w, draws, law->r, p->z + (inner + 1) * all, p->x);
    keep_observed(d, w, draws, p->x);
    for (size_t q = 0; q < draws; q++) {
        if (p->lost[q] == 0) continue;
        memcpy(p->x + q * d, end, d * sizeof *p->x);
        lost++;
    }
    return lost;
}

static void add_powers(size_t d, size_t draws, const double *u, const bool *used, double *power)
{
    for (size_t i = 0; i <= draws; i++)
        for (size_t k = 0; k < d; k++, u++, power += 2) {
            const double square = used[k] ? *u * *u : 0;
            power[0] += square;
            power[1] += square * square;
        }
}

/* u is in units of a standard deviation to which the observed end itself adds: the same in units of the others'. */
static double among_others(size_t draws, double u) { return u / sqrt(fmax(1 - u * u / (double)draws, 1e-12)); }

static void score_step(const job *j, size_t i, int worker, size_t *lost, double *power)
{
    const size_t d = j->data->d, w = j->w, draws = j->spec->draws, from = j->steps->from[i];
    double *ends = j->space + (size_t)worker * j->space_each, *work = ends + (draws + 1) * w,
           *uniform = work + 2 * d * d + d, *pit = j->out->pit + i * d;
    bool *used = j->used + (size_t)worker * d;
    paths p = {.f = uniform + d + d * d, .start = uniform + d};
    p.x = ends;
    p.ahead = p.f + draws * w;
    p.a = p.ahead + draws * w;
    p.z = p.a + draws * w * w;
    p.lost = p.z + normals_of(j);
    p.at = p.lost + draws;
    p.space = p.at + draws * j->in;
    *lost += simulate(j, i, &p);
    memcpy(ends + draws * d, j->data->x + (from + j->steps->reach) * d, d * sizeof *ends);
    sk_uniforms((sk_key){j->spec->seed, SK_PURPOSE_CHECK}, from, ~(uint64_t)j->steps->reach, 0, d, uniform);
    const sk_check_ranking ranking = {d, draws, p.start, j->spec->floor, uniform, work};
    sk_check_rank(&ranking, ends, pit, used);
    add_powers(d, draws, ends, used, power);
    for (size_t k = 0; k < d; k++) {
        j->out->v[i * d + k] = used[k] ? sk_normal_quantile(pit[k]) : (double)NAN;
        j->out->far[i * d + k] = used[k] ? among_others(draws, ends[draws * d + k]) : 0;
    }
}

static sock_status some_steps(void *arg, size_t begin, size_t end, int worker)
{
    const job *j = arg;
    const size_t run = begin / AT_ONCE, sums = (j->spec->draws + 1) * j->data->d * 2;
    for (size_t i = begin; i < end; i++) score_step(j, i, worker, &j->lost[run], j->power + run * sums);
    return sk_progress(j->ctx, "check", -1);
}

static void add_up(const job *j, size_t runs)
{
    const size_t d = j->data->d, sums = (j->spec->draws + 1) * d * 2;
    for (size_t r = 0; r < runs; r++) {
        j->out->lost += j->lost[r];
        for (size_t i = 0; i < sums; i++) j->out->power[i] += j->power[r * sums + i];
    }
    for (size_t i = 0; i < j->steps->count * d; i++) j->out->scored[i % d] += isnan(j->out->v[i]) ? 0 : 1;
}

sock_status sk_check_sampler(sock_context *ctx, const sock_model *model, const sock_data *data, double evaluations,
                             sk_sampler **out)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    SK_TRY(sk_sampler_new(ctx, model, out));
    for (size_t i = 0; model->d == 1 && i < data->points; i++) {
        low = fmin(low, data->x[i]);
        high = fmax(high, data->x[i]);
    }
    const double wider = sk_exit_wider(high - low);
    const sock_status status = sk_sampler_tabulate(ctx, *out, low - wider, high + wider, evaluations);
    if (status >= 0) return SOCK_OK;
    sk_sampler_free(*out);
    *out = NULL;
    return status;
}

void sk_check_scores_free(sk_check_scores *scores)
{
    sk_free(scores->v);
    sk_free(scores->pit);
    sk_free(scores->far);
    sk_free(scores->power);
    sk_free(scores->scored);
    *scores = (sk_check_scores){0};
}

sock_status sk_check_ends(sock_context *ctx, const sock_model *model, const sock_data *data,
                          const sk_check_steps *steps, const sk_check_spec *spec, sk_check_path path,
                          sk_check_scores *out)
{
    const size_t n = steps->count, d = data->d, runs = n / AT_ONCE + 1, sums = (spec->draws + 1) * d * 2;
    const double each = (double)(spec->draws * path.inner) * (path.heun ? 2 : 1);
    sk_sampler *sampler = NULL;
    sock_status status;
    *out = (sk_check_scores){.count = n, .d = d, .draws = spec->draws};
    job j = {.ctx = ctx, .model = model, .data = data, .steps = steps, .spec = spec, .path = path, .out = out};
    j.w = model->d;
    j.in = sk_model_in(model);
    SK_GO(sk_inputs_find(ctx, model, data, &j.place));
    SK_GO(sk_check_sampler(ctx, model, data, (double)n * each, &sampler));
    j.sampler = sampler;
    j.space_each = ends_space(&j);
    out->v = sk_doubles(ctx, n, d);
    out->pit = sk_doubles(ctx, n, d);
    out->far = sk_doubles(ctx, n, d);
    out->power = sk_doubles(ctx, sums, 1);
    out->scored = sk_alloc(ctx, d, sizeof *out->scored);
    j.space = sk_doubles_unset(ctx, (size_t)sk_workers(ctx), j.space_each);
    j.used = sk_alloc(ctx, (size_t)sk_workers(ctx) * d, sizeof *j.used);
    j.power = sk_doubles(ctx, runs, sums);
    j.lost = sk_alloc(ctx, runs, sizeof *j.lost);
    if (!out->v || !out->pit || !out->far || !out->power || !out->scored) status = SOCK_ENOMEM;
    if (!j.space || !j.used || !j.power || !j.lost) status = SOCK_ENOMEM;
    if (status >= 0) status = sk_parallel_for(ctx, n, AT_ONCE, some_steps, &j);
    if (status >= 0) add_up(&j, runs);
out:
    sk_sampler_free(sampler);
    sk_free(j.place);
    sk_free(j.space);
    sk_free(j.used);
    sk_free(j.power);
    sk_free(j.lost);
    if (status < 0) sk_check_scores_free(out);
    return status;
}
