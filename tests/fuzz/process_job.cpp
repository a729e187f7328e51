#include "messages/contracts/process_job.hpp"

#include "messages/contracts/channel.hpp"
#include "tests/fuzz/entry.hpp"

#include <boost/json/array.hpp>

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  auto value = json_of(input);
  is_process_job_state(value);
  is_process_job_error_code(value);
  if (auto parsed = parse_process_job_projection(value)) {
    auto again = parse_process_job_projection(to_json(parsed.projection));
    require(bool(again) && again.projection == parsed.projection,
            "a job survives the wire");
    auto list = parse_process_job_projections(bj::array{value, value});
    require(list ? list.projections.size() == 2
                 : list.fault == projection_fault::list,
            "a list judges its jobs alike");
  }
  if (auto parsed = parse_process_job_projections(value)) {
    bj::array printed;
    for (const auto& job : parsed.projections)
      printed.push_back(to_json(job));
    auto again = parse_process_job_projections(printed);
    require(bool(again) && again.projections == parsed.projections,
            "a list survives the wire");
  }
}
