/* searchplot.c - the search as curves: held-out score over the penalty for each kernel, and over the length scale where
 * Gaussian kernels were tried. Scores are differences from the best, in nats. */
#define _GNU_SOURCE
#include "evidence.h"
#include "searchlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = 6, KEY_ROW = 15 };

static const char *const line_class[COLOURS] = {"c0", "c1", "c2", "c3", "c4", "c5"};
static const char *const dot_class[COLOURS] = {"p0", "p1", "p2", "p3", "p4", "p5"};

/* How far down the axis goes: so that the sixth best is well inside, and never so far that the best look alike. */
static double depth(const search_look *look)
{
    const size_t last = look->count < COLOURS ? look->count - 1 : COLOURS - 1;
    return fmax(6, fmin(2.2 * (look->entry[0].best - look->entry[last].best), 400));
}

static range penalties(const search_look *look)
{
    range r = range_empty();
    for (size_t i = 0; i < look->count; i++)
        for (size_t j = 0; j < look->entry[i].count; j++) range_see(&r, look->entry[i].curve[j][0]);
    return range_widen(r, 0.04);
}

static int draw_curve(const panel *p, const search_look *look, size_t i)
{
    const search_entry *e = &look->entry[i];
    double *xs = calloc(2 * e->count + 2, sizeof *xs), *ys = xs ? xs + e->count + 1 : NULL;
    const double best = look->entry[0].best;
    if (!xs) return 0;
    for (size_t j = 0; j < e->count; j++) xs[j] = e->curve[j][0], ys[j] = e->curve[j][1] - best;
    int good = panel_curve(p, i < COLOURS ? line_class[i] : "rest", e->count, xs, ys);
    free(xs);
    if (isfinite(e->l) && e->l > 0)
        svg_dot(p->s, i < COLOURS ? dot_class[i] : "other",
                (double[]){axis_at(&p->x, log10(e->l)), axis_at(&p->y, e->best - best)}, i < COLOURS ? 3.4 : 2);
    else /* no penalty: the same height everywhere */
        good = panel_curve(p, i < COLOURS ? line_class[i] : "rest", 2, (double[]){p->x.low, p->x.high},
                           (double[]){e->best - best, e->best - best}) &&
               good;
    return good;
}

/* The best ones by name, in two columns beneath the panel. */
static void draw_names(const panel *p, const search_look *look)
{
    const double middle = (p->x.to - p->x.from) / 2;
    for (size_t i = 0; i < look->count && i < COLOURS; i++) {
        const double x = p->x.from - 44 + (double)(i % 2) * (middle + 30), y = p->foot + 54 + KEY_ROW * (double)(i / 2);
        svg_line(p->s, line_class[i], (double[]){x, y - 4}, (double[]){x + 20, y - 4});
        svg_text(p->s, "tick", (double[]){x + 26, y}, SVG_START, 26, look->entry[i].kernel);
    }
}

static int penalty_panel(sheet *s, const search_look *look, const char *field)
{
    char title[80];
    panel p;
    const double low = -depth(look);
    if (!sheet_panel(s, penalties(look), (range){1.06 * low, -0.06 * low}, &p)) return 0;
    snprintf(title, sizeof title, "%s: score over the penalty", field);
    panel_frame(&p, title, "log\xe2\x82\x81\xe2\x82\x80 of the penalty l");
    panel_zero(&p);
    svg_line(p.s, "limit", (double[]){p.x.from, axis_at(&p.y, -2)}, (double[]){p.x.to, axis_at(&p.y, -2)});
    panel_clip(&p);
    int good = 1;
    for (size_t i = look->count; good && i-- > 0;) good = draw_curve(&p, look, i);
    svg_clip_end(p.s);
    draw_names(&p, look);
    return good;
}

/* ---- Over the length scale ---- */

/* What a kernel is apart from its eta: two with the same make one curve. */
static int same_family(const char *a, const char *b)
{
    const char *x = strstr(a, "eta="), *y = strstr(b, "eta=");
    if (!x || !y || x - a != y - b || strncmp(a, b, (size_t)(x - a)) != 0) return 0;
    return strcmp(x + strcspn(x, ", +"), y + strcspn(y, ", +")) == 0;
}

static size_t with_scale(const search_look *look)
{
    size_t count = 0;
    for (size_t i = 0; i < look->count; i++) count += look->entry[i].eta > 0;
    return count;
}

static int by_scale(const void *a, const void *b)
{
    const search_entry *x = *(search_entry *const *)a, *y = *(search_entry *const *)b;
    return (x->eta > y->eta) - (x->eta < y->eta);
}

/* One family, from its first member on; done: marks those that were drawn. */
static int draw_family(const panel *p, const search_look *look, size_t first, const char *klass, char *done)
{
    search_entry **member = calloc(look->count, sizeof *member);
    double *xs = calloc(2 * look->count, sizeof *xs), *ys = xs ? xs + look->count : NULL;
    size_t count = 0;
    if (!member || !xs) {
        free(member);
        free(xs);
        return 0;
    }
    for (size_t i = first; i < look->count; i++)
        if (!done[i] && look->entry[i].eta > 0 && same_family(look->entry[first].kernel, look->entry[i].kernel))
            member[count++] = &look->entry[i], done[i] = 1;
    qsort(member, count, sizeof *member, by_scale);
    for (size_t i = 0; i < count; i++) {
        xs[i] = log10(member[i]->eta), ys[i] = member[i]->best - look->entry[0].best;
        svg_dot(p->s, klass[0] == 'c' ? dot_class[klass[1] - '0'] : "other",
                (double[]){axis_at(&p->x, xs[i]), axis_at(&p->y, ys[i])}, 3);
    }
    const int good = panel_curve(p, klass, count, xs, ys);
    free(member);
    free(xs);
    return good;
}

static int scale_panel(sheet *s, const search_look *look, const char *field)
{
    char title[80], *done = calloc(look->count + 1, 1);
    range across = range_empty(), up = {0, 0};
    panel p;
    for (size_t i = 0; i < look->count; i++) {
        if (!(look->entry[i].eta > 0)) continue;
        range_see(&across, log10(look->entry[i].eta));
        range_see(&up, fmax(look->entry[i].best - look->entry[0].best, -400));
    }
    int good = done && sheet_panel(s, range_widen(across, 0.08), range_widen(up, 0.08), &p);
    size_t families = 0;
    if (good) {
        snprintf(title, sizeof title, "%s: score over length scale", field);
        panel_frame(&p, title, "log\xe2\x82\x81\xe2\x82\x80 of the length scale eta");
        panel_zero(&p);
        panel_clip(&p);
        for (size_t i = 0; good && i < look->count; i++)
            if (!done[i] && look->entry[i].eta > 0) {
                good = draw_family(&p, look, i, families < COLOURS ? line_class[families] : "rest", done);
                families++;
            }
        svg_clip_end(p.s);
    }
    free(done);
    return good;
}

/* ---- The picture ---- */

/* log10 l and the scores of the best six, on all penalties that occur. */
static void keep_numbers(const fig_input *in, const search_look *look, const char *name)
{
    static const char *const charts[] = {
        "", "lines:1", "lines:1,2", "lines:1,2,3", "lines:1,2,3,4", "lines:1,2,3,4,5", "lines:1,2,3,4,5,6"};
    const size_t shown = look->count < COLOURS ? look->count : COLOURS, columns = shown + 1;
    size_t rows = 0, used = 0;
    for (size_t i = 0; i < shown; i++) rows += look->entry[i].count + 1;
    fig_table *t = tables_add(in->tables, columns, rows, charts[shown], name);
    table_column(in->tables, t, 0, "log10 l", "");
    for (size_t i = 0; t && i < shown; i++) {
        const search_entry *e = &look->entry[i];
        table_column(in->tables, t, i + 1, e->kernel, "");
        for (size_t j = 0; j < e->count; j++) {
            size_t row = 0;
            while (row < used && fabs(t->value[row * columns] - e->curve[j][0]) > 1e-9) row++;
            if (row == used) {
                for (size_t c = 1; c < columns; c++) t->value[row * columns + c] = (double)NAN;
                t->value[row * columns] = e->curve[j][0];
                used++;
            }
            t->value[row * columns + i + 1] = e->curve[j][1] - look->entry[0].best;
        }
    }
    if (t) t->rows = used;
}

static char *draw(const fig_input *in, const search_look *drift, const search_look *diffusion, size_t *size)
{
    const int scales[2] = {with_scale(drift) > 2, with_scale(diffusion) > 2};
    const sheet_plan plan = {.id = "search",
                             .heading = "The search: held-out scores of the candidates",
                             .form = in->form,
                             .panels = (size_t)((drift->count > 0) + (diffusion->count > 0) + scales[0] + scales[1]),
                             .columns = 2,
                             .wide = 312,
                             .tall = 190,
                             .below = 3 * KEY_ROW + 8,
                             .notes = 2};
    sheet *s = sheet_new(&plan);
    int good = s != NULL;
    if (!s) return NULL;
    if (drift->count) good = penalty_panel(s, drift, "drift");
    if (good && scales[0]) good = scale_panel(s, drift, "drift");
    if (good && diffusion->count) good = penalty_panel(s, diffusion, "diffusion");
    if (good && scales[1]) good = scale_panel(s, diffusion, "diffusion");
    sheet_note(s,
               "nats below the best candidate of the field (dashed: 2 nats, about what chance gives), at the last "
               "stage that a "
               "kernel reached; curves: the stage that tried most penalties, moved to that score; level lines: learned "
               "weights, which have no penalty; the six best are named");
    return sheet_close(s, good, size);
}

const char *fig_search_lack(const fig_input *in)
{
    sock_context *ctx = sock_context_new();
    sk_record record;
    sk_record_init(&record);
    const sock_status status = ctx ? sk_record_of_model(ctx, in->model, &record) : SOCK_ENOMEM;
    const size_t rows = record.found.search.count;
    sk_record_clear(&record);
    sock_context_free(ctx);
    if (status < 0) return fig_no_memory;
    return rows ? NULL : "the model was not searched for (it was fitted with --no-tune)";
}

sock_status fig_search(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    search_look drift = {0}, diffusion = {0};
    sk_record record;
    char *made = NULL;
    const sock_status status = sk_record_of_model(ctx, in->model, &record);
    const sk_search_table *table = &record.found.search;
    if (status >= 0 && search_read(table, "drift", &drift) && search_read(table, "diffusion", &diffusion))
        made = draw(in, &drift, &diffusion, size);
    if (made && drift.count) keep_numbers(in, &drift, "search-drift");
    if (made && diffusion.count) keep_numbers(in, &diffusion, "search-diffusion");
    if (made) *text = made;
    search_free(&drift);
    search_free(&diffusion);
    sk_record_clear(&record);
    return made ? SOCK_OK : SOCK_ENOMEM;
}
