/* systems.h - known SDEs behind one table: the data sets of the paper, a few textbook processes, and a simulated
 * stand-in for the amyloid data. A guest of the library: what it makes are sock_data and sock_model like any other.
 *
 *     sys_instance *gbm = NULL;
 *     sys_new(ctx, sys_find("gbm"), seed, &gbm);        parameters drawn or by default
 *     sys_generate(ctx, gbm, SYS_TRAIN, &data);         trajectories
 *     sys_truth(ctx, gbm, &model);                      the true f and a, to score against
 *     sys_save(ctx, gbm, "truth.json");                 enough to make the same instance again: sys_load
 *
 * For other languages the folder is also a shared library of its own, libsocksystems.so, beside libsock.so.
 *
 * The numbers depend on the system, the seed, the set and the trajectory's index alone: not on the number of threads,
 * nor on how many trajectories are made. */
#ifndef SYS_SYSTEMS_H
#define SYS_SYSTEMS_H

#include "sock.h"

enum { SYS_MAX_PARAMETERS = 8, SYS_MAX_DIM = 100, SYS_MAX_INPUTS = 4, SYS_SETS = 3 };

typedef enum sys_set { SYS_TRAIN, SYS_VALIDATION, SYS_TEST } sys_set;

typedef struct sys_parameter {
    const char *name;
    double value; /* the default; NaN: drawn from the seed, uniform on (-1, 1) */
} sys_parameter;

typedef struct sys_instance sys_instance;
typedef struct sys_system sys_system;

/* Bounds of all states: none, x >= 0, 0 <= x <= 1. */
typedef enum sys_ends { SYS_ENDLESS, SYS_POSITIVE, SYS_FRACTIONS } sys_ends;

struct sys_path;

struct sys_system {
    const char *name, *title;
    size_t d;
    const char *names[SYS_MAX_DIM]; /* of the state */
    sys_parameter parameters[SYS_MAX_PARAMETERS];
    size_t trajectories[SYS_SETS];  /* of the training, validation and test sets */
    size_t points;                  /* of a trajectory, equispaced; 0: irregular */
    double horizon;                 /* last time; the first is 0 */
    double box;                     /* starts are uniform on [-box, box]^d; 0: the system has starts of its own */
    double tau;                     /* inner Euler-Maruyama step; 0: simulated exactly, event by event */
    double delta;                   /* recommended for scoring: added to the covariance of a step where a is singular */
    int approximate;                /* the truth is an approximation of the process that made the data */
    sock_field_fn drift, diffusion; /* f and a = sigma sigma'; user is the sys_instance */
    /* Known inputs beside the states: columns of the data, of which the fields need the first `needed`; f, a and noise
     * then get points of d + needed numbers. input: their values (inputs of them) in one trajectory at a time. */
    size_t inputs, needed;
    const char *input_names[SYS_MAX_INPUTS], *holds[SYS_MAX_INPUTS];
    void (*input)(const sys_instance *instance, uint64_t stream, double t, double *u);
    /* out = sigma(x) dw at one point. NULL for a system that is simulated exactly. */
    void (*noise)(const sys_instance *instance, const double *x, const double *dw, double *out);
    void (*jumps)(const sys_instance *instance, const struct sys_path *path); /* such a system's paths */
    double low, high; /* starts of its own: uniform on [low, high]^d; high 0: none */
    sys_ends ends;    /* where its states end: paths stop there */
    int order;        /* 2: the second half of the states are velocities, which its data do not have; else 0 */
};

/* A system with its parameters. box and trajectories start as in the table and may be changed before sys_generate. */
struct sys_instance {
    const sys_system *system;
    uint64_t seed;
    double parameter[SYS_MAX_PARAMETERS]; /* in the order of the table */
    double box;
    size_t trajectories[SYS_SETS];
};

/* The table, index from 0 to sys_count() - 1; NULL beyond, and for an unknown name. Static storage. */
SOCK_API size_t sys_count(void);
SOCK_API const sys_system *sys_at(size_t index);
SOCK_API const sys_system *sys_find(const char *name);

/* How many parameters a system has. */
SOCK_API size_t sys_parameters(const sys_system *system);

/* An instance with the table's parameters, the random ones drawn from the seed. Freed with sys_free (NULL is fine). */
SOCK_API sock_status sys_new(sock_context *ctx, const sys_system *system, uint64_t seed, sys_instance **out);
SOCK_API void sys_free(sys_instance *instance);

/* One set of trajectories: instance->trajectories[set] of them. */
SOCK_API sock_status sys_generate(sock_context *ctx, const sys_instance *instance, sys_set set, sock_data **out);

/* The true f and a as a model. The instance must live as long as the model. */
SOCK_API sock_status sys_truth(sock_context *ctx, const sys_instance *instance, sock_model **out);

/* System, title, seed, box, delta and parameters as JSON; freed with sock_string_free. */
SOCK_API sock_status sys_describe(sock_context *ctx, const sys_instance *instance, char **json);

/* The same, written whole or not at all; and back. `source` is such a file, or the name
 * of a system (then with the given seed and the table's parameters). */
SOCK_API sock_status sys_save(sock_context *ctx, const sys_instance *instance, const char *path);
SOCK_API sock_status sys_load(sock_context *ctx, const char *source, uint64_t seed, sys_instance **out);

/* From the bytes of such a file, which `source` names in messages. */
sock_status sys_parse(sock_context *ctx, const char *source, const char *bytes, size_t size, sys_instance **out);

/* ---- A real study of the same shape as the amyloid data ---- */

/* Bilirubin of patients of the liver study pbcseq, read at run time from R's package survival (Rscript must be on the
 * PATH; nothing of it is kept here). One state, the logarithm of bilirubin (mg/dl), time in years from the first visit.
 * Thinned to the shape of the amyloid data: of each patient the first visit and 1 to 5 others, drawn by the seed;
 * patients are dealt to the three sets as 208 : 29 : 61. Patients with one visit are left out. SOCK_EIO when there is
 * no R, or no such package; nothing is made then. */
sock_status sys_pbcseq(sock_context *ctx, uint64_t seed, sock_data *out[SYS_SETS]);

/* ---- For the generators in this folder ---- */

enum { /* what a stream of random numbers drives: the second counter of sk_normals and sk_uniforms */
       SYS_STREAM_BROWNIAN = 0,
       SYS_STREAM_START = 1,
       SYS_STREAM_PARAMETERS = 2,
       SYS_STREAM_TIMES = 3,
       SYS_STREAM_EVENTS = 4,
       SYS_STREAM_PATIENTS = 5,
       SYS_STREAM_INPUTS = 6
};

/* A trajectory in the making: `stream` numbers it within the seed (set and index), t holds `points` times, the first is
 * 0; x (points x d) is to be filled. */
typedef struct sys_path {
    uint64_t stream;
    size_t points;
    const double *t;
    double *x;
} sys_path;

/* SIR and a logistic population as jump processes, exactly (Gillespie's direct method). */
void sys_gillespie(const sys_instance *instance, const sys_path *path);
void sys_logistic_jumps(const sys_instance *instance, const sys_path *path);

/* The visits and the start of a simulated amyloid patient: 2 to 6 visits, 2.96 on average. times: room for 6. */
enum { SYS_MAX_VISITS = 6 };
size_t sys_visit_count(double u); /* u uniform on (0, 1) */
size_t sys_amyloid_visits(const sys_instance *instance, uint64_t stream, double *times);
double sys_amyloid_start(const sys_instance *instance, uint64_t stream);

#endif
