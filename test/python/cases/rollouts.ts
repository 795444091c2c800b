import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ownLines } from '../../../src/rollouts/writeOwn.ts';
import { traceLines } from '../../../src/rollouts/writeTraces.ts';
import { shippedRecording } from '../../shippedRecording.ts';

/** Writes the recording's batches both ways, once as they are and once as a run with a reference would have them. */
const folder = process.argv[2] ?? '.';
const { batches, vocabulary, name, started } = shippedRecording();
const run = { id: 'run-1', name, started };
const judged = batches.map(({ batch, config }) => ({
  batch: { ...batch, refLogprobs: batch.logprobs.map((value, i) => value - (i % 5) / 8) },
  config: { ...config, klCoef: 0.1 },
}));
const write = (file: string, lines: readonly string[]) => writeFileSync(path.join(folder, file), lines.join(''));
write(
  'traces.jsonl',
  batches.flatMap((kept) => traceLines(kept, vocabulary, run)),
);
write(
  'with-reference.jsonl',
  judged.flatMap((kept) => traceLines(kept, vocabulary, run)),
);
write(
  'own.jsonl',
  judged.flatMap((kept) => ownLines(kept, vocabulary)),
);
