/* curvepanel.h - one field over one state: the model's curve, the truth's, and beneath them where the data are. */
#ifndef REPORT_CURVEPANEL_H
#define REPORT_CURVEPANEL_H

#include "dots.h"
#include "sheet.h"
#include "sock.h"

typedef struct curve_set {
    size_t count; /* points of the curves */
    const double *x, *model;
    const double *truth;  /* NULL: unknown */
    const double *band;   /* the lower ends of the model's band and, count further, the upper; NULL: it has none */
    const int *outside;   /* with a band: not 0 where it is beyond the range of the data that were fitted */
    const dots *dots;     /* of the data; NULL: none */
    size_t values;        /* of the data along the axis, at least one, */
    const double *sorted; /* sorted */
    const char *state;    /* whose name the x axis has */
    int from_zero;        /* the axis shows 0: what cannot be negative */
} curve_set;

enum { CURVE_STRIP = 40 }; /* sheet_plan.strip for these panels */

/* The next panel of the sheet. 0 when memory ran out. */
int curve_panel(sheet *s, const curve_set *c, const char *title, const char *x_name);

/* Lines of the legend: model and its band, truth where some of it is in a frame, dots, bars; pieces that are guesses.
 */
typedef struct curve_key {
    int band, truth, dots, guess, moved; /* moved: the dots, to the medians of the inputs */
} curve_key;
void curve_keys(sheet *s, const curve_key *has);

/* Whether some of its curve is drawn faint. */
int curve_guesses(const curve_set *c);

/* Whether some of the truth of the set is within its frame. */
int curve_shows_truth(const curve_set *c);

/* From where to where the curves are drawn: the data, and a little more where no bound of the model is in the way. */
enum { CURVE_MARGIN = 6 }; /* per cent of the range on each side */
void curve_reach(const sock_model *model, size_t k, double low, double high, double out[2]);

/* The bands of 90 % of f_k and a_kk at count points, each as curve_set wants it. has_f, has_a: 0 where the model has
 * none, and the numbers are untouched. */
typedef struct curve_ends {
    double *f, *a; /* 2 x count each */
    int *outside;  /* count */
    int has_f, has_a;
} curve_ends;
sock_status curve_bands(sock_context *ctx, const sock_model *model, size_t k, size_t count, const double *x,
                        curve_ends *out);

#endif
