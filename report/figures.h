/* figures.h - pictures of a model beside its data, as SVG. A guest of the library: it asks models and data through
 * sock.h. Adding a figure is a function and a row of the table in figures.c. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "figtable.h"
#include "sheet.h"
#include "sock.h"

typedef struct evidence evidence;

/* What is drawn, and how. Model, data and truth have the same dimension; the data hold at least one point. */
typedef struct fig_input {
    const sock_model *model;
    const sock_data *data;
    const sock_data *observed; /* of order 2 the positions, while data are lifted (lifted.h); NULL: data */
    const sock_model *truth;   /* NULL: unknown */
    uint64_t seed;             /* of simulated paths */
    sock_bounds bounds;        /* as in sock_simulation */
    const double *lower, *upper;
    size_t pair[2];        /* the states of a plane; both 0: the first two */
    const char *time_name; /* of the time column; NULL: "time" */
    const char *time_axis; /* the same on an axis, for dates that of datemarks.h; NULL: time_name */
    sheet_form form;
    fig_tables *tables; /* where the numbers go; NULL: nowhere */
    evidence *evidence; /* what figures share (evidence.h); NULL: fig_draw makes its own */
} fig_input;

typedef struct fig_figure {
    const char *name;
    sock_status (*draw)(sock_context *ctx, const fig_input *in, char **text, size_t *size);
    const char *(*lack)(const fig_input *in); /* why it cannot be drawn of this, or NULL; may be NULL itself */
} fig_figure;

/* The table: row `index`, or by name; NULL beyond the end, and for an unknown name. Static storage. */
const fig_figure *fig_at(size_t index);
const fig_figure *fig_find(const char *name);

/* Why the figure cannot be drawn of the input, or NULL; fig_no_memory when memory ran out. Static storage. */
extern const char fig_no_memory[];
const char *fig_lack(const fig_figure *figure, const fig_input *in);

/* Draws a row of the table: *text (freed with free()) of *size bytes. A negative status leaves both alone;
 * sock_message() says why unless memory ran out. */
sock_status fig_draw(sock_context *ctx, const fig_figure *figure, const fig_input *in, char **text, size_t *size);

/* The rows, as fig_draw, for an input that has evidence.
 *
 * fig_fields: drift and diffusion where the data are. One dimension: curves over the data's range, above a histogram of
 * the data. More: the plane of two states, arrows for f, ellipses for a (lines where a has rank one).
 * fig_drift, fig_diffusion: one of the two alone.
 * fig_pairs: more than two states: the planes of several pairs.
 * fig_slices: f_k and a_kk along each of the first four states, the others at their mean nearby.
 * fig_trajectories: the data alone.
 * fig_paths: the data with the quantiles of simulated paths, a panel for each of the first four states.
 * fig_density: how often a state is visited, by the data and by the model; with the stationary density.
 * fig_marginals: the same for all pairs of the first four states.
 * fig_residuals: standardised residuals: histogram, quantiles, autocorrelation, against the state.
 * fig_check: the same of the scores of the check, which long steps and measurement noise leave as they are.
 * fig_smooth: of a model with measurement noise: data, smoothed states and the noise.
 * fig_search: the scores that the search found over penalties and length scales. */
sock_status fig_fields(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_drift(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_diffusion(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_pairs(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_slices(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_trajectories(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_paths(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_density(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_marginals(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_residuals(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_check(sock_context *ctx, const fig_input *in, char **text, size_t *size);
sock_status fig_smooth(sock_context *ctx, const fig_input *in, char **text, size_t *size);
const char *fig_smooth_lack(const fig_input *in);
sock_status fig_search(sock_context *ctx, const fig_input *in, char **text, size_t *size);
const char *fig_search_lack(const fig_input *in);

/* ---- The two forms of the fields; which: FIG_F, FIG_A or both ---- */

enum { FIG_F = 1, FIG_A = 2 };
sock_status fig_fields_line(sock_context *ctx, const fig_input *in, int which, char **text, size_t *size);
sock_status fig_fields_plane(sock_context *ctx, const fig_input *in, int which, char **text, size_t *size);

/* The name of the time column, for axes. */
const char *fig_time_name(const fig_input *in);
const char *fig_time_axis(const fig_input *in);

#endif
