/* edges.c - the default at its edges: one claim after the other (edgeclaims.c), each with its goal, on data made for
 * it.
 *
 * A claim measures numbers on one seed; the study asks of their medians (or of the worst, or of the absolute mean, as
 * the measure says) whether they are within the goal. A row is kept as soon as its claim is through with a seed; with a
 * file of rows, only what is not there is computed. */
#include "experiments/edges.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---- */

sock_status edge_tell(edge *e, const char *name, const char *measure, double value, double goal, const char *of)
{
    const claim_teller to = {e->settings, e->claim->name, e->seed, e->rows};
    return claim_tell(&to, name, measure, value, goal, of);
}

/* ---- The study ---- */

static int is_wanted(const exp_settings *settings, const edge_claim *c)
{
    if (settings->names) return exp_is_named(settings->names, c->name);
    return c->size == EDGE_USUAL || (!settings->quick && (c->size == EDGE_LARGE || settings->full));
}

static size_t seeds_of(const exp_settings *settings, const edge_claim *c)
{
    return settings->seeds ? settings->seeds : settings->quick ? 1 : c->seeds;
}

static sock_status run_seed(edge *e, const json_t *names, json_t *rows)
{
    e->rows = json_array();
    sock_status status = e->rows ? e->claim->measure(e) : SOCK_ENOMEM;
    if (status >= 0 && json_array_extend(rows, e->rows) != 0) status = SOCK_ENOMEM;
    json_decref(e->rows);
    if (status >= 0 && e->settings->output) status = exp_rows_write(e->ctx, e->settings->output, names, rows);
    return status < 0 ? status : SOCK_OK;
}

static sock_status run_claims(sock_context *ctx, const exp_settings *settings, const json_t *names, json_t *rows)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; i < edge_claim_count; i++)
        for (size_t k = 0; status >= 0 && k < seeds_of(settings, &edge_claims[i]); k++) {
            edge e = {.ctx = ctx, .settings = settings, .claim = &edge_claims[i], .seed = settings->seed + k};
            if (is_wanted(settings, &edge_claims[i]) && !claim_is_done(rows, edge_claims[i].name, NULL, e.seed))
                status = run_seed(&e, names, rows);
        }
    return status;
}

/* ---- Slopes of long data ---- */

/* Of log RE_f over log n, by least squares on the medians. */
static double slope_of(const json_t *summary, const char *system)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        const char *measure = json_string_value(json_object_get(entry, "measure")), *at = strstr(measure, "n = ");
        if (strcmp(json_string_value(json_object_get(entry, "claim")), "long") != 0 ||
            strcmp(json_string_value(json_object_get(entry, "case")), system) != 0 || !at ||
            strncmp(measure, "RE_f", 4) != 0)
            continue;
        double u = log(strtod(at + 4, NULL)), v = log(json_number_value(json_object_get(entry, "median")));
        n++, x += u, y += v, xx += u * u, xy += u * v;
    }
    return n < 2 ? (double)NAN : (n * xy - x * y) / (n * xx - x * x);
}

static int add_slopes(json_t *summary)
{
    static const double goal = -0.4;
    int lacking = 0;
    for (const char *const *system = edge_long_systems; *system; system++) {
        double slope = slope_of(summary, *system);
        if (isnan(slope)) continue;
        lacking |= claim_add(summary, "long", *system, "slope of log RE_f", slope, goal);
    }
    return lacking;
}

/* NULL when out of memory. */
static json_t *summarise(const exp_settings *settings, const json_t *rows)
{
    (void)settings;
    json_t *summary = claim_summary(rows);
    if (!summary || !add_slopes(summary)) return summary;
    json_decref(summary);
    return NULL;
}

static sock_status run_edges(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return claim_run(ctx, settings, &(claim_study){"edges", run_claims, summarise}, result);
}

const exp_experiment exp_edges = {.name = "edges",
                                  .summary = "the default at its edges: shifted, long, wild, high-dimensional data",
                                  .takes = EXP_TAKES_SEEDS | EXP_TAKES_FULL,
                                  .sets = edge_claim_names,
                                  .resumes = 1,
                                  .run = run_edges,
                                  .print = claim_print};
