/* noiseoracle.h - what can be known at best: the weights of the true terms that maximise the likelihood of measured
 * data, from a Gaussian filter of its own, in plain loops. */
#ifndef EXP_NOISEORACLE_H
#define EXP_NOISEORACLE_H

#include "experiments/noisesystems.h"

/* y: measured states of p, the length of whose steps counts; variance (d): of the noise, NULL: none. The search begins
 * at the truth; out: where it ends. SOCK_ENOMEM, or SOCK_OK. */
sock_status noise_oracle(const noise_paths *p, const double *y, const double *variance, noise_instance *out);

#endif
