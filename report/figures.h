/* figures.h - pictures of a model beside its data, as SVG. A guest of the library: it asks models and data through
 * sock.h. Adding a figure is a function and a row of the table in figures.c. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "sock.h"

/* What is drawn. Model, data and truth have the same dimension; the data hold at least one point. */
typedef struct fig_input {
    const sock_model *model;
    const sock_data *data;
    const sock_model *truth; /* NULL: unknown */
    uint64_t seed;           /* of simulated paths */
    sock_bounds bounds;      /* as in sock_simulation */
    const double *lower, *upper;
} fig_input;

typedef struct fig_figure {
    const char *name, *summary;
    sock_status (*draw)(sock_context *ctx, const fig_input *in, char **text, size_t *size);
} fig_figure;

/* The table: row `index`, or by name; NULL beyond the end, and for an unknown name. Static storage. */
const fig_figure *fig_at(size_t index);
const fig_figure *fig_find(const char *name);

/* Each makes one picture: *text (freed with free()) of *size bytes. A negative status leaves both alone;
 * sock_message() says why unless memory ran out.
 *
 * fig_fields: drift and diffusion where the data are. One dimension: curves over the data's range, above a histogram of
 * the data. More: the plane of the first two states, arrows for f, ellipses for a (lines where a has rank one).
 * fig_paths: the data with the quantiles of simulated paths, a panel for each of the first four states. */
sock_status fig_fields(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_paths(sock_context *ctx, const fig_input *in, char **text, size_t *size);

/* ---- The two forms of fig_fields ---- */

sock_status fig_fields_line(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_fields_plane(sock_context *ctx, const fig_input *in, char **text, size_t *size);

#endif
