/* ablation.c - the solvers of the convex problem compared, as the paper asks for (FISTA on the dual against projected
 * gradient): data sets x lambdas x methods x goals.
 *
 * The drift is the true one, so that all methods get the same residuals; the features are 100 random Fourier features
 * with the median distance as length scale; lambda = l h^2, as their mean k(x, x) is 1. Every solve is cold, with one
 * thread, and its time is processor time with features and set-up included. A method that does not reach a goal within
 * the cap (by the clock) is not asked for the tighter ones. */
#include "api/record.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "systems/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct problem_set {
    const char *name, *system;
    int diagonal, full_only;
} problem_set;

static const problem_set sets[] = {{"exponential", "expdyn", 0, 0},
                                   {"gbm", "gbm", 0, 0},
                                   {"dense", "dense", 0, 0},
                                   {"lorenz96-diagonal", "lorenz96", 1, 0},
                                   {"lorenz96-full", "lorenz96", 0, 1}};

static const char *const set_names[] = {"exponential", "gbm", "dense", "lorenz96-diagonal", "lorenz96-full", NULL};

typedef struct method {
    const char *name, *solver, *compression;
} method;

/* The last two are the paper's own and the one it asks to compare with: all rows and features, no reduction before. */
static const method methods[] = {{"newton", "newton", "yes"},
                                 {"lbfgs", "lbfgs", "yes"},
                                 {"fista", "fista", "yes"},
                                 {"fista-restart", "fista-restart", "yes"},
                                 {"projgrad", "projgrad", "yes"},
                                 {"projgrad-accelerated", "projgrad-accelerated", "yes"},
                                 {"fista-uncompressed", "fista", "no"},
                                 {"projgrad-uncompressed", "projgrad", "no"}};

static const double goals[] = {1e-3, 1e-6, 1e-8};
static const double lambdas[] = {1e-1, 1e-3, 1e-5};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const columns[] = {"set",    "d",       "n",   "pd",         "l",       "lambda", "goal",
                                      "method", "reached", "gap", "iterations", "seconds", "wall"};
enum { SET, DIM, N, PD, L, LAMBDA, GOAL, METHOD, REACHED, GAP, ITERATIONS, SECONDS, WALL }; /* places in a row */

/* What is solved: data, true drift, options that all methods share. */
typedef struct bench {
    sock_context *ctx;
    const exp_settings *settings;
    const problem_set *set;
    sys_instance *instance;
    sock_model *truth;
    sock_data *data;
    sock_options *opts;
    double l, lambda, cap;
} bench;

typedef struct outcome {
    int reached;
    double gap, seconds, wall;
    json_int_t iterations, n, features;
} outcome;

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double wall_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- One solve ---- */

static sock_status set_number(bench *b, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return sock_options_set(b->ctx, b->opts, key, text);
}

static sock_status read_outcome(bench *b, const sock_model *model, outcome *out)
{
    sk_record r;
    sock_status status = sk_record_of_model(b->ctx, model, &r);
    out->reached = r.certificate.converged;
    out->gap = r.certificate.relative_gap;
    out->iterations = r.certificate.iterations;
    out->n = (json_int_t)r.n;
    out->features = (json_int_t)r.features;
    sk_record_clear(&r);
    return status;
}

static sock_status solve(bench *b, const method *m, double goal, outcome *out)
{
    sock_model *model = NULL;
    sock_status status = sock_options_set(b->ctx, b->opts, "solver", m->solver);
    if (status >= 0) status = sock_options_set(b->ctx, b->opts, "compression", m->compression);
    if (status >= 0) status = set_number(b, "tolerance", goal);
    if (status < 0) return status;
    double begun = processor_seconds(), begun_wall = wall_seconds();
    status = sock_fit_diffusion(b->ctx, b->data, b->truth, b->opts, &model);
    out->seconds = processor_seconds() - begun;
    out->wall = wall_seconds() - begun_wall;
    if (status >= 0) status = read_outcome(b, model, out);
    sock_model_free(model);
    return status;
}

/* ---- The table ---- */

static void add_row(const bench *b, const method *m, double goal, const outcome *o, json_t *rows)
{
    json_int_t d = (json_int_t)sock_data_dim(b->data);
    json_t *row = json_pack("[s, I, I, I, f, f, f, s, b, f, I, f, f]", b->set->name, d, o->n, o->features * d, b->l,
                            b->lambda, goal, m->name, o->reached, o->gap, o->iterations, o->seconds, o->wall);
    json_array_append_new(rows, row);
    if (!b->settings->say) return;
    char line[200];
    snprintf(line, sizeof line, "%s l=%g %s to %g: %s gap %.1e, %lld iterations, %.3f s", b->set->name, b->l, m->name,
             goal, o->reached ? "reached," : "NOT reached,", o->gap, (long long)o->iterations, o->seconds);
    b->settings->say(b->settings->user, line);
}

static sock_status run_lambda(bench *b, json_t *rows)
{
    const double *t;
    sock_data_trajectory(b->data, 0, &t, NULL);
    b->lambda = b->l * (t[1] - t[0]) * (t[1] - t[0]);
    sock_status status = set_number(b, "diffusion-lambda", b->lambda);
    for (size_t m = 0; status >= 0 && m < COUNT(methods); m++) {
        outcome o = {.reached = 1};
        for (size_t g = 0; status >= 0 && o.reached && g < COUNT(goals); g++) {
            status = solve(b, &methods[m], goals[g], &o);
            if (status >= 0) add_row(b, &methods[m], goals[g], &o, rows);
        }
    }
    return status < 0 ? status : SOCK_OK;
}

/* The cap holds for each of the d problems of a diagonal a. */
static sock_status set_common_options(bench *b)
{
    const char *diagonal = b->set->diagonal ? "yes" : "no";
    double problems = b->set->diagonal ? (double)sock_data_dim(b->data) : 1;
    sock_status status = sock_options_set(b->ctx, b->opts, "diffusion", "fourier:p=100,seed=0");
    if (status >= 0) status = sock_options_set(b->ctx, b->opts, "quadrature", "trapezoid");
    if (status >= 0) status = sock_options_set(b->ctx, b->opts, "diagonal", diagonal);
    if (status >= 0) status = sock_options_set(b->ctx, b->opts, "max-iterations", "100000000");
    if (status >= 0) status = set_number(b, "max-seconds", b->cap / problems);
    return status;
}

static sock_status run_set(bench *b, json_t *rows)
{
    const int quick = b->settings->quick;
    sock_status status = sys_new(b->ctx, sys_find(b->set->system), b->settings->seed, &b->instance);
    if (status >= 0) status = sys_truth(b->ctx, b->instance, &b->truth);
    if (status >= 0) status = sys_generate(b->ctx, b->instance, SYS_TRAIN, &b->data);
    if (status >= 0 && !(b->opts = sock_options_new(b->ctx))) status = SOCK_ENOMEM;
    if (status >= 0) status = set_common_options(b);
    for (size_t i = 0; status >= 0 && i < COUNT(lambdas) - (quick ? 1 : 0); i++) {
        b->l = lambdas[i];
        status = run_lambda(b, rows);
    }
    sock_options_free(b->opts);
    sock_data_free(b->data);
    sock_model_free(b->truth);
    sys_free(b->instance);
    return status;
}

static int is_wanted(const exp_settings *settings, size_t index)
{
    if (settings->names) return exp_is_named(settings->names, sets[index].name);
    return settings->quick ? index == 0 : settings->full || !sets[index].full_only;
}

static sock_status run_ablation(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    const double cap = settings->cap > 0 ? settings->cap : settings->quick ? 2 : 20;
    const int threads = sock_threads(ctx);
    json_t *names = exp_columns(COUNT(columns), columns), *rows = json_array();
    sock_status status = sock_set_threads(ctx, 1);
    for (size_t i = 0; status >= 0 && i < COUNT(sets); i++) {
        bench b = {.ctx = ctx, .settings = settings, .set = &sets[i], .cap = cap};
        if (is_wanted(settings, i)) status = run_set(&b, rows);
    }
    if (status < 0) {
        json_decref(names);
        json_decref(rows);
        return status;
    }
    *result = json_pack("{s:s, s:f, s:I, s:o, s:o}", "experiment", "ablation", "cap", cap, "seed",
                        (json_int_t)settings->seed, "columns", names, "rows", rows);
    return sock_set_threads(ctx, threads);
}

/* ---- For people ---- */

static const char *text_at(const json_t *row, size_t column) { return json_string_value(json_array_get(row, column)); }
static double number_at(const json_t *row, size_t column) { return json_number_value(json_array_get(row, column)); }

static int same_problem(const json_t *row, const char *set, double l)
{
    return strcmp(text_at(row, SET), set) == 0 && number_at(row, L) == l;
}

/* "12 it 0.034 s"; or what was spent when the cap came, and the gap by then; or that it was not asked for. */
static void print_goal(const json_t *rows, const json_t *problem, const char *name, double goal, FILE *stream)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!same_problem(row, text_at(problem, SET), number_at(problem, L)) ||
            strcmp(text_at(row, METHOD), name) != 0 || number_at(row, GOAL) != goal)
            continue;
        char cell[40];
        if (json_is_true(json_array_get(row, REACHED)))
            snprintf(cell, sizeof cell, "%.0f it %.3g s", number_at(row, ITERATIONS), number_at(row, SECONDS));
        else
            snprintf(cell, sizeof cell, ">%.3g s (%.0e)", number_at(row, SECONDS), number_at(row, GAP));
        fprintf(stream, "  %18s", cell);
        return;
    }
    fprintf(stream, "  %18s", "-");
}

static void print_ablation(const json_t *result, FILE *stream)
{
    const json_t *rows = json_object_get(result, "rows");
    const char *set = "";
    double l = NAN;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (same_problem(row, set, l)) continue;
        set = text_at(row, SET);
        l = number_at(row, L);
        fprintf(stream, "%s%s, l = %g: d = %.0f, n = %.0f, pd = %.0f\n  %-22s", i ? "\n" : "", set, l,
                number_at(row, DIM), number_at(row, N), number_at(row, PD), "relative gap");
        for (size_t g = 0; g < COUNT(goals); g++) fprintf(stream, "  %18g", goals[g]);
        for (size_t m = 0; m < COUNT(methods); m++) {
            fprintf(stream, "\n  %-22s", methods[m].name);
            for (size_t g = 0; g < COUNT(goals); g++) print_goal(rows, row, methods[m].name, goals[g], stream);
        }
        fputc('\n', stream);
    }
}

const exp_experiment exp_ablation = {.name = "ablation",
                                     .summary = "the solvers of the diffusion: iterations and seconds to a gap",
                                     .takes = EXP_TAKES_SEED | EXP_TAKES_CAP | EXP_TAKES_FULL,
                                     .sets = set_names,
                                     .run = run_ablation,
                                     .print = print_ablation};
