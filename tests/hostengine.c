/* hostengine.c - cuda/engine.h with the processor and its BLAS: with the files of cuda/ it is a plugin that computes
 * what one with a card does, so that the way there and back, and every operation, is tested without one.
 *
 * HOST_FAULT (what is compiled in) or SOCK_HOST_FAULT (the environment) makes it fail: "memory" (no operation finds
 * room), "fail" (every operation fails), "late1", "late" (the first, the third product does), "none" (there is no
 * card). SOCK_HOST_LOG names a file that gets a line for each operation.
 *
 * The processor could read what a card cannot, so every pointer that is handed over is looked up: memory of the card
 * where the card works, memory of the host at the other end of a copy. A wrong one ends the program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void omp_set_num_threads(int);

enum { HELD = 1024 };

struct engine {
    int state;
    char reason[160], fault[16];
    double most; /* bytes */
    long calls, held;
    struct {
        const char *at;
        size_t bytes;
    } block[HELD];
};

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, double *, const int *);
void dsyevd_(const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *,
             const int *, int *);
void dpotrf_(const char *, const int *, double *, const int *, int *);
void dpotri_(const char *, const int *, double *, const int *, int *);
void dpotrs_(const char *, const int *, const int *, const double *, const int *, double *, const int *, int *);

#ifndef HOST_FAULT
#define HOST_FAULT ""
#endif

static void log_line(const char *text)
{
    const char *name = getenv("SOCK_HOST_LOG");
    FILE *file = name ? fopen(name, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s\n", text);
    fclose(file);
}

int engine_open(int number, engine **out, char name[32], char about[160], double *memory)
{
    const char *fault = getenv("SOCK_HOST_FAULT");
    engine *e = calloc(1, sizeof *e);
    snprintf(e->fault, sizeof e->fault, "%s", HOST_FAULT[0] || !fault ? HOST_FAULT : fault);
    snprintf(name, 32, "cuda:%d", number);
    snprintf(about, 160, "processor of the tests");
    if (strcmp(e->fault, "none") == 0 || number > 3) {
        snprintf(about, 160, "there is no card %d", number);
        free(e);
        return SK_DEVICE_NONE;
    }
    e->most = *memory = 4e9;
    *out = e;
    log_line("open");
    return SK_DEVICE_DONE;
}

void engine_close(engine *e)
{
    log_line(e->held ? "close, with memory left" : "close");
    free(e);
}

void engine_begin(engine *e)
{
    omp_set_num_threads(1); /* small products, on machines that do other work */
    e->state = SK_DEVICE_DONE;
    e->reason[0] = 0;
    if (strcmp(e->fault, "fail") == 0) engine_fail(e, SK_DEVICE_FAILED, "the card fell off");
}

int engine_state(engine *e) { return e->state; }

int engine_fail(engine *e, int state, const char *reason)
{
    if (e->state != SK_DEVICE_DONE) return e->state;
    e->state = state;
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    return state;
}

int engine_asked(engine *e) { return e->state; }

const char *engine_error(const engine *e) { return e->reason; }

int engine_need(engine *e, double bytes, const char *what)
{
    char text[160];
    log_line(what);
    if (bytes <= e->most && strcmp(e->fault, "memory") != 0) return e->state;
    snprintf(text, sizeof text, "%s needs %.3g GB of the card, %.3g GB are free", what, 1e-9 * bytes, 1e-9 * e->most);
    return engine_fail(e, SK_DEVICE_MEMORY, text);
}

void engine_aside(engine *e) { (void)e; }
void engine_back(engine *e) { (void)e; }
void engine_join(engine *e) { (void)e; }

static int is_ours(const engine *e, const void *at)
{
    for (size_t i = 0; i < HELD; i++)
        if (e->block[i].at && (const char *)at >= e->block[i].at &&
            (const char *)at <= e->block[i].at + e->block[i].bytes)
            return 1;
    return 0;
}

static void need(int right, const char *what)
{
    if (right) return;
    fprintf(stderr, "hostengine: %s lies where it cannot be\n", what);
    abort();
}

/* Memory of the card, which may be none. */
static void ours(const engine *e, const void *at, const char *what) { need(!at || is_ours(e, at), what); }

void *engine_new(engine *e, size_t bytes)
{
    void *at = e->state == SK_DEVICE_DONE ? malloc(bytes + 1) : NULL;
    if (at) memset(at, 0xff, bytes); /* NaN: what is read must have been written */
    if (at) e->held++;
    size_t place = 0;
    while (place < HELD && e->block[place].at) place++;
    need(place < HELD, "one block more");
    e->block[place].at = at;
    e->block[place].bytes = bytes;
    if (!at) engine_fail(e, SK_DEVICE_MEMORY, "no memory");
    return at;
}

void engine_free(engine *e, void *at)
{
    if (at) e->held--;
    for (size_t i = 0; at && i < HELD; i++)
        if (e->block[i].at == at) e->block[i].at = NULL;
    free(at);
}

static void move(const engine *e, void *to, int card_to, const void *from, int card_from, size_t bytes)
{
    if (e->state != SK_DEVICE_DONE || !bytes) return;
    need(is_ours(e, to) == card_to && is_ours(e, from) == card_from, "an end of a copy");
    memcpy(to, from, bytes);
}

void engine_put(engine *e, void *to, const void *from, size_t bytes) { move(e, to, 1, from, 0, bytes); }
void engine_get(engine *e, void *to, const void *from, size_t bytes) { move(e, to, 0, from, 1, bytes); }
void engine_copy(engine *e, void *to, const void *from, size_t bytes) { move(e, to, 1, from, 1, bytes); }

void engine_zero(engine *e, void *at, size_t bytes)
{
    ours(e, at, "what is zeroed");
    if (e->state == SK_DEVICE_DONE) memset(at, 0, bytes);
}

void engine_gemm(engine *e, int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                 const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    const int rows = (int)m, columns = (int)n, inner = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
    ours(e, a, "a"), ours(e, b, "b"), ours(e, c, "c");
    if ((strcmp(e->fault, "late") == 0 && ++e->calls == 3) || strcmp(e->fault, "late1") == 0)
        engine_fail(e, SK_DEVICE_FAILED, "the card fell off");
    if (e->state == SK_DEVICE_DONE && m && n)
        dgemm_(ta ? "T" : "N", tb ? "T" : "N", &rows, &columns, &inner, &alpha, a, &la, b, &lb, &beta, c, &lc);
}

void engine_syrk(engine *e, size_t n, size_t k, const double *a, double beta, double *c)
{
    const int rows = (int)n, inner = (int)k;
    const double one = 1;
    ours(e, a, "a"), ours(e, c, "c");
    if (e->state == SK_DEVICE_DONE) dsyrk_("L", "N", &rows, &inner, &one, a, &rows, &beta, c, &rows);
}

double engine_dot(engine *e, size_t n, const double *x, const double *y)
{
    double sum = 0;
    ours(e, x, "x"), ours(e, y, "y");
    for (size_t i = 0; e->state == SK_DEVICE_DONE && i < n; i++) sum += x[i] * y[i];
    return sum;
}

void engine_axpy(engine *e, size_t n, double alpha, const double *x, double *y)
{
    ours(e, x, "x"), ours(e, y, "y");
    for (size_t i = 0; e->state == SK_DEVICE_DONE && i < n; i++) y[i] += alpha * x[i];
}

void engine_scale(engine *e, size_t n, double alpha, double *x)
{
    ours(e, x, "x");
    for (size_t i = 0; e->state == SK_DEVICE_DONE && i < n; i++) x[i] *= alpha;
}

void engine_eigen(engine *e, size_t n, double *a, double *w)
{
    const int order = (int)n, ask = -1;
    int bad = 0, whole = 0;
    double size = 0;
    if (e->state != SK_DEVICE_DONE) return;
    ours(e, a, "a"), ours(e, w, "w");
    dsyevd_("V", "L", &order, a, &order, w, &size, &ask, &whole, &ask, &bad);
    const int room = (int)size, integers = whole;
    double *work = malloc((size_t)room * sizeof *work);
    int *list = malloc((size_t)integers * sizeof *list);
    dsyevd_("V", "L", &order, a, &order, w, work, &room, list, &integers, &bad);
    free(work);
    free(list);
    if (bad) engine_fail(e, SK_DEVICE_FAILED, "the eigendecomposition did not converge");
}

void engine_cholesky(engine *e, size_t n, double *a)
{
    const int order = (int)n;
    int bad = 0;
    if (e->state != SK_DEVICE_DONE) return;
    ours(e, a, "a");
    dpotrf_("L", &order, a, &order, &bad);
    if (bad) engine_fail(e, SK_DEVICE_NUMERIC, "the matrix is not positive definite");
}

void engine_invert(engine *e, size_t n, double *l)
{
    const int order = (int)n;
    int bad = 0;
    ours(e, l, "l");
    if (e->state == SK_DEVICE_DONE) dpotri_("L", &order, l, &order, &bad);
}

void engine_solve(engine *e, size_t n, size_t m, const double *l, double *b)
{
    const int order = (int)n, columns = (int)m;
    int bad = 0;
    ours(e, l, "l"), ours(e, b, "b");
    if (e->state == SK_DEVICE_DONE) dpotrs_("L", &order, &columns, l, &order, b, &order, &bad);
}

static void all_ours(const engine *e, size_t count, const void *const *list)
{
    for (size_t i = 0; i < count; i++) ours(e, list[i], "an argument of an element");
}

#define ALL_OURS(...)                                                                                                  \
    all_ours(e, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *), (const void *const[]){__VA_ARGS__})

static void step_is_ours(const engine *e, const each_step *s)
{
    ALL_OURS(s->x0, s->factor, s->fields, s->drift, s->lower, s->upper, s->x, s->lost_at, s->out);
    for (size_t i = 0; i < s->pieces; i++) ours(e, s->fields[i], "a field");
    for (size_t i = 0; i < s->factors; i++) ours(e, s->factor[i].owner, "an owner");
}

static void arguments_are_ours(const engine *e, int kind, const element_args *a)
{
    const each_svec *v = &a->of.svec;
    const each_weighted *w = &a->of.weighted;
    const each_pair *p = &a->of.pair;
    const each_matrix *m = &a->of.matrix;
    const each_turn *t = &a->of.turn;
    const each_entry *n = &a->of.entry;
    const each_feature *f = &a->of.feature;
    const sk_device_piece *q = &f->piece;
    switch (kind) {
    case EACH_SVEC: ALL_OURS(v->phi, v->weight, v->row, v->node, v->one, v->other, v->out); break;
    case EACH_WEIGHTED: ALL_OURS(w->b, w->w, w->out); break;
    case EACH_PAIR: ALL_OURS(p->block, p->whole, p->low); break;
    case EACH_SQUARES:
    case EACH_TURN: ALL_OURS(t->one, t->other, t->from, t->out); break;
    case EACH_ENTRY: ALL_OURS(n->x, n->weight, n->row, n->node, n->term, n->l); break;
    case EACH_FEATURE:
        ALL_OURS(f->x, f->phi, q->origin, q->unit, q->omega, q->beta, q->power, q->point, q->term);
        break;
    case EACH_START:
    case EACH_STEP:
    case EACH_WRITE: step_is_ours(e, &a->of.step); break;
    case EACH_WALK:
        ALL_OURS(a->of.walk.piece);
        step_is_ours(e, &a->of.walk.step);
        break;
    default: ALL_OURS(m->v, m->minus, m->mu, m->m); break;
    }
}

void engine_each(engine *e, int kind, size_t count, const element_args *a)
{
    if (e->state != SK_DEVICE_DONE || !count) return;
    arguments_are_ours(e, kind, a);
#define KIND(name, function, member)                                                                                   \
    case name:                                                                                                         \
        for (size_t i = 0; i < count; i++) function(&a->of.member, i);                                                 \
        break
    switch (kind) {
        EACH_OF_ALL(KIND)
    default: engine_fail(e, SK_DEVICE_FAILED, "no such element");
    }
#undef KIND
}
