/* heldmodel.c - whole models on held-out rows, by the likelihoods with which models are scored in the end. Euler's does
 * not know the second order in h, so that a model with an almost singular a and long steps can be good in the search
 * and bad there, or a strong pull good in truth and bad there; that by moments knows both. */
#include "tune/heldmodel.h"
#include "tune/tally.h"

#include "score/score.h"

#include <math.h>
#include <string.h>

static sock_status add_terms(sock_context *ctx, const sk_held_model *held, size_t f, sock_model *model)
{
    const sk_mixture *drift = &held->drift, *a = &held->diffusion;
    for (size_t i = 0; i < drift->count; i++) {
        sk_drift_term *term = NULL;
        if (!(drift->share[i] > 0)) continue;
        SK_TRY(sk_trial_drift_term(ctx, drift->trial[i], f, drift->share[i], &term));
        SK_TRY(sk_model_add_drift(ctx, model, term));
    }
    for (size_t i = 0; i < a->count; i++) {
        sk_diffusion_term *term = NULL;
        if (!(a->share[i] > 0)) continue;
        SK_TRY(sk_trial_diffusion_term(ctx, a->trial[i], f, (1 - held->shrink) * a->share[i], &term));
        SK_TRY(sk_model_add_diffusion(ctx, model, term));
    }
    return SOCK_OK;
}

/* The first drift with a share. */
static const sk_trial *first_drift(const sk_held_model *held)
{
    size_t i = 0;
    while (!(held->drift.share[i] > 0)) i++;
    return held->drift.trial[i];
}

sock_status sk_held_model_without(sock_context *ctx, const sk_held_model *held, size_t f, const char *const *names,
                                  sock_model **out)
{
    sock_model *model = NULL;
    const sk_trial *first = first_drift(held);
    const size_t d = first->d, inputs = sk_features_dim(first->map) - d;
    SK_TRY(sk_model_new(ctx, d, names, &model));
    sock_status status = SOCK_OK;
    if (inputs) status = sk_structure_set_inputs(ctx, model->structure, inputs, NULL, first->rows->hold, NULL);
    if (status >= 0) status = add_terms(ctx, held, f, model);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return SOCK_OK;
}

/* Some held-out rows of one fold and the model without it. */
typedef struct held_rows {
    const sk_transitions *rows;
    const sk_view_spec *look;
    size_t begin, end;
    const sock_model *model;
} held_rows;

typedef sock_status (*held_fn)(sock_context *ctx, void *arg, const held_rows *part);

typedef struct visiting {
    const sk_transitions *rows;
    const sk_view_spec *look;
    sock_model **without; /* each fold */
    held_fn work;
    void *arg;
} visiting;

static sock_status visit_block(sock_context *ctx, void *arg, size_t b)
{
    const visiting *w = arg;
    const size_t fold = sk_transitions_fold(w->rows, w->rows->block[b]);
    sk_transitions *own = NULL;
    if (fold == w->rows->folds) return SOCK_OK; /* never held out */
    held_rows part = {.rows = w->rows, .look = w->look, .model = w->without[fold]};
    sock_status status = sk_transitions_block(ctx, w->rows, b, &own, &part.rows, &part.begin);
    part.end = part.begin + w->rows->block[b + 1] - w->rows->block[b];
    if (status >= 0) status = w->work(ctx, w->arg, &part);
    sk_transitions_free(own);
    return status;
}

/* work for every block that is held out. */
static sock_status each_held(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                             const sk_held_model *held, held_fn work, void *arg)
{
    visiting w = {rows, look, sk_alloc(ctx, rows->folds, sizeof *w.without), work, arg};
    sock_status status = w.without ? SOCK_OK : SOCK_ENOMEM;
    for (size_t f = 0; status >= 0 && f < rows->folds; f++)
        if (rows->first[f] < rows->first[f + 1]) status = sk_held_model_without(ctx, held, f, NULL, &w.without[f]);
    if (status >= 0) status = sk_blocks_each(ctx, rows, rows->store != NULL, visit_block, &w);
    for (size_t f = 0; w.without && f < rows->folds; f++) sock_model_free(w.without[f]);
    sk_free(w.without);
    return status;
}

/* ---- Euler ---- */

typedef struct euler {
    size_t floors;
    const double *floor;
    sk_tally tally; /* floors x clusters */
    bool plain;     /* the jitter stands in the covariance alone */
} euler;

/* f, a: fields of the model at the left ends of the part. space: 2 d^2 + 2 d. */
static void score_part(const held_rows *part, const double *f, const double *a, double floor, bool plain, double *space,
                       double *score)
{
    const sk_transitions *t = part->rows;
    const size_t d = t->d;
    const double eps = part->look->eps;
    double *e = space, *c = space + d;
    for (size_t i = part->begin; i < part->end; i++, f += d, a += d * d) {
        const double h = t->h[i];
        sk_residual_euler(d, h, t->y + i * d, t->next + i * d, f, e);
        for (size_t k = 0; k < d * d; k++) c[k] = h * a[k] + (k % (d + 1) ? 0 : h * floor + eps);
        score[i - part->begin] = part->look->density + sk_log_density(d, c, e, plain ? 0 : eps, c + d * d);
    }
}

static sock_status euler_part(sock_context *ctx, void *arg, const held_rows *part)
{
    const euler *w = arg;
    const size_t d = part->rows->d, n = part->end - part->begin;
    double *f = sk_doubles_unset(ctx, n, d), *a = sk_doubles_unset(ctx, n, d * d),
           *space = sk_doubles(ctx, 2 * d + 2, d), *score = sk_doubles_unset(ctx, n, 1);
    sock_status status = f && a && space && score ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0)
        status = sk_model_evaluate(ctx, part->model, n, part->rows->left + part->begin * part->rows->in, f, a);
    for (size_t g = 0; status >= 0 && g < w->floors; g++) {
        score_part(part, f, a, w->floor[g], w->plain, space, score);
        sk_tally_take(ctx, &w->tally, g * part->rows->clusters, n, part->rows->cluster + part->begin, score);
    }
    sk_free(score);
    sk_free(f);
    sk_free(a);
    sk_free(space);
    return status;
}

static double sum(size_t n, const double *x)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return total;
}

sock_status sk_euler_score(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                           const sk_held_model *held, size_t floors, const double *floor, double *score,
                           double *cluster)
{
    euler w = {.floors = floors, .floor = floor};
    sock_status status = sk_tally_new(ctx, rows->store != NULL, floors * rows->clusters, cluster, &w.tally);
    if (status >= 0) status = each_held(ctx, rows, look, held, euler_part, &w);
    if (status >= 0) sk_tally_over_all(ctx, rows, &w.tally);
    for (size_t g = 0; status >= 0 && g < floors; g++) score[g] = sum(rows->clusters, cluster + g * rows->clusters);
    sk_tally_clear(&w.tally);
    return status;
}

sock_status sk_euler_likelihood(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                                const sk_held_model *held, double floor, double *loglik)
{
    euler w = {.floors = 1, .floor = &floor, .plain = true};
    double *cluster = sk_doubles(ctx, rows->clusters, 1);
    sock_status status =
        cluster ? sk_tally_new(ctx, rows->store != NULL, rows->clusters, cluster, &w.tally) : SOCK_ENOMEM;
    if (status >= 0) status = each_held(ctx, rows, look, held, euler_part, &w);
    if (status >= 0) sk_tally_over_all(ctx, rows, &w.tally);
    if (status >= 0) *loglik = sum(rows->clusters, cluster);
    sk_tally_clear(&w.tally);
    sk_free(cluster);
    return status;
}

/* ---- Moments ---- */

/* The rows as trajectories of two points. */
static void two_points(const held_rows *part, sock_data *out)
{
    const sk_transitions *t = part->rows;
    const size_t bytes = t->d * sizeof(double);
    out->trajectories = part->end - part->begin;
    out->points = 2 * out->trajectories;
    for (size_t i = 0; i < out->trajectories; i++) {
        out->first[i + 1] = 2 * (i + 1);
        out->t[2 * i] = 0;
        out->t[2 * i + 1] = t->h[part->begin + i];
        memcpy(out->x + 2 * i * t->d, t->y + (part->begin + i) * t->d, bytes);
        memcpy(out->x + (2 * i + 1) * t->d, t->next + (part->begin + i) * t->d, bytes);
        for (size_t k = 0; k < out->inputs; k++) {
            out->u[2 * i * out->inputs + k] = t->left[(part->begin + i) * t->in + t->d + k];
            out->u[(2 * i + 1) * out->inputs + k] = t->right[(part->begin + i) * t->in + t->d + k];
        }
    }
}

static sock_status moment_part(sock_context *ctx, void *arg, const held_rows *part)
{
    const sk_tally *cluster = arg;
    const size_t n = part->end - part->begin, d = part->rows->d, m = part->rows->in - d;
    double *term = sk_doubles_unset(ctx, n, 1);
    sock_data data = {.d = d, .t = sk_doubles_unset(ctx, 2 * n, 1), .x = sk_doubles_unset(ctx, 2 * n, d)};
    data.first = sk_alloc(ctx, n + 1, sizeof *data.first);
    data.inputs = m;
    data.u = m ? sk_doubles_unset(ctx, 2 * n, m) : NULL;
    sock_status status = term && data.t && data.x && data.first && (data.u || !m) ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        two_points(part, &data);
        status = sk_moment_terms(ctx, part->model, &data, part->look->eps, term);
    }
    for (size_t i = 0; status >= 0 && i < n; i++) term[i] += part->look->density;
    if (status >= 0) sk_tally_take(ctx, cluster, 0, n, part->rows->cluster + part->begin, term);
    sk_free(term);
    sk_free(data.first);
    sk_free(data.t);
    sk_free(data.x);
    sk_free(data.u);
    return status;
}

sock_status sk_moment_score(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                            const sk_held_model *held, double *score, double *cluster)
{
    sk_tally tally;
    sock_status status = sk_tally_new(ctx, rows->store != NULL, rows->clusters, cluster, &tally);
    if (status >= 0) status = each_held(ctx, rows, look, held, moment_part, &tally);
    if (status >= 0) sk_tally_over_all(ctx, rows, &tally);
    if (status >= 0) *score = sum(rows->clusters, cluster);
    sk_tally_clear(&tally);
    return status;
}
