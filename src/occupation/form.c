/* form.c - which form a kernel may take; see occupation.h. */
#include "occupation/occupation.h"

sock_status sk_form_check(sock_context *ctx, const char *field, const sk_kernel *kernel, sk_form form)
{
    if (form == SK_FORM_EXPLICIT && sk_kernel_is_implicit(kernel))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "%s-form: gauss has no finite features; allowed with explicit: poly, linear, affine, constant, "
                       "fourier, nystrom",
                       field);
    if ((form == SK_FORM_IMPLICIT || form == SK_FORM_NYSTROM) && !sk_kernel_is_closed(kernel))
        return sk_fail(ctx, SOCK_EUSAGE, "%s-form: fourier and nystrom kernels have the explicit form only", field);
    return SOCK_OK;
}
