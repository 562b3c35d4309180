"""Tasks of lecture 13, in the order of its sheet."""

TASKS = [
    "rotary_pair_order",
    "left_padding",
    "agreement_rates",
    "logit_lens",
    "attribution_patching",
    "claims_pretrained",
    "quantize_4bit",
    "dequantize_q4_0",
    "greedy_reply",
    "Adapter",
]
