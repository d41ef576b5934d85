// Graphs' nodes that need more than one call: memory, any kind by one call, and user objects.
#include "ask.h"
#include <unistd.h>

static char host[256];

static void host_function(void *unused) { (void)unused; }

GROUP(graph_memory_nodes, 1)
{
    cudaGraph_t g;
    cudaGraphNode_t a, f, k, list[4];
    char *d;
    void *p = NULL;
    DO(cudaMalloc((void **)&d, 64));
    struct cudaMemAllocNodeParams
        alloc = { .poolProps = { .allocType = cudaMemAllocationTypePinned,
                                 .location = { .type = cudaMemLocationTypeDevice, .id = 0 } },
                  .bytesize = 5000 },
        back;
    DO(cudaGraphCreate(&g, 0));
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 1, NULL);
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    DO(cudaGraphAddMemAllocNode(&a, g, &k, 1, &alloc));
    ask("free it", cudaGraphAddMemFreeNode(&f, g, &a, 1, alloc.dptr));
    memset(&back, 0, sizeof back);
    ask("allocation's parameters", cudaGraphMemAllocNodeGetParams(a, &back));
    tell("allocation's parameters", "%zu bytes, %s, type %d on %d %d, %zu descriptors",
         back.bytesize, back.dptr == alloc.dptr ? "its address" : "another",
         (int)back.poolProps.allocType, (int)back.poolProps.location.type,
         back.poolProps.location.id, back.accessDescCount);
    ask("allocation's parameters to nowhere", cudaGraphMemAllocNodeGetParams(a, NULL));
    ask("allocation's parameters of a kernel", cudaGraphMemAllocNodeGetParams(k, &back));
    ask("allocation's parameters of null", cudaGraphMemAllocNodeGetParams(NULL, &back));
    ask("free's parameters", cudaGraphMemFreeNodeGetParams(f, &p));
    tell("free's parameters", "%s", p == alloc.dptr ? "its address" : "another");
    ask("free's parameters to nowhere", cudaGraphMemFreeNodeGetParams(f, NULL));
    ask("free's parameters of an allocation", cudaGraphMemFreeNodeGetParams(a, &p));
    ask("free's parameters of null", cudaGraphMemFreeNodeGetParams(NULL, &p));
    ask("allocation without parameters", cudaGraphAddMemAllocNode(&a, g, NULL, 0, NULL));
    ask("allocation to nowhere", cudaGraphAddMemAllocNode(NULL, g, NULL, 0, &alloc));
    ask("free to nowhere", cudaGraphAddMemFreeNode(NULL, g, NULL, 0, alloc.dptr));
    size_t count = 77;
    ask("dependencies to nowhere", cudaGraphNodeGetDependencies(f, list, NULL, NULL));
    ask("dependencies of null", cudaGraphNodeGetDependencies(NULL, list, NULL, &count));
    count = 4;
    memset(list, 0x55, sizeof list);
    ask("dependencies", cudaGraphNodeGetDependencies(f, list, NULL, &count));
    tell("dependencies", "%zu, %s, then %s", count,
         list[0] == a ? "the allocation"
         : list[0]    ? "some"
                      : "null",
         list[1] ? "some" : "null");
    count = 4;
    memset(list, 0x55, sizeof list);
    ask("dependents", cudaGraphNodeGetDependentNodes(k, list, NULL, &count));
    tell("dependents", "%zu, then %s", count, list[1] ? "some" : "null");
    ask("dependents to nowhere", cudaGraphNodeGetDependentNodes(k, list, NULL, NULL));
    ask("destroy the allocation", cudaGraphDestroyNode(list[0]));
    ask("destroy the kernel", cudaGraphDestroyNode(k));
    ask("take a dependency of null", cudaGraphRemoveDependencies(g, NULL, NULL, NULL, 1));
    ask("take no dependencies", cudaGraphRemoveDependencies(g, NULL, NULL, NULL, 0));
    ask("add no dependencies", cudaGraphAddDependencies(g, NULL, NULL, NULL, 0));
    ask("add a dependency of no graph", cudaGraphAddDependencies(NULL, &k, &a, NULL, 1));
    ask("afterwards", cudaDeviceSynchronize());
}

static void add_any(const char *question, cudaGraph_t g, struct cudaGraphNodeParams *p)
{
    cudaGraphNode_t node = NULL;
    enum cudaGraphNodeType type = 77;
    cudaError_t error = cudaGraphAddNode(&node, g, NULL, NULL, 0, p), last = cudaGetLastError();
    if (!error) DO(cudaGraphNodeGetType(node, &type));
    tell(question, "%s, last error %s, type %d", cudaGetErrorName(error), cudaGetErrorName(last),
         (int)type);
}

GROUP(graph_any_nodes, 1)
{
    cudaGraph_t g, child;
    cudaGraphNode_t a, b, c;
    cudaEvent_t e;
    char *d;
    DO(cudaEventCreate(&e));
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphCreate(&child, 0));
    struct cudaGraphNodeParams p;
#define FRESH(kind) (memset(&p, 0, sizeof p), p.type = (kind))
    FRESH(cudaGraphNodeTypeEmpty);
    add_any("empty", g, &p);
    FRESH(cudaGraphNodeTypeKernel);
    add_any("kernel, nothing filled in", g, &p);
    p.kernel = (struct cudaKernelNodeParamsV2){ .func = (void *)nothing,
                                                .gridDim = { 1, 1, 1 },
                                                .blockDim = { 32, 1, 1 } };
    add_any("kernel", g, &p);
    p.kernel.blockDim.x = 1025;
    add_any("kernel of 1025 threads", g, &p);
    FRESH(cudaGraphNodeTypeMemset);
    add_any("fill, nothing filled in", g, &p);
    p.memset = (struct cudaMemsetParamsV2){
        .dst = d, .value = 1, .elementSize = 4, .width = 4, .height = 1
    };
    add_any("fill", g, &p);
    FRESH(cudaGraphNodeTypeMemcpy);
    add_any("copy, nothing filled in", g, &p);
    p.memcpy.copyParams = (struct cudaMemcpy3DParms){ .srcPtr = { host, 16, 16, 1 },
                                                      .dstPtr = { d, 16, 16, 1 },
                                                      .extent = { 16, 1, 1 },
                                                      .kind = cudaMemcpyHostToDevice };
    add_any("copy", g, &p);
    p.memcpy.copyParams.kind = 9;
    add_any("copy, kind 9", g, &p);
    FRESH(cudaGraphNodeTypeHost);
    add_any("function, nothing filled in", g, &p);
    p.host = (struct cudaHostNodeParamsV2){ .fn = host_function };
    add_any("function", g, &p);
    FRESH(cudaGraphNodeTypeGraph);
    add_any("child, nothing filled in", g, &p);
    p.graph.graph = child;
    add_any("child", g, &p);
    FRESH(cudaGraphNodeTypeEventRecord);
    add_any("record, nothing filled in", g, &p);
    p.eventRecord.event = e;
    add_any("record", g, &p);
    FRESH(cudaGraphNodeTypeWaitEvent);
    add_any("wait, nothing filled in", g, &p);
    p.eventWait.event = e;
    add_any("wait", g, &p);
    FRESH(cudaGraphNodeTypeMemAlloc);
    add_any("allocation, nothing filled in", g, &p);
    p.alloc = (struct cudaMemAllocNodeParamsV2){
        .poolProps = { .allocType = cudaMemAllocationTypePinned,
                       .location = { .type = cudaMemLocationTypeDevice, .id = 0 } },
        .bytesize = 64
    };
    add_any("allocation", g, &p);
    void *allocated = p.alloc.dptr;
    FRESH(cudaGraphNodeTypeMemFree);
    add_any("free, nothing filled in", g, &p);
    p.free.dptr = allocated;
    add_any("free, not behind it", g, &p);
    FRESH(cudaGraphNodeTypeEmpty);
    p.reserved0[1] = 1;
    add_any("empty, with a reserved word", g, &p);
    FRESH(cudaGraphNodeTypeEmpty);
    p.reserved1[28] = 1;
    add_any("empty, with another", g, &p);
    FRESH(cudaGraphNodeTypeEmpty);
    p.reserved2 = 1;
    add_any("empty, with the last", g, &p);
#undef FRESH

    // Edges that say more than which comes first.
    cudaGraph_t h;
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 1, NULL);
    cudaGraphEdgeData edge = { 0 };
    DO(cudaGraphCreate(&h, 0));
    DO(cudaGraphAddKernelNode(&a, h, NULL, 0, &kernel));
    DO(cudaGraphAddKernelNode(&b, h, NULL, 0, &kernel));
    DO(cudaGraphAddEmptyNode(&c, h, NULL, 0));
    edge.reserved[2] = 1;
    ask("edge with a reserved byte", cudaGraphAddDependencies(h, &a, &b, &edge, 1));
    edge = (cudaGraphEdgeData){ .type = 9 };
    ask("edge of type 9", cudaGraphAddDependencies(h, &a, &b, &edge, 1));
    edge = (cudaGraphEdgeData){ .to_port = 3 };
    ask("edge to port 3", cudaGraphAddDependencies(h, &a, &b, &edge, 1));
    edge = (cudaGraphEdgeData){ .type = cudaGraphDependencyTypeProgrammatic };
    ask("programmatic edge from port 0", cudaGraphAddDependencies(h, &a, &b, &edge, 1));
    edge = (cudaGraphEdgeData){ .from_port = cudaGraphKernelNodePortProgrammatic,
                                .type = cudaGraphDependencyTypeProgrammatic };
    ask("programmatic edge to an empty node", cudaGraphAddDependencies(h, &a, &c, &edge, 1));
    edge = (cudaGraphEdgeData){ 0 };
    ask("plain edge", cudaGraphAddDependencies(h, &a, &b, &edge, 1));
    size_t count = 4;
    cudaGraphNode_t from[4], to[4];
    cudaGraphEdgeData got[4];
    memset(got, 0x55, sizeof got);
    ask("edges with their data", cudaGraphGetEdges(h, from, to, got, &count));
    tell("edges with their data", "%zu, ports %d %d, type %d", count, got[0].from_port,
         got[0].to_port, got[0].type);
    ask("edges' data alone", cudaGraphGetEdges(h, NULL, NULL, got, &count));
    ask("edges to nowhere", cudaGraphGetEdges(h, from, to, NULL, NULL));
    ask("edges of null", cudaGraphGetEdges(NULL, from, to, NULL, &count));
    ask("take the edge as another",
        cudaGraphRemoveDependencies(h, &a, &b, &(cudaGraphEdgeData){ .from_port = 1, .type = 1 },
                                    1));
    ask("take the edge", cudaGraphRemoveDependencies(h, &a, &b, &edge, 1));
    ask("afterwards", cudaDeviceSynchronize());
}

static int destroyed;
static void count_destroyed(void *unused)
{
    (void)unused;
    destroyed++;
}

GROUP(user_objects_counted, 1)
{
    cudaUserObject_t object;
    cudaGraph_t g, clone;
    cudaGraphExec_t x;
    DO(cudaGraphCreate(&g, 0));
    ask("to nowhere",
        cudaUserObjectCreate(NULL, host, count_destroyed, 1, cudaUserObjectNoDestructorSync));
    ask("flags 3", cudaUserObjectCreate(&object, host, count_destroyed, 1, 3));
    ask("2^31 references", cudaUserObjectCreate(&object, host, count_destroyed, 1u << 31,
                                                cudaUserObjectNoDestructorSync));
    DO(cudaUserObjectCreate(&object, host, count_destroyed, 3, cudaUserObjectNoDestructorSync));
    ask("release none", cudaUserObjectRelease(object, 0));
    ask("release null", cudaUserObjectRelease(NULL, 1));
    ask("release one", cudaUserObjectRelease(object, 1));
    ask("retain null", cudaUserObjectRetain(NULL, 1));
    ask("retain 2^31", cudaUserObjectRetain(object, 1u << 31));
    ask("to a graph, none", cudaGraphRetainUserObject(g, object, 0, 0));
    ask("to a graph, flags 4", cudaGraphRetainUserObject(g, object, 1, 4));
    ask("to no graph", cudaGraphRetainUserObject(NULL, object, 1, 0));
    ask("to a graph", cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
    ask("clone", cudaGraphClone(&clone, g));
    ask("executable", cudaGraphInstantiate(&x, g, 0));
    ask("release the last", cudaUserObjectRelease(object, 1));
    ask("from the graph, none", cudaGraphReleaseUserObject(g, object, 0));
    ask("from no graph", cudaGraphReleaseUserObject(NULL, object, 1));
    ask("from the graph", cudaGraphReleaseUserObject(g, object, 1));
    tell("destroyed, once the graph has let go", "%d", destroyed);
    DO(cudaGraphDestroy(clone));
    tell("destroyed, with the clone gone", "%d", destroyed);
    DO(cudaGraphExecDestroy(x));
    DO(cudaDeviceSynchronize());
    for (int i = 0; i < 200 && !destroyed; i++) usleep(1000);
    tell("destroyed, with the executable gone", "%d", destroyed);
    ask("afterwards", cudaDeviceSynchronize());
}
