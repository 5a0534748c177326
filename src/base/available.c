/* available.c - how much memory there is for this process: of the machine, of its control groups, of its address space;
 * and how many threads that is enough for. */
#define _GNU_SOURCE
#include "base.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 4096, LINE = 4096 };

/* The number at the beginning of a file; NaN: no such file, or a word such as "max". */
static double number_of(const char *root, const char *folder, const char *name)
{
    char path[PATH], line[64], *end = line;
    if (snprintf(path, sizeof path, "%s%s/%s", root, folder, name) >= PATH) return NAN;
    FILE *file = fopen(path, "r");
    double value = file && fgets(line, sizeof line, file) ? strtod(line, &end) : 0;
    if (file) fclose(file);
    return end > line ? value : (double)NAN;
}

/* "inactive_file" of memory.stat: pages of files, which count as used and are given back when asked for. */
static double file_pages(const char *root, const char *folder)
{
    static const char key[] = "inactive_file ";
    char path[PATH], line[LINE];
    double value = 0;
    if (snprintf(path, sizeof path, "%s%s/memory.stat", root, folder) >= PATH) return 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0) value = strtod(line + sizeof key - 1, NULL);
    if (file) fclose(file);
    return value;
}

/* What one control group leaves; infinite where it has no limit. */
static double left_in_group(const char *root, const char *folder, const char *limit_name, const char *used_name)
{
    double limit = number_of(root, folder, limit_name), used = number_of(root, folder, used_name);
    if (!(limit >= 0) || !(used >= 0) || limit > 1e18) return INFINITY; /* version 1 says "none" by a huge number */
    return fmax(0, limit - used + file_pages(root, folder));
}

/* The least along the way from the group up to the mount point: a limit of a parent holds for all below. */
static double left_along(const char *root, const char *mount, const char *group, const char *limit, const char *used)
{
    char folder[PATH];
    double least = INFINITY;
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= PATH) return INFINITY;
    for (size_t length = strlen(folder); length >= strlen(mount); length--) {
        if (folder[length] != '/' && folder[length]) continue;
        folder[length] = 0;
        least = fmin(least, left_in_group(root, folder, limit, used));
    }
    return least;
}

/* Lines of /proc/self/cgroup: "0::/group" of version 2, "7:memory:/group" of version 1. */
static double left_in_groups(const char *root)
{
    char path[PATH], line[LINE];
    double least = INFINITY;
    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= PATH) return INFINITY;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *kind = strchr(line, ':'), *group = kind ? strchr(kind + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        group[strcspn(group, "\n")] = 0;
        if (kind[1] == 0)
            least = fmin(least, left_along(root, "/sys/fs/cgroup", group, "memory.max", "memory.current"));
        else if (strstr(kind, "memory"))
            least = fmin(least, left_along(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                           "memory.usage_in_bytes"));
    }
    if (file) fclose(file);
    return least;
}

/* What Linux says can be had without swapping; elsewhere, and when it does not say, all physical memory. */
static double left_in_machine(const char *root)
{
    static const char key[] = "MemAvailable:";
    char path[PATH], line[256];
    double kib = 0;
    if (snprintf(path, sizeof path, "%s/proc/meminfo", root) >= PATH) return INFINITY;
    FILE *file = fopen(path, "r");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0) kib = strtod(line + sizeof key - 1, NULL);
    if (file) fclose(file);
    if (kib > 0) return kib * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static double left_of_addresses(const char *root)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INFINITY;
    double pages = number_of(root, "/proc/self", "statm");
    return fmax(0, (double)limit.rlim_cur - (isnan(pages) ? 0 : pages) * (double)sysconf(_SC_PAGESIZE));
}

/* The second number of statm, in pages. */
double sk_resident_memory(const char *root)
{
    char path[PATH], line[256], *end = line;
    FILE *file = snprintf(path, sizeof path, "%s/proc/self/statm", root) < PATH ? fopen(path, "r") : NULL;
    double pages = 0;
    if (file && fgets(line, sizeof line, file)) {
        (void)strtod(line, &end);
        pages = strtod(end, NULL);
    }
    if (file) fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

double sk_handed_out_memory(void)
{
#ifdef __GLIBC__
    const struct mallinfo2 own = mallinfo2();
    return (double)own.uordblks + (double)own.hblkhd;
#else
    return 0;
#endif
}

double sk_group_memory(const char *root)
{
    const double left = left_in_groups(root);
    return isfinite(left) ? sk_resident_memory(root) + 0.9 * left : 0;
}

double sk_available_memory(const char *root)
{
    return fmin(left_in_machine(root), fmin(left_in_groups(root), left_of_addresses(root)));
}

/* Under a limit of the address space (ulimit -v) a thread that calls OpenBLAS needs its buffer (BUFFER_MB of
 * cli/addresslimit.c, which looks before the library starts) and an arena of malloc; where there is no room for them
 * OpenBLAS tries for ever to get them. */
int sk_threads_within(double left, int wanted)
{
    static const double buffer = 135 * 1048576.0, arena = 80e6;
    const double threads = floor((left - buffer) / (buffer + arena)); /* the caller's own buffer comes first */
    return threads < wanted ? (int)SK_MAX(1, threads) : wanted;
}

int sk_affordable_threads(int wanted) { return sk_threads_within(left_of_addresses(""), wanted); }
