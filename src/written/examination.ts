import { type CheckReport, checkEnvironment } from './checker.ts';
import { classSettings, weightedReward } from './classSettings.ts';
import { type EnvironmentFile, EnvironmentFileError, type FileProblem } from '../domain/environmentFile.ts';
import type { Declaration } from './script/declaration.ts';
import { faultsOf, type Finding, type UntrainedPlay } from '../domain/checkFindings.ts';
import { declarationOf } from './languages.ts';
import { chancePlayer, EXPERT, type Play, playTasks } from './plays.ts';
import type { Sandbox } from './script/sandbox.ts';

/** A request from the page to the worker that checks an environment's file. */
export type ExaminerCommand =
  | { readonly type: 'read'; readonly file: EnvironmentFile } // does not run the file
  | {
      readonly type: 'check';
      readonly file: EnvironmentFile;
      readonly episodes: number;
      readonly seed: number;
      readonly exports: boolean; // true: if there is no fault, also write the environment for other frameworks
    }
  | { readonly type: 'export'; readonly file: EnvironmentFile; readonly examination: Examination }; // of a checked file

/** A message from the worker. While it checks, it reports progress many times a second. */
export type ExaminerEvent =
  | { readonly type: 'here' } // the worker's code is loaded
  | { readonly type: 'read'; readonly reading: Reading }
  | { readonly type: 'progress'; readonly share: number }
  | {
      readonly type: 'checked';
      readonly examination: Examination;
      readonly zip: Uint8Array<ArrayBuffer> | null; // null: no export was requested, or the file has a fault
    }
  | { readonly type: 'failed'; readonly message: string };

/** A file that can't be played: its first problem, and the others that were found. */
interface Unplayable {
  readonly problem: FileProblem;
  readonly others: readonly FileProblem[];
}

/** A file that was read but not run. */
export type Reading =
  | Unplayable
  | {
      readonly problem: null;
      readonly declared: Pick<Declaration, 'name' | 'description' | 'tools' | 'hasExpert' | 'mistakes'>;
    };

/** An episode to show: the first training task. */
export interface Sample {
  readonly by: 'expert' | 'chance';
  readonly play: Play;
  /**
   * The episode's reward: the sum of its parts, each times its weight. Null if a fault ended the episode before the
   * reward.
   */
  readonly reward: number | null;
}

export type Examination =
  | Unplayable
  | {
      readonly problem: null;
      readonly report: CheckReport;
      readonly sample: Sample;
      /** Mean reward of an untrained model, measured like `report.chance`. Null if it was not played. */
      readonly untrained: number | null;
      /** True if episodes ended at a fault, so only a few tasks were played. */
      readonly stopped: boolean;
    };

/**
 * The numbers of tasks in two short checks before the full one. A fault in a short check ends the whole check, because
 * most faults show at once, and some take a second each time.
 */
const FIRST_TASKS = [2, 20];

/** Reads a file without running it. */
export function readFile(file: EnvironmentFile): Reading {
  try {
    const { name, description, tools, hasExpert, mistakes } = declarationOf(file);
    return { problem: null, declared: { name, description, tools, hasExpert, mistakes } };
  } catch (error) {
    return problemsOf(error);
  }
}

/**
 * Checks a file and plays one episode to show. `openSandbox` opens a new sandbox with an environment. `untrained` plays
 * an untrained model and returns its mean reward; it is called only if the check found no fault. If it throws, the
 * error becomes a finding.
 */
export async function examine(
  file: EnvironmentFile,
  openSandbox: (declaration: Declaration) => Promise<Sandbox>,
  options: {
    readonly episodes: number;
    readonly seed: number;
    readonly onProgress: (share: number) => void;
    readonly untrained: () => Promise<UntrainedPlay>;
  },
): Promise<Examination> {
  try {
    const declaration = declarationOf(file);
    const { episodes, seed } = options;
    const openFile = () => openSandbox(declaration);
    const sample = await sampleOf(declaration, openFile, seed);
    for (const taskCount of FIRST_TASKS.filter((count) => count < episodes)) {
      const onProgress = () => options.onProgress(0); // shows that the check is running, but not how far it is
      const report = await checkEnvironment(declaration, openFile, { episodes: taskCount, seed, onProgress });
      if (report.broken) return { problem: null, report, sample, untrained: null, stopped: true };
    }
    const report = await checkEnvironment(declaration, openFile, options);
    return { problem: null, ...(await withUntrained(report, options.untrained)), sample, stopped: false };
  } catch (error) {
    return problemsOf(error);
  }
}

/**
 * Adds the mean reward of an untrained model to the report of a check. `untrained` is null if the check found a fault
 * or the model can't play. Warns if its episodes are too long for a whole batch. If it can't play for a reason that
 * doesn't lie in the file, such as the memory of this machine, that is a warning too, so it keeps nobody from an
 * export.
 */
export async function withUntrained(
  report: CheckReport,
  untrained: () => Promise<UntrainedPlay>,
): Promise<{ readonly report: CheckReport; readonly untrained: number | null }> {
  if (faultsOf(report).length > 0) return { report, untrained: null };
  try {
    const { reward, episodeTokens, prompts, defaultPrompts } = await untrained();
    if (prompts === defaultPrompts) return { report, untrained: reward };
    const smaller = `An episode can have ${episodeTokens} tokens. ${defaultPrompts} prompts of that length don’t fit into memory, so a run takes ${prompts} in a batch. ${whatToShorten(report)}`;
    return { report: withFinding(report, 'warning', smaller, null), untrained: reward };
  } catch (error) {
    if (error instanceof EnvironmentFileError) {
      const { what, line } = error.first;
      return { report: withFinding(report, 'fault', `Training can’t start: ${what}`, line), untrained: null };
    }
    const reason = error instanceof Error ? error.message : String(error);
    const text = `Training can’t start on this machine: ${reason} ${whatToShorten(report)}`;
    return { report: withFinding(report, 'warning', text, null), untrained: null };
  }
}

function withFinding(report: CheckReport, kind: Finding['kind'], text: string, line: number | null): CheckReport {
  return { ...report, findings: [...report.findings, { kind, text, line, episodes: 1 }] };
}

/** Advice for episodes that are too long, with the lengths that the check measured. */
function whatToShorten({ longestPrompt, longestReply, settings: { maxTurns } }: CheckReport): string {
  return longestReply > longestPrompt / maxTurns
    ? `To shorten it: a tool’s answer has up to ${longestReply} characters in each of up to ${maxTurns} turns. Let the tools say only what is new, or lower the number of turns.`
    : `To shorten it: the prompt has up to ${longestPrompt} characters.`;
}

async function sampleOf(declaration: Declaration, openSandbox: () => Promise<Sandbox>, seed: number): Promise<Sample> {
  const { tools, hasExpert } = declaration;
  const sandbox = await openSandbox();
  try {
    const settings = classSettings(sandbox.statics);
    const player = hasExpert ? EXPERT : chancePlayer(tools, seed);
    const [play] = playTasks(sandbox, tools, [{ split: 'train', index: 0 }], {
      seed,
      maxTurns: settings.maxTurns,
      player,
    });
    if (!play) throw new Error('no episode');
    return {
      by: hasExpert ? 'expert' : 'chance',
      play,
      reward: play.parts === null ? null : weightedReward(play.parts, settings),
    };
  } finally {
    sandbox.dispose();
  }
}

/** The problems in an EnvironmentFileError. Throws any other error. */
export function problemsOf(error: unknown): Unplayable {
  if (error instanceof EnvironmentFileError) {
    return { problem: error.first, others: error.others };
  }
  throw error;
}
