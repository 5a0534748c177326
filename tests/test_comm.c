/* test_comm.c - several processes as the library sees them: what another one says is heard, files are written by one.
 * The other process is a record of what it would say; mpi-tests run real ones. */
#define _GNU_SOURCE
#include "base/comm.h"
#include "base/safefile.h"

#include "test.h"

#include <stdlib.h>
#include <unistd.h>

/* The other process of two. */
static struct {
    int status, asked;
    bool leaves;
    double share; /* of each sum */
} other;

static void sum(sk_comm *comm, size_t count, double *whole, double *low)
{
    assert_int_equal(comm->size, 2);
    for (size_t i = 0; i < count; i++) whole[i] += other.share;
    (void)low;
}

static int agree(sk_comm *comm, int status, bool leaving, char *message, size_t room, bool *left)
{
    assert_false(comm->over);
    other.asked++;
    *left = leaving || other.leaves;
    if (other.status >= status) return status;
    snprintf(message, room, "the other one says so");
    return other.status;
}

static sk_comm two = {.size = 2, .sum = sum, .agree = agree};

static sock_context *begin(int rank, int status, bool leaves)
{
    two.rank = rank;
    two.over = false;
    other.status = status;
    other.leaves = leaves;
    other.asked = 0;
    sk_comm_set(&two);
    sock_context *ctx = sock_context_new();
    sk_comm_set(NULL);
    assert_non_null(ctx);
    return ctx;
}

static void test_comm__alone_nothing_is_asked(void **state)
{
    (void)state;
    sock_context *ctx = sock_context_new();
    double one = 1;
    assert_true(sk_rank(ctx) == 0 && sk_ranks(ctx) == 1);
    assert_int_equal(sk_together(ctx, SOCK_ENOMEM), SOCK_ENOMEM);
    assert_int_equal(sk_leave_together(ctx, SOCK_OK), SOCK_OK);
    sk_sum_over_all(ctx, 1, &one, NULL);
    assert_true(one == 1);
    assert_int_equal(sk_same_on_all(ctx, &one, sizeof one, "it"), SOCK_OK);
    sock_context_free(ctx);
}

static void test_comm__the_failure_of_one_is_that_of_all(void **state)
{
    (void)state;
    sock_context *ctx = begin(0, SOCK_ENOMEM, true);
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_ENOMEM);
    assert_string_equal(sock_message(ctx), "the other one says so");
    assert_int_equal(sk_leave_together(ctx, SOCK_ENOMEM), SOCK_ENOMEM); /* it has left: nobody is asked again */
    assert_int_equal(other.asked, 1);
    sock_context_free(ctx);
    ctx = begin(1, SOCK_OK, false);
    assert_int_equal(sk_together(ctx, sk_fail(ctx, SOCK_EIO, "mine")), SOCK_EIO);
    assert_string_equal(sock_message(ctx), "mine");
    sk_begin(ctx);
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_OK); /* a candidate may fail on all, and the search goes on */
    assert_int_equal(other.asked, 2);
    sock_context_free(ctx);
    ctx = begin(1, SOCK_OK, true);
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_EIO); /* the other one ended before its time */
    sock_context_free(ctx);
}

static void test_comm__sums_and_what_must_be_alike(void **state)
{
    (void)state;
    sock_context *ctx = begin(0, SOCK_OK, false);
    double x[2] = {1, 2}, low[2] = {0};
    size_t n[2] = {3, 4};
    other.share = 10;
    sk_sum_over_all(ctx, 2, x, low);
    sk_count_over_all(ctx, 2, n);
    assert_true(x[0] == 11 && x[1] == 12 && n[0] == 13 && n[1] == 14);
    assert_int_equal(sk_same_on_all(ctx, x, sizeof x, "the sample"), SOCK_EUSAGE); /* 10 is not what this one holds */
    assert_non_null(strstr(sock_message(ctx), "the processes do not agree on the sample"));
    sock_context_free(ctx);
}

static void test_comm__one_writes(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        char folder[] = "/tmp/comm-XXXXXX", path[64];
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/file", folder);
        sock_context *ctx = begin(rank, SOCK_OK, false);
        assert_int_equal(sock_write_file(ctx, path, "x", 1), SOCK_OK);
        assert_int_equal(access(path, F_OK), rank == 0 ? 0 : -1);
        sock_context_free(ctx);
        unlink(path);
        rmdir(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comm__alone_nothing_is_asked),
        cmocka_unit_test(test_comm__the_failure_of_one_is_that_of_all),
        cmocka_unit_test(test_comm__sums_and_what_must_be_alike),
        cmocka_unit_test(test_comm__one_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
