// Records as text: one JSON object a line, with the fields in a fixed order and numbers in their shortest
// form, so equal records have equal bytes.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "tilewright/tune/records/record.h"

namespace tilewright::tune {

// With the line's end.
std::string print_record(const Record& record);

// Hands over the record of each line with its place ("tune.jsonl:17"), for messages; empty lines are nothing.
// Reports every line that holds no record; the many of a file that is none of records are counted.
void read_records(std::istream& in, const std::string& source_name, Diagnostics& diagnostics,
                  const std::function<void(const Record& record, const std::string& where)>& visit);

// The text of a file, which may be gzip. Another kind of file, known by a zero byte at its beginning, is an
// error.
std::string read_records_text(const std::string& path);

}  // namespace tilewright::tune
