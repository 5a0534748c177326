/* context.c - status texts, the context, failures and progress. */
#define _GNU_SOURCE
#include "context.h"
#include "plugins.h"
#include "printable.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *sock_version(void) { return SOCK_VERSION; }

const char *sock_status_name(sock_status status)
{
    switch ((int)status) {
#define NAME(name, value, text)                                                                                        \
    case value: return #name;
        SOCK_STATUS_LIST(NAME)
#undef NAME
    }
    return "unknown status";
}

const char *sock_status_text(sock_status status)
{
    switch ((int)status) {
#define TEXT(name, value, text)                                                                                        \
    case value: return text;
        SOCK_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

static int processors(void)
{
    cpu_set_t set;
    /* The call fails on machines with more processors than the set holds. */
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return (int)SK_MAX(1, SK_MIN(count, 1024));
}

/* From now on the process is held against a limit. */
static void note_what_is_there(sock_context *ctx)
{
    ctx->beside = SK_MAX(0, sk_resident_memory("") - sk_handed_out_memory());
}

sock_context *sock_context_new(void)
{
    sock_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx) return NULL;
    const bool first = pthread_mutex_init(&ctx->message_lock, NULL) == 0;
    if (!first || pthread_mutex_init(&ctx->sums_lock, NULL) != 0) {
        if (first) pthread_mutex_destroy(&ctx->message_lock);
        free(ctx);
        return NULL;
    }
    ctx->threads = sk_affordable_threads(processors());
    ctx->group_limit = sk_group_memory("");
    note_what_is_there(ctx);
    ctx->comm = sk_comm_of_new();
    atomic_init(&ctx->cancelled, 0);
    atomic_init(&ctx->allocations, 0);
    atomic_init(&ctx->unlooked, 0);
    atomic_init(&ctx->fail_allocation, 0);
    atomic_init(&ctx->last_to_fail, 0);
    sk_device_lend(ctx, sk_device_of_new());
    return ctx;
}

void sock_context_free(sock_context *ctx)
{
    if (!ctx) return;
    sk_plugin_free(ctx->plugin);
    pthread_mutex_destroy(&ctx->message_lock);
    pthread_mutex_destroy(&ctx->sums_lock);
    free(ctx);
}

const char *sock_message(const sock_context *ctx) { return ctx ? ctx->message : "no context"; }

sock_status sock_set_threads(sock_context *ctx, int threads)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (threads < 1 || threads > 1024) return sk_fail(ctx, SOCK_EUSAGE, "threads is %d; allowed: 1 to 1024", threads);
    ctx->threads = sk_affordable_threads(threads);
    return SOCK_OK;
}

int sock_threads(const sock_context *ctx) { return ctx ? ctx->threads : 1; }

sock_status sock_set_memory_limit(sock_context *ctx, size_t bytes)
{
    if (!ctx) return SOCK_EUSAGE;
    ctx->memory_limit = bytes;
    note_what_is_there(ctx);
    return SOCK_OK;
}

void sock_set_monitor(sock_context *ctx, sock_monitor_fn monitor, void *user)
{
    if (!ctx) return;
    ctx->monitor = monitor;
    ctx->monitor_user = user;
}

void sock_cancel(sock_context *ctx)
{
    if (ctx) atomic_store(&ctx->cancelled, 1);
}

void sock_cancel_reset(sock_context *ctx)
{
    if (ctx) atomic_store(&ctx->cancelled, 0);
}

void sk_begin(sock_context *ctx)
{
    ctx->message[0] = 0;
    ctx->message_status = SOCK_OK;
}

sock_status sk_fail(sock_context *ctx, sock_status status, const char *format, ...)
{
    pthread_mutex_lock(&ctx->message_lock);
    if (!ctx->message[0] || (ctx->message_status > 0 && status < 0)) {
        ctx->message_status = status;
        va_list args;
        va_start(args, format);
        vsnprintf(ctx->message, sizeof ctx->message, format, args);
        sk_make_printable(ctx->message, strlen(ctx->message), 0); /* it may quote a cell or a name of a file */
        va_end(args);
    }
    pthread_mutex_unlock(&ctx->message_lock);
    return status;
}

bool sk_cancelled(const sock_context *ctx) { return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed) != 0; }

sock_status sk_progress(sock_context *ctx, const char *stage, double fraction)
{
    if (ctx->monitor && sk_on_callers_thread() && ctx->monitor(ctx->monitor_user, stage, fraction) != 0)
        sock_cancel(ctx);
    if (sk_cancelled(ctx)) return sk_fail(ctx, SOCK_ECANCELLED, "interrupted during %s", stage);
    return SOCK_OK;
}

double sk_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
