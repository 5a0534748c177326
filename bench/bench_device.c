/* bench_device.c - a card against all processors of its host, operation by operation as the library asks for them: what
 * travels, the certificate of the host and all else included.   usage: bench_device [SHARE]
 *
 * SHARE (1) scales the sizes, and below 1 features are 20 in place of 100: 0.1 is quick. The goals are those for one
 * H200 beside 16 processors. Without a plugin or a card it says so and measures nothing. A slow BLAS kernel makes every
 * ratio too good: `sock version --json` names it. */
#include "bench.h"

#include "base/plugins.h"
#include "diffusion/diffusion.h"
#include "diffusion/diffusionsums.h"
#include "drift/drift.h"

#include <math.h>
#include <string.h>

typedef struct side {
    sock_context *ctx;
    double seconds;
} side;

enum { CPU, CARD, SIDES };
static side sides[SIDES];
static const char *wide = "fourier:p=100,eta=3";
static sk_rule *rule;
static double *z;

/* Rows of a trapezoid over steps of many short walks. */
static void make_rows(size_t n, size_t d)
{
    sock_context *ctx = sides[CPU].ctx;
    double *x = bench_have(ctx, sk_doubles(ctx, 2 * n, d)), *w = bench_have(ctx, sk_doubles(ctx, 2, n));
    double *h = bench_have(ctx, sk_doubles(ctx, n, 1));
    sk_normals((sk_key){3250, SK_PURPOSE_TEST}, 0, 0, 0, 2 * n * d, x);
    for (size_t i = 0; i < n; i++) {
        h[i] = 0.01;
        w[2 * i] = w[2 * i + 1] = 0.005;
        for (size_t k = 0; k < d; k++) x[(2 * i + 1) * d + k] = x[2 * i * d + k] + 0.03 * x[(2 * i + 1) * d + k];
    }
    sk_rule_free(rule);
    bench_need(ctx, sk_rule_nodes(ctx, n, 2, d, x, w, h, &rule));
    sk_free(rule->dy);
    rule->dy = bench_have(ctx, sk_doubles(ctx, n, d));
    rule->out = d;
    sk_free(z);
    z = bench_have(ctx, sk_doubles(ctx, n, d * d));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) rule->dy[i * d + k] = x[(2 * i + 1) * d + k] - x[2 * i * d + k];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d * d; k++) z[i * d * d + k] = 100 * rule->dy[i * d + k / d] * rule->dy[i * d + k % d];
    sk_free(x), sk_free(w), sk_free(h);
}

static sk_kernel *kernel_of(const char *text)
{
    sk_kernel *kernel = NULL;
    bench_need(sides[CPU].ctx, sk_kernel_parse(sides[CPU].ctx, "bench", text, &kernel));
    return kernel;
}

/* ---- What is measured ---- */

static void exact(sock_context *ctx)
{
    sk_kernel *kernel = kernel_of("gauss:eta=3");
    const sk_drift_spec spec = {.kernel = kernel, .path = SK_PATH_EXACT, .lambda = 1e-8};
    sk_drift_system *system = NULL;
    double *alpha = bench_have(ctx, sk_doubles(ctx, rule->n, rule->out));
    bench_need(ctx, sk_drift_system_new(ctx, rule, &spec, &system));
    bench_need(ctx, sk_drift_alpha(ctx, system, spec.lambda, alpha));
    sk_drift_system_free(system);
    sk_free(alpha);
    sk_kernel_free(kernel);
}

static void sums(sock_context *ctx)
{
    sk_kernel *kernel = kernel_of(wide);
    const sk_view like = {.d = rule->in};
    sk_features *map = NULL;
    sk_diffusion_sums *s = NULL;
    bench_need(ctx, sk_features_new(ctx, "bench", kernel, rule->in, rule->nodes, rule->x, &map));
    bench_need(ctx, sk_diffusion_sums_new(ctx, map, &like, false, 0, &s));
    bench_need(ctx, sk_diffusion_sums_offload(ctx, s, rule->n));
    for (size_t begin = 0; begin < rule->n; begin += 8192) {
        const sk_given_rows rows = {.rule = rule, .begin = begin, .end = SK_MIN(begin + 8192, rule->n), .z = z};
        bench_need(ctx, sk_diffusion_sums_add_given(ctx, s, &rows));
    }
    bench_need(ctx, sk_diffusion_sums_fetch(ctx, s));
    sk_diffusion_sums_free(s);
    sk_features_free(map);
    sk_kernel_free(kernel);
}

static void levels(sock_context *ctx)
{
    sk_kernel *kernel = kernel_of(wide);
    const sk_diffusion_spec spec = {.kernel = kernel};
    sk_diffusion_system *system = NULL;
    sk_diffusion_term *term = NULL;
    sk_diffusion_report report;
    bench_need(ctx, sk_diffusion_system_new(ctx, rule, z, &spec, &system));
    const double lambda = 1e-3 * sk_diffusion_unit(system);
    bench_need(ctx, sk_diffusion_solve(ctx, system, 1, &lambda, &term, &report, NULL));
    sk_diffusion_term_free(term);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
}

static sock_model *model;
static size_t paths;

static void simulate(sock_context *ctx)
{
    enum { TIMES = 11 };
    double t[TIMES], x0 = 0.5, *out = bench_have(ctx, sk_doubles(ctx, paths, TIMES));
    for (size_t i = 0; i < TIMES; i++) t[i] = 0.1 * (double)i;
    const sock_simulation spec = {
        .starts = 1, .x0 = &x0, .paths = paths, .times = TIMES, .t = t, .seed = 3251, .step = 0.001};
    bench_need(ctx, sock_simulate(ctx, model, &spec, out, NULL, NULL));
    sk_free(out);
}

/* A walk in a double well, by features. */
static void make_model(void)
{
    enum { POINTS = 2000 };
    sock_context *ctx = sides[CPU].ctx;
    static double x[POINTS], t[POINTS], noise[POINTS];
    const size_t length = POINTS;
    sock_data *data = NULL;
    sock_options *opts = bench_have(ctx, sock_options_new(ctx));
    static const char *const set[][2] = {
        {"tune", "no"}, {"bands", "no"}, {"drift", "fourier:p=100,eta=1"}, {"diffusion", "fourier:p=100,eta=1"}};
    sk_normals((sk_key){3252, SK_PURPOSE_TEST}, 0, 0, 0, POINTS, noise);
    for (size_t i = 1; i < POINTS; i++) {
        t[i] = 0.05 * (double)i;
        x[i] = x[i - 1] + 0.05 * (x[i - 1] - x[i - 1] * x[i - 1] * x[i - 1]) + 0.5 * sqrt(0.05) * noise[i];
    }
    for (size_t i = 0; i < 4; i++) bench_need(ctx, sock_options_set(ctx, opts, set[i][0], set[i][1]));
    bench_need(ctx, sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data));
    bench_need(ctx, sock_fit(ctx, data, opts, &model));
    sock_data_free(data);
    sock_options_free(opts);
}

static void compare(const char *name, void (*work)(sock_context *ctx), double goal, bool is_goal)
{
    for (int i = 0; i < SIDES; i++) {
        sides[i].seconds = INFINITY;
        for (int round = 0; round < (i == CARD ? 3 : 1); round++) { /* the first call of a library on a card is slow */
            const double start = sk_seconds();
            work(sides[i].ctx);
            sides[i].seconds = fmin(sides[i].seconds, sk_seconds() - start);
        }
    }
    printf("  %-40s processors %8.3f s, card %8.4f s, ratio %.1f\n", name, sides[CPU].seconds, sides[CARD].seconds,
           sides[CPU].seconds / sides[CARD].seconds);
    if (is_goal) bench_goal(name, sides[CPU].seconds / sides[CARD].seconds, true, goal);
}

int main(int count, char **arguments)
{
    const double share = count > 1 ? atof(arguments[1]) : 1;
    const bool full = share >= 1;
    if (!full) wide = "fourier:p=20,eta=3";
    for (int i = 0; i < SIDES; i++) sides[i].ctx = sock_context_new();
    if (!sides[CPU].ctx || !sides[CARD].ctx) return 1;
    bench_begin("bench_device", sock_threads(sides[CPU].ctx));
    if (sock_set_device(sides[CARD].ctx, "cuda") < 0) {
        printf("  no card: skipped (%s)\n", sock_message(sides[CARD].ctx));
        return 0;
    }
    printf("  %d processors, kernels %s; the goals are for 16 and an H200\n", sock_threads(sides[CPU].ctx),
           sock_blas_core());
    make_rows((size_t)(7000 * fmin(share, 1)), 10);
    compare("levels, order 1000, l = 1e-3, with sums", levels, 10, full);
    make_rows((size_t)(70000 * share), 10);
    compare("sums of 5050 columns", sums, 50, full);
    make_rows((size_t)(20000 * sqrt(share)), 10);
    compare("exact drift, 20 000 rows", exact, 50, full);
    make_model();
    paths = (size_t)(1e5 * share);
    compare("simulation of 1e8 steps, 100 features", simulate, 30, full);
    sk_device_forget(sides[CPU].ctx);
    printf("  %s\n", sk_device_told(sides[CARD].ctx));
    sock_model_free(model);
    sk_rule_free(rule);
    sk_free(z);
    for (int i = 0; i < SIDES; i++) sock_context_free(sides[i].ctx);
    return 0;
}
