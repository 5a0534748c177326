/* sweeptrial.c - see sweeptrial.h. */
#include "tune/sweeptrial.h"

#include "tune/policy.h"
#include "tune/rules.h"

#include <math.h>
#include <string.h>

/* ---- Candidates ---- */

sock_status sk_sweep_each(sock_context *ctx, const sk_sweep *sweep, const sk_sweep_field *field, size_t *best)
{
    const sk_candidates *list = field->list;
    const size_t count = field->drift ? list->drifts : list->diffusions;
    const sk_candidate *candidate = field->drift ? list->drift : list->diffusion;
    for (size_t c = 0; c < count; c++) {
        const double begun = sk_seconds();
        sk_trial_free(field->trial[c]);
        field->trial[c] = NULL;
        if (sweep->alive[c]) SK_TRY(sk_tolerate(field->try(field->arg, c, &field->trial[c])));
        if (field->trial[c]) field->trial[c]->seconds = sk_seconds() - begun;
    }
    sk_begin(ctx); /* what one candidate had to say */
    const sk_field_trials all = {count, field->clusters, candidate, field->trial, 0};
    *best = sk_simplest_near(&all, field->drift ? SK_NOISE_DRIFT_NATS : SK_NOISE_DIFFUSION_NATS);
    return *best < SK_MOST ? SOCK_OK : sk_fail(ctx, SOCK_ENUMERIC, "%s", field->nothing);
}

sock_status sk_sweep_hand_over(sock_status status, sk_trial **trial, sk_trial **out)
{
    if (status >= 0) {
        *out = *trial;
        *trial = NULL;
    }
    return status;
}

/* ---- Drifts ---- */

void sk_drift_sweep_clear(sk_drift_sweep *s)
{
    sk_trial_free(s->trial);
    sk_drift_sums_free(s->sums);
    sk_free(s->path);
    sk_free(s->score);
    sk_free(s->dof);
}

sock_status sk_drift_sweep_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate,
                               const sk_sweep *sweep, sk_drift_sweep *out)
{
    const bool alone = candidate->learned || candidate->free || !sweep->all;
    const double *least = sk_thin_lambdas + SK_THIN_LAMBDAS - 1; /* they fall */
    const double *grid = sweep->all ? sk_thin_lambdas : &sweep->l;
    const double *from = candidate->learned ? NULL : candidate->free ? least : grid;
    const size_t lambdas = alone ? 1 : SK_THIN_LAMBDAS;
    *out = (sk_drift_sweep){.learned = candidate->learned, .lambdas = lambdas};
    SK_TRY(sk_trial_new(ctx, rows, candidate, lambdas, from, &out->trial));
    const size_t p = out->trial->p;
    if (p * rows->d > SK_NOISE_ORDER) return SOCK_ENUMERIC; /* too expensive */
    out->path = sk_doubles(ctx, (rows->folds + 1) * lambdas, out->trial->size);
    out->score = sk_doubles(ctx, lambdas, rows->clusters);
    out->dof = sk_doubles(ctx, lambdas, 1);
    if (!out->path || !out->score || !out->dof) return SOCK_ENOMEM;
    return sk_drift_sums_new(ctx, p, rows->d, rows->folds, SK_JOINT, &out->sums);
}

sock_status sk_drift_sweep_solve(sock_context *ctx, const sk_drift_sweep *s)
{
    const size_t folds = s->trial->folds;
    sk_drift_sums_close(s->sums);
    for (size_t f = 0; f <= folds; f++) {
        double *path = s->path + f * s->lambdas * s->trial->size, *dof = f < folds ? NULL : s->dof;
        if (s->learned)
            SK_TRY(sk_drift_sums_pruned(ctx, s->sums, f, path, dof));
        else
            SK_TRY(sk_drift_sums_ridge(ctx, s->sums, f, s->lambdas, s->trial->grid, path, dof));
    }
    return SOCK_OK;
}

sock_status sk_drift_sweep_finish(const sk_drift_sweep *s, size_t clusters)
{
    sk_trial *r = s->trial;
    for (size_t j = 0; j < s->lambdas; j++) {
        for (size_t u = 0; u < clusters; u++) r->by_l[j] += s->score[j * clusters + u];
        if (!isfinite(r->by_l[j])) r->by_l[j] = -(double)INFINITY;
    }
    const size_t best = sk_best_lambda(s->lambdas, r->by_l);
    r->score = r->by_l[best];
    if (!isfinite(r->score)) return SOCK_ENUMERIC;
    memcpy(r->cluster, s->score + best * clusters, clusters * sizeof(double));
    r->l = s->learned ? 0 : r->grid[best];
    r->lambda_scale = sk_drift_sums_unit(s->sums);
    r->edge = sk_at_edge(s->lambdas, r->by_l, best);
    r->dof = s->dof[best];
    r->grid = NULL; /* the sweep's */
    for (size_t f = 0; f <= r->folds; f++)
        memcpy(r->solution + f * r->size, s->path + (f * s->lambdas + best) * r->size, r->size * sizeof(double));
    return SOCK_OK;
}

/* ---- Diffusions ---- */

static void note_bounds(sk_trial *r, const sk_diffusion_path *path)
{
    const sk_psd_bounds bounds = sk_diffusion_path_bounds(path);
    r->converged = r->converged && sk_diffusion_path_converged(path);
    r->gap = fmax(r->gap, bounds.primal > 0 ? bounds.gap / bounds.primal : 0);
    r->whole.primal += bounds.primal;
    r->whole.dual += bounds.dual;
    r->whole.gap += bounds.gap;
}

void sk_diffusion_sweep_clear(sk_diffusion_sweep *s)
{
    sk_trial_free(s->trial);
    sk_diffusion_sums_free(s->sums);
    sk_free(s->q);
    sk_free(s->score);
}

sock_status sk_diffusion_sweep_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate,
                                   const sk_sweep *sweep, sk_diffusion_sweep *out)
{
    const size_t most = sk_sweep_rank(candidate->diagonal, rows->d);
    sk_candidate cut = *candidate; /* which borrows the rest */
    cut.max_rank = SK_MIN(cut.max_rank, most);
    *out = (sk_diffusion_sweep){.grid = sk_thin_lambdas, .lambdas = sweep->all ? SK_THIN_LAMBDAS : 1};
    SK_TRY(sk_trial_new(ctx, rows, &cut, SK_THIN_LAMBDAS, sk_thin_lambdas, &out->trial));
    out->q = sk_doubles(ctx, rows->folds * out->lambdas, out->trial->size);
    out->score = sk_doubles(ctx, out->lambdas, rows->clusters);
    return out->q && out->score ? SOCK_OK : SOCK_ENOMEM;
}

void sk_row_weights(const sk_row_sizes *of, const sk_trial *trial, double *weight)
{
    const size_t systems = sk_trial_systems(trial), d = trial->d, n = of->n;
    for (size_t s = 0; s < systems; s++)
        for (size_t i = 0; i < n; i++) {
            const double *a = of->spread + i * d * d;
            const double size = trial->diagonal ? a[s * (d + 1)] : sk_norm(d * d, a);
            const double unit = of->typical[trial->diagonal ? s + 1 : 0];
            const double relative = unit > 0 ? size / unit + of->share : 1;
            weight[s * n + i] = of->good[i] ? 1 / (relative * relative) : 0;
        }
}

sock_status sk_diffusion_sweep_open(sock_context *ctx, sk_diffusion_sweep *s, bool folds)
{
    const sk_view like = {.d = s->trial->d, .folds = s->trial->folds};
    return sk_diffusion_sums_new(ctx, s->trial->map, &like, s->trial->diagonal, folds ? like.folds : 0, &s->sums);
}

void sk_diffusion_sweep_close(sk_diffusion_sweep *s)
{
    sk_diffusion_sums_close(s->sums);
    s->trial->lambda_scale = sk_diffusion_sums_unit(s->sums, 0, NULL);
}

/* Q without fold f at the first `count` penalties: out (count x size); or, with `last`, the last alone (size). */
static sock_status solve(sock_context *ctx, const sk_diffusion_sweep *s, size_t f, size_t count, bool last, double *out)
{
    const size_t systems = sk_trial_systems(s->trial), order2 = s->trial->size / systems;
    sock_status status = SOCK_OK;
    for (size_t k = 0; status >= 0 && k < systems; k++) {
        sk_diffusion_path *path = NULL;
        status = sk_diffusion_path_new(ctx, s->sums, f, k, false, &path);
        for (size_t j = 0; status >= 0 && j < count; j++)
            status = sk_diffusion_path_solve(ctx, path, s->grid[j], last ? s->tolerance : SK_SWEEP_TOLERANCE,
                                             out + (last ? 0 : j * s->trial->size) + k * order2);
        if (status >= 0 && f == s->trial->folds) note_bounds(s->trial, path);
        sk_diffusion_path_free(path);
    }
    return status;
}

sock_status sk_diffusion_sweep_fold(sock_context *ctx, const sk_diffusion_sweep *s, size_t f)
{
    return solve(ctx, s, f, s->lambdas, false, s->q + f * s->lambdas * s->trial->size);
}

sock_status sk_diffusion_sweep_choose(const sk_diffusion_sweep *s, size_t clusters, size_t *best)
{
    sk_trial *r = s->trial;
    for (size_t j = 0; j < s->lambdas; j++) {
        for (size_t u = 0; u < clusters; u++) r->by_l[j] += s->score[j * clusters + u];
        if (!isfinite(r->by_l[j])) r->by_l[j] = -(double)INFINITY;
    }
    *best = r->p > 1 ? sk_best_lambda(s->lambdas, r->by_l) : s->lambdas - 1; /* a constant is the data's, not shrunk */
    r->score = r->by_l[*best];
    r->edge = sk_at_edge(s->lambdas, r->by_l, *best);
    memcpy(r->cluster, s->score + *best * clusters, clusters * sizeof(double));
    return isfinite(r->score) ? SOCK_OK : SOCK_ENUMERIC;
}

sock_status sk_diffusion_sweep_finish(sock_context *ctx, const sk_diffusion_sweep *s, size_t best, bool from_q,
                                      bool folds)
{
    sk_trial *r = s->trial;
    r->l = s->grid[best];
    SK_TRY(solve(ctx, s, r->folds, best + 1, true, r->solution + r->folds * r->size));
    for (size_t f = 0; f < r->folds; f++) {
        double *out = r->solution + f * r->size;
        if (from_q)
            memcpy(out, s->q + (f * s->lambdas + best) * r->size, r->size * sizeof *out);
        else if (folds)
            SK_TRY(solve(ctx, s, f, best + 1, true, out));
    }
    return SOCK_OK;
}
