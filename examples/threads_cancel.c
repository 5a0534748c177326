/* threads_cancel.c - progress, and stopping a computation: from its own monitor, and from another thread. */
#define _POSIX_C_SOURCE 200809L
#include <sock.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATHS = 60, POINTS = 51, DIM = 10 };

/* The monitor is called by the thread that called the library. What it answers decides: not 0 stops the work. */
typedef struct watch {
    int calls, stop_at;
    char stage[64];
} watch;

static int on_progress(void *user, const char *stage, double fraction)
{
    watch *w = user;
    if (strcmp(w->stage, stage) != 0) {
        snprintf(w->stage, sizeof w->stage, "%s", stage);
        printf("  %s%s\n", stage, fraction < 0 ? " ..." : "");
    }
    return ++w->calls == w->stop_at;
}

typedef struct work {
    sock_context *ctx;
    sock_data *data;
    sock_options *opts;
    sock_model *model;
    sock_status status;
} work;

static void *fit(void *argument)
{
    work *w = argument;
    w->status = sock_fit(w->ctx, w->data, w->opts, &w->model);
    return NULL;
}

/* Ten-dimensional points that wander: no low rank, so the exact system of 3000 intervals is solved. */
static sock_data *make_data(sock_context *ctx, const sock_options *opts)
{
    static size_t length[PATHS];
    static double t[PATHS * POINTS], x[PATHS * POINTS * DIM];
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        for (size_t i = 0; i < POINTS; i++) {
            t[j * POINTS + i] = 0.1 * (double)i;
            for (size_t k = 0; k < DIM; k++)
                x[(j * POINTS + i) * DIM + k] =
                    sin(1.3 * (double)((j + 3) * (k + 1)) + 0.7 * (double)i * (double)(k + 2));
        }
    }
    sock_data *data = NULL;
    sock_data_from_arrays(ctx, DIM, PATHS, length, t, x, NULL, NULL, opts, &data);
    return data;
}

int main(void)
{
    work w = {.ctx = sock_context_new()};
    w.opts = w.ctx ? sock_options_new(w.ctx) : NULL;
    int good = w.opts && sock_options_set(w.ctx, w.opts, "tune", "no") >= 0 &&
               sock_options_set(w.ctx, w.opts, "diffusion", "none") >= 0 &&
               sock_options_set(w.ctx, w.opts, "drift-path", "exact") >= 0;
    w.data = good ? make_data(w.ctx, w.opts) : NULL;
    good = good && w.data;

    /* 1. The monitor says stop. Nothing is returned, and the message tells where it was. */
    watch stopping = {.stop_at = 2};
    sock_set_monitor(w.ctx, on_progress, &stopping);
    if (good) fit(&w);
    printf("stopped by the monitor: %s (%s)\n", sock_status_name(w.status), sock_message(w.ctx));
    good = good && w.status == SOCK_ECANCELLED && !w.model;

    /* 2. Another thread says stop. A context can be used again after sock_cancel_reset. */
    pthread_t worker;
    sock_cancel_reset(w.ctx);
    sock_set_monitor(w.ctx, NULL, NULL);
    good = good && pthread_create(&worker, NULL, fit, &w) == 0;
    if (good) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        sock_cancel(w.ctx);
        pthread_join(worker, NULL);
        printf("stopped by another thread: %s\n", sock_status_name(w.status));
        good = w.status == SOCK_ECANCELLED && !w.model;
    }

    /* 3. To the end, on two threads, with a cheaper form. */
    watch all = {0};
    sock_cancel_reset(w.ctx);
    sock_set_monitor(w.ctx, on_progress, &all);
    good = good && sock_set_threads(w.ctx, 2) >= 0 && sock_options_set(w.ctx, w.opts, "drift-path", "auto") >= 0 &&
           sock_options_set(w.ctx, w.opts, "drift", "fourier:p=100") >= 0;
    if (good) fit(&w);
    printf("left alone: %s after %d reports\n", sock_status_name(w.status), all.calls);
    good = good && w.status >= 0 && w.model && all.calls > 0;

    sock_model_free(w.model);
    sock_data_free(w.data);
    sock_options_free(w.opts);
    sock_context_free(w.ctx);
    return good ? 0 : 1;
}
