/* test_files.c - several files as one data set, and the folder form: the same data by every way. */
#define _GNU_SOURCE
#include "data/data.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static sock_context *ctx;
static char folder[64];

static const char *at(const char *name)
{
    static char paths[128][160]; /* those of a test and of its helpers */
    static size_t next;
    char *path = paths[next++ % 128];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(at(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

/* A .npy file, its header made by hand. */
static void write_array(const char *name, const char *header, const void *numbers, size_t size)
{
    char bytes[1024] = "\x93NUMPY\x01";
    const size_t length = strlen(header);
    bytes[8] = (char)length;
    memcpy(bytes + 10, header, length);
    memcpy(bytes + 10 + length, numbers, size);
    write_bytes(name, bytes, 10 + length + size);
}

static sock_options *options_of(const char *const *list)
{
    sock_options *opts = sock_options_new(ctx);
    for (; list && *list; list += 2) assert_int_equal(sock_options_set(ctx, opts, list[0], list[1]), SOCK_OK);
    return opts;
}

static sock_status read_paths(size_t count, const char *const *paths, const char *const *list, sock_data **out)
{
    sock_options *opts = options_of(list);
    const sock_status status = sock_data_read_files(ctx, count, paths, opts, out);
    sock_options_free(opts);
    return status;
}

static sock_data *read_good(size_t count, const char *const *paths, const char *const *list)
{
    sock_data *data = NULL;
    if (read_paths(count, paths, list, &data) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    return data;
}

static void refused(size_t count, const char *const *paths, const char *const *list, sock_status expected,
                    const char *part)
{
    sock_data *data = NULL;
    const sock_status status = read_paths(count, paths, list, &data);
    if (status != expected || !strstr(sock_message(ctx), part))
        print_error("status %d, expected %d with '%s': %s\n", status, expected, part, sock_message(ctx));
    assert_int_equal(status, expected);
    assert_non_null(strstr(sock_message(ctx), part));
    assert_null(data);
}

/* Numbers, ids but for the names of files before them, and groups. */
static void assert_same_data(const sock_data *a, const sock_data *b)
{
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->trajectories, b->trajectories);
    assert_int_equal(a->points, b->points);
    assert_memory_equal(a->first, b->first, (a->trajectories + 1) * sizeof *a->first);
    assert_memory_equal(a->t, b->t, a->points * sizeof *a->t);
    assert_memory_equal(a->x, b->x, a->points * a->d * sizeof *a->x);
    assert_int_equal(a->inputs, b->inputs);
    if (a->inputs) assert_memory_equal(a->u, b->u, a->points * a->inputs * sizeof *a->u);
    assert_int_equal(a->groups, b->groups);
    assert_memory_equal(a->member, b->member, a->trajectories * sizeof *a->member);
    assert_true(a->hash == b->hash);
    for (size_t k = 0; k < a->d; k++) assert_string_equal(a->state[k], b->state[k]);
}

#define HEAD "traj,t,x,y\n"
#define ONE "a,0,1,2\na,1,1.5,2.25\na,2,1.25,2\n"
#define TWO "b,0,3,4\nb,0.5,3.5,4.5\n"
#define THREE "c,0,5,6\nc,1,5.5,6.5\n"

static void prop_files__cutting_a_file_between_trajectories_changes_nothing(void **state)
{
    (void)state;
    write_text("whole.csv", HEAD ONE TWO THREE);
    write_text("left.csv", HEAD ONE);
    write_text("right.csv", HEAD TWO THREE);
    sock_data *whole = read_good(1, (const char *[]){at("whole.csv")}, NULL);
    sock_data *cut = read_good(2, (const char *[]){at("left.csv"), at("right.csv")}, NULL);
    assert_same_data(whole, cut);
    assert_string_equal(cut->id[2], "c");
    sock_data_free(whole);
    sock_data_free(cut);
}

static void prop_files__cutting_a_trajectory_changes_nothing_where_names_hold_for_all(void **state)
{
    (void)state;
    write_text("whole.csv", HEAD ONE TWO THREE);
    write_text("left.csv", HEAD "a,0,1,2\na,1,1.5,2.25\n" TWO);
    write_text("right.csv", HEAD "a,2,1.25,2\n" THREE);
    const char *const files[] = {at("left.csv"), at("right.csv")}, *const joined[] = {"files", "joined", NULL};
    sock_data *whole = read_good(1, (const char *[]){at("whole.csv")}, NULL), *cut = read_good(2, files, joined);
    assert_same_data(whole, cut);
    sock_data_free(cut);
    cut = read_good(2, files, NULL); /* apart: the second a is a trajectory of its own */
    assert_int_equal(cut->trajectories, 4);
    assert_string_equal(cut->id[0], "a");
    assert_string_equal(cut->id[2] + strlen(cut->id[2]) - strlen("right.csv:a"), "right.csv:a");
    assert_int_equal(sk_data_length(cut, 0), 2);
    assert_int_equal(sk_data_length(cut, 2), 1);
    sock_data_free(whole);
    sock_data_free(cut);
}

static void test_files__columns_are_found_by_name(void **state)
{
    (void)state;
    write_text("left.csv", HEAD ONE);
    write_text("right.csv", "y,traj,t,z,x\n4,b,0,9,3\n4.5,b,0.5,8,3.5\n");
    sock_data *data = read_good(2, (const char *[]){at("left.csv"), at("right.csv")}, NULL);
    assert_int_equal(data->d, 2);
    assert_true(data->x[3 * 2] == 3 && data->x[3 * 2 + 1] == 4);
    const char *why;
    assert_string_equal(sock_data_left_out(data, 0, &why), "z");
    sock_data_free(data);
    refused(2, (const char *[]){at("right.csv"), at("left.csv")}, NULL, SOCK_EINPUT, "has no column 'z'");
}

static void test_files__groups_are_a_files_own_or_hold_for_all(void **state)
{
    (void)state;
    write_text("left.csv", "traj,group,t,x\na,g,0,1\na,g,1,2\n");
    write_text("right.csv", "traj,group,t,x\nb,g,0,1\nb,g,1,3\n");
    const char *const files[] = {at("left.csv"), at("right.csv")}, *const joined[] = {"files", "joined", NULL};
    sock_data *data = read_good(2, files, NULL);
    assert_int_equal(data->groups, 2);
    sock_data_free(data);
    data = read_good(2, files, joined);
    assert_int_equal(data->groups, 1);
    sock_data_free(data);
    write_text("right.csv", "traj,group,t,x\na,h,2,1\na,h,3,3\n");
    refused(2, files, joined, SOCK_EINPUT, "trajectory 'a' is in group 'h', and in group 'g'");
    write_text("right.csv", "traj,t,x\na,2,1\na,3,3\n");
    refused(2, files, NULL, SOCK_EINPUT, "no named groups");
}

static void test_files__faults_name_the_file(void **state)
{
    (void)state;
    write_text("left.csv", HEAD ONE);
    write_text("right.csv", HEAD "b,0,3,4\na,1,3,4\n");
    const char *const files[] = {at("left.csv"), at("right.csv")}, *const joined[] = {"files", "joined", NULL};
    refused(2, files, joined, SOCK_EINPUT, "left.csv, line 3, and ");
    refused(2, files, joined, SOCK_EINPUT, "right.csv, line 3: trajectory 'a' has two points at the same time 1");
    write_text("right.csv", HEAD "b,0,3,inf\n");
    refused(2, files, NULL, SOCK_EINPUT, "right.csv: line 2");
    refused(2, (const char *[]){at("left.csv"), at("left.csv")}, NULL, SOCK_EUSAGE, "is given twice");
    write_text("right.csv", "traj,t,x,y\nb,2024-01-01,3,4\nb,2024-01-02,3,4\n");
    refused(2, files, NULL, SOCK_EINPUT, "the times are dates");
    refused(2, (const char *[]){at("left.csv"), at("none.csv")}, NULL, SOCK_EINPUT, "none.csv: cannot be read");
    sock_data *data = NULL;
    assert_int_equal(sock_data_read_files(ctx, 0, files, NULL, &data), SOCK_EUSAGE);
}

static void empty_folder(const char *name)
{
    static const char *const files[] = {"x.npy", "t.npy", "first.npy", "group.npy", "names.txt"};
    char path[200];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", at(name), files[i]);
        remove(path);
    }
    remove(at(name));
}

static void convert_good(size_t count, const char *const *paths, const char *const *list, bool single, const char *name)
{
    sock_options *opts = options_of(list);
    empty_folder(name);
    if (sock_data_convert(ctx, count, paths, opts, single, at(name)) != SOCK_OK) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
}

static void prop_folder__what_was_written_is_read(void **state)
{
    (void)state;
    const char *const groups[] = {"group", "group", NULL}, *const input[] = {"input", "y", NULL};
    write_text("left.csv", HEAD ONE);
    write_text("right.csv", HEAD TWO THREE);
    write_text("groups.csv", "traj,group,t,x\na,g,0,1\na,g,1,2\nb,g,0,1\nb,g,1,3\nc,h,0,1\nc,h,1,3\n");
    const char *const files[] = {at("left.csv"), at("right.csv")}, *const grouped[] = {at("groups.csv")};
    const struct {
        size_t count;
        const char *const *paths, *const *options;
    } cases[] = {{2, files, NULL}, {1, grouped, groups}, {2, files, input}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *again = cases[i].options == input ? input : NULL;
        convert_good(cases[i].count, cases[i].paths, cases[i].options, false, "set.traj");
        sock_data *direct = read_good(cases[i].count, cases[i].paths, cases[i].options);
        sock_data *folded = read_good(1, (const char *[]){at("set.traj")}, again);
        assert_same_data(direct, folded);
        sock_data_free(direct);
        sock_data_free(folded);
    }
    empty_folder("set.traj");
}

/* What the first file left out because it rests is no state of the second: it may not move there. */
static void test_folder__what_the_first_file_left_out_is_watched(void **state)
{
    (void)state;
    write_text("first.csv", "traj,t,x,dose,note\na,0,1,5,\na,1,2,5,\nb,0,1,6,\nb,1,3,6,\n");
    write_text("rests.csv", "traj,t,x,dose,note\na,0,1,7,\na,1,2.5,7,\n");
    write_text("moves.csv", "traj,t,x,dose,note\na,0,1,7,\na,1,2.5,8,\n");
    write_text("noted.csv", "traj,t,x,dose,note\na,0,1,7,\na,1,2.5,7,3\n");
    const char *const rests[] = {at("first.csv"), at("rests.csv")}, *const moves[] = {at("first.csv"), at("moves.csv")};
    const char *const noted[] = {at("first.csv"), at("noted.csv")}, *const state_x[] = {"state", "x", NULL};
    convert_good(2, rests, NULL, false, "watched.traj");
    sock_data *data = read_good(1, (const char *[]){at("watched.traj")}, NULL);
    assert_int_equal(data->d, 1);
    assert_int_equal(data->trajectories, 3);
    sock_data_free(data);
    empty_folder("watched.traj");
    assert_int_equal(sock_data_convert(ctx, 2, moves, NULL, 0, at("watched.traj")), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx),
                           "moves.csv: line 3: column 'dose' was left out by what the data begin with "
                           "(it is constant within each trajectory"));
    assert_int_equal(sock_data_convert(ctx, 2, noted, NULL, 0, at("watched.traj")), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), "noted.csv: line 3: column 'note' was left out"));
    convert_good(2, moves, state_x, false, "watched.traj");
    empty_folder("watched.traj");
}

static void test_folder__single_numbers_are_rounded_and_times_are_not(void **state)
{
    (void)state;
    write_text("one.csv", "traj,t,x\na,0.1,0.1\na,0.3,0.7\n");
    convert_good(1, (const char *[]){at("one.csv")}, NULL, true, "single.traj");
    sock_data *data = read_good(1, (const char *[]){at("single.traj")}, NULL);
    assert_true(data->x[0] == (double)0.1f && data->x[1] == (double)0.7f);
    assert_true(data->t[0] == 0.1 && data->t[1] == 0.3);
    sock_data_free(data);
    sock_options *opts = sock_options_new(ctx);
    const char *const path = at("one.csv");
    assert_int_equal(sock_data_convert(ctx, 1, &path, opts, 0, at("single.traj")), SOCK_EIO);
    assert_non_null(strstr(sock_message(ctx), "something of that name is there"));
    sock_options_free(opts);
    empty_folder("single.traj");
}

/* A folder that another tool wrote: big-endian times, columns in Fortran order, whole numbers, no names. */
static void make_foreign(const int64_t *first, size_t count)
{
    const double x[] = {1, 2, 3, 4, 10, 20, 30, 40};
    const unsigned char t[] = {0, 1, 0, 1};
    char header[128];
    mkdir(at("foreign"), 0777);
    write_array("foreign/x.npy", "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 2), }", x, sizeof x);
    write_array("foreign/t.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", t, sizeof t);
    snprintf(header, sizeof header, "{'descr': '<i8', 'fortran_order': False, 'shape': (%zu,), }", count);
    write_array("foreign/first.npy", header, first, count * sizeof *first);
}

static void test_folder__of_another_tool(void **state)
{
    (void)state;
    const int64_t first[] = {0, 2, 4};
    make_foreign(first, 3);
    const char *const path[] = {at("foreign")}, *const names[] = {"state", "p,q", NULL};
    sock_data *data = read_good(1, path, names);
    const double expected[] = {1, 10, 2, 20, 3, 30, 4, 40};
    assert_memory_equal(data->x, expected, sizeof expected);
    assert_string_equal(data->state[1], "q");
    sock_data_free(data);
    write_text("foreign/names.txt", "u\r\nv\r\n");
    data = read_good(1, path, (const char *[]){"state", "v", NULL});
    assert_int_equal(data->d, 1);
    assert_true(data->x[3] == 40);
    assert_string_equal(sock_data_left_out(data, 0, NULL), "u");
    sock_data_free(data);
    refused(1, path, (const char *[]){"state", "w", NULL}, SOCK_EUSAGE, "there is no column 'w'");
    refused(1, path, (const char *[]){"state", "v,v", NULL}, SOCK_EUSAGE, "it is a state or input already: 'v'");
    write_text("foreign/names.txt", "u\n");
    refused(1, path, NULL, SOCK_EINPUT, "names.txt: has 1 lines; x.npy has 2 columns");
    empty_folder("foreign");
}

static void test_folder__faults(void **state)
{
    (void)state;
    const int64_t falls[] = {0, 3, 2, 4}, begins[] = {1, 4}, ends[] = {0, 3}, beyond[] = {0, 5, 4}, good[] = {0, 4};
    char own[160];
    snprintf(own, sizeof own, "%s", at("foreign"));
    const char *const path[] = {own};
    make_foreign(falls, 4);
    refused(1, path, NULL, SOCK_EINPUT, "first.npy: number 2 is 2");
    make_foreign(begins, 2);
    refused(1, path, NULL, SOCK_EINPUT, "first.npy: number 0 is 1");
    make_foreign(ends, 2);
    refused(1, path, NULL, SOCK_EINPUT, "end with 4, the points of x.npy");
    make_foreign(beyond, 3);
    refused(1, path, NULL, SOCK_EINPUT, "first.npy: number 1 is 5");
    make_foreign(good, 2);
    refused(1, path, NULL, SOCK_EINPUT, "two points at the same time");
    write_array("foreign/t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", good, 16);
    refused(1, path, NULL, SOCK_EINPUT, "t.npy: the shape needs 4 numbers of 8 bytes, and there are 16 bytes");
    write_array("foreign/t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", good, 16);
    refused(1, path, NULL, SOCK_EINPUT, "t.npy: holds 2 numbers; x.npy has 4 points");
    write_array("foreign/first.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", good, 16);
    empty_folder("foreign");
    mkdir(at("foreign"), 0777);
    refused(1, path, NULL, SOCK_EINPUT, "it is a folder without x.npy");
    empty_folder("foreign");
}

static sock_status convert_and_read(sock_context *c, void *arg)
{
    (void)arg;
    const char *const paths[] = {at("left.csv"), at("right.csv")};
    sock_data *data = NULL, *folded = NULL;
    empty_folder("faults.traj");
    sock_status status = sock_data_read_files(c, 2, paths, NULL, &data);
    if (status >= 0) status = sock_data_convert(c, 2, paths, NULL, 0, at("faults.traj"));
    if (status >= 0) status = sock_data_read(c, at("faults.traj"), NULL, &folded);
    sock_data_free(data);
    sock_data_free(folded);
    return status;
}

static void test_files__every_failing_allocation_is_told(void **state)
{
    (void)state;
    write_text("left.csv", "traj,group,t,x\na,g,0,1\na,g,1,2\n");
    write_text("right.csv", "traj,group,t,x\na,g,0,1\na,g,1,3\n");
    assert_true(for_single_allocations(ctx, convert_and_read, NULL) > 40);
    empty_folder("faults.traj");
}

static int set_up(void **state)
{
    (void)state;
    ctx = sock_context_new();
    strcpy(folder, "/tmp/sock-files-XXXXXX");
    return ctx && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"whole.csv", "left.csv",  "right.csv", "groups.csv", "one.csv",
                                        "first.csv", "rests.csv", "moves.csv", "noted.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(at(names[i]));
    sock_context_free(ctx);
    return remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_files__cutting_a_file_between_trajectories_changes_nothing),
        cmocka_unit_test(prop_files__cutting_a_trajectory_changes_nothing_where_names_hold_for_all),
        cmocka_unit_test(test_files__columns_are_found_by_name),
        cmocka_unit_test(test_files__groups_are_a_files_own_or_hold_for_all),
        cmocka_unit_test(test_files__faults_name_the_file),
        cmocka_unit_test(prop_folder__what_was_written_is_read),
        cmocka_unit_test(test_folder__what_the_first_file_left_out_is_watched),
        cmocka_unit_test(test_folder__single_numbers_are_rounded_and_times_are_not),
        cmocka_unit_test(test_folder__of_another_tool),
        cmocka_unit_test(test_folder__faults),
        cmocka_unit_test(test_files__every_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
