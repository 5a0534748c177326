/* device.h - work that may be done elsewhere: what a plugin offers. A plugin is a shared library with one symbol,
 *
 *     int sock_device_open(int abi, size_t size, int number, sk_device *out);
 *
 * which the host calls with SK_DEVICE_ABI, the size of sk_device and the number of a card; `out` has the host's part
 * filled in. It answers SK_DEVICE_DONE, or another word with the reason in out->about. The host has code of its own for
 * every operation: one that is NULL, or answers SK_DEVICE_MEMORY or SK_DEVICE_CANNOT, is done by the host.
 *
 * Operations, not products: a matrix takes longer to travel than to be multiplied, so a whole sum, a whole solution, a
 * whole set of paths is asked for. Arrays are plain, row-major, in the memory of the host, and belong to the caller.
 * The host makes one call at a time. This header stands alone: a plugin includes nothing else of the library. */
#ifndef SK_DEVICE_H
#define SK_DEVICE_H

#include <stddef.h>
#include <stdint.h>

enum { SK_DEVICE_ABI = 3 };

/* What an operation answers. MEMORY: not enough of the device's. CANNOT: not for this problem. NUMERIC: not positive
 * definite. FAILED: anything else, the device may be lost. BROKEN: nor can the host go on. */
enum {
    SK_DEVICE_DONE,
    SK_DEVICE_MEMORY,
    SK_DEVICE_CANNOT,
    SK_DEVICE_NUMERIC,
    SK_DEVICE_CANCELLED,
    SK_DEVICE_FAILED,
    SK_DEVICE_BROKEN,
    SK_DEVICE_OTHER_ABI,
    SK_DEVICE_NONE
};

/* ---- Sums: G = sum w b b', c = sum w z b over rows, b = svec of sum_a W_ia phi_a phi_a' (psd/psd.h) ---- */

typedef struct sk_device_shape {
    size_t p;       /* features; b has q = p (p + 1) / 2 entries */
    size_t systems; /* weights of a row, a G for each */
    size_t parts;   /* sets of rows whose G are kept apart */
    size_t sides;   /* sets of targets */
    size_t columns; /* of each set, the systems' one behind the other */
    size_t rows;    /* in all */
} sk_device_shape;

typedef struct sk_device_rows {
    size_t n, nodes;
    const double *phi;      /* nodes x p */
    const size_t *row;      /* n + 1: entries row[i] .. row[i+1]-1 belong to row i */
    const size_t *node;     /* row[n] nodes */
    const double *weight;   /* and their weights W */
    size_t part;            /* which G */
    const double *w;        /* n x systems: weights of rows */
    const double *const *z; /* sides: n x columns, weighted; NULL: these rows have no part in it */
} sk_device_rows;

/* ---- Levels: min over Q >= 0 of (zz - 2 <c, x> + <x, G x>) / n + lambda |Q|^2, x = svec of the blocks of Q ---- */

typedef struct sk_device_gram {
    size_t n, p, d;
    const double *g;              /* q x q, both triangles; or NULL: that of */
    const void *sums;             /* these, which have been read; NULL: of g */
    const double *c;              /* d (d + 1) / 2 x q */
    double zz, lambda, tolerance; /* of the gap, relative */
    size_t most;                  /* steps */
} sk_device_gram;

/* The dual point, and what follows from it: S = (2/n) (c - G x0) as a matrix = E' diag(values) E, Q = S_+ / (2 lambda).
 */
typedef struct sk_device_answer {
    double *x0;     /* d (d + 1) / 2 x q; on entry where to start, with `warm` */
    double *gx0;    /* G x0 */
    double *x, *gx; /* svec of the blocks of Q, G x */
    double *values; /* pd, ascending */
    double *e;      /* pd x pd: row i is the eigenvector of values[i] */
    size_t steps, decompositions, gradients;
    double factor, eigen, directions; /* seconds: of the inverse, of decompositions, of conjugate gradients */
    int warm;
} sk_device_answer;

/* ---- Kernels, as sums of terms: scale exp(factor |x - y|^2), or scale (x.y + shift)^degree ---- */

typedef struct sk_device_term {
    double scale, factor, shift;
    unsigned degree, gauss; /* gauss: the first form */
} sk_device_term;

/* ---- Exact: alpha of (W k(X, X) W' + shift 1) alpha = b ---- */

typedef struct sk_device_system {
    size_t n, nodes, d, columns;
    const double *x; /* nodes x d */
    const size_t *row, *node;
    const double *weight;
    size_t terms;
    const sk_device_term *term;
    double shift;
    const double *b; /* n x columns */
} sk_device_system;

/* ---- Simulate: Euler steps of dx = f dt + C dW, a = C C' ---- */

enum { SK_DEVICE_FOURIER, SK_DEVICE_MONOMIALS, SK_DEVICE_KERNEL };

/* Features of (x - origin) / scale, a matrix behind them. */
typedef struct sk_device_piece {
    int kind;
    size_t p, columns;
    const double *origin, *unit; /* d each; NULL: 0 and 1 */
    const double *coefficient;   /* p x columns */
    const double *omega, *beta;  /* Fourier: p x d, p: size cos(frequency omega.x + beta) */
    double size, frequency;
    const unsigned *power; /* monomials: p x d; of weight `beta` */
    const double *point;   /* kernel: p x d points */
    size_t terms;
    const sk_device_term *term;
    int drift; /* the first d columns are f */
} sk_device_piece;

/* Columns first .. of a piece are a factor of a: d blocks of `rank`, or rank columns each of one component. */
typedef struct sk_device_factor {
    size_t piece, first, rank;
    const size_t *owner; /* rank; NULL: blocks */
} sk_device_factor;

typedef struct sk_device_paths {
    size_t d, starts, paths, times;
    const double *x0, *t; /* starts x d; times, growing */
    const size_t *steps;  /* times - 1: inner steps of each gap */
    uint64_t seed, purpose, first_start;
    size_t pieces, factors;
    const sk_device_piece *piece;
    const sk_device_factor *factor;
    int noisy;
    double floor;                /* added to the diagonal of a */
    int bounds;                  /* 0: none, 1: clip, 2: reflect */
    const double *lower, *upper; /* d each, infinite where there is none */
    double *out;                 /* starts paths x times x d; NaN once a path is lost */
    double *lost_at;             /* starts paths: infinite, or the time */
} sk_device_paths;

/* ---- The device ---- */

typedef struct sk_device {
    int abi;
    size_t size;                  /* of this structure, as the plugin knows it */
    int (*cancelled)(void *user); /* the host's: whether to stop; asked now and then */
    void *user;
    char name[32], about[160]; /* "cuda:0"; the card, or why there is none */
    double memory;             /* bytes that are free */
    void *state;

    int (*sums_begin)(void *state, const sk_device_shape *shape, void **sums);
    int (*sums_add)(void *state, void *sums, const sk_device_rows *rows);
    /* Reads G (parts x systems x q x q, both triangles) and c (sides x columns x q), and what they are short of
     * (sums.h); NULL: not wanted. No rows are added after that; a G that is the only one stays there, for levels, and
     * may be read later, alone. */
    int (*sums_end)(void *state, void *sums, double *g, double *g_low, double *c, double *c_low);
    void (*sums_drop)(void *state, void *sums);
    int (*levels)(void *state, const sk_device_gram *problem, sk_device_answer *answer);
    int (*exact)(void *state, const sk_device_system *problem, double *alpha);
    int (*simulate)(void *state, const sk_device_paths *job);
    const char *(*error)(void *state); /* of the last call that did not go well */
    void (*close)(void *state);
} sk_device;

typedef int (*sk_device_open_fn)(int abi, size_t size, int number, sk_device *out);

#endif
