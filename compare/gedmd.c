/* gedmd.c - gEDMD. */
#include "compare/compare.h"
const cmp_method cmp_gedmd_methods[] = {{.group = "gedmd"}};
