/* densitypanel.c - see densitypanel.h. */
#include "densitypanel.h"

#include "evidence.h"

#include <math.h>
#include <string.h>

int density_of(const fig_input *in, size_t k, const companion *model, const companion *truth, density_look *out)
{
    const size_t d = sock_model_dim(in->model);
    const double *values;
    size_t count;
    if (evidence_sorted(in, k, &values, &count) < 0) return 0;
    *out =
        (density_look){.across = range_widen((range){values[0], values[count - 1]}, 0.08), .has_truth = truth != NULL};
    companion_histogram(count, values, 1, out->across, DENSITY_BINS, out->data);
    companion_histogram(model->count, model->x + k, d, out->across, DENSITY_BINS, out->model);
    if (truth) companion_histogram(truth->count, truth->x + k, d, out->across, DENSITY_BINS, out->truth);
    for (size_t b = 0; b < DENSITY_BINS; b++)
        out->tallest = fmax(out->tallest, fmax(out->data[b], fmax(out->model[b], out->truth[b])));
    return 1;
}

int density_steps(const panel *p, const char *klass, range across, const double *bins)
{
    double xs[2 * DENSITY_BINS + 2], ys[2 * DENSITY_BINS + 2];
    const double width = (across.high - across.low) / DENSITY_BINS;
    size_t used = 0;
    xs[used] = across.low, ys[used++] = 0;
    for (size_t b = 0; b < DENSITY_BINS; b++) {
        xs[used] = across.low + width * (double)b, ys[used++] = bins[b];
        xs[used] = across.low + width * (double)(b + 1), ys[used++] = bins[b];
    }
    xs[used] = across.high, ys[used++] = 0;
    return panel_curve(p, klass, used, xs, ys);
}

int density_draw(const panel *p, const density_look *look)
{
    const double width = (look->across.high - look->across.low) / DENSITY_BINS, wide = width * axis_scale(&p->x);
    double box[4 * DENSITY_BINS];
    size_t boxes = 0;
    for (size_t b = 0; b < DENSITY_BINS; b++) {
        const double left = axis_at(&p->x, look->across.low + width * (double)b), top = axis_at(&p->y, look->data[b]);
        if (!(look->data[b] > 0)) continue;
        memcpy(box + 4 * boxes++, (double[]){left, top, wide * 0.92, p->y.from - top}, 4 * sizeof *box);
    }
    svg_boxes(p->s, "bar", boxes, box);
    int good = density_steps(p, "model", look->across, look->model);
    if (look->has_truth) good = density_steps(p, "truth", look->across, look->truth) && good;
    return good;
}
