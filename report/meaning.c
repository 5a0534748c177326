/* meaning.c - see meaning.h. Every number is one of sock_explain; nothing is computed here but heights of pictures and
 * where a density is highest. */
#define _GNU_SOURCE
#include "meaning.h"

#include "evidence.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED_MOST = 12, ARROWS = 12, TABLE_MOST = 512 };

static const double apart = 0.05; /* of the range: so far from where paths are most often another place is told */

/* ---- Numbers ---- */

static json_t *at(json_t *list, size_t i) { return json_array_get(list, i); }

/* 20 (15 to 28) */
static void put_range(FILE *out, json_t *told)
{
    page_between(out, info_number(told, "value"), info_number(told, "low"), info_number(told, "high"));
}

/* 1.016 ± 0.013 */
static void put_error(FILE *out, json_t *told)
{
    const double value = info_number(told, "value"), se = info_number(told, "se");
    if (se > 0)
        page_measured(out, value, se);
    else
        page_number(out, value);
}

static void put_time(FILE *out, const fig_input *in)
{
    char unit[32];
    const char *name = fig_time_name(in);
    unit_of_time(name, sizeof unit, unit);
    fputs(*unit ? " " : " units of ", out);
    page_text(out, *unit ? unit : strcmp(name, "t") == 0 ? "time" : name);
}

/* The error of a well or a barrier; NaN: it is neither, or has none. */
static double error_of_place(json_t *told, double place)
{
    static const char *const kind[] = {"wells", "barriers"};
    for (size_t k = 0; k < 2; k++) {
        json_t *list = json_object_get(told, kind[k]), *entry;
        size_t i;
        json_array_foreach(list, i, entry)
        {
            if (info_number(entry, "value") == place) return info_number(entry, "se");
        }
    }
    return (double)NAN;
}

/* A place, to the digits that its error leaves, or to a thousandth of the range. */
static void put_place(FILE *out, json_t *told, double place)
{
    json_t *whole = json_object_get(told, "range");
    const double length = json_number_value(json_array_get(json_object_get(whole, "upper"), 0)) -
                          json_number_value(json_array_get(json_object_get(whole, "lower"), 0));
    const double se = error_of_place(told, place);
    page_rounded(out, place, se > 0 ? se : length / 1000);
}

/* " (lynx 1532)" behind a value of log(lynx). */
static void put_user_value(FILE *out, const char *name, double value)
{
    size_t length;
    const char *inside = unit_inside_log(name, &length);
    if (!inside) return;
    fputs(" (", out);
    svg_escape_bytes(out, inside, length);
    fputc(' ', out);
    page_number(out, exp(value));
    fputc(')', out);
}

/* ---- Words ---- */

/* How long a turn around a focus or a centre takes. */
static void put_round(FILE *out, const fig_input *in, json_t *eigenvalues)
{
    const double im = fabs(json_number_value(at(at(eigenvalues, 0), 1)));
    if (json_array_size(eigenvalues) != 2 || !(im > 0)) return;
    fputs("; around it a turn takes ", out);
    page_figures(out, 6.283185307179586 / im, 3);
    put_time(out, in);
}

static int is_at_zero(json_t *x)
{
    size_t i;
    json_t *e;
    json_array_foreach(x, i, e)
    {
        if (info_number(e, "value") != 0) return 0;
    }
    return 1;
}

/* Whether the drift, a polynomial, has a constant term; 1 where it is none. */
static int has_constant_terms(const rep_facts *f)
{
    json_t *list = json_object_get(f->terms, "drift"), *term, *c;
    size_t i, k;
    if (!json_is_array(list)) return 1;
    json_array_foreach(list, i, term)
    {
        json_t *powers = json_object_get(term, "powers");
        double sum = 0, size = 0;
        json_array_foreach(powers, k, c) { sum += json_number_value(c); }
        json_array_foreach(json_object_get(term, "coefficients"), k, c) { size += fabs(json_number_value(c)); }
        if (sum == 0 && size > 0) return 1;
    }
    return 0;
}

/* Its errors are how far the points of models of other forms are spread. */
static void put_fixed_at_zero(FILE *out, json_t *x)
{
    size_t told = 0;
    fputs("; it is fixed at 0 by this form of the equation, which has no constant, and not estimated", out);
    for (size_t k = 0; k < json_array_size(x) && k < 6; k++) {
        const double se = info_number(at(x, k), "se");
        if (!(se > 0)) continue;
        fputs(told++ ? ", " : " (other forms that the data leave open move it: standard deviation ", out);
        page_figures(out, se, 2);
    }
    if (told) fputc(')', out);
}

static void put_fixed(FILE *out, const rep_facts *f, const fig_input *in, json_t *point)
{
    json_t *x = json_object_get(point, "x"), *relaxation = json_object_get(point, "relaxation_time");
    const char *type = info_text(point, "type");
    const int fixed = is_at_zero(x) && !has_constant_terms(f); /* by the form: nothing was estimated */
    fputs("<li>", out);
    for (size_t k = 0; k < json_array_size(x) && k < 6; k++) {
        fprintf(out, "%s<var>", k ? ", " : "");
        page_text(out, sock_model_name(f->model, k));
        fputs("</var> = ", out);
        if (fixed)
            page_number(out, 0);
        else
            put_error(out, at(x, k));
        put_user_value(out, sock_model_name(f->model, k), info_number(at(x, k), "value"));
    }
    fputs(json_array_size(x) > 6 ? ", \xe2\x80\xa6: " : ": ", out);
    page_text(out, *type ? type : "of no known type");
    if (isfinite(info_number(relaxation, "value")))
        fputs("; without noise a small push dies down to 1/e (37 %) in ", out), put_range(out, relaxation),
            put_time(out, in);
    put_round(out, in, json_object_get(point, "eigenvalues"));
    if (strcmp(type, "centre") == 0 && json_is_array(json_object_get(f->terms, "drift")))
        fputs("; it is one because this form of the equation has nothing that damps or drives the turn there: whether "
              "the data have it does not show",
              out);
    if (fixed) put_fixed_at_zero(out, x);
    if (info_number(point, "in_draws") < 0.95)
        fprintf(out, "; %.0f %% of the models that the data leave open have it", 100 * info_number(point, "in_draws"));
    fputs("</li>\n", out);
}

/* Some point is of a type that begins so. */
static int has_type(json_t *list, const char *word)
{
    size_t i;
    json_t *point;
    json_array_foreach(list, i, point)
    {
        if (strncmp(info_text(point, "type"), word, strlen(word)) == 0) return 1;
    }
    return 0;
}

/* What the types that occur mean. */
static void put_kinds(FILE *out, json_t *list)
{
    static const struct {
        const char *type, *means;
    } kinds[] = {{"stable", "a stable point holds the state"},
                 {"unstable", "an unstable point lets it go"},
                 {"saddle", "a saddle lets it go in one direction and draws it near in another"},
                 {"centre", "around a centre it goes in circles"}};
    size_t told = 0;
    fputs("<p>f is 0 here", out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_type(list, kinds[i].type)) fprintf(out, "%s %s", told++ ? "," : "; without noise", kinds[i].means);
    fputs(":</p>\n<ul>\n", out);
}

/* The nearest one outside of the range. */
static void put_outside(FILE *out, const rep_facts *f, json_t *point, int more)
{
    json_t *x = json_object_get(point, "x");
    if (!json_is_object(point) || json_array_size(x) != f->d) return;
    fputs(more ? " Outside of the range, where the equation is a guess, the nearest is: "
               : " Outside of it, where the equation is a guess, the nearest is: ",
          out);
    for (size_t k = 0; k < f->d && k < 6; k++) {
        const double value = json_number_value(json_array_get(x, k));
        fprintf(out, "%s<var>", k ? ", " : "");
        page_text(out, sock_model_name(f->model, k));
        fputs("</var> = ", out), page_number(out, value);
        put_user_value(out, sock_model_name(f->model, k), value);
    }
    fprintf(out, "%s (", f->d > 6 ? ", \xe2\x80\xa6" : "");
    page_text(out, info_text(point, "type"));
    fputs(").", out);
}

/* Where paths would go that nothing keeps within the range. */
static sock_status put_astray(sock_context *ctx, FILE *out, const fig_input *in)
{
    const companion *run;
    double astray;
    const sock_status status = evidence_long_run(ctx, in, &run, &astray);
    if (status >= 0 && astray > COMPANION_ASTRAY)
        fprintf(out,
                "<p class=\"note\">What is said of the long run is of paths that are kept within the range. Nothing in "
                "the equation does that well: of long paths that are not kept, %.0f %% of the time is far outside of "
                "the data, where the equation is a guess.</p>\n",
                100 * astray);
    return status;
}

static void put_rests(FILE *out, const rep_facts *f, const fig_input *in, json_t *told)
{
    json_t *list = json_object_get(told, "fixed_points");
    const size_t count = json_array_size(list);
    const char *reason = info_text(told, "fixed_points_reason");
    if (count) put_kinds(out, list);
    for (size_t i = 0; i < count && i < FIXED_MOST; i++) put_fixed(out, f, in, at(list, i));
    if (count) fputs("</ul>\n", out);
    if (count > FIXED_MOST) fprintf(out, "<p>and %zu more.</p>\n", count - FIXED_MOST);
    json_t *outside = json_object_get(told, "fixed_point_outside");
    if (!*reason && !json_is_object(outside)) return;
    fputs(count ? "<p>" : "<p>No point where f is 0: ", out);
    page_text(out, reason);
    if (*reason) fputs(".", out);
    if (!count && f->loose[0] >= 1) fputs(" But the band of f is wider than f itself: the data do not say it.", out);
    put_outside(out, f, outside, count > 0);
    fputs("</p>\n", out);
}

static void put_well(FILE *out, const fig_input *in, json_t *told, double place)
{
    put_place(out, told, place);
    put_user_value(out, sock_model_name(in->model, 0), place);
}

/* share: of the models drawn. */
static void put_wells_shared(FILE *out, size_t wells, double share, double draws)
{
    fprintf(out, "<p>The potential has %zu wells; ", wells);
    if (share < 1)
        fprintf(out, "%.3g %% of the models that the data leave open", 100 * share);
    else
        fprintf(out, "all of the %.0f models drawn from those that the data leave open", draws);
    fputs(" have as many. Mean times to leave one:</p>\n<ul>\n", out);
}

static void put_escapes(FILE *out, const fig_input *in, json_t *told)
{
    json_t *list = json_object_get(told, "escapes"), *relaxation = json_object_get(told, "relaxation_time");
    const size_t wells = json_array_size(json_object_get(told, "wells"));
    size_t i;
    json_t *e;
    if (wells > 1 && info_text(told, "escapes_reason")[0])
        fprintf(
            out,
            "<p>The potential has %zu wells, but only %.0f %% of the models that the data leave open have as many: how "
            "many there are the data do not say.</p>\n",
            wells, 100 * info_number(told, "wells_in_draws"));
    else if (wells > 1)
        put_wells_shared(out, wells, info_number(told, "wells_in_draws"), info_number(told, "draws"));
    json_array_foreach(list, i, e)
    {
        fputs("<li>from ", out), put_well(out, in, told, info_number(e, "from"));
        fputs(" over ", out), put_well(out, in, told, info_number(e, "over"));
        fputs(" to ", out), put_well(out, in, told, info_number(e, "to"));
        fputs(": ", out), put_range(out, json_object_get(e, "to_well"));
        put_time(out, in);
        fputs(", ", out), put_range(out, json_object_get(e, "to_barrier"));
        fputs(" to the top of the barrier, which is ", out), put_range(out, json_object_get(e, "height"));
        fputs(" high</li>\n", out);
    }
    if (json_array_size(list)) fputs("</ul>\n", out);
    if (!isfinite(info_number(relaxation, "value"))) return;
    fputs("<p>With its noise, and kept within the range, it forgets where it began after ", out);
    put_range(out, relaxation);
    put_time(out, in);
    fprintf(out, ", when 1/e (37 %%) of its slowest memory is left%s.</p>\n",
            json_array_size(json_object_get(told, "fixed_points"))
                ? " (the times above are those of small pushes without noise)"
                : "");
}

static void put_current(FILE *out, const rep_facts *f, json_t *told)
{
    json_t *production = json_object_get(told, "entropy_production");
    if (!isfinite(info_number(production, "value"))) return;
    fputs("<p>It produces ", out);
    put_range(out, production);
    fputs(" nats of entropy in ", out);
    page_text(out, f->time_unit);
    fputs(": 0 would be equilibrium, where it looks alike forwards and backwards in time. The arrows are the current "
          "that does "
          "not cease."
          "</p>\n",
          out);
}

/* Why there is no stationary law, or what it hangs on. */
static void put_doubts(FILE *out, json_t *told, size_t d)
{
    const char *reason = info_text(told, "stationary_reason"), *caveat = info_text(told, "stationary_caveat");
    if (*reason && d > 2)
        fputs("<p>Of more than two states the stationary law is not computed: where the model goes in the long run, "
              "simulated, stands under Densities.</p>\n",
              out);
    else if (*reason)
        fputs("<p>Its stationary law is not computed here: ", out), page_text(out, reason), fputs(".</p>\n", out);
    if (*caveat)
        fputs("<p class=\"note\">Of the long run nothing is told: ", out), page_text(out, caveat),
            fputs(".</p>\n", out);
    if (*info_text(told, "errors_reason")) {
        fputs("<p class=\"note\">No errors: ", out);
        page_text(out, info_text(told, "errors_reason"));
        fputs(".</p>\n", out);
    }
}

/* ---- One dimension ---- */

typedef struct column {
    size_t count;
    double value[TABLE_MOST], low[TABLE_MOST], high[TABLE_MOST];
    size_t from, to; /* the band is finite from here, and up to here: at a bound it may be infinite */
} column;

static int has_band(const column *c, size_t i) { return isfinite(c->low[i]) && isfinite(c->high[i]); }

static void read_column(json_t *table, const char *key, column *out)
{
    char name[48];
    json_t *value = json_object_get(table, key), *low, *high;
    snprintf(name, sizeof name, "%s_low", key), low = json_object_get(table, name);
    snprintf(name, sizeof name, "%s_high", key), high = json_object_get(table, name);
    out->count = json_array_size(value) < TABLE_MOST ? json_array_size(value) : TABLE_MOST;
    for (size_t i = 0; i < out->count; i++) {
        json_t *v = at(value, i), *l = at(low, i), *h = at(high, i);
        out->value[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
        out->low[i] = json_is_number(l) ? json_number_value(l) : (double)NAN;
        out->high[i] = json_is_number(h) ? json_number_value(h) : (double)NAN;
    }
    for (out->from = 0; out->from < out->count && !has_band(out, out->from);) out->from++;
    for (out->to = out->from; out->to < out->count && has_band(out, out->to);) out->to++;
}

static range see_column(const column *c, size_t values)
{
    range r = range_empty();
    for (size_t i = 0; i < values; i++) {
        range_see(&r, c->value[i]);
        if (has_band(c, i)) range_see(&r, c->low[i]), range_see(&r, c->high[i]);
    }
    return r;
}

static int draw_column(sheet *s, const fig_input *in, const column *x, const column *c, const char *title, range up,
                       const double *bars)
{
    panel p;
    const range across = {x->value[0], x->value[c->count - 1]};
    enum { BARS = 40 };
    if (!sheet_panel(s, across, up, &p)) return 0;
    panel_frame(&p, title, sock_model_name(in->model, 0));
    panel_clip(&p);
    const double width = (across.high - across.low) / BARS;
    for (size_t b = 0; bars && b < BARS; b++) {
        const double left = axis_at(&p.x, across.low + width * (double)b), top = axis_at(&p.y, bars[b]);
        if (bars[b] > 0)
            svg_rect(p.s, "bar", (double[]){left, top}, (double[]){0.92 * width * axis_scale(&p.x), p.y.from - top});
    }
    const size_t b = c->from;
    int good = c->to <= b + 1 || panel_band(&p, "fan90", c->to - b, x->value + b, c->low + b, c->high + b);
    good = good && panel_curve(&p, "model", c->count, x->value, c->value);
    svg_clip_end(p.s);
    return good;
}

/* Wells far above the lowest would flatten the rest: at most 12 above the bottom, e^-12 of the density. */
static range heights_of(const column *phi)
{
    const double most = 12;
    range r = see_column(phi, phi->count);
    double least = r.high;
    for (size_t i = 0; i < phi->count; i++) least = fmin(least, isfinite(phi->value[i]) ? phi->value[i] : least);
    r.high = fmin(r.high, least + most);
    r.low = fmax(r.low, least - most);
    return range_widen(r, 0.05);
}

/* One or two panels side by side. */
static sheet *landscape(const char *heading, double wide, double tall, double left, size_t panels)
{
    const sheet_plan plan = {.id = "landscape",
                             .heading = heading,
                             .form = SHEET_PIECES,
                             .panels = panels,
                             .columns = panels,
                             .wide = wide,
                             .tall = tall,
                             .left = left};
    return sheet_new(&plan);
}

static char *draw_line(const fig_input *in, json_t *table, size_t *size)
{
    double bars[40];
    const double *sorted;
    size_t count;
    column *c = calloc(3, sizeof *c);
    if (!c || evidence_sorted(in, 0, &sorted, &count) < 0) {
        free(c);
        return NULL;
    }
    read_column(table, "x", &c[0]), read_column(table, "potential", &c[1]), read_column(table, "density", &c[2]);
    companion_histogram(count, sorted, 1, (range){c[0].value[0], c[0].value[c[0].count - 1]}, 40, bars);
    range up = see_column(&c[2], c[2].count);
    for (size_t b = 0; b < 40; b++) range_see(&up, bars[b]);
    sheet *s = landscape("Potential and stationary density", 312, 170, 0, 2);
    int good = s != NULL;
    if (s) {
        sheet_key(s, LEGEND_LINE, "model", "model");
        if (c[1].to > c[1].from) sheet_key(s, LEGEND_BOX, "fan90", "90 % of the models left open");
        sheet_key(s, LEGEND_BOX, "bar", "data");
        good = draw_column(s, in, &c[0], &c[1],
                           "potential \xe2\x88\x92"
                           "2\xe2\x88\xab"
                           "f/a + log a",
                           heights_of(&c[1]), NULL);
        good = good && draw_column(s, in, &c[0], &c[2], "stationary density", (range){0, 1.06 * up.high}, bars);
    }
    free(c);
    return s ? sheet_close(s, good, size) : NULL;
}

/* ---- Two dimensions ---- */

static double cell(json_t *rows, size_t i, size_t j) { return json_number_value(at(at(rows, i), j)); }

/* Shades of the density; cells of one shade in a column are one box. */
static void shade(const panel *p, json_t *density, const double *x, const double *y, size_t n)
{
    double most = 0;
    const double wide = (x[1] - x[0]) * axis_scale(&p->x), tall = -(y[1] - y[0]) * axis_scale(&p->y);
    for (size_t c = 0; c < n * n; c++) most = fmax(most, cell(density, c / n, c % n));
    for (size_t i = 0; i < n && most > 0; i++)
        for (size_t j = 0, end; j < n; j = end) {
            const int level = (int)ceil(5 * sqrt(fmax(cell(density, i, j), 0) / most) - 0.25);
            for (end = j + 1; end < n; end++)
                if ((int)ceil(5 * sqrt(fmax(cell(density, i, end), 0) / most) - 0.25) != level) break;
            char klass[16];
            snprintf(klass, sizeof klass, "sim%d", level > 5 ? 5 : level);
            if (level > 0)
                svg_rect(p->s, klass,
                         (double[]){axis_at(&p->x, x[i]) - wide / 2, axis_at(&p->y, y[end - 1]) - tall / 2},
                         (double[]){wide, tall * (double)(end - j)});
        }
}

static void draw_current(const panel *p, json_t *current, const double *x, const double *y, size_t n)
{
    const size_t every = n / ARROWS ? n / ARROWS : 1;
    const double sx = axis_scale(&p->x), sy = axis_scale(&p->y), room = 0.95 * fabs(p->x.to - p->x.from) / ARROWS;
    double longest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = every / 2; i < n; i += every)
            for (size_t j = every / 2; j < n; j += every) {
                const double u = sx * cell(at(current, 0), i, j), v = sy * cell(at(current, 1), i, j);
                const double from[2] = {axis_at(&p->x, x[i]), axis_at(&p->y, y[j])};
                if (!pass) longest = fmax(longest, hypot(u, v));
                if (pass && hypot(u, v) > 0.04 * longest)
                    svg_arrow(p->s, "chosen", from,
                              (double[]){from[0] + room * u / longest, from[1] + room * v / longest});
            }
}

static char *draw_plane(const fig_input *in, json_t *table, size_t *size)
{
    json_t *centres = json_object_get(table, "x"), *density = json_object_get(table, "density");
    const size_t n = json_array_size(at(centres, 0));
    double x[TABLE_MOST], y[TABLE_MOST];
    panel p;
    if (n < 2 || n > TABLE_MOST) return NULL;
    for (size_t i = 0; i < n; i++)
        x[i] = json_number_value(at(at(centres, 0), i)), y[i] = json_number_value(at(at(centres, 1), i));
    sheet *s = landscape("Stationary density and current", 340, 320, 72, 1);
    if (!s) return NULL;
    sheet_key(s, LEGEND_BOX, "sim3", "stationary density");
    sheet_key(s, LEGEND_ARROW, "chosen", "current");
    const double more[2] = {(x[1] - x[0]) / 2, (y[1] - y[0]) / 2};
    const int good =
        sheet_panel(s, (range){x[0] - more[0], x[n - 1] + more[0]}, (range){y[0] - more[1], y[n - 1] + more[1]}, &p);
    if (good) {
        panel_plane(&p, "", sock_model_name(in->model, 0), sock_model_name(in->model, 1));
        panel_clip(&p);
        shade(&p, density, x, y, n);
        draw_current(&p, json_object_get(table, "current"), x, y, n);
        svg_clip_end(p.s);
    }
    return sheet_close(s, good, size);
}

/* ---- The section ---- */

sock_status meaning_has(sock_context *ctx, const fig_input *in, int *has)
{
    json_t *told = NULL;
    const sock_status status = evidence_meaning(ctx, in, &told);
    *has = told != NULL;
    return status;
}

/* Of order 2 the range stands for data, which have no velocities. */
static void put_extent(FILE *out, json_t *extent)
{
    static const char *const key[] = {"lower", "upper"};
    for (size_t side = 0; side < 2; side++) {
        json_t *list = json_object_get(extent, key[side]);
        fprintf(out, " --%s=", key[side]);
        for (size_t k = 0; k < json_array_size(list); k++)
            fprintf(out, "%s%.4g", k ? "," : "", json_number_value(at(list, k)));
    }
}

/* Where inputs are held. */
static void put_inputs(FILE *out, json_t *inputs)
{
    size_t shown = 0;
    for (void *i = json_object_iter(inputs); i && shown < 6; i = json_object_iter_next(inputs, i)) {
        fputs(shown++ ? ", " : "Inputs are held still here, at their medians: ", out);
        page_text(out, json_object_iter_key(i));
        fputs(" = ", out), page_number(out, json_number_value(json_object_iter_value(i)));
    }
    if (shown)
        fputs(json_object_size(inputs) > shown ? ", \xe2\x80\xa6" : ".", out),
            fputs(" Where they move, f is 0 elsewhere, and times and densities of the long run are others. ", out);
}

/* What the potential is, and why the bars may differ from the density. */
static void put_potential(FILE *out, const rep_facts *f, json_t *told)
{
    const int moved = json_object_size(json_object_get(told, "inputs")) > 0;
    fprintf(out,
            "<p>The potential is what the stationary density is made of, exp(\xe2\x88\x92potential): where the noise "
            "depends on the state its wells need not be where f is 0. The bars are the data, which %s%s.</p>\n",
            moved ? "an input moves while the density is that of an input held still" : "need not have settled",
            f->record.found.noise.used ? "; they are measurements, the density is that of states without their noise"
                                       : "");
}

/* The stable point that is nearest to a place; NaN: there is none. */
static double nearest_stable(json_t *told, double place)
{
    double nearest = (double)NAN;
    size_t i;
    json_t *point;
    json_array_foreach(json_object_get(told, "fixed_points"), i, point)
    {
        const double x = info_number(at(json_object_get(point, "x"), 0), "value");
        if (strncmp(info_text(point, "type"), "stable", 6) != 0) continue;
        if (!(fabs(x - place) >= fabs(nearest - place))) nearest = x;
    }
    return nearest;
}

/* Where the density is highest though f leads away from there, to a stable point: noise that is small holds paths. */
static sock_status put_held(sock_context *ctx, FILE *out, const fig_input *in, json_t *told)
{
    json_t *x = json_object_get(json_object_get(told, "table"), "x");
    json_t *density = json_object_get(json_object_get(told, "table"), "density");
    const size_t count = json_array_size(x);
    size_t top = 0;
    double place[2], f[2], a[2];
    if (sock_model_inputs(in->model) || !count || json_array_size(density) != count) return SOCK_OK;
    for (size_t i = 1; i < count; i++)
        if (json_number_value(at(density, i)) > json_number_value(at(density, top))) top = i;
    place[0] = json_number_value(at(x, top)), place[1] = nearest_stable(told, place[0]);
    const double length = json_number_value(at(x, count - 1)) - json_number_value(at(x, 0));
    const double digits = length / 2; /* two of it: a hundredth of the range */
    if (!(fabs(place[1] - place[0]) > apart * length)) return SOCK_OK;
    const sock_status status = sock_model_evaluate_at(ctx, in->model, 2, place, NULL, f, a);
    if (status < 0 || !(a[0] < a[1]) || !(f[0] * (place[1] - place[0]) > 0)) return status;
    fputs("<p>Its paths are most often near <var>", out), page_text(out, sock_model_name(in->model, 0));
    fputs("</var> = ", out), page_rounded(out, place[0], digits);
    fputs(", not at the stable point ", out), page_rounded(out, place[1], digits);
    fputs(", to which f points: where the noise is small, as it is there, paths stay long.</p>\n", out);
    return SOCK_OK;
}

sock_status meaning_write(sock_context *ctx, FILE *out, const rep_facts *f, const fig_input *in)
{
    json_t *told = NULL;
    char *text = NULL;
    size_t size = 0;
    sock_status status = evidence_meaning(ctx, in, &told);
    if (status < 0 || !told) return status;
    const int long_run = !*info_text(told, "stationary_caveat");
    json_t *table = json_object_get(told, "table");
    fputs("<section id=\"meaning\">\n<h2>What it means</h2>\n<figure>\n<figcaption>", out);
    put_inputs(out, json_object_get(told, "inputs"));
    fputs("What follows from the equation "
          "within the range of "
          "the data. Brackets hold 90 % of the models that the data leave open, and \xc2\xb1 is their standard "
          "deviation: they may have other terms than this one, and so be wider apart than its own errors.",
          out);
    fputs(f->has_check && !f->check.ok
              ? " <b>The verdict objects to this equation, and so to what follows.</b></figcaption>\n"
              : "</figcaption>\n",
          out);
    put_rests(out, f, in, told);
    if (json_is_object(table) && long_run) {
        text = f->d == 1 ? draw_line(in, table, &size) : draw_plane(in, table, &size);
        if (!text) status = SOCK_ENOMEM;
    }
    if (text) fwrite(text, 1, size, out);
    if (text && f->d == 1) {
        put_potential(out, f, told);
        if (status >= 0) status = put_held(ctx, out, in, told);
    }
    free(text);
    put_escapes(out, in, told);
    put_current(out, f, told);
    if (status >= 0 && json_is_object(table) && long_run) status = put_astray(ctx, out, in);
    put_doubts(out, told, f->d);
    fputs("<p class=\"how\"><code>sock explain ", out);
    page_shell_word(out, f->settings->model_path ? f->settings->model_path : "model.sock");
    if (f->seen < f->d) {
        put_extent(out, json_object_get(told, "range"));
    } else {
        fputc(' ', out);
        page_shell_word(out, f->settings->data_path ? f->settings->data_path : "DATA");
        card_options(out, f->settings);
    }
    fputs("</code></p>\n</figure>\n</section>\n", out);
    return status;
}
