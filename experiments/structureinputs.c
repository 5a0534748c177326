/* structureinputs.c - forcing and doses: are the inputs that matter found, and those that do nothing left out? A claim
 * is a known system by its name, with one input that f (and perhaps a) needs and two that do nothing; the fit is the
 * default's. Beside it: the fit to x alone. */
#include "experiments/structureclaims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative errors and PM of a model on the test set; re_f: the goal, or NaN. */
static sock_status tell_scores(sock_context *ctx, const structure_sets *d, const char *name, double re_f,
                               const claim_teller *to)
{
    sock_options *opts = sock_options_new(ctx);
    sock_scores scores;
    sock_status status = opts ? sock_options_set(ctx, opts, "mmd-paths", "0") : SOCK_ENOMEM;
    if (status >= 0) status = sock_score(ctx, d->model, d->test, NULL, d->truth, opts, &scores);
    sock_options_free(opts);
    if (status >= 0)
        status = claim_tell(to, name, "RE_f, %", structure_value(&scores.re_f), re_f,
                            isnan(re_f) ? CLAIM_NONE : CLAIM_MEDIAN);
    if (status >= 0) status = claim_tell(to, name, "RE_a, %", structure_value(&scores.re_a), NAN, CLAIM_NONE);
    return status < 0 ? status
                      : claim_tell(to, name, "PM", structure_value(&scores.perplexity_moments), NAN, CLAIM_NONE);
}

/* Of what the fit tells of its inputs: how many that do nothing are in f or a; whether the first one is missing. */
static sock_status tell_choice(sock_context *ctx, const structure_sets *d, const claim_teller *to)
{
    char *text = NULL;
    sock_status status = sock_model_info(ctx, d->model, &text);
    json_t *info = status >= 0 ? json_loads(text, 0, NULL) : NULL, *list = json_object_get(info, "inputs"), *one;
    double idle = 0, missed = 1;
    size_t i;
    json_array_foreach(list, i, one)
    {
        const int used = json_is_true(json_object_get(one, "in_f")) || json_is_true(json_object_get(one, "in_a"));
        if (i < d->instance->system->needed)
            missed = !used;
        else if (used)
            idle = 1;
    }
    json_decref(info);
    sock_string_free(text);
    if (status >= 0) status = claim_tell(to, "default", "idle chosen", idle, 0.1, CLAIM_MEAN);
    return status < 0 ? status : claim_tell(to, "default", "missed", missed, 0, CLAIM_WORST);
}

/* The same columns, without inputs: x alone. */
static sock_status without(sock_context *ctx, const sock_data *with, sock_data **out)
{
    const size_t count = sock_data_trajectories(with), d = sock_data_dim(with), points = sock_data_points(with);
    size_t *length = calloc(count, sizeof *length), at = 0;
    double *t = calloc(points, sizeof *t), *x = calloc(points * d, sizeof *x);
    const char *name = sock_data_name(with, 0);
    sock_status status = length && t && x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < count; j++) {
        const double *own_t, *own_x;
        length[j] = sock_data_trajectory(with, j, &own_t, &own_x);
        memcpy(t + at, own_t, length[j] * sizeof *t);
        memcpy(x + at * d, own_x, length[j] * d * sizeof *x);
        at += length[j];
    }
    if (status >= 0) status = sock_data_from_arrays(ctx, d, count, length, t, x, &name, NULL, NULL, out);
    free(length), free(t), free(x);
    return status;
}

static sock_status fit(sock_context *ctx, const sock_data *data, sock_model **out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? sock_options_set(ctx, opts, "noise", "none") : SOCK_ENOMEM;
    if (status >= 0) status = sock_fit(ctx, data, opts, out);
    sock_options_free(opts);
    return status;
}

static sock_status measure(sock_context *ctx, const structure_claim *claim, const claim_teller *to)
{
    const double goal = strcmp(claim->name, "forced") == 0 ? 10 : (double)NAN;
    structure_sets d = {0};
    sock_data *alone = NULL;
    sock_status status = structure_make(ctx, claim->name, to->seed, 0, &d);
    if (status >= 0) status = fit(ctx, d.train, &d.model);
    if (status >= 0) status = tell_scores(ctx, &d, "default", goal, to);
    if (status >= 0) status = tell_choice(ctx, &d, to);
    sock_model_free(d.model);
    d.model = NULL;
    if (status >= 0) status = without(ctx, d.train, &alone);
    if (status >= 0) status = fit(ctx, alone, &d.model);
    if (status >= 0) status = tell_scores(ctx, &d, "without inputs", (double)NAN, to);
    sock_data_free(alone);
    structure_clear(&d);
    return status;
}

const structure_claim structure_inputs[] = {{"forced", 10, 1, measure}, {"dose", 10, 0, measure}, {NULL, 0, 0, NULL}};
