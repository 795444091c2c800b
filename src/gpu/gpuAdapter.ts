/** There is no usable GPU: no WebGPU, no adapter, no device, or none that takes the kernels. The message says which. */
export class NoGpuError extends Error {
  override readonly name: string = 'NoGpuError';
}

/** A browser gives an adapter or a device within so many ms, or it counts as one without a GPU. */
const ANSWER_MS = 5000;

/** What is asked for where an adapter has it; none is needed. */
const WANTED: readonly GPUFeatureName[] = ['subgroups', 'shader-f16', 'timestamp-query'];

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render/i;

/** Browsers that have not answered, and why they count as without a GPU: nobody waits for them a second time. */
const unanswered = new WeakMap<GPU, NoGpuError>();

/** An adapter as its browser describes it. */
interface AdapterWords {
  readonly name: string; // as a person would name it
  readonly identity: string; // all that the browser tells apart adapters by
  readonly lanes: number; // threads of its smallest subgroup; 0 where it does not say
  readonly software: boolean; // a CPU behind a GPU's interface
}

/** Result of `ms` or less of `work`, else null. */
export async function within<T>(ms: number, work: Promise<T>): Promise<{ readonly result: T } | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work.then((result) => ({ result })), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Opens a device with the adapter's own limits. Throws NoGpuError if there is none, the browser refuses it, or does not answer. */
export async function openDevice(
  gpu: GPU | undefined,
): Promise<{ readonly device: GPUDevice; readonly words: AdapterWords }> {
  const here = webGpu(gpu);
  const adapter = await findAdapter(here);
  const ask = () =>
    adapter.requestDevice({
      requiredFeatures: WANTED.filter((feature) => adapter.features.has(feature)),
      requiredLimits: {
        maxBufferSize: adapter.limits.maxBufferSize,
        maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
      },
    });
  const device = await answered(here, 'device', ask, (late) => late.destroy());
  return { device, words: adapterWords(adapter) };
}

/** Whether the adapter that a device is opened on is a CPU behind a GPU's interface. Opens no device. Throws NoGpuError. */
export async function offersSoftwareOnly(gpu: GPU | undefined): Promise<boolean> {
  return adapterWords(await findAdapter(webGpu(gpu))).software;
}

function webGpu(gpu: GPU | undefined): GPU {
  if (!gpu) throw new NoGpuError('This browser offers no WebGPU (navigator.gpu is missing).');
  return gpu;
}

async function findAdapter(gpu: GPU): Promise<GPUAdapter> {
  const adapter = await answered(gpu, 'adapter', () => gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (!adapter) throw new NoGpuError('WebGPU found no adapter.');
  return adapter;
}

/** What a browser answers in time. Throws NoGpuError where it fails or is late; `tooLate` takes what comes after all. */
async function answered<T>(
  gpu: GPU,
  what: string,
  ask: () => Promise<T>,
  tooLate: (answer: T) => void = () => undefined,
): Promise<T> {
  const known = unanswered.get(gpu);
  if (known) throw known;
  const asking = (async () => ask())(); // what throws at once rejects
  const found = await within(ANSWER_MS, asking).catch((error: unknown) => {
    throw new NoGpuError(`WebGPU refused the ${what}: ${sentence(error)}`);
  });
  if (found) return found.result;
  const silent = new NoGpuError(`WebGPU gave no ${what} within ${ANSWER_MS / 1000} seconds.`);
  unanswered.set(gpu, silent);
  void asking
    .then(tooLate)
    .catch(() => undefined)
    .finally(() => unanswered.delete(gpu));
  throw silent;
}

/** What an error says, with a full stop. */
function sentence(error: unknown): string {
  const words = (error instanceof Error && error.message ? error.message : String(error)).trim();
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Describes an adapter; older browsers tell nothing of theirs. */
function adapterWords(adapter: GPUAdapter): AdapterWords {
  const info = (adapter as Partial<GPUAdapter>).info;
  const { vendor = '', architecture = '', device = '', description = '', subgroupMinSize = 0 } = info ?? {};
  const fallback = [info, adapter].some(
    (place) => (place as { readonly isFallbackAdapter?: boolean } | undefined)?.isFallbackAdapter === true,
  );
  return {
    name: description || [vendor, architecture].filter(Boolean).join(' ') || 'unnamed adapter',
    identity: [vendor, architecture, device, description].join('|'),
    lanes: subgroupMinSize,
    software: fallback || SOFTWARE.test(`${vendor} ${architecture} ${description}`),
  };
}
