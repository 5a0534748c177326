/* fuzz_sums.c - any bytes as a file of sums, with the hash at the end put right: else nothing behind it would be seen.
 * What is read is written as the same bytes. */
#define _GNU_SOURCE
#include "api/sumsfile.h"
#include "base/safefile.h"
#include "fuzz.h"

#include <unistd.h>

static char path[64];

static void remove_file(void) { unlink(path); }

/* One file for all inputs, in memory where the system has such a place. */
static void make_path(void)
{
    if (path[0]) return;
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sock-sums-XXXXXX" : "/tmp/sock-sums-XXXXXX");
    const int handle = mkstemp(path);
    FUZZ_CHECK(handle >= 0 && atexit(remove_file) == 0);
    close(handle);
}

static void check_written(sock_context *ctx, const sk_sums_file *file, const char *bytes, size_t size)
{
    char *again = NULL;
    size_t length = 0;
    make_path();
    FUZZ_CHECK(sk_sums_write(ctx, file, path) == SOCK_OK);
    FUZZ_CHECK(sk_file_read(ctx, path, &again, &length) == SOCK_OK);
    FUZZ_CHECK(length == size && memcmp(again, bytes, size) == 0);
    sk_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sk_sums_file file;
    if (size >= sizeof(uint64_t)) {
        const uint64_t hash = sk_hash(SK_HASH_START, text, size - sizeof hash);
        memcpy(text + size - sizeof hash, &hash, sizeof hash);
    }
    const sock_status status = sk_sums_parse(ctx, "fuzz.sums", text, size, &file);
    fuzz_check_refusal(ctx, status);
    if (status >= 0) {
        check_written(ctx, &file, text, size);
        sk_sums_file_clear(&file);
    }
    free(text);
    return 0;
}
