import { findKernelSet } from '../../config/kernelChoice.ts';
import { hashOf } from '../address/hash.ts';
import { withKernels } from '../address/sameKernels.ts';
import '../styles/export.css';
import type { RunRecord } from './record.ts';

/** What it takes to have a run's numbers again, where `auto` chose its kernels: the address that names them. */
export function SameKernels({ run: { config, kernels } }: { readonly run: Pick<RunRecord, 'config' | 'kernels'> }) {
  const named = withKernels(config, findKernelSet(kernels?.['set']));
  if (!named) return null;
  return (
    <p className="small faint same-kernels">
      Bits repeat on the same adapter with the same kernels: <a href={hashOf(named)}>kernels={named.kernels}</a>
    </p>
  );
}
