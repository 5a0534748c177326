/* oracle.h - expected values, made by an independent program: the JSON files of tests/data. */
#ifndef SK_ORACLE_H
#define SK_ORACLE_H

#include "test.h"

#include <jansson.h>
#include <string.h>

static inline json_t *oracle_load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    json_t *root = json_load_file(path, 0, NULL);
    if (!root) fail_msg("cannot read %s", path);
    return root;
}

/* All numbers of a nested list, in order. */
static inline size_t oracle_flatten(json_t *value, double *out, size_t at)
{
    if (!json_is_array(value)) {
        out[at] = json_number_value(value);
        return at + 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++) at = oracle_flatten(json_array_get(value, i), out, at);
    return at;
}

/* The list at "a.b.c" as an array of its own (freed by the caller); *count gets its length. */
static inline double *oracle_numbers(json_t *root, const char *path, size_t *count)
{
    char word[256];
    json_t *value = root;
    while (value && *path) {
        size_t length = strcspn(path, ".");
        snprintf(word, sizeof word, "%.*s", (int)length, path);
        value = json_object_get(value, word);
        path += length + (path[length] == '.');
    }
    if (!value) fail_msg("the oracle has no '%s'", word);
    double *out = calloc(100000, sizeof *out);
    size_t n = oracle_flatten(value, out, 0);
    if (count) *count = n;
    return out;
}

#endif
