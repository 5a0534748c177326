/* fit_csv.c - from a CSV file to a saved model: read, fit, look, save, load.
 *
 *     cc fit_csv.c $(pkg-config --cflags --libs sock) && ./a.out data/doublewell.csv */
#include <sock.h>

#include <stdio.h>
#include <string.h>

/* Every call answers a status: negative failed, positive has a caveat. In both cases the message says more. */
static int report(sock_context *ctx, sock_status status)
{
    if (status != SOCK_OK) fprintf(stderr, "%s: %s\n", sock_status_name(status), sock_message(ctx));
    return status >= 0;
}

int main(int count, char **arguments)
{
    const char *file = count > 1 ? arguments[1] : "data/doublewell.csv";
    const char *target = count > 2 ? arguments[2] : "doublewell.sock";
    sock_context *ctx = sock_context_new();
    sock_options *opts = ctx ? sock_options_new(ctx) : NULL;
    sock_data *data = NULL;
    sock_model *model = NULL, *again = NULL;
    char *info = NULL;
    double x[5] = {-1.5, -0.75, 0, 0.75, 1.5}, f[5], g[5];
    int good = opts != NULL;

    /* Options have the names of the command line. What is not set has a default, or comes from the data. */
    good = good && report(ctx, sock_options_set(ctx, opts, "tune", "no"));
    good = good && report(ctx, sock_options_set(ctx, opts, "drift", "poly:degree=3"));
    good = good && report(ctx, sock_data_read(ctx, file, opts, &data));
    if (good) printf("%zu trajectories, %zu intervals\n", sock_data_trajectories(data), sock_data_intervals(data));

    good = good && report(ctx, sock_fit(ctx, data, opts, &model));
    good = good && report(ctx, sock_model_drift(ctx, model, 5, x, f));
    for (int i = 0; good && i < 5; i++) printf("f(%5.2f) = %8.4f\n", x[i], f[i]);
    good = good && report(ctx, sock_model_info(ctx, model, &info));
    if (good) printf("%s\n", info);

    /* The file holds everything: what is loaded gives the same numbers, to the last bit. */
    good = good && report(ctx, sock_model_save(ctx, model, target));
    good = good && report(ctx, sock_model_load(ctx, target, &again));
    good = good && report(ctx, sock_model_drift(ctx, again, 5, x, g));
    good = good && memcmp(f, g, sizeof f) == 0;

    sock_string_free(info);
    sock_model_free(again);
    sock_model_free(model);
    sock_data_free(data);
    sock_options_free(opts);
    sock_context_free(ctx);
    return good ? 0 : 1;
}
