/* test_partcomm.c - processes that share sums by files: what is known comes back, the first that is not known ends the
 * work, and what does not fit together is seen. Files of sums bear anything. */
#define _GNU_SOURCE
#include "api/partcomm.h"
#include "base/safefile.h"
#include "onecontext.h"

#include <unistd.h>

static void put_round(sk_sums_file *file, size_t count, const double *sum, const double *low)
{
    assert_int_equal(sk_sums_file_add(ctx, file), SOCK_OK);
    assert_int_equal(sk_round_put(ctx, &file->round[file->rounds - 1], count, sum, low), SOCK_OK);
}

/* ---- The processes ---- */

static void test_partcomm__known_sums_come_back_and_the_next_is_recorded(void **state)
{
    (void)state;
    static const double sum[3] = {1, 2, 3}, low[3] = {0.25, 0.5, 0.125};
    sk_sums_file file = {.plan = 7};
    sk_part_comm p;
    put_round(&file, 3, sum, low);
    put_round(&file, 0, NULL, NULL);
    sk_part_comm_begin(&p, ctx, &file, 2, 3);
    sk_comm *before = sk_comm_swap(ctx, &p.comm);
    assert_int_equal(sk_rank(ctx), 1);
    assert_int_equal(sk_ranks(ctx), 3);
    assert_int_equal(sk_foresee(ctx), SK_KNOWN_SUMS);
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_OK);
    double mine[2] = {-9, -9}, rest[2] = {-9, -9}, one = -9;
    sk_sum_over_all(ctx, 2, mine, rest);
    sk_sum_over_all(ctx, 1, &one, NULL);
    assert_true(mine[0] == 1 && mine[1] == 2 && rest[0] == 0.25 && rest[1] == 0.5 && one == 3);
    assert_int_equal(sk_foresee(ctx), SK_KNOWN_SUMS); /* the second round, which has no sums */
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_OK);
    assert_int_equal(sk_foresee(ctx), SK_UNKNOWN_SUMS); /* this pass is made */
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_OK);
    mine[0] = 40;
    sk_sum_over_all(ctx, 1, mine, rest);
    assert_true(mine[0] == 40); /* of this part */
    assert_int_equal(sk_foresee(ctx), SK_WAITING_SUMS);
    assert_int_equal(sk_together(ctx, SOCK_OK), SK_ENOUGH);
    assert_true(p.recording && !p.foreign && p.failure == SOCK_OK);
    assert_int_equal(file.rounds, 3);
    assert_true(file.round[2].count == 1 && file.round[2].pair[0] == 40 && file.round[2].pair[1] == 0.25);
    sk_comm_swap(ctx, before);
    sk_sums_file_clear(&file);
    sk_begin(ctx);
}

static void test_partcomm__what_cannot_be_fitted_fails_for_all(void **state)
{
    (void)state;
    sk_sums_file file = {.plan = 7};
    sk_part_comm p;
    put_round(&file, 0, NULL, NULL);
    file.round[0].failed = true;
    sk_part_comm_begin(&p, ctx, &file, 1, 2);
    sk_comm *before = sk_comm_swap(ctx, &p.comm);
    assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_ENUMERIC);
    sk_begin(ctx);
    assert_int_equal(sk_together(ctx, sk_fail(ctx, SOCK_ENUMERIC, "no")), SK_ENOUGH); /* our own: recorded */
    assert_true(p.recording && file.rounds == 2 && file.round[1].failed && file.round[1].count == 0);
    sk_comm_swap(ctx, before);
    sk_sums_file_clear(&file);
    sk_begin(ctx);
}

static void test_partcomm__sums_of_another_fit_are_seen(void **state)
{
    (void)state;
    static const double sum[3] = {1, 2, 3};
    for (int more = 0; more < 2; more++) { /* fewer are asked for than are there, and more */
        sk_sums_file file = {.plan = 7};
        sk_part_comm p;
        double room[4] = {0};
        put_round(&file, 3, sum, sum);
        sk_part_comm_begin(&p, ctx, &file, 1, 1);
        sk_comm *before = sk_comm_swap(ctx, &p.comm);
        assert_int_equal(sk_together(ctx, SOCK_OK), SOCK_OK);
        sk_sum_over_all(ctx, more ? 4 : 2, room, NULL);
        assert_int_equal(sk_together(ctx, SOCK_OK), SK_ENOUGH);
        assert_true(p.foreign && !p.recording);
        sk_comm_swap(ctx, before);
        sk_sums_file_clear(&file);
        sk_begin(ctx);
    }
}

/* ---- The file ---- */

static void test_partcomm__a_file_that_was_cut_or_changed_is_refused(void **state)
{
    (void)state;
    static const double sum[2] = {1, (double)INFINITY}, low[2] = {0.5, 0};
    char path[] = "/tmp/sock-sums-XXXXXX", *bytes = NULL;
    size_t size;
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    sk_sums_file file = {.plan = 7, .part = 1, .parts = 2}, again;
    put_round(&file, 2, sum, low);
    assert_int_equal(sk_sums_write(ctx, &file, path), SOCK_OK);
    sk_sums_file_clear(&file);
    assert_int_equal(sk_file_read(ctx, path, &bytes, &size), SOCK_OK);
    assert_int_equal(sk_sums_parse(ctx, path, bytes, size, &again), SOCK_OK);
    assert_true(again.plan == 7 && again.part == 1 && again.parts == 2 && again.rounds == 1);
    assert_true(again.round[0].count == 2 && again.round[0].pair[1] == 0.5 && isinf(again.round[0].pair[2]));
    sk_sums_file_clear(&again);
    for (size_t cut = 0; cut < size; cut++) {
        sk_begin(ctx);
        assert_int_equal(sk_sums_parse(ctx, "p.sums", bytes, cut, &again), SOCK_EINPUT);
        assert_ptr_equal(strstr(sock_message(ctx), "p.sums: not a whole file of sums"), sock_message(ctx));
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 4;
        sk_begin(ctx);
        assert_int_equal(sk_sums_parse(ctx, "p.sums", bytes, size, &again), SOCK_EINPUT);
        bytes[i] ^= 4;
    }
    sk_free(bytes);
    unlink(path);
    sk_begin(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partcomm__known_sums_come_back_and_the_next_is_recorded),
        cmocka_unit_test(test_partcomm__what_cannot_be_fitted_fails_for_all),
        cmocka_unit_test(test_partcomm__sums_of_another_fit_are_seen),
        cmocka_unit_test(test_partcomm__a_file_that_was_cut_or_changed_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
