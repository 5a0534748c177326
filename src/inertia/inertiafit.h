/* inertiafit.h - the fit of second-order dynamics: positions observed, velocities not. A filter of the current model
 * over (x, v) gives rows for the force F, rows for a, and by products of neighbouring innovations the noise R of the
 * observations. See docs/second-order.md.
 *
 *   start       F = 0; a and R from products of second differences
 *   iterations  filter pass; R; force; diffusion; a guard by the likelihood
 *   verdict     held-out likelihood of the innovations, with R against without */
#ifndef SK_INERTIAFIT_H
#define SK_INERTIAFIT_H

#include "noise/noisefit.h"
#include "score/inertia.h"
#include "tune/folds.h"

/* What the fit works on. Positions in the units of the rows, time in units in which velocities spread by 1. */
typedef struct sk_inertial {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sk_row_sets sets;
    sk_transitions rows; /* all of them, with position and velocity as coordinates of a node; shares arrays with sets */
    double *left, *zero, *scale; /* its own ones */
    sk_measured m;               /* series and runs */
    sk_frame frame;              /* of positions and velocities */
    sk_candidates list;
    double clock;           /* units of time in one of the data */
    bool kinematic;         /* rows as in several dimensions, for the tests */
    sk_search_table *table; /* where the fits of the sweeps are told; NULL: nowhere */
} sk_inertial;

sock_status sk_inertial_new(sock_context *ctx, const sk_tune_spec *spec, sk_inertial *out);
void sk_inertial_clear(sk_inertial *w);

/* ---- inertiamodel.c ---- */

/* A model of 2d states that moves freely: f = (v, 0), a = 0; names: of the positions, NULL: x0, x1, .... */
sock_status sk_free_motion(sock_context *ctx, size_t d, const char *const *names, sock_model **out);

/* The force, and the diffusion, of a trial without fold f (folds: of all rows) as terms of such a model. */
sock_status sk_add_force(sock_context *ctx, const sk_trial *trial, size_t f, sock_model *to);
sock_status sk_add_kicks(sock_context *ctx, const sk_trial *trial, size_t f, sock_model *to);

/* A constant diffusion A (d x d) of the velocities. */
sock_status sk_add_constant_kicks(sock_context *ctx, size_t d, const double *a, sock_model *to);

/* The model in the units of the data. */
sock_status sk_inertial_restore(const sk_inertial *w, const sock_model *from, const double *noise, sock_model **out);

/* ---- inertiarows.c ---- */

/* What a filter pass says to the fits. */
typedef struct sk_inertial_rows {
    const sk_inertia_pass *pass;
    sk_lift lift;
    size_t n, d;
    double *target;      /* n x d: e and what the current force has done to the prediction */
    double *white;       /* n x d x d: (S + a share of the typical one)^-1 = white' white; 0 where it does not count */
    unsigned char *good; /* n: the step counts */
    double *noise;       /* n: the row of R */
    double *length;      /* n: the row of a = 1 */
    double *spread;      /* n x d x d: S by the rows, which are kinematic in several dimensions */
    double *tint;        /* n x d x d: brings e to that variance */
    double *typical;     /* 1 + d: medians of |S| and of its diagonal */
} sk_inertial_rows;

sock_status sk_inertial_rows_new(const sk_inertial *w, const sk_inertia_pass *pass, const double *noise,
                                 sk_inertial_rows *out);
void sk_inertial_rows_clear(sk_inertial_rows *r);

/* Whole runs of one fold, about so many steps at a time. */
enum { SK_INERTIA_PIECE = 1024 };
typedef sock_status (*sk_inertial_work)(void *arg, size_t begin, size_t end, size_t fold);
sock_status sk_inertial_each(const sk_inertial *w, sk_inertial_work work, void *arg);

/* Rows of the force, (end - begin) x p. */
sock_status sk_inertial_means(const sk_inertial *w, const sk_inertial_rows *r, const sk_features *map, size_t begin,
                              size_t end, double *psi);

/* svec rows of the diffusion, (end - begin) x q; square (p, or NULL) += phi^2 over the nodes. */
sock_status sk_inertial_products(const sk_inertial *w, const sk_inertial_rows *r, const sk_features *map, size_t begin,
                                 size_t end, double *b, double *square);

/* What a force leaves of the innovations: n x d, by its solution f. */
sock_status sk_inertial_residuals(const sk_inertial *w, const sk_inertial_rows *r, const sk_trial *trial, size_t f,
                                  double *out);

/* ---- inertiadrift.c, inertiadiffusion.c ---- */

/* As sk_noise_drifts and sk_noise_diffusions. e (n x d): what the force leaves; noise: R after its step; floor (d):
 * least a. */
sock_status sk_inertial_drifts(const sk_inertial *w, const sk_inertial_rows *r, const sk_sweep *sweep, sk_trial **trial,
                               size_t *best);

typedef struct sk_inertial_kicks {
    const sk_inertial_rows *rows;
    const double *e, *noise, *floor;
} sk_inertial_kicks;
sock_status sk_inertial_diffusions(const sk_inertial *w, const sk_inertial_kicks *k, const sk_sweep *sweep, bool folds,
                                   sk_trial **trial, size_t *best);

/* ---- inertianoise.c ---- */

/* From products of second differences: a (d) and, noisy, R (d); else R is 0. */
sock_status sk_inertial_start(const sk_inertial *w, bool noisy, double *a, double *r);

/* R (d) by least squares from the innovations and products of neighbours, with the scale of each a_kk; error (d):
 * standard errors. noise: d x d, the current one. pull (n x d, or NULL): by how much each R_kk moves with the square of
 * an innovation. */
sock_status sk_inertial_noise(const sk_inertial *w, const sk_inertial_rows *rows, const double *noise, double *r,
                              double *error, double *pull);

/* ---- inertialoop.c ---- */

typedef struct sk_inertial_fit {
    sk_noisy now;
    sk_inertia_pass pass; /* of it */
    sk_trial *drift[SK_MOST], *diffusion[SK_MOST];
    size_t f, a;
    bool behind_f[SK_MOST], behind_a[SK_MOST];
    double *error; /* d: of R */
    double *floor; /* d: least a */
    double *held;  /* steps: held-out log densities; NULL: there is no such fit */
    size_t iterations;
} sk_inertial_fit;

/* The whole fit, held-out densities too. most: iterations. */
sock_status sk_inertial_run(const sk_inertial *w, bool noisy, size_t most, sk_inertial_fit *out);
void sk_inertial_fit_clear(sk_inertial_fit *fit);

/* ---- inertiaspread.c ---- */

/* Bands of a model in the units of the data, made of a fit by sk_inertial_restore; without them where the numbers do
 * not allow it. */
sock_status sk_inertial_spread(const sk_inertial *w, const sk_inertial_fit *fit, sock_model *model);

/* ---- inertiastage.c ---- */

/* As sk_tune, for positions of second-order dynamics. */
sock_status sk_tune_inertia(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told);

#endif
