/* test_parallel.c - parallel loops: every index once, failures, cancellation, nesting, BLAS inside. */
#define _GNU_SOURCE
#include "la/la.h"
#include "test.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static const int thread_counts[] = {1, 2, 3, 8, 33};

enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

static sock_context *context_with(int threads)
{
    sock_context *ctx = sock_context_new();
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    return ctx;
}

typedef struct job {
    sock_context *ctx;
    size_t count, grain;
    int *visits;          /* by index */
    double *partial;      /* by piece */
    atomic_int wrong;     /* pieces that were not what was promised */
    size_t fail_from;     /* pieces that begin here or later fail */
    sock_status failure;  /* with this */
    atomic_size_t pieces; /* handled */
} job;

static sock_status visit(void *arg, size_t begin, size_t end, int worker)
{
    job *j = arg;
    if (begin % j->grain || end <= begin || end > j->count || end - begin > j->grain) atomic_fetch_add(&j->wrong, 1);
    if (worker < 0 || worker >= sock_threads(j->ctx)) atomic_fetch_add(&j->wrong, 1);
    atomic_fetch_add(&j->pieces, 1);
    for (size_t i = begin; i < end; i++) {
        if (j->visits) j->visits[i]++;
        if (j->partial) j->partial[begin / j->grain] += 1 / (double)(i + 1);
    }
    if (j->failure && begin >= j->fail_from) return sk_fail(j->ctx, j->failure, "piece at %zu", begin);
    return SOCK_OK;
}

static void test_parallel__every_index_is_visited_once(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 2, 7, 100, 1001}, grains[] = {1, 3, 64, 100, 5000};
    for (int t = 0; t < COUNTS; t++)
        for (size_t c = 0; c < 6; c++)
            for (size_t g = 0; g < 5; g++) {
                job j = {.ctx = context_with(thread_counts[t]), .count = counts[c], .grain = grains[g]};
                j.visits = calloc(counts[c] + 1, sizeof *j.visits);
                assert_int_equal(sk_parallel_for(j.ctx, j.count, j.grain, visit, &j), SOCK_OK);
                for (size_t i = 0; i < j.count; i++) assert_int_equal(j.visits[i], 1);
                assert_int_equal(j.visits[j.count], 0);
                assert_int_equal(atomic_load(&j.wrong), 0);
                assert_int_equal(atomic_load(&j.pieces), (j.count + j.grain - 1) / j.grain);
                free(j.visits);
                sock_context_free(j.ctx);
            }
}

static sock_status any_piece(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    atomic_fetch_add((atomic_size_t *)arg, end - begin);
    return SOCK_OK;
}

static void test_parallel__grains_of_zero_and_of_everything_work(void **state)
{
    (void)state;
    sock_context *ctx = context_with(2);
    const size_t grains[] = {0, SIZE_MAX, SIZE_MAX / 2};
    for (size_t g = 0; g < 3; g++) {
        atomic_size_t seen = 0;
        assert_int_equal(sk_parallel_for(ctx, 10, grains[g], any_piece, &seen), SOCK_OK);
        assert_int_equal(atomic_load(&seen), 10);
    }
    sock_context_free(ctx);
}

/* Partial sums by piece, added in order: the same bits for any number of threads. */
static void prop_results_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    enum { COUNT = 10000, GRAIN = 37, PIECES = COUNT / GRAIN + 1 };
    double first = 0;
    for (int t = 0; t < COUNTS; t++) {
        double partial[PIECES] = {0}, sum = 0;
        job j = {.ctx = context_with(thread_counts[t]), .count = COUNT, .grain = GRAIN, .partial = partial};
        assert_int_equal(sk_parallel_for(j.ctx, COUNT, GRAIN, visit, &j), SOCK_OK);
        for (size_t p = 0; p < PIECES; p++) sum += partial[p];
        if (t == 0) first = sum;
        assert_memory_equal(&sum, &first, sizeof sum);
        sock_context_free(j.ctx);
    }
    assert_close(first, 9.787606036044382, 1e-14, 1); /* H(10000) */
}

static void test_parallel__a_failure_comes_back_and_stops_the_rest(void **state)
{
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        job j = {.ctx = context_with(thread_counts[t]),
                 .count = 1000000,
                 .grain = 1,
                 .fail_from = 500,
                 .failure = SOCK_EINPUT};
        assert_int_equal(sk_parallel_for(j.ctx, j.count, j.grain, visit, &j), SOCK_EINPUT);
        assert_non_null(strstr(sock_message(j.ctx), "piece at "));
        assert_true(atomic_load(&j.pieces) <= 501 + (size_t)thread_counts[t]);
        sock_context_free(j.ctx);
    }
}

static void test_parallel__a_caveat_comes_back_after_all_the_work(void **state)
{
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        job j = {.ctx = context_with(thread_counts[t]),
                 .count = 1000,
                 .grain = 10,
                 .fail_from = 300,
                 .failure = SOCK_LIMITED};
        assert_int_equal(sk_parallel_for(j.ctx, j.count, j.grain, visit, &j), SOCK_LIMITED);
        assert_int_equal(atomic_load(&j.pieces), 100);
        sock_context_free(j.ctx);
    }
}

static sock_status failure_after_caveats(void *arg, size_t begin, size_t end, int worker)
{
    (void)end, (void)worker;
    sock_context *ctx = arg;
    return begin < 90 ? sk_fail(ctx, SOCK_NOT_CONVERGED, "caveat") : sk_fail(ctx, SOCK_ENUMERIC, "failure");
}

static void test_parallel__a_failure_wins_over_caveats(void **state)
{
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        sock_context *ctx = context_with(thread_counts[t]);
        assert_int_equal(sk_parallel_for(ctx, 100, 1, failure_after_caveats, ctx), SOCK_ENUMERIC);
        assert_string_equal(sock_message(ctx), "failure");
        sock_context_free(ctx);
    }
}

static sock_status cancel_at_100(void *arg, size_t begin, size_t end, int worker)
{
    (void)end, (void)worker;
    job *j = arg;
    atomic_fetch_add(&j->pieces, 1);
    if (begin == 100) sock_cancel(j->ctx);
    while (begin > 100 && !sk_cancelled(j->ctx)) sched_yield(); /* nobody runs far ahead */
    return SOCK_OK;
}

static void test_parallel__cancelling_stops_the_loop(void **state)
{
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        job j = {.ctx = context_with(thread_counts[t])};
        assert_int_equal(sk_parallel_for(j.ctx, 100000000, 1, cancel_at_100, &j), SOCK_ECANCELLED);
        assert_non_null(strstr(sock_message(j.ctx), "interrupted"));
        assert_true(atomic_load(&j.pieces) <= 101 + (size_t)thread_counts[t]);
        sock_cancel_reset(j.ctx);
        sk_begin(j.ctx);
        atomic_size_t seen = 0;
        assert_int_equal(sk_parallel_for(j.ctx, 1000, 1, any_piece, &seen), SOCK_OK);
        assert_int_equal(atomic_load(&seen), 1000);
        sock_context_free(j.ctx);
    }
}

/* The flag may be raised by a thread that has nothing to do with the loop. */
static void *cancel_soon(void *ctx)
{
    struct timespec pause = {.tv_nsec = 5000000};
    nanosleep(&pause, NULL);
    sock_cancel(ctx);
    return NULL;
}

static sock_status small_piece(void *arg, size_t begin, size_t end, int worker)
{
    (void)arg, (void)begin, (void)end, (void)worker;
    return SOCK_OK;
}

static void test_parallel__another_thread_can_cancel(void **state)
{
    (void)state;
    sock_context *ctx = context_with(2);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, ctx), 0);
    sock_status status = sk_parallel_for(ctx, SIZE_MAX / 4, 1, small_piece, NULL); /* would take centuries */
    pthread_join(thread, NULL);
    assert_int_equal(status, SOCK_ECANCELLED);
    sock_context_free(ctx);
}

/* ---- Nesting ---- */

typedef struct nest {
    sock_context *ctx;
    double *table; /* 20 x 50 */
    size_t row;
    atomic_int wrong;
} nest;

static sock_status inner(void *arg, size_t begin, size_t end, int worker)
{
    nest *n = arg;
    if (sock_threads(n->ctx) > 1 && (worker != 0 || !sk_in_worker())) atomic_fetch_add(&n->wrong, 1);
    for (size_t i = begin; i < end; i++) n->table[n->row * 50 + i] += (double)(n->row * 1000 + i);
    return SOCK_OK;
}

static sock_status outer(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    nest *all = arg;
    for (size_t row = begin; row < end; row++) {
        nest one = {.ctx = all->ctx, .table = all->table, .row = row};
        if (sock_threads(all->ctx) > 1 && (sk_workers(all->ctx) != 1 || omp_get_max_threads() != 1))
            atomic_fetch_add(&all->wrong, 1);
        SK_TRY(sk_parallel_for(all->ctx, 50, 7, inner, &one));
        atomic_fetch_add(&all->wrong, atomic_load(&one.wrong));
    }
    return SOCK_OK;
}

static void test_parallel__loops_nest(void **state)
{
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        double table[1000] = {0};
        nest n = {.ctx = context_with(thread_counts[t]), .table = table};
        int before = omp_get_max_threads();
        assert_false(sk_in_worker());
        assert_int_equal(sk_workers(n.ctx), thread_counts[t]);
        assert_int_equal(sk_parallel_for(n.ctx, 20, 3, outer, &n), SOCK_OK);
        assert_int_equal(atomic_load(&n.wrong), 0);
        for (size_t i = 0; i < 1000; i++) assert_true(table[i] == (double)(i / 50 * 1000 + i % 50));
        assert_false(sk_in_worker());
        assert_int_equal(omp_get_max_threads(), before);
        sock_context_free(n.ctx);
    }
}

/* ---- BLAS in workers: the same numbers as alone ---- */

enum { SIDE = 60, PRODUCTS = 24 };

typedef struct products {
    sock_context *ctx;
    const double *a;
    double *c;
} products;

static sock_status multiply(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    products *p = arg;
    for (size_t i = begin; i < end; i++)
        sk_gemm(p->ctx, SK_PLAIN, SK_TRANSPOSED, SIDE, SIDE, SIDE, (double)(i + 1), p->a, SIDE, p->a, SIDE, 0,
                p->c + i * SIDE * SIDE, SIDE);
    return SOCK_OK;
}

static void test_parallel__blas_in_workers_gives_the_same_numbers(void **state)
{
    (void)state;
    double *a = malloc(SIDE * SIDE * sizeof *a), *alone = malloc(PRODUCTS * SIDE * SIDE * sizeof *alone);
    double *c = malloc(PRODUCTS * SIDE * SIDE * sizeof *c);
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, 0, 0, 0, SIDE * SIDE, a);
    for (int t = 0; t < COUNTS; t++) {
        products p = {.ctx = context_with(thread_counts[t]), .a = a, .c = t ? c : alone};
        assert_int_equal(sk_parallel_for(p.ctx, PRODUCTS, 1, multiply, &p), SOCK_OK);
        if (t) assert_memory_equal(c, alone, PRODUCTS * SIDE * SIDE * sizeof *c);
        sock_context_free(p.ctx);
    }
    double first = 0;
    for (size_t k = 0; k < SIDE; k++) first += a[k] * a[k];
    assert_close(alone[0], first, 1e-13, 1);
    free(a);
    free(alone);
    free(c);
}

/* Two threads of the user's own, each with a context: they do not meet. */
static void *own_context(void *arg)
{
    (void)arg;
    double partial[300] = {0}, sum = 0;
    job j = {.ctx = sock_context_new(), .count = 10000, .grain = 37, .partial = partial};
    bool good = sock_set_threads(j.ctx, 3) == SOCK_OK;
    for (int round = 0; round < 20 && good; round++) {
        memset(partial, 0, sizeof partial);
        good = sk_parallel_for(j.ctx, j.count, j.grain, visit, &j) == SOCK_OK;
        sk_fail(j.ctx, SOCK_EIO, "round %d", round);
        sk_begin(j.ctx);
    }
    for (size_t p = 0; p < 300; p++) sum += partial[p];
    sock_context_free(j.ctx);
    return good && fabs(sum - 9.787606036044382) < 1e-13 ? arg : NULL;
}

static void test_parallel__contexts_do_not_meet(void **state)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, own_context, state), 0);
    for (int i = 0; i < 2; i++) {
        void *answer = NULL;
        pthread_join(thread[i], &answer);
        assert_ptr_equal(answer, state);
    }
}

static sock_status loop_once(sock_context *ctx, void *arg)
{
    atomic_size_t *seen = arg;
    return sk_parallel_for(ctx, 10, 1, any_piece, seen);
}

static void test_parallel__a_failed_allocation_comes_back(void **state)
{
    (void)state;
    sock_context *ctx = context_with(4);
    atomic_size_t seen = 0;
    assert_int_equal(for_each_allocation(ctx, loop_once, &seen), 1);
    assert_int_equal(atomic_load(&seen), 10);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel__every_index_is_visited_once),
        cmocka_unit_test(test_parallel__grains_of_zero_and_of_everything_work),
        cmocka_unit_test(prop_results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_parallel__a_failure_comes_back_and_stops_the_rest),
        cmocka_unit_test(test_parallel__a_caveat_comes_back_after_all_the_work),
        cmocka_unit_test(test_parallel__a_failure_wins_over_caveats),
        cmocka_unit_test(test_parallel__cancelling_stops_the_loop),
        cmocka_unit_test(test_parallel__another_thread_can_cancel),
        cmocka_unit_test(test_parallel__loops_nest),
        cmocka_unit_test(test_parallel__blas_in_workers_gives_the_same_numbers),
        cmocka_unit_test(test_parallel__contexts_do_not_meet),
        cmocka_unit_test(test_parallel__a_failed_allocation_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
