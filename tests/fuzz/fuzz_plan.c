/* fuzz_plan.c - any bytes as a plan. What is read is written, and what was written reads as the same. */
#define _GNU_SOURCE
#include "api/planfile.h"
#include "base/safefile.h"
#include "fuzz.h"

#include <unistd.h>

static char path[64];

static void remove_file(void) { unlink(path); }

/* One file for all inputs, in memory where the system has such a place. */
static void make_path(void)
{
    if (path[0]) return;
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sock-plan-XXXXXX" : "/tmp/sock-plan-XXXXXX");
    const int handle = mkstemp(path);
    FUZZ_CHECK(handle >= 0 && atexit(remove_file) == 0);
    close(handle);
}

static char *write_plan(sock_context *ctx, sk_plan_file *file)
{
    char *text = NULL;
    size_t size;
    sk_free(file->path);
    file->path = sk_strdup(ctx, path);
    FUZZ_CHECK(file->path && sk_plan_write(ctx, file) == SOCK_OK);
    FUZZ_CHECK(sk_file_read(ctx, path, &text, &size) == SOCK_OK);
    return text;
}

static void check_plan(sock_context *ctx, sk_plan_file *file)
{
    sk_plan_file again;
    make_path();
    char *once = write_plan(ctx, file);
    FUZZ_CHECK(sk_plan_parse(ctx, "again.plan", once, strlen(once), &again) == SOCK_OK);
    char *twice = write_plan(ctx, &again);
    FUZZ_CHECK(strcmp(once, twice) == 0);
    sk_plan_file_clear(&again);
    sk_free(once);
    sk_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sk_plan_file file;
    const sock_status status = sk_plan_parse(ctx, "fuzz.plan", text, size, &file);
    fuzz_check_refusal(ctx, status);
    if (status >= 0) {
        check_plan(ctx, &file);
        sk_plan_file_clear(&file);
    }
    free(text);
    return 0;
}
