/* noisefit.h - the fit of measured data y = x + N(0, R) and of long steps: a filter of the current model gives rows for
 * the drift, its smoother rows for the diffusion, its likelihood R. See docs/noise.md.
 *
 *   start       affine and rich drifts, with and without instruments; R from products of neighbouring residuals
 *   iterations  filter pass; Newton step for R and the scale of a; drift; diffusion; a guard by the likelihood
 *   verdict     held-out filter likelihood of the folds' models against those of the clean fit */
#ifndef SK_NOISEFIT_H
#define SK_NOISEFIT_H

#include "noise/frozen.h"
#include "tune/candidates.h"
#include "tune/rules.h"
#include "tune/sweeptrial.h"

typedef enum sk_noise_mode { SK_NOISE_NONE, SK_NOISE_DIAGONAL, SK_NOISE_FULL } sk_noise_mode;

/* What the fit works on. */
typedef struct sk_measured {
    sock_context *ctx;
    const sk_transitions *rows;
    const sk_units *units; /* of the rows, for bands; NULL: no zero is a guess */
    const sk_candidates *list;
    const char *const *names;
    sk_series series;  /* the rows, cut into runs */
    size_t *run_first; /* folds + 2: runs of each fold, and those that are always in */
    sk_frame frame;
    sk_noise_mode mode;
    size_t substeps; /* 0: chosen */
    double tolerance;
} sk_measured;

/* Bytes of a filter pass that is kept whole, and of the rows of the diffusion. */
double sk_noise_bytes(const sk_measured *m, size_t substeps);

sock_status sk_measured_new(sock_context *ctx, const sk_transitions *rows, const sk_candidates *list,
                            const char *const *names, sk_measured *out);
void sk_measured_clear(sk_measured *m);

/* A model with its noise. */
typedef struct sk_noisy {
    sock_model *model;
    double *noise; /* R, d x d; NULL: none */
    sk_substeps substeps;
    double sum; /* log likelihood of the filter */
} sk_noisy;

void sk_noisy_clear(sk_noisy *n);

/* An empty model with R and substeps; clear it whatever comes back. A copy, terms and all. */
sock_status sk_noisy_like(const sk_measured *m, const double *noise, sk_substeps substeps, sk_noisy *out);
sock_status sk_noisy_copy(const sk_measured *m, const sk_noisy *from, sk_noisy *out);

sk_filter_spec sk_noisy_spec(const sk_measured *m, const sk_noisy *n);

/* The log likelihood of all rows; term (steps): their log densities. */
sock_status sk_noisy_score(const sk_measured *m, sk_noisy *n);
sock_status sk_noisy_terms(const sk_measured *m, sk_noisy *n, double *term);

/* ---- noisemodel.c: models out of terms ---- */

/* to += share times the drift, or the diffusion with a_kl times sqrt(scale_k scale_l) (NULL: 1), of another model. */
sock_status sk_add_drift_of(sock_context *ctx, const sock_model *from, double share, sock_model *to);
sock_status sk_add_diffusion_of(sock_context *ctx, const sock_model *from, const double *scale, sock_model *to);

/* to += a constant diffusion: A (d x d, positive semi-definite). */
sock_status sk_add_constant(sock_context *ctx, const double *a, sock_model *to);

/* A feature map with weights (p x d) as the drift. */
sock_status sk_add_weights(sock_context *ctx, const sk_features *map, const double *w, sock_model *to);

/* Terms of the drift on the same features become one. */
sock_status sk_join_drifts(sock_context *ctx, sock_model *model);

/* *same: both maps have the same text and arrays. */
sock_status sk_same_map(sock_context *ctx, const sk_features *one, const sk_features *other, bool *same);

/* A := the nearest matrix without eigenvalues below `least`. */
void sk_nearest_psd(size_t d, double least, double *a);

/* ---- noiselag.c ---- */

/* z-scores of E[e_{i+1} e_i'] = -J R, and R0, of residuals e (steps x d) with slopes J and variances (steps x d). */
typedef struct sk_lagged {
    size_t pairs;
    double *r, *z; /* d x d each */
} sk_lagged;
sock_status sk_lag_test(const sk_measured *m, const double *e, const double *slope, const double *variance,
                        sk_lagged *out);

/* The same of a model without noise on the data; z and r: d x d. */
sock_status sk_lag_test_model(const sk_measured *m, const sk_noisy *clean, sk_lagged *out);

/* ---- noisestart.c ---- */

/* The substeps that the best beginning with one substep asks for: a clean search may end with a model so poor that it
 * sees no long steps. *out: at least these. */
sock_status sk_noise_pilot(const sk_measured *m, sk_substeps *out);

/* The best of several beginnings; floor (d): of the diagonal of R. */
sock_status sk_noise_start(const sk_measured *m, sk_noisy *out, double *floor);

/* ---- noiseworth.c ---- */

/* Nats held out that one more fit of drift and diffusion about a model promises, with the law of steps followed in its
 * substeps: 0 where it is right. */
sock_status sk_noise_promise(const sk_measured *m, const sk_noisy *now, double *out);

/* ---- noisenewton.c ---- */

typedef struct sk_newton {
    double *noise; /* d x d: R after the step */
    double *scale; /* d: of a */
    double *kappa; /* d: complete over observed information on the scale */
    double *error; /* d: standard errors of R_kk */
} sk_newton;

/* All arrays are the caller's. */
sock_status sk_noise_newton(const sk_measured *m, const sk_frozen *z, const double *floor, const sk_newton *out);

/* ---- noiseascent.c ---- */

/* Weights of the drift, scales of a and R of a short model go up the likelihood together; least (d): of R_kk. A model
 * of too many numbers is left alone. */
sock_status sk_noise_ascend(const sk_measured *m, const double *least, sk_noisy *now);

/* ---- noisehint.c ---- */

/* A model that was fitted without noise, scored, gets R and scales of a to go with it; together: then weights of the
 * drift, too, if there are few. *gain: nats, on its own rows and counted as in sk_noise_compare; negative where no R is
 * any good, else at least 0. *out: that model, freed by the caller; empty where there is none. */
sock_status sk_noise_hint(const sk_measured *m, const sk_noisy *clean, bool together, sk_noisy *out, double *gain);

/* ---- noisedrift.c, noisediffusion.c ---- */

/* Trials (SK_MOST places, old ones freed) about the frozen pass; *best: the simplest near the best. */
sock_status sk_noise_drifts(const sk_measured *m, const sk_frozen *z, const sk_sweep *sweep, sk_trial **trial,
                            size_t *best);

/* The solutions of the trial of drift c anew, about a pass of the model itself, if that has one drift on the same
 * features: weights without each fold, and from all rows those of the model. Else they are left alone. */
sock_status sk_noise_drift_about(const sk_measured *m, const sk_frozen *z, const sock_model *model, size_t c,
                                 sk_trial *trial);

/* Rows of the diffusion under a model: smoothed where there is noise, else from observation to observation. */
typedef struct sk_rows_of_a {
    sk_pulled *pulled; /* rows of a step stand together */
    size_t each;       /* rows of a step: 2, or 1 */
    double *typical;   /* medians of |I a| and of its diagonal: 1 + d */
    double *floor;     /* d: least a */
    double *residual;  /* d x d: the formula of EM for R; NULL without noise */
} sk_rows_of_a;
sock_status sk_rows_of_a_new(const sk_measured *m, const sk_noisy *model, const double *kappa, sk_rows_of_a *out);
void sk_rows_of_a_clear(sk_rows_of_a *r);

/* folds: also without each of them. z: where candidates are scored; NULL: one candidate at its penalty. */
sock_status sk_noise_diffusions(const sk_measured *m, const sk_rows_of_a *r, const sk_frozen *z, const sk_sweep *sweep,
                                bool folds, sk_trial **trial, size_t *best);

/* ---- noiseloop.c ---- */

/* What the iterations end with. */
typedef struct sk_noise_fit {
    sk_noisy now;
    sk_trial *drift[SK_MOST], *diffusion[SK_MOST]; /* those of the choice are there, with all folds */
    size_t f, a;                                   /* the choice */
    bool behind_f[SK_MOST], behind_a[SK_MOST];     /* too far behind in a sweep to be tried again */
    size_t plain; /* the best drift that is no sum of bumps, in the last sweep that tried any; SK_MOST: there is none */
    double *floor; /* d: least a of the model */
    double *least; /* d: least R */
    double *error; /* d: standard errors of R_kk */
    double *held;  /* steps: held-out log densities */
    size_t iterations;
    double asked;  /* likelihood of all rows that the first sweeps have to reach; NaN: none */
    bool hopeless; /* they did not: the iterations ended */
    bool changed;  /* the choice is not yet that of the model: the first step may lose by it */
} sk_noise_fit;

sock_status sk_noise_iterate(const sk_measured *m, sk_noise_fit *fit, size_t most);

/* Drift and diffusion without each fold, and held-out densities by them; or these alone, by those that are there. */
sock_status sk_noise_hold_out(const sk_measured *m, sk_noise_fit *fit);
sock_status sk_noise_score_held(const sk_measured *m, sk_noise_fit *fit);
void sk_noise_fit_clear(sk_noise_fit *fit);

/* ---- noiseending.c ---- */

sock_status sk_noise_compare(const sk_measured *m, const double *one, const double *other, sk_gain *out);

/* Passes from a fit, with the drift f and the diffusion a of the list, and with its R (NULL) or another; where the mode
 * of m is none, without. */
typedef struct sk_noise_turn {
    size_t f, a, passes;
    const double *noise;
} sk_noise_turn;

/* out->held is NULL where there is no such fit. */
sock_status sk_noise_turn_to(const sk_measured *m, const sk_noise_fit *from, const sk_noise_turn *turn,
                             sk_noise_fit *out);

/* The best polynomial drift instead of bumps, where these are not clearly better held out. */
sock_status sk_noise_smooth_drift(const sk_measured *m, sk_noise_fit *fit);

/* A constant drift with the error of a mean, where the list has one and the drift tells of the data no more. */
sock_status sk_noise_constant_drift(const sk_measured *m, sk_noise_fit *fit);

/* The simplest diffusion instead, where the one that the fit has is not clearly better held out. */
sock_status sk_noise_simplify(const sk_measured *m, sk_noise_fit *fit);

/* A full R instead, from the correlations of r (d x d), where it is clearly better held out. */
sock_status sk_noise_try_full(sk_measured *m, const double *r, sk_noise_fit *fit);

#endif
