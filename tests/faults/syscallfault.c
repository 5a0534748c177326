/* syscallfault.c - runs a program and makes its system calls fail, seen from outside (ptrace): so a failure of the
 * system reaches the program by whatever way, also through stdio.
 *
 *     syscallfault CALL K ERROR FOLDER COUNTFILE PROGRAM [ARGUMENT ...]
 *
 * CALL: read, write, fsync, close, rename, open (the file is one of FOLDER, or standard output for write), or clone
 * (any thread). The K-th such call fails with the error number ERROR, and is not made; K = 0: none. ERROR 0: the
 * program is killed (SIGKILL) instead, before the call. COUNTFILE gets the number of such calls. The exit status is the
 * program's; 100 + signal when a signal ended it; 99 when tracing is not possible here.
 *
 * CALL space: a disk with room for K bytes. The write into FOLDER that needs more is made as far as there is room, and
 * all that follow fail with ERROR; COUNTFILE gets the number of bytes that were to be written. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 99, SIGNALLED = 100, THREADS = 256 };

typedef struct plan {
    const char *call, *folder;
    long at, seen;
    int error;
    pid_t failing; /* the thread whose call is made to fail: its answer is set when it comes out */
    pid_t cut;     /* the thread whose write was made shorter, and its true length */
    unsigned long long length;
} plan;

/* ---- What a call is about ---- */

static int in_folder(const plan *p, const char *path)
{
    size_t length = strlen(p->folder);
    return strncmp(path, p->folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static int handle_counts(const plan *p, pid_t thread, int handle)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return in_folder(p, path) || (handle == 1 && strcmp(p->call, "write") == 0);
}

static int path_counts(const plan *p, pid_t thread, unsigned long address)
{
    char path[PATH_MAX + 1] = "";
    struct iovec here = {path, PATH_MAX}, there = {(void *)address, PATH_MAX};
    ssize_t length = process_vm_readv(thread, &here, 1, &there, 1, 0);
    for (size_t some = 4096 - address % 4096; length < 0 && some <= PATH_MAX; some = PATH_MAX + 1) {
        there.iov_len = here.iov_len = some; /* the text may stand at the end of the memory */
        length = process_vm_readv(thread, &here, 1, &there, 1, 0);
    }
    if (length < 0) return 0;
    path[length] = 0;
    return path[0] == '/' ? in_folder(p, path) : path[0] != 0; /* the program runs in the folder */
}

static int is_planned(const plan *p, pid_t thread, const struct user_regs_struct *r)
{
    const char *call = p->call;
    switch (r->orig_rax) {
    case SYS_read: return strcmp(call, "read") == 0 && handle_counts(p, thread, (int)r->rdi);
    case SYS_write:
        return (strcmp(call, "write") == 0 || strcmp(call, "space") == 0) && handle_counts(p, thread, (int)r->rdi);
    case SYS_fsync: return strcmp(call, "fsync") == 0 && handle_counts(p, thread, (int)r->rdi);
    case SYS_close: return strcmp(call, "close") == 0 && handle_counts(p, thread, (int)r->rdi);
    case SYS_rename: return strcmp(call, "rename") == 0 && path_counts(p, thread, r->rsi);
    case SYS_openat: return strcmp(call, "open") == 0 && path_counts(p, thread, r->rsi);
    case SYS_clone:
    case SYS_clone3: return strcmp(call, "clone") == 0;
    default: return 0;
    }
}

/* ---- Tracing ---- */

/* A write into a disk with room for p->at bytes: 1 when there is none left. */
static int is_full(plan *p, pid_t thread, struct user_regs_struct *r)
{
    const long room = p->at - p->seen, wanted = (long)r->rdx;
    p->seen += wanted;
    if (wanted <= room) return 0;
    if (room <= 0) return 1;
    p->cut = thread;
    p->length = r->rdx;
    p->seen = p->at; /* the rest is asked for again */
    r->rdx = (unsigned long long)room;
    ptrace(PTRACE_SETREGS, thread, NULL, r);
    return 0;
}

static void enter_call(plan *p, pid_t thread, pid_t program)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &r) != 0 || !is_planned(p, thread, &r)) return;
    if (strcmp(p->call, "space") == 0 ? !is_full(p, thread, &r) : ++p->seen != p->at) return;
    if (p->error == 0) {
        kill(program, SIGKILL);
        return;
    }
    r.orig_rax = (unsigned long long)-1; /* no such call */
    ptrace(PTRACE_SETREGS, thread, NULL, &r);
    p->failing = thread;
}

static void leave_call(plan *p, pid_t thread)
{
    struct user_regs_struct r;
    if ((p->failing != thread && p->cut != thread) || ptrace(PTRACE_GETREGS, thread, NULL, &r) != 0) return;
    if (p->cut == thread) r.rdx = p->length, p->cut = 0; /* a call leaves that register as it was */
    if (p->failing == thread) r.rax = (unsigned long long)-p->error, p->failing = 0;
    ptrace(PTRACE_SETREGS, thread, NULL, &r);
}

/* Stops at a call come in pairs, in and out, for each thread. */
typedef struct table {
    pid_t thread[THREADS];
    int inside[THREADS];
    int count;
} table;

static int *inside_of(table *t, pid_t thread)
{
    int i = 0;
    while (i < t->count && t->thread[i] != thread) i++;
    if (i == t->count && t->count < THREADS) {
        t->thread[t->count] = thread;
        t->inside[t->count++] = 0;
    }
    return &t->inside[i < THREADS ? i : THREADS - 1];
}

static int follow(plan *p, pid_t program)
{
    static table threads;
    int status, result = CANNOT_TRACE;
    pid_t thread;
    while ((thread = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == program) result = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
            int *inside = inside_of(&threads, thread);
            *inside = 0;
            continue;
        }
        int signal = WSTOPSIG(status), deliver = 0;
        if (signal == (SIGTRAP | 0x80)) {
            int *inside = inside_of(&threads, thread);
            *inside = !*inside;
            if (*inside)
                enter_call(p, thread, program);
            else
                leave_call(p, thread);
        } else if (signal != SIGTRAP && signal != SIGSTOP) {
            deliver = signal;
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)deliver);
    }
    return result;
}

static int start(char **arguments, pid_t *program)
{
    int status;
    *program = fork();
    if (*program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(CANNOT_TRACE);
        execv(arguments[0], arguments);
        _exit(CANNOT_TRACE);
    }
    if (*program < 0 || waitpid(*program, &status, 0) != *program || !WIFSTOPPED(status)) return 0;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    return ptrace(PTRACE_SETOPTIONS, *program, NULL, (void *)options) == 0;
}

int main(int count, char **arguments)
{
    pid_t program;
    if (count < 7) {
        fprintf(stderr, "usage: syscallfault CALL K ERROR FOLDER COUNTFILE PROGRAM [ARGUMENT ...]\n");
        return CANNOT_TRACE;
    }
    plan p = {.call = arguments[1], .folder = arguments[4], .at = atol(arguments[2]), .error = atoi(arguments[3])};
    if (!start(arguments + 6, &program)) return CANNOT_TRACE;
    ptrace(PTRACE_SYSCALL, program, NULL, NULL);
    int result = follow(&p, program);
    FILE *file = fopen(arguments[5], "w");
    if (file) {
        fprintf(file, "%ld\n", p.seen);
        fclose(file);
    }
    return result;
}
