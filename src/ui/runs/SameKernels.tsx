import { findKernelSet } from '../../config/kernelChoice.ts';
import { hashOf } from '../address/hash.ts';
import { withKernels } from '../address/sameKernels.ts';
import '../styles/export.css';
import type { Run } from '../../runs/run.ts';

/** What it takes to have a run's numbers again, where `auto` chose its kernels: the address that names them. */
export function SameKernels({ run: { begun, kernels } }: { readonly run: Pick<Run, 'begun' | 'kernels'> }) {
  const named = withKernels(begun, findKernelSet(kernels?.['set']));
  if (!named) return null;
  return (
    <p className="small faint same-kernels">
      For identical bits, use the same adapter and the same kernels: <a href={hashOf(named)}>kernels={named.kernels}</a>
    </p>
  );
}
