/* batch.c - the mean squared error of one simulated path for each trajectory, and its gradient. Pieces of NN_PIECE
 * trajectories run in parallel. */
#include "batch.h"

#include <string.h>

size_t nn_batch_pieces(size_t count) { return (count + NN_PIECE - 1) / NN_PIECE; }

/* Streams of SK_PURPOSE_NEURAL: 0 the start of the parameters, 1 the order of the samples, 2 the noise of training. */
enum { STREAM_NOISE = 2 };

static void gather(const nn_batch *b, const size_t *member, nn_pass *p)
{
    const size_t d = b->net->d, H = b->net->width, steps = p->steps;
    const sk_key key = {b->settings->seed, SK_PURPOSE_NEURAL};
    for (size_t r = 0; r < p->rows; r++) {
        const size_t j = member[r];
        double *x0 = p->x0 + r * (d + 1);
        x0[0] = 0;
        memcpy(x0 + 1, b->series->y + b->series->first[j] * d, d * sizeof *x0);
        sk_normals_bulk(key, STREAM_NOISE, b->epoch << 32 | j, 0, steps * H, p->noise + r * steps * H);
        for (size_t k = 0; k < steps && b->net->controlled; k++)
            memcpy(p->control + (k * p->rows + r) * (d + 1), b->series->control + (j * steps + k) * (d + 1),
                   (d + 1) * sizeof *p->control);
    }
}

/* Squared errors of the points between the nodes; their derivative, times `scale`, goes to the two nodes. */
static double squared_errors(const nn_batch *b, const size_t *member, double scale, nn_pass *p)
{
    const size_t d = b->net->d, rows = p->rows;
    double sum = 0;
    memset(p->dyhat, 0, (p->steps + 1) * rows * d * sizeof *p->dyhat);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = b->series->first[member[r]]; i < b->series->first[member[r] + 1]; i++) {
            const nn_place at = b->series->place[i];
            const size_t here = (at.node * rows + r) * d, next = here + rows * d;
            for (size_t k = 0; k < d; k++) {
                double value = (1 - at.weight) * p->yhat[here + k] + at.weight * p->yhat[next + k];
                double error = value - b->series->y[i * d + k];
                sum += error * error;
                p->dyhat[here + k] += 2 * scale * (1 - at.weight) * error;
                p->dyhat[next + k] += 2 * scale * at.weight * error;
            }
        }
    return scale * sum;
}

static size_t batch_points(const nn_batch *b)
{
    size_t points = 0;
    for (size_t i = 0; i < b->count; i++) points += b->series->first[b->member[i] + 1] - b->series->first[b->member[i]];
    return points;
}

static sock_status run_pieces(void *arg, size_t begin, size_t end, int worker)
{
    const nn_batch *b = arg;
    const size_t steps = b->series->steps, size = nn_pass_space(b->net, NN_PIECE, steps);
    const double scale = 1 / ((double)batch_points(b) * (double)b->net->d);
    for (size_t piece = begin; piece < end; piece++) {
        nn_pass p;
        const size_t *member = b->member + piece * NN_PIECE;
        double *gradient = b->gradient + piece * b->net->parameters;
        nn_pass_lay(b->ctx, b->net, NN_PIECE, steps, b->space + (size_t)worker * size, &p);
        p.theta = b->theta;
        p.step = b->settings->step;
        p.rows = SK_MIN((size_t)NN_PIECE, b->count - piece * NN_PIECE);
        gather(b, member, &p);
        nn_path_forward(&p);
        b->loss[piece] = squared_errors(b, member, scale, &p);
        memset(gradient, 0, b->net->parameters * sizeof *gradient);
        nn_path_backward(&p, gradient);
    }
    return SOCK_OK;
}

sock_status nn_batch_run(nn_batch *b)
{
    const size_t pieces = nn_batch_pieces(b->count), count = b->net->parameters;
    SK_TRY(sk_parallel_for(b->ctx, pieces, 1, run_pieces, b));
    for (size_t piece = 1; piece < pieces; piece++) {
        const double *part = b->gradient + piece * count;
        b->loss[0] += b->loss[piece];
        for (size_t i = 0; i < count; i++) b->gradient[i] += part[i];
    }
    return SOCK_OK;
}
