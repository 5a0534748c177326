/* dots.h - binned moments of the data as dots with error bars, out of the table of sock_evidence. */
#ifndef REPORT_DOTS_H
#define REPORT_DOTS_H

#include "figures.h"

#include <jansson.h>

enum { DOTS_MOST = 64 };

/* One field over one state: where a dot stands, what the data miss of the model there, and its standard error. */
typedef struct dots {
    size_t count;
    double x[DOTS_MOST], shift[DOTS_MOST], se[DOTS_MOST];
} dots;

/* Of state k over single steps; field: 'f' or 'a'. None where there are none. */
sock_status dots_of(sock_context *ctx, const fig_input *in, size_t k, char field, dots *out);

/* Adds the value of a curve (count points, x rising) to what is missed: *out is the height of dot i. */
double dots_height(const dots *d, size_t i, size_t count, const double *x, const double *y);

#endif
