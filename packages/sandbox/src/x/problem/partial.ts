import type { JsonObject } from '../../json.js';
import { typeOf, XProblem } from './problem.js';

type Resource = 'tweet' | 'user' | 'list' | 'media';

/** What is missing from an answer that is otherwise there: an entry of `errors` beside `data`. */
export function notFound(resource: Resource, parameter: string, value: string): JsonObject {
  return {
    value,
    detail: `Could not find ${resource} with ${parameter}: [${value}].`,
    title: 'Not Found Error',
    resource_type: resource,
    parameter,
    resource_id: value,
    type: typeOf('resource-not-found'),
  };
}

export function notAuthorized(resource: Resource, parameter: string, value: string): JsonObject {
  const named = resource === 'tweet' ? 'Tweet' : resource;
  return {
    resource_id: value,
    parameter,
    resource_type: resource,
    section: 'data',
    title: 'Authorization Error',
    value,
    detail: `Sorry, you are not authorized to see the ${named} with ${parameter}: [${value}].`,
    type: typeOf('not-authorized-for-resource'),
  };
}

export function suspended(parameter: string, value: string): JsonObject {
  return {
    parameter,
    resource_id: value,
    value,
    detail: `User has been suspended: [${value}].`,
    title: 'Forbidden',
    resource_type: 'user',
    type: typeOf('resource-not-found'),
  };
}

export function fieldNotAuthorized(field: string, parameter: string, id: string): JsonObject {
  return {
    resource_id: id,
    parameter,
    resource_type: 'tweet',
    section: 'data',
    title: 'Field Authorization Error',
    value: id,
    field,
    detail: `Sorry, you are not authorized to access '${field}' on the Tweet with ${parameter} : [${id}].`,
    type: typeOf('not-authorized-for-field'),
  };
}

/** The same where nothing can be done without it. */
export function missing(resource: Resource, parameter: string, value: string): XProblem {
  const error = notFound(resource, parameter, value);
  const { title, detail, type } = error;
  return new XProblem(404, { errors: [error], title, detail, type });
}
