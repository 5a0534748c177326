/* test_grammar.c - kernels as text: what is accepted, what is refused and how, the way there and back. */
#include "kernel/family.h"
#include "onecontext.h"

#include <string.h>

static sk_kernel *parse(const char *text)
{
    sk_kernel *kernel = NULL;
    if (sk_kernel_parse(ctx, "drift", text, &kernel) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    return kernel;
}

static void test_grammar__reads_every_parameter(void **state)
{
    (void)state;
    sk_kernel *k = parse("gauss:eta=1e+5,scale=.5+poly:degree=20 + linear:B=[2 -1;-1  2]+affine+constant:scale=3");
    assert_int_equal(k->terms, 5);
    assert_true(k->term[0].family == &sk_gauss_family && k->term[0].eta == 1e5 && k->term[0].scale == 0.5);
    assert_true(k->term[1].family == &sk_poly_family && k->term[1].degree == 20 && k->term[1].scale == 1);
    assert_true(k->term[2].family == &sk_linear_family && k->term[2].b_dim == 2);
    assert_true(k->term[2].b[0] == 2 && k->term[2].b[1] == -1 && k->term[2].b[2] == -1 && k->term[2].b[3] == 2);
    assert_true(k->term[3].family == &sk_affine_family && !k->term[3].b);
    assert_true(k->term[4].family == &sk_constant_family && k->term[4].scale == 3);
    sk_kernel_free(k);

    k = parse("fourier:seed=18446744073709551615,eta=2,p=1000000+nystrom:eta=0.8,m=300,of=gauss,seed=4");
    assert_true(k->term[0].family == &sk_fourier_family && k->term[0].p == 1000000 && k->term[0].seed == UINT64_MAX);
    assert_true(k->term[1].family == &sk_nystrom_family && k->term[1].of == &sk_gauss_family && k->term[1].p == 300);
    assert_true(k->term[1].eta == 0.8 && k->term[1].seed == 4);
    sk_kernel_free(k);
}

static void test_grammar__leaves_open_what_is_not_given(void **state)
{
    (void)state;
    sk_kernel *k = parse("gauss+poly");
    assert_true(isnan(k->term[0].eta) && k->term[1].degree == 2 && k->term[0].scale == 1);
    sk_kernel_free(k);
    k = parse("nystrom+fourier");
    assert_true(k->term[0].of == &sk_gauss_family && k->term[0].p == 0 && isnan(k->term[0].eta));
    assert_true(k->term[1].p == 100 && k->term[1].seed == 0);
    sk_kernel_free(k);
}

/* Text, kernel, text, kernel: the second pair equals the first, to the last bit. */
static void prop_parse_undoes_format(void **state)
{
    (void)state;
    const char *const text[] = {
        "gauss",
        "gauss:eta=0.1",
        "gauss:eta=0.30000000000000004,scale=1.7976931348623157e+99",
        "poly:degree=3,scale=0.1",
        "linear+affine+constant",
        "fourier:p=17,eta=3.3333333333333335,seed=99",
        "nystrom:m=12,of=poly,degree=4,seed=3,scale=2+poly:degree=1+fourier:p=3,eta=1",
        "nystrom:of=linear",
        "curlfree:eta=2+divfree:eta=0.7,scale=3",
        "gauss:eta=1,B=[1 0.1 0;0.1 2 1e-300;0 1e-300 1e+100]+linear:B=[1 1 1;1 1 1;1 1 1]",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        sk_kernel *first = parse(text[i]), *second, *copy = NULL;
        char *written = sk_kernel_format(ctx, first);
        assert_non_null(written);
        second = parse(written);
        assert_int_equal(sk_kernel_copy(ctx, second, &copy), SOCK_OK);
        char *again = sk_kernel_format(ctx, copy);
        assert_string_equal(written, again);
        assert_int_equal(first->terms, copy->terms);
        for (size_t t = 0; t < first->terms; t++) {
            const sk_term *a = &first->term[t], *b = &copy->term[t];
            assert_true(a->family == b->family && a->of == b->of && a->degree == b->degree && a->p == b->p);
            assert_true(a->seed == b->seed && a->scale == b->scale && a->b_dim == b->b_dim);
            assert_true(a->eta == b->eta || (isnan(a->eta) && isnan(b->eta)));
            assert_true(!a->b == !b->b && (!a->b || a->b != b->b));
            if (a->b) assert_memory_equal(a->b, b->b, a->b_dim * a->b_dim * sizeof *a->b);
        }
        sk_free(written), sk_free(again);
        sk_kernel_free(first), sk_kernel_free(second), sk_kernel_free(copy);
    }
}

static void test_grammar__refuses_with_the_place_and_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"gaus",
         "drift: unknown kernel 'gaus' at character 1 (did you mean gauss?); allowed: gauss, poly, linear, affine, "
         "constant, fourier, nystrom, curlfree, divfree"},
        {"", "drift: a kernel's name is missing at character 1"},
        {"gauss+", "drift: a kernel's name is missing at character 7"},
        {"+gauss", "drift: a kernel's name is missing at character 1"},
        {"linear++affine", "drift: a kernel's name is missing at character 8"},
        {"linear+polly", "drift: unknown kernel 'polly' at character 8"},
        {"callback", "drift: unknown kernel 'callback'"},
        {"Gauss", "drift: unknown kernel 'Gauss'"},
        {"_gauss", "drift: unknown kernel '_gauss'"},
        {"{gauss}", "drift: a kernel's name is missing at character 1"},
        {"[gauss]", "drift: a kernel's name is missing at character 1"},
        {"9gauss", "drift: a kernel's name is missing at character 1"},
        {"aVeryLongNameThatNoKernelHasAndNobodyWantsToSeeWhole",
         "drift: unknown kernel 'aVeryLongNameThatNoKernelHasAndNobodyWan' at character 1; allowed: gauss"},
        {"gauss:aVeryLongNameThatNoParameterHasAndNobodyWantsToSeeWhole=1",
         "drift: gauss has no parameter 'aVeryLongNameThatNoParameterHasAndNobody'; allowed: eta, scale, B"},
        {"gauss:eta=0.1234567890123456789012345678901234567890123x",
         "drift: eta is '0.12345678901234567890123456789012345678'; allowed: a number > 0"},
        {"nystrom:of=gauss;", "drift: of is ';'; allowed: a kernel's name"},
        {"gauss:eta=2e100", "drift: eta is '2e100'; allowed: a number > 0 (1e-100 to 1e100)"},
        {"gauss:scale=x", "drift: scale is 'x'; allowed: a number > 0"},
        {"poly:degree=", "drift: degree is ''; allowed: a whole number from 1 to 100"},
        {"poly:degree=2x", "drift: degree is '2x'; allowed: a whole number from 1 to 100"},
        {"nystrom:m=1000001", "drift: m is '1000001'; allowed: a whole number from 1 to 1000000"},
        {"gauss:etta=1", "drift: gauss has no parameter 'etta' (did you mean eta?); allowed: eta, scale, B"},
        {"linear:eta=1", "drift: linear has no parameter 'eta'; allowed: scale, B"},
        {"fourier:B=[1]", "drift: fourier has no parameter 'B'; allowed: eta, p, seed, scale"},
        {"gauss:", "drift: a parameter's name is missing at character 7; gauss takes: eta, scale, B"},
        {"gauss:eta=1,", "drift: a parameter's name is missing at character 13"},
        {"gauss:eta", "drift: '=' is missing behind eta at character 10"},
        {"gauss:eta=", "drift: eta is ''; allowed: a number > 0"},
        {"gauss:eta=-1", "drift: eta is '-1'; allowed: a number > 0"},
        {"gauss:eta=0", "drift: eta is '0'; allowed: a number > 0"},
        {"gauss:eta=nan", "drift: eta is 'nan'; allowed: a number > 0"},
        {"gauss:eta=1e999", "drift: eta is '1e999'; allowed: a number > 0"},
        {"gauss:eta=0.5x", "drift: eta is '0.5x'; allowed: a number > 0"},
        {"gauss:eta=0x1p3", "drift: eta is '0x1p3'; allowed: a number > 0"},
        {"gauss:scale=0", "drift: scale is '0'; allowed: a number > 0"},
        {"gauss:eta=1,eta=2", "drift: eta is given twice, again at character 13"},
        {"gauss:eta=1;", "drift: eta is '1;'; allowed"},
        {"gauss eta=1", "drift: 'eta=1' at character 7 is not understood behind gauss"},
        {"gauss)", "drift: ')' at character 6 is not understood behind gauss"},
        {"poly:degree=0", "drift: degree is '0'; allowed: a whole number from 1 to 100"},
        {"poly:degree=101", "drift: degree is '101'; allowed: a whole number from 1 to 100"},
        {"poly:degree=2.5", "drift: degree is '2.5'; allowed: a whole number"},
        {"poly:degree=-2", "drift: degree is '-2'; allowed: a whole number"},
        {"poly:degree=18446744073709551618", "drift: degree is '18446744073709551618'; allowed"},
        {"fourier:p=0", "drift: p is '0'; allowed: a whole number from 1 to 1000000"},
        {"fourier:p=1000001", "drift: p is '1000001'; allowed"},
        {"fourier:seed=999999999999999999999", "drift: seed is '999999999999999999999'; allowed"},
        {"fourier:seed=18446744073709551616", "drift: seed is '18446744073709551616'; allowed"},
        {"nystrom:m=0", "drift: m is '0'; allowed"},
        {"nystrom:of=fourier", "drift: unknown kernel 'fourier' at character 12; allowed: gauss, poly, linear, affine, "
                               "constant"},
        {"nystrom:of=gauss2", "drift: unknown kernel 'gauss2'"},
        {"nystrom:of=poly,eta=1", "drift: nystrom of poly has no parameter 'eta'"},
        {"nystrom:degree=2", "drift: nystrom of gauss has no parameter 'degree'"},
        {"gauss+fourier", "drift: fourier has features and gauss has none"},
        {"curlfree+nystrom", "drift: nystrom has features and curlfree has none"},
        {"linear:B=[1]+fourier", "drift: fourier has features and a term with B has none"},
        {"linear:B=1", "drift: B at character 10 does not start with '['"},
        {"linear:B=[]", "drift: B at character 10 has rows of unequal length"},
        {"linear:B=[1 2;3]", "drift: B at character 10 has rows of unequal length"},
        {"linear:B=[1;]", "drift: B at character 10 has rows of unequal length"},
        {"linear:B=[1 2", "drift: B at character 10 holds something that is not a number, or has no ']'"},
        {"linear:B=[1 x;x 1]", "drift: B at character 10 holds something that is not a number"},
        {"linear:B=[1e999]", "drift: B at character 10 holds something that is not a number"},
        {"linear:B=[1 0]", "drift: B at character 10 is not square"},
        {"linear:B=[1]2", "drift: B at character 10 is followed by something"},
        {"linear:B=[1 2;3 1]", "drift: B at character 10 is not symmetric"},
        {"linear:B=[1 2;2 1]", "drift: B at character 10 is not positive semi-definite"},
        {"linear:B=[-1]", "drift: B at character 10 is not positive semi-definite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_kernel *untouched = NULL;
        sk_begin(ctx);
        assert_int_equal(sk_kernel_parse(ctx, "drift", cases[i].text, &untouched), SOCK_EUSAGE);
        assert_null(untouched);
        if (strncmp(sock_message(ctx), cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("'%s' says '%s', not '%s'", cases[i].text, sock_message(ctx), cases[i].message);
    }
}

/* A B that is symmetric to rounding is made so exactly. */
static void test_grammar__a_matrix_is_made_symmetric(void **state)
{
    (void)state;
    sk_kernel *k = parse("linear:B=[1 0.3;0.30000000000000004 1]");
    assert_true(k->term[0].b[1] == k->term[0].b[2] && k->term[0].b[1] >= 0.3 && k->term[0].b[1] <= 0.30000000000000004);
    sk_kernel_free(k);
}

static void test_grammar__knows_what_a_kernel_is(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool matrix, closed, implicit;
    } cases[] = {{"gauss", false, true, true},         {"gauss+linear", false, true, true},
                 {"poly+affine", false, true, false},  {"fourier+linear", false, false, false},
                 {"nystrom", false, false, false},     {"gauss:B=[1]", true, false, false},
                 {"linear:B=[1]", true, false, false}, {"curlfree", true, false, false},
                 {"divfree+gauss", true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_kernel *k = parse(cases[i].text);
        assert_int_equal(sk_kernel_is_matrix(k), cases[i].matrix);
        assert_int_equal(sk_kernel_is_closed(k), cases[i].closed);
        assert_int_equal(sk_kernel_is_implicit(k), cases[i].implicit);
        sk_kernel_free(k);
    }
}

static void test_grammar__survives_every_failed_allocation(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        sk_kernel *kernel = NULL, *copy = NULL;
        char *text = NULL;
        sk_begin(ctx);
        sk_fail_allocation(ctx, k);
        sock_status status = sk_kernel_parse(ctx, "drift", "gauss:eta=1,B=[2 1;1 2]+linear", &kernel);
        if (status == SOCK_OK) status = sk_kernel_copy(ctx, kernel, &copy);
        if (status == SOCK_OK && !(text = sk_kernel_format(ctx, copy))) status = SOCK_ENOMEM;
        sk_fail_allocation(ctx, 0);
        sk_kernel_free(kernel), sk_kernel_free(copy);
        sk_free(text);
        if (status == SOCK_OK) {
            assert_true(k > 5);
            break;
        }
        assert_int_equal(status, SOCK_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar__reads_every_parameter),
        cmocka_unit_test(test_grammar__leaves_open_what_is_not_given),
        cmocka_unit_test(prop_parse_undoes_format),
        cmocka_unit_test(test_grammar__refuses_with_the_place_and_what_is_allowed),
        cmocka_unit_test(test_grammar__a_matrix_is_made_symmetric),
        cmocka_unit_test(test_grammar__knows_what_a_kernel_is),
        cmocka_unit_test(test_grammar__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
