/* fieldtable.c - see fieldtable.h. In a cell a field is the cubic through its values at the ends and at the thirds,
 * with s in [0, 3] the place in the cell; it is compared with the field at three places between. */
#include "model/fieldtable.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum {
    CELLS = 1024, /* speed only */
    THIRDS = 3,
    NODES = CELLS * THIRDS + 1,
    PROBES = 3,
    TRIALS = CELLS * PROBES
};
static const double probe[PROBES] = {0.4, 1.5, 2.6}; /* where the error of a cubic is largest */

typedef struct cell {
    double f[4], a[4]; /* coefficients of s^0 .. s^3 */
} cell;

struct sk_field_table {
    const sk_sampler *sampler;
    double low, high, scale; /* scale: cells for each unit */
    bool good[CELLS];
    cell cell[CELLS];
};

void sk_field_table_free(sk_field_table *table) { sk_free(table); }

/* The cubic through y at 0, 1, 2, 3. */
static void cubic(const double y[4], double c[4])
{
    c[0] = y[0];
    c[1] = (18 * y[1] - 11 * y[0] - 9 * y[2] + 2 * y[3]) / 6;
    c[2] = (2 * y[0] - 5 * y[1] + 4 * y[2] - y[3]) / 2;
    c[3] = (y[3] - y[0]) / 6 + (y[1] - y[2]) / 2;
}

static double value(const double c[4], double s) { return c[0] + s * (c[1] + s * (c[2] + s * c[3])); }

/* Whether the cubic is the field to a share of what it is in the cell, or of `typical`. */
static bool is_near(const double c[4], const double y[4], const double found[PROBES], double typical)
{
    double size = typical;
    for (int i = 0; i < 4; i++) size = fmax(size, fabs(y[i]));
    for (int i = 0; i < PROBES; i++)
        if (!(fabs(value(c, probe[i]) - found[i]) <= SK_TABLE_NEAR * size)) return false;
    return isfinite(size);
}

/* Values at the nodes and then at the probes: f and a of each. */
static void fill(sk_field_table *t, const double *f, const double *a, double typical)
{
    for (size_t i = 0; i < CELLS; i++) {
        cell *c = &t->cell[i];
        cubic(f + THIRDS * i, c->f);
        cubic(a + THIRDS * i, c->a);
        t->good[i] = is_near(c->f, f + THIRDS * i, f + NODES + PROBES * i, typical) &&
                     is_near(c->a, a + THIRDS * i, a + NODES + PROBES * i, 0);
    }
}

static double node_of(const sk_field_table *t, size_t i)
{
    const double at =
        i < NODES ? (double)i / THIRDS : (double)((i - NODES) / PROBES) + probe[(i - NODES) % PROBES] / THIRDS;
    return t->low + at / t->scale;
}

enum { AT_ONCE = 128 };

/* x, f, a: NODES + TRIALS numbers each; then the sampler's space. */
static void evaluate(sock_context *ctx, sk_field_table *t, double *space)
{
    const size_t all = NODES + TRIALS;
    double *x = space, *f = x + all, *a = f + all, *work = a + all;
    for (size_t i = 0; i < all; i++) x[i] = node_of(t, i);
    for (size_t i = 0; i < all; i += AT_ONCE)
        sk_sampler_exact(ctx, t->sampler, SK_MIN(all - i, (size_t)AT_ONCE), x + i, f + i, a + i, work);
    for (size_t i = 0; i < NODES; i++) x[i] = fabs(f[i]);
    fill(t, f, a, sk_median(NODES, x));
}

sock_status sk_field_table_new(sock_context *ctx, const sk_sampler *sampler, double low, double high,
                               sk_field_table **out)
{
    sk_field_table *t = sk_alloc(ctx, 1, sizeof *t);
    double *space = sk_doubles_unset(ctx, 3 * (NODES + TRIALS) + sk_sampler_exact_space(sampler, AT_ONCE), 1);
    sock_status status = t && space ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        t->sampler = sampler;
        t->low = low;
        t->high = high;
        t->scale = CELLS / (high - low);
        evaluate(ctx, t, space);
    }
    sk_free(space);
    if (status < 0)
        sk_free(t);
    else
        *out = t;
    return status;
}

size_t sk_field_table_space(const sk_field_table *table, size_t block)
{
    return 3 * block + sk_sampler_exact_space(table->sampler, block);
}

/* The cell of x; CELLS: there is none to be used. */
static size_t cell_of(const sk_field_table *t, double x, double *s)
{
    if (!(x >= t->low && x < t->high)) return CELLS;
    const double at = (x - t->low) * t->scale;
    const size_t i = SK_MIN((size_t)at, (size_t)CELLS - 1);
    *s = THIRDS * (at - (double)i);
    return t->good[i] ? i : CELLS;
}

/* f and a of the points that no cell holds: `left` of them, their numbers in `at` and their places in `space`. */
static void ask(sock_context *ctx, const sk_field_table *t, size_t block, size_t left, double *f, double *a,
                double *space)
{
    const double *x = space;
    double *g = space + block, *b = g + block, *work = b + block;
    sk_sampler_exact(ctx, t->sampler, left, x, g, a ? b : NULL, work);
    for (size_t i = block, from = left; i-- > 0 && from > 0;) {
        if (!isnan(f[i])) continue;
        f[i] = g[--from];
        if (a) a[i] = b[from];
    }
}

void sk_field_table_fields(sock_context *ctx, const sk_field_table *table, size_t count, const double *x, double *f,
                           double *a, double *space)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        double s = 0;
        const size_t at = cell_of(table, x[i], &s);
        if (at < CELLS) {
            f[i] = value(table->cell[at].f, s);
            const double own = value(table->cell[at].a, s);
            if (a) a[i] = own > 0 ? own : 0;
        } else {
            f[i] = (double)NAN; /* no cell has one */
            space[left++] = x[i];
        }
    }
    if (left) ask(ctx, table, count, left, f, a, space);
}
