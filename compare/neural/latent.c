/* latent.c - the four latent SDEs: which layers they have, their fields f and g, and the way back through the fields
 * (formulas in latent.h).
 *
 * g of lsde, lnsde and gsde is a function of time alone, up to the factor z: its chain has one row for each step, not
 * one for each step and sample, and is run once before the steps and once back after them. */
#include "latent.h"

#include <math.h>
#include <string.h>

/* ---- Layers ---- */

/* Linear, LipSwish, (L - 1) times the same, Linear. */
static void add_mlp(nn_chain *chain, size_t width, size_t layers, size_t *size)
{
    for (size_t l = 0; l < layers; l++) nn_chain_add(chain, width, width, true, size);
    nn_chain_add(chain, width, width, false, size);
}

void nn_net_make(nn_kind kind, nn_control control, size_t d, size_t width, size_t layers, nn_net *net)
{
    const size_t H = width;
    *net = (nn_net){.kind = kind, .d = d, .width = H};
    net->controlled = kind != NN_SDE && control != NN_CONTROL_NONE;
    const bool timed = kind == NN_LNSDE || kind == NN_GSDE; /* time enters the drift by a layer of its own */
    size_t *size = &net->parameters;
    net->encoder = nn_linear_place(d + 1, H, size);
    net->readout = nn_linear_place(H, d, size);
    if (kind == NN_SDE || (timed && !net->controlled)) nn_chain_add(&net->drift, H + 1, H, false, size);
    if (net->controlled) {
        if (timed) net->time_state = nn_linear_place(H + 1, H, size);
        net->control = nn_linear_place(d + 1, H, size);
    }
    if (kind != NN_SDE) nn_chain_add(&net->drift, net->controlled ? 2 * H : H, H, false, size);
    add_mlp(&net->drift, H, layers, size);
    if (kind == NN_LSDE || kind == NN_LNSDE) nn_chain_add(&net->drift, H, H, false, size);
    if (kind == NN_GSDE) net->gate = nn_linear_place(H, H, size);
    nn_chain_add(&net->diffusion, kind == NN_SDE ? H + 1 : 1, H, false, size);
    add_mlp(&net->diffusion, H, layers, size);
    if (kind == NN_SDE) net->unused = (H + 1) * H;
}

void nn_net_start(const nn_net *net, uint64_t seed, double *theta)
{
    const nn_linear *single[] = {&net->encoder, &net->readout, &net->time_state, &net->control, &net->gate};
    const sk_key key = {seed, SK_PURPOSE_NEURAL};
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (single[i]->in) nn_linear_start(single[i], key, theta);
    nn_chain_start(&net->drift, key, theta);
    nn_chain_start(&net->diffusion, key, theta);
}

/* ---- Work space ---- */

static size_t diffusion_rows(const nn_net *net, size_t rows, size_t steps)
{
    return net->kind == NN_SDE ? rows * steps : steps;
}

/* Sizes of the arrays, in the order in which they are laid. */
enum { ARRAYS = 16 };
static void array_sizes(const nn_net *net, size_t rows, size_t steps, size_t size[ARRAYS])
{
    const size_t H = net->width, kept = steps * rows, nodes = (steps + 1) * rows;
    const size_t joined = net->controlled ? kept * 2 * H : 0, gated = net->kind == NN_GSDE ? kept * H : 0;
    const size_t control = net->controlled ? kept * (net->d + 1) : 0, row = rows * H;
    const size_t sizes[ARRAYS] = {nodes * (H + 1),
                                  joined,
                                  joined,
                                  gated,
                                  gated,
                                  row,
                                  row,
                                  row,
                                  row,
                                  nodes * net->d,
                                  nodes * net->d,
                                  nodes * H,
                                  steps,
                                  rows * (net->d + 1),
                                  control,
                                  kept * H};
    memcpy(size, sizes, sizeof sizes);
}

size_t nn_pass_space(const nn_net *net, size_t rows, size_t steps)
{
    size_t size[ARRAYS], sum = 0;
    array_sizes(net, rows, steps, size);
    for (size_t i = 0; i < ARRAYS; i++) sum += size[i];
    return sum + nn_trace_space(&net->drift, rows * steps) +
           nn_trace_space(&net->diffusion, diffusion_rows(net, rows, steps));
}

void nn_pass_lay(sock_context *ctx, const nn_net *net, size_t rows, size_t steps, double *space, nn_pass *p)
{
    size_t size[ARRAYS];
    *p = (nn_pass){.ctx = ctx, .net = net, .rows = rows, .steps = steps};
    double **array[ARRAYS] = {&p->state, &p->joined, &p->djoined, &p->gated, &p->dgated, &p->dz,
                              &p->work,  &p->noisy,  &p->dnoisy,  &p->yhat,  &p->dyhat,  &p->dread,
                              &p->time,  &p->x0,     &p->control, &p->noise};
    array_sizes(net, rows, steps, size);
    for (size_t i = 0; i < ARRAYS; i++) {
        *array[i] = space;
        space += size[i];
    }
    nn_trace_lay(&net->drift, rows * steps, space, &p->drift);
    space += nn_trace_space(&net->drift, rows * steps);
    nn_trace_lay(&net->diffusion, diffusion_rows(net, rows, steps), space, &p->diffusion);
}

/* (t, z) of step k, and z alone. */
static nn_rows state_at(const nn_pass *p, size_t k)
{
    const size_t ld = p->net->width + 1;
    return (nn_rows){p->state + k * p->rows * ld, ld};
}

static nn_rows z_at(const nn_pass *p, size_t k)
{
    nn_rows s = state_at(p, k);
    return (nn_rows){s.x + 1, s.ld};
}

/* The halves of [., Lin X] of step k, in `joined` or its derivative. */
static nn_rows half_at(const nn_pass *p, double *joined, size_t k, int half)
{
    const size_t H = p->net->width;
    return (nn_rows){joined + 2 * k * p->rows * H + (half ? H : 0), 2 * H};
}

static nn_rows control_at(const nn_pass *p, size_t k)
{
    const size_t ld = p->net->d + 1;
    return (nn_rows){p->control + k * p->rows * ld, ld};
}

/* What the chain of the drift starts from at step k; k = 0 stands for all steps, too. */
static nn_rows drift_input(const nn_pass *p, size_t k)
{
    if (p->net->controlled) return (nn_rows){p->joined + 2 * k * p->rows * p->net->width, 2 * p->net->width};
    return p->net->kind == NN_LSDE ? z_at(p, k) : state_at(p, k);
}

static nn_rows packed(const nn_pass *p, double *x) { return (nn_rows){x, p->net->width}; }

/* y += a * b by elements, over the rows of a step. */
static void add_products(size_t rows, size_t width, const double *a, nn_rows b, nn_rows y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++) y.x[r * y.ld + i] += a[r * width + i] * b.x[r * b.ld + i];
}

/* y = a * b by elements; step 0 for a: one row for all. */
static void products(size_t rows, size_t width, const double *a, size_t a_step, nn_rows b, double *y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++) y[r * width + i] = a[r * a_step + i] * b.x[r * b.ld + i];
}

/* ---- Forward ---- */

void nn_fields_begin(nn_pass *p)
{
    for (size_t k = 0; k < p->steps; k++) p->time[k] = (double)k * p->step;
    if (p->net->kind == NN_SDE) return;
    nn_chain_forward(p->ctx, &p->net->diffusion, p->theta, &p->diffusion, 0, p->steps, (nn_rows){p->time, 1});
}

/* The left half is Lin[t, z], or z itself; the right one Lin X. */
static void join(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    nn_rows left = half_at(p, p->joined, k, 0), z = z_at(p, k);
    if (net->kind != NN_LSDE)
        nn_linear_forward(p->ctx, &net->time_state, p->theta, p->rows, state_at(p, k), left);
    else
        for (size_t r = 0; r < p->rows; r++) memcpy(left.x + r * left.ld, z.x + r * z.ld, net->width * sizeof *z.x);
    nn_linear_forward(p->ctx, &net->control, p->theta, p->rows, control_at(p, k), half_at(p, p->joined, k, 1));
}

static void drift_at(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    const size_t first = k * p->rows;
    if (net->controlled) join(p, k);
    nn_chain_forward(p->ctx, &net->drift, p->theta, &p->drift, first, p->rows, drift_input(p, k));
    p->f = nn_chain_output(&net->drift, &p->drift, first).x;
    if (net->kind != NN_GSDE) return;
    double *gated = p->gated + first * net->width;
    products(p->rows, net->width, p->f, net->width, z_at(p, k), gated);
    p->f = p->work;
    nn_linear_forward(p->ctx, &net->gate, p->theta, p->rows, packed(p, gated), packed(p, p->f));
}

static void diffusion_at(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    const size_t H = net->width;
    if (net->kind == NN_SDE) {
        nn_chain_forward(p->ctx, &net->diffusion, p->theta, &p->diffusion, k * p->rows, p->rows, state_at(p, k));
        p->g = nn_chain_output(&net->diffusion, &p->diffusion, k * p->rows).x;
        return;
    }
    const double *of_time = nn_chain_output(&net->diffusion, &p->diffusion, k).x;
    p->g = p->noisy;
    if (net->kind == NN_LSDE)
        for (size_t r = 0; r < p->rows; r++) memcpy(p->g + r * H, of_time, H * sizeof *of_time);
    else
        products(p->rows, H, of_time, 0, z_at(p, k), p->g);
}

void nn_fields_at(nn_pass *p, size_t k)
{
    drift_at(p, k);
    diffusion_at(p, k);
}

/* ---- Backward ---- */

void nn_fields_slots(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    const size_t first = k * p->rows;
    p->df = net->kind == NN_GSDE ? p->dgated + first * net->width : nn_chain_delta(&net->drift, &p->drift, first).x;
    p->dg = net->kind == NN_SDE ? nn_chain_delta(&net->diffusion, &p->diffusion, first).x : p->dnoisy;
}

/* f = Lin(c * z): the derivative by the chain's output c is z * (W df), that by z is c * (W df). */
static void gate_back(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    const size_t first = k * p->rows;
    nn_linear_backward(p->ctx, &net->gate, p->theta, p->rows, packed(p, p->df), 0, packed(p, p->work));
    products(p->rows, net->width, p->work, net->width, z_at(p, k), nn_chain_delta(&net->drift, &p->drift, first).x);
    add_products(p->rows, net->width, p->work, nn_chain_output(&net->drift, &p->drift, first), packed(p, p->dz));
}

/* The first column of [t, z] is time, whose derivative nobody wants: the layer without its first row. */
static nn_linear without_time(const nn_linear *layer)
{
    return (nn_linear){layer->in - 1, layer->out, layer->at + layer->out};
}

/* A chain whose input is [t, z]: dz += ... */
static void timed_chain_back(nn_pass *p, const nn_chain *chain, nn_trace *trace, size_t k)
{
    const nn_linear first = without_time(&chain->layer[0]);
    nn_chain_backward(p->ctx, chain, p->theta, trace, k * p->rows, p->rows, 0, (nn_rows){NULL, 0});
    nn_rows delta = {trace->delta[0] + k * p->rows * first.out, first.out};
    nn_linear_backward(p->ctx, &first, p->theta, p->rows, delta, 1, packed(p, p->dz));
}

static void joined_back(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    nn_rows left = half_at(p, p->djoined, k, 0);
    nn_chain_backward(p->ctx, &net->drift, p->theta, &p->drift, k * p->rows, p->rows, 0, left);
    if (net->kind != NN_LSDE) {
        const nn_linear layer = without_time(&net->time_state);
        nn_linear_backward(p->ctx, &layer, p->theta, p->rows, left, 1, packed(p, p->dz));
        return;
    }
    for (size_t r = 0; r < p->rows; r++)
        for (size_t i = 0; i < net->width; i++) p->dz[r * net->width + i] += left.x[r * left.ld + i];
}

static void drift_back(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    if (net->kind == NN_GSDE) gate_back(p, k);
    if (net->controlled)
        joined_back(p, k);
    else if (net->kind == NN_LSDE)
        nn_chain_backward(p->ctx, &net->drift, p->theta, &p->drift, k * p->rows, p->rows, 1, packed(p, p->dz));
    else
        timed_chain_back(p, &net->drift, &p->drift, k);
}

/* g = G(t) or G(t) * z: the row of G gets the sum over the samples. */
static void diffusion_back(nn_pass *p, size_t k)
{
    const nn_net *net = p->net;
    const size_t H = net->width;
    if (net->kind == NN_SDE) {
        timed_chain_back(p, &net->diffusion, &p->diffusion, k);
        return;
    }
    const double *of_time = nn_chain_output(&net->diffusion, &p->diffusion, k).x;
    double *delta = nn_chain_delta(&net->diffusion, &p->diffusion, k).x;
    nn_rows z = z_at(p, k);
    memset(delta, 0, H * sizeof *delta);
    for (size_t r = 0; r < p->rows; r++) {
        const double *dg = p->dg + r * H, *z_r = z.x + r * z.ld;
        double *dz = p->dz + r * H;
        for (size_t i = 0; i < H && net->kind == NN_LSDE; i++) delta[i] += dg[i];
        for (size_t i = 0; i < H && net->kind != NN_LSDE; i++) {
            delta[i] += dg[i] * z_r[i];
            dz[i] += dg[i] * of_time[i];
        }
    }
}

void nn_fields_back(nn_pass *p, size_t k)
{
    drift_back(p, k);
    diffusion_back(p, k);
}

void nn_fields_gradient(nn_pass *p, double *gradient)
{
    const nn_net *net = p->net;
    const size_t rows = p->rows * p->steps;
    nn_chain_gradient(p->ctx, &net->drift, &p->drift, rows, drift_input(p, 0), gradient);
    if (net->controlled) {
        nn_linear_gradient(p->ctx, &net->control, rows, control_at(p, 0), half_at(p, p->djoined, 0, 1), gradient);
        if (net->kind != NN_LSDE)
            nn_linear_gradient(p->ctx, &net->time_state, rows, state_at(p, 0), half_at(p, p->djoined, 0, 0), gradient);
    }
    if (net->kind == NN_GSDE)
        nn_linear_gradient(p->ctx, &net->gate, rows, packed(p, p->gated), packed(p, p->dgated), gradient);
    if (net->kind == NN_SDE) {
        nn_chain_gradient(p->ctx, &net->diffusion, &p->diffusion, rows, state_at(p, 0), gradient);
        return;
    }
    const nn_rows time = {p->time, 1};
    nn_chain_backward(p->ctx, &net->diffusion, p->theta, &p->diffusion, 0, p->steps, 0, (nn_rows){NULL, 0});
    nn_chain_gradient(p->ctx, &net->diffusion, &p->diffusion, p->steps, time, gradient);
}
