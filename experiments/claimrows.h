/* claimrows.h - studies that ask goals of the default: a claim measures numbers of its cases on one seed; over the
 * seeds their median, worst or mean is within the goal, or not. Rows are kept as a CSV file and gone on with. */
#ifndef EXP_CLAIMROWS_H
#define EXP_CLAIMROWS_H

#include "experiments/experiments.h"

/* What of the values over the seeds a goal is for. */
#define CLAIM_MEDIAN "median"
#define CLAIM_WORST "worst"
#define CLAIM_MEAN "|mean|"
#define CLAIM_NONE "-"

/* Where the numbers of a claim on one seed go. */
typedef struct claim_teller {
    const exp_settings *settings;
    const char *claim;
    uint64_t seed;
    json_t *rows;
} claim_teller;

/* The columns of a row, a new list. */
json_t *claim_columns(void);

/* A number of one case; goal: at most this, of what `of` says. */
sock_status claim_tell(const claim_teller *to, const char *name, const char *measure, double value, double goal,
                       const char *of);

/* Whether there are rows of the claim on the seed; name: of this case (NULL: of any). */
int claim_is_done(const json_t *rows, const char *claim, const char *name, uint64_t seed);

/* One entry for each measure, over the seeds; NULL when out of memory. */
json_t *claim_summary(const json_t *rows);

/* The median of a measure; NaN: there is none. */
double claim_median(const json_t *summary, const char *claim, const char *name, const char *measure);

/* One entry more, of a number that is made of others; goal NaN: none. Not 0 when out of memory. */
int claim_add(json_t *summary, const char *claim, const char *name, const char *measure, double value, double goal);

/* {"experiment", "first", "failures", "summary", "columns", "rows"}; takes summary, columns and rows. */
json_t *claim_result(const char *experiment, uint64_t first, json_t *summary, json_t *columns, json_t *rows);

void claim_print(const json_t *result, FILE *stream);

#endif
