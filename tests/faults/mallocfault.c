/* mallocfault.c - to be preloaded: makes an allocation fail. FAULT_AT=K: the K-th one since main() fails; with
 * FAULT_ALWAYS=1 all from the K-th on. FAULT_COUNT=FILE: writes how many there were.
 *
 * Counted are those that the program and libc make. BLAS and the OpenMP runtime end the process when they get no
 * memory, and the JSON library loses letters and breaks its tables, so theirs are let through: that is why the library
 * asks what work needs before it starts, and sees to it that the memory is there (sk_memory_check, sk_reserve). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long made;
static atomic_int armed;
static long fail_at;
static int fail_always;

enum { RANGES = 64 };
static struct range {
    uintptr_t begin, end;
} ours[RANGES];
static size_t range_count;

/* The code of the program (no name) and of libc. */
static int note_ranges(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (info->dlpi_name[0] && !strstr(info->dlpi_name, "libc.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < RANGES; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        ours[range_count++] = (struct range){begin, begin + info->dlpi_phdr[i].p_memsz};
    }
    return 0;
}

static int fails(const void *caller)
{
    if (!atomic_load_explicit(&armed, memory_order_acquire)) return 0;
    size_t i = 0;
    while (i < range_count && !((uintptr_t)caller >= ours[i].begin && (uintptr_t)caller < ours[i].end)) i++;
    if (i == range_count) return 0;
    long number = atomic_fetch_add(&made, 1) + 1;
    if (!fail_at || number < fail_at || (number > fail_at && !fail_always)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size); }

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *found = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *out = found;
    return 0;
}

/* ---- From main() to its end ---- */

typedef int (*main_fn)(int count, char **arguments, char **environment);
static main_fn real_main;

static void disarm(void)
{
    const char *path = getenv("FAULT_COUNT");
    atomic_store(&armed, 0);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(&made));
        fclose(file);
    }
}

static int armed_main(int count, char **arguments, char **environment)
{
    const char *at = getenv("FAULT_AT"), *always = getenv("FAULT_ALWAYS");
    fail_at = at ? atol(at) : 0;
    fail_always = always && always[0] == '1';
    dl_iterate_phdr(note_ranges, NULL);
    atomic_store_explicit(&armed, 1, memory_order_release);
    int result = real_main(count, arguments, environment);
    disarm();
    return result;
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
