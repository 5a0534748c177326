/* tunedtext.h - what a search found, in a few lines: the summary of sock fit. */
#ifndef CLI_TUNEDTEXT_H
#define CLI_TUNEDTEXT_H

#include <jansson.h>

/* Lines "label  text" with the text in column `width`, from the information of a tuned model. */
void tuned_print(json_t *info, int width);

#endif
