/* knowntruth.h - the option --truth: the SDE that made the data, where it is known. */
#ifndef SOCK_KNOWNTRUTH_H
#define SOCK_KNOWNTRUTH_H

#include "cli.h"
#include "systems/systems.h"

#define TRUTH_HELP "what made the data: truth.json of 'sock dataset', or the name of a system"

typedef struct truth {
    const char *source; /* as given; NULL: none */
    sys_instance *instance;
    sock_model *model;
} truth;

/* Loads t->source, when there is one. Random parameters come from the option seed, which the verb must take. Answers a
 * negative number when the run should go on, else the exit code. */
int truth_load(const cli *c, truth *t);
void truth_clear(truth *t);

#endif
