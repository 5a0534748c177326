/* structurebounds.c - populations, epidemics, reactions and frequencies: is the noise that vanishes at a bound found? A
 * claim is a known system by its name; the fit is the default's. */
#include "experiments/structureclaims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is asked of a system. */
typedef struct asking {
    const char *name, *upper; /* upper: bound of all states, where there is one */
    double re_a;              /* goal */
    int dies, paths;          /* extinction; MMD against the truth's */
} asking;

static const asking askings[] = {{"cir", NULL, 5, 0, 0},           {"feller", NULL, 8, 1, 0},
                                 {"logistic", NULL, 10, 0, 0},     {"lotka-volterra", NULL, 10, 0, 0},
                                 {"wright-fisher", "1", 10, 0, 0}, {"sir", NULL, 10, 0, 1}};

enum { QUICK_TEST = 20 }; /* trajectories */

static const asking *asking_of(const char *name)
{
    const asking *a = askings;
    while (strcmp(a->name, name) != 0) a++;
    return a;
}

static sock_status fit(sock_context *ctx, const asking *a, structure_sets *d)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? sock_options_set(ctx, opts, "check", "no") : SOCK_ENOMEM;
    if (status >= 0 && a->upper) status = sock_options_set(ctx, opts, "upper", a->upper);
    if (status >= 0) status = sock_fit(ctx, d->train, opts, &d->model);
    sock_options_free(opts);
    return status;
}

static sock_status score(sock_context *ctx, const asking *a, const structure_sets *d, sock_scores *out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? sock_options_set(ctx, opts, "mmd-paths", a->paths ? "200" : "0") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(ctx, opts, "mmd-step", "0.05");
    if (status >= 0) status = sock_score(ctx, d->model, d->test, d->train, d->truth, opts, out);
    sock_options_free(opts);
    return status;
}

/* P(x = 0 at 5 | x = 1 at 0): of the branching diffusion, exp(-2 r / (s (1 - exp(-5 r)))); and of the model's paths. */
static sock_status tell_extinction(sock_context *ctx, const structure_sets *d, const claim_teller *to)
{
    enum { PATHS = 4000 };
    const double start = 1, t[2] = {0, 5}, r = d->instance->parameter[0], s = d->instance->parameter[1];
    const double truth = exp(-2 * r / (s * (1 - exp(-5 * r))));
    double *out = malloc(2 * PATHS * sizeof *out), dead = 0;
    const sock_simulation spec = {.starts = 1, .x0 = &start, .paths = PATHS, .times = 2, .t = t, .step = 0.01};
    sock_status status = out ? sock_simulate(ctx, d->model, &spec, out, NULL, NULL) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < PATHS; i++) dead += out[2 * i + 1] == 0 ? 1.0 / PATHS : 0;
    free(out);
    if (status >= 0) status = claim_tell(to, "default", "extinction", dead, NAN, CLAIM_NONE);
    return status < 0 ? status
                      : claim_tell(to, "default", "error of extinction", fabs(dead - truth), 0.05, CLAIM_MEDIAN);
}

/* MMD^2 of paths that the truth itself makes is not 0. */
static sock_status tell_paths(const sock_scores *scores, const claim_teller *to)
{
    return claim_tell(to, "default", "MMD^2 / truth's",
                      structure_value(&scores->mmd2) / structure_value(&scores->mmd2_truth), 1.2, CLAIM_MEDIAN);
}

static sock_status measure(sock_context *ctx, const structure_claim *claim, const claim_teller *to)
{
    const asking *a = asking_of(claim->name);
    structure_sets d = {0};
    sock_scores scores;
    sock_status status = structure_make(ctx, a->name, to->seed, to->settings->quick ? QUICK_TEST : 0, &d);
    if (status >= 0) status = fit(ctx, a, &d);
    if (status >= 0) status = score(ctx, a, &d, &scores);
    if (status >= 0) status = claim_tell(to, "default", "RE_f, %", structure_value(&scores.re_f), NAN, CLAIM_NONE);
    if (status >= 0)
        status = claim_tell(to, "default", "RE_a, %", structure_value(&scores.re_a), a->re_a, CLAIM_MEDIAN);
    if (status >= 0)
        status = claim_tell(to, "default", "PM", structure_value(&scores.perplexity_moments), NAN, CLAIM_NONE);
    if (status >= 0 && a->dies) status = tell_extinction(ctx, &d, to);
    if (status >= 0 && a->paths) status = tell_paths(&scores, to);
    structure_clear(&d);
    return status;
}

const structure_claim structure_bounds[] = {{"cir", 10, 1, measure},
                                            {"feller", 10, 1, measure},
                                            {"logistic", 10, 0, measure},
                                            {"lotka-volterra", 10, 0, measure},
                                            {"wright-fisher", 10, 0, measure},
                                            {"sir", 10, 0, measure},
                                            {NULL, 0, 0, NULL}};
