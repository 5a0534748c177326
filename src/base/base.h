/* base.h - what every room stands on: failures with a message, checked allocation, progress and cancellation,
 * parallel loops. Nothing here knows of matrices or of SDEs. */
#ifndef SK_BASE_H
#define SK_BASE_H

#include "sock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define SK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SK_PRINTF(fmt, args)
#endif

/* Returns from the calling function when expr failed (negative status). */
#define SK_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        sock_status sk_try_status_ = (expr);                                                                           \
        if (sk_try_status_ < 0) return sk_try_status_;                                                                 \
    } while (0)

/* Inside a function with `sock_status status` and a label `out`: go there when expr failed. */
#define SK_GO(expr)                                                                                                    \
    do {                                                                                                               \
        status = (expr);                                                                                               \
        if (status < 0) goto out;                                                                                      \
    } while (0)

#define SK_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SK_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- Failure ---- */

/* Records the message in the context and returns status, so that `return sk_fail(ctx, SOCK_EINPUT, "...")` reads
 * well. The first failure of a call wins, and wins over a caveat (positive status); safe from worker threads. */
sock_status sk_fail(sock_context *ctx, sock_status status, const char *format, ...) SK_PRINTF(3, 4);

/* Every public function starts with it: the message of an earlier call is gone. */
void sk_begin(sock_context *ctx);

/* ---- Memory ---- */

/* count * size bytes, 64-byte aligned, zeroed; the product is checked. NULL with the failure recorded. A count of 0
 * gives a valid pointer. Freed with sk_free (NULL is fine). */
void *sk_alloc(sock_context *ctx, size_t count, size_t size);
double *sk_doubles(sock_context *ctx, size_t rows, size_t cols);

/* The same, not zeroed: for large arrays whose every number is written before it is read. */
double *sk_doubles_unset(sock_context *ctx, size_t rows, size_t cols);
void sk_free(void *pointer);
char *sk_strdup(sock_context *ctx, const char *text);
char *sk_format(sock_context *ctx, const char *format, ...) SK_PRINTF(2, 3);

/* Grows *array (of *capacity elements of the given size) to hold at least `needed`; doubles. */
sock_status sk_grow(sock_context *ctx, void *array, size_t *capacity, size_t needed, size_t size);

/* *out = a * b, or SOCK_ENOMEM when it does not fit in size_t. */
sock_status sk_product(sock_context *ctx, size_t a, size_t b, size_t *out);

/* Bytes that this process may still take: what the machine has to give without swapping, and no more than the limits of
 * its control groups (versions 1 and 2) and of its address space leave. root: "" but in tests, where the files of the
 * system lie in a folder. */
double sk_available_memory(const char *root);

/* Bytes that this process may hold by its control groups: what it holds and nine tenths of what they leave; 0: they
 * have no limit. */
double sk_group_memory(const char *root);

/* Bytes of this process that are in memory now, all its libraries and threads together; and what the allocator has
 * handed out (0: it does not say), part of which nobody has touched yet. */
double sk_resident_memory(const char *root);
double sk_handed_out_memory(void);

/* How many of the threads that are wanted find room for what BLAS takes for each of them, where so many bytes of
 * addresses are left; and where those of this process are. At least 1. */
int sk_threads_within(double left, int wanted);
int sk_affordable_threads(int wanted);

/* SOCK_ENOMEM when `bytes` is more than the memory limit, naming `what` and the way out. */
sock_status sk_memory_check(sock_context *ctx, double bytes, const char *what, const char *way_out);

/* SOCK_ENOMEM when `bytes` cannot be had at this moment; they are given back at once. Called before the JSON library
 * reads or makes a text: it does not bear a failed allocation (its parser drops a
 * letter, its tables break), and its small pieces come out of what was just seen to be free. */
sock_status sk_reserve(sock_context *ctx, size_t bytes);
enum { SK_JSON_GROWTH = 48, SK_JSON_SMALL = 1 << 20 }; /* bytes for each byte of text; a text of our own making */

/* For tests: the k-th allocation from now on fails (1 = the next), and all after it; 0 = none fails. */
void sk_fail_allocation(sock_context *ctx, long k);
void sk_fail_one_allocation(sock_context *ctx, long k); /* the k-th alone */
long sk_allocations(const sock_context *ctx);

/* ---- Progress ---- */

bool sk_cancelled(const sock_context *ctx);

/* Tells the monitor and answers SOCK_ECANCELLED when the work is to stop. The monitor is called from the thread that
 * called the library alone; on the other threads of a loop this looks at the flag. fraction: share of the whole work
 * done, or -1 for a piece of work inside it. */
sock_status sk_progress(sock_context *ctx, const char *stage, double fraction);

/* Monotonic seconds. */
double sk_seconds(void);

/* The median of n >= 1 numbers, which are reordered; O(n). */
double sk_median(size_t n, double *a);

/* The k-th smallest (k < n, from 0) of n numbers, which are reordered; O(n). */
double sk_select(size_t n, double *a, size_t k);

/* ---- Parallel loops ---- */

/* Handles [begin, end); worker < sk_workers(ctx) tells which private work space to use. */
typedef sock_status (*sk_range_fn)(void *arg, size_t begin, size_t end, int worker);

/* Cuts [0, count) into pieces of `grain` and hands them to the context's threads as they get free. Inside a worker it
 * runs on that worker alone, and BLAS there uses one thread. Answers the first failure, and stops on cancellation. */
sock_status sk_parallel_for(sock_context *ctx, size_t count, size_t grain, sk_range_fn fn, void *arg);
int sk_workers(const sock_context *ctx);
bool sk_in_worker(void);

/* From now on the calling thread works as one of a loop's does, alone, or no longer so; answers what was before. What
 * it computes is then the same for any number of threads. */
bool sk_work_alone(bool alone);

/* Held while a block is added to sums that several threads share; not while anything is computed. */
void sk_sums_lock(sock_context *ctx);
void sk_sums_unlock(sock_context *ctx);
bool sk_on_callers_thread(void); /* also inside a loop: the calling thread takes its share of the work */

/* ---- Random numbers: Philox4x64-10, counter based ---- */

typedef struct sk_key {
    uint64_t seed, purpose;
} sk_key;

/* What a stream is for: two purposes never share numbers. Never renumber. */
enum {
    SK_PURPOSE_SPLIT = 1,
    SK_PURPOSE_FOURIER = 2,
    SK_PURPOSE_LANDMARKS = 3,
    SK_PURPOSE_SIMULATE = 4,
    SK_PURPOSE_SYSTEM = 5,
    SK_PURPOSE_NEURAL = 7, /* 6 was never used */
    SK_PURPOSE_CHECK = 8,
    SK_PURPOSE_OBSERVE = 9,
    SK_PURPOSE_DRAW = 10,
    SK_PURPOSE_EXPLAIN = 11,
    SK_PURPOSE_SPEED = 12,
    SK_PURPOSE_DEVICE = 13,
    SK_PURPOSE_TEST = 99 /* for the tests */
};

void sk_philox(sk_key key, const uint64_t counter[4], uint64_t out[4]);

/* Numbers first, first + 1, ..., first + count - 1 of the stream (key, a, b): any part can be made alone. */
void sk_uniforms(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out); /* in (0, 1) */
void sk_normals(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out);  /* N(0, 1) */

/* The same normal numbers to rounding (bulk mathematics), several times faster. A number does not depend on which part
 * of the stream it is made with. */
void sk_normals_bulk(sk_key key, uint64_t a, uint64_t b, uint64_t first, size_t count, double *out);

double sk_normal_quantile(double p); /* of N(0, 1); 0 < p < 1 */

/* A permutation of 0 .. count-1 (Fisher-Yates on the stream (key, a, b)). */
void sk_shuffle(sk_key key, uint64_t a, uint64_t b, size_t count, size_t *out);

/* ---- Bulk mathematics (libmvec where the processor has it, at most 4 ulp) ---- */

void sk_vexp(size_t n, const double *x, double *y); /* y may be x */
void sk_vlog(size_t n, const double *x, double *y);
void sk_vcos(size_t n, const double *x, double *y);
void sk_vsin(size_t n, const double *x, double *y);

/* ---- Numbers as text, in any locale ---- */

/* The longest number at text; *end behind it (text itself when there is none). Accepts what strtod does in the C
 * locale, except hexadecimal, infinities and NaN. */
double sk_parse_double(const char *text, const char **end);

/* With as few significant digits, 17 at most, as read back the same number (nan and inf as such); buffer of at
 * least 32. Returns its length. */
size_t sk_print_double(char *buffer, double value);

/* The number of the fewest decimal digits that lies within reach of the middle (0 has none), of several the nearest. */
double sk_roundest(double middle, double reach);

/* How many decimal digits the value needs, without zeros at either end: 0 for 0, 1 for 300, 17 at most. */
int sk_decimal_digits(double value);

/* ---- Hash (FNV-1a, 64 bit), for provenance ---- */

uint64_t sk_hash(uint64_t seed, const void *bytes, size_t count);
#define SK_HASH_START 0xcbf29ce484222325u

#endif
