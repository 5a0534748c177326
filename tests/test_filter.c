/* test_filter.c - filter and smoother against an independent program, against the exact law of a linear system, and at
 * both ends of the noise. */
#include "noisecases.h"
#include "score/score.h"
#include "tune/policy.h"
#include "wells.h"

/* ---- The oracle ---- */

static void test_filter__agrees_with_the_oracle(void **state)
{
    (void)state;
    example e;
    sk_pass pass;
    double m[64], p[128], gain[128];
    const sk_smoothed smoothed = {m, p, gain};
    example_init(&e);
    assert_int_equal(sk_pass_new(ctx, &e.series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &e.series, &e.spec, &pass), SOCK_OK);
    assert_int_equal(sk_smooth(ctx, &e.series, &pass, &smoothed), SOCK_OK);
    for (size_t j = 0; j < 2; j++) {
        json_t *one = json_array_get(e.list, j);
        const size_t step = e.series.first[j], point = step + j;
        double sum = 0;
        for (size_t i = step; i < e.series.first[j + 1]; i++) sum += pass.term[i];
        assert_close(sum, json_number_value(json_object_get(one, "loglik")), 1e-11, 1);
        compare(one, "filtered_mean", pass.m + 2 * point);
        compare(one, "filtered_cov", pass.p + 4 * point);
        compare(one, "predicted_mean", pass.mean + 2 * step);
        compare(one, "predicted_cov", pass.cov + 4 * step);
        compare(one, "J", pass.slope + 4 * step);
        compare(one, "smoothed_mean", m + 2 * point);
        compare(one, "smoothed_cov", p + 4 * point);
        compare(one, "gain", gain + 4 * step);
    }
    sk_pass_clear(&pass);
    example_clear(&e);
}

/* ---- Ends of the noise ---- */

static double sum_of(const example *e, const sk_filter_spec *spec)
{
    sk_pass pass;
    assert_int_equal(sk_pass_new(ctx, &e->series, false, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &e->series, spec, &pass), SOCK_OK);
    const double sum = sk_pass_sum(&e->series, &pass);
    sk_pass_clear(&pass);
    return sum;
}

static void test_filter__without_noise_it_is_the_likelihood_by_moments(void **state)
{
    (void)state;
    example e;
    sk_loglik by_moments;
    example_init(&e);
    sk_filter_spec spec = e.spec;
    spec.noise = NULL;
    spec.flow.substeps.count = 64;
    assert_int_equal(sk_moment_likelihood(ctx, spec.model, e.data, 0, &by_moments), SOCK_OK);
    assert_close(sum_of(&e, &spec), by_moments.value, 2e-2, 1); /* other points: the laws agree to third order */
    example_clear(&e);
}

/* Step by step, from the moments of the same flow. */
static void prop_filter__without_noise_a_step_is_normal_with_the_moments_of_its_flow(void **state)
{
    (void)state;
    example e;
    sk_pass pass;
    sk_flow *flow = NULL;
    sk_sampler *sampler = NULL;
    example_init(&e);
    const sk_series *s = &e.series;
    const sk_flow_spec spec = {{4, true}, oracle_reach, NULL, NULL};
    e.spec.noise = NULL;
    e.spec.flow = spec;
    assert_int_equal(sk_sampler_new(ctx, e.model, &sampler), SOCK_OK);
    assert_int_equal(sk_flow_new(ctx, e.model, sampler, &spec, s->steps, &flow), SOCK_OK);
    assert_int_equal(sk_pass_new(ctx, s, false, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, s, &e.spec, &pass), SOCK_OK);
    double m[16], v[32], j[32];
    assert_true(s->steps <= 8);
    sk_flow_run(ctx, flow, &(sk_flow_starts){s->steps, s->y, NULL, s->h},
                &(sk_flow_ends){.mean = m, .cov = v, .slope = j});
    for (size_t i = 0; i < s->steps; i++) {
        const double *c = v + 4 * i, det = c[0] * c[3] - c[1] * c[2];
        const double x = s->next[2 * i] - m[2 * i], y = s->next[2 * i + 1] - m[2 * i + 1];
        const double square = (c[3] * x * x - 2 * c[1] * x * y + c[0] * y * y) / det;
        assert_close(pass.term[i], -log(2 * acos(-1)) - 0.5 * (log(det) + square), 1e-12, 1);
    }
    sk_pass_clear(&pass);
    sk_flow_free(flow);
    sk_sampler_free(sampler);
    example_clear(&e);
}

/* Two states that do not know each other, with errors that do not either: the sum of one state at a time. */
static void prop_filter__of_independent_states_is_the_sum_of_theirs(void **state)
{
    (void)state;
    example e;
    sk_pass both, one;
    const double noise[] = {0.02, 0, 0, 0.05};
    double y[16], next[16];
    example_init(&e);
    sock_model *pair = wrap_fields(ctx, 2, wells, growing, NULL), *single = wrap_fields(ctx, 1, wells, growing, NULL);
    const sk_filter_spec spec = {pair, noise, {{4, false}, oracle_reach, NULL, NULL}, NULL};
    assert_int_equal(sk_pass_new(ctx, &e.series, false, &both), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &e.series, &spec, &both), SOCK_OK);
    for (size_t k = 0; k < 2; k++) {
        sk_series alone = e.series;
        for (size_t i = 0; i < alone.steps; i++) {
            y[i] = e.series.y[2 * i + k];
            next[i] = e.series.next[2 * i + k];
        }
        alone.d = 1;
        alone.y = y;
        alone.next = next;
        const sk_filter_spec its = {single, noise + 3 * k, {{4, false}, oracle_reach + k, NULL, NULL}, NULL};
        assert_int_equal(sk_pass_new(ctx, &alone, false, &one), SOCK_OK);
        assert_int_equal(sk_filter(ctx, &alone, &its, &one), SOCK_OK);
        for (size_t i = 0; i < alone.steps; i++) both.term[i] -= one.term[i];
        sk_pass_clear(&one);
    }
    for (size_t i = 0; i < e.series.steps; i++) assert_close(both.term[i], 0, 1e-11, 1);
    sk_pass_clear(&both);
    sock_model_free(pair);
    sock_model_free(single);
    example_clear(&e);
}

static void test_smooth__without_noise_states_are_what_was_observed(void **state)
{
    (void)state;
    example e;
    sk_pass pass;
    double m[64], p[128];
    example_init(&e);
    e.spec.noise = NULL;
    assert_int_equal(sk_pass_new(ctx, &e.series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &e.series, &e.spec, &pass), SOCK_OK);
    assert_int_equal(sk_smooth(ctx, &e.series, &pass, &(sk_smoothed){m, p, NULL}), SOCK_OK);
    assert_all_close(2 * e.data->points, m, e.data->x, 1e-13);
    for (size_t i = 0; i < 4 * e.data->points; i++) assert_close(p[i], 0, 1e-14, 1);
    sk_pass_clear(&pass);
    example_clear(&e);
}

static void rest(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    memset(out, 0, count * d * sizeof *out);
}

/* A state that never moves is known as the mean of what was seen of it is, at every time. */
static void test_smooth__a_state_at_rest_is_the_mean_of_its_observations(void **state)
{
    (void)state;
    const double y[] = {1, 3, 2}, next[] = {3, 2, 6}, h[] = {1, 0.5, 2}, noise = 0.4, reach = 1e-9;
    const size_t first[] = {0, 3};
    const sk_series series = {1, 3, 1, first, y, next, h, {0}};
    sock_model *model = wrap_fields(ctx, 1, rest, rest, NULL);
    const sk_filter_spec spec = {model, &noise, {{1, false}, &reach, NULL, NULL}, NULL};
    sk_pass pass;
    double m[4], p[4];
    assert_int_equal(sk_pass_new(ctx, &series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &series, &spec, &pass), SOCK_OK);
    assert_int_equal(sk_smooth(ctx, &series, &pass, &(sk_smoothed){m, p, NULL}), SOCK_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_close(m[i], 3, 1e-12, 1);
        assert_close(p[i], 0.1, 1e-12, 1);
    }
    sk_pass_clear(&pass);
    sock_model_free(model);
}

/* Three states that never move, seen with errors that have to do with each other: after k observations their mean, with
 * R / k, so that the next one has the variance (1 + 1/k) R. A run of one step stands before one of three. */
static void test_filter__three_states_at_rest_are_means_of_their_observations(void **state)
{
    (void)state;
    enum { D = 3, STEPS = 4 };
    static const size_t first[] = {0, 1, 4};
    const double r[D * D] = {0.5, 0.2, -0.1, 0.2, 0.4, 0.15, -0.1, 0.15, 0.3}, reach[D] = {1e-9, 1e-9, 1e-9};
    const double inverse_of_r[D * D] = {0.0975, -0.075, 0.07, -0.075, 0.14, -0.095, 0.07, -0.095, 0.16}; /* times det */
    const double det = 0.5 * 0.0975 - 0.2 * 0.075 - 0.1 * 0.07;
    double y[D * STEPS], next[D * STEPS], h[STEPS] = {1, 0.5, 2, 1}, sum[D] = {0}, count = 1;
    for (size_t i = 0; i < STEPS; i++)
        for (size_t l = 0; l < D; l++) {
            y[D * i + l] = i < 2 ? cos((double)(i + 3 * l)) : next[D * (i - 1) + l];
            next[D * i + l] = sin((double)(2 * i + l));
        }
    const sk_series series = {D, STEPS, 2, first, y, next, h, {0}};
    sock_model *model = wrap_fields(ctx, D, rest, rest, NULL);
    const sk_filter_spec spec = {model, r, {{1, false}, reach, NULL, NULL}, NULL};
    sk_pass pass;
    assert_int_equal(sk_pass_new(ctx, &series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &series, &spec, &pass), SOCK_OK);
    for (size_t i = 0; i < STEPS; i++) {
        const size_t point = i + 1 + (i > 0);
        const bool begins = i < 2;
        double quadratic = 0, e[D];
        count = begins ? 1 : count;
        for (size_t l = 0; l < D; l++) {
            sum[l] = begins ? y[D * i + l] : sum[l];
            e[l] = next[D * i + l] - sum[l] / count;
        }
        const double wider = 1 + 1 / count;
        for (size_t k = 0; k < D * D; k++) quadratic += e[k / D] * inverse_of_r[k] / det / wider * e[k % D];
        assert_close(pass.term[i], -0.5 * (quadratic + D * log(2 * acos(-1) * wider) + log(det)), 1e-12, 1);
        for (size_t l = 0; l < D; l++) sum[l] += next[D * i + l];
        count++;
        for (size_t l = 0; l < D; l++) assert_close(pass.m[D * point + l], sum[l] / count, 1e-13, 1);
        for (size_t k = 0; k < D * D; k++) assert_close(pass.p[D * D * point + k], r[k] / count, 1e-13, 1);
    }
    sk_pass_clear(&pass);
    sock_model_free(model);
}

/* ---- A linear system: the exact likelihood ---- */

static void relax(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void unit(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 1;
}

/* Kalman's filter of dx = -x dt + dW seen with variance r, written out. */
static double exact(size_t n, const double *t, const double *y, double r)
{
    double m = y[0], p = r, sum = 0;
    for (size_t i = 1; i < n; i++) {
        const double decay = exp(-(t[i] - t[i - 1])), v = (1 - decay * decay) / 2;
        m *= decay;
        p = decay * decay * p + v;
        const double s = p + r, e = y[i] - m;
        sum -= 0.5 * (log(2 * acos(-1) * s) + e * e / s);
        m += p / s * e;
        p = p * r / s;
    }
    return sum;
}

static void test_filter__is_exact_for_a_linear_system(void **state)
{
    (void)state;
    enum { N = 30 };
    double t[N] = {0}, y[N], u[N];
    const size_t length = N;
    const double r = 0.2;
    sock_data *data = NULL;
    sk_series series;
    sk_frame frame;
    sk_pass pass;
    sk_uniforms((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, N, u);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 1, 0, 0, N, y);
    for (size_t i = 1; i < N; i++) t[i] = t[i - 1] + 0.1 + 0.6 * u[i];
    assert_true(sock_data_from_arrays(ctx, 1, 1, &length, t, y, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_series_of_data(ctx, data, &series), SOCK_OK);
    assert_int_equal(sk_frame_new(ctx, &series, &frame), SOCK_OK);
    assert_int_equal(sk_pass_new(ctx, &series, false, &pass), SOCK_OK);
    sock_model *model = wrap_fields(ctx, 1, relax, unit, NULL);
    const sk_filter_spec spec = {model, &r, {{64, false}, frame.reach, frame.low, frame.high}, NULL};
    assert_int_equal(sk_filter(ctx, &series, &spec, &pass), SOCK_OK);
    assert_close(sk_pass_sum(&series, &pass), exact(N, t, y, r), 1e-4, 1);
    sock_model_free(model);
    sk_pass_clear(&pass);
    sk_frame_clear(&frame);
    sk_series_clear(&series);
    sock_data_free(data);
}

/* ---- Order, threads, lost laws ---- */

enum { RUNS = 70, STEPS = 9 };

static sock_data *walks(bool backwards)
{
    size_t length[RUNS], point = 0;
    static double t[RUNS * STEPS], x[2 * RUNS * STEPS];
    sock_data *data = NULL;
    for (size_t j = 0; j < RUNS; j++) {
        const size_t name = backwards ? RUNS - 1 - j : j;
        length[j] = 1 + name % STEPS;
        sk_normals((sk_key){8, SK_PURPOSE_TEST}, name, 0, 0, 2 * length[j], x + 2 * point);
        for (size_t i = 0; i < length[j]; i++) t[point++] = 0.2 * (double)i;
    }
    assert_true(sock_data_from_arrays(ctx, 2, RUNS, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

static double walk_sum(bool backwards, int threads)
{
    const double noise[] = {0.1, 0.02, 0.02, 0.2};
    sock_data *data = walks(backwards);
    sk_series series;
    sk_pass pass;
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    const sk_filter_spec spec = {model, noise, {{2, true}, oracle_reach, NULL, NULL}, NULL};
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    assert_int_equal(sk_series_of_data(ctx, data, &series), SOCK_OK);
    assert_int_equal(sk_pass_new(ctx, &series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &series, &spec, &pass), SOCK_OK);
    const double sum = sk_pass_sum(&series, &pass);
    sk_pass_clear(&pass);
    sk_series_clear(&series);
    sock_data_free(data);
    sock_model_free(model);
    return sum;
}

static void prop_filter__order_and_threads_do_not_matter(void **state)
{
    (void)state;
    const double sum = walk_sum(false, 1);
    assert_true(isfinite(sum));
    assert_true(walk_sum(false, 3) == sum);
    assert_close(walk_sum(true, 2), sum, 1e-12, 1);
}

static void blow_up(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] > 5 ? (double)INFINITY : -x[i];
}

/* The step from 6 is lost; the one after it begins at the observation, as if nothing had been before. */
static void test_filter__a_lost_law_starts_again(void **state)
{
    (void)state;
    const double y[] = {6, 1, 0.5}, next[] = {1, 0.5, 0.2}, h[] = {0.1, 0.1, 0.1}, noise = 0.1, reach = 1e-3;
    const size_t first[] = {0, 3}, later[] = {0, 2};
    const sk_series whole = {1, 3, 1, first, y, next, h, {0}}, rest = {1, 2, 1, later, y + 1, next + 1, h + 1, {0}};
    sock_model *model = wrap_fields(ctx, 1, blow_up, unit, NULL);
    const sk_filter_spec spec = {model, &noise, {{1, false}, &reach, NULL, NULL}, NULL};
    sk_pass a, b;
    double m[4], p[4];
    assert_int_equal(sk_pass_new(ctx, &whole, true, &a), SOCK_OK);
    assert_int_equal(sk_pass_new(ctx, &rest, true, &b), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &whole, &spec, &a), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &rest, &spec, &b), SOCK_OK);
    assert_true(a.lost[0] && !a.lost[1] && a.term[0] == SK_STEP_LEAST);
    assert_memory_equal(a.term + 1, b.term, 2 * sizeof(double));
    assert_int_equal(sk_smooth(ctx, &whole, &a, &(sk_smoothed){m, p, NULL}), SOCK_OK);
    assert_true(m[0] == 6 && p[0] == 0.1 && isfinite(m[1]) && isfinite(m[3]));
    sk_pass_clear(&a);
    sk_pass_clear(&b);
    sock_model_free(model);
}

static void test_filter__a_step_counts_at_least_so_much(void **state)
{
    (void)state;
    const double y = 0, next = 1e4, h = 0.1, reach = 1e-3;
    const size_t first[] = {0, 1};
    const sk_series series = {1, 1, 1, first, &y, &next, &h, {0}};
    sock_model *model = wrap_fields(ctx, 1, relax, unit, NULL);
    const sk_filter_spec spec = {model, NULL, {{1, false}, &reach, NULL, NULL}, NULL};
    double term;
    unsigned char lost;
    assert_int_equal(sk_filter(ctx, &series, &spec, &(sk_pass){.term = &term, .lost = &lost}), SOCK_OK);
    assert_true(term == SK_STEP_LEAST && !lost);
    sock_model_free(model);
}

/* ---- Series ---- */

static void test_frame__is_that_of_the_data(void **state)
{
    (void)state;
    const double y[] = {0, 5, 1, 5}, next[] = {1, 5, 3, 5}, h[] = {1, 1};
    const size_t first[] = {0, 2};
    const sk_series series = {2, 2, 1, first, y, next, h, {0}};
    sk_frame frame;
    assert_int_equal(sk_frame_new(ctx, &series, &frame), SOCK_OK);
    assert_close(frame.low[0], -1.5, 1e-15, 1);
    assert_close(frame.high[0], 4.5, 1e-15, 1);
    assert_close(frame.reach[0], 1e-3 * sqrt((1.25 * 1.25 + 2 * 0.0625 + 1.75 * 1.75) / 4), 1e-12, 1e-3);
    assert_close(frame.reach[1], 5e-3, 1e-12, 1e-3); /* it never moves */
    sk_frame_clear(&frame);
}

static sock_status whole_way(sock_context *context, void *arg)
{
    const example *e = arg;
    sk_series series = {0};
    sk_frame frame = {0};
    sk_pass pass = {0};
    double m[64], p[128];
    sk_substeps substeps;
    sock_status status;
    SK_GO(sk_series_of_data(context, e->data, &series));
    SK_GO(sk_frame_new(context, &series, &frame));
    SK_GO(sk_series_substeps(context, &series, &e->spec, (sk_substeps){1, false}, &substeps));
    SK_GO(sk_pass_new(context, &series, true, &pass));
    SK_GO(sk_filter(context, &series, &e->spec, &pass));
    SK_GO(sk_smooth(context, &series, &pass, &(sk_smoothed){m, p, NULL}));
out:
    sk_pass_clear(&pass);
    sk_frame_clear(&frame);
    sk_series_clear(&series);
    return status;
}

static void test_filter__memory_may_end_anywhere(void **state)
{
    (void)state;
    example e;
    example_init(&e);
    assert_true(for_single_allocations(ctx, whole_way, &e) > 20);
    example_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter__agrees_with_the_oracle),
        cmocka_unit_test(test_filter__without_noise_it_is_the_likelihood_by_moments),
        cmocka_unit_test(prop_filter__without_noise_a_step_is_normal_with_the_moments_of_its_flow),
        cmocka_unit_test(prop_filter__of_independent_states_is_the_sum_of_theirs),
        cmocka_unit_test(test_smooth__without_noise_states_are_what_was_observed),
        cmocka_unit_test(test_smooth__a_state_at_rest_is_the_mean_of_its_observations),
        cmocka_unit_test(test_filter__three_states_at_rest_are_means_of_their_observations),
        cmocka_unit_test(test_filter__is_exact_for_a_linear_system),
        cmocka_unit_test(prop_filter__order_and_threads_do_not_matter),
        cmocka_unit_test(test_filter__a_lost_law_starts_again),
        cmocka_unit_test(test_filter__a_step_counts_at_least_so_much),
        cmocka_unit_test(test_frame__is_that_of_the_data),
        cmocka_unit_test(test_filter__memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
