/* prepare.c - from the caller's arrays to rows of order one.
 *
 *   1. Check: finite numbers, positive row weights, nodes in range.
 *   2. W := diag(sqrt(w)) W, so that everything behind is unweighted.
 *   3. Phi by its longest row, W so that the rows have mean square at most 1; row_scale keeps the product:
 *      M_given sqrt(w) = row_scale M_inner. With targets scaled to mean square 1 as well, numbers stay far from the
 * ends of the exponent range whatever units the data came in, and lambda / row_scale^2 is free of units. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

static sock_status check_sizes(sock_context *ctx, const sk_psd_problem *problem)
{
    if (!problem->n || !problem->p || !problem->nodes)
        return sk_fail(ctx, SOCK_EINPUT,
                       "a diffusion problem needs rows, nodes and features: n = %zu, N = %zu, p = %zu", problem->n,
                       problem->nodes, problem->p);
    if (problem->ld < problem->p)
        return sk_fail(ctx, SOCK_EUSAGE, "rows of features are %zu apart but %zu long", problem->ld, problem->p);
    return SOCK_OK;
}

static sock_status check_rows(sock_context *ctx, const sk_psd_problem *problem)
{
    for (size_t i = 0; i < problem->n; i++) {
        if (problem->row_weight && !(problem->row_weight[i] > 0 && isfinite(problem->row_weight[i])))
            return sk_fail(ctx, SOCK_EINPUT, "row %zu has the weight %g; weights must be positive and finite", i,
                           problem->row_weight[i]);
        for (size_t e = problem->row[i]; e < problem->row[i + 1]; e++) {
            if (problem->node[e] >= problem->nodes)
                return sk_fail(ctx, SOCK_EINPUT, "row %zu refers to node %zu of %zu", i, problem->node[e],
                               problem->nodes);
            if (!isfinite(problem->weight[e]))
                return sk_fail(ctx, SOCK_EINPUT, "row %zu has a quadrature weight that is not finite", i);
        }
    }
    return SOCK_OK;
}

/* |phi_a|^2 of the nodes into square and the longest length into *longest. A dot product that is finite is as good as
 * looking at every number, and far faster. */
static sock_status feature_lengths(sock_context *ctx, const sk_psd_problem *problem, double *square, double *longest)
{
    double most = 0;
    for (size_t a = 0; a < problem->nodes; a++) {
        const double *phi = problem->phi + a * problem->ld;
        square[a] = sk_dot(problem->p, phi, phi);
        most = square[a] > most ? square[a] : most;
        if (isfinite(square[a])) continue;
        for (size_t j = 0; j < problem->p; j++)
            if (!isfinite(phi[j])) return sk_fail(ctx, SOCK_EINPUT, "feature %zu at node %zu is not finite", j, a);
        return sk_fail(ctx, SOCK_EINPUT, "the features at node %zu are too large to be squared; scale the data", a);
    }
    *longest = sqrt(most);
    return SOCK_OK;
}

static sock_status copy_rows(sock_context *ctx, const sk_psd_problem *problem, sk_psd_prepared *out)
{
    size_t entries = problem->row[problem->n] - problem->row[0];
    out->row = sk_alloc(ctx, problem->n + 1, sizeof *out->row);
    out->node = sk_alloc(ctx, entries, sizeof *out->node);
    out->weight = sk_doubles(ctx, entries, 1);
    if (!out->row || !out->node || !out->weight) return SOCK_ENOMEM;
    if (problem->row_weight) {
        out->root_weight = sk_doubles(ctx, problem->n, 1);
        if (!out->root_weight) return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < problem->n; i++) {
        double root = problem->row_weight ? sqrt(problem->row_weight[i]) : 1;
        if (out->root_weight) out->root_weight[i] = root;
        out->row[i] = problem->row[i] - problem->row[0];
        for (size_t e = problem->row[i]; e < problem->row[i + 1]; e++) {
            out->node[e - problem->row[0]] = problem->node[e];
            out->weight[e - problem->row[0]] = root * problem->weight[e];
        }
    }
    out->row[problem->n] = entries;
    return SOCK_OK;
}

static double largest(size_t count, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Root mean square over rows of sum_a |W_ia| |phi_a|^2 >= |M_i|; square: |phi_a|^2 of the nodes. */
static double row_size(const sk_psd_prepared *prepared, const double *square)
{
    double sum = 0;
    for (size_t i = 0; i < prepared->n; i++) {
        double bound = 0;
        for (size_t e = prepared->row[i]; e < prepared->row[i + 1]; e++)
            bound += fabs(prepared->weight[e]) * square[prepared->node[e]];
        sum += bound * bound;
    }
    return sqrt(sum / (double)prepared->n);
}

/* Step 3: the scale of W takes up that of Phi as well. row_scale = 0: all rows are zero. */
static sock_status scale(sock_context *ctx, const sk_psd_problem *problem, sk_psd_prepared *out)
{
    size_t entries = out->row[out->n];
    double *square = sk_doubles(ctx, problem->nodes, 1), longest = 0;
    sock_status status = square ? feature_lengths(ctx, problem, square, &longest) : SOCK_ENOMEM;
    if (status < 0) goto out;
    double weight_scale = largest(entries, out->weight);
    if (!(longest > 0 && weight_scale > 0)) goto out;
    for (size_t a = 0; a < problem->nodes; a++) square[a] /= longest * longest;
    for (size_t e = 0; e < entries; e++) out->weight[e] /= weight_scale;
    double size = row_size(out, square);
    if (!(size > 0)) goto out;
    out->phi_scale = longest;
    out->row_scale = longest * longest * weight_scale * size;
    if (!(out->row_scale > 1e-140 && out->row_scale < 1e140 && longest > 1e-70))
        status = sk_fail(ctx, SOCK_EINPUT,
                         "features and weights of size %g are beyond the range of numbers; scale the "
                         "data",
                         out->row_scale);
    /* Without a rotation nothing scales Phi, so W does it. */
    sk_scale(entries, out->plain ? 1 / (size * longest * longest) : 1 / size, out->weight);
out:
    sk_free(square);
    return status;
}

typedef struct reduction {
    sock_context *ctx;
    sk_psd_prepared *prepared;
} reduction;

static sock_status reduce(void *arg)
{
    reduction *r = arg;
    return sk_psd_reduce_features(r->ctx, r->prepared, false);
}

sock_status sk_psd_prepare(sock_context *ctx, const sk_psd_problem *problem, const sk_psd_options *options,
                           sk_psd_prepared **out)
{
    double start = sk_seconds();
    SK_TRY(check_sizes(ctx, problem));
    SK_TRY(check_rows(ctx, problem));
    sk_psd_prepared *prepared = sk_alloc(ctx, 1, sizeof *prepared);
    if (!prepared) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    prepared->n = problem->n;
    prepared->nodes = problem->nodes;
    prepared->p = prepared->p_given = problem->p;
    prepared->plain = options && options->no_compression;
    prepared->drop = INFINITY;
    prepared->given = problem->phi;
    prepared->given_ld = problem->ld;
    SK_GO(copy_rows(ctx, problem, prepared));
    SK_GO(scale(ctx, problem, prepared));
    if (!prepared->plain && prepared->row_scale > 0) {
        if (options) prepared->lambda_min = options->lambda_min / prepared->row_scale / prepared->row_scale;
        double flops = (double)prepared->nodes * (double)prepared->p * (double)prepared->p;
        reduction r = {ctx, prepared};
        SK_GO(flops < 1e9 ? sk_psd_alone(ctx, reduce, &r) : reduce(&r));
    }
    prepared->seconds = sk_seconds() - start;
    *out = prepared;
    return SOCK_OK;
out:
    sk_psd_prepared_free(prepared);
    return status;
}

sk_psd_map sk_psd_full_map(const sk_psd_prepared *prepared, size_t d)
{
    return (sk_psd_map){.m = prepared->n,
                        .p = prepared->p,
                        .d = d,
                        .phi = prepared->plain ? prepared->given : prepared->phi,
                        .nodes = prepared->nodes,
                        .ld = prepared->plain ? prepared->given_ld : prepared->p,
                        .row = prepared->row,
                        .node = prepared->node,
                        .weight = prepared->weight};
}
