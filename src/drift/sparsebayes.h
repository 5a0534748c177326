/* sparsebayes.h - sparse linear regression with a learned prior variance for each feature ("ARD drift").
 *
 * Model: y = Psi w + noise of known precision P, w_j ~ N(0, 1/alpha_j). The evidence decides alpha: features that do
 * not pay get alpha_j = infinity and leave. In other words: the kernel sum_j phi_j(x) phi_j(y) / alpha_j is learned.
 *
 * A fit sees H = Psi' P Psi and g = Psi' P y alone: neither trajectories nor features. */
#ifndef SK_SPARSEBAYES_H
#define SK_SPARSEBAYES_H

#include "base/base.h"

typedef struct sk_sparse_bayes {
    size_t p, active;
    size_t *index;      /* active features, increasing */
    double *mean;       /* active: posterior mean of w; the others are 0 */
    double *alpha;      /* active: prior precision */
    double *covariance; /* active x active: (H_AA + diag alpha)^-1 */
    double gain;        /* log evidence gained over the empty model */
    size_t steps;       /* features added, re-estimated and deleted */
    bool settled;       /* false: stopped by the limit on steps */
} sk_sparse_bayes;

/* h: p x p symmetric, both triangles, rows ld apart; g: p. A step is taken while it gains at least `threshold` >= 0
 * nats of log evidence (max(log p, 3) keeps the true terms and little else); at most max_active features at a time (0:
 * p). Scaling a feature by c divides its weight by c and changes nothing else. Features with H_jj = 0 never enter, of
 * collinear ones the first does. Freed with sk_sparse_bayes_free.
 *
 * SOCK_EUSAGE for a threshold below 0 or NaN; SOCK_ENUMERIC when h or g is not finite. */
sock_status sk_sparse_bayes_fit(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                double threshold, size_t max_active, sk_sparse_bayes **out);

/* The same, then backwards: of the three terms whose deletion costs least, the first goes that costs less than `idle`
 * nats (or the threshold, if that is less) once the others are estimated anew; until there is none. Nothing is added
 * afterwards. Where none goes the answer is that of sk_sparse_bayes_fit, bit for bit. */
sock_status sk_sparse_bayes_trim(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                 double threshold, double idle, sk_sparse_bayes **out);

/* What the other two found gives way to what the way back from all terms leads to, where all of them explain much more
 * than it does and that is worth more: terms that are worth something only together. */
sock_status sk_sparse_bayes_join(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                 double threshold, sk_sparse_bayes *fit);

/* Backwards by the threshold itself, with the terms that stay estimated anew in any case; where there are few features
 * from all of them, too. For rows in which terms are worth something only together. */
sock_status sk_sparse_bayes_prune(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                  double threshold, size_t max_active, sk_sparse_bayes **out);
void sk_sparse_bayes_free(sk_sparse_bayes *fit);

#endif
