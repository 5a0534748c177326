/* ratechoice.c - see ratechoice.h. Cost: p scores for each monomial that enters, count for each that leaves. */
#include "tune/ratechoice.h"

#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* What is asked, and room for a set that is tried. */
typedef struct asking {
    size_t p;
    sk_rates_score_fn score;
    void *user;
    sk_choice_of_rates set;
} asking;

static bool holds(const sk_choice_of_rates *c, size_t feature)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->feature[i] == feature) return true;
    return false;
}

/* set = c with the feature, or without it where it is there. */
static void change(const sk_choice_of_rates *c, size_t feature, sk_choice_of_rates *set)
{
    size_t count = 0, at = 0;
    if (holds(c, feature)) {
        for (; at < c->count; at++)
            if (c->feature[at] != feature) set->feature[count++] = c->feature[at];
    } else {
        while (at < c->count && c->feature[at] < feature) set->feature[count++] = c->feature[at++];
        set->feature[count++] = feature;
        while (at < c->count) set->feature[count++] = c->feature[at++];
    }
    set->count = count;
}

static void take(const sk_choice_of_rates *from, sk_choice_of_rates *to)
{
    memcpy(to->feature, from->feature, from->count * sizeof *to->feature);
    to->count = from->count;
    to->score = from->score;
}

/* The best change of the choice: one more of those that are not in it, or one less. *best: p where there is none. */
static sock_status best_change(asking *a, const sk_choice_of_rates *c, bool enter, size_t *best, double *score)
{
    *best = a->p;
    *score = -(double)INFINITY;
    for (size_t j = 0; j < a->p; j++) {
        double value;
        if (holds(c, j) == enter) continue;
        change(c, j, &a->set);
        SK_TRY(a->score(a->user, &a->set, &value));
        if (!(value > *score)) continue;
        *best = j;
        *score = value;
    }
    return SOCK_OK;
}

static sock_status choose(asking *a, sk_choice_of_rates *c)
{
    size_t best;
    double score;
    c->score = -(double)INFINITY;
    for (;;) { /* forward */
        SK_TRY(best_change(a, c, true, &best, &score));
        if (best == a->p || !(score - c->score >= SK_RATE_ENTERS || !c->count)) break;
        change(c, best, &a->set);
        a->set.score = score;
        take(&a->set, c);
    }
    while (c->count > 1) { /* backward */
        SK_TRY(best_change(a, c, false, &best, &score));
        if (best == a->p || !(c->score - score < SK_RATE_LEAVES)) break;
        change(c, best, &a->set);
        a->set.score = score;
        take(&a->set, c);
    }
    return SOCK_OK;
}

sock_status sk_choose_rates(sock_context *ctx, size_t p, sk_rates_score_fn score, void *user,
                            sk_choice_of_rates *chosen)
{
    asking a = {.p = p, .score = score, .user = user, .set = {.feature = sk_alloc(ctx, p, sizeof *a.set.feature)}};
    chosen->count = 0;
    sock_status status = a.set.feature ? choose(&a, chosen) : SOCK_ENOMEM;
    if (status >= 0 && !chosen->count) chosen->feature[chosen->count++] = p - 1;
    sk_free(a.set.feature);
    return status;
}
