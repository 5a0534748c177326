/* test.h - what every test program includes. */
#ifndef SK_TEST_H
#define SK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif
