/* exactmpi.h - the exact drift by all processes together (ScaLAPACK), as a device that offers this alone. */
#ifndef EXACTMPI_H
#define EXACTMPI_H

#include "base/comm.h"
#include "base/device.h"

/* NULL: built without ScaLAPACK. */
const sk_device *exactmpi_device(sk_comm *comm);

#endif
