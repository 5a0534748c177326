/* problem.c - see problem.h. */
#include "tune/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sock_status sk_problem_new(sock_context *ctx, sk_steps *steps, const size_t *fold, size_t folds, const size_t *cluster,
                           size_t clusters, sk_problem **out)
{
    size_t n = steps->n, d = steps->d;
    sk_problem *p = sk_alloc(ctx, 1, sizeof *p);
    if (!p) {
        sk_steps_free(steps);
        return SOCK_ENOMEM;
    }
    p->steps = steps;
    p->n = n;
    p->d = d;
    p->folds = folds;
    p->clusters = clusters;
    p->fold = sk_alloc(ctx, n, sizeof *p->fold);
    p->cluster = sk_alloc(ctx, n, sizeof *p->cluster);
    p->left = sk_doubles(ctx, n, d * d);
    p->integral = sk_doubles(ctx, n, d * d);
    p->precision = sk_doubles(ctx, n, d * d);
    p->size = sk_doubles(ctx, n, 1);
    p->part = sk_doubles(ctx, n, d);
    p->first = sk_alloc(ctx, folds + 2, sizeof *p->first);
    p->inverse = sk_doubles(ctx, n, d * d);
    p->offset = sk_doubles(ctx, n, 1);
    p->moves = sk_alloc(ctx, n, sizeof *p->moves);
    p->weighted = true;
    sock_status status = p->fold && p->cluster && p->left && p->integral && p->precision && p->size && p->part &&
                                 p->first && p->inverse && p->offset && p->moves
                             ? sk_rule_ends(ctx, steps, &p->ends)
                             : SOCK_ENOMEM;
    if (status < 0) {
        sk_problem_free(p);
        return status;
    }
    memcpy(p->fold, fold, n * sizeof *fold);
    memcpy(p->cluster, cluster, n * sizeof *cluster);
    for (size_t i = 0; i < n * d; i++)
        if (steps->dy[i] != 0) p->moves[i / d] = true;
    for (size_t f = 0, i = 0; f <= folds; f++) { /* steps are sorted by fold */
        while (i < n && fold[i] < f) i++;
        p->first[f] = i;
    }
    p->first[folds + 1] = n;
    *out = p;
    return SOCK_OK;
}

void sk_problem_free(sk_problem *p)
{
    if (!p) return;
    sk_steps_free(p->steps);
    sk_rule_free(p->rule);
    sk_rule_free(p->ends);
    sk_free(p->fold);
    sk_free(p->cluster);
    sk_free(p->left);
    sk_free(p->integral);
    sk_free(p->precision);
    sk_free(p->size);
    sk_free(p->part);
    sk_free(p->first);
    sk_free(p->inverse);
    sk_free(p->offset);
    sk_free(p->moves);
    sk_free(p->scale);
    sk_free(p);
}

sock_status sk_problem_subset(sock_context *ctx, const sk_problem *p, size_t count, const size_t *keep,
                              sk_problem **out)
{
    sk_steps *steps = NULL;
    size_t *fold = sk_alloc(ctx, count, sizeof *fold), *cluster = sk_alloc(ctx, count, sizeof *cluster);
    sock_status status = fold && cluster ? sk_steps_subset(ctx, p->steps, count, keep, &steps) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        fold[i] = p->fold[keep[i]];
        cluster[i] = p->cluster[keep[i]];
    }
    if (status >= 0) status = sk_problem_new(ctx, steps, fold, p->folds, cluster, p->clusters, out);
    if (status >= 0) {
        (*out)->eps = p->eps;
        (*out)->resolution = p->resolution;
        (*out)->weighted = p->weighted;
        (*out)->density = p->density;
    }
    sk_free(fold);
    sk_free(cluster);
    return status;
}

/* ---- Conditioning ---- */

sock_status sk_problem_middle(sock_context *ctx, const sk_problem *p, const double *value, double *out)
{
    double *copy = sk_doubles(ctx, p->n, 1);
    size_t count = 0;
    if (!copy) return SOCK_ENOMEM;
    for (size_t i = 0; i < p->n; i++)
        if (p->moves[i]) copy[count++] = value[i];
    if (!count) {
        memcpy(copy, value, p->n * sizeof *copy);
        count = p->n;
    }
    double middle = count ? sk_select(count, copy, count / 2) : 0;
    *out = count && !(middle > 0) ? sk_select(count, copy, count - 1) : middle;
    sk_free(copy);
    return SOCK_OK;
}

/* Covariance of the increments per unit of time: the a of a model that knows nothing. */
static void constant_covariance(const sk_problem *p, double *a)
{
    size_t d = p->d;
    memset(a, 0, d * d * sizeof *a);
    for (size_t i = 0; i < p->n; i++) {
        const double *dy = p->steps->dy + i * d;
        for (size_t k = 0; k < d * d; k++) a[k] += dy[k / d] * dy[k % d] / (p->steps->h[i] * (double)p->n);
    }
}

/* F = 1 + h/2 J, J by central differences of f over a thousandth of a typical distance. */
static sock_status left_factors(sock_context *ctx, sk_problem *p, const sock_model *model)
{
    size_t n = p->n, d = p->d;
    double *x = sk_doubles(ctx, n, d), *up = sk_doubles(ctx, n, d), *down = sk_doubles(ctx, n, d);
    sock_status status = x && up && down ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        double spread = 0, mean = 0;
        for (size_t i = 0; i < n; i++) mean += p->steps->y[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) spread += pow(p->steps->y[i * d + k] - mean, 2) / (double)n;
        double reach = spread > 0 ? 1e-3 * sqrt(spread) : 1e-3;
        for (int side = 0; side < 2 && status >= 0; side++) {
            memcpy(x, p->steps->y, n * d * sizeof *x);
            for (size_t i = 0; i < n; i++) x[i * d + k] += side ? -reach : reach;
            status = sk_model_evaluate(ctx, model, n, x, side ? down : up, NULL);
        }
        for (size_t i = 0; status >= 0 && i < n; i++)
            for (size_t j = 0; j < d; j++) {
                double slope = (up[i * d + j] - down[i * d + j]) / (2 * reach);
                p->left[(i * d + j) * d + k] = (j == k) + 0.5 * p->steps->h[i] * slope;
            }
    }
    sk_free(x);
    sk_free(up);
    sk_free(down);
    return status;
}

/* Inverse of a small symmetric positive definite matrix, in place; false when it is not definite. space: d^2. */
static bool invert(size_t d, double *a, double *space)
{
    for (size_t k = 0; k < d; k++) { /* space = L, lower */
        for (size_t i = k; i < d; i++) {
            double sum = a[i * d + k];
            for (size_t j = 0; j < k; j++) sum -= space[i * d + j] * space[k * d + j];
            if (i == k && !(sum > 0)) return false;
            space[i * d + k] = i == k ? sqrt(sum) : sum / space[k * d + k];
        }
    }
    for (size_t c = 0; c < d; c++) { /* column c of L^-1, then of L^-T L^-1 */
        for (size_t i = 0; i < d; i++) {
            double sum = i == c;
            for (size_t j = 0; j < i; j++) sum -= space[i * d + j] * a[j * d + c];
            a[i * d + c] = sum / space[i * d + i];
        }
        for (size_t i = d; i-- > 0;) {
            double sum = a[i * d + c];
            for (size_t j = i + 1; j < d; j++) sum -= space[j * d + i] * a[j * d + c];
            a[i * d + c] = sum / space[i * d + i];
        }
    }
    return true;
}

/* States that move as one, without noise of their own, may leave a matrix that no floor of ours makes regular. */
static sock_status not_definite(sock_context *ctx, size_t i)
{
    return sk_fail(
        ctx, SOCK_ENUMERIC,
        "the covariance of step %zu is not positive definite: the states may always move together; leave one "
        "of them out, or give --no-tune",
        i + 1);
}

/* Work on all steps, in parallel: a is the current one at their left ends. indefinite: the first step whose covariance
 * is not positive definite, or n and more; the loop goes on, so that it is the first for any number of threads. */
typedef struct steps_job {
    sock_context *ctx;
    const sk_problem *p;
    const double *a;
    const sock_model *model;
    double *out;
    atomic_size_t indefinite;
} steps_job;

enum { STEPS_AT_ONCE = 512 };

static void note_indefinite(steps_job *j, size_t i)
{
    size_t seen = atomic_load(&j->indefinite);
    while (i < seen && !atomic_compare_exchange_weak(&j->indefinite, &seen, i)) {}
}

static sock_status each_step(steps_job *job, sk_range_fn work)
{
    const size_t n = job->p->n;
    atomic_init(&job->indefinite, n);
    SK_TRY(sk_parallel_for(job->ctx, n, STEPS_AT_ONCE, work, job));
    const size_t first = atomic_load(&job->indefinite);
    return first < n ? not_definite(job->ctx, first) : SOCK_OK;
}

static sock_status invert_weights(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    steps_job *j = argument;
    const sk_problem *p = j->p;
    size_t d = p->d;
    double *space = sk_doubles(j->ctx, d, d);
    sock_status status = space ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = begin; status >= 0 && i < end; i++) {
        double *w = p->precision + i * d * d;
        for (size_t k = 0; k < d * d; k++) {
            bool own = k % (d + 1) == 0;
            w[k] = (p->diagonal && !own ? 0 : p->steps->h[i] * j->a[i * d * d + k]) + (own ? 0.1 * p->middle : 0);
            if (!p->weighted) w[k] = own ? p->middle : 0; /* the same for all steps */
        }
        if (!invert(d, w, space)) note_indefinite(j, i);
    }
    sk_free(space);
    return status;
}

/* Row weights from h a: the drift's precisions, and the sizes that weight the rows of the diffusion. */
static sock_status weigh(sock_context *ctx, sk_problem *p, const double *a)
{
    size_t n = p->n, d = p->d;
    double *mean = sk_doubles(ctx, n, 1), middle = 0;
    sock_status status = mean ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        double square = 0, h = p->steps->h[i];
        for (size_t k = 0; k < d; k++) {
            p->part[i * d + k] = h * a[(i * d + k) * d + k];
            mean[i] += p->part[i * d + k] / (double)d;
        }
        for (size_t k = 0; k < d * d; k++) square += h * a[i * d * d + k] * h * a[i * d * d + k];
        p->size[i] = sqrt(square);
    }
    if (status >= 0) status = sk_problem_middle(ctx, p, mean, &middle);
    if (!(middle > 0)) middle = p->eps > 0 ? p->eps : 1;
    p->middle = middle;
    steps_job job = {.ctx = ctx, .p = p, .a = a};
    if (status >= 0) status = each_step(&job, invert_weights);
    sk_free(mean);
    return status;
}

static sock_status some_covariances(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    steps_job *j = argument;
    const sk_problem *p = j->p;
    double *space = sk_doubles(j->ctx, sk_scores_space(p->d), 1);
    if (!space) return SOCK_ENOMEM;
    sk_problem_inverses(p, begin, end, p->offset + begin, p->inverse, space);
    sk_free(space);
    for (size_t i = begin; i < end; i++)
        if (!isfinite(p->offset[i])) note_indefinite(j, i);
    return SOCK_OK;
}

/* C^-1 and log det C of every step under the current a. */
static sock_status score_covariances(sock_context *ctx, sk_problem *p)
{
    steps_job job = {.ctx = ctx, .p = p};
    return each_step(&job, some_covariances);
}

double sk_problem_quick_score(const sk_problem *p, size_t i, const double *e)
{
    size_t d = p->d;
    const double *inverse = p->inverse + i * d * d;
    double quadratic = 0;
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t l = 0; l < d; l++) sum += inverse[k * d + l] * e[l];
        quadratic += sum * e[k];
    }
    return p->offset[i] - 0.5 * quadratic;
}

/* Steps begin .. end-1, a few at a time: a at all nodes would be the largest array of the whole search. */
static sock_status integrate_some(void *argument, size_t begin, size_t end, int worker)
{
    enum { AT_ONCE = 32 };
    (void)worker;
    const steps_job *j = argument;
    const sk_rule *rule = j->p->rule;
    size_t d = j->p->d, each = rule->nodes / rule->n; /* nodes of a step stand together */
    double *a = sk_doubles(j->ctx, AT_ONCE * each, d * d);
    sock_status status = a ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = begin; status >= 0 && at < end; at += AT_ONCE) {
        size_t last = SK_MIN(at + AT_ONCE, end), first = rule->row[at], count = rule->row[last] - first;
        status = sk_model_evaluate(j->ctx, j->model, count, rule->x + first * d, NULL, a);
        for (size_t i = at; status >= 0 && i < last; i++) {
            double *out = j->out + i * d * d;
            memset(out, 0, d * d * sizeof *out);
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
                for (size_t k = 0; k < d * d; k++) out[k] += rule->weight[e] * a[(e - first) * d * d + k];
        }
    }
    sk_free(a);
    return status;
}

sock_status sk_problem_integrate(sock_context *ctx, const sk_problem *p, const sock_model *model, double *out)
{
    steps_job job = {.ctx = ctx, .p = p, .model = model, .out = out};
    return each_step(&job, integrate_some);
}

static sock_status condition_blind(sock_context *ctx, sk_problem *p)
{
    size_t n = p->n, d = p->d;
    double *a = sk_doubles(ctx, n, d * d);
    if (!a) return SOCK_ENOMEM;
    constant_covariance(p, a);
    for (size_t i = 1; i < n; i++) memcpy(a + i * d * d, a, d * d * sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d * d; k++) {
            p->left[i * d * d + k] = k % (d + 1) == 0;
            p->integral[i * d * d + k] = p->steps->h[i] * a[i * d * d + k];
        }
    sock_status status = weigh(ctx, p, a);
    if (status >= 0) status = sk_rule_conditional(ctx, p->steps, NULL, NULL, &p->rule);
    if (status >= 0) status = score_covariances(ctx, p);
    sk_free(a);
    return status;
}

sock_status sk_problem_condition(sock_context *ctx, sk_problem *p, const sock_model *model, bool conditional,
                                 bool diagonal)
{
    size_t n = p->n, d = p->d;
    sk_rule_free(p->rule);
    p->rule = NULL;
    p->conditional = conditional && model;
    p->diagonal = diagonal || d == 1;
    if (!model) return condition_blind(ctx, p);
    double *f = sk_doubles(ctx, n, d), *a = sk_doubles(ctx, n, d * d);
    sock_status status = f && a ? sk_model_evaluate(ctx, model, n, p->steps->y, f, a) : SOCK_ENOMEM;
    if (status >= 0)
        status = sk_rule_conditional(ctx, p->steps, conditional ? f : NULL, conditional ? a : NULL, &p->rule);
    if (status >= 0) status = left_factors(ctx, p, model);
    if (status >= 0) status = sk_problem_integrate(ctx, p, model, p->integral);
    if (status >= 0) status = weigh(ctx, p, a);
    if (status >= 0) status = score_covariances(ctx, p);
    sk_free(f);
    sk_free(a);
    return status;
}

/* ---- Score ---- */

double sk_log_density(size_t d, const double *c, const double *e, double eps, double *space)
{
    double *l = space, *v = space + d * d;
    double logdet = 0, quadratic = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t r = k; r < d; r++) {
            double sum = c[r * d + k];
            for (size_t j = 0; j < k; j++) sum -= l[r * d + j] * l[k * d + j];
            if (r == k && !(sum > 0)) return -(double)INFINITY;
            l[r * d + k] = r == k ? sqrt(sum) : sum / l[k * d + k];
            if (r == k) logdet += log(sum);
        }
    for (size_t r = 0; r < d; r++) { /* |L^-1 e|^2 */
        double sum = e[r];
        for (size_t j = 0; j < r; j++) sum -= l[r * d + j] * v[j];
        v[r] = sum / l[r * d + r];
        quadratic += v[r] * v[r];
    }
    for (size_t col = 0; eps > 0 && col < d; col++) /* eps tr C^-1 = eps |L^-1|^2 */
        for (size_t r = col; r < d; r++) {
            double sum = r == col;
            for (size_t j = col; j < r; j++) sum -= l[r * d + j] * v[j];
            v[r] = sum / l[r * d + r];
            quadratic += eps * v[r] * v[r];
        }
    return -0.5 * ((double)d * log(6.283185307179586) + logdet + quadratic);
}
