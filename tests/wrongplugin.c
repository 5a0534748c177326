/* wrongplugin.c - plugins that must be refused: of another version, another size, without the symbol, with half of the
 * operations that belong together. */
#include "base/device.h"

#include <string.h>

#ifdef WRONG_SYMBOL
int sock_device_start(void);
int sock_device_start(void) { return 0; }
#else
int sock_device_open(int abi, size_t size, int number, sk_device *out);

static const char *no_error(void *state)
{
    (void)state;
    return "";
}

static void nothing(void *state) { (void)state; }

static int begin(void *state, const sk_device_shape *shape, void **sums)
{
    (void)state, (void)shape, (void)sums;
    return SK_DEVICE_FAILED;
}

int sock_device_open(int abi, size_t size, int number, sk_device *out)
{
    (void)number;
#ifdef WRONG_ABI
    (void)size, (void)out;
    return abi == SK_DEVICE_ABI ? SK_DEVICE_OTHER_ABI : SK_DEVICE_DONE;
#else
    memset(out, 0, sizeof *out);
    out->abi = abi;
    out->size = size;
#ifdef WRONG_SIZE
    out->size += 8;
#endif
    out->error = no_error;
    out->close = nothing;
    out->sums_begin = begin;
    return SK_DEVICE_DONE;
#endif
}
#endif
