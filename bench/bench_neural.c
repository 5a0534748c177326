/* bench_neural.c - the speed of training: each neural model on the gbm set (70 trajectories of 101 points, batches of
 * 16, 20 steps, H = 32, L = 1, no control), 200 epochs, with one thread and with two.
 *
 *   floor   the matrix products of the layers alone, of the same sizes and number and in the same order, with one
 *           thread: what a training without activations, noise, loss and Adam would take.
 *
 * Goal: 5 s with two threads. The published PyTorch code took 35 to 74 s by the clock on such a machine. */
#include "bench.h"

#include "compare/neural/batch.h"
#include "la/la.h"
#include "systems/systems.h"

#include <string.h>

typedef struct job {
    sock_context *ctx;
    const sock_data *data;
    nn_settings settings;
    double loss;
} job;

static void run_training(void *arg)
{
    job *j = arg;
    nn_model *model = NULL;
    bench_need(j->ctx, nn_train(j->ctx, &j->settings, j->data, &model));
    j->loss = model->loss[j->settings.epochs - 1];
    nn_model_free(model);
}

/* ---- The floor ---- */

typedef struct floor_job {
    sock_context *ctx;
    nn_net net;
    size_t steps, trajectories, epochs, batch;
    double *x, *y, *w; /* rows of all steps in and out; a matrix */
    double products;   /* operations done, of all runs */
} floor_job;

/* One layer forward (way 0), backward (1) or for the gradient (2), over so many rows. */
static void product(floor_job *f, const nn_linear *l, int way, size_t rows)
{
    const size_t in = l->in, out = l->out;
    if (way == 0) sk_gemm(f->ctx, SK_PLAIN, SK_PLAIN, rows, out, in, 1, f->x, in, f->w, out, 0, f->y, out);
    if (way == 1) sk_gemm(f->ctx, SK_PLAIN, SK_TRANSPOSED, rows, in, out, 1, f->y, out, f->w, out, 0, f->x, in);
    if (way == 2) sk_gemm(f->ctx, SK_TRANSPOSED, SK_PLAIN, in, out, rows, 1, f->x, in, f->y, out, 0, f->w, out);
    f->products += 2 * (double)rows * (double)in * (double)out;
}

static void chain_products(floor_job *f, const nn_chain *chain, int way, size_t rows)
{
    for (size_t j = 0; j < chain->count; j++) product(f, &chain->layer[j], way, rows);
}

/* What a piece of so many trajectories costs. */
static void piece_products(floor_job *f, size_t rows)
{
    const nn_net *net = &f->net;
    const bool by_state = net->kind == NN_SDE, gated = net->kind == NN_GSDE;
    for (int way = 0; way < 2; way++)
        for (size_t k = 0; k < f->steps; k++) {
            chain_products(f, &net->drift, way, rows);
            if (gated) product(f, &net->gate, way, rows);
            if (by_state) chain_products(f, &net->diffusion, way, rows);
        }
    chain_products(f, &net->drift, 2, rows * f->steps);
    if (gated) product(f, &net->gate, 2, rows * f->steps);
    for (int way = by_state ? 2 : 0; way < 3; way++)
        chain_products(f, &net->diffusion, way, by_state ? rows * f->steps : f->steps);
    for (int way = 0; way < 3; way++) product(f, &net->readout, way, rows * (f->steps + 1));
}

static void run_products(void *arg)
{
    floor_job *f = arg;
    f->products = 0;
    for (size_t epoch = 0; epoch < f->epochs; epoch++)
        for (size_t first = 0; first < f->trajectories; first += f->batch)
            for (size_t i = 0, count = SK_MIN(f->batch, f->trajectories - first); i < count; i += NN_PIECE)
                piece_products(f, SK_MIN((size_t)NN_PIECE, count - i));
}

static floor_job make_floor(sock_context *ctx, const nn_settings *s, const sock_data *data)
{
    floor_job f = {.ctx = ctx, .epochs = s->epochs, .batch = s->batch, .steps = nn_steps_until(1, s->step)};
    nn_net_make(s->kind, s->control, sock_data_dim(data), s->width, s->layers, &f.net);
    f.trajectories = sock_data_trajectories(data);
    const size_t rows = NN_PIECE * (f.steps + 1), width = s->width + 1;
    f.x = bench_have(ctx, sk_doubles(ctx, rows, width));
    f.y = bench_have(ctx, sk_doubles(ctx, rows, width));
    f.w = bench_have(ctx, sk_doubles(ctx, width, width));
    return f;
}

static void free_floor(floor_job *f)
{
    sk_free(f->x);
    sk_free(f->y);
    sk_free(f->w);
}

/* ---- Both ---- */

static void one_kind(nn_kind kind, const sock_data *data)
{
    sock_context *ctx[2] = {bench_have(NULL, sock_context_new()), bench_have(NULL, sock_context_new())};
    job j[2];
    floor_job base;
    char goal[80];
    for (int i = 0; i < 2; i++) {
        bench_need(ctx[i], sock_set_threads(ctx[i], 1 + i));
        j[i] = (job){ctx[i], data, nn_default_settings(kind), 0};
    }
    base = make_floor(ctx[0], &j[0].settings, data);
    bench_run runs[] = {{"the products alone, 1 thread", run_products, &base, 0, 0},
                        {"training, 200 epochs, 1 thread", run_training, &j[0], 0, 0},
                        {"training, 200 epochs, 2 threads", run_training, &j[1], 0, 0}};
    bench_in_turn(3, runs, 3);
    printf("\n%s: %zu parameters, %.1f Gflop in products, last loss %.5f\n", nn_kind_name(kind),
           nn_parameter_count(&j[0].settings, 1), 1e-9 * base.products, j[1].loss);
    for (int i = 0; i < 3; i++) bench_line(&runs[i], i ? runs[0].best : 0);
    printf("  %-44s %10.2f\n", "processor seconds over the floor's, 1 thread", runs[1].best_cpu / runs[0].best_cpu);
    snprintf(goal, sizeof goal, "%s: seconds with 2 threads", nn_kind_name(kind));
    bench_goal(goal, runs[2].best, false, 5);
    free_floor(&base);
    for (int i = 0; i < 2; i++) sock_context_free(ctx[i]);
}

int main(void)
{
    sock_context *ctx = bench_have(NULL, sock_context_new());
    sys_instance *gbm = NULL;
    sock_data *data = NULL;
    bench_begin("neural", 2);
    bench_need(ctx, sys_new(ctx, sys_find("gbm"), 1, &gbm));
    bench_need(ctx, sys_generate(ctx, gbm, SYS_TRAIN, &data));
    for (int kind = 0; kind < NN_KINDS; kind++) one_kind((nn_kind)kind, data);
    sock_data_free(data);
    sys_free(gbm);
    sock_context_free(ctx);
    return 0;
}
