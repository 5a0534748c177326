/* edges.c - the default at its edges: one claim after the other, each with its goal, on data made for it.
 *
 * A claim measures numbers on one seed; the study asks of their medians (or of the worst, or of the absolute mean, as
 * the measure says) whether they are within the goal. A row is kept as soon as its claim is through with a seed; with a
 * file of rows, only what is not there is computed. */
#include "api/record.h"
#include "experiments/edgedata.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const columns[] = {"claim", "case", "measure", "seed", "value", "goal", "of"};
enum { CLAIM, CASE, MEASURE, SEED, VALUE, GOAL, OF };

/* What of the values over the seeds the goal is for. */
static const char *const of_median = "median", *const of_worst = "worst", *const of_mean = "|mean|",
                         *const of_none = "-";

typedef struct edge edge;

typedef struct claim {
    const char *name, *says;
    size_t seeds;
    int slow; /* left out unless it is named or --full is given */
    sock_status (*measure)(edge *e);
} claim;

/* One claim on one seed. */
struct edge {
    sock_context *ctx;
    const exp_settings *settings;
    const claim *claim;
    uint64_t seed;
    json_t *rows; /* of this claim and seed */
};

/* ---- Numbers ---- */

/* goal: at most this, of the median or so. */
static sock_status tell(edge *e, const char *name, const char *measure, double value, double goal, const char *of)
{
    char line[160];
    if (e->settings->quick && strncmp(measure, "cpu", 3) == 0)
        of = of_none; /* quick is a test, and tests are not timed */
    json_t *row =
        json_pack("[s, s, s, I, o, o, s]", e->claim->name, name, measure, (json_int_t)e->seed,
                  isfinite(value) ? json_real(value) : json_null(), of == of_none ? json_null() : json_real(goal), of);
    snprintf(line, sizeof line, "%-10s %-18s seed %-4llu %-14s %.4g", e->claim->name, name, (unsigned long long)e->seed,
             measure, value);
    if (e->settings->say) e->settings->say(e->settings->user, line);
    return row && json_array_append_new(e->rows, row) == 0 ? SOCK_OK : SOCK_ENOMEM;
}

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
    if (status >= 0) status = tell(e, at->system, "change of f, %", f, goal[0], of_median);
    if (status >= 0) status = tell(e, at->system, "change of a, %", a, goal[1], goal[1] > 0 ? of_median : of_none);
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
        if (status >= 0) status = tell(e, scenes[i].system, "log a / truth, %", off, 2, of_mean);
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
    double best, own, constant, spread; /* spread: how far the score of constants moves */
} rivals;

/* A kernel that does not fit alone has no score: no rival. */
static sock_status try_kernel(edge *e, const sock_data *data, const char *field, const char *kernel, rivals *out)
{
    const setting held[MOST_SETTINGS] = {{field, kernel}};
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

static sock_status race(edge *e, const sock_data *data, rivals *out)
{
    sock_model *model = NULL;
    sk_record r;
    sock_status status = fit(e, data, NULL, &model);
    if (status < 0) return status;
    status = sk_record_of_model(e->ctx, model, &r);
    *out = (rivals){.best = -INFINITY, .own = r.found.score, .constant = r.found.score_constant};
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
        if (status >= 0) status = tell(e, name, "behind, nats", r.best - r.own, 2, of_worst);
        if (status >= 0) status = tell(e, name, "constants, nats", r.spread, 1e-6, of_worst);
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
    if (status >= 0) status = tell(e, name, measure, f, 0, of_none);
    snprintf(measure, sizeof measure, "cpu s, n = %zu", paths * (points - 1));
    if (status >= 0) status = tell(e, name, measure, took, 60, p.system.d == 1 ? of_worst : of_none);
    edge_free(&p);
    return status;
}

static const char *const long_systems[] = {"ou", "doublewell", "vanderpol"};
static const size_t long_paths[] = {5, 50, 500, 5000}; /* of 200 steps */

static sock_status measure_long(edge *e)
{
    sock_status status = SOCK_OK;
    for (size_t s = 0; s < COUNT(long_systems); s++)
        for (size_t i = 0; status >= 0 && i < (e->settings->quick ? 2 : COUNT(long_paths)); i++)
            status = measure_length(e, long_systems[s], long_paths[i], 201);
    return status;
}

static sock_status measure_sine(edge *e)
{
    edge_paths p;
    double f = NAN, a = NAN;
    sock_status status = edge_simulate(e->ctx, "sine", 0, e->settings->quick ? 300 : 2000, 201, e->seed, &p);
    if (status < 0) return status;
    status = errors(e, &p, NULL, &f, &a);
    if (status >= 0) status = tell(e, "sine", "RE_f, %", f, 5, of_median);
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
    if (status >= 0) status = tell(e, name, "RE_f, %", f, goal->f, of_median);
    if (status >= 0) status = tell(e, name, "RE_a, %", a, goal->a, goal->a > 0 ? of_median : of_none);
    if (status >= 0) status = tell(e, name, "cpu s", took, goal->seconds, of_median);
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
    if (status >= 0) status = tell(e, "oscillator", "largest a_xx, a_xv", most, 0, of_worst);
    if (status >= 0) status = tell(e, "oscillator", "RE_f, %", f, 10, of_median);
    if (status >= 0) status = tell(e, "oscillator", "RE_a, %", off, 10, of_median);
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
    if (status >= 0) status = tell(e, at->system, "change of f, %", f, 10, of_median);
    if (status >= 0) status = tell(e, at->system, "change of a, %", a, 10, of_median);
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
    if (status >= 0) status = tell(e, "lorenz96, d = 50", "cpu s", cpu_seconds() - begun, 0.5, of_worst);
    sock_model_free(model);
    sock_data_free(data);
    edge_free(&p);
    return status;
}

/* ---- The study ---- */

static const claim claims[] = {
    {"shift", "300 added to every state", 5, 0, measure_shift},
    {"units", "every state in other units", 5, 0, measure_units},
    {"states", "states in another order", 5, 0, measure_states},
    {"turned", "turned by 30 degrees, kernels that do not know the axes", 5, 0, measure_turned},
    {"order", "trajectories in another order", 5, 0, measure_order},
    {"cut", "one trajectory cut in two", 5, 0, measure_cut},
    {"plain", "trajectories in another order, no search", 3, 0, measure_plain},
    {"floor", "scale of a constant a", 20, 0, measure_floor},
    {"behind", "nats behind the best single kernel", 5, 0, measure_behind},
    {"long", "more data, smaller errors", 5, 0, measure_long},
    {"sine", "a small bend in the drift, 4e5 steps", 3, 0, measure_sine},
    {"states20", "twenty states", 3, 0, measure_states20},
    {"states40", "forty states", 3, 0, measure_states40},
    {"states100", "a hundred states", 1, 1, measure_states100},
    {"chain", "six states in a linear chain, one path", 3, 0, measure_chain},
    {"silent", "a state without noise of its own", 5, 0, measure_silent},
    {"wild", "one step in a hundred at twenty deviations", 5, 0, measure_wild},
    {"budget", "a budget that is over at once", 3, 0, measure_budget}};

static const char *const claim_names[] = {"shift", "units",  "states", "turned", "order",    "cut",      "plain",
                                          "floor", "behind", "long",   "sine",   "states20", "states40", "states100",
                                          "chain", "silent", "wild",   "budget", NULL};

/* Quick leaves out what needs its full size to mean something. */
static int is_wanted(const exp_settings *settings, const claim *c)
{
    static const char *const large = "behind,long,sine,states40,states100,chain,budget";
    if (settings->names) return exp_is_named(settings->names, c->name);
    return settings->quick ? !exp_is_named(large, c->name) : settings->full || !c->slow;
}

static size_t seeds_of(const exp_settings *settings, const claim *c)
{
    return settings->seeds ? settings->seeds : settings->quick ? 1 : c->seeds;
}

static int is_done(const json_t *rows, const claim *c, uint64_t seed)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(exp_text_at(row, CLAIM), c->name) == 0 && exp_number_at(row, SEED) == (double)seed) return 1;
    }
    return 0;
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
    for (size_t i = 0; i < COUNT(claims); i++)
        for (size_t k = 0; status >= 0 && k < seeds_of(settings, &claims[i]); k++) {
            edge e = {.ctx = ctx, .settings = settings, .claim = &claims[i], .seed = settings->seed + k};
            if (is_wanted(settings, &claims[i]) && !is_done(rows, &claims[i], e.seed))
                status = run_seed(&e, names, rows);
        }
    return status;
}

/* ---- Over the seeds ---- */

static int is_same_measure(const json_t *one, const json_t *other)
{
    return strcmp(exp_text_at(one, CLAIM), exp_text_at(other, CLAIM)) == 0 &&
           strcmp(exp_text_at(one, CASE), exp_text_at(other, CASE)) == 0 &&
           strcmp(exp_text_at(one, MEASURE), exp_text_at(other, MEASURE)) == 0;
}

static int is_first(const json_t *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_same_measure(json_array_get(rows, i), json_array_get(rows, row))) return 0;
    return 1;
}

typedef struct spread {
    size_t count;
    double median, worst, mean, error; /* error: of the mean */
} spread;

/* values: room for as many as there are rows. A value that there is not is infinite. */
static spread spread_of(const json_t *rows, const json_t *like, double *values)
{
    spread s = {.worst = -INFINITY};
    double squares = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!is_same_measure(row, like)) continue;
        double value = exp_number_at(row, VALUE);
        values[s.count++] = isnan(value) ? (double)INFINITY : value;
        s.worst = fmax(s.worst, values[s.count - 1]);
        s.mean += values[s.count - 1];
    }
    s.mean /= (double)s.count;
    for (size_t i = 0; i < s.count; i++) squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.error = s.count > 1 ? sqrt(squares / (double)(s.count - 1) / (double)s.count) : (double)NAN;
    s.median = exp_quantile(s.count, values, 0.5);
    return s;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static double judged(const char *of, const spread *s)
{
    return strcmp(of, of_median) == 0 ? s->median : strcmp(of, of_worst) == 0 ? s->worst : fabs(s->mean);
}

static json_t *summary_of(const json_t *rows, const json_t *row, double *values)
{
    const char *of = exp_text_at(row, OF);
    const int has_goal = strcmp(of, of_none) != 0;
    spread s = spread_of(rows, row, values);
    const double goal = exp_number_at(row, GOAL);
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "claim", exp_text_at(row, CLAIM),
                     "case", exp_text_at(row, CASE), "measure", exp_text_at(row, MEASURE), "seeds", (json_int_t)s.count,
                     "median", number(s.median), "mean", number(s.mean), "error", number(s.error), "worst",
                     number(s.worst), "goal", has_goal ? number(goal) : json_null(), "of", of, "holds",
                     has_goal ? json_boolean(judged(of, &s) <= goal) : json_null());
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
    for (size_t s = 0; s < COUNT(long_systems); s++) {
        double slope = slope_of(summary, long_systems[s]);
        if (isnan(slope)) continue;
        lacking |= json_array_append_new(
            summary, json_pack("{s:s, s:s, s:s, s:n, s:f, s:n, s:n, s:n, s:f, s:s, s:b}", "claim", "long", "case",
                               long_systems[s], "measure", "slope of log RE_f", "seeds", "median", slope, "mean",
                               "error", "worst", "goal", goal, "of", of_median, "holds", slope <= goal));
    }
    return lacking;
}

/* NULL when out of memory. */
static json_t *summarise(const json_t *rows)
{
    json_t *summary = json_array();
    double *values = malloc((json_array_size(rows) + 1) * sizeof *values);
    int lacking = !summary || !values;
    for (size_t i = 0; !lacking && i < json_array_size(rows); i++)
        if (is_first(rows, i))
            lacking |= json_array_append_new(summary, summary_of(rows, json_array_get(rows, i), values));
    free(values);
    if (!lacking) lacking = add_slopes(summary);
    if (!lacking) return summary;
    json_decref(summary);
    return NULL;
}

static json_t *failures_of(const json_t *summary)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i);
        if (!json_is_false(json_object_get(entry, "holds"))) continue;
        json_array_append_new(failures, json_sprintf("%s, %s: %s is beyond the goal of %g",
                                                     json_string_value(json_object_get(entry, "claim")),
                                                     json_string_value(json_object_get(entry, "case")),
                                                     json_string_value(json_object_get(entry, "measure")),
                                                     json_number_value(json_object_get(entry, "goal"))));
    }
    return failures;
}

static sock_status run_edges(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    json_t *names = exp_columns(COUNT(columns), columns), *rows = NULL;
    sock_status status =
        exp_rows_resume(settings->output, names, json_array_size(names), settings->say, settings->user, &rows);
    if (status >= 0) status = run_claims(ctx, settings, names, rows);
    json_t *summary = status >= 0 ? summarise(rows) : NULL;
    if (status >= 0 && !summary) status = SOCK_ENOMEM;
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    *result = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "experiment", "edges", "first", (json_int_t)settings->seed,
                        "failures", failures_of(summary), "summary", summary, "columns", names, "rows", rows);
    return SOCK_OK;
}

/* ---- For people ---- */

static void print_number(const json_t *entry, const char *key, FILE *stream)
{
    const json_t *value = json_object_get(entry, key);
    if (json_is_number(value))
        fprintf(stream, " %11.4g", json_number_value(value));
    else
        fprintf(stream, " %11s", "-");
}

static void print_edges(const json_t *result, FILE *stream)
{
    const json_t *summary = json_object_get(result, "summary");
    static const char *const numbers[] = {"seeds", "median", "mean", "error", "worst", "goal"};
    fprintf(stream, "%-10s %-18s %-20s", "claim", "case", "measure");
    for (size_t k = 0; k < COUNT(numbers); k++) fprintf(stream, " %11s", numbers[k]);
    fprintf(stream, " %-7s holds\n", "of");
    for (size_t i = 0; i < json_array_size(summary); i++) {
        const json_t *entry = json_array_get(summary, i), *holds = json_object_get(entry, "holds");
        fprintf(stream, "%-10s %-18s %-20s", json_string_value(json_object_get(entry, "claim")),
                json_string_value(json_object_get(entry, "case")),
                json_string_value(json_object_get(entry, "measure")));
        for (size_t k = 0; k < COUNT(numbers); k++) print_number(entry, numbers[k], stream);
        fprintf(stream, " %-7s %s\n", json_string_value(json_object_get(entry, "of")),
                json_is_null(holds)   ? "-"
                : json_is_true(holds) ? "yes"
                                      : "NO");
    }
}

const exp_experiment exp_edges = {.name = "edges",
                                  .summary = "the default at its edges: shifted, long, wild, high-dimensional data",
                                  .takes = EXP_TAKES_SEEDS | EXP_TAKES_FULL,
                                  .sets = claim_names,
                                  .resumes = 1,
                                  .run = run_edges,
                                  .print = print_edges};
