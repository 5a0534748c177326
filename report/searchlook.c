/* searchlook.c - see searchlook.h. */
#include "searchlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double number_of(json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Rough stages do not compare with the later ones. */
static int counts(json_t *row, const char *field)
{
    const char *stage = text_of(row, "stage");
    return strcmp(text_of(row, "field"), field) == 0 && strcmp(stage, "pilot") != 0 && strcmp(stage, "screen") != 0 &&
           isfinite(number_of(row, "score"));
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

static int add_place(search_entry *e, double l, double score)
{
    if (!(l > 0) || !isfinite(score)) return 1;
    double(*longer)[2] = realloc(e->curve, (e->count + 1) * sizeof *longer);
    if (!longer) return 0;
    e->curve = longer;
    e->curve[e->count][0] = log10(l);
    e->curve[e->count++][1] = score;
    return 1;
}

/* A later stage replaces an earlier one; the rows of a grid are places of one curve. */
static int take_row(search_look *look, json_t *row)
{
    const char *kernel = text_of(row, "kernel"), *stage = text_of(row, "stage");
    const double l = number_of(row, "l"), score = number_of(row, "score");
    search_entry *e = find(look, kernel);
    if (!e) e = &look->entry[look->count++];
    const int same = e->stage && strcmp(e->stage, stage) == 0;
    if (!same || !(e->best >= score)) e->best = score, e->l = l;
    json_t *curve = json_object_get(row, "by_l"), *place;
    const int grid = strncmp(stage, "grid", 4) == 0, longer = json_array_size(curve) >= (e->count > 1 ? e->count : 1);
    if (longer || (grid && !same))
        e->count = 0; /* else the old one stays: later stages look near the last best alone */
    e->kernel = kernel, e->stage = stage, e->eta = length_scale(kernel);
    size_t i;
    int good = 1;
    json_array_foreach(curve, i, place)
    {
        if (!longer) break;
        good = add_place(e, json_number_value(json_array_get(place, 0)), json_number_value(json_array_get(place, 1))) &&
               good;
    }
    return !grid && e->count ? good : add_place(e, l, score);
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

int search_read(json_t *info, const char *field, search_look *out)
{
    json_t *rows = json_object_get(info, "search"), *row;
    size_t i;
    int good = 1;
    *out = (search_look){0, calloc(json_array_size(rows) + 1, sizeof *out->entry)};
    if (!out->entry) return 0;
    json_array_foreach(rows, i, row)
    {
        if (counts(row, field)) good = take_row(out, row) && good;
    }
    qsort(out->entry, out->count, sizeof *out->entry, by_score);
    for (i = 0; i < out->count; i++)
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
