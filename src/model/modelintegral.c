/* modelintegral.c - the integrals of a model's a over the rows of a rule, from the moments of their nodes. */
#include "model/modelintegral.h"

#include "diffusion/diffusionintegral.h"
#include "occupation/secondmoments.h"

#include <string.h>

/* Every term has such an integral. */
static sock_status take_terms(sock_context *ctx, const sock_model *model, sk_term_integral **list, bool *all)
{
    *all = !model->wrapped_diffusion && model->diffusion_terms > 0;
    for (size_t i = 0; *all && i < model->diffusion_terms; i++) {
        SK_TRY(sk_term_integral_new(ctx, model->diffusion[i], &list[i]));
        *all = list[i] != NULL;
    }
    return SOCK_OK;
}

static void integrate_row(const sock_model *model, sk_term_integral *const *list, const double *moments, double *a)
{
    const size_t d = model->d;
    memset(a, 0, d * d * sizeof *a);
    for (size_t i = 0; i < model->diffusion_terms; i++) sk_term_integral_add(list[i], moments, a);
    for (size_t k = 0; k < d; k++) a[k * d + k] += model->floor * moments[(d + 1) * (d + 1) - 1];
}

sock_status sk_model_integrate(sock_context *ctx, const sock_model *model, const sk_rule *rule, double *out, bool *done)
{
    sk_term_integral **list = sk_alloc(ctx, model->diffusion_terms + 1, sizeof *list);
    double *space = sk_doubles_unset(ctx, sk_moments_space(rule), 1);
    sock_status status = list && space ? take_terms(ctx, model, list, done) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && *done && i < rule->n; i++)
        integrate_row(model, list, sk_row_moments(ctx, rule, i, space), out + i * model->d * model->d);
    for (size_t i = 0; list && i < model->diffusion_terms; i++) sk_term_integral_free(list[i]);
    sk_free(list);
    sk_free(space);
    return status;
}
