/* test_base.c - status, contexts and messages, memory, progress, the hash. */
#define _GNU_SOURCE
#include "base/context.h"
#include "test.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void test_context__status_texts_are_told_apart(void **state)
{
    (void)state;
#define SEEN(name, value, text)                                                                                        \
    assert_string_equal(sock_status_name(name), #name);                                                                \
    assert_string_equal(sock_status_text(name), text);
    SOCK_STATUS_LIST(SEEN)
#undef SEEN
    assert_string_equal(sock_status_name((sock_status)77), "unknown status");
    assert_string_equal(sock_status_text((sock_status)-77), "unknown status");
    assert_string_equal(sock_version(), SOCK_VERSION);
}

static void test_context__null_is_harmless(void **state)
{
    (void)state;
    sock_context_free(NULL);
    sock_options_free(NULL);
    sock_string_free(NULL);
    sock_cancel(NULL);
    sock_cancel_reset(NULL);
    sock_set_monitor(NULL, NULL, NULL);
    assert_int_equal(sock_set_threads(NULL, 1), SOCK_EUSAGE);
    assert_int_equal(sock_set_memory_limit(NULL, 1), SOCK_EUSAGE);
    assert_int_equal(sock_threads(NULL), 1);
    assert_true(sock_message(NULL)[0] != 0);
    assert_null(sock_options_new(NULL));
}

static void test_context__threads_are_checked(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    assert_true(sock_threads(ctx) >= 1);
    assert_int_equal(sock_set_threads(ctx, 7), SOCK_OK);
    const int bad[] = {0, -1, 1025, INT_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sock_set_threads(ctx, bad[i]), SOCK_EUSAGE);
        assert_non_null(strstr(sock_message(ctx), "1 to 1024"));
        assert_int_equal(sock_threads(ctx), 7);
    }
    assert_int_equal(sock_set_threads(ctx, 1024), SOCK_OK);
    assert_string_equal(sock_message(ctx), "");
    sock_context_free(ctx);
}

static void test_context__first_failure_wins_and_wins_over_a_caveat(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    assert_int_equal(sk_fail(ctx, SOCK_LIMITED, "caveat %d", 1), SOCK_LIMITED);
    assert_int_equal(sk_fail(ctx, SOCK_NOT_CONVERGED, "caveat %d", 2), SOCK_NOT_CONVERGED);
    assert_string_equal(sock_message(ctx), "caveat 1");
    sk_fail(ctx, SOCK_EIO, "failure %d", 1);
    sk_fail(ctx, SOCK_EINPUT, "failure %d", 2);
    sk_fail(ctx, SOCK_LIMITED, "caveat %d", 3);
    assert_string_equal(sock_message(ctx), "failure 1");
    sk_begin(ctx);
    assert_string_equal(sock_message(ctx), "");
    sk_fail(ctx, SOCK_EIO, "again");
    assert_string_equal(sock_message(ctx), "again");
    sock_context_free(ctx);
}

static void test_context__a_long_message_is_cut_not_overrun(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    sk_fail(ctx, SOCK_EINPUT, "%s", text);
    assert_int_equal(strlen(sock_message(ctx)), SK_MESSAGE_SIZE - 1);
    sock_context_free(ctx);
}

/* ---- Memory ---- */

static void test_memory__is_zeroed_aligned_and_never_null_for_nothing(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    for (size_t count = 0; count < 300; count += 7) {
        unsigned char *p = sk_alloc(ctx, count, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < 3 * count; i++) assert_int_equal(p[i], 0);
        sk_free(p);
    }
    double *empty = sk_doubles(ctx, 0, 5);
    assert_non_null(empty);
    sk_free(empty);
    sk_free(NULL);
    sock_context_free(ctx);
}

/* Beyond 4 MB the pages come in another way; the promises are the same. */
static void test_memory__large_arrays(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    size_t capacity = 0;
    double *zeroed = sk_doubles(ctx, 1000, 777), *unset = sk_doubles_unset(ctx, 1000, 777), *grown = NULL;
    assert_non_null(zeroed);
    assert_non_null(unset);
    assert_int_equal((uintptr_t)zeroed % 64 + (uintptr_t)unset % 64, 0);
    for (size_t i = 0; i < 777000; i++) unset[i] = zeroed[i];
    for (size_t i = 0; i < 777000; i++) assert_true(unset[i] == 0);
    for (size_t rows = 1; rows < 2000; rows *= 3) {
        size_t before = capacity;
        assert_int_equal(sk_grow(ctx, &grown, &capacity, rows * 777, sizeof *grown), SOCK_OK);
        for (size_t i = before; i < capacity; i++) {
            assert_true(grown[i] == 0);
            grown[i] = (double)i;
        }
    }
    for (size_t i = 0; i < capacity; i++) assert_true(grown[i] == (double)i);
    assert_null(sk_doubles_unset(ctx, (size_t)1 << 40, (size_t)1 << 40));
    assert_null(sk_doubles_unset(ctx, SIZE_MAX / 4, 1));
    sk_fail_allocation(ctx, 1);
    assert_null(sk_doubles_unset(ctx, 2, 2));
    sk_free(zeroed), sk_free(unset), sk_free(grown);
    sock_context_free(ctx);
}

static void test_memory__products_that_overflow_are_refused(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    size_t product = 5;
    assert_int_equal(sk_product(ctx, SIZE_MAX, 1, &product), SOCK_OK);
    assert_true(product == SIZE_MAX);
    assert_int_equal(sk_product(ctx, SIZE_MAX, 0, &product), SOCK_OK);
    assert_int_equal(product, 0);
    product = 5;
    assert_int_equal(sk_product(ctx, SIZE_MAX / 2 + 1, 2, &product), SOCK_ENOMEM);
    assert_int_equal(product, 5);
    sk_begin(ctx);
    assert_null(sk_alloc(ctx, SIZE_MAX / 4, 8));
    assert_non_null(strstr(sock_message(ctx), "out of memory"));
    sk_begin(ctx);
    assert_null(sk_doubles(ctx, (size_t)1 << 40, (size_t)1 << 40));
    assert_non_null(strstr(sock_message(ctx), "out of memory"));
    sock_context_free(ctx);
}

static void test_memory__grow_keeps_what_was_there(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    size_t *array = NULL, capacity = 0, grown = 0;
    for (size_t i = 0; i < 5000; i++) {
        size_t before = capacity;
        assert_int_equal(sk_grow(ctx, &array, &capacity, i + 1, sizeof *array), SOCK_OK);
        assert_true(capacity > i);
        for (size_t j = before; j < capacity; j++) assert_int_equal(array[j], 0);
        grown += capacity != before;
        array[i] = i * i;
    }
    assert_true(grown < 12); /* doubles */
    for (size_t i = 0; i < 5000; i++) assert_int_equal(array[i], i * i);
    size_t *kept = array, kept_capacity = capacity;
    assert_int_equal(sk_grow(ctx, &array, &capacity, SIZE_MAX / 2, sizeof *array), SOCK_ENOMEM);
    sk_fail_allocation(ctx, 1);
    assert_int_equal(sk_grow(ctx, &array, &capacity, capacity + 1, sizeof *array), SOCK_ENOMEM);
    assert_ptr_equal(array, kept);
    assert_int_equal(capacity, kept_capacity);
    sk_free(array);
    sock_context_free(ctx);
}

static void test_memory__the_kth_allocation_fails(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    sk_fail_allocation(ctx, 3);
    char *first = sk_strdup(ctx, "one"), *second = sk_format(ctx, "%d+%s", 1, "one");
    assert_string_equal(first, "one");
    assert_string_equal(second, "1+one");
    assert_null(sk_strdup(ctx, "three"));
    sk_fail_allocation(ctx, 0);
    long before = sk_allocations(ctx);
    char *third = sk_strdup(ctx, "three");
    assert_non_null(third);
    assert_int_equal(sk_allocations(ctx), before + 1);
    sk_free(first);
    sk_free(second);
    sk_free(third);
    sock_context_free(ctx);
}

static void test_memory__the_limit_is_named(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    assert_int_equal(sk_memory_check(ctx, 1e6, "a matrix", "use fewer points"), SOCK_OK);
    assert_int_equal(sk_memory_check(ctx, 1e18, "a matrix", "use fewer points"), SOCK_ENOMEM);
    assert_int_equal(sock_set_memory_limit(ctx, 2000000000000), SOCK_OK);
    sk_begin(ctx);
    assert_int_equal(sk_memory_check(ctx, 1.99e12, "a matrix", "use fewer points"), SOCK_OK);
    assert_int_equal(sk_memory_check(ctx, 4e12, "a matrix", "use fewer points"), SOCK_ENOMEM);
    assert_string_equal(sock_message(ctx),
                        "a matrix needs about 4e+03 GB of memory and 2e+03 GB are allowed; use fewer points");
    sock_set_memory_limit(ctx, 1000);
    assert_int_equal(sk_memory_check(ctx, 1001, "a vector", "go home"), SOCK_ENOMEM); /* small work obeys it as well */
    sock_context_free(ctx);
}

static bool can_be_had(sock_context *ctx, size_t bytes)
{
    void *array = sk_alloc(ctx, bytes, 1);
    sk_free(array);
    return array != NULL;
}

/* The limit is that of the process: what it has counts, and what was given back does not. */
static void test_memory__the_limit_holds_for_the_process(void **state)
{
    (void)state;
    enum { MB = 1000000 };
    sock_context *ctx = sock_context_new();
    void *held = malloc(300 * MB); /* somebody else's */
    assert_non_null(held);
    memset(held, 1, 300 * MB);
    const double used = sk_resident_memory("");
    assert_true(used >= 300.0 * MB);
    sock_set_memory_limit(ctx, (size_t)used + 100 * MB);
    assert_int_equal(sk_memory_check(ctx, 50.0 * MB, "a matrix", "less"), SOCK_OK);
    assert_int_equal(sk_memory_check(ctx, 150.0 * MB, "a matrix", "less"), SOCK_ENOMEM);
    assert_true(can_be_had(ctx, 50 * MB));
    sk_begin(ctx);
    assert_false(can_be_had(ctx, 150 * MB));
    assert_non_null(strstr(sock_message(ctx), "out of memory: the work needs 0.15 GB more than the "));
    size_t got = 0; /* small pieces add up */
    void *piece[400];
    for (; got < 400 && (piece[got] = sk_doubles_unset(ctx, 62500, 1)); got++) memset(piece[got], 1, 500000);
    for (size_t i = 0; i < got; i++) sk_free(piece[i]);
    free(held);
    assert_true(got <= 215); /* 200 of them fill 100 MB */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(got >= 150); /* a sanitizer keeps what was freed, the 50 MB and more */
    assert_true(can_be_had(ctx, 150 * MB));
#endif
    sock_context_free(ctx);
}

/* Files of the system in a folder of our own. */
static void put(const char *root, const char *folder, const char *name, const char *text)
{
    char path[4096];
    size_t length = (size_t)snprintf(path, sizeof path, "%s", root);
    for (const char *c = folder; *c; c++) {
        if (*c == '/' && length > strlen(root)) mkdir(path, 0700);
        path[length++] = *c;
        path[length] = 0;
    }
    mkdir(path, 0700);
    snprintf(path + length, sizeof path - length, "/%s", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_memory__available_is_what_machine_and_groups_leave(void **state)
{
    (void)state;
    char root[] = "/tmp/sock-groups-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    put(root, "/proc", "meminfo", "MemTotal: 4000 kB\nMemAvailable:    1000 kB\n");
    assert_true(sk_available_memory(root) == 1024000 && sk_group_memory(root) == 0);
    put(root, "/proc/self", "cgroup", "0::/user/job\n");
    assert_true(sk_available_memory(root) == 1024000); /* a group without files has no limit */
    put(root, "/sys/fs/cgroup/user/job", "memory.max", "max\n");
    put(root, "/sys/fs/cgroup/user/job", "memory.current", "100\n");
    assert_true(sk_available_memory(root) == 1024000);
    put(root, "/sys/fs/cgroup/user", "memory.max", "500000\n"); /* that of the parent holds */
    put(root, "/sys/fs/cgroup/user", "memory.current", "200000\n");
    assert_true(sk_available_memory(root) == 300000);
    assert_true(sk_group_memory(root) == 270000); /* and nothing is held yet: no statm */
    put(root, "/sys/fs/cgroup/user", "memory.stat", "anon 1\ninactive_file 50000\n"); /* given back when asked for */
    assert_true(sk_available_memory(root) == 350000);
    put(root, "/sys/fs/cgroup/user/job", "memory.max", "90\n"); /* below what is used: nothing */
    assert_true(sk_available_memory(root) == 0);
    put(root, "/proc/self", "cgroup", "5:cpu,memory:/old\n3:name=x:/a\n");
    put(root, "/sys/fs/cgroup/memory/old", "memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "/sys/fs/cgroup/memory/old", "memory.usage_in_bytes", "70000\n");
    assert_true(sk_available_memory(root) == 1024000);
    put(root, "/sys/fs/cgroup/memory/old", "memory.limit_in_bytes", "100000\n");
    assert_true(sk_available_memory(root) == 30000);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* A process that goes beyond the limit of its group is killed, so it stops before. */
static void test_memory__a_group_is_held_like_a_limit_that_was_said(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    ctx->group_limit = sk_resident_memory("") + 20e6;
    void *some = sk_alloc(ctx, 1, (size_t)4e6);
    assert_non_null(some);
    assert_null(sk_alloc(ctx, 1, (size_t)40e6));
    assert_non_null(strstr(sock_message(ctx), "GB are allowed by its control group"));
    assert_int_equal(sock_set_memory_limit(ctx, (size_t)1e12), SOCK_OK); /* who says one knows better */
    void *more = sk_alloc(ctx, 1, (size_t)40e6);
    assert_non_null(more);
    sk_free(some), sk_free(more);
    sock_context_free(ctx);
}

static void test_memory__threads_find_room_in_the_address_space(void **state)
{
    (void)state;
    const double buffer = 135 * 1048576.0, each = buffer + 80e6;
    assert_int_equal(sk_threads_within(1e12, 64), 64);
    assert_int_equal(sk_threads_within((double)INFINITY, 64), 64);
    assert_int_equal(sk_threads_within(buffer + 2 * each + 1, 64), 2);
    assert_int_equal(sk_threads_within(buffer + 2 * each - 1, 64), 1);
    assert_int_equal(sk_threads_within(0, 64), 1); /* one there always is */
}

/* ---- Progress ---- */

static int stop_at_half(void *user, const char *stage, double fraction)
{
    assert_string_equal(stage, "counting");
    ++*(int *)user;
    return fraction >= 0.5;
}

static void test_progress__the_monitor_can_cancel(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    int calls = 0;
    sock_set_monitor(ctx, stop_at_half, &calls);
    assert_int_equal(sk_progress(ctx, "counting", 0.25), SOCK_OK);
    assert_int_equal(sk_progress(ctx, "counting", 0.5), SOCK_ECANCELLED);
    assert_non_null(strstr(sock_message(ctx), "counting"));
    assert_int_equal(calls, 2);
    assert_true(sk_cancelled(ctx));
    sock_cancel_reset(ctx);
    assert_false(sk_cancelled(ctx));
    sock_set_monitor(ctx, NULL, NULL);
    assert_int_equal(sk_progress(ctx, "counting", 0.75), SOCK_OK);
    sock_cancel(ctx);
    assert_int_equal(sk_progress(ctx, "counting", 0.75), SOCK_ECANCELLED);
    double before = sk_seconds();
    assert_true(sk_seconds() >= before);
    sock_context_free(ctx);
}

static int smaller_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Against sorting: all lengths, with many equal numbers and with few. */
static void prop_median__is_the_middle_of_the_sorted(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 60; n++)
        for (uint64_t kind = 0; kind < 3; kind++) {
            double a[60], sorted[60];
            sk_normals((sk_key){kind, SK_PURPOSE_TEST}, 90, n, 0, n, a);
            for (size_t i = 0; i < n; i++) sorted[i] = a[i] = kind ? floor((double)kind * a[i]) : a[i];
            qsort(sorted, n, sizeof *sorted, smaller_first);
            double middle = n % 2 ? sorted[n / 2] : 0.5 * sorted[n / 2 - 1] + 0.5 * sorted[n / 2];
            assert_true(sk_median(n, a) == middle);
        }
}

/* Published FNV-1a vectors; and the hash of a whole is the hash of its parts, one after the other. */
static void test_hash__known_answers(void **state)
{
    (void)state;
    assert_true(sk_hash(SK_HASH_START, "", 0) == 0xcbf29ce484222325u);
    assert_true(sk_hash(SK_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(sk_hash(SK_HASH_START, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(sk_hash(sk_hash(SK_HASH_START, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_context__status_texts_are_told_apart),
        cmocka_unit_test(test_context__null_is_harmless),
        cmocka_unit_test(test_context__threads_are_checked),
        cmocka_unit_test(test_context__first_failure_wins_and_wins_over_a_caveat),
        cmocka_unit_test(test_context__a_long_message_is_cut_not_overrun),
        cmocka_unit_test(test_memory__is_zeroed_aligned_and_never_null_for_nothing),
        cmocka_unit_test(test_memory__large_arrays),
        cmocka_unit_test(test_memory__products_that_overflow_are_refused),
        cmocka_unit_test(test_memory__grow_keeps_what_was_there),
        cmocka_unit_test(test_memory__the_kth_allocation_fails),
        cmocka_unit_test(test_memory__the_limit_is_named),
        cmocka_unit_test(test_memory__the_limit_holds_for_the_process),
        cmocka_unit_test(test_memory__available_is_what_machine_and_groups_leave),
        cmocka_unit_test(test_memory__a_group_is_held_like_a_limit_that_was_said),
        cmocka_unit_test(test_memory__threads_find_room_in_the_address_space),
        cmocka_unit_test(test_progress__the_monitor_can_cancel),
        cmocka_unit_test(prop_median__is_the_middle_of_the_sorted),
        cmocka_unit_test(test_hash__known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
