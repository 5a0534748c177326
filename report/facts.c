/* facts.c - see facts.h. */
#include "facts.h"

#include "whiteness.h"

#include "driven.h"
#include "evidence.h"
#include "lifted.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 2000, NOISE_STATES = 10 };

static sock_status terms_of(sock_context *ctx, const sock_model *model, json_t **out)
{
    char *text = NULL;
    const sock_status status = sock_model_terms(ctx, model, &text);
    if (status >= 0) *out = info_parse(text);
    sock_string_free(text);
    return status >= 0 && !*out ? SOCK_ENOMEM : status;
}

static sock_status summary_of(sock_context *ctx, const sock_data *data, json_t **out)
{
    char *text = NULL;
    const sock_status status = sock_data_summary(ctx, data, &text);
    if (status >= 0) *out = info_parse(text);
    sock_string_free(text);
    return status >= 0 && !*out ? SOCK_ENOMEM : status;
}

/* Without a diffusion there is nothing to check. */
static sock_status look_at_check(sock_context *ctx, rep_facts *f)
{
    if (!sock_model_has_diffusion(f->model)) return SOCK_OK;
    sock_status status;
    const rep_settings *s = f->settings;
    sock_options *opts = res_options(ctx, s->bounds, s->lower, s->upper, &status);
    if (status >= 0) status = sock_check(ctx, f->model, f->data, opts, &f->check);
    sock_options_free(opts);
    f->has_check = status >= 0;
    return status == SOCK_ENUMERIC ? SOCK_OK : status;
}

/* On the test data with everything; else, where the truth is known, errors and perplexity on the data themselves. What
 * cannot be computed is marked in the scores and is no failure of the report. */
static sock_status look_at_scores(sock_context *ctx, rep_facts *f)
{
    const rep_settings *s = f->settings;
    if ((!s->test && !s->truth) || !sock_model_has_diffusion(f->model)) return SOCK_OK;
    const sock_data *test = s->test ? s->test : f->data, *train = s->test ? f->data : NULL;
    sock_status status;
    sock_options *opts = res_options(ctx, s->bounds, s->lower, s->upper, &status);
    if (status >= 0) status = sock_score(ctx, f->model, test, train, s->truth, opts, &f->scores);
    sock_options_free(opts);
    f->has_scores = status >= 0;
    return status == SOCK_ENUMERIC || status == SOCK_EINPUT ? SOCK_OK : status;
}

/* The diagonal of a at the points. */
static sock_status look_at_noise(sock_context *ctx, rep_facts *f)
{
    const size_t d = f->d, n = f->points;
    if (!sock_model_has_diffusion(f->model) || d > NOISE_STATES || sock_data_dim(f->data) != d) return SOCK_OK;
    double *a = calloc(n * d * d + 1, sizeof *a);
    f->a = calloc(n * d + 1, sizeof *f->a);
    sock_status status = a && f->a ? driven_diffusion(ctx, f->model, f->model, n, f->point, a) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < n * d; i++) f->a[i] = a[i / d * d * d + i % d * (d + 1)];
    free(a);
    return status;
}

static int agree(const char *one, const char *other) { return one && *one && strcmp(one, other) == 0; }

sock_status facts_gather(sock_context *ctx, const fig_input *in, const rep_settings *settings, int *failed,
                         rep_facts *out)
{
    rep_facts f = {.model = in->model,
                   .data = lifted_observed(in),
                   .settings = settings,
                   .failed = failed,
                   .d = sock_model_dim(in->model),
                   .seen = lifted_seen(in->model)};
    sock_status status = sk_record_of_model(ctx, in->model, &f.record);
    if (status >= 0) status = evidence_info(ctx, in, &f.info);
    if (status >= 0) status = terms_of(ctx, in->model, &f.terms);
    if (status >= 0) status = summary_of(ctx, f.data, &f.summary);
    if (status >= 0) {
        const sk_provenance *fitted = &f.record.data;
        f.same_data = agree(fitted->hash, info_text(f.summary, "hash")) ||
                      agree(fitted->states_hash, info_text(f.summary, "states_hash"));
        f.point = look_points(in->data, POINTS, &f.points);
        if (!f.point) status = SOCK_ENOMEM;
    }
    if (status >= 0) {
        const char *unit = info_text(f.summary, "time_unit"), *name = info_text(f.summary, "time_name");
        unit_one(*unit ? unit : name, sizeof f.time_unit, f.time_unit);
    }
    if (status >= 0) status = look_at_noise(ctx, &f);
    if (status >= 0) status = look_at_check(ctx, &f);
    if (status >= 0) status = look_at_scores(ctx, &f);
    if (status >= 0) status = glance_look(ctx, in, &f);
    if (status < 0)
        facts_free(&f);
    else
        *out = f;
    return status < 0 ? status : SOCK_OK;
}

void facts_free(rep_facts *facts)
{
    sk_record_clear(&facts->record);
    json_decref(facts->summary);
    json_decref(facts->terms);
    free(facts->point);
    free(facts->a);
    *facts = (rep_facts){0};
}
