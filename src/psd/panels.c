/* panels.c - products with the rows svec(M_i), PANEL rows at a time.
 *
 * For each panel, in parallel, each thread with a panel and a sum of its own:
 *   1. rows: sum over the nodes of a row of weight * svec(phi phi'), p runs of at most p multiplications each;
 *   2. Y = X panel' (pairs x PANEL), or the given part of y;
 *   3. sum += Y panel.
 * and the sums are added at the end. A product B'(B x) is 4 n q pairs flop in one pass; making the rows costs n q times
 * the nodes per row, a tenth of it for two nodes. In single precision it takes less than half the time. */
#include "panels.h"

#include <math.h>
#include <string.h>

enum { PANEL = 64, MANY_NODES = 4 };
static const double CACHE_MOST = 1e9; /* bytes */

struct sk_psd_panels {
    const sk_psd_prepared *prepared;
    size_t pairs, q, workers; /* q: of all features */
    float *phi;               /* nodes x p in single precision */
    float *cache;             /* n x q: B in single precision where making its rows costs more than reading them */
    float *x32, *panel32, *y32, *sum32;
    double *panel, *y, *sum;
};

/* ---- Step 1 ---- */

/* One node's part of a row, added or, for the first, put there. */
static void put_node(size_t p, double weight, const double *phi, bool add, double *row)
{
    for (size_t b = 0; b < p; b++, row += b) {
        double scale = weight * SK_ROOT_TWO * phi[b];
        if (add)
            for (size_t a = 0; a < b; a++) row[a] += scale * phi[a];
        else
            for (size_t a = 0; a < b; a++) row[a] = scale * phi[a];
        row[b] = (add ? row[b] : 0) + weight * phi[b] * phi[b];
    }
}

static void put_node32(size_t p, float weight, const float *phi, bool add, float *row)
{
    for (size_t b = 0; b < p; b++, row += b) {
        float scale = weight * (float)SK_ROOT_TWO * phi[b];
        if (add)
            for (size_t a = 0; a < b; a++) row[a] += scale * phi[a];
        else
            for (size_t a = 0; a < b; a++) row[a] = scale * phi[a];
        row[b] = (add ? row[b] : 0) + weight * phi[b] * phi[b];
    }
}

/* Rows first .. first+count-1 with the leading p features, q apart. */
static void fill(const sk_psd_panels *panels, size_t p, size_t first, size_t count, double *out)
{
    const sk_psd_prepared *prepared = panels->prepared;
    size_t q = p * (p + 1) / 2;
    for (size_t i = 0; i < count; i++, out += q) {
        size_t begin = prepared->row[first + i], end = prepared->row[first + i + 1];
        if (begin == end) memset(out, 0, q * sizeof *out);
        for (size_t e = begin; e < end; e++)
            put_node(p, prepared->weight[e], prepared->phi + prepared->node[e] * prepared->p, e > begin, out);
    }
}

static void fill32(const sk_psd_panels *panels, size_t p, size_t first, size_t count, float *out)
{
    const sk_psd_prepared *prepared = panels->prepared;
    size_t q = p * (p + 1) / 2;
    for (size_t i = 0; i < count; i++, out += q) {
        size_t begin = prepared->row[first + i], end = prepared->row[first + i + 1];
        if (begin == end) memset(out, 0, q * sizeof *out);
        for (size_t e = begin; e < end; e++)
            put_node32(p, (float)prepared->weight[e], panels->phi + prepared->node[e] * prepared->p, e > begin, out);
    }
}

static sock_status fill_cache(void *arg, size_t begin, size_t end, int worker)
{
    const sk_psd_panels *panels = arg;
    (void)worker;
    fill32(panels, panels->prepared->p, begin, end - begin, panels->cache + begin * panels->q);
    return SOCK_OK;
}

/* Rows with many nodes are made once, when they fit. */
static sock_status make_cache(sock_context *ctx, sk_psd_panels *panels)
{
    size_t n = panels->prepared->n;
    double bytes = 4.0 * (double)n * (double)panels->q;
    if (panels->prepared->row[n] <= MANY_NODES * n || bytes > CACHE_MOST) return SOCK_OK;
    panels->cache = sk_alloc(ctx, n * panels->q, sizeof(float));
    if (!panels->cache) return SOCK_ENOMEM;
    return sk_parallel_for(ctx, n, PANEL, fill_cache, panels);
}

void sk_psd_panels_free(sk_psd_panels *panels)
{
    if (!panels) return;
    sk_free(panels->cache);
    void *const all[] = {panels->phi,   panels->x32,   panels->panel32, panels->y32,
                         panels->sum32, panels->panel, panels->y,       panels->sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_free(panels);
}

sock_status sk_psd_panels_new(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, sk_psd_panels **out)
{
    sk_psd_panels *panels = sk_alloc(ctx, 1, sizeof *panels);
    if (!panels) return SOCK_ENOMEM;
    size_t p = prepared->p, q = p * (p + 1) / 2, workers = (size_t)sk_workers(ctx);
    *panels = (sk_psd_panels){.prepared = prepared, .pairs = pairs, .q = q, .workers = workers};
    panels->phi = sk_alloc(ctx, prepared->nodes * p, sizeof(float));
    panels->x32 = sk_alloc(ctx, pairs * q, sizeof(float));
    panels->panel32 = sk_alloc(ctx, workers * PANEL * q, sizeof(float));
    panels->y32 = sk_alloc(ctx, workers * PANEL * pairs, sizeof(float));
    panels->sum32 = sk_alloc(ctx, workers * pairs * q, sizeof(float));
    panels->panel = sk_doubles(ctx, workers * PANEL, q);
    panels->y = sk_doubles(ctx, workers * PANEL, pairs);
    panels->sum = sk_doubles(ctx, workers * pairs, q);
    if (!panels->phi || !panels->x32 || !panels->panel32 || !panels->y32 || !panels->sum32 || !panels->panel ||
        !panels->y || !panels->sum) {
        sk_psd_panels_free(panels);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < prepared->nodes * p; i++) panels->phi[i] = (float)prepared->phi[i];
    sock_status status = make_cache(ctx, panels);
    if (status < 0) {
        sk_psd_panels_free(panels);
        return status;
    }
    *out = panels;
    return SOCK_OK;
}

/* ---- Steps 2 and 3 ---- */

typedef struct job {
    sock_context *ctx;
    sk_psd_panels *panels;
    size_t p, q, pairs;
    const double *x;    /* pairs x q, or NULL: rows of y are given */
    const double *y_in; /* pairs x n */
    double *y_out;      /* pairs x n, or NULL: sum */
} job;

static sock_status work(void *arg, size_t begin, size_t end, int worker)
{
    const job *j = arg;
    sk_psd_panels *panels = j->panels;
    size_t n = panels->prepared->n, pairs = j->pairs, w = (size_t)worker;
    double *panel = panels->panel + w * PANEL * panels->q, *y = panels->y + w * PANEL * panels->pairs,
           *sum = panels->sum + w * panels->pairs * panels->q;
    for (size_t at = begin; at < end; at++) {
        size_t first = at * PANEL, count = SK_MIN((size_t)PANEL, n - first);
        fill(panels, j->p, first, count, panel);
        if (j->x) sk_gemm(j->ctx, SK_PLAIN, SK_TRANSPOSED, pairs, count, j->q, 1, j->x, j->q, panel, j->q, 0, y, count);
        for (size_t k = 0; k < pairs; k++) {
            if (j->y_out) memcpy(j->y_out + k * n + first, y + k * count, count * sizeof *y);
            if (j->y_in) memcpy(y + k * count, j->y_in + k * n + first, count * sizeof *y);
        }
        if (!j->y_out) sk_gemm(j->ctx, SK_PLAIN, SK_PLAIN, pairs, j->q, count, 1, y, count, panel, j->q, 1, sum, j->q);
    }
    return SOCK_OK;
}

static sock_status work32(void *arg, size_t begin, size_t end, int worker)
{
    const job *j = arg;
    sk_psd_panels *panels = j->panels;
    size_t n = panels->prepared->n, pairs = j->pairs, w = (size_t)worker, ld = panels->cache ? panels->q : j->q;
    float *made = panels->panel32 + w * PANEL * panels->q, *y = panels->y32 + w * PANEL * panels->pairs,
          *sum = panels->sum32 + w * panels->pairs * panels->q;
    for (size_t at = begin; at < end; at++) {
        size_t first = at * PANEL, count = SK_MIN((size_t)PANEL, n - first);
        const float *panel = panels->cache ? panels->cache + first * ld : made;
        if (!panels->cache) fill32(panels, j->p, first, count, made);
        sk_gemm_f32(j->ctx, SK_PLAIN, SK_TRANSPOSED, pairs, count, j->q, 1, panels->x32, j->q, panel, ld, 0, y, count);
        sk_gemm_f32(j->ctx, SK_PLAIN, SK_PLAIN, pairs, j->q, count, 1, y, count, panel, ld, 1, sum, j->q);
    }
    return SOCK_OK;
}

static size_t panel_count(const sk_psd_panels *panels) { return (panels->prepared->n + PANEL - 1) / PANEL; }

static sock_status sum_up(sock_context *ctx, sk_psd_panels *panels, job *j, double *out)
{
    size_t length = j->pairs * j->q, stride = panels->pairs * panels->q;
    for (size_t w = 0; w < panels->workers; w++) memset(panels->sum + w * stride, 0, length * sizeof *panels->sum);
    SK_TRY(sk_parallel_for(ctx, panel_count(panels), 1, work, j));
    memcpy(out, panels->sum, length * sizeof *out);
    for (size_t w = 1; w < panels->workers; w++) sk_axpy(length, 1, panels->sum + w * stride, out);
    return SOCK_OK;
}

static job job_new(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape)
{
    return (job){.ctx = ctx, .panels = panels, .p = shape.p, .q = shape.p * (shape.p + 1) / 2, .pairs = shape.pairs};
}

sock_status sk_psd_panels_gram(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *x,
                               bool single, double *out)
{
    job j = job_new(ctx, panels, shape);
    j.x = x;
    if (!single) return sum_up(ctx, panels, &j, out);
    size_t length = j.pairs * j.q, stride = panels->pairs * panels->q;
    for (size_t i = 0; i < length; i++) panels->x32[i] = (float)x[i];
    for (size_t w = 0; w < panels->workers; w++) memset(panels->sum32 + w * stride, 0, length * sizeof(float));
    SK_TRY(sk_parallel_for(ctx, panel_count(panels), 1, work32, &j));
    for (size_t i = 0; i < length; i++) {
        out[i] = 0;
        for (size_t w = 0; w < panels->workers; w++) out[i] += (double)panels->sum32[w * stride + i];
    }
    return SOCK_OK;
}

sock_status sk_psd_panels_rows(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *x, double *y)
{
    job j = job_new(ctx, panels, shape);
    j.x = x;
    j.y_out = y;
    return sk_parallel_for(ctx, panel_count(panels), 1, work, &j);
}

sock_status sk_psd_panels_columns(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *y,
                                  double *x)
{
    job j = job_new(ctx, panels, shape);
    j.y_in = y;
    return sum_up(ctx, panels, &j, x);
}

/* ---- A block of B'B ---- */

typedef struct block_job {
    sock_context *ctx;
    const sk_psd_panels *panels;
    size_t h;
    const unsigned *first, *second;
    double *rows, *sums; /* workers x PANEL x h, workers x h x h */
} block_job;

static sock_status block_work(void *arg, size_t begin, size_t end, int worker)
{
    const block_job *j = arg;
    const sk_psd_prepared *prepared = j->panels->prepared;
    size_t h = j->h;
    double *rows = j->rows + (size_t)worker * PANEL * h, *sum = j->sums + (size_t)worker * h * h;
    for (size_t at = begin; at < end; at++) {
        size_t top = at * PANEL, count = SK_MIN((size_t)PANEL, prepared->n - top);
        memset(rows, 0, count * h * sizeof *rows);
        for (size_t i = 0; i < count; i++)
            for (size_t e = prepared->row[top + i]; e < prepared->row[top + i + 1]; e++) {
                const double *phi = prepared->phi + prepared->node[e] * prepared->p;
                double weight = prepared->weight[e], mixed = weight * SK_ROOT_TWO;
                for (size_t c = 0; c < h; c++) {
                    size_t a = j->first[c], b = j->second[c];
                    rows[i * h + c] += (a == b ? weight : mixed) * phi[a] * phi[b];
                }
            }
        sk_syrk(j->ctx, SK_TRANSPOSED, h, count, 1, rows, h, 1, sum, h);
    }
    return SOCK_OK;
}

sock_status sk_psd_panels_block(sock_context *ctx, sk_psd_panels *panels, size_t h, const unsigned *first,
                                const unsigned *second, double *g)
{
    size_t workers = panels->workers;
    block_job j = {.ctx = ctx,
                   .panels = panels,
                   .h = h,
                   .first = first,
                   .second = second,
                   .rows = sk_doubles(ctx, workers * PANEL, h),
                   .sums = sk_doubles(ctx, workers * h, h)};
    sock_status status = j.rows && j.sums ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) status = sk_parallel_for(ctx, panel_count(panels), 1, block_work, &j);
    if (status == SOCK_OK) {
        memcpy(g, j.sums, h * h * sizeof *g);
        for (size_t w = 1; w < workers; w++) sk_axpy(h * h, 1, j.sums + w * h * h, g);
        sk_symmetrise(h, g, h);
    }
    sk_free(j.rows);
    sk_free(j.sums);
    return status;
}
