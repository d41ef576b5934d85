// Peer access: which device may access which other device's memory. (Peer copies are in copy.c.)

#include "client.h"
#include <cuda_runtime_api.h>

// A link joins every two devices.
EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int from, int to)
{
    cudaError_t error = client_open();
    if (!error && !client_are_devices(from, to))
        error =
            client_no_device("cudaDeviceCanAccessPeer", client_are_devices(from, from) ? to : from);
    if (error || !can) return client_done(error ? error : cudaErrorInvalidValue);
    *can = from != to;
    return cudaSuccess;
}

static cudaError_t set_access(const char *call, int other, bool enable)
{
    cudaError_t error = client_check_devices(other, other);
    if (error == cudaErrorInvalidDevice) error = client_no_device(call, other);
    if (!error && other == (int)client_device())
        error = client_refuse(
            call, enable ? cudaErrorPeerAccessUnsupported : cudaErrorPeerAccessNotEnabled,
            "A device always has access to its own memory.",
            "Call it for the other device, while this one is the current one (cudaSetDevice).",
            "was given device %d, which is the current one", other);
    if (error) return client_done(error);
    WireRequest request = client_request(WIRE_PEER, call);
    request.peer.other = (uint32_t)other;
    request.peer.enable = enable;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned flags)
{
    cudaError_t error = flags ? client_check_devices(other, other) : cudaSuccess;
    if (flags) return client_done(error ? error : cudaErrorInvalidValue);
    return set_access("cudaDeviceEnablePeerAccess", other, true);
}

EXPORT cudaError_t cudaDeviceDisablePeerAccess(int other)
{
    return set_access("cudaDeviceDisablePeerAccess", other, false);
}

// All links are equal, and support native atomics.
EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                             int to)
{
    cudaError_t error = value ? client_check_devices(from, to) : cudaErrorInvalidValue;
    if (error || from == to) return client_done(error ? error : cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported: *value = 0; return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return cudaSuccess;
    }
    return client_done(cudaErrorInvalidValue);
}
