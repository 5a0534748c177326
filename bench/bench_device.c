/* bench_device.c - a card against all processors of its host, operation by operation as the library asks for them: what
 * travels, the certificate of the host and all else included.   usage: bench_device [SHARE [PARTS]]
 *
 * PARTS are letters: l levels, s sums, e exact drift, p paths; all of them by default. SHARE (1) scales the sizes, and
 * below 1 features are 20 in place of 100: 0.01 is quick. The goals are those for one H200 beside 16 processors.
 * Without a plugin or a card it says so and measures nothing. A slow BLAS kernel makes every ratio too good: `sock
 * version --json` names it. */
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
static char wide[64]; /* the kernel of a */
static sk_rule *rule;
static double *z;

/* Lorenz 96 in ten states, dx_k = ((x_k+1 - x_k-2) x_k-1 - x_k + 8) dt + 0.3 x_k dW_k: paths of a hundred steps, of ten
 * Euler steps each. */
enum { D = 10, STEPS = 100, INNER = 10 };
#define H 0.01

static void lorenz(const double *x, double *f)
{
    for (size_t k = 0; k < D; k++) f[k] = (x[(k + 1) % D] - x[(k + 8) % D]) * x[(k + 9) % D] - x[k] + 8;
}

/* To the end of a step. */
static void walk(size_t number, double *x)
{
    double f[D], w[D];
    for (size_t i = 0; i < INNER; i++) {
        sk_normals((sk_key){3250, SK_PURPOSE_TEST}, number, i, 0, D, w);
        lorenz(x, f);
        for (size_t k = 0; k < D; k++) x[k] += f[k] * H / INNER + 0.3 * x[k] * sqrt(H / INNER) * w[k];
    }
}

/* What a step leaves of the truth, squared, is the target of a. */
static void make_targets(size_t i, const double *ends)
{
    double f[2][D], e[D];
    for (size_t j = 0; j < 2; j++) lorenz(ends + j * D, f[j]);
    for (size_t k = 0; k < D; k++) {
        rule->dy[i * D + k] = ends[D + k] - ends[k];
        e[k] = rule->dy[i * D + k] - H / 2 * (f[0][k] + f[1][k]);
    }
    for (size_t k = 0; k < D * D; k++) z[i * D * D + k] = e[k / D] * e[k % D];
}

/* Rows of a trapezoid over n steps; the kernel is four times as long as the states are spread. */
static void make_rows(size_t n, size_t features)
{
    sock_context *ctx = sides[CPU].ctx;
    double *x = bench_have(ctx, sk_doubles(ctx, 2 * n, D)), *w = bench_have(ctx, sk_doubles(ctx, 2, n)), at[D];
    double *h = bench_have(ctx, sk_doubles(ctx, n, 1)), sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % STEPS == 0) sk_uniforms((sk_key){3251, SK_PURPOSE_TEST}, i, 0, 0, D, at);
        memcpy(x + 2 * i * D, at, sizeof at);
        walk(i, at);
        memcpy(x + (2 * i + 1) * D, at, sizeof at);
        h[i] = H;
        w[2 * i] = w[2 * i + 1] = H / 2;
        for (size_t k = 0; k < D; k++) sum += at[k], square += at[k] * at[k];
    }
    const double count = (double)(n * D), spread = sqrt(square / count - sum / count * sum / count);
    snprintf(wide, sizeof wide, "fourier:p=%zu,eta=%.6g", features, 4 * spread);
    sk_rule_free(rule);
    bench_need(ctx, sk_rule_nodes(ctx, n, 2, D, x, w, h, &rule));
    sk_free(rule->dy);
    rule->dy = bench_have(ctx, sk_doubles(ctx, n, D));
    rule->out = D;
    sk_free(z);
    z = bench_have(ctx, sk_doubles(ctx, n, D * D));
    for (size_t i = 0; i < n; i++) make_targets(i, x + 2 * i * D);
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

static void sums_to(sock_context *ctx, bool gram)
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
    bench_need(ctx, sk_diffusion_sums_fetch(ctx, s, gram));
    sk_diffusion_sums_free(s);
    sk_features_free(map);
    sk_kernel_free(kernel);
}

static void sums(sock_context *ctx) { sums_to(ctx, true); }
static void sums_there(sock_context *ctx) { sums_to(ctx, false); }

static sk_diffusion_report solved;

static void levels(sock_context *ctx)
{
    sk_kernel *kernel = kernel_of(wide);
    const sk_diffusion_spec spec = {.kernel = kernel};
    sk_diffusion_system *system = NULL;
    sk_diffusion_term *term = NULL;
    bench_need(ctx, sk_diffusion_system_new(ctx, rule, z, &spec, &system));
    const double lambda = 1e-3 * sk_diffusion_unit(system);
    bench_need(ctx, sk_diffusion_solve(ctx, system, 1, &lambda, &term, &solved, NULL));
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
    fflush(stdout);
    if (is_goal) bench_goal(name, sides[CPU].seconds / sides[CARD].seconds, true, goal);
}

/* On the card alone, the best of three. */
static double seconds_of(void (*work)(sock_context *ctx))
{
    double best = INFINITY;
    for (int round = 0; round < 3; round++) {
        const double start = sk_seconds();
        work(sides[CARD].ctx);
        best = fmin(best, sk_seconds() - start);
    }
    return best;
}

static void measure_levels(double share, size_t features, bool full)
{
    make_rows((size_t)(7000 * fmin(share, 1)), features);
    compare("levels, Lorenz 96, order 1000, with sums", levels, 10, full);
    const sk_psd_effort *e = &solved.effort;
    printf("    of the last on the card: features and sums %.4f s, %zu steps %.4f s, certificate %.4f s, relative gap "
           "%.1e\n",
           solved.seconds_features, solved.iterations, e->linear, e->certificate, solved.gap / solved.primal);
    printf("    of its steps: %zu eigendecompositions %.4f s, %zu conjugate gradients %.4f s, inverses %.4f s\n",
           e->eigendecompositions, e->eigen, e->cg_steps, e->products, e->prepare);
    const double stay = seconds_of(sums_there), fetched = seconds_of(sums);
    printf("    sums of these rows alone: %.4f s where G stays there, %.4f s where it is fetched\n", stay, fetched);
    if (full) bench_goal("seconds of all of it", sides[CARD].seconds, false, 0.1);
    if (full) bench_goal("seconds of its steps", solved.effort.linear, false, 0.1);
}

static void measure_sums(double share, size_t features, bool full)
{
    make_rows((size_t)(70000 * share), features);
    compare("sums of 5050 columns, 70 000 rows", sums, 50, false);
    make_rows((size_t)(700000 * share), features);
    compare("sums of 5050 columns, 700 000 rows", sums, 50, full);
}

static void measure_exact(double share, size_t features, bool full)
{
    make_rows((size_t)(20000 * sqrt(share)), features);
    compare("exact drift, 20 000 rows", exact, 50, full);
}

static void measure_paths(double share, bool full)
{
    make_model();
    paths = (size_t)(1e6 * share);
    compare("simulation of 1e9 steps, 100 features", simulate, 30, full);
}

int main(int count, char **arguments)
{
    const char *parts = count > 2 ? arguments[2] : "lsep";
    const double share = count > 1 ? atof(arguments[1]) : 1;
    const bool full = share >= 1;
    for (int i = 0; i < SIDES; i++) sides[i].ctx = sock_context_new();
    if (!sides[CPU].ctx || !sides[CARD].ctx) return 1;
    bench_begin("bench_device", sock_threads(sides[CPU].ctx));
    if (sock_set_device(sides[CARD].ctx, "cuda") < 0) {
        printf("  no card: skipped (%s)\n", sock_message(sides[CARD].ctx));
        return 0;
    }
    printf("  %d processors, kernels %s; the goals are for 16 and an H200\n", sock_threads(sides[CPU].ctx),
           sock_blas_core());
    const size_t features = full ? 100 : 20;
    if (strchr(parts, 'l')) measure_levels(share, features, full);
    if (strchr(parts, 's')) measure_sums(share, features, full);
    if (strchr(parts, 'e')) measure_exact(share, features, full);
    if (strchr(parts, 'p')) measure_paths(share, full);
    sk_device_forget(sides[CPU].ctx);
    printf("  %s\n", sk_device_told(sides[CARD].ctx));
    sock_model_free(model);
    sk_rule_free(rule);
    sk_free(z);
    for (int i = 0; i < SIDES; i++) sock_context_free(sides[i].ctx);
    return 0;
}
