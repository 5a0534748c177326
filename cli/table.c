/* table.c - see table.h. JSON: {"columns": [...], "rows": [[...], ...]}. */
#define _GNU_SOURCE
#include "table.h"

#include "base/printable.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int table_open(const cli *c, table *t, const char *path, bool json)
{
    *t = (table){.c = c, .path = path, .json = json};
    t->stream = memtext_open(&t->whole);
    if (!t->stream) return cli_fail(c, SOCK_ENOMEM);
    if (json) fputs("{\"columns\": [", t->stream);
    return -1;
}

static void separate(table *t)
{
    if (t->column++)
        fputs(t->json ? ", " : ",", t->stream);
    else if (t->json && t->row > 0)
        fputs(t->row > 1 ? ",\n[" : "[", t->stream);
}

/* A name that a spreadsheet would run as a formula is kept from it by an apostrophe. */
static void write_cell(table *t, const char *text)
{
    char *armed = NULL;
    if (sk_is_formula(text) && asprintf(&armed, "'%s", text) < 0) t->failed = true;
    memtext_csv(t->stream, armed ? armed : text);
    free(armed);
}

void table_text(table *t, const char *text)
{
    separate(t);
    if (!t->json) {
        write_cell(t, text);
        return;
    }
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (value && !quoted) t->failed = true;
    fputs(quoted ? quoted : "null", t->stream);
    free(quoted);
    json_decref(value);
}

void table_name(table *t, const char *prefix, const char *first, const char *second)
{
    char *name = NULL;
    if (asprintf(&name, "%s%s%s%s", prefix, first, second ? "_" : "", second ? second : "") < 0) name = NULL;
    if (!name) t->failed = true;
    table_text(t, name ? name : first);
    free(name);
}

void table_number(table *t, double value)
{
    separate(t);
    if (isfinite(value))
        fprintf(t->stream, "%.17g", value);
    else if (t->json)
        fputs("null", t->stream);
}

void table_end_row(table *t)
{
    if (t->json)
        fputs(t->row == 0 ? "],\n\"rows\": [" : "]", t->stream);
    else
        fputc('\n', t->stream);
    t->row++;
    t->column = 0;
}

int table_close(table *t)
{
    if (t->json) fputs("]}\n", t->stream);
    sock_status status = SOCK_ENOMEM;
    if (memtext_close(t->stream, &t->whole) == 0 && !t->failed)
        status = sock_write_file(t->c->ctx, t->path ? t->path : "-", t->whole.text, t->whole.size);
    free(t->whole.text);
    return status < 0 ? cli_fail(t->c, status) : EXIT_DONE;
}
