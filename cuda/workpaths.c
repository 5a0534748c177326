/* workpaths.c - Euler steps of many paths at a time: the features of all of them, a product for each piece of the
 * model, then a step of each path; or, where there are few states and columns, many steps of each path by itself. Paths
 * run fastest in every array. A batch holds as many paths as its arrays have room for; a path is the same in any
 * batch. */
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_NUMBERS = 1 << 27, STEPS_AT_ONCE = 64 };

/* The model on the card. */
typedef struct walk {
    card *card;
    engine *e;
    const sk_device_paths *job;
    size_t batch, widest; /* paths; features of a piece */
    int alone;            /* each path by itself */
    sk_device_piece *piece;
    sk_device_factor *factor, *factors; /* the latter on the card */
    walk_piece *pieces;                 /* the same, where each path goes by itself */
    double **fields;                    /* of each piece */
    const double **list;                /* the same pointers, on the card */
    int *drift;
    double *x, *phi, *x0, *lost_at, *out, *lower, *upper;
    void *own[256]; /* all else that was copied */
    size_t owned;
} walk;

static const void *keep(walk *w, const void *from, size_t bytes)
{
    if (!from) return NULL;
    if (w->owned == sizeof w->own / sizeof *w->own) {
        engine_fail(w->e, SK_DEVICE_CANNOT, "the model has too many pieces");
        return NULL;
    }
    return w->own[w->owned++] = work_copy(w->e, from, bytes);
}

static void close_walk(walk *w)
{
    double *const arrays[] = {w->x, w->phi, w->x0, w->lost_at, w->out, w->lower, w->upper};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) engine_free(w->e, arrays[i]);
    for (size_t i = 0; w->fields && i < w->job->pieces; i++) engine_free(w->e, w->fields[i]);
    for (size_t i = 0; i < w->owned; i++) engine_free(w->e, w->own[i]);
    engine_free(w->e, w->factors);
    engine_free(w->e, w->pieces);
    engine_free(w->e, (void *)w->list);
    engine_free(w->e, w->drift);
    free(w->piece);
    free(w->factor);
    free(w->fields);
}

static void copy_piece(walk *w, const sk_device_piece *from, sk_device_piece *to)
{
    const size_t d = w->job->d, p = from->p;
    *to = *from;
    to->origin = keep(w, from->origin, d * sizeof(double));
    to->unit = keep(w, from->unit, d * sizeof(double));
    to->coefficient = keep(w, from->coefficient, p * from->columns * sizeof(double));
    to->omega = keep(w, from->omega, p * d * sizeof(double));
    to->beta = keep(w, from->beta, p * sizeof(double));
    to->power = keep(w, from->power, p * d * sizeof(unsigned));
    to->point = keep(w, from->point, p * d * sizeof(double));
    to->term = keep(w, from->term, from->terms * sizeof(sk_device_term));
}

/* The pieces as a path by itself reads them. */
static void pack_pieces(walk *w)
{
    walk_piece *list = calloc(w->job->pieces + 1, sizeof *list);
    for (size_t i = 0; list && i < w->job->pieces; i++) {
        const sk_device_piece *from = &w->job->piece[i];
        const size_t p = from->p, columns = from->columns < BAND ? BAND : from->columns;
        const size_t numbers = (p + FEW - 1) / FEW * FEW * columns + 1;
        double *packed = calloc(numbers, sizeof *packed);
        if (!packed) engine_fail(w->e, SK_DEVICE_MEMORY, "the host has no memory");
        for (size_t j = 0; packed && j < p; j++)
            for (size_t c = 0; c < from->columns; c++)
                packed[(j / FEW * columns + c) * FEW + j % FEW] = from->coefficient[j * from->columns + c];
        list[i] = (walk_piece){w->piece[i], keep(w, packed, numbers * sizeof *packed)};
        free(packed);
    }
    if (!list) engine_fail(w->e, SK_DEVICE_MEMORY, "the host has no memory");
    if (list) w->pieces = work_copy(w->e, list, w->job->pieces * sizeof *list);
    free(list);
}

static void copy_model(walk *w)
{
    const sk_device_paths *job = w->job;
    int flags[64] = {0};
    for (size_t i = 0; i < job->pieces; i++) {
        copy_piece(w, &job->piece[i], &w->piece[i]);
        flags[i] = job->piece[i].drift;
        if (job->piece[i].p > w->widest) w->widest = job->piece[i].p;
    }
    for (size_t i = 0; i < job->factors; i++) {
        w->factor[i] = job->factor[i];
        w->factor[i].owner = keep(w, job->factor[i].owner, job->factor[i].rank * sizeof(size_t));
    }
    w->factors = work_copy(w->e, w->factor, job->factors * sizeof *w->factor);
    w->drift = work_copy(w->e, flags, (job->pieces ? job->pieces : 1) * sizeof *flags);
    w->x0 = work_copy(w->e, job->x0, job->starts * job->d * sizeof(double));
    w->lower = work_copy(w->e, job->lower, job->d * sizeof(double));
    w->upper = work_copy(w->e, job->upper, job->d * sizeof(double));
}

static int open_walk(walk *w)
{
    const sk_device_paths *job = w->job;
    const size_t paths = job->starts * job->paths;
    size_t each = (2 + job->times) * job->d + 1, columns = 0;
    if (job->d > MOST_STATES || job->pieces > 64)
        return engine_fail(w->e, SK_DEVICE_CANNOT, "the model has too many states or pieces");
    w->piece = calloc(job->pieces + 1, sizeof *w->piece);
    w->factor = calloc(job->factors + 1, sizeof *w->factor);
    w->fields = calloc(job->pieces + 1, sizeof *w->fields);
    if (!w->piece || !w->factor || !w->fields) return engine_fail(w->e, SK_DEVICE_MEMORY, "the host has no memory");
    copy_model(w);
    for (size_t i = 0; i < job->pieces; i++) columns += job->piece[i].columns;
    w->alone = job->d <= WALK_STATES && job->pieces <= WALK_PIECES && columns <= WALK_COLUMNS;
    if (w->alone)
        pack_pieces(w);
    else
        each += w->widest + columns;
    w->batch = BATCH_NUMBERS / each + 1;
    if (w->batch > paths) w->batch = paths;
    if (engine_need(w->e, 8.0 * (double)each * (double)w->batch + 1e8, "simulation") != SK_DEVICE_DONE)
        return engine_state(w->e);
    for (size_t i = 0; i < job->pieces && !w->alone; i++)
        w->fields[i] = engine_new(w->e, w->batch * (job->piece[i].columns + 1) * sizeof(double));
    w->list = work_copy(w->e, w->fields, (job->pieces + 1) * sizeof *w->fields);
    w->x = engine_new(w->e, w->batch * job->d * sizeof(double));
    if (!w->alone) w->phi = engine_new(w->e, w->batch * (w->widest + 1) * sizeof(double));
    w->lost_at = engine_new(w->e, w->batch * sizeof(double));
    w->out = engine_new(w->e, w->batch * job->times * job->d * sizeof(double));
    return engine_state(w->e);
}

static void make_fields(walk *w, size_t paths)
{
    for (size_t i = 0; i < w->job->pieces; i++) {
        const sk_device_piece *q = &w->piece[i];
        element_args a = {.of.feature = {.piece = *q, .paths = paths, .d = w->job->d, .x = w->x, .phi = w->phi}};
        if (!q->columns) continue;
        engine_each(w->e, EACH_FEATURE, paths * q->p, &a);
        /* The coefficients, p x columns by rows, are columns x p here. */
        engine_gemm(w->e, 0, 1, paths, q->columns, q->p, 1, w->phi, paths, q->coefficient, q->columns, 0, w->fields[i],
                    paths);
    }
}

/* From one time to the next, all paths together. */
static void walk_by_products(walk *w, element_args *a, double from, double gap, size_t steps)
{
    each_step *s = &a->of.step;
    for (size_t k = 0; k < steps; k++, s->step++) {
        if (s->step % STEPS_AT_ONCE == 0 && work_stops(w->card)) return;
        s->to = from + gap * (double)(k + 1) / (double)steps;
        make_fields(w, s->paths);
        engine_each(w->e, EACH_STEP, s->paths, a);
    }
}

/* The same, each path by itself. */
static void walk_alone(walk *w, element_args *a, double from, double gap, size_t steps)
{
    each_step *s = &a->of.step;
    for (size_t k = 0; k < steps; k += STEPS_AT_ONCE) {
        if (work_stops(w->card)) return;
        const size_t now = steps - k < STEPS_AT_ONCE ? steps - k : STEPS_AT_ONCE;
        const element_args many = {
            .of.walk = {
                .step = *s, .piece = w->pieces, .done = k, .steps = now, .of = steps, .from = from, .gap = gap}};
        engine_each(w->e, EACH_WALK, s->paths, &many);
        s->step += now;
    }
}

static void walk_batch(walk *w, size_t first, size_t paths)
{
    const sk_device_paths *job = w->job;
    element_args a = {.of.step = {.paths = paths,
                                  .first = first,
                                  .each = job->paths,
                                  .d = job->d,
                                  .factors = job->factors,
                                  .times = job->times,
                                  .x0 = w->x0,
                                  .factor = w->factors,
                                  .fields = w->list,
                                  .drift = w->drift,
                                  .pieces = job->pieces,
                                  .seed = job->seed,
                                  .purpose = job->purpose,
                                  .first_start = job->first_start,
                                  .floor = job->floor,
                                  .noisy = job->noisy,
                                  .bounds = job->bounds,
                                  .lower = w->lower,
                                  .upper = w->upper,
                                  .x = w->x,
                                  .lost_at = w->lost_at,
                                  .out = w->out}};
    each_step *s = &a.of.step;
    engine_each(w->e, EACH_START, paths, &a);
    engine_each(w->e, EACH_WRITE, paths, &a);
    for (s->time = 1; s->time < job->times; s->time++) {
        const double from = job->t[s->time - 1], gap = job->t[s->time] - from;
        const size_t steps = job->steps[s->time - 1];
        s->h = gap / (double)steps;
        s->root = sqrt(s->h);
        (w->alone ? walk_alone : walk_by_products)(w, &a, from, gap, steps);
        engine_each(w->e, EACH_WRITE, paths, &a);
    }
    engine_get(w->e, job->out + first * job->times * job->d, w->out, paths * job->times * job->d * sizeof(double));
    engine_get(w->e, job->lost_at + first, w->lost_at, paths * sizeof(double));
}

int work_simulate(void *state, const sk_device_paths *job)
{
    card *c = state;
    const size_t paths = job->starts * job->paths;
    walk w = {.card = c, .e = c->engine, .job = job};
    engine_begin(w.e);
    if (open_walk(&w) == SK_DEVICE_DONE)
        for (size_t first = 0; first < paths && !work_stops(c); first += w.batch)
            walk_batch(&w, first, paths - first < w.batch ? paths - first : w.batch);
    const int answer = engine_state(w.e);
    close_walk(&w);
    return answer;
}
