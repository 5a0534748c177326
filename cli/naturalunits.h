/* naturalunits.h - fields of a model of log(x) as those of x itself. */
#ifndef SOCK_NATURALUNITS_H
#define SOCK_NATURALUNITS_H

#include "cli.h"

#include <stdbool.h>

typedef struct natural_units {
    size_t d;
    char *text, **name; /* names one behind the other; of each state: x for log(x), else its own */
    bool *logged;       /* which of them */
} natural_units;

/* Answers a negative number when it is good, else an exit code: no state is a logarithm, or Ito's formula cannot be
 * used. Whatever it answers, the caller clears. */
int natural_units_of(const cli *c, const sock_model *model, natural_units *units);
void natural_units_clear(natural_units *units);

/* Values of x (count x d), which that option gave, become those of log(x); an exit code where there is none. */
int natural_points(const cli *c, const natural_units *units, const char *option, size_t count, double *x);

/* By Ito's formula, with s_k = exp(x_k) for logarithms and 1 for others: f_k becomes s_k (f_k + a_kk / 2), or f_k;
 * a_kl s_k a_kl s_l; sigma_kl s_k sigma_kl; and x_k s_k. */
void natural_fields(const natural_units *units, size_t count, double *x, double *f, double *a, double *sigma);

#endif
