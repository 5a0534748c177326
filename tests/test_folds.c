/* test_folds.c - who is held out when: every step at most once, no trajectory on both sides, pieces with gaps. */
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

static sk_tune_spec spec_of(const sock_data *data)
{
    return (sk_tune_spec){.data = data, .drift = "auto", .diffusion = "auto", .weighted = true};
}

static sk_row_sets split_rows(const sock_data *data, const sock_data *validation, size_t folds, uint64_t seed)
{
    sk_tune_spec spec = spec_of(data);
    spec.validation = validation;
    spec.folds = folds;
    spec.seed = seed;
    sk_row_sets sets = {0};
    if (sk_row_sets_new(ctx, &spec, 1000000, 1000000, &sets) < 0) fail_msg("%s", sock_message(ctx));
    assert_ptr_equal(sets.all, sets.screen);
    assert_ptr_equal(sets.all, sets.search);
    return sets;
}

/* The law of every split: folds in order, ranges that cover all steps, no empty fold, and of a cluster (the trajectory,
 * the piece) never one step in training and another held out. */
static void check_split(const sk_transitions *p)
{
    assert_int_equal(p->first[0], 0);
    assert_int_equal(p->first[p->folds + 1], p->n);
    for (size_t f = 0; f < p->folds; f++) {
        assert_true(p->first[f + 1] > p->first[f]);
        assert_true(p->n - (p->first[f + 1] - p->first[f]) > 0); /* something is left to train on */
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++) assert_int_equal(sk_transitions_fold(p, i), f);
    }
    for (size_t i = p->first[p->folds]; i < p->n; i++) assert_int_equal(sk_transitions_fold(p, i), p->folds);
    for (size_t i = 0; i < p->n; i++) {
        assert_true(p->cluster[i] < p->clusters);
        for (size_t j = 0; j < i; j++)
            if (p->cluster[i] == p->cluster[j]) assert_int_equal(sk_transitions_fold(p, i), sk_transitions_fold(p, j));
    }
}

/* Steps of a file, trajectory by trajectory, as rows from row `at` on; the cluster of trajectory j is first_cluster +
 * j.
 */
static size_t check_rows(const sk_transitions *p, size_t at, const sock_data *file, size_t first_cluster)
{
    for (size_t u = 0; u < file->trajectories; u++) {
        const size_t j = p->cluster[at] - first_cluster;
        for (size_t m = file->first[j]; m + 1 < file->first[j + 1]; m++, at++) {
            assert_int_equal(p->cluster[at], first_cluster + j);
            assert_true(p->h[at] == file->t[m + 1] - file->t[m]);
            assert_true(p->y[at] == file->x[m] && p->next[at] == file->x[m + 1]);
        }
    }
    return at;
}

static void test_folds__split_whole_trajectories_evenly(void **state)
{
    (void)state;
    size_t length[20];
    for (size_t j = 0; j < 20; j++) length[j] = 5 + j % 7;
    length[3] = 1; /* a single point has no step */
    sock_data *data = walks(20, length, 0);
    sk_row_sets sets = split_rows(data, NULL, 0, 0);
    const sk_transitions *p = sets.all;
    size_t steps = 0;
    for (size_t j = 0; j < 20; j++) steps += length[j] - 1;
    check_split(p);
    assert_int_equal(p->folds, 6);
    assert_int_equal(p->n, steps);
    for (size_t i = 0; i < p->n; i++) { /* a cluster is a trajectory: the step is one of its steps */
        size_t found = 0;
        for (size_t m = data->first[p->cluster[i]]; m + 1 < data->first[p->cluster[i] + 1]; m++)
            found += p->y[i] == data->x[m] && p->next[i] == data->x[m + 1] && p->h[i] == data->t[m + 1] - data->t[m];
        assert_int_equal(found, 1);
    }
    for (size_t f = 0; f < 6; f++) /* at either end half a trajectory at most is on the wrong side */
        assert_true(fabs((double)(p->first[f + 1] - p->first[f]) - (double)steps / 6) <= 10);
    sk_row_sets_clear(&sets);
    sock_data_free(data);
}

static void test_folds__seed_shuffles_and_number_is_kept(void **state)
{
    (void)state;
    size_t length[12], different = 0;
    for (size_t j = 0; j < 12; j++) length[j] = 4;
    sock_data *data = walks(12, length, 0);
    sk_row_sets sets = split_rows(data, NULL, 4, 1), again = split_rows(data, NULL, 4, 1);
    sk_row_sets other = split_rows(data, NULL, 4, 2);
    const sk_transitions *p = sets.all;
    check_split(p);
    assert_int_equal(p->folds, 4);
    for (size_t i = 0; i < p->n; i++) {
        assert_int_equal(p->cluster[i], again.all->cluster[i]);
        different += p->cluster[i] != other.all->cluster[i];
    }
    assert_true(different > 0);
    sk_row_sets_clear(&sets), sk_row_sets_clear(&again), sk_row_sets_clear(&other);
    sock_data_free(data);
}

/* One long trajectory: pieces in turn, and the step between two pieces in none. */
static void test_folds__cut_a_single_trajectory_into_pieces_with_gaps(void **state)
{
    (void)state;
    size_t length = 101;
    sock_data *data = walks(1, &length, 0);
    sk_row_sets sets = split_rows(data, NULL, 0, 0);
    const sk_transitions *p = sets.all;
    check_split(p);
    assert_int_equal(p->folds, 6);
    assert_int_equal(p->clusters, 12);
    assert_int_equal(p->n, 100 - 11);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++) /* steps that touch belong to one fold */
            if (p->next[i] == p->y[j]) assert_int_equal(sk_transitions_fold(p, i), sk_transitions_fold(p, j));
    sk_row_sets_clear(&sets);
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
        sk_row_sets sets = split_rows(data, NULL, 0, 0);
        const sk_transitions *p = sets.all;
        check_split(p);
        assert_true(p->folds >= 2);
        sk_row_sets_clear(&sets);
        sock_data_free(data);
    }
}

static void test_folds__hold_out_the_validation_set_alone(void **state)
{
    (void)state;
    size_t length[] = {6, 7, 8, 3};
    sock_data *data = walks(3, length, 0), *held = walks(4, length, 0);
    sk_row_sets sets = split_rows(data, held, 0, 0);
    const sk_transitions *p = sets.all;
    check_split(p);
    assert_int_equal(p->folds, 1);
    assert_int_equal(p->first[1], 5 + 6 + 7 + 2);
    assert_int_equal(p->n, 2 * 18 + 2);
    for (size_t i = 0; i < p->n; i++) assert_int_equal(p->cluster[i] >= 3, i < p->first[1]);
    /* the held-out steps come first, and all are those of their file */
    assert_int_equal(check_rows(p, check_rows(p, 0, held, 3), data, 0), p->n);
    sk_row_sets_clear(&sets);
    sock_data_free(data), sock_data_free(held);
}

/* Copies of a trajectory prove nothing about it: they share its fold and its cluster. */
static void test_folds__keep_copies_with_their_original(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 6;
    sock_data *data = walks(12, length, 3);
    sk_row_sets sets = split_rows(data, NULL, 0, 0);
    const sk_transitions *p = sets.all;
    check_split(p);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            if (p->y[i] == p->y[j] && p->next[i] == p->next[j]) assert_int_equal(p->cluster[i], p->cluster[j]);
    sk_row_sets_clear(&sets);
    sock_data_free(data);
    data = walks(12, length, 1); /* nothing but copies: one trajectory in effect, so it is cut */
    sets = split_rows(data, NULL, 0, 0);
    p = sets.all;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            if (p->y[i] == p->y[j] && p->next[i] == p->next[j])
                assert_int_equal(sk_transitions_fold(p, i), sk_transitions_fold(p, j));
    sk_row_sets_clear(&sets);
    sock_data_free(data);
}

/* Six trajectories of one step in three folds: two in each. */
static void test_folds__are_equal_where_they_can_be(void **state)
{
    (void)state;
    const size_t length[] = {2, 2, 2, 2, 2, 2};
    sock_data *data = walks(6, length, 0);
    sk_row_sets sets = split_rows(data, NULL, 3, 0);
    for (size_t f = 0; f < 3; f++) assert_int_equal(sets.all->first[f + 1] - sets.all->first[f], 2);
    sk_row_sets_clear(&sets);
    sock_data_free(data);
}

/* The same path under other inputs is evidence of its own. */
static void test_folds__copies_have_the_same_inputs(void **state)
{
    (void)state;
    enum { PATHS = 8, POINTS = 4 };
    size_t length[PATHS], seen = 0;
    double t[PATHS * POINTS], x[PATHS * POINTS * 2];
    const char *const names[] = {"x", "u"};
    bool clusters[PATHS] = {false};
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "input", "u"), SOCK_OK);
    sk_normals((sk_key){32, SK_PURPOSE_TEST}, 0, 0, 0, PATHS * POINTS * 2, x);
    for (size_t i = 0; i < PATHS * POINTS; i++) {
        const size_t j = i / POINTS;
        length[j] = POINTS;
        t[i] = (double)(i % POINTS);
        if (j < 4) x[2 * i] = x[2 * (i % POINTS)];         /* four paths are one, */
        if (j < 2) x[2 * i + 1] = x[2 * (i % POINTS) + 1]; /* two of them with its inputs, */
        if (j == 3) x[2 * i + 1] = x[2 * (i % POINTS) + 1] + (i % POINTS == POINTS - 1); /* one but for the last */
    }
    assert_int_equal(sock_data_from_arrays(ctx, 2, PATHS, length, t, x, names, NULL, opts, &data), SOCK_OK);
    sk_row_sets sets = split_rows(data, NULL, 3, 0);
    for (size_t i = 0; i < sets.all->n; i++) {
        seen += !clusters[sets.all->cluster[i]];
        clusters[sets.all->cluster[i]] = true;
    }
    assert_int_equal(seen, PATHS - 1);
    sk_row_sets_clear(&sets);
    sock_options_free(opts);
    sock_data_free(data);
}

/* The part for the search, and of it that for the screen. */
static void test_folds__parts_are_whole_clusters_of_every_fold(void **state)
{
    (void)state;
    size_t length[60];
    for (size_t j = 0; j < 60; j++) length[j] = 11;
    sock_data *data = walks(60, length, 0);
    const sk_tune_spec spec = spec_of(data);
    sk_row_sets sets = {0};
    assert_int_equal(sk_row_sets_new(ctx, &spec, 350, 200, &sets), SOCK_OK);
    const sk_transitions *part[] = {sets.all, sets.search, sets.screen};
    size_t seen[3][60] = {{0}};
    for (size_t s = 0; s < 3; s++) {
        check_split(part[s]);
        assert_int_equal(part[s]->clusters, 60);
        for (size_t i = 0; i < part[s]->n; i++) seen[s][part[s]->cluster[i]]++;
        for (size_t j = 0; j < 60; j++) {
            assert_true(seen[s][j] == 0 || seen[s][j] == 10);
            if (s && seen[s][j]) assert_int_equal(seen[s - 1][j], 10); /* a part of the larger one */
        }
    }
    assert_int_equal(sets.all->n, 600);
    assert_true(sets.search->n >= 350 && sets.search->n < 360);
    assert_true(sets.screen->n >= 200 && sets.screen->n < 210);
    sk_row_sets_clear(&sets);
    assert_int_equal(sk_row_sets_new(ctx, &spec, 401, 200, &sets), SOCK_OK); /* 600 are not many more than 401 */
    assert_ptr_equal(sets.search, sets.all);
    assert_ptr_not_equal(sets.screen, sets.all);
    sk_row_sets_clear(&sets);
    assert_null(sets.all);
    sock_data_free(data);
}

/* A fold without rows cannot be held out: the screen is all then, and a search on many rows takes a window of each
 * cluster, in the middle of it. */
static void test_folds__no_part_leaves_a_fold_empty(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 11;
    sock_data *data = walks(12, length, 0);
    const sk_tune_spec spec = spec_of(data);
    sk_row_sets sets = {0};
    assert_int_equal(sk_row_sets_new(ctx, &spec, 1000, 20, &sets), SOCK_OK); /* two trajectories, six folds */
    assert_ptr_equal(sets.search, sets.all);
    assert_ptr_equal(sets.screen, sets.all);
    sk_row_sets_clear(&sets);
    assert_int_equal(sk_row_sets_new(ctx, &spec, 36, 20, &sets), SOCK_OK);
    check_split(sets.search);
    assert_int_equal(sets.search->n, 36);
    for (size_t i = 0, first = 0; i < 36; i++) { /* three steps of ten, from the fourth on */
        while (sets.all->cluster[first] != sets.search->cluster[i]) first++;
        assert_true(sets.search->y[i] == sets.all->y[first + 3 + i % 3]);
    }
    sk_row_sets_clear(&sets);
    sock_data_free(data);
}

/* With a validation set a part has rows to fit to and rows to judge by, whatever the lengths are. */
static void test_folds__parts_have_training_rows_beside_a_validation_set(void **state)
{
    (void)state;
    size_t one = 401, many[40];
    for (size_t j = 0; j < 40; j++) many[j] = 6;
    sock_data *data = walks(1, &one, 0), *held = walks(40, many, 0);
    for (uint64_t seed = 0; seed < 8; seed++) {
        sk_tune_spec spec = spec_of(data);
        sk_row_sets sets = {0};
        spec.validation = held;
        spec.seed = seed;
        assert_int_equal(sk_row_sets_new(ctx, &spec, 60, 30, &sets), SOCK_OK);
        assert_true(sets.search->n < sets.all->n);
        const sk_transitions *part[] = {sets.search, sets.screen};
        for (size_t s = 0; s < 2; s++) assert_true(part[s]->first[1] > 0 && part[s]->first[2] > part[s]->first[1]);
        sk_row_sets_clear(&sets);
    }
    sock_data_free(data), sock_data_free(held);
}

/* Units of the rows, and what a density of them lacks to be one of the data. */
static void test_folds__rows_stand_in_their_units(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 11;
    sock_data *data = walks(12, length, 0);
    sk_row_sets sets[2] = {{0}, {0}};
    sk_tune_spec spec = spec_of(data);
    for (size_t i = 0; i < data->points; i++) data->x[i] *= 1e3;
    for (size_t s = 0; s < 2; s++) {
        spec.scaling = s;
        assert_int_equal(sk_row_sets_new(ctx, &spec, 1000, 1000, &sets[s]), SOCK_OK);
        assert_true(sets[s].look.weighted && !sets[s].look.model);
    }
    assert_null(sets[0].units);
    assert_true(sets[0].look.density == 0);
    const double unit = sets[1].units->scale[0], centre = sets[1].units->centre[0];
    assert_true(unit > 100);
    assert_close(sets[1].look.density, -log(unit), 1e-15, 1);
    for (size_t i = 0; i < sets[0].all->n; i++) {
        assert_true(sets[1].all->y[i] == (sets[0].all->y[i] - centre) / unit &&
                    sets[1].all->next[i] == (sets[0].all->next[i] - centre) / unit);
        assert_true(sets[1].all->h[i] == sets[0].all->h[i]);
    }
    assert_close(sets[1].look.eps * unit * unit, sets[0].look.eps, 1e-12, 0);
    sk_row_sets_clear(&sets[0]), sk_row_sets_clear(&sets[1]);
    sock_data_free(data);
}

/* Whose steps are held out together, whatever the numbers of rows, clusters and folds: mate[i * n + j] for steps i and
 * j of the data in the order of `order` (n steps in all), found by their lengths, which are all different. */
static bool *mates(const sk_transitions *p, size_t n, const double *h)
{
    bool *mate = calloc(n * n, sizeof *mate);
    size_t *row = calloc(n, sizeof *row);
    for (size_t i = 0; i < n; i++) {
        row[i] = SIZE_MAX;
        for (size_t r = 0; r < p->n; r++)
            if (fabs(p->h[r] - h[i]) < 1e-9) row[i] = r;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            mate[i * n + j] = row[i] < SIZE_MAX && row[j] < SIZE_MAX &&
                              sk_transitions_fold(p, row[i]) == sk_transitions_fold(p, row[j]);
    free(row);
    return mate;
}

enum { PATHS = 30, EACH = 5, STEPS_ALL = PATHS * EACH };

/* Walks in two dimensions, trajectory order[u] at place u; the first `cut` (0: none) is two trajectories, which share a
 * point. Steps have lengths of their own, and h has them. */
static sock_data *ordered_walks(const size_t *order, bool swap, double shift, double unit, bool cut, double *h)
{
    double t[STEPS_ALL + PATHS + 1], x[2 * (STEPS_ALL + PATHS + 1)], noise[2 * EACH + 2];
    size_t length[PATHS + 1], count = 0, at = 0;
    for (size_t u = 0; u < PATHS; u++) {
        double y[2] = {0, 0};
        sk_normals((sk_key){5, SK_PURPOSE_TEST}, order[u], 0, 0, 2 * EACH + 2, noise);
        length[count] = 0;
        for (size_t i = 0; i <= EACH; i++) {
            const double step = 1 + 0.01 * (double)(order[u] * EACH + i);
            for (size_t k = 0; k < 2; k++) y[k] += noise[2 * i + k];
            t[at] = i ? t[at - 1] + step : 0;
            if (i) h[order[u] * EACH + i - 1] = step;
            for (size_t k = 0; k < 2; k++) x[2 * at + (swap ? 1 - k : k)] = unit * (y[k] + shift);
            at++, length[count]++;
            if (!cut || order[u] != 0 || i != 2) continue;
            t[at] = t[at - 1], x[2 * at] = x[2 * at - 2], x[2 * at + 1] = x[2 * at - 1];
            at++, length[++count] = 1;
        }
        count++;
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, count, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static bool *mates_of(const size_t *order, bool swap, double shift, double unit, bool cut, size_t screen)
{
    double h[STEPS_ALL];
    sock_data *data = ordered_walks(order, swap, shift, unit, cut, h);
    const sk_tune_spec spec = spec_of(data);
    sk_row_sets sets = {0};
    if (sk_row_sets_new(ctx, &spec, 1000000, screen, &sets) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sets.screen != sets.all, screen < STEPS_ALL);
    bool *mate = mates(sets.screen, STEPS_ALL, h);
    sk_row_sets_clear(&sets);
    sock_data_free(data);
    return mate;
}

static size_t differences(const bool *one, const bool *other)
{
    size_t count = 0;
    for (size_t i = 0; i < (size_t)STEPS_ALL * STEPS_ALL; i++) count += one[i] != other[i];
    return count;
}

/* Folds, and which rows screen, are the same whatever the order of trajectories and states, zero and units. */
static void prop_folds_depend_on_the_content_alone(void **state)
{
    (void)state;
    size_t plain[PATHS], mixed[PATHS];
    for (size_t j = 0; j < PATHS; j++) plain[j] = j;
    sk_shuffle((sk_key){3, SK_PURPOSE_TEST}, 0, 0, PATHS, mixed);
    for (size_t screen = 70; screen < 1000; screen += 900) {
        bool *base = mates_of(plain, false, 0, 1, false, screen);
        bool *same[] = {mates_of(mixed, false, 0, 1, false, screen), mates_of(plain, true, 0, 1, false, screen),
                        mates_of(plain, false, 300, 1, false, screen), mates_of(mixed, true, -7, 1e3, false, screen)};
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(differences(base, same[i]), 0);
            free(same[i]);
        }
        free(base);
    }
}

/* A trajectory that is cut in two changes the fold of itself and of few others: of each fold one or two at its borders.
 * Of all pairs of steps 6/36 are mates; with other lots 10/36 would change. */
static void prop_a_cut_moves_few_others(void **state)
{
    (void)state;
    size_t plain[PATHS];
    for (size_t j = 0; j < PATHS; j++) plain[j] = j;
    bool *base = mates_of(plain, false, 0, 1, false, 1000), *cut = mates_of(plain, false, 0, 1, true, 1000);
    const double share = (double)differences(base, cut) / ((double)STEPS_ALL * STEPS_ALL);
    assert_true(share > 0 && share < 0.1);
    free(base), free(cut);
}

/* One long trajectory, cut at a place that is no border of pieces: all steps keep their mates. */
static void prop_a_cut_long_trajectory_has_the_same_pieces(void **state)
{
    (void)state;
    enum { N = 240 };
    double t[N + 2], x[N + 2], h[N];
    bool *mate[2];
    for (size_t cut = 0; cut < 2; cut++) {
        size_t length[] = {N + 1, 0};
        sk_normals((sk_key){6, SK_PURPOSE_TEST}, 0, 0, 0, N + 1, x);
        for (size_t i = 0; i <= N; i++) t[i] = (double)i + 1e-4 * (double)(i * i);
        for (size_t i = 0; i < N; i++) h[i] = t[i + 1] - t[i];
        if (cut) {
            length[0] = 96, length[1] = N + 2 - 96; /* after step 95; the point is in both */
            memmove(t + 96, t + 95, (N + 1 - 95) * sizeof *t);
            memmove(x + 96, x + 95, (N + 1 - 95) * sizeof *x);
        }
        sock_data *data = NULL;
        assert_int_equal(sock_data_from_arrays(ctx, 1, cut + 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        sk_row_sets sets = split_rows(data, NULL, 0, 0);
        assert_int_equal(sets.all->clusters, 12);
        mate[cut] = mates(sets.all, N, h);
        sk_row_sets_clear(&sets);
        sock_data_free(data);
    }
    assert_memory_equal(mate[0], mate[1], (size_t)N * N);
    free(mate[0]), free(mate[1]);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* 1e-4 of the median square increment of the steps that move. */
static void test_folds__jitter_is_a_share_of_the_typical_increment(void **state)
{
    (void)state;
    size_t length[5] = {21, 21, 21, 21, 21}, count = 0;
    double square[100];
    sock_data *data = walks(5, length, 0);
    for (size_t j = 0; j < 5; j++) data->x[data->first[j] + 8] = data->x[data->first[j] + 7]; /* a step at rest */
    sk_row_sets sets = split_rows(data, NULL, 0, 0);
    for (size_t i = 0; i < sets.all->n; i++) {
        const double size = sets.all->next[i] - sets.all->y[i];
        if (size != 0) square[count++] = size * size;
    }
    assert_int_equal(count, 95);
    qsort(square, count, sizeof *square, ascending);
    assert_close(sets.look.eps, 1e-4 * square[count / 2], 1e-13, 0);
    assert_true(sets.look.resolution == 0);
    sk_row_sets_clear(&sets);
    for (size_t i = 0; i < data->points; i++) data->x[i] = 0.5 * floor(2 * data->x[i]); /* grains of a half */
    sets = split_rows(data, NULL, 0, 0);
    assert_close(sets.look.resolution, 0.25, 1e-12, 0);
    assert_close(sets.look.eps, 0.25, 1e-12, 0);
    sk_row_sets_clear(&sets);
    for (size_t i = 0; i < data->points; i++) data->x[i] *= data->x[i]; /* the smallest change recurs: 1/4, 3/4, 5/4 */
    sets = split_rows(data, NULL, 0, 0);
    assert_close(sets.look.resolution, 0.0625, 1e-12, 0);
    sk_row_sets_clear(&sets);
    for (size_t i = 1; i < data->points; i++) /* it recurs, and nothing else is a multiple of it */
        data->x[i] = data->x[i - 1] + (i % 10 == 5 ? 0.25 : 1 + fmod((double)i * 1.4142135623730951, 1));
    sets = split_rows(data, NULL, 0, 0);
    assert_true(sets.look.resolution == 0);
    sk_row_sets_clear(&sets);
    sock_data_free(data);
}

static void check_refusal(const sk_tune_spec *spec, const char *words)
{
    sk_row_sets sets = {0};
    sk_begin(ctx);
    assert_int_equal(sk_row_sets_new(ctx, spec, 1000, 1000, &sets), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), words));
    assert_null(sets.all);
}

static void test_folds__say_what_cannot_be_split(void **state)
{
    (void)state;
    size_t length[] = {2}, four = 4, single[] = {1, 1};
    double t[] = {0, 1, 2, 3}, x[] = {2, 2, 2, 2}, alone[] = {0, 0};
    sock_data *one = walks(1, length, 0), *still = NULL, *points = NULL;
    sk_tune_spec spec = spec_of(one);
    check_refusal(&spec, "one interval is not enough");
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &four, t, x, NULL, NULL, NULL, &still), SOCK_OK);
    spec.data = still;
    check_refusal(&spec, "never change");
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, single, alone, x, NULL, NULL, NULL, &points), SOCK_OK);
    spec.data = points;
    check_refusal(&spec, "no trajectory has two points");
    spec.data = one, spec.validation = points; /* nor in what is held out */
    check_refusal(&spec, "no trajectory has two points");
    sock_data_free(one), sock_data_free(still), sock_data_free(points);
}

static sock_status split_once(sock_context *c, void *arg)
{
    sk_tune_spec spec = spec_of(arg);
    sk_row_sets sets = {0};
    spec.scaling = true;
    sock_status status = sk_row_sets_new(c, &spec, 40, 20, &sets);
    sk_row_sets_clear(&sets);
    return status;
}

static sock_status split_validated(sock_context *c, void *arg)
{
    sk_tune_spec spec = spec_of(arg);
    sk_row_sets sets = {0};
    spec.validation = arg;
    sock_status status = sk_row_sets_new(c, &spec, 40, 20, &sets);
    sk_row_sets_clear(&sets);
    return status;
}

static void test_folds__survive_every_failed_allocation(void **state)
{
    (void)state;
    size_t length[12];
    for (size_t j = 0; j < 12; j++) length[j] = 6;
    sock_data *data = walks(12, length, 0);
    assert_true(for_each_allocation(ctx, split_once, data) > 30);
    assert_true(for_each_allocation(ctx, split_validated, data) > 30);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds__split_whole_trajectories_evenly),
        cmocka_unit_test(test_folds__seed_shuffles_and_number_is_kept),
        cmocka_unit_test(test_folds__cut_a_single_trajectory_into_pieces_with_gaps),
        cmocka_unit_test(test_folds__few_or_short_trajectories_still_give_folds),
        cmocka_unit_test(test_folds__hold_out_the_validation_set_alone),
        cmocka_unit_test(test_folds__keep_copies_with_their_original),
        cmocka_unit_test(test_folds__are_equal_where_they_can_be),
        cmocka_unit_test(test_folds__copies_have_the_same_inputs),
        cmocka_unit_test(test_folds__parts_are_whole_clusters_of_every_fold),
        cmocka_unit_test(test_folds__no_part_leaves_a_fold_empty),
        cmocka_unit_test(test_folds__parts_have_training_rows_beside_a_validation_set),
        cmocka_unit_test(test_folds__rows_stand_in_their_units),
        cmocka_unit_test(prop_folds_depend_on_the_content_alone),
        cmocka_unit_test(prop_a_cut_moves_few_others),
        cmocka_unit_test(prop_a_cut_long_trajectory_has_the_same_pieces),
        cmocka_unit_test(test_folds__jitter_is_a_share_of_the_typical_increment),
        cmocka_unit_test(test_folds__say_what_cannot_be_split),
        cmocka_unit_test(test_folds__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
