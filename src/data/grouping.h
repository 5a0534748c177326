/* grouping.h - trajectories into groups; used by the build and by parts of a data set. */
#ifndef SK_GROUPING_H
#define SK_GROUPING_H

#include "data.h"

/* Fills groups, group_first and member: trajectories with equal key[j] (< keys) form a group. Groups are numbered by
 * their first trajectory; members keep their order. */
sock_status sk_group_by_key(sock_context *ctx, sock_data *data, const size_t *key, size_t keys);

/* Trajectories with exactly the same start, times and inputs form a group; kind[j], where it is not NULL, must be the
 * same, too. Expected time: one pass over the points. */
sock_status sk_group_by_start(sock_context *ctx, sock_data *data, const size_t *kind);

/* By the user's labels, label[j] < labels. SOCK_EINPUT, naming the group and two trajectories, when members of a group
 * differ in start, times or inputs. */
sock_status sk_group_by_label(sock_context *ctx, sock_data *data, const size_t *label, size_t labels,
                              char *const *label_name);

/* Each trajectory alone. */
sock_status sk_group_none(sock_context *ctx, sock_data *data);

/* Sets data->hash from times, states, inputs and grouping. */
void sk_data_sign(sock_data *data);

/* Of times and states alone: the same however many of the known inputs were read. */
uint64_t sk_data_states_hash(const sock_data *data);

#endif
