import { baseName } from '../base/baseName.ts';
import { checksumOf } from '../base/checksum.ts';
import { environmentSum } from '../domain/environmentFile.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { Facts } from '../facts/facts.ts';
import { type CheckpointTensors, checkpointTensors } from './checkpoint.ts';
import type { PackedRun } from './packed.ts';
import type { Points } from './series.ts';

/** Names this project's manifests, and the layout of the parts. */
export const FORMAT = 'rollout-playground-checkpoint';
export const VERSION = 1;

/**
 * A run as it is stored. The browser's database holds these parts as they are; an exported folder holds each as a file. `readStoredRun` makes the
 * same run of them again.
 */
export interface StoredRun {
  readonly manifest: object; // playground.json: all that no other part holds, and checksums
  readonly tensors: CheckpointTensors; // model.safetensors and training_state.safetensors
  readonly points: ReadonlyMap<MetricName, Points>; // metrics.jsonl
  readonly texts: RunTexts;
}

/** Texts that a run has beside its manifest; most have none. */
export interface RunTexts {
  readonly environment?: string; // environment.ts or environment.py, written by a person
  readonly tokenizer?: string; // tokenizer.json of a text run
  readonly template?: string; // its chat_template.jinja
}

/** The parts of a run; `sealed` adds the checksum to the manifest. */
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

/** The manifest of a run, without the checksum. Its numbers read back from JSON bit for bit. */
export function manifestOf(run: PackedRun): object {
  const { id, name, started, backend, begun, config, changes, skipped, kernels, fork, update } = run;
  const { checkpoint, environment, facts, solved } = run;
  const { networks, rewardModel, start: _, chatTokenizer, ...plain } = checkpoint;
  const { pairs, clicks, observed, fits } = rewardModel?.memory ?? { pairs: 0, clicks: 0, observed: 0, fits: 0 };
  return {
    ...{ format: FORMAT, version: VERSION },
    run: {
      ...{ id, name, started, backend, begun, config, changes, solved: solved && [...solved], skipped },
      ...{ facts: facts && withoutPath(facts), kernels, fork, update },
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

/**
 * The manifest with a checksum of itself and of `beside`: what is stored beside it and has no checksum of its own, such as the curves. Storage may
 * damage either.
 */
export function sealed(manifest: object, beside: unknown): object {
  return { ...manifest, sum: manifestSum(manifest, beside) };
}

/** The checksum that `sealed` adds. */
export function manifestSum(manifest: object, beside: unknown): string {
  return checksumOf({ ...manifest, sum: null, metrics: beside });
}

/** The facts with only the name of their file. Its folder is private. */
export function withoutPath(facts: Facts): Facts {
  return { ...facts, source: baseName(facts.source) };
}
