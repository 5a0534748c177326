/* cmd_simulate.c - sock simulate: paths of a model from given starts.
 *
 * Output: a long CSV (traj, t, the states) that `sock fit` reads; path k of start s is trajectory s * paths + k, both
 * from 0, and a path that left the finite numbers ends at its last finite point. Inputs of the model stand behind the
 * states. With a name that ends in .npy: one
 * array (starts * paths, times, d), NaN after that point. */
#define _GNU_SOURCE
#include "inputvalues.h"
#include "modeldata.h"
#include "naturalunits.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"seed", "bounds",  "lower",     "upper", "id",   "time",  "state",  "group",
                                   "dt",   "missing", "time-unit", "log",   "wide", "every", "device", NULL};

/* Where paths begin, and when they are written out. Start s has times[s] of them, from t[first[s]] on. */
typedef struct starts {
    size_t count, d;
    double *x0; /* count x d */
    size_t *times, *first;
    double *t;
    size_t inputs;                     /* of the model */
    size_t *input_times, *input_first; /* of each start: what is known of the inputs, rows of the two below */
    double *input_t, *u;               /* times, and inputs of each */
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
    free(s->input_times);
    free(s->input_first);
    free(s->input_t);
    free(s->u);
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

/* Room for the inputs of all starts: rows of them in all. */
static int inputs_new(const cli *c, const sock_model *model, size_t rows, starts *s)
{
    s->inputs = sock_model_inputs(model);
    s->input_times = calloc(s->count + 1, sizeof *s->input_times);
    s->input_first = calloc(s->count + 1, sizeof *s->input_first);
    s->input_t = calloc(rows + 1, sizeof *s->input_t);
    s->u = calloc(rows * s->inputs + 1, sizeof *s->u);
    return s->input_times && s->input_first && s->input_t && s->u ? -1 : cli_fail(c, SOCK_ENOMEM);
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

static int refuse_times(const cli *c, const char *text)
{
    return cli_usage_error(c,
                           "--times is '%s'; allowed: FROM:TO:COUNT with TO > FROM and COUNT from 2 to 1e7, or "
                           "growing times with commas between",
                           text);
}

/* "0:1:101" (from, to, how many) or "0,0.5,2": growing times into *out (malloc). */
static int parse_times(const cli *c, const char *text, size_t *count, double **out)
{
    double low = 0, high = 0;
    unsigned long long points = 1;
    const bool range = strchr(text, ':') != NULL;
    for (const char *p = text; *p && !range; p++) points += *p == ',';
    if (range && !parse_range(text, &low, &high, &points)) return refuse_times(c, text);
    double *t = calloc((size_t)points, sizeof *t);
    if (!t) return cli_fail(c, SOCK_ENOMEM);
    bool good = range || parse_list(text, (size_t)points, t) == points;
    for (size_t i = 0; range && i < points; i++)
        t[i] = i + 1 < points ? low + (high - low) * (double)i / (double)(points - 1) : high;
    for (size_t i = 1; good && i < points; i++) good = t[i] > t[i - 1];
    if (!good) {
        free(t);
        return refuse_times(c, text);
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

/* Second order: starts of m positions become starts of positions and velocities, which are 0. */
static int add_velocities(const cli *c, const sock_model *model, starts *s)
{
    const size_t d = sock_model_dim(model), m = d / 2;
    double *wide = calloc(s->count * d + 1, sizeof *wide);
    if (!wide) return cli_fail(c, SOCK_ENOMEM);
    for (size_t i = 0; i < s->count; i++) memcpy(wide + i * d, s->x0 + i * m, m * sizeof *wide);
    free(s->x0);
    s->x0 = wide;
    s->d = d;
    cli_note(c, "the model is of order 2 and the starts have no velocities: they begin at rest");
    return -1;
}

static bool is_second(const sock_model *model) { return sock_model_order(model) == 2; }

/* Numbers of a start as it was given: with velocities or without. */
static size_t width_of(const sock_model *model, const char *x0)
{
    const size_t d = sock_model_dim(model);
    size_t given = 1;
    for (const char *p = x0; *p; p++) given += *p == ',';
    return is_second(model) && given == d / 2 ? given : d;
}

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

/* The distinct first points of the trajectories, each with the times of its trajectory, or all with the given ones.
 * from: NULL, or where the trajectory of each start goes; then all of them are starts, since their inputs differ. */
static int starts_from(const cli *c, const sock_data *data, const char *times, size_t *from, starts *s)
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
        while (seen < s->count && (from || !same_start(s, seen, x, length, t))) seen++;
        if (seen < s->count) continue;
        if (from) from[s->count] = j;
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

/* One value for all times and starts; the clock is that of the times. */
static int inputs_given(const cli *c, const sock_model *model, const input_values *given, starts *s)
{
    int code = inputs_new(c, model, s->count, s);
    for (size_t i = 0; code < 0 && i < s->count; i++) {
        s->input_times[i] = 1;
        s->input_first[i] = i;
        s->input_t[i] = s->t[s->first[i]];
        for (size_t k = 0; k < s->inputs; k++) {
            const bool time = strcmp(sock_model_input_hold(model, k), "time") == 0;
            s->u[i * s->inputs + k] = time ? s->input_t[i] : given->value[k];
        }
    }
    return code;
}

/* Start i gets the inputs of trajectory from[i] of the data, which have them in the model's order; where one was given
 * by its value, that. */
static int inputs_from(const cli *c, const sock_model *model, const sock_data *data, const size_t *from,
                       const input_values *given, starts *s)
{
    size_t rows = 0, at = 0;
    const double *t;
    for (size_t i = 0; i < s->count; i++) rows += sock_data_trajectory(data, from[i], NULL, NULL);
    int code = inputs_new(c, model, rows, s);
    const size_t m = s->inputs;
    for (size_t i = 0; code < 0 && i < s->count; i++) {
        const size_t length = sock_data_trajectory(data, from[i], &t, NULL);
        const double *u = sock_data_input(data, from[i]);
        s->input_times[i] = length;
        s->input_first[i] = at;
        memcpy(s->input_t + at, t, length * sizeof *t);
        for (size_t k = 0; k < length * m; k++)
            s->u[at * m + k] = isnan(given->value[k % m]) ? u[k] : given->value[k % m];
        at += length;
    }
    return code;
}

/* The rows of a table of inputs, whose columns are states of the data; once more for each start. */
static int inputs_of_table(const cli *c, const sock_model *model, const sock_data *data, const input_values *given,
                           starts *s)
{
    const double *t, *x;
    const size_t length = sock_data_trajectory(data, 0, &t, &x), columns = sock_data_dim(data);
    int code = inputs_new(c, model, s->count * length, s);
    for (size_t i = 0; code < 0 && i < s->count * length; i++) {
        s->input_times[i / length] = length;
        s->input_first[i / length] = i / length * length;
        s->input_t[i] = t[i % length];
        for (size_t k = 0; k < s->inputs; k++) { /* the time is the last, and no column */
            const double value = k < columns ? x[i % length * columns + k] : t[i % length];
            s->u[i * s->inputs + k] = isnan(given->value[k]) ? value : given->value[k];
        }
    }
    return code;
}

/* A file with the time and the inputs: all starts get those of its only trajectory. */
static int inputs_table(const cli *c, const sock_model *model, const char *path, const input_values *given, starts *s)
{
    sock_data *data = NULL;
    int code = model_inputs_read(c, model, path, &data);
    if (code < 0 && sock_data_trajectories(data) != 1)
        code = cli_usage_error(c, "--inputs: %s holds %zu trajectories; allowed: one, which all starts get", path,
                               sock_data_trajectories(data));
    if (code < 0) code = inputs_of_table(c, model, data, given, s);
    sock_data_free(data);
    return code;
}

/* Where paths begin and what their inputs are; text: of the options. */
typedef struct wishes {
    const char *from, *x0, *times, *inputs, *values;
} wishes;

static bool only_time(const sock_model *model)
{
    return sock_model_inputs(model) == 1 && strcmp(sock_model_input_hold(model, 0), "time") == 0;
}

static int starts_of_file(const cli *c, const sock_model *model, const wishes *w, const input_values *given, starts *s)
{
    sock_data *data = NULL;
    size_t *from = NULL;
    const bool own = sock_model_inputs(model) && !w->inputs && given->given < given->count;
    int code = is_second(model) && model_velocities_read(c, model, w->from, &data)
                   ? -1
                   : (own ? model_data_read : model_states_read)(c, model, w->from, &data);
    if (code < 0 && own && !(from = calloc(sock_data_trajectories(data) + 1, sizeof *from)))
        code = cli_fail(c, SOCK_ENOMEM);
    const sock_status held = code < 0 ? sock_model_holds(c->ctx, model, data, c->opts) : SOCK_OK;
    if (held < 0) code = cli_fail(c, held);
    if (code < 0) code = starts_from(c, data, w->times, from, s);
    if (code < 0 && own) code = inputs_from(c, model, data, from, given, s);
    sock_data_free(data);
    free(from);
    return code;
}

/* Of a model whose times were dates, numbers need a unit. */
static void tell_unit(const cli *c, const sock_model *model, const wishes *w)
{
    char unit[UNIT_ROOM];
    if (w->times && *model_unit_words(c, model, unit))
        cli_note(c, "--times are%s since 1970-01-01, as those of the fit were dates", unit + strlen(", time"));
}

/* --x0 of states that are logarithms: taken in x itself, or a word about it. */
static int take_natural(const cli *c, const sock_model *model, const natural_units *natural, const starts *s)
{
    if (natural->name) return natural_points(c, natural, "--x0", s->count, s->x0);
    for (size_t k = 0; k < sock_model_dim(model); k++)
        if (strncmp(sock_model_name(model, k), "log(", 4) == 0) {
            cli_note(c, "--x0 is of %s, a logarithm; --natural takes and writes it in the units of the data",
                     sock_model_name(model, k));
            break;
        }
    return -1;
}

static int get_starts(const cli *c, const sock_model *model, const wishes *w, starts *s)
{
    input_values given = {0};
    int code = input_values_read(c, model, w->values, &given);
    if (code < 0 && w->inputs && !sock_model_inputs(model)) code = cli_usage_error(c, "--inputs: the model has none");
    if (code < 0 && w->x0 && !w->inputs)
        code = input_values_check(c, model, &given, false, "give --input-value NAME=NUMBER,... or --inputs FILE");
    if (code < 0)
        code = w->x0 ? starts_given(c, width_of(model, w->x0), w->x0, w->times, s)
                     : starts_of_file(c, model, w, &given, s);
    if (code < 0 && s->d < sock_model_dim(model)) code = add_velocities(c, model, s);
    if (code < 0 && w->inputs) code = inputs_table(c, model, w->inputs, &given, s);
    const bool constant = given.given == given.count || (w->x0 && only_time(model));
    if (code < 0 && !s->u && sock_model_inputs(model) && (w->x0 || constant)) code = inputs_given(c, model, &given, s);
    input_values_clear(&given);
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
        for (next = i + 1; next < s->count && !s->inputs && same_times(s, i, next);) next++;
        sock_simulation_report report = {0};
        spec->starts = next - i;
        spec->x0 = s->x0 + i * s->d;
        spec->times = s->times[i];
        spec->t = s->t + s->first[i];
        spec->first_start = i;
        if (s->inputs) {
            spec->input_times = s->input_times[i];
            spec->input_t = s->input_t + s->input_first[i];
            spec->u = s->u + s->input_first[i] * s->inputs;
        }
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
    return cli_check_memory(c, 24 * numbers, "the table of paths", "take fewer paths or times");
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

/* Positions alone, of paths of second order. */
static void leave_velocities(starts *s, const paths *p)
{
    const size_t d = s->d, m = d / 2;
    for (size_t i = 0; i < p->points; i++) memmove(p->x + i * m, p->x + i * d, m * sizeof *p->x);
    s->d = m;
}

/* ---- Output ---- */

/* States of a path's points, and behind them the inputs less the time: rows of `width` numbers. */
static void put_columns(const sock_model *model, const starts *s, const paths *p, size_t width, double *out)
{
    double u[64];
    const double *x = p->x;
    for (size_t j = 0; j < s->count * p->each; j++) {
        const size_t start = j / p->each;
        for (size_t i = 0; i < s->times[start]; i++, x += s->d, out += width) {
            memcpy(out, x, s->d * sizeof *out);
            if (width == s->d) continue;
            sock_model_inputs_at(model, s->input_times[start], s->input_t + s->input_first[start],
                                 s->u + s->input_first[start] * s->inputs, s->t[s->first[start] + i], u);
            memcpy(out + s->d, u, (width - s->d) * sizeof *out);
        }
    }
}

/* Columns that are written: the time has one already. */
static size_t columns_of(const sock_model *model, const starts *s)
{
    size_t m = s->inputs;
    if (m && strcmp(sock_model_input_hold(model, m - 1), "time") == 0) m--;
    return s->d + (m <= 64 ? m : 0);
}

/* Through a data set, so that the file is what the library writes and reads everywhere else. */
static int write_csv(const cli *c, const sock_model *model, const starts *s, const paths *p,
                     const natural_units *natural, const char *path)
{
    const size_t trajectories = s->count * p->each, width = columns_of(model, s);
    char unit[UNIT_ROOM];
    model_unit(c, model, unit);
    size_t at = 0;
    const char **names = calloc(width, sizeof *names);
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(p->points, sizeof *t), *x = calloc(p->points * width, sizeof *x);
    sock_data *data = NULL;
    sock_status status = names && length && t && x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < width; k++)
        names[k] = k >= s->d       ? sock_model_input_name(model, k - s->d)
                   : natural->name ? natural->name[k]
                                   : sock_model_name(model, k);
    for (size_t j = 0; status >= 0 && j < trajectories; j++) {
        size_t start = j / p->each;
        length[j] = s->times[start];
        memcpy(t + at, s->t + s->first[start], length[j] * sizeof *t);
        at += length[j];
    }
    if (status >= 0) put_columns(model, s, p, width, x);
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "grouping", "none");
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "input", "none");
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "time-dependent", "no");
    if (status >= 0)
        status = sock_options_set(c->ctx, c->opts, "missing", "none"); /* what reads data is not for paths */
    if (status >= 0) status = sock_options_set(c->ctx, c->opts, "every", "1");
    if (status >= 0)
        status = sock_data_from_arrays(c->ctx, width, trajectories, length, t, x, names, NULL, c->opts, &data);
    if (status >= 0 && *unit) status = sock_data_set_time_unit(c->ctx, data, unit);
    if (status >= 0) status = sock_data_write(c->ctx, data, path);
    sock_data_free(data);
    free((void *)names), free(length), free(t), free(x);
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

static int write_paths(const cli *c, const sock_model *model, const starts *s, const paths *p,
                       const natural_units *natural, const char *path)
{
    for (size_t i = 0; natural->name && i < p->points * s->d; i++)
        if (natural->logged[i % s->d]) p->x[i] = exp(p->x[i]);
    return path_ends_in(path, ".npy") ? write_npy(c, s, p, path) : write_csv(c, model, s, p, natural, path);
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
    const char *output = NULL, *number = "1", *step_text = NULL;
    wishes w = {0};
    bool observed = false, velocities = false, is_natural = false;
    natural_units natural = {0};
    paths p = {0};
    const cli_option own[] = {
        {"from", 0, &w.from, NULL, "FILE",
         "starts: the distinct first points of the trajectories of a data file, and the model's inputs"},
        {"x0", 0, &w.x0, NULL, "X,...", "one start, a number for each state"},
        {"times", 0, &w.times, NULL, "FROM:TO:COUNT",
         "output times, or a list with commas (default: those of the file)"},
        {"inputs", 0, &w.inputs, NULL, "FILE",
         "inputs of the model: a CSV with the time and their columns, for all starts"},
        {"input-value", 0, &w.values, NULL, "NAME=NUMBER,...", "inputs of the model that stay as they are"},
        {"natural", 0, NULL, &is_natural, NULL, "--x0 and paths of x itself where a state is log(x)"},
        {"paths", 0, &number, NULL, "N", "paths for each start (default: 1)"},
        {"uncertain", 0, NULL, &p.uncertain, NULL, "each path by a model drawn from what the fit leaves open"},
        {"step", 0, &step_text, NULL, "H",
         "largest inner step (default: a tenth of the smallest gap, and of the time in which f changes)"},
        {"observed", 0, NULL, &observed, NULL, "add the model's measurement noise to what is written"},
        {"velocities", 0, NULL, &velocities, NULL, "of a model of order 2: write its velocities too"},
        {"output", 'o', &output, NULL, "FILE", "CSV, or .npy for an array (default: CSV on standard output)"},
        {0}};
    cli c;
    sock_model *model = NULL;
    starts s = {0};
    double step = 0;
    int code = cli_begin(&c, &verb_simulate, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    if (code < 0) code = check_usage(&c, w.from, w.x0, w.times, output);
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
    if (velocities && !is_second(model)) {
        code = cli_usage_error(&c, "--velocities: %s is of order 1, all of its states are written", c.operand[0]);
        goto out;
    }
    code = is_natural ? natural_units_of(&c, model, &natural) : -1;
    if (code < 0) code = get_starts(&c, model, &w, &s);
    if (code < 0 && w.x0) code = take_natural(&c, model, &natural, &s);
    if (code < 0) tell_unit(&c, model, &w);
    if (code < 0 && output) code = check_array(&c, &s, output);
    if (code < 0) code = run_paths(&c, model, &s, step, observed, &p);
    if (code < 0 && is_second(model) && !velocities) leave_velocities(&s, &p);
    if (code < 0) code = write_paths(&c, model, &s, &p, &natural, output ? output : "-");
    if (code < 0) code = output && strcmp(output, "-") != 0 ? print_summary(&c, &s, &p, output) : cli_finish_output(&c);
out:
    free(p.x);
    natural_units_clear(&natural);
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
