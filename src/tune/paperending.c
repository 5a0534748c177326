/* paperending.c - step 6 of the paper's protocol: the chosen pairs fitted to all data, and the report. */
#include "tune/paperstate.h"

#include <math.h>

/* Beyond so many intervals the drift keeps landmarks in the last fit too. */
enum { MOST_EXACT = 10000 };

static sock_status refit_drift(sk_paper *p, const sk_rule *rule, sk_paper_found *drift, sock_model *model)
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
        spec.landmarks = SK_PAPER_LANDMARKS;
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
static sock_status refit_diffusion(sk_paper *p, const sk_rule *rule, sk_paper_found *a, sock_model *model)
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
    for (double l = fmax(a->best.l, 1); !p->large && count + 1 < MOST && l > 1.01 * a->best.l; l /= 10)
        lambda[count++] = l / a->best.l * a->best.lambda;
    lambda[count++] = a->best.lambda;
    SK_GO(sk_kernel_parse(p->ctx, "diffusion", a->kernel, &kernel));
    SK_GO(sk_kernel_resolve(p->ctx, "diffusion", kernel, rule->d, rule->nodes, rule->x));
    sk_diffusion_spec spec = sk_paper_diffusion_spec(p, kernel, true);
    SK_GO(sk_diffusion_system_new(p->ctx, rule, &spec, &system));
    SK_GO(sk_paper_residuals(p, p->all, rule->n, model, &z));
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

sock_status sk_paper_refit(sk_paper *p, sk_paper_found *drift, sk_paper_found *a, sock_model **out)
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

static size_t held_steps(const sk_paper *p)
{
    size_t count = 0;
    for (size_t j = 0; j < p->held->trajectories; j++) {
        size_t points = sk_data_length(p->held, j);
        count += points > 1 ? points - 1 : 0;
    }
    return count;
}

json_t *sk_paper_report(const sk_paper *p, const sk_paper_found *drift, const sk_paper_found *a)
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
    json_object_set_new(report, "search_landmarks", p->landmarks ? json_integer(SK_PAPER_LANDMARKS) : json_null());
    json_object_set_new(report, "rounds", json_integer(p->round + 1));
    json_object_set_new(report, "search_rows", json_integer((json_int_t)sk_paper_searched(p)->n));
    json_object_set_new(report, "search_tolerance", json_real(sk_paper_tolerance(p, false)));
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
