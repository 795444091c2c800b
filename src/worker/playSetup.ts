import type { RunConfig } from '../config/config.ts';
import type { Facts } from '../facts/facts.ts';
import { tongueOf } from '../session/environment.ts';
import type { Host } from '../session/host.ts';
import type { Laid } from '../session/playTable.ts';
import type { Session } from '../session/session.ts';
import { factsFor } from '../session/shippedFacts.ts';

/** What a person plays with beside the knobs: the facts that are asked about and the tongue that is spoken, of the checkpoint where the run is beside one. */
export async function laidFor(
  host: Host,
  ownFacts: Facts | null,
  session: Pick<Session, 'base' | 'tongue'> | null,
  config: RunConfig,
): Promise<Laid> {
  const [facts, tongue] = await Promise.all([
    factsFor(config, ownFacts, host.shippedFile),
    config.model === 'checkpoint' && session?.base
      ? session.base.tongue
      : tongueOf(config, session?.tongue ?? null, host),
  ]);
  return { facts, tongue };
}
