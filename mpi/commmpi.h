/* commmpi.h - the processes of an MPI job as the library sees them (base/comm.h). */
#ifndef COMMMPI_H
#define COMMMPI_H

#include "base/comm.h"

/* After MPI_Init; one for the whole process. */
sk_comm *commmpi_begin(void);
void commmpi_end(void);

#endif
