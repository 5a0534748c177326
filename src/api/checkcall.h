/* checkcall.h - the check of a model against data, for the calls of this room. */
#ifndef SK_CHECKCALL_H
#define SK_CHECKCALL_H

#include "api/record.h"
#include "base/options.h"
#include "check/check.h"

/* sk_check within the bounds of the model, without steps at rest on them. */
sock_status sk_check_inside(sock_context *ctx, const sock_model *model, const sock_data *data,
                            const sk_check_spec *spec, sock_checks *out);

/* The quick form, and where it objects the whole check: what that does not see is not said. So the verdict of a fit may
 * say less than `sock check` with the same data, never something that it takes back. */
sock_status sk_check_briefly(sock_context *ctx, const sock_model *model, const sock_data *data,
                             const sk_check_spec *spec, sock_checks *out);

/* What the record of a fit tells of its model; the specification borrows from it. */
void sk_check_by_record(const sk_record *record, size_t d, sk_check_spec *spec);

/* Without the wild steps that a fit leaves out; borrowed. */
void sk_check_without(const sk_wild *wild, sk_check_spec *spec);

/* The verdict, into the record. */
sock_status sk_check_to_record(sock_context *ctx, const sock_checks *checks, sk_record *record);

/* What sock_checks_json writes, without the seconds; NULL: out of memory, or a text that is no UTF-8. */
json_t *sk_checks_object(const sock_checks *checks);

#endif
