/* test_monomials.c - sums of monomials: about another origin they are the same polynomial; names; the roundest origin.
 */
#include "api/monomials.h"
#include "onecontext.h"

#include <string.h>

enum { D = 2, VALUES = 2 };

/* Value v of the sum at x. */
static double value_of(const sk_monomial_sum *s, size_t v, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        double one = s->number[i * s->values + v];
        for (size_t k = 0; k < s->d; k++) one *= pow(x[k] - s->origin[k], s->power[i * s->d + k]);
        sum += one;
    }
    return sum;
}

static const double x[][D] = {{0, 0}, {1, -2}, {0.3, 1.7}, {-1.5, 0.4}, {2.5, 2.25}};

static void prop_a_monomial_about_another_origin_is_the_same(void **state)
{
    (void)state;
    static const double to[][D] = {{0, 0}, {2, 0}, {-1, 0.5}, {3, 4}}, from[D] = {3, 0.5}, number[VALUES] = {2, -0.25};
    static const unsigned power[][D] = {{0, 0}, {1, 0}, {0, 3}, {2, 1}, {4, 2}};
    for (size_t o = 0; o < 4; o++)
        for (size_t p = 0; p < 5; p++)
            for (int zero = 0; zero < 2; zero++) {
                sk_monomial_sum s;
                assert_int_equal(sk_monomials_init(ctx, D, VALUES, to[o], &s), SOCK_OK);
                assert_int_equal(sk_monomials_add(&s, power[p], zero ? NULL : from, number), SOCK_OK);
                for (size_t i = 0; i < 5; i++) {
                    const double a = x[i][0] - (zero ? 0 : from[0]), b = x[i][1] - (zero ? 0 : from[1]),
                                 product = pow(a, power[p][0]) * pow(b, power[p][1]);
                    for (size_t v = 0; v < VALUES; v++)
                        assert_close(value_of(&s, v, x[i]), number[v] * product, 1e-11, 100);
                }
                size_t terms = 1; /* all lower powers of a coordinate that moves */
                for (size_t k = 0; k < D; k++) terms *= to[o][k] == (zero ? 0 : from[k]) ? 1 : power[p][k] + 1;
                assert_int_equal(s.count, terms);
                sk_monomials_clear(&s);
            }
}

/* What is there already is added to: two of the same monomial are one. */
static void test_monomials__equal_powers_are_collected(void **state)
{
    (void)state;
    const double origin[D] = {0, 0}, one[VALUES] = {1, 2};
    sk_monomial_sum s;
    assert_int_equal(sk_monomials_init(ctx, D, VALUES, origin, &s), SOCK_OK);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(sk_monomials_add(&s, (const unsigned[]){i % 20, i % 4}, NULL, one), SOCK_OK);
    assert_int_equal(s.count, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_true(s.power[2 * i] == i && s.power[2 * i + 1] == i % 4);
        assert_true(s.number[2 * i] == 2 && s.number[2 * i + 1] == 4);
    }
    assert_true(sk_monomials_at(&s, (const unsigned[]){7, 3}) == s.number + 14);
    const double *fresh = sk_monomials_at(&s, (const unsigned[]){3, 7});
    assert_true(fresh == s.number + 40 && fresh[0] == 0 && fresh[1] == 0 && s.count == 21);
    sk_monomials_clear(&s);
}

static void test_monomials__names(void **state)
{
    (void)state;
    const char *const names[] = {"x", "y"};
    const struct {
        double origin[D];
        unsigned power[D];
        const char *text;
    } cases[] = {{{0, 0}, {0, 0}, "1"},
                 {{0, 0}, {1, 0}, "x"},
                 {{0, 0}, {2, 1}, "x^2*y"},
                 {{300, 0}, {2, 1}, "(x - 300)^2*y"},
                 {{300, -0.5}, {1, 3}, "(x - 300)*(y + 0.5)^3"},
                 {{300, -0.5}, {0, 1}, "(y + 0.5)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_monomial_sum s;
        assert_int_equal(sk_monomials_init(ctx, D, 1, cases[i].origin, &s), SOCK_OK);
        char *text = sk_monomials_label(&s, names, cases[i].power);
        assert_string_equal(text, cases[i].text);
        sk_free(text);
        sk_monomials_clear(&s);
    }
}

/* ---- Models ---- */

static sk_features *features(const char *text, const double *origin, const double *scale)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "drift", text, &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, D, 0, NULL, &map), SOCK_OK);
    sk_kernel_free(kernel);
    if (origin) assert_int_equal(sk_features_set_units(ctx, map, origin, scale), SOCK_OK);
    return map;
}

static sk_drift_term *drift_of(const char *text, const double *origin, const double *scale)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    term->d = D;
    term->map = features(text, origin, scale);
    term->weight = sk_doubles(ctx, sk_features_count(term->map), D);
    return term;
}

/* The features of a term in units of their own, times a factor, are its drift; those of weight 0 leave no name. */
static void prop_the_sum_of_a_drift_term_is_its_drift(void **state)
{
    (void)state;
    const double origin[D] = {2, -1}, scale[D] = {0.5, 4}, about[D] = {0, 3};
    sk_drift_term *term = drift_of("poly:degree=2", origin, scale);
    const size_t p = sk_features_count(term->map);
    sk_monomial_sum s;
    double phi[6];
    for (size_t j = 0; j < p * D; j++) term->weight[j] = sin(3 * (double)j + 1);
    memset(term->weight, 0, D * sizeof *term->weight); /* of x0^2 */
    assert_int_equal(sk_monomials_init(ctx, D, D, about, &s), SOCK_OK);
    assert_int_equal(sk_monomials_add_drift(&s, term, -1.5), SOCK_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(sk_features_eval(ctx, term->map, 1, x[i], phi, p), SOCK_OK);
        for (size_t k = 0; k < D; k++) {
            double f = 0;
            for (size_t j = 0; j < p; j++) f += phi[j] * term->weight[j * D + k];
            assert_close(value_of(&s, k, x[i]), -1.5 * f, 1e-12, 10);
        }
    }
    for (size_t i = 0; i < s.count; i++) assert_true(s.power[i * D] < 2);
    assert_int_equal(s.count, p - 1);
    sk_monomials_clear(&s);
    sk_drift_term_free(term);
}

/* origin[0], scale[0] of a model with such drifts and a diffusion; NaN: there is none. */
static void expect_origin(double first, double second, double third, double origin, double scale)
{
    const double zero[3] = {first, second, third}, unit[3] = {0.1, 10, 20};
    sock_model *model = NULL;
    double got[D], units[D];
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    for (size_t i = 0; i < 2; i++) {
        const double at[D] = {zero[i], 7}, by[D] = {unit[i], 1};
        if (!isnan(zero[i])) assert_int_equal(sk_model_add_drift(ctx, model, drift_of("affine", at, by)), SOCK_OK);
    }
    if (!isnan(third)) {
        const double at[D] = {third, 7}, by[D] = {unit[2], 1};
        sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
        term->d = D;
        term->rank = 1;
        term->map = features("affine", at, by);
        term->v = sk_doubles(ctx, D * sk_features_count(term->map), 1);
        assert_int_equal(sk_model_add_diffusion(ctx, model, term), SOCK_OK);
    }
    sk_model_origin(model, got, units);
    assert_close(got[0], origin, 0, 1);
    assert_close(units[0], scale, 0, 1);
    sock_model_free(model);
}

static void test_monomials__the_roundest_origin_counts(void **state)
{
    (void)state;
    const double none = (double)NAN, mean = 301.8274651;
    expect_origin(none, none, none, 0, 1);
    expect_origin(300, none, none, 300, 0.1);
    expect_origin(301.5, 300, none, 300, 0.1);      /* fewer digits; the units of the first */
    expect_origin(300, 500, none, 300, 0.1);        /* as many: the older */
    expect_origin(none, mean, 302, 302, 10);        /* of a as well */
    expect_origin(none, none, 12.5, 12.5, 20);      /* of a alone */
    expect_origin(mean, none, none, 302, 0.1);      /* a mean of the data: what is roundest within 0.3 */
    expect_origin(none, mean, none, 300, 10);       /* and within 30 */
    expect_origin(123456, none, none, 123456, 0.1); /* six digits somebody may have written */
    expect_origin(1234567, none, none, sk_roundest(1234567, 0.3), 0.1);
}

static void test_monomials__kernels_without_monomials_have_no_origin(void **state)
{
    (void)state;
    const double at[D] = {300, 7}, by[D] = {2, 1};
    sock_model *model = NULL;
    double got[D], units[D];
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    sk_drift_term *term = drift_of("fourier:p=4,eta=1", at, by);
    assert_false(sk_features_polynomial(term->map));
    assert_int_equal(sk_model_add_drift(ctx, model, term), SOCK_OK);
    sk_model_origin(model, got, units);
    assert_true(got[0] == 0 && units[0] == 1);
    sock_model_free(model);
}

static sock_status add_and_name(sock_context *context, void *arg)
{
    const double origin[D] = {1, 2};
    sk_monomial_sum s = {0};
    char *text = NULL;
    sock_status status;
    SK_GO(sk_monomials_init(context, D, D, origin, &s));
    SK_GO(sk_monomials_add_drift(&s, arg, 1));
    text = sk_monomials_label(&s, (const char *const[]){"x", "y"}, s.power);
    if (!text) status = SOCK_ENOMEM;
out:
    sk_free(text);
    sk_monomials_clear(&s);
    return status;
}

static void test_monomials__survive_every_failed_allocation(void **state)
{
    (void)state;
    sk_drift_term *term = drift_of("poly:degree=2", NULL, NULL);
    for (size_t j = 0; j < 6 * D; j++) term->weight[j] = 1;
    assert_true(for_single_allocations(ctx, add_and_name, term) > 8);
    sk_drift_term_free(term);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_a_monomial_about_another_origin_is_the_same),
        cmocka_unit_test(test_monomials__equal_powers_are_collected),
        cmocka_unit_test(test_monomials__names),
        cmocka_unit_test(prop_the_sum_of_a_drift_term_is_its_drift),
        cmocka_unit_test(test_monomials__the_roundest_origin_counts),
        cmocka_unit_test(test_monomials__kernels_without_monomials_have_no_origin),
        cmocka_unit_test(test_monomials__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
