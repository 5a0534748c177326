/* tunedtext.h - what a search found, in a few lines: the summary of sock fit, and what sock info says of its model. */
#ifndef CLI_TUNEDTEXT_H
#define CLI_TUNEDTEXT_H

#include "api/record.h"

/* Lines "label  text" with the text in column `width`, from the record of a tuned model; full: also lambda, rank, the
 * certificate of each part, calibration. */
void tuned_print(const sk_record *record, int width, bool full);

/* Bounds of the states, where the model has some. */
void bounds_print(const sk_record *record, int width);

/* Odd values of the data, and all warnings. */
void odd_print(const sk_record *record, int width);

#endif
