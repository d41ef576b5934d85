// Libraries that a lesson does without, found in the compiler's list of files.
#include "libraries.h"
#include "record.h"
#include "profile.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The verdict on a submission of one line that was compiled from the files of a list.
static json_t *refusal(const char *list, const char *source)
{
    char path[] = "/tmp/warpwise-list-XXXXXX", file[] = "/tmp/warpwise-file-XXXXXX";
    int a = mkstemp(path), b = mkstemp(file);
    static const Profile p = { .library = { "cub", "thrust" }, .libraries = 2 };
    cr_assert(write(a, list, strlen(list)) >= 0 && write(b, source, strlen(source)) >= 0);
    json_t *fact = libraries_refusal(path, &p, file);
    unlink(path);
    unlink(file);
    close(a);
    close(b);
    return fact;
}

static bool says(const json_t *fact, const char *words)
{
    const char *said = json_string_value(json_object_get(fact, "says"));
    return said && strstr(said, words);
}

Test(libraries, are_found_by_the_folder_of_a_file)
{
    json_t *fact =
        refusal("w : a.cu \\\n  /x/include/cccl/cub/util.cuh \\\n", "\n#include <cub/a>\n");
    cr_assert(fact && fact_verdict(fact) == VERDICT_BUILD);
    cr_expect(says(fact, "includes cub/util.cuh"));
    cr_expect_eq(json_integer_value(json_object_get(fact, "line")), 2);
    fact = refusal("w: a\\ b.cu /a\\ b/thrust/sort.h", "// #include <thrust/sort.h>\n");
    cr_expect(says(fact, "includes thrust/sort.h"));
    cr_expect_null(json_object_get(fact, "line"), "a comment includes nothing");
}

Test(libraries, are_not_what_has_such_a_name_only)
{
    cr_expect_null(refusal("w : a.cu /x/cub.h /x/cubic/a.h /thrusters/b.h \\\n /x/mycub/c", ""));
    cr_expect_null(refusal("w : a.cu /x/cub\\ b/c.h\n", ""), "a blank is part of a name");
}

// A folder of the project's own path is not the library's.
Test(libraries, are_looked_for_below_the_project)
{
    char *above = strdup("/tmp/warpwise-XXXXXX"), root[64], path[80], list[128];
    cr_assert(mkdtemp(above));
    snprintf(root, sizeof root, "%s/cub", above);
    snprintf(path, sizeof path, "%s/a.cu", root);
    snprintf(list, sizeof list, "w : %s\n", path);
    cr_assert(mkdir(root, 0700) == 0);
    fclose(fopen(path, "w"));
    cr_expect(says(refusal(list, ""), "includes cub/a.cu"), "elsewhere it is");
    setenv("WARPWISE_ROOT", root, 1);
    cr_expect_null(refusal(list, ""));
    unlink(path);
    rmdir(root);
    rmdir(above);
    free(above);
}

Test(libraries, a_list_that_is_not_there_is_the_graders_error)
{
    json_t *fact = refusal("", "");
    cr_assert(fact && fact_verdict(fact) == VERDICT_GRADER_ERROR);
    static const Profile any;
    cr_expect_null(libraries_refusal("/nowhere", &any, "a.cu"), "a lesson that allows all");
}

Test(libraries, are_read_from_the_profile)
{
    Profile p;
    cr_expect_null(read_profile("without = [\"cub\", \"thrust\"];", &p));
    cr_expect_eq(p.libraries, 2);
    cr_expect_str_eq(p.library[1], "thrust");
    cr_expect(read_profile("without = [];", &p));
    cr_expect(read_profile("without = [\"a\", \"b\", \"c\", \"d\", \"e\"];", &p));
    cr_expect(read_profile("without = \"cub\";", &p));
}
