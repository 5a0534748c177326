/* noisespread.h - how far a model that was fitted with measurement noise or along long steps can be trusted. */
#ifndef SK_NOISESPREAD_H
#define SK_NOISESPREAD_H

#include "noise/noisefit.h"

/* The model of the fit gets its spread, in the units of the search, unless the numbers do not allow one. */
sock_status sk_noise_spread(const sk_measured *m, const sk_noise_fit *fit);

#endif
