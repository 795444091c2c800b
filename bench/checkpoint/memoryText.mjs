// What memoryChild.mjs found, as text.

const mb = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

/** @param {any} record @param {number} limit GB */
export function memoryText({ slot, estimate, opened, updated }, limit) {
  const { parts, bytes, nodes, keeping, passTokens, keptTokens } = estimate;
  const largest = parts.toSorted((/** @type {any} */ a, /** @type {any} */ b) => b.bytes - a.bytes);
  const off = (/** @type {number} */ found) => `${mb(found)} (${(100 * (bytes / found - 1)).toFixed(0)} % off)`;
  const lines = [
    `${slot}: estimate ${mb(bytes)}, ${bytes <= limit * 1e9 ? 'within' : 'more than'} ${limit} GB`,
    ...largest.map((/** @type {any} */ part) => `  ${mb(part.bytes).padStart(9)}  ${part.purpose}`),
    `  passes of up to ${passTokens} tokens; up to ${keptTokens} nothing is computed anew`,
    ...Object.entries(keeping).map(([name, all]) => `  keeping everything, ${name} (${nodes[name]} tokens): ${mb(Number(all))}, ${(Number(all) / bytes).toFixed(1)} times the estimate`), // prettier-ignore
  ];
  if (opened) {
    const { taken, reserved, buffers, resident } = opened;
    lines.push(
      `  opened: ${mb(taken)} taken of ${mb(reserved)} of WebAssembly's memory, ${mb(buffers)} of buffers beside; together ${off(taken + buffers)}; grown by ${mb(resident)}`, // prettier-ignore
    );
  }
  if (updated) lines.push(`  after an update: grown by ${mb(updated.resident)}, at most ${mb(updated.peak)}`);
  return lines.join('\n');
}
