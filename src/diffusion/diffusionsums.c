/* diffusionsums.c - see diffusionsums.h. Cost: n q^2 (times d if diagonal), q = p (p + 1) / 2. */
#include "diffusion/diffusionsums.h"

#include "base/comm.h"
#include "base/plugins.h"
#include "base/sums.h"
#include "occupation/secondmoments.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Rows whose svec is in memory at once. */
enum { AT_ONCE = 256 };

static size_t squares(const sk_diffusion_sums *s) { return s->systems * s->q * s->q; }
/* Sets of rows whose G are in memory, with the total. */
static size_t gram_parts(const sk_diffusion_sums *s) { return s->folds ? s->folds + 2 : 1; }
static size_t sides(const sk_diffusion_sums *s) { return s->systems * s->pairs * s->q; }

double sk_diffusion_sums_bytes(size_t p, size_t d, size_t folds, bool diagonal)
{
    const double q = (double)(p * (p + 1) / 2);
    return 8.0 * (double)((folds + 4) * (diagonal ? d : 1)) * q * q;
}

/* Its arrays, with g of so many folds. */
static sock_status allocate(sock_context *ctx, size_t folds, sk_diffusion_sums *s)
{
    s->g = sk_doubles_unset(ctx, folds, squares(s));
    s->c = sk_doubles(ctx, s->used + 1, sides(s));
    s->zz = sk_doubles(ctx, s->used + 1, s->systems);
    s->rows = sk_alloc(ctx, s->folds + 2, sizeof *s->rows);
    s->square = sk_doubles(ctx, sk_features_count(s->map), 1);
    s->weight = sk_doubles(ctx, s->systems, 1);
    return s->g && s->c && s->zz && s->rows && s->square && s->weight ? SOCK_OK : SOCK_ENOMEM;
}

/* G = 0, before the first row that is summed up here. */
static void fill(sk_diffusion_sums *s)
{
    if (!s->filled) memset(s->g, 0, gram_parts(s) * squares(s) * sizeof *s->g);
    s->filled = true;
}

static sock_status make(sock_context *ctx, const sk_features *map, const sk_picks *picks, const sk_view *like,
                        bool diagonal, size_t used, sk_diffusion_sums **out)
{
    sk_diffusion_sums *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->map = map;
    s->picks = *picks;
    s->p = picks->each ? picks->each : sk_features_count(map);
    s->q = s->p * (s->p + 1) / 2;
    s->d = like->d;
    s->folds = like->folds;
    s->used = used;
    s->systems = diagonal ? s->d : 1;
    s->dim = diagonal ? 1 : s->d;
    s->pairs = s->dim * (s->dim + 1) / 2;
    const sock_status status = allocate(ctx, gram_parts(s), s);
    if (status < 0)
        sk_diffusion_sums_free(s);
    else
        *out = s;
    return status;
}

/* The arrays of sums, in the order in which `low` has what they are short of; g of one fold. */
enum { GRAMS, SIDES, TARGETS, SQUARES, WEIGHTS, TIMES, ARRAYS };
typedef struct piece {
    size_t count;
    double *at;
} piece;

static void list_pieces(sk_diffusion_sums *s, size_t fold, piece *out)
{
    const piece list[ARRAYS] = {
        {squares(s), s->g + fold * squares(s)}, {(s->used + 1) * sides(s), s->c}, {(s->used + 1) * s->systems, s->zz},
        {sk_features_count(s->map), s->square}, {s->systems, s->weight},          {1, &s->h2}};
    memcpy(out, list, sizeof list);
}

sock_status sk_diffusion_sums_pair(sock_context *ctx, sk_diffusion_sums *s)
{
    piece all[ARRAYS];
    size_t count = (s->folds + 1) * squares(s);
    list_pieces(s, 0, all);
    for (size_t i = 1; i < ARRAYS; i++) count += all[i].count;
    fill(s);
    s->low = sk_doubles(ctx, count, 1);
    return s->low ? SOCK_OK : SOCK_ENOMEM;
}

/* The sums of one block, whose g is that of its fold alone; q = 0: without G and c. */
static sock_status block_sums(sock_context *ctx, const sk_diffusion_sums *s, size_t q, sk_diffusion_sums **out)
{
    sk_diffusion_sums *part = sk_alloc(ctx, 1, sizeof *part);
    if (!part) return SOCK_ENOMEM;
    /* The shape alone: other threads add to the sums meanwhile. */
    *part = (sk_diffusion_sums){.map = s->map,
                                .picks = s->picks,
                                .p = s->p,
                                .q = q,
                                .d = s->d,
                                .folds = s->folds,
                                .used = s->used,
                                .systems = s->systems,
                                .dim = s->dim,
                                .pairs = s->pairs};
    const sock_status status = allocate(ctx, 1, part);
    if (status < 0) {
        sk_diffusion_sums_free(part);
        return status;
    }
    memset(part->g, 0, squares(part) * sizeof *part->g);
    *out = part;
    return SOCK_OK;
}

void sk_diffusion_sums_over_all(sock_context *ctx, sk_diffusion_sums *s)
{
    piece all[ARRAYS];
    const size_t gram = (s->folds + 1) * squares(s);
    double *low = s->low + gram;
    list_pieces(s, 0, all);
    sk_sum_over_all(ctx, gram, s->g, s->low);
    for (size_t i = 1; i < ARRAYS; low += all[i++].count) sk_sum_over_all(ctx, all[i].count, all[i].at, low);
    sk_count_over_all(ctx, 1, &s->nodes);
    sk_count_over_all(ctx, s->folds + 1, s->rows);
}

static void take_block(sock_context *ctx, sk_diffusion_sums *s, size_t fold, sk_diffusion_sums *part)
{
    piece from[ARRAYS], to[ARRAYS];
    double *low = s->low + (s->folds + 1) * squares(s);
    list_pieces(part, 0, from);
    list_pieces(s, fold, to);
    sk_sums_lock(ctx);
    sk_sums_take(from[0].count, from[0].at, to[0].at, s->low + fold * squares(s));
    for (size_t i = 1; i < ARRAYS; low += to[i++].count) sk_sums_take(from[i].count, from[i].at, to[i].at, low);
    s->nodes += part->nodes;
    s->rows[fold] += part->rows[0];
    sk_sums_unlock(ctx);
}

sock_status sk_diffusion_sums_new(sock_context *ctx, const sk_features *map, const sk_view *like, bool diagonal,
                                  size_t used, sk_diffusion_sums **out)
{
    return make(ctx, map, &(sk_picks){0}, like, diagonal, used, out);
}

sock_status sk_diffusion_sums_picked(sock_context *ctx, const sk_features *map, const sk_view *like,
                                     const sk_picks *picks, size_t used, sk_diffusion_sums **out)
{
    return make(ctx, map, picks, like, true, used, out);
}

void sk_diffusion_sums_free(sk_diffusion_sums *s)
{
    if (!s) return;
    sk_free(s->g);
    sk_free(s->c);
    sk_free(s->zz);
    sk_free(s->rows);
    sk_free(s->square);
    sk_free(s->weight);
    sk_free(s->low);
    sk_free(s->probe);
    sk_device_sums_free(s->device);
    sk_device_sums_free(s->kept);
    sk_free(s);
}

/* ---- Rows ---- */

static void add_svec(size_t p, double weight, const double *phi, double *row)
{
    const double root2 = 1.41421356237309504880;
    for (size_t b = 0, j = 0; b < p; b++) {
        double scaled = weight * phi[b] * root2;
        for (size_t a = 0; a < b; a++, j++) row[j] += scaled * phi[a];
        row[j++] += weight * phi[b] * phi[b];
    }
}

/* Neighbouring rows may share nodes, which rise with the rows: the first node that no row before this one has. */
static size_t first_own(const sk_rule *rule, size_t i) { return rule->row[i] ? rule->node[rule->row[i] - 1] + 1 : 0; }

static sock_status svec_at_nodes(sock_context *ctx, const sk_features *map, const sk_rule *rule, size_t begin,
                                 size_t end, double *rows, double *square)
{
    const size_t p = sk_features_count(map), q = p * (p + 1) / 2, first = rule->node[rule->row[begin]];
    const size_t count = first_own(rule, end) - first, own = first_own(rule, begin);
    double *phi = sk_doubles_unset(ctx, count, p);
    sock_status status = phi ? sk_features_eval(ctx, map, count, rule->x + first * rule->in, phi, p) : SOCK_ENOMEM;
    if (status >= 0) memset(rows, 0, (end - begin) * q * sizeof *rows);
    for (size_t i = begin; status >= 0 && i < end; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
            add_svec(p, rule->weight[e], phi + (rule->node[e] - first) * p, rows + (i - begin) * q);
    for (size_t a = SK_MAX(own, first) - first; status >= 0 && square && a < count; a++)
        for (size_t m = 0; m < p; m++) square[m] += phi[a * p + m] * phi[a * p + m];
    sk_free(phi);
    return status;
}

/* Products of linear features c_a z_a, z = (x, 1), from the moments of the nodes of a row. */
static void svec_of_moments(const sk_quadratic *linear, const double *moments, double *row)
{
    const double root2 = 1.41421356237309504880;
    for (size_t b = 0, j = 0; b < linear->p; b++)
        for (size_t a = 0; a <= b; a++, j++)
            row[j] = linear->c[a] * linear->c[b] * sk_moment(linear, moments, linear->a[a], linear->a[b]) *
                     (a < b ? root2 : 1);
}

/* phi^2 over the nodes of a row, which the moments do not show: the nodes have weights there. */
static void add_squares(const sk_quadratic *linear, const sk_rule *rule, size_t i, double *square)
{
    for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) {
        const double *x = rule->x + rule->node[e] * rule->in;
        if (rule->node[e] < first_own(rule, i)) continue;
        for (size_t m = 0; m < linear->p; m++) {
            const size_t k = linear->a[m];
            const double origin = linear->origin && k < linear->d ? linear->origin[k] : 0;
            const double phi = linear->c[m] * (k < linear->d ? x[k] - origin : 1);
            square[m] += phi * phi;
        }
    }
}

static sock_status svec_by_moments(sock_context *ctx, const sk_quadratic *linear, const sk_rule *rule, size_t begin,
                                   size_t end, double *rows, double *square)
{
    const size_t q = linear->p * (linear->p + 1) / 2;
    double *space = sk_doubles_unset(ctx, sk_moments_space(rule), 1);
    if (!space) return SOCK_ENOMEM;
    for (size_t i = begin; i < end; i++) {
        svec_of_moments(linear, sk_row_moments(ctx, rule, i, space), rows + (i - begin) * q);
        if (square) add_squares(linear, rule, i, square);
    }
    sk_free(space);
    return SOCK_OK;
}

static bool is_linear(const sk_quadratic *q)
{
    for (size_t j = 0; j < q->p; j++)
        if (q->b[j] < q->d) return false;
    return q->p > 0;
}

sock_status sk_svec_rows(sock_context *ctx, const sk_features *map, const sk_rule *rule, size_t begin, size_t end,
                         double *rows, double *square)
{
    sk_quadratic linear;
    SK_TRY(sk_quadratic_new(ctx, map, rule->in, &linear));
    sock_status status = is_linear(&linear) ? svec_by_moments(ctx, &linear, rule, begin, end, rows, square)
                                            : svec_at_nodes(ctx, map, rule, begin, end, rows, square);
    sk_quadratic_clear(&linear);
    return status;
}

/* ---- Sums ---- */

/* Of row i for system s, in units of the median: of order one. */
static double row_weight(const sk_diffusion_sums *s, const sk_view *v, size_t i, size_t system)
{
    const double size = s->systems > 1 ? v->part[i * s->d + system] : v->size[i];
    const double typical = s->systems > 1 ? v->typical->part[system] : v->typical->size;
    const double relative = typical > 0 ? size / typical + SK_SIZE_SHARE : 1;
    return v->spec.weighted ? 1 / (relative * relative) : 1;
}

/* Some rows of a block, with their svec b and weights w (systems x AT_ONCE). */
typedef struct some {
    const sk_block *block;         /* these, */
    const sk_given_rows *given;    /* or those */
    size_t fold, at, begin, count; /* at: the place of g among those of the folds */
    double *b, *w, *scaled, *target;
    double *part; /* count x q: the products of one component's features; NULL: all of b */
} some;

/* The column of b where the products of features i and j <= i of the map stand. */
static size_t column_of(size_t i, size_t j) { return i * (i + 1) / 2 + j; }

/* Products of the features of component k alone. */
static void take_part(const sk_picks *picks, size_t k, size_t n, const double *b, double *part)
{
    const size_t *pick = picks->feature + k * picks->each;
    const size_t wide = picks->p * (picks->p + 1) / 2;
    for (size_t i = 0; i < n; i++, b += wide)
        for (size_t m = 0; m < picks->each; m++)
            for (size_t l = 0; l <= m; l++) *part++ = b[column_of(pick[m], pick[l])];
}

static void add_gram(sock_context *ctx, const sk_diffusion_sums *s, const some *r)
{
    for (size_t system = 0; system < s->systems; system++) {
        double *g = s->g + r->at * squares(s) + system * s->q * s->q;
        const double *b = r->part ? r->part : r->b;
        if (r->part) take_part(&s->picks, system, r->count, r->b, r->part);
        for (size_t i = 0; i < r->count; i++) {
            double root = sqrt(r->w[system * AT_ONCE + i]);
            for (size_t j = 0; j < s->q; j++) r->scaled[i * s->q + j] = root * b[i * s->q + j];
        }
        sk_syrk(ctx, SK_TRANSPOSED, s->q, r->count, 1, r->scaled, s->q, 1, g, s->q);
    }
}

/* Targets of the rows by residuals e (n x d), weighted, count x (systems pairs); zz (systems) += their squares. */
static void put_targets(const sk_diffusion_sums *s, const some *r, const double *e, double *zz)
{
    const double root2 = 1.41421356237309504880;
    for (size_t i = 0; i < r->count; i++, e += s->d)
        for (size_t system = 0; system < s->systems; system++)
            for (size_t l = 0, pair = system * s->pairs; l < s->dim; l++)
                for (size_t k = 0; k <= l; k++, pair++) {
                    double w = r->w[system * AT_ONCE + i];
                    double target = s->dim == 1 ? e[system] * e[system] : e[k] * e[l] * (k < l ? root2 : 1);
                    r->target[i * s->systems * s->pairs + pair] = w * target;
                    zz[system] += w * target * target;
                }
}

/* The same of given targets. */
static void put_given(const sk_diffusion_sums *s, const some *r, double *zz)
{
    const double root2 = 1.41421356237309504880;
    for (size_t i = 0; i < r->count; i++) {
        const double *z = r->given->z + (r->begin + i) * s->d * s->d;
        for (size_t system = 0; system < s->systems; system++)
            for (size_t l = 0, pair = system * s->pairs; l < s->dim; l++)
                for (size_t k = 0; k <= l; k++, pair++) {
                    const double w = r->w[system * AT_ONCE + i];
                    const double target = s->dim == 1 ? z[system * (s->d + 1)] : z[k * s->d + l] * (k < l ? root2 : 1);
                    r->target[i * s->systems * s->pairs + pair] = w * target;
                    zz[system] += w * target * target;
                }
    }
}

/* c of every component from products of its own. */
static void add_parts(sock_context *ctx, const sk_diffusion_sums *s, const some *r, double *c)
{
    for (size_t system = 0; system < s->systems; system++) {
        take_part(&s->picks, system, r->count, r->b, r->part);
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, 1, s->q, r->count, 1, r->target + system, s->systems, r->part, s->q, 1,
                c + system * s->q, s->q);
    }
}

/* c and zz of every solution that these rows take part in. */
static void add_moments(sock_context *ctx, sk_diffusion_sums *s, const some *r)
{
    const size_t columns = s->systems * s->pairs;
    for (size_t f = 0; f <= s->used; f++) {
        const size_t without = f < s->used ? f : s->folds;
        if (without == r->fold && f < s->used) continue;
        if (r->given)
            put_given(s, r, s->zz + f * s->systems);
        else
            put_targets(s, r, r->block->z + (without * r->block->view->n + r->begin) * s->d, s->zz + f * s->systems);
        if (r->part) {
            add_parts(ctx, s, r, s->c + f * sides(s));
            continue;
        }
        sk_gemm(ctx, SK_TRANSPOSED, SK_PLAIN, columns, s->q, r->count, 1, r->target, columns, r->b, s->q, 1,
                s->c + f * sides(s), s->q);
    }
}

static double weight_of(const sk_diffusion_sums *s, const some *r, size_t i, size_t system)
{
    if (r->given) return r->given->weight ? r->given->weight[system * r->given->rule->n + r->begin + i] : 1;
    return row_weight(s, r->block->view, r->begin + i, system);
}

/* svec rows from the nodes, or those that are given. */
static sock_status take_rows(sock_context *ctx, sk_diffusion_sums *s, const sk_rule *rule, const some *r)
{
    const size_t p = sk_features_count(s->map), wide = p * (p + 1) / 2;
    if (r->given && r->given->b) {
        memcpy(r->b, r->given->b + r->begin * wide, r->count * wide * sizeof *r->b);
        return SOCK_OK;
    }
    s->nodes += first_own(rule, r->begin + r->count) - first_own(rule, r->begin);
    return sk_svec_rows(ctx, s->map, rule, r->begin, r->begin + r->count, r->b, s->square);
}

static sock_status add_some(sock_context *ctx, sk_diffusion_sums *s, const sk_rule *rule, const some *r)
{
    SK_TRY(take_rows(ctx, s, rule, r));
    for (size_t i = 0; i < r->count; i++) {
        const double h = rule->h[r->begin + i];
        s->h2 += h * h;
        for (size_t system = 0; system < s->systems; system++)
            s->weight[system] += r->w[system * AT_ONCE + i] = weight_of(s, r, i, system);
    }
    add_gram(ctx, s, r);
    add_moments(ctx, s, r);
    return SOCK_OK;
}

/* Rows of a rule from what->begin on; *what says which they are. */
static sock_status add_rule(sock_context *ctx, sk_diffusion_sums *s, const sk_rule *rule, size_t end, const some *what)
{
    const size_t all = sk_features_count(s->map), wide = all * (all + 1) / 2;
    some r = *what;
    r.b = sk_doubles_unset(ctx, AT_ONCE, wide);
    r.part = s->picks.each ? sk_doubles_unset(ctx, AT_ONCE, s->q) : NULL;
    r.w = sk_doubles(ctx, s->systems, AT_ONCE);
    r.scaled = sk_doubles_unset(ctx, AT_ONCE, s->q);
    r.target = sk_doubles_unset(ctx, AT_ONCE, s->systems * s->pairs);
    sock_status status = r.b && r.w && r.scaled && r.target && (r.part || !s->picks.each) ? SOCK_OK : SOCK_ENOMEM;
    for (; status >= 0 && r.begin < end; r.begin += AT_ONCE) {
        r.count = SK_MIN(AT_ONCE, end - r.begin);
        status = add_some(ctx, s, rule, &r);
    }
    s->rows[r.at] += end - what->begin;
    sk_free(r.b);
    sk_free(r.part);
    sk_free(r.w);
    sk_free(r.scaled);
    sk_free(r.target);
    return status;
}

/* ---- The same on a device, which gets the features of the nodes ---- */

/* G is one matrix, which a solver on the device may use. */
static bool stays_there(const sk_diffusion_sums *s) { return s->folds == 0 && s->systems == 1; }

/* u = svec(v v') with v by lot; products of a row with it need no svec. */
static sock_status probe_new(sock_context *ctx, sk_diffusion_sums *s)
{
    sk_device_sums *t = s->device;
    s->probe = sk_doubles_unset(ctx, 1, s->p);
    t->probe = sk_doubles(ctx, s->q, 1);
    t->product = sk_doubles(ctx, s->q, 1);
    if (!s->probe || !t->probe || !t->product) return SOCK_ENOMEM;
    sk_normals((sk_key){0, SK_PURPOSE_DEVICE}, 0, 0, 0, s->p, s->probe);
    add_svec(s->p, 1, s->probe, t->probe);
    return SOCK_OK;
}

/* Pieces of a block's nodes, each with a sum of its own. */
typedef struct probe_job {
    sock_context *ctx;
    const sk_diffusion_sums *s;
    size_t nodes;
    const double *phi, *weight; /* of nodes */
    double *sum;                /* PROBE_PIECES x p x p */
} probe_job;

enum { PROBE_PIECES = 16 }; /* speed only */

/* sum = Phi' diag(weight) Phi over the nodes of a piece. */
static sock_status probe_pieces(void *arg, size_t begin, size_t end, int worker)
{
    const probe_job *w = arg;
    const size_t p = w->s->p;
    double *scaled = sk_doubles_unset(w->ctx, AT_ONCE, p);
    (void)worker;
    if (!scaled) return SOCK_ENOMEM;
    for (size_t k = begin; k < end; k++) {
        const size_t last = (k + 1) * w->nodes / PROBE_PIECES;
        for (size_t at = k * w->nodes / PROBE_PIECES, count; at < last; at += count) {
            count = SK_MIN(AT_ONCE, last - at);
            for (size_t i = 0; i < count * p; i++) scaled[i] = w->weight[at + i / p] * w->phi[at * p + i];
            sk_gemm(w->ctx, SK_TRANSPOSED, SK_PLAIN, p, p, count, 1, scaled, p, w->phi + at * p, p, 1,
                    w->sum + k * p * p, p);
        }
    }
    sk_free(scaled);
    return SOCK_OK;
}

/* product += sum over rows of w b <b, u>: b of a row is that of its nodes with their weights, and <svec(phi phi'), u> =
 * (phi'v)^2. Meanwhile the device sums up the same rows. */
static sock_status add_probe(sock_context *ctx, const sk_diffusion_sums *s, const sk_device_rows *rows)
{
    const double root2 = 1.41421356237309504880;
    const size_t p = s->p, nodes = rows->nodes;
    double *along = sk_doubles_unset(ctx, nodes, 1), *weight = sk_doubles(ctx, nodes, 1);
    double *sum = sk_doubles(ctx, PROBE_PIECES, p * p);
    sock_status status = along && weight && sum ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, nodes, 1, p, 1, rows->phi, p, s->probe, 1, 0, along, 1);
        for (size_t i = 0; i < rows->n; i++) {
            double t = 0;
            for (size_t e = rows->row[i]; e < rows->row[i + 1]; e++) {
                const double a = along[rows->node[e]];
                t += rows->weight[e] * a * a;
            }
            for (size_t e = rows->row[i]; e < rows->row[i + 1]; e++)
                weight[rows->node[e]] += rows->w[i] * t * rows->weight[e];
        }
        probe_job job = {ctx, s, nodes, rows->phi, weight, sum};
        status = sk_parallel_for(ctx, PROBE_PIECES, 1, probe_pieces, &job);
    }
    for (size_t k = 0; status == SOCK_OK && k < PROBE_PIECES; k++)
        for (size_t b = 0, j = 0; b < p; b++)
            for (size_t a = 0; a <= b; a++, j++)
                s->device->product[j] += (a < b ? root2 : 1) * sum[k * p * p + a * p + b];
    sk_free(along);
    sk_free(weight);
    sk_free(sum);
    return status;
}

sock_status sk_diffusion_sums_offload(sock_context *ctx, sk_diffusion_sums *s, size_t rows)
{
    const double q = (double)s->q, work = (double)rows * (double)s->systems * q * q;
    sk_plugin *plugin = s->picks.each || sk_ranks(ctx) > 1 ? NULL : sk_device_for(ctx, SK_SUMS, work, SK_DEVICE_SUMS);
    sk_quadratic linear;
    if (!plugin) return SOCK_OK;
    SK_TRY(sk_quadratic_new(ctx, s->map, sk_features_dim(s->map), &linear));
    const bool by_moments = is_linear(&linear);
    sk_quadratic_clear(&linear);
    if (by_moments) return SOCK_OK;
    const sk_device_shape shape = {.p = s->p,
                                   .systems = s->systems,
                                   .parts = s->folds + 1,
                                   .sides = s->used + 1,
                                   .columns = s->systems * s->pairs,
                                   .rows = rows};
    SK_TRY(sk_device_sums_begin(ctx, plugin, &shape, &s->device));
    return s->device && stays_there(s) ? probe_new(ctx, s) : SOCK_OK;
}

/* Rows of one call, and what is found on the way: sums without G and c (q = 0). */
typedef struct sent {
    double *phi, *w, *z, *some; /* some: systems x AT_ONCE */
    const double **side;
    size_t *row, *node;
    sk_diffusion_sums *small;
} sent;

static void sent_clear(sent *t)
{
    sk_free(t->phi);
    sk_free(t->w);
    sk_free(t->z);
    sk_free(t->some);
    sk_free(t->side);
    sk_free(t->row);
    sk_free(t->node);
    sk_diffusion_sums_free(t->small);
}

typedef struct features_job {
    sock_context *ctx;
    const sk_diffusion_sums *s;
    size_t dim;
    const double *x;
    double *phi;
} features_job;

static sock_status some_features(void *arg, size_t begin, size_t end, int worker)
{
    const features_job *j = arg;
    (void)worker;
    return sk_features_eval(j->ctx, j->s->map, end - begin, j->x + begin * j->dim, j->phi + begin * j->s->p, j->s->p);
}

/* By all threads: the device waits for them. */
static sock_status features_of(sock_context *ctx, const sk_diffusion_sums *s, size_t nodes, const double *x,
                               double *phi)
{
    enum { GRAIN = 512 }; /* speed only */
    features_job job = {ctx, s, sk_features_dim(s->map), x, phi};
    return sk_parallel_for(ctx, nodes, GRAIN, some_features, &job);
}

static sock_status sent_new(sock_context *ctx, const sk_diffusion_sums *s, const sk_rule *rule, const some *r, sent *t)
{
    const size_t n = r->count, first = rule->node[rule->row[r->begin]], entry = rule->row[r->begin];
    const size_t nodes = first_own(rule, r->begin + n) - first, columns = s->systems * s->pairs;
    t->phi = sk_doubles_unset(ctx, nodes, s->p);
    t->w = sk_doubles_unset(ctx, n, s->systems);
    t->z = sk_doubles_unset(ctx, (s->used + 1) * n, columns);
    t->some = sk_doubles_unset(ctx, s->systems, AT_ONCE);
    t->side = sk_alloc(ctx, s->used + 1, sizeof *t->side);
    t->row = sk_alloc(ctx, n + 1, sizeof *t->row);
    t->node = sk_alloc(ctx, rule->row[r->begin + n] - entry, sizeof *t->node);
    if (!t->phi || !t->w || !t->z || !t->some || !t->side || !t->row || !t->node) return SOCK_ENOMEM;
    for (size_t i = 0; i <= n; i++) t->row[i] = rule->row[r->begin + i] - entry;
    for (size_t e = 0; e < t->row[n]; e++) t->node[e] = rule->node[entry + e] - first;
    SK_TRY(features_of(ctx, s, nodes, rule->x + first * rule->in, t->phi));
    SK_TRY(block_sums(ctx, s, 0, &t->small));
    const size_t own = SK_MAX(first_own(rule, r->begin), first) - first;
    t->small->nodes = nodes - own;
    for (size_t a = own; a < nodes; a++)
        for (size_t m = 0; m < s->p; m++) t->small->square[m] += t->phi[a * s->p + m] * t->phi[a * s->p + m];
    return SOCK_OK;
}

/* Weights and targets, and their sums. */
static void put_rows(const sk_diffusion_sums *s, const sk_rule *rule, const some *r, sent *t)
{
    sk_diffusion_sums *small = t->small;
    const size_t columns = s->systems * s->pairs;
    some part = *r;
    for (size_t done = 0; done < r->count; done += part.count) {
        part.begin = r->begin + done;
        part.count = SK_MIN(AT_ONCE, r->count - done);
        part.w = t->some;
        for (size_t i = 0; i < part.count; i++) {
            small->h2 += rule->h[part.begin + i] * rule->h[part.begin + i];
            for (size_t k = 0; k < s->systems; k++)
                small->weight[k] += t->w[(done + i) * s->systems + k] = t->some[k * AT_ONCE + i] =
                    weight_of(s, &part, i, k);
        }
        for (size_t f = 0; f <= s->used; f++) {
            const size_t without = f < s->used ? f : s->folds;
            if (without == r->fold && f < s->used) continue;
            t->side[f] = t->z + f * r->count * columns;
            part.target = t->z + (f * r->count + done) * columns;
            if (r->given)
                put_given(s, &part, small->zz + f * s->systems);
            else
                put_targets(s, &part, r->block->z + (without * r->block->view->n + part.begin) * s->d,
                            small->zz + f * s->systems);
        }
    }
}

static void merge_small(sk_diffusion_sums *s, const sk_diffusion_sums *small, size_t fold)
{
    sk_axpy((s->used + 1) * s->systems, 1, small->zz, s->zz);
    sk_axpy(sk_features_count(s->map), 1, small->square, s->square);
    sk_axpy(s->systems, 1, small->weight, s->weight);
    s->h2 += small->h2;
    s->nodes += small->nodes;
    s->rows[fold] += small->rows[0];
}

static sock_status send_rows(sock_context *ctx, sk_diffusion_sums *s, const sk_rule *rule, size_t end, const some *what)
{
    some r = *what;
    sent t = {0};
    r.count = end - r.begin;
    sock_status status = sent_new(ctx, s, rule, &r, &t);
    if (status >= 0) {
        put_rows(s, rule, &r, &t);
        t.small->rows[0] = r.count;
        const sk_device_rows rows = {.n = r.count,
                                     .nodes = first_own(rule, end) - rule->node[rule->row[r.begin]],
                                     .phi = t.phi,
                                     .row = t.row,
                                     .node = t.node,
                                     .weight = rule->weight + rule->row[r.begin],
                                     .part = r.fold,
                                     .w = t.w,
                                     .z = t.side};
        status = sk_device_sums_add(ctx, s->device, &rows);
        if (status >= 0 && s->probe) status = add_probe(ctx, s, &rows);
    }
    if (status >= 0 && s->low)
        take_block(ctx, s, r.fold, t.small);
    else if (status >= 0)
        merge_small(s, t.small, r.fold);
    sent_clear(&t);
    return status;
}

/* Behind what was summed up here, or with the digits that others are short of. */
static sock_status join_fetched(sock_context *ctx, sk_diffusion_sums *s)
{
    const size_t gram = (s->folds + 1) * squares(s), side = (s->used + 1) * sides(s);
    double *whole = sk_doubles_unset(ctx, gram + side, 1), *low = sk_doubles_unset(ctx, gram + side, 1);
    sock_status status = whole && low ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_device_sums_end(ctx, s->device, whole, low, whole + gram, low + gram);
    if (status >= 0 && s->low) {
        sk_sums_join(gram, whole, low, s->g, s->low);
        sk_sums_join(side, whole + gram, low + gram, s->c, s->low + gram);
    } else if (status >= 0) {
        sk_axpy(gram, 1, whole, s->g);
        sk_axpy(side, 1, whole + gram, s->c);
    }
    sk_free(whole);
    sk_free(low);
    return status;
}

sock_status sk_diffusion_sums_fetch(sock_context *ctx, sk_diffusion_sums *s, bool gram)
{
    if (!s->device) return SOCK_OK;
    sock_status status;
    if (s->filled) {
        status = join_fetched(ctx, s);
    } else {
        s->absent = !gram && stays_there(s);
        status = sk_device_sums_end(ctx, s->device, s->absent ? NULL : s->g, NULL, s->c, NULL);
        s->filled = status >= 0;
        if (status >= 0 && stays_there(s)) s->kept = s->device;
    }
    if (!s->kept) sk_device_sums_free(s->device);
    s->device = NULL;
    return status;
}

sock_status sk_diffusion_sums_fetch_gram(sock_context *ctx, sk_diffusion_sums *s)
{
    if (!s->absent) return SOCK_OK;
    SK_TRY(sk_device_sums_end(ctx, s->kept, s->g, NULL, NULL, NULL));
    s->absent = false;
    return SOCK_OK;
}

/* The same, by way of the block's own sums where the order of blocks must not show. */
static sock_status add_rows(sock_context *ctx, sk_diffusion_sums *s, const sk_rule *rule, size_t end, const some *what)
{
    some r = *what;
    sk_diffusion_sums *part = NULL;
    if (s->device && !(r.given && r.given->b) && r.begin < end) return send_rows(ctx, s, rule, end, what);
    if (!s->low) fill(s);
    r.at = s->low ? 0 : r.fold;
    if (!s->low) return add_rule(ctx, s, rule, end, &r);
    SK_TRY(block_sums(ctx, s, s->q, &part));
    const sock_status status = add_rule(ctx, part, rule, end, &r);
    if (status >= 0) take_block(ctx, s, r.fold, part);
    sk_diffusion_sums_free(part);
    return status;
}

sock_status sk_diffusion_sums_add(sock_context *ctx, sk_diffusion_sums *s, const sk_block *block)
{
    sk_rule *ends = NULL;
    SK_TRY(sk_view_ends(ctx, block->view, &ends));
    const sock_status status = add_rows(ctx, s, ends, ends->n, &(some){.block = block, .fold = block->view->fold});
    sk_rule_free(ends);
    return status;
}

sock_status sk_diffusion_sums_add_given(sock_context *ctx, sk_diffusion_sums *s, const sk_given_rows *rows)
{
    const some what = {.given = rows, .fold = rows->fold, .begin = rows->begin};
    return add_rows(ctx, s, rows->rule, rows->end, &what);
}

void sk_diffusion_sums_merge(sk_diffusion_sums *s, const sk_diffusion_sums *other)
{
    fill(s);
    if (other->filled) sk_axpy(gram_parts(s) * squares(s), 1, other->g, s->g);
    sk_axpy((s->used + 1) * sides(s), 1, other->c, s->c);
    sk_axpy((s->used + 1) * s->systems, 1, other->zz, s->zz);
    for (size_t f = 0; f < s->folds + 2; f++) s->rows[f] += other->rows[f];
    sk_axpy(sk_features_count(s->map), 1, other->square, s->square);
    sk_axpy(s->systems, 1, other->weight, s->weight);
    s->h2 += other->h2;
    s->nodes += other->nodes;
}

void sk_diffusion_sums_close(sk_diffusion_sums *s)
{
    const size_t size = squares(s), total = s->folds + 1;
    fill(s);
    if (s->folds) memset(s->g + total * size, 0, size * sizeof *s->g);
    s->rows[total] = 0;
    for (size_t f = 0; f <= s->folds; f++) {
        for (size_t system = 0; !s->kept && system < s->systems; system++) /* what is kept has both triangles */
            sk_symmetrise(s->q, s->g + f * size + system * s->q * s->q, s->q);
        if (s->folds) sk_axpy(size, 1, s->g + f * size, s->g + total * size);
        s->rows[total] += s->rows[f];
    }
}

const double *sk_diffusion_sums_total(const sk_diffusion_sums *s) { return s->g + (gram_parts(s) - 1) * squares(s); }

size_t sk_diffusion_sums_subtract(const sk_diffusion_sums *s, size_t f, size_t system, double *out)
{
    const size_t square = s->q * s->q, total = s->folds + 1;
    memcpy(out, sk_diffusion_sums_total(s) + system * square, square * sizeof *out);
    if (f >= s->folds) return s->rows[total];
    sk_axpy(square, -1, s->g + f * squares(s) + system * square, out);
    return s->rows[total] - s->rows[f];
}

double sk_diffusion_sums_unit(const sk_diffusion_sums *s, size_t system, const double *scale)
{
    const double n = (double)s->rows[s->folds + 1];
    double k = 0;
    for (size_t m = 0; m < s->p; m++) {
        const size_t feature = s->picks.each ? s->picks.feature[system * s->picks.each + m] : m;
        k += s->square[feature] / (double)s->nodes * (scale ? scale[m] * scale[m] : 1);
    }
    return s->h2 / n * k * k * s->weight[system] / n;
}

/* ---- Path ---- */

struct sk_diffusion_path {
    const sk_diffusion_sums *sums;
    size_t system, rows;
    const double *c;    /* pairs x q, borrowed; or own */
    double *own_c;      /* of rates: pairs x features */
    size_t kept, *keep; /* their features; 0: all products of all features */
    double *few;        /* Q of these alone */
    double zz, unit;    /* of lambda */
    sk_psd_gram *gram;
    double *train; /* q x q, for learned weights; else NULL */
    double *dual;  /* pairs x q */
    bool warm, converged;
    sk_psd_bounds bounds;
};

void sk_diffusion_path_free(sk_diffusion_path *t)
{
    if (!t) return;
    sk_psd_gram_free(t->gram);
    sk_free(t->train);
    sk_free(t->dual);
    sk_free(t->own_c);
    sk_free(t->keep);
    sk_free(t->few);
    sk_free(t);
}

static sock_status new_path(sock_context *ctx, const sk_diffusion_sums *s, size_t f, size_t system, size_t columns,
                            sk_diffusion_path **out)
{
    const size_t at = SK_MIN(f, s->used);
    sk_diffusion_path *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    t->sums = s;
    t->system = system;
    t->c = s->c + at * sides(s) + system * s->pairs * s->q;
    t->zz = s->zz[at * s->systems + system];
    t->unit = sk_diffusion_sums_unit(s, system, NULL);
    t->train = sk_doubles_unset(ctx, s->q, s->q);
    t->dual = sk_doubles(ctx, s->pairs, columns);
    if (!t->train || !t->dual) {
        sk_diffusion_path_free(t);
        return SOCK_ENOMEM;
    }
    t->rows = sk_diffusion_sums_subtract(s, f, system, t->train);
    *out = t;
    return SOCK_OK;
}

/* Only the reweighting needs G itself. */
static void forget_gram(sk_diffusion_path *t)
{
    sk_free(t->train);
    t->train = NULL;
}

/* Squares of the listed features alone: G, c and the unit of lambda, out of those of all products. */
static sock_status keep_squares(sock_context *ctx, sk_diffusion_path *t)
{
    const sk_diffusion_sums *s = t->sums;
    const size_t count = t->kept;
    double *g = sk_doubles(ctx, count, count), *one = sk_doubles(ctx, s->p, 1);
    size_t *place = sk_alloc(ctx, count, sizeof *place);
    sock_status status = g && one && place ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) {
        const size_t at = column_of(t->keep[i], t->keep[i]);
        one[t->keep[i]] = 1;
        place[i] = i;
        for (size_t j = 0; j < count; j++) g[i * count + j] = t->train[at * s->q + column_of(t->keep[j], t->keep[j])];
        for (size_t pair = 0; pair < s->pairs; pair++) t->own_c[pair * count + i] = t->c[pair * s->q + at];
    }
    if (status >= 0) status = sk_psd_gram_entries(ctx, t->rows, count, count, place, place, g, &t->gram);
    t->c = t->own_c;
    if (status >= 0) t->unit = sk_diffusion_sums_unit(s, t->system, one);
    sk_free(g);
    sk_free(one);
    sk_free(place);
    return status;
}

sock_status sk_diffusion_path_separate(sock_context *ctx, const sk_diffusion_sums *s, size_t f, size_t system,
                                       size_t count, const size_t *keep, sk_diffusion_path **out)
{
    sk_diffusion_path *t = NULL;
    sock_status status = SOCK_OK;
    SK_GO(new_path(ctx, s, f, system, count, &t));
    t->kept = count;
    t->keep = sk_alloc(ctx, count, sizeof *t->keep);
    t->own_c = sk_doubles(ctx, s->pairs, count);
    t->few = sk_doubles(ctx, count * s->dim, count * s->dim);
    SK_GO(t->keep && t->own_c && t->few ? SOCK_OK : SOCK_ENOMEM);
    for (size_t i = 0; i < count; i++) t->keep[i] = keep ? keep[i] : i;
    SK_GO(keep_squares(ctx, t));
    forget_gram(t);
    *out = t;
    return SOCK_OK;
out:
    sk_diffusion_path_free(t);
    return status;
}

/* Q of the kept features among all of them. */
static void spread_out(const sk_diffusion_path *t, double *q)
{
    const size_t p = t->sums->p, dim = t->sums->dim, order = p * dim, kept = t->kept;
    memset(q, 0, order * order * sizeof *q);
    for (size_t i = 0; i < kept * dim; i++)
        for (size_t j = 0; j < kept * dim; j++)
            q[(i / kept * p + t->keep[i % kept]) * order + j / kept * p + t->keep[j % kept]] =
                t->few[i * kept * dim + j];
}

sock_status sk_diffusion_path_new(sock_context *ctx, const sk_diffusion_sums *s, size_t f, size_t system, bool learned,
                                  sk_diffusion_path **out)
{
    sk_diffusion_path *t = NULL;
    if (sk_features_separate(s->map)) return sk_diffusion_path_separate(ctx, s, f, system, s->p, NULL, out);
    SK_TRY(new_path(ctx, s, f, system, s->q, &t));
    sock_status status = sk_psd_gram_new(ctx, t->rows, s->p, t->train, &t->gram);
    if (status < 0) {
        sk_diffusion_path_free(t);
        return status;
    }
    if (!learned) forget_gram(t);
    *out = t;
    return SOCK_OK;
}

/* Features scaled by sqrt(Q_mm), negligible ones left out, with G, c and Q of their products. */
typedef struct reweighted {
    size_t kept, q, *index; /* q: products of the kept ones */
    double *scale;          /* of every feature; 0: left out */
    double *g, *c, *small;  /* small: Q, kept x kept */
} reweighted;

static void reweighted_clear(reweighted *w)
{
    double *const all[] = {w->scale, w->g, w->c, w->small};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_free(w->index);
}

static sock_status choose_features(sock_context *ctx, size_t p, const double *q, reweighted *w)
{
    double largest = 0;
    w->index = sk_alloc(ctx, p, sizeof *w->index);
    w->scale = sk_doubles(ctx, p, 1);
    if (!w->index || !w->scale) return SOCK_ENOMEM;
    for (size_t m = 0; m < p; m++) largest = SK_MAX(largest, q[m * p + m]);
    for (size_t m = 0; m < p; m++)
        if (q[m * p + m] > SK_NEGLIGIBLE_FEATURE * largest) {
            w->scale[m] = sqrt(q[m * p + m]);
            w->index[w->kept++] = m;
        }
    w->q = w->kept * (w->kept + 1) / 2;
    w->g = sk_doubles(ctx, w->q, w->q);
    w->c = sk_doubles(ctx, w->q, 1);
    w->small = sk_doubles(ctx, w->kept, w->kept);
    return w->g && w->c && w->small ? SOCK_OK : SOCK_ENOMEM;
}

/* G and c of the kept features out of those of all. */
static void scale_sums(const sk_diffusion_path *t, reweighted *w)
{
    for (size_t b = 0, j = 0; b < w->kept; b++)
        for (size_t a = 0; a <= b; a++, j++) {
            const size_t at = column_of(w->index[b], w->index[a]);
            const double factor = w->scale[w->index[a]] * w->scale[w->index[b]], *row = t->train + at * t->sums->q;
            w->c[j] = factor * t->c[at];
            for (size_t v = 0, u = 0; v < w->kept; v++)
                for (size_t k = 0; k <= v; k++, u++)
                    w->g[j * w->q + u] = factor * w->scale[w->index[k]] * w->scale[w->index[v]] *
                                         row[column_of(w->index[v], w->index[k])];
        }
}

static sock_status solve_reweighted(sock_context *ctx, const sk_diffusion_path *t, double l, double tolerance,
                                    reweighted *w)
{
    const sk_psd_moments z = {
        .d = 1, .c = w->c, .zz = t->zz, .lambda = l * sk_diffusion_sums_unit(t->sums, t->system, w->scale)};
    const sk_psd_options options = {.tolerance = tolerance};
    sk_psd_gram *gram = NULL;
    sock_status status =
        (w->kept <= SK_PSD_QUICK ? sk_psd_gram_quick : sk_psd_gram_new)(ctx, t->rows, w->kept, w->g, &gram);
    if (gram) status = sk_psd_gram_solve(ctx, gram, t->rows, &z, &options, NULL, false, w->small, NULL);
    sk_psd_gram_free(gram);
    return status;
}

/* Q is replaced by that of the problem with features scaled by its square root. */
static sock_status reweigh(sock_context *ctx, const sk_diffusion_path *t, double l, double tolerance, double *q)
{
    const size_t p = t->sums->p;
    reweighted w = {0};
    sock_status status = choose_features(ctx, p, q, &w);
    if (status < 0 || !w.kept) goto out;
    scale_sums(t, &w);
    SK_GO(solve_reweighted(ctx, t, l, tolerance, &w));
    memset(q, 0, p * p * sizeof *q);
    for (size_t a = 0; a < w.kept; a++)
        for (size_t b = 0; b < w.kept; b++)
            q[w.index[a] * p + w.index[b]] = w.scale[w.index[a]] * w.scale[w.index[b]] * w.small[a * w.kept + b];
out:
    reweighted_clear(&w);
    return status;
}

sock_status sk_diffusion_path_solve(sock_context *ctx, sk_diffusion_path *t, double l, double tolerance, double *q)
{
    const sk_diffusion_sums *s = t->sums;
    sk_psd_options options = {.tolerance = tolerance};
    sk_psd_moments z = {.d = s->dim, .c = t->c, .zz = t->zz, .lambda = l * t->unit};
    t->bounds = (sk_psd_bounds){0};
    sock_status status =
        sk_psd_gram_solve(ctx, t->gram, t->rows, &z, &options, t->dual, t->warm, t->kept ? t->few : q, &t->bounds);
    if (status >= 0 && t->kept) spread_out(t, q);
    t->warm = true;
    t->converged = status == SOCK_OK;
    for (int repeat = 0; status >= 0 && t->train && repeat < SK_REWEIGHTINGS; repeat++)
        status = reweigh(ctx, t, l, tolerance, q);
    return status < 0 ? status : SOCK_OK;
}

sk_psd_bounds sk_diffusion_path_bounds(const sk_diffusion_path *t) { return t->bounds; }
bool sk_diffusion_path_converged(const sk_diffusion_path *t) { return t->converged; }

/* ---- What a solution says ---- */

/* svec blocks of Q of one system: pairs x q. */
static void blocks_of(size_t dim, size_t pc, const double *q, double *x)
{
    const size_t order = dim * pc, count = pc * (pc + 1) / 2;
    const double half_root2 = 0.70710678118654752440;
    for (size_t l = 0, pair = 0; l < dim; l++)
        for (size_t k = 0; k <= l; k++, pair++)
            for (size_t b = 0, j = 0; b < pc; b++)
                for (size_t a = 0; a <= b; a++, j++) {
                    double ab = q[(k * pc + a) * order + l * pc + b], ba = q[(k * pc + b) * order + l * pc + a];
                    x[pair * count + j] = a == b ? ab : half_root2 * (ab + ba);
                }
}

sock_status sk_svec_integrate(sock_context *ctx, size_t d, size_t p, bool diagonal, const double *q, size_t n,
                              const double *b, double *out)
{
    const size_t dim = diagonal ? 1 : d, systems = diagonal ? d : 1, pairs = dim * (dim + 1) / 2;
    const size_t count = p * (p + 1) / 2, columns = systems * pairs, order = dim * p;
    double *values = sk_doubles_unset(ctx, n, columns), *x = sk_doubles_unset(ctx, columns, count);
    if (!values || !x) {
        sk_free(values);
        sk_free(x);
        return SOCK_ENOMEM;
    }
    for (size_t s = 0; s < systems; s++) blocks_of(dim, p, q + s * order * order, x + s * pairs * count);
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, columns, n, count, 1, x, count, b, count, 0, values, n);
    memset(out, 0, n * d * d * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        double *a = out + i * d * d;
        const double *value = values + i;
        for (size_t s = 0; diagonal && s < d; s++) a[s * d + s] = fmax(value[s * n], 0);
        for (size_t l = 0, pair = 0; !diagonal && l < d; l++)
            for (size_t k = 0; k <= l; k++, pair++) a[k * d + l] = a[l * d + k] = value[pair * n];
    }
    sk_free(values);
    sk_free(x);
    return SOCK_OK;
}

void sk_svec_integrate_picked(const sk_picks *picks, const double *q, size_t n, const double *b, double *out)
{
    const size_t d = picks->d, each = picks->each, wide = picks->p * (picks->p + 1) / 2;
    const double root2 = 1.41421356237309504880;
    memset(out, 0, n * d * d * sizeof *out);
    for (size_t i = 0; i < n; i++, b += wide)
        for (size_t k = 0; k < d; k++) {
            const size_t *pick = picks->feature + k * each;
            const double *block = q + k * each * each;
            double sum = 0;
            for (size_t m = 0; m < each; m++)
                for (size_t l = 0; l <= m; l++)
                    sum += block[m * each + l] * b[column_of(pick[m], pick[l])] * (l < m ? root2 : 1);
            out[(i * d + k) * d + k] = sum > 0 ? sum : 0;
        }
}
