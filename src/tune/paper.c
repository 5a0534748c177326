/* paper.c - the paper's protocol: two grid searches one after the other.
 *
 *   1. Data: training and validation set; without the latter a fifth of the groups is held out.
 *   2. Drift: for each eta one system, solved for all lambdas; the pair whose Euler likelihood on the validation data
 * is largest, a taken as the covariance of the training increments.
 *   3. Diffusion: residuals of that drift; for each eta one convex problem along the lambdas, large to small; the pair
 *      with the largest Euler likelihood, now with its own a.
 *   4. A best pair on the edge of its grid makes the grid grow, a few times; then it is told.
 *   5. The chosen pair is fitted again to all data, training and validation.
 *
 * Cost: (etas) drift systems and (etas x lambdas) convex problems of p = 100 features. */
#include "tune/paper.h"

#include "score/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A convex problem of the grid that takes longer is used as it is then; the final one states its gap. */
static const double SOLVER_SECONDS = 5;

enum { FIRST_ETAS = 5, LAMBDAS = 10, GROWN_LAMBDAS = 3, GROWTHS = 3, AT_ONCE = 3, HOPELESS = 10 };

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
    sk_rule *rule;    /* of the training data */
    double distance;  /* median distance of the training points: the unit of eta */
    sock_model *base; /* drift so far and the covariance of the increments */
    double start, constant_score;
    bool limited;
    size_t skipped;
    json_t *table, *times;
} paper;

/* ---- Step 1: data ---- */

/* Two data sets as one; groups stay what they are. */
static sock_status join(sock_context *ctx, const sock_data *one, const sock_data *other, sock_data **out)
{
    const sock_data *part[] = {one, other};
    size_t trajectories = one->trajectories + other->trajectories, points = one->points + other->points, d = one->d;
    size_t *length = sk_alloc(ctx, trajectories, sizeof *length), *group = sk_alloc(ctx, trajectories, sizeof *group);
    double *t = sk_doubles(ctx, points, 1), *x = sk_doubles(ctx, points, d);
    sock_status status = length && group && t && x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t s = 0, j = 0, at = 0; status >= 0 && s < 2; s++) {
        const sock_data *data = part[s];
        for (size_t g = 0; g < data->groups; g++)
            for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++)
                group[j + data->member[m]] = g + (s ? one->groups : 0);
        for (size_t u = 0; u < data->trajectories; u++) length[j + u] = sk_data_length(data, u);
        memcpy(t + at, data->t, data->points * sizeof *t);
        memcpy(x + at * d, data->x, data->points * d * sizeof *x);
        j += data->trajectories;
        at += data->points;
    }
    if (status >= 0)
        status = sock_data_from_arrays(ctx, d, trajectories, length, t, x, (const char *const *)one->state, group, NULL,
                                       out);
    sk_free(length);
    sk_free(group);
    sk_free(t);
    sk_free(x);
    return status;
}

static sock_status take_data(paper *p)
{
    const sk_tune_spec *spec = p->spec;
    if (spec->validation) {
        SK_TRY(join(p->ctx, spec->data, spec->validation, &p->all_own));
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

/* A constant diffusion C (d x d) as a term: V = a factor of C; a pivot lost to rounding gives a zero column. */
static sock_status constant_term(sock_context *ctx, size_t d, const double *c, sk_diffusion_term **out)
{
    sk_kernel *one = NULL;
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = term->rank = d;
    term->v = sk_doubles(ctx, d, d);
    sock_status status = term->v ? sk_kernel_parse(ctx, "diffusion", "constant", &one) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_new(ctx, "diffusion", one, d, 0, NULL, &term->map);
    sk_kernel_free(one);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    double *l = term->v;
    for (size_t k = 0; k < d; k++)
        for (size_t i = k; i < d; i++) {
            double sum = c[i * d + k];
            for (size_t j = 0; j < k; j++) sum -= l[i * d + j] * l[k * d + j];
            if (i == k)
                l[k * d + k] = sum > 1e-14 * c[k * d + k] ? sqrt(sum) : 0;
            else
                l[i * d + k] = l[k * d + k] > 0 ? sum / l[k * d + k] : 0;
        }
    *out = term;
    return SOCK_OK;
}

/* Mean and covariance of the single steps of the training data, per unit of time: drift (d) and a (d x d), zeros. */
static void increments(const sock_data *data, double *drift, double *a)
{
    size_t d = data->d, n = 0;
    double time = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, n++) {
            time += data->t[i + 1] - data->t[i];
            for (size_t k = 0; k < d; k++) drift[k] += data->x[(i + 1) * d + k] - data->x[i * d + k];
        }
    for (size_t k = 0; k < d; k++) drift[k] /= time;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            const double *x = data->x + i * d, h = data->t[i + 1] - data->t[i];
            for (size_t k = 0; k < d * d; k++)
                a[k] += (x[d + k / d] - x[k / d] - h * drift[k / d]) * (x[d + k % d] - x[k % d] - h * drift[k % d]) /
                        (h * (double)n);
        }
}

/* Constant coefficients: what every model should beat. base gets their diffusion alone, for the search of the drift. */
static sock_status constant_model(paper *p)
{
    size_t d = p->train->d;
    double *drift = sk_doubles(p->ctx, d, 1), *a = sk_doubles(p->ctx, d, d);
    sk_diffusion_term *term = NULL;
    sk_drift_term *mean = NULL;
    sock_status status = drift && a ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) increments(p->train, drift, a);
    if (status >= 0) status = sk_model_new(p->ctx, d, (const char *const *)p->train->state, &p->base);
    if (status >= 0) status = constant_term(p->ctx, d, a, &term);
    if (status >= 0) status = sk_model_add_diffusion(p->ctx, p->base, term);
    if (status >= 0 && !(mean = sk_alloc(p->ctx, 1, sizeof *mean))) status = SOCK_ENOMEM;
    if (status >= 0) {
        mean->d = d;
        status = sk_features_copy(p->ctx, term->map, &mean->map);
        mean->weight = drift; /* of the one feature, 1 */
        drift = NULL;
        sock_model alone = *p->base; /* the same diffusion and this drift, for one evaluation */
        alone.drift_terms = 1;
        alone.drift = &mean;
        if (status >= 0) status = held_out(p, &alone, &p->constant_score);
    }
    sk_drift_term_free(mean);
    sk_free(drift);
    sk_free(a);
    return status;
}

/* ---- Grids ---- */

/* The best place of a grid and what was fitted there. */
typedef struct found {
    place best;
    bool any, edge;
    sk_drift_term *drift;
    sk_diffusion_term *diffusion;
    double dof, gap;
    size_t rank;
    bool converged;
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

static void log_place(paper *p, const char *field, const char *kernel, double l, double score, double seconds)
{
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:f, s:b}", "stage", "grid", "field", field, "kernel", kernel, "l", l, "edge", 0);
    json_object_set_new(row, "score", isfinite(score) ? json_real(score) : json_null());
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
    sock_model with = *p->base; /* its diffusion, this drift */
    with.drift_terms = 1;
    with.drift = &term;
    return held_out(p, &with, score);
}

static sock_status try_drift(paper *p, double eta, size_t count, const double *l, found *best)
{
    sk_drift_term *term[LAMBDAS + GROWN_LAMBDAS] = {0};
    double lambda[LAMBDAS + GROWN_LAMBDAS], dof[LAMBDAS + GROWN_LAMBDAS], unit = 0, start = sk_seconds();
    sk_kernel *kernel = NULL;
    sk_drift_system *system = NULL;
    char *name = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "drift grid", -1));
    SK_GO(make_kernel(p, "drift", p->spec->drift, "gauss", eta, p->rule, &kernel));
    SK_GO(sk_drift_unit(p->ctx, p->rule, kernel, &unit));
    for (size_t j = 0; j < count; j++) lambda[j] = l[j] * (unit > 0 ? unit : 1);
    sk_drift_spec spec = {.kernel = kernel, .seed = p->spec->seed, .lambda = lambda[count - 1]};
    SK_GO(sk_drift_system_new(p->ctx, p->rule, &spec, &system));
    SK_GO(sk_drift_solve(p->ctx, system, count, lambda, term, dof));
    if (!(name = sk_kernel_format(p->ctx, kernel))) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t j = 0; j < count; j++) {
        double score = 0;
        SK_GO(score_drift(p, term[j], &score));
        log_place(p, "drift", name, l[j], score, (sk_seconds() - start) / (double)count);
        if (!better(best, score)) continue;
        SK_GO(note_best(p->ctx, best, (place){eta, l[j], lambda[j], score}, name));
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

static sk_diffusion_spec diffusion_spec(const paper *p, const sk_kernel *kernel)
{
    double tolerance = p->spec->tolerance > 0 ? p->spec->tolerance : p->train->d > 3 ? 1e-4 : 1e-6;
    return (sk_diffusion_spec){.kernel = kernel,
                               .diagonal = p->spec->diagonal_only,
                               .seed = p->spec->seed,
                               .solver = {.tolerance = tolerance, .seconds = SOLVER_SECONDS}};
}

static sock_status score_diffusion(paper *p, sk_diffusion_term *term, double *score)
{
    sock_model with = *p->base; /* its drift, this diffusion */
    with.diffusion_terms = 1;
    with.diffusion = &term;
    return held_out(p, &with, score);
}

static sock_status try_diffusion(paper *p, double eta, size_t count, const double *l, found *best)
{
    sk_diffusion_term *term[LAMBDAS + GROWN_LAMBDAS] = {0};
    sk_diffusion_report report[LAMBDAS + GROWN_LAMBDAS];
    double lambda[LAMBDAS + GROWN_LAMBDAS], *z = NULL;
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    char *name = NULL;
    sock_status status;
    SK_GO(sk_progress(p->ctx, "diffusion grid", -1));
    SK_GO(make_kernel(p, "diffusion", p->spec->diffusion, "fourier:p=100", eta, p->rule, &kernel));
    sk_diffusion_spec spec = diffusion_spec(p, kernel);
    SK_GO(sk_diffusion_system_new(p->ctx, p->rule, &spec, &system));
    double unit = sk_diffusion_unit(system);
    for (size_t j = 0; j < count; j++) lambda[j] = l[j] * (unit > 0 ? unit : 1);
    SK_GO(residual_products(p, p->train, p->rule->n, p->base, &z));
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
            log_place(p, "diffusion", name, l[j], score, (sk_seconds() - since) / (double)used);
            last = fmax(last, score);
            if (!better(best, score)) continue;
            SK_GO(note_best(p->ctx, best, (place){eta, l[j], lambda[j], score}, name));
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

/* The grid of eta grows at both ends, that of l downwards: above l = 1 every fit tends to zero, and that is told. */
static sock_status search_grid(paper *p, const char *named, try_fn attempt, found *best)
{
    double l[LAMBDAS], more[GROWN_LAMBDAS], lowest = pow(10, -(LAMBDAS - 1));
    double least = 0.25 * p->distance, most = 4 * p->distance;
    bool free_eta = strcmp(named, "auto") == 0;
    for (size_t j = 0; j < LAMBDAS; j++) l[j] = pow(10, -(double)j);
    for (size_t i = 0; i < (free_eta ? FIRST_ETAS : 1); i++) {
        if (best->any && out_of_time(p)) break;
        SK_TRY(attempt(p, free_eta ? least * pow(2, (double)i) : (double)NAN, LAMBDAS, l, best));
    }
    for (int growth = 0; growth < GROWTHS; growth++) {
        bool low = free_eta && best->best.eta < 1.01 * least, high = free_eta && best->best.eta > 0.99 * most;
        bool end = best->best.l < 1.01 * lowest;
        if ((!low && !high && !end) || out_of_time(p)) break;
        if (low) SK_TRY(attempt(p, least /= 2, LAMBDAS, l, best));
        if (high) SK_TRY(attempt(p, most *= 2, LAMBDAS, l, best));
        if (end) {
            for (size_t j = 0; j < GROWN_LAMBDAS; j++) more[j] = lowest /= 10;
            SK_TRY(attempt(p, best->best.eta, GROWN_LAMBDAS, more, best));
        }
    }
    best->edge = (free_eta && (best->best.eta < 1.01 * least || best->best.eta > 0.99 * most)) || best->best.l > 0.99 ||
                 best->best.l < 1.01 * lowest;
    if (!isfinite(best->best.score))
        return sk_fail(p->ctx, SOCK_ENUMERIC,
                       "no candidate gives the validation data a density; give --delta > 0 for a singular diffusion");
    return SOCK_OK;
}

/* ---- Step 5: all data ---- */

static sock_status refit_drift(paper *p, const sk_rule *rule, const found *drift, sock_model *model)
{
    sk_kernel *kernel = NULL;
    sk_drift_system *system = NULL;
    sk_drift_term *term = NULL;
    sock_status status;
    double dof;
    SK_GO(sk_kernel_parse(p->ctx, "drift", drift->kernel, &kernel));
    SK_GO(sk_kernel_resolve(p->ctx, "drift", kernel, rule->d, rule->nodes, rule->x));
    sk_drift_spec spec = {.kernel = kernel, .seed = p->spec->seed, .lambda = drift->best.lambda};
    SK_GO(sk_drift_system_new(p->ctx, rule, &spec, &system));
    SK_GO(sk_drift_solve(p->ctx, system, 1, &drift->best.lambda, &term, &dof));
    status = sk_model_add_drift(p->ctx, model, term);
out:
    sk_drift_system_free(system);
    sk_kernel_free(kernel);
    return status;
}

/* Down the path to the chosen lambda: a cold start at a tiny one may fail. */
static sock_status refit_diffusion(paper *p, const sk_rule *rule, found *a, sock_model *model)
{
    enum { MOST = LAMBDAS + GROWTHS * GROWN_LAMBDAS + 1 };
    sk_diffusion_term *term[MOST] = {0};
    sk_diffusion_report report[MOST];
    double lambda[MOST], *z = NULL;
    size_t count = 0;
    sk_kernel *kernel = NULL;
    sk_diffusion_system *system = NULL;
    sock_status status;
    for (double l = fmax(a->best.l, 1); count + 1 < MOST && l > 1.01 * a->best.l; l /= 10)
        lambda[count++] = l / a->best.l * a->best.lambda;
    lambda[count++] = a->best.lambda;
    SK_GO(sk_kernel_parse(p->ctx, "diffusion", a->kernel, &kernel));
    SK_GO(sk_kernel_resolve(p->ctx, "diffusion", kernel, rule->d, rule->nodes, rule->x));
    sk_diffusion_spec spec = diffusion_spec(p, kernel);
    SK_GO(sk_diffusion_system_new(p->ctx, rule, &spec, &system));
    SK_GO(residual_products(p, p->all, rule->n, model, &z));
    SK_GO(sk_diffusion_solve(p->ctx, system, z, count, lambda, term, report, NULL));
    const sk_diffusion_report *last = &report[count - 1];
    a->gap = last->primal > 0 ? last->gap / last->primal : 0;
    a->converged = last->converged;
    status = sk_model_add_diffusion(p->ctx, model, term[count - 1]);
    term[count - 1] = NULL;
out:
    for (size_t j = 0; j < count; j++) sk_diffusion_term_free(term[j]);
    sk_diffusion_system_free(system);
    sk_kernel_free(kernel);
    sk_free(z);
    return status < 0 ? status : SOCK_OK;
}

static sock_status refit(paper *p, const found *drift, found *a, sock_model **out)
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
                              "converged", (int)a->converged, "share", 1.0);
    json_object_set_new(entry, "l", number(a->best.l));
    json_object_set_new(entry, "lambda", number(a->best.lambda));
    json_object_set_new(entry, "score", number(a->best.score));
    json_object_set_new(entry, "relative_gap", number(a->gap));
    for (size_t k = 0; k < p->train->d; k++) json_array_append_new(floor, json_real(0));
    json_object_set_new(report, "tuned", json_true());
    json_object_set_new(report, "preset", json_string("paper"));
    json_object_set_new(report, "drift", json_string(drift->kernel));
    json_object_set_new(report, "drift_l", number(drift->best.l));
    json_object_set_new(report, "drift_lambda", number(drift->best.lambda));
    json_object_set_new(report, "drift_dof", number(drift->dof));
    json_object_set_new(report, "drift_rank", json_integer((json_int_t)drift->rank));
    json_object_set_new(report, "drift_edge", json_boolean(drift->edge));
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

sock_status sk_tune_paper(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, json_t **report)
{
    paper p = {.ctx = ctx, .spec = spec, .start = sk_seconds(), .table = json_array(), .times = json_array()};
    found drift = {0}, a = {0};
    sock_status status;
    SK_GO(take_data(&p));
    SK_GO(constant_model(&p));
    SK_GO(search_grid(&p, spec->drift, try_drift, &drift));
    sk_drift_term *chosen = drift.drift;
    drift.drift = NULL; /* the model takes it in any case */
    SK_GO(sk_model_add_drift(ctx, p.base, chosen));
    SK_GO(search_grid(&p, spec->diffusion, try_diffusion, &a));
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
