/* arrowstream.c - tables of the Arrow C stream interface as trajectories. Their cells become the text of a CSV file,
 * whose reader then decides what is a time, an id, a date or a state: one set of rules for all. */
#include "csvslices.h"
#include "readers.h"

#include <errno.h>
#include <string.h>

static const char *const SOURCE = "arrow stream";

static sock_status producer_failed(sock_context *ctx, struct ArrowArrayStream *stream, int error)
{
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    return sk_fail(ctx, error == ENOMEM ? SOCK_ENOMEM : SOCK_EIO, "%s: its producer failed: %s%s%s", SOURCE,
                   strerror(error), why ? ": " : "", why ? why : "");
}

static sock_status check_table(sock_context *ctx, const struct ArrowSchema *schema)
{
    if (!schema->format || strcmp(schema->format, "+s") != 0)
        return sk_fail(ctx, SOCK_EINPUT, "%s: its format is '%s'; allowed: +s, a table", SOURCE,
                       schema->format ? schema->format : "(none)");
    if (schema->n_children < 1 || !schema->children)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the table has no columns", SOURCE);
    for (int64_t k = 0; k < schema->n_children; k++) SK_TRY(sk_arrow_check_schema(ctx, schema->children[k], (size_t)k));
    return SOCK_OK;
}

static sock_status put_header(sock_context *ctx, const struct ArrowSchema *schema, sk_text *text)
{
    for (int64_t k = 0; k < schema->n_children; k++) {
        const char *name = schema->children[k]->name ? schema->children[k]->name : "";
        if (k) SK_TRY(sk_text_put(ctx, text, ",", 1));
        SK_TRY(sk_text_put_cell(ctx, text, name, strlen(name)));
    }
    return sk_text_put(ctx, text, "\n", 1);
}

static sock_status check_batch(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    if (batch->length < 0 || batch->offset < 0 || batch->length > INT64_MAX - batch->offset)
        return sk_fail(ctx, SOCK_EINPUT, "%s: the length or offset of a table is negative or too large", SOURCE);
    if (batch->n_children != schema->n_children || !batch->children)
        return sk_fail(ctx, SOCK_EINPUT, "%s: a table has not the columns of the schema", SOURCE);
    if (batch->null_count < -1 || batch->n_buffers > 1 ||
        (batch->null_count > 0 && (batch->n_buffers < 1 || !batch->buffers || !batch->buffers[0])))
        return sk_fail(ctx, SOCK_EINPUT, "%s: the rows of a table are said to be missing, and nothing says which",
                       SOURCE);
    for (int64_t k = 0; k < schema->n_children; k++)
        SK_TRY(
            sk_arrow_check_array(ctx, schema->children[k], batch->children[k], batch->offset + batch->length, false));
    return SOCK_OK;
}

/* A row that is null as a whole has no cell. */
static bool is_there(const struct ArrowArray *batch, int64_t i)
{
    if (batch->null_count == 0 || batch->n_buffers < 1 || !batch->buffers || !batch->buffers[0]) return true;
    return ((const unsigned char *)batch->buffers[0])[i / 8] >> i % 8 & 1;
}

static sock_status put_batch(sock_context *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                             sk_text *text)
{
    SK_TRY(check_batch(ctx, schema, batch));
    for (int64_t i = batch->offset; i < batch->offset + batch->length; i++) {
        const size_t begin = text->size;
        for (int64_t k = 0; k < schema->n_children; k++) {
            if (k) SK_TRY(sk_text_put(ctx, text, ",", 1));
            if (is_there(batch, i)) SK_TRY(sk_arrow_put(ctx, schema->children[k], batch->children[k], i, text));
        }
        if (text->size == begin) SK_TRY(sk_text_put(ctx, text, "\"\"", 2)); /* an empty line is no row */
        SK_TRY(sk_text_put(ctx, text, "\n", 1));
    }
    return SOCK_OK;
}

/* A stream on its way to text: the header first, then one table after the other. */
typedef struct tables {
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    bool begun;
} tables;

static sock_status more_rows(sock_context *ctx, void *state, sk_text *text, bool *ended)
{
    tables *t = state;
    struct ArrowArray batch = {0};
    if (!t->begun) {
        t->begun = true;
        return put_header(ctx, &t->schema, text);
    }
    SK_TRY(sk_progress(ctx, "reading", -1));
    const int error = t->stream->get_next(t->stream, &batch);
    if (error) return producer_failed(ctx, t->stream, error);
    *ended = !batch.release;
    if (*ended) return SOCK_OK;
    const sock_status status = put_batch(ctx, &t->schema, &batch, text);
    batch.release(&batch);
    return status;
}

static sock_status get_schema(sock_context *ctx, tables *t)
{
    if (!t->stream->get_schema || !t->stream->get_next)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: get_schema and get_next must not be NULL", SOURCE);
    const int error = t->stream->get_schema(t->stream, &t->schema);
    if (error) return producer_failed(ctx, t->stream, error);
    if (!t->schema.release) return sk_fail(ctx, SOCK_EINPUT, "%s: its schema was released already", SOURCE);
    return check_table(ctx, &t->schema);
}

static void close_tables(tables *t)
{
    if (t->schema.release) t->schema.release(&t->schema);
    t->stream->release(t->stream);
}

static sock_status read_all(sock_context *ctx, tables *t, const sock_options *opts, sock_data **out)
{
    sk_text text = {0};
    bool ended = false;
    sock_status status = get_schema(ctx, t);
    while (status >= 0 && !ended) status = more_rows(ctx, t, &text, &ended);
    if (status >= 0) status = sk_csv_parse(ctx, SOURCE, text.bytes, text.size, opts, out);
    sk_free(text.bytes);
    return status;
}

sock_status sock_data_from_arrow_stream(sock_context *ctx, struct ArrowArrayStream *stream, const sock_options *opts,
                                        sock_data **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!stream) return sk_fail(ctx, SOCK_EUSAGE, "stream and out must not be NULL");
    if (!stream->release) return sk_fail(ctx, SOCK_EUSAGE, "%s: it was released already", SOURCE);
    tables t = {.stream = stream};
    const sock_status status =
        out ? read_all(ctx, &t, opts, out) : sk_fail(ctx, SOCK_EUSAGE, "stream and out must not be NULL");
    close_tables(&t);
    return status;
}

static sock_status convert(sock_context *ctx, tables *t, const sock_options *opts, bool single, const char *folder)
{
    const sk_csv_origin from = {SOURCE, t, more_rows};
    SK_TRY(get_schema(ctx, t));
    return sk_text_to_folder(ctx, &from, opts, single, folder);
}

sock_status sock_data_convert_arrow_stream(sock_context *ctx, struct ArrowArrayStream *stream, const sock_options *opts,
                                           int single, const char *folder)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!stream) return sk_fail(ctx, SOCK_EUSAGE, "stream and folder must not be NULL");
    if (!stream->release) return sk_fail(ctx, SOCK_EUSAGE, "%s: it was released already", SOURCE);
    tables t = {.stream = stream};
    const sock_status status = folder ? convert(ctx, &t, opts, single != 0, folder)
                                      : sk_fail(ctx, SOCK_EUSAGE, "stream and folder must not be NULL");
    close_tables(&t);
    return status;
}
