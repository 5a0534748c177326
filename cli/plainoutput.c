/* plainoutput.c - the library writes tables to `stdout`, too: so the stream itself is replaced, which only the GNU C
 * library allows. */
#define _GNU_SOURCE
#include "plainoutput.h"

#include "base/printable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
static FILE *plain;

static ssize_t write_whole(const char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t sent = write(STDOUT_FILENO, bytes + done, size - done);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return 0;
        done += (size_t)sent;
    }
    return (ssize_t)size;
}

static ssize_t pass(void *cookie, const char *bytes, size_t size)
{
    char piece[4096], *before = cookie;
    for (size_t done = 0; done < size;) {
        const size_t count = size - done < sizeof piece ? size - done : sizeof piece;
        memcpy(piece, bytes + done, count);
        sk_make_printable(piece, count, *before);
        *before = bytes[done + count - 1];
        if (write_whole(piece, count) == 0) return 0;
        done += count;
    }
    return (ssize_t)size;
}

void plainoutput_install(bool data)
{
    static char before;
    const bool terminal = isatty(STDOUT_FILENO);
    if (plain || (data && !terminal)) return;
    FILE *passing = fopencookie(&before, "w", (cookie_io_functions_t){.write = pass});
    if (!passing) return;
    setvbuf(passing, NULL, terminal ? _IOLBF : _IOFBF, BUFSIZ);
    plain = stdout;
    stdout = passing;
}

void plainoutput_remove(void)
{
    if (!plain) return;
    fclose(stdout); /* a verb has looked at its output by then */
    stdout = plain;
    plain = NULL;
}
#else
void plainoutput_install(bool data) { (void)data; }
void plainoutput_remove(void) {}
#endif
