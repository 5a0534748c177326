/* paperending.c - step 6 of the paper's protocol: the chosen pairs fitted to all data, and what is told. */
#include "paper/paperstate.h"

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
    SK_GO(sk_kernel_resolve(p->ctx, "drift", kernel, rule->in, rule->nodes, rule->x));
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
    SK_GO(sk_kernel_resolve(p->ctx, "diffusion", kernel, rule->in, rule->nodes, rule->x));
    sk_diffusion_spec spec = sk_paper_diffusion_spec(p, kernel, true);
    SK_GO(sk_paper_residuals(p, p->all, rule->n, model, &z));
    SK_GO(sk_diffusion_system_new(p->ctx, rule, z, &spec, &system));
    SK_GO(sk_diffusion_solve(p->ctx, system, count, lambda, term, report, NULL));
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

/* ---- What is told ---- */

static size_t held_steps(const sk_paper *p)
{
    size_t count = 0;
    for (size_t j = 0; j < p->held->trajectories; j++) {
        size_t points = sk_data_length(p->held, j);
        count += points > 1 ? points - 1 : 0;
    }
    return count;
}

/* Its two parts, each alone in its field. */
static sock_status describe_parts(const sk_paper *p, const sk_paper_found *drift, const sk_paper_found *a)
{
    sk_part *f = sk_alloc(p->ctx, 1, sizeof *f);
    if (!f) return SOCK_ENOMEM;
    p->told->drifts = (sk_parts){1, f};
    sk_part *one = sk_alloc(p->ctx, 1, sizeof *one);
    if (!one) return SOCK_ENOMEM;
    p->told->diffusions = (sk_parts){1, one};
    *f = (sk_part){.kernel = sk_strdup(p->ctx, drift->kernel),
                   .share = 1,
                   .l = drift->best.l,
                   .lambda = drift->best.lambda,
                   .score = drift->best.score,
                   .dof = drift->dof,
                   .edge = drift->edge,
                   .iterations = -1};
    const sk_diffusion_report *r = &a->solved;
    *one = (sk_part){.kernel = sk_strdup(p->ctx, a->kernel),
                     .share = 1,
                     .l = a->best.l,
                     .lambda = a->best.lambda,
                     .score = a->best.score,
                     .dof = (double)NAN,
                     .edge = a->edge,
                     .converged = r->converged,
                     .relative_gap = r->primal > 0 ? r->gap / r->primal : 0,
                     .primal = r->primal,
                     .dual = r->dual,
                     .gap = r->gap,
                     .iterations = (long)r->iterations};
    return f->kernel && one->kernel ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_paper_describe(const sk_paper *p, const sk_paper_found *drift, const sk_paper_found *a)
{
    sk_tune_outcome *told = p->told;
    SK_TRY(describe_parts(p, drift, a));
    told->paper = true;
    told->drift_dof = drift->dof;
    told->drift_rank = drift->rank;
    told->drift_form = sk_strdup(p->ctx, drift->form);
    told->landmarks = p->landmarks ? SK_PAPER_LANDMARKS : 0;
    told->rounds = (size_t)p->round + 1;
    told->search_rows = sk_paper_searched(p)->n;
    told->search_tolerance = sk_paper_tolerance(p, false);
    told->delta = p->spec->delta;
    told->floor = (sk_numbers){p->train->d, sk_doubles(p->ctx, p->train->d, 1)};
    told->score = a->best.score;
    told->score_constant = p->constant_score;
    told->gain_error = (double)NAN;
    told->calibration = (double)NAN;
    told->folds = 1;
    told->steps = held_steps(p);
    told->limited = p->limited;
    told->skipped = p->skipped;
    if (told->search.status < 0) return sk_fail(p->ctx, SOCK_ENOMEM, "out of memory: the table of the search");
    return told->drift_form && told->floor.value ? SOCK_OK : SOCK_ENOMEM;
}
