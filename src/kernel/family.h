/* family.h - kernel families, seen from inside the room. A family is one row: a file of its own that defines
 * sk_NAME_family, and NAME in the list below. What a family can do is what functions its row has, so that no row
 * contradicts itself:
 *
 *     value, add_gradient, tile   k(x, y) is a formula
 *     add_pair                    K(x, y) is a d x d matrix
 *     make, count                 finite features: exact ones of the formula; without one, those of the kernel that
 *                                 the family stands for
 *
 * A formula without features is implicit. A matrix-valued family has neither formula nor features. */
#ifndef SK_FAMILY_H
#define SK_FAMILY_H

#include "kernel/kernel.h"

enum {
    SK_MAX_DEGREE = 100,
    SK_MAX_FEATURES = 1000000,
    SK_TILE = 256, /* columns of a tile */
    SK_TILE_ROWS = 16
};

/* Parameters, in the order in which messages list them. */
typedef enum sk_key_name {
    SK_KEY_ETA,
    SK_KEY_DEGREE,
    SK_KEY_P,
    SK_KEY_M,
    SK_KEY_OF,
    SK_KEY_SEED,
    SK_KEY_SCALE,
    SK_KEY_B,
    SK_KEY_IN,
    SK_KEY_BOUNDS,
    SK_KEYS
} sk_key_name;

#define SK_BIT(key) (1u << (key))

typedef struct sk_part sk_part;
typedef struct sk_stored sk_stored;

/* A piece of a block: nx rows and at most SK_TILE columns. */
typedef struct sk_tile {
    sock_context *ctx;
    size_t d, nx, columns;
    const double *x, *y; /* y: the tile's points */
    double *out;         /* the tile's first column */
    size_t ld;
    bool first;    /* set out, do not add to it */
    double *space; /* (d + SK_TILE_ROWS) * SK_TILE */
} sk_tile;

/* The d x d block at out (rows of length ld) of one pair of points. */
typedef struct sk_pair {
    size_t d, ld;
    const double *x, *y;
    double *out;
} sk_pair;

/* What features are made from. */
typedef struct sk_making {
    sock_context *ctx;
    const char *option; /* for messages */
    size_t place;       /* of the term in the sum: random features of two terms differ */
    size_t count;
    const double *x; /* count x d points; none when a stored map is made again */
} sk_making;

struct sk_family {
    const char *name;
    unsigned keys; /* parameters it takes; 0: it has no text (the user's own function) */
    size_t p;      /* p or m when none is given; 0: from the data */
    const sk_family
        *stands_for; /* features of this kernel; NULL: of the term's `of` where it takes one, else its own */
    bool polynomial; /* the features are monomials */
    bool separate;   /* a diffusion has a matrix for each feature, and no products of two */

    /* SOCK_EUSAGE when it does not suit states of d dimensions; NULL: it suits all. */
    sock_status (*check)(sock_context *ctx, const char *option, size_t d);

    /* k(x, y) without B; its gradient in x added to gradient (d); and out = or += the kernel at all pairs of a tile,
     * row by row through sk_tile_put. */
    double (*value)(const sk_term *term, size_t d, const double *x, const double *y);
    void (*add_gradient)(const sk_term *term, size_t d, const double *x, const double *y, double *gradient);
    void (*tile)(const sk_tile *t, const sk_term *term);

    /* out += K(x, y). */
    void (*add_pair)(const sk_pair *b, const sk_term *term);

    /* Fills *part, which is all zeros but for d and term; on failure the caller clears it. load does it from the arrays
     * of a file; NULL: nothing is stored, and make needs no points. */
    sock_status (*make)(const sk_making *m, sk_part *part);
    sock_status (*load)(sk_stored *s, sk_part *part);
    /* Features in d dimensions (points permitting); of an implicit family: max_rank. */
    double (*count)(const sk_term *term, size_t d, size_t max_rank);
};

/* The table: a row is a line here, in the order in which messages list them. */
#define SK_FAMILIES(row)                                                                                               \
    row(gauss) row(poly) row(linear) row(affine) row(constant) row(fourier) row(nystrom) row(curlfree) row(divfree)    \
        row(rates) row(callback)

#define SK_DECLARE_FAMILY(name) extern const sk_family sk_##name##_family;
SK_FAMILIES(SK_DECLARE_FAMILY)
#undef SK_DECLARE_FAMILY

/* All rows, with NULL behind the last. */
extern const sk_family *const sk_families[];

bool sk_family_is_closed(const sk_family *family); /* k(x, y) is a formula */
bool sk_family_takes(const sk_family *family, sk_key_name key);
bool sk_family_is(const sk_family *family, sk_kind kind);

/* The family whose parameters the term has, and in whose closed form it stands: that of `of` for nystrom, gauss for
 * fourier, its own otherwise. */
const sk_family *sk_term_base(const sk_term *term);
bool sk_term_needs_eta(const sk_term *term);

/* A kernel of `count` copied terms (B too). */
sock_status sk_kernel_from_terms(sock_context *ctx, size_t count, const sk_term *terms, sk_kernel **out);

/* ---- Roots of bounded states (rootcoordinates.c) ---- */

/* Whether the term's features are of these coordinates, and how many there are in d dimensions. */
bool sk_term_is_bounded(const sk_term *term);
size_t sk_root_dim(const sk_term *term, size_t d);

/* u (count x sk_root_dim) of the points x (count x d). */
void sk_root_coordinates(const sk_term *term, size_t d, size_t count, const double *x, double *u);

/* d u_j / d x_k of the state k of coordinate j at a point, 0 outside the bounds; *state: k. */
double sk_root_slope(const sk_term *term, size_t d, size_t j, const double *x, size_t *state);

/* The state of coordinate j; *upper: it is the root of the distance to the upper bound. */
size_t sk_root_state(const sk_term *term, size_t d, size_t j, bool *upper);

/* Row i of the tile: out = or += scale * value. */
void sk_tile_put(const sk_tile *t, size_t i, const double *value, double scale);

#endif
