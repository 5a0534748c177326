/* driven.h - models with inputs in figures: fields are drawn with the inputs at their medians, paths and residuals with
 * those of the data. For a model without inputs all this is what sock.h has. */
#ifndef REPORT_DRIVEN_H
#define REPORT_DRIVEN_H

#include "sock.h"

/* f and a at points with the inputs at the medians of the data of the fit; like: the model whose medians count. */
sock_status driven_drift(sock_context *ctx, const sock_model *model, const sock_model *like, size_t count,
                         const double *x, double *f);
sock_status driven_diffusion(sock_context *ctx, const sock_model *model, const sock_model *like, size_t count,
                             const double *x, double *a);

/* Bands at such points. */
sock_status driven_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x, double level,
                         const sock_bands *out);

/* The inputs of a model along trajectory j of the data: length x inputs, malloc; NULL where there are none, or out of
 * memory (*failed). */
double *driven_inputs(const sock_model *model, const sock_data *data, size_t j, int *failed);

/* The same in the specification of paths from one start; the array is freed by the caller after the simulation. */
sock_status driven_paths(const sock_model *model, const sock_data *data, size_t j, sock_simulation *spec, double **u);

/* Paths of a model whose inputs stay at their medians: u has room for starts x inputs of it. */
sock_status driven_at_rest(const sock_model *model, sock_simulation *spec, double **u);

/* f and a of steps that begin at t over h in trajectories of the data: at the begin, or (end) at the end. */
typedef struct driven_steps {
    size_t count;
    const size_t *trajectory; /* count, neighbouring ones mostly the same */
    const double *t, *h;      /* count */
    const double *x;          /* count x d */
    int end;
} driven_steps;
sock_status driven_fields(sock_context *ctx, const sock_model *model, const sock_data *data, const driven_steps *at,
                          double *f, double *a);

#endif
