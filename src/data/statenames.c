/* statenames.c - names of state columns and trajectories, given or made up. */
#include "labels.h"
#include "readers.h"

#include <string.h>

/* How many bytes the character at p takes, 0 when it is not valid: RFC 3629's table. */
static size_t character_length(const unsigned char *p)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;
    if (p[0] < 0x80) return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        length = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        length = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (p[0] == 0xe0) low = 0xa0;  /* overlong */
    if (p[0] == 0xed) high = 0x9f; /* surrogates */
    if (p[0] == 0xf0) low = 0x90;  /* overlong */
    if (p[0] == 0xf4) high = 0x8f; /* beyond U+10FFFF */
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf) return 0; /* the 0 at the end stops here as well */
    return length;
}

bool sk_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t length = character_length(p);
        if (length == 0) return false;
        p += length;
    }
    return true;
}

char *sk_utf8_copy(sock_context *ctx, const char *text)
{
    char *copy = sk_strdup(ctx, text);
    if (!copy || sk_is_utf8(text)) return copy;
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    return copy;
}

static sock_status check_name(sock_context *ctx, const char *source, const char *name, size_t k, sk_labels *seen)
{
    size_t label;
    bool is_new;
    if (!name || !name[0]) return sk_fail(ctx, SOCK_EUSAGE, "%s: the name of state %zu is missing or empty", source, k);
    if (!sk_is_utf8(name)) return sk_fail(ctx, SOCK_EUSAGE, "%s: the name of state %zu is not valid UTF-8", source, k);
    SK_TRY(sk_labels_find(ctx, seen, name, strlen(name), &label, &is_new));
    if (!is_new) return sk_fail(ctx, SOCK_EUSAGE, "%s: states %zu and %zu are both named '%s'", source, label, k, name);
    return SOCK_OK;
}

sock_status sk_state_names(sock_context *ctx, const char *source, size_t d, const char *const *names, char ***out)
{
    char **copy = sk_alloc(ctx, d, sizeof *copy);
    sk_labels seen = {0};
    sock_status status = SOCK_OK;
    if (!copy) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        if (names) SK_GO(check_name(ctx, source, names[k], k, &seen));
        copy[k] = names ? sk_strdup(ctx, names[k]) : sk_format(ctx, "x%zu", k);
        if (!copy[k]) {
            status = SOCK_ENOMEM;
            goto out;
        }
    }
    *out = copy;
    copy = NULL;
out:
    for (size_t k = 0; copy && k < d; k++) sk_free(copy[k]);
    sk_free(copy);
    sk_labels_clear(&seen);
    return status;
}

sock_status sk_number_names(sock_context *ctx, size_t count, char ***out)
{
    char **names = sk_alloc(ctx, count, sizeof *names);
    if (!names) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        names[i] = sk_format(ctx, "%zu", i);
        if (!names[i]) {
            while (i-- > 0) sk_free(names[i]);
            sk_free(names);
            return SOCK_ENOMEM;
        }
    }
    *out = names;
    return SOCK_OK;
}
