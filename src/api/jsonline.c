/* jsonline.c - see jsonline.h. The text was parsed before: what is skipped is known to be whole. */
#include "api/jsonline.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blank(const char *p) { return p + strspn(p, " \t\r\n"); }

static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++) p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

static const char *skip_value(const char *p)
{
    size_t depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += *p == '{' || *p == '[';
        if ((*p == '}' || *p == ']') && depth) depth--;
        p++;
    } while (*p && (depth || !strchr(",}] \t\r\n", *p)));
    return p;
}

/* The value of a key of the object at p, or NULL. */
static const char *member(const char *p, const char *key, size_t length)
{
    for (p = skip_blank(p + 1); *p == '"'; p = skip_blank(p + 1)) {
        const char *name = p + 1, *end = skip_string(p);
        p = skip_blank(skip_blank(end) + 1); /* the colon */
        if ((size_t)(end - name) == length + 1 && strncmp(name, key, length) == 0) return p;
        p = skip_blank(skip_value(p));
        if (*p != ',') return NULL;
    }
    return NULL;
}

static const char *entry(const char *p, size_t index)
{
    p = skip_blank(p + 1);
    for (size_t i = 0; i < index; i++) {
        if (*p == ']') return NULL;
        p = skip_blank(skip_value(p));
        if (*p != ',') return NULL;
        p = skip_blank(p + 1);
    }
    return *p == ']' ? NULL : p;
}

static const char *step(const char *p, const char **path)
{
    if (**path == '[') {
        char *end;
        const size_t index = strtoull(*path + 1, &end, 10);
        *path = *end ? end + 1 : end;
        return *p == '[' ? entry(p, index) : NULL;
    }
    *path += **path == '.';
    const char *key = *path;
    const size_t length = strcspn(key, ".[");
    *path += length;
    return *p == '{' ? member(p, key, length) : NULL;
}

size_t sk_json_line(const char *text, const char *path)
{
    const char *at = skip_blank(text);
    size_t line = 1;
    while (*path) {
        const char *next = step(at, &path);
        if (!next) break;
        at = next;
    }
    for (const char *p = text; p < at; p++) line += *p == '\n';
    return line;
}
