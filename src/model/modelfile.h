/* modelfile.h - what the parts of a model file share: terms (modelfile.c), how far they can be trusted (spreadfile.c),
 * bounds of the states (boundsfile.c). */
#ifndef SK_MODELFILE_H
#define SK_MODELFILE_H

#include "model/model.h"
#include "model/tensors.h"

typedef struct sk_saving {
    sock_context *ctx;
    sk_tensors tensors;
    sk_array **lists; /* arrays borrowed from feature maps: freed after writing */
    size_t list_count, list_capacity;
    double **owned; /* small arrays made for the file */
    size_t owned_count, owned_capacity;
} sk_saving;

/* The array ROOM.I.WHAT, borrowed until the file is written; and one made for the file, all zeros (NULL: no memory). */
sock_status sk_save_array(sk_saving *s, const char *room, size_t i, const char *what, size_t rows, size_t cols,
                          const double *values);
double *sk_save_own(sk_saving *s, size_t rows, size_t cols);

/* A drift term: its arrays, and its entry at the end of the list. */
sock_status sk_save_drift(sk_saving *s, const char *room, const sk_drift_term *term, size_t i, json_t *list);

/* All terms of a model: their arrays, and what they are. */
sock_status sk_save_terms(sk_saving *s, const sock_model *model, json_t *description);
void sk_saving_clear(sk_saving *s);

typedef struct sk_loading {
    sock_context *ctx;
    const char *path;
    sk_tensors tensors;
    size_t used; /* arrays that a term has taken */
    sock_model *model;
} sk_loading;

/* "not a valid model file: WHAT in NAME"; name may be NULL. */
sock_status sk_bad_model(const sk_loading *l, const char *what, const char *name);

/* The array ROOM.I.WHAT, or NULL; a copy of it, which must have the given shape. */
const sk_tensor *sk_find_array(const sk_loading *l, const char *room, size_t i, const char *what);
sock_status sk_take_array(sk_loading *l, const char *room, size_t i, const char *what, size_t rows, size_t cols,
                          double **out);
sock_status sk_load_drift(sk_loading *l, const char *room, size_t i, json_t *entry, sk_drift_term **out);

/* The model of a description, with all arrays; it stays with l, on failure too. spread: NULL where there is none. */
sock_status sk_load_terms(sk_loading *l, json_t *description, json_t *spread);

/* ---- modeljson.c: a model inside a JSON text, to the last bit: {"description": ..., "arrays": {NAME: [[...], ...]}}
 * ----
 */

sock_status sk_model_to_json(sock_context *ctx, const sock_model *model, json_t **out);

/* SOCK_EINPUT with the reason, which begins with `place`: where in which file the object stands. */
sock_status sk_model_of_json(sock_context *ctx, const char *place, json_t *value, sock_model **out);

/* ---- spreadfile.c: of a model with a spread, the key `spread` of the description and its arrays ---- */

sock_status sk_save_spread(sk_saving *s, const sock_model *model, json_t *description);
sock_status sk_load_spread(sk_loading *l, json_t *spread);

/* ---- boundsfile.c: of a model with bounds, the keys lower, upper and absorbing of the description ---- */

void sk_save_bounds(const sk_structure *structure, json_t *description);
sock_status sk_load_bounds(sk_loading *l, json_t *description);

#endif
