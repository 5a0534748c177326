/* printable.c - control characters: below 0x20, 0x7f, and 0x80 to 0x9f (two bytes in UTF-8, c2 and itself; alone they
 * are no UTF-8, and some terminals obey them all the same). */
#include "printable.h"

#include <stdlib.h>
#include <string.h>

static bool is_control(unsigned char before, unsigned char c)
{
    if (c < 0x20) return c != '\n' && c != '\t';
    return c == 0x7f || (c >= 0x80 && c < 0xa0 && (before == 0xc2 || before < 0x80));
}

void sk_make_printable(char *text, size_t size, char before)
{
    for (size_t i = 0; i < size; i++) {
        const char own = text[i];
        const bool second = (unsigned char)before == 0xc2; /* of two: with 0xbf they are an upside-down question mark */
        if (is_control((unsigned char)before, (unsigned char)own))
            text[i] = second && (unsigned char)own >= 0x80 ? (char)0xbf : '?';
        before = own;
    }
}

bool sk_begins_formula(char first) { return first && strchr("=+-@\t\r", first); }

bool sk_is_formula(const char *text)
{
    char *end;
    if (!sk_begins_formula(text[0]) || !text[1]) return false;
    (void)strtod(text, &end);
    return *end || end == text;
}
