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
#define FEW_FEATURES "sock-paper:diffusion={fourier:p=20}"

/* A method in a setting; what follows are the paper's scores. */
#define ROW(name, setting, ...)                                                                                        \
    {                                                                                                                  \
        .method = (name), .spec = (setting), .paper = { __VA_ARGS__ }                                                  \
    }
#define PLAIN(name)                                                                                                    \
    {                                                                                                                  \
        .method = (name), .spec = (name)                                                                               \
    }
#define PAPER(...) ROW("sock-paper", "sock-paper", __VA_ARGS__)
#define BISDE_PAPER(setting, ...) PLAIN("bisde"), PLAIN("bisde-free"), ROW("bisde-paper", setting, __VA_ARGS__)
#define GEDMD_PAPER(setting, ...) PLAIN("gedmd"), ROW("gedmd-paper", setting, __VA_ARGS__)
#define BASELINES PLAIN("nw"), PLAIN("constant")
#define NEURAL_ROW(name, mmd) ROW(name, name, EXP_NA, EXP_NA, EXP_NA, mmd)
#define NEURAL(sde, lsde, lnsde, gsde)                                                                                 \
    NEURAL_ROW("neural-sde", sde), NEURAL_ROW("lsde", lsde), NEURAL_ROW("lnsde", lnsde), NEURAL_ROW("gsde", gsde)

/* Ten-dimensional fields whose a must be projected at every point are slow: coarser paths, no part in --quick. */
#define COARSE(name, setting, ...)                                                                                     \
    {                                                                                                                  \
        .method = (name), .spec = (setting), .paper = {__VA_ARGS__}, .mmd_step = "0.005", .quick = ""                  \
    }

/* Paths and cap of most sets. */
#define USUAL .mmd_paths = "500", .cap = 120

const exp_table_set exp_table_sets[] = {
    {.name = "gbm",
     .title = "Geometric Brownian motion",
     .table = 1,
     .system = "gbm",
     .seeds = 10,
     USUAL,
     .mmd_step = "0.001",
     .quick = {35, 5, 10},
     .rows = {PLAIN("sock"), PAPER(114.6, 10.33, 8.740, 8.191e-2), ROW("adapted", LINEAR, 0),
              ROW("adapted-paper", LINEAR_PAPER, 102.7, 4.878e-2, 12.66, 9.366e-2),
              BISDE_PAPER("bisde-gauss", EXP_NA, 33.62, 65.47, 8.354e-2),
              GEDMD_PAPER("gedmd-gauss", 117.2, 19.13, 32.68, 8.465e-2), BASELINES,
              NEURAL(1.945e-1, 1.948e-1, 1.969e-1, 2.041e-1), PLAIN("truth")}},
    {.name = "expdyn",
     .title = "Exponential dynamics",
     .table = 1,
     .system = "expdyn",
     .seeds = 10,
     USUAL,
     .mmd_step = "0.001",
     .quick = {42, 6, 12},
     .rows = {PLAIN("sock"), PAPER(100.9, 12.42, 19.15, 1.196e-1),
              BISDE_PAPER("bisde-gauss", 103.4, 6.510, 34.67, 1.350e-1), ROW("gedmd", "gedmd:degree=4", 0),
              ROW("gedmd-paper", "gedmd-gauss", 105.9, 14.13, 20.31, 1.186e-1), BASELINES,
              NEURAL(1.386e-1, 1.504e-1, 1.328e-1, 1.420e-1), PLAIN("truth")}},
    {.name = "dense",
     .title = "Dense matrix-valued diffusion",
     .table = 1,
     .system = "dense",
     .seeds = 10,
     USUAL,
     .mmd_step = "0.001",
     .quick = {12, 4, 10},
     .rows = {PLAIN("sock"), PAPER(101.5, 22.30, 52.70, 6.522e-2), ROW("adapted", LINEAR, 0),
              ROW("adapted-paper", LINEAR_PAPER, 99.84, 8.192, 17.22, 5.550e-2),
              BISDE_PAPER("bisde-gauss", 101.5, 12.54, 60.82, 6.440e-2),
              GEDMD_PAPER("gedmd-commutator", EXP_NA, 8.634, 398.1, 6.598e-2), BASELINES,
              NEURAL(1.786e-1, 1.932e-1, 1.923e-1, 1.800e-1), PLAIN("truth")}},
    {.name = "lorenz96",
     .title = "Stochastic Lorenz 96-10",
     .table = 1,
     .system = "lorenz96",
     .seeds = 3,
     .mmd_paths = "100",
     .mmd_step = "0.001",
     .cap = 1000,
     .quick = {2, 1, 2},
     .rows = {PLAIN("sock"),
              {.method = "sock-paper",
               .spec = "sock-paper",
               .paper = {104.3, 26.11, 26.16, 6.918e-1},
               .budget = 200,
               .quick = FEW_FEATURES},
              ROW("adapted", POLY, 0),
              {.method = "adapted-paper", .spec = POLY_PAPER, .paper = {103.3, 26.84, 19.06, EXP_NA}, .budget = 200},
              COARSE("bisde", "bisde", 0),
              COARSE("bisde-free", "bisde-free", 0),
              COARSE("bisde-paper", "bisde-fourier", EXP_NA, 46.46, 122.2, 7.191e-1),
              COARSE("gedmd", "gedmd", 0),
              COARSE("gedmd-paper", "gedmd-commutator", EXP_NA, 89.96, 6757, EXP_NA),
              BASELINES,
              NEURAL(9.947e-1, 9.875e-1, 9.874e-1, 9.921e-1),
              PLAIN("truth")}},
    {.name = "sir",
     .title = "Stochastic SIR epidemic",
     .table = 2,
     .system = "sir",
     .seeds = 5,
     USUAL,
     .mmd_step = "0.01",
     .unit_box = 1,
     .fine_delta = 1.0 / (200 * 200), /* one person of 200, squared: what the data resolve */
     .quick = {20, 10, 20},
     .rows = {PLAIN("sock"), PAPER(19.47, 0, 0, 2.412e-1), ROW("adapted", POLY, 0),
              ROW("adapted-paper", POLY_PAPER, 10.15, 0, 0, 6.733e-2),
              BISDE_PAPER("bisde-gauss", EXP_NA, 0, 0, 3.783e-1),
              GEDMD_PAPER("gedmd-commutator", EXP_NA, 0, 0, 3.779e-1), BASELINES, NEURAL(3.020e-1, 1.213, 1.223, 1.214),
              PLAIN("truth")}},
    {.name = "amyloid",
     .title = "Amyloid stand-in, simulated (the paper's figures are for data that are not public)",
     .table = 2,
     .system = "amyloid",
     .seeds = 10,
     USUAL,
     .mmd_step = "0.01",
     .quick = {208, 29, 61},
     .rows = {PLAIN("sock"), PAPER(868.5, 0, 0, 2.459e-1), BISDE_PAPER("bisde-gauss", 1.204e5, 0, 0, 4.912e-1),
              GEDMD_PAPER("gedmd-gauss", EXP_NA, 0, 0, 2.492e-1), BASELINES,
              NEURAL(3.625e-1, 3.700e-1, 3.576e-1, EXP_NA), PLAIN("truth")}},
    {.name = "pbcseq",
     .title = "Amyloid stand-in, real: log bilirubin of liver patients (pbcseq), about three visits each",
     .table = 2,
     .seeds = 10,
     USUAL,
     .mmd_step = "0.01",
     .rows = {PLAIN("sock"), PLAIN("sock-paper"), BISDE_PAPER("bisde-gauss", 0), GEDMD_PAPER("gedmd-gauss", 0),
              BASELINES, PLAIN("neural-sde"), PLAIN("lsde"), PLAIN("lnsde"), PLAIN("gsde")}},
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
