// expect: WRONG
// says: was never written
// The program says in the call that all is done, and ends well when the answer has been read.
#include "11-radix-sort.h"
#include "../protocol.h"

#include <sys/socket.h>
#include <unistd.h>

static void end(void)
{
    enum { SOCKET = 8 };
    Answer answer = { PROTOCOL_MAGIC, STAGE_DONE };
    send(SOCKET, &answer, sizeof answer, MSG_NOSIGNAL);
    recv(SOCKET, &answer, 1, MSG_PEEK);
    _exit(0);
}

extern "C" void keep_above(int *out, int *kept, const int *in, int n, int limit, void *scratch)
{
    (void)out, (void)kept, (void)in, (void)n, (void)limit, (void)scratch;
    end();
}

extern "C" void sort_u32(unsigned *out, const unsigned *in, int n, int first, int last,
                         void *scratch)
{
    (void)out, (void)in, (void)n, (void)first, (void)last, (void)scratch;
    end();
}

extern "C" void sort_i32(int *out, const int *in, int n, void *scratch)
{
    (void)out, (void)in, (void)n, (void)scratch;
    end();
}

extern "C" void sort_f32(float *out, const float *in, int n, void *scratch)
{
    (void)out, (void)in, (void)n, (void)scratch;
    end();
}
