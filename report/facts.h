/* facts.h - all that a report says beside its figures, gathered once. */
#ifndef REPORT_FACTS_H
#define REPORT_FACTS_H

#include "api/record.h"
#include "figures.h"
#include "page.h"
#include "report.h"

typedef struct rep_facts {
    const sock_model *model;
    const sock_data *data;
    const rep_settings *settings;
    size_t d, seen;          /* states of the model; those that the data have */
    sk_record record;        /* what the fit says of itself */
    json_t *info;            /* of sock_model_info; the evidence's */
    json_t *summary, *terms; /* of sock_data_summary, sock_model_terms */
    int same_data; /* the data are those of the fit, by their hash; of inputs those that it chose may be left */
    int has_check; /* of the data: the model has a diffusion */
    sock_checks check;
    int has_scores; /* of the test data, or, where the truth is known, of the data themselves */
    sock_scores scores;
    int *failed;        /* set to 1 where memory ran out while something was written: the page is then thrown away */
    size_t points;      /* of the data, evenly chosen: where the terms of a polynomial are weighed */
    double *point;      /* points x d, */
    double *a;          /* points x d: a_kk there; NULL: no diffusion, or many states */
    double loose[2];    /* half widths of the bands of f and a over their sizes; NaN: there are none */
    size_t worst[2];    /* of which states these are */
    char time_unit[48]; /* "a year", "1 ms", "a unit of time" */
} rep_facts;

/* From an input that has evidence, which must live as long as the facts. Negative: nothing was made. */
sock_status facts_gather(sock_context *ctx, const fig_input *in, const rep_settings *settings, int *failed,
                         rep_facts *out);
void facts_free(rep_facts *facts);

/* ---- What is written of them, each a piece of HTML ---- */

/* How good the model is, in three answers: looked at when facts are gathered. */
sock_status glance_look(sock_context *ctx, const fig_input *in, rep_facts *facts);
void glance_write(FILE *out, const rep_facts *facts);
const char *glance_class(const rep_facts *facts); /* of the box of the verdict: " objects", ... */
int glance_little(
    const rep_facts *facts); /* clearly better than constants, but by less than could be foretold besides */

void words_verdict(FILE *out, const rep_facts *facts); /* what the check says, and three answers */
void words_logs(FILE *out, const rep_facts *facts);   /* which states are logarithms, and what that makes of the page */
void words_data(FILE *out, const rep_facts *facts);   /* what the data are, in a paragraph */
void words_driven(FILE *out, const rep_facts *facts); /* what drives it, and velocities */
void words_tests(FILE *out, const rep_facts *facts);  /* the tests of the verdict, in a fold */
void words_signs(FILE *out, const rep_facts *facts);  /* what +- means; measurement noise, in a line */
void words_size(FILE *out, const rep_facts *facts);   /* how large the noise is, of few states */
void words_summary(FILE *out, const rep_facts *facts);  /* what was learned and how well it predicts: paragraphs */
void words_warnings(FILE *out, const rep_facts *facts); /* a list, or nothing */
int words_gave_up(const rep_facts *facts);              /* a guard for simplicity gave up a richer model; */
void words_richer(FILE *out, const rep_facts *facts);   /* which, what it scored, and why it was: no full stop */
void card_write(FILE *out, const rep_facts *facts);     /* the model card */
void card_commands(FILE *out, const rep_facts *facts);  /* how to make it again */
void card_options(FILE *out, const rep_settings *s); /* what `sock report` and `sock plot` must be told, for a shell */
void words_trust(FILE *out, const rep_facts *facts, const fig_input *in); /* where the fields can be trusted */
void equation_write(FILE *out, const rep_facts *facts); /* the equations, where the fields are polynomials */
void equation_largest(FILE *out, const rep_facts *facts, const double *sd); /* the largest terms of all, sd: d */
int equation_table(FILE *out, const rep_facts *facts); /* all coefficients; 0 when memory ran out */
void search_table(FILE *out, const rep_facts *facts);  /* the candidates */

#endif
