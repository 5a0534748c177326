/* bench_drift.c - the speed of the drift fit, against floors measured in the same run. `bench_drift ab` runs (a) and
 * (b) alone.
 *
 *   (a) 1-D, n = 7000, gauss: pivoted features against the full Gram and Cholesky. Goal: 100 times faster.
 *   (b) 10-D, n = 7000, gauss, exact: the whole fit against dpotrf of the same order plus one fill of the kernel's
 *       matrix, with the same number of threads. Goal: at most 1.5 times as long.
 *   (c) is in bench_csv.c.
 *   (d) Cost as n doubles: exact, pivoted, and explicit with 100 Fourier features. */
#include "bench.h"

#include "kernel/kernel.h"
#include "la/la.h"
#include "systems/systems.h"

#include <math.h>
#include <string.h>

enum { INTERVALS = 100 }; /* of one trajectory of gbm and lorenz96 */

/* ---- Fits ---- */

typedef struct fit {
    sock_context *ctx;
    const sock_data *data;
    sock_options *opts;
} fit;

static sock_data *make_data(sock_context *ctx, const char *name, size_t n)
{
    sys_instance *instance = NULL;
    sock_data *data = NULL;
    bench_need(ctx, sys_new(ctx, sys_find(name), 1, &instance));
    instance->trajectories[SYS_TRAIN] = n / INTERVALS;
    bench_need(ctx, sys_generate(ctx, instance, SYS_TRAIN, &data));
    sys_free(instance);
    return data;
}

static fit make_fit(sock_context *ctx, const sock_data *data, const char *drift, const char *path)
{
    fit f = {ctx, data, bench_have(ctx, sock_options_new(ctx))};
    bench_need(ctx, sock_options_set(ctx, f.opts, "tune", "no"));
    bench_need(ctx, sock_options_set(ctx, f.opts, "drift", drift));
    bench_need(ctx, sock_options_set(ctx, f.opts, "drift-path", path));
    bench_need(ctx, sock_options_set(ctx, f.opts, "diffusion", "none"));
    return f;
}

static void run_fit(void *arg)
{
    const fit *f = arg;
    sock_model *model = NULL;
    bench_need(f->ctx, sock_fit(f->ctx, f->data, f->opts, &model));
    sock_model_free(model);
}

/* Where the time of one more fit went. */
static void print_parts(const fit *f)
{
    sock_model *model = NULL;
    char *json = NULL;
    bench_need(f->ctx, sock_fit(f->ctx, f->data, f->opts, &model));
    bench_need(f->ctx, sock_model_info(f->ctx, model, &json));
    const char *path = strstr(json, "\"drift_path\""), *rank = strstr(json, "\"rank\""),
               *seconds = strstr(json, "\"seconds\"");
    if (path && rank && seconds)
        printf("  %.*s, %.*s, %.*s\n", (int)strcspn(path, ",\n"), path, (int)strcspn(rank, ",\n"), rank,
               (int)strcspn(seconds, "}") + 1, seconds);
    sock_string_free(json);
    sock_model_free(model);
}

/* ---- (a) ---- */

static void fast_against_full(sock_context *ctx, const sock_data *data, int threads)
{
    bench_need(ctx, sock_set_threads(ctx, threads));
    fit fast = make_fit(ctx, data, "gauss", "auto"), plain = make_fit(ctx, data, "gauss", "exact");
    bench_run runs[] = {{"pivoted features, whole fit", run_fit, &fast, 0, 0},
                        {"full Gram and Cholesky, whole fit", run_fit, &plain, 0, 0}};
    printf("\n(a) 1-D, n = %zu, gauss, %d thread%s\n", sock_data_intervals(data), threads, threads > 1 ? "s" : "");
    bench_in_turn(2, runs, 3);
    bench_in_turn(1, runs, 5);
    for (size_t i = 0; i < 2; i++) bench_line(&runs[i], 0);
    print_parts(&fast);
    bench_goal("times faster", runs[1].best / runs[0].best, true, 100);
    if (threads == 1) bench_goal("the same in processor seconds", runs[1].best_cpu / runs[0].best_cpu, true, 100);
    sock_options_free(fast.opts);
    sock_options_free(plain.opts);
}

static void fast_path(sock_context *ctx)
{
    sock_data *data = make_data(ctx, "gbm", 7000);
    int most = sock_threads(ctx);
    fast_against_full(ctx, data, 1);
    if (most > 1) fast_against_full(ctx, data, most);
    bench_need(ctx, sock_set_threads(ctx, most));
    sock_data_free(data);
}

/* ---- (b) ---- */

/* The floor: nobody solves the exact system without these two. The matrix is allocated once and has been touched. */
typedef struct floor_job {
    sock_context *ctx;
    size_t n, d;
    const double *x;
    sk_kernel *kernel;
    double *matrix, *space;
    size_t space_size;
} floor_job;

enum { BAND = 64 };

/* The lower triangle of k(X, X), whole rows of tiles. */
static sock_status fill_band(void *arg, size_t begin, size_t end, int worker)
{
    const floor_job *job = arg;
    sk_kernel_block(job->ctx, job->kernel, job->d, end - begin, job->x + begin * job->d, end, job->x,
                    job->matrix + begin * job->n, job->n, job->space + (size_t)worker * job->space_size);
    return SOCK_OK;
}

static void fill_kernel(void *arg)
{
    floor_job *job = arg;
    bench_need(job->ctx, sk_parallel_for(job->ctx, job->n, BAND, fill_band, job));
}

/* Runs after fill_kernel: k(X, X) + I is positive definite. */
static void factorise(void *arg)
{
    floor_job *job = arg;
    for (size_t i = 0; i < job->n; i++) job->matrix[i * job->n + i] += 1;
    bench_need(job->ctx, sk_cholesky(job->ctx, job->n, job->matrix, job->n));
}

static floor_job make_floor(sock_context *ctx, const sock_data *data)
{
    floor_job job = {.ctx = ctx, .n = sock_data_intervals(data), .d = sock_data_dim(data)};
    const double *t, *x;
    double *nodes = bench_have(ctx, sk_doubles(ctx, job.n, job.d));
    for (size_t j = 0, row = 0; j < sock_data_trajectories(data); j++) {
        size_t length = sock_data_trajectory(data, j, &t, &x) - 1;
        memcpy(nodes + row * job.d, x, length * job.d * sizeof *nodes);
        row += length;
    }
    job.x = nodes;
    job.space_size = sk_kernel_space(job.d, job.n);
    job.space = bench_have(ctx, sk_doubles(ctx, (size_t)sock_threads(ctx), job.space_size));
    job.matrix = bench_have(ctx, sk_doubles(ctx, job.n, job.n));
    bench_need(ctx, sk_kernel_parse(ctx, "drift", "gauss", &job.kernel));
    bench_need(ctx, sk_kernel_resolve(ctx, "drift", job.kernel, job.d, job.n, job.x));
    return job;
}

static void exact_against_floor(sock_context *ctx, const sock_data *data, floor_job *base, int threads)
{
    bench_need(ctx, sock_set_threads(ctx, threads));
    fit automatic = make_fit(ctx, data, "gauss", "auto"), exact = make_fit(ctx, data, "gauss", "exact");
    bench_run runs[] = {{"one fill of the kernel's matrix", fill_kernel, base, 0, 0},
                        {"dpotrf", factorise, base, 0, 0},
                        {"whole fit, exact path", run_fit, &exact, 0, 0},
                        {"whole fit, path found by itself", run_fit, &automatic, 0, 0}};
    printf("\n(b) %zu-D, n = %zu, gauss, exact, %d thread%s\n", base->d, base->n, threads, threads > 1 ? "s" : "");
    bench_in_turn(4, runs, 3);
    double floor = runs[0].best + runs[1].best, floor_cpu = runs[0].best_cpu + runs[1].best_cpu;
    for (size_t i = 0; i < 4; i++) bench_line(&runs[i], i < 2 ? 0 : floor);
    print_parts(&automatic);
    bench_goal("exact path over the floor", runs[2].best / floor, false, 1.5);
    bench_goal("path found by itself over the floor", runs[3].best / floor, false, 1.5);
    if (threads == 1) bench_goal("the same in processor seconds", runs[3].best_cpu / floor_cpu, false, 1.5);
    sock_options_free(automatic.opts);
    sock_options_free(exact.opts);
}

static void exact_path(sock_context *ctx)
{
    sock_data *data = make_data(ctx, "lorenz96", 7000);
    int most = sock_threads(ctx);
    floor_job base = make_floor(ctx, data);
    exact_against_floor(ctx, data, &base, 1);
    if (most > 1) exact_against_floor(ctx, data, &base, most);
    bench_need(ctx, sock_set_threads(ctx, most));
    sk_free((void *)(uintptr_t)base.x);
    sk_free(base.space);
    sk_free(base.matrix);
    sk_kernel_free(base.kernel);
    sock_data_free(data);
}

/* ---- (d) ---- */

typedef struct growth {
    const char *title, *system, *drift, *path;
    size_t first, last; /* n doubles from one to the other */
} growth;

static void cost_as_n_doubles(sock_context *ctx, const growth *g)
{
    double before = 0; /* processor seconds: other work on the machine does not count */
    printf("\n(d) %s, %d threads\n  %10s %12s %12s %10s\n", g->title, sock_threads(ctx), "n", "seconds", "cpu",
           "exponent");
    for (size_t n = g->first; n <= g->last; n *= 2) {
        sock_data *data = make_data(ctx, g->system, n);
        fit f = make_fit(ctx, data, g->drift, g->path);
        bench_run run = {"", run_fit, &f, 0, 0};
        bench_in_turn(1, &run, 4);
        printf("  %10zu %12.5f %12.5f ", n, run.best, run.best_cpu);
        if (before > 0)
            printf("%10.2f\n", log2(run.best_cpu / before));
        else
            printf("%10s\n", "");
        before = run.best_cpu;
        sock_options_free(f.opts);
        sock_data_free(data);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const growth growths[] = {
        {"exact, gauss, 10-D", "lorenz96", "gauss", "exact", 1000, 4000},
        {"pivoted, gauss, 1-D", "gbm", "gauss", "pivoted", 12500, 200000},
        {"explicit, 100 Fourier features, 1-D", "gbm", "fourier:p=100", "auto", 12500, 200000},
    };
    sock_context *ctx = sock_context_new();
    if (!ctx) return 1;
    const char *parts = argc > 1 ? argv[1] : "abd";
    bench_begin("drift", sock_threads(ctx));
    if (strchr(parts, 'a')) fast_path(ctx);
    if (strchr(parts, 'b')) exact_path(ctx);
    for (size_t i = 0; strchr(parts, 'd') && i < sizeof growths / sizeof growths[0]; i++)
        cost_as_n_doubles(ctx, &growths[i]);
    sock_context_free(ctx);
    return 0;
}
