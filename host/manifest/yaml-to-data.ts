import { isAlias, isMap, isPair, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import { quoteValue } from './message-text.ts'
import { type Positions, type Span, type SpannedComplaint, toPointerStep } from './positions.ts'

/** Counted with aliases resolved: ten lines of aliases to aliases make billions of values. */
const maxValues = 20_000
const maxDepth = 64
/**
 * Names with a meaning on every JavaScript object: as keys of data they are an attack. json-schema-to-typescript, for
 * instance, calls `hasOwnProperty` of the properties.
 */
const reservedKeys = new Set(['prototype', ...Object.getOwnPropertyNames(Object.prototype)])

/** Plain data, the position of each value, and the mistakes. Unusable YAML has no `data`. */
export type YamlReading = { data?: unknown; positions: Positions; complaints: SpannedComplaint[] }

type Reading = {
  positions: Positions
  complaints: SpannedComplaint[]
  anchors: Map<string, ParsedNode>
  /** Nodes that are being read: an alias to one of them would recurse without end. */
  open: Set<ParsedNode>
  values: number
}

class TooMuch extends Error {}

/** Turns a YAML node into JSON data with the position of each value. Reports YAML features that JSON lacks. */
export function readYamlNode(node: ParsedNode): YamlReading {
  const reading: Reading = {
    positions: new Map(),
    complaints: [],
    anchors: new Map(),
    open: new Set(),
    values: 0,
  }
  const { positions, complaints } = reading
  try {
    return { data: readNode(node, '', 0, reading), positions, complaints }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { positions, complaints }
  }
}

function readNode(node: ParsedNode, pointer: string, depth: number, reading: Reading): unknown {
  const span = spanOf(node)
  reading.values += 1
  if (reading.values > maxValues || depth > maxDepth) {
    const limit = depth > maxDepth ? `${maxDepth} levels deep` : `${maxValues} values`
    reading.complaints.push({ span, message: `more than ${limit}, with its aliases resolved` })
    throw new TooMuch()
  }
  if (!reading.positions.has(pointer)) reading.positions.set(pointer, {})
  const spans = reading.positions.get(pointer)
  if (spans !== undefined && spans.value === undefined) spans.value = span
  if (isAlias(node)) return readAlias(node.source, span, pointer, depth, reading)
  if (node.tag !== undefined) {
    const message = `the tag ${quoteValue(node.tag)}: tags are not allowed in a manifest`
    reading.complaints.push({ span, message, hint: 'write the value without a tag' })
  }
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node)
  reading.open.add(node)
  const data = readContents(node, pointer, depth, reading)
  reading.open.delete(node)
  return data
}

function readAlias(name: string, span: Span, pointer: string, depth: number, reading: Reading): unknown {
  const anchored = reading.anchors.get(name)
  if (anchored !== undefined && !reading.open.has(anchored))
    return readNode(anchored, pointer, depth + 1, reading)
  const problem = anchored === undefined ? 'has no anchor before it' : 'contains itself'
  reading.complaints.push({ span, message: `the alias ${quoteValue(`*${name}`)} ${problem}` })
  return null
}

function readContents(node: ParsedNode, pointer: string, depth: number, reading: Reading): unknown {
  if (isScalar(node)) return node.value
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const step = pointer + toPointerStep(index)
      if (!isPair(item)) return readNode(item as ParsedNode, step, depth + 1, reading)
      reading.complaints.push({ span: spanOf(node), message: 'a pair in a list: write it as a map' })
      return null
    })
  }
  return isMap(node) ? readMap(node as YAMLMap.Parsed, pointer, depth, reading) : null
}

function readMap(map: YAMLMap.Parsed, pointer: string, depth: number, reading: Reading): object {
  const data: Record<string, unknown> = {}
  for (const { key, value } of map.items) {
    const name = readKey(key, data, reading)
    if (name === undefined) continue
    const step = pointer + toPointerStep(name)
    reading.positions.set(step, { key: spanOf(key) })
    data[name] = value === null ? null : readNode(value, step, depth + 1, reading)
  }
  return data
}

/** The name of an allowed key. Any other key is reported. */
function readKey(key: ParsedNode, data: object, reading: Reading): string | undefined {
  const complain = (message: string, hint?: string) => {
    reading.complaints.push({ span: spanOf(key), message, hint })
    return undefined
  }
  if (!isScalar(key)) return complain('a key must be a name, not a list, a map or an alias')
  const name = key.value
  if (typeof name !== 'string') {
    return complain(`the key ${quoteValue(name)} is not text`, 'put it in quotes if it is meant as a name')
  }
  if (name === '<<') return complain('merge keys ("<<") are not supported', 'write the fields out')
  if (reservedKeys.has(name)) return complain(`the key "${name}" is reserved`, 'choose another name')
  if (Object.hasOwn(data, name))
    return complain(`the key ${quoteValue(name)} is given twice`, 'keep one of them')
  return name
}

const spanOf = (node: ParsedNode): Span => [node.range[0], node.range[1]]
