/* search.c - the stages of tune.h, in order. */
#include "tune/candidates.h"
#include "tune/eulercv.h"
#include "tune/folds.h"
#include "tune/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCREEN_ROWS = 2000, SCREEN_FOLDS = 2, FINALISTS = 3, POLISHED = 4, AVERAGED = 8, HOPELESS = 20, MOST = 64 };

static const double fine_grid[] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
static const double thin_grid[] = {1, 1e-2, 1e-4, 1e-6, 1e-8};

typedef struct search {
    sock_context *ctx;
    const sk_tune_spec *spec;
    sk_problem *full, *screen; /* screen is full where there are few rows */
    sk_candidates list;
    sk_drift_result *drift[MOST]; /* of the last stage on all folds; NULL: not alive */
    sk_diffusion_result *diffusion[MOST];
    double *leftover; /* (folds + 1) x n x d */
    size_t best_drift, best_diffusion;
    double score; /* of the current model, held out */
    sock_model *model;
    bool model_diagonal;
    bool unpolished[MOST];                 /* the polish lost clearly: it is not tried again */
    double calibration;                    /* of the final model */
    double final_score;                    /* the same, held out, with shares and floor */
    double *final_cluster;                 /* clusters; for their Euler likelihood another so many */
    double constant_score, constant_euler; /* by the likelihood of the search, and by Euler's */
    sk_drift_result *constant_drift;       /* constant coefficients, what every model should beat */
    sk_diffusion_result *constant_diffusion;
    double start;
    bool limited;
    size_t skipped;        /* candidates that the budget left out */
    json_t *left_out;      /* stages that it left out */
    json_t *table, *times; /* the search, row by row; seconds of each row apart: they differ from run to run */
} search;

/* Share of the whole search done when a stage begins, from where the time goes on the data sets of docs/accuracy.md. */
static double share_done(const char *stage, bool diffusion)
{
    static const struct {
        const char *stage;
        double drift, diffusion;
    } table[] = {{"pilot", 0.02, 0.04},   {"screen", 0.08, 0.25}, {"round 1", 0.45, 0.48},
                 {"round 2", 0.62, 0.64}, {"final", 0.78, 0.80},  {"refit", 0.92, 0.93}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].stage, stage) == 0) return diffusion ? table[i].diffusion : table[i].drift;
    return -1;
}

static double seconds_left(const search *s)
{
    return s->spec->budget > 0 ? s->spec->budget - (sk_seconds() - s->start) : (double)INFINITY;
}

/* Whether the budget has no room for this stage; then it is noted as left out. */
static bool leave_out(search *s, const char *stage)
{
    if (seconds_left(s) > 0) return false;
    s->limited = true;
    json_array_append_new(s->left_out, json_string(stage));
    return true;
}

/* The score over the penalties: [[l, score], ...], as far as they were tried. */
static json_t *curve_of(size_t lambdas, const double *l, const double *by_l)
{
    json_t *curve = json_array();
    for (size_t j = 0; j < lambdas; j++)
        if (isfinite(by_l[j])) json_array_append_new(curve, json_pack("[f, f]", l[j], by_l[j]));
    return curve;
}

/* To the row that was written last. */
static void log_curve(search *s, json_t *curve)
{
    json_object_set_new(json_array_get(s->table, json_array_size(s->table) - 1), "by_l", curve);
}

/* The rows of the screen are many, and rough: they go without. */
static bool wants_curve(const char *stage) { return strcmp(stage, "pilot") != 0 && strcmp(stage, "screen") != 0; }

static void log_row(search *s, const char *stage, const char *field, const char *name, double l, double score,
                    bool edge, double seconds)
{
    json_t *row = json_pack("{s:s, s:s, s:s}", "stage", stage, "field", field, "kernel", name);
    json_object_set_new(row, "l", l > 0 ? json_real(l) : json_null());
    json_object_set_new(row, "score", isfinite(score) ? json_real(score) : json_null());
    json_object_set_new(row, "edge", json_boolean(edge));
    json_array_append_new(s->table, row);
    json_array_append_new(s->times, json_real(seconds));
}

/* ---- Candidates in parallel ---- */

typedef struct task {
    search *s;
    const sk_problem *p;
    const sk_candidates *list;
    size_t folds;
    sk_drift_result **drift;
    sk_diffusion_result **diffusion;
    const bool *alive;
    size_t needed; /* this one is computed even when the budget is spent */
    bool skipped[MOST];
    const sk_leftover *leftover;
    const sk_diffusion_options *options;
    double last_l[MOST]; /* best penalty of each diffusion in the stage before; 0: none */
} task;

/* The best so far, or else the first one alive. */
static size_t needed_candidate(size_t best, const bool *alive)
{
    if (best < MOST && alive[best]) return best;
    for (best = 0; best < MOST && !alive[best];) best++;
    return best;
}

static bool due(task *t, size_t i)
{
    if (!t->alive[i]) return false;
    t->skipped[i] = i != t->needed && seconds_left(t->s) <= 0;
    return !t->skipped[i];
}

static void count_skipped(task *t, size_t candidates)
{
    for (size_t i = 0; i < candidates; i++) t->s->skipped += t->skipped[i];
    if (t->s->skipped) t->s->limited = true;
}

/* A candidate that cannot be computed drops out; only real trouble stops the search. */
static sock_status tolerate(sock_status status) { return status == SOCK_ENUMERIC ? SOCK_OK : status; }

static sock_status drift_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    task *t = argument;
    for (size_t i = begin; i < end; i++)
        if (due(t, i))
            SK_TRY(tolerate(sk_drift_cross_validate(t->s->ctx, t->p, &t->list->drift[i], t->folds, &t->drift[i])));
    return SOCK_OK;
}

/* A candidate that has a best penalty from the stage before is looked at a decade to both sides of it; when the best is
 * then at the end of this window and not of the grid, the window moves there. */
static sock_status cross_validate_near(const task *t, size_t i, sk_diffusion_result **out)
{
    enum { MOVES = 3 };
    size_t at = 0, last = t->options->lambdas - 1;
    while (at < last && t->options->l[at] > t->last_l[i] * 1.01) at++;
    for (int move = 0; t->last_l[i] > 0 && move <= MOVES; move++) {
        sk_diffusion_options near = *t->options;
        size_t begin = at ? at - 1 : 0, end = SK_MIN(at + 1, last);
        near.l += begin;
        near.lambdas = end - begin + 1;
        sock_status status =
            sk_diffusion_cross_validate(t->s->ctx, t->p, &t->list->diffusion[i], t->leftover, &near, out);
        if (status < 0) {
            SK_TRY(tolerate(status));
            break;
        }
        size_t best = begin;
        while (best < end && t->options->l[best] > (*out)->l * 1.01) best++;
        if (!(*out)->edge || best == at || best == 0 || best == last) return status;
        at = best;
        sk_diffusion_result_free(*out);
        *out = NULL;
    }
    return sk_diffusion_cross_validate(t->s->ctx, t->p, &t->list->diffusion[i], t->leftover, t->options, out);
}

static sock_status diffusion_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    task *t = argument;
    for (size_t i = begin; i < end; i++)
        if (due(t, i)) SK_TRY(tolerate(cross_validate_near(t, i, &t->diffusion[i])));
    return SOCK_OK;
}

static void clear_drifts(sk_drift_result **results)
{
    for (size_t i = 0; i < MOST; i++) {
        sk_drift_result_free(results[i]);
        results[i] = NULL;
    }
}

static void clear_diffusions(sk_diffusion_result **results)
{
    for (size_t i = 0; i < MOST; i++) {
        sk_diffusion_result_free(results[i]);
        results[i] = NULL;
    }
}

/* *best: on entry the best of an earlier stage, or MOST. */
static sock_status run_drifts(search *s, const char *stage, const sk_problem *p, const sk_candidates *list,
                              size_t folds, const bool *alive, sk_drift_result **out, size_t *best)
{
    task t = {.s = s, .p = p, .list = list, .folds = folds, .drift = out, .alive = alive};
    t.needed = needed_candidate(*best, alive);
    clear_drifts(out);
    char text[48];
    snprintf(text, sizeof text, "%s: drift", stage);
    SK_TRY(sk_progress(s->ctx, text, share_done(stage, false)));
    SK_TRY(sk_parallel_for(s->ctx, list->drifts, 1, drift_range, &t));
    count_skipped(&t, list->drifts);
    *best = MOST;
    for (size_t i = 0; i < list->drifts; i++) {
        if (!alive[i] || t.skipped[i]) continue;
        log_row(s, stage, "drift", list->drift[i].name, out[i] ? out[i]->l : 0,
                out[i] ? out[i]->score : -(double)INFINITY, out[i] && out[i]->edge, out[i] ? out[i]->seconds : 0);
        if (out[i] && out[i]->l > 0 && wants_curve(stage))
            log_curve(s, curve_of(SK_LAMBDAS, sk_drift_lambdas, out[i]->by_l));
        if (out[i] && (*best == MOST || out[i]->score > out[*best]->score)) *best = i;
    }
    if (*best == MOST) return sk_fail(s->ctx, SOCK_ENUMERIC, "no drift could be fitted to these data");
    sk_begin(s->ctx);
    return SOCK_OK;
}

static sock_status run_diffusions(search *s, const char *stage, const sk_problem *p, const sk_candidates *list,
                                  const sk_leftover *leftover, const sk_diffusion_options *options, const bool *alive,
                                  sk_diffusion_result **out, size_t *best)
{
    task t = {.s = s, .p = p, .list = list, .diffusion = out, .alive = alive, .leftover = leftover, .options = options};
    t.needed = needed_candidate(*best, alive);
    for (size_t i = 0; i < list->diffusions; i++) t.last_l[i] = out[i] ? out[i]->l : 0;
    clear_diffusions(out);
    char text[48];
    snprintf(text, sizeof text, "%s: diffusion", stage);
    SK_TRY(sk_progress(s->ctx, text, share_done(stage, true)));
    SK_TRY(sk_parallel_for(s->ctx, list->diffusions, 1, diffusion_range, &t));
    count_skipped(&t, list->diffusions);
    *best = MOST;
    for (size_t i = 0; i < list->diffusions; i++) {
        if (!alive[i] || t.skipped[i]) continue;
        log_row(s, stage, "diffusion", list->diffusion[i].name, out[i] ? out[i]->l : 0,
                out[i] ? out[i]->score : -(double)INFINITY, out[i] && out[i]->edge, out[i] ? out[i]->seconds : 0);
        if (out[i] && out[i]->grid && wants_curve(stage))
            log_curve(s, curve_of(out[i]->lambdas, out[i]->grid, out[i]->by_l));
        if (out[i] && (*best == MOST || out[i]->score > out[*best]->score)) *best = i;
    }
    if (*best == MOST) return sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data");
    sk_begin(s->ctx);
    return SOCK_OK;
}

/* Standard error of a difference of scores, over clusters. */
static double paired_error(size_t clusters, const double *a, const double *b)
{
    double mean = 0, square = 0;
    for (size_t u = 0; u < clusters; u++) mean += (a[u] - b[u]) / (double)clusters;
    for (size_t u = 0; u < clusters; u++) square += pow(a[u] - b[u] - mean, 2);
    return clusters > 1 ? sqrt((double)clusters * square / (double)(clusters - 1)) : (double)INFINITY;
}

/* ---- Leftovers and models ---- */

static sock_status fill_leftover(search *s, const sk_problem *p, const sk_drift_result *r, double **out)
{
    size_t size = p->n * p->d;
    double *e = sk_doubles(s->ctx, p->folds + 1, size);
    if (!e) return SOCK_ENOMEM;
    for (size_t f = 0; f <= p->folds; f++) sk_drift_residuals(s->ctx, p, r, f, e + f * size);
    sk_free(*out);
    *out = e;
    return SOCK_OK;
}

static sock_status make_model(search *s, const sk_problem *p, const sk_drift_result *f, size_t parts,
                              sk_diffusion_result *const *a, const double *share, double floor, sock_model **out)
{
    sock_model *model = NULL;
    sk_drift_term *drift = NULL;
    SK_TRY(sk_model_new(s->ctx, p->d, (const char *const *)s->spec->data->state, &model));
    sock_status status = sk_drift_result_term(s->ctx, f, p->folds, p->d, &drift);
    if (status >= 0) status = sk_model_add_drift(s->ctx, model, drift);
    for (size_t i = 0; status >= 0 && i < parts; i++) {
        sk_diffusion_term *term = NULL;
        if (!(share[i] > 0)) continue;
        status = sk_diffusion_result_term(s->ctx, a[i], p->folds, p->d, share[i], &term);
        if (status >= 0) status = sk_model_add_diffusion(s->ctx, model, term);
    }
    model->floor = floor;
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    *out = model;
    return SOCK_OK;
}

static sock_status model_of_two(search *s, const sk_problem *p, const sk_drift_result *f, sk_diffusion_result *a,
                                sock_model **out)
{
    double one = 1;
    return make_model(s, p, f, 1, &a, &one, 0, out);
}

static void take_model(search *s, sock_model *model, bool diagonal)
{
    sock_model_free(s->model);
    s->model = model;
    s->model_diagonal = diagonal;
}

static double tolerance(const search *s)
{
    return s->spec->tolerance > 0 ? s->spec->tolerance : s->full->d > 3 ? 1e-4 : 1e-6;
}

/* ---- Pilot ---- */

static sock_status pilot(search *s)
{
    sk_problem *p = s->screen;
    sk_candidates few = {0};
    sk_drift_result *f[MOST] = {0};
    sk_diffusion_result *a[MOST] = {0};
    bool alive[MOST];
    size_t best_f = MOST, best_a = MOST, folds = SK_MIN(SCREEN_FOLDS, p->folds);
    double *e = NULL;
    sock_model *model = NULL;
    sock_status status;
    memset(alive, 1, sizeof alive);
    SK_GO(sk_candidates_new(s->ctx, s->spec, p->steps, true, &few));
    SK_GO(sk_problem_condition(s->ctx, p, NULL, false, p->d > 3));
    SK_GO(run_drifts(s, "pilot", p, &few, folds, alive, f, &best_f));
    SK_GO(fill_leftover(s, p, f[best_f], &e));
    sk_leftover leftover = {.e = e};
    sk_diffusion_options options = {folds, thin_grid, 4, 1e-4, true};
    SK_GO(run_diffusions(s, "pilot", p, &few, &leftover, &options, alive, a, &best_a));
    SK_GO(model_of_two(s, p, f[best_f], a[best_a], &model));
    take_model(s, model, a[best_a]->diagonal);
out:
    clear_drifts(f);
    clear_diffusions(a);
    sk_candidates_clear(&few);
    sk_free(e);
    return status;
}

/* ---- Screen ---- */

/* Simple candidates that the screen may not throw out: least squares on few rows does them wrong where a is singular.
 */
static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0) list++;
    return *list != NULL;
}

/* Which candidates are within `errors` paired standard errors of the best, at most `most` of them by score. */
static void survivors(size_t count, const double *score, double *const *cluster, size_t clusters, size_t best,
                      size_t most, bool *alive)
{
    const double errors = 1.5;
    for (size_t i = 0; i < count; i++)
        alive[i] = cluster[i] &&
                   (i == best || score[best] - score[i] <= errors * paired_error(clusters, cluster[best], cluster[i]));
    for (size_t i = 0; i < count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < count; j++) better += alive[j] && cluster[j] && alive[i] && score[j] > score[i];
        if (better >= most) alive[i] = false;
    }
}

static sock_status screen_drifts(search *s, sk_drift_result **f, size_t *best, bool *alive)
{
    bool all[MOST];
    double score[MOST] = {0}, *cluster[MOST] = {0};
    memset(all, 1, sizeof all);
    SK_TRY(run_drifts(s, "screen", s->screen, &s->list, SK_MIN(SCREEN_FOLDS, s->screen->folds), all, f, best));
    for (size_t i = 0; i < s->list.drifts; i++)
        if (f[i]) {
            score[i] = f[i]->score;
            cluster[i] = f[i]->cluster;
        }
    survivors(s->list.drifts, score, cluster, s->screen->clusters, *best, 6, alive);
    static const char *const basic[] = {"linear", "affine", "affine learned", "poly:degree=2 learned", NULL};
    for (size_t i = 0; i < s->list.drifts; i++)
        alive[i] = alive[i] || (f[i] && is_one_of(s->list.drift[i].name, basic));
    return SOCK_OK;
}

static sock_status screen_diffusions(search *s, const sk_drift_result *f, bool *alive)
{
    sk_diffusion_result *a[MOST] = {0};
    bool all[MOST];
    double score[MOST] = {0}, *cluster[MOST] = {0}, *e = NULL;
    size_t best = MOST;
    sock_status status;
    memset(all, 1, sizeof all);
    SK_GO(fill_leftover(s, s->screen, f, &e));
    sk_leftover leftover = {.e = e, .correct = s->spec->correct};
    sk_diffusion_options options = {SK_MIN(SCREEN_FOLDS, s->screen->folds), thin_grid, 5, tolerance(s), false};
    SK_GO(run_diffusions(s, "screen", s->screen, &s->list, &leftover, &options, all, a, &best));
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (a[i]) {
            score[i] = a[i]->score;
            cluster[i] = a[i]->cluster;
        }
    survivors(s->list.diffusions, score, cluster, s->screen->clusters, best, 8, alive);
    s->best_diffusion = best;
    static const char *const basic[] = {"linear", "affine", "constant", "constant diagonal", NULL};
    for (size_t i = 0; s->full->d <= 3 && i < s->list.diffusions; i++)
        alive[i] = alive[i] || (a[i] && is_one_of(s->list.diffusion[i].name, basic));
out:
    clear_diffusions(a);
    sk_free(e);
    return status;
}

/* ---- Rounds ---- */

/* A finalist under its own conditional quadrature: drift and diffusion anew, held out. The results go to *f and *a. */
static sock_status confirm(search *s, size_t drift, size_t diffusion, const sk_diffusion_result *finalist,
                           sk_drift_result **f, sk_diffusion_result **a, double *score)
{
    sock_model *model = NULL;
    double *e = NULL;
    sk_diffusion_result *copy[1] = {NULL};
    memcpy(copy, &finalist, sizeof finalist);
    sock_status status;
    SK_GO(model_of_two(s, s->full, s->drift[drift], copy[0], &model));
    SK_GO(sk_problem_condition(s->ctx, s->full, model, s->spec->conditional, finalist->diagonal));
    SK_GO(sk_drift_cross_validate(s->ctx, s->full, &s->list.drift[drift], s->full->folds, f));
    SK_GO(fill_leftover(s, s->full, *f, &e));
    sk_leftover leftover = {.e = e, .correct = s->spec->correct};
    size_t at = 0; /* the finalist's l, and a decade more */
    while (at + 1 < sizeof fine_grid / sizeof *fine_grid && fine_grid[at] > finalist->l * 1.01) at++;
    size_t first = at ? at - 1 : 0;
    sk_diffusion_options options = {s->full->folds, fine_grid + first, at - first + 1, tolerance(s), true};
    SK_GO(sk_diffusion_cross_validate(s->ctx, s->full, &s->list.diffusion[diffusion], &leftover, &options, a));
    *score = (*a)->score;
    log_row(s, "confirm", "both", s->list.diffusion[diffusion].name, finalist->l, *score, false,
            (*f)->seconds + (*a)->seconds);
out:
    sock_model_free(model);
    sk_free(e);
    return status;
}

/* The best finalists by score; the winner's model becomes the current one unless it is worse than that by a nat. */
static sock_status choose(search *s, bool *improved)
{
    sk_drift_result *f = NULL, *best_f = NULL;
    sk_diffusion_result *a = NULL, *best_a = NULL;
    bool tried[MOST] = {false};
    double best = -(double)INFINITY;
    size_t winner = MOST;
    sock_status status = SOCK_OK;
    *improved = false;
    for (int round = 0; round < FINALISTS; round++) {
        size_t next = MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (s->diffusion[i] && !tried[i] && (next == MOST || s->diffusion[i]->score > s->diffusion[next]->score))
                next = i;
        if (next == MOST || (winner != MOST && seconds_left(s) <= 0)) break;
        tried[next] = true;
        double score = 0;
        status = tolerate(confirm(s, s->best_drift, next, s->diffusion[next], &f, &a, &score));
        if (status < 0) goto out;
        if (f && a && score > best) {
            best = score;
            winner = next;
            sk_drift_result_free(best_f);
            sk_diffusion_result_free(best_a);
            best_f = f;
            best_a = a;
            f = NULL;
            a = NULL;
        }
        sk_drift_result_free(f);
        sk_diffusion_result_free(a);
        f = NULL;
        a = NULL;
    }
    sk_begin(s->ctx);
    if (winner == MOST) {
        status = sk_fail(s->ctx, SOCK_ENUMERIC, "no diffusion could be fitted to these data");
        goto out;
    }
    if (best > s->score - 1) {
        sock_model *model = NULL;
        SK_GO(model_of_two(s, s->full, best_f, best_a, &model));
        take_model(s, model, best_a->diagonal);
        s->best_diffusion = winner;
        s->score = SK_MAX(best, s->score);
        *improved = true;
    }
out:
    sk_drift_result_free(f);
    sk_diffusion_result_free(a);
    sk_drift_result_free(best_f);
    sk_diffusion_result_free(best_a);
    return status;
}

/* Drift candidates, then diffusion candidates on what the best one leaves over, all folds, under the current model. */
static sock_status sweep(search *s, const char *stage, const bool *drifts, const bool *diffusions)
{
    const sk_problem *p = s->full;
    SK_TRY(sk_problem_condition(s->ctx, s->full, s->model, s->spec->conditional, s->model_diagonal));
    SK_TRY(run_drifts(s, stage, p, &s->list, p->folds, drifts, s->drift, &s->best_drift));
    SK_TRY(fill_leftover(s, p, s->drift[s->best_drift], &s->leftover));
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    sk_diffusion_options options = {p->folds, fine_grid, sizeof fine_grid / sizeof *fine_grid, tolerance(s), true};
    return run_diffusions(s, stage, p, &s->list, &leftover, &options, diffusions, s->diffusion, &s->best_diffusion);
}

/* Who takes part in the next stage: near the best by nats or by standard errors, and the finalists, whatever they are:
 * under its own quadrature a candidate may do better than in the table. */
static void near_best(const search *s, bool *drifts, bool *diffusions)
{
    const sk_drift_result *best_f = s->drift[s->best_drift];
    const sk_diffusion_result *best_a = s->diffusion[s->best_diffusion];
    double reach = s->spec->polish && s->full->d > 1 ? 60 : 20; /* the polish may still turn the order round */
    for (size_t i = 0; i < s->list.drifts; i++) drifts[i] = s->drift[i] && best_f->score - s->drift[i]->score < 20;
    for (size_t i = 0; i < s->list.diffusions; i++) {
        const sk_diffusion_result *r = s->diffusion[i];
        size_t better = 0;
        for (size_t j = 0; r && j < s->list.diffusions; j++)
            better += s->diffusion[j] && s->diffusion[j]->score > r->score;
        double error = r ? paired_error(s->full->clusters, best_a->cluster, r->cluster) : 0;
        diffusions[i] = r && (better < FINALISTS || best_a->score - r->score < SK_MAX(reach, error));
    }
}

static sock_status constant_score(search *s);

/* The budget is spent before all rows were looked at: the search ends with those of the screen. */
static sock_status retreat(search *s)
{
    if (s->screen == s->full) return SOCK_OK;
    sk_problem *all = s->full;
    s->full = s->screen;
    s->screen = all;
    return constant_score(s);
}

static sock_status rounds(search *s, bool *drifts, bool *diffusions)
{
    bool improved;
    s->score = -(double)INFINITY;
    if (leave_out(s, "round 1")) return retreat(s);
    SK_TRY(sweep(s, "round 1", drifts, diffusions));
    near_best(s, drifts, diffusions);
    if (leave_out(s, "confirm")) return SOCK_OK;
    SK_TRY(choose(s, &improved));
    if (leave_out(s, "round 2")) return SOCK_OK;
    SK_TRY(sweep(s, "round 2", drifts, diffusions));
    return leave_out(s, "confirm 2") ? SOCK_OK : choose(s, &improved);
}

/* ---- Polish ---- */

static sock_status polish(search *s)
{
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    bool tried[MOST];
    memcpy(tried, s->unpolished, sizeof tried);
    for (int k = 0; k < POLISHED; k++) {
        size_t next = MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (s->diffusion[i] && !tried[i] && (next == MOST || s->diffusion[i]->score > s->diffusion[next]->score))
                next = i;
        if (next == MOST) break;
        tried[next] = true;
        sk_diffusion_result *polished = NULL;
        sock_status status = sk_diffusion_polish(s->ctx, s->full, &leftover, s->diffusion[next], &polished);
        SK_TRY(tolerate(status));
        if (!polished) continue;
        log_row(s, "polish", "diffusion", s->list.diffusion[next].name, polished->l, polished->score, false,
                polished->seconds);
        if (polished->score > s->diffusion[next]->score) {
            sk_diffusion_result_free(s->diffusion[next]);
            s->diffusion[next] = polished;
        } else {
            s->unpolished[next] = polished->score < s->diffusion[next]->score - HOPELESS;
            sk_diffusion_result_free(polished);
        }
    }
    sk_begin(s->ctx);
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (s->diffusion[i] && s->diffusion[i]->score > s->diffusion[s->best_diffusion]->score) s->best_diffusion = i;
    return SOCK_OK;
}

/* ---- Finish ---- */

/* The simplest drift that is near enough to the best. */
static size_t simplest_drift(const search *s)
{
    const sk_drift_result *best = s->drift[s->best_drift];
    size_t chosen = s->best_drift;
    for (size_t i = 0; i < s->list.drifts; i++) {
        const sk_drift_result *r = s->drift[i];
        if (!r || s->list.drift[i].order >= s->list.drift[chosen].order) continue;
        double error = paired_error(s->full->clusters, best->cluster, r->cluster);
        double allowed =
            sk_drift_allowance(error, best->dof - r->dof, s->full->n) + 1e-6; /* equal but for rounding is a tie */
        if (best->score - r->score <= allowed) chosen = i;
    }
    return chosen;
}

/* Weights exp((score - best) / 2) of the best few diffusions, and half a nat for each step in simplicity; without
 * averaging the best alone. Half, because a score from held-out steps is itself a draw: the difference of two that are
 * alike has an error of about a nat. */
static void shares(const search *s, double *share)
{
    double sum = 0, best = s->diffusion[s->best_diffusion]->score;
    for (size_t i = 0; i < s->list.diffusions; i++) {
        share[i] = 0;
        if (!s->diffusion[i]) continue;
        size_t better = 0;
        for (size_t j = 0; j < s->list.diffusions; j++)
            better += s->diffusion[j] && s->diffusion[j]->score > s->diffusion[i]->score;
        int simpler = s->list.diffusion[s->best_diffusion].order - s->list.diffusion[i].order;
        double weight = exp((s->diffusion[i]->score - best + simpler) / 2);
        if (i == s->best_diffusion || (s->spec->average && better < AVERAGED && weight > 0.01)) share[i] = weight;
        sum += share[i];
    }
    for (size_t i = 0; i < s->list.diffusions; i++) share[i] /= sum;
}

/* Sum of the squared residuals of the held-out steps over the sum of what a says they should be, tr F (I a) F': a
 * moment that no likelihood is fooled about. NAN: none to be had. */
static double calibration(const sk_problem *p, const double *held, double floor, const sk_leftover *leftover)
{
    size_t d = p->d;
    double squares = 0, traces = 0;
    for (size_t f = 0; f < p->folds; f++)
        for (size_t i = p->first[f]; i < p->first[f + 1]; i++) {
            const double *e = leftover->e + (f * p->n + i) * d, *left = p->left + i * d * d, *a = held + i * d * d;
            for (size_t r = 0; r < d; r++) {
                squares += e[r] * e[r];
                for (size_t k = 0; k < d; k++) {
                    double sum = left[r * d + k] * floor * p->steps->h[i];
                    for (size_t j = 0; j < d; j++) sum += left[r * d + j] * a[j * d + k];
                    traces += sum * left[r * d + k];
                }
            }
        }
    return traces > 0 ? squares / traces : (double)NAN;
}

/* Shares of a, each by what it says of a step without the step's fold; and the mean of its diagonal, or 0. */
static double average_held(const search *s, const double *share, double *held)
{
    const sk_problem *p = s->full;
    size_t d = p->d;
    double mean = 0, time = 0;
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (share[i] > 0) sk_axpy(p->n * d * d, share[i], s->diffusion[i]->held, held);
    for (size_t i = 0; i < p->n; i++) {
        time += p->steps->h[i];
        for (size_t k = 0; k < d; k++) mean += held[(i * d + k) * d + k] / (double)d;
    }
    return time > 0 ? mean / time : 0;
}

enum { FLOORS = 7, USUAL_FLOORS = 6 };

/* The largest of the usual floors whose score is within one standard error (at most two nats) of the best, or, where
 * rows are few, within 50/n nats. A larger one where the Euler likelihood asks for it clearly, that is where steps are
 * long and a is almost singular: then the one with the best sum of both; only where rows are few or that likelihood is
 * below the one of constant coefficients. cluster, euler_cluster: FLOORS x clusters. */
static size_t pick_floor(const search *s, const double *score, const double *cluster, const double *euler,
                         const double *euler_cluster)
{
    const sk_problem *p = s->full;
    double allowed = p->n < SK_FEW_ROWS ? 50 / (double)p->n : 0;
    size_t best = 0, chosen, clearest, both;
    for (size_t g = 1; g < USUAL_FLOORS; g++)
        if (score[g] > score[best]) best = g;
    chosen = best;
    for (size_t g = best + 1; g < USUAL_FLOORS; g++) {
        double error = paired_error(p->clusters, cluster + best * p->clusters, cluster + g * p->clusters);
        if (score[best] - score[g] <= fmin(fmax(error, allowed), 2)) chosen = g;
    }
    clearest = both = chosen;
    for (size_t g = chosen + 1; g < FLOORS; g++) {
        if (euler[g] > euler[clearest]) clearest = g;
        if (euler[g] + score[g] > euler[both] + score[both]) both = g;
    }
    double error =
        paired_error(p->clusters, euler_cluster + chosen * p->clusters, euler_cluster + clearest * p->clusters);
    bool doubtful = p->n < SK_FEW_ROWS || !(euler[chosen] > s->constant_euler);
    return doubtful && !(euler[clearest] - euler[chosen] <= fmax(error, 2)) ? both : chosen;
}

/* A floor c mean(a) I for the model of this drift and these shares. */
static sock_status choose_floor(search *s, size_t drift, const double *share, const sk_leftover *leftover,
                                double *floor)
{
    static const double grid[FLOORS] = {0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};
    const sk_problem *p = s->full;
    size_t d = p->d, bytes = p->clusters * sizeof(double);
    double *held = sk_doubles(s->ctx, p->n, d * d), *cluster = sk_doubles(s->ctx, 2 * FLOORS, p->clusters);
    double *space = sk_doubles(s->ctx, 5 * d * d + 2 * d, 1), *final = sk_doubles(s->ctx, 2, p->clusters);
    double *euler_cluster = cluster ? cluster + FLOORS * p->clusters : NULL;
    double score[FLOORS] = {0}, euler[FLOORS] = {0}, level[FLOORS];
    sk_held_model model = {s->drift[drift], s->list.diffusions, s->diffusion, share};
    sock_status status = SOCK_ENOMEM;
    if (!held || !cluster || !space || !final) goto out;
    double mean = average_held(s, share, held);
    for (size_t g = 0; g < FLOORS; g++) {
        level[g] = grid[g] * mean;
        score[g] = sk_diffusion_score(p, held, level[g], leftover, cluster + g * p->clusters, space);
        if (!isfinite(score[g])) score[g] = -(double)INFINITY;
    }
    SK_GO(sk_euler_score(s->ctx, p, &model, FLOORS, level, euler, euler_cluster));
    size_t chosen = pick_floor(s, score, cluster, euler, euler_cluster);
    *floor = level[chosen];
    s->calibration = calibration(p, held, *floor, leftover);
    s->final_score = score[chosen];
    memcpy(final, cluster + chosen * p->clusters, bytes);
    memcpy(final + p->clusters, euler_cluster + chosen * p->clusters, bytes);
    sk_free(s->final_cluster);
    s->final_cluster = final;
    final = NULL;
out:
    sk_free(held);
    sk_free(cluster);
    sk_free(space);
    sk_free(final);
    return status;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* The diffusions that were averaged, the best first. */
static json_t *averaged(const search *s, const double *share)
{
    json_t *list = json_array();
    bool done[MOST] = {false};
    for (;;) {
        size_t next = MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (share[i] > 0 && !done[i] && (next == MOST || share[i] > share[next])) next = i;
        if (next == MOST) return list;
        done[next] = true;
        const sk_diffusion_result *r = s->diffusion[next];
        json_t *entry = json_pack("{s:s, s:b, s:b, s:b}", "kernel", s->list.diffusion[next].name, "polished",
                                  r->polished, "edge", r->edge, "converged", r->converged);
        json_object_set_new(entry, "share", number(share[next]));
        json_object_set_new(entry, "l", number(r->l));
        json_object_set_new(entry, "lambda", number(r->l * r->lambda_scale));
        json_object_set_new(entry, "score", number(r->score));
        json_object_set_new(entry, "relative_gap", number(r->gap));
        json_object_set_new(entry, "primal", number(r->whole.primal));
        json_object_set_new(entry, "dual", number(r->whole.dual));
        json_object_set_new(entry, "gap", number(r->whole.gap));
        json_array_append_new(list, entry);
    }
}

static json_t *describe(const search *s, size_t drift, const double *share, double floor)
{
    const sk_drift_result *f = s->drift[drift];
    json_t *report = json_object();
    json_object_set_new(report, "tuned", json_true());
    json_object_set_new(report, "drift", json_string(s->list.drift[drift].name));
    json_object_set_new(report, "drift_l", f->l > 0 ? json_real(f->l) : json_null());
    json_object_set_new(report, "drift_lambda", f->l > 0 ? number(f->l * f->lambda_scale) : json_null());
    json_object_set_new(report, "drift_dof", number(f->dof));
    json_object_set_new(report, "drift_rank", json_integer((json_int_t)f->p));
    json_object_set_new(report, "drift_edge", json_boolean(f->edge));
    json_object_set_new(report, "drift_score", number(f->score));
    json_object_set_new(report, "drift_best", json_string(s->list.drift[s->best_drift].name));
    json_object_set_new(report, "diffusion", json_string(s->list.diffusion[s->best_diffusion].name));
    json_object_set_new(report, "diffusions", averaged(s, share));
    json_object_set_new(report, "floor", number(floor));
    json_object_set_new(report, "score", number(s->diffusion[s->best_diffusion]->score));
    json_object_set_new(report, "score_constant", number(s->constant_score));
    json_object_set_new(report, "calibration", number(s->calibration));
    json_object_set_new(report, "folds", json_integer((json_int_t)s->full->folds));
    json_object_set_new(report, "steps", json_integer((json_int_t)s->full->n));
    json_object_set_new(report, "limited", json_boolean(s->limited));
    json_object_set(report, "left_out", s->left_out);
    json_object_set_new(report, "skipped", json_integer((json_int_t)s->skipped));
    return report;
}

static sock_status mixture(search *s, size_t drift, const double *share, double floor, sock_model **out)
{
    return make_model(s, s->full, s->drift[drift], s->list.diffusions, s->diffusion, share, floor, out);
}

static bool all_diagonal(const search *s, const double *share)
{
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (share[i] > 0 && !s->diffusion[i]->diagonal) return false;
    return true;
}

/* One pass of the end: drift and diffusions anew under the current model, polish, shares and floor. */
static sock_status last_pass(search *s, const char *stage, const bool *drifts, const bool *diffusions, double *share,
                             double *floor, size_t *drift)
{
    SK_TRY(sweep(s, stage, drifts, diffusions));
    if (s->spec->polish && !leave_out(s, "polish")) SK_TRY(polish(s));
    *drift = simplest_drift(s);
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct};
    shares(s, share);
    return choose_floor(s, *drift, share, &leftover, floor);
}

/* ---- A plain model for comparison ---- */

static bool free_choice(const search *s)
{
    return strcmp(s->spec->drift, "auto") == 0 && strcmp(s->spec->diffusion, "auto") == 0;
}

/* Where the plain model's drift and diffusion stand in the list: the drift of the final model if it is linear or
 * affine, else the affine one; a constant a, diagonal if that of the final model is. MOST: not there. */
static void plain_names(const search *s, size_t chosen, bool diagonal, size_t *drift, size_t *diffusion)
{
    static const char *const plain[] = {"linear", "affine", "affine learned", NULL};
    const char *constant = diagonal && s->full->d > 1 ? "constant diagonal" : "constant";
    *drift = *diffusion = MOST;
    for (size_t i = 0; i < s->list.drifts; i++)
        if (strcmp(s->list.drift[i].name, "affine") == 0) *drift = i;
    if (is_one_of(s->list.drift[chosen].name, plain)) *drift = chosen;
    for (size_t i = 0; i < s->list.diffusions; i++)
        if (strcmp(s->list.diffusion[i].name, constant) == 0) *diffusion = i;
}

/* Drift i and diffusion j, held out, under the current rule. The old results are freed. */
static sock_status plain_pass(search *s, size_t i, size_t j, sk_drift_result **f, sk_diffusion_result **a)
{
    const sk_problem *p = s->full;
    sk_drift_result_free(*f);
    sk_diffusion_result_free(*a);
    *f = NULL;
    *a = NULL;
    SK_TRY(sk_drift_cross_validate(s->ctx, p, &s->list.drift[i], p->folds, f));
    SK_TRY(fill_leftover(s, p, *f, &s->leftover));
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct && p->conditional};
    sk_diffusion_options options = {p->folds, thin_grid, 5, tolerance(s), true};
    return sk_diffusion_cross_validate(s->ctx, p, &s->list.diffusion[j], &leftover, &options, a);
}

/* Twice, the second time with nodes, weights and F of its own. */
static sock_status plain_fit(search *s, size_t i, size_t j, sk_drift_result **f, sk_diffusion_result **a)
{
    sock_model *model = NULL;
    sock_status status;
    SK_GO(sk_problem_condition(s->ctx, s->full, NULL, false, s->list.diffusion[j].diagonal));
    SK_GO(plain_pass(s, i, j, f, a));
    SK_GO(model_of_two(s, s->full, *f, *a, &model));
    SK_GO(sk_problem_condition(s->ctx, s->full, model, s->spec->conditional, (*a)->diagonal));
    SK_GO(plain_pass(s, i, j, f, a));
    log_row(s, "plain", "both", s->list.drift[i].name, (*f)->l, (*a)->score, false, (*f)->seconds + (*a)->seconds);
out:
    sock_model_free(model);
    return status;
}

/* What the final model gains over a plain one by either likelihood, and whether that is enough by both. */
static sock_status gains_enough(search *s, const sk_drift_result *f, sk_diffusion_result *a, size_t tried, bool *enough)
{
    const sk_problem *p = s->full;
    const double one = 1, zero = 0;
    double euler = 0, *cluster = sk_doubles(s->ctx, p->clusters, 1), *final_euler = s->final_cluster + p->clusters;
    sk_held_model model = {f, 1, &a, &one};
    if (!cluster) return SOCK_ENOMEM;
    sock_status status = sk_euler_score(s->ctx, p, &model, 1, &zero, &euler, cluster);
    if (status >= 0) {
        double gain = s->final_score - a->score, error = paired_error(p->clusters, s->final_cluster, a->cluster);
        *enough = gain >= sk_needed_gain(error, tried);
        error = paired_error(p->clusters, final_euler, cluster);
        gain = -euler;
        for (size_t u = 0; u < p->clusters; u++) gain += final_euler[u];
        *enough = *enough && gain >= sk_needed_gain(error, tried);
    }
    sk_free(cluster);
    return status;
}

/* A final model that is no clear gain over a linear or affine drift with a constant a gives way to those. */
static sock_status prefer_plain(search *s, double *share, double *floor, size_t *drift, bool *plain)
{
    sk_drift_result *f = NULL;
    sk_diffusion_result *a = NULL;
    bool enough = true;
    size_t i, j;
    plain_names(s, *drift, s->diffusion[s->best_diffusion]->diagonal, &i, &j);
    if (!free_choice(s) || i == MOST || j == MOST || leave_out(s, "plain")) return SOCK_OK;
    sock_status status = plain_fit(s, i, j, &f, &a);
    if (status >= 0) status = gains_enough(s, f, a, s->list.drifts * s->list.diffusions, &enough);
    if (status < 0 || enough) {
        sk_drift_result_free(f);
        sk_diffusion_result_free(a);
        return tolerate(status);
    }
    sk_drift_result_free(s->drift[i]);
    sk_diffusion_result_free(s->diffusion[j]);
    s->drift[i] = f;
    s->diffusion[j] = a;
    *plain = true;
    s->best_drift = *drift = i;
    s->best_diffusion = j;
    for (size_t k = 0; k < MOST; k++) share[k] = k == j;
    sk_leftover leftover = {.e = s->leftover, .correct = s->spec->correct && s->full->conditional};
    return choose_floor(s, i, share, &leftover, floor);
}

/* Constant coefficients are all that the data support where the model is two nats worse; or no clear gain over them. */
static sock_status worse_than_constant(search *s, bool plain, bool *worse)
{
    bool enough = true;
    *worse = free_choice(s) && s->diffusion[s->best_diffusion]->score < s->constant_score - 2;
    if (*worse || !free_choice(s)) return SOCK_OK;
    size_t tried = plain ? 3 : s->list.drifts * s->list.diffusions;
    SK_TRY(gains_enough(s, s->constant_drift, s->constant_diffusion, tried, &enough));
    *worse = !enough;
    return SOCK_OK;
}

/* Constant coefficients take the place of the best drift and diffusion, and are all of the model. */
static sock_status fall_back(search *s, double *share, double *floor, size_t *drift)
{
    sk_drift_candidate *f = &s->list.drift[s->best_drift];
    sk_diffusion_candidate *a = &s->list.diffusion[s->best_diffusion];
    char *one = sk_strdup(s->ctx, "constant"), *other = sk_strdup(s->ctx, "constant");
    if (!one || !other) {
        sk_free(one);
        sk_free(other);
        return SOCK_ENOMEM;
    }
    sk_free(f->name);
    sk_free(a->name);
    f->name = one;
    a->name = other;
    sk_drift_result_free(s->drift[s->best_drift]);
    sk_diffusion_result_free(s->diffusion[s->best_diffusion]);
    s->drift[s->best_drift] = s->constant_drift;
    s->diffusion[s->best_diffusion] = s->constant_diffusion;
    s->constant_drift = NULL;
    s->constant_diffusion = NULL;
    for (size_t i = 0; i < MOST; i++) share[i] = i == s->best_diffusion;
    *floor = 0;
    *drift = s->best_drift;
    s->calibration = NAN; /* that of the model given up */
    return SOCK_OK;
}

/* Twice: the polished diffusion of the first pass weights the drift of the second, which may choose again. */
static sock_status finish(search *s, bool *drifts, bool *diffusions, sock_model **out, json_t **report)
{
    double share[MOST] = {0}, floor = 0;
    size_t drift = 0;
    bool plain = false, worse = false;
    SK_TRY(last_pass(s, "final", drifts, diffusions, share, &floor, &drift));
    if (s->spec->polish && !leave_out(s, "refit")) {
        sock_model *model = NULL;
        SK_TRY(mixture(s, drift, share, floor, &model));
        take_model(s, model, all_diagonal(s, share));
        for (size_t i = 0; i < s->list.diffusions; i++) diffusions[i] = share[i] > 0;
        SK_TRY(last_pass(s, "refit", drifts, diffusions, share, &floor, &drift));
    }
    SK_TRY(prefer_plain(s, share, &floor, &drift, &plain));
    SK_TRY(worse_than_constant(s, plain, &worse));
    if (worse) SK_TRY(fall_back(s, share, &floor, &drift));
    SK_TRY(mixture(s, drift, share, floor, out));
    *report = describe(s, drift, share, floor);
    json_object_set(*report, "search", s->table);
    json_object_set(*report, "search_seconds", s->times);
    return SOCK_OK;
}

/* Constant drift and diffusion, held out: what every model should beat. */
static sock_status constant_score(search *s)
{
    sk_tune_spec blind = *s->spec;
    blind.drift = "constant";
    blind.diffusion = "constant";
    sk_candidates list = {0};
    sk_drift_result *f = NULL;
    sk_diffusion_result *a = NULL;
    const double one = 1, zero = 0;
    double *e = NULL, *cluster = sk_doubles(s->ctx, s->full->clusters, 1);
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    if (!cluster) goto out;
    SK_GO(sk_candidates_new(s->ctx, &blind, s->full->steps, false, &list));
    SK_GO(sk_problem_condition(s->ctx, s->full, NULL, false, false));
    SK_GO(sk_drift_cross_validate(s->ctx, s->full, &list.drift[0], s->full->folds, &f));
    SK_GO(fill_leftover(s, s->full, f, &e));
    sk_leftover leftover = {.e = e};
    sk_diffusion_options options = {s->full->folds, thin_grid, 5, 1e-6, true};
    SK_GO(sk_diffusion_cross_validate(s->ctx, s->full, &list.diffusion[0], &leftover, &options, &a));
    sk_held_model model = {f, 1, &a, &one};
    SK_GO(sk_euler_score(s->ctx, s->full, &model, 1, &zero, &s->constant_euler, cluster));
    s->constant_score = a->score;
    sk_drift_result_free(s->constant_drift);
    sk_diffusion_result_free(s->constant_diffusion);
    s->constant_drift = f;
    s->constant_diffusion = a;
    f = NULL;
    a = NULL;
out:
    sk_drift_result_free(f);
    sk_diffusion_result_free(a);
    sk_candidates_clear(&list);
    sk_free(e);
    sk_free(cluster);
    return status;
}

static sock_status run(search *s, sock_model **out, json_t **report)
{
    bool drifts[MOST] = {false}, diffusions[MOST] = {false};
    sk_drift_result *f[MOST] = {0};
    size_t best = MOST;
    sock_status status;
    SK_GO(constant_score(s));
    SK_GO(pilot(s));
    SK_GO(sk_candidates_new(s->ctx, s->spec, s->full->steps, false, &s->list));
    SK_GO(sk_problem_condition(s->ctx, s->screen, s->model, s->spec->conditional, s->model_diagonal));
    SK_GO(screen_drifts(s, f, &best, drifts));
    s->best_drift = best;
    SK_GO(screen_diffusions(s, f[best], diffusions));
    clear_drifts(f);
    SK_GO(rounds(s, drifts, diffusions));
    SK_GO(finish(s, drifts, diffusions, out, report));
out:
    clear_drifts(f);
    return status;
}

sock_status sk_tune(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, json_t **report)
{
    search s = {.ctx = ctx,
                .spec = spec,
                .start = sk_seconds(),
                .table = json_array(),
                .times = json_array(),
                .left_out = json_array()};
    sock_status status = sk_folds_problem(ctx, spec, SCREEN_ROWS, &s.full, &s.screen);
    const double *scale = status >= 0 ? s.full->scale : NULL; /* before a retreat to the rows of the screen */
    sock_model *model = NULL;
    json_t *told = NULL;
    if (status >= 0) status = run(&s, &model, &told);
    if (status >= 0) status = sk_scaling_finish(ctx, scale, model, told);
    if (status >= 0) {
        *out = model;
        *report = told;
    } else {
        sock_model_free(model);
        json_decref(told);
    }
    bool limited = s.limited;
    size_t skipped = s.skipped, stages = json_array_size(s.left_out);
    clear_drifts(s.drift);
    clear_diffusions(s.diffusion);
    sk_drift_result_free(s.constant_drift);
    sk_diffusion_result_free(s.constant_diffusion);
    sk_candidates_clear(&s.list);
    sock_model_free(s.model);
    sk_free(s.leftover);
    sk_free(s.final_cluster);
    if (s.screen != s.full) sk_problem_free(s.screen);
    sk_problem_free(s.full);
    json_decref(s.table);
    json_decref(s.times);
    json_decref(s.left_out);
    if (status >= 0 && limited)
        return sk_fail(ctx, SOCK_LIMITED,
                       "the budget of %g s ended the search early: %zu stages and %zu fits were left out", spec->budget,
                       stages, skipped);
    return status;
}
