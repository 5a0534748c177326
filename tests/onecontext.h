/* onecontext.h - for test programs whose tests share one context: it is made before the first and freed after the last.
 */
#ifndef SK_ONECONTEXT_H
#define SK_ONECONTEXT_H

#include "test.h"

static sock_context *ctx;

static int setup(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

#endif
