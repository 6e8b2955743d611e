"""Models of `transformers`, tiny, from their configurations, with random weights. A program that returns a number
says how many FLOPs the products and convolutions of its step have by the arithmetic of the configuration: those of
the forward pass three times, as each product of it has two in the backward pass, but for what needs no gradient."""
import torch
import transformers

from common import program

ROWS, LENGTH = 2, 12


def begin():
    transformers.logging.set_verbosity_error()


def step(model, **inputs):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model(**inputs).loss.backward()
    optimizer.step()


def tokens(vocabulary, length=LENGTH):
    return torch.randint(3, vocabulary, (ROWS, length))


def product(rows, inner, columns):
    return 2 * rows * inner * columns


def attention(heads, width, queries=LENGTH, keys=LENGTH):
    """Both products of it, for all rows."""
    return 2 * ROWS * heads * product(queries, width, keys)


def decoder_layer(config, width):
    """Without what comes after the attention."""
    count = ROWS * LENGTH
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    projections = product(count, config.hidden_size, width * (2 * heads + 2 * groups))
    return projections + attention(heads, width)


def gated(config):
    count = ROWS * LENGTH
    layer = decoder_layer(config, config.head_dim) + 3 * product(count, config.hidden_size, config.intermediate_size)
    return 3 * (config.num_hidden_layers * layer + product(count, config.hidden_size, config.vocab_size))


SMALL = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=8, attn_implementation="eager", pad_token_id=0, bos_token_id=1,
             eos_token_id=2)


@program
def llama():
    config = transformers.LlamaConfig(**SMALL)
    ids = tokens(96)
    step(transformers.LlamaForCausalLM(config), input_ids=ids, labels=ids)
    return gated(config)


@program
def gemma():
    config = transformers.GemmaConfig(**{**SMALL, "head_dim": 16})
    ids = tokens(96)
    step(transformers.GemmaForCausalLM(config), input_ids=ids, labels=ids)
    return gated(config)


@program
def qwen3_moe():
    config = transformers.Qwen3MoeConfig(**SMALL, moe_intermediate_size=24, num_experts=4, num_experts_per_tok=2)
    ids = tokens(96)
    step(transformers.Qwen3MoeForCausalLM(config), input_ids=ids, labels=ids)
    count = ROWS * LENGTH
    experts = product(count, 32, 4) + 3 * 2 * product(count, 32, 24)
    return 3 * (2 * (decoder_layer(config, 8) + experts) + product(count, 32, 96))


@program
def bert():
    config = transformers.BertConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=64, num_labels=3, attn_implementation="eager")
    step(transformers.BertForSequenceClassification(config), input_ids=tokens(96), labels=torch.tensor([0, 2]))
    count = ROWS * LENGTH
    layer = product(count, 32, 4 * 32) + 2 * product(count, 32, 64) + attention(4, 8)
    return 3 * (2 * layer + product(ROWS, 32, 32) + product(ROWS, 32, 3))


@program
def vit():
    config = transformers.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                                    image_size=16, patch_size=4, num_labels=3, attn_implementation="eager")
    step(transformers.ViTForImageClassification(config), pixel_values=torch.rand(ROWS, 3, 16, 16),
         labels=torch.tensor([0, 2]))
    patches = 16
    count = ROWS * (patches + 1)
    layer = product(count, 32, 4 * 32) + 2 * product(count, 32, 64) + attention(4, 8, patches + 1, patches + 1)
    # Pictures need no gradient.
    return 3 * (2 * layer + product(ROWS, 32, 3)) + 2 * product(ROWS * patches, 3 * 4 * 4, 32)


@program
def whisper():
    config = transformers.WhisperConfig(
        vocab_size=96, num_mel_bins=8, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=16,
        max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        attn_implementation="eager")
    step(transformers.WhisperForConditionalGeneration(config), input_features=torch.rand(ROWS, 8, 32),
         labels=tokens(96))
    heard, count = 16, ROWS * LENGTH
    encoder = product(ROWS * heard, 32, 4 * 32 + 2 * 64) + attention(4, 8, heard, heard)
    own = product(count, 32, 4 * 32) + attention(4, 8)
    across = product(count, 32, 2 * 32) + product(ROWS * heard, 32, 2 * 32) + attention(4, 8, LENGTH, heard)
    decoder = own + across + product(count, 32, 2 * 64)
    second = product(ROWS * heard, 3 * 32, 32)
    return 3 * (encoder + decoder + second + product(count, 32, 96)) + 2 * product(ROWS * 32, 3 * 8, 32)


@program
def t5():
    config = transformers.T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                   decoder_start_token_id=0)
    step(transformers.T5ForConditionalGeneration(config), input_ids=tokens(96), labels=tokens(96))
    count = ROWS * LENGTH
    layer = product(count, 32, 4 * 32) + attention(4, 8)
    wide = 2 * product(count, 32, 64)
    return 3 * (2 * (layer + wide) + 2 * (2 * layer + wide) + product(count, 32, 96))


@program
def mamba():
    config = transformers.MambaConfig(vocab_size=96, hidden_size=32, state_size=4, num_hidden_layers=2, expand=2,
                                      conv_kernel=4, time_step_rank=2, pad_token_id=0)
    ids = tokens(96)
    step(transformers.MambaForCausalLM(config), input_ids=ids, labels=ids)
    count, inner = ROWS * LENGTH, 64
    layer = product(count, 32, 2 * inner) + product(count, inner, 2 + 2 * 4) + product(count, 2, inner)
    # The convolution of each channel by itself, padded by three on both sides.
    layer += product(count, inner, 32) + product(ROWS * (LENGTH + 3), 4, inner)
    return 3 * (2 * layer + product(count, 32, 96))


@program
def generated():
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL)).eval()
    model.generate(tokens(96, 4), max_new_tokens=3, do_sample=False, cache_implementation="static",
                   disable_compile=True)
