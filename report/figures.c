/* figures.c - the table of figures. */
#include "figures.h"

#include <string.h>

static const fig_figure table[] = {{"fields", "drift and diffusion where the data are", fig_fields},
                                   {"paths", "the data with the fan of simulated paths", fig_paths}};

const fig_figure *fig_at(size_t index) { return index < sizeof table / sizeof *table ? &table[index] : NULL; }

const fig_figure *fig_find(const char *name)
{
    for (size_t i = 0; fig_at(i); i++)
        if (strcmp(name, fig_at(i)->name) == 0) return fig_at(i);
    return NULL;
}

sock_status fig_fields(sock_context *ctx, const fig_input *in, char **text, size_t *size)
{
    return sock_model_dim(in->model) == 1 ? fig_fields_line(ctx, in, text, size)
                                          : fig_fields_plane(ctx, in, text, size);
}
