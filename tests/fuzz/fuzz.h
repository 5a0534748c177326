/* fuzz.h - what every fuzz target includes. A target defines LLVMFuzzerTestOneInput: libFuzzer calls it with inputs of
 * its own making (`make fuzz`), replay.c with the committed ones (`make test`). A law that is broken ends the program,
 * so that both see it. */
#ifndef SK_FUZZ_H
#define SK_FUZZ_H

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FUZZ_CHECK(law)                                                                                                \
    do {                                                                                                               \
        if (!(law)) {                                                                                                  \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #law);                                          \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* One context for all inputs, on one thread, that plans for no more than 256 MB; the message of the last input is gone.
 * What the process holds is asked of the system now and then: for each input that would be most of the time. */
static inline sock_context *fuzz_context(void)
{
    enum { INPUTS = 256 };
    static sock_context *ctx;
    static unsigned count;
    if (!ctx) {
        ctx = sock_context_new();
        FUZZ_CHECK(ctx && sock_set_threads(ctx, 1) == SOCK_OK);
    }
    if (count++ % INPUTS == 0)
        FUZZ_CHECK(sock_set_memory_limit(ctx, (size_t)sk_resident_memory("") + 256000000) == SOCK_OK);
    sk_begin(ctx);
    return ctx;
}

/* A failure says what is wrong with the input, in a sentence; anything else that goes wrong is our fault. */
static inline void fuzz_check_refusal(const sock_context *ctx, sock_status status)
{
    FUZZ_CHECK(status >= 0 || status == SOCK_EINPUT || status == SOCK_EUSAGE || status == SOCK_ENOMEM);
    FUZZ_CHECK(status >= 0 || sock_message(ctx)[0]);
}

/* The input with a 0 behind it, in a block of just that size, so that the sanitizer sees a step beyond. */
static inline char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text);
    if (size) memcpy(text, bytes, size);
    text[size] = 0;
    return text;
}

#endif
