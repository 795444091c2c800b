import { ENV_NAMES, type EnvName } from '../src/config/environments.ts';
import { type Scene, sceneOf } from '../src/page/stage/scene.ts';
import { SCENE_SEEDS } from '../src/page/stage/scenes.ts';
import { expertPlay, subject } from './envs/checker.ts';

/** Every environment's scene worked out again: the scripted expert's episode, under the preset that has the environment's name. */
export function expertScenes(): Record<EnvName, Scene> {
  return Object.fromEntries(
    ENV_NAMES.map((env) => [env, sceneOf(expertPlay(subject(env), SCENE_SEEDS[env]).episode.view())]),
  ) as Record<EnvName, Scene>;
}
