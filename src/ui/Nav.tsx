import { useConfig } from './config-store.ts';
import { hashOf } from './hash.ts';
import { useRoute } from './route.ts';

/** The screens, as links: the address is what opens them. */
export function Nav() {
  const route = useRoute();
  const lab = useConfig((s) => hashOf(s.wanted));
  return (
    <nav className="screens" aria-label="Screens">
      <a href={lab} aria-current={route === 'lab' ? 'page' : undefined}>
        Lab
      </a>
      <a href="#/ablate" aria-current={route === 'ablate' ? 'page' : undefined}>
        Experiments
      </a>
    </nav>
  );
}
