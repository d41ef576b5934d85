// Calls of the C library that hand memory to the kernel. Where a page is guarded, the kernel fails
// them with EFAULT, and no signal tells of it. So they come by here first: what they are about to
// access is opened, and the device is told, as at any other access of the host's.

#define _GNU_SOURCE
#include "guard.h"
#include "client.h"
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void pass_all(const struct iovec *parts, int count, bool writes)
{
    for (int n = 0; n < count; n++) client_guard_pass(parts[n].iov_base, parts[n].iov_len, writes);
}

// The version under which the C library has its oldest functions, and the program asks for them.
#if defined __x86_64__
#define LIBC "GLIBC_2.2.5"
#elif defined __aarch64__
#define LIBC "GLIBC_2.17"
#endif

// Exports a function that lets `before` happen, and calls the C library's.
#define PASSES(type, name, parameters, arguments, before)                                          \
    __asm__(".symver io_" #name ", " #name "@@" LIBC);                                             \
    EXPORT type io_##name parameters;                                                              \
    EXPORT type io_##name parameters                                                               \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (!next)                                                                                 \
            *(void **)&next = dlvsym(RTLD_NEXT, #name, LIBC); /* a program may have a dlsym */     \
        before;                                                                                    \
        return next arguments;                                                                     \
    }

#define FILLED(p, bytes) client_guard_pass(p, bytes, true)
#define EMPTIED(p, bytes) client_guard_pass(p, bytes, false)

PASSES(ssize_t, read, (int file, void *p, size_t n), (file, p, n), FILLED(p, n))
PASSES(ssize_t, write, (int file, const void *p, size_t n), (file, p, n), EMPTIED(p, n))
PASSES(ssize_t, pread, (int file, void *p, size_t n, off_t at), (file, p, n, at), FILLED(p, n))
PASSES(ssize_t, pwrite, (int file, const void *p, size_t n, off_t at), (file, p, n, at),
       EMPTIED(p, n))
PASSES(ssize_t, pread64, (int file, void *p, size_t n, off64_t at), (file, p, n, at), FILLED(p, n))
PASSES(ssize_t, pwrite64, (int file, const void *p, size_t n, off64_t at), (file, p, n, at),
       EMPTIED(p, n))
PASSES(ssize_t, readv, (int file, const struct iovec *v, int n), (file, v, n), pass_all(v, n, true))
PASSES(ssize_t, writev, (int file, const struct iovec *v, int n), (file, v, n),
       pass_all(v, n, false))
PASSES(ssize_t, recv, (int file, void *p, size_t n, int flags), (file, p, n, flags), FILLED(p, n))
PASSES(ssize_t, send, (int file, const void *p, size_t n, int flags), (file, p, n, flags),
       EMPTIED(p, n))
PASSES(size_t, fread, (void *p, size_t size, size_t n, FILE *file), (p, size, n, file),
       FILLED(p, size *n))
PASSES(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *file), (p, size, n, file),
       EMPTIED(p, size *n))
