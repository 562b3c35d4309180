"""The code that the lectures build, in the order in which they build it.

arrays      softmax and scaled dot-product attention in NumPy, for reading
attention   scaled dot-product attention, single-head and multi-head modules
masks       causal and padding masks, and conversions between the three conventions in use
positions   learned, sinusoidal, rotary and ALiBi positions behind one interface
blocks      feed-forward network, transformer block, decoder block, stacks of blocks
models      sequence models with one interface: recurrent, transformer, language model
encoder_decoder  models that read one sequence and write another, recurrent and transformer
modern      what today's models changed: RMSNorm, SwiGLU, grouped queries, sliding windows
published   weights of GPT-2, Llama and Mistral in these modules
pieces      byte pair encoding from scratch, as GPT-2 cuts text
scale       a model's parameters, operations, memory and time, from its config
decoding    probabilities of the next token, writing token by token, beam search
ablation    heads switched off: by zeros, by their mean, by what they find elsewhere
answering   readers that point at a span of a text, exact match and F1
trained     the stored language model of lecture 8, and what is asked of it
data        generated tasks: agreement, recall, two relations at once, stories
facts       contexts with facts, and questions about them
news        small news texts with known facts, and a counter of facts
summaries   models that choose, write and copy; ROUGE and facts of what they say
kannada     a fragment of Kannada, with English and the true alignment
training    one training loop, seeds, accuracy
results     stored comparisons, with the search for each model's learning rate
plotting    figures that follow the page's colours and carry their text alternative
viewer      attention maps to look into, in a page or in a notebook
quiz        questions with a reason for every answer
language    dependency trees, by spaCy where a model is installed
examples    the words and vectors that several lectures share
checks      one way to refuse bad input
"""
