// expect: exit 0
// Conway's game on a torus of bytes, from plane to plane and back.
#include "numbers.h"

enum { HEIGHT = 45, WIDTH = 70, GENERATIONS = 20 };

__global__ void generation(unsigned char *next, const unsigned char *now)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    int around = 0;
    for (int dy = HEIGHT - 1; dy <= HEIGHT + 1; dy++)
        for (int dx = WIDTH - 1; dx <= WIDTH + 1; dx++) around += now[(y + dy) % HEIGHT * WIDTH + (x + dx) % WIDTH];
    bool alive = now[y * WIDTH + x];
    next[y * WIDTH + x] = around == 3 || (alive && around == 4);
}

int main()
{
    std::vector<int> start = whole_numbers(HEIGHT * WIDTH, 121, 2);
    std::vector<unsigned char> cells(start.begin(), start.end()), other(cells.size());
    unsigned char *a = on_device(cells), *b = room_for<unsigned char>(cells.size());
    dim3 threads(32, 4), blocks((WIDTH + 31) / 32, (HEIGHT + 3) / 4);
    for (int k = 0; k < GENERATIONS; k += 2) {
        generation<<<blocks, threads>>>(b, a);
        generation<<<blocks, threads>>>(a, b);
    }
    for (int k = 0; k < GENERATIONS; k++, cells.swap(other))
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int around = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (dx || dy) around += cells[(y + dy + HEIGHT) % HEIGHT * WIDTH + (x + dx + WIDTH) % WIDTH];
                other[y * WIDTH + x] = around == 3 || (around == 2 && cells[y * WIDTH + x]);
            }
    CHECK(from_device(a, cells.size()) == cells);
    free_all(a, b);
}
