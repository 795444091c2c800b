import { FIELDS, type Field, type FieldName } from '../../config/fields.ts';
import { environmentTitle } from '../../domain/serverAddress.ts';
import { presetLabel } from '../../page/knobs/presetTitle.ts';
import type { Run } from '../../runs/run.ts';
import { hashOf } from '../../page/address/hash.ts';
import { knobDifferences, nearestPreset, presetConfig } from '../../page/knobs/configStore.ts';
import { knobValueText } from '../../config/knobText.ts';

/** Shown if there is only one run: the knobs that differ from its preset, and what to compare it with next. */
export function SingleRun({ run }: { readonly run: Run }) {
  const preset = nearestPreset(run.begun);
  const presetKnobs = presetConfig(preset);
  const label = presetLabel(preset, run.environment && environmentTitle(run.environment));
  const changed = knobDifferences(presetKnobs, run.begun);
  const { seed } = run.begun;
  const next = seed < FIELDS.seed.max ? seed + 1 : seed - 1;
  return (
    <>
      <section className="only-run" aria-labelledby="only-run-knobs">
        <h3 id="only-run-knobs">Configuration</h3>
        {changed.length === 0 ? (
          <p className="soft">
            {label}, unchanged, seed {seed}.
          </p>
        ) : (
          <table className="ruled">
            <thead>
              <tr>
                <th scope="col">Knob</th>
                <th scope="col">{label}</th>
                <th scope="col">#{run.id}</th>
              </tr>
            </thead>
            <tbody>
              {changed.map((name) => (
                <tr key={name}>
                  <th scope="row">{labelOf(name)}</th>
                  <td>{knobValueText(name, presetKnobs)}</td>
                  <td>{knobValueText(name, run.begun)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section className="only-run" aria-labelledby="only-run-next">
        <h3 id="only-run-next">Next</h3>
        <ul className="ways">
          <li>
            <a href={hashOf({ ...run.begun, seed: next })}>The same with seed {next}</a>: how much was luck? Two runs
            that differ only in the seed are drawn as a band.
          </li>
          <li>
            <a href="#/learn">An exercise</a> explains one idea and trains the run that shows it.
          </li>
          <li>
            <a href="#/experiments">Experiments</a> train several configurations on several seeds each, and show
            intervals.
          </li>
        </ul>
      </section>
    </>
  );
}

function labelOf(name: FieldName): string {
  const field: Field = FIELDS[name];
  return field.label;
}
