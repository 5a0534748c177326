/* edgestream.c - the claim "sample": what a stream learns by the plan of its sample, against the plan of all its rows.
 */
#define _GNU_SOURCE
#include "experiments/edgedata.h"
#include "experiments/edges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { STEPS = 200, SMALL = 10 }; /* of a path; so many times fewer paths with --quick */

typedef struct scene {
    const char *system;
    size_t d, paths; /* d: of a system that leaves it open */
} scene;

static const scene scenes[] = {
    {"doublewell", 0, 5000}, {"gbm", 0, 5000}, {"vanderpol", 0, 5000}, {"oscillator", 0, 5000}, {"lorenz96", 10, 1000}};

/* By the plan of `rows` rows (0: the usual sample): percent of the errors of f and a. */
static sock_status errors(edge *e, const edge_paths *p, const char *path, size_t rows, double *f, double *a)
{
    char count[32];
    snprintf(count, sizeof count, "%zu", rows);
    const char *const wanted[][2] = {{"stream", "yes"}, {"noise", "none"}, {"substeps", "1"},
                                     {"check", "no"},   {"bands", "no"},   {"search-rows", count}};
    const size_t settings = COUNT(wanted) - (rows ? 0 : 1);
    sock_options *opts = sock_options_new(e->ctx);
    sock_model *model = NULL;
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < settings; i++)
        status = sock_options_set(e->ctx, opts, wanted[i][0], wanted[i][1]);
    if (status >= 0) status = sock_fit_files(e->ctx, 1, &path, opts, &model);
    if (status >= 0) status = edge_change(e->ctx, p, p->truth, model, (edge_telling){0}, f, a);
    sock_model_free(model);
    sock_options_free(opts);
    return status;
}

static sock_status compare(edge *e, const edge_paths *p, const char *path)
{
    double sample[2] = {NAN, NAN}, all[2] = {NAN, NAN};
    sock_status status = errors(e, p, path, 0, &sample[0], &sample[1]);
    if (status >= 0) status = errors(e, p, path, p->paths * (p->points - 1), &all[0], &all[1]);
    for (size_t k = 0; status >= 0 && k < 2; k++) {
        static const char *const by_sample[] = {"RE_f %, sample", "RE_a %, sample"};
        static const char *const by_all[] = {"RE_f %, all rows", "RE_a %, all rows"};
        static const char *const ratio[] = {"RE_f, sample / all", "RE_a, sample / all"};
        status = edge_tell(e, p->system.name, by_sample[k], sample[k], 0, CLAIM_NONE);
        if (status >= 0) status = edge_tell(e, p->system.name, by_all[k], all[k], 0, CLAIM_NONE);
        if (status >= 0) status = edge_tell(e, p->system.name, ratio[k], sample[k] / all[k], 1.1, CLAIM_MEDIAN);
    }
    return status;
}

/* The data as a file in a folder of its own. */
static sock_status measure_scene(edge *e, const scene *at, const char *folder)
{
    const size_t paths = e->settings->quick ? at->paths / SMALL : at->paths;
    edge_paths p;
    sock_data *data = NULL;
    char path[300];
    sock_status status = edge_simulate(e->ctx, at->system, at->d, paths, STEPS + 1, e->seed, &p);
    if (status < 0) return status;
    snprintf(path, sizeof path, "%s/data.csv", folder);
    status = edge_data(e->ctx, &p, (edge_telling){0}, &data);
    if (status >= 0) status = sock_data_write(e->ctx, data, path);
    sock_data_free(data);
    if (status >= 0) status = compare(e, &p, path);
    unlink(path);
    edge_free(&p);
    return status;
}

sock_status edge_measure_sample(edge *e)
{
    const char *usual = getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof folder, "%.200s/sock-sample-XXXXXX", usual && usual[0] ? usual : "/var/tmp");
    if (!mkdtemp(folder)) return SOCK_EIO;
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < COUNT(scenes); i++) status = measure_scene(e, &scenes[i], folder);
    rmdir(folder);
    return status;
}
