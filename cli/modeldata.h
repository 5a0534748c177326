/* modeldata.h - data files read for a model that is already there: the states are the model's. */
#ifndef SOCK_MODELDATA_H
#define SOCK_MODELDATA_H

#include "cli.h"

/* Reads a data file whose states are those of the model, by name and in the model's order (a file may hold more
 * columns), unless --state says otherwise; a .npy array must have as many states. Answers a negative number when *out
 * is there, else the exit code. The inputs that the model needs are read too, and those of another model (a truth) if
 * that is not NULL. */
int models_data_read(const cli *c, const sock_model *model, const sock_model *other, const char *path, sock_data **out);
int model_data_read(const cli *c, const sock_model *model, const char *path, sock_data **out);

/* The options of such files, which the library will read: states by name, the unit of dates. Answers as cli_begin. */
int model_options(const cli *c, const sock_model *model, size_t count, const char *const *path);

/* Of several files, which are one data set. */
int models_files_read(const cli *c, const sock_model *model, const sock_model *other, size_t count,
                      const char *const *path, sock_data **out);

/* Of a model of order 2: with the columns of its velocities, where the file has them; else false, and nothing is told.
 */
bool model_velocities_read(const cli *c, const sock_model *model, const char *path, sock_data **out);

/* The states alone, and the inputs alone: a CSV with a time and the columns of the model's inputs. */
int model_states_read(const cli *c, const sock_model *model, const char *path, sock_data **out);
int model_inputs_read(const cli *c, const sock_model *model, const char *path, sock_data **out);

/* The same for any list of d names: those of other data. `whose` names their owner in a message. */
int named_data_read(const cli *c, size_t d, const char *const *names, const char *whose, const char *path,
                    sock_data **out);

/* ", time in hours", where the times of the fit were dates, else "". */
enum { UNIT_ROOM = 32 };
void model_unit(const cli *c, const sock_model *model, char text[UNIT_ROOM]); /* "hour" */
const char *model_unit_words(const cli *c, const sock_model *model, char text[UNIT_ROOM]);

/* The state names of a model, which must outlive the list; freed with free(). NULL when out of memory. */
const char **model_names(const sock_model *model);

bool path_ends_in(const char *path, const char *tail);

#endif
