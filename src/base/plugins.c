/* plugins.c - see plugins.h. A plugin is code that runs with all that the user may do, so it is taken from named places
 * alone, by its whole path: the folder that SOCK_PLUGINS names, which must begin with '/', or else where the library
 * (or the program) itself lies, and the folder of plugins of an installation. Never from the current folder, nor from
 * where the loader looks for libraries. */
#define _GNU_SOURCE
#include "plugins.h"

#include "context.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SK_PLUGIN_FOLDER
#define SK_PLUGIN_FOLDER "../lib/sock" /* of an installation, from the folder of the program */
#endif

static const char file_name[] = "libsock-cuda.so";
static const char *const operation_name[SK_OPERATIONS] = {"sums", "levels", "exact drift", "simulation"};

struct sk_plugin {
    char wish[32]; /* what was asked for */
    bool named;    /* the device, not "auto" */
    void *library;
    sk_device own;
    const sk_device *device; /* own, one that was lent, or NULL: none was found, */
    char reason[320];        /* because */
    const sk_device *lent;
    pthread_mutex_t lock;
    size_t done[SK_OPERATIONS], left[SK_OPERATIONS]; /* by the device; left to the host because it could not */
    char why[SK_OPERATIONS][160];
    char told[1024];
};

/* ---- Where it is ---- */

/* The name of the file that this code is in; of the program none, whose name may be that of a call. */
static const char *own_file(void)
{
    Dl_info info;
    const void *here = (const void *)operation_name;
#ifdef __GLIBC__
    struct link_map *map = NULL;
    if (!dladdr1(here, &info, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    return map && map->l_name ? map->l_name : "";
#else
    if (!dladdr(here, &info)) return NULL;
    return info.dli_fname && info.dli_fname[0] == '/' ? info.dli_fname : "";
#endif
}

/* The folder of that file. */
static bool own_folder(char folder[PATH_MAX])
{
    const char *file = own_file();
    char path[PATH_MAX];
    if (!file || !realpath(file[0] ? file : "/proc/self/exe", path)) return false;
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
    memcpy(folder, path, strlen(path) + 1);
    return true;
}

/* A file that others may write is not loaded. */
static bool may_load(const char *path, char *reason, size_t room)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        if (!reason[0]) snprintf(reason, room, "%.200s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        snprintf(reason, room, "%.200s is not a file", path);
        return false;
    }
    if (info.st_mode & S_IWOTH) {
        snprintf(reason, room, "%.200s may be written by anybody", path);
        return false;
    }
    return true;
}

/* The first that is there. */
static bool find_plugin(char path[PATH_MAX + 64], char *reason, size_t room)
{
    static const char *const below[] = {"", "/sock", ("/" SK_PLUGIN_FOLDER)};
    const char *named = getenv("SOCK_PLUGINS");
    char folder[PATH_MAX], first[320] = "";
    if (named && named[0]) {
        if (named[0] != '/') {
            snprintf(reason, room, "SOCK_PLUGINS is '%.200s', which does not begin with '/'", named);
            return false;
        }
        snprintf(path, PATH_MAX + 64, "%.*s/%s", PATH_MAX, named, file_name);
        return may_load(path, reason, room);
    }
    if (!own_folder(folder)) {
        snprintf(reason, room, "the folder of this program cannot be told");
        return false;
    }
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, PATH_MAX + 64, "%.*s%s/%s", PATH_MAX - 1, folder, below[i], file_name);
        if (access(path, F_OK) == 0) return may_load(path, reason, room);
    }
    snprintf(first, sizeof first, "there is none beside %.200s", folder);
    snprintf(reason, room, "%s", first);
    return false;
}

/* ---- Opening ---- */

static int stop_asked(void *user) { return sk_cancelled(user); }

static void close_plugin(sk_plugin *p)
{
    if (p->own.close) p->own.close(p->own.state);
    if (p->library) dlclose(p->library);
    p->own = (sk_device){0};
    p->library = NULL;
    p->device = NULL;
}

static bool complete(const sk_device *d)
{
    const bool sums = d->sums_begin || d->sums_add || d->sums_end || d->sums_drop;
    return d->error && d->close && (!sums || (d->sums_begin && d->sums_add && d->sums_end && d->sums_drop));
}

/* With the reason where it cannot be. */
static bool open_plugin(sock_context *ctx, sk_plugin *p, int number)
{
    char path[PATH_MAX + 64];
    p->reason[0] = 0;
    if (!find_plugin(path, p->reason, sizeof p->reason)) return false;
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!p->library) {
        const char *why = dlerror();
        snprintf(p->reason, sizeof p->reason, "%s", why ? why : "it cannot be loaded");
        return false;
    }
    sk_device_open_fn begin = NULL;
    void *symbol = dlsym(p->library, "sock_device_open");
    memcpy(&begin, &symbol, sizeof begin);
    if (!begin) {
        snprintf(p->reason, sizeof p->reason, "%.200s has no sock_device_open", path);
        return false;
    }
    p->own = (sk_device){.cancelled = stop_asked, .user = ctx};
    const int answer = begin(SK_DEVICE_ABI, sizeof p->own, number, &p->own);
    p->own.name[sizeof p->own.name - 1] = p->own.about[sizeof p->own.about - 1] = 0;
    if (answer == SK_DEVICE_OTHER_ABI ||
        (answer == SK_DEVICE_DONE && (p->own.abi != SK_DEVICE_ABI || p->own.size != sizeof p->own))) {
        p->own.close = NULL; /* its table means something else */
        snprintf(p->reason, sizeof p->reason, "%.200s belongs to another version", path);
        return false;
    }
    if (answer != SK_DEVICE_DONE) {
        p->own.close = NULL;
        snprintf(p->reason, sizeof p->reason, "%s", p->own.about[0] ? p->own.about : "there is no such device");
        return false;
    }
    if (!complete(&p->own)) {
        snprintf(p->reason, sizeof p->reason, "%.200s lacks operations that belong together", path);
        return false;
    }
    p->device = &p->own;
    return true;
}

/* "cuda", "cuda:3": the number; -1 for other words. */
static int number_of(const char *device)
{
    int number = 0, digits = 0;
    if (strncmp(device, "cuda", 4) != 0) return -1;
    if (!device[4]) return 0;
    if (device[4] != ':') return -1;
    for (const char *at = device + 5; *at; at++, digits++) {
        if (*at < '0' || *at > '9' || digits == 3) return -1;
        number = 10 * number + (*at - '0');
    }
    return digits ? number : -1;
}

void sk_plugin_free(sk_plugin *p)
{
    if (!p) return;
    close_plugin(p);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static sock_status need_plugin(sock_context *ctx)
{
    if (ctx->plugin) return SOCK_OK;
    sk_plugin *p = calloc(1, sizeof *p);
    if (!p || pthread_mutex_init(&p->lock, NULL) != 0) {
        free(p);
        return sk_fail(ctx, SOCK_ENOMEM, "no memory for a device");
    }
    ctx->plugin = p;
    return SOCK_OK;
}

sock_status sk_device_choose(sock_context *ctx, const char *device)
{
    const bool cpu = strcmp(device, "cpu") == 0, any = strcmp(device, "auto") == 0;
    const int number = any ? 0 : number_of(device);
    if (!cpu && number < 0)
        return sk_fail(ctx, SOCK_EUSAGE, "device is '%s'; allowed: cpu, auto, cuda, cuda:N with a number", device);
    if (cpu && !ctx->plugin) return SOCK_OK;
    SK_TRY(need_plugin(ctx));
    sk_plugin *p = ctx->plugin;
    if (strcmp(p->wish, device) == 0 && (p->device || any)) return SOCK_OK;
    close_plugin(p);
    sk_device_forget(ctx);
    p->wish[0] = 0;
    p->named = !any;
    if (!cpu) snprintf(p->wish, sizeof p->wish, "%s", device);
    if (cpu || open_plugin(ctx, p, number)) return SOCK_OK;
    close_plugin(p);
    if (any) return SOCK_OK;
    p->wish[0] = 0;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "device is '%s', but %s cannot be used: %s; see docs/scale.md, or leave out --device", device,
                   file_name, p->reason);
}

sock_status sock_set_device(sock_context *ctx, const char *device)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!device) return sk_fail(ctx, SOCK_EUSAGE, "device must not be NULL");
    return sk_device_choose(ctx, device);
}

static _Thread_local const sk_device *of_new_contexts = NULL;

void sk_device_set(const sk_device *device) { of_new_contexts = device; }

const sk_device *sk_device_of_new(void) { return of_new_contexts; }

void sk_device_lend(sock_context *ctx, const sk_device *device)
{
    if (!device || need_plugin(ctx) < 0) return;
    ctx->plugin->lent = device;
}

/* ---- Asking ---- */

static bool offers(const sk_device *d, sk_operation what)
{
    return d && (what == SK_SUMS     ? d->sums_begin != NULL
                 : what == SK_LEVELS ? d->levels != NULL
                 : what == SK_EXACT  ? d->exact != NULL
                                     : d->simulate != NULL);
}

sk_plugin *sk_device_for(sock_context *ctx, sk_operation what, double work, double least)
{
    sk_plugin *p = ctx->plugin;
    if (!p) return NULL;
    if (offers(p->lent, what)) return p;
    return offers(p->device, what) && (p->named || work >= least) ? p : NULL;
}

static const sk_device *device_of(const sk_plugin *p, sk_operation what)
{
    return offers(p->lent, what) ? p->lent : p->device;
}

const sk_device *sk_device_begin(sk_plugin *p, sk_operation what)
{
    pthread_mutex_lock(&p->lock);
    return device_of(p, what);
}

static const char *reason_of(int answer)
{
    return answer == SK_DEVICE_MEMORY   ? "not enough memory of the device"
           : answer == SK_DEVICE_CANNOT ? "not what the device can do"
                                        : "the device failed";
}

sock_status sk_device_end(sock_context *ctx, sk_plugin *p, sk_operation what, int answer)
{
    const sk_device *d = device_of(p, what);
    char why[160] = "";
    if (answer != SK_DEVICE_DONE && d->error) snprintf(why, sizeof why, "%s", d->error(d->state));
    if (answer == SK_DEVICE_DONE) p->done[what]++;
    const bool host = answer == SK_DEVICE_MEMORY || answer == SK_DEVICE_CANNOT || answer == SK_DEVICE_FAILED;
    if (host) {
        p->left[what]++;
        snprintf(p->why[what], sizeof p->why[what], "%s", why[0] ? why : reason_of(answer));
    }
    pthread_mutex_unlock(&p->lock);
    if (answer == SK_DEVICE_DONE) return SOCK_OK;
    if (answer == SK_DEVICE_CANCELLED || sk_cancelled(ctx))
        return sk_fail(ctx, SOCK_ECANCELLED, "interrupted during %s on the device", operation_name[what]);
    if (answer == SK_DEVICE_NUMERIC) return SOCK_ENUMERIC; /* the caller knows what to say */
    if (!host) return sk_fail(ctx, SOCK_EIO, "%s", why[0] ? why : reason_of(answer));
    return SOCK_PARTIAL;
}

void sk_device_reject(sk_plugin *p, sk_operation what, const char *why)
{
    pthread_mutex_lock(&p->lock);
    p->done[what]--;
    p->left[what]++;
    snprintf(p->why[what], sizeof p->why[what], "%s", why);
    pthread_mutex_unlock(&p->lock);
}

/* ---- Sums ---- */

void sk_device_sums_free(sk_device_sums *s)
{
    if (!s) return;
    if (s->sums) {
        const sk_device *d = sk_device_begin(s->plugin, SK_SUMS);
        d->sums_drop(d->state, s->sums);
        pthread_mutex_unlock(&s->plugin->lock);
    }
    sk_free(s->probe);
    sk_free(s->product);
    sk_free(s);
}

sock_status sk_device_sums_begin(sock_context *ctx, sk_plugin *plugin, const sk_device_shape *shape,
                                 sk_device_sums **out)
{
    sk_device_sums *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    s->plugin = plugin;
    const sk_device *d = sk_device_begin(plugin, SK_SUMS);
    const sock_status status = sk_device_end(ctx, plugin, SK_SUMS, d->sums_begin(d->state, shape, &s->sums));
    if (status == SOCK_OK) {
        *out = s;
        return SOCK_OK;
    }
    s->sums = NULL;
    sk_device_sums_free(s);
    return status < 0 ? status : SOCK_OK;
}

/* What the device has summed up is there alone: it cannot be left to the host. */
static sock_status lost(sock_context *ctx, const sk_plugin *p, sock_status status)
{
    if (status != SOCK_PARTIAL) return status;
    return sk_fail(ctx, SOCK_EIO, "the device %s was lost while rows were summed up (%s); device = cpu does without it",
                   p->own.name, p->why[SK_SUMS]);
}

sock_status sk_device_sums_add(sock_context *ctx, sk_device_sums *s, const sk_device_rows *rows)
{
    const sk_device *d = sk_device_begin(s->plugin, SK_SUMS);
    return lost(ctx, s->plugin, sk_device_end(ctx, s->plugin, SK_SUMS, d->sums_add(d->state, s->sums, rows)));
}

sock_status sk_device_sums_end(sock_context *ctx, sk_device_sums *s, double *g, double *g_low, double *c, double *c_low)
{
    const sk_device *d = sk_device_begin(s->plugin, SK_SUMS);
    const int answer = d->sums_end(d->state, s->sums, g, g_low, c, c_low);
    return lost(ctx, s->plugin, sk_device_end(ctx, s->plugin, SK_SUMS, answer));
}

/* ---- Telling ---- */

void sk_device_forget(sock_context *ctx)
{
    if (!ctx->plugin) return;
    memset(ctx->plugin->done, 0, sizeof ctx->plugin->done);
    memset(ctx->plugin->left, 0, sizeof ctx->plugin->left);
}

const char *sk_device_told(sock_context *ctx)
{
    sk_plugin *p = ctx->plugin;
    bool used_it = false;
    for (int i = 0; p && i < SK_OPERATIONS; i++) used_it = used_it || p->done[i] || p->left[i];
    if (!p || (!p->wish[0] && !used_it)) return NULL;
    const sk_device *d = p->device ? p->device : p->lent;
    if (!d) {
        snprintf(p->told, sizeof p->told, "cpu (%s)", p->reason);
        return p->told;
    }
    size_t used = (size_t)snprintf(p->told, sizeof p->told, "%s (%s)", d->name, d->about), said = 0;
    for (int i = 0; i < SK_OPERATIONS; i++)
        if (p->done[i])
            used += (size_t)snprintf(p->told + used, sizeof p->told - used, "%s%s", said++ ? ", " : ": ",
                                     operation_name[i]);
    if (!said) used += (size_t)snprintf(p->told + used, sizeof p->told - used, ": nothing");
    for (int i = 0; i < SK_OPERATIONS; i++)
        if (p->left[i] && !p->done[i])
            used += (size_t)snprintf(p->told + used, sizeof p->told - used, "; %s by the cpu: %s", operation_name[i],
                                     p->why[i]);
    return p->told;
}
