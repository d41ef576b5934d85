// expect: exit 0
// What a program asks of a stream is the stream's own, is gone with it, or with its device, and can be copied. A priority that
// is set counts for what is issued from then on, as one that the stream was made with.
#include "check.h"

__global__ void heavy(float *out, int rounds)
{
    float x = threadIdx.x;
    for (int n = 0; n < rounds; n++)
        x = x * 0.5f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static const cudaSynchronizationPolicy NONE = (cudaSynchronizationPolicy)-1;     // nobody has said how to wait: an H200's answer

static float *out;

static cudaLaunchAttributeValue get(cudaStream_t s, cudaLaunchAttributeID id)
{
    cudaLaunchAttributeValue value;
    OK(cudaStreamGetAttribute(s, id, &value));
    return value;
}

// Milliseconds until the second, small one is done, that waits or does not.
static float behind(cudaStream_t one, cudaStream_t two)
{
    float ms;
    cudaEvent_t start, stop;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, one));
    heavy<<<132 * 64, 256, 0, one>>>(out, 200);
    heavy<<<132, 256, 0, two>>>(out + 132 * 64 * 256, 200);
    OK(cudaEventRecord(stop, two));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, start, stop));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    return ms;
}

int main()
{
    cudaStream_t s, t;
    cudaLaunchAttributeValue window = {}, wait = {}, priority = {};
    OK(cudaMalloc(&out, (132 * 64 + 132) * 256 * sizeof *out));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(get(s, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == NONE);
    CHECK(get(s, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.num_bytes == 0);

    window.accessPolicyWindow = { out, 1 << 20, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming };
    wait.syncPolicy = cudaSyncPolicyBlockingSync;
    OK(cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &window));
    OK(cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &wait));
    CHECK(get(s, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.base_ptr == out);
    CHECK(get(t, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.base_ptr == NULL);
    CHECK(get(0, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == NONE);
    OK(cudaStreamCopyAttributes(t, s));
    CHECK(get(t, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.hitRatio == 0.5f);
    CHECK(get(t, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == cudaSyncPolicyBlockingSync);

    float before = behind(s, t);
    priority.priority = -100;                   // the greatest that there is
    OK(cudaStreamSetAttribute(t, cudaLaunchAttributePriority, &priority));
    int now;
    OK(cudaStreamGetPriority(t, &now));
    CHECK(now == -5 && get(t, cudaLaunchAttributePriority).priority == -5);
    CHECK(behind(s, t) < before / 2);

    OK(cudaStreamDestroy(s));
    CHECK(cudaStreamGetAttribute(s, cudaLaunchAttributePriority, &priority) == cudaErrorInvalidResourceHandle);
    OK(cudaStreamCreate(&s));                   // in the old one's place
    CHECK(get(s, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.base_ptr == NULL);
    CHECK(cudaStreamGetAttribute(s, cudaLaunchAttributeCooperative, &wait) == cudaErrorInvalidValue);
    window.accessPolicyWindow.hitRatio = 2;
    CHECK(cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &window) == cudaErrorInvalidValue);
    OK(cudaFree(out));

    OK(cudaStreamSetAttribute(0, cudaLaunchAttributeSynchronizationPolicy, &wait));
    CHECK(get(0, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == cudaSyncPolicyBlockingSync);
    OK(cudaDeviceReset());                      // the legacy stream's are gone with the device
    CHECK(get(0, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == NONE);
    return 0;
}
