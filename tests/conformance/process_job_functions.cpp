#include "messages/contracts/process_job.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

outcome projection_case(const bj::array& args) {
  auto result = parse_process_job_projection(argument(args, 0));
  return result ? answer(to_json(result.projection))
                : failure(to_string(result.fault));
}

outcome projections_case(const bj::array& args) {
  auto result = parse_process_job_projections(argument(args, 0));
  if (!result)
    return failure(to_string(result.fault));
  bj::array list;
  for (const auto& projection : result.projections)
    list.push_back(to_json(projection));
  return answer(std::move(list));
}

outcome state_case(const bj::array& args) {
  return answer(is_process_job_state(argument(args, 0)));
}

outcome error_code_case(const bj::array& args) {
  return answer(is_process_job_error_code(argument(args, 0)));
}

outcome public_error_case(const bj::array& args) {
  auto code = parse_process_job_error_code(text_of(argument(args, 0)));
  return code ? answer(process_job_public_error(*code)) : failure("no code");
}

const registration all[] = {
  {"parseProcessJobProjection", projection_case},
  {"parseProcessJobProjections", projections_case},
  {"isProcessJobState", state_case},
  {"isProcessJobErrorCode", error_code_case},
  {"processJobPublicError", public_error_case},
};

} // namespace

} // namespace bureau::conformance
