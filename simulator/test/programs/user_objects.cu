// expect: exit 0
// What a graph needs is given back when the last graph that needs it is gone, behind the functions of its launches, which
// may still use it.
#include "check.h"
#include <sched.h>
#include <unistd.h>

static volatile int destroyed, seen;

static void destroy(void *data)
{
    int n;
    CHECK(cudaGetDevice(&n) == cudaErrorNotPermitted);
    *(int *)data = -1;
    destroyed++;
}

static void use(void *data)
{
    usleep(20000);
    seen = *(int *)data;
}

static void until(int count)
{
    while (destroyed < count)
        sched_yield();
}

int main()
{
    static int kept = 7, other = 8;
    cudaUserObject_t object, second;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaHostNodeParams params = { use, &kept };
    OK(cudaUserObjectCreate(&object, &kept, destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddHostNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));   // it is the graph's now
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    CHECK(!destroyed);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaGraphExecDestroy(exec));             // while it runs
    until(1);
    CHECK(seen == 7 && kept == -1);

    OK(cudaUserObjectCreate(&second, &other, destroy, 2, cudaUserObjectNoDestructorSync));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphRetainUserObject(graph, second, 2, 0));         // its own, beside ours
    OK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphReleaseUserObject(graph, second, 3) == cudaErrorInvalidValue);
    OK(cudaGraphReleaseUserObject(graph, second, 1));
    OK(cudaUserObjectRelease(second, 2));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceSynchronize());
    usleep(20000);
    CHECK(destroyed == 1);                      // the clone has it
    OK(cudaGraphDestroy(clone));
    until(2);
    CHECK(other == -1);
    CHECK(cudaUserObjectCreate(&object, &kept, destroy, 0, cudaUserObjectNoDestructorSync) == cudaErrorInvalidValue);
    CHECK(cudaUserObjectCreate(&object, &kept, destroy, 1, 0) == cudaErrorInvalidValue);
    return 0;
}
