/* Sparse Bayesian regression and BISDE: the original program's figures, the same passes by slow formulas, hard inputs.
 */
#include "compare/bisde.h"
#include "la/la.h"
#include "rivalcases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static const cmp_msbl_options options_as_published = {0.5, 1e-4, 1e-8, 700};

/* Printed digits: half a unit in the last place. */
static void assert_digits(double value, double expected, double unit)
{
    if (!(fabs(value - expected) <= 0.50001 * unit)) fail_msg("%.15g is not %.15g", value, expected);
}

static void test_bisde__reproduces_the_original_program(void **state)
{
    static const double drift[] = {0, 1.10915331386, 0, -1.38971299508, 0, -0.000833273416};
    cmp_steps *steps = forty_steps(ctx);
    double phi[SAMPLES * 6], y[SAMPLES], w[6];
    cmp_msbl *problem = NULL;
    cmp_msbl_report report;
    (void)state;
    for (int r = 0; r < SAMPLES; r++) {
        for (int m = 0; m < 6; m++) phi[r * 6 + m] = pow(steps->x[r], m);
        y[r] = steps->dx[r] / steps->h[r];
    }
    assert_int_equal(cmp_msbl_new(ctx, SAMPLES, 6, phi, &problem), SOCK_OK);
    assert_int_equal(cmp_msbl_solve(ctx, problem, y, &options_as_published, w, &report), SOCK_OK);
    for (int m = 0; m < 6; m++) assert_digits(w[m], drift[m], m == 5 ? 1e-12 : 1e-11);
    assert_int_equal(report.passes, 700);
    assert_false(report.converged);
    /* The diffusion, from the thresholded drift. */
    for (int r = 0; r < SAMPLES; r++) {
        double left = steps->dx[r] - steps->h[r] * (w[1] * phi[r * 6 + 1] + w[3] * phi[r * 6 + 3]);
        y[r] = left * left / steps->h[r];
    }
    assert_int_equal(cmp_msbl_solve(ctx, problem, y, &options_as_published, w, &report), SOCK_OK);
    assert_digits(w[0], 0.0196998939257, 1e-13);
    for (int m = 1; m < 6; m++) assert_true(w[m] == 0);
    assert_int_equal(report.passes, 14);
    assert_true(report.converged);
    cmp_msbl_free(problem);
    cmp_steps_free(steps);
}

/* The whole method: the drift loses its last term, and the threshold takes the whole diffusion. */
static void test_bisde__threshold_takes_small_coefficients(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    cmp_expansion *e = NULL;
    size_t passes = 0, capped = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        const cmp_bisde_options options = {options_as_published, round ? 0.01 : 0.05};
        monomial_expansion(ctx, 1, 5, &e);
        assert_int_equal(cmp_bisde(ctx, steps, &options, e, &passes, &capped), SOCK_OK);
        assert_int_equal(passes, 714);
        assert_int_equal(capped, 1);
        assert_digits(e->drift[1], 1.10915331386, 1e-11);
        assert_digits(e->drift[3], -1.38971299508, 1e-11);
        assert_true(e->drift[5] == 0);
        assert_digits(e->diffusion[0], round ? 0.0196998939257 : 0, 1e-13);
        cmp_expansion_free(e);
    }
    cmp_steps_free(steps);
}

/* The passes again with dense matrices: Sigma = (diag(1/gamma) + Phi'Phi/lambda)^-1, mu = Sigma Phi'y / lambda. */
static void slow_msbl(size_t n, size_t m, const double *phi, const double *y, size_t passes, double *w)
{
    size_t kept[16], count = m;
    double gamma[16], lambda = 1, mu[16] = {0};
    for (size_t j = 0; j < m; j++) kept[j] = j, gamma[j] = 0.5;
    for (size_t pass = 0; pass < passes; pass++) {
        double precision[256], inverse[256] = {0}, square = 0, degrees;
        size_t stay = 0;
        for (size_t j = 0; j < count; j++)
            if (gamma[j] > 1e-4) kept[stay] = kept[j], gamma[stay++] = gamma[j];
        count = stay;
        for (size_t i = 0; i < count; i++) {
            inverse[i * count + i] = 1;
            for (size_t j = 0; j < count; j++) {
                precision[i * count + j] = i == j ? 1 / gamma[i] : 0;
                for (size_t r = 0; r < n; r++)
                    precision[i * count + j] += phi[r * m + kept[i]] * phi[r * m + kept[j]] / lambda;
            }
        }
        assert_int_equal(sk_cholesky(ctx, count, precision, count), SOCK_OK);
        sk_cholesky_solve(ctx, count, count, precision, count, inverse, count);
        for (size_t i = 0; i < count; i++) {
            mu[i] = 0;
            for (size_t j = 0; j < count; j++)
                for (size_t r = 0; r < n; r++) mu[i] += inverse[i * count + j] * phi[r * m + kept[j]] * y[r] / lambda;
        }
        degrees = (double)n - (double)count;
        for (size_t r = 0; r < n; r++) {
            double left = y[r];
            for (size_t j = 0; j < count; j++) left -= phi[r * m + kept[j]] * mu[j];
            square += left * left;
        }
        for (size_t j = 0; j < count; j++) {
            degrees += inverse[j * count + j] / gamma[j];
            gamma[j] = mu[j] * mu[j] + inverse[j * count + j];
        }
        lambda = square / degrees;
    }
    memset(w, 0, m * sizeof *w);
    for (size_t j = 0; j < count; j++) w[kept[j]] = mu[j];
}

/* Also with fewer rows than columns, where there is no QR. */
static void prop_msbl__passes_are_those_of_the_plain_formulas(void **state)
{
    const size_t rows[] = {30, 6};
    (void)state;
    for (int c = 0; c < 2; c++) {
        enum { M = 8 };
        size_t n = rows[c];
        double phi[30 * M], y[30], w[M], expected[M];
        cmp_msbl *problem = NULL;
        sk_normals((sk_key){1, SK_PURPOSE_TEST}, 0, 0, 0, n * M, phi);
        sk_normals((sk_key){1, SK_PURPOSE_TEST}, 1, 0, 0, n, y);
        for (size_t r = 0; r < n; r++) y[r] = 0.3 * y[r] + 2 * phi[r * M + 1] - phi[r * M + 6];
        assert_int_equal(cmp_msbl_new(ctx, n, M, phi, &problem), SOCK_OK);
        for (size_t passes = 1; passes <= 40; passes += 13) {
            const cmp_msbl_options options = {0.5, 1e-4, 0, passes};
            assert_int_equal(cmp_msbl_solve(ctx, problem, y, &options, w, NULL), SOCK_OK);
            slow_msbl(n, M, phi, y, passes, expected);
            assert_all_close(M, w, expected, 1e-9);
        }
        cmp_msbl_free(problem);
    }
}

static void test_msbl__all_columns_pruned_gives_zeros(void **state)
{
    double phi[20], y[20], w[1] = {7};
    cmp_msbl *problem = NULL;
    cmp_msbl_report report;
    (void)state;
    for (int i = 0; i < 20; i++) phi[i] = 10 + i, y[i] = 1e-3 * (10 + i) + 1e-5 * (i % 3);
    assert_int_equal(cmp_msbl_new(ctx, 20, 1, phi, &problem), SOCK_OK);
    assert_int_equal(cmp_msbl_solve(ctx, problem, y, &options_as_published, w, &report), SOCK_OK);
    assert_true(w[0] == 0);
    assert_true(report.converged);
    cmp_msbl_free(problem);
}

/* No noise at all: lambda goes to 0 and the solution is exact; equal columns share it. */
static void test_msbl__exact_data_and_equal_columns_do_no_harm(void **state)
{
    double phi[60], y[20], w[3];
    cmp_msbl *problem = NULL;
    (void)state;
    for (int i = 0; i < 20; i++) {
        phi[3 * i] = 1;
        phi[3 * i + 1] = phi[3 * i + 2] = i - 9.5;
        y[i] = 3 * phi[3 * i + 1] - 2;
    }
    assert_int_equal(cmp_msbl_new(ctx, 20, 3, phi, &problem), SOCK_OK);
    assert_int_equal(cmp_msbl_solve(ctx, problem, y, &options_as_published, w, NULL), SOCK_OK);
    assert_close(w[0], -2, 1e-9, 1);
    assert_close(w[1] + w[2], 3, 1e-9, 1);
    cmp_msbl_free(problem);
}

static sock_status whole_method(sock_context *c, void *arg)
{
    const cmp_bisde_options options = {options_as_published, 0.05};
    const cmp_library_spec spec = {.d = 1, .degree = 2};
    cmp_library *library = NULL;
    cmp_expansion *e = NULL;
    size_t passes, capped;
    sock_status status = cmp_library_new(c, &spec, &library);
    if (status >= 0) status = cmp_expansion_new(c, library, &e);
    if (status >= 0) status = cmp_bisde(c, arg, &options, e, &passes, &capped);
    cmp_expansion_free(e);
    return status;
}

static void test_bisde__survives_every_failed_allocation(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    (void)state;
    assert_true(for_each_allocation(ctx, whole_method, steps) > 10);
    cmp_steps_free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bisde__reproduces_the_original_program),
        cmocka_unit_test(test_bisde__threshold_takes_small_coefficients),
        cmocka_unit_test(prop_msbl__passes_are_those_of_the_plain_formulas),
        cmocka_unit_test(test_msbl__all_columns_pruned_gives_zeros),
        cmocka_unit_test(test_msbl__exact_data_and_equal_columns_do_no_harm),
        cmocka_unit_test(test_bisde__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
