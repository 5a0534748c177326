/* options.h - the one table of options: key, type, default, what is allowed, help. The C API, the command line and the
 * documentation are made from it. A new parameter is a new row in options.c. */
#ifndef SK_OPTIONS_H
#define SK_OPTIONS_H

#include "base.h"

/* The value in force. The key must be in the table (asserted): a typing error in our own code, not the user's.
 * opts may be NULL: all defaults. */
const char *sk_option_text(const sock_options *opts, const char *key);
double sk_option_number(const sock_options *opts, const char *key); /* NaN for "auto" */
size_t sk_option_count(const sock_options *opts, const char *key);  /* 0 for "auto" */
bool sk_option_flag(const sock_options *opts, const char *key);
bool sk_option_is_set(const sock_options *opts, const char *key); /* the user gave it */

/* Of all that is set; freed with sock_options_free. */
sock_status sk_options_copy(sock_context *ctx, const sock_options *opts, sock_options **out);

/* The user's own drift kernel, or NULL. */
sock_matrix_kernel_fn sk_option_drift_kernel(const sock_options *opts, void **user);

/* The user's validation data, or NULL. */
const sock_data *sk_option_validation(const sock_options *opts);

#endif
