/* rule.c - quadrature rules: from trajectories to nodes X and weights W (paper section 3, Q_[a,b]).
 *
 * Nodes stand group by group, time by time, realisation by realisation, so that neighbouring intervals touch
 * neighbouring nodes. With M realisations, interval i of a group gets
 *
 *     trapezoid   h_i / (2M) at both ends of every realisation
 *     left        h_i / M    at the left end
 *
 * and the mean increment dy_i over the realisations. */
#include "occupation/occupation.h"

#include <assert.h>
#include <string.h>

typedef struct shape {
    size_t intervals, members, layers; /* layers: time levels that carry nodes */
} shape;

static shape group_shape(const sock_data *data, size_t g, bool trapezoid)
{
    size_t m = sk_group_intervals(data, g);
    size_t members = data->group_first[g + 1] - data->group_first[g];
    return (shape){m, members, m ? m + trapezoid : 0};
}

/* Rows of one group: `first` is its first interval, `base` its first node, `entry` where its entries start. */
static void fill_group(sk_rule *rule, const sock_data *data, size_t g, shape s, size_t first, size_t base, size_t entry)
{
    size_t d = rule->in, ends = s.layers > s.intervals ? 2 : 1;
    const size_t *member = data->member + data->group_first[g];
    const double *t = data->t + data->first[member[0]];
    for (size_t layer = 0; layer < s.layers; layer++)
        for (size_t u = 0; u < s.members; u++)
            memcpy(rule->x + (base + layer * s.members + u) * d, data->x + (data->first[member[u]] + layer) * d,
                   d * sizeof(double));
    for (size_t i = 0; i < s.intervals; i++) {
        double h = t[i + 1] - t[i];
        rule->h[first + i] = h;
        rule->row[first + i] = entry;
        for (size_t e = 0; e < ends * s.members; e++, entry++) {
            rule->node[entry] = base + i * s.members + e;
            rule->weight[entry] = h / (double)(ends * s.members);
        }
        double *dy = rule->dy + (first + i) * d;
        for (size_t u = 0; u < s.members; u++) {
            const double *y = data->x + (data->first[member[u]] + i) * d;
            for (size_t k = 0; k < d; k++) dy[k] += (y[d + k] - y[k]) / (double)s.members;
        }
    }
}

static sock_status allocate(sock_context *ctx, sk_rule *rule, size_t entries)
{
    rule->x = sk_doubles(ctx, rule->nodes, rule->in);
    rule->row = sk_alloc(ctx, rule->n + 1, sizeof *rule->row);
    rule->node = sk_alloc(ctx, entries, sizeof *rule->node);
    rule->weight = sk_doubles(ctx, entries, 1);
    rule->h = sk_doubles(ctx, rule->n, 1);
    rule->dy = sk_doubles(ctx, rule->n, rule->out);
    if (!rule->x || !rule->row || !rule->node || !rule->weight || !rule->h || !rule->dy) return SOCK_ENOMEM;
    return SOCK_OK;
}

sock_status sk_rule_new(sock_context *ctx, const sock_data *data, const char *quadrature, sk_rule **out)
{
    bool trapezoid = strcmp(quadrature, "trapezoid") == 0;
    assert(trapezoid || strcmp(quadrature, "left") == 0);
    sk_rule *rule = sk_alloc(ctx, 1, sizeof *rule);
    if (!rule) return SOCK_ENOMEM;
    rule->in = rule->out = data->d;
    size_t entries = 0;
    for (size_t g = 0; g < data->groups; g++) {
        shape s = group_shape(data, g, trapezoid);
        rule->n += s.intervals;
        rule->nodes += s.layers * s.members;
        entries += s.intervals * s.members * (trapezoid ? 2 : 1);
    }
    sock_status status = SOCK_OK;
    if (!rule->n) status = sk_data_refuse_stepless(ctx, data->source);
    if (status == SOCK_OK) status = allocate(ctx, rule, entries);
    if (status < 0) {
        sk_rule_free(rule);
        return status;
    }
    size_t first = 0, base = 0, entry = 0;
    for (size_t g = 0; g < data->groups; g++) {
        shape s = group_shape(data, g, trapezoid);
        fill_group(rule, data, g, s, first, base, entry);
        first += s.intervals;
        base += s.layers * s.members;
        entry += s.intervals * s.members * (trapezoid ? 2 : 1);
    }
    rule->row[rule->n] = entry;
    *out = rule;
    return SOCK_OK;
}

sock_status sk_rule_nodes(sock_context *ctx, size_t n, size_t each, size_t d, const double *x, const double *weight,
                          const double *h, sk_rule **out)
{
    sk_rule *rule = sk_alloc(ctx, 1, sizeof *rule);
    if (!rule) return SOCK_ENOMEM;
    *rule = (sk_rule){.n = n, .nodes = n * each, .in = d, .out = d};
    sock_status status = allocate(ctx, rule, rule->nodes);
    if (status < 0) {
        sk_rule_free(rule);
        return status;
    }
    memcpy(rule->x, x, rule->nodes * d * sizeof *x);
    memcpy(rule->weight, weight, rule->nodes * sizeof *weight);
    memcpy(rule->h, h, n * sizeof *h);
    for (size_t i = 0; i <= n; i++) rule->row[i] = i * each;
    for (size_t e = 0; e < rule->nodes; e++) rule->node[e] = e;
    *out = rule;
    return SOCK_OK;
}

void sk_rule_free(sk_rule *rule)
{
    if (!rule) return;
    sk_free(rule->x);
    sk_free(rule->row);
    sk_free(rule->node);
    sk_free(rule->weight);
    sk_free(rule->h);
    sk_free(rule->dy);
    sk_free(rule);
}

void sk_rule_apply(const sk_rule *rule, size_t cols, const double *g, double *out)
{
    for (size_t i = 0; i < rule->n; i++) {
        double *target = out + i * cols;
        memset(target, 0, cols * sizeof *target);
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            const double *source = g + rule->node[e] * cols, w = rule->weight[e];
            for (size_t c = 0; c < cols; c++) target[c] += w * source[c];
        }
    }
}

void sk_rule_adjoint(const sk_rule *rule, size_t cols, const double *b, double *out)
{
    memset(out, 0, rule->nodes * cols * sizeof *out);
    for (size_t i = 0; i < rule->n; i++) {
        const double *source = b + i * cols;
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            double *target = out + rule->node[e] * cols, w = rule->weight[e];
            for (size_t c = 0; c < cols; c++) target[c] += w * source[c];
        }
    }
}
