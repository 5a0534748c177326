/* plugin.c - the one symbol of the plugin, and what its operations share. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

int work_stops(card *c)
{
    if (engine_state(c->engine) == SK_DEVICE_DONE && c->cancelled && c->cancelled(c->user))
        engine_fail(c->engine, SK_DEVICE_CANCELLED, "interrupted");
    return engine_state(c->engine) != SK_DEVICE_DONE;
}

void *work_copy(engine *e, const void *from, size_t bytes)
{
    void *to = engine_new(e, bytes);
    engine_put(e, to, from, bytes);
    return to;
}

int work_pairs(engine *e, size_t p, unsigned **one, unsigned **other)
{
    const size_t q = p * (p + 1) / 2;
    unsigned *list = malloc(2 * q * sizeof *list);
    if (!list) return engine_fail(e, SK_DEVICE_MEMORY, "the host has no memory");
    for (unsigned b = 0, j = 0; b < p; b++)
        for (unsigned a = 0; a <= b; a++, j++) {
            list[j] = a;
            list[q + j] = b;
        }
    *one = work_copy(e, list, q * sizeof *list);
    *other = work_copy(e, list + q, q * sizeof *list);
    free(list);
    return engine_state(e);
}

static const char *error_of(void *state) { return engine_error(((card *)state)->engine); }

static void close_card(void *state)
{
    card *c = state;
    engine_close(c->engine);
    free(c);
}

__attribute__((visibility("default"))) int sock_device_open(int abi, size_t size, int number, sk_device *out);

int sock_device_open(int abi, size_t size, int number, sk_device *out)
{
    if (abi != SK_DEVICE_ABI || size != sizeof *out) return SK_DEVICE_OTHER_ABI;
    card *c = calloc(1, sizeof *c);
    if (!c) return SK_DEVICE_NONE;
    const int answer = engine_open(number, &c->engine, out->name, out->about, &out->memory);
    if (answer != SK_DEVICE_DONE) {
        free(c);
        return answer;
    }
    c->cancelled = out->cancelled;
    c->user = out->user;
    out->abi = SK_DEVICE_ABI;
    out->size = sizeof *out;
    out->state = c;
    out->sums_begin = work_sums_begin;
    out->sums_add = work_sums_add;
    out->sums_end = work_sums_end;
    out->sums_drop = work_sums_drop;
    out->levels = work_levels;
    out->exact = work_exact;
    out->simulate = work_simulate;
    out->error = error_of;
    out->close = close_card;
    return SK_DEVICE_DONE;
}
