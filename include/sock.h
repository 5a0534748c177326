/* sock.h - learn a stochastic differential equation dx = f(x) dt + sigma(x) dW from trajectories.
 *
 * The life of a program that uses the library:
 *
 *     sock_context *ctx = sock_context_new();
 *     sock_options *opts = sock_options_new(ctx);
 *     sock_data *data = NULL;
 *     sock_model *model = NULL;
 *     if (sock_data_read(ctx, "train.csv", opts, &data) < 0 || sock_fit(ctx, data, opts, &model) < 0)
 *         fprintf(stderr, "%s\n", sock_message(ctx));
 *     sock_model_save(ctx, model, "model.sock");
 *     sock_model_free(model); sock_data_free(data); sock_options_free(opts); sock_context_free(ctx);
 *
 * Rules that hold everywhere:
 *  - A function that can fail returns a sock_status. Negative: it failed, sock_message() says why, and nothing
 *    was made: pointers for results are untouched (an array of the caller's may hold part of the numbers when the
 *    work was interrupted). Zero: done. Positive: done and usable, with a caveat that
 *    sock_message() states. The two that return a new object, sock_context_new() and sock_options_new(), return
 *    NULL when out of memory.
 *  - Inputs are only read, or copied; nothing returned points into an input.
 *  - Every *_free() accepts NULL.
 *  - Arrays are row-major doubles: n points of dimension d are n*d numbers, point after point.
 *  - A context serves one thread at a time (except sock_cancel). Data and models do not change once made and
 *    may be used from many threads, each with a context of its own.
 *
 * The header is valid C99 and C++17. */
#ifndef SOCK_H
#define SOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SOCK_API __attribute__((visibility("default")))
#else
#define SOCK_API
#endif

/* ---- Version ------------------------------------------------------------------------------------------- */

#define SOCK_VERSION "0.1.0"

/* The version of the library that is linked, as "major.minor.patch". Static storage. */
SOCK_API const char *sock_version(void);

/* The kind of processor that OpenBLAS computes for, such as "SkylakeX"; "" with another BLAS. Static storage, as below.
 */
SOCK_API const char *sock_blas_core(void);

/* Where OpenBLAS does not know this processor and is several times slower than it could be: what OPENBLAS_CORETYPE
 * should be, before the library is loaded; else NULL. And that in a sentence, or "". Nothing is printed by itself. */
SOCK_API const char *sock_blas_advice(void);
SOCK_API const char *sock_blas_remark(void);

/* ---- Status -------------------------------------------------------------------------------------------- */

/* One list makes the enumeration and the texts: X(name, value, text). */
#define SOCK_STATUS_LIST(X)                                                                                            \
    X(SOCK_OK, 0, "done")                                                                                              \
    X(SOCK_NOT_CONVERGED, 1, "stopped before the tolerance was reached; the result is usable, its gap is stated")      \
    X(SOCK_LIMITED, 2, "done, with part of the work left out for the given budget")                                    \
    X(SOCK_PARTIAL, 3, "done, but some of the results could not be computed and are marked so")                        \
    X(SOCK_EINPUT, -1, "bad input data")                                                                               \
    X(SOCK_EUSAGE, -2, "wrong argument or option")                                                                     \
    X(SOCK_ENOMEM, -3, "out of memory, or the work would not fit in memory")                                           \
    X(SOCK_EIO, -4, "a file could not be read or written")                                                             \
    X(SOCK_ENUMERIC, -5, "the numbers do not allow the computation")                                                   \
    X(SOCK_ECANCELLED, -6, "interrupted")

typedef enum sock_status {
#define SOCK_STATUS_ENUM(name, value, text) name = value,
    SOCK_STATUS_LIST(SOCK_STATUS_ENUM)
#undef SOCK_STATUS_ENUM
        SOCK_STATUS_FORCE_INT_ = 0x7fffffff
} sock_status;

/* "SOCK_OK", ... and what it means in a sentence. Static storage; "unknown status" for other numbers. */
SOCK_API const char *sock_status_name(sock_status status);
SOCK_API const char *sock_status_text(sock_status status);

/* ---- Context ------------------------------------------------------------------------------------------- */

/* Threads, progress, cancellation and the last message. No globals stand behind it. */
typedef struct sock_context sock_context;

/* NULL when out of memory. Threads: the number of processors the process may use. */
SOCK_API sock_context *sock_context_new(void);
SOCK_API void sock_context_free(sock_context *ctx);

/* The message of the last call that failed or had a caveat; "" when there was none. Owned by the context. */
SOCK_API const char *sock_message(const sock_context *ctx);

/* 1 <= threads <= 1024. Results do not depend on it beyond rounding; simulated paths do not depend on it at all. Fewer
 * are used where a limit of the address space (ulimit -v) leaves no room for more. */
SOCK_API sock_status sock_set_threads(sock_context *ctx, int threads);
SOCK_API int sock_threads(const sock_context *ctx);

/* Where large sums, convex problems, exact drifts and simulations are done: "cpu" (the default), "auto" (a GPU where a
 * plugin and a card are found and the work pays, else the processor), "cuda" or "cuda:1" (that card for all that it can
 * do; SOCK_EUSAGE with the reason where there is none). Of the calls with this context; the option device of a fit does
 * the same (docs/scale.md). What a device cannot do, or has no memory for, is done by the processor. */
SOCK_API sock_status sock_set_device(sock_context *ctx, const char *device);

/* Most bytes that the process may use, all its libraries together. Work that would need more is refused before it
 * starts where that is known (the message says how much in all), else where it asks for more: SOCK_ENOMEM. 0 (the
 * default): what the machine has free. */
SOCK_API sock_status sock_set_memory_limit(sock_context *ctx, size_t bytes);

/* Called now and then from the thread that called the library, with the stage's name and the share done
 * (0 to 1, or -1 when unknown). A return value other than 0 cancels the work. NULL: none. */
typedef int (*sock_monitor_fn)(void *user, const char *stage, double fraction);
SOCK_API void sock_set_monitor(sock_context *ctx, sock_monitor_fn monitor, void *user);

/* Asks the running call to stop soon with SOCK_ECANCELLED. Safe from another thread and from a signal handler. */
SOCK_API void sock_cancel(sock_context *ctx);

/* Takes a sock_cancel() back, so that the context can be used again. */
SOCK_API void sock_cancel_reset(sock_context *ctx);

/* Writes a file whole or not at all (temporary file beside it, fsync, rename). "-": standard output. */
SOCK_API sock_status sock_write_file(sock_context *ctx, const char *path, const void *bytes, size_t size);

/* Frees a string that the library returned. */
SOCK_API void sock_string_free(char *text);

/* ---- Options ------------------------------------------------------------------------------------------- */

/* Options are set by text key and text value; one table defines them (key, type, default, bounds, help). The
 * command line writes the same keys as --key value. */
typedef struct sock_options sock_options;

SOCK_API sock_options *sock_options_new(sock_context *ctx);
SOCK_API void sock_options_free(sock_options *opts);

/* SOCK_EUSAGE with the allowed values when the key is unknown or the value does not fit. */
SOCK_API sock_status sock_options_set(sock_context *ctx, sock_options *opts, const char *key, const char *value);

/* The value in force as text; NULL for an unknown key. Owned by the options, until the next set. */
SOCK_API const char *sock_options_get(const sock_options *opts, const char *key);

/* The table itself, row by row; index from 0 to sock_option_count() - 1. Static storage. */
typedef struct sock_option_info {
    const char *key, *type, *fallback, *allowed, *help;
} sock_option_info;
SOCK_API size_t sock_option_count(void);
SOCK_API sock_option_info sock_option_describe(size_t index);

/* ---- Data ---------------------------------------------------------------------------------------------- */

/* Trajectories, sorted in time, with state names and groups. A group holds realisations that share their start
 * and their times; it is averaged by the quadrature rules of the paper. */
typedef struct sock_data sock_data;

/* Reads a CSV (long form, with a header), when the name ends in .npy an array of shape (paths, times, d), or a folder
 * of arrays (docs/scale.md).
 * Options used: id, time, state, input, time-dependent, group, grouping, dt, missing, every. The message of a
 * failure names file, line and column. */
SOCK_API sock_status sock_data_read(sock_context *ctx, const char *path, const sock_options *opts, sock_data **out);

/* Several files, of any of these forms, as one data set with the columns of the first. Names of trajectories and groups
 * are a file's own, or with the option files = joined hold for all: then a trajectory may go on in another file.
 * SOCK_EUSAGE for a file that is given twice. */
SOCK_API sock_status sock_data_read_files(sock_context *ctx, size_t count, const char *const *paths,
                                          const sock_options *opts, sock_data **out);

/* Writes the files, one after the other, as a folder of arrays, whole or not at all; single: states with 32 bits. Only
 * one of the files is in memory at a time, but for files = joined, and of a CSV file of more than 16 MB only a slice:
 * its trajectories must then come one after the other, each in time (SOCK_EINPUT), and its first slice decides which
 * columns are states where none are named. One with named groups, or in wide form, is read whole. */
SOCK_API sock_status sock_data_convert(sock_context *ctx, size_t count, const char *const *paths,
                                       const sock_options *opts, int single, const char *folder);

/* From arrays: trajectory j has length[j] points; t and x hold all points, trajectory after trajectory. NaN in x
 * marks a missing point. names: d state names or NULL (x0, x1, ...); group: a label per trajectory, or NULL for the
 * default grouping (same start and same times). Columns that the option input names are inputs, the others states. */
SOCK_API sock_status sock_data_from_arrays(sock_context *ctx, size_t d, size_t trajectories, const size_t *length,
                                           const double *t, const double *x, const char *const *names,
                                           const size_t *group, const sock_options *opts, sock_data **out);

/* The same with a name for each trajectory, which messages, files and sock_data_id then tell; ids NULL: 0, 1, ... */
SOCK_API sock_status sock_data_from_named_arrays(sock_context *ctx, size_t d, size_t trajectories,
                                                 const char *const *ids, const size_t *length, const double *t,
                                                 const double *x, const char *const *names, const size_t *group,
                                                 const sock_options *opts, sock_data **out);
SOCK_API void sock_data_free(sock_data *data);

SOCK_API size_t sock_data_dim(const sock_data *data);
SOCK_API size_t sock_data_trajectories(const sock_data *data);
SOCK_API size_t sock_data_groups(const sock_data *data);
SOCK_API size_t sock_data_points(const sock_data *data);
SOCK_API size_t sock_data_intervals(const sock_data *data);           /* n: over all groups */
SOCK_API const char *sock_data_name(const sock_data *data, size_t k); /* state column k; NULL beyond d */

/* The name of trajectory j, as the source has it; NULL beyond them. */
SOCK_API const char *sock_data_id(const sock_data *data, size_t j);

/* Says that the times are dates, counted from 1970-01-01 in this unit (a word of the option time-unit, not auto): for
 * data from arrays; files with dates say so themselves. Models and summaries name it. */
SOCK_API sock_status sock_data_set_time_unit(sock_context *ctx, sock_data *data, const char *unit);

/* Column i of the source that is no part of the data, and why; NULL beyond them. */
SOCK_API const char *sock_data_left_out(const sock_data *data, size_t i, const char **why);

/* Known inputs u(t) beside the states (options input and time-dependent): how many, name k (NULL beyond), and their
 * values at the points of trajectory j, length x inputs (NULL where there are none). */
SOCK_API size_t sock_data_inputs(const sock_data *data);
SOCK_API const char *sock_data_input_name(const sock_data *data, size_t k);
SOCK_API const double *sock_data_input(const sock_data *data, size_t j);

/* Trajectory j: its length; pointers into data, valid as long as data is. */
SOCK_API size_t sock_data_trajectory(const sock_data *data, size_t j, const double **t, const double **x);

/* The lines, from 1, on which the points of trajectory j begin in their file, valid as long as data is; NULL where the
 * data are not one CSV file in long form, or parts of it. */
SOCK_API const size_t *sock_data_lines(const sock_data *data, size_t j);

/* Splits by trajectory (groups stay whole) into `parts` parts of nearly equal numbers of intervals, shuffled by seed;
 * *held gets part `part`, *rest the others. Either may be NULL. */
SOCK_API sock_status sock_data_split(sock_context *ctx, const sock_data *data, size_t parts, size_t part, uint64_t seed,
                                     sock_data **rest, sock_data **held);

/* Splits in time: *held gets block `part` of `parts` of each trajectory (about equal numbers of steps), *rest what is
 * before and behind it, as trajectories id/before and id/after. They share the points where they meet, so that each
 * step is in one of the two. Either may be NULL. */
SOCK_API sock_status sock_data_split_time(sock_context *ctx, const sock_data *data, size_t parts, size_t part,
                                          sock_data **rest, sock_data **held);

/* The trajectories of both, one after the other, as a new data set with the names of the first; they must have the same
 * number of states. Groups are formed anew. Options used: grouping. opts may be NULL. */
SOCK_API sock_status sock_data_join(sock_context *ctx, const sock_data *one, const sock_data *other,
                                    const sock_options *opts, sock_data **out);

/* The structures of the Arrow C data interface and C stream interface, as published: columns in memory that other
 * libraries hand over. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* The rows of an Arrow stream of tables, by the rules of a CSV file with the same columns and cells (options id, time,
 * state, group, ..): numbers, bool (0 and 1), dates and timestamps (UTC), text and dictionaries; nulls are missing;
 * columns of other types are left out like text. Messages count lines as in such a file: the names are line 1. The
 * stream is read to its end and released in any case. */
SOCK_API sock_status sock_data_from_arrow_stream(sock_context *ctx, struct ArrowArrayStream *stream,
                                                 const sock_options *opts, sock_data **out);

/* Writes its rows as a folder of arrays, as sock_data_convert does those of a CSV file: what is larger than memory goes
 * through it in slices, where its trajectories come one after the other. */
SOCK_API sock_status sock_data_convert_arrow_stream(sock_context *ctx, struct ArrowArrayStream *stream,
                                                    const sock_options *opts, int single, const char *folder);

/* Writes a long CSV (traj, t, state columns) with 17 significant digits, whole or not at all; times that were dates are
 * dates again, to a ten thousandth of a second. */
SOCK_API sock_status sock_data_write(sock_context *ctx, const sock_data *data, const char *path);

/* Points of the state space from a CSV file with (at least) the d named columns; every cell there must be a finite
 * number. *x gets count x d numbers, freed with sock_array_free. */
SOCK_API sock_status sock_points_read(sock_context *ctx, const char *path, size_t d, const char *const *names,
                                      size_t *count, double **x);
SOCK_API void sock_array_free(double *array);

/* Counts, time steps, ranges, what was dropped and why, lag-1 correlation of increments; one JSON object. */
SOCK_API sock_status sock_data_summary(sock_context *ctx, const sock_data *data, char **json);

/* Whether states look like positions whose velocities were not observed (docs/second-order.md). For each state (d
 * numbers each, any may be NULL): the largest correlation of neighbouring differences of what a polynomial of the
 * states leaves of the increments, over every 1st, 2nd, 4th and 8th point (-1/2: first order, 1/4: second); the share
 * that is left there; and 1 where fitting with order = 2 is worth a try. NaN where there are too few points. */
SOCK_API sock_status sock_data_order(sock_context *ctx, const sock_data *data, double *correlation, double *left,
                                     int *second);

/* The summary of files as one data set, with what sock_data_order says of it (order_statistic, order_left,
 * second_order). With the option stream = yes they stay on the disk, and memory is bounded: the same numbers, but for
 * realisations and hashes, which are not told; codes, copies, angles, smooth states and the order are looked for in a
 * sample (stream: {sample_steps}) of search-rows steps. Twice as many rows are described whole. Freed with
 * sock_string_free. */
SOCK_API sock_status sock_info_files(sock_context *ctx, size_t count, const char *const *paths,
                                     const sock_options *opts, char **json);

/* ---- Fit ----------------------------------------------------------------------------------------------- */

typedef struct sock_model sock_model;

/* Fits a model. By default it chooses kernels and penalties by cross-validation; with the option tune = no it is the
 * plain estimator with what the options say. SOCK_LIMITED: the budget ended the search early; SOCK_NOT_CONVERGED: see
 * there. */
SOCK_API sock_status sock_fit(sock_context *ctx, const sock_data *data, const sock_options *opts, sock_model **out);

/* The same to files, which are one data set. With the option stream = yes they stay on the disk: kernels are chosen on
 * a sample, and passes over all steps fit what was chosen (docs/scale.md). */
SOCK_API sock_status sock_fit_files(sock_context *ctx, size_t count, const char *const *paths, const sock_options *opts,
                                    sock_model **out);

/* The search on the sample of such a stream alone: what it decided goes into a file, for later passes over all steps
 * with the option plan. SOCK_EUSAGE and the like as for a fit. */
SOCK_API sock_status sock_plan_files(sock_context *ctx, size_t count, const char *const *paths,
                                     const sock_options *opts, const char *path);

/* A pass of a fit by such a plan over part 1 .. parts of the steps, for processes that do not know each other. sums:
 * what all have summed up before (of sock_merge), NULL for the first pass. out: the sums of this part, and after the
 * last pass the model, of each part the same. */
SOCK_API sock_status sock_pass(sock_context *ctx, const char *plan, const char *sums, size_t count,
                               const char *const *paths, const sock_options *opts, size_t part, size_t parts,
                               const char *out);

/* All parts of a pass put together: into next, for the next pass; or (*done = 1) after the last one the model into out.
 * The model has the bytes of the fit by one process. SOCK_EINPUT for parts of other plans or passes, missing ones, and
 * files that are not whole. */
SOCK_API sock_status sock_merge(sock_context *ctx, const char *plan, size_t count, const char *const *parts,
                                const char *next, const char *out, int *done);

/* Data to judge the candidates of the search on, in place of cross-validation; borrowed until the fit is over. NULL
 * takes it back. */
SOCK_API sock_status sock_options_set_validation(sock_context *ctx, sock_options *opts, const sock_data *validation);

/* A matrix-valued kernel of the user's own: writes K(x, y), d x d row-major, into out. It must be symmetric in the
 * sense K(x, y) = K(y, x)' and positive definite, and may be called from several threads. NULL takes it back. */
typedef void (*sock_matrix_kernel_fn)(void *user, size_t d, const double *x, const double *y, double *out);
SOCK_API sock_status sock_options_set_drift_kernel(sock_context *ctx, sock_options *opts, sock_matrix_kernel_fn kernel,
                                                   void *user);

/* The pieces of the drift system (L* + n lambda I) alpha = dy, for those who want to look inside: n = number of
 * intervals. L: n x n; dy: n x d; alpha: n x d. Each may be NULL. Scalar kernels only. */
SOCK_API sock_status sock_drift_system(sock_context *ctx, const sock_data *data, const sock_options *opts, double *L,
                                       double *dy, double *alpha);

/* Fits the diffusion to data whose drift is known: a model of the drift, fitted or wrapped. The result evaluates that
 * drift and the new diffusion; when the drift is a wrapped function, the result keeps calling it (with its user
 * pointer) and cannot be saved. */
SOCK_API sock_status sock_fit_diffusion(sock_context *ctx, const sock_data *data, const sock_model *drift,
                                        const sock_options *opts, sock_model **out);

/* How good the solution of the convex problem is, proved by a dual point: primal - gap <= minimum <= primal. */
typedef struct sock_certificate {
    double primal, dual, gap; /* gap >= 0 */
    double norm_q;            /* Frobenius norm of Q */
    size_t features, rank;    /* p: dimension of the features; rank of Q */
    size_t iterations;
    int converged; /* gap <= tolerance * primal */
} sock_certificate;

/* The pieces of the convex problem of the diffusion: targets z and dual solution beta (each n x d x d, or NULL) and the
 * certificate (or NULL). */
SOCK_API sock_status sock_diffusion_system(sock_context *ctx, const sock_data *data, const sock_model *drift,
                                           const sock_options *opts, double *z, double *beta,
                                           sock_certificate *certificate);

/* ---- Model --------------------------------------------------------------------------------------------- */

SOCK_API void sock_model_free(sock_model *model);
SOCK_API size_t sock_model_dim(const sock_model *model);
SOCK_API const char *sock_model_name(const sock_model *model, size_t k); /* state name k; NULL beyond d */
SOCK_API int sock_model_has_diffusion(const sock_model *model);

/* Saved whole or not at all: a temporary file beside the target, fsync, rename. */
SOCK_API sock_status sock_model_save(sock_context *ctx, const sock_model *model, const char *path);
SOCK_API sock_status sock_model_load(sock_context *ctx, const char *path, sock_model **out);

/* f at count points x (count x d) into f (count x d); a and sigma = a^(1/2) into count x d x d. */
SOCK_API sock_status sock_model_drift(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                      double *f);
SOCK_API sock_status sock_model_diffusion(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                          double *a);
SOCK_API sock_status sock_model_sigma(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                      double *sigma);

/* Known inputs u(t) that the model depends on: how many, and of input k the name, how it goes on between two values
 * ("previous", "linear", or "time": it is the time itself, the last one) and its median in the data of the fit. */
SOCK_API size_t sock_model_inputs(const sock_model *model);
SOCK_API const char *sock_model_input_name(const sock_model *model, size_t k); /* NULL beyond them, as below */
SOCK_API const char *sock_model_input_hold(const sock_model *model, size_t k);
SOCK_API double sock_model_input_usual(const sock_model *model, size_t k);

/* f and a, or sigma, at points x (count x d) with inputs u (count x inputs; NULL where there are none); f or a may be
 * NULL. The
 * three calls above fail for a model that has inputs. */
SOCK_API sock_status sock_model_evaluate_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                            const double *u, double *f, double *a);
SOCK_API sock_status sock_model_sigma_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                         const double *u, double *sigma);

/* The inputs at a time, from their values u (times x inputs) at growing times t: between them by their holds, beyond
 * them the nearest; an input that is the time goes on. */
SOCK_API void sock_model_inputs_at(const sock_model *model, size_t times, const double *t, const double *u, double when,
                                   double *out);

/* The covariance R (d x d) of the measurement noise that the model was fitted with: observations are x + N(0, R). 0 and
 * zeros where there is none. */
SOCK_API int sock_model_noise(const sock_model *model, double *noise);
/* Whether the fit told how far its fields can be trusted; if not, bands_reason of sock_model_info says why. */
SOCK_API int sock_model_has_bands(const sock_model *model);

/* Where bands go: f_low and f_high count x d, the others count x d x d, outside count; NULL: not wanted. */
typedef struct sock_bands {
    double *f_low, *f_high, *a_low, *a_high, *sigma_low, *sigma_high;
    int *outside;     /* 1 where a state is beyond the range of the data by more than a tenth of it, else 0 */
    int simultaneous; /* 1: those of f hold for all of the data's region at once, not point by point */
} sock_bands;

/* Bands that hold the true fields with the probability `level` (0 < level < 1), point by point: see
 * docs/uncertainty.md. SOCK_EUSAGE for a model without them. */
SOCK_API sock_status sock_model_bands(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                      double level, const sock_bands *out);

/* The same for a model with inputs u (count x inputs), as sock_model_evaluate_at has them; the call above fails for it.
 * `outside` looks at the inputs, too. */
SOCK_API sock_status sock_model_bands_at(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                         const double *u, double level, const sock_bands *out);

/* A model drawn from what the fit leaves open: fields of the size of its bands. A function of (model, seed, number)
 * alone; it evaluates, simulates and saves like any other. SOCK_EUSAGE for a model without bands. */
SOCK_API sock_status sock_model_draw(sock_context *ctx, const sock_model *model, uint64_t seed, uint64_t number,
                                     sock_model **out);

/* Bounds of the states, d numbers each (infinite: none); either may be NULL. Answers whether there are any. a is taken
 * at the nearest point inside, and simulated paths stop at the bounds unless the specification says otherwise. */
SOCK_API int sock_model_bounds(const sock_model *model, double *lower, double *upper);

/* SOCK_EINPUT where a point of the data is outside these bounds, or those of the options bounds, lower and upper: the
 * message names file, trajectory, state, value, time and bound. sock_score and sock_check ask by themselves. */
SOCK_API sock_status sock_model_holds(sock_context *ctx, const sock_model *model, const sock_data *data,
                                      const sock_options *opts);

/* Sets them; NULL: none. */
SOCK_API sock_status sock_model_set_bounds(sock_context *ctx, sock_model *model, const double *lower,
                                           const double *upper);

/* Specification, options, certificate, timings and provenance as one JSON object. */
SOCK_API sock_status sock_model_info(sock_context *ctx, const sock_model *model, char **json);

/* The same for people: what the fit found and its verdict, in the lines of `sock fit`. */
SOCK_API sock_status sock_model_summary(sock_context *ctx, const sock_model *model, char **text);

/* The fields as polynomials of the state, where all their features are monomials: {"origin": [0, 0], "drift": [{"term":
 * "x^2*y", "powers": [2, 1], "coefficients": [one for each f_k], "se": [their standard errors, of a model with bands]},
 * ...], "diffusion": the same with a coefficient for each a_kl, k <= l, row by row}. Powers are of x_k - origin_k; the
 * origin is 0 where the data surround it or no search was made, else the roundest number near them. null for a field
 * that is none (a Gaussian kernel, a wrapped function), or has a kernel with more than 1000 (drift) or 120 (diffusion)
 * features. */
SOCK_API sock_status sock_model_terms(sock_context *ctx, const sock_model *model, char **json);

/* A known SDE as a model: each function writes the value at `count` points (f: count x d, a: count x d x d) and must
 * be safe to call from several threads. Such a model evaluates, simulates and scores, but cannot be saved. */
typedef void (*sock_field_fn)(void *user, size_t count, size_t d, const double *x, double *out);
SOCK_API sock_status sock_model_wrap(sock_context *ctx, size_t d, const char *const *names, sock_field_fn drift,
                                     sock_field_fn diffusion, void *user, sock_model **out);

/* Inputs of a wrapped model, before it is used: its functions are then called at points of d + inputs numbers, the
 * states and behind them the inputs (the argument d stays the number of states). hold: "previous" or "linear" for each,
 * or NULL: previous. */
SOCK_API sock_status sock_model_set_inputs(sock_context *ctx, sock_model *model, size_t inputs,
                                           const char *const *names, const char *const *hold);

/* 2: dynamics of second order. The first half of the states are positions, the second half their velocities, which data
 * do not have: f = (v, F), a is zero but for the block of the velocities. Else 1; 0 for NULL. */
SOCK_API int sock_model_order(const sock_model *model);

/* Declares a wrapped model without inputs to be of that order; 2: it has an even number of states. */
SOCK_API sock_status sock_model_set_order(sock_context *ctx, sock_model *model, int order);

/* ---- Simulate ------------------------------------------------------------------------------------------ */

/* What happens at the bounds of the state space. */
typedef enum sock_bounds {
    SOCK_BOUNDS_NONE,    /* there are none */
    SOCK_BOUNDS_CLIP,    /* a coordinate beyond its bound is set to the bound */
    SOCK_BOUNDS_REFLECT, /* the bounds are mirrors */
    SOCK_BOUNDS_AUTO     /* clip where the model has bounds or some are given, else none */
} sock_bounds;

/* Which paths to make. Zero in every field but starts, x0, paths, times and t is a good beginning. */
typedef struct sock_simulation {
    size_t starts;        /* different initial states */
    const double *x0;     /* starts x d */
    size_t paths;         /* for each start */
    size_t times;         /* output times; the first is the time of the start */
    const double *t;      /* times, growing; gaps may differ */
    double step;          /* largest inner step, shortened to divide the gaps; 0: a tenth of the smallest gap, and
                             of the time in which f changes by itself around each start (up to 64 states) */
    uint64_t seed;        /* new seed, new paths */
    uint64_t first_start; /* number of the first start in the random stream: 0, to go on where others ended more */
    sock_bounds bounds;   /* how lower and upper are kept */
    const double *lower, *upper; /* d numbers each; infinite: free; NaN or NULL: the model's. Both NULL: bounds AUTO */
    int observed;                /* not 0: what is written are observations, paths plus the model's measurement noise */
    int uncertain; /* 1: path k of every start is one of draw k of the model (sock_model_draw with this seed) */
    /* of a model with inputs: their values at growing times, between them by their holds, beyond them the nearest */
    size_t input_times;
    const double *input_t; /* input_times */
    const double *u;       /* starts x input_times x inputs; of an input that is the time: what the clock
                              shows then. NULL: there is no other, and the times above are the clock's */
} sock_simulation;

typedef struct sock_simulation_report {
    size_t paths; /* starts * paths */
    size_t lost;  /* how many of them left the finite numbers */
    size_t steps; /* inner steps of a path */
    double step;  /* largest inner step in use */
    double seconds;
} sock_simulation_report;

/* Euler-Maruyama paths into out (starts * paths x times x d, start after start). Path i of start s is the same for any
 * number of threads, paths and starts. A path that leaves the finite numbers is NaN from there on, and the others go
 * on; the status is then SOCK_PARTIAL. lost_at: NULL, or starts * paths numbers: when a path was lost, infinity for the
 * others. report may be NULL. A model without a diffusion gives the solution of the ODE by Euler's method. */
SOCK_API sock_status sock_simulate(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *out,
                                   double *lost_at, sock_simulation_report *report);

/* The options bounds, lower and upper as numbers: mode, and lower and upper of d numbers each (infinite: free, NaN: the
 * model's), for the fields of sock_simulation. */
SOCK_API sock_status sock_simulation_bounds(sock_context *ctx, const sock_options *opts, size_t d, sock_bounds *mode,
                                            double *lower, double *upper);

/* ---- Smooth -------------------------------------------------------------------------------------------- */

/* States of measured trajectories given all their observations, by a model with measurement noise: means and standard
 * deviations (points x d each, d that of the model, in the order of the data); sd may be NULL. In up to 10 dimensions.
 * Of a model of order 2, with or without noise: positions and velocities; NaN for the velocity of a lone point. */
SOCK_API sock_status sock_smooth(sock_context *ctx, const sock_model *model, const sock_data *data, double *mean,
                                 double *sd);

/* ---- Score --------------------------------------------------------------------------------------------- */

/* A score, or why there is none. Never NaN. */
typedef struct sock_value {
    int valid;  /* 1: value holds; 0: reason says why not, and value is 0 */
    int failed; /* not valid although everything it needs was given */
    double value;
    char reason[160];
} sock_value;

typedef struct sock_scores {
    size_t d, points, intervals; /* of the test set; every trajectory counts, also within a group */
    double delta;                /* in use */
    sock_value loglik;           /* sum of log N(y_{i+1}; y_i + h f, h a + delta I) */
    sock_value loglik_truth;
    sock_value perplexity;     /* P = 100 exp((loglik_truth - loglik) / (d intervals)): 100 is as good as the truth */
    sock_value perplexity_raw; /* P' = 100 exp(-loglik / (d intervals)) */
    /* The same four with the Gaussian whose mean and covariance follow the model over the whole step, for steps that
     * are not short: PM and PM'. In up to 20 dimensions. */
    sock_value loglik_moments, loglik_moments_truth, perplexity_moments, perplexity_moments_raw;
    sock_value re_f, re_a; /* relative errors over all test points, percent, Frobenius norm */
    sock_value mmd2;       /* squared, biased; mean over the distinct starts of the test set */
    sock_value mmd2_truth; /* the truth's own, by the same seed: with few paths a start it is far from 0 */
    size_t singular;       /* intervals whose covariance is singular for the model */
    size_t mmd_starts, mmd_paths, mmd_lost; /* distinct starts, paths for each, paths that left the finite numbers */
    double mmd_eta;   /* scale of the path kernel: median squared distance of training trajectories */
    size_t mmd_pairs; /* the pairs of them that share their times, over which the median was taken */
    sock_value
        loglik_constant; /* loglik of constant f and a, those of maximum likelihood (but for delta) on the test set */
    int worse_than_constant; /* both likelihoods of the model are below it, by more than its free parameters explain */
    double seconds;
    /* Of a model with measurement noise, for data that have it: the likelihood of each observation given those before
     * it. The scores above take observations for states. */
    int noisy; /* the model has noise, and these were asked for */
    sock_value loglik_filter, loglik_filter_truth, perplexity_filter, perplexity_filter_raw;
    /* The one number to compare models by, in nats a step and dimension, larger is better: of loglik_filter where the
     * model knows of noise or is of order 2; else of loglik_moments; else, where there is none, of loglik. */
    sock_value score;
    const char *score_of; /* the name of that log likelihood; NULL: there is none */
} sock_scores;

/* Scores a model on test data. train sets the scale of the MMD, truth (for example a wrapped model) gives perplexity
 * and relative errors; either may be NULL, and what needs them is then not valid. The MMD compares the paths of each
 * distinct start (and time grid) of the test set with as many simulated ones as mmd-paths says; its scale comes from
 * the pairs of training trajectories that share their times. A simulated path that left the finite numbers counts as
 * infinitely far from all others. SOCK_PARTIAL when something that was asked for could not be computed.
 * Options used: delta, mmd-paths, mmd-step, seed, bounds, lower, upper. opts may be NULL. */
SOCK_API sock_status sock_score(sock_context *ctx, const sock_model *model, const sock_data *test,
                                const sock_data *train, const sock_model *truth, const sock_options *opts,
                                sock_scores *out);

/* The same of files that stay on the disk, with bounded memory whatever their size, in three passes: likelihoods,
 * perplexities and relative errors. There is no MMD, and no filter: models of order 2, with inputs, noise (unless noise
 * is none) or bounds (unless there is a delta) are refused. Options used: delta, noise, bounds, lower, upper, scratch
 * and those of data. */
SOCK_API sock_status sock_score_files(sock_context *ctx, const sock_model *model, size_t count,
                                      const char *const *paths, const sock_model *truth, const sock_options *opts,
                                      sock_scores *out);

/* What a source of paths is asked for: paths from one start on one time grid. */
typedef struct sock_path_request {
    size_t start;         /* number of the distinct start, from 0: part of the random stream */
    uint64_t seed;        /* the other part: new seed, new paths */
    size_t d, paths;      /* dimension; how many paths are wanted */
    const double *x0;     /* d: where they start */
    size_t times;         /* of the grid */
    const double *t;      /* times, growing */
    size_t members;       /* trajectories of the test set that have this start and grid */
    const size_t *member; /* their numbers there; a source that looks at them sees what it is judged by */
} sock_path_request;

/* Writes paths x times x d numbers, path after path; not finite: the path is lost. Called from several threads at once,
 * for one start each; a negative status ends the scoring with it. */
typedef sock_status (*sock_paths_fn)(void *user, const sock_path_request *request, double *out);

/* The MMD of sock_score for paths that do not come from a model: same starts, same time grids, same scale, same
 * number of paths. bounds, lower and upper are kept at the output times. Every other score of *out is not valid and
 * says so. Options used: mmd-paths, seed, bounds, lower, upper, and mmd-step for the truth. opts may be NULL. */
SOCK_API sock_status sock_score_paths(sock_context *ctx, sock_paths_fn source, void *user, const sock_data *test,
                                      const sock_data *train, const sock_model *truth, const sock_options *opts,
                                      sock_scores *out);

/* ---- Check --------------------------------------------------------------------------------------------- */

enum { SOCK_CHECK_TESTS = 9, SOCK_VERDICT_SIZE = 640 };

/* One test of the model: does the statistic look as it would if the data came from the model? */
typedef struct sock_check_test {
    const char *name;      /* "scale", "distribution", "drift", "diffusion", "memory", "cycles", "volatility", "time",
                              "horizon"; static storage, as effect_of */
    int valid;             /* 0: the data do not allow it; the rest is 0 */
    double statistic;      /* chi-square, or that of Anderson and Darling */
    double df;             /* degrees of freedom; 0: it has none */
    double p, p_adjusted;  /* chance of such a statistic; for all tests together, by Holm */
    double effect;         /* how large what it sees is, */
    double effect_least;   /* from what size on it matters, */
    const char *effect_of; /* and what it is */
    int objects;           /* p_adjusted is below alpha and the effect matters */
    int remark;            /* below alpha, and too small to matter */
    double chi_square, chi_df, ways; /* where p comes from, of several tests the one used: the least of 1 and `ways`
                                        times the chance of chi-square with chi_df degrees of freedom (parts of one
                                        where squares have heavy tails) beyond chi_square; chi_df 0: another way */
} sock_check_test;

/* A number that is not known is NaN. */
typedef struct sock_checks {
    int ok;                          /* no test objects, nor do simulated paths leave the data */
    char pattern[24];                /* what speaks: "none", "noise", "memory", "jumps", ... (docs/check.md) */
    char verdict[SOCK_VERDICT_SIZE]; /* in a sentence */
    char advice[SOCK_VERDICT_SIZE];  /* what to do about it; "": nothing */
    sock_check_test test[SOCK_CHECK_TESTS];
    size_t steps, all_steps; /* that were looked at; of the data */
    size_t draws, lost;      /* simulated ends for each step; how many of all left the finite numbers */
    double alpha;
    double lag1, variance_ratio,
        scale;         /* where they are farthest from 0, 1, 1 among the states: correlation of
                          neighbouring scores, mean square over four steps by that over one, mean square */
    double long_step;  /* median of h |Jacobian of f|: from 0.5 on steps are long for the system */
    double period;     /* of a cycle that stands out, in units of time; 0: none */
    double exit_share; /* of simulated paths that leave the data's range widened by half on each side */
    double seconds;
} sock_checks;

/* Is the model right for the data, be they those of the fit or new ones? Every step is compared with simulated ones of
 * the model, so long steps raise no false alarm. The model must have a diffusion. Options used: draws, alpha, seed,
 * bounds, lower, upper. opts may be NULL. SOCK_OK whatever the verdict; too few steps are a verdict, too. */
SOCK_API sock_status sock_check(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const sock_options *opts, sock_checks *out);

/* The same as one JSON object: verdict, advice, pattern, ok, tests and the numbers. */
SOCK_API sock_status sock_checks_json(sock_context *ctx, const sock_checks *checks, char **json);

/* What the tests are made of: where the observed end of each step stands among simulated ones of the model. */
typedef struct sock_step_scores {
    size_t count, dim; /* steps, states */
    size_t all_steps;  /* of the data */
    double *v;         /* count x dim: standard normal and independent when the model is right; NaN: no score */
    double *pit;       /* the same as shares, in (0, 1) */
    double *x, *t;     /* count x dim, count: where a step starts: the state (with measurement noise its mean given the
                          observations up to there), the time */
    size_t *piece;     /* count: steps of one piece follow one another */
    size_t seasons;    /* where times are dates: how many of the day, the week and the year the data can show, */
    double season[3];  /* their lengths in units of time, */
    const char *season_name[3]; /* and "24 hours", "7 days", "12 months" */
} sock_step_scores;

/* As sock_check, which see; the same scores. Freed with sock_step_scores_free. */
SOCK_API sock_status sock_check_scores(sock_context *ctx, const sock_model *model, const sock_data *data,
                                       const sock_options *opts, sock_step_scores *out);
SOCK_API void sock_step_scores_free(sock_step_scores *scores);

/* ---- Explain ------------------------------------------------------------------------------------------- */

/* What the equation means within a range of the states: fixed points, in one dimension the potential with its wells,
 * escape times and the stationary density, in two the density, the probability current and the entropy production, with
 * errors from draws of a model with bands; one JSON object (docs/explain.md). The range is that of the data of the fit,
 * where the model has bands, else that of `data`; the options lower and upper come first, and bounds of the model end
 * it. data: NULL, or what the stationary law is compared with. u: a value for each input of the model; NULL or NaN: its
 * median in the fit. Options used: lower, upper, seed. opts may be NULL. */
SOCK_API sock_status sock_explain(sock_context *ctx, const sock_model *model, const sock_data *data, const double *u,
                                  const sock_options *opts, char **json);

/* ---- Evidence ------------------------------------------------------------------------------------------ */

/* The evidence under the fields: moments of the data's steps in bins of each state, with standard errors, beside what
 * the model expects of these same steps, and what misses as a shift of f and a; over every 1, 2, 4, ... intervals. One
 * JSON object (docs/evidence.md). */
SOCK_API sock_status sock_evidence(sock_context *ctx, const sock_model *model, const sock_data *data, char **json);

/* The model as features and weights, for other programs to evaluate: one JSON object (docs/evidence.md). SOCK_EUSAGE
 * for a model of functions, which has none. */
SOCK_API sock_status sock_model_features(sock_context *ctx, const sock_model *model, char **json);

#ifdef __cplusplus
}
#endif
#endif
