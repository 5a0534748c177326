/* view.h - what one model says of a block of transitions. A view is made, used and freed; it is never changed.
 * Candidates are compared on its rows, by the likelihood of a second-order Gaussian transition,
 *
 *     next | y  ~  N(y + I f,  C),   C = F (I a) F' + eps 1,   F = 1 + h/2 Jf(y) + O(h^2) (longsteps.c),
 *
 * where I g is the conditional quadrature of g over the step. The jitter eps stands in the data term as well,
 * tr C^-1 (e e' + eps 1), so that it does not pull a down. */
#ifndef SK_VIEW_H
#define SK_VIEW_H

#include "occupation/residuals.h"
#include "occupation/transitions.h"

/* A model as this room sees it: f (count x d) and a (count x d x d) at points x, states and then inputs; either may be
 * NULL. */
typedef sock_status (*sk_fields_fn)(sock_context *ctx, const void *model, size_t count, const double *x, double *f,
                                    double *a);

/* out (n x d x d) = I a over the rows of a rule at once; *done is false where the model must be asked node by node. */
typedef sock_status (*sk_integral_fn)(sock_context *ctx, const void *model, const sk_rule *rule, double *out,
                                      bool *done);

/* How to look at transitions. */
typedef struct sk_view_spec {
    sk_fields_fn fields;
    sk_integral_fn integral; /* NULL: node by node */
    const void *model;       /* NULL: none, the covariance of all increments is a */
    bool conditional;        /* quadrature conditional on the left end; else the left point */
    bool diagonal;           /* a is, so the components can be weighted apart */
    bool weighted;           /* rows of the drift weighted by precision, those of the diffusion by size */
    double eps;              /* jitter of the likelihood */
    double resolution;       /* mean square of the smallest change a coordinate can show; 0: as fine as you like */
    double density;          /* added to the score of a row, so that it is that of the data: - sum log of the units */
    double keep;             /* views are kept up to so many bytes; 0: the usual */
} sk_view_spec;

/* Medians over the transitions that move; of a large number of them, over some that stand for all. */
typedef struct sk_typical {
    double mean;  /* of tr(h a) / d */
    double size;  /* of |h a|_F */
    double *part; /* d: of (h a)_kk */
} sk_typical;

typedef struct sk_view {
    sk_view_spec spec;
    size_t n, d, begin, fold, folds; /* rows begin .. begin+n-1 of `of`; all of one fold (folds: always) */
    const sk_transitions *of;        /* the transitions, or those of a block that a store gave */
    sk_transitions *own;             /* the latter */
    const double *y, *next, *h;
    const size_t *cluster;
    const sk_typical *typical;
    double *t;            /* n x d: what the drift is fitted to, next - y */
    sk_rule *rule;        /* conditional, or the left point */
    double *left;         /* n x d x d: F */
    double *integral;     /* n x d x d: I a */
    double *precision;    /* n x d x d: weights of the drift's rows, (h a + a share of the typical mean)^-1 */
    double *part;         /* n x d: (h a)_kk */
    double *size;         /* n: |h a|_F */
    double *inverse;      /* n x d x d: C^-1 */
    double *offset;       /* n: the part of the score that the residual does not change */
    struct sk_view *self; /* for who has to free it */
} sk_view;

/* The views of all blocks of some transitions under one model. Where they are small all are made at once and kept, else
 * each is made when it is taken. Borrows the transitions and the model. */
typedef struct sk_views sk_views;
sock_status sk_views_new(sock_context *ctx, const sk_transitions *t, const sk_view_spec *spec, sk_views **out);
void sk_views_free(sk_views *views);
const sk_transitions *sk_views_rows(const sk_views *views);
const sk_view_spec *sk_views_spec(const sk_views *views);
bool sk_views_kept(const sk_views *views);
const sk_typical *sk_views_typical(const sk_views *views);

/* The view of block b, to be given back. SOCK_ENUMERIC names the first row whose covariance is not positive definite.
 */
sock_status sk_views_take(sock_context *ctx, const sk_views *views, size_t b, const sk_view **out);
void sk_views_give(const sk_views *views, const sk_view *view);

/* The trapezoid over the two ends of each row of a view. */
sock_status sk_view_ends(sock_context *ctx, const sk_view *v, sk_rule **out);

/* work(arg, view) for every block: one after the other on the calling thread where views are kept, else on all
 * threads, as sk_blocks_each says. */
typedef sock_status (*sk_view_fn)(sock_context *ctx, void *arg, const sk_view *view);
sock_status sk_views_each(sock_context *ctx, const sk_views *views, sk_view_fn work, void *arg);

/* ---- Long steps (longsteps.c) ---- */

/* m (d x d): h/2 J on entry, F on exit. f (d) and a (d x d) of the left end: those of the nodes on exit. space: 2 d^2.
 */
void sk_long_step(size_t d, double *m, double *f, double *a, double *space);

/* ---- Typical rows ---- */

/* The median over the transitions that move (over all where none does) of `count` numbers >= 0, one for every
 * stride-th row; where it is 0, the largest. */
sock_status sk_typical_value(sock_context *ctx, const sk_transitions *t, size_t stride, const double *value,
                             double *out);

/* ---- Score (stepdensity.c) ---- */

/* Log likelihoods of the rows begin .. end-1 of the view under the view's a; e: the residuals of row begin, those of
 * the next one `stride` numbers on. */
void sk_view_quick_scores(const sk_view *v, size_t begin, size_t end, size_t stride, const double *e, double *score);

/* log N(e; 0, C) - eps tr C^-1 / 2: the jitter eps that stands in C stands in the data too. C is d x d, of which the
 * lower half is read; -infinity where it is not positive definite. space: d^2 + d. */
double sk_log_density(size_t d, const double *c, const double *e, double eps, double *space);

/* Log likelihoods of the rows begin .. end-1 of the view, the numbers to be maximised, into score[0 .. end-begin-1]:
 * -infinity where a covariance is not positive definite. e (n x d) and integral (n x d x d): residuals and I a of all
 * its rows; floor h 1 is added to each I a. space: sk_scores_space(d), aligned as sk_doubles does. */
size_t sk_scores_space(size_t d);
void sk_view_scores(const sk_view *v, size_t begin, size_t end, const double *e, const double *integral, double floor,
                    double *score, double *space);

/* The same for residuals 0 under the view's a, with a share of the typical variance, into offset, and C^-1 of these
 * rows into inverse (n x d x d): what drifts are judged by. */
void sk_view_inverses(const sk_view *v, size_t begin, size_t end, double *offset, double *inverse, double *space);

/* ---- Residuals (residuals.c): the only place where they are formed ---- */

/* e := t - e for the rows begin .. end-1, e being I f of `sets` drifts side by side: (end - begin) x sets x d. */
void sk_residuals(const sk_view *v, size_t begin, size_t end, size_t sets, double *e);

/* E[e e'] = F (I a) F' to first order in h: F^-1 is applied to the residuals of `sets` drifts, sets x n x d, so that
 * their products are what a linear fit of a wants. */
sock_status sk_residuals_correct(sock_context *ctx, const sk_view *v, size_t sets, double *e);

#endif
