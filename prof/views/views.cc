#include "base/error.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/advice.h"
#include "prof/views/bandwidth.h"
#include "prof/views/collective_row.h"
#include "prof/views/collectives.h"
#include "prof/views/copy_row.h"
#include "prof/views/critical_path.h"
#include "prof/views/distributed.h"
#include "prof/views/events.h"
#include "prof/views/gpu.h"
#include "prof/views/groups.h"
#include "prof/views/idle.h"
#include "prof/views/imbalance.h"
#include "prof/views/kernel_columns.h"
#include "prof/views/kernel_types.h"
#include "prof/views/launches.h"
#include "prof/views/losses.h"
#include "prof/views/memory.h"
#include "prof/views/memory_events.h"
#include "prof/views/memory_ops.h"
#include "prof/views/modules.h"
#include "prof/views/operators.h"
#include "prof/views/overview.h"
#include "prof/views/places.h"
#include "prof/views/queue.h"
#include "prof/views/ranks.h"
#include "prof/views/roofline.h"
#include "prof/views/setup.h"
#include "prof/views/stacks.h"
#include "prof/views/stragglers.h"
#include "prof/views/summary_columns.h"
#include "prof/views/temporal.h"
#include "prof/views/view.h"

namespace oplens::prof {
namespace {

class KernelStream : public ViewStream {
 public:
  KernelStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, KernelColumns()), sink) {}
  void Add(const PricedKernel& kernel) override { table_.Add(kernel); }

 private:
  TableOf<PricedKernel> table_;
};

class CopyStream : public ViewStream {
 public:
  CopyStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, CopyColumns()), sink) {}

  void Begin(const Run* run) override {
    if (run == nullptr) return;
    for (CopyRow& copy : CopiesOf(run->trace())) {
      const WorkClass work = copy.fill ? WorkClass::kFill : WorkClass::kCopy;
      if (!run->Selects(
              {copy.start_ns, copy.start_ns, copy.place, copy.device_id, copy.stream_id, work})) {
        continue;
      }
      copy.index = ++row_count_;
      table_.Add(copy);
    }
  }
  void AddCopy(const CopyRow& copy) override { table_.Add(copy); }

 private:
  TableOf<CopyRow> table_;
  int64_t row_count_ = 0;
};

template <typename Stream>
std::unique_ptr<ViewStream> ViewsOpen(const std::vector<size_t>& places, Sink* sink) {
  return std::make_unique<Stream>(places, sink);
}

template <std::vector<Field> (*fields)()>
std::span<const Field> Kept() {
  static const std::vector<Field> kept = fields();
  return kept;
}

std::vector<Field> KernelFields() { return FieldsOf(KernelColumns()); }
std::vector<Field> CopyFields() { return FieldsOf(CopyColumns()); }

std::span<const std::string_view> TimeKeyWords() {
  static constexpr std::string_view kKeys[] = {"step", "rank"};
  return kKeys;
}

std::span<const std::string_view> OperatorKeys() {
  static constexpr std::string_view kKeys[] = {"shape", "layer", "stack", "phase", "step", "rank"};
  return kKeys;
}

std::span<const std::string_view> StackWords() {
  static constexpr std::string_view kWords[] = {"device", "host", "layer", "rank"};
  return kWords;
}

constexpr View kViews[] = {
    {.name = "kernels",
     .help = "one row a kernel: op, cost, Tensor Cores",
     .fields = Kept<KernelFields>,
     .stream = ViewsOpen<KernelStream>,
     .some = kDefaultColumns,
     .important = kImportantColumns},
    {.name = "copies",
     .help = "one row a memory copy or fill",
     .fields = Kept<CopyFields>,
     .stream = ViewsOpen<CopyStream>,
     .important = kImportantCopyColumns},
    {.name = "advice",
     .help = "what to change, and how much time that can save at most",
     .needs = kAdviceNeeds,
     .fields = AdviceFields,
     .make = MakeAdvice,
     .narrow = "severity,gain_pct,item,change",
     .may_be_empty = true,
     .saved_form = 1},
    {.name = "overview",
     .help = "where the time of each step went",
     .needs = kOverviewNeeds,
     .fields = OverviewFields,
     .make = MakeOverview,
     .narrow = "total_ns,kernel_ns,comm_ns,memcpy_ns,runtime_ns,dataloader_ns,cpu_ns,busy_pct",
     .important = "step,total_ns,kernel_ns,comm_ns,dataloader_ns,cpu_ns,busy_pct,other_ns,runtime_"
                  "ns,rank,mfu_pct",
     .saved_form = 1},
    {.name = "gpu",
     .help = "how well each GPU was used",
     .needs = kGpuNeeds,
     .fields = GpuFields,
     .make = MakeGpu,
     .narrow =
         "busy_pct,sm_efficiency_pct,achieved_occupancy_pct,tc_time_pct,kernel_ns,copy_ns,comm_ns",
     .saved_form = 1},
    {.name = "operators",
     .help = "what each operator cost on host and device",
     .needs = kOperatorsNeeds,
     .fields = OperatorsFields,
     .make = MakeOperators,
     .make_together = MakeOperatorsTogether,
     .by = OperatorKeys,
     .narrow = "calls,device_self_ns,host_self_ns,mean_ns,launches,tc_self_pct",
     .saved_form = 1},
    {.name = "modules",
     .help = "what each module of the network cost, forward and backward",
     .needs = kModulesNeeds,
     .fields = ModulesFields,
     .make = MakeModules,
     .by = TimeKeyWords,
     .narrow = "calls,wall_ns,device_total_ns,bwd_device_total_ns,host_total_ns,bwd_host_total_ns",
     .saved_form = 2},
    {.name = "stacks",
     .help = "folded call stacks for flame graphs",
     .needs = kStacksNeeds,
     .fields = StacksFields,
     .make = MakeStacks,
     .by = StackWords,
     .keeps_document = true,
     .saved_form = 1},
    {.name = "groups",
     .help = "kernels that are alike in the keys of --by",
     .fields = GroupsFields,
     .make = MakeGroups,
     .make_together = MakeGroupsTogether,
     .by = GroupKeys,
     .narrow = kNarrowFigures,
     .sorts = true,
     .saved_form = 1,
     .groups_kernels = true},
    {.name = "places",
     .help = "what each call of each layer ran on the GPU: kernels, copies and fills",
     .needs = kPlacesNeeds,
     .fields = PlacesFields,
     .make = MakePlaces,
     .by = PlacesKeys,
     .narrow = "count,time_ns,tc_pct",
     .important = "op,kernel,time_ns,count,layer,dir,tc_pct,shape",
     .on_pages = false,
     .saved_form = 1},
    {.name = "kernel-types",
     .help = "time of the device by what ran at once",
     .needs = kKernelTypesNeeds,
     .fields = KernelTypesFields,
     .make = MakeKernelTypes,
     .by = TimeKeyWords,
     .saved_form = 1},
    {.name = "temporal",
     .help = "how long each rank's device was idle, computing, or did something else",
     .needs = kTemporalNeeds,
     .fields = TemporalFields,
     .make = MakeTemporal,
     .by = TimeKeyWords,
     .saved_form = 1},
    {.name = "memory",
     .help = "how much memory was allocated and reserved at each moment",
     .needs = kMemoryNeeds,
     .fields = MemoryFields,
     .make = MakeMemory,
     .saved_form = 1},
    {.name = "memory-events",
     .help = "each piece of memory from its allocation to its release",
     .needs = kMemoryEventsNeeds,
     .fields = MemoryEventsFields,
     .make = MakeMemoryEvents,
     .narrow = "op,size_bytes,alloc_ns,duration_ns,state,leak",
     .important = "op,size_bytes,alloc_ns,duration_ns,state,leak,device,layer",
     .saved_form = 1},
    {.name = "memory-ops",
     .help = "what each operator took of memory and gave back",
     .needs = kMemoryOpsNeeds,
     .fields = MemoryOpsFields,
     .make = MakeMemoryOps,
     .by = MemoryOpsKeys,
     .narrow = "calls,size_increase_bytes,self_size_increase_bytes,self_allocations,"
               "self_allocated_bytes,peak_bytes",
     .saved_form = 1},
    {.name = "idle",
     .help = "why each GPU did nothing",
     .needs = kIdleNeeds,
     .fields = IdleFields,
     .make = MakeIdle,
     .by = IdleKeys,
     .saved_form = 1},
    {.name = "launches",
     .help = "what launching kernels cost, and how late they began",
     .needs = kLaunchesNeeds,
     .fields = LaunchesFields,
     .make = MakeLaunches,
     .by = LaunchesKeys,
     .narrow = "launches,short_kernels,cpu_ns,gpu_ns,delay_ns,p50_delay_ns,max_delay_ns",
     .saved_form = 1},
    {.name = "queue",
     .help = "how much work waited on each stream",
     .needs = kQueueNeeds,
     .fields = QueueFields,
     .make = MakeQueue,
     .by = SeriesKeys,
     .narrow = "mean,p50,max,blocked_pct,starved_pct",
     .saved_form = 1},
    {.name = "bandwidth",
     .help = "how fast copies and fills were, by kind",
     .needs = kBandwidthNeeds,
     .fields = BandwidthFields,
     .make = MakeBandwidth,
     .by = SeriesKeys,
     .narrow = "count,bytes,time_ns,mean_gbps,p50_gbps,max_gbps",
     .saved_form = 1},
    {.name = "critical-path",
     .help = "what the length of each step came from, one dependency after the other",
     .needs = kCriticalPathNeeds,
     .fields = CriticalPathFields,
     .make = MakeCriticalPath,
     .make_together = MakeCriticalPaths,
     .by = CriticalPathKeys,
     .saved_form = 1,
     .what_if = true},
    {.name = "roofline",
     .help = "how far the kernels of each op are from what the GPU could do",
     .fields = RooflineFields,
     .make = MakeRoofline,
     .by = RooflineKeys,
     .narrow = "count,time_ns,tflops,bound,efficiency_pct,gap_ns",
     .important = "op,time_ns,gap_ns,efficiency_pct,bound,tflops,dtype,dir,count,shape",
     .saved_form = 1},
    {.name = "events",
     .help = "calls and device events by name, as PyTorch's profilers list them",
     .needs = kEventsNeeds,
     .fields = EventsFields,
     .make = MakeEvents,
     .by = EventKeys,
     .narrow = "calls,host_self_ns,host_total_ns,device_self_ns,device_total_ns",
     .keeps_document = true,
     .saved_form = 1},
    {.name = "distributed",
     .help = "how long each rank computed, communicated and waited in each step",
     .needs = kDistributedNeeds,
     .fields = DistributedFields,
     .make = MakeDistributed,
     .narrow = "total_ns,computation_ns,overlap_ns,communication_ns,other_ns,wait_ns,transfer_ns",
     .calls = true,
     .saved_form = 1},
    {.name = "collectives",
     .help = "each call of a collective: size, waiting, transfer, bandwidth",
     .needs = kCollectivesNeeds,
     .fields = CollectivesFields,
     .make = MakeCollectives,
     .by = CollectiveKeys,
     .narrow = "latency_ns,wait_ns,transfer_ns,bus_gbps",
     .important =
         "kind,latency_ns,bus_gbps,size_bytes,wait_ns,rank,step,transfer_ns,start_ns,group,match",
     .may_be_empty = true,
     .calls = true,
     .saved_form = 1},
    {.name = "ranks",
     .help = "how busy each rank was, what it waited, and where it is among the others",
     .needs = kRanksNeeds,
     .fields = RanksFields,
     .make = MakeRanks,
     .narrow = "step_ns,busy_pct,communication_pct,wait_ns,peak_bytes,place",
     .on_pages = false,
     .calls = true,
     .saved_form = 1},
    {.name = "stragglers",
     .help = "which ranks keep the others waiting, since when, and by which op",
     .needs = kStragglersNeeds,
     .fields = StragglersFields,
     .make = MakeStragglers,
     .narrow = "verdict,since_step,op,op_excess_pct,late_ns,late_pct,caused_ns",
     .on_pages = false,
     .calls = true,
     .saved_form = 1},
    {.name = "imbalance",
     .help = "how uneven the work of experts and of stages of a pipeline is",
     .needs = kImbalanceNeeds,
     .fields = ImbalanceFields,
     .make = MakeImbalance,
     .narrow = "members,most,ratio,saved_ns,saved_pct",
     .on_pages = false,
     .may_be_empty = true,
     .calls = true,
     .saved_form = 1},
    {.name = "setup",
     .help = "on what the run ran: GPUs, clocks, versions, steps",
     .needs = kSetupNeeds,
     .fields = SetupFields,
     .make = MakeSetup,
     .saved_form = 1},
    {.name = "losses",
     .help = "what the recording lacks, and what mends it",
     .needs = kLossesNeeds,
     .fields = LossesFields,
     .make = MakeLosses,
     .narrow = "count,time_ns,share_pct,why",
     .important = "loss,time_ns,count,mend,share_pct,why",
     .whole = true,
     .may_be_empty = true,
     .saved_form = 1},
};

}  // namespace

void Partial::AddCalls(std::span<const CollectiveRow> /*calls*/) {}

void Partial::Save(ByteWriter* /*bytes*/) const {
  throw Error("what this view found cannot be saved: it needs the trace");
}

void Partial::Load(ByteReader* bytes) {
  bytes->Fail("what this view found cannot be saved: it needs the trace");
}

std::span<const View> Views() { return kViews; }

}  // namespace oplens::prof
