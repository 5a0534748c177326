/* gramdevice.c - the problem of the sums solved by a device (base/device.h), and certified here.
 *
 *   1. The device answers with a dual point x0, the eigenvectors E of S = (2/n) (c - G x0), x = svec Q of
 *      Q = S_+ / (2 lambda), and the products G x0 and G x.
 *   2. What a device says is not taken on trust: G x0 and G x must agree with G u, u drawn by lot, which the host has
 *      made from rows or from a G of its own: u'(G x) = (G u)'x. S is made anew, and E' E = 1 and S = E' diag(values) E
 *      must hold for vectors that are drawn by lot; and <x, svec t t'> = t' Q t for t = a (x) b, whose blocks a_k a_l b
 * b' are symmetric, as svec takes them.
 *   3. P = (zz - 2 <c, x> + <x, G x>) / n + lambda |Q|^2,   gap = <x0 - x, G (x0 - x)> / n.
 *
 * Cost: order (p d)^2, and one product of G with a vector where the host has G. */
#include "base/plugins.h"
#include "psdinner.h"

#include <math.h>
#include <string.h>

/* Of what is compared: beyond, it is not the same. */
static const double largest_residual = 1e-9;

/* Vectors by lot: a matrix R of any form has |R V|^2 < |R|^2 / 100 once in ten thousand times. */
enum { PROBES = 4 };

typedef struct solution {
    sock_context *ctx;
    size_t n, p, q, order, pairs, positive;
    const double *g; /* NULL: the device alone has it */
    const struct sk_device_sums *kept;
    const sk_psd_moments *z;
    double *x0, *gx0, *x, *gx, *values, *e;
    double primal, gap, q2;
} solution;

static void clear(solution *s)
{
    double *const all[] = {s->x0, s->gx0, s->x, s->gx, s->values, s->e};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
}

static sock_status open(solution *s)
{
    double **const vectors[] = {&s->x0, &s->gx0, &s->x, &s->gx};
    for (size_t i = 0; i < 4; i++)
        if (!(*vectors[i] = sk_doubles(s->ctx, s->pairs, s->q))) return SOCK_ENOMEM;
    s->e = sk_doubles(s->ctx, s->order, s->order);
    s->values = sk_doubles(s->ctx, s->order, 1);
    return s->e && s->values ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Step 2 ---- */

typedef struct product_job {
    const solution *s;
    const double *u;
    double *out;
} product_job;

/* G is symmetric: its rows, which lie together, are its columns. */
static sock_status some_products(void *arg, size_t begin, size_t end, int worker)
{
    const product_job *w = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) w->out[i] = sk_dot(w->s->q, w->s->g + i * w->s->q, w->u);
    return SOCK_OK;
}

static bool same_products(const solution *s, const double *u, const double *gu, const double *x, const double *gx)
{
    const double size_u = sk_norm(s->q, u), size_gu = sk_norm(s->q, gu);
    for (size_t pair = 0; pair < s->pairs; pair++, x += s->q, gx += s->q) {
        const double off = sk_dot(s->q, u, gx) - sk_dot(s->q, gu, x);
        const double size = size_u * sk_norm(s->q, gx) + size_gu * sk_norm(s->q, x);
        if (!(fabs(off) <= largest_residual * size)) return false;
    }
    return true;
}

/* SOCK_PARTIAL: the products are not those by G. */
static sock_status check_products(const solution *s)
{
    enum { GRAIN = 128 }; /* speed only */
    const double *u = s->kept ? s->kept->probe : NULL, *gu = s->kept ? s->kept->product : NULL;
    double *own = NULL;
    sock_status status = SOCK_OK;
    if (s->g) {
        own = sk_doubles(s->ctx, 2, s->q);
        if (!own) return SOCK_ENOMEM;
        sk_normals((sk_key){0, SK_PURPOSE_DEVICE}, 1, 0, 0, s->q, own);
        product_job job = {s, own, own + s->q};
        status = sk_parallel_for(s->ctx, s->q, GRAIN, some_products, &job);
        u = own;
        gu = own + s->q;
    }
    if (status == SOCK_OK && !(u && same_products(s, u, gu, s->x0, s->gx0) && same_products(s, u, gu, s->x, s->gx)))
        status = SOCK_PARTIAL;
    sk_free(own);
    return status;
}

/* The matrix of x (svec of its blocks) times v, both order x PROBES. */
typedef struct blocks_job {
    const solution *s;
    const double *x, *v;
    double *out;
} blocks_job;

static void unpack_block(size_t p, double scale, const double *x, double *block)
{
    for (size_t b = 0; b < p; b++) {
        for (size_t a = 0; a < b; a++) block[b * p + a] = block[a * p + b] = scale * SK_ROOT_HALF * *x++;
        block[b * p + b] = scale * *x++;
    }
}

static sock_status rows_of_blocks(void *arg, size_t begin, size_t end, int worker)
{
    const blocks_job *w = arg;
    const solution *s = w->s;
    const size_t p = s->p, d = s->z->d, step = p * PROBES;
    double *block = sk_doubles_unset(s->ctx, p, p);
    (void)worker;
    if (!block) return SOCK_ENOMEM;
    for (size_t k = begin; k < end; k++)
        for (size_t l = 0; l < d; l++) {
            const size_t pair = k < l ? l * (l + 1) / 2 + k : k * (k + 1) / 2 + l;
            unpack_block(p, k == l ? 1 : SK_ROOT_HALF, w->x + pair * s->q, block);
            sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, p, PROBES, p, 1, block, p, w->v + l * step, PROBES, l > 0,
                    w->out + k * step, PROBES);
        }
    sk_free(block);
    return SOCK_OK;
}

/* |E' diag(weight) ev - what|^2 is a small share of size^2, for each vector; NULL: weights 1. */
static bool is_made_of(const solution *s, const double *weight, const double *ev, const double *what, double size,
                       double *space)
{
    const size_t order = s->order;
    double *scaled = space, *out = space + order * PROBES, rest = 0;
    for (size_t i = 0; i < order * PROBES; i++) scaled[i] = (weight ? weight[i / PROBES] : 1) * ev[i];
    sk_gemm(s->ctx, SK_TRANSPOSED, SK_PLAIN, order, PROBES, order, 1, s->e, order, scaled, PROBES, 0, out, PROBES);
    for (size_t i = 0; i < order * PROBES; i++) rest += (out[i] - what[i]) * (out[i] - what[i]);
    return rest <= PROBES * largest_residual * largest_residual * size * size; /* false for NaN */
}

static sock_status check_vectors(const solution *s)
{
    const size_t order = s->order, wide = order * PROBES, length = s->pairs * s->q;
    double *v = sk_doubles_unset(s->ctx, 5, wide), *svec = sk_doubles_unset(s->ctx, length, 1);
    sock_status status = v && svec ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        double *ev = v + wide, *product = ev + wide, *space = product + wide;
        sk_normals((sk_key){0, SK_PURPOSE_DEVICE}, 2, 0, 0, wide, v);
        sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, order, PROBES, order, 1, s->e, order, v, PROBES, 0, ev, PROBES);
        for (size_t i = 0; i < length; i++) svec[i] = 2 / (double)s->n * (s->z->c[i] - s->gx0[i]);
        bool right = is_made_of(s, NULL, ev, v, sqrt((double)order), space);
        blocks_job job = {s, svec, v, product};
        status = sk_parallel_for(s->ctx, s->z->d, 1, rows_of_blocks, &job);
        right = right && is_made_of(s, s->values, ev, product, sk_norm(length, svec), space);
        if (status == SOCK_OK && !right) status = SOCK_PARTIAL;
    }
    sk_free(v);
    sk_free(svec);
    return status;
}

/* <x, svec t t'> of t = a (x) b. */
static double along(const solution *s, const double *a, const double *b)
{
    const double *x = s->x;
    double sum = 0;
    for (size_t l = 0; l < s->z->d; l++)
        for (size_t k = 0; k <= l; k++) {
            double inner = 0;
            for (size_t i = 0; i < s->p; i++)
                for (size_t j = 0; j <= i; j++) inner += (j < i ? SK_ROOT_TWO : 1) * b[i] * b[j] * *x++;
            sum += (k < l ? SK_ROOT_TWO : 1) * a[k] * a[l] * inner;
        }
    return sum;
}

static sock_status check_answer(const solution *s)
{
    const size_t order = s->order, p = s->p, d = s->z->d;
    double *ab = sk_doubles_unset(s->ctx, PROBES, p + d), *t = sk_doubles_unset(s->ctx, order, PROBES);
    double *et = sk_doubles_unset(s->ctx, order, PROBES), sum[PROBES] = {0}, square[PROBES] = {0}, size = 0;
    sock_status status = ab && t && et ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        sk_normals((sk_key){0, SK_PURPOSE_DEVICE}, 3, 0, 0, PROBES * (p + d), ab);
        for (size_t i = 0; i < order * PROBES; i++) {
            const double *own = ab + i % PROBES * (p + d), value = own[p + i / PROBES / p] * own[i / PROBES % p];
            t[i] = value;
            square[i % PROBES] += value * value;
        }
        sk_gemm(s->ctx, SK_PLAIN, SK_PLAIN, order, PROBES, order, 1, s->e, order, t, PROBES, 0, et, PROBES);
        for (size_t i = 0; i < order; i++) {
            const double q = fmax(s->values[i], 0) / (2 * s->z->lambda);
            size += q * q;
            for (size_t k = 0; k < PROBES; k++) sum[k] += q * et[i * PROBES + k] * et[i * PROBES + k];
        }
        for (size_t k = 0; k < PROBES; k++) {
            const double *own = ab + k * (p + d), off = along(s, own + p, own) - sum[k];
            if (!(fabs(off) <= largest_residual * sqrt(size) * square[k])) status = SOCK_PARTIAL;
        }
    }
    sk_free(ab);
    sk_free(t);
    sk_free(et);
    return status;
}

/* ---- Step 3 ---- */

/* SOCK_PARTIAL: it cannot be told. */
static sock_status certify(solution *s)
{
    const size_t length = s->pairs * s->q, order = s->order;
    const double n = (double)s->n;
    double gap = 0;
    sock_status sound = check_products(s);
    if (sound == SOCK_OK) sound = check_vectors(s);
    if (sound == SOCK_OK) sound = check_answer(s);
    if (sound != SOCK_OK) return sound;
    while (s->positive < order && s->values[order - 1 - s->positive] > 0) s->positive++;
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
    enum { TILE = 16 }; /* speed only */
    const size_t order = s->order;
    while (r->rank < s->positive && s->values[order - 1 - r->rank] > 1e-14 * s->values[order - 1]) r->rank++;
    r->factor = sk_doubles_unset(s->ctx, order, r->rank);
    r->values = sk_doubles(s->ctx, r->rank, 1);
    r->point = sk_doubles_unset(s->ctx, s->pairs, s->q);
    if (!r->factor || !r->values || !r->point) return SOCK_ENOMEM;
    for (size_t j = 0; j < r->rank; j++) r->values[j] = s->values[order - 1 - j] / (2 * s->z->lambda);
    for (size_t tile = 0; tile < order; tile += TILE)
        for (size_t from = 0; from < r->rank; from += TILE) {
            double root[TILE] = {0};
            for (size_t j = 0; j < TILE && from + j < r->rank; j++) root[j] = sqrt(r->values[from + j]);
            for (size_t i = tile; i < SK_MIN(tile + TILE, order); i++)
                for (size_t j = from; j < SK_MIN(from + TILE, r->rank); j++)
                    r->factor[i * r->rank + j] = root[j - from] * s->e[(order - 1 - j) * order + i];
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
                                    .tolerance = 0.9 * tolerance, /* rounding differs there */
                                    .most = options && options->max_iterations ? options->max_iterations : 200};
    SK_TRY(open(s));
    sk_device_answer answer = {
        .x0 = s->x0, .gx0 = s->gx0, .x = s->x, .gx = s->gx, .values = s->values, .e = s->e, .warm = warm != NULL};
    if (warm) memcpy(s->x0, warm->point, s->pairs * s->q * sizeof *s->x0);
    const double start = sk_seconds();
    const sk_device *d = sk_device_begin(plugin, SK_LEVELS);
    const sock_status status = sk_device_end(s->ctx, plugin, SK_LEVELS, d->levels(d->state, &problem, &answer));
    if (status != SOCK_OK) return status == SOCK_ENUMERIC ? SOCK_PARTIAL : status;
    const double solved = sk_seconds();
    const sock_status sound = certify(s);
    if (sound == SOCK_PARTIAL) sk_device_reject(plugin, SK_LEVELS, "the answer of the device does not hold");
    if (sound != SOCK_OK) return sound;
    SK_TRY(fill(s, r));
    r->rows = s->q;
    r->solver = "newton";
    r->iterations = answer.steps;
    r->converged = r->gap <= tolerance * r->primal;
    r->effort.eigendecompositions = answer.decompositions;
    r->effort.cg_steps = answer.gradients;
    r->effort.prepare = answer.factor;
    r->effort.eigen = answer.eigen;
    r->effort.products = answer.directions;
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
