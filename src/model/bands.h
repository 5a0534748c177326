/* bands.h - how far the fields of a model with a spread can be trusted at points (x: count x sk_model_in, states and
 * inputs), see docs/uncertainty.md. With phi the
 * features at x, T_c the law of drift term c and v_i,kl the variance of a_kl of diffusion term i as a model of its own:
 *
 *     var f_k      = sum_c share_c phi_k' T_c phi_k + sum_j pi_j (f_j,k - f_k)^2
 *     var log a_kk = sum_i share_i v_i,kk / a_i,kk^2 + sum_i share_i (log a_i,kk - log a_kk)^2
 *     var a_kl     = sum_i share_i v_i,kl + sum_i share_i (a_i,kl - a_kl)^2
 *
 * and with peers, fields g_p of variance v_p, var g = (1 - sum_p weight_p) var g + sum_p weight_p (v_p + (g_p - g)^2).
 */
#ifndef SK_BANDS_H
#define SK_BANDS_H

#include "model/model.h"

/* var (count x d) from f (count x d) of the model. */
sock_status sk_drift_variance(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                              const double *f, double *var);

/* var (count x d x d), on the diagonal of log a, from a of the model. */
sock_status sk_diffusion_variance(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                  const double *a, double *var);

/* The largest |draw - f| / sd over all points and components, for SK_SUP_DRAWS draws, rising. */
sock_status sk_drift_sup(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *sup);

/* |z| below this has the probability `level` for a standard normal z. */
double sk_normal_reach(double level);

/* Whether any diffusion term has a law. */
bool sk_spread_has_diffusion(const sk_spread *spread);

/* Which of n shares (sum about 1) a number u in (0, 1) falls into. */
size_t sk_pick_share(size_t n, const double *share, double u);

#endif
