/* steps.c - single steps, and rules made from them. */
#include "occupation/steps.h"

#include <math.h>
#include <string.h>

static sock_status allocate(sock_context *ctx, size_t n, size_t d, sk_steps **out)
{
    sk_steps *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->n = n;
    s->d = d;
    s->y = sk_doubles(ctx, n, d);
    s->next = sk_doubles(ctx, n, d);
    s->dy = sk_doubles(ctx, n, d);
    s->h = sk_doubles(ctx, n, 1);
    s->trajectory = sk_alloc(ctx, n, sizeof *s->trajectory);
    if (!s->y || !s->next || !s->dy || !s->h || !s->trajectory) {
        sk_steps_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

void sk_steps_free(sk_steps *steps)
{
    if (!steps) return;
    sk_free(steps->y);
    sk_free(steps->next);
    sk_free(steps->dy);
    sk_free(steps->h);
    sk_free(steps->trajectory);
    sk_free(steps);
}

sock_status sk_steps_new(sock_context *ctx, const sock_data *data, sk_steps **out)
{
    size_t d = data->d, n = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        size_t points = data->first[j + 1] - data->first[j];
        n += points > 1 ? points - 1 : 0;
    }
    if (!n)
        return sk_fail(ctx, SOCK_EINPUT, "%s: no trajectory has two points, so there is no interval to learn from",
                       data->source);
    sk_steps *s = NULL;
    SK_TRY(allocate(ctx, n, d, &s));
    s->trajectories = data->trajectories;
    size_t i = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t a = data->first[j]; a + 1 < data->first[j + 1]; a++, i++) {
            s->h[i] = data->t[a + 1] - data->t[a];
            s->trajectory[i] = j;
            for (size_t k = 0; k < d; k++) {
                s->y[i * d + k] = data->x[a * d + k];
                s->next[i * d + k] = data->x[(a + 1) * d + k];
                s->dy[i * d + k] = s->next[i * d + k] - s->y[i * d + k];
            }
        }
    *out = s;
    return SOCK_OK;
}

sock_status sk_steps_subset(sock_context *ctx, const sk_steps *steps, size_t count, const size_t *keep, sk_steps **out)
{
    sk_steps *s = NULL;
    size_t d = steps->d, bytes = d * sizeof(double);
    SK_TRY(allocate(ctx, count, d, &s));
    s->trajectories = steps->trajectories;
    for (size_t i = 0; i < count; i++) {
        s->h[i] = steps->h[keep[i]];
        s->trajectory[i] = steps->trajectory[keep[i]];
        memcpy(s->y + i * d, steps->y + keep[i] * d, bytes);
        memcpy(s->next + i * d, steps->next + keep[i] * d, bytes);
        memcpy(s->dy + i * d, steps->dy + keep[i] * d, bytes);
    }
    *out = s;
    return SOCK_OK;
}

/* ---- Rules ---- */

/* A rule with `each` nodes a step, all arrays made, rows and nodes numbered; x and weights are the caller's to fill. */
static sock_status empty_rule(sock_context *ctx, const sk_steps *s, size_t each, sk_rule **out)
{
    sk_rule *rule = sk_alloc(ctx, 1, sizeof *rule);
    if (!rule) return SOCK_ENOMEM;
    rule->n = s->n;
    rule->d = s->d;
    rule->nodes = s->n * each;
    rule->x = sk_doubles(ctx, rule->nodes, s->d);
    rule->row = sk_alloc(ctx, s->n + 1, sizeof *rule->row);
    rule->node = sk_alloc(ctx, rule->nodes, sizeof *rule->node);
    rule->weight = sk_doubles(ctx, rule->nodes, 1);
    rule->h = sk_doubles(ctx, s->n, 1);
    rule->dy = sk_doubles(ctx, s->n, s->d);
    if (!rule->x || !rule->row || !rule->node || !rule->weight || !rule->h || !rule->dy) {
        sk_rule_free(rule);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i <= s->n; i++) rule->row[i] = i * each;
    for (size_t e = 0; e < rule->nodes; e++) rule->node[e] = e;
    memcpy(rule->h, s->h, s->n * sizeof(double));
    memcpy(rule->dy, s->dy, s->n * s->d * sizeof(double));
    *out = rule;
    return SOCK_OK;
}

/* Sigma points of N(m, C) with C = L L': m +- sqrt(d) L_k, equal weights; they carry mean and covariance exactly. */
static void sigma_points(size_t d, const double *y, double h, const double *f0, const double *l, double *x)
{
    double reach = sqrt((double)d * h);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < d; i++) {
            double mean = y[i] + h * f0[i], step = reach * l[i * d + k];
            x[(2 * k) * d + i] = mean + step;
            x[(2 * k + 1) * d + i] = mean - step;
        }
}

sock_status sk_rule_conditional(sock_context *ctx, const sk_steps *s, const double *f0, const double *a0, sk_rule **out)
{
    size_t d = s->d, each = f0 ? 1 + 2 * d : 1;
    sk_rule *rule = NULL;
    double *l = sk_doubles(ctx, d, d);
    sock_status status = l ? empty_rule(ctx, s, each, &rule) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < s->n; i++) {
        double *x = rule->x + i * each * d, *weight = rule->weight + i * each;
        memcpy(x, s->y + i * d, d * sizeof *x);
        weight[0] = f0 ? 0.5 * s->h[i] : s->h[i];
        for (size_t e = 1; e < each; e++) weight[e] = 0.5 * s->h[i] / (double)(2 * d);
        if (!f0) continue;
        sk_factor_copy(d, 1e-14, a0 + i * d * d, l);
        sigma_points(d, s->y + i * d, s->h[i], f0 + i * d, l, x + d);
    }
    sk_free(l);
    if (status >= 0) *out = rule;
    return status;
}

sock_status sk_rule_ends(sock_context *ctx, const sk_steps *s, sk_rule **out)
{
    size_t d = s->d, bytes = d * sizeof(double);
    sk_rule *rule = NULL;
    SK_TRY(empty_rule(ctx, s, 2, &rule));
    for (size_t i = 0; i < s->n; i++) {
        memcpy(rule->x + 2 * i * d, s->y + i * d, bytes);
        memcpy(rule->x + (2 * i + 1) * d, s->next + i * d, bytes);
        rule->weight[2 * i] = rule->weight[2 * i + 1] = 0.5 * s->h[i];
    }
    *out = rule;
    return SOCK_OK;
}
