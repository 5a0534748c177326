/* curvepanel.c - see curvepanel.h. */
#include "curvepanel.h"

#include "datalook.h"
#include "driven.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BARS = 60 };

/* The band where 90 % of the data are, up to twice the length of what is seen without it on either side: a band that
 * knows nothing must not make the curve a line along the axis. */
static void see_band(const curve_set *c, double first, double last, range *inner)
{
    const double most = 2, length = inner->high - inner->low;
    const range all = {inner->low - most * length, inner->high + most * length};
    for (size_t i = 0; c->band && i < 2 * c->count; i++) {
        const double x = c->x[i % c->count], y = c->band[i];
        if (!(x >= first && x <= last)) continue;
        range_see(inner, length > 0 ? fmin(fmax(y, all.low), all.high) : y);
    }
}

/* All of the truth, the model where 99 % of the data are and its band where 90 % are; further out the model may leave
 * by the length of that range, and no more, so that a wild end does not flatten the rest. */
static range heights(const curve_set *c)
{
    const double low = look_quantile(c->values, c->sorted, 0.005), high = look_quantile(c->values, c->sorted, 0.995);
    const double first = look_quantile(c->values, c->sorted, 0.05), last = look_quantile(c->values, c->sorted, 0.95);
    range inner = range_empty(), outer = range_empty();
    for (size_t i = 0; i < c->count; i++) {
        if (c->truth) range_see(&inner, c->truth[i]);
        if (c->x[i] >= low && c->x[i] <= high) range_see(&inner, c->model[i]);
        range_see(&outer, c->model[i]);
    }
    for (size_t i = 0; c->dots && i < c->dots->count; i++) {
        const double y = dots_height(c->dots, i, c->count, c->x, c->model);
        const double bar = c->dots->se[i] * LOOK_NINETY;
        range_see(&outer, y - bar), range_see(&outer, y + bar);
        if (c->dots->x[i] >= first && c->dots->x[i] <= last) range_see(&inner, y - bar), range_see(&inner, y + bar);
    }
    see_band(c, first, last, &inner);
    if (!(inner.low <= inner.high)) inner = outer;
    const double length = inner.high - inner.low;
    if (length > 0) {
        inner.low = fmin(inner.low, fmax(outer.low, inner.low - length));
        inner.high = fmax(inner.high, fmin(outer.high, inner.high + length));
    }
    if (c->from_zero) range_see(&inner, 0);
    return range_widen(inner, 0.06);
}

/* Bars beneath the plot area, down to the axis. */
static void histogram(const panel *p, const curve_set *c)
{
    size_t bars[BARS] = {0}, most = 1;
    const double low = c->sorted[0], high = c->sorted[c->values - 1], top = p->y.from + 8, tall = p->foot - top;
    for (size_t i = 0; i < c->values; i++) {
        const double share = high > low ? (c->sorted[i] - low) / (high - low) : 0.5;
        const size_t bar = share < 1 ? (size_t)(share * BARS) : BARS - 1;
        if (++bars[bar] > most) most = bars[bar];
    }
    double box[4 * BARS];
    size_t boxes = 0;
    const double left = axis_at(&p->x, low), wide = fmax(0.5, (axis_at(&p->x, high) - left) / BARS);
    for (size_t b = 0; b < BARS; b++) {
        const double height = tall * (double)bars[b] / (double)most;
        const double from = left + wide * (double)b;
        const double made[4] = {from, p->foot - height, wide * 0.92, height};
        if (bars[b] && from >= p->x.from - 1 && from + wide <= p->x.to + 1)
            memcpy(box + 4 * boxes++, made, sizeof made);
    }
    svg_boxes(p->s, "bar", boxes, box);
}

/* Whether so few data are around grid point i that the model there may be a guess: fewer than one in a thousand of all
 * within a twentieth of the range; where there are so few that even shares of them were not met there, within that of
 * four. */
static int is_lonely(const curve_set *c, size_t i)
{
    const double reach = fmax(0.05, 4 / (double)c->values) * (c->sorted[c->values - 1] - c->sorted[0]);
    size_t near = 0, least = c->values / 1000 > 3 ? c->values / 1000 : 3, begin = 0, end = c->values;
    while (begin < end) { /* the first that is not below */
        const size_t middle = (begin + end) / 2;
        if (c->sorted[middle] < c->x[i] - reach)
            begin = middle + 1;
        else
            end = middle;
    }
    while (near < least && begin + near < c->values && c->sorted[begin + near] <= c->x[i] + reach) near++;
    return near < least || (c->outside && c->band && c->outside[i]);
}

/* Points begin .. end of the grid where nothing changes. */
static size_t run_end(const curve_set *c, const char *guess, size_t begin)
{
    size_t end = begin + 1;
    while (end < c->count && guess[end] == guess[begin]) end++;
    return end;
}

static size_t values_within(const curve_set *c, double low, double high)
{
    size_t count = 0;
    for (size_t i = 0; i < c->values; i++) count += c->sorted[i] >= low && c->sorted[i] <= high;
    return count;
}

/* Where the curve is a guess: where few data are. Stripes would read as faults of the line: a gap of less than a
 * twentieth of the curve among data is none, and a few data (one in a hundred) far from all others make no piece of
 * curve that is known. NULL: out of memory. */
static char *find_guesses(const curve_set *c)
{
    const size_t gap = c->count / 20 + 1, island = c->count / 8 + 1;
    char *guess = calloc(c->count + 1, 1);
    if (!guess) return NULL;
    for (size_t i = 0; i < c->count; i++) guess[i] = is_lonely(c, i) != 0;
    for (size_t begin = 0, end; begin < c->count; begin = end) {
        end = run_end(c, guess, begin);
        if (guess[begin] && begin > 0 && end < c->count && end - begin < gap) memset(guess + begin, 0, end - begin);
    }
    for (size_t begin = 0, end; begin < c->count; begin = end) {
        end = run_end(c, guess, begin);
        const int all = begin == 0 && end == c->count;
        if (!guess[begin] && !all && end - begin < island &&
            values_within(c, c->x[begin], c->x[end - 1]) < c->values / 100)
            memset(guess + begin, 1, end - begin);
    }
    return guess;
}

int curve_guesses(const curve_set *c)
{
    char *guess = find_guesses(c);
    const int any = guess && memchr(guess, 1, c->count) != NULL;
    free(guess);
    return any;
}

/* Band and curve, faint where the data are not: there a polynomial's band knows nothing of other forms. */
static int draw_piece(const panel *p, const curve_set *c, size_t begin, size_t count, int guess)
{
    const double *x = c->x + begin;
    int good = 1;
    if (c->band) {
        const double *low = c->band + begin, *high = low + c->count;
        good = panel_band(p, guess ? "beyond" : "fan90", count, x, low, high);
        if (guess) good = good && panel_curve(p, "limit", count, x, low) && panel_curve(p, "limit", count, x, high);
    }
    return good && panel_curve(p, guess ? "faint" : "model", count, x, c->model + begin);
}

static int draw_model(const panel *p, const curve_set *c)
{
    char *guesses = find_guesses(c);
    int good = guesses != NULL;
    for (size_t begin = 0, end; good && begin + 1 < c->count; begin = end) {
        const int guess = guesses[begin] || guesses[begin + 1];
        for (end = begin + 1; end + 1 < c->count; end++)
            if (guess != (guesses[end] || guesses[end + 1])) break;
        good = draw_piece(p, c, begin, end - begin + 1, guess);
    }
    free(guesses);
    return good;
}

static void draw_dots(const panel *p, const curve_set *c)
{
    for (size_t i = 0; c->dots && i < c->dots->count; i++) {
        const double y = dots_height(c->dots, i, c->count, c->x, c->model), bar = c->dots->se[i] * LOOK_NINETY;
        const double at[2] = {axis_at(&p->x, c->dots->x[i]), axis_at(&p->y, y)};
        svg_line(p->s, "error", (double[]){at[0], axis_at(&p->y, y - bar)}, (double[]){at[0], axis_at(&p->y, y + bar)});
        svg_dot(p->s, "moment", at, 2.6);
    }
}

int curve_panel(sheet *s, const curve_set *c, const char *title, const char *x_name)
{
    panel p;
    const range across = range_widen((range){c->x[0], c->x[c->count - 1]}, 0.01);
    if (!sheet_panel(s, across, heights(c), &p)) return 0;
    panel_frame(&p, title, x_name);
    panel_zero(&p);
    histogram(&p, c);
    panel_clip(&p);
    int good = draw_model(&p, c);
    if (c->truth) good = panel_curve(&p, "truth", c->count, c->x, c->truth) && good;
    draw_dots(&p, c);
    svg_clip_end(p.s);
    return good;
}

int curve_shows_truth(const curve_set *c)
{
    const range up = heights(c);
    for (size_t i = 0; c->truth && i < c->count; i++)
        if (c->truth[i] >= up.low && c->truth[i] <= up.high) return 1;
    return 0;
}

void curve_reach(const sock_model *model, size_t k, double low, double high, double out[2])
{
    const size_t d = sock_model_dim(model);
    const double more = CURVE_MARGIN / 100.0 * (high - low);
    double *bound = calloc(2 * d, sizeof *bound);
    out[0] = low - more, out[1] = high + more;
    if (bound && sock_model_bounds(model, bound, bound + d)) {
        if (out[0] < bound[k]) out[0] = fmin(low, bound[k]);
        if (out[1] > bound[d + k]) out[1] = fmax(high, bound[d + k]);
    }
    free(bound);
}

void curve_keys(sheet *s, const curve_key *has)
{
    sheet_key(s, LEGEND_LINE, "model", "model");
    if (has->band) sheet_key(s, LEGEND_BOX, "fan90", "its band, 90 %");
    if (has->dots)
        sheet_key(s, LEGEND_MOMENT, "moment",
                  has->moved ? "data, binned, moved to these inputs, 90 %" : "data, binned, 90 %");
    if (has->guess) sheet_key(s, LEGEND_LINE, "faint", "a guess: few data");
    if (has->truth) sheet_key(s, LEGEND_LINE, "truth", "truth");
    sheet_key(s, LEGEND_BOX, "bar", "where the data are");
}

static void take(size_t count, size_t each, size_t place, const double *low, const double *high, double *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = low[i * each + place];
        out[count + i] = high[i * each + place];
    }
}

sock_status curve_bands(sock_context *ctx, const sock_model *model, size_t k, size_t count, const double *x,
                        curve_ends *out)
{
    const double level = 0.9;
    const size_t d = sock_model_dim(model);
    out->has_f = out->has_a = 0;
    if (!sock_model_has_bands(model)) return SOCK_OK;
    double *low = calloc(count * d * d + 1, sizeof *low), *high = calloc(count * d * d + 1, sizeof *high);
    sock_status status = low && high ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0)
        status = driven_bands(ctx, model, count, x, level,
                              &(sock_bands){.f_low = low, .f_high = high, .outside = out->outside});
    if (status >= 0) take(count, d, k, low, high, out->f);
    out->has_f = status >= 0;
    if (status >= 0) status = driven_bands(ctx, model, count, x, level, &(sock_bands){.a_low = low, .a_high = high});
    if (status >= 0) take(count, d * d, k * (d + 1), low, high, out->a);
    out->has_a = status >= 0;
    free(low), free(high);
    return out->has_f && status == SOCK_EUSAGE ? SOCK_OK : status; /* a may have none */
}
