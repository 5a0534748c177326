/* memtext.c - see memtext.h. What the stream cannot hand over sets its error flag, as a full disk would. */
#define _GNU_SOURCE
#include "memtext.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static ssize_t take(void *cookie, const char *bytes, size_t count)
{
    memtext *m = cookie;
    if (count >= SIZE_MAX / 4 - m->size) return 0;
    size_t needed = m->size + count + 1;
    if (needed > m->capacity) {
        size_t wanted = needed > 2 * m->capacity ? needed + 4096 : 2 * m->capacity;
        char *grown = realloc(m->text, wanted);
        if (!grown) return 0; /* for stdio: an error */
        m->text = grown;
        m->capacity = wanted;
    }
    memcpy(m->text + m->size, bytes, count);
    m->size += count;
    m->text[m->size] = 0;
    return (ssize_t)count;
}

FILE *memtext_open(memtext *m)
{
    *m = (memtext){.text = malloc(4096), .capacity = 4096};
    FILE *stream = m->text ? fopencookie(m, "w", (cookie_io_functions_t){.write = take}) : NULL;
    if (stream) {
        m->text[0] = 0;
        return stream;
    }
    free(m->text);
    m->text = NULL;
    return NULL;
}

int memtext_close(FILE *stream, memtext *m)
{
    int failed = ferror(stream);
    if (fclose(stream) != 0) failed = 1;
    if (!failed) return 0;
    free(m->text);
    *m = (memtext){0};
    return 1;
}

void memtext_csv(FILE *stream, const char *text)
{
    if (!strpbrk(text, ",\"\r\n") && text[0] != ' ') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"') fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}
