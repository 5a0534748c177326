/* fuzz_folder.c - any bytes as a folder of arrays: its files stand one after the other, each with a line before it that
 * has its name. */
#define _GNU_SOURCE
#include "data/readers.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char folder[64] = "/tmp/sock-fuzz-XXXXXX", path[128];
    sock_data *data = NULL;
    FUZZ_CHECK(mkdtemp(folder));
    size_t which = 0, at = next_line(bytes, size, 0, &which);
    while (at < size) {
        size_t after = 0;
        const size_t begin = at + 4 + strlen(names[which]), end = next_line(bytes, size, begin, &after);
        write_file(folder, names[which], bytes + begin, end - begin);
        at = end;
        which = after;
    }
    const sock_status status = sock_data_read(ctx, folder, NULL, &data);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (data != NULL));
    if (data) fuzz_check_data(ctx, data);
    sock_data_free(data);
    for (size_t k = 0; k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    FUZZ_CHECK(rmdir(folder) == 0);
    return 0;
}
