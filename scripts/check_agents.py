#!/usr/bin/env python3
"""Checks `oplens mcp` with the official client and with tokenizers of language models: scripts/agents.sh runs it.

    check_agents.py --bin DIR [--corpus DIR] [--vocabularies DIR]

 - the client of the package `mcp` connects in both eras of the protocol, lists the tools, calls each, and validates
   what comes back with the schemas that the tools give;
 - two calls at once, progress, and one that is cancelled;
 - TokensOf of mcp/answers/tokens.h, whose rule check_questions.py repeats, never counts less than a tokenizer does
   on answers about profiles of examples/data and of the corpus.
"""
import argparse
import asyncio
import base64
import json
import os
import pathlib
import sys

import check_questions

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "examples/data"
CALLS = [("open", {}), ("view", {"name": "overview"}), ("view", {"name": "idle"}), ("view", {"name": "advice"}),
         ("view", {"name": "kernels", "sort": "sil"}), ("view", {"name": "kernels", "columns": "all", "top": 3}),
         ("view", {"name": "groups", "by": "kernel,grid"}), ("view", {"name": "groups", "by": "layer,op"}),
         ("view", {"name": "gemms"}), ("view", {"name": "operators"}), ("view", {"name": "losses"}),
         ("view", {"name": "critical-path"}), ("view", {"name": "modules"}), ("view", {"name": "setup"}),
         ("sql", {"query": "SELECT * FROM kernels"}), ("sql", {"query": "SELECT sql FROM sqlite_schema"})]
PROFILES = ["nvprof/lm.sql.gz", "nsys/mmagic.sqlite.gz", "nsys/llama_stream.sqlite.gz", "kineto/h100/timesformer.json.gz",
            "kineto/sam_amg/compiled_triton.json.gz", "kineto/b300_moe/moe_05_large_capacity.json.gz",
            "kineto/ddp_sampled_w128", "kineto/switch_moe/moe_train.json.gz"]
SPLIT_AS_QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                 r"\s+(?!\S)|\s+")


def tokenizers_in(folder):
    """{name: text -> number of tokens} of the vocabularies that scripts/agents.sh took out of wheels."""
    import tiktoken
    from tokenizers import Tokenizer

    def pairs(path, split):
        ranks = {}
        for line in path.read_bytes().splitlines():
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        encoding = tiktoken.Encoding(path.name, pat_str=split, mergeable_ranks=ranks, special_tokens={})
        return lambda text: len(encoding.encode(text, disallowed_special=()))

    counters = {}
    for path in sorted(folder.rglob("*")):
        if path.name == "tokenizer.json":
            tokenizer = Tokenizer.from_file(str(path))
            counters["claude-2"] = lambda text: len(tokenizer.encode(text).ids)
        elif path.name == "qwen.tiktoken":
            counters["qwen"] = pairs(path, SPLIT_AS_QWEN)
    return counters


def check_tokens(bin_dir, corpus, folder):
    counters = tokenizers_in(folder)
    assert counters, f"no vocabulary in {folder}"
    roots = [DATA] + ([corpus] if corpus else [])
    client = check_questions.Client(bin_dir, *roots)
    least = {name: 9.0 for name in counters}
    answers = 0
    for profile in ["demo.sql"] + (PROFILES if corpus else []):
        for tool, arguments in CALLS:
            result = client.request("tools/call", {"name": tool, "arguments": {"path": profile, **arguments}})
            texts = [result["content"][0]["text"]]
            if "structuredContent" in result:
                texts.append(json.dumps(result["structuredContent"], separators=(",", ":"), ensure_ascii=False))
            for text in texts:
                answers += 1
                ours = check_questions.tokens_of(text)
                assert ours <= 1500, (profile, tool, arguments, ours)
                for name, count in counters.items():
                    least[name] = min(least[name], ours / count(text))
    tools = json.dumps(client.request("tools/list", {})["tools"], separators=(",", ":"))
    client.close()
    print(f"{answers} texts; tokens by our rule over those of a tokenizer, at least: "
          + ", ".join(f"{name} {ratio:.2f}" for name, ratio in least.items()))
    print("definitions: " + ", ".join(f"{name} {count(tools)}" for name, count in counters.items()))
    assert min(least.values()) >= 1, least


async def check_client(bin_dir, mode):
    from jsonschema import Draft202012Validator
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    server = StdioServerParameters(command=str(bin_dir / "oplens"), args=["mcp", "--root", str(DATA)])
    progress = []

    async def tell(done, total, message):
        progress.append(done)

    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["open", "view", "kernel", "diff", "sql"], tools
        schemas = {tool.name: Draft202012Validator(tool.output_schema) for tool in tools}
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
        for tool, arguments in CALLS + [("kernel", {"key": "volta_sgemm_128x128_nn"}), ("diff", {"base": "demo.sql"})]:
            result = await client.call_tool(tool, {"path": "demo.sql", **arguments}, progress_callback=tell)
            assert not result.is_error, result.content[0].text
            schemas[tool].validate(result.structured_content)
        result = await client.call_tool("open", {"path": "../README.md"})
        assert result.is_error and "is not below" in result.content[0].text
        # Two at once; the one that never ends is given up.
        endless = asyncio.create_task(client.call_tool("sql", {"path": "demo.sql", "query": (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT COUNT(*) FROM n")}))
        result = await client.call_tool("view", {"path": "demo.sql", "name": "gpu"})
        assert not result.is_error and not endless.done()
        endless.cancel()
        result = await client.call_tool("view", {"path": "demo.sql", "name": "idle"})
        assert not result.is_error
        print(f"client, mode {mode}: version {client.protocol_version}")
        return client.protocol_version


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--vocabularies", type=pathlib.Path)
    given = parser.parse_args()
    corpus = given.corpus or os.environ.get("OPLENS_CORPUS_DIR")
    bin_dir = given.bin.resolve()
    assert asyncio.run(check_client(bin_dir, "legacy")) == "2025-11-25"
    for mode in ("auto", "2026-07-28"):
        assert asyncio.run(check_client(bin_dir, mode)) == "2026-07-28"
    if given.vocabularies:
        check_tokens(bin_dir, pathlib.Path(corpus) if corpus else None, given.vocabularies)
    return 0


if __name__ == "__main__":
    sys.exit(main())
