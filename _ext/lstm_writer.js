/* One step of nn.LSTM and the output layer after it, as helpers.rnn.RecurrentModel computes them.
   The rows of the four gates are stacked in torch's order: i, f, g, o. */
const weights = unpack(STORED);
const [E, W, U, b, bToo, V, d] = ["embedding.weight", "recurrence.weight_ih_l0", "recurrence.weight_hh_l0",
  "recurrence.bias_ih_l0", "recurrence.bias_hh_l0", "lm_head.weight", "lm_head.bias"].map((name) => weights[name]);
const n = U[0].length;
const sigmoid = (z) => 1 / (1 + Math.exp(-z));

const start = () => ({ h: new Float64Array(n), c: new Float64Array(n) });

/* The state after one more character. `ablated`, if given, is a cell and the value that it is set to. */
const step = ({ h, c }, id, ablated) => {
  const z = W.map((w, k) => dot(w, E[id]) + dot(U[k], h) + b[k] + bToo[k]);
  const cells = c.map((old, k) => sigmoid(z[n + k]) * old + sigmoid(z[k]) * Math.tanh(z[2 * n + k]));
  const hidden = cells.map((value, k) => sigmoid(z[3 * n + k]) * Math.tanh(value));
  if (ablated) cells[ablated[0]] = ablated[1];
  return { h: hidden, c: cells };
};

/* A logit for the pad token and for each character. */
const logits = (h) => V.map((row, k) => dot(row, h) + d[k]);

return { start, step, logits };
