/* diffusionspread.c - see diffusionspread.h. In a row, with C = L L' and s_jc the integral of phi_j B_c (a vector over
 * the components), the direction (k, j, c) is L^-1 dC L^-T = w t' + t w', w = L^-1 e_k, t = L^-1 s_jc: its entries on
 * and below the diagonal, the latter times sqrt 2, are a row of Y, and F = Y'Y / 2. Cost: n q^2 d^2 / 2. */
#include "diffusion/diffusionspread.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Rows of V of less than this share of the largest number are features that were learned away. */
static const double NO_FEATURE = 1e-9;

/* Eigenvalues below this share of the largest are rotations of V. */
static const double ROTATION = 1e-9;

/* Numbers of Y that are in memory at once. */
enum { NUMBERS_AT_ONCE = 1 << 17 };

/* Number (k, j, c) of V: row k p + j and column c of the term. */
typedef struct unknown {
    size_t k, j, c;
} unknown;

/* Components first .. first + dim - 1 of the term, with some of its columns. */
typedef struct tangent {
    size_t first, dim, pairs, q;
    unknown *u;          /* q; k counts from first */
    double *information; /* q x q: 2 F, lower; of least squares A, both triangles */
    double *noise;       /* q x q: B of least squares, both triangles; else NULL */
    double *pull;        /* q: sums of what the rows have beyond I a, made as the information is; NULL: nothing */
} tangent;

struct sk_diffusion_spread {
    const sk_diffusion_term *term;
    size_t p, systems;
    tangent *system;
};

void sk_diffusion_spread_free(sk_diffusion_spread *s)
{
    if (!s) return;
    for (size_t i = 0; s->system && i < s->systems; i++) {
        sk_free(s->system[i].u);
        sk_free(s->system[i].information);
        sk_free(s->system[i].noise);
        sk_free(s->system[i].pull);
    }
    sk_free(s->system);
    sk_free(s);
}

size_t sk_diffusion_spread_systems(const sk_diffusion_spread *s) { return s->systems; }

/* ---- Unknowns ---- */

static bool has_column(const sk_diffusion_term *term, const tangent *t, size_t c)
{
    return !term->owner || term->owner[c] == t->first;
}

/* Sum of squares of column c in component k. */
static double column_size(const sk_diffusion_term *term, size_t p, size_t k, size_t c)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++) {
        const double value = term->v[(k * p + j) * term->rank + c];
        sum += value * value;
    }
    return sum;
}

/* Columns that say something of a component that no other says a hundred times louder. */
static void find_heard(const sk_diffusion_term *term, size_t p, const tangent *t, bool *heard)
{
    memset(heard, 0, term->rank * sizeof *heard);
    for (size_t k = t->first; k < t->first + t->dim; k++) {
        double most = 0;
        for (size_t c = 0; c < term->rank; c++)
            if (has_column(term, t, c)) most = fmax(most, column_size(term, p, k, c));
        for (size_t c = 0; most > 0 && c < term->rank; c++)
            if (has_column(term, t, c) && column_size(term, p, k, c) >= SK_SMALL_COLUMN * most) heard[c] = true;
    }
}

static double largest(const sk_diffusion_term *term, size_t p, const tangent *t, size_t k, size_t first, size_t last)
{
    double most = 0;
    for (size_t j = first; j < last; j++)
        for (size_t c = 0; c < term->rank; c++)
            if (has_column(term, t, c)) most = fmax(most, fabs(term->v[(k * p + j) * term->rank + c]));
    return most;
}

/* Whether column c of V may have feature j: of rates a column has one feature alone, that of most of its size. */
static bool may_move(const sk_diffusion_term *term, size_t p, size_t j, size_t c)
{
    double own = 0, all = 0;
    if (!sk_features_separate(term->map)) return true;
    for (size_t i = 0; i < term->d * p; i++) {
        const double value = term->v[i * term->rank + c];
        all += value * value;
        own += i % p == j ? value * value : 0;
    }
    return own > 0.5 * all;
}

/* The unknowns of a system into u, or their number alone where u is NULL. */
static size_t list_unknowns(const sk_diffusion_term *term, size_t p, const tangent *t, const bool *heard, unknown *u)
{
    size_t count = 0;
    for (size_t k = 0; k < t->dim; k++) {
        const double least = NO_FEATURE * largest(term, p, t, t->first + k, 0, p);
        for (size_t j = 0; j < p; j++) {
            if (!(largest(term, p, t, t->first + k, j, j + 1) > least)) continue;
            for (size_t c = 0; c < term->rank; c++) {
                if (!heard[c] || !may_move(term, p, j, c)) continue;
                if (u) u[count] = (unknown){k, j, c};
                count++;
            }
        }
    }
    return count;
}

static sock_status prepare(sock_context *ctx, const sk_diffusion_spread *s, size_t i, size_t most, bool *fits)
{
    const sk_diffusion_term *term = s->term;
    tangent *t = &s->system[i];
    bool *heard = sk_alloc(ctx, term->rank, sizeof *heard);
    if (!heard) return SOCK_ENOMEM;
    t->first = i;
    t->dim = term->owner ? 1 : term->d;
    t->pairs = t->dim * (t->dim + 1) / 2;
    find_heard(term, s->p, t, heard);
    t->q = list_unknowns(term, s->p, t, heard, NULL);
    *fits = t->q <= most;
    t->u = sk_alloc(ctx, *fits ? t->q : 0, sizeof *t->u);
    t->information = sk_doubles(ctx, *fits ? t->q : 0, t->q);
    const bool good = t->u && t->information;
    if (good && *fits) list_unknowns(term, s->p, t, heard, t->u);
    sk_free(heard);
    return good ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_diffusion_spread_new(sock_context *ctx, const sk_diffusion_term *term, size_t most,
                                    sk_diffusion_spread **out)
{
    bool fits = true;
    sk_diffusion_spread *s = sk_alloc(ctx, 1, sizeof *s);
    *out = NULL;
    if (!s) return SOCK_ENOMEM;
    s->term = term;
    s->p = sk_features_count(term->map);
    s->systems = term->owner ? term->d : 1;
    s->system = sk_alloc(ctx, s->systems, sizeof *s->system);
    sock_status status = s->system ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && fits && i < s->systems; i++) status = prepare(ctx, s, i, most, &fits);
    if (status < 0 || !fits) {
        sk_diffusion_spread_free(s);
        return status;
    }
    *out = s;
    return SOCK_OK;
}

/* ---- Sums ---- */

/* What a block of rows is worked on with. */
typedef struct desk {
    double *phi, *space; /* features of the nodes of some rows: nodes x p */
    double *b;           /* nodes x (d rank): B at these; nodes x rank of diagonal terms */
    double *s;           /* p x rank x d: the integrals of phi_j B_c in one row */
    double *l;           /* d x d: L^-1 of one row */
    double *t;           /* d */
    double *y;           /* (rows pairs) x q */
} desk;

static void desk_clear(desk *t)
{
    sk_free(t->phi);
    sk_free(t->space);
    sk_free(t->b);
    sk_free(t->s);
    sk_free(t->l);
    sk_free(t->t);
    sk_free(t->y);
}

static sock_status desk_new(sock_context *ctx, const sk_diffusion_spread *s, size_t rows, size_t nodes, desk *t)
{
    const size_t d = s->term->d, r = s->term->rank;
    size_t most = 1;
    for (size_t i = 0; i < s->systems; i++) most = SK_MAX(most, s->system[i].pairs * s->system[i].q);
    *t = (desk){.phi = sk_doubles_unset(ctx, nodes, s->p),
                .space = sk_doubles_unset(ctx, sk_features_space(s->term->map, nodes), 1),
                .b = sk_doubles_unset(ctx, nodes, s->term->owner ? r : d * r),
                .s = sk_doubles_unset(ctx, s->p * r, d),
                .l = sk_doubles(ctx, d, d),
                .t = sk_doubles(ctx, d, 1),
                .y = sk_doubles_unset(ctx, rows, most)};
    if (t->phi && t->space && t->b && t->s && t->l && t->t && t->y) return SOCK_OK;
    desk_clear(t);
    return SOCK_ENOMEM;
}

/* l := L^-1 of C = (I a of some components) + eps 1; false where C is not positive definite. */
static bool whiten(size_t d, const tangent *t, const double *integral, double eps, double *l)
{
    const size_t n = t->dim;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) l[a * n + b] = integral[(t->first + a) * d + t->first + b] + (a == b ? eps : 0);
    if (sk_factor_small(n, 1e-14, l) > 0) return false;
    for (size_t j = 0; j < n; j++) {
        l[j * n + j] = 1 / l[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            double sum = 0;
            for (size_t m = j; m < i; m++) sum -= l[i * n + m] * l[m * n + j];
            l[i * n + j] = sum / l[i * n + i];
        }
    }
    return true;
}

/* s_jc of one row: its nodes from .. to-1 of the chunk. */
static void integrate(const sk_diffusion_spread *s, const tangent *t, const double *weight, size_t from, size_t to,
                      const desk *w)
{
    const size_t r = s->term->rank, d = s->term->d, n = t->dim;
    memset(w->s, 0, s->p * r * n * sizeof *w->s);
    for (size_t e = from; e < to; e++)
        for (size_t j = 0; j < s->p; j++) {
            const double value = weight[e] * w->phi[e * s->p + j];
            for (size_t k = 0; k < n; k++) {
                const double *b = w->b + (e * d + t->first + k) * r;
                for (size_t c = 0; c < r; c++) w->s[(j * r + c) * n + k] += value * b[c];
            }
        }
}

/* The same for one component with columns of its own: of many features and columns it has a few. */
static void integrate_own(const sk_diffusion_spread *s, const tangent *t, const double *weight, size_t from, size_t to,
                          const desk *w)
{
    const size_t r = s->term->rank, p = s->p;
    const double *v = s->term->v + t->first * p * r;
    for (size_t i = 0; i < t->q; i++) w->s[t->u[i].j * r + t->u[i].c] = 0;
    for (size_t e = from; e < to; e++) {
        const double *phi = w->phi + e * p;
        double *b = w->b + e * r;
        for (size_t i = 0; i < t->q; i++) b[t->u[i].c] = 0;
        for (size_t i = 0; i < t->q; i++) b[t->u[i].c] += phi[t->u[i].j] * v[t->u[i].j * r + t->u[i].c];
        for (size_t i = 0; i < t->q; i++) w->s[t->u[i].j * r + t->u[i].c] += weight[e] * phi[t->u[i].j] * b[t->u[i].c];
    }
}

/* Rows of Y of one transition: pairs x q. l is lower: column k of L^-1 begins in row k. */
static void put_rows(const sk_diffusion_spread *s, const tangent *t, const desk *w, double *y)
{
    const size_t n = t->dim, r = s->term->rank;
    for (size_t i = 0; i < t->q; i++) {
        const unknown u = t->u[i];
        const double *side = w->s + (u.j * r + u.c) * n;
        for (size_t a = 0; a < n; a++) {
            w->t[a] = 0;
            for (size_t b = 0; b <= a; b++) w->t[a] += w->l[a * n + b] * side[b];
        }
        size_t pair = 0;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++, pair++) {
                const double left = a < u.k ? 0 : w->l[a * n + u.k], right = b < u.k ? 0 : w->l[b * n + u.k];
                y[pair * t->q + i] = (left * w->t[b] + right * w->t[a]) * (a == b ? 1 : sqrt(2));
            }
    }
}

/* Features and B at nodes from .. from+nodes-1 of a rule. */
static void find_b(sock_context *ctx, const sk_diffusion_spread *s, const sk_rule *rule, size_t from, size_t nodes,
                   const desk *w)
{
    const sk_diffusion_term *term = s->term;
    const size_t d = term->d, r = term->rank;
    sk_features_block(ctx, term->map, nodes, rule->x + from * rule->in, w->phi, s->p, w->space);
    for (size_t k = 0; !term->owner && k < d; k++)
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, nodes, r, s->p, 1, w->phi, s->p, term->v + k * s->p * r, r, 0, w->b + k * r,
                d * r);
}

/* Rows begin .. end-1 of the view. */
static void add_chunk(sock_context *ctx, sk_diffusion_spread *s, const sk_view *v, double eps, size_t begin, size_t end,
                      const desk *w)
{
    const sk_diffusion_term *term = s->term;
    const sk_rule *rule = v->rule; /* nodes of a row stand together */
    const size_t d = term->d, from = rule->row[begin];
    find_b(ctx, s, rule, from, rule->row[end] - from, w);
    for (size_t i = 0; i < s->systems; i++) {
        tangent *t = &s->system[i];
        size_t used = 0;
        for (size_t row = begin; row < end; row++) {
            if (!whiten(d, t, v->integral + row * d * d, eps, w->l)) continue;
            (term->owner ? integrate_own : integrate)(s, t, rule->weight + from, rule->row[row] - from,
                                                      rule->row[row + 1] - from, w);
            put_rows(s, t, w, w->y + used * t->pairs * t->q);
            used++;
        }
        sk_syrk(ctx, SK_TRANSPOSED, t->q, used * t->pairs, 1, w->y, t->q, 1, t->information, t->q);
    }
}

sock_status sk_diffusion_spread_add(sock_context *ctx, sk_diffusion_spread *s, const sk_view *v, double eps)
{
    size_t most = 1;
    for (size_t i = 0; i < s->systems; i++) most = SK_MAX(most, s->system[i].pairs * s->system[i].q);
    const size_t chunk = SK_MIN(SK_MIN(SK_MAX(NUMBERS_AT_ONCE / most, 1), 256), v->n);
    desk w;
    SK_TRY(desk_new(ctx, s, chunk, chunk * (v->rule->nodes / v->rule->n), &w));
    for (size_t at = 0; at < v->n; at += chunk) add_chunk(ctx, s, v, eps, at, SK_MIN(at + chunk, v->n), &w);
    desk_clear(&w);
    return SOCK_OK;
}

/* ---- What rows have beyond I a ---- */

/* The numbers of L^-1 B L^-T that stand in a row of Y; space: 2 x dim x dim. */
static void put_surplus(size_t d, const tangent *t, const double *l, const double *surplus, double *space, double *y)
{
    const size_t n = t->dim;
    double *left = space;
    for (size_t a = 0; a < n; a++) /* left = L^-1 B */
        for (size_t c = 0; c < n; c++) {
            left[a * n + c] = 0;
            for (size_t b = 0; b <= a; b++)
                left[a * n + c] += l[a * n + b] * surplus[(t->first + b) * d + t->first + c];
        }
    for (size_t a = 0, pair = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++, pair++) {
            double sum = 0;
            for (size_t c = 0; c <= b; c++) sum += left[a * n + c] * l[b * n + c];
            y[pair] = sum * (a == b ? 1 : sqrt(2));
        }
}

static sock_status make_pull(sock_context *ctx, tangent *t)
{
    if (!t->pull) t->pull = sk_doubles(ctx, t->q, 1);
    return t->pull ? SOCK_OK : SOCK_ENOMEM;
}

/* Row i of the view, whose nodes w has; own: pairs, and 2 dim^2. */
static void add_surplus(const sk_diffusion_spread *s, tangent *t, const sk_view *v, double eps, size_t i,
                        const double *surplus, double each, const desk *w, double *own)
{
    const sk_rule *rule = v->rule;
    const size_t d = s->term->d, from = rule->row[i];
    if (!whiten(d, t, v->integral + i * d * d, eps, w->l)) return;
    (s->term->owner ? integrate_own : integrate)(s, t, rule->weight + from, 0, rule->row[i + 1] - from, w);
    put_rows(s, t, w, w->y);
    put_surplus(d, t, w->l, surplus, own + t->pairs, own);
    for (size_t pair = 0; pair < t->pairs; pair++) sk_axpy(t->q, each * own[pair], w->y + pair * t->q, t->pull);
}

sock_status sk_diffusion_spread_surplus(sock_context *ctx, sk_diffusion_spread *s, const sk_view *v, double eps,
                                        const double *surplus, double each)
{
    const size_t d = s->term->d, d2 = d * d;
    desk w;
    double *own = sk_doubles(ctx, 3, d2);
    sock_status status = own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < s->systems; k++) status = make_pull(ctx, &s->system[k]);
    if (status >= 0) status = desk_new(ctx, s, 1, v->rule->nodes / v->rule->n, &w);
    for (size_t i = 0; status >= 0 && i < v->n; i++) {
        find_b(ctx, s, v->rule, v->rule->row[i], v->rule->row[i + 1] - v->rule->row[i], &w);
        for (size_t k = 0; k < s->systems; k++)
            add_surplus(s, &s->system[k], v, eps, i, surplus + i * d2, each, &w, own);
    }
    if (status >= 0) desk_clear(&w);
    sk_free(own);
    return status;
}

/* ---- Information of another law ---- */

size_t sk_diffusion_spread_unknowns(const sk_diffusion_spread *s, size_t system) { return s->system[system].q; }

/* e_k s_jc' + s_jc e_k' of one row for each unknown: unknowns x d x d, zero on entry. */
static void put_slopes(const sk_diffusion_spread *s, const tangent *t, const desk *w, double *out)
{
    const size_t d = s->term->d, r = s->term->rank;
    for (size_t i = 0; i < t->q; i++, out += d * d) {
        const unknown u = t->u[i];
        const double *side = w->s + (u.j * r + u.c) * t->dim;
        for (size_t k = 0; k < t->dim; k++) {
            out[(t->first + u.k) * d + t->first + k] += side[k];
            out[(t->first + k) * d + t->first + u.k] += side[k];
        }
    }
}

sock_status sk_diffusion_spread_slopes(sock_context *ctx, const sk_diffusion_spread *s, size_t system,
                                       const sk_rule *rule, double *out)
{
    const tangent *t = &s->system[system];
    const size_t each = t->q * s->term->d * s->term->d;
    desk w;
    size_t nodes_most = 1;
    for (size_t i = 0; i < rule->n; i++) nodes_most = SK_MAX(nodes_most, rule->row[i + 1] - rule->row[i]);
    SK_TRY(desk_new(ctx, s, 1, nodes_most, &w));
    memset(out, 0, rule->n * each * sizeof *out);
    for (size_t i = 0; i < rule->n; i++) {
        const size_t from = rule->row[i], nodes = rule->row[i + 1] - from;
        find_b(ctx, s, rule, from, nodes, &w);
        (s->term->owner ? integrate_own : integrate)(s, t, rule->weight + from, 0, nodes, &w);
        put_slopes(s, t, &w, out + i * each);
    }
    desk_clear(&w);
    return SOCK_OK;
}

void sk_diffusion_spread_put(sk_diffusion_spread *s, size_t system, const double *information, size_t ld)
{
    tangent *t = &s->system[system];
    for (size_t i = 0; i < t->q; i++)
        for (size_t j = 0; j <= i; j++) t->information[i * t->q + j] = 2 * information[i * ld + j];
}

/* ---- The factor ---- */

/* <dQ_u, dQ_v>: the Hessian of |Q|^2 / 2 in the tangent space. */
static double penalty_of(const sk_diffusion_spread *s, const tangent *t, unknown u, unknown v)
{
    const size_t p = s->p, r = s->term->rank, first = t->first * p;
    const double *V = s->term->v;
    const size_t i = first + u.k * p + u.j, j = first + v.k * p + v.j;
    double sum = V[i * r + v.c] * V[j * r + u.c];
    for (size_t a = first; i == j && a < first + t->dim * p; a++) sum += V[a * r + u.c] * V[a * r + v.c];
    return 2 * sum;
}

/* F + 2 mu T T' in units in which its diagonal is one, both triangles. */
static void make_information(const sk_diffusion_spread *s, const tangent *t, double times, double mu, double *unit,
                             double *f)
{
    for (size_t i = 0; i < t->q; i++)
        for (size_t j = 0; j <= i; j++)
            f[i * t->q + j] =
                times * t->information[i * t->q + j] / 2 + (mu > 0 ? 2 * mu * penalty_of(s, t, t->u[i], t->u[j]) : 0);
    for (size_t i = 0; i < t->q; i++) unit[i] = f[i * t->q + i] > 0 ? 1 / sqrt(f[i * t->q + i]) : 0;
    for (size_t i = 0; i < t->q; i++)
        for (size_t j = 0; j <= i; j++) f[j * t->q + i] = f[i * t->q + j] *= unit[i] * unit[j];
}

/* R (q x *rank) with R R' = F^+ into f, whose rows are then of length q. */
static sock_status pseudo_root(sock_context *ctx, size_t q, const double *unit, double *f, double *values, size_t *rank)
{
    double *r = sk_doubles(ctx, q, q);
    if (!r) return SOCK_ENOMEM;
    sock_status status = q ? sk_eigh(ctx, q, f, q, values) : SOCK_OK;
    *rank = 0;
    for (size_t e = 0; status >= 0 && e < q; e++) {
        if (!(values[e] > ROTATION * values[q - 1])) continue;
        for (size_t i = 0; i < q; i++) r[i * q + *rank] = unit[i] * f[e * q + i] / sqrt(values[e]);
        ++*rank;
    }
    if (status >= 0) memcpy(f, r, q * q * sizeof *f);
    sk_free(r);
    return status;
}

/* ---- Least squares ---- */

/* Products D N of the symmetric D (q x d x d) with the noise of a row, and their transposes: what B is made of. */
static void times_noise(size_t q, size_t d, const double *slope, const double *noise, double *out, double *turned)
{
    for (size_t u = 0; u < q; u++, slope += d * d, out += d * d, turned += d * d)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) {
                double sum = 0;
                for (size_t m = 0; m < d; m++) sum += slope[k * d + m] * noise[m * d + l];
                out[k * d + l] = turned[l * d + k] = sum;
            }
}

static sock_status add_squares(sock_context *ctx, sk_diffusion_spread *s, size_t i, const sk_rule *rule,
                               const double *noise, const double *surplus, double each)
{
    tangent *t = &s->system[i];
    const size_t q = t->q, d2 = s->term->d * s->term->d;
    double *slope = sk_doubles_unset(ctx, rule->n, q * d2), *product = sk_doubles_unset(ctx, 2 * q, d2);
    if (!t->noise) t->noise = sk_doubles(ctx, q, q);
    sock_status status = slope && product && t->noise ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_diffusion_spread_slopes(ctx, s, i, rule, slope);
    if (status >= 0 && surplus) status = make_pull(ctx, t);
    for (size_t u = 0; status >= 0 && surplus && u < rule->n * q; u++)
        t->pull[u % q] += each * sk_dot(d2, slope + u * d2, surplus + u / q * d2);
    for (size_t row = 0; status >= 0 && row < rule->n; row++) {
        const double *one = slope + row * q * d2;
        times_noise(q, s->term->d, one, noise + row * d2, product, product + q * d2);
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, q, q, d2, 1, one, d2, one, d2, 1, t->information, q);
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, q, q, d2, 2, product, d2, product + q * d2, d2, 1, t->noise, q);
    }
    sk_free(slope);
    sk_free(product);
    return status;
}

sock_status sk_diffusion_spread_add_squares(sock_context *ctx, sk_diffusion_spread *s, const sk_rule *rule,
                                            const double *noise, const double *surplus, double each)
{
    for (size_t i = 0; i < s->systems; i++) SK_TRY(add_squares(ctx, s, i, rule, noise, surplus, each));
    return SOCK_OK;
}

/* A and B with the penalty, in units in which A has ones on the diagonal. */
static void make_squares(const sk_diffusion_spread *s, const tangent *t, double times, double penalty, double *unit,
                         double *a, double *b)
{
    const size_t q = t->q;
    double size = 0, noise = 0;
    for (size_t i = 0; i < q; i++) {
        size += t->information[i * q + i];
        noise += t->noise[i * q + i];
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++) {
            const double own = penalty > 0 ? penalty * penalty_of(s, t, t->u[i], t->u[j]) : 0;
            a[i * q + j] = times * t->information[i * q + j] + own;
            b[i * q + j] = times * t->noise[i * q + j] + (size > 0 ? noise / size * own : 0);
        }
    for (size_t i = 0; i < q; i++) unit[i] = a[i * q + i] > 0 ? 1 / sqrt(a[i * q + i]) : 0;
    for (size_t i = 0; i < q * q; i++) {
        a[i] *= unit[i / q] * unit[i % q];
        b[i] *= unit[i / q] * unit[i % q];
    }
}

/* m (q x q, rows eigenvectors) := E diag(f(value)) in columns, f a root or an inverse; what is below rounding is 0. */
static sock_status spectral(sock_context *ctx, size_t q, bool inverse, double *m, double *values, double *out)
{
    SK_TRY(sk_eigh(ctx, q, m, q, values));
    for (size_t e = 0; e < q; e++) {
        const bool there = values[e] > ROTATION * values[q - 1];
        const double factor = !there ? 0 : inverse ? 1 / values[e] : sqrt(values[e]);
        for (size_t i = 0; i < q; i++) out[i * q + e] = factor * m[e * q + i];
    }
    return SOCK_OK;
}

/* shift = A^+ pull in the units of V, A^+ = left rows; space: q. */
static void shift_squares(const tangent *t, double times, const double *unit, const double *left, const double *rows,
                          double *space, double *shift)
{
    const size_t q = t->q;
    for (size_t e = 0; e < q; e++) {
        space[e] = 0;
        for (size_t j = 0; j < q; j++) space[e] += rows[e * q + j] * unit[j] * times * t->pull[j];
    }
    for (size_t i = 0; i < q; i++) shift[i] = unit[i] * sk_dot(q, left + i * q, space);
}

/* r (q x q) = A^+ B^(1/2), in the units of V; shift: q. */
static sock_status square_root_of(sock_context *ctx, const sk_diffusion_spread *s, const tangent *t, double times,
                                  double penalty, double *r, double *shift)
{
    const size_t q = t->q;
    double *unit = sk_doubles(ctx, q, 2), *a = sk_doubles(ctx, q, q), *b = sk_doubles(ctx, q, q);
    double *left = sk_doubles(ctx, q, q), *right = sk_doubles(ctx, q, q), *middle = sk_doubles(ctx, q, q);
    sock_status status = unit && a && b && left && right && middle ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) make_squares(s, t, times, penalty, unit, a, b);
    if (status >= 0) status = spectral(ctx, q, true, a, unit + q, left);
    if (status >= 0) status = spectral(ctx, q, false, b, unit + q, right);
    if (status >= 0) { /* rows of a are eigenvectors now: A^+ = left a */
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, q, q, q, 1, a, q, right, q, 0, middle, q);
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, q, q, q, 1, left, q, middle, q, 0, r, q);
    }
    for (size_t i = 0; status >= 0 && i < q * q; i++) r[i] *= unit[i / q];
    if (status >= 0 && t->pull) shift_squares(t, times, unit, left, a, unit + q, shift);
    sk_free(unit);
    sk_free(a);
    sk_free(b);
    sk_free(left);
    sk_free(right);
    sk_free(middle);
    return status;
}

/* ---- The law ---- */

typedef struct pieces {
    double **r;
    size_t *rank;
    double *shift; /* of all unknowns, system after system: by how much V is off */
    bool shifted;
} pieces;

/* shift = R R' pull. */
static void shift_root(const tangent *t, double times, size_t rank, const double *r, double *shift)
{
    const size_t q = t->q;
    for (size_t e = 0; e < rank; e++) {
        double sum = 0;
        for (size_t i = 0; i < q; i++) sum += r[i * q + e] * times * t->pull[i] / 2;
        for (size_t i = 0; i < q; i++) shift[i] += r[i * q + e] * sum;
    }
}

static sock_status root_of(sock_context *ctx, const sk_diffusion_spread *s, size_t i, double times, double mu,
                           double *shift, pieces *out)
{
    const tangent *t = &s->system[i];
    double *unit = sk_doubles(ctx, t->q, 1), *values = sk_doubles(ctx, t->q, 1);
    out->r[i] = sk_doubles(ctx, t->q, t->q);
    sock_status status = unit && values && out->r[i] ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) make_information(s, t, times, mu, unit, out->r[i]);
    if (status >= 0) status = pseudo_root(ctx, t->q, unit, out->r[i], values, &out->rank[i]);
    if (status >= 0 && t->pull) shift_root(t, times, out->rank[i], out->r[i], shift);
    sk_free(unit);
    sk_free(values);
    return status;
}

static size_t count_unknowns(const sk_diffusion_spread *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->systems; i++) count += s->system[i].q;
    return count;
}

static sock_status collect(sock_context *ctx, const sk_diffusion_spread *s, const pieces *w, sk_factor **out)
{
    size_t rank = 0, row = 0;
    for (size_t i = 0; i < s->systems; i++) rank = SK_MAX(rank, w->rank[i]);
    SK_TRY(sk_factor_new(ctx, count_unknowns(s), rank, s->systems, out));
    for (size_t i = 0; i < s->systems; i++) {
        const tangent *t = &s->system[i];
        for (size_t u = 0; u < t->q; u++, row++) {
            (*out)->entry[row] = ((t->first + t->u[u].k) * s->p + t->u[u].j) * s->term->rank + t->u[u].c;
            (*out)->group[row] = i;
            memcpy((*out)->value + row * rank, w->r[i] + u * t->q, w->rank[i] * sizeof(double));
        }
    }
    return w->shifted ? sk_factor_widen(ctx, *out, 1, w->shift) : SOCK_OK;
}

static sock_status pieces_new(sock_context *ctx, const sk_diffusion_spread *s, pieces *w)
{
    *w = (pieces){sk_alloc(ctx, s->systems, sizeof *w->r), sk_alloc(ctx, s->systems, sizeof *w->rank),
                  sk_doubles(ctx, SK_MAX(count_unknowns(s), 1), 1), false};
    for (size_t i = 0; i < s->systems; i++) w->shifted = w->shifted || s->system[i].pull;
    return w->r && w->rank && w->shift ? SOCK_OK : SOCK_ENOMEM;
}

static void pieces_clear(const sk_diffusion_spread *s, pieces *w)
{
    for (size_t i = 0; w->r && i < s->systems; i++) sk_free(w->r[i]);
    sk_free(w->r);
    sk_free(w->rank);
    sk_free(w->shift);
}

sock_status sk_diffusion_spread_square_factor(sock_context *ctx, const sk_diffusion_spread *s, double times,
                                              double penalty, sk_factor **out)
{
    pieces w;
    sock_status status = pieces_new(ctx, s, &w);
    double *shift = w.shift;
    for (size_t i = 0; status >= 0 && i < s->systems; shift += s->system[i].q, i++) {
        const size_t q = w.rank[i] = s->system[i].q;
        w.r[i] = sk_doubles(ctx, q, q);
        status = w.r[i] ? SOCK_OK : SOCK_ENOMEM;
        if (status >= 0 && q) status = square_root_of(ctx, s, &s->system[i], times, penalty, w.r[i], shift);
    }
    if (status >= 0) status = collect(ctx, s, &w, out);
    pieces_clear(s, &w);
    return status;
}

sock_status sk_diffusion_spread_factor(sock_context *ctx, const sk_diffusion_spread *s, double times, const double *mu,
                                       sk_factor **out)
{
    pieces w;
    sock_status status = pieces_new(ctx, s, &w);
    double *shift = w.shift;
    for (size_t i = 0; status >= 0 && i < s->systems; shift += s->system[i].q, i++)
        status = root_of(ctx, s, i, times, mu[i], shift, &w);
    if (status >= 0) status = collect(ctx, s, &w, out);
    pieces_clear(s, &w);
    return status;
}
