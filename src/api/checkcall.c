/* checkcall.c - sock_check: what is given is looked at, the room `check` does the work. */
#include "api/checkcall.h"

#include "api/orderstat.h"

#include "check/checkrules.h"
#include "data/absorbed.h"
#include "data/courses.h"
#include "model/sampler.h"
#include "simulate/simulate.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is wanted of a model and data: verdict and tests, or scores. */
typedef struct wanted {
    sock_checks *checks;
    sock_step_scores *scores;
} wanted;

static sock_status look_at(sock_context *ctx, const sock_model *model, const sock_data *data, const wanted *out)
{
    if (!model || !data || !(out->checks || out->scores))
        return sk_fail(ctx, SOCK_EUSAGE, "model, data and output must not be NULL");
    if (sk_model_observed(model) != data->d)
        return sk_fail(ctx, SOCK_EUSAGE, "the model has dimension %zu, the data %zu", sk_model_observed(model),
                       data->d);
    if (!model->has_diffusion)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "the model has no diffusion: its paths are not random, and no step can be tested by them");
    return SOCK_OK;
}

static sock_status make(sock_context *ctx, const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                        const wanted *out)
{
    if (out->checks) return sk_check(ctx, model, data, spec, out->checks);
    return sk_check_score_steps(ctx, model, data, spec, out->scores);
}

/* Steps at rest on a bound beside those that are left out already; NULL: out of memory. */
static bool *join_skips(sock_context *ctx, const sock_model *model, const sock_data *data, const bool *skip)
{
    const sk_structure *s = model->structure;
    bool *all = sk_alloc(ctx, data->points, sizeof *all);
    if (all && skip) memcpy(all, skip, data->points * sizeof *all);
    if (all) sk_absorbed_mark(data, s->lower, s->upper, all);
    return all;
}

/* Whether a state of the data looks like a position of second order. */
static sock_status ask_order(sock_context *ctx, const sock_data *data, const bool *skip, bool *second)
{
    sk_order_statistic *all = sk_alloc(ctx, data->d, sizeof *all);
    const sock_status status = all ? sk_order_statistics(ctx, data, skip, all) : SOCK_ENOMEM;
    *second = false;
    for (size_t k = 0; status >= 0 && k < data->d; k++) *second = *second || sk_looks_second(&all[k]);
    sk_free(all);
    return status;
}

/* A state that looks like an angle which is cut; 0: none. */
static sock_status ask_angle(sock_context *ctx, const sock_data *data, size_t *angle)
{
    sk_courses courses = {0};
    const sock_status status = sk_angles_find(ctx, data, &courses);
    *angle = courses.angles ? 1 + courses.angle[0].state : 0;
    sk_courses_clear(&courses);
    return status;
}

/* Within the bounds of the model, without steps at rest on them. */
static sock_status make_inside(sock_context *ctx, const sock_model *model, const sock_data *data,
                               const sk_check_spec *spec, const wanted *out)
{
    sk_check_spec inside = *spec;
    if (model->structure->order == 2) {
        inside.flow = true;  /* steps are followed through, */
        inside.floor = NULL; /* and a has none */
    }
    if (out->checks && model->structure->order != 2) SK_TRY(ask_order(ctx, data, spec->skip, &inside.second));
    if (out->checks) SK_TRY(ask_angle(ctx, data, &inside.angle));
    if (!sk_structure_is_bounded(model->structure)) return make(ctx, model, data, &inside, out);
    const sock_simulation given = {.bounds = spec->bounds, .lower = spec->lower, .upper = spec->upper};
    double *bound = sk_doubles(ctx, model->d, 2);
    bool *skip = bound ? join_skips(ctx, model, data, spec->skip) : NULL;
    sock_status status = skip ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        const sock_simulation settled = sk_settle_bounds(model, &given, bound);
        inside.bounds = settled.bounds;
        inside.lower = settled.lower;
        inside.upper = settled.upper;
        inside.skip = skip;
        status = make(ctx, model, data, &inside, out);
    }
    sk_free(skip);
    sk_free(bound);
    return status;
}

sock_status sk_check_inside(sock_context *ctx, const sock_model *model, const sock_data *data,
                            const sk_check_spec *spec, sock_checks *out)
{
    return make_inside(ctx, model, data, spec, &(wanted){.checks = out});
}

sock_status sk_check_briefly(sock_context *ctx, const sock_model *model, const sock_data *data,
                             const sk_check_spec *spec, sock_checks *out)
{
    sk_check_spec one = *spec;
    const size_t steps = sk_data_intervals(data);
    const bool at_once = sk_check_second_at_once(model->structure->order); /* such a fit takes longer */
    one.draws = at_once ? SK_CHECK_DRAWS : 0;
    one.tabled = sk_model_has_tables(model) && steps <= sk_check_quick_steps(data->d, true);
    one.most = at_once ? SK_CHECK_STEPS : sk_check_quick_steps(data->d, one.tabled);
    one.exits = sk_check_quick_exits(data->d, one.tabled || at_once);
    SK_TRY(sk_check_inside(ctx, model, data, &one, out));
    const bool whole = at_once || (one.tabled && out->draws == SK_CHECK_DRAWS);
    if (out->ok || whole) return SOCK_OK;
    one.draws = SK_CHECK_DRAWS;
    one.most = SK_CHECK_STEPS;
    one.exits = SK_CHECK_EXIT_PATHS;
    return sk_check_inside(ctx, model, data, &one, out);
}

/* bounds: room for 2 d numbers. */
static sock_status with_options(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const sock_options *opts, double *bounds, const wanted *out)
{
    sk_record record; /* a model without a record has neither freedom nor floor */
    sk_wild wild = {0};
    sk_check_spec spec = {.draws = sk_option_count(opts, "draws"),
                          .most = SK_CHECK_STEPS,
                          .alpha = sk_option_number(opts, "alpha"),
                          .seed = sk_option_count(opts, "seed"),
                          .exits = SK_CHECK_EXIT_PATHS,
                          .lower = bounds,
                          .upper = bounds + model->d};
    SK_TRY(sk_bounds_from_options(ctx, opts, model->d, &spec.bounds, bounds, bounds + model->d));
    const sock_simulation said = {.bounds = spec.bounds, .lower = spec.lower, .upper = spec.upper};
    SK_TRY(sk_data_inside(ctx, model, data, &said));
    sock_status status = sk_record_of_model(ctx, model, &record);
    if (status >= 0) sk_check_by_record(&record, model->d, &spec);
    if (status >= 0 && !sk_record_kept_wild(&record)) status = sk_wild_find(ctx, data, &wild);
    sk_check_without(&wild, &spec);
    if (status >= 0) status = make_inside(ctx, model, data, &spec, out);
    sk_wild_clear(&wild);
    sk_record_clear(&record);
    return status;
}

/* Whether the user named the kernels. */
static bool is_named(const sk_record *record, const char *key)
{
    for (size_t i = 0; i < record->options.count; i++)
        if (strcmp(record->options.option[i].key, key) == 0)
            return strcmp(record->options.option[i].value, "auto") != 0;
    return false;
}

void sk_check_by_record(const sk_record *record, size_t d, sk_check_spec *spec)
{
    spec->freedom = record->found.drift_dof;
    spec->drift_named = is_named(record, "drift");
    spec->diffusion_named = is_named(record, "diffusion");
    spec->floor = record->found.floor.count == d ? record->found.floor.value : NULL;
    const sk_noise_told *noise = &record->found.noise;
    spec->flow = noise->used || noise->substeps > 1;
    spec->noise_sought = !noise->used && noise->z.count > 0 && noise->mode && strcmp(noise->mode, "none") != 0;
}

void sk_check_without(const sk_wild *wild, sk_check_spec *spec)
{
    spec->skip = wild->step;
    spec->skipped = wild->step ? wild->left : 0;
}

static sock_status check(sock_context *ctx, const sock_model *model, const sock_data *data, const sock_options *opts,
                         const wanted *out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    SK_TRY(look_at(ctx, model, data, out));
    double *bounds = sk_doubles(ctx, 2, model->d);
    if (!bounds) return SOCK_ENOMEM;
    const sock_status status = with_options(ctx, model, data, opts, bounds, out);
    sk_free(bounds);
    return status;
}

sock_status sock_check(sock_context *ctx, const sock_model *model, const sock_data *data, const sock_options *opts,
                       sock_checks *out)
{
    return check(ctx, model, data, opts, &(wanted){.checks = out});
}

sock_status sock_check_scores(sock_context *ctx, const sock_model *model, const sock_data *data,
                              const sock_options *opts, sock_step_scores *out)
{
    return check(ctx, model, data, opts, &(wanted){.scores = out});
}

void sock_step_scores_free(sock_step_scores *scores)
{
    if (!scores) return;
    sk_free(scores->v);
    sk_free(scores->pit);
    sk_free(scores->x);
    sk_free(scores->t);
    sk_free(scores->piece);
    *scores = (sock_step_scores){0};
}

sock_status sk_check_to_record(sock_context *ctx, const sock_checks *checks, sk_record *record)
{
    record->verdict = sk_strdup(ctx, checks->verdict);
    record->pattern = sk_strdup(ctx, checks->pattern);
    if (!record->verdict || !record->pattern) return SOCK_ENOMEM;
    if (checks->advice[0] && !(record->advice = sk_strdup(ctx, checks->advice))) return SOCK_ENOMEM;
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        if (checks->test[i].objects) SK_TRY(sk_texts_add(ctx, &record->objections, checks->test[i].name));
    return SOCK_OK;
}

/* ---- JSON ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *test_json(const sock_check_test *t)
{
    if (!t->valid)
        return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:b}", "name", t->name, "statistic", "df", "p", "p_adjusted",
                         "effect", "objects", 0);
    const int chi = t->chi_df > 0;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:o, s:o, s:o}", "name", t->name, "statistic",
                     number(t->statistic), "df", t->df > 0 ? number(t->df) : json_null(), "p", number(t->p),
                     "p_adjusted", number(t->p_adjusted), "effect", number(t->effect), "effect_least",
                     number(t->effect_least), "effect_of", t->effect_of, "objects", t->objects, "remark", t->remark,
                     "chi_square", chi ? number(t->chi_square) : json_null(), "chi_df",
                     chi ? number(t->chi_df) : json_null(), "ways", chi ? number(t->ways) : json_null());
}

json_t *sk_checks_object(const sock_checks *c)
{
    json_t *tests = json_array();
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) json_array_append_new(tests, test_json(&c->test[i]));
    return json_pack("{s:s, s:s, s:s, s:b, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "verdict",
                     c->verdict, "advice", c->advice, "pattern", c->pattern, "ok", c->ok, "tests", tests, "steps",
                     (json_int_t)c->steps, "all_steps", (json_int_t)c->all_steps, "draws", (json_int_t)c->draws, "lost",
                     (json_int_t)c->lost, "alpha", number(c->alpha), "lag1", number(c->lag1), "variance_ratio",
                     number(c->variance_ratio), "scale", number(c->scale), "long_step", number(c->long_step), "period",
                     c->period > 0 ? number(c->period) : json_null(), "exit_share", number(c->exit_share));
}

sock_status sock_checks_json(sock_context *ctx, const sock_checks *checks, char **json)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!checks || !json) return sk_fail(ctx, SOCK_EUSAGE, "checks and output must not be NULL");
    SK_TRY(sk_reserve(ctx, SK_JSON_SMALL));
    json_t *object = sk_checks_object(checks);
    if (object) json_object_set_new(object, "seconds", number(checks->seconds));
    char *made = object ? json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(1)) : NULL;
    if (!made) sk_fail(ctx, SOCK_ENOMEM, "out of memory: the checks could not be written");
    char *copy = made ? sk_strdup(ctx, made) : NULL;
    json_decref(object);
    free(made);
    if (!copy) return SOCK_ENOMEM;
    *json = copy;
    return SOCK_OK;
}
