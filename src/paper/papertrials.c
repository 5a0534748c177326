/* papertrials.c - the fits of the paper's grids and their likelihood on the validation data. */
#include "paper/papernoise.h"
#include "paper/paperstate.h"
#include "score/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 3, HOPELESS = 10 };

/* ---- Scores ---- */

/* Validation likelihood; -infinity where a step has no density. */
static sock_status held_out(sk_paper *p, const sock_model *model, double *score)
{
    sk_loglik l = {0};
    SK_TRY(sk_log_likelihood(p->ctx, model, p->held, p->spec->delta, &l));
    if (!l.intervals)
        return sk_fail(p->ctx, SOCK_EINPUT, "the validation data hold no interval, so nothing can be judged on them");
    *score = l.singular || l.broken || !isfinite(l.value) ? -(double)INFINITY : l.value;
    return SOCK_OK;
}

/* ... of a drift that takes the values f (points x d) on the training data, a being the one found so far, or at first
 * its residuals. */
static sock_status held_out_drift(sk_paper *p, sk_drift_term *term, const double *f, double *score)
{
    sk_diffusion_term *noise = NULL;
    sock_model with = *p->base;
    with.drift_terms = 1;
    with.drift = &term;
    if (!p->base->has_diffusion) {
        SK_TRY(sk_constant_noise(p->ctx, p->train, f, &noise));
        with.diffusion_terms = 1;
        with.diffusion = &noise;
        with.has_diffusion = true;
    }
    sock_status status = held_out(p, &with, score);
    sk_diffusion_term_free(noise);
    return status;
}

/* Constant coefficients: what every model should beat. */
sock_status sk_paper_score_constant(sk_paper *p)
{
    size_t d = p->train->d, points = p->train->points;
    double *f = sk_doubles(p->ctx, points, d);
    sk_kernel *one = NULL;
    sk_drift_term *mean = sk_alloc(p->ctx, 1, sizeof *mean);
    sock_status status = f && mean ? sk_kernel_parse(p->ctx, "drift", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(p->ctx, "drift", one, d, 0, NULL, &mean->map);
    if (status >= 0 && !(mean->weight = sk_doubles(p->ctx, 1, d))) status = SOCK_ENOMEM; /* of the one feature, 1 */
    if (status >= 0) {
        mean->d = d;
        sk_mean_rate(p->train, mean->weight);
        for (size_t i = 0; i < points; i++) memcpy(f + i * d, mean->weight, d * sizeof *f);
        status = held_out_drift(p, mean, f, &p->constant_score);
    }
    sk_kernel_free(one);
    sk_drift_term_free(mean);
    sk_free(f);
    return status;
}

/* ---- A place of a grid ---- */

sock_status sk_paper_kernel(sk_paper *p, const char *option, const char *named, const char *family, double eta,
                            const sk_rule *rule, sk_kernel **out)
{
    char text[96];
    snprintf(text, sizeof text, "%s%seta=%.17g", family, strchr(family, ':') ? "," : ":", eta);
    SK_TRY(sk_kernel_parse(p->ctx, option, isnan(eta) ? named : text, out));
    sock_status status = sk_kernel_resolve(p->ctx, option, *out, rule->in, rule->nodes, rule->x);
    if (status < 0) {
        sk_kernel_free(*out);
        *out = NULL;
    }
    return status;
}

static void log_place(sk_paper *p, const char *field, const char *kernel, const sk_paper_place *at, double seconds)
{
    const char *stage = p->round ? "grid 2" : "grid 1";
    sk_search_row *row = sk_search_table_add(p->ctx, &p->told->search, stage, field, kernel);
    if (!row) return;
    row->l = at->l;
    row->lambda = at->lambda;
    row->score = at->score;
    row->seconds = seconds;
}

static bool better(const sk_paper_found *best, double score) { return !best->any || score > best->best.score; }

static sock_status note_best(sock_context *ctx, sk_paper_found *best, sk_paper_place at, const char *kernel)
{
    char *copy = sk_strdup(ctx, kernel);
    if (!copy) return SOCK_ENOMEM;
    sk_free(best->kernel);
    best->kernel = copy;
    best->best = at;
    best->any = true;
    return SOCK_OK;
}

/* ---- Step 2: drift ---- */

static sock_status score_drift(sk_paper *p, sk_drift_term *term, double *score)
{
    size_t points = p->train->points;
    double *f = sk_doubles(p->ctx, points, p->train->d);
    sock_model with = *p->base;
    with.drift_terms = 1;
    with.drift = &term;
    sock_status status = f ? sk_model_evaluate(p->ctx, &with, points, p->train->x, f, NULL) : SOCK_ENOMEM;
    if (status >= 0) status = held_out_drift(p, term, f, score);
    sk_free(f);
    return status;
}

/* The full system of many rows is for the last fit: ten factorisations of it for each eta would take minutes. In few
 * dimensions the pivoted features have small rank, and nothing is lost. */
static sock_status drift_system(sk_paper *p, sk_drift_spec *spec, sk_drift_system **out)
{
    bool many = p->rule->n > SK_PAPER_MANY_ROWS && sk_kernel_is_implicit(spec->kernel);
    if (!many || p->train->d <= 3) SK_TRY(sk_drift_system_new(p->ctx, p->rule, spec, out));
    if (!many || (*out && strcmp(sk_drift_system_report(*out).path, "exact") != 0)) return SOCK_OK;
    sk_drift_system_free(*out);
    *out = NULL;
    spec->form = SK_FORM_NYSTROM;
    spec->landmarks = SK_PAPER_LANDMARKS;
    p->landmarks = true;
    return sk_drift_system_new(p->ctx, p->rule, spec, out);
}

sock_status sk_paper_try_drift(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best)
{
    sk_drift_term *term[SK_PAPER_LAMBDAS] = {0};
    double lambda[SK_PAPER_LAMBDAS], dof[SK_PAPER_LAMBDAS], unit = 0, start = sk_seconds();
    sk_kernel *kernel = NULL;
    sk_drift_system *system = NULL;
    char *name = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "drift grid", -1));
    SK_GO(sk_paper_kernel(p, "drift", p->spec->drift, "gauss", eta, p->rule, &kernel));
    SK_GO(sk_drift_unit(p->ctx, p->rule, kernel, &unit));
    for (size_t j = 0; j < count; j++) lambda[j] = l[j] * (unit > 0 ? unit : 1);
    sk_drift_spec spec = {.kernel = kernel, .seed = p->spec->seed, .lambda = lambda[count - 1]};
    SK_GO(drift_system(p, &spec, &system));
    SK_GO(sk_drift_solve(p->ctx, system, count, lambda, term, dof));
    if (!(name = sk_kernel_format(p->ctx, kernel))) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t j = 0; j < count; j++) {
        double score = 0;
        SK_GO(score_drift(p, term[j], &score));
        sk_paper_place at = {eta, l[j], lambda[j], score};
        log_place(p, "drift", name, &at, (sk_seconds() - start) / (double)count);
        if (!better(best, score)) continue;
        SK_GO(note_best(p->ctx, best, at, name));
        sk_drift_term_free(best->drift);
        best->drift = term[j];
        best->dof = dof[j];
        best->rank = sk_drift_system_report(system).rank;
        term[j] = NULL;
    }
out:
    for (size_t j = 0; j < count; j++) sk_drift_term_free(term[j]);
    sk_drift_system_free(system);
    sk_kernel_free(kernel);
    sk_free(name);
    return status;
}

/* ---- Step 3: diffusion ---- */

sock_status sk_paper_residuals(sk_paper *p, const sock_data *data, size_t n, const sock_model *drift, double **out)
{
    size_t d = data->d;
    double *f = sk_doubles(p->ctx, data->points, d), *z = sk_doubles(p->ctx, n, d * d);
    sock_status status = f && z ? sk_model_evaluate(p->ctx, drift, data->points, data->x, f, NULL) : SOCK_ENOMEM;
    if (status >= 0) status = sk_residual_products(p->ctx, data, "trapezoid", f, z);
    for (size_t i = 0; status >= 0 && i < n * d * d; i++)
        if (!isfinite(z[i])) status = sk_fail(p->ctx, SOCK_ENUMERIC, "the residuals of the drift are not finite");
    sk_free(f);
    if (status < 0)
        sk_free(z);
    else
        *out = z;
    return status;
}

double sk_paper_tolerance(const sk_paper *p, bool last)
{
    double loosest = p->train->d > 3 ? 1e-4 : 1e-6;
    return p->spec->tolerance > 0 ? p->spec->tolerance : last ? loosest : p->large ? 1e-3 : 1e-4;
}

sk_diffusion_spec sk_paper_diffusion_spec(const sk_paper *p, const sk_kernel *kernel, bool last)
{
    return (sk_diffusion_spec){.kernel = kernel,
                               .diagonal = p->spec->diagonal_only,
                               .seed = p->spec->seed,
                               .solver = {.tolerance = sk_paper_tolerance(p, last)}};
}

const sk_rule *sk_paper_searched(const sk_paper *p) { return p->part ? p->part_rule : p->rule; }

static sock_status score_diffusion(sk_paper *p, sk_diffusion_term *term, double *score)
{
    sock_model with = *p->base; /* its drift, this diffusion */
    with.diffusion_terms = 1;
    with.diffusion = &term;
    with.has_diffusion = true;
    return held_out(p, &with, score);
}

/* The penalties of one eta, and what they gave. */
typedef struct path {
    double eta;
    char *name; /* of the kernel */
    const double *l;
    double lambda[SK_PAPER_LAMBDAS];
    sk_diffusion_term *term[SK_PAPER_LAMBDAS];
} path;

/* Those from begin on, which took so many seconds each; *last: their best score. */
static sock_status score_path(sk_paper *p, path *t, size_t begin, size_t used, double seconds, sk_paper_found *best,
                              double *last)
{
    *last = -(double)INFINITY;
    for (size_t j = begin; j < begin + used; j++) {
        double score = 0;
        SK_TRY(score_diffusion(p, t->term[j], &score));
        sk_paper_place at = {t->eta, t->l[j], t->lambda[j], score};
        log_place(p, "diffusion", t->name, &at, seconds);
        *last = fmax(*last, score);
        if (!better(best, score)) continue;
        SK_TRY(note_best(p->ctx, best, at, t->name));
        sk_diffusion_term_free(best->diffusion);
        best->diffusion = t->term[j];
        t->term[j] = NULL;
    }
    return SOCK_OK;
}

static sock_status follow_path(sk_paper *p, path *t, size_t count, sk_diffusion_system *system, sk_paper_found *best)
{
    sk_diffusion_report report[SK_PAPER_LAMBDAS];
    const double unit = sk_diffusion_unit(system);
    double own = -(double)INFINITY; /* best score of this eta */
    for (size_t j = 0; j < count; j++) t->lambda[j] = t->l[j] * (unit > 0 ? unit : 1);
    for (size_t begin = 0, used; begin < count; begin += used) {
        used = SK_MIN(AT_ONCE, count - begin);
        double last, since = sk_seconds();
        SK_TRY(sk_diffusion_solve(p->ctx, system, used, t->lambda + begin, t->term + begin, report, NULL));
        SK_TRY(score_path(p, t, begin, used, (sk_seconds() - since) / (double)used, best, &last));
        if (last < own - HOPELESS) break; /* past the best: smaller lambdas cost most and do not come back */
        own = fmax(own, last);
    }
    return SOCK_OK;
}

sock_status sk_paper_try_diffusion(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best)
{
    const sk_rule *rule = sk_paper_searched(p);
    path t = {.eta = eta, .l = l};
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    double *z = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "diffusion grid", -1));
    SK_GO(sk_paper_kernel(p, "diffusion", p->spec->diffusion, "fourier:p=100", eta, rule, &kernel));
    const sk_diffusion_spec spec = sk_paper_diffusion_spec(p, kernel, false);
    SK_GO(sk_paper_residuals(p, p->part ? p->part : p->train, rule->n, p->base, &z));
    SK_GO(sk_diffusion_system_new(p->ctx, rule, z, &spec, &system));
    SK_GO((t.name = sk_kernel_format(p->ctx, kernel)) ? SOCK_OK : SOCK_ENOMEM);
    SK_GO(follow_path(p, &t, count, system, best));
out:
    for (size_t j = 0; j < count; j++) sk_diffusion_term_free(t.term[j]);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
    sk_free(t.name);
    sk_free(z);
    return status < 0 ? status : SOCK_OK;
}
