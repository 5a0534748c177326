/* progress.h - a progress line on a terminal's stderr, and Ctrl-C. */
#ifndef SOCK_PROGRESS_H
#define SOCK_PROGRESS_H

#include "sock.h"

#include <stdbool.h>

/* Ctrl-C (and SIGTERM, and a closed terminal) ask the context to stop; a second one ends the program at once, and so
 * does half a second of processor in which nobody saw the first. show: draw the line, when stderr is a terminal; lines:
 * plain lines instead, wherever stderr goes. verb: for the last word. */
void progress_install(sock_context *ctx, const char *verb, bool show, bool lines);
void progress_remove(void);

/* Wipes the line before something else is printed. */
void progress_clear(void);

#endif
