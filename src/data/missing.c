/* missing.c - numbers that stand for a missing value, by the word of the user. */
#include "data.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The option's text was checked when it was set: numbers with commas between. */
void sk_rows_missing(const char *list, sk_rows *rows)
{
    if (strcmp(list, "none") == 0) return;
    for (const char *at = list, *end;; at = end + 1) {
        const double code = sk_parse_double(at + strspn(at, " "), &end);
        assert(end > at);
        for (size_t i = 0; i < rows->count * rows->d; i++)
            if (rows->x[i] == code) rows->x[i] = (double)NAN;
        end += strspn(end, " ");
        if (*end != ',') return;
    }
}
