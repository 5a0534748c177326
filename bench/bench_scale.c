/* bench_scale.c - fits of data that need not fit into memory: a stream against memory, its peak as the data grow, and
 * one process against several.   usage: bench_scale [STEPS...] [--processes 1,2,4]     (100 000 and 1 000 000 steps, of
 * which the last are what the goals are about; 1,2, and 4 where there are so many processors)
 *
 * Every fit is a process of its own, `sock` or `sock-mpi` beside this program, of which the system tells processor time
 * and peak. The goals for several processes are about what each of them worked, waiting included, which can be told on
 * a machine that does other work, too; the clock beside it means something where every process has a free processor. */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINTS = 1000, INNER = 4, MOST = 32 };

typedef struct scene {
    char folder[64], data[96], model[96], sock[512], mpi[512];
} scene;

/* ---- Data: dx = (x - x^3) dt + 0.5 dW, paths of a thousand points ---- */

static FILE *open_array(const char *folder, const char *name, const char *kind, const char *shape)
{
    char path[160], head[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117s\n", head);
    return file;
}

static void walk(size_t path, double *x)
{
    const double h = 0.05 / INNER;
    double z[1 + POINTS * INNER], at;
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, path, 0, 0, 1 + POINTS * INNER, z);
    at = z[0];
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = at;
        for (size_t k = 0; k < INNER; k++) at += (at - at * at * at) * h + 0.5 * sqrt(h) * z[1 + i * INNER + k];
    }
}

static void write_data(const scene *s, size_t paths)
{
    char shape[64];
    double t[POINTS], x[POINTS];
    mkdir(s->data, 0700);
    snprintf(shape, sizeof shape, "(%zu, 1)", paths * POINTS);
    FILE *states = open_array(s->data, "x.npy", "<f8", shape);
    snprintf(shape, sizeof shape, "(%zu,)", paths * POINTS);
    FILE *times = open_array(s->data, "t.npy", "<f8", shape);
    snprintf(shape, sizeof shape, "(%zu,)", paths + 1);
    FILE *first = open_array(s->data, "first.npy", "<u8", shape);
    for (size_t i = 0; i < POINTS; i++) t[i] = 0.05 * (double)i;
    for (uint64_t j = 0, at = 0; j <= paths; j++, at += POINTS) {
        fwrite(&at, sizeof at, 1, first);
        if (j == paths) break;
        walk(j, x);
        fwrite(x, sizeof *x, POINTS, states);
        fwrite(t, sizeof *t, POINTS, times);
    }
    if (fclose(states) != 0 || fclose(times) != 0 || fclose(first) != 0) {
        perror(s->data);
        exit(1);
    }
}

static void remove_data(const scene *s)
{
    static const char *const names[] = {"x.npy", "t.npy", "first.npy"};
    char path[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", s->data, names[i]);
        unlink(path);
    }
    rmdir(s->data);
    unlink(s->model);
}

/* ---- Fits ---- */

typedef struct spent {
    double cpu, clock, peak; /* seconds of all processes, by the clock; bytes of the largest */
} spent;

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static spent run(const char *const *command)
{
    struct rusage used;
    int status = 0;
    const double start = sk_seconds();
    fflush(stdout); /* else the child says it again */
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        char *list[MOST] = {0};
        for (size_t i = 0; command[i]; i++) list[i] = strdup(command[i]);
        execvp(list[0], list);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "%s: the fit failed\n", command[0]);
        exit(1);
    }
    return (spent){seconds(used.ru_utime) + seconds(used.ru_stime), sk_seconds() - start,
                   1024 * (double)used.ru_maxrss};
}

static spent fit(const scene *s, bool stream)
{
    const char *const command[] = {s->sock,      "fit",     s->data,   stream ? "--stream=yes" : "--stream=no",
                                   "--threads",  "1",       "--quiet", "--check=no",
                                   "--bands=no", "--noise", "none",    "--substeps",
                                   "1",          "-o",      s->model,  NULL};
    return run(command);
}

/* cpu: what each of so many processes worked. */
static spent fit_together(const scene *s, const char *count)
{
    const char *const command[] = {"mpirun",     "--oversubscribe",
                                   "--mca",      "mpi_yield_when_idle",
                                   "1",          getuid() == 0 ? "--allow-run-as-root" : "--quiet",
                                   "-n",         count,
                                   s->mpi,       "fit",
                                   s->data,      "--threads",
                                   "1",          "--quiet",
                                   "--check=no", "--bands=no",
                                   "--noise",    "none",
                                   "--substeps", "1",
                                   "-o",         s->model,
                                   NULL};
    spent all = run(command);
    all.cpu /= atof(count);
    return all;
}

static void measure_several(const scene *s, size_t steps, bool last, const char *processes)
{
    char list[128], name[64], *rest = NULL;
    double alone = 0;
    snprintf(list, sizeof list, "%s", processes);
    for (const char *count = strtok_r(list, ",", &rest); count; count = strtok_r(NULL, ",", &rest)) {
        const spent one = fit_together(s, count);
        const int number = atoi(count);
        if (alone == 0) alone = one.cpu;
        printf("  %9zu steps, %2d process%s each %8.2f s cpu, %8.2f s by the clock, %6.0f MB\n", steps, number,
               number == 1 ? ":  " : "es:", one.cpu, one.clock, 1e-6 * one.peak);
        if (!last || (number != 2 && number != 4)) continue;
        snprintf(name, sizeof name, "%d processes, by what each works", number);
        bench_goal(name, alone / one.cpu, true, number == 2 ? 1.8 : 3.2);
    }
}

static void print_fit(const char *how, double steps, spent one)
{
    printf("  %9.0f steps, %-9s %8.2f s cpu, %6.2f s a million steps; %6.0f MB, %7.1f bytes a step\n", steps, how,
           one.cpu, 1e6 * one.cpu / steps, 1e-6 * one.peak, one.peak / steps);
}

/* processes: NULL where there is no MPI. peak: of the stream of the size before, 0: none; then of this one. */
static void measure(const scene *s, size_t paths, bool last, const char *processes, double *peak)
{
    write_data(s, paths);
    const spent stream = fit(s, true), memory = fit(s, false);
    const double steps = (double)(paths * (POINTS - 1));
    print_fit("stream", steps, stream);
    print_fit("in memory", steps, memory);
    if (last) bench_goal("stream over memory, processor time", stream.cpu / memory.cpu, false, 1.3);
    if (last && *peak > 0)
        bench_goal("peak of a stream over that of the size before", stream.peak / *peak, false, 1.05);
    if (processes) measure_several(s, paths * (POINTS - 1), last, processes);
    *peak = stream.peak;
    remove_data(s);
}

int main(int count, char **arguments)
{
    scene s = {.folder = "/tmp/bench-scale-XXXXXX"};
    char self[400];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0 || !mkdtemp(s.folder)) return 1;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    snprintf(s.sock, sizeof s.sock, "%s/sock", self);
    snprintf(s.mpi, sizeof s.mpi, "%s/sock-mpi", self);
    snprintf(s.data, sizeof s.data, "%s/d.traj", s.folder);
    snprintf(s.model, sizeof s.model, "%s/m.sock", s.folder);
    bench_begin("bench_scale", 1);
    static char few[] = "100000", many[] = "1000000", *usual[] = {few, many};
    char **steps = count > 1 ? arguments + 1 : usual;
    int sizes = count > 1 ? count - 1 : 2;
    const char *processes = sysconf(_SC_NPROCESSORS_ONLN) >= 4 ? "1,2,4" : "1,2";
    double peak = 0;
    if (sizes >= 2 && strcmp(steps[sizes - 2], "--processes") == 0) {
        processes = steps[sizes - 1];
        sizes -= 2;
    }
    if (sizes == 0) steps = usual, sizes = 2;
    if (access(s.mpi, X_OK) != 0) {
        printf("  without sock-mpi: one process alone\n");
        processes = NULL;
    }
    for (int i = 0; i < sizes; i++)
        measure(&s, (size_t)fmax(1, atof(steps[i]) / POINTS), i + 1 == sizes, processes, &peak);
    rmdir(s.folder);
    return 0;
}
