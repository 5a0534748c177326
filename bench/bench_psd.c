/* bench_psd.c - seconds to a relative duality gap of 1e-6: Newton's method on the reduced problem against FISTA on the
 * dual as in the literature, on synthetic problems shaped like those of the experiments.
 *
 *     bench_psd [case ...] [--threads K] [--cap SECONDS] [--lambda L] [--tolerance T] [--no-fista]
 *
 * Cases: exponential gbm dense lorenz lorenz-diagonal (all by default), each at the lambda of its goal, in units of
 * h^2 mean(k)^2; lorenz-diagonal also at lambdas around it. Seconds include the features and all preparation; the
 * processor seconds are of all threads together. FISTA runs in the same process for at most the cap (60 s; 20 s for
 * lorenz-diagonal). Where it does not arrive, the ratio is a lower bound, and the one extrapolated from the decay of
 * its gap, gap ~ iterations^-a between a quarter of the cap and the cap, is printed beside it. The floor is one
 * eigendecomposition and the two operator products of a single gradient in the problem as given. */
#include "bench.h"

#include "psd/psd.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 100, SUBSTEPS = 10, MOST_D = 10, MOST_LAMBDAS = 3 };

typedef struct system {
    const char *name;
    size_t d, paths, steps;
    double h, box, c; /* c: length scale in data standard deviations */
    bool diagonal;
    double l[MOST_LAMBDAS]; /* the first is that of the goal */
    double ratio, seconds;  /* goals: FISTA's time over ours at least; ours at most. 0: none */
    double cap;             /* of FISTA */
} system_case;

static const system_case cases[] = {
    {"exponential", 1, 42, 10, 0.1, 1, 1, false, {1e-4}, 300, 0, 60},
    {"gbm", 1, 70, 100, 0.01, 1, 1, false, {1e-7}, 300, 0, 60},
    {"dense", 2, 70, 10, 0.1, 1, 2, false, {1e-3}, 50, 0, 60},
    {"lorenz", 10, 70, 100, 0.01, 0.5, 4, false, {1e-3}, 20, 3, 60},
    {"lorenz-diagonal", 10, 70, 100, 0.01, 0.5, 4, true, {1e-3, 1e-1, 1e-5}, 0, 1, 20},
};
enum { CASES = sizeof cases / sizeof *cases };

static void drift(const system_case *s, const double *x, double *f)
{
    for (size_t k = 0; k < s->d; k++) {
        if (s->d == 10)
            f[k] = (x[(k + 1) % 10] - x[(k + 8) % 10]) * x[(k + 9) % 10] - x[k] + 8;
        else
            f[k] = strcmp(s->name, "exponential") == 0 ? exp(-x[k] * x[k]) : x[k];
    }
}

/* The noise of a step of unit variance w (d numbers). */
static void noise(const system_case *s, const double *x, const double *w, double *out)
{
    if (s->d == 2) {
        double mixed = 0.6 * w[0] + 0.8 * w[1];
        out[0] = 0.3 * (x[0] + 0.5 * x[1]) * mixed;
        out[1] = 0.3 * (-0.5 * x[0] + x[1]) * mixed;
        return;
    }
    for (size_t k = 0; k < s->d; k++)
        out[k] = 0.3 * (strcmp(s->name, "exponential") == 0 ? exp(-x[k] * x[k]) : x[k]) * w[k];
}

/* points: paths x (steps + 1) x d. */
static void simulate(const system_case *s, double *points)
{
    sk_key key = {7, SK_PURPOSE_TEST};
    double tau = s->h / SUBSTEPS, w[MOST_D], f[MOST_D], g[MOST_D], x[MOST_D];
    for (size_t path = 0; path < s->paths; path++) {
        sk_uniforms(key, path, 0, 0, s->d, x);
        for (size_t k = 0; k < s->d; k++) x[k] = s->box * (2 * x[k] - 1);
        for (size_t i = 0; i <= s->steps; i++) {
            memcpy(points + (path * (s->steps + 1) + i) * s->d, x, s->d * sizeof *x);
            for (size_t sub = 0; sub < SUBSTEPS; sub++) {
                sk_normals(key, path, 1 + i * SUBSTEPS + sub, 0, s->d, w);
                drift(s, x, f);
                noise(s, x, w, g);
                for (size_t k = 0; k < s->d; k++) x[k] += tau * f[k] + sqrt(tau) * g[k];
            }
        }
    }
}

typedef struct instance {
    size_t n, nodes, d, parts; /* parts: 1, or those of a diagonal, with d = 1 each */
    double *points, *phi, *weight, *z, lambda_unit;
    double features, features_cpu; /* seconds */
    size_t *row, *node;
} instance;

static void fourier(const system_case *s, instance *in)
{
    double sum = 0, square = 0, count = (double)(in->nodes * s->d);
    for (size_t i = 0; i < in->nodes * s->d; i++) sum += in->points[i], square += in->points[i] * in->points[i];
    double eta = s->c * sqrt(square / count - sum * sum / count / count);
    sk_key key = {11, SK_PURPOSE_TEST};
    double w[FEATURES * MOST_D], u[FEATURES], mean_k = 0;
    sk_normals(key, 0, 0, 0, FEATURES * s->d, w);
    sk_uniforms(key, 1, 0, 0, FEATURES, u);
    for (size_t a = 0; a < in->nodes; a++)
        for (size_t j = 0; j < FEATURES; j++) {
            double phase = 2 * 3.14159265358979323846 * u[j];
            for (size_t k = 0; k < s->d; k++) phase += w[j * s->d + k] / eta * in->points[a * s->d + k];
            double value = sqrt(2.0 / FEATURES) * cos(phase);
            in->phi[a * FEATURES + j] = value;
            mean_k += value * value / (double)in->nodes;
        }
    in->lambda_unit = s->h * s->h * mean_k * mean_k;
}

/* z: n x d x d, or d x n for a diagonal. */
static void rows(const system_case *s, instance *in)
{
    size_t i = 0;
    double f0[MOST_D], f1[MOST_D], e[MOST_D];
    for (size_t path = 0; path < s->paths; path++)
        for (size_t step = 0; step < s->steps; step++, i++) {
            size_t a = path * (s->steps + 1) + step;
            const double *x0 = in->points + a * s->d, *x1 = x0 + s->d;
            in->row[i + 1] = 2 * (i + 1);
            in->node[2 * i] = a;
            in->node[2 * i + 1] = a + 1;
            in->weight[2 * i] = in->weight[2 * i + 1] = s->h / 2;
            drift(s, x0, f0);
            drift(s, x1, f1);
            for (size_t k = 0; k < s->d; k++) e[k] = x1[k] - x0[k] - s->h / 2 * (f0[k] + f1[k]);
            for (size_t k = 0; k < s->d; k++)
                for (size_t l = 0; l < s->d && !s->diagonal; l++) in->z[(i * s->d + k) * s->d + l] = e[k] * e[l];
            for (size_t k = 0; k < s->d && s->diagonal; k++) in->z[k * in->n + i] = e[k] * e[k];
        }
}

static void instance_free(instance *in)
{
    sk_free(in->points);
    sk_free(in->phi);
    sk_free(in->weight);
    sk_free(in->z);
    sk_free(in->row);
    sk_free(in->node);
}

static sock_status instance_new(sock_context *ctx, const system_case *s, instance *in)
{
    *in = (instance){.n = s->paths * s->steps,
                     .nodes = s->paths * (s->steps + 1),
                     .d = s->diagonal ? 1 : s->d,
                     .parts = s->diagonal ? s->d : 1};
    in->points = sk_doubles(ctx, in->nodes, s->d);
    in->phi = sk_doubles(ctx, in->nodes, FEATURES);
    in->weight = sk_doubles(ctx, 2 * in->n, 1);
    in->z = sk_doubles(ctx, in->n, s->d * s->d);
    in->row = sk_alloc(ctx, in->n + 1, sizeof *in->row);
    in->node = sk_alloc(ctx, 2 * in->n, sizeof *in->node);
    if (!in->points || !in->phi || !in->weight || !in->z || !in->row || !in->node) return SOCK_ENOMEM;
    simulate(s, in->points);
    for (int run = 0; run < 3; run++) {
        double start = sk_seconds(), cpu = bench_cpu_seconds();
        fourier(s, in);
        in->features = run ? fmin(in->features, sk_seconds() - start) : sk_seconds() - start;
        in->features_cpu = run ? fmin(in->features_cpu, bench_cpu_seconds() - cpu) : bench_cpu_seconds() - cpu;
    }
    rows(s, in);
    return SOCK_OK;
}

/* Sums over the parts; gap: the largest relative one. */
typedef struct timing {
    double seconds, cpu, gap, prepare;
    size_t rank, iterations, rows;
    sk_psd_effort effort;
} timing;

static void add_part(const sk_psd_result *result, timing *out)
{
    out->gap = fmax(out->gap, result->gap / result->primal);
    out->prepare += result->effort.prepare;
    out->rank += result->rank;
    out->iterations += result->iterations;
    out->rows = result->rows;
    out->effort.eigen += result->effort.eigen;
    out->effort.products += result->effort.products;
    out->effort.linear += result->effort.linear;
    out->effort.certificate += result->effort.certificate;
    out->effort.cg_steps += result->effort.cg_steps;
    out->effort.eigendecompositions += result->effort.eigendecompositions;
}

static sock_status measure(sock_context *ctx, const instance *in, double lambda, const sk_psd_options *options,
                           timing *out)
{
    sk_psd_problem problem = {in->n, in->nodes, FEATURES, in->phi, FEATURES, in->row, in->node, in->weight, NULL};
    sk_psd_targets targets = {in->parts, in->d, in->z};
    sk_psd_prepared *prepared = NULL;
    sk_psd_result *result[MOST_D] = {NULL};
    *out = (timing){0};
    double start = sk_seconds(), cpu = bench_cpu_seconds();
    sock_status status = sk_psd_prepare(ctx, &problem, options, &prepared);
    out->prepare = sk_seconds() - start + in->features;
    if (status >= 0) status = sk_psd_paths(ctx, prepared, &targets, options, 1, &lambda, result);
    out->seconds = sk_seconds() - start + in->features;
    out->cpu = bench_cpu_seconds() - cpu + in->features_cpu;
    for (size_t k = 0; k < in->parts; k++) {
        if (result[k]) add_part(result[k], out);
        sk_psd_result_free(result[k]);
    }
    sk_psd_prepared_free(prepared);
    return status;
}

/* Small times are the best of several runs: the machine is shared. */
static sock_status best_of(sock_context *ctx, const instance *in, double lambda, const sk_psd_options *options,
                           timing *out)
{
    SK_TRY(measure(ctx, in, lambda, options, out));
    for (int run = 0; run < 4 && out->seconds < 5; run++) {
        timing again;
        SK_TRY(measure(ctx, in, lambda, options, &again));
        double cpu = fmin(again.cpu, out->cpu);
        if (again.seconds < out->seconds) *out = again;
        out->cpu = cpu;
    }
    return SOCK_OK;
}

static void print_timing(const char *solver, const timing *t)
{
    printf("  %-8s %9.4f s  %9.4f s cpu  gap %.1e  iterations %zu  cg %zu  eig %zu  rows %zu  rank %zu\n", solver,
           t->seconds, t->cpu, t->gap, t->iterations, t->effort.cg_steps, t->effort.eigendecompositions, t->rows,
           t->rank);
    printf("           prepare %.4f  eigen %.4f  products %.4f  linear %.4f  certificate %.4f\n", t->prepare,
           t->effort.eigen, t->effort.products, t->effort.linear, t->effort.certificate);
    fflush(stdout);
}

typedef struct settings {
    double cap, l, tolerance;
    bool fista;
} settings;

/* Seconds FISTA would need, from two runs that were cut off; infinite while its gap falls too slowly to say:
 * it falls faster later, and what is read off too early would be unfair to it. */
static double extrapolated(const timing *early, const timing *late, double tolerance)
{
    double decay = log(early->gap / late->gap) / log((double)late->iterations / (double)early->iterations);
    return decay > 1 && late->gap < 1e-2 ? late->seconds * pow(late->gap / tolerance, 1 / decay) : HUGE_VAL;
}

/* FISTA at this lambda; *out: its seconds, at least. */
static sock_status against_fista(sock_context *ctx, const instance *in, double lambda, double cap, double tolerance,
                                 const timing *newton, double *out)
{
    double share = cap / (double)in->parts;
    sk_psd_options plain = {.solver = "fista", .tolerance = tolerance, .no_compression = true, .seconds = share};
    timing fista, early = {0};
    SK_TRY(best_of(ctx, in, lambda, &plain, &fista));
    print_timing("fista", &fista);
    bool reached = fista.gap <= tolerance;
    if (!reached) {
        plain.seconds = share / 4;
        SK_TRY(measure(ctx, in, lambda, &plain, &early));
    }
    printf("  ratio %s%.0f", reached ? "" : "at least ", fista.seconds / newton->seconds);
    if (!reached) {
        double all = extrapolated(&early, &fista, tolerance);
        if (all < HUGE_VAL)
            printf(" (extrapolated: FISTA %.0f s, ratio %.0f)", all, all / newton->seconds);
        else
            printf(" (its gap falls too slowly yet to extrapolate)");
    }
    printf("   floor (one gradient) %.4f s\n", fista.seconds / (double)SK_MAX(fista.iterations, 1));
    *out = fista.seconds;
    return SOCK_OK;
}

static sock_status run_lambda(sock_context *ctx, const system_case *s, const instance *in, const settings *set,
                              size_t which)
{
    double l = set->l > 0 ? set->l : s->l[which], lambda = l * in->lambda_unit, cap = set->cap > 0 ? set->cap : s->cap;
    timing newton;
    double fista = 0;
    bool goal = which == 0 && !(set->l > 0);
    sk_psd_options fast = {.tolerance = set->tolerance, .lambda_min = lambda, .seconds = 10 * cap};
    printf("%s: n = %zu, p = %d, d = %zu, l = %g\n", s->name, in->n, FEATURES, s->d, l);
    SK_TRY(best_of(ctx, in, lambda, &fast, &newton));
    print_timing("newton", &newton);
    if (set->fista) SK_TRY(against_fista(ctx, in, lambda, cap, set->tolerance, &newton, &fista));
    if (goal && s->seconds > 0) bench_goal("seconds", newton.seconds, false, s->seconds);
    if (goal && s->ratio > 0 && set->fista)
        bench_goal("times faster than FISTA", fista / newton.seconds, true, s->ratio);
    fflush(stdout);
    return SOCK_OK;
}

static sock_status run_case(sock_context *ctx, const system_case *s, const settings *set)
{
    instance in;
    sock_status status = instance_new(ctx, s, &in);
    size_t count = 1;
    while (!(set->l > 0) && count < MOST_LAMBDAS && s->l[count] > 0) count++;
    for (size_t i = 0; status >= 0 && i < count; i++) status = run_lambda(ctx, s, &in, set, i);
    instance_free(&in);
    return status;
}

int main(int argc, char **argv)
{
    settings set = {.tolerance = 1e-6, .fista = true};
    bool wanted[CASES] = {false}, any = false;
    sock_context *ctx = sock_context_new();
    if (!ctx) return 1;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--threads") == 0 && more)
            sock_set_threads(ctx, atoi(argv[++i]));
        else if (strcmp(argv[i], "--cap") == 0 && more)
            set.cap = atof(argv[++i]);
        else if (strcmp(argv[i], "--lambda") == 0 && more)
            set.l = atof(argv[++i]);
        else if (strcmp(argv[i], "--tolerance") == 0 && more)
            set.tolerance = atof(argv[++i]);
        else if (strcmp(argv[i], "--no-fista") == 0)
            set.fista = false;
        else
            for (int c = 0; c < CASES; c++)
                if (strcmp(argv[i], cases[c].name) == 0) wanted[c] = any = true;
    }
    bench_begin("psd", sock_threads(ctx));
    for (int c = 0; c < CASES; c++)
        if (wanted[c] || !any) bench_need(ctx, run_case(ctx, &cases[c], &set));
    sock_context_free(ctx);
    return 0;
}
