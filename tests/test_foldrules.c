/* test_foldrules.c - the numbers by which data are split, taken in parts and given a jitter, written out. */
#include "onecontext.h"
#include "tune/folds.h"
#include "tune/rules.h"

#include <stdlib.h>

/* `trajectories` of `steps` steps each in d dimensions, every coordinate a walk of the sizes of `step` in turn; none is
 * a copy of another. */
static sock_data *walks(size_t d, size_t trajectories, size_t steps, size_t count, const double *step)
{
    const size_t points = steps + 1, n = trajectories * points;
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(n, sizeof *t), *x = calloc(n * d, sizeof *x);
    sock_data *data = NULL;
    for (size_t j = 0, taken = 0; j < trajectories; j++) {
        length[j] = points;
        for (size_t i = 0; i < points; i++) {
            const size_t at = j * points + i;
            t[at] = (double)i;
            for (size_t k = 0; k < d; k++)
                x[at * d + k] = i ? x[(at - 1) * d + k] + step[taken % count] : 1e3 * (double)j;
            taken += i > 0;
        }
    }
    assert_int_equal(sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    free(length), free(t), free(x);
    return data;
}

static const double ramp[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static sk_row_sets sets_of(sock_data *data, size_t folds, size_t search, size_t screen)
{
    const sk_tune_spec spec = {.data = data, .drift = "auto", .diffusion = "auto", .folds = folds};
    sk_row_sets sets = {0};
    if (sk_row_sets_new(ctx, &spec, search, screen, &sets) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    return sets;
}

/* Rows, folds and clusters of walks. */
static void assert_split(size_t trajectories, size_t steps, size_t asked, size_t rows, size_t folds, size_t clusters)
{
    sk_row_sets sets = sets_of(walks(1, trajectories, steps, 9, ramp), asked, 1000000, 1000000);
    assert_int_equal(sets.all->n, rows);
    assert_int_equal(sets.all->folds, folds);
    assert_int_equal(sets.all->clusters, clusters);
    assert_true(sets.search == sets.all && sets.screen == sets.all);
    sk_row_sets_clear(&sets);
}

static void test_foldrules__six_folds_unless_asked_for_others(void **state)
{
    (void)state;
    assert_split(12, 5, 0, 60, 6, 12);
    assert_split(12, 5, 4, 60, 4, 12);
    assert_split(12, 5, 9, 60, 9, 12);
    assert_split(5, 20, 0, 100, 5, 5);
}

/* Three are held out whole; fewer are cut into two pieces for each fold in all, with a step left out between pieces. */
static void test_foldrules__fewer_than_three_trajectories_are_cut(void **state)
{
    (void)state;
    assert_split(3, 100, 0, 300, 3, 3);
    assert_split(2, 100, 0, 200 - 10, 6, 12);
    assert_split(1, 100, 5, 100 - 9, 5, 10);
    assert_split(1, 7, 0, 7, 6, 7); /* no more pieces than steps */
    assert_split(1, 2, 0, 2, 2, 2);
}

static void test_foldrules__gaps_need_four_steps_a_piece(void **state)
{
    (void)state;
    assert_split(1, 48, 0, 48 - 11, 6, 12);
    assert_split(1, 47, 0, 47, 6, 12);
}

/* Beyond 45 000 some of one fold are one: each stays within its fold, and trajectories stay whole. */
static void test_foldrules__many_clusters_are_joined(void **state)
{
    (void)state;
    assert_split(45000, 1, 0, 45000, 6, 45000);
    sk_row_sets sets = sets_of(walks(1, 45001, 2, 9, ramp), 8, 1000000, 1000000);
    const sk_transitions *t = sets.all;
    assert_int_equal(t->clusters, 45000);
    for (size_t i = 0; i < t->n; i++) {
        assert_int_equal(t->cluster[i] / 5000, sk_transitions_fold(t, i));
        if (i % 2) assert_int_equal(t->cluster[i], t->cluster[i - 1]); /* the two steps of one trajectory */
    }
    sk_row_sets_clear(&sets);
}

/* Rows that the memory limit does not hold are refused before they are made: 64 bytes a step, 48 for each state. */
static void test_foldrules__rows_beyond_the_memory_limit(void **state)
{
    (void)state;
    assert_true(sk_rows_bytes(100, 2) == 16000);
    for (int more = 0; more < 2; more++) {
        sock_data *data = walks(2, 10, 10, 9, ramp);
        const sk_tune_spec spec = {.data = data, .drift = "auto", .diffusion = "auto"};
        sk_row_sets sets = {0};
        sock_set_memory_limit(ctx, (size_t)sk_resident_memory("") + (more ? 100000000 : 0));
        const sock_status status = sk_row_sets_new(ctx, &spec, 1000, 1000, &sets);
        sock_set_memory_limit(ctx, 0);
        assert_int_equal(status, more ? SOCK_OK : SOCK_ENOMEM);
        if (!more) assert_non_null(strstr(sock_message(ctx), "the search over all steps needs about "));
        sk_begin(ctx);
        sk_row_sets_clear(&sets);
        sock_data_free(data);
    }
}

/* Pieces take turns: piece u is held out by fold u modulo 6. */
static void test_foldrules__pieces_take_turns(void **state)
{
    (void)state;
    sk_row_sets sets = sets_of(walks(1, 1, 120, 9, ramp), 0, 1000000, 1000000);
    for (size_t i = 0; i < sets.all->n; i++)
        assert_int_equal(sk_transitions_fold(sets.all, i), sets.all->cluster[i] % 6);
    sk_row_sets_clear(&sets);
}

/* Parts are taken of more than one and a half times as many rows as are wanted. */
static void test_foldrules__parts(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        sk_row_sets sets = sets_of(walks(1, 30, 30, 9, ramp), 0, 600 - (size_t)more, 1000000);
        assert_int_equal(sets.search == sets.all, !more);
        assert_int_equal(sets.search->n, more ? 600 : 900);
        assert_true(sets.screen == sets.search);
        sk_row_sets_clear(&sets);
        sets = sets_of(walks(1, 30, 30, 9, ramp), 0, 1000000, 600 - (size_t)more);
        assert_true(sets.search == sets.all);
        assert_int_equal(sets.screen->n, more ? 600 : 900);
        sk_row_sets_clear(&sets);
    }
}

/* ---- Jitter ---- */

static sk_view_spec look_of(size_t d, size_t count, const double *step)
{
    sk_row_sets sets = sets_of(walks(d, 3, count / 3, count, step), 0, 1000000, 1000000);
    const sk_view_spec look = sets.look;
    sk_row_sets_clear(&sets);
    return look;
}

/* The median square of 1 to 9 is 25. */
static void test_foldrules__jitter_is_a_share_of_the_median_square(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        const sk_view_spec look = look_of(d, 9, ramp);
        assert_close(look.eps, d > 1 ? 0.25 : 25e-4, 1e-9, 0);
        assert_true(look.resolution == 0);
    }
}

/* Three equal smallest steps are a unit where the others are multiples of it, two are not; equal is to a millionth, and
 * what is a billionth of the largest is nothing. */
static void test_foldrules__smallest_step_that_recurs_is_the_resolution(void **state)
{
    (void)state;
    static const double three[] = {2, 2, 2, 4, 6, 8, 10, 12, 14}, two[] = {2, 2, 4, 4, 6, 8, 10, 12, 14};
    static const double uneven[] = {2, 2, 2, 4, 6, 8, 10, 12, 15};
    static const double near[] = {2, 2 + 1.5e-6, 2 + 1.9e-6, 4, 6, 8, 10, 12, 14};
    static const double apart[] = {2, 2 + 2.1e-6, 2 + 2.5e-6, 4, 6, 8, 10, 12, 14};
    static const double rounded[] = {0x1p-30, 2, 2, 2, 2, 2, 2, 2, 4, 6, 8, 10};
    static const double tiny[] = {0x1p-24, 2, 2, 2, 2, 2, 2, 2, 4, 6, 8, 10};
    static const double jump[] = {0x1p-28, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 8}; /* of the largest, not of the next */
    assert_close(look_of(1, 9, three).resolution, 4, 1e-12, 0);
    assert_close(look_of(1, 9, three).eps, 4, 1e-12, 0);
    assert_close(look_of(2, 9, three).resolution, 4, 1e-12, 0);
    assert_true(look_of(1, 9, two).resolution == 0);
    assert_true(look_of(1, 9, uneven).resolution == 0);
    assert_close(look_of(1, 9, near).resolution, 4, 1e-5, 0);
    assert_true(look_of(1, 9, apart).resolution == 0);
    assert_close(look_of(1, 12, rounded).resolution, 4, 1e-12, 0);
    assert_true(look_of(1, 12, tiny).resolution == 0);
    assert_close(look_of(1, 12, jump).resolution, 4, 1e-12, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foldrules__six_folds_unless_asked_for_others),
        cmocka_unit_test(test_foldrules__fewer_than_three_trajectories_are_cut),
        cmocka_unit_test(test_foldrules__gaps_need_four_steps_a_piece),
        cmocka_unit_test(test_foldrules__many_clusters_are_joined),
        cmocka_unit_test(test_foldrules__rows_beyond_the_memory_limit),
        cmocka_unit_test(test_foldrules__pieces_take_turns),
        cmocka_unit_test(test_foldrules__parts),
        cmocka_unit_test(test_foldrules__jitter_is_a_share_of_the_median_square),
        cmocka_unit_test(test_foldrules__smallest_step_that_recurs_is_the_resolution),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
