/* vmath.c - exp, log, cos and sin of whole arrays. glibc's libmvec has vector versions (at most 4 ulp) that the
 * compiler uses by itself only under -ffast-math; we call them by name, for the widest vectors the processor has, and
 * fall back to the scalar functions elsewhere. */
#include "base.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SK_NO_LIBMVEC)
#include <immintrin.h>
#define HAVE_LIBMVEC 1

/* With the instructions of their arguments: clang asks for them, gcc takes them. */
__attribute__((target("avx2"))) __m256d _ZGVdN4v_exp(__m256d);
__attribute__((target("avx2"))) __m256d _ZGVdN4v_cos(__m256d);
__attribute__((target("avx2"))) __m256d _ZGVdN4v_sin(__m256d);
__attribute__((target("avx2"))) __m256d _ZGVdN4v_log(__m256d);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_exp(__m512d);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_cos(__m512d);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_sin(__m512d);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_log(__m512d);

/* One loop for each function and width; the rest of fewer than a vector goes through a padded copy, so that the value
 * of an element does not depend on its place in the array. */
#define VECTOR_LOOP(name, isa, vector, width, load, store, function)                                                   \
    __attribute__((target(isa))) static void name(size_t n, const double *x, double *y)                                \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + (width) <= n; i += (width)) store(y + i, function(load(x + i)));                                    \
        if (i < n) {                                                                                                   \
            double rest[width]; /* filled with 1: no lane may raise a flag or take a slow path */                      \
            for (int k = 0; k < (width); k++) rest[k] = 1;                                                             \
            memcpy(rest, x + i, (n - i) * sizeof *x);                                                                  \
            store(rest, function(load(rest)));                                                                         \
            memcpy(y + i, rest, (n - i) * sizeof *y);                                                                  \
        }                                                                                                              \
    }

VECTOR_LOOP(exp_avx2, "avx2", __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _ZGVdN4v_exp)
VECTOR_LOOP(cos_avx2, "avx2", __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _ZGVdN4v_cos)
VECTOR_LOOP(log_avx2, "avx2", __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _ZGVdN4v_log)
VECTOR_LOOP(sin_avx2, "avx2", __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _ZGVdN4v_sin)
VECTOR_LOOP(exp_avx512, "avx512f", __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _ZGVeN8v_exp)
VECTOR_LOOP(cos_avx512, "avx512f", __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _ZGVeN8v_cos)
VECTOR_LOOP(log_avx512, "avx512f", __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _ZGVeN8v_log)
VECTOR_LOOP(sin_avx512, "avx512f", __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _ZGVeN8v_sin)
#endif

#ifdef HAVE_LIBMVEC
#define WIDEST(function, n, x, y)                                                                                      \
    if (__builtin_cpu_supports("avx512f")) {                                                                           \
        function##_avx512(n, x, y);                                                                                    \
        return;                                                                                                        \
    }                                                                                                                  \
    if (__builtin_cpu_supports("avx2")) {                                                                              \
        function##_avx2(n, x, y);                                                                                      \
        return;                                                                                                        \
    }
#else
#define WIDEST(function, n, x, y)
#endif

void sk_vexp(size_t n, const double *x, double *y)
{
    WIDEST(exp, n, x, y)
    for (size_t i = 0; i < n; i++) y[i] = exp(x[i]);
}

void sk_vlog(size_t n, const double *x, double *y)
{
    WIDEST(log, n, x, y)
    for (size_t i = 0; i < n; i++) y[i] = log(x[i]);
}

void sk_vcos(size_t n, const double *x, double *y)
{
    WIDEST(cos, n, x, y)
    for (size_t i = 0; i < n; i++) y[i] = cos(x[i]);
}

void sk_vsin(size_t n, const double *x, double *y)
{
    WIDEST(sin, n, x, y)
    for (size_t i = 0; i < n; i++) y[i] = sin(x[i]);
}
