/* paper.c - the paper's protocol: two grid searches one after the other.
 *
 *   1. Data: training and validation set; without the latter a fifth of the groups is held out.
 *   2. Drift: for each eta one system, solved for all lambdas; the pair whose Euler likelihood on the validation data
 *      is largest, a taken as the constant covariance of what this drift leaves over of the training steps.
 *   3. Diffusion: residuals of that drift; for each eta one convex problem along the lambdas, large to small; the pair
 *      with the largest Euler likelihood, now with its own a.
 *   4. A best pair on the edge of its grid makes the grid grow, a few times; then it is told.
 *   5. The drift once more, a being the one just found; when another is better, the diffusion once more, around the eta
 *      it had.
 *   6. The chosen pairs are fitted again to all data, training and validation.
 *
 * The paper does not say its grids. Those here keep the time within bounds: where the full system of the drift has no
 * small rank and many rows, the grid is searched with landmarks; where a has many unknowns, with a part of the groups,
 * fewer places and a looser gap. What was done is part of the report; step 6 has all rows and the full gap.
 *
 * Cost: (etas) drift systems and (etas x lambdas) convex problems of p = 100 features. */
#include "tune/paper.h"

#include "score/score.h"
#include "tune/papernoise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 3, HOPELESS = 10, MOST_LAMBDAS = 16 };

/* Beyond: landmarks in the grid of the drift; a part of the groups in that of the diffusion. */
enum { MANY_ROWS = 2500, LANDMARKS = 500 };

/* Beyond so many unknowns pd the diffusion has a smaller grid; beyond so many intervals the drift keeps landmarks. */
enum { MEDIUM_ORDER = 150, LARGE_ORDER = 300, MOST_EXACT = 10000 };

/* A grid: eta from least times the median distance in factors of 2, l from 1 in factors of step. */
typedef struct grid {
    size_t etas;
    double least;
    size_t lambdas;
    double step;
    size_t growths, grown; /* how often an edge may move, and by how many lambdas */
} grid;

static const grid drift_grid = {5, 0.25, 10, 0.1, 3, 3};
static const grid small_grid = {5, 0.25, 5, 0.01, 3, 1};
static const grid medium_grid = {4, 0.5, 3, 0.01, 3, 1};
static const grid large_grid = {4, 0.5, 3, 0.01, 1, 1};

/* One place of a grid. */
typedef struct place {
    double eta; /* NaN: the kernel has none, or the user named it */
    double l, lambda, score;
} place;

typedef struct paper {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sock_data *train_own, *held_own, *all_own; /* made here */
    const sock_data *train, *held, *all;
    sk_rule *rule;   /* of the training data */
    double distance; /* median distance of the training points: the unit of eta */
    sock_data *part; /* the groups of which the diffusion's grid is searched; NULL: all */
    sk_rule *part_rule;
    const grid *diffusion; /* by the number of unknowns */
    bool landmarks;        /* in the drift's grid */
    int round;
    sock_model *base; /* what was chosen so far */
    double start, constant_score;
    bool limited;
    size_t skipped;
    json_t *table, *times;
} paper;

/* ---- Step 1: data ---- */

static sock_status take_data(paper *p)
{
    const sk_tune_spec *spec = p->spec;
    if (spec->validation) {
        SK_TRY(sk_data_join(p->ctx, spec->data, spec->validation, true, NULL, &p->all_own));
        p->train = spec->data;
        p->held = spec->validation;
        p->all = p->all_own;
    } else {
        if (spec->data->groups < 2)
            return sk_fail(p->ctx, SOCK_EINPUT,
                           "%s: the paper's protocol holds out a fifth of the groups and there is only one; give "
                           "--validation",
                           spec->data->source);
        size_t parts = SK_MIN(spec->data->groups, 5);
        SK_TRY(sock_data_split(p->ctx, spec->data, parts, 0, spec->seed, &p->train_own, &p->held_own));
        p->train = p->train_own;
        p->held = p->held_own;
        p->all = spec->data;
    }
    SK_TRY(sk_rule_new(p->ctx, p->train, "trapezoid", &p->rule));
    return sk_median_distance(p->ctx, p->train->d, p->train->points, p->train->x, &p->distance);
}

static void release(paper *p)
{
    sock_data_free(p->train_own);
    sock_data_free(p->held_own);
    sock_data_free(p->all_own);
    sk_rule_free(p->rule);
    sk_rule_free(p->part_rule);
    sock_data_free(p->part);
    sock_model_free(p->base);
    json_decref(p->table);
    json_decref(p->times);
}

/* ---- Scores ---- */

/* Validation likelihood; -infinity where a step has no density. */
static sock_status held_out(paper *p, const sock_model *model, double *score)
{
    sk_loglik l = {0};
    SK_TRY(sk_log_likelihood(p->ctx, model, p->held, p->spec->delta, &l));
    if (!l.intervals)
        return sk_fail(p->ctx, SOCK_EINPUT, "the validation data hold no interval, so nothing can be judged on them");
    *score = l.singular || l.broken || !isfinite(l.value) ? -(double)INFINITY : l.value;
    return SOCK_OK;
}

/* ... of a drift that takes the values f (points x d) on the training data, a being the one found so far, or at first
 * what this drift leaves over. */
static sock_status held_out_drift(paper *p, sk_drift_term *term, const double *f, double *score)
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
static sock_status score_constant(paper *p)
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

/* ---- Grids ---- */

/* The best place of a grid and what was fitted there. */
typedef struct found {
    place best;
    bool any, edge;
    sk_drift_term *drift;
    sk_diffusion_term *diffusion;
    double dof;
    size_t rank;
    const char *form;           /* of the last fit of the drift */
    sk_diffusion_report solved; /* of the last fit of the diffusion */
    char *kernel;
} found;

static void found_clear(found *f)
{
    sk_drift_term_free(f->drift);
    sk_diffusion_term_free(f->diffusion);
    sk_free(f->kernel);
    *f = (found){0};
}

/* Fits for one eta and falling l; the best goes to *best when it is better than what is there. */
typedef sock_status (*try_fn)(paper *p, double eta, size_t count, const double *l, found *best);

static sock_status make_kernel(paper *p, const char *option, const char *named, const char *family, double eta,
                               const sk_rule *rule, sk_kernel **out)
{
    char text[96];
    snprintf(text, sizeof text, "%s%seta=%.17g", family, strchr(family, ':') ? "," : ":", eta);
    SK_TRY(sk_kernel_parse(p->ctx, option, isnan(eta) ? named : text, out));
    sock_status status = sk_kernel_resolve(p->ctx, option, *out, rule->d, rule->nodes, rule->x);
    if (status < 0) {
        sk_kernel_free(*out);
        *out = NULL;
    }
    return status;
}

static void log_place(paper *p, const char *field, const char *kernel, const place *at, double seconds)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:f, s:f, s:b}", "stage", p->round ? "grid 2" : "grid 1", "field", field,
                            "kernel", kernel, "l", at->l, "lambda", at->lambda, "edge", 0);
    json_object_set_new(row, "score", isfinite(at->score) ? json_real(at->score) : json_null());
    json_array_append_new(p->table, row);
    json_array_append_new(p->times, json_real(seconds));
}

static bool better(const found *best, double score) { return !best->any || score > best->best.score; }

static sock_status note_best(sock_context *ctx, found *best, place at, const char *kernel)
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

static sock_status score_drift(paper *p, sk_drift_term *term, double *score)
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
static sock_status drift_system(paper *p, sk_drift_spec *spec, sk_drift_system **out)
{
    bool many = p->rule->n > MANY_ROWS && sk_kernel_is_implicit(spec->kernel);
    if (!many || p->train->d <= 3) SK_TRY(sk_drift_system_new(p->ctx, p->rule, spec, out));
    if (!many || (*out && strcmp(sk_drift_system_report(*out).path, "exact") != 0)) return SOCK_OK;
    sk_drift_system_free(*out);
    *out = NULL;
    spec->form = SK_FORM_NYSTROM;
    spec->landmarks = LANDMARKS;
    p->landmarks = true;
    return sk_drift_system_new(p->ctx, p->rule, spec, out);
}

static sock_status try_drift(paper *p, double eta, size_t count, const double *l, found *best)
{
    sk_drift_term *term[MOST_LAMBDAS] = {0};
    double lambda[MOST_LAMBDAS], dof[MOST_LAMBDAS], unit = 0, start = sk_seconds();
    sk_kernel *kernel = NULL;
    sk_drift_system *system = NULL;
    char *name = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "drift grid", -1));
    SK_GO(make_kernel(p, "drift", p->spec->drift, "gauss", eta, p->rule, &kernel));
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
        place at = {eta, l[j], lambda[j], score};
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

static sock_status residual_products(paper *p, const sock_data *data, size_t n, const sock_model *drift, double **out)
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

static bool is_large(const paper *p) { return p->diffusion == &large_grid; }

static double tolerance(const paper *p, bool last)
{
    double loosest = p->train->d > 3 ? 1e-4 : 1e-6;
    return p->spec->tolerance > 0 ? p->spec->tolerance : last ? loosest : is_large(p) ? 1e-3 : 1e-4;
}

static sk_diffusion_spec diffusion_spec(const paper *p, const sk_kernel *kernel, bool last)
{
    return (sk_diffusion_spec){.kernel = kernel,
                               .diagonal = p->spec->diagonal_only,
                               .seed = p->spec->seed,
                               .solver = {.tolerance = tolerance(p, last)}};
}

/* Every so many-th group, so that MANY_ROWS intervals or fewer are left; all, where they are few or of one piece. */
static sock_status take_part(paper *p)
{
    const sock_data *data = p->train;
    size_t every = (p->rule->n + MANY_ROWS - 1) / MANY_ROWS, count = 0;
    if (!is_large(p) || every < 2 || data->groups < 10 * every) return SOCK_OK;
    size_t *keep = sk_alloc(p->ctx, data->trajectories, sizeof *keep);
    if (!keep) return SOCK_ENOMEM;
    for (size_t g = 0; g < data->groups; g += every)
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) keep[count++] = data->member[m];
    sock_status status = sk_data_subset(p->ctx, data, keep, count, &p->part);
    sk_free(keep);
    return status < 0 ? status : sk_rule_new(p->ctx, p->part, "trapezoid", &p->part_rule);
}

static const sk_rule *searched_rule(const paper *p) { return p->part ? p->part_rule : p->rule; }

/* How many unknowns Q has in a row, and with it the grid. */
static sock_status measure_diffusion(paper *p)
{
    sk_kernel *kernel = NULL;
    size_t d = p->train->d, blocks = p->spec->diagonal_only ? 1 : d, count = 100;
    if (strcmp(p->spec->diffusion, "auto") != 0) {
        sk_features *map = NULL;
        SK_TRY(make_kernel(p, "diffusion", p->spec->diffusion, "", (double)NAN, p->rule, &kernel));
        if (!sk_kernel_is_implicit(kernel) && !sk_kernel_is_matrix(kernel)) {
            sock_status status = sk_features_new(p->ctx, "diffusion", kernel, d, p->rule->nodes, p->rule->x, &map);
            count = status >= 0 ? sk_features_count(map) : count;
            sk_features_free(map);
        } else
            count = 1000 / blocks; /* see implicit_features */
        sk_kernel_free(kernel);
    }
    size_t order = count * blocks;
    p->diffusion = order > LARGE_ORDER ? &large_grid : order > MEDIUM_ORDER ? &medium_grid : &small_grid;
    return take_part(p);
}

static sock_status score_diffusion(paper *p, sk_diffusion_term *term, double *score)
{
    sock_model with = *p->base; /* its drift, this diffusion */
    with.diffusion_terms = 1;
    with.diffusion = &term;
    with.has_diffusion = true;
    return held_out(p, &with, score);
}

static sock_status try_diffusion(paper *p, double eta, size_t count, const double *l, found *best)
{
    sk_diffusion_term *term[MOST_LAMBDAS] = {0};
    sk_diffusion_report report[MOST_LAMBDAS];
    double lambda[MOST_LAMBDAS], *z = NULL;
    const sk_rule *rule = searched_rule(p);
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    char *name = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "diffusion grid", -1));
    SK_GO(make_kernel(p, "diffusion", p->spec->diffusion, "fourier:p=100", eta, rule, &kernel));
    sk_diffusion_spec spec = diffusion_spec(p, kernel, false);
    SK_GO(sk_diffusion_system_new(p->ctx, rule, &spec, &system));
    double unit = sk_diffusion_unit(system);
    for (size_t j = 0; j < count; j++) lambda[j] = l[j] * (unit > 0 ? unit : 1);
    SK_GO(residual_products(p, p->part ? p->part : p->train, rule->n, p->base, &z));
    if (!(name = sk_kernel_format(p->ctx, kernel))) {
        status = SOCK_ENOMEM;
        goto out;
    }
    double own = -(double)INFINITY; /* best score of this eta */
    for (size_t begin = 0, used; begin < count; begin += used) {
        used = SK_MIN(AT_ONCE, count - begin);
        double last = -(double)INFINITY, since = sk_seconds();
        SK_GO(sk_diffusion_solve(p->ctx, system, z, used, lambda + begin, term + begin, report, NULL));
        for (size_t j = begin; j < begin + used; j++) {
            double score = 0;
            SK_GO(score_diffusion(p, term[j], &score));
            place at = {eta, l[j], lambda[j], score};
            log_place(p, "diffusion", name, &at, (sk_seconds() - since) / (double)used);
            last = fmax(last, score);
            if (!better(best, score)) continue;
            SK_GO(note_best(p->ctx, best, at, name));
            sk_diffusion_term_free(best->diffusion);
            best->diffusion = term[j];
            term[j] = NULL;
        }
        if (last < own - HOPELESS) break; /* past the best: smaller lambdas cost most and do not come back */
        own = fmax(own, last);
    }
out:
    for (size_t j = 0; j < count; j++) sk_diffusion_term_free(term[j]);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
    sk_free(name);
    sk_free(z);
    return status < 0 ? status : SOCK_OK;
}

/* ---- Step 4: grids that grow ---- */

static bool out_of_time(paper *p)
{
    if (!(p->spec->budget > 0) || sk_seconds() - p->start < p->spec->budget) return false;
    p->limited = true;
    p->skipped++;
    return true;
}

static sock_status attempt_lambdas(paper *p, try_fn attempt, double eta, const grid *g, double first, size_t count,
                                   found *best)
{
    double l[MOST_LAMBDAS];
    for (size_t j = 0; j < count; j++) l[j] = first * pow(g->step, (double)j);
    return attempt(p, eta, count, l, best);
}

/* Between the places of a grid with steps of more than a decade. */
static sock_status refine(paper *p, try_fn attempt, const grid *g, found *best)
{
    if (g->step > 0.05 || !isfinite(best->best.score) || out_of_time(p)) return SOCK_OK;
    double root = sqrt(g->step), l[] = {best->best.l / root, best->best.l * root};
    bool whole = best->best.l < 0.99; /* above l = 1 every fit tends to zero */
    return attempt(p, best->best.eta, whole ? 2 : 1, whole ? l : l + 1, best);
}

/* The grid of eta grows at both ends, that of l downwards: above l = 1 every fit tends to zero, and that is told. */
static sock_status search_grid(paper *p, const char *named, try_fn attempt, const grid *g, found *best)
{
    double lowest = pow(g->step, (double)(g->lambdas - 1));
    bool free_eta = strcmp(named, "auto") == 0;
    double least = g->least * p->distance, most = least * pow(2, (double)(g->etas - 1));
    for (size_t i = 0; i < (free_eta ? g->etas : 1); i++) {
        if (best->any && out_of_time(p)) break;
        double eta = free_eta ? least * pow(2, (double)i) : (double)NAN;
        SK_TRY(attempt_lambdas(p, attempt, eta, g, 1, g->lambdas, best));
    }
    for (size_t growth = 0; growth < g->growths; growth++) {
        bool low = free_eta && best->best.eta < 1.01 * least, high = free_eta && best->best.eta > 0.99 * most;
        bool end = best->best.l < 1.01 * lowest;
        if ((!low && !high && !end) || out_of_time(p)) break;
        if (low) SK_TRY(attempt_lambdas(p, attempt, least /= 2, g, 1, g->lambdas, best));
        if (high) SK_TRY(attempt_lambdas(p, attempt, most *= 2, g, 1, g->lambdas, best));
        if (end) {
            SK_TRY(attempt_lambdas(p, attempt, best->best.eta, g, lowest * g->step, g->grown, best));
            lowest *= pow(g->step, (double)g->grown);
        }
    }
    SK_TRY(refine(p, attempt, g, best));
    best->edge = (free_eta && (best->best.eta < 1.01 * least || best->best.eta > 0.99 * most)) || best->best.l > 0.99 ||
                 best->best.l < 1.01 * lowest;
    if (!isfinite(best->best.score))
        return sk_fail(p->ctx, SOCK_ENUMERIC,
                       "no candidate gives the validation data a density; give --delta > 0 for a singular diffusion");
    return SOCK_OK;
}

/* ---- Step 6: all data ---- */

static sock_status refit_drift(paper *p, const sk_rule *rule, found *drift, sock_model *model)
{
    sk_kernel *kernel = NULL;
    sk_drift_system *system = NULL;
    sk_drift_term *term = NULL;
    sock_status status;
    double dof;
    SK_GO(sk_kernel_parse(p->ctx, "drift", drift->kernel, &kernel));
    SK_GO(sk_kernel_resolve(p->ctx, "drift", kernel, rule->d, rule->nodes, rule->x));
    sk_drift_spec spec = {.kernel = kernel, .seed = p->spec->seed, .lambda = drift->best.lambda};
    if (p->landmarks && rule->n > MOST_EXACT) {
        spec.form = SK_FORM_NYSTROM;
        spec.landmarks = LANDMARKS;
    }
    SK_GO(sk_drift_system_new(p->ctx, rule, &spec, &system));
    SK_GO(sk_drift_solve(p->ctx, system, 1, &drift->best.lambda, &term, &dof));
    drift->form = sk_drift_system_report(system).form;
    status = sk_model_add_drift(p->ctx, model, term);
out:
    sk_drift_system_free(system);
    sk_kernel_free(kernel);
    return status;
}

/* Down the path to the chosen lambda: a cold start at a tiny one may fail. */
static sock_status refit_diffusion(paper *p, const sk_rule *rule, found *a, sock_model *model)
{
    enum { MOST = 32 };
    sk_diffusion_term *term[MOST] = {0};
    sk_diffusion_report report[MOST];
    double lambda[MOST], *z = NULL;
    size_t count = 0;
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    sock_status status;
    /* that of large problems goes down by itself, with few features */
    for (double l = fmax(a->best.l, 1); !is_large(p) && count + 1 < MOST && l > 1.01 * a->best.l; l /= 10)
        lambda[count++] = l / a->best.l * a->best.lambda;
    lambda[count++] = a->best.lambda;
    SK_GO(sk_kernel_parse(p->ctx, "diffusion", a->kernel, &kernel));
    SK_GO(sk_kernel_resolve(p->ctx, "diffusion", kernel, rule->d, rule->nodes, rule->x));
    sk_diffusion_spec spec = diffusion_spec(p, kernel, true);
    SK_GO(sk_diffusion_system_new(p->ctx, rule, &spec, &system));
    SK_GO(residual_products(p, p->all, rule->n, model, &z));
    SK_GO(sk_diffusion_solve(p->ctx, system, z, count, lambda, term, report, NULL));
    a->solved = report[count - 1];
    status = sk_model_add_diffusion(p->ctx, model, term[count - 1]);
    term[count - 1] = NULL;
out:
    for (size_t j = 0; j < count; j++) sk_diffusion_term_free(term[j]);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
    sk_free(z);
    return status < 0 ? status : SOCK_OK;
}

static sock_status refit(paper *p, found *drift, found *a, sock_model **out)
{
    sk_rule *rule = NULL;
    sock_model *model = NULL;
    sock_status status;
    SK_GO(sk_rule_new(p->ctx, p->all, "trapezoid", &rule));
    SK_GO(sk_model_new(p->ctx, p->all->d, (const char *const *)p->spec->data->state, &model));
    SK_GO(refit_drift(p, rule, drift, model));
    SK_GO(refit_diffusion(p, rule, a, model));
    *out = model;
    model = NULL;
out:
    sock_model_free(model);
    sk_rule_free(rule);
    return status;
}

/* ---- Report ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static size_t held_steps(const paper *p)
{
    size_t count = 0;
    for (size_t j = 0; j < p->held->trajectories; j++) {
        size_t points = sk_data_length(p->held, j);
        count += points > 1 ? points - 1 : 0;
    }
    return count;
}

static json_t *describe(const paper *p, const found *drift, const found *a)
{
    json_t *report = json_object(), *floor = json_array();
    json_t *entry = json_pack("{s:s, s:b, s:b, s:b, s:f}", "kernel", a->kernel, "polished", 0, "edge", (int)a->edge,
                              "converged", (int)a->solved.converged, "share", 1.0);
    json_object_set_new(entry, "l", number(a->best.l));
    json_object_set_new(entry, "lambda", number(a->best.lambda));
    json_object_set_new(entry, "score", number(a->best.score));
    json_object_set_new(entry, "relative_gap", number(a->solved.primal > 0 ? a->solved.gap / a->solved.primal : 0));
    json_object_set_new(entry, "primal", number(a->solved.primal));
    json_object_set_new(entry, "dual", number(a->solved.dual));
    json_object_set_new(entry, "gap", number(a->solved.gap));
    json_object_set_new(entry, "iterations", json_integer((json_int_t)a->solved.iterations));
    for (size_t k = 0; k < p->train->d; k++) json_array_append_new(floor, json_real(0));
    json_object_set_new(report, "tuned", json_true());
    json_object_set_new(report, "preset", json_string("paper"));
    json_object_set_new(report, "drift", json_string(drift->kernel));
    json_object_set_new(report, "drift_l", number(drift->best.l));
    json_object_set_new(report, "drift_lambda", number(drift->best.lambda));
    json_object_set_new(report, "drift_dof", number(drift->dof));
    json_object_set_new(report, "drift_rank", json_integer((json_int_t)drift->rank));
    json_object_set_new(report, "drift_edge", json_boolean(drift->edge));
    json_object_set_new(report, "drift_form", json_string(drift->form));
    json_object_set_new(report, "search_landmarks", p->landmarks ? json_integer(LANDMARKS) : json_null());
    json_object_set_new(report, "rounds", json_integer(p->round + 1));
    json_object_set_new(report, "search_rows", json_integer((json_int_t)searched_rule(p)->n));
    json_object_set_new(report, "search_tolerance", json_real(tolerance(p, false)));
    json_object_set_new(report, "delta", json_real(p->spec->delta));
    json_object_set_new(report, "drift_score", number(drift->best.score));
    json_object_set_new(report, "diffusion", json_string(a->kernel));
    json_object_set_new(report, "diffusions", json_pack("[o]", entry));
    json_object_set_new(report, "floor", floor);
    json_object_set_new(report, "scale", json_null());
    json_object_set_new(report, "score", number(a->best.score));
    json_object_set_new(report, "score_constant", number(p->constant_score));
    json_object_set_new(report, "folds", json_integer(1));
    json_object_set_new(report, "steps", json_integer((json_int_t)held_steps(p)));
    json_object_set_new(report, "limited", json_boolean(p->limited));
    json_object_set_new(report, "skipped", json_integer((json_int_t)p->skipped));
    json_object_set_new(report, "left_out", json_array());
    json_object_set(report, "search", p->table);
    json_object_set(report, "search_seconds", p->times);
    return report;
}

/* base: this drift and, where there is one, this diffusion, both copied. */
static sock_status set_base(paper *p, const found *drift, const found *a)
{
    sock_model *model = NULL;
    sk_drift_term *f = NULL;
    sk_diffusion_term *term = NULL;
    sock_status status = sk_model_new(p->ctx, p->train->d, (const char *const *)p->train->state, &model);
    if (status >= 0) status = sk_drift_term_copy(p->ctx, drift->drift, &f);
    if (status >= 0) status = sk_model_add_drift(p->ctx, model, f);
    if (status >= 0 && a) status = sk_diffusion_term_copy(p->ctx, a->diffusion, &term);
    if (status >= 0 && a) status = sk_model_add_diffusion(p->ctx, model, term);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    sock_model_free(p->base);
    p->base = model;
    return SOCK_OK;
}

static bool same_place(const place *one, const place *other)
{
    return one->l == other->l && (one->eta == other->eta || (isnan(one->eta) && isnan(other->eta)));
}

/* Steps 2 to 5. */
static sock_status search_pairs(paper *p, found *drift, found *a)
{
    const sk_tune_spec *spec = p->spec;
    found other = {0};
    sock_status status;
    SK_GO(search_grid(p, spec->drift, try_drift, &drift_grid, drift));
    SK_GO(set_base(p, drift, NULL));
    SK_GO(search_grid(p, spec->diffusion, try_diffusion, p->diffusion, a));
    if (out_of_time(p)) goto out;
    SK_GO(set_base(p, drift, a));
    p->round = 1;
    SK_GO(search_grid(p, spec->drift, try_drift, &drift_grid, &other));
    bool same = same_place(&drift->best, &other.best);
    found_clear(drift);
    *drift = other;
    other = (found){0};
    if (same || out_of_time(p)) goto out;
    SK_GO(set_base(p, drift, NULL));
    grid near = *p->diffusion; /* around the eta found before */
    if (a->best.eta > 0) near.etas = 3, near.least = 0.5 * a->best.eta / p->distance;
    found_clear(a);
    SK_GO(search_grid(p, spec->diffusion, try_diffusion, &near, a));
out:
    found_clear(&other);
    return status;
}

sock_status sk_tune_paper(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, json_t **report)
{
    paper p = {.ctx = ctx, .spec = spec, .start = sk_seconds(), .table = json_array(), .times = json_array()};
    found drift = {0}, a = {0};
    sock_status status;
    SK_GO(take_data(&p));
    SK_GO(sk_model_new(ctx, p.train->d, (const char *const *)p.train->state, &p.base));
    SK_GO(measure_diffusion(&p));
    SK_GO(score_constant(&p));
    SK_GO(search_pairs(&p, &drift, &a));
    SK_GO(refit(&p, &drift, &a, out));
    *report = describe(&p, &drift, &a);
    sk_begin(ctx); /* a convex problem on the way may have left a caveat */
    if (p.limited)
        status =
            sk_fail(ctx, SOCK_LIMITED, "the budget of %g s ended the search early: %zu steps of a grid were left out",
                    spec->budget, p.skipped);
out:
    found_clear(&drift);
    found_clear(&a);
    release(&p);
    return status;
}
