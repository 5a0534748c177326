/* test.h - what every test program includes. */
#ifndef SK_TEST_H
#define SK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TEST_FILTER=PATTERN in the environment: the tests of that name alone, with * and ?. */
__attribute__((constructor)) static inline void take_filter(void)
{
    const char *filter = getenv("TEST_FILTER");
    if (filter) cmocka_set_test_filter(filter);
}

/* Whether a sanitizer or Valgrind looks on (tests/CMakeLists.txt sets SOCK_VALGRIND), under which all takes many times
 * as long. As many places of memory are seen in few cases as in many; but a share or a mean is made of as many as ever,
 * or has the errors of fewer. */
static inline bool is_slow_run(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return getenv("SOCK_VALGRIND") != NULL;
#endif
}

/* |value - expected| <= tolerance * max(|expected|, scale); says both numbers when it fails. */
static inline void assert_close(double value, double expected, double tolerance, double scale)
{
    double size = fabs(expected) > scale ? fabs(expected) : scale;
    if (!(fabs(value - expected) <= tolerance * size)) {
        print_error("%.17g is not %.17g (difference %.3g, allowed %.3g)\n", value, expected, value - expected,
                    tolerance * size);
        fail();
    }
}

/* Whole arrays: the largest difference against the largest entry. */
static inline void assert_all_close(size_t n, const double *value, const double *expected, double tolerance)
{
    double worst = 0, largest = 0;
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs(value[i] - expected[i]);
        if (!(difference <= worst)) worst = difference, place = i;
        if (fabs(expected[i]) > largest) largest = fabs(expected[i]);
    }
    if (!(worst <= tolerance * largest)) {
        print_error("entry %zu: %.17g is not %.17g (relative to the largest entry: %.3g, allowed %.3g)\n", place,
                    value[place], expected[place], worst / largest, tolerance);
        fail();
    }
}

static inline sock_status with_failing_allocation(sock_context *ctx, void (*fail_at)(sock_context *ctx, long k), long k,
                                                  sock_status (*fn)(sock_context *ctx, void *arg), void *arg)
{
    sk_begin(ctx);
    fail_at(ctx, k);
    const sock_status status = fn(ctx, arg);
    sk_fail_allocation(ctx, 0);
    if (status >= 0) return status;
    assert_int_equal(status, SOCK_ENOMEM);
    assert_non_null(strstr(sock_message(ctx), "out of memory"));
    return status;
}

/* Calls fn with all allocations failing from the first on, then from the second on, and so on until it gets through.
 * Each time it must say SOCK_ENOMEM with a message, and (under the sanitizers) leak nothing. Returns the number of
 * failures seen. */
static inline long for_each_allocation(sock_context *ctx, sock_status (*fn)(sock_context *ctx, void *arg), void *arg)
{
    long count = 0;
    while (with_failing_allocation(ctx, sk_fail_allocation, count + 1, fn, arg) < 0) count++;
    return count;
}

/* The same, and after that with each of these allocations failing alone. */
static inline long for_single_allocations(sock_context *ctx, sock_status (*fn)(sock_context *ctx, void *arg), void *arg)
{
    const long count = for_each_allocation(ctx, fn, arg);
    for (long k = 1; k <= count; k++)
        if (with_failing_allocation(ctx, sk_fail_one_allocation, k, fn, arg) >= 0)
            fail_msg("allocation %ld failed and nobody noticed", k);
    return count;
}

#endif
