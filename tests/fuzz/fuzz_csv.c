/* fuzz_csv.c - any bytes as a CSV file: a data set that keeps its laws, or a refusal with a reason. A first line of the
 * form #key=value (one or more) sets options, so that the inputs reach named columns and groups. */
#include "data/readers.h"
#include "fuzz_data.h"

/* Takes #key=value lines from the front; answers the rest. */
static char *take_options(sock_context *ctx, char *text, sock_options *opts)
{
    while (*text == '#') {
        char *end = strchr(text, '\n'), *equals = strchr(text, '=');
        if (!end || !equals || equals > end) break;
        *end = *equals = 0;
        (void)sock_options_set(ctx, opts, text + 1, equals + 1);
        text = end + 1;
    }
    sk_begin(ctx);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sock_context *ctx = fuzz_context();
    char *text = fuzz_text(bytes, size);
    sock_options *opts = text[0] == '#' ? sock_options_new(ctx) : NULL;
    char *rest = opts ? take_options(ctx, text, opts) : text;
    sock_data *data = NULL;
    sock_status status = sk_csv_parse(ctx, "fuzz.csv", rest, size - (size_t)(rest - text), opts, &data);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (data != NULL));
    if (data) fuzz_check_data(ctx, data);
    sock_data_free(data);
    sock_options_free(opts);
    free(text);
    return 0;
}
