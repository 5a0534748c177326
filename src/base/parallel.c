/* parallel.c - parallel loops on plain threads, made for the loop and joined at its end.
 *
 * The loops here run for milliseconds and more, so making the threads anew (about 30 microseconds) costs nothing that
 * can be measured, and there is no pool to own, to shut down or to share. Inside a worker BLAS is held to one thread:
 * the OpenMP flavour of OpenBLAS reads the calling thread's own setting, so no global state is touched. */
#define _GNU_SOURCE
#include "context.h"

#include <omp.h>
#include <stdlib.h>

static _Thread_local bool inside_worker = false;
static _Thread_local bool thread_made_here = false;

bool sk_in_worker(void) { return inside_worker; }

bool sk_work_alone(bool alone)
{
    const bool before = inside_worker;
    inside_worker = alone;
    return before;
}

void sk_sums_lock(sock_context *ctx) { pthread_mutex_lock(&ctx->sums_lock); }
void sk_sums_unlock(sock_context *ctx) { pthread_mutex_unlock(&ctx->sums_lock); }

bool sk_on_callers_thread(void) { return !thread_made_here; }

int sk_workers(const sock_context *ctx) { return inside_worker ? 1 : ctx->threads; }

typedef struct loop {
    sock_context *ctx;
    sk_range_fn fn;
    void *arg;
    size_t count, grain;
    atomic_size_t next;
    atomic_int status; /* first failure, or the largest caveat */
} loop;

typedef struct worker {
    loop *l;
    int index;
    pthread_t thread;
} worker;

static void note(loop *l, sock_status status)
{
    int seen = atomic_load(&l->status);
    while ((status < 0 && seen >= 0) || (seen >= 0 && status > seen))
        if (atomic_compare_exchange_weak(&l->status, &seen, (int)status)) return;
}

static void run(loop *l, int index)
{
    for (;;) {
        size_t begin = atomic_fetch_add(&l->next, l->grain);
        if (begin >= l->count || atomic_load(&l->status) < 0) return;
        if (sk_cancelled(l->ctx)) {
            note(l, sk_fail(l->ctx, SOCK_ECANCELLED, "interrupted"));
            return;
        }
        sock_status status = l->fn(l->arg, begin, SK_MIN(begin + l->grain, l->count), index);
        if (status != SOCK_OK) note(l, status);
    }
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    inside_worker = true;
    thread_made_here = true;
    omp_set_num_threads(1);
    run(w->l, w->index);
    return NULL;
}

sock_status sk_parallel_for(sock_context *ctx, size_t count, size_t grain, sk_range_fn fn, void *arg)
{
    if (!count) return SOCK_OK;
    loop l = {.ctx = ctx, .fn = fn, .arg = arg, .count = count, .grain = SK_MIN(SK_MAX(grain, 1), count)};
    atomic_init(&l.next, 0);
    atomic_init(&l.status, SOCK_OK);
    size_t pieces = (count - 1) / l.grain + 1;
    int threads = (int)SK_MIN((size_t)sk_workers(ctx), pieces);
    if (threads <= 1) { /* alone: a loop nested in this one may still use the threads */
        run(&l, 0);
        return (sock_status)atomic_load(&l.status);
    }
    worker *workers = sk_alloc(ctx, (size_t)threads, sizeof *workers);
    if (!workers) return SOCK_ENOMEM;
    int started = 1;
    for (; started < threads; started++) { /* fewer threads than asked for is slower, not wrong */
        workers[started] = (worker){.l = &l, .index = started};
        if (pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]) != 0) break;
    }
    int blas = omp_get_max_threads();
    inside_worker = true;
    omp_set_num_threads(1);
    run(&l, 0);
    inside_worker = false;
    omp_set_num_threads(blas);
    for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
    sk_free(workers);
    return (sock_status)atomic_load(&l.status);
}
