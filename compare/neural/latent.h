/* latent.h - the four latent SDEs dz = f dt + g * dW (diagonal noise, Ito) in H dimensions, with the layer that leads
 * in and the one that leads out, and their way back:
 *
 *     z(0) = Lin(X(0)),   yhat(t) = Lin(z(t)),   X(t) = (t, y(t)) the control
 *
 *     sde     f = MLP(Lin[t, z])                           g = MLP(Lin[t, z])
 *     lsde    f = Lin(MLP(Lin[z, Lin X(t)]))               g = MLP(Lin t)
 *     lnsde   f = Lin(MLP(Lin[Lin[t, z], Lin X(t)]))       g = MLP(Lin t) * z
 *     gsde    f = Lin(MLP(Lin[Lin[t, z], Lin X(t)]) * z)   g = MLP(Lin t) * z
 *
 * MLP = Linear, LipSwish, (L-1) times the same, Linear. Without control, [., Lin X(t)] is its first part alone and the
 * layers of the second do not exist. */
#ifndef NN_LATENT_H
#define NN_LATENT_H

#include "layers.h"
#include "neural.h"

typedef struct nn_net {
    nn_kind kind;
    bool controlled; /* X(t) enters the drift */
    size_t d, width;
    nn_linear encoder, readout;
    nn_linear time_state, control; /* Lin[t, z] and Lin X(t), which stand side by side; controlled alone */
    nn_linear gate;                /* gsde: the layer behind the product with z */
    nn_chain drift, diffusion;
    size_t parameters; /* in theta */
    size_t unused;     /* further ones of the original that touch nothing: a layer of sde */
} nn_net;

void nn_net_make(nn_kind kind, nn_control control, size_t d, size_t width, size_t layers, nn_net *net);

/* Parameters at their random start. */
void nn_net_start(const nn_net *net, uint64_t seed, double *theta);

/* A batch on its way through time. Everything is kept for the way back: row r at step k is row k * rows + r of a
 * matrix. */
typedef struct nn_pass {
    sock_context *ctx;
    const nn_net *net;
    const double *theta;
    size_t rows, steps;
    double step;
    double *x0;           /* rows x (d + 1): X(0); this and the next two are filled by the caller */
    double *control;      /* steps x rows x (d + 1): X at the steps' beginnings, where it enters */
    double *noise;        /* rows x steps x H: standard normal numbers */
    double *state;        /* (steps + 1) x rows x (H + 1): (t, z) */
    double *joined;       /* steps x rows x 2H: [Lin[t, z] or z, Lin X], the input of a controlled drift */
    double *djoined;      /* the derivative by it */
    double *gated;        /* steps x rows x H: gsde's product, before its last layer */
    double *dgated;       /* steps x rows x H: the derivative by what follows that layer */
    double *f, *g;        /* rows x H: at the step in work; set by nn_fields_at */
    double *df, *dg;      /* rows x H: where the derivatives by them go; set by nn_fields_slots */
    double *dz;           /* rows x H: derivative of the loss by z */
    double *work, *noisy; /* rows x H each: for f and g, where they are not a chain's own output */
    double *dnoisy;       /* rows x H */
    double *yhat, *dyhat; /* (steps + 1) x rows x d */
    double *dread;        /* (steps + 1) x rows x H: dyhat led back through the readout */
    double *time;         /* steps: t at the steps' beginnings */
    nn_trace drift, diffusion;
} nn_pass;

/* Doubles of work space, and the pass laid into them. theta and step are set by the caller; rows may be set to fewer.
 */
size_t nn_pass_space(const nn_net *net, size_t rows, size_t steps);
void nn_pass_lay(sock_context *ctx, const nn_net *net, size_t rows, size_t steps, double *space, nn_pass *pass);

/* ---- The fields: before the steps; at step k, from state to f and g; and the same way back ---- */

void nn_fields_begin(nn_pass *p);
void nn_fields_at(nn_pass *p, size_t k);

/* Points df and dg to where step k wants them; from there nn_fields_back adds to dz what they mean for it, and leaves
 * the deltas. After a pass forward; each step once. */
void nn_fields_slots(nn_pass *p, size_t k);
void nn_fields_back(nn_pass *p, size_t k);

/* After all steps: adds the gradient by the fields' parameters. */
void nn_fields_gradient(nn_pass *p, double *gradient);

/* ---- The whole path ---- */

/* Fills yhat. */
void nn_path_forward(nn_pass *p);

/* From dyhat to the gradient, to which it adds. */
void nn_path_backward(nn_pass *p, double *gradient);

#endif
