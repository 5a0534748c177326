/* nearest.h - "did you mean": of some words the one that was most likely meant. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

typedef struct nearest {
    const char *typed, *best;
    size_t distance;
} nearest;

/* Begins with what was typed; best stays NULL as long as no word is near enough. */
nearest nearest_to(const char *typed);

/* Letters to insert, leave out, replace or swap: at most one in three, so that no wild guess is made. */
void nearest_try(nearest *n, const char *word);

#endif
