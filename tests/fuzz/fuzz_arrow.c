/* fuzz_arrow.c - any bytes as the structs of an Arrow stream. What nobody can see from outside is kept true: buffers
 * that are there are as long as their length and offset say, up to so many rows, and text lies in its buffer. */
#include "../arrowtable.h"
#include "fuzz_data.h"

enum { ROWS = 6, BYTES = 16 * 4 * ROWS };

typedef struct input {
    const uint8_t *bytes;
    size_t size, at;
} input;

static uint8_t next(input *in) { return in->at < in->size ? in->bytes[in->at++] : 0; }

static const char *format_of(input *in)
{
    static const char *const known[] = {"g", "l", "u", "i",    "f", "tsn:", "vu",    "tdD", "U",  "b",
                                        "c", "e", "n", "tss:", "L", "+l",   "d:1,2", "",    "tdm"};
    const uint8_t which = next(in);
    return which == 255 ? NULL : known[which % (sizeof known / sizeof *known)];
}

/* A length or offset: mostly a small one. */
static int64_t some(input *in, int64_t usual)
{
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN, 1, ROWS};
    const uint8_t which = next(in);
    return which < 200 ? usual : odd[which % 6];
}

/* Places of text rise from 0 within the buffer of BYTES, or fall. */
static void fill(input *in, const char *format, char *buffer)
{
    for (size_t i = 0; i < BYTES; i++) buffer[i] = (char)next(in);
    const bool large = format && strcmp(format, "U") == 0, text = large || (format && strcmp(format, "u") == 0);
    int64_t at = 0;
    for (size_t i = 0; text && i < 4 * ROWS; i++) {
        const int32_t small = (int32_t)at;
        if (large)
            memcpy(buffer + 8 * i, &at, 8);
        else
            memcpy(buffer + 4 * i, &small, 4);
        at += (int8_t)next(in) % 4;
        if (at > BYTES) at = BYTES;
    }
}

static struct ArrowArray array_of(input *in, const char *format, char (*store)[BYTES], const void **list)
{
    static const int64_t sizes[] = {BYTES, BYTES, BYTES};
    const bool view = format && strcmp(format, "vu") == 0, plain = format && (*format == 'u' || *format == 'U');
    const int64_t usual = format && *format == 'n' ? 0 : view ? 4 : plain ? 3 : 2, buffers = some(in, usual);
    for (size_t i = 0; i < 5; i++) list[i] = next(in) < 230 ? store[i % 3] : NULL;
    for (size_t i = 0; i < 3; i++) fill(in, i == 1 ? format : NULL, store[i]);
    struct ArrowArray a = {
        some(in, ROWS), some(in, -1), some(in, next(in) % 3), SK_MIN(buffers, 5), 0, NULL, NULL, NULL, NULL, NULL};
    if (view && a.n_buffers >= 3) list[a.n_buffers - 1] = sizes;
    a.buffers = next(in) < 245 ? list : NULL;
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char store[2][ARROW_COLUMNS][3][BYTES], words[ARROW_COLUMNS][3][BYTES];
    static const char *const names[] = {"t", "x", "traj", "group", "y", NULL};
    input in = {bytes, size, 0};
    sock_context *ctx = fuzz_context();
    sock_data *data = NULL;
    arrow_table t = {0};
    const size_t columns = 1 + next(&in) % 5, tables = next(&in) % 3;
    for (size_t k = 0; k < columns; k++) {
        arrow_column(&t, format_of(&in), names[next(&in) < 240 ? k : 5]);
        const bool dictionary = next(&in) > 220;
        if (dictionary) t.column[k].dictionary = &t.dictionary[k];
        if (dictionary) t.dictionary[k].format = format_of(&in);
        for (size_t i = 0; i < tables; i++) {
            t.array[i][k] = array_of(&in, t.column[k].format, store[i][k], t.buffer[i][k]);
            if (!dictionary || next(&in) > 240) continue;
            t.values[i][k] = array_of(&in, t.dictionary[k].format, words[k], t.values_buffer[i][k]);
            t.array[i][k].dictionary = &t.values[i][k];
        }
    }
    arrow_finish(&t, tables, (const int64_t[]){some(&in, ROWS), some(&in, ROWS - 1), 0});
    t.schema.n_children = SK_MIN(some(&in, t.schema.n_children), (int64_t)ARROW_COLUMNS);
    for (size_t i = 0; i < tables; i++) t.table[i].offset = some(&in, 0);
    struct ArrowArrayStream stream = arrow_stream(&t);
    const sock_status status = sock_data_from_arrow_stream(ctx, &stream, NULL, &data);
    FUZZ_CHECK(t.streams_released == 1 && t.schemas_released == 1 && t.tables_released == (int)t.next);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (data != NULL));
    if (data) fuzz_check_data(ctx, data);
    sock_data_free(data);
    return 0;
}
