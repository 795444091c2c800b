import { isRecord } from '../base/jsonRecord.ts';

/** The value of `kind` in an adapter report. The page and the kit write the format described in docs/adapter-report.md. */
export const REPORT_KIND = 'rollout-playground adapter report';
export const REPORT_VERSION = 2;

/** How a part ended: as expected, with wrong numbers, with an error, at its time limit, or it was never started. */
export const OUTCOMES = ['passed', 'failed', 'crashed', 'timed out', 'not run'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface ReportPart {
  readonly name: string; // such as "goldens: workgroup"
  readonly outcome: Outcome;
  readonly seconds: number | null; // null: not measured
  readonly why: string; // why it didn't pass, in a sentence; '' if it passed
  readonly numbers: unknown; // the measured numbers by name; null if there are none
}

/** Everything that was measured on one adapter, in the form in which its owner sends it. */
export interface AdapterReport {
  readonly kind: typeof REPORT_KIND;
  readonly version: typeof REPORT_VERSION;
  readonly date: string; // ISO 8601
  readonly writtenBy: 'page' | 'kit';
  readonly platform: string; // browser, or Node and operating system
  readonly cores: number;
  readonly adapter: string; // its name in the driver; '' if no adapter was found
  readonly software: boolean | null; // true: the adapter computes on the CPU; null: unknown
  readonly versions?: Readonly<Record<string, string>>; // commits of this project, and versions of engines beside it
  readonly parts: readonly ReportPart[];
}

/** A sentence that names the field. Null if the report is valid. */
export function reportProblem(value: unknown): string | null {
  if (!isRecord(value)) return 'not an object';
  const { kind, version, date, writtenBy, platform, cores, adapter, software, parts } = value;
  if (kind !== REPORT_KIND) return `kind must be ${REPORT_KIND}`;
  if (version !== REPORT_VERSION) return `version must be ${REPORT_VERSION}`;
  if (typeof date !== 'string' || Number.isNaN(Date.parse(date))) return 'date must be a date';
  if (writtenBy !== 'page' && writtenBy !== 'kit') return 'writtenBy must be page or kit';
  if (typeof platform !== 'string' || typeof adapter !== 'string') return 'platform and adapter must be texts';
  if (!Number.isInteger(cores)) return 'cores must be a whole number';
  if (software !== null && typeof software !== 'boolean') return 'software must be true, false or null';
  if (!Array.isArray(parts)) return 'parts must be a list';
  for (const [i, part] of parts.entries()) {
    const problem = partProblem(part);
    if (problem !== null) return `parts[${i}].${problem}`;
  }
  return null;
}

function partProblem(part: unknown): string | null {
  if (!isRecord(part)) return 'not an object';
  if (typeof part['name'] !== 'string' || part['name'] === '') return 'name must be a text';
  if (!OUTCOMES.some((outcome) => outcome === part['outcome'])) return `outcome must be one of ${OUTCOMES.join(', ')}`;
  const { seconds, why } = part;
  if (seconds !== null && !(typeof seconds === 'number' && seconds >= 0)) return 'seconds must be a number or null';
  if (typeof why !== 'string' || (why === '') !== (part['outcome'] === 'passed'))
    return 'why must be a reason unless it passed';
  return 'numbers' in part ? null : 'numbers must be there, or null';
}

/** Whether at least one golden part was run and all of those passed. The kit's exit code reports this. */
export function goldensPassed({ parts }: Pick<AdapterReport, 'parts'>): boolean {
  const goldens = parts.filter(({ name, outcome }) => name.startsWith('goldens') && outcome !== 'not run');
  return goldens.length > 0 && goldens.every(({ outcome }) => outcome === 'passed');
}

/** A report as one page of text: its parts, how each ended, and a summary of its numbers. */
export function reportText(report: AdapterReport): string {
  const { date, platform, cores, adapter, software, parts } = report;
  const kind = software === null ? '' : software ? ' (a CPU behind a GPU’s interface)' : ' (hardware)';
  const width = Math.max(...parts.map(({ name }) => name.length));
  const lines = parts.map(({ name, outcome, seconds, why, numbers }) => {
    const took = seconds === null ? '' : `${seconds.toFixed(1)} s`;
    return `${outcome.padEnd(9)}  ${name.padEnd(width)}  ${took.padStart(8)}  ${why || numbersText(numbers)}`.trimEnd();
  });
  const checked = parts.some(({ name, outcome }) => name.startsWith('goldens') && outcome !== 'not run');
  const goldens = goldensPassed(report) ? 'all within bounds' : checked ? 'NOT all within bounds' : 'none checked';
  const bad = parts.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'not run').length;
  return [
    `Rollout Playground on ${adapter || 'no adapter'}${kind}`,
    `${platform}, ${cores} cores, ${date}`,
    '',
    ...lines,
    '',
    `goldens: ${goldens}; parts that did not pass: ${bad}`,
    '',
  ].join('\n');
}

/** The summary that a part's numbers contain; '' if there is none. */
function numbersText(numbers: unknown): string {
  return isRecord(numbers) && typeof numbers['summary'] === 'string' ? numbers['summary'] : '';
}
