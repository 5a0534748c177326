/* fuzz_methods.c - any text as a list of methods to compare. Each one that is understood reads back from its own text.
 */
#include "compare/compare.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    cmp_spec *specs = NULL, again;
    size_t count = 0;
    sock_status status = cmp_specs_parse(ctx, text, &specs, &count);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (specs != NULL) && (status < 0 || count >= 1));
    for (size_t i = 0; status >= 0 && i < count; i++) {
        char first[2048], second[2048];
        cmp_spec_format(&specs[i], first, sizeof first);
        FUZZ_CHECK(cmp_spec_parse(ctx, first, &again) >= 0 && again.method == specs[i].method);
        cmp_spec_format(&again, second, sizeof second);
        FUZZ_CHECK(strcmp(first, second) == 0);
    }
    cmp_specs_free(specs);
    free(text);
    return 0;
}
