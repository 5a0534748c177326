/* worksums.c - G and c of rows: features come from the host, products are made here, a panel of rows at a time.
 *
 *   1. B (q x rows): svec of the rows. 2. G of a block += B W B' for each system, c += B Z for each set of targets.
 *   3. Behind the last panel of a block its sums go into totals of twice the digits, so that the order of blocks does
 *      not show. */
#include "work.h"

#include <stdlib.h>

enum { PANEL_ROWS = 8192, PANEL_NUMBERS = 1 << 26 };

/* Memory of the card that is kept from one block of rows to the next. */
typedef struct buffer {
    void *at;
    size_t bytes;
} buffer;

enum { PHI, WEIGHT, ROW_WEIGHTS, TARGETS, ROW, NODE, BUFFERS };

typedef struct sums {
    sk_device_shape shape;
    size_t q, rows; /* of a panel */
    unsigned *one, *other;
    double *g, *g_low, *c, *c_low; /* totals */
    double *block, *side;          /* of a block */
    double *b, *scaled;
    buffer sent[BUFFERS];
} sums;

static size_t squares(const sums *s) { return s->q * s->q; }

static void release(engine *e, double **at)
{
    engine_free(e, *at);
    *at = NULL;
}

/* All but G. */
static void drop_working(engine *e, sums *s)
{
    double **const all[] = {&s->g_low, &s->c, &s->c_low, &s->block, &s->side, &s->b, &s->scaled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) release(e, all[i]);
    for (size_t i = 0; i < BUFFERS; i++) {
        engine_free(e, s->sent[i].at);
        s->sent[i] = (buffer){0};
    }
}

void work_sums_drop(void *state, void *given)
{
    card *c = state;
    sums *s = given;
    drop_working(c->engine, s);
    release(c->engine, &s->g);
    engine_free(c->engine, s->one);
    engine_free(c->engine, s->other);
    free(s);
}

const double *work_sums_gram(const void *given) { return ((const sums *)given)->g; }

int work_sums_begin(void *state, const sk_device_shape *shape, void **out)
{
    card *c = state;
    engine *e = c->engine;
    sums *s = calloc(1, sizeof *s);
    if (!s) return SK_DEVICE_MEMORY;
    engine_begin(e);
    s->shape = *shape;
    s->q = shape->p * (shape->p + 1) / 2;
    s->rows = PANEL_NUMBERS / s->q;
    if (s->rows > PANEL_ROWS) s->rows = PANEL_ROWS;
    if (s->rows > shape->rows) s->rows = shape->rows;
    if (s->rows < 1) s->rows = 1;
    const size_t grams = shape->parts * shape->systems * squares(s), sides = shape->sides * shape->columns * s->q;
    const size_t panel = s->q * s->rows;
    engine_need(e, 8.0 * (2.0 * (double)(grams + sides) + (double)squares(s) + 2.0 * (double)panel) + 1e8, "sums");
    work_pairs(e, shape->p, &s->one, &s->other);
    double **const arrays[] = {&s->g, &s->g_low, &s->c, &s->c_low, &s->block, &s->side};
    const size_t counts[] = {grams, grams, sides, sides, shape->systems * squares(s), sides};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = engine_new(e, counts[i] * sizeof(double));
        engine_zero(e, *arrays[i], counts[i] * sizeof(double));
    }
    s->b = engine_new(e, panel * sizeof(double));
    s->scaled = engine_new(e, panel * sizeof(double));
    *out = s;
    const int answer = engine_state(e);
    if (answer != SK_DEVICE_DONE) work_sums_drop(state, s);
    return answer;
}

/* A block's rows on the card. */
typedef struct sent {
    const double *phi, *weight, *w;
    double *z; /* of one set of targets */
    const size_t *row, *node;
} sent;

static void *room(engine *e, buffer *b, size_t bytes)
{
    if (b->bytes < bytes) {
        engine_free(e, b->at);
        b->at = engine_new(e, bytes);
        b->bytes = b->at ? bytes : 0;
    }
    return b->at;
}

static const void *put(engine *e, buffer *b, const void *from, size_t bytes)
{
    void *to = room(e, b, bytes);
    engine_put(e, to, from, bytes);
    return to;
}

static sent send(engine *e, sums *s, const sk_device_rows *rows)
{
    const size_t entries = rows->row[rows->n], number = sizeof(double);
    return (sent){.phi = put(e, &s->sent[PHI], rows->phi, rows->nodes * s->shape.p * number),
                  .weight = put(e, &s->sent[WEIGHT], rows->weight, entries * number),
                  .w = put(e, &s->sent[ROW_WEIGHTS], rows->w, rows->n * s->shape.systems * number),
                  .z = room(e, &s->sent[TARGETS], s->rows * s->shape.columns * number),
                  .row = put(e, &s->sent[ROW], rows->row, (rows->n + 1) * sizeof(size_t)),
                  .node = put(e, &s->sent[NODE], rows->node, entries * sizeof(size_t))};
}

static void add_gram(engine *e, const sums *s, const sent *t, size_t first, size_t rows)
{
    for (size_t system = 0; system < s->shape.systems; system++) {
        element_args a = {.of.weighted = {.q = s->q,
                                          .systems = s->shape.systems,
                                          .system = system,
                                          .first = first,
                                          .b = s->b,
                                          .w = t->w,
                                          .out = s->scaled}};
        engine_each(e, EACH_WEIGHTED, s->q * rows, &a);
        engine_syrk(e, s->q, rows, s->scaled, 1, s->block + system * squares(s));
    }
}

/* The card has column-major targets: columns x rows as they come. */
static void add_sides(engine *e, const sums *s, const sk_device_rows *rows, const sent *t, size_t first, size_t count)
{
    const size_t columns = s->shape.columns;
    for (size_t f = 0; f < s->shape.sides; f++) {
        if (!rows->z[f]) continue;
        engine_put(e, t->z, rows->z[f] + first * columns, count * columns * sizeof(double));
        engine_gemm(e, 0, 1, s->q, columns, count, 1, s->b, s->q, t->z, columns, 1, s->side + f * columns * s->q, s->q);
    }
}

static void take_block(engine *e, const sums *s, size_t part)
{
    const size_t grams = s->shape.systems * squares(s), sides = s->shape.sides * s->shape.columns * s->q;
    element_args a = {.of.pair = {.block = s->block, .whole = s->g + part * grams, .low = s->g_low + part * grams}};
    engine_each(e, EACH_PAIR, grams, &a);
    a.of.pair = (each_pair){.block = s->side, .whole = s->c, .low = s->c_low};
    engine_each(e, EACH_PAIR, sides, &a);
}

/* The last panel is not waited for: the host makes the next block meanwhile, and what goes wrong is told then. */
int work_sums_add(void *state, void *given, const sk_device_rows *rows)
{
    card *c = state;
    engine *e = c->engine;
    sums *s = given;
    engine_begin(e);
    const sent t = send(e, s, rows);
    for (size_t first = 0; first < rows->n && (first == 0 || !work_stops(c)); first += s->rows) {
        const size_t count = rows->n - first < s->rows ? rows->n - first : s->rows;
        element_args a = {.of.svec = {.p = s->shape.p,
                                      .q = s->q,
                                      .first = first,
                                      .phi = t.phi,
                                      .weight = t.weight,
                                      .row = t.row,
                                      .node = t.node,
                                      .one = s->one,
                                      .other = s->other,
                                      .out = s->b}};
        engine_each(e, EACH_SVEC, s->q * count, &a);
        add_gram(e, s, &t, first, count);
        add_sides(e, s, rows, &t, first, count);
    }
    take_block(e, s, rows->part);
    const int answer = engine_asked(e);
    return answer == SK_DEVICE_MEMORY ? SK_DEVICE_FAILED : answer;
}

static void get(engine *e, double *to, const double *from, size_t count)
{
    if (to) engine_get(e, to, from, count * sizeof *to);
}

/* The lower triangle by columns is the upper one by rows: both are given. */
int work_sums_end(void *state, void *given, double *g, double *g_low, double *c, double *c_low)
{
    card *card_of = state;
    engine *e = card_of->engine;
    sums *s = given;
    const size_t each = s->shape.parts * s->shape.systems, grams = each * squares(s);
    const size_t sides = s->shape.sides * s->shape.columns * s->q;
    engine_begin(e);
    for (size_t i = 0; i < each; i++)
        for (int low = 0; low < (g_low ? 2 : 1); low++) {
            element_args a = {.of.matrix = {.q = s->q, .scale = 1, .m = (low ? s->g_low : s->g) + i * squares(s)}};
            engine_each(e, EACH_MIRROR, squares(s), &a);
        }
    get(e, g, s->g, grams);
    get(e, g_low, s->g_low, grams);
    get(e, c, s->c, sides);
    get(e, c_low, s->c_low, sides);
    const int answer = engine_state(e);
    drop_working(e, s);
    if (each > 1) release(e, &s->g);
    return answer;
}
