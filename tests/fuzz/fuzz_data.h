/* fuzz_data.h - the laws of a data set, whoever read it. */
#ifndef SK_FUZZ_DATA_H
#define SK_FUZZ_DATA_H

#include "data/data.h"
#include "fuzz.h"

#include <math.h>

static inline void fuzz_check_data(sock_context *ctx, const sock_data *data)
{
    size_t members = 0;
    FUZZ_CHECK(data->d >= 1 && data->trajectories >= 1 && data->groups >= 1 && data->groups <= data->trajectories);
    FUZZ_CHECK(data->first[0] == 0 && data->first[data->trajectories] == data->points);
    for (size_t j = 0; j < data->trajectories; j++) {
        FUZZ_CHECK(data->first[j] < data->first[j + 1] && data->id[j]);
        for (size_t i = data->first[j]; i < data->first[j + 1]; i++) {
            FUZZ_CHECK(isfinite(data->t[i]) && (i == data->first[j] || data->t[i] > data->t[i - 1]));
            for (size_t k = 0; k < data->d; k++) FUZZ_CHECK(isfinite(data->x[i * data->d + k]));
        }
    }
    for (size_t g = 0; g < data->groups; g++) {
        FUZZ_CHECK(data->group_first[g] < data->group_first[g + 1]);
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) members += data->member[m];
    }
    FUZZ_CHECK(data->group_first[data->groups] == data->trajectories);
    FUZZ_CHECK(members == data->trajectories * (data->trajectories - 1) / 2);
    for (size_t k = 0; k < data->d; k++) FUZZ_CHECK(data->state[k] && data->state[k][0]);
    if (data->points > 64) return;
    char *json = NULL;
    FUZZ_CHECK(sock_data_summary(ctx, data, &json) >= 0 && json);
    sock_string_free(json);
}

#endif
