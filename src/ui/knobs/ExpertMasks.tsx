import { FIELDS, type FieldName } from '../../config/config.ts';
import { useConfig } from './configStore.ts';
import { agentOnly, isPlace, PLACES, type Place } from '../../config/masks.ts';
import { Knob } from './Knob.tsx';

/** The six places a mask acts, each free to leave its switch. */
export function ExpertMasks({ names }: { readonly names: readonly FieldName[] }) {
  return (
    <details className="subgroup" data-group="expert">
      <summary>
        <h3>Expert: where each mask acts</h3>
      </summary>
      {names.map((name) => (
        <div key={name} className="place">
          <Knob name={name} />
          {isPlace(name) && <Resolved place={name} />}
        </div>
      ))}
    </details>
  );
}

/** What a place comes to now. */
function Resolved({ place }: { readonly place: Place }) {
  const only = useConfig((s) => agentOnly(s.wanted, place));
  const follows = useConfig((s) => s.wanted[place] === 'follow');
  return (
    <p className="faint">
      {follows ? `Follows the ${FIELDS[PLACES[place]].label.toLowerCase()}, now ` : 'Now '}
      <b>{only ? 'on' : 'off'}</b>: {only ? 'the agent’s words only' : 'the tool’s words too'}
    </p>
  );
}
