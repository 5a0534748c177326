/* inertiadiffusion.c - diffusions of velocities on the rows of a filter over positions and velocities.
 *
 *   1. svec rows by fold; targets: products of what the force leaves of the innovations, less the noise.
 *   2. Q without each fold, penalty after penalty, large to small.
 *   3. Held out: the variance of the innovations by the rows of the fold, and their density. */
#include "inertia/inertiafit.h"

#include "la/la.h"
#include "tune/policy.h"
#include "tune/sweeptrial.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LAMBDAS = SK_THIN_LAMBDAS };

static const double LOG_2PI = 1.83787706640934548356;

typedef struct attempt {
    const sk_inertial *w;
    const sk_inertial_kicks *kicks;
    sk_candidate candidate; /* a copy with its rank cut; borrows the rest */
    sk_trial *trial;
    sk_diffusion_sums *sums;
    size_t lambdas; /* that are solved for: down to the one wanted */
    double *e, *z;  /* n x d, n x d x d: recoloured residuals, targets */
    double *weight; /* systems x n */
    double *q;      /* folds x lambdas x size */
    double *score;  /* lambdas x clusters */
} attempt;

static void attempt_clear(attempt *t)
{
    sk_trial_free(t->trial);
    sk_diffusion_sums_free(t->sums);
    sk_free(t->e);
    sk_free(t->z);
    sk_free(t->weight);
    sk_free(t->q);
    sk_free(t->score);
}

/* ---- Step 1 ---- */

static void find_targets(const attempt *t)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t d = r->d;
    for (size_t i = 0; i < r->n; i++) {
        double *e = t->e + i * d, *z = t->z + i * d * d;
        for (size_t k = 0; k < d; k++) e[k] = sk_dot(d, r->tint + (i * d + k) * d, t->kicks->e + i * d);
        for (size_t k = 0; k < d * d; k++)
            z[k] = e[k / d] * e[k % d] - (t->kicks->noise ? r->noise[i] * t->kicks->noise[k] : 0);
    }
}

/* 1 / (size / median + a share)^2; 0 for steps that do not count. */
static void weigh(const attempt *t)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t systems = sk_trial_systems(t->trial);
    sk_diffusion_sweep_weights(t->trial, r->n, r->spread, r->typical, SK_INERTIA_SHARE, t->weight);
    for (size_t i = 0; i < systems * r->n; i++)
        if (r->white[i % r->n * r->d * r->d] == 0) t->weight[i] = 0;
}

static sock_status add(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t n = end - begin, p = t->trial->p, systems = sk_trial_systems(t->trial), d = r->d;
    sock_context *ctx = t->w->ctx;
    double *b = sk_doubles_unset(ctx, n, p * (p + 1) / 2), *weight = sk_doubles_unset(ctx, systems, n);
    sk_rule rule = {.n = n, .in = 2 * d, .out = d, .h = r->length + begin};
    const sk_given_rows given = {fold, &rule, 0, n, t->z + begin * d * d, weight, b};
    sock_status status =
        b && weight ? sk_inertial_products(t->w, r, t->trial->map, begin, end, b, t->sums->square) : SOCK_ENOMEM;
    for (size_t s = 0; status >= 0 && s < systems; s++)
        memcpy(weight + s * n, t->weight + s * r->n + begin, n * sizeof *weight);
    if (status >= 0) status = sk_diffusion_sums_add_given(ctx, t->sums, &given);
    t->sums->nodes += n * SK_LIFT_NODES * 2 * d;
    sk_free(b);
    sk_free(weight);
    return status;
}

static sock_status sum_up(attempt *t, bool folds)
{
    const sk_transitions *rows = &t->w->rows;
    const sk_view like = {.d = rows->d, .folds = rows->folds};
    SK_TRY(
        sk_diffusion_sums_new(t->w->ctx, t->trial->map, &like, t->trial->diagonal, folds ? rows->folds : 0, &t->sums));
    SK_TRY(sk_inertial_each(t->w, add, t));
    sk_diffusion_sums_close(t->sums);
    t->trial->lambda_scale = sk_diffusion_sums_unit(t->sums, 0, NULL);
    return SOCK_OK;
}

/* ---- Step 2 ---- */

static sk_diffusion_sweep sweep_of(const attempt *t)
{
    return (sk_diffusion_sweep){t->trial, t->sums, sk_thin_lambdas, t->lambdas, t->w->m.tolerance, t->q, t->score};
}

/* ---- Step 3 ---- */

/* The log density of the recoloured residual of step i with the part `of_a` (d x d, spoilt) of its variance. */
static double density(const attempt *t, size_t i, double *of_a, double *u)
{
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t d = r->d;
    const double *e = t->e + i * d;
    double sum = -0.5 * (double)d * LOG_2PI;
    for (size_t k = 0; k < d * d; k++) of_a[k] += t->kicks->noise ? r->noise[i] * t->kicks->noise[k] : 0;
    for (size_t k = 0; k < d; k++) of_a[k * (d + 1)] += r->length[i] * t->kicks->floor[k];
    if (sk_factor_small(d, 0, of_a)) return SK_STEP_LEAST;
    for (size_t k = 0; k < d; k++) {
        u[k] = (e[k] - sk_dot(k, of_a + k * d, u)) / of_a[k * (d + 1)];
        sum -= 0.5 * u[k] * u[k] + log(of_a[k * (d + 1)]);
    }
    return isfinite(sum) ? fmax(sum, SK_STEP_LEAST) : SK_STEP_LEAST;
}

static sock_status score(void *arg, size_t begin, size_t end, size_t fold)
{
    attempt *t = arg;
    const sk_inertial_rows *r = t->kicks->rows;
    const size_t n = end - begin, p = t->trial->p, d = r->d, clusters = t->w->rows.clusters;
    sock_context *ctx = t->w->ctx;
    if (fold == t->w->rows.folds) return SOCK_OK;
    double *b = sk_doubles_unset(ctx, n, p * (p + 1) / 2), *held = sk_doubles(ctx, n, d * d),
           *u = sk_doubles(ctx, d, 1);
    sock_status status =
        b && held && u ? sk_inertial_products(t->w, r, t->trial->map, begin, end, b, NULL) : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < t->lambdas; j++) {
        status = sk_trial_integrate(ctx, t->trial, t->q + (fold * t->lambdas + j) * t->trial->size, n, b, held);
        for (size_t i = 0; status >= 0 && i < n; i++)
            if (r->white[(begin + i) * d * d] != 0)
                t->score[j * clusters + t->w->rows.cluster[begin + i]] += density(t, begin + i, held + i * d * d, u);
    }
    sk_free(b);
    sk_free(held);
    sk_free(u);
    return status;
}

/* Which penalty is the best, by the folds. */
static sock_status choose(attempt *t, size_t *best)
{
    const sk_diffusion_sweep sweep = sweep_of(t);
    for (size_t f = 0; f < t->trial->folds; f++) SK_TRY(sk_diffusion_sweep_fold(t->w->ctx, &sweep, f));
    SK_TRY(sk_inertial_each(t->w, score, t));
    return sk_diffusion_sweep_choose(&sweep, t->w->rows.clusters, best);
}

/* ---- One and all ---- */

static sock_status attempt_new(attempt *t)
{
    const sk_inertial *w = t->w;
    const size_t n = w->rows.n, d = w->rows.d;
    SK_TRY(sk_trial_new(w->ctx, &w->rows, &t->candidate, LAMBDAS, sk_thin_lambdas, &t->trial));
    assert(t->trial);
    t->e = sk_doubles(w->ctx, n, d);
    t->z = sk_doubles(w->ctx, n, d * d);
    t->weight = sk_doubles(w->ctx, sk_trial_systems(t->trial), n);
    t->q = sk_doubles(w->ctx, w->rows.folds * t->lambdas, t->trial->size);
    t->score = sk_doubles(w->ctx, t->lambdas, w->rows.clusters);
    return t->e && t->z && t->weight && t->q && t->score ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status try_one(attempt *t, const sk_sweep *sweep, bool folds)
{
    const double begun = sk_seconds();
    size_t best = sweep->all ? 0 : sk_lambda_place(LAMBDAS, sk_thin_lambdas, sweep->l);
    t->lambdas = sweep->all ? LAMBDAS : 1;
    SK_TRY(attempt_new(t));
    find_targets(t);
    weigh(t);
    SK_TRY(sum_up(t, folds || sweep->all));
    if (sweep->all) SK_TRY(choose(t, &best));
    const sk_diffusion_sweep all = sweep_of(t);
    SK_TRY(sk_diffusion_sweep_finish(t->w->ctx, &all, best, sweep->all, folds));
    t->trial->seconds = sk_seconds() - begun;
    return SOCK_OK;
}

static size_t most_features(const attempt *t)
{
    const size_t coupled = SK_NOISE_A_ORDER / t->w->rows.d;
    return t->candidate.diagonal ? (size_t)SK_NOISE_RANK : SK_MIN((size_t)SK_NOISE_RANK, coupled);
}

sock_status sk_inertial_diffusions(const sk_inertial *w, const sk_inertial_kicks *k, const sk_sweep *sweep, bool folds,
                                   sk_trial **trial, size_t *best)
{
    for (size_t c = 0; c < w->list.diffusions; c++) {
        sk_trial_free(trial[c]);
        trial[c] = NULL;
        if (!sweep->alive[c]) continue;
        attempt t = {.w = w, .kicks = k, .candidate = w->list.diffusion[c]};
        t.candidate.max_rank = SK_MIN(t.candidate.max_rank, most_features(&t));
        const sock_status status = try_one(&t, sweep, folds);
        if (status >= 0) {
            trial[c] = t.trial;
            t.trial = NULL;
        }
        attempt_clear(&t);
        SK_TRY(sk_tolerate(status));
    }
    sk_begin(w->ctx);
    const sk_field_trials all = {w->list.diffusions, w->rows.clusters, w->list.diffusion, trial, 0};
    *best = sk_simplest_near(&all, SK_NOISE_DIFFUSION_NATS);
    return *best < SK_MOST ? SOCK_OK
                           : sk_fail(w->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these positions");
}
