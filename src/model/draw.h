/* draw.h - whole models drawn from a spread: f_b = f_j + phi' L_c z with candidate j by pi and term c by share, so that
 * E (f_b - f)^2 is within + between; a_b = B B' and the floor, B = phi' (V_i + R_i z), i by share; all of it of the
 * model or of a peer, by weight. A draw is a model like any other, and a function of (model, seed, number) alone. */
#ifndef SK_DRAW_H
#define SK_DRAW_H

#include "model/model.h"

/* SOCK_EUSAGE for a model without a spread. */
sock_status sk_model_draw(sock_context *ctx, const sock_model *model, uint64_t seed, uint64_t number, sock_model **out);

/* SOCK_EUSAGE for a model whose fit told no spread, with what it says about that. */
sock_status sk_need_spread(sock_context *ctx, const sock_model *model, const char *what);

/* A draw of V of the diffusion term that draw `number` takes, as a term of share one. */
sock_status sk_draw_diffusion(sock_context *ctx, const sock_model *model, sk_key key, uint64_t number,
                              sk_diffusion_term **out);

#endif
