/* gramdevice.c - the problem of the sums solved by a device (base/device.h), and certified here.
 *
 *   1. The device answers with a dual point x0 and the eigenvectors E of S = (2/n) (c - G x0).
 *   2. S is made anew from x0, and must be E' diag(values) E: what a device says is not taken on trust.
 *   3. Q = S_+ / (2 lambda), x = svec Q;  P = (zz - 2 <c, x> + <x, G x>) / n + lambda |Q|^2,
 *      gap = <x0 - x, G (x0 - x)> / n.
 *
 * Cost: two products by G and two of order pd, no eigendecomposition. */
#include "base/plugins.h"
#include "psdinner.h"

#include <math.h>
#include <string.h>

/* Of |S|: beyond, the eigenvectors are not those of S. */
static const double largest_residual = 1e-9;

typedef struct solution {
    sock_context *ctx;
    size_t n, p, q, order, pairs, positive;
    const double *g;
    const struct sk_device_sums *kept;
    const sk_psd_moments *z;
    unsigned *first, *second;
    double *x0, *values, *e, *s, *x, *gx0, *gx;
    double primal, gap, q2;
} solution;

static void clear(solution *s)
{
    double *const all[] = {s->x0, s->values, s->e, s->s, s->x, s->gx0, s->gx};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_free(s->first);
    sk_free(s->second);
}

static sock_status open(solution *s)
{
    double **const vectors[] = {&s->x0, &s->x, &s->gx0, &s->gx}, **const matrices[] = {&s->e, &s->s};
    for (size_t i = 0; i < 4; i++)
        if (!(*vectors[i] = sk_doubles(s->ctx, s->pairs, s->q))) return SOCK_ENOMEM;
    for (size_t i = 0; i < 2; i++)
        if (!(*matrices[i] = sk_doubles(s->ctx, s->order, s->order))) return SOCK_ENOMEM;
    s->values = sk_doubles(s->ctx, s->order, 1);
    s->first = sk_alloc(s->ctx, s->q, sizeof *s->first);
    s->second = sk_alloc(s->ctx, s->q, sizeof *s->second);
    if (!s->values || !s->first || !s->second) return SOCK_ENOMEM;
    for (size_t b = 0, j = 0; b < s->p; b++)
        for (size_t a = 0; a <= b; a++, j++) {
            s->first[j] = (unsigned)a;
            s->second[j] = (unsigned)b;
        }
    return SOCK_OK;
}

typedef struct columns_job {
    const solution *s;
    const double *x;
    double *out;
} columns_job;

/* Some columns: G is symmetric, so these are its rows, which lie together. */
static sock_status some_columns(void *arg, size_t begin, size_t end, int worker)
{
    const columns_job *p = arg;
    const size_t q = p->s->q;
    (void)worker;
    sk_gemm(p->s->ctx, SK_PLAIN, SK_TRANSPOSED, p->s->pairs, end - begin, q, 1, p->x, q, p->s->g + begin * q, q, 0,
            p->out + begin, q);
    return SOCK_OK;
}

/* Few rows by a matrix that is read once: BLAS takes three times as long with its own threads. */
static sock_status times_g(const solution *s, const double *x, double *out)
{
    enum { GRAIN = 128 }; /* speed only */
    columns_job p = {s, x, out};
    return sk_parallel_for(s->ctx, s->q, GRAIN, some_columns, &p);
}

/* Step 2. */
static bool is_decomposed(const solution *s, double *product)
{
    const size_t length = s->pairs * s->q, order = s->order;
    double *scaled = product + order * order, size = 0, rest = 0;
    for (size_t i = 0; i < length; i++) s->x[i] = 2 / (double)s->n * (s->z->c[i] - s->gx0[i]);
    sk_psd_unpack(s->p, s->z->d, s->q, s->first, s->second, s->x, s->s);
    for (size_t i = 0; i < order; i++)
        for (size_t j = 0; j < order; j++) scaled[i * order + j] = s->values[i] * s->e[i * order + j];
    sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, order, order, order, 1, s->e, order, scaled, order, 0, product, order);
    for (size_t i = 0; i < order * order; i++) {
        size += s->s[i] * s->s[i];
        rest += (s->s[i] - product[i]) * (s->s[i] - product[i]);
    }
    return rest <= largest_residual * largest_residual * size; /* false for NaN */
}

/* Step 3. SOCK_PARTIAL: it cannot be told. */
static sock_status certify(solution *s)
{
    const size_t length = s->pairs * s->q, order = s->order;
    const double n = (double)s->n;
    double gap = 0;
    while (s->positive < order && s->values[order - 1 - s->positive] > 0) s->positive++;
    sk_psd_positive_part(s->ctx, order, s->e, s->values, s->positive, 1 / (2 * s->z->lambda), s->s);
    sk_psd_pack(s->p, s->z->d, s->q, s->first, s->second, s->s, s->x);
    SK_TRY(times_g(s, s->x, s->gx));
    for (size_t i = order - s->positive; i < order; i++) s->q2 += s->values[i] * s->values[i];
    s->q2 /= 4 * s->z->lambda * s->z->lambda;
    for (size_t i = 0; i < length; i++) gap += (s->x0[i] - s->x[i]) * (s->gx0[i] - s->gx[i]);
    const double misfit = s->z->zz - 2 * sk_dot(length, s->z->c, s->x) + sk_dot(length, s->x, s->gx);
    s->primal = fmax(misfit, 0) / n + s->z->lambda * s->q2;
    s->gap = fmax(gap, 0) / n;
    return isfinite(s->primal) && isfinite(s->gap) ? SOCK_OK : SOCK_PARTIAL;
}

static sock_status fill(const solution *s, sk_psd_result *r)
{
    const size_t order = s->order;
    while (r->rank < s->positive && s->values[order - 1 - r->rank] > 1e-14 * s->values[order - 1]) r->rank++;
    r->factor = sk_doubles(s->ctx, order, r->rank);
    r->values = sk_doubles(s->ctx, r->rank, 1);
    r->point = sk_doubles(s->ctx, s->pairs, s->q);
    if (!r->factor || !r->values || !r->point) return SOCK_ENOMEM;
    for (size_t j = 0; j < r->rank; j++) {
        r->values[j] = s->values[order - 1 - j] / (2 * s->z->lambda);
        const double root = sqrt(r->values[j]);
        for (size_t i = 0; i < order; i++) r->factor[i * r->rank + j] = root * s->e[(order - 1 - j) * order + i];
    }
    memcpy(r->point, s->x0, s->pairs * s->q * sizeof *r->point);
    r->primal = s->primal;
    r->dual = s->primal - s->gap;
    r->gap = s->gap;
    return SOCK_OK;
}

/* Steps 1 to 3; SOCK_PARTIAL: the host is to do it. */
static sock_status solve(solution *s, sk_plugin *plugin, const sk_psd_options *options, const sk_psd_result *warm,
                         sk_psd_result *r)
{
    const double tolerance = options && options->tolerance > 0 ? options->tolerance : SK_PSD_TOLERANCE;
    const sk_device_gram problem = {.n = s->n,
                                    .p = s->p,
                                    .d = s->z->d,
                                    .g = s->g,
                                    .sums = s->kept ? s->kept->sums : NULL,
                                    .c = s->z->c,
                                    .zz = s->z->zz,
                                    .lambda = s->z->lambda,
                                    .tolerance = tolerance / 2, /* rounding differs there */
                                    .most = options && options->max_iterations ? options->max_iterations : 200};
    SK_TRY(open(s));
    sk_device_answer answer = {.x0 = s->x0, .values = s->values, .e = s->e, .warm = warm != NULL};
    if (warm) memcpy(s->x0, warm->point, s->pairs * s->q * sizeof *s->x0);
    const double start = sk_seconds();
    const sk_device *d = sk_device_begin(plugin, SK_LEVELS);
    const sock_status status = sk_device_end(s->ctx, plugin, SK_LEVELS, d->levels(d->state, &problem, &answer));
    if (status != SOCK_OK) return status == SOCK_ENUMERIC ? SOCK_PARTIAL : status;
    const double solved = sk_seconds();
    double *space = sk_doubles_unset(s->ctx, 2 * s->order, s->order);
    if (!space) return SOCK_ENOMEM;
    sock_status sound = times_g(s, s->x0, s->gx0);
    if (sound == SOCK_OK) sound = is_decomposed(s, space) ? certify(s) : SOCK_PARTIAL;
    sk_free(space);
    if (sound != SOCK_OK) return sound;
    SK_TRY(fill(s, r));
    r->rows = s->q;
    r->solver = "newton";
    r->iterations = answer.steps;
    r->converged = r->gap <= tolerance * r->primal;
    r->effort.eigendecompositions = answer.decompositions;
    r->effort.linear = solved - start;
    r->effort.certificate = sk_seconds() - solved;
    r->effort.total = sk_seconds() - start;
    return SOCK_OK;
}

sock_status sk_psd_gram_elsewhere(sock_context *ctx, sk_plugin *plugin, size_t n, size_t p, const double *g,
                                  const struct sk_device_sums *kept, const sk_psd_moments *z,
                                  const sk_psd_options *options, const sk_psd_result *warm, sk_psd_result **out)
{
    solution s = {.ctx = ctx,
                  .n = n,
                  .p = p,
                  .q = p * (p + 1) / 2,
                  .order = p * z->d,
                  .pairs = z->d * (z->d + 1) / 2,
                  .g = g,
                  .kept = kept,
                  .z = z};
    sk_psd_result *r = sk_alloc(ctx, 1, sizeof *r);
    if (!r) return SOCK_ENOMEM;
    *r = (sk_psd_result){.n = n, .p = p, .d = z->d, .lambda = z->lambda};
    sock_status status = z->zz > 0 ? solve(&s, plugin, options, warm, r) : SOCK_PARTIAL;
    clear(&s);
    if (status != SOCK_OK) {
        sk_psd_result_free(r);
        return status;
    }
    *out = r;
    return sk_psd_verdict(ctx, r, options && options->tolerance > 0 ? options->tolerance : SK_PSD_TOLERANCE);
}
