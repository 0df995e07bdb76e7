import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { GuestPost } from '../../../runtime/bridge.ts'
import type { ProcessHeader } from '../../../runtime/process/messages.ts'
import schema from './frames.schema.json' with { type: 'json' }

const ajv = new Ajv2020({ strict: false, discriminator: true }).addSchema(schema)
const isHeader = compile<ProcessHeader>('header')
const isPost = compile<PostToHost>('post')

/** The posts that leave the sandbox process: timers never do. */
export type PostToHost = Exclude<GuestPost, { kind: 'timer' | 'clear-timer' }>

/** @throws Error when the header is none that a sandbox process of ours sends */
export function checkHeader(header: unknown): ProcessHeader {
  if (!isHeader(header)) throw new Error(`frame header: ${ajv.errorsText(isHeader.errors)}`)
  return header
}

/** @returns undefined when the text is none that our prelude posts */
export function parsePost(text: string): PostToHost | undefined {
  try {
    const post: unknown = JSON.parse(text)
    return isPost(post) ? post : undefined
  } catch {
    return undefined
  }
}

function compile<T>(name: string): ValidateFunction<T> {
  return ajv.compile<T>({ $ref: `annex:frames#/$defs/${name}` })
}
