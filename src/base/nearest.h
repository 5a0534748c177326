/* nearest.h - "did you mean": of some words the one that was most likely meant. */
#ifndef SK_NEAREST_H
#define SK_NEAREST_H

#include <stddef.h>

typedef struct sk_nearest {
    const char *typed; /* not ended by a 0 */
    size_t length, distance;
    char best[32]; /* "": none */
} sk_nearest;

/* Begins with what was typed; best stays empty as long as no word is near enough. */
sk_nearest sk_nearest_to(const char *typed, size_t length);

/* Letters to insert, leave out, replace or swap, without regard to their case: at most one in three, so that no wild
 * guess is made; or the word begins with what was typed. */
void sk_nearest_try(sk_nearest *n, const char *word);

/* The same for each word of a list like "auto|none|diag". */
void sk_nearest_try_list(sk_nearest *n, const char *list, char between);

/* " (did you mean NAME?)", or nothing, for the end of a message or its middle. */
enum { SK_MEANT_ROOM = 64 };
const char *sk_meant(const sk_nearest *n, char text[SK_MEANT_ROOM]);

#endif
