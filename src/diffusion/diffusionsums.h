/* diffusionsums.h - the sums over rows that a diffusion with few features is solved from, by fold:
 *
 *     G = sum w b b',     c = sum w z b,     zz = sum w |z|^2,
 *
 * b = svec of the feature products of a row integrated over the trapezoid of its two ends, z the products of its
 * residuals by the drift without the fold, w its weight. Blocks of rows are added, sums of two sets of rows merged, and
 * the solution without a fold comes from the total less the share of that fold. A diagonal a is d systems of one
 * dimension, each with weights of its own. */
#ifndef SK_DIFFUSIONSUMS_H
#define SK_DIFFUSIONSUMS_H

#include "diffusion/diffusion.h"
#include "occupation/view.h"

/* A block of rows, with what a drift leaves of them: without each fold and from all rows, (folds + 1) x n x d. */
typedef struct sk_block {
    const sk_view *view;
    const double *e; /* residuals */
    const double *z; /* the same as a is fitted to them, see sk_residuals_correct */
    double *own[2];  /* for who has to free them */
} sk_block;

/* Few features for each component of a diagonal a, instead of all p of the map. */
typedef struct sk_picks {
    size_t d, p;
    size_t each;     /* so many for each; 0: all of them */
    size_t *feature; /* d x each, rising: places among the p */
} sk_picks;

typedef struct sk_diffusion_sums {
    const sk_features *map;     /* borrowed */
    sk_picks picks;             /* borrowed */
    size_t p, q, d, folds;      /* p: features of a system, q: their products */
    size_t used;                /* folds that will be left out; c and zz are made for these and for all rows */
    size_t systems, dim, pairs; /* dim: d of one system; pairs: dim (dim + 1) / 2 */
    double *g;      /* (folds + 2) x systems x q^2: each fold, always, total; without folds `always` is the total */
    double *c;      /* (used + 1) x systems x pairs x q */
    double *zz;     /* (used + 1) x systems */
    size_t *rows;   /* folds + 2 */
    double *square; /* p: sum of phi^2 over the nodes of the rows */
    size_t nodes;   /* how many */
    double h2;      /* sum of h^2 */
    double *weight; /* systems: sum of row weights */
    double *low; /* of sums that do not show the order of blocks: what g, c, zz, square, weight and h2 are short of, one
                    after the other; else NULL */
    struct sk_device_sums *device; /* G and c are summed up there; NULL: here */
    struct sk_device_sums *kept;   /* the same, when it has been fetched and its G is still there */
    double *probe;                 /* p: what G on the device is looked at by; NULL: it will not be used there */
    bool filled;                   /* g has been set: to 0, for rows that are summed up here, or from a device */
    bool absent;                   /* g of the kept ones was not fetched */
} sk_diffusion_sums;

sock_status sk_diffusion_sums_new(sock_context *ctx, const sk_features *map, const sk_view *like, bool diagonal,
                                  size_t used, sk_diffusion_sums **out);

/* The same for a diagonal a with few features for each component. */
sock_status sk_diffusion_sums_picked(sock_context *ctx, const sk_features *map, const sk_view *like,
                                     const sk_picks *picks, size_t used, sk_diffusion_sums **out);
void sk_diffusion_sums_free(sk_diffusion_sums *sums);

/* Before the first row: from now on the sums do not show the order of the blocks (sums.h), which may be added by
 * several threads. Twice the memory, and that of one fold for each thread. */
sock_status sk_diffusion_sums_pair(sock_context *ctx, sk_diffusion_sums *sums);

/* Those of all processes, of such sums, before they are closed; behind sk_together (base/comm.h). */
void sk_diffusion_sums_over_all(sock_context *ctx, sk_diffusion_sums *sums);
double sk_diffusion_sums_bytes(size_t p, size_t d, size_t folds, bool diagonal);

/* Before the first row, of `rows` in all: G and c are summed up by the context's device, where it can and that pays.
 * Then sk_diffusion_sums_fetch comes behind the last row, before sums are merged or closed. Without `gram` a G that can
 * be used on the device stays there, and sk_diffusion_sums_fetch_gram comes before it is asked for here. */
sock_status sk_diffusion_sums_offload(sock_context *ctx, sk_diffusion_sums *sums, size_t rows);
sock_status sk_diffusion_sums_fetch(sock_context *ctx, sk_diffusion_sums *sums, bool gram);
sock_status sk_diffusion_sums_fetch_gram(sock_context *ctx, sk_diffusion_sums *sums);

sock_status sk_diffusion_sums_add(sock_context *ctx, sk_diffusion_sums *sums, const sk_block *block);

/* Rows that have nodes of their own and targets z in the place of products of residuals, the same for every fold. */
typedef struct sk_given_rows {
    size_t fold; /* folds: in the training part of every fold */
    const sk_rule *rule;
    size_t begin, end;    /* which rows of the rule */
    const double *z;      /* n x d x d, of all rows of the rule */
    const double *weight; /* systems x n; NULL: all 1 */
    const double *b; /* n x q: their svec rows, where these do not come from nodes: of the rule n and h are read, and
                        squares and nodes of the sums are the caller's to add. NULL: from the nodes */
} sk_given_rows;
sock_status sk_diffusion_sums_add_given(sock_context *ctx, sk_diffusion_sums *sums, const sk_given_rows *rows);
void sk_diffusion_sums_merge(sk_diffusion_sums *sums, const sk_diffusion_sums *other);
void sk_diffusion_sums_close(sk_diffusion_sums *sums);

/* G of all rows, of each system, once they are closed. */
const double *sk_diffusion_sums_total(const sk_diffusion_sums *sums);

/* G of a system without fold f (folds: from all rows) into out (q^2). Answers the number of rows. */
size_t sk_diffusion_sums_subtract(const sk_diffusion_sums *sums, size_t f, size_t system, double *out);

/* lambda = l times this, for a system; scale (p, or NULL): of the features. */
double sk_diffusion_sums_unit(const sk_diffusion_sums *sums, size_t system, const double *scale);

/* ---- The path of one system without one fold, while lambda falls ---- */

typedef struct sk_diffusion_path sk_diffusion_path;

/* f: a used fold, or `folds`. learned: features are reweighted after each solution; one dimension only. */
sock_status sk_diffusion_path_new(sock_context *ctx, const sk_diffusion_sums *sums, size_t f, size_t system,
                                  bool learned, sk_diffusion_path **out);

/* Of a map of rates, whose Q is a matrix for each feature: of the listed features alone (rising; NULL: of all `count`).
 * A path of such a map is one of these in any case. */
sock_status sk_diffusion_path_separate(sock_context *ctx, const sk_diffusion_sums *sums, size_t f, size_t system,
                                       size_t count, const size_t *keep, sk_diffusion_path **out);
void sk_diffusion_path_free(sk_diffusion_path *path);

/* Q (order x order, order = dim p) at penalty l in natural units, from where the last one ended. */
sock_status sk_diffusion_path_solve(sock_context *ctx, sk_diffusion_path *path, double l, double tolerance, double *q);

/* Of the last solution, before reweighting. */
sk_psd_bounds sk_diffusion_path_bounds(const sk_diffusion_path *path);
bool sk_diffusion_path_converged(const sk_diffusion_path *path);

/* ---- What a solution says ---- */

/* svec rows of a rule: rows (n x q) = W svec(phi phi'), for the rows begin .. end-1 of it. square (p, or NULL) +=
 * phi^2 over their nodes. */
sock_status sk_svec_rows(sock_context *ctx, const sk_features *map, const sk_rule *rule, size_t begin, size_t end,
                         double *rows, double *square);

/* I a (n x d x d) of n rows with svec rows b (n x q), from the Q of all systems. */
sock_status sk_svec_integrate(sock_context *ctx, size_t d, size_t p, bool diagonal, const double *q, size_t n,
                              const double *b, double *out);

/* The same of a diagonal a with few features for each component; Q of a system is each x each. */
void sk_svec_integrate_picked(const sk_picks *picks, const double *q, size_t n, const double *b, double *out);

#endif
