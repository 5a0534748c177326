/* printable.h - texts of files and of users, on their way to a terminal or a spreadsheet. */
#ifndef SK_PRINTABLE_H
#define SK_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Control characters, which a terminal would obey (colours, titles, worse), become question marks; line ends and tabs
 * stay. `before`: the byte in front of the text (0: none), for a character that two pieces share. */
void sk_make_printable(char *text, size_t size, char before);

/* Would a spreadsheet run this cell as a formula? It begins with = + - @, a tab or a carriage return, and is neither a
 * number nor that sign alone. Writers of CSV put an apostrophe in front of such a name; readers take it away. */
bool sk_begins_formula(char first);
bool sk_is_formula(const char *text);

#endif
