/* temporary.c - TARGET.tmp-PID-NUMBER, a file or a folder; of a long name the beginning, so that the whole is no longer
 * than a name may be.
 */
#define _GNU_SOURCE
#include "temporary.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { KEPT = 200 }; /* bytes of the target's name, of the 255 that file systems allow */

static const char mark[] = ".tmp-";

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *digits(const char *text)
{
    const char *end = text;
    while (isdigit((unsigned char)*end)) end++;
    return end > text ? end : NULL;
}

/* Is this the name of a temporary file of the target called `base`? */
static bool is_of(const char *base, const char *name)
{
    const size_t kept = strnlen(base, KEPT);
    if (strncmp(name, base, kept) != 0 || strncmp(name + kept, mark, sizeof mark - 1) != 0) return false;
    const char *end = digits(name + kept + sizeof mark - 1);
    end = end && *end == '-' ? digits(end + 1) : NULL;
    return end && !*end;
}

static bool is_held(int handle) { return flock(handle, LOCK_EX | LOCK_NB) != 0; }

/* A folder, with the files and folders in it down to `depth`. */
static void remove_folder(int where, const char *name, int depth)
{
    int handle = openat(where, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = handle >= 0 ? fdopendir(handle) : NULL;
    if (!folder) {
        if (handle >= 0) close(handle);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && unlinkat(handle, entry->d_name, 0) != 0 && depth > 0)
            remove_folder(handle, entry->d_name, depth - 1);
    }
    closedir(folder);
    unlinkat(where, name, AT_REMOVEDIR);
}

static void remove_unheld_folder(int where, const char *name)
{
    enum { DEPTH = 2 }; /* a folder of arrays in a scratch folder */
    int handle = openat(where, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0) return;
    if (!is_held(handle)) remove_folder(where, name, DEPTH);
    close(handle);
}

static void remove_unheld(int folder, const char *name)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
        remove_unheld_folder(folder, name);
        return;
    }
    int handle = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (handle < 0) return;
    if (fstat(handle, &info) == 0 && S_ISREG(info.st_mode) && !is_held(handle)) unlinkat(folder, name, 0);
    close(handle);
}

void sk_temporaries_remove(const char *path)
{
    char place[4096] = ".";
    const size_t length = folder_length(path);
    if (length >= sizeof place) return;
    if (length) snprintf(place, sizeof place, "%.*s", (int)length, path);
    DIR *folder = opendir(place);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (is_of(path + length, entry->d_name)) remove_unheld(dirfd(folder), entry->d_name);
    closedir(folder);
}

/* Between its creation and its lock a file may look abandoned to another run: then it has lost its name. */
static bool is_ours(int handle)
{
    struct stat info;
    const bool refused =
        flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; /* else: there are no locks here */
    return !refused && fstat(handle, &info) == 0 && info.st_nlink > 0;
}

static char *name_of(sock_context *ctx, const char *path, int attempt)
{
    const int kept = (int)(folder_length(path) + strnlen(path + folder_length(path), KEPT));
    return sk_format(ctx, "%.*s%s%ld-%d", kept, path, mark, (long)getpid(), attempt);
}

enum { ATTEMPTS = 1000 };

int sk_temporary_folder(sock_context *ctx, const char *path, unsigned mode, char **name, int *held)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        char *folder = name_of(ctx, path, attempt);
        int reason = folder && mkdir(folder, mode) != 0 ? errno : 0;
        const int handle = folder && !reason ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (handle >= 0 && is_ours(handle)) {
            *name = folder;
            *held = handle;
            return 0;
        }
        if (folder && !reason && handle < 0) {
            reason = errno;
            rmdir(folder);
        }
        if (handle >= 0) close(handle); /* another run took it for abandoned */
        sk_free(folder);
        if (!folder) return ENOMEM;
        if (reason && reason != EEXIST) return reason;
    }
    return EEXIST;
}

int sk_temporary_create(sock_context *ctx, const char *path, const struct stat *replaced, char **name, FILE **stream)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        sk_free(*name);
        *name = name_of(ctx, path, attempt);
        if (!*name) return ENOMEM;
        int handle = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (handle < 0 && errno == EEXIST) continue;
        if (handle < 0) return errno;
        if (!is_ours(handle)) {
            close(handle);
            continue;
        }
        if (replaced) (void)!fchmod(handle, replaced->st_mode & 0777);
        *stream = fdopen(handle, "wb");
        if (*stream) return 0;
        int reason = errno;
        unlink(*name);
        close(handle);
        return reason;
    }
    return EEXIST;
}
