// Lesson 3: pictures made grey, of ragged sizes, with room between their rows, one or many behind
// each other; and windows of the Mandelbrot set. All of it is exact. What lies between the rows of
// an answer must stay as it was, which is POISON: bytes of 250 and 255 in turns.
#include "grader.h"
#include <math.h>
#include <string.h>

static uint8_t poison_at(size_t i) { return i % 2 ? 255 : 250; }

// ---- Grey ----

// The stack that is asked for, for whoever explains a mistake.
static struct {
    const uint8_t *rgb, *want;
    int width, height, count, rgb_pitch, grey_pitch;
} stack;

static int weighed(const uint8_t *p) { return (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256; }

static size_t rgb_bytes(void) { return (size_t)stack.count * stack.height * stack.rgb_pitch; }

// The grey of pixel x in a row of rgb, if rows lay `pitch` apart; -1: past the end.
static int made_of(int row, int x, int pitch)
{
    size_t at = (size_t)row * pitch + 3 * x;
    return at + 3 <= rgb_bytes() ? weighed(stack.rgb + at) : -1;
}

static const uint8_t *pixel_of(int z, int y, int x)
{
    return stack.rgb + ((size_t)z * stack.height + y) * stack.rgb_pitch + 3 * x;
}

// Is the byte a pixel's, or does it lie between the rows?
static bool is_pixel(size_t i) { return i % stack.grey_pitch < (size_t)stack.width; }

// Every pixel is what stands there if rows lay `pitch` apart, and those of the first picture are
// everybody's (or not).
static bool was_made_of(const Mismatch *m, int pitch, bool of_the_first)
{
    for (size_t i = 0; i < m->out->count; i++) {
        int row = i / stack.grey_pitch, x = i % stack.grey_pitch;
        if (is_pixel(i)
            && m->out->u8[i] != made_of(of_the_first ? row % stack.height : row, x, pitch))
            return false;
    }
    return true;
}

// The pixels as they are due, but with rows as long as a picture is wide.
static bool stored_tight(const Mismatch *m)
{
    size_t rows = (size_t)stack.count * stack.height, width = stack.width;
    if (stack.grey_pitch == stack.width || rows < 2) return false;
    for (size_t i = 0; i < rows * width; i++)
        if (m->out->u8[i] != stack.want[i / width * stack.grey_pitch + i % width]) return false;
    return true;
}

static bool only_between_rows(const Mismatch *m)
{
    for (size_t i = 0; i < m->out->count; i++)
        if (is_pixel(i) && m->is_wrong(i)) return false;
    return true;
}

static bool is_untouched(const Buffer *out, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (out->u8[i] != poison_at(i)) return false;
    return true;
}

// The picture from which on nobody has written a pixel, and all before it are right; or 0.
static size_t ends_early(const Mismatch *m)
{
    size_t picture = (size_t)stack.height * stack.grey_pitch, number = m->first / picture;
    return stack.count > 1 && is_untouched(m->out, number * picture, m->out->count) ? number : 0;
}

static const char *which_grey(const Mismatch *m)
{
    if (stored_tight(m))
        return "The rows of grey were stored width bytes apart. They are grey_pitch apart.";
    if (only_between_rows(m))
        return "Every pixel is right, but bytes between the rows were written, which are not the "
               "picture's: do all "
               "threads beyond the width stop?";
    if (was_made_of(m, 3 * stack.width, false))
        return "That is what rgb would give if its rows were 3 * width bytes apart. They are "
               "rgb_pitch apart.";
    if (was_made_of(m, stack.rgb_pitch, true))
        return "Each picture of the stack has become the first one: z must be in the row of rgb.";
    if (ends_early(m) == 1)
        return "Only the first picture was made: z must count up from blockIdx.z, and be in the "
               "row of grey; a loop over rows must go on to the last row of the stack.";
    if (ends_early(m))
        return "From there on no picture was made: a grid is at most 65,535 blocks deep, and its "
               "threads must go on where it ends.";
    return NULL;
}

static void state(const Buffer *rgb, const uint8_t *want, int width, int height, int count,
                  int rgb_pitch, int grey_pitch)
{
    stack.rgb = rgb->u8;
    stack.want = want;
    stack.width = width, stack.height = height, stack.count = count;
    stack.rgb_pitch = rgb_pitch, stack.grey_pitch = grey_pitch;
}

static void expect_grey(Buffer *grey, const Buffer *rgb, int width, int height, int count,
                        int rgb_pitch, int grey_pitch, const char *show)
{
    uint8_t *want = reference_u8(grey->count);
    for (size_t i = 0; i < grey->count; i++) want[i] = poison_at(i);
    state(rgb, want, width, height, count, rgb_pitch, grey_pitch);
    for (int z = 0; z < count; z++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                want[((size_t)z * height + y) * grey_pitch + x] = weighed(pixel_of(z, y, x));

    size_t pixels = (size_t)width * height * count;
    as_matrix(grey, (size_t)count * height, grey_pitch);
    diagnose(which_grey);
    given("width = %d, height = %d, count = %d, rgb_pitch = %d, grey_pitch = %d", width, height,
          count, rgb_pitch, grey_pitch);
    call("make_grey", device(grey), i32(grey_pitch), device((Buffer *)rgb), i32(rgb_pitch),
         i32(width), i32(height), i32(count));
    compulsory(3 * pixels, pixels);
    compulsory_operations(pixels);
    if (show) picture_show(show, (Picture){ grey->u8, width, height, 1, grey_pitch });
    expect_equal_u8(grey, want);
}

static int fours(int bytes) { return (bytes + 3) / 4 * 4; }

// Random pictures with so many bytes more than a row takes; the first pixel is white, the last one
// black.
static void greys(int width, int height, int count, int more_rgb, int more_grey)
{
    int rgb_pitch = fours(3 * width) + more_rgb, grey_pitch = fours(width) + more_grey;
    size_t rows = (size_t)height * count;
    Buffer *rgb = input_u8("rgb", rows * rgb_pitch, 0, 255),
           *grey = output_u8("grey", rows * grey_pitch);
    if (rows && width) {
        memset(rgb->u8, 255, 3);
        memset(rgb->u8 + (rows - 1) * rgb_pitch + 3 * (width - 1), 0, 3);
    }
    expect_grey(grey, rgb, width, height, count, rgb_pitch, grey_pitch, NULL);
}

Check(grids_and_indexing, ragged_pictures)
{
    greys(1, 1, 1, 0, 0);
    greys(31, 9, 1, 0, 0);
    greys(32, 8, 1, 0, 0);
    greys(33, 7, 1, 0, 0);
    greys(127, 211, 1, 0, 0);
    greys(255, 33, 1, 0, 0);
    greys(1025, 1, 1, 0, 0);
    greys(3, 4099, 1, 0, 0);
}

Check(grids_and_indexing, room_between_rows)
{
    greys(64, 40, 1, 64, 192);
    greys(97, 31, 1, 8, 4);
    greys(256, 16, 1, 256, 0);
}

Check(grids_and_indexing, a_stack)
{
    greys(61, 17, 5, 4, 12);
    greys(8, 8, 33, 0, 0);
    greys(1, 1, 257, 0, 0);
}

// More pictures than a grid may be deep.
Check(grids_and_indexing, many_small_pictures) { greys(2, 1, 70001, 4, 0); }

Check(grids_and_indexing, no_pictures)
{
    greys(0, 5, 2, 0, 0);
    greys(5, 0, 2, 0, 0);
    greys(5, 5, 0, 0, 0);
}

// The check that profiles/lessons/03-grids-and-indexing.cfg measures: 24 pictures of a cat, with
// its colours turned round from each to the next. The pitches are those that cudaMallocPitch gives
// on an H200, multiples of 512.
Check(grids_and_indexing, cats)
{
    enum { COUNT = 24, RGB_PITCH = 1536, GREY_PITCH = 512 };
    Picture cat = picture_load("chelsea.png", 3);
    size_t rows = COUNT * cat.height;
    Buffer *rgb = input_u8("rgb", rows * RGB_PITCH, 0, 255),
           *grey = output_u8("grey", rows * GREY_PITCH);
    for (size_t z = 0; z < COUNT; z++) {
        Picture turned = { rgb->u8 + z * cat.height * RGB_PITCH, cat.width, cat.height, 3,
                           RGB_PITCH };
        picture_copy(turned, cat);
        for (size_t i = 0; i < cat.width * cat.height; i++)
            for (size_t c = 0; c < 3; c++)
                turned.pixels[i / cat.width * RGB_PITCH + i % cat.width * 3 + c] =
                    cat.pixels[3 * i + (c + z) % 3];
    }
    expect_grey(grey, rgb, cat.width, cat.height, COUNT, RGB_PITCH, GREY_PITCH, "grey");
}

// ---- Mandelbrot ----

enum { LIMIT = 255 };

// In floats, each operation rounded by itself, as the contract has it: `volatile` keeps this
// compiler, too, from fusing.
static int steps_to_escape(float cx, float cy)
{
    float x = 0, y = 0;
    for (int step = 0; step < LIMIT; step++) {
        volatile float xx = x * x, yy = y * y, twice = (x + x) * y;
        if (xx + yy > 4) return step;
        y = twice + cy;
        x = xx - yy;
        x += cx;
    }
    return LIMIT;
}

static const char *which_set(const Mismatch *m)
{
    bool unwritten = m->out->u8[m->first] == poison_at(m->first);
    if (!unwritten && m->wrong * 20 < m->out->count)
        return "Nearly all are right. At the edge of the set the last bit of each float decides, "
               "so the operations must "
               "be the contract's: each rounded by itself, none fused.";
    return NULL;
}

static void draws(int width, int height, int pitch, float left, float top, float step,
                  const char *show)
{
    Buffer *out = output_u8("out", (size_t)height * pitch);
    uint8_t *want = reference_u8(out->count);
    uint64_t steps = 0;

    for (size_t i = 0; i < out->count; i++) want[i] = poison_at(i);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            volatile float dx = x * step, dy = y * step;
            int count = steps_to_escape(left + dx, top + dy);
            want[(size_t)y * pitch + x] = count;
            steps += count;
        }

    as_matrix(out, height, pitch);
    diagnose(which_set);
    given("width = %d, height = %d, pitch = %d", width, height, pitch);
    call("mandelbrot", device(out), i32(pitch), i32(width), i32(height), f32(left), f32(top),
         f32(step));
    compulsory(0, (uint64_t)width * height);
    compulsory_operations(steps);
    if (show) {
        // Most counts are small: their roots are easier on the eye.
        uint8_t *bright = reference_u8(out->count);
        for (size_t i = 0; i < out->count; i++)
            bright[i] = (uint8_t)lround(sqrt(255.0 * out->u8[i]));
        picture_show(show, (Picture){ bright, width, height, 1, pitch });
    }
    expect_equal_u8(out, want);
}

Check(grids_and_indexing, windows_of_the_set)
{
    draws(1, 1, 4, 0.1f, 0.2f, 0, NULL);
    draws(33, 31, 64, -2.2f, -1.2f, 0.09f, NULL);
    draws(127, 65, 128, -0.78f, 0.08f, 0.0005f, NULL);
    draws(9, 257, 12, -0.75f, -0.1f, 0.001f, NULL);
    draws(300, 5, 300, 0.25f, -0.01f, 0.0001f, NULL);
}

Check(grids_and_indexing, no_window)
{
    draws(0, 7, 4, 0, 0, 1, NULL);
    draws(7, 0, 8, 0, 0, 1, NULL);
}

// The check that profiles/lessons/03-grids-and-indexing.cfg measures. The run's seed shifts the
// window by half a pixel at most, so that a class's submission cannot know the picture.
Check(grids_and_indexing, the_whole_set)
{
    const Buffer *shift = input_f32("shift", 2);
    const float half = 0.003f;
    draws(600, 400, 768, -2.25f + half * shift->f32[0], -1.2f + half * shift->f32[1], 2 * half,
          "mandelbrot");
}
