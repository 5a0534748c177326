/* edgeclaims.c - what is claimed of the default at its edges, and how each claim is measured on one seed. */
#define _GNU_SOURCE
#include "api/record.h"
#include "experiments/edgedata.h"
#include "experiments/edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Fits ---- */

typedef struct setting {
    const char *key, *value;
} setting;

enum { MOST_SETTINGS = 3 };

/* settings: MOST_SETTINGS of them at most, a NULL key ends them; NULL: none. */
static sock_status fit(edge *e, const sock_data *data, const setting *settings, sock_model **out)
{
    sock_options *opts = sock_options_new(e->ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; settings && i < MOST_SETTINGS && settings[i].key && status >= 0; i++)
        status = sock_options_set(e->ctx, opts, settings[i].key, settings[i].value);
    if (status >= 0) status = sock_fit(e->ctx, data, opts, out);
    sock_options_free(opts);
    return status;
}

static sock_status fit_told(edge *e, const edge_paths *p, edge_telling told, const setting *settings, sock_model **out)
{
    sock_data *data = NULL;
    sock_status status = edge_data(e->ctx, p, told, &data);
    if (status >= 0) status = fit(e, data, settings, out);
    sock_data_free(data);
    return status;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The same data, told in another way ---- */

typedef struct scene {
    const char *system;
    size_t paths, points;
} scene;

static const scene scenes[] = {{"doublewell", 40, 101}, {"ou", 40, 101}, {"gbm", 70, 101}, {"vanderpol", 20, 201}};

/* What the fit makes of the data as they are against what it makes of them told so. goal_a 0: f alone has a goal. */
static sock_status compare_tellings(edge *e, const scene *at, edge_telling told, const setting *settings,
                                    const double goal[2])
{
    edge_paths p;
    sock_model *one = NULL, *other = NULL;
    double f = NAN, a = NAN;
    sock_status status = edge_simulate(e->ctx, at->system, 0, at->paths, at->points, e->seed, &p);
    if (status < 0) return status;
    status = fit_told(e, &p, (edge_telling){0}, settings, &one);
    if (status >= 0) status = fit_told(e, &p, told, settings, &other);
    if (status >= 0) status = edge_change(e->ctx, &p, one, other, told, &f, &a);
    if (status >= 0) status = edge_tell(e, at->system, "change of f, %", f, goal[0], CLAIM_MEDIAN);
    if (status >= 0)
        status = edge_tell(e, at->system, "change of a, %", a, goal[1], goal[1] > 0 ? CLAIM_MEDIAN : CLAIM_NONE);
    sock_model_free(one);
    sock_model_free(other);
    edge_free(&p);
    return status;
}

static sock_status all_scenes(edge *e, edge_telling told, double goal_f, double goal_a)
{
    const double goal[2] = {goal_f, goal_a};
    size_t count = e->settings->quick ? 1 : COUNT(scenes);
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        if (told.backwards && edge_find(scenes[i].system)->d < 2) continue;
        status = compare_tellings(e, &scenes[i], told, NULL, goal);
    }
    return status;
}

static sock_status measure_shift(edge *e) { return all_scenes(e, (edge_telling){.shift = 300}, 1, 1); }
static sock_status measure_units(edge *e) { return all_scenes(e, (edge_telling){.unit = 1000}, 1, 1); }
static sock_status measure_order(edge *e) { return all_scenes(e, (edge_telling){.reversed = 1}, 2, 0); }
static sock_status measure_cut(edge *e) { return all_scenes(e, (edge_telling){.cut = 1}, 2, 0); }

static sock_status measure_states(edge *e)
{
    static const double goal[2] = {1, 1};
    return compare_tellings(e, &scenes[3], (edge_telling){.backwards = 1}, NULL, goal);
}

/* Full polynomials do not know the axes. */
static sock_status measure_turned(edge *e)
{
    static const setting held[MOST_SETTINGS] = {{"drift", "poly:degree=3"}, {"diffusion", "constant"}};
    static const double goal[2] = {1, 1};
    return compare_tellings(e, &scenes[3], (edge_telling){.turned = 1}, held, goal);
}

static sock_status measure_plain(edge *e)
{
    static const scene at = {"doublewell", 70, 101};
    static const setting plain[MOST_SETTINGS] = {{"tune", "no"}};
    static const double goal[2] = {1e-7, 1e-7};
    return compare_tellings(e, &at, (edge_telling){.reversed = 1}, plain, goal);
}

/* ---- The scale of a ---- */

static sock_status mean_log_a(edge *e, const edge_paths *p, const sock_model *model, double *out)
{
    const size_t count = p->paths * p->points;
    double *a = malloc(count * sizeof *a), sum = 0;
    if (!a) return SOCK_ENOMEM;
    sock_status status = sock_model_diffusion(e->ctx, model, count, p->x, a);
    for (size_t i = 0; status >= 0 && i < count; i++) sum += log(a[i] / p->system.a);
    *out = 100 * sum / (double)count;
    free(a);
    return status;
}

static sock_status measure_floor(edge *e)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < 2; i++) { /* those of constant a in one dimension */
        edge_paths p;
        sock_model *model = NULL;
        double off = NAN;
        status = edge_simulate(e->ctx, scenes[i].system, 0, scenes[i].paths, scenes[i].points, e->seed, &p);
        if (status < 0) return status;
        status = fit_told(e, &p, (edge_telling){0}, NULL, &model);
        if (status >= 0) status = mean_log_a(e, &p, model, &off);
        if (status >= 0) status = edge_tell(e, scenes[i].system, "log a / truth, %", off, 2, CLAIM_MEAN);
        sock_model_free(model);
        edge_free(&p);
    }
    return status;
}

/* ---- No single kernel is better ---- */

static const scene varied[] = {{"doublewell", 3, 41}, {"doublewell", 12, 61}, {"ou", 6, 31},         {"ou", 40, 11},
                               {"gbm", 8, 41},        {"gbm", 40, 11},        {"vanderpol", 10, 41}, {"sine", 20, 51}};

/* The kernel's name without what is learned of it, as an option has it. */
static void kernel_option(const char *label, char *name, size_t size)
{
    snprintf(name, size, "%s", label);
    char *space = strchr(name, ' ');
    if (space) *space = 0;
}

static int is_new(const sk_search_table *table, size_t row, const char *name)
{
    for (size_t i = 0; i < row; i++) {
        char other[80];
        kernel_option(table->row[i].kernel, other, sizeof other);
        if (strcmp(table->row[i].field, table->row[row].field) == 0 && strcmp(other, name) == 0) return 0;
    }
    return 1;
}

typedef struct rivals {
    double best, own, given_up, constant, spread; /* given_up: what the guards saw beyond own; spread: how far the score
                                                     of constants moves */
} rivals;

/* A kernel that does not fit alone has no score: no rival. */
static sock_status try_kernel(edge *e, const sock_data *data, const char *field, const char *kernel, rivals *out)
{
    const setting held[MOST_SETTINGS] = {{field, kernel}, {"noise", "none"}, {"substeps", "1"}};
    sock_model *model = NULL;
    sk_record r;
    sock_status status = fit(e, data, held, &model);
    if (status == SOCK_ENUMERIC || status == SOCK_EINPUT || status == SOCK_EUSAGE) return SOCK_OK;
    if (status < 0) return status;
    status = sk_record_of_model(e->ctx, model, &r);
    if (status >= 0 && isfinite(r.found.score)) out->best = fmax(out->best, r.found.score);
    if (status >= 0) out->spread = fmax(out->spread, fabs(r.found.score_constant - out->constant));
    sk_record_clear(&r);
    sock_model_free(model);
    return status;
}

static sock_status try_kernels(edge *e, const sock_data *data, const sk_search_table *table, rivals *out)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < table->count; i++) {
        char kernel[80];
        const char *field = table->row[i].field;
        kernel_option(table->row[i].kernel, kernel, sizeof kernel);
        if ((strcmp(field, "drift") != 0 && strcmp(field, "diffusion") != 0) || !is_new(table, i, kernel)) continue;
        status = try_kernel(e, data, field, kernel, out);
    }
    return status;
}

/* Without measurement noise and long steps: with them a score is that of a filter. */
static sock_status race(edge *e, const sock_data *data, rivals *out)
{
    static const setting clean[MOST_SETTINGS] = {{"noise", "none"}, {"substeps", "1"}};
    sock_model *model = NULL;
    sk_record r;
    sock_status status = fit(e, data, clean, &model);
    if (status < 0) return status;
    status = sk_record_of_model(e->ctx, model, &r);
    *out = (rivals){.best = -INFINITY, .own = r.found.score, .constant = r.found.score_constant};
    if (r.found.richer) out->given_up = r.found.richer_gain;
    if (status >= 0) status = try_kernels(e, data, &r.found.search, out);
    sk_record_clear(&r);
    sock_model_free(model);
    return status;
}

static sock_status measure_behind(edge *e)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < (e->settings->quick ? 2 : COUNT(varied)); i++) {
        edge_paths p;
        sock_data *data = NULL;
        rivals r;
        char name[60];
        snprintf(name, sizeof name, "%s %zu x %zu", varied[i].system, varied[i].paths, varied[i].points);
        status = edge_simulate(e->ctx, varied[i].system, 0, varied[i].paths, varied[i].points, e->seed, &p);
        if (status < 0) return status;
        status = edge_data(e->ctx, &p, (edge_telling){0}, &data);
        if (status >= 0) status = race(e, data, &r);
        if (status >= 0) status = edge_tell(e, name, "behind, nats", r.best - r.own, 2, CLAIM_WORST);
        if (status >= 0) status = edge_tell(e, name, "behind the walk", r.best - r.own - r.given_up, 2, CLAIM_WORST);
        if (status >= 0) status = edge_tell(e, name, "constants, nats", r.spread, 1e-6, CLAIM_WORST);
        sock_data_free(data);
        edge_free(&p);
    }
    return status;
}

/* ---- Long data ---- */

static sock_status errors(edge *e, const edge_paths *p, const setting *settings, double *f, double *a)
{
    sock_model *model = NULL;
    sock_status status = fit_told(e, p, (edge_telling){0}, settings, &model);
    if (status >= 0) status = edge_change(e->ctx, p, p->truth, model, (edge_telling){0}, f, a);
    sock_model_free(model);
    return status;
}

static sock_status measure_length(edge *e, const char *system, size_t paths, size_t points)
{
    edge_paths p;
    double f = NAN, a = NAN;
    char name[60], measure[60];
    sock_status status = edge_simulate(e->ctx, system, 0, paths, points, e->seed, &p);
    if (status < 0) return status;
    snprintf(name, sizeof name, "%s", system);
    snprintf(measure, sizeof measure, "RE_f %%, n = %zu", paths * (points - 1));
    double begun = cpu_seconds();
    status = errors(e, &p, NULL, &f, &a);
    double took = cpu_seconds() - begun;
    if (status >= 0) status = edge_tell(e, name, measure, f, 0, CLAIM_NONE);
    snprintf(measure, sizeof measure, "cpu s, n = %zu", paths * (points - 1));
    if (status >= 0) status = edge_tell(e, name, measure, took, 60, p.system.d == 1 ? CLAIM_WORST : CLAIM_NONE);
    edge_free(&p);
    return status;
}

const char *const edge_long_systems[] = {"ou", "doublewell", "vanderpol", NULL};
static const size_t long_paths[] = {5, 50, 500, 5000}; /* of 200 steps */

static sock_status measure_long(edge *e)
{
    sock_status status = SOCK_OK;
    for (const char *const *system = edge_long_systems; *system; system++)
        for (size_t i = 0; status >= 0 && i < (e->settings->quick ? 2 : COUNT(long_paths)); i++)
            status = measure_length(e, *system, long_paths[i], 201);
    return status;
}

static sock_status measure_sine(edge *e)
{
    edge_paths p;
    double f = NAN, a = NAN;
    sock_status status = edge_simulate(e->ctx, "sine", 0, e->settings->quick ? 300 : 2000, 201, e->seed, &p);
    if (status < 0) return status;
    status = errors(e, &p, NULL, &f, &a);
    if (status >= 0) status = edge_tell(e, "sine", "RE_f, %", f, 5, CLAIM_MEDIAN);
    edge_free(&p);
    return status;
}

/* ---- Many states ---- */

typedef struct size_goals {
    const char *system;
    size_t d, paths, points;
    double f, a, seconds; /* goals; a 0: none */
} size_goals;

static sock_status measure_size(edge *e, const size_goals *goal)
{
    edge_paths p;
    double f = NAN, a = NAN;
    char name[60];
    sock_status status = edge_simulate(e->ctx, goal->system, goal->d, goal->paths, goal->points, e->seed, &p);
    if (status < 0) return status;
    double begun = cpu_seconds();
    status = errors(e, &p, NULL, &f, &a);
    double took = cpu_seconds() - begun;
    snprintf(name, sizeof name, "%s, d = %zu", goal->system, goal->d);
    if (status >= 0) status = edge_tell(e, name, "RE_f, %", f, goal->f, CLAIM_MEDIAN);
    if (status >= 0) status = edge_tell(e, name, "RE_a, %", a, goal->a, goal->a > 0 ? CLAIM_MEDIAN : CLAIM_NONE);
    if (status >= 0) status = edge_tell(e, name, "cpu s", took, goal->seconds, CLAIM_MEDIAN);
    edge_free(&p);
    return status;
}

static sock_status measure_states20(edge *e)
{
    static const size_goals goal = {"lorenz96", 20, 40, 101, 3, 25, 40}, small = {"lorenz96", 12, 10, 101, 10, 0, 40};
    return measure_size(e, e->settings->quick ? &small : &goal);
}

static sock_status measure_states40(edge *e)
{
    static const size_goals goal = {"lorenz96", 40, 40, 101, 3, 25, 120};
    return measure_size(e, &goal);
}

static sock_status measure_states100(edge *e)
{
    static const size_goals goal = {"lorenz96", 100, 200, 101, 5, 0, 900};
    return measure_size(e, &goal);
}

static sock_status measure_chain(edge *e)
{
    static const size_goals goal = {"chain", 6, 1, 10001, 11, 0, 60};
    return measure_size(e, &goal);
}

/* ---- A state without noise ---- */

static sock_status measure_silent(edge *e)
{
    edge_paths p;
    sock_model *model = NULL;
    sock_status status = edge_simulate(e->ctx, "oscillator", 0, 20, 201, e->seed, &p);
    if (status < 0) return status;
    const size_t count = p.paths * p.points;
    double *a = malloc(4 * count * sizeof *a), most = 0, f = NAN, off = NAN;
    status = a ? fit_told(e, &p, (edge_telling){0}, NULL, &model) : SOCK_ENOMEM;
    if (status >= 0) status = sock_model_diffusion(e->ctx, model, count, p.x, a);
    for (size_t i = 0; status >= 0 && i < count; i++) most = fmax(most, fmax(fabs(a[4 * i]), fabs(a[4 * i + 1])));
    if (status >= 0) status = edge_change(e->ctx, &p, p.truth, model, (edge_telling){0}, &f, &off);
    if (status >= 0) status = edge_tell(e, "oscillator", "largest a_xx, a_xv", most, 0, CLAIM_WORST);
    if (status >= 0) status = edge_tell(e, "oscillator", "RE_f, %", f, 10, CLAIM_MEDIAN);
    if (status >= 0) status = edge_tell(e, "oscillator", "RE_a, %", off, 10, CLAIM_MEDIAN);
    sock_model_free(model);
    free(a);
    edge_free(&p);
    return status;
}

/* ---- Wild values ---- */

/* The standard deviation of a step of state k. */
static double step_deviation(const edge_paths *p, size_t k)
{
    const size_t d = p->system.d;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i + 1 < p->paths * p->points; i++) {
        if ((i + 1) % p->points == 0) continue;
        double step = p->x[(i + 1) * d + k] - p->x[i * d + k];
        sum += step * step;
        count++;
    }
    return sqrt(sum / (double)count);
}

/* One point in two hundred moved by twenty deviations of a step, up and down: one step in a hundred is wild. */
static void spoil(edge_paths *p)
{
    const size_t d = p->system.d;
    for (size_t k = 0; k < d; k++) {
        const double sd = step_deviation(p, k);
        for (size_t i = 97 + 31 * k, sign = 0; i < p->paths * p->points; i += 200, sign++)
            p->x[i * d + k] += (sign % 2 ? -20 : 20) * sd;
    }
}

static sock_status spoil_scene(edge *e, const scene *at)
{
    edge_paths clean, wild;
    sock_model *one = NULL, *other = NULL;
    double f = NAN, a = NAN;
    sock_status status = edge_simulate(e->ctx, at->system, 0, at->paths, at->points, e->seed, &clean);
    if (status < 0) return status;
    status = edge_simulate(e->ctx, at->system, 0, at->paths, at->points, e->seed, &wild);
    if (status >= 0) spoil(&wild);
    if (status >= 0) status = fit_told(e, &clean, (edge_telling){0}, NULL, &one);
    if (status >= 0) status = fit_told(e, &wild, (edge_telling){0}, NULL, &other);
    if (status >= 0) status = edge_change(e->ctx, &clean, one, other, (edge_telling){0}, &f, &a);
    if (status >= 0) status = edge_tell(e, at->system, "change of f, %", f, 10, CLAIM_MEDIAN);
    if (status >= 0) status = edge_tell(e, at->system, "change of a, %", a, 10, CLAIM_MEDIAN);
    sock_model_free(one);
    sock_model_free(other);
    edge_free(&clean);
    edge_free(&wild);
    return status;
}

static sock_status measure_wild(edge *e)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < (e->settings->quick ? 1 : COUNT(scenes)); i++)
        if (strcmp(scenes[i].system, "gbm") != 0) status = spoil_scene(e, &scenes[i]); /* its steps have no one size */
    return status;
}

/* ---- Rounded values ---- */

/* Each state to so many deviations of its step; 0: as it is. */
static void round_off(edge_paths *p, double share)
{
    const size_t d = p->system.d;
    for (size_t k = 0; share > 0 && k < d; k++) {
        const double grain = share * step_deviation(p, k);
        for (size_t i = 0; i < p->paths * p->points; i++) p->x[i * d + k] = grain * round(p->x[i * d + k] / grain);
    }
}

static sock_status round_scene(edge *e, const scene *at, double share)
{
    edge_paths seen, clean;
    sock_model *model = NULL;
    char name[60];
    double f = NAN, a = NAN;
    sock_status status = edge_simulate(e->ctx, at->system, 0, at->paths, at->points, e->seed, &seen);
    if (status < 0) return status;
    status = edge_simulate(e->ctx, at->system, 0, at->paths, at->points, e->seed, &clean);
    if (status >= 0) round_off(&seen, share);
    if (status >= 0) status = fit_told(e, &seen, (edge_telling){0}, NULL, &model);
    if (status >= 0) status = edge_change(e->ctx, &clean, clean.truth, model, (edge_telling){0}, &f, &a);
    snprintf(name, sizeof name, "%s, to %.3g steps", at->system, share);
    if (status >= 0) status = edge_tell(e, name, "RE_f, %", f, 0, CLAIM_NONE);
    if (status >= 0) status = edge_tell(e, name, "RE_a, %", a, 15, CLAIM_MEDIAN);
    sock_model_free(model);
    edge_free(&clean);
    edge_free(&seen);
    return status;
}

static sock_status measure_rounded(edge *e)
{
    static const double shares[] = {0, 0.5, 1, 2};
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < (e->settings->quick ? 1 : COUNT(scenes)); i++)
        for (size_t k = 0; status >= 0 && k < COUNT(shares); k++)
            if (strcmp(scenes[i].system, "gbm") != 0) status = round_scene(e, &scenes[i], shares[k]);
    return status;
}

/* ---- Budget ---- */

static sock_status measure_budget(edge *e)
{
    static const setting hurry[MOST_SETTINGS] = {{"budget", "0.001"}};
    edge_paths p;
    sock_data *data = NULL;
    sock_model *model = NULL;
    sock_status status = edge_simulate(e->ctx, "lorenz96", 50, 40, 101, e->seed, &p);
    if (status < 0) return status;
    status = edge_data(e->ctx, &p, (edge_telling){0}, &data);
    double begun = cpu_seconds();
    if (status >= 0) status = fit(e, data, hurry, &model);
    if (status >= 0) status = edge_tell(e, "lorenz96, d = 50", "cpu s", cpu_seconds() - begun, 0.5, CLAIM_WORST);
    sock_model_free(model);
    sock_data_free(data);
    edge_free(&p);
    return status;
}

/* ---- The table ---- */

#define CLAIMS(CLAIM)                                                                                                  \
    CLAIM(shift, 5, EDGE_USUAL)    /* 300 added to every state */                                                      \
    CLAIM(units, 5, EDGE_USUAL)    /* every state in other units */                                                    \
    CLAIM(states, 5, EDGE_USUAL)   /* states in another order */                                                       \
    CLAIM(turned, 5, EDGE_USUAL)   /* turned by 30 degrees, kernels that do not know the axes */                       \
    CLAIM(order, 5, EDGE_USUAL)    /* trajectories in another order */                                                 \
    CLAIM(cut, 5, EDGE_USUAL)      /* one trajectory cut in two */                                                     \
    CLAIM(plain, 3, EDGE_USUAL)    /* trajectories in another order, no search */                                      \
    CLAIM(floor, 20, EDGE_USUAL)   /* scale of a constant a */                                                         \
    CLAIM(behind, 5, EDGE_LARGE)   /* nats behind the best single kernel */                                            \
    CLAIM(long, 5, EDGE_LARGE)     /* more data, smaller errors */                                                     \
    CLAIM(sine, 3, EDGE_LARGE)     /* a small bend in the drift, 4e5 steps */                                          \
    CLAIM(states20, 3, EDGE_USUAL) /* twenty states */                                                                 \
    CLAIM(states40, 3, EDGE_LARGE) /* forty */                                                                         \
    CLAIM(states100, 1, EDGE_SLOW) /* a hundred */                                                                     \
    CLAIM(chain, 3, EDGE_LARGE)    /* six states in a linear chain, one path */                                        \
    CLAIM(silent, 5, EDGE_USUAL)   /* a state without noise of its own */                                              \
    CLAIM(wild, 5, EDGE_USUAL)     /* one step in a hundred at twenty deviations */                                    \
    CLAIM(rounded, 5, EDGE_USUAL)  /* every state to so many deviations of a step */                                   \
    CLAIM(budget, 3, EDGE_LARGE)   /* a budget that is over at once */                                                 \
    CLAIM(sample, 10, EDGE_SLOW)   /* a stream: the plan of a sample against that of all rows */

static sock_status measure_sample(edge *e) { return edge_measure_sample(e); }

#define ROW(name, seeds, size) {#name, seeds, size, measure_##name},
#define NAME(name, seeds, size) #name,

const edge_claim edge_claims[] = {CLAIMS(ROW)};
const size_t edge_claim_count = COUNT(edge_claims);
const char *const edge_claim_names[] = {CLAIMS(NAME) NULL};
