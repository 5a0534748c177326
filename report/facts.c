/* facts.c - see facts.h. */
#include "facts.h"

#include "datalook.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 2000 };

typedef sock_status (*model_text_fn)(sock_context *ctx, const sock_model *model, char **json);

static sock_status of_model(sock_context *ctx, const sock_model *model, model_text_fn ask, json_t **out)
{
    char *text = NULL;
    const sock_status status = ask(ctx, model, &text);
    if (status >= 0) *out = info_parse(text);
    sock_string_free(text);
    return status >= 0 && !*out ? SOCK_ENOMEM : status;
}

static sock_status of_data(sock_context *ctx, const sock_data *data, json_t **out)
{
    char *text = NULL;
    const sock_status status = sock_data_summary(ctx, data, &text);
    if (status >= 0) *out = info_parse(text);
    sock_string_free(text);
    return status >= 0 && !*out ? SOCK_ENOMEM : status;
}

static sock_status look_at_residuals(sock_context *ctx, rep_facts *f)
{
    res_set set;
    if (!sock_model_has_diffusion(f->model)) return SOCK_OK;
    const sock_status status = res_make(ctx, f->model, f->data, &set);
    if (status < 0) return status;
    f->residuals = res_look(&set);
    f->has_residuals = f->residuals.count > 0;
    res_free(&set);
    return SOCK_OK;
}

/* On the test data with everything; else, where the truth is known, errors and perplexity on the data themselves. What
 * cannot be computed is marked in the scores and is no failure of the report. */
static sock_status look_at_scores(sock_context *ctx, rep_facts *f)
{
    const rep_settings *s = f->settings;
    if ((!s->test && !s->truth) || !sock_model_has_diffusion(f->model)) return SOCK_OK;
    const sock_status status =
        sock_score(ctx, f->model, s->test ? s->test : f->data, s->test ? f->data : NULL, s->truth, NULL, &f->scores);
    f->has_scores = status >= 0;
    return status == SOCK_ENUMERIC || status == SOCK_EINPUT ? SOCK_OK : status;
}

sock_status facts_gather(sock_context *ctx, const sock_model *model, const sock_data *data,
                         const rep_settings *settings, int *failed, rep_facts *out)
{
    rep_facts f = {.model = model, .data = data, .settings = settings, .failed = failed, .d = sock_model_dim(model)};
    sock_status status = of_model(ctx, model, sock_model_info, &f.info);
    if (status >= 0) status = of_model(ctx, model, sock_model_terms, &f.terms);
    if (status >= 0) status = of_data(ctx, data, &f.summary);
    if (status >= 0) {
        const char *hash = info_text(json_object_get(f.info, "data"), "hash");
        f.same_data = *hash && strcmp(hash, info_text(f.summary, "hash")) == 0;
        f.point = look_points(data, POINTS, &f.points);
        if (!f.point) status = SOCK_ENOMEM;
    }
    if (status >= 0) status = look_at_residuals(ctx, &f);
    if (status >= 0) status = look_at_scores(ctx, &f);
    if (status < 0)
        facts_free(&f);
    else
        *out = f;
    return status < 0 ? status : SOCK_OK;
}

void facts_free(rep_facts *facts)
{
    json_decref(facts->info);
    json_decref(facts->summary);
    json_decref(facts->terms);
    free(facts->point);
    *facts = (rep_facts){0};
}
