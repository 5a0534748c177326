/* planfile.h - the plan of a stream as a file: JSON, by tables of keys as the record has them. */
#ifndef SK_PLANFILE_H
#define SK_PLANFILE_H

#include "api/record.h"
#include "tune/plan.h"

typedef struct sk_plan_file {
    char *path;
    sk_options_given options; /* of the fit */
    sk_plan plan;
} sk_plan_file;

sock_status sk_plan_write(sock_context *ctx, const sk_plan_file *file);

/* Trusts nothing: what is missing, of the wrong kind or beyond its limits is SOCK_EINPUT with the line and the key. */
sock_status sk_plan_read(sock_context *ctx, const char *path, sk_plan_file *out);

/* The same of the bytes of a file, which `path` names. */
sock_status sk_plan_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_plan_file *out);

void sk_plan_file_clear(sk_plan_file *file);

#endif
