/* recordvalues.h - values of the record as JSON, by tables of keys: what recordjson.c and recordparts.c share. A row
 * names a key, the kind of its value, where it lies, and which fits tell it; the same rows write and read. */
#ifndef SK_RECORDVALUES_H
#define SK_RECORDVALUES_H

#include "api/record.h"

#include <jansson.h>

/* Which fits tell a key. */
enum {
    F = 1,          /* plain, with a drift of its own */
    GIVEN = 2,      /* plain, with the drift given */
    A = 4,          /* plain, with a diffusion */
    NO_A = 8,       /* plain, without one */
    SEARCH = 16,    /* searched by the default estimator */
    PAPER = 32,     /* by the paper's protocol */
    OPTIONAL = 256, /* no null: the key is left out where there is nothing to tell */
    TUNED = SEARCH | PAPER,
    PLAIN = A | NO_A,
    ALL = TUNED | PLAIN
};

/* What lies in the record; the value of a kind is NULL where there is nothing to tell. */
typedef enum sk_json_kind {
    NUMBER,     /* double; not finite: nothing */
    COUNT,      /* size_t */
    POSITIVE,   /* size_t; 0: nothing */
    ITERATIONS, /* long; below 0: nothing */
    FLAG,       /* bool */
    TEXT,       /* char *; NULL: nothing */
    PRESET,     /* bool: "paper", or nothing */
    VERDICT,    /* sk_verdict; unknown: nothing */
    NUMBERS,    /* sk_numbers; value NULL: nothing */
    MATRIX,     /* sk_numbers, n x n */
    LISTS,      /* sk_number_lists; empty: nothing */
    TEXTS,      /* sk_texts */
    LINES,      /* sk_texts; empty: nothing */
    OPTIONS,    /* sk_options_given */
    DRIFTS,     /* sk_parts */
    DIFFUSIONS, /* sk_parts */
    CURVE,      /* sk_search_row */
    ROWS,       /* sk_search_table */
    NOISE,      /* sk_noise_told; mode NULL: nothing */
    INPUTS,     /* sk_inputs_told; none: nothing */
    DATA,       /* sk_provenance */
    WILD,       /* sk_oddities; none: nothing */
    CODES       /* alike */
} sk_json_kind;

typedef struct sk_json_field {
    const char *key;
    sk_json_kind kind;
    unsigned fits;
    size_t offset;
    enum { HERE, DRIFT, DIFFUSION } of; /* in the record, or in its leading part */
} sk_json_field;

/* ---- Objects (recordvalues.c) ---- */

void sk_json_put(json_t *object, const sk_json_field *f, const void *base, unsigned fit);
sock_status sk_json_get(sock_context *ctx, json_t *object, const sk_json_field *f, void *base);
json_t *sk_json_write_object(const sk_json_field *fields, const void *base, unsigned fit);
sock_status sk_json_read_object(sock_context *ctx, json_t *object, const sk_json_field *fields, void *base);
json_t *sk_json_write_numbers(size_t n, const double *value);
const char *sk_json_text(json_t *object, const char *key); /* "": none */

/* ---- What has keys of its own: parts, rows of the search, noise, inputs, data (recordparts.c) ---- */

json_t *sk_json_write_part(sk_json_kind what, const void *at, unsigned fit);
sock_status sk_json_read_part(sock_context *ctx, sk_json_kind what, json_t *value, void *at);

sock_status sk_parts_new(sock_context *ctx, sk_parts *list, size_t n);
sock_status sk_parts_read(sock_context *ctx, json_t *value, sk_parts *list);

/* A part has a name, be it an empty one, and the name says whether its weights were learned. */
sock_status sk_part_name(sock_context *ctx, sk_part *part);

#endif
