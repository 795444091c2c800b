import { ENV_NAMES, type OfferedEnv } from '../../config/environments.ts';
import type { PresetName } from '../../config/presets.ts';
import type { TheirSettings } from '../../handover/theirSettings.ts';
import type { RolloutRecord } from '../../rollouts/rolloutRecord.ts';
import { visible } from '../../base/visible.ts';
import { goTo } from '../address/route.ts';
import type { FileWithPath } from '../browser/filesWithPaths.ts';
import { notice } from '../browser/notices.ts';
import { choosePreset, editKnobs } from '../knobs/configStore.ts';

/** Environments by words of their prompts, calls and observations; the first that fits. Of foreign ones a tool says more than a topic. */
const WORDS: readonly (readonly [OfferedEnv, RegExp])[] = [
  ['sokoban', /sokoban|\bpush(?:ing)? (?:the|a) box|\bwalls\b.*\btarget\b.*\bbox\b/is],
  ['frozen-lake', /frozen.?lake|\bslippery\b|\bholes?\b.*\bgoal\b|\bgoal\b.*\bholes?\b|without falling into a hole/is],
  ['countdown', /\bcountdown\b|\bmake \d[\d ]* from \d|\busing the numbers \[/i],
  ['bandit', /\bbandits?\b|^\W*(?:<bos>\s*)?choose \w+ or \w+\W*$/im],
  ['number-hunt', /\bhidden number\b|\b(?:find|guess) (?:the|a) number\b|^<bos> find$/im],
  // arithmetic alone, as in gsm8k, or code alone is not near: the calculator is a tool
  [
    'calculator',
    /\bcalculator\b|\bcalculate\W{0,3}\(|"calculate"|<python>|code_interpreter|"python"|^<bos> compute\b|\bone operation a call\b/im,
  ],
  ['document-search', /<information>|\bpassages?\b|\bdocuments?\b|wikipedia|retriev|^<obs> [^<]+? : /im],
  ['multi-hop', /<search>|"search"|\bsearch\W?\(|\blook(?:s|ing)? up\b|^<bos> question\b/im],
];
/** Where programs, this one too, say which environment a rollout is of. */
const NAME_KEYS = ['env', 'data_source', 'env_name', 'env_id', 'environment'];
/** Presets that begin as the runs of others do. */
const PRESET_OF: Readonly<Partial<Record<OfferedEnv, PresetName>>> = { 'multi-hop': 'multi-hop-grpo' };
const SETTINGS_FILE = /\.(?:ya?ml|json)$/i;
const MAX_SETTINGS_BYTES = 1e6;

type Tried = Pick<RolloutRecord, 'segments' | 'task' | 'extras'>;

/** The preset whose task is nearest to a rollout's: by its environment's name, or else by words. Null if none is near. */
export function nearestTask({ segments, task, extras }: Tried): PresetName | null {
  const named = [task ?? '', ...extras.flatMap(([key, value]) => (NAME_KEYS.includes(key) ? [value] : []))];
  const isNamed = (env: OfferedEnv) => named.some((name) => name === env || new RegExp(`["/]${env}(?:"|$)`).test(name));
  const all = [task ?? '', ...segments.map((segment) => segment.text)].join('\n');
  // pieces of text with a blank between each two, as in traces of a language model trained here
  const text = all.includes('␣') ? all.replaceAll(' ', '').replaceAll('␣', ' ') : all;
  const env = ENV_NAMES.find(isNamed) ?? WORDS.find(([, words]) => words.test(text))?.[0];
  return env === undefined ? null : (PRESET_OF[env] ?? env);
}

/** The first of these files that has settings of verl or TRL. Null if there is none. */
async function settingsAmong(
  files: readonly FileWithPath[],
): Promise<(TheirSettings & { readonly path: string }) | null> {
  const [{ parse }, { theirSettings }] = await Promise.all([import('yaml'), import('../../handover/theirSettings.ts')]);
  for (const { path, file } of files) {
    if (!SETTINGS_FILE.test(path) || file.size > MAX_SETTINGS_BYTES) continue;
    try {
      const found = theirSettings(parse(await file.text())); // JSON is YAML
      if (found) return { ...found, path };
    } catch {
      // no YAML: another program's file
    }
  }
  return null;
}

/** Opens the lab with the nearest task, and with the knobs that the run's settings stand for, if there are some. */
export async function tryHere(record: Tried, files: readonly FileWithPath[]): Promise<void> {
  const found = await settingsAmong(files);
  const nearest = nearestTask(record);
  if (nearest) choosePreset(nearest);
  if (found) editKnobs(found.knobs);
  goTo('#/lab');
  notice(`${nearest ? NEAR : NONE_NEAR} ${found ? takenOver(found) : NOTHING_TAKEN}`);
}

const NEAR = 'The lab has the task that is nearest to this rollout’s.';
const NONE_NEAR = 'No task here is near to this rollout’s, so the lab keeps the one it had.';
const NOTHING_TAKEN =
  'To take over the run’s settings, too, drop its folder with verl’s config.yaml, or a YAML or JSON file of TRL’s settings, and press “Try this here” again.';

function takenOver({ path, read, different }: TheirSettings & { readonly path: string }): string {
  const rest =
    different.length === 0
      ? ''
      : ` No knob stands for the value of ${different.map((name) => visible(name, 60)).join(', ')}.`;
  return `It has ${read.length} settings of ${visible(path, 60)}.${rest} Learning rate and batch size stay the preset’s: those of a large model don’t fit.`;
}
