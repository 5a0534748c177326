/* plugins.h - the device of a context (device.h): found, opened, asked, given back. */
#ifndef SK_PLUGINS_H
#define SK_PLUGINS_H

#include "base.h"
#include "device.h"

typedef enum sk_operation { SK_SUMS, SK_LEVELS, SK_EXACT, SK_SIMULATE, SK_OPERATIONS } sk_operation;

/* "cpu", "auto" or "cuda[:N]": opened where it is another than the context has. */
sock_status sk_device_choose(sock_context *ctx, const char *device);

/* A device in place of a plugin's, borrowed: for a guest, and for the tests. */
void sk_device_lend(sock_context *ctx, const sk_device *device);

/* The same for every context that this thread makes from now on; NULL: none. */
void sk_device_set(const sk_device *device);
const sk_device *sk_device_of_new(void);

/* The context's device where it offers the operation and the work pays: `work` at least `least`, or a device that was
 * named. NULL: the host does it. */
typedef struct sk_plugin sk_plugin;
void sk_plugin_free(sk_plugin *plugin);
sk_plugin *sk_device_for(sock_context *ctx, sk_operation what, double work, double least);

/* Around each call, which one thread makes at a time. sk_device_end answers SOCK_OK where the device did it,
 * SOCK_PARTIAL (without a message) where the host is to do it, a failure else. */
const sk_device *sk_device_begin(sk_plugin *plugin, sk_operation what);
sock_status sk_device_end(sock_context *ctx, sk_plugin *plugin, sk_operation what, int answer);

/* What it did is not what was asked for, and the host does it. */
void sk_device_reject(sk_plugin *plugin, sk_operation what, const char *why);

/* Sums live between calls: sums that were begun, until they are freed. NULL: there are none. */
typedef struct sk_device_sums {
    sk_plugin *plugin;
    void *sums;
    double *probe, *product; /* q: u by lot, and G u as the host sums it up; NULL: it does not */
} sk_device_sums;
sock_status sk_device_sums_begin(sock_context *ctx, sk_plugin *plugin, const sk_device_shape *shape,
                                 sk_device_sums **out);
sock_status sk_device_sums_add(sock_context *ctx, sk_device_sums *sums, const sk_device_rows *rows);
sock_status sk_device_sums_end(sock_context *ctx, sk_device_sums *sums, double *g, double *g_low, double *c,
                               double *c_low);
void sk_device_sums_free(sk_device_sums *sums);

/* What is told of a fit: "cuda:0 (NVIDIA ...): sums, levels"; "cpu: ..." with the reason where none was found. NULL:
 * nobody asked for a device. Valid until the next call. */
const char *sk_device_told(sock_context *ctx);
void sk_device_forget(sock_context *ctx); /* what was done so far */

#endif
