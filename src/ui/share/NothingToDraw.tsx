export const NothingToDraw = () => <p>No rollout is in view yet. Run training, or open the lab with its recording.</p>;
