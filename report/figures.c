/* figures.c - the table of figures. */
#include "figures.h"

#include "evidence.h"

#include <string.h>

const char fig_no_memory[] = "out of memory";

/* ---- What a figure needs ---- */

/* Neither residuals of steps nor lines of positions alone are of use there. */
static const char *need_first_order(const fig_input *in)
{
    return sock_model_order(in->model) == 2 ? "the model is of order 2: 'check' has the scores of its innovations"
                                            : NULL;
}

static const char *need_diffusion(const fig_input *in)
{
    return sock_model_has_diffusion(in->model) ? NULL : "the model has no diffusion";
}

static const char *need_two(const fig_input *in)
{
    return sock_model_dim(in->model) > 1 ? NULL : "the model has a single state";
}

static const char *need_three(const fig_input *in)
{
    return sock_model_dim(in->model) > 2 ? NULL : "the model has fewer than three states; 'fields' shows them all";
}

static const char *need_steps(const fig_input *in)
{
    for (size_t j = 0; j < sock_data_trajectories(in->data); j++)
        if (sock_data_trajectory(in->data, j, NULL, NULL) > 1) return need_diffusion(in);
    return "no trajectory has two points";
}

static const char *need_residuals(const fig_input *in)
{
    const char *lack = need_first_order(in);
    return lack ? lack : need_steps(in);
}

static const fig_figure table[] = {{"fields", fig_fields, NULL},
                                   {"drift", fig_drift, NULL},
                                   {"diffusion", fig_diffusion, need_diffusion},
                                   {"pairs", fig_pairs, need_three},
                                   {"slices", fig_slices, need_two},
                                   {"trajectories", fig_trajectories, NULL},
                                   {"paths", fig_paths, NULL},
                                   {"density", fig_density, NULL},
                                   {"marginals", fig_marginals, need_two},
                                   {"residuals", fig_residuals, need_residuals},
                                   {"check", fig_check, need_steps},
                                   {"smooth", fig_smooth, fig_smooth_lack},
                                   {"search", fig_search, fig_search_lack}};

const fig_figure *fig_at(size_t index) { return index < sizeof table / sizeof *table ? &table[index] : NULL; }

const fig_figure *fig_find(const char *name)
{
    for (size_t i = 0; fig_at(i); i++)
        if (strcmp(name, fig_at(i)->name) == 0) return fig_at(i);
    return NULL;
}

const char *fig_lack(const fig_figure *figure, const fig_input *in) { return figure->lack ? figure->lack(in) : NULL; }

sock_status fig_draw(sock_context *ctx, const fig_figure *figure, const fig_input *in, char **text, size_t *size)
{
    if (in->evidence) return figure->draw(ctx, in, text, size);
    fig_input own = *in;
    own.evidence = evidence_new(sock_model_dim(in->model));
    const sock_status status = own.evidence ? figure->draw(ctx, &own, text, size) : SOCK_ENOMEM;
    evidence_free(own.evidence);
    return status;
}

const char *fig_time_name(const fig_input *in) { return in->time_name ? in->time_name : "time"; }
const char *fig_time_axis(const fig_input *in) { return in->time_axis ? in->time_axis : fig_time_name(in); }

static sock_status fields(sock_context *ctx, const fig_input *in, int which, char **text, size_t *size)
{
    if (!sock_model_has_diffusion(in->model)) which &= ~FIG_A;
    return sock_model_dim(in->model) == 1 ? fig_fields_line(ctx, in, which, text, size)
                                          : fig_fields_plane(ctx, in, which, text, size);
}

sock_status fig_fields(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    return fields(ctx, in, FIG_F | FIG_A, text, size);
}

sock_status fig_drift(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    return fields(ctx, in, FIG_F, text, size);
}

sock_status fig_diffusion(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    return fields(ctx, in, FIG_A, text, size);
}
