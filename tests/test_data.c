/* test_data.c - data sets: from arrays, groups, parts, splits, writing and reading back, the summary. */
#define _GNU_SOURCE
#include "base/options.h"
#include "data/data.h"
#include "onecontext.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

static const sk_key test_key = {7, SK_PURPOSE_TEST};

/* `trajectories` of uneven lengths 1 .. longest, d states, irregular times; every `copies` neighbours are realisations
 * of one start. */
static sock_data *make_data(size_t trajectories, size_t longest, size_t d, size_t copies)
{
    size_t *length = calloc(trajectories, sizeof *length), points = 0;
    for (size_t j = 0; j < trajectories; j++) points += length[j] = 1 + (j / copies * 7 + 3) % longest;
    double *t = calloc(points, sizeof *t), *x = calloc(points * d, sizeof *x);
    sk_normals(test_key, 1, 0, 0, points * d, x);
    for (size_t j = 0, row = 0; j < trajectories; j++)
        for (size_t i = 0; i < length[j]; i++, row++) {
            double u;
            sk_uniforms(test_key, 2, j / copies, i, 1, &u);
            t[row] = (i ? t[row - 1] : 0) + 0.1 + u;
            if (i == 0) sk_normals(test_key, 3, j / copies, 0, d, x + row * d);
        }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    free(length);
    free(t);
    free(x);
    return data;
}

static void test_data__arrays_and_getters(void **state)
{
    (void)state;
    const size_t length[] = {2, 0, 3, 1};
    const double t[] = {1, 0, 5, 4, 6, 0}, x[] = {1, 10, 0, 0, 5, 50, 4, 40, (double)NAN, 60, 9, 90};
    const char *names[] = {"prey", "predator"};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, 4, length, t, x, names, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_data_dim(data), 2);
    assert_int_equal(sock_data_trajectories(data), 3);
    assert_int_equal(sock_data_points(data), 5);
    assert_int_equal(sock_data_intervals(data), 2);
    assert_int_equal(sock_data_groups(data), 3);
    assert_string_equal(sock_data_name(data, 1), "predator");
    assert_null(sock_data_name(data, 2));
    const double *tj, *xj;
    assert_int_equal(sock_data_trajectory(data, 0, &tj, &xj), 2); /* given in falling time */
    assert_true(tj[0] == 0 && tj[1] == 1 && xj[0] == 0 && xj[1] == 0 && xj[2] == 1 && xj[3] == 10);
    assert_int_equal(sock_data_trajectory(data, 1, &tj, &xj), 2);
    assert_true(tj[0] == 4 && tj[1] == 5 && xj[0] == 4 && xj[3] == 50);
    assert_string_equal(data->id[1], "2");
    assert_int_equal(sock_data_trajectory(data, 2, NULL, NULL), 1);
    assert_int_equal(sock_data_trajectory(data, 3, &tj, &xj), 0);
    assert_null(tj);
    assert_null(xj);
    assert_true(data->missing == 1 && data->empty == 1 && data->single == 1 && data->rows_read == 6);
    sock_data_free(data);
    sock_data_free(NULL);
    assert_true(sock_data_dim(NULL) == 0 && sock_data_trajectories(NULL) == 0 && sock_data_points(NULL) == 0);
    assert_true(sock_data_groups(NULL) == 0 && sock_data_intervals(NULL) == 0 && !sock_data_name(NULL, 0));
    assert_int_equal(sock_data_trajectory(NULL, 0, NULL, NULL), 0);
}

static void expect_refusal(sock_status status, sock_status expected, const sock_data *data, const char *part)
{
    if (status != expected || !strstr(sock_message(ctx), part))
        print_error("status %d, expected %d with '%s': %s\n", status, expected, part, sock_message(ctx));
    assert_int_equal(status, expected);
    assert_non_null(strstr(sock_message(ctx), part));
    assert_null(data);
}

static void test_data__arrays_that_are_refused(void **state)
{
    (void)state;
    sock_data *data = NULL;
    const size_t two[] = {2}, none[] = {0}, huge[] = {SIZE_MAX, 2};
    const double t[] = {0, 1}, same[] = {3, 3}, x[] = {1, 2}, missing[] = {(double)NAN, (double)NAN};
    const double infinite[] = {1, INFINITY}, late[] = {0, -INFINITY};
    const char *twins[] = {"a", "a"}, *blank[] = {""}, *broken[] = {"\xc0\x80"}, *null[] = {NULL};
#define TRY(d, trajectories, length, t, x, names)                                                                      \
    sock_data_from_arrays(ctx, d, trajectories, length, t, x, names, NULL, NULL, &data)
    expect_refusal(TRY(0, 1, two, t, x, NULL), SOCK_EUSAGE, data, "d is 0");
    expect_refusal(TRY(1, 0, two, t, x, NULL), SOCK_EUSAGE, data, "trajectories is 0");
    expect_refusal(TRY(1, 1, NULL, t, x, NULL), SOCK_EUSAGE, data, "NULL");
    expect_refusal(TRY(1, 1, two, NULL, x, NULL), SOCK_EUSAGE, data, "NULL");
    expect_refusal(TRY(1, 1, two, t, NULL, NULL), SOCK_EUSAGE, data, "NULL");
    expect_refusal(TRY(1, 1, none, t, x, NULL), SOCK_EINPUT, data, "no trajectory has a point");
    expect_refusal(TRY(1, 2, huge, t, x, NULL), SOCK_EUSAGE, data, "add up");
    expect_refusal(TRY(1, 1, two, same, x, NULL), SOCK_EINPUT, data, "points 0 and 1: trajectory '0'");
    expect_refusal(TRY(1, 1, two, t, missing, NULL), SOCK_EINPUT, data, "missing");
    expect_refusal(TRY(1, 1, two, t, infinite, NULL), SOCK_EINPUT, data, "trajectory '0', point 1, column 'x0'");
    expect_refusal(TRY(1, 1, two, late, x, NULL), SOCK_EINPUT, data, "trajectory '0', point 1, column 't'");
    expect_refusal(TRY(2, 1, (const size_t[]){1}, t, x, twins), SOCK_EUSAGE, data, "states 0 and 1 are both named 'a'");
    expect_refusal(TRY(1, 1, two, t, x, blank), SOCK_EUSAGE, data, "state 0");
    expect_refusal(TRY(1, 1, two, t, x, null), SOCK_EUSAGE, data, "state 0");
    expect_refusal(TRY(1, 1, two, t, x, broken), SOCK_EUSAGE, data, "UTF-8");
#undef TRY
    assert_int_equal(sock_data_from_arrays(NULL, 1, 1, two, t, x, NULL, NULL, NULL, &data), SOCK_EUSAGE);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, two, t, x, NULL, NULL, NULL, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "length, t, x and out must not be NULL"));
}

static void test_data__group_labels_of_arrays(void **state)
{
    (void)state;
    const size_t length[] = {2, 2, 2}, labels[] = {900, 5, 900}, bad[] = {1, 1, 1};
    const double t[] = {0, 1, 0, 1, 0, 1}, x[] = {1, 2, 1, 7, 1, 4};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, labels, NULL, &data), SOCK_OK);
    assert_int_equal(data->groups, 2); /* without labels all three would be one group */
    assert_true(data->member[0] == 0 && data->member[1] == 2 && data->member[2] == 1);
    sock_data_free(data);
    data = NULL;
    const double moved[] = {0, 1, 0, 1, 0.5, 1};
    expect_refusal(sock_data_from_arrays(ctx, 1, 3, length, moved, x, NULL, bad, NULL, &data), SOCK_EINPUT, data,
                   "group '1': trajectories '0' and '2' differ in time 1: 0 and 0.5");
}

/* Against the plain definition: compare every pair. */
static void test_data__default_groups_are_those_of_all_pairs(void **state)
{
    (void)state;
    sock_data *data = make_data(60, 5, 2, 3);
    size_t *group_of = calloc(data->trajectories, sizeof *group_of);
    size_t seen = 0;
    for (size_t g = 0; g < data->groups; g++)
        for (size_t i = data->group_first[g]; i < data->group_first[g + 1]; i++, seen++) group_of[data->member[i]] = g;
    assert_int_equal(seen, data->trajectories);
    for (size_t i = 0; i < data->trajectories; i++)
        for (size_t j = 0; j < data->trajectories; j++) {
            const double *ti, *tj, *xi, *xj;
            size_t m = sock_data_trajectory(data, i, &ti, &xi);
            bool same = m == sock_data_trajectory(data, j, &tj, &xj) && memcmp(ti, tj, m * sizeof *ti) == 0 &&
                        memcmp(xi, xj, 2 * sizeof *xi) == 0;
            assert_true(same == (group_of[i] == group_of[j]));
        }
    assert_int_equal(data->groups, 20);
    free(group_of);
    sock_data_free(data);
}

static void test_data__oracle_file_has_its_groups(void **state)
{
    (void)state;
    sock_data *data = NULL;
    assert_int_equal(sock_data_read(ctx, TEST_DATA "/drift_groups.csv", NULL, &data), SOCK_OK);
    assert_int_equal(data->trajectories % data->groups, 0);
    assert_int_equal(data->trajectories / data->groups, 3);
    assert_int_equal(data->d, 2);
    assert_true(data->x[0] == 0.179983 && data->x[1] == 0.210113 && data->t[1] == 0.333333);
    sock_data_free(data);
}

static void test_data__a_group_has_each_interval_once(void **state)
{
    (void)state;
    const size_t length[] = {3, 3, 2, 1};
    const double t[] = {0, 1, 4, 0, 1, 4, 0, 8, 5}, x[] = {1, 2, 3, 1, 5, 6, 7, 8, 9};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_data_intervals(data), 3); /* the first two are one group */
    sock_data_free(data);
    data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, length + 3, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_data_intervals(data), 0);
    sock_data_free(data);
}

/* ---- Parts ---- */

static void test_data__subset_keeps_numbers_names_and_groups(void **state)
{
    (void)state;
    sock_data *data = make_data(12, 6, 2, 3), *part = NULL;
    const size_t keep[] = {7, 0, 2, 6, 0}; /* groups {7, 6} and {0, 2, 0}; a trajectory may come twice */
    assert_int_equal(sk_data_subset(ctx, data, keep, 5, &part), SOCK_OK);
    assert_int_equal(part->trajectories, 5);
    assert_int_equal(part->groups, 2);
    assert_true(part->group_first[1] == 2 && part->group_first[2] == 5);
    assert_true(part->member[0] == 0 && part->member[1] == 3 && part->member[2] == 1 && part->member[4] == 4);
    for (size_t i = 0; i < 5; i++) {
        const double *t, *x, *t0, *x0;
        size_t m = sock_data_trajectory(part, i, &t, &x);
        assert_int_equal(m, sock_data_trajectory(data, keep[i], &t0, &x0));
        assert_memory_equal(t, t0, m * sizeof *t);
        assert_memory_equal(x, x0, 2 * m * sizeof *x);
        assert_string_equal(part->id[i], data->id[keep[i]]);
    }
    assert_true(part->hash != data->hash);
    sock_data_free(part);
    size_t all[12];
    for (size_t j = 0; j < 12; j++) all[j] = j;
    assert_int_equal(sk_data_subset(ctx, data, all, 12, &part), SOCK_OK);
    assert_true(part->hash == data->hash);
    sock_data_free(part);
    sock_data_free(data);
}

/* Whole groups; every trajectory in one part; every part has a group; the lead of the fullest is at most a group. */
static void check_deal(const sock_data *data, size_t parts, uint64_t seed)
{
    size_t *part_of = malloc(data->trajectories * sizeof *part_of), *intervals = calloc(parts, sizeof *intervals),
           *groups = calloc(parts, sizeof *groups);
    size_t longest = 0, least = SIZE_MAX, most = 0;
    memset(part_of, 0xff, data->trajectories * sizeof *part_of);
    assert_int_equal(sk_data_deal(ctx, data, parts, seed, part_of), SOCK_OK);
    for (size_t j = 0; j < data->trajectories; j++) assert_true(part_of[j] < parts);
    for (size_t g = 0; g < data->groups; g++) {
        size_t part = part_of[data->member[data->group_first[g]]];
        for (size_t i = data->group_first[g]; i < data->group_first[g + 1]; i++)
            assert_int_equal(part_of[data->member[i]], part);
        intervals[part] += sk_group_intervals(data, g);
        groups[part]++;
        longest = SK_MAX(longest, sk_group_intervals(data, g));
    }
    for (size_t p = 0; p < parts; p++) {
        assert_true(groups[p] > 0);
        least = SK_MIN(least, intervals[p]);
        most = SK_MAX(most, intervals[p]);
    }
    assert_true(most - least <= longest);
    if (data->groups >= 10 * parts) assert_true(most - least <= 1); /* short groups even things out */
    free(part_of);
    free(intervals);
    free(groups);
}

static void test_data__deal_is_fair_and_keeps_groups_whole(void **state)
{
    (void)state;
    sock_data *data = make_data(300, 9, 1, 2);
    assert_int_equal(data->groups, 150);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (size_t parts = 1; parts <= 150; parts = parts * 3 / 2 + 1) check_deal(data, parts, seed);
    check_deal(data, 150, 1);
    size_t *part_of = calloc(300, sizeof *part_of);
    assert_int_equal(sk_data_deal(ctx, data, 151, 0, part_of), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "151 parts"));
    assert_int_equal(sk_data_deal(ctx, data, 0, 0, part_of), SOCK_EUSAGE);
    free(part_of);
    sock_data_free(data);
}

static void test_data__deal_follows_the_seed(void **state)
{
    (void)state;
    sock_data *data = make_data(40, 4, 1, 1);
    size_t a[40], b[40], c[40];
    assert_int_equal(sk_data_deal(ctx, data, 4, 1, a), SOCK_OK);
    assert_int_equal(sk_data_deal(ctx, data, 4, 1, b), SOCK_OK);
    assert_int_equal(sk_data_deal(ctx, data, 4, 2, c), SOCK_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    sock_data_free(data);
}

static void test_data__split_parts_make_up_the_whole(void **state)
{
    (void)state;
    sock_data *data = make_data(30, 6, 2, 3);
    size_t times_held[30] = {0};
    for (size_t part = 0; part < 4; part++) {
        sock_data *rest = NULL, *held = NULL;
        assert_int_equal(sock_data_split(ctx, data, 4, part, 9, &rest, &held), SOCK_OK);
        assert_int_equal(rest->trajectories + held->trajectories, 30);
        assert_int_equal(rest->groups + held->groups, data->groups);
        assert_int_equal(sock_data_intervals(rest) + sock_data_intervals(held), sock_data_intervals(data));
        for (size_t j = 0; j < held->trajectories; j++) {
            size_t whole = (size_t)atoi(held->id[j]);
            times_held[whole]++;
            assert_true(held->x[held->first[j] * 2] == data->x[data->first[whole] * 2]);
        }
        sock_data_free(rest);
        sock_data_free(held);
    }
    for (size_t j = 0; j < 30; j++) assert_int_equal(times_held[j], 1);
    sock_data *held = NULL;
    assert_int_equal(sock_data_split(ctx, data, 2, 1, 0, NULL, &held), SOCK_OK);
    sock_data_free(held);
    held = NULL;
    expect_refusal(sock_data_split(ctx, data, 11, 0, 0, NULL, &held), SOCK_EUSAGE, held,
                   "2 to 10, the number of groups");
    expect_refusal(sock_data_split(ctx, data, 1, 0, 0, NULL, &held), SOCK_EUSAGE, held, "1 parts");
    expect_refusal(sock_data_split(ctx, data, 2, 2, 0, NULL, &held), SOCK_EUSAGE, held, "part is 2");
    expect_refusal(sock_data_split(ctx, NULL, 2, 0, 0, NULL, &held), SOCK_EUSAGE, held, "NULL");
    sock_data_free(data);
}

/* Counts, for each step of the whole, how often it is in a part: pieces begin and end at points of the whole. */
static void count_steps(const sock_data *whole, const sock_data *part, size_t *seen)
{
    for (size_t j = 0; j < part->trajectories; j++) {
        const size_t from = (size_t)atoi(part->id[j]);
        size_t at = whole->first[from];
        while (whole->t[at] != part->t[part->first[j]]) at++;
        for (size_t i = part->first[j]; i + 1 < part->first[j + 1]; i++, at++) {
            seen[at]++;
            assert_true(part->t[i + 1] == whole->t[at + 1]);
            assert_true(part->x[2 * i] == whole->x[2 * at] && part->x[2 * i + 3] == whole->x[2 * at + 3]);
        }
    }
}

static void test_data__blocks_of_time_make_up_the_whole(void **state)
{
    (void)state;
    sock_data *data = make_data(6, 12, 2, 3);
    size_t longest = 0;
    for (size_t j = 0; j < 6; j++) longest = SK_MAX(longest, data->first[j + 1] - data->first[j] - 1);
    assert_true(longest > 4);
    for (size_t parts = 2; parts <= longest; parts++) {
        size_t held_times[72] = {0};
        for (size_t part = 0; part < parts; part++) {
            sock_data *rest = NULL, *held = NULL;
            size_t seen[72] = {0};
            assert_int_equal(sock_data_split_time(ctx, data, parts, part, &rest, &held), SOCK_OK);
            count_steps(data, held, held_times);
            count_steps(data, held, seen);
            count_steps(data, rest, seen);
            for (size_t j = 0; j < 6; j++)
                for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) assert_int_equal(seen[i], 1);
            assert_true(held->trajectories <= 6 && rest->trajectories <= 12);
            if (parts == 3 && part == 1) assert_string_equal(rest->id[1], "0/after");
            sock_data_free(rest);
            sock_data_free(held);
        }
        for (size_t j = 0; j < 6; j++)
            for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) assert_int_equal(held_times[i], 1);
    }
    sock_data *held = NULL;
    expect_refusal(sock_data_split_time(ctx, data, 1, 0, NULL, &held), SOCK_EUSAGE, held, "1 parts");
    expect_refusal(sock_data_split_time(ctx, data, 3, 3, NULL, &held), SOCK_EUSAGE, held, "part is 3");
    expect_refusal(sock_data_split_time(ctx, NULL, 3, 0, NULL, &held), SOCK_EUSAGE, held, "NULL");
    expect_refusal(sock_data_split_time(ctx, data, 40, 0, NULL, &held), SOCK_EINPUT, held, "holds no step");
    sock_data_free(data);
}

static void test_data__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    sock_data *data = make_data(8, 4, 1, 2);
    const size_t length[] = {1, 2}, group[] = {4, 9};
    const double t[] = {0, 1, 0}, x[] = {1, 2, 3};
    char path[] = "/tmp/test_data_XXXXXX";
    close(mkstemp(path));
    for (int task = 0; task < 4; task++) {
        long k = 1;
        for (;; k++) {
            sock_data *a = NULL, *b = NULL;
            char *json = NULL;
            sock_status status = SOCK_OK;
            sk_fail_allocation(ctx, k);
            if (task == 0) status = sock_data_split(ctx, data, 2, 0, 0, &a, &b);
            if (task == 1) status = sock_data_summary(ctx, data, &json);
            if (task == 2) status = sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, group, NULL, &a);
            if (task == 3) status = sock_data_write(ctx, data, path);
            sk_fail_allocation(ctx, 0);
            sock_data_free(a);
            sock_data_free(b);
            sock_string_free(json);
            if (status == SOCK_OK) break;
            assert_true(status == SOCK_ENOMEM || (task == 3 && status == SOCK_EIO));
            assert_true(!a && !b && !json && sock_message(ctx)[0]);
        }
        assert_true(k > 1);
    }
    unlink(path);
    sock_data_free(data);
}

/* ---- Writing ---- */

static void test_data__written_data_read_back_the_same(void **state)
{
    (void)state;
    const size_t length[] = {3, 3, 1};
    const double t[] = {0, 0.1, 0.30000000000000004, 0, 0.1, 0.30000000000000004, -1e-300};
    const double x[] = {1, -0.0, 2, 1.7976931348623157e308, 3, 5e-324, 1, -0.0, 1.0 / 3, 2, 3, 4, 0.1, 1e22};
    const char *names[] = {"plain", "with, \"quotes\"\nand lines "};
    sock_data *data = NULL, *back = NULL;
    char path[] = "/tmp/test_data_XXXXXX";
    close(mkstemp(path));
    assert_int_equal(sock_data_from_arrays(ctx, 2, 3, length, t, x, names, NULL, NULL, &data), SOCK_OK);
    sk_free(data->id[2]);
    data->id[2] = sk_strdup(ctx, " odd,\"id\"");
    assert_int_equal(sock_data_write(ctx, data, path), SOCK_OK);
    assert_int_equal(sock_data_read(ctx, path, NULL, &back), SOCK_OK);
    assert_true(back->hash == data->hash && back->groups == 2);
    assert_memory_equal(back->t, data->t, 7 * sizeof *t);
    assert_memory_equal(back->x, data->x, 14 * sizeof *x);
    for (size_t k = 0; k < 2; k++) assert_string_equal(back->state[k], names[k]);
    for (size_t j = 0; j < 3; j++) assert_string_equal(back->id[j], data->id[j]);
    sock_data_free(back);
    assert_int_equal(sock_data_write(ctx, data, "/nonexistent/folder/x.csv"), SOCK_EIO);
    assert_int_equal(sock_data_write(ctx, data, NULL), SOCK_EUSAGE);
    sk_free(data->state[0]);
    data->state[0] = sk_strdup(ctx, "traj");
    assert_int_equal(sock_data_write(ctx, data, path), SOCK_EUSAGE);
    sock_data_free(data);
    unlink(path);
}

/* ---- Summary ---- */

static json_t *summary(const sock_data *data)
{
    char *json = NULL;
    assert_int_equal(sock_data_summary(ctx, data, &json), SOCK_OK);
    json_t *object = json_loads(json, 0, NULL);
    assert_non_null(object);
    sock_string_free(json);
    return object;
}

static double number(json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void test_data__summary_counts_and_ranges(void **state)
{
    (void)state;
    const size_t length[] = {4, 4, 1, 1};
    const double t[] = {0, 1, 3, 7, 0, 1, 3, 7, 2, 9}, x[] = {1, 2, 3, 4, 1, 6, (double)NAN, 8, 9, (double)NAN};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    json_t *object = summary(data);
    assert_string_equal(json_string_value(json_object_get(object, "source")), "arrays");
    assert_true(number(object, "trajectories") == 3 && number(object, "groups") == 3 && number(object, "points") == 8);
    assert_true(number(object, "intervals") == 5 && number(object, "d") == 1 && number(object, "rows_read") == 10);
    json_t *dropped = json_object_get(object, "dropped"), *step = json_object_get(object, "time_step");
    assert_true(number(dropped, "missing_points") == 2 && number(dropped, "empty_trajectories") == 1);
    assert_true(number(dropped, "single_point_trajectories") == 1);
    assert_int_equal(json_array_size(json_object_get(dropped, "ignored_columns")), 0);
    assert_true(number(step, "min") == 1 && number(step, "median") == 2 && number(step, "max") == 6); /* 1 2 4, 1 6 */
    json_t *range = json_object_get(object, "time_range"), *x0 = json_array_get(json_object_get(object, "state"), 0);
    assert_true(number(range, "min") == 0 && number(range, "max") == 7);
    assert_true(number(x0, "min") == 1 && number(x0, "max") == 9);
    const double kept[] = {1, 2, 3, 4, 1, 6, 8, 9};
    double squares = 0;
    for (size_t i = 0; i < 8; i++) squares += (kept[i] - 4.25) * (kept[i] - 4.25);
    assert_close(number(x0, "mean"), 4.25, 1e-15, 0);
    assert_close(number(x0, "sd"), sqrt(squares / 7), 1e-14, 0);
    json_decref(object);
    sock_data_free(data);
}

static void test_data__summary_says_what_it_cannot_compute(void **state)
{
    (void)state;
    const size_t length[] = {1, 1};
    const double t[] = {0, 1}, x[] = {1, 2};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    json_t *object = summary(data);
    assert_true(json_is_null(json_object_get(object, "time_step")));
    assert_true(json_is_null(json_array_get(json_object_get(object, "lag1"), 0)));
    assert_non_null(
        strstr(json_string_value(json_array_get(json_object_get(object, "lag1_reason"), 0)), "fewer than 3"));
    json_decref(object);
    sock_data_free(data);
    data = NULL;
    const size_t six[] = {6};
    const double steady[] = {0, 1, 2, 3, 4, 5};
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, six, steady, steady, NULL, NULL, NULL, &data), SOCK_OK);
    object = summary(data);
    assert_true(json_is_null(json_array_get(json_object_get(object, "lag1"), 0)));
    assert_non_null(strstr(json_string_value(json_array_get(json_object_get(object, "lag1_reason"), 0)), "vary"));
    json_decref(object);
    sock_data_free(data);
}

/* Lag-1 correlation of standardised increments: 0 for Brownian motion on any grid. Pure noise
 * has E u v = -1/sqrt(h h') and E u u = 2/h, which is -1/2 on an even grid. */
static void test_data__lag_one_correlation_tells_noise_from_motion(void **state)
{
    (void)state;
    enum { PATHS = 20, LONG = 1001, N = PATHS * LONG };
    size_t length[PATHS];
    double *t = calloc(N, sizeof *t), *x = calloc(2 * N, sizeof *x), *z = calloc(3 * N, sizeof *z);
    sk_normals(test_key, 10, 0, 0, 2 * N, z);
    sk_uniforms(test_key, 11, 0, 0, N, z + 2 * N);
    for (size_t j = 0, row = 0; j < PATHS; j++) {
        length[j] = LONG;
        for (size_t i = 0; i < LONG; i++, row++) {
            double h = j % 2 ? 0.5 : 0.01 + z[2 * N + row];
            t[row] = i ? t[row - 1] + h : 0;
            x[2 * row] =
                i ? x[2 * row - 2] + sqrt(h) * z[row] : 100 * (double)j; /* jumps between paths count for nothing */
            x[2 * row + 1] = z[N + row];
        }
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 2, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    json_t *object = summary(data), *lag = json_object_get(object, "lag1");
    double motion = json_real_value(json_array_get(lag, 0)), noise = json_real_value(json_array_get(lag, 1));
    /* the pairs once more, in one pass and without means (which are 0 here up to 1/sqrt(N)) */
    double uv = 0, uu = 0, noise_uv = 0, noise_uu = 0;
    for (size_t j = 0; j < PATHS; j++)
        for (size_t i = j * LONG; i + 2 < (j + 1) * LONG; i++) {
            double u = (x[2 * i + 2] - x[2 * i]) / sqrt(t[i + 1] - t[i]);
            uv += u * (x[2 * i + 4] - x[2 * i + 2]) / sqrt(t[i + 2] - t[i + 1]);
            uu += u * u;
            noise_uv -= 1 / sqrt((t[i + 1] - t[i]) * (t[i + 2] - t[i + 1]));
            noise_uu += 2 / (t[i + 1] - t[i]);
        }
    assert_close(motion, uv / uu, 1e-3, 1);
    assert_true(fabs(motion) < 4 / sqrt(N));
    assert_close(noise, noise_uv / noise_uu, 0.02, 1);
    json_decref(object);
    sock_data_free(data);
    free(t);
    free(x);
    free(z);
}

/* Four pairs by hand: u = 1, -1, 2, 0 with steps of 4, so increments of 2, -2, 4, 0; then a second path. */
static void test_data__lag_one_correlation_by_hand(void **state)
{
    (void)state;
    const size_t length[] = {5, 3};
    const double t[] = {0, 4, 8, 12, 16, 0, 1, 2}, x[] = {0, 2, 0, 4, 4, 5, 8, 9};
    const double u[] = {1, -1, 2, 3}, v[] = {-1, 2, 0, 1};
    double mu = 0, mv = 0, uu = 0, vv = 0, uv = 0;
    for (size_t i = 0; i < 4; i++) mu += u[i] / 4, mv += v[i] / 4;
    for (size_t i = 0; i < 4; i++) {
        uu += (u[i] - mu) * (u[i] - mu);
        vv += (v[i] - mv) * (v[i] - mv);
        uv += (u[i] - mu) * (v[i] - mv);
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    json_t *object = summary(data);
    assert_close(json_real_value(json_array_get(json_object_get(object, "lag1"), 0)), uv / sqrt(uu * vv), 1e-14, 0);
    json_decref(object);
    sock_data_free(data);
}

static void test_data__summary_of_a_file_with_an_odd_name(void **state)
{
    (void)state;
    char path[] = "/tmp/test_data_\xff_XXXXXX";
    int handle = mkstemp(path);
    const char *text = "id,t,x,note\na,0,1,hello\na,1,2,hello\n";
    assert_true(handle >= 0 && write(handle, text, strlen(text)) == (ssize_t)strlen(text));
    close(handle);
    sock_data *data = NULL;
    assert_int_equal(sock_data_read(ctx, path, NULL, &data), SOCK_OK);
    json_t *object = summary(data);
    assert_non_null(strstr(json_string_value(json_object_get(object, "source")), "/tmp/test_data_?_"));
    json_t *ignored = json_array_get(json_object_get(json_object_get(object, "dropped"), "ignored_columns"), 0);
    assert_string_equal(json_string_value(json_object_get(ignored, "name")), "note");
    assert_non_null(strstr(json_string_value(json_object_get(ignored, "reason")), "not a number"));
    json_decref(object);
    sock_data_free(data);
    unlink(path);
}

/* Two parts of a split, joined, are the whole: the same trajectories, the same groups; and kept groups stay apart. */
static void prop_join__undoes_a_split(void **state)
{
    (void)state;
    const size_t length[4] = {2, 3, 2, 3};
    const double t[10] = {0, 1, 0, 1, 3, 0, 1, 0, 1, 3}, x[10] = {5, 6, 5, 7, 8, 5, 9, 5, 1, 2};
    const char *const names[] = {"size"};
    sock_data *data = NULL, *rest = NULL, *held = NULL, *both = NULL, *apart = NULL, *wide = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 4, length, t, x, names, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(data->groups, 2); /* same start, same times */
    assert_int_equal(sock_data_split(ctx, data, 2, 1, 3, &rest, &held), SOCK_OK);
    assert_int_equal(sock_data_join(ctx, rest, held, NULL, &both), SOCK_OK);
    assert_true(both->trajectories == 4 && both->points == 10 && both->groups == 2);
    assert_string_equal(sock_data_name(both, 0), "size");
    for (size_t j = 0; j < 4; j++) {
        const sock_data *part = j < rest->trajectories ? rest : held;
        const size_t k = j < rest->trajectories ? j : j - rest->trajectories;
        assert_int_equal(sk_data_length(both, j), sk_data_length(part, k));
        assert_memory_equal(both->x + both->first[j], part->x + part->first[k], sk_data_length(part, k) * sizeof *x);
        assert_memory_equal(both->t + both->first[j], part->t + part->first[k], sk_data_length(part, k) * sizeof *t);
    }
    sock_data_free(both);
    assert_int_equal(sock_data_join(ctx, data, data, NULL, &both), SOCK_OK);
    assert_int_equal(sk_data_join(ctx, data, data, true, NULL, &apart), SOCK_OK);
    assert_true(both->groups == 2 && apart->groups == 4); /* grouped anew, or each with its own */
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, (const size_t[]){2}, t, x, NULL, NULL, NULL, &wide), SOCK_OK);
    assert_int_equal(sock_data_join(ctx, data, wide, NULL, &rest), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "1 states"));
    assert_int_equal(sock_data_join(ctx, data, NULL, NULL, &rest), SOCK_EUSAGE);
    sock_data *const all[] = {data, rest, held, both, apart, wide};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sock_data_free(all[i]);
}

/* Every second point of each trajectory, the first one among them, after what is missing has gone; joined parts are not
 * thinned again. */
static void test_data__every_thins_each_trajectory(void **state)
{
    const size_t length[] = {5, 1, 4};
    const double t[] = {4, 1, 2, 3, 0, 7, 0, 1, 2, 3}, expected_t[] = {0, 2, 4, 7, 0, 3}, *got, *x;
    double value[10];
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL, *both = NULL;
    (void)state;
    for (int i = 0; i < 10; i++) value[i] = 10 * t[i];
    value[7] = NAN; /* the third trajectory is 0, 2, 3 */
    assert_int_equal(sock_options_set(ctx, opts, "every", "2"), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 3, length, t, value, NULL, NULL, opts, &data), SOCK_OK);
    assert_int_equal(sock_data_points(data), 6);
    for (size_t j = 0, at = 0; j < 3; j++) {
        const size_t points = sock_data_trajectory(data, j, &got, &x);
        for (size_t i = 0; i < points; i++, at++) {
            assert_true(got[i] == expected_t[at]);
            assert_true(x[i] == 10 * expected_t[at]);
        }
    }
    assert_int_equal(data->missing, 1);
    assert_int_equal(data->thinned, 3);
    assert_int_equal(sock_data_join(ctx, data, data, opts, &both), SOCK_OK);
    assert_int_equal(sock_data_points(both), 12);
    sock_data_free(both);
    sock_data_free(data);
    sock_options_free(opts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data__every_thins_each_trajectory),
        cmocka_unit_test(prop_join__undoes_a_split),
        cmocka_unit_test(test_data__arrays_and_getters),
        cmocka_unit_test(test_data__arrays_that_are_refused),
        cmocka_unit_test(test_data__group_labels_of_arrays),
        cmocka_unit_test(test_data__default_groups_are_those_of_all_pairs),
        cmocka_unit_test(test_data__oracle_file_has_its_groups),
        cmocka_unit_test(test_data__a_group_has_each_interval_once),
        cmocka_unit_test(test_data__subset_keeps_numbers_names_and_groups),
        cmocka_unit_test(test_data__deal_is_fair_and_keeps_groups_whole),
        cmocka_unit_test(test_data__deal_follows_the_seed),
        cmocka_unit_test(test_data__split_parts_make_up_the_whole),
        cmocka_unit_test(test_data__blocks_of_time_make_up_the_whole),
        cmocka_unit_test(test_data__every_failed_allocation_is_reported),
        cmocka_unit_test(test_data__written_data_read_back_the_same),
        cmocka_unit_test(test_data__summary_counts_and_ranges),
        cmocka_unit_test(test_data__summary_says_what_it_cannot_compute),
        cmocka_unit_test(test_data__lag_one_correlation_tells_noise_from_motion),
        cmocka_unit_test(test_data__lag_one_correlation_by_hand),
        cmocka_unit_test(test_data__summary_of_a_file_with_an_odd_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
