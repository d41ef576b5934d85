// expect: exit 0
// run: --devices 3
// counts: twice nvlrx__bytes.sum 4096
// counts: twice nvltx__bytes.sum 4096
// counts: count nvlrx__bytes.sum 0
// counts: count nvltx__bytes.sum 128
// counts: touch nvlrx__bytes.sum 16777216
// Peer access: who may reach whom, kernels that load, store and count in another device's memory, and copies between
// devices, which go over the link (396 GB/s each way) where it is enabled and by way of the host where it is not.
#include "check.h"

enum { BYTES = 64 << 20, N = 1 << 10 };

__global__ void twice(int *to, const int *from) { to[threadIdx.x + blockIdx.x * blockDim.x] = 2 * from[threadIdx.x + blockIdx.x * blockDim.x]; }
__global__ void count(int *sum) { atomicAdd_system(sum, 1); }

__global__ void touch(const int *from, int *to)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (from[i] == 12345)
        *to = i;
}

static void rules()
{
    int can, value;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    OK(cudaDeviceCanAccessPeer(&can, 1, 1));
    CHECK(can == 0);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 3) == cudaErrorInvalidDevice);
    OK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
    CHECK(cudaDeviceEnablePeerAccess(3, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
    OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK(value == 1);
    OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrNativeAtomicSupported, 2, 1));
    CHECK(value == 1);
    CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)9, 0, 1) == cudaErrorInvalidValue);
    cudaGetLastError();
}

static float since(cudaEvent_t start, cudaStream_t stream)
{
    static cudaEvent_t end;
    float ms;
    if (!end)
        OK(cudaEventCreate(&end));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    return ms;
}

static int *p[3];

static void kernels()
{
    int host[N];
    OK(cudaSetDevice(1));
    for (int i = 0; i < N; i++)
        host[i] = i;
    OK(cudaMemcpy(p[1], host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaDeviceEnablePeerAccess(2, 0));
    twice<<<N / 256, 256>>>(p[2], p[1]);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, p[2], sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[N - 1] == 2 * (N - 1));
    OK(cudaMemset(p[0], 0, 4));
    for (int d = 0; d < 3; d++) {
        OK(cudaSetDevice(d));
        if (d)
            OK(cudaDeviceEnablePeerAccess(0, 0));
        count<<<2, 64>>>(p[0]);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemcpy(host, p[0], 4, cudaMemcpyDefault));
    CHECK(host[0] == 3 * 128);
}

static void copies()
{
    cudaEvent_t start;
    cudaStream_t stream, on_1;
    OK(cudaSetDevice(1));
    OK(cudaStreamCreateWithFlags(&on_1, cudaStreamNonBlocking));
    OK(cudaSetDevice(0));
    OK(cudaEventCreate(&start));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMemset(p[0], 1, BYTES));
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(p[1], p[0], BYTES, cudaMemcpyDefault, stream));
    float link = since(start, stream);
    CHECK(link > 0.169f && link < 0.185f);                      // 64 MiB at 396 GB/s: 0.169 ms
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(p[2], p[1], BYTES, cudaMemcpyDefault, stream));      // 1 and 2 cannot reach each other
    float host = since(start, stream);
    CHECK(host > 1.20f && host < 1.23f);                        // at 55.3 GB/s over the bus

    OK(cudaMemcpyAsync(p[0] + BYTES / 8, p[0], BYTES / 2, cudaMemcpyDefault, stream));    // within a device: no link
    OK(cudaStreamSynchronize(stream));
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(p[0] + BYTES / 8, p[0], BYTES / 2, cudaMemcpyDefault, stream));
    CHECK(since(start, stream) < 0.02f);

    // A single load pays for its own way there and back, not for what a copy takes to begin.
    OK(cudaEventRecord(start, stream));
    touch<<<1, 32, 0, stream>>>(p[1], p[0]);
    float far = since(start, stream);
    OK(cudaEventRecord(start, stream));
    touch<<<1, 32, 0, stream>>>(p[0], p[0] + N);
    float near = since(start, stream);
    CHECK(far - near > 0.0005f && far - near < 0.0015f);        // 0.92 us

    // A kernel that loads 16 MiB over the link takes as long as a copy of them.
    OK(cudaEventRecord(start, stream));
    touch<<<(16 << 20) / 4 / 1024, 1024, 0, stream>>>(p[1], p[0]);
    far = since(start, stream);
    OK(cudaEventRecord(start, stream));
    touch<<<(16 << 20) / 4 / 1024, 1024, 0, stream>>>(p[0], p[0] + N);
    near = since(start, stream);
    CHECK(far - near > 0.036f);
    OK(cudaEventRecord(start, stream));
    touch<<<(16 << 20) / 4 / 1024, 1024, 0, stream>>>(p[1], p[0]);
    CHECK(since(start, stream) - near > 0.03f);                 // and once more, whatever is in L2 by now

    // Two copies out of a device share its link; one out and one in do not.
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, BYTES, stream));
    OK(cudaMemcpyPeerAsync(p[2], 2, p[0], 0, BYTES, on_1));
    OK(cudaStreamSynchronize(on_1));
    float out = since(start, stream);
    CHECK(out > 2 * link - 0.006f && out < 2 * link + 0.006f);  // the calls take some of it
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, BYTES / 2, stream));
    OK(cudaMemcpyPeerAsync(p[0] + BYTES / 8, 0, p[2], 2, BYTES / 2, on_1));
    OK(cudaStreamSynchronize(on_1));
    float ways = since(start, stream);
    CHECK(ways < link / 2 + 0.012f);

    // In the default stream a copy waits for both devices, and both for it.
    OK(cudaSetDevice(1));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(p[2], p[1], BYTES, cudaMemcpyDefault, 0));
    OK(cudaSetDevice(0));
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(p[0], p[1], BYTES, cudaMemcpyDefault, 0));
    float both = since(start, 0);
    CHECK(both > host + link - 0.01f && both < host + link + 0.01f);
    OK(cudaSetDevice(2));
    OK(cudaMemcpyPeer(p[0], 0, p[2], 2, BYTES));
    OK(cudaSetDevice(0));
    CHECK(since(start, 0) > 1.51f);                             // device 0's work comes after it
    char byte;
    OK(cudaMemcpy(&byte, (char *)p[0] + BYTES - 1, 1, cudaMemcpyDefault));
    CHECK(byte == 1);
}

// A box out of the middle of one device's memory into another's.
static void boxes()
{
    char host[4][4][16], *from = (char *)p[0], *to = (char *)p[1];
    for (int i = 0; i < (int)sizeof host; i++)
        (&host[0][0][0])[i] = (char)i;
    OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyDefault));
    OK(cudaMemset(to, 0, sizeof host));
    cudaMemcpy3DPeerParms box = {};
    box.srcPtr = make_cudaPitchedPtr(from, 16, 16, 4);
    box.srcPos = make_cudaPos(4, 1, 2);
    box.dstPtr = make_cudaPitchedPtr(to, 16, 16, 4);
    box.dstDevice = 1;
    box.extent = make_cudaExtent(8, 2, 2);
    OK(cudaMemcpy3DPeer(&box));
    OK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDefault));
    CHECK(host[0][0][0] == 2 * 64 + 16 + 4 - 256 && host[1][1][7] == 3 * 64 + 2 * 16 + 11 - 256 && host[0][2][0] == 0);
    box.dstDevice = 3;
    CHECK(cudaMemcpy3DPeer(&box) == cudaErrorInvalidDevice);
    CHECK(cudaMemcpyPeer(to, 1, from, -1, 4) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

// Resetting a device ends what others may do with it.
static void resetting()
{
    OK(cudaSetDevice(1));
    OK(cudaDeviceReset());
    OK(cudaSetDevice(0));
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceDisablePeerAccess(2));
}

int main()
{
    rules();
    for (int d = 0; d < 3; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&p[d], BYTES));
    }
    kernels();
    copies();
    boxes();
    for (int d = 0; d < 3; d++)
        OK(cudaFree(p[d]));
    resetting();
    return 0;
}
