/* fuzz_points.c - any bytes as a CSV file of points of the state space, for a model with a state that is a logarithm.
 * What is taken is finite. */
#include "data/readers.h"
#include "fuzz.h"

#include <math.h>

enum { D = 3 };
static const char *const names[D] = {"x", "log(y)", "a,b"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    double *x = NULL;
    size_t count = 0;
    const sock_status status = sk_points_parse(ctx, "fuzz.csv", text, size, D, names, &count, &x);
    fuzz_check_refusal(ctx, status);
    for (size_t i = 0; status >= 0 && i < count * D; i++) FUZZ_CHECK(isfinite(x[i]));
    if (status >= 0) sk_free(x);
    free(text);
    return 0;
}
