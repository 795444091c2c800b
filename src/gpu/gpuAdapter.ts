/** Thrown if there is no WebGPU, no adapter, no device, or a device that can't compile the kernels; the message says which. */
export class NoGpuError extends Error {
  override readonly name: string = 'NoGpuError';
}

/** Time limit, in ms, for a browser to return an adapter or a device. A slower browser counts as having no GPU. */
const ANSWER_TIMEOUT_MS = 5000;

/** Features to request if the adapter has them. None is required. */
const OPTIONAL_FEATURES: readonly GPUFeatureName[] = ['subgroups', 'shader-f16', 'timestamp-query'];

const SOFTWARE_ADAPTER = /swiftshader|llvmpipe|lavapipe|software|basic render/i;

/** Browsers that have not answered in time, and the error for that. Later calls throw it instead of waiting again. */
const timeoutErrors = new WeakMap<GPU, NoGpuError>();

interface AdapterDescription {
  readonly name: string; // in words for a person
  readonly identity: string; // everything by which the browser distinguishes adapters
  readonly lanes: number; // threads of its smallest subgroup; 0 if unknown
  readonly software: boolean; // a CPU behind a GPU's interface
}

/** Waits for `work` for at most `ms` ms. Returns its result, or null if it takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<{ readonly result: T } | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work.then((result) => ({ result })), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Uses the adapter's own limits. Throws NoGpuError if there is none, the browser refuses it, or does not answer. */
export async function openDevice(
  gpu: GPU | undefined,
): Promise<{ readonly device: GPUDevice; readonly description: AdapterDescription }> {
  const navigatorGpu = webGpu(gpu);
  const adapter = await findAdapter(navigatorGpu);
  const requestDevice = () =>
    adapter.requestDevice({
      requiredFeatures: OPTIONAL_FEATURES.filter((feature) => adapter.features.has(feature)),
      requiredLimits: {
        maxBufferSize: adapter.limits.maxBufferSize,
        maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
        maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize,
      },
    });
  const device = await answerInTime(navigatorGpu, 'device', requestDevice, (late) => late.destroy());
  return { device, description: describe(adapter) };
}

/** Whether `openDevice` would use a CPU behind a GPU's interface. Opens no device. Throws NoGpuError. */
export async function offersSoftwareOnly(gpu: GPU | undefined): Promise<boolean> {
  return describe(await findAdapter(webGpu(gpu))).software;
}

function webGpu(gpu: GPU | undefined): GPU {
  if (!gpu) throw new NoGpuError('This browser offers no WebGPU (navigator.gpu is missing).');
  return gpu;
}

async function findAdapter(gpu: GPU): Promise<GPUAdapter> {
  const adapter = await answerInTime(gpu, 'adapter', () => gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (!adapter) throw new NoGpuError('WebGPU found no adapter.');
  return adapter;
}

/** Throws NoGpuError if it fails or takes too long. A late answer goes to `onLate`. */
async function answerInTime<T>(
  gpu: GPU,
  what: string,
  request: () => Promise<T>,
  onLate: (answer: T) => void = () => undefined,
): Promise<T> {
  const earlierError = timeoutErrors.get(gpu);
  if (earlierError) throw earlierError;
  const pending = (async () => request())(); // turns an immediate throw into a rejection
  const answer = await within(ANSWER_TIMEOUT_MS, pending).catch((error: unknown) => {
    throw new NoGpuError(`WebGPU refused the ${what}: ${sentence(error)}`);
  });
  if (answer) return answer.result;
  const timeout = new NoGpuError(`WebGPU gave no ${what} within ${ANSWER_TIMEOUT_MS / 1000} seconds.`);
  timeoutErrors.set(gpu, timeout);
  void pending
    .then(onLate)
    .catch(() => undefined)
    .finally(() => timeoutErrors.delete(gpu));
  throw timeout;
}

/** An error's message, ending with a full stop. */
function sentence(error: unknown): string {
  const message = (error instanceof Error && error.message ? error.message : String(error)).trim();
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** Describes an adapter. Older browsers give no information about it. */
function describe(adapter: GPUAdapter): AdapterDescription {
  const info = (adapter as Partial<GPUAdapter>).info;
  const { vendor = '', architecture = '', device = '', description = '', subgroupMinSize = 0 } = info ?? {};
  const fallback = [info, adapter].some(
    (source) => (source as { readonly isFallbackAdapter?: boolean } | undefined)?.isFallbackAdapter === true,
  );
  return {
    name: description || [vendor, architecture].filter(Boolean).join(' ') || 'unnamed adapter',
    identity: [vendor, architecture, device, description].join('|'),
    lanes: subgroupMinSize,
    software: fallback || SOFTWARE_ADAPTER.test(`${vendor} ${architecture} ${description}`),
  };
}
