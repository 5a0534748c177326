/* sockr.c - the glue between R and sock.h.
 *
 * libsock.so is opened at run time, with its own libraries in front (RTLD_DEEPBIND): R brings a BLAS of its own into
 * the process, which would otherwise answer for ours.
 *
 * fail() jumps out of a function and frees nothing. So every entry point copies the message, frees what it took,
 * and fails as its last act; data and models live in external pointers that R's garbage collector frees. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sock.h>
#include <stdio.h>
#include <string.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>

/* ---- The library ---- */

#define FUNCTIONS(X)                                                                                                   \
    X(sock_version)                                                                                                    \
    X(sock_blas_remark)                                                                                                \
    X(sock_context_new)                                                                                                \
    X(sock_context_free)                                                                                               \
    X(sock_message)                                                                                                    \
    X(sock_set_device)                                                                                                 \
    X(sock_set_threads)                                                                                                \
    X(sock_set_monitor)                                                                                                \
    X(sock_options_new)                                                                                                \
    X(sock_options_free)                                                                                               \
    X(sock_options_set)                                                                                                \
    X(sock_option_count)                                                                                               \
    X(sock_option_describe)                                                                                            \
    X(sock_data_read_files)                                                                                            \
    X(sock_data_convert)                                                                                               \
    X(sock_score_files)                                                                                                \
    X(sock_info_files)                                                                                                 \
    X(sock_data_convert_arrow_stream)                                                                                  \
    X(sock_data_from_arrow_stream)                                                                                     \
    X(sock_data_from_named_arrays)                                                                                     \
    X(sock_data_id)                                                                                                    \
    X(sock_data_free)                                                                                                  \
    X(sock_data_set_time_unit)                                                                                         \
    X(sock_data_dim)                                                                                                   \
    X(sock_data_trajectories)                                                                                          \
    X(sock_data_points)                                                                                                \
    X(sock_data_intervals)                                                                                             \
    X(sock_data_inputs)                                                                                                \
    X(sock_data_input_name)                                                                                            \
    X(sock_data_input)                                                                                                 \
    X(sock_data_name)                                                                                                  \
    X(sock_data_trajectory)                                                                                            \
    X(sock_fit_files)                                                                                                  \
    X(sock_fit)                                                                                                        \
    X(sock_model_free)                                                                                                 \
    X(sock_model_dim)                                                                                                  \
    X(sock_model_name)                                                                                                 \
    X(sock_model_has_diffusion)                                                                                        \
    X(sock_model_save)                                                                                                 \
    X(sock_model_load)                                                                                                 \
    X(sock_model_inputs)                                                                                               \
    X(sock_model_order)                                                                                                \
    X(sock_model_input_name)                                                                                           \
    X(sock_model_input_hold)                                                                                           \
    X(sock_model_evaluate_at)                                                                                          \
    X(sock_model_sigma_at)                                                                                             \
    X(sock_model_bands_at)                                                                                             \
    X(sock_model_draw)                                                                                                 \
    X(sock_model_info)                                                                                                 \
    X(sock_model_summary)                                                                                              \
    X(sock_model_terms)                                                                                                \
    X(sock_string_free)                                                                                                \
    X(sock_simulate)                                                                                                   \
    X(sock_simulation_bounds)                                                                                          \
    X(sock_smooth)                                                                                                     \
    X(sock_score)                                                                                                      \
    X(sock_check)                                                                                                      \
    X(sock_checks_json)                                                                                                \
    X(sock_evidence)                                                                                                   \
    X(sock_explain)

/* The user did not make the call that R would name. */
#define fail(...) Rf_errorcall(R_NilValue, __VA_ARGS__)

/* Filled once, when R loads the package. */
static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    void *handle;
} so;

static SEXP r_open(SEXP path)
{
    if (so.handle) return R_NilValue;
    so.handle = dlopen(CHAR(STRING_ELT(path, 0)), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!so.handle) fail("libsock could not be loaded: %s", dlerror());
#define FIND(name)                                                                                                     \
    *(void **)&so.name = dlsym(so.handle, #name);                                                                      \
    if (!so.name) fail("libsock has no function %s", #name);
    FUNCTIONS(FIND)
#undef FIND
    return R_NilValue;
}

/* ---- A call: a context, options, and the message that outlives them ---- */

typedef struct call {
    sock_context *ctx;
    sock_options *opts;
    sock_status status;
    char message[1024];
} call;

static void check_interrupt(void *ignored)
{
    (void)ignored;
    R_CheckUserInterrupt();
}

/* R_CheckUserInterrupt() jumps; run at top level it answers instead. */
static int on_progress(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return R_ToplevelExec(check_interrupt, NULL) == FALSE;
}

static int good(call *c, sock_status status)
{
    if (status != SOCK_OK && c->status >= 0) {
        c->status = status;
        snprintf(c->message, sizeof c->message, "%s", so.sock_message(c->ctx));
    }
    return status >= 0;
}

/* keys, values: texts of the same length; threads: a number, or 0. */
static int begin(call *c, SEXP keys, SEXP values, SEXP threads)
{
    memset(c, 0, sizeof *c);
    c->ctx = so.sock_context_new();
    c->opts = c->ctx ? so.sock_options_new(c->ctx) : NULL;
    if (!c->opts) {
        c->status = SOCK_ENOMEM;
        snprintf(c->message, sizeof c->message, "out of memory");
        return 0;
    }
    so.sock_set_monitor(c->ctx, on_progress, NULL);
    if (Rf_asInteger(threads) > 0 && !good(c, so.sock_set_threads(c->ctx, Rf_asInteger(threads)))) return 0;
    for (R_xlen_t i = 0; i < Rf_xlength(keys); i++) {
        const char *key = CHAR(STRING_ELT(keys, i)), *value = CHAR(STRING_ELT(values, i));
        if (!good(c, so.sock_options_set(c->ctx, c->opts, key, value))) return 0;
        if (strcmp(key, "device") == 0 && !good(c, so.sock_set_device(c->ctx, value))) return 0;
    }
    return 1;
}

static void drop(call *c)
{
    so.sock_options_free(c->opts);
    so.sock_context_free(c->ctx);
}

/* What the library says, in R's words (r_words); for the caller to protect. */
static SEXP in_r_words(const char *message)
{
    SEXP name = PROTECT(Rf_mkString("sock")), space = PROTECT(R_FindNamespace(name));
    SEXP text = PROTECT(Rf_ScalarString(Rf_mkCharCE(message, CE_UTF8)));
    SEXP asked = PROTECT(Rf_lang2(Rf_install("r_words"), text)), told = Rf_eval(asked, space);
    UNPROTECT(4);
    return told;
}

/* Frees the call; a failure becomes an R error, a caveat a warning. The last act before a return. */
static void finish(call *c)
{
    drop(c);
    if (c->status == SOCK_OK) return;
    const char *said = Rf_translateChar(STRING_ELT(PROTECT(in_r_words(c->message)), 0));
    if (c->status < 0) fail("%s", said);
    Rf_warningcall(R_NilValue, "%s", said);
    UNPROTECT(1);
}

/* The same for a call that made a text, or none. */
static SEXP told(call *c, char *json)
{
    SEXP out = PROTECT(json ? Rf_mkCharCE(json, CE_UTF8) : R_NilValue);
    if (json) so.sock_string_free(json), out = Rf_ScalarString(out);
    PROTECT(out);
    finish(c);
    UNPROTECT(2);
    return out;
}

static void free_data(SEXP pointer)
{
    so.sock_data_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static void free_model(SEXP pointer)
{
    so.sock_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* An empty external pointer, made before the work, so that nothing can fail between the work and its owner. */
static SEXP owner(R_CFinalizer_t finalizer)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalizer, TRUE);
    UNPROTECT(1);
    return pointer;
}

/* ---- Over sessions: what R saves of an external pointer is what it protects ----
 *
 * A model protects the bytes of its file, data that came from R the arguments of r_data_arrays, data from files those
 * of r_data_read; each with the unit of its times behind. An address that is gone is made anew from these. */

static const char *temporary_name(void)
{
    SEXP call = PROTECT(Rf_lang2(Rf_install("tempfile"), PROTECT(Rf_mkString("sock"))));
    SEXP name = PROTECT(Rf_eval(call, R_BaseEnv));
    const char *path = CHAR(STRING_ELT(name, 0));
    char *out = R_alloc(strlen(path) + 1, 1);
    strcpy(out, path);
    UNPROTECT(3);
    return out;
}

/* The bytes of a file, which goes; NULL where it cannot be read. */
static SEXP bytes_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    const long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    SEXP out = R_NilValue;
    if (file) fclose(file);
    if (size > 0) {
        out = PROTECT(Rf_allocVector(RAWSXP, size));
        file = fopen(path, "rb");
        if (!file || fread(RAW(out), 1, (size_t)size, file) != (size_t)size) out = R_NilValue;
        if (file) fclose(file);
        UNPROTECT(1);
    }
    remove(path);
    return out;
}

/* A model of which no bytes can be kept works as long as the session. */
static void keep_model(SEXP pointer)
{
    const sock_model *model = R_ExternalPtrAddr(pointer);
    const char *path = temporary_name();
    call c;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_model_save(c.ctx, model, path));
    drop(&c);
    R_SetExternalPtrProtected(pointer, bytes_of(path));
}

static void keep_data(SEXP pointer, size_t count, SEXP const *arguments)
{
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count + 1));
    for (size_t i = 0; i < count; i++) SET_VECTOR_ELT(kept, (R_xlen_t)i, arguments[i]);
    R_SetExternalPtrProtected(pointer, kept);
    UNPROTECT(1);
}

static void model_again(SEXP pointer, SEXP bytes)
{
    const char *path = temporary_name();
    FILE *file = fopen(path, "wb");
    const int written = file && fwrite(RAW(bytes), 1, (size_t)Rf_xlength(bytes), file) == (size_t)Rf_xlength(bytes);
    call c;
    sock_model *model = NULL;
    if ((file && fclose(file) != 0) || !written) {
        remove(path);
        fail("the model could not be made anew: %s cannot be written", path);
    }
    R_RegisterCFinalizerEx(pointer, free_model, TRUE);
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_model_load(c.ctx, path, &model));
    remove(path);
    R_SetExternalPtrAddr(pointer, model);
    finish(&c);
}

static SEXP r_data_read(SEXP paths, SEXP keys, SEXP values);
static SEXP r_data_arrays(SEXP lengths, SEXP t, SEXP x, SEXP names, SEXP keys, SEXP values, SEXP ids);
static SEXP r_data_unit(SEXP pointer, SEXP unit);

static void data_again(SEXP pointer, SEXP kept)
{
#define OF(i) VECTOR_ELT(kept, i)
    const R_xlen_t unit = Rf_xlength(kept) - 1;
    SEXP made =
        PROTECT(unit == 3 ? r_data_read(OF(0), OF(1), OF(2))
                          : r_data_arrays(OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), unit > 6 ? OF(6) : R_NilValue));
    if (!Rf_isNull(OF(unit))) r_data_unit(made, OF(unit));
    R_RegisterCFinalizerEx(pointer, free_data, TRUE);
    R_SetExternalPtrAddr(pointer, R_ExternalPtrAddr(made));
    R_ClearExternalPtr(made);
    UNPROTECT(1);
#undef OF
}

static void *held(SEXP pointer, const char *what)
{
    if (TYPEOF(pointer) != EXTPTRSXP) fail("this is no %s", what);
    if (!R_ExternalPtrAddr(pointer)) {
        SEXP kept = R_ExternalPtrProtected(pointer);
        if (TYPEOF(kept) == RAWSXP) model_again(pointer, kept);
        if (TYPEOF(kept) == VECSXP) data_again(pointer, kept);
    }
    void *address = R_ExternalPtrAddr(pointer);
    if (!address) fail("this %s is gone", what);
    return address;
}

/* ---- Data ---- */

static const char **path_list(SEXP paths)
{
    const char **list = (const char **)R_alloc((size_t)Rf_xlength(paths), sizeof *list);
    for (R_xlen_t i = 0; i < Rf_xlength(paths); i++) list[i] = CHAR(STRING_ELT(paths, i));
    return list;
}

static SEXP r_data_read(SEXP paths, SEXP keys, SEXP values)
{
    const char **list = path_list(paths);
    SEXP pointer = PROTECT(owner(free_data));
    call c;
    sock_data *data = NULL;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_data_read_files(c.ctx, (size_t)Rf_xlength(paths), list, c.opts, &data));
    R_SetExternalPtrAddr(pointer, data);
    finish(&c);
    keep_data(pointer, 3, (SEXP[]){paths, keys, values});
    UNPROTECT(1);
    return pointer;
}

static SEXP r_data_convert(SEXP paths, SEXP folder, SEXP single, SEXP keys, SEXP values)
{
    const char **list = path_list(paths);
    call c;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_data_convert(c.ctx, (size_t)Rf_xlength(paths), list, c.opts, Rf_asLogical(single),
                                      CHAR(STRING_ELT(folder, 0))));
    finish(&c);
    return R_NilValue;
}

/* stream: an external pointer to a struct ArrowArrayStream, which is released. */
static SEXP r_arrow_convert(SEXP stream, SEXP folder, SEXP single, SEXP keys, SEXP values)
{
    call c;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_data_convert_arrow_stream(c.ctx, R_ExternalPtrAddr(stream), c.opts, Rf_asLogical(single),
                                                   CHAR(STRING_ELT(folder, 0))));
    finish(&c);
    return R_NilValue;
}

static SEXP r_data_arrow(SEXP stream, SEXP keys, SEXP values)
{
    SEXP pointer = PROTECT(owner(free_data));
    call c;
    sock_data *data = NULL;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_data_from_arrow_stream(c.ctx, R_ExternalPtrAddr(stream), c.opts, &data));
    R_SetExternalPtrAddr(pointer, data);
    finish(&c);
    UNPROTECT(1);
    return pointer;
}

/* The text of sock_info_files. */
static SEXP r_info_files(SEXP paths, SEXP keys, SEXP values)
{
    const char **list = path_list(paths);
    call c;
    char *json = NULL;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_info_files(c.ctx, (size_t)Rf_xlength(paths), list, c.opts, &json));
    return told(&c, json);
}

/* x: d x points, as R stores it: point after point. ids: names of the trajectories, or NULL. */
static SEXP r_data_arrays(SEXP lengths, SEXP t, SEXP x, SEXP names, SEXP keys, SEXP values, SEXP ids)
{
    SEXP pointer = PROTECT(owner(free_data));
    const size_t d = (size_t)Rf_xlength(names), count = (size_t)Rf_xlength(lengths);
    size_t *length = (size_t *)R_alloc(count ? count : 1, sizeof *length);
    const char **name = (const char **)R_alloc(d ? d : 1, sizeof *name), **id = NULL;
    if (!Rf_isNull(ids)) id = (const char **)R_alloc(count ? count : 1, sizeof *id);
    for (size_t j = 0; j < count; j++) length[j] = (size_t)REAL(lengths)[j];
    for (size_t j = 0; id && j < count; j++) id[j] = Rf_translateCharUTF8(STRING_ELT(ids, (R_xlen_t)j));
    for (size_t k = 0; k < d; k++) name[k] = Rf_translateCharUTF8(STRING_ELT(names, (R_xlen_t)k));
    call c;
    sock_data *data = NULL;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c,
             so.sock_data_from_named_arrays(c.ctx, d, count, id, length, REAL(t), REAL(x), name, NULL, c.opts, &data));
    R_SetExternalPtrAddr(pointer, data);
    finish(&c);
    keep_data(pointer, 7, (SEXP[]){lengths, t, x, names, keys, values, ids});
    UNPROTECT(1);
    return pointer;
}

static SEXP r_data_unit(SEXP pointer, SEXP unit)
{
    sock_data *data = held(pointer, "data set");
    call c;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0)))
        good(&c, so.sock_data_set_time_unit(c.ctx, data, CHAR(STRING_ELT(unit, 0))));
    finish(&c);
    SEXP kept = R_ExternalPtrProtected(pointer);
    if (TYPEOF(kept) == VECSXP) SET_VECTOR_ELT(kept, Rf_xlength(kept) - 1, unit);
    return R_NilValue;
}

static SEXP r_data_counts(SEXP pointer)
{
    const sock_data *data = held(pointer, "data set");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 4));
    REAL(out)[0] = (double)so.sock_data_dim(data);
    REAL(out)[1] = (double)so.sock_data_trajectories(data);
    REAL(out)[2] = (double)so.sock_data_points(data);
    REAL(out)[3] = (double)so.sock_data_intervals(data);
    UNPROTECT(1);
    return out;
}

static SEXP r_data_names(SEXP pointer)
{
    const sock_data *data = held(pointer, "data set");
    const size_t d = so.sock_data_dim(data);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)d));
    for (size_t k = 0; k < d; k++) SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkCharCE(so.sock_data_name(data, k), CE_UTF8));
    UNPROTECT(1);
    return out;
}

static SEXP r_data_ids(SEXP pointer)
{
    const sock_data *data = held(pointer, "data set");
    const size_t count = so.sock_data_trajectories(data);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t j = 0; j < count; j++) SET_STRING_ELT(out, (R_xlen_t)j, Rf_mkCharCE(so.sock_data_id(data, j), CE_UTF8));
    UNPROTECT(1);
    return out;
}

/* All points: (1 + 1 + d) x points: trajectory from 1, time, state. */
/* Names of the known inputs. */
static SEXP r_data_inputs(SEXP pointer)
{
    const sock_data *data = held(pointer, "data set");
    const size_t m = so.sock_data_inputs(data);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)m));
    for (size_t k = 0; k < m; k++)
        SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkCharCE(so.sock_data_input_name(data, k), CE_UTF8));
    UNPROTECT(1);
    return out;
}

/* Trajectory, time, states, inputs of each point, a column each point. */
static SEXP r_data_values(SEXP pointer)
{
    const sock_data *data = held(pointer, "data set");
    const size_t d = so.sock_data_dim(data), m = so.sock_data_inputs(data), rows = d + m + 2;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)so.sock_data_points(data)));
    double *to = REAL(out);
    for (size_t j = 0; j < so.sock_data_trajectories(data); j++) {
        const double *t = NULL, *x = NULL, *u = m ? so.sock_data_input(data, j) : NULL;
        const size_t n = so.sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i < n; i++, to += rows) {
            to[0] = (double)(j + 1), to[1] = t[i];
            memcpy(to + 2, x + i * d, d * sizeof *to);
            if (m) memcpy(to + 2 + d, u + i * m, m * sizeof *to);
        }
    }
    UNPROTECT(1);
    return out;
}

/* ---- Models ---- */

static SEXP r_fit(SEXP data, SEXP keys, SEXP values, SEXP threads)
{
    const sock_data *from = held(data, "data set");
    SEXP pointer = PROTECT(owner(free_model));
    call c;
    sock_model *model = NULL;
    if (begin(&c, keys, values, threads)) good(&c, so.sock_fit(c.ctx, from, c.opts, &model));
    R_SetExternalPtrAddr(pointer, model);
    finish(&c);
    keep_model(pointer);
    UNPROTECT(1);
    return pointer;
}

static SEXP r_fit_files(SEXP paths, SEXP keys, SEXP values, SEXP threads)
{
    const char **list = path_list(paths);
    SEXP pointer = PROTECT(owner(free_model));
    call c;
    sock_model *model = NULL;
    if (begin(&c, keys, values, threads))
        good(&c, so.sock_fit_files(c.ctx, (size_t)Rf_xlength(paths), list, c.opts, &model));
    R_SetExternalPtrAddr(pointer, model);
    finish(&c);
    keep_model(pointer);
    UNPROTECT(1);
    return pointer;
}

static SEXP r_model_load(SEXP path)
{
    SEXP pointer = PROTECT(owner(free_model));
    call c;
    sock_model *model = NULL;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0)))
        good(&c, so.sock_model_load(c.ctx, CHAR(STRING_ELT(path, 0)), &model));
    R_SetExternalPtrAddr(pointer, model);
    finish(&c);
    keep_model(pointer);
    UNPROTECT(1);
    return pointer;
}

static SEXP r_model_save(SEXP pointer, SEXP path)
{
    const sock_model *model = held(pointer, "model");
    call c;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0)))
        good(&c, so.sock_model_save(c.ctx, model, CHAR(STRING_ELT(path, 0))));
    finish(&c);
    return R_NilValue;
}

static SEXP r_model_names(SEXP pointer)
{
    const sock_model *model = held(pointer, "model");
    const size_t d = so.sock_model_dim(model);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)d));
    for (size_t k = 0; k < d; k++) SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkCharCE(so.sock_model_name(model, k), CE_UTF8));
    UNPROTECT(1);
    return out;
}

/* The inputs of a model: their names, and behind them their holds. */
static SEXP r_model_inputs(SEXP pointer)
{
    const sock_model *model = held(pointer, "model");
    const size_t m = so.sock_model_inputs(model);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)(2 * m)));
    for (size_t k = 0; k < m; k++) {
        SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkCharCE(so.sock_model_input_name(model, k), CE_UTF8));
        SET_STRING_ELT(out, (R_xlen_t)(m + k), Rf_mkChar(so.sock_model_input_hold(model, k)));
    }
    UNPROTECT(1);
    return out;
}

static SEXP r_model_has_diffusion(SEXP pointer)
{
    return Rf_ScalarLogical(so.sock_model_has_diffusion(held(pointer, "model")));
}

static SEXP r_model_order(SEXP pointer) { return Rf_ScalarInteger(so.sock_model_order(held(pointer, "model"))); }

static SEXP r_model_info(SEXP pointer)
{
    const sock_model *model = held(pointer, "model");
    call c;
    char *json = NULL;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_model_info(c.ctx, model, &json));
    return told(&c, json);
}

static SEXP r_model_summary(SEXP pointer)
{
    const sock_model *model = held(pointer, "model");
    call c;
    char *text = NULL;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_model_summary(c.ctx, model, &text));
    return told(&c, text);
}

static SEXP r_model_terms(SEXP pointer)
{
    const sock_model *model = held(pointer, "model");
    call c;
    char *json = NULL;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_model_terms(c.ctx, model, &json));
    return told(&c, json);
}

/* which: 0 drift (d x n), 1 diffusion, 2 sigma (d x d x n, symmetric, so that rows and columns are the same). u: inputs
 * of the model (m x n). */
static SEXP r_field(SEXP pointer, SEXP which, SEXP x, SEXP u, SEXP threads)
{
    const sock_model *model = held(pointer, "model");
    const size_t d = so.sock_model_dim(model), n = (size_t)Rf_xlength(x) / (d ? d : 1);
    const int field = Rf_asInteger(which);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n * d * (field ? d : 1))));
    call c;
    if (begin(&c, R_NilValue, R_NilValue, threads) && n > 0)
        good(&c, field == 2 ? so.sock_model_sigma_at(c.ctx, model, n, REAL(x), REAL(u), REAL(out))
                            : so.sock_model_evaluate_at(c.ctx, model, n, REAL(x), REAL(u), field ? NULL : REAL(out),
                                                        field ? REAL(out) : NULL));
    finish(&c);
    UNPROTECT(1);
    return out;
}

/* The ends of a band of a field (as above), the upper behind the lower. */
static SEXP r_band(SEXP pointer, SEXP which, SEXP x, SEXP u, SEXP level, SEXP simultaneous)
{
    const sock_model *model = held(pointer, "model");
    const size_t d = so.sock_model_dim(model), n = (size_t)Rf_xlength(x) / (d ? d : 1);
    const int field = Rf_asInteger(which);
    const size_t size = n * d * (field ? d : 1);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(2 * size)));
    double *low = REAL(out), *high = low + size;
    sock_bands bands = {.simultaneous = Rf_asLogical(simultaneous) == TRUE};
    call c;
    if (field == 0) bands.f_low = low, bands.f_high = high;
    if (field == 1) bands.a_low = low, bands.a_high = high;
    if (field == 2) bands.sigma_low = low, bands.sigma_high = high;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0)) && n > 0)
        good(&c, so.sock_model_bands_at(c.ctx, model, n, REAL(x), REAL(u), Rf_asReal(level), &bands));
    finish(&c);
    UNPROTECT(1);
    return out;
}

static SEXP r_draw(SEXP pointer, SEXP seed, SEXP number)
{
    const sock_model *model = held(pointer, "model");
    sock_model *draw = NULL;
    SEXP out = PROTECT(owner(free_model));
    call c;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0)))
        good(&c, so.sock_model_draw(c.ctx, model, (uint64_t)Rf_asReal(seed), (uint64_t)Rf_asReal(number), &draw));
    R_SetExternalPtrAddr(out, draw);
    finish(&c);
    keep_model(pointer);
    UNPROTECT(1);
    return out;
}

/* Paths: d x times x paths. u: inputs of the model at the times t (m x times). */
static SEXP r_simulate(SEXP pointer, SEXP x0, SEXP paths, SEXP t, SEXP u, SEXP step, SEXP seed, SEXP uncertain,
                       SEXP observed, SEXP keys, SEXP values)
{
    const sock_model *model = held(pointer, "model");
    const size_t d = so.sock_model_dim(model);
    sock_simulation spec = {.starts = 1,
                            .x0 = REAL(x0),
                            .paths = (size_t)Rf_asReal(paths),
                            .times = (size_t)Rf_xlength(t),
                            .t = REAL(t),
                            .step = Rf_asReal(step),
                            .seed = (uint64_t)Rf_asReal(seed),
                            .uncertain = Rf_asLogical(uncertain) == TRUE,
                            .observed = Rf_asLogical(observed) == TRUE};
    double *bounds = (double *)R_alloc(2 * d, sizeof *bounds);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(spec.paths * spec.times * d)));
    call c;
    spec.lower = bounds, spec.upper = bounds + d;
    if (Rf_xlength(u)) spec.input_times = spec.times, spec.input_t = REAL(t), spec.u = REAL(u);
    if (begin(&c, keys, values, Rf_ScalarInteger(0)) &&
        good(&c, so.sock_simulation_bounds(c.ctx, c.opts, d, &spec.bounds, bounds, bounds + d)))
        good(&c, so.sock_simulate(c.ctx, model, &spec, REAL(out), NULL, NULL));
    finish(&c);
    UNPROTECT(1);
    return out;
}

/* States given all observations and their standard deviations: 2 d x points. */
static SEXP r_smooth(SEXP pointer, SEXP data)
{
    const sock_model *model = held(pointer, "model");
    const sock_data *on = held(data, "data set");
    const size_t d = so.sock_model_dim(model), points = so.sock_data_points(on);
    double *mean = (double *)R_alloc(points * d, sizeof *mean), *sd = (double *)R_alloc(points * d, sizeof *sd);
    SEXP none = PROTECT(Rf_allocVector(STRSXP, 0)), out = PROTECT(Rf_allocMatrix(REALSXP, (int)(2 * d), (int)points));
    call c;
    if (begin(&c, none, none, Rf_ScalarInteger(0)) && good(&c, so.sock_smooth(c.ctx, model, on, mean, sd)))
        for (size_t i = 0; i < points; i++) {
            memcpy(REAL(out) + 2 * i * d, mean + i * d, d * sizeof *mean);
            memcpy(REAL(out) + (2 * i + 1) * d, sd + i * d, d * sizeof *sd);
        }
    finish(&c);
    UNPROTECT(2);
    return out;
}

static double value_or_na(const sock_value *value) { return value->valid ? value->value : NA_REAL; }

/* loglik, perplexity_raw, mmd2, intervals, d, then by moments, by the filter, and the score. */
static void put_scores(const sock_scores *s, double *out)
{
    const double all[10] = {value_or_na(&s->loglik),
                            value_or_na(&s->perplexity_raw),
                            value_or_na(&s->mmd2),
                            (double)s->intervals,
                            (double)s->d,
                            value_or_na(&s->loglik_moments),
                            value_or_na(&s->perplexity_moments_raw),
                            value_or_na(&s->loglik_filter),
                            value_or_na(&s->perplexity_filter_raw),
                            value_or_na(&s->score)};
    memcpy(out, all, sizeof all);
}

static SEXP r_score(SEXP pointer, SEXP test, SEXP train, SEXP keys, SEXP values)
{
    const sock_model *model = held(pointer, "model");
    const sock_data *on = held(test, "data set");
    const sock_data *scale = Rf_isNull(train) ? NULL : held(train, "data set");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 10));
    call c;
    sock_scores s = {0};
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_score(c.ctx, model, on, scale, NULL, c.opts, &s));
    put_scores(&s, REAL(out));
    finish(&c);
    UNPROTECT(1);
    return out;
}

/* The same of files that stay on the disk. */
static SEXP r_score_files(SEXP pointer, SEXP paths, SEXP keys, SEXP values)
{
    const sock_model *model = held(pointer, "model");
    const char **list = path_list(paths);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 10));
    call c;
    sock_scores s = {0};
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_score_files(c.ctx, model, (size_t)Rf_xlength(paths), list, NULL, c.opts, &s));
    put_scores(&s, REAL(out));
    finish(&c);
    UNPROTECT(1);
    return out;
}

/* The text of sock_checks_json. */
static SEXP r_check(SEXP pointer, SEXP data, SEXP keys, SEXP values)
{
    const sock_model *model = held(pointer, "model");
    const sock_data *on = held(data, "data set");
    call c;
    char *json = NULL;
    sock_checks checks;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)) && good(&c, so.sock_check(c.ctx, model, on, c.opts, &checks)))
        good(&c, so.sock_checks_json(c.ctx, &checks, &json));
    return told(&c, json);
}

/* The text of sock_evidence. */
static SEXP r_evidence(SEXP pointer, SEXP data)
{
    const sock_model *model = held(pointer, "model");
    const sock_data *on = held(data, "data set");
    call c;
    char *json = NULL;
    if (begin(&c, R_NilValue, R_NilValue, Rf_ScalarInteger(0))) good(&c, so.sock_evidence(c.ctx, model, on, &json));
    return told(&c, json);
}

/* The text of sock_explain. data may be NULL. */
static SEXP r_explain(SEXP pointer, SEXP data, SEXP u, SEXP keys, SEXP values)
{
    const sock_model *model = held(pointer, "model");
    const sock_data *on = Rf_isNull(data) ? NULL : held(data, "data set");
    call c;
    char *json = NULL;
    if (begin(&c, keys, values, Rf_ScalarInteger(0)))
        good(&c, so.sock_explain(c.ctx, model, on, REAL(u), c.opts, &json));
    return told(&c, json);
}

static SEXP r_version(void) { return Rf_mkString(so.sock_version()); }

static SEXP r_blas_remark(void) { return Rf_mkString(so.sock_blas_remark()); }

static SEXP r_option_keys(void)
{
    const size_t count = so.sock_option_count();
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) SET_STRING_ELT(out, (R_xlen_t)i, Rf_mkChar(so.sock_option_describe(i).key));
    UNPROTECT(1);
    return out;
}

/* Keys, types and allowed values of all options: a matrix of three rows. */
static SEXP r_option_table(void)
{
    const size_t count = so.sock_option_count();
    SEXP out = PROTECT(Rf_allocMatrix(STRSXP, 3, (int)count));
    for (size_t i = 0; i < count; i++) {
        const sock_option_info row = so.sock_option_describe(i);
        const char *const text[] = {row.key, row.type, row.allowed};
        for (size_t k = 0; k < 3; k++) SET_STRING_ELT(out, (R_xlen_t)(3 * i + k), Rf_mkChar(text[k]));
    }
    UNPROTECT(1);
    return out;
}

#define ENTRY(name, count)                                                                                             \
    {                                                                                                                  \
        "C_" #name, (DL_FUNC)r_##name, count                                                                           \
    }
static const R_CallMethodDef entries[] = {
    ENTRY(open, 1),         ENTRY(data_read, 3),     ENTRY(data_convert, 5),
    ENTRY(score_files, 4),  ENTRY(arrow_convert, 5), ENTRY(info_files, 3),
    ENTRY(data_arrays, 7),  ENTRY(data_counts, 1),   ENTRY(data_unit, 2),
    ENTRY(data_names, 1),   ENTRY(data_ids, 1),      ENTRY(data_values, 1),
    ENTRY(data_inputs, 1),  ENTRY(fit, 4),           ENTRY(fit_files, 4),
    ENTRY(model_load, 1),   ENTRY(model_save, 2),    ENTRY(model_names, 1),
    ENTRY(model_inputs, 1), ENTRY(model_order, 1),   ENTRY(model_has_diffusion, 1),
    ENTRY(model_info, 1),   ENTRY(model_summary, 1), ENTRY(field, 5),
    ENTRY(band, 5),         ENTRY(draw, 3),          ENTRY(simulate, 11),
    ENTRY(smooth, 2),       ENTRY(score, 5),         ENTRY(check, 4),
    ENTRY(evidence, 2),     ENTRY(explain, 5),       ENTRY(version, 0),
    ENTRY(blas_remark, 0),  ENTRY(option_keys, 0),   ENTRY(model_terms, 1),
    ENTRY(data_arrow, 3),   ENTRY(option_table, 0),  {NULL, NULL, 0}};

void R_init_sock(DllInfo *info);
void R_init_sock(DllInfo *info)
{
    R_registerRoutines(info, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
}
