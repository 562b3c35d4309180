"""Find the bugs: a translator of the course's own parts, with mistakes that raise no error."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=12,
    minutes=15,
    outcome="write {term}`cross-attention` with `T_q` ≠ `T_k`, and say which mask each of the "
    "three attentions needs",
    hints=(
        "Make the lecture's table for this code: three attentions, and for each the mask that it "
        "has and the one that it needs.",
        "Then follow both texts from their words to the first block, side by side.",
    ),
)


# %% the cell
def translator_logits(parts, source, begun):
    """Logits (batch, T_q, vocab); source (batch, T_k), begun (batch, T_q)."""
    is_word = (source != 0)[:, None, None, :]  # (batch, 1, 1, T_k)
    x = parts["read"](source)  # (batch, T_k, d_model)
    x = parts["positions"].embed(x)  # (batch, T_k, d_model)
    #| memory = parts["encoder"](x, is_word, causal=True)  # (batch, T_k, d_model)
    # BEGIN SOLUTION
    memory = parts["encoder"](x, is_word)  # (batch, T_k, d_model)
    # END SOLUTION
    y = parts["write"](begun)  # (batch, T_q, d_model)
    #| y = parts["decoder"](y, memory, causal=True)  # (batch, T_q, d_model)
    # BEGIN SOLUTION
    y = parts["positions"].embed(y)  # (batch, T_q, d_model)
    y = parts["decoder"](y, memory, None, is_word, causal=True)  # (batch, T_q, d_model)
    # END SOLUTION
    return parts["lm_head"](y)  # (batch, T_q, vocab)


# %%


@task.alternative
def with_masks(parts, source, begun):
    """Masks by the helpers, positions in one line."""
    from helpers.masks import causal_mask, padding_mask

    seen = padding_mask((source != 0).sum(1), source.shape[1])
    memory = parts["encoder"](parts["positions"].embed(parts["read"](source)), seen)
    y = parts["positions"].embed(parts["write"](begun))
    y = parts["decoder"](y, memory, causal_mask(begun.shape[1]), memory_mask=seen)
    return parts["lm_head"](y)


@task.alternative
def one_at_a_time(parts, source, begun):
    """Each sentence without its padding, without any mask of it."""
    found = []
    for row, start in zip(source, begun, strict=True):
        x = parts["positions"].embed(parts["read"](row[row != 0][None]))
        y = parts["positions"].embed(parts["write"](start[None]))
        y = parts["decoder"](y, parts["encoder"](x), causal=True)
        found.append(parts["lm_head"](y))
    return torch.cat(found)


ENCODER = 'memory = parts["encoder"](x, is_word)'
PLACES = 'y = parts["positions"].embed(y)'
DECODER = 'y = parts["decoder"](y, memory, None, is_word, causal=True)'

task.as_given(
    "This does the same as the given code: the logits of a sentence change with the padding after "
    "its source, and that is not the only problem."
)
task.edit(
    "In a source without padding, early words do not see later ones: if you change its last word, "
    "the memory of the first stays the same. That is right for a text that is being generated. Is "
    "the source one?",
    ENCODER,
    'memory = parts["encoder"](x, is_word, causal=True)',
)
task.edit(
    "The translation depends on how much padding comes after the source. Which attention still "
    "sees it?",
    DECODER,
    'y = parts["decoder"](y, memory, causal=True)',
)
task.edit(
    "The target words have no positional encoding: the decoder's first block sees the earlier "
    "words as a bag. What does the source have that the target lacks?",
    PLACES,
    "y = 1.0 * y",
)
task.edit(
    "The encoder's mask is right, and there are still two bugs: some part still attends to the "
    "padding of the source, and the target words have no positional encoding.",
    PLACES,
    "y = 1.0 * y",
    DECODER,
    'y = parts["decoder"](y, memory, causal=True)',
)
task.edit(
    "Padding is masked everywhere now. There are still two bugs, one on each side: which "
    "attention sees the source only up to each word, and what does the target lack?",
    ENCODER,
    'memory = parts["encoder"](x, is_word, causal=True)',
    PLACES,
    "y = 1.0 * y",
)
task.edit(
    "Both texts have positions now. There are still two bugs: a mask that should not be there, "
    "and one that is missing.",
    ENCODER,
    'memory = parts["encoder"](x, is_word, causal=True)',
    DECODER,
    'y = parts["decoder"](y, memory, causal=True)',
)
task.edit(
    "Now the decoder sees the words that it has to predict. Its own mask has to stay causal.",
    DECODER,
    'y = parts["decoder"](y, memory, None, is_word)',
)
task.edit(
    "The mask is inverted: padding is visible, and the words are not. True means “may attend”.",
    "source != 0",
    "source == 0",
)
task.edit(
    "The target's embeddings are multiplied by √d_model, as in the language model of Lecture 8. "
    "These parts use them as they are.",
    'parts["write"](begun)',
    'parts["write"](begun) * parts["write"].embedding_dim ** 0.5',
)
task.edit(
    "Id 0 is masked in the target, too. There every token counts as a word, as the statement "
    "says: only the source has padding.",
    DECODER,
    "own = (begun != 0)[:, None, None, :]\n    "
    'y = parts["decoder"](y, memory, own, is_word, causal=True)',
)
task.edit(
    "The encoder attends to padding now. It needs the mask of its words, and no other.",
    ENCODER,
    'memory = parts["encoder"](x)',
)


task.edit(
    "The source's mask stands where the decoder takes its own mask. The mask of the memory comes "
    "after that: `decoder(y, memory, None, is_word, causal=True)`.",
    "y, memory, None, is_word, causal=True",
    "y, memory, is_word, causal=True",
)
task.edit(
    "The positions were added to the memory. The encoder's words have theirs already; the target's "
    "words lack them.",
    'y = parts["positions"].embed(y)',
    'memory = parts["positions"].embed(memory)',
)


task.edit(
    "The embeddings of both texts are multiplied by √d_model, as in the language model of "
    "Lecture 8. These parts use them as they are.",
    'x = parts["read"](source)',
    'x = parts["read"](source)\n    x = x * x.shape[-1] ** 0.5',
    'y = parts["write"](begun)',
    'y = parts["write"](begun)\n    y = y * y.shape[-1] ** 0.5',
)
task.edit(
    "Padding of the memory was set to 0. A key of zeros has the score 0, so padding still gets "
    "weight: pass the decoder the mask of the memory.",
    'y = parts["write"](begun)',
    'memory = memory * is_word[:, 0, 0, :, None]\n    y = parts["write"](begun)',
    "y, memory, None, is_word, causal=True",
    "y, memory, causal=True",
)


@task.harness
def harness(answer, sizes, seed, source, begun):
    """The answer with parts of these sizes and random numbers."""
    import torch
    from torch import nn

    from helpers.blocks import DecoderStack, TransformerStack
    from helpers.config import TransformerConfig
    from helpers.positions import SinusoidalPositions

    d_model, n_heads, n_source, n_target = sizes
    config = TransformerConfig(n_target, d_model, n_layers=2, n_heads=n_heads)
    parts = nn.ModuleDict(
        {
            "read": nn.Embedding(n_source, d_model),
            "write": nn.Embedding(n_target, d_model),
            "positions": SinusoidalPositions(),
            "encoder": TransformerStack(config),
            "decoder": DecoderStack(config),
            "lm_head": nn.Linear(d_model, n_target),
        }
    ).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in parts.parameters():
            parameter.copy_(0.6 * torch.randn(parameter.shape, generator=generator))
    return answer(parts.requires_grad_(False).eval(), source, begun)


@task.cases
def cases(seed):
    """Without padding, with padding, and with sizes that all differ."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for batch, T_k, T_q, d_model, n_heads, short in (
        (1, 4, 5, 8, 2, 4),
        (2, 6, 4, 8, 2, 3),
        (3, 5, 7, 12, 3, 2),
    ):
        n_source, n_target = 9 + batch, 13 + batch
        source = torch.randint(1, n_source, (batch, T_k), generator=generator)
        source[-1, short:] = 0
        begun = torch.randint(3, n_target, (batch, T_q), generator=generator)
        begun[:, 0] = 1
        if batch == 3:
            begun[1, 3:5] = 0  # these count as words here
        note = "no padding" if short == T_k else f"the last source has {short} of {T_k} words"
        sizes = (d_model, n_heads, n_source, n_target)
        found.append(Case((sizes, 1000 * seed + batch, source, begun), note, kind="ordinary cases"))
    return found
