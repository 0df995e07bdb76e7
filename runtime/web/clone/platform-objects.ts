import { DOMException } from '../events/dom-exception.ts'

/** How the instances of one interface are cloned: HTML standard, 2.7.1, "serializable objects". */
type Serializable = { owns: (value: object) => boolean; copy: (value: object) => object }

/** How they are moved: 2.7.2, "transferable objects". `assertMovable` throws what is wrong; `move` then cannot fail. */
type Transferable = {
  owns: (value: object) => boolean
  assertMovable: (value: object) => void
  move: (value: object) => object
}

const serializables: Serializable[] = []
const transferables: Transferable[] = []
const interfacePrototypes = new WeakSet<object>()

export const defineSerializable = (kind: Serializable): void => {
  serializables.push(kind)
}

export const defineTransferable = (kind: Transferable): void => {
  transferables.push(kind)
}

/** Names an interface: what has its prototype is a platform object, and is cloned as such or not at all. */
export const declareInterface = (prototype: object): void => {
  interfacePrototypes.add(prototype)
}

export const isPlatformObject = (value: object): boolean => {
  let prototype: unknown = Object.getPrototypeOf(value)
  while (typeof prototype === 'object' && prototype !== null) {
    if (prototype === Object.prototype) return false
    if (interfacePrototypes.has(prototype)) return true
    prototype = Object.getPrototypeOf(prototype)
  }
  return false
}

/** A copy of a platform object; throws a DataCloneError where its interface has none. */
export const copyPlatformObject = (value: object): object => {
  const kind = serializables.find(({ owns }) => owns(value))
  if (kind === undefined) throw uncloneable(`${nameOf(value)} cannot be cloned`)
  return kind.copy(value)
}

/** The way in which an object is moved; throws a DataCloneError where it cannot be. */
export const transferableOf = (value: unknown): Transferable => {
  const kind =
    typeof value === 'object' && value !== null ? transferables.find(({ owns }) => owns(value)) : undefined
  if (kind === undefined) throw uncloneable('This value cannot be transferred')
  kind.assertMovable(value as object)
  return kind
}

export const uncloneable = (why: string): DOMException => new DOMException(why, 'DataCloneError')

const nameOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1)
