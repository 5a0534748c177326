/* test_fitoptions.c - what a fit refuses before it begins, and in which words; bounds from the data and the options. No
 * search is run here. */
#include "api/fitjob.h"
#include "data/data.h"
#include "onecontext.h"

#include <string.h>

enum { MOST = 7 };

static sock_data *data_of(size_t d, const double *x)
{
    const size_t length[] = {3, 3};
    const double t[] = {0, 1, 2, 0, 1, 2};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static sock_options *options(const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    for (; *pairs; pairs += 2)
        if (sock_options_set(ctx, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(ctx));
    return opts;
}

static const double x[12] = {0.5, -1, 0.25, 0.75, -0.5, 1, 2, 0.1, -0.2, 0.3, 0.4, -0.7};

/* Options that are fine get as far as a validation set of another dimension, which is looked at after them. */
static void meets(const char *const *pairs, const char *words)
{
    sock_data *data = data_of(1, x), *other = data_of(2, x);
    sock_options *opts = options(pairs);
    sock_model *model = NULL;
    assert_int_equal(sock_options_set_validation(ctx, opts, other), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), words)) fail_msg("%s %s: %s", pairs[0], pairs[1], sock_message(ctx));
    assert_null(model);
    sock_options_free(opts);
    sock_data_free(data), sock_data_free(other);
}

static const char *const fine = "the validation data have dimension 2, the data 1";

static void test_fitoptions__of_the_plain_estimator_are_not_for_the_search(void **state)
{
    (void)state;
    static const char *const plain[][2] = {
        {"drift-lambda", "0.1"},    {"diffusion-lambda", "0.1"}, {"drift-form", "implicit"}, {"drift-path", "exact"},
        {"diffusion-form", "auto"}, {"diffusion-rank", "7"},     {"solver", "newton"},       {"landmarks", "5"},
        {"compression", "no"},      {"max-iterations", "9"},     {"max-seconds", "3"}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char words[96];
        snprintf(words, sizeof words, "%s is for the plain estimator", plain[i][0]);
        meets((const char *const[]){plain[i][0], plain[i][1], NULL}, words);
    }
    meets((const char *const[]){"tolerance", "1e-3", NULL}, fine);
}

static void test_fitoptions__quadrature_and_diffusion_by_preset(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[MOST], *words;
    } cases[] = {
        {{"preset", "paper"}, fine},
        {{"preset", "paper", "quadrature", "trapezoid"}, fine},
        {{"preset", "paper", "quadrature", "auto"}, fine},
        {{"preset", "paper", "quadrature", "left"}, "quadrature is 'left'; allowed with the paper's preset: trapezoid"},
        {{"preset", "paper", "quadrature", "conditional"}, "quadrature is 'conditional'; allowed with the paper's"},
        {{"preset", "paper", "diffusion", "rates:degree=2"}, "the paper's preset knows no bounds"},
        {{"preset", "paper", "diffusion", "constant"}, fine},
        {{"quadrature", "trapezoid"}, "quadrature is 'trapezoid'; allowed while tuning: conditional, left"},
        {{"quadrature", "left"}, fine},
        {{"quadrature", "conditional"}, fine},
        {{"diffusion", "none"}, "the drift alone is fitted with --no-tune"},
        {{"diffusion", "rates:degree=2"}, fine},
        {{"diffusion", "constant"}, fine}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) meets(cases[i].pairs, cases[i].words);
}

static void own_kernel(void *user, size_t d, const double *one, const double *other, double *k)
{
    (void)user, (void)one, (void)other;
    for (size_t i = 0; i < d * d; i++) k[i] = i % (d + 1) == 0;
}

static void test_fitoptions__a_kernel_of_ones_own_is_for_the_plain_estimator(void **state)
{
    (void)state;
    sock_data *data = data_of(1, x);
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    assert_int_equal(sock_options_set_drift_kernel(ctx, opts, own_kernel, NULL), SOCK_OK);
    assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "a drift kernel given as a function is fitted with tune = no"));
    sock_options_free(opts);
    sock_data_free(data);
}

static void test_fitoptions__of_the_plain_estimator(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[MOST], *words;
    } cases[] = {{{"tune", "no", "landmarks", "3"}, "landmarks is '3', but no Nystrom form uses it"},
                 {{"tune", "no", "landmarks", "3", "drift-form", "explicit"}, "no Nystrom form uses it"},
                 {{"tune", "no", "quadrature", "conditional"}, "quadrature is 'conditional', which needs tuning"},
                 {{"tune", "no", "drift-form", "nystrom", "quadrature", "conditional"}, "which needs tuning"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_data *data = data_of(1, x);
        sock_options *opts = options(cases[i].pairs);
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
        if (!strstr(sock_message(ctx), cases[i].words)) fail_msg("%s", sock_message(ctx));
        sock_options_free(opts);
        sock_data_free(data);
    }
}

/* Landmarks are used by a drift or a diffusion of that form; where no diffusion is wanted, not by its form. */
static void test_fitoptions__landmarks(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[9];
        bool allowed;
    } cases[] = {{{"tune", "no", "landmarks", "3", "drift-form", "nystrom", "diffusion", "none"}, true},
                 {{"tune", "no", "landmarks", "3", "diffusion-form", "nystrom", "diffusion", "gauss:eta=1"}, true},
                 {{"tune", "no", "landmarks", "3", "diffusion-form", "nystrom", "diffusion", "none"}, false}};
    sock_data *data = data_of(1, x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_options *opts = options(cases[i].pairs);
        sock_model *model = NULL;
        assert_int_equal(sock_fit(ctx, data, opts, &model) >= 0, cases[i].allowed);
        sock_model_free(model);
        sock_options_free(opts);
    }
    sock_data_free(data);
}

/* Data of one state and the input of this name. */
static sock_data *data_with(const char *name)
{
    const size_t length[] = {3, 3};
    const double t[] = {0, 1, 2, 0, 1, 2};
    sock_options *opts = options((const char *const[]){"input", name, NULL});
    sock_data *data = NULL;
    assert_int_equal(
        sock_data_from_arrays(ctx, 2, 2, length, t, x, (const char *const[]){"x", name}, NULL, opts, &data), SOCK_OK);
    sock_options_free(opts);
    return data;
}

/* A validation set has the inputs of the data; one that has goes on to what is refused next. */
static void test_fitoptions__validation_has_the_same_inputs(void **state)
{
    (void)state;
    const char *const lacks = "the validation data do not have the inputs of the data, u first";
    sock_data *data = data_with("u"), *held[] = {data_with("w"), data_of(1, x), data_with("u")};
    for (size_t i = 0; i < 3; i++) {
        sock_options *opts = options((const char *const[]){"order", "2", NULL}); /* which does not go with inputs */
        sock_model *model = NULL;
        assert_int_equal(sock_options_set_validation(ctx, opts, held[i]), SOCK_OK);
        assert_int_equal(sock_fit(ctx, data, opts, &model), SOCK_EUSAGE);
        assert_int_equal(strstr(sock_message(ctx), lacks) != NULL, i < 2);
        sock_options_free(opts);
        sock_data_free(held[i]);
    }
    sock_data_free(data);
}

/* ---- What there must be ---- */

static void fields(void *user, size_t count, size_t d, const double *at, double *out)
{
    (void)user, (void)at;
    memset(out, 0, count * d * sizeof *out);
}

static void test_fit__what_is_missing_is_said(void **state)
{
    (void)state;
    sock_data *data = data_of(1, x);
    sock_model *drift = NULL, *plane = NULL, *model = NULL;
    sock_options *none = options((const char *const[]){"diffusion", "none", NULL});
    assert_int_equal(sock_model_wrap(ctx, 1, NULL, fields, NULL, NULL, &drift), SOCK_OK);
    assert_int_equal(sock_model_wrap(ctx, 2, NULL, fields, NULL, NULL, &plane), SOCK_OK);
    assert_int_equal(sock_fit(NULL, data, NULL, &model), SOCK_EUSAGE);
    assert_int_equal(sock_fit(ctx, NULL, NULL, &model), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "data and output must not be NULL");
    assert_int_equal(sock_fit(ctx, data, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_fit_diffusion(NULL, data, drift, NULL, &model), SOCK_EUSAGE);
    assert_int_equal(sock_fit_diffusion(ctx, NULL, drift, NULL, &model), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "data and drift must not be NULL");
    assert_int_equal(sock_fit_diffusion(ctx, data, NULL, NULL, &model), SOCK_EUSAGE);
    assert_int_equal(sock_fit_diffusion(ctx, data, drift, NULL, NULL), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "output must not be NULL");
    assert_int_equal(sock_fit_diffusion(ctx, data, drift, none, &model), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "diffusion is 'none'; give a kernel");
    assert_int_equal(sock_fit_diffusion(ctx, data, plane, NULL, &model), SOCK_EUSAGE);
    assert_string_equal(sock_message(ctx), "the drift has dimension 2, the data 1");
    assert_int_equal(sock_drift_system(NULL, data, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_drift_system(ctx, NULL, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_diffusion_system(NULL, data, drift, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_diffusion_system(ctx, data, NULL, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_null(model);
    sock_options_free(none);
    sock_model_free(drift), sock_model_free(plane);
    sock_data_free(data);
}

/* ---- Bounds ---- */

/* The bounds of both states, and whether somebody said them; a failure's words. */
static void expect_bounds(const sock_data *data, const char *const *pairs, const double bounds[4], bool said)
{
    sock_options *opts = options(pairs);
    sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts};
    if (sk_fit_find_bounds(&job) < 0) fail_msg("%s", sock_message(ctx));
    for (size_t k = 0; k < 2; k++) assert_true(job.lower[k] == bounds[2 * k] && job.upper[k] == bounds[2 * k + 1]);
    assert_int_equal(job.bounds_said, said);
    sk_fit_release(&job);
    sock_options_free(opts);
}

/* Near 0 and never below: a bound. Far from it, or below: none. */
static void test_bounds__are_found_or_said(void **state)
{
    (void)state;
    const double inf = (double)INFINITY, both[12] = {0.01, 5, 1, 6, 2, 5.5, 0.5, 5, 3, 6, 0.02, 5.5};
    sock_data *data = data_of(2, both);
    expect_bounds(data, (const char *const[]){NULL}, (const double[]){0, inf, -inf, inf}, false);
    expect_bounds(data, (const char *const[]){"lower", "none", NULL}, (const double[]){-inf, inf, -inf, inf}, false);
    expect_bounds(data, (const char *const[]){"lower", "-1,2", NULL}, (const double[]){-1, inf, 2, inf}, true);
    expect_bounds(data, (const char *const[]){"upper", "none,6", NULL}, (const double[]){0, inf, -inf, 6}, true);
    expect_bounds(data, (const char *const[]){"upper", "3,6", "lower", "0.01,5", NULL}, (const double[]){0.01, 3, 5, 6},
                  true);
    sock_data_free(data);
}

static void test_bounds__that_the_data_leave_are_refused(void **state)
{
    (void)state;
    const double both[12] = {0.01, 5, 1, 6, 2, 5.5, 0.5, 5, 3, 6, 0.02, 5.5};
    static const struct {
        const char *pairs[5];
        sock_status status;
        const char *words;
    } cases[] = {{{"lower", "none,5.25"}, SOCK_EINPUT, "is 5 at time 0, below its bound 5.25; give another --lower"},
                 {{"upper", "2.5,none"}, SOCK_EINPUT, "is 3 at time 1, above its bound 2.5; give another --upper"},
                 {{"lower", "4,1", "upper", "4,9"}, SOCK_EUSAGE, "are 4 and 4; lower must be below upper"}};
    sock_data *data = data_of(2, both);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_options *opts = options(cases[i].pairs);
        sk_fit_job job = {.ctx = ctx, .data = data, .opts = opts};
        assert_int_equal(sk_fit_find_bounds(&job), cases[i].status);
        if (!strstr(sock_message(ctx), cases[i].words)) fail_msg("%s", sock_message(ctx));
        sk_fit_release(&job);
        sock_options_free(opts);
    }
    sock_data_free(data);
}

/* A model keeps bounds that somebody said, and at which of them paths came to rest. */
static sock_status keep(sock_context *context, void *arg)
{
    sock_options *opts = arg;
    const double at_rest[6] = {1, 0, 0, 2, 3, 2.5};
    sock_data *data = data_of(1, at_rest);
    sk_fit_job job = {.ctx = context, .data = data, .opts = opts};
    sock_model *model = NULL;
    sock_status status;
    SK_GO(sk_fit_find_bounds(&job));
    SK_GO(sk_model_new(context, 1, NULL, &model));
    SK_GO(sk_fit_keep_bounds(&job, false, model));
    assert_true(model->structure->lower[0] == 0 && model->structure->upper[0] == 3);
    assert_non_null(model->structure->absorbing);
    assert_int_equal(model->structure->absorbing[0], SK_ABSORBS_LOWER);
out:
    sock_model_free(model);
    sk_fit_release(&job);
    sock_data_free(data);
    return status;
}

static void test_bounds__are_kept(void **state)
{
    (void)state;
    sock_options *opts = options((const char *const[]){"lower", "0", "upper", "3", NULL});
    sock_context *other = sock_context_new();
    assert_true(for_single_allocations(other, keep, opts) > 4);
    sock_context_free(other);
    sock_options_free(opts);
    sock_data *data = data_of(1, (const double[]){1, 0.5, 0.1, 2, 3, 2.5}); /* said by nobody: not kept */
    sk_fit_job job = {.ctx = ctx, .data = data};
    sock_model *model = NULL;
    assert_int_equal(sk_fit_find_bounds(&job), SOCK_OK);
    assert_int_equal(sk_model_new(ctx, 1, NULL, &model), SOCK_OK);
    assert_int_equal(sk_fit_keep_bounds(&job, false, model), SOCK_OK);
    assert_null(model->structure->lower);
    job.bounds_said = true; /* and without a rest there is none */
    job.lower[0] = 0;
    assert_int_equal(sk_fit_keep_bounds(&job, false, model), SOCK_OK);
    assert_true(model->structure->lower[0] == 0 && !model->structure->absorbing);
    sock_model_free(model);
    sk_fit_release(&job);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fitoptions__of_the_plain_estimator_are_not_for_the_search),
        cmocka_unit_test(test_fitoptions__quadrature_and_diffusion_by_preset),
        cmocka_unit_test(test_fitoptions__a_kernel_of_ones_own_is_for_the_plain_estimator),
        cmocka_unit_test(test_fitoptions__of_the_plain_estimator),
        cmocka_unit_test(test_fitoptions__landmarks),
        cmocka_unit_test(test_fitoptions__validation_has_the_same_inputs),
        cmocka_unit_test(test_fit__what_is_missing_is_said),
        cmocka_unit_test(test_bounds__are_found_or_said),
        cmocka_unit_test(test_bounds__that_the_data_leave_are_refused),
        cmocka_unit_test(test_bounds__are_kept),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
