/* folds.c - see folds.h. */
#include "tune/folds.h"

#include "tune/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FOLDS = 6, FEW_TRAJECTORIES = 3 };

typedef struct deal {
    sk_steps *steps;
    size_t *fold, *cluster, *keep; /* for each step; keep lists those that take part, sorted by fold */
    size_t folds, clusters, kept;
} deal;

/* First step of each trajectory, and behind the last one n; trajectories + 1 numbers. */
static void find_starts(const sk_steps *s, size_t *start)
{
    size_t i = 0;
    for (size_t j = 0; j <= s->trajectories; j++) {
        while (i < s->n && s->trajectory[i] < j) i++;
        start[j] = i;
    }
}

static bool same_steps(const sk_steps *s, const size_t *start, size_t one, size_t other)
{
    size_t a = start[one], b = start[other], count = start[one + 1] - a, bytes = count * s->d * sizeof(double);
    if (start[other + 1] - b != count || !count) return false;
    return memcmp(s->h + a, s->h + b, count * sizeof(double)) == 0 &&
           memcmp(s->y + a * s->d, s->y + b * s->d, bytes) == 0 &&
           memcmp(s->next + a * s->d, s->next + b * s->d, bytes) == 0;
}

static uint64_t hash_of(const sk_steps *s, const size_t *start, size_t j)
{
    size_t count = start[j + 1] - start[j];
    uint64_t hash = sk_hash(SK_HASH_START, s->h + start[j], count * sizeof(double));
    return sk_hash(hash, s->next + start[j] * s->d, count * s->d * sizeof(double));
}

/* original[j]: the first trajectory with the very same steps as j, or j itself. A copy is no new evidence, so it must
 * not be held out while its original is in the training part. */
static sock_status find_copies(sock_context *ctx, const sk_steps *s, size_t *original)
{
    size_t count = s->trajectories, slots = 1;
    while (slots < 2 * count + 2) slots *= 2;
    size_t *start = sk_alloc(ctx, count + 1, sizeof *start), *table = sk_alloc(ctx, slots, sizeof *table);
    sock_status status = start && table ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) find_starts(s, start);
    for (size_t j = 0; status >= 0 && j < count; j++) {
        size_t at = (size_t)hash_of(s, start, j) & (slots - 1);
        original[j] = j;
        for (; table[at]; at = (at + 1) & (slots - 1)) /* entries are numbers + 1 */
            if (same_steps(s, start, table[at] - 1, j)) {
                original[j] = table[at] - 1;
                break;
            }
        if (!table[at]) table[at] = j + 1;
    }
    sk_free(start);
    sk_free(table);
    return status;
}

/* Trajectories in random order, each to the fold with the fewest steps so far; copies go with their original. */
static sock_status deal_trajectories(sock_context *ctx, uint64_t seed, size_t folds, const size_t *original, deal *d)
{
    size_t trajectories = d->steps->trajectories;
    size_t *order = sk_alloc(ctx, trajectories, sizeof *order), *count = sk_alloc(ctx, trajectories, sizeof *count);
    size_t *fold = sk_alloc(ctx, trajectories, sizeof *fold), *load = sk_alloc(ctx, folds, sizeof *load);
    sock_status status = order && count && fold && load ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        for (size_t i = 0; i < d->steps->n; i++) count[original[d->steps->trajectory[i]]]++;
        sk_shuffle((sk_key){seed, SK_PURPOSE_SPLIT}, 1, 0, trajectories, order);
        for (size_t j = 0; j < trajectories; j++) {
            size_t least = 0;
            for (size_t f = 1; f < folds; f++)
                if (load[f] < load[least]) least = f;
            fold[order[j]] = least;
            load[least] += count[order[j]];
        }
        for (size_t i = 0; i < d->steps->n; i++) {
            d->fold[i] = fold[original[d->steps->trajectory[i]]];
            d->cluster[i] = original[d->steps->trajectory[i]];
        }
        d->folds = folds;
        d->clusters = trajectories;
    }
    sk_free(order);
    sk_free(count);
    sk_free(fold);
    sk_free(load);
    return status;
}

/* A few long trajectories: each is cut into `blocks` pieces, dealt in turn; a step between two pieces belongs to none.
 */
static void deal_blocks(size_t blocks, size_t folds, deal *d)
{
    size_t n = d->steps->n, first = 0, cluster = 0;
    while (first < n) {
        size_t end = first;
        while (end < n && d->steps->trajectory[end] == d->steps->trajectory[first]) end++;
        for (size_t i = first; i < end; i++) {
            size_t piece = (i - first) * blocks / (end - first);
            bool gap = i > first && end - first >= 4 * blocks && piece != (i - 1 - first) * blocks / (end - first);
            d->fold[i] = gap ? SK_ALWAYS - 1 : piece % folds;
            d->cluster[i] = cluster + piece;
        }
        cluster += blocks;
        first = end;
    }
    d->folds = folds;
    d->clusters = cluster;
}

/* keep: steps that take part, fold after fold, in their order inside a fold. */
static void sort_by_fold(deal *d)
{
    d->kept = 0;
    for (size_t f = 0; f <= d->folds; f++)
        for (size_t i = 0; i < d->steps->n; i++)
            if (d->fold[i] == (f < d->folds ? f : SK_ALWAYS)) d->keep[d->kept++] = i;
}

static sock_status allocate(sock_context *ctx, deal *d)
{
    d->fold = sk_alloc(ctx, d->steps->n, sizeof *d->fold);
    d->cluster = sk_alloc(ctx, d->steps->n, sizeof *d->cluster);
    d->keep = sk_alloc(ctx, d->steps->n, sizeof *d->keep);
    return d->fold && d->cluster && d->keep ? SOCK_OK : SOCK_ENOMEM;
}

/* Steps of the data and of the validation set, one behind the other. */
static sock_status join(sock_context *ctx, const sk_tune_spec *spec, deal *d)
{
    sk_steps *other = NULL, *first = NULL, *all = NULL;
    if (!spec->validation) return sk_steps_new(ctx, spec->data, &d->steps);
    sock_status status = sk_steps_new(ctx, spec->data, &first);
    if (status >= 0) status = sk_steps_new(ctx, spec->validation, &other);
    size_t n = status >= 0 ? first->n + other->n : 0;
    size_t *index = status >= 0 ? sk_alloc(ctx, n, sizeof *index) : NULL;
    if (status >= 0 && !index) status = SOCK_ENOMEM;
    if (status >= 0) status = sk_steps_subset(ctx, first, n, index, &all); /* all zeros: room for n steps */
    if (status >= 0) {
        size_t width = first->d * sizeof(double);
        const sk_steps *part[] = {first, other};
        for (int k = 0; k < 2; k++) {
            size_t at = k ? first->n : 0;
            memcpy(all->y + at * first->d, part[k]->y, part[k]->n * width);
            memcpy(all->next + at * first->d, part[k]->next, part[k]->n * width);
            memcpy(all->dy + at * first->d, part[k]->dy, part[k]->n * width);
            memcpy(all->h + at, part[k]->h, part[k]->n * sizeof(double));
            for (size_t i = 0; i < part[k]->n; i++)
                all->trajectory[at + i] = part[k]->trajectory[i] + (k ? first->trajectories : 0);
        }
        all->trajectories = first->trajectories + other->trajectories;
        d->steps = all;
        status = allocate(ctx, d);
        for (size_t i = 0; status >= 0 && i < n; i++) {
            d->fold[i] = i < first->n ? SK_ALWAYS : 0;
            d->cluster[i] = all->trajectory[i];
        }
        d->folds = 1;
        d->clusters = all->trajectories;
    }
    sk_free(index);
    sk_steps_free(first);
    sk_steps_free(other);
    return status;
}

/* Trajectories with steps; those that are not copies. */
static size_t used_trajectories(const sk_steps *s, const size_t *original, size_t *different)
{
    size_t count = 0;
    *different = 0;
    for (size_t i = 0; i < s->n; i++)
        if (i == 0 || s->trajectory[i] != s->trajectory[i - 1]) {
            count++;
            *different += original[s->trajectory[i]] == s->trajectory[i];
        }
    return count;
}

static sock_status deal_steps(sock_context *ctx, const sk_tune_spec *spec, deal *d)
{
    SK_TRY(join(ctx, spec, d));
    if (spec->validation) return SOCK_OK;
    SK_TRY(allocate(ctx, d));
    size_t *original = sk_alloc(ctx, d->steps->trajectories, sizeof *original), different;
    sock_status status = original ? find_copies(ctx, d->steps, original) : SOCK_ENOMEM;
    if (status >= 0) {
        size_t used = used_trajectories(d->steps, original, &different),
               wanted = spec->folds ? spec->folds : DEFAULT_FOLDS;
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is a step, so a trajectory has it
        size_t typical = d->steps->n / used, folds = SK_MAX(SK_MIN(wanted, typical), 2);
        if (typical * different < 2)
            status = sk_fail(ctx, SOCK_EINPUT, "%s: one interval is not enough to choose a model; give --no-tune",
                             spec->data->source);
        else if (different >= FEW_TRAJECTORIES || typical < 2)
            status = deal_trajectories(ctx, spec->seed, SK_MIN(wanted, different), original, d);
        else
            deal_blocks(SK_MIN(2 * folds, SK_MAX(typical, 2)), folds, d);
    }
    sk_free(original);
    return status;
}

/* Whole clusters, in random order, until there are enough rows; each fold keeps its share because clusters are
 * shuffled. */
static sock_status choose_screen(sock_context *ctx, const sk_problem *full, uint64_t seed, size_t rows,
                                 sk_problem **screen)
{
    size_t *order = sk_alloc(ctx, full->clusters, sizeof *order), *count = sk_alloc(ctx, full->clusters, sizeof *count);
    bool *taken = sk_alloc(ctx, full->clusters, sizeof *taken);
    size_t *keep = sk_alloc(ctx, full->n, sizeof *keep), kept = 0;
    sock_status status = order && count && taken && keep ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        for (size_t i = 0; i < full->n; i++) count[full->cluster[i]]++;
        sk_shuffle((sk_key){seed, SK_PURPOSE_SPLIT}, 2, 0, full->clusters, order);
        for (size_t u = 0, total = 0; u < full->clusters && total < rows; u++) {
            taken[order[u]] = true;
            total += count[order[u]];
        }
        for (size_t i = 0; i < full->n; i++)
            if (taken[full->cluster[i]]) keep[kept++] = i;
        status = sk_problem_subset(ctx, full, kept, keep, screen);
    }
    bool complete = status >= 0; /* a fold without rows cannot be held out: then the screen is of no use */
    for (size_t f = 0; complete && f < full->folds; f++) complete = (*screen)->first[f + 1] > (*screen)->first[f];
    if (status >= 0 && !complete) {
        sk_problem_free(*screen);
        *screen = NULL;
    }
    sk_free(order);
    sk_free(count);
    sk_free(taken);
    sk_free(keep);
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The smallest change of coordinate k, where the data are counted or rounded: it recurs, in three steps and one in a
 * hundred of those that change. Else 0. change: n. */
static double smallest_change(const sk_problem *p, size_t k, double *change)
{
    size_t count = 0, same = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->steps->dy[i * p->d + k] != 0) change[count++] = fabs(p->steps->dy[i * p->d + k]);
    qsort(change, count, sizeof *change, ascending);
    size_t first = 0; /* past what rounding makes of equal numbers */
    while (first < count && change[first] < 1e-9 * change[count - 1]) first++;
    while (first + same < count && change[first + same] < change[first] * (1 + 1e-6)) same++;
    return same >= 3 && 100 * same >= count ? change[first] : 0;
}

/* The jitter of the likelihood: a hundredth of the median square increment of the steps that move in several
 * dimensions, where a may be singular; next to nothing in one. Counts and rounded numbers move by whole units, and rest
 * in between: a density can have no finer grain than that unit, or steps at rest would pay without bound for a = 0. */
static sock_status set_jitter(sock_context *ctx, sk_problem *p)
{
    double *square = sk_doubles(ctx, p->n, 1), *change = sk_doubles(ctx, p->n, 1), middle = 0;
    sock_status status = square && change ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < p->d; k++) {
        for (size_t i = 0; i < p->n; i++) square[i] += pow(p->steps->dy[i * p->d + k], 2) / (double)p->d;
        p->resolution += pow(smallest_change(p, k, change), 2) / (double)p->d;
    }
    if (status >= 0) status = sk_problem_middle(ctx, p, square, &middle);
    if (status >= 0 && !(middle > 0))
        status =
            sk_fail(ctx, SOCK_EINPUT, "the data never change, so there is nothing to choose between; give --no-tune");
    p->eps = fmax((p->d > 1 ? 1e-2 : 1e-4) * middle, p->resolution);
    sk_free(square);
    sk_free(change);
    return status;
}

sock_status sk_folds_problem(sock_context *ctx, const sk_tune_spec *spec, size_t screen_rows, sk_problem **full,
                             sk_problem **screen)
{
    deal d = {0};
    sk_steps *steps = NULL;
    size_t *fold = NULL, *cluster = NULL;
    sk_problem *all = NULL, *few = NULL;
    double *scale = NULL;
    sock_status status;
    SK_GO(deal_steps(ctx, spec, &d));
    SK_GO(sk_scaling_choose(ctx, spec, d.steps, &scale));
    if (scale) sk_scaling_apply(scale, d.steps);
    sort_by_fold(&d);
    fold = sk_alloc(ctx, d.kept, sizeof *fold);
    cluster = sk_alloc(ctx, d.kept, sizeof *cluster);
    if (!fold || !cluster) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < d.kept; i++) {
        fold[i] = d.fold[d.keep[i]];
        cluster[i] = d.cluster[d.keep[i]];
    }
    SK_GO(sk_steps_subset(ctx, d.steps, d.kept, d.keep, &steps));
    SK_GO(sk_problem_new(ctx, steps, fold, d.folds, cluster, d.clusters, &all));
    all->weighted = spec->weighted;
    for (size_t k = 0; scale && k < all->d; k++) all->density -= log(scale[k]);
    all->scale = scale;
    scale = NULL;
    SK_GO(set_jitter(ctx, all));
    if (all->n > screen_rows * 3 / 2) SK_GO(choose_screen(ctx, all, spec->seed, screen_rows, &few));
    *full = all;
    *screen = few ? few : all;
    all = NULL;
out:
    sk_problem_free(all);
    sk_steps_free(d.steps);
    sk_free(d.fold);
    sk_free(d.cluster);
    sk_free(d.keep);
    sk_free(fold);
    sk_free(cluster);
    sk_free(scale);
    return status;
}
