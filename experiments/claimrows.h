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

void claim_print(const json_t *result, FILE *stream);

/* A study of claims: its name, what measures (rows are added and kept), what sums up (NULL when out of memory). */
typedef struct claim_study {
    const char *name;
    sock_status (*measure)(sock_context *ctx, const exp_settings *settings, const json_t *columns, json_t *rows);
    json_t *(*summarise)(const exp_settings *settings, const json_t *rows);
} claim_study;

/* The rows of the output file and what is not there yet (with `show`: them alone), and their summary. */
sock_status claim_run(sock_context *ctx, const exp_settings *settings, const claim_study *study, json_t **result);

/* |other - truth| over |truth| of so many numbers, in percent. */
double claim_percent(size_t count, const double *truth, const double *other);

#endif
