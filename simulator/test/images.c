// Which images of modules bring something to the device.
#include "runtime/images.h"
#include <criterion/criterion.h>
#include <string.h>

static const char own[] = "an image that is in the program's file, as the compiler has made it";

static bool brings(const char *image) { return images_bring((const u8 *)image, strlen(image)); }

Test(images, what_is_in_the_programs_file_brings_nothing)
{
    char *words[] = { "/proc", "no such file", "/proc/self/exe", NULL };
    cr_expect(brings(own), "no file is known");
    images_of_command(words);
    cr_expect_not(brings(own));
    cr_expect_not(brings(own + 3));
}

Test(images, an_image_brings_something_once)
{
    char image[] = "0 of these numbers is as the ones before";
    cr_expect(brings(image));
    cr_expect_not(brings(image));
    image[0]++;
    cr_expect(brings(image));
    cr_expect_not(brings(image));
    image[sizeof image - 2] = 0;
    cr_expect(brings(image));
}
