// What html.c puts together. Each writes a part of the page.
#pragma once
#include "report.h"
#include <stdio.h>

// Text with its special characters escaped; what is no UTF-8 becomes U+FFFD.
void html_text(FILE *to, const char *text);

// A launch's findings, roofline and sections. id: of the kernel in the page, with which the ids of
// its parts begin.
void html_findings(FILE *to, const KernelReport *kernel, const char *id);
void html_details(FILE *to, const KernelReport *kernel);

// Its source lines, with their counters: the text of those and of the lines around them.
void html_source(FILE *to, const KernelReport *kernel, const char *id);
