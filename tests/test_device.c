/* test_device.c - work on a device (base/device.h): the plugin of the tests does with the processor what one with a
 * card does. What it gives is what the library computes itself; what it cannot do, the library does; what must not be
 * loaded, is not. */
#define _GNU_SOURCE
#include "base/plugins.h"
#include "diffusion/diffusionsums.h"
#include "model/model.h"
#include "psd/psd.h"
#include "truths.h"

#include "onecontext.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; /* of this run */

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Lines that the plugin wrote; NULL: all of them. */
static int logged(const char *line)
{
    char text[160];
    int count = 0;
    FILE *file = fopen(path_of("log"), "r");
    while (file && fgets(text, sizeof text, file)) {
        text[strcspn(text, "\n")] = 0;
        count += !line || strcmp(text, line) == 0;
    }
    if (file) fclose(file);
    return count;
}

/* From now on contexts find that plugin, with that fault. */
static void use(const char *plugin, const char *fault)
{
    char place[400];
    snprintf(place, sizeof place, "%s/%s", PLUGINS, plugin);
    setenv("SOCK_PLUGINS", place, 1);
    setenv("SOCK_HOST_LOG", path_of("log"), 1);
    unlink(path_of("log"));
    if (fault)
        setenv("SOCK_HOST_FAULT", fault, 1);
    else
        unsetenv("SOCK_HOST_FAULT");
}

static int begin(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/sock-device-XXXXXX");
    return mkdtemp(folder) ? setup(state) : -1;
}

static int end(void **state)
{
    unlink(path_of("log"));
    rmdir(folder);
    return teardown(state);
}

static sock_context *context_with(const char *device)
{
    sock_context *own = sock_context_new();
    assert_non_null(own);
    sock_set_threads(own, 1);
    if (sock_set_device(own, device) < 0) fail_msg("%s", sock_message(own));
    return own;
}

/* ---- What may be asked for, and what is loaded ---- */

static void refused(const char *device, const char *said)
{
    sock_context *own = sock_context_new();
    assert_int_equal(sock_set_device(own, device), SOCK_EUSAGE);
    if (!strstr(sock_message(own), said)) fail_msg("'%s' lacks '%s'", sock_message(own), said);
    assert_null(sk_device_for(own, SK_EXACT, 1e9, 1));
    sock_context_free(own);
}

static void test_device__words(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",        "gpu",       "CUDA",   "cuda:",   "cuda:x",
                                        "cuda:-1", "cuda:1000", "cuda 0", "cuda:0,1"};
    use("host", NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refused(wrong[i], "allowed: cpu, auto, cuda, cuda:N");
    assert_int_equal(sock_set_device(NULL, "cpu"), SOCK_EUSAGE);
    assert_int_equal(sock_set_device(ctx, NULL), SOCK_EUSAGE);
    assert_int_equal(logged(NULL), 0);
    static const char *const right[] = {"cpu", "auto", "cuda", "cuda:0", "cuda:3", "cpu"};
    sock_context *own = context_with("cpu");
    assert_null(sk_device_told(own));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) assert_int_equal(sock_set_device(own, right[i]), SOCK_OK);
    assert_null(sk_device_told(own));
    sock_context_free(own);
    assert_int_equal(logged("open"), 4);
    assert_int_equal(logged("close"), 4); /* a device that is no longer wanted is given back */
}

static void test_device__no_card(void **state)
{
    (void)state;
    use("host", "none");
    refused("cuda", "there is no card 0");
    refused("cuda:2", "device is 'cuda:2', but libsock-cuda.so cannot be used: there is no card 2");
    sock_context *own = context_with("auto");
    assert_string_equal(sk_device_told(own), "cpu (there is no card 0)");
    assert_null(sk_device_for(own, SK_EXACT, 1e9, 1));
    sock_context_free(own);
    use("host", NULL);
    refused("cuda:7", "there is no card 7");
}

static void test_device__wrong_plugins(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"abi", "belongs to another version"},
                                           {"size", "belongs to another version"},
                                           {"symbol", "has no sock_device_open"},
                                           {"incomplete", "lacks operations that belong together"},
                                           {"nowhere", "No such file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        use(wrong[i][0], NULL);
        refused("cuda", wrong[i][1]);
        sock_context *own = context_with("auto");
        assert_non_null(strstr(sk_device_told(own), wrong[i][1]));
        sock_context_free(own);
    }
}

/* What is no library is not loaded, nor what anybody may write; nor is anything sought in the current folder. */
static void test_device__hostile_places(void **state)
{
    (void)state;
    char file[200], here[4096];
    snprintf(file, sizeof file, "%s/libsock-cuda.so", folder);
    setenv("SOCK_PLUGINS", folder, 1);
    refused("cuda", "No such file");
    assert_int_equal(mkdir(file, 0700), 0);
    refused("cuda", "is not a file");
    assert_int_equal(rmdir(file), 0);
    FILE *text = fopen(file, "w");
    fputs("\x7f"
          "ELF, or so it says",
          text);
    fclose(text);
    refused("cuda", "cannot be used");
    assert_int_equal(chmod(file, 0666), 0);
    refused("cuda", "may be written by anybody");
    assert_int_equal(truncate(file, 0), 0);
    assert_int_equal(chmod(file, 0600), 0);
    refused("cuda", "cannot be used");
    unlink(file);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(PLUGINS "/host"), 0);
    static const char *const places[] = {".", "plugins", "host/", "./"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        setenv("SOCK_PLUGINS", places[i], 1);
        refused("cuda", "does not begin with '/'");
    }
    setenv("LD_LIBRARY_PATH", ".", 1);
    unsetenv("SOCK_PLUGINS");
    sock_context *own =
        sock_context_new(); /* beside the program there may be the real one, for which there is no card */
    use("host", NULL);
    unsetenv("SOCK_PLUGINS");
    sock_set_device(own, "cuda");
    assert_int_equal(logged("open"), 0);
    sock_context_free(own);
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(chdir(here), 0);
}

/* ---- Fits ---- */

enum { D = 2, POINTS = 40 };

static sock_data *dense_data(size_t trajectories)
{
    truth dense = truth_of(ctx, "dense");
    sock_data *train = NULL;
    dense.instance->trajectories[SYS_TRAIN] = trajectories;
    assert_int_equal(sys_generate(ctx, dense.instance, SYS_TRAIN, &train), SOCK_OK);
    truth_free(dense);
    return train;
}

static sock_options *options_of(sock_context *own, const char *const *pairs)
{
    sock_options *opts = sock_options_new(own);
    for (; *pairs; pairs += 2)
        if (sock_options_set(own, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(own));
    return opts;
}

static sock_model *fit_with(sock_context *own, const sock_data *data, const char *const *pairs)
{
    sock_model *model = NULL;
    sock_options *opts = options_of(own, pairs);
    if (sock_fit(own, data, opts, &model) < 0) fail_msg("%s", sock_message(own));
    sock_options_free(opts);
    return model;
}

static void compare_models(const sock_data *data, const sock_model *one, const sock_model *other, double of_f,
                           double of_a)
{
    double *f = sk_doubles(ctx, 2 * POINTS, D), *a = sk_doubles(ctx, 2 * POINTS, D * D);
    for (int i = 0; i < 2; i++)
        assert_int_equal(sk_model_evaluate(ctx, i ? other : one, POINTS, data->x, f + i * POINTS * D,
                                           one->has_diffusion ? a + i * POINTS * D * D : NULL),
                         SOCK_OK);
    assert_all_close(POINTS * D, f + POINTS * D, f, of_f);
    if (one->has_diffusion) assert_all_close(POINTS * D * D, a + POINTS * D * D, a, of_a);
    sk_free(f), sk_free(a);
}

static bool told_in(const sock_model *model, const char *text)
{
    char *json = NULL;
    assert_int_equal(sock_model_info(ctx, model, &json), SOCK_OK);
    const bool told = strstr(json, text) != NULL;
    sock_string_free(json);
    return told;
}

/* Drift, problem and sums by the device; two lambdas would warm start. */
static const char *const plain[] = {"tune",
                                    "no",
                                    "drift",
                                    "gauss:eta=0.8",
                                    "drift-path",
                                    "exact",
                                    "drift-lambda",
                                    "1e-6",
                                    "diffusion",
                                    "fourier:p=12,eta=1,seed=3",
                                    "tolerance",
                                    "1e-9",
                                    "bands",
                                    "no",
                                    NULL};
static const char *const diagonal[] = {"tune",
                                       "no",
                                       "drift",
                                       "gauss:eta=0.8 + affine",
                                       "drift-path",
                                       "exact",
                                       "quadrature",
                                       "trapezoid",
                                       "diffusion",
                                       "gauss:eta=1",
                                       "diffusion-rank",
                                       "14",
                                       "diagonal",
                                       "yes",
                                       "tolerance",
                                       "1e-9",
                                       "bands",
                                       "no",
                                       NULL};

static void prop_plain_fits_are_those_of_the_processor(void **state)
{
    (void)state;
    const char *const *const cases[] = {plain, diagonal};
    sock_data *data = dense_data(8);
    for (size_t i = 0; i < 2; i++) {
        use("host", NULL);
        sock_context *cpu = context_with("cpu"), *card = context_with("cuda");
        sock_model *one = fit_with(cpu, data, cases[i]), *other = fit_with(card, data, cases[i]);
        compare_models(data, one, other, 1e-9, 1e-4);
        assert_true(logged("the exact drift") == 1 && logged("sums") == 1 && logged("levels") == (i ? D : 1));
        assert_true(told_in(other, "cuda:0 (processor of the tests): sums, levels, exact drift"));
        assert_false(told_in(one, "\"device\""));
        sock_model_free(one), sock_model_free(other);
        sock_context_free(cpu), sock_context_free(card);
        assert_int_equal(logged("close"), 1); /* and nothing is left there */
    }
    sock_data_free(data);
}

static void prop_both_certificates_hold(void **state)
{
    (void)state;
    static const char *const options[] = {"tune", "no", "diffusion", "fourier:p=10,eta=1,seed=5", "diffusion-lambda",
                                          "1e-5", NULL};
    sock_data *data = dense_data(6);
    use("host", NULL);
    sock_context *cpu = context_with("cpu"), *card = context_with("cuda:1");
    sock_model *drift = fit_with(cpu, data, plain);
    sock_certificate one, other;
    sock_options *opts = options_of(cpu, options);
    assert_int_equal(sock_diffusion_system(cpu, data, drift, opts, NULL, NULL, &one), SOCK_OK);
    assert_int_equal(sock_diffusion_system(card, data, drift, opts, NULL, NULL, &other), SOCK_OK);
    assert_int_equal(logged("levels"), 1);
    assert_true(one.converged && other.converged && other.gap >= 0 && other.gap <= 1e-6 * other.primal);
    assert_true(fabs(one.primal - other.primal) <= one.gap + other.gap);
    assert_close(other.norm_q, one.norm_q, 1e-2, 0);
    sock_options_free(opts);
    sock_model_free(drift);
    sock_context_free(cpu), sock_context_free(card);
    sock_data_free(data);
}

/* What the device cannot do is done here as without one, and the fit tells why. (The unit of lambda may be that of sums
 * where it would be that of rows: a differs by rounding, which the solver's tolerance lets show.) */
static void prop_what_fails_is_done_by_the_processor(void **state)
{
    (void)state;
    static const char *const faults[][2] = {{"memory", "GB of the card"}, {"fail", "the card fell off"}};
    sock_data *data = dense_data(6);
    for (size_t i = 0; i < 2; i++) {
        use("host", faults[i][0]);
        sock_context *cpu = context_with("cpu"), *card = context_with("cuda");
        sock_model *one = fit_with(cpu, data, plain), *other = fit_with(card, data, plain);
        compare_models(data, one, other, 0, 1e-8);
        assert_true(told_in(other, ": nothing; sums by the cpu") && told_in(other, faults[i][1]));
        sock_model_free(one), sock_model_free(other);
        sock_context_free(cpu), sock_context_free(card);
        assert_int_equal(logged("close"), 1);
    }
    sock_data_free(data);
}

/* Sums that were there alone are gone. */
static void test_device__lost_among_sums(void **state)
{
    (void)state;
    static const char *const options[] = {
        "tune", "no", "drift", "poly:degree=2", "diffusion", "fourier:p=10,eta=1,seed=5", NULL};
    sock_data *data = dense_data(6);
    use("host", "late1");
    sock_context *card = context_with("cuda");
    sock_options *opts = options_of(card, options);
    sock_model *model = NULL;
    assert_int_equal(sock_fit(card, data, opts, &model), SOCK_EIO);
    assert_null(model);
    assert_non_null(strstr(sock_message(card),
                           "the device cuda:0 was lost while rows were summed up (the card fell off); "
                           "device = cpu does without it"));
    sock_options_free(opts);
    sock_context_free(card);
    assert_int_equal(logged("close"), 1);
    use("host", "late"); /* later, in the convex problem: that is done here */
    card = context_with("cuda");
    model = fit_with(card, data, options);
    assert_true(told_in(model, ": sums; levels by the cpu: the card fell off"));
    sock_model_free(model);
    sock_context_free(card);
    sock_data_free(data);
}

static void prop_a_search_is_that_of_the_processor(void **state)
{
    (void)state;
    static const char *const options[] = {"drift", "poly:degree=2", "diffusion", "gauss",    "check", "no", "bands",
                                          "no",    "noise",         "none",      "substeps", "1",     NULL};
    sock_data *data = dense_data(6);
    use("host", NULL);
    sock_context *cpu = context_with("cpu"), *card = context_with("cuda");
    sock_model *one = fit_with(cpu, data, options), *other = fit_with(card, data, options);
    assert_true(logged("sums") > 3);
    compare_models(data, one, other, 1e-3, 1e-3);
    sock_model_free(one), sock_model_free(other);
    sock_context_free(cpu), sock_context_free(card);
    sock_data_free(data);
}

/* Only a device that was named does small work. */
static void test_device__auto_leaves_small_work_alone(void **state)
{
    (void)state;
    sock_data *data = dense_data(6);
    use("host", NULL);
    sock_context *cpu = context_with("cpu"), *card = context_with("auto");
    sock_model *one = fit_with(cpu, data, plain), *other = fit_with(card, data, plain);
    compare_models(data, one, other, 0, 0);
    assert_int_equal(logged(NULL), 1);
    assert_true(told_in(other, "cuda:0 (processor of the tests): nothing"));
    sock_model_free(one), sock_model_free(other);
    sock_context_free(cpu), sock_context_free(card);
    sock_data_free(data);
}

static void test_device__interrupt(void **state)
{
    (void)state;
    sock_data *data = dense_data(6);
    use("host", NULL);
    sock_context *card = context_with("cuda");
    sock_options *opts = options_of(card, plain);
    sock_model *model = NULL;
    double *alpha = sk_doubles(ctx, data->points, D);
    sock_cancel(card);
    assert_int_equal(sock_fit(card, data, opts, &model), SOCK_ECANCELLED);
    assert_null(model);
    sock_cancel_reset(card);
    assert_int_equal(sock_drift_system(card, data, opts, NULL, NULL, alpha), SOCK_OK); /* and goes on */
    sk_free(alpha);
    sock_options_free(opts);
    sock_context_free(card);
    sock_data_free(data);
    assert_int_equal(logged("close"), 1);
}

/* ---- Paths ---- */

/* The last has so many columns that features are multiplied for all paths; of the others each path goes by itself. */
static const char *const models[][11] = {
    {"drift", "poly:degree=2", "diffusion", "fourier:p=20,eta=1,seed=3", NULL},
    {"drift", "fourier:p=30,eta=1,seed=3", "diffusion", "affine", "diagonal", "yes", NULL},
    {"drift", "gauss:eta=0.8", "diffusion", "gauss:eta=1.7", "diffusion-rank", "15", NULL},
    {"drift", "affine", "diffusion", "none", NULL},
    {"drift", "affine", "diffusion", "fourier:p=60,eta=0.4,seed=3", "diffusion-lambda", "1e-10", NULL},
};

static void compare_paths(const sock_model *model, const sock_simulation *spec, bool there)
{
    use("host", NULL);
    const size_t count = spec->starts * spec->paths;
    sock_context *cpu = context_with("cpu"), *card = context_with("cuda");
    double *x = sk_doubles(ctx, 2 * count * spec->times, D), *lost = sk_doubles(ctx, 2, count);
    const size_t half = count * spec->times * D;
    sock_simulation_report one, other;
    const sock_status ended = sock_simulate(cpu, model, spec, x, lost, &one);
    assert_int_equal(sock_simulate(card, model, spec, x + half, lost + count, &other), ended);
    assert_int_equal(logged("simulation"), there);
    assert_int_equal(one.lost, other.lost);
    for (size_t i = 0; i < half; i++) {
        assert_int_equal(isnan(x[i]), isnan(x[half + i]));
        if (!isnan(x[i])) assert_close(x[half + i], x[i], 1e-8, 1);
    }
    for (size_t i = 0; i < count; i++) assert_true(lost[i] == lost[count + i]);
    sk_free(x), sk_free(lost);
    sock_context_free(cpu), sock_context_free(card);
    assert_int_equal(logged("close"), 1);
}

static void prop_paths_are_those_of_the_processor(void **state)
{
    (void)state;
    const double x0[3 * D] = {0.1, 0.2, -0.4, 0.5, 0.3, -0.3}, t[] = {0, 0.01, 0.025, 0.05};
    const double lower[] = {-0.5, -INFINITY}, upper[] = {0.6, 0.55};
    sock_data *data = dense_data(8);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const char *pairs[16] = {"tune", "no", "bands", "no"};
        for (size_t j = 0; models[i][j]; j++) pairs[4 + j] = models[i][j];
        sock_model *model = fit_with(ctx, data, pairs);
        sock_simulation spec = {.starts = 3, .x0 = x0, .paths = 37, .times = 4, .t = t, .seed = 3201, .step = 0.004};
        compare_paths(model, &spec, true);
        spec.lower = lower, spec.upper = upper;
        spec.first_start = 5;
        for (spec.bounds = SOCK_BOUNDS_CLIP; spec.bounds <= SOCK_BOUNDS_REFLECT; spec.bounds++)
            compare_paths(model, &spec, true);
        sock_model_free(model);
    }
    sock_data_free(data);
}

/* A model that explodes: lost at the same time, NaN from there on. */
static void prop_lost_paths_are_the_same(void **state)
{
    (void)state;
    const double x0[2 * D] = {0.1, 0.2, 40, 50}, t[] = {0, 20, 40, 400};
    static const char *const pairs[] = {"tune",          "no",        "bands",  "no", "drift",
                                        "poly:degree=3", "diffusion", "affine", NULL};
    sock_data *data = dense_data(8);
    sock_model *model = fit_with(ctx, data, pairs);
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 4, .times = 4, .t = t, .seed = 3202, .step = 2};
    double *x = sk_doubles(ctx, 8 * 4, D);
    sock_simulation_report report;
    assert_int_equal(sock_simulate(ctx, model, &spec, x, NULL, &report), SOCK_PARTIAL);
    assert_true(report.lost > 0);
    sk_free(x);
    compare_paths(model, &spec, true);
    sock_model_free(model);
    sock_data_free(data);
}

static void own_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void test_device__a_function_of_the_user_stays_here(void **state)
{
    (void)state;
    const double x0[D] = {0.1, 0.2}, t[] = {0, 0.5};
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, D, NULL, own_drift, NULL, NULL, &model), SOCK_OK);
    const sock_simulation spec = {.starts = 1, .x0 = x0, .paths = 3, .times = 2, .t = t};
    compare_paths(model, &spec, false);
    sock_model_free(model);
}

/* ---- Sums and problems, operation by operation ---- */

/* Rows of a trapezoid with random nodes. */
static sk_rule *random_rule(size_t n, size_t d)
{
    double *x = sk_doubles(ctx, 2 * n, d), *weight = sk_doubles(ctx, 2, n), *h = sk_doubles(ctx, n, 1);
    sk_rule *rule = NULL;
    sk_normals((sk_key){3203, SK_PURPOSE_TEST}, 0, 0, 0, 2 * n * d, x);
    sk_uniforms((sk_key){3203, SK_PURPOSE_TEST}, 1, 0, 0, 2 * n, weight);
    for (size_t i = 0; i < n; i++) h[i] = 0.1;
    assert_int_equal(sk_rule_nodes(ctx, n, 2, d, x, weight, h, &rule), SOCK_OK);
    sk_free(x), sk_free(weight), sk_free(h);
    return rule;
}

static sk_features *fourier_map(size_t p, size_t d, const sk_rule *rule)
{
    char text[64];
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    snprintf(text, sizeof text, "fourier:p=%zu,eta=1,seed=3204", p);
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", text, &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, d, rule->nodes, rule->x, &map), SOCK_OK);
    sk_kernel_free(kernel);
    return map;
}

static sk_diffusion_sums *sums_with(sock_context *own, const sk_features *map, const sk_rule *rule, const double *z,
                                    bool pairs, bool systems, bool backwards)
{
    enum { FOLDS = 3 };
    const sk_view like = {.d = rule->in, .folds = FOLDS};
    sk_diffusion_sums *s = NULL;
    assert_int_equal(sk_diffusion_sums_new(own, map, &like, systems, 0, &s), SOCK_OK);
    if (pairs) assert_int_equal(sk_diffusion_sums_pair(own, s), SOCK_OK);
    assert_int_equal(sk_diffusion_sums_offload(own, s, rule->n), SOCK_OK);
    for (size_t i = 0; i < 7; i++) {
        const size_t piece = backwards ? 6 - i : i;
        const sk_given_rows rows = {.fold = piece % (FOLDS + 1),
                                    .rule = rule,
                                    .begin = piece * rule->n / 7,
                                    .end = (piece + 1) * rule->n / 7,
                                    .z = z};
        if (rows.begin < rows.end) assert_int_equal(sk_diffusion_sums_add_given(own, s, &rows), SOCK_OK);
    }
    assert_int_equal(sk_diffusion_sums_fetch(own, s, true), SOCK_OK);
    sk_diffusion_sums_close(s);
    return s;
}

static void compare_sums(const sk_diffusion_sums *one, const sk_diffusion_sums *other, double tolerance)
{
    const size_t gram = (one->folds ? one->folds + 2 : 1) * one->systems * one->q * one->q,
                 side = one->systems * one->pairs * one->q;
    assert_all_close(gram, other->g, one->g, tolerance);
    assert_all_close((one->used + 1) * side, other->c, one->c, tolerance);
    assert_all_close((one->used + 1) * one->systems, other->zz, one->zz, tolerance);
    assert_all_close(one->p, other->square, one->square, tolerance);
    assert_all_close(one->systems, other->weight, one->weight, tolerance);
    assert_close(other->h2, one->h2, tolerance, 0);
    assert_int_equal(other->nodes, one->nodes);
    for (size_t f = 0; f < one->folds + 2; f++) assert_int_equal(other->rows[f], one->rows[f]);
}

static void prop_sums_are_those_of_the_processor(void **state)
{
    (void)state;
    static const size_t features[] = {1, 7, 32, 33}, rows[] = {1, 31, 33, 1000};
    use("host", NULL);
    sock_context *cpu = context_with("cpu"), *card = context_with("cuda");
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            for (int kind = 0; kind < 4; kind++) {
                const size_t d = 1 + i % 3;
                sk_rule *rule = random_rule(rows[j], d);
                sk_features *map = fourier_map(features[i], d, rule);
                double *z = sk_doubles(ctx, rule->n, d * d);
                sk_normals((sk_key){3205, SK_PURPOSE_TEST}, i, j, 0, rule->n * d * d, z);
                const bool pairs = kind & 1, systems = d > 1 && kind & 2;
                sk_diffusion_sums *one = sums_with(cpu, map, rule, z, pairs, systems, false);
                sk_diffusion_sums *other = sums_with(card, map, rule, z, pairs, systems, false);
                sk_diffusion_sums *back = sums_with(card, map, rule, z, true, systems, true);
                sk_diffusion_sums *forth = sums_with(card, map, rule, z, true, systems, false);
                compare_sums(one, other, 1e-13);
                compare_sums(forth, back, 0); /* their order does not show */
                sk_diffusion_sums_free(one), sk_diffusion_sums_free(other);
                sk_diffusion_sums_free(back), sk_diffusion_sums_free(forth);
                sk_features_free(map);
                sk_rule_free(rule);
                sk_free(z);
            }
    assert_int_equal(logged("sums"), 4 * 4 * 4 * 3);
    sock_context_free(cpu), sock_context_free(card);
    assert_int_equal(logged("close"), 1);
}

/* The certificate is made here, from an answer that is not taken on trust. The honest one has x0 = 0, so S = (2/n) c,
 * and Q = S_+ / (2 lambda). */
typedef enum lie { HONEST, VECTORS, LENGTHS, PRODUCT, OTHER_PRODUCT, ANSWER, LIES } lie;
static lie told;

static int lying_levels(void *state, const sk_device_gram *problem, sk_device_answer *answer)
{
    (void)state;
    const double root_half = 0.70710678118654752440, x = 0.2 / problem->lambda / 2;
    for (size_t i = 0; i < 2; i++) answer->values[i] = i ? 0.2 : -0.1; /* S = (2/10) diag(-1/2, 1) */
    for (size_t i = 0; i < 2; i++) answer->e[i * 3] = 1;
    answer->x[2] = x;
    answer->gx[2] = 3 * x;
    if (told == VECTORS) answer->e[0] = root_half, answer->e[1] = root_half;
    if (told == LENGTHS) answer->e[0] = 2, answer->values[0] = -0.025;
    if (told == PRODUCT) answer->gx0[1] = 1e-6;
    if (told == OTHER_PRODUCT) answer->gx[2] *= 1 + 1e-6;
    if (told == ANSWER) answer->x[2] *= 1 + 1e-6, answer->gx[2] *= 1 + 1e-6;
    return SK_DEVICE_DONE;
}

static const char *no_error(void *state)
{
    (void)state;
    return "";
}

static void test_device__what_it_says_is_not_taken_on_trust(void **state)
{
    (void)state;
    const double g[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, c[3] = {-0.5, 0, 1};
    const sk_psd_moments z = {.d = 1, .c = c, .zz = 5, .lambda = 0.1};
    const sk_device liar = {.levels = lying_levels, .error = no_error};
    sock_context *own = context_with("cpu");
    sk_device_lend(own, &liar);
    sk_plugin *plugin = sk_device_for(own, SK_LEVELS, 1, 1e9);
    assert_non_null(plugin);
    assert_null(sk_device_for(own, SK_SUMS, 1e30, 1));
    for (told = HONEST; told < LIES; told++) {
        sk_psd_result *result = NULL;
        sk_device_forget(own);
        const sock_status status = sk_psd_gram_elsewhere(own, plugin, 10, 2, g, NULL, &z, NULL, NULL, &result);
        if (told == HONEST) {
            assert_int_equal(status, SOCK_NOT_CONVERGED); /* x0 is 0, and x is not */
            assert_close(result->values[0], 1, 1e-14, 0);
            assert_close(result->gap, 0.3, 1e-14, 0);
            assert_close(result->primal, (5 - 2 + 3) / 10.0 + 0.1, 1e-14, 0);
        } else {
            assert_non_null(strstr(sk_device_told(own), "levels by the cpu: the answer of the device does not hold"));
            if (status != SOCK_PARTIAL) fail_msg("lie %d is believed", (int)told);
            assert_null(result);
        }
        sk_psd_result_free(result);
    }
    sock_context_free(own);
}

static sock_status fit_once(sock_context *own, void *arg)
{
    static const char *const small[] = {"tune",       "no",    "drift",     "gauss:eta=0.8",
                                        "drift-path", "exact", "diffusion", "fourier:p=5,eta=1,seed=3",
                                        "bands",      "no",    NULL};
    sock_options *opts = options_of(ctx, small);
    sock_model *model = NULL;
    const sock_status status = sock_fit(own, arg, opts, &model);
    if (status >= 0) {
        const double x0[D] = {0.1, 0.2}, t[] = {0, 0.01};
        double x[2 * 2 * D];
        const sock_simulation spec = {.starts = 1, .x0 = x0, .paths = 2, .times = 2, .t = t};
        const sock_status walked = sock_simulate(own, model, &spec, x, NULL, NULL);
        sock_model_free(model);
        sock_options_free(opts);
        return walked;
    }
    sock_options_free(opts);
    return status;
}

static void test_device__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = dense_data(1);
    use("host", NULL);
    sock_context *card = context_with("cuda");
    assert_true(for_single_allocations(card, fit_once, data) > 50);
    sock_context_free(card);
    sock_data_free(data);
    assert_int_equal(logged("close"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device__words),
        cmocka_unit_test(test_device__no_card),
        cmocka_unit_test(test_device__wrong_plugins),
        cmocka_unit_test(test_device__hostile_places),
        cmocka_unit_test(prop_plain_fits_are_those_of_the_processor),
        cmocka_unit_test(prop_both_certificates_hold),
        cmocka_unit_test(prop_what_fails_is_done_by_the_processor),
        cmocka_unit_test(test_device__lost_among_sums),
        cmocka_unit_test(prop_a_search_is_that_of_the_processor),
        cmocka_unit_test(test_device__auto_leaves_small_work_alone),
        cmocka_unit_test(test_device__interrupt),
        cmocka_unit_test(prop_paths_are_those_of_the_processor),
        cmocka_unit_test(prop_lost_paths_are_the_same),
        cmocka_unit_test(test_device__a_function_of_the_user_stays_here),
        cmocka_unit_test(prop_sums_are_those_of_the_processor),
        cmocka_unit_test(test_device__what_it_says_is_not_taken_on_trust),
        cmocka_unit_test(test_device__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
