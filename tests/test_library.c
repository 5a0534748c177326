/* The libraries of the rivals: order, values, derivatives, grids; and the steps that they are evaluated at. */
#include "onecontext.h"

#include "compare/library.h"
#include "compare/steprows.h"

static const double low[] = {-1, -2, 0}, high[] = {1, 3, 4};

static cmp_library *make(cmp_library_spec spec)
{
    cmp_library *library = NULL;
    spec.lower = low;
    spec.upper = high;
    assert_int_equal(cmp_library_new(ctx, &spec, &library), SOCK_OK);
    return library;
}

static void test_library__monomials_are_graded(void **state)
{
    (void)state;
    cmp_library *l = make((cmp_library_spec){.d = 2, .degree = 3});
    const double x = 1.7, y = -0.6, point[] = {x, y};
    const double expected[] = {1, x, y, x * x, x * y, y * y, x * x * x, x * x * y, x * y * y, y * y * y};
    double phi[10];
    assert_int_equal(cmp_library_size(l), 10);
    cmp_library_eval(l, 1, point, phi);
    for (int m = 0; m < 10; m++) assert_close(phi[m], expected[m], 1e-15, 1);
    assert_int_equal(cmp_library_find(l, 1, 2), 2);
    assert_int_equal(cmp_library_find(l, 0, 1), 4);
    assert_int_equal(cmp_library_find(l, 1, 0), 4);
    assert_int_equal(cmp_library_find(l, 1, 1), 5);
    cmp_library_free(l);
}

static void test_library__all_monomials_of_many_variables_are_there_once(void **state)
{
    (void)state;
    cmp_library *l = make((cmp_library_spec){.d = 4, .degree = 4, .first_degree = 2});
    /* Logarithms of independent numbers tell the powers apart. */
    const double prime[] = {2, 3, 5, 7};
    size_t count = cmp_library_size(l);
    double *phi = calloc(count, sizeof *phi);
    assert_int_equal(count, 70 - 5);
    assert_int_equal((size_t)cmp_monomial_count(4, 4), 70);
    cmp_library_eval(l, 1, prime, phi);
    for (size_t m = 0; m < count; m++) {
        int degree = 0;
        double rest = phi[m];
        for (int k = 0; k < 4; k++)
            for (; fmod(rest, prime[k]) == 0; degree++) rest /= prime[k];
        assert_true(rest == 1 && degree >= 2 && degree <= 4);
        for (size_t j = 0; j < m; j++) assert_true(phi[j] != phi[m]);
    }
    free(phi);
    cmp_library_free(l);
}

/* Central differences of the values and of the gradient. */
static void check_derivatives(const cmp_library *l, const double *x)
{
    enum { MOST = 200 };
    const double step = 1e-5;
    size_t d = cmp_library_dim(l), size = cmp_library_size(l);
    double above[MOST], below[MOST], gradient[3], hessian[9], up[3], down[3], unused[9];
    assert_true(size <= MOST);
    for (size_t m = 0; m < size; m++) {
        cmp_library_derivatives(l, m, x, gradient, hessian);
        for (size_t k = 0; k < d; k++) {
            double y[3] = {0};
            memcpy(y, x, d * sizeof *y);
            y[k] = x[k] + step;
            cmp_library_eval(l, 1, y, above);
            cmp_library_derivatives(l, m, y, up, unused);
            y[k] = x[k] - step;
            cmp_library_eval(l, 1, y, below);
            cmp_library_derivatives(l, m, y, down, unused);
            assert_close(gradient[k], (above[m] - below[m]) / (2 * step), 1e-8, 1);
            for (size_t j = 0; j < d; j++) assert_close(hessian[j * d + k], (up[j] - down[j]) / (2 * step), 1e-8, 1);
        }
    }
}

static void prop_library__derivatives_are_those_of_the_values(void **state)
{
    const double x[] = {0.4, -0.7, 1.3}, origin[] = {0, 0, 0};
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        cmp_library *all = make((cmp_library_spec){
            .d = d, .degree = 4, .gaussians = 12, .width = 0.9, .cosines = 7, .scale = 0.8, .seed = 3});
        check_derivatives(all, x);
        check_derivatives(all, origin); /* powers of 0 */
        cmp_library_free(all);
    }
}

static void test_library__the_grid_is_even_and_fills_the_box(void **state)
{
    (void)state;
    cmp_library *l = make((cmp_library_spec){.d = 2, .first_degree = 1, .gaussians = 20, .width = NAN});
    char text[200];
    double phi[20];
    assert_int_equal(cmp_library_size(l), 20);
    cmp_library_describe(l, text, sizeof text);
    assert_string_equal(text, "20 Gaussians on a grid 5x4, widths 0.5 1.67");
    /* At a centre its own function is 1; the neighbour along x is one width away. */
    cmp_library_eval(l, 1, (const double[]){-0.5, 3}, phi);
    assert_close(phi[1 * 4 + 3], 1, 1e-14, 0);
    assert_close(phi[2 * 4 + 3], exp(-0.5), 1e-12, 0);
    assert_close(phi[1 * 4 + 2], exp(-0.5), 1e-12, 0);
    cmp_library_free(l);
}

static void test_library__gaussians_may_be_held_wide(void **state)
{
    const double least[] = {0.8, 0.1};
    char text[200];
    (void)state;
    cmp_library *l = make((cmp_library_spec){.d = 2, .first_degree = 1, .gaussians = 20, .width = NAN, .least = least});
    cmp_library_describe(l, text, sizeof text);
    assert_string_equal(text, "20 Gaussians on a grid 5x4, widths 0.8 1.67");
    cmp_library_free(l);
}

static void test_library__one_point_of_data_still_has_a_grid(void **state)
{
    const double at[] = {2}, phi_at[] = {2};
    cmp_library *l = NULL;
    double phi[5];
    (void)state;
    const cmp_library_spec spec = {.d = 1, .first_degree = 1, .gaussians = 5, .width = NAN, .lower = at, .upper = at};
    assert_int_equal(cmp_library_new(ctx, &spec, &l), SOCK_OK);
    cmp_library_eval(l, 1, phi_at, phi);
    for (int m = 0; m < 5; m++) assert_true(phi[m] == 1);
    cmp_library_free(l);
}

static void test_library__too_many_functions_are_refused(void **state)
{
    cmp_library *l = NULL;
    (void)state;
    assert_int_equal(cmp_library_new(ctx, &(cmp_library_spec){.d = 10, .degree = 6}, &l), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "8008 functions in 10 dimensions; allowed: 1 to 2000"));
    assert_null(l);
}

static void test_steps__no_step_leads_from_one_trajectory_to_the_next(void **state)
{
    const size_t length[] = {3, 1, 2};
    const double t[] = {0, 0.5, 1.5, 7, 2, 2.25}, x[] = {1, 2, 4, 100, -3, -5};
    sock_data *data = NULL;
    cmp_steps *s = NULL;
    (void)state;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(cmp_steps_new(ctx, data, &s), SOCK_OK);
    assert_int_equal(s->count, 3);
    const double at[] = {1, 2, -3}, dx[] = {1, 2, -2}, h[] = {0.5, 1, 0.25};
    assert_memory_equal(s->x, at, sizeof at);
    assert_memory_equal(s->dx, dx, sizeof dx);
    assert_memory_equal(s->h, h, sizeof h);
    assert_int_equal(s->trajectory[2], 2);
    assert_true(s->lower[0] == -5 && s->upper[0] == 100);
    for (size_t d = 1, place = 0; d <= 4; d++, place = 0)
        for (size_t k = 0; k < d; k++)
            for (size_t l = k; l < d; l++, place++) {
                assert_int_equal(cmp_pair(d, k, l), place);
                assert_int_equal(cmp_pair(d, l, k), place);
            }
    cmp_steps_free(s);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library__monomials_are_graded),
        cmocka_unit_test(test_library__all_monomials_of_many_variables_are_there_once),
        cmocka_unit_test(prop_library__derivatives_are_those_of_the_values),
        cmocka_unit_test(test_library__the_grid_is_even_and_fills_the_box),
        cmocka_unit_test(test_library__gaussians_may_be_held_wide),
        cmocka_unit_test(test_library__one_point_of_data_still_has_a_grid),
        cmocka_unit_test(test_library__too_many_functions_are_refused),
        cmocka_unit_test(test_steps__no_step_leads_from_one_trajectory_to_the_next),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
