/* explain.h - what an equation means within a range of its states: where it rests, how it is spread, how long changes
 * take. Formulas and conventions: docs/explain.md.
 *
 *  asker.c        f and a of a model at points of the states, at fixed inputs
 *  fixedpoints.c  f = 0: where, eigenvalues of the Jacobian, by Newton's method
 *  linepanels.c   integrals along a line: nodes, and what is moved along by exp(int 2 f / a)
 *  landscape.c    one dimension: wells, barriers, stationary density, escape and relaxation times
 *  plane.c        two dimensions: the Fokker-Planck equation on a grid; current, entropy production
 *  explainjson.c  the object that a user gets
 *  explained.c    all of it as one list of numbers, of the model and of draws of it: errors
 *
 * Every number of a draw stands at the place of the model's own. NaN: it has none. */
#ifndef SK_EXPLAIN_H
#define SK_EXPLAIN_H

#include "model/model.h"

/* A number with what the draws say of it: low <= value <= high. */
typedef struct sk_told {
    double value, se, low, high; /* NaN: not known; infinite: longer than any number */
    double share;                /* of the draws that have it */
} sk_told;

/* ---- asker.c ---- */

/* Who asks a model for its fields, on one thread and without allocating. */
typedef struct sk_asker {
    sock_context *ctx;
    const sock_model *model;
    size_t d, in;
    const double *lower, *upper; /* d: the range */
    double *z, *space;
} sk_asker;

/* u: a value for each input. All pointers stay the caller's and must outlive it. */
sock_status sk_asker_new(sock_context *ctx, const sock_model *model, const double *lower, const double *upper,
                         const double *u, sk_asker **out);
void sk_asker_free(sk_asker *ask);

/* f (count x d) and a (count x d x d) at x (count x d); either may be NULL. */
void sk_ask(const sk_asker *ask, size_t count, const double *x, double *f, double *a);

/* x of state k, 0 where it is next to nothing beside the range: rounding would be shown as a number like 3e-18. */
double sk_not_rounding(const sk_asker *ask, size_t k, double x);

/* ---- fixedpoints.c ---- */

/* Where f is 0 within the range: *x gets count x d numbers, freed with sk_free.
 */
typedef struct sk_fixed {
    size_t count;
    double *x;
    bool lines; /* f is 0 along lines, or in whole regions: such points are not among them */
} sk_fixed;

sock_status sk_fixed_find(const sk_asker *ask, uint64_t seed, sk_fixed *out);

/* The fixed point that Newton's method reaches from x0: its place, the real and the imaginary parts of its eigenvalues
 * (slowest last: falling real parts' size), its relaxation time (NaN: not stable). 3 d + 1 numbers, NaN where there is
 * none in the range. */
sock_status sk_fixed_numbers(const sk_asker *ask, const double *x0, double *out);

/* "stable", "stable node", "stable focus", "saddle", ... from the eigenvalues; static storage. */
const char *sk_fixed_type(size_t d, const sk_told *re, const sk_told *im);

/* ---- linepanels.c ---- */

enum { SK_PANEL_NODES = 5 };

/* A line cut into panels with Gauss' nodes. G = int 2 f / a. */
typedef struct sk_panels {
    size_t count;
    double *edge;          /* count + 1 */
    double *x, *f, *a, *g; /* nodes: g = 2 f / a */
    double *inner;         /* nodes: G from the beginning of the panel */
    double *across;        /* count: G over the panel */
    double *level;         /* count + 1: G at the edges, from the lower end */
} sk_panels;

/* edge: rising, copied. */
sock_status sk_panels_new(const sk_asker *ask, size_t count, const double *edge, sk_panels **out);
void sk_panels_free(sk_panels *p);

/* int of what stands at the nodes, over panels begin .. end - 1; and to each node from the beginning of panel `from`.
 */
double sk_panels_sum(const sk_panels *p, const double *at, size_t begin, size_t end);
void sk_panels_primitive(const sk_panels *p, const double *at, size_t from, double *out);

/* S(y) = int_lower^y e^(G(z) - G(y)) r(z) dz at the nodes of panels begin .. end - 1, from the beginning of the first;
 * backward: int_y^upper, from the end of the last. Nothing overflows that is not itself too large. */
void sk_panels_carry(const sk_panels *p, const double *r, size_t begin, size_t end, bool backward, double *out);

/* ---- landscape.c ---- */

/* Places of the numbers of one dimension; W wells. */
enum {
    SK_LINE_MEAN,
    SK_LINE_SD,
    SK_LINE_RELAXATION,
    SK_LINE_ENDS, /* 2: density at the ends over its largest */
    SK_LINE_TABLE = SK_LINE_ENDS + 2
};
enum { SK_ESCAPE_HEIGHT, SK_ESCAPE_TO_BARRIER, SK_ESCAPE_TO_WELL, SK_ESCAPE_NUMBERS };

/* Behind SK_LINE_TABLE: the potential and the density at SK_EXPLAIN_TABLE points, the wells, the barriers, and for each
 * barrier SK_ESCAPE_NUMBERS from the lower well and as many from the upper one. */
size_t sk_line_size(size_t wells);
size_t sk_line_wells(void);                               /* where the wells begin */
size_t sk_line_escape(size_t wells, size_t i, bool down); /* where the escapes over barrier i begin */

/* How many wells the model has; *reason (static storage or made by the caller's context) why nothing is told, or "".
 * reason: 200 letters. */
sock_status sk_line_look(const sk_asker *ask, size_t *wells, char *reason);

/* Its numbers; those of wells are NaN where it has not `wells` of them. */
sock_status sk_line_numbers(const sk_asker *ask, size_t wells, double *out);

/* ---- plane.c ---- */

enum { SK_PLANE_MEAN, SK_PLANE_SD = 2, SK_PLANE_CORRELATION = 4, SK_PLANE_ENTROPY, SK_PLANE_EDGES, SK_PLANE_NUMBERS };

/* Density (n x n) and current (n x n each) at the centres of cells, state 0 slowest; NULL: not wanted. */
typedef struct sk_plane_fields {
    double *p, *j[2];
} sk_plane_fields;

/* On n x n cells: SK_PLANE_NUMBERS numbers, NaN and a reason (200 letters, or NULL) where they are not to be had. */
sock_status sk_plane_numbers(const sk_asker *ask, size_t n, double *out, const sk_plane_fields *fields, char *reason);

/* ---- explained.c ---- */

typedef struct sk_explained {
    size_t d, wells, draws; /* draws: of which errors were made; 0: none */
    sk_fixed fixed;
    double *beyond;  /* place and eigenvalues, as of sk_fixed_numbers, of the nearest one outside; NULL: none */
    bool stationary; /* the numbers of line or plane are there */
    char stationary_reason[200]; /* else why not */
    char draws_reason[200];
    size_t size;     /* of all numbers: those of the fixed points, then line or plane */
    sk_told *number; /* size */
    double *table;   /* plane: means of p, j0, j1 over SK_EXPLAIN_GRID^2 cells; NULL else */
    double grid;     /* plane: what the fine grid's entropy production is off by, from the coarse one's */
} sk_explained;

/* Where the numbers of the fixed points end. */
size_t sk_explained_line(const sk_explained *e);

/* *out is cleared with sk_explained_clear; nothing is there when it fails. */
sock_status sk_explain(sock_context *ctx, const sock_model *model, const double *lower, const double *upper,
                       const double *u, uint64_t seed, sk_explained *out);
void sk_explained_clear(sk_explained *e);

/* ---- explainjson.c ---- */

/* The range, and what was asked of it. */
typedef struct sk_explain_range {
    double *lower, *upper; /* d */
    double farther[2];     /* of one state: the same, up to bounds of the model that are near */
    const double *u;       /* inputs */
    const char *from;      /* "options", "fit" or "data" */
} sk_explain_range;

/* What the law hangs on beside the model; NULL: nothing. */
const char *sk_explained_caveat(const sock_model *model, const sk_explain_range *range, const sk_explained *e);

/* The object of docs/explain.md, without what is told of data. */
json_t *sk_explained_object(const sock_model *model, const sk_explain_range *range, const sk_explained *e);

#endif
