let kept: GPU | undefined; // Dawn dies with its last reference, and takes adapters with it

/** WebGPU in Node: Dawn from the npm package `webgpu`; undefined where its binary is missing or does not load. */
export async function openDawn(): Promise<GPU | undefined> {
  if (kept) return kept;
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    kept = create([]);
  } catch {
    return undefined; // no binary for this platform: the CPU backend is there
  }
  return kept;
}
