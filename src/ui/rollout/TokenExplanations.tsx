import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Source } from '../run/inspect.ts';
import '../styles/why.css';

const Attention = lazy(() => import('./Attention.tsx').then((m) => ({ default: m.Attention })));
const Why = lazy(() => import('../update/Why.tsx').then((m) => ({ default: m.Why })));

/** What costs the run some work to tell of a token: asked for only while it is open. */
export function TokenExplanations({ source, t }: { readonly source: Source; readonly t: number }) {
  return (
    <>
      <Opened title="Why did it move?">
        <Why source={source} t={t} />
      </Opened>
      <Opened title="Attention">
        <Attention source={source} t={t} />
      </Opened>
    </>
  );
}

function Opened({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="deeper" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <Suspense fallback={<p className="faint">Loading…</p>}>{children}</Suspense>}
    </details>
  );
}
