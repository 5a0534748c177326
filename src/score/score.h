/* score.h - how good a model is on data it has not seen: one metric a file. Nothing here returns NaN: what cannot be
 * computed says so. Sums run in the order of the data, so that scores do not depend on the number of threads. */
#ifndef SK_SCORE_H
#define SK_SCORE_H

#include "data/data.h"
#include "simulate/simulate.h"

/* ---- loglik.c, momentlik.c ---- */

typedef struct sk_loglik {
    size_t intervals; /* of all trajectories */
    size_t singular;  /* intervals whose covariance is not positive definite */
    size_t broken;    /* intervals where the model is not finite, */
    size_t unsettled; /* or its moments could not be followed */
    double value;     /* sum over the intervals, good when the three are 0 and intervals is not */
} sk_loglik;

/* l = sum log N(y_{i+1}; y_i + h f(y_i), h a(y_i) + delta I). A model without a diffusion has a = 0. */
sock_status sk_log_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                              sk_loglik *out);

/* l = sum log N(y_{i+1}; m_i, S_i + delta I) with mean and covariance that follow the model over the interval.
 * Dimension SK_MOMENTS_MOST_DIM at most: the work grows with its third power and more. */
sock_status sk_moment_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                                 sk_loglik *out);

/* The same, interval by interval: its part of the sum, -infinity where it has none. Of the data only d, trajectories,
 * points, first, t and x are read. */
sock_status sk_moment_terms(sock_context *ctx, const sock_model *model, const sock_data *data, double delta,
                            double *term);

/* Means and variances (count x d each) of the ends of single steps by the same moments, inputs as they change within
 * the step: from point start[i] of the data to the next one. */
sock_status sk_moment_laws(sock_context *ctx, const sock_model *model, const sock_data *data, size_t count,
                           size_t *start, double *mean, double *var);

/* ---- measured.c ---- */

/* The sum over all observations of the log density given those before them, with noise of covariance R (d x d); in up
 * to SK_NOISE_MOST_DIM dimensions. unsettled: intervals whose law was lost. */
sock_status sk_filter_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                                 sk_loglik *out);

/* ---- lagone.c ---- */

/* Lag-1 correlation of the standardised residuals of all steps; NaN where there are too few. skip (points, or NULL):
 * steps that begin there are passed over. */
sock_status sk_residual_lag1(sock_context *ctx, const sock_model *model, const sock_data *data, const bool *skip,
                             double *out);

/* ---- subjects.c ---- */

/* Scores and states of steps that follow one another within a piece of a trajectory; v NaN: a step without a score. */
typedef struct sk_subjects {
    size_t n, v_stride, x_stride;
    const double *v, *x, *weight; /* of one state: x where the step begins; weight: what a rate of 1 does to v */
    const size_t *piece;          /* n */
} sk_subjects;

/* What a trajectory was so far, by which one tells what comes next where trajectories are not alike: n x
 * SK_SUBJECT_COLUMNS, the weighted mean of its states less the state, and that of its scores. */
enum { SK_SUBJECT_COLUMNS = 2 };
void sk_subject_columns(const sk_subjects *subjects, double *out);

/* Nats that these columns gain in foretelling v (n x d, of variance 1; NaN: no score) beside powers of the states x
 * (n x d), less one for each of them. weight: n x d. */
sock_status sk_subject_gain(sock_context *ctx, size_t n, size_t d, const double *v, const double *x,
                            const double *weight, const size_t *piece, double *nats);

/* ---- constlik.c ---- */

/* The mean rate of the steps of all trajectories (d). */
void sk_mean_rate(const sock_data *data, double *rate);

/* a (d x d) = mean of e e'/h over all single steps, e = y' - y - h f(y); row i of f begins at i stride: d for a value
 * at each point, 0 for one everywhere. u: d numbers to work with. */
void sk_step_covariance(const sock_data *data, size_t stride, const double *f, double *a, double *u);

/* The same sum for constant f and a, those that make it largest (but for delta) on these data. */
sock_status sk_constant_likelihood(sock_context *ctx, const sock_data *data, double delta, sk_loglik *out);

/* ---- relerr.c ---- */

/* Squared Frobenius norms over all points: of the differences and of the truth. a only where both models have one. */
typedef struct sk_field_errors {
    double f_difference, f_truth, a_difference, a_truth;
} sk_field_errors;

sock_status sk_relative_errors(sock_context *ctx, const sock_model *model, const sock_model *truth,
                               const sock_data *data, sk_field_errors *out);

/* ---- secondorder.c ---- */

/* Of models of second order and data with positions alone: the sum over all positions but the first two of a trajectory
 * of the log density given those before them, with noise R (2d x 2d, NULL: 0). */
sock_status sk_second_likelihood(sock_context *ctx, const sock_model *model, const sock_data *data, const double *noise,
                                 sk_loglik *out);

/* Errors of the force and of a, at the states that the filter of the truth finds. */
sock_status sk_second_errors(sock_context *ctx, const sock_model *model, const sock_model *truth, const sock_data *data,
                             const double *noise, sk_field_errors *out);

/* Positions and velocities given all positions: means and standard deviations (sd may be NULL), points x 2d each; NaN
 * for the velocity of a trajectory of one point. */
sock_status sk_second_smooth(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean,
                             double *sd);

/* ---- secondstarts.c ---- */

/* Points of so many that only say how fast a path was. */
size_t sk_second_head(size_t points);

/* What paths of second order are compared with: every trajectory from the last of its first points on, where there is
 * something behind. The first points, SK_SECOND_HEAD or a tenth of all, only say how fast it was. *of: where the piece
 * is from (freed by the caller); *out and *of are NULL where there is nothing. */
sock_status sk_second_tails(sock_context *ctx, const sock_data *data, sock_data **out, size_t **of);

/* The laws of position and velocity at the first points of these tails, by the filter of a model over the points up to
 * them. */
typedef struct sk_second_starts {
    size_t d;      /* positions */
    double *m;     /* tails x 2d */
    double *root;  /* tails x 2d x 2d: lower triangular */
    double *noise; /* d x d: the root of R; NULL: none */
    bool *known;   /* tails: the law is finite */
} sk_second_starts;
sock_status sk_second_starts_new(sock_context *ctx, const sock_model *model, const sock_data *data, const size_t *of,
                                 const sock_data *tails, const double *noise, sk_second_starts *out);
void sk_second_starts_clear(sk_second_starts *starts);

/* A state (2d) of this law, and positions of a path (times x 2d) as they are observed (out: times x d): the first is
 * that of the data, the others have noise. Numbers are those of this cell and path. */
void sk_second_draw(const sk_second_starts *starts, size_t tail, uint64_t seed, size_t cell, size_t path, double *x);
void sk_second_observe(const sk_second_starts *starts, uint64_t seed, size_t cell, size_t path, size_t times,
                       const double *states, const double *first, double *out);

/* ---- grids.c ---- */

/* Trajectories of two points and more that share their times (counted from their start, to 1e-9 of their span) get one
 * label, and with same_start only where their first states are equal, too. Labels are 0, 1, ... in order of appearance;
 * SIZE_MAX for a single point. */
sock_status sk_label_trajectories(sock_context *ctx, const sock_data *data, bool same_start, size_t *label,
                                  size_t *labels);

/* Trapezoid weights of the times: integral of g ~ sum w_i g(t_i). */
void sk_trapezoid_weights(size_t times, const double *t, double *w);

/* ---- mmd.c ---- */

/* Median of the squared L2 distances over pairs of trajectories that share their times; *pairs is their number, and
 * *eta is untouched when there are none. Beyond 4000 trajectories, 4000 evenly spaced ones stand for all. */
sock_status sk_mmd_eta(sock_context *ctx, const sock_data *train, double *eta, size_t *pairs);

/* Two samples of paths on one time grid. Paths that are not finite are infinitely far from all others. */
typedef struct sk_samples {
    size_t times, d;
    const double *t;
    double eta;
    size_t paths[2];
    const double *const *path[2]; /* pointers to the paths, times x d each */
} sk_samples;

/* The squared maximum mean discrepancy, biased (V-statistic): sum_ij v_i v_j exp(-|x_i - x_j|^2 / eta) with v = 1/P on
 * the first sample and -1/M on the second. space: sk_mmd_space doubles. On the calling thread. */
size_t sk_mmd_space(const sk_samples *samples);
double sk_mmd2(sock_context *ctx, const sk_samples *samples, double *space);

typedef struct sk_mmd_spec {
    double eta, step;
    double most_steps; /* of a path; where one would take more, there is no MMD */
    size_t paths;      /* simulated for each distinct start */
    uint64_t seed;
    sock_bounds bounds;
    const double *lower, *upper;
    const double *noise; /* R of a model's observations: d x d, of order 2 2d x 2d; NULL: 0 */
} sk_mmd_spec;

typedef struct sk_mmd_result {
    size_t starts; /* distinct pairs of start and time grid of the test set; 0: there was nothing to compare */
    size_t lost;   /* simulated paths that left the finite numbers */
    double value;  /* mean over the starts */
} sk_mmd_result;

/* Where the model is of order 2 paths start from what its filter makes of the first points (secondstarts.c). */
sock_status sk_mmd(sock_context *ctx, const sock_model *model, const sock_data *test, const sk_mmd_spec *spec,
                   sk_mmd_result *out);

/* The same for paths that the source makes, cell after cell; spec->step is not used. */
sock_status sk_mmd_of_paths(sock_context *ctx, sock_paths_fn source, void *user, const sock_data *test,
                            const sk_mmd_spec *spec, sk_mmd_result *out);

#endif
