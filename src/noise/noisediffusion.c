/* noisediffusion.c - diffusions on pulled back rows, scored by the frozen filter.
 *
 *   1. Features; the sums of the rows by fold.
 *   2. Q without each fold, penalty after penalty, large to small.
 *   3. Held-out: I a on the nodes of the frozen pass, the frozen likelihood of the fold's runs. */
#include "noise/noisefit.h"

#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { AT_ONCE = 256 };

typedef struct attempt {
    const sk_measured *m;
    const sk_rows_of_a *rows;
    const sk_frozen *z;
    const sk_sweep *sweep;
    bool folds; /* solutions without each of them are wanted */
    sk_diffusion_sweep s;
    double *weight; /* systems x rows */
    double *held;   /* steps x d x d: I a */
    double *term;   /* steps */
} attempt;

static void attempt_clear(attempt *t)
{
    sk_diffusion_sweep_clear(&t->s);
    sk_free(t->weight);
    sk_free(t->held);
    sk_free(t->term);
}

/* ---- Steps 1 and 2 ---- */

static sock_status add(attempt *t)
{
    const sk_transitions *rows = t->m->rows;
    const sk_pulled *q = t->rows->pulled;
    const sk_row_sizes sizes = {q->n, q->diffusion, t->rows->typical, SK_SIZE_SHARE, q->good};
    sk_row_weights(&sizes, t->s.trial, t->weight);
    SK_TRY(sk_diffusion_sweep_open(t->m->ctx, &t->s, t->folds || t->sweep->all));
    for (size_t f = 0; f <= rows->folds; f++) {
        const sk_given_rows given = {
            f, q->rule, rows->first[f] * t->rows->each, rows->first[f + 1] * t->rows->each, q->z, t->weight, NULL};
        SK_TRY(sk_diffusion_sums_add_given(t->m->ctx, t->s.sums, &given));
    }
    sk_diffusion_sweep_close(&t->s);
    return SOCK_OK;
}

/* ---- Step 3 ---- */

/* I a of the steps of fold f by q, on the nodes of the frozen pass. b: svec rows of these steps. */
static sock_status integrate(const attempt *t, size_t f, const double *q, const double *b)
{
    const size_t first = t->m->rows->first[f], n = t->m->rows->first[f + 1] - first, d = t->m->series.d;
    return sk_svec_integrate(t->m->ctx, d, t->s.trial->p, t->s.trial->diagonal, q, n, b, t->held + first * d * d);
}

static sock_status products(const attempt *t, size_t f, double **out)
{
    const size_t first = t->m->rows->first[f], n = t->m->rows->first[f + 1] - first, p = t->s.trial->p;
    const size_t q = p * (p + 1) / 2;
    sk_rule *rule = NULL;
    SK_TRY(sk_frozen_rule(t->m->ctx, t->z, first, first + n, false, &rule));
    *out = sk_doubles_unset(t->m->ctx, n, q);
    sock_status status = *out ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < n; at += AT_ONCE)
        status = sk_svec_rows(t->m->ctx, t->s.trial->map, rule, at, SK_MIN(at + AT_ONCE, n), *out + at * q, NULL);
    sk_rule_free(rule);
    return status;
}

static sock_status score_fold(attempt *t, size_t f)
{
    const sk_transitions *rows = t->m->rows;
    double *b = NULL;
    sock_status status = products(t, f, &b);
    for (size_t j = 0; status >= 0 && j < t->s.lambdas; j++) {
        const sk_frozen_change change = {.diffusion = t->held};
        status = integrate(t, f, t->s.q + (f * t->s.lambdas + j) * t->s.trial->size, b);
        if (status >= 0)
            status = sk_frozen_scores(t->m->ctx, t->z, t->m->run_first[f], t->m->run_first[f + 1], &change, t->term);
        for (size_t i = rows->first[f]; status >= 0 && i < rows->first[f + 1]; i++)
            t->s.score[j * rows->clusters + rows->cluster[i]] += t->term[i];
    }
    sk_free(b);
    return status;
}

/* ---- One and all ---- */

static sock_status attempt_new(attempt *t, size_t c)
{
    const sk_measured *m = t->m;
    const size_t d = m->series.d;
    SK_TRY(sk_diffusion_sweep_new(m->ctx, m->rows, &m->list->diffusion[c], t->sweep, &t->s));
    t->s.tolerance = m->tolerance;
    t->weight = sk_doubles(m->ctx, sk_trial_systems(t->s.trial), t->rows->pulled->n);
    t->held = sk_doubles(m->ctx, m->series.steps, d * d);
    t->term = sk_doubles(m->ctx, m->series.steps, 1);
    return t->weight && t->held && t->term ? SOCK_OK : SOCK_ENOMEM;
}

/* Which penalty is the best, by the folds. */
static sock_status choose(attempt *t, size_t *best)
{
    for (size_t f = 0; f < t->m->rows->folds; f++) {
        SK_TRY(sk_diffusion_sweep_fold(t->m->ctx, &t->s, f));
        SK_TRY(score_fold(t, f));
    }
    return sk_diffusion_sweep_choose(&t->s, t->m->rows->clusters, best);
}

static sock_status try_one(attempt *t, size_t c)
{
    size_t best = sk_lambda_place(SK_THIN_LAMBDAS, sk_thin_lambdas, t->sweep->l);
    SK_TRY(attempt_new(t, c));
    SK_TRY(add(t));
    if (t->sweep->all) SK_TRY(choose(t, &best));
    return sk_diffusion_sweep_finish(t->m->ctx, &t->s, best, t->sweep->all, t->folds);
}

static sock_status try_candidate(void *arg, size_t c, sk_trial **out)
{
    attempt t = *(const attempt *)arg;
    const sock_status status = sk_sweep_hand_over(try_one(&t, c), &t.s.trial, out);
    attempt_clear(&t);
    return status;
}

sock_status sk_noise_diffusions(const sk_measured *m, const sk_rows_of_a *r, const sk_frozen *z, const sk_sweep *sweep,
                                bool folds, sk_trial **trial, size_t *best)
{
    attempt t = {.m = m, .rows = r, .z = z, .sweep = sweep, .folds = folds};
    const sk_sweep_field field = {
        m->list, false, m->rows->clusters, trial, "no diffusion could be fitted to noisy data", try_candidate, &t};
    return sk_sweep_each(m->ctx, sweep, &field, best);
}
