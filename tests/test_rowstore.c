/* test_rowstore.c - rows that lie in a file: what is read is what was written, and every number that the estimators
 * make of them is the one that they make of the same rows in memory, to the last bit. */
#define _GNU_SOURCE
#include "occupation/rowstore.h"
#include "tune/heldmodel.h"
#include "tune/policy.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

/* The rows in a store; folds in turn, as they come from files. */
static sk_transitions *stored(const sk_transitions *rows)
{
    sk_row_store *store = NULL;
    sk_transitions *out = NULL;
    size_t at[16];
    assert_int_equal(sk_row_store_new(ctx, "/tmp", rows->d, rows->folds, 1, &store), SOCK_OK);
    for (size_t f = 0; f < rows->folds; f++) at[f] = rows->first[f];
    for (size_t left = rows->n; left;)
        for (size_t f = 0; f < rows->folds; f++)
            for (size_t k = 0; k < 7 && at[f] < rows->first[f + 1]; k++, at[f]++, left--)
                assert_int_equal(sk_row_store_add(ctx, store, f, rows->cluster[at[f]], rows->y + at[f] * rows->d,
                                                  rows->next + at[f] * rows->d, rows->h[at[f]]),
                                 SOCK_OK);
    assert_int_equal(sk_row_store_close(ctx, store, rows, &out), SOCK_OK);
    return out;
}

/* More rows than a block holds in one fold, fewer in another. */
static sk_transitions *many_rows(size_t d, sock_data **data)
{
    *data = case_data(ctx, 30000, d, 40, 5);
    sk_transitions *rows = case_transitions(ctx, *data, 3, 3);
    const size_t n = rows->first[rows->folds];
    size_t *keep = sk_alloc(ctx, n, sizeof *keep), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (sk_transitions_fold(rows, i) < 2 || i % 3 == 0) keep[kept++] = i;
    sk_transitions *some = NULL;
    assert_int_equal(sk_transitions_subset(ctx, rows, kept, keep, &some), SOCK_OK);
    sk_free(keep);
    sk_transitions_free(rows);
    return some;
}

static void prop_rowstore__what_is_read_is_what_was_written(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        sock_data *data;
        sk_transitions *rows = many_rows(d, &data), *out = stored(rows);
        assert_int_equal(out->n, rows->n);
        assert_int_equal(out->blocks, rows->blocks);
        assert_memory_equal(out->first, rows->first, (rows->folds + 2) * sizeof *out->first);
        assert_memory_equal(out->block, rows->block, (rows->blocks + 1) * sizeof *out->block);
        for (size_t b = 0; b < rows->blocks; b++) {
            sk_transitions *own = NULL;
            const sk_transitions *some = NULL;
            size_t begin, n = rows->block[b + 1] - rows->block[b], from = rows->block[b];
            assert_int_equal(sk_transitions_block(ctx, out, b, &own, &some, &begin), SOCK_OK);
            assert_true(begin == 0 && some == own && own->n == n);
            assert_memory_equal(own->y, rows->y + from * d, n * d * sizeof(double));
            assert_memory_equal(own->next, rows->next + from * d, n * d * sizeof(double));
            assert_memory_equal(own->h, rows->h + from, n * sizeof(double));
            assert_memory_equal(own->cluster, rows->cluster + from, n * sizeof(size_t));
            sk_transitions_free(own);
        }
        for (size_t k = 0; k < d; k++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < rows->n; i++) {
                low = fmin(low, fmin(rows->y[i * d + k], rows->next[i * d + k]));
                high = fmax(high, fmax(rows->y[i * d + k], rows->next[i * d + k]));
            }
            assert_true(out->range[k] == low && out->range[d + k] == high);
        }
        sk_transitions_free(out);
        sk_transitions_free(rows);
        sock_data_free(data);
    }
}

static sk_candidate candidate_of(sk_field field, const char *kernel)
{
    return (sk_candidate){
        .field = field, .name = sk_strdup(ctx, kernel), .kernel = case_kernel(ctx, kernel), .max_rank = 9};
}

static void assert_same_trial(const sk_trial *a, const sk_trial *b, size_t clusters)
{
    assert_true(a->l == b->l && a->score == b->score && a->p == b->p);
    assert_memory_equal(a->solution, b->solution, (a->folds + 1) * a->size * sizeof *a->solution);
    assert_memory_equal(a->cluster, b->cluster, clusters * sizeof *a->cluster);
}

/* One drift and one diffusion under a model, and how they do together by Euler's likelihood. */
static void try_both(const sk_transitions *rows, const sock_model *model, sk_trial **f, sk_trial **a, double *euler)
{
    static const double l[] = {1e-1, 1e-3, 1e-5}, one = 1, zero = 0;
    const sk_diffusion_options options = {
        .folds = rows->folds, .l = l, .lambdas = 3, .tolerance = 1e-6, .solve_all = true};
    sk_candidate drift = candidate_of(SK_DRIFT, "gauss:eta=1.5"), diffusion = candidate_of(SK_DIFFUSION, "affine");
    sk_view_spec look = case_look(model, false);
    look.keep = 1; /* bytes: nothing is kept */
    sk_views *views = case_views(ctx, rows, &look);
    sk_remains *remains = NULL;
    assert_false(sk_views_kept(views));
    assert_int_equal(sk_try_drift(ctx, views, &drift, rows->folds, f), SOCK_OK);
    const sk_mixture left = {1, f, &one};
    assert_int_equal(sk_remains_new(ctx, views, &left, true, &remains), SOCK_OK);
    assert_int_equal(sk_try_diffusion(ctx, remains, &diffusion, &options, a), SOCK_OK);
    const sk_held_model held = {{1, f, &one}, {1, a, &one}, 0};
    double *cluster = sk_doubles(ctx, rows->clusters, 1);
    assert_int_equal(sk_euler_score(ctx, rows, &look, &held, 1, &zero, euler, cluster), SOCK_OK);
    sk_free(cluster);
    sk_remains_free(remains);
    sk_views_free(views);
    sk_candidate_clear(&drift);
    sk_candidate_clear(&diffusion);
}

static void prop_rowstore__trials_are_those_of_the_same_rows_in_memory(void **state)
{
    (void)state;
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    for (size_t d = 1; d <= 2; d++) {
        sock_data *data;
        sk_transitions *rows = many_rows(d, &data), *out = stored(rows);
        sock_model *model = case_model(ctx, d, NULL);
        sk_trial *f[2] = {0}, *a[2] = {0};
        double euler[2];
        try_both(rows, model, &f[0], &a[0], &euler[0]);
        try_both(out, model, &f[1], &a[1], &euler[1]);
        assert_same_trial(f[0], f[1], rows->clusters);
        assert_same_trial(a[0], a[1], rows->clusters);
        assert_close(euler[0], euler[1], 1e-14, 1); /* of rows in memory it is a plain sum */
        for (size_t i = 0; i < 2; i++) sk_trial_free(f[i]), sk_trial_free(a[i]);
        sock_model_free(model);
        sk_transitions_free(out);
        sk_transitions_free(rows);
        sock_data_free(data);
    }
}

/* Blocks are added as threads come to them. */
static void prop_rowstore__the_number_of_threads_does_not_show(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        sock_data *data;
        sk_transitions *rows = many_rows(d, &data), *out = stored(rows);
        sock_model *model = case_model(ctx, d, NULL);
        sk_trial *f[4] = {0}, *a[4] = {0};
        double euler[4];
        for (int k = 0; k < 4; k++) {
            assert_int_equal(sock_set_threads(ctx, k + 1), SOCK_OK);
            try_both(out, model, &f[k], &a[k], &euler[k]);
            assert_same_trial(f[0], f[k], rows->clusters);
            assert_same_trial(a[0], a[k], rows->clusters);
            assert_true(euler[0] == euler[k]);
        }
        for (size_t i = 0; i < 4; i++) sk_trial_free(f[i]), sk_trial_free(a[i]);
        sock_model_free(model);
        sk_transitions_free(out);
        sk_transitions_free(rows);
        sock_data_free(data);
    }
}

static void test_rowstore__refusals(void **state)
{
    (void)state;
    sk_row_store *store = NULL;
    sk_transitions *out = NULL, *rows = case_rows(ctx, 1, false);
    assert_int_equal(sk_row_store_new(ctx, "/nonexistent", 1, 2, 1, &store), SOCK_EIO);
    assert_non_null(strstr(sock_message(ctx), "/nonexistent: no scratch file can be made there: No such file"));
    assert_null(store);
    sk_begin(ctx);
    assert_int_equal(sk_row_store_new(ctx, "/tmp", 1, 2, 1, &store), SOCK_OK);
    assert_int_equal(sk_row_store_close(ctx, store, rows, &out), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "no step is left"));
    assert_null(out);
    sk_transitions_free(rows);
}

static sock_status write_and_read(sock_context *c, void *arg)
{
    const sk_transitions *rows = arg;
    sk_row_store *store = NULL;
    sk_transitions *out = NULL, *block = NULL;
    SK_TRY(sk_row_store_new(c, "/tmp", rows->d, rows->folds, 1, &store));
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < rows->n; i++)
        status = sk_row_store_add(c, store, sk_transitions_fold(rows, i) % rows->folds, rows->cluster[i],
                                  rows->y + i * rows->d, rows->next + i * rows->d, rows->h[i]);
    if (status < 0) {
        sk_row_store_free(store);
        return status;
    }
    status = sk_row_store_close(c, store, rows, &out);
    if (status >= 0) status = sk_row_store_read(c, out, 0, &block);
    sk_transitions_free(block);
    sk_transitions_free(out);
    return status;
}

static void test_rowstore__every_failing_allocation_is_told(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    assert_true(for_single_allocations(ctx, write_and_read, rows) > 15);
    sk_transitions_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_rowstore__what_is_read_is_what_was_written),
        cmocka_unit_test(prop_rowstore__trials_are_those_of_the_same_rows_in_memory),
        cmocka_unit_test(prop_rowstore__the_number_of_threads_does_not_show),
        cmocka_unit_test(test_rowstore__refusals),
        cmocka_unit_test(test_rowstore__every_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
