/* wildsteps.c - see wild.h.
 *
 *   1. u = increment / sqrt(h). Deviation of every step from those around it in time: n W.
 *   2. Those beyond the body: deviation from the steps that begin nearest in state, among a sample of all.
 *   3. What the state does there by itself is taken out; then the gap in sizes; then excursions are closed.
 *   4. Gaps in time.
 *
 * Deviations are |u - median| over the median of the same for those that are not at the median: counted data rest most
 * of the time, and their rests say nothing about the size of a move. */
#include "data/datarules.h"
#include "slidingwindow.h"
#include "tune/policy.h"
#include "wild.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Steps that a thread takes at once; speed only. */
enum { AT_ONCE = 1024 };

static const double NORMAL = 0.6744897501960817; /* median of |N(0, 1)| */

typedef struct hunt {
    sock_context *ctx;
    const sock_data *data;
    size_t n, d;
    uint32_t *run;       /* n: the trajectory of step s */
    size_t *start;       /* trajectories + 1: its first step; the last is n */
    double *u;           /* n x d */
    double *usual;       /* d: scale over all steps that move */
    double *unit;        /* d: of the states */
    double *size;        /* n: of the coordinate that is farthest out */
    uint32_t *state;     /* n: that coordinate */
    size_t stride, refs; /* neighbours are looked for among the steps 0, stride, 2 stride, ... */
    size_t k;            /* so many */
    double *place;       /* d x refs: where they begin */
    bool *far;           /* n: beyond the gap */
    size_t *list;        /* those that are, in order */
    size_t count, room;
} hunt;

/* The first step of the trajectory of step s, the one behind its last, and the point where s begins. */
static size_t begin_of(const hunt *w, size_t s) { return w->start[w->run[s]]; }
static size_t end_of(const hunt *w, size_t s) { return w->start[w->run[s] + 1]; }
static size_t point_of(const hunt *w, size_t s) { return w->data->first[w->run[s]] + s - begin_of(w, s); }

/* ---- Preparation ---- */

static sock_status prepare(hunt *w)
{
    const sock_data *data = w->data;
    sock_context *ctx = w->ctx;
    const size_t d = data->d;
    if (data->trajectories >= UINT32_MAX || d >= UINT32_MAX)
        return sk_fail(ctx, SOCK_EINPUT, "%s: %zu trajectories of %zu states; fewer than %u of each are allowed",
                       data->source, data->trajectories, d, UINT32_MAX);
    w->start = sk_alloc(ctx, data->trajectories + 1, sizeof *w->start);
    if (!w->start) return SOCK_ENOMEM;
    for (size_t j = 0; j < data->trajectories; j++)
        w->start[j + 1] = w->start[j] + SK_MAX(sk_data_length(data, j), 1) - 1;
    w->n = w->start[data->trajectories];
    w->d = d;
    const size_t sample = sk_wild_sample(d);
    w->stride = SK_MAX(1, (w->n + sample - 1) / sample);
    w->refs = (w->n + w->stride - 1) / w->stride;
    w->k = sk_wild_neighbours(w->refs);
    w->run = sk_alloc(ctx, w->n, sizeof *w->run);
    w->u = sk_doubles_unset(ctx, w->n, d);
    w->usual = sk_doubles(ctx, d, 1);
    w->unit = sk_doubles(ctx, d, 1);
    w->size = sk_doubles(ctx, w->n, 1);
    w->state = sk_alloc(ctx, w->n, sizeof *w->state);
    w->far = sk_alloc(ctx, w->n, sizeof *w->far);
    w->place = sk_doubles_unset(ctx, w->refs, d);
    if (!w->run || !w->u || !w->usual || !w->unit || !w->size || !w->state || !w->far || !w->place) return SOCK_ENOMEM;
    for (size_t j = 0, s = 0; j < data->trajectories; j++) {
        for (size_t i = data->first[j]; s < w->start[j + 1]; i++, s++) {
            const double root = sqrt(data->t[i + 1] - data->t[i]);
            w->run[s] = (uint32_t)j;
            for (size_t k = 0; k < d; k++) w->u[s * d + k] = (data->x[(i + 1) * d + k] - data->x[i * d + k]) / root;
        }
    }
    return SOCK_OK;
}

static void release(hunt *w)
{
    sk_free(w->run);
    sk_free(w->start);
    sk_free(w->u);
    sk_free(w->usual);
    sk_free(w->unit);
    sk_free(w->size);
    sk_free(w->state);
    sk_free(w->far);
    sk_free(w->list);
    sk_free(w->place);
}

/* Scales over all: of the moves, and half the interquartile range of the states. */
static sock_status find_scales(hunt *w)
{
    double *value = sk_doubles_unset(w->ctx, w->n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t k = 0; k < w->d; k++) {
        size_t moves = 0;
        for (size_t s = 0; s < w->n; s++)
            if (w->u[s * w->d + k] != 0) value[moves++] = fabs(w->u[s * w->d + k]);
        w->usual[k] = moves ? sk_select(moves, value, moves / 2) / NORMAL : 0;
        for (size_t s = 0; s < w->n; s++) value[s] = w->data->x[point_of(w, s) * w->d + k];
        const double high = sk_select(w->n, value, w->n - w->n / 4 - 1), low = sk_select(w->n, value, w->n / 4);
        w->unit[k] = high > low ? high - low : 1;
        for (size_t r = 0; r < w->refs; r++)
            w->place[k * w->refs + r] = w->data->x[point_of(w, r * w->stride) * w->d + k];
    }
    sk_free(value);
    return SOCK_OK;
}

/* ---- Deviations ---- */

/* usual: the scale where the others do not move. */
static double in_deviations(double u, double middle, double scale, double usual)
{
    if (!(scale > 0)) scale = usual;
    return scale > 0 ? fmin(fabs(u - middle) / scale, DBL_MAX) : 0;
}

/* Of u from `count` others, which are overwritten. */
static double deviation(double u, size_t count, double *other, double usual)
{
    size_t moves = 0;
    const double middle = sk_select(count, other, count / 2);
    for (size_t i = 0; i < count; i++)
        if (other[i] != middle) other[moves++] = fabs(other[i] - middle);
    return in_deviations(u, middle, moves ? sk_select(moves, other, moves / 2) / NORMAL : 0, usual);
}

static bool is_alone(const hunt *w, size_t s) { return sk_wild_is_alone(end_of(w, s) - begin_of(w, s)); }

/* Step 1 for coordinate k of the steps from begin to end: out (d for each step); infinite where a trajectory is too
 * short to tell. */
static void deviations_in_time(const hunt *w, size_t begin, size_t end, size_t k, double *out)
{
    sk_window window = {0};
    size_t first = 0, last = 0; /* steps in the window */
    for (size_t s = begin; s < end; s++) {
        double *size = out + (s - begin) * w->d + k, middle, distance;
        const double u = w->u[s * w->d + k];
        size_t from, to;
        *size = DBL_MAX;
        if (is_alone(w, s)) continue;
        sk_wild_around(s, begin_of(w, s), end_of(w, s), &from, &to);
        if (from >= last) {
            window.count = 0;
            first = last = from;
        }
        for (; first < from; first++) sk_window_take(&window, w->u[first * w->d + k]);
        for (; last < to; last++) sk_window_add(&window, w->u[last * w->d + k]);
        sk_window_others(&window, u, &middle, &distance);
        *size = in_deviations(u, middle, distance / NORMAL, w->usual[k]);
    }
}

/* Squared distances of the left end of a step from those of the sample, in units of the states. */
static void find_distances(const hunt *w, size_t s, double *out)
{
    const double *x = w->data->x + point_of(w, s) * w->d;
    memset(out, 0, w->refs * sizeof *out);
    for (size_t k = 0; k < w->d; k++) {
        const double per_unit = 1 / w->unit[k], *y = w->place + k * w->refs;
        for (size_t r = 0; r < w->refs; r++) out[r] += (x[k] - y[r]) * per_unit * ((x[k] - y[r]) * per_unit);
    }
    if (s % w->stride == 0) out[s / w->stride] = (double)INFINITY; /* itself */
}

/* The k steps that begin nearest to where s does, itself left out. space: 2 refs. Answers how many. */
static size_t neighbours(const hunt *w, size_t s, size_t *list, double *space)
{
    double *far = space, *sorted = space + w->refs;
    size_t found = 0;
    find_distances(w, s, far);
    memcpy(sorted, far, w->refs * sizeof *sorted);
    const double reach = sk_select(w->refs, sorted, w->k - 1);
    for (size_t r = 0; r < w->refs && found < w->k; r++)
        if (far[r] <= reach && r * w->stride != s) list[found++] = r * w->stride;
    return found;
}

/* What one thread works on. */
typedef struct desk {
    double *space; /* 2 refs */
    double *other; /* k */
    size_t *list;  /* k */
    double *late;  /* AT_ONCE x d: deviations in time */
} desk;

static sock_status desk_new(const hunt *w, desk *t)
{
    *t = (desk){sk_doubles_unset(w->ctx, w->refs, 2), sk_doubles_unset(w->ctx, w->k, 1),
                sk_alloc(w->ctx, w->k, sizeof *t->list), sk_doubles_unset(w->ctx, AT_ONCE, w->d)};
    return t->space && t->other && t->list && t->late ? SOCK_OK : SOCK_ENOMEM;
}

static void desk_clear(desk *t)
{
    sk_free(t->space);
    sk_free(t->other);
    sk_free(t->list);
    sk_free(t->late);
}

/* late (d): deviations in time. */
static void measure(hunt *w, size_t s, const double *late, const desk *t)
{
    size_t count = 0;
    bool asked = false;
    for (size_t k = 0; k < w->d; k++) {
        double size = late[k];
        if (!sk_wild_is_body(size)) {
            if (!asked) count = neighbours(w, s, t->list, t->space);
            asked = true;
            for (size_t i = 0; i < count; i++) t->other[i] = w->u[t->list[i] * w->d + k];
            size = fmin(size, deviation(w->u[s * w->d + k], count, t->other, w->usual[k]));
        }
        if (size > w->size[s]) {
            w->size[s] = size;
            w->state[s] = (uint32_t)k;
        }
    }
}

static sock_status measure_some(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    hunt *w = argument;
    desk t;
    sock_status status = desk_new(w, &t);
    for (size_t k = 0; status >= 0 && k < w->d; k++) deviations_in_time(w, begin, end, k, t.late);
    for (size_t s = begin; status >= 0 && s < end; s++) measure(w, s, t.late + (s - begin) * w->d, &t);
    desk_clear(&t);
    return status;
}

/* ---- What the state does by itself ---- */

bool sk_wild_is_local(size_t among, size_t k, double share)
{
    return (double)among >= SK_WILD_LOCAL + SK_WILD_LOCAL_TIMES * (double)k * share;
}

/* The step before it is far as well: this one goes back from where that led. */
static bool follows(const hunt *w, size_t s) { return s > begin_of(w, s) && w->far[s - 1]; }

static bool leads_back(const hunt *w, size_t s) { return s + 1 < end_of(w, s) && w->far[s + 1]; }

static double left_of(const hunt *w, size_t s, size_t k) { return w->data->x[point_of(w, s) * w->d + k]; }
static double right_of(const hunt *w, size_t s, size_t k) { return w->data->x[(point_of(w, s) + 1) * w->d + k]; }

/* Left ends of the sample within a quarter of the step of a value of its coordinate. */
static size_t inhabitants(const hunt *w, size_t s, double value)
{
    const size_t k = w->state[s];
    const double step = right_of(w, s, k) - left_of(w, s, k);
    size_t count = 0;
    for (size_t r = 0; r < w->refs; r++) count += sk_wild_is_near(left_of(w, r * w->stride, k), value, step);
    return count;
}

/* Whether step r begins and ends where s does, or the other way round, to a quarter of it. */
static bool resembles(const hunt *w, size_t r, size_t s, bool back)
{
    const size_t k = w->state[s];
    const double a = left_of(w, s, k), b = right_of(w, s, k);
    const double from = back ? right_of(w, r, k) : left_of(w, r, k), to = back ? left_of(w, r, k) : right_of(w, r, k);
    return sk_wild_is_near(from, a, b - a) && sk_wild_is_near(to, b, b - a);
}

/* Whether another far step goes the same way, or back, at another time. */
static bool recurs(const hunt *w, size_t s)
{
    for (size_t i = 0; i < w->count; i++) {
        const size_t r = w->list[i];
        if ((r + 3 <= s || r >= s + 3) && (resembles(w, r, s, false) || resembles(w, r, s, true))) return true;
    }
    return false;
}

/* Whether a step next to s, in the same trajectory, does not move the coordinate that is farthest out. */
static bool rests(const hunt *w, size_t s, size_t other)
{
    return other >= begin_of(w, s) && other < end_of(w, s) && w->u[other * w->d + w->state[s]] == 0;
}

/* From one place that is lived in to another, over one that is not, there and back: two wells, seen in long steps. */
static bool crosses(const hunt *w, size_t s)
{
    const size_t k = w->state[s];
    const double a = left_of(w, s, k), b = right_of(w, s, k);
    if (leads_back(w, s) || follows(w, s) || rests(w, s, s + 1) || rests(w, s, s - 1)) return false;
    const size_t there = SK_MIN(inhabitants(w, s, a), inhabitants(w, s, b)), between = inhabitants(w, s, 0.5 * (a + b));
    return sk_wild_is_lived_in(there, w->refs) && sk_wild_lies_between(between, there) && recurs(w, s);
}

/* Whether s and others like it begin where a state ends, and nothing but them begins there: resets at a threshold. Of
 * many the neighbours tell. */
static bool resets(const hunt *w, size_t s)
{
    const size_t k = w->state[s];
    const double down = left_of(w, s, k) > right_of(w, s, k) ? 1 : -1;
    double edge = down * left_of(w, s, k);
    size_t alike = 0, beyond = 0;
    if (sk_wild_are_many(w->count)) return false;
    for (size_t i = 0; i < w->count; i++) {
        const size_t r = w->list[i];
        if (r != s && sk_wild_in_stretch(r > s ? r - s : s - r)) return false; /* part of a stretch */
        if (resembles(w, r, s, true)) return false;                            /* back from where a far step led */
        if (!resembles(w, w->list[i], s, false)) continue;
        alike++;
        edge = fmin(edge, down * left_of(w, w->list[i], k));
    }
    for (size_t r = 0; r < w->refs; r++) beyond += down * left_of(w, r * w->stride, k) >= edge;
    return sk_wild_are_resets(alike, beyond);
}

/* What resembles a step that the state makes is one too. */
static void spread(const hunt *w, bool *own)
{
    for (size_t i = 0; i < w->count; i++)
        for (size_t j = 0; j < w->count && !own[i]; j++) own[i] = own[j] && resembles(w, w->list[j], w->list[i], false);
}

/* own[i]: whether the state makes step i of the list by itself. A step that only goes back shares the fate of the one
 * that led there. */
static void find_own(const hunt *w, const desk *t, bool *own)
{
    for (size_t i = 0; i < w->count; i++) {
        const size_t s = w->list[i];
        size_t among = 0;
        if (follows(w, s)) {
            own[i] = own[i - 1];
            continue;
        }
        const size_t count = neighbours(w, s, t->list, t->space);
        for (size_t k = 0; k < count; k++) among += w->far[t->list[k]];
        own[i] = sk_wild_is_local(among, count, (double)w->count / (double)w->n) || crosses(w, s) || resets(w, s);
    }
    spread(w, own);
}

/* They are neither wild nor part of the body: their size is 0 from now on. *any: there are some. */
static sock_status take_out(hunt *w, bool *any)
{
    desk t;
    bool *own = sk_alloc(w->ctx, w->count, sizeof *own);
    sock_status status = desk_new(w, &t);
    *any = false;
    if (!own) status = SOCK_ENOMEM;
    if (status >= 0) find_own(w, &t, own);
    for (size_t i = 0; status >= 0 && i < w->count; i++) {
        if (!own[i]) continue;
        w->size[w->list[i]] = 0;
        *any = true;
    }
    desk_clear(&t);
    sk_free(own);
    return status;
}

/* ---- Gap ---- */

size_t sk_wild_gap(size_t count, const double *size, size_t far, const bool *back)
{
    const size_t tail = SK_MIN(SK_WILD_TAIL, sk_wild_tail(count));
    for (size_t a = far; a > 0; a--) {
        if (a + tail >= count || !(size[a + tail] > 0)) continue;
        const double ratio = size[a - 1] / fmax(size[a], SK_WILD_BODY), more = back && back[a - 1] ? (double)count : 1;
        if ((double)a * log(ratio) * sk_wild_tail_index(count, size, a) > log((double)far / SK_WILD_CHANCE / more))
            return a;
    }
    return 0;
}

/* A step by its size. */
typedef struct sized {
    double size;
    size_t step;
} sized;

static int falling(const void *left, const void *right)
{
    const sized *a = left, *b = right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->step < b->step ? -1 : a->step > b->step;
}

/* Whether step s + 1 of the same trajectory goes back to where s began. */
static bool cancels(const hunt *w, size_t s)
{
    const size_t k = w->state[s];
    const double a = left_of(w, s, k);
    return s + 1 < end_of(w, s) && sk_wild_is_near(right_of(w, s + 1, k), a, right_of(w, s, k) - a);
}

/* back[a - 1]: whether the a largest steps all go there and back, in pairs. Steps that know nothing of each other do so
 * once in as many as there are. pair (n): zeros on entry and on exit. */
static void find_pairs(const hunt *w, size_t far, const sized *sorted, bool *pair, bool *back)
{
    size_t single = 0;
    for (size_t a = 0; a < far; a++) { /* pair: among the largest, and still alone */
        const size_t s = sorted[a].step;
        const bool before = s > 0 && pair[s - 1] && cancels(w, s - 1), behind = s + 1 < w->n && pair[s + 1];
        if (before || (behind && cancels(w, s))) {
            pair[before ? s - 1 : s + 1] = false;
            single--;
        } else {
            pair[s] = true;
            single++;
        }
        back[a] = single == 0;
    }
    for (size_t a = 0; a < far; a++) pair[sorted[a].step] = false;
}

/* The largest sizes, falling, as many as the gap is looked for among: those that are far, and the tail below them. What
 * lies in the body is not sorted. */
typedef struct tail {
    size_t far, count; /* so many are beyond the cut; have a place here */
    sized *sorted;
    double *size; /* 0 where there are fewer */
    bool *back;
} tail;

static void tail_clear(tail *t)
{
    sk_free(t->sorted);
    sk_free(t->size);
    sk_free(t->back);
}

static sock_status tail_fill(const hunt *w, tail *t)
{
    size_t found = 0;
    t->count = SK_MIN(w->n, t->far + sk_wild_tail(w->n) + 2);
    double *copy = sk_doubles_unset(w->ctx, w->n, 1);
    if (!copy) return SOCK_ENOMEM;
    memcpy(copy, w->size, w->n * sizeof *copy);
    const double least = sk_select(w->n, copy, w->n - t->count);
    sk_free(copy);
    for (size_t s = 0; s < w->n; s++) found += w->size[s] > 0 && w->size[s] >= least;
    t->sorted = sk_alloc(w->ctx, SK_MAX(found, 1), sizeof *t->sorted);
    t->size = sk_doubles(w->ctx, t->count, 1);
    t->back = sk_alloc(w->ctx, SK_MAX(t->far, 1), sizeof *t->back);
    if (!t->sorted || !t->size || !t->back) return SOCK_ENOMEM;
    found = 0;
    for (size_t s = 0; s < w->n; s++)
        if (w->size[s] > 0 && w->size[s] >= least) t->sorted[found++] = (sized){w->size[s], s};
    qsort(t->sorted, found, sizeof *t->sorted, falling);
    for (size_t i = 0; i < SK_MIN(found, t->count); i++) t->size[i] = t->sorted[i].size;
    return SOCK_OK;
}

/* The steps beyond the gap into the list. */
static sock_status list_far(hunt *w)
{
    tail t = {0};
    sock_status status = SOCK_OK;
    size_t far = 0;
    w->count = 0;
    for (size_t s = 0; s < w->n; s++) t.far += sk_wild_is_looked_at(w->size[s]);
    memset(w->far, 0, w->n * sizeof *w->far);
    if (!t.far || !sk_wild_is_exception(t.far, w->n)) return SOCK_OK;
    status = tail_fill(w, &t);
    if (status >= 0) status = sk_grow(w->ctx, &w->list, &w->room, t.far, sizeof *w->list);
    if (status >= 0) {
        find_pairs(w, t.far, t.sorted, w->far, t.back);
        far = sk_wild_gap(w->n, t.size, t.far, t.back);
    }
    for (size_t a = 0; a < far; a++) w->far[t.sorted[a].step] = true;
    for (size_t s = 0; far && s < w->n; s++)
        if (w->far[s]) w->list[w->count++] = s;
    tail_clear(&t);
    return status;
}

/* ---- The whole ---- */

/* From a far step to one that leads back to where it began: what lies between, where it rests (a stuck value) or is out
 * of the way of all others and short, stays out too. */
static void close_excursion(const hunt *w, size_t s, bool *left)
{
    const size_t k = w->state[s];
    const double a = left_of(w, s, k), b = right_of(w, s, k);
    const bool lonely = sk_wild_is_lonely(inhabitants(w, s, b), w->refs);
    for (size_t r = s + 1; r < end_of(w, s); r++) {
        if (w->far[r] && sk_wild_is_near(right_of(w, r, k), a, b - a)) {
            for (size_t i = s + 1; i < r; i++) left[point_of(w, i)] = true;
            return;
        }
        if (w->u[r * w->d + k] != 0 && (!lonely || !sk_wild_in_excursion(r - s))) return;
    }
}

/* ---- Bursts ---- */

bool sk_wild_in_bursts(size_t close, size_t events, double share)
{
    const double expected = (double)events * SK_WILD_BURST * share;
    return (double)close > 3 + expected + 4 * sqrt(expected);
}

/* The place in the list of the last step of the event that begins with step i of it: far steps of any sizes, at most so
 * far apart, that end where the first began. i itself where they do not: a jump. */
static size_t end_of_event(const hunt *w, size_t i)
{
    const size_t s = w->list[i], k = w->state[s];
    const double a = left_of(w, s, k);
    double most = fabs(right_of(w, s, k) - a);
    size_t last = i;
    for (size_t j = i + 1; j < w->count; j++) {
        const size_t r = w->list[j];
        if (r >= end_of(w, s) || !sk_wild_in_stretch(r - s) || !sk_wild_in_burst(r - w->list[j - 1])) break;
        most = fmax(most, fabs(right_of(w, r, k) - a));
        if (sk_wild_is_near(right_of(w, r, k), a, most)) last = j;
    }
    return last;
}

/* Whether the wild steps come in bursts: then it is the process that has them. Out and back again is one event. */
static bool comes_in_bursts(const hunt *w)
{
    size_t events = 0, close = 0;
    for (size_t i = 0; i < w->count; i++) {
        const size_t s = w->list[i];
        close += i > 0 && w->list[i - 1] >= begin_of(w, s) && sk_wild_in_burst(s - w->list[i - 1]);
        events++;
        i = end_of_event(w, i);
    }
    return sk_wild_in_bursts(close, events, (double)events / (double)w->n);
}

static void name_one(const hunt *w, size_t s, sk_wild *out)
{
    size_t at = out->named < SK_WILD_TOLD ? out->named++ : SK_WILD_TOLD - 1;
    if (at == SK_WILD_TOLD - 1 && out->named == SK_WILD_TOLD && out->name[at].size >= w->size[s]) return;
    for (; at > 0 && out->name[at - 1].size < w->size[s]; at--) out->name[at] = out->name[at - 1];
    out->name[at] = (sk_wild_step){point_of(w, s), w->state[s], w->size[s]};
}

static sock_status settle(const hunt *w, sk_wild *out)
{
    out->step = sk_alloc(w->ctx, w->data->points, sizeof *out->step);
    out->name = sk_alloc(w->ctx, SK_WILD_TOLD, sizeof *out->name);
    if (!out->step || !out->name) return SOCK_ENOMEM;
    out->count = w->count;
    for (size_t i = 0; i < w->count; i++) out->step[point_of(w, w->list[i])] = true;
    for (size_t i = 0; i < w->count; i++) {
        name_one(w, w->list[i], out);
        close_excursion(w, w->list[i], out->step);
        for (size_t s = w->list[i]; s < w->list[end_of_event(w, i)]; s++) out->step[point_of(w, s)] = true;
    }
    return SOCK_OK;
}

static sock_status judge(hunt *w, sk_wild *out)
{
    bool any = false;
    SK_TRY(list_far(w));
    if (w->count) SK_TRY(take_out(w, &any));
    if (any) SK_TRY(list_far(w));
    return w->count && !comes_in_bursts(w) ? settle(w, out) : SOCK_OK;
}

/* ---- Gaps ---- */

static double length_of(const hunt *w, size_t s)
{
    const double *t = w->data->t + point_of(w, s);
    return t[1] - t[0];
}

/* Adds the steps that are far longer than the median one, where they are an exception. */
static sock_status find_gaps(const hunt *w, sk_wild *out)
{
    double *length = sk_doubles_unset(w->ctx, w->n, 1);
    if (!length) return SOCK_ENOMEM;
    for (size_t s = 0; s < w->n; s++) length[s] = length_of(w, s);
    const double median = sk_select(w->n, length, w->n / 2);
    size_t gaps = 0;
    for (size_t s = 0; s < w->n; s++) gaps += sk_is_gap(length[s], median);
    sk_free(length);
    if (!gaps || !sk_wild_is_exception(gaps, w->n)) return SOCK_OK;
    if (!out->step) out->step = sk_alloc(w->ctx, w->data->points, sizeof *out->step);
    if (!out->step) return SOCK_ENOMEM;
    out->gaps = gaps;
    for (size_t s = 0; s < w->n; s++)
        if (sk_is_gap(length_of(w, s), median)) out->step[point_of(w, s)] = true;
    return SOCK_OK;
}

sock_status sk_wild_find(sock_context *ctx, const sock_data *data, sk_wild *out)
{
    hunt w = {.ctx = ctx, .data = data};
    *out = (sk_wild){0};
    sock_status status = prepare(&w);
    if (status >= 0 && sk_wild_has_steps(w.n)) {
        status = find_scales(&w);
        if (status >= 0) status = sk_parallel_for(ctx, w.n, AT_ONCE, measure_some, &w);
        if (status >= 0) status = judge(&w, out);
        if (status >= 0) status = find_gaps(&w, out);
        for (size_t i = 0; status >= 0 && out->step && i < data->points; i++) out->left += out->step[i];
    }
    if (status < 0) sk_wild_clear(out);
    release(&w);
    return status;
}

void sk_wild_clear(sk_wild *wild)
{
    sk_free(wild->step);
    sk_free(wild->name);
    *wild = (sk_wild){0};
}
