/* cmd_split.c - sock split: training and test data from one file. */
#define _GNU_SOURCE
#include "cli.h"
#include "rowcopy.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const keys[] = {"seed", "id",      "time",      "state", "input", "group", "grouping",
                                   "dt",   "missing", "time-unit", "log",   "wide",  "every", NULL};

typedef struct asked {
    const char *folder, *parts, *part, *by;
} asked;

typedef struct plan {
    size_t parts, part; /* part from 0 */
    bool in_time;
} plan;

static int whole_number(const cli *c, const char *option, const char *text, size_t low, size_t high, size_t *out)
{
    char *end;
    unsigned long long number;
    if (!cli_whole(text, &end, &number) || *end || number < low || number > high)
        return cli_usage_error(c, "--%s is '%s'; allowed: a whole number from %zu to %zu", option, text, low, high);
    *out = (size_t)number;
    return -1;
}

static int check_asked(const cli *c, const asked *a, plan *p)
{
    enum { PARTS = 5, MOST = 1000 };
    int code = cli_operands(c, 1);
    if (code < 0 && !a->folder) code = cli_usage_error(c, "give the folder for the files: -o DIR");
    if (code < 0 && a->by && strcmp(a->by, "auto") != 0 && strcmp(a->by, "trajectory") != 0 &&
        strcmp(a->by, "time") != 0)
        code = cli_usage_error(c, "--by is '%s'; allowed: auto, trajectory or time", a->by);
    p->parts = PARTS;
    if (code < 0 && a->parts) code = whole_number(c, "parts", a->parts, 2, MOST, &p->parts);
    p->part = p->parts; /* the last: of a series, its end */
    if (code < 0 && a->part) code = whole_number(c, "part", a->part, 1, p->parts, &p->part);
    p->part--;
    return code;
}

/* By trajectory where there are as many (groups count once), else in time. */
static int choose(const cli *c, const asked *a, const sock_data *data, plan *p)
{
    const bool automatic = !a->by || strcmp(a->by, "auto") == 0;
    const bool few = sock_data_groups(data) < p->parts;
    p->in_time = automatic ? few : strcmp(a->by, "time") == 0;
    if (!automatic && !p->in_time && few)
        return cli_usage_error(c, "--parts is %zu; allowed: 2 to %zu, the number of groups, or --by time", p->parts,
                               sock_data_groups(data));
    return -1;
}

/* The folder, and that nothing in it would be lost. */
static int make_folder(const cli *c, const char *folder, char *path[2])
{
    static const char *const name[] = {"train.csv", "test.csv"};
    struct stat info;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_failure(c, "%s: the folder cannot be made: %s", folder, strerror(errno));
    for (int i = 0; i < 2; i++) {
        if (asprintf(&path[i], "%s/%s", folder, name[i]) < 0) return cli_fail(c, SOCK_ENOMEM);
        const bool there = lstat(path[i], &info) == 0;
        if (!there && errno != ENOENT) return cli_failure(c, "%s: %s", path[i], strerror(errno));
        if (there) return cli_failure(c, "%s is there and would be replaced; give another folder", path[i]);
    }
    return -1;
}

static json_t *counts(const sock_data *data, const char *path)
{
    return json_pack("{s:s, s:I, s:I, s:I}", "file", path, "trajectories", (json_int_t)sock_data_trajectories(data),
                     "points", (json_int_t)sock_data_points(data), "intervals", (json_int_t)sock_data_intervals(data));
}

/* How the parts are written: as the rows of the file, so that the options of reading hold for them too, or as a long
 * table of what was read. */
typedef struct writing {
    rowcopy rows;
    bool as_rows, pieces; /* pieces: one trajectory has become two, which a column of its own tells apart */
} writing;

/* An option of reading that the rows of the parts still need. */
static const char *kept_option(const cli *c, const writing *w, const char *key)
{
    static const char *const kept[] = {"id", "time",    "state",     "input", "group", "grouping",
                                       "dt", "missing", "time-unit", "log",   NULL};
    if (strcmp(key, "id") == 0 && w->pieces) return ROWCOPY_PIECE;
    for (const char *const *one = kept; *one; one++)
        if (strcmp(*one, key) == 0) {
            const char *value = sock_options_get(c->opts, key);
            return strcmp(value, cli_describe(key).fallback) != 0 ? value : NULL;
        }
    return NULL;
}

static void print_word(const char *word)
{
    if (strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/+-") == strlen(word)) {
        printf("%s", word);
        return;
    }
    putchar('\'');
    for (; *word; word++) *word == '\'' ? (void)printf("'\\''") : (void)putchar(*word);
    putchar('\'');
}

/* The command that goes on. */
static void tell_next(const cli *c, const writing *w, const char *train)
{
    printf("next: sock fit ");
    print_word(train);
    for (const char *const *key = keys; *key && w->as_rows; key++) {
        const char *value = kept_option(c, w, *key);
        if (!value) continue;
        printf(" --%s ", *key);
        print_word(value);
    }
    printf(" -o model.sock\n");
}

static json_t *kept_options(const cli *c, const writing *w)
{
    json_t *object = json_object();
    for (const char *const *key = keys; *key && w->as_rows; key++) {
        const char *value = kept_option(c, w, *key);
        if (value) json_object_set_new(object, *key, json_string(value));
    }
    return object;
}

static void tell(const cli *c, const plan *p, const writing *w, char *const path[2], sock_data *const data[2])
{
    const char *by = p->in_time ? "time" : "trajectory";
    if (c->json) {
        json_t *object = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "by", by, "parts", (json_int_t)p->parts, "part",
                                   (json_int_t)p->part + 1, "train", counts(data[0], path[0]), "test",
                                   counts(data[1], path[1]), "options", kept_options(c, w));
        char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
        if (text) printf("%s\n", text);
        free(text);
        json_decref(object);
        return;
    }
    printf("split by %s, part %zu of %zu is the test\n", by, p->part + 1, p->parts);
    for (int i = 0; i < 2; i++)
        printf("%-30s %zu trajector%s, %zu points\n", path[i], sock_data_trajectories(data[i]),
               sock_data_trajectories(data[i]) == 1 ? "y" : "ies", sock_data_points(data[i]));
    tell_next(c, w, path[0]);
}

static sock_status plan_writing(const cli *c, const sock_data *data, sock_data *const part[2], writing *w)
{
    if (!sock_data_lines(data, 0)) return SOCK_OK;
    const sock_status status = rowcopy_open(&w->rows, c->operand[0]);
    w->as_rows = w->rows.text != NULL;
    w->pieces = sock_data_trajectories(part[0]) > sock_data_trajectories(data);
    return status;
}

static sock_status write_part(const cli *c, const writing *w, const sock_data *part, const char *path)
{
    return w->as_rows ? rowcopy_write(c->ctx, &w->rows, part, w->pieces, path) : sock_data_write(c->ctx, part, path);
}

static sock_status split(const cli *c, const plan *p, const sock_data *data, sock_data *out[2])
{
    const uint64_t seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL); /* whole and at most 2^53 */
    return p->in_time ? sock_data_split_time(c->ctx, data, p->parts, p->part, &out[0], &out[1])
                      : sock_data_split(c->ctx, data, p->parts, p->part, seed, &out[0], &out[1]);
}

static int run(int count, char **arguments)
{
    asked a = {0};
    plan p = {0};
    writing w = {0};
    const cli_option own[] = {
        {"output", 'o', &a.folder, NULL, "DIR", "folder for train.csv and test.csv"},
        {"parts", 0, &a.parts, NULL, "K", "parts of about equal numbers of steps (default: 5)"},
        {"part", 0, &a.part, NULL, "P", "which of them is the test, from 1 to K (default: K)"},
        {"by", 0, &a.by, NULL, "auto|trajectory|time",
         "trajectory: whole trajectories, shuffled by the seed; time: a block of each; auto (default): by trajectory "
         "where there are as many as parts"},
        {0}};
    cli c;
    sock_data *data = NULL, *part[2] = {NULL, NULL};
    char *path[2] = {NULL, NULL};
    int code = cli_begin(&c, &verb_split, own, count, arguments);
    if (code < 0) code = check_asked(&c, &a, &p);
    if (code >= 0) goto out;
    sock_status status = sock_data_read(c.ctx, c.operand[0], c.opts, &data);
    if (status >= 0 && (code = choose(&c, &a, data, &p)) >= 0) goto out;
    if (status >= 0) status = split(&c, &p, data, part);
    if (status >= 0 && (code = make_folder(&c, a.folder, path)) >= 0) goto out;
    if (status >= 0) status = plan_writing(&c, data, part, &w);
    for (int i = 0; status >= 0 && i < 2; i++) status = write_part(&c, &w, part[i], path[i]);
    if (status >= 0) tell(&c, &p, &w, path, part);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    for (int i = 0; i < 2; i++) {
        sock_data_free(part[i]);
        free(path[i]);
    }
    sock_data_free(data);
    rowcopy_close(&w.rows);
    cli_end(&c);
    return code;
}

const cli_verb verb_split = {"split",
                             "split DATA -o DIR [--parts K] [--part P] [--by WAY]",
                             "make training and test data of one file, by trajectory or by blocks of time",
                             "  sock split walk.csv -o parts\n"
                             "  sock fit parts/train.csv -o model.sock\n"
                             "  sock score model.sock parts/test.csv",
                             keys,
                             run};
