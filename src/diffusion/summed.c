/* summed.c - see summed.h. Cost: n q^2, q = p (p + 1) / 2, in parts that run side by side; then that of q rows for each
 * lambda. */
#include "diffusion/summed.h"
#include "base/plugins.h"
#include "tune/policy.h"

#include <string.h>

struct sk_summed {
    const sk_rule *rule;
    const sk_features *map;
    const double *z; /* n x d x d */
    size_t p, q, d, parts;
    sk_diffusion_sums *sums;
    size_t h, *entry; /* columns of the problem, and their places among the q products */
    const double *g;  /* h x h: the sums' own, or */
    double *own;      /* that of the entries alone */
    double *c, *zz;   /* parts x pairs x h; parts */
    sk_psd_gram *gram;
    sk_plugin *device; /* solves; NULL: the factor of g does */
};

static size_t pairs_of(size_t d) { return d * (d + 1) / 2; }
static size_t dimension(const sk_summed *s) { return s->parts > 1 ? 1 : s->d; }

double sk_summed_bytes(size_t p, size_t d)
{
    const double q = (double)pairs_of(p);
    return 8 * (5 * q * q + 2 * (double)pairs_of(d) * q);
}

void sk_summed_free(sk_summed *s)
{
    if (!s) return;
    sk_diffusion_sums_free(s->sums);
    sk_psd_gram_free(s->gram);
    sk_free(s->entry);
    sk_free(s->own);
    sk_free(s->c);
    sk_free(s->zz);
    sk_free(s);
}

/* ---- Sums ---- */

/* The rows are cut into pieces that depend on n and q alone; each has sums of its own, which are merged in order: the
 * result does not depend on the number of threads. */
typedef struct sum_job {
    sock_context *ctx;
    const sk_summed *s;
    size_t pieces;
    sk_diffusion_sums **sums;
} sum_job;

static size_t piece_count(size_t n, size_t q)
{
    enum { NUMBERS = 1 << 21, MOST = 32, ROWS = 4096 }; /* speed only */
    return SK_MAX(1, SK_MIN(n / ROWS, SK_MIN(NUMBERS / q / q, MOST)));
}

static sock_status open_piece(const sum_job *w, size_t piece)
{
    const sk_view like = {.d = w->s->d};
    return sk_diffusion_sums_new(w->ctx, w->s->map, &like, false, 0, &w->sums[piece]);
}

/* One piece, where a device takes it; else there is none yet. */
static sock_status open_elsewhere(sum_job *w)
{
    const double n = (double)w->s->rule->n, q = (double)w->s->q;
    if (!sk_device_for(w->ctx, SK_SUMS, n * q * q, SK_DEVICE_SUMS)) return SOCK_OK;
    SK_TRY(open_piece(w, 0));
    SK_TRY(sk_diffusion_sums_offload(w->ctx, w->sums[0], w->s->rule->n));
    if (w->sums[0]->device) {
        w->pieces = 1;
        return SOCK_OK;
    }
    sk_diffusion_sums_free(w->sums[0]);
    w->sums[0] = NULL;
    return SOCK_OK;
}

/* The device that solves by G, where all products of features count. */
static sk_plugin *solver_of(sock_context *ctx, const sk_summed *s)
{
    if (sk_features_separate(s->map)) return NULL;
    return sk_device_for(ctx, SK_LEVELS, (double)(s->p * dimension(s)), SK_DEVICE_LEVELS);
}

static sock_status add_piece(const sum_job *w, size_t piece)
{
    enum { AT_ONCE = 8192 }; /* between two looks at Ctrl-C */
    const sk_summed *s = w->s;
    const size_t n = s->rule->n, first = piece * n / w->pieces, last = (piece + 1) * n / w->pieces;
    if (!w->sums[piece]) SK_TRY(open_piece(w, piece));
    for (size_t begin = first; begin < last; begin += AT_ONCE) {
        const sk_given_rows rows = {
            .rule = s->rule, .begin = begin, .end = SK_MIN(begin + AT_ONCE, last), .z = s->z, .weight = NULL};
        SK_TRY(sk_progress(w->ctx, "diffusion rows", (double)begin / (double)n));
        SK_TRY(sk_diffusion_sums_add_given(w->ctx, w->sums[piece], &rows));
    }
    return sk_diffusion_sums_fetch(w->ctx, w->sums[piece], !solver_of(w->ctx, s));
}

static sock_status add_pieces(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    for (size_t piece = begin; piece < end; piece++) SK_TRY(add_piece(arg, piece));
    return SOCK_OK;
}

static sock_status sum_up(sock_context *ctx, sk_summed *s)
{
    sum_job w = {ctx, s, piece_count(s->rule->n, s->q), NULL};
    w.sums = sk_alloc(ctx, w.pieces, sizeof *w.sums);
    sock_status status = w.sums ? open_elsewhere(&w) : SOCK_ENOMEM;
    if (status >= 0) status = sk_parallel_for(ctx, w.pieces, 1, add_pieces, &w);
    for (size_t piece = 1; status >= 0 && piece < w.pieces; piece++) sk_diffusion_sums_merge(w.sums[0], w.sums[piece]);
    for (size_t piece = 1; w.sums && piece < w.pieces; piece++) sk_diffusion_sums_free(w.sums[piece]);
    if (w.sums) s->sums = w.sums[0];
    if (status >= 0) sk_diffusion_sums_close(s->sums);
    sk_free(w.sums);
    return status;
}

/* ---- The problem of each part ---- */

/* zz of a component alone, which the sums have for all of them together. */
static double own_squares(const sk_summed *s, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < s->rule->n; i++) {
        const double z = s->z[(i * s->d + k) * s->d + k];
        sum += z * z;
    }
    return sum;
}

/* c of each part, of the listed entries; component k of a diagonal a is the pair (k, k). */
static void take_moments(sk_summed *s)
{
    const size_t pairs = pairs_of(dimension(s));
    for (size_t part = 0; part < s->parts; part++) {
        s->zz[part] = s->parts > 1 ? own_squares(s, part) : s->sums->zz[0];
        for (size_t pair = 0; pair < pairs; pair++) {
            const double *from = s->sums->c + (s->parts > 1 ? pairs_of(part + 1) - 1 : pair) * s->q;
            double *to = s->c + (part * pairs + pair) * s->h;
            for (size_t j = 0; j < s->h; j++) to[j] = from[s->entry[j]];
        }
    }
}

static sock_status take_gram(sock_context *ctx, sk_summed *s, size_t *own)
{
    const double *total = sk_diffusion_sums_total(s->sums);
    s->device = solver_of(ctx, s);
    s->g = s->sums->absent ? NULL : total;
    if (s->device) return SOCK_OK; /* which needs no factor of it */
    if (!own) return sk_psd_gram_new(ctx, s->rule->n, s->p, total, &s->gram);
    s->g = s->own = sk_doubles(ctx, s->h, s->h);
    if (!s->own) return SOCK_ENOMEM;
    for (size_t i = 0; i < s->h; i++)
        for (size_t j = 0; j < s->h; j++) s->own[i * s->h + j] = total[s->entry[i] * s->q + s->entry[j]];
    return sk_psd_gram_entries(ctx, s->rule->n, s->p, s->h, own, own, s->g, &s->gram);
}

static sock_status take_problem(sock_context *ctx, sk_summed *s)
{
    const bool squares = sk_features_separate(s->map);
    s->h = squares ? s->p : s->q;
    s->entry = sk_alloc(ctx, s->h, sizeof *s->entry);
    s->c = sk_doubles(ctx, s->parts * pairs_of(dimension(s)), s->h);
    s->zz = sk_doubles(ctx, s->parts, 1);
    size_t *own = squares ? sk_alloc(ctx, s->p, sizeof *own) : NULL;
    sock_status status = s->entry && s->c && s->zz && (own || !squares) ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < s->h; j++) {
        if (squares) own[j] = j;
        s->entry[j] = squares ? pairs_of(j + 1) - 1 : j;
    }
    if (status >= 0) take_moments(s);
    if (status >= 0) status = take_gram(ctx, s, own);
    sk_free(own);
    return status;
}

sock_status sk_summed_new(sock_context *ctx, const sk_rule *rule, const sk_features *map, const double *z,
                          bool diagonal, sk_summed **out)
{
    sk_summed *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = (sk_summed){.rule = rule, .map = map, .z = z, .p = sk_features_count(map), .d = rule->out};
    s->q = pairs_of(s->p);
    s->parts = diagonal ? s->d : 1;
    sock_status status = sum_up(ctx, s);
    if (status >= 0) status = take_problem(ctx, s);
    if (status < 0) {
        sk_summed_free(s);
        return status;
    }
    *out = s;
    return SOCK_OK;
}

double sk_summed_unit(const sk_summed *s) { return sk_diffusion_sums_unit(s->sums, 0, NULL); }

/* ---- Solutions ---- */

/* The next of the lambdas below those that are done; count: there is none. */
static size_t next_lambda(size_t count, const double *lambda, sk_psd_result *const *out, size_t stride)
{
    size_t next = count;
    for (size_t i = 0; i < count; i++)
        if (!out[i * stride] && (next == count || lambda[i] > lambda[next])) next = i;
    return next;
}

/* By the device; or by the factor of G, unless G is so large that rows are better: SOCK_PARTIAL. */
static sock_status solve_one(sock_context *ctx, sk_summed *s, const sk_psd_moments *z, const sk_psd_options *options,
                             const sk_psd_result *warm, sk_psd_result **out)
{
    sock_status status = SOCK_PARTIAL;
    if (s->device)
        status = sk_psd_gram_elsewhere(ctx, s->device, s->rule->n, s->p, s->g, s->sums->kept, z, options, warm, out);
    const bool by_rows = s->q > SK_PLAIN_SUMS || s->q > s->rule->n;
    if (s->device && (status != SOCK_PARTIAL || by_rows)) return status;
    s->device = NULL;
    SK_TRY(sk_diffusion_sums_fetch_gram(ctx, s->sums));
    s->g = s->own ? s->own : sk_diffusion_sums_total(s->sums);
    if (!s->gram) SK_TRY(sk_psd_gram_new(ctx, s->rule->n, s->p, s->g, &s->gram));
    return sk_psd_gram_result(ctx, s->gram, s->rule->n, s->g, z, options, warm, out);
}

static sock_status solve_part(sock_context *ctx, sk_summed *s, size_t part, const sk_psd_options *options, size_t count,
                              const double *lambda, sk_psd_result **out)
{
    const sk_psd_result *warm = NULL;
    sock_status worst = SOCK_OK;
    sk_psd_moments z = {.d = dimension(s), .zz = s->zz[part]};
    z.c = s->c + part * pairs_of(z.d) * s->h;
    for (size_t i; (i = next_lambda(count, lambda, out + part, s->parts)) < count;) {
        sk_psd_result **to = &out[i * s->parts + part];
        z.lambda = lambda[i];
        const sock_status ended = solve_one(ctx, s, &z, options, warm, to);
        if (ended < 0 || !*to) return ended;
        worst = SK_MAX(worst, ended);
        warm = *to;
    }
    return worst;
}

sock_status sk_summed_paths(sock_context *ctx, sk_summed *s, const sk_psd_options *options, size_t count,
                            const double *lambda, sk_psd_result **out)
{
    sock_status status = SOCK_OK, worst = SOCK_OK;
    for (size_t i = 0; i < count * s->parts; i++) out[i] = NULL;
    bool left = false;
    for (size_t part = 0; status >= 0 && !left && part < s->parts; part++) {
        status = solve_part(ctx, s, part, options, count, lambda, out);
        worst = SK_MAX(worst, status);
        left = status == SOCK_PARTIAL;
    }
    for (size_t i = 0; (status < 0 || left) && i < count * s->parts; i++) {
        sk_psd_result_free(out[i]);
        out[i] = NULL;
    }
    return status < 0 || left ? status : worst;
}

/* beta_i = (2/n) (R(X0)_i - z_i) of some rows with the products b (count x q). */
static void put_beta(const sk_summed *s, const sk_psd_result *r, size_t part, size_t count, const double *b,
                     const double *z, double *beta)
{
    const double root_half = 0.70710678118654752440;
    const size_t dim = dimension(s), d = s->d;
    for (size_t i = 0; i < count; i++, b += s->q, z += d * d, beta += d * d)
        for (size_t l = 0, pair = 0; l < dim; l++)
            for (size_t k = 0; k <= l; k++, pair++) {
                const size_t row = s->parts > 1 ? part : k, column = s->parts > 1 ? part : l;
                double sum = 0;
                for (size_t j = 0; j < s->h; j++) sum += b[s->entry[j]] * r->point[pair * s->h + j];
                if (k < l) sum *= root_half;
                sum = 2 / (double)s->rule->n * (sum - 0.5 * (z[row * d + column] + z[column * d + row]));
                beta[row * d + column] = beta[column * d + row] = sum;
            }
}

sock_status sk_summed_beta(sock_context *ctx, const sk_summed *s, sk_psd_result *const *part, double *beta)
{
    enum { AT_ONCE = 256 };
    const size_t n = s->rule->n, d = s->d;
    double *b = sk_doubles_unset(ctx, AT_ONCE, s->q);
    sock_status status = b ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) memset(beta, 0, n * d * d * sizeof *beta);
    for (size_t begin = 0; status >= 0 && begin < n; begin += AT_ONCE) {
        const size_t end = SK_MIN(begin + AT_ONCE, n);
        status = sk_svec_rows(ctx, s->map, s->rule, begin, end, b, NULL);
        for (size_t k = 0; status >= 0 && k < s->parts; k++)
            put_beta(s, part[k], k, end - begin, b, s->z + begin * d * d, beta + begin * d * d);
    }
    sk_free(b);
    return status;
}
