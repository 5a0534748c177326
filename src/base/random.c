/* random.c - Philox4x64-10 (Salmon, Moraes, Dror, Shaw 2011): a keyed bijection of a 256-bit counter. Number i of a
 * stream is a function of (key, a, b, i) alone, so the numbers are the same for any number of threads and any order. */
#include "base.h"

#include <math.h>
#include <string.h>

static inline uint64_t high_product(uint64_t x, uint64_t y, uint64_t *low)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)x * y;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

void sk_philox(sk_key key, const uint64_t counter[4], uint64_t out[4])
{
    uint64_t k0 = key.seed, k1 = key.purpose;
    uint64_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t low0, low1;
        uint64_t high0 = high_product(0xD2E7470EE14C6C93u, c0, &low0);
        uint64_t high1 = high_product(0xCA5A826395121157u, c2, &low1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B97F4A7C15u; /* golden ratio */
        k1 += 0xBB67AE8584CAA73Bu; /* sqrt(3) - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* In (0, 1), never an end: 52 bits and a half step. */
static inline double to_unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

void sk_uniforms(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out)
{
    uint64_t block = UINT64_MAX, bits[4] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        if (number / 4 != block) {
            block = number / 4;
            uint64_t counter[4] = {block, a, b, 0};
            sk_philox(key, counter, bits);
        }
        out[i] = to_unit(bits[number % 4]);
    }
}

/* Box-Muller: numbers 2j and 2j + 1 come from the uniforms 2j and 2j + 1 of counter word 3 = 1. */
void sk_normals(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out)
{
    uint64_t block = UINT64_MAX;
    double normal[4] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        if (number / 4 != block) {
            block = number / 4;
            uint64_t counter[4] = {block, a, b, 1}, bits[4];
            sk_philox(key, counter, bits);
            for (int j = 0; j < 4; j += 2) {
                double radius = sqrt(-2 * log(to_unit(bits[j])));
                double angle = 6.283185307179586476925 * to_unit(bits[j + 1]);
                normal[j] = radius * cos(angle);
                normal[j + 1] = radius * sin(angle);
            }
        }
        out[i] = normal[number % 4];
    }
}

/* Blocks first .. first + count - 1 of the stream (four numbers each), count <= BULK_BLOCKS. */
enum { BULK_BLOCKS = 32 };
static void normal_blocks(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out)
{
    double radius[2 * BULK_BLOCKS] = {0}, angle[2 * BULK_BLOCKS], sine[2 * BULK_BLOCKS];
    for (size_t i = 0; i < count; i++) {
        uint64_t counter[4] = {first + i, a, b, 1}, bits[4];
        sk_philox(key, counter, bits);
        radius[2 * i] = to_unit(bits[0]);
        radius[2 * i + 1] = to_unit(bits[2]);
        angle[2 * i] = 6.283185307179586476925 * to_unit(bits[1]);
        angle[2 * i + 1] = 6.283185307179586476925 * to_unit(bits[3]);
    }
    sk_vlog(2 * count, radius, radius);
    sk_vsin(2 * count, angle, sine);
    sk_vcos(2 * count, angle, angle);
    for (size_t i = 0; i < 2 * count; i++) {
        double r = sqrt(-2 * radius[i]);
        out[2 * i] = r * angle[i];
        out[2 * i + 1] = r * sine[i];
    }
}

void sk_normals_bulk(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out)
{
    double block[4 * BULK_BLOCKS];
    while (count) {
        size_t skip = first % 4, now = SK_MIN(4 * BULK_BLOCKS - skip, count);
        if (skip == 0 && now % 4 == 0) {
            normal_blocks(key, a, b, first / 4, now / 4, out);
        } else {
            normal_blocks(key, a, b, first / 4, (skip + now + 3) / 4, block);
            memcpy(out, block + skip, now * sizeof *out);
        }
        first += now;
        out += now;
        count -= now;
    }
}

void sk_shuffle(sk_key key, uint64_t a, uint64_t b, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++) out[i] = i;
    for (size_t i = count; i > 1; i--) {
        double u;
        sk_uniforms(key, a, b, count - i, 1, &u);
        size_t j = (size_t)(u * (double)i), kept = out[i - 1];
        if (j >= i) j = i - 1;
        out[i - 1] = out[j];
        out[j] = kept;
    }
}
