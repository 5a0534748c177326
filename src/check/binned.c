/* binned.c - see binned.h.
 *
 *  1. Steps of 1, 2, 4, ... intervals that do not overlap, in pieces of at most PIECE steps, of which some are evenly
 *     chosen where there are many.
 *  2. Their laws by the filter; of models with inputs by the moments of score.h, which take them as they change within
 *     a step; beyond the filter's dimensions and for second order by Euler's rule.
 *  3. Equal bins over the range of the starts, neighbours joined until each has enough steps. */
#include "check/binned.h"

#include "check/checkrules.h"
#include "data/samples.h"
#include "model/modelfields.h"
#include "model/modelinputs.h"
#include "score/filter.h"
#include "score/score.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 256 };            /* steps of a piece: a filter begins anew at each */
static const double STEP = 1e-4; /* of a difference, in the range of a state; rounding */

/* Steps with their laws: starts m, means and variances of ends, what is kept of a shift from one step to the next. */
typedef struct laws {
    sk_series series;
    size_t *from;                  /* steps: points they begin at */
    double *m, *mean, *var, *kept; /* steps x d */
    double *u;                     /* steps x inputs where they begin; NULL: there are none */
} laws;

void sk_binned_clear(sk_binned_all *all)
{
    for (size_t i = 0; i < all->count; i++) sk_free(all->of[i].bin);
    for (size_t i = 0; i < all->planes; i++) {
        sk_free(all->plane[i].bin);
        sk_free(all->plane[i].centre);
        sk_free(all->plane[i].together);
    }
    sk_free(all->of);
    sk_free(all->plane);
    *all = (sk_binned_all){0};
}

static void laws_clear(laws *l)
{
    sk_series_clear(&l->series);
    sk_free(l->from);
    sk_free(l->m);
    sk_free(l->u);
    *l = (laws){0};
}

/* ---- Step 1 ---- */

/* Whether a step of `every` intervals may begin at the point. */
static bool is_free(const bool *skip, size_t point, size_t every)
{
    for (size_t i = 0; skip && i < every; i++)
        if (skip[point + i]) return false;
    return true;
}

/* Steps into from, first of each piece into piece (both NULL: only counted); every `chosen`-th piece. */
static size_t lay_steps(const sock_data *data, const bool *skip, size_t every, size_t chosen, size_t *from,
                        size_t *first, size_t *pieces)
{
    size_t count = 0, number = 0, used = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        size_t length = PIECE; /* of the piece at work: the first step begins one */
        bool taken = false;
        for (size_t i = data->first[j]; i + every < data->first[j + 1]; i += every) {
            if (!is_free(skip, i, every)) {
                length = PIECE;
                continue;
            }
            if (length == PIECE) {
                taken = number++ % chosen == 0;
                length = 0;
                if (taken && first) first[used] = count;
                used += taken;
            }
            length++;
            if (taken && from) from[count] = i;
            count += taken;
        }
    }
    if (first) first[used] = count;
    *pieces = used;
    return count;
}

static sock_status fill_series(sock_context *ctx, const sock_data *data, size_t every, size_t steps, laws *out)
{
    const size_t d = data->d;
    double *y = sk_doubles(ctx, steps, d), *next = sk_doubles(ctx, steps, d), *h = sk_doubles(ctx, steps, 1);
    sk_series *s = &out->series;
    s->d = d, s->steps = steps;
    s->y = s->own[1] = y, s->next = s->own[2] = next, s->h = s->own[3] = h;
    out->m = sk_doubles(ctx, 4 * steps, d);
    if (!y || !next || !h || !out->m) return SOCK_ENOMEM;
    out->mean = out->m + steps * d, out->var = out->mean + steps * d, out->kept = out->var + steps * d;
    for (size_t i = 0; i < steps; i++) {
        const size_t at = out->from[i];
        memcpy(y + i * d, data->x + at * d, d * sizeof *y);
        memcpy(next + i * d, data->x + (at + every) * d, d * sizeof *next);
        h[i] = data->t[at + every] - data->t[at];
    }
    return SOCK_OK;
}

static sock_status take_steps(sock_context *ctx, const sock_data *data, const bool *skip, size_t every, laws *out)
{
    size_t pieces, chosen = 1;
    *out = (laws){0};
    const size_t most = sk_binned_most(data->d);
    const size_t all = lay_steps(data, skip, every, 1, NULL, NULL, &pieces);
    if (all > most) chosen = all / most + 1;
    const size_t steps = lay_steps(data, skip, every, chosen, NULL, NULL, &pieces);
    if (!steps) return SOCK_OK;
    size_t *first = sk_alloc(ctx, pieces + 1, sizeof *first);
    out->from = sk_alloc(ctx, steps, sizeof *out->from);
    out->series.own[0] = first;
    out->series.first = first;
    out->series.runs = pieces;
    sock_status status = first && out->from ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        lay_steps(data, skip, every, chosen, out->from, first, &pieces);
        status = fill_series(ctx, data, every, steps, out);
    }
    if (status < 0) laws_clear(out);
    return status;
}

/* ---- Step 2 ---- */

/* Of a pass over the pieces: starts, ends, and the share J R / S of a shift that outlives an observation. */
static void take_pass(const sk_series *s, const double *noise, const sk_pass *pass, laws *out)
{
    const size_t d = s->d;
    for (size_t r = 0; r < s->runs; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            memcpy(out->m + i * d, pass->m + (i + r) * d, d * sizeof *out->m);
            memcpy(out->mean + i * d, pass->mean + i * d, d * sizeof *out->mean);
            for (size_t k = 0; k < d; k++) {
                const double own = noise ? noise[k * (d + 1)] : 0;
                const double var = pass->cov[(i * d + k) * d + k] + own;
                out->var[i * d + k] = var;
                out->kept[i * d + k] = own > 0 ? pass->slope[(i * d + k) * d + k] * own / var : 0;
            }
        }
}

static sock_status by_filter(sock_context *ctx, const sock_model *model, laws *l)
{
    const sk_substeps one = {1, false};
    const double *noise = model->structure->noise;
    sk_frame frame = {0};
    sk_pass pass = {0};
    SK_TRY(sk_frame_new(ctx, &l->series, &frame));
    sk_filter_spec spec = {model, noise, {one, frame.reach, frame.low, frame.high}, NULL};
    sock_status status = sk_pass_new(ctx, &l->series, true, &pass);
    if (status >= 0) status = sk_series_substeps(ctx, &l->series, &spec, one, &spec.flow.substeps);
    if (status >= 0) status = sk_filter(ctx, &l->series, &spec, &pass);
    if (status >= 0) take_pass(&l->series, noise, &pass, l);
    sk_pass_clear(&pass);
    sk_frame_clear(&frame);
    return status;
}

static sock_status by_moments(sock_context *ctx, const sock_model *model, const sock_data *data, laws *l)
{
    memcpy(l->m, l->series.y, l->series.steps * l->series.d * sizeof *l->m);
    return sk_moment_laws(ctx, model, data, l->series.steps, l->from, l->mean, l->var);
}

/* y + h f(y) and h a(y). */
static sock_status by_euler(sock_context *ctx, const sock_model *model, const sock_data *data, laws *l)
{
    const size_t d = l->series.d, in = sk_model_in(model), n = l->series.steps;
    const bool noisy = model->has_diffusion;
    size_t *place = NULL;
    SK_TRY(sk_inputs_find(ctx, model, data, &place));
    double *z = sk_doubles(ctx, n, in), *f = sk_doubles(ctx, n, d), *a = noisy ? sk_doubles(ctx, n, d * d) : NULL;
    sock_status status = z && f && (a || !noisy) ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++)
        sk_inputs_join(model, place, data, l->from[i], l->from[i] + 1, z + i * in);
    if (status >= 0) status = sk_fields_eval(ctx, model, &(sk_fields){.count = n, .x = z, .f = f, .a = a});
    for (size_t i = 0; status >= 0 && i < n * d; i++) {
        const double h = l->series.h[i / d],
                     own = model->structure->noise ? model->structure->noise[i % d * (d + 1)] : 0;
        l->m[i] = l->series.y[i];
        l->mean[i] = l->m[i] + h * f[i];
        l->var[i] = (noisy ? h * a[i / d * d * d + i % d * (d + 1)] : 0) + 2 * own;
    }
    sk_free(place);
    sk_free(z);
    sk_free(f);
    sk_free(a);
    return status;
}

/* Whether the laws of steps of any length are known. */
static bool is_filtered(const sock_model *model)
{
    return model->d <= SK_NOISE_MOST_DIM && model->has_diffusion && !model->structure->inputs &&
           model->structure->order != 2;
}

static sock_status find_laws(sock_context *ctx, const sock_model *model, const sock_data *data, laws *l)
{
    if (is_filtered(model)) return by_filter(ctx, model, l);
    const bool follow = model->structure->inputs && model->has_diffusion && model->d <= SK_NOISE_MOST_DIM;
    return follow ? by_moments(ctx, model, data, l) : by_euler(ctx, model, data, l);
}

static sock_status find_inputs(sock_context *ctx, const sock_model *model, const sock_data *data, laws *l)
{
    const size_t m = model->structure->inputs;
    size_t *place = NULL;
    if (!m) return SOCK_OK;
    SK_TRY(sk_inputs_find(ctx, model, data, &place));
    l->u = sk_doubles(ctx, l->series.steps, m);
    for (size_t i = 0; l->u && i < l->series.steps; i++) sk_inputs_at(model, place, data, l->from[i], 0, l->u + i * m);
    sk_free(place);
    return l->u ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Step 3 ---- */

static bool is_good(const laws *l, size_t at)
{
    return isfinite(l->m[at]) && isfinite(l->mean[at]) && isfinite(l->var[at]);
}

static size_t bin_of(double low, double high, double x) { return sk_binned_bin((x - low) / (high - low)); }

/* Where each of the equal bins ends after joining: bin[i] = number of the joined bin. Answers how many there are. */
static size_t join_bins(const size_t *hits, size_t least, size_t *joined)
{
    size_t count = 0, inside = 0, begin = 0;
    for (size_t b = 0; b < SK_BINNED_BINS; b++) {
        joined[b] = count;
        inside += hits[b];
        if (inside < least) continue;
        count++, inside = 0, begin = b + 1;
    }
    for (size_t b = begin; count && b < SK_BINNED_BINS; b++) joined[b] = count - 1; /* the rest goes with the last */
    return count;
}

/* Raw and expected moments; e: what misses. */
static void finish_means(const laws *l, size_t k, const size_t *place, size_t which, sk_bin *b)
{
    const size_t d = l->series.d;
    double h = 0, y = 0, m = 0, e = 0, u2 = 0, v2 = 0, s2 = 0, own = 0, q = 0, w2 = 0, law = 0;
    for (size_t i = 0; i < l->series.steps; i++) {
        if (place[i] != which) continue;
        const size_t at = i * d + k;
        b->n++, b->x += l->m[at];
        h += l->series.h[i], y += l->series.next[at] - l->series.y[at], m += l->mean[at] - l->series.y[at];
    }
    const double n = (double)b->n;
    b->x /= n, b->raw_f = y / h, b->model_f = m / h;
    e = (y - m) / n;
    for (size_t i = 0; i < l->series.steps; i++) {
        if (place[i] != which) continue;
        const size_t at = i * d + k;
        const double gone = l->series.h[i] * b->raw_f, u = l->series.next[at] - l->series.y[at] - gone;
        const double v = l->mean[at] - l->series.y[at] - gone, miss = l->series.next[at] - l->mean[at];
        u2 += u * u, v2 += l->var[at] + v * v, s2 += (miss - e) * (miss - e), law += 2 * l->var[at] * l->var[at];
        own += (miss - e) * (miss - e) * n / (n - 1) - l->var[at];
        q += miss * miss - l->var[at], w2 += pow(miss * miss - l->var[at], 2);
    }
    b->raw_a = u2 / h, b->model_a = v2 / h, b->a = own / h;
    b->raw_f_se = sqrt(s2 / (n - 1) / n) * n / h;
    b->raw_a_se = sqrt(fmax(law / n, (w2 - q * q / n) / (n - 1)) / n) * n / h; /* few squares may look alike */
}

/* (e^(J h) - 1) / J. */
static double gain(double slope, double h)
{
    const double z = sk_binned_turn(slope * h);
    return z == 0 ? h : h * expm1(z) / z;
}

/* From what misses to the fields: f and a at the bin's place, slope: J there. What a misses is that of the ends: raw
 * moments also hold the product of what the ends and the starts miss, which noise makes as large. */
static void finish_fields(const laws *l, size_t k, const size_t *place, size_t which, double slope, sk_bin *b)
{
    const size_t d = l->series.d;
    double h = 0, first = 0, second = 0;
    for (size_t i = 0; i < l->series.steps; i++) {
        if (place[i] != which) continue;
        const double c = sk_binned_kept(l->kept[i * d + k]);
        h += l->series.h[i] / (double)b->n;
        first += 1 / (1 - c) / (double)b->n, second += 1 / (1 - c * c) / (double)b->n;
    }
    const double to_f = h / (gain(slope, h) * first), to_a = h / (gain(2 * slope, h) * second);
    b->f = (b->raw_f - b->model_f) * to_f, b->f_se = b->raw_f_se * to_f;
    b->a *= to_a, b->a_se = b->raw_a_se * to_a;
}

/* Mean over the bin of the other states; state k at its mean there. */
static void centre_of(const laws *l, const sock_model *model, const size_t *place, size_t which, size_t n, double *z)
{
    const size_t d = l->series.d, in = sk_model_in(model);
    for (size_t k = 0; k < in; k++) z[k] = k < d ? 0 : model->structure->input[k - d].usual;
    for (size_t i = 0; i < l->series.steps; i++)
        for (size_t k = 0; place[i] == which && k < d; k++) z[k] += l->m[i * d + k] / (double)n;
}

/* Whether no step of the bin had an input as low, or as high, as its median over the data, where the fields are shown:
 * the model would move what misses to a place where no data are. */
static bool is_elsewhere(const laws *l, const sock_model *model, const size_t *place, size_t which)
{
    const size_t m = model->structure->inputs;
    for (size_t k = 0; k < m; k++) {
        const double usual = model->structure->input[k].usual;
        bool above = false, below = false;
        for (size_t i = 0; i < l->series.steps; i++) {
            if (place[i] != which) continue;
            above = above || l->u[i * m + k] >= usual, below = below || l->u[i * m + k] <= usual;
        }
        if (!above || !below) return true;
    }
    return false;
}

static void put_away(sk_bin *b) { b->f = b->f_se = b->a = b->a_se = (double)NAN; }

/* Slopes of f_k in x_k at the centres of the bins (bins x in). */
static sock_status find_slopes(sock_context *ctx, const sock_model *model, size_t k, size_t bins, double step,
                               const double *centre, double *slope)
{
    const size_t d = model->d, in = sk_model_in(model);
    double *z = sk_doubles(ctx, 2 * bins, in), *f = sk_doubles(ctx, 2 * bins, d);
    sock_status status = z && f ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < 2 * bins; i++) {
        memcpy(z + i * in, centre + i / 2 * in, in * sizeof *z);
        z[i * in + k] += i % 2 ? step : -step;
    }
    if (status >= 0) status = sk_fields_eval(ctx, model, &(sk_fields){.count = 2 * bins, .x = z, .f = f});
    for (size_t i = 0; status >= 0 && i < bins; i++)
        slope[i] = (f[(2 * i + 1) * d + k] - f[2 * i * d + k]) / (2 * step);
    sk_free(z);
    sk_free(f);
    return status;
}

static size_t place_steps(const laws *l, size_t k, size_t *place, double *low, double *high)
{
    const size_t d = l->series.d, n = l->series.steps;
    size_t hits[SK_BINNED_BINS] = {0}, joined[SK_BINNED_BINS], good = 0;
    *low = (double)INFINITY, *high = -(double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!is_good(l, i * d + k)) continue;
        *low = fmin(*low, l->m[i * d + k]), *high = fmax(*high, l->m[i * d + k]);
        good++;
    }
    for (size_t i = 0; i < n; i++) hits[bin_of(*low, *high, l->m[i * d + k])] += is_good(l, i * d + k);
    const size_t least = sk_binned_least(good);
    const size_t bins = good && *high > *low ? join_bins(hits, least, joined) : 0;
    for (size_t i = 0; i < n; i++)
        place[i] = bins && is_good(l, i * d + k) ? joined[bin_of(*low, *high, l->m[i * d + k])] : SIZE_MAX;
    return bins;
}

static sock_status bin_state(sock_context *ctx, const sock_model *model, const laws *l, size_t k, sk_binned *out)
{
    const size_t in = sk_model_in(model);
    double low, high;
    size_t *place = sk_alloc(ctx, l->series.steps + 1, sizeof *place);
    if (!place) return SOCK_ENOMEM;
    const size_t bins = place_steps(l, k, place, &low, &high);
    double *centre = sk_doubles(ctx, bins + 1, in), *slope = sk_doubles(ctx, bins + 1, 1);
    out->bin = sk_alloc(ctx, bins + 1, sizeof *out->bin);
    sock_status status = centre && slope && out->bin ? SOCK_OK : SOCK_ENOMEM;
    for (size_t b = 0; status >= 0 && b < bins; b++) {
        out->bin[b] = (sk_bin){.n = 0};
        finish_means(l, k, place, b, &out->bin[b]);
        centre_of(l, model, place, b, out->bin[b].n, centre + b * in);
    }
    if (status >= 0 && bins) status = find_slopes(ctx, model, k, bins, STEP * (high - low), centre, slope);
    for (size_t b = 0; status >= 0 && b < bins; b++) {
        finish_fields(l, k, place, b, slope[b], &out->bin[b]);
        if (is_elsewhere(l, model, place, b)) put_away(&out->bin[b]);
    }
    for (size_t i = 0; status >= 0 && i < l->series.steps; i++) out->h += l->series.h[i] / (double)l->series.steps;
    for (size_t b = 0; status >= 0 && b < bins; b++) out->turn += fabs(slope[b]) * out->h / (double)bins;
    if (status >= 0) out->bins = bins, out->steps = l->series.steps;
    sk_free(place);
    sk_free(centre);
    sk_free(slope);
    return status;
}

/* ---- Planes ---- */

/* How what is missed of the two f of a box goes together: their correlation over its steps. */
static double correlate(const laws *l, const size_t pair[2], const size_t *place, size_t which, size_t n)
{
    const size_t d = l->series.d;
    double mean[2] = {0}, square[3] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < l->series.steps; i++) {
            if (place[i] != which) continue;
            double e[2];
            for (size_t w = 0; w < 2; w++) {
                e[w] = l->series.next[i * d + pair[w]] - l->mean[i * d + pair[w]] - mean[w];
                if (pass) square[w] += e[w] * e[w];
            }
            if (pass) square[2] += e[0] * e[1];
            for (size_t w = 0; !pass && w < 2; w++) mean[w] += e[w] / (double)n;
        }
    const double both = sqrt(square[0] * square[1]);
    return both > 0 ? fmax(-1, fmin(1, square[2] / both)) : 0;
}

/* room: a place and a rank for each step. */
static size_t place_pair(const laws *l, const size_t pair[2], size_t *room)
{
    const size_t d = l->series.d, n = l->series.steps;
    for (size_t i = 0; i < n; i++) room[i] = is_good(l, i * d + pair[0]) && is_good(l, i * d + pair[1]) ? 0 : SIZE_MAX;
    return sk_boxes_place(n, d, l->m, pair, room + n, room);
}

/* A difference of a slope, in the range of a state. */
static double small_step(const laws *l, size_t k)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (size_t i = 0; i < l->series.steps; i++) {
        if (!is_good(l, i * l->series.d + k)) continue;
        low = fmin(low, l->m[i * l->series.d + k]), high = fmax(high, l->m[i * l->series.d + k]);
    }
    return STEP * (high - low);
}

/* centre: boxes x in. slope: boxes. */
static sock_status fill_boxes(sock_context *ctx, const sock_model *model, const laws *l, const size_t *place,
                              double *centre, double *slope, sk_boxed *out)
{
    const size_t in = sk_model_in(model);
    for (size_t w = 0; w < 2; w++) {
        for (size_t b = 0; b < out->boxes; b++) {
            sk_bin *bin = &out->bin[2 * b + w];
            *bin = (sk_bin){.n = 0};
            finish_means(l, out->pair[w], place, b, bin);
            if (!w) centre_of(l, model, place, b, bin->n, centre + b * in);
            if (!w) out->together[b] = correlate(l, out->pair, place, b, bin->n);
        }
        SK_TRY(find_slopes(ctx, model, out->pair[w], out->boxes, small_step(l, out->pair[w]), centre, slope));
        for (size_t b = 0; b < out->boxes; b++) {
            finish_fields(l, out->pair[w], place, b, slope[b], &out->bin[2 * b + w]);
            if (is_elsewhere(l, model, place, b)) put_away(&out->bin[2 * b + w]);
        }
    }
    for (size_t b = 0; b < out->boxes; b++)
        memcpy(out->centre + b * model->d, centre + b * in, model->d * sizeof *centre);
    return SOCK_OK;
}

static sock_status box_pair(sock_context *ctx, const sock_model *model, const laws *l, sk_boxed *out)
{
    const size_t n = l->series.steps;
    size_t *room = sk_alloc(ctx, 2 * n + 1, sizeof *room);
    if (!room) return SOCK_ENOMEM;
    const size_t boxes = place_pair(l, out->pair, room);
    out->steps = n, out->boxes = boxes;
    for (size_t i = 0; i < n; i++) out->h += l->series.h[i] / (double)n;
    double *centre = sk_doubles(ctx, boxes + 1, sk_model_in(model)), *slope = sk_doubles(ctx, boxes + 1, 1);
    out->bin = sk_alloc(ctx, 2 * boxes + 1, sizeof *out->bin);
    out->centre = sk_doubles(ctx, boxes + 1, model->d);
    out->together = sk_doubles(ctx, boxes + 1, 1);
    sock_status status = centre && slope && out->bin && out->centre && out->together ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && boxes) status = fill_boxes(ctx, model, l, room, centre, slope, out);
    sk_free(room);
    sk_free(centre);
    sk_free(slope);
    return status;
}

static sock_status make_planes(sock_context *ctx, const sock_model *model, const laws *l, sk_binned_all *out)
{
    const size_t d = sk_binned_planes(model->d);
    sock_status status = SOCK_OK;
    out->plane = sk_alloc(ctx, d * d + 1, sizeof *out->plane);
    if (!out->plane) return SOCK_ENOMEM;
    for (size_t u = 0; u < d; u++)
        for (size_t v = u + 1; status >= 0 && v < d; v++) {
            sk_boxed *plane = &out->plane[out->planes++];
            *plane = (sk_boxed){.pair = {u, v}};
            status = box_pair(ctx, model, l, plane);
        }
    return status;
}

sock_status sk_binned_make(sock_context *ctx, const sock_model *model, const sock_data *data, const bool *skip,
                           size_t states, sk_binned_all *out)
{
    sock_status status = SOCK_OK;
    *out = (sk_binned_all){.of = sk_alloc(ctx, states * SK_BINNED_LAGS, sizeof *out->of)};
    if (!out->of) return SOCK_ENOMEM;
    const size_t lags = is_filtered(model) ? SK_BINNED_LAGS : 1; /* the others know single intervals alone */
    for (size_t lag = 0, every = 1; status >= 0 && lag < lags; lag++, every *= 2) {
        laws l;
        status = take_steps(ctx, data, skip, every, &l);
        double turn = 0;
        const bool enough = status >= 0 && sk_binned_has_steps(l.series.steps, lag > 0);
        if (enough) status = find_laws(ctx, model, data, &l);
        if (enough && status >= 0) status = find_inputs(ctx, model, data, &l);
        for (size_t k = 0; enough && status >= 0 && k < states; k++) {
            out->of[out->count] = (sk_binned){.state = k, .every = every};
            status = bin_state(ctx, model, &l, k, &out->of[out->count]);
            turn = fmax(turn, out->of[out->count++].turn);
        }
        if (enough && !lag && status >= 0) status = make_planes(ctx, model, &l, out);
        laws_clear(&l);
        if (!enough || sk_binned_forgets(turn)) break; /* the next ends would know nothing of their starts */
    }
    if (status < 0) sk_binned_clear(out);
    return status;
}
