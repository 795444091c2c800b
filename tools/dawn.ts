let kept: GPU | undefined; // Dawn dies with its last reference, and takes adapters with it

/**
 * WebGPU outside a browser: the runtime's own where it has one (Deno's wgpu), else Dawn from the npm package `webgpu`; undefined where
 * Dawn's binary is missing or does not load.
 */
export async function openDawn(): Promise<GPU | undefined> {
  if (kept) return kept;
  const own = (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (own) return (kept = own);
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    kept = create([]);
  } catch {
    return undefined; // no binary for this platform: the CPU backend is there
  }
  return kept;
}
