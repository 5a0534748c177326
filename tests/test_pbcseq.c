/* test_pbcseq.c - the liver study: what R prints becomes thinned sets of trajectories. A program of our own stands in
 * for Rscript, so that the visits are known. */
#define _GNU_SOURCE
#include "systems/systems.h"

#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static sock_context *ctx;
static char folder[] = "test_pbcseq.XXXXXX", script[64];

/* Patient p (1..300) has 1 + p mod 9 visits, on the days p + 100 i, bilirubin exp((p + i / 100) / 50). */
static const char study[] = "#!/bin/sh\n"
                            "awk 'BEGIN { for (p = 1; p <= 300; p++) for (i = 0; i <= p % 9; i++)\n"
                            "  printf \"%d,%d,%.17g\\n\", p, p + 100 * i, exp((p + i / 100) / 50) }'\n";

static void put_script(const char *text)
{
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(script, 0755), 0);
}

static int setup(void **state)
{
    (void)state;
    char path[4096];
    const char *old = getenv("PATH");
    char *here = getcwd(NULL, 0);
    if (!(ctx = sock_context_new()) || !mkdtemp(folder)) return -1;
    snprintf(script, sizeof script, "%s/Rscript", folder);
    snprintf(path, sizeof path, "%s/%s:%s", here, folder, old ? old : "");
    free(here);
    return setenv("PATH", path, 1);
}

static int teardown(void **state)
{
    (void)state;
    unlink(script);
    rmdir(folder);
    sock_context_free(ctx);
    return 0;
}

static void free_sets(sock_data *set[SYS_SETS])
{
    for (int i = 0; i < SYS_SETS; i++) sock_data_free(set[i]);
}

/* The patient and the number of the visit that a state stands for. */
static long patient_of(double x, long *visit)
{
    const long code = lround(5000 * x);
    *visit = code % 100;
    return code / 100;
}

static void test_pbcseq__every_patient_with_two_visits_is_in_one_set(void **state)
{
    (void)state;
    sock_data *set[SYS_SETS] = {NULL};
    bool seen[301] = {false};
    size_t patients = 0, points = 0;
    put_script(study);
    assert_int_equal(sys_pbcseq(ctx, 7, set), SOCK_OK);
    for (int s = 0; s < SYS_SETS; s++)
        for (size_t j = 0; j < sock_data_trajectories(set[s]); j++) {
            const double *t, *x;
            const size_t length = sock_data_trajectory(set[s], j, &t, &x);
            long visit, patient = patient_of(x[0], &visit), last = -1;
            assert_true(patient >= 1 && patient <= 300 && !seen[patient] && visit == 0);
            seen[patient] = true;
            assert_true(length >= 2 && length <= SYS_MAX_VISITS);
            for (size_t i = 0; i < length; i++) {
                assert_int_equal(patient_of(x[i], &visit), patient);
                assert_true(visit > last && visit <= patient % 9);
                assert_close(x[i], ((double)patient + (double)visit / 100) / 50, 1e-14, 1);
                assert_close(t[i], (double)(100 * visit) / 365.25, 1e-15, 1);
                last = visit;
            }
            patients++, points += length;
        }
    assert_int_equal(patients, 300 - 33); /* without the multiples of 9 */
    assert_int_equal(sock_data_trajectories(set[SYS_TRAIN]), 267 * 208 / 298);
    assert_int_equal(sock_data_trajectories(set[SYS_TEST]), 267 - 267 * 237 / 298);
    /* 2.96 visits on average, less what patients with few visits cannot give (2.77 in expectation, sd 0.06) */
    assert_true((double)points / (double)patients > 2.5 && (double)points / (double)patients < 3.05);
    free_sets(set);
}

static void test_pbcseq__the_seed_decides_and_nothing_else(void **state)
{
    (void)state;
    sock_data *set[3][SYS_SETS];
    put_script(study);
    for (size_t i = 0; i < 3; i++) assert_int_equal(sys_pbcseq(ctx, i < 2 ? 1 : 2, set[i]), SOCK_OK);
    const double *t, *x[3];
    size_t length[3];
    for (size_t i = 0; i < 3; i++) length[i] = sock_data_trajectory(set[i][SYS_TEST], 0, &t, &x[i]);
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(x[0], x[1], length[0] * sizeof *t);
    assert_true(x[0][0] != x[2][0]);
    for (size_t i = 0; i < 3; i++) free_sets(set[i]);
}

static void test_pbcseq__without_r_there_is_a_reason(void **state)
{
    (void)state;
    static const char *const bad[] = {"#!/bin/sh\nexit 1\n",
                                      "#!/bin/sh\nexit 0\n",
                                      "#!/bin/sh\necho there is no package called survival\n",
                                      "#!/bin/sh\necho 1,0,1.5; echo 1,0,1.6\n",
                                      "#!/bin/sh\necho 1,0,0; echo 1,5,1\n",
                                      "#!/bin/sh\necho 1,0,1.5; echo 1,9,1.6\n",
                                      "#!/bin/sh\nexec /no/such/program\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sock_data *set[SYS_SETS] = {NULL};
        put_script(bad[i]);
        assert_int_equal(sys_pbcseq(ctx, 1, set), SOCK_EIO);
        assert_non_null(strstr(sock_message(ctx), "needs R's survival package"));
        assert_null(set[0]);
    }
}

static sock_status make(sock_context *c, void *arg)
{
    sock_data *set[SYS_SETS] = {NULL};
    (void)arg;
    const sock_status status = sys_pbcseq(c, 3, set);
    free_sets(set);
    return status;
}

static void test_pbcseq__any_allocation_may_fail(void **state)
{
    (void)state;
    put_script("#!/bin/sh\nfor p in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
               "echo $p,0,1; echo $p,9,2; done\n");
    assert_true(for_each_allocation(ctx, make, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pbcseq__every_patient_with_two_visits_is_in_one_set),
                                       cmocka_unit_test(test_pbcseq__the_seed_decides_and_nothing_else),
                                       cmocka_unit_test(test_pbcseq__without_r_there_is_a_reason),
                                       cmocka_unit_test(test_pbcseq__any_allocation_may_fail)};
    return cmocka_run_group_tests_name("pbcseq", tests, setup, teardown);
}
