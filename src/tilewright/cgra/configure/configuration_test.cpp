// The text of a configuration: it comes back equal, every rule fires with its text, and no damage to the text
// is more than an error.
#include "tilewright/cgra/configure/configuration.h"

#include <gtest/gtest.h>

#include "support/damaged_text_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::cgra {
namespace {

// Two flows: x = argument * 2 is sent to the second, which adds what it added before and writes it down.
const char* const kGood = R"({
  "kind": "fabric configuration",
  "name": "two flows",
  "fabric": {"columns": 4, "spans": [1, 2], "operation_latency_cycles": 3, "cycles_per_distance": 1, "pass_through": 1, "tile_memories": 1, "tile_memory_entries": 64, "memory_interfaces": 2},
  "ii": 3,
  "flows": [
    {"start":0,"waits_for":["given"],"fills":["x"]},
    {"start":1,"waits_for":["x"],"period":1}
  ],
  "tiles": [
    {
      "tile": 0,
      "variables": [
        {"name":"given","entries":4,"reads":1,"argument":5}
      ],
      "instructions": [
        {"name":"double","op":"mul","operands":[{"variable":"given"},2],"sends":{"tile":1,"variable":"x"}}
      ],
      "spoke": [
        {"slot":0,"instruction":0,"flow":0,"clock":0}
      ]
    },
    {
      "tile": 1,
      "variables": [
        {"name":"x","reads":1},
        {"name":"sum","entries":6},
        {"name":"table","table":[3,-1,4]}
      ],
      "instructions": [
        {"name":"add","op":"add","operands":[{"initial":[7]},{"variable":"x"}],"writes":{"variable":"sum","stride":2,"offset":1}},
        {"name":"look","op":"lookup","operands":[{"variable":"table"},"input"]}
      ],
      "spoke": [
        {"slot":0,"outputs":[{"to":2,"from":"register 0"},{"to":3,"from":"register 0"}]},
        {"slot":1,"instruction":0,"flow":1,"clock":0,"inputs":["result"],"registers":[{"register":0,"from":"result"}]},
        {"slot":2,"instruction":1,"flow":1,"clock":4,"inputs":["register 0"],"registers":[{"register":0,"from":"register 0"}]}
      ]
    }
  ]
})";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string problems(const std::string& text) {
  try {
    parse_configuration(text, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Configuration, ComesBackEqual) {
  const Configuration made = parse_configuration(kGood, "file");
  EXPECT_EQ(made.flows[1].period, 1);
  EXPECT_EQ(made.tiles[1].instructions[0].writes->offset, 1);
  EXPECT_EQ(made.tiles[1].spoke[0].outputs[1].from, (ValueSource{ValueSource::Kind::kRegister, 0}));
  const std::string printed = print_configuration(made);
  EXPECT_EQ(parse_configuration(printed, "printed"), made) << printed;
}

struct Wrong {
  const char *from, *to, *message;
};

TEST(Configuration, EveryWrongFieldIsNamed) {
  for (const Wrong& wrong : std::vector<Wrong>{
           {"\"kind\": \"fabric configuration\"", "\"kind\": \"graph\"", "is not 'fabric configuration'"},
           {"\"fabric\": {", "\"fabrics\": {", "a machine description is expected"},
           {"\"columns\": 4", "\"columns\": 0", "'0' is not an integer in 1..4096"},
           {"\"ii\": 3,", "\"ii\": 300,", "300 slots, the spoke RAM holds 64"},
           {"\"op\":\"mul\"", "\"op\":\"mull\"", "'mull' is not an instruction of the tiles"},
           {"\"input\"", "\"outside\"", "an operand is wrong"},
           {"{\"initial\":[7]}", "{\"initial\":[7000000000]}", "a list of 32-bit integers is expected"},
           {"{\"initial\":[7]}", "{}", "missing field"},
           {"[\"result\"]", "[\"result 1\"]", "'result 1' is not a source of a value"},
           {"[\"result\"]", "[3]", "a list of strings is expected"},
           {"\"tile\": 1,", "\"tile\": 9,", "does not exist"},
           {"\"tile\": 1,", "\"tile\": 0,", "tiles are not in ascending order"},
           {"{\"name\":\"x\",\"reads\":1}", "{\"name\":\"sum\",\"reads\":1}", "'sum' is defined twice"},
           {"\"name\":\"given\",\"entries\":4", "\"name\":\"given\",\"entries\":65",
            "65 entries, the tile's memories hold 64"},
           {"\"name\":\"given\",\"entries\":4", "\"name\":\"given\",\"entries\":0", "'given' has no entries"},
           {"{\"name\":\"x\",\"reads\":1}", "{\"name\":\"x\",\"reads\":1,\"argument\":5}",
            "argument 5 fills two variables"},
           {"{\"name\":\"x\",\"reads\":1}", "{\"name\":\"x\",\"reads\":2}", "counts 2, 1 operands read it"},
           {"{\"name\":\"sum\",\"entries\":6}", "{\"name\":\"sum\",\"argument\":6}",
            "1 sources fill it and 0 operands read it"},
           {"\"waits_for\":[\"x\"]", "\"waits_for\":[\"y\"]", "no variable is called 'y'"},
           {"\"waits_for\":[\"x\"],", "", "flow 1 lists it 0 times, not 1"},
           {",\"fills\":[\"x\"]", ",\"fills\":[\"x\",\"x\"]", "flow 0 lists it 2 times, not 1"},
           {"\"slot\":2,", "\"slot\":3,", "is outside II 3"},
           {"\"slot\":1,", "\"slot\":0,", "slots are not in ascending order"},
           {"\"instruction\":0,\"flow\":1", "\"instruction\":2,\"flow\":1",
            "2 is not in the instruction RAM"},
           {"\"instruction\":0,\"flow\":1", "\"instruction\":1,\"flow\":1", "starts in 0 slots, not in one"},
           {"\"inputs\":[\"result\"]", "\"inputs\":[]", "0 selected, the instruction takes 1"},
           {"{\"start\":0,", "{\"start\":0},{\"start\":0,", "no instruction belongs to it"},
           {"\"flow\":1,\"clock\":4", "\"flow\":2,\"clock\":4", "flow 2 does not exist"},
           {"\"flow\":1,\"clock\":4", "\"flow\":1,\"clock\":5", "clock 5 of flow 1 is not in this slot"},
           {"[\"result\"]", "[\"link 1\"]", "no link comes from tile 1"},
           {"\"from\":\"register 0\"}]}\n", "\"from\":\"register 1\"}]}\n",
            "delay register 1 does not exist"},
           {"{\"to\":3,", "{\"to\":1,", "no link leads to tile 1"},
           {"{\"to\":3,", "{\"to\":2,", "two values on the link to tile 2"},
           {"[{\"register\":0,\"from\":\"result\"}]",
            "[{\"register\":0,\"from\":\"result\"},{\"register\":0,\"from\":\"result\"}]",
            "two values in delay register 0"},
           {"\"name\":\"look\"", "\"name\":\"add\"", "the name is missing or used twice"},
           {"[{\"variable\":\"given\"},2]", "[{\"variable\":\"given\"}]", "1 of 2..3"},
           {"\"op\":\"mul\"", "\"op\":\"mul\",\"array\":1", "the operation accesses no array"},
           {"\"writes\":{\"variable\":\"sum\"", "\"writes\":{\"variable\":\"x\"",
            "a table, or a variable that messages fill, is written"},
           {"\"stride\":2", "\"stride\":7", "6 entries are fewer than the stride"},
           {"\"offset\":1", "\"offset\":2", "the offset is not below the stride"},
           {"{\"tile\":1,\"variable\":\"x\"}", "{\"tile\":0,\"variable\":\"x\"}",
            "'x' is on tile 1, not on 0"},
           {"{\"tile\":1,\"variable\":\"x\"}", "{\"tile\":1,\"variable\":\"table\"}", "a table is written"},
           {"[{\"variable\":\"table\"},\"input\"]", "[3,\"input\"]", "a lookup's first operand is a table"},
           {"[{\"variable\":\"table\"},\"input\"]", "[{\"variable\":\"sum\"},\"input\"]",
            "'sum' is not a table"},
           {"{\"initial\":[7]},{\"variable\":\"x\"}", "{\"initial\":[7]},{\"variable\":\"table\"}",
            "'table' is a table"},
       }) {
    EXPECT_NE(problems(changed(wrong.from, wrong.to)).find(wrong.message), std::string::npos)
        << wrong.message << "\n"
        << problems(changed(wrong.from, wrong.to));
  }
}

TEST(Configuration, AllProblemsComeTogether) {
  std::string text = changed("\"op\":\"mul\"", "\"op\":\"mull\"");
  text.replace(text.find("\"clock\":4"), 9, "\"clock\":-4");
  const std::string found = problems(text);
  EXPECT_NE(found.find("'mull'"), std::string::npos) << found;
  EXPECT_NE(found.find("-4 is not an integer"), std::string::npos) << found;
}

TEST(Configuration, DamagedTextsAreErrorsAtMost) {
  Random random(3);
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = damaged_text(kGood, random, "0123456789{}[],\"-:");
    accepted += problems(text).empty();
  }
  EXPECT_LT(accepted, 500);
}

}  // namespace
}  // namespace tilewright::cgra
