/* driftsystem.c - the rows of the drift: chooses the form, builds L* or Psi'Psi, and solves for any lambda.
 *
 *   1. Form: a matrix-valued kernel gives the nd x nd system; a kernel with finite features the explicit form; any
 * other the implicit form, first by pivoted features, and by the full n x n system when their rank is not small.
 *   2. Rows: L* = W k(X, X) W', or H = Psi'Psi and g = Psi'dy, block by block of intervals.
 *   3. Solve: (A + n lambda I) s = b with A = L*, b = dy or A = H, b = g. One lambda: Cholesky, n^3/3. Many: A = U'SU
 * once, then s = U' (S + n lambda)^-1 U b for each.
 *   4. Term: c = W' alpha on the nodes; pivoted features turn into a kernel expansion on the pivots, c = L_pp^-T w.
 *
 * Cost: exact N^2 kernel values and n^3/3; pivoted N r^2; explicit n p^2 and p^3/3, memory p^2. */
#include "base/plugins.h"
#include "drift/drift.h"
#include "drift/driftsums.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum method { EXACT, PIVOTED, FEATURES, MATRIX } method;

struct sk_drift_system {
    const sk_rule *rule;
    sk_kernel *kernel;
    sk_drift_report report;
    method how;
    sk_features *map;   /* PIVOTED, FEATURES */
    size_t order, cols; /* A is order x order, b is order x cols */
    sk_plugin *device;  /* makes and solves the full system; a, diagonal: NULL */
    sk_device_term *term;
    double *a;        /* both triangles; a factorisation uses the lower one, the upper keeps the matrix */
    bool factored;    /* the lower triangle of a and its diagonal are a factor */
    double *diagonal; /* of A */
    double *b;
    double *spectrum; /* once made: A = vectors' diag(spectrum) vectors in a; rotated = vectors b */
    double *rotated;
};

static const char *const way_out =
    "use --drift-form nystrom, a kernel with features such as fourier:p=300, or fewer intervals";

/* ---- Step 2: rows ---- */

/* matrices: of the size of A that are needed at the same time, A included. */
static sock_status check_memory(sock_context *ctx, size_t order, size_t matrices)
{
    char what[96];
    snprintf(what, sizeof what, "the drift system of %zu x %zu numbers", order, order);
    return sk_memory_check(ctx, 8.0 * (double)matrices * (double)order * (double)order, what, way_out);
}

/* A where there is none yet, b and the diagonal. */
static sock_status allocate_system(sock_context *ctx, sk_drift_system *s, size_t order, size_t cols)
{
    s->order = order;
    s->cols = cols;
    s->report.rank = order;
    if (!s->a) SK_TRY(check_memory(ctx, order, 1));
    if (!s->a) s->a = sk_doubles_unset(ctx, order, order);
    s->b = sk_doubles(ctx, order, cols);
    s->diagonal = sk_doubles(ctx, order, 1);
    return s->a && s->b && s->diagonal ? SOCK_OK : SOCK_ENOMEM;
}

/* Where a device makes the system from the points, the host has its right-hand sides alone. */
static sock_status build_elsewhere(sock_context *ctx, sk_drift_system *s)
{
    const sk_rule *rule = s->rule;
    s->device = sk_device_for(ctx, SK_EXACT, (double)rule->n, SK_DEVICE_EXACT);
    s->term = s->device ? sk_kernel_device_terms(ctx, s->kernel) : NULL;
    if (s->device && !s->term) {
        s->device = NULL;
        if (sock_message(ctx)[0]) return SOCK_ENOMEM;
    }
    if (!s->device) return SOCK_OK;
    s->order = s->report.rank = rule->n;
    s->cols = rule->out;
    s->b = sk_doubles(ctx, rule->n, rule->out);
    if (s->b) memcpy(s->b, rule->dy, rule->n * rule->out * sizeof(double));
    return s->b ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status build_exact(sock_context *ctx, sk_drift_system *s)
{
    const sk_rule *rule = s->rule;
    if (!s->b) SK_TRY(build_elsewhere(ctx, s));
    if (s->device) return SOCK_OK;
    sk_free(s->b);
    SK_TRY(allocate_system(ctx, s, rule->n, rule->out));
    memcpy(s->b, rule->dy, rule->n * rule->out * sizeof(double));
    return sk_occupation_gram(ctx, rule, s->kernel, s->a, rule->n);
}

/* The nd unknowns of interval i stand together, as in the paper's block system: b is dy as it is. */
static sock_status build_matrix(sock_context *ctx, sk_drift_system *s)
{
    const sk_rule *rule = s->rule;
    size_t order;
    SK_TRY(sk_product(ctx, rule->n, rule->out, &order));
    SK_TRY(allocate_system(ctx, s, order, 1));
    memcpy(s->b, rule->dy, order * sizeof(double));
    return sk_occupation_matrix_gram(ctx, rule, s->kernel, s->a, order);
}

/* H = Psi'Psi and g = Psi'dy in one pass over the intervals. They are cut into parts that depend on n and p alone; each
 * part has sums of its own, to which blocks of intervals are added, so that Psi is never whole in memory, and the parts
 * are merged in order: the result does not depend on the number of threads. */
typedef struct feature_sums {
    sock_context *ctx;
    const sk_rule *rule;
    const sk_features *map;
    size_t p, parts;
    sk_drift_sums **sums; /* parts */
} feature_sums;

/* The features of a block, at all its nodes, are about as many numbers as a cache holds. Speed only. */
static size_t rows_at_once(const sk_rule *rule, size_t p)
{
    enum { NUMBERS = 1 << 19, LEAST = 64, MOST = 16384 }; /* speed only */
    double rows = NUMBERS / ((double)p * (double)rule->nodes / (double)rule->n);
    return SK_MAX(LEAST, SK_MIN((size_t)rows, MOST));
}

/* Many features: one part, and the threads are inside the products. Speed only. */
static size_t part_count(size_t n, size_t p)
{
    enum { NUMBERS = 1 << 22, MOST = 32, INTERVALS = 1024 }; /* speed only */
    return SK_MAX(1, SK_MIN(n / INTERVALS, SK_MIN(NUMBERS / p / p, MOST)));
}

static sock_status add_part(const feature_sums *w, size_t part)
{
    const sk_rule *rule = w->rule;
    const size_t p = w->p, d = rule->out, rows = rows_at_once(rule, p);
    const size_t first = part * rule->n / w->parts, last = (part + 1) * rule->n / w->parts;
    double *psi = sk_doubles_unset(w->ctx, SK_MIN(rows, last - first), p);
    sock_status status = psi ? sk_drift_sums_new(w->ctx, p, d, 0, SK_SHARED, &w->sums[part]) : SOCK_ENOMEM;
    for (size_t begin = first; begin < last && status >= 0; begin += rows) {
        const size_t end = SK_MIN(begin + rows, last);
        const sk_view block = {.n = end - begin, .d = d, .t = rule->dy + begin * d};
        SK_GO(sk_progress(w->ctx, "drift features", (double)begin / (double)rule->n));
        SK_GO(sk_occupation_features(w->ctx, rule, w->map, begin, end, psi, p));
        SK_GO(sk_drift_sums_add(w->ctx, w->sums[part], &block, psi));
    }
out:
    sk_free(psi);
    return status;
}

static sock_status add_parts(void *arg, size_t begin, size_t end, int worker)
{
    (void)worker;
    for (size_t part = begin; part < end; part++) SK_TRY(add_part(arg, part));
    return SOCK_OK;
}

static sock_status build_features(sock_context *ctx, sk_drift_system *s)
{
    const size_t p = sk_features_count(s->map), d = s->rule->out;
    feature_sums w = {.ctx = ctx, .rule = s->rule, .map = s->map, .p = p, .parts = part_count(s->rule->n, p)};
    SK_TRY(check_memory(ctx, p, w.parts));
    w.sums = sk_alloc(ctx, w.parts, sizeof *w.sums);
    sock_status status = w.sums ? sk_parallel_for(ctx, w.parts, 1, add_parts, &w) : SOCK_ENOMEM;
    for (size_t part = 1; status >= 0 && part < w.parts; part++) sk_drift_sums_merge(w.sums[0], w.sums[part]);
    if (status >= 0) {
        s->a = w.sums[0]->h;
        w.sums[0]->h = NULL;
        status = allocate_system(ctx, s, p, d);
    }
    if (status >= 0) {
        sk_symmetrise(p, s->a, p);
        sk_transpose(d, p, w.sums[0]->g, p, s->b, d);
    }
    for (size_t part = 0; w.sums && part < w.parts; part++) sk_drift_sums_free(w.sums[part]);
    sk_free(w.sums);
    return status;
}

/* ---- Step 1: form ---- */

/* The residual of the pivoted factor moves L* by at most h^2 * tolerance * max k for each row, and the answer by that
 * over lambda; in natural units that is tolerance / l. Rounding sets the floor. */
static double pivot_tolerance(double lambda, double unit) { return fmin(fmax(1e-9 * lambda / unit, 1e-15), 1e-11); }

/* Pivoted features pay while their N r^2 operations, which wait for memory, take less time than the n^3/3 of the full
 * system, which do not: about twenty of those are done in the time of one. Speed only. */
static size_t worthwhile_rank(const sk_rule *rule)
{
    double n = (double)rule->n, rank = sqrt(n * n * n / (60 * (double)rule->nodes));
    return SK_MAX(SK_MIN((size_t)rank, 2000), 16);
}

/* The rank of a sample of the nodes is hardly more than that of all of them, and cheap to find: *small is false when
 * the attempt on all nodes would be in vain. */
static sock_status sample_has_small_rank(sock_context *ctx, const sk_drift_system *s, double tolerance, size_t most,
                                         bool give_up_early, bool *small)
{
    const sk_rule *rule = s->rule;
    size_t count = 2 * most, d = rule->in;
    *small = true;
    if (count >= rule->nodes) return SOCK_OK;
    double *sample = sk_doubles(ctx, count, d);
    if (!sample) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++)
        memcpy(sample + i * d, rule->x + i * rule->nodes / count * d, d * sizeof *sample);
    sk_features *map = NULL;
    sock_status status =
        sk_features_pivoted(ctx, s->kernel, d, count, sample, tolerance, most, give_up_early, &map, NULL, small);
    sk_features_free(map);
    sk_free(sample);
    return status;
}

static sock_status try_pivoted(sock_context *ctx, sk_drift_system *s, const sk_drift_spec *spec, bool *done)
{
    /* Giving up early errs where the points are many length scales apart: the decay starts late. That costs little
     * where the full system is affordable. */
    enum { AFFORDABLE = 20000 }; /* speed only */
    const sk_rule *rule = s->rule;
    const bool forced = spec->path == SK_PATH_PIVOTED;
    const bool give_up_early = !forced && rule->n <= AFFORDABLE; /* speed only */
    bool complete = false;
    const size_t most = forced ? rule->nodes : SK_MIN(worthwhile_rank(rule), rule->nodes); /* speed only */
    double unit;
    SK_TRY(sk_drift_unit(ctx, rule, s->kernel, &unit));
    if (!(unit > 0)) unit = 1; /* a kernel that vanishes on the data: any tolerance will do */
    double tolerance = pivot_tolerance(spec->lambda, unit);
    bool small = true;
    if (!forced && sk_kernel_is_implicit(s->kernel))
        SK_TRY(sample_has_small_rank(ctx, s, tolerance, most, give_up_early, &small));
    if (!small) return SOCK_OK;
    SK_TRY(sk_features_pivoted(ctx, s->kernel, rule->in, rule->nodes, rule->x, tolerance, most, give_up_early, &s->map,
                               NULL, &complete));
    *done = complete || forced;
    if (!*done) {
        sk_features_free(s->map);
        s->map = NULL;
    }
    return SOCK_OK;
}

static sock_status check_form(sock_context *ctx, const sk_drift_spec *spec)
{
    const sk_kernel *kernel = spec->kernel;
    bool matrix = sk_kernel_is_matrix(kernel);
    if (matrix && spec->form != SK_FORM_AUTO && spec->form != SK_FORM_IMPLICIT)
        return sk_fail(ctx, SOCK_EUSAGE, "drift-form: a matrix-valued kernel has the implicit form only");
    if (matrix && spec->path == SK_PATH_PIVOTED)
        return sk_fail(ctx, SOCK_EUSAGE, "drift-path: a matrix-valued kernel has the exact path only");
    if (!matrix) SK_TRY(sk_form_check(ctx, "drift", kernel, spec->form));
    bool implicit =
        matrix || spec->form == SK_FORM_IMPLICIT || (spec->form == SK_FORM_AUTO && sk_kernel_is_implicit(kernel));
    if (spec->path != SK_PATH_AUTO && !implicit)
        return sk_fail(ctx, SOCK_EUSAGE, "drift-path: only the implicit form has a choice of path");
    return SOCK_OK;
}

static sock_status choose_and_build(sock_context *ctx, sk_drift_system *s, const sk_drift_spec *spec)
{
    const sk_rule *rule = s->rule;
    s->report = (sk_drift_report){.form = "implicit", .path = "exact"};
    if (sk_kernel_is_matrix(s->kernel)) {
        s->how = MATRIX;
        s->report.path = "matrix-valued";
        return build_matrix(ctx, s);
    }
    bool implicit = spec->form == SK_FORM_IMPLICIT || (spec->form == SK_FORM_AUTO && sk_kernel_is_implicit(s->kernel));
    if (implicit && spec->path != SK_PATH_EXACT) {
        bool done = false;
        SK_TRY(try_pivoted(ctx, s, spec, &done));
        if (done) {
            s->how = PIVOTED;
            s->report.path = "pivoted";
            return build_features(ctx, s);
        }
    }
    if (implicit) {
        s->how = EXACT;
        return build_exact(ctx, s);
    }
    bool nystrom = spec->form == SK_FORM_NYSTROM;
    s->how = nystrom ? PIVOTED : FEATURES; /* pivoted features become a kernel expansion on the landmarks */
    s->report.form = nystrom ? "nystrom" : "explicit";
    s->report.path = "features";
    if (nystrom)
        SK_TRY(sk_features_landmarks(ctx, s->kernel, rule->in, rule->nodes, rule->x, spec->landmarks, spec->seed,
                                     &s->map));
    else
        SK_TRY(sk_features_new(ctx, "drift", s->kernel, rule->in, rule->nodes, rule->x, &s->map));
    return build_features(ctx, s);
}

static sock_status keep_diagonal(sock_context *ctx, sk_drift_system *s)
{
    for (size_t i = 0; i < s->order; i++) {
        s->diagonal[i] = s->a[i * s->order + i];
        if (!isfinite(s->diagonal[i]))
            return sk_fail(ctx, SOCK_ENUMERIC,
                           "the drift system has entries beyond the range of numbers: rescale the data or the kernel");
    }
    return SOCK_OK;
}

sock_status sk_drift_system_new(sock_context *ctx, const sk_rule *rule, const sk_drift_spec *spec,
                                sk_drift_system **out)
{
    double start = sk_seconds();
    SK_TRY(check_form(ctx, spec));
    sk_drift_system *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->rule = rule;
    sock_status status = sk_kernel_copy(ctx, spec->kernel, &s->kernel);
    if (status >= 0) status = choose_and_build(ctx, s, spec);
    if (status >= 0 && s->a) status = keep_diagonal(ctx, s);
    if (status < 0) {
        sk_drift_system_free(s);
        return status;
    }
    s->report.seconds_build = sk_seconds() - start;
    *out = s;
    return SOCK_OK;
}

void sk_drift_system_free(sk_drift_system *s)
{
    if (!s) return;
    sk_kernel_free(s->kernel);
    sk_features_free(s->map);
    sk_free(s->a);
    sk_free(s->b);
    sk_free(s->diagonal);
    sk_free(s->spectrum);
    sk_free(s->rotated);
    sk_free(s->term);
    sk_free(s);
}

sk_drift_report sk_drift_system_report(const sk_drift_system *s) { return s->report; }

/* Mean over the nodes of k(x, x); of a matrix-valued kernel, of tr K(x, x) / d. */
static sock_status mean_diagonal(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *mean)
{
    size_t d = rule->in;
    bool matrix = sk_kernel_is_matrix(kernel);
    sk_kernel *closed = NULL;
    double *value = sk_doubles(ctx, rule->nodes, 1), *block = sk_doubles(ctx, d, d);
    sock_status status = value && block ? sk_kernel_closed_form(ctx, kernel, &closed) : SOCK_ENOMEM;
    if (status >= 0 && !matrix) sk_kernel_diagonal(closed, d, rule->nodes, rule->x, value);
    for (size_t a = 0; status >= 0 && matrix && a < rule->nodes; a++) {
        const double *x = rule->x + a * d;
        sk_kernel_matrix_block(closed, d, 1, x, 1, x, block, d);
        for (size_t k = 0; k < d; k++) value[a] += block[k * d + k] / (double)d;
    }
    *mean = 0;
    for (size_t a = 0; status >= 0 && a < rule->nodes; a++) *mean += value[a] / (double)rule->nodes;
    sk_free(value);
    sk_free(block);
    sk_kernel_free(closed);
    return status;
}

sock_status sk_drift_unit(sock_context *ctx, const sk_rule *rule, const sk_kernel *kernel, double *unit)
{
    double h2 = 0, k;
    SK_TRY(mean_diagonal(ctx, rule, kernel, &k));
    for (size_t i = 0; i < rule->n; i++) h2 += rule->h[i] * rule->h[i] / (double)rule->n;
    *unit = h2 * k;
    return SOCK_OK;
}

/* ---- Step 3: solve ---- */

static sock_status not_definite(sock_context *ctx, const sk_drift_system *s, double lambda)
{
    return sk_fail(ctx, SOCK_ENUMERIC,
                   "drift-lambda is %g, too small for this kernel and data: the system of order %zu is singular to "
                   "rounding; a larger value helps",
                   lambda, s->order);
}

/* A + shift I in the lower triangle, anew from what a factorisation leaves alone. */
static void restore(sk_drift_system *s, double shift)
{
    if (s->factored) sk_restore_lower(s->order, s->a, s->order);
    s->factored = false;
    for (size_t i = 0; i < s->order; i++) s->a[i * s->order + i] = s->diagonal[i] + shift;
}

/* By the device; *done is false where it left the work to the host, which then has to make the system. */
static sock_status solve_elsewhere(sock_context *ctx, sk_drift_system *s, double lambda, double *solution, bool *done)
{
    const sk_rule *rule = s->rule;
    const sk_device_system system = {.n = rule->n,
                                     .nodes = rule->nodes,
                                     .d = rule->in,
                                     .columns = s->cols,
                                     .x = rule->x,
                                     .row = rule->row,
                                     .node = rule->node,
                                     .weight = rule->weight,
                                     .terms = s->kernel->terms,
                                     .term = s->term,
                                     .shift = (double)rule->n * lambda,
                                     .b = s->b};
    *done = false;
    SK_TRY(sk_progress(ctx, "drift factorisation", -1));
    const sk_device *d = sk_device_begin(s->device, SK_EXACT);
    const sock_status status = sk_device_end(ctx, s->device, SK_EXACT, d->exact(d->state, &system, solution));
    if (status == SOCK_ENUMERIC && !sock_message(ctx)[0]) return not_definite(ctx, s, lambda);
    if (status < 0) return status;
    *done = status == SOCK_OK;
    if (*done) return SOCK_OK;
    s->device = NULL;
    SK_TRY(build_exact(ctx, s));
    return keep_diagonal(ctx, s);
}

static sock_status solve_by_cholesky(sock_context *ctx, sk_drift_system *s, double lambda, double *solution)
{
    restore(s, (double)s->rule->n * lambda);
    SK_TRY(sk_progress(ctx, "drift factorisation", -1));
    s->factored = true;
    sock_status status = sk_cholesky(ctx, s->order, s->a, s->order);
    if (status < 0) return sock_message(ctx)[0] ? status : not_definite(ctx, s, lambda);
    memcpy(solution, s->b, s->order * s->cols * sizeof(double));
    sk_cholesky_solve(ctx, s->order, s->cols, s->a, s->order, solution, s->cols);
    return SOCK_OK;
}

static sock_status make_spectrum(sock_context *ctx, sk_drift_system *s)
{
    if (s->spectrum) return SOCK_OK;
    restore(s, 0);
    double *values = sk_doubles(ctx, s->order, 1), *rotated = sk_doubles(ctx, s->order, s->cols);
    sock_status status = values && rotated ? sk_progress(ctx, "drift eigendecomposition", -1) : SOCK_ENOMEM;
    if (status >= 0) status = sk_eigh(ctx, s->order, s->a, s->order, values);
    if (status < 0) {
        sk_free(values);
        sk_free(rotated);
        return status;
    }
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, s->order, s->cols, s->order, 1, s->a, s->order, s->b, s->cols, 0, rotated,
            s->cols);
    s->spectrum = values;
    s->rotated = rotated;
    return SOCK_OK;
}

static sock_status solve_by_spectrum(sock_context *ctx, sk_drift_system *s, double lambda, double *solution,
                                     double *space, double *dof)
{
    double shift = (double)s->rule->n * lambda, total = 0;
    for (size_t i = 0; i < s->order; i++) {
        double value = s->spectrum[i] > 0 ? s->spectrum[i] : 0, inverse = 1 / (value + shift);
        if (!isfinite(inverse)) return not_definite(ctx, s, lambda);
        total += value * inverse;
        for (size_t c = 0; c < s->cols; c++) space[i * s->cols + c] = inverse * s->rotated[i * s->cols + c];
    }
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, s->order, s->cols, s->order, 1, s->a, s->order, space, s->cols, 0, solution,
            s->cols);
    if (dof) *dof = total;
    return SOCK_OK;
}

/* ---- Step 4: the term ---- */

const sk_features *sk_drift_system_features(const sk_drift_system *s) { return s->map; }

/* Of pivoted features gamma = L^-1 k(pivots, x): c = L^-T w. */
void sk_drift_system_as_term(sock_context *ctx, const sk_drift_system *s, size_t cols, double *w)
{
    if (s->how != PIVOTED) return;
    sk_solve_lower(ctx, SK_TRANSPOSED, s->order, cols, sk_features_factor(s->map), s->order, w, cols);
}

static sock_status kernel_term(sock_context *ctx, const sk_drift_system *s, const double *solution, sk_drift_term *term)
{
    size_t d = s->rule->in;
    SK_TRY(sk_kernel_copy(ctx, s->kernel, &term->kernel));
    term->centres = s->how == PIVOTED ? s->order : s->rule->nodes;
    term->centre = sk_doubles(ctx, term->centres, d);
    term->weight = sk_doubles(ctx, term->centres, d);
    if (!term->centre || !term->weight) return SOCK_ENOMEM;
    if (s->how == PIVOTED) {
        memcpy(term->centre, sk_features_pivots(s->map), s->order * d * sizeof(double));
        memcpy(term->weight, solution, s->order * d * sizeof(double));
        sk_drift_system_as_term(ctx, s, d, term->weight);
    } else {
        memcpy(term->centre, s->rule->x, s->rule->nodes * d * sizeof(double));
        sk_rule_adjoint(s->rule, d, solution, term->weight);
    }
    return SOCK_OK;
}

static sock_status feature_term(sock_context *ctx, const sk_drift_system *s, const double *solution,
                                sk_drift_term *term)
{
    SK_TRY(sk_features_copy(ctx, s->map, &term->map));
    term->weight = sk_doubles(ctx, s->order, s->cols);
    if (!term->weight) return SOCK_ENOMEM;
    memcpy(term->weight, solution, s->order * s->cols * sizeof(double));
    return SOCK_OK;
}

static sock_status make_term(sock_context *ctx, const sk_drift_system *s, const double *solution, sk_drift_term **out)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = s->rule->out;
    sock_status status =
        s->how == FEATURES ? feature_term(ctx, s, solution, term) : kernel_term(ctx, s, solution, term);
    size_t rows = s->how == FEATURES ? s->order : term->centres;
    for (size_t i = 0; status >= 0 && i < rows * term->d; i++)
        if (!isfinite(term->weight[i]))
            status =
                sk_fail(ctx, SOCK_ENUMERIC, "the drift has coefficients beyond the range of numbers: rescale the data");
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    *out = term;
    return SOCK_OK;
}

sock_status sk_drift_solve(sock_context *ctx, sk_drift_system *s, size_t count, const double *lambda,
                           sk_drift_term **terms, double *dof)
{
    /* An eigendecomposition costs about as much as twenty Cholesky factorisations of a large system; for the small ones
     * of the pivoted and explicit forms it is cheap and tells the degrees of freedom. Speed only. */
    enum { MANY = 20, SMALL = 600 };
    double start = sk_seconds();
    const bool spectral = s->spectrum || count >= MANY || s->order <= SMALL;
    double *solution = sk_doubles(ctx, s->order, s->cols), *space = sk_doubles(ctx, s->order, s->cols);
    sock_status status = solution && space ? SOCK_OK : SOCK_ENOMEM;
    size_t made = 0;
    for (; status >= 0 && made < count; made++) {
        if (dof) dof[made] = (double)NAN;
        bool done = false;
        if (s->device) status = solve_elsewhere(ctx, s, lambda[made], solution, &done);
        if (status >= 0 && !done && spectral) status = make_spectrum(ctx, s);
        if (status >= 0 && !done)
            status = spectral ? solve_by_spectrum(ctx, s, lambda[made], solution, space, dof ? &dof[made] : NULL)
                              : solve_by_cholesky(ctx, s, lambda[made], solution);
        if (status >= 0) status = make_term(ctx, s, solution, &terms[made]);
        if (status < 0) break;
    }
    while (status < 0 && made > 0) {
        sk_drift_term_free(terms[--made]);
        terms[made] = NULL;
    }
    sk_free(solution);
    sk_free(space);
    s->report.seconds_solve += sk_seconds() - start;
    return status;
}

sock_status sk_drift_alpha(sock_context *ctx, sk_drift_system *s, double lambda, double *alpha)
{
    if (s->how != EXACT) return sk_fail(ctx, SOCK_EUSAGE, "alpha belongs to the implicit form on the exact path");
    bool done = false;
    if (s->device) SK_TRY(solve_elsewhere(ctx, s, lambda, alpha, &done));
    if (done) return SOCK_OK;
    if (!s->spectrum) return solve_by_cholesky(ctx, s, lambda, alpha);
    double *space = sk_doubles(ctx, s->order, s->cols);
    sock_status status = space ? solve_by_spectrum(ctx, s, lambda, alpha, space, NULL) : SOCK_ENOMEM;
    sk_free(space);
    return status;
}
