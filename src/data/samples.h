/* samples.h - how many of all rows a number is taken of. What is told by them does not hang on how many they are, but
 * for its own error: of many data every so manieth row stands for the others. */
#ifndef SK_SAMPLES_H
#define SK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* Strides, 1: all of n. Rows for the pivots of Gaussian features and for the medians of large data; rows, followed
 * steps and points for bands; steps by whose moments the guards ask first; points where a bound is asked. */
size_t sk_pivot_stride(size_t n);
size_t sk_typical_stride(size_t n);
size_t sk_band_row_stride(size_t n);
size_t sk_band_step_stride(size_t n);
size_t sk_band_point_stride(size_t n);
size_t sk_moments_stride(size_t n);
size_t sk_bound_stride(size_t n);
size_t sk_smooth_stride(size_t n); /* of windows, where a state without noise is sought */

/* How many of n are looked at: increments of order; steps that are asked for substeps; binned steps of d states; steps
 * of the rule of quiet states, where each costs d^3. */
size_t sk_order_rows(size_t n);
size_t sk_substeps_asked(size_t n);
size_t sk_binned_most(size_t d);
size_t sk_quiet_rows(size_t d);

/* Steps, and centres of kernels, by which a model is checked. */
size_t sk_places_of_jacobian(size_t n);
size_t sk_centres_of_kernel(size_t n);

/* Whether the i-th of n trajectories is among those that stand for all in the width of the kernel of MMD. */
bool sk_mmd_stands_for_all(size_t i, size_t n);

#endif
