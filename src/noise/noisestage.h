/* noisestage.h - measurement noise and long steps, asked after the stages of the clean search. */
#ifndef SK_NOISESTAGE_H
#define SK_NOISESTAGE_H

#include "tune/tune.h"

/* Of "none", "auto", "diag", "full"; SK_ASK_NOTHING: it is no such name. */
sk_noise_choice sk_noise_choice_named(const char *name);

/* *out: the model that knows of noise or of long steps, if it is the better one; the choice is then that model's. Else
 * nothing changes. */
sock_status sk_noise_stage(struct sk_search *search, sock_model **out);

#endif
