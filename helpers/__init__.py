"""The code that the lectures build, in the order in which they build it.

attention   scaled dot-product attention, single-head and multi-head modules
masks       causal and padding masks, and conversions between the three conventions in use
positions   learned, sinusoidal, rotary and ALiBi positions with one interface
blocks      feed-forward network, transformer block, decoder block, stacks of blocks
models      the transformer as a sequence model and as a language model
encoder_decoder  the transformer that reads one sequence and writes another

numpy_attention  softmax and scaled dot-product attention in NumPy, for reading
rnn         recurrent models, and recurrent translation with additive attention
variants    parts of today's models: RMSNorm, SwiGLU, grouped-query attention, sliding windows
config      sizes and options of a model; its parameters, operations, memory and time
training    one training loop, seeds, accuracy
adapters    low-rank adapters: fine-tuning with few trained numbers
generation  probabilities of the next token, sampling token by token, beam search
pretrained  weights of GPT-2, Llama and Mistral in these modules
bpe         byte pair encoding from scratch, as GPT-2 uses it
tokens      vocabularies, special tokens, batches
validation  checks of arguments

data        generated tasks, small corpora, the running example
apps        question answering, summarization, the story model, metrics
interp      interpretability: hooks, ablation, induction heads
viz         figures, attention maps, quizzes, drawings, explorables
results     stored comparisons and their readers
"""
