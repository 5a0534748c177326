/* noisediffusion.c - diffusions on pulled back rows, scored by the frozen filter.
 *
 *   1. Features; the sums of the rows by fold.
 *   2. Q without each fold, penalty after penalty, large to small.
 *   3. Held-out: I a on the nodes of the frozen pass, the frozen likelihood of the fold's runs. */
#include "noise/noisefit.h"

#include "tune/policy.h"
#include "tune/sweeptrial.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LAMBDAS = SK_THIN_LAMBDAS, AT_ONCE = 256 };

typedef struct attempt {
    const sk_measured *m;
    const sk_rows_of_a *rows;
    const sk_frozen *z;
    sk_candidate candidate; /* a copy with its rank cut; borrows the rest */
    sk_trial *trial;
    sk_diffusion_sums *sums;
    size_t lambdas; /* that are solved for: down to the one wanted */
    double *weight; /* systems x rows */
    double *q;      /* folds x lambdas x size */
    double *score;  /* lambdas x clusters */
    double *held;   /* steps x d x d: I a */
    double *term;   /* steps */
} attempt;

static void attempt_clear(attempt *t)
{
    sk_trial_free(t->trial);
    sk_diffusion_sums_free(t->sums);
    sk_free(t->weight);
    sk_free(t->q);
    sk_free(t->score);
    sk_free(t->held);
    sk_free(t->term);
}

/* ---- Step 1 ---- */

/* 1 / (size / median + a share)^2 as in the clean search; 0 where a row could not be pulled back. */
static void weigh(const attempt *t)
{
    const sk_pulled *q = t->rows->pulled;
    const size_t systems = sk_trial_systems(t->trial);
    sk_diffusion_sweep_weights(t->trial, q->n, q->diffusion, t->rows->typical, SK_SIZE_SHARE, t->weight);
    for (size_t i = 0; i < systems * q->n; i++)
        if (!q->good[i % q->n]) t->weight[i] = 0;
}

static sock_status add(attempt *t, bool folds)
{
    const sk_transitions *rows = t->m->rows;
    const sk_pulled *q = t->rows->pulled;
    const sk_view like = {.d = q->d, .folds = rows->folds};
    SK_TRY(
        sk_diffusion_sums_new(t->m->ctx, t->trial->map, &like, t->trial->diagonal, folds ? rows->folds : 0, &t->sums));
    for (size_t f = 0; f <= rows->folds; f++) {
        const sk_given_rows given = {
            f, q->rule, rows->first[f] * t->rows->each, rows->first[f + 1] * t->rows->each, q->z, t->weight, NULL};
        SK_TRY(sk_diffusion_sums_add_given(t->m->ctx, t->sums, &given));
    }
    sk_diffusion_sums_close(t->sums);
    t->trial->lambda_scale = sk_diffusion_sums_unit(t->sums, 0, NULL);
    return SOCK_OK;
}

/* ---- Step 2 ---- */

static sk_diffusion_sweep sweep_of(const attempt *t)
{
    return (sk_diffusion_sweep){t->trial, t->sums, sk_thin_lambdas, t->lambdas, t->m->tolerance, t->q, t->score};
}

/* ---- Step 3 ---- */

/* I a of the steps of fold f by q, on the nodes of the frozen pass. b: svec rows of these steps. */
static sock_status integrate(const attempt *t, size_t f, const double *q, const double *b)
{
    const size_t first = t->m->rows->first[f], n = t->m->rows->first[f + 1] - first, d = t->m->series.d;
    return sk_svec_integrate(t->m->ctx, d, t->trial->p, t->trial->diagonal, q, n, b, t->held + first * d * d);
}

static sock_status products(const attempt *t, size_t f, double **out)
{
    const size_t first = t->m->rows->first[f], n = t->m->rows->first[f + 1] - first, p = t->trial->p;
    const size_t q = p * (p + 1) / 2;
    sk_rule *rule = NULL;
    SK_TRY(sk_frozen_rule(t->m->ctx, t->z, first, first + n, false, &rule));
    *out = sk_doubles_unset(t->m->ctx, n, q);
    sock_status status = *out ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < n; at += AT_ONCE)
        status = sk_svec_rows(t->m->ctx, t->trial->map, rule, at, SK_MIN(at + AT_ONCE, n), *out + at * q, NULL);
    sk_rule_free(rule);
    return status;
}

static sock_status score_fold(attempt *t, size_t f)
{
    const sk_transitions *rows = t->m->rows;
    double *b = NULL;
    sock_status status = products(t, f, &b);
    for (size_t j = 0; status >= 0 && j < t->lambdas; j++) {
        const sk_frozen_change change = {.diffusion = t->held};
        status = integrate(t, f, t->q + (f * t->lambdas + j) * t->trial->size, b);
        if (status >= 0)
            status = sk_frozen_scores(t->m->ctx, t->z, t->m->run_first[f], t->m->run_first[f + 1], &change, t->term);
        for (size_t i = rows->first[f]; status >= 0 && i < rows->first[f + 1]; i++)
            t->score[j * rows->clusters + rows->cluster[i]] += t->term[i];
    }
    sk_free(b);
    return status;
}

/* ---- One and all ---- */

static sock_status attempt_new(attempt *t)
{
    const sk_measured *m = t->m;
    const size_t d = m->series.d;
    SK_TRY(sk_trial_new(m->ctx, m->rows, &t->candidate, LAMBDAS, sk_thin_lambdas, &t->trial));
    assert(t->trial);
    t->weight = sk_doubles(m->ctx, sk_trial_systems(t->trial), t->rows->pulled->n);
    t->q = sk_doubles(m->ctx, m->rows->folds * t->lambdas, t->trial->size);
    t->score = sk_doubles(m->ctx, t->lambdas, m->rows->clusters);
    t->held = sk_doubles(m->ctx, m->series.steps, d * d);
    t->term = sk_doubles(m->ctx, m->series.steps, 1);
    return t->weight && t->q && t->score && t->held && t->term ? SOCK_OK : SOCK_ENOMEM;
}

/* Which penalty is the best, by the folds. */
static sock_status choose(attempt *t, size_t *best)
{
    const sk_diffusion_sweep sweep = sweep_of(t);
    for (size_t f = 0; f < t->m->rows->folds; f++) {
        SK_TRY(sk_diffusion_sweep_fold(t->m->ctx, &sweep, f));
        SK_TRY(score_fold(t, f));
    }
    return sk_diffusion_sweep_choose(&sweep, t->m->rows->clusters, best);
}

static sock_status try_one(attempt *t, const sk_sweep *sweep, bool folds)
{
    const double begun = sk_seconds();
    size_t best = sweep->all ? 0 : sk_lambda_place(LAMBDAS, sk_thin_lambdas, sweep->l);
    t->lambdas = sweep->all ? LAMBDAS : 1;
    SK_TRY(attempt_new(t));
    weigh(t);
    SK_TRY(add(t, folds || sweep->all));
    if (sweep->all) SK_TRY(choose(t, &best));
    const sk_diffusion_sweep all = sweep_of(t);
    SK_TRY(sk_diffusion_sweep_finish(t->m->ctx, &all, best, sweep->all, folds));
    t->trial->seconds = sk_seconds() - begun;
    return SOCK_OK;
}

static size_t most_features(const attempt *t)
{
    const size_t coupled = SK_NOISE_A_ORDER / t->m->series.d;
    return t->candidate.diagonal ? (size_t)SK_NOISE_RANK : SK_MIN((size_t)SK_NOISE_RANK, coupled);
}

sock_status sk_noise_diffusions(const sk_measured *m, const sk_rows_of_a *r, const sk_frozen *z, const sk_sweep *sweep,
                                bool folds, sk_trial **trial, size_t *best)
{
    for (size_t c = 0; c < m->list->diffusions; c++) {
        sk_trial_free(trial[c]);
        trial[c] = NULL;
        if (!sweep->alive[c]) continue;
        attempt t = {.m = m, .rows = r, .z = z, .candidate = m->list->diffusion[c]};
        t.candidate.max_rank = SK_MIN(t.candidate.max_rank, most_features(&t));
        const sock_status status = try_one(&t, sweep, folds);
        if (status >= 0) {
            trial[c] = t.trial;
            t.trial = NULL;
        }
        attempt_clear(&t);
        SK_TRY(sk_tolerate(status));
    }
    sk_begin(m->ctx);
    const sk_field_trials all = {m->list->diffusions, m->rows->clusters, m->list->diffusion, trial, 0};
    *best = sk_simplest_near(&all, SK_NOISE_DIFFUSION_NATS);
    return *best < SK_MOST ? SOCK_OK : sk_fail(m->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to noisy data");
}
