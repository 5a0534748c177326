/* linepanels.c - see explain.h. Within a panel of length h a function is the polynomial through its values at Gauss'
 * nodes c_i, and int_0^(c_i) of it is h sum_j B_ij v_j: exact for polynomials of degree 4, the whole panel's to
 * degree 9. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { N = SK_PANEL_NODES };

typedef struct gauss {
    double c[N], w[N], b[N][N];
} gauss;

/* Polynomial j of Lagrange, 1 at node j and 0 at the others. */
static double lagrange(const double *c, size_t j, double x)
{
    double product = 1;
    for (size_t k = 0; k < N; k++)
        if (k != j) product *= (x - c[k]) / (c[j] - c[k]);
    return product;
}

/* Five nodes in closed form; B by the rule itself, which is exact for what it is made of. */
static gauss gauss_rule(void)
{
    const double r = 2 * sqrt(10.0 / 7), s = 13 * sqrt(70);
    const double inner = sqrt(5 - r) / 3, outer = sqrt(5 + r) / 3;
    gauss g = {.c = {-outer, -inner, 0, inner, outer},
               .w = {(322 - s) / 900, (322 + s) / 900, 128.0 / 225, (322 + s) / 900, (322 - s) / 900}};
    for (size_t i = 0; i < N; i++) g.c[i] = 0.5 * (1 + g.c[i]), g.w[i] *= 0.5;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++) g.b[i][j] += g.c[i] * g.w[k] * lagrange(g.c, j, g.c[i] * g.c[k]);
    return g;
}

static double length(const sk_panels *p, size_t i) { return p->edge[i + 1] - p->edge[i]; }

/* G within the panels and at their edges. */
static void integrate_slope(sk_panels *p)
{
    const gauss rule = gauss_rule();
    for (size_t i = 0; i < p->count; i++) {
        const double h = length(p, i), *g = p->g + i * N;
        for (size_t k = 0; k < N; k++) p->inner[i * N + k] = h * sk_dot(N, rule.b[k], g);
        p->across[i] = h * sk_dot(N, rule.w, g);
        p->level[i + 1] = p->level[i] + p->across[i];
    }
}

static sock_status make_room(sock_context *ctx, sk_panels *p)
{
    const size_t nodes = p->count * N;
    double **const by_node[] = {&p->x, &p->f, &p->a, &p->g, &p->inner},
                   **const by_edge[] = {&p->edge, &p->across, &p->level};
    for (size_t i = 0; i < 5; i++)
        if (!(*by_node[i] = sk_doubles(ctx, nodes, 1))) return SOCK_ENOMEM;
    for (size_t i = 0; i < 3; i++)
        if (!(*by_edge[i] = sk_doubles(ctx, p->count + 1, 1))) return SOCK_ENOMEM;
    return SOCK_OK;
}

sock_status sk_panels_new(const sk_asker *ask, size_t count, const double *edge, sk_panels **out)
{
    const gauss rule = gauss_rule();
    sk_panels *p = sk_alloc(ask->ctx, 1, sizeof *p);
    if (!p) return SOCK_ENOMEM;
    p->count = count;
    if (make_room(ask->ctx, p) < 0) {
        sk_panels_free(p);
        return SOCK_ENOMEM;
    }
    memcpy(p->edge, edge, (count + 1) * sizeof *edge);
    for (size_t i = 0; i < count * N; i++) p->x[i] = edge[i / N] + rule.c[i % N] * length(p, i / N);
    sk_ask(ask, count * N, p->x, p->f, p->a);
    for (size_t i = 0; i < count * N; i++) p->g[i] = 2 * p->f[i] / p->a[i];
    integrate_slope(p);
    *out = p;
    return SOCK_OK;
}

void sk_panels_free(sk_panels *p)
{
    if (!p) return;
    double *const all[] = {p->x, p->f, p->a, p->g, p->inner, p->edge, p->across, p->level};
    for (size_t i = 0; i < 8; i++) sk_free(all[i]);
    sk_free(p);
}

double sk_panels_sum(const sk_panels *p, const double *at, size_t begin, size_t end)
{
    const gauss rule = gauss_rule();
    double sum = 0;
    for (size_t i = begin; i < end; i++) sum += length(p, i) * sk_dot(N, rule.w, at + i * N);
    return sum;
}

void sk_panels_primitive(const sk_panels *p, const double *at, size_t from, double *out)
{
    const gauss rule = gauss_rule();
    double before = 0;
    for (size_t i = from; i < p->count; i++) {
        for (size_t k = 0; k < N; k++) out[i * N + k] = before + length(p, i) * sk_dot(N, rule.b[k], at + i * N);
        before += length(p, i) * sk_dot(N, rule.w, at + i * N);
    }
    before = 0;
    for (size_t i = from; i-- > 0;) {
        before -= length(p, i) * sk_dot(N, rule.w, at + i * N);
        for (size_t k = 0; k < N; k++) out[i * N + k] = before + length(p, i) * sk_dot(N, rule.b[k], at + i * N);
    }
}

/* One panel, from what its beginning (forward) or end (backward) has; answers what the other end has. */
static double carry_panel(const sk_panels *p, const gauss *rule, const double *r, size_t i, double start, bool backward,
                          double *out)
{
    const double h = length(p, i), *inner = p->inner + i * N, whole = p->across[i], zero = backward ? whole : 0;
    double grown[N];
    for (size_t k = 0; k < N; k++) grown[k] = exp(inner[k] - zero) * r[i * N + k];
    const double full = h * sk_dot(N, rule->w, grown);
    for (size_t k = 0; k < N; k++) {
        const double part = h * sk_dot(N, rule->b[k], grown);
        out[i * N + k] = exp(zero - inner[k]) * (start + (backward ? full - part : part));
    }
    return exp(backward ? whole : -whole) * (start + full);
}

void sk_panels_carry(const sk_panels *p, const double *r, size_t begin, size_t end, bool backward, double *out)
{
    const gauss rule = gauss_rule();
    double at = 0;
    for (size_t n = begin; n < end; n++)
        at = carry_panel(p, &rule, r, backward ? begin + end - 1 - n : n, at, backward, out);
}
