/* operators.c - R(Q)_i,kl = <M_i, Q_kl> and its adjoint, without ever forming the M_i.
 *
 *   R(Q):   T = Phi Q_kl (a GEMM), v_a = T_a . phi_a (row-wise), y = W v (sparse)     4 nodes p^2 flop a pair
 *   R*(y):  u = W' y (sparse), S_kl = (u o Phi)' Phi (a GEMM)                         2 nodes p^2 flop a pair
 *
 * Only pairs k <= l are worked on: Q, y and S are symmetric. When the rows were compressed, B is an explicit matrix and
 * both are single GEMMs between pack and unpack. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

enum { PANEL = 128 };
static const double THREAD_FLOPS = 8e6; /* below it, starting threads costs more than it saves */

static size_t pair_index(size_t k, size_t l) { return l * (l + 1) / 2 + k; }

/* ---- one thread ---- */

typedef struct task {
    sk_psd_task_fn fn;
    void *arg;
} task;

static sock_status first_piece(void *arg, size_t begin, size_t end, int worker)
{
    const task *t = arg;
    (void)end;
    (void)worker;
    return begin == 0 ? t->fn(t->arg) : SOCK_OK;
}

/* Two pieces, the second empty: with one the loop would not count as parallel. */
sock_status sk_psd_alone(sock_context *ctx, sk_psd_task_fn fn, void *arg)
{
    task t = {fn, arg};
    return sk_workers(ctx) > 1 ? sk_parallel_for(ctx, 2, 1, first_piece, &t) : fn(arg);
}

/* ---- pack and unpack ---- */

void sk_psd_pack(size_t p, size_t d, size_t h, const unsigned *first, const unsigned *second, const double *q,
                 double *x)
{
    size_t ld = p * d;
    for (size_t l = 0; l < d; l++)
        for (size_t k = 0; k <= l; k++, x += h) {
            const double *block = q + k * p * ld + l * p;
            double outer = k < l ? SK_ROOT_TWO : 1, mixed = outer * SK_ROOT_HALF;
            for (size_t j = 0; j < h; j++) {
                size_t a = first[j], b = second[j];
                x[j] = a == b ? outer * block[a * ld + a] : mixed * (block[a * ld + b] + block[b * ld + a]);
            }
        }
}

/* One block of which all entries are there, in their order. */
static void unpack_all(size_t p, const double *x, double *s)
{
    for (size_t b = 0; b < p; b++) {
        for (size_t a = 0; a < b; a++, x++) s[a * p + b] = s[b * p + a] = SK_ROOT_HALF * *x;
        s[b * p + b] = *x++;
    }
}

void sk_psd_unpack(size_t p, size_t d, size_t h, const unsigned *first, const unsigned *second, const double *x,
                   double *s)
{
    size_t ld = p * d;
    if (d == 1 && h == p * (p + 1) / 2) {
        unpack_all(p, x, s);
        return;
    }
    if (h < p * (p + 1) / 2) memset(s, 0, ld * ld * sizeof *s);
    for (size_t l = 0; l < d; l++)
        for (size_t k = 0; k <= l; k++, x += h) {
            double *block = s + l * p * ld + k * p; /* the lower one; the upper follows by symmetry */
            double outer = k < l ? SK_ROOT_HALF : 1, mixed = outer * SK_ROOT_HALF;
            for (size_t j = 0; j < h; j++) {
                size_t a = first[j], b = second[j];
                double value = (a == b ? outer : mixed) * x[j];
                block[a * ld + b] = block[b * ld + a] = value;
            }
        }
    sk_symmetrise(ld, s, ld);
}

/* ---- the map ---- */

sock_status sk_psd_map_work(sock_context *ctx, sk_psd_map *map)
{
    map->pairs = map->d * (map->d + 1) / 2;
    map->x = sk_doubles(ctx, map->pairs, map->c ? map->h : map->nodes);
    if (!map->x) return SOCK_ENOMEM;
    if (map->c) return SOCK_OK;
    map->scratch = sk_doubles(ctx, (size_t)sk_workers(ctx) * PANEL, map->p * map->d);
    return map->scratch ? SOCK_OK : SOCK_ENOMEM;
}

void sk_psd_map_clear(sk_psd_map *map)
{
    sk_free(map->x);
    sk_free(map->scratch);
    map->x = map->scratch = NULL;
}

/* Pieces small enough to share among threads, or one piece when the work is too little for them. */
static size_t grain(size_t count, double flops) { return flops < THREAD_FLOPS ? count : 1; }

typedef struct job {
    sock_context *ctx;
    const sk_psd_map *map;
    const double *in;
    double *out;
} job;

/* Nodes of panels begin .. end: v (pairs x nodes) = phi_a' Q_kl phi_a, for all l >= k in one product. */
static sock_status node_forms(void *arg, size_t begin, size_t end, int worker)
{
    const job *w = arg;
    const sk_psd_map *map = w->map;
    size_t p = map->p, d = map->d, wide = p * d;
    double *t = map->scratch + (size_t)worker * PANEL * wide;
    for (size_t first = begin * PANEL; first < SK_MIN(end * PANEL, map->nodes); first += PANEL) {
        size_t rows = SK_MIN(PANEL, map->nodes - first);
        const double *phi = map->phi + first * map->ld;
        for (size_t k = 0; k < d; k++) {
            sk_gemm(w->ctx, SK_PLAIN, SK_PLAIN, rows, (d - k) * p, p, 1, phi, map->ld, w->in + k * p * wide + k * p,
                    wide, 0, t, wide);
            for (size_t l = k; l < d; l++) {
                double *v = w->out + pair_index(k, l) * map->nodes + first, scale = k < l ? SK_ROOT_TWO : 1;
                for (size_t a = 0; a < rows; a++)
                    v[a] = scale * sk_dot(p, t + a * wide + (l - k) * p, phi + a * map->ld);
            }
        }
    }
    return SOCK_OK;
}

/* y = W v for pairs begin .. end. */
static sock_status sparse_rows(void *arg, size_t begin, size_t end, int worker)
{
    const job *w = arg;
    const sk_psd_map *map = w->map;
    (void)worker;
    for (size_t pair = begin; pair < end; pair++) {
        const double *v = w->in + pair * map->nodes;
        double *y = w->out + pair * map->m;
        for (size_t i = 0; i < map->m; i++) {
            double sum = 0;
            for (size_t e = map->row[i]; e < map->row[i + 1]; e++) sum += map->weight[e] * v[map->node[e]];
            y[i] = sum;
        }
    }
    return SOCK_OK;
}

sock_status sk_psd_map_apply(sock_context *ctx, const sk_psd_map *map, const double *q, double *y)
{
    if (map->c) {
        sk_psd_pack(map->p, map->d, map->h, map->first, map->second, q, map->x);
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, map->pairs, map->m, map->h, 1, map->x, map->h, map->c, map->h, 0, y,
                map->m);
        return SOCK_OK;
    }
    double flops = 2.0 * (double)map->nodes * (double)(map->p * map->p) * (double)map->pairs;
    size_t panels = (map->nodes + PANEL - 1) / PANEL;
    job forms = {ctx, map, q, map->x}, rows = {ctx, map, map->x, y};
    SK_TRY(sk_parallel_for(ctx, panels, grain(panels, flops), node_forms, &forms));
    double entries = 2.0 * (double)map->row[map->m] * (double)map->pairs;
    return sk_parallel_for(ctx, map->pairs, grain(map->pairs, entries), sparse_rows, &rows);
}

/* S_lk = sum_a u_a phi_a phi_a', u = W' y_kl, for pairs begin .. end. */
static sock_status weighted_grams(void *arg, size_t begin, size_t end, int worker)
{
    const job *w = arg;
    const sk_psd_map *map = w->map;
    size_t p = map->p, wide = p * map->d, l = 0;
    double *t = map->scratch + (size_t)worker * PANEL * wide;
    for (size_t pair = begin; pair < end; pair++) {
        while (pair_index(0, l + 1) <= pair) l++;
        size_t k = pair - pair_index(0, l);
        double *u = map->x + pair * map->nodes, *block = w->out + l * p * wide + k * p;
        const double *y = w->in + pair * map->m;
        double scale = k < l ? SK_ROOT_HALF : 1;
        memset(u, 0, map->nodes * sizeof *u);
        for (size_t i = 0; i < map->m; i++)
            for (size_t e = map->row[i]; e < map->row[i + 1]; e++) u[map->node[e]] += scale * map->weight[e] * y[i];
        for (size_t a = 0; a < p; a++) memset(block + a * wide, 0, p * sizeof *block);
        for (size_t first = 0; first < map->nodes; first += PANEL) {
            size_t rows = SK_MIN(PANEL, map->nodes - first);
            for (size_t a = 0; a < rows; a++)
                for (size_t j = 0; j < p; j++) t[a * p + j] = u[first + a] * map->phi[(first + a) * map->ld + j];
            sk_gemm(w->ctx, SK_TRANSPOSED, SK_PLAIN, p, p, rows, 1, t, p, map->phi + first * map->ld, map->ld, 1, block,
                    wide);
        }
    }
    return SOCK_OK;
}

sock_status sk_psd_map_adjoint(sock_context *ctx, const sk_psd_map *map, const double *y, double *s)
{
    if (map->c) {
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, map->pairs, map->h, map->m, 1, y, map->m, map->c, map->h, 0, map->x, map->h);
        sk_psd_unpack(map->p, map->d, map->h, map->first, map->second, map->x, s);
        return SOCK_OK;
    }
    double flops = 2.0 * (double)map->nodes * (double)(map->p * map->p) * (double)map->pairs;
    job grams = {ctx, map, y, s};
    SK_TRY(sk_parallel_for(ctx, map->pairs, grain(map->pairs, flops), weighted_grams, &grams));
    sk_symmetrise(map->p * map->d, s, map->p * map->d);
    return SOCK_OK;
}

/* The blocks do not talk to each other, so |R|^2 is that of d = 1. The ratio rises to the largest eigenvalue from
 * below; a percent on top covers what is missing when it has settled to a thousandth. */
sock_status sk_psd_map_norm2(sock_context *ctx, const sk_psd_map *map, double *norm2)
{
    enum { MOST = 100 };
    sk_psd_map one = *map;
    one.d = one.pairs = 1;
    sock_status status = SOCK_OK;
    double *y = sk_doubles(ctx, map->m, 1), *s = sk_doubles(ctx, map->p, map->p), before = 0, value = 0;
    if (!y || !s) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < map->m; i++) y[i] = 1 + 1e-3 * sin((double)i); /* rows of M_i >= 0 have a common direction */
    for (int iteration = 0; iteration < MOST; iteration++) {
        double size = sk_norm(map->m, y);
        if (!(size > 0)) break;
        sk_scale(map->m, 1 / size, y);
        SK_GO(sk_psd_map_adjoint(ctx, &one, y, s));
        SK_GO(sk_psd_map_apply(ctx, &one, s, y));
        before = value;
        value = sk_norm(map->m, y);
        if (value - before <= 1e-3 * value && iteration > 4) break;
    }
    *norm2 = 1.01 * value;
out:
    sk_free(y);
    sk_free(s);
    return status;
}
