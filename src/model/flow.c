/* flow.c - see flow.h. Expectations by points: with C C' = V + diag(reach^2) and r^2 = max(d, 3) they are m + r C_k,
 * then m - r C_k, each of weight 1/(2 r^2), and for d < 3, last, m of weight 1 - d/3: so the fourth moments along the
 * axes are those of a Gaussian, without which a cubic drift has the wrong slope. A = D C^-1, D_k = (f(m + r C_k) - f(m
 * - r C_k)) / (2 r).
 *
 *   1. A substep of length dt: (f1, A1, a1) at (m, V), v1 = A1 V + V A1' + a1; the same with 2 at (m + dt f1, V + dt
 * v1); m += dt/2 (f1 + f2), V += dt/2 (v1 + v2), E = 1 + dt/2 (A1 + A2) + dt^2/2 A2 A1, J <- E J.
 *   2. Nodes after each substep, weights dt (1/2, 1, .., 1, 1/2); J_j = E_S .. E_{j+1} backwards.
 *   3. Split: the points after S/2 substeps start for themselves with V = 0; mean and covariance are theirs, pooled.
 *
 * Cost of a start: 2 S (2 d + 1) evaluations of the model, 10 S d^3. */
#include "model/flow.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* With d known to the compiler, loops of one to three rounds are none. */
#define INLINE static inline __attribute__((always_inline))

enum { EVALUATED = 256 };           /* points at once; speed only */
static const double RAISED = 1e-10; /* of the largest eigenvalue: smaller ones of V are raised to it */

/* f, A, a of laws, and the rate of V. */
typedef struct rates {
    double *f, *slope, *a, *v;
} rates;

struct sk_flow {
    const sock_model *model;
    const sk_sampler *sampler;
    sk_flow_spec spec;
    size_t d, q, most;
    const sk_flow_starts *starts; /* of the run */
    double *m, *v;                /* the laws */
    double *m2, *v2;              /* at the end of an Euler step */
    rates one, two;
    double *c;         /* most x d x d: factors */
    double *x, *f, *a; /* most x q points and the fields there */
    double *middle;    /* most x q x d: the points of the split */
    double *length;    /* most x q: what is left of the step there */
    double *e;         /* S x most x d x d: propagators of the substeps */
    double *matrix;    /* 3 d x d */
    double *space;     /* of the sampler */
    double *memory;    /* all of these */
    sk_flow *inner;    /* of the split; NULL: none */
};

INLINE size_t points(size_t d) { return 2 * d + (d < 3 ? 1 : 0); }

size_t sk_flow_points(size_t d) { return points(d); }

size_t sk_flow_nodes(size_t d, size_t substeps, bool certain)
{
    return (certain ? 1 : sk_flow_points(d)) + substeps * sk_flow_points(d);
}

INLINE double radius2(size_t d) { return d < 3 ? 3 : (double)d; }

/* Weight of point k of a law. */
INLINE double share(size_t d, size_t k) { return k < 2 * d ? 0.5 / radius2(d) : 1 - (double)d / 3; }

/* ---- Making ---- */

/* The next `count` numbers of the memory; with memory NULL they are only counted. */
static double *cut(double *memory, size_t *used, size_t count)
{
    double *part = memory ? memory + *used : NULL;
    *used += (count + 7) / 8 * 8; /* whole lines of a cache; speed only */
    return part;
}

static size_t lay_out(sk_flow *w, double *memory)
{
    const size_t d = w->d, most = w->most, d2 = d * d, points = most * w->q;
    size_t used = 0;
    rates *r[] = {&w->one, &w->two};
    w->m = cut(memory, &used, most * d);
    w->v = cut(memory, &used, most * d2);
    w->m2 = cut(memory, &used, most * d);
    w->v2 = cut(memory, &used, most * d2);
    for (size_t i = 0; i < 2; i++) {
        r[i]->f = cut(memory, &used, most * d);
        r[i]->slope = cut(memory, &used, most * d2);
        r[i]->a = cut(memory, &used, most * d2);
        r[i]->v = cut(memory, &used, most * d2);
    }
    w->c = cut(memory, &used, most * d2);
    w->x = cut(memory, &used, points * d);
    w->f = cut(memory, &used, points * d);
    w->a = cut(memory, &used, points * d2);
    w->middle = cut(memory, &used, points * d);
    w->length = cut(memory, &used, points);
    w->e = cut(memory, &used, w->spec.substeps.count * most * d2);
    w->matrix = cut(memory, &used, 3 * d2);
    w->space = cut(memory, &used, sk_sampler_space(w->sampler, EVALUATED));
    return used;
}

void sk_flow_free(sk_flow *w)
{
    if (!w) return;
    sk_flow_free(w->inner);
    sk_free(w->memory);
    sk_free(w);
}

sock_status sk_flow_new(sock_context *ctx, const sock_model *model, const sk_sampler *sampler, const sk_flow_spec *spec,
                        size_t most, sk_flow **out)
{
    const size_t s = spec->substeps.count;
    sk_flow *w = sk_alloc(ctx, 1, sizeof *w);
    if (!w) return SOCK_ENOMEM;
    *w = (sk_flow){.model = model, .sampler = sampler, .spec = *spec, .d = model->d, .most = most};
    w->q = sk_flow_points(w->d);
    w->memory = sk_doubles(ctx, lay_out(w, NULL), 1);
    sock_status status = w->memory ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) lay_out(w, w->memory);
    if (status >= 0 && spec->substeps.split && s > 1) {
        sk_flow_spec rest = *spec;
        rest.substeps = (sk_substeps){s - s / 2, false};
        status = sk_flow_new(ctx, model, sampler, &rest, most * w->q, &w->inner);
    }
    if (status < 0) {
        sk_flow_free(w);
        return status;
    }
    *out = w;
    return SOCK_OK;
}

/* Points that are evaluated for a start. */
static double evaluations(size_t d, sk_substeps substeps)
{
    const double q = (double)sk_flow_points(d), half = (double)(substeps.count - substeps.count / 2);
    return 2 * q * ((double)substeps.count + (substeps.split && substeps.count > 1 ? half * q : 0));
}

sock_status sk_flow_sampler(sock_context *ctx, const sock_model *model, const sk_flow_spec *spec, size_t starts,
                            sk_sampler **out)
{
    SK_TRY(sk_sampler_new(ctx, model, out));
    if (!spec->low) return SOCK_OK;
    const double asked = (double)starts * evaluations(model->d, spec->substeps);
    const sock_status status = sk_sampler_tabulate(ctx, *out, spec->low[0], spec->high[0], asked);
    if (status >= 0) return SOCK_OK;
    sk_sampler_free(*out);
    *out = NULL;
    return status;
}

/* ---- Step 1 ---- */

/* T (d x d) with its eigenvalues raised, factored into c. */
static void raise(size_t d, double *t, double *vectors, double *c)
{
    double largest = 1e-200;
    sk_jacobi(d, t, vectors);
    for (size_t k = 0; k < d; k++) largest = fmax(largest, t[k * d + k]);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += fmax(t[k * d + k], RAISED * largest) * vectors[k * d + i] * vectors[k * d + j];
            c[i * d + j] = sum;
        }
    sk_factor_small(d, 0, c);
}

/* c: the factor of V + reach^2. */
static void factor(const sk_flow *w, const double *v, double *c)
{
    const size_t d = w->d;
    double *t = w->matrix, *vectors = t + d * d;
    const double one = v[0] + w->spec.reach[0] * w->spec.reach[0];
    if (d == 1 && one > 0) {
        c[0] = sqrt(one);
        return;
    }
    memcpy(t, v, d * d * sizeof *t);
    for (size_t k = 0; k < d; k++) t[k * d + k] += w->spec.reach[k] * w->spec.reach[k];
    if (sk_factor_copy(d, 0, t, c)) raise(d, t, vectors, c);
}

/* The points of one law; where they are not finite, its start stands in for them. */
INLINE void place(const sk_flow *w, size_t d, size_t i, const double *m, const double *c, double *x)
{
    const size_t q = points(d);
    const double r = sqrt(radius2(d));
    bool finite = true;
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++) {
            x[k * d + j] = m[j] + r * c[j * d + k];
            x[(d + k) * d + j] = m[j] - r * c[j * d + k];
        }
    if (q > 2 * d) memcpy(x + 2 * d * d, m, d * sizeof *x);
    for (size_t k = 0; k < q * d; k++) finite = finite && isfinite(x[k]);
    for (size_t k = 0; !finite && k < q; k++) memcpy(x + k * d, w->starts->m + i * d, d * sizeof *x);
}

/* No calls of fmin and fmax: one in fourteen parts of a fit over long steps. */
INLINE void keep_in_box(const sk_flow *w, size_t d, size_t count, double *x)
{
    const double *low = w->spec.low, *high = w->spec.high;
    for (size_t i = 0; low && i < count; i++)
        for (size_t k = 0; k < d; k++) {
            double *at = x + i * d + k;
            *at = *at < low[k] ? low[k] : *at > high[k] ? high[k] : *at;
        }
}

/* f and a at points of w->x. */
static void evaluate(sock_context *ctx, const sk_flow *w, size_t count)
{
    const size_t d = w->d;
    const bool noisy = w->model->has_diffusion;
    for (size_t at = 0; at < count; at += EVALUATED)
        sk_sampler_fields(ctx, w->sampler, SK_MIN(count - at, (size_t)EVALUATED), w->x + at * d, w->f + at * d,
                          noisy ? w->a + at * d * d : NULL, w->space);
    if (!noisy) memset(w->a, 0, count * d * d * sizeof *w->a);
}

/* mean (n numbers) of values g at the points of one law. */
INLINE void expect(size_t d, size_t q, size_t n, const double *g, double *mean)
{
    memset(mean, 0, n * sizeof *mean);
    for (size_t k = 0; k < q; k++)
        for (size_t j = 0; j < n; j++) mean[j] += share(d, k) * g[k * n + j];
}

/* A C = D, from the last column on. */
INLINE void find_slope(size_t d, const double *f, const double *c, double *slope)
{
    const double r2 = 2 * sqrt(radius2(d));
    for (size_t j = 0; j < d; j++)
        for (size_t k = d; k-- > 0;) {
            double sum = (f[k * d + j] - f[(d + k) * d + j]) / r2;
            for (size_t l = k + 1; l < d; l++) sum -= slope[j * d + l] * c[l * d + k];
            slope[j * d + k] = sum / c[k * d + k];
        }
}

/* out = A V + V A' + a. */
INLINE void find_rate(size_t d, const double *slope, const double *v, const double *a, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = a[i * d + j];
            for (size_t k = 0; k < d; k++) sum += slope[i * d + k] * v[k * d + j] + v[i * d + k] * slope[j * d + k];
            out[i * d + j] = sum;
        }
}

INLINE void find_rates_in(sock_context *ctx, const sk_flow *w, size_t d, const double *m, const double *v,
                          const rates *r, double *keep)
{
    const size_t d2 = d * d, q = points(d), count = w->starts->count;
    for (size_t i = 0; i < count; i++) {
        factor(w, v + i * d2, w->c + i * d2);
        place(w, d, i, m + i * d, w->c + i * d2, w->x + i * q * d);
    }
    if (keep) memcpy(keep, w->x, count * q * d * sizeof *keep);
    keep_in_box(w, d, count * q, w->x);
    evaluate(ctx, w, count * q);
    for (size_t i = 0; i < count; i++) {
        expect(d, q, d, w->f + i * q * d, r->f + i * d);
        expect(d, q, d2, w->a + i * q * d2, r->a + i * d2);
        find_slope(d, w->f + i * q * d, w->c + i * d2, r->slope + i * d2);
        find_rate(d, r->slope + i * d2, v + i * d2, r->a + i * d2, r->v + i * d2);
    }
}

/* At the laws (m, v); keep (or NULL): their points, before the box. */
static void find_rates(sock_context *ctx, const sk_flow *w, const double *m, const double *v, const rates *r,
                       double *keep)
{
    if (w->d == 1)
        find_rates_in(ctx, w, 1, m, v, r, keep);
    else if (w->d == 2)
        find_rates_in(ctx, w, 2, m, v, r, keep);
    else if (w->d == 3)
        find_rates_in(ctx, w, 3, m, v, r, keep);
    else
        find_rates_in(ctx, w, w->d, m, v, r, keep);
}

/* The laws after a step of Euler's, and after one of Heun's. */
static void step_euler(const sk_flow *w)
{
    const size_t d = w->d, d2 = d * d;
    for (size_t i = 0; i < w->starts->count; i++) {
        const double dt = w->starts->h[i] / (double)w->spec.substeps.count;
        for (size_t k = i * d; k < (i + 1) * d; k++) w->m2[k] = w->m[k] + dt * w->one.f[k];
        for (size_t k = i * d2; k < (i + 1) * d2; k++) w->v2[k] = w->v[k] + dt * w->one.v[k];
    }
}

static void step_heun(const sk_flow *w)
{
    const size_t d = w->d, d2 = d * d;
    for (size_t i = 0; i < w->starts->count; i++) {
        const double half = 0.5 * w->starts->h[i] / (double)w->spec.substeps.count;
        double *v = w->v + i * d2;
        const double *v1 = w->one.v + i * d2, *v2 = w->two.v + i * d2;
        for (size_t k = i * d; k < (i + 1) * d; k++) w->m[k] += half * (w->one.f[k] + w->two.f[k]);
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k <= j; k++) {
                const size_t a = j * d + k, b = k * d + j;
                v[a] = v[b] = 0.5 * (v[a] + v[b] + half * (v1[a] + v2[a] + v1[b] + v2[b]));
            }
    }
}

static void identity(size_t d, double *out)
{
    memset(out, 0, d * d * sizeof *out);
    for (size_t k = 0; k < d; k++) out[k * d + k] = 1;
}

/* E of the substep, and J <- E J. */
static void propagate(const sk_flow *w, double *e, double *slope)
{
    const size_t d = w->d, d2 = d * d;
    double *product = w->matrix;
    for (size_t i = 0; i < w->starts->count; i++) {
        const double dt = w->starts->h[i] / (double)w->spec.substeps.count;
        const double *s1 = w->one.slope + i * d2, *s2 = w->two.slope + i * d2;
        double *to = e + i * d2;
        sk_small_product(d, s2, s1, false, product);
        identity(d, to);
        for (size_t a = 0; a < d2; a++) to[a] += 0.5 * dt * (s1[a] + s2[a]) + 0.5 * dt * dt * product[a];
        sk_small_product(d, to, slope + i * d2, false, product);
        memcpy(slope + i * d2, product, d2 * sizeof *product);
    }
}

/* ---- Step 2 ---- */

/* The weight of time j of the step of start i. */
static double time_weight(const sk_flow *w, size_t i, size_t j)
{
    const size_t s = w->spec.substeps.count;
    return w->starts->h[i] / (double)s * (j == 0 || j == s ? 0.5 : 1);
}

/* to += weight x: so few numbers that a call costs more. */
static void add(size_t n, double weight, const double *x, double *to)
{
    for (size_t k = 0; k < n; k++) to[k] += weight * x[k];
}

/* The points at time j are nodes, `each` for a start from node `first` of it on; f and a there. */
static void add_nodes(const sk_flow *w, size_t j, size_t first, size_t each, const sk_flow_ends *out)
{
    const size_t d = w->d, d2 = d * d, nodes = sk_flow_nodes(d, w->spec.substeps.count, !w->starts->p);
    for (size_t i = 0; i < w->starts->count; i++) {
        const double c = time_weight(w, i, j);
        memcpy(out->x + (i * nodes + first) * d, w->x + i * each * d, each * d * sizeof *out->x);
        for (size_t k = 0; k < each; k++) {
            const double weight = each > 1 ? c * share(d, k) : c;
            out->weight[i * nodes + first + k] = weight;
            add(d, weight, w->f + (i * each + k) * d, out->drift + (i * (w->spec.substeps.count + 1) + j) * d);
            add(d2, weight, w->a + (i * each + k) * d2, out->diffusion + i * d2);
        }
    }
}

/* The nodes at t_0, when the rates there have just been found: points of the law, or the start alone. */
static void add_first(sock_context *ctx, const sk_flow *w, const sk_flow_ends *out)
{
    const size_t count = w->starts->count, d = w->d;
    if (w->starts->p) {
        add_nodes(w, 0, 0, w->q, out);
        return;
    }
    memcpy(w->x, w->starts->m, count * d * sizeof *w->x);
    keep_in_box(w, d, count, w->x);
    evaluate(ctx, w, count);
    add_nodes(w, 0, 0, 1, out);
}

/* J from every time to the end, and F. */
static void look_back(const sk_flow *w, const sk_flow_ends *out)
{
    const size_t d = w->d, d2 = d * d, s = w->spec.substeps.count, count = w->starts->count;
    for (size_t i = 0; i < count; i++) {
        double *j = out->onward + i * (s + 1) * d2, *f = out->average + i * d2;
        identity(d, j + s * d2);
        for (size_t t = s; t-- > 0;)
            sk_small_product(d, j + (t + 1) * d2, w->e + (t * count + i) * d2, false, j + t * d2);
        memset(f, 0, d2 * sizeof *f);
        for (size_t t = 0; t <= s; t++) add(d2, time_weight(w, i, t) / w->starts->h[i], j + t * d2, f);
    }
}

/* ---- Step 3 ---- */

/* Mean and covariance at the end from the points in the middle. */
static void pool(sock_context *ctx, const sk_flow *w, double *mean, double *cov)
{
    const size_t d = w->d, d2 = d * d, q = w->q, count = w->starts->count, s = w->spec.substeps.count;
    sk_flow *rest = w->inner;
    for (size_t i = 0; i < count * q; i++) w->length[i] = w->starts->h[i / q] * (1 - (double)(s / 2) / (double)s);
    const sk_flow_starts starts = {count * q, w->middle, NULL, w->length};
    const sk_flow_ends ends = {.mean = w->f, .cov = w->a};
    sk_flow_run(ctx, rest, &starts, &ends);
    for (size_t i = 0; i < count; i++) {
        double *m = mean + i * d, *v = cov + i * d2;
        expect(d, q, d, w->f + i * q * d, m);
        expect(d, q, d2, w->a + i * q * d2, v);
        for (size_t k = 0; k < q; k++) {
            double *x = w->f + (i * q + k) * d;
            for (size_t a = 0; a < d; a++) x[a] -= m[a];
            for (size_t a = 0; a < d; a++) add(d, share(d, k) * x[a], x, v + a * d);
        }
        sk_symmetrise(d, v, d);
    }
}

/* ---- All of them ---- */

static void begin(const sk_flow *w, const sk_flow_ends *out)
{
    const size_t d = w->d, d2 = d * d, count = w->starts->count;
    memcpy(w->m, w->starts->m, count * d * sizeof *w->m);
    if (w->starts->p)
        memcpy(w->v, w->starts->p, count * d2 * sizeof *w->v);
    else
        memset(w->v, 0, count * d2 * sizeof *w->v);
    for (size_t i = 0; out->slope && i < count; i++) identity(d, out->slope + i * d2);
    if (!out->x) return;
    memset(out->drift, 0, count * (w->spec.substeps.count + 1) * d * sizeof *out->drift);
    memset(out->diffusion, 0, count * d2 * sizeof *out->diffusion);
}

static void substep(sock_context *ctx, const sk_flow *w, size_t k, const sk_flow_ends *out)
{
    const size_t s = w->spec.substeps.count, count = w->starts->count;
    const bool middle = w->inner && k + 1 == s / 2;
    step_euler(w);
    find_rates(ctx, w, w->m2, w->v2, &w->two, NULL);
    if (out->slope) propagate(w, w->e + k * count * w->d * w->d, out->slope);
    step_heun(w);
    if (out->x || k + 1 < s) find_rates(ctx, w, w->m, w->v, &w->one, middle ? w->middle : NULL);
    if (out->x) add_nodes(w, k + 1, sk_flow_nodes(w->d, k, !w->starts->p), w->q, out);
}

void sk_flow_run(sock_context *ctx, sk_flow *w, const sk_flow_starts *starts, const sk_flow_ends *out)
{
    const size_t d = w->d, count = starts->count;
    w->starts = starts;
    begin(w, out);
    find_rates(ctx, w, w->m, w->v, &w->one, NULL);
    if (out->x) add_first(ctx, w, out);
    for (size_t k = 0; k < w->spec.substeps.count; k++) substep(ctx, w, k, out);
    if (out->x) look_back(w, out);
    memcpy(out->mean, w->m, count * d * sizeof *out->mean);
    memcpy(out->cov, w->v, count * d * d * sizeof *out->cov);
    if (w->inner) pool(ctx, w, out->mean, out->cov);
}
