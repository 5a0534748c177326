/* test_dealt.c - candidates, and the folds of a polish, that processes deal out: each has then what one would have made
 * alone, to the last bit. The processes are threads that stand together at barriers; mpi-tests run real ones. */
#define _GNU_SOURCE
#include "base/comm.h"
#include "searchcases.h"
#include "tune/dealt.h"

#include <pthread.h>

enum { MOST = 3 };

/* ---- Processes ---- */

static struct {
    pthread_barrier_t all;
    int status[MOST];
    bool leaving[MOST];
    void *bytes[MOST];
    long given;
} room;

static int agree(sk_comm *comm, int status, bool leaving, char *message, size_t most, bool *left)
{
    int worst = status;
    room.status[comm->rank] = status;
    room.leaving[comm->rank] = leaving;
    pthread_barrier_wait(&room.all);
    *left = false;
    for (int r = 0; r < comm->size; r++) {
        if (room.status[r] < worst) worst = room.status[r];
        *left = *left || room.leaving[r];
    }
    pthread_barrier_wait(&room.all);
    if (worst < status) snprintf(message, most, "another one says so");
    return worst;
}

static void give(sk_comm *comm, int from, void *bytes, size_t count)
{
    room.bytes[comm->rank] = bytes;
    pthread_barrier_wait(&room.all);
    if (comm->rank != from) memcpy(bytes, room.bytes[from], count);
    pthread_barrier_wait(&room.all);
    if (!comm->rank) room.given += (long)count;
}

typedef struct process {
    sk_comm comm;
    pthread_t thread;
    size_t d;
    long fails; /* this allocation of it does; 0: none */
    sock_status status;
    case_search *made;
} process;

/* Drifts, diffusions of what the second leaves, and the polish of one of these. */
static sock_status search(case_search *c)
{
    static const double share[SK_MOST] = {0, 1};
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    double gain;
    SK_TRY(sk_renew_views(s));
    SK_TRY(sk_run_drifts(s, &stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift));
    SK_TRY(sk_renew_remains(s, share));
    SK_TRY(sk_run_diffusions(s, &stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion));
    return sk_polish_trial(s, "polish", s->remains, s->remains, &s->diffusion[1], &gain);
}

static void *run(void *argument)
{
    process *p = argument;
    sock_context *own = sock_context_new();
    p->made = case_search_new(own, p->d, 240, 8, 0);
    case_candidates(p->made);
    case_candidate(p->made, SK_DRIFT, "poly:degree=3", 3)->learned = true;
    case_candidate(p->made, SK_DIFFUSION, "poly:degree=2", 3)->learned = true;
    case_candidate(p->made, SK_DIFFUSION, "affine", 4)->diagonal = true;
    p->made->s.diffusions[0] = false;
    if (p->comm.size > 1) sk_comm_swap(own, &p->comm);
    if (p->fails) sk_fail_one_allocation(own, p->fails);
    p->status = search(p->made);
    if (p->fails) sk_fail_allocation(own, 0);
    if (p->comm.size > 1) p->status = sk_leave_together(own, p->status);
    return NULL;
}

static void run_all(int count, size_t d, int failing, long fails, process *list)
{
    pthread_barrier_init(&room.all, NULL, (unsigned)count);
    room.given = 0;
    for (int r = 0; r < count; r++) {
        list[r] = (process){.comm = {.rank = r, .size = count, .agree = agree, .give = give}, .d = d};
        if (r == failing) list[r].fails = fails;
        assert_int_equal(pthread_create(&list[r].thread, NULL, run, &list[r]), 0);
    }
    for (int r = 0; r < count; r++) pthread_join(list[r].thread, NULL);
    pthread_barrier_destroy(&room.all);
}

static void free_all(int count, process *list)
{
    for (int r = 0; r < count; r++) {
        sock_context *own = list[r].made->s.ctx;
        case_search_free(list[r].made);
        sock_context_free(own);
    }
}

/* ---- The tests ---- */

static void assert_same(const sk_trial *a, const sk_trial *b, const sk_transitions *rows)
{
    assert_true(!a == !b);
    if (!a) return;
    assert_true(a->p == b->p && a->size == b->size && a->folds == b->folds && a->lambdas == b->lambdas);
    assert_true(a->score == b->score && a->l == b->l && a->lambda_scale == b->lambda_scale && a->dof == b->dof);
    assert_true(a->gap == b->gap && a->edge == b->edge && a->converged == b->converged && a->polished == b->polished);
    assert_true(a->learned == b->learned && a->diagonal == b->diagonal && a->whole.gap == b->whole.gap);
    assert_true(a->grid == b->grid); /* the same place of the same list */
    assert_memory_equal(a->solution, b->solution, (a->folds + 1) * a->size * sizeof(double));
    assert_memory_equal(a->by_l, b->by_l, a->lambdas * sizeof(double));
    assert_memory_equal(a->cluster, b->cluster, rows->clusters * sizeof(double));
    assert_true(!a->held == !b->held);
    const size_t held = rows->n * a->d * (a->field == SK_DRIFT ? a->folds + 1 : a->d);
    if (a->held) assert_memory_equal(a->held, b->held, held * sizeof(double));
}

static void prop_dealt__all_have_what_one_has_alone(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        process alone[1], list[MOST];
        run_all(1, d, -1, 0, alone);
        assert_true(alone->status >= 0);
        for (int count = 2; count <= MOST; count++) {
            run_all(count, d, -1, 0, list);
            assert_true(room.given > 10000);
            for (int r = 0; r < count; r++) {
                const sk_search *one = &alone->made->s, *s = &list[r].made->s;
                assert_true(list[r].status >= 0);
                assert_true(s->best_drift == one->best_drift && s->best_diffusion == one->best_diffusion);
                for (size_t i = 0; i < SK_MOST; i++) {
                    assert_same(one->drift[i], s->drift[i], s->rows);
                    assert_same(one->diffusion[i], s->diffusion[i], s->rows);
                }
                assert_int_equal(s->told->search.count, one->told->search.count);
                if (s->drift[0]) assert_ptr_equal(s->drift[0]->rows, sk_views_rows(s->views));
            }
            free_all(count, list);
        }
        free_all(1, alone);
    }
}

/* Whatever fails on one: all end, with its status, and nobody waits. */
static void test_dealt__a_failure_of_one_ends_all(void **state)
{
    (void)state;
    process list[2];
    for (int failing = 0; failing < 2; failing++)
        for (long fails = 1; fails < 4000; fails = fails * 3 / 2 + 1) {
            run_all(2, 1, failing, fails, list);
            if (list[failing].status >= 0) assert_true(list[1 - failing].status >= 0); /* beyond the last one */
            if (list[failing].status < 0) {
                assert_int_equal(list[failing].status, SOCK_ENOMEM);
                assert_int_equal(list[1 - failing].status, SOCK_ENOMEM);
            }
            free_all(2, list);
        }
}

static void prop_owners__the_most_expensive_first_to_whom_has_least(void **state)
{
    (void)state;
    enum { MANY = 24 };
    for (uint64_t seed = 3670; seed < 3690; seed++) {
        double cost[MANY], load[5] = {0}, largest = 0, total = 0;
        int owner[MANY], processes = 1 + (int)(seed % 5);
        sk_uniforms((sk_key){seed, SK_PURPOSE_TEST}, 1, 0, 0, MANY, cost);
        for (size_t i = 0; i < MANY; i += 7) cost[i] = 0;
        sk_deal_owners(processes, MANY, cost, owner);
        for (size_t i = 0; i < MANY; i++) {
            if (i % 7 == 0) {
                assert_int_equal(owner[i], -1);
                continue;
            }
            assert_in_range(owner[i], 0, processes - 1);
            load[owner[i]] += cost[i];
            total += cost[i];
            largest = fmax(largest, cost[i]);
        }
        for (int r = 0; r < processes; r++) assert_true(load[r] <= total / processes + largest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_dealt__all_have_what_one_has_alone),
        cmocka_unit_test(test_dealt__a_failure_of_one_ends_all),
        cmocka_unit_test(prop_owners__the_most_expensive_first_to_whom_has_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
