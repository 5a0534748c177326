/* diffusioncv.c - cross-validation of one diffusion candidate through sums over rows.
 *
 *   1. svec rows of each step: B from its two ends (the fit), and from the conditional quadrature (the score).
 *   2. For each fold its share of G = sum w b b'. A full a has one system with w = 1/(|h a| + 0.3 median)^2; a diagonal
 *      one d systems, each weighted by its own h a_kk.
 *   3. Without fold f: G - G_f, c from the residuals of the drift without f; Q for lambda after lambda, large to small,
 *      warm started, until the score has clearly passed its best: the smallest lambdas cost most. Learned weights: four
 *      times, features are scaled by sqrt(Q_mm) and the problem is solved again.
 *   4. Held-out: I a = <M, Q_kl> of the conditional rows; the transition's likelihood.
 *
 * Cost: n q^2 (times d if diagonal), q^3 for each fold and system, q = p (p + 1) / 2. */
#include "tune/diffusioncv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REWEIGHTINGS = 4, MOMENT_ROWS = 256 };

typedef struct cv {
    sock_context *ctx;
    const sk_problem *p;
    const sk_diffusion_candidate *candidate;
    const sk_leftover *leftover;
    const sk_diffusion_options *options;
    sk_diffusion_result *result;
    size_t n, d, pc, q, systems, dim, pairs, folds; /* dim: d of one system */
    double *b, *conditional;                        /* n x q */
    double *w;                                      /* systems x n row weights */
    double *g;           /* (folds of the problem + 2) x systems x q x q; the last is the total */
    double *mean_square; /* pc: mean phi_m^2 */
    double mean_h2;
    double *weight_mean;   /* systems */
    const double *z;       /* (folds of the problem + 1) x n x d: corrected residuals */
    double *own_z;         /* the same, when they are not those of the leftover */
    double *held;          /* n x d x d: I a at the current lambda, held out */
    double *q_now;         /* folds x systems x order^2: Q at the current lambda */
    double *cluster_score; /* clusters, at the current lambda */
} cv;

void sk_diffusion_candidate_clear(sk_diffusion_candidate *candidate)
{
    sk_free(candidate->name);
    sk_kernel_free(candidate->kernel);
    *candidate = (sk_diffusion_candidate){0};
}

void sk_diffusion_result_free(sk_diffusion_result *r)
{
    if (!r) return;
    sk_features_free(r->map);
    sk_free(r->cluster);
    sk_free(r->by_l);
    sk_free(r->q);
    sk_free(r->held);
    sk_free(r);
}

/* ---- Step 1: rows ---- */

static void add_svec(size_t p, double weight, const double *phi, double *row)
{
    const double root2 = 1.41421356237309504880;
    for (size_t b = 0, j = 0; b < p; b++) {
        double scaled = weight * phi[b] * root2;
        for (size_t a = 0; a < b; a++, j++) row[j] += scaled * phi[a];
        row[j++] += weight * phi[b] * phi[b];
    }
}

/* rows (n x q) = W svec(phi phi') of a rule. */
static sock_status make_rows(cv *c, const sk_rule *rule, double *rows, double *mean_square)
{
    enum { AT_ONCE = 128 };
    size_t pc = c->pc, d = c->d;
    double *phi = NULL;
    sock_status status = SOCK_OK;
    for (size_t begin = 0; begin < c->n; begin += AT_ONCE) {
        size_t end = SK_MIN(begin + AT_ONCE, c->n), first = rule->row[begin], count = rule->row[end] - first;
        if (!phi) phi = sk_doubles(c->ctx, count, pc); /* the first block is the largest: all rows are alike */
        status = phi ? sk_features_eval(c->ctx, c->result->map, count, rule->x + first * d, phi, pc) : SOCK_ENOMEM;
        if (status < 0) break;
        memset(rows + begin * c->q, 0, (end - begin) * c->q * sizeof *rows);
        for (size_t i = begin; i < end; i++)
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
                add_svec(pc, rule->weight[e], phi + (e - first) * pc, rows + i * c->q);
        for (size_t e = 0; mean_square && e < count; e++)
            for (size_t m = 0; m < pc; m++) mean_square[m] += phi[e * pc + m] * phi[e * pc + m] / (double)rule->nodes;
    }
    sk_free(phi);
    return status;
}

static sock_status make_features(cv *c)
{
    const sk_problem *p = c->p;
    const sk_kernel *kernel = c->candidate->kernel;
    sk_diffusion_result *r = c->result;
    if (sk_kernel_is_implicit(kernel))
        SK_TRY(sk_features_pivoted(c->ctx, kernel, p->d, p->n, p->steps->y, 1e-8, SK_MIN(c->candidate->max_rank, p->n),
                                   false, &r->map, NULL, NULL));
    else
        SK_TRY(sk_features_new(c->ctx, "diffusion", kernel, p->d, p->n, p->steps->y, &r->map));
    c->pc = r->p = sk_features_count(r->map);
    c->q = c->pc * (c->pc + 1) / 2;
    return SOCK_OK;
}

/* ---- Step 2: weights and sums ---- */

/* w_i = 1 / (size_i + 0.3 median)^2, in units of the median: of order one. */
static sock_status row_weights(cv *c, size_t s)
{
    const sk_problem *p = c->p;
    double *w = c->w + s * c->n, sum = 0, middle;
    for (size_t i = 0; i < c->n; i++) w[i] = c->systems > 1 ? p->part[i * c->d + s] : p->size[i];
    SK_TRY(sk_problem_middle(c->ctx, p, w, &middle));
    for (size_t i = 0; i < c->n; i++) {
        double relative = middle > 0 ? w[i] / middle + 0.3 : 1;
        w[i] = p->weighted ? 1 / (relative * relative) : 1;
        sum += w[i] / (double)c->n;
    }
    c->weight_mean[s] = sum;
    return SOCK_OK;
}

/* Shares of G, fold by fold and in each system by system. */
static sock_status sum_shares(void *argument, size_t begin, size_t end, int worker)
{
    enum { AT_ONCE = 256 };
    (void)worker;
    const cv *c = argument;
    const sk_problem *p = c->p;
    double *scaled = sk_doubles_unset(c->ctx, AT_ONCE, c->q);
    if (!scaled) return SOCK_ENOMEM;
    for (size_t share = begin; share < end; share++) {
        size_t f = share / c->systems, s = share % c->systems;
        double *g = c->g + share * c->q * c->q;
        for (size_t at = p->first[f]; at < p->first[f + 1]; at += AT_ONCE) {
            size_t rows = SK_MIN(AT_ONCE, p->first[f + 1] - at);
            for (size_t i = 0; i < rows; i++) {
                double root = sqrt(c->w[s * c->n + at + i]);
                for (size_t j = 0; j < c->q; j++) scaled[i * c->q + j] = root * c->b[(at + i) * c->q + j];
            }
            sk_syrk(c->ctx, SK_TRANSPOSED, c->q, rows, 1, scaled, c->q, 1, g, c->q);
        }
        sk_symmetrise(c->q, g, c->q);
    }
    sk_free(scaled);
    return SOCK_OK;
}

static sock_status sum_rows(cv *c)
{
    size_t square = c->q * c->q, folds = c->p->folds, parts = folds + 2;
    SK_TRY(sk_memory_check(c->ctx, 8.0 * (double)((parts + 2) * c->systems) * (double)square, c->candidate->name,
                           "use --diffusion to name a smaller kernel"));
    c->g = sk_doubles(c->ctx, parts * c->systems, square);
    if (!c->g) return SOCK_ENOMEM;
    for (size_t s = 0; s < c->systems; s++) SK_TRY(row_weights(c, s));
    SK_TRY(sk_parallel_for(c->ctx, (folds + 1) * c->systems, 1, sum_shares, c));
    for (size_t f = 0; f <= folds; f++)
        sk_axpy(c->systems * square, 1, c->g + f * c->systems * square, c->g + (folds + 1) * c->systems * square);
    return SOCK_OK;
}

/* ---- Step 3: fits ---- */

/* c (systems x pairs x q) and zz (systems) from the rows outside fold f, a block of rows at a time. */
static sock_status moments(const cv *c, size_t f, double *out, double *zz)
{
    const sk_problem *p = c->p;
    size_t d = c->d, columns = c->systems * c->pairs, used = 0, skip_begin = p->n, skip_end = skip_begin;
    const double root2 = 1.41421356237309504880, *z = c->z + f * c->n * d;
    double *block = sk_doubles_unset(c->ctx, MOMENT_ROWS, columns);
    if (!block) return SOCK_ENOMEM;
    if (f < p->folds) {
        skip_begin = p->first[f];
        skip_end = p->first[f + 1];
    }
    for (size_t begin = 0; begin < c->n; begin += used) {
        if (begin == skip_begin) begin = skip_end;
        size_t limit = begin < skip_begin ? skip_begin : c->n;
        used = SK_MIN(limit - begin, MOMENT_ROWS);
        if (!used) break;
        for (size_t i = 0; i < used; i++) {
            const double *e = z + (begin + i) * d;
            for (size_t s = 0; s < c->systems; s++)
                for (size_t l = 0, pair = s * c->pairs; l < c->dim; l++)
                    for (size_t k = 0; k <= l; k++, pair++) {
                        double w = c->w[s * c->n + begin + i];
                        double target = c->dim == 1 ? e[s] * e[s] : e[k] * e[l] * (k < l ? root2 : 1);
                        block[i * columns + pair] = w * target;
                        zz[s] += w * target * target;
                    }
        }
        sk_gemm(c->ctx, SK_TRANSPOSED, SK_PLAIN, columns, c->q, used, 1, block, columns, c->b + begin * c->q, c->q, 1,
                out, c->q);
    }
    sk_free(block);
    return SOCK_OK;
}

static double lambda_scale(const cv *c, size_t s, const double *scale)
{
    double k = 0;
    for (size_t m = 0; m < c->pc; m++) k += c->mean_square[m] * (scale ? scale[m] * scale[m] : 1);
    return c->mean_h2 * k * k * c->weight_mean[s];
}

/* The problem with features scaled by sqrt(Q_mm), negligible ones left out; Q is replaced. */
static sock_status reweigh(const cv *c, size_t s, size_t rows, double l, const double *g, const double *moment,
                           double zz, double *q)
{
    size_t pc = c->pc, kept = 0;
    size_t *index = sk_alloc(c->ctx, pc, sizeof *index);
    double *scale = sk_doubles(c->ctx, pc, 1), largest = 0;
    double *small = NULL, *small_c = NULL, *small_q = NULL;
    sk_psd_gram *gram = NULL;
    sock_status status = index && scale ? SOCK_OK : SOCK_ENOMEM;
    for (size_t m = 0; status >= 0 && m < pc; m++) largest = SK_MAX(largest, q[m * pc + m]);
    for (size_t m = 0; status >= 0 && m < pc; m++)
        if (q[m * pc + m] > 1e-6 * largest) {
            scale[m] = sqrt(q[m * pc + m]);
            index[kept++] = m;
        }
    size_t kq = kept * (kept + 1) / 2;
    if (status >= 0 && kept) {
        small = sk_doubles(c->ctx, kq, kq);
        small_c = sk_doubles(c->ctx, kq, 1);
        small_q = sk_doubles(c->ctx, kept, kept);
        if (!small || !small_c || !small_q) status = SOCK_ENOMEM;
        for (size_t b = 0, j = 0; status >= 0 && b < kept; b++)
            for (size_t a = 0; a <= b; a++, j++) {
                size_t at = index[b] * (index[b] + 1) / 2 + index[a];
                double factor = scale[index[a]] * scale[index[b]];
                small_c[j] = factor * moment[at];
                for (size_t v = 0, u = 0; v < kept; v++)
                    for (size_t t = 0; t <= v; t++, u++)
                        small[j * kq + u] = factor * scale[index[t]] * scale[index[v]] *
                                            g[at * c->q + index[v] * (index[v] + 1) / 2 + index[t]];
            }
        if (status >= 0)
            status = (kept <= SK_PSD_QUICK ? sk_psd_gram_quick : sk_psd_gram_new)(c->ctx, rows, kept, small, &gram);
        sk_psd_moments z = {.d = 1, .c = small_c, .zz = zz, .lambda = l * lambda_scale(c, s, scale)};
        sk_psd_options options = {.tolerance = c->options->tolerance};
        if (status >= 0) status = sk_psd_gram_solve(c->ctx, gram, rows, &z, &options, NULL, false, small_q, NULL);
        for (size_t i = 0; status >= 0 && i < pc * pc; i++) q[i] = 0;
        for (size_t a = 0; status >= 0 && a < kept; a++)
            for (size_t b = 0; b < kept; b++)
                q[index[a] * pc + index[b]] = scale[index[a]] * scale[index[b]] * small_q[a * kept + b];
    }
    sk_psd_gram_free(gram);
    sk_free(index);
    sk_free(scale);
    sk_free(small);
    sk_free(small_c);
    sk_free(small_q);
    return status;
}

/* One system without one fold, kept while lambda falls. */
typedef struct part {
    sk_psd_gram *gram;
    double *train, *c, *dual; /* q x q (learned weights only), pairs x q, pairs x q */
    double zz;
    size_t rows;
    bool warm;
    double gap; /* relative, of the last solution */
    sk_psd_bounds bounds;
    bool converged;
} part;

static void part_clear(part *t)
{
    sk_psd_gram_free(t->gram);
    sk_free(t->train);
    sk_free(t->c);
    sk_free(t->dual);
    *t = (part){0};
}

/* moment (pairs x q) and zz: those of this system without this fold. */
static sock_status part_new(const cv *c, size_t s, size_t f, const double *moment, double zz, part *t)
{
    const sk_problem *p = c->p;
    size_t square = c->q * c->q, total = p->folds + 1;
    t->rows = p->n;
    t->zz = zz;
    t->train = sk_doubles_unset(c->ctx, c->q, c->q);
    t->c = sk_doubles_unset(c->ctx, c->pairs, c->q);
    t->dual = sk_doubles(c->ctx, c->pairs, c->q);
    if (!t->train || !t->c || !t->dual) return SOCK_ENOMEM;
    memcpy(t->c, moment, c->pairs * c->q * sizeof(double));
    memcpy(t->train, c->g + (total * c->systems + s) * square, square * sizeof(double));
    if (f < p->folds) {
        sk_axpy(square, -1, c->g + (f * c->systems + s) * square, t->train);
        t->rows -= p->first[f + 1] - p->first[f];
    }
    SK_TRY(sk_psd_gram_new(c->ctx, t->rows, c->pc, t->train, &t->gram));
    if (!c->candidate->learned) { /* only the reweighting needs G itself */
        sk_free(t->train);
        t->train = NULL;
    }
    return SOCK_OK;
}

/* All systems without fold f (folds of the problem: from all rows). */
static sock_status parts_without(const cv *c, size_t f, part *parts)
{
    double *moment = sk_doubles(c->ctx, c->systems * c->pairs, c->q), *zz = sk_doubles(c->ctx, c->systems, 1);
    sock_status status = moment && zz ? moments(c, f, moment, zz) : SOCK_ENOMEM;
    for (size_t s = 0; status >= 0 && s < c->systems; s++)
        status = part_new(c, s, f, moment + s * c->pairs * c->q, zz[s], &parts[s]);
    sk_free(moment);
    sk_free(zz);
    return status;
}

/* Q (order x order) at one lambda, from where the last one ended. */
static sock_status part_solve(const cv *c, part *t, size_t s, double l, double *q)
{
    sk_psd_bounds bounds = {0};
    sk_psd_options options = {.tolerance = c->options->tolerance};
    sk_psd_moments z = {.d = c->dim, .c = t->c, .zz = t->zz, .lambda = l * lambda_scale(c, s, NULL)};
    sock_status status = sk_psd_gram_solve(c->ctx, t->gram, t->rows, &z, &options, t->dual, t->warm, q, &bounds);
    t->warm = true;
    t->converged = status == SOCK_OK;
    t->gap = bounds.primal > 0 ? bounds.gap / bounds.primal : 0;
    t->bounds = bounds;
    for (int repeat = 0; status >= 0 && c->candidate->learned && repeat < REWEIGHTINGS; repeat++)
        status = reweigh(c, s, t->rows, l, t->train, t->c, t->zz, q);
    return status < 0 ? status : SOCK_OK;
}

/* ---- Step 4: scores ---- */

/* svec blocks of Q of one system: pairs x q. */
static void blocks_of(const cv *c, const double *q, double *x)
{
    size_t pc = c->pc, order = c->dim * pc;
    const double half_root2 = 0.70710678118654752440;
    for (size_t l = 0, pair = 0; l < c->dim; l++)
        for (size_t k = 0; k <= l; k++, pair++)
            for (size_t b = 0, j = 0; b < pc; b++)
                for (size_t a = 0; a <= b; a++, j++) {
                    double ab = q[(k * pc + a) * order + l * pc + b], ba = q[(k * pc + b) * order + l * pc + a];
                    x[pair * c->q + j] = a == b ? ab : half_root2 * (ab + ba);
                }
}

/* I a of the steps begin .. end-1 from the Q of all systems, into out (n x d x d). */
static sock_status integrate(const cv *c, const double *q, size_t begin, size_t end, double *out)
{
    size_t d = c->d, order2 = c->result->order * c->result->order, rows = end - begin, columns = c->systems * c->pairs;
    double *values = sk_doubles_unset(c->ctx, rows, columns), *x = sk_doubles_unset(c->ctx, columns, c->q);
    if (!values || !x) {
        sk_free(values);
        sk_free(x);
        return SOCK_ENOMEM;
    }
    for (size_t s = 0; s < c->systems; s++) blocks_of(c, q + s * order2, x + s * c->pairs * c->q);
    sk_gemm(c->ctx, SK_PLAIN, SK_TRANSPOSED, rows, columns, c->q, 1, c->conditional + begin * c->q, c->q, x, c->q, 0,
            values, columns);
    memset(out + begin * d * d, 0, rows * d * d * sizeof *out);
    for (size_t i = 0; i < rows; i++) {
        double *a = out + (begin + i) * d * d;
        const double *value = values + i * columns;
        for (size_t s = 0; c->systems > 1 && s < d; s++) a[s * d + s] = value[s] > 0 ? value[s] : 0;
        for (size_t l = 0, pair = 0; c->systems == 1 && l < d; l++)
            for (size_t k = 0; k <= l; k++, pair++) a[k * d + l] = a[l * d + k] = value[pair];
    }
    sk_free(values);
    sk_free(x);
    return SOCK_OK;
}

/* The score of the steps of fold f: its sum, and added to those of their clusters. */
static double fold_score(const sk_problem *p, size_t f, const double *held, double floor, const sk_leftover *leftover,
                         double *cluster, double *space)
{
    enum { AT_ONCE = 64 };
    double total = 0, score[AT_ONCE];
    for (size_t at = p->first[f]; at < p->first[f + 1]; at += AT_ONCE) {
        size_t end = SK_MIN(at + AT_ONCE, p->first[f + 1]);
        sk_problem_scores(p, at, end, leftover->e + f * p->n * p->d, held, floor, score, space);
        for (size_t i = at; i < end; i++) {
            total += score[i - at];
            if (cluster) cluster[p->cluster[i]] += score[i - at];
        }
    }
    return total;
}

double sk_diffusion_score(const sk_problem *p, const double *held, double floor, const sk_leftover *leftover,
                          double *cluster, double *space)
{
    double total = 0;
    for (size_t f = 0; f < p->folds; f++) total += fold_score(p, f, held, floor, leftover, cluster, space);
    return total;
}

/* One lambda for all folds, which share no cluster: each can run on a thread of its own. */
typedef struct stop {
    const cv *c;
    part *parts; /* folds x systems */
    double l;
} stop;

/* Fits without fold f at one lambda, and their score on the fold. */
static sock_status fit_and_score(const stop *at, size_t f, double *space)
{
    const cv *c = at->c;
    const sk_problem *p = c->p;
    size_t order2 = c->result->order * c->result->order;
    double *q = c->q_now + f * c->systems * order2;
    for (size_t s = 0; s < c->systems; s++)
        SK_TRY(part_solve(c, &at->parts[f * c->systems + s], s, at->l, q + s * order2));
    SK_TRY(integrate(c, q, p->first[f], p->first[f + 1], c->held));
    fold_score(p, f, c->held, 0, c->leftover, c->cluster_score, space);
    return SOCK_OK;
}

static sock_status some_folds(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const stop *at = argument;
    double *space = sk_doubles(at->c->ctx, sk_scores_space(at->c->d), 1);
    sock_status status = space ? SOCK_OK : SOCK_ENOMEM;
    for (size_t f = begin; status >= 0 && f < end; f++) {
        status = sk_progress(at->c->ctx, at->c->candidate->name, -1);
        if (status >= 0) status = fit_and_score(at, f, space);
    }
    sk_free(space);
    return status;
}

/* The best lambda so far is kept with all that belongs to it. */
static void keep_best(cv *c, size_t j)
{
    sk_diffusion_result *r = c->result;
    r->score = r->by_l[j];
    r->l = c->options->l[j];
    memcpy(r->cluster, c->cluster_score, c->p->clusters * sizeof(double));
    double *held = r->held; /* the other one is written anew at the next lambda */
    r->held = c->held;
    c->held = held;
    memcpy(r->q, c->q_now, c->folds * c->systems * r->order * r->order * sizeof(double));
}

/* Down the path; clearly past the best twice in a row, smaller lambdas will not come back. */
static sock_status walk(cv *c, part *parts, size_t *best)
{
    sk_diffusion_result *r = c->result;
    size_t worse = 0, j = 0;
    *best = 0;
    for (; j < c->options->lambdas && worse < 2; j++) {
        memset(c->cluster_score, 0, c->p->clusters * sizeof(double));
        stop at = {c, parts, c->options->l[j]};
        SK_TRY(sk_parallel_for(c->ctx, c->folds, 1, some_folds, &at));
        for (size_t u = 0; u < c->p->clusters; u++) r->by_l[j] += c->cluster_score[u];
        if (!isfinite(r->by_l[j])) r->by_l[j] = -(double)INFINITY;
        if (j == 0 || r->by_l[j] > r->by_l[*best]) {
            *best = j;
            keep_best(c, j);
        }
        double hopeless = 10 + 1e-3 * fabs(r->by_l[*best]);
        worse = r->by_l[j] < r->by_l[*best] - hopeless ? worse + 1 : 0;
    }
    for (; j < c->options->lambdas; j++) r->by_l[j] = -(double)INFINITY; /* not tried */
    size_t last = c->options->lambdas - 1;                               /* an end where the score is flat is no edge */
    r->edge = last > 0 && ((*best == 0 && r->by_l[0] > r->by_l[1] + 0.1) ||
                           (*best == last && r->by_l[last] > r->by_l[last - 1] + 0.1));
    if (!isfinite(r->score)) return sk_fail(c->ctx, SOCK_ENUMERIC, "%s has no finite score", c->candidate->name);
    return SOCK_OK;
}

/* The fit to all rows, down the same path: a cold start at a tiny lambda may fail. */
typedef struct whole {
    const cv *c;
    size_t best;
    part *parts;         /* systems */
    double *moment, *zz; /* systems x pairs x q, systems */
} whole;

static sock_status some_systems(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const whole *w = argument;
    const cv *c = w->c;
    size_t order2 = c->result->order * c->result->order, folds = c->p->folds;
    for (size_t s = begin; s < end; s++) {
        SK_TRY(part_new(c, s, folds, w->moment + s * c->pairs * c->q, w->zz[s], &w->parts[s]));
        for (size_t j = 0; j <= w->best; j++)
            SK_TRY(part_solve(c, &w->parts[s], s, c->options->l[j], c->result->q + (folds * c->systems + s) * order2));
    }
    return SOCK_OK;
}

static sock_status fit_all(cv *c, size_t best)
{
    sk_diffusion_result *r = c->result;
    part *parts = sk_alloc(c->ctx, c->systems, sizeof *parts);
    whole w = {c, best, parts, sk_doubles(c->ctx, c->systems * c->pairs, c->q), sk_doubles(c->ctx, c->systems, 1)};
    sock_status status = parts && w.moment && w.zz ? moments(c, c->p->folds, w.moment, w.zz) : SOCK_ENOMEM;
    if (status >= 0) status = sk_parallel_for(c->ctx, c->systems, 1, some_systems, &w);
    for (size_t s = 0; parts && s < c->systems; s++) {
        r->converged = r->converged && parts[s].converged;
        r->gap = SK_MAX(r->gap, parts[s].gap);
        r->whole.primal += parts[s].bounds.primal;
        r->whole.dual += parts[s].bounds.dual;
        r->whole.gap += parts[s].bounds.gap;
        part_clear(&parts[s]);
    }
    sk_free(w.moment);
    sk_free(w.zz);
    sk_free(parts);
    return status;
}

static sock_status prepare_folds(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const stop *at = argument;
    for (size_t f = begin; f < end; f++) SK_TRY(parts_without(at->c, f, at->parts + f * at->c->systems));
    return SOCK_OK;
}

static sock_status run(cv *c)
{
    size_t best = 0;
    part *parts = sk_alloc(c->ctx, c->folds * c->systems, sizeof *parts);
    stop all = {.c = c, .parts = parts};
    sock_status status = parts ? sk_parallel_for(c->ctx, c->folds, 1, prepare_folds, &all) : SOCK_ENOMEM;
    if (status >= 0) status = walk(c, parts, &best);
    if (status >= 0 && c->options->solve_all) status = fit_all(c, best);
    for (size_t i = 0; parts && i < c->folds * c->systems; i++) part_clear(&parts[i]);
    sk_free(parts);
    return status;
}

static sock_status prepare(cv *c)
{
    const sk_problem *p = c->p;
    sk_diffusion_result *r = c->result;
    SK_TRY(make_features(c));
    r->diagonal = c->candidate->diagonal && c->d > 1;
    r->converged = true;
    c->systems = r->systems = r->diagonal ? c->d : 1;
    c->dim = r->diagonal ? 1 : c->d;
    c->pairs = c->dim * (c->dim + 1) / 2;
    r->order = c->dim * c->pc;
    size_t lambdas = c->options->lambdas, order2 = r->order * r->order, nd = c->n * c->d * c->d;
    SK_TRY(sk_memory_check(c->ctx, 8.0 * ((double)c->n * 2.0 * (double)c->q + (double)nd), c->candidate->name,
                           "use --diffusion to name a smaller kernel"));
    c->b = sk_doubles_unset(c->ctx, c->n, c->q);
    c->conditional = sk_doubles_unset(c->ctx, c->n, c->q);
    c->mean_square = sk_doubles(c->ctx, c->pc, 1);
    c->w = sk_doubles(c->ctx, c->systems, c->n);
    c->weight_mean = sk_doubles(c->ctx, c->systems, 1);
    c->held = sk_doubles(c->ctx, nd, 1);
    c->q_now = sk_doubles(c->ctx, c->folds * c->systems, order2);
    c->cluster_score = sk_doubles(c->ctx, p->clusters, 1);
    r->cluster = sk_doubles(c->ctx, p->clusters, 1);
    r->lambdas = lambdas, r->grid = c->options->l;
    r->by_l = sk_doubles(c->ctx, lambdas, 1);
    r->q = sk_doubles(c->ctx, (p->folds + 1) * c->systems, order2);
    r->held = sk_doubles(c->ctx, c->n, c->d * c->d);
    bool good = c->b && c->conditional && c->mean_square && c->w && c->weight_mean && c->held && c->q_now &&
                c->cluster_score && r->cluster && r->by_l && r->q && r->held;
    if (!good) return SOCK_ENOMEM;
    for (size_t i = 0; i < c->n; i++) c->mean_h2 += p->steps->h[i] * p->steps->h[i] / (double)c->n;
    SK_TRY(sk_corrected_residuals(c->ctx, p, c->leftover, &c->own_z));
    c->z = c->own_z ? c->own_z : c->leftover->e;
    SK_TRY(make_rows(c, p->ends, c->b, c->mean_square));
    SK_TRY(make_rows(c, p->rule, c->conditional, NULL));
    SK_TRY(sum_rows(c));
    r->lambda_scale = lambda_scale(c, 0, NULL);
    return SOCK_OK;
}

static void release(cv *c)
{
    sk_free(c->b);
    sk_free(c->conditional);
    sk_free(c->mean_square);
    sk_free(c->w);
    sk_free(c->weight_mean);
    sk_free(c->g);
    sk_free(c->own_z);
    sk_free(c->held);
    sk_free(c->q_now);
    sk_free(c->cluster_score);
}

sock_status sk_diffusion_cross_validate(sock_context *ctx, const sk_problem *p, const sk_diffusion_candidate *candidate,
                                        const sk_leftover *leftover, const sk_diffusion_options *options,
                                        sk_diffusion_result **out)
{
    cv c = {.ctx = ctx,
            .p = p,
            .candidate = candidate,
            .leftover = leftover,
            .options = options,
            .n = p->n,
            .d = p->d,
            .folds = SK_MIN(options->folds, p->folds)};
    double start = sk_seconds();
    c.result = sk_alloc(ctx, 1, sizeof *c.result);
    sock_status status = c.result ? prepare(&c) : SOCK_ENOMEM;
    if (status >= 0) status = run(&c);
    if (status >= 0) c.result->seconds = sk_seconds() - start;
    release(&c);
    if (status < 0) {
        sk_diffusion_result_free(c.result);
        return status;
    }
    *out = c.result;
    return SOCK_OK;
}
