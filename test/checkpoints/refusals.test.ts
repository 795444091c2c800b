import { beforeAll, describe, expect, it, test } from 'vitest';
import { FILE_NAMES, type Files } from '../../src/checkpoints/checkpointFolder.ts';
import { foreignCheckpoint } from '../../src/checkpoints/foreignModel.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { parseConfig } from '../../src/config/config.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import { checkpointOf, type Tensors } from '../../src/runs/checkpoint.ts';
import { type PackedRun, packedRun } from '../../src/runs/packed.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { open, packed, TINY, to } from './runs.ts';
import { processorClock } from '../processorClock.ts';

const text = (words: string) => new TextEncoder().encode(words);

/** A safetensors file of this header and so many bytes of numbers. */
function tensorsFile(header: string, numbers: number): Uint8Array {
  const json = text(header);
  const file = new Uint8Array(8 + json.length + numbers);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
}
const entry = (begin: number, end: number, dtype = 'F32', shape = `[${(end - begin) / 4}]`) =>
  `{"dtype":"${dtype}","shape":${shape},"data_offsets":[${begin},${end}]}`;

describe('a safetensors file', () => {
  // prettier-ignore
  it.each<[string, Uint8Array, string]>([
    ['with a name twice', tensorsFile(`{"a":${entry(0, 4)},"a":${entry(4, 8)}}`, 8), 'x: header: found the name a twice'],
    ['with metadata that is none', tensorsFile('{"__metadata__":[]}', 0), 'x: found __metadata__ that is not an object'],
    ['in another encoding', tensorsFile('{"a":\u00e9}', 0).fill(0xe9, 13), 'x: header: found bytes that are not UTF-8'],
  ])('%s is refused by name', (_, file, message) => {
    expect(() => decodeSafetensors(file, 'x')).toThrow(ProblemError);
    expect(() => decodeSafetensors(file, 'x')).toThrow(message);
  });

  it('of 100,000 tensors reads, and one called __proto__ is a tensor like any other', () => {
    const names = Array.from({ length: 1e5 }, (_, i) => `"t${i}":${entry(4 * i, 4 * i + 4)}`);
    const seconds = processorClock();
    expect(decodeSafetensors(tensorsFile(`{${names.join(',')}}`, 4e5)).tensors.size).toBe(1e5);
    expect(seconds()).toBeLessThan(20); // about 0.3; by pairs it would be minutes
    const { tensors } = decodeSafetensors(tensorsFile(`{"__proto__":${entry(0, 4)}}`, 4));
    expect([...tensors.keys()]).toEqual(['__proto__']);
  });

  it('of halves, brain floats, long integers and bytes is widened exactly', () => {
    const halves = [0x0000, 0x3c00, 0xc000, 0x0001, 0x7bff, 0x3555, 0x7c00, 0xfc00, 0x8001];
    const wide = [0, 1, -2, 2 ** -24, 65504, 0.333251953125, Infinity, -Infinity, -(2 ** -24)];
    const file = tensorsFile(
      `{"h":${entry(0, 18, 'F16', '[9]')},"b":${entry(18, 22, 'BF16', '[2]')},"l":${entry(22, 38, 'I64', '[2]')},"u":${entry(38, 40, 'U8', '[2]')}}`,
      40,
    );
    const view = new DataView(file.buffer, file.length - 40);
    for (const [i, half] of halves.entries()) view.setUint16(2 * i, half, true);
    view.setUint16(18, 0x3fc0, true);
    view.setUint16(20, 0xff7f, true);
    view.setBigInt64(22, -5n, true);
    view.setBigInt64(30, 7n, true);
    view.setUint8(39, 200);
    const { tensors, dtypes } = decodeSafetensors(file);
    expect(tensors.get('h')?.values).toEqual(Float32Array.from(wide));
    expect(tensors.get('b')?.values).toEqual(Float32Array.of(1.5, -3.3895313892515355e38));
    expect(tensors.get('l')?.values).toEqual(Int32Array.of(-5, 7));
    expect(tensors.get('u')?.values).toEqual(Uint8Array.of(0, 200));
    expect([...dtypes.values()]).toEqual(['F16', 'BF16', 'I64', 'U8']);
  });
});

describe('a zip', () => {
  const plain = new Map([['a.txt', text('hello hello hello hello')]]);
  const directory = (zip: Uint8Array) => zip.findIndex((_, i) => new DataView(zip.buffer).getUint32(Math.min(i, zip.length - 4), true) === 0x02014b50); // prettier-ignore
  /** The archive with bytes of its one directory entry replaced. */
  const forged = (at: number, ...bytes: number[]) => {
    const zip = zipOf(plain);
    zip.set(bytes, directory(zip) + at);
    return zip;
  };
  const named = (...names: string[]) => zipOf(new Map(names.map((name) => [name, text(name)])));

  // prettier-ignore
  it.each<[string, Uint8Array, string]>([
    ['with a name that climbs', named('../x'), 'z.zip: ../x: found a name that leads elsewhere'],
    ['with an absolute name', named('/etc/x'), 'a name that leads elsewhere'],
    ['with a name twice', named('a', 'A'), 'z.zip: A: found the name twice'],
    ['with an encrypted file', forged(8, 1, 0), 'z.zip: a.txt: found an encrypted file'],
    ['that declares a gigabyte', forged(24, 0, 0, 0, 0x40), 'bytes in an archive of'],
    ['that declares less than it unfolds to', forged(24, 3, 0, 0, 0), 'found more than the 3 bytes it declares'],
    ['whose checksum is another', forged(16, 1, 2, 3, 4), 'contents that don’t match the checksum'],
    ['that is none', text('hello'), 'z.zip: found no end of an archive'],
  ])('%s is refused by name', (_, zip, message) => {
    expect(() => filesOfZip('z.zip', zip)).toThrow(ProblemError);
    expect(() => filesOfZip('z.zip', zip)).toThrow(message);
  });

  it('whose files all lie in one folder is read without it', () => {
    expect([...filesOfZip('z.zip', named('run/a', 'run/b', '__MACOSX/run/a')).keys()]).toEqual(['a', 'b']);
  });
});

let run: PackedRun;
let files: Files;
beforeAll(async () => {
  const running = await open({});
  await to(running, 2);
  run = await packed(running);
  files = checkpointFiles(run);
});
const without = (...names: string[]) => new Map([...files].filter(([name]) => !names.includes(name)));
const config = (changes: object) =>
  text(
    JSON.stringify({ ...(JSON.parse(new TextDecoder().decode(files.get(FILE_NAMES.config))) as object), ...changes }),
  );
/** Another program's folder with files replaced. */
const foreign = (changes: Readonly<Record<string, Uint8Array>>): Files =>
  new Map([...without(FILE_NAMES.manifest), ...Object.entries(changes)]);
const weights = (change: (tensors: Map<string, SafeTensor>) => unknown): Uint8Array => {
  const tensors = new Map(decodeSafetensors(files.get(FILE_NAMES.weights) ?? new Uint8Array()).tensors);
  change(tensors);
  return new Uint8Array(encodeSafetensors(tensors));
};

describe('a folder', () => {
  // prettier-ignore
  it.each<[string, () => Files, string[]]>([
    ['of ours without a file', () => without(FILE_NAMES.training, FILE_NAMES.metrics), ['training_state.safetensors: there is no such file', 'metrics.jsonl: there is no such file']],
    ['with another’s weights', () => new Map([...files, [FILE_NAMES.weights, weights((t) => t.set('model.norm.weight', { shape: [16], values: new Float32Array(16) }))]]), ['playground.json: checkpoint: found It was damaged after it was saved']],
    ['with a changed curve', () => new Map([...files, [FILE_NAMES.metrics, text('{"update":1}\n')]]), ['playground.json: sum: found ']],
    ['of a GPT-2', () => foreign({ [FILE_NAMES.config]: config({ architectures: ['GPT2LMHeadModel'], hidden_act: 'gelu', rope_scaling: { rope_type: 'yarn', factor: 2 } }) }), ['architectures: found GPT2LMHeadModel', 'hidden_act: found gelu, expected silu', 'rope_scaling: found an object, expected default, as in rope_parameters']],
    ['without dimensions', () => foreign({ [FILE_NAMES.config]: text('{"architectures":["LlamaForCausalLM"],"hidden_act":"silu"}') }), ['hidden_size: found nothing, expected a whole number above 0', 'num_hidden_layers: found nothing']],
    ['whose files do not belong together', () => foreign({ [FILE_NAMES.config]: config({ hidden_size: 18, vocab_size: 40 }) }), ['model.safetensors: model.embed_tokens.weight: found [39,16], expected [40,18]', 'tokenizer.json: model.vocab: found 39 words, expected 40']],
    ['with NaN among its weights', () => foreign({ [FILE_NAMES.weights]: weights((t) => t.set('model.norm.weight', { shape: [16], values: new Float32Array(16).fill(NaN) })) }), ['model.norm.weight: found a number that is not finite']],
    ['with a tensor more and one less', () => foreign({ [FILE_NAMES.weights]: weights((t) => t.delete('model.norm.weight') && t.set('model.layers.0.self_attn.q_norm.weight', { shape: [8], values: new Float32Array(8) })) }), ['model.norm.weight: found no such tensor, expected [16]', 'q_norm.weight: found an unknown tensor']],
    ['with endless layers', () => foreign({ [FILE_NAMES.config]: config({ num_hidden_layers: 1e9 }) }), ['those of 1000000000 layers']],
    ['in shards', () => new Map([...without(FILE_NAMES.manifest, FILE_NAMES.weights), ['model.safetensors.index.json', text('{}')]]), ['model.safetensors: the weights are in shards (model.safetensors.index.json). Save the model with save_pretrained']],
    ['with byte pairs', () => foreign({ [FILE_NAMES.tokenizer]: text('{"model":{"type":"BPE"}}') }), ['tokenizer.json: model.type: found BPE, expected WordLevel']],
    ['with a name twice', () => foreign({ [FILE_NAMES.config]: text('{"vocab_size":1,"vocab_size":2}') }), ['config.json: found the name vocab_size twice']],
    ['that is empty', () => new Map(), ['config.json: there is no such file', 'model.safetensors: there is no such file', 'tokenizer.json: there is no such file']],
  ])('%s is refused with all that is wrong', (_, make, messages) => {
    const given = make();
    expect(() => readCheckpointFiles(given)).toThrow(ProblemError);
    for (const message of messages) expect(() => readCheckpointFiles(given)).toThrow(message);
  });
});

/** Other weights of the same shapes. */
const shifted = (weights: Tensors) =>
  new Map(Array.from(weights, ([name, values]) => [name, values.map((x, i) => x + 0.1 * (i % 2))] as const));

test('another program’s weights that fit begin a run, are its reference, and go on bit for bit after they were saved', async () => {
  const read = readCheckpointFiles(foreign({}));
  if (read.kind !== 'foreign') throw new Error('want another program’s model');
  const knobs = parseConfig({ ...TINY, width: 32, layers: 2, critic: 'separate', klCoef: 0.1 });
  const begun = foreignCheckpoint(read.model, knobs, run.checkpoint.vocabulary);
  expect(begun.begun).toMatchObject({ width: 16, layers: 1, ffn: 16, warmStart: 'none' }); // the model's own sizes
  const first = packedRun({
    ...runWithDefaults({ id: 0, name: 'x', started: run.started, begun: begun.begun }),
    checkpoint: begun,
  });
  const running = await open({}, first);
  expect(running.session.policy.model.hidden_size).toBe(16);
  await to(running, 2);
  const files2 = checkpointFiles(await packed(running));
  await to(running, 3);
  const again = readCheckpointFiles(files2);
  if (again.kind !== 'ours') throw new Error('want ours');
  const resumed = await open({}, again.run);
  await to(resumed, 3);
  expect(await resumed.session.parametersHash()).toBe(await running.session.parametersHash());
  // klCoef pulls towards the weights it began with: without them the reference is another, and so the next update
  const { start, ...rest } = again.run.checkpoint;
  expect(start?.get('model.norm.weight')).toEqual(read.model.weights.get('model.norm.weight'));
  const elsewhere = await open({}, { ...again.run, checkpoint: checkpointOf({ ...rest, start: shifted(start!) }) });
  await to(elsewhere, 3);
  expect(await elsewhere.session.parametersHash()).not.toBe(await running.session.parametersHash());
});

test('another program’s weights in another environment, of another kind or size are refused with each reason', () => {
  const odd = foreign({
    [FILE_NAMES.config]: config({ rms_norm_eps: 1e-6, rope_theta: 5e5, rope_parameters: { rope_theta: 5e5 } }),
  });
  const read = readCheckpointFiles(odd);
  if (read.kind !== 'foreign') throw new Error('want another program’s model');
  const refused = () =>
    foreignCheckpoint(read.model, parseConfig({ ...TINY, env: 'frozen-lake' }), ['<pad>', '<bos>', 'up']);
  for (const message of [
    'config.json: rms_norm_eps: found 0.000001, expected 0.00001',
    'config.json: rope_theta: found 500000, expected 10000',
    'tokenizer.json: id 2 of 39: found <think>, expected up, the words of frozen-lake, 3 of them',
  ]) {
    expect(refused).toThrow(message);
  }
});
