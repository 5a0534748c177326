/* replay.c - runs a fuzz target over files and folders given as arguments, without libFuzzer. With --bruise each input
 * of up to 4096 bytes is also tried cut off at every length, and with a few other bytes put at every place: the faults
 * that files have in practice, on any machine, in seconds. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static size_t inputs, tries;

static void try_bytes(const char *bytes, size_t size)
{
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    tries++;
}

static void bruise(char *bytes, size_t size)
{
    static const char others[] = {0, '\xff', '"', '9', '-'};
    size_t step = size > 512 ? size / 256 : 1;
    for (size_t i = 0; i < size; i += step) {
        char kept = bytes[i];
        try_bytes(bytes, i);
        for (size_t k = 0; k < sizeof others; k++) {
            bytes[i] = others[k];
            try_bytes(bytes, size);
        }
        bytes[i] = kept;
    }
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    *size = 0;
    while (file) {
        capacity = 2 * capacity + 4096;
        text = realloc(text, capacity);
        FUZZ_CHECK(text);
        *size += fread(text + *size, 1, capacity - *size, file);
        if (*size < capacity) break;
    }
    if (file) fclose(file);
    return text;
}

static int replay(const char *path, bool bruised)
{
    size_t size = 0;
    char *bytes = read_whole(path, &size);
    if (!bytes) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    try_bytes(bytes, size);
    if (bruised && size <= 4096) bruise(bytes, size);
    free(bytes);
    inputs++;
    return 0;
}

static int replay_folder(const char *path, bool bruised)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort), failed = count < 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') failed |= replay(inner, bruised);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int count, char **arguments)
{
    int failed = 0;
    bool bruised = count > 1 && strcmp(arguments[1], "--bruise") == 0;
    for (int i = bruised ? 2 : 1; i < count; i++) {
        struct stat info;
        bool folder = stat(arguments[i], &info) == 0 && S_ISDIR(info.st_mode);
        failed |= folder ? replay_folder(arguments[i], bruised) : replay(arguments[i], bruised);
    }
    printf("%zu inputs, %zu runs\n", inputs, tries);
    return failed || !inputs;
}
