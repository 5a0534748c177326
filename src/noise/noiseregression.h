/* noiseregression.h - regressions that a fit of measured data begins with: increments from the left point, or rows
 * along a model's flow, and the constant a and R that the residuals speak for. */
#ifndef SK_NOISEREGRESSION_H
#define SK_NOISEREGRESSION_H

#include "noise/noisefit.h"

/* Rows of a regression: psi (n x p), t (n x d), and what a linear fit of a wants beside residuals. */
typedef struct sk_regression {
    const sk_measured *m;
    const sk_features *map;
    size_t p;
    sk_pulled *pulled; /* NULL: increments from the left point */
    double *psi, *used, *t, *precision, *u, *e, *variance;
    double *w; /* p x d */
} sk_regression;

/* Clear it whatever comes back. */
sock_status sk_regression_new(const sk_measured *m, const sk_features *map, sk_regression *g);
void sk_regression_clear(sk_regression *g);

/* Rows: h phi(y) from the left point with increments; or those of a model's flow. */
sock_status sk_regression_left(sk_regression *g);
sock_status sk_regression_along(sk_regression *g, const sk_noisy *now);

/* used := psi projected on the features of the observation before; 0 in rows without one. */
sock_status sk_regression_instrument(const sk_regression *g);

/* w of rows psi or used, next to no penalty; then u = t - psi w, e = F u and the variances of e. */
sock_status sk_regress(const sk_regression *g, const double *psi);
void sk_regression_residuals(const sk_regression *g);

/* A constant a (d x d) of these residuals, less what the noise (NULL: none) explains. */
void sk_mean_diffusion(const sk_regression *g, const double *noise, double *a);

/* The least that the diagonal of R may be (d), and R from products of neighbours, not below it. */
sock_status sk_least_noise(const sk_regression *g, double *least);
sock_status sk_first_noise(const sk_regression *g, const double *least, double *noise);

/* A model of features with weights and a constant a. */
sock_status sk_first_model(const sk_measured *m, const sk_features *map, const double *w, const double *a,
                           sock_model **out);

/* The better of two goes on with its least R; the other is freed. */
void sk_keep_better(sk_noisy *best, double *best_least, sk_noisy *now, const double *least, size_t d);

/* ---- noisestart.c ---- */

/* Features of the drifts that are begun with: affine, and the richest polynomial of the list that can be afforded
 * (NULL: there is none richer). Free them whatever comes back. */
enum { SK_NOISE_AFFINE, SK_NOISE_RICH, SK_NOISE_MAPS };
sock_status sk_noise_maps(const sk_measured *m, sk_features **map);

/* ---- noisepilot.c ---- */

/* Affine drifts for long steps, from `left` (model NULL: not from there) and from the logarithm of the discrete
 * regression; the best of all goes on. */
sock_status sk_noise_pilots(const sk_measured *m, const sk_features *affine, const sk_noisy *left, sk_noisy *best,
                            double *least);

#endif
