/* form.c - which form a kernel may take; see occupation.h. */
#include "occupation/occupation.h"

#include <string.h>

sock_status sk_form_check(sock_context *ctx, const char *field, const sk_kernel *kernel, sk_form form)
{
    char implicit[SK_NAMES], names[SK_NAMES];
    if (strcmp(field, "drift") == 0 && sk_kernel_is_bounded(kernel))
        return sk_fail(ctx, SOCK_EUSAGE, "drift: rates and in=root are for the diffusion; take poly or another kernel");
    if (form == SK_FORM_EXPLICIT && sk_kernel_is_implicit(kernel))
        return sk_fail(ctx, SOCK_EUSAGE, "%s-form: %s has no finite features; allowed with explicit: %s", field,
                       sk_kernel_names(SK_KIND_IMPLICIT, " or ", implicit),
                       sk_kernel_names(SK_KIND_EXPLICIT, ", ", names));
    if ((form == SK_FORM_IMPLICIT || form == SK_FORM_NYSTROM) && !sk_kernel_is_closed(kernel) &&
        !sk_kernel_is_implicit(kernel))
        return sk_fail(ctx, SOCK_EUSAGE, "%s-form: %s kernels have the explicit form only", field,
                       sk_kernel_names(SK_KIND_MAPPED, " and ", names));
    return SOCK_OK;
}
