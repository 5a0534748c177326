/* consumer.c - what a user's first program may look like; C99. Prints the library's version and one option. */
#include <sock.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    sock_context *ctx = sock_context_new();
    sock_options *opts = ctx ? sock_options_new(ctx) : NULL;
    if (!opts) return 1;
    int good = strcmp(sock_version(), SOCK_VERSION) == 0;
    good = good && sock_options_set(ctx, opts, "seed", "12") == SOCK_OK;
    good = good && strcmp(sock_options_get(opts, "seed"), "12") == 0;
    good = good && sock_options_set(ctx, opts, "seed", "-1") == SOCK_EUSAGE && sock_message(ctx)[0];
    printf("sock %s, seed %s\n", sock_version(), sock_options_get(opts, "seed"));
    sock_options_free(opts);
    sock_context_free(ctx);
    return good ? 0 : 1;
}
