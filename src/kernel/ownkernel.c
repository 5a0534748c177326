/* ownkernel.c - the user's own matrix-valued kernel, a function; not in the grammar. */
#include "kernel/family.h"

#include <assert.h>
#include <math.h>

enum { MAX_DIM = 64 }; /* its block stands on the stack */

static void callback_add_pair(const sk_pair *b, const sk_term *term)
{
    double block[MAX_DIM * MAX_DIM];
    assert(b->d <= MAX_DIM);
    term->callback(term->callback_user, b->d, b->x, b->y, block);
    for (size_t k = 0; k < b->d; k++)
        for (size_t l = 0; l < b->d; l++) b->out[k * b->ld + l] += term->scale * block[k * b->d + l];
}

static sock_status callback_check(sock_context *ctx, const char *option, size_t d)
{
    if (d <= MAX_DIM) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "%s: a kernel of your own takes a state of at most %d dimensions; this one "
                   "has %zu",
                   option, MAX_DIM, d);
}

const sk_family sk_callback_family = {.name = "callback", .check = callback_check, .add_pair = callback_add_pair};

sock_status sk_kernel_from_callback(sock_context *ctx, sock_matrix_kernel_fn fn, void *user, sk_kernel **out)
{
    assert(fn);
    const sk_term term = {.family = &sk_callback_family,
                          .eta = (double)NAN,
                          .scale = 1,
                          .degree = 2,
                          .callback = fn,
                          .callback_user = user};
    return sk_kernel_from_terms(ctx, 1, &term, out);
}
