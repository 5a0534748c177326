/* plainoutput.h - standard output for people: names and texts of files may hold control characters, which a terminal
 * obeys. They are shown as '?' (base/printable.h). */
#ifndef SOCK_PLAINOUTPUT_H
#define SOCK_PLAINOUTPUT_H

#include <stdbool.h>

/* From here on standard output passes such texts, until it is removed: always where a verb lays out text for people,
 * for data only on the way to a terminal. Without memory for it everything goes on as it was. */
void plainoutput_install(bool data);
void plainoutput_remove(void);

#endif
