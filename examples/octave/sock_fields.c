/* sock_fields.c - [f, a] = sock_fields (model, x): drift and diffusion of a model file, for Octave and MATLAB.
 *
 * x: n x d, one point a row. f: n x d; a: n x d x d, empty for a model of the drift alone.
 *
 *     mkoctfile --mex $(pkg-config --cflags sock) sock_fields.c $(pkg-config --libs sock)      (Octave)
 *     mex sock_fields.c -lsock                                                                 (MATLAB) */
#include <mex.h>
#include <sock.h>
#include <stdlib.h>

/* Arrays here are column by column, in C row by row. */
static void put_columns(const double *from, size_t n, size_t width, double *to)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++) to[k * n + i] = from[i * width + k];
}

/* Frees what is ours before mexErrMsgTxt jumps away; its text must live on. */
static void refuse(sock_context *ctx, sock_model *model, const char *otherwise)
{
    static char said[1024];
    size_t i = 0;
    const char *text = otherwise ? otherwise : sock_message(ctx);
    for (; text[i] && i + 1 < sizeof said; i++) said[i] = text[i];
    said[i] = 0;
    sock_model_free(model);
    sock_context_free(ctx);
    mexErrMsgTxt(said);
}

static void evaluate(sock_context *ctx, sock_model *model, const mxArray *points, int outputs, mxArray **out)
{
    const size_t d = sock_model_dim(model), n = mxGetM(points), square = sock_model_has_diffusion(model) ? d * d : 0;
    const mwSize shape[] = {n, d, d}, none[] = {0, 0};
    if (mxGetN(points) != d) refuse(ctx, model, "sock_fields: x needs a column for each state of the model");
    double *x = mxMalloc(sizeof(double) * (n * d + 1)), *f = mxMalloc(sizeof(double) * (n * d + 1)),
           *a = mxMalloc(sizeof(double) * (n * square + 1));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) x[i * d + k] = mxGetPr(points)[k * n + i];
    if (sock_model_evaluate_at(ctx, model, n, x, NULL, f, square ? a : NULL) < 0) refuse(ctx, model, NULL);
    out[0] = mxCreateDoubleMatrix(n, d, mxREAL);
    put_columns(f, n, d, mxGetPr(out[0]));
    if (outputs > 1) out[1] = mxCreateNumericArray(square ? 3 : 2, square ? shape : none, mxDOUBLE_CLASS, mxREAL);
    if (outputs > 1) put_columns(a, n, square, mxGetPr(out[1])); /* a is symmetric: either order of k and l */
    mxFree(x), mxFree(f), mxFree(a);
}

void mexFunction(int outputs, mxArray *out[], int inputs, const mxArray *in[])
{
    sock_context *ctx;
    sock_model *model = NULL;
    if (inputs != 2 || !mxIsChar(in[0]) || !mxIsDouble(in[1]))
        mexErrMsgTxt("usage: [f, a] = sock_fields (model, x), the name of a model file and points, one a row");
    ctx = sock_context_new();
    if (!ctx) mexErrMsgTxt("sock_fields: out of memory");
    char *path = mxArrayToString(in[0]);
    if (sock_model_load(ctx, path, &model) < 0) refuse(ctx, model, NULL);
    mxFree(path);
    evaluate(ctx, model, in[1], outputs, out);
    sock_model_free(model);
    sock_context_free(ctx);
}
