/* test_streamrows.c - the rows of a stream: every step of the data once, in the units of the sample, in the fold of its
 * trajectory; the sample is a part of them; neither depends on how the data are cut into files. */
#define _GNU_SOURCE
#include "occupation/rowstore.h"
#include "tune/policy.h"
#include "tune/streamrows.h"

#include "onecontext.h"

#include <unistd.h>

enum { LONG = 150000 }; /* points: three chunks */

static char folder[64];

static const char *at(const char *name)
{
    static char paths[32][160];
    static size_t next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Point i of walk j in two dimensions: a number of its own, so that a row is known by its states. */
static double value(size_t j, size_t i, size_t k)
{
    return 1000.0 * (double)j + 0.001 * (double)i + sin((double)(i * (k + 1)));
}

/* Trajectories from .. to-1, of `points` points and a few more for each; number 3 is a copy of number 1. */
static void write_csv(const char *name, size_t from, size_t to, size_t points)
{
    FILE *file = fopen(at(name), "wb");
    fputs("traj,t,x,y\n", file);
    for (size_t j = from; j < to; j++)
        for (size_t i = 0; i < points + (j == 3 ? 1 : j) % 5; i++)
            fprintf(file, "%zu,%.3f,%.17g,%.17g\n", j, 0.1 * (double)i, value(j == 3 ? 1 : j, i, 0),
                    value(j == 3 ? 1 : j, i, 1));
    assert_int_equal(fclose(file), 0);
}

static sk_stream *stream_of(size_t count, const char *const *paths, size_t wanted, sk_source **source)
{
    sk_stream *stream = NULL;
    if (sk_source_open(ctx, count, paths, NULL, folder, source) < 0) fail_msg("%s", sock_message(ctx));
    if (sk_stream_new(ctx, *source, folder, wanted, 3, &stream) < 0) fail_msg("%s", sock_message(ctx));
    return stream;
}

static sk_row_sets rows_of(sk_stream *stream)
{
    const sk_tune_spec spec = {.data = sk_stream_sample(stream),
                               .stream = stream,
                               .drift = "auto",
                               .diffusion = "auto",
                               .scaling = true,
                               .weighted = true};
    sk_row_sets sets = {0};
    if (sk_stream_row_sets(ctx, &spec, 500, &sets) < 0) fail_msg("%s", sock_message(ctx));
    return sets;
}

/* All rows as (y, next, h, fold, cluster) in the units of the data, sorted. */
typedef struct row {
    double y[2], next[2], h;
    size_t fold, cluster;
} row;

static int by_state(const void *left, const void *right) { return memcmp(left, right, 2 * sizeof(double)); }

static row *sorted_rows(const sk_row_sets *sets, const sk_transitions *t)
{
    row *list = calloc(t->n, sizeof *list);
    for (size_t b = 0; b < t->blocks; b++) {
        sk_transitions *own = NULL;
        const sk_transitions *rows = NULL;
        size_t begin;
        assert_int_equal(sk_transitions_block(ctx, t, b, &own, &rows, &begin), SOCK_OK);
        for (size_t i = 0; i < t->block[b + 1] - t->block[b]; i++) {
            row *r = &list[t->block[b] + i];
            for (size_t k = 0; k < 2; k++) {
                const double unit = sets->units->scale[k], centre = sets->units->centre[k];
                r->y[k] = round(1e6 * (rows->y[(begin + i) * 2 + k] * unit + centre)) + 0;
                r->next[k] = round(1e6 * (rows->next[(begin + i) * 2 + k] * unit + centre)) + 0;
            }
            r->h = rows->h[begin + i];
            r->fold = sk_transitions_fold(t, t->block[b]);
            r->cluster = rows->cluster[begin + i];
        }
        sk_transitions_free(own);
    }
    qsort(list, t->n, sizeof *list, by_state);
    return list;
}

/* The one or two rows with these states. */
static const row *find(const row *list, size_t n, const row *like)
{
    const row *found = bsearch(like, list, n, sizeof *list, by_state);
    return found;
}

static row expected(size_t j, size_t i)
{
    row r = {.h = 0.1};
    for (size_t k = 0; k < 2; k++) {
        r.y[k] = round(1e6 * value(j, i, k)) + 0;
        r.next[k] = round(1e6 * value(j, i + 1, k)) + 0;
    }
    return r;
}

static void prop_streamrows__every_step_is_there_once_in_the_fold_of_its_trajectory(void **state)
{
    (void)state;
    sk_source *source = NULL;
    write_csv("all.csv", 0, 12, 100);
    sk_stream *stream = stream_of(1, (const char *[]){at("all.csv")}, 300, &source);
    sk_row_sets sets = rows_of(stream);
    row *all = sorted_rows(&sets, sets.all), *some = sorted_rows(&sets, sets.search);
    const sk_stream_told told = sk_stream_tell(stream);
    size_t steps = 0, folds[3] = {0};
    for (size_t j = 0; j < 12; j++) {
        size_t fold = 0, cluster = 0;
        if (j == 3) continue;
        for (size_t i = 0; i + 1 < 100 + j % 5; i++, steps += j == 1 ? 2 : 1) {
            const row like = expected(j, i), *r = find(all, sets.all->n, &like);
            assert_non_null(r);
            assert_memory_equal(r->next, like.next, sizeof like.next);
            assert_close(r->h, 0.1, 1e-9, 1);
            if (i) assert_true(r->fold == fold && r->cluster == cluster);
            fold = r->fold, cluster = r->cluster;
        }
        folds[fold]++;
    }
    assert_int_equal(sets.all->n, steps);
    assert_int_equal(told.steps, steps);
    assert_int_equal(told.trajectories, 12);
    assert_true(folds[0] && folds[1] && folds[2]);
    assert_true(told.sampled >= 250 && told.sampled < 600 && sets.search->n == told.sampled);
    for (size_t i = 0; i < sets.search->n; i++) {
        const row *r = find(all, sets.all->n, &some[i]);
        assert_non_null(r);
        assert_true(r->fold == some[i].fold && r->cluster == some[i].cluster);
    }
    free(all), free(some);
    sk_row_sets_clear(&sets);
    sk_stream_free(stream);
    sk_source_free(source);
}

/* A fold that the lots leave out gets a whole trajectory too: a sample of windows of a few steps each would hold
 * nothing of what goes on for longer. */
static void prop_streamrows__a_sample_of_whole_trajectories_serves_every_fold(void **state)
{
    (void)state;
    write_csv("all.csv", 0, 40, 100);
    for (size_t wanted = 500; wanted < 900; wanted += 50) {
        sk_source *source = NULL;
        sk_stream *stream = stream_of(1, (const char *[]){at("all.csv")}, wanted, &source);
        const sock_data *sample = sk_stream_sample(stream);
        sk_row_sets sets = rows_of(stream);
        size_t served[3] = {0};
        for (size_t j = 0; j < sample->trajectories; j++) assert_true(sample->first[j + 1] - sample->first[j] >= 100);
        for (size_t f = 0; f < 3; f++) served[f] = sets.search->first[f + 1] - sets.search->first[f];
        assert_true(served[0] && served[1] && served[2]);
        assert_true(sets.search->n >= wanted && 2 * sets.search->n <= 3 * wanted);
        sk_row_sets_clear(&sets);
        sk_stream_free(stream);
        sk_source_free(source);
    }
}

static void prop_streamrows__cutting_files_changes_nothing(void **state)
{
    (void)state;
    sk_source *source[2] = {0};
    write_csv("all.csv", 0, 12, 100);
    write_csv("left.csv", 0, 5, 100);
    write_csv("right.csv", 5, 12, 100);
    sk_stream *stream[2] = {stream_of(1, (const char *[]){at("all.csv")}, 300, &source[0]),
                            stream_of(2, (const char *[]){at("left.csv"), at("right.csv")}, 300, &source[1])};
    sk_row_sets sets[2] = {rows_of(stream[0]), rows_of(stream[1])};
    assert_true(sk_stream_tell(stream[0]).hash == sk_stream_tell(stream[1]).hash);
    assert_int_equal(sets[0].all->blocks, sets[1].all->blocks);
    for (size_t b = 0; b < sets[0].all->blocks; b++) {
        sk_transitions *one = NULL, *other = NULL;
        assert_int_equal(sk_row_store_read(ctx, sets[0].all, b, &one), SOCK_OK);
        assert_int_equal(sk_row_store_read(ctx, sets[1].all, b, &other), SOCK_OK);
        assert_memory_equal(one->y, other->y, one->n * 2 * sizeof(double));
        assert_memory_equal(one->cluster, other->cluster, one->n * sizeof(size_t));
        sk_transitions_free(one);
        sk_transitions_free(other);
    }
    for (size_t i = 0; i < 2; i++) {
        sk_row_sets_clear(&sets[i]);
        sk_stream_free(stream[i]);
        sk_source_free(source[i]);
    }
}

static void prop_streamrows__a_long_trajectory_is_cut_into_pieces_that_take_turns(void **state)
{
    (void)state;
    sk_source *source = NULL;
    write_csv("long.csv", 0, 1, LONG);
    sk_stream *stream = stream_of(1, (const char *[]){at("long.csv")}, 3000, &source);
    sk_row_sets sets = rows_of(stream);
    row *all = sorted_rows(&sets, sets.all), *some = sorted_rows(&sets, sets.search);
    const size_t pieces = SK_PIECES * 3, steps = LONG - 1;
    size_t missing = 0, last = 0;
    assert_int_equal(sk_stream_tell(stream).steps, steps);
    assert_int_equal(sk_stream_tell(stream).points, LONG);
    for (size_t i = 0; i < steps; i++) {
        const row like = expected(0, i), *r = find(all, sets.all->n, &like);
        if (!r) { /* the step between two pieces, and no other */
            missing++;
            assert_true(i * pieces / steps != (i - 1) * pieces / steps);
            continue;
        }
        assert_int_equal(r->cluster, i * pieces / steps);
        assert_int_equal(r->fold, r->cluster % 3);
        assert_true(r->cluster >= last);
        last = r->cluster;
    }
    assert_int_equal(missing, pieces - 1);
    assert_int_equal(sets.all->n, steps - missing);
    assert_true(sets.search->n > 2900 && sets.search->n <= 3000);
    for (size_t i = 0; i < sets.search->n; i++) {
        const row *r = find(all, sets.all->n, &some[i]);
        assert_true(r && r->fold == some[i].fold && r->cluster == some[i].cluster);
    }
    free(all), free(some);
    sk_row_sets_clear(&sets);
    sk_stream_free(stream);
    sk_source_free(source);
}

static sock_status whole_stream(sock_context *c, void *arg)
{
    (void)arg;
    const char *const path = at("all.csv");
    sk_source *source = NULL;
    sk_stream *stream = NULL;
    sk_row_sets sets = {0};
    SK_TRY(sk_source_open(c, 1, &path, NULL, folder, &source));
    sock_status status = sk_stream_new(c, source, folder, 50, 3, &stream);
    const sk_tune_spec spec = {.data = status >= 0 ? sk_stream_sample(stream) : NULL,
                               .stream = stream,
                               .drift = "auto",
                               .diffusion = "auto",
                               .scaling = true};
    if (status >= 0) status = sk_stream_row_sets(c, &spec, 20, &sets);
    sk_row_sets_clear(&sets);
    sk_stream_free(stream);
    sk_source_free(source);
    return status;
}

static void test_streamrows__every_failing_allocation_is_told(void **state)
{
    (void)state;
    write_csv("all.csv", 0, 6, 10);
    assert_true(for_single_allocations(ctx, whole_stream, NULL) > 100);
}

static void test_streamrows__refusals(void **state)
{
    (void)state;
    sk_source *source = NULL;
    sk_stream *stream = NULL;
    const char *path[] = {at("short.csv")};
    FILE *file = fopen(path[0], "wb");
    fputs("traj,t,x\na,0,1\nb,0,2\n", file);
    fclose(file);
    assert_int_equal(sk_source_open(ctx, 1, path, NULL, folder, &source), SOCK_OK);
    assert_int_equal(sk_stream_new(ctx, source, folder, 100, 3, &stream), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "no trajectory has two points"));
    sk_source_free(source);
    sk_begin(ctx);
    assert_int_equal(sk_source_open(ctx, 1, path, NULL, "/dev/null/none", &source), SOCK_EIO);
    assert_non_null(strstr(sock_message(ctx), "/dev/null/none: no folder can be made there"));
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "input", "x"), SOCK_OK);
    assert_int_equal(sk_source_open(ctx, 1, path, opts, folder, &source), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "input is 'x'; allowed where the data stream: none"));
    sock_options_free(opts);
}

static void test_streamrows__a_file_that_changes_is_told(void **state)
{
    (void)state;
    sk_source *source = NULL;
    sk_stream *stream = NULL;
    const char *const csv = at("all.csv"), *const path = at("set.traj");
    static const char *const names[] = {"x.npy", "t.npy", "first.npy", "names.txt"};
    write_csv("all.csv", 0, 6, 10);
    assert_int_equal(sock_data_convert(ctx, 1, &csv, NULL, 0, path), SOCK_OK);
    assert_int_equal(sk_source_open(ctx, 1, &path, NULL, folder, &source), SOCK_OK);
    FILE *file = fopen(at("set.traj/x.npy"), "ab");
    fputs("12345678", file);
    fclose(file);
    assert_int_equal(sk_stream_new(ctx, source, folder, 50, 3, &stream), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "x.npy: the file has changed while it was read"));
    sk_source_free(source);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char own[200];
        snprintf(own, sizeof own, "%s/%s", path, names[i]);
        remove(own);
    }
    remove(path);
}

static int set_up(void **state)
{
    strcpy(folder, "/tmp/sock-stream-XXXXXX");
    return mkdtemp(folder) ? setup(state) : -1;
}

/* Nothing of the scratch is left, or the folder could not be removed. */
static int tear_down(void **state)
{
    static const char *const names[] = {"all.csv", "left.csv", "right.csv", "long.csv", "short.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(at(names[i]));
    teardown(state);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_streamrows__every_step_is_there_once_in_the_fold_of_its_trajectory),
        cmocka_unit_test(prop_streamrows__a_sample_of_whole_trajectories_serves_every_fold),
        cmocka_unit_test(prop_streamrows__cutting_files_changes_nothing),
        cmocka_unit_test(prop_streamrows__a_long_trajectory_is_cut_into_pieces_that_take_turns),
        cmocka_unit_test(test_streamrows__every_failing_allocation_is_told),
        cmocka_unit_test(test_streamrows__refusals),
        cmocka_unit_test(test_streamrows__a_file_that_changes_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
