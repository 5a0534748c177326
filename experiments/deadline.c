/* deadline.c - see deadline.h. The thread looks at the clock twenty times a second. */
#define _GNU_SOURCE
#include "experiments/deadline.h"

#include "compare/compare.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct exp_deadline {
    sock_context *ctx;
    double end; /* of the processor time of the whole process */
    int done, fired;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
};

static void *watch(void *arg)
{
    exp_deadline *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->done && !d->fired) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 50000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&d->changed, &d->lock, &soon);
        if (!d->done && cmp_cpu_seconds() > d->end) {
            d->fired = 1;
            sock_cancel(d->ctx);
        }
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

exp_deadline *exp_deadline_new(sock_context *ctx, double seconds)
{
    exp_deadline *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->ctx = ctx;
    d->end = cmp_cpu_seconds() + seconds;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (pthread_create(&d->thread, NULL, watch, d) == 0) return d;
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return NULL;
}

int exp_deadline_end(exp_deadline *d)
{
    if (!d) return 0;
    pthread_mutex_lock(&d->lock);
    d->done = 1;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    const int fired = d->fired;
    if (fired) sock_cancel_reset(d->ctx);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return fired;
}
