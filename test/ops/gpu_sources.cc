#include "test/ops/gpu_sources.h"

namespace oplens::ops {
namespace {

using enum SourceId;

constexpr GpuSource kSources[] = {
    {kDerived, "derived", "Computed from figures of the same row",
     "multiprocessors x FMAs a clock (rates below) x 2 x clock, or the fixed ratio of "
     "two types of its architecture"},
    {kRecorded, "recorded", "Device rows of recorded profiles",
     "CUDA device properties: multiProcessorCount, l2CacheSize; nvprof, Nsight "
     "Systems, PyTorch profiler"},
    {kCudaGuide, "cuda-guide", "CUDA C++ Programming Guide",
     "table Throughput of Native Arithmetic Instructions"},
    {kGpuSpecs, "gpu-specs", "winston-zhang-orz/gpu-specs", "specs.md: V100S, Quadro RTX 5000"},
    {kHighPerformanceOps, "high-performance-ops", "InJuly7/High-performance-operators",
     "readme.md, table of GPUs: GTX 1650, 128 GB/s"},
    {kLlmProf, "llm-prof", "citsjtu2020/LLM-Prof", "hardware_spec.md"},
    {kHmcTech, "hmc-tech", "HMC Tech, comparisons of GPUs (hmc-tech.com/gpu)",
     "nvidia-l4-vs-nvidia-a2, nvidia-geforce-rtx-2060-12gb-vs-nvidia-geforce-gtx-1650-gddr5, "
     "nvidia-geforce-rtx-5080-vs-amd-radeon-rx-540; figures without sparsity; of the GTX 1650 "
     "that with GDDR5, which has no Tensor Cores"},
    {kTopCpu, "topcpu", "TopCPU, comparisons of GPUs (topcpu.net)",
     "tesla-t4-vs-rtx-a5000, a40-pcie-vs-l20, geforce-gtx-1650-tu106-vs-geforce-rtx-2060-12-gb: "
     "of the GTX 1650 that with GDDR6, 192 GB/s"},
    {kTechnicalCity, "technical-city", "Technical City, comparisons of GPUs (technical.city)",
     "RTX-A4000-vs-A2-PCIe"},
    {kCpuTronic, "cputronic", "CPUtronic, comparisons of GPUs (cputronic.com)",
     "nvidia-a2-vs-nvidia-tesla-t4"},
    {kSysRqmts, "sysrqmts", "Sysrqmts, comparisons of GPUs (sysrqmts.com)",
     "nvidia-geforce-gtx-650-vs-nvidia-geforce-rtx-3060"},
    {kFpsBench, "fpsbench", "FPSBench, comparisons of GPUs (fpsbench.com)",
     "nvidia-geforce-rtx-4080-vs-intel-hd-graphics-530; fp32 and MHz the same at "
     "hmc-tech.com/gpu/nvidia-6x-geforce-rtx-5090-vs-nvidia-geforce-rtx-4080"},
    {kGpuBlog, "gpu-blog", "gpu.blog, page of the H100 NVL (gpu.blog/gpus/nvidia-h100-nvl)",
     "compute units only"},
    {kPascalPaper, "pascal-paper", "NVIDIA Tesla P100 whitepaper (WP-08019)",
     "table 1, Tesla P100 compared"},
    {kP100Sheet, "p100-sheet", "NVIDIA Tesla P100 data sheet",
     "specifications, NVLink-optimized servers"},
    {kVoltaPaper, "volta-paper", "NVIDIA Tesla V100 GPU Architecture whitepaper (WP-08608)",
     "table 1, comparison of Tesla GPUs"},
    {kV100Sheet, "v100-sheet", "NVIDIA V100 data sheet (1165301)",
     "specifications; the same in Lightning-AI/pytorch-lightning: "
     "src/lightning/fabric/utilities/throughput.py"},
    {kTitanVPage, "titan-v-page", "NVIDIA TITAN V product page", "specifications"},
    {kXavierPage, "xavier-page", "NVIDIA Jetson AGX Xavier developer page and module data sheet",
     "technical specifications, GPU without DLA"},
    {kT4Sheet, "t4-sheet", "NVIDIA T4 data sheet (951643)",
     "specifications; the same in Lightning-AI/pytorch-lightning: "
     "src/lightning/fabric/utilities/throughput.py"},
    {kTuringPaper, "turing-paper", "NVIDIA Turing GPU Architecture whitepaper (WP-09183)",
     "tables of TU102 and TU104 cards, reference clocks"},
    {kTitanRtxPage, "titan-rtx-page", "NVIDIA TITAN RTX product page", "specifications"},
    {kAmperePaper, "ampere-paper", "NVIDIA A100 Tensor Core GPU Architecture whitepaper",
     "tables of A100 peaks and of data center GPUs, without sparsity; fp16 the same in "
     "pytorch/torchtitan: torchtitan/tools/utils.py"},
    {kA100Sheet, "a100-sheet", "NVIDIA A100 data sheet (1758950)",
     "specifications, 40GB, 80GB PCIe and 80GB SXM columns; sparse figures not taken"},
    {kA30Sheet, "a30-sheet", "NVIDIA A30 data sheet", "specifications, without sparsity"},
    {kA10Sheet, "a10-sheet", "NVIDIA A10 data sheet", "specifications, without sparsity"},
    {kA10gSheet, "a10g-sheet", "NVIDIA A10G data sheet (Amazon EC2 G5)",
     "specifications, without sparsity; fp16 is twice its tf32 and half its int8, as in all of its "
     "architecture. It has less tensor compute than the A10 "
     "(baseten.co/blog/nvidia-a10-vs-a10g-for-ml-model-inference), of whose data sheet "
     "pytorch-lightning has the 125 that it gives for the A10G"},
    {kLightning, "lightning", "Lightning-AI/pytorch-lightning",
     "src/lightning/fabric/utilities/throughput.py, _CUDA_FLOPS"},
    {kGpuCatalog, "gpu-catalog", "RajBhope/gpu-runtime-predictor on Hugging Face",
     "gpu_catalog.json, NVIDIA_A10G"},
    {kA40Sheet, "a40-sheet", "NVIDIA A40 data sheet",
     "specifications, without sparsity; fp16 the same in volcengine/verl: "
     "verl/utils/flops_counter.py"},
    {kA6000Sheet, "a6000-sheet", "NVIDIA RTX A6000 data sheet", "specifications"},
    {kA4000Sheet, "a4000-sheet", "NVIDIA RTX A4000 data sheet",
     "specifications; the sparse fp16 figure, halved. The same at ecer.com/corp/"
     "details-uuuedqa-p1bsb03-pci-express-3-0-x16-nvidia-rtx-a4000-16g-graphics-card-for-"
     "professional-video-editing.html"},
    {kA16Sheet, "a16-sheet", "NVIDIA A16 data sheet",
     "specifications, without sparsity, of one of the four GPUs of a board. The same at "
     "panchaea.com/products/graphics-cards/nvidia-a16"},
    {kGa102Paper, "ga102-paper", "NVIDIA Ampere GA102 GPU Architecture whitepaper",
     "tables of GA102 and GA104 cards, without sparsity"},
    {kRtx3080Page, "rtx-3080-page", "NVIDIA GeForce RTX 3080 product page",
     "specifications, 10 GB and 12 GB"},
    {kOrinBrief, "orin-brief", "NVIDIA Jetson AGX Orin Series technical brief",
     "GPU of the 64GB module; dense figures are half of the sparse ones"},
    {kAdaPaper, "ada-paper", "NVIDIA Ada GPU Architecture whitepaper",
     "appendix tables of AD102 cards, without sparsity; RTX 4090 the same at hmc- "
     "tech.com/gpus/nvidia-geforce-rtx-4090-vs-nvidia-rtx-pro-5000-blackwell"},
    {kL4Sheet, "l4-sheet", "NVIDIA L4 data sheet",
     "specifications; it gives sparse Tensor Core figures: halved. The sparse ones are "
     "in pytorch/pytorch: torch/_inductor/analysis/device_info.py"},
    {kL40Sheet, "l40-sheet", "NVIDIA L40 data sheet",
     "specifications, without sparsity; fp16 the same in volcengine/verl: "
     "verl/utils/flops_counter.py"},
    {kL40sSheet, "l40s-sheet", "NVIDIA L40S data sheet (28413)",
     "specifications, without sparsity; fp16 the same in pytorch/torchtitan: "
     "torchtitan/tools/utils.py"},
    {kAda6000Sheet, "ada-6000-sheet", "NVIDIA RTX 6000 Ada Generation data sheet",
     "specifications; the sparse fp8 figure, halved"},
    {kHopperPaper, "hopper-paper", "NVIDIA H100 Tensor Core GPU Architecture whitepaper",
     "tables of H100 SXM5 and PCIe, without sparsity; SXM5 the same at "
     "glennklockwood.com/garden/processors/h100"},
    {kH100Sheet, "h100-sheet", "NVIDIA H100 data sheet",
     "specifications, SXM, PCIe and NVL columns; it gives sparse Tensor Core figures: "
     "halved. The same at archive-lib.hpctech.co.jp/gpuproduct/nvidia-h100.html; fp16 "
     "in pytorch/torchtitan: torchtitan/tools/utils.py"},
    {kH200Sheet, "h200-sheet", "NVIDIA H200 data sheet",
     "specifications, SXM and NVL columns; it gives sparse Tensor Core figures: "
     "halved. fp16 of SXM the same in pytorch/torchtitan: torchtitan/tools/utils.py"},
    {kGh200Sheet, "gh200-sheet", "NVIDIA GH200 Grace Hopper Superchip data sheet",
     "GPU, HBM3 and HBM3e; it gives sparse Tensor Core figures: halved"},
    {kH20Press, "h20-press", "Press listing of the H20",
     "zangshuxian.com/new/674733024499207168; fp16 the same in volcengine/verl: "
     "verl/utils/flops_counter.py"},
    {kVerl, "verl", "volcengine/verl", "verl/utils/flops_counter.py, _DEVICE_FLOPS"},
    {kH800Sheet, "h800-sheet", "NVIDIA H800 data sheet",
     "specifications, as astroC86/gpu-datasheet: README.md has them; the same in "
     "citsjtu2020/LLM-Prof: hardware_spec.md"},
    {kBlackwellBrief, "blackwell-brief", "NVIDIA Blackwell Architecture technical brief",
     "tables of HGX B100 and HGX B200; it gives sparse Tensor Core figures: halved"},
    {kBlackwellSheet, "blackwell-sheet", "NVIDIA Blackwell data sheet (3384703)",
     "GB200 NVL72: a 72nd; HGX B200: an eighth; sparse Tensor Core figures halved. "
     "fp16 the same in volcengine/verl: verl/utils/flops_counter.py; B200 at "
     "verda.com/blog/gb300-nvl72-architecture"},
    {kB200Review, "b200-review",
     "Chips and Cheese, article on the B200 "
     "(chipsandcheese.com/p/nvidias-b200-keeping-the-cuda-juggernaut)",
     "table of the H100 and the B200"},
    {kHgxPage, "hgx-page", "NVIDIA HGX platform page",
     "table of HGX B300 and HGX B200 (8 GPUs): an eighth; sparse Tensor Core figures "
     "halved. The same but fp4 and int8 at fibermall.com/blog/?p=17161, fp8 to fp32 at "
     "verda.com/blog/gb300-nvl72-architecture"},
    {kHgxPageEarly, "hgx-page-early",
     "NVIDIA HGX platform page of 2025, as fibermall.com/blog/?p=17161 has it",
     "table of HGX B300 NVL16 and HGX B200"},
    {kVerdaGb300, "verda",
     "Verda, article on the GB300 NVL72 (verda.com/blog/gb300-nvl72-architecture)",
     "table of GB300, GB200, B300 and B200 without sparsity"},
    {kUltraBlog, "blackwell-ultra-blog", "NVIDIA developer blog, Inside NVIDIA Blackwell Ultra",
     "table of Hopper, Blackwell and Blackwell Ultra"},
    {kGb300Page, "gb300-page", "NVIDIA GB300 NVL72 page",
     "specifications (72 GPUs): a 72nd; sparse Tensor Core figures halved. The same at "
     "verda.com/blog/gb300-nvl72-architecture"},
    {kThorSheet, "thor-sheet", "NVIDIA Jetson Thor T5000 module data sheet",
     "AI performance, dense"},
    {kRtxBlackwellPaper, "rtx-blackwell-paper", "NVIDIA RTX Blackwell GPU Architecture whitepaper",
     "appendix tables of the RTX 5090 and RTX 5080, without sparsity; multiprocessors, cache and "
     "GB/s of the RTX 5080 the same at brojogopalsapui.com/dark/ai-foundations/sub_contents/"
     "AI_hardware/rtx5080_deep_dive_opus_dark.html"},
    {kRtxProPaper, "rtx-pro-paper",
     "NVIDIA RTX PRO Blackwell GPU Architecture whitepaper and RTX PRO 6000 data sheet",
     "table of the RTX PRO 6000; the sparse fp4 figure, halved"},
    {kSparkArticles, "spark-articles",
     "Articles on the GB10: NVIDIA at Hot Chips (afnnews.qaasid.com/145463), "
     "blog.kubesimplify.com/blog/day-3-the-dgx-spark-unpacked-gb10-unified-memory-sm-121-and-the-"
     "one-reason-this-hardware-exists, satgeo.blog/2025/12/24/nvidia-dgx-sparks-gb10-architecture",
     "fp32; the sparse fp4 figure, halved; GiB, GB/s; 6144 CUDA cores"},
    {kMi100Brief, "mi100-brief", "AMD Instinct MI100 brochure",
     "specifications; the same at notebookcheck.net (504329.0), MHz, GB/s and cache at "
     "alkhaleejtoday.co/international/5374756. fp16 184.6"},
    {kMi100Bf16, "mi100-bf16", "AMD Instinct MI100 brochure, bf16",
     "92.3, half of fp16: the column is of both"},
    {kCdna2Sheet, "mi200-sheet",
     "AMD Instinct MI200 series data sheets and product pages (MI250, MI250X)",
     "peaks of the package of two dies: half for the one die that a program sees as a "
     "GPU. The same at zexron.com/amd-mi250-x-aldebaran-as-mcm-with-up- "
     "to-479-teraflop-s-and-560-watt-tdp"},
    {kMi210Brief, "mi210-brief", "AMD Instinct MI210 brochure",
     "specifications; the same in pytorch/pytorch: "
     "torch/_inductor/analysis/device_info.py"},
    {kMi300xSheet, "mi300x-sheet", "AMD Instinct MI300X data sheet",
     "specifications; the same in pytorch/pytorch: "
     "torch/_inductor/analysis/device_info.py"},
    {kMi300aSheet, "mi300a-sheet", "AMD Instinct MI300A data sheet",
     "specifications; the same in pytorch/pytorch: "
     "torch/_inductor/analysis/device_info.py"},
    {kMi325xSheet, "mi325x-sheet", "AMD Instinct MI325X data sheet and product page",
     "specifications, without sparsity; fp16 and GB/s the same at "
     "docs.vultr.com/inference-cookbook/rocm/getting-started/hardware-requirements"},
    {kMi350xBrief, "mi350x-brief", "AMD Instinct MI350X brochure",
     "specifications, without sparsity; the same in pytorch/pytorch: "
     "torch/_inductor/analysis/device_info.py"},
    {kMi355xBrief, "mi355x-brief", "AMD Instinct MI355X brochure",
     "specifications, without sparsity; fp32, fp8 and GB/s the same at "
     "svethardware.cz/amd-uvadi-akceleratory-instinct-mi350x-a-mi355x-s-288gb-pameti- "
     "hbm3e/61870"},
    {kCdna4Paper, "cdna4-paper", "AMD CDNA 4 Architecture whitepaper",
     "table of peaks a clock and compute unit; fp6 runs at the rate of fp4"},
    {kRocmSpecs, "rocm-specs",
     "ROCm documentation, GPU specifications "
     "(rocm.docs.amd.com/en/latest/reference/gpu-specs.html)",
     "Instinct table: compute units, VRAM, L2 and L3 cache"},
};

}  // namespace

std::span<const GpuSource> GpuSources() { return kSources; }

const GpuSource* FindGpuSource(SourceId id) {
  for (const GpuSource& source : kSources) {
    if (source.id == id) return &source;
  }
  return nullptr;
}

}  // namespace oplens::ops
