/* structurestudy.c - what people know of their system: boundaries (structurebounds.c), inputs (structureinputs.c),
 * inertia (structuresecond.c). One claim after the other, each on seeds of its own; rows are kept as soon as a claim is
 * through with a seed. */
#include "experiments/resultrows.h"
#include "experiments/structureclaims.h"

#include <math.h>
#include <string.h>

/* ---- Data ---- */

sock_status structure_make(sock_context *ctx, const char *name, uint64_t seed, size_t test, structure_sets *out)
{
    *out = (structure_sets){0};
    sock_status status = sys_new(ctx, sys_find(name), seed, &out->instance);
    if (status >= 0 && test) out->instance->trajectories[SYS_TEST] = test;
    if (status >= 0) status = sys_generate(ctx, out->instance, SYS_TRAIN, &out->train);
    if (status >= 0) status = sys_generate(ctx, out->instance, SYS_TEST, &out->test);
    if (status >= 0) status = sys_truth(ctx, out->instance, &out->truth);
    return status;
}

void structure_clear(structure_sets *sets)
{
    sock_model_free(sets->model);
    sock_model_free(sets->truth);
    sock_data_free(sets->train);
    sock_data_free(sets->test);
    sys_free(sets->instance);
}

double structure_value(const sock_value *value) { return value->valid ? value->value : (double)NAN; }

/* ---- The study ---- */

static const structure_claim *const parts[] = {structure_bounds, structure_inputs, structure_second};
enum { PARTS = sizeof parts / sizeof *parts };

static const char *const claim_names[] = {"cir",    "feller", "logistic", "lotka-volterra", "wright-fisher", "sir",
                                          "forced", "dose",   "pendulum", "duffing",        "vanderpol",     NULL};

static int is_wanted(const exp_settings *settings, const structure_claim *c)
{
    return settings->names ? exp_is_named(settings->names, c->name) : !settings->quick || c->quick;
}

static sock_status run_seed(sock_context *ctx, const structure_claim *c, claim_teller *to, const json_t *columns,
                            json_t *rows)
{
    to->rows = json_array();
    sock_status status = to->rows ? c->measure(ctx, c, to) : SOCK_ENOMEM;
    if (status >= 0 && json_array_extend(rows, to->rows) != 0) status = SOCK_ENOMEM;
    json_decref(to->rows);
    if (status >= 0 && to->settings->output) status = exp_rows_write(ctx, to->settings->output, columns, rows);
    return status < 0 ? status : SOCK_OK;
}

static sock_status run_claim(sock_context *ctx, const exp_settings *settings, const structure_claim *c,
                             const json_t *columns, json_t *rows)
{
    const size_t seeds = settings->seeds ? settings->seeds : settings->quick ? 1 : c->seeds;
    for (size_t k = 0; is_wanted(settings, c) && k < seeds; k++) {
        claim_teller to = {settings, c->name, settings->seed + k, NULL};
        if (claim_is_done(rows, c->name, NULL, to.seed)) continue;
        const sock_status status = run_seed(ctx, c, &to, columns, rows);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

static sock_status run_claims(sock_context *ctx, const exp_settings *settings, const json_t *columns, json_t *rows)
{
    sock_status status = SOCK_OK;
    for (size_t p = 0; p < PARTS; p++)
        for (const structure_claim *c = parts[p]; status >= 0 && c->name; c++)
            status = run_claim(ctx, settings, c, columns, rows);
    return status;
}

static json_t *summarise(const exp_settings *settings, const json_t *rows)
{
    (void)settings;
    return claim_summary(rows);
}

static sock_status run_structure(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    return claim_run(ctx, settings, &(claim_study){"structure", run_claims, summarise}, result);
}

const exp_experiment exp_structure = {.name = "structure",
                                      .summary = "what is known of a system: boundaries, inputs, inertia",
                                      .takes = EXP_TAKES_SEEDS | EXP_TAKES_SHOW,
                                      .sets = claim_names,
                                      .resumes = 1,
                                      .run = run_structure,
                                      .print = claim_print};
