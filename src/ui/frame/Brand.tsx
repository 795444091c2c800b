import { useAddress } from '../../page/view/address.ts';

export function Brand() {
  const address = useAddress();
  return (
    <h1 className="brand line gap-4 one-line large">
      <a href={address('stage')} title="Start screen">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="22" height="22" />
        Rollout Playground
      </a>
    </h1>
  );
}
