/* matrix_kernel.c - a matrix-valued kernel of one's own. In a potential the drift is a gradient, and a kernel whose
 * columns are gradients finds no others: K(x, y) = exp(-|u|^2 / 2) (I - u u'), u = x - y. The library has it as
 * curlfree:eta=1; here it is written as a function, and the two agree. */
#include <sock.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { PATHS = 8, POINTS = 16, DIM = 2, PROBES = 25 };

/* Called from several threads at once: it reads its arguments and writes out, nothing else. */
static void gradient_kernel(void *user, size_t d, const double *x, const double *y, double *out)
{
    double square = 0, width = *(const double *)user;
    for (size_t k = 0; k < d; k++) square += (x[k] - y[k]) * (x[k] - y[k]) / (width * width);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            out[k * d + l] = exp(-square / 2) / (width * width) *
                             ((k == l ? 1 : 0) - (x[k] - y[k]) * (x[l] - y[l]) / (width * width));
}

/* Paths in the potential V = (x^2 - 1)^2 / 4 + y^2 / 2 without noise, stepped finely. */
static void make_paths(size_t *length, double *t, double *x)
{
    for (size_t j = 0; j < PATHS; j++) {
        double p = cos((double)j) * 1.5, q = sin((double)j) * 1.5;
        length[j] = POINTS;
        for (size_t i = 0; i < POINTS; i++) {
            t[j * POINTS + i] = 0.1 * (double)i;
            x[(j * POINTS + i) * DIM] = p;
            x[(j * POINTS + i) * DIM + 1] = q;
            for (int s = 0; s < 100; s++) p += 0.001 * (p - p * p * p), q += 0.001 * -q;
        }
    }
}

/* d f_y / d x - d f_x / d y at one point, by central differences. */
static int curl(sock_context *ctx, const sock_model *model, const double *at, double *out)
{
    const double h = 1e-4;
    double x[8] = {at[0] + h, at[1], at[0] - h, at[1], at[0], at[1] + h, at[0], at[1] - h}, f[8];
    if (sock_model_drift(ctx, model, 4, x, f) < 0) return 0;
    *out = (f[1] - f[3]) / (2 * h) - (f[4] - f[6]) / (2 * h);
    return 1;
}

int main(void)
{
    static size_t length[PATHS];
    static double t[PATHS * POINTS], x[PATHS * POINTS * DIM];
    double width = 1, probe[PROBES * DIM], own_f[PROBES * DIM], named_f[PROBES * DIM], worst = 0, largest_curl = 0;
    make_paths(length, t, x);
    for (int i = 0; i < PROBES; i++) probe[2 * i] = 0.5 * (i % 5) - 1, probe[2 * i + 1] = 0.5 * (i / 5) - 1;

    sock_context *ctx = sock_context_new();
    sock_options *opts = ctx ? sock_options_new(ctx) : NULL;
    sock_data *data = NULL;
    sock_model *named = NULL, *own = NULL;
    int good = opts && sock_options_set(ctx, opts, "tune", "no") >= 0 &&
               sock_options_set(ctx, opts, "drift", "curlfree:eta=1") >= 0 &&
               sock_options_set(ctx, opts, "drift-lambda", "1e-7") >= 0 &&
               sock_options_set(ctx, opts, "diffusion", "none") >= 0 && /* the paths have no noise */
               sock_data_from_arrays(ctx, DIM, PATHS, length, t, x, NULL, NULL, opts, &data) >= 0 &&
               sock_fit(ctx, data, opts, &named) >= 0 &&
               sock_options_set_drift_kernel(ctx, opts, gradient_kernel, &width) >= 0 &&
               sock_fit(ctx, data, opts, &own) >= 0 && sock_model_drift(ctx, named, PROBES, probe, named_f) >= 0 &&
               sock_model_drift(ctx, own, PROBES, probe, own_f) >= 0;
    for (int i = 0; good && i < PROBES; i++) {
        double value = 0;
        good = curl(ctx, own, probe + 2 * i, &value);
        if (fabs(value) > largest_curl) largest_curl = fabs(value);
        for (int k = 0; k < DIM; k++) worst = fmax(worst, fabs(own_f[2 * i + k] - named_f[2 * i + k]));
    }
    if (good)
        printf("own kernel against curlfree:eta=1: %.1e apart; largest curl %.1e\n", worst, largest_curl);
    else
        fprintf(stderr, "%s\n", sock_message(ctx));
    good = good && worst < 1e-9 && largest_curl < 1e-6;
    sock_model_free(own);
    sock_model_free(named);
    sock_data_free(data);
    sock_options_free(opts);
    sock_context_free(ctx);
    return good ? 0 : 1;
}
