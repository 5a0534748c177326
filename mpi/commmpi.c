/* commmpi.c - see commmpi.h. Pairs travel as (sum, low) side by side, a piece at a time (counts are int), to process 0
 * and from there to all: all get the same bytes. Nothing here is allocated, so nothing can fail between the processes;
 * what MPI itself cannot do ends the job, which is what it does by default. */
#include "commmpi.h"

#include "base/sums.h"

#include <mpi.h>
#include <string.h>

enum { PIECE = 1 << 14 };

static MPI_Datatype pair;
static MPI_Op add;

static void add_pairs(void *from, void *to, int *count, MPI_Datatype *type)
{
    const double *a = from;
    double *b = to;
    (void)type;
    for (int i = 0; i < *count; i++) sk_sums_join(1, a + 2 * i, a + 2 * i + 1, b + 2 * i, b + 2 * i + 1);
}

static void sum(sk_comm *comm, size_t count, double *whole, double *low)
{
    static double mine[2 * PIECE], all[2 * PIECE];
    (void)comm;
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t n = count - at < PIECE ? count - at : PIECE;
        for (size_t i = 0; i < n; i++) {
            mine[2 * i] = whole[at + i];
            mine[2 * i + 1] = low ? low[at + i] : 0;
        }
        MPI_Reduce(mine, all, (int)n, pair, add, 0, MPI_COMM_WORLD);
        MPI_Bcast(all, (int)n, pair, 0, MPI_COMM_WORLD);
        for (size_t i = 0; i < n; i++) {
            whole[at + i] = all[2 * i];
            if (low) low[at + i] = all[2 * i + 1];
        }
    }
}

/* Failures are negative and worse than caveats: the order of what is told. */
static int severity(int status) { return status < 0 ? 1000 - status : status; }

static int agree(sk_comm *comm, int status, bool leaving, char *message, size_t room, bool *left)
{
    struct {
        int value, rank;
    } mine = {severity(status), comm->rank}, worst;
    int anybody = leaving, gone;
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Allreduce(&anybody, &gone, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    *left = gone != 0;
    if (worst.value) MPI_Bcast(message, (int)room, MPI_CHAR, worst.rank, MPI_COMM_WORLD);
    return worst.value >= 1000 ? 1000 - worst.value : worst.value;
}

static void give(sk_comm *comm, int from, void *bytes, size_t count)
{
    enum { AT_ONCE = 1 << 28 }; /* counts are int */
    (void)comm;
    for (size_t at = 0; at < count; at += AT_ONCE)
        MPI_Bcast((char *)bytes + at, (int)(count - at < AT_ONCE ? count - at : AT_ONCE), MPI_BYTE, from,
                  MPI_COMM_WORLD);
}

sk_comm *commmpi_begin(void)
{
    static sk_comm comm = {.sum = sum, .agree = agree, .give = give};
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.size);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &add);
    return &comm;
}

void commmpi_end(void)
{
    MPI_Op_free(&add);
    MPI_Type_free(&pair);
}
