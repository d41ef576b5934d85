// What a lesson's checks are written with. A check (a Criterion test) makes
// inputs and outputs, calls the student's function, and compares:
//
//     #include "grader.h"
//
//     static void transposes(int rows, int cols)
//     {
//         size_t n = (size_t)rows * cols;
//         Buffer *in = input_f32("in", n), *out = output_f32("out", n);
//         float *want = reference_f32(n);
//
//         for (int r = 0; r < rows; r++)
//             for (int c = 0; c < cols; c++)
//                 want[c * rows + r] = in->f32[r * cols + c];
//
//         given("rows = %d, cols = %d", rows, cols);
//         as_matrix(out, cols, rows);
//         call("transpose", device(out), device(in), i32(rows), i32(cols));
//         compulsory(n * 4, n * 4);
//         expect_equal_f32(out, want);
//     }
//
//     Check(transpose, ragged) { transposes(33, 65); transposes(1, 100); }
//
// The student's code runs in a process of its own (worker.c), on the device,
// and this side sees only bytes: nothing here is in its reach. The first thing
// that goes wrong ends the check, so a line after call() or after an expectation
// runs only when all before it was right.
#pragma once
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A check. Its name is read by the student ("ragged_tail" prints as "ragged
// tail"); checks run and print in the order in which the file has them.
// The suite is the lesson's bare name. Each check starts a device and a worker
// of its own, and must make at least one call and one expectation.
#define Check(suite, name) Test(suite, name, .init = grader_begin_check, .fini = grader_end_check)
void grader_begin_check(void);
void grader_end_check(void);

// ---- Buffers -------------------------------------------------------------

// An array that the student's function reads (input) or fills (output). Live
// until the check ends. A count of 0 is allowed; the pointer passed is then
// still not NULL.
typedef struct Buffer {
    union {
        void *data;
        float *f32;     // an input: yours to change between calls
        int32_t *i32;   // an output: what the function left, after call()
        uint16_t *f16;  // the bits of a half: f16_value, f16_bits
        uint16_t *bf16; // of an __nv_bfloat16: bf16_value, bf16_bits
        uint8_t *u8;
    };
    size_t count;        // elements, as wide as the name of what made it says
    size_t rows, cols;   // set by as_matrix, else 0
    const char *name;    // as the contract calls it; printed in messages
    struct Store *store; // the grader's own
} Buffer;

// Inputs: random, not uniform in any index, and the same in every run of the
// same lesson and SEED. f32, f16 and bf16 are in (-1, 1), use all bits that such a
// number has, and are never 0; i32 and u8 are in [low, high]. During a call they are
// sealed; one that a call changed is WRONG.
Buffer *input_f32(const char *name, size_t count);
Buffer *input_f16(const char *name, size_t count);
Buffer *input_bf16(const char *name, size_t count);
Buffer *input_i32(const char *name, size_t count, int32_t low, int32_t high);
Buffer *input_u8(const char *name, size_t count, uint8_t low, uint8_t high);

// Outputs: each word is POISON before every call, so that an element that was
// never written is seen and said. Guard zones around them are checked too.
Buffer *output_f32(const char *name, size_t count);
Buffer *output_f16(const char *name, size_t count);
Buffer *output_bf16(const char *name, size_t count);
Buffer *output_i32(const char *name, size_t count);
Buffer *output_u8(const char *name, size_t count);

// As f16, bf16, f32 or f64 this is a NaN; as i32 it is -327686, which no
// reference may contain. As u8 it is 250 and 255 in turns, which are numbers like any
// other: an element alone cannot be told from one that was written.
#define POISON 0xFFFAFFFAu

// An element's value, whatever it is an element of.
double value_at(const Buffer *b, size_t index);

// Numbers of 16 bits: their value, and the nearest to a value, as the device's own
// conversions round (to even; too large is infinite).
double f16_value(uint16_t bits);
double bf16_value(uint16_t bits);
uint16_t f16_bits(double value);
uint16_t bf16_bits(double value);

// Returns the bits of x, mixed: another number for each x, without a pattern that one sees along
// rows, columns or diagonals. (Chris Wellons' lowbias32.)
uint32_t mixed(uint32_t x);

// Memory for expected values, zeroed, live until the check ends.
float *reference_f32(size_t count);
double *reference_f64(size_t count);
int32_t *reference_i32(size_t count);
uint16_t *reference_f16(size_t count); // bits
uint16_t *reference_bf16(size_t count);
uint8_t *reference_u8(size_t count);

// `b` is a matrix of rows x cols, row after row: messages then say
// out[3][17], and patterns of rows and columns are looked for.
void as_matrix(Buffer *b, size_t rows, size_t cols);

// ---- The call ------------------------------------------------------------

// What the next calls are given, in the student's words: "n = 1000". It stands
// before the first wrong element in the verdict.
__attribute__((format(printf, 1, 2))) void given(const char *format, ...);

// One argument. device(b) is a device pointer (allocated and filled by the grader). An output there
// is SUSPECT where the last to write it was a copy from the host, or one that moved parts of an
// input: a kernel is to have written it. Copies may write what is spread.
// scratch(b) one to memory for the function's own use, an output that nobody reads: what it holds
// before means nothing, so on the simulated device nothing wrote it, and using it as it is is
// MEMORY; spread(b, parts) an array, on the host, of `parts` device pointers: b's elements are cut
// into as many equal parts, and part d lies on device d. The worker fills and reads each part in
// its device's default stream, and waits for that stream alone: work of the function that this
// order does not hold is a RACE. host(b) a host pointer (lessons 1 and 2: the student allocates and
// copies); an output there is SUSPECT if no kernel made it, or if one made it of what the host had
// worked out. A host input is mapped read-only in the worker: a write to it is a CRASH. pinned(b)
// is a host pointer to pinned memory (cudaMallocHost), whose outputs are read as soon as the
// function returns: what it has not waited for is missing.
typedef struct Arg {
    enum {
        ARG_DEVICE = 1,
        ARG_HOST,
        ARG_I32,
        ARG_I64,
        ARG_F32,
        ARG_F64,
        ARG_SPREAD,
        ARG_SCRATCH,
        ARG_PINNED
    } kind;
    union {
        Buffer *buffer;
        int64_t i; // ARG_I32, ARG_I64
        double f;  // ARG_F32, ARG_F64
    };
    uint32_t parts; // ARG_SPREAD: 1 to device_count()
} Arg;

static inline Arg device(Buffer *b) { return (Arg){ ARG_DEVICE, .buffer = b }; }
static inline Arg scratch(Buffer *b) { return (Arg){ ARG_SCRATCH, .buffer = b }; }
static inline Arg spread(Buffer *b, int parts)
{
    return (Arg){ ARG_SPREAD, .buffer = b, .parts = (uint32_t)parts };
}
static inline Arg host(Buffer *b) { return (Arg){ ARG_HOST, .buffer = b }; }
static inline Arg pinned(Buffer *b) { return (Arg){ ARG_PINNED, .buffer = b }; }
static inline Arg i32(int32_t x) { return (Arg){ ARG_I32, .i = x }; }
static inline Arg i64(int64_t x) { return (Arg){ ARG_I64, .i = x }; }
static inline Arg f32(float x) { return (Arg){ ARG_F32, .f = x }; }
static inline Arg f64(double x) { return (Arg){ ARG_F64, .f = x }; }

// How many devices there are: simulated ones as many as the profile says
// (`devices`), on a machine with GPUs at most 8.
int device_count(void);

// Calls the extern "C" function `name` with these arguments (at most 16), then
// synchronises the device. When it returns, outputs hold the function's answer,
// and the call broke no rule: a crash, an error of the device, a race, a time
// limit, a changed input or a written guard zone ends the check with its verdict.
// call_i32 is for functions that return an int, and returns that.
#define call(name, ...)                                                                            \
    grader_call(name, false, sizeof((Arg[]){ __VA_ARGS__ }) / sizeof(Arg), (Arg[]){ __VA_ARGS__ })
#define call_i32(name, ...)                                                                        \
    grader_call(name, true, sizeof((Arg[]){ __VA_ARGS__ }) / sizeof(Arg), (Arg[]){ __VA_ARGS__ })
int32_t grader_call(const char *name, bool returns_i32, size_t argc, const Arg *argv);

// Before the first call: in all of this check, blocks that may see one another (by atomics, fences,
// volatile) begin in another order than by their numbers, block 0 last, and they and their warps
// take short turns in any order, and lanes of a warp fall behind others, as CUDA allows. Who waits
// for the block of the next lower blockIdx waits for ever then, where not all fit on the device;
// who draws places from a counter gets others; who looks at what others tell may come early. Blocks
// of CUB's and Thrust's kernels begin by their numbers still, as NVIDIA relies on that. A GPU does
// as it likes.
void shuffle_blocks(void);

// The bytes that any right answer to the last call must read from and write to
// the device's memory. Claims in profiles/lessons/*.cfg are ratios to their sum
// over the check's calls, so a check that is measured has compulsory() after
// each call. Where only caches differ, count each byte once.
void compulsory(uint64_t bytes_read, uint64_t bytes_written);

// The same of the bus: the bytes of the last call that must go from the host to
// the device and back, whatever carries them: pages, or copies.
void compulsory_journey(uint64_t bytes_htod, uint64_t bytes_dtoh);

// The same of the links between devices: the bytes of the last call that must come
// in over a device's link, or go out over it, on one device at least.
void compulsory_link(uint64_t bytes);

// The operations that any right answer to the last call needs, of all its threads: of a
// matrix product the multiply-and-adds.
void compulsory_operations(uint64_t count);

// Claims are judged, and calls timed, on what comes from here on: the calls before have prepared
// something, such as an input that a function of the student's makes.
void count_from_here(void);

// Ends the student's program, so that nothing of its memory is left, on the device or the host. The
// next call starts it anew. Only what the calls pass goes from one program to the other. What was
// counted before is forgotten, as by count_from_here().
void begin_anew(void);

// A figure of this check that no counter has, such as the error of an answer or the size of a
// format: a claim whose `per` is "figure" holds it under this name (claims.h). Said again in the
// same check, the largest counts.
void figure(const char *name, double value);

// ---- Measurements on a GPU -----------------------------------------------

// Like a check, but timed: it runs only where there is a GPU, alone, when every
// check was right there. It makes rotations() sets of buffers, none of which is in two
// sets, enlists a call on each with rotate(), says compulsory() after each, then measure()s, and
// compares every answer: that of the last run, after the clock has stopped. What the time is held
// against stands in the profile (`gpu`, claims.h).
//
//     Measure(transpose, large)
//     {
//         size_t sets = rotations(2 * 4 * n);
//         for (size_t s = 0; s < sets; s++) {
//             in[s] = input_f32("in", n), out[s] = output_f32("out", n);
//             rotate("transpose", device(out[s]), device(in[s]), i32(rows), i32(cols));
//             compulsory(4 * n, 4 * n);
//         }
//         measure();
//         for (size_t s = 0; s < sets; s++)
//             expect_equal_f32(out[s], want[s]);
//     }
#define Measure(suite, name)                                                                       \
    Test(suite, name, .init = grader_begin_measure, .fini = grader_end_check)
void grader_begin_measure(void);

// Sets of buffers that together go past twice the L2 cache; 2 to ROTATIONS_MAX.
size_t rotations(uint64_t bytes_a_call);
#define ROTATIONS_MAX 16 // calls that are enlisted, in any case

#define rotate(name, ...)                                                                          \
    grader_rotate(name, sizeof((Arg[]){ __VA_ARGS__ }) / sizeof(Arg), (Arg[]){ __VA_ARGS__ })
void grader_rotate(const char *name, size_t argc, const Arg *argv);
void measure(void);

// In a check: makes the calls that rotate() enlisted, each right behind the one before, and waits
// when all are issued. For functions that return before their work is done: simulated devices begin
// only then.
void in_a_row(void);

// A counter's sum over the kernels of the last call ("launch__count"), 0 if
// there was none. For checks that claims cannot say; rarely needed.
uint64_t counter(const char *name);

// ---- Variants ------------------------------------------------------------

// A class can have the lesson with another operator and other sizes, so that no solution of its
// task is published (`make variant`, variant.h). The rows of grader/variants/NN-name/rows.def are
// the operators, and the lesson's checks make this table of them, which an empty row ends:
//
//     const Variant grader_variants[] = {
//     #define VARIANT(name, least, largest, ...) { #name, least, largest, "sets out[0] to ..." },
//     #include "../variants/08-reduction/rows.def"
//         { 0 }
//     };
typedef struct Variant {
    const char *name;
    int least, largest; // of its number, C
    const char *task;   // what the function does, in place of the contract's first sentence
} Variant;
extern const Variant grader_variants[];

int variant(void);        // the row that is graded; -1: the lesson itself
int variant_number(void); // its C

// What to say of an answer that is the lesson's own, though a variant is graded. what: "the sum of
// all elements". And advises to read the variant's task.
const char *variant_words(const char *what);

// A size for a check: `ordinary` in the lesson itself, in a variant one from low to high. The same
// call gives the same size in all runs of a variant.
int sized(int ordinary, int low, int high);

// ---- Pictures ------------------------------------------------------------

// Rows of bytes: one (grey) or three (red, green, blue) of each pixel. A row begins
// `pitch` bytes after the one above it, which may be more than it has.
typedef struct Picture {
    uint8_t *pixels;
    size_t width, height, channels, pitch;
} Picture;

// A picture of grader/pictures/, "chelsea.png" (README.md there says whose it is): its
// rows are tight, in colour (channels: 3) or in grey (1: (77 R + 150 G + 29 B + 128) / 256).
// Lives until the check ends. One that cannot be read is GRADER-ERROR.
Picture picture_load(const char *file, size_t channels);

// Copies pixels, and nothing of what lies between rows. `from` is cut off at the right and
// below, or repeated, as the size of `to` asks.
//
//     Picture cat = picture_load("chelsea.png", 3);
//     Buffer *rgb = input_u8("rgb", cat.height * pitch, 0, 255);     random between the rows
//     picture_copy((Picture){rgb->u8, cat.width, cat.height, 3, pitch}, cat);
void picture_copy(Picture to, Picture from);

// Shows the student a picture: it is written as a PNG beside the JSON result, and the verdict
// says where. For an answer between call() and what is expected of it, so that a wrong one can
// be looked at too: picture_show("grey", (Picture){out->u8, width, height, 1, pitch}). The
// name is part of the file's: build/results/NN-lesson-grey.png. The book shows the
// solution's (CONTRIBUTING.md).
void picture_show(const char *name, Picture picture);

// ---- Expectations --------------------------------------------------------

// Every element of `out` against `want` (out->count elements). The message has
// the first wrong index, got and expected, how many are wrong, and the pattern
// where one can be seen. _equal: the same number (-0 equals 0). _close: within
// absolute + relative * |want|; a NaN or an infinity passes only where `want`
// has the same. What `want` would be in the output's own precision is no matter.
void expect_equal_f32(const Buffer *out, const float *want);
void expect_equal_f16(const Buffer *out, const uint16_t *want);
void expect_equal_bf16(const Buffer *out, const uint16_t *want);
void expect_equal_i32(const Buffer *out, const int32_t *want);
void expect_equal_u8(const Buffer *out, const uint8_t *want);
void expect_close_f32(const Buffer *out, const double *want, double absolute, double relative);
void expect_close_f16(const Buffer *out, const double *want, double absolute, double relative);
void expect_close_bf16(const Buffer *out, const double *want, double absolute, double relative);

// Anything else. The words complete "given n = 1000: ", and say what was seen
// and what was due: expect(code == 0, "vector_add returned %d, should be 0", code).
__attribute__((format(printf, 2, 3))) void expect(bool holds, const char *format, ...);

// A lesson that knows more patterns than the grader gives this a function: it
// gets the first mismatch and returns a sentence for the student, or NULL. It is
// asked before the grader's own patterns. Lasts until the check ends.
typedef struct Mismatch {
    const Buffer *out;
    size_t first;                   // index of the first wrong element
    size_t wrong;                   // how many
    bool (*is_wrong)(size_t index); // of any element
    double (*want)(size_t index);   // the expected value, of any element
} Mismatch;
void diagnose(const char *(*explain)(const Mismatch *));

// What to do next, where the sentence that such a function returns does not say it.
void advise(const char *next);

// What such a function may say of threads that take n elements one after the other, in loops whose
// step is wrong: "Element 256 was taken 2 times". It asks gives() whether the answer is that of
// each element i taken times[i] times. NULL: of none that is known.
const char *explain_stride(size_t n, bool (*gives)(const uint32_t *times));
