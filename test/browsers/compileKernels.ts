import { openGpu } from '../../src/gpu/device.ts';
import { sourceWithFloat16 } from '../../src/gpu/kernel.ts';
import * as kernels from '../../src/gpu/kernels/index.ts';
import { openDawn } from '../../tools/dawn.ts';

// Compiles every kernel on the WebGPU of the runtime and prints, as JSON, the adapter, its features and the kernels that fail.
const gpu = await openGpu(await openDawn());
const { device } = gpu;
const failed: Record<string, string> = {};
let compiled = 0;
for (const kernel of Object.values(kernels)) {
  if (typeof kernel === 'function') continue; // what chooses among kernels
  const aliases = [...new Set(kernel.bindings.flatMap(({ alias }) => alias ?? []))];
  const halves = aliases.length > 0 && device.features.has('shader-f16') ? [aliases] : [];
  for (const turned of [[], ...halves]) {
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ code: sourceWithFloat16(kernel, turned) });
    const made = device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } });
    const thrown = await made.then(
      () => null,
      (error: unknown) => String(error),
    );
    const error = thrown ?? (await device.popErrorScope())?.message;
    if (thrown !== null) await device.popErrorScope();
    if (error === undefined) compiled++;
    else failed[kernel.name] = error;
  }
}
console.log(JSON.stringify({ adapter: gpu.adapter, features: [...device.features], compiled, failed }));
