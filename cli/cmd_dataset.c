/* cmd_dataset.c - sock dataset: trajectories of a known system, to try things on. */
#define _GNU_SOURCE
#include "cli.h"
#include "systems/systems.h"

#include "base/nearest.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const keys[] = {"seed", NULL};

/* One object on standard output; takes it over. */
static void print_json(json_t *object)
{
    char *text = object ? json_dumps(object, 0) : NULL;
    if (text) printf("%s\n", text);
    free(text);
    json_decref(object);
}

static int list_systems(const cli *c)
{
    json_t *list = c->json ? json_object() : NULL;
    for (size_t i = 0; i < sys_count(); i++)
        if (c->json)
            json_object_set_new(list, sys_at(i)->name, json_string(sys_at(i)->title));
        else
            printf("%-12s %s\n", sys_at(i)->name, sys_at(i)->title);
    if (c->json) print_json(list);
    return cli_finish_output(c);
}

static int unknown(const cli *c, const char *name)
{
    char list[512] = "", meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(name, strlen(name));
    for (size_t i = 0; i < sys_count(); i++) {
        sk_nearest_try(&near, sys_at(i)->name);
        strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, sys_at(i)->name, sizeof list - strlen(list) - 1);
    }
    return cli_usage_error(c, "unknown system '%s'%s; allowed: %s", name, sk_meant(&near, meant), list);
}

static const char *const set_file[SYS_SETS] = {"train.csv", "validation.csv", "test.csv"};

/* *there: whether the folder has a file of this name. Answers as cli_begin: not knowing is not the same as no. */
static int look_for(const cli *c, const char *folder, const char *name, bool *there)
{
    char *path = NULL;
    struct stat info;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return cli_fail(c, SOCK_ENOMEM);
    *there = stat(path, &info) == 0;
    const int reason = *there || errno == ENOENT ? 0 : errno;
    free(path);
    return reason ? cli_failure(c, "%s/%s: cannot be looked at: %s", folder, name, strerror(reason)) : -1;
}

/* The files of an earlier run, which has left a truth.json with them, are replaced; somebody's own train.csv is not. */
static int check_folder(const cli *c, const char *folder)
{
    bool ours = false, there = false;
    int code = look_for(c, folder, "truth.json", &ours);
    for (int s = 0; code < 0 && !ours && s < SYS_SETS; s++) {
        code = look_for(c, folder, set_file[s], &there);
        if (code < 0 && there)
            code = cli_failure(c,
                               "%s/%s is there and would be replaced, but was not made by sock dataset (there is no "
                               "truth.json beside it); give another folder",
                               folder, set_file[s]);
    }
    return code;
}

/* truth.json first: with it a run that was broken off can be repeated. */
static sock_status write_truth(const cli *c, const sys_instance *instance, const char *folder)
{
    char *path = NULL;
    if (asprintf(&path, "%s/truth.json", folder) < 0) return SOCK_ENOMEM;
    sock_status status = sys_save(c->ctx, instance, path);
    if (status >= 0 && !c->json) printf("%-30s what made the data\n", path);
    free(path);
    return status;
}

static sock_status write_sets(const cli *c, const sys_instance *instance, const char *folder)
{
    char *path = NULL;
    sock_status status = write_truth(c, instance, folder);
    for (int s = 0; status >= 0 && s < SYS_SETS; s++) {
        sock_data *data = NULL;
        status = sys_generate(c->ctx, instance, (sys_set)s, &data);
        if (status >= 0 && asprintf(&path, "%s/%s", folder, set_file[s]) < 0) status = SOCK_ENOMEM;
        if (status >= 0) status = sock_data_write(c->ctx, data, path);
        if (status >= 0 && !c->json)
            printf("%-30s %zu trajectories, %zu points\n", path, sock_data_trajectories(data), sock_data_points(data));
        free(path);
        path = NULL;
        sock_data_free(data);
    }
    if (status >= 0 && c->json)
        print_json(json_pack("{s:s, s:s, s:I}", "system", instance->system->name, "folder", folder, "seed",
                             (json_int_t)instance->seed));
    return status;
}

static int run(int count, char **arguments)
{
    const char *folder = NULL, *box = NULL;
    const cli_option own[] = {
        {"output", 'o', &folder, NULL, "DIR", "folder for train.csv, validation.csv, test.csv, truth.json"},
        {"box", 0, &box, NULL, "B", "starts are drawn from [-B, B]^d (default: the system's own)"},
        {0}};
    cli c;
    sys_instance *instance = NULL;
    int code = cli_begin(&c, &verb_dataset, own, count, arguments);
    if (code < 0 && c.operands == 0) {
        code = list_systems(&c);
        goto out;
    }
    if (code < 0) code = cli_operands(&c, 1);
    if (code >= 0) goto out;
    const sys_system *system = sys_find(c.operand[0]);
    if (!system) {
        code = unknown(&c, c.operand[0]);
        goto out;
    }
    if (!folder) {
        code = cli_usage_error(&c, "give the folder for the files: -o DIR");
        goto out;
    }
    uint64_t seed = (uint64_t)strtod(sock_options_get(c.opts, "seed"), NULL); /* whole and at most 2^53, or 1e6 */
    sock_status status = sys_new(c.ctx, system, seed, &instance);
    if (status >= 0 && box) {
        char *end;
        instance->box = strtod(box, &end);
        if (end == box || *end || !(instance->box > 0) || instance->box > 1e6 || system->box <= 0) {
            code = system->box <= 0 ? cli_usage_error(&c, "--box: %s has starts of its own", system->name)
                                    : cli_usage_error(&c, "--box is '%s'; allowed: a number > 0, at most 1e6", box);
            goto out;
        }
    }
    if (status >= 0 && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        code = cli_failure(&c, "%s: the folder cannot be made: %s", folder, strerror(errno));
        goto out;
    }
    if (status >= 0 && (code = check_folder(&c, folder)) >= 0) goto out;
    if (status >= 0) status = write_sets(&c, instance, folder);
    code = status < 0 ? cli_fail(&c, status) : cli_finish_output(&c);
out:
    sys_free(instance);
    cli_end(&c);
    return code;
}

const cli_verb verb_dataset = {"dataset",
                               "dataset NAME --seed S -o DIR",
                               "make trajectories of a known system (without NAME: list them)",
                               "  sock dataset gbm --seed 1 -o data",
                               keys,
                               run};
