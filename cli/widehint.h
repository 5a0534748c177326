/* widehint.h - columns like x1, x2, x3: states of one trajectory, or trajectories of one state? */
#ifndef SOCK_WIDEHINT_H
#define SOCK_WIDEHINT_H

#include <stdbool.h>
#include <stddef.h>

/* A question about the states of a single trajectory that nobody named, where there are three or more and their names
 * differ by a number at the end alone, which counts up by 1. False: they do not. */
bool wide_hint(size_t count, const char *const *name, size_t size, char *text);

#endif
