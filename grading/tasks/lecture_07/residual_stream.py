"""Pre-norm from the parts of post-norm blocks, with all that is added to the residual stream."""

from itertools import pairwise

import torch

from grading.author import Case, TaskFile
from grading.feedback.messages import MASK_UNUSED, NORMS_SWAPPED
from helpers import masks
from helpers.blocks import TransformerStack
from helpers.config import TransformerConfig

task = TaskFile(
    "implement",
    points=11,
    minutes=22,
    section="Pre-norm and post-norm",
    outcome="write a transformer block, tell post-norm from pre-norm, and check your block against "
    "PyTorch's own layer",
    hints=(
        "The pre-norm column of *The six equations* is one block. Which two of its results are "
        "contributions?",
        "Attention reads `block.norm_attention(x)`. Its output is added to `x` itself.",
    ),
)


# %% the cell
def residual_stream(blocks, last, x, mask):
    """Output (batch, T, d_model) of a pre-norm stack, and the list of contributions."""
    # BEGIN SOLUTION
    contributions = [x]
    for block in blocks:
        found = block.attention(block.norm_attention(x), mask=mask)  # (batch, T, d_model)
        x = x + found  # (batch, T, d_model)
        computed = block.feed_forward(block.norm_feed_forward(x))  # (batch, T, d_model)
        x = x + computed  # (batch, T, d_model)
        contributions += [found, computed]
    return last(x), contributions
    # END SOLUTION


# %%


@task.alternative
def by_differences(blocks, last, x, mask):
    """The switch of the helper, and differences of the residual stream."""
    streams = [x]
    for block in blocks:
        block.norm = "pre"
        streams += [x + block.attention(block.norm_attention(x), mask=mask), block(x, mask)]
        x = streams[-1]
    added = [after - before for before, after in pairwise(streams)]
    return last(x), torch.stack([streams[0], *added])


@task.alternative
def by_sums(blocks, last, x, mask):
    """The residual stream is summed up anew each time."""
    written = [x]
    for block in blocks:
        for norm, part in (
            (block.norm_attention, lambda y, block=block: block.attention(y, mask=mask)),
            (block.norm_feed_forward, block.feed_forward),
        ):
            written.append(part(norm(sum(written))))
    return last(sum(written)), tuple(written)


def _run(blocks, last, x, mask, **changes):
    """A version that differs in some places."""
    post, replaced = changes.get("post"), changes.get("replaced")
    written = [x]
    for block in blocks:
        first, second = block.norm_attention, block.norm_feed_forward
        if changes.get("swapped"):
            first, second = second, first
        start = x
        inside = x if post or changes.get("raw_attention") else first(x)
        x = inside if replaced else x
        written.append(block.attention(inside, mask=None if changes.get("blind") else mask))
        x = x + written[-1]
        x = first(x) if post else x
        read = start if changes.get("parallel") else x
        read = written[-1] if changes.get("found_only") else read
        inside = read if post or changes.get("raw_feed_forward") else second(read)
        x = inside if replaced else x
        written.append(block.feed_forward(inside))
        x = x + written[-1]
        x = second(x) if post else x
        x = last(x) if changes.get("each") else x
    return x if changes.get("no_last") or changes.get("each") else last(x), written


def _changed(**changes):
    def answer(blocks, last, x, mask):
        return _run(blocks, last, x, mask, **changes)

    return answer


def _in_place(copied):
    """Wrong: the residual stream is changed in place, and it is the first entry of the list."""

    def answer(blocks, last, x, mask):
        x = x.clone() if copied else x
        written = [x]
        for block in blocks:
            written.append(block.attention(block.norm_attention(x), mask=mask))
            x += written[-1]
            written.append(block.feed_forward(block.norm_feed_forward(x)))
            x += written[-1]
        return last(x), written

    return answer


@task.harness
def harness(answer, sizes, state, x, mask):
    """Build the blocks and the last norm, and run them."""
    import torch

    from helpers.blocks import TransformerStack
    from helpers.config import TransformerConfig

    stack = TransformerStack(TransformerConfig(**sizes, norm="pre")).double().eval()
    stack.load_state_dict(state)
    for block in stack.blocks:
        block.norm = "post"
    with torch.no_grad():
        found = answer(list(stack.blocks), stack.norm, x, mask)
        if found is None:
            return None
        if not isinstance(found, tuple | list) or len(found) != 2:
            one = isinstance(found, torch.Tensor)
            came = f"a tensor of shape {tuple(found.shape)}" if one else f"a {type(found).__name__}"
            wanted = "it must return two results: the output and a list of contributions"
            raise ValueError(f"residual_stream returns {came}, but {wanted}")
        out, written = found
        if not isinstance(out, torch.Tensor):
            raise ValueError("expected a tensor as the output; it comes first, the list second")
        return {"output": out, "contributions": torch.stack([*written])}


@task.cases
def cases(seed):
    """One word and a block to check by hand; then more, with all sizes different."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for n_layers, batch, T, d_model, n_heads, d_ff in (
        (1, 1, 1, 2, 1, 3),
        (1, 2, 3, 6, 2, 7),
        (3, 3, 4, 6, 3, 5),
        (2, 2, 5, 8, 4, 9),
    ):
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        sizes |= {"vocab": 1}  # without a meaning here
        stack = TransformerStack(TransformerConfig(**sizes))
        shapes = {name: p.shape for name, p in stack.state_dict().items()}
        state = {name: 0.7 * draw(*shape) for name, shape in shapes.items()}
        x, note = draw(batch, T, d_model), f"{n_layers} blocks, {T} words"
        if T == 1:
            ones = [name for name in state if "norm" in name and name.endswith("weight")]
            state = {n: torch.full_like(v, float(n in ones)) for n, v in state.items()}
            for name in ("W_value", "W_out"):
                state[f"blocks.0.attention.{name}.weight"] = torch.eye(2).double()
            x, note = torch.tensor([[[1.0, 3.0]]]).double(), "the example"
        found.append(Case((sizes, state, x, masks.causal_mask(T)), note, kind="ordinary cases"))
    return found


@task.diagnostic
def does_it_add_up(args, result):
    """Whether the last norm of the sum of all contributions is the output."""
    sizes, state, x, _ = args
    written, out = result["contributions"], result["output"]
    n = 2 * sizes["n_layers"] + 1
    if written.shape != (n, *x.shape):
        return f"There are {len(written)} contributions; with the input there should be {n}."
    gain, shift = (state[f"norm.{name}"].numpy() for name in ("weight", "bias"))
    total = written.sum(axis=0)
    centred = total - total.mean(axis=-1, keepdims=True)
    normed = centred / ((centred**2).mean(axis=-1, keepdims=True) + 1e-5) ** 0.5
    if out.shape != total.shape or abs(normed * gain + shift - out).max() > 1e-6:
        return "`last`, applied to the sum of all contributions, does not give the output."
    right = harness(residual_stream, *args)["contributions"].numpy()
    odd = [i for i in range(n) if abs(written[i] - right[i]).max() > 1e-6]
    if not odd:
        return None
    if odd[0] == 0:
        return "Contribution 0 should be the input x, as it is."
    part = "attention under the mask" if odd[0] % 2 else "the feed-forward network"
    before = "Contribution 0 is" if odd[0] == 1 else f"Contributions 0 to {odd[0] - 1} are"
    return (
        f"{before} right, but not contribution {odd[0]}, that of {part} in block "
        f"{(odd[0] - 1) // 2}. It should read the norm of the sum of all contributions so far."
    )


task.mistake(
    "The contributions are right. But the output is the residual stream without a norm: what does "
    "a pre-norm stack have at its end?",
    _changed(no_last=True),
)
task.mistake(
    "This is post-norm: the residual stream itself is normalized, twice in each block.",
    _changed(post=True, no_last=True),
)
task.mistake(
    "This is post-norm, with one more norm at the end. In pre-norm nothing normalizes the "
    "residual stream between the blocks.",
    _changed(post=True),
)
task.mistake(
    "`last` is applied after each block. It belongs at the end of the whole stack, once.",
    _changed(each=True),
)
task.mistake(
    "The norm has replaced the residual stream: the output of a sublayer is added to the "
    "*normalized* words. Add it to the words before the norm.",
    _changed(replaced=True),
)
task.mistake(
    "Both sublayers of a block read the same residual stream. Feed-forward comes second: by then "
    "the output of attention has been added.",
    _changed(parallel=True),
)
task.mistake(
    "Attention reads the residual stream as it is. In pre-norm a norm comes before it.",
    _changed(raw_attention=True),
)
task.mistake(
    "Feed-forward reads the residual stream as it is. In pre-norm a norm comes before it.",
    _changed(raw_feed_forward=True),
)
task.mistake(
    "The parts read the residual stream as it is: the norms of the blocks are not used.",
    _changed(raw_attention=True, raw_feed_forward=True),
)
task.mistake(NORMS_SWAPPED, _changed(swapped=True))
task.mistake(MASK_UNUSED, _changed(blind=True))
task.mistake(
    "Feed-forward reads only the output of attention. It should read the residual stream, through "
    "a norm.",
    _changed(found_only=True),
)


@task.mistake(
    "The second argument of `MultiHeadAttention` is the sequence that is attended to. Pass the "
    "mask by name."
)
def mask_as_key(blocks, last, x, mask):
    return last(x), [x, *(block.attention(block.norm_attention(x), mask) for block in blocks)]


@task.mistake("The blocks themselves were called, and these are post-norm. Call their four parts.")
def called(blocks, last, x, mask):
    written = [x]
    for block in blocks:
        written.append(block(written[-1], mask))
    return last(written[-1]), written


@task.mistake(
    "The output is right. But these are the states of the residual stream, each with everything "
    "before it. A contribution is what one sublayer *adds*."
)
def streams(blocks, last, x, mask):
    out, written = residual_stream(blocks, last, x, mask)
    return out, [sum(written[: n + 1]) for n in range(len(written))]


task.mistake(
    "The output is right. But `x += …` changes the tensor that is first in your list. `x = x + …` "
    "creates a new one.",
    _in_place(copied=False),
)
task.mistake(
    "The output is right, and the caller's `x` is unchanged. But your copy is first in the list, "
    "and `x += …` changes it there. `x = x + …` creates a new tensor.",
    _in_place(copied=True),
)


@task.mistake(
    "The output is right. But `x` is the first contribution: without it the others do not add up "
    "to the residual stream."
)
def without_input(blocks, last, x, mask):
    out, written = residual_stream(blocks, last, x, mask)
    return out, written[1:]


@task.mistake(
    "The output is right. But each block makes two contributions, one from each sublayer."
)
def by_block(blocks, last, x, mask):
    out, written = residual_stream(blocks, last, x, mask)
    return out, [x, *(a + b for a, b in zip(written[1::2], written[2::2], strict=True))]


@task.mistake(
    "The output is right. But this is what the sublayers *read*. A contribution is what a "
    "sublayer outputs."
)
def normed_contributions(blocks, last, x, mask):
    out, written, read, x = None, [x], x, x
    for block in blocks:
        read = block.norm_attention(x)
        written.append(read)
        x = x + block.attention(read, mask=mask)
        read = block.norm_feed_forward(x)
        written.append(read)
        x = x + block.feed_forward(read)
    out = last(x)
    return out, written


@task.mistake(
    "The final norm was applied to each contribution, and the results were added. The norm of a "
    "sum is not the sum of the norms."
)
def normed_one_by_one(blocks, last, x, mask):
    written = residual_stream(blocks, last, x, mask)[1]
    return sum(last(each) for each in written), written


def _nested(kind):
    """Wrong: the contributions of a block stand in the list as one thing."""

    def answer(blocks, last, x, mask):
        out, written = residual_stream(blocks, last, x, mask)
        pairs = zip(written[1::2], written[2::2], strict=True)
        return out, [x, *(kind(pair) for pair in pairs)]

    return answer


task.mistake(
    "The two contributions of a block are in the list as a pair. The list has one entry for each "
    "contribution: append them one after the other.",
    _nested(tuple),
)
task.mistake(
    "The two contributions of a block are in a list within the list. Append them one after the "
    "other: `append` adds one entry, whatever it is.",
    _nested(list),
)


@task.mistake(
    "The output is right, and so is each contribution. But their order is wrong: block by block, "
    "attention first."
)
def by_part(blocks, last, x, mask):
    out, written = residual_stream(blocks, last, x, mask)
    return out, [x, *written[1::2], *written[2::2]]


@task.mistake(
    "Everything is right except for one extra entry: the output is not written into the residual "
    "stream."
)
def with_output(blocks, last, x, mask):
    out, written = residual_stream(blocks, last, x, mask)
    return out, [*written, out]
