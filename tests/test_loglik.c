/* test_loglik.c - the likelihood and the perplexities: oracle, a slow computation, singular covariances. */
#include "onecontext.h"
#include "oracle.h"
#include "score/score.h"
#include "truths.h"

/* The oracle's model: f = x - x^3 componentwise, a = 0.1 I + 0.2 x x'. */
static void cubic_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] - x[i] * x[i] * x[i];
}

static void dyad_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++)
            a[i * d * d + k] = 0.2 * x[i * d + k / d] * x[i * d + k % d] + (k % (d + 1) ? 0 : 0.1);
}

static void test_loglik__oracle(void **state)
{
    (void)state;
    json_t *root = oracle_load("loglik.json");
    sock_data *data = read_data(ctx, "diff_linear.csv", "group", "x0,x1");
    sock_model *model = wrap_fields(ctx, 2, cubic_drift, dyad_diffusion, NULL);
    sock_options *opts = sock_options_new(ctx);
    sock_scores s;
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, opts, &s), SOCK_OK);
    assert_int_equal(s.intervals, json_integer_value(json_object_get(root, "n_steps")));
    assert_true(s.loglik.valid && s.perplexity_raw.valid && !s.perplexity.valid && !s.mmd2.valid && !s.re_f.valid);
    assert_close(s.loglik.value, json_number_value(json_object_get(root, "loglik_delta0")), 1e-12, 0);
    assert_close(s.perplexity_raw.value, json_number_value(json_object_get(root, "Pprime_delta0")), 1e-12, 0);
    assert_int_equal(sock_options_set(ctx, opts, "delta", "1e-3"), SOCK_OK);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, opts, &s), SOCK_OK);
    assert_close(s.loglik.value, json_number_value(json_object_get(root, "loglik_delta1em3")), 1e-12, 0);
    sock_options_free(opts);
    sock_model_free(model);
    sock_data_free(data);
    json_decref(root);
}

/* Trajectories of different lengths and irregular times, one of them a single point; more points than one block. In one
 * dimension the density is written out. */
static void test_loglik__slow_sum_in_one_dimension(void **state)
{
    (void)state;
    enum { TRAJECTORIES = 40, MOST = 40 };
    size_t length[TRAJECTORIES], points = 0;
    static double t[TRAJECTORIES * MOST], x[TRAJECTORIES * MOST];
    double expected = 0, intervals = 0;
    for (size_t j = 0; j < TRAJECTORIES; j++) {
        length[j] = j % MOST + 1;
        double u[MOST];
        sk_uniforms((sk_key){1, SK_PURPOSE_TEST}, j, 0, 0, length[j], u);
        for (size_t i = 0; i < length[j]; i++, points++) {
            t[points] = i ? t[points - 1] + 0.01 + u[i] : 0;
            x[points] = 2 * u[i] - 0.7;
            if (!i) continue;
            double h = t[points] - t[points - 1], y = x[points - 1], s = 0.09 * y * y * h + 0.05;
            double e = x[points] - y - h * y;
            expected += -0.5 * log(2 * acos(-1) * s) - e * e / (2 * s);
            intervals++;
        }
    }
    sock_data *data = NULL;
    truth gbm = truth_of(ctx, "gbm");
    sk_loglik l;
    assert_true(sock_data_from_arrays(ctx, 1, TRAJECTORIES, length, t, x, NULL, NULL, NULL, &data) >= 0);
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sk_log_likelihood(ctx, gbm.model, data, 0.05, &l), SOCK_OK);
        assert_true((double)l.intervals == intervals && !l.singular && !l.broken);
        assert_close(l.value, expected, 1e-13, 0);
    }
    truth_free(gbm);
    sock_data_free(data);
}

/* P of the truth is 100; P P'_truth = 100 P'. A model that is worse has P > 100: exactly, from the two sums. */
static void prop_loglik__perplexities_fit_together(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou"), well = truth_of(ctx, "doublewell");
    sock_data *test = NULL;
    sock_scores own, other;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sock_score(ctx, ou.model, test, NULL, ou.model, NULL, &own), SOCK_OK);
    assert_int_equal(sock_score(ctx, well.model, test, NULL, ou.model, NULL, &other), SOCK_OK);
    assert_int_equal(own.intervals, 20 * 100);
    assert_true(own.perplexity.value == 100);
    assert_true(other.perplexity.value > 105);
    assert_close(other.perplexity.value, 100 * exp((own.loglik.value - other.loglik.value) / 2000), 1e-13, 0);
    assert_close(other.perplexity.value * own.perplexity_raw.value, 100 * other.perplexity_raw.value, 1e-12, 0);
    assert_true(other.loglik_truth.value == own.loglik.value);
    sock_data_free(test);
    truth_free(well);
    truth_free(ou);
}

/* a of rank one in two dimensions: no likelihood without delta, and it says on how many intervals; with delta it is the
 * Gaussian of covariance h a + delta I, here by the determinant and inverse of a 2 x 2 matrix. */
static void test_loglik__singular_a_is_not_a_number_until_delta(void **state)
{
    (void)state;
    truth dense = truth_of(ctx, "dense");
    sock_data *test = NULL;
    sock_options *opts = sock_options_new(ctx);
    sock_scores s;
    assert_int_equal(sys_generate(ctx, dense.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sock_score(ctx, dense.model, test, NULL, dense.model, opts, &s), SOCK_PARTIAL);
    assert_false(s.loglik.valid || s.perplexity.valid || s.perplexity_raw.valid);
    assert_true(s.loglik.failed && s.loglik.value == 0 && s.singular == 200);
    assert_non_null(strstr(s.loglik.reason, "200 of 200"));
    assert_non_null(strstr(sock_message(ctx), "loglik"));
    assert_int_equal(sock_options_set(ctx, opts, "delta", "0.001"), SOCK_OK);
    assert_int_equal(sock_score(ctx, dense.model, test, NULL, dense.model, opts, &s), SOCK_OK);
    double expected = 0;
    for (size_t j = 0; j < 20; j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(test, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++, x += 2) {
            double a[4], h = t[i + 1] - t[i], e[2] = {x[2] - x[0] - h * x[0], x[3] - x[1] - h * x[1]};
            dense.instance->system->diffusion(dense.instance, 1, 2, x, a);
            double p = h * a[0] + 1e-3, q = h * a[1], r = h * a[3] + 1e-3, det = p * r - q * q;
            double form = (r * e[0] * e[0] - 2 * q * e[0] * e[1] + p * e[1] * e[1]) / det;
            expected -= log(2 * acos(-1)) + 0.5 * log(det) + 0.5 * form;
        }
    }
    assert_true(s.loglik.valid);
    assert_close(s.loglik.value, expected, 1e-12, 0);
    sock_options_free(opts);
    sock_data_free(test);
    truth_free(dense);
}

/* A model of the drift alone leaves N(y + h f, delta I): |e|^2 is enough. More intervals than one block has, of which
 * the later ones find what the earlier ones left in the same memory. */
static void test_loglik__without_diffusion_delta_is_the_covariance(void **state)
{
    (void)state;
    enum { D = 3, POINTS = 700 };
    static double t[POINTS], x[POINTS * D];
    const double delta = 0.3;
    const size_t length[1] = {POINTS};
    double expected = 0;
    sk_uniforms((sk_key){2, SK_PURPOSE_TEST}, 0, 0, 0, (size_t)POINTS * D, x);
    for (size_t i = 1; i < POINTS; i++) {
        t[i] = t[i - 1] + (i % 3 ? 0.5 : 0.1);
        for (size_t k = 0; k < D; k++) {
            const double y = x[(i - 1) * D + k], e = x[i * D + k] - y - (t[i] - t[i - 1]) * (y - y * y * y);
            expected -= 0.5 * log(2 * acos(-1) * delta) + e * e / (2 * delta);
        }
    }
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, D, cubic_drift, NULL, NULL);
    sk_loglik l;
    assert_true(sock_data_from_arrays(ctx, D, 1, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    assert_int_equal(sk_log_likelihood(ctx, model, data, delta, &l), SOCK_OK);
    assert_true(l.intervals == POINTS - 1 && !l.singular && !l.broken);
    assert_close(l.value, expected, 1e-13, 0);
    sock_model_free(model);
    sock_data_free(data);
}

static void bad_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = x[i] > 0 ? (double)NAN : 0;
}

static void test_loglik__missing_pieces_have_reasons(void **state)
{
    (void)state;
    const size_t length[2] = {1, 3};
    const double t[4] = {0, 0, 1, 2}, x[4] = {5, -1, 1, -1};
    truth ou = truth_of(ctx, "ou");
    sock_model *bare = wrap_fields(ctx, 1, ou.instance->system->drift, NULL, ou.instance);
    sock_model *bad = wrap_fields(ctx, 1, bad_drift, ou.instance->system->diffusion, ou.instance);
    sock_data *data = NULL, *single = NULL;
    sock_scores s;
    assert_true(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_true(sock_data_from_arrays(ctx, 1, 1, length, t, x, NULL, NULL, NULL, &single) >= 0);
    assert_int_equal(sock_score(ctx, bare, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.loglik.reason, "no diffusion"));
    assert_int_equal(sock_score(ctx, bad, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.loglik.reason, "not finite on 1 of 2"));
    assert_int_equal(sock_score(ctx, ou.model, single, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.loglik.reason, "no interval"));
    truth dense = truth_of(ctx, "dense");
    assert_int_equal(sock_score(ctx, dense.model, data, NULL, NULL, NULL, &s), SOCK_EINPUT);
    assert_int_equal(sock_score(ctx, ou.model, data, NULL, dense.model, NULL, &s), SOCK_EINPUT);
    assert_int_equal(sock_score(ctx, ou.model, NULL, NULL, NULL, NULL, &s), SOCK_EUSAGE);
    truth_free(dense);
    sock_data_free(single);
    sock_data_free(data);
    sock_model_free(bad);
    sock_model_free(bare);
    truth_free(ou);
}

/* Constant f (2) and a (2 x 2), one after the other in user. */
static void steady_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)x;
    for (size_t i = 0; i < count * d; i++) f[i] = ((const double *)user)[i % d];
}

static void steady_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = ((const double *)user)[d + i % (d * d)];
}

static double steady_loglik(double *constants, const sock_data *data, sock_scores *s)
{
    sock_model *model = wrap_fields(ctx, 2, steady_drift, steady_diffusion, constants);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, s), SOCK_OK);
    sock_model_free(model);
    return s->loglik.value;
}

/* Correlated states, irregular times, three trajectories: loglik_constant is that of a model with the constants of the
 * formula, and no other constants do better. */
static void prop_loglik__no_constants_beat_loglik_constant(void **state)
{
    (void)state;
    enum { N = 60 };
    const size_t length[3] = {25, 5, 30};
    double t[N], x[2 * N], u[N], z[2 * N], constants[6] = {0}, time = 0;
    sock_data *data = NULL;
    sock_scores s, other;
    sk_uniforms((sk_key){5, SK_PURPOSE_TEST}, 1, 0, 0, N, u);
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 2, 0, 0, 2 * N, z);
    for (size_t i = 0; i < N; i++) {
        bool begins = i == 0 || i == 25 || i == 30;
        double h = begins ? 0 : 0.1 + u[i];
        t[i] = begins ? u[i] : t[i - 1] + h;
        x[2 * i] = begins ? z[2 * i] : x[2 * i - 2] + 0.4 * h + sqrt(h) * z[2 * i];
        x[2 * i + 1] = begins ? z[2 * i + 1] : x[2 * i - 1] - 0.2 * h + sqrt(h) * (0.6 * z[2 * i] + 0.8 * z[2 * i + 1]);
        time += h;
        for (size_t k = 0; !begins && k < 2; k++) constants[k] += x[2 * i + k] - x[2 * i - 2 + k];
    }
    for (size_t k = 0; k < 2; k++) constants[k] /= time;
    for (size_t i = 1; i < N; i++) {
        double h = t[i] - t[i - 1], e[2];
        for (size_t k = 0; k < 2; k++) e[k] = x[2 * i + k] - x[2 * i - 2 + k] - h * constants[k];
        for (size_t k = 0; i != 25 && i != 30 && k < 4; k++) constants[2 + k] += e[k / 2] * e[k % 2] / (h * (N - 3));
    }
    assert_true(sock_data_from_arrays(ctx, 2, 3, length, t, x, NULL, NULL, NULL, &data) >= 0);
    double best = steady_loglik(constants, data, &s);
    assert_true(s.loglik_constant.valid && !s.worse_than_constant);
    assert_close(s.loglik_constant.value, best, 1e-12, fabs(best));
    for (size_t k = 0; k < 6; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double near[6];
            memcpy(near, constants, sizeof near);
            near[k] += sign * 0.01 * fabs(constants[k]);
            if (k == 3 || k == 4) near[7 - k] = near[k]; /* a stays symmetric */
            assert_true(steady_loglik(near, data, &other) < best);
            assert_true(other.loglik_constant.value == s.loglik_constant.value && !other.worse_than_constant);
        }
    for (size_t k = 2; k < 6; k++) constants[k] *= 3; /* 57 (log 3 - 2/3) = 24.6 nats behind, 7 are allowed */
    assert_close(best - steady_loglik(constants, data, &other), 57 * (log(3) - 2.0 / 3), 1e-10, 1);
    assert_true(other.worse_than_constant);
    sock_data_free(data);
}

/* dx = -x dt + sqrt 2 dW in steps of 3: Euler's step overshoots to -2 x and loses to constants, but the model is right,
 * and its moments know it. */
static void relaxing_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void test_loglik__a_good_model_of_long_steps_is_not_worse_than_constants(void **state)
{
    (void)state;
    enum { N = 200 };
    double t[N], x[N], z[N], a = 2;
    const size_t length = N, few = 4;
    double constant_a[2] = {0, a};
    sock_data *data = NULL, *short_one = NULL;
    sock_scores s;
    sk_normals((sk_key){6, SK_PURPOSE_TEST}, 1, 0, 0, N, z);
    for (size_t i = 0; i < N; i++) {
        t[i] = 3 * (double)i;
        x[i] = i ? exp(-3) * x[i - 1] + sqrt(1 - exp(-6)) * z[i] : z[0];
    }
    assert_true(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_true(sock_data_from_arrays(ctx, 1, 1, &few, t, x, NULL, NULL, NULL, &short_one) >= 0);
    sock_model *model = wrap_fields(ctx, 1, relaxing_drift, steady_diffusion, constant_a);
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_OK);
    assert_true(s.loglik.value < s.loglik_constant.value - 50 && s.loglik_moments.value > s.loglik_constant.value + 50);
    assert_false(s.worse_than_constant);
    assert_int_equal(sock_score(ctx, model, short_one, NULL, NULL, NULL, &s), SOCK_OK);
    assert_true(!s.loglik_constant.valid && !s.loglik_constant.failed && !s.worse_than_constant);
    assert_non_null(strstr(s.loglik_constant.reason, "3 intervals are too few"));
    sock_model_free(model);
    sock_data_free(data), sock_data_free(short_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loglik__oracle),
        cmocka_unit_test(test_loglik__slow_sum_in_one_dimension),
        cmocka_unit_test(prop_loglik__perplexities_fit_together),
        cmocka_unit_test(test_loglik__singular_a_is_not_a_number_until_delta),
        cmocka_unit_test(test_loglik__without_diffusion_delta_is_the_covariance),
        cmocka_unit_test(test_loglik__missing_pieces_have_reasons),
        cmocka_unit_test(prop_loglik__no_constants_beat_loglik_constant),
        cmocka_unit_test(test_loglik__a_good_model_of_long_steps_is_not_worse_than_constants),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
