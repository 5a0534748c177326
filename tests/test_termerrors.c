/* test_termerrors.c - errors of the coefficients of a polynomial drift: the law of the weights, moved weight by weight.
 */
#include "api/termerrors.h"
#include "onecontext.h"
#include "tune/policy.h"

#include <string.h>

enum { D = 2, P = 6, RANK = 3, GROUPS = 2 };

static bool all_of_them(const sk_drift_term *term)
{
    (void)term;
    return true;
}

static bool polynomials(const sk_drift_term *term) { return sk_features_polynomial(term->map); }

static sk_drift_term *drift_of(const char *text, const double *origin, double phase)
{
    const double scale[D] = {0.5, 4};
    sk_kernel *kernel = NULL;
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    assert_int_equal(sk_kernel_parse(ctx, "drift", text, &kernel), SOCK_OK);
    assert_int_equal(sk_features_new(ctx, "drift", kernel, D, 0, NULL, &term->map), SOCK_OK);
    if (origin) assert_int_equal(sk_features_set_units(ctx, term->map, origin, scale), SOCK_OK);
    sk_kernel_free(kernel);
    const size_t p = sk_features_count(term->map);
    term->d = D;
    term->weight = sk_doubles(ctx, p, D);
    for (size_t j = 0; j < p * D; j++) term->weight[j] = sin(phase * (double)j + 1);
    return term;
}

/* A law of all weights but the first, in two groups that share components. */
static sk_factor *law_of(size_t numbers, double phase)
{
    sk_factor *f = NULL;
    assert_int_equal(sk_factor_new(ctx, numbers - 1, RANK, GROUPS, &f), SOCK_OK);
    for (size_t e = 0; e < f->count; e++) {
        f->entry[e] = e + 1;
        f->group[e] = e % 3 == 0;
        for (size_t c = 0; c < RANK; c++) f->value[e * RANK + c] = cos(phase * (double)(e * RANK + c));
    }
    return f;
}

/* Two polynomials with shares, one about another origin, and a kernel that is not asked for. */
static sock_model *model_of(double share)
{
    const double origin[D] = {2, -1};
    const char *const kernel[] = {"poly:degree=2", "fourier:p=4,eta=1", "affine"};
    sock_model *model = NULL;
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    assert_int_equal(sk_spread_new(ctx, D, D, 3, 0, 0, &model->spread), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        sk_drift_term *term = drift_of(kernel[i], i ? NULL : origin, 3 + (double)i);
        const size_t numbers = sk_features_count(term->map) * D;
        assert_int_equal(sk_model_add_drift(ctx, model, term), SOCK_OK);
        model->spread->share[i] = i == 0 ? share : i == 1 ? 0 : 1 - share;
        model->spread->drift[i] = law_of(numbers, 0.7 + (double)i);
    }
    return model;
}

/* Coefficients of a term with weights moved along column c of group g, less those without: the moves add up in
 * squares. */
static void add_slowly(const sk_drift_term *term, const sk_factor *law, double share, const double *about,
                       sk_monomial_sum *out)
{
    sk_drift_term moved = *term;
    const size_t numbers = sk_features_count(term->map) * D;
    double *weight = sk_doubles(ctx, numbers, 1);
    moved.weight = weight;
    for (size_t c = 0; c <= RANK * GROUPS; c++) {
        sk_monomial_sum s;
        memset(weight, 0, numbers * sizeof *weight);
        for (size_t j = 0; c == 0 && j < numbers; j++) weight[j] = term->weight[j] / share;
        for (size_t e = 0; c > 0 && e < law->count; e++)
            if (law->group[e] == (c - 1) / RANK) weight[law->entry[e]] = law->value[e * RANK + (c - 1) % RANK];
        assert_int_equal(sk_monomials_init(ctx, D, D, about, &s), SOCK_OK);
        assert_int_equal(sk_monomials_add_drift(&s, &moved, 1), SOCK_OK);
        for (size_t i = 0; i < s.count; i++) {
            double *to = sk_monomials_at(out, s.power + i * D);
            for (size_t k = 0; k < D; k++) to[k] += share * pow(s.number[i * D + k], 2);
        }
        sk_monomials_clear(&s);
    }
    sk_free(weight);
}

static void prop_squares_are_those_of_moved_weights(void **state)
{
    (void)state;
    const double about[][D] = {{0, 0}, {2, -1}, {1, 5}};
    for (size_t o = 0; o < 3; o++) {
        sock_model *model = model_of(0.3);
        sk_monomial_sum got, want;
        assert_int_equal(sk_monomials_init(ctx, D, D, about[o], &got), SOCK_OK);
        assert_int_equal(sk_monomials_init(ctx, D, D, about[o], &want), SOCK_OK);
        assert_int_equal(sk_drift_squares(model, polynomials, &got), SOCK_OK);
        add_slowly(model->drift[0], model->spread->drift[0], 0.3, about[o], &want);
        add_slowly(model->drift[2], model->spread->drift[2], 0.7, about[o], &want);
        assert_int_equal(got.count, P);
        assert_int_equal(want.count, P);
        for (size_t i = 0; i < P; i++) {
            const double *expected = sk_monomials_at(&want, got.power + i * D);
            for (size_t k = 0; k < D; k++) assert_close(got.number[i * D + k], expected[k], 1e-10, 1e-6);
        }
        sk_monomials_clear(&got), sk_monomials_clear(&want);
        sock_model_free(model);
    }
}

/* A peer of other coefficients, and one that is no polynomial and so has none. */
static void prop_squares_of_peers_are_about_the_model(void **state)
{
    (void)state;
    const double about[D] = {2, -1};
    const unsigned power[][D] = {{1, 0}, {0, 0}, {0, 2}};
    sock_model *model = model_of(0.3), *peer = model_of(0.6), *third = model_of(0.5);
    sk_monomial_sum own, other, mean[2], got;
    sk_drift_term_free(model->drift[1]), sk_drift_term_free(peer->drift[1]); /* polynomials alone */
    sk_factor_free(model->spread->drift[1]), sk_factor_free(peer->spread->drift[1]);
    for (int i = 0; i < 2; i++) {
        sock_model *m = i ? peer : model;
        m->drift[1] = m->drift[2], m->spread->drift[1] = m->spread->drift[2];
        m->spread->drift[2] = NULL, m->spread->share[1] = m->spread->share[2];
        m->drift_terms = m->spread->drifts = 2;
    }
    sk_scale(sk_drift_term_size(peer->drift[0]) * D, 1.7, peer->drift[0]->weight);
    sk_monomial_sum *const all[] = {&own, &other, &mean[0], &mean[1], &got};
    for (size_t i = 0; i < 5; i++) assert_int_equal(sk_monomials_init(ctx, D, D, about, all[i]), SOCK_OK);
    assert_int_equal(sk_drift_squares(model, all_of_them, &own), SOCK_OK);
    assert_int_equal(sk_drift_squares(peer, all_of_them, &other), SOCK_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sk_monomials_add_drift(&mean[0], model->drift[i], 1), SOCK_OK);
        assert_int_equal(sk_monomials_add_drift(&mean[1], peer->drift[i], 1), SOCK_OK);
    }
    assert_int_equal(sk_spread_add_peer(ctx, model->spread, 0.2, peer), SOCK_OK);
    assert_int_equal(sk_spread_add_peer(ctx, model->spread, 0.1, third),
                     SOCK_OK); /* it has a kernel: it says nothing */
    assert_int_equal(sk_drift_squares(model, all_of_them, &got), SOCK_OK);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < D; k++) {
            const double c = sk_monomials_at(&mean[0], power[i])[k], c_p = sk_monomials_at(&mean[1], power[i])[k];
            const double v = sk_monomials_at(&own, power[i])[k] - c * c;
            const double v_p = sk_monomials_at(&other, power[i])[k] - c_p * c_p;
            const double variance = 0.8 * v + 0.2 * (v_p + (c_p - c) * (c_p - c));
            assert_close(sk_monomials_at(&got, power[i])[k] - c * c, variance, 1e-9, 1e-9);
        }
    for (size_t i = 0; i < 5; i++) sk_monomials_clear(all[i]);
    sock_model_free(model);
}

/* The coefficients of a part, with a share of the whole, do not compare with those of another drift. */
static void prop_squares_of_a_part_know_no_peers(void **state)
{
    (void)state;
    const double about[D] = {1, 0};
    sock_model *model = model_of(0.3), *peer = model_of(0.6);
    sk_monomial_sum alone, beside;
    assert_int_equal(sk_monomials_init(ctx, D, D, about, &alone), SOCK_OK);
    assert_int_equal(sk_monomials_init(ctx, D, D, about, &beside), SOCK_OK);
    assert_int_equal(sk_drift_squares(model, polynomials, &alone), SOCK_OK);
    assert_int_equal(sk_spread_add_peer(ctx, model->spread, 0.2, peer), SOCK_OK);
    assert_int_equal(sk_drift_squares(model, polynomials, &beside), SOCK_OK);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < D; k++)
            assert_close(beside.number[i * D + k], sk_monomials_at(&alone, beside.power + i * D)[k], 1e-13, 0);
    sk_monomials_clear(&alone), sk_monomials_clear(&beside);
    sock_model_free(model);
}

static void test_termerrors__is_the_root_of_the_variance_times_the_factor_of_bands(void **state)
{
    (void)state;
    assert_close(sk_term_error(3, 9 + 0.25), SK_BAND_FACTOR * 0.5, 1e-14, 0);
    assert_close(sk_term_error(-3, 9 + 0.25), SK_BAND_FACTOR * 0.5, 1e-14, 0);
    assert_true(sk_term_error(3, 9 * (1 - 1e-15)) == 0); /* rounding */
}

static sock_status squares_of(sock_context *context, void *arg)
{
    sk_monomial_sum s;
    sock_status status = sk_monomials_init(context, D, D, (const double[D]){0, 0}, &s);
    if (status >= 0) status = sk_drift_squares(arg, polynomials, &s);
    sk_monomials_clear(&s);
    return status;
}

static void test_termerrors__survive_every_failed_allocation(void **state)
{
    (void)state;
    sock_model *model = model_of(0.5);
    sk_monomial_sum s;
    assert_true(for_single_allocations(ctx, squares_of, model) > 12);
    sk_drift_term_free(model->drift[1]); /* without the kernel all are asked for */
    model->drift[1] = model->drift[--model->drift_terms];
    assert_int_equal(sk_monomials_init(ctx, D, D, (const double[D]){0, 0}, &s), SOCK_OK);
    assert_int_equal(sk_drift_squares(model, all_of_them, &s), SOCK_OK);
    assert_int_equal(s.count, P);
    sk_monomials_clear(&s);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_squares_are_those_of_moved_weights),
        cmocka_unit_test(prop_squares_of_peers_are_about_the_model),
        cmocka_unit_test(prop_squares_of_a_part_know_no_peers),
        cmocka_unit_test(test_termerrors__is_the_root_of_the_variance_times_the_factor_of_bands),
        cmocka_unit_test(test_termerrors__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
