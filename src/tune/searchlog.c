/* searchlog.c - what the search tells: how far it is, what the budget left out, the table of its fits, what was chosen.
 */
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

double sk_search_seconds_left(const sk_search *s)
{
    return s->spec->budget > 0 ? s->spec->budget - (sk_seconds() - s->start) : (double)INFINITY;
}

bool sk_search_leave_out(sk_search *s, const char *stage)
{
    if (sk_search_seconds_left(s) > 0) return false;
    s->limited = true;
    if (sk_texts_add(s->ctx, &s->told->left_out, stage) < 0) s->told->search.status = SOCK_ENOMEM;
    return true;
}

void sk_search_log(sk_search *s, const char *stage, const char *field, const char *name, double l, double score,
                   bool edge, double seconds)
{
    sk_search_row *row = sk_search_table_add(s->ctx, &s->told->search, stage, field, name);
    if (!row) return;
    if (l > 0) row->l = l;
    row->score = score;
    row->edge = edge;
    row->seconds = seconds;
}

/* To the row written last: the score over the penalties that were tried. */
static void log_curve(sk_search *s, const sk_trial *trial)
{
    sk_search_table *table = &s->told->search;
    if (table->status < 0) return;
    sk_search_row *row = &table->row[table->count - 1];
    row->curve = sk_doubles(s->ctx, trial->lambdas, 2);
    if (!row->curve) table->status = SOCK_ENOMEM;
    for (size_t j = 0; row->curve && j < trial->lambdas; j++)
        if (isfinite(trial->by_l[j])) {
            row->curve[2 * row->places] = trial->grid[j];
            row->curve[2 * row->places++ + 1] = trial->by_l[j];
        }
}

void sk_search_log_trial(sk_search *s, const sk_stage *stage, const sk_candidate *candidate, const sk_trial *trial)
{
    const char *field = candidate->field == SK_DRIFT ? "drift" : "diffusion";
    if (!trial) {
        sk_search_log(s, stage->name, field, candidate->name, 0, -(double)INFINITY, false, 0);
        return;
    }
    sk_search_log(s, stage->name, field, candidate->name, trial->l, trial->score, trial->edge, trial->seconds);
    if (stage->curves && trial->grid) log_curve(s, trial);
}

sock_status sk_search_logged(const sk_search *s)
{
    if (s->told->search.status >= 0) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_ENOMEM, "out of memory: the table of the search");
}

/* Indices of the shares above 0, the largest first; equal ones as they are listed. The number of them. */
static size_t by_share(size_t count, const double *share, size_t *order)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = found;
        if (!(share[i] > 0)) continue;
        for (; at > 0 && share[order[at - 1]] < share[i]; at--) order[at] = order[at - 1];
        order[at] = i;
        found++;
    }
    return found;
}

/* The candidates of a field that were averaged; *place: where candidate `lead` stands among them. score: by which their
 * shares were made; NULL: their own. */
static sock_status describe_parts(sock_context *ctx, const sk_field_trials *t, const double *share, const double *score,
                                  size_t lead, sk_parts *out, size_t *place)
{
    size_t order[SK_MOST], count = by_share(t->count, share, order);
    sk_part *part = sk_alloc(ctx, count, sizeof *part);
    if (!part) return SOCK_ENOMEM;
    *out = (sk_parts){count, part};
    for (size_t k = 0; k < count; k++, part++) {
        const sk_trial *r = t->trial[order[k]];
        *part = (sk_part){.kernel = sk_strdup(ctx, t->candidate[order[k]].name),
                          .share = share[order[k]],
                          .l = r->l > 0 ? r->l : (double)NAN,
                          .lambda = r->l > 0 ? r->l * r->lambda_scale : (double)NAN,
                          .score = score ? score[order[k]] : r->score,
                          .dof = r->field == SK_DRIFT ? r->dof : (double)NAN,
                          .edge = r->edge,
                          .learned = t->candidate[order[k]].learned,
                          .polished = r->polished,
                          .converged = r->converged,
                          .relative_gap = r->gap,
                          .primal = r->whole.primal,
                          .dual = r->whole.dual,
                          .gap = r->whole.gap,
                          .iterations = -1};
        if (!part->kernel) return SOCK_ENOMEM;
        if (order[k] == lead) *place = k;
    }
    return SOCK_OK;
}

/* Of what the model gains over constant coefficients. */
static double gain_error_of(const sk_search *s)
{
    if (!s->final_cluster || !s->constant_diffusion) return (double)NAN;
    return sk_paired_error(s->rows->clusters, s->final_cluster, s->constant_diffusion->cluster);
}

/* A model that the guards gave up, where it scored clearly more than what they took: of two constants, with a mean that
 * is shrunk or free, the better one, beside which it was judged. */
static sock_status tell_richer(const sk_search *s)
{
    sk_tune_outcome *told = s->told;
    const double gain = s->richer_score - (s->fell_back ? fmax(told->score, s->told_constant) : told->score);
    told->richer_gain = told->richer_error = (double)NAN;
    if (!s->richer || !sk_richer_is_told(gain)) return SOCK_OK;
    told->richer_gain = gain;
    told->richer_error = s->richer_error;
    told->richer = sk_strdup(s->ctx, s->richer);
    return told->richer ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_search_describe(const sk_search *s, const sk_choice *choice)
{
    sk_tune_outcome *told = s->told;
    const sk_field_trials drifts = sk_drift_trials(s), diffusions = sk_diffusion_trials(s);
    size_t place = 0;
    SK_TRY(describe_parts(s->ctx, &drifts, choice->drift_share, NULL, choice->drift, &told->drifts, &told->lead));
    SK_TRY(describe_parts(s->ctx, &diffusions, choice->share, s->judged, s->best_diffusion, &told->diffusions, &place));
    /* of the average: the trace of what takes the increments to their fits, which is linear in the shares */
    for (size_t i = 0; i < s->list.drifts; i++)
        if (choice->drift_share[i] > 0) told->drift_dof += choice->drift_share[i] * s->drift[i]->dof;
    told->drift_rank = s->drift[choice->drift]->p;
    told->drift_best = sk_strdup(s->ctx, s->list.drift[s->best_drift].name);
    told->score = s->fell_back ? s->constant_score : s->final_score;
    told->score_constant = s->told_constant;
    SK_TRY(tell_richer(s));
    told->gain_error = s->fell_back ? (double)INFINITY : gain_error_of(s); /* means are neither better nor worse */
    told->calibration = s->calibration;
    told->folds = s->rows->folds;
    told->steps = s->rows->n;
    told->limited = s->limited;
    told->skipped = s->skipped;
    SK_TRY(sk_search_logged(s));
    return told->drift_best ? SOCK_OK : SOCK_ENOMEM;
}
