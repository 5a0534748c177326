/* test_safefile.c - files appear whole or not at all, and what cannot be read or written is said. */
#define _GNU_SOURCE
#include "base/safefile.h"
#include "base/temporary.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    sock_context *ctx;
    char folder[64], path[128], other[128];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = sock_context_new();
    snprintf(f->folder, sizeof f->folder, "safefile-XXXXXX"); /* in the build folder, where tests run */
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->path, sizeof f->path, "%s/target", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    *state = f;
    return 0;
}

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int teardown(void **state)
{
    fixture *f = *state;
    unlink(f->path);
    unlink(f->other);
    int left = rmdir(f->folder); /* fails when a test left anything else behind */
    sock_context_free(f->ctx);
    free(f);
    return left;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void holds(fixture *f, const char *path, const char *text)
{
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(sk_file_read(f->ctx, path, &bytes, &size), SOCK_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(bytes, text);
    sk_free(bytes);
}

static sock_status write_text(sock_context *ctx, const char *path, const char *text)
{
    sk_file *file = NULL;
    SK_TRY(sk_file_create(ctx, path, &file));
    sk_write(file, text, strlen(text));
    sk_writef(file, "%s%d\n", ", ", 42);
    return sk_file_commit(ctx, file);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void test_safefile__commit_makes_the_file(void **state)
{
    fixture *f = *state;
    mode_t mask = umask(027);
    assert_int_equal(write_text(f->ctx, f->path, "text"), SOCK_OK);
    umask(mask);
    holds(f, f->path, "text, 42\n");
    assert_int_equal(mode_of(f->path), 0640);
    assert_int_equal(entries(f->folder), 1);
}

static void test_safefile__nothing_is_seen_before_the_commit(void **state)
{
    fixture *f = *state;
    put(f->path, "old");
    sk_file *file = NULL;
    assert_int_equal(sk_file_create(f->ctx, f->path, &file), SOCK_OK);
    sk_write(file, "new", 3);
    holds(f, f->path, "old");
    assert_int_equal(sk_file_commit(f->ctx, file), SOCK_OK);
    holds(f, f->path, "new");
    assert_int_equal(entries(f->folder), 1);
}

static void test_safefile__abandon_leaves_the_old_file(void **state)
{
    fixture *f = *state;
    put(f->path, "old");
    sk_file *file = NULL;
    assert_int_equal(sk_file_create(f->ctx, f->path, &file), SOCK_OK);
    sk_writef(file, "half of it");
    sk_file_abandon(file);
    sk_file_abandon(NULL);
    holds(f, f->path, "old");
    assert_int_equal(entries(f->folder), 1);
}

static void test_safefile__a_replaced_file_keeps_its_mode(void **state)
{
    fixture *f = *state;
    put(f->path, "old");
    assert_int_equal(chmod(f->path, 0604), 0);
    assert_int_equal(write_text(f->ctx, f->path, "new"), SOCK_OK);
    assert_int_equal(mode_of(f->path), 0604);
    holds(f, f->path, "new, 42\n");
}

static void test_safefile__a_link_is_written_through(void **state)
{
    fixture *f = *state;
    put(f->other, "old");
    assert_int_equal(symlink("other", f->path), 0);
    assert_int_equal(write_text(f->ctx, f->path, "new"), SOCK_OK);
    struct stat info;
    assert_int_equal(lstat(f->path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    holds(f, f->other, "new, 42\n");
    assert_int_equal(entries(f->folder), 2);
}

/* Names the path and says a reason; the folder stays as it was. */
static void cannot_write(fixture *f, const char *path, const char *reason)
{
    size_t before = entries(f->folder);
    sk_begin(f->ctx);
    assert_int_equal(write_text(f->ctx, path, "text"), SOCK_EIO);
    assert_non_null(strstr(sock_message(f->ctx), path));
    assert_non_null(strstr(sock_message(f->ctx), "cannot be written"));
    assert_non_null(strstr(sock_message(f->ctx), reason));
    assert_int_equal(entries(f->folder), before);
}

static void test_safefile__bad_places_are_refused_at_once(void **state)
{
    fixture *f = *state;
    char below[192];
    cannot_write(f, f->folder, strerror(EISDIR));
    cannot_write(f, "", strerror(ENOENT));
    snprintf(below, sizeof below, "%s/missing/target", f->folder);
    cannot_write(f, below, strerror(ENOENT));
    put(f->other, "a file");
    snprintf(below, sizeof below, "%s/target", f->other);
    cannot_write(f, below, strerror(ENOTDIR));
    assert_int_equal(symlink("nowhere", f->path), 0);
    cannot_write(f, f->path, strerror(ENOENT));
}

/* A file somebody else is writing under the same temporary name is left alone. */
static void test_safefile__a_taken_temporary_name_is_left_alone(void **state)
{
    fixture *f = *state;
    char taken[192];
    snprintf(taken, sizeof taken, "%s.tmp-%ld-0", f->path, (long)getpid());
    put(taken, "mine");
    int handle = open(taken, O_RDONLY);
    assert_int_equal(flock(handle, LOCK_EX), 0); /* as its writer holds it */
    assert_int_equal(write_text(f->ctx, f->path, "text"), SOCK_OK);
    holds(f, taken, "mine");
    holds(f, f->path, "text, 42\n");
    close(handle);
    unlink(taken);
}

/* What a killed run left goes when the same target is written again, whoever that run was; the rest stays. */
static void test_safefile__what_a_killed_run_left_is_taken_away(void **state)
{
    fixture *f = *state;
    static const char *const gone[] = {".tmp-1-0", ".tmp-4194304-17"};
    static const char *const kept[] = {".tmp-1", ".tmp-1-0x", ".tmp--1-0", ".tmpx-1-0", "s.tmp-1-0"};
    char name[192];
    for (size_t i = 0; i < 2; i++) snprintf(name, sizeof name, "%s%s", f->path, gone[i]), put(name, "half");
    for (size_t i = 0; i < 5; i++) snprintf(name, sizeof name, "%s%s", f->path, kept[i]), put(name, "a user's");
    assert_int_equal(entries(f->folder), 7);
    assert_int_equal(write_text(f->ctx, f->path, "text"), SOCK_OK);
    assert_int_equal(entries(f->folder), 6);
    for (size_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%s%s", f->path, kept[i]);
        holds(f, name, "a user's");
        unlink(name);
    }
}

/* A writer that is killed leaves its file, without its lock: the next one finds it. */
static void test_safefile__the_lock_ends_with_its_writer(void **state)
{
    fixture *f = *state;
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        sk_file *file = NULL;
        _exit(sk_file_create(f->ctx, f->path, &file) == SOCK_OK && entries(f->folder) == 1 ? 7 : 0); /* not abandoned */
    }
    int status = 0;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(entries(f->folder), 1);
    assert_int_equal(write_text(f->ctx, f->path, "text"), SOCK_OK);
    assert_int_equal(entries(f->folder), 1);
    holds(f, f->path, "text, 42\n");
}

/* Folders alike: with what is in them, and never one whose writer lives. */
static void test_safefile__folders_of_killed_runs_are_taken_away(void **state)
{
    fixture *f = *state;
    char name[192], inner[256];
    char *folder = NULL;
    int held = -1;
    assert_int_equal(sk_temporary_folder(f->ctx, f->path, 0700, &folder, &held), 0);
    snprintf(name, sizeof name, "%s.tmp-1-0", f->path);
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(inner, sizeof inner, "%s/data", name);
    assert_int_equal(mkdir(inner, 0700), 0);
    snprintf(inner, sizeof inner, "%s/data/x.npy", name);
    put(inner, "half");
    sk_temporaries_remove(f->path);
    assert_int_equal(access(name, F_OK), -1);
    assert_int_equal(access(folder, F_OK), 0);
    close(held); /* as the end of its writer does */
    sk_temporaries_remove(f->path);
    assert_int_equal(access(folder, F_OK), -1);
    assert_int_equal(entries(f->folder), 0);
    sk_free(folder);
}

/* Names as long as a file system allows, and two of them that begin alike. */
static void test_safefile__long_names_are_written(void **state)
{
    fixture *f = *state;
    char path[2][384];
    sk_file *open_one = NULL;
    for (int i = 0; i < 2; i++) {
        const int folder = snprintf(path[i], sizeof path[i], "%s/", f->folder);
        memset(path[i] + folder, 'a', 255);
        path[i][folder + 254] = (char)('a' + i);
        path[i][folder + 255] = 0;
    }
    assert_int_equal(sk_file_create(f->ctx, path[0], &open_one), SOCK_OK);
    assert_int_equal(write_text(f->ctx, path[1], "second"), SOCK_OK);
    sk_writef(open_one, "first");
    assert_int_equal(sk_file_commit(f->ctx, open_one), SOCK_OK);
    holds(f, path[0], "first");
    holds(f, path[1], "second, 42\n");
    assert_int_equal(entries(f->folder), 2);
    for (int i = 0; i < 2; i++) unlink(path[i]);
}

static void test_safefile__devices_stay_devices(void **state)
{
    fixture *f = *state;
    assert_int_equal(write_text(f->ctx, "/dev/null", "text"), SOCK_OK);
    cannot_write(f, "/dev/full", strerror(ENOSPC));
    struct stat info;
    assert_int_equal(lstat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(lstat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* In a child whose standard output goes to `target`: the exit code is minus the status. */
static int write_to_standard_output(const char *target, size_t bytes)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int handle = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(handle, STDOUT_FILENO);
        close(handle);
        sock_context *ctx = sock_context_new();
        sk_file *file = NULL;
        sock_status status = sk_file_create(ctx, "-", &file);
        for (size_t i = 0; i < bytes && status == SOCK_OK; i++) sk_write(file, "x", 1);
        if (status == SOCK_OK) status = sk_file_commit(ctx, file);
        if (status < 0 && !strstr(sock_message(ctx), "standard output: cannot be written")) status = (sock_status)-99;
        sock_context_free(ctx);
        _exit(-(int)status);
    }
    int code = 0;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    return WEXITSTATUS(code);
}

static void test_safefile__a_full_disk_is_noticed_on_standard_output(void **state)
{
    fixture *f = *state;
    assert_int_equal(write_to_standard_output(f->path, 4), 0);
    holds(f, f->path, "xxxx");
    assert_int_equal(write_to_standard_output("/dev/full", 4), -SOCK_EIO);
    assert_int_equal(write_to_standard_output("/dev/full", 100000), -SOCK_EIO);
}

static sock_status write_and_read(sock_context *ctx, void *arg)
{
    const fixture *f = arg;
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(write_text(ctx, f->path, "new"));
    SK_TRY(sk_file_read(ctx, f->path, &bytes, &size));
    sk_free(bytes);
    return SOCK_OK;
}

static void test_safefile__every_failed_allocation_leaves_the_folder_clean(void **state)
{
    fixture *f = *state;
    assert_true(for_each_allocation(f->ctx, write_and_read, f) >= 4);
    assert_int_equal(entries(f->folder), 1);
}

/* ---- Reading ---- */

static void cannot_read(fixture *f, const char *path, sock_status expected, const char *reason)
{
    char *bytes = NULL;
    size_t size = 7;
    sk_begin(f->ctx);
    assert_int_equal(sk_file_read(f->ctx, path, &bytes, &size), expected);
    assert_null(bytes);
    assert_int_equal(size, 7);
    assert_non_null(strstr(sock_message(f->ctx), path));
    assert_non_null(strstr(sock_message(f->ctx), reason));
}

static void test_safefile__reads_files_of_any_size_and_content(void **state)
{
    fixture *f = *state;
    put(f->path, "");
    holds(f, f->path, "");
    const size_t sizes[] = {1, 65533, 65534, 65535, 65536, 65537, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char *wanted = malloc(sizes[s]), *bytes = NULL;
        size_t size = 0;
        for (size_t i = 0; i < sizes[s]; i++) wanted[i] = (char)(i * i / 7); /* zeros among them */
        sk_file *file = NULL;
        assert_int_equal(sk_file_create(f->ctx, f->path, &file), SOCK_OK);
        sk_write(file, wanted, sizes[s]);
        assert_int_equal(sk_file_commit(f->ctx, file), SOCK_OK);
        assert_int_equal(sk_file_read(f->ctx, f->path, &bytes, &size), SOCK_OK);
        assert_int_equal(size, sizes[s]);
        assert_memory_equal(bytes, wanted, size);
        assert_int_equal(bytes[size], 0);
        sk_free(bytes);
        free(wanted);
    }
}

static void test_safefile__reads_a_pipe_to_its_end(void **state)
{
    fixture *f = *state;
    enum { LINES = 30000 };
    assert_int_equal(mkfifo(f->path, 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(f->path, "wb");
        for (int i = 0; i < LINES; i++) fprintf(file, "line %5d\n", i);
        fclose(file);
        _exit(0);
    }
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(sk_file_read(f->ctx, f->path, &bytes, &size), SOCK_OK);
    waitpid(child, NULL, 0);
    assert_int_equal(size, LINES * 11);
    assert_memory_equal(bytes + size - 11, "line 29999\n", 11);
    sk_free(bytes);
}

static void test_safefile__what_cannot_be_read_is_said(void **state)
{
    fixture *f = *state;
    char below[192];
    cannot_read(f, f->path, SOCK_EINPUT, strerror(ENOENT));
    cannot_read(f, f->folder, SOCK_EINPUT, strerror(EISDIR));
    cannot_read(f, "/dev/zero", SOCK_EINPUT, "device");
    put(f->other, "0123456789");
    snprintf(below, sizeof below, "%s/x", f->other);
    cannot_read(f, below, SOCK_EINPUT, strerror(ENOTDIR));
    assert_int_equal(truncate(f->other, 10000000), 0);
    sock_set_memory_limit(f->ctx, 1000000);
    cannot_read(f, f->other, SOCK_ENOMEM, "split the file");
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(test_safefile__commit_makes_the_file),
        IN_A_FOLDER(test_safefile__nothing_is_seen_before_the_commit),
        IN_A_FOLDER(test_safefile__abandon_leaves_the_old_file),
        IN_A_FOLDER(test_safefile__a_replaced_file_keeps_its_mode),
        IN_A_FOLDER(test_safefile__a_link_is_written_through),
        IN_A_FOLDER(test_safefile__bad_places_are_refused_at_once),
        IN_A_FOLDER(test_safefile__folders_of_killed_runs_are_taken_away),
        IN_A_FOLDER(test_safefile__a_taken_temporary_name_is_left_alone),
        IN_A_FOLDER(test_safefile__what_a_killed_run_left_is_taken_away),
        IN_A_FOLDER(test_safefile__the_lock_ends_with_its_writer),
        IN_A_FOLDER(test_safefile__long_names_are_written),
        IN_A_FOLDER(test_safefile__devices_stay_devices),
        IN_A_FOLDER(test_safefile__a_full_disk_is_noticed_on_standard_output),
        IN_A_FOLDER(test_safefile__every_failed_allocation_leaves_the_folder_clean),
        IN_A_FOLDER(test_safefile__reads_files_of_any_size_and_content),
        IN_A_FOLDER(test_safefile__reads_a_pipe_to_its_end),
        IN_A_FOLDER(test_safefile__what_cannot_be_read_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
