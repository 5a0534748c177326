/* bench_fit.c - the speed of what a user types: `sock fit`, the scores of simulated paths, and simulation.
 * `bench_fit fm` runs (f) and (m) alone.
 *
 *   (f) the whole default fit, search included, on the paper's sets (training and validation trajectories), 2 threads.
 *       Goals: gbm 1 s, expdyn 0.5 s, dense 1 s, lorenz96 10 s.
 *   (m) MMD of the gbm model: 20 starts x 500 paths x 1000 steps. Goal: 1 s.
 *   (s) simulated steps a second, against the time of the normal numbers alone, of the products with the
 *       coefficients alone and of the features' cosines alone (the same sizes, the same number of threads). */
#include "bench.h"

#include "la/la.h"
#include "systems/systems.h"

#include <jansson.h>
#include <string.h>

enum { THREADS = 2, BLOCK = 128 };

/* ---- Fits ---- */

typedef struct job {
    sock_context *ctx;
    sys_instance *instance;
    sock_data *train, *test;
    sock_options *opts;
    sock_model *model; /* of the last run */
} job;

/* As many training trajectories as training and validation have together. */
static job make_job(sock_context *ctx, const char *name, uint64_t seed)
{
    job j = {.ctx = ctx, .opts = bench_have(ctx, sock_options_new(ctx))};
    bench_need(ctx, sys_new(ctx, sys_find(name), seed, &j.instance));
    j.instance->trajectories[SYS_TRAIN] += j.instance->trajectories[SYS_VALIDATION];
    bench_need(ctx, sys_generate(ctx, j.instance, SYS_TRAIN, &j.train));
    bench_need(ctx, sys_generate(ctx, j.instance, SYS_TEST, &j.test));
    return j;
}

static void free_job(job *j)
{
    sock_model_free(j->model);
    sock_options_free(j->opts);
    sock_data_free(j->train);
    sock_data_free(j->test);
    sys_free(j->instance);
}

static void run_fit(void *arg)
{
    job *j = arg;
    sock_model *model = NULL;
    bench_need(j->ctx, sock_fit(j->ctx, j->train, j->opts, &model));
    sock_model_free(j->model);
    j->model = model;
}

static json_t *info_of(const job *j)
{
    char *text = NULL;
    bench_need(j->ctx, sock_model_info(j->ctx, j->model, &text));
    json_t *info = json_loads(text, 0, NULL);
    sock_string_free(text);
    return info;
}

typedef struct fit_goal {
    const char *name;
    double seconds;
    int rounds;
} fit_goal;

static void time_fit(sock_context *ctx, const fit_goal *goal)
{
    job j = make_job(ctx, goal->name, 1);
    bench_run run = {goal->name, run_fit, &j, 0, 0};
    bench_in_turn(1, &run, goal->rounds);
    json_t *info = info_of(&j);
    bench_line(&run, 0);
    printf("    n = %zu, %zu candidates scored; drift %s, diffusion %s\n", sock_data_intervals(j.train),
           json_array_size(json_object_get(info, "search")), json_string_value(json_object_get(info, "drift")),
           json_string_value(json_object_get(info, "diffusion")));
    bench_goal("seconds of the whole fit", run.best, false, goal->seconds);
    json_decref(info);
    free_job(&j);
}

/* ---- MMD ---- */

static void run_mmd(void *arg)
{
    const job *j = arg;
    sock_scores scores;
    bench_need(j->ctx, sock_score(j->ctx, j->model, j->test, j->train, NULL, j->opts, &scores));
    if (!scores.mmd2.valid) bench_need(j->ctx, SOCK_ENUMERIC);
}

static void time_mmd(sock_context *ctx)
{
    job j = make_job(ctx, "gbm", 1);
    run_fit(&j);
    bench_run run = {"MMD of the gbm model, 20 x 500 x 1000 steps", run_mmd, &j, 0, 0};
    printf("\n(m) scoring, %d threads\n", THREADS);
    bench_in_turn(1, &run, 3);
    bench_line(&run, 0);
    bench_goal("seconds of the score", run.best, false, 1);
    free_job(&j);
}

/* ---- Simulation ---- */

typedef struct simulation {
    job *j;
    sock_simulation spec;
    double *x0, t[2], *out;
    size_t paths, steps;  /* in all; of each */
    size_t d, p, columns; /* of the products: features, coefficients of f and factors of a */
    double *a, *b, *c;    /* operands of the floor, for each thread */
    double *normals;
} simulation;

static void run_simulation(void *arg)
{
    const simulation *s = arg;
    bench_need(s->j->ctx, sock_simulate(s->j->ctx, s->j->model, &s->spec, s->out, NULL, NULL));
}

/* All normal numbers of the simulation, a path after the other. */
static sock_status normals_range(void *arg, size_t begin, size_t end, int worker)
{
    const simulation *s = arg;
    sk_key key = {1, SK_PURPOSE_SYSTEM};
    double *out = s->normals + (size_t)worker * s->steps * s->d;
    for (size_t i = begin; i < end; i++) sk_normals_bulk(key, i, 0, 0, s->steps * s->d, out);
    return SOCK_OK;
}

static void run_normals(void *arg)
{
    const simulation *s = arg;
    bench_need(s->j->ctx, sk_parallel_for(s->j->ctx, s->paths, BLOCK, normals_range, arg));
}

/* The products C' h of all steps, block after block. */
static sock_status products_range(void *arg, size_t begin, size_t end, int worker)
{
    const simulation *s = arg;
    const double *a = s->a + (size_t)worker * s->p * s->columns, *b = s->b + (size_t)worker * BLOCK * s->p;
    double *c = s->c + (size_t)worker * BLOCK * s->columns;
    for (size_t step = 0; step < s->steps; step++)
        sk_gemm(s->j->ctx, SK_TRANSPOSED, SK_TRANSPOSED, s->columns, end - begin, s->p, 1, a, s->columns, b, s->p, 0, c,
                BLOCK);
    return SOCK_OK;
}

static void run_products(void *arg)
{
    const simulation *s = arg;
    bench_need(s->j->ctx, sk_parallel_for(s->j->ctx, s->paths, BLOCK, products_range, arg));
}

/* The cosines of all features, block after block. */
static sock_status cosines_range(void *arg, size_t begin, size_t end, int worker)
{
    const simulation *s = arg;
    double *b = s->b + (size_t)worker * BLOCK * s->p;
    for (size_t step = 0; step < s->steps; step++) sk_vcos((end - begin) * s->p, b, b);
    return SOCK_OK;
}

static void run_cosines(void *arg)
{
    const simulation *s = arg;
    bench_need(s->j->ctx, sk_parallel_for(s->j->ctx, s->paths, BLOCK, cosines_range, arg));
}

static double *filled(sock_context *ctx, size_t rows, size_t columns)
{
    double *array = bench_have(ctx, sk_doubles(ctx, rows, columns));
    for (size_t i = 0; i < rows * columns; i++) array[i] = 1e-3;
    return array;
}

/* About so many paths from the starts of the training data, over the time of one. */
static simulation make_simulation(job *j, size_t paths, size_t steps)
{
    simulation s = {.j = j, .d = sock_data_dim(j->train), .t = {0, 1}, .steps = steps};
    const size_t starts = sock_data_trajectories(j->train);
    json_t *info = info_of(j);
    s.p = (size_t)json_integer_value(json_object_get(info, "features"));
    s.columns = s.d + (size_t)json_integer_value(json_object_get(info, "rank"));
    json_decref(info);
    s.paths = paths / starts * starts;
    s.x0 = bench_have(j->ctx, sk_doubles(j->ctx, starts, s.d));
    for (size_t i = 0; i < starts; i++) {
        const double *t, *x;
        sock_data_trajectory(j->train, i, &t, &x);
        memcpy(s.x0 + i * s.d, x, s.d * sizeof *x);
    }
    s.out = bench_have(j->ctx, sk_doubles(j->ctx, s.paths * 2, s.d));
    s.a = filled(j->ctx, THREADS * s.p, s.columns);
    s.b = filled(j->ctx, THREADS * BLOCK, s.p);
    s.c = filled(j->ctx, THREADS * BLOCK, s.columns);
    s.normals = filled(j->ctx, THREADS * steps, s.d);
    s.spec = (sock_simulation){.starts = starts, .paths = paths / starts, .times = 2, .step = 1.0 / (double)steps};
    return s;
}

static void free_simulation(simulation *s)
{
    sk_free(s->x0);
    sk_free(s->out);
    sk_free(s->a);
    sk_free(s->b);
    sk_free(s->c);
    sk_free(s->normals);
}

/* A plain model, so that its sizes are known: Fourier features for f and a. */
static void time_simulation(sock_context *ctx, const char *name, size_t paths, size_t count)
{
    const char *const kernel = "fourier:p=100";
    const char *const options[][2] = {{"tune", "no"},      {"drift", kernel},        {"diffusion", kernel},
                                      {"diagonal", "yes"}, {"drift-lambda", "1e-4"}, {"diffusion-lambda", "1e-4"}};
    job j = make_job(ctx, name, 1);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        bench_need(ctx, sock_options_set(ctx, j.opts, options[i][0], options[i][1]));
    run_fit(&j);
    simulation s = make_simulation(&j, paths, count);
    s.spec.x0 = s.x0;
    s.spec.t = s.t;
    bench_run runs[] = {{"simulation", run_simulation, &s, 0, 0},
                        {"the normal numbers alone", run_normals, &s, 0, 0},
                        {"the products alone", run_products, &s, 0, 0},
                        {"the cosines alone", run_cosines, &s, 0, 0}};
    double steps = (double)s.paths * (double)s.steps;
    printf("\n(s) %s, %s, %zu columns (f: %zu, a: %zu), %d threads\n", name, kernel, s.columns, s.d, s.columns - s.d,
           THREADS);
    bench_in_turn(4, runs, 3);
    double floor = runs[1].best + runs[2].best + runs[3].best;
    for (size_t i = 0; i < 4; i++) bench_line(&runs[i], i ? 0 : floor);
    printf("  %.3g steps a second; %.3g normal numbers a second; %.3g Gflop/s of products\n", steps / runs[0].best,
           steps * (double)s.d / runs[1].best, 2e-9 * steps * (double)(s.p * s.columns) / runs[2].best);
    fflush(stdout);
    free_simulation(&s);
    free_job(&j);
}

int main(int argc, char **argv)
{
    static const fit_goal goals[] = {{"gbm", 1, 3}, {"expdyn", 0.5, 3}, {"dense", 1, 3}, {"lorenz96", 10, 2}};
    sock_context *ctx = sock_context_new();
    if (!ctx) return 1;
    const char *parts = argc > 1 ? argv[1] : "fms";
    bench_need(ctx, sock_set_threads(ctx, THREADS));
    bench_begin("fit", THREADS);
    if (strchr(parts, 'f')) printf("\n(f) the whole default fit, %d threads\n", THREADS);
    for (size_t i = 0; strchr(parts, 'f') && i < sizeof goals / sizeof goals[0]; i++) time_fit(ctx, &goals[i]);
    if (strchr(parts, 'm')) time_mmd(ctx);
    if (strchr(parts, 's')) time_simulation(ctx, "gbm", 10000, 1000);
    if (strchr(parts, 's')) time_simulation(ctx, "lorenz96", 2000, 100);
    sock_context_free(ctx);
    return 0;
}
