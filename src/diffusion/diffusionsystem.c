/* diffusionsystem.c - features, the convex problem, and from its solution a term of the model.
 *
 *   1. Features phi: explicit, gamma from a pivoted Cholesky factor, or landmarks.
 *   2. The problem: its sums (summed.h), where they are smaller than the rows; else the rows of psd/ with Phi and W,
 * which plain methods, many features (levels) and few rows need.
 *   3. Solve for the penalties; a diagonal a is d problems of one dimension with the same rows. Where penalties are so
 *      small that rounding of the sums shows in their certificate, the rows answer.
 *   4. V from the solver's factor; the certificate goes with it. */
#include "base/plugins.h"
#include "diffusion/diffusion.h"
#include "diffusion/summed.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

struct sk_diffusion_system {
    const sk_rule *rule;
    const double *z; /* n x d x d, borrowed */
    sk_features *map;
    sk_summed *summed;         /* one of these two ways; the other is NULL */
    sk_psd_prepared *prepared; /* and */
    double *phi;               /* its features: nodes x p */
    sk_psd_options solver;
    bool diagonal;
    double unit;                /* of lambda */
    sk_diffusion_report report; /* what is the same for every lambda */
};

/* Eigenvalues of Q below this share of the largest do not show in any digit that counts. */
static const double negligible = 1e-13;

/* ---- Step 1: features ---- */

static sock_status check_form(sock_context *ctx, const sk_diffusion_spec *spec)
{
    if (sk_kernel_is_matrix(spec->kernel))
        return sk_fail(ctx, SOCK_EUSAGE, "diffusion: a matrix-valued kernel cannot be used here; give a scalar one");
    return sk_form_check(ctx, "diffusion", spec->kernel, spec->form);
}

/* gamma on the span of all nodes; cut at max_rank it is the best that many pivots can do, and says so. */
static sock_status implicit_features(sock_context *ctx, sk_diffusion_system *s, const sk_diffusion_spec *spec)
{
    const sk_rule *rule = s->rule;
    size_t least = spec->diagonal ? SK_PLAIN_RANK_DIAGONAL : SK_PLAIN_RANK;
    size_t most = spec->max_rank ? spec->max_rank : SK_MAX(SK_PLAIN_ORDER / rule->out, least);
    double *own = spec->origin ? sk_doubles_unset(ctx, rule->nodes, rule->in) : NULL;
    if (spec->origin && !own) return SOCK_ENOMEM;
    for (size_t i = 0, k = 0; own && i < rule->nodes * rule->in; i++, k = i % rule->in)
        own[i] = (rule->x[i] - spec->origin[k]) / spec->scale[k];
    s->report.form = "implicit";
    sock_status status = sk_features_pivoted(ctx, spec->kernel, rule->in, rule->nodes, own ? own : rule->x, 1e-13,
                                             SK_MIN(most, rule->nodes), false, &s->map, NULL, &s->report.complete);
    sk_free(own);
    if (status >= 0 && spec->origin) status = sk_features_set_units(ctx, s->map, spec->origin, spec->scale);
    return status;
}

static sock_status make_features(sock_context *ctx, sk_diffusion_system *s, const sk_diffusion_spec *spec)
{
    const sk_rule *rule = s->rule;
    s->report.complete = true;
    if (spec->form == SK_FORM_IMPLICIT || (spec->form == SK_FORM_AUTO && sk_kernel_is_implicit(spec->kernel)))
        return implicit_features(ctx, s, spec);
    s->report.form = spec->form == SK_FORM_NYSTROM ? "nystrom" : "explicit";
    if (spec->form == SK_FORM_NYSTROM)
        SK_TRY(sk_features_landmarks(ctx, spec->kernel, rule->in, rule->nodes, rule->x, spec->landmarks, spec->seed,
                                     &s->map));
    else
        SK_TRY(sk_features_new(ctx, "diffusion", spec->kernel, rule->in, rule->nodes, rule->x, &s->map));
    return spec->origin ? sk_features_set_units(ctx, s->map, spec->origin, spec->scale) : SOCK_OK;
}

/* ---- Step 2: sums, or rows ---- */

/* A device that makes sums and solves by them: many products of features are what it is good at. */
static bool has_device(sock_context *ctx, const sk_diffusion_system *s, size_t q)
{
    const double n = (double)s->rule->n, order = (double)(s->report.features * (s->diagonal ? 1 : s->rule->out));
    return q <= SK_DEVICE_WIDE && sk_device_for(ctx, SK_SUMS, n * (double)q * (double)q, SK_DEVICE_SUMS) &&
           sk_device_for(ctx, SK_LEVELS, order, SK_DEVICE_LEVELS);
}

static bool has_sums(sock_context *ctx, const sk_diffusion_system *s)
{
    const size_t p = s->report.features, q = p * (p + 1) / 2;
    if (sk_features_separate(s->map)) return true; /* sums of squares alone */
    const char *solver = s->solver.solver;
    const size_t targets = s->rule->n * s->rule->out * s->rule->out;
    return (!solver || strcmp(solver, "newton") == 0) && !s->solver.no_compression &&
           ((q <= SK_PLAIN_SUMS && q <= s->rule->n) || has_device(ctx, s, q)) &&
           isfinite(sk_dot(targets, s->z, s->z)); /* rows hold what cannot be squared */
}

static double unit_of_rows(const sk_diffusion_system *s)
{
    const sk_rule *rule = s->rule;
    size_t p = s->report.features;
    double h2 = 0, k = 0;
    for (size_t i = 0; i < rule->n; i++) h2 += rule->h[i] * rule->h[i] / (double)rule->n;
    for (size_t a = 0; a < rule->nodes; a++) k += sk_dot(p, s->phi + a * p, s->phi + a * p) / (double)rule->nodes;
    return h2 * k * k;
}

/* What can be known before: the features of the nodes, as they are and rotated, and the matrices of order pd. The rows
 * of the convex problem are counted there, when the features are reduced to those that differ. */
static sock_status prepare_rows(sock_context *ctx, sk_diffusion_system *s)
{
    const sk_rule *rule = s->rule;
    const size_t p = s->report.features;
    const double order = (double)p * (s->diagonal ? 1 : (double)rule->out);
    SK_TRY(sk_memory_check(ctx, 8 * (6 * order * order + 3 * (double)rule->nodes * (double)p), "the diffusion problem",
                           "use fewer features, --diagonal, or a kernel of lower rank"));
    s->phi = sk_doubles(ctx, rule->nodes, p);
    if (!s->phi) return SOCK_ENOMEM;
    SK_TRY(sk_features_eval(ctx, s->map, rule->nodes, rule->x, s->phi, p));
    s->unit = unit_of_rows(s);
    const sk_psd_problem problem = {.n = rule->n,
                                    .nodes = rule->nodes,
                                    .p = p,
                                    .phi = s->phi,
                                    .ld = p,
                                    .row = rule->row,
                                    .node = rule->node,
                                    .weight = rule->weight};
    return sk_psd_prepare(ctx, &problem, &s->solver, &s->prepared);
}

static sock_status prepare_sums(sock_context *ctx, sk_diffusion_system *s)
{
    SK_TRY(sk_memory_check(ctx, sk_summed_bytes(s->report.features, s->rule->out), "the diffusion problem",
                           "use fewer features, --diagonal, or a kernel of lower rank"));
    SK_TRY(sk_summed_new(ctx, s->rule, s->map, s->z, s->diagonal, &s->summed));
    s->unit = sk_summed_unit(s->summed);
    return SOCK_OK;
}

sock_status sk_diffusion_system_new(sock_context *ctx, const sk_rule *rule, const double *z,
                                    const sk_diffusion_spec *spec, sk_diffusion_system **out)
{
    double start = sk_seconds();
    SK_TRY(check_form(ctx, spec));
    sk_diffusion_system *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->rule = rule;
    s->z = z;
    s->diagonal = spec->diagonal && rule->out > 1; /* one dimension is both */
    s->solver = spec->solver;
    if (!(s->solver.lambda_min > 0)) s->solver.lambda_min = spec->lambda;
    sock_status status = make_features(ctx, s, spec);
    if (status >= 0) {
        s->report.features = sk_features_count(s->map);
        status = sk_progress(ctx, "diffusion rows", -1);
    }
    if (status >= 0) status = has_sums(ctx, s) ? prepare_sums(ctx, s) : prepare_rows(ctx, s);
    if (status < 0) {
        sk_diffusion_system_free(s);
        return status;
    }
    s->report.seconds_features = sk_seconds() - start;
    *out = s;
    return SOCK_OK;
}

void sk_diffusion_system_free(sk_diffusion_system *s)
{
    if (!s) return;
    sk_features_free(s->map);
    sk_summed_free(s->summed);
    sk_psd_prepared_free(s->prepared);
    sk_free(s->phi);
    sk_free(s);
}

double sk_diffusion_unit(const sk_diffusion_system *s) { return s->unit; }

/* ---- Steps 3 and 4 ---- */

static size_t kept_rank(const sk_psd_result *result)
{
    size_t rank = 0;
    while (rank < result->rank && result->values[rank] > negligible * result->values[0]) rank++;
    return rank;
}

static void add_report(sk_diffusion_report *total, const sk_psd_result *result)
{
    total->primal += result->primal;
    total->dual += result->dual;
    total->gap += result->gap;
    total->iterations += result->iterations;
    total->rows = SK_MAX(total->rows, result->rows);
    total->converged = total->converged && result->converged;
    total->solver = result->solver;
    total->effort.prepare += result->effort.prepare;
    total->effort.eigen += result->effort.eigen;
    total->effort.products += result->effort.products;
    total->effort.linear += result->effort.linear;
    total->effort.certificate += result->effort.certificate;
    total->effort.total += result->effort.total;
    total->effort.eigendecompositions += result->effort.eigendecompositions;
    total->effort.products_count += result->effort.products_count;
    total->effort.cg_steps += result->effort.cg_steps;
}

/* The columns of `parts` results (one of dimension d, or d of dimension 1) side by side. */
static sock_status make_term(sock_context *ctx, const sk_diffusion_system *s, sk_psd_result *const *part, size_t parts,
                             sk_diffusion_term **out)
{
    size_t d = s->rule->out, p = s->report.features, rank = 0;
    for (size_t k = 0; k < parts; k++) rank += kept_rank(part[k]);
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = d;
    term->rank = rank;
    term->v = sk_doubles(ctx, d * p, rank);
    term->owner = s->diagonal ? sk_alloc(ctx, rank, sizeof *term->owner) : NULL;
    sock_status status =
        term->v && (term->owner || !s->diagonal) ? sk_features_copy(ctx, s->map, &term->map) : SOCK_ENOMEM;
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    for (size_t k = 0, column = 0; k < parts; k++) {
        size_t r = kept_rank(part[k]), rows = part[k]->d * p;
        for (size_t i = 0; i < rows; i++)
            memcpy(term->v + (k * p + i) * rank + column, part[k]->factor + i * part[k]->rank, r * sizeof(double));
        for (size_t j = 0; s->diagonal && j < r; j++) term->owner[column + j] = k;
        column += r;
    }
    *out = term;
    return SOCK_OK;
}

/* Targets of the components of a diagonal a: z_kk, d x n. */
static void pick_diagonal(const sk_rule *rule, const double *z, double *out)
{
    size_t d = rule->out;
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < rule->n; i++) out[k * rule->n + i] = z[(i * d + k) * d + k];
}

static void put_beta(const sk_rule *rule, const sk_psd_result *result, size_t k, bool diagonal, double *beta)
{
    size_t d = rule->out;
    if (!diagonal) {
        memcpy(beta, result->beta, rule->n * d * d * sizeof *beta);
        return;
    }
    for (size_t i = 0; i < rule->n; i++) beta[(i * d + k) * d + k] = result->beta[i];
}

static size_t parts_of(const sk_diffusion_system *s) { return s->diagonal ? s->rule->out : 1; }

static sock_status solve_rows(sock_context *ctx, sk_diffusion_system *s, size_t count, const double *lambda,
                              sk_psd_result **result)
{
    const sk_rule *rule = s->rule;
    double *diagonal = s->diagonal ? sk_doubles(ctx, rule->out, rule->n) : NULL;
    if (s->diagonal && !diagonal) return SOCK_ENOMEM;
    if (s->diagonal) pick_diagonal(rule, s->z, diagonal);
    const sk_psd_targets targets = {
        .parts = parts_of(s), .d = s->diagonal ? 1 : rule->out, .z = s->diagonal ? diagonal : s->z};
    sock_status status = sk_psd_paths(ctx, s->prepared, &targets, &s->solver, count, lambda, result);
    sk_free(diagonal);
    return status;
}

/* Whether the user's limits, and not rounding, ended a solution. */
static bool was_stopped(const sk_diffusion_system *s, const sk_psd_result *r)
{
    return (s->solver.max_iterations && r->iterations >= s->solver.max_iterations) ||
           (s->solver.seconds > 0 && r->effort.total >= s->solver.seconds);
}

/* By the sums while their certificates are good enough; from then on by the rows. */
static sock_status solve_all(sock_context *ctx, sk_diffusion_system *s, size_t count, const double *lambda,
                             sk_psd_result **result)
{
    if (!s->summed) return solve_rows(ctx, s, count, lambda, result);
    const size_t total = count * parts_of(s);
    sock_status status = sk_summed_paths(ctx, s->summed, &s->solver, count, lambda, result);
    bool enough = status != SOCK_PARTIAL && (status != SOCK_NOT_CONVERGED || sk_features_separate(s->map));
    for (size_t i = 0; status == SOCK_NOT_CONVERGED && !enough && i < total; i++)
        enough = !result[i]->converged && was_stopped(s, result[i]);
    if (enough) return status;
    for (size_t i = 0; i < total; i++) sk_psd_result_free(result[i]), result[i] = NULL;
    sk_summed_free(s->summed);
    s->summed = NULL;
    const double unit = s->unit;
    SK_TRY(prepare_rows(ctx, s));
    s->unit = unit;
    return solve_rows(ctx, s, count, lambda, result);
}

static sock_status make_beta(sock_context *ctx, const sk_diffusion_system *s, sk_psd_result *const *part, double *beta)
{
    const size_t d = s->rule->out;
    if (s->summed) return sk_summed_beta(ctx, s->summed, part, beta);
    memset(beta, 0, s->rule->n * d * d * sizeof *beta);
    for (size_t k = 0; k < parts_of(s); k++) put_beta(s->rule, part[k], k, s->diagonal, beta);
    return SOCK_OK;
}

static sock_status make_answer(sock_context *ctx, const sk_diffusion_system *s, sk_psd_result *const *part,
                               sk_diffusion_term **term, sk_diffusion_report *report)
{
    *report = s->report;
    report->converged = true;
    for (size_t k = 0; k < parts_of(s); k++) add_report(report, part[k]);
    SK_TRY(make_term(ctx, s, part, parts_of(s), term));
    report->rank = (*term)->rank;
    return SOCK_OK;
}

sock_status sk_diffusion_solve(sock_context *ctx, sk_diffusion_system *s, size_t count, const double *lambda,
                               sk_diffusion_term **terms, sk_diffusion_report *reports, double *beta)
{
    const size_t parts = parts_of(s);
    size_t made = 0;
    sk_psd_result **result = sk_alloc(ctx, parts * count, sizeof *result); /* lambda after lambda, each all parts */
    if (!result) return SOCK_ENOMEM;
    sock_status worst = solve_all(ctx, s, count, lambda, result), status = worst;
    if (status >= 0 && beta) status = make_beta(ctx, s, result + (count - 1) * parts, beta);
    for (; status >= 0 && made < count; made++) {
        status = make_answer(ctx, s, result + made * parts, &terms[made], &reports[made]);
        if (status < 0) break;
    }
    while (status < 0 && made > 0) {
        sk_diffusion_term_free(terms[--made]);
        terms[made] = NULL;
    }
    for (size_t i = 0; i < parts * count; i++) sk_psd_result_free(result[i]);
    sk_free(result);
    return status < 0 ? status : worst;
}
