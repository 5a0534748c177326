/* widehint.c - see widehint.h. */
#include "widehint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 3 };

/* The length of the name before its number. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    while (length && strchr("0123456789", name[length - 1])) length--;
    return length;
}

bool wide_hint(size_t count, const char *const *name, size_t size, char *text)
{
    if (count < FEWEST) return false;
    const size_t stem = stem_of(name[0]);
    const unsigned long long first = strtoull(name[0] + stem, NULL, 10);
    for (size_t k = 0; k < count; k++)
        if (stem_of(name[k]) != stem || !name[k][stem] || strncmp(name[k], name[0], stem) != 0 ||
            strtoull(name[k] + stem, NULL, 10) != first + k)
            return false;
    snprintf(text, size,
             "%s to %s are read as %zu states of one trajectory; if each is a trajectory of one state (wide form), "
             "--wide reads them so",
             name[0], name[count - 1], count);
    return true;
}
