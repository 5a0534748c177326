/* fuzz_npy.c - any bytes as a NumPy file. */
#include "data/readers.h"
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static sock_options *opts;
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sock_data *data = NULL;
    if (!opts) {
        opts = sock_options_new(ctx);
        FUZZ_CHECK(opts && sock_options_set(ctx, opts, "dt", "0.25") == SOCK_OK);
    }
    sock_status status = sk_npy_parse(ctx, "fuzz.npy", text, size, opts, &data);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (data != NULL));
    if (data) fuzz_check_data(ctx, data);
    sock_data_free(data);
    free(text);
    return 0;
}
