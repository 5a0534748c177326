/* twins.c - see twins.h. Fields are compared by what they say of the steps that were held out when they were fitted,
 * I f and I a: that is where a score comes from, and where data are. */
#include "tune/twins.h"

#include <math.h>

/* Whether |u - v| <= SK_TWIN_ERROR |u| in the Euclidean norm; sums of squares of the difference and of u. */
static bool is_rounding(double difference, double square)
{
    return difference <= SK_TWIN_ERROR * SK_TWIN_ERROR * square;
}

/* I f of step i, component k, from the fit without fold f. */
static double held_drift(const sk_problem *p, const sk_drift_result *r, size_t f, size_t i, size_t k)
{
    const double *psi = r->psi + i * r->p, *weight = r->weight + f * r->p * p->d + k;
    double sum = 0;
    for (size_t j = 0; j < r->p; j++) sum += psi[j] * weight[j * p->d];
    return sum;
}

/* Twins have the same score; the rest is looked at only then. */
static bool same_score(double a, double b) { return fabs(a - b) <= 1e-5 * (1 + fabs(a)); }

bool sk_same_drift(const sk_problem *p, const sk_drift_result *a, const sk_drift_result *b)
{
    double difference = 0, square = 0;
    if (!same_score(a->score, b->score)) return false;
    for (size_t f = 0; f < p->folds; f++)
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++)
            for (size_t k = 0; k < p->d; k++) {
                double one = held_drift(p, a, f, i, k), other = held_drift(p, b, f, i, k);
                difference += (one - other) * (one - other);
                square += one * one;
            }
    return is_rounding(difference, square);
}

bool sk_same_diffusion(const sk_problem *p, const sk_diffusion_result *a, const sk_diffusion_result *b)
{
    double difference = 0, square = 0;
    if (!same_score(a->score, b->score)) return false;
    for (size_t i = p->first[0] * p->d * p->d; i < p->first[p->folds] * p->d * p->d; i++) {
        difference += (a->held[i] - b->held[i]) * (a->held[i] - b->held[i]);
        square += a->held[i] * a->held[i];
    }
    return is_rounding(difference, square);
}

/* The simplest part of the average with the field of part i, the first of equally simple ones: mostly i itself. */
static size_t first_drift(const sk_search *s, const double *share, size_t i)
{
    size_t first = i;
    for (size_t j = 0; j < s->list.drifts; j++) {
        int simpler = s->list.drift[first].order - s->list.drift[j].order;
        if (j == i || !(share[j] > 0) || simpler < 0 || (simpler == 0 && j > first)) continue;
        if (sk_same_drift(s->full, s->drift[i], s->drift[j])) first = j;
    }
    return first;
}

static size_t first_diffusion(const sk_search *s, const double *share, size_t i)
{
    size_t first = i;
    for (size_t j = 0; j < s->list.diffusions; j++) {
        int simpler = s->list.diffusion[first].order - s->list.diffusion[j].order;
        if (j == i || !(share[j] > 0) || simpler < 0 || (simpler == 0 && j > first)) continue;
        if (sk_same_diffusion(s->full, s->diffusion[i], s->diffusion[j])) first = j;
    }
    return first;
}

static void give(double *share, size_t i, size_t twin)
{
    const double given = share[i];
    share[i] = 0;
    share[twin] += given;
}

void sk_join_twins(sk_search *s, sk_choice *choice)
{
    double *drift = choice->drift_share, *diffusion = choice->share;
    s->best_diffusion = first_diffusion(s, diffusion, s->best_diffusion);
    for (size_t i = 0; i < s->list.drifts; i++)
        if (drift[i] > 0) give(drift, i, first_drift(s, drift, i));
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (diffusion[i] > 0) give(diffusion, i, first_diffusion(s, diffusion, i));
    for (size_t i = 0; i < s->list.drifts; i++)
        if (drift[i] > drift[choice->drift]) choice->drift = i;
}
