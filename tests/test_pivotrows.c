/* test_pivotrows.c - of which rows the features of Gaussian candidates are taken, and when there are enough of them. */
#include "onecontext.h"
#include "tune/trial.h"

#include <stdlib.h>

static sk_kernel *gauss(void)
{
    sk_kernel *kernel = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "kernel", "gauss:eta=1", &kernel), SOCK_OK);
    return kernel;
}

/* Features of n rows at 0 with one at 100: at an odd place, which every second row passes over. */
static size_t features_of(size_t n, size_t place, size_t max_rank)
{
    sk_kernel *kernel = gauss();
    sk_features *map = NULL;
    sk_transitions t = {.n = n, .d = 1, .in = 1, .y = calloc(n, sizeof(double))};
    t.left = t.y;
    t.y[place] = 100;
    assert_int_equal(sk_pivoted_map(ctx, kernel, &t, 1e-10, max_rank, &map), SOCK_OK);
    const size_t count = sk_features_count(map);
    sk_features_free(map);
    sk_kernel_free(kernel);
    free(t.y);
    return count;
}

static void test_pivotrows__are_at_most_20000(void **state)
{
    (void)state;
    assert_int_equal(features_of(20000, 1, 9), 2);
    assert_int_equal(features_of(20001, 1, 9), 1);
    assert_int_equal(features_of(20001, 2, 9), 2);
    assert_int_equal(features_of(20001, 20000, 9), 2); /* the last of them */
    assert_int_equal(features_of(20000, 1, 1), 1);
    assert_int_equal(features_of(1, 0, 9), 1);
}

static sock_status unit_fields(sock_context *context, const void *model, size_t count, const double *x, double *f,
                               double *a)
{
    (void)context, (void)model, (void)x;
    for (size_t i = 0; i < count; i++) {
        if (f) f[i] = 0;
        if (a) a[i] = 1;
    }
    return SOCK_OK;
}

/* Features that a trial of a field takes of rows at 0 and at a distance where the first feature leaves `rest` to the
 * second: 1 - k^2 = 1 - exp(-distance^2). */
static size_t features_of_trial(sk_field field, double rest)
{
    enum { N = 8, FOLDS = 2 };
    static const double one = 1, l = 1e-2;
    const double distance = sqrt(-log1p(-rest));
    double y[N], next[N], h[N], reach = 1e-3, zero = 0;
    char name[] = "gauss";
    size_t cluster[N], first[FOLDS + 2] = {0, 4, 8, 8}, block[FOLDS + 1] = {0, 4, 8};
    sk_kernel *kernel = gauss();
    for (size_t i = 0; i < N; i++) {
        y[i] = i % 2 ? distance : 0;
        next[i] = y[i] + (i % 4 < 2 ? 0.9 : -1.1);
        h[i] = 1;
        cluster[i] = i;
    }
    sk_transitions t = {.n = N,
                        .d = 1,
                        .folds = FOLDS,
                        .clusters = N,
                        .y = y,
                        .next = next,
                        .h = h,
                        .cluster = cluster,
                        .first = first,
                        .blocks = FOLDS,
                        .block = block,
                        .reach = &reach,
                        .zero = &zero,
                        .in = 1,
                        .left = y,
                        .right = next};
    const sk_view_spec look = {.fields = unit_fields, .model = &l, .weighted = true, .eps = 1e-3};
    sk_candidate candidate = {.field = SK_DRIFT, .name = name, .kernel = kernel, .max_rank = 9};
    const sk_diffusion_options options = {FOLDS, &l, 1, 1e-6, false, {false, false}, 0};
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sk_trial *f = NULL, *a = NULL;
    assert_int_equal(sk_views_new(ctx, &t, &look, &views), SOCK_OK);
    assert_int_equal(sk_try_drift(ctx, views, &candidate, FOLDS, &f), SOCK_OK);
    const sk_mixture drift = {1, &f, &one};
    assert_int_equal(sk_remains_new(ctx, views, &drift, false, &remains), SOCK_OK);
    candidate.field = SK_DIFFUSION;
    assert_int_equal(sk_try_diffusion(ctx, remains, &candidate, &options, &a), SOCK_OK);
    const size_t count = field == SK_DRIFT ? f->p : a->p;
    sk_trial_free(f), sk_trial_free(a);
    sk_remains_free(remains);
    sk_views_free(views);
    sk_kernel_free(kernel);
    return count;
}

static void test_pivotrows__are_taken_until_little_is_left(void **state)
{
    (void)state;
    assert_int_equal(features_of_trial(SK_DRIFT, 1.3e-10), 2);
    assert_int_equal(features_of_trial(SK_DRIFT, 0.7e-10), 1);
    assert_int_equal(features_of_trial(SK_DIFFUSION, 1.3e-8), 2);
    assert_int_equal(features_of_trial(SK_DIFFUSION, 0.7e-8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pivotrows__are_at_most_20000),
        cmocka_unit_test(test_pivotrows__are_taken_until_little_is_left),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
