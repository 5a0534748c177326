/* numbers.c - numbers from and to text, the same in every locale; the provenance hash. */
#define _GNU_SOURCE
#include "base.h"
#include "fivepowers.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

__extension__ typedef unsigned __int128 wide;

/* A decimal number as it was read: mantissa * 10^exponent, at most 19 digits; cut: further digits were dropped. */
typedef struct decimal {
    uint64_t mantissa;
    long exponent;
    bool negative, cut;
} decimal;

/* Rounds mantissa * 10^q to the nearest double (ties to even), after Lemire, "Number parsing at a gigabyte per second",
 * 2021, but with the whole 192-bit product, so that the proof is short.
 *
 * 1. Shift the mantissa up to w in [2^63, 2^64). With T the 128-bit head of 5^q, the product P = w T is at most w <
 * 2^64 below the true one: in units of its 65th bit the truth lies in [P, P + 1), and at P itself when T is exact.
 * 2. The head of P gives 53 bits; what is behind them is compared with one half.
 * 3. When the whole interval rounds to one side, that is the answer. Otherwise (about once in 2^70) answer false.
 * With |q| <= 64 the result is neither subnormal nor too large. */
static bool round_product(uint64_t mantissa, long q, double *value)
{
    if (q < FIVE_LEAST || q > FIVE_MOST) return false;
    int shift = __builtin_clzll(mantissa);
    uint64_t w = mantissa << shift;
    const uint64_t *five = five_power[q - FIVE_LEAST];
    wide low = (wide)w * five[1], high = (wide)w * five[0] + (uint64_t)(low >> 64);
    bool exact = q >= 0 && q <= FIVE_EXACT, below = (uint64_t)low != 0; /* something in the last 64 bits */

    int top = (int)(high >> 127), behind = 64 + 10 + top; /* bits of high behind the 53 */
    uint64_t bits = (uint64_t)(high >> behind);
    wide rest = high & (((wide)1 << behind) - 1), half = (wide)1 << (behind - 1);
    bool up;
    if (exact)
        up = rest > half || (rest == half && (below || (bits & 1)));
    else if (rest + 2 <= half)
        up = false;
    else if (rest > half && rest + 2 <= 2 * half)
        up = true;
    else
        return false;
    bits += up;
    long power = ((q * 152170) >> 16) + q + 63 - shift + top; /* the first factor is log2(5), right for |q| <= 64 */
    if (bits >> 53) {
        bits >>= 1;
        power++;
    }
    uint64_t image = (bits & 0xfffffffffffffu) | (uint64_t)(power + 1023) << 52;
    memcpy(value, &image, sizeof image);
    return true;
}

/* Clinger's path: a mantissa below 2^53 and a power of ten up to 22 are both exact, so one rounding is right. */
static bool round_exact(uint64_t mantissa, long exponent, double *value)
{
    if (mantissa >= (1ull << 53) || exponent < -22 || exponent > 22) return false;
    *value = exponent < 0 ? (double)mantissa / power_of_ten[-exponent] : (double)mantissa * power_of_ten[exponent];
    return true;
}

/* Digits behind the 19th: the value lies between mantissa and mantissa + 1, and mostly both round to one double. */
static bool round_cut(uint64_t mantissa, long exponent, double *value)
{
    double above;
    return round_product(mantissa, exponent, value) && round_product(mantissa + 1, exponent, &above) && *value == above;
}

static double round_slowly(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc hands this one out without allocating */
    double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value;
}

static const char *scan_exponent(const char *p, long *exponent)
{
    const char *q = p + 1;
    bool minus = *q == '-';
    if (*q == '-' || *q == '+') q++;
    if (!is_digit(*q)) return p;
    long written = 0;
    for (; is_digit(*q); q++)
        if (written < 100000) written = written * 10 + (*q - '0');
    *exponent += minus ? -written : written;
    return q;
}

/* Reads the digits; answers the end of the number, or text when there is none. */
static const char *scan_decimal(const char *text, decimal *number)
{
    const char *p = text;
    number->negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    const char *begin = p;
    uint64_t mantissa = 0;
    long exponent = 0;
    while (is_digit(*p)) mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
    long digits = p - begin;
    if (*p == '.') {
        const char *point = ++p;
        while (is_digit(*p)) mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
        exponent = point - p;
        digits -= exponent;
    }
    if (digits == 0) return text;
    number->cut = false;
    if (digits > 19) { /* the product may have run over: read again, leading zeros aside */
        mantissa = 0;
        exponent = 0;
        long kept = 0;
        bool fraction = false;
        for (const char *s = begin; s < p; s++) {
            if (*s == '.') {
                fraction = true;
            } else if (kept < 19) {
                mantissa = mantissa * 10 + (uint64_t)(*s - '0');
                kept += mantissa != 0;
                exponent -= fraction;
            } else {
                number->cut |= *s != '0';
                exponent += !fraction;
            }
        }
    }
    if (*p == 'e' || *p == 'E') p = scan_exponent(p, &exponent);
    number->mantissa = mantissa;
    number->exponent = exponent;
    return p;
}

double sk_parse_double(const char *text, const char **end)
{
    decimal number;
    double value = 0;
    *end = scan_decimal(text, &number);
    if (*end == text) return 0;
    if (number.cut) {
        if (!round_cut(number.mantissa, number.exponent, &value)) return round_slowly(text);
    } else if (number.mantissa != 0 && !round_exact(number.mantissa, number.exponent, &value) &&
               !round_product(number.mantissa, number.exponent, &value)) {
        return round_slowly(text);
    }
    return number.negative ? -value : value;
}

/* The decimal sign of the user's locale, one byte or more, becomes a point. */
static size_t print_digits(char *buffer, int digits, double value)
{
    snprintf(buffer, 32, "%.*g", digits, value);
    char *out = buffer;
    for (const char *in = buffer; *in; in++) {
        bool plain = is_digit(*in) || *in == '-' || *in == '+' || (*in >= 'a' && *in <= 'z');
        if (plain)
            *out++ = *in;
        else if (out == buffer || out[-1] != '.')
            *out++ = '.';
    }
    *out = 0;
    return (size_t)(out - buffer);
}

/* Fifteen digits always survive the way through a double, so a number that was typed comes back as it was. */
size_t sk_print_double(char *buffer, double value)
{
    const char *end;
    for (int digits = 15; digits < 17; digits++) {
        size_t length = print_digits(buffer, digits, value);
        if (sk_parse_double(buffer, &end) == value) return length;
    }
    return print_digits(buffer, 17, value);
}

uint64_t sk_hash(uint64_t seed, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed;
    for (size_t i = 0; i < count; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

/* ---- Round numbers ---- */

/* With a power of ten below 1, division gives the double that the decimal text has. */
static double round_to(double value, int exponent)
{
    const double power = pow(10, abs(exponent));
    return exponent < 0 ? rint(value * power) / power : rint(value / power) * power;
}

double sk_roundest(double middle, double reach)
{
    enum { DIGITS = 17 };
    if (!(fabs(middle) > reach)) return 0;
    const int exponent = (int)floor(log10(fabs(middle)));
    for (int digits = 1; digits < DIGITS; digits++) {
        const double round = round_to(middle, exponent + 1 - digits);
        if (fabs(round - middle) <= reach) return round;
    }
    return middle;
}

int sk_decimal_digits(double value)
{
    enum { DIGITS = 17 };
    char text[32];
    if (value == 0) return 0;
    for (int digits = 1; digits < DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value) return digits;
    }
    return DIGITS;
}
