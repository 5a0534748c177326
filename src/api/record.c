/* record.c - see record.h. */
#include "api/record.h"

#include "model/bands.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sk_record_init(sk_record *record)
{
    *record = (sk_record){.features_complete = true,
                          .tolerance = (double)NAN,
                          .equation_part_share = (double)NAN,
                          .equation_weight = (double)NAN,
                          .diffusion_equation_share = (double)NAN,
                          .residual_lag1 = (double)NAN,
                          .f_sup = (double)NAN,
                          .seconds = (double)NAN};
    sk_tune_outcome *found = &record->found;
    found->drift_dof = found->score = found->score_constant = found->calibration = found->loglik = (double)NAN;
    found->gain_error = found->richer_gain = found->richer_error = (double)NAN;
    found->search_tolerance = found->delta = (double)NAN;
    found->noise.gain = found->noise.gain_error = (double)NAN;
    record->certificate = (sk_certificate){.primal = (double)NAN,
                                           .dual = (double)NAN,
                                           .gap = (double)NAN,
                                           .relative_gap = (double)NAN,
                                           .iterations = -1,
                                           .converged = true};
}

static void number_lists_clear(sk_number_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++) sk_free(lists->list[i].value);
    sk_free(lists->list);
}

sock_status sk_number_lists_new(sock_context *ctx, size_t count, sk_number_lists *out)
{
    out->list = sk_alloc(ctx, count, sizeof *out->list);
    if (!out->list) return SOCK_ENOMEM;
    out->count = count;
    return SOCK_OK;
}

void sk_options_given_clear(sk_options_given *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sk_free(list->option[i].key);
        sk_free(list->option[i].value);
    }
    sk_free(list->option);
    *list = (sk_options_given){0};
}

void sk_record_clear(sk_record *r)
{
    char *const owned[] = {r->drift_path,       r->diffusion_form,
                           r->solver,           r->quadrature,
                           r->lambda_reason,    r->certificate.reason,
                           r->status,           r->certificate.iterations_reason,
                           r->version,          r->data.source,
                           r->data.hash,        r->verdict,
                           r->advice,           r->pattern,
                           r->bands_reason,     r->data.time_unit,
                           r->data.states_hash, r->device};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sk_free(owned[i]);
    sk_options_given_clear(&r->options);
    sk_oddities_clear(&r->odd);
    sk_texts_clear(&r->equation);
    sk_texts_clear(&r->equation_part);
    sk_texts_clear(&r->warnings);
    sk_texts_clear(&r->quiet);
    sk_texts_clear(&r->clock);
    number_lists_clear(&r->errors);
    number_lists_clear(&r->equation_part_errors);
    sk_texts_clear(&r->objections);
    sk_texts_clear(&r->bounds);
    sk_free(r->diffusion_equation);
    sk_tune_outcome_clear(&r->found);
    sk_record_init(r);
}

sock_status sk_options_given_add(sock_context *ctx, sk_options_given *list, const char *key, const char *value)
{
    SK_TRY(sk_grow(ctx, &list->option, &list->room, list->count + 1, sizeof *list->option));
    sk_option_given *one = &list->option[list->count++];
    one->key = sk_strdup(ctx, key);
    one->value = sk_strdup(ctx, value);
    return one->key && one->value ? SOCK_OK : SOCK_ENOMEM;
}

const sk_part *sk_record_drift(const sk_record *record)
{
    const sk_tune_outcome *found = &record->found;
    return found->lead < found->drifts.count ? &found->drifts.part[found->lead] : NULL;
}

const sk_part *sk_record_diffusion(const sk_record *record)
{
    return record->found.diffusions.count ? record->found.diffusions.part : NULL;
}

/* ---- Certificate ---- */

/* Why the numbers of the convex problem are not those of a; NULL: they are. */
static const char *no_certificate(const sk_parts *parts)
{
    if (parts->count > 1) return "a is an average; each part has its own under diffusions";
    if (parts->part->polished) return "a was polished after the convex problem, whose numbers are under diffusions";
    if (parts->part->learned)
        return "features were reweighted after the convex problem, whose numbers are under diffusions";
    return NULL;
}

static sock_status excuse(sock_context *ctx, const char *reason, char **out)
{
    *out = sk_strdup(ctx, reason);
    return *out ? SOCK_OK : SOCK_ENOMEM;
}

/* Of an average the largest gap of its parts, and whether all are within the tolerance: the weakest of the proofs. */
sock_status sk_record_certify(sock_context *ctx, sk_record *record)
{
    const sk_parts *parts = &record->found.diffusions;
    const char *reason = no_certificate(parts);
    sk_certificate *c = &record->certificate;
    c->relative_gap = 0;
    for (size_t i = 0; i < parts->count; i++) {
        c->relative_gap = fmax(c->relative_gap, parts->part[i].relative_gap);
        c->converged = c->converged && parts->part[i].converged;
    }
    const sk_part *drift = sk_record_drift(record);
    if (drift && !isfinite(drift->lambda))
        SK_TRY(excuse(ctx, "learned feature weights have no lambda", &record->lambda_reason));
    if (reason) SK_TRY(excuse(ctx, reason, &c->reason));
    if (!reason) {
        c->primal = parts->part->primal;
        c->dual = parts->part->dual;
        c->gap = parts->part->gap;
        c->iterations = parts->part->iterations;
    }
    if (c->iterations >= 0) return SOCK_OK;
    return excuse(ctx, reason ? reason : "those of cross-validation are not counted", &c->iterations_reason);
}

/* ---- Bands ---- */

static const char TOO_MANY[] = "those of f alone: a has too many unknowns";

/* NULL: it has them. */
static const char *no_bands(const sock_model *model, bool wanted, const sk_record *record)
{
    if (record->found.paper)
        return "the paper's protocol (--preset paper) tells no errors of its weights, as the default does";
    if (!wanted) return "bands were not wanted (--bands=no)";
    if (!model->spread && sk_record_warns(record, SK_WARN_SMOOTH)) return "the states are smooth: there is no noise";
    if (!model->spread && record->found.limited && model->d > SK_MANY_DIMENSIONS) return "the budget was spent";
    const sk_noise_told *noise = &record->found.noise;
    if (!model->spread && (noise->used || noise->substeps > 1) && model->drift_terms > 1)
        return "the fit with noise or long steps ended between two kernels: the errors of neither are those of f";
    if (!model->spread) return "its drift has too many weights, or they cannot be told apart";
    return sk_spread_has_diffusion(model->spread) ? NULL : TOO_MANY;
}

static sock_status tell_bands(sock_context *ctx, const sock_model *model, const char *reason, sk_record *record)
{
    record->bands = model->spread != NULL;
    if (model->spread) record->f_sup = model->spread->sup[SK_SUP_DRAWS * 9 / 10 - 1];
    return reason ? excuse(ctx, reason, &record->bands_reason) : SOCK_OK;
}

sock_status sk_record_plain_bands(sock_context *ctx, const sock_model *model, const char *reason, sk_record *record)
{
    if (model->spread && !sk_spread_has_diffusion(model->spread)) reason = TOO_MANY;
    return tell_bands(ctx, model, reason, record);
}

sock_status sk_record_tell_bands(sock_context *ctx, const sock_model *model, bool wanted, sk_record *record)
{
    return tell_bands(ctx, model, no_bands(model, wanted, record), record);
}

/* ---- Warnings ---- */

sock_status sk_record_add_warning(sock_context *ctx, sk_record *record, sk_warning_code code)
{
    return code ? sk_texts_add(ctx, &record->warnings, sk_warning_text(code)) : SOCK_OK;
}

/* A test that says that f or a depends on the states in a way the model does not know. */
static bool objects_to_fields(const sk_record *r)
{
    for (size_t i = 0; i < r->objections.count; i++)
        if (strcmp(r->objections.text[i], "drift") == 0 || strcmp(r->objections.text[i], "diffusion") == 0) return true;
    return false;
}

/* "The data support no more" is no word beside a verdict that finds more in them. */
static sk_warning_code warning_of_gain(const sk_record *r)
{
    const sk_warning_code gain = sk_warn_gain(r->against_constant, r->found.limited);
    if (gain != SK_WARN_CONSTANT || !r->objections.count) return gain;
    return objects_to_fields(r) ? SK_WARN_DOUBTED : SK_WARN_BESIDE;
}

sock_status sk_record_warn(sock_context *ctx, sk_record *r)
{
    const sk_tune_outcome *found = &r->found;
    r->against_constant = sk_against_constant(found->score - found->score_constant, found->gain_error);
    if (found->too_few) return sk_record_add_warning(ctx, r, SK_WARN_FEW); /* nothing else can be said */
    /* The verdict tells it otherwise; with noise and long steps Euler's residuals are correlated as they should be. */
    const sk_warning_code lag1 = sk_warn_lag1(r->residual_lag1, (double)found->steps);
    const bool denied = lag1 == SK_WARN_NOISE && found->noise.z.count; /* looked for, and not found */
    const bool smooth = sk_record_warns(r, SK_WARN_SMOOTH); /* residuals are what f misses, and that is smooth too */
    if (!r->verdict && !found->noise.used && found->noise.substeps <= 1 && !denied && !smooth)
        SK_TRY(sk_record_add_warning(ctx, r, lag1));
    SK_TRY(sk_record_add_warning(ctx, r, warning_of_gain(r)));
    if (!smooth) SK_TRY(sk_record_add_warning(ctx, r, sk_warn_moments(found->calibration)));
    if (r->quiet.count) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_QUIET));
    const sk_part *drift = sk_record_drift(r);
    if (drift && drift->edge) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_DRIFT_EDGE));
    if (found->diffusions.count && found->diffusions.part->edge)
        SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_DIFFUSION_EDGE));
    for (size_t i = 0; i < found->diffusions.count; i++)
        if (!found->diffusions.part[i].converged) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_UNSOLVED));
    return SOCK_OK;
}

bool sk_record_warns(const sk_record *record, sk_warning_code code)
{
    for (size_t i = 0; i < record->warnings.count; i++)
        if (sk_warning_of(record->warnings.text[i]) == code) return true;
    return false;
}

bool sk_record_kept_wild(const sk_record *record)
{
    return sk_record_warns(record, SK_WARN_WILD_KEPT) || sk_record_warns(record, SK_WARN_GAPS_KEPT);
}

const char *sk_percent(double share, char buffer[16])
{
    if (share < 0.005) /* rounding */
        snprintf(buffer, 16, "<1");
    else
        snprintf(buffer, 16, "%.0f", 100 * share);
    return buffer;
}

bool sk_record_form_is_open(const sk_record *r) { return r->equation_weight < SK_FORM_SURE; }
