/* driftcv.c - cross-validation of one drift candidate through sums over rows.
 *
 *   1. Psi: the integrated features of every step (conditional quadrature).
 *   2. For each fold its share of H = sum psi psi' (x) P and g = sum psi (x) P dy, P the precision of the step. With a
 *      diagonal a the d components are d systems of order p; else one of order dp. Many features in many dimensions
 *      share one H with the mean precision: a d-th of the cost, and good enough to be compared by.
 *   3. Without fold f: H - H_f, g - g_f. Ridge: one eigendecomposition gives the weights for every lambda. Learned
 *      weights: sequential sparse Bayes.
 *   4. Held-out score of each lambda; the best one, and its weights from all rows.
 *
 * Cost: features, n p^2 (times d or d(d+1)/2), and order^3 for each fold and system. */
#include "tune/driftcv.h"

#include "drift/sparsebayes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct cv {
    sock_context *ctx;
    const sk_problem *p;
    const sk_drift_candidate *candidate;
    sk_drift_result *result;
    size_t n, d, p_count, systems, order, folds;
    bool joint;
    size_t rhs;    /* right-hand sides of a system: d where the components share it, else 1 */
    double *h, *g; /* (folds of the problem + 2) parts: folds, always, total; each systems x order^2, systems x order */
    double unit;   /* penalty for l = 1 */
    double *values; /* order */
    double *train_h, *train_g, *rotated;
    double *path;          /* SK_LAMBDAS x p x d weights */
    double *cluster_score; /* SK_LAMBDAS x clusters */
    double *fold_path;     /* folds x SK_LAMBDAS x p x d */
} cv;

void sk_drift_candidate_clear(sk_drift_candidate *candidate)
{
    sk_free(candidate->name);
    sk_kernel_free(candidate->kernel);
    *candidate = (sk_drift_candidate){0};
}

void sk_drift_result_free(sk_drift_result *result)
{
    if (!result) return;
    sk_features_free(result->map);
    sk_free(result->psi);
    sk_free(result->cluster);
    sk_free(result->weight);
    sk_free(result->variance);
    sk_free(result);
}

const double sk_drift_lambdas[SK_LAMBDAS] = {1e2,  1e1,  1,    1e-1, 1e-2, 1e-3,  1e-4,
                                             1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};

/* ---- Step 1: features ---- */

static sock_status make_features(cv *c)
{
    const sk_problem *p = c->p;
    const sk_kernel *kernel = c->candidate->kernel;
    sk_drift_result *r = c->result;
    if (sk_kernel_is_implicit(kernel))
        SK_TRY(sk_features_pivoted(c->ctx, kernel, p->d, p->n, p->steps->y, 1e-10, SK_MIN(c->candidate->max_rank, p->n),
                                   false, &r->map, NULL, NULL));
    else
        SK_TRY(sk_features_new(c->ctx, "drift", kernel, p->d, p->n, p->steps->y, &r->map));
    r->p = sk_features_count(r->map);
    r->psi = sk_doubles(c->ctx, p->n, r->p);
    if (!r->psi) return SOCK_ENOMEM;
    for (size_t begin = 0; begin < p->n; begin += 256)
        SK_TRY(sk_occupation_features(c->ctx, p->rule, r->map, begin, SK_MIN(begin + 256, p->n), r->psi + begin * r->p,
                                      r->p));
    return SOCK_OK;
}

/* ---- Step 2: sums ---- */

/* The weight of step i for components k and l: the precision matrix where they are fitted jointly; else the inverse of
 * the component's own variance, or of the mean variance when the components share a system. */
static double weight_of(const cv *c, size_t i, size_t k, size_t l)
{
    size_t d = c->d;
    if (c->joint || !c->p->weighted) return c->p->precision[(i * d + k) * d + l];
    const double *variance = c->p->part + i * d;
    double sum = 0;
    for (size_t m = 0; c->rhs > 1 && m < d; m++) sum += variance[m] / (double)d;
    return k == l ? 1 / ((c->rhs > 1 ? sum : variance[k]) + 0.1 * c->p->middle) : 0;
}

/* H_kl += Psi' diag(P_kl) Psi over the rows of one range, into block (k, l) of a system of the given order. */
static void add_block(const cv *c, size_t begin, size_t end, size_t k, size_t l, double *scaled, double *target)
{
    size_t p = c->p_count, rows = end - begin;
    const double *psi = c->result->psi + begin * p;
    for (size_t i = 0; i < rows; i++) {
        double w = weight_of(c, begin + i, k, l);
        for (size_t j = 0; j < p; j++) scaled[i * p + j] = w * psi[i * p + j];
    }
    sk_gemm(c->ctx, SK_TRANSPOSED, SK_PLAIN, p, p, rows, 1, psi, p, scaled, p, 1, target, c->order);
}

static void add_range(const cv *c, size_t begin, size_t end, double *scaled, double *h, double *g)
{
    size_t p = c->p_count, d = c->d, order = c->order;
    bool apart = c->systems > 1 || c->rhs > 1 || d == 1;
    for (size_t k = 0; k < (c->rhs > 1 ? 1 : d); k++)
        for (size_t l = apart ? k : 0; l < (apart ? k + 1 : d); l++) {
            double *block = apart ? h + k * order * order : h + k * p * order + l * p;
            for (size_t at = begin; at < end; at += 512) add_block(c, at, SK_MIN(at + 512, end), k, l, scaled, block);
        }
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < d; k++) {
            double target = 0;
            for (size_t l = 0; l < d; l++) target += weight_of(c, i, k, l) * c->p->steps->dy[i * d + l];
            sk_axpy(p, target, c->result->psi + i * p, g + k * p); /* systems of order p stand one behind the other */
        }
}

static sock_status sum_rows(cv *c)
{
    const sk_problem *p = c->p;
    size_t hs = c->systems * c->order * c->order, gs = c->systems * c->order * c->rhs, total = p->folds + 1;
    SK_TRY(sk_memory_check(c->ctx, 8.0 * (double)(p->folds + 4) * (double)hs, c->candidate->name,
                           "use --drift to name a smaller kernel"));
    c->h = sk_doubles(c->ctx, p->folds + 2, hs);
    c->g = sk_doubles(c->ctx, p->folds + 2, gs);
    double *scaled = sk_doubles(c->ctx, 512, c->p_count);
    if (!c->h || !c->g || !scaled) {
        sk_free(scaled);
        return SOCK_ENOMEM;
    }
    for (size_t f = 0; f <= p->folds; f++) {
        add_range(c, p->first[f], p->first[f + 1], scaled, c->h + f * hs, c->g + f * gs);
        sk_axpy(hs, 1, c->h + f * hs, c->h + total * hs);
        sk_axpy(gs, 1, c->g + f * gs, c->g + total * gs);
    }
    sk_free(scaled);
    double size = 0, weight = 0;
    for (size_t i = 0; i < p->n; i++) {
        size += sk_dot(c->p_count, c->result->psi + i * c->p_count, c->result->psi + i * c->p_count);
        for (size_t k = 0; k < c->d; k++) weight += weight_of(c, i, k, k) / (double)c->d;
    }
    c->unit = size * weight / ((double)p->n * (double)p->n); /* natural units: mean |psi|^2, mean precision */
    return SOCK_OK;
}

/* ---- Step 3: fits ---- */

/* Weights of system s, right-hand side u, into w (p x d), entry (j, k) for feature j and component k. */
static void put_weights(const cv *c, size_t s, size_t u, const double *solution, double *w)
{
    size_t p = c->p_count, d = c->d;
    for (size_t i = 0; i < c->order; i++) {
        size_t k = c->systems > 1 ? s : c->rhs > 1 ? u : i / p, j = i % p;
        w[j * d + k] = solution[i];
    }
}

static sock_status fit_ridge(cv *c, size_t s, size_t rows, double *path, double *dof)
{
    size_t order = c->order;
    double *h = c->train_h, *rotated = c->rotated, *solution = rotated + order, *scaled = solution + order;
    SK_TRY(sk_eigh(c->ctx, order, h, order, c->values));
    for (size_t u = 0; u < c->rhs; u++) {
        sk_gemv(c->ctx, SK_PLAIN, order, order, 1, h, order, c->train_g + u * order, 0, rotated);
        for (size_t j = 0; j < SK_LAMBDAS; j++) {
            double shift = (double)rows * sk_drift_lambdas[j] * c->unit;
            for (size_t i = 0; i < order; i++) {
                double value = c->values[i] > 0 ? c->values[i] : 0;
                scaled[i] = rotated[i] / (value + shift);
                if (dof) dof[j] += value / (value + shift);
            }
            sk_gemv(c->ctx, SK_TRANSPOSED, order, order, 1, h, order, scaled, 0, solution);
            put_weights(c, s, u, solution, path + j * c->p_count * c->d);
        }
    }
    return SOCK_OK;
}

static sock_status fit_learned(cv *c, size_t s, double *w, double *dof, double *variance)
{
    size_t order = c->order;
    sk_sparse_bayes *fit = NULL;
    double threshold = log((double)order) > 3 ? log((double)order) : 3;
    SK_TRY(sk_sparse_bayes_fit(c->ctx, order, c->train_h, order, c->train_g, threshold, 0, &fit));
    double *solution = c->rotated;
    memset(solution, 0, order * sizeof *solution);
    for (size_t a = 0; a < fit->active; a++) {
        solution[fit->index[a]] = fit->mean[a];
        if (dof) *dof += 1 - fit->alpha[a] * fit->covariance[a * fit->active + a];
        if (variance) {
            size_t k = c->systems > 1 ? s : fit->index[a] / c->p_count, j = fit->index[a] % c->p_count;
            variance[j * c->d + k] = fit->covariance[a * fit->active + a];
        }
    }
    put_weights(c, s, 0, solution, w);
    sk_sparse_bayes_free(fit);
    return SOCK_OK;
}

/* All weights without fold f (f = folds of the problem: from everything): path of SK_LAMBDAS, or one for learned ones.
 */
static sock_status fit_without(cv *c, size_t f, double *path, double *dof, double *variance)
{
    const sk_problem *p = c->p;
    size_t hs = c->systems * c->order * c->order, gs = c->systems * c->order * c->rhs, total = p->folds + 1;
    bool all = f == p->folds;
    size_t rows = p->n - (all ? 0 : p->first[f + 1] - p->first[f]);
    for (size_t s = 0; s < c->systems; s++) {
        size_t square = c->order * c->order;
        memcpy(c->train_h, c->h + total * hs + s * square, square * sizeof(double));
        memcpy(c->train_g, c->g + total * gs + s * c->order * c->rhs, c->order * c->rhs * sizeof(double));
        if (!all) {
            sk_axpy(square, -1, c->h + f * hs + s * square, c->train_h);
            sk_axpy(c->order * c->rhs, -1, c->g + f * gs + s * c->order * c->rhs, c->train_g);
        }
        if (c->candidate->learned)
            SK_TRY(fit_learned(c, s, path, dof, variance));
        else
            SK_TRY(fit_ridge(c, s, rows, path, dof));
    }
    return SOCK_OK;
}

/* ---- Step 4: scores ---- */

static void score_fold(cv *c, size_t f, const double *path, size_t lambdas, double *prediction)
{
    const sk_problem *p = c->p;
    size_t pc = c->p_count, d = c->d, begin = p->first[f], rows = p->first[f + 1] - begin;
    for (size_t j = 0; j < lambdas; j++) {
        sk_gemm(c->ctx, SK_PLAIN, SK_PLAIN, rows, d, pc, 1, c->result->psi + begin * pc, pc, path + j * pc * d, d, 0,
                prediction, d);
        for (size_t i = 0; i < rows; i++) {
            double *e = prediction + i * d;
            for (size_t k = 0; k < d; k++) e[k] = p->steps->dy[(begin + i) * d + k] - e[k];
            c->cluster_score[j * p->clusters + p->cluster[begin + i]] += sk_problem_quick_score(p, begin + i, e);
        }
    }
}

/* Fewer than so many rows for a degree of freedom, and the scores of the folds no longer show what a drift does between
 * and beyond the data. */
enum { ROWS_PER_FREEDOM = 15 };

/* The best penalty; of those that leave too many degrees of freedom only the largest can be. */
static size_t best_lambda(const cv *c, size_t lambdas, const double *dof, double *by_l)
{
    double most = (double)(c->n * c->d) / ROWS_PER_FREEDOM;
    size_t best = 0;
    for (size_t j = 0; j < lambdas; j++) {
        by_l[j] = 0;
        for (size_t u = 0; u < c->p->clusters; u++) by_l[j] += c->cluster_score[j * c->p->clusters + u];
        if (!isfinite(by_l[j])) by_l[j] = -(double)INFINITY;
        if (by_l[j] > by_l[best] && dof[j] <= most) best = j;
    }
    return best;
}

static sock_status run(cv *c)
{
    const sk_problem *p = c->p;
    sk_drift_result *r = c->result;
    size_t lambdas = c->candidate->learned ? 1 : SK_LAMBDAS, size = c->p_count * c->d, most = 1;
    for (size_t f = 0; f < c->folds; f++) most = SK_MAX(most, p->first[f + 1] - p->first[f]);
    double *prediction = sk_doubles(c->ctx, most, c->d), dof[SK_LAMBDAS] = {0};
    sock_status status = prediction ? SOCK_OK : SOCK_ENOMEM;
    for (size_t f = 0; status >= 0 && f < c->folds; f++) {
        status = sk_progress(c->ctx, c->candidate->name, -1);
        if (status >= 0) status = fit_without(c, f, c->fold_path + f * lambdas * size, NULL, NULL);
        if (status >= 0) score_fold(c, f, c->fold_path + f * lambdas * size, lambdas, prediction);
    }
    sk_free(prediction);
    if (status < 0) return status;
    SK_TRY(fit_without(c, p->folds, c->path, dof, r->variance));
    size_t best = best_lambda(c, lambdas, dof, r->by_l);
    r->score = r->by_l[best];
    if (!isfinite(r->score)) return sk_fail(c->ctx, SOCK_ENUMERIC, "%s has no finite score", c->candidate->name);
    memcpy(r->cluster, c->cluster_score + best * p->clusters, p->clusters * sizeof(double));
    r->l = c->candidate->learned ? 0 : sk_drift_lambdas[best];
    r->lambda_scale = c->unit;
    size_t inside = best == 0 ? 1 : best == SK_LAMBDAS - 1 ? best - 1 : best; /* a flat end is no edge */
    r->edge = !c->candidate->learned && r->by_l[best] > r->by_l[inside] + 0.1;
    for (size_t f = 0; f < c->folds; f++)
        memcpy(r->weight + f * size, c->fold_path + (f * lambdas + best) * size, size * sizeof(double));
    memcpy(r->weight + p->folds * size, c->path + (c->candidate->learned ? 0 : best) * size, size * sizeof(double));
    r->dof = dof[c->candidate->learned ? 0 : best];
    return SOCK_OK;
}

static sock_status prepare(cv *c)
{
    const sk_problem *p = c->p;
    sk_drift_result *r = c->result;
    SK_TRY(make_features(c));
    c->p_count = r->p;
    bool joint = !p->diagonal && c->d > 1 && c->d * r->p <= (c->d > 3 ? 400 : 1500);
    c->joint = joint || c->d == 1;
    bool shared = !joint && c->d > 3 && r->p > 100 && !c->candidate->learned;
    c->rhs = shared ? c->d : 1;
    c->systems = joint || shared || c->d == 1 ? 1 : c->d;
    c->order = joint ? c->d * r->p : r->p;
    size_t size = r->p * c->d, lambdas = c->candidate->learned ? 1 : SK_LAMBDAS;
    SK_TRY(sum_rows(c));
    c->values = sk_doubles(c->ctx, c->order, 1);
    c->train_h = sk_doubles(c->ctx, c->order, c->order);
    c->train_g = sk_doubles(c->ctx, c->order, c->rhs);
    c->rotated = sk_doubles(c->ctx, 3, c->order);
    c->path = sk_doubles(c->ctx, SK_LAMBDAS, size);
    c->fold_path = sk_doubles(c->ctx, c->folds * lambdas, size);
    c->cluster_score = sk_doubles(c->ctx, SK_LAMBDAS, p->clusters);
    r->cluster = sk_doubles(c->ctx, p->clusters, 1);
    r->weight = sk_doubles(c->ctx, p->folds + 1, size);
    r->variance = c->candidate->learned ? sk_doubles(c->ctx, r->p, c->d) : NULL;
    bool good = c->values && c->train_h && c->train_g && c->rotated && c->path && c->fold_path && c->cluster_score &&
                r->cluster && r->weight && (r->variance || !c->candidate->learned);
    return good ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_drift_cross_validate(sock_context *ctx, const sk_problem *p, const sk_drift_candidate *candidate,
                                    size_t folds, sk_drift_result **out)
{
    cv c = {.ctx = ctx, .p = p, .candidate = candidate, .n = p->n, .d = p->d, .folds = SK_MIN(folds, p->folds)};
    double start = sk_seconds();
    c.result = sk_alloc(ctx, 1, sizeof *c.result);
    sock_status status = c.result ? prepare(&c) : SOCK_ENOMEM;
    if (status >= 0) status = run(&c);
    if (status >= 0) c.result->seconds = sk_seconds() - start;
    sk_free(c.h);
    sk_free(c.g);
    sk_free(c.values);
    sk_free(c.train_h);
    sk_free(c.train_g);
    sk_free(c.rotated);
    sk_free(c.path);
    sk_free(c.fold_path);
    sk_free(c.cluster_score);
    if (status < 0) {
        sk_drift_result_free(c.result);
        return status;
    }
    *out = c.result;
    return SOCK_OK;
}

double sk_drift_allowance(double error, double saved, size_t rows)
{
    double most = 2 * fmax(1, (double)SK_FEW_ROWS / (double)rows);
    return fmax(fmin(error, most), fmin(saved / 4, fmax(error, 10)));
}

void sk_drift_residuals(sock_context *ctx, const sk_problem *p, const sk_drift_result *r, size_t f, double *e)
{
    size_t d = p->d;
    memcpy(e, p->steps->dy, p->n * d * sizeof *e);
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, p->n, d, r->p, -1, r->psi, r->p, r->weight + f * r->p * d, d, 1, e, d);
}

sock_status sk_drift_result_term(sock_context *ctx, const sk_drift_result *r, size_t folds, size_t d,
                                 sk_drift_term **out)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = d;
    term->weight = sk_doubles(ctx, r->p, d);
    sock_status status = term->weight ? sk_features_copy(ctx, r->map, &term->map) : SOCK_ENOMEM;
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    memcpy(term->weight, r->weight + folds * r->p * d, r->p * d * sizeof(double));
    *out = term;
    return SOCK_OK;
}
