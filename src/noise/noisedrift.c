/* noisedrift.c - drifts on innovation rows.
 *
 *   1. Features at all times of all steps; the sums of their rows by fold.
 *   2. Weights without each fold, for every penalty or learned and pruned.
 *   3. Held-out score: what a drift leaves of the innovations of the fold. */
#include "noise/noisefit.h"

#include <math.h>
#include <string.h>

enum { PIECE = 2048 };

typedef struct attempt {
    const sk_measured *m;
    const sk_frozen *z;
    const sk_sweep *sweep;
    sk_drift_sweep s;
} attempt;

/* work on whole runs of one fold, about PIECE steps at a time. */
static sock_status each_piece(attempt *t, sock_status (*work)(attempt *, size_t begin, size_t end, size_t fold))
{
    const sk_measured *m = t->m;
    const size_t *first = m->series.first;
    for (size_t f = 0; f <= m->rows->folds; f++)
        for (size_t r = m->run_first[f], end; r < m->run_first[f + 1]; r = end) {
            for (end = r + 1; end < m->run_first[f + 1] && first[end] - first[r] < PIECE;) end++;
            SK_TRY(work(t, first[r], first[end], f));
        }
    return SOCK_OK;
}

/* psi: (end - begin) times x p. */
static sock_status features_of(const attempt *t, size_t begin, size_t end, double **psi)
{
    const size_t rows = (end - begin) * t->z->times, p = t->s.trial->p;
    sk_rule *rule = NULL;
    SK_TRY(sk_frozen_rule(t->m->ctx, t->z, begin, end, true, &rule));
    *psi = sk_doubles_unset(t->m->ctx, rows, p);
    sock_status status =
        *psi ? sk_occupation_features(t->m->ctx, rule, t->s.trial->map, 0, rows, *psi, p) : SOCK_ENOMEM;
    sk_rule_free(rule);
    return status;
}

static sock_status add(attempt *t, size_t begin, size_t end, size_t fold)
{
    const sk_innovations in = sk_frozen_innovations(t->z, begin, end, fold);
    double *psi = NULL;
    sock_status status = features_of(t, begin, end, &psi);
    if (status >= 0) status = sk_drift_sums_add_innovations(t->m->ctx, t->s.sums, &in, psi);
    sk_free(psi);
    return status;
}

static sock_status score(attempt *t, size_t begin, size_t end, size_t fold)
{
    const size_t n = end - begin, times = t->z->times, d = t->m->series.d, p = t->s.trial->p;
    const sk_innovations in = sk_frozen_innovations(t->z, begin, end, fold);
    double *psi = NULL, *other = sk_doubles_unset(t->m->ctx, n * times, d), *value = sk_doubles(t->m->ctx, n, 1);
    sock_status status = other && value ? features_of(t, begin, end, &psi) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && fold < t->m->rows->folds && j < t->s.lambdas; j++) {
        const double *w = t->s.path + (fold * t->s.lambdas + j) * t->s.trial->size;
        sk_gemm(t->m->ctx, SK_PLAIN, SK_PLAIN, n * times, d, p, 1, psi, p, w, d, 0, other, d);
        status = sk_innovation_scores(t->m->ctx, &in, other, value);
        for (size_t i = 0; status >= 0 && i < n; i++)
            t->s.score[j * t->m->rows->clusters + t->m->rows->cluster[begin + i]] += value[i];
    }
    sk_free(psi);
    sk_free(other);
    sk_free(value);
    return status;
}

/* The sweep of candidate c. */
static sock_status try_one(attempt *t, size_t c)
{
    const sk_measured *m = t->m;
    SK_TRY(sk_drift_sweep_new(m->ctx, m->rows, &m->list->drift[c], t->sweep, &t->s));
    SK_TRY(each_piece(t, add));
    SK_TRY(sk_drift_sweep_solve(m->ctx, &t->s));
    SK_TRY(each_piece(t, score));
    return sk_drift_sweep_finish(&t->s, m->rows->clusters);
}

/* ---- About the model itself ---- */

/* Weights of the drift of the model on the features of the trial; NULL: it has others. */
static sock_status weights_of(const attempt *t, const sock_model *model, const double **out)
{
    bool same = false;
    *out = NULL;
    if (model->drift_terms != 1) return SOCK_OK;
    SK_TRY(sk_same_map(t->m->ctx, model->drift[0]->map, t->s.trial->map, &same));
    if (same) *out = model->drift[0]->weight;
    return SOCK_OK;
}

/* Weights without each fold: those of the model and what leaving the fold out changes in a step from it. The terms of
 * a learned drift are those of the model. */
static sock_status solve_about(const attempt *t, double l, const double *own)
{
    const size_t folds = t->m->rows->folds, size = t->s.trial->size;
    double *all = t->s.trial->solution + folds * size;
    for (size_t f = folds + 1; f-- > 0;) { /* all rows first */
        double *w = t->s.trial->solution + f * size;
        if (t->s.learned)
            SK_TRY(sk_drift_sums_among(t->m->ctx, t->s.sums, f, own, w));
        else
            SK_TRY(sk_drift_sums_ridge(t->m->ctx, t->s.sums, f, 1, &l, w, NULL));
        for (size_t i = 0; f < folds && i < size; i++) w[i] += own[i] - all[i];
    }
    memcpy(all, own, size * sizeof *all);
    return SOCK_OK;
}

sock_status sk_noise_drift_about(const sk_measured *m, const sk_frozen *z, const sock_model *model, size_t c,
                                 sk_trial *trial)
{
    const sk_sweep sweep = {.l = trial->l};
    attempt t = {.m = m, .z = z, .sweep = &sweep};
    const double *own = NULL;
    sock_status status = sk_drift_sweep_new(m->ctx, m->rows, &m->list->drift[c], &sweep, &t.s);
    if (status >= 0) status = weights_of(&t, model, &own);
    if (status >= 0 && own) {
        status = each_piece(&t, add);
        sk_drift_sums_close(t.s.sums);
        if (status >= 0) status = solve_about(&t, sweep.l, own);
        if (status >= 0)
            memcpy(trial->solution, t.s.trial->solution, (m->rows->folds + 1) * trial->size * sizeof(double));
    }
    sk_drift_sweep_clear(&t.s);
    return status;
}

/* ---- All of them ---- */

static sock_status try_candidate(void *arg, size_t c, sk_trial **out)
{
    attempt *t = arg;
    const sock_status status = sk_sweep_hand_over(try_one(t, c), &t->s.trial, out);
    sk_drift_sweep_clear(&t->s);
    return status;
}

sock_status sk_noise_drifts(const sk_measured *m, const sk_frozen *z, const sk_sweep *sweep, sk_trial **trial,
                            size_t *best)
{
    attempt t = {.m = m, .z = z, .sweep = sweep};
    const sk_sweep_field field = {
        m->list, true, m->rows->clusters, trial, "no drift could be fitted to noisy data", try_candidate, &t};
    return sk_sweep_each(m->ctx, sweep, &field, best);
}
