/* exactmpi.c - see exactmpi.h. The matrix lies block-cyclically on a grid of processes: each makes its own entries from
 * the points, which all have; pdpotrf and pdpotrs solve; all get the whole answer.
 *
 * Memory of a process: 8 n^2 / processes bytes. Whatever can fail on one (memory, a matrix that is not definite) is
 * agreed upon before the next call that all make. */
#include "exactmpi.h"

#ifdef WITH_SCALAPACK
#include "base/base.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *at, const int *first, const int *count);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *first_row,
               const int *first_column, const int *context, const int *lead, int *info);
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc, int *info);
void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *ia, const int *ja,
              const int *desc, double *b, const int *ib, const int *jb, const int *desc_b, int *info);

enum { BLOCK = 64, MOST_LOCAL = 2147483647, PIECE = 1 << 24 };

typedef struct grid {
    int context, rows, columns, row, column; /* of processes; and the place of this one */
    int here, across, right;                 /* rows, columns, right-hand sides that lie here */
    int desc[9], desc_b[9];
    double *l, *b;
} grid;

static sk_comm *all;
static char why[1024]; /* as long as messages of all processes are */

static size_t global(int local, int processes, int place)
{
    return ((size_t)(local / BLOCK) * (size_t)processes + (size_t)place) * BLOCK + (size_t)(local % BLOCK);
}

/* The worst of all; SK_DEVICE_DONE or SK_DEVICE_BROKEN, since the host of one process cannot go on alone. */
static int agree(int mine, const char *reason)
{
    char message[sizeof why];
    bool left = false;
    snprintf(message, sizeof message, "%s", reason);
    const int status = mine == SK_DEVICE_DONE ? SOCK_OK : mine == SK_DEVICE_NUMERIC ? SOCK_ENUMERIC : SOCK_ENOMEM;
    const int worst = all->agree(all, status, false, message, sizeof message, &left);
    all->over = left;
    snprintf(why, sizeof why, "%s", worst < 0 || !left ? message : "the other processes have ended");
    if (left) return SK_DEVICE_BROKEN;
    return worst == SOCK_OK ? SK_DEVICE_DONE : worst == SOCK_ENUMERIC ? SK_DEVICE_NUMERIC : SK_DEVICE_BROKEN;
}

static double value_of(const sk_device_system *s, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < s->terms; i++) {
        const sk_device_term *t = &s->term[i];
        double inner = 0, value = 1;
        for (size_t k = 0; k < s->d; k++) inner += t->gauss ? (x[k] - y[k]) * (x[k] - y[k]) : x[k] * y[k];
        if (t->gauss)
            value = exp(fmax(t->factor * inner, -600));
        else
            for (unsigned j = 0; j < t->degree; j++) value *= inner + t->shift;
        sum += t->scale * value;
    }
    return sum;
}

static double entry(const sk_device_system *s, size_t i, size_t j)
{
    double sum = i == j ? s->shift : 0;
    for (size_t r = s->row[i]; r < s->row[i + 1]; r++)
        for (size_t c = s->row[j]; c < s->row[j + 1]; c++)
            sum += s->weight[r] * s->weight[c] * value_of(s, s->x + s->node[r] * s->d, s->x + s->node[c] * s->d);
    return sum;
}

static void fill(const sk_device_system *s, const grid *g)
{
    for (int q = 0; q < g->across; q++)
        for (int p = 0; p < g->here; p++) {
            const size_t i = global(p, g->rows, g->row), j = global(q, g->columns, g->column);
            if (i >= j) g->l[(size_t)p + (size_t)q * (size_t)g->here] = entry(s, i, j);
        }
    for (int q = 0; q < g->right; q++)
        for (int p = 0; p < g->here; p++)
            g->b[(size_t)p + (size_t)q * (size_t)g->here] =
                s->b[global(p, g->rows, g->row) * s->columns + global(q, g->columns, g->column)];
}

/* Blocks of this process, and room for them. */
static int lay_out(const sk_device_system *s, grid *g)
{
    const int n = (int)s->n, columns = (int)s->columns, block = BLOCK, zero = 0;
    int info = 0, lead;
    for (g->rows = (int)sqrt((double)all->size); all->size % g->rows; g->rows--) {}
    g->columns = all->size / g->rows;
    Cblacs_get(-1, 0, &g->context);
    Cblacs_gridinit(&g->context, "Row", g->rows, g->columns);
    Cblacs_gridinfo(g->context, &g->rows, &g->columns, &g->row, &g->column);
    g->here = numroc_(&n, &block, &g->row, &zero, &g->rows);
    g->across = numroc_(&n, &block, &g->column, &zero, &g->columns);
    g->right = numroc_(&columns, &block, &g->column, &zero, &g->columns);
    lead = g->here > 1 ? g->here : 1;
    descinit_(g->desc, &n, &n, &block, &block, &zero, &zero, &g->context, &lead, &info);
    descinit_(g->desc_b, &n, &columns, &block, &block, &zero, &zero, &g->context, &lead, &info);
    const double numbers = (double)g->here * (double)g->across, bytes = 8 * numbers;
    if (numbers > MOST_LOCAL || bytes > sk_available_memory("")) {
        char text[160];
        snprintf(text, sizeof text,
                 "the exact drift of %zu rows needs %.3g GB on each of %d processes; more of them help", s->n,
                 1e-9 * bytes, all->size);
        return agree(SK_DEVICE_MEMORY, text);
    }
    g->l = malloc((size_t)lead * (size_t)(g->across + 1) * sizeof *g->l);
    g->b = calloc((size_t)lead * (size_t)(g->right + 1), sizeof *g->b);
    return agree(g->l && g->b ? SK_DEVICE_DONE : SK_DEVICE_MEMORY, "the exact drift: a process has no memory");
}

/* Every process has the whole answer. */
static void gather(const sk_device_system *s, const grid *g, double *alpha)
{
    const size_t count = s->n * s->columns;
    memset(alpha, 0, count * sizeof *alpha);
    for (int q = 0; q < g->right; q++)
        for (int p = 0; p < g->here; p++)
            alpha[global(p, g->rows, g->row) * s->columns + global(q, g->columns, g->column)] =
                g->b[(size_t)p + (size_t)q * (size_t)g->here];
    for (size_t at = 0; at < count; at += PIECE)
        MPI_Allreduce(MPI_IN_PLACE, alpha + at, (int)(count - at < PIECE ? count - at : PIECE), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
}

static int exact(void *state, const sk_device_system *s, double *alpha)
{
    const int n = (int)s->n, columns = (int)s->columns, one = 1;
    grid g = {0};
    int info = 0, answer;
    (void)state;
    why[0] = 0;
    if (s->n > MOST_LOCAL / 2) return SK_DEVICE_CANNOT;
    answer = agree(SK_DEVICE_DONE, ""); /* the grid is made by all, and one may have failed before */
    if (answer != SK_DEVICE_DONE) return answer;
    answer = lay_out(s, &g);
    if (answer == SK_DEVICE_DONE) {
        fill(s, &g);
        pdpotrf_("L", &n, g.l, &one, &one, g.desc, &info);
        answer = agree(info ? SK_DEVICE_NUMERIC : SK_DEVICE_DONE, "");
    }
    if (answer == SK_DEVICE_DONE) {
        pdpotrs_("L", &n, &columns, g.l, &one, &one, g.desc, g.b, &one, &one, g.desc_b, &info);
        gather(s, &g, alpha);
    }
    free(g.l);
    free(g.b);
    Cblacs_gridexit(g.context);
    return answer;
}

static const char *error_of(void *state)
{
    (void)state;
    return why;
}

const sk_device *exactmpi_device(sk_comm *comm)
{
    static sk_device device = {.name = "scalapack", .exact = exact, .error = error_of};
    all = comm;
    snprintf(device.about, sizeof device.about, "%d processes", comm->size);
    return &device;
}
#else
const sk_device *exactmpi_device(sk_comm *comm)
{
    (void)comm;
    return NULL;
}
#endif
