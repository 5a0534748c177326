/* numbers.c - numbers from and to text, the same in every locale; the provenance hash. */
#define _GNU_SOURCE
#include "base.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Clinger's fast path: a mantissa below 2^53 and a power of ten up to 22 are both exact, so one rounding is right.
 * Everything else goes to strtod in the C locale (which glibc hands out without allocating). */
double sk_parse_double(const char *text, const char **end)
{
    const char *p = text;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    bool any = false;
    for (; is_digit(*p); p++, any = true)
        if (digits < 19) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            digits += mantissa != 0;
        } else {
            exponent++;
        }
    if (*p == '.')
        for (p++; is_digit(*p); p++, any = true)
            if (digits < 19) {
                mantissa = mantissa * 10 + (uint64_t)(*p - '0');
                digits += mantissa != 0;
                exponent--;
            }
    if (!any) {
        *end = text;
        return 0;
    }
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        bool minus = *q == '-';
        if (*q == '-' || *q == '+') q++;
        if (is_digit(*q)) {
            int written = 0;
            for (; is_digit(*q); q++)
                if (written < 100000) written = written * 10 + (*q - '0');
            exponent += minus ? -written : written;
            p = q;
        }
    }
    *end = p;
    if (mantissa < (1ull << 53) && digits < 19 && exponent >= -22 && exponent <= 22) {
        double value = (double)mantissa;
        value = exponent < 0 ? value / power_of_ten[-exponent] : value * power_of_ten[exponent];
        return negative ? -value : value;
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value;
}

size_t sk_print_double(char *buffer, double value)
{
    int length = snprintf(buffer, 32, "%.17g", value);
    for (char *p = buffer; *p; p++)
        if (*p == ',') *p = '.'; /* the decimal sign of the user's locale */
    return (size_t)length;
}

uint64_t sk_hash(uint64_t seed, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed;
    for (size_t i = 0; i < count; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}
