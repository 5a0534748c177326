/* databoxes.h - binned moments of the data in boxes of a plane, out of the table of sock_evidence. */
#ifndef REPORT_DATABOXES_H
#define REPORT_DATABOXES_H

#include "figures.h"

#include <jansson.h>

enum { BOXES_MOST = 64 };

/* What the data miss of f and a (of a: the two variances) in a box, with standard errors; NaN: not known. reach: what
 * the square of what is missed of f stays below nine times of ten; chance: how often by chance a bar of a misses. */
typedef struct box {
    double f[2], f_se[2], f_correlation, a[2], a_se[2], reach, chance;
} box;

typedef struct boxes {
    size_t count;
    double *centre; /* count x d: means of the starts of the steps in the box */
    box at[BOXES_MOST];
} boxes;

/* Of the plane of states u (across) and v (up); none where there are none. */
sock_status boxes_of(sock_context *ctx, const fig_input *in, size_t u, size_t v, boxes *out);
void boxes_clear(boxes *b);

/* The covariance of what is missed of f (11, 12, 22), and whether it leaves 0 by more than chance does in one of ten.
 */
void boxes_covariance(const box *b, double out[3]);
int boxes_off(const box *b);

#endif
