/* test_frozen.c - rows and scores about a kept filter pass, against an independent program. */
#include "noise/frozen.h"
#include "noisecases.h"

static sk_frozen *freeze(const example *e)
{
    sk_frozen *z = NULL;
    assert_int_equal(sk_frozen_new(ctx, &e->series, &e->spec, &z), SOCK_OK);
    return z;
}

/* Features 1, x1, x2 at the times of all steps: steps x times x 3. */
static void affine(const sk_frozen *z, double *psi)
{
    for (size_t t = 0; t < z->series->steps * z->times; t++) {
        memset(psi + 3 * t, 0, 3 * sizeof *psi);
        for (size_t k = 0; k < z->each; k++) {
            const size_t node = t * z->each + k;
            psi[3 * t] += z->weight[node];
            psi[3 * t + 1] += z->weight[node] * z->x[2 * node];
            psi[3 * t + 2] += z->weight[node] * z->x[2 * node + 1];
        }
    }
}

static void test_innovation__sums_agree_with_the_oracle(void **state)
{
    (void)state;
    example e;
    double psi[7 * 3 * 3], h[36], g[6], w[6];
    sk_drift_sums *sums = NULL;
    example_init(&e);
    sk_frozen *z = freeze(&e);
    json_t *root = oracle_load("noise_innovation.json");
    affine(z, psi);
    assert_int_equal(sk_drift_sums_new(ctx, 3, 2, 0, SK_JOINT, &sums), SOCK_OK);
    const sk_innovations in = sk_frozen_innovations(z, 0, 7, 0);
    assert_int_equal(sk_drift_sums_add_innovations(ctx, sums, &in, psi), SOCK_OK);
    assert_int_equal(sk_drift_sums_subtract(sums, 0, 0, h, g), 7);
    compare(root, "H", h);
    compare(root, "g", g);
    const double l = 1e-14;
    assert_int_equal(sk_drift_sums_ridge(ctx, sums, 0, 1, &l, w, NULL), SOCK_OK);
    double *expected = oracle_numbers(root, "w", NULL);
    assert_all_close(6, w, expected, 1e-6);
    assert_close(sk_drift_sums_unit(sums) * 7, (h[0] + h[7] + h[14] + h[21] + h[28] + h[35]) / 6, 1e-12, 1);
    free(expected);
    json_decref(root);
    sk_drift_sums_free(sums);
    sk_frozen_free(z);
    example_clear(&e);
}

/* -|W (target - U w)|^2 / 2 from the sums is the score by values of the drift. */
static void prop_innovation__scores_are_those_of_the_rows(void **state)
{
    (void)state;
    const double w[] = {0.3, -0.2, 0.9, 0.1, -0.4, 0.5}; /* feature, component */
    example e;
    double psi[7 * 3 * 3], other[7 * 3 * 2] = {0}, score[7], h[36], g[6], sum = 0, form = 0, same = 0;
    sk_drift_sums *sums = NULL;
    example_init(&e);
    sk_frozen *z = freeze(&e);
    affine(z, psi);
    assert_int_equal(sk_drift_sums_new(ctx, 3, 2, 0, SK_JOINT, &sums), SOCK_OK);
    const sk_innovations in = sk_frozen_innovations(z, 0, 7, 0);
    assert_int_equal(sk_drift_sums_add_innovations(ctx, sums, &in, psi), SOCK_OK);
    sk_drift_sums_subtract(sums, 0, 0, h, g);
    for (size_t t = 0; t < 21; t++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 2; k++) other[2 * t + k] += psi[3 * t + j] * w[2 * j + k];
    assert_int_equal(sk_innovation_scores(ctx, &in, other, score), SOCK_OK);
    for (size_t i = 0; i < 7; i++) sum += score[i];
    memset(other, 0, sizeof other);
    double none[7];
    assert_int_equal(sk_innovation_scores(ctx, &in, other, none), SOCK_OK);
    for (size_t i = 0; i < 7; i++) same += none[i];
    for (size_t a = 0; a < 6; a++) {
        form += g[a] * w[a % 3 * 2 + a / 3];
        for (size_t b = 0; b < 6; b++) form -= 0.5 * w[a % 3 * 2 + a / 3] * h[6 * a + b] * w[b % 3 * 2 + b / 3];
    }
    assert_close(sum - same, form, 1e-11, 1);
    sk_drift_sums_free(sums);
    sk_frozen_free(z);
    example_clear(&e);
}

static double run_sum(const sk_frozen *z, const double *term, size_t r)
{
    double sum = 0;
    for (size_t i = z->series->first[r]; i < z->series->first[r + 1]; i++) sum += term[i];
    return sum;
}

static void test_frozen__scores_agree_with_the_oracle(void **state)
{
    (void)state;
    example e;
    double term[7], scaled[28], both[] = {1.3, 1.3};
    example_init(&e);
    sk_frozen *z = freeze(&e);
    json_t *root = oracle_load("noise_frozen.json");
    double *own = oracle_numbers(root, "loglik_own", NULL), *v = oracle_numbers(root, "V", NULL);
    double *f = oracle_numbers(root, "F", NULL), *a = oracle_numbers(root, "Ia", NULL);
    assert_int_equal(sk_frozen_scores(ctx, z, 0, 2, &(sk_frozen_change){0}, term), SOCK_OK);
    for (size_t r = 0; r < 2; r++) {
        assert_close(run_sum(z, term, r), own[r], 1e-11, 1);
        assert_close(run_sum(z, z->pass.term, r), own[r], 1e-11, 1);
    }
    assert_all_close(28, z->average, f, 1e-11);
    assert_all_close(28, z->own, v, 1e-10);
    for (size_t k = 0; k < 28; k++) scaled[k] = 1.3 * z->diffusion[k];
    assert_all_close(28, scaled, a, 1e-11);
    double again[7], noise[4];
    assert_int_equal(sk_frozen_scores(ctx, z, 0, 2, &(sk_frozen_change){.diffusion = scaled}, term), SOCK_OK);
    assert_int_equal(sk_frozen_scores(ctx, z, 0, 2, &(sk_frozen_change){.scale = both}, again), SOCK_OK);
    assert_all_close(7, again, term, 1e-12);
    for (size_t k = 0; k < 4; k++) noise[k] = 2 * e.noise[k];
    assert_int_equal(sk_frozen_scores(ctx, z, 1, 2, &(sk_frozen_change){.noise = noise}, again), SOCK_OK);
    assert_true(run_sum(z, again, 1) != own[1]);
    free(own);
    free(v);
    free(f);
    free(a);
    json_decref(root);
    sk_frozen_free(z);
    example_clear(&e);
}

static void test_pulled__rows_agree_with_the_oracle(void **state)
{
    (void)state;
    json_t *root = oracle_load("noise_rows.json"), *rows = json_object_get(root, "rows");
    sock_model *model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    assert_int_equal(json_array_size(rows), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *at = json_array_get(rows, i);
        double *x0 = oracle_numbers(at, "x0", NULL), *x1 = oracle_numbers(at, "x1", NULL), target[2];
        const double h = json_number_value(json_object_get(at, "h"));
        const size_t s = (size_t)json_integer_value(json_object_get(at, "substeps"));
        const sk_filter_spec spec = {model, NULL, {{s, false}, oracle_reach, NULL, NULL}, NULL};
        sk_pulled *q = NULL;
        assert_int_equal(sk_pulled_new(ctx, &spec, &(sk_ends){1, x0, x1, &h, NULL}, &q), SOCK_OK);
        assert_true(q->good[0]);
        compare(at, "nodes", q->rule->x);
        compare(at, "weights", q->rule->weight);
        compare(at, "F", q->average);
        compare(at, "z", q->z);
        for (size_t k = 0; k < 2; k++) target[k] = q->u[k] + q->drift[k];
        compare(at, "target", target);
        sk_pulled_free(q);
        free(x0);
        free(x1);
    }
    sock_model_free(model);
    json_decref(root);
}

static sock_status all_of_it(sock_context *context, void *arg)
{
    const example *e = arg;
    const sk_ends ends = {7, e->series.y, e->series.next, e->series.h, NULL};
    sk_frozen *z = NULL;
    sk_pulled *q = NULL;
    sk_rule *rule = NULL;
    double term[7];
    sock_status status;
    SK_GO(sk_frozen_new(context, &e->series, &e->spec, &z));
    SK_GO(sk_frozen_rule(context, z, 0, 7, true, &rule));
    SK_GO(sk_frozen_scores(context, z, 0, 2, &(sk_frozen_change){0}, term));
    SK_GO(sk_pulled_new(context, &e->spec, &ends, &q));
out:
    sk_rule_free(rule);
    sk_pulled_free(q);
    sk_frozen_free(z);
    return status;
}

static void test_frozen__memory_may_end_anywhere(void **state)
{
    (void)state;
    example e;
    example_init(&e);
    assert_true(for_single_allocations(ctx, all_of_it, &e) > 30);
    example_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_innovation__sums_agree_with_the_oracle),
        cmocka_unit_test(prop_innovation__scores_are_those_of_the_rows),
        cmocka_unit_test(test_frozen__scores_agree_with_the_oracle),
        cmocka_unit_test(test_pulled__rows_agree_with_the_oracle),
        cmocka_unit_test(test_frozen__memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
