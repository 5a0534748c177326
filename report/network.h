/* network.h - of many states: which drives which, how strongly, with errors; and how the driven ones answer. */
#ifndef REPORT_NETWORK_H
#define REPORT_NETWORK_H

#include "facts.h"

enum { NETWORK_LEAST = 4 }; /* states from which on a page leads with it */

/* The section, of models with so many states. */
sock_status network_write(sock_context *ctx, FILE *out, const rep_facts *facts, const fig_input *in);

#endif
