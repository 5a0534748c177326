/* rowcopy.c - see rowcopy.h. A row begins with its line and ends with the first line end outside quotes; the header is
 * all that stands before the first row, marks and a line sep=; of Excel included. */
#define _GNU_SOURCE
#include "rowcopy.h"

#include "report/memtext.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static sock_status read_whole(rowcopy *r, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return SOCK_EIO;
    if (!S_ISREG(info.st_mode)) return SOCK_OK;
    errno = 0;
    FILE *file = fopen(path, "rbe");
    if (!file) return errno == ENOMEM ? SOCK_ENOMEM : SOCK_EIO;
    r->size = (size_t)info.st_size;
    r->text = malloc(r->size + 1);
    const bool whole = r->text && fread(r->text, 1, r->size, file) == r->size;
    if (r->text) r->text[r->size] = 0;
    fclose(file);
    return !r->text ? SOCK_ENOMEM : whole ? SOCK_OK : SOCK_EIO;
}

/* Over one line end, LF, CRLF or CR; at the 0 it stays. */
static const char *behind_line(const char *p)
{
    p += strcspn(p, "\r\n");
    return *p ? p + (p[0] == '\r' && p[1] == '\n' ? 2 : 1) : p;
}

sock_status rowcopy_open(rowcopy *r, const char *path)
{
    *r = (rowcopy){0};
    const sock_status status = strcmp(path, "-") == 0 ? SOCK_OK : read_whole(r, path);
    if (status < 0 || !r->text) return status;
    for (const char *p = r->text; *p; p = behind_line(p)) r->lines++;
    r->line = malloc((r->lines + 1) * sizeof *r->line);
    if (!r->line) return SOCK_ENOMEM;
    size_t i = 0;
    for (const char *p = r->text; *p; p = behind_line(p)) r->line[i++] = p;
    return SOCK_OK;
}

void rowcopy_close(rowcopy *r)
{
    free(r->text);
    free((void *)r->line);
    *r = (rowcopy){0};
}

/* Where the row that begins at p ends, without its line end. */
static const char *row_end(const char *p)
{
    bool quoted = false;
    for (; *p && (quoted || (*p != '\n' && *p != '\r')); p++)
        if (*p == '"') quoted = !quoted;
    return p;
}

/* The line of the header: the first that holds more than blanks and separators, and is no sep=; */
static size_t header_line(const rowcopy *r)
{
    size_t i = 0;
    const char *p = r->line[0];
    if (strncmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    if (strncmp(p, "sep=", 4) == 0 && p[4] && strchr(",;\t", p[4])) p = r->line[++i];
    while (i + 1 < r->lines && strchr("\r\n", p[strspn(p, " \t,;")])) p = r->line[++i];
    return i;
}

/* What separates the cells of the header: what it holds most often outside quotes. */
static char separator_of(const char *header, const char *end)
{
    size_t count[3] = {0};
    bool quoted = false;
    for (const char *p = header; p < end; p++) {
        if (*p == '"') quoted = !quoted;
        for (int k = 0; k < 3 && !quoted; k++) count[k] += *p == ",;\t"[k];
    }
    return ",;\t"[count[1] > count[0] ? count[2] > count[1] ? 2 : 1 : count[2] > count[0] ? 2 : 0];
}

static void put(FILE *stream, const char *from, const char *end) { fwrite(from, 1, (size_t)(end - from), stream); }

static char put_header(const rowcopy *r, bool named, FILE *stream)
{
    const char *header = r->line[header_line(r)];
    if (header == r->text && strncmp(header, "\xef\xbb\xbf", 3) == 0) header += 3;
    const char *end = row_end(header), separator = separator_of(header, end);
    put(stream, r->text, header);
    if (named) fprintf(stream, ROWCOPY_PIECE "%c", separator);
    put(stream, header, behind_line(end));
    return separator;
}

static void put_name(FILE *stream, const char *name, char separator)
{
    fputc('"', stream);
    for (; *name; name++) {
        if (*name == '"') fputc('"', stream);
        fputc(*name, stream);
    }
    fprintf(stream, "\"%c", separator);
}

static bool put_rows(const rowcopy *r, const sock_data *data, bool named, FILE *stream)
{
    const char separator = put_header(r, named, stream);
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const size_t *line = sock_data_lines(data, j), length = sock_data_trajectory(data, j, NULL, NULL);
        for (size_t i = 0; i < length; i++) {
            if (line[i] < 1 || line[i] > r->lines) return false;
            const char *row = r->line[line[i] - 1], *end = row_end(row), *next = behind_line(end);
            if (named) put_name(stream, sock_data_id(data, j), separator);
            put(stream, row, next);
            if (next == end) fputc('\n', stream); /* the last line of the file had none */
        }
    }
    return true;
}

sock_status rowcopy_write(sock_context *ctx, const rowcopy *r, const sock_data *data, bool named, const char *path)
{
    memtext whole;
    FILE *stream = memtext_open(&whole);
    if (!stream) return SOCK_ENOMEM;
    const bool found = put_rows(r, data, named, stream);
    if (memtext_close(stream, &whole) != 0) return SOCK_ENOMEM;
    sock_status status = found ? sock_write_file(ctx, path, whole.text, whole.size) : SOCK_EIO;
    free(whole.text);
    return status;
}
