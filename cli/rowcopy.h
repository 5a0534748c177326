/* rowcopy.h - rows of a CSV file as they stand there: all columns, names, dates and separators of the user's own. */
#ifndef SOCK_ROWCOPY_H
#define SOCK_ROWCOPY_H

#include "cli.h"

typedef struct rowcopy {
    char *text; /* of the file, with a 0 behind it */
    size_t size, lines;
    const char **line; /* line[i]: where line i + 1 begins */
} rowcopy;

/* The column that is put in front where one trajectory has become two. */
#define ROWCOPY_PIECE "piece"

/* Reads the file again. A pipe cannot be: text stays NULL. SOCK_EIO, SOCK_ENOMEM. */
sock_status rowcopy_open(rowcopy *r, const char *path);
void rowcopy_close(rowcopy *r);

/* The header and the rows of data, trajectory after trajectory; named: with their ids in a column of their own in
 * front. data have lines (sock_data_lines) of that file. */
sock_status rowcopy_write(sock_context *ctx, const rowcopy *r, const sock_data *data, bool named, const char *path);

#endif
