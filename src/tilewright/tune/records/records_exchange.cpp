// Records from and to texts and other databases. What comes in is checked as a whole: all of it is added, or
// nothing, with everything that is wrong with it.
#include <fmt/format.h>

#include <istream>
#include <ostream>

#include "tilewright/tune/records/record_text.h"
#include "tilewright/tune/records/records.h"

namespace tilewright::tune {
namespace {

// Adds a record that came from elsewhere; its place stands before what is wrong with it.
void take_or_report(const TakeRecord& take, const Record& record, const std::string& where,
                    Diagnostics& problems) {
  const AddedRecord added = take(record);
  if (!added.differs) return;
  problems.error(ErrorKind::kInvalidInput, where, "",
                 fmt::format("{}, but the database holds: {}\n  {}", describe_result(record),
                             describe_result(*added.differs), describe(record.key)),
                 "one of them was measured with a different tool than it says");
}

}  // namespace

void export_records(const RecordStore& store, std::ostream& out) {
  store.each([&](const Record& record) { out << print_record(record); });
}

int64_t import_records(RecordStore& store, std::istream& in, const std::string& source_name) {
  return store.add_all([&](const TakeRecord& take) {
    Diagnostics problems;
    read_records(in, source_name, problems, [&](const Record& record, const std::string& where) {
      take_or_report(take, record, where, problems);
    });
    problems.raise_if_any();
  });
}

int64_t merge_records(RecordStore& into, const RecordStore& from) {
  return into.add_all([&](const TakeRecord& take) {
    Diagnostics problems;
    from.each([&](const Record& record) { take_or_report(take, record, "", problems); });
    problems.raise_if_any();
  });
}

}  // namespace tilewright::tune
