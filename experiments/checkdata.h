/* checkdata.h - data of models that are right and of models that are wrong in a known way: noise on the points, a
 * hidden velocity, jumps, a trend, a season, steps that are long, kernels that are too stiff. */
#ifndef EXP_CHECKDATA_H
#define EXP_CHECKDATA_H

#include "sock.h"
#include "systems/systems.h"

typedef struct check_scene check_scene;

struct check_scene {
    const char *name, *says;
    const char *system;      /* a system of second order by its name: positions of its first paths; NULL: as below */
    size_t d, paths, points; /* the first state of d is kept */
    double gap;
    double inner;                   /* Euler steps of the simulation in a gap; 0: 20 */
    sock_field_fn drift, diffusion; /* user: a check_time */
    double noise;                   /* variance of the noise on the points over h a */
    double a;                       /* what the diffusion is where it is constant */
    double jump, jump_rate;         /* standard deviation and rate of jumps at the ends of steps */
    double apart;                   /* standard deviation by which whole paths are moved */
    double slope, wave, period;     /* forcing: slope (t - T / 2) + wave sin(2 pi t / period) */
    const char *options[6];         /* of the fit: key, value, ...; NULL after the last */
    double goal;                    /* share of objections: at most this for a model that is right, */
    int right;                      /* else at least */
    const char *pattern;            /* what the verdict should be; NULL: not judged */
};

extern const check_scene check_scenes[];
extern const size_t check_scene_count;

/* A scene by its name; NULL: there is none. */
const check_scene *check_find(const char *name);

/* Models that are right, seen with noise or at long steps: for the study of their bands. */
extern const check_scene cover_scenes[];
extern const size_t cover_scene_count;

/* User data of the fields: the scene, and the time of the step, within which the forcing rests. */
typedef struct check_time {
    const check_scene *scene;
    double t;
} check_time;

sock_status check_data(sock_context *ctx, const check_scene *scene, uint64_t seed, sock_data **out);

/* The model that made the data, without its noise on the points. It needs `now` and *instance as long as it lives. */
sock_status check_truth(sock_context *ctx, const check_scene *scene, uint64_t seed, check_time *now,
                        sys_instance **instance, sock_model **out);

#endif
