/* cmd_simulate.c - sock simulate: paths of a model from given starts.
 *
 * Output: a long CSV (traj, t, the states) that `sock fit` reads; path k of start s is trajectory s * paths + k, both
 * from 0, and a path that left the finite numbers ends at its last finite point. With a name that ends in .npy: one
 * array (starts * paths, times, d), NaN after that point. */
#define _GNU_SOURCE
#include "modeldata.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"seed",  "bounds", "lower", "upper",   "id",    "time",
                                   "state", "group",  "dt",    "missing", "every", NULL};

/* Where paths begin, and when they are written out. Start s has times[s] of them, from t[first[s]] on. */
typedef struct starts {
    size_t count, d;
    double *x0; /* count x d */
    size_t *times, *first;
    double *t;
} starts;

typedef struct paths {
    size_t each;   /* for every start */
    size_t points; /* all points of all paths */
    uint64_t seed;
    bool uncertain;                /* each path of a draw of the model */
    double *x;                     /* points x d: start after start, path after path */
    sock_simulation_report report; /* of all of them */
} paths;

static void starts_clear(starts *s)
{
    free(s->x0);
    free(s->times);
    free(s->first);
    free(s->t);
}

static int starts_new(const cli *c, size_t count, size_t d, size_t points, starts *s)
{
    *s = (starts){.count = count, .d = d};
    s->x0 = calloc(count * d, sizeof *s->x0);
    s->times = calloc(count, sizeof *s->times);
    s->first = calloc(count, sizeof *s->first);
    s->t = calloc(points, sizeof *s->t);
    return s->x0 && s->times && s->first && s->t ? -1 : cli_fail(c, SOCK_ENOMEM);
}

/* ---- Reading numbers ---- */

/* Finite numbers with commas between; how many there are, 0 when the text is something else or too long. */
static size_t parse_list(const char *text, size_t most, double *out)
{
    size_t count = 0;
    for (;; text++) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || count == most || !isfinite(value)) return 0;
        out[count++] = value;
        text = end;
        if (!*text) return count;
        if (*text != ',') return 0;
    }
}

/* "0:1:101": from, to, how many. */
static bool parse_range(const char *text, double *low, double *high, unsigned long long *points)
{
    char *end;
    *low = strtod(text, &end);
    if (end == text || *end != ':') return false;
    *high = strtod(text = end + 1, &end);
    if (end == text || *end != ':') return false;
    return cli_whole(end + 1, &end, points) && !*end && *points >= 2 && *points <= 10000000 && isfinite(*low) &&
           isfinite(*high) && *high > *low;
}

/* "0:1:101" (from, to, how many) or "0,0.5,2": growing times into *out (malloc). */
static int parse_times(const cli *c, const char *text, size_t *count, double **out)
{
    double low = 0, high = 0;
    unsigned long long points = 1;
    const bool range = strchr(text, ':') != NULL;
    bool good = !range || parse_range(text, &low, &high, &points);
    for (const char *p = text; *p && !range; p++) points += *p == ',';
    double *t = good ? calloc((size_t)points, sizeof *t) : NULL;
    if (good && !t) return cli_fail(c, SOCK_ENOMEM);
    if (good && !range) good = parse_list(text, (size_t)points, t) == points;
    for (size_t i = 0; good && range && i < points; i++)
        t[i] = i + 1 < points ? low + (high - low) * (double)i / (double)(points - 1) : high;
    for (size_t i = 1; good && i < points; i++) good = t[i] > t[i - 1];
    if (!good) {
        free(t);
        return cli_usage_error(c,
                               "--times is '%s'; allowed: FROM:TO:COUNT with TO > FROM and COUNT from 2 to 1e7, or "
                               "growing times with commas between",
                               text);
    }
    *count = (size_t)points;
    *out = t;
    return -1;
}

static int parse_count(const cli *c, const char *text, size_t *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 1 && value <= 1e9) || value != floor(value))
        return cli_usage_error(c, "--paths is '%s'; allowed: a whole number from 1 to 1e9", text);
    *out = (size_t)value;
    return -1;
}

/* 0 stands for automatic. */
static int parse_step(const cli *c, const char *text, double *out)
{
    char *end;
    *out = 0;
    if (!text || strcmp(text, "auto") == 0) return -1;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out > 0) || !isfinite(*out))
        return cli_usage_error(c, "--step is '%s'; allowed: a number > 0, or auto", text);
    return -1;
}

/* ---- Starts ---- */

static int starts_given(const cli *c, size_t d, const char *x0, const char *times, starts *s)
{
    size_t count = 0;
    double *t = NULL;
    int code = parse_times(c, times, &count, &t);
    if (code < 0) code = starts_new(c, 1, d, count, s);
    if (code < 0 && parse_list(x0, d, s->x0) != d)
        code = cli_usage_error(c, "--x0 is '%s'; allowed: %zu finite number%s%s", x0, d, d == 1 ? "" : "s",
                               d == 1 ? "" : " with commas between");
    if (code < 0) {
        memcpy(s->t, t, count * sizeof *t);
        s->times[0] = count;
    }
    free(t);
    return code;
}

static bool same_start(const starts *s, size_t i, const double *x0, size_t times, const double *t)
{
    return s->times[i] == times && memcmp(s->x0 + i * s->d, x0, s->d * sizeof *x0) == 0 &&
           memcmp(s->t + s->first[i], t, times * sizeof *t) == 0;
}

/* The distinct first points of the trajectories, each with the times of its trajectory, or all with the given ones. */
static int starts_from(const cli *c, const sock_data *data, const char *times, starts *s)
{
    size_t d = sock_data_dim(data), trajectories = sock_data_trajectories(data), given = 0, used = 0;
    double *own = NULL;
    int code = times ? parse_times(c, times, &given, &own) : -1;
    if (code < 0) code = starts_new(c, trajectories, d, times ? trajectories * given : sock_data_points(data), s);
    s->count = 0;
    for (size_t j = 0; code < 0 && j < trajectories; j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x), seen = 0;
        if (own) {
            length = given;
            t = own;
        }
        if (length < 2) continue; /* a single point: there is no time to go to */
        while (seen < s->count && !same_start(s, seen, x, length, t)) seen++;
        if (seen < s->count) continue;
        memcpy(s->x0 + s->count * d, x, d * sizeof *x);
        memcpy(s->t + used, t, length * sizeof *t);
        s->first[s->count] = used;
        s->times[s->count++] = length;
        used += length;
    }
    free(own);
    if (code < 0 && s->count == 0)
        code = cli_usage_error(c, "--from: every trajectory has a single point, which says no times; give --times");
    return code;
}

static int get_starts(const cli *c, const sock_model *model, const char *from, const char *x0, const char *times,
                      starts *s)
{
    if (x0) return starts_given(c, sock_model_dim(model), x0, times, s);
    sock_data *data = NULL;
    int code = model_data_read(c, model, from, &data);
    if (code < 0) code = starts_from(c, data, times, s);
    sock_data_free(data);
    return code;
}

/* ---- Simulation ---- */

static bool same_times(const starts *s, size_t i, size_t j)
{
    return s->times[i] == s->times[j] &&
           memcmp(s->t + s->first[i], s->t + s->first[j], s->times[i] * sizeof *s->t) == 0;
}

static void add_report(sock_simulation_report *sum, const sock_simulation_report *part)
{
    sum->paths += part->paths;
    sum->lost += part->lost;
    sum->seconds += part->seconds;
    sum->steps = part->steps > sum->steps ? part->steps : sum->steps;
    sum->step = part->step > sum->step ? part->step : sum->step;
}

/* Neighbouring starts with the same times go together; the number of a start is its place in the random stream. */
static sock_status simulate(const cli *c, const sock_model *model, const starts *s, sock_simulation *spec, paths *p)
{
    sock_status status = SOCK_OK, worst = SOCK_OK;
    double *out = p->x;
    for (size_t i = 0, next; i < s->count; i = next) {
        for (next = i + 1; next < s->count && same_times(s, i, next);) next++;
        sock_simulation_report report = {0};
        spec->starts = next - i;
        spec->x0 = s->x0 + i * s->d;
        spec->times = s->times[i];
        spec->t = s->t + s->first[i];
        spec->first_start = i;
        status = sock_simulate(c->ctx, model, spec, out, NULL, &report);
        if (status < 0) return status;
        if (status > 0) worst = status;
        add_report(&p->report, &report);
        out += spec->starts * p->each * spec->times * s->d;
    }
    return worst;
}

/* A number is held as simulated, and again as data or as a file in the making. */
static int check_size(const cli *c, const starts *s, size_t each)
{
    double numbers = 0;
    for (size_t i = 0; i < s->count; i++) numbers += (double)each * (double)s->times[i] * (double)(s->d + 2);
    return cli_check_memory(c, 24 * numbers, "the paths", "take fewer paths or times");
}

static int run_paths(const cli *c, const sock_model *model, const starts *s, double step, bool observed, paths *p)
{
    size_t d = s->d;
    int refused = check_size(c, s, p->each);
    if (refused >= 0) return refused;
    for (size_t i = 0; i < s->count; i++) p->points += p->each * s->times[i];
    sock_simulation spec = {.paths = p->each, .step = step, .observed = observed, .uncertain = p->uncertain};
    spec.seed = p->seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    double *bounds = calloc(2 * d, sizeof *bounds);
    p->x = calloc(p->points * d, sizeof *p->x);
    spec.lower = bounds;
    spec.upper = bounds + d;
    sock_status status = bounds && p->x ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_simulation_bounds(c->ctx, c->opts, d, &spec.bounds, bounds, bounds + d);
    if (status >= 0) status = simulate(c, model, s, &spec, p);
    free(bounds);
    if (status < 0) return cli_fail(c, status);
    if (p->report.lost)
        cli_usage_error(c, "warning: %zu of %zu paths left the finite numbers; each ends at its last finite point",
                        p->report.lost, p->report.paths);
    return -1;
}

/* ---- Output ---- */

/* Through a data set, so that the file is what the library writes and reads everywhere else. */
static int write_csv(const cli *c, const sock_model *model, const starts *s, const paths *p, const char *path)
{
    size_t trajectories = s->count * p->each, at = 0;
    const char **names = model_names(model);
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(p->points, sizeof *t);
    sock_data *data = NULL;
    sock_status status = names && length && t ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < trajectories; j++) {
        size_t start = j / p->each;
        length[j] = s->times[start];
        memcpy(t + at, s->t + s->first[start], length[j] * sizeof *t);
        at += length[j];
    }
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "grouping", "none");
    if (status >= 0)
        status = sock_options_set(c->ctx, c->opts, "missing", "none"); /* what reads data is not for paths */
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "every", "1");
    if (status >= 0)
        status = sock_data_from_arrays(c->ctx, s->d, trajectories, length, t, p->x, names, NULL, c->opts, &data);
    if (status >= 0) status = sock_data_write(c->ctx, data, path);
    sock_data_free(data);
    free(names), free(length), free(t);
    return status < 0 ? cli_fail(c, status) : -1;
}

/* NumPy's format 1.0: magic, version, length of the header, header padded to 64 bytes, the numbers. */
static int write_npy(const cli *c, const starts *s, const paths *p, const char *path)
{
    char header[192];
    int length = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu, %zu), }",
                          s->count * p->each, s->times[0], s->d);
    size_t whole = (10 + (size_t)length + 1 + 63) / 64 * 64, bytes = p->points * s->d * sizeof *p->x;
    char *file = malloc(whole + bytes);
    if (!file) return cli_fail(c, SOCK_ENOMEM);
    memset(file, ' ', whole);
    memcpy(file, "\x93NUMPY\x01", 8); /* with the 0 behind it: version 1.0 */
    file[8] = (char)((whole - 10) & 0xff);
    file[9] = (char)((whole - 10) >> 8);
    memcpy(file + 10, header, (size_t)length);
    file[whole - 1] = '\n';
    memcpy(file + whole, p->x, bytes);
    sock_status status = sock_write_file(c->ctx, path, file, whole + bytes);
    free(file);
    return status < 0 ? cli_fail(c, status) : -1;
}

static int write_paths(const cli *c, const sock_model *model, const starts *s, const paths *p, const char *path)
{
    return path_ends_in(path, ".npy") ? write_npy(c, s, p, path) : write_csv(c, model, s, p, path);
}

/* An array has one time axis, and does not say it. */
static int check_array(const cli *c, const starts *s, const char *path)
{
    for (size_t i = 1; i < s->count && path_ends_in(path, ".npy"); i++)
        if (!same_times(s, 0, i))
            return cli_usage_error(c,
                                   "%s: an array needs the same times for every start, and those of start %zu are "
                                   "others than those of start 1: give --times, or write a .csv",
                                   path, i + 1);
    return -1;
}

static int print_summary(const cli *c, const starts *s, const paths *p, const char *path)
{
    const sock_simulation_report *r = &p->report;
    size_t times = 0;
    for (size_t i = 0; i < s->count; i++) times = s->times[i] > times ? s->times[i] : times;
    if (c->json) {
        json_t *object =
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:b, s:f, s:s}", "starts", (json_int_t)s->count,
                      "paths", (json_int_t)p->each, "times", (json_int_t)times, "points", (json_int_t)p->points, "lost",
                      (json_int_t)r->lost, "steps", (json_int_t)r->steps, "step", r->step, "seed", (json_int_t)p->seed,
                      "uncertain", p->uncertain, "seconds", r->seconds, "output", path);
        char *text = object ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
        if (text) printf("%s\n", text);
        free(text);
        json_decref(object);
    } else {
        printf("starts       %zu, %zu paths each\n", s->count, p->each);
        printf("times        %zu%s, inner step at most %.6g\n", times, s->count > 1 ? " at most" : "", r->step);
        printf("lost         %zu of %zu paths\n", r->lost, r->paths);
        printf("time         %.3f s\n", r->seconds);
        printf("paths        %s\n", path);
    }
    return cli_finish_output(c);
}

static int check_usage(const cli *c, const char *from, const char *x0, const char *times, const char *output)
{
    if (!from == !x0) return cli_usage_error(c, "give the starts: either --from FILE or --x0 X,... with --times");
    if (x0 && !times) return cli_usage_error(c, "--x0 needs --times FROM:TO:COUNT");
    if (c->json && (!output || strcmp(output, "-") == 0))
        return cli_usage_error(c, "--json prints a summary: give the file for the paths with -o FILE");
    return -1;
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *from = NULL, *x0 = NULL, *times = NULL, *number = "1", *step_text = NULL;
    bool observed = false;
    paths p = {0};
    const cli_option own[] = {
        {"from", 0, &from, NULL, "FILE", "starts: the distinct first points of the trajectories of a data file"},
        {"x0", 0, &x0, NULL, "X,...", "one start, a number for each state"},
        {"times", 0, &times, NULL, "FROM:TO:COUNT", "output times, or a list with commas (default: those of the file)"},
        {"paths", 0, &number, NULL, "N", "paths for each start (default: 1)"},
        {"uncertain", 0, NULL, &p.uncertain, NULL, "each path by a model drawn from what the fit leaves open"},
        {"step", 0, &step_text, NULL, "H", "largest inner step (default: a tenth of the smallest gap)"},
        {"observed", 0, NULL, &observed, NULL, "add the model's measurement noise to what is written"},
        {"output", 'o', &output, NULL, "FILE", "CSV, or .npy for an array (default: CSV on standard output)"},
        {0}};
    cli c;
    sock_model *model = NULL;
    starts s = {0};
    double step = 0;
    int code = cli_begin(&c, &verb_simulate, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    if (code < 0) code = check_usage(&c, from, x0, times, output);
    if (code < 0) code = parse_count(&c, number, &p.each);
    if (code < 0) code = parse_step(&c, step_text, &step);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    if (observed && !sock_model_noise(model, NULL)) {
        code = cli_usage_error(&c, "--observed: %s knows of no measurement noise", c.operand[0]);
        goto out;
    }
    code = get_starts(&c, model, from, x0, times, &s);
    if (code < 0 && output) code = check_array(&c, &s, output);
    if (code < 0) code = run_paths(&c, model, &s, step, observed, &p);
    if (code < 0) code = write_paths(&c, model, &s, &p, output ? output : "-");
    if (code < 0) code = output && strcmp(output, "-") != 0 ? print_summary(&c, &s, &p, output) : cli_finish_output(&c);
out:
    free(p.x);
    starts_clear(&s);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_simulate = {
    "simulate",
    "simulate MODEL (--from FILE | --x0 X,... --times FROM:TO:COUNT) [-o FILE] [options]",
    "make paths of a model",
    "  sock simulate model.sock --from test.csv --paths 500 --step 0.001 --seed 7 -o "
    "paths.csv\n"
    "  sock simulate model.sock --x0 0.5 --times 0:1:101 --paths 20 -o paths.npy\n"
    "  sock simulate model.sock --x0 0.5 --times 0:1:11 --paths 100 --uncertain -o paths.csv",
    keys,
    run};
