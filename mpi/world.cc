#include "mpi/world.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>

namespace oplens::mpi {
namespace {

constexpr int kSizeTag = 1;
constexpr int kTextTag = 2;

/// Waits for an MPI request: polls at first, then sleeps for ever longer.
void Wait(MPI_Request* request) {
  constexpr auto kLongest = std::chrono::microseconds(2000);
  auto pause = std::chrono::microseconds(0);
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(kLongest, pause + std::chrono::microseconds(20));
  }
}

/// The piece of a text that is sent in a round.
std::string_view PieceOf(std::string_view text, size_t round, size_t piece_bytes) {
  const size_t begin = std::min(text.size(), round * piece_bytes);
  return text.substr(begin, piece_bytes);
}

size_t SizeOfPiece(size_t text_bytes, size_t round, size_t piece_bytes) {
  const size_t begin = std::min(text_bytes, round * piece_bytes);
  return std::min(piece_bytes, text_bytes - begin);
}

/// The data for and from each process in a round, in MPI's form.
struct Parts {
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<char> bytes;

  Parts(const std::vector<uint64_t>& sizes, size_t round, size_t piece_bytes) {
    int place = 0;
    for (const uint64_t size : sizes) {
      const auto count = static_cast<int>(SizeOfPiece(size, round, piece_bytes));
      counts.push_back(count);
      places.push_back(place);
      place += count;
    }
    bytes.resize(static_cast<size_t>(place) + 1);
  }

  void AppendTo(std::vector<std::string>* texts) const {
    for (size_t i = 0; i < texts->size(); ++i) {
      (*texts)[i].append(bytes.data() + places[i], static_cast<size_t>(counts[i]));
    }
  }
};

/// Collective. The maximum over all processes.
uint64_t LargestOfAll(uint64_t number) {
  uint64_t largest = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&number, &largest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
  Wait(&request);
  return largest;
}

uint64_t RoundsFor(uint64_t bytes, size_t piece_bytes) {
  return bytes / piece_bytes + (bytes % piece_bytes == 0 ? 0 : 1);
}

}  // namespace

std::string LibraryVersion() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<size_t>(length)};
}

World::World(int* argc, char*** argv, size_t piece_bytes) : piece_bytes_(piece_bytes) {
  // Files are read in forked processes, which must not share memory registered with a network card.
  setenv("IBV_FORK_SAFE", "1", 0);    // NOLINT(concurrency-mt-unsafe)
  setenv("RDMAV_FORK_SAFE", "1", 0);  // NOLINT(concurrency-mt-unsafe)
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

World::~World() {
  WaitForAll();
  MPI_Finalize();
}

void World::Progress() {
  int waits = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waits, MPI_STATUS_IGNORE);
}

void World::WaitForAll() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  Wait(&request);
}

std::string World::Broadcast(std::string text) {
  uint64_t size = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
  Wait(&request);
  text.resize(size);
  for (uint64_t begin = 0; begin < size; begin += piece_bytes_) {
    const auto count = static_cast<int>(std::min<uint64_t>(piece_bytes_, size - begin));
    MPI_Ibcast(text.data() + begin, count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    Wait(&request);
  }
  return text;
}

std::vector<std::string> World::AllGather(std::string_view text) {
  std::vector<std::string> answer(static_cast<size_t>(size_));
  std::vector<uint64_t> sizes(answer.size());
  const uint64_t size = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  Wait(&request);
  const size_t piece_bytes = std::max<size_t>(1, piece_bytes_ / sizes.size());
  const uint64_t rounds = RoundsFor(*std::max_element(sizes.begin(), sizes.end()), piece_bytes);
  for (size_t round = 0; round < rounds; ++round) {
    const std::string_view piece = PieceOf(text, round, piece_bytes);
    Parts in(sizes, round, piece_bytes);
    MPI_Iallgatherv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, in.bytes.data(),
                    in.counts.data(), in.places.data(), MPI_BYTE, MPI_COMM_WORLD, &request);
    Wait(&request);
    in.AppendTo(&answer);
  }
  return answer;
}

std::vector<std::string> World::AllToAll(const std::vector<std::string>& texts) {
  std::vector<uint64_t> sizes;
  for (const std::string& text : texts) sizes.push_back(text.size());
  std::vector<uint64_t> coming(sizes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(sizes.data(), 1, MPI_UINT64_T, coming.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD,
                &request);
  Wait(&request);
  const size_t piece_bytes = std::max<size_t>(1, piece_bytes_ / sizes.size());
  const uint64_t largest = LargestOfAll(*std::max_element(sizes.begin(), sizes.end()));
  const uint64_t rounds = RoundsFor(largest, piece_bytes);
  std::vector<std::string> answer(texts.size());
  for (size_t round = 0; round < rounds; ++round) {
    Parts out(sizes, round, piece_bytes);
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string_view piece = PieceOf(texts[i], round, piece_bytes);
      std::copy(piece.begin(), piece.end(), out.bytes.begin() + out.places[i]);
    }
    Parts in(coming, round, piece_bytes);
    MPI_Ialltoallv(out.bytes.data(), out.counts.data(), out.places.data(), MPI_BYTE,
                   in.bytes.data(), in.counts.data(), in.places.data(), MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    Wait(&request);
    in.AppendTo(&answer);
  }
  return answer;
}

void World::Send(int to, std::string_view text) {
  const uint64_t size = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&size, 1, MPI_UINT64_T, to, kSizeTag, MPI_COMM_WORLD, &request);
  Wait(&request);
  for (size_t begin = 0; begin < text.size(); begin += piece_bytes_) {
    const auto count = static_cast<int>(std::min(piece_bytes_, text.size() - begin));
    MPI_Isend(text.data() + begin, count, MPI_BYTE, to, kTextTag, MPI_COMM_WORLD, &request);
    Wait(&request);
  }
}

std::string World::Receive(int from) {
  uint64_t size = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&size, 1, MPI_UINT64_T, from, kSizeTag, MPI_COMM_WORLD, &request);
  Wait(&request);
  std::string text(size, '\0');
  for (size_t begin = 0; begin < text.size(); begin += piece_bytes_) {
    const auto count = static_cast<int>(std::min(piece_bytes_, text.size() - begin));
    MPI_Irecv(text.data() + begin, count, MPI_BYTE, from, kTextTag, MPI_COMM_WORLD, &request);
    Wait(&request);
  }
  return text;
}

void World::Abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

struct SharedCounter::Window {
  MPI_Win handle = MPI_WIN_NULL;
};

SharedCounter::SharedCounter() : window_(std::make_unique<Window>()) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  uint64_t* count = nullptr;
  const MPI_Aint bytes = rank == 0 ? sizeof(*count) : 0;
  MPI_Win_allocate(bytes, sizeof(*count), MPI_INFO_NULL, MPI_COMM_WORLD, &count, &window_->handle);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window_->handle);
    *count = 0;
    MPI_Win_unlock(0, window_->handle);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window_->handle);
}

SharedCounter::~SharedCounter() {
  MPI_Win_unlock_all(window_->handle);
  MPI_Win_free(&window_->handle);
}

size_t SharedCounter::Next() {
  const uint64_t one = 1;
  uint64_t before = 0;
  MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, 0, MPI_SUM, window_->handle);
  MPI_Win_flush(0, window_->handle);
  return before;
}

}  // namespace oplens::mpi
