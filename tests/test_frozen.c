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

/* Of step i: U (2 x 6, and u0 as a last column), carried along the run; psi: 3 features at the times of the step. */
static void carry(const sk_innovations *in, size_t i, const double *psi, double u[2][7])
{
    const double *j = in->slope + 4 * i;
    double next[2][7] = {{0}};
    for (size_t a = 0; a < 2; a++)
        for (size_t c = 0; c < 7; c++) {
            for (size_t b = 0; b < 2 && !in->begins[i]; b++) next[a][c] += j[2 * a + b] * u[b][c];
            for (size_t t = 0; t < in->times; t++) {
                const size_t at = i * in->times + t, b = c / 3;
                const double *onward = in->onward + 4 * at + 2 * a;
                if (c < 6)
                    next[a][c] += onward[b] * psi[3 * at + c % 3];
                else
                    next[a][c] += onward[0] * in->drift[2 * at] + onward[1] * in->drift[2 * at + 1];
            }
        }
    memcpy(u, next, sizeof next);
}

static void update(const double *keep, double u[2][7])
{
    for (size_t c = 0; c < 7; c++) {
        const double x = u[0][c], y = u[1][c];
        u[0][c] = keep[0] * x + keep[1] * y;
        u[1][c] = keep[2] * x + keep[3] * y;
    }
}

/* What the sums are made of, step by step: rows, targets, S, and weights (S + shift)^-1. */
static void test_innovation__rows_agree_with_the_oracle(void **state)
{
    (void)state;
    example e;
    double psi[7 * 3 * 3], u[2][7] = {{0}};
    example_init(&e);
    sk_frozen *z = freeze(&e);
    json_t *root = oracle_load("noise_innovation.json"), *rows = json_object_get(root, "rows");
    double *shift = oracle_numbers(root, "shift", NULL);
    affine(z, psi);
    const sk_innovations in = sk_frozen_innovations(z, 0, 7, 0);
    assert_int_equal(json_array_size(rows), 7);
    for (size_t i = 0; i < 7; i++) {
        json_t *at = json_array_get(rows, i);
        double row[12], target[2], s[4];
        carry(&in, i, psi, u);
        for (size_t a = 0; a < 2; a++) {
            memcpy(row + 6 * a, u[a], 6 * sizeof *row);
            target[a] = in.e[2 * i + a] + u[a][6];
        }
        for (size_t k = 0; k < 4; k++) s[k] = z->pass.cov[4 * i + k] + e.noise[k];
        compare(at, "row", row);
        compare(at, "target", target);
        compare(at, "S", s);
        for (size_t k = 0; k < 4; k++) { /* white' white (S + shift) = 1 */
            const double *w = in.white + 4 * i, a = w[k / 2], b = w[2 + k / 2];
            double product = 0;
            for (size_t l = 0; l < 2; l++)
                product += (a * w[l] + b * w[2 + l]) * (s[2 * l + k % 2] + shift[2 * l + k % 2]);
            assert_close(product, k % 3 == 0, 1e-11, 1);
        }
        update(in.keep + 4 * i, u);
    }
    free(shift);
    json_decref(root);
    sk_frozen_free(z);
    example_clear(&e);
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
    const double l = 0;
    assert_int_equal(sk_drift_sums_ridge(ctx, sums, 0, 1, &l, w, NULL), SOCK_OK);
    compare(root, "w", w);
    assert_close(sk_drift_sums_unit(sums) * 7, (h[0] + h[7] + h[14] + h[21] + h[28] + h[35]) / 6, 1e-12, 1);
    json_decref(root);
    sk_drift_sums_free(sums);
    sk_frozen_free(z);
    example_clear(&e);
}

static void hardly(void *user, size_t count, size_t d, const double *x, double *a)
{
    oracle_diffusion(user, count, d, x, a);
    for (size_t i = 0; i < count * d * d; i++) a[i] *= 1e-8;
}

/* Every step ends where the flow from its beginning does: least squares over terms that hold the drift give it back. */
static void prop_innovation__of_exact_flows_the_drift_is_the_fixed_point(void **state)
{
    (void)state;
    enum { P = 4, STEPS = 7, TIMES = 5 };
    static const double right[2 * P] = {0, 0, 0, -1, 1, 0.5, 0, -0.3}; /* of 1, x1, x2, x1^2 x2, for both states */
    example e;
    double next[2 * STEPS], psi[STEPS * TIMES * P] = {0}, w[2 * P];
    sk_pass pass;
    sk_drift_sums *sums = NULL;
    example_init(&e);
    sock_model *calm = wrap_fields(ctx, 2, oracle_drift, hardly, NULL);
    const sk_filter_spec spec = {calm, NULL, {{TIMES - 1, false}, oracle_reach, NULL, NULL}, NULL};
    assert_int_equal(sk_pass_new(ctx, &e.series, true, &pass), SOCK_OK);
    assert_int_equal(sk_filter(ctx, &e.series, &spec, &pass), SOCK_OK);
    for (size_t k = 0; k < STEPS; k++) { /* the ends of one pass are where the steps after them begin in the next */
        memcpy(next, pass.mean, sizeof next);
        e.series.next = next;
        assert_int_equal(sk_filter(ctx, &e.series, &spec, &pass), SOCK_OK);
    }
    sk_frozen *z = NULL;
    assert_int_equal(sk_frozen_new(ctx, &e.series, &spec, &z), SOCK_OK);
    for (size_t k = 0; k < STEPS * TIMES * z->each; k++) {
        const double *x = z->x + 2 * k, phi[P] = {1, x[0], x[1], x[0] * x[0] * x[1]};
        for (size_t j = 0; j < P; j++) psi[k / z->each * P + j] += z->weight[k] * phi[j];
    }
    const sk_innovations in = sk_frozen_innovations(z, 0, STEPS, 0);
    const double l = 0;
    for (size_t i = 0; i < 2 * STEPS; i++) assert_close(in.e[i], 0, 1e-14, 1);
    assert_int_equal(sk_drift_sums_new(ctx, P, 2, 0, SK_JOINT, &sums), SOCK_OK);
    assert_int_equal(sk_drift_sums_add_innovations(ctx, sums, &in, psi), SOCK_OK);
    assert_int_equal(sk_drift_sums_ridge(ctx, sums, 0, 1, &l, w, NULL), SOCK_OK);
    for (size_t k = 0; k < 2 * P; k++) assert_close(w[k], right[k], 1e-9, 1);
    sk_drift_sums_free(sums);
    sk_frozen_free(z);
    sk_pass_clear(&pass);
    sock_model_free(calm);
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

/* The candidate of the oracle: f + (0.1, -0.2) + 0.05 x and 1.3 a. */
static void other_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    oracle_drift(user, count, d, x, f);
    for (size_t i = 0; i < count * d; i++) f[i] += (i % 2 ? -0.2 : 0.1) + 0.05 * x[i];
}

/* I f of the candidate over the nodes of all steps. */
static void integrate_other(const sk_frozen *z, double *out)
{
    const size_t nodes = z->times * z->each;
    for (size_t i = 0; i < z->series->steps; i++) {
        out[2 * i] = out[2 * i + 1] = 0;
        for (size_t k = i * nodes; k < (i + 1) * nodes; k++) {
            double f[2];
            other_drift(NULL, 1, 2, z->x + 2 * k, f);
            for (size_t l = 0; l < 2; l++) out[2 * i + l] += z->weight[k] * f[l];
        }
    }
}

/* c := a b, or a b'. */
static void times2(const double *a, const double *b, bool turned, double *c)
{
    for (size_t k = 0; k < 4; k++) {
        const double *r = a + k / 2 * 2;
        c[k] = turned ? r[0] * b[k % 2 * 2] + r[1] * b[k % 2 * 2 + 1] : r[0] * b[k % 2] + r[1] * b[2 + k % 2];
    }
}

/* s := m s m'. */
static void around(const double *m, double *s)
{
    double half[4];
    times2(m, s, false, half);
    times2(half, m, true, s);
}

/* An affine Kalman filter about the pass of z, in plain loops, of run r: integrals f (NULL: those of the model) and a.
 */
static double slow_frozen(const sk_frozen *z, const double *noise, size_t r, const double *f, const double *a)
{
    const sk_series *s = z->series;
    double x[2], p[4], sum = 0;
    memcpy(x, s->y + 2 * s->first[r], sizeof x);
    memcpy(p, noise, sizeof p);
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const double *at = z->pass.m + 2 * (i + r), *j = z->pass.slope + 4 * i, *mean = z->average + 4 * i;
        double more[2] = {0}, extra[4], m[2], c[4], e[2], gain[4], left[4];
        for (size_t l = 0; f && l < 2; l++) {
            more[l] = f[2 * i + l];
            for (size_t t = 0; t < z->times; t++) more[l] -= z->drift[2 * (i * z->times + t) + l];
        }
        for (size_t l = 0; l < 2; l++)
            m[l] = z->pass.mean[2 * i + l] + j[2 * l] * (x[0] - at[0]) + j[2 * l + 1] * (x[1] - at[1]) +
                   mean[2 * l] * more[0] + mean[2 * l + 1] * more[1];
        for (size_t k = 0; k < 4; k++) extra[k] = a[4 * i + k] - z->diffusion[4 * i + k];
        around(mean, extra);
        around(j, p);
        for (size_t k = 0; k < 4; k++) p[k] += z->own[4 * i + k] + extra[k];
        for (size_t k = 0; k < 4; k++) c[k] = p[k] + noise[k];
        const double det = c[0] * c[3] - c[1] * c[2];
        const double inverse[4] = {c[3] / det, -c[1] / det, -c[2] / det, c[0] / det};
        for (size_t l = 0; l < 2; l++) e[l] = s->next[2 * i + l] - m[l];
        sum -= log(2 * acos(-1)) + 0.5 * log(det) +
               0.5 * (e[0] * (inverse[0] * e[0] + inverse[1] * e[1]) + e[1] * (inverse[2] * e[0] + inverse[3] * e[1]));
        times2(p, inverse, false, gain);
        for (size_t l = 0; l < 2; l++) x[l] = m[l] + gain[2 * l] * e[0] + gain[2 * l + 1] * e[1];
        times2(gain, p, false, left);
        for (size_t k = 0; k < 4; k++) p[k] -= left[k];
    }
    return sum;
}

/* The slow filter is the oracle's with a candidate for f and a, and ours with one for a: drifts are compared by the
 * residuals of innovation rows. */
static void test_frozen__candidates_agree_with_the_oracle(void **state)
{
    (void)state;
    example e;
    double f[14], a[28], term[7];
    example_init(&e);
    sk_frozen *z = freeze(&e);
    json_t *root = oracle_load("noise_frozen.json");
    double *expected = oracle_numbers(root, "loglik_candidate_frozen", NULL);
    integrate_other(z, f);
    compare(root, "If", f);
    for (size_t k = 0; k < 28; k++) a[k] = 1.3 * z->diffusion[k];
    assert_int_equal(sk_frozen_scores(ctx, z, 0, 2, &(sk_frozen_change){.diffusion = a}, term), SOCK_OK);
    for (size_t r = 0; r < 2; r++) {
        assert_close(slow_frozen(z, e.noise, r, f, a), expected[r], 1e-11, 1);
        assert_close(run_sum(z, term, r), slow_frozen(z, e.noise, r, NULL, a), 1e-11, 1);
    }
    free(expected);
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
        cmocka_unit_test(test_innovation__rows_agree_with_the_oracle),
        cmocka_unit_test(test_innovation__sums_agree_with_the_oracle),
        cmocka_unit_test(prop_innovation__of_exact_flows_the_drift_is_the_fixed_point),
        cmocka_unit_test(prop_innovation__scores_are_those_of_the_rows),
        cmocka_unit_test(test_frozen__scores_agree_with_the_oracle),
        cmocka_unit_test(test_frozen__candidates_agree_with_the_oracle),
        cmocka_unit_test(test_pulled__rows_agree_with_the_oracle),
        cmocka_unit_test(test_frozen__memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
