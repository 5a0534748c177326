/* whiteness.h - standardised residuals of a model on data: r_k = (x_k(t + h) - x_k(t) - h f_k) / sqrt(h a_kk), with f
 * and a the means of their values at x(t) and at x(t) + h f(x(t)), where the drift alone leads: so a step that leaves a
 * place where a vanishes is judged by the noise on its way. If the model is right and the steps are short, each is
 * N(0, 1), independent of the past and of the state. */
#ifndef REPORT_WHITENESS_H
#define REPORT_WHITENESS_H

#include "sock.h"

enum { RES_LAGS = 20 };

/* Or normal scores of the check (sock_check_scores), which are so for long steps and with measurement noise, too: one
 * place for what figures show, tests see and words say. */
typedef struct res_set {
    size_t d, steps;    /* steps in use, trajectory after trajectory */
    size_t all;         /* of the data; more than steps when they were thinned */
    double *r, *x;      /* steps x d: residuals (NaN where a_kk is not positive), states before the step */
    double *t;          /* steps */
    size_t *trajectory; /* steps: of which one, or, of scores, the piece of one */
    double *pit;        /* steps x d: scores as shares; NULL: these are residuals */
    size_t seasons;     /* of the calendar that scores are looked at along */
    double season[3];   /* their lengths */
    const char *season_name[3];
} res_set;

/* At most some 40000 steps, of evenly chosen trajectories. Negative: nothing was made. */
sock_status res_make(sock_context *ctx, const sock_model *model, const sock_data *data, res_set *out);
void res_free(res_set *set);

/* Scores in place of residuals. */
sock_status res_scores(sock_context *ctx, const sock_model *model, const sock_data *data, const sock_options *opts,
                       res_set *out);

/* Options for a check of data that paths without bounds stand beside: bounds = none where that is said (as in
 * sock_simulation, with lower or upper), else NULL, which is no failure. *status: SOCK_OK, or why there are none. */
sock_options *res_options(sock_context *ctx, sock_bounds bounds, const double *lower, const double *upper,
                          sock_status *status);

/* Over all states and steps; finite ones alone. */
typedef struct res_moments {
    size_t count;
    double mean, sd, kurtosis;    /* kurtosis: 3 for a normal law */
    double beyond;                /* share outside of +-1.64: 0.1 for a normal law */
    double lag[RES_LAGS + 1];     /* autocorrelation within trajectories, lag[0] = 1 */
    double squares[RES_LAGS + 1]; /* of r^2 */
    size_t pairs[RES_LAGS + 1];   /* of which they are made: few at lags that few trajectories are long enough for */
} res_moments;

res_moments res_look(const res_set *set);

/* All finite values of steps x d, sorted; freed with free(). NULL when out of memory. */
double *res_sorted(const res_set *set, const double *value, size_t *count);

/* The point below which a share of the standard normal law lies, 0 < share < 1, to about 1e-9. */
double res_normal_quantile(double share);

#endif
