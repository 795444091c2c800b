import type { PresetName } from '../../config/presets.ts';
import type { TheirSettings } from '../../handover/theirSettings.ts';
import type { RolloutRecord } from '../../rollouts/rolloutRecord.ts';
import { visible } from '../../base/visible.ts';
import { goTo } from '../address/route.ts';
import type { FileWithPath } from '../browser/filesWithPaths.ts';
import { notice } from '../browser/notices.ts';
import { choosePreset, editKnobs } from '../knobs/configStore.ts';

/** The nearest task by what a rollout's text has; the first that fits. */
const TASKS: readonly (readonly [PresetName, RegExp])[] = [
  ['sokoban', /sokoban/i],
  ['frozen-lake', /frozen.?lake|\b(?:hole|slippery)\b/i],
  ['bandit', /\bbandit\b/i],
  ['calculator', /calculat|<python>|```python|\bpython\b|code_interpreter/i],
  ['multi-hop-grpo', /<search>|\bsearch\b|retriev|wikipedia|<information>/i],
];
const OTHER_TASK: PresetName = 'number-hunt';
const SETTINGS_FILE = /\.(?:ya?ml|json)$/i;
const MAX_SETTINGS_BYTES = 1e6;

/** The preset whose task is nearest to a rollout's. */
function nearestTask({ segments }: Pick<RolloutRecord, 'segments'>): PresetName {
  const text = segments.map((segment) => segment.text).join('\n');
  return TASKS.find(([, words]) => words.test(text))?.[0] ?? OTHER_TASK;
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
export async function tryHere(record: Pick<RolloutRecord, 'segments'>, files: readonly FileWithPath[]): Promise<void> {
  const found = await settingsAmong(files);
  choosePreset(nearestTask(record));
  if (found) editKnobs(found.knobs);
  goTo('#/lab');
  notice(found ? takenOver(found) : NOTHING_TAKEN);
}

const NOTHING_TAKEN =
  'The lab has the task that is nearest to this rollout’s. To take over the run’s settings, too, drop its folder with verl’s config.yaml, or a YAML or JSON file of TRL’s settings, and press “Try this here” again.';

function takenOver({ path, read, different }: TheirSettings & { readonly path: string }): string {
  const rest =
    different.length === 0
      ? ''
      : ` No knob stands for the value of ${different.map((name) => visible(name, 60)).join(', ')}.`;
  return `The lab has the nearest task, with ${read.length} settings of ${visible(path, 60)}.${rest} Learning rate and batch size stay the preset’s: those of a large model don’t fit.`;
}
