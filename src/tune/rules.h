/* rules.h - the decisions of the search, each a function of trials and of policy.h, without a state. */
#ifndef SK_RULES_H
#define SK_RULES_H

#include "tune/policy.h"
#include "tune/trial.h"

#include "drift/driftsums.h"

extern const double sk_drift_lambdas[SK_DRIFT_LAMBDAS]; /* l = 10^2 ... 10^-11, in natural units */

/* Trials of the candidates of one field, as far as they are alive (NULL: not). */
typedef struct sk_field_trials {
    size_t count, clusters;
    const sk_candidate *candidate;
    sk_trial *const *trial;
    size_t best; /* by score */
} sk_field_trials;

/* ---- Penalties ---- */

size_t sk_best_lambda(size_t count, const double *by_l);

/* Of penalties that leave too many degrees of freedom only the largest can be the best. rows: n d. */
size_t sk_best_drift_lambda(size_t count, const double *by_l, const double *dof, double rows);
bool sk_at_edge(size_t count, const double *by_l, size_t best);

/* Whether the first `done` scores say that smaller penalties will not come back. */
bool sk_path_is_over(size_t done, const double *by_l);

sk_coupling sk_drift_coupling(size_t p, size_t d, bool diagonal, bool learned);

/* ---- Who goes on ---- */

/* Standard error of a difference of scores, over clusters. */
double sk_paired_error(size_t clusters, const double *a, const double *b);

/* After the screen: near the best by paired errors, at most `most` of them; and every BASIC one, if `basic`. */
void sk_survivors(const sk_field_trials *t, size_t most, bool basic, bool *alive);

/* After a round. Diffusions also by standard errors, and the finalists, whatever they are: under its own quadrature a
 * candidate may do better than in the table. */
void sk_near_drifts(const sk_field_trials *t, bool *alive);
void sk_near_diffusions(const sk_field_trials *t, bool polish, bool *alive);

/* The best trial that is not in `tried`; SIZE_MAX: none. */
size_t sk_next_best(const sk_field_trials *t, const bool *tried);

bool sk_round_accepted(double score, double last);

/* ---- Shares ---- */

/* How many nats a simpler drift may score below the best one. saved: degrees of freedom. */
double sk_drift_allowance(double error, double saved, size_t rows);

/* The simplest drift that is near enough to the best. */
size_t sk_simplest_drift(const sk_field_trials *t, size_t rows);

/* The simplest near the best alone where it is a short equation or nothing is averaged; else all kernels are stand-ins,
 * and the mean of several that do about equally well errs less than any: weights exp((score - dof) / 2). *lead: the one
 * with the largest share. */
void sk_drift_shares(const sk_field_trials *t, size_t rows, bool average, double *share, size_t *lead);

/* Weights exp((score - best + simpler) / 2) of the best few; without averaging the best alone. */
void sk_diffusion_shares(const sk_field_trials *t, bool average, double *share);

/* ---- Floor and guards ---- */

extern const double sk_floors[SK_FLOORS];

/* Scores of the floors by the likelihood of the search and by Euler's, each with their clusters (SK_FLOORS x clusters).
 * constant: Euler's score of constant coefficients. */
typedef struct sk_floor_scores {
    size_t rows, clusters;
    const double *score, *cluster, *euler, *euler_cluster;
    double constant;
} sk_floor_scores;

/* The largest of the usual floors that is not worse; a larger one where the Euler likelihood asks for it clearly, that
 * is where steps are long and a is almost singular: then the one with the best sum of both, and only where rows are few
 * or that likelihood is below the one of constant coefficients. */
size_t sk_pick_floor(const sk_floor_scores *s);

/* How many nats the best of so many tried models must gain, held out, over a plain one that was not chosen among them:
 * log tried, which is what the best of as many that are worth nothing may gain by chance; and a paired standard error.
 */
double sk_needed_gain(double error, size_t tried);
bool sk_worse_than_constant(double score, double constant);

/* ---- Identical parts ---- */

bool sk_same_score(double a, double b);

/* From the sums of squares of the difference and of one of the two. */
bool sk_is_rounding(double difference, double square);

/* ---- Rows ---- */

/* Whether a part of `wanted` rows is worth taking out of n. */
bool sk_take_part(size_t n, size_t wanted);

#endif
