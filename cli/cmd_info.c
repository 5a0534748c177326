/* cmd_info.c - sock info: what is in a data file or a model. With --json the library's own object; else the same laid
 * out for people, with what the layout does not know listed at the end. */
#define _GNU_SOURCE
#include "api/record.h"
#include "cli.h"
#include "widehint.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const keys[] = {"id",    "time",    "state",     "input",       "group", "grouping",
                                   "dt",    "missing", "time-unit", "log",         "wide",  "every",
                                   "files", "stream",  "scratch",   "search-rows", NULL};

enum { LABEL = 14 }; /* width of the left column */

/* A pipe can be read once: what it holds goes into a file without a name, which takes its place. */
static void keep_standard_input(void)
{
    char block[1 << 14];
    ssize_t got;
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) return;
    FILE *file = tmpfile();
    bool whole = file != NULL;
    while (whole && (got = read(STDIN_FILENO, block, sizeof block)) > 0)
        whole = fwrite(block, 1, (size_t)got, file) == (size_t)got;
    if (file && fflush(file) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0) dup2(fileno(file), STDIN_FILENO);
    if (file) fclose(file);
}

/* A model file is a safetensors file: eight bytes of length, then the brace of a JSON header. A file that cannot be
 * opened is left to the reader of data, which says why; one that cannot be read answers -1, with errno. */
static int looks_like_model(const char *path)
{
    unsigned char start[9];
    struct stat info;
    if (strcmp(path, "-") == 0) {
        keep_standard_input();
        return pread(STDIN_FILENO, start, sizeof start, 0) == sizeof start && start[8] == '{' && !start[7] && !start[6];
    }
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return 0;
    ssize_t got = read(handle, start, sizeof start);
    int error = errno;
    close(handle);
    if (got < 0 && error != EISDIR) {
        errno = error;
        return -1;
    }
    return got == sizeof start && start[8] == '{' && start[7] == 0 && start[6] == 0;
}

/* ---- Pieces ---- */

static void label(const char *text) { printf("%-*s", LABEL, text); }

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static long long count_of(json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

static const char *plural(long long count) { return count == 1 ? "" : "s"; }

/* Characters, not bytes, of UTF-8 text: for columns that line up. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void print_padded(const char *text, int width)
{
    int missing = width - width_of(text);
    printf("%s%*s", text, missing > 0 ? missing : 0, "");
}

/* A column of 12 for a number; "-" when there is none. */
static void print_number(json_t *value)
{
    if (json_is_number(value))
        printf("%12.5g", json_number_value(value));
    else
        printf("%12s", "-");
}

/* What no layout knows: "key  value", objects inside indented, lists on the line. */
static void print_rest(json_t *object, int indent)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_object(value)) {
            printf("%*s%s\n", indent, "", key);
            print_rest(value, indent + 2);
            continue;
        }
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(8));
        int width = LABEL - indent > (int)strlen(key) ? LABEL - indent : (int)strlen(key) + 1;
        printf("%*s%-*s%s\n", indent, "", width, key, text ? text : json_string_value(value));
        free(text);
    }
}

static void forget(json_t *object, const char *const *known)
{
    for (; *known; known++) json_object_del(object, *known);
}

/* ---- Data ---- */

static void print_trajectories(json_t *data)
{
    json_t *members = json_object_get(data, "realisations");
    long long paths = count_of(data, "trajectories"), groups = count_of(data, "groups");
    long long least = count_of(members, "min"), most = count_of(members, "max");
    label("trajectories");
    printf("%lld", paths);
    if (!json_is_object(members))
        printf(" (whether some are realisations of one start is not looked for in a stream)\n");
    else if (most <= 1)
        printf(", each by itself (no realisations share start and times)\n");
    else if (least == most)
        printf(" in %lld group%s of %lld realisation%s\n", groups, plural(groups), most, plural(most));
    else
        printf(" in %lld group%s of %lld to %lld realisations\n", groups, plural(groups), least, most);
}

static void print_times(json_t *data)
{
    json_t *range = json_object_get(data, "time_range"), *step = json_object_get(data, "time_step");
    json_t *dates = json_object_get(data, "dates");
    double least = number_of(step, "min"), most = number_of(step, "max");
    label("time");
    if (dates)
        printf("column %s, from %s to %s, in %ss since 1970-01-01\n", text_of(data, "time_name"),
               text_of(dates, "first"), text_of(dates, "last"), text_of(data, "time_unit"));
    else
        printf("column %s, from %.6g to %.6g\n", text_of(data, "time_name"), number_of(range, "min"),
               number_of(range, "max"));
    label("time step");
    if (!json_is_object(step))
        printf("none: no trajectory has two points (a table with one row a subject has no course in time)\n");
    else if (most - least <= 1e-9 * most)
        printf("%.6g throughout\n", most);
    else
        printf("from %.6g to %.6g, median %.6g\n", least, most, number_of(step, "median"));
    if (json_is_true(json_object_get(data, "clock_times"))) {
        label("clock?");
        puts("times look like hours and minutes in one number, 959 and then 1000: give dates, or minutes");
    }
}

static int name_width(json_t *names)
{
    int width = 6;
    for (size_t k = 0; k < json_array_size(names); k++) {
        int w = width_of(json_string_value(json_array_get(names, k)));
        if (w > width) width = w;
    }
    return width;
}

static void print_states(json_t *data)
{
    static const char *const column[] = {"min", "max", "mean", "sd"};
    json_t *names = json_object_get(data, "names"), *ranges = json_object_get(data, "state");
    json_t *lag = json_object_get(data, "lag1");
    int width = name_width(names);
    label("state");
    printf("%-*s", width, "column");
    for (int i = 0; i < 4; i++) printf("%12s", column[i]);
    printf("%12s\n", "lag-1");
    for (size_t k = 0; k < json_array_size(names); k++) {
        label("");
        print_padded(json_string_value(json_array_get(names, k)), width);
        for (int i = 0; i < 4; i++) print_number(json_object_get(json_array_get(ranges, k), column[i]));
        print_number(json_array_get(lag, k));
        putchar('\n');
    }
}

static double nth_number(json_t *list, size_t k)
{
    json_t *value = json_array_get(list, k);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Why the increments of this state are none of a process: what the lines below tell of it. NULL: nothing. */
static const char *no_increments(const json_t *data, const char *state)
{
    const json_t *codes = json_object_get(data, "codes"), *angles = json_object_get(data, "angles");
    const size_t length = strlen(state);
    for (size_t i = 0; i < json_array_size(codes); i++)
        if (strcmp(text_of(json_array_get(codes, i), "state"), state) == 0) return "its codes (below) are no values";
    for (size_t i = 0; i < json_array_size(angles); i++) {
        const char *told = json_string_value(json_array_get(angles, i));
        if (strncmp(told, state, length) == 0 && told[length] == ' ')
            return "where an angle is cut (below) it does not move so far";
    }
    return NULL;
}

/* What the correlations of state k say, by the rule of the fit's own warnings. */
static void print_lag(json_t *data, size_t k, double pairs)
{
    enum { MOST = 16 };
    json_t *list = json_array_get(json_object_get(data, "lag1_thinned"), k);
    double thinned[MOST];
    sk_lags lags = {nth_number(json_object_get(data, "lag1"), k), nth_number(json_object_get(data, "lag2"), k),
                    nth_number(json_object_get(data, "second_differences"), k), json_array_size(list), thinned};
    if (lags.thinnings > MOST) lags.thinnings = MOST;
    for (size_t i = 0; i < lags.thinnings; i++) thinned[i] = nth_number(list, i);
    const sk_lag_kind said = sk_lags_say(&lags, pairs);
    const bool second = json_is_true(json_array_get(json_object_get(data, "second_order"), k));
    const bool smooth = said == SK_LAG_INERTIA || said == SK_LAG_SWING;
    const sk_lag_kind kind = smooth && !second ? SK_LAG_SMOOTH : said;
    const size_t end = sk_lags_end(&lags, pairs);
    printf("  %s", sk_lag_words(kind));
    if (end && (kind == SK_LAG_INERTIA || kind == SK_LAG_MEMORY)) printf("; gone with --every %zu", end);
    if (second)
        printf("; looks like second order (%.2f), %stry sock fit --order 2",
               nth_number(json_object_get(data, "order_statistic"), k),
               kind == SK_LAG_SWING ? "if it is no season " : "");
    putchar('\n');
}

static void print_lags(json_t *data)
{
    json_t *names = json_object_get(data, "names"), *lag = json_object_get(data, "lag1");
    json_t *reasons = json_object_get(data, "lag1_reason");
    double pairs = (double)(count_of(data, "points") - 2 * count_of(data, "trajectories"));
    int width = name_width(names);
    label("lag-1");
    printf("correlation of neighbouring increments\n");
    for (size_t k = 0; k < json_array_size(names); k++) {
        label("");
        print_padded(json_string_value(json_array_get(names, k)), width);
        const char *why = no_increments(data, json_string_value(json_array_get(names, k)));
        if (why)
            printf("  not asked: %s\n", why);
        else if (json_is_number(json_array_get(lag, k)))
            print_lag(data, k, pairs);
        else
            printf("  not known: %s\n", json_string_value(json_array_get(reasons, k)));
    }
}

/* How many points have something missing, and which columns it is that lack values. */
static void print_missing(json_t *dropped, long long points)
{
    const char *column, *before = ": ";
    json_t *lacking;
    printf("%lld point%s with a missing value", points, plural(points));
    json_object_foreach(json_object_get(dropped, "missing_values"), column, lacking)
    {
        printf("%s%lld in %s", before, (long long)json_integer_value(lacking), column);
        before = ", ";
    }
    putchar('\n');
}

static void print_sorted(json_t *data)
{
    const long long rows = count_of(data, "sorted_rows");
    if (!rows) return;
    label("sorted");
    printf("%lld row%s stood behind a later time of the same trajectory, the first on line %lld\n", rows, plural(rows),
           count_of(data, "sorted_first"));
}

static void print_dropped(json_t *data)
{
    json_t *dropped = json_object_get(data, "dropped"), *columns = json_object_get(dropped, "ignored_columns");
    long long missing = count_of(dropped, "missing_points"), empty = count_of(dropped, "empty_trajectories");
    long long single = count_of(dropped, "single_point_trajectories"), thinned = count_of(dropped, "thinned_points");
    label("rows read");
    printf("%lld\n", count_of(data, "rows_read"));
    label("left out");
    if (!missing && !thinned && !empty && !single && !json_array_size(columns)) printf("nothing\n");
    const char *indent = "";
    if (missing) print_missing(dropped, missing), indent = "              ";
    if (thinned) printf("%s%lld point%s by --every\n", indent, thinned, plural(thinned)), indent = "              ";
    if (empty)
        printf("%s%lld trajector%s all of whose points are missing\n", indent, empty, empty == 1 ? "y" : "ies"),
            indent = "              ";
    if (single)
        printf("%s%lld trajector%s of a single point: no interval to learn from\n", indent, single,
               single == 1 ? "y" : "ies"),
            indent = "              ";
    for (size_t i = 0; i < json_array_size(columns); i++, indent = "              ")
        printf("%scolumn %s: %s\n", indent, text_of(json_array_get(columns, i), "name"),
               text_of(json_array_get(columns, i), "reason"));
}

/* States that follow from others, or all are smooth. */
static void print_courses(json_t *data)
{
    json_t *followers = json_object_get(data, "followers");
    for (size_t i = 0; i < json_array_size(followers); i++) {
        label(i ? "" : "no process");
        printf("%s\n", json_string_value(json_array_get(followers, i)));
    }
    json_t *angles = json_object_get(data, "angles");
    for (size_t i = 0; i < json_array_size(angles); i++) {
        label(i ? "" : "angle");
        printf("%s: an angle that is cut at a full turn? Join the turns, or take cosine and sine as states\n",
               json_string_value(json_array_get(angles, i)));
    }
    if (!json_is_true(json_object_get(data, "smooth"))) return;
    label("smooth");
    puts("the states have no noise: they solve an ordinary differential equation, or are positions without velocities");
}

/* Codes for missing values, and steps that do not belong. */
static void print_wild(json_t *data)
{
    enum { SHOWN = 5 };
    json_t *codes = json_object_get(data, "codes"), *wild = json_object_get(data, "wild");
    const long long steps = count_of(data, "wild_steps");
    for (size_t i = 0; i < json_array_size(codes); i++) {
        json_t *one = json_array_get(codes, i);
        label(i ? "" : "codes");
        printf("%.10g occurs %lld times in %s, far outside the rest; --missing %.10g leaves it out\n",
               number_of(one, "value"), count_of(one, "count"), text_of(one, "state"), number_of(one, "value"));
    }
    if (count_of(data, "gaps")) {
        const long long gaps = count_of(data, "gaps");
        label("gaps");
        printf("%lld step%s far longer than the rest: the default fit leaves %s out (--wild keep takes %s in)\n", gaps,
               gaps == 1 ? " is" : "s are", gaps == 1 ? "it" : "them", gaps == 1 ? "it" : "them");
    }
    if (!steps) return;
    label("wild steps");
    printf("%lld, far larger than those around them and those from the same states\n", steps);
    for (size_t i = 0; i < json_array_size(wild) && i < SHOWN; i++) {
        json_t *one = json_array_get(wild, i);
        char time[SK_RECORD_TIME_SIZE];
        sk_record_time(json_string_value(json_object_get(data, "time_unit")), number_of(one, "time"), time);
        label("");
        printf("trajectory %s, %s = %s: %s from %.6g to %.6g\n", text_of(one, "trajectory"), text_of(data, "time_name"),
               time, text_of(one, "state"), number_of(one, "from"), number_of(one, "to"));
    }
}

/* Numbered columns that became states because nobody named them. */
static void print_wide_hint(json_t *data)
{
    const json_t *list = json_object_get(data, "names");
    const size_t d = json_array_size(list);
    const char **names = count_of(data, "trajectories") == 1 ? calloc(d + 1, sizeof *names) : NULL;
    char text[512];
    for (size_t k = 0; names && k < d; k++) names[k] = json_string_value(json_array_get(list, k));
    if (names && wide_hint(d, names, sizeof text, text)) label("wide form?"), printf("%s\n", text);
    free(names);
}

static void print_data(json_t *data, bool named)
{
    static const char *const known[] = {"source",
                                        "d",
                                        "trajectories",
                                        "groups",
                                        "realisations",
                                        "points",
                                        "intervals",
                                        "names",
                                        "time_name",
                                        "state",
                                        "time_step",
                                        "lag1",
                                        "time_range",
                                        "clock_times",
                                        "rows_read",
                                        "lag1_reason",
                                        "hash",
                                        "states_hash",
                                        "dropped",
                                        "wild_steps",
                                        "gaps",
                                        "wild",
                                        "codes",
                                        "followers",
                                        "angles",
                                        "smooth",
                                        "lag2",
                                        "second_differences",
                                        "lag1_thinned",
                                        "steps",
                                        "time_unit",
                                        "dates",
                                        "sorted_rows",
                                        "sorted_first",
                                        "order_statistic",
                                        "order_left",
                                        "second_order",
                                        "stream",
                                        NULL};
    label("data");
    printf("%s\n", text_of(data, "source"));
    print_trajectories(data);
    label("points");
    printf("%lld, in dimension %lld\n", count_of(data, "points"), count_of(data, "d"));
    label("steps");
    printf("%lld to learn from", count_of(data, "steps"));
    if (count_of(data, "steps") > count_of(data, "intervals"))
        printf(" (%lld with --no-tune, where the realisations of a group count once)", count_of(data, "intervals"));
    putchar('\n');
    print_times(data);
    print_states(data);
    print_lags(data);
    print_wild(data);
    print_courses(data);
    print_sorted(data);
    if (!named) print_wide_hint(data);
    print_dropped(data);
    const long long sampled = count_of(json_object_get(data, "stream"), "sample_steps");
    label(sampled ? "stream" : "hash");
    if (sampled)
        printf("codes, copies, angles, smooth states and the order are looked for in a sample of %lld steps\n",
               sampled);
    else
        printf("%s\n", text_of(data, "hash"));
    forget(data, known);
    print_rest(data, 0);
}

/* ---- Model ---- */

static void print_names(json_t *names)
{
    label("state");
    for (size_t k = 0; k < json_array_size(names); k++)
        printf("%s%s", k ? ", " : "", json_string_value(json_array_get(names, k)));
    putchar('\n');
}

static const char *told(const char *text) { return text ? text : ""; }

static void print_drift(const sk_record *r)
{
    const sk_part *part = sk_record_drift(r);
    if (!part) return;
    label("drift");
    printf("%s\n", part->kernel);
    label("");
    printf("lambda %.6g, %s quadrature\n", part->lambda, told(r->quadrature));
    label("");
    printf("%s form, %s path, rank %zu", told(r->found.drift_form), told(r->drift_path), r->found.drift_rank);
    if (isfinite(r->found.drift_dof)) printf(", %.4g effective degrees of freedom", r->found.drift_dof);
    putchar('\n');
}

static void print_diffusion(const sk_record *r)
{
    const sk_part *part = sk_record_diffusion(r);
    const sk_certificate *c = &r->certificate;
    label("diffusion");
    if (!part) {
        printf("none: only the drift was fitted\n");
        return;
    }
    printf("%s\n", part->kernel);
    label("");
    printf("lambda %.6g, %s form, %s, %zu features%s, rank %zu\n", part->lambda, told(r->diffusion_form),
           r->diagonal ? "diagonal" : "full matrix", r->features,
           r->features_complete ? "" : " (cut off: see --diffusion-rank)", r->rank);
    label("certificate");
    printf("relative duality gap %.2g after %ld iterations of %s; tolerance %.2g%s\n", c->relative_gap, c->iterations,
           told(r->solver), r->tolerance, c->converged ? "" : ": NOT reached");
    label("");
    printf("primal %.8g, dual %.8g, gap %.2g\n", c->primal, c->dual, c->gap);
}

/* What is not there, and why; reasons that are the same are told once. */
static void print_reasons(const sk_record *r)
{
    const sk_certificate *c = &r->certificate;
    const bool same = c->reason && c->iterations_reason && strcmp(c->reason, c->iterations_reason) == 0;
    const char *first = "not given";
    if (c->reason) label(first), printf("primal, dual, gap%s: %s\n", same ? ", iterations" : "", c->reason), first = "";
    if (c->iterations_reason && !same) label(first), printf("iterations: %s\n", c->iterations_reason), first = "";
    if (r->lambda_reason) label(first), printf("drift_lambda: %s\n", r->lambda_reason);
}

static void print_provenance(const sk_record *r)
{
    label("fitted to");
    printf("%s: %zu trajector%s in %zu group%s, %zu points, %zu steps", told(r->data.source), r->data.trajectories,
           r->data.trajectories == 1 ? "y" : "ies", r->data.groups, r->data.groups == 1 ? "" : "s", r->points,
           r->points - r->data.trajectories);
    if (r->data.time_unit) printf(", time in %ss", r->data.time_unit);
    putchar('\n');
    label("");
    printf("hash %s\n", told(r->data.hash));
    label("options");
    if (!r->options.count) printf("all at their defaults\n");
    for (size_t i = 0; i < r->options.count; i++) {
        if (i) label("");
        printf("--%s %s\n", r->options.option[i].key, r->options.option[i].value);
    }
}

static void print_model(const sk_record *r, json_t *info, const char *path)
{
    static const char *const known[] = {"state", "data", "seconds", NULL};
    label("model");
    printf("%s, written by sock %s\n", path, told(r->version));
    print_names(json_object_get(info, "state"));
    if (!r->tuned) {
        print_drift(r);
        if (json_object_get(info, "diffusion")) print_diffusion(r);
    }
    sk_record_write_words(stdout, r, LABEL, SK_LISTENER_INFO);
    if (json_object_get(info, "data")) print_provenance(r);
    if (r->status && strcmp(r->status, "done") != 0) label("status"), printf("%s\n", r->status);
    print_reasons(r);
    for (size_t i = 0; sk_record_key(i); i++) json_object_del(info, sk_record_key(i));
    forget(info, known);
    print_rest(info, 0);
}

/* ---- The verb ---- */

static void print_object(const json_t *object)
{
    char *text = json_dumps(object, JSON_REAL_PRECISION(17) | JSON_INDENT(2));
    if (text) printf("%s\n", text);
    free(text);
}

static int run(int count, char **arguments)
{
    cli c;
    sock_model *model = NULL;
    char *text = NULL;
    json_t *object = NULL;
    sk_record record;
    sk_record_init(&record);
    int code = cli_begin(&c, &verb_info, NULL, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 1);
    if (code >= 0) goto out;
    sock_status status;
    int is_model = looks_like_model(c.operand[0]);
    if (is_model < 0) {
        code = cli_failure(&c, "%s: cannot be read: %s", c.operand[0], strerror(errno));
        goto out;
    }
    if (is_model && c.operands > 1) {
        code = cli_operands(&c, 1);
        goto out;
    }
    if (is_model) {
        status = sock_model_load(c.ctx, c.operand[0], &model);
        if (status >= 0) status = sock_model_info(c.ctx, model, &text);
        if (status >= 0 && !c.json) status = sk_record_read(c.ctx, text, &record);
    } else {
        status = sock_info_files(c.ctx, (size_t)c.operands, (const char *const *)c.operand, c.opts, &text);
        object = status >= 0 ? json_loads(text, 0, NULL) : NULL;
        if (status >= 0 && !object) status = SOCK_ENOMEM;
    }
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    if (model && !c.json) object = json_loads(text, 0, NULL);
    if (model && !object)
        printf("%s\n", text);
    else if (c.json)
        print_object(object);
    else if (model)
        print_model(&record, object, c.operand[0]);
    else
        print_data(object, strcmp(sock_options_get(c.opts, "state"), "auto") != 0);
    code = cli_finish_output(&c);
out:
    sk_record_clear(&record);
    json_decref(object);
    sock_string_free(text);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_info = {"info",
                            "info FILE... [options]",
                            "describe a data file or a model",
                            "  sock info train.csv\n  sock info model.sock",
                            keys,
                            run};
