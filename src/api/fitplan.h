/* fitplan.h - a fit by a plan: its options, its data. */
#ifndef SK_FITPLAN_H
#define SK_FITPLAN_H

#include "api/fitjob.h"
#include "api/planfile.h"
#include "tune/streamrows.h"

/* The options of a stream by its plan; *out is the caller's. What is given besides must be the same, or say where files
 * lie. */
sock_status sk_plan_options(sock_context *ctx, const sk_plan_file *file, const sock_options *given, sock_options **out);

/* SOCK_EINPUT where the plan is that of other data. */
sock_status sk_plan_check_data(sock_context *ctx, const sk_plan_file *file, const sk_stream *stream);

#endif
