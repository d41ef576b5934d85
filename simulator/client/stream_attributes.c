// Attributes of streams, such as the synchronization policy and the access policy window. Only the
// priority has an effect; the other attributes are kept here, so that the program can read them
// again.

#include "client.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum { ATTRIBUTES = cudaLaunchAttributeMemSyncDomain + 1, DOMAINS = 4 };

typedef struct Kept {
    struct Kept *next;
    uint64_t stream; // its id, which is 0 for the default stream of each device
    uint32_t device; // the stream's device
    cudaLaunchAttributeValue values[ATTRIBUTES];
} Kept;

static Kept *kept;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_of_streams(cudaLaunchAttributeID id)
{
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return true;
    default: return false;
    }
}

// The stream's place in the list, or the list's end. Each device has a stream 0.
static Kept **find(uint64_t stream, uint32_t device)
{
    Kept **at = &kept;
    while (*at && ((*at)->stream != stream || (!stream && (*at)->device != device)))
        at = &(*at)->next;
    return at;
}

void client_stream_forget(uint64_t stream)
{
    pthread_mutex_lock(&mutex);
    Kept **at = find(stream, 0), *old = *at;
    if (old) {
        *at = old->next;
        free(old);
    }
    pthread_mutex_unlock(&mutex);
}

void client_streams_forget(uint32_t device)
{
    pthread_mutex_lock(&mutex);
    for (Kept **at = &kept, *old; (old = *at);) {
        if (old->device == device) {
            *at = old->next;
            free(old);
        } else {
            at = &old->next;
        }
    }
    pthread_mutex_unlock(&mutex);
}

// The stream's attributes, added to the list if they are not there. The caller holds the mutex.
// NULL: out of memory.
static Kept *of(uint64_t stream, const WireReply *facts)
{
    Kept **at = find(stream, facts->stream.device);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->stream = stream;
        (*at)->device = facts->stream.device;
        (*at)->values[cudaLaunchAttributeSynchronizationPolicy].syncPolicy =
            -1; // not set; the value is an H200's
        (*at)->values[cudaLaunchAttributeMemSyncDomainMap].memSyncDomainMap.remote = 1;
    }
    return *at;
}

EXPORT cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                          cudaLaunchAttributeValue *value)
{
    WireReply facts;
    cudaError_t error =
        value && is_of_streams(id)
            ? client_stream_facts("cudaStreamGetAttribute", client_stream(stream), &facts)
            : cudaErrorInvalidValue;
    if (error) return client_done(error);
    pthread_mutex_lock(&mutex);
    Kept *k = of(client_stream(stream), &facts);
    if (k) *value = k->values[id];
    pthread_mutex_unlock(&mutex);
    if (id == cudaLaunchAttributePriority) value->priority = facts.stream.priority;
    return client_done(k ? cudaSuccess : cudaErrorMemoryAllocation);
}
TWIN(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz,
     (cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value),
     (stream, id, value))

static bool is_good_window(const struct cudaAccessPolicyWindow *w)
{
    return w->hitRatio >= 0 && w->hitRatio <= 1
        && (unsigned)w->missProp <= cudaAccessPropertyStreaming
        && w->num_bytes <= CLIENT_LARGEST_WINDOW;
}

bool client_good_attribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    const cudaLaunchMemSyncDomainMap *domains = &value->memSyncDomainMap;
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: return is_good_window(&value->accessPolicyWindow);
    case cudaLaunchAttributeSynchronizationPolicy:
        return value->syncPolicy >= cudaSyncPolicyAuto
            && value->syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeMemSyncDomain:
        return (unsigned)value->memSyncDomain <= cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeMemSyncDomainMap:
        return domains->default_ < DOMAINS && domains->remote < DOMAINS;
    case cudaLaunchAttributePreferredSharedMemoryCarveout: return value->sharedMemCarveout <= 100;
    default: return true;
    }
}

static cudaError_t set_priority(const char *call, uint64_t stream, int priority)
{
    WireRequest request = client_request(WIRE_STREAM_PRIORITY, call);
    WireReply reply;
    request.stream = stream;
    request.create.priority = client_priority(priority);
    return client_simple(&request, &reply);
}

static cudaError_t set(const char *call, cudaStream_t stream, cudaLaunchAttributeID id,
                       const cudaLaunchAttributeValue *value)
{
    WireReply facts;
    cudaError_t error = client_stream_facts(call, client_stream(stream), &facts);
    if (!error && id == cudaLaunchAttributePriority)
        return set_priority(call, client_stream(stream), value->priority);
    if (error) return error;
    pthread_mutex_lock(&mutex);
    Kept *k = of(client_stream(stream), &facts);
    if (k) k->values[id] = *value;
    pthread_mutex_unlock(&mutex);
    return k ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                          const cudaLaunchAttributeValue *value)
{
    bool good = value && is_of_streams(id) && client_good_attribute(id, value);
    return client_done(good ? set("cudaStreamSetAttribute", stream, id, value)
                            : cudaErrorInvalidValue);
}
TWIN(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz,
     (cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value),
     (stream, id, value))

EXPORT cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    cudaError_t error = cudaSuccess;
    for (int id = 0; id < ATTRIBUTES && !error; id++) {
        cudaLaunchAttributeValue value;
        if (!is_of_streams(id)) continue;
        error = cudaStreamGetAttribute(from, id, &value);
        if (!error) error = set("cudaStreamCopyAttributes", to, id, &value);
    }
    return client_done(error);
}
TWIN(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz, (cudaStream_t to, cudaStream_t from),
     (to, from))
