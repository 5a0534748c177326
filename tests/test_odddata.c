/* test_odddata.c - odd data sets (odddata.h) through the whole of the library: fit, evaluate, save, load, score,
 * simulate, draw, report. Each ends with a valid model (finite where the data are, a positive semi-definite, the
 * certificate holds or its failure is said) or with one of the refusals listed here; in bounded time and memory.
 *
 * A case is a number; ODD_FIRST and ODD_COUNT in the environment choose which (a long run takes thousands), ODD_TUNED
 * every how many of them goes through the search too; TRUST_SECONDS how long it may go on. */
#define _GNU_SOURCE
#include "odddata.h"

#include "data/data.h"
#include "la/la.h"
#include "model/model.h"
#include "report/figures.h"
#include "report/report.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Of processor time for a case, and for its report; most take milliseconds. */
enum { SECONDS = 60 };

/* The most that a context may plan, and what the whole process may hold at its peak: the rest is what is too small to
 * be planned. Sanitizers and Valgrind take several times that, of both: not looked at there. */
#define PLANNED 2e9
#define HELD 2.2e9

/* What a fit may say of data that allow none. docs/limits.md explains each. */
static const char *const refusals[] = {
    "no trajectory has two points",
    "no trajectory has a point",
    "beyond the range of numbers",
    "not finite",
    "cannot serve as eta",
    "one interval is not enough to choose a model",
    "the data never change, so there is nothing to choose between",
    "too large or too small to be squared",
    "the states may always move together",
    "needs about", /* more memory than the limit */
};

/* Of a whole run. */
typedef struct tally {
    unsigned long models, refused;
    double seconds; /* of the slowest case */
    uint64_t slowest;
} tally;

typedef struct judged {
    sock_context *ctx;
    uint64_t number;
    const odd_set *set;
    const char *kind;
    tally *sum;
    double report_seconds;
    int failures;
} judged;

static void complain(judged *j, const char *what)
{
    print_error("case %llu (%s, d = %zu, %zu trajectories, %zu points), %s: %s: %s\n", (unsigned long long)j->number,
                j->set->recipe, j->set->d, j->set->trajectories, j->set->points, j->kind, what, sock_message(j->ctx));
    j->failures++;
}

static bool is_refusal(const judged *j, sock_status status)
{
    if (status != SOCK_EINPUT && status != SOCK_ENUMERIC && status != SOCK_ENOMEM) return false;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (strstr(sock_message(j->ctx), refusals[i])) return true;
    return false;
}

/* ---- A valid model ---- */

/* The smallest eigenvalue of each a is >= -1e-10 of the largest; all numbers are finite. */
static bool is_semidefinite(sock_context *ctx, size_t d, size_t count, const double *a)
{
    bool good = true;
    double *copy = calloc(d * d, sizeof *copy), *values = calloc(d, sizeof *values);
    for (size_t i = 0; good && i < count; i++) {
        double largest = 0;
        for (size_t k = 0; k < d * d; k++) largest = fmax(largest, fabs(a[i * d * d + k]));
        good = isfinite(largest);
        for (size_t k = 0; k < d * d; k++) copy[k] = largest > 0 ? a[i * d * d + k] / largest : 0;
        good = good && sk_eigh(ctx, d, copy, d, values) >= 0 && values[0] >= -1e-10;
    }
    free(copy), free(values);
    return good;
}

static void check_fields(judged *j, const sock_data *data, const sock_model *model)
{
    size_t d = data->d, count = SK_MIN(data->points, (size_t)200);
    double *f = calloc(count * d, sizeof *f), *a = calloc(count * d * d, sizeof *a);
    bool good = sock_model_drift(j->ctx, model, count, data->x, f) >= 0;
    for (size_t i = 0; good && i < count * d; i++) good = isfinite(f[i]);
    if (!good) complain(j, "the drift is not finite at the data");
    if (sock_model_has_diffusion(model)) {
        good = sock_model_diffusion(j->ctx, model, count, data->x, a) >= 0 && is_semidefinite(j->ctx, d, count, a);
        if (!good) complain(j, "the diffusion is not finite and positive semi-definite at the data");
        if (good && sock_model_sigma(j->ctx, model, count, data->x, a) < 0) complain(j, "a has no root");
    }
    free(f), free(a);
}

/* The gap is a number, and within the tolerance unless the status said otherwise. */
static void check_certificate(judged *j, const sock_model *model, sock_status ended)
{
    char *text = NULL;
    if (sock_model_info(j->ctx, model, &text) < 0) {
        complain(j, "no information");
        return;
    }
    json_t *info = json_loads(text, 0, NULL), *gap = json_object_get(info, "relative_gap");
    if (!json_is_number(gap) || !(json_number_value(gap) >= 0)) complain(j, "no relative gap");
    bool stated = ended == SOCK_NOT_CONVERGED || strstr(text, "stopped before");
    /* A search in more than three dimensions that its budget ends before the last pass has a gap of 1e-4 (tuning.md).
     */
    const bool early =
        json_array_size(json_object_get(info, "left_out")) && json_integer_value(json_object_get(info, "d")) > 3;
    if (json_number_value(gap) > (early ? 1e-4 : 1e-5) && !stated) complain(j, "a large gap, and no word of it");
    json_decref(info);
    sock_string_free(text);
}

static void check_saved(judged *j, const sock_data *data, const sock_model *model, const char *path)
{
    sock_model *again = NULL;
    size_t count = SK_MIN(data->points, (size_t)20), size = count * data->d;
    double *one = calloc(size, sizeof *one), *two = calloc(size, sizeof *two);
    if (sock_model_save(j->ctx, model, path) < 0 || sock_model_load(j->ctx, path, &again) < 0)
        complain(j, "it cannot be saved and loaded");
    else if (sock_model_drift(j->ctx, model, count, data->x, one) < 0 ||
             sock_model_drift(j->ctx, again, count, data->x, two) < 0 || memcmp(one, two, size * sizeof *one) != 0)
        complain(j, "the loaded model is another one");
    free(one), free(two);
    sock_model_free(again);
}

static bool is_valid(const sock_value *v) { return v->valid ? isfinite(v->value) : v->reason[0] && v->value == 0; }

static sock_options *few_paths(sock_context *ctx)
{
    sock_options *opts = sock_options_new(ctx);
    sock_options_set(ctx, opts, "mmd-paths", "5");
    return opts;
}

/* NaN: no trajectory has two points. */
static double mean_step(const sock_data *data)
{
    double time = 0, steps = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        time += data->t[data->first[j + 1] - 1] - data->t[data->first[j]];
        steps += (double)(data->first[j + 1] - data->first[j] - 1);
    }
    return time / steps;
}

static void check_scores(judged *j, const sock_data *data, const sock_model *model)
{
    sock_scores s;
    sock_options *opts = few_paths(j->ctx);
    if (data->trajectories > 20) sock_options_set(j->ctx, opts, "mmd-paths", "0");
    /* About 50 inner steps: the times of a case may be of any size. */
    char step[32];
    double mean = mean_step(data);
    snprintf(step, sizeof step, "%.3g", mean > 0 ? fmax(mean, 1e-290) : 1);
    sock_options_set(j->ctx, opts, "mmd-step", step);
    /* The default step must come to an end too. */
    if (strcmp(j->set->recipe, "long gaps") == 0) sock_options_free(opts), opts = few_paths(j->ctx);
    sock_status status = sock_score(j->ctx, model, data, data, NULL, opts, &s);
    if (status < 0)
        complain(j, "it cannot be scored");
    else if (!is_valid(&s.loglik) || !is_valid(&s.perplexity_raw) || !is_valid(&s.mmd2) || s.loglik_truth.valid)
        complain(j, "a score is neither a number nor a reason");
    sock_options_free(opts);
}

static void check_paths(judged *j, const sock_data *data, const sock_model *model)
{
    enum { PATHS = 4, TIMES = 5 };
    size_t d = data->d, size = PATHS * TIMES * d;
    double h = mean_step(data), t[TIMES], lost[PATHS], *out = calloc(size, sizeof *out);
    for (int i = 0; i < TIMES; i++) t[i] = i * (h > 0 ? h : 1);
    sock_simulation spec = {.starts = 1, .x0 = data->x, .paths = PATHS, .times = TIMES, .t = t, .seed = j->number};
    sock_simulation_report report;
    sock_status status = sock_simulate(j->ctx, model, &spec, out, lost, &report);
    size_t gone = 0;
    bool good = status >= 0;
    for (size_t p = 0; good && p < PATHS; p++) {
        gone += isfinite(lost[p]);
        for (size_t i = 0; i < TIMES * d; i++)
            if (!isfinite(out[p * TIMES * d + i])) good = good && isfinite(lost[p]) && t[i / d] >= lost[p];
    }
    if (!good || gone != report.lost || (gone > 0) != (status == SOCK_PARTIAL)) complain(j, "simulated paths");
    free(out);
}

static void check_figures(judged *j, const sock_data *data, const sock_model *model)
{
    fig_input in = {.model = model, .data = data};
    for (size_t i = 0; fig_at(i); i++) {
        char *text = NULL;
        size_t size = 0;
        if (fig_lack(fig_at(i), &in)) continue;
        sock_status status = fig_draw(j->ctx, fig_at(i), &in, &text, &size);
        if (status < 0 && !sock_message(j->ctx)[0]) complain(j, "a figure fails without a word");
        if (status >= 0 && (!text || strstr(text, "nan") || strstr(text, "inf\"") || strstr(text, "-inf")))
            complain(j, "a figure holds what is no number");
        free(text);
    }
}

/* The whole page, or nothing and a reason. */
static void check_report(judged *j, const sock_data *data, const sock_model *model, const char *path)
{
    static const char end[] = "</html>\n";
    char tail[sizeof end] = "";
    unlink(path);
    clock_t start = clock();
    sock_status status = rep_write(j->ctx, model, data, NULL, path);
    j->report_seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    FILE *file = fopen(path, "rb");
    if (status < 0 && (file || !sock_message(j->ctx)[0])) complain(j, "the report fails and leaves a file, or no word");
    if (status >= 0 && (!file || fseek(file, 1 - (long)sizeof end, SEEK_END) != 0 ||
                        fread(tail, 1, sizeof end - 1, file) != sizeof end - 1 || strcmp(tail, end) != 0))
        complain(j, "the report is not whole");
    if (status < 0 && !is_refusal(j, status)) complain(j, "no report");
    if (file) fclose(file);
}

/* ---- One case ---- */

/* The peak of the whole process, which no case lowers again: in bytes. */
static double held(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? 1024 * (double)use.ru_maxrss : 0;
}

static void run_fit(judged *j, const sock_data *data, const sock_options *opts, const char *path)
{
    sock_model *model = NULL;
    sock_status status = sock_fit(j->ctx, data, opts, &model);
    if (status < 0) {
        if (!is_refusal(j, status)) complain(j, sock_status_name(status));
        j->sum->refused++;
        if (model) complain(j, "a model beside a failure");
        return;
    }
    j->sum->models++;
    check_fields(j, data, model);
    if (sock_model_has_diffusion(model)) check_certificate(j, model, status);
    check_saved(j, data, model, path);
    check_scores(j, data, model);
    check_paths(j, data, model);
    check_figures(j, data, model);
    /* A report simulates anew what was scored already: seconds where the gaps are long. */
    if (getenv("ODD_COUNT") || strcmp(j->set->recipe, "long gaps") != 0) check_report(j, data, model, path);
    sock_model_free(model);
}

/* The plain estimator goes through kernels and rules in turn. */
static void set_plain(sock_context *ctx, sock_options *opts, uint64_t number)
{
    static const char *const kernels[] = {"gauss",        "poly:degree=2", "linear+constant",
                                          "fourier:p=15", "nystrom:m=8",   "poly:degree=4"};
    static const char *const fields[] = {"gauss", "affine", "constant", "fourier:p=6", "poly:degree=2"};
    static const char *const rules[] = {"left", "trapezoid"};
    uint64_t c = number + number / ODD_RECIPES;
    sock_options_set(ctx, opts, "tune", "no");
    sock_options_set(ctx, opts, "drift", kernels[c % 6]);
    sock_options_set(ctx, opts, "diffusion", fields[c % 5]);
    sock_options_set(ctx, opts, "quadrature", rules[c % 2]);
    if (c % 4 == 3) sock_options_set(ctx, opts, "diagonal", "yes");
    if (c % 12 == 6) sock_options_set(ctx, opts, "drift-path", "exact");
    sock_options_set(ctx, opts, "max-seconds", getenv("ODD_COUNT") ? "10" : "1");
}

static int run_case(sock_context *ctx, uint64_t number, bool tuned, const char *path, tally *sum)
{
    odd_set set = odd_make(number);
    judged j = {.ctx = ctx, .number = number, .set = &set, .kind = "data", .sum = sum};
    sock_data *data = NULL;
    clock_t start = clock();
    sock_status status =
        sock_data_from_arrays(ctx, set.d, set.trajectories, set.length, set.t, set.x, NULL, NULL, NULL, &data);
    if (status < 0 && !is_refusal(&j, status)) complain(&j, "the data are refused");
    for (int kind = 0; status >= 0 && kind < (tuned ? 2 : 1); kind++) {
        sock_options *opts = sock_options_new(ctx);
        if (kind == 0)
            set_plain(ctx, opts, number);
        else
            sock_options_set(ctx, opts, "budget", getenv("ODD_COUNT") ? "2" : "0.2");
        j.kind = kind == 0 ? sock_options_get(opts, "drift") : "tuned";
        run_fit(&j, data, opts, path);
        sock_options_free(opts);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC - j.report_seconds;
    if (getenv("ODD_TIMES")) print_message("%llu %s: %.2f s\n", (unsigned long long)number, set.recipe, seconds);
    if (!is_slow_run() && (seconds > SECONDS || j.report_seconds > SECONDS)) {
        print_error("case %llu (%s) took %g s, and its report %g s\n", (unsigned long long)number, set.recipe, seconds,
                    j.report_seconds);
        j.failures++;
    }
    if (!is_slow_run() && held() > HELD) {
        print_error("case %llu (%s): the process holds %g bytes\n", (unsigned long long)number, set.recipe, held());
        j.failures++;
    }
    if (seconds > sum->seconds) sum->seconds = seconds, sum->slowest = number;
    sock_data_free(data);
    odd_clear(&set);
    return j.failures;
}

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

static void test_odddata__a_valid_model_or_a_reason(void **state)
{
    (void)state;
    uint64_t first = setting("ODD_FIRST", 0), count = setting("ODD_COUNT", (is_slow_run() ? 1 : 2) * ODD_RECIPES),
             every = setting("ODD_TUNED", 15);
    char path[] = "/tmp/sock-odd-XXXXXX";
    int handle = mkstemp(path), failures = 0;
    tally sum = {0};
    sock_context *ctx = sock_context_new();
    assert_true(handle >= 0);
    close(handle);
    sock_set_memory_limit(ctx, (size_t)PLANNED);
    sock_set_threads(ctx, 1); /* one after the other: threads that wait for each other are slow on a busy machine */
    const uint64_t seconds = setting("TRUST_SECONDS", 0);
    const time_t begin = time(NULL);
    uint64_t done = 0;
    for (; done < count && (!seconds || (uint64_t)(time(NULL) - begin) < seconds); done++)
        failures += run_case(ctx, first + done, every && (first + done) % every == every / 2, path, &sum);
    unlink(path);
    sock_context_free(ctx);
    print_message(
        "%llu odd data sets: %lu models, %lu refused; the slowest, %llu, took %.1f s; peak of memory %.2f GB\n",
        (unsigned long long)done, sum.models, sum.refused, (unsigned long long)sum.slowest, sum.seconds, 1e-9 * held());
    assert_int_equal(failures, 0);
}

/* Two states that are one: once refused in words that helped nobody. */
static void test_odddata__cases_that_failed_once(void **state)
{
    (void)state;
    static const uint64_t cases[] = {1137};
    sock_context *ctx = sock_context_new();
    char path[] = "/tmp/sock-odd-XXXXXX";
    int handle = mkstemp(path);
    tally sum = {0};
    assert_true(handle >= 0);
    close(handle);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(run_case(ctx, cases[i], true, path, &sum), 0);
    unlink(path);
    sock_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_odddata__a_valid_model_or_a_reason),
                                       cmocka_unit_test(test_odddata__cases_that_failed_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
