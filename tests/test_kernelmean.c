/* Means of neighbours: the formula by hand, the edges, the choice of the bandwidth, hard inputs. */
#include "compare/kernelmean.h"
#include "rivalcases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

/* Random steps in d dimensions from `trajectories` of eleven points. */
static cmp_steps *random_steps(size_t d, size_t trajectories)
{
    size_t points = 11 * trajectories, *length = calloc(trajectories, sizeof *length);
    double *t = calloc(points, sizeof *t), *x = calloc(points * d, sizeof *x);
    sock_data *data = NULL;
    cmp_steps *steps = NULL;
    sk_normals((sk_key){11, SK_PURPOSE_TEST}, d, 0, 0, points * d, x);
    for (size_t j = 0; j < trajectories; j++) length[j] = 11;
    for (size_t i = 0; i < points; i++) t[i] = 0.1 * (double)(i % 11) + 0.02 * (double)(i % 11 % 3);
    for (size_t i = 0; i < points; i++)
        for (size_t k = 0; k < d; k++)
            x[i * d + k] = 0.2 * x[i * d + k] + (i % 11 ? x[(i - 1) * d + k] : sin((double)(i * (k + 3))));
    assert_int_equal(sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(cmp_steps_new(ctx, data, &steps), SOCK_OK);
    sock_data_free(data);
    free(length);
    free(t);
    free(x);
    return steps;
}

static double weight(const cmp_steps *s, size_t i, const double *x, double bandwidth)
{
    double square = 0;
    for (size_t k = 0; k < s->d; k++) square += pow((s->x[i * s->d + k] - x[k]) / bandwidth, 2);
    return exp(-square / 2);
}

/* At the corners of the box, which are nodes of the grid, there is no interpolation; r uses f between nodes, so a is
 * compared with the f that the estimate itself has. */
static void prop_means__are_the_formula(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        cmp_steps *s = random_steps(d, 6);
        cmp_mean *mean = NULL;
        double b1[3], b2[3], f[3], a[9], here[3];
        const double b = 0.4;
        assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){.bandwidth = b}, &mean, b1, b2), SOCK_OK);
        for (size_t corner = 0; corner < 2; corner++) {
            const double *x = corner ? s->upper : s->lower;
            double sum[3] = {0}, time = 0, products[9] = {0}, mass = 0;
            for (size_t i = 0; i < s->count; i++) {
                double w = weight(s, i, x, b);
                time += w * s->h[i];
                mass += w;
                cmp_mean_drift(mean, 1, d, s->x + i * d, here);
                for (size_t k = 0; k < d; k++) sum[k] += w * s->dx[i * d + k];
                for (size_t k = 0; k < d * d; k++)
                    products[k] += w / s->h[i] * (s->dx[i * d + k / d] - s->h[i] * here[k / d]) *
                                   (s->dx[i * d + k % d] - s->h[i] * here[k % d]);
            }
            for (size_t k = 0; k < d; k++) sum[k] /= time;
            for (size_t k = 0; k < d * d; k++) products[k] /= mass;
            cmp_mean_drift(mean, 1, d, x, f);
            cmp_mean_diffusion(mean, 1, d, x, a);
            assert_all_close(d, f, sum, 1e-11);
            assert_all_close(d * d, a, products, 1e-11);
            assert_true(b1[0] == b && b2[d - 1] == b);
        }
        cmp_mean_free(mean);
        cmp_steps_free(s);
    }
}

static void test_means__outside_the_box_the_edge_goes_on(void **state)
{
    cmp_steps *s = random_steps(1, 5);
    cmp_mean *mean = NULL;
    double b[2], at[4], inside[2], edge[] = {s->lower[0], s->upper[0]}, far[] = {-1e300, 1e300};
    (void)state;
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){.bandwidth = NAN}, &mean, &b[0], &b[1]), SOCK_OK);
    cmp_mean_drift(mean, 2, 1, edge, inside);
    cmp_mean_drift(mean, 2, 1, far, at);
    assert_memory_equal(at, inside, sizeof inside);
    cmp_mean_free(mean);
    cmp_steps_free(s);
}

/* The same drift everywhere: the widest candidate has the least error; a that varies wants a narrower one. */
static void test_means__the_bandwidth_follows_the_data(void **state)
{
    cmp_steps *s = random_steps(1, 60);
    cmp_mean *mean = NULL;
    double rule, judged_f, judged_a, unused;
    (void)state;
    for (size_t i = 0; i < s->count; i++) {
        double u = sin((double)(i * i)) + cos(1.3 * (double)(i * i));
        s->dx[i] = s->h[i] * 0.5 + sqrt(s->h[i]) * (s->x[i] > 0 ? 1 : 0.05) * u;
    }
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){.bandwidth = NAN}, &mean, &rule, &unused), SOCK_OK);
    cmp_mean_free(mean);
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){NAN, true}, &mean, &judged_f, &judged_a), SOCK_OK);
    assert_true(judged_f >= 4 * rule);
    assert_true(judged_a <= rule);
    cmp_mean_free(mean);
    cmp_steps_free(s);
}

/* In two dimensions, of which one alone moves the drift, as fast as the narrow candidates resolve: a wide one would
 * judge each step by the others' drifts. */
static void test_means__the_bandwidth_is_judged_at_each_step(void **state)
{
    cmp_steps *s = random_steps(2, 400);
    cmp_mean *mean = NULL;
    double rule[2], judged[2], unused[2];
    (void)state;
    for (size_t i = 0; i < s->count; i++) {
        s->dx[2 * i] = s->h[i] * 10 * (s->x[2 * i] > 0 ? 1 : -1);
        s->dx[2 * i + 1] = 0;
    }
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){.bandwidth = NAN}, &mean, rule, unused), SOCK_OK);
    cmp_mean_free(mean);
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){NAN, true}, &mean, judged, unused), SOCK_OK);
    assert_true(judged[0] < rule[0]);
    cmp_mean_free(mean);
    cmp_steps_free(s);
}

static void test_means__one_step_and_constant_data_have_means(void **state)
{
    const size_t length[] = {2};
    const double t[] = {0, 0.5}, x[] = {3, 4, 3, 4}, away[] = {10, 10};
    sock_data *data = NULL;
    cmp_steps *s = NULL;
    cmp_mean *mean = NULL;
    double b1[2], b2[2], f[2], a[4];
    (void)state;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(cmp_steps_new(ctx, data, &s), SOCK_OK);
    assert_int_equal(cmp_mean_fit(ctx, s, &(cmp_mean_options){NAN, true}, &mean, b1, b2), SOCK_OK);
    cmp_mean_drift(mean, 1, 2, away, f);
    cmp_mean_diffusion(mean, 1, 2, away, a);
    for (int k = 0; k < 4; k++) assert_true(f[k % 2] == 0 && a[k] == 0);
    cmp_mean_free(mean);
    cmp_steps_free(s);
    sock_data_free(data);
}

static sock_status whole_method(sock_context *c, void *arg)
{
    cmp_mean *mean = NULL;
    double b1, b2;
    sock_status status = cmp_mean_fit(c, arg, &(cmp_mean_options){NAN, true}, &mean, &b1, &b2);
    cmp_mean_free(mean);
    return status;
}

static void test_means__survive_every_failed_allocation(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    (void)state;
    assert_true(for_each_allocation(ctx, whole_method, steps) >= 8);
    cmp_steps_free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_means__are_the_formula),
        cmocka_unit_test(test_means__outside_the_box_the_edge_goes_on),
        cmocka_unit_test(test_means__the_bandwidth_follows_the_data),
        cmocka_unit_test(test_means__the_bandwidth_is_judged_at_each_step),
        cmocka_unit_test(test_means__one_step_and_constant_data_have_means),
        cmocka_unit_test(test_means__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
