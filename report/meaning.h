/* meaning.h - what the equation means, out of sock_explain: fixed points, potential, wells and escape times, the
 * stationary law, the current and the entropy production. */
#ifndef REPORT_MEANING_H
#define REPORT_MEANING_H

#include "facts.h"

/* Whether there is anything to tell. */
sock_status meaning_has(sock_context *ctx, const fig_input *in, int *has);

/* The section. */
sock_status meaning_write(sock_context *ctx, FILE *out, const rep_facts *facts, const fig_input *in);

#endif
