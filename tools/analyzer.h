/* analyzer.h - read by tools/check-tidy before every file but those that define these functions: what the analyzer
 * cannot see from another file. A failure returns the status it was given, which is negative; a verb that fails has a
 * code. */
#include "base/base.h"
#include "cli/cli.h"

#define sk_fail(ctx, status, ...) ((void)(sk_fail)(ctx, status, __VA_ARGS__), (status))
#define cli_fail(c, status) ((void)(cli_fail)(c, status), EXIT_FAILED)
#define cli_failure(c, ...) ((void)(cli_failure)(c, __VA_ARGS__), EXIT_FAILED)
#define cli_usage_error(c, ...) ((void)(cli_usage_error)(c, __VA_ARGS__), EXIT_USAGE)
