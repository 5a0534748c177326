/* idlecolumns.c - columns that are no states, though they hold numbers.
 *
 *  constant  they say something of a trajectory, not of its course: a dose, a group, a weight
 *  clocks    they grow with the time alone: row numbers, the time in other units
 *  switches  they hold 0 and 1 alone: an event, a treatment, an answer
 *  counters  they number the points of each trajectory, one by one, or the rows of the file
 *  copies    another column has the same numbers in every row
 *
 * As states they would have no noise of their own, or that of another; and every fit would have to see through that. */
#include "data.h"
#include "readers.h"

#include <math.h>
#include <string.h>

static const char *const CONSTANT = "it never changes";
static const char *const OWN = "it is constant within each trajectory (--input takes it as an input)";
static const char *const CLOCK = "it grows with the time alone (--time-dependent takes the time as an input)";
static const char *const COUNTER = "it numbers the points of each trajectory";
static const char *const ROWS = "it numbers the rows";
static const char *const NAMELESS = "it has no name";
static const char *const SWITCH = "it holds 0 and 1 alone (--input takes it as an input, --state as a state)";
static const char *const COPY = "it is a copy of another column";

static const double CLOCK_ERROR = 1e-9; /* of a clock, as a part of its values: what rounding leaves */

static double value_at(const sk_rows *rows, size_t i, size_t k) { return rows->x[i * rows->d + k]; }

/* Whether row i and the one before belong to one trajectory and lack neither the time nor column k. */
static bool is_pair(const sk_rows *rows, size_t i, size_t k)
{
    return rows->label[i] == rows->label[i - 1] && isfinite(rows->t[i] - rows->t[i - 1]) &&
           isfinite(value_at(rows, i, k) - value_at(rows, i - 1, k));
}

/* NULL: it changes within a trajectory, or shows no two values in any. last: a number for each trajectory. */
static const char *constant_reason(const sk_rows *rows, size_t k, double *last)
{
    double any = (double)NAN;
    bool repeats = false, differs = false;
    for (size_t j = 0; j < rows->trajectories; j++) last[j] = (double)NAN;
    for (size_t i = 0; i < rows->count; i++) {
        const double value = value_at(rows, i, k);
        double *own = &last[rows->label[i]];
        if (isnan(value)) continue;
        if (!isnan(*own) && *own != value) return NULL;
        repeats |= *own == value;
        differs |= !isnan(any) && any != value;
        *own = any = value;
    }
    return !repeats ? NULL : differs ? OWN : CONSTANT;
}

/* The largest step in time gives the rate of a clock. Answers how many steps there are. */
static size_t clock_of(const sk_rows *rows, size_t k, double *rate, double *size)
{
    double longest = 0;
    size_t pairs = 0;
    *rate = *size = 0;
    for (size_t i = 1; i < rows->count; i++) {
        if (!is_pair(rows, i, k)) continue;
        const double step = fabs(rows->t[i] - rows->t[i - 1]);
        *size = fmax(*size, fmax(fabs(value_at(rows, i, k)), fabs(value_at(rows, i - 1, k))));
        pairs++;
        if (step <= longest) continue;
        longest = step;
        *rate = (value_at(rows, i, k) - value_at(rows, i - 1, k)) / (rows->t[i] - rows->t[i - 1]);
    }
    return pairs;
}

/* x = c_j + b t with one b for all trajectories. */
static bool is_clock(const sk_rows *rows, size_t k)
{
    double rate, size;
    if (clock_of(rows, k, &rate, &size) < 3 || rate == 0) return false;
    for (size_t i = 1; i < rows->count; i++)
        if (is_pair(rows, i, k) && fabs(value_at(rows, i, k) - value_at(rows, i - 1, k) -
                                        rate * (rows->t[i] - rows->t[i - 1])) > CLOCK_ERROR * size)
            return false;
    return true;
}

/* 1, 2, 3 or 0, 1, 2 in each trajectory, in three of them at least: where the times are even it would be a clock. */
static bool is_counter(const sk_rows *rows, size_t k)
{
    enum { LEAST = 3 };
    size_t begun = 0;
    if (rows->trajectories < LEAST) return false;
    for (size_t i = 0; i < rows->count; i++) {
        const double value = value_at(rows, i, k);
        const bool goes_on = i > 0 && rows->label[i] == rows->label[i - 1];
        if (goes_on ? value != value_at(rows, i - 1, k) + 1 : value != 0 && value != 1) return false;
        begun += !goes_on;
    }
    return begun >= LEAST && rows->count >= 2 * begun;
}

/* 1, 2, 3 or 0, 1, 2 through the whole file: written by a program that numbers its rows. */
static bool is_row_number(const sk_rows *rows, size_t k)
{
    enum { LEAST = 4 };
    if (rows->count < LEAST) return false;
    const double first = value_at(rows, 0, k);
    if (first != 0 && first != 1) return false;
    for (size_t i = 1; i < rows->count; i++)
        if (value_at(rows, i, k) != first + (double)i) return false;
    return true;
}

/* As pandas calls a column without a name when it reads a file. */
static bool is_nameless(const char *name)
{
    static const char begin[] = "Unnamed: ";
    const size_t length = sizeof begin - 1;
    return strncmp(name, begin, length) == 0 && name[length] && !name[length + strspn(name + length, "0123456789")];
}

/* 0 and 1, each several times: nothing that a diffusion goes through. */
static bool is_switch(const sk_rows *rows, size_t k)
{
    enum { LEAST = 3 };
    size_t zeros = 0, ones = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const double value = value_at(rows, i, k);
        if (!isnan(value) && value != 0 && value != 1) return false;
        zeros += value == 0;
        ones += value == 1;
    }
    return zeros >= LEAST && ones >= LEAST;
}

static bool same_column(const sk_rows *rows, size_t k, size_t l)
{
    for (size_t i = 0; i < rows->count; i++) {
        const double a = value_at(rows, i, k), b = value_at(rows, i, l);
        if (a != b && !(isnan(a) && isnan(b))) return false;
    }
    return rows->count > 1;
}

/* The first column that is the same; k: there is none. */
static size_t copied_by(const sk_rows *rows, size_t k)
{
    size_t l = 0;
    while (l < k && !same_column(rows, k, l)) l++;
    return l;
}

/* Why each column is no state; NULL: it is one, or an input. */
static sock_status find_reasons(sock_context *ctx, const sk_rows *rows, const char **why)
{
    double *last = sk_doubles(ctx, rows->trajectories, 1);
    if (!last) return SOCK_ENOMEM;
    for (size_t k = 0; k + rows->inputs < rows->d; k++) {
        why[k] = is_nameless(rows->state[k]) ? NAMELESS : constant_reason(rows, k, last);
        if (!why[k] && is_clock(rows, k)) why[k] = CLOCK;
        if (!why[k] && is_counter(rows, k)) why[k] = COUNTER;
        if (!why[k] && is_row_number(rows, k)) why[k] = ROWS;
        if (!why[k] && is_switch(rows, k)) why[k] = SWITCH;
        if (!why[k] && copied_by(rows, k) < k) why[k] = COPY;
    }
    sk_free(last);
    return SOCK_OK;
}

/* Room for the columns that are left out, behind those that are already. */
static sock_status grow_ignored(sock_context *ctx, sk_rows *rows)
{
    sk_ignored *ignored = sk_alloc(ctx, rows->ignored_count + rows->d, sizeof *ignored);
    if (!ignored) return SOCK_ENOMEM;
    if (rows->ignored_count) memcpy(ignored, rows->ignored, rows->ignored_count * sizeof *ignored);
    sk_free(rows->ignored);
    rows->ignored = ignored;
    return SOCK_OK;
}

/* Columns move to the left, in place: what is written has been read. */
static void leave_out(sk_rows *rows, const char *const *why)
{
    const size_t before = rows->d;
    size_t kept = 0;
    for (size_t k = 0; k < before; k++) {
        char *name = rows->state[k];
        rows->state[k] = NULL;
        if (why[k])
            rows->ignored[rows->ignored_count++] = (sk_ignored){name, why[k]};
        else
            rows->state[kept++] = name;
    }
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0, to = 0; k < before; k++)
            if (!why[k]) rows->x[i * kept + to++] = rows->x[i * before + k];
    rows->d = kept;
}

/* The kind of a trajectory is a number of its values in all columns that are constant within each: 64 bits, so that two
 * kinds have the same by a chance that nobody meets. */
static sock_status find_kinds(sock_context *ctx, const char *const *why, size_t states, sk_rows *rows)
{
    bool any = false;
    for (size_t k = 0; k < states; k++) any = any || why[k] == OWN;
    if (!any) return SOCK_OK;
    double *value = sk_doubles(ctx, rows->trajectories, 1);
    rows->kind = sk_alloc(ctx, rows->trajectories, sizeof *rows->kind);
    for (size_t k = 0; value && rows->kind && k < states; k++) {
        if (why[k] != OWN) continue;
        for (size_t j = 0; j < rows->trajectories; j++) value[j] = (double)NAN;
        for (size_t i = 0; i < rows->count; i++)
            if (!isnan(value_at(rows, i, k))) value[rows->label[i]] = value_at(rows, i, k) + 0.0; /* no -0 */
        for (size_t j = 0; j < rows->trajectories; j++) {
            const double none = (double)NAN, *own = isnan(value[j]) ? &none : &value[j];
            rows->kind[j] =
                (size_t)sk_hash(sk_hash(SK_HASH_START, &rows->kind[j], sizeof *rows->kind), own, sizeof *own);
        }
    }
    sk_free(value);
    return value && rows->kind ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Columns that were left out, in what follows ---- */

typedef struct watched {
    char *name;
    const char *why;
    size_t copied;      /* COPY: the column, among those kept and, behind them, these */
    double rate, size;  /* CLOCK */
    double time, value; /* of the last row; NaN: none */
    double own;         /* the last value that its trajectory had */
} watched;

struct sk_watch {
    size_t count, kept; /* kept: states before them */
    watched *column;
    char *id; /* of the last row's trajectory; NULL: none goes on */
};

size_t sk_watch_count(const sk_watch *w) { return w ? w->count : 0; }
const char *sk_watch_name(const sk_watch *w, size_t i) { return w->column[i].name; }

void sk_watch_free(sk_watch *w)
{
    if (!w) return;
    for (size_t i = 0; w->column && i < w->count; i++) sk_free(w->column[i].name);
    sk_free(w->column);
    sk_free(w->id);
    sk_free(w);
}

void sk_watch_next_file(sk_watch *w)
{
    if (!w) return;
    sk_free(w->id);
    w->id = NULL;
    for (size_t i = 0; i < w->count; i++) w->column[i].value = w->column[i].own = (double)NAN;
}

/* Where the rows end, column k of theirs being the one that is watched. */
static void remember_end(const sk_rows *rows, size_t k, watched *c)
{
    const size_t last = rows->count - 1;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->label[i] == rows->label[last] && !isnan(value_at(rows, i, k))) c->own = value_at(rows, i, k);
    c->time = rows->t[last];
    c->value = value_at(rows, last, k);
}

static sock_status remember_name(sock_context *ctx, const sk_rows *rows, sk_watch *w)
{
    sk_free(w->id);
    w->id = sk_strdup(ctx, rows->id[rows->label[rows->count - 1]]);
    return w->id ? SOCK_OK : SOCK_ENOMEM;
}

/* Of rows that still have all columns. Those that hold no value are among the ones that the reader left out. */
static sock_status watch_new(sock_context *ctx, const sk_rows *rows, const char *const *why, sk_watch **out)
{
    const size_t states = rows->d - rows->inputs;
    sk_watch *w = sk_alloc(ctx, 1, sizeof *w);
    size_t *place = sk_alloc(ctx, states, sizeof *place), left = 0;
    sock_status status = w && place ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) w->column = sk_alloc(ctx, states + rows->ignored_count, sizeof *w->column);
    if (status >= 0 && !w->column) status = SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < states; k++) w->kept += !why[k];
    for (size_t k = 0, kept = 0; status >= 0 && k < states; k++) place[k] = why[k] ? w->kept + left++ : kept++;
    for (size_t k = 0; status >= 0 && k < states; k++) {
        if (!why[k]) continue;
        watched *c = &w->column[w->count++];
        *c = (watched){.name = sk_strdup(ctx, rows->state[k]), .why = why[k], .own = (double)NAN};
        if (!c->name) status = SOCK_ENOMEM;
        if (c->why == CLOCK) clock_of(rows, k, &c->rate, &c->size);
        if (c->why == COPY) c->copied = place[copied_by(rows, k)];
        remember_end(rows, k, c);
    }
    for (size_t i = 0; status >= 0 && i < rows->ignored_count; i++) {
        if (rows->ignored[i].why != sk_csv_no_value) continue;
        w->column[w->count].why = sk_csv_no_value;
        if (!(w->column[w->count++].name = sk_strdup(ctx, rows->ignored[i].name))) status = SOCK_ENOMEM;
    }
    if (status >= 0) status = remember_name(ctx, rows, w);
    sk_free(place);
    if (status < 0)
        sk_watch_free(w);
    else
        *out = w;
    return status;
}

/* Row i and what stands before it in its trajectory, be it in the rows before. */
typedef struct neighbours {
    bool follows; /* there is something before it */
    double time, value, before_time, before;
} neighbours;

static neighbours at_row(const sk_rows *rows, const sk_watch *w, const watched *c, size_t i, size_t k)
{
    const bool inside = i > 0 && rows->label[i] == rows->label[i - 1];
    const bool across = i == 0 && w->id && strcmp(rows->id[rows->label[0]], w->id) == 0;
    return (neighbours){.follows = inside || across,
                        .time = rows->t[i],
                        .value = value_at(rows, i, k),
                        .before_time = inside ? rows->t[i - 1] : c->time,
                        .before = inside ? value_at(rows, i - 1, k) : c->value};
}

/* own: the last value of its trajectory. */
static bool still_holds(const sk_rows *rows, const sk_watch *w, watched *c, size_t i, size_t k, double *own)
{
    const neighbours at = at_row(rows, w, c, i, k);
    if (c->why == CONSTANT || c->why == OWN) {
        const bool same = isnan(at.value) || isnan(*own) || at.value == *own;
        if (!isnan(at.value)) *own = at.value;
        return same;
    }
    if (c->why == CLOCK) {
        const double step = at.time - at.before_time, change = at.value - at.before;
        if (!at.follows || !isfinite(step) || !isfinite(change)) return true;
        c->size = fmax(c->size, fabs(at.value));
        return fabs(change - c->rate * step) <= CLOCK_ERROR * c->size;
    }
    if (c->why == COUNTER) return at.follows ? at.value == at.before + 1 : at.value == 0 || at.value == 1;
    if (c->why == ROWS) {
        const double before = i > 0 ? value_at(rows, i - 1, k) : c->value;
        return isnan(before) ? at.value == 0 || at.value == 1 : at.value == before + 1;
    }
    if (c->why == SWITCH) return isnan(at.value) || at.value == 0 || at.value == 1;
    if (c->why == COPY) {
        const double other = value_at(rows, i, c->copied);
        return at.value == other || (isnan(at.value) && isnan(other));
    }
    return c->why != sk_csv_no_value || isnan(at.value);
}

static sock_status check_column(sock_context *ctx, const sk_rows *rows, const sk_watch *w, watched *c, size_t k,
                                double *own)
{
    for (size_t j = 0; j < rows->trajectories; j++)
        own[j] = w->id && strcmp(rows->id[j], w->id) == 0 ? c->own : (double)NAN;
    for (size_t i = 0; i < rows->count; i++)
        if (!still_holds(rows, w, c, i, k, &own[rows->label[i]]))
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: %s %zu: column '%s' was left out by what the data begin with (%s), which no longer "
                           "holds here; name the states: --state LIST",
                           sk_rows_source(rows, i), sk_rows_place(rows, i), rows->line[i], c->name, c->why);
    remember_end(rows, k, c);
    return SOCK_OK;
}

sock_status sk_rows_watch(sock_context *ctx, sk_rows *rows)
{
    sk_watch *w = *rows->watch;
    const char **why = sk_alloc(ctx, rows->d, sizeof *why);
    double *own = sk_doubles_unset(ctx, rows->trajectories, 1);
    sock_status status = why && own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && rows->count && i < w->count; i++) {
        why[w->kept + i] = w->column[i].why;
        status = check_column(ctx, rows, w, &w->column[i], w->kept + i, own);
    }
    if (status >= 0 && rows->count) status = remember_name(ctx, rows, w);
    if (status >= 0) status = grow_ignored(ctx, rows);
    if (status >= 0) leave_out(rows, why);
    sk_free((void *)why);
    sk_free(own);
    return status;
}

/* ---- All of it ---- */

sock_status sk_rows_idle(sock_context *ctx, sk_rows *rows)
{
    const size_t states = rows->d - rows->inputs;
    const char **why = sk_alloc(ctx, rows->d, sizeof *why);
    sock_status status = why ? find_reasons(ctx, rows, why) : SOCK_ENOMEM;
    size_t idle = 0;
    for (size_t k = 0; status >= 0 && k < states; k++) idle += why[k] != NULL;
    if (idle == states) { /* all stay */
        for (size_t k = 0; status >= 0 && k < states; k++) why[k] = NULL;
        idle = 0;
    }
    if (status >= 0 && rows->watch && rows->count) status = watch_new(ctx, rows, why, rows->watch);
    if (status >= 0 && idle) {
        status = find_kinds(ctx, why, states, rows);
        if (status >= 0) status = grow_ignored(ctx, rows);
        if (status >= 0) leave_out(rows, why);
    }
    sk_free((void *)why);
    return status;
}
