/* courses.c - see courses.h.
 *
 * Followers: the increments of a state are a sum of those of the time and of other states. A Cholesky factor of the
 * products of all increments shows it, the time first: what is left of a follower is rounding.
 *
 * Smooth states: a point is extrapolated from the m before it by a polynomial, m = 1 .. 7, for any time steps. */
#include "data/courses.h"

#include "data/datarules.h"
#include "data/samples.h"

#include <math.h>
#include <string.h>

static const double LEAST_TERM = 1e-5;   /* of an increment: a term below is rounding */
static const double SAME_NUMBER = 1e-9;  /* of the largest value: what rounding leaves of equal numbers */
static const double ROUND_FACTOR = 1e-4; /* a factor this near a whole number is that number: increments are rounded */

typedef struct study {
    sock_context *ctx;
    const sock_data *data;
    const bool *skip;
    size_t d, c;    /* c = d + 1 columns: the time, the states */
    size_t pairs;   /* steps that take part */
    double *step;   /* c: increments of one */
    double *unit;   /* c: the largest of each */
    double *factor; /* c x c, below the diagonal: products of increments; then their Cholesky factor */
    double *term;   /* c: what each column adds to one that follows */
    bool *follows;  /* c */
    double square[SK_COURSE_ORDERS];
} study;

static void release(study *s)
{
    sk_free(s->step);
    sk_free(s->unit);
    sk_free(s->factor);
    sk_free(s->term);
    sk_free(s->follows);
}

static sock_status prepare(study *s)
{
    s->step = sk_doubles(s->ctx, s->c, 1);
    s->unit = sk_doubles(s->ctx, s->c, 1);
    s->term = sk_doubles(s->ctx, s->c, 1);
    s->follows = sk_alloc(s->ctx, s->c, sizeof *s->follows);
    return s->step && s->unit && s->term && s->follows ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Products of increments ---- */

static void visit_steps(study *s, void (*visit)(study *s))
{
    const sock_data *data = s->data;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++) {
            if (s->skip && s->skip[i]) continue;
            const double *x = data->x + i * s->d;
            s->step[0] = data->t[i + 1] - data->t[i];
            for (size_t k = 0; k < s->d; k++) s->step[1 + k] = x[s->d + k] - x[k];
            visit(s);
        }
}

static void find_largest(study *s)
{
    s->pairs++;
    for (size_t k = 0; k < s->c; k++) s->unit[k] = fmax(s->unit[k], fabs(s->step[k]));
}

static void add_products(study *s)
{
    for (size_t k = 0; k < s->c; k++)
        if (s->unit[k] > 0) s->step[k] /= s->unit[k];
    for (size_t k = 0; k < s->c; k++)
        for (size_t l = 0; s->step[k] != 0 && l <= k; l++) s->factor[k * s->c + l] += s->step[k] * s->step[l];
}

/* ---- Followers ---- */

/* Column by column; one that follows from those before it is none of the factor. */
static void factorise(study *s)
{
    const size_t c = s->c;
    for (size_t k = 0; k < c; k++) {
        double *row = s->factor + k * c;
        const double all = row[k];
        for (size_t l = 0; l < k; l++) {
            const double *other = s->factor + l * c;
            for (size_t m = 0; m < l; m++) row[l] -= row[m] * other[m];
            row[l] = s->follows[l] ? 0 : row[l] / other[l];
            row[k] -= row[l] * row[l];
        }
        s->follows[k] = sk_course_follows(row[k], all);
        row[k] = s->follows[k] ? 1 : sqrt(row[k]);
    }
}

/* term[l]: increments of column k are the sum of term[l] times those of columns l < k. */
static void find_terms(study *s, size_t k)
{
    const size_t c = s->c;
    for (size_t l = k; l-- > 0;) {
        s->term[l] = s->factor[k * c + l];
        for (size_t m = l + 1; m < k; m++)
            if (!s->follows[m]) s->term[l] -= s->factor[m * c + l] * s->term[m];
        s->term[l] = s->follows[l] ? 0 : s->term[l] / s->factor[l * c + l];
    }
    for (size_t l = 0; l < k; l++) {
        if (fabs(s->term[l]) < LEAST_TERM || s->unit[l] == 0) {
            s->term[l] = 0;
            continue;
        }
        s->term[l] *= s->unit[k] / s->unit[l];
        const double whole = round(s->term[l]);
        if (fabs(s->term[l] - whole) < ROUND_FACTOR * fabs(whole)) s->term[l] = whole;
    }
}

static bool same_numbers(const sock_data *data, size_t k, size_t l)
{
    double most = 0, apart = 0;
    for (size_t i = 0; i < data->points; i++) {
        const double one = data->x[i * data->d + k], other = data->x[i * data->d + l];
        most = fmax(most, fabs(one));
        apart = fmax(apart, fabs(one - other));
    }
    return apart <= SAME_NUMBER * most;
}

/* " + 3*x", at the end of *text. */
static sock_status add_term(const study *s, size_t l, char **text)
{
    const char *name = s->data->state[l - 1], *sign = s->term[l] < 0 ? "-" : "+";
    const double size = fabs(s->term[l]);
    const bool first = !**text;
    const char *before = !first ? (*sign == '-' ? " - " : " + ") : *sign == '-' ? "-" : "";
    char *longer = size == 1 ? sk_format(s->ctx, "%s%s%s", *text, before, name)
                             : sk_format(s->ctx, "%s%s%.4g*%s", *text, before, size, name);
    sk_free(*text);
    *text = longer;
    return longer ? SOCK_OK : SOCK_ENOMEM;
}

/* "s changes exactly as x + y does". */
static sock_status name_sum(const study *s, size_t k, char **out)
{
    char *sum = sk_strdup(s->ctx, "");
    sock_status status = sum ? SOCK_OK : SOCK_ENOMEM;
    for (size_t l = 1; status >= 0 && l < k; l++)
        if (s->term[l] != 0) status = add_term(s, l, &sum);
    if (status >= 0)
        *out = sk_format(s->ctx, "%s changes exactly as %s%s", s->data->state[k - 1], sum,
                         s->term[0] != 0 ? " and the time do" : " does");
    sk_free(sum);
    return status < 0 || *out ? status : SOCK_ENOMEM;
}

/* Column k, which follows from those before it. */
static sock_status name_follower(study *s, size_t k, char **out)
{
    const char *name = s->data->state[k - 1];
    size_t terms = 0, partner = 0;
    find_terms(s, k);
    for (size_t l = 1; l < k; l++)
        if (s->term[l] != 0) partner = l, terms++;
    if (!(s->unit[k] > 0))
        *out = sk_format(s->ctx, "%s never changes", name);
    else if (!terms)
        *out = sk_format(s->ctx, "%s grows with the time alone", name);
    else if (terms == 1 && same_numbers(s->data, k - 1, partner - 1))
        *out = sk_format(s->ctx, "%s is a copy of %s", name, s->data->state[partner - 1]);
    else
        return name_sum(s, k, out);
    return *out ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status name_followers(study *s, sk_courses *out)
{
    out->text = sk_alloc(s->ctx, s->d, sizeof *out->text);
    if (!out->text) return SOCK_ENOMEM;
    for (size_t k = 1; k < s->c; k++)
        if (s->follows[k]) SK_TRY(name_follower(s, k, &out->text[out->count++]));
    return SOCK_OK;
}

/* ---- Smooth states ---- */

double sk_course_noise(const double *square)
{
    static const double held[SK_COURSE_ORDERS] = {1, 2, 6, 20, 70, 252, 924}; /* by theory */
    double least = (double)INFINITY;
    for (size_t m = 1; m < SK_COURSE_ORDERS; m++) least = fmin(least, square[m] / (held[m] * square[0]));
    return square[0] > 0 ? least : (double)INFINITY;
}

/* Adds the squares by which state k misses its extrapolations, of all orders, at the point behind the window from i on:
 * divided differences, newest first, each times the distances from the points it knows. */
static void miss(study *s, size_t i, size_t k)
{
    const double *t = s->data->t + i, *x = s->data->x + i * s->d + k;
    double table[SK_COURSE_ORDERS + 1], ahead = 1;
    for (size_t p = 0; p <= SK_COURSE_ORDERS; p++) table[p] = x[p * s->d];
    for (size_t m = 1; m <= SK_COURSE_ORDERS; m++) {
        for (size_t p = SK_COURSE_ORDERS; p >= m; p--) table[p] = (table[p] - table[p - 1]) / (t[p] - t[p - m]);
        ahead *= t[SK_COURSE_ORDERS] - t[SK_COURSE_ORDERS - m];
        s->square[m - 1] += table[SK_COURSE_ORDERS] * table[SK_COURSE_ORDERS] * ahead * ahead;
    }
}

static bool is_whole(const study *s, size_t i)
{
    for (size_t p = 0; s->skip && p < SK_COURSE_ORDERS; p++)
        if (s->skip[i + p]) return false;
    return true;
}

static bool is_smooth(study *s, size_t k)
{
    const sock_data *data = s->data;
    const size_t stride = sk_smooth_stride(data->points);
    size_t seen = 0, windows = 0;
    memset(s->square, 0, sizeof s->square);
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + SK_COURSE_ORDERS < data->first[j + 1]; i++)
            if (seen++ % stride == 0 && is_whole(s, i)) {
                miss(s, i, k);
                windows++;
            }
    return sk_course_is_smooth(sk_course_noise(s->square), windows);
}

/* ---- The whole ---- */

sock_status sk_courses_find(sock_context *ctx, const sock_data *data, const bool *skip, sk_courses *out)
{
    study s = {.ctx = ctx, .data = data, .skip = skip, .d = data->d, .c = data->d + 1};
    *out = (sk_courses){0};
    sock_status status = prepare(&s);
    if (status >= 0) status = sk_angles_find(ctx, data, out);
    if (status < 0) goto out;
    visit_steps(&s, find_largest);
    if (!sk_course_has_steps(s.pairs, s.c)) goto out;
    s.factor = sk_doubles(ctx, s.c, s.c); /* smaller than the data, which have more steps than columns */
    if (!s.factor) SK_GO(SOCK_ENOMEM);
    visit_steps(&s, add_products);
    factorise(&s);
    SK_GO(name_followers(&s, out));
    out->smooth = out->count < s.d;
    for (size_t k = 0; k < s.d && out->smooth; k++) out->smooth = s.follows[k + 1] || is_smooth(&s, k);
out:
    if (status < 0) sk_courses_clear(out);
    release(&s);
    return status;
}

void sk_courses_clear(sk_courses *courses)
{
    for (size_t i = 0; i < courses->count; i++) sk_free(courses->text[i]);
    for (size_t i = 0; i < courses->angles; i++) sk_free(courses->angle[i].text);
    sk_free(courses->text);
    sk_free(courses->angle);
    *courses = (sk_courses){0};
}
