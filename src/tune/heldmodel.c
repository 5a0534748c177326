/* heldmodel.c - whole models on held-out rows, by the likelihoods with which models are scored in the end. Euler's does
 * not know the second order in h, so that a model with an almost singular a and long steps can be good in the search
 * and bad there, or a strong pull good in truth and bad there; that by moments knows both. */
#include "tune/heldmodel.h"

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

/* The model without the fold of a block: made anew where the fold is another than that of the block before. */
typedef struct held_fold {
    size_t fold;
    sock_model *model;
} held_fold;

static sock_status take_fold(sock_context *ctx, const sk_held_model *held, size_t fold, held_fold *now)
{
    if (now->model && now->fold == fold) return SOCK_OK;
    sock_model_free(now->model);
    now->model = NULL;
    now->fold = fold;
    return sk_held_model_without(ctx, held, fold, NULL, &now->model);
}

/* work for every block that is held out; they stand fold by fold. */
static sock_status each_held(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                             const sk_held_model *held, held_fn work, void *arg)
{
    sock_status status = SOCK_OK;
    held_fold now = {0};
    for (size_t b = 0; status >= 0 && b < rows->blocks && rows->block[b] < rows->first[rows->folds]; b++) {
        sk_transitions *own = NULL;
        held_rows part = {.look = look, .rows = rows};
        status = take_fold(ctx, held, sk_transitions_fold(rows, rows->block[b]), &now);
        if (status >= 0) status = sk_transitions_block(ctx, rows, b, &own, &part.rows, &part.begin);
        part.end = part.begin + rows->block[b + 1] - rows->block[b];
        part.model = now.model;
        if (status >= 0) status = work(ctx, arg, &part);
        sk_transitions_free(own);
    }
    sock_model_free(now.model);
    return status;
}

/* ---- Euler ---- */

typedef struct euler {
    size_t floors;
    const double *floor;
    double *cluster;
    bool plain; /* the jitter stands in the covariance alone */
} euler;

/* f, a: fields of the model at the left ends of the part. space: 2 d^2 + 2 d. */
static void score_part(const held_rows *part, const double *f, const double *a, double floor, bool plain,
                       double *cluster, double *space)
{
    const sk_transitions *t = part->rows;
    const size_t d = t->d;
    const double eps = part->look->eps;
    double *e = space, *c = space + d;
    for (size_t i = part->begin; i < part->end; i++, f += d, a += d * d) {
        const double h = t->h[i];
        sk_residual_euler(d, h, t->y + i * d, t->next + i * d, f, e);
        for (size_t k = 0; k < d * d; k++) c[k] = h * a[k] + (k % (d + 1) ? 0 : h * floor + eps);
        cluster[t->cluster[i]] += part->look->density + sk_log_density(d, c, e, plain ? 0 : eps, c + d * d);
    }
}

static sock_status euler_part(sock_context *ctx, void *arg, const held_rows *part)
{
    const euler *w = arg;
    const size_t d = part->rows->d, n = part->end - part->begin;
    double *f = sk_doubles_unset(ctx, n, d), *a = sk_doubles_unset(ctx, n, d * d),
           *space = sk_doubles(ctx, 2 * d + 2, d);
    sock_status status = f && a && space ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0)
        status = sk_model_evaluate(ctx, part->model, n, part->rows->left + part->begin * part->rows->in, f, a);
    for (size_t g = 0; status >= 0 && g < w->floors; g++)
        score_part(part, f, a, w->floor[g], w->plain, w->cluster + g * part->rows->clusters, space);
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
    euler w = {floors, floor, cluster, false};
    SK_TRY(each_held(ctx, rows, look, held, euler_part, &w));
    for (size_t g = 0; g < floors; g++) score[g] = sum(rows->clusters, cluster + g * rows->clusters);
    return SOCK_OK;
}

sock_status sk_euler_likelihood(sock_context *ctx, const sk_transitions *rows, const sk_view_spec *look,
                                const sk_held_model *held, double floor, double *loglik)
{
    euler w = {1, &floor, sk_doubles(ctx, rows->clusters, 1), true};
    sock_status status = w.cluster ? each_held(ctx, rows, look, held, euler_part, &w) : SOCK_ENOMEM;
    if (status >= 0) *loglik = sum(rows->clusters, w.cluster);
    sk_free(w.cluster);
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
    double *cluster = arg;
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
    for (size_t i = 0; status >= 0 && i < n; i++)
        cluster[part->rows->cluster[part->begin + i]] += part->look->density + term[i];
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
    SK_TRY(each_held(ctx, rows, look, held, moment_part, cluster));
    *score = sum(rows->clusters, cluster);
    return SOCK_OK;
}
