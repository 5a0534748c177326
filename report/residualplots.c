/* residualplots.c - looks at standardised residuals, or at the scores of the check: their histogram and their
 * quantiles beside those of their law, their autocorrelation and that of their squares, and whether they hang on the
 * state, or, where times are dates, on the time of day, of the week or of the year. */
#define _GNU_SOURCE
#include "evidence.h"
#include "lifted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BARS = 41, SHARES = 20, CURVE = 121, QUANTILES = 240, BINS = 15, DOTS = 1500, STATES_MOST = 3 };

static int histogram_panel(sheet *s, size_t count, const double *sorted)
{
    static const double reach = 4;
    double bar[BARS] = {0}, x[CURVE], law[CURVE], tallest = 0.42;
    const double width = 2 * reach / BARS;
    panel p;
    for (size_t i = 0; i < count; i++) {
        const double place = floor((sorted[i] + reach) / width);
        bar[(size_t)fmax(0, fmin(BARS - 1, place))] += 1 / ((double)count * width);
    }
    for (size_t b = 0; b < BARS; b++) tallest = fmax(tallest, bar[b]);
    if (!sheet_panel(s, (range){-reach, reach}, (range){0, 1.05 * tallest}, &p)) return 0;
    panel_frame(&p, "histogram", "residual");
    for (size_t b = 0; b < BARS; b++) {
        const double left = axis_at(&p.x, -reach + width * (double)b), top = axis_at(&p.y, bar[b]);
        svg_rect(p.s, "bar", (double[]){left, top}, (double[]){width * axis_scale(&p.x) * 0.92, p.y.from - top});
    }
    for (size_t i = 0; i < CURVE; i++) {
        x[i] = -reach + 2 * reach * (double)i / (CURVE - 1);
        law[i] = exp(-x[i] * x[i] / 2) / sqrt(2 * 3.14159265358979323846);
    }
    return panel_curve(&p, "law", CURVE, x, law);
}

/* Shares of the scores: even, within limits that 90 % of the bars of a right model keep. */
static int share_panel(sheet *s, size_t count, const double *sorted)
{
    double bar[SHARES] = {0}, tallest = 0;
    const double limit = LOOK_NINETY * sqrt((SHARES - 1) / (double)(count ? count : 1));
    panel p;
    for (size_t i = 0; i < count; i++)
        bar[(size_t)fmin(SHARES - 1, floor(SHARES * sorted[i]))] += SHARES / (double)count;
    for (size_t b = 0; b < SHARES; b++) tallest = fmax(tallest, bar[b]);
    if (!sheet_panel(s, (range){0, 1}, (range){0, 1.05 * fmax(tallest, 1 + 1.5 * limit)}, &p)) return 0;
    panel_frame(&p, "place among simulated ends", "share of them below");
    for (size_t b = 0; b < SHARES; b++) {
        const double left = axis_at(&p.x, (double)b / SHARES), top = axis_at(&p.y, bar[b]);
        svg_rect(p.s, "bar", (double[]){left, top}, (double[]){axis_scale(&p.x) / SHARES * 0.92, p.y.from - top});
    }
    for (int side = -1; side <= 1; side += 2) {
        const double y = axis_at(&p.y, fmax(1 + side * limit, 0));
        svg_line(p.s, "limit", (double[]){p.x.from, y}, (double[]){p.x.to, y});
    }
    return panel_curve(&p, "law", 2, (double[]){0, 1}, (double[]){1, 1});
}

static int quantile_panel(sheet *s, size_t count, const double *sorted)
{
    const size_t shown = count < QUANTILES ? count : QUANTILES;
    double dots[2 * QUANTILES];
    const double reach = res_normal_quantile(1 - 0.5 / (double)(count + 1));
    range up = {-reach, reach};
    panel p;
    if (count) range_see(&up, fmax(sorted[0], -3 * reach)), range_see(&up, fmin(sorted[count - 1], 3 * reach));
    up = range_widen(up, 0.04);
    if (!sheet_panel(s, range_widen((range){-reach, reach}, 0.04), up, &p)) return 0;
    panel_frame(&p, "quantiles", "quantile of the normal law");
    panel_clip(&p);
    const int good = panel_curve(&p, "law", 2, (double[]){-reach, reach}, (double[]){-reach, reach});
    /* evenly in the normal's quantiles, so that the tails are seen; the outermost ones included */
    for (size_t i = 0; i < shown; i++) {
        const double at = -reach + 2 * reach * (double)i / (double)(shown > 1 ? shown - 1 : 1);
        const double share = 0.5 * erfc(-at / sqrt(2)), place = share * (double)count - 0.5;
        const size_t index = (size_t)fmax(0, fmin((double)count - 1, round(place)));
        const double normal = res_normal_quantile(((double)index + 0.5) / (double)count);
        dots[2 * i] = axis_at(&p.x, normal), dots[2 * i + 1] = axis_at(&p.y, sorted[index]);
    }
    svg_dots(p.s, "mark", shown, dots, 1.8);
    svg_clip_end(p.s);
    return good;
}

static int correlation_panel(sheet *s, const res_moments *m)
{
    double at[RES_LAGS], limit[2][RES_LAGS];
    size_t shown = 0;
    while (shown < RES_LAGS && isfinite(m->lag[shown + 1])) shown++;
    for (size_t i = 0; i < shown; i++) {
        at[i] = (double)(i + 1);
        limit[0][i] = LOOK_NINETY / sqrt((double)m->pairs[i + 1]), limit[1][i] = -limit[0][i];
    }
    const double widest = shown ? limit[0][shown - 1] : 1;
    range up = {-1.5 * widest, 1.5 * widest};
    panel p;
    for (int lag = 1; lag <= RES_LAGS; lag++) range_see(&up, m->lag[lag]), range_see(&up, m->squares[lag]);
    if (!sheet_panel(s, (range){0, RES_LAGS + 1}, range_widen(up, 0.08), &p)) return 0;
    panel_frame(&p, "autocorrelation", "lag [steps]");
    panel_zero(&p);
    for (size_t side = 0; side < 2 && shown; side++)
        if (!panel_curve(&p, "limit", shown, at, limit[side])) return 0;
    for (size_t lag = 1; lag <= shown; lag++) {
        const double x = axis_at(&p.x, (double)lag), zero = axis_at(&p.y, 0), top = axis_at(&p.y, m->lag[lag]);
        if (isfinite(m->lag[lag])) svg_line(p.s, "model", (double[]){x - 1.5, zero}, (double[]){x - 1.5, top});
        svg_dot(p.s, "best", (double[]){x + 3, axis_at(&p.y, m->squares[lag])}, 2.4);
    }
    return 1;
}

/* ---- Against the state ---- */

typedef struct bins {
    double at[BINS], mean[BINS], low[BINS], high[BINS];
    size_t count;
} bins;

/* Bins of equal numbers of points: mean and standard deviation of r_k in each. order: steps sorted by x_k. */
static bins fill_bins(const res_set *s, size_t k, size_t steps, const size_t *order)
{
    bins b = {.count = 0};
    for (size_t i = 0; i < BINS; i++) {
        const size_t from = i * steps / BINS, to = (i + 1) * steps / BINS;
        double n = (double)(to - from), x = 0, mean = 0, square = 0;
        if (to < from + 5) continue;
        for (size_t o = from; o < to; o++) x += s->x[order[o] * s->d + k] / n, mean += s->r[order[o] * s->d + k] / n;
        for (size_t o = from; o < to; o++) square += pow(s->r[order[o] * s->d + k] - mean, 2) / n;
        b.at[b.count] = x, b.mean[b.count] = mean;
        b.low[b.count] = mean - sqrt(square), b.high[b.count++] = mean + sqrt(square);
    }
    return b;
}

typedef struct ordered {
    double x;
    size_t step;
} ordered;

static int by_x(const void *a, const void *b)
{
    const ordered *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->step > q->step) - (p->step < q->step);
}

/* Steps with a finite residual in state k, by x_k. NULL when out of memory. */
static size_t *order_steps(const res_set *s, size_t k, size_t *count)
{
    ordered *list = calloc(s->steps + 1, sizeof *list);
    size_t *order = calloc(s->steps + 1, sizeof *order);
    *count = 0;
    for (size_t i = 0; list && order && i < s->steps; i++)
        if (isfinite(s->r[i * s->d + k])) list[(*count)++] = (ordered){s->x[i * s->d + k], i};
    if (list && order) qsort(list, *count, sizeof *list, by_x);
    for (size_t i = 0; list && order && i < *count; i++) order[i] = list[i].step;
    if (!list) free(order), order = NULL;
    free(list);
    return order;
}

static int draw_state(const panel *p, const res_set *set, size_t k, size_t count, const size_t *order)
{
    const bins b = fill_bins(set, k, count, order);
    const size_t every = count / DOTS + 1;
    double dots[2 * DOTS];
    size_t shown = 0;
    panel_zero(p);
    panel_clip(p);
    for (size_t i = 0; i < count; i += every, shown++) {
        const size_t o = order[i];
        dots[2 * shown] = axis_at(&p->x, set->x[o * set->d + k]);
        dots[2 * shown + 1] = axis_at(&p->y, set->r[o * set->d + k]);
    }
    svg_dots(p->s, "dot", shown, dots, 1.2);
    for (int side = -1; side <= 1; side++) {
        const double y = axis_at(&p->y, side);
        if (side) svg_line(p->s, "limit", (double[]){p->x.from, y}, (double[]){p->x.to, y});
    }
    const int good = panel_curve(p, "law", b.count, b.at, b.mean) && panel_curve(p, "law", b.count, b.at, b.low) &&
                     panel_curve(p, "law", b.count, b.at, b.high);
    svg_clip_end(p->s);
    return good;
}

/* Residuals of state k against the numbers that set->x has. */
static int against_panel(sheet *s, const res_set *set, size_t k, const char *title, const char *label)
{
    size_t count = 0;
    panel p;
    size_t *order = order_steps(set, k, &count);
    if (!order) return 0;
    range across = range_empty();
    for (size_t i = 0; i < count; i++) range_see(&across, set->x[order[i] * set->d + k]);
    int good = sheet_panel(s, range_widen(across, 0.03), (range){-4.2, 4.2}, &p);
    if (good) panel_frame(&p, title, label);
    if (good) good = draw_state(&p, set, k, count, order);
    free(order);
    return good;
}

static int state_panel(sheet *s, const fig_input *in, const res_set *set, size_t k)
{
    char title[120];
    if (set->d > 1)
        snprintf(title, sizeof title, "%s of %.60s", set->pit ? "score" : "residual", sock_model_name(in->model, k));
    else
        snprintf(title, sizeof title, "against the state");
    return against_panel(s, set, k, title, sock_model_name(in->model, k));
}

/* ---- Against the time of day, of the week, of the year ---- */

/* How a season of the calendar is counted: in so many parts, from `first` of it after 1970 began, a Thursday. */
static const struct {
    const char *name, *title, *label;
    double parts, first;
} clocks[] = {{"24 hours", "time of day", "hour", 24, 0},
              {"7 days", "time of the week", "day from Monday", 7, 3.0 / 7},
              {"12 months", "time of year", "month", 12, 0}};

static int season_panel(sheet *s, const fig_input *in, const res_set *set, size_t j, size_t k)
{
    size_t c = 0;
    char title[120];
    while (c + 1 < sizeof clocks / sizeof *clocks && strcmp(clocks[c].name, set->season_name[j]) != 0) c++;
    res_set along = *set;
    along.x = calloc(set->steps * set->d + 1, sizeof *along.x);
    if (!along.x) return 0;
    for (size_t i = 0; i < set->steps * set->d; i++) {
        const double turns = set->t[i / set->d] / set->season[j] + clocks[c].first;
        along.x[i] = clocks[c].parts * (turns - floor(turns));
    }
    snprintf(title, sizeof title, set->d > 1 ? "%s: %.60s" : "%s", clocks[c].title, sock_model_name(in->model, k));
    const int good = against_panel(s, &along, k, title, clocks[c].label);
    free(along.x);
    return good;
}

/* ---- The picture ---- */

static void draw_notes(sheet *s, const res_set *set, const res_moments *m)
{
    char text[400];
    int used = snprintf(text, sizeof text,
                        "%s, state by state: %zu %s, mean %.3f, standard deviation %.3f, kurtosis %.2f, %.1f %% beyond "
                        "\xc2\xb1"
                        "1.64 (10 \xc2\xb1 %.2g %% expected)",
                        set->pit ? "Where observed ends stand among simulated ones, as normal scores"
                                 : "(x(t+h) \xe2\x88\x92 x(t) \xe2\x88\x92 h f) / \xe2\x88\x9a(h a)",
                        m->count, set->pit ? "scores" : "residuals", m->mean, m->sd, m->kurtosis, 100 * m->beyond,
                        LOOK_NINETY * 30 / sqrt((double)(m->count ? m->count : 1))); /* 100 sqrt(0.1 0.9 / n) */
    const size_t lost = set->steps * set->d - m->count;
    if (lost)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %zu %s", lost,
                         set->pit ? "without a score (the state follows from others, or no end could be simulated)"
                                  : "left out where a is 0");
    if (set->steps < set->all)
        snprintf(text + used, sizeof text - (size_t)used, "; %zu of %zu steps", set->steps, set->all);
    sheet_note(s, text);
}

static char *draw(const fig_input *in, const res_set *set, const res_moments *m, size_t *size)
{
    const size_t states = set->d < STATES_MOST ? set->d : STATES_MOST;
    const sheet_plan plan = {.id = set->pit ? "check" : "residuals",
                             .heading = set->pit ? "Scores of the check" : "Standardised residuals",
                             .form = in->form,
                             .panels = 3 + states * (1 + set->seasons),
                             .columns = 2,
                             .wide = 312,
                             .tall = 180,
                             .notes = 2};
    size_t count = 0;
    double *sorted = res_sorted(set, set->r, &count), *share = set->pit ? res_sorted(set, set->pit, &count) : NULL;
    sheet *s = sheet_new(&plan);
    int good = s && sorted && (share || !set->pit);
    if (s) {
        sheet_key(s, LEGEND_BOX, "bar", set->pit ? "scores" : "residuals");
        sheet_key(s, LEGEND_LINE, "law", "normal law; mean \xc2\xb1 deviation");
        sheet_key(s, LEGEND_LINE, "model", "autocorrelation");
        sheet_key(s, LEGEND_DOT, "best", "of their squares");
        good = good && (share ? share_panel(s, count, share) : histogram_panel(s, count, sorted)) &&
               quantile_panel(s, count, sorted) && correlation_panel(s, m);
        for (size_t k = 0; good && k < states; k++) good = state_panel(s, in, set, k);
        for (size_t i = 0; good && i < set->seasons * states; i++)
            good = season_panel(s, in, set, i / states, i % states);
        draw_notes(s, set, m);
    }
    free(sorted);
    free(share);
    return s ? sheet_close(s, good, size) : NULL;
}

static void keep_numbers(const fig_input *in, const res_set *set, const res_moments *m)
{
    const size_t d = set->d, columns = 2 + 2 * d, every = set->steps * columns / FIG_NUMBERS_MOST + 1;
    fig_table *t =
        tables_add(in->tables, columns, (set->steps + every - 1) / every, NULL, set->pit ? "check" : "residuals");
    if (t && every > 1) t->every = every;
    table_column(in->tables, t, 0, set->pit ? "piece" : "trajectory", "");
    table_column(in->tables, t, 1, fig_time_name(in), "");
    for (size_t k = 0; k < d; k++) {
        table_column(in->tables, t, 2 + k, sock_model_name(in->model, k), "");
        table_column(in->tables, t, 2 + d + k, set->pit ? "v_" : "r_", sock_model_name(in->model, k));
    }
    for (size_t i = 0; t && i < t->rows; i++) {
        double *row = t->value + i * columns;
        row[0] = (double)set->trajectory[i * every], row[1] = set->t[i * every];
        for (size_t k = 0; k < d; k++) row[2 + k] = set->x[i * every * d + k];
        for (size_t k = 0; k < d; k++) row[2 + d + k] = set->r[i * every * d + k];
    }
    fig_table *acf =
        tables_add(in->tables, 3, RES_LAGS, "lines:1,2", set->pit ? "autocorrelation of scores" : "autocorrelation");
    table_column(in->tables, acf, 0, "lag", "");
    table_column(in->tables, acf, 1, "autocorrelation", "");
    table_column(in->tables, acf, 2, "of the squares", "");
    for (size_t lag = 1; acf && lag <= RES_LAGS; lag++) {
        double *row = acf->value + 3 * (lag - 1);
        row[0] = (double)lag, row[1] = m->lag[lag], row[2] = m->squares[lag];
    }
}

static sock_status show(const fig_input *in, const res_set *set, const res_moments *m, char **text, size_t *size)
{
    char *made = draw(in, set, m, size);
    if (made) *text = made;
    if (made) keep_numbers(in, set, m);
    return made ? SOCK_OK : SOCK_ENOMEM;
}

sock_status fig_residuals(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    const res_set *set;
    const res_moments *m;
    const sock_status status = evidence_residuals(ctx, in, &set, &m);
    return status < 0 ? status : show(in, set, m, text, size);
}

sock_status fig_check(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    res_set set;
    sock_status status;
    sock_options *opts = res_options(ctx, in->bounds, in->lower, in->upper, &status);
    if (status >= 0) status = res_scores(ctx, in->model, lifted_observed(in), opts, &set);
    sock_options_free(opts);
    if (status < 0) return status;
    const res_moments m = res_look(&set);
    status = show(in, &set, &m, text, size);
    res_free(&set);
    return status;
}
