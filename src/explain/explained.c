/* explained.c - see explain.h. What a model says is one list of numbers; a draw of it has the same list, and the spread
 * of each number over the draws is its error. A plane is solved on two grids: the model's numbers are Richardson's of
 * both, those of draws come from the coarse one and are compared with the model's own there. */
#include "explain/explain.h"

#include "explain/explainrules.h"
#include "model/draw.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REASON = 200, COARSE = SK_EXPLAIN_GRID, FINE = 2 * COARSE };

static size_t each_fixed(size_t d) { return 3 * d + 1; }

size_t sk_explained_line(const sk_explained *e) { return e->fixed.count * each_fixed(e->d); }

static size_t count_numbers(const sk_explained *e)
{
    const size_t fixed = sk_explained_line(e);
    if (!e->stationary) return fixed;
    return fixed + (e->d == 1 ? sk_line_size(e->wells) : SK_PLANE_NUMBERS);
}

/* The list of one model: a draw, or the model itself. */
static sock_status list_numbers(const sk_explained *e, const sk_asker *ask, double *out)
{
    for (size_t i = 0; i < e->fixed.count; i++, out += each_fixed(e->d))
        SK_TRY(sk_fixed_numbers(ask, e->fixed.x + i * e->d, out));
    if (!e->stationary) return SOCK_OK;
    return e->d == 1 ? sk_line_numbers(ask, e->wells, out) : sk_plane_numbers(ask, COARSE, out, NULL, NULL);
}

/* ---- The fine grid ---- */

/* The mean of a field over each cell of the coarse grid, by Richardson: its own value there is off by four times what
 * the mean of the four fine ones is. */
static void extrapolate(const double *fine, const double *coarse, double *out)
{
    for (size_t c = 0; c < (size_t)COARSE * COARSE; c++) {
        const double *corner = fine + 2 * (c / COARSE) * FINE + 2 * (c % COARSE);
        out[c] = (corner[0] + corner[1] + corner[FINE] + corner[FINE + 1] - coarse[c]) / 3;
    }
}

/* room: 3 numbers for each cell of both grids. numbers: those of the coarse grid become those of both. */
static sock_status solve_both(const sk_asker *ask, double *room, double *numbers, sk_explained *e)
{
    const size_t cells = (size_t)FINE * FINE, few = (size_t)COARSE * COARSE;
    double *rough = room + 3 * cells, fine[SK_PLANE_NUMBERS], coarse[SK_PLANE_NUMBERS];
    const sk_plane_fields large = {room, {room + cells, room + 2 * cells}},
                          small = {rough, {rough + few, rough + 2 * few}};
    SK_TRY(sk_plane_numbers(ask, COARSE, coarse, &small, e->stationary_reason));
    if (e->stationary_reason[0]) return SOCK_OK;
    SK_TRY(sk_plane_numbers(ask, FINE, fine, &large, e->stationary_reason));
    e->grid = fabs(fine[SK_PLANE_ENTROPY] - coarse[SK_PLANE_ENTROPY]) / 3;
    for (size_t i = 0; i < SK_PLANE_EDGES; i++) {
        const double both = (4 * fine[i] - coarse[i]) / 3; /* may leave what a sum of squares can be */
        numbers[i] = i == SK_PLANE_CORRELATION ? fmin(fmax(both, -1), 1)
                     : i >= SK_PLANE_SD        ? (both > 0 ? both : fine[i])
                                               : both;
    }
    numbers[SK_PLANE_EDGES] = fine[SK_PLANE_EDGES];
    for (size_t k = 0; k < 3; k++) extrapolate(room + k * cells, rough + k * few, e->table + k * few);
    return SOCK_OK;
}

static sock_status refine(const sk_asker *ask, double *numbers, sk_explained *e)
{
    double *room = sk_doubles(ask->ctx, 3, (size_t)FINE * FINE + (size_t)COARSE * COARSE);
    e->table = sk_doubles(ask->ctx, 3, (size_t)COARSE * COARSE);
    const sock_status status = room && e->table ? solve_both(ask, room, numbers, e) : SOCK_ENOMEM;
    sk_free(room);
    return status;
}

/* ---- Draws ---- */

typedef struct drawing {
    sock_context *ctx;
    const sock_model *model;
    const sk_explained *e;
    const double *lower, *upper, *u;
    uint64_t seed;
    double *out; /* draws x size */
} drawing;

static sock_status one_draw(const drawing *job, size_t number)
{
    sock_model *model = NULL;
    sk_asker *ask = NULL;
    SK_TRY(sk_model_draw(job->ctx, job->model, job->seed, number, &model));
    sock_status status = sk_asker_new(job->ctx, model, job->lower, job->upper, job->u, &ask);
    if (status >= 0) status = list_numbers(job->e, ask, job->out + number * job->e->size);
    sk_asker_free(ask);
    sock_model_free(model);
    return status;
}

static sock_status some_draws(void *arg, size_t begin, size_t end, int worker)
{
    const drawing *job = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        SK_TRY(sk_progress(job->ctx, "draws", (double)i / (double)job->e->draws));
        SK_TRY(one_draw(job, i));
    }
    return SOCK_OK;
}

/* ---- Errors ---- */

/* A quantile of n sorted numbers, by the line between two of them; the last may be infinite. */
static double quantile(size_t n, const double *sorted, double share)
{
    const double at = share * (double)(n - 1), whole = floor(at);
    const size_t i = (size_t)whole;
    if (i + 1 >= n || at == whole || isinf(sorted[i])) return sorted[i];
    return sorted[i] + (at - whole) * (sorted[i + 1] - sorted[i]);
}

/* What a number can be. */
typedef enum nature { ANY, POSITIVE, TIME, WITHIN_ONE } nature;

static nature nature_of(const sk_explained *e, size_t i)
{
    const size_t line = sk_explained_line(e), at = i - line;
    if (i < line) return i % each_fixed(e->d) == 3 * e->d ? TIME : ANY;
    if (e->d == 2) return at == SK_PLANE_CORRELATION ? WITHIN_ONE : at >= SK_PLANE_MEAN + 2 ? POSITIVE : ANY;
    const size_t potential = SK_LINE_TABLE, density = potential + SK_EXPLAIN_TABLE, wells = sk_line_wells();
    if (at < potential) return at == SK_LINE_MEAN ? ANY : at == SK_LINE_RELAXATION ? TIME : POSITIVE;
    if (at < wells) return at < density ? ANY : POSITIVE;
    const size_t escapes = sk_line_escape(e->wells, 0, false);
    if (at < escapes) return ANY;
    return (at - escapes) % SK_ESCAPE_NUMBERS == SK_ESCAPE_HEIGHT ? POSITIVE : TIME;
}

/* A draw's number, moved as the model's own is by the fine grid, `from` being what it is on the coarse one. */
static double moved(nature what, double drawn, double from, double value)
{
    if (what == POSITIVE || what == TIME) return from > 0 ? drawn * (value / from) : drawn;
    const double by = drawn + value - from;
    return what == WITHIN_ONE ? fmin(fmax(by, -1), 1) : by;
}

static size_t keep_sorted(size_t n, double *x)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = x[i];
        if (isnan(value)) continue;
        size_t j = kept++;
        for (; j > 0 && x[j - 1] > value; j--) x[j] = x[j - 1];
        x[j] = value;
    }
    return kept;
}

/* told: its value is there. from: what the draws are compared with. drawn: a number of each draw, reordered. The model
 * is one of those that the data leave open, so the interval reaches to it where the draws lie all on one side. */
static void spread_of(nature what, size_t draws, double *drawn, double from, sk_told *told)
{
    const size_t kept = keep_sorted(draws, drawn);
    const double outside = sk_explain_outside();
    double square = 0;
    told->share = (double)kept / (double)draws;
    if (isnan(told->value) || !sk_explain_has_error(kept, draws)) return;
    for (size_t i = 0; i < kept && isfinite(told->value) && told->value != from; i++)
        drawn[i] = moved(what, drawn[i], from, told->value);
    for (size_t i = 0; i < kept; i++) square += (drawn[i] - told->value) * (drawn[i] - told->value);
    told->se = sqrt(square / (double)kept);
    told->low = fmin(quantile(kept, drawn, outside), told->value);
    told->high = fmax(quantile(kept, drawn, 1 - outside), told->value);
    if (what == TIME && sk_explain_is_endless(told->high, told->value)) told->high = told->se = (double)INFINITY;
}

/* A potential has no zero of its own: that of a draw is moved so that under the model's density its mean is the
 * model's. With every draw 0 at its own least, the model's line would run along the edge of its own interval. */
static void align_potential(const sk_explained *e, double *drawn)
{
    const size_t potential = sk_explained_line(e) + SK_LINE_TABLE, density = potential + SK_EXPLAIN_TABLE;
    double sum = 0, mass = 0;
    for (size_t i = 0; i < SK_EXPLAIN_TABLE; i++) {
        const double p = e->number[density + i].value, apart = drawn[potential + i] - e->number[potential + i].value;
        if (!(p > 0) || !isfinite(apart)) continue;
        sum += p * apart;
        mass += p;
    }
    for (size_t i = 0; mass > 0 && i < SK_EXPLAIN_TABLE; i++) drawn[potential + i] -= sum / mass;
}

/* from: the model's numbers by the means that draws have. */
static sock_status find_errors(drawing *job, const double *from, sk_explained *e)
{
    double *column = sk_doubles(job->ctx, e->draws, 1);
    job->out = column ? sk_doubles(job->ctx, e->draws, e->size) : NULL;
    sock_status status = job->out ? sk_parallel_for(job->ctx, e->draws, 1, some_draws, job) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && e->stationary && e->d == 1 && k < e->draws; k++)
        align_potential(e, job->out + k * e->size);
    for (size_t i = 0; status >= 0 && i < e->size; i++) {
        for (size_t k = 0; k < e->draws; k++) column[k] = job->out[k * e->size + i];
        spread_of(nature_of(e, i), e->draws, column, from[i], &e->number[i]);
    }
    sk_free(job->out);
    sk_free(column);
    return status;
}

/* ---- Beyond the range ---- */

/* How far x is outside of the range, in widths of it. */
static double outside_by(const sk_asker *ask, const double *x)
{
    double most = 0;
    for (size_t k = 0; k < ask->d; k++) {
        const double wide = ask->upper[k] - ask->lower[k];
        most = fmax(most, fmax(ask->lower[k] - x[k], x[k] - ask->upper[k]) / wide);
    }
    return most;
}

/* The nearest fixed point outside of the range, up to SK_EXPLAIN_BEYOND of its widths away and within the bounds. */
static sock_status look_beyond(const sk_asker *ask, uint64_t seed, sk_explained *e)
{
    const size_t d = ask->d;
    const double *low = ask->model->structure->lower, *high = ask->model->structure->upper;
    double *room = sk_doubles(ask->ctx, d, 3);
    sk_asker wide = *ask;
    sk_fixed found = {0};
    if (!room) return SOCK_ENOMEM;
    wide.lower = room, wide.upper = room + d;
    for (size_t k = 0; k < d; k++) {
        const double more = sk_explain_beyond(ask->upper[k] - ask->lower[k]);
        const double least = ask->lower[k] >= 0 ? 0 : -(double)INFINITY; /* what is never below 0 has no such place */
        room[k] = fmax(ask->lower[k] - more, low ? low[k] : least);
        room[d + k] = fmin(ask->upper[k] + more, high ? high[k] : (double)INFINITY);
    }
    sock_status status = sk_fixed_find(&wide, seed, &found);
    double nearest = (double)INFINITY;
    for (size_t i = 0; status >= 0 && i < found.count; i++) {
        const double away = outside_by(ask, found.x + i * d);
        if (!(away > 0 && away < nearest)) continue;
        nearest = away;
        memcpy(room + 2 * d, found.x + i * d, d * sizeof *room);
    }
    if (isfinite(nearest)) {
        e->beyond = sk_doubles(ask->ctx, each_fixed(d), 1);
        status = e->beyond ? sk_fixed_numbers(&wide, room + 2 * d, e->beyond) : SOCK_ENOMEM;
    }
    sk_free(found.x);
    sk_free(room);
    return status;
}

/* ---- All ---- */

static sock_status look_stationary(const sk_asker *ask, sk_explained *e)
{
    if (!ask->model->has_diffusion)
        snprintf(e->stationary_reason, REASON, "the model has no diffusion");
    else if (ask->model->structure->order == 2)
        snprintf(e->stationary_reason, REASON,
                 "positions have no noise of their own, and it is computed only where every state has");
    else if (e->d > 2)
        snprintf(e->stationary_reason, REASON, "that is told in one and two dimensions");
    else if (e->d == 1)
        SK_TRY(sk_line_look(ask, &e->wells, e->stationary_reason));
    e->stationary = !e->stationary_reason[0];
    return SOCK_OK;
}

/* The model's own numbers, and in `from` what draws are compared with. */
static sock_status own_numbers(const sk_asker *ask, double *own, double *from, sk_explained *e)
{
    SK_TRY(list_numbers(e, ask, own));
    memcpy(from, own, e->size * sizeof *own);
    if (e->d != 2 || !e->stationary) return SOCK_OK;
    return refine(ask, own + sk_explained_line(e), e);
}

static sock_status tell(const sk_asker *ask, drawing *job, sk_explained *e)
{
    double *own = sk_doubles(ask->ctx, 2, e->size), *from = own ? own + e->size : NULL;
    e->number = own ? sk_alloc(ask->ctx, e->size, sizeof *e->number) : NULL;
    sock_status status = e->number ? own_numbers(ask, own, from, e) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < e->size; i++) e->number[i] = (sk_told){own[i], NAN, NAN, NAN, NAN};
    if (status >= 0 && e->draws) status = find_errors(job, from, e);
    if (e->stationary_reason[0]) e->stationary = false;
    sk_free(own);
    return status;
}

static void count_draws(const sock_model *model, sk_explained *e)
{
    e->draws = sk_explain_draws(e->d);
    if (model->spread) return;
    json_t *info = json_loads(model->info, 0, NULL);
    const char *reason = json_string_value(json_object_get(info, "bands_reason"));
    snprintf(e->draws_reason, REASON, "the model does not tell how far it can be trusted%s%.120s", reason ? ": " : "",
             reason ? reason : "");
    json_decref(info);
    e->draws = 0;
}

sock_status sk_explain(sock_context *ctx, const sock_model *model, const double *lower, const double *upper,
                       const double *u, uint64_t seed, sk_explained *out)
{
    sk_asker *ask = NULL;
    *out = (sk_explained){.d = model->d, .grid = NAN};
    drawing job = {ctx, model, out, lower, upper, u, seed, NULL};
    count_draws(model, out);
    SK_TRY(sk_asker_new(ctx, model, lower, upper, u, &ask));
    sock_status status = sk_fixed_find(ask, seed, &out->fixed);
    if (status >= 0 && !out->fixed.lines) status = look_beyond(ask, seed, out);
    if (status >= 0) status = look_stationary(ask, out);
    out->size = count_numbers(out);
    if (status >= 0) status = tell(ask, &job, out);
    sk_asker_free(ask);
    if (status < 0) sk_explained_clear(out);
    return status;
}

void sk_explained_clear(sk_explained *e)
{
    sk_free(e->fixed.x);
    sk_free(e->number);
    sk_free(e->table);
    sk_free(e->beyond);
    *e = (sk_explained){0};
}
