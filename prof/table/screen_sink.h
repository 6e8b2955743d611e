#ifndef OPLENS_PROF_TABLE_SCREEN_SINK_H_
#define OPLENS_PROF_TABLE_SCREEN_SINK_H_

#include <cstddef>
#include <memory>

#include "base/output.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// What a table for a terminal may take of it.
struct Screen {
  size_t columns = 80;    ///< Of a line.
  size_t most_rows = 40;  ///< Of the table; 0: all of them.
  bool colours = false;
};

/// A table for people: columns as wide as what is in them, at most `screen.columns` together, where
/// the least important give way (Field::rank) and texts are cut where it hurts least. Behind the
/// last of `screen.most_rows` rows one sentence says how to get the others, another how to get the
/// columns that are left out. Keeps the rows that it shows.
std::unique_ptr<Sink> MakeScreenSink(Output* output, const Screen& screen);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SCREEN_SINK_H_
