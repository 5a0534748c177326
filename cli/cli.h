/* cli.h - what the verbs of the program share: arguments, messages, progress, output. The program comes in by the front
 * door, sock.h, like any other user. */
#ifndef SOCK_CLI_H
#define SOCK_CLI_H

#include "sock.h"

#include <stdbool.h>
#include <stdio.h>

#if defined(__GNUC__)
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args)
#endif

/* Exit codes: 0 done; 1 the work could not be done (numerics, memory, I/O); 2 wrong usage or bad input; 130
 * interrupted. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* An option of a verb's own. value: where its text goes; flag: where its presence goes (then it takes no value). */
typedef struct cli_option {
    const char *name; /* long name, without -- */
    char letter;      /* 0: none */
    const char **value;
    bool *flag;
    const char *metavar; /* in the help: FILE, N, ..., or the words that are allowed, with | between */
    const char *help;
} cli_option;

typedef struct cli_verb {
    const char *name;
    const char *usage;       /* "fit DATA -o MODEL [options]" */
    const char *summary;     /* one line */
    const char *example;     /* one or more lines, each a command that works */
    const char *const *keys; /* options of the library that it takes, NULL at the end; NULL: none */
    int (*run)(int count, char **arguments);
} cli_verb;

extern const cli_verb verb_fit, verb_plan, verb_pass, verb_merge, verb_eval, verb_simulate, verb_score, verb_check,
    verb_explain, verb_smooth, verb_plot, verb_report, verb_info, verb_convert, verb_split, verb_dataset, verb_compare,
    verb_experiment, verb_version, verb_options;

/* All verbs that the overview shows, NULL at the end. */
extern const cli_verb *const cli_verbs[];

/* Before long work, after the data are read: blocks of rows take the same large pieces of memory again and again, which
 * are kept from here on, and not given back to the system and cleared by it each time (a seventh of the time of a fit
 * in many dimensions). Not before: arrays that grow while a file is read would leave holes, half of its peak. */
void cli_keep_memory(void);

/* The program: what comes first of all (it may start itself anew), then the verb that the arguments name. Answers the
 * exit code. */
void cli_prepare(char **arguments);
int cli_run(int count, char **arguments);

/* The state of one run: context, library options, what every verb takes. */
typedef struct cli {
    sock_context *ctx;
    sock_options *opts;
    const cli_verb *verb;
    bool json, quiet, verbose;
    const cli_option *own; /* the verb's options, as they were given */
    double memory_limit;   /* bytes; 0: not given */
    int operands;
    char **operand;
} cli;

/* Parses the arguments of a verb: its own options, those of the library it names, --json --quiet --threads
 * --memory-limit --help.
 * Answers a negative number when the run should go on, else the exit code. */
int cli_begin(cli *c, const cli_verb *verb, const cli_option *own, int count, char **arguments);
void cli_end(cli *c);

/* The row of the library's options table; empty texts: there is none such. */
sock_option_info cli_describe(const char *key);

/* Exactly `wanted` operands, or a usage message. Answers as cli_begin. */
int cli_operands(const cli *c, int wanted);
int cli_operands_least(const cli *c, int wanted); /* or more */

/* Prints "sock VERB: message" and answers the exit code that belongs to it. */
int cli_fail(const cli *c, sock_status status);
int cli_usage_error(const cli *c, const char *format, ...) CLI_PRINTF(2, 3);
int cli_failure(const cli *c, const char *format, ...) CLI_PRINTF(2, 3); /* EXIT_FAILED */

/* Before long work: can a file be made at path, and is it none of the files that the run reads (operands, options that
 * take a file)? NULL and "-" are fine. Answers as cli_begin. */
int cli_check_output(const cli *c, const char *path);

/* Before work of the program's own that takes `bytes`: refuses what is beyond --memory-limit, or the machine. */
int cli_check_memory(const cli *c, double bytes, const char *what, const char *way_out);

/* A positive status: says the caveat on stderr. */
void cli_caveat(const cli *c, sock_status status);

/* Prints a line to stderr unless --quiet. */
void cli_note(const cli *c, const char *format, ...) CLI_PRINTF(2, 3);

/* Ends standard output: EXIT_DONE, or EXIT_FAILED with a message when it could not be written (full disk, closed pipe).
 */
int cli_finish_output(const cli *c);

/* A whole number without sign or blank at the beginning of text, and where it ends; false: there is none. One that no
 * unsigned long long holds is its largest. */
bool cli_whole(const char *text, char **end, unsigned long long *out);

#endif
