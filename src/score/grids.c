/* grids.c - which trajectories can be compared as functions of time: those with the same time grid. */
#include "score.h"

#include <math.h>
#include <string.h>

/* Times counted from the start: the SDE does not know the clock. 1e-9 of the span: what printing and adding leaves. */
static bool same_grid(const sock_data *data, size_t i, size_t j)
{
    const double *s = data->t + data->first[i], *t = data->t + data->first[j];
    size_t length = data->first[i + 1] - data->first[i];
    if (data->first[j + 1] - data->first[j] != length) return false;
    double slack = 1e-9 * (s[length - 1] - s[0]);
    for (size_t k = length; k-- > 1;)
        if (!(fabs((s[k] - s[0]) - (t[k] - t[0])) <= slack)) return false;
    return true;
}

/* All along: paths with different inputs have different laws. The grids are the same. */
static bool same_inputs(const sock_data *data, size_t i, size_t j)
{
    const size_t m = data->inputs, count = m * sk_data_length(data, i);
    for (size_t k = 0; k < count; k++)
        if (data->u[data->first[i] * m + k] != data->u[data->first[j] * m + k]) return false;
    return true;
}

static bool same_start(const sock_data *data, size_t i, size_t j)
{
    const double *x = data->x + data->first[i] * data->d, *y = data->x + data->first[j] * data->d;
    for (size_t k = 0; k < data->d; k++)
        if (x[k] != y[k]) return false;
    return same_inputs(data, i, j);
}

/* ---- Labels in time proportional to the points ----
 *
 * Equal grids have equal lengths, and spans and weighted means of the times (as shares of the span) that agree to a few
 * 1e-9. Both numbers are cut into cells of that width and hashed, with the length and the start: what equals an example
 * lies in its cell or in a neighbour of it. Weights that follow no pattern keep different grids apart. */

static const int64_t BESIDE[] = {-1, 0, 1}; /* a cell and the two beside it, in each of the two numbers */
static const double CELL = 4e-9;            /* twice what the slack moves them by */

typedef struct finder {
    size_t slots;
    size_t *head;   /* slots: 1 + the newest label of the slot; 0: none */
    size_t *before; /* of each label: 1 + the label before it in its slot */
    size_t *example;
} finder;

typedef struct fingerprint {
    uint64_t hash;      /* of all that must agree to the bit */
    int64_t span, mean; /* cells */
} fingerprint;

/* Any good mixing will do: speed only. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_number(uint64_t hash, double value)
{
    const double positive = value + 0.0; /* -0 equals 0 */
    uint64_t bits;
    memcpy(&bits, &positive, sizeof bits);
    return mix(hash, bits);
}

static int64_t cell_of(double value)
{
    return isfinite(value) ? (int64_t)floor(value / CELL) : 0; /* any number would do: speed only */
}

static fingerprint fingerprint_of(const sock_data *data, size_t j, bool by_start)
{
    const size_t length = data->first[j + 1] - data->first[j];
    const double *t = data->t + data->first[j], *x = data->x + data->first[j] * data->d, span = t[length - 1] - t[0];
    double sum = 0;
    uint64_t hash = length;
    for (size_t k = 1; k < length; k++) {
        double weight = (double)(mix(0, k) >> 40) / (1 << 24); /* from 0 to 1: speed only */
        sum += weight * ((t[k] - t[0]) / span);
    }
    for (size_t k = 0; by_start && k < data->d; k++) hash = mix_number(hash, x[k]);
    for (size_t k = 0; by_start && k < data->inputs * length; k++)
        hash = mix_number(hash, data->u[data->first[j] * data->inputs + k]);
    return (fingerprint){hash, cell_of(log(span)), cell_of(sum / (double)length)};
}

static size_t slot_of(const finder *f, uint64_t hash, int64_t span, int64_t mean)
{
    return (size_t)(mix(mix(hash, (uint64_t)span), (uint64_t)mean) % f->slots);
}

/* The newest label whose example is like j; `found` when there is none: then a new one is noted. */
static size_t label_of(finder *f, const sock_data *data, size_t j, bool by_start, size_t found)
{
    const fingerprint own = fingerprint_of(data, j, by_start);
    size_t best = 0; /* 1 + label */
    for (size_t i = 0; i < 9; i++)
        for (size_t c = f->head[slot_of(f, own.hash, own.span + BESIDE[i / 3], own.mean + BESIDE[i % 3])]; c > best;
             c = f->before[c - 1]) {
            const size_t example = f->example[c - 1];
            if (same_grid(data, example, j) && (!by_start || same_start(data, example, j))) best = c;
        }
    if (best) return best - 1;
    size_t *head = &f->head[slot_of(f, own.hash, own.span, own.mean)];
    f->before[found] = *head;
    f->example[found] = j;
    *head = found + 1;
    return found;
}

sock_status sk_label_trajectories(sock_context *ctx, const sock_data *data, bool by_start, size_t *label,
                                  size_t *labels)
{
    const size_t n = data->trajectories;
    size_t found = 0;
    finder f = {.slots = 2 * n + 1}; /* speed only */
    f.head = sk_alloc(ctx, f.slots + 2 * n, sizeof *f.head);
    if (!f.head) return SOCK_ENOMEM;
    f.before = f.head + f.slots;
    f.example = f.before + n;
    for (size_t j = 0; j < n; j++) {
        label[j] = SIZE_MAX;
        if (data->first[j + 1] - data->first[j] < 2) continue;
        label[j] = label_of(&f, data, j, by_start, found);
        if (label[j] == found) found++;
    }
    sk_free(f.head);
    *labels = found;
    return SOCK_OK;
}

void sk_trapezoid_weights(size_t times, const double *t, double *w)
{
    for (size_t i = 0; i < times; i++) {
        double before = i ? t[i] - t[i - 1] : 0, after = i + 1 < times ? t[i + 1] - t[i] : 0;
        w[i] = (before + after) / 2;
    }
}
