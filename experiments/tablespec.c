/* tablespec.c - what the paper's tables 1 and 2 hold, and how each row is repeated here.
 *
 * The paper does not say which libraries the rivals had. "bisde-paper" and "gedmd-paper" are the settings whose results
 * come nearest to its rows; "bisde", "bisde-free" and "gedmd" are the settings in which these methods do best. */
#include "experiments/tablespec.h"

#include <string.h>

const exp_method exp_methods[] = {{"sock", "SOCK, default", EXP_KIND_DEFAULT, 0},
                                  {"sock-paper", "SOCK, paper's protocol", EXP_KIND_OWN, 0},
                                  {"adapted", "SOCK, adapted kernels", EXP_KIND_ADAPTED, 0},
                                  {"adapted-paper", "SOCK, adapted, paper's protocol", EXP_KIND_ADAPTED, 0},
                                  {"bisde", "BISDE, strong", EXP_KIND_RIVAL, 0},
                                  {"bisde-free", "BISDE without cuts", EXP_KIND_RIVAL, 0},
                                  {"bisde-paper", "BISDE, as in the paper", EXP_KIND_RIVAL, 0},
                                  {"gedmd", "gEDMD, strong", EXP_KIND_RIVAL, 0},
                                  {"gedmd-paper", "gEDMD, as in the paper", EXP_KIND_RIVAL, 0},
                                  {"nw", "Nadaraya-Watson", EXP_KIND_BASELINE, 0},
                                  {"constant", "constant f and a", EXP_KIND_BASELINE, 0},
                                  {"neural-sde", "Neural SDE", EXP_KIND_RIVAL, 1},
                                  {"lsde", "Neural LSDE", EXP_KIND_RIVAL, 1},
                                  {"lnsde", "Neural LNSDE", EXP_KIND_RIVAL, 1},
                                  {"gsde", "Neural GSDE", EXP_KIND_RIVAL, 1},
                                  {"truth", "the truth", EXP_KIND_TRUTH, 0},
                                  {0}};

#define LINEAR "sock-linear"
#define LINEAR_PAPER "sock-paper:drift=linear,diffusion=linear"
#define POLY "sock-poly"
#define POLY_PAPER "sock-paper:drift={poly:degree=2},diffusion=linear"
#define BUMPS_BISDE "bisde-gauss"
#define BUMPS_GEDMD "gedmd-gauss"
#define COMMUTATOR "gedmd-commutator"
#define NEURAL(sde, lsde, lnsde, gsde)                                                                                 \
    {"neural-sde", "neural-sde", {EXP_NA, EXP_NA, EXP_NA, sde}, 0, NULL},                                              \
        {"lsde", "lsde", {EXP_NA, EXP_NA, EXP_NA, lsde}, 0, NULL},                                                     \
        {"lnsde", "lnsde", {EXP_NA, EXP_NA, EXP_NA, lnsde}, 0, NULL},                                                  \
    {                                                                                                                  \
        "gsde", "gsde", {EXP_NA, EXP_NA, EXP_NA, gsde}, 0, NULL                                                        \
    }
#define PLAIN(name)                                                                                                    \
    {                                                                                                                  \
        name, name, {0}, 0, NULL                                                                                       \
    }

/* Ten-dimensional paths whose a must be projected at every step are slow. */
#define COARSE "0.005"

const exp_table_set exp_table_sets[] = {
    {"gbm",
     "Geometric Brownian motion",
     1,
     "gbm",
     10,
     "500",
     "0.001",
     0,
     120,
     {35, 5, 10},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {114.6, 10.33, 8.740, 8.191e-2}, 0, NULL},
      {"adapted", LINEAR, {0}, 0, NULL},
      {"adapted-paper", LINEAR_PAPER, {102.7, 4.878e-2, 12.66, 9.366e-2}, 0, NULL},
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {EXP_NA, 33.62, 65.47, 8.354e-2}, 0, NULL},
      PLAIN("gedmd"),
      {"gedmd-paper", BUMPS_GEDMD, {117.2, 19.13, 32.68, 8.465e-2}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(1.945e-1, 1.948e-1, 1.969e-1, 2.041e-1),
      PLAIN("truth")}},
    {"expdyn",
     "Exponential dynamics",
     1,
     "expdyn",
     10,
     "500",
     "0.001",
     0,
     120,
     {42, 6, 12},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {100.9, 12.42, 19.15, 1.196e-1}, 0, NULL},
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {103.4, 6.510, 34.67, 1.350e-1}, 0, NULL},
      {"gedmd", "gedmd:degree=4", {0}, 0, NULL},
      {"gedmd-paper", BUMPS_GEDMD, {105.9, 14.13, 20.31, 1.186e-1}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(1.386e-1, 1.504e-1, 1.328e-1, 1.420e-1),
      PLAIN("truth")}},
    {"dense",
     "Dense matrix-valued diffusion",
     1,
     "dense",
     10,
     "500",
     "0.001",
     0,
     120,
     {12, 4, 10},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {101.5, 22.30, 52.70, 6.522e-2}, 0, NULL},
      {"adapted", LINEAR, {0}, 0, NULL},
      {"adapted-paper", LINEAR_PAPER, {99.84, 8.192, 17.22, 5.550e-2}, 0, NULL},
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {101.5, 12.54, 60.82, 6.440e-2}, 0, NULL},
      PLAIN("gedmd"),
      {"gedmd-paper", COMMUTATOR, {EXP_NA, 8.634, 398.1, 6.598e-2}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(1.786e-1, 1.932e-1, 1.923e-1, 1.800e-1),
      PLAIN("truth")}},
    {"lorenz96",
     "Stochastic Lorenz 96-10",
     1,
     "lorenz96",
     3,
     "100",
     "0.001",
     0,
     1000,
     {0, 0, 0},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {104.3, 26.11, 26.16, 6.918e-1}, 200, NULL},
      {"adapted", POLY, {0}, 0, NULL},
      {"adapted-paper", POLY_PAPER, {103.3, 26.84, 19.06, EXP_NA}, 200, NULL},
      {"bisde", "bisde", {0}, 0, COARSE},
      {"bisde-free", "bisde-free", {0}, 0, COARSE},
      {"bisde-paper", "bisde-fourier", {EXP_NA, 46.46, 122.2, 7.191e-1}, 0, COARSE},
      {"gedmd", "gedmd", {0}, 0, COARSE},
      {"gedmd-paper", COMMUTATOR, {EXP_NA, 89.96, 6757, EXP_NA}, 0, COARSE},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(9.947e-1, 9.875e-1, 9.874e-1, 9.921e-1),
      PLAIN("truth")}},
    {"sir",
     "Stochastic SIR epidemic",
     2,
     "sir",
     5,
     "500",
     "0.01",
     1,
     120,
     {20, 10, 20},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {19.47, 0, 0, 2.412e-1}, 0, NULL},
      {"adapted", POLY, {0}, 0, NULL},
      {"adapted-paper", POLY_PAPER, {10.15, 0, 0, 6.733e-2}, 0, NULL},
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {EXP_NA, 0, 0, 3.783e-1}, 0, NULL},
      PLAIN("gedmd"),
      {"gedmd-paper", COMMUTATOR, {EXP_NA, 0, 0, 3.779e-1}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(3.020e-1, 1.213, 1.223, 1.214),
      PLAIN("truth")}},
    {"amyloid",
     "Amyloid stand-in, simulated (the paper's figures are for data that are not public)",
     2,
     "amyloid",
     10,
     "500",
     "0.01",
     0,
     120,
     {208, 29, 61},
     {PLAIN("sock"),
      {"sock-paper", "sock-paper", {868.5, 0, 0, 2.459e-1}, 0, NULL},
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {1.204e5, 0, 0, 4.912e-1}, 0, NULL},
      PLAIN("gedmd"),
      {"gedmd-paper", BUMPS_GEDMD, {EXP_NA, 0, 0, 2.492e-1}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      NEURAL(3.625e-1, 3.700e-1, 3.576e-1, EXP_NA),
      PLAIN("truth")}},
    {"pbcseq",
     "Amyloid stand-in, real: log bilirubin of liver patients (pbcseq), about three visits each",
     2,
     NULL,
     10,
     "500",
     "0.01",
     0,
     120,
     {0, 0, 0},
     {PLAIN("sock"),
      PLAIN("sock-paper"),
      PLAIN("bisde"),
      PLAIN("bisde-free"),
      {"bisde-paper", BUMPS_BISDE, {0}, 0, NULL},
      PLAIN("gedmd"),
      {"gedmd-paper", BUMPS_GEDMD, {0}, 0, NULL},
      PLAIN("nw"),
      PLAIN("constant"),
      PLAIN("neural-sde"),
      PLAIN("lsde"),
      PLAIN("lnsde"),
      PLAIN("gsde")}},
    {0}};

const exp_method *exp_method_find(const char *name)
{
    for (const exp_method *m = exp_methods; m->name; m++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}

const exp_table_set *exp_table_set_find(const char *name)
{
    for (const exp_table_set *s = exp_table_sets; s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    return NULL;
}
