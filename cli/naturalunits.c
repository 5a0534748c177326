/* naturalunits.c - see naturalunits.h. */
#define _GNU_SOURCE
#include "naturalunits.h"

#include "report/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int natural_units_of(const cli *c, const sock_model *model, natural_units *units)
{
    size_t logs = 0, room = 0;
    units->d = sock_model_dim(model);
    for (size_t k = 0; k < units->d; k++) room += strlen(sock_model_name(model, k)) + 1;
    units->text = calloc(room, 1);
    units->name = calloc(units->d, sizeof *units->name);
    units->logged = calloc(units->d, sizeof *units->logged);
    if (!units->text || !units->name || !units->logged) return cli_fail(c, SOCK_ENOMEM);
    char *to = units->text;
    for (size_t k = 0; k < units->d; k++) {
        size_t length;
        const char *name = sock_model_name(model, k), *inside = unit_inside_log(name, &length);
        units->logged[k] = inside != NULL;
        if (!inside) length = strlen(name);
        units->name[k] = memcpy(to, inside ? inside : name, length);
        to += length + 1;
        logs += units->logged[k];
    }
    if (!logs)
        return cli_usage_error(c, "--natural is for states that are logarithms (fitted with --log); %s has none",
                               c->operand[0]);
    if (sock_model_order(model) == 2)
        return cli_usage_error(c, "--natural is for models of order 1; %s is of order 2", c->operand[0]);
    if (!sock_model_has_diffusion(model))
        return cli_usage_error(c, "--natural needs a for Ito's formula; %s has the drift alone", c->operand[0]);
    return -1;
}

void natural_units_clear(natural_units *units)
{
    free((void *)units->name);
    free(units->text);
    free(units->logged);
    *units = (natural_units){0};
}

int natural_points(const cli *c, const natural_units *units, const char *option, size_t count, double *x)
{
    for (size_t i = 0; i < count * units->d; i++) {
        const size_t k = i % units->d;
        if (!units->logged[k]) continue;
        if (!(x[i] > 0))
            return cli_usage_error(c, "%s has %g for %s; allowed with --natural: values above 0", option, x[i],
                                   units->name[k]);
        x[i] = log(x[i]);
    }
    return -1;
}

static void one_point(const natural_units *units, double *x, double *f, double *a, double *sigma)
{
    const size_t d = units->d;
    for (size_t k = 0; k < d; k++) {
        x[k] = units->logged[k] ? exp(x[k]) : x[k];
        if (units->logged[k]) f[k] = x[k] * (f[k] + 0.5 * a[k * d + k]);
    }
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double row = units->logged[k] ? x[k] : 1, column = units->logged[l] ? x[l] : 1;
            a[k * d + l] *= row * column;
            sigma[k * d + l] *= row;
        }
}

void natural_fields(const natural_units *units, size_t count, double *x, double *f, double *a, double *sigma)
{
    const size_t d = units->d;
    for (size_t i = 0; i < count; i++) one_point(units, x + i * d, f + i * d, a + i * d * d, sigma + i * d * d);
}
