/* psd.c - one solve from targets to result: scale, choose the coordinates, run the solver, certify, scale back.
 *
 *   1. Targets to inner units: pairs x n, times sqrt(w), mean square 1. All zero: Q = 0.
 *   2. Coordinates: compressed rows where they are small; levels of features (Newton) where the matrix is large; else
 *      the rows through Phi and W.
 *   3. The solver, from the warm start or from the solution without the constraint.
 *   4. The dual point in all n rows, b = U y - (2/n)(z - U U' z), and there S, Q, P, D and the gap with the full
 *      operator: the certificate does not know of the compression. If the compression turns out to have been too
 *      coarse, once more with an exact one.
 *   5. Q = V V' in the features as given. */
#include "levels.h"
#include "psdinner.h"

#include <math.h>
#include <string.h>

/* Compressing costs the cube of the rows that are left; levels do without from LEVELS_ROWS on, several targets together
 * sooner. Methods other than Newton's have no levels. */
enum { COMPRESSED_MOST = 2500, LEVELS_ROWS = 1000, LEVELS_ROWS_TOGETHER = 450, LEVELS_ORDER = 300 };
static const double COLD_LAMBDA = 1e-3, TINY_LAMBDA = 1e-8;

static const char *const solver_names[] = {"newton",        "lbfgs",    "fista",
                                           "fista-restart", "projgrad", "projgrad-accelerated"};
enum { NEWTON, LBFGS, FISTA, FISTA_RESTART, PROJGRAD, PROJGRAD_ACCELERATED, SOLVERS };

/* One solve on its way. */
typedef struct solve {
    sock_context *ctx;
    sk_psd_prepared *prepared;
    int solver;
    size_t d, pairs, n;
    double lambda, tolerance, deadline; /* inner units */
    size_t max_iterations;
    double z_scale;
    double *z;           /* pairs x n targets, inner units */
    double *start;       /* pairs x n dual point to start from, or NULL */
    double start_lambda; /* it belongs to (inner units); without a start, where a start from nothing is safe */
    sk_psd_inner full;
    sk_psd_point at; /* the answer, in all rows */
    sk_psd_effort effort;
    size_t iterations, rows;
} solve;

static void solve_clear(solve *s)
{
    sk_free(s->z);
    sk_free(s->start);
    sk_psd_map_clear(&s->full.map);
    sk_eigen_free(s->full.eigen);
    sk_psd_point_clear(&s->at);
}

/* ---- Step 1 ---- */

static sock_status find_solver(sock_context *ctx, const char *name, int *out)
{
    for (int i = 0; i < SOLVERS; i++)
        if (!name || strcmp(name, solver_names[i]) == 0) {
            *out = i;
            return SOCK_OK;
        }
    return sk_fail(ctx, SOCK_EUSAGE,
                   "unknown solver \"%s\"; one of newton, lbfgs, fista, fista-restart, projgrad, projgrad-accelerated",
                   name);
}

static double root_weight(const sk_psd_prepared *prepared, size_t i)
{
    return prepared->root_weight ? prepared->root_weight[i] : 1;
}

/* pairs x n from n x d x d, each row times factor_i = (up ? sqrt(w) : 1/sqrt(w)) / scale. */
static void to_pairs(const sk_psd_prepared *prepared, size_t d, const double *z, bool up, double scale, double *out)
{
    size_t n = prepared->n;
    for (size_t l = 0; l < d; l++)
        for (size_t k = 0; k <= l; k++, out += n)
            for (size_t i = 0; i < n; i++) {
                double root = root_weight(prepared, i), factor = up ? root : 1 / root;
                double both = 0.5 * (z[(i * d + k) * d + l] / scale) + 0.5 * (z[(i * d + l) * d + k] / scale);
                out[i] = factor * both * (k < l ? SK_ROOT_TWO : 1);
            }
}

static sock_status scale_targets(solve *s, const double *z)
{
    size_t count = s->n * s->d * s->d;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(z[i])) return sk_fail(s->ctx, SOCK_EINPUT, "a target of the diffusion problem is not finite");
        most = fmax(most, fabs(z[i]));
    }
    s->z = sk_doubles(s->ctx, s->pairs, s->n);
    if (!s->z) return SOCK_ENOMEM;
    if (!(most > 0)) return SOCK_OK;
    to_pairs(s->prepared, s->d, z, true, most, s->z);
    double size = sk_norm(s->pairs * s->n, s->z) / sqrt((double)s->n);
    if (!(size > 0)) return SOCK_OK; /* antisymmetric */
    sk_scale(s->pairs * s->n, 1 / size, s->z);
    s->z_scale = most * size;
    return SOCK_OK;
}

/* Everything but the targets. */
static sock_status set_limits(solve *s, const sk_psd_target *target, const sk_psd_options *options)
{
    double begin = sk_seconds();
    if (!(target->lambda > 0 && isfinite(target->lambda)) || !target->d)
        return sk_fail(s->ctx, SOCK_EUSAGE, "lambda must be positive and finite, d at least 1: lambda = %g, d = %zu",
                       target->lambda, target->d);
    SK_TRY(find_solver(s->ctx, options ? options->solver : NULL, &s->solver));
    s->n = s->prepared->n;
    s->d = target->d;
    s->pairs = s->d * (s->d + 1) / 2;
    s->tolerance = options && options->tolerance > 0 ? options->tolerance : SK_PSD_TOLERANCE;
    s->max_iterations = options && options->max_iterations ? options->max_iterations
                        : s->solver == NEWTON              ? 200
                                                           : 100000;
    s->deadline = options && options->seconds > 0 ? begin + options->seconds : 0;
    double scale = s->prepared->row_scale;
    s->lambda = scale > 0 ? target->lambda / scale / scale : 1;
    if (!(s->lambda > 1e-100 && s->lambda < 1e100))
        return sk_fail(s->ctx, SOCK_EUSAGE, "lambda = %g is out of proportion to the features (their square is %g)",
                       target->lambda, scale * scale);
    s->start_lambda = COLD_LAMBDA;
    return SOCK_OK;
}

static sock_status setup(solve *s, const sk_psd_target *target, const sk_psd_options *options,
                         const sk_psd_result *warm)
{
    double scale = s->prepared->row_scale;
    SK_TRY(set_limits(s, target, options));
    SK_TRY(scale_targets(s, target->z));
    if (warm && s->z_scale > 0 && warm->n == s->n && warm->d == s->d) {
        s->start = sk_doubles(s->ctx, s->pairs, s->n);
        if (!s->start) return SOCK_ENOMEM;
        to_pairs(s->prepared, s->d, warm->beta, false, s->z_scale, s->start);
        s->start_lambda = fmax(warm->lambda / scale / scale, s->lambda);
    }
    return SOCK_OK;
}

/* ---- Steps 2 and 3 ---- */

static sock_status run_solver(sock_context *ctx, int solver, sk_psd_inner *inner, sk_psd_point *point)
{
    switch (solver) {
    case LBFGS: return sk_psd_lbfgs(ctx, inner, point);
    case FISTA: return sk_psd_fista(ctx, inner, false, point);
    case FISTA_RESTART: return sk_psd_fista(ctx, inner, true, point);
    case PROJGRAD: return sk_psd_projgrad(ctx, inner, false, point);
    case PROJGRAD_ACCELERATED: return sk_psd_projgrad(ctx, inner, true, point);
    default: return sk_psd_newton(ctx, inner, point);
    }
}

static void fill_inner(const solve *s, double tolerance, sk_psd_inner *inner)
{
    inner->n = s->n;
    inner->lambda = s->lambda;
    inner->tolerance = tolerance;
    inner->max_iterations = s->max_iterations;
    inner->deadline = s->deadline;
    inner->iterations = s->iterations;
}

/* Newton's method from afar at a small lambda zigzags: each eigenvalue that changes sign costs a step. Following lambda
 * down by decades, loosely, it needs a few steps for each. */
static sock_status follow_lambda(solve *s, sk_psd_inner *inner, sk_psd_point *point)
{
    double goal = inner->lambda, tolerance = inner->tolerance;
    sock_status status = SOCK_OK;
    inner->tolerance = 1e-2;
    for (double lambda = s->start_lambda / 10; lambda > 2 * goal && status >= 0; lambda /= 10) {
        inner->lambda = lambda;
        status = sk_psd_newton(s->ctx, inner, point);
    }
    inner->lambda = goal;
    inner->tolerance = tolerance;
    return status < 0 ? status : SOCK_OK;
}

/* Newton's method may stall where rounding spoils its systems; the quasi-Newton method goes on from there. */
static sock_status run_with_fallback(solve *s, sk_psd_inner *inner, sk_psd_point *point)
{
    if (s->solver == NEWTON) SK_TRY(follow_lambda(s, inner, point));
    sock_status status = run_solver(s->ctx, s->solver, inner, point);
    bool time_left = inner->deadline <= 0 || sk_seconds() < inner->deadline;
    if (status == SOCK_NOT_CONVERGED && s->solver == NEWTON && inner->iterations < inner->max_iterations && time_left) {
        if (!inner->s2 && !(inner->norm2 > 0)) SK_TRY(sk_psd_map_norm2(s->ctx, &inner->map, &inner->norm2));
        status = sk_psd_lbfgs(s->ctx, inner, point);
    }
    s->iterations = inner->iterations;
    return status;
}

/* The rows through Phi and W: s->at is evaluated at the answer. */
static sock_status solve_full(solve *s)
{
    size_t length = s->pairs * s->n;
    fill_inner(s, s->tolerance, &s->full);
    s->rows = s->n;
    if (s->start) memcpy(s->at.y, s->start, length * sizeof *s->start);
    if (s->solver != NEWTON) SK_TRY(sk_psd_map_norm2(s->ctx, &s->full.map, &s->full.norm2));
    return run_with_fallback(s, &s->full, &s->at);
}

/* s->at.y := U y - (2/n)(z - U U' z). */
static sock_status lift(solve *s, const sk_psd_inner *inner, const double *y, double *work)
{
    size_t length = inner->map.pairs * inner->map.m;
    double twice = 2 / (double)s->n;
    for (size_t i = 0; i < length; i++) work[i] = y[i] + twice * inner->t[i];
    SK_TRY(sk_psd_expand_rows(s->ctx, s->prepared, s->pairs, work, s->at.y));
    sk_axpy(s->pairs * s->n, -twice, s->z, s->at.y);
    return SOCK_OK;
}

/* Where the compressed rows start: at the projection of an earlier point, or at the solution without the constraint. */
static sock_status compressed_start(const solve *s, const double *t, double *y)
{
    const sk_psd_prepared *prepared = s->prepared;
    const size_t m = prepared->m;
    const double first = s->solver == NEWTON ? fmax(s->lambda, COLD_LAMBDA / 10) : s->lambda;
    if (s->start) return sk_psd_project_rows(s->ctx, prepared, s->pairs, s->start, y);
    for (size_t i = 0; i < s->pairs * m; i++) y[i] = -t[i] / ((double)s->n / 2 + prepared->s2[i % m] / (2 * first));
    return SOCK_OK;
}

/* The compressed rows: only s->at.y is set. */
static sock_status solve_compressed(solve *s, double tolerance)
{
    const sk_psd_prepared *prepared = s->prepared;
    size_t m = prepared->m, length = s->pairs * m;
    sk_psd_point point = {0};
    double *t = sk_doubles(s->ctx, length, 1), *work = sk_doubles(s->ctx, length, 1);
    sk_psd_inner inner = {.map = {.m = m,
                                  .p = prepared->p,
                                  .d = s->d,
                                  .pairs = s->pairs,
                                  .c = prepared->c,
                                  .h = prepared->h,
                                  .first = prepared->first,
                                  .second = prepared->second},
                          .t = t,
                          .s2 = prepared->s2,
                          .norm2 = m ? prepared->s2[0] : 0,
                          .eigen = s->full.eigen,
                          .effort = &s->effort};
    sock_status status = t && work ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    fill_inner(s, tolerance, &inner);
    s->rows = m;
    SK_GO(sk_psd_map_work(s->ctx, &inner.map));
    SK_GO(sk_psd_point_new(s->ctx, &inner.map, &point));
    SK_GO(sk_psd_project_rows(s->ctx, prepared, s->pairs, s->z, t));
    const double inside = sk_norm(length, t);
    inner.rest = fmax((double)s->n - inside * inside, 0); /* |z|^2 = n */
    SK_GO(compressed_start(s, t, point.y));
    SK_GO(run_with_fallback(s, &inner, &point));
    sock_status outcome = status;
    SK_GO(lift(s, &inner, point.y, work));
    status = outcome;
out:
    sk_psd_map_clear(&inner.map);
    sk_psd_point_clear(&point);
    sk_free(t);
    sk_free(work);
    return status;
}

/* Step 4: everything at s->at.y with the full operator. */
static sock_status certify(solve *s)
{
    double begin = sk_seconds();
    sk_psd_effort unused = {0};
    s->full.effort = &unused;
    fill_inner(s, s->tolerance, &s->full);
    SK_TRY(sk_psd_evaluate(s->ctx, &s->full, &s->at));
    s->full.effort = &s->effort;
    s->effort.certificate += sk_seconds() - begin;
    return SOCK_OK;
}

/* The full operator's work space, for the features as they are now. */
static sock_status open_full(solve *s)
{
    sk_psd_map_clear(&s->full.map);
    sk_eigen_free(s->full.eigen);
    s->full.eigen = NULL;
    sk_psd_point_clear(&s->at);
    s->full.map = sk_psd_full_map(s->prepared, s->d);
    s->full.t = s->z;
    s->full.effort = &s->effort;
    double D = (double)s->prepared->p * (double)s->d;
    SK_TRY(sk_memory_check(s->ctx, 8 * 12 * D * D, "the matrices of the diffusion problem", "fewer features"));
    SK_TRY(sk_eigen_new(s->ctx, s->prepared->p * s->d, &s->full.eigen));
    SK_TRY(sk_psd_map_work(s->ctx, &s->full.map));
    return sk_psd_point_new(s->ctx, &s->full.map, &s->at);
}

static bool out_of_budget(const solve *s)
{
    return s->iterations >= s->max_iterations || (s->deadline > 0 && sk_seconds() > s->deadline);
}

/* The next attempt starts where this one ended. */
static sock_status keep_as_start(solve *s)
{
    if (!s->start) s->start = sk_doubles(s->ctx, s->pairs, s->n);
    if (!s->start) return SOCK_ENOMEM;
    memcpy(s->start, s->at.y, s->pairs * s->n * sizeof *s->start);
    s->start_lambda = s->lambda;
    return SOCK_OK;
}

/* Compressed, at first as coarsely as lambda and tolerance allow; the certificate decides whether that was enough. */
static sock_status solve_by_compression(solve *s)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        double begin = sk_seconds();
        SK_TRY(sk_psd_compress(s->ctx, s->prepared, s->lambda, s->tolerance, attempt == 1));
        s->effort.prepare += sk_seconds() - begin;
        SK_TRY(open_full(s));
        SK_TRY(solve_compressed(s, attempt ? 0.3 * s->tolerance : 0.7 * s->tolerance));
        SK_TRY(certify(s));
        if (sk_psd_done(&s->full, &s->at) || out_of_budget(s)) break;
        SK_TRY(keep_as_start(s));
    }
    return SOCK_OK;
}

static sock_status compression_task(void *arg) { return solve_by_compression(arg); }

static sock_status levels_of(solve *const *all, size_t count, sk_psd_inner **full, sk_psd_point **point)
{
    for (size_t i = 0; i < count; i++) {
        solve *s = all[i];
        SK_TRY(open_full(s));
        fill_inner(s, s->tolerance, &s->full);
        s->rows = s->n;
        full[i] = &s->full;
        point[i] = &s->at;
    }
    return sk_psd_levels(all[0]->ctx, all[0]->prepared, count, full, point);
}

static size_t rows_if_compressed(const solve *s)
{
    return s->prepared->plain ? 0 : sk_psd_compressed_size(s->prepared, s->lambda, s->tolerance);
}

/* What levels left undone, from their last point: compressed, or by the quasi-Newton method in all rows. */
static sock_status finish_levels(solve *s)
{
    if (rows_if_compressed(s) <= COMPRESSED_MOST) {
        SK_TRY(keep_as_start(s));
        return solve_by_compression(s);
    }
    SK_TRY(sk_psd_map_norm2(s->ctx, &s->full.map, &s->full.norm2));
    SK_TRY(sk_psd_lbfgs(s->ctx, &s->full, &s->at));
    s->iterations = s->full.iterations;
    return SOCK_OK;
}

/* Newton by levels, for count problems of the same d and lambda. */
static sock_status solve_by_levels(solve *const *all, size_t count)
{
    sock_context *ctx = all[0]->ctx;
    sk_psd_inner **full = sk_alloc(ctx, count, sizeof(sk_psd_inner *));
    sk_psd_point **point = sk_alloc(ctx, count, sizeof(sk_psd_point *));
    sock_status status = full && point ? levels_of(all, count, full, point) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        solve *s = all[i];
        s->iterations = s->full.iterations;
        if (!sk_psd_done(&s->full, &s->at) && !out_of_budget(s)) status = finish_levels(s);
    }
    sk_free(full);
    sk_free(point);
    return status < 0 ? status : SOCK_OK;
}

/* parts: how many would be solved together. At tiny lambda the preconditioner of the levels wears out; compressed rows,
 * where there is room for them, do not mind. */
static bool by_levels(const solve *s, size_t parts)
{
    size_t rows = rows_if_compressed(s), most = parts > 1 ? LEVELS_ROWS_TOGETHER : LEVELS_ROWS;
    if (s->prepared->plain || s->solver != NEWTON) return false;
    return rows > COMPRESSED_MOST || (rows > most && s->lambda > TINY_LAMBDA) || s->prepared->p * s->d > LEVELS_ORDER;
}

/* Before any work: either the rows B (n x q) with the Gram matrix of the fewer side and its vectors, or the panels and
 * sums of all threads with the leading block of B'B; and the matrices of order pd. p is what the reduction has left. */
static sock_status check_memory(const solve *s, size_t parts)
{
    double n = (double)s->prepared->n, p = (double)s->prepared->p, d = (double)s->d;
    double q = 0.5 * p * (p + 1), rows = fmin(n, q), pairs = 0.5 * d * (d + 1), workers = (double)sk_workers(s->ctx);
    double order = p * d, numbers = 6 * order * order;
    if (by_levels(s, parts)) {
        double block = (double)sk_level_pairs(s->prepared, s->lambda, SK_LEVEL_EPS);
        numbers =
            (double)parts * (7 * order * order + 4 * pairs * q) + 2 * block * block + workers * q * (96 + 1.5 * pairs);
    } else if (!s->prepared->plain && rows <= COMPRESSED_MOST) {
        numbers += n * q + 3 * rows * rows + n * rows;
    }
    return sk_memory_check(s->ctx, 8 * numbers, "the convex problem",
                           "use fewer features, --diagonal, or a kernel of lower rank");
}

static sock_status choose_and_solve(solve *s)
{
    size_t rows = rows_if_compressed(s);
    SK_TRY(check_memory(s, 1));
    if (by_levels(s, 1)) return solve_by_levels(&s, 1);
    if (!s->prepared->plain && rows <= COMPRESSED_MOST)
        return rows <= SK_PSD_ALONE_ROWS ? sk_psd_alone(s->ctx, compression_task, s) : solve_by_compression(s);
    SK_TRY(open_full(s));
    return solve_full(s);
}

/* ---- Step 5 ---- */

static sock_status result_new(sock_context *ctx, const solve *s, size_t rank, sk_psd_result **out)
{
    sk_psd_result *result = sk_alloc(ctx, 1, sizeof *result);
    if (!result) return SOCK_ENOMEM;
    result->n = s->n;
    result->p = s->prepared->p_given;
    result->d = s->d;
    result->rank = rank;
    result->solver = solver_names[s->solver];
    result->lambda = s->lambda * s->prepared->row_scale * s->prepared->row_scale;
    result->factor = sk_doubles(ctx, result->p * s->d, rank);
    result->values = sk_doubles(ctx, rank, 1);
    result->beta = sk_doubles(ctx, s->n, s->d * s->d);
    if (result->factor && result->values && result->beta) {
        *out = result;
        return SOCK_OK;
    }
    sk_psd_result_free(result);
    return SOCK_ENOMEM;
}

void sk_psd_result_free(sk_psd_result *result)
{
    if (!result) return;
    sk_free(result->factor);
    sk_free(result->values);
    sk_free(result->beta);
    sk_free(result->point);
    sk_free(result);
}

sock_status sk_psd_verdict(sock_context *ctx, const sk_psd_result *result, double tolerance)
{
    if (result->converged) return SOCK_OK;
    return sk_fail(ctx, SOCK_NOT_CONVERGED,
                   "%s stopped after %zu iterations with a relative duality gap of %.3g; %.3g was asked for",
                   result->solver, result->iterations, result->gap / result->primal, tolerance);
}

/* beta_i = sqrt(w_i) z_scale y_i, back to n x d x d. */
static void fill_beta(const solve *s, const double *y, double *beta)
{
    size_t d = s->d, n = s->n;
    for (size_t l = 0; l < d; l++)
        for (size_t k = 0; k <= l; k++, y += n)
            for (size_t i = 0; i < n; i++)
                beta[(i * d + k) * d + l] = beta[(i * d + l) * d + k] =
                    root_weight(s->prepared, i) * s->z_scale * y[i] * (k < l ? SK_ROOT_HALF : 1);
}

/* V = rotation times the scaled eigenvectors, block by block. */
static sock_status fill_factor(const solve *s, sk_psd_result *result)
{
    const sk_psd_prepared *prepared = s->prepared;
    size_t p = prepared->p, D = p * s->d, rank = result->rank;
    double scale = s->z_scale / prepared->row_scale / (2 * s->lambda);
    double *rows = sk_doubles(s->ctx, rank, D);
    if (!rows) return SOCK_ENOMEM;
    for (size_t j = 0; j < rank; j++) {
        result->values[j] = s->at.values[D - 1 - j] * scale;
        double root = sqrt(result->values[j]);
        for (size_t i = 0; i < D; i++) rows[j * D + i] = root * s->at.e[(D - 1 - j) * D + i];
    }
    for (size_t k = 0; k < s->d; k++) {
        double *block = result->factor + k * prepared->p_given * rank;
        if (prepared->rotation)
            sk_gemm(s->ctx, SK_PLAIN, SK_TRANSPOSED, prepared->p_given, rank, p, 1, prepared->rotation, p, rows + k * p,
                    D, 0, block, rank);
        else
            for (size_t a = 0; a < p; a++)
                for (size_t j = 0; j < rank; j++) block[a * rank + j] = rows[j * D + k * p + a];
    }
    sk_free(rows);
    return SOCK_OK;
}

typedef struct factor_task {
    const solve *s;
    sk_psd_result *result;
} factor_task;

static sock_status fill_factor_task(void *arg)
{
    const factor_task *t = arg;
    return fill_factor(t->s, t->result);
}

static sock_status make_result(const solve *s, sk_psd_result **out)
{
    size_t D = s->prepared->p * s->d, rank = 0;
    while (rank < s->at.positive && s->at.values[D - 1 - rank] > 1e-14 * s->at.values[D - 1]) rank++;
    sk_psd_result *result = NULL;
    SK_TRY(result_new(s->ctx, s, rank, &result));
    sock_status status = sk_psd_alone(s->ctx, fill_factor_task, &(factor_task){s, result});
    if (status < 0) {
        sk_psd_result_free(result);
        return status;
    }
    fill_beta(s, s->at.y, result->beta);
    result->primal = s->at.primal * s->z_scale * s->z_scale;
    result->dual = -s->at.objective * s->z_scale * s->z_scale;
    result->gap = s->at.gap * s->z_scale * s->z_scale;
    result->converged = sk_psd_done(&s->full, &s->at);
    result->iterations = s->iterations;
    result->rows = s->rows;
    result->effort = s->effort;
    *out = result;
    return SOCK_OK;
}

/* Targets or rows that are all zero: Q = 0 is the answer, beta = -(2/n) w z certifies it. */
static sock_status make_zero_result(const solve *s, sk_psd_result **out)
{
    SK_TRY(result_new(s->ctx, s, 0, out));
    size_t length = s->pairs * s->n;
    sk_psd_result *result = *out;
    sk_scale(length, -2 / (double)s->n, s->z);
    fill_beta(s, s->z, result->beta);
    result->primal = result->dual = s->z_scale * s->z_scale; /* |z|^2 / n = 1 in inner units, or 0 */
    result->converged = true;
    return SOCK_OK;
}

static bool is_zero(const solve *s) { return !(s->z_scale > 0) || !(s->prepared->row_scale > 0); }

/* The result of a solve that took so many seconds, and how it ended. */
static sock_status close_solve(const solve *s, double seconds, sk_psd_result **out)
{
    SK_TRY(is_zero(s) ? make_zero_result(s, out) : make_result(s, out));
    (*out)->effort.total = seconds;
    return sk_psd_verdict(s->ctx, *out, s->tolerance);
}

sock_status sk_psd_solve(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_target *target,
                         const sk_psd_options *options, const sk_psd_result *warm, sk_psd_result **out)
{
    solve s = {.ctx = ctx, .prepared = prepared};
    double begin = sk_seconds();
    sock_status status = SOCK_OK;
    SK_GO(setup(&s, target, options, warm));
    if (!is_zero(&s)) SK_GO(choose_and_solve(&s));
    status = close_solve(&s, sk_seconds() - begin, out);
out:
    solve_clear(&s);
    return status;
}

/* ---- Several targets ---- */

static sk_psd_target target_of(const sk_psd_prepared *prepared, const sk_psd_targets *targets, size_t part,
                               double lambda)
{
    size_t d = targets->d;
    return (sk_psd_target){.d = d, .z = targets->z + part * prepared->n * d * d, .lambda = lambda};
}

/* All parts by levels: s has room for them. Each gets the time of all of them. */
static sock_status solve_together(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_targets *targets,
                                  double lambda, const sk_psd_options *options, solve *s, sk_psd_result **out)
{
    double begin = sk_seconds(), parts = (double)targets->parts;
    solve **list = sk_alloc(ctx, targets->parts, sizeof(solve *));
    size_t count = 0;
    sock_status status = list ? SOCK_OK : SOCK_ENOMEM, worst = SOCK_OK;
    if (status < 0) return status;
    for (size_t k = 0; k < targets->parts; k++) {
        sk_psd_target target = target_of(prepared, targets, k, lambda);
        s[k] = (solve){.ctx = ctx, .prepared = prepared};
        SK_GO(setup(&s[k], &target, options, NULL));
        if (s[k].deadline > 0) s[k].deadline = begin + parts * options->seconds;
        if (!is_zero(&s[k])) list[count++] = &s[k];
    }
    if (count) SK_GO(check_memory(list[0], count));
    if (count) SK_GO(solve_by_levels(list, count));
    double seconds = (sk_seconds() - begin) / parts;
    for (size_t k = 0; k < targets->parts; k++) {
        SK_GO(close_solve(&s[k], seconds, &out[k]));
        worst = SK_MAX(worst, status);
    }
    status = worst;
out:
    sk_free(list);
    return status;
}

/* The parts for one lambda. out: parts pointers, NULL on entry; on failure some may be set. */
static sock_status solve_parts(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_targets *targets,
                               double lambda, const sk_psd_options *options, sk_psd_result *const *warm,
                               sk_psd_result **out)
{
    size_t parts = targets->parts;
    sock_status worst = SOCK_OK;
    sk_psd_target first = target_of(prepared, targets, 0, lambda);
    solve probe = {.ctx = ctx, .prepared = prepared};
    SK_TRY(set_limits(&probe, &first, options));
    if (parts > 1 && prepared->row_scale > 0 && by_levels(&probe, parts)) {
        solve *s = sk_alloc(ctx, parts, sizeof *s);
        if (!s) return SOCK_ENOMEM;
        worst = solve_together(ctx, prepared, targets, lambda, options, s, out);
        for (size_t k = 0; k < parts; k++) solve_clear(&s[k]);
        sk_free(s);
        return worst;
    }
    for (size_t k = 0; k < parts; k++) {
        sk_psd_target target = target_of(prepared, targets, k, lambda);
        sock_status status = sk_psd_solve(ctx, prepared, &target, options, warm ? warm[k] : NULL, &out[k]);
        if (status < 0) return status;
        worst = SK_MAX(worst, status);
    }
    return worst;
}

/* ---- Several lambdas ---- */

/* Places of the lambdas from the largest to the smallest. */
static void sort_falling(size_t count, const double *lambda, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = i;
        for (; j > 0 && lambda[order[j - 1]] < lambda[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
}

sock_status sk_psd_paths(sock_context *ctx, sk_psd_prepared *prepared, const sk_psd_targets *targets,
                         const sk_psd_options *options, size_t count, const double *lambda, sk_psd_result **out)
{
    size_t parts = targets->parts, *order = sk_alloc(ctx, count, sizeof *order);
    sock_status status = SOCK_OK, worst = SOCK_OK;
    for (size_t i = 0; i < count * parts; i++) out[i] = NULL;
    if (!order) return SOCK_ENOMEM;
    sort_falling(count, lambda, order);
    for (size_t i = 0; i < count; i++) {
        sk_psd_result **warm = i ? out + order[i - 1] * parts : NULL;
        SK_GO(solve_parts(ctx, prepared, targets, lambda[order[i]], options, warm, out + order[i] * parts));
        worst = SK_MAX(worst, status);
    }
    status = worst;
out:
    if (status < 0)
        for (size_t i = 0; i < count * parts; i++) {
            sk_psd_result_free(out[i]);
            out[i] = NULL;
        }
    sk_free(order);
    return status;
}

void sk_psd_dense(sock_context *ctx, const sk_psd_result *result, double *q)
{
    size_t D = result->p * result->d;
    memset(q, 0, D * D * sizeof *q);
    if (!result->rank) return;
    sk_syrk(ctx, SK_PLAIN, D, result->rank, 1, result->factor, result->rank, 0, q, D);
    sk_symmetrise(D, q, D);
}
