/* trajfolder.h - the folder form of a data set: arrays of NumPy's, which any tool can write, and which may be larger
 * than memory. */
#ifndef SK_TRAJFOLDER_H
#define SK_TRAJFOLDER_H

#include "data.h"
#include "npyarray.h"

enum { SK_FOLDER_FILES = 4 };

typedef struct sk_folder {
    sk_npy_file x, t, first, group; /* the last: not open where there is none */
    size_t points, columns, trajectories;
    char **name; /* columns; NULL: they have none */
    char *file[SK_FOLDER_FILES];
} sk_folder;

bool sk_is_folder(const char *path);

/* Opens the files and compares their shapes; reads the names. */
sock_status sk_folder_open(sock_context *ctx, const char *path, sk_folder *out);
void sk_folder_close(sk_folder *folder);

/* Where trajectories begin, and the end of the last: trajectories + 1 numbers. */
sock_status sk_folder_first(sock_context *ctx, const sk_folder *folder, size_t *first);

/* `count` points from point `first` on: t (count) and x (count x columns). */
sock_status sk_folder_points(sock_context *ctx, const sk_folder *folder, size_t first, size_t count, double *t,
                             double *x);

/* ---- Writing (trajwrite.c) ---- */

/* A folder under a temporary name beside its target, to which data sets are added one after the other. */
typedef struct sk_folder_writer sk_folder_writer;

/* single: the states are written with 32 bits. SOCK_EIO where something of that name exists. */
sock_status sk_folder_create(sock_context *ctx, const char *path, bool single, sk_folder_writer **out);

/* The trajectories of data; those of later calls must have the same columns. goes_on: the first one is the last one of
 * the call before. */
sock_status sk_folder_add(sock_context *ctx, sk_folder_writer *writer, const sock_data *data, bool goes_on);

/* durable: its bytes are on the disk when it has its name. Frees writer in any case. */
sock_status sk_folder_commit(sock_context *ctx, sk_folder_writer *writer, bool durable);
void sk_folder_abandon(sk_folder_writer *writer); /* NULL is fine */

#endif
