/* modelinputs.h - the inputs of a model where it is asked on data: which columns they are, and their values between two
 * points. */
#ifndef SK_MODELINPUTS_H
#define SK_MODELINPUTS_H

#include "model/model.h"

/* Where the inputs of a model stand among those of data, by name; data without names have them in the model's order.
 * *place: one number for each (SIZE_MAX: the time), freed with sk_free; NULL where there are none. SOCK_EINPUT names an
 * input that the data do not have. */
sock_status sk_inputs_find(sock_context *ctx, const sock_model *model, const sock_data *data, size_t **place);

/* The inputs at a share (0 to 1) of the step from point i of the data; 0: at the point itself, which may be the last.
 */
void sk_inputs_at(const sock_model *model, const size_t *place, const sock_data *data, size_t i, double share,
                  double *u);

/* Points begin .. end-1 of the data as points of the model, states and inputs: (end - begin) x sk_model_in. */
void sk_inputs_join(const sock_model *model, const size_t *place, const sock_data *data, size_t begin, size_t end,
                    double *z);

/* Values at growing times: what is known of the inputs of one path. */
typedef struct sk_input_table {
    size_t times;
    const double *t; /* times */
    const double *u; /* times x inputs; the column of the time: what the clock shows then. NULL: it is the only one */
} sk_input_table;

/* The inputs at a time: by their holds inside the table, beyond its ends what stands there; the clock goes
 * on. *near: a place in the table
 * to begin at, which moves on with time. */
void sk_inputs_at_time(const sock_model *model, const sk_input_table *table, double time, size_t *near, double *u);

#endif
