/* bench_scale.c - fits of data that need not fit into memory: a stream against memory, its peak as the data grow, and
 * one process against two.   usage: bench_scale [STEPS...]     (100 000 and 1 000 000; the last is what the goals are
 * about)
 *
 * Every fit is a process of its own, `sock` or `sock-mpi` beside this program, of which the system tells processor time
 * and peak. The time of two processes is what each of them worked: it can be told on a machine that does other work,
 * too. */
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
    double cpu, peak; /* seconds of all processes; bytes of the largest */
} spent;

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static spent run(const char *const *command)
{
    struct rusage used;
    int status = 0;
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
    return (spent){seconds(used.ru_utime) + seconds(used.ru_stime), 1024 * (double)used.ru_maxrss};
}

static spent fit(const scene *s, bool stream)
{
    const char *const command[] = {s->sock,      "fit",     s->data,   stream ? "--stream=yes" : "--stream=no",
                                   "--threads",  "1",       "--quiet", "--check=no",
                                   "--bands=no", "--noise", "none",    "--substeps",
                                   "1",          "-o",      s->model,  NULL};
    return run(command);
}

/* What each of so many processes worked. */
static double fit_together(const scene *s, const char *count)
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
    return run(command).cpu / atof(count);
}

static void measure(const scene *s, size_t paths, bool last, bool several)
{
    write_data(s, paths);
    const spent stream = fit(s, true), memory = fit(s, false);
    printf("  %9zu steps: stream %8.2f s cpu, %6.0f MB; in memory %8.2f s cpu, %6.0f MB\n", paths * (POINTS - 1),
           stream.cpu, 1e-6 * stream.peak, memory.cpu, 1e-6 * memory.peak);
    if (last) bench_goal("stream over memory, processor time", stream.cpu / memory.cpu, false, 1.3);
    if (several) {
        const double one = fit_together(s, "1"), two = fit_together(s, "2");
        printf("  %9zu steps: one process %8.2f s cpu, each of two %8.2f s cpu\n", paths * (POINTS - 1), one, two);
        if (last) bench_goal("two processes, by what each works", one / two, true, 1.8);
    }
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
    const bool several = access(s.mpi, X_OK) == 0;
    if (!several) printf("  without sock-mpi: one process alone\n");
    static char few[] = "100000", many[] = "1000000", *usual[] = {few, many};
    char **steps = count > 1 ? arguments + 1 : usual;
    const int sizes = count > 1 ? count - 1 : 2;
    for (int i = 0; i < sizes; i++) measure(&s, (size_t)fmax(1, atof(steps[i]) / POINTS), i + 1 == sizes, several);
    rmdir(s.folder);
    return 0;
}
