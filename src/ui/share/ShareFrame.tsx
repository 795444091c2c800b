import { useState } from 'react';
import { currentRoute } from '../address/route.ts';
import { type Panel, PANELS } from '../embed/panels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { CopyField } from './CopyField.tsx';
import { frameSnippet } from './frameSnippet.ts';
import { linkedRun } from './linkedRun.ts';
import { OwnEnvironment } from './OwnEnvironment.tsx';
import { pageAddress, sharedHash } from './sharedAddress.ts';

/** One panel for another page: the code that shows it there. */
export function ShareFrame() {
  const inLearn = currentRoute() === 'learn';
  const [panel, setPanel] = useState<Panel>(inLearn ? 'exercise' : currentRoute() === 'stage' ? 'stage' : 'rollout');
  useConfig((s) => s.wanted);
  const address = `${pageAddress()}?embed=${panel}${sharedHash(linkedRun())}`;
  return (
    <>
      <p>Paste this into a page of yours. It shows one panel, with a link to the whole page.</p>
      <div className="segments" role="group" aria-label="Panel">
        {(Object.keys(PANELS) as Panel[])
          .filter((each) => each !== 'exercise' || inLearn)
          .map((each) => (
            <button key={each} type="button" aria-pressed={each === panel} onClick={() => setPanel(each)}>
              {PANELS[each].label}
            </button>
          ))}
      </div>
      <OwnEnvironment />
      <CopyField key={panel} text={frameSnippet(panel, address)} label="Code" copy="Copy code" lines={5} />
      <p className="small">
        <a href={address} target="_blank" rel="noopener">
          See the panel alone
        </a>
      </p>
    </>
  );
}
