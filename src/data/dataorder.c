/* dataorder.c - an order of the trajectories that comes from what they say, not from where they stand in the file.
 *
 * 1. Content of a trajectory: for each coordinate the log of the sum of squares of its steps over that of its distances
 *    from its mean, added up. It is the same for other zeros, units and orders of the states, but for rounding, and
 * does not depend on the other trajectories. Of a trajectory with a single step these say nothing: its content is the
 * log of |z|^2 + |z'|^2, where z = (x - mean) / deviation over all points.
 * 2. Sort by time of the start, then content. Contents that differ by rounding alone (mirrored paths have one content)
 *    decide nothing: among them the numbers themselves do, time and state after time and state.
 * What is left equal is equal. Cost: a few passes over the points, and T log T for T trajectories. */
#include "data.h"

#include <math.h>
#include <stdlib.h>

/* Contents that are so near are one: far more than rounding, far less than chance. */
#define SAME_CONTENT 1e-9

/* Mean and standard deviation of coordinate k over points first .. end-1. */
static void moments(const sock_data *data, size_t k, size_t first, size_t end, double *mean, double *deviation)
{
    const size_t d = data->d;
    const double n = (double)(end - first);
    double sum = 0, square = 0;
    for (size_t i = first; i < end; i++) sum += data->x[i * d + k] / n;
    for (size_t i = first; i < end; i++) square += pow(data->x[i * d + k] - sum, 2) / n;
    *mean = sum;
    *deviation = sqrt(square);
}

/* ---- Step 1 ---- */

static double finite_log(double value) { return value > 0 && isfinite(value) ? log(value) : 0; }

static double content_of_steps(const sock_data *data, size_t j)
{
    const size_t d = data->d, first = data->first[j], end = data->first[j + 1];
    double content = 0;
    for (size_t k = 0; k < d; k++) {
        double mean, deviation, square = 0;
        moments(data, k, first, end, &mean, &deviation);
        if (!(deviation > 0)) continue;
        for (size_t i = first; i + 1 < end; i++)
            square += pow((data->x[(i + 1) * d + k] - data->x[i * d + k]) / deviation, 2);
        content += finite_log(square);
    }
    return content;
}

/* mean: d of all points, and behind them the deviations. */
static double content_of_points(const sock_data *data, size_t j, const double *mean)
{
    const size_t d = data->d;
    double square = 0;
    for (size_t i = data->first[j]; i < data->first[j + 1]; i++)
        for (size_t k = 0; k < d; k++)
            if (mean[d + k] > 0) square += pow((data->x[i * d + k] - mean[k]) / mean[d + k], 2);
    return finite_log(square);
}

/* ---- Step 2 ---- */

typedef struct entry {
    double start, content;
    const sock_data *data;
    size_t j;
} entry;

static int by_content(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->content < b->content ? -1 : a->content > b->content;
}

static int compare_numbers(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int by_numbers(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    const sock_data *data = a->data;
    const size_t one = data->first[a->j], other = data->first[b->j], d = data->d;
    const size_t length = sk_data_length(data, a->j), beside = sk_data_length(data, b->j);
    if (length != beside) return length < beside ? -1 : 1;
    const int times = compare_numbers(data->t + one, data->t + other, length);
    return times ? times : compare_numbers(data->x + one * d, data->x + other * d, length * d);
}

static bool is_same(const entry *a, const entry *b)
{
    return a->start == b->start && b->content - a->content < SAME_CONTENT;
}

/* Those with the same content get the very same number. */
static void sort_entries(entry *list, size_t count)
{
    qsort(list, count, sizeof *list, by_content);
    for (size_t first = 0, end; first < count; first = end) {
        const double content = list[first].content;
        for (end = first + 1; end < count && is_same(&list[end - 1], &list[end]);) end++;
        for (size_t i = first; i < end; i++) list[i].content = content;
        if (end > first + 1) qsort(list + first, end - first, sizeof *list, by_numbers);
    }
}

sock_status sk_data_order(sock_context *ctx, const sock_data *data, size_t *order, double *content)
{
    const size_t count = data->trajectories, d = data->d;
    double *mean = sk_doubles(ctx, 2 * d, 1);
    entry *list = sk_alloc(ctx, count, sizeof *list);
    for (size_t k = 0; mean && list && k < d; k++) moments(data, k, 0, data->points, &mean[k], &mean[d + k]);
    for (size_t j = 0; mean && list && j < count; j++) {
        const bool several = sk_data_length(data, j) > 2;
        list[j] = (entry){data->t[data->first[j]],
                          several ? content_of_steps(data, j) : content_of_points(data, j, mean), data, j};
    }
    const sock_status status = mean && list ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) sort_entries(list, count);
    for (size_t i = 0; status >= 0 && i < count; i++) {
        order[i] = list[i].j;
        content[list[i].j] = list[i].content;
    }
    sk_free(mean);
    sk_free(list);
    return status;
}

sock_status sk_data_sorted(sock_context *ctx, const sock_data *data, sock_data **out)
{
    size_t *order = sk_alloc(ctx, data->trajectories, sizeof *order), moved = 0;
    double *content = sk_doubles(ctx, data->trajectories, 1);
    sock_status status = order && content ? sk_data_order(ctx, data, order, content) : SOCK_ENOMEM;
    *out = NULL;
    for (size_t i = 0; status >= 0 && i < data->trajectories; i++) moved += order[i] != i;
    if (status >= 0 && moved) status = sk_data_subset(ctx, data, order, data->trajectories, out);
    sk_free(order);
    sk_free(content);
    return status;
}
