/* identical.c - see identical.h. Fields are compared by what they say of the rows that were held out when they were
 * fitted, I f and I a: that is where a score comes from, and where data are. */
#include "tune/identical.h"

#include "base/comm.h"
#include "base/sums.h"

#include <math.h>

static sock_status compare_block(sock_context *ctx, const sk_view *v, const sk_trial *a, const sk_trial *b,
                                 double *difference, double *square)
{
    const size_t size = v->n * v->d * (a->field == SK_DRIFT ? 1 : v->d);
    double *one = sk_doubles_unset(ctx, size, 1), *other = sk_doubles_unset(ctx, size, 1);
    sock_status status = one && other ? sk_trial_held(ctx, a, v, one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_trial_held(ctx, b, v, other);
    for (size_t i = 0; status >= 0 && i < size; i++) {
        *difference += (one[i] - other[i]) * (one[i] - other[i]);
        *square += one[i] * one[i];
    }
    sk_free(one);
    sk_free(other);
    return status;
}

typedef struct comparing {
    const sk_views *views;
    const sk_trial *a, *b;
    double sum[2], low[2]; /* squares of the difference, and of the field */
} comparing;

static sock_status compare(sock_context *ctx, void *arg, size_t b)
{
    comparing *w = arg;
    const sk_view *v = NULL;
    double part[2] = {0};
    SK_TRY(sk_views_take(ctx, w->views, b, &v));
    double *sum = sk_views_kept(w->views) ? w->sum : part;
    const sock_status status = v->fold < v->folds ? compare_block(ctx, v, w->a, w->b, &sum[0], &sum[1]) : SOCK_OK;
    sk_views_give(w->views, v);
    if (sum == w->sum) return status;
    sk_sums_lock(ctx);
    sk_sums_take(2, part, w->sum, w->low);
    sk_sums_unlock(ctx);
    return status;
}

sock_status sk_same_field(sock_context *ctx, const sk_views *views, const sk_trial *a, const sk_trial *b, bool *same)
{
    comparing w = {.views = views, .a = a, .b = b};
    *same = sk_same_score(a->score, b->score);
    if (!*same) return SOCK_OK;
    SK_TRY(sk_blocks_each(ctx, sk_views_rows(views), !sk_views_kept(views), compare, &w));
    if (sk_views_rows(views)->store) sk_sum_over_all(ctx, 2, w.sum, w.low);
    *same = sk_is_rounding(w.sum[0], w.sum[1]);
    return SOCK_OK;
}

/* The simplest part of the average with the field of part i, the first of equally simple ones: mostly i itself. */
static sock_status first_identical(const sk_search *s, const sk_field_trials *t, const double *share, size_t i,
                                   size_t *first)
{
    *first = i;
    for (size_t j = 0; j < t->count; j++) {
        const int simpler = t->candidate[*first].simplicity - t->candidate[j].simplicity;
        bool same = false;
        if (j == i || !(share[j] > 0) || simpler < 0 || (simpler == 0 && j > *first)) continue;
        SK_TRY(sk_same_field(s->ctx, s->views, t->trial[i], t->trial[j], &same));
        if (same) *first = j;
    }
    return SOCK_OK;
}

static sock_status join(const sk_search *s, const sk_field_trials *t, double *share)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t first;
        if (!(share[i] > 0)) continue;
        SK_TRY(first_identical(s, t, share, i, &first));
        const double given = share[i];
        share[i] = 0;
        share[first] += given;
    }
    return SOCK_OK;
}

sock_status sk_join_identical(sk_search *s, sk_choice *choice)
{
    const sk_field_trials drifts = sk_drift_trials(s), diffusions = sk_diffusion_trials(s);
    size_t best = s->best_diffusion;
    SK_TRY(first_identical(s, &diffusions, choice->share, best, &s->best_diffusion));
    SK_TRY(join(s, &drifts, choice->drift_share));
    SK_TRY(join(s, &diffusions, choice->share));
    for (size_t i = 0; i < s->list.drifts; i++)
        if (choice->drift_share[i] > choice->drift_share[choice->drift]) choice->drift = i;
    return SOCK_OK;
}
