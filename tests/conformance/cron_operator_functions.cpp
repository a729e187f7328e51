#include "messages/contracts/cron_operator.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

template <class T>
outcome outcome_of(const caf::expected<T>& value) {
  return value ? answer(to_json(*value)) : failure("CronOperatorWireError");
}

outcome overview_case(const bj::array& args) {
  return outcome_of(parse_cron_overview(argument(args, 0)));
}

outcome job_case(const bj::array& args) {
  return outcome_of(parse_cron_job(argument(args, 0)));
}

outcome summary_case(const bj::array& args) {
  return outcome_of(parse_cron_run_summary(argument(args, 0)));
}

outcome detail_case(const bj::array& args) {
  return outcome_of(parse_cron_run_detail(argument(args, 0)));
}

outcome page_case(const bj::array& args) {
  return outcome_of(parse_cron_run_page(argument(args, 0)));
}

const registration all[] = {
  {"parseCronOperatorOverview", overview_case},
  {"parseCronOperatorJob", job_case},
  {"parseCronOperatorRunSummary", summary_case},
  {"parseCronOperatorRunDetail", detail_case},
  {"parseCronOperatorRunPage", page_case},
};

} // namespace

} // namespace bureau::conformance
