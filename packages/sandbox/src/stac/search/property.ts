import type { Json } from '../../json.js';
import type { Scene } from '../catalogue/scene.js';

/** The name without the place where it stands: servers disagree on whether clients may write it. */
export function plainName(name: string): string {
  return name.startsWith('properties.') ? name.slice('properties.'.length) : name;
}

/** A property as filters and sorting see it: null where a scene has none. */
export function propertyOf(scene: Scene, name: string): Json {
  if (name === 'id') return scene.id;
  if (name === 'collection') return scene.collection;
  const { properties } = scene;
  return Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;
}
