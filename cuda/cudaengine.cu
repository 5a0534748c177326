/* cudaengine.cu - engine.h on a card: cuBLAS, cuSOLVER, and a kernel for each kind of element. All in double precision,
 * on one stream, and another for what goes aside. What is asked for is done in order; engine_state waits for it. */
#include "engine.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* A large array for the host, whose pages may be new: several threads take parts of it, each by way of memory that
 * stays where it is, which the card fills five times as fast. */
enum { GETTERS = 8, STAGE = 1 << 22, LARGE = 1 << 26 };

struct engine {
    int number, state;
    char reason[160];
    cudaStream_t stream; /* one of these */
    cudaStream_t streams[2];
    cublasHandle_t blas; /* one of these */
    cublasHandle_t handles[2];
    cudaEvent_t turn;
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    int *info; /* of a factorisation, on the card */
    void *work, *host;
    size_t room, host_room;
    cudaMemPool_t pool; /* NULL: the card has none */
    void *stage[GETTERS];
    cudaStream_t getting[GETTERS];
};

/* ---- Failures ---- */

int engine_fail(engine *e, int state, const char *reason)
{
    if (e->state != SK_DEVICE_DONE) return e->state;
    e->state = state;
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    return state;
}

static bool good(engine *e, cudaError_t error)
{
    if (error == cudaSuccess) return e->state == SK_DEVICE_DONE;
    engine_fail(e, error == cudaErrorMemoryAllocation ? SK_DEVICE_MEMORY : SK_DEVICE_FAILED, cudaGetErrorString(error));
    return false;
}

static bool good(engine *e, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return e->state == SK_DEVICE_DONE;
    engine_fail(e, status == CUBLAS_STATUS_ALLOC_FAILED ? SK_DEVICE_MEMORY : SK_DEVICE_FAILED,
                cublasGetStatusString(status));
    return false;
}

static bool good(engine *e, cusolverStatus_t status)
{
    char text[64];
    if (status == CUSOLVER_STATUS_SUCCESS) return e->state == SK_DEVICE_DONE;
    snprintf(text, sizeof text, "cuSOLVER answers %d", (int)status);
    engine_fail(e, status == CUSOLVER_STATUS_ALLOC_FAILED ? SK_DEVICE_MEMORY : SK_DEVICE_FAILED, text);
    return false;
}

/* A thread of the host has a current card of its own: each operation may come from another thread. */
void engine_begin(engine *e)
{
    e->state = SK_DEVICE_DONE;
    e->reason[0] = 0;
    good(e, cudaSetDevice(e->number));
    cudaGetLastError(); /* what an earlier operation left; errors that stay come back below */
    engine_back(e);
    good(e, cudaStreamSynchronize(e->streams[1]));
    good(e, cudaStreamSynchronize(e->stream));
}

int engine_state(engine *e)
{
    if (e->state == SK_DEVICE_DONE) good(e, cudaStreamSynchronize(e->stream));
    return e->state;
}

int engine_asked(engine *e) { return e->state; }

const char *engine_error(const engine *e) { return e->reason; }

/* ---- Opening ---- */

static void open_pool(engine *e);

static bool open_handles(engine *e)
{
    if (!good(e, cudaSetDevice(e->number))) return false;
    for (int i = 0; i < 2; i++)
        if (!good(e, cudaStreamCreateWithFlags(&e->streams[i], cudaStreamNonBlocking)) ||
            !good(e, cublasCreate(&e->handles[i])) || !good(e, cublasSetStream(e->handles[i], e->streams[i])))
            return false;
    e->stream = e->streams[0];
    e->blas = e->handles[0];
    if (!good(e, cudaEventCreateWithFlags(&e->turn, cudaEventDisableTiming))) return false;
    if (!good(e, cusolverDnCreate(&e->solver)) || !good(e, cusolverDnSetStream(e->solver, e->stream))) return false;
    open_pool(e);
    return good(e, cusolverDnCreateParams(&e->params)) && good(e, cudaMalloc((void **)&e->info, sizeof *e->info));
}

int engine_open(int number, engine **out, char name[32], char about[160], double *memory)
{
    int count = 0;
    size_t free_bytes = 0, all = 0;
    cudaDeviceProp card;
    const cudaError_t found = cudaGetDeviceCount(&count);
    snprintf(name, 32, "cuda:%d", number);
    if (found != cudaSuccess) {
        snprintf(about, 160, "no card: %s", cudaGetErrorString(found));
        return SK_DEVICE_NONE;
    }
    if (number >= count) {
        snprintf(about, 160, "there is no card %d; there are %d, from 0 on", number, count);
        return SK_DEVICE_NONE;
    }
    engine *e = (engine *)calloc(1, sizeof *e);
    if (!e) return SK_DEVICE_NONE;
    e->number = number;
    if (!open_handles(e) || !good(e, cudaMemGetInfo(&free_bytes, &all)) ||
        !good(e, cudaGetDeviceProperties(&card, number))) {
        snprintf(about, 160, "the card %d cannot be used: %s", number, e->reason);
        engine_close(e);
        return SK_DEVICE_NONE;
    }
    snprintf(about, 160, "%s", card.name);
    *memory = (double)free_bytes;
    *out = e;
    return SK_DEVICE_DONE;
}

void engine_close(engine *e)
{
    cudaSetDevice(e->number);
    cudaFree(e->work);
    cudaFree(e->info);
    free(e->host);
    for (size_t i = 0; i < GETTERS; i++) {
        if (e->getting[i]) cudaStreamDestroy(e->getting[i]);
        cudaFreeHost(e->stage[i]);
    }
    if (e->params) cusolverDnDestroyParams(e->params);
    if (e->solver) cusolverDnDestroy(e->solver);
    if (e->turn) cudaEventDestroy(e->turn);
    for (size_t i = 0; i < 2; i++) {
        if (e->handles[i]) cublasDestroy(e->handles[i]);
        if (e->streams[i]) cudaStreamSynchronize(e->streams[i]);
        if (e->streams[i]) cudaStreamDestroy(e->streams[i]);
    }
    if (e->pool) cudaMemPoolDestroy(e->pool);
    free(e);
}

/* ---- Two streams ---- */

static void turn_to(engine *e, int which)
{
    e->stream = e->streams[which];
    e->blas = e->handles[which];
    good(e, cusolverDnSetStream(e->solver, e->stream));
}

static void wait_for(engine *e, int which)
{
    good(e, cudaEventRecord(e->turn, e->streams[which]));
    good(e, cudaStreamWaitEvent(e->streams[1 - which], e->turn, 0));
}

void engine_aside(engine *e)
{
    wait_for(e, 0);
    turn_to(e, 1);
}

void engine_back(engine *e) { turn_to(e, 0); }

void engine_join(engine *e) { wait_for(e, 1); }

/* ---- Memory ---- */

/* What was used goes back to a pool, which keeps up to so much of it for the next operation: new memory of the card and
 * its return take half a millisecond each. */
static const uint64_t most_kept = (uint64_t)4 << 30;

static void open_pool(engine *e)
{
    int there = 0;
    int waits = 0; /* no stream shall wait for memory that the other one gives back */
    uint64_t keep = most_kept;
    cudaMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = e->number;
    if (cudaDeviceGetAttribute(&there, cudaDevAttrMemoryPoolsSupported, e->number) != cudaSuccess || !there) return;
    if (cudaMemPoolCreate(&e->pool, &props) != cudaSuccess ||
        cudaMemPoolSetAttribute(e->pool, cudaMemPoolAttrReleaseThreshold, &keep) != cudaSuccess ||
        cudaMemPoolSetAttribute(e->pool, cudaMemPoolReuseAllowInternalDependencies, &waits) != cudaSuccess) {
        if (e->pool) cudaMemPoolDestroy(e->pool);
        e->pool = NULL;
        cudaGetLastError();
    }
}

/* Bytes that the pool has and nobody uses. */
static double kept_bytes(const engine *e)
{
    uint64_t has = 0, used = 0;
    if (!e->pool || cudaMemPoolGetAttribute(e->pool, cudaMemPoolAttrReservedMemCurrent, &has) != cudaSuccess ||
        cudaMemPoolGetAttribute(e->pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess)
        return 0;
    return (double)has - (double)used;
}

int engine_need(engine *e, double bytes, const char *what)
{
    size_t free_bytes = 0, all = 0;
    char text[160];
    if (!good(e, cudaMemGetInfo(&free_bytes, &all))) return e->state;
    const double own = (double)e->room + kept_bytes(e);
    if (bytes <= (double)free_bytes + own) return e->state;
    snprintf(text, sizeof text, "%s needs %.3g GB of the card, %.3g GB are free", what, 1e-9 * bytes,
             1e-9 * ((double)free_bytes + own));
    return engine_fail(e, SK_DEVICE_MEMORY, text);
}

/* A pool that is in pieces gives back what nobody uses before memory is said to be short. */
void *engine_new(engine *e, size_t bytes)
{
    void *at = NULL;
    const size_t room = bytes ? bytes : 1;
    if (e->state != SK_DEVICE_DONE) return NULL;
    if (!e->pool) return good(e, cudaMalloc(&at, room)) ? at : NULL;
    if (cudaMallocFromPoolAsync(&at, room, e->pool, e->stream) == cudaSuccess) return at;
    cudaGetLastError();
    if (!good(e, cudaStreamSynchronize(e->stream)) || !good(e, cudaMemPoolTrimTo(e->pool, 0))) return NULL;
    return good(e, cudaMallocFromPoolAsync(&at, room, e->pool, e->stream)) ? at : NULL;
}

void engine_free(engine *e, void *at)
{
    if (!at) return;
    if (e->pool)
        cudaFreeAsync(at, e->stream); /* behind all that was asked for */
    else
        cudaFree(at); /* waits for the card */
}

/* The host's memory is pageable and the caller's: a copy has ended when the call returns. */
void engine_put(engine *e, void *to, const void *from, size_t bytes)
{
    if (e->state == SK_DEVICE_DONE && bytes &&
        good(e, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, e->stream)))
        good(e, cudaStreamSynchronize(e->stream));
}

typedef struct getter {
    engine *e;
    size_t which;
    char *to;
    const char *from;
    size_t bytes;
    cudaError_t error;
} getter;

static void *get_part(void *arg)
{
    getter *g = (getter *)arg;
    void *&stage = g->e->stage[g->which];
    cudaStream_t &stream = g->e->getting[g->which];
    g->error = cudaSetDevice(g->e->number);
    if (g->error == cudaSuccess && !stage) g->error = cudaMallocHost(&stage, STAGE);
    if (g->error == cudaSuccess && !stream) g->error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (size_t done = 0, now; g->error == cudaSuccess && done < g->bytes; done += now) {
        now = g->bytes - done < STAGE ? g->bytes - done : STAGE;
        g->error = cudaMemcpyAsync(stage, g->from + done, now, cudaMemcpyDeviceToHost, stream);
        if (g->error == cudaSuccess) g->error = cudaStreamSynchronize(stream);
        if (g->error == cudaSuccess) memcpy(g->to + done, stage, now);
    }
    return NULL;
}

static void get_large(engine *e, char *to, const char *from, size_t bytes)
{
    const size_t each = (bytes / GETTERS + 4095) / 4096 * 4096;
    getter part[GETTERS];
    pthread_t thread[GETTERS];
    bool runs[GETTERS];
    if (!good(e, cudaStreamSynchronize(e->stream))) return;
    for (size_t i = 0; i < GETTERS; i++) {
        const size_t begin = i * each, end = i + 1 < GETTERS ? begin + each : bytes;
        part[i] = {e, i, to + begin, from + begin, end - begin, cudaSuccess};
        runs[i] = pthread_create(&thread[i], NULL, get_part, &part[i]) == 0;
        if (!runs[i]) get_part(&part[i]);
    }
    for (size_t i = 0; i < GETTERS; i++) {
        if (runs[i]) pthread_join(thread[i], NULL);
        good(e, part[i].error);
    }
}

void engine_get(engine *e, void *to, const void *from, size_t bytes)
{
    if (bytes >= LARGE) {
        if (e->state == SK_DEVICE_DONE) get_large(e, (char *)to, (const char *)from, bytes);
        return;
    }

    if (e->state == SK_DEVICE_DONE && bytes &&
        good(e, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, e->stream)))
        good(e, cudaStreamSynchronize(e->stream));
}

void engine_copy(engine *e, void *to, const void *from, size_t bytes)
{
    if (e->state == SK_DEVICE_DONE && bytes)
        good(e, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, e->stream));
}

void engine_zero(engine *e, void *at, size_t bytes)
{
    if (e->state == SK_DEVICE_DONE && bytes) good(e, cudaMemsetAsync(at, 0, bytes, e->stream));
}

/* Work space for cuSOLVER, kept until a larger one is needed. */
static bool make_room(engine *e, size_t bytes, size_t host_bytes)
{
    if (e->state != SK_DEVICE_DONE) return false;
    if (bytes > e->room) {
        good(e, cudaStreamSynchronize(e->stream));
        cudaFree(e->work);
        e->work = NULL;
        e->room = 0;
        if (!good(e, cudaMalloc(&e->work, bytes))) return false;
        e->room = bytes;
    }
    if (host_bytes > e->host_room) {
        free(e->host);
        e->host_room = 0;
        e->host = malloc(host_bytes);
        if (!e->host) return engine_fail(e, SK_DEVICE_MEMORY, "the host has no memory") == SK_DEVICE_DONE;
        e->host_room = host_bytes;
    }
    return true;
}

/* ---- Products ---- */

static cublasOperation_t op(int transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

void engine_gemm(engine *e, int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                 const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    if (e->state == SK_DEVICE_DONE && m && n)
        good(e, cublasDgemm_64(e->blas, op(ta), op(tb), (int64_t)m, (int64_t)n, (int64_t)k, &alpha, a, (int64_t)lda, b,
                               (int64_t)ldb, &beta, c, (int64_t)ldc));
}

void engine_syrk(engine *e, size_t n, size_t k, const double *a, double beta, double *c)
{
    const double one = 1;
    if (e->state == SK_DEVICE_DONE)
        good(e, cublasDsyrk_64(e->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, (int64_t)n, (int64_t)k, &one, a,
                               (int64_t)n, &beta, c, (int64_t)n));
}

double engine_dot(engine *e, size_t n, const double *x, const double *y)
{
    double sum = 0;
    if (e->state == SK_DEVICE_DONE) good(e, cublasDdot_64(e->blas, (int64_t)n, x, 1, y, 1, &sum));
    return sum;
}

void engine_axpy(engine *e, size_t n, double alpha, const double *x, double *y)
{
    if (e->state == SK_DEVICE_DONE) good(e, cublasDaxpy_64(e->blas, (int64_t)n, &alpha, x, 1, y, 1));
}

void engine_scale(engine *e, size_t n, double alpha, double *x)
{
    if (e->state == SK_DEVICE_DONE) good(e, cublasDscal_64(e->blas, (int64_t)n, &alpha, x, 1));
}

/* ---- Factorisations ---- */

/* What the factorisation says: not 0 is an answer, not a crash. */
static void look(engine *e, int state, const char *reason)
{
    int info = 0;
    engine_get(e, &info, e->info, sizeof info);
    if (info != 0) engine_fail(e, state, reason);
}

void engine_eigen(engine *e, size_t n, double *a, double *w)
{
    size_t bytes = 0, host = 0;
    const int64_t order = (int64_t)n;
    if (e->state != SK_DEVICE_DONE ||
        !good(e, cusolverDnXsyevd_bufferSize(e->solver, e->params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER,
                                             order, CUDA_R_64F, a, order, CUDA_R_64F, w, CUDA_R_64F, &bytes, &host)) ||
        !make_room(e, bytes, host))
        return;
    good(e, cusolverDnXsyevd(e->solver, e->params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F,
                             a, order, CUDA_R_64F, w, CUDA_R_64F, e->work, bytes, e->host, host, e->info));
    look(e, SK_DEVICE_FAILED, "an eigendecomposition did not converge");
}

void engine_cholesky(engine *e, size_t n, double *a)
{
    size_t bytes = 0, host = 0;
    const int64_t order = (int64_t)n;
    if (e->state != SK_DEVICE_DONE ||
        !good(e, cusolverDnXpotrf_bufferSize(e->solver, e->params, CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F, a, order,
                                             CUDA_R_64F, &bytes, &host)) ||
        !make_room(e, bytes, host))
        return;
    good(e, cusolverDnXpotrf(e->solver, e->params, CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F, a, order, CUDA_R_64F,
                             e->work, bytes, e->host, host, e->info));
    look(e, SK_DEVICE_NUMERIC, "the matrix is not positive definite");
}

/* X = L^-1 by triangular solves, then X'X, both in strips whose zeros are left out: a sixth of the time of cuSOLVER's
 * inverse. */
void engine_invert(engine *e, size_t n, double *l)
{
    enum { STRIP = 512 };
    const double one = 1;
    double *x = (double *)engine_new(e, n * n * sizeof *x);
    element_args a;
    a.of.matrix = {0, 0, n, x, NULL, NULL, 1, x};
    engine_zero(e, x, n * n * sizeof *x);
    engine_each(e, EACH_SHIFTED, n * n, &a);
    for (size_t at = 0; e->state == SK_DEVICE_DONE && at < n; at += STRIP) {
        const size_t columns = n - at < STRIP ? n - at : STRIP;
        good(e, cublasDtrsm_64(e->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                               (int64_t)(n - at), (int64_t)columns, &one, l + at * (n + 1), (int64_t)n,
                               x + at * (n + 1), (int64_t)n));
    }
    for (size_t at = 0; at < n; at += STRIP) {
        const size_t rows = n - at < STRIP ? n - at : STRIP;
        engine_gemm(e, 1, 0, rows, at + rows, n - at, 1, x + at * (n + 1), n, x + at, n, 0, l + at, n);
    }
    engine_free(e, x);
}

void engine_solve(engine *e, size_t n, size_t m, const double *l, double *b)
{
    if (e->state == SK_DEVICE_DONE)
        good(e, cusolverDnXpotrs(e->solver, e->params, CUBLAS_FILL_MODE_LOWER, (int64_t)n, (int64_t)m, CUDA_R_64F, l,
                                 (int64_t)n, CUDA_R_64F, b, (int64_t)n, e->info));
}

/* ---- Elements ---- */

enum { THREADS = 128 };

#define KERNEL(name, function, member)                                                                                 \
    static __global__ void run_##function(element_args a, size_t count)                                                \
    {                                                                                                                  \
        const size_t step = (size_t)gridDim.x * blockDim.x;                                                            \
        for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) function(&a.of.member, i); \
    }                                                                                                                  \
    static_assert(name < EACH_KINDS, "")
EACH_OF_ALL(KERNEL)
#undef KERNEL

void engine_each(engine *e, int kind, size_t count, const element_args *a)
{
    const size_t wanted = (count + THREADS - 1) / THREADS, most = 1u << 20;
    const unsigned blocks = (unsigned)(wanted < most ? wanted : most);
    if (e->state != SK_DEVICE_DONE || !count) return;
#define KIND(name, function, member)                                                                                   \
    case name: run_##function<<<blocks, THREADS, 0, e->stream>>>(*a, count); break
    switch (kind) {
        EACH_OF_ALL(KIND)
    default: engine_fail(e, SK_DEVICE_FAILED, "no such element"); return;
    }
#undef KIND
    good(e, cudaGetLastError());
}
