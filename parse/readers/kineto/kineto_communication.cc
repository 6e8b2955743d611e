#include "parse/readers/kineto/kineto_communication.h"

#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {
namespace {

struct TextField {
  std::string_view key;
  StringId Communication::*field;
};

struct NumberField {
  std::string_view key;
  int64_t Communication::*field;
};

constexpr TextField kTextFields[] = {
    {"Collective name", &Communication::name},      {"dtype", &Communication::dtype},
    {"Process Group Name", &Communication::group},  {"Process Group ID", &Communication::group},
    {"Process Group Ranks", &Communication::ranks},
};

constexpr NumberField kNumberFields[] = {
    {"In msg nelems", &Communication::input_elements},
    {"Out msg nelems", &Communication::output_elements},
    {"Group size", &Communication::group_size},
    {"Seq", &Communication::sequence},
};

}  // namespace

bool TakeCommunication(std::string_view key, simdjson::dom::element value, StringPool* strings,
                       Communication* communication) {
  for (const TextField& field : kTextFields) {
    if (field.key != key) continue;
    communication->*field.field = strings->Intern(PrintKineto(value));
    return true;
  }
  for (const NumberField& field : kNumberFields) {
    if (field.key != key) continue;
    TakeInt(value, &(communication->*field.field));
    return true;
  }
  return false;
}

}  // namespace oplens::parse
