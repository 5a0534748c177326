/* coverage.c - do the bands hold what they say? Data sets x seeds, the default fit on each, and the share of points of
 * new paths at which the true fields lie inside the bands of 90 %. A row is kept as soon as it is known; with a file of
 * rows, only those that are not there are computed. */
#include "api/record.h"
#include "experiments/checkdata.h"
#include "experiments/experiments.h"
#include "experiments/resultrows.h"
#include "systems/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const double LEVEL = 0.9, NORMAL = 1.6448536269514722;

/* The goals: the mean over all sets for f and a, each set at least, and the coefficients over all. The study is judged
 * by them as they are; the quick form, a test of the program on few sets, leaves two standard errors. */
static const double LEAST = 0.86, MOST = 0.95, EACH = 0.8, COEFFICIENTS = 0.85;

enum { POINTS = 60, SEEDS = 40, TERMS = 3 };

typedef struct term {
    const char *name;
    double value;
} term;

/* system: where the name is another; paths: of the training data, 0: all; terms: the true drift, or the true force,
 * where it is a polynomial; scene: a model of checkdata.h, seen with noise or at long steps, instead of a system;
 * second: a scene of second order by its name; plain: kernels of f and a for the plain estimator, in place of the
 * search. */
typedef struct cover_set {
    const char *name, *system, *second, *plain[2];
    size_t paths;
    term terms[TERMS];
    const check_scene *scene;
} cover_set;

static const cover_set sets[] = {
    {.name = "expdyn"},
    {.name = "gbm", .paths = 10, .terms = {{"x", 1}}},
    {.name = "ou", .paths = 10, .terms = {{"x", -1}}},
    {.name = "doublewell", .paths = 10, .terms = {{"x", 1}, {"x^3", -1}}},
    {.name = "ou-noise", .terms = {{"x", -1}}, .scene = &cover_scenes[0]},
    {.name = "doublewell-noise", .terms = {{"x", 1}, {"x^3", -1}}, .scene = &cover_scenes[1]},
    {.name = "ou-long", .terms = {{"x", -1}}, .scene = &cover_scenes[2]},
    {.name = "doublewell-long", .terms = {{"x", 1}, {"x^3", -1}}, .scene = &cover_scenes[3]},
    {.name = "plain-ou", .system = "ou", .paths = 10, .plain = {"affine", "constant"}},
    {.name = "plain-gbm", .system = "gbm", .paths = 10, .plain = {"linear", "linear"}},
    {.name = "plain-doublewell", .system = "doublewell", .paths = 10, .plain = {"poly:degree=3", "affine"}},
    {.name = "plain-gauss", .system = "doublewell", .paths = 10, .plain = {"gauss", "gauss"}},
    {.name = "harmonic", .second = "harmonic", .terms = {{"x", -1}, {"v_x", -0.5}}},
    {.name = "duffing", .second = "duffing", .terms = {{"x", 1}, {"x^3", -1}, {"v_x", -0.7}}},
    {.name = "vanderpol", .second = "vanderpol", .terms = {{"x", -1}, {"v_x", 2}, {"x^2*v_x", -2}}},
    {.name = "harmonic-noise", .second = "harmonic-noise", .terms = {{"x", -1}, {"v_x", -0.5}}},
    {.name = "duffing-noise", .second = "duffing-noise", .terms = {{"x", 1}, {"x^3", -1}, {"v_x", -0.7}}},
    {.name = "forced", .paths = 20, .terms = {{"x", 1}, {"x^3", -1}, {"u", 1}}},
    {.name = "cir", .paths = 20, .terms = {{"1", 1}, {"x", -1}}},
};
static const char *const set_names[] = {"expdyn",
                                        "gbm",
                                        "ou",
                                        "doublewell",
                                        "ou-noise",
                                        "doublewell-noise",
                                        "ou-long",
                                        "doublewell-long",
                                        "plain-ou",
                                        "plain-gbm",
                                        "plain-doublewell",
                                        "plain-gauss",
                                        "harmonic",
                                        "duffing",
                                        "vanderpol",
                                        "harmonic-noise",
                                        "duffing-noise",
                                        "forced",
                                        "cir",
                                        NULL};
enum { CLEAN = 4 }; /* the first so many sets are those that the goals are about */

static const char *const columns[] = {"set",   "seed",    "f",       "a",       "sigma", "whole", "coefficients",
                                      "terms", "width_f", "width_a", "seconds", "drift", "law",   "status"};
enum { SET, SEED, F, A, SIGMA, WHOLE, COEFFICIENT, SHOWN, WIDTH_F, WIDTH_A, SECONDS, DRIFT, LAW, STATUS };

typedef struct cover {
    sock_context *ctx;
    const cover_set *set;
    uint64_t seed;
    sys_instance *instance;
    check_time now;    /* of a scene: of its fields */
    sys_system both;   /* of second order: with its velocities among the states, */
    sock_data *states; /* of which these are the training data; NULL: train has all states */
    sock_model *truth, *model;
    sock_data *train, *test;
    size_t d,
        first; /* of the states the first whose fields are asked: behind positions, whose velocities are certain */
    double *x, *low;   /* POINTS x d; d: the middle of the training data, low and high */
    size_t at[POINTS]; /* the points by their numbers in the test data */
} cover;

static double wall_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Data ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All points of a data set, one behind the other (malloc). */
static double *all_points(const sock_data *data, size_t *count)
{
    const size_t d = sock_data_dim(data);
    double *out = malloc((sock_data_points(data) * d + 1) * sizeof *out);
    *count = 0;
    for (size_t j = 0; out && j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(data, j, &t, &x);
        memcpy(out + *count * d, x, length * d * sizeof *x);
        *count += length;
    }
    return out;
}

/* Points of the test paths, evenly taken; and where the middle 95 % of each state of the training data end. */
static sock_status choose_points(cover *c)
{
    const size_t d = c->d;
    size_t n = 0, m = 0;
    double *test = all_points(c->test, &n), *train = all_points(c->states ? c->states : c->train, &m);
    double *one = malloc((m + 1) * sizeof *one);
    c->x = calloc(POINTS * d, sizeof *c->x);
    c->low = calloc(2 * d, sizeof *c->low);
    const int good = test && train && one && c->x && c->low && n && m;
    for (size_t i = 0; good && i < POINTS; i++) {
        c->at[i] = i * n / POINTS;
        memcpy(c->x + i * d, test + c->at[i] * d, d * sizeof *test);
    }
    for (size_t k = 0; good && k < d; k++) {
        for (size_t i = 0; i < m; i++) one[i] = train[i * d + k];
        qsort(one, m, sizeof *one, ascending);
        c->low[k] = one[m / 40];
        c->low[d + k] = one[m - 1 - m / 40];
    }
    free(test), free(train), free(one);
    return good ? SOCK_OK : SOCK_ENOMEM;
}

/* The points of another seed stand for new paths; noise on them is of no matter. */
static sock_status make_scene(cover *c)
{
    const check_scene *s = c->set->scene;
    c->now = (check_time){s, 0};
    sock_status status = sock_model_wrap(c->ctx, 1, NULL, s->drift, s->diffusion, &c->now, &c->truth);
    if (status >= 0) status = check_data(c->ctx, s, c->seed, &c->train);
    if (status >= 0) status = check_data(c->ctx, s, c->seed + 1000000, &c->test);
    return status;
}

static sock_status make_system(cover *c)
{
    sock_status status =
        sys_new(c->ctx, sys_find(c->set->system ? c->set->system : c->set->name), c->seed, &c->instance);
    if (status >= 0 && c->set->paths) c->instance->trajectories[SYS_TRAIN] = c->set->paths;
    if (status >= 0) status = sys_truth(c->ctx, c->instance, &c->truth);
    if (status >= 0) status = sys_generate(c->ctx, c->instance, SYS_TRAIN, &c->train);
    if (status >= 0) status = sys_generate(c->ctx, c->instance, SYS_TEST, &c->test);
    return status;
}

/* Positions to fit; velocities too where bands are compared with the truth. */
static sock_status make_second(cover *c)
{
    const check_scene *s = check_find(c->set->second);
    sock_status status = check_data(c->ctx, s, c->seed, &c->train);
    if (status >= 0) status = check_truth(c->ctx, s, c->seed, &c->now, &c->instance, &c->truth);
    if (status < 0) return status;
    c->both = *c->instance->system;
    c->both.order = 0;
    c->instance->system = &c->both;
    status = sys_generate(c->ctx, c->instance, SYS_TRAIN, &c->states);
    return status < 0 ? status : sys_generate(c->ctx, c->instance, SYS_TEST, &c->test);
}

static sock_status make_data(cover *c)
{
    const sock_status status = c->set->second ? make_second(c) : c->set->scene ? make_scene(c) : make_system(c);
    if (status < 0) return status;
    c->d = sock_data_dim(c->test);
    c->first = c->set->second ? c->d / 2 : 0;
    return choose_points(c);
}

static void free_all(cover *c)
{
    sock_data_free(c->train), sock_data_free(c->test), sock_data_free(c->states);
    sock_model_free(c->truth), sock_model_free(c->model);
    sys_free(c->instance);
    free(c->x), free(c->low);
}

/* ---- Coverage ---- */

/* Bands and truth of one field: stride d of f, d^2 of a and sigma, of which the diagonal is looked at, from one place
 * on. */
typedef struct ends {
    double *low, *high, *truth;
    size_t each, first, step;
} ends;

static int ends_new(size_t each, size_t first, size_t step, ends *e)
{
    *e = (ends){calloc(POINTS * each, sizeof(double)),
                calloc(POINTS * each, sizeof(double)),
                calloc(POINTS * each, sizeof(double)),
                each,
                first * step,
                step};
    return e->low && e->high && e->truth;
}

static void ends_clear(ends *e) { free(e->low), free(e->high), free(e->truth); }

/* Rounding does not decide where a field is zero. */
static int is_inside(const ends *e, size_t i)
{
    const double room = 1e-12;
    return e->truth[i] >= e->low[i] - room && e->truth[i] <= e->high[i] + room;
}

static double share_inside(const ends *e)
{
    size_t inside = 0, count = 0;
    for (size_t i = 0; i < POINTS * e->each; i++) {
        if (i % e->each < e->first || (i % e->each - e->first) % e->step) continue;
        inside += (size_t)is_inside(e, i);
        count++;
    }
    return (double)inside / (double)count;
}

/* 1 where all of f is inside at all points in the middle of the data. */
static double holds_whole(const cover *c, const ends *e)
{
    for (size_t i = 0; i < POINTS; i++) {
        int middle = 1;
        for (size_t k = 0; k < c->d; k++)
            middle = middle && c->x[i * c->d + k] >= c->low[k] && c->x[i * c->d + k] <= c->low[c->d + k];
        for (size_t k = c->first; middle && k < c->d; k++)
            if (!is_inside(e, i * c->d + k)) return 0;
    }
    return 1;
}

/* Median half width: in units of the root mean square of the truth, or of the logarithm. */
static double half_width(const ends *e, int logarithm)
{
    double width[POINTS], square = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const size_t at = i * e->each + e->first;
        square += e->truth[at] * e->truth[at] / POINTS;
        width[i] = logarithm ? log(e->high[at] / e->low[at]) / 2 : (e->high[at] - e->low[at]) / 2;
    }
    return exp_quantile(POINTS, width, 0.5) / (logarithm ? 1 : sqrt(square));
}

static void set_cell(json_t *row, size_t column, double value)
{
    json_array_set_new(row, column, isfinite(value) ? json_real(value) : json_null());
}

/* Inputs of a model at the points (malloc; of one without inputs there is nothing in it). */
static double *inputs_of(const cover *c, const sock_model *model)
{
    const size_t wanted = sock_model_inputs(model), m = sock_data_inputs(c->test);
    double *u = calloc(POINTS * wanted + 1, sizeof *u);
    for (size_t j = 0, i = 0, from = 0; u && wanted && j < sock_data_trajectories(c->test); j++) {
        const double *t, *x, *all = sock_data_input(c->test, j);
        const size_t length = sock_data_trajectory(c->test, j, &t, &x);
        for (; i < POINTS && c->at[i] < from + length; i++)
            for (size_t k = 0; k < wanted; k++)
                for (size_t l = 0; l < m; l++)
                    if (strcmp(sock_model_input_name(model, k), sock_data_input_name(c->test, l)) == 0)
                        u[i * wanted + k] = all[(c->at[i] - from) * m + l];
        from += length;
    }
    return u;
}

static sock_status bands_of(const cover *c, const sock_bands *out)
{
    double *u = inputs_of(c, c->model);
    const sock_status status = u ? sock_model_bands_at(c->ctx, c->model, POINTS, c->x, u, LEVEL, out) : SOCK_ENOMEM;
    free(u);
    return status;
}

static sock_status true_fields(const cover *c, const ends *f, const ends *a, const ends *s)
{
    double *u = inputs_of(c, c->truth);
    sock_status status =
        u ? sock_model_evaluate_at(c->ctx, c->truth, POINTS, c->x, u, f->truth, a->truth) : SOCK_ENOMEM;
    if (status >= 0) status = sock_model_sigma_at(c->ctx, c->truth, POINTS, c->x, u, s->truth);
    free(u);
    return status;
}

static sock_status cover_fields(const cover *c, ends *f, ends *a, ends *s, json_t *row)
{
    sock_bands out = {f->low, f->high, a->low, a->high, s->low, s->high, NULL, 0};
    sock_status status = bands_of(c, &out);
    if (status >= 0) status = true_fields(c, f, a, s);
    if (status < 0) return status;
    set_cell(row, F, share_inside(f));
    set_cell(row, A, share_inside(a));
    set_cell(row, SIGMA, share_inside(s));
    set_cell(row, WIDTH_F, half_width(f, 0));
    set_cell(row, WIDTH_A, half_width(a, 1));
    out = (sock_bands){.f_low = f->low, .f_high = f->high, .simultaneous = 1};
    status = bands_of(c, &out);
    if (status >= 0) set_cell(row, WHOLE, holds_whole(c, f));
    return status;
}

/* ---- Coefficients ---- */

/* The next term of "dx/dt = 1.5 - 0.2*x^2 + ...": its coefficient and name; NULL behind the last. */
static const char *next_term(const char *text, double *value, char name[32])
{
    char *end;
    double sign = 1;
    if (strncmp(text, " + ", 3) == 0) text += 3;
    if (strncmp(text, " - ", 3) == 0) {
        sign = -1;
        text += 3;
    }
    *value = sign * strtod(text, &end);
    if (end == text) return NULL;
    const size_t length = *end == '*' ? strcspn(end + 1, " ") : 0;
    snprintf(name, 32, "%.*s", length ? (int)(length < 31 ? length : 31) : 1, length ? end + 1 : "1");
    return end + (length ? length + 1 : 0);
}

static double true_value(const cover_set *set, const char *name)
{
    for (size_t i = 0; i < TERMS && set->terms[i].name; i++)
        if (strcmp(set->terms[i].name, name) == 0) return set->terms[i].value;
    return 0;
}

/* Share of the coefficients shown that are within their errors of the truth; of second order those of the force. */
static void cover_terms(const cover *c, const sk_record *record, json_t *row)
{
    const size_t own = c->first, lines = own + 1;
    const char *text = record->equation.count == lines ? strstr(record->equation.text[own], " = ") : NULL;
    size_t inside = 0, shown = 0;
    if (!text || !c->set->terms[0].name || record->errors.count != lines) return;
    text += 3;
    for (double value; shown < record->errors.list[own].count; shown++) {
        char name[32];
        text = next_term(text, &value, name);
        if (!text) break;
        inside += fabs(value - true_value(c->set, name)) <= NORMAL * record->errors.list[own].value[shown];
    }
    if (shown) set_cell(row, COEFFICIENT, (double)inside / (double)shown);
    json_array_set_new(row, SHOWN, json_integer((json_int_t)shown));
}

/* ---- One row ---- */

static sock_status describe(const cover *c, json_t *row)
{
    sk_record record;
    const sock_status status = sk_record_of_model(c->ctx, c->model, &record);
    const sk_part *drift = sk_record_drift(&record);
    if (status >= 0) cover_terms(c, &record, row);
    if (drift) json_array_set_new(row, DRIFT, json_string(drift->kernel));
    const sk_noise_told *noise = &record.found.noise;
    json_array_set_new(row, LAW, json_string(noise->used ? "noise" : noise->substeps > 1 ? "long steps" : "step"));
    sk_record_clear(&record);
    return status;
}

static sock_status fit(cover *c)
{
    const cover_set *set = c->set;
    const char *const said[][2] = {{"tune", set->plain[0] ? "no" : NULL},
                                   {"drift", set->plain[0]},
                                   {"diffusion", set->plain[1]},
                                   {"order", set->second ? "2" : NULL}};
    sock_options *opts = sock_options_new(c->ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < COUNT(said); i++)
        if (said[i][1]) status = sock_options_set(c->ctx, opts, said[i][0], said[i][1]);
    if (status >= 0) status = sock_fit(c->ctx, c->train, opts, &c->model);
    sock_options_free(opts);
    return status;
}

static sock_status run_row(cover *c, json_t *row)
{
    const size_t d2 = c->d * c->d;
    const double begun = wall_seconds();
    ends f = {0}, a = {0}, s = {0};
    sock_status status = fit(c);
    set_cell(row, SECONDS, wall_seconds() - begun);
    json_array_set_new(row, STATUS, json_string(sock_status_name(status)));
    if (status == SOCK_ENUMERIC || status == SOCK_EINPUT) return SOCK_OK;
    if (status >= 0) status = describe(c, row);
    if (status >= 0 && !(ends_new(c->d, c->first, 1, &f) & ends_new(d2, c->first, c->d + 1, &a) &
                         ends_new(d2, c->first, c->d + 1, &s)))
        status = SOCK_ENOMEM;
    if (status >= 0) status = cover_fields(c, &f, &a, &s, row);
    ends_clear(&f), ends_clear(&a), ends_clear(&s);
    return status;
}

static json_t *find_row(const json_t *rows, const char *set, uint64_t seed)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(exp_text_at(row, SET), set) == 0 && exp_number_at(row, SEED) == (double)seed) return row;
    }
    return NULL;
}

static void say_row(const exp_settings *settings, const json_t *row)
{
    char line[300];
    snprintf(line, sizeof line, "%-10s seed %-5.0f f %.2f  a %.2f  sigma %.2f  whole curve %.0f  %.2f s  %s",
             exp_text_at(row, SET), exp_number_at(row, SEED), exp_number_at(row, F), exp_number_at(row, A),
             exp_number_at(row, SIGMA), exp_number_at(row, WHOLE), exp_number_at(row, SECONDS),
             exp_text_at(row, DRIFT));
    if (settings->say) settings->say(settings->user, line);
}

static sock_status run_seed(sock_context *ctx, const exp_settings *settings, const cover_set *set, uint64_t seed,
                            json_t *names, json_t *rows)
{
    cover c = {.ctx = ctx, .set = set, .seed = seed};
    json_t *row = json_array();
    for (size_t i = 0; i < COUNT(columns); i++) json_array_append_new(row, json_null());
    json_array_set_new(row, SET, json_string(set->name));
    json_array_set_new(row, SEED, json_integer((json_int_t)seed));
    sock_status status = make_data(&c);
    if (status >= 0) status = run_row(&c, row);
    if (status >= 0) say_row(settings, row);
    if (status >= 0) json_array_append(rows, row);
    if (status >= 0 && settings->output) status = exp_rows_write(ctx, settings->output, names, rows);
    json_decref(row);
    free_all(&c);
    return status < 0 ? status : SOCK_OK;
}

/* ---- Means, and what they must be ---- */

static int is_clean(const char *set)
{
    for (size_t i = 0; i < CLEAN; i++)
        if (strcmp(sets[i].name, set) == 0) return 1;
    return 0;
}

/* Mean of a column over the rows of a set (NULL: of all clean ones) and its standard error; answers how many. weights:
 * of the rows, or -1. */
static size_t mean_of(const json_t *rows, const char *set, size_t column, int weights, double *mean, double *error)
{
    double sum = 0, squares = 0, all = 0;
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const double value = exp_number_at(row, column), weight = weights < 0 ? 1 : exp_number_at(row, (size_t)weights);
        const char *own = exp_text_at(row, SET);
        if ((set ? strcmp(own, set) != 0 : !is_clean(own)) || isnan(value)) continue;
        sum += weight * value;
        squares += weight * value * value;
        all += weight;
        count++;
    }
    *mean = sum / all;
    *error = count > 1 ? sqrt(fmax(squares / all - *mean * *mean, 0) / (double)(count - 1)) : (double)NAN;
    return count;
}

static void complain(json_t *failures, const char *what, const char *set, double value, double error, double goal)
{
    char line[160];
    snprintf(line, sizeof line, "%s: %s in %.3f (standard error %.3f) of the cases, goal %.2f", set, what, value, error,
             goal);
    json_array_append_new(failures, json_string(line));
}

/* Means over sets: each set counts alike. */
static void judge_field(const json_t *rows, size_t column, const char *what, double room, json_t *failures)
{
    double sum = 0, squares = 0, mean, error;
    size_t count = 0;
    for (size_t i = 0; i < CLEAN; i++) {
        if (!mean_of(rows, sets[i].name, column, -1, &mean, &error)) continue;
        if (mean + room * error < EACH) complain(failures, what, sets[i].name, mean, error, EACH);
        sum += mean;
        squares += error * error;
        count++;
    }
    mean = sum / (double)count;
    if (count == CLEAN && (mean < LEAST || mean > MOST))
        complain(failures, what, "all sets", mean, sqrt(squares) / (double)count, mean < LEAST ? LEAST : MOST);
}

/* room: standard errors that a mean may be below its goal. */
static json_t *judge(const json_t *rows, double room)
{
    json_t *failures = json_array();
    double mean, error;
    judge_field(rows, F, "the band holds f", room, failures);
    judge_field(rows, A, "the band holds a", room, failures);
    if (mean_of(rows, NULL, COEFFICIENT, SHOWN, &mean, &error) && mean + room * error < COEFFICIENTS)
        complain(failures, "coefficients are within their errors", "all sets", mean, error, COEFFICIENTS);
    return failures;
}

/* ---- The experiment ---- */

static sock_status run(sock_context *ctx, const exp_settings *settings, json_t **result)
{
    json_t *names = exp_columns(COUNT(columns), columns), *rows = json_array();
    const size_t seeds = settings->seeds ? settings->seeds : settings->quick ? SEEDS : 3 * SEEDS;
    sock_status status = SOCK_OK;
    if (settings->output) {
        json_decref(rows);
        status = exp_rows_resume(settings->output, names, COUNT(columns), settings->say, settings->user, &rows);
    }
    for (size_t i = 0; status >= 0 && i < COUNT(sets); i++) {
        if (settings->names ? !exp_is_named(settings->names, sets[i].name) : settings->quick && i >= CLEAN) continue;
        for (size_t k = 0; status >= 0 && k < seeds; k++)
            if (!find_row(rows, sets[i].name, settings->seed + k))
                status = run_seed(ctx, settings, &sets[i], settings->seed + k, names, rows);
    }
    if (status >= 0)
        *result =
            json_pack("{s:O, s:O, s:o}", "columns", names, "rows", rows, "failures",
                      seeds < SEEDS ? json_array() : judge(rows, settings->quick ? 2 : 0)); /* fewer say too little */
    json_decref(names);
    json_decref(rows);
    return status < 0 ? status : *result ? SOCK_OK : SOCK_ENOMEM;
}

static void print_cell(const json_t *rows, const char *set, size_t column, int weights, FILE *stream)
{
    double mean, error;
    if (mean_of(rows, set, column, weights, &mean, &error))
        fprintf(stream, " %.2f +- %.2f |", mean, isfinite(error) ? error : 0);
    else
        fprintf(stream, " - |");
}

static void print(const json_t *result, FILE *stream)
{
    const json_t *rows = json_object_get(result, "rows");
    double mean, error;
    fprintf(stream, "| set | sets | f | a | sigma | whole curve of f | coefficients | width of f | of log a |\n");
    fprintf(stream, "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(sets); i++) {
        const size_t count = mean_of(rows, sets[i].name, F, -1, &mean, &error);
        if (!count) continue;
        fprintf(stream, "| %s | %zu |", sets[i].name, count);
        for (size_t k = F; k <= WHOLE; k++) print_cell(rows, sets[i].name, k, -1, stream);
        print_cell(rows, sets[i].name, COEFFICIENT, SHOWN, stream);
        print_cell(rows, sets[i].name, WIDTH_F, -1, stream);
        print_cell(rows, sets[i].name, WIDTH_A, -1, stream);
        fputc('\n', stream);
    }
}

const exp_experiment exp_coverage = {.name = "coverage",
                                     .summary = "do the bands hold the truth? known systems over many seeds",
                                     .takes = EXP_TAKES_SEEDS,
                                     .sets = set_names,
                                     .resumes = 1,
                                     .run = run,
                                     .print = print};
