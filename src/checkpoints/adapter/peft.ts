import { FormatError, type FormatProblem } from '../../formats/formatProblem.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../formats/safetensors.ts';
import { type AdapterConfig, adapted, adapterParameters } from '../../model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../../model/architecture.ts';
import { bytesOf, FILES, type Files } from '../checkpointFolder.ts';
import { adapterCard } from './adapterCard.ts';
import { PEFT_CONFIG, type PeftConfig, peftConfigFile, readPeftConfig } from './peftConfig.ts';

/** The file of a PEFT adapter's folder that has its numbers. */
export const PEFT_WEIGHTS = 'adapter_model.safetensors';

/** What PEFT puts before the names of a causal language model's tensors. */
const PREFIX = 'base_model.model.';

const REMEDY =
  'Choose the folder that PEFT saved (save_pretrained), and the model that the adapter was trained beside.';

/**
 * Adapters as the folder of a PEFT adapter, which `PeftModel.from_pretrained` opens: numbers as float32, and where the model has a value head that in a file
 * beside, which PEFT does not look at. `weights` has every tensor of `adapterParameters`; throws where one is missing.
 */
export function peftFiles(model: ModelConfig, adapters: AdapterConfig, weights: Weights, base: string | null): Files {
  const tensors = adapterParameters(model, adapters).map(({ name, shape }) => {
    const values = weights.get(name);
    if (!values) throw new Error(`peftFiles: got no ${name}; want it. Give every tensor of adapterParameters.`);
    return [name, { shape, values }] as const;
  });
  return peftFolder(new Map(tensors), adapters, base);
}

/** The same of tensors that know their shapes. */
export function peftFolder(
  learned: ReadonlyMap<string, SafeTensor>,
  adapters: AdapterConfig,
  base: string | null,
): Files {
  const [own, head] = [new Map<string, SafeTensor>(), new Map<string, SafeTensor>()];
  for (const [name, tensor] of learned) {
    if (name.startsWith('value_head.')) head.set(name, tensor);
    else own.set(`${PREFIX}${name}`, tensor);
  }
  const tensors = (of: ReadonlyMap<string, SafeTensor>) => new Uint8Array(encodeSafetensors(of, { format: 'pt' }));
  return new Map([
    [PEFT_CONFIG, bytesOf(peftConfigFile(adapters, base))],
    [PEFT_WEIGHTS, tensors(own)],
    [FILES.card, bytesOf(adapterCard(adapters, base))],
    ...(head.size > 0 ? [[FILES.valueHead, tensors(head)] as const] : []),
  ]);
}

/** An adapter's folder that was read. */
export interface PeftAdapter extends PeftConfig {
  readonly weights: Weights; // every tensor of `adapterParameters`, float32
}

/**
 * Reads the folder of a PEFT adapter for the model that it was trained beside. A value head that the model has and the folder has not is 0. Throws FormatError
 * as `readPeftConfig` does, and with all tensors that are missing, of another shape, more than the adapters have, or not finite.
 */
export function readPeft(model: ModelConfig, files: Files): PeftAdapter {
  const [config, numbers] = [PEFT_CONFIG, PEFT_WEIGHTS].map((name) => {
    const bytes = files.get(name);
    if (bytes) return bytes;
    const got = files.size === 0 ? 'no file' : [...files.keys()].slice(0, 6).join(', ');
    throw new FormatError([{ file: name, place: '', got, want: 'a file of this name', remedy: REMEDY }]);
  });
  const read = readPeftConfig(config!);
  const problems: FormatProblem[] = [];
  const wrong = (file: string, place: string, got: string, want: string) => {
    problems.push({ file, place, got, want, remedy: REMEDY });
  };
  const found = new Map(decodeSafetensors(numbers!, PEFT_WEIGHTS).tensors);
  const head = files.get(FILES.valueHead);
  const values = head ? decodeSafetensors(head, FILES.valueHead).tensors : null;
  const weights = new Map<string, Float32Array>();
  for (const { name, shape, size } of adapterParameters(model, read.adapters)) {
    const ofHead = name.startsWith('value_head.');
    const [file, key] = ofHead ? [FILES.valueHead, name] : [PEFT_WEIGHTS, `${PREFIX}${name}`];
    const tensor = ofHead ? values?.get(key) : found.get(key);
    const want = `[${shape.join(',')}]`;
    if (!ofHead) found.delete(key);
    if (tensor === undefined && ofHead && !values) weights.set(name, new Float32Array(size));
    else if (!tensor) wrong(file, key, 'no such tensor', want);
    else if (tensor.shape.join(',') !== shape.join(',')) wrong(file, key, `[${tensor.shape.join(',')}]`, want);
    else if (!(tensor.values instanceof Float32Array)) wrong(file, key, 'whole numbers', 'F32, F16 or BF16');
    else if (!tensor.values.every(Number.isFinite)) wrong(file, key, 'a number that is not finite', 'finite numbers');
    else weights.set(name, tensor.values);
  }
  const layers = `adapters of ${read.adapters.targets.join(', ')} in ${model.num_hidden_layers} layers, ${2 * adapted(model, read.adapters).length} tensors`;
  for (const key of found.keys()) wrong(PEFT_WEIGHTS, key, 'a tensor more', layers);
  if (problems.length > 0) throw new FormatError(problems);
  return { ...read, weights };
}
