/* bench_csv.c - (c): reading of a CSV file on one thread, in MB/s. Goal: at least 80.
 *
 * The file has a million and more rows of numbers with 17 digits, as programs write them. Beside it stand, over the
 * same bytes in memory: memchr from line end to line end (nobody reads faster), the library's own conversion of every
 * cell, and strtod of every cell (what a plain reader would do). */
#include "bench.h"

#include <string.h>
#include <unistd.h>

enum { TRAJECTORIES = 2000, POINTS = 600, D = 2 };

typedef struct job {
    sock_context *ctx;
    char path[64];
    char *text; /* the file, with a zero behind it */
    size_t size;
    double sink; /* so that nothing is left out as useless */
} job;

/* ---- The file ---- */

static void write_file(job *j)
{
    int handle = mkstemp(j->path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    if (!file) {
        perror(j->path);
        exit(1);
    }
    fprintf(file, "traj,t,x,y\n");
    for (size_t i = 0; i < TRAJECTORIES; i++) {
        double x[POINTS * D], *p = x;
        sk_normals((sk_key){1, SK_PURPOSE_TEST}, i, 0, 0, POINTS * D, x);
        for (size_t k = 0; k < POINTS; k++, p += D)
            fprintf(file, "%zu,%.17g,%.17g,%.17g\n", i, 0.01 * (double)k, p[0], p[1]);
    }
    if (fclose(file) != 0) {
        perror(j->path);
        exit(1);
    }
}

static void load_file(job *j)
{
    FILE *file = fopen(j->path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(j->path);
        exit(1);
    }
    j->size = (size_t)ftell(file);
    rewind(file);
    j->text = bench_have(j->ctx, sk_alloc(j->ctx, j->size + 1, 1));
    if (fread(j->text, 1, j->size, file) != j->size) {
        perror(j->path);
        exit(1);
    }
    fclose(file);
}

/* ---- What is timed ---- */

static void read_data(void *arg)
{
    job *j = arg;
    sock_data *data = NULL;
    bench_need(j->ctx, sock_data_read(j->ctx, j->path, NULL, &data));
    if (sock_data_points(data) != TRAJECTORIES * POINTS) exit(1);
    sock_data_free(data);
}

static void find_line_ends(void *arg)
{
    job *j = arg;
    const char *end = j->text + j->size;
    size_t lines = 0;
    for (const char *p = j->text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) lines++;
    j->sink += (double)lines;
}

static void convert_with_ours(void *arg)
{
    job *j = arg;
    for (const char *p = strchr(j->text, '\n') + 1; *p; p++) j->sink += sk_parse_double(p, &p);
}

static void convert_with_strtod(void *arg)
{
    job *j = arg;
    for (char *p = strchr(j->text, '\n') + 1; *p; p++) j->sink += strtod(p, &p);
}

int main(void)
{
    job j = {.ctx = sock_context_new(), .path = "/tmp/sock-bench-XXXXXX"};
    if (!j.ctx) return 1;
    bench_need(j.ctx, sock_set_threads(j.ctx, 1));
    bench_begin("csv", 1);
    write_file(&j);
    load_file(&j);
    bench_run runs[] = {{"sock_data_read, the whole reading", read_data, &j, 0, 0},
                        {"line ends alone (memchr)", find_line_ends, &j, 0, 0},
                        {"numbers alone (sk_parse_double)", convert_with_ours, &j, 0, 0},
                        {"numbers alone (strtod)", convert_with_strtod, &j, 0, 0}};
    bench_in_turn(4, runs, 5);
    double megabytes = 1e-6 * (double)j.size;
    printf("\n(c) CSV, %d rows, %.1f MB, 1 thread\n", TRAJECTORIES * POINTS, megabytes);
    for (size_t i = 0; i < 4; i++) {
        bench_line(&runs[i], i == 0 ? runs[2].best : 0);
        printf("  %-44s %10.1f MB/s %7.1f MB/s cpu\n", "", megabytes / runs[i].best, megabytes / runs[i].best_cpu);
    }
    bench_goal("MB/s by the clock", megabytes / runs[0].best, true, 80);
    bench_goal("MB/s of processor time", megabytes / runs[0].best_cpu, true, 80);
    unlink(j.path);
    sk_free(j.text);
    sock_context_free(j.ctx);
    return 0;
}
