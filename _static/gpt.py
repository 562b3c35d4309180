"""A small GPT in one file: `python gpt.py TEXT.txt`, with any text of at least 100,000 characters.

The text of Lecture 7 is https://github.com/karpathy/char-rnn/blob/master/data/tinyshakespeare/input.txt
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

T, BATCH, STEPS, RATE = 64, 16, 450, 0.01  # characters, rows, steps, learning rate
D_MODEL, N_BLOCKS, N_HEADS = 64, 3, 4


def rotate(x):
    """Rotary positions of queries or keys, (batch, n_heads, T, d_k)."""
    T, d_k = x.shape[-2:]
    pairs = torch.arange(0, d_k, 2, device=x.device) / d_k  # (d_k / 2,)
    places = torch.arange(T, device=x.device)  # (T,)
    angles = places[:, None] * 10_000.0**-pairs  # (T, d_k / 2)
    turns = torch.polar(torch.ones_like(angles), angles)  # (T, d_k / 2)
    points = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(points * turns).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Causal: no token sees a later one."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)

    def split(self, x):
        """To (batch, n_heads, T, d_k)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x):
        """Both (batch, T, d_model)."""
        q = rotate(self.split(self.W_query(x)))  # what each token looks for
        k = rotate(self.split(self.W_key(x)))  # what it can be found by
        v = self.split(self.W_value(x))  # what it passes on
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        mask = torch.ones_like(scores[0, 0]).tril().bool()  # (T, T): hide the future
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
        context = (weights @ v).transpose(1, 2).flatten(2)
        return self.W_out(context)


class FeedForward(nn.Module):
    """Computes at each position separately."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Both (..., d_model)."""
        return self.down_proj(torch.relu(self.up_proj(x)))


class TransformerBlock(nn.Module):
    """Attention, then a feed-forward network, each on a side road."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_attention = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x):
        """Both (batch, T, d_model)."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.feed_forward(self.norm_feed_forward(x))


class GPT(nn.Module):
    """Embedding, blocks, last norm, output layer."""

    def __init__(self, vocab, d_model, n_blocks, n_heads):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        blocks = (TransformerBlock(d_model, n_heads) for _ in range(n_blocks))
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab)

    def forward(self, tokens):
        """From token ids (batch, T) to logits (batch, T, vocab)."""
        x = self.blocks(self.embedding(tokens))  # (batch, T, d_model)
        return self.lm_head(self.norm(x))


def loss_on_random_windows(model, ids):
    """Mean cross-entropy in nats; the targets are shifted by one."""
    starts = torch.randint(len(ids) - T, (BATCH, 1))
    windows = ids[starts + torch.arange(T + 1)]  # (BATCH, T + 1)
    logits = model(windows[:, :-1])  # (BATCH, T, vocab)
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def train(model, ids, held_out):
    """Train, and print the loss on held-out text every 150 steps."""
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=RATE, total_steps=STEPS, pct_start=0.1
    )
    for step in range(1, STEPS + 1):
        loss = loss_on_random_windows(model, ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 150 == 0:
            with torch.no_grad():
                rows = [loss_on_random_windows(model, held_out) for _ in range(20)]
            print(f"step {step}: loss on held-out text {sum(rows) / 20:.2f}")


@torch.no_grad()
def generate(model, tokens, n, temperature=0.8):
    """Append n sampled tokens to tokens (1, any)."""
    for _ in range(n):
        logits = model(tokens[:, -T:])[:, -1]  # (1, vocab)
        p = (logits / temperature).softmax(dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(p, 1)], dim=1)
    return tokens


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    cut = len(ids) * 9 // 10  # nine tenths to train on
    torch.manual_seed(0)
    model = GPT(len(characters), D_MODEL, N_BLOCKS, N_HEADS)
    train(model, ids[:cut], ids[cut:])
    written = generate(model, ids[None, :1], n=500)[0]
    print("".join(characters[i] for i in written))
