/* mallocfault.c - to be preloaded: makes an allocation fail. FAULT_AT=K: the K-th one since main() fails; with
 * FAULT_ALWAYS=1 all from the K-th on. FAULT_COUNT=FILE: writes how many there were, and how many were not freed when
 * main() returned; with FAULT_LEAKS=1 that is an exit status of 97.
 *
 * FAULT_EACH=MODES: every K in one run. At each allocation a copy of the process is made (fork) that gets none ('1' in
 * MODES), and one that gets none and no later one either ('a'). A copy ends well and at once when its exit status is 1,
 * its message speaks of memory, nothing is left in memory that a run without faults frees, and the folder FAULT_FOLDER
 * is as it was. All others are told to the handle FAULT_OUT, as are changes of the folder that the process itself
 * makes; who sits behind it judges, puts the files back and says to go on by a byte through the handle FAULT_IN:
 *
 *     note K                        the folder is as the process wants it (told now and then even when nothing changed)
 *     ended K MODE STATUS LIVE      a copy ended so; its message is in the handle FAULT_SAID
 *     done K STACKS COPIES          the process came to its end after K allocations
 *
 * FAULT_ONCE=1: only where the stack of calls is one that was not met before. FAULT_PART=I/N: only K = I modulo N, for
 * N processes that share the work. FAULT_UNTIL=SECONDS: after so long N doubles at each copy. A process that is to be
 * copied has one thread: it cannot make others (the program goes on without them, as it must).
 *
 * Counted are those that the program and libc make. BLAS and the OpenMP runtime end the process when they get no
 * memory, and the JSON library loses letters and breaks its tables, so theirs are let through: that is why the library
 * asks what work needs before it starts, and sees to it that the memory is there (sk_memory_check, sk_reserve). What
 * the JSON library does not free is counted with the rest. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

static atomic_long made;
static atomic_int armed;
static long fail_at;
static int fail_always;
static int inside; /* this file's own allocations, while copies are made: there is one thread then */

/* ---- Whose code it is ---- */

enum { RANGES = 64, OTHERS = 0, WATCHED = 1, COUNTED = 2 };
static struct range {
    uintptr_t begin, end;
    int kind;
} ours[RANGES];
static size_t range_count;

/* The code of the program (no name) and of libc; of the JSON library what it keeps. */
static int note_ranges(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    const int json = strstr(info->dlpi_name, "libjansson") != NULL;
    if (info->dlpi_name[0] && !json && !strstr(info->dlpi_name, "libc.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < RANGES; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        ours[range_count++] = (struct range){begin, begin + info->dlpi_phdr[i].p_memsz, json ? WATCHED : COUNTED};
    }
    return 0;
}

static int kind_of(const void *caller)
{
    if (inside || !atomic_load_explicit(&armed, memory_order_acquire)) return OTHERS;
    for (size_t i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ours[i].begin && (uintptr_t)caller < ours[i].end) return ours[i].kind;
    return OTHERS;
}

/* ---- What is not freed: a table of addresses, open addressing ---- */

enum { SLOTS = 1 << 16 };
static void *slots[SLOTS];
static atomic_flag slots_lock = ATOMIC_FLAG_INIT;
static long live;

static size_t slot_of(const void *pointer) { return (size_t)(((uintptr_t)pointer >> 4) * 0x9E3779B97F4A7C15u >> 48); }

static void *remember(void *pointer, int kind)
{
    if (!pointer || kind == OTHERS) return pointer;
    while (atomic_flag_test_and_set_explicit(&slots_lock, memory_order_acquire)) {}
    size_t i = slot_of(pointer);
    while (slots[i]) i = (i + 1) % SLOTS;
    slots[i] = pointer;
    if (++live > SLOTS / 2) abort();
    atomic_flag_clear_explicit(&slots_lock, memory_order_release);
    return pointer;
}

/* Takes an address out, and moves up those behind it that would be found no more. */
static void forget(const void *pointer)
{
    if (!pointer || !range_count) return;
    while (atomic_flag_test_and_set_explicit(&slots_lock, memory_order_acquire)) {}
    size_t i = slot_of(pointer);
    while (slots[i] && slots[i] != pointer) i = (i + 1) % SLOTS;
    if (slots[i]) {
        live--;
        slots[i] = NULL;
        for (size_t j = (i + 1) % SLOTS; slots[j]; j = (j + 1) % SLOTS) {
            const size_t home = slot_of(slots[j]);
            if ((j > i && (home <= i || home > j)) || (j < i && home <= i && home > j)) {
                slots[i] = slots[j];
                slots[j] = NULL;
                i = j;
            }
        }
    }
    atomic_flag_clear_explicit(&slots_lock, memory_order_release);
}

/* ---- Copies ---- */

enum { HANDLES = 64, FRAMES = 64, STACKS = 1 << 16, FAILED = 1, OFTEN = 256, SETTLED = 20 /* milliseconds */ };

static struct driver {
    const char *modes, *folder; /* NULL: no copies are made */
    int in, out, said, once;
    long live; /* at the end of a run without faults */
    unsigned long stacks[STACKS], folder_was;
    long part, parts, stack_count, copies, until; /* until: seconds of the clock; 0: none */
    struct end {
        long live;
        int reached; /* the end of main() */
    } * end;         /* shared with the copies */
} driver;

static unsigned long mixed(unsigned long hash, unsigned long value) { return (hash ^ value) * 1099511628211u; }

/* The stack of calls as a number; frame 0 and 1 are this file's. 0 when it was met before. */
static int is_new_stack(void)
{
    void *frames[FRAMES];
    unsigned long hash = 1469598103934665603u;
    const int count = backtrace(frames, FRAMES);
    for (int i = 2; i < count; i++) hash = mixed(hash, (unsigned long)(uintptr_t)frames[i]);
    size_t i = hash >> 48;
    while (driver.stacks[i] && driver.stacks[i] != hash) i = (i + 1) % STACKS;
    if (driver.stacks[i]) return 0;
    driver.stacks[i] = hash;
    if (++driver.stack_count > STACKS / 2) abort();
    return 1;
}

/* The files below a folder as a number: names, which files they are, sizes, times. *newest: the last change, in
 * milliseconds. */
static unsigned long folder_hash(const char *folder, long *newest)
{
    unsigned long all = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder));) {
        char path[PATH_MAX];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &info) != 0) continue;
        unsigned long hash = mixed(1469598103934665603u, (unsigned long)info.st_ino);
        for (const char *c = entry->d_name; *c; c++) hash = mixed(hash, (unsigned char)*c);
        if (S_ISDIR(info.st_mode)) {
            hash = mixed(hash, folder_hash(path, newest));
        } else {
            hash = mixed(mixed(hash, (unsigned long)info.st_size), (unsigned long)info.st_ctim.tv_sec);
            hash = mixed(hash, (unsigned long)info.st_ctim.tv_nsec);
            const long changed = info.st_ctim.tv_sec * 1000 + info.st_ctim.tv_nsec / 1000000;
            if (changed > *newest) *newest = changed;
        }
        all += mixed(hash, 1); /* in whatever order */
    }
    if (open_folder) closedir(open_folder);
    return all;
}

static void tell(const char *text, int length)
{
    char answer;
    if (write(driver.out, text, (size_t)length) != length || read(driver.in, &answer, 1) != 1) _exit(98);
}

/* The folder as the process itself has left it. What was changed just now may be changed again at what is the same time
 * for the file system, so this waits until it is not. */
static void note_folder(long number)
{
    long newest = 0;
    const unsigned long now = folder_hash(driver.folder, &newest);
    if (now == driver.folder_was && driver.copies % OFTEN) return;
    for (;;) {
        struct timespec clock;
        clock_gettime(CLOCK_REALTIME, &clock);
        if (clock.tv_sec * 1000 + clock.tv_nsec / 1000000 > newest + SETTLED) break;
        nanosleep(&(struct timespec){.tv_nsec = SETTLED * 250000}, NULL);
    }
    char text[64];
    tell(text, snprintf(text, sizeof text, "note %ld\n", number));
    driver.folder_was = folder_hash(driver.folder, &newest); /* a second name was made: that is a change too */
}

static int speaks_of_memory(void)
{
    char said[4096];
    const ssize_t length = pread(driver.said, said, sizeof said - 1, 0);
    if (length <= 0) return 0;
    said[length] = 0;
    return strncmp(said, "sock", 4) == 0 && strstr(said, "memory");
}

/* Waits for a copy and judges it. Handles are shared with it, so are their places in the files. */
static void end_of_copy(long number, char mode, pid_t copy, const off_t *places)
{
    int status = 0;
    long newest = 0;
    char text[128];
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR) {}
    for (int i = 0; i < HANDLES; i++)
        if (places[i] >= 0) lseek(i, places[i], SEEK_SET);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FAILED && driver.end->reached && driver.end->live <= driver.live &&
        speaks_of_memory() && folder_hash(driver.folder, &newest) == driver.folder_was)
        return;
    tell(text, snprintf(text, sizeof text, "ended %ld %c %d %ld\n", number, mode, status,
                        driver.end->reached ? driver.end->live : -1));
    driver.folder_was = folder_hash(driver.folder, &newest);
}

static long seconds_of_clock(void)
{
    struct timespec clock;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    return clock.tv_sec;
}

/* 1 in a copy, which is told so once. */
static int is_copy(long number)
{
    const int kept = errno;
    const int is_new = is_new_stack();
    if ((driver.once && !is_new) || number % driver.parts != driver.part) return 0;
    if (driver.until && seconds_of_clock() > driver.until) driver.parts *= 2;
    note_folder(number);
    for (const char *mode = driver.modes; *mode; mode++) {
        off_t places[HANDLES];
        for (int i = 0; i < HANDLES; i++) places[i] = lseek(i, 0, SEEK_CUR);
        *driver.end = (struct end){0, 0};
        driver.copies++;
        if (ftruncate(driver.said, 0) != 0) _exit(98);
        const pid_t copy = fork();
        if (copy < 0) _exit(98);
        if (copy > 0) {
            end_of_copy(number, *mode, copy, places);
            continue;
        }
        dup2(driver.said, STDERR_FILENO);
        close(driver.in), close(driver.out);
        driver.modes = NULL;
        fail_at = number;
        fail_always = *mode == 'a';
        return 1;
    }
    errno = kept;
    return 0;
}

static int handle_in(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : -1;
}

static void start_driver(void)
{
    driver.modes = getenv("FAULT_EACH");
    if (!driver.modes) return;
    driver.folder = getenv("FAULT_FOLDER");
    driver.in = handle_in("FAULT_IN"), driver.out = handle_in("FAULT_OUT"), driver.said = handle_in("FAULT_SAID");
    driver.once = getenv("FAULT_ONCE") != NULL;
    driver.live = handle_in("FAULT_LIVE");
    driver.part = 0, driver.parts = 1;
    const char *share = getenv("FAULT_PART");
    if (share) sscanf(share, "%ld/%ld", &driver.part, &driver.parts);
    const char *until = getenv("FAULT_UNTIL");
    if (until) driver.until = seconds_of_clock() + atol(until);
    driver.end = mmap(NULL, sizeof *driver.end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (driver.end == MAP_FAILED || !driver.folder) _exit(98);
    void *frame;
    (void)backtrace(&frame, 1); /* its first call loads a library */
}

/* ---- Which one fails ---- */

static int fails(int kind)
{
    if (kind != COUNTED) return 0;
    const long number = atomic_fetch_add(&made, 1) + 1;
    if (driver.modes) {
        inside = 1;
        const int copy = is_copy(number);
        inside = 0;
        if (!copy) return 0;
    }
    if (!fail_at || number < fail_at || (number > fail_at && !fail_always)) return 0;
    errno = ENOMEM;
    return 1;
}

/* ---- What stands in for libc ---- */

void *malloc(size_t size)
{
    const int kind = kind_of(__builtin_return_address(0));
    return fails(kind) ? NULL : remember(__libc_malloc(size), kind);
}

void *calloc(size_t count, size_t size)
{
    const int kind = kind_of(__builtin_return_address(0));
    return fails(kind) ? NULL : remember(__libc_calloc(count, size), kind);
}

void *realloc(void *old, size_t size)
{
    const int kind = kind_of(__builtin_return_address(0));
    if (fails(kind)) return NULL;
    forget(old); /* before: once it is free, another thread may get the same address */
    void *found = __libc_realloc(old, size);
    remember(found || !size ? found : old, kind);
    return found;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    const int kind = kind_of(__builtin_return_address(0));
    return fails(kind) ? NULL : remember(__libc_memalign(alignment, size), kind);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    const int kind = kind_of(__builtin_return_address(0));
    void *found = fails(kind) ? NULL : remember(__libc_memalign(alignment, size), kind);
    if (!found) return ENOMEM;
    *out = found;
    return 0;
}

void free(void *pointer)
{
    forget(pointer);
    __libc_free(pointer);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &found, sizeof next);
    return driver.end ? EAGAIN : next(thread, attributes, start, argument);
}

/* ---- From main() to its end ---- */

typedef int (*main_fn)(int count, char **arguments, char **environment);
static main_fn real_main;

static void disarm(void)
{
    const char *path = getenv("FAULT_COUNT");
    atomic_store(&armed, 0);
    forget(stdout->_IO_buf_base); /* stays, where something was printed */
    if (driver.modes) {
        char text[128];
        tell(text,
             snprintf(text, sizeof text, "done %ld %ld %ld\n", atomic_load(&made), driver.stack_count, driver.copies));
    } else if (driver.end) {
        *driver.end = (struct end){live, 1};
    }
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld %ld\n", atomic_load(&made), live);
        fclose(file);
    }
}

static int armed_main(int count, char **arguments, char **environment)
{
    const char *at = getenv("FAULT_AT"), *always = getenv("FAULT_ALWAYS");
    fail_at = at ? atol(at) : 0;
    fail_always = always && always[0] == '1';
    start_driver();
    dl_iterate_phdr(note_ranges, NULL);
    atomic_store_explicit(&armed, 1, memory_order_release);
    int result = real_main(count, arguments, environment);
    disarm();
    if (!getenv("FAULT_LEAKS") || live == 0) return result;
    fprintf(stderr, "%ld allocations were not freed\n", live);
    return 97;
}

int __libc_start_main(main_fn entry, int count, char **arguments, void (*begin)(void), void (*end)(void),
                      void (*loader_end)(void), void *stack);
int __libc_start_main(main_fn entry, int count, char **arguments, void (*begin)(void), void (*end)(void),
                      void (*loader_end)(void), void *stack)
{
    int (*next)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) = NULL;
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&next, &found, sizeof next);
    real_main = entry;
    return next(armed_main, count, arguments, begin, end, loader_end, stack);
}
