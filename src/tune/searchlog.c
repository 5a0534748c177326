/* searchlog.c - what the search tells: how far it is, what the budget left out, the table of its fits, the report. */
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

/* From where the time goes on the data sets of docs/accuracy.md. */
double sk_search_share_done(const char *stage, bool diffusion)
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

double sk_search_seconds_left(const sk_search *s)
{
    return s->spec->budget > 0 ? s->spec->budget - (sk_seconds() - s->start) : (double)INFINITY;
}

bool sk_search_leave_out(sk_search *s, const char *stage)
{
    if (sk_search_seconds_left(s) > 0) return false;
    s->limited = true;
    json_array_append_new(s->left_out, json_string(stage));
    return true;
}

/* The rows of pilot and screen are many, and rough: they go without. Only penalties that were tried stand in it. */
void sk_search_log_curve(sk_search *s, const char *stage, size_t lambdas, const double *l, const double *by_l)
{
    if (strcmp(stage, "pilot") == 0 || strcmp(stage, "screen") == 0) return;
    json_t *curve = json_array();
    for (size_t j = 0; j < lambdas; j++)
        if (isfinite(by_l[j])) json_array_append_new(curve, json_pack("[f, f]", l[j], by_l[j]));
    json_object_set_new(json_array_get(s->table, json_array_size(s->table) - 1), "by_l", curve);
}

void sk_search_log(sk_search *s, const char *stage, const char *field, const char *name, double l, double score,
                   bool edge, double seconds)
{
    json_t *row = json_pack("{s:s, s:s, s:s}", "stage", stage, "field", field, "kernel", name);
    json_object_set_new(row, "l", l > 0 ? json_real(l) : json_null());
    json_object_set_new(row, "score", isfinite(score) ? json_real(score) : json_null());
    json_object_set_new(row, "edge", json_boolean(edge));
    json_array_append_new(s->table, row);
    json_array_append_new(s->times, json_real(seconds));
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* The diffusions that were averaged, the best first. */
static json_t *averaged_diffusions(const sk_search *s, const double *share)
{
    json_t *list = json_array();
    bool done[SK_MOST] = {false};
    for (;;) {
        size_t next = SK_MOST;
        for (size_t i = 0; i < s->list.diffusions; i++)
            if (share[i] > 0 && !done[i] && (next == SK_MOST || share[i] > share[next])) next = i;
        if (next == SK_MOST) return list;
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

/* The drifts that were averaged, the one with the largest share first. */
static json_t *averaged_drifts(const sk_search *s, const sk_choice *choice)
{
    json_t *list = json_array();
    bool done[SK_MOST] = {false};
    for (;;) {
        size_t next = SK_MOST;
        for (size_t i = 0; i < s->list.drifts; i++)
            if (choice->drift_share[i] > 0 && !done[i] &&
                (next == SK_MOST || choice->drift_share[i] > choice->drift_share[next]))
                next = i;
        if (next == SK_MOST) return list;
        done[next] = true;
        const sk_drift_result *r = s->drift[next];
        json_t *entry = json_pack("{s:s}", "kernel", s->list.drift[next].name);
        json_object_set_new(entry, "share", number(choice->drift_share[next]));
        json_object_set_new(entry, "l", r->l > 0 ? number(r->l) : json_null());
        json_object_set_new(entry, "lambda", r->l > 0 ? number(r->l * r->lambda_scale) : json_null());
        json_object_set_new(entry, "dof", number(r->dof));
        json_object_set_new(entry, "score", number(r->score));
        json_array_append_new(list, entry);
    }
}

/* Degrees of freedom of the average: the trace of what takes the increments to their fits, which is linear in shares.
 */
static double average_dof(const sk_search *s, const sk_choice *choice)
{
    double sum = 0;
    for (size_t i = 0; i < s->list.drifts; i++)
        if (choice->drift_share[i] > 0) sum += choice->drift_share[i] * s->drift[i]->dof;
    return sum;
}

json_t *sk_search_describe(const sk_search *s, const sk_choice *choice)
{
    size_t drift = choice->drift;
    const sk_drift_result *f = s->drift[drift];
    json_t *report = json_object();
    json_object_set_new(report, "tuned", json_true());
    json_object_set_new(report, "drift", json_string(s->list.drift[drift].name));
    json_object_set_new(report, "drift_l", f->l > 0 ? json_real(f->l) : json_null());
    json_object_set_new(report, "drift_lambda", f->l > 0 ? number(f->l * f->lambda_scale) : json_null());
    json_object_set_new(report, "drifts", averaged_drifts(s, choice));
    json_object_set_new(report, "drift_dof", number(average_dof(s, choice)));
    json_object_set_new(report, "drift_rank", json_integer((json_int_t)f->p));
    json_object_set_new(report, "drift_edge", json_boolean(f->edge));
    json_object_set_new(report, "drift_score", number(f->score));
    json_object_set_new(report, "drift_best", json_string(s->list.drift[s->best_drift].name));
    json_object_set_new(report, "diffusion", json_string(s->list.diffusion[s->best_diffusion].name));
    json_object_set_new(report, "diffusions", averaged_diffusions(s, choice->share));
    json_object_set_new(report, "floor", number(choice->floor));
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
