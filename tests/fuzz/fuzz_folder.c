/* fuzz_folder.c - any bytes as a folder of arrays: its files stand one after the other, each with a line before it that
 * has its name. The folder is read whole, and as a stream: where both take it they see as many points. */
#define _GNU_SOURCE
#include "data/readers.h"
#include "data/source.h"
#include "fuzz_data.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"x.npy", "t.npy", "first.npy", "group.npy", "names.txt"};
enum { NAMES = sizeof names / sizeof *names };

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* Where the next of the lines "== NAME" begins, and which name it is; size: there is none. */
static size_t next_line(const uint8_t *bytes, size_t size, size_t from, size_t *which)
{
    for (size_t i = from; i + 3 < size; i++)
        for (size_t k = 0; k < NAMES; k++) {
            const size_t length = strlen(names[k]);
            if (memcmp(bytes + i, "== ", 3) != 0 || i + 4 + length > size) continue;
            if (memcmp(bytes + i + 3, names[k], length) != 0 || bytes[i + 3 + length] != '\n') continue;
            *which = k;
            return i;
        }
    return size;
}

/* One folder for all inputs, in memory where the system has such a place; it goes when the process ends. */
static char folder[64];

static void remove_files(void)
{
    char path[128];
    for (size_t k = 0; k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

static void make_folder(void)
{
    if (folder[0]) return;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sock-fuzz-XXXXXX" : "/tmp/sock-fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(folder) && atexit(remove_folder) == 0);
}

static void write_files(const uint8_t *bytes, size_t size)
{
    size_t which = 0, at = next_line(bytes, size, 0, &which);
    while (at < size) {
        size_t after = 0;
        const size_t begin = at + 4 + strlen(names[which]), end = next_line(bytes, size, begin, &after);
        write_file(folder, names[which], bytes + begin, end - begin);
        at = end;
        which = after;
    }
}

typedef struct seen {
    size_t points;
} seen;

static sock_status count_points(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    fuzz_check_data(ctx, chunk->data);
    ((seen *)arg)->points += chunk->data->points;
    return SOCK_OK;
}

/* The stream of the same folder, which holds fewer points than a chunk has. */
static void check_stream(sock_context *ctx, const sock_data *data)
{
    static sock_options *opts;
    const char *const path[] = {folder};
    sk_source *source = NULL;
    seen found = {0};
    if (!opts) opts = sock_options_new(ctx);
    FUZZ_CHECK(opts);
    sock_status status = sk_source_open(ctx, 1, path, opts, "/tmp", &source);
    if (status >= 0) status = sk_source_each(ctx, source, "fuzz", false, count_points, &found);
    fuzz_check_refusal(ctx, status);
    if (status >= 0 && data) FUZZ_CHECK(found.points == data->points);
    sk_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    sock_data *data = NULL;
    make_folder();
    write_files(bytes, size);
    const sock_status status = sock_data_read(ctx, folder, NULL, &data);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (data != NULL));
    if (data) fuzz_check_data(ctx, data);
    sk_begin(ctx);
    check_stream(ctx, data);
    sock_data_free(data);
    remove_files();
    return 0;
}
