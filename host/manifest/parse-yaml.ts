import { Composer, type CST, type Document, Parser } from 'yaml'
import { messageOf } from '../errors.ts'
import type { Positions, SpannedComplaint } from './positions.ts'
import { readYamlNode, type YamlReading } from './yaml-to-data.ts'

export const maxManifestBytes = 256 * 1024
const maxDepth = 32
const maxComplaints = 20

/**
 * Parses hostile YAML in bounded time and memory. Never throws.
 *
 * @param bytes at most `maxManifestBytes`
 */
export function parseYaml(bytes: Uint8Array): YamlReading & { source: string } {
  const decoded = decode(bytes)
  if ('complaint' in decoded) {
    return { source: decoded.source, positions: new Map(), complaints: [decoded.complaint] }
  }
  const { source } = decoded
  try {
    return { source, ...compose(source) }
  } catch (error) {
    // No known input gets here. An unknown one is a mistake in the manifest: no stack is shown.
    const message = `the YAML cannot be parsed: ${messageOf(error)}`
    return { source, positions: new Map(), complaints: [{ span: [0, 1], message }] }
  }
}

function decode(bytes: Uint8Array): { source: string } | { source: string; complaint: SpannedComplaint } {
  const lenient = new TextDecoder('utf-8').decode(bytes)
  const nul = lenient.indexOf('\0')
  if (nul !== -1) {
    const message = 'a NUL byte: the manifest is not a text file'
    return { source: lenient, complaint: { span: [nul, nul + 1], message, hint: 'save it as UTF-8' } }
  }
  try {
    return { source: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    const at = Math.max(0, lenient.indexOf('\ufffd'))
    const message = 'bytes that are not UTF-8'
    return { source: lenient, complaint: { span: [at, at + 1], message, hint: 'save the file as UTF-8' } }
  }
}

function compose(source: string): YamlReading {
  const positions: Positions = new Map()
  const tokens = [...new Parser().parse(source)]
  const deep = findTooDeep(tokens, maxDepth)
  if (deep !== undefined) {
    const message = `nested more than ${maxDepth} levels deep`
    return { positions, complaints: [{ span: [deep, deep + 1], message }] }
  }
  // `uniqueKeys` compares every pair of keys: 60,000 keys take many seconds. `readMap` finds duplicates instead.
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    keepSourceTokens: false,
  })
  const documents: Document.Parsed[] = []
  for (const document of composer.compose(tokens, true, source.length)) {
    documents.push(document as Document.Parsed)
    if (documents.length > 1) break
  }
  const [first, second] = documents
  if (first === undefined)
    return { positions, complaints: [{ span: [0, 1], message: 'the manifest is empty' }] }
  if (second !== undefined) {
    const at = second.range[0]
    const message = 'a second YAML document begins here: a manifest is one document'
    return { positions, complaints: [{ span: [at, at + 1], message, hint: 'remove what follows "---"' }] }
  }
  if (first.errors.length > 0) {
    const complaints = first.errors.slice(0, maxComplaints).map((error) => ({
      span: error.pos,
      message: `not valid YAML: ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`,
    }))
    return { positions, complaints }
  }
  if (first.contents === null) {
    return { positions, complaints: [{ span: [0, 1], message: 'the manifest is empty' }] }
  }
  return readYamlNode(first.contents)
}

/**
 * The offset of the first token that nests deeper than `maxDepth`. The composer, Ajv and the checks recurse: ten
 * thousand brackets would overflow their stack.
 */
function findTooDeep(tokens: CST.Token[], maxDepth: number): number | undefined {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next
    if (depth > maxDepth) return token.offset
    for (const child of childrenOf(token)) open.push({ token: child, depth: depth + 1 })
  }
  return undefined
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value]
  if (!('items' in token)) return []
  const children: CST.Token[] = []
  for (const item of token.items) {
    if (item.key != null) children.push(item.key)
    if (item.value !== undefined) children.push(item.value)
  }
  return children
}
