/* diffusionspread.h - how far V of a diffusion a = B B', B = phi' V, can be trusted: the Fisher information of a
 * Gaussian step in the tangent space of Q = V V',
 *
 *     F_uv = 1/2 sum over rows of tr(C^-1 dC_u C^-1 dC_v),   C = I a + eps 1,   dC_u = I (dB_u B' + B dB_u'),
 *
 * with a of the whole model, plus the Hessian of the penalty mu |Q|^2. Turning the columns of V into each other changes
 * nothing: these directions are left out. Rows are added block by block. */
#ifndef SK_DIFFUSIONSPREAD_H
#define SK_DIFFUSIONSPREAD_H

#include "diffusion/diffusion.h"
#include "la/factor.h"
#include "occupation/view.h"

typedef struct sk_diffusion_spread sk_diffusion_spread;

/* Of a term, which is borrowed. Unknowns are the numbers of V whose row is not zero, in columns that are not next to
 * nothing; of a diagonal term every component is a problem of its own. *out is NULL where one has more than `most`. */
sock_status sk_diffusion_spread_new(sock_context *ctx, const sk_diffusion_term *term, size_t most,
                                    sk_diffusion_spread **out);
void sk_diffusion_spread_free(sk_diffusion_spread *spread);
size_t sk_diffusion_spread_systems(const sk_diffusion_spread *spread); /* 1, or d of a diagonal term */

/* The rows of a view, its I a and its nodes; eps: jitter of C. */
sock_status sk_diffusion_spread_add(sock_context *ctx, sk_diffusion_spread *spread, const sk_view *v, double eps);

/* What the rows of a view have beyond I a under the model itself (n x d x d, stepsurplus.h), which the fit takes for a:
 * V is off by (information)^-1 of their sums, an error of one size and unknown to no one, that the law counts as it
 * counts a standard deviation. The view may be of a few rows, each of which stands for `each` that were added. */
sock_status sk_diffusion_spread_surplus(sock_context *ctx, sk_diffusion_spread *spread, const sk_view *v, double eps,
                                        const double *surplus, double each);

/* For rows that another law gave their information: the unknowns of a system, the integrals of da / du for each of them
 * over the rows of a rule (out: n x unknowns x d x d), and the information itself (unknowns x unknowns, lower). */
size_t sk_diffusion_spread_unknowns(const sk_diffusion_spread *spread, size_t system);
sock_status sk_diffusion_spread_slopes(sock_context *ctx, const sk_diffusion_spread *spread, size_t system,
                                       const sk_rule *rule, double *out);
void sk_diffusion_spread_put(sk_diffusion_spread *spread, size_t system, const double *information, size_t ld);

/* For a fit by least squares, z = I a + noise, penalised by penalty |Q|^2 / 2: rows of a rule, and noise (n x d x d)
 * such that <z, D> has the variance 2 tr(D noise D noise) in a row. With A = sum <dC_u, dC_v> + penalty <dQ_u, dQ_v>
 * and B = sum 2 tr(dC_u noise dC_v noise) + s penalty <dQ_u, dQ_v>, s the mean variance of z, the law of V has the
 * covariance A^+ B A^+, and an error of A^+ sum <dC_u, surplus>, as above (NULL: none is known of these rows). */
sock_status sk_diffusion_spread_add_squares(sock_context *ctx, sk_diffusion_spread *spread, const sk_rule *rule,
                                            const double *noise, const double *surplus, double each);
sock_status sk_diffusion_spread_square_factor(sock_context *ctx, const sk_diffusion_spread *spread, double times,
                                              double penalty, sk_factor **out);

/* The law of V, whose numbers stand as in the term. times: the rows that were added stand for so many times more; mu:
 * one penalty for each system. */
sock_status sk_diffusion_spread_factor(sock_context *ctx, const sk_diffusion_spread *spread, double times,
                                       const double *mu, sk_factor **out);

#endif
