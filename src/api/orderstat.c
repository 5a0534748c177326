/* orderstat.c - see orderstat.h.
 *
 *   1. Increments over m steps, by their length; monomials of all states, in units of their spread, at the left points;
 * of one state alone hats on its quantiles, which follow any function.
 *   2. Least squares; what is left.
 *   3. Correlation of its neighbouring differences within trajectories. */
#include "api/orderstat.h"

#include "data/samples.h"
#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THINNINGS = 4 }; /* every 1st, 2nd, 4th and 8th point */

typedef struct survey {
    sock_context *ctx;
    const sock_data *data;
    const bool *skip;
    size_t d, m, p;
    size_t n; /* rows, at most `room` */
    size_t room;
    size_t *point;         /* n: where the increment begins */
    double *mean, *spread; /* d */
    double *phi, *u, *gram;
    double knot[SK_ORDER_KNOTS]; /* of one state, in units of its spread */
} survey;

static void survey_clear(survey *s)
{
    sk_free(s->point);
    sk_free(s->mean);
    sk_free(s->phi);
    sk_free(s->u);
    sk_free(s->gram);
}

/* ---- Step 1 ---- */

size_t sk_order_degree(size_t d)
{
    return d <= SK_ORDER_QUARTIC ? 4 : d <= SK_ORDER_CUBIC ? 3 : d <= SK_ORDER_QUADRATIC ? 2 : 1;
}

static size_t monomials(size_t d, size_t degree)
{
    double count = 1;
    for (size_t i = 1; i <= degree; i++) count = count * (double)(d + i) / (double)i;
    return (size_t)(count + 0.5);
}

/* All products of up to `degree` of the numbers z (d), behind `first`; answers how many there are by then. */
static size_t put_products(size_t d, const double *z, size_t from, size_t degree, double value, double *out,
                           size_t count)
{
    out[count++] = value;
    for (size_t k = from; degree && k < d; k++) count = put_products(d, z, k, degree - 1, value * z[k], out, count);
    return count;
}

static void measure(survey *s)
{
    const sock_data *data = s->data;
    const double n = (double)data->points;
    for (size_t k = 0; k < s->d; k++) {
        double square = 0;
        for (size_t i = 0; i < data->points; i++) s->mean[k] += data->x[i * s->d + k] / n;
        for (size_t i = 0; i < data->points; i++) square += pow(data->x[i * s->d + k] - s->mean[k], 2) / n;
        s->spread[k] = square > 0 ? sqrt(square) : 1;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Quantiles of the one state there is, and between them places at equal distances: where it is seldom it may be fast.
 */
static sock_status find_knots(survey *s)
{
    const size_t n = s->data->points;
    double *copy = sk_doubles_unset(s->ctx, n, 1);
    if (!copy) return SOCK_ENOMEM;
    for (size_t i = 0; i < n; i++) copy[i] = (s->data->x[i] - s->mean[0]) / s->spread[0];
    qsort(copy, n, sizeof *copy, ascending);
    const size_t half = SK_ORDER_KNOTS / 2;
    for (size_t j = 0; j < half; j++) {
        s->knot[2 * j] = copy[j * (n - 1) / (half - 1)];
        s->knot[2 * j + 1] = copy[0] + (copy[n - 1] - copy[0]) * ((double)j + 0.5) / (double)half;
    }
    qsort(s->knot, SK_ORDER_KNOTS, sizeof *s->knot, ascending);
    sk_free(copy);
    return SOCK_OK;
}

/* Hats: 1 at their own knot, 0 at the others, straight between. */
static void put_hats(const survey *s, double z, double *out)
{
    size_t j = 0;
    memset(out, 0, SK_ORDER_KNOTS * sizeof *out);
    while (j + 2 < SK_ORDER_KNOTS && z > s->knot[j + 1]) j++;
    const double width = s->knot[j + 1] - s->knot[j], share = width > 0 ? (z - s->knot[j]) / width : 0;
    out[j] = 1 - share;
    out[j + 1] = share;
}

static bool is_usual(const survey *s, size_t i)
{
    for (size_t j = i; s->skip && j < i + s->m; j++)
        if (s->skip[j]) return false;
    return true;
}

/* Rows of every m-th point; where there are many, of the first trajectories. */
static void list_rows(survey *s)
{
    const sock_data *data = s->data;
    s->n = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + s->m < data->first[j + 1] && s->n < s->room; i += s->m)
            if (is_usual(s, i)) s->point[s->n++] = i;
}

static void fill(survey *s)
{
    const sock_data *data = s->data;
    double z[SK_ORDER_FEATURES];
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = s->point[i];
        const double h = data->t[at + s->m] - data->t[at];
        for (size_t k = 0; k < s->d; k++) {
            z[k] = (data->x[at * s->d + k] - s->mean[k]) / s->spread[k];
            s->u[i * s->d + k] = (data->x[(at + s->m) * s->d + k] - data->x[at * s->d + k]) / h / s->spread[k];
        }
        if (s->d == 1)
            put_hats(s, z[0], s->phi + i * s->p);
        else
            put_products(s->d, z, 0, sk_order_degree(s->d), 1, s->phi + i * s->p, 0);
    }
}

/* ---- Step 2 ---- */

/* u becomes what is left of it; total (d): its variance times n before. */
static sock_status take_out(survey *s, double *total, double *weight)
{
    const size_t p = s->p, d = s->d, n = s->n;
    for (size_t k = 0; k < d; k++) {
        double mean = 0;
        total[k] = 0;
        for (size_t i = 0; i < n; i++) mean += s->u[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) total[k] += pow(s->u[i * d + k] - mean, 2);
    }
    sk_syrk(s->ctx, SK_TRANSPOSED, p, n, 1, s->phi, p, 0, s->gram, p);
    for (size_t j = 0; j < p; j++) s->gram[j * (p + 1)] *= 1 + 1e-10;
    for (size_t j = 0; j < p; j++) s->gram[j * (p + 1)] += 1e-12 * (double)n;
    sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, p, d, n, 1, s->phi, p, s->u, d, 0, weight, d);
    SK_TRY(sk_cholesky(s->ctx, p, s->gram, p));
    sk_cholesky_solve(s->ctx, p, d, s->gram, p, weight, d);
    sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, n, d, p, -1, s->phi, p, weight, d, 1, s->u, d);
    return SOCK_OK;
}

/* ---- Step 3 ---- */

static bool follows(const survey *s, size_t i) { return s->point[i] == s->point[i - 1] + s->m; }

bool sk_order_has_pairs(size_t pairs) { return pairs >= SK_ORDER_PAIRS; }

bool sk_order_has_rows(size_t rows, size_t functions) { return rows >= SK_ORDER_EACH * functions; }

static sk_order_statistic judge(const survey *s, size_t k, double total)
{
    const size_t d = s->d;
    const double *e = s->u + k;
    double uu = 0, vv = 0, uv = 0, square = 0;
    size_t pairs = 0;
    for (size_t i = 0; i < s->n; i++) square += e[i * d] * e[i * d];
    for (size_t i = 2; i < s->n; i++) {
        const double one = e[(i - 1) * d] - e[(i - 2) * d], other = e[i * d] - e[(i - 1) * d];
        if (i < 3 || !follows(s, i) || !follows(s, i - 1)) continue;
        uu += one * one;
        vv += other * other;
        uv += one * other;
        pairs++;
    }
    const bool known = sk_order_has_pairs(pairs) && uu > 0 && vv > 0 && total > 0;
    return known ? (sk_order_statistic){uv / sqrt(uu * vv), square / total}
                 : (sk_order_statistic){(double)NAN, (double)NAN};
}

/* One thinning; keeps what is larger. */
static sock_status look(survey *s, sk_order_statistic *out)
{
    const size_t d = s->d;
    list_rows(s);
    if (!sk_order_has_rows(s->n, s->p)) return SOCK_OK;
    double *work = sk_doubles(s->ctx, s->p + 1, d);
    if (!work) return SOCK_ENOMEM;
    fill(s);
    const sock_status status = take_out(s, work, work + d);
    for (size_t k = 0; status >= 0 && k < d; k++) {
        const sk_order_statistic one = judge(s, k, work[k]);
        if (isfinite(one.correlation) && !(one.correlation <= out[k].correlation)) out[k] = one;
    }
    sk_free(work);
    return status == SOCK_ENUMERIC ? SOCK_OK : status;
}

sock_status sk_order_statistics(sock_context *ctx, const sock_data *data, const bool *skip, sk_order_statistic *out)
{
    const size_t d = data->d, p = d == 1 ? (size_t)SK_ORDER_KNOTS : monomials(d, sk_order_degree(d)),
                 room = sk_order_rows(data->points);
    survey s = {.ctx = ctx, .data = data, .skip = skip, .d = d, .p = p, .room = room};
    for (size_t k = 0; k < d; k++) out[k] = (sk_order_statistic){(double)NAN, (double)NAN};
    if (!room || p > SK_ORDER_FEATURES || d >= SK_ORDER_FEATURES) return SOCK_OK;
    s.point = sk_alloc(ctx, room, sizeof *s.point);
    s.mean = sk_doubles(ctx, 2, d);
    s.phi = sk_doubles_unset(ctx, room, p);
    s.u = sk_doubles_unset(ctx, room, d);
    s.gram = sk_doubles(ctx, p, p);
    sock_status status = s.point && s.mean && s.phi && s.u && s.gram ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        s.spread = s.mean + d;
        measure(&s);
        if (d == 1) status = find_knots(&s);
    }
    for (size_t i = 0, m = 1; status >= 0 && i < THINNINGS; i++, m *= 2) {
        s.m = m;
        status = look(&s, out);
    }
    survey_clear(&s);
    return status;
}

bool sk_looks_second(const sk_order_statistic *s)
{
    return s->correlation > SK_ORDER_CORRELATION && s->left > SK_ORDER_LEFT;
}

/* ---- The public door ---- */

sock_status sock_data_order(sock_context *ctx, const sock_data *data, double *correlation, double *left, int *second)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data) return sk_fail(ctx, SOCK_EUSAGE, "data must not be NULL");
    sk_wild wild = {0};
    sk_order_statistic *all = sk_alloc(ctx, data->d, sizeof *all);
    sock_status status = all ? sk_wild_find(ctx, data, &wild) : SOCK_ENOMEM;
    if (status >= 0) status = sk_order_statistics(ctx, data, wild.step, all);
    for (size_t k = 0; status >= 0 && k < data->d; k++) {
        if (correlation) correlation[k] = all[k].correlation;
        if (left) left[k] = all[k].left;
        if (second) second[k] = sk_looks_second(&all[k]);
    }
    sk_wild_clear(&wild);
    sk_free(all);
    return status;
}
