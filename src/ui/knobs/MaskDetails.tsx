import { FIELDS, type FieldName } from '../../config/config.ts';
import { ExpertMasks } from './ExpertMasks.tsx';
import { MaskInvariants } from './MaskInvariants.tsx';
import { MaskTable } from './MaskTable.tsx';
import '../styles/masks.css';

const EXPERT = (Object.keys(FIELDS) as FieldName[]).filter((name) => FIELDS[name].group === 'expert');

/** The masks at full length. */
export function MaskDetails() {
  return (
    <div className="mask-details">
      <MaskTable />
      <MaskInvariants />
      <ExpertMasks names={EXPERT} />
    </div>
  );
}
