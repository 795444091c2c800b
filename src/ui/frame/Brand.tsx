import { useAddress } from '../../page/view/address.ts';

/** The project's icon and name at the top of every screen; a link to the start screen. */
export function Brand() {
  const address = useAddress();
  return (
    <h1 className="brand">
      <a href={address('stage')} title="Start screen">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="22" height="22" />
        Rollout Playground
      </a>
    </h1>
  );
}
