/* awaited.c - see awaited.h. */
#define _GNU_SOURCE
#include "awaited.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Of a call that was left: it stays until the process ends, since what is done at exit cannot be taken back. */
struct sk_left {
    atomic_bool ended;
};

enum { LOOK_NANOSECONDS = 20000000 }; /* between two looks at the flag */

void sk_awaited_free(sk_awaited *call)
{
    if (!call) return;
    if (call->clear) call->clear(call);
    sk_free(call);
}

static void forget(sk_awaited *call)
{
    pthread_cond_destroy(&call->ended);
    pthread_mutex_destroy(&call->lock);
}

static void *run_main(void *argument)
{
    sk_awaited *call = argument;
    call->run(call);
    pthread_mutex_lock(&call->lock);
    struct sk_left *left = call->left;
    call->done = true;
    pthread_cond_signal(&call->ended);
    pthread_mutex_unlock(&call->lock);
    if (left) {
        forget(call);
        sk_awaited_free(call);
        atomic_store(&left->ended, true);
    }
    return NULL;
}

#ifdef __GLIBC__
/* The linear algebra library gives its buffers back at exit, also those that a call still works in. */
static void end_process(int status, void *argument)
{
    const struct sk_left *left = argument;
    if (atomic_load(&left->ended)) return;
    fflush(NULL);
    _exit(status);
}

static struct sk_left *leave(void)
{
    struct sk_left *left = malloc(sizeof *left);
    if (!left) return NULL;
    atomic_init(&left->ended, false);
    if (on_exit(end_process, left) == 0) return left;
    free(left);
    return NULL;
}
#else
static struct sk_left *leave(void) { return NULL; }
#endif

/* With the lock held: waits for a moment, then looks. The monitor may say stop, too. */
static sock_status look(sock_context *ctx, sk_awaited *call, const char *stage)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&call->ended, &call->lock, &until);
    if (call->done) return SOCK_OK;
    pthread_mutex_unlock(&call->lock);
    const sock_status status = sk_progress(ctx, stage, -1);
    pthread_mutex_lock(&call->lock);
    return status;
}

sock_status sk_await(sock_context *ctx, sk_awaited *call, const char *stage)
{
    pthread_t thread;
    sock_status status = SOCK_OK;
    call->done = false, call->left = NULL;
    pthread_mutex_init(&call->lock, NULL);
    pthread_cond_init(&call->ended, NULL);
    if (pthread_create(&thread, NULL, run_main, call) != 0) { /* then an interrupt waits, which is not wrong */
        forget(call);
        call->run(call);
        return SOCK_OK;
    }
    pthread_mutex_lock(&call->lock);
    while (!call->done && !call->left) {
        status = look(ctx, call, stage);
        if (!call->done && status < 0) call->left = leave();
    }
    const bool left = call->left != NULL;
    pthread_mutex_unlock(&call->lock);
    if (left) {
        pthread_detach(thread);
        return status;
    }
    pthread_join(thread, NULL); /* an interrupt that came with its end is seen at the next look of the caller */
    forget(call);
    return SOCK_OK;
}
