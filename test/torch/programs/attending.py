"""Attention, by all ways that PyTorch 2 has on the CPU."""
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
import torch.nn.functional as F

from common import program


def heads(rows=6, columns=6, **options):
    return [torch.rand(2, 4, length, 8, **options) for length in (rows, columns, columns)]


@program
def multihead_attention():
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.rand(2, 5, 16)
    attention(x, x, x)[0].sum().backward()
    attention(x, x, x, need_weights=False, attn_mask=torch.zeros(5, 5))[0].sum().backward()
    attention.eval()
    with torch.no_grad():
        attention(x, x, x, need_weights=False)


@program
def flash_backend():
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        F.scaled_dot_product_attention(*heads(requires_grad=True)).sum().backward()
        F.scaled_dot_product_attention(*heads(requires_grad=True), is_causal=True).sum().backward()
        F.scaled_dot_product_attention(*heads(5, 9), attn_mask=torch.rand(5, 9), scale=0.5)


@program
def math_backend():
    with sdpa_kernel(SDPBackend.MATH):
        F.scaled_dot_product_attention(*heads(requires_grad=True), is_causal=True).sum().backward()
        F.scaled_dot_product_attention(*heads(3, 7), attn_mask=torch.rand(3, 7) > 0.5)
        grouped = [torch.rand(2, count, 6, 8) for count in (4, 2, 2)]
        F.scaled_dot_product_attention(*grouped, enable_gqa=True)


@program
def chosen_backend():
    F.scaled_dot_product_attention(*heads(requires_grad=True)).sum().backward()
    F.scaled_dot_product_attention(*heads(dtype=torch.bfloat16))


@program
def flex_attention():
    from torch.nn.attention import flex_attention as flex

    flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # As it is written, without a compiled region.
    query, key, value = [torch.rand(1, 2, 16, 8) for _ in range(3)]
    flex.flex_attention(query, key, value, score_mod=lambda score, b, h, q, k: score + (q - k))


@program
def jagged():
    rows = torch.nested.nested_tensor([torch.rand(3, 8), torch.rand(5, 8)], layout=torch.jagged, requires_grad=True)
    linear = nn.Linear(8, 8)
    linear(rows).values().sum().backward()
    padded = torch.nested.to_padded_tensor(rows.detach(), 0.0)
    padded.sum()
    split = rows.detach().unflatten(-1, [2, 4]).transpose(1, 2)
    F.scaled_dot_product_attention(split, split, split)
