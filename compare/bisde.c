/* bisde.c - BISDE. */
#include "compare/compare.h"
const cmp_method cmp_bisde_methods[] = {{.group = "bisde"}};
