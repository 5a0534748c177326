/* nearest.c - see nearest.h. The distance of Damerau and Levenshtein in its simple form (no letter is edited twice). */
#include "nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 31 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static bool alike(char a, char b)
{
    const char small_a = (char)(a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a);
    return small_a == (char)(b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t cost[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                cost[i][j] = i + j;
                continue;
            }
            const size_t swap = !alike(a[i - 1], b[j - 1]);
            cost[i][j] = least(cost[i - 1][j - 1] + swap, 1 + least(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[n][m];
}

sk_nearest sk_nearest_to(const char *typed, size_t length)
{
    return (sk_nearest){.typed = typed, .length = length, .distance = length / 3 + 1};
}

static void try_word(sk_nearest *n, const char *word, size_t length)
{
    if (n->length > LONGEST || length > LONGEST || n->length == 0) return;
    const bool begins = n->length > 1 && n->length < length && strncasecmp(n->typed, word, n->length) == 0;
    const size_t far = begins ? 1 : distance(n->typed, n->length, word, length);
    if (far >= n->distance && (!begins || n->best[0])) return;
    snprintf(n->best, sizeof n->best, "%.*s", (int)length, word);
    n->distance = far;
}

void sk_nearest_try(sk_nearest *n, const char *word) { try_word(n, word, strlen(word)); }

void sk_nearest_try_list(sk_nearest *n, const char *list, char between)
{
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = strchr(list, between);
        if (!end) end = list + strlen(list);
        try_word(n, list, (size_t)(end - list));
    }
}

const char *sk_meant(const sk_nearest *n, char text[SK_MEANT_ROOM])
{
    text[0] = 0;
    if (n->best[0]) snprintf(text, SK_MEANT_ROOM, " (did you mean %s?)", n->best);
    return text;
}
