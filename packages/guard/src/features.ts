import * as z from 'zod';
import { CHAOS_FAULTS } from './chaos-report.js';
import { errorRule, MAX_RULES } from './error-rules.js';

const patterns = z.array(z.string().min(1));
const maxResultBytes = z.int().min(256).max(67_108_864).optional();

/** Settings of an upstream that are off by default. */
export const upstreamFeatures = {
  chaos: z
    .strictObject({
      rate: z.number().min(0).max(1).describe('The probability that an attempt fails.'),
      seed: z.int().min(0).optional().describe('Repeats the faults of another run.'),
      all: z
        .boolean()
        .default(false)
        .describe('Also inject faults into mutations. Default: only into calls of read tools.'),
      faults: z
        .array(z.enum(CHAOS_FAULTS))
        .min(1)
        .optional()
        .describe('Only these faults. Default: all.'),
      hangSecs: z
        .number()
        .positive()
        .max(600)
        .default(5)
        .describe('How long a hang lasts. Stands for the timeout of an attempt.'),
    })
    .optional()
    .describe('Injects faults between the guard and the server, to rehearse an outage.'),
  errors: z
    .array(errorRule)
    .max(MAX_RULES)
    .default([])
    .describe('What errors of this server mean, before the built-in recognition.'),
  maxResultBytes: maxResultBytes.describe(
    'Cuts the text of larger results. The guard serves the rest as a resource. Default: no limit.',
  ),
  envelope: z
    .boolean()
    .default(false)
    .describe('Wraps every result into the envelope of the contract, and adapts output schemas.'),
  pin: z
    .enum(['off', 'report', 'block'])
    .default('report')
    .describe(
      'What happens if the server changes a tool that was seen before: nothing, a log event, or a refusal of its calls until an operator accepts it with "toolkeel pins accept". Default: report.',
    ),
  include: patterns
    .min(1)
    .optional()
    .describe('Only these tools are listed and can be called: names, or patterns ("get_*").'),
  exclude: patterns
    .default([])
    .describe('These tools are not listed and cannot be called. Takes precedence over include.'),
  maxDescriptionChars: z
    .int()
    .min(20)
    .max(100_000)
    .optional()
    .describe('Shortens descriptions of tools to whole sentences or words of this length.'),
  dropOutputSchemas: z
    .boolean()
    .default(false)
    .describe('Lists tools without their output schemas, which few models see.'),
};

/** Settings of a tool that are off by default. */
export const toolFeatures = {
  maxResultBytes: maxResultBytes.describe('Replaces maxResultBytes of the server.'),
  description: z.string().min(1).optional().describe('Replaces the description of the tool.'),
};
