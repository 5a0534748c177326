/* lifted.h - of a model of order 2 the data have positions alone: figures draw them with the velocities that the
 * smoother finds. Guest code. */
#ifndef REPORT_LIFTED_H
#define REPORT_LIFTED_H

#include "figures.h"

/* The smoothed positions and velocities as data (freed with sock_data_free()); *out is NULL for a model of order 1. */
sock_status lifted_new(sock_context *ctx, const sock_model *model, const sock_data *data, sock_data **out);

/* The same as in->data, and the data as they are as in->observed. For order 1 in->data alone is set. */
sock_status lifted_take(sock_context *ctx, const sock_data *data, fig_input *in, sock_data **out);

/* What was observed. */
const sock_data *lifted_observed(const fig_input *in);

/* States of the model that data have. */
size_t lifted_seen(const sock_model *model);

#endif
