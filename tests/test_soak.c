/* test_soak.c - one process works for SOAK_SECONDS (2) the way a server would: read, choose and fit, save, load,
 * simulate, score, and now and then a refused file and an interrupted fit. Every round gives the numbers of the first,
 * and the process grows neither in memory nor in open files nor in threads. */
#define _GNU_SOURCE
#include "test.h"

#include <dirent.h>
#include <malloc.h>
#include <time.h>
#include <unistd.h>

enum { PATHS = 6, POINTS = 12, N = PATHS * POINTS, SIMULATED = 20 };
enum { SETTLED = 60 }; /* seconds after whose tenth the resident memory stands still */

typedef struct answers {
    char model[65536];
    size_t model_bytes;
    double paths[PATHS * SIMULATED * POINTS];
    double loglik, mmd2;
} answers;

typedef struct place {
    char folder[64], data[96], model[96], bad[96];
    double t[POINTS], x0[PATHS];
} place;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t entries_of(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t count = 0;
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

/* What the process has asked for and not given back. Unlike the resident memory it does not depend on how the threads
 * happened to meet in the allocator, but for the few freed blocks that each thread keeps at hand. */
static double megabytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd) / 1048576;
}

static double resident_megabytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    double pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %lf", &pages), 1);
    fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static void make_place(place *p)
{
    double x[N];
    snprintf(p->folder, sizeof p->folder, "/tmp/sock-soak-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->data, sizeof p->data, "%s/d.csv", p->folder);
    snprintf(p->model, sizeof p->model, "%s/m.sock", p->folder);
    snprintf(p->bad, sizeof p->bad, "%s/bad.csv", p->folder);
    sk_normals((sk_key){83, SK_PURPOSE_TEST}, 0, 0, 0, N, x);
    FILE *file = fopen(p->data, "w");
    assert_non_null(file);
    fputs("id,t,x\n", file);
    for (size_t i = 0; i < N; i++) {
        if (i % POINTS) x[i] = 0.9 * x[i - 1] + 0.3 * x[i];
        p->t[i % POINTS] = 0.1 * (double)(i % POINTS);
        if (i % POINTS == 0) p->x0[i / POINTS] = x[i];
        fprintf(file, "%zu,%.17g,%.17g\n", i / POINTS, p->t[i % POINTS], x[i]);
    }
    assert_int_equal(fclose(file), 0);
    file = fopen(p->bad, "w");
    assert_non_null(file);
    fputs("id,t,x\n1,0,0\n1,0.1,oops\n", file);
    assert_int_equal(fclose(file), 0);
}

static void remove_place(const place *p)
{
    unlink(p->data), unlink(p->model), unlink(p->bad);
    assert_int_equal(rmdir(p->folder), 0); /* nothing else was left behind */
}

static void read_model_bytes(const place *p, answers *out)
{
    FILE *file = fopen(p->model, "rb");
    assert_non_null(file);
    out->model_bytes = fread(out->model, 1, sizeof out->model, file);
    assert_true(out->model_bytes > 0 && out->model_bytes < sizeof out->model);
    fclose(file);
}

static void work(sock_context *ctx, const place *p, answers *out)
{
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    sock_model *fitted = NULL, *model = NULL;
    sock_scores scores;
    char *info = NULL;
    sock_options_set(ctx, opts, "mmd-paths", "50");
    sock_options_set(ctx, opts, "mmd-step", "0.01");
    assert_int_equal(sock_data_read(ctx, p->data, opts, &data), SOCK_OK);
    assert_true(sock_fit(ctx, data, opts, &fitted) >= 0);
    assert_int_equal(sock_model_save(ctx, fitted, p->model), SOCK_OK);
    assert_int_equal(sock_model_load(ctx, p->model, &model), SOCK_OK);
    assert_true(sock_model_info(ctx, model, &info) >= 0);
    sock_simulation spec = {.starts = PATHS, .x0 = p->x0, .paths = SIMULATED, .times = POINTS, .t = p->t, .seed = 1};
    assert_int_equal(sock_simulate(ctx, model, &spec, out->paths, NULL, NULL), SOCK_OK);
    assert_true(sock_score(ctx, model, data, data, NULL, opts, &scores) >= 0);
    assert_true(scores.loglik.valid && scores.mmd2.valid);
    out->loglik = scores.loglik.value, out->mmd2 = scores.mmd2.value;
    read_model_bytes(p, out);
    sock_string_free(info);
    sock_model_free(model);
    sock_model_free(fitted);
    sock_data_free(data);
    sock_options_free(opts);
}

static int stop_at_once(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return 1;
}

/* What goes wrong in a long life: it must leave nothing in the process either. */
static void fail_twice(sock_context *ctx, const place *p)
{
    sock_data *data = NULL;
    sock_model *model = NULL;
    assert_true(sock_data_read(ctx, p->bad, NULL, &data) < 0 && !data);
    assert_int_equal(sock_data_read(ctx, p->data, NULL, &data), SOCK_OK);
    sock_set_monitor(ctx, stop_at_once, NULL);
    assert_int_equal(sock_fit(ctx, data, NULL, &model), SOCK_ECANCELLED);
    assert_null(model);
    sock_set_monitor(ctx, NULL, NULL);
    sock_cancel_reset(ctx);
    sock_data_free(data);
}

static void test_soak__stays_as_it_began(void **state)
{
    (void)state;
    static answers first, now;
    place p;
    make_place(&p);
    const char *text = getenv("SOAK_SECONDS");
    const double length = text ? strtod(text, NULL) : 2, begin = seconds_now();
    sock_context *ctx = sock_context_new();
    assert_int_equal(sock_set_threads(ctx, 2), SOCK_OK);
    work(ctx, &p, &first);
    fail_twice(ctx, &p);
    size_t rounds = 1, files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    double early = 0, most = 0;
    const double in_use = megabytes_in_use();
    while (seconds_now() - begin < length || rounds < 4) {
        memset(&now, 0, sizeof now);
        work(ctx, &p, &now);
        assert_memory_equal(&now, &first, sizeof first);
        if (++rounds % 3 == 0) fail_twice(ctx, &p);
        const double memory = resident_megabytes();
        assert_true(megabytes_in_use() <= in_use + 1);
        /* In a long run the allocator settles within the first tenth; what comes later is growth. */
        if (early == 0 || seconds_now() - begin < 0.1 * length) early = memory > early ? memory : early;
        most = memory > most ? memory : most;
    }
    print_message(
        "soak: %zu rounds in %.0f s, all alike; %.2f MB in use, %.2f at first; resident %.1f MB after a tenth, at "
        "most %.1f MB\n",
        rounds, seconds_now() - begin, megabytes_in_use(), in_use, early, most);
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_int_equal(entries_of("/proc/self/task"), threads);
#ifndef __SANITIZE_ADDRESS__ /* whose allocator keeps what was freed for a while */
    if (length >= SETTLED) assert_true(most <= early + 2);
#endif
    sock_context_free(ctx);
    remove_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soak__stays_as_it_began)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
