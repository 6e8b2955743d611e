#!/usr/bin/env python3
"""Asks nsys-ai and `oplens mcp` the same questions of Nsight Systems exports, and counts the tokens of the answers.

    bench/agents_peer.py --bin DIR --corpus DIR --peer PATH

PATH is the program nsys-ai-mcp of the package nsys-ai[mcp]; this script needs the package `mcp` (scripts/agents.sh
installs it). Tokens are those of mcp/answers/tokens.h; of oplens the larger of text and structured content counts.
"""
import argparse
import asyncio
import gzip
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import check_questions  # noqa: E402

LLAMA, LM27B = "llama_stream", "lm27b_nvtx"
QUESTIONS = [
    ("how fast are copies to the device", LLAMA, "memory_bandwidth",
     ("view", {"name": "bandwidth", "columns": "kind,bytes,time_ns,mean_gbps"})),
    ("which kernels first", LM27B, "top_kernels",
     ("view", {"name": "groups", "by": "kernel", "columns": "kernel,count,total,share", "top": 15})),
    ("what is it, is it good enough", LM27B, "profile_health_manifest", ("open", {})),
    ("why is the GPU idle", LM27B, "gpu_idle_gaps", ("view", {"name": "idle"})),
    ("which ops miss Tensor Cores", LM27B, "tensor_core_usage",
     ("view", {"name": "groups", "by": "op", "columns": "op,total,tc", "top": 10})),
    ("is it launch-bound", LM27B, "kernel_launch_overhead", ("view", {"name": "launches"})),
    ("which layer first", LM27B, "nvtx_layer_breakdown",
     ("view", {"name": "groups", "by": "layer", "columns": "layer,count,total,share", "top": 15})),
    ("what to change", LM27B, "root_cause_matcher", ("view", {"name": "advice"})),
]


async def ask_peer(program, folder):
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    spent = []
    async with Client(StdioServerParameters(command=str(program), args=[]), mode="legacy") as client:
        for _, file, skill, _ in QUESTIONS:
            result = await client.call_tool(
                "run_skill", {"profile": f"{folder}/{file}.sqlite", "skill_name": skill}, read_timeout_seconds=300)
            text = "".join(getattr(item, "text", "") for item in result.content)
            spent.append(check_questions.tokens_of(text))
        result = await client.call_tool("list_skills", {})
        listed = check_questions.tokens_of("".join(item.text for item in result.content))
    return spent, listed


def ask_ours(bin_dir, folder):
    client = check_questions.Client(bin_dir, folder)
    spent = []
    for _, file, _, (tool, arguments) in QUESTIONS:
        result = client.request("tools/call", {"name": tool, "arguments": {"path": f"{file}.sqlite", **arguments}})
        assert not result["isError"], result
        structured = json.dumps(result["structuredContent"], separators=(",", ":"))
        spent.append(max(map(check_questions.tokens_of, (result["content"][0]["text"], structured))))
    client.close()
    return spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--peer", type=pathlib.Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for file in (LLAMA, LM27B):
            with gzip.open(given.corpus / f"nsys/{file}.sqlite.gz") as packed:
                pathlib.Path(folder, f"{file}.sqlite").write_bytes(packed.read())
        ours = ask_ours(given.bin, folder)
        peer, listed = asyncio.run(ask_peer(given.peer, folder))
    print(f"{'question':34} {'nsys-ai':>8} {'oplens':>8}")
    for (question, *_), theirs, own in zip(QUESTIONS, peer, ours):
        print(f"{question:34} {theirs:8} {own:8}")
    print(f"{'all':34} {sum(peer):8} {sum(ours):8}\nnsys-ai's list of skills: {listed}")


if __name__ == "__main__":
    main()
