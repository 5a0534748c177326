/* rules.c - see rules.h. */
#include "tune/rules.h"

#include <math.h>
#include <string.h>

const double sk_drift_lambdas[SK_DRIFT_LAMBDAS] = {1e2,  1e1,  1,    1e-1, 1e-2, 1e-3,  1e-4,
                                                   1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
const double sk_floors[SK_FLOORS] = {0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};

/* ---- Penalties ---- */

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

void sk_survivors(const sk_field_trials *t, size_t most, bool basic, bool *alive)
{
    bool near[SK_MOST] = {false}; /* before the number is cut */
    for (size_t i = 0; i < t->count; i++)
        near[i] = t->trial[i] && (i == t->best || behind(t, i) <= SK_SCREEN_ERRORS * error_to_best(t, i));
    for (size_t i = 0; i < t->count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < t->count; j++) better += near[i] && near[j] && t->trial[j]->score > t->trial[i]->score;
        alive[i] = (near[i] && better < most) || (basic && t->trial[i] && (t->candidate[i].roles & SK_ROLE_BASIC));
    }
}

void sk_near_drifts(const sk_field_trials *t, bool *alive)
{
    for (size_t i = 0; i < t->count; i++) alive[i] = t->trial[i] && behind(t, i) < SK_NEAR_NATS;
}

void sk_near_diffusions(const sk_field_trials *t, bool polish, bool *alive)
{
    const double reach = polish ? SK_NEAR_POLISH : SK_NEAR_NATS;
    for (size_t i = 0; i < t->count; i++)
        alive[i] = t->trial[i] && (better_than(t, i) < SK_FINALISTS || behind(t, i) < fmax(reach, error_to_best(t, i)));
}

size_t sk_next_best(const sk_field_trials *t, const bool *tried)
{
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < t->count; i++)
        if (t->trial[i] && !tried[i] && (next == SIZE_MAX || t->trial[i]->score > t->trial[next]->score)) next = i;
    return next;
}

bool sk_round_accepted(double score, double last) { return score > last - SK_ROUND_LOSS; }

/* ---- Shares ---- */

double sk_drift_allowance(double error, double saved, size_t rows)
{
    const double most = SK_SIMPLER_NATS * fmax(1, (double)SK_FEW_ROWS / (double)rows);
    return fmax(fmin(error, most), fmin(saved * SK_FREEDOM_NATS, fmax(error, SK_FREEDOM_MOST)));
}

size_t sk_simplest_drift(const sk_field_trials *t, size_t rows)
{
    size_t chosen = t->best;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->trial[i] || t->candidate[i].simplicity >= t->candidate[chosen].simplicity) continue;
        const double saved = t->trial[t->best]->dof - t->trial[i]->dof;
        if (behind(t, i) <= sk_drift_allowance(error_to_best(t, i), saved, rows) + SK_TIE_NATS) chosen = i;
    }
    return chosen;
}

/* What a drift's weight in an average is made of. */
static double priced(const sk_trial *trial) { return trial->score - SK_FREEDOM_PRICE * trial->dof; }

void sk_drift_shares(const sk_field_trials *t, size_t rows, bool average, double *share, size_t *lead)
{
    double sum = 0, top = -(double)INFINITY;
    *lead = sk_simplest_drift(t, rows);
    for (size_t i = 0; i < t->count; i++) share[i] = i == *lead;
    if (!average || (t->candidate[*lead].roles & SK_ROLE_SHORT)) return;
    for (size_t i = 0; i < t->count; i++)
        if (t->trial[i]) top = fmax(top, priced(t->trial[i]));
    for (size_t i = 0; i < t->count; i++) {
        share[i] = t->trial[i] ? exp((priced(t->trial[i]) - top) / SK_SHARE_NATS) : 0;
        if (!(share[i] > SK_SHARE_LEAST)) share[i] = 0;
        sum += share[i];
    }
    for (size_t i = 0; i < t->count; i++)
        if (share[i] > share[*lead]) *lead = i;
    for (size_t i = 0; i < t->count; i++) share[i] /= sum;
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

double sk_needed_gain(double error, size_t tried) { return fmax(error, log((double)tried)); }

bool sk_worse_than_constant(double score, double constant) { return score < constant - SK_WORSE_NATS; }

/* ---- Identical parts ---- */

bool sk_same_score(double a, double b) { return fabs(a - b) <= SK_IDENTICAL_SCORE * (1 + fabs(a)); }

bool sk_is_rounding(double difference, double square) { return difference <= SK_IDENTICAL * SK_IDENTICAL * square; }

/* ---- Rows ---- */

bool sk_take_part(size_t n, size_t wanted) { return (double)n > SK_MANY_ROWS * (double)wanted; }
