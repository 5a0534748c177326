/* outcome.c - the memory of what a search hands over. */
#include "tune/tune.h"

#include <math.h>

static void clear_parts(size_t count, sk_part *part)
{
    for (size_t i = 0; part && i < count; i++) sk_free(part[i].kernel);
    sk_free(part);
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

void sk_tune_outcome_clear(sk_tune_outcome *told)
{
    clear_parts(told->drifts, told->drift);
    clear_parts(told->diffusions, told->diffusion);
    clear_table(&told->search);
    for (size_t i = 0; i < told->stages; i++) sk_free(told->left_out[i]);
    sk_free(told->left_out);
    sk_free(told->drift_best);
    sk_free(told->drift_form);
    sk_free(told->floor);
    sk_free(told->scale);
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

sock_status sk_tune_outcome_leave_out(sock_context *ctx, sk_tune_outcome *told, const char *stage)
{
    size_t room = told->stages; /* there are a handful: each grows the list */
    SK_TRY(sk_grow(ctx, &told->left_out, &room, told->stages + 1, sizeof *told->left_out));
    char *copy = sk_strdup(ctx, stage);
    if (!copy) return SOCK_ENOMEM;
    told->left_out[told->stages++] = copy;
    return SOCK_OK;
}
