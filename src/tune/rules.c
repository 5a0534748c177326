/* rules.c - see rules.h. */
#include "tune/rules.h"

#include "score/score.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const double sk_drift_lambdas[SK_DRIFT_LAMBDAS] = {1e2,  1e1,  1,    1e-1, 1e-2, 1e-3,  1e-4,
                                                   1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
const double sk_fine_lambdas[SK_FINE_LAMBDAS] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
const double sk_thin_lambdas[SK_THIN_LAMBDAS] = {1, 1e-2, 1e-4, 1e-6, 1e-8};
const double sk_own_lambdas[SK_OWN_LAMBDAS] = {1e-2, 1e-4, 1e-6, 1e-8};
const double sk_floors[SK_FLOORS] = {0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};

/* ---- Penalties ---- */

size_t sk_lambda_place(size_t count, const double *grid, double l)
{
    size_t at = 0;
    while (at + 1 < count && grid[at] > l * 1.01 /* rounding */) at++;
    return at;
}

size_t sk_best_lambda(size_t count, const double *by_l)
{
    size_t best = 0;
    for (size_t j = 1; j < count; j++)
        if (by_l[j] > by_l[best]) best = j;
    return best;
}

size_t sk_best_drift_lambda(size_t count, const double *by_l, const double *dof, double rows)
{
    size_t best = 0;
    for (size_t j = 1; j < count; j++)
        if (by_l[j] > by_l[best] && dof[j] <= rows / SK_ROWS_PER_FREEDOM) best = j;
    return best;
}

bool sk_at_edge(size_t count, const double *by_l, size_t best)
{
    if (count < 2 || (best > 0 && best + 1 < count)) return false;
    return by_l[best] > by_l[best ? best - 1 : 1] + SK_EDGE_NATS;
}

bool sk_path_is_over(size_t done, const double *by_l)
{
    size_t best = 0, worse = 0;
    for (size_t j = 0; j < done; j++) {
        if (by_l[j] > by_l[best]) best = j;
        const double hopeless = SK_PATH_LOSS + SK_PATH_SHARE * fabs(by_l[best]);
        worse = by_l[j] < by_l[best] - hopeless ? worse + 1 : 0;
    }
    return worse >= SK_PATH_REPEATS;
}

sk_coupling sk_drift_coupling(size_t p, size_t d, bool diagonal, bool learned)
{
    const bool many = d > SK_FEW_DIMENSIONS;
    if (!diagonal && d * p <= (many ? SK_JOINT_ORDER_MANY : SK_JOINT_ORDER_FEW)) return SK_JOINT;
    return many && p > SK_SHARED_FEATURES && !learned ? SK_SHARED : SK_APART;
}

/* The sums have a noise for each component, so those that share a system in the fit do not here. */
bool sk_bands_affordable(size_t p, size_t d, bool joint)
{
    const double order = (double)p * (joint ? (double)d : 1);
    return 2 * order * order * (joint ? 1 : (double)d) <= SK_BAND_NUMBERS;
}

/* ---- Who goes on ---- */

double sk_paired_error(size_t clusters, const double *a, const double *b)
{
    double mean = 0, square = 0;
    for (size_t u = 0; u < clusters; u++) mean += (a[u] - b[u]) / (double)clusters;
    for (size_t u = 0; u < clusters; u++) square += pow(a[u] - b[u] - mean, 2);
    return clusters > 1 ? sqrt((double)clusters * square / (double)(clusters - 1)) : (double)INFINITY;
}

static double error_to_best(const sk_field_trials *t, size_t i)
{
    return sk_paired_error(t->clusters, t->trial[t->best]->cluster, t->trial[i]->cluster);
}

static double behind(const sk_field_trials *t, size_t i) { return t->trial[t->best]->score - t->trial[i]->score; }

/* How many trials are better than trial i. */
static size_t better_than(const sk_field_trials *t, size_t i)
{
    size_t better = 0;
    for (size_t j = 0; j < t->count; j++) better += t->trial[j] && t->trial[j]->score > t->trial[i]->score;
    return better;
}

/* Near the best by paired errors or by nats, at most `most` of them; and every BASIC one, if `basic`. */
static void survivors(const sk_field_trials *t, size_t most, double nats, bool basic, bool *alive)
{
    bool near[SK_MOST] = {false}; /* before the number is cut */
    for (size_t i = 0; i < t->count; i++)
        near[i] = t->trial[i] && (i == t->best || behind(t, i) <= fmax(nats, SK_SCREEN_ERRORS * error_to_best(t, i)));
    for (size_t i = 0; i < t->count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < t->count; j++) better += near[i] && near[j] && t->trial[j]->score > t->trial[i]->score;
        alive[i] = (near[i] && better < most) || (basic && t->trial[i] && (t->candidate[i].roles & SK_ROLE_BASIC));
    }
}

void sk_screen_drifts(const sk_field_trials *t, bool *alive)
{
    survivors(t, SK_SCREEN_DRIFTS, SK_SCREEN_NATS, true, alive);
}

void sk_screen_diffusions(const sk_field_trials *t, size_t d, bool *alive)
{
    survivors(t, SK_SCREEN_DIFFUSIONS, 0, d <= SK_FEW_DIMENSIONS, alive);
}

void sk_near_drifts(const sk_field_trials *t, bool *alive)
{
    for (size_t i = 0; i < t->count; i++) alive[i] = t->trial[i] && behind(t, i) < SK_NEAR_NATS;
}

/* Not so far behind that nodes of its own would not turn the order. */
static bool may_win(const sk_field_trials *t, size_t i)
{
    return i == t->best || behind(t, i) <= fmax(SK_RIVAL_NATS, SK_FINAL_ERRORS * error_to_best(t, i));
}

void sk_near_diffusions(const sk_field_trials *t, bool polish, bool *alive)
{
    for (size_t i = 0; i < t->count; i++) {
        alive[i] = false;
        if (!t->trial[i]) continue;
        const size_t better = better_than(t, i);
        const double reach = polish && better < SK_NEAR_BEST ? SK_NEAR_POLISH : SK_NEAR_NATS;
        const bool finalist = better < SK_FINALISTS && may_win(t, i);
        alive[i] = finalist || behind(t, i) < fmax(reach, error_to_best(t, i));
    }
}

/* The best `most` that are not taken, the first of equal ones first. */
static size_t best_few(const sk_field_trials *t, size_t most, bool *taken, size_t *list)
{
    size_t found = 0;
    for (; found < most; found++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < t->count; i++)
            if (t->trial[i] && !taken[i] && (next == SIZE_MAX || t->trial[i]->score > t->trial[next]->score)) next = i;
        if (next == SIZE_MAX) break;
        taken[next] = true;
        list[found] = next;
    }
    return found;
}

size_t sk_finalists(const sk_field_trials *t, size_t *list)
{
    bool out[SK_MOST] = {false};
    for (size_t i = 0; i < t->count; i++) out[i] = t->trial[i] && !may_win(t, i);
    return best_few(t, SK_FINALISTS, out, list);
}

size_t sk_to_polish(const sk_field_trials *t, const bool *hopeless, size_t *list)
{
    bool taken[SK_MOST] = {false};
    memcpy(taken, hopeless, t->count * sizeof *taken);
    return best_few(t, SK_POLISHED, taken, list);
}

bool sk_polish_is_hopeless(double gain) { return gain < -SK_POLISH_HOPELESS; }

/* Whether a drift is a sum over places rather than of terms. */
static bool is_implicit(const sk_field_trials *t, size_t i) { return sk_kernel_is_implicit(t->candidate[i].kernel); }

size_t sk_rival_drift(const sk_field_trials *t)
{
    size_t rival = SK_MOST;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->trial[i] || is_implicit(t, i) == is_implicit(t, t->best)) continue;
        if (rival == SK_MOST || t->trial[i]->score > t->trial[rival]->score) rival = i;
    }
    if (rival == SK_MOST) return SK_MOST;
    return behind(t, rival) <= fmax(SK_RIVAL_NATS, SK_SCREEN_ERRORS * error_to_best(t, rival)) ? rival : SK_MOST;
}

bool sk_takes_over(double gain, bool simpler) { return gain > (simpler ? -SK_SIMPLER_NATS : 0); }

/* Between the drift that gained most by the new model and the one that gained least. */
static double gains_differ(const sk_judgement *last, const sk_field_trials *now)
{
    double most = -(double)INFINITY, least = (double)INFINITY;
    for (size_t i = 0; i < now->count; i++) {
        if (!now->trial[i] || isnan(last->score[i])) continue;
        most = fmax(most, now->trial[i]->score - last->score[i]);
        least = fmin(least, now->trial[i]->score - last->score[i]);
    }
    return most - least;
}

bool sk_judged_badly(const sk_judgement *last, const sk_field_trials *now)
{
    return last->best < last->constant || gains_differ(last, now) > SK_BACK_NATS;
}

bool sk_worth_refitting(double gain) { return gain > SK_REFIT_NATS; }

bool sk_round_accepted(double score, double last) { return score > last - SK_ROUND_LOSS; }

void sk_lost_drifts(const sk_field_trials *t, bool *lost)
{
    for (size_t i = 0; i < t->count; i++) {
        lost[i] = false;
        if (!t->trial[i] || i == t->best) continue;
        const double noise = SK_FREEDOM_PRICE * fmax(t->trial[i]->dof - t->trial[t->best]->dof, 0);
        lost[i] = behind(t, i) > noise + SK_SCREEN_ERRORS * error_to_best(t, i);
    }
}

/* Of a candidate without a trial, as many as it may have. */
static double features_of(const sk_field_trials *t, size_t i, size_t d)
{
    const sk_candidate *c = &t->candidate[i];
    return t->trial[i] ? (double)t->trial[i]->p : sk_kernel_features(c->kernel, d, c->max_rank);
}

void sk_drifts_back(const sk_judgement *last, const sk_field_trials *now, size_t d, const bool *alive, bool *back)
{
    const bool gained = now->trial[now->best]->score > last->best + SK_BACK_NATS, badly = sk_judged_badly(last, now);
    for (size_t i = 0; i < now->count; i++)
        back[i] = gained && !alive[i] && (badly || features_of(now, i, d) <= SK_BACK_FEATURES);
}

void sk_drifts_for_all(const sk_field_trials *t, size_t d, const double *share, const bool *lost, bool *alive)
{
    bool seen[SK_MOST] = {false};
    size_t list[SK_MOST] = {0};
    double room = SK_JOINING_FEATURES;
    for (size_t i = 0; i < t->count; i++) {
        alive[i] = share[i] > 0;
        seen[i] = alive[i] || lost[i];
    }
    size_t count = best_few(t, t->count, seen, list);
    for (size_t i = 0; d <= SK_FEW_DIMENSIONS && i < t->count; i++)
        if (!seen[i]) list[count++] = i;
    for (size_t k = 0; k < count; k++) {
        const double features = features_of(t, list[k], d);
        if (features > room) continue;
        alive[list[k]] = true;
        room -= features;
    }
}

/* ---- Shares ---- */

double sk_density_allowance(size_t rows, size_t d)
{
    return rows > SK_SEARCH_ROWS ? SK_DENSITY_NATS * (double)(rows - SK_SEARCH_ROWS) * (double)d : 0;
}

double sk_drift_allowance(double error, double saved, size_t rows)
{
    const double most = SK_SIMPLER_NATS * fmax(1, (double)SK_FEW_ROWS / (double)rows);
    return fmax(fmin(error, most), fmin(saved * SK_FREEDOM_NATS, fmax(error, SK_FREEDOM_MOST)));
}

size_t sk_simplest_drift(const sk_field_trials *t, size_t rows)
{
    const double tie = sk_density_allowance(rows, t->trial[t->best]->d);
    size_t chosen = t->best;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->trial[i] || t->candidate[i].simplicity >= t->candidate[chosen].simplicity) continue;
        const double saved = t->trial[t->best]->dof - t->trial[i]->dof;
        const double allowed = fmax(sk_drift_allowance(error_to_best(t, i), saved, rows), tie);
        if (behind(t, i) <= allowed + SK_TIE_NATS) chosen = i;
    }
    return chosen;
}

/* What a drift's weight in an average is made of. */
static double priced(const sk_trial *trial) { return trial->score - SK_FREEDOM_PRICE * trial->dof; }

static double best_priced(const sk_field_trials *t)
{
    double top = -(double)INFINITY;
    for (size_t i = 0; i < t->count; i++)
        if (t->trial[i]) top = fmax(top, priced(t->trial[i]));
    return top;
}

bool sk_drift_stays(const sk_field_trials *t, size_t i)
{
    return t->trial[i] && best_priced(t) - priced(t->trial[i]) <= SK_BACK_BEHIND;
}

void sk_drift_weights(const sk_field_trials *t, double *weight)
{
    const double top = best_priced(t);
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        weight[i] = t->trial[i] ? exp((priced(t->trial[i]) - top) / SK_SHARE_NATS) : 0;
        if (!(weight[i] > SK_SHARE_LEAST)) weight[i] = 0;
        sum += weight[i];
    }
    for (size_t i = 0; i < t->count; i++) weight[i] /= sum;
}

void sk_drift_shares(const sk_field_trials *t, size_t rows, bool average, double *share, size_t *lead)
{
    *lead = sk_simplest_drift(t, rows);
    for (size_t i = 0; i < t->count; i++) share[i] = i == *lead;
    if (!average || (t->candidate[*lead].roles & SK_ROLE_SHORT)) return;
    sk_drift_weights(t, share);
    for (size_t i = 0; i < t->count; i++)
        if (share[i] > share[*lead]) *lead = i;
}

void sk_diffusion_shares(const sk_field_trials *t, bool average, double *share)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        share[i] = 0;
        if (!t->trial[i]) continue;
        const int simpler = t->candidate[t->best].simplicity - t->candidate[i].simplicity;
        const double weight = exp((-behind(t, i) + SK_SIMPLICITY_NATS * simpler) / SK_SHARE_NATS);
        if (i == t->best || (average && better_than(t, i) < SK_AVERAGED && weight > SK_SHARE_LEAST)) share[i] = weight;
        sum += share[i];
    }
    for (size_t i = 0; i < t->count; i++) share[i] /= sum;
}

void sk_largest_shares(size_t count, const double *share, bool *alive)
{
    for (size_t i = 0; i < count; i++) {
        size_t larger = 0;
        for (size_t j = 0; j < count; j++) larger += share[j] > share[i];
        alive[i] = share[i] > 0 && larger < SK_ALL_DIFFUSIONS;
    }
}

/* ---- Polish ---- */

bool sk_polish_has_room(size_t d) { return d <= SK_POLISH_RANK; }

double sk_polish_jitter(size_t width, double middle, double resolution)
{
    return fmax((width > 1 ? SK_POLISH_JITTER_MANY : SK_POLISH_JITTER_ONE) * middle, resolution);
}

double sk_polish_penalty(size_t rows, double l, double scale, double typical)
{
    const double relative =
        typical * typical / pow(1 + SK_SIZE_SHARE, 2); /* a row of the median size: 1 + the share of its weight */
    return relative > 0 ? (double)rows * l * scale / (4 * relative) : 0;
}

/* ---- Floor and guards ---- */

static double cluster_error(size_t clusters, const double *by_floor, size_t a, size_t b)
{
    return sk_paired_error(clusters, by_floor + a * clusters, by_floor + b * clusters);
}

size_t sk_pick_floor(const sk_floor_scores *s)
{
    const bool few = s->rows < SK_FEW_ROWS;
    const double allowed = few ? SK_FLOOR_FEW / (double)s->rows : 0;
    size_t best = sk_best_lambda(SK_USUAL_FLOORS, s->score), chosen = best;
    if (s->bounded && s->score[best] - s->score[0] <= cluster_error(s->clusters, s->cluster, 0, best)) return 0;
    for (size_t g = best + 1; g < SK_USUAL_FLOORS; g++) {
        const double error = cluster_error(s->clusters, s->cluster, best, g);
        if (s->score[best] - s->score[g] <= fmin(fmax(error, allowed), SK_FLOOR_NATS)) chosen = g;
    }
    size_t clearest = chosen, both = chosen;
    for (size_t g = chosen + 1; g < SK_FLOORS; g++) {
        if (s->euler[g] > s->euler[clearest]) clearest = g;
        if (s->euler[g] + s->score[g] > s->euler[both] + s->score[both]) both = g;
    }
    const double error = cluster_error(s->clusters, s->euler_cluster, chosen, clearest);
    const bool doubtful = few || !(s->euler[chosen] > s->constant);
    return doubtful && !(s->euler[clearest] - s->euler[chosen] <= fmax(error, SK_FLOOR_NATS)) ? both : chosen;
}

double sk_needed_gain(double error, size_t tried)
{
    return fmax(isfinite(error) ? fmin(error, SK_GAIN_ERROR) : error, log((double)tried));
}

double sk_needed_of_some(double error, size_t tried) { return SK_MOMENTS_CLEAR * sk_needed_gain(error, tried); }

double sk_slope_asked(size_t d) { return SK_SLOPE_NATS + SK_MEAN_NATS * (double)d; }

bool sk_worth_a_slope(size_t d, double gain) { return gain > sk_slope_asked(d); }

bool sk_slope_is_clear(double gain) { return gain > SK_SLOPE_CLEAR; }

bool sk_richer_is_told(double gain) { return gain > SK_RICHER_TOLD; }

double sk_shrink_keeps(double share, size_t k) { return 1 - share * (double)k / (SK_SHRINKS - 1); }

bool sk_worse_than_constant(double score, double constant) { return score < constant - SK_WORSE_NATS; }

size_t sk_models_tried(bool plain, size_t drifts, size_t diffusions)
{
    return plain ? SK_PLAIN_TRIED : drifts * diffusions;
}

bool sk_worth_sharpening(double gain) { return !(gain > SK_CLEAR_GAIN); }

bool sk_moments_affordable(size_t rows, size_t d)
{
    return d <= SK_MOMENTS_MOST_DIM && (double)rows * pow((double)d, 3) <= SK_MOMENTS_COST;
}

bool sk_inertia_noise_gains(size_t d, double nats, double error)
{
    return nats >= SK_INERTIA_NOISE_GAIN * (double)d && nats > error;
}

/* ---- Identical parts ---- */

bool sk_same_score(double a, double b) { return fabs(a - b) <= SK_IDENTICAL_SCORE * (1 + fabs(a)); }

bool sk_is_rounding(double difference, double square) { return difference <= SK_IDENTICAL * SK_IDENTICAL * square; }

/* ---- Rows ---- */

double sk_rows_bytes(size_t n, size_t d) { return (double)n * (SK_ROW_BYTES + SK_STATE_BYTES * (double)d); }

bool sk_take_part(size_t n, size_t wanted) { return (double)n > SK_MANY_ROWS * (double)wanted; }

bool sk_keep_numbers(size_t rows, size_t each) { return (double)rows * (double)each <= SK_KEPT_NUMBERS; }

double sk_jitter(size_t d, double middle, double resolution)
{
    return fmax((d > 1 ? SK_JITTER_MANY : SK_JITTER_ONE) * middle, resolution);
}

bool sk_jitter_is_grain(double jitter, double resolution) { return resolution > 0 && resolution >= jitter; }

bool sk_is_grain(size_t same, size_t whole, size_t moving)
{
    return same >= SK_GRAIN_REPEATS && (double)same >= SK_GRAIN_SHARE * (double)moving &&
           (double)whole >= SK_GRAIN_WHOLE * (double)moving;
}

bool sk_is_multiple(double change, double grain)
{
    return fabs(change / grain - nearbyint(change / grain)) <= SK_GRAIN_OFF;
}

double sk_own_zero(double mean, double deviation)
{
    return fabs(mean) < SK_ZERO_ITSELF * deviation ? 0 : sk_roundest(mean, SK_ZERO_REACH * deviation);
}

/* ---- Folds ---- */

bool sk_folds_are_trajectories(size_t different, size_t steps) { return different >= SK_FEW_TRAJECTORIES || steps < 2; }

size_t sk_pieces_of(size_t folds) { return SK_PIECES * folds; }

bool sk_fold_has_gaps(size_t steps, size_t pieces) { return steps >= SK_GAP_STEPS * pieces; }

bool sk_clusters_are_few(size_t clusters) { return clusters <= SK_MOST_CLUSTERS; }

size_t sk_clusters_each(size_t parts) { return SK_MAX(1, SK_MOST_CLUSTERS / parts); }

/* ---- Candidates ---- */

bool sk_drift_is_screened(size_t degree, double features)
{
    return degree == 2 && features > SK_DRIFT_FEATURES && features <= SK_SCREENED_FEATURES;
}

/* Points of d coordinates are sqrt(2 d) spreads apart: a kernel that falls to nothing on the way leaves a = 0 between
 * its pivots. */
bool sk_diffusion_reaches(size_t d, double eta) { return d <= SK_MANY_DIMENSIONS || eta * eta >= (double)d; }

bool sk_diffusion_affordable(size_t d, double p, bool diagonal)
{
    const double q = p * (p + 1) / 2;
    const double most = d > SK_MANY_DIMENSIONS ? SK_AFFORDABLE_MANY : SK_AFFORDABLE;
    return q * q * q * (diagonal ? (double)d : 1) <= most;
}

bool sk_full_is_tried(size_t rows, size_t d, double p)
{
    const double side = (double)d, order = p * side;
    if (d == 1) return true;
    if (order > SK_FULL_ORDER) return false;
    return d <= SK_FEW_DIMENSIONS || p <= 1 ||
           (double)rows * side * (side + 1) >= SK_FULL_NUMBERS * order * (order + 1);
}

bool sk_diagonal_is_tried(size_t rows, size_t d, double p)
{
    if (d <= SK_FEW_DIMENSIONS || d > SK_MANY_DIMENSIONS || p <= (double)d + 1) return true;
    return 2 * (double)rows >= SK_DIAGONAL_NUMBERS * p * (p + 1);
}

size_t sk_diffusion_rank(size_t d)
{
    size_t rank = d == 1 ? SK_DIFFUSION_RANK_ONE : SK_DIFFUSION_RANK_MANY;
    while (rank > SK_DIFFUSION_RANK_LEAST && !sk_diffusion_affordable(d, (double)rank, d > 1)) rank--;
    return rank;
}

size_t sk_drift_rank(size_t d)
{
    return d == 1 ? SK_DRIFT_RANK_ONE : d <= SK_FEW_DIMENSIONS ? SK_DRIFT_FEATURES : SK_DRIFT_RANK_MANY;
}

size_t sk_budget_rows(double budget, size_t d, size_t most)
{
    const double cube = (double)d * (double)d * (double)d;
    const double rows = budget > 0 ? SK_BUDGET_RATE * fmax(budget, SK_BUDGET_LEAST) / cube : (double)INFINITY;
    return rows < (double)most ? SK_MAX((size_t)rows, SK_BUDGET_ROWS) : most;
}

size_t sk_search_rows(size_t d) { return (size_t)fmin(SK_SEARCH_ROWS, SK_SEARCH_NUMBERS / ((double)d * (double)d)); }

bool sk_too_few(size_t n) { return n < SK_LEAST_ROWS; }

/* ---- Noise and long steps ---- */

size_t sk_simplest_near(const sk_field_trials *t, double nats)
{
    size_t best = SK_MOST, simplest = SK_MOST;
    for (size_t i = 0; i < t->count; i++)
        if (t->trial[i] && (best == SK_MOST || t->trial[i]->score > t->trial[best]->score)) best = i;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->trial[i]) continue;
        const double lost = t->trial[best]->score - t->trial[i]->score;
        const double error = sk_paired_error(t->clusters, t->trial[best]->cluster, t->trial[i]->cluster);
        const bool simpler = simplest == SK_MOST || t->candidate[i].simplicity < t->candidate[simplest].simplicity;
        if (simpler && (i == best || lost <= fmin(error, nats))) simplest = i;
    }
    return simplest;
}

/* z-scores beyond these quantiles of the normal law: P = 1 - 0.16 / d, d = 1 .. 10. */
static const double suspicious[] = {0.994, 1.405, 1.614, 1.751, 1.852, 1.931, 1.995, 2.054, 2.100, 2.144};

double sk_noise_least(double clean, size_t steps, size_t d)
{
    return clean - fmax(SK_NOISE_HOPELESS, SK_HOPELESS_EACH * (double)steps * (double)d);
}

bool sk_noise_suspected(size_t d, const double *z)
{
    double largest = -(double)INFINITY, sum = 0;
    assert(d > 0);
    for (size_t k = 0; k < d; k++) {
        largest = fmax(largest, z[k]);
        sum += z[k] / sqrt((double)d);
    }
    return largest >= suspicious[SK_MIN(d, sizeof suspicious / sizeof *suspicious) - 1] || sum >= SK_NOISE_SUM;
}

double sk_loss_allowed(bool lenient, size_t steps)
{
    return lenient ? fmax(SK_SWEEP_LOSS, SK_SWEEP_SHARE * (double)steps) : SK_ROUND_LOSS;
}

bool sk_has_settled(double gain) { return fabs(gain) < SK_NOISE_SETTLED; }

size_t sk_sweep_rank(bool diagonal, size_t d)
{
    return diagonal ? SK_NOISE_RANK : SK_MIN((size_t)SK_NOISE_RANK, SK_NOISE_A_ORDER / d);
}

bool sk_is_long(size_t substeps) { return substeps >= SK_SURELY_LONG; }

double sk_richer_drift_asked(double error) { return fmin(error, SK_NOISE_DRIFT_NATS); }

double sk_richer_diffusion_asked(bool is_long, double error)
{
    if (is_long) return fmax(SK_RICHER_ERRORS_LONG * error, SK_RICHER_NATS_LONG);
    return fmin(error, SK_NOISE_DIFFUSION_NATS);
}

/* R that is not there gains half a squared normal variable, half of the time: P(gain > 2) = 2.3 %, and the error of
 * such a gain is its square root times sqrt 2, so beyond one error is the same. Over long steps R that is missed costs
 * many times what R that is not there does: P = 8 % there. */
double sk_noise_gain_asked(size_t d, bool is_long)
{
    const double more = (double)(d - 1);
    return is_long ? SK_NOISE_GAIN_LONG + SK_NOISE_EACH_LONG * more : SK_NOISE_GAIN + SK_NOISE_GAIN_EACH * more;
}

static bool gains_over_same(const sk_noise_evidence *e)
{
    const double errors = e->is_long ? SK_NOISE_ERRORS_LONG : SK_NOISE_ERRORS;
    return e->over_same.nats >= fmax(sk_noise_gain_asked(e->d, e->is_long), errors * e->over_same.error);
}

bool sk_noise_is_behind(double nats, bool grained) { return nats < (grained ? 0 : -SK_NOISE_UNDER); }

bool sk_noise_gains(const sk_noise_evidence *e)
{
    return gains_over_same(e) && e->over_clean.nats >= sk_noise_gain_asked(e->d, e->is_long);
}

bool sk_noise_is_sure(const sk_noise_evidence *e)
{
    return e->z >= SK_NOISE_SURE && gains_over_same(e) && e->over_clean.nats >= -SK_NOISE_AHEAD;
}

double sk_noise_hint_asked(size_t d, bool is_long)
{
    const double one = sk_noise_gain_asked(1, is_long), more = sk_noise_gain_asked(d, is_long) - one;
    return SK_NOISE_HINT * one + (is_long ? SK_NOISE_HINT : 1) * more;
}

void sk_noise_leave_behind(const sk_field_trials *all, bool *out)
{
    double best = -(double)INFINITY;
    for (size_t i = 0; i < all->count; i++)
        if (all->trial[i]) best = fmax(best, all->trial[i]->score);
    for (size_t i = 0; i < all->count; i++)
        if (all->trial[i] && all->trial[i]->score < best - SK_NOISE_BEHIND) out[i] = true;
}

bool sk_noise_correlated(size_t d, const double *z)
{
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < k; l++)
            if (fabs(z[k * d + l]) > SK_NOISE_CROSS) return true;
    return false;
}

bool sk_long_steps_worth(size_t steps, size_t substeps, double promise)
{
    return steps >= SK_FLOW_STEPS && (sk_is_long(substeps) || (substeps > 1 && promise >= SK_LONG_GAIN));
}

bool sk_flow_affordable(size_t steps, size_t substeps, size_t d)
{
    return substeps < 2 || (double)steps * (double)substeps * (double)(d * d) <= SK_FLOW_NUMBERS;
}

/* Where one substep was enough in the end, steps are short, and the rules of the clean fit hold. Where many are needed
 * the clean fit's rule is known to be off: its a by a fifth in OU at h = 1, whose gain of 5 nats has an error of 5. */
bool sk_long_steps_win(size_t substeps, double nats, double error)
{
    return substeps > 1 && nats >= fmax(SK_LONG_GAIN, sk_is_long(substeps) ? 0 : error);
}

bool sk_long_steps_doubtful(double doubt, double ahead, size_t values)
{
    return doubt >= SK_DOUBT_NATS && ahead <= SK_DOUBT_AHEAD * (double)values;
}

bool sk_grain_hides(double rest) { return rest > SK_GRAIN_REST; }

bool sk_is_rounding_noise(double r, double grain) { return r >= SK_ROUNDING_FOUND * grain * grain / 12; }

bool sk_rounding_shows(double share) { return share >= SK_ROUNDING_SHARE; }

/* ---- Boundaries ---- */

bool sk_has_bound(double least, double mean) { return least >= 0 && least < SK_BOUND_SHARE * mean; }

bool sk_bound_stands(double there, double usual) { return there <= SK_BOUND_LEFT * usual; }

bool sk_bound_is_gone(double there, double usual) { return usual > 0 && there <= SK_BOUND_GONE * usual; }

bool sk_bound_has_close(size_t close) { return close >= SK_BOUND_CLOSE; }

bool sk_bounded_is_tried(size_t d, double p, bool rich)
{
    return p <= SK_DIFFUSION_FEATURES && p * (double)d <= (rich ? SK_ROOT_ORDER : SK_FULL_ORDER);
}
