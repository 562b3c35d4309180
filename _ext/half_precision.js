/* Stored weights as numbers, and sums over them: for the scripts that run a model in a page. */

/* A number in half precision: sign, 5 bits of exponent, 10 of fraction (IEEE 754, section 3.4). */
const fromHalf = (bits) => {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (!exponent) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
};

/* The stored arrays by their names. A matrix comes as its rows, as torch stores it: (out, in). */
const unpack = ({ shapes, numbers }) => {
  const bytes = new DataView(Uint8Array.from(atob(numbers), (c) => c.charCodeAt(0)).buffer);
  const found = {};
  let at = 0;
  const take = (n) => Float64Array.from({ length: n }, () => fromHalf(bytes.getUint16(2 * at++, true)));
  for (const [name, shape] of Object.entries(shapes))
    found[name] = shape.length > 1 ? Array.from({ length: shape[0] }, () => take(shape[1])) : take(shape[0]);
  return found;
};

const sumOver = (n, term) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += term(i);
  return sum;
};
const dot = (a, b) => sumOver(a.length, (i) => a[i] * b[i]);
