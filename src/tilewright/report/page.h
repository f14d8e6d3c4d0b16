// A report as data: facts, tables, and what is drawn of the tables. Verbs fill a Page; its JSON is what other
// programs read, and the HTML page is the same JSON with a viewer around it (docs/guides/pages.md). The
// viewer draws, sorts, filters and compares; every number is computed here.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

// Nothing, a number or a text. A number that is not finite is nothing.
class PageValue {
 public:
  PageValue() = default;
  PageValue(std::string text) : text_(std::move(text)), is_text_(true) {}
  PageValue(const char* text) : PageValue(std::string(text)) {}
  template <typename Number>
  requires std::is_arithmetic_v<Number> PageValue(Number number) : number_(double(number)) {}

  // nullptr: it is none.
  const double* number() const { return !is_text_ && std::isfinite(number_) ? &number_ : nullptr; }
  const std::string* text() const { return is_text_ ? &text_ : nullptr; }

 private:
  double number_ = std::numeric_limits<double>::quiet_NaN();
  std::string text_;
  bool is_text_ = false;
};

// Which of two runs a comparison calls better.
enum class PageBetter { kNeither, kLess, kMore };

// `unit`: "cycles", "bytes", "ms", ..; "%" for shares (0.45 is shown as 45.0 %); "" for texts and bare
// numbers. `id`: what charts, comparisons and other programs know it by.
struct PageFact {
  std::string id, name;
  PageValue value;
  std::string unit;
  PageBetter better = PageBetter::kNeither;
};
struct PageColumn {
  std::string id, title, unit;
  PageBetter better = PageBetter::kNeither;
  bool detail = false;  // shown with a selected row, and on demand
};

// What is drawn of a section's rows, a mark for each. `columns` names the column of each role; roles in
// brackets may be left out.
enum class PageChartKind {
  kRoofline,  // x (MACs per byte), y (MACs per cycle), [colour, before_x, before_y]; values: macs_per_cycle,
              // bytes_per_cycle, clock_mhz
  kTimeline,  // lane, begin, end, [work: of which this much at the end is work, colour]
  kStacked,   // a bar per row, of `series`
  kGrouped,   // bars of `series` beside each other
  kBullet,    // value, whole, [limit]: a need against what there is
  kStairs,    // x, y, [group, front: 1 for points that no other beats]: what is reached holds until the next
  kFabric,    // tile, slot, [colour]; values: rows, columns, ii; `links`: section of value, from, to, slot
  kArray,     // instances_x, instances_y, level of each memory, outermost first; `links`: section whose rows
              // say with used_x, used_y how much of the array they use
};
struct PageChart {
  PageChartKind kind = PageChartKind::kStacked;
  std::string title, caption;
  std::map<std::string, std::string> columns;
  std::vector<std::string> series;  // columns
  std::map<std::string, double> values;
  std::string links;
};

// A table and its charts. Rows of all sections with the same `subject` ("layer") and the same text in the
// subject's column are one thing, which is selected everywhere at once.
struct PageSection {
  std::string id, title, note;
  std::string subject, subject_column;
  std::vector<PageColumn> columns;
  std::vector<std::vector<PageValue>> rows;
  std::vector<PageChart> charts;
  std::string text;  // lines for people, instead of a table
};

// What a page was made from. `digest`: SHA-256, hexadecimal; "" of folders.
struct PageInput {
  std::string option, path, digest;
  double bytes = 0;
};
struct PageOrigin {
  std::string command, version;
  std::vector<PageInput> inputs;
};

struct Page {
  std::string verb, title, subtitle;
  std::vector<std::string> notes;
  std::vector<PageFact> facts;
  std::vector<PageSection> sections;
  PageOrigin origin;
};

// The document. Errors (internal): a row as long as no others, a chart of columns that there are not.
std::string page_data(const Page& page);
// One HTML file that needs nothing else: the document, the viewer and the drawing library.
std::string page_html(const Page& page);

}  // namespace tilewright
