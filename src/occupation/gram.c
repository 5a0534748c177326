/* gram.c - L* = W k(X, X) W' by blocks (paper Algorithm 1, line 2), and Psi = W Phi(X).
 *
 *   1. Cut the intervals into blocks of at most BLOCK intervals that touch at most about BLOCK nodes.
 *   2. For every pair of blocks I >= J, and every pair of node tiles A of I and B of J:
 *      K = k(X_A, X_B);  T = W_IA K;  L_JI += W_JB T'.
 *      Both products add up whole rows, which is why T is transposed between them.
 *   3. L_IJ = L_JI'.
 *
 * Cost: one evaluation of the kernel for each pair of nodes (half of them by symmetry) and O(n^2) additions; the work
 * space is a few tiles for each thread, k(X, X) is never stored. Pairs of blocks are independent: each writes its own
 * two parts of L, so the result does not depend on the number of threads. */
#include "occupation/secondmoments.h"

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

/* target += W_IA source: source has a row for each node a .. a_end-1 and target one for each interval of the block
 * (each row is `width` rows of a matrix-valued kernel). */
static void add_weighted_rows(const gram_job *job, const block *intervals, size_t a, size_t a_end, const double *source,
                              size_t columns, double *target, size_t ld)
{
    const sk_rule *rule = job->rule;
    for (size_t i = intervals->begin; i < intervals->end; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
            size_t node = rule->node[e];
            if (node < a || node >= a_end) continue;
            const double w = rule->weight[e];
            for (size_t k = 0; k < job->width; k++) {
                const double *from = source + ((node - a) * job->width + k) * columns;
                double *to = target + ((i - intervals->begin) * job->width + k) * ld;
                for (size_t c = 0; c < columns; c++) to[c] += w * from[c];
            }
        }
}

/* The work space of one thread. */
typedef struct tiles {
    double *kernel;  /* K, then T': tile nodes x tile nodes, or tile nodes x BLOCK intervals */
    double *reduced; /* T: BLOCK intervals x tile nodes */
    double *scratch; /* of sk_kernel_block */
} tiles;

/* Step 2 for one pair of node tiles. */
static void add_tile(const gram_job *job, const tiles *space, const block *rows, const block *cols, size_t a, size_t b)
{
    const sk_rule *rule = job->rule;
    size_t d = rule->in, q = job->width, intervals = (rows->end - rows->begin) * q;
    size_t a_end = SK_MIN(a + job->tile, rows->node_end), b_end = SK_MIN(b + job->tile, cols->node_end);
    size_t na = a_end - a, nb = b_end - b;
    if (!job->matrix)
        sk_kernel_block(job->ctx, job->kernel, d, na, rule->x + a * d, nb, rule->x + b * d, space->kernel, nb,
                        space->scratch);
    else
        sk_kernel_matrix_block(job->kernel, d, na, rule->x + a * d, nb, rule->x + b * d, space->kernel, nb * q);
    memset(space->reduced, 0, intervals * nb * q * sizeof(double));
    add_weighted_rows(job, rows, a, a_end, space->kernel, nb * q, space->reduced, nb * q);
    sk_transpose(intervals, nb * q, space->reduced, nb * q, space->kernel, intervals);
    add_weighted_rows(job, cols, b, b_end, space->kernel, intervals,
                      job->l + cols->begin * q * job->ld + rows->begin * q, job->ld);
}

/* Steps 2 and 3 for one pair of blocks. */
static void fill_pair(const gram_job *job, const tiles *space, const block *rows, const block *cols)
{
    size_t q = job->width, height = (cols->end - cols->begin) * q, width = (rows->end - rows->begin) * q;
    double *upper = job->l + cols->begin * q * job->ld + rows->begin * q;
    double *lower = job->l + rows->begin * q * job->ld + cols->begin * q;
    for (size_t r = 0; r < height; r++) memset(upper + r * job->ld, 0, width * sizeof *upper);
    for (size_t a = rows->node_begin; a < rows->node_end; a += job->tile)
        for (size_t b = cols->node_begin; b < cols->node_end; b += job->tile) add_tile(job, space, rows, cols, a, b);
    if (rows == cols)
        sk_restore_lower(height, upper, job->ld);
    else
        sk_transpose(height, width, upper, job->ld, lower, job->ld);
}

static sock_status gram_range(void *argument, size_t begin, size_t end, int worker)
{
    const gram_job *job = argument;
    size_t tile = job->tile * job->width;
    tiles space = {.kernel = job->space + (size_t)worker * job->space_size};
    space.reduced = space.kernel + tile * SK_MAX(tile, BLOCK * job->width);
    space.scratch = space.reduced + BLOCK * job->width * tile;
    for (size_t number = begin; number < end; number++) {
        size_t i, j;
        pair_of(number, &i, &j);
        fill_pair(job, &space, &job->cut.at[i], &job->cut.at[j]);
    }
    return SOCK_OK;
}

static sock_status gram(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, bool matrix, double *l,
                        size_t ld)
{
    size_t width = matrix ? rule->in : 1;
    gram_job job = {.ctx = ctx, .rule = rule, .kernel = kernel, .matrix = matrix, .width = width, .l = l, .ld = ld};
    job.tile = SK_MAX(BLOCK / width, 8); /* speed only */
    size_t tile = job.tile * width;
    job.space_size =
        tile * SK_MAX(tile, BLOCK * width) + BLOCK * width * tile + (sk_kernel_space(rule->in, job.tile) + 7) / 8 * 8;
    sock_status status = SOCK_OK;
    SK_GO(cut(ctx, rule, job.tile, &job.cut));
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_size);
    if (!job.space) {
        status = SOCK_ENOMEM;
        goto out;
    }
    SK_GO(sk_parallel_for(ctx, job.cut.count * (job.cut.count + 1) / 2, 1, gram_range, &job));
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

static sock_status features_at_nodes(sock_context *ctx, const sk_rule *rule, const sk_features *map, size_t begin,
                                     size_t end, double *psi, size_t ld)
{
    size_t p = sk_features_count(map), low = SIZE_MAX, high = 0;
    for (size_t e = rule->row[begin]; e < rule->row[end]; e++) {
        low = SK_MIN(low, rule->node[e]);
        high = SK_MAX(high, rule->node[e] + 1);
    }
    double *phi = sk_doubles_unset(ctx, high - low, p);
    if (!phi) return SOCK_ENOMEM;
    sock_status status = sk_features_eval(ctx, map, high - low, rule->x + low * rule->in, phi, p);
    for (size_t i = begin; status >= 0 && i < end; i++) {
        double *target = psi + (i - begin) * ld;
        memset(target, 0, p * sizeof *target);
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
            sk_axpy(p, rule->weight[e], phi + (rule->node[e] - low) * p, target);
    }
    sk_free(phi);
    return status;
}

sock_status sk_occupation_features(sock_context *ctx, const sk_rule *rule, const sk_features *map, size_t begin,
                                   size_t end, double *psi, size_t ld)
{
    sk_quadratic q;
    if (begin == end) return SOCK_OK;
    SK_TRY(sk_quadratic_new(ctx, map, rule->in, &q));
    if (!q.p) return features_at_nodes(ctx, rule, map, begin, end, psi, ld);
    sock_status status = sk_quadratic_features(ctx, rule, &q, begin, end, psi, ld);
    sk_quadratic_clear(&q);
    return status;
}
