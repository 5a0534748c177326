/* record.h - what a fit tells of itself, typed: any fit, plain or searched. It is saved with the model as JSON, which
 * recordjson.c alone writes and reads; the program and the reports show it from here. */
#ifndef SK_RECORD_H
#define SK_RECORD_H

#include "api/warnings.h"
#include "data/courses.h"
#include "data/wild.h"
#include "model/outcome.h"

#include <stdio.h>

/* The proof of the convex problem of a. */
typedef struct sk_certificate {
    double primal, dual, gap, relative_gap; /* of an average: the largest relative gap */
    long iterations;                        /* -1: not told */
    bool converged;                         /* of an average: all of them */
    char *reason, *iterations_reason;       /* why primal, dual and gap are not told; why iterations are not */
} sk_certificate;

typedef struct sk_option_given {
    char *key, *value;
} sk_option_given;

typedef struct sk_options_given {
    size_t count, room;
    sk_option_given *option;
} sk_options_given;

/* One option more, copied. */
sock_status sk_options_given_add(sock_context *ctx, sk_options_given *list, const char *key, const char *value);
void sk_options_given_clear(sk_options_given *list);

/* Lists of numbers, one for each state. */
typedef struct sk_number_lists {
    size_t count;
    sk_numbers *list;
} sk_number_lists;
sock_status sk_number_lists_new(sock_context *ctx, size_t count, sk_number_lists *out);

/* The data of the fit. */
typedef struct sk_provenance {
    char *source, *hash; /* source NULL: not told */
    char *states_hash;   /* of times and states, where there are inputs, of which a model may need few; else NULL */
    char *time_unit;     /* of times that were dates; NULL: they were numbers */
    size_t trajectories, groups;
} sk_provenance;

/* A step that is far larger than all around it. */
typedef struct sk_wild_told {
    char *trajectory, *state;
    double time, from, to, deviations; /* where it begins, and of the state that is farthest out */
} sk_wild_told;

/* A value that looks like a code for a missing one. */
typedef struct sk_code_told {
    char *state;
    double value;
    size_t count;
} sk_code_told;

/* What is odd about the data of the fit. */
typedef struct sk_oddities {
    size_t wild_steps; /* of which the largest are named */
    size_t wilds, codes;
    sk_wild_told *wild;
    sk_code_told *code;
    sk_texts followers; /* states that follow from others, a sentence each */
    sk_texts angles;    /* states that look like angles which are cut, alike */
} sk_oddities;

typedef struct sk_phase {
    const char *name;
    double seconds;
} sk_phase;

enum { SK_PHASES = 8 }; /* room; speed only */

/* A number that there is not is NaN, a text NULL. A plain fit has one part of each field that was fitted, without share
 * and score; its drift is "given" where the diffusion alone was fitted. */
typedef struct sk_record {
    bool tuned;
    sk_tune_outcome found;
    char *drift_path, *diffusion_form, *solver, *quadrature; /* path, form, solver: plain fits */
    char *lambda_reason;                                     /* why the drift has no lambda */
    bool diagonal, features_complete;                        /* plain fits, as features and tolerance */
    size_t features, rank;
    double tolerance;
    sk_certificate certificate;
    size_t n, points, d;
    char *status, *version; /* status: "done", or how the fit ended */
    sk_options_given options;
    sk_provenance data;
    sk_oddities odd;
    sk_texts quiet;                   /* states without noise of their own */
    sk_texts clock;                   /* states that move with the time: their equations */
    sk_texts bounds;                  /* "x >= 0", of each state of the model that has some */
    size_t order;                     /* 2: states are positions and velocities that were not observed; else 0 */
    size_t absorbed;                  /* steps at rest on a bound at the end of trajectories, left out of the fit */
    size_t sample;                    /* of a stream: steps that kernels were chosen on, */
    size_t left_out;                  /* and those of all that were wild or at rest on a bound */
    sk_texts equation, equation_part; /* a text for each state; of the polynomials of an average alone */
    double equation_part_share;
    double equation_weight; /* of its form among those that the data leave open, which the bands hold; NaN: not known */
    char *diffusion_equation; /* of rates, see rateequation.h */
    double diffusion_equation_share;
    sk_number_lists errors, equation_part_errors; /* standard errors of the coefficients shown, in their order */
    bool bands;                                   /* the model tells how far it can be trusted */
    char *bands_reason;                           /* why it does not, or not wholly */
    double f_sup;                                 /* standard deviations in a simultaneous band of 90 % */
    sk_verdict against_constant;                  /* of the held-out scores: who tells of the gain tells this */
    sk_texts warnings;                            /* sk_warning_of has the code */
    double residual_lag1;
    char *device;                     /* where large work was done; NULL: nobody asked for a device */
    char *verdict, *advice, *pattern; /* of the check at the end; NULL: none was made; advice NULL: there is none */
    sk_texts objections;              /* names of the tests that object */
    size_t phases;
    sk_phase phase[SK_PHASES]; /* plain fits; not read back */
    double seconds;
} sk_record;

/* An empty record: nothing is known. */
void sk_record_init(sk_record *record);
void sk_record_clear(sk_record *record);

void sk_oddities_clear(sk_oddities *odd);

/* A time of the data: as a date where the times were dates (unit: the record's or the summary's time_unit), else as a
 * number. */
enum { SK_RECORD_TIME_SIZE = 40 };
void sk_record_time(const char *unit, double time, char text[SK_RECORD_TIME_SIZE]);

/* Whether all times of the data are dates in this unit: tables that are written then hold dates. */
bool sk_record_has_dates(const char *unit, const sock_data *data);

/* The leading drift and diffusion; NULL: there is none. */
const sk_part *sk_record_drift(const sk_record *record);
const sk_part *sk_record_diffusion(const sk_record *record);

/* The certificate of what was found: that of the one convex problem, or why there is none. */
sock_status sk_record_certify(sock_context *ctx, sk_record *record);

/* What is odd about the data, and warnings of it; wild may be that of no steps. left: they are not in the fit. The
 * sentences of courses are copied. */
sock_status sk_record_odd(sock_context *ctx, sk_record *record, const sock_data *data, const sk_wild *wild, bool left,
                          const sk_courses *courses);

/* Whether the model has bands, or why not. */
sock_status sk_record_tell_bands(sock_context *ctx, const sock_model *model, bool wanted, sk_record *record);
sock_status sk_record_plain_bands(sock_context *ctx, const sock_model *model, const char *reason, sk_record *record);

/* The verdict and the warnings that follow from its numbers. */
sock_status sk_record_warn(sock_context *ctx, sk_record *record);
sock_status sk_record_add_warning(sock_context *ctx, sk_record *record, sk_warning_code code);
bool sk_record_warns(const sk_record *record, sk_warning_code code);

/* Whether wild steps and gaps, of which there were some, are in the fit. */
bool sk_record_kept_wild(const sk_record *record);

/* "37", and "<1" for a share that would be 0: per cent of an average. */
const char *sk_percent(double share, char buffer[16]);

/* ---- Words, recordtext.c ---- */

/* Who is told: after a fit; of a model file (also lambda, rank, the certificate of each part, calibration); a caller of
 * the library, to whom names of verbs of the program say nothing. */
typedef enum sk_listener { SK_LISTENER_FIT, SK_LISTENER_INFO, SK_LISTENER_GUEST } sk_listener;

/* Lines "label  text" with the text in column `width`: what was found, and the verdict. Of a plain fit info has words
 * of its own for the fields. */
void sk_record_write_words(FILE *out, const sk_record *record, int width, sk_listener listener);

/* The line of the data. */
void sk_record_write_data(FILE *out, const sk_record *record, int width);

/* ---- JSON, recordjson.c ---- */

/* The information of a model, and where the time went, apart: it differs from run to run. Freed with sk_free. */
sock_status sk_record_write(sock_context *ctx, const sk_record *record, char **info, char **seconds);

/* From a text of sock_model_info, which is not to be trusted: what is not there or of the wrong kind stays unknown.
 * *record need not be initialised; it must be cleared, on failure too. */
sock_status sk_record_read(sock_context *ctx, const char *info, sk_record *record);

/* The same of a model. */
sock_status sk_record_of_model(sock_context *ctx, const sock_model *model, sk_record *record);

/* The keys that it knows, from 0 on; NULL behind the last. Some come twice. */
const char *sk_record_key(size_t i);

/* Whether the data leave other forms of f open than that of its equation, whose errors know nothing of them. */
bool sk_record_form_is_open(const sk_record *record);

#endif
