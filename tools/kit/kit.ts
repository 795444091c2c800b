import { fork } from 'node:child_process';
import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { readFlags } from '../../tools/flags.mjs';
import {
  type AdapterReport,
  goldensPassed,
  REPORT_KIND,
  REPORT_VERSION,
  type ReportPart,
  reportText,
} from '../../src/domain/adapterReport.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { callerPath, writableFolder, writeWhole } from '../../src/cli/files.ts';
import type { AdapterFacts, PartResult } from './kitResults.ts';
import { kitParts, type KitPart, SELECTABLE_PARTS, runPart } from './kitParts.ts';
import { program } from '../../src/cli/program.ts';

const USAGE = `node run.mjs [--quick] [--only NAME,…] [--out DIR]
Tries this machine's GPU for some minutes: kernels against PyTorch's numbers, speed beside the adapter's ceilings, three runs, a lost
device. Needs no network. Writes adapter-report.json and adapter-report.txt to DIR, the folder you called from without it.
  --quick   seconds instead of minutes each: smaller sizes, fewer repetitions
  --only    parts by the beginning of their names: ${SELECTABLE_PARTS.join(', ')}
The exit code is 0 where all golden numbers are within bounds, 1 where not, 2 where the call was wrong.`;
const ONE_PART = '--one-part';
const MAX_OUTPUT = 400; // characters kept of the last error output of a part that crashed

/**
 * The kit: runs every part in a process of its own, so that a part that crashes or never ends doesn't stop the others.
 */
async function main(args: readonly string[]): Promise<number> {
  const { quick, only, out } = readArguments(args);
  await writableFolder(out);
  const parts: ReportPart[] = [];
  const run = async (part: KitPart) => {
    process.stderr.write(`${part.name} … `);
    const { facts, ...reportPart } = await runInOwnProcess(part, quick);
    parts.push(reportPart);
    console.error(`${reportPart.outcome}${reportPart.why && `: ${reportPart.why}`}`);
    return facts;
  };
  const isWanted = (name: string) => only.length === 0 || only.some((each) => name.startsWith(each));
  const facts = await run({ name: 'adapter', seconds: 60 });
  for (const part of kitParts(facts ?? null, quick)) {
    if (!isWanted(part.name)) continue;
    if (facts && part.skipReason === undefined) await run(part);
    else {
      const why = part.skipReason ?? 'No adapter was found.';
      parts.push({ name: part.name, outcome: 'not run', seconds: null, why, numbers: null });
    }
  }
  const report: AdapterReport = {
    ...{ kind: REPORT_KIND, version: REPORT_VERSION, date: new Date().toISOString(), writtenBy: 'kit' },
    platform: `Node ${process.version}, ${platform()} ${release()} ${arch()}, ${cpus()[0]?.model ?? 'unnamed CPU'}`,
    cores: availableParallelism(),
    ...{ adapter: facts?.adapter ?? '', software: facts?.software ?? null, parts },
  };
  const text = reportText(report);
  await writeWhole(`${out}/adapter-report.json`, `${JSON.stringify(report, null, 1)}\n`);
  await writeWhole(`${out}/adapter-report.txt`, text);
  console.log(text);
  return goldensPassed(report) ? 0 : 1;
}

function readArguments(args: readonly string[]) {
  const flags = { quick: 'switch', only: 'value', out: 'value' } as const;
  const { given, problems } = readFlags(args, flags, { words: 0 });
  const only = given.only?.split(',') ?? [];
  const unknownName = only.find(
    (name) => !SELECTABLE_PARTS.some((known) => known.startsWith(name) || name.startsWith(known)),
  );
  if (unknownName !== undefined) {
    const what = `--only ${unknownName === '' ? 'has an empty name' : `can’t be ${unknownName}`}.`;
    problems.push({ what, remedy: `Use some of ${SELECTABLE_PARTS.join(', ')}.` });
  }
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return { quick: given.quick ?? false, only, out: callerPath(given.out ?? '.') };
}

/** Runs a part in a process of its own, and ends it after the part's time limit. */
function runInOwnProcess(part: KitPart, quick: boolean): Promise<ReportPart & { readonly facts?: AdapterFacts }> {
  const began = performance.now();
  const [, file = ''] = process.argv;
  return new Promise((resolve) => {
    const child = fork(file, [ONE_PART], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let result: PartResult | null = null;
    let output = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, 1000 * part.seconds);
    child.stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MAX_OUTPUT)));
    child.on('message', (message: PartResult) => {
      result = message;
      child.kill('SIGKILL'); // Dawn keeps a process alive
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const seconds = (performance.now() - began) / 1000;
      const partFields = { name: part.name, seconds };
      if (result) resolve({ ...partFields, ...result });
      else if (timedOut)
        resolve({ ...partFields, outcome: 'timed out', why: `It took longer than ${part.seconds} s.`, numbers: null });
      else {
        const lastLines = output.trim().split('\n').slice(-3).join(' | ');
        const why = `Its process ended with ${signal ?? `code ${code ?? 'none'}`}. ${lastLines}`.trim();
        resolve({ ...partFields, outcome: 'crashed', why, numbers: null });
      }
    });
    child.send({ part, quick });
  });
}

/** Runs the part that the parent process sends, and sends back its result. */
function serveOnePart(): void {
  process.on('disconnect', () => process.exit(1));
  process.once('message', ({ part, quick }: { readonly part: KitPart; readonly quick: boolean }) => {
    const send = (found: PartResult) => process.send?.(found);
    runPart(part.name, quick).then(send, (error: unknown) => {
      send({ outcome: 'crashed', why: error instanceof Error ? error.message : String(error), numbers: null });
    });
  });
}

if (process.argv[2] === ONE_PART) serveOnePart();
else await program('kit', USAGE, main);
