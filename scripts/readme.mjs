// npm run readme: writes the tables of docs/knobs.md, from src/config/fields.ts and src/config/fieldDocs.ts, of docs/hand-over.md, from
// src/handover/mapping.ts, and of docs/results.md and the README, of what is learned, from the runs in
// public/experiments. test/readme.test.ts fails when they are out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const beginOf = (/** @type {string} */ name) =>
  `<!-- ${name}: written by \`npm run readme\` -->\n\n<!-- prettier-ignore-start -->\n\n`;
const END = '\n<!-- prettier-ignore-end -->\n';

const EFFECT = { live: 'next step', next: 'next batch', restart: 'restart' };

/** @param {import('../src/config/fields.ts').Field} field */
function accepts(field) {
  if ('choices' in field) return field.choices.map((choice) => `\`${choice}\``).join(' ');
  return `${field.min} … ${field.max}${field.integer ? '' : ', fractions too'}`;
}

/**
 * @param {Readonly<Record<string, import('../src/config/fields.ts').Field>>} fields
 * @param {Readonly<Record<string, string>>} docs what each means
 * @returns {string}
 */
export function knobTable(fields, docs) {
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  const rows = Object.entries(fields).map(
    ([name, field]) =>
      `| \`${name}\` | ${cell(field.label)} | \`${field.default}\` | ${accepts(field)} | ${EFFECT[field.when]} | ${cell(docs[name] ?? '')} |\n`,
  );
  const head = '| name | label | default | accepts | takes effect | meaning |\n| --- | --- | --- | --- | --- | --- |\n';
  return head + rows.join('');
}

/**
 * What each preset learns, beside the cheaper explanations: a line a preset, mean ± standard deviation over seeds. Presets whose
 * difference comes from the very same runs of the other arm are one result, and share a line.
 * @param {import('../src/experiments/resultTable.ts').Table} table of the experiment `learning`
 * @param {Pick<import('../src/config/fields.ts').RunConfig, 'env' | 'updates'>} defaults of a preset that names none
 * @param {Pick<typeof import('../src/domain/evaluationSet.ts'), 'evaluationSetOf'> & Pick<typeof import('../src/base/inferenceWords.ts'), 'pValueText'>} words
 */
export function learningTable({ experiment, rows }, defaults, { evaluationSetOf, pValueText }) {
  const at = (/** @type {string} */ key) => experiment.columns.findIndex((column) => column.key === key);
  const head = ['preset', 'updates', 'tasks', 'seeds', 'before RL', 'after RL', 'imitation alone', 'RL − imitation', 'imitating the expert', 'simple rule', 'naive RAG', 'random play', 'expert']; // prettier-ignore
  const lines = rows.flatMap((row) => {
    if (!row.difference) return [];
    const [imitated, expert] = ['imitation', 'expert'].map((kind) =>
      rows.find(({ arm }) => arm.key === `${row.arm.key}-${kind}`),
    );
    const cell = (/** @type {string} */ key, of = row) => share(of.cells[at(key)] ?? null);
    const tasks = row.cells[at('tasks')]?.mean ?? NaN;
    const set = 'set' in row.arm ? row.arm.set : {};
    const all = evaluationSetOf({ env: set.env ?? defaults.env }) === 'all';
    const same = JSON.stringify([row.difference, imitated?.cells[at('after')]]);
    const cells = [`\`${row.arm.key}\``, set.updates ?? defaults.updates, `${tasks}${all ? ' (all)' : ''}`, row.runs, cell('before'), cell('after'), cell('after', imitated), difference(row.difference, pValueText), cell('after', expert), cell('rule'), cell('rag'), cell('chance'), cell('expert')].map(String); // prettier-ignore
    return [{ same, cells }];
  });
  const results = [...new Set(lines.map(({ same }) => same))].map((result) => {
    const alike = lines.filter(({ same }) => same === result);
    return head.map((_, i) => [...new Set(alike.map(({ cells }) => cells[i] ?? ''))].join(' · '));
  });
  const body = results.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  return `| ${head.join(' | ')} |\n| ${head.map((_, i) => (i === 0 ? '---' : '---:')).join(' | ')} |\n${body}`;
}

/**
 * RL beside imitation, rejection sampling and distillation: a line a task, success in greedy play / sampled. Bold: the experiment's
 * own test finds the sampled success different from RL's.
 * @param {import('../src/experiments/resultTable.ts').Table} table of the experiment `imitation`
 */
export function imitationTable({ experiment, rows }) {
  const mean = (/** @type {typeof rows[number] | undefined} */ row, /** @type {string} */ key) =>
    short(row?.cells[experiment.columns.findIndex((column) => column.key === key)]?.mean ?? NaN);
  const lines = rows.flatMap(({ arm: { key } }) => {
    const name = /^(.*)-rl$/.exec(key)?.[1];
    if (name === undefined) return [];
    const ways = ['rl', 'sft', 'rft', 'opd'].map((way) => {
      const row = rows.find(({ arm }) => arm.key === `${name}-${way}`);
      const bold = row?.difference && row.difference.claim !== 'unclear' ? '**' : '';
      return `${mean(row, 'after')} / ${bold}${mean(row, 'sampled')}${bold}`;
    });
    return [`| \`${name}\` | ${mean(rows.find(({ arm }) => arm.key === key), 'before')} | ${ways.join(' | ')} |\n`]; // prettier-ignore
  });
  return `| task | before, sampled | RL | SFT | RFT | OPD |\n| --- | ---: | ---: | ---: | ---: | ---: |\n${lines.join('')}`;
}

/** The presets of the README's table: one of each kind of task that ships, those where RL does not help among them. */
const IN_README = /** @type {const} */ ([
  ['number-hunt', 'Find a hidden number from “higher” and “lower”'],
  ['multi-hop', 'Follow two facts through a graph, by search'],
  ['calculator', 'Compute with a calculator'],
  ['document-search', 'Answer from real sentences, by search'],
  ['frozen-lake', 'Cross a slippery lake'],
  ['sokoban', 'Push a box onto its target'],
]);

/**
 * The README's results: task, success before and after, that of imitation, seconds, seeds.
 * @param {import('../src/experiments/resultTable.ts').Table} table of the experiment `learning`
 * @param {typeof import('../src/config/presetCards.ts').PRESET_CARDS} cards
 */
export function resultsTable({ experiment, rows }, cards) {
  const column = (/** @type {string} */ key) => experiment.columns.findIndex((each) => each.key === key);
  const lines = IN_README.map(([preset, task]) => {
    const of = (/** @type {string} */ arm, /** @type {string} */ key) =>
      share(rows.find((row) => row.arm.key === arm)?.cells[column(key)] ?? null);
    const { seconds = NaN, seeds = NaN } = cards[preset].result ?? {};
    return `| ${task} (\`${preset}\`) | ${of(preset, 'before')} → ${of(preset, 'after')} | ${of(`${preset}-imitation`, 'after')} | ${seconds} | ${seeds} |\n`;
  });
  return `| task | success before → after RL | imitation alone | seconds | seeds |\n| --- | ---: | ---: | ---: | ---: |\n${lines.join('')}`;
}

/** A share without its leading nought. @param {number} x @param {string} [plus] */
function short(x, plus = '') {
  const text = Math.abs(x).toFixed(2).replace(/^0\./, '.');
  return `${x < 0 && Number(text) !== 0 ? '−' : plus}${text}`;
}

/** @param {import('../src/base/statistics.ts').Summary | null} summary */
function share(summary) {
  if (!summary || summary.n === 0) return '–';
  return short(summary.mean) + (summary.sd >= 0.005 ? ` ± ${short(summary.sd)}` : '');
}

/**
 * @param {import('../src/base/statistics.ts').PairedComparison} paired
 * @param {typeof import('../src/base/inferenceWords.ts').pValueText} pValueText
 */
function difference({ mean, interval, claim, p, corrected }, pValueText) {
  const between = interval ? ` [${short(interval.low, '+')}, ${short(interval.high, '+')}]` : '';
  const numbers = `${short(mean, '+')}${between}`;
  if (claim !== 'unclear') return `**${numbers}**`;
  // what would be told alone, and is not told as one of several, says by which p
  return `${numbers}, p ${pValueText(p < 0.05 ? corrected : p)}: cannot tell`;
}

/**
 * What becomes of each knob in verl and TRL.
 * @param {typeof import('../src/handover/mapping.ts').COUNTERPARTS} mapping
 * @param {typeof import('../src/handover/mapping.ts').counterpartText} counterpartText
 */
export function handoverTable(mapping, counterpartText) {
  const cell = (/** @type {import('../src/handover/mapping.ts').Counterpart} */ counterpart) => {
    const code =
      'keys' in counterpart ? counterpart.keys.map((key) => `\`${key}\``).join(' ') : counterpartText(counterpart);
    return 'note' in counterpart ? `${code} (${counterpart.note})` : code;
  };
  const rows = Object.entries(mapping).map(
    ([knob, { verl, trl }]) => `| \`${knob}\` | ${cell(verl)} | ${cell(trl)} |\n`,
  );
  return `| knob | verl | TRL, \`GRPOConfig\` |\n| --- | --- | --- |\n${rows.join('')}`;
}

/**
 * A page with one of its tables replaced.
 * @param {string} page @param {string} name of the table @param {string} table
 */
export function withTable(page, name, table) {
  const mark = beginOf(name);
  const begin = page.indexOf(mark);
  const end = page.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`Want the lines\n${mark}${END}around the table of ${name}.`);
  return page.slice(0, begin) + mark + table + page.slice(end);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  const inRoot = (/** @type {string} */ name) => path.join(root, name);
  const [readme, results, knobs, handed] = /** @type {const} */ ([
    inRoot('README.md'),
    inRoot('docs/results.md'),
    inRoot('docs/knobs.md'),
    inRoot('docs/hand-over.md'),
  ]);
  const { runnerImport } = await import('vite'); // Node 20 cannot read TypeScript
  const load = async (/** @type {string} */ name) =>
    (await runnerImport(path.join(root, 'src', name), { root, configFile: false })).module;
  const { DEFAULTS, FIELDS } = /** @type {typeof import('../src/config/fields.ts')} */ (await load('config/fields.ts'));
  const { FIELD_DOCS } = /** @type {typeof import('../src/config/fieldDocs.ts')} */ (await load('config/fieldDocs.ts'));
  const { shippedTable } = /** @type {typeof import('../src/experiments/resultTable.ts')} */ (
    await load('experiments/resultTable.ts')
  );
  const { evaluationSetOf } = /** @type {typeof import('../src/domain/evaluationSet.ts')} */ (
    await load('domain/evaluationSet.ts')
  );
  const { parseResults } = /** @type {typeof import('../src/experiments/runResult.ts')} */ (
    await load('experiments/runResult.ts')
  );
  const tableOf = (/** @type {'learning' | 'imitation'} */ name) =>
    shippedTable(name, parseResults(readFileSync(inRoot(`public/experiments/${name}.jsonl`), 'utf8')).results);
  const learned = tableOf('learning');
  writeFileSync(knobs, withTable(readFileSync(knobs, 'utf8'), 'knobs', knobTable(FIELDS, FIELD_DOCS)));
  const { COUNTERPARTS, counterpartText } = /** @type {typeof import('../src/handover/mapping.ts')} */ (
    await load('handover/mapping.ts')
  );
  writeFileSync(
    handed,
    withTable(readFileSync(handed, 'utf8'), 'hand-over', handoverTable(COUNTERPARTS, counterpartText)),
  );
  const { pValueText } = /** @type {typeof import('../src/base/inferenceWords.ts')} */ (
    await load('base/inferenceWords.ts')
  );
  const table = learningTable(learned, DEFAULTS, { evaluationSetOf, pValueText });
  const page = withTable(readFileSync(results, 'utf8'), 'learning', table);
  writeFileSync(results, withTable(page, 'imitation', imitationTable(tableOf('imitation'))));
  const { PRESET_CARDS } = /** @type {typeof import('../src/config/presetCards.ts')} */ (
    await load('config/presetCards.ts')
  );
  const short = resultsTable(learned, PRESET_CARDS);
  writeFileSync(readme, withTable(readFileSync(readme, 'utf8'), 'results', short));
}
