/* nearest.c - see nearest.h. The distance of Damerau and Levenshtein in its simple form (no letter is edited twice). */
#include "nearest.h"

#include <string.h>

enum { LONGEST = 31 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t distance(const char *a, const char *b)
{
    size_t cost[LONGEST + 1][LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = least(cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]), 1 + least(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[n][m];
}

nearest nearest_to(const char *typed) { return (nearest){typed, NULL, strlen(typed) / 3 + 1}; }

void nearest_try(nearest *n, const char *word)
{
    if (strlen(n->typed) > LONGEST || strlen(word) > LONGEST) return;
    const size_t far = distance(n->typed, word);
    if (far >= n->distance) return;
    n->best = word;
    n->distance = far;
}
