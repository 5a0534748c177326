/* test_trial.c - what trials have in common: residuals of a mixture of drifts, kept or made on each visit; features on
 * pivots of rows that stand for all; who is let go. */
#include "tune/policy.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static sk_trial *try_drift(const case_bench *b, const char *kernel)
{
    sk_candidate candidate = {
        .field = SK_DRIFT, .name = sk_strdup(ctx, kernel), .kernel = case_kernel(ctx, kernel), .max_rank = 9};
    sk_trial *r = NULL;
    if (sk_try_drift(ctx, b->views, &candidate, b->rows->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_candidate_clear(&candidate);
    return r;
}

/* I f of row i by the fit without fold f, node by node. */
static void slow_integral(const sk_view *v, const sk_trial *r, size_t f, size_t i, double *out)
{
    double phi[16];
    for (size_t e = v->rule->row[i]; e < v->rule->row[i + 1]; e++) {
        assert_int_equal(sk_features_eval(ctx, r->map, 1, v->rule->x + e * v->d, phi, r->p), SOCK_OK);
        for (size_t j = 0; j < r->size; j++)
            out[j % r->d] += v->rule->weight[e] * phi[j / r->d] * r->solution[f * r->size + j];
    }
}

/* e = t - sum of shares times I f, for every fold and for all rows; z = F^-1 e where asked for. Parts without a share
 * may be missing. */
static void prop_remains_are_what_the_mixture_leaves(void **state)
{
    (void)state;
    static const double share[] = {0.3, 0, 0.7};
    for (size_t d = 1; d <= 2; d++)
        for (int kept = 0; kept < 2; kept++)
            for (int correct = 0; correct < 2; correct++) {
                sk_transitions *rows = case_rows(ctx, d, true);
                case_cut(ctx, rows, 7);
                case_bench b = case_bench_of(ctx, rows, false, kept ? 0 : 1);
                sk_trial *part[] = {try_drift(&b, "affine"), NULL, try_drift(&b, "linear")};
                const sk_mixture drift = {3, part, share};
                sk_remains *remains = NULL;
                assert_int_equal(sk_remains_new(ctx, b.views, &drift, correct, &remains), SOCK_OK);
                assert_ptr_equal(sk_remains_views(remains), b.views);
                for (size_t block = 0; block < rows->blocks; block++) {
                    sk_block taken;
                    assert_int_equal(sk_remains_take(ctx, remains, block, &taken), SOCK_OK);
                    const sk_view *v = taken.view;
                    assert_int_equal(v->begin, rows->block[block]);
                    for (size_t at = 0; at < (rows->folds + 1) * v->n; at++) {
                        const size_t f = at / v->n, i = at % v->n;
                        double first[2] = {0}, second[2] = {0}, z[2], left[4];
                        slow_integral(v, part[0], f, i, first);
                        slow_integral(v, part[2], f, i, second);
                        for (size_t k = 0; k < d; k++) {
                            z[k] = v->t[i * d + k] - 0.3 * first[k] - 0.7 * second[k];
                            assert_close(taken.e[at * d + k], z[k], 1e-12, 1);
                        }
                        memcpy(left, v->left + i * d * d, d * d * sizeof *left);
                        if (correct) dense_solve(d, left, 1, z);
                        for (size_t k = 0; k < d; k++) assert_close(taken.z[at * d + k], z[k], 1e-12, 1);
                    }
                    sk_remains_give(remains, &taken);
                }
                sk_remains_free(remains);
                sk_trial_free(part[0]), sk_trial_free(part[2]);
                case_bench_clear(&b);
            }
}

/* Long blocks: features of a row are made some at a time. */
static void prop_held_of_long_blocks_is_that_of_short_ones(void **state)
{
    (void)state;
    enum { N = 700 };
    sock_data *data = case_data(ctx, N, 2, 10, 8);
    sk_transitions *rows = case_transitions(ctx, data, 2, 2), *cut = case_transitions(ctx, data, 2, 2);
    case_cut(ctx, cut, 9);
    case_bench b = case_bench_of(ctx, rows, false, 1), small = case_bench_of(ctx, cut, false, 1);
    sk_candidate candidate = {.field = SK_DIFFUSION, .name = sk_strdup(ctx, "affine")};
    candidate.kernel = case_kernel(ctx, "affine");
    const double l = 1e-2;
    const sk_diffusion_options options = {2, &l, 1, 1e-9, true, {false, false}, 0};
    case_left left;
    case_left_new(ctx, &b, true, &left);
    sk_trial *trial[2] = {try_drift(&b, "affine"), NULL};
    assert_int_equal(sk_try_diffusion(ctx, left.remains, &candidate, &options, &trial[1]), SOCK_OK);
    assert_true(!trial[0]->held && !trial[1]->held);
    for (size_t which = 0; which < 2; which++) {
        const size_t width = which ? 4 : 2;
        double *held[2];
        for (size_t cutting = 0; cutting < 2; cutting++) {
            const case_bench *own = cutting ? &small : &b;
            held[cutting] = sk_doubles(ctx, N, width);
            for (size_t block = 0; block < own->rows->blocks; block++) {
                const sk_view *v = case_view(ctx, own->views, block);
                assert_int_equal(sk_trial_held(ctx, trial[which], v, held[cutting] + v->begin * width), SOCK_OK);
                sk_views_give(own->views, v);
            }
        }
        assert_all_close(N * width, held[0], held[1], 1e-13);
        sk_free(held[0]), sk_free(held[1]);
        sk_trial_free(trial[which]);
    }
    sk_candidate_clear(&candidate);
    case_left_clear(&left);
    case_bench_clear(&b), case_bench_clear(&small);
    sock_data_free(data);
}

/* Pivots of more rows than are looked at: of every second left end; of few rows, of all. */
/* A trial of all rows, asked about a part of them: what it holds is of others, and the lists of a mixture may go. */
static void prop_held_is_that_of_the_rows_that_are_asked(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        size_t keep[20];
        for (size_t i = 0; i < 20; i++) keep[i] = 2 * i + 11; /* no row stands where it stood */
        sk_transitions *rows = case_rows(ctx, d, true), *few = NULL;
        assert_int_equal(sk_transitions_subset(ctx, rows, 20, keep, &few), SOCK_OK);
        case_bench all = case_bench_of(ctx, rows, false, 0), part = case_bench_of(ctx, few, false, 0);
        sk_trial *drift = try_drift(&all, "affine");
        double *share = sk_doubles(ctx, 1, 1);
        sk_trial **list = sk_alloc(ctx, 1, sizeof *list);
        sk_remains *remains = NULL;
        assert_non_null(drift->held);
        *share = 1, *list = drift;
        assert_int_equal(sk_remains_new(ctx, part.views, &(sk_mixture){1, list, share}, false, &remains), SOCK_OK);
        sk_free(share), sk_free(list);
        for (size_t block = 0; block < few->blocks; block++) {
            sk_block taken;
            assert_int_equal(sk_remains_take(ctx, remains, block, &taken), SOCK_OK);
            const sk_view *v = taken.view;
            double *held = sk_doubles(ctx, v->n, d);
            assert_int_equal(sk_trial_held(ctx, drift, v, held), SOCK_OK);
            for (size_t i = 0; i < v->n; i++) {
                double own[2] = {0};
                slow_integral(v, drift, v->fold, i, own);
                for (size_t k = 0; k < d; k++) {
                    assert_close(held[i * d + k], own[k], 1e-12, 1);
                    assert_close(taken.e[(v->fold * v->n + i) * d + k], v->t[i * d + k] - own[k], 1e-12, 1);
                }
            }
            sk_free(held);
            sk_remains_give(remains, &taken);
        }
        sk_remains_free(remains);
        sk_trial_free(drift);
        case_bench_clear(&all), case_bench_clear(&part);
    }
}

static void test_trial__pivots_of_many_rows_are_those_of_some(void **state)
{
    (void)state;
    static const size_t counts[] = {50, SK_PIVOT_ROWS, SK_PIVOT_ROWS + 7};
    sk_kernel *kernel = case_kernel(ctx, "gauss:eta=0.8");
    for (size_t c = 0; c < 3; c++) {
        enum { D = 2, POINTS = 40 };
        const size_t n = counts[c], stride = n > SK_PIVOT_ROWS ? 2 : 1, count = (n + stride - 1) / stride;
        sock_data *data = case_data(ctx, n, D, 10, 6);
        sk_transitions *rows = case_transitions(ctx, data, 1, 0);
        sk_features *map = NULL, *expected = NULL;
        double *some = sk_doubles(ctx, count, D), x[POINTS * D];
        for (size_t i = 0; i < count * D; i++) some[i] = rows->y[i / D * stride * D + i % D];
        assert_int_equal(sk_pivoted_map(ctx, kernel, rows, 1e-9, 12, &map), SOCK_OK);
        assert_int_equal(sk_features_pivoted(ctx, kernel, D, count, some, 1e-9, 12, false, &expected, NULL, NULL),
                         SOCK_OK);
        const size_t p = sk_features_count(map);
        assert_int_equal(p, 12);
        assert_int_equal(sk_features_count(expected), p);
        double *phi = sk_doubles(ctx, POINTS, p), *wanted = sk_doubles(ctx, POINTS, p);
        sk_normals((sk_key){9, SK_PURPOSE_TEST}, 0, 0, 0, POINTS * D, x);
        assert_int_equal(sk_features_eval(ctx, map, POINTS, x, phi, p), SOCK_OK);
        assert_int_equal(sk_features_eval(ctx, expected, POINTS, x, wanted, p), SOCK_OK);
        assert_all_close(POINTS * p, phi, wanted, 1e-14);
        sk_free(some), sk_free(phi), sk_free(wanted);
        sk_features_free(map), sk_features_free(expected);
        sk_transitions_free(rows);
        sock_data_free(data);
    }
    sk_kernel_free(kernel);
}

static void test_trial__rank_is_at_most_the_number_of_rows(void **state)
{
    (void)state;
    sk_kernel *kernel = case_kernel(ctx, "gauss:eta=0.1");
    sock_data *data = case_data(ctx, 5, 2, 5, 6);
    sk_transitions *rows = case_transitions(ctx, data, 1, 0);
    sk_features *map = NULL;
    assert_int_equal(sk_pivoted_map(ctx, kernel, rows, 1e-12, 100, &map), SOCK_OK);
    assert_int_equal(sk_features_count(map), 5);
    sk_features_free(map);
    sk_transitions_free(rows);
    sock_data_free(data);
    sk_kernel_free(kernel);
}

static void test_trial__only_numerical_failure_is_tolerated(void **state)
{
    (void)state;
    assert_int_equal(sk_tolerate(SOCK_OK), SOCK_OK);
    assert_int_equal(sk_tolerate(SOCK_ENUMERIC), SOCK_OK);
    assert_int_equal(sk_tolerate(SOCK_ENOMEM), SOCK_ENOMEM);
    assert_int_equal(sk_tolerate(SOCK_EINPUT), SOCK_EINPUT);
}

typedef struct taking {
    const case_bench *b;
    const sk_mixture *drift;
    const sk_transitions *many;
    const sk_kernel *kernel;
} taking;

static sock_status take_once(sock_context *c, void *arg)
{
    const taking *t = arg;
    sk_remains *remains = NULL;
    sk_features *map = NULL;
    double held[40];
    sock_status status = sk_remains_new(c, t->b->views, t->drift, true, &remains);
    for (size_t b = 0; status >= 0 && b < t->b->rows->blocks; b++) {
        sk_block block;
        status = sk_remains_take(c, remains, b, &block);
        if (status < 0) break;
        status = sk_trial_held(c, t->drift->trial[0], block.view, held);
        sk_remains_give(remains, &block);
    }
    if (status >= 0) status = sk_pivoted_map(c, t->kernel, t->many, 1e-3, 3, &map);
    sk_features_free(map);
    sk_remains_free(remains);
    return status;
}

/* ---- A length scale that the user named ---- */

/* Rows with units 2 and 1/4, and a candidate whose length is meant in the units of the data. */
typedef struct naming {
    sk_transitions *rows;
    sk_candidate candidate;
} naming;

static naming named_length(const char *kernel)
{
    naming w = {.rows = case_rows(ctx, 2, false)};
    w.rows->scale[0] = 2;
    w.rows->scale[1] = 0.25;
    w.candidate = (sk_candidate){
        .field = SK_DRIFT, .kernel = case_kernel(ctx, kernel), .max_rank = w.rows->n, .in_data_units = true};
    return w;
}

static void naming_clear(naming *w)
{
    sk_candidate_clear(&w->candidate);
    sk_transitions_free(w->rows);
}

/* Its features see rows z, and phi(z).phi(z') = exp(-|S (z - z')|^2 / (2 eta^2)) with the units S: the kernel that was
 * named, of points in the units of the data. Back in these units the map has no scale of its own. */
static void prop_a_named_length_is_in_the_units_of_the_data(void **state)
{
    (void)state;
    static const char *const kernels[] = {"gauss:eta=0.3", "nystrom:m=60,of=gauss,eta=0.3"};
    for (size_t c = 0; c < 2; c++) {
        naming w = named_length(kernels[c]);
        sk_features *map = NULL;
        assert_int_equal(sk_candidate_map(ctx, w.rows, &w.candidate, &map), SOCK_OK);
        const size_t p = sk_features_count(map), n = w.rows->n;
        double *phi = calloc(n * p, sizeof *phi);
        const double *z = w.rows->left;
        assert_int_equal(sk_features_eval(ctx, map, n, z, phi, p), SOCK_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                const double x = 2 * (z[2 * i] - z[2 * j]), y = (z[2 * i + 1] - z[2 * j + 1]) / 4;
                double product = 0;
                for (size_t k = 0; k < p; k++) product += phi[i * p + k] * phi[j * p + k];
                assert_close(product, exp(-(x * x + y * y) / (2 * 0.3 * 0.3)), 1e-9, 1);
            }
        assert_int_equal(sk_features_set_units(ctx, map, NULL, w.rows->scale), SOCK_OK);
        for (size_t k = 0; k < 2; k++) assert_true(sk_features_scale(map)[k] == 1);
        free(phi);
        sk_features_free(map);
        naming_clear(&w);
    }
}

/* A unit and its inverse leave none, whatever they round to. */
static void test_trial__units_that_cancel_leave_none(void **state)
{
    (void)state;
    naming w = named_length("gauss:eta=0.3");
    for (int i = 1; i < 200; i++) {
        sk_features *map = NULL;
        w.rows->scale[0] = 0.37 * i;
        w.rows->scale[1] = 1 / (0.11 * i);
        w.candidate.max_rank = 2;
        assert_int_equal(sk_candidate_map(ctx, w.rows, &w.candidate, &map), SOCK_OK);
        assert_int_equal(sk_features_set_units(ctx, map, NULL, w.rows->scale), SOCK_OK);
        for (size_t k = 0; k < 2; k++) assert_true(sk_features_scale(map)[k] == 1);
        sk_features_free(map);
    }
    naming_clear(&w);
}

static sock_status map_once(sock_context *c, void *arg)
{
    const naming *w = arg;
    sk_features *map = NULL;
    const sock_status status = sk_candidate_map(c, w->rows, &w->candidate, &map);
    sk_features_free(map);
    return status;
}

static void test_trial__survives_every_failed_allocation(void **state)
{
    (void)state;
    static const double one = 1;
    sock_set_threads(ctx, 1);
    sock_data *data = case_data(ctx, SK_PIVOT_ROWS + 10, 1, 10, 6);
    sk_transitions *many = case_transitions(ctx, data, 1, 0);
    sk_kernel *kernel = case_kernel(ctx, "gauss:eta=1");
    for (int kept = 0; kept < 2; kept++) {
        case_bench b = case_bench_of(ctx, case_rows(ctx, 2, false), false, kept ? 0 : 1);
        sk_trial *drift = try_drift(&b, "affine");
        const sk_mixture mixture = {1, &drift, &one};
        assert_true(for_single_allocations(ctx, take_once, &(taking){&b, &mixture, many, kernel}) > 15);
        sk_trial_free(drift);
        case_bench_clear(&b);
    }
    sk_kernel_free(kernel);
    sk_transitions_free(many);
    sock_data_free(data);
    naming w = named_length("gauss:eta=0.3");
    assert_true(for_single_allocations(ctx, map_once, &w) > 5);
    naming_clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_remains_are_what_the_mixture_leaves),
        cmocka_unit_test(prop_held_of_long_blocks_is_that_of_short_ones),
        cmocka_unit_test(prop_held_is_that_of_the_rows_that_are_asked),
        cmocka_unit_test(test_trial__pivots_of_many_rows_are_those_of_some),
        cmocka_unit_test(test_trial__rank_is_at_most_the_number_of_rows),
        cmocka_unit_test(test_trial__only_numerical_failure_is_tolerated),
        cmocka_unit_test(prop_a_named_length_is_in_the_units_of_the_data),
        cmocka_unit_test(test_trial__units_that_cancel_leave_none),
        cmocka_unit_test(test_trial__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
