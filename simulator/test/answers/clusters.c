// Thread block clusters: which launches there are, what kernels demand, and how many fit on the
// device.
#include "ask.h"

#define KERNEL(name) ((const void *)(name))

static cudaLaunchAttribute cluster(unsigned x, unsigned y, unsigned z)
{
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeClusterDimension };
    attribute.val.clusterDim.x = x, attribute.val.clusterDim.y = y, attribute.val.clusterDim.z = z;
    return attribute;
}

static cudaError_t launch_in(const void *kernel, dim3 grid, cudaLaunchAttribute attribute,
                             size_t shared, void **arguments)
{
    cudaLaunchConfig_t config = { .gridDim = grid,
                                  .blockDim = { 32, 1, 1 },
                                  .dynamicSmemBytes = shared,
                                  .attrs = &attribute,
                                  .numAttrs = 1 };
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

GROUP(cluster_shapes, 1)
{
    const void *empty = KERNEL(nothing);
    int *d;
    DO(cudaMalloc((void **)&d, 1 << 20));
    void *arguments[] = { &d };
    ask("2 x 2, of 4 x 4", launch_in(empty, (dim3){ 4, 4, 1 }, cluster(2, 2, 1), 0, NULL));
    ask("2 x 2, of 4 x 3", launch_in(empty, (dim3){ 4, 3, 1 }, cluster(2, 2, 1), 0, NULL));
    ask("1 x 1 x 2, of 2 x 2 x 3", launch_in(empty, (dim3){ 2, 2, 3 }, cluster(1, 1, 2), 0, NULL));
    ask("2 x 2 x 2", launch_in(empty, (dim3){ 2, 2, 2 }, cluster(2, 2, 2), 0, NULL));
    ask("2 x 2 x 3", launch_in(empty, (dim3){ 2, 2, 3 }, cluster(2, 2, 3), 0, NULL));
    ask("4, of 2", launch_in(empty, (dim3){ 2, 1, 1 }, cluster(4, 1, 1), 0, NULL));
    ask("65536 x 65536", launch_in(empty, (dim3){ 2, 1, 1 }, cluster(65536, 65536, 1), 0, NULL));
    ask("1, of no blocks", launch_in(empty, (dim3){ 0, 1, 1 }, cluster(2, 1, 1), 0, NULL));
    ask("1", launch_in(empty, (dim3){ 5, 1, 1 }, cluster(1, 1, 1), 0, NULL));
    cudaLaunchAttribute two[] = { cluster(2, 1, 1), { .id = cudaLaunchAttributeCooperative } };
    two[1].val.cooperative = 1;
    cudaLaunchConfig_t both = {
        .gridDim = { 4, 1, 1 }, .blockDim = { 32, 1, 1 }, .attrs = two, .numAttrs = 2
    };
    ask("cooperative", cudaLaunchKernelExC(&both, empty, NULL));
    both.gridDim.x = 132 * 32;
    ask("cooperative, as many as there is room for without",
        cudaLaunchKernelExC(&both, empty, NULL));
    both.gridDim.x = 132 * 32 + 2;
    ask("cooperative, more than there is room for", cudaLaunchKernelExC(&both, empty, NULL));
    both.gridDim.x = 4;
    two[1] = cluster(4, 1, 1);
    ask("2, then 4, of 4", cudaLaunchKernelExC(&both, empty, NULL));
    two[1] = cluster(1, 1, 1);
    two[0] = cluster(3, 1, 1);
    ask("3, then 1, of 4", cudaLaunchKernelExC(&both, empty, NULL));
    two[0] = cluster(2, 1, 1);
    two[1].id = cudaLaunchAttributePreferredClusterDimension;
    two[1].val.preferredClusterDim.x = 4,
    two[1].val.preferredClusterDim.y = two[1].val.preferredClusterDim.z = 1;
    ask("2, preferably 4", cudaLaunchKernelExC(&both, empty, NULL));
    two[1].val.preferredClusterDim.x = 3;
    ask("2, preferably 3", cudaLaunchKernelExC(&both, empty, NULL));
    two[1].val.preferredClusterDim.x = 2;
    ask("2, preferably 2", cudaLaunchKernelExC(&both, empty, NULL));
    two[1].val.preferredClusterDim.x = 0;
    ask("2, preferably 0", cudaLaunchKernelExC(&both, empty, NULL));
    two[0].id = cudaLaunchAttributeIgnore;
    two[1].val.preferredClusterDim.x = 2;
    ask("preferably 2 alone", cudaLaunchKernelExC(&both, empty, NULL));
    for (int policy = 0; policy <= 3; policy++) {
        char question[40];
        snprintf(question, sizeof question, "2, policy %d", policy);
        two[0] = cluster(2, 1, 1);
        two[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
        two[1].val.clusterSchedulingPolicyPreference = (enum cudaClusterSchedulingPolicy)policy;
        ask(question, cudaLaunchKernelExC(&both, empty, NULL));
    }
    DO(cudaFuncSetAttribute(KERNEL(dynamic_shared), cudaFuncAttributeMaxDynamicSharedMemorySize,
                            232448));
    ask("8, 227 KiB each",
        launch_in(KERNEL(dynamic_shared), (dim3){ 8, 1, 1 }, cluster(8, 1, 1), 232448, arguments));
    ask("8, 227 KiB and a byte",
        launch_in(KERNEL(dynamic_shared), (dim3){ 8, 1, 1 }, cluster(8, 1, 1), 232449, arguments));
    DO(cudaFuncSetAttribute(KERNEL(dynamic_shared), cudaFuncAttributeNonPortableClusterSizeAllowed,
                            1));
    ask("16, 227 KiB each", launch_in(KERNEL(dynamic_shared), (dim3){ 16, 1, 1 }, cluster(16, 1, 1),
                                      232448, arguments));
    ask("not portable, 2",
        cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, 2));
    ask("not portable, -1",
        cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, -1));
    ask("9 of a kernel that was allowed",
        launch_in(empty, (dim3){ 9, 1, 1 }, cluster(9, 1, 1), 0, NULL));
    ask("not portable, 0",
        cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    ask("10 then", launch_in(empty, (dim3){ 10, 1, 1 }, cluster(10, 1, 1), 0, NULL));
    ask("afterwards", cudaDeviceSynchronize());
}

static void demands_of(const char *whose, const void *kernel)
{
    struct cudaFuncAttributes a;
    cudaError_t error = cudaFuncGetAttributes(&a, kernel);
    tell(whose, "%s, threads %d, must be set %d, %d x %d x %d, policy %d, not portable %d",
         cudaGetErrorName(error), a.maxThreadsPerBlock, a.clusterDimMustBeSet,
         a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
         a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
}

static cudaError_t launch_plainly(const void *kernel, unsigned blocks)
{
    return cudaLaunchKernel(kernel, (dim3){ blocks, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0, 0);
}

GROUP(cluster_kernels, 1)
{
    const void *empty = KERNEL(nothing), *pairs = KERNEL(pairs_of_blocks),
               *sixteen = KERNEL(sixteen_blocks), *few = KERNEL(four_at_most);
    demands_of("pairs", pairs);
    demands_of("sixteen", sixteen);
    demands_of("at most four", few);
    ask("pairs, of 4", launch_plainly(pairs, 4));
    ask("pairs, of 3", launch_plainly(pairs, 3));
    ask("pairs, cooperative",
        cudaLaunchCooperativeKernel(pairs, (dim3){ 4, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0, 0));
    ask("pairs, cluster 2", launch_in(pairs, (dim3){ 4, 1, 1 }, cluster(2, 1, 1), 0, NULL));
    ask("pairs, cluster 4", launch_in(pairs, (dim3){ 4, 1, 1 }, cluster(4, 1, 1), 0, NULL));
    ask("pairs, cluster 1", launch_in(pairs, (dim3){ 4, 1, 1 }, cluster(1, 1, 1), 0, NULL));
    ask("sixteen, of 16", launch_plainly(sixteen, 16));
    ask("sixteen, allow what is not portable",
        cudaFuncSetAttribute(sixteen, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    ask("sixteen, of 16, allowed", launch_plainly(sixteen, 16));
    ask("at most four, cluster 4", launch_in(few, (dim3){ 8, 1, 1 }, cluster(4, 1, 1), 0, NULL));
    ask("at most four, cluster 8", launch_in(few, (dim3){ 8, 1, 1 }, cluster(8, 1, 1), 0, NULL));
    ask("pairs, width 4", cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 4));
    demands_of("pairs then", pairs);
    ask("must be set", cudaFuncSetAttribute(empty, cudaFuncAttributeClusterDimMustBeSet, 1));
    ask("width 4", cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterWidth, 4));
    demands_of("width 4, then", empty);
    ask("width 4, of 8", launch_plainly(empty, 8));
    ask("height 1", cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterHeight, 1));
    ask("depth 1", cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterDepth, 1));
    demands_of("4 x 1 x 1, then", empty);
    ask("4 x 1 x 1, of 8", launch_plainly(empty, 8));
    ask("4 x 1 x 1, of 6", launch_plainly(empty, 6));
    ask("4 x 1 x 1, cluster 2", launch_in(empty, (dim3){ 8, 1, 1 }, cluster(2, 1, 1), 0, NULL));
    ask("width 0", cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterWidth, 0));
    ask("width -1", cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterWidth, -1));
    ask("policy 1",
        cudaFuncSetAttribute(empty, cudaFuncAttributeClusterSchedulingPolicyPreference, 1));
    ask("policy 7",
        cudaFuncSetAttribute(empty, cudaFuncAttributeClusterSchedulingPolicyPreference, 7));
    demands_of("at last", empty);
    int value = -7;
    ask("attribute 120", cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0));
    tell("is", "%d", value);
    ask("afterwards", cudaDeviceSynchronize());
}

static void largest(const char *question, const void *kernel, unsigned threads, size_t shared,
                    cudaLaunchAttribute *attribute)
{
    int size = -7;
    cudaLaunchConfig_t config = { .gridDim = { 64, 1, 1 },
                                  .blockDim = { threads, 1, 1 },
                                  .dynamicSmemBytes = shared,
                                  .attrs = attribute,
                                  .numAttrs = attribute != NULL };
    cudaError_t error = cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config);
    tell(question, "%s, %d", cudaGetErrorName(error), size);
    cudaGetLastError();
}

static void fit(const char *question, const void *kernel, unsigned blocks, unsigned threads,
                size_t shared, cudaLaunchAttribute *attribute)
{
    int clusters = -7;
    cudaLaunchConfig_t config = { .gridDim = { blocks, 1, 1 },
                                  .blockDim = { threads, 1, 1 },
                                  .dynamicSmemBytes = shared,
                                  .attrs = attribute,
                                  .numAttrs = attribute != NULL };
    cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    tell(question, "%s, %d", cudaGetErrorName(error), clusters);
    cudaGetLastError();
}

GROUP(cluster_occupancy, 1)
{
    const void *empty = KERNEL(nothing), *dynamic = KERNEL(dynamic_shared),
               *pairs = KERNEL(pairs_of_blocks), *few = KERNEL(four_at_most);
    cudaLaunchAttribute of_two = cluster(2, 1, 1), of_three = cluster(3, 1, 1),
                        of_four = cluster(4, 1, 1), odd = cluster(0, 1, 1);
    largest("largest, 32 threads", empty, 32, 0, NULL);
    largest("largest, 1024 threads", empty, 1024, 0, NULL);
    largest("largest, 1025 threads", empty, 1025, 0, NULL);
    largest("largest, no threads", empty, 0, 0, NULL);
    largest("largest, cluster 2", empty, 32, 0, &of_two);
    largest("largest of pairs", pairs, 32, 0, NULL);
    largest("largest of at most four", few, 32, 0, NULL);
    largest("largest of null", NULL, 32, 0, NULL);
    ask("largest to nowhere",
        cudaOccupancyMaxPotentialClusterSize(
            NULL, empty,
            &(cudaLaunchConfig_t){ .gridDim = { 64, 1, 1 }, .blockDim = { 32, 1, 1 } }));
    DO(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    largest("largest, 227 KiB", dynamic, 32, 232448, NULL);
    largest("largest, 300000 bytes", dynamic, 32, 300000, NULL);
    fit("no cluster", empty, 64, 1024, 0, NULL);
    fit("3 of 64", empty, 64, 1024, 0, &of_three);
    fit("0 of 64", empty, 64, 1024, 0, &odd);
    fit("4 of 4", empty, 4, 1024, 0, &of_four);
    fit("2, 1025 threads", empty, 64, 1025, 0, &of_two);
    fit("pairs", pairs, 64, 32, 0, NULL);
    fit("pairs, cluster 4", pairs, 64, 32, 0, &of_four);
    fit("at most four, cluster 4", few, 64, 32, 0, &of_four);
    fit("2, 300000 bytes", dynamic, 64, 32, 300000, &of_two);
    fit("null", NULL, 64, 32, 0, &of_two);
    for (int wide = 0; wide < 2; wide++) {
        DO(cudaFuncSetAttribute(dynamic, cudaFuncAttributeNonPortableClusterSizeAllowed, wide));
        static const struct {
            unsigned threads;
            size_t shared;
        } kinds[] = { { 128, 232448 }, { 128, 115712 }, { 128, 75776 }, { 1024, 1000 }, { 32, 0 } };
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (unsigned size = 1; size <= 17; size++) {
                char question[80];
                cudaLaunchAttribute attribute = cluster(size, 1, 1);
                if (!wide && size < 8) continue;
                snprintf(question, sizeof question, "%s%u blocks of %u threads, %zu bytes",
                         wide ? "" : "portable, ", size, kinds[k].threads, kinds[k].shared);
                fit(question, dynamic, size * 64, kinds[k].threads, kinds[k].shared, &attribute);
            }
    }
}

GROUP(cluster_nodes, 1)
{
    cudaGraph_t graph;
    cudaGraphNode_t node, nodes[4];
    cudaGraphExec_t exec = NULL;
    cudaStream_t stream;
    struct cudaKernelNodeParams parameters = { .func = (void *)nothing,
                                               .gridDim = { 4, 1, 1 },
                                               .blockDim = { 32, 1, 1 } };
    cudaLaunchAttributeValue value = cluster(2, 1, 1).val;
    DO(cudaGraphCreate(&graph, 0));
    DO(cudaGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
    cudaLaunchAttributeValue got;
    memset(&got, 0xff, sizeof got);
    ask("get", cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &got));
    tell("has", "%u x %u x %u", got.clusterDim.x, got.clusterDim.y, got.clusterDim.z);
    ask("set", cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    ask("get again",
        cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &got));
    tell("then has", "%u x %u x %u", got.clusterDim.x, got.clusterDim.y, got.clusterDim.z);
    ask("instantiate", cudaGraphInstantiate(&exec, graph, 0));
    ask("launch", cudaGraphLaunch(exec, 0));
    value.clusterDim.x = 3;
    ask("set 3",
        cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    exec = NULL;
    ask("instantiate 3, of 4", cudaGraphInstantiate(&exec, graph, 0));
    value.clusterDim.x = 0;
    ask("set 0",
        cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    DO(cudaStreamCreate(&stream));
    DO(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaLaunchAttribute attribute = cluster(2, 1, 1);
    cudaLaunchConfig_t config = { .gridDim = { 4, 1, 1 },
                                  .blockDim = { 32, 1, 1 },
                                  .stream = stream,
                                  .attrs = &attribute,
                                  .numAttrs = 1 };
    ask("capture", cudaLaunchKernelExC(&config, KERNEL(nothing), NULL));
    DO(cudaStreamEndCapture(stream, &graph));
    size_t count = 4;
    DO(cudaGraphGetNodes(graph, nodes, &count));
    ask("get from captured",
        cudaGraphKernelNodeGetAttribute(nodes[0], cudaLaunchAttributeClusterDimension, &got));
    tell("captured has", "%zu nodes, %u x %u x %u", count, got.clusterDim.x, got.clusterDim.y,
         got.clusterDim.z);
    ask("policy of captured",
        cudaGraphKernelNodeGetAttribute(
            nodes[0], cudaLaunchAttributeClusterSchedulingPolicyPreference, &got));
    tell("policy is", "%d", (int)got.clusterSchedulingPolicyPreference);
    ask("afterwards", cudaDeviceSynchronize());
}
