/* layers.c - linear layers, LipSwish, chains of them, and Adam.
 *
 * Forward      y = x W + b                     u -> 0.909 u s(u),  s(u) = 1/(1 + exp(-u))
 * Backward     dx = dy W'                      du = 0.909 (s + u s (1 - s)) dy
 * Gradient     dW += x' dy,  db += 1' dy       over the rows of all samples and steps in time at once */
#include "layers.h"

#include "la/la.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- Linear ---- */

nn_linear nn_linear_place(size_t in, size_t out, size_t *size)
{
    nn_linear layer = {in, out, *size};
    *size += (in + 1) * out;
    return layer;
}

void nn_linear_start(const nn_linear *layer, sk_key key, double *theta)
{
    const size_t count = (layer->in + 1) * layer->out;
    const double bound = 1 / sqrt((double)layer->in);
    double *w = theta + layer->at;
    sk_uniforms(key, 0, layer->at, 0, count, w);
    for (size_t i = 0; i < count; i++) w[i] = bound * (2 * w[i] - 1);
}

void nn_linear_forward(sock_context *ctx, const nn_linear *layer, const double *theta, size_t rows, nn_rows x,
                       nn_rows y)
{
    const double *w = theta + layer->at, *b = w + layer->in * layer->out;
    for (size_t r = 0; r < rows; r++) memcpy(y.x + r * y.ld, b, layer->out * sizeof *b);
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, rows, layer->out, layer->in, 1, x.x, x.ld, w, layer->out, 1, y.x, y.ld);
}

void nn_linear_backward(sock_context *ctx, const nn_linear *layer, const double *theta, size_t rows, nn_rows dy,
                        double beta, nn_rows dx)
{
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, rows, layer->in, layer->out, 1, dy.x, dy.ld, theta + layer->at, layer->out,
            beta, dx.x, dx.ld);
}

void nn_linear_gradient(sock_context *ctx, const nn_linear *layer, size_t rows, nn_rows x, nn_rows dy, double *gradient)
{
    double *w = gradient + layer->at, *b = w + layer->in * layer->out;
    sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, layer->in, layer->out, rows, 1, x.x, x.ld, dy.x, dy.ld, 1, w, layer->out);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < layer->out; k++) b[k] += dy.x[r * dy.ld + k];
}

/* ---- LipSwish ---- */

/* 1/1.1: the Lipschitz constant of u s(u) is a little below 1.1; the original rounds to 0.909. */
#define LIPSWISH 0.909

void nn_lipswish(size_t count, double *x, double *slope)
{
    for (size_t i = 0; i < count; i++) slope[i] = -x[i];
    sk_vexp(count, slope, slope);
    for (size_t i = 0; i < count; i++) {
        double s = 1 / (1 + slope[i]), u = x[i];
        x[i] = LIPSWISH * u * s;
        slope[i] = LIPSWISH * (s + u * s * (1 - s));
    }
}

/* ---- Chains ---- */

void nn_chain_add(nn_chain *chain, size_t in, size_t out, bool curved, size_t *size)
{
    assert(chain->count < NN_MOST_LAYERS);
    chain->curved[chain->count] = curved;
    chain->layer[chain->count++] = nn_linear_place(in, out, size);
}

void nn_chain_start(const nn_chain *chain, sk_key key, double *theta)
{
    for (size_t j = 0; j < chain->count; j++) nn_linear_start(&chain->layer[j], key, theta);
}

size_t nn_trace_space(const nn_chain *chain, size_t rows)
{
    size_t space = 0;
    for (size_t j = 0; j < chain->count; j++) space += 3 * rows * chain->layer[j].out;
    return space;
}

void nn_trace_lay(const nn_chain *chain, size_t rows, double *space, nn_trace *trace)
{
    for (size_t j = 0; j < chain->count; j++) {
        const size_t size = rows * chain->layer[j].out;
        trace->out[j] = space;
        trace->slope[j] = space + size;
        trace->delta[j] = space + 2 * size;
        space += 3 * size;
    }
}

static nn_rows rows_of(const nn_chain *chain, double *const *array, size_t j, size_t first)
{
    const size_t width = chain->layer[j].out;
    return (nn_rows){array[j] + first * width, width};
}

nn_rows nn_chain_output(const nn_chain *chain, const nn_trace *trace, size_t first)
{
    return rows_of(chain, trace->out, chain->count - 1, first);
}

nn_rows nn_chain_delta(const nn_chain *chain, const nn_trace *trace, size_t first)
{
    return rows_of(chain, trace->delta, chain->count - 1, first);
}

void nn_chain_forward(sock_context *ctx, const nn_chain *chain, const double *theta, nn_trace *trace, size_t first,
                      size_t count, nn_rows x)
{
    for (size_t j = 0; j < chain->count; j++) {
        nn_rows y = rows_of(chain, trace->out, j, first);
        nn_linear_forward(ctx, &chain->layer[j], theta, count, x, y);
        if (chain->curved[j]) nn_lipswish(count * y.ld, y.x, trace->slope[j] + first * y.ld);
        x = y;
    }
}

void nn_chain_backward(sock_context *ctx, const nn_chain *chain, const double *theta, nn_trace *trace, size_t first,
                       size_t count, double beta, nn_rows dx)
{
    for (size_t j = chain->count; j-- > 0;) {
        nn_rows dy = rows_of(chain, trace->delta, j, first);
        const double *slope = trace->slope[j] + first * dy.ld;
        if (chain->curved[j])
            for (size_t i = 0; i < count * dy.ld; i++) dy.x[i] *= slope[i];
        if (j > 0)
            nn_linear_backward(ctx, &chain->layer[j], theta, count, dy, 0, rows_of(chain, trace->delta, j - 1, first));
        else if (dx.x)
            nn_linear_backward(ctx, &chain->layer[0], theta, count, dy, beta, dx);
    }
}

void nn_chain_gradient(sock_context *ctx, const nn_chain *chain, const nn_trace *trace, size_t rows, nn_rows x,
                       double *gradient)
{
    for (size_t j = 0; j < chain->count; j++) {
        nn_linear_gradient(ctx, &chain->layer[j], rows, x, rows_of(chain, trace->delta, j, 0), gradient);
        x = rows_of(chain, trace->out, j, 0);
    }
}

/* ---- Adam ---- */

void nn_adam_step(nn_adam *adam, const double *gradient, double *theta)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    adam->steps++;
    const double bias1 = 1 - pow(beta1, (double)adam->steps), bias2 = 1 - pow(beta2, (double)adam->steps);
    const double rate = adam->rate / bias1, root = 1 / sqrt(bias2);
    for (size_t i = 0; i < adam->count; i++) {
        const double g = gradient[i];
        adam->mean[i] = beta1 * adam->mean[i] + (1 - beta1) * g;
        adam->square[i] = beta2 * adam->square[i] + (1 - beta2) * g * g;
        theta[i] -= rate * adam->mean[i] / (root * sqrt(adam->square[i]) + epsilon);
    }
}
