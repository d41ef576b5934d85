// The counters of a launch's source lines, as a table for a person.
#pragma once
#include "report.h"

// Prints on stderr the lines that ran, each file's in their order.
void table_lines(const KernelReport *k);

// For other forms of the table: the lines in that order, malloc'ed; and whether any has an entry in
// a column.
enum { TABLE_COLUMNS = 16 }; // the most
CounterLine *table_sorted(const KernelReport *k);
bool table_has_entry(const KernelReport *k, size_t column);
