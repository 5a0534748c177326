/* inputvalues.h - values of a model's inputs from the command line: --input-value u=1.5,dose=0, and tables of them. */
#ifndef SOCK_INPUTVALUES_H
#define SOCK_INPUTVALUES_H

#include "cli.h"

/* Values of some of the inputs; value[k] is NaN where none was given. */
typedef struct input_values {
    size_t count, given;
    double *value; /* freed by input_values_clear */
} input_values;

/* From the text of --input-value, or NULL: none. Answers a negative number when it is good, else the exit code. */
int input_values_read(const cli *c, const sock_model *model, const char *text, input_values *out);
void input_values_clear(input_values *values);

/* An exit code that names the inputs without a value, and what would give them; a negative number where all have one.
 * with_time: the time needs one too. */
int input_values_check(const cli *c, const sock_model *model, const input_values *values, bool with_time,
                       const char *way_out);

#endif
