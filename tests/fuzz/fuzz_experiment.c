/* fuzz_experiment.c - the texts that an experiment reads: a truth file ({...}), or else a table of results to go on
 * with. A truth that is taken evaluates; a table that is taken has rows as long as its header. */
#include "experiments/resultrows.h"
#include "fuzz.h"
#include "systems/systems.h"

static void try_truth(const char *text, size_t size)
{
    sock_context *ctx = fuzz_context();
    sys_instance *instance = NULL;
    sock_model *truth = NULL;
    sock_status status = sys_parse(ctx, "truth.json", text, size, &instance);
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (instance != NULL));
    if (instance) {
        double x[SYS_MAX_DIM] = {0.5, 0.25}, f[SYS_MAX_DIM], a[SYS_MAX_DIM * SYS_MAX_DIM];
        FUZZ_CHECK(sys_truth(ctx, instance, &truth) >= 0);
        FUZZ_CHECK(sock_model_drift(ctx, truth, 1, x, f) >= 0 && sock_model_diffusion(ctx, truth, 1, x, a) >= 0);
    }
    sock_model_free(truth);
    sys_free(instance);
}

static void try_table(char *text)
{
    static const char *const names[] = {"set", "preset", "seed", "P"};
    json_t *columns = exp_columns(4, names), *rows = NULL;
    (void)exp_is_named(text, "gbm");
    if (exp_rows_parse(text, columns, json_array_size(columns), NULL, &rows) == EXP_READ_DONE)
        for (size_t i = 0; i < json_array_size(rows); i++)
            FUZZ_CHECK(json_array_size(json_array_get(rows, i)) == json_array_size(columns));
    json_decref(rows);
    json_decref(columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    if (text[0] == '{')
        try_truth(text, size);
    else
        try_table(text);
    free(text);
    return 0;
}
