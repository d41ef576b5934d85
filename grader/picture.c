// Pictures: those that lie in grader/pictures/ for kernels to work on, and those that kernels make,
// which the student may look at. libpng's simplified interface does all that has to do with the
// format.
#include "picture.h"
#include "check.h"
#include "file.h"
#include "run.h"
#include "text.h"
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS_MAX = 1 << 26 }; // a header may claim anything

// ---- Reading

// Rec. 601's weights, in 256ths: they are 256 together, so that grey stays what it is.
static uint8_t grey_of(const uint8_t *rgb)
{
    return (uint8_t)((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
}

static void make_grey(Picture *p)
{
    for (size_t i = 0; i < p->width * p->height; i++) p->pixels[i] = grey_of(p->pixels + 3 * i);
    p->channels = 1;
    p->pitch = p->width;
}

static char *refuse(png_image *image, const char *path, const char *words)
{
    char *says = text_format("%s cannot be read: %s", path, words ? words : image->message);
    png_image_free(image);
    return says;
}

char *picture_read(const char *path, size_t channels, Picture *p)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (!png_image_begin_read_from_file(&image, path)) return refuse(&image, path, NULL);
    if (image.format & PNG_FORMAT_FLAG_ALPHA)
        return refuse(&image, path, "it has transparent parts. Save it without");
    if ((uint64_t)image.width * image.height > PIXELS_MAX)
        return refuse(&image, path, "it says that it has more than 64 million pixels");

    *p = (Picture){ .width = image.width,
                    .height = image.height,
                    .channels = 3,
                    .pitch = 3 * (size_t)image.width };
    p->pixels = malloc(p->pitch * p->height);
    if (!p->pixels) return refuse(&image, path, "no memory");
    image.format = PNG_FORMAT_RGB;
    if (!png_image_finish_read(&image, NULL, p->pixels, 0, NULL)) {
        free(p->pixels);
        p->pixels = NULL;
        return refuse(&image, path, NULL);
    }
    if (channels == 1) make_grey(p);
    return NULL;
}

// ---- Writing

typedef struct {
    const Picture *picture;
    char message[64];
} Png; // libpng's, empty unless it refused

static bool write_png(FILE *f, void *what)
{
    Png *png = what;
    const Picture *p = png->picture;
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = p->width,
                        .height = p->height,
                        .format = p->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB };
    bool good = png_image_write_to_stdio(&image, f, 0, p->pixels, (png_int_32)p->pitch, NULL);
    memcpy(png->message, image.message, sizeof png->message);
    return good;
}

char *picture_write(const char *path, const Picture *p)
{
    if (!p->width || !p->height)
        return text_format("%s cannot be written: a picture of %zu x %zu has no pixels", path,
                           p->width, p->height);
    Png png = { .picture = p };
    if (file_write(path, write_png, &png)) return NULL;
    return text_format("%s cannot be written: %s", path,
                       *png.message ? png.message : strerror(errno));
}

char *picture_path(const char *result, const char *name)
{
    char *end = text_format("-%s.png", name), *path = run_beside(result, end);
    free(end);
    return path;
}

// ---- In a check

static void stop(char *says, const char *next)
{
    check_add_fact(VERDICT_GRADER_ERROR, says, NULL, next);
    check_stop_if_failed();
}

Picture picture_load(const char *file, size_t channels)
{
    Picture p;
    char *path = text_format("%s/grader/pictures/%s", run_root(), file);
    char *says = picture_read(path, channels, &p);
    if (says)
        stop(says + strlen(run_root()) + 1, "git checkout grader/pictures, which brings it back");
    free(path);
    return p;
}

void picture_copy(Picture to, Picture from)
{
    cr_assert(to.channels == from.channels, "a picture of %zu channels does not go into one of %zu",
              from.channels, to.channels);
    for (size_t y = 0; y < to.height; y++)
        for (size_t x = 0; x < to.width; x++)
            memcpy(to.pixels + y * to.pitch + x * to.channels,
                   from.pixels + y % from.height * from.pitch + x % from.width * from.channels,
                   to.channels);
}

void picture_show(const char *name, Picture picture)
{
    char *path = picture_path(run_result(), name);
    char *says = picture_write(path, &picture);
    if (says) stop(says, "make room on the disk, and see that the folder is yours");
    if (!check.pictures) check.pictures = json_array();
    json_array_append_new(check.pictures, json_string(name));
    free(path);
}
