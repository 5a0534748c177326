/* blascore.c - does OpenBLAS use what this processor can do?
 *
 * OpenBLAS looks at the processor when it is loaded. One that is younger than it is taken for the oldest kind that it
 * knows, with half or a quarter of the vector length (its issue 4267): everything is then several times slower. It can
 * be told the kind by OPENBLAS_CORETYPE, which it reads at that moment too: a program can set it and start itself anew,
 * a library can only tell. */
#include "la.h"

#include <string.h>
#include <strings.h>

/* Another BLAS has no such function. */
__attribute__((weak)) char *openblas_get_corename(void);

static bool is_old(const char *core)
{
    static const char *const old[] = {"Prescott", "Core2", "Generic"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strcasecmp(core, old[i]) == 0) return true;
    return false;
}

const char *sk_blas_advice(const char *core, bool has_avx2, bool has_avx512)
{
    if (!has_avx2 || !is_old(core)) return NULL;
    return has_avx512 ? "SKYLAKEX" : "HASWELL";
}

#if defined(__x86_64__) && defined(__GNUC__)
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static bool has_avx512(void) /* what the kernels for SkylakeX are compiled for */
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
static bool has_avx2(void) { return false; }
static bool has_avx512(void) { return false; }
#endif

const char *sock_blas_core(void) { return openblas_get_corename ? openblas_get_corename() : ""; }

const char *sock_blas_advice(void) { return sk_blas_advice(sock_blas_core(), has_avx2(), has_avx512()); }

#define REMARK(core)                                                                                                   \
    "the linear algebra library (OpenBLAS) uses a fraction of this processor; OPENBLAS_CORETYPE=" core                 \
    " in the environment makes fits several times faster"

const char *sock_blas_remark(void)
{
    const char *advice = sock_blas_advice();
    if (!advice) return "";
    return strcmp(advice, "SKYLAKEX") == 0 ? REMARK("SKYLAKEX") : REMARK("HASWELL");
}
