// expect: exit 0
// prints: 1000 elements added, all right
// A first program as tutorials have it.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < numElements)
        C[i] = A[i] + B[i];
}

int main()
{
    const int numElements = 1000;
    const size_t size = numElements * sizeof(float);
    std::vector<float> h_A(numElements), h_B(numElements), h_C(numElements);
    for (int i = 0; i < numElements; i++) {
        h_A[i] = 0.5f * i;
        h_B[i] = 3.0f - i;
    }
    float *d_A = nullptr, *d_B = nullptr, *d_C = nullptr;
    cudaMalloc(&d_A, size);
    cudaMalloc(&d_B, size);
    cudaMalloc((void **)&d_C, size);
    cudaMemcpy(d_A, h_A.data(), size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_B, h_B.data(), size, cudaMemcpyHostToDevice);
    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    vectorAdd<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, numElements);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::fprintf(stderr, "launch: %s\n", cudaGetErrorString(err));
        return 1;
    }
    cudaMemcpy(h_C.data(), d_C, size, cudaMemcpyDeviceToHost);
    for (int i = 0; i < numElements; i++)
        if (h_C[i] != h_A[i] + h_B[i])
            return 2;
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    std::printf("%d elements added, all right\n", numElements);
    return 0;
}
