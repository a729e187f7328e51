#include "messages/contracts/settings_json.hpp"

#include "messages/contracts/wire_json.hpp"
#include "messages/text/sha256.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  reader in{input};
  auto current = in.text();
  settings_patch patch;
  for (auto steps = in.below(4); steps > 0; --steps)
    patch.remove.push_back({std::string{in.text()}, std::string{in.text()}});
  auto change = json_of(in.rest());
  if (auto members = change.if_object())
    patch.set = *members;

  auto before = parse_settings_json(current, "/s");
  auto after = patched_settings_text(current, patch, "/s");
  if (!before) {
    require(!after, "a file that cannot be read is not overwritten");
    return;
  }
  if (!after)
    return;
  auto reread = parse_settings_json(after->text, "/s");
  require(reread.engaged(), "what is written can be read");
  require(reread->version == after->version, "the version is foretold");
  require(after->text.ends_with('\n')
            && after->text.size() <= max_settings_bytes,
          "a file has one end and a bound");
  auto expected = before->json;
  apply_patch(expected, patch);
  require(same_on_wire(reread->json, expected), "the change is what was asked");
  auto twice = patched_settings_text(after->text, patch, "/s");
  require(twice.engaged(), "a change can be made twice");
}
