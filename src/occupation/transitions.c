/* transitions.c - single transitions, their blocks, and rules made from them. */
#include "occupation/transitions.h"

#include "base/comm.h"
#include "occupation/rowstore.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

size_t sk_block_rows(size_t d)
{
    enum { USUAL = 20, LEAST = 256 }; /* memory; speed only */
    return d <= USUAL ? SK_BLOCK : SK_MAX((size_t)SK_BLOCK * USUAL * USUAL / (d * d), (size_t)LEAST);
}

/* Nodes with inputs; without them the ends are the nodes. */
static sock_status allocate_nodes(sock_context *ctx, sk_transitions *t)
{
    t->left = t->y;
    t->right = t->next;
    if (t->in == t->d) return SOCK_OK;
    t->left = sk_doubles_unset(ctx, t->n, t->in);
    t->right = sk_doubles_unset(ctx, t->n, t->in);
    t->hold = sk_alloc(ctx, t->in - t->d, sizeof *t->hold);
    return t->left && t->right && t->hold ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status allocate(sock_context *ctx, size_t n, size_t d, size_t in, size_t folds, sk_transitions **out)
{
    sk_transitions *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    t->n = n;
    t->d = d;
    t->in = in;
    t->folds = folds;
    t->y = sk_doubles_unset(ctx, n, d);
    t->next = sk_doubles_unset(ctx, n, d);
    t->h = sk_doubles_unset(ctx, n, 1);
    t->cluster = sk_alloc(ctx, n, sizeof *t->cluster);
    t->first = sk_alloc(ctx, folds + 2, sizeof *t->first);
    t->block = sk_alloc(ctx, n / sk_block_rows(d) + folds + 2, sizeof *t->block);
    t->reach = sk_doubles(ctx, d, 1);
    t->zero = sk_doubles(ctx, in, 1);
    t->scale = sk_doubles(ctx, in, 1);
    if (!t->y || !t->next || !t->h || !t->cluster || !t->first || !t->block || !t->reach || !t->zero || !t->scale ||
        allocate_nodes(ctx, t) < 0) {
        sk_transitions_free(t);
        return SOCK_ENOMEM;
    }
    for (size_t k = 0; k < in; k++) t->scale[k] = 1;
    *out = t;
    return SOCK_OK;
}

void sk_transitions_free(sk_transitions *t)
{
    if (!t) return;
    if (t->left != t->y) sk_free(t->left);
    if (t->right != t->next) sk_free(t->right);
    sk_free(t->hold);
    sk_free(t->y);
    sk_free(t->next);
    sk_free(t->h);
    sk_free(t->cluster);
    sk_free(t->first);
    sk_free(t->block);
    sk_free(t->reach);
    sk_free(t->zero);
    sk_free(t->scale);
    sk_free(t->range);
    sk_row_store_free(t->store);
    sk_free(t);
}

/* The nodes of both ends from these and the inputs there. */
static void put_nodes(const sock_data *data, size_t point, const sk_units *units, sk_transitions *t, size_t row)
{
    const size_t d = t->d, m = t->in - d;
    double *left = t->left + row * t->in, *right = t->right + row * t->in;
    memcpy(left, t->y + row * d, d * sizeof *left);
    memcpy(right, t->next + row * d, d * sizeof *right);
    for (size_t k = 0; k < m; k++) {
        const double *u = data->u + point * m + k, *end = t->hold[k] == SK_HOLD_PREVIOUS ? u : u + m;
        const double centre = units ? units->centre[d + k] : 0, unit = units ? units->scale[d + k] : 1;
        left[d + k] = (*u - centre) / unit;
        right[d + k] = (*end - centre) / unit;
    }
}

/* What follows from the rows: blocks, and the reach of differences. */
static void complete(sk_transitions *t)
{
    const size_t d = t->d;
    for (size_t f = 0; f <= t->folds; f++)
        for (size_t at = t->first[f]; at < t->first[f + 1]; at += sk_block_rows(t->d)) t->block[t->blocks++] = at;
    t->block[t->blocks] = t->n;
    for (size_t k = 0; k < d; k++) {
        double spread = 0, mean = 0;
        for (size_t i = 0; i < t->n; i++) mean += t->y[i * d + k] / (double)t->n;
        for (size_t i = 0; i < t->n; i++) spread += pow(t->y[i * d + k] - mean, 2) / (double)t->n;
        t->reach[k] = SK_REACH * (spread > 0 ? sqrt(spread) : 1);
    }
}

/* The row of a data set's point and the next one. */
static void put_row(const sock_data *data, size_t point, const sk_units *units, sk_transitions *t, size_t row)
{
    const size_t d = t->d;
    const double *x = data->x + point * d;
    t->h[row] = data->t[point + 1] - data->t[point];
    for (size_t k = 0; k < d; k++) {
        const double centre = units ? units->centre[k] : 0, unit = units ? units->scale[k] : 1;
        t->y[row * d + k] = (x[k] - centre) / unit;
        t->next[row * d + k] = (x[d + k] - centre) / unit;
    }
    if (t->in > d) put_nodes(data, point, units, t, row);
}

sock_status sk_transitions_new(sock_context *ctx, const sock_data *data, const sk_split *split, const sk_units *units,
                               sk_transitions **out)
{
    sk_transitions *t = NULL;
    size_t n = 0, row = 0;
    for (size_t i = 0; i < split->n; i++) n += split->fold[i] < split->folds || split->fold[i] == SK_ALWAYS;
    SK_TRY(allocate(ctx, n, data->d, data->d + data->inputs, split->folds, &t));
    for (size_t k = 0; split->hold && k < data->inputs; k++) t->hold[k] = split->hold[k];
    t->clusters = split->clusters;
    for (size_t f = 0; f <= split->folds; f++) {
        t->first[f] = row;
        for (size_t i = 0; i < split->n; i++) {
            if (split->fold[i] != (f < split->folds ? f : SK_ALWAYS)) continue;
            t->cluster[row] = split->cluster[i];
            put_row(data, split->point[i], units, t, row++);
        }
    }
    t->first[split->folds + 1] = n;
    if (units) memcpy(t->zero, units->zero, t->in * sizeof *t->zero);
    if (units) memcpy(t->scale, units->scale, t->d * sizeof *t->scale);
    complete(t);
    *out = t;
    return SOCK_OK;
}

sock_status sk_transitions_subset(sock_context *ctx, const sk_transitions *all, size_t count, const size_t *keep,
                                  sk_transitions **out)
{
    sk_transitions *t = NULL;
    const size_t d = all->d, bytes = d * sizeof(double);
    SK_TRY(allocate(ctx, count, d, all->in, all->folds, &t));
    for (size_t k = d; k < all->in; k++) t->hold[k - d] = all->hold[k - d];
    t->clusters = all->clusters;
    for (size_t i = 0; i < count; i++) {
        t->h[i] = all->h[keep[i]];
        t->cluster[i] = all->cluster[keep[i]];
        memcpy(t->y + i * d, all->y + keep[i] * d, bytes);
        memcpy(t->next + i * d, all->next + keep[i] * d, bytes);
        if (all->in == d) continue;
        memcpy(t->left + i * t->in, all->left + keep[i] * t->in, t->in * sizeof(double));
        memcpy(t->right + i * t->in, all->right + keep[i] * t->in, t->in * sizeof(double));
    }
    for (size_t f = 0, i = 0; f <= all->folds; f++) {
        while (i < count && keep[i] < all->first[f]) i++;
        t->first[f] = i;
    }
    t->first[all->folds + 1] = count;
    memcpy(t->zero, all->zero, t->in * sizeof *t->zero);
    memcpy(t->scale, all->scale, t->in * sizeof *t->scale);
    t->bounds = all->bounds;
    complete(t);
    *out = t;
    return SOCK_OK;
}

/* ---- Of a store ---- */

const sk_transitions *sk_transitions_in_memory(const sk_transitions *t) { return t->like ? t->like : t; }

sock_status sk_transitions_empty(sock_context *ctx, const sk_transitions *like, size_t n, sk_transitions **out)
{
    sk_transitions *t = NULL;
    SK_TRY(allocate(ctx, n, like->d, like->in, 0, &t));
    t->clusters = like->clusters;
    t->bounds = like->bounds;
    memcpy(t->reach, like->reach, t->d * sizeof *t->reach);
    memcpy(t->zero, like->zero, t->in * sizeof *t->zero);
    memcpy(t->scale, like->scale, t->in * sizeof *t->scale);
    t->first[1] = t->block[1] = n;
    t->blocks = 1;
    *out = t;
    return SOCK_OK;
}

sock_status sk_transitions_block(sock_context *ctx, const sk_transitions *t, size_t b, sk_transitions **own,
                                 const sk_transitions **rows, size_t *begin)
{
    *own = NULL;
    if (t->store) SK_TRY(sk_row_store_read(ctx, t, b, own));
    *rows = *own ? *own : t;
    *begin = *own ? 0 : t->block[b];
    return SOCK_OK;
}

size_t sk_transitions_fold(const sk_transitions *t, size_t row)
{
    size_t f = 0;
    while (f < t->folds && row >= t->first[f + 1]) f++;
    return f;
}

bool sk_transitions_moves(const sk_transitions *t, size_t row)
{
    for (size_t k = row * t->d; k < (row + 1) * t->d; k++)
        if (t->next[k] != t->y[k]) return true;
    return false;
}

/* ---- Rules ---- */

/* A rule with `each` nodes a row, all arrays made, rows and nodes numbered; x and weights are the caller's to fill. */
static sock_status empty_rule(sock_context *ctx, const sk_transitions *t, size_t begin, size_t end, size_t each,
                              sk_rule **out)
{
    const size_t n = end - begin, d = t->d;
    sk_rule *rule = sk_alloc(ctx, 1, sizeof *rule);
    if (!rule) return SOCK_ENOMEM;
    rule->n = n;
    rule->in = t->in;
    rule->out = d;
    rule->nodes = n * each;
    rule->x = sk_doubles_unset(ctx, rule->nodes, t->in);
    rule->row = sk_alloc(ctx, n + 1, sizeof *rule->row);
    rule->node = sk_alloc(ctx, rule->nodes, sizeof *rule->node);
    rule->weight = sk_doubles_unset(ctx, rule->nodes, 1);
    rule->h = sk_doubles_unset(ctx, n, 1);
    rule->dy = sk_doubles_unset(ctx, n, d);
    if (!rule->x || !rule->row || !rule->node || !rule->weight || !rule->h || !rule->dy) {
        sk_rule_free(rule);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i <= n; i++) rule->row[i] = i * each;
    for (size_t e = 0; e < rule->nodes; e++) rule->node[e] = e;
    memcpy(rule->h, t->h + begin, n * sizeof(double));
    for (size_t k = 0; k < n * d; k++) rule->dy[k] = t->next[begin * d + k] - t->y[begin * d + k];
    *out = rule;
    return SOCK_OK;
}

/* Sigma points of N(m, C) with C = L L': m +- sqrt(d) L_k, equal weights; they carry mean and covariance exactly. x:
 * 2d nodes of `in` coordinates, those behind the states are left alone. */
static void sigma_points(size_t d, size_t in, const double *y, double h, const double *f0, const double *l, double *x)
{
    double reach = sqrt((double)d * h);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < d; i++) {
            double mean = y[i] + h * f0[i], step = reach * l[i * d + k];
            x[(2 * k) * in + i] = mean + step;
            x[(2 * k + 1) * in + i] = mean - step;
        }
}

/* The same near a bound: skewed, so that they stay inside. weight: 2 d, of sum 1. */
static void skewed_points(const sk_transitions *t, const double *y, double h, const double *f0, const double *l,
                          double *x, double *weight)
{
    const sk_bounds *b = t->bounds;
    const size_t d = b->d, in = t->in;
    const double reach = sqrt((double)d * h), inside = 1e-9;
    double *mean = x + (2 * d - 1) * in; /* the last point is written last */
    for (size_t i = 0; i < d; i++) {
        const double room = inside * fmin(b->scale[i], b->upper[i] - b->lower[i]);
        mean[i] = fmin(fmax(y[i] + h * f0[i], b->lower[i] + room), b->upper[i] - room);
    }
    for (size_t k = 0; k < d; k++) {
        double *up = x + (2 * k) * in, *down = up + in, r = 1;
        for (size_t i = 0; i < d; i++) up[i] = reach * l[i * d + k];
        r = sk_skew(b, mean, up, 1);
        weight[2 * k] = 1 / (1 + r * r) / (double)d;
        weight[2 * k + 1] = r * r / (1 + r * r) / (double)d;
        for (size_t i = 0; i < d; i++) {
            const double step = up[i], m = mean[i];
            up[i] = m + r * step;
            down[i] = m - step / r;
        }
    }
}

sock_status sk_rule_conditional(sock_context *ctx, const sk_transitions *t, size_t begin, size_t end, const double *f0,
                                const double *a0, sk_rule **out)
{
    size_t d = t->d, in = t->in, each = f0 ? 1 + 2 * d : 1;
    sk_rule *rule = NULL;
    double *l = sk_doubles(ctx, d, d);
    sock_status status = l ? empty_rule(ctx, t, begin, end, each, &rule) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < end - begin; i++) {
        const double *y = t->y + (begin + i) * d, h = rule->h[i];
        double *x = rule->x + i * each * in, *weight = rule->weight + i * each;
        memcpy(x, t->left + (begin + i) * in, in * sizeof *x);
        weight[0] = f0 ? 0.5 * h : h;
        for (size_t e = 1; e < each; e++) weight[e] = 0.5 * h / (double)(2 * d);
        if (!f0) continue;
        sk_factor_copy(d, 1e-14, a0 + i * d * d, l);
        for (size_t e = 1; e < each && in > d; e++)
            memcpy(x + e * in + d, t->right + (begin + i) * in + d, (in - d) * sizeof *x);
        if (t->bounds) {
            skewed_points(t, y, h, f0 + i * d, l, x + in, weight + 1);
            for (size_t e = 1; e < each; e++) weight[e] *= 0.5 * h;
        } else {
            sigma_points(d, in, y, h, f0 + i * d, l, x + in);
        }
    }
    sk_free(l);
    if (status >= 0) *out = rule;
    return status;
}

sock_status sk_rule_ends(sock_context *ctx, const sk_transitions *t, size_t begin, size_t end, sk_rule **out)
{
    size_t in = t->in, bytes = in * sizeof(double);
    sk_rule *rule = NULL;
    SK_TRY(empty_rule(ctx, t, begin, end, 2, &rule));
    for (size_t i = 0; i < end - begin; i++) {
        memcpy(rule->x + 2 * i * in, t->left + (begin + i) * in, bytes);
        memcpy(rule->x + (2 * i + 1) * in, t->right + (begin + i) * in, bytes);
        rule->weight[2 * i] = rule->weight[2 * i + 1] = 0.5 * rule->h[i];
    }
    *out = rule;
    return SOCK_OK;
}

/* ---- Blocks ---- */

typedef struct visiting {
    sock_context *ctx;
    const sk_transitions *rows;
    sk_block_fn work;
    void *arg;
} visiting;

static sock_status visit_some(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const visiting *w = argument;
    const bool before = sk_work_alone(true);
    sock_status status = SOCK_OK;
    for (size_t b = begin; status >= 0 && b < end; b++)
        if (!w->rows->store || sk_row_store_has(w->rows, b)) status = w->work(w->ctx, w->arg, b);
    sk_work_alone(before);
    return status;
}

/* On all threads the block that fails first is now one, now another; what is told is the first of all. */
static sock_status fail_in_order(sock_context *ctx, visiting *w, sock_status status)
{
    sk_begin(ctx);
    const sock_status again = visit_some(w, 0, w->rows->blocks, 0);
    return again < 0 ? again : sk_fail(ctx, status, "a block of rows failed once, and not when it was visited again");
}

sock_status sk_blocks_each(sock_context *ctx, const sk_transitions *t, bool apart, sk_block_fn work, void *arg)
{
    visiting w = {ctx, t, work, arg};
    const sk_foresight next = t->store ? sk_foresee(ctx) : SK_UNKNOWN_SUMS;
    sock_status status = SOCK_OK;
    if (next == SK_WAITING_SUMS) return SK_ENOUGH;
    if (next == SK_KNOWN_SUMS) return sk_together(ctx, SOCK_OK);
    if (apart) status = sk_parallel_for(ctx, t->blocks, 1, visit_some, &w);
    if (status == SOCK_ENUMERIC && sk_workers(ctx) > 1) status = fail_in_order(ctx, &w, status);
    if (t->store) status = sk_together(ctx, status);
    if (apart) return status;
    for (size_t b = 0; status >= 0 && b < t->blocks; b++) status = work(ctx, arg, b);
    return status;
}
