/* explainjson.c - see explain.h. A number that is not known is null, with a reason beside it where one can be given. */
#include "explain/explain.h"

#include "explain/explainrules.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value == 0 ? 0 : value) : json_null();
} /* no -0 */

/* A number with its error. */
static json_t *told(const sk_told *t)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "value", number(t->value), "se", number(t->se), "low", number(t->low),
                     "high", number(t->high));
}

static json_t *told_list(size_t count, const sk_told *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, told(t + i));
    return list;
}

static json_t *numbers(size_t count, const double *value)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, number(value[i]));
    return list;
}

/* An entry that is not there, and why. */
static void set_missing(json_t *object, const char *key, const char *reason)
{
    char name[64];
    json_object_set_new(object, key, json_null());
    snprintf(name, sizeof name, "%s_reason", key);
    json_object_set_new(object, name, json_string(reason));
}

/* ---- Fixed points ---- */

static json_t *fixed_point(const sk_explained *e, size_t i)
{
    const size_t d = e->d;
    const sk_told *at = e->number + i * (3 * d + 1);
    json_t *eigenvalues = json_array();
    for (size_t k = 0; k < d; k++)
        json_array_append_new(eigenvalues, json_pack("[o, o]", number(at[d + k].value), number(at[2 * d + k].value)));
    json_t *type = isnan(at->value) ? json_null() : json_string(sk_fixed_type(d, at + d, at + 2 * d));
    json_t *out = json_pack("{s:o, s:o, s:o, s:o}", "x", told_list(d, at), "type", type, "eigenvalues", eigenvalues,
                            "in_draws", number(at->share));
    if (d == 1) json_object_set_new(out, "slope", told(at + 1));
    json_object_set_new(out, "relaxation_time", isnan(at[3 * d].value) ? json_null() : told(at + 3 * d));
    return out;
}

/* The nearest one outside: a place and a type, without errors, for there the model is a guess. */
static void set_beyond(json_t *object, const sk_explained *e)
{
    const size_t d = e->d;
    sk_told part[2 * SK_EXPLAIN_STATES];
    if (!e->beyond || !sk_explain_tells_states(d)) return;
    for (size_t k = 0; k < 2 * d; k++) part[k] = (sk_told){.value = e->beyond[d + k]};
    json_object_set_new(object, "fixed_point_outside",
                        json_pack("{s:o, s:s}", "x", numbers(d, e->beyond), "type", sk_fixed_type(d, part, part + d)));
}

static void set_fixed(json_t *object, const sk_explained *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < e->fixed.count; i++) json_array_append_new(list, fixed_point(e, i));
    json_object_set_new(object, "fixed_points", list);
    set_beyond(object, e);
    if (e->fixed.count && !e->fixed.lines) return;
    json_object_set_new(object, "fixed_points_reason",
                        json_string(e->fixed.lines ? "f is 0 along lines or in regions, not at single points alone"
                                    : e->d == 1    ? "f does not change its sign within the range"
                                                   : "none was found within the range"));
}

/* ---- One dimension ---- */

typedef enum part { VALUE, LOW, HIGH } part;

static json_t *column(size_t count, const sk_told *t, part which)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number(which == VALUE ? t[i].value : which == LOW ? t[i].low : t[i].high));
    return list;
}

static json_t *line_table(const sk_explain_range *range, const sk_told *t)
{
    double x[SK_EXPLAIN_TABLE];
    for (size_t i = 0; i < SK_EXPLAIN_TABLE; i++)
        x[i] = range->lower[0] + (range->upper[0] - range->lower[0]) * (double)i / (SK_EXPLAIN_TABLE - 1);
    const sk_told *phi = t + SK_LINE_TABLE, *p = phi + SK_EXPLAIN_TABLE;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "x", numbers(SK_EXPLAIN_TABLE, x), "potential",
                     column(SK_EXPLAIN_TABLE, phi, VALUE), "potential_low", column(SK_EXPLAIN_TABLE, phi, LOW),
                     "potential_high", column(SK_EXPLAIN_TABLE, phi, HIGH), "density",
                     column(SK_EXPLAIN_TABLE, p, VALUE), "density_low", column(SK_EXPLAIN_TABLE, p, LOW),
                     "density_high", column(SK_EXPLAIN_TABLE, p, HIGH));
}

static json_t *escape(const sk_explained *e, const sk_told *t, size_t i, bool down)
{
    const sk_told *well = t + sk_line_wells(), *way = t + sk_line_escape(e->wells, i, down);
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "from", number(well[down ? i + 1 : i].value), "over",
                            number(well[e->wells + i].value), "to", number(well[down ? i : i + 1].value), "height",
                            told(way + SK_ESCAPE_HEIGHT), "to_barrier", told(way + SK_ESCAPE_TO_BARRIER), "to_well",
                            told(way + SK_ESCAPE_TO_WELL));
    if (out && !isfinite(way[SK_ESCAPE_TO_WELL].value))
        json_object_set_new(out, "to_well_reason", json_string("it is longer than any number here"));
    return out;
}

static void set_escapes(json_t *object, const sk_explained *e, const sk_told *t)
{
    json_t *escapes = json_array();
    for (size_t i = 0; i + 1 < e->wells; i++)
        for (int down = 0; down < 2; down++) json_array_append_new(escapes, escape(e, t, i, down));
    json_object_set_new(object, "escapes", escapes);
}

static void set_wells(json_t *object, const sk_explained *e, const sk_told *t)
{
    const sk_told *well = t + sk_line_wells();
    json_object_set_new(object, "wells", told_list(e->wells, well));
    json_object_set_new(object, "barriers", told_list(e->wells ? e->wells - 1 : 0, well + e->wells));
    json_object_set_new(object, "wells_in_draws", e->wells ? number(well->share) : json_null());
    if (e->wells > 1 && !sk_explain_wells_are_sure(well->share))
        set_missing(object, "escapes", "fewer than half of the draws have as many wells");
    else
        set_escapes(object, e, t);
    if (!e->wells)
        json_object_set_new(object, "wells_reason", json_string("the density has no maximum inside the range"));
}

/* Whether an end of the range is no bound of the model: paths go on beyond it. */
static bool is_free(const sock_model *model, const sk_explain_range *range, size_t k, size_t side)
{
    const double *bounds = side ? model->structure->upper : model->structure->lower;
    return !bounds || bounds[k] != (side ? range->upper : range->lower)[k];
}

/* An end that is a bound of the model is a real one; what hangs on others is said. NULL: nothing. */
const char *sk_explained_caveat(const sock_model *model, const sk_explain_range *range, const sk_explained *e)
{
    const sk_told *t = e->number + sk_explained_line(e);
    bool much = false, free_end = false, gathers = false;
    for (size_t k = 0; k < e->d; k++)
        for (size_t side = 0; side < 2; side++) {
            const bool free = is_free(model, range, k, side);
            free_end = free_end || free;
            if (e->d != 1) continue;
            much = much || (free && sk_explain_hangs(t[SK_LINE_ENDS + side].value));
            gathers = gathers || !free;
        }
    if (e->d == 2) much = free_end && sk_explain_hangs_on_edges(t[SK_PLANE_EDGES].value);
    if (much)
        return "much of the density lies where the range ends, and paths of the model would go on beyond these ends";
    if (e->d == 1 && !gathers && !e->fixed.count && !e->fixed.lines)
        return "f has one sign within the range, so the long run depends on f and a outside of it, where the model is "
               "a "
               "guess";
    return NULL;
}

/* A law that hangs on ends which nobody asked for: what it says of the long run is not the model's. */
static void set_no_long_run(json_t *object, const sk_explained *e)
{
    static const char *const line[] = {"wells", "barriers", "escapes", "relaxation_time"};
    static const char reason[] =
        "the stationary law hangs on where the range of the data ends; lower and upper ask for it";
    for (size_t i = 0; e->d == 1 && i < sizeof line / sizeof *line; i++) set_missing(object, line[i], reason);
    if (e->d == 2) set_missing(object, "entropy_production", reason);
}

static void set_line(json_t *object, const sk_explain_range *range, const sk_explained *e, bool long_run)
{
    const sk_told *t = e->number + sk_explained_line(e);
    const double ends[2] = {t[SK_LINE_ENDS].value, t[SK_LINE_ENDS + 1].value};
    json_object_set_new(object, "stationary",
                        json_pack("{s:s, s:o, s:o, s:o}", "ends", "reflecting", "mean", told_list(1, t + SK_LINE_MEAN),
                                  "sd", told_list(1, t + SK_LINE_SD), "density_at_ends", numbers(2, ends)));
    json_object_set_new(object, "table", line_table(range, t));
    if (!long_run) return;
    set_wells(object, e, t);
    if (!isfinite(t[SK_LINE_RELAXATION].value)) {
        set_missing(object, "relaxation_time",
                    isnan(t[SK_LINE_RELAXATION].value) ? "f / a is too steep for it within the range"
                                                       : "it is longer than any number here");
    } else {
        json_object_set_new(object, "relaxation_time", told(t + SK_LINE_RELAXATION));
        json_object_set_new(object, "relaxation_time_method",
                            json_string("1 / second eigenvalue of the Fokker-Planck operator, reflecting ends"));
    }
}

/* ---- Two dimensions ---- */

static json_t *square(const double *value)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < SK_EXPLAIN_GRID; i++)
        json_array_append_new(rows, numbers(SK_EXPLAIN_GRID, value + i * SK_EXPLAIN_GRID));
    return rows;
}

static json_t *centres(const sk_explain_range *range, size_t k)
{
    double x[SK_EXPLAIN_GRID];
    for (size_t i = 0; i < SK_EXPLAIN_GRID; i++)
        x[i] = range->lower[k] + (range->upper[k] - range->lower[k]) * ((double)i + 0.5) / SK_EXPLAIN_GRID;
    return numbers(SK_EXPLAIN_GRID, x);
}

static void set_plane(json_t *object, const sk_explain_range *range, const sk_explained *e, bool long_run)
{
    const sk_told *t = e->number + sk_explained_line(e);
    const size_t cells = (size_t)SK_EXPLAIN_GRID * SK_EXPLAIN_GRID;
    json_object_set_new(object, "stationary",
                        json_pack("{s:s, s:o, s:o, s:o, s:o}", "ends", "reflecting", "mean",
                                  told_list(2, t + SK_PLANE_MEAN), "sd", told_list(2, t + SK_PLANE_SD), "correlation",
                                  told(t + SK_PLANE_CORRELATION), "edge_share", number(t[SK_PLANE_EDGES].value)));
    json_object_set_new(object, "table",
                        json_pack("{s:[o, o], s:o, s:[o, o]}", "x", centres(range, 0), centres(range, 1), "density",
                                  square(e->table), "current", square(e->table + cells), square(e->table + 2 * cells)));
    if (!long_run) return;
    json_object_set_new(object, "entropy_production", told(t + SK_PLANE_ENTROPY));
    json_object_set_new(object, "entropy_production_grid_error", number(e->grid));
}

/* ---- All ---- */

static json_t *states(const sock_model *model)
{
    json_t *list = json_array();
    for (size_t k = 0; k < model->d; k++) json_array_append_new(list, json_string(model->structure->state[k]));
    return list;
}

static void set_missing_law(json_t *object, const sk_explained *e)
{
    const char *reason = e->stationary_reason;
    static const char *const line[] = {"stationary", "wells", "barriers", "escapes", "relaxation_time", "table"},
                             *const plane[] = {"stationary", "entropy_production", "table"};
    for (size_t i = 0; e->d == 1 && i < sizeof line / sizeof *line; i++) set_missing(object, line[i], reason);
    for (size_t i = 0; e->d > 1 && i < sizeof plane / sizeof *plane; i++) set_missing(object, plane[i], reason);
}

static void set_law(json_t *object, const sock_model *model, const sk_explain_range *range, const sk_explained *e)
{
    const char *caveat = sk_explained_caveat(model, range, e);
    const bool long_run = !caveat || !strcmp(range->from, "options");
    if (e->d == 1)
        set_line(object, range, e, long_run);
    else
        set_plane(object, range, e, long_run);
    if (caveat) json_object_set_new(object, "stationary_caveat", json_string(caveat));
    if (!long_run) set_no_long_run(object, e);
}

json_t *sk_explained_object(const sock_model *model, const sk_explain_range *range, const sk_explained *e)
{
    const sk_structure *s = model->structure;
    json_t *inputs = json_object();
    for (size_t k = 0; k < s->inputs; k++) json_object_set_new(inputs, s->input[k].name, number(range->u[k]));
    json_t *object =
        json_pack("{s:I, s:o, s:{s:o, s:o, s:s}, s:o, s:I, s:f}", "dimension", (json_int_t)e->d, "states",
                  states(model), "range", "lower", numbers(e->d, range->lower), "upper", numbers(e->d, range->upper),
                  "from", range->from, "inputs", inputs, "draws", (json_int_t)e->draws, "level", SK_EXPLAIN_LEVEL);
    if (!object) return NULL;
    if (!e->draws) json_object_set_new(object, "errors_reason", json_string(e->draws_reason));
    set_fixed(object, e);
    if (e->stationary)
        set_law(object, model, range, e);
    else
        set_missing_law(object, e);
    return object;
}
