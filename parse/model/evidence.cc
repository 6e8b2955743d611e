#include "parse/model/evidence.h"

namespace oplens {

std::string_view EvidenceWord(Evidence evidence) {
  switch (evidence) {
    case Evidence::kRange:
      return "range";
    case Evidence::kCapture:
      return "capture";
    case Evidence::kRepetition:
      return "repetition";
    case Evidence::kReference:
      return "reference";
    case Evidence::kVocabulary:
      return "vocabulary";
    case Evidence::kName:
      return "name";
    case Evidence::kNone:
      break;
  }
  return "";
}

std::string_view ConfidenceWord(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      return "high";
    case Confidence::kUnknown:
      break;
  }
  return "";
}

}  // namespace oplens
