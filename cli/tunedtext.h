/* tunedtext.h - what a search found, in a few lines: the summary of sock fit, and what sock info says of its model. */
#ifndef CLI_TUNEDTEXT_H
#define CLI_TUNEDTEXT_H

#include <jansson.h>
#include <stdbool.h>

/* Lines "label  text" with the text in column `width`, from the information of a tuned model; full: also lambda, rank,
 * the certificate of each part, calibration. */
void tuned_print(json_t *info, int width, bool full);

#endif
