/* folds.c - see folds.h. */
#include "tune/folds.h"

#include "data/samples.h"
#include "tune/policy.h"
#include "tune/rules.h"
#include "tune/scaling.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A data set on its way to rows. */
typedef struct splitting {
    sock_context *ctx;
    const sk_tune_spec *spec;
    const sock_data *data;
    sock_data *joined; /* data and validation, where there is one */
    size_t *order;     /* trajectories in an order of their own, see sk_data_order */
    double *content;
    size_t *turn;   /* clusters in the order in which parts take them */
    bool in_pieces; /* a cluster is a piece, or several trajectories */
    sk_split split;
} splitting;

static size_t steps_of(const sock_data *data, size_t j)
{
    const size_t points = data->first[j + 1] - data->first[j];
    return points > 1 ? points - 1 : 0;
}

/* ---- Copies ---- */

static bool same_steps(const sock_data *data, size_t one, size_t other)
{
    const size_t a = data->first[one], b = data->first[other], count = steps_of(data, one), d = data->d;
    if (!count || steps_of(data, other) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (data->t[a + i + 1] - data->t[a + i] != data->t[b + i + 1] - data->t[b + i]) return false;
    const size_t m = data->inputs;
    return memcmp(data->x + a * d, data->x + b * d, (count + 1) * d * sizeof(double)) == 0 &&
           (!m || memcmp(data->u + a * m, data->u + b * m, (count + 1) * m * sizeof(double)) == 0);
}

/* Of the points alone: the times of a copy may begin elsewhere. */
static uint64_t hash_of(const sock_data *data, size_t j)
{
    return sk_hash(SK_HASH_START, data->x + data->first[j] * data->d,
                   (data->first[j + 1] - data->first[j]) * data->d * sizeof(double));
}

/* original[j]: the first trajectory, in the order of the split, with the very same steps as j, or j itself. A copy is
 * no new evidence, so it must not be held out while its original is in the training part. */
static sock_status find_copies(const splitting *s, size_t *original)
{
    const sock_data *data = s->data;
    size_t count = data->trajectories, slots = 1; /* speed only */
    while (slots < 2 * count + 2) slots *= 2;     /* speed only, as long as there are more than trajectories */
    size_t *table = sk_alloc(s->ctx, slots, sizeof *table);
    if (!table) return SOCK_ENOMEM;
    for (size_t u = 0; u < count; u++) {
        const size_t j = s->order[u];
        size_t at = (size_t)hash_of(data, j) & (slots - 1); /* speed only */
        original[j] = j;
        for (; table[at]; at = (at + 1) & (slots - 1)) /* entries are numbers + 1 */
            if (same_steps(data, table[at] - 1, j)) {
                original[j] = table[at] - 1;
                break;
            }
        if (!table[at]) table[at] = j + 1;
    }
    sk_free(table);
    return SOCK_OK;
}

/* ---- Lots ---- */

/* Lots are drawn by content: the digits of it that lie beyond what the trajectories have in common. So no lot depends
 * on the others, nor on the order, zero or units of the data, and a trajectory that is cut in two moves no other. */

/* Fractions of content times a number about SK_LOT_DIGITS, which the seed and the purpose choose. Of trajectories with
 * one content (paths that are the same but for where they are) the next counts as one more. */
static void draw_lots(const splitting *s, uint64_t purpose, double *lot)
{
    double part, whole, rank = 0;
    sk_uniforms((sk_key){s->spec->seed, SK_PURPOSE_SPLIT}, purpose, 0, 0, 1, &part);
    for (size_t u = 0; u < s->data->trajectories; u++) {
        const double content = s->content[s->order[u]];
        rank = u && content == s->content[s->order[u - 1]] ? rank + 1 : 0;
        lot[s->order[u]] = modf(SK_LOT_DIGITS * (1 + part) * (fabs(content) + rank), &whole);
    }
}

typedef struct lot {
    double value;
    size_t place, who; /* place: among equal values */
} lot;

static int by_value(const void *left, const void *right)
{
    const lot *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* out: numbers 0 .. count-1, that of the least value first; equal values in the order of `order`. */
static sock_status sort_lots(sock_context *ctx, size_t count, const double *value, const size_t *order, size_t *out)
{
    lot *list = sk_alloc(ctx, count, sizeof *list);
    if (!list) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) list[i] = (lot){value[order[i]], i, order[i]};
    qsort(list, count, sizeof *list, by_value);
    for (size_t i = 0; i < count; i++) out[i] = list[i].who;
    sk_free(list);
    return SOCK_OK;
}

/* The trajectories by lot. */
static sock_status shuffle(const splitting *s, uint64_t purpose, size_t *out)
{
    double *lots = sk_doubles(s->ctx, s->data->trajectories, 1);
    if (!lots) return SOCK_ENOMEM;
    draw_lots(s, purpose, lots);
    const sock_status status = sort_lots(s->ctx, s->data->trajectories, lots, s->order, out);
    sk_free(lots);
    return status;
}

/* ---- Folds ---- */

/* Folds are ranges of the trajectories by lot, with nearly equal numbers of steps, so that a trajectory more or less
 * moves few others. fold: -1 before the first; `left` trajectories are still to come, this one included. */
static size_t next_fold(size_t fold, double middle, size_t folds, size_t left)
{
    const size_t wanted = SK_MIN((size_t)(middle * (double)folds), folds - 1);
    const size_t least = folds > left ? folds - left : 0;
    return SK_MAX(SK_MIN(SK_MAX(wanted, fold == SIZE_MAX ? 0 : fold), fold + 1), least);
}

/* fold: one for each trajectory; count: steps of each and its copies, 0 for copies; different: how many are none. */
static void deal(size_t trajectories, const size_t *order, const size_t *count, size_t folds, size_t *fold)
{
    size_t total = 0, before = 0, left = 0, last = SIZE_MAX;
    for (size_t j = 0; j < trajectories; j++) total += count[j], left += count[j] > 0;
    for (size_t i = 0; i < trajectories; i++) {
        const size_t j = order[i];
        if (!count[j]) continue;
        last = next_fold(last, ((double)before + 0.5 * (double)count[j]) / (double)total, folds, left--);
        fold[j] = last;
        before += count[j];
    }
}

/* Whole trajectories; copies go with their original. */
static sock_status split_trajectories(const splitting *s, size_t folds, const size_t *original, sk_split *out)
{
    const sock_data *data = s->data;
    const size_t trajectories = data->trajectories;
    size_t *order = sk_alloc(s->ctx, trajectories, sizeof *order),
           *count = sk_alloc(s->ctx, trajectories, sizeof *count);
    size_t *fold = sk_alloc(s->ctx, trajectories, sizeof *fold);
    sock_status status = order && count && fold ? shuffle(s, 1, order) : SOCK_ENOMEM;
    if (status >= 0) {
        for (size_t j = 0; j < trajectories; j++) count[original[j]] += steps_of(data, j);
        deal(trajectories, order, count, folds, fold);
        for (size_t u = 0, i = 0; u < trajectories; u++)
            for (size_t k = 0; k < steps_of(data, s->order[u]); k++, i++) {
                out->fold[i] = fold[original[s->order[u]]];
                out->cluster[i] = original[s->order[u]];
            }
        out->folds = folds;
        out->clusters = trajectories;
    }
    sk_free(order);
    sk_free(count);
    sk_free(fold);
    return status;
}

/* A step that takes no part. */
static const size_t NO_FOLD = SK_ALWAYS - 1;

/* A few long trajectories, end to end, in pieces of one length that take turns; a step between two of them belongs to
 * none. So it does not matter where a trajectory ends and the next begins: one that is cut into two has the same
 * pieces. Copies are cut like their original, which comes before them. */
static sock_status split_pieces(const splitting *s, size_t pieces, size_t folds, const size_t *original, sk_split *out)
{
    const sock_data *data = s->data;
    size_t *first = sk_alloc(s->ctx, data->trajectories, sizeof *first), all = 0;
    if (!first) return SOCK_ENOMEM;
    for (size_t u = 0; u < data->trajectories; u++) {
        const size_t j = s->order[u];
        first[j] = all;
        all += original[j] == j ? steps_of(data, j) : 0;
    }
    for (size_t u = 0, i = 0; u < data->trajectories; u++)
        for (size_t k = 0; k < steps_of(data, s->order[u]); k++, i++) {
            assert(all > 0); /* every copy has an original */
            const size_t place = first[original[s->order[u]]] + k, piece = place * pieces / all;
            const bool gap = k > 0 && sk_fold_has_gaps(all, pieces) && piece != (place - 1) * pieces / all;
            out->fold[i] = gap ? NO_FOLD : piece % folds;
            out->cluster[i] = piece;
        }
    out->folds = folds;
    out->clusters = pieces;
    sk_free(first);
    return SOCK_OK;
}

/* The validation set's steps are held out, the data's always in. */
static void split_validation(const splitting *s, sk_split *out)
{
    const sock_data *data = s->data;
    const size_t own = s->spec->data->trajectories;
    for (size_t u = 0, i = 0; u < data->trajectories; u++)
        for (size_t k = 0; k < steps_of(data, s->order[u]); k++, i++) {
            out->fold[i] = s->order[u] < own ? SK_ALWAYS : 0;
            out->cluster[i] = s->order[u];
        }
    out->folds = 1;
    out->clusters = data->trajectories;
}

/* Scores are kept by cluster: beyond a number of them, some of one fold count as one, by their places in the order of
 * the trajectories. A sum of clusters that know nothing of each other is as good a unit of an error. */
static sock_status join_clusters(splitting *s)
{
    sk_split *split = &s->split;
    const size_t each = sk_clusters_each(split->folds + 1);
    if (sk_clusters_are_few(split->clusters)) return SOCK_OK;
    size_t *place = sk_alloc(s->ctx, split->clusters, sizeof *place);
    if (!place) return SOCK_ENOMEM;
    for (size_t u = 0; u < split->clusters; u++) place[s->order[u]] = u;
    for (size_t i = 0; i < split->n; i++)
        split->cluster[i] = SK_MIN(split->fold[i], split->folds) * each + place[split->cluster[i]] % each;
    split->clusters = (split->folds + 1) * each;
    s->in_pieces = true;
    sk_free(place);
    return SOCK_OK;
}

static sock_status count_steps(sock_context *ctx, const sock_data *data, size_t *count)
{
    *count = 0;
    for (size_t j = 0; j < data->trajectories; j++) *count += steps_of(data, j);
    if (*count) return SOCK_OK;
    return sk_data_refuse_stepless(ctx, data->source);
}

/* Every step of the data, trajectory by trajectory in their own order. */
static sock_status list_steps(splitting *s)
{
    const sock_data *data = s->data;
    sk_split *out = &s->split;
    SK_TRY(count_steps(s->ctx, data, &out->n));
    SK_TRY(sk_memory_check(s->ctx, sk_rows_bytes(out->n, data->d), "the search over all steps",
                           "give fewer steps, raise the memory limit, or stream the files (--stream)"));
    out->point = sk_alloc(s->ctx, out->n, sizeof *out->point);
    out->fold = sk_alloc(s->ctx, out->n, sizeof *out->fold);
    out->cluster = sk_alloc(s->ctx, out->n, sizeof *out->cluster);
    s->order = sk_alloc(s->ctx, data->trajectories, sizeof *s->order);
    s->content = sk_doubles(s->ctx, data->trajectories, 1);
    if (!out->point || !out->fold || !out->cluster || !s->order || !s->content) return SOCK_ENOMEM;
    SK_TRY(sk_data_order(s->ctx, data, s->order, s->content));
    for (size_t u = 0, i = 0; u < data->trajectories; u++)
        for (size_t k = 0; k < steps_of(data, s->order[u]); k++) out->point[i++] = data->first[s->order[u]] + k;
    return SOCK_OK;
}

/* Whole trajectories where there are enough of them, else pieces. */
static sock_status split_data(splitting *s, const size_t *original, sk_split *out)
{
    const sock_data *data = s->data;
    size_t used = 0, different = 0, wanted = s->spec->folds ? s->spec->folds : SK_FOLDS;
    for (size_t j = 0; j < data->trajectories; j++) {
        used += steps_of(data, j) > 0;
        different += steps_of(data, j) > 0 && original[j] == j;
    }
    const size_t typical = out->n / SK_MAX(used, 1), folds = SK_MAX(SK_MIN(wanted, typical * different), 2);
    if (typical * different < 2)
        return sk_fail(s->ctx, SOCK_EINPUT, "%s: one interval is not enough to choose a model; give --no-tune",
                       data->source);
    if (sk_folds_are_trajectories(different, typical))
        return split_trajectories(s, SK_MIN(wanted, different), original, out);
    s->in_pieces = true;
    return split_pieces(s, SK_MIN(sk_pieces_of(folds), typical * different), folds, original, out);
}

/* In which order parts take the clusters: trajectories by lot, pieces by multiples of the golden ratio, which spread
 * any number of them evenly. */
static sock_status choose_turns(splitting *s)
{
    const size_t count = s->split.clusters;
    double *value = sk_doubles(s->ctx, count, 1), whole;
    size_t *plain = sk_alloc(s->ctx, count, sizeof *plain);
    s->turn = sk_alloc(s->ctx, count, sizeof *s->turn);
    sock_status status = value && plain && s->turn ? SOCK_OK : SOCK_ENOMEM;
    for (size_t u = 0; status >= 0 && u < count; u++) {
        value[u] = modf((double)(u + 1) * 0.6180339887498949, &whole);
        plain[u] = u;
    }
    if (status >= 0) status = s->in_pieces ? sort_lots(s->ctx, count, value, plain, s->turn) : shuffle(s, 2, s->turn);
    sk_free(value);
    sk_free(plain);
    return status;
}

/* Wild steps belong to no fold: they neither fit nor judge. Of a joined set the data's points come first. */
static void leave_wild(const sk_tune_spec *spec, sk_split *out)
{
    const size_t own = spec->data->points;
    for (size_t i = 0; i < out->n; i++) {
        const size_t at = out->point[i];
        const bool *wild = at < own ? spec->wild : spec->wild_held;
        if (wild && wild[at < own ? at : at - own]) out->fold[i] = NO_FOLD;
    }
}

static sock_status split_steps(splitting *s)
{
    size_t count;
    s->data = s->spec->data;
    if (s->spec->validation) {
        SK_TRY(count_steps(s->ctx, s->spec->data, &count));
        SK_TRY(count_steps(s->ctx, s->spec->validation, &count));
        SK_TRY(sk_data_join(s->ctx, s->spec->data, s->spec->validation, true, NULL, &s->joined));
        s->data = s->joined;
    }
    SK_TRY(list_steps(s));
    if (s->spec->validation) {
        split_validation(s, &s->split);
        SK_TRY(join_clusters(s));
        leave_wild(s->spec, &s->split);
        return choose_turns(s);
    }
    size_t *original = sk_alloc(s->ctx, s->data->trajectories, sizeof *original);
    sock_status status = original ? find_copies(s, original) : SOCK_ENOMEM;
    if (status >= 0) status = split_data(s, original, &s->split);
    if (status >= 0) status = join_clusters(s);
    sk_free(original);
    if (status >= 0) leave_wild(s->spec, &s->split);
    return status < 0 ? status : choose_turns(s);
}

/* ---- Parts ---- */

/* Every fold has rows, and so has what is always in: else nothing can be held out, or nothing fitted. */
static bool serves(const sk_transitions *all, const sk_transitions *part)
{
    for (size_t f = 0; f <= all->folds; f++)
        if (part->first[f + 1] == part->first[f] && all->first[f + 1] > all->first[f]) return false;
    return true;
}

/* Whole clusters, in their turns, until there are enough rows; each fold keeps its share because lots decide the turns.
 * Answers how many rows are listed in keep. */
static sock_status list_clusters(sock_context *ctx, const sk_transitions *all, const size_t *turn, size_t rows,
                                 size_t *keep, size_t *kept)
{
    size_t *count = sk_alloc(ctx, all->clusters, sizeof *count);
    bool *taken = sk_alloc(ctx, all->clusters, sizeof *taken);
    sock_status status = count && taken ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        for (size_t i = 0; i < all->n; i++) count[all->cluster[i]]++;
        for (size_t u = 0, total = 0; u < all->clusters && total < rows; u++) {
            taken[turn[u]] = true;
            total += count[turn[u]];
        }
        for (size_t i = 0; i < all->n; i++)
            if (taken[all->cluster[i]]) keep[(*kept)++] = i;
    }
    sk_free(count);
    sk_free(taken);
    return status;
}

/* Of a few long clusters a window each, the same share of all: rows that stand together in a cluster follow each other
 * in time. */
static void list_windows(const sk_transitions *all, size_t rows, size_t *keep, size_t *kept)
{
    *kept = 0;
    for (size_t first = 0, end; first < all->n; first = end) {
        for (end = first + 1; end < all->n && all->cluster[end] == all->cluster[first];) end++;
        const size_t count = end - first;
        const size_t wanted = SK_MAX(1, (size_t)((double)count * (double)rows / (double)all->n));
        for (size_t i = 0; i < wanted; i++) keep[(*kept)++] = first + (count - wanted) / 2 + i;
    }
}

sock_status sk_part_of(sock_context *ctx, sk_transitions *all, const size_t *turn, size_t rows, bool windows,
                       sk_transitions **part)
{
    sk_transitions *few = NULL;
    size_t kept = 0, *keep = NULL;
    sock_status status = SOCK_OK;
    *part = all;
    if (!sk_take_part(all->n, rows)) return SOCK_OK;
    keep = sk_alloc(ctx, all->n, sizeof *keep);
    SK_GO(keep ? list_clusters(ctx, all, turn, rows, keep, &kept) : SOCK_ENOMEM);
    SK_GO(sk_transitions_subset(ctx, all, kept, keep, &few));
    if (windows && (!serves(all, few) || sk_take_part(few->n, rows))) {
        sk_transitions_free(few);
        few = NULL;
        list_windows(all, rows, keep, &kept);
        SK_GO(sk_transitions_subset(ctx, all, kept, keep, &few));
    }
    if (serves(all, few)) {
        *part = few;
        few = NULL;
    }
out:
    sk_transitions_free(few);
    sk_free(keep);
    return status;
}

/* ---- Jitter ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static const double CLOCK_ERROR = 1e-6; /* of a rate: what rounding leaves */

/* The smallest change of a coordinate, where the data are counted or rounded: it recurs, and the others are multiples
 * of it. Else 0. change: `count` sizes of those that are not 0. */
static double smallest_change(size_t count, double *change)
{
    size_t first = 0, same = 0, whole = 0;
    qsort(change, count, sizeof *change, ascending);
    while (first < count && change[first] < 1e-9 * change[count - 1])
        first++; /* what rounding makes of equal numbers */
    while (first + same < count && change[first + same] < change[first] * (1 + 1e-6)) same++;
    for (size_t i = first; i < count; i++) whole += sk_is_multiple(change[i], change[first]);
    return sk_is_grain(same, whole, count) ? change[first] : 0;
}

bool sk_is_clock(const sk_transitions *t, size_t k)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        const double rate = (t->next[i * t->d + k] - t->y[i * t->d + k]) / t->h[i];
        least = fmin(least, rate);
        most = fmax(most, rate);
        if (most - least > CLOCK_ERROR * fabs(most)) return false;
    }
    return true;
}

/* Numbers rounded to a grain are off by up to half of it, with a variance of a twelfth of its square, in the state
 * before a step and in that behind. change: the sizes of the `count` of `rows` steps that move, sorted. */
static void note_rounding(sk_row_sets *r, double grain, size_t rows, size_t count, const double *change)
{
    r->rest = fmax(r->rest, 1 - (double)count / (double)rows);
    r->rounding = fmax(r->rounding, grain * grain / 6 / pow(change[count / 2], 2));
}

/* The jitter of the likelihood, from the median square increment of the steps that move. Counts and rounded numbers
 * move by whole units, and rest in between: a density can have no finer grain than that unit, or steps at rest would
 * pay without bound for a = 0. */
static sock_status set_jitter(sock_context *ctx, const sk_transitions *t, sk_row_sets *r)
{
    sk_view_spec *look = &r->look;
    const size_t d = t->d, stride = sk_typical_stride(t->n), rows = (t->n + stride - 1) / stride;
    double *square = sk_doubles(ctx, rows, 1), *change = sk_doubles(ctx, rows, 1), middle = 0;
    sock_status status = square && change ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        size_t count = 0;
        for (size_t i = 0; i < rows; i++) {
            const double size = fabs(t->next[i * stride * d + k] - t->y[i * stride * d + k]);
            square[i] += size * size / (double)d;
            if (size != 0) change[count++] = size;
        }
        r->grain[k] = smallest_change(count, change);
        look->resolution += pow(r->grain[k], 2) / (double)d;
        if (r->grain[k] > 0 && !sk_is_clock(t, k)) note_rounding(r, r->grain[k], rows, count, change);
    }
    if (status >= 0) status = sk_typical_value(ctx, t, stride, square, &middle);
    if (status >= 0 && !(middle > 0))
        status = sk_fail(ctx, SOCK_EINPUT, "the data never change, so there is nothing to choose between, or to learn");
    look->eps = sk_jitter(d, middle, look->resolution);
    sk_free(square);
    sk_free(change);
    return status;
}

/* ---- Rows ---- */

void sk_row_sets_clear(sk_row_sets *r)
{
    if (r->screen != r->search) sk_transitions_free(r->screen);
    if (r->search != r->all) sk_transitions_free(r->search);
    sk_transitions_free(r->all);
    sk_units_free(r->units);
    sk_bounds_free(r->bounds);
    sk_free(r->grain);
    *r = (sk_row_sets){0};
}

/* The bounds in the units of the rows. */
static sock_status set_bounds(sock_context *ctx, const sk_tune_spec *spec, sk_transitions *t, sk_row_sets *r)
{
    if (!spec->lower) return SOCK_OK;
    double *scaled = sk_doubles(ctx, t->d, 2), *upper = scaled ? scaled + t->d : NULL;
    for (size_t k = 0; scaled && k < t->d; k++) {
        const double centre = r->units ? r->units->centre[k] : 0, unit = r->units ? r->units->scale[k] : 1;
        scaled[k] = (spec->lower[k] - centre) / unit;
        upper[k] = (spec->upper[k] - centre) / unit;
    }
    sock_status status = scaled ? sk_bounds_new(ctx, t->d, scaled, upper, t->n, t->y, &r->bounds) : SOCK_ENOMEM;
    if (status >= 0 && r->bounds && t->in > t->d) status = sk_bounds_widen(ctx, t->in, r->bounds);
    t->bounds = r->bounds;
    sk_free(scaled);
    return status;
}

sock_status sk_row_sets_look(sock_context *ctx, const sk_tune_spec *spec, sk_transitions *t, sk_row_sets *r)
{
    SK_TRY(set_bounds(ctx, spec, t, r));
    r->look = (sk_view_spec){.weighted = spec->weighted};
    for (size_t k = 0; r->units && k < t->d; k++) r->look.density -= log(r->units->scale[k]);
    r->grain = sk_doubles(ctx, t->d, 1);
    return r->grain ? set_jitter(ctx, t, r) : SOCK_ENOMEM;
}

sock_status sk_row_sets_new(sock_context *ctx, const sk_tune_spec *spec, size_t search_rows, size_t screen_rows,
                            sk_row_sets *out)
{
    splitting s = {.ctx = ctx, .spec = spec};
    sk_row_sets r = {0};
    sock_status status;
    SK_GO(split_steps(&s));
    s.split.hold = spec->inputs ? spec->inputs->hold : NULL;
    SK_GO(sk_scaling_choose(ctx, spec, s.data, &r.units));
    SK_GO(sk_transitions_new(ctx, s.data, &s.split, r.units, &r.all));
    r.search = r.screen = r.all;
    SK_GO(sk_row_sets_look(ctx, spec, r.all, &r));
    const bool windows = sk_take_part(r.all->n, search_rows);
    SK_GO(sk_part_of(ctx, r.all, s.turn, search_rows, windows, &r.search));
    r.screen = r.search;
    SK_GO(sk_part_of(ctx, r.search, s.turn, screen_rows, windows, &r.screen));
    *out = r;
    r = (sk_row_sets){0};
out:
    sk_row_sets_clear(&r);
    sock_data_free(s.joined);
    sk_free(s.split.point);
    sk_free(s.split.fold);
    sk_free(s.split.cluster);
    sk_free(s.order);
    sk_free(s.content);
    sk_free(s.turn);
    return status;
}
