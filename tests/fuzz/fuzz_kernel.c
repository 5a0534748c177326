/* fuzz_kernel.c - any text as a kernel. What is understood reads back the same from its own text, is symmetric where it
 * has a formula, and makes features or says why not. */
#include "fuzz.h"
#include "kernel/kernel.h"

#include <math.h>

enum { D = 2, POINTS = 4 };
static const double x[POINTS * D] = {0.5, -1, 2, 0.25, -0.75, 1.5, 3, -2};

/* text -> kernel -> text -> kernel -> text: the texts agree. */
static void check_round_trip(sock_context *ctx, const sk_kernel *kernel)
{
    sk_kernel *again = NULL;
    char *first = sk_kernel_format(ctx, kernel);
    FUZZ_CHECK(first && sk_kernel_parse(ctx, "again", first, &again) >= 0);
    char *second = sk_kernel_format(ctx, again);
    FUZZ_CHECK(second && strcmp(first, second) == 0);
    sk_free(first);
    sk_free(second);
    sk_kernel_free(again);
}

static void check_block(sock_context *ctx, const sk_kernel *kernel)
{
    double k[POINTS * POINTS];
    double *space = sk_doubles(ctx, sk_kernel_space(D, POINTS), 1);
    FUZZ_CHECK(space);
    sk_kernel_block(ctx, kernel, D, POINTS, x, POINTS, x, k, POINTS, space);
    for (size_t i = 0; i < POINTS; i++) {
        FUZZ_CHECK(!(k[i * POINTS + i] < 0)); /* may be infinite: the scale goes to 1e100 */
        for (size_t j = 0; j < i; j++) FUZZ_CHECK(k[i * POINTS + j] == k[j * POINTS + i] || isnan(k[i * POINTS + j]));
    }
    sk_free(space);
}

static void check_features(sock_context *ctx, const sk_kernel *kernel)
{
    sk_features *map = NULL;
    for (size_t q = 0; q < kernel->terms; q++)
        if (kernel->term[q].p > 64 || kernel->term[q].degree > 8) return; /* big maps are slow, and no different */
    sock_status status = sk_features_new(ctx, "fuzz", kernel, D, POINTS, x, &map);
    FUZZ_CHECK(status >= 0 || status == SOCK_EUSAGE || status == SOCK_ENUMERIC || status == SOCK_ENOMEM);
    if (status >= 0) FUZZ_CHECK(sk_features_count(map) >= 1);
    sk_features_free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sk_kernel *kernel = NULL;
    sock_status status = sk_kernel_parse(ctx, "fuzz", text, &kernel);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (kernel != NULL));
    if (kernel) {
        check_round_trip(ctx, kernel);
        status = sk_kernel_resolve(ctx, "fuzz", kernel, D, POINTS, x);
        fuzz_check_refusal(ctx, status);
        if (status >= 0 && sk_kernel_is_closed(kernel) && !sk_kernel_is_matrix(kernel)) check_block(ctx, kernel);
        if (status >= 0 && kernel->terms <= 8) check_features(ctx, kernel);
    }
    sk_kernel_free(kernel);
    free(text);
    return 0;
}
