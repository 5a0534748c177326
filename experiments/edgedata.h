/* edgedata.h - data at the edges of the default: systems of any dimension, and the same data told in another way
 * (shifted, in other units, in another order, cut). */
#ifndef EXP_EDGEDATA_H
#define EXP_EDGEDATA_H

#include "sock.h"

typedef struct edge_system {
    const char *name;
    size_t d;
    double gap;    /* between two points in time */
    double spread; /* starts lie within this of centre, in each state */
    double centre;
    sock_field_fn drift, diffusion; /* user is the system */
    double a;                       /* what the diffusion is where it is constant */
} edge_system;

/* d = 0 in the table: as the caller says. NULL: there is no such system. */
const edge_system *edge_find(const char *name);

/* Paths of one length on one grid of times. */
typedef struct edge_paths {
    edge_system system;
    size_t paths, points;
    double *t; /* points */
    double *x; /* paths x points x d */
    sock_model *truth;
} edge_paths;

/* d: of a system that leaves it open. Freed with edge_free. */
sock_status edge_simulate(sock_context *ctx, const char *name, size_t d, size_t paths, size_t points, uint64_t seed,
                          edge_paths *out);
void edge_free(edge_paths *p);

/* Another way to tell the same data: y = unit (x + shift), then states backwards, turned, trajectories backwards, cut.
 */
typedef struct edge_telling {
    double shift, unit; /* unit 0: 1 */
    int backwards;      /* the last state first */
    int reversed;       /* the last trajectory first */
    int turned;         /* by 30 degrees; two states */
    int cut;            /* the first trajectory is two, which share the point between */
} edge_telling;

sock_status edge_data(sock_context *ctx, const edge_paths *p, edge_telling told, sock_data **out);

/* f (count x d) and a (count x d x d) of a model of data told so, brought back to the data's own x. */
sock_status edge_fields(sock_context *ctx, const sock_model *model, edge_telling told, size_t count, size_t d,
                        const double *x, double *f, double *a);

/* Percent, in the Frobenius norm over at most 4000 points of the data: of what `model` of data told so says against
 * `reference`, a model of the data as they are. */
sock_status edge_change(sock_context *ctx, const edge_paths *p, const sock_model *reference, const sock_model *model,
                        edge_telling told, double *f, double *a);

#endif
