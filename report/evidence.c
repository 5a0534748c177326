/* evidence.c - see evidence.h. */
#include "evidence.h"

#include <stdlib.h>

typedef struct sorted_state {
    double *x;
    size_t count;
} sorted_state;

/* The paths of one model; made: even when there are none. */
typedef struct paths {
    int made;
    companion c;
} paths;

struct evidence {
    json_t *info;
    size_t d;
    sorted_state *state; /* d; x: NULL where none was asked for */
    int has_time;
    look_times time;
    int has_residuals;
    res_set residuals;
    res_moments moments;
    paths model, truth, run; /* run: long ones */
    int has_binned, has_meaning;
    json_t *binned, *meaning;
};

evidence *evidence_new(size_t d)
{
    evidence *e = calloc(1, sizeof *e);
    sorted_state *state = calloc(d + 1, sizeof *state);
    if (!e || !state) {
        free(e);
        free(state);
        return NULL;
    }
    e->d = d;
    e->state = state;
    return e;
}

void evidence_free(evidence *e)
{
    if (!e) return;
    json_decref(e->info);
    json_decref(e->binned);
    json_decref(e->meaning);
    for (size_t k = 0; k < e->d; k++) free(e->state[k].x);
    free(e->state);
    res_free(&e->residuals);
    companion_free(&e->model.c);
    companion_free(&e->truth.c);
    companion_free(&e->run.c);
    free(e);
}

sock_status evidence_info(sock_context *ctx, const fig_input *in, json_t **out)
{
    evidence *e = in->evidence;
    if (!e->info) {
        char *text = NULL;
        const sock_status status = sock_model_info(ctx, in->model, &text);
        if (status >= 0) e->info = info_parse(text);
        sock_string_free(text);
        if (status < 0) return status;
    }
    *out = e->info;
    return e->info ? SOCK_OK : SOCK_ENOMEM;
}

/* A text that may be refused, for a model or data that have nothing of the kind: then *out stays NULL. */
static sock_status take_text(sock_status status, char *text, json_t **out)
{
    if (status >= 0) *out = info_parse(text);
    sock_string_free(text);
    if (status >= 0 && !*out) return SOCK_ENOMEM;
    return status == SOCK_EUSAGE || status == SOCK_ENUMERIC || status == SOCK_EINPUT ? SOCK_OK : status;
}

static sock_status evidence_binned(sock_context *ctx, const fig_input *in, const char *key, json_t **out)
{
    evidence *e = in->evidence;
    sock_status status = SOCK_OK;
    char *text = NULL;
    if (!e->has_binned) {
        status = sock_evidence(ctx, in->model, in->data, &text);
        status = take_text(status, text, &e->binned);
    }
    e->has_binned = status >= 0;
    *out = json_object_get(e->binned, key);
    return status;
}

sock_status evidence_moments(sock_context *ctx, const fig_input *in, json_t **out)
{
    return evidence_binned(ctx, in, "moments", out);
}

sock_status evidence_planes(sock_context *ctx, const fig_input *in, json_t **out)
{
    return evidence_binned(ctx, in, "planes", out);
}

sock_status evidence_meaning(sock_context *ctx, const fig_input *in, json_t **out)
{
    evidence *e = in->evidence;
    sock_status status = SOCK_OK;
    char *text = NULL;
    if (!e->has_meaning) {
        status = sock_explain(ctx, in->model, in->data, NULL, NULL, &text);
        status = take_text(status, text, &e->meaning);
    }
    e->has_meaning = status >= 0;
    *out = e->meaning;
    return status;
}

sock_status evidence_sorted(const fig_input *in, size_t k, const double **sorted, size_t *count)
{
    evidence *e = in->evidence;
    sorted_state *s = &e->state[k];
    if (!s->x) s->x = look_sorted(in->data, k, &s->count);
    *sorted = s->x, *count = s->count;
    return s->x && s->count ? SOCK_OK : SOCK_ENOMEM;
}

sock_status evidence_range(const fig_input *in, size_t k, double share, range *out)
{
    const double *sorted;
    size_t count;
    const sock_status status = evidence_sorted(in, k, &sorted, &count);
    if (status >= 0) *out = range_widen((range){sorted[0], sorted[count - 1]}, share);
    return status;
}

sock_status evidence_most(const fig_input *in, size_t k, double share, range *out, size_t *outside)
{
    static const double squeezed = 1.3; /* all that is beside the most takes so much more room */
    const double *sorted;
    size_t count;
    sock_status status = evidence_sorted(in, k, &sorted, &count);
    *outside = 0;
    if (status < 0) return status;
    const range most = {look_quantile(count, sorted, 0.005), look_quantile(count, sorted, 0.995)};
    if (!(sorted[count - 1] - sorted[0] > squeezed * (most.high - most.low)) || !(most.high > most.low))
        return evidence_range(in, k, share, out);
    *out = range_widen(most, share);
    for (size_t i = 0; i < count; i++) *outside += sorted[i] < out->low || sorted[i] > out->high;
    return SOCK_OK;
}

sock_status evidence_time(const fig_input *in, look_times *out)
{
    evidence *e = in->evidence;
    const sock_status status = e->has_time ? SOCK_OK : look_time(in->data, &e->time);
    e->has_time = status >= 0;
    *out = e->time;
    return status;
}

sock_status evidence_residuals(sock_context *ctx, const fig_input *in, const res_set **set, const res_moments **moments)
{
    evidence *e = in->evidence;
    if (!e->has_residuals) {
        const sock_status status = res_make(ctx, in->model, in->data, &e->residuals);
        if (status < 0) return status;
        e->moments = res_look(&e->residuals);
        e->has_residuals = 1;
    }
    *set = &e->residuals, *moments = &e->moments;
    return SOCK_OK;
}

static sock_status paths_of(sock_context *ctx, const fig_input *in, const sock_model *model, paths *p,
                            const companion **out)
{
    const sock_status status = p->made ? SOCK_OK : companion_make(ctx, in, model, &p->c);
    p->made = status >= 0;
    *out = &p->c;
    return status;
}

sock_status evidence_model_paths(sock_context *ctx, const fig_input *in, const companion **out)
{
    return paths_of(ctx, in, in->model, &in->evidence->model, out);
}

sock_status evidence_true_paths(sock_context *ctx, const fig_input *in, const companion **out)
{
    return paths_of(ctx, in, in->truth, &in->evidence->truth, out);
}

sock_status evidence_long_run(sock_context *ctx, const fig_input *in, const companion **out, double *astray)
{
    const double around = 0.25;
    const size_t d = sock_model_dim(in->model);
    paths *run = &in->evidence->run;
    sock_status status = run->made ? SOCK_OK : companion_long_run(ctx, in, &run->c);
    run->made = status >= 0;
    *out = &run->c, *astray = run->c.count ? run->c.lost : 1;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        range r;
        status = evidence_range(in, k, around, &r);
        const double share = status >= 0 ? companion_outside(run->c.count, run->c.x + k, d, r) : 0;
        if (share > *astray) *astray = share;
    }
    return status;
}
