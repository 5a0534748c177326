/* polishtrial.c - the quasi-likelihood polish of a cross-validated diffusion, judged as the trial itself was. */
#include "tune/rules.h"

#include "base/comm.h"
#include "diffusion/polish.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The rows that are polished on, in one piece: they are at most SK_SEARCH_ROWS. */
typedef struct polishing {
    sock_context *ctx;
    const sk_transitions *rows;
    const sk_typical *typical;
    const sk_trial *from;
    sk_trial *to;
    double *phi0, *phi1; /* n x p: features at both ends */
    double *z;           /* (folds + 1) x n x d */
    double resolution;
    bool shared; /* by several processes, each of which has some of the folds */
} polishing;

/* What one thread works on. */
typedef struct desk {
    double *row0, *row1, *h, *e; /* the training rows of a fold */
    bool *moves;
    double *value; /* n */
} desk;

/* Features of one system. */
static size_t features_of(const sk_trial *r) { return r->picks.each ? r->picks.each : r->p; }

/* Those of a row, from all of the map. */
static void take_features(const sk_trial *r, size_t s, const double *phi, double *out)
{
    if (!r->picks.each) memcpy(out, phi, r->p * sizeof *out);
    for (size_t m = 0; m < r->picks.each; m++) out[m] = phi[r->picks.feature[s * r->picks.each + m]];
}

static sock_status desk_new(const polishing *w, desk *t)
{
    size_t n = w->rows->n, p = features_of(w->from);
    *t = (desk){.row0 = sk_doubles_unset(w->ctx, n, p),
                .row1 = sk_doubles_unset(w->ctx, n, p),
                .h = sk_doubles_unset(w->ctx, n, 1),
                .e = sk_doubles_unset(w->ctx, n, w->rows->d),
                .moves = sk_alloc(w->ctx, n, sizeof(bool)),
                .value = sk_doubles_unset(w->ctx, n, 1)};
    return t->row0 && t->row1 && t->h && t->e && t->moves && t->value ? SOCK_OK : SOCK_ENOMEM;
}

static void desk_clear(desk *t)
{
    sk_free(t->row0);
    sk_free(t->row1);
    sk_free(t->h);
    sk_free(t->e);
    sk_free(t->moves);
    sk_free(t->value);
}

/* The rows of system s outside fold f. Answers how many. */
static size_t gather(const polishing *w, size_t s, size_t f, const desk *t)
{
    const sk_transitions *rows = w->rows;
    size_t p = w->from->p, each = features_of(w->from), d = rows->d, width = w->from->diagonal ? 1 : d, count = 0;
    const double *z = w->z + f * rows->n * d;
    for (size_t i = 0; i < rows->n; i++) {
        if (f < rows->folds && i >= rows->first[f] && i < rows->first[f + 1]) continue;
        take_features(w->from, s, w->phi0 + i * p, t->row0 + count * each);
        take_features(w->from, s, w->phi1 + i * p, t->row1 + count * each);
        t->h[count] = rows->h[i];
        t->moves[count] = sk_transitions_moves(rows, i);
        for (size_t k = 0; k < width; k++) t->e[count * width + k] = z[i * d + (width == 1 && d > 1 ? s : k)];
        count++;
    }
    return count;
}

/* From the median square of the steps that move. */
static double jitter(const polishing *w, size_t count, size_t width, const desk *t)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!t->moves[i]) continue;
        t->value[used] = 0;
        for (size_t k = 0; k < width; k++) t->value[used] += t->e[i * width + k] * t->e[i * width + k] / (double)width;
        used++;
    }
    return sk_polish_jitter(width, used ? sk_select(used, t->value, used / 2) : 0, w->resolution);
}

static double penalty(const polishing *w, size_t s, size_t count)
{
    const double typical = w->from->diagonal ? w->typical->part[s] : w->typical->size;
    return sk_polish_penalty(count, w->from->l, w->from->lambda_scale, typical);
}

/* The eigenvectors of every feature's own matrix, scaled to its factors: a column of `part` each, p d of them. */
static sock_status factors_of_rates(sock_context *ctx, size_t p, size_t d, const double *q, double *part, double *size)
{
    const size_t order = p * d;
    assert(d > 0);
    double *block = sk_doubles(ctx, d, d);
    sock_status status = block ? SOCK_OK : SOCK_ENOMEM;
    for (size_t m = 0; status >= 0 && m < p; m++) {
        size_t own = 0;
        double *u = NULL;
        for (size_t i = 0; i < d * d; i++) block[i] = q[(i / d * p + m) * order + i % d * p + m];
        status = sk_leading_factor(ctx, d, block, d, 0, &u, &own);
        for (size_t c = 0; status >= 0 && c < own; c++)
            for (size_t k = 0; k < d; k++) {
                part[k * order + m * d + c] = u[k * own + c];
                size[m * d + c] += u[k * own + c] * u[k * own + c];
            }
        sk_free(u);
    }
    sk_free(block);
    return status;
}

/* U of rates: the largest of these columns, each in the rows of its own feature; owner: their features. */
static sock_status own_factors(sock_context *ctx, const sk_trial *r, const double *q, double **u, size_t **owner,
                               size_t *rank)
{
    const size_t p = r->p, order = sk_trial_order(r), d = order / p, most = SK_MIN(order, (size_t)SK_POLISH_RATES);
    assert(p > 0 && d > 0);
    double *part = sk_doubles(ctx, d, order), *size = sk_doubles(ctx, order, 2), least = 0;
    *u = sk_doubles(ctx, order, most);
    *owner = sk_alloc(ctx, most, sizeof **owner);
    *rank = 0;
    sock_status status = part && size && *u && *owner ? factors_of_rates(ctx, p, d, q, part, size) : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(size + order, size, order * sizeof *size);
        least = sk_select(order, size + order, order - most);
        for (size_t c = 0; c < order; c++) least = fmax(least, SK_POLISH_SHARE * size[c]);
    }
    for (size_t c = 0; status >= 0 && c < order; c++)
        if (size[c] > 0 && size[c] >= least && *rank < most) (*owner)[(*rank)++] = c;
    for (size_t j = 0; status >= 0 && j < *rank; j++) {
        const size_t c = (*owner)[j], m = c / d;
        for (size_t k = 0; k < d; k++) (*u)[(k * p + m) * *rank + j] = part[k * order + c];
        (*owner)[j] = m;
    }
    sk_free(part);
    sk_free(size);
    return status;
}

static sock_status polish_one(const polishing *w, size_t s, size_t f, const desk *t)
{
    const sk_trial *r = w->from;
    size_t order = sk_trial_order(r), width = r->diagonal ? 1 : r->d, rank = 0, count = gather(w, s, f, t);
    double *u = NULL, *q = w->to->solution + f * r->size + s * order * order;
    size_t *owner = NULL;
    sock_status status = sk_features_separate(r->map)
                             ? own_factors(w->ctx, r, q, &u, &owner, &rank)
                             : sk_leading_factor(w->ctx, order, q, SK_POLISH_RANK, SK_POLISH_SHARE, &u, &rank);
    if (status < 0) goto out;
    sk_polish_problem problem = {
        .n = count, .d = width, .p = features_of(r), .phi0 = t->row0, .phi1 = t->row1, .h = t->h, .e = t->e};
    problem.eps = jitter(w, count, width, t);
    problem.mu = penalty(w, s, count);
    problem.owner = owner;
    if (rank) status = sk_polish(w->ctx, &problem, rank, u, SK_POLISH_STEPS, NULL, NULL);
    if (status >= 0) sk_gemm(w->ctx, SK_PLAIN, SK_TRANSPOSED, order, order, rank, 1, u, rank, u, rank, 0, q, order);
out:
    sk_free(owner);
    sk_free(u);
    return status;
}

static int owner_of(const polishing *w, size_t f) { return (int)(f % (size_t)sk_ranks(w->ctx)); }
static bool is_mine(const polishing *w, size_t f) { return owner_of(w, f) == sk_rank(w->ctx); }

static sock_status polish_folds(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const polishing *w = argument;
    desk t;
    sock_status status = desk_new(w, &t);
    for (size_t f = begin; status >= 0 && f < end; f++) {
        if (w->shared && !is_mine(w, f)) continue;
        status = sk_progress(w->ctx, "polish", -1);
        for (size_t s = 0; status >= 0 && s < sk_trial_systems(w->from); s++) status = polish_one(w, s, f, &t);
    }
    desk_clear(&t);
    return status;
}

/* Every fold, and the fit to all rows. */
static sock_status polish_all(polishing *w)
{
    const size_t folds = w->rows->folds, size = w->from->size;
    w->shared = sk_deals_out(w->ctx);
    sock_status status = sk_parallel_for(w->ctx, folds + 1, 1, polish_folds, w);
    if (!w->shared) return status;
    status = sk_together(w->ctx, status);
    if (status < 0) return status;
    for (size_t f = 0; f <= folds; f++)
        sk_give(w->ctx, owner_of(w, f), w->to->solution + f * size, size * sizeof(double));
    return status;
}

static sock_status copy_trial(sock_context *ctx, const sk_trial *from, size_t clusters, sk_trial **out)
{
    const size_t count = (from->folds + 1) * from->size;
    sk_trial *to = sk_alloc(ctx, 1, sizeof *to);
    if (!to) return SOCK_ENOMEM;
    *to = *from;
    to->map = NULL;
    to->held = NULL;
    to->picks.feature = NULL;
    to->polished = true;
    to->grid = NULL;
    to->lambdas = 1;
    to->cluster = sk_doubles(ctx, clusters, 1);
    to->by_l = sk_doubles(ctx, 1, 1);
    to->solution = sk_doubles_unset(ctx, count, 1);
    sock_status status =
        to->cluster && to->by_l && to->solution ? sk_features_copy(ctx, from->map, &to->map) : SOCK_ENOMEM;
    if (status >= 0 && from->picks.each) status = sk_own_picks(ctx, from->map, from->d, &to->picks);
    if (status < 0) {
        sk_trial_free(to);
        return status;
    }
    memcpy(to->solution, from->solution, count * sizeof(double));
    *out = to;
    return SOCK_OK;
}

/* The residuals of every block in one piece. */
static sock_status collect(polishing *w, const sk_remains *few)
{
    const size_t n = w->rows->n, d = w->rows->d;
    for (size_t b = 0; b < w->rows->blocks; b++) {
        sk_block block;
        SK_TRY(sk_remains_take(w->ctx, few, b, &block));
        const sk_view *v = block.view;
        for (size_t f = 0; f <= v->folds; f++)
            memcpy(w->z + (f * n + v->begin) * d, block.z + f * v->n * d, v->n * d * sizeof(double));
        w->typical = v->typical;
        sk_remains_give(few, &block);
    }
    return SOCK_OK;
}

/* What the trial says of the rows, once for all. */
static sock_status hold(sock_context *ctx, const sk_views *views, sk_trial *t)
{
    const sk_transitions *rows = sk_views_rows(views);
    const size_t d2 = t->d * t->d;
    double *held = sk_doubles(ctx, rows->n, d2);
    sock_status status = held ? SOCK_OK : SOCK_ENOMEM;
    for (size_t b = 0; status >= 0 && b < rows->blocks; b++) {
        const sk_view *v = NULL;
        SK_GO(sk_views_take(ctx, views, b, &v));
        if (v->fold < v->folds) status = sk_trial_held(ctx, t, v, held + v->begin * d2);
        sk_views_give(views, v);
    }
    if (status < 0) goto out;
    t->held = held;
    held = NULL;
out:
    sk_free(held);
    return status;
}

sock_status sk_try_polish(sock_context *ctx, const sk_remains *few, const sk_remains *all, const sk_trial *from,
                          sk_trial **out)
{
    const sk_views *views = sk_remains_views(few);
    const sk_transitions *rows = sk_views_rows(views);
    const size_t n = rows->n, p = from->p, clusters = sk_views_rows(sk_remains_views(all))->clusters;
    polishing w = {.ctx = ctx, .rows = rows, .from = from, .resolution = sk_views_spec(views)->resolution};
    double start = sk_seconds();
    sock_status status;
    w.phi0 = sk_doubles_unset(ctx, n, p);
    w.phi1 = sk_doubles_unset(ctx, n, p);
    w.z = sk_doubles_unset(ctx, (rows->folds + 1) * n, rows->d);
    SK_GO(w.phi0 && w.phi1 && w.z ? copy_trial(ctx, from, clusters, &w.to) : SOCK_ENOMEM);
    SK_GO(sk_features_eval(ctx, from->map, n, rows->left, w.phi0, p));
    SK_GO(sk_features_eval(ctx, from->map, n, rows->right, w.phi1, p));
    SK_GO(collect(&w, few));
    SK_GO(polish_all(&w));
    if (from->held) SK_GO(hold(ctx, sk_remains_views(all), w.to));
    SK_GO(sk_held_score(ctx, all, w.to, w.to->cluster, &w.to->score));
    w.to->by_l[0] = w.to->score;
    if (!isfinite(w.to->score)) SK_GO(sk_fail(ctx, SOCK_ENUMERIC, "the polished diffusion has no finite score"));
    w.to->seconds = sk_seconds() - start;
    *out = w.to;
    w.to = NULL;
out:
    sk_trial_free(w.to);
    sk_free(w.phi0);
    sk_free(w.phi1);
    sk_free(w.z);
    return status;
}
