/* rules.h - the decisions of the search, each a function of trials and of policy.h, without a state. */
#ifndef SK_RULES_H
#define SK_RULES_H

#include "tune/policy.h"
#include "tune/trial.h"

#include "drift/driftsums.h"

extern const double sk_drift_lambdas[SK_DRIFT_LAMBDAS]; /* l = 10^2 ... 10^-11, in natural units */
extern const double sk_fine_lambdas[SK_FINE_LAMBDAS], sk_thin_lambdas[SK_THIN_LAMBDAS], sk_own_lambdas[SK_OWN_LAMBDAS];

/* Trials of the candidates of one field, as far as they are alive (NULL: not). */
typedef struct sk_field_trials {
    size_t count, clusters;
    const sk_candidate *candidate;
    sk_trial *const *trial;
    size_t best; /* by score */
} sk_field_trials;

/* ---- Penalties ---- */

size_t sk_best_lambda(size_t count, const double *by_l);

/* The place of the first penalty of a falling grid that is not above l; the last where all are. */
size_t sk_lambda_place(size_t count, const double *grid, double l);

/* Of penalties that leave too many degrees of freedom only the largest can be the best. rows: n d. */
size_t sk_best_drift_lambda(size_t count, const double *by_l, const double *dof, double rows);
bool sk_at_edge(size_t count, const double *by_l, size_t best);

/* Whether the first `done` scores say that smaller penalties will not come back. */
bool sk_path_is_over(size_t done, const double *by_l);

sk_coupling sk_drift_coupling(size_t p, size_t d, bool diagonal, bool learned);

/* Whether the law of the weights of a drift without a list of features can be had. */
bool sk_bands_affordable(size_t p, size_t d, bool joint);

/* ---- Who goes on ---- */

/* Standard error of a difference of scores, over clusters. */
double sk_paired_error(size_t clusters, const double *a, const double *b);

/* After the screen: the best few of those near the best by paired errors. Least squares on few rows does BASIC drifts
 * wrong where a is singular, and BASIC diffusions in few dimensions: these go on in any case. */
void sk_screen_drifts(const sk_field_trials *t, bool *alive);
void sk_screen_diffusions(const sk_field_trials *t, size_t d, bool *alive);

/* After a round. Diffusions also by standard errors, and the finalists, whatever they are: under its own quadrature a
 * candidate may do better than in the table. */
void sk_near_drifts(const sk_field_trials *t, bool *alive);
void sk_near_diffusions(const sk_field_trials *t, bool polish, bool *alive);

/* Diffusions that are confirmed, if they are not far behind, and those that are polished, hopeless ones left out; the
 * best first. Answers how many. */
size_t sk_finalists(const sk_field_trials *t, size_t *list);
size_t sk_to_polish(const sk_field_trials *t, const bool *hopeless, size_t *list);

/* Whether a polish with this gain is not tried again. */
bool sk_polish_is_hopeless(double gain);

/* The best drift of the other kind than the best one, Gaussian or polynomial, if it is not far behind; SK_MOST: there
 * is none. */
size_t sk_rival_drift(const sk_field_trials *t);

/* Whether a pair with this gain takes the place of another. simpler: its drift is. */
bool sk_takes_over(double gain, bool simpler);

/* What drifts scored under a model that is not the current one any more. */
typedef struct sk_judgement {
    double best, constant; /* of constant coefficients, on the same rows */
    double score[SK_MOST]; /* NAN: not judged */
} sk_judgement;

/* Whether the model of that judgement was no judge: its best drift was behind constant coefficients, or drifts that
 * both models judged gain so differently that the order may be another one. A better a alone lifts all drifts. */
bool sk_judged_badly(const sk_judgement *last, const sk_field_trials *now);

/* Which of the drifts that are not alive are asked again: none where the best one did not gain clearly by the new model
 * alone; else all where the last model was no judge, and those that cost next to nothing where it was. */
void sk_drifts_back(const sk_judgement *last, const sk_field_trials *now, size_t d, const bool *alive, bool *back);

/* Whether one that came back is asked in the next pass, too: one whose weight is nothing by far is not. */
bool sk_drift_stays(const sk_field_trials *t, size_t i);

bool sk_round_accepted(double score, double last);

/* Drifts that more rows would not bring back. What a drift loses by following noise with its degrees of freedom is the
 * same for any number of rows, all else grows with them: lost is what is behind by more than that, and by errors. */
void sk_lost_drifts(const sk_field_trials *t, bool *lost);

/* Drifts for all rows: those with a share, and of the others that are not lost as many as have room: first those with a
 * trial, the best before the others; in few dimensions also those that few rows threw out, as they are listed. */
void sk_drifts_for_all(const sk_field_trials *t, size_t d, const double *share, const bool *lost, bool *alive);

/* Whether a model that gained so much by being fitted with its own nodes and weights is fitted once more. */
bool sk_worth_refitting(double gain);

/* ---- Shares ---- */

/* Nats up to which two drifts tie on so many rows of long data, since the density itself is no more accurate. */
double sk_density_allowance(size_t rows, size_t d);

/* How many nats a simpler drift may score below the best one. saved: degrees of freedom. */
double sk_drift_allowance(double error, double saved, size_t rows);

/* The simplest drift that is near enough to the best. */
size_t sk_simplest_drift(const sk_field_trials *t, size_t rows);

/* The simplest near the best alone where it is a short equation or nothing is averaged; else all kernels are stand-ins,
 * and the mean of several that do about equally well errs less than any: weights exp((score - dof) / 2). *lead: the one
 * with the largest share. */
void sk_drift_shares(const sk_field_trials *t, size_t rows, bool average, double *share, size_t *lead);

/* These weights (t->count, sum 1) whatever is chosen: how much each drift is to be believed. */
void sk_drift_weights(const sk_field_trials *t, double *weight);

/* Weights exp((score - best + simpler) / 2) of the best few; without averaging the best alone. */
void sk_diffusion_shares(const sk_field_trials *t, bool average, double *share);

/* The parts of the largest shares, which are fitted to all rows. */
void sk_largest_shares(size_t count, const double *share, bool *alive);

/* ---- Polish ---- */

/* Whether a constant a of so many states has as many columns as a polish leaves it; with fewer it would be singular. */
bool sk_polish_has_room(size_t d);

/* From the median square of the residuals, `width` of them a row; never less than what the data can show. */
double sk_polish_jitter(size_t width, double middle, double resolution);

/* Matches the penalty lambda = l scale of the convex problem: n lambda / (4 median(w |h a|^2)), with the weights in
 * units of the median. typical: |h a| of a row. */
double sk_polish_penalty(size_t rows, double l, double scale, double typical);

/* ---- Floor and guards ---- */

extern const double sk_floors[SK_FLOORS];

/* Scores of the floors by the likelihood of the search and by Euler's, each with their clusters (SK_FLOORS x clusters).
 * constant: Euler's score of constant coefficients. */
typedef struct sk_floor_scores {
    size_t rows, clusters;
    const double *score, *cluster, *euler, *euler_cluster;
    double constant;
    bool bounded; /* the leading part vanishes at a bound: a floor that does not earn a standard error is none */
} sk_floor_scores;

/* The largest of the usual floors that is not worse; a larger one where the Euler likelihood asks for it clearly, that
 * is where steps are long and a is almost singular: then the one with the best sum of both, and only where rows are few
 * or that likelihood is below the one of constant coefficients. */
size_t sk_pick_floor(const sk_floor_scores *s);

/* How many nats the best of so many tried models must gain, held out, over a plain one that was not chosen among them:
 * log tried, which is what the best of as many that are worth nothing may gain by chance; and a paired standard error.
 */
double sk_needed_gain(double error, size_t tried);

/* The same by some of the steps, which are enough where they say so beyond doubt. */
double sk_needed_of_some(double error, size_t tried);

bool sk_worse_than_constant(double score, double constant);

/* Whether a drift in d dimensions that gains so many nats over a constant one is more than a constant. */
bool sk_worth_a_slope(size_t d, double gain);

/* These nats; and whether it gains so much that it need not be asked again. */
double sk_slope_asked(size_t d);
bool sk_slope_is_clear(double gain);

/* Whether what the guards gave up scored so much more that it is told. */
bool sk_richer_is_told(double gain);

/* Share of their own that the parts of a keep in the k-th try beside a floor that adds `share` to their mean. */
double sk_shrink_keeps(double share, size_t k);

/* Models that the final one was chosen among. */
size_t sk_models_tried(bool plain, size_t drifts, size_t diffusions);

/* Whether constants that the final model beats by this gain are polished before they are compared. */
bool sk_worth_sharpening(double gain);

/* Whether the likelihood by the moments of the step is asked in doubt. */
bool sk_moments_affordable(size_t rows, size_t d);

/* ---- Noise and long steps ---- */

/* The simplest trial within a paired standard error and so many nats of the best; SK_MOST: there is none. */
size_t sk_simplest_near(const sk_field_trials *t, double nats);

/* Held-out gain of one fit over another, in nats, and its standard error over clusters. */
typedef struct sk_gain {
    double nats, error;
} sk_gain;

/* Nats held out that a fit with noise on d states must gain: fewer where steps are long. */
double sk_noise_gain_asked(size_t d, bool is_long);

/* What speaks for noise on d states: the largest z-score of its test, the gain over the clean model, and over the same
 * model without noise. */
typedef struct sk_noise_evidence {
    size_t d;
    bool is_long; /* steps ask for many substeps */
    double z;
    sk_gain over_clean, over_same;
} sk_noise_evidence;

/* Whether it gains over both, over the same beyond the error of the gain; and whether it is sure by its test and the
 * same model without it, and what averages and polish of the clean search are ahead is little. */
bool sk_noise_gains(const sk_noise_evidence *e);

/* Whether a fit with noise or long steps, so many nats above the search on the same steps, is no better model. grained:
 * the search adds the square of a grain to each step, which the filter does not, and is still no worse. */
bool sk_noise_is_behind(double nats, bool grained);

bool sk_noise_is_sure(const sk_noise_evidence *e);

/* Nats that R has to gain in a model fitted without it, for a fit with noise to be worth its time. */
double sk_noise_hint_asked(size_t d, bool is_long);

/* Nats that a step of the iterations may lose on so many steps. lenient: a simpler kernel may come with it. */
double sk_loss_allowed(bool lenient, size_t steps);

/* Whether a pass with this gain changed nothing to speak of. */
bool sk_has_settled(double gain);

/* Gaussian features of a diffusion in a fit with noise on d states. */
size_t sk_sweep_rank(bool diagonal, size_t d);

/* Whether so many substeps mean long steps. */
bool sk_is_long(size_t substeps);

/* Nats held out beyond which a drift of bumps stays beside the best polynomial, and a diffusion beside the simplest, in
 * a fit with noise or long steps; error: of that gain, paired. */
double sk_richer_drift_asked(double error);
double sk_richer_diffusion_asked(bool is_long, double error);

/* Candidates that are too far behind the best of a sweep to be tried in the next: out[i] is set, never unset. */
void sk_noise_leave_behind(const sk_field_trials *all, bool *out);

/* Whether z-scores of the residuals of d states let a fit with noise be worth its time. */
bool sk_noise_suspected(size_t d, const double *z);

/* Whether a correlation of the residuals of neighbouring steps (z: d x d) lets a full R be worth its time. */
bool sk_noise_correlated(size_t d, const double *z);

/* Whether a fit of so many long steps is worth its time: where a step asks for many substeps; else where the model
 * promises to gain by one, in nats. */
bool sk_long_steps_worth(size_t steps, size_t substeps, double promise);

/* Whether the law of so many steps can be followed in so many substeps again and again. */
bool sk_flow_affordable(size_t steps, size_t substeps, size_t d);

/* Whether that fit, which took so many substeps in the end, is taken for its gain held out and the gain's error. */
bool sk_long_steps_win(size_t substeps, double nats, double error);

/* Whether the clean fit stands in the place of that of long steps, though this is `ahead` nats over so many values: R
 * that was not found gains so much that it is not excluded, and the clean fit is no failure. */
bool sk_long_steps_doubtful(double doubt, double ahead, size_t values);

/* Whether counts or rounded data rest so often (the share of steps in a coordinate) that the likelihood of the filter,
 * which knows no grain, has no say: a that vanishes, and R with it, would explain a step at rest without bound. */
bool sk_grain_hides(double rest);

/* Whether R is what rounding to this grain makes, at least about so much: a twelfth of its square. */
bool sk_is_rounding_noise(double r, double grain);

/* Whether rounding, which makes this share of the square of a typical step, is noise that a fit should know. */
bool sk_rounding_shows(double share);

/* The likelihood of all rows that the first sweeps of a fit with suspected noise have to reach, by that of the model
 * without. Noise that is there shows at once: with it such a fit is ahead from the first sweep on. */
double sk_noise_least(double clean, size_t steps, size_t d);

/* Whether noise on d positions of second order is taken for its gain held out and the gain's error. */
bool sk_inertia_noise_gains(size_t d, double nats, double error);

/* ---- Identical parts ---- */

bool sk_same_score(double a, double b);

/* From the sums of squares of the difference and of one of the two. */
bool sk_is_rounding(double difference, double square);

/* ---- Rows ---- */

/* How many of `most` rows a budget of so many seconds allows a search in d dimensions; 0: no budget. */
size_t sk_budget_rows(double budget, size_t d, size_t most);

/* Rows on which kernels are chosen. */
size_t sk_search_rows(size_t d);

/* Whether n rows are too few to choose a model by. */
bool sk_too_few(size_t n);

/* Memory that so many rows take, trajectories and all. */
double sk_rows_bytes(size_t n, size_t d);

/* Whether a part of `wanted` rows is worth taking out of n. */
bool sk_take_part(size_t n, size_t wanted);

/* Whether what is made of every row, so many numbers each, is kept. */
bool sk_keep_numbers(size_t rows, size_t each);

/* The jitter of the likelihood, from the median square increment; never less than what the data can show. */
double sk_jitter(size_t d, double middle, double resolution);

/* Whether that is what the data can show, and so no small part of a step. */
bool sk_jitter_is_grain(double jitter, double resolution);

/* Whether the smallest change, seen in `same` of the `moving` steps, of which `whole` change by whole multiples of it,
 * is the unit of counted or rounded data. */
bool sk_is_grain(size_t same, size_t whole, size_t moving);
bool sk_is_multiple(double change, double grain);

/* The zero that linear kernels and learned terms of a state mean, by its mean and standard deviation. */
double sk_own_zero(double mean, double deviation);

/* ---- Boundaries ---- */

/* Whether a state with this least value and mean has the lower bound 0 where the user does not say. */
bool sk_has_bound(double least, double mean);

/* Whether such a bound stands, where the leading a says so much there and so much of all points; whether a of usual
 * kernels is gone there; and whether so many observations with noise are close enough to it to tell. */
bool sk_bound_stands(double there, double usual);
bool sk_bound_is_gone(double there, double usual);
bool sk_bound_has_close(size_t close);

/* Whether a kernel that knows bounds, of p features, is tried. rich: of degree 2 and more, or learned. */
bool sk_bounded_is_tried(size_t d, double p, bool rich);

/* ---- Folds ---- */

/* Whether so many different trajectories of so many steps are held out whole; else pieces of them, so many. */
bool sk_folds_are_trajectories(size_t different, size_t steps);
size_t sk_pieces_of(size_t folds);

/* Whether the step between two of so many pieces is left out, of so many steps in all. */
bool sk_fold_has_gaps(size_t steps, size_t pieces);

/* Whether each of so many clusters has scores of its own; else each of `parts` parts has so many. */
bool sk_clusters_are_few(size_t clusters);
size_t sk_clusters_each(size_t parts);

/* ---- Candidates ---- */

/* Whether a diffusion with p features takes seconds at most: it decomposes a matrix of order q = p (p + 1) / 2 for each
 * fold and, when diagonal, component. */
bool sk_drift_is_screened(size_t degree, double features); /* a learned drift: too many features for one system */
bool sk_diffusion_reaches(size_t d, double eta);           /* a Gaussian one, eta in units of the spread */
bool sk_diffusion_affordable(size_t d, double p, bool diagonal);

/* Whether a full a with p features is tried on `rows` steps: its Q has order p d. */
bool sk_full_is_tried(size_t rows, size_t d, double p);

/* The same of a diagonal a: each component has a Q of order p. Affine ones always are. */
bool sk_diagonal_is_tried(size_t rows, size_t d, double p);

/* Most pivoted features of a Gaussian candidate. */
size_t sk_diffusion_rank(size_t d);
size_t sk_drift_rank(size_t d);

#endif
