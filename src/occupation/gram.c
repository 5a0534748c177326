/* gram.c - L* = W k(X, X) W' by blocks (paper Algorithm 1, line 2), and Psi = W Phi(X).
 *
 *   1. Cut the intervals into blocks of at most BLOCK intervals that touch at most about BLOCK nodes.
 *   2. For every pair of blocks I >= J, and every pair of node tiles A of I and B of J:
 *      K = k(X_A, X_B);  T = W_IA K;  L_IJ += T W_JB'.
 *   3. Mirror the lower triangle.
 *
 * Cost: one evaluation of the kernel for each pair of nodes (half of them by symmetry) and O(n^2) additions; the work
 * space is a few tiles for each thread, k(X, X) is never stored. Pairs of blocks are independent: each writes its own
 * part of L, so the result does not depend on the number of threads. */
#include "occupation/occupation.h"

#include <string.h>

enum { BLOCK = 256 };

typedef struct block {
    size_t begin, end;           /* intervals */
    size_t node_begin, node_end; /* nodes they touch */
} block;

typedef struct blocks {
    size_t count;
    block *at;
} blocks;

/* Nodes of an interval stand together and in order (see rule.c), so the first and last entry bound them. */
static sock_status cut(sock_context *ctx, const sk_rule *rule, size_t most_nodes, blocks *out)
{
    size_t capacity = 0;
    for (size_t i = 0; i < rule->n;) {
        block b = {i, i, rule->node[rule->row[i]], 0};
        size_t low = SIZE_MAX, high = 0;
        while (b.end < rule->n && b.end - b.begin < BLOCK) {
            for (size_t e = rule->row[b.end]; e < rule->row[b.end + 1]; e++) {
                low = SK_MIN(low, rule->node[e]);
                high = SK_MAX(high, rule->node[e] + 1);
            }
            if (b.end > b.begin && high - low > most_nodes) break;
            b.end++;
            b.node_begin = low;
            b.node_end = high;
        }
        SK_TRY(sk_grow(ctx, &out->at, &capacity, out->count + 1, sizeof *out->at));
        out->at[out->count++] = b;
        i = b.end;
    }
    return SOCK_OK;
}

/* (i, j) with i >= j from the number of the pair: pairs are counted row by row of the lower triangle. */
static void pair_of(size_t number, size_t *i, size_t *j)
{
    size_t row = 0;
    while ((row + 1) * (row + 2) / 2 <= number) row++;
    *i = row;
    *j = number - row * (row + 1) / 2;
}

typedef struct gram_job {
    sock_context *ctx;
    const sk_rule *rule;
    const sk_kernel *kernel;
    blocks cut;
    bool matrix;
    size_t width; /* 1 for a scalar kernel, d for a matrix-valued one */
    size_t tile;  /* nodes in a tile */
    double *l;
    size_t ld;
    double *space; /* workers x space_size */
    size_t space_size;
} gram_job;

/* T (|I| width x columns) = W_IA K, K is (nodes of the tile * width) x columns. */
static void reduce_rows(const gram_job *job, const block *rows, size_t a, size_t a_end, const double *kernel_tile,
                        size_t columns, double *t)
{
    size_t q = job->width;
    memset(t, 0, (rows->end - rows->begin) * q * columns * sizeof *t);
    for (size_t i = rows->begin; i < rows->end; i++)
        for (size_t e = job->rule->row[i]; e < job->rule->row[i + 1]; e++) {
            size_t node = job->rule->node[e];
            if (node < a || node >= a_end) continue;
            double w = job->rule->weight[e];
            const double *source = kernel_tile + (node - a) * q * columns;
            double *target = t + (i - rows->begin) * q * columns;
            for (size_t c = 0; c < q * columns; c++) target[c] += w * source[c];
        }
}

/* L_IJ += T W_JB'. */
static void reduce_columns(const gram_job *job, const block *rows, const block *cols, size_t b, size_t b_end,
                           const double *t, size_t columns)
{
    size_t q = job->width;
    for (size_t r = 0; r < (rows->end - rows->begin) * q; r++) {
        double *target = job->l + (rows->begin * q + r) * job->ld;
        const double *source = t + r * columns;
        for (size_t j = cols->begin; j < cols->end; j++)
            for (size_t e = job->rule->row[j]; e < job->rule->row[j + 1]; e++) {
                size_t node = job->rule->node[e];
                if (node < b || node >= b_end) continue;
                for (size_t k = 0; k < q; k++) target[j * q + k] += job->rule->weight[e] * source[(node - b) * q + k];
            }
    }
}

static sock_status gram_range(void *argument, size_t begin, size_t end, int worker)
{
    gram_job *job = argument;
    const sk_rule *rule = job->rule;
    size_t d = rule->d, q = job->width, tile = job->tile;
    double *kernel_tile = job->space + (size_t)worker * job->space_size;
    double *t = kernel_tile + tile * tile * q * q, *scratch = t + BLOCK * q * tile * q;
    for (size_t number = begin; number < end; number++) {
        size_t bi, bj;
        pair_of(number, &bi, &bj);
        const block *rows = &job->cut.at[bi], *cols = &job->cut.at[bj];
        for (size_t r = rows->begin * q; r < rows->end * q; r++)
            memset(job->l + r * job->ld + cols->begin * q, 0, (cols->end - cols->begin) * q * sizeof(double));
        for (size_t a = rows->node_begin; a < rows->node_end; a += tile)
            for (size_t b = cols->node_begin; b < cols->node_end; b += tile) {
                size_t a_end = SK_MIN(a + tile, rows->node_end), b_end = SK_MIN(b + tile, cols->node_end);
                size_t na = a_end - a, nb = b_end - b;
                if (!job->matrix)
                    sk_kernel_block(job->ctx, job->kernel, d, na, rule->x + a * d, nb, rule->x + b * d, kernel_tile, nb,
                                    scratch);
                else
                    sk_kernel_matrix_block(job->kernel, d, na, rule->x + a * d, nb, rule->x + b * d, kernel_tile,
                                           nb * q);
                reduce_rows(job, rows, a, a_end, kernel_tile, nb * q, t);
                reduce_columns(job, rows, cols, b, b_end, t, nb * q);
            }
    }
    return SOCK_OK;
}

static sock_status gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, bool matrix, double *l,
                        size_t ld)
{
    size_t width = matrix ? rule->d : 1;
    gram_job job = {.ctx = ctx, .rule = rule, .kernel = kernel, .matrix = matrix, .width = width, .l = l, .ld = ld};
    job.tile = SK_MAX(BLOCK / width, 8);
    job.space_size =
        job.tile * job.tile * width * width + BLOCK * width * job.tile * width + sk_kernel_space(rule->d, job.tile);
    sock_status status = SOCK_OK;
    SK_GO(cut(ctx, rule, job.tile, &job.cut));
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_size);
    if (!job.space) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(sk_parallel_for(ctx, job.cut.count * (job.cut.count + 1) / 2, 1, gram_range, &job));
    sk_symmetrise(rule->n * width, l, ld);
out:
    sk_free(job.cut.at);
    sk_free(job.space);
    return status;
}

sock_status sk_occupation_gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *l, size_t ld)
{
    return gram(ctx, rule, kernel, false, l, ld);
}

sock_status sk_occupation_matrix_gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *l,
                                      size_t ld)
{
    return gram(ctx, rule, kernel, true, l, ld);
}

/* ---- Features ---- */

sock_status sk_occupation_features(sock_context *ctx, const sk_rule *rule, const sk_features *map, size_t begin,
                                   size_t end, double *psi, size_t ld)
{
    size_t p = sk_features_count(map), low = SIZE_MAX, high = 0;
    for (size_t e = rule->row[begin]; e < rule->row[end]; e++) {
        low = SK_MIN(low, rule->node[e]);
        high = SK_MAX(high, rule->node[e] + 1);
    }
    if (begin == end) return SOCK_OK;
    double *phi = sk_doubles(ctx, high - low, p);
    if (!phi) return SOCK_ENOMEM;
    sock_status status = sk_features_eval(ctx, map, high - low, rule->x + low * rule->d, phi, p);
    for (size_t i = begin; status >= 0 && i < end; i++) {
        double *target = psi + (i - begin) * ld;
        memset(target, 0, p * sizeof *target);
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
            sk_axpy(p, rule->weight[e], phi + (rule->node[e] - low) * p, target);
    }
    sk_free(phi);
    return status;
}
