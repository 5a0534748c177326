/* args.c - arguments of the verbs, made from their own short lists and from the library's options table. */
#define _GNU_SOURCE
#include "cli.h"
#include "helptext.h"
#include "plainoutput.h"
#include "progress.h"

#include "base/nearest.h"
#include "base/printable.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option *find_own(const cli_option *own, const char *name)
{
    for (; own && own->name; own++)
        if (strcmp(own->name, name) == 0) return own;
    return NULL;
}

static const cli_option *find_letter(const cli_option *own, const char *name)
{
    for (; own && own->name && !name[1]; own++)
        if (own->letter && own->letter == name[0]) return own;
    return NULL;
}

static bool takes_key(const cli_verb *verb, const char *name)
{
    for (const char *const *key = verb->keys; key && *key; key++)
        if (strcmp(*key, name) == 0) return true;
    return false;
}

static bool is_flag(const char *key) { return strcmp(cli_describe(key).type, "flag") == 0; }

/* ---- Parsing ---- */

static int set_threads(cli *c, const char *text)
{
    char *end;
    long threads = strtol(text, &end, 10);
    if (end == text || *end || threads < 1 || threads > 1024)
        return cli_usage_error(c, "--threads is '%s'; allowed: 1 to 1024", text);
    return sock_set_threads(c->ctx, (int)threads) < 0 ? EXIT_USAGE : -1;
}

static int set_memory_limit(cli *c, const char *text)
{
    char *end;
    double limit = strtod(text, &end);
    if (end == text || *end || !(limit > 0 && limit <= 1e6))
        return cli_usage_error(c, "--memory-limit is '%s'; allowed: gigabytes, a number > 0, at most 1e6", text);
    c->memory_limit = 1e9 * limit;
    return sock_set_memory_limit(c->ctx, c->memory_limit < 1 ? 1 : (size_t)c->memory_limit) < 0 ? EXIT_USAGE : -1;
}

static int set_key(cli *c, const char *key, const char *value)
{
    sock_status status = sock_options_set(c->ctx, c->opts, key, value);
    if (status == SOCK_EUSAGE) return cli_usage_error(c, "--%s", sock_message(c->ctx));
    return status < 0 ? cli_fail(c, status) : -1;
}

/* The options that every verb has, as rows like a verb's own. */
enum { JSON, QUIET, VERBOSE, THREADS, MEMORY, COMMON };
static const char *const common_name[COMMON] = {"json", "quiet", "verbose", "threads", "memory-limit"};

static int find_common(const char *name)
{
    int i = 0;
    while (i < COMMON && strcmp(common_name[i], name) != 0) i++;
    return i;
}

static int set_common(cli *c, int which, const char *value)
{
    switch (which) {
    case JSON: c->json = true; return -1;
    case QUIET: c->quiet = true; return -1;
    case VERBOSE: c->verbose = true; return -1;
    case THREADS: return set_threads(c, value);
    default: return set_memory_limit(c, value);
    }
}

/* With the option that was meant, where one is near. */
static int refuse_unknown(const cli *c, const cli_option *own, const char *text, const char *name, bool is_long)
{
    if (is_long && strncmp(name, "no-", 3) == 0 && takes_key(c->verb, name + 3) && is_flag(name + 3))
        return cli_usage_error(c, "unknown option '%s' (did you mean --%s=no?)", text, name + 3);
    sk_nearest meant = sk_nearest_to(name, is_long ? strlen(name) : 0);
    for (; own && own->name; own++) sk_nearest_try(&meant, own->name);
    for (const char *const *key = c->verb->keys; key && *key; key++) sk_nearest_try(&meant, *key);
    for (int i = 0; i < COMMON; i++) sk_nearest_try(&meant, common_name[i]);
    return cli_usage_error(c, "unknown option '%s'%s%s%s; 'sock %s --help' lists what is allowed", text,
                           meant.best[0] ? " (did you mean --" : "", meant.best, meant.best[0] ? "?)" : "",
                           c->verb->name);
}

/* What may follow a flag as its value: no file has such a name. */
static bool is_yes_or_no(const char *text) { return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0; }

/* Whether "--name" or "--name=" is among the first `count` arguments. */
static bool is_given(int count, char **arguments, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < count; i++)
        if (strncmp(arguments[i], "--", 2) == 0 && strncmp(arguments[i] + 2, name, length) == 0 &&
            (!arguments[i][2 + length] || arguments[i][2 + length] == '='))
            return true;
    return false;
}

/* Options that take several values: of two the last would win, silently. Others may be set anew, as scripts do. */
static bool is_list(const char *name)
{
    static const char *const lists[] = {"input", "state", "log", "missing"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(name, lists[i]) == 0) return true;
    return false;
}

/* One option at arguments[*i]; its value may stand behind '=' or be the next argument. */
static int take_option(cli *c, const cli_option *own, int count, char **arguments, int *i)
{
    const char *text = arguments[*i];
    bool is_long = text[1] == '-';
    char name[64];
    snprintf(name, sizeof name, "%s", text + (is_long ? 2 : 1));
    char *equals = is_long ? strchr(name, '=') : NULL;
    if (equals) *equals = 0;
    const char *value = equals ? strchr(text, '=') + 1 : NULL;
    const cli_option *option = is_long ? find_own(own, name) : find_letter(own, name);
    bool key = is_long && !option && takes_key(c->verb, name);
    int common = is_long && !option && !key ? find_common(name) : COMMON;
    if (key && is_list(name) && is_given(*i, arguments, name))
        return cli_usage_error(c, "--%s is given twice; several values stand behind one --%s, with commas between",
                               name, name);
    if (!option && !key && common == COMMON) return refuse_unknown(c, own, text, name, is_long);
    if (key && is_flag(name) && !value && *i + 1 < count && is_yes_or_no(arguments[*i + 1])) value = arguments[++*i];
    if (key && is_flag(name)) return set_key(c, name, value ? value : "yes");
    bool flag = common == JSON || common == QUIET || common == VERBOSE || (option && option->flag);
    if (flag && value) return cli_usage_error(c, "--%s takes no value, got '%s'", name, value);
    if (!flag && !value && *i + 1 < count && strncmp(arguments[*i + 1], "--", 2) != 0) value = arguments[++*i];
    if (!flag && !value) return cli_usage_error(c, "%s needs a value", text);
    if (key) return set_key(c, name, value);
    if (common != COMMON) return set_common(c, common, value);
    if (flag)
        *option->flag = true;
    else
        *option->value = value;
    return -1;
}

static bool takes_file(const cli_option *o)
{
    return o->value && (strcmp(o->metavar, "FILE") == 0 || strcmp(o->metavar, "TRUTH") == 0);
}

/* Standard input can be read once. */
static int check_standard_input(const cli *c)
{
    int readers = 0;
    for (int i = 0; i < c->operands; i++) readers += c->operand[i] && strcmp(c->operand[i], "-") == 0;
    for (const cli_option *o = c->own; o && o->name; o++) {
        const bool written = o->letter == 'o' || strcmp(o->name, "search-log") == 0;
        readers += takes_file(o) && !written && *o->value && strcmp(*o->value, "-") == 0;
    }
    return readers < 2 ? -1 : cli_usage_error(c, "'-' is given %d times; standard input can be read once", readers);
}

/* Is standard output for machines: JSON, a table, a picture, or a file that goes there? */
static bool prints_data(const cli *c)
{
    const cli_verb *const of_data[] = {&verb_eval, &verb_simulate, &verb_smooth, &verb_plot, &verb_options};
    for (size_t i = 0; i < sizeof of_data / sizeof *of_data; i++)
        if (c->verb == of_data[i]) return true;
    for (const cli_option *o = c->own; o && o->name; o++)
        if (o->value && *o->value && strcmp(*o->value, "-") == 0) return true;
    return c->json;
}

int cli_begin(cli *c, const cli_verb *verb, const cli_option *own, int count, char **arguments)
{
    *c = (cli){.verb = verb, .own = own};
    for (int i = 0; i < count; i++)
        if (help_asked(verb, own, arguments[i])) return cli_finish_output(c);
    c->ctx = sock_context_new();
    c->opts = c->ctx ? sock_options_new(c->ctx) : NULL;
    c->operand = calloc((size_t)count + 1, sizeof *c->operand);
    if (!c->opts || !c->operand) {
        fprintf(stderr, "sock %s: out of memory\n", verb->name);
        return EXIT_FAILED;
    }
    bool options_end = false;
    for (int i = 0; i < count; i++) {
        if (!options_end && strcmp(arguments[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && arguments[i][0] == '-' && arguments[i][1]) {
            int code = take_option(c, own, count, arguments, &i);
            if (code >= 0) return code;
        } else {
            c->operand[c->operands++] = arguments[i];
        }
    }
    int code = check_standard_input(c);
    if (code < 0 && sock_set_device(c->ctx, sock_options_get(c->opts, "device")) < 0)
        code = cli_usage_error(c, "%s", sock_message(c->ctx));
    if (code >= 0) return code;
    plainoutput_install(prints_data(c));
    progress_install(c->ctx, verb->name, !c->quiet, c->verbose);
    const char *remark = sock_blas_remark(); /* main() could not mend it, or was told not to */
    if (remark[0]) cli_note(c, "%s", remark);
    return -1;
}

void cli_end(cli *c)
{
    progress_remove();
    plainoutput_remove();
    sock_options_free(c->opts);
    sock_context_free(c->ctx);
    free(c->operand);
}

int cli_operands(const cli *c, int wanted)
{
    if (c->operands == wanted) return -1;
    if (c->operands > wanted)
        return cli_usage_error(c, "unexpected argument '%s'; usage: sock %s", c->operand[wanted], c->verb->usage);
    return cli_usage_error(c, "a file name is missing; usage: sock %s", c->verb->usage);
}

int cli_operands_least(const cli *c, int wanted) { return c->operands > wanted ? -1 : cli_operands(c, wanted); }

/* ---- Messages ---- */

static void say(const cli *c, const char *prefix, const char *format, va_list args)
{
    char text[4096];
    int size = vsnprintf(text, sizeof text, format, args);
    sk_make_printable(text, size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1, 0);
    progress_clear();
    fprintf(stderr, "sock %s: %s%s\n", c->verb->name, prefix, size < 0 ? "" : text);
}

int cli_usage_error(const cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(c, "", format, args);
    va_end(args);
    return EXIT_USAGE;
}

int cli_failure(const cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(c, "", format, args);
    va_end(args);
    return EXIT_FAILED;
}

void cli_note(const cli *c, const char *format, ...)
{
    if (c->quiet) return;
    va_list args;
    va_start(args, format);
    say(c, "", format, args);
    va_end(args);
}

/* What the library said, without the name of the call where that is the verb: the line begins with it. */
static const char *library_message(const cli *c)
{
    const char *message = sock_message(c->ctx);
    const size_t length = strlen(c->verb->name);
    return strncmp(message, c->verb->name, length) == 0 && strncmp(message + length, ": ", 2) == 0
               ? message + length + 2
               : message;
}

int cli_fail(const cli *c, sock_status status)
{
    const char *message = library_message(c);
    /* Where memory ran out outside the library, there is no message, or that of something else before it. */
    const bool other = !message[0] || (status == SOCK_ENOMEM && !strstr(message, "memory"));
    cli_usage_error(c, "%s", other ? sock_status_text(status) : message);
    switch (status) {
    case SOCK_EINPUT:
    case SOCK_EUSAGE: return EXIT_USAGE;
    case SOCK_ECANCELLED: return EXIT_INTERRUPTED;
    default: return EXIT_FAILED;
    }
}

void cli_caveat(const cli *c, sock_status status)
{
    progress_clear(); /* the work is done, output follows */
    if (status <= 0) return;
    const char *message = library_message(c);
    cli_usage_error(c, "warning: %s", message[0] ? message : sock_status_text(status));
}

int cli_finish_output(const cli *c)
{
    progress_clear();
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_DONE;
    fprintf(stderr, "sock %s: standard output cannot be written: %s\n", c->verb->name, strerror(errno));
    return EXIT_FAILED;
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_dev == file->st_dev && info.st_ino == file->st_ino;
}

/* Would a file at path, which exists, replace one that the run reads, or one that another option writes? */
static int check_apart(const cli *c, const char *path, const struct stat *file)
{
    for (int i = 0; i < c->operands; i++)
        if (is_file(c->operand[i], file))
            return cli_usage_error(c, "%s is the input and would be replaced; give another name", path);
    for (const cli_option *o = c->own; o && o->name; o++) {
        if (takes_file(o) && *o->value && *o->value != path && is_file(*o->value, file))
            return cli_usage_error(c, "%s is also given with --%s and would be replaced; give another name", path,
                                   o->name);
    }
    return -1;
}

int cli_check_output(const cli *c, const char *path)
{
    struct stat info;
    if (!path || strcmp(path, "-") == 0) return -1;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return cli_failure(c, "%s: cannot be written: it is a folder", path);
    if (exists && !S_ISREG(info.st_mode)) return -1; /* a device or a pipe is written in place */
    int code = exists ? check_apart(c, path, &info) : -1;
    if (code >= 0) return code;
    char *copy = strdup(path);
    if (!copy) return cli_fail(c, SOCK_ENOMEM);
    const char *folder = dirname(copy);
    int reason = !path[0] ? ENOENT : stat(folder, &info) != 0 ? errno : !S_ISDIR(info.st_mode) ? ENOTDIR : 0;
    if (!reason && access(folder, W_OK | X_OK) != 0) reason = errno;
    free(copy);
    return reason ? cli_failure(c, "%s: cannot be written: %s", path, strerror(reason)) : -1;
}

int cli_check_memory(const cli *c, double bytes, const char *what, const char *way_out)
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double limit = c->memory_limit > 0 ? c->memory_limit : 0.9 * machine;
    if (bytes <= limit) return -1;
    return cli_failure(c, "%s needs about %.3g GB of memory and %.3g GB are allowed; %s", what, bytes * 1e-9,
                       limit * 1e-9, way_out);
}

bool cli_whole(const char *text, char **end, unsigned long long *out)
{
    if (!isdigit((unsigned char)text[0])) return false;
    *out = strtoull(text, end, 10);
    return true;
}
