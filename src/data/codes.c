/* codes.c - numbers that stand for a missing value: one exact number that recurs at an end of a coordinate's range,
 * behind a gap that is wider than all else. Peeled from both ends until nothing more looks like it. */
#include "data/datarules.h"
#include "tune/policy.h"
#include "wild.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rising(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Values of column k behind the start of a trajectory, in rising order: many may start at one place on purpose. */
static size_t gather(const sock_data *data, size_t k, double *value)
{
    const bool input = k >= data->d;
    const double *column = input ? data->u + (k - data->d) : data->x + k;
    const size_t stride = input ? data->inputs : data->d;
    size_t count = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j] + 1; i < data->first[j + 1]; i++) value[count++] = column[i * stride];
    qsort(value, count, sizeof *value, rising);
    return count;
}

/* Repeats of the value at one end. */
static size_t repeats(size_t count, const double *value, bool high)
{
    size_t same = 1;
    const double end = high ? value[count - 1] : value[0];
    while (same < count && (high ? value[count - 1 - same] : value[same]) == end) same++;
    return same;
}

static bool is_varied(size_t count, const double *value)
{
    size_t different = 1;
    for (size_t i = 1; i < count && !sk_code_others_vary(different); i++) different += value[i] != value[i - 1];
    return sk_code_others_vary(different);
}

/* Whether `same` equal values at one end lie apart from the others. */
static bool is_apart(size_t count, const double *value, size_t same, bool high)
{
    const size_t rest = count - same;
    const double *other = high ? value : value + same;
    if (rest <= same || !is_varied(rest, other)) return false;
    const double range = other[rest - 1] - other[0], middle = other[rest - rest / 4 - 1] - other[rest / 4];
    const double gap = high ? value[count - 1] - other[rest - 1] : other[0] - value[0];
    return sk_code_is_apart(gap, range, middle);
}

/* What lies apart is peeled off; what recurs as well is a code. */
static size_t peel(size_t count, const double *value, size_t state, sk_code *code)
{
    size_t found = 0;
    for (bool again = true; again && found < SK_CODES;) {
        again = false;
        for (int high = 0; high < 2 && !again && count; high++) {
            const size_t same = repeats(count, value, high);
            if (!is_apart(count, value, same, high)) continue;
            if (sk_code_recurs(same)) code[found++] = (sk_code){state, high ? value[count - 1] : value[0], same};
            count -= same;
            value += high ? 0 : same;
            again = true;
        }
    }
    return found;
}

const char *sk_code_column(const sock_data *data, const sk_code *code)
{
    return code->state < data->d ? data->state[code->state] : data->input[code->state - data->d];
}

/* An input that is 0 is switched off: no code. Answers how many remain. */
static size_t leave_zero(size_t count, sk_code *code)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (code[i].value != 0) code[left++] = code[i];
    return left;
}

sock_status sk_codes_find(sock_context *ctx, const sock_data *data, sk_code_list *out)
{
    double *value = sk_doubles_unset(ctx, data->points, 1);
    const size_t columns = data->d + data->inputs - data->timed;
    sk_code *code = sk_alloc(ctx, columns * SK_CODES, sizeof *code);
    if (!value || !code) {
        sk_free(value);
        sk_free(code);
        return SOCK_ENOMEM;
    }
    *out = (sk_code_list){0, code};
    for (size_t k = 0; k < columns; k++) {
        const size_t found = peel(gather(data, k, value), value, k, code + out->count);
        out->count += k < data->d ? found : leave_zero(found, code + out->count);
    }
    sk_free(value);
    return SOCK_OK;
}
