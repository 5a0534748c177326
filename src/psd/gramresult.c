/* gramresult.c - a solution through sums over rows as a result with a certificate, without any rows.
 *
 * For every symmetric X0 the matrices beta_i = (2/n) w_i (R(X0)_i - z_i) are a dual point, and all that its certificate
 * asks of the rows is in the sums. In svec coordinates, a column for each pair:
 *
 *     S = (2/n) (c - G x0),     Q = S_+ / (2 lambda),     x = svec Q,
 *     P(Q) = (zz - 2 <c, x> + <x, G x>) / n + lambda |Q|^2,     gap = <x0 - x, G (x0 - x)> / n.
 *
 * Said like this, large numbers are subtracted. With the m kept rows C of psdgram.c, t their targets, y the solver's
 * dual point and C x0 = (n/2) y + t, the same is
 *
 *     S = -C'y + (2/n) (c - C't),     n gap = |(n/2) y + t - C x|^2 + (<x, G x> - |C x|^2),
 *     n P = |C x - t|^2 + (zz - |t|^2) - 2 <c - C't, x> + (<x, G x> - |C x|^2) + n lambda |Q|^2
 *
 * where c - C't and <x, G x> - |C x|^2 are what the factor of G left out; 0 where it left out nothing (m = h).
 *
 *   1. y, and t. 2. S, Q, P and the gap. 3. Q = V V', and x0. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

/* One solution on its way; y, t and C in the units of the targets and features as given. */
typedef struct solution {
    sock_context *ctx;
    const sk_psd_gram *gram;
    const double *g;
    size_t n, m, h, order, pairs;
    const sk_psd_moments *z;
    double size;         /* of the targets */
    double *y, *t, *cx;  /* pairs x m */
    double *x, *product; /* pairs x h */
    double *outside;     /* c - C't */
    sk_psd_inner inner;
    sk_psd_point at;
} solution;

static void clear(solution *s)
{
    double *const all[] = {s->y, s->t, s->cx, s->x, s->product, s->outside};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_eigen_free(s->inner.eigen);
    sk_psd_point_clear(&s->at);
}

static sock_status open(solution *s, sk_psd_effort *effort)
{
    s->inner = (sk_psd_inner){.n = s->n, .lambda = s->z->lambda, .effort = effort};
    s->inner.map = sk_psd_gram_map(s->gram, s->z->d);
    s->m = s->gram->m;
    s->h = s->gram->q;
    s->pairs = s->inner.map.pairs;
    s->order = s->inner.map.p * s->z->d;
    s->size = sqrt(s->z->zz / (double)s->n);
    double **const short_ones[] = {&s->y, &s->t, &s->cx}, **const long_ones[] = {&s->x, &s->product, &s->outside};
    for (size_t i = 0; i < 3; i++) {
        *short_ones[i] = sk_doubles(s->ctx, s->pairs, s->m);
        *long_ones[i] = sk_doubles(s->ctx, s->pairs, s->h);
        if (!*short_ones[i] || !*long_ones[i]) return SOCK_ENOMEM;
    }
    SK_TRY(sk_eigen_new(s->ctx, s->order, &s->inner.eigen));
    return sk_psd_point_new(s->ctx, &s->inner.map, &s->at);
}

/* ---- Step 1 ---- */

/* out (pairs x m) = x C'. */
static void to_rows(const solution *s, const double *x, double *out)
{
    sk_gemm(s->ctx, SK_PLAIN, SK_TRANSPOSED, s->pairs, s->m, s->h, s->gram->scale, x, s->h, s->gram->c, s->h, 0, out,
            s->m);
}

/* out (pairs x h) += factor y C. */
static void from_rows(const solution *s, double factor, const double *y, double *out)
{
    sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, s->pairs, s->h, s->m, factor * s->gram->scale, y, s->m, s->gram->c, s->h, 1,
            out, s->h);
}

static void make_targets(solution *s)
{
    const double scale = s->gram->scale;
    to_rows(s, s->z->c, s->t);
    for (size_t i = 0; i < s->pairs * s->m; i++) {
        const double s2 = scale * scale * s->gram->s2[i % s->m];
        s->t[i] = s2 > 0 ? s->t[i] / s2 : 0;
    }
    if (s->m == s->h) return;
    memcpy(s->outside, s->z->c, s->pairs * s->h * sizeof *s->outside);
    from_rows(s, -1, s->t, s->outside);
}

/* Its Q is not needed: step 2 makes it anew, and tells whether it converged. */
static sock_status solve(solution *s, const sk_psd_options *options, const sk_psd_result *warm, sk_psd_bounds *bounds)
{
    const size_t length = s->pairs * s->m;
    make_targets(s);
    if (!(s->size > 0)) return SOCK_OK;
    if (warm) to_rows(s, warm->point, s->y);
    for (size_t i = 0; warm && i < length; i++) s->y[i] = 2 / (double)s->n * (s->y[i] - s->t[i]) / s->size;
    SK_TRY(sk_psd_gram_solve(s->ctx, s->gram, s->n, s->z, options, s->y, warm != NULL, s->at.q, bounds));
    sk_scale(length, s->size, s->y);
    return SOCK_OK;
}

/* ---- Step 2 ---- */

static sock_status certify(solution *s)
{
    const sk_psd_map *map = &s->inner.map;
    const size_t length = s->pairs * s->h;
    const double n = (double)s->n;
    double misfit = s->z->zz - sk_dot(s->pairs * s->m, s->t, s->t), gap = 0, beyond = 0;
    for (size_t i = 0; i < length; i++) s->product[i] = -2 / n * s->outside[i];
    from_rows(s, 1, s->y, s->product);
    sk_psd_unpack(map->p, map->d, map->h, map->first, map->second, s->product, s->at.e);
    SK_TRY(sk_psd_split(s->ctx, &s->inner, &s->at));
    sk_psd_pack(map->p, map->d, map->h, map->first, map->second, s->at.q, s->x);
    to_rows(s, s->x, s->cx);
    if (s->m < s->h) {
        sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, s->pairs, s->h, s->h, 1, s->x, s->h, s->g, s->h, 0, s->product, s->h);
        beyond = fmax(sk_dot(length, s->x, s->product) - sk_dot(s->pairs * s->m, s->cx, s->cx), 0);
    }
    for (size_t i = 0; i < s->pairs * s->m; i++) {
        const double r = s->cx[i] - s->t[i], e = n / 2 * s->y[i] - r;
        misfit += r * r;
        gap += e * e;
    }
    misfit += beyond - 2 * sk_dot(length, s->outside, s->x);
    s->at.primal = fmax(misfit, 0) / n + s->z->lambda * s->at.q2;
    s->at.gap = (gap + beyond) / n;
    return isfinite(s->at.primal) && isfinite(s->at.gap)
               ? SOCK_OK
               : sk_fail(s->ctx, SOCK_ENUMERIC, "the diffusion problem overflows at lambda = %g", s->z->lambda);
}

/* ---- Step 3 ---- */

/* x0 = sum of C_i ((n/2) y_i + t_i) / |C_i|^2. */
static void make_point(solution *s, double *x0)
{
    const double scale = s->gram->scale;
    for (size_t i = 0; i < s->pairs * s->m; i++) {
        const double s2 = scale * scale * s->gram->s2[i % s->m];
        s->cx[i] = s2 > 0 ? ((double)s->n / 2 * s->y[i] + s->t[i]) / s2 : 0;
    }
    from_rows(s, 1, s->cx, x0);
}

static sock_status fill(solution *s, sk_psd_result *r)
{
    const size_t order = s->order;
    while (r->rank < s->at.positive && s->at.values[order - 1 - r->rank] > 1e-14 * s->at.values[order - 1]) r->rank++;
    r->factor = sk_doubles(s->ctx, order, r->rank);
    r->values = sk_doubles(s->ctx, r->rank, 1);
    r->point = sk_doubles(s->ctx, s->pairs, s->h);
    if (!r->factor || !r->values || !r->point) return SOCK_ENOMEM;
    for (size_t j = 0; j < r->rank; j++) {
        r->values[j] = s->at.values[order - 1 - j] / (2 * s->z->lambda);
        const double root = sqrt(r->values[j]);
        for (size_t i = 0; i < order; i++) r->factor[i * r->rank + j] = root * s->at.e[(order - 1 - j) * order + i];
    }
    make_point(s, r->point);
    r->primal = s->at.primal;
    r->dual = s->at.primal - s->at.gap;
    r->gap = s->at.gap;
    return SOCK_OK;
}

static double tolerance_of(const sk_psd_options *options)
{
    return options && options->tolerance > 0 ? options->tolerance : SK_PSD_TOLERANCE;
}

/* All steps, as one piece of work. */
typedef struct task {
    solution s;
    const sk_psd_options *options;
    const sk_psd_result *warm;
    sk_psd_result *r;
} task;

static sock_status make_result(void *arg)
{
    task *t = arg;
    solution *s = &t->s;
    sk_psd_bounds bounds = {0};
    sk_psd_effort effort = {0};
    SK_TRY(open(s, &effort));
    SK_TRY(solve(s, t->options, t->warm, &bounds));
    SK_TRY(certify(s));
    *t->r = (sk_psd_result){.n = s->n, .p = s->inner.map.p, .d = s->z->d, .lambda = s->z->lambda};
    SK_TRY(fill(s, t->r));
    t->r->rows = s->m;
    t->r->solver = "newton";
    t->r->iterations = bounds.iterations;
    t->r->converged = t->r->gap <= tolerance_of(t->options) * t->r->primal;
    t->r->effort = bounds.effort;
    t->r->effort.eigen += effort.eigen;
    t->r->effort.eigendecompositions += effort.eigendecompositions;
    return SOCK_OK;
}

sock_status sk_psd_gram_result(sock_context *ctx, const sk_psd_gram *gram, size_t n, const double *g,
                               const sk_psd_moments *z, const sk_psd_options *options, const sk_psd_result *warm,
                               sk_psd_result **out)
{
    const double begin = sk_seconds();
    task t = {{.ctx = ctx, .gram = gram, .g = g, .n = n, .z = z}, options, warm, NULL};
    if (!(t.r = sk_alloc(ctx, 1, sizeof *t.r))) return SOCK_ENOMEM;
    sock_status status =
        sk_psd_gram_rows(gram) <= SK_PSD_ALONE_ROWS ? sk_psd_alone(ctx, make_result, &t) : make_result(&t);
    clear(&t.s);
    if (status < 0) {
        sk_psd_result_free(t.r);
        return status;
    }
    t.r->effort.total = sk_seconds() - begin;
    *out = t.r;
    return sk_psd_verdict(ctx, t.r, tolerance_of(options));
}
