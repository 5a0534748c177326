/* gEDMD: the original program's figures, the identity of the generator, the ways to solve, hard inputs. */
#include "compare/gedmd.h"
#include "rivalcases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

/* Twelve printed decimals. */
static void assert_digits(size_t n, const double *value, const double *expected)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(value[i] - expected[i]) <= 0.50001e-12 * fmax(1, pow(10, floor(log10(fabs(expected[i])) + 1)))))
            fail_msg("%zu: %.15g is not %.15g", i, value[i], expected[i]);
}

static const double points[] = {-0.5, 0, 0.75};

static void fit(const cmp_steps *steps, size_t degree, cmp_gedmd_options options, cmp_expansion **e)
{
    size_t rank = 0;
    monomial_expansion(ctx, steps->d, degree, e);
    assert_int_equal(cmp_gedmd(ctx, steps, &options, *e, &rank), SOCK_OK);
    assert_int_equal(rank, cmp_library_size((*e)->library));
}

static void test_gedmd__reproduces_the_original_program(void **state)
{
    static const double kx[] = {0.021181568708, 1.27126963854, -0.035925028694, -1.627520206136};
    static const double kxx[] = {0.343735193785, -0.142124547533, -0.407309040946, 0.210923819359};
    static const double f_at[] = {-0.419994481969, 0.021181568708, 0.267815882009};
    static const double a_commutator[] = {-0.133389752074, 0.343735193785, -0.304709889118};
    static const double direct[] = {0.023538957969, -0.016769589748, -0.010672405469, 0.020403033288};
    static const double a_direct[] = {0.026705272314, 0.023538957969, 0.01356606725};
    cmp_steps *steps = forty_steps(ctx);
    (void)state;
    for (int by_qr = 0; by_qr < 2; by_qr++) {
        cmp_expansion *e = NULL;
        double f[3], a[3];
        fit(steps, 3, (cmp_gedmd_options){.commutator = true, .by_qr = by_qr}, &e);
        assert_digits(4, e->drift, kx);
        assert_digits(4, e->diffusion, kxx);
        cmp_expansion_drift(e, 3, 1, points, f);
        cmp_expansion_diffusion(e, 3, 1, points, a);
        assert_digits(3, f, f_at);
        assert_digits(3, a, a_commutator);
        cmp_expansion_free(e);
        fit(steps, 3, (cmp_gedmd_options){.corrected = true, .by_qr = by_qr}, &e);
        assert_digits(4, e->drift, kx);
        assert_digits(4, e->diffusion, direct);
        cmp_expansion_diffusion(e, 3, 1, points, a);
        assert_digits(3, a, a_direct);
        cmp_expansion_free(e);
    }
    cmp_steps_free(steps);
}

/* Steps in the plane whose samples are exact: dx = h f, with f linear, so r r' / h = h f f' when raw and 0 corrected.
 */
static cmp_steps *plane_steps(void)
{
    enum { N = 50 };
    size_t length[N];
    double t[2 * N], x[4 * N], start[2 * N];
    sock_data *data = NULL;
    cmp_steps *steps = NULL;
    sk_normals((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, 2 * N, start);
    for (size_t i = 0; i < N; i++) {
        double h = 0.1 + 0.01 * (double)(i % 7), u = start[2 * i], v = start[2 * i + 1];
        length[i] = 2;
        t[2 * i] = 0;
        t[2 * i + 1] = h;
        x[4 * i] = u;
        x[4 * i + 1] = v;
        x[4 * i + 2] = u + h * (1 - 2 * u + v);
        x[4 * i + 3] = v + h * (u + 0.5 * v);
    }
    assert_int_equal(sock_data_from_arrays(ctx, 2, N, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(cmp_steps_new(ctx, data, &steps), SOCK_OK);
    sock_data_free(data);
    return steps;
}

/* Without noise and with f_k x_l in the dictionary the commutator finds a = 0 when drift-corrected, and both modes find
 * the drift. */
static void prop_gedmd__finds_an_exact_linear_drift(void **state)
{
    static const double expected[] = {1, 0, -2, 1, 1, 0.5, 0, 0, 0, 0, 0, 0};
    cmp_steps *steps = plane_steps();
    (void)state;
    for (int commutator = 0; commutator < 2; commutator++) {
        cmp_expansion *e = NULL;
        double a[4];
        fit(steps, 2, (cmp_gedmd_options){.commutator = commutator, .corrected = true}, &e);
        for (int i = 0; i < 12; i++) assert_close(e->drift[i], expected[i], 1e-11, 1);
        cmp_expansion_diffusion(e, 1, 2, (const double[]){0.3, -0.8}, a);
        for (int i = 0; i < 4; i++) assert_close(a[i], 0, 1e-10, 1);
        cmp_expansion_free(e);
    }
    cmp_steps_free(steps);
}

/* L(x_k x_l) = x_k b_l + x_l b_k + S_kl: the coefficients of commutator mode are the regression of just that. */
static void prop_gedmd__the_generator_of_a_product(void **state)
{
    cmp_steps *steps = plane_steps(), *other = plane_steps();
    cmp_expansion *e = NULL, *check = NULL;
    (void)state;
    for (size_t i = 0; i < steps->count * 2; i++) steps->dx[i] += 0.1 * sin((double)(i * i));
    fit(steps, 2, (cmp_gedmd_options){.commutator = true}, &e);
    for (size_t i = 0; i < steps->count; i++) {
        const double *x = steps->x + 2 * i, *dx = steps->dx + 2 * i;
        other->h[i] = steps->h[i];
        other->dx[2 * i] = x[0] * dx[1] + x[1] * dx[0] + dx[0] * dx[1];
        other->dx[2 * i + 1] = 2 * x[1] * dx[1] + dx[1] * dx[1];
    }
    fit(other, 2, (cmp_gedmd_options){0}, &check);
    for (size_t m = 0; m < 6; m++) {
        assert_close(e->diffusion[m * 3 + 1], check->drift[m * 2], 1e-11, 1);
        assert_close(e->diffusion[m * 3 + 2], check->drift[m * 2 + 1], 1e-11, 1);
    }
    cmp_expansion_free(e);
    cmp_expansion_free(check);
    cmp_steps_free(other);
    cmp_steps_free(steps);
}

static void test_gedmd__threshold_leaves_what_is_large(void **state)
{
    cmp_steps *steps = plane_steps();
    cmp_expansion *e = NULL;
    (void)state;
    for (size_t i = 0; i < steps->count * 2; i++) steps->dx[i] += 1e-4 * sin((double)(i * i));
    fit(steps, 3, (cmp_gedmd_options){.corrected = true, .threshold = 0.1}, &e);
    for (size_t m = 0; m < 10; m++)
        for (size_t k = 0; k < 2; k++) assert_true((e->drift[m * 2 + k] != 0) == (m < 3 && !(m == 0 && k == 1)));
    assert_close(e->drift[2 * 2 + 1], 0.5, 1e-2, 0);
    cmp_expansion_free(e);
    cmp_steps_free(steps);
}

/* In other units (states times a thousand) the fields are the same: u^4 beside 1 is no dependent column then. */
static void prop_gedmd__units_do_not_matter(void **state)
{
    enum { DEGREE = 6 };
    cmp_steps *steps = forty_steps(ctx), *large = forty_steps(ctx);
    (void)state;
    for (size_t i = 0; i < large->count; i++) large->x[i] *= 1000, large->dx[i] *= 1000;
    for (int by_qr = 0; by_qr < 2; by_qr++) {
        cmp_expansion *e = NULL, *l = NULL;
        fit(steps, DEGREE, (cmp_gedmd_options){.corrected = true, .by_qr = by_qr}, &e);
        fit(large, DEGREE, (cmp_gedmd_options){.corrected = true, .by_qr = by_qr}, &l);
        for (int m = 0; m <= DEGREE; m++) {
            assert_close(l->drift[m] * pow(1000, m - 1), e->drift[m], 1e-10, 1);
            assert_close(l->diffusion[m] * pow(1000, m - 2), e->diffusion[m], 1e-10, 1);
        }
        cmp_expansion_free(l);
        cmp_expansion_free(e);
    }
    cmp_steps_free(large);
    cmp_steps_free(steps);
}

/* A ridge of the size of the problem halves nothing but shrinks the coefficients towards 0. */
static void prop_gedmd__ridge_solves_its_normal_equations(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    cmp_expansion *e = NULL;
    double penalty = 0, gradient;
    (void)state;
    fit(steps, 2, (cmp_gedmd_options){.corrected = true, .ridge = 0.3}, &e);
    for (int r = 0; r < SAMPLES; r++)
        for (int m = 0; m < 3; m++) penalty += 0.3 * pow(steps->x[r], 2 * m) / 3;
    for (int m = 0; m < 3; m++) {
        gradient = penalty * e->drift[m];
        for (int r = 0; r < SAMPLES; r++) {
            double left = -steps->dx[r] / steps->h[r];
            for (int j = 0; j < 3; j++) left += e->drift[j] * pow(steps->x[r], j);
            gradient += left * pow(steps->x[r], m);
        }
        assert_close(gradient, 0, 1e-11, 10);
    }
    cmp_expansion_free(e);
    cmp_steps_free(steps);
}

static void test_gedmd__too_few_steps_give_the_smallest_solution_or_a_reason(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    cmp_expansion *e = NULL;
    size_t rank = 0;
    (void)state;
    steps->count = 3;
    monomial_expansion(ctx, 1, 5, &e);
    assert_int_equal(cmp_gedmd(ctx, steps, &(cmp_gedmd_options){.corrected = true}, e, &rank), SOCK_OK);
    assert_int_equal(rank, 3);
    for (int r = 0; r < 3; r++) { /* it passes through the samples */
        double f;
        cmp_expansion_drift(e, 1, 1, steps->x + r, &f);
        assert_close(f, steps->dx[r] / steps->h[r], 1e-9, 1);
    }
    assert_int_equal(cmp_gedmd(ctx, steps, &(cmp_gedmd_options){.by_qr = true}, e, &rank), SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(ctx), "3 steps for 6 functions"));
    cmp_expansion_free(e);
    cmp_steps_free(steps);
}

static sock_status whole_method(sock_context *c, void *arg)
{
    const cmp_gedmd_options options = {.corrected = true, .threshold = 0.05};
    const cmp_library_spec spec = {.d = 1, .degree = 2};
    cmp_library *library = NULL;
    cmp_expansion *e = NULL;
    size_t rank;
    sock_status status = cmp_library_new(c, &spec, &library);
    if (status >= 0) status = cmp_expansion_new(c, library, &e);
    if (status >= 0) status = cmp_gedmd(c, arg, &options, e, &rank);
    cmp_expansion_free(e);
    return status;
}

static void test_gedmd__survives_every_failed_allocation(void **state)
{
    cmp_steps *steps = forty_steps(ctx);
    (void)state;
    assert_true(for_each_allocation(ctx, whole_method, steps) > 10);
    cmp_steps_free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gedmd__reproduces_the_original_program),
        cmocka_unit_test(prop_gedmd__finds_an_exact_linear_drift),
        cmocka_unit_test(prop_gedmd__the_generator_of_a_product),
        cmocka_unit_test(test_gedmd__threshold_leaves_what_is_large),
        cmocka_unit_test(prop_gedmd__units_do_not_matter),
        cmocka_unit_test(prop_gedmd__ridge_solves_its_normal_equations),
        cmocka_unit_test(test_gedmd__too_few_steps_give_the_smallest_solution_or_a_reason),
        cmocka_unit_test(test_gedmd__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
