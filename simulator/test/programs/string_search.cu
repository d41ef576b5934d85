// expect: exit 0
// Where a pattern stands in a text: every place at once, bytes and four bytes at a time; and edit distances by wave fronts.
#include <algorithm>
#include <string>

#include "numbers.h"

enum { MOST_PATTERN = 16 };

__constant__ char pattern[MOST_PATTERN];

__global__ void find(int *places, int *count, const char *text, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n) return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != pattern[k]) return;
    places[atomicAdd(count, 1)] = i;
}

// How many bytes of the text are `c`: four in each register, compared at once.
__global__ void count_letter(int *count, const uchar4 *text, int fours, char c)
{
    unsigned all = 0x01010101u * (unsigned char)c;
    int i = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
    if (i < fours) {
        uchar4 four = text[i];
        unsigned word = four.x | four.y << 8 | four.z << 16 | (unsigned)four.w << 24;
        mine = __popc(__vcmpeq4(word, all)) / 8;
    }
    int sum = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd(count, sum);
}

// One thread for each letter of b; the table's diagonals one after another.
__global__ void distance(int *out, const char *a, int m, const char *b, int n)
{
    __shared__ short row[3][65];
    int j = threadIdx.x + 1;
    for (int d = 0; d <= m + n; d++) {
        short *now = row[d % 3], *before = row[(d + 2) % 3], *earlier = row[(d + 1) % 3];
        if (threadIdx.x == 0 && d <= m) now[0] = d;
        int i = d - j;
        if (i >= 0 && i <= m && j <= n)
            now[j] = i ? min(min(before[j] + 1, before[j - 1] + 1), earlier[j - 1] + (a[i - 1] != b[j - 1])) : j;
        __syncthreads();
    }
    if (j == n) *out = row[(m + n) % 3][n];
}

static int distance_host(const std::string &a, const std::string &b)
{
    std::vector<int> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++) row[j] = (int)j;
    for (size_t i = 1; i <= a.size(); i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.size(); j++) {
            int above = row[j];
            row[j] = std::min({ row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]) });
            corner = above;
        }
    }
    return row[b.size()];
}

int main()
{
    std::string text, what = "abcab";
    unsigned seed = 171;
    for (int k = 0; k < 4000; k++) text += (char)('a' + next_number(&seed) % 3);
    std::vector<int> want;
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) want.push_back((int)at);
    char *in = on_device(std::vector<char>(text.begin(), text.end()));
    int *places = room_for<int>(text.size()), *count = on_device(std::vector<int>(1));
    OK(cudaMemcpyToSymbol(pattern, what.data(), what.size()));
    find<<<(text.size() + 255) / 256, 256>>>(places, count, in, (int)text.size(), (int)what.size());
    CHECK(from_device(count, 1)[0] == (int)want.size());
    std::vector<int> got = from_device(places, want.size());
    std::sort(got.begin(), got.end());
    CHECK(got == want);

    OK(cudaMemset(count, 0, sizeof *count));
    count_letter<<<8, 128>>>(count, (const uchar4 *)in, (int)text.size() / 4, 'b');
    CHECK(from_device(count, 1)[0] == (int)std::count(text.begin(), text.end(), 'b'));

    std::string a = text.substr(0, 50), b = text.substr(1000, 40);
    distance<<<1, 64>>>(count, in, 50, in + 1000, 40);
    CHECK(from_device(count, 1)[0] == distance_host(a, b));
    free_all(in, places, count);
}
