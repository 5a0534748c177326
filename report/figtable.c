/* figtable.c - see figtable.h. */
#define _GNU_SOURCE
#include "figtable.h"

#include "memtext.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void table_free(fig_table *table)
{
    if (!table) return;
    for (size_t c = 0; table->column && c < table->columns; c++) free(table->column[c]);
    free(table->column);
    free(table->value);
    free(table);
}

static fig_table *table_new(size_t columns, size_t rows)
{
    fig_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->columns = columns, table->rows = rows;
    table->column = calloc(columns + 1, sizeof *table->column);
    if (rows < SIZE_MAX / 8 / (columns + 1)) table->value = calloc(rows * columns + 1, sizeof *table->value);
    if (table->column && table->value) return table;
    table_free(table);
    return NULL;
}

fig_table *tables_add(fig_tables *list, size_t columns, size_t rows, const char *chart, const char *name)
{
    if (!list) return NULL;
    fig_table *table = table_new(columns, rows);
    fig_table **longer = table ? realloc(list->table, (list->count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        list->failed = 1;
        table_free(table);
        return NULL;
    }
    snprintf(table->name, sizeof table->name, "%s", name);
    table->chart = chart;
    list->table = longer;
    list->table[list->count++] = table;
    return table;
}

void table_column(fig_tables *list, fig_table *table, size_t c, const char *before, const char *after)
{
    if (!table) return;
    free(table->column[c]);
    if (asprintf(&table->column[c], "%s%s", before, after) >= 0) return;
    table->column[c] = NULL;
    list->failed = 1;
}

/* In quotes where a name could be taken for more than one cell. */
static void put_name(FILE *out, const char *name)
{
    const int quote = strpbrk(name, ",\"\r\n") != NULL;
    if (quote) fputc('"', out);
    for (; *name; name++) fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, out);
    if (quote) fputc('"', out);
}

char *table_csv(const fig_table *table, size_t *size)
{
    memtext text;
    FILE *out = memtext_open(&text);
    if (!out) return NULL;
    for (size_t c = 0; c < table->columns; c++) {
        if (c) fputc(',', out);
        put_name(out, table->column[c] ? table->column[c] : "");
    }
    fputc('\n', out);
    for (size_t i = 0; i < table->rows; i++)
        for (size_t c = 0; c < table->columns; c++) {
            const double value = table->value[i * table->columns + c];
            if (isfinite(value)) fprintf(out, "%.*g", fabs(value) < 1e5 ? 7 : 12, value); /* times may be large */
            fputc(c + 1 < table->columns ? ',' : '\n', out);
        }
    const int failed = memtext_close(out, &text);
    *size = text.size;
    return failed ? NULL : text.text;
}

void tables_clear(fig_tables *list)
{
    for (size_t i = 0; i < list->count; i++) table_free(list->table[i]);
    free(list->table);
    *list = (fig_tables){0};
}
