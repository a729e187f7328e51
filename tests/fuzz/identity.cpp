#include "messages/contracts/identity.hpp"

#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  auto parsed = parse_contract_id(input);
  if (!parsed)
    return;
  require(input.size() <= max_contract_id_bytes, "an id has a bound");
  require(contract_id(parsed->address, parsed->session_key) == input,
          "an id is built as it was taken apart");
}
