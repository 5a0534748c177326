/* layers.h - the few layers that the neural rivals are made of, batch first: a batch is a matrix with a row for each
 * sample. Parameters of a whole network stand in one array theta and their gradients in another of the same layout; a
 * layer knows its place there.
 *
 * A chain is linear layers in a row, some with LipSwish behind them. A pass forward through a chain leaves its trace;
 * the pass backward fills the trace's deltas; and the gradient is one matrix product a layer over the rows of all steps
 * in time together, which is why it is a call of its own. */
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "base/base.h"

/* y = x W + b. W is in x out at theta + at, b (out) right behind it. */
typedef struct nn_linear {
    size_t in, out, at;
} nn_linear;

/* Rows of numbers with a row length of their own: a part of the columns of a matrix, for example. */
typedef struct nn_rows {
    double *x;
    size_t ld;
} nn_rows;

/* Places a layer behind the *size parameters so far. */
nn_linear nn_linear_place(size_t in, size_t out, size_t *size);

/* The start: weights and biases uniform on +-1/sqrt(in), from the stream (key, 0, at). */
void nn_linear_start(const nn_linear *layer, sk_key key, double *theta);

void nn_linear_forward(sock_context *ctx, const nn_linear *layer, const double *theta, size_t rows, nn_rows x,
                       nn_rows y);

/* dx = beta dx + dy W'. */
void nn_linear_backward(sock_context *ctx, const nn_linear *layer, const double *theta, size_t rows, nn_rows dy,
                        double beta, nn_rows dx);

/* Adds x' dy and the column sums of dy to the layer's part of the gradient. */
void nn_linear_gradient(sock_context *ctx, const nn_linear *layer, size_t rows, nn_rows x, nn_rows dy,
                        double *gradient);

/* LipSwish(u) = 0.909 u / (1 + exp(-u)): x in place, slope gets the derivative. */
void nn_lipswish(size_t count, double *x, double *slope);

/* ---- Chains ---- */

enum { NN_MOST_LAYERS = 12 };

typedef struct nn_chain {
    size_t count;
    nn_linear layer[NN_MOST_LAYERS];
    bool curved[NN_MOST_LAYERS]; /* LipSwish behind the layer */
} nn_chain;

/* What a pass leaves for the way back: for each layer its output, the slope of its LipSwish and the derivative by its
 * output before the LipSwish; rows x width each. */
typedef struct nn_trace {
    double *out[NN_MOST_LAYERS], *slope[NN_MOST_LAYERS], *delta[NN_MOST_LAYERS];
} nn_trace;

/* Appends a layer to the chain. */
void nn_chain_add(nn_chain *chain, size_t in, size_t out, bool curved, size_t *size);
void nn_chain_start(const nn_chain *chain, sk_key key, double *theta);

/* Doubles of a trace of so many rows, and the trace laid into them. */
size_t nn_trace_space(const nn_chain *chain, size_t rows);
void nn_trace_lay(const nn_chain *chain, size_t rows, double *space, nn_trace *trace);

/* Rows first .. first + count - 1 of the trace; x holds these rows alone. The result is where nn_chain_output points.
 */
void nn_chain_forward(sock_context *ctx, const nn_chain *chain, const double *theta, nn_trace *trace, size_t first,
                      size_t count, nn_rows x);
nn_rows nn_chain_output(const nn_chain *chain, const nn_trace *trace, size_t first);

/* Where the derivative by the chain's output is to be written before nn_chain_backward. */
nn_rows nn_chain_delta(const nn_chain *chain, const nn_trace *trace, size_t first);

/* From the derivative by the output to the one by the input: dx = beta dx + ...; dx.x NULL: not wanted. */
void nn_chain_backward(sock_context *ctx, const nn_chain *chain, const double *theta, nn_trace *trace, size_t first,
                       size_t count, double beta, nn_rows dx);

/* Adds the gradient by the parameters over all rows 0 .. rows - 1; x: all rows of the input. */
void nn_chain_gradient(sock_context *ctx, const nn_chain *chain, const nn_trace *trace, size_t rows, nn_rows x,
                       double *gradient);

/* ---- Adam ---- */

typedef struct nn_adam {
    double rate;
    size_t count, steps; /* parameters; steps taken */
    double *mean, *square;
} nn_adam;

/* One step downhill (Kingma and Ba 2015; beta 0.9 and 0.999, epsilon 1e-8). */
void nn_adam_step(nn_adam *adam, const double *gradient, double *theta);

#endif
