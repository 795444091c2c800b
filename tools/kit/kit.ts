import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import path from 'node:path';
import { readFlags } from '../../tools/flags.mjs';
import { openDawn } from '../dawn.ts';
import {
  type AdapterReport,
  goldensPassed,
  REPORT_KIND,
  REPORT_VERSION,
  type ReportPart,
  reportText,
} from '../../src/domain/adapterReport.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { callerPath, namesIn, readWhole, writableFolder, writeWhole } from '../../src/cli/files.ts';
import { nodeHost } from '../../src/cli/nodeHost.ts';
import { type Contestant, FULL_PARTS, fullParts, fullRunner } from './fullRunner.ts';
import { KitBrowser } from './kitBrowser.ts';
import { type KitPart, type PartResult, type PartRunner, runLimited, runParts } from './kitPart.ts';
import { crashed, kitParts, SELECTABLE_PARTS, runPart } from './kitParts.ts';
import { program } from '../../src/cli/program.ts';
import { speedTable } from './speedTable.ts';

const USAGE = `node run.mjs [--quick] [--only NAME,…] [--out DIR] [--full [--model FILE] [--minutes N]]
Tries this machine's GPU for some minutes: kernels against PyTorch's numbers, speed beside the adapter's ceilings, three runs, a lost
device. Needs no network. Writes adapter-report.json and adapter-report.txt to DIR, the folder you called from without it.
  --quick    seconds instead of minutes each: smaller sizes, fewer repetitions
  --only     parts by the beginning of their names: ${SELECTABLE_PARTS.join(', ')}; with --full also W1, G1, U1, products, …
  --full     in one session of Chromium instead of Node: this engine and those packed beside it in turns, whole runs of the page.
             CHROME_PATH names the browser. Takes under 8 minutes on a GPU and ends with a table
  --model    SmolLM2-135M-Instruct as a GGUF file, to train adapters beside it
  --minutes  all parts together; on a GPU 7.5 without it, in software without a limit
The exit code is 0 where all golden numbers are within bounds, 1 where not, 2 where the call was wrong.`;
const ONE_PART = '--one-part';
const MAX_OUTPUT = 400; // characters kept of the last error output of a part that crashed
const GOLDEN_FOLDER = 'golden'; // in the kit
const GPU_MINUTES = 7.5;

/**
 * The kit: runs every part apart, so that one that crashes or never ends doesn't stop the others. The report is written
 * anew after each part.
 */
async function main(args: readonly string[]): Promise<number> {
  const { quick, only, out, full, model, minutes } = readArguments(args);
  await writableFolder(out);
  const browser = full ? await KitBrowser.open('.', model) : null;
  const { versions, contestants } = readContents();
  const options = { contestants, fixtures: namesIn(GOLDEN_FOLDER), quick, withModel: model !== null };
  const runner = browser ? fullRunner(browser, options) : processRunner(quick);
  const now = () => performance.now();
  process.stderr.write('adapter … ');
  const { facts, ...adapter } = await runLimited({ name: 'adapter', seconds: 90 }, runner, now);
  const parts: ReportPart[] = [];
  const report = (): AdapterReport => ({
    ...{ kind: REPORT_KIND, version: REPORT_VERSION, date: new Date().toISOString(), writtenBy: 'kit' },
    platform: `${browser ? `${browser.version}, ` : ''}Node ${process.version}, ${platform()} ${release()} ${arch()}, ${cpus()[0]?.model ?? 'unnamed CPU'}`,
    cores: availableParallelism(),
    ...{ adapter: facts?.adapter ?? '', software: facts?.software ?? null, versions, parts },
  });
  const record = async (part: ReportPart) => {
    parts.push(part);
    console.error(`${part.name}: ${part.outcome}${part.why && `: ${part.why}`}`);
    await writeWhole(`${out}/adapter-report.json`, `${JSON.stringify(report(), null, 1)}\n`);
  };
  await record(adapter);
  const wanted = (facts && full ? fullParts(facts, quick, model !== null) : kitParts(facts ?? null, quick)).filter(
    ({ name }) => only.length === 0 || only.some((each) => name.startsWith(each)),
  );
  const runnable = facts ? wanted : wanted.map((part) => ({ ...part, skipReason: 'No adapter was found.' }));
  const totalMinutes = minutes ?? (full && facts?.software === false ? GPU_MINUTES : Infinity);
  await runParts(runnable, runner, record, { now, totalSeconds: 60 * totalMinutes });
  await browser?.end();
  const text = reportText(report());
  await writeWhole(`${out}/adapter-report.txt`, text);
  console.log(text);
  if (full) console.log(speedTable(report()));
  return goldensPassed(report()) ? 0 : 1;
}

/** What scripts/kit.mjs has packed: commits and versions, and which engines lie in the kit. */
function readContents() {
  const contents: unknown = JSON.parse(readFileSync('contents.json', 'utf8'));
  return contents as {
    readonly versions: Readonly<Record<string, string>>;
    readonly contestants: readonly Contestant[];
  };
}

function readArguments(args: readonly string[]) {
  const flags = {
    ...({ quick: 'switch', only: 'value', out: 'value' } as const),
    ...({ full: 'switch', model: 'value', minutes: 'value' } as const),
  };
  const { given, problems } = readFlags(args, flags, { words: 0 });
  const only = given.only?.split(',') ?? [];
  const known = given.full ? [...SELECTABLE_PARTS, ...FULL_PARTS] : SELECTABLE_PARTS;
  const unknownName = only.find((name) => !known.some((each) => each.startsWith(name) || name.startsWith(each)));
  if (unknownName !== undefined) {
    const what = `--only ${unknownName === '' ? 'has an empty name' : `can’t be ${unknownName}`}.`;
    problems.push({ what, remedy: `Use some of ${known.join(', ')}.` });
  }
  const model = given.model === undefined ? null : callerPath(given.model);
  if (model !== null && !existsSync(model)) {
    problems.push({ what: `--model can’t be ${given.model}.`, remedy: 'Use a GGUF file that is there.' });
  }
  const minutes = given.minutes === undefined ? null : Number(given.minutes);
  if (minutes !== null && !(minutes > 0)) {
    problems.push({ what: `--minutes can’t be ${given.minutes}.`, remedy: 'Use a number above 0.' });
  }
  if (!given.full && (model ?? minutes) !== null) problems.push({ what: '--model and --minutes need --full.' });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return {
    quick: given.quick ?? false,
    only,
    out: callerPath(given.out ?? '.'),
    full: given.full ?? false,
    model,
    minutes,
  };
}

/** Runs each part in a process of its own. */
function processRunner(quick: boolean): PartRunner {
  const [, file = ''] = process.argv;
  let child: ChildProcess | null = null;
  return {
    run: (part) =>
      new Promise((resolve) => {
        const own = fork(file, [ONE_PART], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
        child = own;
        let result: PartResult | null = null;
        let output = '';
        own.stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MAX_OUTPUT)));
        own.on('message', (message: PartResult) => {
          result = message;
          own.kill('SIGKILL'); // Dawn keeps a process alive
        });
        own.on('close', (code, signal) => {
          const lastLines = output.trim().split('\n').slice(-3).join(' | ');
          resolve(
            result ?? crashed(`Its process ended with ${signal ?? `code ${code ?? 'none'}`}. ${lastLines}`.trim()),
          );
        });
        own.send({ part, quick });
      }),
    stop: () => void child?.kill('SIGKILL'),
  };
}

/** Runs the part that the parent process sends, and sends back its result. */
function serveOnePart(): void {
  process.on('disconnect', () => process.exit(1));
  process.once('message', ({ part, quick }: { readonly part: KitPart; readonly quick: boolean }) => {
    const send = (found: PartResult) => process.send?.(found);
    runHere(part.name, quick).then(send, (error: unknown) => {
      send(crashed(error instanceof Error ? error.message : String(error)));
    });
  });
}

async function runHere(name: string, quick: boolean): Promise<PartResult> {
  const gpu = await openDawn();
  if (!gpu)
    return crashed(
      `Dawn does not load on ${process.platform} ${process.arch}: this kit was packed for another platform, or for --full.`,
    );
  const readFixture = (file: string) => readWhole(path.join(GOLDEN_FOLDER, file));
  return runPart(name, quick, { gpu, host: await nodeHost(false), fixtures: namesIn(GOLDEN_FOLDER), readFixture });
}

if (process.argv[2] === ONE_PART) serveOnePart();
else await program('kit', USAGE, main);
