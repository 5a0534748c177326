/* featurescreen.h - which of many features each equation of a drift may be made of. */
#ifndef SK_FEATURESCREEN_H
#define SK_FEATURESCREEN_H

#include "occupation/view.h"

/* list (d x each): for every equation the places, rising, of the features of the map that the data speak for; SIZE_MAX
 * behind the last. All rows of the views take part, with weights of their model. */
sock_status sk_screen_features(sock_context *ctx, const sk_views *views, const sk_features *map, size_t each,
                               size_t *list);

#endif
