/* test_score.c - the front door of the scores: which value is there, which is missing and why, what counts as a caveat,
 * and the thresholds in between, from both sides. */
#include "onecontext.h"
#include "score/score.h"
#include "truths.h"

/* ---- Constant fields ---- */

enum { MOST_D = 3 };
typedef struct fields {
    double f, a[MOST_D * MOST_D];
} fields;

static void steady_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)x;
    for (size_t i = 0; i < count * d; i++) f[i] = ((const fields *)user)->f;
}

static void steady_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = ((const fields *)user)->a[i % (d * d)];
}

static sock_model *steady(size_t d, fields *of) { return wrap_fields(ctx, d, steady_drift, steady_diffusion, of); }

static sock_model *noiseless(size_t d, fields *of) { return wrap_fields(ctx, d, steady_drift, NULL, of); }

static sock_data *data_of(size_t d, size_t trajectories, const size_t *length, const double *t, const double *x)
{
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

/* One trajectory of one state. */
static sock_data *line(size_t length, const double *t, const double *x) { return data_of(1, 1, &length, t, x); }

static sock_options *option(const char *key, const char *value)
{
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, key, value), SOCK_OK);
    return opts;
}

static const double three_t[3] = {0, 1, 2}, three_x[3] = {0, 1, -1};

/* ---- What a value says ---- */

static void is_there(const sock_value *v, double expected)
{
    assert_int_equal(v->valid, 1);
    assert_int_equal(v->failed, 0);
    assert_int_equal(v->reason[0], 0);
    assert_close(v->value, expected, 1e-12, 1e-300);
}

static void is_missing(const sock_value *v, int failed, const char *reason)
{
    assert_int_equal(v->valid, 0);
    assert_int_equal(v->failed, failed);
    assert_true(v->value == 0);
    if (!strstr(v->reason, reason)) fail_msg("'%s' does not say '%s'", v->reason, reason);
}

/* The four values of both likelihoods, in one order. */
enum { LOGLIK, LOGLIK_TRUTH, PERPLEXITY, PERPLEXITY_RAW };
static const sock_value *value_of(const sock_scores *s, int moments, int which)
{
    const sock_value *const all[2][4] = {
        {&s->loglik, &s->loglik_truth, &s->perplexity, &s->perplexity_raw},
        {&s->loglik_moments, &s->loglik_moments_truth, &s->perplexity_moments, &s->perplexity_moments_raw}};
    return all[moments][which];
}

/* Steps of 1 of dx = dW: log N(e; 0, s) for each. */
static double log_normal(double e, double s) { return -0.5 * (log(2 * acos(-1) * s) + e * e / s); }

/* With constant fields Euler's step is exact, so both likelihoods are the sum of the same two densities. */
static void test_score__values_without_and_with_a_truth(void **state)
{
    (void)state;
    fields one = {0, {1}}, two = {0.5, {2}};
    sock_model *model = steady(1, &one), *exact = steady(1, &two);
    sock_data *data = line(3, three_t, three_x);
    sock_scores s;
    const double own = log_normal(1, 1) + log_normal(-2, 1), l_true = log_normal(0.5, 2) + log_normal(-2.5, 2);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_OK);
    for (int m = 0; m < 2; m++) {
        is_there(value_of(&s, m, LOGLIK), own);
        is_there(value_of(&s, m, PERPLEXITY_RAW), 100 * exp(-own / 2));
        is_missing(value_of(&s, m, LOGLIK_TRUTH), 0, "no truth given");
        is_missing(value_of(&s, m, PERPLEXITY), 0, "no truth given");
    }
    is_missing(&s.re_f, 0, "no truth given");
    is_missing(&s.re_a, 0, "no truth given");
    is_missing(&s.mmd2, 0, "no training data");
    is_missing(&s.mmd2_truth, 0, "no training data");
    assert_true(s.d == 1 && s.points == 3 && s.intervals == 2 && s.singular == 0 && s.delta == 0 && s.mmd_paths == 500);
    assert_int_equal(sock_score(ctx, model, data, NULL, exact, NULL, &s), SOCK_OK);
    for (int m = 0; m < 2; m++) {
        is_there(value_of(&s, m, LOGLIK), own);
        is_there(value_of(&s, m, LOGLIK_TRUTH), l_true);
        is_there(value_of(&s, m, PERPLEXITY), 100 * exp((l_true - own) / 2));
        is_there(value_of(&s, m, PERPLEXITY_RAW), 100 * exp(-own / 2));
    }
    is_there(&s.re_f, 100);
    is_there(&s.re_a, 50);
    sock_data_free(data);
    sock_model_free(exact), sock_model_free(model);
}

/* A model without a density fails with all that hangs on it; a truth without one takes the perplexity along. */
static void test_score__what_hangs_on_a_missing_likelihood_is_missing(void **state)
{
    (void)state;
    fields one = {0, {1}};
    sock_model *good = steady(1, &one), *bare = noiseless(1, &one);
    sock_data *data = line(3, three_t, three_x);
    sock_scores s;
    assert_int_equal(sock_score(ctx, bare, data, NULL, good, NULL, &s), SOCK_PARTIAL);
    assert_int_equal(s.singular, 2);
    for (int m = 0; m < 2; m++) {
        is_missing(value_of(&s, m, LOGLIK), 1, "the model has no diffusion on 2 of 2 intervals");
        is_missing(value_of(&s, m, PERPLEXITY_RAW), 1, "the model has no diffusion");
        is_missing(value_of(&s, m, PERPLEXITY), 1, "the model has no diffusion");
        assert_int_equal(value_of(&s, m, LOGLIK_TRUTH)->valid, 1);
    }
    is_missing(&s.re_a, 0, "the model has no diffusion");
    assert_non_null(strstr(sock_message(ctx), "loglik could not be computed: the model has no diffusion"));
    assert_int_equal(sock_score(ctx, good, data, NULL, bare, NULL, &s), SOCK_PARTIAL);
    assert_int_equal(s.singular, 0);
    for (int m = 0; m < 2; m++) {
        assert_int_equal(value_of(&s, m, LOGLIK)->valid, 1);
        assert_int_equal(value_of(&s, m, PERPLEXITY_RAW)->valid, 1);
        is_missing(value_of(&s, m, LOGLIK_TRUTH), 1, "the model has no diffusion on 2 of 2 intervals");
        is_missing(value_of(&s, m, PERPLEXITY), 1, "truth: the model has no diffusion on 2 of 2");
    }
    is_missing(&s.re_a, 0, "the truth has no diffusion");
    assert_non_null(strstr(sock_message(ctx), "loglik_truth could not be computed"));
    sock_data_free(data);
    sock_model_free(bare), sock_model_free(good);
}

/* delta gives a model without noise the density of N(0, delta). */
static void test_score__delta_makes_a_noiseless_model_regular(void **state)
{
    (void)state;
    fields none = {0};
    sock_model *bare = noiseless(1, &none);
    sock_data *data = line(3, three_t, three_x);
    sock_options *opts = option("delta", "0.5");
    sock_scores s;
    assert_int_equal(sock_score(ctx, bare, data, NULL, NULL, opts, &s), SOCK_OK);
    for (int m = 0; m < 2; m++) is_there(value_of(&s, m, LOGLIK), log_normal(1, 0.5) + log_normal(-2, 0.5));
    assert_true(s.delta == 0.5 && s.singular == 0);
    sock_options_free(opts);
    sock_data_free(data);
    sock_model_free(bare);
}

static void test_score__without_an_interval_and_without_finite_numbers(void **state)
{
    (void)state;
    fields one = {0, {1}}, bad = {NAN, {1}};
    sock_model *good = steady(1, &one), *broken = steady(1, &bad);
    sock_data *data = line(3, three_t, three_x), *single = line(1, three_t, three_x);
    sock_scores s;
    assert_int_equal(sock_score(ctx, good, single, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    for (int m = 0; m < 2; m++) is_missing(value_of(&s, m, LOGLIK), 1, "the test set has no interval");
    is_missing(&s.loglik_constant, 0, "the test set has no interval");
    assert_int_equal(s.worse_than_constant, 0);
    assert_int_equal(sock_score(ctx, broken, data, NULL, good, NULL, &s), SOCK_PARTIAL);
    for (int m = 0; m < 2; m++) is_missing(value_of(&s, m, LOGLIK), 1, "the model is not finite on 2 of 2 intervals");
    is_missing(&s.re_f, 1, "the model or the truth is not finite on the test points");
    is_there(&s.re_a, 0);
    sock_data_free(single), sock_data_free(data);
    sock_model_free(broken), sock_model_free(good);
}

/* 100 exp(e) is below the largest double for e = 705 and above it for e = 706: log(DBL_MAX / 100) = 705.18. */
static void test_score__a_perplexity_that_overflows(void **state)
{
    (void)state;
    const double t[2] = {0, 1};
    fields one = {0, {1}};
    for (int over = 0; over < 2; over++) {
        const double exponent = 705 + over, root = sqrt(2 * exponent - log(2 * acos(-1)));
        const double x[2] = {0, root};
        fields near = {root, {1}};
        sock_model *model = steady(1, &one), *exact = steady(1, &near);
        sock_data *data = line(2, t, x);
        sock_scores s;
        const sock_status status = sock_score(ctx, model, data, NULL, exact, NULL, &s);
        for (int m = 0; m < 2; m++) {
            const sock_value *raw = value_of(&s, m, PERPLEXITY_RAW);
            if (over)
                is_missing(raw, 1, "100 exp(706) overflows");
            else
                assert_close(log(raw->value / 100), exponent, 1e-12, 0);
            assert_int_equal(raw->valid, !over);
            assert_int_equal(value_of(&s, m, PERPLEXITY)->valid, 1); /* less than raw by log sqrt(2 pi) */
        }
        assert_int_equal(status, SOCK_OK); /* the raw ones are no part of the verdict */
        sock_data_free(data);
        sock_model_free(exact), sock_model_free(model);
    }
}

/* ---- Columns at rest ---- */

/* The reason for a singular covariance on two trajectories of two points in three states. */
static void resting_reason(const char *const *names, const double *x, const char *expected)
{
    const size_t length[2] = {2, 2};
    const double t[4] = {0, 1, 0, 1};
    fields one = {0, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
    sock_model *model = steady(3, &one);
    sock_options *opts = option("delta", "0.1");
    sock_data *data = NULL;
    sock_scores s;
    assert_true(sock_data_from_arrays(ctx, 3, 2, length, t, x, names, NULL, NULL, &data) >= 0);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_int_equal(s.singular, 2);
    for (int m = 0; m < 2; m++) is_missing(value_of(&s, m, LOGLIK), 1, expected);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, opts, &s), SOCK_OK); /* a rest alone is no fault */
    assert_int_equal(s.loglik.valid, 1);
    sock_options_free(opts);
    sock_data_free(data);
    sock_model_free(model);
}

/* A state that jumps between trajectories but not within them rests; one that moves in the last step alone does not. */
static void test_score__a_column_at_rest_is_named(void **state)
{
    (void)state;
    static const char *const names[3] = {"a", "b", "c"};
    const double none[12] = {0, 5, 9, 1, 6, 8, 2, 7, 7, 3, 8, 6}, second[12] = {0, 5, 9, 1, 5, 9, 2, 7, 7, 2, 7, 6};
    const double first[12] = {0, 5, 9, 0, 6, 8, 2, 7, 7, 2, 8, 6}, last[12] = {0, 5, 9, 1, 6, 9, 2, 7, 7, 3, 8, 7};
    const double two[12] = {0, 5, 9, 0, 6, 9, 2, 7, 7, 2, 8, 7}, all[12] = {0, 5, 9, 0, 5, 9, 2, 7, 7, 2, 7, 7};
    resting_reason(names, none, "is singular on 2 of 2 intervals");
    resting_reason(names, second, "column b of the test data never changes: no density on 2 of 2 intervals");
    resting_reason(names, first, "column a of the test data never changes");
    resting_reason(names, last, "column c of the test data never changes");
    resting_reason(names, two, "column a (and 1 more) of the test data never changes");
    resting_reason(names, all, "column a (and 2 more) of the test data never changes");
}

/* Names are cut at 40 bytes, before a character of two bytes that would be cut. */
static void test_score__long_names_are_cut_between_characters(void **state)
{
    (void)state;
#define TEN "0123456789"
    static const struct {
        const char *name, *shown;
    } cases[] = {{TEN TEN TEN TEN, "column " TEN TEN TEN TEN " of"},
                 {TEN TEN TEN TEN "x", "column " TEN TEN TEN TEN " of"},
                 {TEN TEN TEN "01234567\xc3\xa9x", "column " TEN TEN TEN "01234567\xc3\xa9 of"},
                 {TEN TEN TEN "012345678\xc3\xa9", "column " TEN TEN TEN "012345678 of"},
                 {"\xc3\xa9", "column \xc3\xa9 of"}};
    const double x[12] = {0, 5, 9, 0, 6, 8, 2, 7, 7, 2, 8, 6};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const names[3] = {cases[i].name, "b", "c"};
        resting_reason(names, x, cases[i].shown);
    }
}

/* ---- Constants ---- */

/* n steps of +-1 in turn, from 0: mean rate 0 for even n, a = 1. */
static sock_data *zigzag(size_t n)
{
    double t[64], x[64];
    for (size_t i = 0; i <= n; i++) {
        t[i] = (double)i;
        x[i] = (double)(i % 2);
    }
    return line(n + 1, t, x);
}

/* A model with a = c on n such steps is n (log c + 1/c - 1)/2 behind the constants of the formula. Those are two
 * numbers: up to 4 nats are allowed. */
static double factor_behind(size_t n, double nats)
{
    double low = 1, high = 100;
    for (int i = 0; i < 100; i++) {
        const double c = (low + high) / 2;
        *((double)n / 2 * (log(c) + 1 / c - 1) < nats ? &low : &high) = c;
    }
    return low;
}

static void test_score__a_model_behind_the_constants_by_four_nats_is_worse(void **state)
{
    (void)state;
    enum { N = 20 };
    sock_data *data = zigzag(N);
    for (int worse = 0; worse < 2; worse++) {
        fields of = {0, {factor_behind(N, worse ? 4.01 : 3.99)}};
        sock_model *model = steady(1, &of);
        sock_scores s;
        assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_OK);
        is_there(&s.loglik_constant, N * log_normal(1, 1));
        assert_close(s.loglik_constant.value - s.loglik.value, worse ? 4.01 : 3.99, 1e-10, 0);
        assert_int_equal(s.worse_than_constant, worse);
        sock_model_free(model);
    }
    sock_data_free(data);
}

/* In two dimensions the constants are five numbers; the model's f is off, by n f^2 / 2 nats in each. */
static void test_score__constants_in_two_dimensions_are_five_numbers(void **state)
{
    (void)state;
    enum { N = 40 };
    double t[N + 1], x[2 * (N + 1)];
    const size_t length = N + 1;
    for (size_t i = 0; i <= N; i++) {
        t[i] = (double)i;
        x[2 * i] = (double)(i % 2);             /* +1 -1 +1 -1 */
        x[2 * i + 1] = (double)(i / 2 % 2) * 2; /* 0 2 0 -2: squares of 2 on average */
    }
    sock_data *data = data_of(2, 1, &length, t, x);
    for (int worse = 0; worse < 2; worse++) {
        const double nats = worse ? 7.01 : 6.99; /* 5 and 2 more; f (1, 1) costs N f^2 (1 + 1/2) / 2 */
        fields of = {sqrt(nats * 4 / (3 * N)), {1, 0, 0, 2}};
        sock_model *model = steady(2, &of);
        sock_scores s;
        assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_OK);
        assert_close(s.loglik_constant.value - s.loglik.value, nats, 1e-10, 0);
        assert_int_equal(s.worse_than_constant, worse);
        sock_model_free(model);
    }
    sock_data_free(data);
}

/* Five observed numbers for each of the constants: ten steps in one dimension, not nine. */
static void test_score__constants_need_ten_steps(void **state)
{
    (void)state;
    fields one = {0, {1}}, far = {0, {1e6}};
    sock_model *model = steady(1, &one), *poor = steady(1, &far);
    sock_data *enough = zigzag(10), *few = zigzag(9);
    sock_scores s;
    assert_int_equal(sock_score(ctx, model, enough, NULL, NULL, NULL, &s), SOCK_OK);
    is_there(&s.loglik_constant, 10 * log_normal(1, 1));
    assert_int_equal(sock_score(ctx, poor, few, NULL, NULL, NULL, &s), SOCK_OK);
    is_missing(&s.loglik_constant, 0, "9 intervals are too few");
    assert_int_equal(s.worse_than_constant, 0); /* although nobody would take it */
    sock_data_free(few), sock_data_free(enough);
    sock_model_free(poor), sock_model_free(model);
}

/* Equal steps leave no covariance, steps of 1e200 none that is finite; a model without a likelihood is not called
 * worse than constants. */
static void test_score__constants_without_a_density(void **state)
{
    (void)state;
    enum { N = 11 };
    double t[N], x[N], wide[N];
    fields one = {0, {1}}, bad = {NAN, {1}};
    sock_model *model = steady(1, &one), *broken = steady(1, &bad);
    sock_scores s;
    for (size_t i = 0; i < N; i++) {
        t[i] = x[i] = (double)i;
        wide[i] = (double)(i % 2) * 1e200;
    }
    sock_data *straight = line(N, t, x), *huge = line(N, t, wide), *data = zigzag(10);
    assert_int_equal(sock_score(ctx, model, straight, NULL, NULL, NULL, &s), SOCK_OK);
    is_missing(&s.loglik_constant, 0, "singular or not finite");
    assert_int_equal(s.worse_than_constant, 0);
    assert_int_equal(sock_score(ctx, model, huge, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    is_missing(&s.loglik_constant, 0, "singular or not finite");
    assert_int_equal(sock_score(ctx, broken, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    is_there(&s.loglik_constant, 10 * log_normal(1, 1));
    assert_int_equal(s.worse_than_constant, 0);
    sock_data_free(data), sock_data_free(huge), sock_data_free(straight);
    sock_model_free(broken), sock_model_free(model);
}

/* ---- Relative errors ---- */

/* The size of the truth does not matter as long as it has one: 0 has none, and 1e200 no finite square. */
static void test_score__relative_errors_of_small_and_huge_truths(void **state)
{
    (void)state;
    const double small = 1e-3;
    sock_data *data = line(3, three_t, three_x);
    fields one = {2 * small, {small}}, two = {small, {2 * small}}, zero = {0}, huge = {1e200, {1}};
    sock_model *model = steady(1, &one), *exact = steady(1, &two), *none = steady(1, &zero), *wide = steady(1, &huge);
    sock_scores s;
    assert_int_equal(sock_score(ctx, model, data, NULL, exact, NULL, &s), SOCK_OK);
    is_there(&s.re_f, 100);
    is_there(&s.re_a, 50);
    assert_int_equal(sock_score(ctx, model, data, NULL, none, NULL, &s), SOCK_PARTIAL);
    is_missing(&s.re_f, 1, "the truth is zero on the test points");
    is_missing(&s.re_a, 1, "the truth is zero on the test points");
    assert_int_equal(sock_score(ctx, wide, data, NULL, wide, NULL, &s), SOCK_PARTIAL);
    is_missing(&s.re_f, 1, "not finite on the test points");
    sock_model_free(wide), sock_model_free(none), sock_model_free(exact), sock_model_free(model);
    sock_data_free(data);
}

/* ---- MMD ---- */

/* Two trajectories over `span` from `begin` on; x from `low` and `high`. */
static sock_data *pair(double begin, double span, double low, double high)
{
    const size_t length[2] = {2, 2};
    const double t[4] = {begin, begin + span, begin, begin + span}, x[4] = {low, low, high, high};
    return data_of(1, 2, length, t, x);
}

static void test_score__the_scale_of_the_mmd(void **state)
{
    (void)state;
    fields still = {0, {0}};
    sock_model *model = steady(1, &still);
    sock_data *test = pair(0, 0.01, 0, 1), *train = pair(5, 0.5, 0, 1), *same = pair(0, 0.5, 1, 1);
    sock_data *wide = pair(0, 0.5, 0, 1e200), *single = line(1, three_t, three_x);
    sock_options *opts = option("mmd-paths", "1"), *none = option("mmd-paths", "0");
    sock_scores s;
    assert_int_equal(sock_options_set(ctx, opts, "delta", "1"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, none, "delta", "1"), SOCK_OK);
    assert_int_equal(sock_score(ctx, model, test, train, NULL, opts, &s), SOCK_OK);
    is_there(&s.mmd2, 0); /* both paths rest at their start, as the data do */
    is_missing(&s.mmd2_truth, 0, "no truth given");
    assert_true(s.mmd_pairs == 1 && s.mmd_starts == 2 && s.mmd_paths == 1 && s.mmd_lost == 0);
    assert_close(s.mmd_eta, 0.5, 1e-15, 0);
    assert_int_equal(sock_score(ctx, model, test, train, NULL, none, &s), SOCK_OK);
    is_missing(&s.mmd2, 0, "mmd-paths is 0");
    is_missing(&s.mmd2_truth, 0, "mmd-paths is 0");
    assert_int_equal(sock_score(ctx, model, test, NULL, NULL, opts, &s), SOCK_OK);
    is_missing(&s.mmd2, 0, "no training data given");
    const struct {
        const sock_data *test, *train;
        const char *reason;
    } bad[] = {{test, same, "the median distance of training trajectories is zero or not finite"},
               {test, wide, "the median distance of training trajectories is zero or not finite"},
               {test, single, "no two training trajectories share their times"},
               {single, train, "the test set has no trajectory of two points"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sock_score(ctx, model, bad[i].test, bad[i].train, NULL, opts, &s), SOCK_PARTIAL);
        is_missing(&s.mmd2, 1, bad[i].reason);
        is_missing(&s.mmd2_truth, 1, bad[i].reason);
    }
    sock_options_free(none), sock_options_free(opts);
    sock_data_free(single), sock_data_free(wide), sock_data_free(same), sock_data_free(train), sock_data_free(test);
    sock_model_free(model);
}

/* The path of a model that is not finite ends with its first step, so that any number of steps takes no time. */
static void reach(double begin, double span, const char *step, bool reached)
{
    fields bad = {NAN, {1}};
    sock_model *model = steady(1, &bad);
    sock_data *data = pair(begin, span, 0, 1);
    sock_options *opts = option("mmd-paths", "2");
    sock_scores s;
    if (step) assert_int_equal(sock_options_set(ctx, opts, "mmd-step", step), SOCK_OK);
    assert_int_equal(sock_score(ctx, model, data, data, model, opts, &s), SOCK_PARTIAL);
    if (reached) {
        assert_true(s.mmd2.valid && s.mmd2_truth.valid && s.mmd_lost == 4);
    } else {
        is_missing(&s.mmd2, 1, "inner steps of mmd-step");
        is_missing(&s.mmd2_truth, 1, "inner steps of mmd-step");
    }
    sock_options_free(opts);
    sock_data_free(data);
    sock_model_free(model);
}

/* 10^9 steps when the step was chosen, 10^6 when it is the 0.001 of the default; the clock does not count. */
static void test_score__paths_of_too_many_steps_are_out_of_reach(void **state)
{
    (void)state;
    reach(0, 1e9, "1", true);
    reach(0, 1e9 + 1, "1", false);
    reach(5e8, 6e8, "1", true);
    reach(0, 0.4, "4.656612873077393e-10", true); /* 2^-31: 8.6e8 steps, and 2.1e9 in a time of 1 */
    reach(0, 1000, NULL, true);
    reach(0, 1001, NULL, false);
}

/* The longest trajectory counts, wherever it stands. */
static void test_score__the_longest_trajectory_decides(void **state)
{
    (void)state;
    const size_t length[3] = {3, 3, 3};
    fields bad = {NAN, {1}};
    sock_model *model = steady(1, &bad);
    sock_options *opts = option("mmd-paths", "1");
    for (size_t place = 0; place < 3; place++) {
        double t[9];
        const double x[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
        for (size_t i = 0; i < 9; i++) t[i] = (double)(i % 3) * (i / 3 == place ? 501 : 1);
        sock_data *data = data_of(1, 3, length, t, x), *train = pair(0, 1, 0, 1);
        sock_scores s;
        assert_int_equal(sock_score(ctx, model, data, train, NULL, opts, &s), SOCK_PARTIAL);
        is_missing(&s.mmd2, 1, "a path takes 1e+06 inner steps");
        sock_data_free(train), sock_data_free(data);
    }
    sock_options_free(opts);
    sock_model_free(model);
}

/* ---- Paths alone ---- */

static sock_status resting_paths(void *user, const sock_path_request *q, double *out)
{
    (void)user;
    for (size_t i = 0; i < q->paths * q->times * q->d; i++) out[i] = q->x0[i % q->d];
    return SOCK_OK;
}

static void test_score_paths__fields_are_missing_without_a_caveat(void **state)
{
    (void)state;
    static const char why[] = "paths alone: there is no drift and no diffusion to score";
    const size_t length[3] = {2, 1, 3};
    const double t[6] = {0, 1, 0, 0, 1, 2}, x[6] = {0, 0, 3, 1, 1, 1};
    fields still = {0, {0}};
    sock_model *exact = steady(1, &still);
    sock_data *data = data_of(1, 3, length, t, x), *train = pair(0, 1, 0, 1), *far = pair(0, 1001, 0, 1);
    sock_options *opts = option("mmd-paths", "2");
    sock_scores s;
    assert_int_equal(sock_score_paths(ctx, resting_paths, NULL, data, train, exact, opts, &s), SOCK_OK);
    for (int m = 0; m < 2; m++)
        for (int v = LOGLIK; v <= PERPLEXITY_RAW; v++) is_missing(value_of(&s, m, v), 0, why);
    is_missing(&s.loglik_constant, 0, why);
    is_missing(&s.re_f, 0, why);
    is_missing(&s.re_a, 0, why);
    is_there(&s.mmd2, 0);
    is_there(&s.mmd2_truth, 0);
    assert_true(s.d == 1 && s.points == 6 && s.intervals == 3 && s.mmd_starts == 2);
    assert_int_equal(sock_score_paths(ctx, resting_paths, NULL, far, far, exact, opts, &s), SOCK_OK);
    is_there(&s.mmd2, 0); /* a source takes no steps; the truth would */
    is_missing(&s.mmd2_truth, 1, "a path takes 1e+06 inner steps");
    sock_options_free(opts);
    sock_data_free(far), sock_data_free(train), sock_data_free(data);
    sock_model_free(exact);
}

/* ---- What is refused ---- */

static void test_score__arguments_are_checked(void **state)
{
    (void)state;
    const size_t length = 2;
    const double t[2] = {0, 1}, x[4] = {0, 0, 1, 1};
    fields one = {0, {1}}, flat = {0, {1, 0, 0, 1}};
    sock_model *model = steady(1, &one), *other = steady(2, &flat);
    sock_data *data = line(2, t, x), *plane = data_of(2, 1, &length, t, x);
    sock_scores s;
    assert_int_equal(sock_score(NULL, model, data, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score(ctx, NULL, data, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score(ctx, model, NULL, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_score_paths(NULL, resting_paths, NULL, data, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score_paths(ctx, NULL, NULL, data, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score_paths(ctx, resting_paths, NULL, NULL, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    assert_int_equal(sock_score_paths(ctx, resting_paths, NULL, data, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_int_equal(sock_score(ctx, model, plane, NULL, NULL, NULL, &s), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "the model has 1 states, the test data"));
    assert_int_equal(sock_score(ctx, model, data, plane, NULL, NULL, &s), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "the model has 1 states, the training data"));
    assert_int_equal(sock_score(ctx, model, data, NULL, other, NULL, &s), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "the model has 1 states, the truth 2"));
    sock_data_free(plane), sock_data_free(data);
    sock_model_free(other), sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score__values_without_and_with_a_truth),
        cmocka_unit_test(test_score__what_hangs_on_a_missing_likelihood_is_missing),
        cmocka_unit_test(test_score__delta_makes_a_noiseless_model_regular),
        cmocka_unit_test(test_score__without_an_interval_and_without_finite_numbers),
        cmocka_unit_test(test_score__a_perplexity_that_overflows),
        cmocka_unit_test(test_score__a_column_at_rest_is_named),
        cmocka_unit_test(test_score__long_names_are_cut_between_characters),
        cmocka_unit_test(test_score__a_model_behind_the_constants_by_four_nats_is_worse),
        cmocka_unit_test(test_score__constants_in_two_dimensions_are_five_numbers),
        cmocka_unit_test(test_score__constants_need_ten_steps),
        cmocka_unit_test(test_score__constants_without_a_density),
        cmocka_unit_test(test_score__relative_errors_of_small_and_huge_truths),
        cmocka_unit_test(test_score__the_scale_of_the_mmd),
        cmocka_unit_test(test_score__paths_of_too_many_steps_are_out_of_reach),
        cmocka_unit_test(test_score__the_longest_trajectory_decides),
        cmocka_unit_test(test_score_paths__fields_are_missing_without_a_caveat),
        cmocka_unit_test(test_score__arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
