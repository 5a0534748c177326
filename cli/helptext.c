/* helptext.c - see helptext.h. */
#define _GNU_SOURCE
#include "helptext.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LONG_LIST = 60, LEFT = 26, WIDE = 100, NARROW = 50, WIDEST = 1000 };

/* An option as the three forms show it. */
typedef struct entry {
    char left[96]; /* "-o, --output FILE" */
    const char *name, *metavar, *choices, *help;
    const char *fallback, *allowed; /* NULL: there is none to tell */
} entry;

sock_option_info cli_describe(const char *key)
{
    for (size_t i = 0; i < sock_option_count(); i++)
        if (strcmp(sock_option_describe(i).key, key) == 0) return sock_option_describe(i);
    return (sock_option_info){
        .key = "", .type = "", .allowed = "", .fallback = "", .help = ""}; /* there is none such */
}

static entry own_entry(const cli_option *o)
{
    const char *metavar = o->metavar ? o->metavar : "";
    const bool words = strchr(metavar, '|') != NULL;
    entry e = {.name = o->name, .metavar = words ? "WORD" : metavar, .choices = words ? metavar : "", .help = o->help};
    char letter[8] = "";
    if (words) e.allowed = metavar;
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(e.left, sizeof e.left, "%s--%s%s%s", letter, o->name, *e.metavar ? " " : "", e.metavar);
    return e;
}

/* What stands for the value of an option of the library. */
static const char *metavar_of(const sock_option_info *o)
{
    const struct {
        const char *begins, *shown;
    } texts[] = {{"a column name", "COLUMN"},   {"column names", "COLUMNS"}, {"names of states", "STATES"},
                 {"a folder", "FOLDER"},        {"a file", "FILE"},          {"a kernel", "KERNEL"},
                 {"a scalar kernel", "KERNEL"}, {"seconds", "SECONDS"}};
    if (strcmp(o->key, "max-seconds") == 0) return "SECONDS";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strncmp(o->allowed, texts[i].begins, strlen(texts[i].begins)) == 0) return texts[i].shown;
    return strcmp(o->type, "count") == 0    ? "N"
           : strcmp(o->type, "choice") == 0 ? "WORD"
           : strcmp(o->type, "number") == 0 ? "NUMBER"
           : strcmp(o->type, "text") == 0   ? "VALUE"
                                            : "NUMBERS";
}

static entry key_entry(const char *key)
{
    const sock_option_info info = cli_describe(key);
    const bool flag = strcmp(info.type, "flag") == 0, choice = strcmp(info.type, "choice") == 0;
    entry e = {.name = info.key,
               .metavar = flag ? "" : metavar_of(&info),
               .choices = choice ? info.allowed : "",
               .help = info.help};
    const bool on = flag && strcmp(info.fallback, "yes") == 0;
    snprintf(e.left, sizeof e.left, "--%s%s%s", info.key, on ? "[=no]" : flag ? "" : " ", e.metavar);
    if (!flag || on) e.fallback = info.fallback;
    if (!flag) e.allowed = info.allowed;
    return e;
}

static const entry common[] = {
    {.left = "--FLAG=no", .help = "switches an option that takes no value off, such as --weights=no"},
    {.left = "--json", .name = "json", .help = "one JSON object on standard output instead of text"},
    {.left = "--threads N", .name = "threads", .metavar = "N", .help = "number of threads (default: all processors)"},
    {.left = "--memory-limit GB",
     .name = "memory-limit",
     .metavar = "GB",
     .help = "refuse work that needs more memory (default: what the machine has free)"},
    {.left = "--quiet", .name = "quiet", .help = "no progress, no remarks"},
    {.left = "--verbose", .name = "verbose", .help = "progress as plain lines on standard error, for a log"},
    {.left = "--help", .name = "help", .help = "this text"},
};

static bool any_flag(const cli_verb *verb)
{
    for (const char *const *key = verb->keys; key && *key; key++)
        if (strcmp(cli_describe(*key).type, "flag") == 0) return true;
    return false;
}

/* What options of the library are about: each section begins, in the order of their table, with a key. */
static const struct {
    const char *from, *title;
} sections[] = {
    {"id", "Reading the data"}, {"stream", "Data larger than memory"},       {"missing", "Reading the data"},
    {"tune", "The search"},     {"drift", "Kernels, penalties and solvers"}, {"bounds", "Simulation and scores"},
    {"check", "The check"},     {"device", "The machine and chance"}};
enum { SECTIONS = sizeof sections / sizeof *sections };

static size_t place_of(const char *key)
{
    size_t i = 0;
    while (i < sock_option_count() && strcmp(sock_option_describe(i).key, key) != 0) i++;
    return i;
}

static const char *section_of(const char *key)
{
    const char *title = "";
    for (size_t s = 0; s < SECTIONS; s++)
        if (place_of(sections[s].from) <= place_of(key)) title = sections[s].title;
    return title;
}

/* The keys of a verb that belong to a section; head: what begins it, where it has any. */
static void each_of_section(const cli_verb *verb, const char *title, void (*head)(const char *),
                            void (*show)(const entry *e))
{
    bool any = false;
    for (const char *const *key = verb->keys; key && *key; key++) {
        if (strcmp(section_of(*key), title) != 0) continue;
        if (!any && head) head(title);
        any = true;
        const entry e = key_entry(*key);
        show(&e);
    }
}

/* Every option of a verb: its own, those of the library by section, what all verbs take. head may be NULL. */
static void each_entry(const cli_verb *verb, const cli_option *own, void (*head)(const char *),
                       void (*show)(const entry *e))
{
    entry e;
    if (head && own && own->name) head("Options");
    for (; own && own->name; own++) e = own_entry(own), show(&e);
    for (size_t s = 0, before; s < SECTIONS; s++) {
        for (before = 0; strcmp(sections[before].title, sections[s].title) != 0; before++) {}
        if (before == s) each_of_section(verb, sections[s].title, head, show); /* a title may stand twice */
    }
    if (head) head("All verbs");
    for (size_t i = any_flag(verb) ? 0 : 1; i < sizeof common / sizeof *common; i++) show(&common[i]);
}

/* ---- For people ---- */

static int terminal_width(void)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    int width = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (width <= 0 && columns) {
        const long wanted = strtol(columns, NULL, 10); /* what is no number is 0 */
        width = wanted < 0 ? 0 : wanted > WIDEST ? WIDEST : (int)wanted;
    }
    return width <= 0 ? WIDE : width < NARROW ? NARROW : width;
}

/* Words from `column` on, wrapped; the cursor stands there. */
static void wrap(const char *text, int column, int width)
{
    for (int at = column; *text;) {
        const int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > width) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* "allowed: ...; default: ...", in `told`. False: there is nothing to tell. */
static bool limits_of(const entry *e, char told[400])
{
    const bool choice = e->choices && *e->choices;
    told[0] = 0;
    if (e->allowed && choice && strlen(e->allowed) > LONG_LIST)
        for (const char *p = e->allowed; *p && strlen(told) + 4 < 400; p++) /* it has to be wrapped */
            snprintf(told + strlen(told), 4, *p == '|' ? " | " : "%c", *p);
    else if (e->allowed)
        snprintf(told, 400, "%s%s", choice ? "" : "allowed: ", e->allowed);
    if (e->fallback) snprintf(told + strlen(told), 400 - strlen(told), "%sdefault: %s", *told ? "; " : "", e->fallback);
    return *told != 0;
}

static void show_line(const entry *e)
{
    char told[400];
    const int width = terminal_width();
    if (strlen(e->left) > LEFT)
        printf("  %s\n  %*s  ", e->left, LEFT, "");
    else
        printf("  %-*s  ", LEFT, e->left);
    wrap(e->help, LEFT + 4, width);
    if (!limits_of(e, told)) return;
    printf("  %*s    ", LEFT, "");
    wrap(told, LEFT + 6, width);
}

static void show_title(const char *title) { printf("\n%s:\n", title); }

static void print_help(const cli_verb *verb, const cli_option *own)
{
    printf("Usage: sock %s\n\n%s\n", verb->usage, verb->summary);
    each_entry(verb, own, show_title, show_line);
    printf("\nExample:\n%s\n", verb->example);
}

/* ---- Manual pages ---- */

/* Text of a line: a hyphen is a minus, a backslash one, and no line begins with a dot or an apostrophe. */
static void roff(const char *text)
{
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++) {
        if (*text == '-')
            printf("\\-");
        else if (*text == '\\')
            printf("\\e");
        else
            putchar(*text);
        if (*text == '\n' && (text[1] == '.' || text[1] == '\'')) printf("\\&");
    }
}

static void show_item(const entry *e)
{
    char told[400];
    printf(".TP\n.B \"");
    roff(e->left);
    printf("\"\n");
    roff(e->help);
    if (limits_of(e, told)) {
        printf("\n.br\n");
        roff(told);
    }
    putchar('\n');
}

static void man_section(const char *title) { printf(".SS %s\n", title); }

static void man_head(const char *name, const char *summary)
{
    printf(".TH \"");
    for (const char *p = name; *p; p++) putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    printf("\" 1 \"\" \"sock %s\" \"User commands\"\n.SH NAME\n", sock_version());
    roff(name);
    printf(" \\- ");
    roff(summary);
    printf("\n.SH SYNOPSIS\n");
}

static void man_example(const char *example)
{
    printf(".SH EXAMPLES\n.nf\n");
    roff(example);
    printf("\n.fi\n");
}

static void print_man(const cli_verb *verb, const cli_option *own)
{
    char name[64];
    snprintf(name, sizeof name, "sock-%s", verb->name);
    man_head(name, verb->summary);
    printf(".B sock ");
    roff(verb->usage);
    printf("\n.SH OPTIONS\n");
    each_entry(verb, own, man_section, show_item);
    man_example(verb->example);
    printf(".SH EXIT STATUS\n0 done; 1 the work could not be done; 2 wrong usage or bad input; 130 interrupted.\n"
           ".SH SEE ALSO\n.BR sock (1)\n");
}

/* ---- For shells ---- */

/* "-" for what is empty: shells take two tabs for one. */
static const char *shown(const char *text) { return text && *text ? text : "-"; }

static void show_names(const entry *e)
{
    if (e->name) printf("--%s\t%s\t%s\t%s\n", e->name, shown(e->metavar), shown(e->choices), e->help);
}

bool help_asked(const cli_verb *verb, const cli_option *own, const char *argument)
{
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
        print_help(verb, own);
    else if (strcmp(argument, "--help=man") == 0)
        print_man(verb, own);
    else if (strcmp(argument, "--help=options") == 0)
        each_entry(verb, own, NULL, show_names);
    else
        return false;
    return true;
}

static void overview_man(void)
{
    man_head("sock", "learn a stochastic differential equation from trajectories");
    printf(".B sock\n.I VERB\n[arguments]\n.SH DESCRIPTION\nLearns dx = f(x) dt + sigma(x) dW from trajectories, "
           "and tells how far the equation can be trusted.\nEach verb has a page of its own.\n.SH VERBS\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        printf(".TP\n.BR sock\\-%s (1)\n", cli_verbs[i]->name);
        roff(cli_verbs[i]->summary);
        putchar('\n');
    }
    man_example("  sock dataset gbm --seed 1 -o data\n  sock fit data/train.csv -o gbm.sock\n"
                "  sock report gbm.sock data/train.csv --test data/test.csv -o report.html");
    printf(".SH FILES\n.TP\n.B DATA\nA CSV with a header (\\- reads standard input), a .npy array, or a folder of "
           "arrays.\n"
           ".SH EXIT STATUS\n0 done; 1 the work could not be done; 2 wrong usage or bad input; 130 interrupted.\n");
}

bool help_overview(const char *argument)
{
    const bool man = strcmp(argument, "--help=man") == 0, verbs = strcmp(argument, "--help=verbs") == 0;
    if (man) overview_man();
    for (size_t i = 0; verbs && cli_verbs[i]; i++) printf("%s\t%s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    return man || verbs;
}
