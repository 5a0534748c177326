/* oddities.c - what is odd about the data of a fit, in names and numbers for its record. */
#include "api/record.h"
#include "data/csvcolumns.h"
#include "data/dates.h"
#include "tune/policy.h"

#include <math.h>

void sk_oddities_clear(sk_oddities *odd)
{
    for (size_t i = 0; i < odd->wilds; i++) {
        sk_free(odd->wild[i].trajectory);
        sk_free(odd->wild[i].state);
    }
    for (size_t i = 0; i < odd->codes; i++) sk_free(odd->code[i].state);
    sk_free(odd->wild);
    sk_free(odd->code);
    sk_texts_clear(&odd->followers);
    sk_texts_clear(&odd->angles);
    *odd = (sk_oddities){0};
}

void sk_record_time(const char *unit, double time, char text[SK_RECORD_TIME_SIZE])
{
    _Static_assert((int)SK_RECORD_TIME_SIZE >= (int)SK_DATE_ROOM, "a date fits");
    sk_time_text(unit, time, text);
}

bool sk_record_has_dates(const char *unit, const sock_data *data)
{
    return sk_times_are_dates(unit, data->points, data->t);
}

static size_t trajectory_of(const sock_data *data, size_t point)
{
    size_t j = 0;
    while (data->first[j + 1] <= point) j++;
    return j;
}

static sock_status name_wild(sock_context *ctx, const sock_data *data, const sk_wild *wild, sk_oddities *odd)
{
    odd->wild_steps = wild->count;
    if (!wild->named) return SOCK_OK;
    odd->wild = sk_alloc(ctx, wild->named, sizeof *odd->wild);
    if (!odd->wild) return SOCK_ENOMEM;
    for (size_t i = 0; i < wild->named; i++) {
        const sk_wild_step *step = &wild->name[i];
        const double *x = data->x + step->point * data->d + step->state;
        sk_wild_told *told = &odd->wild[odd->wilds++];
        *told = (sk_wild_told){.time = data->t[step->point], .from = x[0], .to = x[data->d], .deviations = step->size};
        told->trajectory = sk_strdup(ctx, data->id[trajectory_of(data, step->point)]);
        told->state = sk_strdup(ctx, data->state[step->state]);
        if (!told->trajectory || !told->state) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

static sock_status name_codes(sock_context *ctx, const sock_data *data, const sk_code_list *list, sk_oddities *odd)
{
    if (!list->count) return SOCK_OK;
    odd->code = sk_alloc(ctx, list->count, sizeof *odd->code);
    if (!odd->code) return SOCK_ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        sk_code_told *told = &odd->code[odd->codes++];
        *told = (sk_code_told){.value = list->code[i].value, .count = list->code[i].count};
        told->state = sk_strdup(ctx, sk_code_column(data, &list->code[i]));
        if (!told->state) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

static sock_status name_courses(sock_context *ctx, const sk_courses *courses, sk_record *r)
{
    for (size_t i = 0; i < courses->count; i++) SK_TRY(sk_texts_add(ctx, &r->odd.followers, courses->text[i]));
    for (size_t i = 0; i < courses->angles; i++) SK_TRY(sk_texts_add(ctx, &r->odd.angles, courses->angle[i].text));
    if (courses->count) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_FOLLOWER));
    if (courses->angles) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_ANGLE));
    return courses->smooth ? sk_record_add_warning(ctx, r, SK_WARN_SMOOTH) : SOCK_OK;
}

/* Whether input k has a few whole numbers, one for each trajectory. */
static bool has_levels(const sock_data *data, size_t k)
{
    double level[SK_LEVELS_MOST];
    size_t levels = 0, i = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        const double value = data->u[data->first[j] * data->inputs + k];
        if (value != floor(value)) return false;
        for (size_t p = data->first[j]; p < data->first[j + 1]; p++)
            if (data->u[p * data->inputs + k] != value) return false;
        for (i = 0; i < levels && level[i] != value; i++) {}
        if (i == levels && levels == SK_LEVELS_MOST) return false;
        if (i == levels) level[levels++] = value;
    }
    return levels >= SK_LEVELS_LEAST && levels < data->trajectories;
}

/* Times that are a clock's, states that are times. */
static sock_status note_times(sock_context *ctx, const sock_data *data, sk_record *r)
{
    bool clock;
    SK_TRY(sk_times_are_clock(ctx, data, &clock));
    if (clock) SK_TRY(sk_record_add_warning(ctx, r, SK_WARN_CLOCK));
    for (size_t k = 0; k < data->d; k++)
        if (sk_is_time_name(data->state[k])) return sk_record_add_warning(ctx, r, SK_WARN_TIME_STATE);
    return SOCK_OK;
}

static sock_status note_levels(sock_context *ctx, const sock_data *data, sk_record *r)
{
    for (size_t k = 0; k + data->timed < data->inputs; k++)
        if (has_levels(data, k)) return sk_record_add_warning(ctx, r, SK_WARN_LEVELS);
    return SOCK_OK;
}

sock_status sk_record_odd(sock_context *ctx, sk_record *r, const sock_data *data, const sk_wild *wild, bool left,
                          const sk_courses *courses)
{
    sk_code_list codes = {0};
    sock_status status = sk_codes_find(ctx, data, &codes);
    if (status >= 0) status = name_codes(ctx, data, &codes, &r->odd);
    if (status >= 0) status = name_wild(ctx, data, wild, &r->odd);
    if (status >= 0 && codes.count) status = sk_record_add_warning(ctx, r, SK_WARN_CODE);
    if (status >= 0 && wild->count) status = sk_record_add_warning(ctx, r, left ? SK_WARN_WILD : SK_WARN_WILD_KEPT);
    if (status >= 0 && wild->gaps) status = sk_record_add_warning(ctx, r, left ? SK_WARN_GAPS : SK_WARN_GAPS_KEPT);
    sk_free(codes.code);
    if (status >= 0) status = note_levels(ctx, data, r);
    if (status >= 0) status = note_times(ctx, data, r);
    if (status >= 0 && data->d > 2 && data->points - data->trajectories <= data->d)
        status = sk_record_add_warning(ctx, r, SK_WARN_MANY);
    return status < 0 ? status : name_courses(ctx, courses, r);
}
