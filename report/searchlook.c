/* searchlook.c - see searchlook.h. */
#include "searchlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rough stages do not compare with the later ones. */
static int counts(const sk_search_row *row, const char *field)
{
    return strcmp(row->field, field) == 0 && strcmp(row->stage, "pilot") != 0 && strcmp(row->stage, "screen") != 0 &&
           isfinite(row->score);
}

static double length_scale(const char *kernel)
{
    const char *at = strstr(kernel, "eta=");
    return at ? strtod(at + 4, NULL) : (double)NAN;
}

static search_entry *find(search_look *look, const char *kernel)
{
    for (size_t i = 0; i < look->count; i++)
        if (strcmp(look->entry[i].kernel, kernel) == 0) return &look->entry[i];
    return NULL;
}

/* For so many places more. */
static int make_room(search_entry *e, size_t more)
{
    double(*longer)[2] = realloc(e->curve, (e->count + more) * sizeof *longer);
    if (longer) e->curve = longer;
    return longer != NULL;
}

static void add_place(search_entry *e, double l, double score)
{
    if (!(l > 0) || !isfinite(score)) return;
    e->curve[e->count][0] = log10(l);
    e->curve[e->count++][1] = score;
}

/* A later stage replaces an earlier one; the rows of a grid are places of one curve. */
static int take_row(search_look *look, const sk_search_row *row, size_t number)
{
    search_entry *e = find(look, row->kernel);
    if (!e) e = &look->entry[look->count++];
    const int same = e->stage && strcmp(e->stage, row->stage) == 0;
    if (!same || !(e->best >= row->score)) e->best = row->score, e->l = row->l;
    const int grid = strncmp(row->stage, "grid", 4) == 0, longer = row->places >= (e->count > 1 ? e->count : 1);
    if (longer || (grid && !same))
        e->count = 0; /* else the old one stays: later stages look near the last best alone */
    e->order = number;
    e->kernel = row->kernel, e->stage = row->stage, e->eta = length_scale(row->kernel);
    if (!make_room(e, row->places + 1)) return 0;
    for (size_t i = 0; longer && i < row->places; i++) add_place(e, row->curve[2 * i], row->curve[2 * i + 1]);
    if (grid || !e->count) add_place(e, row->l, row->score);
    return 1;
}

static int by_score(const void *a, const void *b)
{
    const search_entry *x = a, *y = b;
    if (x->best != y->best) return x->best > y->best ? -1 : 1;
    return strcmp(x->kernel, y->kernel);
}

static int by_penalty(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] < y[0]) - (x[0] > y[0]);
}

/* A curve of an earlier stage is moved so that its top is the kernel's last score: what it shows is its shape. */
static void move_curve(search_entry *e)
{
    double top = -(double)INFINITY;
    for (size_t i = 0; i < e->count; i++) top = fmax(top, e->curve[i][1]);
    for (size_t i = 0; i < e->count; i++) e->curve[i][1] += e->best - top;
}

static void find_fronts(search_look *look)
{
    for (size_t i = 0; i < look->count; i++) {
        search_entry *e = &look->entry[i];
        e->front = e->best;
        for (size_t j = 0; j < look->count; j++)
            if (strcmp(look->entry[j].stage, e->stage) == 0) {
                e->front = fmax(e->front, look->entry[j].best);
                if (look->entry[j].order > e->order) e->order = look->entry[j].order;
            }
    }
}

static int by_stage(const void *a, const void *b)
{
    const search_entry *x = a, *y = b;
    return x->order != y->order ? (x->order < y->order) - (x->order > y->order) : by_score(a, b);
}

void search_by_stage(search_look *look)
{
    if (look->count) qsort(look->entry, look->count, sizeof *look->entry, by_stage);
}

int search_read(const sk_search_table *table, const char *field, search_look *out)
{
    int good = 1;
    *out = (search_look){0, calloc(table->count + 1, sizeof *out->entry)};
    if (!out->entry) return 0;
    for (size_t i = 0; i < table->count; i++)
        if (counts(&table->row[i], field)) good = take_row(out, &table->row[i], i) && good;
    qsort(out->entry, out->count, sizeof *out->entry, by_score);
    find_fronts(out);
    for (size_t i = 0; i < out->count; i++)
        if (out->entry[i].count) {
            qsort(out->entry[i].curve, out->entry[i].count, sizeof *out->entry[i].curve, by_penalty);
            move_curve(&out->entry[i]);
        }
    if (good) return 1;
    search_free(out);
    return 0;
}

void search_free(search_look *look)
{
    for (size_t i = 0; look->entry && i < look->count; i++) free(look->entry[i].curve);
    free(look->entry);
    *look = (search_look){0};
}
