/* generate.c - paths from a trained model, for sock_score_paths: Euler-Maruyama in the network's time with the step of
 * the training, the readout interpolated to the wanted times. */
#include "latent.h"
#include "series.h"

#include <string.h>

/* Paths that go through the network together; the work space of one worker holds all their steps. */
enum { TOGETHER = 16 };

/* Steps of a path that are still made: a test trajectory so much longer than the training data is another question. */
enum { MOST_STEPS = 1000000 };

/* Streams 0, 1, 2 of SK_PURPOSE_NEURAL are the training's. */
enum { STREAM_PATHS = 16 };

typedef struct generator {
    const nn_source *source;
    const sock_path_request *request;
    nn_net net;
    nn_pass pass;
    nn_place *place; /* of each wanted time */
    double *s;       /* network's times of the request */
    double *control; /* members x steps x (d + 1) */
    double *space;   /* of the pass */
} generator;

/* X at the beginnings of the steps, for each trajectory that may control: the start for ever, or the observed path. */
static void fill_controls(generator *g)
{
    const nn_settings *settings = &g->source->model->settings;
    const sock_path_request *q = g->request;
    const size_t width = q->d + 1, steps = g->pass.steps;
    for (size_t m = 0; m < q->members; m++) {
        const double *t, *y = q->x0;
        if (settings->control == NN_CONTROL_PATH) sock_data_trajectory(g->source->observed, q->member[m], &t, &y);
        for (size_t k = 0; k < steps; k++) {
            double *x = g->control + (m * steps + k) * width, time = (double)k * settings->step;
            double seen = SK_MIN(time, g->s[q->times - 1]);
            memcpy(x + 1, y, q->d * sizeof *y);
            if (settings->control == NN_CONTROL_PATH) nn_spline(q->d, q->times, g->s, y, 1, &seen, width, x);
            x[0] = time;
        }
    }
}

/* Start, noise and control of paths first .. first + pass.rows - 1; they take the controlling trajectories in turn. */
static void prepare(generator *g, size_t first)
{
    const sock_path_request *q = g->request;
    nn_pass *p = &g->pass;
    const size_t width = q->d + 1, numbers = p->steps * g->net.width;
    const sk_key key = {q->seed, SK_PURPOSE_NEURAL};
    for (size_t r = 0; r < p->rows; r++) {
        const double *control = g->control + (first + r) % q->members * p->steps * width;
        p->x0[r * width] = 0;
        memcpy(p->x0 + r * width + 1, q->x0, q->d * sizeof *q->x0);
        sk_normals_bulk(key, STREAM_PATHS + q->start, first + r, 0, numbers, p->noise + r * numbers);
        for (size_t k = 0; k < p->steps && g->net.controlled; k++)
            memcpy(p->control + (k * p->rows + r) * width, control + k * width, width * sizeof *control);
    }
}

static void read_out(const generator *g, size_t first, double *out)
{
    const sock_path_request *q = g->request;
    const nn_pass *p = &g->pass;
    for (size_t r = 0; r < p->rows; r++)
        for (size_t i = 0; i < q->times; i++) {
            const double w = g->place[i].weight;
            const double *here = p->yhat + (g->place[i].node * p->rows + r) * q->d, *next = here + p->rows * q->d;
            double *y = out + ((first + r) * q->times + i) * q->d;
            for (size_t k = 0; k < q->d; k++) y[k] = (1 - w) * here[k] + w * next[k];
        }
}

static void make_paths(generator *g, double *out)
{
    for (size_t first = 0; first < g->request->paths; first += TOGETHER) {
        g->pass.rows = SK_MIN((size_t)TOGETHER, g->request->paths - first);
        prepare(g, first);
        nn_path_forward(&g->pass);
        read_out(g, first, out);
    }
}

/* Times, places and work space of the request; refuses what is out of proportion. */
static sock_status generator_make(generator *g)
{
    const nn_model *model = g->source->model;
    const nn_settings *settings = &model->settings;
    const sock_path_request *q = g->request;
    sock_context *ctx = g->source->ctx;
    g->s = sk_doubles(ctx, q->times, 1);
    g->place = sk_alloc(ctx, q->times, sizeof *g->place);
    if (!g->s || !g->place) return SOCK_ENOMEM;
    nn_network_times(settings->times, model->span, q->times, q->t, g->s);
    if (!(g->s[q->times - 1] / settings->step <= MOST_STEPS))
        return sk_fail(ctx, SOCK_EINPUT,
                       "neural: paths to time %g of the longest training span need more than %d steps",
                       g->s[q->times - 1], MOST_STEPS);
    const size_t steps = nn_steps_until(g->s[q->times - 1], settings->step);
    const size_t space = nn_pass_space(&g->net, TOGETHER, steps);
    SK_TRY(sk_memory_check(ctx, 8 * (double)space, "neural paths", "shorter test trajectories, or a longer step"));
    for (size_t i = 0; i < q->times; i++) g->place[i] = nn_place_of(g->s[i], settings->step, steps);
    g->control = sk_doubles(ctx, g->net.controlled ? q->members * steps : 0, q->d + 1);
    g->space = sk_doubles(ctx, space, 1);
    if (!g->control || !g->space) return SOCK_ENOMEM;
    nn_pass_lay(ctx, &g->net, TOGETHER, steps, g->space, &g->pass);
    g->pass.theta = model->theta;
    g->pass.step = settings->step;
    return SOCK_OK;
}

sock_status nn_paths(void *user, const sock_path_request *q, double *out)
{
    const nn_source *source = user;
    const nn_settings *s = &source->model->settings;
    generator g = {.source = source, .request = q};
    nn_net_make(s->kind, s->control, source->model->d, s->width, s->layers, &g.net);
    sock_status status = generator_make(&g);
    if (status >= 0 && g.net.controlled) fill_controls(&g);
    if (status >= 0) make_paths(&g, out);
    sk_free(g.space);
    sk_free(g.control);
    sk_free(g.place);
    sk_free(g.s);
    return status;
}
