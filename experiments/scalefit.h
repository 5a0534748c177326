/* scalefit.h - the oracle: an estimate that knows the form of f and a and estimates one factor of each from the data.
 * No method that must find the form can be expected to do better, so its error is the floor that the data set. */
#ifndef EXP_SCALEFIT_H
#define EXP_SCALEFIT_H

#include "systems/systems.h"

typedef struct exp_oracle {
    const sys_instance *instance;
    double drift, diffusion; /* factors of the true f and a */
} exp_oracle;

/* Whether there is an oracle for the system: gbm, expdyn and dense (there for a alone: its drift is the true one). */
int exp_oracle_exists(const char *system);

/* Estimates the factors from the data and makes the model of them, which borrows *oracle and the instance. */
sock_status exp_oracle_fit(sock_context *ctx, const sys_instance *instance, const sock_data *data, exp_oracle *oracle,
                           sock_model **out);

#endif
