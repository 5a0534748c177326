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

/* x = c_j + b t with one b for all trajectories: the largest step in time gives b, all others must agree. */
static bool is_clock(const sk_rows *rows, size_t k)
{
    double longest = 0, rate = 0, size = 0;
    size_t pairs = 0;
    for (size_t i = 1; i < rows->count; i++) {
        if (!is_pair(rows, i, k)) continue;
        const double step = fabs(rows->t[i] - rows->t[i - 1]);
        size = fmax(size, fmax(fabs(value_at(rows, i, k)), fabs(value_at(rows, i - 1, k))));
        pairs++;
        if (step <= longest) continue;
        longest = step;
        rate = (value_at(rows, i, k) - value_at(rows, i - 1, k)) / (rows->t[i] - rows->t[i - 1]);
    }
    if (pairs < 3 || rate == 0) return false;
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

static bool is_copy(const sk_rows *rows, size_t k)
{
    for (size_t l = 0; l < k; l++)
        if (same_column(rows, k, l)) return true;
    return false;
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
        if (!why[k] && is_copy(rows, k)) why[k] = COPY;
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

sock_status sk_rows_idle(sock_context *ctx, sk_rows *rows)
{
    const size_t states = rows->d - rows->inputs;
    const char **why = sk_alloc(ctx, rows->d, sizeof *why);
    sock_status status = why ? find_reasons(ctx, rows, why) : SOCK_ENOMEM;
    size_t idle = 0;
    for (size_t k = 0; status >= 0 && k < states; k++) idle += why[k] != NULL;
    if (status >= 0 && idle && idle < states) {
        status = find_kinds(ctx, why, states, rows);
        if (status >= 0) status = grow_ignored(ctx, rows);
        if (status >= 0) leave_out(rows, why);
    }
    sk_free((void *)why);
    return status;
}
