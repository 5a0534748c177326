/* outcome.c - the memory of what a search hands over. */
#include "model/outcome.h"

#include <math.h>

static void clear_parts(sk_parts *list)
{
    for (size_t i = 0; i < list->count; i++) sk_free(list->part[i].kernel);
    sk_free(list->part);
}

static void clear_table(sk_search_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        sk_free(table->row[i].stage);
        sk_free(table->row[i].field);
        sk_free(table->row[i].kernel);
        sk_free(table->row[i].curve);
    }
    sk_free(table->row);
}

void sk_inputs_told_clear(sk_inputs_told *told)
{
    for (size_t i = 0; i < told->count; i++) {
        sk_free(told->input[i].name);
        sk_free(told->input[i].hold);
    }
    sk_free(told->input);
    *told = (sk_inputs_told){0};
}

void sk_tune_outcome_clear(sk_tune_outcome *told)
{
    clear_parts(&told->drifts);
    clear_parts(&told->diffusions);
    clear_table(&told->search);
    sk_texts_clear(&told->left_out);
    sk_free(told->drift_best);
    sk_free(told->richer);
    sk_free(told->drift_form);
    sk_free(told->floor.value);
    sk_free(told->scale.value);
    sk_free(told->centre.value);
    sk_free(told->jitter.value);
    sk_free(told->grain.value);
    sk_free(told->quiet);
    sk_free(told->clock);
    sk_free(told->noise.mode);
    sk_free(told->noise.r.value);
    sk_free(told->noise.r_error.value);
    sk_free(told->noise.sd.value);
    sk_texts_clear(&told->noise.states);
    sk_free(told->noise.z.value);
    sk_free(told->noise.reason);
    sk_inputs_told_clear(&told->inputs);
    *told = (sk_tune_outcome){0};
}

sk_search_row *sk_search_table_add(sock_context *ctx, sk_search_table *table, const char *stage, const char *field,
                                   const char *kernel)
{
    if (table->status >= 0)
        table->status = sk_grow(ctx, &table->row, &table->room, table->count + 1, sizeof *table->row);
    if (table->status < 0) return NULL;
    sk_search_row *row = &table->row[table->count++];
    *row = (sk_search_row){.stage = sk_strdup(ctx, stage),
                           .field = sk_strdup(ctx, field),
                           .kernel = sk_strdup(ctx, kernel),
                           .l = (double)NAN,
                           .lambda = (double)NAN,
                           .score = (double)NAN};
    if (!row->stage || !row->field || !row->kernel) table->status = SOCK_ENOMEM;
    return table->status < 0 ? NULL : row;
}

sock_status sk_texts_add(sock_context *ctx, sk_texts *list, const char *text)
{
    SK_TRY(sk_grow(ctx, &list->text, &list->room, list->count + 1, sizeof *list->text));
    list->text[list->count] = sk_strdup(ctx, text);
    if (!list->text[list->count]) return SOCK_ENOMEM;
    list->count++;
    return SOCK_OK;
}

void sk_texts_clear(sk_texts *list)
{
    for (size_t i = 0; i < list->count; i++) sk_free(list->text[i]);
    sk_free(list->text);
    *list = (sk_texts){0};
}
