/* inputchoice.h - which of the known inputs f and a depend on: forward selection by held-out score before the search,
 * each field for itself. Kernels over inputs that do nothing take up what is not there. */
#ifndef SK_INPUTCHOICE_H
#define SK_INPUTCHOICE_H

#include "tune/searchstate.h"

/* SOCK_EINPUT for inputs that nothing can be learned from: one that never changes, or that is a copy of a state or of
 * another; and for a time that too few trajectories share. */
sock_status sk_inputs_check(sock_context *ctx, const sock_data *data);

/* How an input goes on by the option `hold`: "previous", "linear", or "auto", which looks at the data. */
sk_hold sk_choose_hold(const sock_data *data, size_t k, const char *option);

/* By auto: previous where it changes in few of the steps, doses and groups; else linear. */
sk_hold sk_usual_hold(size_t changes, size_t steps);

/* Whether the best of the inputs that are left joins: by its gain in nats and the paired error of that. */
bool sk_input_joins(double gain, double error);

/* Holds, two-valued inputs, and what the fields need; told gets the gains. SOCK_ENUMERIC when nothing could be fitted.
 */
sock_status sk_choose_inputs(sock_context *ctx, const sk_tune_spec *spec, sk_inputs *out, sk_inputs_told *told);

void sk_inputs_clear(sk_inputs *inputs);

/* The data with the inputs that a field needs; *part is NULL where all are needed. */
sock_status sk_inputs_part(sock_context *ctx, const sock_data *data, const sk_inputs *inputs, sock_data **part);

/* What is decided of these alone. */
void sk_inputs_shrink(sk_inputs *inputs);

#endif
