/* levels.h - what levels.c and levelsystem.c share: one level of features, and the problems solved on it together. */
#ifndef SK_LEVELS_H
#define SK_LEVELS_H

#include "panels.h"

/* One of the problems. All have the same rows, d and lambda. */
typedef struct sk_part {
    sk_psd_inner *full; /* targets, limits, effort */
    sk_psd_point *at;   /* the certified answer */
    double *c_all;      /* pairs x q of the last level: B'z */
    double *c, *x, *gx; /* pairs x q of this level */
    /* S at x and at a trial */
    double *e, *values, *e_trial, *values_trial, *q_matrix;
    size_t positive;
    double objective, gap, first_gap;
    bool finished, moved;
    double forcing, rz, target; /* conjugate gradients */
    bool running;
    double *kappa;                /* p x p */
    float *e32, *m32, *t32, *u32; /* K in single precision */
    size_t eigendecompositions, products_count, cg_steps;
} sk_part;

/* Everything for one level at one lambda; arrays are sized for the last level once. Those of the active parts stand
 * side by side: active[i] has rows i pairs .. (i + 1) pairs - 1 of rho, dx, gdx and of the vectors on H. */
typedef struct sk_level {
    sock_context *ctx;
    const sk_psd_prepared *prepared;
    sk_psd_panels *panels;
    sk_psd_effort effort; /* seconds alone */
    size_t n, d, pairs, parts, p, q, D;
    sk_part *part;
    sk_part **active;
    size_t count;
    double lambda, eps;
    bool single;
    unsigned *first, *second; /* all pairs, in order */
    double *rho, *dx, *gdx;   /* active pairs x q */
    double *y;                /* active pairs x n */
    /* The cross H */
    size_t h;
    unsigned *h_first, *h_second;
    size_t *h_place;
    double *g, *factor, *w;                 /* h x h, h x h, h: n lambda / kappa */
    double *r, *zeta, *gzeta, *v, *gv, *av; /* active pairs x h */
    double *dx_h, *gdx_h;
} sk_level;

/* The eps that the cross H begins with at each level; a slow level takes a smaller one. */
#define SK_LEVEL_EPS 1e-2

/* Pairs whose entry on the diagonal of G exceeds eps n lambda (all of them where they are few): how many of all
 * features, before any work; and, of v, which, with G there. */
size_t sk_level_pairs(const sk_psd_prepared *prepared, double lambda, double eps);
sock_status sk_level_cross(sk_level *v);
void sk_level_cross_clear(sk_level *v);

/* x (pairs x h) := the entries of full (pairs x q) on H. */
void sk_level_restrict(const sk_level *v, size_t pairs, const double *full, double *x);

/* Newton directions of the active parts: v->dx from v->rho, to each part's forcing. */
sock_status sk_level_directions(sk_level *v);

/* Runs fn for the active parts: in parallel, or, for one, on one thread. BLAS uses one thread in both cases. */
typedef sock_status (*sk_part_fn)(sk_level *v, size_t at);
sock_status sk_level_each(sk_level *v, sk_part_fn fn);

#endif
