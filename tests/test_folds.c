/* test_folds.c - who is held out when: every step at most once, no trajectory on both sides, blocks with gaps. */
#include "onecontext.h"
#include "tune/folds.h"

/* Random walks of the given lengths in one dimension; every `copies`-th trajectory repeats the first (0: none). */
static sock_data *walks(size_t count, const size_t *length, size_t copies)
{
    size_t points = 0, at = 0;
    for (size_t j = 0; j < count; j++) points += length[j];
    double *t = calloc(points, sizeof *t), *x = calloc(points, sizeof *x);
    sk_normals((sk_key){31, SK_PURPOSE_TEST}, 0, 0, 0, points, x);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < length[j]; i++, at++) {
            t[at] = (double)i + 0.01 * (double)(i * i); /* steps of different lengths */
            if (i) x[at] += x[at - 1];
            if (copies && j % copies == 0 && i < length[0]) x[at] = x[i];
        }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, count, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    free(t), free(x);
    return data;
}

static sk_problem *deal(const sock_data *data, const sock_data *validation, size_t folds, uint64_t seed)
{
    sk_tune_spec spec = {.data = data,
                         .validation = validation,
                         .folds = folds,
                         .seed = seed,
                         .drift = "auto",
                         .diffusion = "auto",
                         .weighted = true};
    sk_problem *full = NULL, *screen = NULL;
    if (sk_folds_problem(ctx, &spec, 1000000, &full, &screen) < 0) fail_msg("%s", sock_message(ctx));
    assert_ptr_equal(full, screen);
    return full;
}

/* The law of every deal: folds in order, ranges that cover all steps, no empty fold, and of a cluster (the trajectory,
 * the block) never one step in training and another held out. */
static void check_deal(const sk_problem *p)
{
    assert_int_equal(p->first[0], 0);
    assert_int_equal(p->first[p->folds + 1], p->n);
    for (size_t f = 0; f < p->folds; f++) {
        assert_true(p->first[f + 1] > p->first[f]);
        assert_true(p->n - (p->first[f + 1] - p->first[f]) > 0); /* something is left to train on */
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++) assert_int_equal(p->fold[i], f);
    }
    for (size_t i = p->first[p->folds]; i < p->n; i++) assert_true(p->fold[i] == SK_ALWAYS);
    for (size_t i = 0; i < p->n; i++) {
        assert_true(p->cluster[i] < p->clusters);
        for (size_t j = 0; j < i; j++)
            if (p->cluster[i] == p->cluster[j]) assert_int_equal(p->fold[i], p->fold[j]);
    }
}

static void test_folds__deal_whole_trajectories_evenly(void **state)
{
    (void)state;
    size_t length[20];
    for (size_t j = 0; j < 20; j++) length[j] = 5 + j % 7;
    length[3] = 1; /* a single point has no step */
    sock_data *data = walks(20, length, 0);
    sk_problem *p = deal(data, NULL, 0, 0);
    size_t steps = 0;
    for (size_t j = 0; j < 20; j++) steps += length[j] - 1;
    check_deal(p);
    assert_int_equal(p->folds, 6);
    assert_int_equal(p->n, steps);
    for (size_t i = 0; i < p->n; i++) assert_int_equal(p->cluster[i], p->steps->trajectory[i]);
    for (size_t f = 0; f < 6; f++) /* greedy: no fold exceeds another by more than one trajectory */
        for (size_t g = 0; g < 6; g++) assert_true(p->first[f + 1] - p->first[f] <= p->first[g + 1] - p->first[g] + 10);
    sk_problem_free(p);
    sock_data_free(data);
}

static void test_folds__seed_shuffles_and_number_is_kept(void **state)
{
    (void)state;
    size_t length[12], different = 0;
    for (size_t j = 0; j < 12; j++) length[j] = 4;
    sock_data *data = walks(12, length, 0);
    sk_problem *p = deal(data, NULL, 4, 1), *again = deal(data, NULL, 4, 1), *other = deal(data, NULL, 4, 2);
    check_deal(p);
    assert_int_equal(p->folds, 4);
    for (size_t i = 0; i < p->n; i++) {
        assert_int_equal(p->cluster[i], again->cluster[i]);
        different += p->cluster[i] != other->cluster[i];
    }
    assert_true(different > 0);
    sk_problem_free(p), sk_problem_free(again), sk_problem_free(other);
    sock_data_free(data);
}

/* One long trajectory: blocks in turn, and the step between two blocks in none. */
static void test_folds__cut_a_single_trajectory_into_blocks_with_gaps(void **state)
{
    (void)state;
    size_t length = 101;
    sock_data *data = walks(1, &length, 0);
    sk_problem *p = deal(data, NULL, 0, 0);
    check_deal(p);
    assert_int_equal(p->folds, 6);
    assert_int_equal(p->clusters, 12);
    assert_int_equal(p->n, 100 - 11);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++) /* steps that touch belong to one fold */
            if (p->steps->next[i] == p->steps->y[j]) assert_int_equal(p->fold[i], p->fold[j]);
    sk_problem_free(p);
    sock_data_free(data);
}

static void test_folds__few_or_short_trajectories_still_give_folds(void **state)
{
    (void)state;
    static const struct {
        size_t count, length[4];
    } few[] = {{2, {40, 40}}, {2, {3, 2}},    {2, {2, 2}},   {1, {3}},
               {1, {4}},      {3, {2, 2, 2}}, {2, {200, 2}}, {3, {2, 9, 5}}};
    for (size_t c = 0; c < sizeof few / sizeof *few; c++) {
        sock_data *data = walks(few[c].count, few[c].length, 0);
        sk_problem *p = deal(data, NULL, 0, 0);
        check_deal(p);
        assert_true(p->folds >= 2);
        sk_problem_free(p);
        sock_data_free(data);
    }
}

static void test_folds__hold_out_the_validation_set_alone(void **state)
{
    (void)state;
    size_t length[] = {6, 7, 8, 3};
    sock_data *data = walks(3, length, 0), *held = walks(4, length, 0);
    sk_problem *p = deal(data, held, 0, 0);
    check_deal(p);
    assert_int_equal(p->folds, 1);
    assert_int_equal(p->first[1], 5 + 6 + 7 + 2);
    assert_int_equal(p->n, 2 * 18 + 2);
    for (size_t i = 0; i < p->n; i++) assert_int_equal(p->cluster[i] >= 3, i < p->first[1]);
    for (size_t side = 0, i = 0; side < 2;
         side++) { /* the held-out steps come first, and all are those of their file */
        const sock_data *file = side ? data : held;
        for (size_t j = 0; j < file->trajectories; j++)
            for (size_t m = file->first[j]; m + 1 < file->first[j + 1]; m++, i++) {
                assert_true(p->steps->h[i] == file->t[m + 1] - file->t[m]);
                assert_true(p->steps->y[i] == file->x[m] && p->steps->next[i] == file->x[m + 1]);
                assert_true(p->steps->dy[i] == file->x[m + 1] - file->x[m]);
            }
    }
    sk_problem_free(p);
    sock_data_free(data), sock_data_free(held);
}

/* Copies of a trajectory prove nothing about it: they share its fold and its cluster. */
static void test_folds__keep_copies_with_their_original(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 6;
    sock_data *data = walks(12, length, 3);
    sk_problem *p = deal(data, NULL, 0, 0);
    check_deal(p);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            if (p->steps->y[i] == p->steps->y[j] && p->steps->next[i] == p->steps->next[j])
                assert_true(p->fold[i] == p->fold[j] && p->cluster[i] == p->cluster[j]);
    sk_problem_free(p);
    sock_data_free(data);
    data = walks(12, length, 1); /* nothing but copies: one trajectory in effect, so it is cut */
    p = deal(data, NULL, 0, 0);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            if (p->steps->y[i] == p->steps->y[j] && p->steps->next[i] == p->steps->next[j])
                assert_int_equal(p->fold[i], p->fold[j]);
    sk_problem_free(p);
    sock_data_free(data);
}

static void test_folds__screen_is_whole_clusters_of_every_fold(void **state)
{
    (void)state;
    size_t length[60];
    for (size_t j = 0; j < 60; j++) length[j] = 11;
    sock_data *data = walks(60, length, 0);
    sk_tune_spec spec = {.data = data, .drift = "auto", .diffusion = "auto"};
    sk_problem *full = NULL, *screen = NULL;
    assert_int_equal(sk_folds_problem(ctx, &spec, 200, &full, &screen), SOCK_OK);
    assert_ptr_not_equal(full, screen);
    check_deal(full);
    check_deal(screen);
    assert_true(screen->n >= 200 && screen->n < 220);
    size_t seen[60] = {0};
    for (size_t i = 0; i < screen->n; i++) seen[screen->cluster[i]]++;
    for (size_t j = 0; j < 60; j++) assert_true(seen[j] == 0 || seen[j] == 10);
    assert_true(screen->eps == full->eps);
    sk_problem_free(screen), sk_problem_free(full);
    sock_data_free(data);
}

static void test_folds__say_what_cannot_be_dealt(void **state)
{
    (void)state;
    size_t length[] = {2};
    sk_problem *full = NULL, *screen = NULL;
    sock_data *one = walks(1, length, 0), *still = NULL;
    sk_tune_spec spec = {.data = one, .drift = "auto", .diffusion = "auto"};
    assert_int_equal(sk_folds_problem(ctx, &spec, 1000, &full, &screen), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "one interval is not enough"));
    double t[] = {0, 1, 2, 3}, x[] = {2, 2, 2, 2};
    size_t four = 4;
    sk_begin(ctx);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &four, t, x, NULL, NULL, NULL, &still), SOCK_OK);
    spec.data = still;
    assert_int_equal(sk_folds_problem(ctx, &spec, 1000, &full, &screen), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "never change"));
    sock_data_free(one), sock_data_free(still);
}

static sock_status deal_once(sock_context *c, void *arg)
{
    sk_tune_spec spec = {.data = arg, .drift = "auto", .diffusion = "auto", .scaling = true};
    sk_problem *full = NULL, *screen = NULL;
    sock_status status = sk_folds_problem(c, &spec, 20, &full, &screen);
    if (screen != full) sk_problem_free(screen);
    sk_problem_free(full);
    return status;
}

static void test_folds__survive_every_failed_allocation(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 6;
    sock_data *data = walks(12, length, 0);
    assert_true(for_each_allocation(ctx, deal_once, data) > 30);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds__deal_whole_trajectories_evenly),
        cmocka_unit_test(test_folds__seed_shuffles_and_number_is_kept),
        cmocka_unit_test(test_folds__cut_a_single_trajectory_into_blocks_with_gaps),
        cmocka_unit_test(test_folds__few_or_short_trajectories_still_give_folds),
        cmocka_unit_test(test_folds__hold_out_the_validation_set_alone),
        cmocka_unit_test(test_folds__keep_copies_with_their_original),
        cmocka_unit_test(test_folds__screen_is_whole_clusters_of_every_fold),
        cmocka_unit_test(test_folds__say_what_cannot_be_dealt),
        cmocka_unit_test(test_folds__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
