/* memory.c - checked, counted allocation. Every allocation of the library passes here, so that a test can make any
 * one of them fail. */
#define _GNU_SOURCE
#include "context.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, LARGE_PAGE = 1 << 21, LARGE = 2 * LARGE_PAGE };

static bool allocation_fails(sock_context *ctx)
{
    long number = atomic_fetch_add(&ctx->allocations, 1) + 1;
    long fail = atomic_load(&ctx->fail_allocation);
    return fail > 0 && number >= fail && number <= atomic_load(&ctx->last_to_fail);
}

void sk_fail_allocation(sock_context *ctx, long k)
{
    atomic_store(&ctx->last_to_fail, LONG_MAX);
    atomic_store(&ctx->fail_allocation, k > 0 ? atomic_load(&ctx->allocations) + k : 0);
}

void sk_fail_one_allocation(sock_context *ctx, long k)
{
    sk_fail_allocation(ctx, k);
    atomic_store(&ctx->last_to_fail, atomic_load(&ctx->fail_allocation));
}

long sk_allocations(const sock_context *ctx) { return atomic_load(&ctx->allocations); }

/* Asks for large pages behind a large array: a five-hundredth of the page faults, and fewer misses of the address
 * translation in a factorisation. Where the system has none, nothing is lost. */
static void prefer_large_pages(void *pointer, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t skip = (LARGE_PAGE - (uintptr_t)pointer % LARGE_PAGE) % LARGE_PAGE;
    if (bytes >= LARGE) madvise((char *)pointer + skip, (bytes - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#else
    (void)pointer, (void)bytes;
#endif
}

static double used_memory(const sock_context *ctx)
{
    return SK_MAX(sk_resident_memory(""), ctx->beside + sk_handed_out_memory());
}

/* Whether the process may take `bytes` more. It is looked at for each MEBIBYTE: what is read from the system takes some
 * microseconds. Memory that was freed and not given back counts no more once it is. */
static bool is_allowed(sock_context *ctx, size_t bytes)
{
    enum { MEBIBYTE = 1 << 20 };
    const double wanted = (double)bytes, limit = ctx->memory_limit ? (double)ctx->memory_limit : ctx->group_limit;
    if (!(limit > 0) || atomic_fetch_add(&ctx->unlooked, bytes) + bytes < MEBIBYTE) return true;
    atomic_store(&ctx->unlooked, 0);
    if (used_memory(ctx) + wanted <= limit) return true;
#ifdef __GLIBC__
    malloc_trim(0);
    if (used_memory(ctx) + wanted <= limit) return true;
#endif
    sk_fail(
        ctx, SOCK_ENOMEM,
        "out of memory: the work needs %.3g GB more than the %.3g GB that this process uses, and %.3g GB are allowed%s",
        1e-9 * wanted, 1e-9 * used_memory(ctx), 1e-9 * limit, ctx->memory_limit ? "" : " by its control group");
    return false;
}

static void *raw_alloc(sock_context *ctx, size_t bytes)
{
    void *pointer = NULL;
    size_t alignment = bytes >= LARGE ? LARGE_PAGE : ALIGNMENT;
    if (!is_allowed(ctx, bytes)) return NULL;
    if (allocation_fails(ctx) || posix_memalign(&pointer, alignment, bytes ? bytes : 1) != 0) {
        sk_fail(ctx, SOCK_ENOMEM, "out of memory: could not get %zu bytes", bytes);
        return NULL;
    }
    prefer_large_pages(pointer, bytes);
    return pointer;
}

void *sk_alloc(sock_context *ctx, size_t count, size_t size)
{
    size_t bytes = 0;
    if (sk_product(ctx, count, size, &bytes) < 0) return NULL;
    void *pointer = raw_alloc(ctx, bytes);
    if (pointer) memset(pointer, 0, bytes ? bytes : 1);
    return pointer;
}

double *sk_doubles(sock_context *ctx, size_t rows, size_t cols)
{
    size_t count = 0;
    if (sk_product(ctx, rows, cols, &count) < 0) return NULL;
    return sk_alloc(ctx, count, sizeof(double));
}

double *sk_doubles_unset(sock_context *ctx, size_t rows, size_t cols)
{
    size_t count = 0, bytes = 0;
    if (sk_product(ctx, rows, cols, &count) < 0 || sk_product(ctx, count, sizeof(double), &bytes) < 0) return NULL;
    return raw_alloc(ctx, bytes);
}

void sk_free(void *pointer) { free(pointer); }

void sock_string_free(char *text) { free(text); }

sock_status sk_product(sock_context *ctx, size_t a, size_t b, size_t *out)
{
    if (b && a > SIZE_MAX / b)
        return sk_fail(ctx, SOCK_ENOMEM, "out of memory: %zu times %zu is more than this machine can address", a, b);
    *out = a * b;
    return SOCK_OK;
}

char *sk_strdup(sock_context *ctx, const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = raw_alloc(ctx, length);
    if (copy) memcpy(copy, text, length);
    return copy;
}

char *sk_format(sock_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        sk_fail(ctx, SOCK_EUSAGE, "a text could not be formatted");
        return NULL;
    }
    char *text = raw_alloc(ctx, (size_t)length + 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

sock_status sk_reserve(sock_context *ctx, size_t bytes)
{
    void *pointer = raw_alloc(ctx, bytes);
    if (!pointer) return SOCK_ENOMEM;
    free(pointer);
    return SOCK_OK;
}

/* Arrays are grown through a pointer to any kind of pointer. */
static void *pointer_in(const void *array)
{
    void *pointer;
    memcpy(&pointer, array, sizeof pointer);
    return pointer;
}

static void put_pointer(void *array, void *pointer) { memcpy(array, &pointer, sizeof pointer); }

sock_status sk_grow(sock_context *ctx, void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity) return SOCK_OK;
    size_t wanted = SK_MAX(needed, *capacity > SIZE_MAX / 2 ? needed : *capacity * 2), bytes = 0;
    wanted = SK_MAX(wanted, 16);
    SK_TRY(sk_product(ctx, wanted, size, &bytes));
    if (!is_allowed(ctx, bytes)) return SOCK_ENOMEM; /* the old array stays until the new one is there */
    void *grown = allocation_fails(ctx) ? NULL : realloc(pointer_in(array), bytes);
    if (!grown) return sk_fail(ctx, SOCK_ENOMEM, "out of memory: could not get %zu bytes", bytes);
    prefer_large_pages(grown, bytes);
    memset((char *)grown + *capacity * size, 0, bytes - *capacity * size);
    put_pointer(array, grown);
    *capacity = wanted;
    return SOCK_OK;
}

sock_status sk_memory_check(sock_context *ctx, double bytes, const char *what, const char *way_out)
{
    if (bytes < 64e6 && !ctx->memory_limit) return SOCK_OK; /* not worth asking the machine */
    if (ctx->memory_limit) bytes += used_memory(ctx);
    double limit = ctx->memory_limit ? (double)ctx->memory_limit : 0.9 * sk_available_memory("");
    if (bytes <= limit) return SOCK_OK;
    return sk_fail(ctx, SOCK_ENOMEM, "%s needs about %.3g GB of memory and %.3g GB are allowed; %s", what, bytes * 1e-9,
                   limit * 1e-9, way_out);
}
