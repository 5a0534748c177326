/* arrays.c - data from arrays, several realisations of each start, features chosen by hand.
 *
 * The process is dx = -2 (x - 1) dt + 0.2 dW, from four starts with fifty realisations each. The realisations of a
 * start share their times and form a group: averaged, they make the trapezoid rule of the paper a good one. */
#include <sock.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTS = 4, REALISATIONS = 50, PATHS = STARTS * REALISATIONS, POINTS = 21 };

/* A plain generator, so that the example gives the same numbers everywhere. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

int main(void)
{
    static size_t length[PATHS], group[PATHS];
    static double t[PATHS * POINTS], x[PATHS * POINTS];
    const double step = 0.05;
    uint64_t state = 1;
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        group[j] = j / REALISATIONS;
        for (size_t i = 0; i < POINTS; i++) {
            double *now = x + j * POINTS + i;
            t[j * POINTS + i] = step * (double)i;
            *now = i ? now[-1] - 2 * (now[-1] - 1) * step + 0.2 * sqrt(step) * normal(&state) : (double)group[j];
        }
    }

    const char *const names[] = {"level"};
    sock_context *ctx = sock_context_new();
    sock_options *opts = ctx ? sock_options_new(ctx) : NULL;
    sock_data *data = NULL;
    sock_model *model = NULL;
    double at[2] = {0, 2}, f[2] = {0, 0};
    int good = opts && sock_options_set(ctx, opts, "tune", "no") >= 0 &&
               sock_options_set(ctx, opts, "drift", "affine") >= 0 && /* f(x) = w1 x + w0 */
               sock_options_set(ctx, opts, "drift-lambda", "1e-8") >= 0 &&
               sock_options_set(ctx, opts, "quadrature", "trapezoid") >= 0 &&
               sock_data_from_arrays(ctx, 1, PATHS, length, t, x, names, group, opts, &data) >= 0 &&
               sock_fit(ctx, data, opts, &model) >= 0 && sock_model_drift(ctx, model, 2, at, f) >= 0;
    if (good) {
        double slope = (f[1] - f[0]) / 2, zero = -f[0] / slope;
        printf("%zu paths in %zu groups, %zu intervals\n", sock_data_trajectories(data), sock_data_groups(data),
               sock_data_intervals(data));
        printf("d%s = %.3f (%s - %.3f) dt + ...; the truth: -2 (level - 1)\n", names[0], slope, names[0], zero);
        good = fabs(slope + 2) < 0.2 && fabs(zero - 1) < 0.05;
    } else {
        fprintf(stderr, "%s\n", sock_message(ctx));
    }
    sock_model_free(model);
    sock_data_free(data);
    sock_options_free(opts);
    sock_context_free(ctx);
    return good ? 0 : 1;
}
