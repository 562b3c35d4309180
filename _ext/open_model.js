/* The arithmetic of helpers.models.LanguageModel, without positions and with the norm in front
   ("pre"), as lecture 8 stores it. A row is one position; a matrix is an array of rows. */

const add = (rows, others) => rows.map((x, t) => x.map((v, i) => v + others[t][i]));

const softmax = (scores) => {
  const highest = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - highest));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((p) => p / sum);
};

const linear = (rows, weights, name) => {
  const W = weights[`${name}.weight`], b = weights[`${name}.bias`];
  return rows.map((x) => Float64Array.from(W, (w, i) => dot(w, x) + b[i]));
};

/* As torch: variance over all entries, and 1e-5 against division by zero. */
const layerNorm = (rows, weights, name) => {
  const scale = weights[`${name}.weight`], shift = weights[`${name}.bias`];
  return rows.map((x) => {
    const mean = sumOver(x.length, (i) => x[i]) / x.length;
    const variance = sumOver(x.length, (i) => (x[i] - mean) ** 2) / x.length;
    return x.map((v, i) => ((v - mean) / Math.sqrt(variance + 1e-5)) * scale[i] + shift[i]);
  });
};

/* What all heads of a layer find, and where each looks: maps[head][query][key], key ≤ query.
   A head in `off`, named "layer.head", finds nothing but zeros. */
const attend = (rows, weights, name, layer, nHeads, off) => {
  const [q, k, v] = ["W_query", "W_key", "W_value"].map((W) => linear(rows, weights, `${name}.${W}`));
  const found = v.map((x) => new Float64Array(x.length));
  const wide = q[0].length / nHeads, wideV = v[0].length / nHeads;
  const maps = Array.from({ length: nHeads }, (_, head) => {
    const own = (x) => x.subarray(head * wide, (head + 1) * wide);
    return rows.map((_, t) => {
      const scores = k.slice(0, t + 1).map((key) => dot(own(q[t]), own(key)) / Math.sqrt(wide));
      const looks = softmax(scores);
      if (!off.has(`${layer}.${head}`))
        for (let i = head * wideV; i < (head + 1) * wideV; i++)
          found[t][i] = sumOver(t + 1, (j) => looks[j] * v[j][i]);
      return looks;
    });
  });
  return [linear(found, weights, `${name}.W_out`), maps];
};

/* Logits at every position, and the maps of every layer. */
const read = (ids, off = new Set()) => {
  const table = WEIGHTS["embedding.weight"], scale = Math.sqrt(table[0].length);
  let stream = ids.map((id) => table[id].map((v) => scale * v));
  const maps = STORED.heads.map((nHeads, layer) => {
    const block = `stack.blocks.${layer}`;
    const normed = layerNorm(stream, WEIGHTS, `${block}.norm_attention`);
    const [found, looks] = attend(normed, WEIGHTS, `${block}.attention`, layer, nHeads, off);
    stream = add(stream, found);
    const fed = layerNorm(stream, WEIGHTS, `${block}.norm_feed_forward`);
    const wide = linear(fed, WEIGHTS, `${block}.feed_forward.up_proj`).map((x) => x.map((v) => Math.max(v, 0)));
    stream = add(stream, linear(wide, WEIGHTS, `${block}.feed_forward.down_proj`));
    return looks;
  });
  const end = layerNorm(stream, WEIGHTS, "stack.norm");
  return { logits: end.map((x) => table.map((word) => dot(word, x))), maps };
};

const WEIGHTS = unpack(STORED);
