/* helptext.h - what a verb takes, told from its rows and the options table: as help, as a manual page, as a list for
 * shells to complete by. */
#ifndef SOCK_HELPTEXT_H
#define SOCK_HELPTEXT_H

#include "cli.h"

/* Prints what the argument asks for and answers true: --help or -h for people, --help=man a manual page,
 * --help=options a line for each option (name, metavar, choices, help, with tabs between). */
bool help_asked(const cli_verb *verb, const cli_option *own, const char *argument);

/* The same for the program itself: --help=man, --help=verbs. */
bool help_overview(const char *argument);

#endif
