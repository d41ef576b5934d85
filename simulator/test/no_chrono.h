// Replaces libcu++'s clocks in tests: programs/atomic.h and grader/try.sh include it before
// <cuda/atomic>. On the host, <cuda/atomic> includes those clocks for waits with a time limit, and
// with them libstdc++'s strings, locales and streams: two thirds of nvcc's time. Below are the
// declarations that <cuda/atomic> takes from there. The PTX is the same, byte for byte; a program
// whose host code waits on an atomic does not link.
#define _LIBCUDACXX___THREAD_THREADING_SUPPORT_H
#define _LIBCUDACXX_POLLING_COUNT 16
#include <cuda/std/detail/__config>

_LIBCUDACXX_BEGIN_NAMESPACE_STD
template <class Poll> __host__ __device__ bool __cccl_thread_poll_with_backoff(Poll &&);
__host__ __device__ void __cccl_thread_yield_processor();
__host__ __device__ void __cccl_thread_yield();
_LIBCUDACXX_END_NAMESPACE_STD
