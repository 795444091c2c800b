import { baseName } from '../base/baseName.ts';
import { checksumOf } from '../base/checksum.ts';
import { environmentSum } from '../domain/environmentFile.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { Facts } from '../facts/facts.ts';
import { type CheckpointTensors, checkpointTensors } from './checkpoint.ts';
import type { PackedRun } from './packed.ts';
import type { Points } from './series.ts';

/** The value of a manifest's `format`, by which a manifest of this project is recognised. */
export const MANIFEST_FORMAT = 'rollout-playground-checkpoint';
/** Version of the layout of a stored run's parts. */
export const MANIFEST_VERSION = 1;

/** The browser's database has these parts unchanged; an exported folder has a file for each. */
export interface StoredRun {
  readonly manifest: object; // playground.json: everything that is in no other part, and checksums
  readonly tensors: CheckpointTensors; // model.safetensors and training_state.safetensors
  readonly points: ReadonlyMap<MetricName, Points>; // metrics.jsonl
  readonly texts: RunTexts;
}

/** Text files that a run has in addition to its manifest. Most runs have none. */
export interface RunTexts {
  readonly environment?: string; // environment.ts or environment.py, written by a person
  readonly tokenizer?: string; // tokenizer.json of a text run
  readonly template?: string; // chat_template.jinja of a text run
}

/** Splits a run into its stored parts. `withChecksum` adds the checksum to the manifest. */
export function storedRun(run: PackedRun): StoredRun {
  const { checkpoint, environment, points } = run;
  const { chatTokenizer } = checkpoint;
  return {
    manifest: manifestOf(run),
    tensors: checkpointTensors(checkpoint),
    points,
    texts: {
      ...(environment && { environment: environment.text }),
      ...(chatTokenizer && { tokenizer: chatTokenizer.tokenizer, template: chatTokenizer.template }),
    },
  };
}

/** The manifest of a run, without the checksum. JSON preserves its numbers bit for bit. */
export function manifestOf(run: PackedRun): object {
  const { id, name, started, backend, begun, config, changes, skipped, kernels, fork, update } = run;
  const { checkpoint, environment, facts, solved, seconds } = run;
  const { networks, rewardModel, start: _, earlier: _earlier, chatTokenizer, ...plain } = checkpoint;
  const { pairs, clicks, observed, fits } = rewardModel?.memory ?? { pairs: 0, clicks: 0, observed: 0, fits: 0 };
  return {
    ...{ format: MANIFEST_FORMAT, version: MANIFEST_VERSION },
    run: {
      ...{ id, name, started, backend, begun, config, changes, solved: solved && [...solved], skipped },
      ...{ facts: facts && withoutPath(facts), kernels, fork, update, seconds },
      environment: environment ? { name: environment.name, sum: environmentSum(environment) } : undefined,
    },
    checkpoint: {
      ...plain,
      ...(chatTokenizer && { chatTokenizer: { stops: chatTokenizer.stops } }),
    },
    steps: { policy: networks.policy.steps, critic: networks.critic?.steps ?? null },
    rewardModel: rewardModel && { steps: rewardModel.network.steps, pairs, clicks, observed, fits },
  };
}

/** Covers the manifest and `separateData`, which is stored outside it without a checksum of its own, such as the curves. */
export function withChecksum(manifest: object, separateData: unknown): object {
  return { ...manifest, sum: manifestChecksum(manifest, separateData) };
}

export function manifestChecksum(manifest: object, separateData: unknown): string {
  return checksumOf({ ...manifest, sum: null, metrics: separateData });
}

/** Removes the folder from the facts' file name, because it is private. */
export function withoutPath(facts: Facts): Facts {
  return { ...facts, source: baseName(facts.source) };
}
