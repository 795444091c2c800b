import { findKernelSet } from '../../config/kernelChoice.ts';
import { hashOf } from '../../page/address/hash.ts';
import { withUsedKernels } from '../../page/address/sameKernels.ts';
import type { Run } from '../../runs/run.ts';
import './sameKernels.css';

/** Link to reproduce a run's exact numbers if `auto` chose its kernels: an address with the same kernels. */
export function SameKernels({ run: { begun, kernels } }: { readonly run: Pick<Run, 'begun' | 'kernels'> }) {
  const named = withUsedKernels(begun, findKernelSet(kernels?.['set']));
  if (!named) return null;
  return (
    <p className="small faint same-kernels">
      For identical bits, use the same adapter and the same kernels: <a href={hashOf(named)}>kernels={named.kernels}</a>
    </p>
  );
}
