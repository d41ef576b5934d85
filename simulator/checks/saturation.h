// What shadow.c tells of a line: its reads with that saturation need no check, or need one again.
#pragma once
#include "shadow.h"

void shadow_saturate(Shadow *, Line *, u32 saturation);
void shadow_desaturate(Shadow *, const Line *, u32 saturation); // the line has lost it
