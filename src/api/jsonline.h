/* jsonline.h - where in a JSON text a value stands, which the JSON library does not tell. */
#ifndef SK_JSONLINE_H
#define SK_JSONLINE_H

#include <stddef.h>

/* The line, from 1 on, of the value at a path like drifts[2].share in a valid text; of the innermost value on the way
 * there that exists where it does not. */
size_t sk_json_line(const char *text, const char *path);

#endif
