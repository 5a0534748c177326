/* modelinputs.c - see modelinputs.h. */
#include "model/modelinputs.h"

#include <string.h>

sock_status sk_inputs_find(sock_context *ctx, const sock_model *model, const sock_data *data, size_t **place)
{
    const sk_structure *s = model->structure;
    *place = NULL;
    if (!s->inputs) return SOCK_OK;
    size_t *found = sk_alloc(ctx, s->inputs, sizeof *found);
    if (!found) return SOCK_ENOMEM;
    for (size_t k = 0; k < s->inputs; k++) {
        size_t c = data->input ? 0 : k;
        while (data->input && c < data->inputs && strcmp(data->input[c], s->input[k].name) != 0) c++;
        if (c >= data->inputs && s->input[k].hold == SK_HOLD_TIME) c = SIZE_MAX;
        found[k] = c;
        if (c < data->inputs || c == SIZE_MAX) continue;
        sk_free(found);
        return sk_fail(ctx, SOCK_EINPUT, "%s: the model needs the input '%s', which the data do not have",
                       data->source ? data->source : "data", s->input[k].name);
    }
    *place = found;
    return SOCK_OK;
}

void sk_inputs_at(const sock_model *model, const size_t *place, const sock_data *data, size_t i, double share,
                  double *u)
{
    const size_t m = data->inputs;
    for (size_t k = 0; k < model->structure->inputs; k++) {
        const bool time = place[k] == SIZE_MAX,
                   moves = share > 0 && model->structure->input[k].hold != SK_HOLD_PREVIOUS;
        const double *at = time ? data->t + i : data->u + i * m + place[k];
        u[k] = *at;
        if (moves) u[k] += share * (at[time ? 1 : m] - *at);
    }
}

void sk_inputs_join(const sock_model *model, const size_t *place, const sock_data *data, size_t begin, size_t end,
                    double *z)
{
    const size_t d = model->d, in = sk_model_in(model);
    for (size_t i = begin; i < end; i++, z += in) {
        memcpy(z, data->x + i * d, d * sizeof *z);
        if (in > d) sk_inputs_at(model, place, data, i, 0, z + d);
    }
}

void sk_inputs_at_time(const sock_model *model, const sk_input_table *table, double time, size_t *near, double *u)
{
    const size_t m = model->structure->inputs;
    while (*near + 1 < table->times && table->t[*near + 1] <= time) ++*near;
    const double begun = table->times ? table->t[*near] : time;
    const bool between = *near + 1 < table->times && time > begun;
    for (size_t k = 0; k < m; k++) {
        const sk_hold hold = model->structure->input[k].hold;
        const double *at = table->u ? table->u + *near * m + k : NULL;
        u[k] = at ? *at : time;
        if (hold == SK_HOLD_TIME && at) u[k] += time - begun;
        if (hold == SK_HOLD_LINEAR && between && at)
            u[k] += (time - begun) / (table->t[*near + 1] - begun) * (at[m] - *at);
    }
}

void sock_model_inputs_at(const sock_model *model, size_t times, const double *t, const double *u, double when,
                          double *out)
{
    const sk_input_table table = {times, t, u};
    size_t near = 0;
    if (model) sk_inputs_at_time(model, &table, when, &near, out);
}
