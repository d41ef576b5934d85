// Pictures come from PNG files and go to them, whole or not at all.
#include "picture.h"
#include "text.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/warpwise-picture-XXXXXX";
static char *chelsea;

static void enter(void)
{
    char here[4096];
    cr_assert(getcwd(here, sizeof here));
    chelsea = text_format("%s/grader/pictures/chelsea.png", here);
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

static void leave(void) { cr_assert(system("rm -rf \"$PWD\"") == 0); }

#define PictureTest(name) Test(picture, name, .init = enter, .fini = leave)

// Bytes that differ from their neighbours, also between the rows.
static Picture made(size_t width, size_t height, size_t channels, size_t pitch)
{
    Picture p = { malloc(pitch * height + 1), width, height, channels, pitch };
    for (size_t i = 0; i < pitch * height; i++) p.pixels[i] = (uint8_t)(i * 37 + i / 11);
    return p;
}

static void same(const Picture *a, const Picture *b)
{
    cr_assert(a->width == b->width && a->height == b->height && a->channels == b->channels);
    for (size_t y = 0; y < a->height; y++)
        cr_assert_arr_eq(a->pixels + y * a->pitch, b->pixels + y * b->pitch, a->width * a->channels,
                         "row %zu", y);
}

static void keeps(size_t width, size_t height, size_t channels, size_t pitch)
{
    Picture p = made(width, height, channels, pitch), back;
    char *says = picture_write("p.png", &p);
    cr_assert_null(says, "%s", says);
    says = picture_read("p.png", channels, &back);
    cr_assert_null(says, "%s", says);
    cr_assert_eq(back.pitch, width * channels);
    same(&p, &back);
}

PictureTest(odd_sizes_and_pitches_survive)
{
    keeps(1, 1, 1, 1);
    keeps(1, 7, 3, 3);
    keeps(33, 5, 1, 64);
    keeps(33, 5, 3, 101);
    keeps(300, 1, 3, 1024);
}

PictureTest(the_cat_is_there)
{
    Picture p, grey;
    char *says = picture_read(chelsea, 3, &p);
    cr_assert_null(says, "%s", says);
    cr_assert(p.width == 451 && p.height == 300 && p.pitch == 3 * 451 && p.channels == 3);
    uint8_t first[] = { 143, 120, 104 };
    cr_assert_arr_eq(p.pixels, first, 3, "%d %d %d", p.pixels[0], p.pixels[1], p.pixels[2]);

    cr_assert_null(picture_read(chelsea, 1, &grey));
    cr_assert(grey.width == 451 && grey.height == 300 && grey.pitch == 451 && grey.channels == 1);
    for (size_t i = 0; i < 451 * 300; i++) {
        const uint8_t *rgb = p.pixels + 3 * i;
        cr_assert_eq(grey.pixels[i], (77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) / 256,
                     "pixel %zu", i);
    }
}

PictureTest(grey_is_the_same_in_all_three_colours)
{
    Picture p = made(16, 16, 1, 16), back;
    cr_assert_null(picture_write("p.png", &p));
    cr_assert_null(picture_read("p.png", 3, &back));
    for (size_t i = 0; i < 256; i++)
        for (size_t c = 0; c < 3; c++) cr_assert_eq(back.pixels[3 * i + c], p.pixels[i]);
}

PictureTest(a_copy_is_cut_off_or_repeated)
{
    Picture from = made(5, 3, 3, 17), to = made(7, 4, 3, 30);
    uint8_t between = to.pixels[21];
    picture_copy(to, from);
    cr_assert_arr_eq(to.pixels, from.pixels, 15);
    cr_assert_arr_eq(to.pixels + 15, from.pixels, 6, "the first two pixels again");
    cr_assert_arr_eq(to.pixels + 3 * 30, from.pixels, 15, "the first row again");
    cr_assert_eq(to.pixels[21], between, "what lies between rows was written");

    Picture small = made(2, 1, 3, 6);
    picture_copy(small, from);
    cr_assert_arr_eq(small.pixels, from.pixels, 6);
}

// A file that cannot be read: the words begin with its path, and say what is wrong.
static void refuses(const char *path, const char *words)
{
    Picture p;
    char *says = picture_read(path, 3, &p);
    cr_assert_not_null(says, "%s was read", path);
    cr_assert(strncmp(says, path, strlen(path)) == 0 && strstr(says, words), "%s", says);
}

PictureTest(what_is_no_picture_is_refused)
{
    refuses("nowhere.png", "No such file");
    cr_assert(system("echo 'no picture at all, only words' >text.png && : >empty.png") == 0);
    refuses("text.png", "Not a PNG");
    refuses("empty.png", "cannot be read");
}

PictureTest(a_broken_file_is_refused)
{
    char *make = text_format(
        "cp '%s' bits.png && chmod u+w bits.png && printf '\\377' | dd of=bits.png bs=1 seek=70000 "
        "conv=notrunc status=none && head -c 100000 '%s' >half.png",
        chelsea, chelsea);
    cr_assert(system(make) == 0);
    refuses("bits.png", "cannot be read");
    refuses("half.png", "cannot be read");
}

// Of a file's first chunk, the header: the width as it says, and what kind of pixels; the checksum
// is its own.
static void write_header(const char *path, uint32_t width, uint8_t kind, uint32_t checksum)
{
    uint8_t head[] = { 137,
                       'P',
                       'N',
                       'G',
                       13,
                       10,
                       26,
                       10,
                       0,
                       0,
                       0,
                       13,
                       'I',
                       'H',
                       'D',
                       'R',
                       width >> 24,
                       width >> 16,
                       width >> 8,
                       width,
                       0,
                       1,
                       0,
                       0,
                       8,
                       kind,
                       0,
                       0,
                       0,
                       checksum >> 24,
                       checksum >> 16,
                       checksum >> 8,
                       checksum,
                       0,
                       0,
                       0,
                       0,
                       'I',
                       'D',
                       'A',
                       'T',
                       0x35,
                       0xAF,
                       0x06,
                       0x1E };
    FILE *f = fopen(path, "wb");
    cr_assert(fwrite(head, sizeof head, 1, f) == 1 && fclose(f) == 0);
}

PictureTest(what_would_not_do_is_refused)
{
    write_header("huge.png", 65536, 2, 0xE3E6A7B4);
    refuses("huge.png", "more than 64 million pixels");
    write_header("clear.png", 16, 6, 0xD08FFD64);
    refuses("clear.png", "transparent parts");
}

PictureTest(the_old_one_stays_when_writing_fails)
{
    Picture p = made(4, 4, 1, 4), none = made(0, 4, 1, 4);
    char *says = picture_write("none.png", &none);
    cr_assert(says && strstr(says, "0 x 4 has no pixels"), "%s", says);
    cr_assert(mkdir("p.png", 0700) == 0); // a rename onto a folder fails
    says = picture_write("p.png", &p);
    cr_assert(says && strncmp(says, "p.png cannot be written", 23) == 0, "%s", says);
    cr_assert_not_null(picture_write("missing/p.png", &p));
    cr_assert_eq(system("[ $(ls | wc -l) = 1 ]"), 0, "a temporary file is left");
}

PictureTest(lies_beside_the_result)
{
    cr_assert_str_eq(picture_path("build/05-blur.json", "edges"), "build/05-blur-edges.png");
    cr_assert_str_eq(picture_path("build/05-blur.json.new", "edges"), "build/05-blur-edges.png");
    cr_assert_str_eq(picture_path("a.jsonl", "b"), "a.jsonl-b.png");
}
