import type { ModelCard } from '../../domain/modelCard.ts';
import { useAddress } from '../address/address.ts';
import { NoTemplate } from './TrainIt.tsx';

/** Leads from a model to the screen that trains it. */
export function TrainLink({ card }: { readonly card: ModelCard }) {
  const address = useAddress();
  if (card.template === 'none') return <NoTemplate />;
  return (
    <section className="panel stack" aria-labelledby="train-door">
      <h3 id="train-door">Train it</h3>
      <p className="small soft">Teach it a task with a tool. Small adapters learn; its own weights stay.</p>
      <a className="button" href={address('train')}>
        Choose a task
      </a>
    </section>
  );
}
