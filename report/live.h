/* live.h - what the page's scripts simulate from: the model as features and weights, and where to begin. */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

#include "facts.h"

/* Whether there will be something: the model has features, and they are not too many for a page. *made: the text of the
 * file, freed with free(), or NULL. */
sock_status live_make(sock_context *ctx, const fig_input *in, const rep_facts *facts, char **made);

/* The section, hidden until the scripts show it. */
void live_write(FILE *out, const char *made, size_t inputs);

#endif
