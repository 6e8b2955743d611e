#include "oplens/flops_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/program.h"
#include "base/program_text.h"
#include "base/shown_text.h"
#include "base/terminal.h"
#include "ops/dtype.h"
#include "ops/gpu/gpu.h"
#include "ops/gpu/roofline.h"
#include "ops/network/conventions.h"
#include "ops/network/network_config.h"
#include "prof/input_options.h"
#include "prof/model_options.h"
#include "prof/table/columns.h"
#include "prof/table/formats.h"
#include "prof/views/common/model_plan.h"

namespace oplens::flops {
namespace {

using enum prof::FieldType;
using prof::Cell;
using prof::ModelPlan;

constexpr char kRateOptions[] = "Rates";
constexpr char kOutputOptions[] = "Output";

struct FlopsOptions {
  std::string message;  ///< For -h and --version: print this and exit.
  std::shared_ptr<const ModelPlan> model;
  std::optional<double> token_rate_per_s;  ///< Of one GPU.
  std::optional<double> step_s;
  std::optional<double> peak_per_s;
  const prof::Format* format = nullptr;
};

struct FlopsRow {
  const ops::Convention* convention = nullptr;
  std::optional<double> token_flops;
  std::optional<double> step_flops;
  std::optional<double> tflops;
  std::optional<double> peak_tflops;
  std::optional<double> mfu_pct;
  std::optional<double> hfu_pct;
  std::string note;
};

Cell FlopsCell(std::optional<double> value) {
  constexpr double kMost = 9e18;
  if (!value || *value > kMost) return prof::Decimal(value);
  return prof::Integer(std::llround(*value));
}

constexpr prof::Column<FlopsRow> kFlopsColumns[] = {
    {{"convention", "Convention", "", kText, 10, "name of the convention (docs/mfu.md)",
      prof::Fold::kKey},
     [](const FlopsRow& row) { return prof::Text(row.convention->word); }},
    {{"formula", "Formula", "", kText, 42, "FLOPs per token of a training step"},
     [](const FlopsRow& row) { return prof::Text(row.convention->formula); }},
    {{"token_flops", "FLOP/token", "FLOP", kInteger, 15, "FLOPs per token"},
     [](const FlopsRow& row) { return FlopsCell(row.token_flops); }},
    {{"step_flops", "FLOP/step", "FLOP", kInteger, 20,
      "FLOPs per step of all GPUs: per token x --batch x --seq"},
     [](const FlopsRow& row) { return FlopsCell(row.step_flops); }},
    {{"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 9, "per GPU"},
     [](const FlopsRow& row) { return prof::Decimal(row.tflops); }},
    {{"peak_tflops", "Peak", "TFLOP/s", kDecimal, 9, "dense peak of the GPU"},
     [](const FlopsRow& row) { return prof::Decimal(row.peak_tflops); }},
    {{"mfu_pct", "MFU(%)", "%", kDecimal, 7, "100 x tflops / peak_tflops"},
     [](const FlopsRow& row) { return prof::Decimal(row.mfu_pct); }},
    {{"hfu_pct", "HFU(%)", "%", kDecimal, 7, "likewise, with what --recompute computes again"},
     [](const FlopsRow& row) { return prof::Decimal(row.hfu_pct); }},
    {{"note", "Note", "", kText, 30, "what is missing, or what else the figure counts"},
     [](const FlopsRow& row) { return prof::Text(row.note); }},
};

ProgramText TextOfFlops() {
  return {
      .name = "oplens flops",
      .summary = "FLOPs, MFU and HFU of a model, without a profile",
      .synopsis = {"[OPTIONS] --model CONFIG --seq N"},
      .groups = {prof::kPricingOptions, kRateOptions, kOutputOptions, kHelpOptions},
      .description = {"Prints the FLOPs of a training step per token by each convention that is in "
                      "use (docs/mfu.md) and, given a rate and a peak, the utilisation."},
      .examples = {{"oplens flops --model config.json --seq 8192 --tokens-per-s 5762 --peak 989",
                    "MFU of a run that prints tokens per second and GPU"},
                   {"oplens flops --model L=96,h=12288,V=51200 --seq 2048 --batch 64 --gpus 64 "
                    "--step-s 13.75 --gpu 'A100 SXM4 80GB' --convention D",
                    "MFU of a step by its length"}},
      .lists = {prof::GpuWords()},
      .exit_codes = {{"0", "The table is complete."},
                     {"1", "The configuration cannot be read."},
                     {"2", "The command line is wrong."}},
      .see_also = {"oplens", "prof"},
  };
}

cxxopts::Options Declare() {
  cxxopts::Options options("oplens flops");
  prof::AddModelOptions(prof::kPricingOptions, &options);
  cxxopts::OptionAdder rate = options.add_options(kRateOptions);
  rate("tokens-per-s", "Tokens per second and GPU", cxxopts::value<double>(), "X");
  rate("step-s", "Seconds of a step; needs --batch", cxxopts::value<double>(), "T");
  rate("gpu", "GPU whose peak is taken, such as H200", cxxopts::value<std::string>(), "NAME");
  rate("dtype", "Type of the products, for the peak of --gpu: bf16, fp16, tf32, fp32, fp8, ...",
       cxxopts::value<std::string>()->default_value("bf16"), "TYPE");
  rate("peak", "Peak in TFLOP/s, dense, instead of --gpu", cxxopts::value<double>(), "TFLOPS");
  cxxopts::OptionAdder output = options.add_options(kOutputOptions);
  for (const prof::Format& format : prof::Formats()) {
    if (format.value == prof::Format::Value::kNone && !format.option.empty()) {
      output(std::string(format.option), std::string(format.help));
    }
  }
  AddHelpOptions(&options);
  return options;
}

std::optional<double> ReadPositive(const cxxopts::ParseResult& given, const char* option) {
  if (given.count(option) == 0) return std::nullopt;
  const auto value = given[option].as<double>();
  if (value > 0 && std::isfinite(value)) return value;
  throw UsageError(fmt::format("--{}: {} is no positive number", option, value));
}

/// Dense FLOP/s of the GPU of --gpu for --dtype.
double ReadGpuPeak(const cxxopts::ParseResult& given) {
  const auto name = given["gpu"].as<std::string>();
  const auto word = given["dtype"].as<std::string>();
  const ops::Gpu gpu = prof::ReadGpu(name);
  double peak = 0;
  if (word == "tf32") {
    peak = gpu.Peak(ops::MathUnit::kTensorTf32);
  } else if (word == "fp32") {
    peak = gpu.Peak(ops::MathUnit::kVectorFp32);
  } else {
    const std::optional<ops::DType> type = ops::ParseDType(word);
    if (!type)
      throw UsageError(fmt::format("--dtype: '{}' is no data type", prof::ShownText(word)));
    peak = ops::BestPeakOf(gpu, *type, *type);
  }
  if (peak > 0) return peak;
  throw UsageError(
      fmt::format("--gpu: no peak of {} for {} is known; give --peak", gpu.name, word));
}

const prof::Format* ReadFormat(const cxxopts::ParseResult& given) {
  const prof::Format* chosen = nullptr;
  for (const prof::Format& format : prof::Formats()) {
    if (format.value != prof::Format::Value::kNone || format.option.empty() ||
        given.count(std::string(format.option)) == 0) {
      continue;
    }
    if (chosen != nullptr) {
      throw UsageError(
          fmt::format("--{} and --{} exclude each other", chosen->option, format.option));
    }
    chosen = &format;
  }
  if (chosen != nullptr) return chosen;
  return TerminalAt(STDOUT_FILENO).is_terminal ? &prof::ScreenFormat() : &prof::Formats().front();
}

FlopsOptions Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  FlopsOptions options;
  if (std::optional<std::string> message = HelpMessage(TextOfFlops(), declared, given)) {
    options.message = *std::move(message);
    return options;
  }
  options.format = ReadFormat(given);
  options.token_rate_per_s = ReadPositive(given, "tokens-per-s");
  options.step_s = ReadPositive(given, "step-s");
  if (options.token_rate_per_s && options.step_s) {
    throw UsageError("--tokens-per-s and --step-s exclude each other: give one of them");
  }
  constexpr double kTera = 1e12;
  if (const std::optional<double> peak = ReadPositive(given, "peak")) {
    if (given.count("gpu") > 0) throw UsageError("--peak and --gpu exclude each other");
    options.peak_per_s = *peak * kTera;
  } else if (given.count("gpu") > 0) {
    options.peak_per_s = ReadGpuPeak(given);
  } else if (given.count("dtype") > 0) {
    throw UsageError("--dtype needs --gpu");
  }
  if (given.count("model") == 0) throw UsageError("name the model: --model CONFIG");
  if (given.count("seq") == 0) throw UsageError("give the tokens of a sequence: --seq N");
  if (options.step_s && given.count("batch") == 0) {
    throw UsageError("--step-s needs --batch, the sequences of a step");
  }
  options.model = prof::ReadModelPlan(given);
  return options;
}

/// Tokens per second and GPU.
std::optional<double> TokenRateOf(const FlopsOptions& options) {
  if (options.token_rate_per_s || !options.step_s) return options.token_rate_per_s;
  const ModelPlan& model = *options.model;
  return static_cast<double>(*model.batch) * static_cast<double>(*model.sequence) /
         static_cast<double>(model.gpus.value_or(1)) / *options.step_s;
}

FlopsRow RowOf(const ops::Convention& convention, const FlopsOptions& options) {
  const ModelPlan& model = *options.model;
  FlopsRow row;
  row.convention = &convention;
  row.note = ops::WhatIsMissing(convention, model.network);
  if (!row.note.empty()) return row;
  const ops::TokenFlops flops =
      ops::FlopsPerToken(convention, model.network, *model.sequence, model.recompute);
  row.token_flops = flops.model ? flops.model : flops.hardware;
  row.note = ops::RemarkOn(convention, model.network);
  if (model.batch && row.token_flops) {
    row.step_flops =
        *row.token_flops * static_cast<double>(*model.batch) * static_cast<double>(*model.sequence);
  }
  const std::optional<double> rate = TokenRateOf(options);
  if (!rate || !row.token_flops) return row;
  constexpr double kTera = 1e12;
  row.tflops = *row.token_flops * *rate / kTera;
  if (!options.peak_per_s) return row;
  row.peak_tflops = *options.peak_per_s / kTera;
  const auto percent = [&](std::optional<double> per_token) {
    return per_token ? std::optional<double>(100 * *per_token * *rate / *options.peak_per_s)
                     : std::nullopt;
  };
  row.mfu_pct = percent(flops.model);
  row.hfu_pct = percent(flops.hardware);
  return row;
}

/// "llama: 8030261248 parameters, 32 layers; sequences of 8192 tokens".
std::string NameOf(const ModelPlan& model) {
  std::string text = model.network.family.empty() ? "values by hand" : model.network.family;
  if (const auto count = ops::ParametersOf(model.network, *model.sequence)) {
    text += fmt::format(": {:.0f} parameters", count->all);
    if (count->active < count->all) {
      text += fmt::format(", {:.0f} of them for a token", count->active);
    }
  }
  return text + fmt::format("; {} layers, sequences of {} tokens\n", model.network.layers,
                            *model.sequence);
}

int Main(const FlopsOptions& options) {
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  prof::FormatPlan plan;
  plan.meta = {{"program", "oplens"}, {"version", OPLENS_VERSION}};
  const Terminal terminal = TerminalAt(STDOUT_FILENO);
  plan.screen.columns = static_cast<size_t>(terminal.columns);
  plan.screen.colours = terminal.takes_colours;
  plan.to_terminal = terminal.is_terminal;
  const std::unique_ptr<prof::Destination> destination = options.format->open(plan);
  const std::unique_ptr<prof::Sink> sink = destination->NewTable();
  sink->Words(NameOf(*options.model));
  sink->Begin("flops", {std::begin(kFlopsColumns), std::end(kFlopsColumns)});
  prof::TableOf<FlopsRow> table(kFlopsColumns, sink.get());
  for (const ops::Convention& convention : ops::Conventions()) {
    const ops::Convention* const only = options.model->convention;
    if (only == nullptr || only == &convention) table.Add(RowOf(convention, options));
  }
  sink->End();
  destination->Commit();
  return kExitOk;
}

FlopsOptions ParseOptions(int argc, const char* const* argv) {
  cxxopts::Options declared = Declare();
  FlopsOptions options;
  ReadCommandLine(&declared, argc, argv, "oplens help flops lists the options",
                  [&](const auto& given) { options = Read(declared, given); });
  return options;
}

}  // namespace

int RunFlops(int argc, char** argv) {
  return RunProgram("oplens", [&] { return Main(ParseOptions(argc, argv)); });
}

}  // namespace oplens::flops
