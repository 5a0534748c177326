/* knowntruth.c - see knowntruth.h. */
#define _GNU_SOURCE
#include "knowntruth.h"

#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_random_parameters(const sys_system *system)
{
    for (size_t i = 0; i < sys_parameters(system); i++)
        if (isnan(system->parameters[i].value)) return true;
    return false;
}

static int unknown_truth(const cli *c, const char *source)
{
    char list[512] = "", meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(source, strlen(source));
    for (size_t i = 0; i < sys_count(); i++) {
        sk_nearest_try(&near, sys_at(i)->name);
        strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, sys_at(i)->name, sizeof list - strlen(list) - 1);
    }
    return cli_usage_error(c, "--truth is '%s'%s; allowed: a truth.json of 'sock dataset', or one of %s", source,
                           sk_meant(&near, meant), list);
}

/* The number of the error, or 0 when it can be opened. */
static int error_of_opening(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return errno;
    fclose(file);
    return 0;
}

int truth_load(const cli *c, truth *t)
{
    if (!t->source) return -1;
    const sys_system *by_name = sys_find(t->source);
    const int error = by_name || strcmp(t->source, "-") == 0 ? 0 : error_of_opening(t->source);
    if (error == ENOMEM) return cli_fail(c, SOCK_ENOMEM);
    if (error) return unknown_truth(c, t->source);
    uint64_t seed = (uint64_t)strtod(sock_options_get(c->opts, "seed"), NULL);
    sock_status status = sys_load(c->ctx, t->source, seed, &t->instance);
    if (status >= 0) status = sys_truth(c->ctx, t->instance, &t->model);
    if (status < 0) return cli_fail(c, status);
    if (by_name && has_random_parameters(by_name))
        cli_note(c,
                 "the parameters of %s were drawn from --seed %llu; if the data have another seed, give their "
                 "truth.json",
                 by_name->name, (unsigned long long)seed);
    if (t->instance->system->approximate)
        cli_note(c, "the truth of %s is an approximation of the process that made the data", t->instance->system->name);
    return -1;
}

void truth_clear(truth *t)
{
    sock_model_free(t->model);
    sys_free(t->instance);
}
